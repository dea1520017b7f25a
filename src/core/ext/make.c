/* SPDX-License-Identifier: Apache-2.0
 *
 * Conversations created by their first entries: a root, a fork, or one that another session has
 * started, in one commit with the append; and the record of how a session was created.
 *
 *   O1  The lineage in a request counts only when it creates the session. A second caller appends
 *       to the session that the first has created, whatever lineage it states.
 *   O2  Each session created here gets a row in `origin`, which never changes. A session without
 *       one was created in another way (or by an older version, without a client and not started by
 *       another session).
 */
#include "core/ext/make.h"

#include "ramet/memory.h"
#include "core/access/member.h"
#include "core/call.h"
#include "core/check.h"
#include "core/handle.h"
#include "core/change/append.h"
#include "core/model/branch.h"
#include "core/model/entry.h"
#include "core/event.h"
#include "core/change/fork.h"
#include "core/model/path.h"
#include "core/session/rights.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/session/session_show.h"
#include "core/txn.h"

#include <stdio.h>

static ramet_status make_check(ramet_call *c, const ramet_make *m)
{
    TRY(check_chars(c, "title", m->title, c->ramet->limits.title_chars, RAMET_TITLE_TOO_LONG));
    ramet_agent agent = {.name = m->agent};
    TRY(check_agent(c, &agent));
    TRY(check_object(c, "metadata", m->metadata));
    if (m->fork_of)
        TRY(check_id(c, "fork_of", m->fork_of));
    if (m->fork_at)
        TRY(check_id(c, "fork_at", m->fork_at));
    if (m->started_by)
        TRY(check_id(c, "started_by", m->started_by));
    if (m->started_at)
        TRY(check_id(c, "started_at", m->started_at));
    return RAMET_OK;
}

/* ------------------------------------------------------------------- lineage */

/* Opens the session that a new one comes from; RAMET_SESSION_NOT_FOUND when it is archived. */
static ramet_status source_open(txn *tx, const char *field, const char *id, need what,
                                session_full *s, branch_row *head)
{
    ramet_status st = session_open_head(tx, id, what, s, head);
    if (st == RAMET_OK && s->archived)
        st = call_fail(tx->call, RAMET_SESSION_NOT_FOUND, field, "session %s is archived", id);
    if (st != RAMET_OK)
        snprintf(tx->call->err.field, sizeof tx->call->err.field, "%s", field);
    return st;
}

static bool same_client(const txn *tx, const char *client)
{
    return tx->call->client && client && strcmp(tx->call->client, client) == 0;
}

/* Checks the entry that a fork cuts before: see ramet_make. */
static ramet_status anchor_check(txn *tx, const branch_row *head, const char *id)
{
    ramet_entry e;
    uint8_t hash[HASH_LEN];
    int64_t k = key_in_tree(tx, head->meta.tree, id), on = 0;
    TRY(txn_status(tx));
    if (!k)
        return call_fail(tx->call, RAMET_ENTRY_NOT_FOUND, "fork_at", "there is no entry %s", id);
    bool visible = path_find(tx, head, id, &on) >= 0;
    if (!entry_load_record(tx, head->meta.tree, visible ? on : k, &e, hash))
        return txn_status(tx);
    if (strcmp(e.channel, "journal") == 0 && !same_client(tx, e.client))
        return call_fail(tx->call, RAMET_FORBIDDEN, "fork_at", "entry %s is another client's", id);
    if (strcmp(e.channel, "journal") != 0 && strcmp(e.channel, "history") != 0)
        return call_fail(tx->call, RAMET_INVALID, "fork_at",
                         "a fork begins at an entry of the channel history or journal");
    if (!visible)
        return call_fail(tx->call, RAMET_INVALID, "fork_at",
                         "entry %s is not on the path of the session", id);
    return txn_status(tx);
}

static ramet_status make_fork(txn *tx, const char *id, const ramet_make *m, bool append,
                              session_full *s, branch_row *b)
{
    session_full p;
    branch_row head;
    TRY(source_open(tx, "fork_of", m->fork_of, NEED_READ, &p, &head));
    if (m->fork_at)
        TRY(anchor_check(tx, &head, m->fork_at));
    bool private = p.visibility == RAMET_PRIVATE, writer = level_in(tx, p.tree) >= RAMET_WRITER;
    if (append && !private && !writer)
        return call_fail(tx->call, RAMET_FORBIDDEN, "fork_of", "this needs the level writer");
    ramet_agent agent = {.name = m->agent};
    ramet_fork_in in = {.at = {m->fork_at, RAMET_BEFORE},
                        .blank = !m->fork_at,
                        .title = m->title,
                        .agent = &agent,
                        .metadata = m->metadata,
                        .visibility = private || !writer ? RAMET_PRIVATE : RAMET_TREE_VISIBLE};
    fork_job j = {.in = &in, .id = id};
    return fork_make(tx, &j, &p, &head, s, b);
}

/* Creates a root session with the members that the tree of `from` has now (NULL: only the
 * caller). */
static void make_root(txn *tx, const char *id, const ramet_make *m, const session_full *from,
                      session_full *s, branch_row *b)
{
    int64_t created = tx->now, no = db_number(tx->db, DB_SESSION, &created);
    const char *caller = tx->call->user ? tx->call->user : "local";
    *s = (session_full){.no = no,
                        .tree = db_number(tx->db, DB_TREE, NULL),
                        .id = arena_strdup(tx->arena, id),
                        .owner = arena_strdup(tx->arena, from ? from->owner : caller),
                        .title = m->title ? arena_strdup(tx->arena, m->title) : "",
                        .agent = arena_strdup(tx->arena, m->agent),
                        .metadata = arena_strdup(tx->arena, m->metadata),
                        .reason = "",
                        .by_id = arena_strdup(tx->arena, caller),
                        .created = created,
                        .updated = created};
    session_plant(tx, s, NULL, 0, b);
    if (from && from->visibility != RAMET_PRIVATE) {
        db_stmt *q = db_query(tx->db, Q_member_copy);
        q_int(q, 1, s->tree);
        q_int(q, 2, from->tree);
        q_int(q, 3, tx->now);
        q_run(q);
    } else {
        member_insert(tx, s->tree, s->owner, RAMET_OWNER);
    }
    event_add(tx, s->tree, s->no, RAMET_EVENT_CREATED, b->meta.id, 0);
}

static ramet_status make_started(txn *tx, const char *id, const ramet_make *m, session_full *from,
                                 session_full *s, branch_row *b)
{
    branch_row head;
    int64_t k;
    TRY(source_open(tx, "started_by", m->started_by, NEED_WRITE, from, &head));
    if (m->started_at && path_find(tx, &head, m->started_at, &k) < 0) {
        TRY(txn_status(tx));
        return call_fail(tx->call, RAMET_INVALID, "started_at",
                         "entry %s is not on the path of session %s", m->started_at, m->started_by);
    }
    make_root(tx, id, m, from, s, b);
    return RAMET_OK;
}

static void origin_write(txn *tx, const session_full *s, const session_full *from,
                         const char *entry)
{
    const char *client = tx->call->client ? tx->call->client : "";
    db_stmt *q = db_query(tx->db, Q_origin_add);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    q_text(q, 3, client);
    q_int(q, 4, from->tree);
    q_int(q, 5, from->no);
    q_text(q, 6, from->no ? entry : NULL);
    q_run(q);
}

static ramet_status make_do(txn *tx, const char *id, const ramet_make *m, bool append,
                            session_full *s, branch_row *b)
{
    session_full from = {0};
    if (m->fork_of && m->started_by)
        return call_fail(tx->call, RAMET_INVALID, "lineage",
                         "a conversation is a fork or was started by another, not both");
    TRY(session_id_free(tx, id));
    if (m->fork_of)
        TRY(make_fork(tx, id, m, append, s, b));
    else if (m->started_by)
        TRY(make_started(tx, id, m, &from, s, b));
    else
        make_root(tx, id, m, NULL, s, b);
    origin_write(tx, s, &from, m->started_at);
    tx->level_tree = 0;
    return txn_status(tx);
}

/* -------------------------------------------------------------------- append */

/* Checks a session that exists already: it must not be archived, and the channels of a client
 * belong to that client. Sets a missing title. */
static ramet_status there_check(txn *tx, const ramet_make *m, const session_brief *s)
{
    db_stmt *q = db_query(tx->db, Q_session_origin);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    const char *client = "";
    bool untitled = false, archived = false;
    if (q_row(q)) {
        const char *title = q_col_text(q, 0), *by = q_col_text(q, 2);
        untitled = !title || !*title;
        archived = q_col_int(q, 1) != 0;
        client = by ? arena_strdup(tx->arena, by) : "";
    }
    q_end(q);
    TRY(txn_status(tx));
    if (archived)
        return call_fail(tx->call, RAMET_SESSION_NOT_FOUND, "session", "session %s is archived",
                         s->id);
    if (m->own && *client && !same_client(tx, client))
        return call_fail(tx->call, RAMET_FORBIDDEN, "session", "the session is another client's");
    if (!untitled || !m->title || !*m->title)
        return RAMET_OK;
    q = db_query(tx->db, Q_session_title);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    q_text(q, 3, m->title);
    q_run(q);
    access_changed(tx, s->tree);
    return txn_status(tx);
}

static ramet_status make_open(txn *tx, const char *id, const ramet_append_in *in, session_brief *s,
                              branch_row *b, bool *opened, bool *made)
{
    if (!in->make)
        return RAMET_OK;
    *opened = true;
    ramet_status st = session_open_brief(tx, id, NEED_WRITE, s, b);
    if (st == RAMET_OK)
        return there_check(tx, in->make, s);
    if (st != RAMET_SESSION_NOT_FOUND)
        return st;
    memset(&tx->call->err, 0, sizeof tx->call->err);
    session_full full;
    *made = true;
    TRY(make_do(tx, id, in->make, true, &full, b));
    *s = full.brief;
    return RAMET_OK;
}

static ramet_status append_make_check(ramet_call *c, const ramet_append_in *in)
{
    return in->make ? make_check(c, in->make) : RAMET_OK;
}

void make_register(ramet *r)
{
    static const append_extension make = {.check = append_make_check, .open = make_open};
    append_extension_register(r, &make);
}

/* --------------------------------------------------------------------- calls */

typedef struct make_job {
    const char *id;
    const ramet_make *in;
    ramet_session **out;
} make_job;

static ramet_status make_run(txn *tx, void *arg)
{
    make_job *j = arg;
    session_full s, fresh;
    branch_row b;
    TRY(make_do(tx, j->id, j->in, false, &s, &b));
    if (!session_by_no(tx, s.tree, s.no, &fresh))
        return txn_status(tx);
    ANSWER(tx, j->out);
    *j->out = session_show(tx, &fresh);
    return txn_status(tx);
}

ramet_status ramet_session_make(ramet_call *c, const char *id, const ramet_make *in,
                                ramet_session **out)
{
    make_job j = {.id = id, .in = in, .out = out};
    char uuid[UUID_TEXT];
    *out = NULL;
    TRY(make_check(c, in));
    if (id)
        TRY(check_id(c, "id", id));
    if (c->client)
        TRY(check_id(c, "client", c->client));
    j.id = id ? id : arena_strdup(c->arena, uuid7(ramet_now(c->ramet), uuid));
    ramet_status st = txn_write(c, make_run, &j);
    if (st != RAMET_OK)
        *out = NULL;
    return st;
}

static const char *name_of(txn *tx, int64_t tree, int64_t no)
{
    db_stmt *q = db_query(tx->db, Q_session_name);
    q_int(q, 1, tree);
    q_int(q, 2, no);
    const char *id = q_row(q) ? q_keep_text(q, 0, tx->arena) : NULL;
    q_end(q);
    return id;
}

static ramet_status origin_read(txn *tx, const char *session, ramet_origin *out)
{
    session_full s;
    int64_t tree = 0, no = 0;
    *out = (ramet_origin){.client = ""};
    TRY(session_open(tx, session, NEED_READ, &s));
    db_stmt *q = db_query(tx->db, Q_origin_get);
    q_int(q, 1, s.tree);
    q_int(q, 2, s.no);
    if (q_row(q)) {
        out->client = q_need_text(q, 0, tx->arena, "origin.client");
        tree = q_col_int(q, 1);
        no = q_col_int(q, 2);
        out->started_at = q_keep_text(q, 3, tx->arena);
    }
    q_end(q);
    if (no)
        out->started_by = name_of(tx, tree, no);
    out->level = session_level(tx, &s.access);
    return txn_status(tx);
}

ramet_status ramet_origin_get(ramet_call *c, const char *session, ramet_origin *out)
{
    txn tx;
    if (!txn_read(&tx, c))
        return c->err.status;
    return txn_done(&tx, origin_read(&tx, session, out));
}

typedef struct number {
    int64_t tree, no;
} number;

static ramet_status started_read(txn *tx, const char *session, ramet_session **out, size_t *n)
{
    session_full s, of;
    VEC(number) found = {0};
    VEC(ramet_session) v = {0};
    TRY(session_open(tx, session, NEED_TREE, &s));
    db_stmt *q = db_query(tx->db, Q_origin_started);
    q_int(q, 1, s.tree);
    q_int(q, 2, s.no);
    while (q_row(q)) {
        number at = {q_col_int(q, 0), q_col_int(q, 1)};
        VEC_PUSH(tx->arena, &found, at);
    }
    for (size_t i = 0; i < found.n; i++) {
        ramet_session shown;
        if (!session_by_no(tx, found.items[i].tree, found.items[i].no, &of) ||
            session_gone(tx, &of.access) || !session_visible(tx, &of.access))
            continue;
        session_fill(tx, &of, &shown);
        VEC_PUSH(tx->arena, &v, shown);
    }
    *out = v.items;
    *n = v.n;
    return txn_status(tx);
}

ramet_status ramet_started(ramet_call *c, const char *session, ramet_session **out, size_t *n)
{
    txn tx;
    *out = NULL;
    *n = 0;
    if (!txn_read(&tx, c))
        return c->err.status;
    return txn_done(&tx, started_read(&tx, session, out, n));
}

/* ------------------------------------------------------------------- archive */

typedef struct archive_job {
    const char *session;
    bool archived;
    ramet_session **out;
} archive_job;

/* Collects the tree and all trees that were started from it. */
static void trees_gather(txn *tx, int64_t tree, int64_t **out, size_t *n)
{
    VEC(int64_t) v = {0};
    VEC_PUSH(tx->arena, &v, tree);
    for (size_t i = 0; i < v.n; i++) {
        db_stmt *q = db_query(tx->db, Q_origin_trees);
        q_int(q, 1, v.items[i]);
        while (q_row(q)) {
            int64_t found = q_col_int(q, 0);
            bool known = false;
            for (size_t k = 0; k < v.n && !known; k++)
                known = v.items[k] == found;
            if (!known)
                VEC_PUSH(tx->arena, &v, found);
        }
    }
    *out = v.items;
    *n = v.n;
}

static ramet_status archive_run(txn *tx, void *arg)
{
    archive_job *j = arg;
    session_full s;
    ramet_level level;
    int64_t *trees;
    size_t n;
    TRY(member_open(tx, j->session, RAMET_OWNER, &s, &level));
    if ((s.archived != 0) == j->archived)
        return call_fail(tx->call, RAMET_SESSION_NOT_FOUND, "session", "session %s is %sarchived",
                         s.id, j->archived ? "already " : "not ");
    s.archived = j->archived ? archive_stamp(tx->now) : 0;
    trees_gather(tx, s.tree, &trees, &n);
    for (size_t i = 0; i < n; i++) {
        db_stmt *q = db_query(tx->db, Q_session_archive);
        q_int(q, 1, trees[i]);
        q_int(q, 2, s.archived);
        q_run(q);
        access_changed(tx, trees[i]);
    }
    event_add(tx, s.tree, s.no, RAMET_EVENT_UPDATED, s.head,
              j->archived ? EVENT_ARCHIVED : EVENT_BACK);
    ANSWER(tx, j->out);
    *j->out = session_show(tx, &s);
    return txn_status(tx);
}

ramet_status ramet_archive(ramet_call *c, const char *session, bool archived, ramet_session **out)
{
    archive_job j = {session, archived, out};
    *out = NULL;
    ramet_status st = txn_revoke(c, archive_run, &j);
    if (st != RAMET_OK)
        *out = NULL;
    return st;
}
