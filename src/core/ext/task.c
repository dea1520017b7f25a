/* SPDX-License-Identifier: Apache-2.0
 *
 * Tasks: a directory from the id of an A2A task to its session, and what a face knows about it
 * beside its messages. Remarks: opinions that name no entry.
 *
 *   A task's messages are the entries of the turn with its id; so a fork, which has other tasks,
 *   and a rewind need nothing of these rows. A deleted task's id is not used again.
 */
#include "core/ext/task.h"

#include "core/model/turn.h"

#define REMARK_CHARS 10000
#define ISSUE_CHARS 100

typedef struct task_row {
    int64_t tree, session;
    ramet_task shown;
    bool there; /* its session lives */
} task_row;

/* Faces keep a JSON object there. */
static bool data_sound(const char *data)
{
    arena *scratch = arena_new();
    json_doc d;
    bool sound = json_parse(scratch, data, strlen(data), SIZE_MAX, &d, NULL) &&
                 json_is(&d.nodes[0], JSON_OBJECT);
    arena_free(scratch);
    return sound;
}

/* TASK_COLS; the session's id is the caller's to fill. */
static void task_from(txn *tx, db_stmt *q, task_row *t)
{
    *t = (task_row){.tree = q_col_int(q, 1),
                    .session = q_col_int(q, 2),
                    .shown = {.id = q_need_text(q, 0, tx->a, "task.id"),
                              .data = q_need_text(q, 3, tx->a, "task.data"),
                              .created = q_col_int(q, 4),
                              .updated = q_col_int(q, 5),
                              .deleted = q_col_int(q, 6) != 0}};
    if (!data_sound(t->shown.data))
        db_fail(tx->d, RAMET_DAMAGED, "the data of task %s is damaged", t->shown.id);
}

static bool task_load(txn *tx, const char *id, task_row *t)
{
    session_row s;
    db_stmt *q = db_query(tx->d, Q_task_get);
    q_text(q, 1, id);
    bool found = q_row(q);
    if (found) {
        task_from(tx, q, t);
        t->shown.session = q_keep_text(q, 7, tx->a);
    }
    q_end(q);
    if (found && t->shown.session)
        t->there = session_by_no(tx, t->tree, t->session, &s) && !session_gone(tx, &s);
    return found;
}

ramet_status task_in_check(ramet_call *c, const ramet_task_in *in)
{
    TRY(check_id(c, "task", in->id));
    if (!in->data || !data_sound(in->data))
        return call_fail(c, RAMET_INVALID, "task", "the data of task %s must be a JSON object",
                         in->id);
    if (strlen(in->data) > c->r->lim.entry_bytes)
        return call_fail(c, RAMET_TOO_LARGE, "task",
                         "task %s has %zu bytes; at most %zu are allowed", in->id, strlen(in->data),
                         c->r->lim.entry_bytes);
    return RAMET_OK;
}

ramet_status task_check(txn *tx, const session_row *s, const char *id)
{
    task_row t;
    if (!task_load(tx, id, &t))
        return txn_status(tx);
    bool own = t.tree == s->tree && t.session == s->no;
    if ((own && !t.shown.deleted) || (!own && !t.there))
        return txn_status(tx);
    return call_fail(tx->c, RAMET_ENTRY_EXISTS, "task", "the task id %s is already in use", id);
}

void task_write(txn *tx, const session_row *s, const ramet_task_in *in)
{
    task_row t;
    db_stmt *q;
    /* The task of a session that is gone: it begins anew. */
    if (task_load(tx, in->id, &t) && (t.tree != s->tree || t.session != s->no)) {
        q = db_query(tx->d, Q_task_take);
        q_text(q, 1, in->id);
        q_run(q);
    }
    q = db_query(tx->d, Q_task_put);
    q_text(q, 1, in->id);
    q_int(q, 2, s->tree);
    q_int(q, 3, s->no);
    q_text(q, 4, in->data);
    q_int(q, 5, tx->now);
    q_int(q, 6, in->at);
    q_change(q);
}

void session_touch(txn *tx, session_row *s)
{
    db_stmt *q = db_query(tx->d, Q_session_touch);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    q_int(q, 3, tx->now);
    q_run(q);
    if (s->updated < tx->now)
        s->updated = tx->now;
    session_cache_drop(tx, s->id);
}

typedef struct task_job {
    const char *session, *id;
    const ramet_task_in *in;
    ramet_task **out;
} task_job;

static ramet_status put_run(txn *tx, void *arg)
{
    task_job *j = arg;
    session_row s;
    task_row t;
    TRY(session_open(tx, j->session, NEED_WRITE, &s));
    TRY(task_check(tx, &s, j->in->id));
    task_write(tx, &s, j->in);
    session_touch(tx, &s);
    if (j->out && task_load(tx, j->in->id, &t)) {
        *j->out = arena_alloc(tx->a, sizeof **j->out);
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
    session_row s;
    if (!task_load(tx, id, &t) || !t.there)
        return txn_status(tx);
    if (session_open(tx, t.shown.session, NEED_READ, &s) != RAMET_OK)
        return txn_status(tx);
    *out = arena_alloc(tx->a, sizeof **out);
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
    session_row s;
    task_row t;
    TRY(session_open(tx, j->session, NEED_WRITE, &s));
    TRY(task_check(tx, &s, j->id));
    if (!task_load(tx, j->id, &t))
        task_write(tx, &s, &(ramet_task_in){.id = j->id, .data = "{}"});
    db_stmt *q = db_query(tx->d, Q_task_deleted);
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
    session_row s;
    VEC(ramet_task) v = {0};
    TRY(session_open(tx, session, NEED_READ, &s));
    db_stmt *q = db_query(tx->d, Q_task_of_session);
    q_int(q, 1, s.tree);
    q_int(q, 2, s.no);
    while (q_row(q)) {
        task_row t;
        task_from(tx, q, &t);
        t.shown.session = s.id;
        VEC_PUSH(tx->a, &v, t.shown);
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

static ramet_status turn_session_run(txn *tx, const char *turn, const char **out)
{
    turn_row t;
    session_row s;
    if (turn_load(tx, turn, &t) && t.shown.session &&
        session_open(tx, t.shown.session, NEED_READ, &s) == RAMET_OK)
        *out = s.id;
    return txn_status(tx);
}

ramet_status ramet_turn_session(ramet_call *c, const char *turn, const char **session)
{
    txn tx;
    *session = NULL;
    TRY(check_id(c, "turn", turn));
    if (!txn_read(&tx, c))
        return c->err.status;
    return txn_done(&tx, turn_session_run(&tx, turn, session));
}

/* ------------------------------------------------------------------ remarks */

static ramet_status remark_run(txn *tx, void *arg)
{
    const ramet_remark *in = arg;
    int64_t no = db_number(tx->d, DB_REMARK, NULL);
    int at = 1;
    db_stmt *q = db_query(tx->d, in->has_message ? Q_remark_add : Q_remark_add_bare);
    q_int(q, at++, no);
    q_text(q, at++, tx->c->user ? tx->c->user : "");
    if (in->has_message)
        q_int(q, at++, in->message);
    q_int(q, at++, in->positive);
    q_text(q, at++, in->text);
    q_text(q, at++, in->issue ? in->issue : "");
    q_int(q, at++, tx->now);
    q_run(q);
    return txn_status(tx);
}

ramet_status ramet_remark_add(ramet_call *c, const ramet_remark *in)
{
    ramet_remark copy = *in;
    TRY(check_chars(c, "text", in->text, REMARK_CHARS, RAMET_TOO_LARGE));
    TRY(check_chars(c, "issue", in->issue, ISSUE_CHARS, RAMET_TOO_LARGE));
    return txn_write(c, remark_run, &copy);
}

static void remarks_read(txn *tx, int64_t after, int limit, ramet_remark **out, size_t *n)
{
    VEC(ramet_remark) v = {0};
    db_stmt *q = db_query(tx->d, Q_remark_page);
    q_text(q, 1, tx->c->user ? tx->c->user : "");
    q_int(q, 2, after);
    q_int(q, 3, limit);
    while (q_row(q)) {
        ramet_remark r = {.number = q_col_int(q, 0),
                          .user = q_need_text(q, 1, tx->a, "remark.user_id"),
                          .message = q_col_int(q, 2),
                          .has_message = q_col_int(q, 3) != 0,
                          .positive = q_col_int(q, 4) != 0,
                          .text = q_need_text(q, 5, tx->a, "remark.text"),
                          .issue = q_need_text(q, 6, tx->a, "remark.issue"),
                          .at = q_col_int(q, 7)};
        VEC_PUSH(tx->a, &v, r);
    }
    *out = v.items;
    *n = v.n;
}

ramet_status ramet_remarks(ramet_call *c, int64_t after, int limit, ramet_remark **out, size_t *n)
{
    txn tx;
    int most;
    *out = NULL;
    *n = 0;
    TRY(check_limit(c, limit, 1000, 50, &most));
    if (!txn_read(&tx, c))
        return c->err.status;
    remarks_read(&tx, after, most, out, n);
    return txn_done(&tx, RAMET_OK);
}
