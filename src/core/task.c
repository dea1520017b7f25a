/* SPDX-License-Identifier: Apache-2.0
 *
 * Tasks: a directory from the id of an A2A task to its session, and what a face knows about it
 * beside its messages. Remarks: opinions that name no entry.
 *
 *   A task's messages are the entries of the turn with its id; so a fork, which has other tasks,
 *   and a rewind need nothing of these rows. A deleted task's id is not used again.
 */
#include "core/task.h"

#include "core/turn.h"

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
static void task_from(cx *x, db_stmt *q, task_row *t)
{
    *t = (task_row){.tree = q_col_int(q, 1),
                    .session = q_col_int(q, 2),
                    .shown = {.id = q_need_text(q, 0, x->a, "task.id"),
                              .data = q_need_text(q, 3, x->a, "task.data"),
                              .created = q_col_int(q, 4),
                              .updated = q_col_int(q, 5),
                              .deleted = q_col_int(q, 6) != 0}};
    if (!data_sound(t->shown.data))
        db_fail(x->d, RAMET_DAMAGED, "the data of task %s is damaged", t->shown.id);
}

static bool task_load(cx *x, const char *id, task_row *t)
{
    session_row s;
    db_stmt *q = db_query(x->d, Q_task_get);
    q_text(q, 1, id);
    bool found = q_row(q);
    if (found) {
        task_from(x, q, t);
        t->shown.session = q_keep_text(q, 7, x->a);
    }
    q_end(q);
    if (found && t->shown.session)
        t->there = session_by_no(x, t->tree, t->session, &s) && !session_gone(x, &s);
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

ramet_status task_check(cx *x, const session_row *s, const char *id)
{
    task_row t;
    if (!task_load(x, id, &t))
        return cx_status(x);
    bool own = t.tree == s->tree && t.session == s->no;
    if ((own && !t.shown.deleted) || (!own && !t.there))
        return cx_status(x);
    return call_fail(x->c, RAMET_ENTRY_EXISTS, "task", "the task id %s is already in use", id);
}

void task_write(cx *x, const session_row *s, const ramet_task_in *in)
{
    task_row t;
    db_stmt *q;
    /* The task of a session that is gone: it begins anew. */
    if (task_load(x, in->id, &t) && (t.tree != s->tree || t.session != s->no)) {
        if (needs_serial(x))
            return;
        q = db_query(x->d, Q_task_take);
        q_text(q, 1, in->id);
        q_run(q);
    }
    q = db_query(x->d, Q_task_put);
    q_text(q, 1, in->id);
    q_int(q, 2, s->tree);
    q_int(q, 3, s->no);
    q_text(q, 4, in->data);
    q_int(q, 5, x->now);
    q_int(q, 6, in->at);
    q_guard(q);
}

void session_touch(cx *x, session_row *s)
{
    db_stmt *q = db_query(x->d, Q_session_touch);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    q_int(q, 3, x->now);
    q_run(q);
    if (s->updated < x->now)
        s->updated = x->now;
    recent_drop(x, s->id);
}

typedef struct task_job {
    const char *session, *id;
    const ramet_task_in *in;
    ramet_task **out;
} task_job;

static ramet_status put_run(cx *x, void *arg)
{
    task_job *j = arg;
    session_row s;
    task_row t;
    TRY(session_open(x, j->session, NEED_WRITE, &s));
    TRY(task_check(x, &s, j->in->id));
    task_write(x, &s, j->in);
    session_touch(x, &s);
    if (j->out && task_load(x, j->in->id, &t)) {
        *j->out = arena_alloc(x->a, sizeof **j->out);
        **j->out = t.shown;
    }
    return cx_status(x);
}

ramet_status ramet_task_put(ramet_call *c, const char *session, const ramet_task_in *in,
                            ramet_task **out)
{
    task_job j = {.session = session, .in = in, .out = out};
    if (out)
        *out = NULL;
    TRY(task_in_check(c, in));
    return cx_write(c, put_run, &j);
}

static ramet_status get_run(cx *x, const char *id, ramet_task **out)
{
    task_row t;
    session_row s;
    if (!task_load(x, id, &t) || !t.there)
        return cx_status(x);
    if (session_open(x, t.shown.session, NEED_READ, &s) != RAMET_OK)
        return cx_status(x);
    *out = arena_alloc(x->a, sizeof **out);
    **out = t.shown;
    return cx_status(x);
}

ramet_status ramet_task_get(ramet_call *c, const char *id, ramet_task **out)
{
    cx x;
    *out = NULL;
    TRY(check_id(c, "task", id));
    if (!cx_read(&x, c))
        return c->err.status;
    return cx_done(&x, get_run(&x, id, out));
}

static ramet_status delete_run(cx *x, void *arg)
{
    const task_job *j = arg;
    session_row s;
    task_row t;
    TRY(session_open(x, j->session, NEED_WRITE, &s));
    TRY(task_check(x, &s, j->id));
    if (!task_load(x, j->id, &t))
        task_write(x, &s, &(ramet_task_in){.id = j->id, .data = "{}"});
    db_stmt *q = db_query(x->d, Q_task_deleted);
    q_text(q, 1, j->id);
    q_int(q, 2, x->now);
    q_run(q);
    return cx_status(x);
}

ramet_status ramet_task_delete(ramet_call *c, const char *session, const char *id)
{
    task_job j = {.session = session, .id = id};
    TRY(check_id(c, "task", id));
    return cx_write(c, delete_run, &j);
}

static ramet_status list_run(cx *x, const char *session, ramet_task **out, size_t *n)
{
    session_row s;
    VEC(ramet_task) v = {0};
    TRY(session_open(x, session, NEED_READ, &s));
    db_stmt *q = db_query(x->d, Q_task_of_session);
    q_int(q, 1, s.tree);
    q_int(q, 2, s.no);
    while (q_row(q)) {
        task_row t;
        task_from(x, q, &t);
        t.shown.session = s.id;
        VEC_PUSH(x->a, &v, t.shown);
    }
    *out = v.items;
    *n = v.n;
    return cx_status(x);
}

ramet_status ramet_tasks(ramet_call *c, const char *session, ramet_task **out, size_t *n)
{
    cx x;
    *out = NULL;
    *n = 0;
    if (!cx_read(&x, c))
        return c->err.status;
    ramet_status st = cx_done(&x, list_run(&x, session, out, n));
    if (st != RAMET_OK)
        *n = 0;
    return st;
}

static ramet_status turn_session_run(cx *x, const char *turn, const char **out)
{
    turn_row t;
    session_row s;
    if (turn_load(x, turn, &t) && t.shown.session &&
        session_open(x, t.shown.session, NEED_READ, &s) == RAMET_OK)
        *out = s.id;
    return cx_status(x);
}

ramet_status ramet_turn_session(ramet_call *c, const char *turn, const char **session)
{
    cx x;
    *session = NULL;
    TRY(check_id(c, "turn", turn));
    if (!cx_read(&x, c))
        return c->err.status;
    return cx_done(&x, turn_session_run(&x, turn, session));
}

/* ------------------------------------------------------------------ remarks */

static ramet_status remark_run(cx *x, void *arg)
{
    const ramet_remark *in = arg;
    int64_t no = db_number(x->d, DB_REMARK, NULL);
    int at = 1;
    db_stmt *q = db_query(x->d, in->has_message ? Q_remark_add : Q_remark_add_bare);
    q_int(q, at++, no);
    q_text(q, at++, x->c->user ? x->c->user : "");
    if (in->has_message)
        q_int(q, at++, in->message);
    q_int(q, at++, in->positive);
    q_text(q, at++, in->text);
    q_text(q, at++, in->issue ? in->issue : "");
    q_int(q, at++, x->now);
    q_run(q);
    return cx_status(x);
}

ramet_status ramet_remark_add(ramet_call *c, const ramet_remark *in)
{
    ramet_remark copy = *in;
    TRY(check_chars(c, "text", in->text, REMARK_CHARS, RAMET_TOO_LARGE));
    TRY(check_chars(c, "issue", in->issue, ISSUE_CHARS, RAMET_TOO_LARGE));
    return cx_write(c, remark_run, &copy);
}

static void remarks_read(cx *x, int64_t after, int limit, ramet_remark **out, size_t *n)
{
    VEC(ramet_remark) v = {0};
    db_stmt *q = db_query(x->d, Q_remark_page);
    q_text(q, 1, x->c->user ? x->c->user : "");
    q_int(q, 2, after);
    q_int(q, 3, limit);
    while (q_row(q)) {
        ramet_remark r = {.number = q_col_int(q, 0),
                          .user = q_need_text(q, 1, x->a, "remark.user_id"),
                          .message = q_col_int(q, 2),
                          .has_message = q_col_int(q, 3) != 0,
                          .positive = q_col_int(q, 4) != 0,
                          .text = q_need_text(q, 5, x->a, "remark.text"),
                          .issue = q_need_text(q, 6, x->a, "remark.issue"),
                          .at = q_col_int(q, 7)};
        VEC_PUSH(x->a, &v, r);
    }
    *out = v.items;
    *n = v.n;
}

ramet_status ramet_remarks(ramet_call *c, int64_t after, int limit, ramet_remark **out, size_t *n)
{
    cx x;
    int most;
    *out = NULL;
    *n = 0;
    TRY(check_limit(c, limit, 1000, 50, &most));
    if (!cx_read(&x, c))
        return c->err.status;
    remarks_read(&x, after, most, out, n);
    return cx_done(&x, RAMET_OK);
}
