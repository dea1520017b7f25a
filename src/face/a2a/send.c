/* SPDX-License-Identifier: Apache-2.0
 *
 * send.c: messages received over A2A. A message begins a turn in its context, answers the question
 * of a task, or rewinds the context; one with text and rewind metadata does both.
 */
#include "face/a2a/a2a_face.h"
#include "face/a2a/push.h"

#include <string.h>
#include <strings.h>

typedef struct sending {
    jsonrpc_call *call;
    a2a_message message;
    ramet_session *session; /* NULL: to be created */
    const char *rewind;     /* rewind to before this invocation; NULL: none */
    follow_in follow;
    push_target push; /* where its task is to be told; url NULL: nowhere */
} sending;

/* ------------------------------------------------------------------ what is sent */

/* The value of a rewind key in the metadata: plain, prefixed with the extension's URI, or nested
 * under it.
 */
static const json_node *rewind_get(jsonrpc_call *r, const json_node *meta)
{
    static const char *const keys[] = {A2A_REWIND_KEY, A2A_REWIND_URI "/" A2A_REWIND_KEY,
                                       A2A_REWIND_URI "/rewindBeforeInvocationId"};
    const json_node *v = NULL, *under = json_get(&r->doc, meta, A2A_REWIND_URI);
    for (size_t i = 0; !v && i < sizeof keys / sizeof *keys; i++)
        v = json_get(&r->doc, meta, keys[i]);
    if (!v)
        v = json_is(under, JSON_OBJECT) ? json_get(&r->doc, under, A2A_REWIND_KEY) : under;
    return json_is(v, JSON_NULL) ? NULL : v;
}

static bool rewind_read(sending *s)
{
    jsonrpc_call *r = s->call;
    const json_node *message = json_get(&r->doc, r->params, "message");
    const json_node *v = rewind_get(r, json_get(&r->doc, message, "metadata"));
    if (!v)
        v = rewind_get(r, json_get(&r->doc, r->params, "metadata"));
    if (!v)
        return true;
    s->rewind = v->has_nul ? NULL : json_text(r->request->arena, &r->doc, v);
    if (s->rewind && *s->rewind)
        return true;
    jsonrpc_fail(r, JSONRPC_PARAMS, "metadata." A2A_REWIND_KEY " must be the id of an invocation");
    return false;
}

/* Whether the client accepts text, which is all we produce. */
static bool modes_fit(jsonrpc_call *r, const json_node *list)
{
    bool any = false;
    if (list && !json_is(list, JSON_NULL) && !json_is(list, JSON_ARRAY)) {
        jsonrpc_fail(r, JSONRPC_PARAMS, "configuration.acceptedOutputModes must be an array");
        return false;
    }
    for (const json_node *v = json_first(&r->doc, list); v; v = json_next(&r->doc, list, v)) {
        const char *mode = json_text(r->request->arena, &r->doc, v);
        any = true;
        if (mode &&
            (strcmp(mode, "text") == 0 || strcmp(mode, "*/*") == 0 || strcmp(mode, "text/*") == 0 ||
             strcmp(mode, "text/plain") == 0 || strcmp(mode, "text/markdown") == 0))
            return true;
    }
    if (any)
        jsonrpc_fail(r, JSONRPC_CONTENT_TYPE,
                     "answers are text/plain, which acceptedOutputModes lacks");
    return !any;
}

static bool configuration_read(sending *s)
{
    jsonrpc_call *r = s->call;
    const json_doc *d = &r->doc;
    const json_node *c = json_get(d, r->params, "configuration");
    bool old = r->version == A2A_03;
    bool blocking = true;
    if (c && !json_is(c, JSON_NULL) && !json_is(c, JSON_OBJECT)) {
        jsonrpc_fail(r, JSONRPC_PARAMS, "configuration must be an object");
        return false;
    }
    const json_node *push =
        json_get(d, c, old ? "pushNotificationConfig" : "taskPushNotificationConfig");
    if (push && !json_is(push, JSON_NULL) && !push_target_read(r, push, &s->push))
        return false;
    s->follow.stream = r->method->stream;
    if (old ? !jsonrpc_flag(r, c, "blocking", &blocking)
            : !jsonrpc_flag(r, c, "returnImmediately", &s->follow.immediate))
        return false;
    s->follow.immediate = s->follow.immediate || !blocking;
    return jsonrpc_history(r, c, &s->follow.history) &&
           modes_fit(r, json_get(d, c, "acceptedOutputModes"));
}

/* A message may activate extensions, too. */
static void extensions_read(sending *s)
{
    const json_doc *d = &s->call->doc;
    const json_node *list = json_get(d, json_get(d, s->call->params, "message"), "extensions");
    for (const json_node *v = json_first(d, list); v; v = json_next(d, list, v)) {
        const char *uri = json_text(s->call->request->arena, d, v);
        s->call->rewinds = s->call->rewinds || (uri && strcmp(uri, A2A_REWIND_URI) == 0);
    }
}

/* A malformed context or task id must not be taken for a missing one. */
static bool places_fit(jsonrpc_call *r, const json_node *message)
{
    static const char *const names[] = {"contextId", "taskId"};
    for (size_t i = 0; i < 2; i++) {
        const json_node *v = json_get(&r->doc, message, names[i]);
        if (!v || json_is(v, JSON_NULL) || (json_is(v, JSON_STRING) && !v->has_nul))
            continue;
        jsonrpc_fail(r, JSONRPC_PARAMS, "message.%s must be a text", names[i]);
        return false;
    }
    return true;
}

/* Version 0.3 tells parts apart by their kind. */
static bool kinds_fit(jsonrpc_call *r, const json_node *message)
{
    size_t part;
    if (r->version != A2A_03 || !json_is(json_get(&r->doc, message, "parts"), JSON_ARRAY) ||
        a2a_kinds_fit(&r->doc, message, &part))
        return true;
    jsonrpc_fail(r, JSONRPC_PARAMS, "message.parts[%zu].kind must be text, file or data", part);
    return false;
}

static bool message_read(sending *s)
{
    jsonrpc_call *r = s->call;
    const char *why = NULL;
    const json_node *v = json_get(&r->doc, r->params, "message");
    if (!json_is(v, JSON_OBJECT)) {
        jsonrpc_fail(r, JSONRPC_PARAMS, "message must be an object");
        return false;
    }
    if (!places_fit(r, v) || !kinds_fit(r, v))
        return false;
    if (!a2a_message_read(r->request->arena, &r->doc, v, &s->message, &why)) {
        jsonrpc_fail(r, JSONRPC_PARAMS, "message: %s", why ? why : "it cannot be read");
        return false;
    }
    if (s->message.role != RAMET_USER || v->has_nul) {
        jsonrpc_fail(r, JSONRPC_PARAMS, "%s",
                     v->has_nul ? "message holds U+0000" : "message.role must be that of the user");
        return false;
    }
    extensions_read(s);
    return configuration_read(s) && rewind_read(s);
}

/* ------------------------------------------------------------------ rewinds */

static void answer_events(jsonrpc_call *r)
{
    buf_clear(&r->request->out);
    r->request->status = 200;
    r->request->type = "text/event-stream";
    request_add_header(r->request, "X-Accel-Buffering", "no");
}

static json_writer event_open(jsonrpc_call *r)
{
    json_writer w;
    buf_puts(&r->request->out, "data: ");
    jw_init(&w, &r->request->out, 0);
    return w;
}

static void task_event(sending *s, const a2a_view *view, const a2a_task *t)
{
    jsonrpc_call *r = s->call;
    json_writer w = event_open(r);
    jsonrpc_event_begin(&w, r->version, r->id, JSONRPC_EVENT_TASK);
    a2a_task_write(r->request->arena, &w, view, t, s->follow.history);
    jsonrpc_event_end(&w, r->version, r->id);
    buf_puts(&r->request->out, "\n\n");
}

static void status_event(jsonrpc_call *r, const a2a_view *view, const a2a_task *t)
{
    json_writer w = event_open(r);
    jsonrpc_status_event(r->request->arena, &w, view, r->id, t, true);
    buf_puts(&r->request->out, "\n\n");
}

/* Answers a failed rewind with a failed task, which is not stored. */
static void rewind_failed(sending *s, const char *why)
{
    jsonrpc_call *r = s->call;
    char id[UUID_TEXT];
    const char *context = s->message.context ? s->message.context : "";
    a2a_task t = {.id = arena_strdup(r->request->arena, uuid7(time_now_us(), id)),
                  .session = context,
                  .state = A2A_FAILED,
                  .status_at = time_now_us(),
                  .status_message = jsonrpc_message_json(r->request->arena, why)};
    a2a_view view = jsonrpc_view(r, context, t.id);
    if (!r->method->stream) {
        jsonrpc_task_answer(r, &t, s->follow.history, true);
        return;
    }
    answer_events(r);
    status_event(r, &view, &t);
}

static void rewind_done(sending *s, const a2a_task *t)
{
    jsonrpc_call *r = s->call;
    a2a_view view = jsonrpc_view(r, t->session, t->id);
    if (!r->method->stream) {
        jsonrpc_task_answer(r, t, s->follow.history, true);
        return;
    }
    view.room = A2A_EVENT_ROOM;
    answer_events(r);
    task_event(s, &view, t);
    status_event(r, &view, t);
}

/* Moves the head; false: the request is answered. */
static bool rewind_run(sending *s)
{
    request *q = s->call->request;
    a2a_task *t;
    if (!s->session) {
        rewind_failed(s, s->message.context ? "there is no such session" : "contextId is missing");
        return false;
    }
    ramet_status st = a2a_rewind(q->call, s->session->id, s->rewind, s->call->method->stream, &t);
    if (st != RAMET_OK) {
        rewind_failed(s, ramet_call_error(q->call)->message);
        return false;
    }
    face_count(q, "rewind", NULL);
    turns_moved(q->host->turns, s->session->id, false);
    if (!s->message.blank)
        return true;
    rewind_done(s, t);
    return false;
}

/* ------------------------------------------------------------------ who sends */

/* Writes all members of an object except one. */
static void members_write(arena *a, json_writer *w, const json_doc *d, const json_node *of,
                          const char *without)
{
    const json_node *v;
    for (const json_node *k = json_first(d, of); k; k = json_next(d, of, v)) {
        const char *name = json_text(a, d, k);
        v = json_next(d, of, k);
        if (strcmp(name, without) != 0)
            jw_kraw(w, name, json_raw(a, d, v));
    }
}

/* A client with a share link is named in the message, for the agent and for all readers, whatever
 * the message itself claims, as kagent's controller does. */
static const char *body_signed(jsonrpc_call *r)
{
    arena *a = r->request->arena;
    const json_doc *d = &r->doc;
    const json_node *message = json_get(d, r->params, "message");
    buf b;
    json_writer w;
    buf_init(&b, SIZE_MAX / 4);
    jw_init(&w, &b, 0);
    jw_object(&w);
    members_write(a, &w, d, message, "metadata");
    jw_key(&w, "metadata");
    jw_object(&w);
    const json_node *metadata = json_get(d, message, "metadata");
    if (json_is(metadata, JSON_OBJECT))
        members_write(a, &w, d, metadata, A2A_INITIATED_KEY);
    jw_kstr(&w, A2A_INITIATED_KEY, r->request->caller.user);
    jw_end_object(&w);
    jw_end_object(&w);
    return buf_keep(&b, a);
}

/* ------------------------------------------------------------------ answers to questions */

/* What a message says to a question: text, and the decision that kagent's page sends next to it. */
typedef struct given {
    const char *text;          /* NULL: none */
    const json_node *decision; /* NULL: none */
} given;

static given given_read(sending *s)
{
    arena *a = s->call->request->arena;
    const json_doc *d = &s->call->doc;
    const json_node *parts = json_get(d, json_get(d, s->call->params, "message"), "parts");
    given g = {0};
    for (const json_node *p = json_first(d, parts); p; p = json_next(d, parts, p)) {
        const char *t = json_text(a, d, json_get(d, p, "text"));
        const json_node *data = json_get(d, p, "data");
        g.text = t && *t ? g.text ? arena_printf(a, "%s\n%s", g.text, t) : t : g.text;
        if (json_is(json_get(d, data, "decision_type"), JSON_STRING))
            g.decision = data;
    }
    return g;
}

/* The answers of a form, one line for each question. NULL: there are none. */
static const char *form_text(arena *a, const json_doc *d, const json_node *decision)
{
    const json_node *list = json_get(d, decision, "ask_user_answers");
    const char *all = NULL;
    for (const json_node *v = json_first(d, list); v; v = json_next(d, list, v)) {
        const json_node *words = json_get(d, v, "answer");
        const char *line = json_text(a, d, words);
        for (const json_node *x = line ? NULL : json_first(d, words); x;
             x = json_next(d, words, x)) {
            const char *word = json_text(a, d, x);
            line = line ? arena_printf(a, "%s, %s", line, word ? word : "") : word;
        }
        all = all ? arena_printf(a, "%s\n%s", all, line ? line : "") : line;
    }
    return all;
}

/* The decision on a call: approve or reject. Of several, all must be approved. */
static const char *decision_on(arena *a, const json_doc *d, const json_node *decision)
{
    const char *type = json_text(a, d, json_get(d, decision, "decision_type"));
    const json_node *each = json_get(d, decision, "decisions"), *v;
    if (strcmp(type, "batch") != 0)
        return type;
    type = "approve";
    for (const json_node *k = json_first(d, each); k; k = json_next(d, each, v)) {
        v = json_next(d, each, k);
        const char *one = json_text(a, d, v);
        if (!one || strcmp(one, "approve") != 0)
            type = "reject";
    }
    return type;
}

/* The answer in words. NULL: there is none. */
static const char *answer_text(sending *s, const turn_question *question, const given *g)
{
    arena *a = s->call->request->arena;
    const json_doc *d = &s->call->doc;
    if (!g->decision)
        return g->text;
    if (strcmp(question->kind, "permission") == 0)
        return decision_on(a, d, g->decision);
    const char *form = form_text(a, d, g->decision);
    return form ? form : g->text ? g->text : decision_on(a, d, g->decision);
}

/* Whether a word begins like one for yes (1) or for no (-1). */
static int meaning(const char *word)
{
    static const struct {
        const char *begin;
        int means;
    } words[] = {{"allow", 1},   {"approve", 1}, {"yes", 1},
                 {"reject", -1}, {"deny", -1},   {"no", -1}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncasecmp(word, words[i].begin, strlen(words[i].begin)) == 0)
            return words[i].means;
    return 0;
}

/* The id of the option that an answer names by id or name, or else of the first with the same
 * meaning.
 */
static const char *option_of(sending *s, const turn_question *question, const char *answer)
{
    arena *a = s->call->request->arena;
    json_doc d;
    if (!question->options || strcmp(question->kind, "permission") != 0 ||
        !json_parse(a, question->options, strlen(question->options), 0, &d, NULL))
        return answer;
    const json_node *root = &d.nodes[0];
    const char *like = NULL;
    for (const json_node *v = json_first(&d, root); v; v = json_next(&d, root, v)) {
        const char *id = json_text(a, &d, json_get(&d, v, "id"));
        const char *name = json_text(a, &d, json_get(&d, v, "name"));
        if (id && (strcmp(id, answer) == 0 || (name && strcasecmp(name, answer) == 0)))
            return id;
        if (id && !like && meaning(answer) && meaning(id) == meaning(answer))
            like = id;
    }
    return like ? like : answer;
}

static void question_answer(sending *s, const a2a_task *t)
{
    jsonrpc_call *r = s->call;
    turn_question question;
    ramet_turn *turn;
    turn_error err;
    if (!a2a_question_of(r->request, s->session, t, &question)) {
        jsonrpc_fail(r, JSONRPC_UNSUPPORTED,
                     "the task is at work and waits for nothing; cancel it, or "
                     "send the message without taskId when it is over");
        return;
    }
    given g = given_read(s);
    const char *text = answer_text(s, &question, &g);
    if (!text) {
        jsonrpc_fail(r, JSONRPC_PARAMS, "message.parts hold no text that answers");
        return;
    }
    if (r->kagent && r->request->caller.share)
        s->message.body = body_signed(r);
    ramet_entry_in entry = a2a_entry_in(&s->message, NULL);
    turn_answer in = {.session = t->session,
                      .turn = t->id,
                      .question = question.id,
                      .text = option_of(s, &question, text),
                      .decision =
                          g.decision ? json_raw(r->request->arena, &r->doc, g.decision) : NULL,
                      .entry = &entry};
    if (s->push.url && !push_target_put(r, t->session, t->id, &s->push))
        return;
    s->follow.answered = question.id;
    turn_listener listener = jsonrpc_listener(r, t->session, &s->follow);
    if (!turns_answer(r->request->host->turns, r->request, &in, &listener, &turn, &err))
        jsonrpc_refuse_turn(r, &err);
    else if (turn)
        jsonrpc_fail(
            r, JSONRPC_INTERNAL,
            "the answer was given, but the task runs on another server and cannot be followed "
            "here; get the task");
}

/* ------------------------------------------------------------------ new turns */

/* The id of a task is known when its message is there; then the answer of the call is a stream
 * already. So whether there is room for the destination was checked before. */
static void push_begin(sending *s)
{
    ramet_entry *e;
    if (ramet_entry_get(s->call->request->call, s->session->id, 0, s->message.id, &e) == RAMET_OK &&
        e->turn_id)
        push_target_store(s->call, s->session->id, e->turn_id, &s->push);
}

static void turn_begin(sending *s)
{
    request *q = s->call->request;
    turn_error err;
    if (s->push.url && ramet_push_room(q->call) != RAMET_OK) {
        jsonrpc_refuse(s->call);
        return;
    }
    if (s->call->kagent && q->caller.share)
        s->message.body = body_signed(s->call);
    ramet_entry_in entry = a2a_entry_in(&s->message, NULL);
    ramet_agent agent = {.name = s->call->agent};
    turn_request in = {
        .session = s->session->id, .agent = &agent, .turn = {.entries = &entry, .n = 1}};
    turn_batch batch = {.items = &in, .n = 1};
    turn_listener listener = jsonrpc_listener(s->call, s->session->id, &s->follow);
    if (!turns_run(q->host->turns, q, &batch, &listener, &err))
        jsonrpc_refuse_turn(s->call, &err);
    else if (s->push.url)
        push_begin(s);
}

/* An unused context becomes a session with its id. */
static bool session_make(sending *s)
{
    request *q = s->call->request;
    const char *source = request_header(q, "x-kagent-source");
    bool by_agent = q->caller.as_agent || (source && strcmp(source, "agent") == 0);
    ramet_session_in in = {.id = s->message.context,
                           .agent = {.name = s->call->agent},
                           .metadata = by_agent ? a2a_source_set(q->arena, NULL, "agent") : NULL,
                           .anew = true};
    ramet_status st = ramet_session_create(q->call, &in, &s->session);
    if (st == RAMET_SESSION_EXISTS &&
        ramet_session_get(q->call, s->message.context, &s->session) == RAMET_OK &&
        jsonrpc_agent_fits(s->call, s->session))
        return true; /* another message of this context was faster */
    if (st != RAMET_OK)
        jsonrpc_fail(s->call, ramet_status_http(st) < 500 ? JSONRPC_PARAMS : JSONRPC_INTERNAL,
                     "the context cannot be used: %s", ramet_status_text(st));
    return st == RAMET_OK;
}

/* ------------------------------------------------------------------ where it goes */

/* The session that the context names, if it exists. False: the answer is filled in. */
static bool context_find(sending *s)
{
    jsonrpc_call *r = s->call;
    if (!s->message.context)
        return true;
    ramet_status st = ramet_session_get(r->request->call, s->message.context, &s->session);
    if (st == RAMET_OK && jsonrpc_agent_fits(r, s->session))
        return true;
    if (st != RAMET_OK && ramet_status_http(st) == 404)
        return true;
    if (st != RAMET_OK)
        jsonrpc_refuse(r);
    else
        jsonrpc_fail(r, JSONRPC_PARAMS, "the context '%.80s' is one of another agent",
                     s->message.context);
    return false;
}

/* Handles a message for an existing task. */
static void task_continue(sending *s)
{
    jsonrpc_call *r = s->call;
    a2a_task *t = jsonrpc_task(r, s->message.task, &s->session);
    if (!t)
        return;
    if (s->message.context && strcmp(s->message.context, t->session) != 0) {
        jsonrpc_fail(r, JSONRPC_PARAMS, "the task is not one of the context '%.80s'",
                     s->message.context);
        return;
    }
    s->message.context = t->session;
    if (s->rewind) {
        if (rewind_run(s))
            turn_begin(s);
    } else if (!t->running) {
        jsonrpc_fail(r, r->version == A2A_10 ? JSONRPC_UNSUPPORTED : JSONRPC_PARAMS,
                     "the task is over; a message without taskId begins a new one in its context");
    } else {
        question_answer(s, t);
    }
}

void jsonrpc_send(jsonrpc_call *r)
{
    sending s = {.call = r, .follow.history = -1};
    if (!message_read(&s))
        return;
    if (s.message.task) {
        task_continue(&s);
        return;
    }
    if (!context_find(&s) || (s.rewind && !rewind_run(&s)))
        return;
    if (s.message.blank)
        jsonrpc_fail(r, JSONRPC_PARAMS, "message.parts hold nothing");
    else if (s.session || session_make(&s))
        turn_begin(&s);
}
