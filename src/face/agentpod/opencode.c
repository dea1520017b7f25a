/* SPDX-License-Identifier: Apache-2.0
 *
 * opencode.c: the routes of OpenCode's API that AgentPod passes on, served from our sessions.
 *
 * A fork is exclusive, as there; an unknown message is 404, a revert is a rewind, which can always
 * be undone, and a fork of a rewound session does not bring back what was left.
 */
#include "face/agentpod/opencode.h"

#include "base/util.h"
#include "face/kit/turn_events.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 1000, MAX_PAGES = 64, LIST_DEFAULT = 100, ANSWER_BYTES = 64 << 20 };

/* ------------------------------------------------------------------ sessions */

/* The first entry that the last rewind has hidden, while nothing was said since; NULL: none. */
static const ramet_entry *hidden_find(request *q, const ramet_session *s)
{
    ramet_move *moves;
    size_t n;
    bool more;
    ramet_page page;
    if (ramet_head_log(q->call, s->id, 0, 1, &moves, &n, &more) != RAMET_OK || !n ||
        moves[0].kind != RAMET_MOVE_REWIND || moves[0].to != s->head.branch ||
        moves[0].to_length != s->head.length)
        return NULL;
    ramet_read_in in = {
        .limit = 1, .by_position = true, .position = s->head.length, .branch = moves[0].from};
    return ramet_read(q->call, s->id, &in, &page) == RAMET_OK && page.n ? &page.entries[0] : NULL;
}

static void session_answer(request *q, ramet_status st, const ramet_session *s)
{
    if (st != RAMET_OK) {
        request_error(q, ramet_call_error(q->call));
        return;
    }
    pod_session_write(q->arena, &q->writer, s, hidden_find(q, s));
    face_done(q);
}

static void show_session(request *q, const void *answer)
{
    pod_session_write(q->arena, &q->writer, *(ramet_session *const *)answer, NULL);
}

static void sessions_write(request *q, const ramet_session *items, size_t n)
{
    jw_array(&q->writer);
    for (size_t i = 0; i < n; i++)
        pod_session_write(q->arena, &q->writer, &items[i], NULL);
    jw_end_array(&q->writer);
    face_done(q);
}

void pod_sessions_list(request *q)
{
    ramet_call *c = agentpod_call(q);
    int64_t limit = LIST_DEFAULT;
    ramet_session_list out = {0};
    if (!c)
        return;
    face_query_int(q, "limit", &limit);
    ramet_list_in in = {.limit = limit > 1000 ? 1000 : (int)limit,
                        .sandbox = face_path(q, "sandboxId")};
    if (ramet_session_find(c, &in, &out) != RAMET_OK)
        request_error(q, ramet_call_error(c));
    else
        sessions_write(q, out.items, out.n);
}

void pod_session_create(request *q)
{
    ramet_call *c = agentpod_call(q);
    ramet_session *out = NULL;
    ramet_session_in in = {.title = face_text(q, "title"),
                           .metadata = face_raw(q, "metadata"),
                           .sandbox = face_path(q, "sandboxId")};
    if (!c)
        return;
    face_render(q, show_session, &out);
    face_answer(q, ramet_session_create(c, &in, &out));
}

void pod_session_get(request *q)
{
    ramet_call *c = agentpod_call(q);
    ramet_session *s = NULL;
    if (!c)
        return;
    ramet_status st = ramet_session_get(c, agentpod_session(q), &s);
    session_answer(q, st, s);
}

void pod_session_patch(request *q)
{
    ramet_call *c = agentpod_call(q);
    ramet_session *out = NULL;
    ramet_session_patch in = {.title = face_text(q, "title"), .metadata = face_raw(q, "metadata")};
    if (!c)
        return;
    face_render(q, show_session, &out);
    face_answer(q, ramet_session_update(c, agentpod_session(q), &in, &out));
}

static void show_success(request *q, const void *answer)
{
    (void)answer;
    jw_object(&q->writer);
    jw_kbool(&q->writer, "success", true);
    jw_end_object(&q->writer);
}

void pod_session_delete(request *q)
{
    ramet_call *c = agentpod_call(q);
    ramet_delete_out out = {0};
    if (!c)
        return;
    face_render(q, show_success, NULL);
    if (face_answer(q, ramet_session_delete(c, agentpod_session(q), false, false, &out)))
        turns_moved(q->host->turns, agentpod_session(q), false);
}

void pod_children(request *q)
{
    ramet_call *c = agentpod_call(q);
    ramet_session *items;
    size_t n;
    if (!c)
        return;
    if (ramet_children(c, agentpod_session(q), &items, &n) != RAMET_OK)
        request_error(q, ramet_call_error(c));
    else
        sessions_write(q, items, n);
}

/* A session that is not named is idle. */
void pod_status(request *q)
{
    ramet_call *c = agentpod_call(q);
    ramet_session_list out = {0};
    ramet_list_in in = {.limit = 1000, .sandbox = face_path(q, "sandboxId")};
    turn_running now;
    if (!c)
        return;
    if (ramet_session_find(c, &in, &out) != RAMET_OK) {
        request_error(q, ramet_call_error(c));
        return;
    }
    jw_object(&q->writer);
    for (size_t i = 0; i < out.n; i++)
        if (turns_running_get(q->host->turns, &out.items[i], q->arena, &now))
            jw_kraw(&q->writer, pod_session_id(q->arena, out.items[i].id), "{\"type\":\"busy\"}");
    jw_end_object(&q->writer);
    face_done(q);
}

/* ------------------------------------------------------------------ messages */

typedef struct part_of_history {
    ramet_entry *entries; /* the newest, oldest of them first */
    size_t n;
    bool more; /* there are earlier ones */
} part_of_history;

static size_t users_count(const ramet_entry *e, size_t n)
{
    size_t users = 0;
    for (size_t i = 0; i < n; i++)
        users += e[i].role == RAMET_USER;
    return users;
}

/* Reads backwards until there are `messages` messages for sure (0: all). */
static ramet_status history_load(request *q, const char *before, int64_t messages,
                                 part_of_history *out)
{
    ramet_page pages[MAX_PAGES];
    size_t n_pages = 0, total = 0, users = 0;
    bool more = true;
    for (; more && n_pages < MAX_PAGES && (!messages || users <= (size_t)messages); n_pages++) {
        ramet_page *p = &pages[n_pages];
        ramet_read_in in = {.limit = PAGE, .tail = true, .before = before};
        ramet_status st = ramet_read(q->call, agentpod_session(q), &in, p);
        if (st != RAMET_OK)
            return st;
        more = p->more_before && p->n;
        total += p->n;
        users += users_count(p->entries, p->n);
        before = p->n ? p->entries[0].id : before;
    }
    out->entries = arena_array(q->arena, total + 1, sizeof *out->entries);
    for (size_t i = n_pages; i-- > 0;)
        for (size_t k = 0; k < pages[i].n; k++)
            out->entries[out->n++] = pages[i].entries[k];
    out->more = more;
    return RAMET_OK;
}

void pod_messages_list(request *q)
{
    ramet_call *c = agentpod_call(q);
    ramet_session *s;
    part_of_history part = {0};
    int64_t limit = 0;
    const char *before = request_query(q, "before");
    if (!c)
        return;
    face_query_int(q, "limit", &limit);
    if (ramet_session_get(c, agentpod_session(q), &s) != RAMET_OK ||
        history_load(q, before ? pod_entry_of(q->arena, before) : NULL, limit, &part) != RAMET_OK) {
        request_error(q, ramet_call_error(c));
        return;
    }
    size_t n, from = 0;
    pod_message *list = pod_messages(q->arena, part.entries, part.n, &n);
    if (part.more && n)
        from = 1; /* its beginning may be missing */
    if (limit && n - from > (size_t)limit)
        from = n - (size_t)limit;
    if (from && from < n)
        request_add_header(q, "X-Next-Cursor", pod_message_id(q->arena, list[from].entries));
    jw_array(&q->writer);
    for (size_t i = from; i < n; i++)
        pod_message_write(q->arena, &q->writer, s, &list[i]);
    jw_end_array(&q->writer);
    face_done(q);
}

/* The message of the path that holds an entry; NULL: the answer is filled in. */
static const pod_message *message_find(request *q, const char *id)
{
    part_of_history part = {0};
    const char *entry = pod_entry_of(q->arena, id);
    size_t n;
    if (history_load(q, NULL, 0, &part) != RAMET_OK) {
        request_error(q, ramet_call_error(q->call));
        return NULL;
    }
    pod_message *list = pod_messages(q->arena, part.entries, part.n, &n);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < list[i].n; k++)
            if (strcmp(list[i].entries[k].id, entry) == 0)
                return &list[i];
    request_fail(q, 404, ramet_status_code(RAMET_ENTRY_NOT_FOUND), "messageID",
                 "there is no message %.255s in this history", id);
    return NULL;
}

void pod_message_get(request *q)
{
    ramet_call *c = agentpod_call(q);
    ramet_session *s;
    if (!c)
        return;
    const pod_message *m = message_find(q, face_path(q, "messageId"));
    if (!m)
        return;
    if (ramet_session_get(c, agentpod_session(q), &s) != RAMET_OK) {
        request_error(q, ramet_call_error(c));
        return;
    }
    pod_message_write(q->arena, &q->writer, s, m);
    face_done(q);
}

/* ------------------------------------------------------------------ prompts */

/* Reads `parts` as the text of a message. */
static bool prompt_read(request *q, ramet_entry_in *out)
{
    const json_node *list = face_member(q, "parts");
    buf b;
    buf_init(&b, ANSWER_BYTES);
    for (const json_node *p = json_first(&q->json, list); p; p = json_next(&q->json, list, p)) {
        const char *text = json_text(q->arena, &q->json, json_get(&q->json, p, "text"));
        if (text)
            buf_printf(&b, "%s%s", b.n ? "\n\n" : "", text);
    }
    *out = (ramet_entry_in){.role = RAMET_USER, .text = buf_keep_whole(&b, q->arena)};
    if (out->text && *out->text)
        return true;
    request_fail(q, 400, "invalid_request", "parts", "parts must hold a part with a text");
    return false;
}

/* The agent of one prompt: `model` of the request, with the agent of the session. */
static bool agent_read(request *q, const ramet_session *s, ramet_agent *out, bool *given)
{
    const json_node *model = face_member(q, "model");
    *given = false;
    if (!model)
        return true;
    *out = s->agent;
    out->model = json_text(q->arena, &q->json, json_get(&q->json, model, "modelID"));
    out->provider = json_text(q->arena, &q->json, json_get(&q->json, model, "providerID"));
    *given = out->name && out->model && out->provider;
    if (out->model && out->provider)
        return true;
    request_fail(q, 400, "invalid_request", "model", "model must have a providerID and a modelID");
    return false;
}

/* Answers a prompt with the message that the turn has made of it. */
typedef struct prompt_answer {
    arena *arena;
    ramet_session session; /* what shapes need of it */
    bool at_once;          /* answer when the turn has begun */
} prompt_answer;

static bool prompt_event(void *arg, const turn_event *e, buf *out)
{
    prompt_answer *p = arg;
    json_writer w;
    size_t n;
    if (p->at_once && e->kind == TURN_STARTED) {
        buf_puts(out, "{}");
        return false;
    }
    if (e->kind != TURN_ENDED && e->kind != TURN_DETACHED)
        return true;
    pod_message *list = pod_messages(p->arena, e->ended.entries, e->ended.n, &n);
    jw_init(&w, out, 0);
    if (n)
        pod_message_write(p->arena, &w, &p->session, &list[n - 1]);
    else
        buf_puts(out, "{}");
    return true;
}

static void prompt_release(void *arg)
{
    prompt_answer *p = arg;
    arena_free(p->arena);
    free(p);
}

static turn_listener prompt_listener(const ramet_session *s, bool at_once)
{
    prompt_answer *p = xcalloc(1, sizeof *p);
    p->arena = arena_new();
    p->at_once = at_once;
    p->session = (ramet_session){.id = arena_strdup(p->arena, s->id)};
    p->session.agent.name = arena_strdup(p->arena, s->agent.name);
    p->session.agent.model = arena_strdup(p->arena, s->agent.model);
    p->session.agent.provider = arena_strdup(p->arena, s->agent.provider);
    p->session.agent.folder = arena_strdup(p->arena, s->agent.folder);
    return (turn_listener){.content_type = "application/json",
                           .whole = true,
                           .event = prompt_event,
                           .release = prompt_release,
                           .arg = p};
}

/* `noReply`: the message alone. */
static void message_append(request *q, const ramet_session *s, const ramet_entry_in *message)
{
    ramet_append_out out;
    ramet_append_in in = {.entries = message, .n = 1};
    if (ramet_append(q->call, s->id, &in, &out) != RAMET_OK) {
        request_error(q, ramet_call_error(q->call));
        return;
    }
    pod_message m = {.entries = out.entries, .n = 1};
    pod_message_write(q->arena, &q->writer, s, &m);
    face_done(q);
}

static void prompt_run(request *q, bool at_once)
{
    ramet_call *c = agentpod_call(q);
    ramet_session *s;
    ramet_entry_in message;
    ramet_agent agent;
    bool given;
    if (!c || !prompt_read(q, &message))
        return;
    if (ramet_session_get(c, agentpod_session(q), &s) != RAMET_OK) {
        request_error(q, ramet_call_error(c));
        return;
    }
    if (!agent_read(q, s, &agent, &given))
        return;
    if (face_bool(q, "noReply")) {
        message_append(q, s, &message);
        return;
    }
    turn_request in = {.session = agentpod_session(q),
                       .agent = given ? &agent : NULL,
                       .turn = {.entries = &message, .n = 1}};
    turn_batch batch = {.items = &in, .n = 1};
    turn_listener listener = prompt_listener(s, at_once);
    face_turns_run(q, &batch, &listener);
}

void pod_prompt(request *q)
{
    prompt_run(q, false);
}

void pod_prompt_async(request *q)
{
    prompt_run(q, true);
}

/* ------------------------------------------------------------------ forks and moves */

/* `messageID`, or `messageId` as AgentPod sends it; NULL: none. */
static const char *message_given(request *q)
{
    const char *id = face_text(q, "messageID");
    return id ? id : face_text(q, "messageId");
}

/* The message that the request names. False: the answer is filled in. */
static bool point_find(request *q, const pod_message **out)
{
    const char *id = message_given(q);
    *out = id ? message_find(q, id) : NULL;
    return !id || *out;
}

void pod_fork(request *q)
{
    ramet_call *c = agentpod_call(q);
    const pod_message *m;
    ramet_session *out = NULL;
    ramet_fork_in in = {.visibility = q->caller.share ? RAMET_PRIVATE : RAMET_TREE_VISIBLE};
    if (!c || !point_find(q, &m))
        return;
    if (m)
        in.at = (ramet_at){m->entries[0].id, RAMET_BEFORE};
    face_render(q, show_session, &out);
    if (face_answer(q, ramet_fork(c, agentpod_session(q), &in, &out, NULL)))
        face_count(q, "fork", ramet_fork_type_name(in.type));
}

/* An answer is reverted with the message that it answers. */
void pod_revert(request *q)
{
    ramet_call *c = agentpod_call(q);
    const pod_message *m;
    ramet_session *s = NULL;
    if (!c || !point_find(q, &m))
        return;
    if (!m) {
        request_fail(q, 400, "invalid_request", "messageID", "messageID is missing");
        return;
    }
    const ramet_entry *e = m->prompt && m->entries[0].role != RAMET_USER ? m->prompt : m->entries;
    ramet_move_in in = {.at = {e->id, RAMET_BEFORE}};
    ramet_status st = ramet_rewind(c, agentpod_session(q), &in, &s, NULL);
    session_answer(q, st, s);
    if (st != RAMET_OK)
        return;
    face_count(q, "rewind", NULL);
    turns_moved(q->host->turns, agentpod_session(q), false);
}

/* Takes the last rewind back, if nothing was said since. */
void pod_unrevert(request *q)
{
    ramet_call *c = agentpod_call(q);
    ramet_session *s = NULL;
    if (!c)
        return;
    ramet_status st = ramet_session_get(c, agentpod_session(q), &s);
    if (st == RAMET_OK && hidden_find(q, s))
        st = ramet_undo(c, agentpod_session(q), s->head.hash, &s);
    session_answer(q, st, s);
}

void pod_abort(request *q)
{
    ramet_call *c = agentpod_call(q);
    ramet_turn *turn;
    turn_error err;
    if (!c)
        return;
    if (!turns_cancel(q->host->turns, q, agentpod_session(q), NULL, &turn, &err) &&
        err.error.status != RAMET_TURN_NOT_FOUND && err.error.status != RAMET_TURN_OVER) {
        face_turn_error(q, &err);
        return;
    }
    jw_bool(&q->writer, true);
    face_done(q);
}
