/* SPDX-License-Identifier: Apache-2.0
 *
 * Destinations of notifications about A2A tasks.
 *
 *   N1  A row is claimed by changing its `due`, which only one node can do; it is settled by
 *       changing it again. So a change is delivered by one node, and the changes of a row one after
 *       the other. A node that dies while it delivers loses its claim when that time comes.
 *   N2  A row belongs to the user who made it: others neither see nor change it.
 *   N3  Rows whose last change was delivered make room when their owner has too many.
 */
#include "ramet/push.h"
#include "ramet/tasks.h"

#include "core/call.h"
#include "core/check.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/turn/turn.h"
#include "core/txn.h"

enum { MAX_CONFIG_BYTES = 16384, MAX_DUE = 1000 };

typedef struct push_row {
    int64_t tree, session;
    ramet_push shown;
} push_row;

static push_row row_from(txn *tx, db_stmt *q)
{
    size_t n = 0;
    push_row p = {.tree = q_col_int(q, 2),
                  .session = q_col_int(q, 3),
                  .shown = {.task = q_need_text(q, 0, tx->arena, "push.task"),
                            .id = q_need_text(q, 1, tx->arena, "push.id"),
                            .owner = q_need_text(q, 4, tx->arena, "push.owner"),
                            .wire = (int)q_col_int(q, 5),
                            .sent = q_col_int(q, 7),
                            .tries = q_col_int(q, 8),
                            .due = q_col_int(q, 9)}};
    const void *config = q_col_blob(q, 6, &n);
    p.shown.config = arena_memdup(tx->arena, config, n);
    p.shown.n = n;
    return p;
}

typedef struct push_job {
    const char *session, *task, *id;
    const ramet_push_in *in;
    ramet_push *row;
    int64_t due;
    bool *got;
} push_job;

/* ------------------------------------------------------------------ of a user */

static ramet_status user_only(ramet_call *c)
{
    return c->user ? RAMET_OK
                   : call_fail(c, RAMET_FORBIDDEN, NULL, "notifications belong to a user");
}

static int64_t owned(txn *tx)
{
    db_stmt *q = db_query(tx->db, Q_push_count);
    q_text(q, 1, tx->call->user);
    int64_t n = q_row(q) ? q_col_int(q, 0) : 0;
    q_end(q);
    return n;
}

/* N3. */
static ramet_status user_room(txn *tx)
{
    if (owned(tx) < RAMET_PUSH_PER_USER)
        return txn_status(tx);
    db_stmt *q = db_query(tx->db, Q_push_shed);
    q_text(q, 1, tx->call->user);
    q_int(q, 2, RAMET_PUSH_NEVER);
    q_run(q);
    if (owned(tx) < RAMET_PUSH_PER_USER)
        return txn_status(tx);
    return call_fail(tx->call, RAMET_TOO_LARGE, "id",
                     "a user may have %d push notification configs of tasks that have not ended",
                     RAMET_PUSH_PER_USER);
}

/* Whether the task has room for the id, which must be new or the caller's. */
static ramet_status task_room(txn *tx, const session_full *s, const ramet_push_in *in)
{
    int n = 0;
    bool known = false, foreign = false;
    db_stmt *q = db_query(tx->db, Q_push_of_task);
    q_text(q, 1, in->task);
    while (q_row(q)) {
        push_row p = row_from(tx, q);
        bool same = strcmp(p.shown.id, in->id) == 0;
        bool own =
            strcmp(p.shown.owner, tx->call->user) == 0 && p.tree == s->tree && p.session == s->no;
        known = known || same;
        foreign = foreign || (same && !own);
        n++;
    }
    TRY(txn_status(tx));
    if (foreign)
        return call_fail(tx->call, RAMET_INVALID, "id", "the config id %s is already in use",
                         in->id);
    if (!known && n >= RAMET_PUSH_PER_TASK)
        return call_fail(tx->call, RAMET_TOO_LARGE, "id",
                         "a task may have %d push notification configs", RAMET_PUSH_PER_TASK);
    return RAMET_OK;
}

static ramet_status put_run(txn *tx, void *arg)
{
    const push_job *j = arg;
    session_full s;
    TRY(session_open(tx, j->session, NEED_READ, &s));
    TRY(task_room(tx, &s, j->in));
    TRY(user_room(tx));
    db_stmt *q = db_query(tx->db, Q_push_put);
    q_text(q, 1, j->in->task);
    q_text(q, 2, j->in->id);
    q_int(q, 3, s.tree);
    q_int(q, 4, s.no);
    q_text(q, 5, tx->call->user);
    q_int(q, 6, j->in->wire);
    q_blob(q, 7, j->in->config, j->in->n);
    q_int(q, 8, tx->now);
    q_run(q);
    return txn_status(tx);
}

ramet_status ramet_push_put(ramet_call *c, const char *session, const ramet_push_in *in)
{
    push_job j = {.session = session, .in = in};
    TRY(user_only(c));
    TRY(check_id(c, "task", in->task));
    TRY(check_id(c, "id", in->id));
    if (in->n > MAX_CONFIG_BYTES)
        return call_fail(c, RAMET_TOO_LARGE, "config",
                         "the config has %zu bytes; at most %d are allowed", in->n,
                         MAX_CONFIG_BYTES);
    return txn_write(c, put_run, &j);
}

static ramet_status room_run(txn *tx, void *arg)
{
    (void)arg;
    return user_room(tx);
}

ramet_status ramet_push_room(ramet_call *c)
{
    TRY(user_only(c));
    return txn_write(c, room_run, NULL);
}

static ramet_status list_run(txn *tx, const char *session, const char *task, ramet_push **out,
                             size_t *n)
{
    session_full s;
    VEC(ramet_push) v = {0};
    TRY(session_open(tx, session, NEED_READ, &s));
    db_stmt *q = db_query(tx->db, Q_push_of_task);
    q_text(q, 1, task);
    while (q_row(q)) {
        push_row p = row_from(tx, q);
        p.shown.session = s.id;
        if (p.tree == s.tree && p.session == s.no && strcmp(p.shown.owner, tx->call->user) == 0)
            VEC_PUSH(tx->arena, &v, p.shown);
    }
    TRY(txn_status(tx));
    *out = v.items;
    *n = v.n;
    return RAMET_OK;
}

ramet_status ramet_push_list(ramet_call *c, const char *session, const char *task, ramet_push **out,
                             size_t *n)
{
    txn tx;
    *out = NULL;
    *n = 0;
    TRY(user_only(c));
    TRY(check_id(c, "task", task));
    if (!txn_read(&tx, c))
        return c->err.status;
    return txn_done(&tx, list_run(&tx, session, task, out, n));
}

static void row_delete(txn *tx, const char *task, const char *id)
{
    db_stmt *q = db_query(tx->db, Q_push_del);
    q_text(q, 1, task);
    q_text(q, 2, id);
    q_run(q);
}

static ramet_status delete_run(txn *tx, void *arg)
{
    const push_job *j = arg;
    ramet_push *list = NULL;
    size_t n = 0;
    TRY(list_run(tx, j->session, j->task, &list, &n));
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].id, j->id) == 0)
            row_delete(tx, j->task, j->id);
    return txn_status(tx);
}

ramet_status ramet_push_delete(ramet_call *c, const char *session, const char *task, const char *id)
{
    push_job j = {.session = session, .task = task, .id = id};
    TRY(user_only(c));
    TRY(check_id(c, "task", task));
    TRY(check_id(c, "id", id));
    return txn_write(c, delete_run, &j);
}

/* ------------------------------------------------------------------ delivery */

/* Adds what the session and the turn of the task say. */
static void row_complete(txn *tx, push_row *p)
{
    session_full s;
    turn_row t;
    ramet_push *r = &p->shown;
    bool there = session_by_no(tx, p->tree, p->session, &s) && !session_gone(tx, &s.access);
    r->session = there ? s.id : NULL;
    r->gone = !there;
    r->has_turn = there && turn_load(tx, r->task, &t);
    if (r->has_turn)
        r->status = t.shown.status;
}

static ramet_status due_run(txn *tx, int64_t now, const ramet_push *after, int limit,
                            ramet_push **out, size_t *n)
{
    VEC(push_row) v = {0};
    db_stmt *q = db_query(tx->db, Q_push_due);
    q_int(q, 1, after ? after->due : INT64_MIN);
    q_text(q, 2, after ? after->task : "");
    q_text(q, 3, after ? after->id : "");
    q_int(q, 4, now);
    q_int(q, 5, limit);
    while (q_row(q)) {
        push_row p = row_from(tx, q);
        VEC_PUSH(tx->arena, &v, p);
    }
    *out = arena_array(tx->arena, v.n + 1, sizeof **out);
    for (size_t i = 0; i < v.n; i++) {
        row_complete(tx, &v.items[i]);
        (*out)[i] = v.items[i].shown;
    }
    TRY(txn_status(tx));
    *n = v.n;
    return RAMET_OK;
}

ramet_status ramet_push_due(ramet_call *c, int64_t now, const ramet_push *after, int limit,
                            ramet_push **out, size_t *n)
{
    txn tx;
    *out = NULL;
    *n = 0;
    TRY(program_only(c));
    if (!txn_read(&tx, c))
        return c->err.status;
    return txn_done(&tx, due_run(&tx, now, after, limit > MAX_DUE ? MAX_DUE : limit, out, n));
}

static ramet_status claim_run(txn *tx, void *arg)
{
    const push_job *j = arg;
    int64_t before = db_changes(tx->db);
    db_stmt *q = db_query(tx->db, Q_push_claim);
    q_text(q, 1, j->row->task);
    q_text(q, 2, j->row->id);
    q_int(q, 3, j->row->due);
    q_int(q, 4, j->due);
    q_int(q, 5, j->row->sent);
    q_run(q);
    *j->got = db_changes(tx->db) > before;
    return txn_status(tx);
}

ramet_status ramet_push_claim(ramet_call *c, ramet_push *p, int64_t until, bool *got)
{
    push_job j = {.row = p, .due = until, .got = got};
    *got = false;
    TRY(program_only(c));
    TRY(txn_write(c, claim_run, &j));
    if (*got)
        p->due = until;
    return RAMET_OK;
}

static ramet_status settle_run(txn *tx, void *arg)
{
    const push_job *j = arg;
    db_stmt *q = db_query(tx->db, Q_push_settle);
    q_text(q, 1, j->row->task);
    q_text(q, 2, j->row->id);
    q_int(q, 3, j->row->due);
    q_int(q, 4, j->due);
    q_int(q, 5, j->row->sent);
    q_int(q, 6, j->row->tries);
    q_run(q);
    return txn_status(tx);
}

ramet_status ramet_push_settle(ramet_call *c, const ramet_push *p, int64_t due)
{
    push_job j = {.row = (ramet_push *)p, .due = due};
    TRY(program_only(c));
    return txn_write(c, settle_run, &j);
}

static ramet_status drop_run(txn *tx, void *arg)
{
    const push_job *j = arg;
    row_delete(tx, j->row->task, j->row->id);
    return txn_status(tx);
}

ramet_status ramet_push_drop(ramet_call *c, const ramet_push *p)
{
    push_job j = {.row = (ramet_push *)p};
    TRY(program_only(c));
    return txn_write(c, drop_run, &j);
}
