/* SPDX-License-Identifier: Apache-2.0
 *
 * subscriber.c: the events of a turn as an A2A client receives them.
 *
 * They become a task, its statuses and its artifact, or one task at the end. An answer is the
 * artifact "answer" of its task: all its text, entries separated by blank lines. At the plain path
 * it is sent in chunks to append, and once more as a whole at the end. Thoughts, plans, tool calls
 * and results are messages of statuses, in the order of the parts in the history.
 *
 * kagent's page shows deltas only if they are status messages, and makes a message of the last
 * chunk of an artifact. It sends nothing while the history has a message that the stream did not
 * have; so at its path each entry with text is an artifact of its own.
 *
 * A question to the user ends the stream, and the answer to message/send: the task is
 * input-required, and continues with the message that answers it. A subscription of 1.0 goes on.
 *
 * The time of a status is the one in the store, so that a task that is read later has the same.
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
    const char *id; /* of the JSON-RPC call; NULL: another binding */
    bool kagent, stream, immediate, to_the_end;
    int64_t history;
    const char *answered;
    a2a_task task;
    VEC(ramet_entry) entries;
    buf text;         /* the answer so far */
    bool entry_ended; /* more text begins a new paragraph */
    size_t settled;   /* bytes of text that are in entries */
    buf thought;      /* not sent yet */
    size_t thoughts;  /* of the present entry, sent */
    bool joined;      /* thoughts of it came before the call */
    bool has_usage;
    ramet_usage usage; /* of all its entries */
    bool caught_up;    /* the events before the call have been received */
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
    if (id) {
        jw_object(w);
        jw_kstr(w, "jsonrpc", "2.0");
        jw_kraw(w, "id", id);
        jw_key(w, "result");
    }
    if (version == A2A_10)
        jsonrpc_event_open(w, kind);
}

void jsonrpc_event_end(json_writer *w, a2a_version version, const char *id)
{
    if (version == A2A_10)
        jw_end_object(w);
    if (id)
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
    if (t->metadata)
        jw_kraw(w, "metadata", t->metadata);
    jw_end_object(w);
    jsonrpc_event_end(w, view->version, id);
}

/* `id` NULL: a new one. `partial`: the invocation, if this is a piece of its answer; NULL:
 * complete. */
static const char *message_json(arena *a, const char *id, const char *text, const char *partial)
{
    buf b;
    json_writer w;
    char made[UUID_TEXT];
    buf_init(&b, MAX_EVENT_BYTES);
    jw_init(&w, &b, 0);
    jw_object(&w);
    jw_kstr(&w, "kind", "message");
    jw_kstr(&w, "messageId", id ? id : uuid7(time_now_us(), made));
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
    return message_json(a, NULL, text, NULL);
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
    f->task.artifacts =
        a2a_artifacts_of(f->scratch, with_text ? f->text.data : "", f->entries.items, f->entries.n);
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
    jsonrpc_event_end(&w, v, f->id);
    event_close(f);
}

static void send_status(follower *f, const a2a_task *t, bool final)
{
    json_writer w = event_open(f);
    jsonrpc_status_event(f->scratch, &w, &f->view, f->id, t, final);
    event_close(f);
}

/* Sends a status: working, with this message, which was made at that time. */
static void send_message(follower *f, const char *json, int64_t at)
{
    send_status(
        f,
        &(a2a_task){
            .id = f->task.id, .state = A2A_WORKING, .status_at = at, .status_message = json},
        false);
}

/* An artifact, or a chunk of one. */
typedef struct artifact_out {
    const char *id, *text;
    const char *metadata; /* NULL: none */
    bool append, last;
} artifact_out;

static void send_piece(follower *f, const artifact_out *o)
{
    a2a_version v = f->view.version;
    json_writer w = event_open(f);
    jsonrpc_event_begin(&w, v, f->id, JSONRPC_EVENT_ARTIFACT);
    update_begin(&w, &f->view, JSONRPC_EVENT_ARTIFACT, f->task.id);
    jw_key(&w, "artifact");
    a2a_artifact_write(&w, v, o->id, o->text, o->metadata);
    jw_kbool(&w, "append", o->append);
    jw_kbool(&w, "lastChunk", o->last);
    jw_end_object(&w);
    jsonrpc_event_end(&w, v, f->id);
    event_close(f);
}

/* Sends files and values as an artifact of their own. */
static void send_value(follower *f, const ramet_entry *e)
{
    a2a_version v = f->view.version;
    json_writer w;
    if (strlen(e->body) > A2A_EVENT_ROOM) /* the task has it */
        return;
    w = event_open(f);
    jsonrpc_event_begin(&w, v, f->id, JSONRPC_EVENT_ARTIFACT);
    update_begin(&w, &f->view, JSONRPC_EVENT_ARTIFACT, f->task.id);
    jw_key(&w, "artifact");
    a2a_value_artifact_write(f->scratch, &w, &f->view, e);
    jw_kbool(&w, "append", false);
    jw_kbool(&w, "lastChunk", true);
    jw_end_object(&w);
    jsonrpc_event_end(&w, v, f->id);
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

/* A long artifact is sent in pieces, the last of which has its metadata. */
static void send_artifact(follower *f, artifact_out o)
{
    const char *text = o.text, *metadata = o.metadata;
    bool last = o.last;
    for (bool more = true; more; o.append = true) {
        size_t n = piece_of(text);
        more = text[n] != 0;
        o.text = more ? arena_printf(f->scratch, "%.*s", (int)n, text) : text;
        o.metadata = more ? NULL : metadata;
        o.last = last && !more;
        send_piece(f, &o);
        text += n;
    }
}

/* Sends deltas for kagent's page. */
static void send_deltas(follower *f, const char *text)
{
    for (size_t n; *text; text += n) {
        n = piece_of(text);
        send_message(f,
                     message_json(f->scratch, NULL, arena_printf(f->scratch, "%.*s", (int)n, text),
                                  f->task.id),
                     time_now_us());
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
    jsonrpc_event_end(&w, f->view.version, f->id);
}

/* ------------------------------------------------------------------ events of the turn */

static void text_add(follower *f, const char *text, size_t n)
{
    if (f->entry_ended && f->text.n)
        buf_puts(&f->text, "\n\n");
    f->entry_ended = false;
    buf_add(&f->text, text, n);
}

static bool is_live(const follower *f)
{
    return f->caught_up && f->stream;
}

/* Sends parts of an entry as a message of its own. */
static void send_parts(follower *f, const ramet_entry *e, const char *parts)
{
    buf b;
    json_writer w;
    ramet_entry part = *e;
    part.parts = parts;
    if (!a2a_message_shown(&f->view, &part))
        return;
    buf_init(&b, MAX_EVENT_BYTES);
    jw_init(&w, &b, 0);
    a2a_message_write(&w, &f->view, &part, f->task.id);
    if (b.n <= A2A_EVENT_ROOM) /* else the task has it */
        send_message(f, buf_keep_whole(&b, f->scratch), e->created);
    else
        buf_release(&b);
}

static void send_thought(follower *f, const char *text)
{
    char id[UUID_TEXT];
    const ramet_entry e = {.id = uuid7(time_now_us(), id),
                           .role = RAMET_ASSISTANT,
                           .format = "ramet",
                           .turn_id = f->task.id,
                           .created = time_now_us()};
    send_parts(f, &e,
               arena_printf(f->scratch, "[{\"type\":\"thinking\",\"text\":%s}]",
                            json_quote(f->scratch, text)));
    f->thoughts++;
}

/* Sends the thought that has come so far: something else follows it. */
static void thought_end(follower *f)
{
    if (f->thought.n && is_live(f))
        send_thought(f, f->thought.data);
    if (is_live(f))
        buf_clear(&f->thought);
}

static bool on_thinking(follower *f, const char *text, size_t n)
{
    if (f->kagent || !f->stream)
        return true;
    buf_add(&f->thought, text, n);
    f->joined = f->joined || !f->caught_up;
    return true;
}

static bool on_delta(follower *f, const char *text, size_t n)
{
    thought_end(f);
    size_t from = f->text.n;
    text_add(f, text, n);
    if (!is_live(f))
        return true;
    const char *piece = f->text.over ? arena_memdup(f->scratch, text, n) : f->text.data + from;
    if (f->kagent)
        send_deltas(f, piece);
    else
        send_artifact(f, (artifact_out){.id = A2A_ANSWER, .text = piece, .append = from > 0});
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

/* The parts of an entry that are sent as messages when it is complete: all but its text, which was
 * sent as deltas, and its thoughts; those that were not sent yet are sent now. */
static const char *parts_rest(follower *f, const ramet_entry *e)
{
    json_doc d;
    buf b;
    size_t thoughts = 0;
    if (!e->parts || !json_parse(f->scratch, e->parts, strlen(e->parts), 0, &d, NULL))
        return "[]";
    buf_init(&b, MAX_EVENT_BYTES);
    for (const json_node *p = json_first(&d, &d.nodes[0]); p; p = json_next(&d, &d.nodes[0], p)) {
        const char *type = json_text(f->scratch, &d, json_get(&d, p, "type"));
        bool thinks = type && strcmp(type, "thinking") == 0;
        if (thinks && thoughts++ >= f->thoughts && !f->joined && !f->kagent)
            send_thought(f, json_text(f->scratch, &d, json_get(&d, p, "text")));
        if (!type || thinks || strcmp(type, "text") == 0)
            continue;
        buf_puts(&b, b.n ? "," : "[");
        buf_puts(&b, json_raw(f->scratch, &d, p));
    }
    buf_puts(&b, b.n ? "]" : "[]");
    const char *rest = buf_keep_whole(&b, f->scratch);
    return rest ? rest : "[]";
}

/* A message of the user: the first of the turn, or the answer to a question. */
static void on_asked(follower *f, const ramet_entry *e)
{
    if (e->created > f->task.status_at)
        f->task.status_at = e->created;
    if (f->task.state != A2A_INPUT_REQUIRED)
        return;
    f->task.state = A2A_WORKING;
    f->task.question = NULL;
    f->asks = false;
    if (is_live(f))
        send_status(f, &f->task, false);
}

static void usage_add(follower *f, const ramet_usage *u)
{
    f->has_usage = true;
    f->usage.input += u->input;
    f->usage.output += u->output;
}

static bool on_entry(follower *f, const ramet_entry *e)
{
    VEC_PUSH(f->mem, &f->entries, *e);
    thought_end(f);
    if (e->usage && a2a_message_shown(&f->view, e))
        usage_add(f, e->usage);
    if (e->role == RAMET_USER)
        on_asked(f, e);
    if (e->role == RAMET_USER || a2a_entry_asks(e))
        return true;
    if (is_live(f) && a2a_entry_is_value(e)) {
        if (!f->kagent)
            send_value(f, e);
        send_parts(f, e, e->parts);
    } else if (is_live(f)) {
        const char *rest = parts_rest(f, e);
        if (f->kagent && e->role == RAMET_ASSISTANT && *e->text)
            send_artifact(f, (artifact_out){.id = e->id,
                                            .text = e->text,
                                            .metadata = a2a_answer_metadata(f->scratch, NULL, e, 1),
                                            .last = true});
        send_parts(f, e, rest);
    }
    if (e->role == RAMET_ASSISTANT && *e->text)
        text_settle(f, e->text);
    f->thoughts = 0;
    f->joined = false;
    buf_clear(&f->thought);
    return true;
}

static bool on_question(follower *f, const turn_question *question)
{
    if (f->answered && strcmp(question->id, f->answered) == 0)
        return true;
    f->task.state = A2A_INPUT_REQUIRED;
    f->task.question = a2a_question_entry(f->mem, question, f->task.id);
    f->task.status_at = question->asked_us ? question->asked_us : time_now_us();
    f->asks = true;
    if (!f->caught_up)
        return true;
    if (f->stream)
        send_status(f, &f->task, !f->to_the_end);
    else
        send_result(f);
    return f->to_the_end;
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
        send_status(f, &f->task, !f->to_the_end);
    return !f->asks || f->to_the_end;
}

/* What kagent's page counts the tokens of a turn by. */
static const char *usage_json(follower *f)
{
    buf b;
    json_writer w;
    buf_init(&b, 4096);
    jw_init(&w, &b, 0);
    jw_object(&w);
    jw_kstr(&w, "kagent_invocation_id", f->task.id);
    a2a_usage_write(&w, &f->view, &f->usage);
    jw_end_object(&w);
    return buf_keep_whole(&b, f->scratch);
}

/* Sends the whole text once more, unless that would take several events. kagent's page has had it
 * with its entries, except for text that became none. */
static void send_answer(follower *f)
{
    const char *text = f->text.data;
    if (f->text.over || !f->text.n)
        return;
    if (f->kagent && f->caught_up) {
        text += f->settled;
        text += f->settled && strncmp(text, "\n\n", 2) == 0 ? 2 : 0;
        if (*text)
            send_artifact(f, (artifact_out){.id = A2A_ANSWER, .text = text, .last = true});
        return;
    }
    bool is_long = f->caught_up && f->text.n > MAX_PIECE_BYTES;
    send_artifact(f, (artifact_out){.id = A2A_ANSWER,
                                    .text = is_long ? "" : text,
                                    .metadata = a2a_answer_metadata(f->scratch, NULL,
                                                                    f->entries.items, f->entries.n),
                                    .append = is_long,
                                    .last = true});
}

static bool on_ended(follower *f, ramet_turn_status status, const char *error, int64_t at)
{
    f->task.state = status == RAMET_TURN_DONE        ? A2A_COMPLETED
                    : status == RAMET_TURN_CANCELLED ? A2A_CANCELED
                                                     : A2A_FAILED;
    f->task.running = false;
    f->task.question = NULL;
    f->task.status_at = at ? at : time_now_us();
    f->task.status_message = NULL;
    if (f->task.state == A2A_FAILED)
        f->task.status_message = message_json(f->scratch, a2a_error_id(f->scratch, f->task.id),
                                              *error ? error : "the agent failed", NULL);
    if (!f->stream) {
        send_result(f);
        return false;
    }
    if (!f->caught_up)
        send_task(f);
    send_answer(f);
    if (f->kagent && f->has_usage)
        f->task.metadata = usage_json(f);
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
        if (e->started.at > f->task.status_at)
            f->task.status_at = e->started.at;
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
        return on_ended(f, e->ended.status, e->ended.error, e->ended.at);
    case TURN_THINKING:
        return on_thinking(f, e->delta.text, e->delta.n);
    case TURN_PLAN: /* its entry has it */
    case TURN_DETACHED:
        return true;
    }
    return true;
}

static void follower_release(void *arg)
{
    follower *f = arg;
    buf_release(&f->text);
    buf_release(&f->thought);
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
                    .to_the_end = in->to_the_end,
                    .history = in->history,
                    .answered = arena_strdup(a, in->answered),
                    .task = {.session = context, .state = A2A_WORKING, .running = true}};
    buf_init(&f->text, MAX_EVENT_BYTES);
    buf_init(&f->thought, MAX_EVENT_BYTES);
    return (turn_listener){.content_type = in->stream ? "text/event-stream"
                                           : r->id    ? "application/json"
                                                      : A2A_JSON,
                           .whole = !in->stream,
                           .event = follower_event,
                           .release = follower_release,
                           .arg = f};
}
