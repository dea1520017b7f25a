/* SPDX-License-Identifier: Apache-2.0
 *
 * events.c: a turn as a response: one object, or the events of a stream.
 *
 * A stream can be resumed anywhere, even in the middle of a text and after a restart of the server,
 * although nobody keeps how the text was cut into deltas: sequence numbers count what was sent, not
 * events. An event has the next number; a delta advances it by its length in bytes. So the event
 * that a number stands for is the same each time the turn is sent, and a delta that the client has
 * in part is sent from there on.
 */
#include "face/openai/openai_face.h"

#include <stdio.h>
#include <string.h>

typedef enum { ITEM_MESSAGE, ITEM_REASONING, ITEM_CALL } item_kind;

typedef struct follower {
    arena *mem;     /* for everything it keeps */
    arena *scratch; /* for one event */
    response_options set;
    json_doc request;
    const char *session, *turn;
    answer_reader answer;
    VEC(const char *) items; /* that are complete */
    item_kind kind;          /* of the item that is open */
    const char *item;        /* its id */
    int64_t next;            /* sequence number */
    buf *out;                /* for the event */
    buf event;
    json_writer w;
} follower;

/* ------------------------------------------------------------------ events */

/* Begins an event that takes n numbers. event_close() sends it, unless the client has it. */
static json_writer *event_open(follower *f, const char *type, size_t n)
{
    f->next += (int64_t)n;
    buf_clear(&f->event);
    buf_puts(&f->event, "event: ");
    buf_puts(&f->event, type);
    buf_puts(&f->event, "\ndata: ");
    jw_init(&f->w, &f->event, 0);
    jw_object(&f->w);
    jw_kstr(&f->w, "type", type);
    jw_kint(&f->w, "sequence_number", f->next - 1);
    return &f->w;
}

static void event_close(follower *f)
{
    jw_end_object(&f->w);
    buf_puts(&f->event, "\n\n");
    if (f->next - 1 > f->set.after)
        buf_add(f->out, f->event.data, f->event.n);
}

static bool streams(const follower *f)
{
    return f->set.mode == RESPONSE_STREAM;
}

static json_writer *item_event(follower *f, const char *type, size_t n)
{
    json_writer *w = event_open(f, type, n);
    jw_kstr(w, "item_id", f->item);
    jw_kint(w, "output_index", (int64_t)f->items.n);
    return w;
}

static json_writer *content_event(follower *f, const char *type, size_t n)
{
    json_writer *w = item_event(f, type, n);
    jw_kint(w, "content_index", 0);
    return w;
}

static void response_event(follower *f, const char *type, const response_view *v)
{
    json_writer *w = event_open(f, type, 1);
    jw_key(w, "response");
    openai_response_write(w, f->scratch, v);
    event_close(f);
}

/* ------------------------------------------------------------------ parts of text */

static void item_write(follower *f, json_writer *w, const char *text, bool done)
{
    if (f->kind == ITEM_MESSAGE)
        openai_message_item(w, f->item, text, done);
    else
        openai_reasoning_item(w, f->item, done ? text : NULL);
}

static void added_event(follower *f)
{
    json_writer *w = event_open(f, "response.output_item.added", 1);
    jw_kint(w, "output_index", (int64_t)f->items.n);
    jw_key(w, "item");
}

static void part_write(follower *f, json_writer *w, const char *text)
{
    jw_key(w, "part");
    if (f->kind == ITEM_MESSAGE) {
        openai_text_part(w, text);
        return;
    }
    jw_object(w);
    jw_kstr(w, "type", "reasoning_text");
    jw_kstr(w, "text", text);
    jw_end_object(w);
}

static void text_open(void *arg, bool thinking, const item_place *at)
{
    follower *f = arg;
    f->kind = thinking ? ITEM_REASONING : ITEM_MESSAGE;
    f->item = openai_item_id(f->mem, thinking ? "rs_" : "msg_", at);
    if (!streams(f))
        return;
    added_event(f);
    item_write(f, &f->w, "", false);
    event_close(f);
    part_write(f, content_event(f, "response.content_part.added", 1), "");
    event_close(f);
}

/* How many bytes of a delta the client has: it may have got them in one that was cut elsewhere. */
static size_t bytes_known(const follower *f, const char *text, size_t n)
{
    int64_t had = f->set.after + 1 - f->next;
    size_t skip = had <= 0 ? 0 : (uint64_t)had < n ? (size_t)had : n;
    while (skip && skip < n && ((unsigned char)text[skip] & 0xc0) == 0x80)
        skip--; /* a number inside a character is none of ours */
    return skip;
}

static void delta_event(follower *f, const char *type, const char *text, size_t n)
{
    size_t skip = bytes_known(f, text, n);
    json_writer *w = f->kind == ITEM_CALL ? item_event(f, type, n) : content_event(f, type, n);
    jw_key(w, "delta");
    jw_strn(w, text + skip, n - skip);
    if (f->kind == ITEM_MESSAGE)
        jw_kraw(w, "logprobs", "[]");
    event_close(f);
}

static void text_add(void *arg, const char *text, size_t n)
{
    follower *f = arg;
    if (streams(f))
        delta_event(f,
                    f->kind == ITEM_MESSAGE ? "response.output_text.delta"
                                            : "response.reasoning_text.delta",
                    text, n);
}

static void done_event(follower *f, const char *json)
{
    json_writer *w = event_open(f, "response.output_item.done", 1);
    jw_kint(w, "output_index", (int64_t)f->items.n);
    jw_kraw(w, "item", json);
    event_close(f);
}

static void text_close(void *arg, const char *whole)
{
    follower *f = arg;
    bool message = f->kind == ITEM_MESSAGE;
    buf b;
    json_writer item;
    buf_init(&b, OPENAI_BYTES);
    jw_init(&item, &b, 0);
    item_write(f, &item, whole, true);
    const char *json = buf_keep(&b, f->mem);
    if (streams(f)) {
        json_writer *w = content_event(
            f, message ? "response.output_text.done" : "response.reasoning_text.done", 1);
        jw_kstr(w, "text", whole);
        if (message)
            jw_kraw(w, "logprobs", "[]");
        event_close(f);
        part_write(f, content_event(f, "response.content_part.done", 1), whole);
        event_close(f);
        done_event(f, json);
    }
    VEC_PUSH(f->mem, &f->items, json);
}

/* ------------------------------------------------------------------ calls */

/* Whether the request declared the tool as one that gets a text. */
static bool is_custom(const follower *f, const char *name)
{
    const json_doc *d = &f->request;
    const json_node *tools = d->n ? json_get(d, d->nodes, "tools") : NULL;
    for (const json_node *t = json_first(d, tools); tools && t; t = json_next(d, tools, t)) {
        const char *type = json_text(f->scratch, d, json_get(d, t, "type"));
        const char *own = json_text(f->scratch, d, json_get(d, t, "name"));
        if (type && own && strcmp(type, "custom") == 0 && strcmp(own, name) == 0)
            return true;
    }
    return false;
}

static void call_events(follower *f, const char *id, const char *name, const char *arguments,
                        bool custom)
{
    const char *kind =
        custom ? "response.custom_tool_call_input" : "response.function_call_arguments";
    added_event(f);
    openai_call_item(&f->w, f->item, id, name, "", false, custom);
    event_close(f);
    if (*arguments)
        delta_event(f, arena_printf(f->scratch, "%s.delta", kind), arguments, strlen(arguments));
    json_writer *w = item_event(f, arena_printf(f->scratch, "%s.done", kind), 1);
    if (!custom)
        jw_kstr(w, "name", name);
    jw_kstr(w, custom ? "input" : "arguments", arguments);
    event_close(f);
}

static void item_finish(follower *f, buf *b)
{
    const char *json = buf_keep(b, f->mem);
    if (streams(f))
        done_event(f, json);
    VEC_PUSH(f->mem, &f->items, json);
}

static void call_add(void *arg, const item_place *at, const char *id, const char *name,
                     const char *arguments)
{
    follower *f = arg;
    bool custom = is_custom(f, name);
    buf b;
    json_writer item;
    f->kind = ITEM_CALL;
    f->item = openai_item_id(f->mem, custom ? "ctc_" : "fc_", at);
    if (custom)
        arguments = openai_custom_input(f->scratch, arguments);
    if (streams(f))
        call_events(f, id, name, arguments, custom);
    buf_init(&b, OPENAI_BYTES);
    jw_init(&item, &b, 0);
    openai_call_item(&item, f->item, id, name, arguments, true, custom);
    item_finish(f, &b);
}

/* Of an agent that runs its tools itself. */
static void result_add(void *arg, const item_place *at, const char *id, const char *output)
{
    follower *f = arg;
    buf b;
    json_writer item;
    f->item = openai_item_id(f->mem, "out_", at);
    buf_init(&b, OPENAI_BYTES);
    jw_init(&item, &b, 0);
    jw_object(&item);
    jw_kstr(&item, "id", f->item);
    jw_kstr(&item, "type", "function_call_output");
    jw_kstr(&item, "status", "completed");
    jw_kstr(&item, "call_id", id);
    jw_kstr(&item, "output", output);
    jw_end_object(&item);
    const char *json = arena_strdup(f->scratch, b.data);
    if (streams(f)) {
        added_event(f);
        jw_raw(&f->w, json);
        event_close(f);
    }
    item_finish(f, &b);
}

static const answer_calls calls = {text_open, text_add, text_close, call_add, result_add};

/* ------------------------------------------------------------------ a turn */

static response_view view_of(follower *f, const char *status)
{
    return (response_view){.session = f->session,
                           .turn = f->turn,
                           .status = status,
                           .items = f->items.items,
                           .n_items = f->items.n,
                           .request = &f->request,
                           .default_model = f->set.model};
}

static void started(follower *f, const turn_event *e)
{
    if (f->turn)
        return;
    f->turn = arena_strdup(f->mem, e->turn);
    f->session = arena_strdup(f->mem, e->session);
    if (f->set.place) {
        snprintf(f->set.place->session, sizeof f->set.place->session, "%s", e->session);
        f->set.place->branch = e->branch;
        f->set.place = NULL; /* it lives as long as the request that began the turn */
    }
    if (!streams(f))
        return;
    response_view v = view_of(f, "in_progress");
    response_event(f, "response.created", &v);
    response_event(f, "response.in_progress", &v);
}

static const char *end_text(turn_end end)
{
    return end == TURN_END_TOKENS   ? "max_output_tokens"
           : end == TURN_END_FILTER ? "content_filter"
                                    : NULL;
}

/* The events of a turn that has ended. */
static void outcome_fill(const turn_event *e, response_view *v)
{
    const char *why = e->ended.error ? e->ended.error : "";
    switch (e->ended.status) {
    case RAMET_TURN_DONE:
        v->status = "completed";
        break;
    case RAMET_TURN_CANCELLED:
        v->status = "cancelled"; /* for which there is no event of its own */
        break;
    case RAMET_TURN_INTERRUPTED:
        v->status = "failed";
        v->error = "the server stopped while the response was made";
        break;
    case RAMET_TURN_RUNNING:
    case RAMET_TURN_FAILED:
        v->reason = end_text(turns_end_of(why));
        v->status = v->reason ? "incomplete" : "failed";
        if (!v->reason)
            v->error = *why ? why : "the model failed";
        break;
    }
}

static void object_write(follower *f, const response_view *v)
{
    json_writer w;
    jw_init(&w, f->out, 0);
    openai_response_write(&w, f->scratch, v);
}

static void ended(follower *f, const turn_event *e)
{
    response_view v;
    answer_end(&f->answer);
    v = view_of(f, NULL);
    outcome_fill(e, &v);
    v.usage = &f->answer.usage;
    if (e->ended.status == RAMET_TURN_DONE && e->ended.n)
        v.completed = e->ended.entries[e->ended.n - 1].created / 1000000;
    if (!streams(f)) {
        object_write(f, &v);
        return;
    }
    if (f->next <= f->set.after)
        f->next = f->set.after + 1; /* what the client has was lost with the server: end it still */
    response_event(f,
                   strcmp(v.status, "cancelled") == 0
                       ? "response.incomplete"
                       : arena_printf(f->scratch, "response.%s", v.status),
                   &v);
}

/* The turn goes on elsewhere; the client can resume it there. */
static void detached(follower *f, const turn_event *e)
{
    if (!streams(f)) {
        response_view v = view_of(f, "in_progress");
        object_write(f, &v);
        return;
    }
    json_writer *w = event_open(f, "error", 1);
    jw_kstr(w, "code", "server_shutdown");
    jw_kstr(w, "message", e->ended.error);
    jw_kstr(w, "param", NULL);
    event_close(f);
}

static bool follower_event(void *arg, const turn_event *e, buf *out)
{
    follower *f = arg;
    bool more = true;
    f->out = out;
    if (e->kind == TURN_STARTED)
        started(f, e);
    answer_event(&f->answer, e);
    if (e->kind == TURN_CAUGHT_UP && f->set.mode == RESPONSE_NOW) {
        response_view v = view_of(f, "in_progress");
        object_write(f, &v);
        more = false;
    } else if (e->kind == TURN_ENDED) {
        ended(f, e);
    } else if (e->kind == TURN_DETACHED) {
        detached(f, e);
    }
    arena_reset(f->scratch);
    return more;
}

static void follower_release(void *arg)
{
    follower *f = arg;
    answer_release(&f->answer);
    buf_release(&f->event);
    arena_free(f->scratch);
    arena_free(f->mem);
}

turn_listener openai_response_listener(const response_options *o)
{
    arena *mem = arena_new();
    follower *f = arena_alloc(mem, sizeof *f);
    f->mem = mem;
    f->scratch = arena_new();
    f->set = *o;
    f->set.model = arena_strdup(mem, o->model ? o->model : "");
    f->set.request = arena_strdup(mem, o->request ? o->request : "{}");
    if (!json_parse(mem, f->set.request, strlen(f->set.request), 0, &f->request, NULL))
        f->request = (json_doc){0};
    answer_init(&f->answer, f->scratch, &calls, f);
    buf_init(&f->event, OPENAI_BYTES);
    return (turn_listener){.content_type = streams(f) ? "text/event-stream; charset=utf-8" : NULL,
                           .whole = !streams(f),
                           .event = follower_event,
                           .release = follower_release,
                           .arg = f};
}
