/* SPDX-License-Identifier: Apache-2.0
 *
 * task.c: A2A tasks over kagent's REST API, in the form of 0.3 or (A2A-Version: 1.0) of 1.0.
 */
#include "face/kit/a2a_question.h"
#include "face/kit/a2a_pieces.h"
#include "ramet/tasks.h"
#include "face/kagent/kagent.h"

#include <string.h>

/* ------------------------------------------------------------------ answers */

typedef struct task_answer {
    const char *message;
    bool array; /* otherwise the single task */
    bool live;  /* include the question of a running turn, which is not in the store */
    a2a_task *list;
    size_t n, at;
} task_answer;

static bool task_next(request *q, void *arg, const a2a_task **out)
{
    task_answer *x = arg;
    ramet_session *s;
    *out = NULL;
    if (x->at == x->n)
        return true;
    a2a_task *t = &x->list[x->at++];
    if (x->live && t->running) {
        if (!kagent_session(q, t->session, "Task not found", &s))
            return false;
        a2a_task_live(q, s, t);
    }
    *out = t;
    return true;
}

static void tasks_keep(arena *own, void *arg)
{
    task_answer *x = arg;
    a2a_task *kept = arena_array(own, x->n - x->at + 1, sizeof *kept);
    for (size_t i = x->at; i < x->n; i++)
        kept[i - x->at] = a2a_task_keep(own, &x->list[i]);
    x->list = kept;
    x->n -= x->at;
    x->at = 0;
}

/* The call of an agent that acts for no user may see everything. */
static bool task_allowed(request *q, void *arg, const a2a_task *t)
{
    ramet_session *s;
    (void)arg;
    return !q->caller.as_agent || kagent_session(q, t->session, "Task not found", &s);
}

static void tasks_fail(request *q, void *arg, ramet_status st)
{
    (void)arg;
    kagent_error(q, st, "Failed to get tasks", "Task not found");
}

static void tasks_end(request *q, void *arg)
{
    const task_answer *x = arg;
    if (x->array)
        jw_end_array(&q->writer);
    kagent_end(q, x->message);
}

static void tasks_write(request *q, a2a_version v, const task_answer *in)
{
    task_answer *x = arena_alloc(q->arena, sizeof *x);
    *x = *in;
    kagent_data(q);
    if (x->array)
        jw_array(&q->writer);
    a2a_tasks_answer(q, &(a2a_answer){.view = {.version = v, .stamp = true, .page = true},
                                      .history = -1,
                                      .next = task_next,
                                      .keep = tasks_keep,
                                      .allowed = task_allowed,
                                      .fail = tasks_fail,
                                      .end = tasks_end,
                                      .arg = x});
}

/* ------------------------------------------------------------------ reading */

void kagent_tasks_list(request *q)
{
    static const char done[] = "Successfully retrieved session tasks";
    ramet_session *s;
    a2a_task *list;
    a2a_version v;
    size_t n;
    if (!kagent_version(q, &v) ||
        !kagent_session(q, face_path(q, "session_id"), "Session not found for given ID", &s))
        return;
    ramet_status st = a2a_tasks(q->call, s->id, &list, &n);
    if (st != RAMET_OK) {
        kagent_error(q, st, "Failed to get tasks", "Session not found for given ID");
        return;
    }
    if (n) {
        tasks_write(
            q, v,
            &(task_answer){.message = done, .array = true, .live = true, .list = list, .n = n});
        return;
    }
    kagent_done(q, done);
    face_done(q);
}

/* Loads a task that the client may see, and its session. False: the answer is filled in. */
static bool task_load(request *q, a2a_task **t, ramet_session **s)
{
    ramet_call *c = kagent_call(q);
    if (!c)
        return false;
    ramet_status st = a2a_task_get(c, NULL, face_path(q, "task_id"), t);
    if (st != RAMET_OK) {
        kagent_error(q, st, "Failed to get task", "Task not found");
        return false;
    }
    return kagent_session(q, (*t)->session, "Task not found", s);
}

void kagent_task_get(request *q)
{
    a2a_version v;
    a2a_task *t;
    ramet_session *s;
    if (!kagent_version(q, &v) || !task_load(q, &t, &s))
        return;
    tasks_write(
        q, v,
        &(task_answer){.message = "Successfully retrieved task", .live = true, .list = t, .n = 1});
}

/* As in kagent, a task that is not there, or that the client may not see, counts as deleted. */
void kagent_task_delete(request *q)
{
    ramet_call *c = kagent_call(q);
    const char *id = face_path(q, "task_id");
    a2a_task *t;
    ramet_session *s;
    if (!c)
        return;
    ramet_status st = a2a_task_get(c, NULL, id, &t);
    if (st == RAMET_OK)
        st = ramet_session_get(c, t->session, &s);
    bool seen =
        st == RAMET_OK && (!q->caller.as_agent || a2a_session_is_of(q->arena, s, q->caller.agent));
    if (seen)
        st = ramet_task_delete(c, s->id, id);
    if (st != RAMET_OK && (seen || ramet_status_http(st) != 404)) {
        kagent_error(q, st, "Failed to delete task", "Task not found");
        return;
    }
    buf_clear(&q->out);
    face_done(q);
}

/* ------------------------------------------------------------------ putting */

/* The session that a task names, created if it does not exist: a runtime may store its task before
 * its session. */
static bool session_for(request *q, const char *context, const char *task, ramet_session **out,
                        bool *made)
{
    ramet_call *c = kagent_call(q);
    const char *id = context ? context : task;
    if (!c)
        return false;
    ramet_status st = ramet_session_get(c, id, out);
    if (st == RAMET_SESSION_NOT_FOUND) {
        ramet_session_in in = {
            .id = id,
            .agent = {.name = q->caller.agent ? kagent_agent_name(q, q->caller.agent) : NULL},
            .owner = q->caller.no_user ? q->caller.user : NULL};
        st = ramet_session_create(c, &in, out);
        *made = st == RAMET_OK;
    }
    if (st == RAMET_OK && q->caller.as_agent &&
        !a2a_session_is_of(q->arena, *out, q->caller.agent)) {
        kagent_refuse(q, 403, "Session does not belong to this agent");
        return false;
    }
    if (st == RAMET_SESSION_DELETED) {
        kagent_refuse(q, 404, "Session not found");
        return false;
    }
    if (st == RAMET_OK)
        return true;
    kagent_error(q, st, "Failed to create task", "Session not found");
    return false;
}

/* Version 0.3 tells parts apart by their kind. False: the answer is filled in. */
static bool kinds_fit(request *q, a2a_version v, const a2a_message *list, size_t n)
{
    size_t part;
    for (size_t i = 0; v == A2A_03 && i < n; i++)
        if (!a2a_kinds_fit(list[i].doc, list[i].node, &part)) {
            kagent_refuse(
                q, 400,
                arena_printf(q->arena,
                             "Invalid request body: history[%zu]: parts[%zu].kind must be "
                             "text, file or data",
                             i, part));
            return false;
        }
    return true;
}

static void head_moved(request *q, const char *session, bool moved)
{
    if (moved)
        turns_moved(q->host->turns, session, false);
}

void kagent_task_post(request *q)
{
    a2a_version v;
    a2a_task_in in;
    a2a_task *out;
    ramet_session *s;
    ramet_delete_out gone;
    const char *context, *why = "";
    bool moved = false, made = false;
    if (!kagent_version(q, &v))
        return;
    if (!a2a_task_read(q->arena, &q->json, &q->json.nodes[0], &in, &context, &why)) {
        bool time = strstr(why, "timestamp") != NULL;
        kagent_refuse(q, 400,
                      arena_printf(q->arena, "%s: %s",
                                   time ? "Invalid legacy task payload" : "Invalid request body",
                                   why));
        return;
    }
    if (!kinds_fit(q, v, in.history, in.n) || !session_for(q, context, in.id, &s, &made))
        return;
    ramet_status st = a2a_task_put(q->call, s->id, &in, &out, &moved);
    if (st == RAMET_ENTRY_EXISTS)
        kagent_refuse(q, 409, "Task ID is already in use");
    else if (st != RAMET_OK)
        kagent_error(q, st, "Failed to create task", "Session not found");
    if (st != RAMET_OK && made) /* the session is not needed */
        ramet_session_delete(q->call, s->id, false, false, &gone);
    if (st != RAMET_OK)
        return;
    head_moved(q, s->id, moved);
    tasks_write(q, v, &(task_answer){.message = "Successfully created task", .list = out, .n = 1});
}

/* ------------------------------------------------------------------ the whole history */

/* A list of messages, or an object that contains one. */
static const json_node *messages_of(const json_doc *d)
{
    const json_node *root = &d->nodes[0];
    static const char *const names[] = {"messages", "history"};
    for (size_t i = 0; json_is(root, JSON_OBJECT) && i < 2; i++)
        if (json_is(json_get(d, root, names[i]), JSON_ARRAY))
            return json_get(d, root, names[i]);
    return json_is(root, JSON_ARRAY) ? root : NULL;
}

static bool messages_read(request *q, a2a_message **list, size_t *n)
{
    const char *why = "it is a list of messages";
    const json_node *all = NULL;
    json_error e = {0};
    if (json_parse(q->arena, q->body.data, q->body.n, 0, &q->json, &e))
        all = messages_of(&q->json);
    else
        why = e.message;
    *list = arena_array(q->arena, all ? all->count + 1 : 1, sizeof **list);
    *n = 0;
    for (const json_node *v = json_first(&q->json, all); all && v;
         v = json_next(&q->json, all, v)) {
        if (!a2a_message_read(q->arena, &q->json, v, &(*list)[*n], &why)) {
            why = arena_printf(q->arena, "[%zu]: %s", *n, why);
            all = NULL;
            break;
        }
        ++*n;
    }
    if (!all)
        kagent_refuse(q, 400, arena_printf(q->arena, "Invalid request body: %s", why));
    return all != NULL;
}

void kagent_history_put(request *q)
{
    a2a_message *list;
    a2a_task *out;
    ramet_session *s;
    a2a_version v;
    size_t n;
    bool moved = false;
    if (!kagent_version(q, &v) ||
        !kagent_session(q, face_path(q, "session_id"), "Session not found", &s) ||
        !messages_read(q, &list, &n) || !kinds_fit(q, v, list, n))
        return;
    ramet_status st = a2a_history_put(q->call, s->id, list, n, &moved);
    if (st == RAMET_OK)
        st = a2a_task_effective(q->call, s->id, &out);
    if (st != RAMET_OK) {
        kagent_error(q, st, "Failed to set the effective history", "Session not found");
        return;
    }
    head_moved(q, s->id, moved);
    tasks_write(
        q, v,
        &(task_answer){.message = "Successfully set the effective history", .list = out, .n = 1});
}
