/* SPDX-License-Identifier: Apache-2.0
 *
 * task.c: A2A tasks over kagent's REST, in the shape of 0.3 or (A2A-Version: 1.0) of 1.0.
 */
#include "face/kit/a2a_question.h"
#include "face/kagent/kagent.h"

#include <string.h>

static void task_write(request *q, const a2a_task *t, a2a_version v)
{
    a2a_view view = {.version = v};
    a2a_task_write(q->a, &q->w, &view, t, -1);
}

static void task_answer(request *q, const a2a_task *t, a2a_version v, const char *message)
{
    kagent_data(q);
    task_write(q, t, v);
    kagent_end(q, message);
    face_done(q);
}

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
    ramet_status st = a2a_tasks(q->c, s->id, &list, &n);
    if (st != RAMET_OK) {
        kagent_error(q, st, "Failed to get tasks", "Session not found for given ID");
        return;
    }
    if (!n) {
        kagent_done(q, done);
        face_done(q);
        return;
    }
    kagent_data(q);
    jw_array(&q->w);
    for (size_t i = 0; i < n; i++) {
        if (list[i].running)
            a2a_task_live(q, s, &list[i]);
        task_write(q, &list[i], v);
    }
    jw_end_array(&q->w);
    kagent_end(q, done);
    face_done(q);
}

/* A task that the caller may see, with its session. False: the answer is filled. */
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
    if (t->running)
        a2a_task_live(q, s, t);
    task_answer(q, t, v, "Successfully retrieved task");
}

void kagent_task_delete(request *q)
{
    a2a_task *t;
    ramet_session *s;
    if (!task_load(q, &t, &s))
        return;
    ramet_status st = ramet_task_delete(q->c, s->id, t->id);
    if (st != RAMET_OK) {
        kagent_error(q, st, "Failed to delete task", "Task not found");
        return;
    }
    buf_clear(&q->out);
    face_done(q);
}

/* ------------------------------------------------------------------ putting */

/* The session that a task names. It is created if it does not exist: a runtime may store its task
 * before its session. */
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
            .agent = {.name = q->who.agent ? kagent_agent_name(q, q->who.agent) : NULL},
            .owner = q->who.no_user ? q->who.user : NULL};
        st = ramet_session_create(c, &in, out);
        *made = st == RAMET_OK;
    }
    if (st == RAMET_OK && q->who.as_agent && !a2a_session_is_of(q->a, *out, q->who.agent)) {
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

static void head_moved(request *q, const char *session, bool moved)
{
    if (moved && q->host->turn_moved)
        q->host->turn_moved(q->host->arg, session, false);
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
    if (!a2a_task_read(q->a, &q->json, &q->json.nodes[0], &in, &context, &why)) {
        bool time = strstr(why, "timestamp") != NULL;
        kagent_refuse(q, 400,
                      arena_printf(q->a, "%s: %s",
                                   time ? "Invalid legacy task payload" : "Invalid request body",
                                   why));
        return;
    }
    if (!session_for(q, context, in.id, &s, &made))
        return;
    ramet_status st = a2a_task_put(q->c, s->id, &in, &out, &moved);
    if (st == RAMET_ENTRY_EXISTS)
        kagent_refuse(q, 409, "Task ID is already in use");
    else if (st != RAMET_OK)
        kagent_error(q, st, "Failed to create task", "Session not found");
    if (st != RAMET_OK && made) /* the session is not needed */
        ramet_session_delete(q->c, s->id, false, false, &gone);
    if (st != RAMET_OK)
        return;
    head_moved(q, s->id, moved);
    task_answer(q, out, v, "Successfully created task");
}

/* ------------------------------------------------------------------ the whole history */

/* A list of messages, or an object with one. */
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
    if (json_parse(q->a, q->body.p, q->body.n, 0, &q->json, &e))
        all = messages_of(&q->json);
    else
        why = e.message;
    *list = arena_array(q->a, all ? all->count + 1 : 1, sizeof **list);
    *n = 0;
    for (const json_node *v = json_first(&q->json, all); all && v;
         v = json_next(&q->json, all, v)) {
        if (!a2a_message_read(q->a, &q->json, v, &(*list)[*n], &why)) {
            why = arena_printf(q->a, "[%zu]: %s", *n, why);
            all = NULL;
            break;
        }
        ++*n;
    }
    if (!all)
        kagent_refuse(q, 400, arena_printf(q->a, "Invalid request body: %s", why));
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
        !messages_read(q, &list, &n))
        return;
    ramet_status st = a2a_history_put(q->c, s->id, list, n, &moved);
    if (st == RAMET_OK)
        st = a2a_task_effective(q->c, s->id, NULL, &out);
    if (st != RAMET_OK) {
        kagent_error(q, st, "Failed to set the effective history", "Session not found");
        return;
    }
    head_moved(q, s->id, moved);
    task_answer(q, out, v, "Successfully set the effective history");
}
