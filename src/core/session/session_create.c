/* SPDX-License-Identifier: Apache-2.0
 *
 * Creating, getting and updating sessions.
 */
#include "core/access/member.h"
#include "core/access/sandbox.h"
#include "core/access/share.h"
#include "core/call.h"
#include "core/check.h"
#include "core/handle.h"
#include "core/model/branch.h"
#include "core/model/branch_note.h"
#include "core/event.h"
#include "core/session/rights.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/session/session_show.h"
#include "core/txn.h"

typedef struct create_job {
    const ramet_session_in *in;
    const char *id, *owner, *mark; /* mark: of its sandbox */
    const char **tags;
    size_t n_tags;
    ramet_session **out;
} create_job;

/* Frees the id of a deleted session of that owner, which can be restored under another one. */
static void id_give_up(txn *tx, const char *id, const char *owner)
{
    session_full s;
    if (!session_load(tx, id, &s) || !session_gone(tx, &s.access) || strcmp(s.owner, owner) != 0)
        return;
    db_stmt *q = db_query(tx->db, Q_session_rename);
    q_int(q, 1, s.tree);
    q_int(q, 2, s.no);
    q_text(q, 3, arena_printf(tx->arena, "%.200s~%lld", id, (long long)s.no));
    q_run(q);
}

static ramet_status create_run(txn *tx, void *arg)
{
    create_job *j = arg;
    const ramet_session_in *in = j->in;
    TRY(sandbox_for_new(tx, in->sandbox, j->owner, &j->mark));
    if (in->anew)
        id_give_up(tx, j->id, j->owner);
    TRY(session_id_free(tx, j->id));
    ramet_agent agent = in->agent;
    if (!agent.name)
        agent.name = sandbox_agent(tx, j->mark);
    int64_t created = tx->now, no = db_number(tx->db, DB_SESSION, &created);
    session_full s = {
        .no = no,
        .tree = db_number(tx->db, DB_TREE, NULL),
        .id = j->id,
        .owner = j->owner,
        .visibility = (int)in->visibility,
        .title = in->title ? in->title : "",
        .agent = agent.name,
        .agent_config = agent_config(tx->arena, &agent),
        .metadata = in->metadata,
        .reason = "",
        .by_id = j->owner,
        .expires = in->ephemeral_us > 0 ? tx->now + in->ephemeral_us : 0,
        .created = created,
        .updated = created,
    };
    branch_row b;
    session_plant(tx, &s, (const char *const *)j->tags, j->n_tags, &b);
    member_insert(tx, s.tree, j->owner, RAMET_OWNER);
    sandbox_put(tx, s.tree, j->mark);
    event_add(tx, s.tree, s.no, RAMET_EVENT_CREATED, b.meta.id, 0);
    TRY(txn_status(tx));
    session_full fresh;
    if (!session_by_no(tx, s.tree, s.no, &fresh))
        return txn_status(tx);
    ANSWER(tx, j->out);
    *j->out = session_show(tx, &fresh);
    return txn_status(tx);
}

ramet_status ramet_session_create(ramet_call *c, const ramet_session_in *in, ramet_session **out)
{
    create_job j = {.in = in, .out = out};
    *out = NULL;
    if (in->id)
        TRY(check_id(c, "id", in->id));
    TRY(check_chars(c, "title", in->title, c->ramet->limits.title_chars, RAMET_TITLE_TOO_LONG));
    TRY(check_agent(c, &in->agent));
    TRY(check_object(c, "metadata", in->metadata));
    TRY(check_tags(c, in->tags, in->n_tags, &j.tags, &j.n_tags));
    if (in->visibility != RAMET_TREE_VISIBLE && in->visibility != RAMET_PRIVATE)
        return call_fail(c, RAMET_INVALID, "visibility", "visibility must be tree or private");
    TRY(check_life(c, "ephemeral", in->ephemeral_us));
    if (in->owner && c->user && strcmp(in->owner, c->user) != 0)
        return call_fail(c, RAMET_FORBIDDEN, "owner", "%s cannot make a session for %s", c->user,
                         in->owner);
    j.owner = in->owner ? in->owner : c->user ? c->user : "local";
    TRY(check_id(c, "owner", j.owner));
    char uuid[UUID_TEXT];
    j.id = in->id ? in->id : arena_strdup(c->arena, uuid7(ramet_now(c->ramet), uuid));
    ramet_status st = txn_write(c, create_run, &j);
    if (st != RAMET_OK)
        *out = NULL;
    return st;
}

ramet_status ramet_session_get(ramet_call *c, const char *id, ramet_session **out)
{
    txn tx;
    session_full s;
    *out = NULL;
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_status st = session_open(&tx, id, NEED_READ, &s);
    ramet_session *shown = st == RAMET_OK ? session_show(&tx, &s) : NULL;
    if (shown) {
        shown->level = session_level(&tx, &s.access);
        shown->favourite = share_only(&tx, &s.access) ? 0 : favourite_of(&tx, &s.access);
    }
    st = txn_done(&tx, st);
    if (st == RAMET_OK)
        *out = shown;
    return st;
}

/* ------------------------------------------------------------------- update */

typedef struct update_job {
    const char *id;
    const ramet_session_patch *in;
    bool promote;
    uint8_t expected[HASH_LEN];
    bool given;
    ramet_session **out;
} update_job;

static ramet_status merged_into(txn *tx, const char *id, session_full *s)
{
    session_full to;
    if (!*id) {
        s->merged_into = 0;
        return RAMET_OK;
    }
    TRY(session_open(tx, id, NEED_TREE, &to));
    if (to.tree != s->tree || to.no == s->no)
        return call_fail(tx->call, RAMET_INVALID, "merged_into",
                         "merged_into must be another session of the same tree; %s is not", id);
    s->merged_into = to.no;
    return RAMET_OK;
}

static ramet_status patch_apply(txn *tx, const ramet_session_patch *in, session_full *s)
{
    if (in->title)
        s->title = in->title;
    if (in->agent) {
        s->agent = in->agent->name;
        s->agent_config = agent_config(tx->arena, in->agent);
    }
    if (in->metadata)
        s->metadata = in->metadata;
    if (in->archived)
        s->archived = !*in->archived ? 0 : s->archived ? s->archived : archive_stamp(tx->now);
    if (in->visibility) {
        if (tx->call->user && strcmp(tx->call->user, s->owner) != 0)
            return call_fail(tx->call, RAMET_FORBIDDEN, "visibility",
                             "only the session's owner may change its visibility");
        /* As with a fork: showing a session to the tree takes a writer (I10). */
        if (*in->visibility == RAMET_TREE_VISIBLE && s->visibility == RAMET_PRIVATE &&
            level_in(tx, s->tree) < RAMET_WRITER)
            return call_fail(tx->call, RAMET_FORBIDDEN, "visibility",
                             "showing a session to the tree needs the level writer");
        s->visibility = (int)*in->visibility;
    }
    return in->merged_into ? merged_into(tx, in->merged_into, s) : RAMET_OK;
}

static ramet_status update_run(txn *tx, void *arg)
{
    update_job *j = arg;
    session_full s;
    branch_row head;
    TRY(session_open(tx, j->id, NEED_CHANGE, &s));
    TRY(branch_open(tx, &s.brief, RAMET_LOG_MAIN, 0, &head));
    TRY(head_check(tx, &head, j->expected, j->given));
    int64_t merged = s.merged_into;
    if (j->in)
        TRY(patch_apply(tx, j->in, &s));
    if (j->promote)
        s.expires = 0;
    /* Not before the branches of the session: see branch_create(). */
    s.updated = tx->now > s.updated ? tx->now : s.updated;
    db_stmt *q = db_query(tx->db, Q_session_set);
    q_int(q, 1, s.tree);
    q_int(q, 2, s.no);
    q_text(q, 3, s.title);
    q_text(q, 4, s.agent);
    q_text(q, 5, s.agent_config);
    q_text(q, 6, s.metadata);
    q_int(q, 7, s.archived);
    q_int(q, 8, s.visibility);
    q_int(q, 9, s.merged_into);
    q_int(q, 10, s.expires);
    q_int(q, 11, s.updated);
    q_run(q);
    access_changed(tx, s.tree);
    bool merge = s.merged_into && s.merged_into != merged;
    event_add(tx, s.tree, s.no, merge ? RAMET_EVENT_MERGED : RAMET_EVENT_UPDATED, s.head, 0);
    session_full fresh;
    if (!session_by_no(tx, s.tree, s.no, &fresh))
        return txn_status(tx);
    ANSWER(tx, j->out);
    *j->out = session_show(tx, &fresh);
    return txn_status(tx);
}

ramet_status ramet_session_update(ramet_call *c, const char *id, const ramet_session_patch *in,
                                  ramet_session **out)
{
    update_job j = {.id = id, .in = in, .out = out};
    *out = NULL;
    TRY(check_chars(c, "title", in->title, c->ramet->limits.title_chars, RAMET_TITLE_TOO_LONG));
    if (in->agent)
        TRY(check_agent(c, in->agent));
    TRY(check_object(c, "metadata", in->metadata));
    if (in->visibility && *in->visibility != RAMET_TREE_VISIBLE && *in->visibility != RAMET_PRIVATE)
        return call_fail(c, RAMET_INVALID, "visibility", "visibility must be tree or private");
    TRY(check_hash(c, in->expected_head, j.expected, &j.given));
    ramet_status st = (in->visibility || in->archived ? txn_revoke : txn_write)(c, update_run, &j);
    if (st != RAMET_OK)
        *out = NULL;
    return st;
}

ramet_status ramet_session_promote(ramet_call *c, const char *id, ramet_session **out)
{
    update_job j = {.id = id, .promote = true, .out = out};
    *out = NULL;
    ramet_status st = txn_write(c, update_run, &j);
    if (st != RAMET_OK)
        *out = NULL;
    return st;
}
