/* SPDX-License-Identifier: Apache-2.0
 *
 * Tasks: a directory from the id of an A2A task to its session, and what the protocol stores about
 * it beside its messages.
 *
 * The messages of a task are the entries of the turn with its id. So neither a fork, which has
 * other tasks, nor a rewind touches these rows. The id of a deleted task is not reused.
 */
#include "core/ext/task.h"

#include "ramet/tasks.h"
#include "core/call.h"
#include "core/check.h"
#include "core/handle.h"
#include "core/change/append.h"
#include "core/session/rights.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/model/branch.h"
#include "core/turn/turn_index.h"
#include "core/txn.h"

typedef struct task_row {
    int64_t tree, session;
    ramet_task shown;
    bool there; /* its session exists */
} task_row;

/* Faces store a JSON object there. */
static bool data_sound(const char *data)
{
    arena *scratch = arena_new();
    json_doc d;
    bool sound = json_parse(scratch, data, strlen(data), SIZE_MAX, &d, NULL) &&
                 json_is(&d.nodes[0], JSON_OBJECT);
    arena_free(scratch);
    return sound;
}

/* Reads TASK_COLS; the caller fills in the session's id. */
static void task_from(txn *tx, db_stmt *q, task_row *t)
{
    *t = (task_row){.tree = q_col_int(q, 1),
                    .session = q_col_int(q, 2),
                    .shown = {.id = q_need_text(q, 0, tx->arena, "task.id"),
                              .data = q_need_text(q, 3, tx->arena, "task.data"),
                              .created = q_col_int(q, 4),
                              .updated = q_col_int(q, 5),
                              .deleted = q_col_int(q, 6) != 0}};
    if (!data_sound(t->shown.data))
        db_fail(tx->db, RAMET_DAMAGED, "the data of task %s is damaged", t->shown.id);
}

static bool task_load(txn *tx, const char *id, task_row *t)
{
    session_full s;
    db_stmt *q = db_query(tx->db, Q_task_get);
    q_text(q, 1, id);
    bool found = q_row(q);
    if (found) {
        task_from(tx, q, t);
        t->shown.session = q_keep_text(q, 7, tx->arena);
    }
    q_end(q);
    if (found && t->shown.session)
        t->there = session_by_no(tx, t->tree, t->session, &s) && !session_gone(tx, &s.access);
    return found;
}

static ramet_status task_in_check(ramet_call *c, const ramet_task_in *in)
{
    TRY(check_id(c, "task", in->id));
    if (in->invocation)
        TRY(check_id(c, "invocation", in->invocation));
    if (!in->data || !data_sound(in->data))
        return call_fail(c, RAMET_INVALID, "task", "the data of task %s must be a JSON object",
                         in->id);
    if (strlen(in->data) > c->ramet->limits.entry_bytes)
        return call_fail(c, RAMET_TOO_LARGE, "task",
                         "task %s has %zu bytes; at most %zu are allowed", in->id, strlen(in->data),
                         c->ramet->limits.entry_bytes);
    return RAMET_OK;
}

static ramet_status task_check(txn *tx, const session_brief *s, const char *id)
{
    task_row t;
    if (!task_load(tx, id, &t))
        return txn_status(tx);
    bool own = t.tree == s->tree && t.session == s->no;
    if ((own && !t.shown.deleted) || (!own && !t.there))
        return txn_status(tx);
    return call_fail(tx->call, RAMET_ENTRY_EXISTS, "task", "the task id %s is already in use", id);
}

/* `branch`: that of its messages; 0: the head. */
static void task_write(txn *tx, const session_brief *s, const ramet_task_in *in, int64_t branch)
{
    task_row t;
    db_stmt *q;
    branch_row b;
    /* The id belonged to a task of a session that is gone: it is free again. */
    if (task_load(tx, in->id, &t) && (t.tree != s->tree || t.session != s->no)) {
        q = db_query(tx->db, Q_task_take);
        q_text(q, 1, in->id);
        q_run(q);
    }
    q = db_query(tx->db, Q_task_put);
    q_text(q, 1, in->id);
    q_int(q, 2, s->tree);
    q_int(q, 3, s->no);
    q_text(q, 4, in->data);
    q_int(q, 5, tx->now);
    q_int(q, 6, in->at);
    q_change(q);
    if (in->invocation && branch_load(tx, s->tree, branch ? branch : s->head, &b))
        turn_index_name(tx, &b, in->id, in->invocation);
}

/* -------------------------------------------------- with an append (append.h) */

static ramet_status append_task_check(ramet_call *c, const ramet_append_in *in)
{
    return in->task ? task_in_check(c, in->task) : RAMET_OK;
}

static ramet_status append_task_before(txn *tx, const session_brief *s, const ramet_append_in *in)
{
    return in->task ? task_check(tx, s, in->task->id) : RAMET_OK;
}

static ramet_status append_task_after(txn *tx, const session_brief *s, const ramet_append_in *in,
                                      size_t added)
{
    if (in->task)
        task_write(tx, s, in->task, in->branch);
    if (in->task && !added)
        session_touch(tx, s);
    return txn_status(tx);
}

void task_register(ramet *r)
{
    static const append_extension tasks = {
        .check = append_task_check, .before = append_task_before, .after = append_task_after};
    append_extension_register(r, &tasks);
}

/* --------------------------------------------------------------------- calls */

typedef struct task_job {
    const char *session, *id;
    const ramet_task_in *in;
    ramet_task **out;
} task_job;

static ramet_status put_run(txn *tx, void *arg)
{
    task_job *j = arg;
    session_full s;
    task_row t;
    TRY(session_open(tx, j->session, NEED_WRITE, &s));
    TRY(task_check(tx, &s.brief, j->in->id));
    task_write(tx, &s.brief, j->in, 0);
    session_touch(tx, &s.brief);
    if (j->out && task_load(tx, j->in->id, &t)) {
        *j->out = arena_alloc(tx->arena, sizeof **j->out);
        **j->out = t.shown;
    }
    return txn_status(tx);
}

ramet_status ramet_task_put(ramet_call *c, const char *session, const ramet_task_in *in,
                            ramet_task **out)
{
    task_job j = {.session = session, .in = in, .out = out};
    if (out)
        *out = NULL;
    TRY(task_in_check(c, in));
    return txn_write(c, put_run, &j);
}

static ramet_status get_run(txn *tx, const char *id, ramet_task **out)
{
    task_row t;
    session_full s;
    if (!task_load(tx, id, &t) || !t.there)
        return txn_status(tx);
    if (session_open(tx, t.shown.session, NEED_READ, &s) != RAMET_OK)
        return txn_status(tx);
    *out = arena_alloc(tx->arena, sizeof **out);
    **out = t.shown;
    return txn_status(tx);
}

ramet_status ramet_task_get(ramet_call *c, const char *id, ramet_task **out)
{
    txn tx;
    *out = NULL;
    TRY(check_id(c, "task", id));
    if (!txn_read(&tx, c))
        return c->err.status;
    return txn_done(&tx, get_run(&tx, id, out));
}

static ramet_status delete_run(txn *tx, void *arg)
{
    const task_job *j = arg;
    session_full s;
    task_row t;
    TRY(session_open(tx, j->session, NEED_WRITE, &s));
    TRY(task_check(tx, &s.brief, j->id));
    if (!task_load(tx, j->id, &t))
        task_write(tx, &s.brief, &(ramet_task_in){.id = j->id, .data = "{}"}, 0);
    db_stmt *q = db_query(tx->db, Q_task_deleted);
    q_text(q, 1, j->id);
    q_int(q, 2, tx->now);
    q_run(q);
    return txn_status(tx);
}

ramet_status ramet_task_delete(ramet_call *c, const char *session, const char *id)
{
    task_job j = {.session = session, .id = id};
    TRY(check_id(c, "task", id));
    return txn_write(c, delete_run, &j);
}

static ramet_status list_run(txn *tx, const char *session, ramet_task **out, size_t *n)
{
    session_full s;
    VEC(ramet_task) v = {0};
    TRY(session_open(tx, session, NEED_READ, &s));
    db_stmt *q = db_query(tx->db, Q_task_of_session);
    q_int(q, 1, s.tree);
    q_int(q, 2, s.no);
    while (q_row(q)) {
        task_row t;
        task_from(tx, q, &t);
        t.shown.session = s.id;
        VEC_PUSH(tx->arena, &v, t.shown);
    }
    *out = v.items;
    *n = v.n;
    return txn_status(tx);
}

ramet_status ramet_tasks(ramet_call *c, const char *session, ramet_task **out, size_t *n)
{
    txn tx;
    *out = NULL;
    *n = 0;
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_status st = txn_done(&tx, list_run(&tx, session, out, n));
    if (st != RAMET_OK)
        *n = 0;
    return st;
}
