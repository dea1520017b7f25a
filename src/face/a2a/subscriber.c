/* SPDX-License-Identifier: Apache-2.0
 *
 * subscriber.c: a turn as it is told to a caller of A2A.
 *
 * The turn tells its events in the words of the native API; here they become a task, its statuses
 * and its artifact, or one task at the end. An answer is the artifact "answer" of its task: all its
 * text, entries parted by blank lines. At the plain path it comes in chunks that are appended, and
 * once more whole at the end. kagent's page shows words only when they come as messages of
 * statuses, and takes the last chunk of an artifact for the whole text: at its path, that is what
 * it gets.
 *
 * A question to the user ends the stream, and the answer to message/send: the task is
 * input-required, and goes on with the message that answers.
 */
#include "face/a2a/a2a_face.h"

#include <stdlib.h>
#include <string.h>

enum { EVENT_BYTES = 256 << 20 };
/* Of text in one event: also when each byte of it is escaped, that is what readers take. */
enum { PIECE = A2A_EVENT_ROOM / 6 };

typedef struct hear {
    turn_listener face;
    arena *a;       /* of all that it keeps */
    arena *scratch; /* of one event */
    a2a_view view;
    const char *id; /* of the call */
    bool kagent, stream, immediate;
    int64_t history;
    const char *answered;
    a2a_task task;
    VEC(ramet_entry) entries;
    buf text;    /* of the answer so far */
    bool part;   /* an entry is over: more text is a paragraph of its own */
    size_t told; /* how much of text is in entries */
    bool joined; /* what came before was told */
    bool asks;
    buf *out; /* of the event */
} hear;

/* ------------------------------------------------------------------ writing events */

static const char *const event_names[][2] = {
    {"task", "task"}, {"status-update", "statusUpdate"}, {"artifact-update", "artifactUpdate"}};

void jsonrpc_event_open(json_writer *w, jsonrpc_event kind)
{
    jw_object(w);
    jw_key(w, event_names[kind][1]);
}

void jsonrpc_event_begin(json_writer *w, a2a_version version, const char *id, jsonrpc_event kind)
{
    jw_object(w);
    jw_kstr(w, "jsonrpc", "2.0");
    jw_kraw(w, "id", id);
    jw_key(w, "result");
    if (version == A2A_10)
        jsonrpc_event_open(w, kind);
}

void jsonrpc_event_end(json_writer *w, a2a_version version)
{
    if (version == A2A_10)
        jw_end_object(w);
    jw_end_object(w);
}

/* The members that statuses and artifacts have in common. */
static void update_begin(json_writer *w, const a2a_view *view, jsonrpc_event kind, const char *task)
{
    jw_object(w);
    if (view->version == A2A_03)
        jw_kstr(w, "kind", event_names[kind][0]);
    jw_kstr(w, "taskId", task);
    jw_kstr(w, "contextId", view->session);
}

void jsonrpc_status_event(arena *a, json_writer *w, const a2a_view *view, const char *id,
                          const a2a_task *t, bool final)
{
    jsonrpc_event_begin(w, view->version, id, JSONRPC_EVENT_STATUS);
    update_begin(w, view, JSONRPC_EVENT_STATUS, t->id);
    jw_key(w, "status");
    a2a_status_write(a, w, view, t);
    if (view->version == A2A_03)
        jw_kbool(w, "final", final);
    jw_end_object(w);
    jsonrpc_event_end(w, view->version);
}

static void part_write(json_writer *w, a2a_version version, const char *text)
{
    jw_object(w);
    if (version == A2A_03)
        jw_kstr(w, "kind", "text");
    jw_kstr(w, "text", text);
    jw_end_object(w);
}

static const char *json_kept(arena *a, buf *b)
{
    const char *out = b->over ? NULL : arena_memdup(a, b->p, b->n);
    buf_release(b);
    return out;
}

/* `partial`: an invocation, of which this is a piece of the answer; NULL: it is whole. */
static const char *message_json(arena *a, const char *text, const char *partial)
{
    buf b;
    json_writer w;
    char id[UUID_TEXT];
    buf_init(&b, EVENT_BYTES);
    jw_init(&w, &b, 0);
    jw_object(&w);
    jw_kstr(&w, "kind", "message");
    jw_kstr(&w, "messageId", uuid7(time_now_us(), id));
    jw_kstr(&w, "role", "agent");
    jw_key(&w, "parts");
    jw_array(&w);
    part_write(&w, A2A_03, text);
    jw_end_array(&w);
    if (partial) {
        jw_key(&w, "metadata");
        jw_object(&w);
        jw_kbool(&w, "adk_partial", true);
        jw_kstr(&w, "kagent_invocation_id", partial);
        jw_end_object(&w);
    }
    jw_end_object(&w);
    return json_kept(a, &b);
}

const char *jsonrpc_message_json(arena *a, const char *text)
{
    return message_json(a, text, NULL);
}

static void artifact_write(json_writer *w, a2a_version version, const char *text)
{
    jw_object(w);
    jw_kstr(w, "artifactId", "answer");
    jw_key(w, "parts");
    jw_array(w);
    part_write(w, version, text);
    jw_end_array(w);
    jw_end_object(w);
}

const char *jsonrpc_artifacts_json(arena *a, const char *text)
{
    buf b;
    json_writer w;
    if (!*text)
        return NULL;
    buf_init(&b, EVENT_BYTES);
    jw_init(&w, &b, 0);
    jw_array(&w);
    artifact_write(&w, A2A_03, text);
    jw_end_array(&w);
    return json_kept(a, &b);
}

const char *jsonrpc_answer_text(arena *a, const a2a_task *t)
{
    buf b;
    buf_init(&b, EVENT_BYTES);
    for (size_t i = 0; i < t->n; i++) {
        const ramet_entry *e = &t->history[i];
        if (e->role != RAMET_ASSISTANT || !*e->text)
            continue;
        if (b.n)
            buf_puts(&b, "\n\n");
        buf_puts(&b, e->text);
    }
    const char *text = json_kept(a, &b);
    return text ? text : "";
}

/* ------------------------------------------------------------------ what is sent */

static json_writer event_open(hear *h)
{
    json_writer w;
    buf_puts(h->out, "data: ");
    jw_init(&w, h->out, 0);
    return w;
}

static void event_close(hear *h)
{
    buf_puts(h->out, "\n\n");
}

/* kagent's page is told the words of a turn that runs as messages: not twice. */
static void task_fill(hear *h)
{
    bool words = !(h->kagent && h->stream && h->task.running) && !h->text.over;
    h->task.history = h->entries.items;
    h->task.n = h->entries.n;
    h->task.status_at = time_now_us();
    h->task.artifacts = jsonrpc_artifacts_json(h->scratch, words ? h->text.p : "");
}

static void send_task(hear *h)
{
    a2a_version v = h->view.version;
    a2a_view view = h->view;
    json_writer w = event_open(h);
    task_fill(h);
    view.room = A2A_EVENT_ROOM;
    jsonrpc_event_begin(&w, v, h->id, JSONRPC_EVENT_TASK);
    a2a_task_write(h->scratch, &w, &view, &h->task, h->history);
    jsonrpc_event_end(&w, v);
    event_close(h);
}

static void send_status(hear *h, const a2a_task *t, bool final)
{
    json_writer w = event_open(h);
    a2a_task now = *t;
    now.status_at = time_now_us();
    jsonrpc_status_event(h->scratch, &w, &h->view, h->id, &now, final);
    event_close(h);
}

/* The turn is at work, and says this. */
static void send_message(hear *h, const char *json)
{
    send_status(h, &(a2a_task){.id = h->task.id, .state = A2A_WORKING, .status_message = json},
                false);
}

static void send_piece(hear *h, const char *text, bool append, bool last)
{
    a2a_version v = h->view.version;
    json_writer w = event_open(h);
    jsonrpc_event_begin(&w, v, h->id, JSONRPC_EVENT_ARTIFACT);
    update_begin(&w, &h->view, JSONRPC_EVENT_ARTIFACT, h->task.id);
    jw_key(&w, "artifact");
    artifact_write(&w, v, text);
    jw_kbool(&w, "append", append);
    jw_kbool(&w, "lastChunk", last);
    jw_end_object(&w);
    jsonrpc_event_end(&w, v);
    event_close(h);
}

/* Bytes of a text that go into one event; a letter is not cut. */
static size_t piece_of(const char *text)
{
    size_t n = strnlen(text, PIECE);
    while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--;
    return n;
}

/* A long one in pieces. */
static void send_artifact(hear *h, const char *text, bool append, bool last)
{
    for (bool more = true; more; append = true) {
        size_t n = piece_of(text);
        more = text[n] != 0;
        send_piece(h, more ? arena_printf(h->scratch, "%.*s", (int)n, text) : text, append,
                   last && !more);
        text += n;
    }
}

/* Words for kagent's page. */
static void send_words(hear *h, const char *text)
{
    for (size_t n; *text; text += n) {
        n = piece_of(text);
        send_message(h, message_json(h->scratch, arena_printf(h->scratch, "%.*s", (int)n, text),
                                     h->task.id));
    }
}

/* The one answer of a call that is no stream. */
static void send_result(hear *h)
{
    json_writer w;
    jw_init(&w, h->out, 0);
    task_fill(h);
    jsonrpc_event_begin(&w, h->view.version, h->id, JSONRPC_EVENT_TASK);
    a2a_task_write(h->scratch, &w, &h->view, &h->task, h->history);
    jsonrpc_event_end(&w, h->view.version);
}

/* ------------------------------------------------------------------ what is heard */

static void words_add(hear *h, const char *text)
{
    if (h->part && h->text.n)
        buf_puts(&h->text, "\n\n");
    h->part = false;
    buf_puts(&h->text, text);
}

static bool heard_words(hear *h, const json_doc *d)
{
    const char *text = json_text(h->scratch, d, json_get(d, &d->nodes[0], "text"));
    size_t from = h->text.n;
    if (!text)
        return true;
    words_add(h, text);
    if (!h->joined || !h->stream)
        return true;
    if (h->kagent)
        send_words(h, h->text.over ? text : h->text.p + from);
    else
        send_artifact(h, h->text.over ? text : h->text.p + from, from > 0, false);
    return true;
}

static ramet_entry entry_read(hear *h, const json_doc *d, const json_node *v)
{
    arena *a = h->a;
    const char *role = json_text(a, d, json_get(d, v, "role"));
    const char *created = json_text(a, d, json_get(d, v, "created_at"));
    const json_node *state = json_get(d, v, "state_delta");
    ramet_entry e = {.id = json_text(a, d, json_get(d, v, "id")),
                     .role = (ramet_role)ramet_role_parse(role ? role : "user"),
                     .text = json_text(a, d, json_get(d, v, "text")),
                     .parts = json_raw(a, d, json_get(d, v, "parts")),
                     .format = json_text(a, d, json_get(d, v, "format")),
                     .turn_id = json_text(a, d, json_get(d, v, "turn_id")),
                     .channel = json_text(a, d, json_get(d, v, "channel")),
                     .author = json_text(a, d, json_get(d, v, "author"))};
    json_int(d, json_get(d, v, "position"), &e.position);
    if (created)
        time_parse(created, &e.created);
    if (e.format && strcmp(e.format, "ramet") != 0)
        e.body = json_raw(a, d, json_get(d, v, "body"));
    if (json_is(state, JSON_OBJECT))
        e.state_delta = json_raw(a, d, state);
    e.text = e.text ? e.text : "";
    return e;
}

/* The text of an entry stands for the words that were told of it: not all may have been. */
static void text_settle(hear *h, const char *text)
{
    if (h->text.over)
        return;
    h->text.n = h->told;
    h->text.p[h->told] = 0;
    h->part = h->told > 0;
    words_add(h, text);
    h->told = h->text.n;
    h->part = true;
}

static bool has_tools(hear *h, const ramet_entry *e)
{
    json_doc d;
    if (!e->parts || !json_parse(h->scratch, e->parts, strlen(e->parts), 0, &d, NULL))
        return false;
    for (const json_node *p = json_first(&d, &d.nodes[0]); p; p = json_next(&d, &d.nodes[0], p)) {
        const char *type = json_text(h->scratch, &d, json_get(&d, p, "type"));
        if (type && strncmp(type, "tool_", 5) == 0)
            return true;
    }
    return false;
}

/* Words of an entry were told as they came; calls of tools and their results are told now. */
static bool heard_entry(hear *h, const json_doc *d)
{
    ramet_entry e = entry_read(h, d, json_get(d, &d->nodes[0], "entry"));
    VEC_PUSH(h->a, &h->entries, e);
    if (e.role == RAMET_ASSISTANT && *e.text)
        text_settle(h, e.text);
    if (!h->joined || !h->stream || e.role == RAMET_USER || !has_tools(h, &e))
        return true;
    buf b;
    json_writer w;
    buf_init(&b, EVENT_BYTES);
    jw_init(&w, &b, 0);
    a2a_message_write(&w, &h->view, &e, h->task.id);
    if (b.n <= A2A_EVENT_ROOM) /* else the task has it */
        send_message(h, json_kept(h->scratch, &b));
    else
        buf_release(&b);
    return true;
}

static bool heard_question(hear *h, const json_doc *d)
{
    a2a_question question;
    if (!a2a_question_read(h->a, d, json_get(d, &d->nodes[0], "question"), &question))
        return true;
    if (h->answered && strcmp(question.id, h->answered) == 0)
        return true;
    h->task.state = A2A_INPUT_REQUIRED;
    h->task.status_message = a2a_question_json(h->a, &question);
    h->asks = true;
    if (!h->joined)
        return true;
    if (h->stream)
        send_status(h, &h->task, true);
    else
        send_result(h);
    return false;
}

static bool heard_joined(hear *h)
{
    h->joined = true;
    if (!h->stream) {
        if (h->asks || h->immediate)
            send_result(h);
        return !h->asks && !h->immediate;
    }
    send_task(h);
    if (h->kagent && h->text.n > h->told && !h->text.over)
        send_words(h, h->text.p + h->told);
    if (h->asks)
        send_status(h, &h->task, true);
    return !h->asks;
}

static bool heard_done(hear *h, const json_doc *d)
{
    static const struct {
        const char *name;
        a2a_state state;
    } ends[] = {{"done", A2A_COMPLETED}, {"cancelled", A2A_CANCELED}};
    const char *status = json_text(h->scratch, d, json_get(d, &d->nodes[0], "status"));
    const char *error = json_text(h->scratch, d, json_get(d, &d->nodes[0], "error"));
    h->task.state = A2A_FAILED;
    for (size_t i = 0; status && i < sizeof ends / sizeof *ends; i++)
        if (strcmp(ends[i].name, status) == 0)
            h->task.state = ends[i].state;
    h->task.running = false;
    h->task.status_message = NULL;
    if (h->task.state == A2A_FAILED)
        h->task.status_message =
            jsonrpc_message_json(h->scratch, error && *error ? error : "the agent failed");
    if (!h->stream) {
        send_result(h);
        return false;
    }
    if (!h->joined)
        send_task(h);
    /* Once more as a whole; what would take several events is not said twice. */
    bool long_one = !h->kagent && h->joined && h->text.n > PIECE;
    if (h->text.n && !h->text.over)
        send_artifact(h, long_one ? "" : h->text.p, long_one, true);
    send_status(h, &h->task, true);
    return false;
}

static bool hear_event(void *arg, const char *event, const char *json, size_t n, buf *out)
{
    hear *h = arg;
    json_doc d;
    arena_reset(h->scratch);
    h->out = out;
    if (!json_parse(h->scratch, json, n, 0, &d, NULL))
        return true;
    if (strcmp(event, "turn.started") == 0 && !h->task.id) {
        h->task.id = json_text(h->a, &d, json_get(&d, &d.nodes[0], "turn_id"));
        h->view.task = h->task.id;
    }
    if (strcmp(event, "turn.delta") == 0)
        return heard_words(h, &d);
    if (strcmp(event, "entry.appended") == 0)
        return heard_entry(h, &d);
    if (strcmp(event, "turn.question") == 0)
        return heard_question(h, &d);
    if (strcmp(event, "turn.joined") == 0)
        return heard_joined(h);
    if (strcmp(event, "turn.done") == 0)
        return heard_done(h, &d);
    return true;
}

static void hear_release(void *arg)
{
    hear *h = arg;
    buf_release(&h->text);
    arena_free(h->scratch);
    arena_free(h->a);
}

const turn_listener *jsonrpc_hear(const jsonrpc_call *r, const char *session, const hear_in *in)
{
    arena *a = arena_new();
    hear *h = arena_alloc(a, sizeof *h);
    const char *context = arena_strdup(a, session);
    *h = (hear){.a = a,
                .scratch = arena_new(),
                .view = jsonrpc_view(r, context, NULL),
                .id = arena_strdup(a, r->id),
                .kagent = r->kagent,
                .stream = in->stream,
                .immediate = in->immediate,
                .history = in->history,
                .answered = arena_strdup(a, in->answered),
                .task = {.session = context, .state = A2A_WORKING, .running = true}};
    buf_init(&h->text, EVENT_BYTES);
    h->face = (turn_listener){.type = in->stream ? "text/event-stream" : "application/json",
                              .whole = !in->stream,
                              .event = hear_event,
                              .release = hear_release,
                              .arg = h};
    return &h->face;
}

void jsonrpc_heard(jsonrpc_call *r)
{
    const turn_listener *left = r->q->hear;
    if (r->q->stream)
        return;
    r->q->hear = NULL;
    if (left)
        left->release(left->arg);
    jsonrpc_hosted(r);
}

void jsonrpc_join(jsonrpc_call *r, const char *session, const char *turn, const hear_in *in)
{
    request *q = r->q;
    q->hear = jsonrpc_hear(r, session, in);
    q->host->turn_join(q->host->arg, q, session, turn);
    jsonrpc_heard(r);
}
