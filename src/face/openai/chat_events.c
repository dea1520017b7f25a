/* SPDX-License-Identifier: Apache-2.0
 *
 * chat_events.c: turns as a chat completion, or its chunks. Each turn is a choice; all of them are
 * versions of one answer.
 */
#include "face/openai/openai_face.h"

#include <stdio.h>
#include <string.h>

struct chat;

typedef struct choice {
    struct chat *of;
    size_t index;
    answer_reader answer;
    bool thinking; /* the part that is open */
    buf content, reasoning;
    size_t n_calls;
    buf calls; /* JSON, separated by commas */
    const char *finish;
} choice;

typedef struct chat {
    arena *mem, *scratch;
    chat_options set;
    const char *turn;
    int64_t created;
    choice *choices;
    size_t left; /* choices that are not complete */
    const char *error;
    buf *out;
} chat;

/* ------------------------------------------------------------------ chunks */

static void head_write(chat *c, json_writer *w, const char *object)
{
    jw_object(w);
    jw_kstr(w, "id", openai_id(c->scratch, "chatcmpl-", c->turn));
    jw_kstr(w, "object", object);
    jw_kint(w, "created", c->created);
    jw_kstr(w, "model", c->set.model);
}

/* Opens a chunk with one choice, up to the content of its delta. */
static json_writer chunk_open(choice *o)
{
    json_writer w;
    buf_puts(o->of->out, "data: ");
    jw_init(&w, o->of->out, 0);
    head_write(o->of, &w, "chat.completion.chunk");
    jw_key(&w, "choices");
    jw_array(&w);
    jw_object(&w);
    jw_kint(&w, "index", (int64_t)o->index);
    jw_key(&w, "delta");
    jw_object(&w);
    return w;
}

static void chunk_close(choice *o, json_writer *w, const char *finish)
{
    jw_end_object(w);
    jw_kstr(w, "logprobs", NULL);
    jw_kstr(w, "finish_reason", finish);
    jw_end_object(w);
    jw_end_array(w);
    if (o->of->set.usage)
        jw_kstr(w, "usage", NULL);
    jw_end_object(w);
    buf_puts(o->of->out, "\n\n");
}

static void text_open(void *arg, bool thinking, const item_place *at)
{
    choice *o = arg;
    buf *to = thinking ? &o->reasoning : &o->content;
    (void)at;
    o->thinking = thinking;
    if (!to->n)
        return;
    buf_puts(to, "\n\n"); /* as the text of an entry joins its parts */
    if (o->of->set.stream) {
        json_writer w = chunk_open(o);
        jw_kstr(&w, thinking ? "reasoning_content" : "content", "\n\n");
        chunk_close(o, &w, NULL);
    }
}

static void text_add(void *arg, const char *text, size_t n)
{
    choice *o = arg;
    buf_add(o->thinking ? &o->reasoning : &o->content, text, n);
    if (!o->of->set.stream)
        return;
    json_writer w = chunk_open(o);
    jw_key(&w, o->thinking ? "reasoning_content" : "content");
    jw_strn(&w, text, n);
    chunk_close(o, &w, NULL);
}

static void text_close(void *arg, const char *whole)
{
    (void)arg, (void)whole;
}

static void call_write(json_writer *w, int64_t index, const char *id, const char *name,
                       const char *arguments)
{
    jw_object(w);
    if (index >= 0)
        jw_kint(w, "index", index);
    jw_kstr(w, "id", id);
    jw_kstr(w, "type", "function");
    jw_key(w, "function");
    jw_object(w);
    jw_kstr(w, "name", name);
    jw_kstr(w, "arguments", arguments);
    jw_end_object(w);
    jw_end_object(w);
}

static void call_add(void *arg, const item_place *at, const char *id, const char *name,
                     const char *arguments)
{
    choice *o = arg;
    json_writer w;
    (void)at;
    if (o->of->set.stream) {
        w = chunk_open(o);
        jw_key(&w, "tool_calls");
        jw_array(&w);
        call_write(&w, (int64_t)o->n_calls, id, name, arguments);
        jw_end_array(&w);
        chunk_close(o, &w, NULL);
    }
    if (o->n_calls++)
        buf_putc(&o->calls, ',');
    jw_init(&w, &o->calls, 0);
    call_write(&w, -1, id, name, arguments);
}

/* The agent ran the tool itself: the client is not asked to. */
static void result_add(void *arg, const item_place *at, const char *id, const char *output)
{
    (void)arg, (void)at, (void)id, (void)output;
}

static const answer_calls calls = {text_open, text_add, text_close, call_add, result_add};

/* ------------------------------------------------------------------ the end */

static void usage_write(const chat *c, json_writer *w)
{
    ramet_usage sum = {0};
    for (size_t i = 0; i < c->set.choices; i++) {
        const ramet_usage *u = &c->choices[i].answer.usage;
        if (!i)
            sum = *u; /* all answer the same prompt */
        else
            sum.output += u->output;
    }
    jw_key(w, "usage");
    jw_object(w);
    jw_kint(w, "prompt_tokens", sum.input);
    jw_kint(w, "completion_tokens", sum.output);
    jw_kint(w, "total_tokens", sum.input + sum.output);
    jw_key(w, "prompt_tokens_details");
    jw_object(w);
    jw_kint(w, "cached_tokens", sum.cached);
    jw_kint(w, "audio_tokens", 0);
    jw_end_object(w);
    jw_key(w, "completion_tokens_details");
    jw_object(w);
    jw_kint(w, "reasoning_tokens", 0);
    jw_end_object(w);
    jw_end_object(w);
}

static void message_write(json_writer *w, const choice *o)
{
    jw_object(w);
    jw_kint(w, "index", (int64_t)o->index);
    jw_key(w, "message");
    jw_object(w);
    jw_kstr(w, "role", "assistant");
    jw_kstr(w, "content", o->content.n || !o->n_calls ? o->content.data : NULL);
    jw_kstr(w, "refusal", NULL);
    if (o->reasoning.n)
        jw_kstr(w, "reasoning_content", o->reasoning.data);
    if (o->n_calls) {
        jw_key(w, "tool_calls");
        jw_array(w);
        jw_raw(w, o->calls.data);
        jw_end_array(w);
    }
    jw_end_object(w);
    jw_kstr(w, "logprobs", NULL);
    jw_kstr(w, "finish_reason", o->finish);
    jw_end_object(w);
}

static void error_write(json_writer *w, const char *message)
{
    jw_object(w);
    jw_key(w, "error");
    jw_object(w);
    jw_kstr(w, "message", message);
    jw_kstr(w, "type", "server_error");
    jw_kstr(w, "param", NULL);
    jw_kstr(w, "code", "server_error");
    jw_end_object(w);
    jw_end_object(w);
}

static void whole_write(chat *c)
{
    json_writer w;
    jw_init(&w, c->out, 0);
    if (c->error) {
        error_write(&w, c->error);
        return;
    }
    head_write(c, &w, "chat.completion");
    jw_key(&w, "choices");
    jw_array(&w);
    for (size_t i = 0; i < c->set.choices; i++)
        message_write(&w, &c->choices[i]);
    jw_end_array(&w);
    usage_write(c, &w);
    jw_end_object(&w);
}

static void stream_end(chat *c)
{
    json_writer w;
    if (c->set.usage) {
        buf_puts(c->out, "data: ");
        jw_init(&w, c->out, 0);
        head_write(c, &w, "chat.completion.chunk");
        jw_kraw(&w, "choices", "[]");
        usage_write(c, &w);
        jw_end_object(&w);
        buf_puts(c->out, "\n\n");
    }
    buf_puts(c->out, "data: [DONE]\n\n");
}

/* Fills in why the answer ended; an error ends all of it. */
static void finish_fill(choice *o, const turn_event *e)
{
    const char *why = e->ended.error ? e->ended.error : "";
    o->finish = o->n_calls ? "tool_calls" : "stop";
    if (e->kind == TURN_ENDED && e->ended.status == RAMET_TURN_DONE)
        return;
    turn_end end = turns_end_of(why);
    o->finish = end == TURN_END_TOKENS   ? "length"
                : end == TURN_END_FILTER ? "content_filter"
                                         : NULL;
    if (!o->finish && !o->of->error)
        o->of->error = arena_strdup(o->of->mem, *why ? why : "the answer was cancelled");
}

static void choice_end(choice *o, const turn_event *e)
{
    chat *c = o->of;
    answer_end(&o->answer);
    finish_fill(o, e);
    if (c->set.stream && o->finish) {
        json_writer w = chunk_open(o);
        chunk_close(o, &w, o->finish);
    } else if (c->set.stream) {
        json_writer w;
        buf_puts(c->out, "data: ");
        jw_init(&w, c->out, 0);
        error_write(&w, c->error);
        buf_puts(c->out, "\n\n");
    }
    if (--c->left)
        return;
    if (!c->set.stream)
        whole_write(c);
    else if (!c->error)
        stream_end(c);
}

/* ------------------------------------------------------------------ the listener */

static void started(chat *c, choice *o, const turn_event *e)
{
    if (!c->turn) {
        c->turn = arena_strdup(c->mem, e->turn);
        c->created = openai_created(e->turn);
    }
    if (c->set.place && !o->index) {
        snprintf(c->set.place->session, sizeof c->set.place->session, "%s", e->session);
        c->set.place->branch = e->branch;
        c->set.place = NULL; /* it lives as long as the request that began the turn */
    }
    if (!c->set.stream)
        return;
    json_writer w = chunk_open(o);
    jw_kstr(&w, "role", "assistant");
    jw_kstr(&w, "content", "");
    chunk_close(o, &w, NULL);
}

static bool chat_event(void *arg, const turn_event *e, buf *out)
{
    chat *c = arg;
    choice *o = &c->choices[e->index];
    c->out = out;
    if (e->kind == TURN_STARTED)
        started(c, o, e);
    answer_event(&o->answer, e);
    if (e->kind == TURN_ENDED || e->kind == TURN_DETACHED)
        choice_end(o, e);
    arena_reset(c->scratch);
    return true;
}

static void chat_release(void *arg)
{
    chat *c = arg;
    for (size_t i = 0; i < c->set.choices; i++) {
        choice *o = &c->choices[i];
        answer_release(&o->answer);
        buf_release(&o->content);
        buf_release(&o->reasoning);
        buf_release(&o->calls);
    }
    arena_free(c->scratch);
    arena_free(c->mem);
}

turn_listener openai_chat_listener(const chat_options *o)
{
    arena *mem = arena_new();
    chat *c = arena_alloc(mem, sizeof *c);
    *c = (chat){.mem = mem, .scratch = arena_new(), .set = *o, .left = o->choices};
    c->set.model = arena_strdup(mem, o->model);
    c->choices = arena_array(mem, o->choices, sizeof *c->choices);
    for (size_t i = 0; i < o->choices; i++) {
        choice *each = &c->choices[i];
        each->of = c;
        each->index = i;
        answer_init(&each->answer, c->scratch, &calls, each);
        buf_init(&each->content, OPENAI_BYTES);
        buf_init(&each->reasoning, OPENAI_BYTES);
        buf_init(&each->calls, OPENAI_BYTES);
    }
    return (turn_listener){.content_type = o->stream ? "text/event-stream; charset=utf-8" : NULL,
                           .whole = !o->stream,
                           .event = chat_event,
                           .release = chat_release,
                           .arg = c};
}
