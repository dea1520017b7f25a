/* SPDX-License-Identifier: Apache-2.0
 *
 * subscriber.c: the events of a turn as an A2A client receives them.
 *
 * They become a task, its statuses and its artifact, or one task at the end. An answer is the
 * artifact "answer" of its task: all its text, entries separated by blank lines. At the plain path
 * it is sent in chunks to append, and once more as a whole at the end. kagent's page shows deltas
 * only if they are status messages, and treats the last chunk of an artifact as the whole text; at
 * its path, that is what it gets.
 *
 * A question to the user ends the stream, and the answer to message/send: the task is
 * input-required, and continues with the message that answers it.
 */
#include "face/a2a/a2a_face.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_EVENT_BYTES = 256 << 20 };
/* Maximum text in one event. Escaping may make it six times as long; clients accept that. */
enum { MAX_PIECE_BYTES = A2A_EVENT_ROOM / 6 };

typedef struct follower {
    arena *mem;     /* for everything it keeps */
    arena *scratch; /* for one event */
    a2a_view view;
    const char *id; /* of the JSON-RPC call */
    bool kagent, stream, immediate;
    int64_t history;
    const char *answered;
    a2a_task task;
    VEC(ramet_entry) entries;
    buf text;         /* the answer so far */
    bool entry_ended; /* more text begins a new paragraph */
    size_t settled;   /* bytes of text that are in entries */
    bool caught_up;   /* the events before the call have been received */
    bool asks;
    buf *out; /* for the event */
} follower;

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

/* Writes the members that statuses and artifacts have in common. */
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

/* `partial`: the invocation, if this is a piece of its answer; NULL: complete. */
static const char *message_json(arena *a, const char *text, const char *partial)
{
    buf b;
    json_writer w;
    char id[UUID_TEXT];
    buf_init(&b, MAX_EVENT_BYTES);
    jw_init(&w, &b, 0);
    jw_object(&w);
    jw_kstr(&w, "kind", "message");
    jw_kstr(&w, "messageId", uuid7(time_now_us(), id));
    jw_kstr(&w, "role", "agent");
    jw_key(&w, "parts");
    jw_array(&w);
    a2a_text_part_write(&w, A2A_03, text);
    jw_end_array(&w);
    if (partial) {
        jw_key(&w, "metadata");
        jw_object(&w);
        jw_kbool(&w, "adk_partial", true);
        jw_kstr(&w, "kagent_invocation_id", partial);
        jw_end_object(&w);
    }
    jw_end_object(&w);
    return buf_keep_whole(&b, a);
}

const char *jsonrpc_message_json(arena *a, const char *text)
{
    return message_json(a, text, NULL);
}

/* ------------------------------------------------------------------ what is sent */

static json_writer event_open(follower *f)
{
    json_writer w;
    buf_puts(f->out, "data: ");
    jw_init(&w, f->out, 0);
    return w;
}

static void event_close(follower *f)
{
    buf_puts(f->out, "\n\n");
}

/* kagent's page gets the deltas of a running turn as messages: do not send them twice. */
static void task_fill(follower *f)
{
    bool with_text = !(f->kagent && f->stream && f->task.running) && !f->text.over;
    f->task.history = f->entries.items;
    f->task.n = f->entries.n;
    f->task.status_at = time_now_us();
    f->task.artifacts = a2a_artifacts_json(f->scratch, with_text ? f->text.data : "");
}

static void send_task(follower *f)
{
    a2a_version v = f->view.version;
    a2a_view view = f->view;
    json_writer w = event_open(f);
    task_fill(f);
    view.room = A2A_EVENT_ROOM;
    jsonrpc_event_begin(&w, v, f->id, JSONRPC_EVENT_TASK);
    a2a_task_write(f->scratch, &w, &view, &f->task, f->history);
    jsonrpc_event_end(&w, v);
    event_close(f);
}

static void send_status(follower *f, const a2a_task *t, bool final)
{
    json_writer w = event_open(f);
    a2a_task now = *t;
    now.status_at = time_now_us();
    jsonrpc_status_event(f->scratch, &w, &f->view, f->id, &now, final);
    event_close(f);
}

/* Sends a status: working, with this message. */
static void send_message(follower *f, const char *json)
{
    send_status(f, &(a2a_task){.id = f->task.id, .state = A2A_WORKING, .status_message = json},
                false);
}

static void send_piece(follower *f, const char *text, bool append, bool last)
{
    a2a_version v = f->view.version;
    json_writer w = event_open(f);
    jsonrpc_event_begin(&w, v, f->id, JSONRPC_EVENT_ARTIFACT);
    update_begin(&w, &f->view, JSONRPC_EVENT_ARTIFACT, f->task.id);
    jw_key(&w, "artifact");
    a2a_artifact_write(&w, v, text);
    jw_kbool(&w, "append", append);
    jw_kbool(&w, "lastChunk", last);
    jw_end_object(&w);
    jsonrpc_event_end(&w, v);
    event_close(f);
}

/* The number of bytes that go into one event, without splitting a character. */
static size_t piece_of(const char *text)
{
    size_t n = strnlen(text, MAX_PIECE_BYTES);
    while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--;
    return n;
}

/* A long artifact is sent in pieces. */
static void send_artifact(follower *f, const char *text, bool append, bool last)
{
    for (bool more = true; more; append = true) {
        size_t n = piece_of(text);
        more = text[n] != 0;
        send_piece(f, more ? arena_printf(f->scratch, "%.*s", (int)n, text) : text, append,
                   last && !more);
        text += n;
    }
}

/* Sends deltas for kagent's page. */
static void send_deltas(follower *f, const char *text)
{
    for (size_t n; *text; text += n) {
        n = piece_of(text);
        send_message(f, message_json(f->scratch, arena_printf(f->scratch, "%.*s", (int)n, text),
                                     f->task.id));
    }
}

/* Sends the single answer of a call that is not a stream. */
static void send_result(follower *f)
{
    json_writer w;
    jw_init(&w, f->out, 0);
    task_fill(f);
    jsonrpc_event_begin(&w, f->view.version, f->id, JSONRPC_EVENT_TASK);
    a2a_task_write(f->scratch, &w, &f->view, &f->task, f->history);
    jsonrpc_event_end(&w, f->view.version);
}

/* ------------------------------------------------------------------ events of the turn */

static void text_add(follower *f, const char *text, size_t n)
{
    if (f->entry_ended && f->text.n)
        buf_puts(&f->text, "\n\n");
    f->entry_ended = false;
    buf_add(&f->text, text, n);
}

static bool on_delta(follower *f, const char *text, size_t n)
{
    size_t from = f->text.n;
    text_add(f, text, n);
    if (!f->caught_up || !f->stream)
        return true;
    const char *piece = f->text.over ? arena_memdup(f->scratch, text, n) : f->text.data + from;
    if (f->kagent)
        send_deltas(f, piece);
    else
        send_artifact(f, piece, from > 0, false);
    return true;
}

/* Replaces the deltas of an entry with its text: some may be missing. */
static void text_settle(follower *f, const char *text)
{
    if (f->text.over)
        return;
    f->text.n = f->settled;
    f->text.data[f->settled] = 0;
    f->entry_ended = f->settled > 0;
    text_add(f, text, strlen(text));
    f->settled = f->text.n;
    f->entry_ended = true;
}

static bool has_tools(follower *f, const ramet_entry *e)
{
    json_doc d;
    if (!e->parts || !json_parse(f->scratch, e->parts, strlen(e->parts), 0, &d, NULL))
        return false;
    for (const json_node *p = json_first(&d, &d.nodes[0]); p; p = json_next(&d, &d.nodes[0], p)) {
        const char *type = json_text(f->scratch, &d, json_get(&d, p, "type"));
        if (type && strncmp(type, "tool_", 5) == 0)
            return true;
    }
    return false;
}

/* The text of an entry was sent as deltas; tool calls and results are sent now. */
static bool on_entry(follower *f, const ramet_entry *e)
{
    VEC_PUSH(f->mem, &f->entries, *e);
    if (e->role == RAMET_ASSISTANT && *e->text)
        text_settle(f, e->text);
    if (!f->caught_up || !f->stream || e->role == RAMET_USER || !has_tools(f, e))
        return true;
    buf b;
    json_writer w;
    buf_init(&b, MAX_EVENT_BYTES);
    jw_init(&w, &b, 0);
    a2a_message_write(&w, &f->view, e, f->task.id);
    if (b.n <= A2A_EVENT_ROOM) /* else the task has it */
        send_message(f, buf_keep_whole(&b, f->scratch));
    else
        buf_release(&b);
    return true;
}

static bool on_question(follower *f, const turn_question *question)
{
    if (f->answered && strcmp(question->id, f->answered) == 0)
        return true;
    f->task.state = A2A_INPUT_REQUIRED;
    f->task.status_message = a2a_question_json(f->mem, question);
    f->asks = true;
    if (!f->caught_up)
        return true;
    if (f->stream)
        send_status(f, &f->task, true);
    else
        send_result(f);
    return false;
}

static bool on_caught_up(follower *f)
{
    f->caught_up = true;
    if (!f->stream) {
        if (f->asks || f->immediate)
            send_result(f);
        return !f->asks && !f->immediate;
    }
    send_task(f);
    if (f->kagent && f->text.n > f->settled && !f->text.over)
        send_deltas(f, f->text.data + f->settled);
    if (f->asks)
        send_status(f, &f->task, true);
    return !f->asks;
}

static bool on_ended(follower *f, ramet_turn_status status, const char *error)
{
    f->task.state = status == RAMET_TURN_DONE        ? A2A_COMPLETED
                    : status == RAMET_TURN_CANCELLED ? A2A_CANCELED
                                                     : A2A_FAILED;
    f->task.running = false;
    f->task.status_message = NULL;
    if (f->task.state == A2A_FAILED)
        f->task.status_message =
            jsonrpc_message_json(f->scratch, *error ? error : "the agent failed");
    if (!f->stream) {
        send_result(f);
        return false;
    }
    if (!f->caught_up)
        send_task(f);
    /* Send the whole text once more, unless that would take several events. */
    bool is_long = !f->kagent && f->caught_up && f->text.n > MAX_PIECE_BYTES;
    if (f->text.n && !f->text.over)
        send_artifact(f, is_long ? "" : f->text.data, is_long, true);
    send_status(f, &f->task, true);
    return false;
}

static bool follower_event(void *arg, const turn_event *e, buf *out)
{
    follower *f = arg;
    arena_reset(f->scratch);
    f->out = out;
    switch (e->kind) {
    case TURN_STARTED:
        if (!f->task.id)
            f->view.task = f->task.id = arena_strdup(f->mem, e->turn);
        return true;
    case TURN_DELTA:
        return on_delta(f, e->delta.text, e->delta.n);
    case TURN_ENTRY:
        return on_entry(f, e->entry);
    case TURN_QUESTION:
        return on_question(f, e->question);
    case TURN_CAUGHT_UP:
        return on_caught_up(f);
    case TURN_ENDED:
        return on_ended(f, e->ended.status, e->ended.error);
    case TURN_THINKING: /* A2A cannot represent these */
    case TURN_PLAN:
    case TURN_DETACHED:
        return true;
    }
    return true;
}

static void follower_release(void *arg)
{
    follower *f = arg;
    buf_release(&f->text);
    arena_free(f->scratch);
    arena_free(f->mem);
}

turn_listener jsonrpc_listener(const jsonrpc_call *r, const char *session, const follow_in *in)
{
    arena *a = arena_new();
    follower *f = arena_alloc(a, sizeof *f);
    const char *context = arena_strdup(a, session);
    *f = (follower){.mem = a,
                    .scratch = arena_new(),
                    .view = jsonrpc_view(r, context, NULL),
                    .id = arena_strdup(a, r->id),
                    .kagent = r->kagent,
                    .stream = in->stream,
                    .immediate = in->immediate,
                    .history = in->history,
                    .answered = arena_strdup(a, in->answered),
                    .task = {.session = context, .state = A2A_WORKING, .running = true}};
    buf_init(&f->text, MAX_EVENT_BYTES);
    return (turn_listener){.content_type = in->stream ? "text/event-stream" : "application/json",
                           .whole = !in->stream,
                           .event = follower_event,
                           .release = follower_release,
                           .arg = f};
}
