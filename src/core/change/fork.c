/* SPDX-License-Identifier: Apache-2.0
 *
 * Forking: a new session in the same tree whose head is a new branch at the cut. It writes one
 * branch row per log, one session row and one event: a constant number of small rows, whatever the
 * history (I3, I4).
 */
#include "core/change/fork.h"

#include "core/access/member.h"
#include "core/access/share.h"
#include "core/call.h"
#include "core/check.h"
#include "core/handle.h"
#include "core/model/branch.h"
#include "core/model/fill.h"
#include "core/event.h"
#include "core/change/move.h"
#include "core/model/path.h"
#include "core/session/rights.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/session/session_show.h"
#include "core/turn/turn_cut.h"
#include "core/txn.h"

#include <assert.h>

#define NAME_CHARS 500 /* of a name with values in it */

static ramet_status fork_access(txn *tx, const session_full *s, const ramet_fork_in *in)
{
    ramet_level have = level_in(tx, s->tree);
    if (in->visibility == RAMET_PRIVATE || have >= RAMET_WRITER)
        return RAMET_OK;
    return call_fail(
        tx->call, RAMET_FORBIDDEN, "visibility",
        "a fork for the tree needs the level writer, %s is %s; a private one reader or a share "
        "link",
        tx->call->user, ramet_level_name(have));
}

/* The adk log may hold credentials: a caller who may not read it must not get it through a fork. */
bool fork_reads_adk(txn *tx, const session_full *s)
{
    if (share_only(tx, &s->access))
        return false;
    return s->visibility == RAMET_PRIVATE || level_in(tx, s->tree) >= RAMET_WRITER;
}

static ramet_status side_by_role(txn *tx, const branch_row *from, ramet_at *at)
{
    int64_t k;
    TRY(check_id(tx->call, "at.entry_id", at->entry_id));
    at->side = RAMET_AFTER;
    if (path_find(tx, from, at->entry_id, &k) < 0)
        return txn_status(tx); /* cut_find() reports that it is not there */
    db_stmt *q = db_query(tx->db, Q_entry_kind);
    q_int(q, 1, from->meta.tree);
    q_int(q, 2, k);
    if (q_row(q) && q_col_int(q, 0) == RAMET_USER)
        at->side = RAMET_BEFORE;
    q_end(q);
    return txn_status(tx);
}

/* Finds the cut on the path of the requested branch (*from is the head), with the adk log as it was
 * on that branch. */
static ramet_status fork_cut(txn *tx, session_full *s, const ramet_fork_in *in, branch_row *from,
                             cut_result *cut)
{
    if (in->branch && in->branch != s->head)
        TRY(branch_open(tx, &s->brief, RAMET_LOG_MAIN, in->branch, from));
    s->adk = fork_reads_adk(tx, s) ? adk_head_of(tx, &s->brief, from->meta.id) : 0;
    if (in->blank) {
        *cut = (cut_result){.shown = {.side = RAMET_BEFORE}};
        return RAMET_OK;
    }
    if (in->before_turn) {
        turn_cut at;
        session_full seen = *s;
        bool path_only = in->branch || share_only(tx, &s->access);
        if (!s->adk)
            seen.first_adk = 0;
        TRY(turn_cut_find(tx, &seen, from, in->before_turn,
                          path_only ? TURN_ON_PATH : TURN_ANYWHERE, 0, &at));
        *from = at.main;
        if (s->adk)
            s->adk = at.adk.meta.id;
        *cut = at.at;
        return RAMET_OK;
    }
    ramet_at at = in->at;
    if (in->by_role && at.entry_id)
        TRY(side_by_role(tx, from, &at));
    return cut_both(tx, s, from, &at, &in->adk_at, in->cut, cut);
}

/* A fork does not inherit what a link does not show. */
static const char *inherited_config(txn *tx, const session_full *s)
{
    if (!share_only(tx, &s->access))
        return s->agent_config;
    ramet_agent shown = session_agent(tx, s);
    return agent_config(tx->arena, &shown);
}

/* The name that the fork is known by until it has its own. */
static const char *fork_name(txn *tx, const fork_job *j, const session_full *s,
                             const branch_row *from)
{
    const char *name = session_base_title(tx, s, from->meta.id == s->head ? from : NULL);
    if (!j->fill)
        return name;
    name = fill_plain(tx->arena, &j->fill->levels[j->fill->n - 1], name);
    return text_preview(tx->arena, name, NAME_CHARS);
}

/* The new row, in the memory of the call: it is also the answer. */
static session_full fork_row(txn *tx, const fork_job *j, const session_full *s,
                             const branch_row *from, const cut_result *cut)
{
    const ramet_fork_in *in = j->in;
    const char *user = tx->call->user ? arena_strdup(tx->arena, tx->call->user) : s->owner;
    int64_t created = tx->now, no = db_number(tx->db, DB_SESSION, &created);
    /* A session sorts before its forks, even when the clock of another process is ahead. */
    if (created < s->created || (created == s->created && no < s->no))
        created = s->created + (no < s->no);
    return (session_full){
        .no = no,
        .tree = s->tree,
        .id = arena_strdup(tx->arena, j->id),
        .parent = s->no,
        .depth = s->depth + 1,
        .owner = user,
        .visibility = (int)in->visibility,
        .title = in->title ? arena_strdup(tx->arena, in->title) : "",
        .agent = in->agent ? arena_strdup(tx->arena, in->agent->name) : s->agent,
        .agent_config = in->agent ? agent_config(tx->arena, in->agent) : inherited_config(tx, s),
        .metadata = arena_strdup(tx->arena, in->metadata),
        .type = (int)in->type,
        .reason = in->reason ? arena_strdup(tx->arena, in->reason) : "",
        .by_kind = (int)in->by_kind,
        .by_id = in->by_id ? arena_strdup(tx->arena, in->by_id) : user,
        .fork_entry = cut->shown.entry_id,
        .fork_side = (int)cut->shown.side,
        .from_title = fork_name(tx, j, s, from),
        .expires = in->ephemeral_us > 0 ? tx->now + in->ephemeral_us : 0,
        .created = created,
        .updated = created,
    };
}

/* Guards the source until the commit: it must still be there, open to the caller, and have the
 * history that was read. What removes it or the right, gc included, changes the stamp and then
 * waits for the forks that may have missed that (txn_revoke()). */
static void source_guard(txn *tx, const session_full *s, const branch_row *head)
{
    db_stmt *q = db_query(tx->db, Q_guard_fork);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->stamp);
    q_int(q, 3, head->meta.id);
    q_blob(q, 4, head->tip, HASH_LEN);
    q_guard(q);
}

/* Writes the rows of a fork whose cut was found. */
static void fork_write(txn *tx, const fork_job *j, const session_full *s, const branch_row *from,
                       const cut_result *cut, session_full *f, branch_row *b)
{
    branch_row adk, b_adk = {0}, path = *from;
    *f = fork_row(tx, j, s, from, cut);
    if (j->fill)
        path.filled = cut->main;
    branch_create(tx, &path, cut->main, &f->brief, BRANCH_FIRST, f->created, RAMET_LOG_MAIN,
                  j->in->type, b);
    f->first = f->head = b->meta.id;
    txn_assert(tx, f->tree == s->tree && b->meta.session == f->no);
    if (s->adk && branch_load(tx, s->tree, s->adk, &adk)) {
        if (j->fill)
            adk.filled = cut->adk;
        branch_create(tx, &adk, cut->adk, &f->brief, BRANCH_FIRST, f->created, RAMET_LOG_ADK,
                      j->in->type, &b_adk);
        f->first_adk = f->adk = b_adk.meta.id;
    }
    session_insert(tx, f, (const char *const *)j->tags, j->n_tags);
    if (b->filled || b_adk.filled)
        fill_set(tx, f->tree, f->no,
                 j->fill ? fill_write(tx->call->hasher, tx->arena, j->fill)
                         : fill_text(tx, s->tree, s->no));
    event_add(tx, f->tree, f->no, RAMET_EVENT_FORKED, b->meta.id, 0);
}

ramet_status fork_at_pin(txn *tx, const fork_job *j, const session_full *s, const branch_row *from,
                         const cut_result *cut, session_full *f, branch_row *b)
{
    TRY(fork_access(tx, s, j->in));
    TRY(session_id_free(tx, j->id));
    fork_write(tx, j, s, from, cut, f, b);
    return txn_status(tx);
}

ramet_status fork_make(txn *tx, const fork_job *j, session_full *s, const branch_row *head,
                       session_full *f, branch_row *b)
{
    branch_row from = *head;
    cut_result cut;
    TRY(fork_cut(tx, s, j->in, &from, &cut));
    fork_write(tx, j, s, &from, &cut, f, b);
    return txn_status(tx);
}

static ramet_status fork_run(txn *tx, void *arg)
{
    fork_job *j = arg;
    session_full s;
    branch_row head, from, b;
    cut_result cut;
    TRY(session_open_head(tx, j->session, NEED_READ, &s, &from));
    head = from;
    TRY(fork_access(tx, &s, j->in));
    TRY(fork_cut(tx, &s, j->in, &from, &cut));
    TRY(head_check(tx, j->in->branch ? &from : &head, j->expected, j->given));
    if (j->in->id)
        TRY(session_id_free(tx, j->id));
    source_guard(tx, &s, &head);
    session_full f;
    fork_write(tx, j, &s, &from, &cut, &f, &b);
    session_known known = {.head = &b,
                           .parent_id = session_visible(tx, &s.access) ? s.id : NULL,
                           .untagged = !j->n_tags};
    ANSWER(tx, j->out);
    ANSWER(tx, j->cut);
    *j->out = session_show_with(tx, &f, &known);
    if (j->cut)
        *j->cut = cut.shown;
    return txn_status(tx);
}

ramet_status fork_check(ramet_call *c, const ramet_fork_in *in, fork_job *j)
{
    if (in->id)
        TRY(check_id(c, "id", in->id));
    TRY(check_chars(c, "title", in->title, c->ramet->limits.title_chars, RAMET_TITLE_TOO_LONG));
    TRY(check_chars(c, "reason", in->reason, c->ramet->limits.reason_chars, RAMET_REASON_TOO_LONG));
    if (in->agent)
        TRY(check_agent(c, in->agent));
    TRY(check_object(c, "metadata", in->metadata));
    TRY(check_tags(c, in->tags, in->n_tags, &j->tags, &j->n_tags));
    if (in->visibility != RAMET_TREE_VISIBLE && in->visibility != RAMET_PRIVATE)
        return call_fail(c, RAMET_INVALID, "visibility", "visibility must be tree or private");
    if (in->type < RAMET_EXPLICIT || in->type > RAMET_AUTO_REGENERATE)
        return call_fail(c, RAMET_INVALID, "type",
                         "type must be explicit, auto-edit or auto-regenerate");
    if (in->by_kind != RAMET_BY_USER && in->by_kind != RAMET_BY_SYSTEM)
        return call_fail(c, RAMET_INVALID, "created_by", "created_by must be a user or the system");
    if (in->by_id)
        TRY(check_id(c, "created_by", in->by_id));
    TRY(check_life(c, "ephemeral", in->ephemeral_us));
    return check_hash(c, in->expected_head, j->expected, &j->given);
}

ramet_status ramet_fork(ramet_call *c, const char *session, const ramet_fork_in *in,
                        ramet_session **out, ramet_cut *cut)
{
    fork_job j = {.session = session, .in = in, .out = out, .cut = cut};
    *out = NULL;
    if (cut)
        *cut = (ramet_cut){0};
    TRY(fork_check(c, in, &j));
    char uuid[UUID_TEXT];
    j.id = in->id ? in->id : arena_strdup(c->arena, uuid7(ramet_now(c->ramet), uuid));
    ramet_status st = txn_write_guarded(c, fork_run, &j);
    if (st != RAMET_OK)
        *out = NULL;
    return st;
}
