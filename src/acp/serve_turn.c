/* SPDX-License-Identifier: Apache-2.0
 *
 * serve_turn.c: one prompt to an agent of the server, on its own thread: turns the server's events
 * into lines for the editor, which the main thread sends.
 */
#include "acp/serve.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void posts_init(posts *q)
{
    *q = (posts){0};
    pthread_mutex_init(&q->lock, NULL);
    if (pipe(q->ends) != 0)
        abort();
    q->last = &q->first;
}

static void post_put(run *r, post_kind kind, const char *text, const char *id)
{
    post *o = xcalloc(1, sizeof *o);
    posts *q = r->to;
    o->kind = kind;
    o->run = r;
    o->text = xstrdup(text);
    o->id = xstrdup(id);
    pthread_mutex_lock(&q->lock);
    *q->last = o;
    q->last = &o->next;
    pthread_mutex_unlock(&q->lock);
    ssize_t put = write(q->ends[1], "", 1);
    (void)put; /* a full pipe wakes the reader as well */
}

post *posts_take(posts *q)
{
    char waste[256];
    ssize_t got = read(q->ends[0], waste, sizeof waste);
    (void)got;
    pthread_mutex_lock(&q->lock);
    post *all = q->first;
    q->first = NULL;
    q->last = &q->first;
    pthread_mutex_unlock(&q->lock);
    return all;
}

void post_free(post *o)
{
    free(o->text);
    free(o->id);
    free(o);
}

/* ------------------------------------------------------------------ the server's events */

static void text_send(run *r, arena *a, const char *kind, const char *text)
{
    post_put(r, POST_UPDATE,
             arena_printf(a,
                          "{\"sessionUpdate\":\"%s\",\"content\":{\"type\":\"text\",\"text\":%s}}",
                          kind, json_quote(a, text)),
             NULL);
}

static void tool_send(run *r, arena *a, const json_doc *d, const json_node *part)
{
    const char *type = json_text(a, d, json_get(d, part, "type"));
    const char *id = json_text(a, d, json_get(d, part, "id"));
    bool call = type && strcmp(type, "tool_call") == 0;
    if (!type || !id || (!call && strcmp(type, "tool_result") != 0))
        return;
    const char *name = json_text(a, d, json_get(d, part, "name"));
    const json_node *value = json_get(d, part, call ? "input" : "output");
    bool wrong = json_is(json_get(d, part, "is_error"), JSON_TRUE);
    member all[] = {{"sessionUpdate", call ? "\"tool_call\"" : "\"tool_call_update\""},
                    {"toolCallId", json_quote(a, id)},
                    {"title", call ? json_quote(a, name ? name : "tool") : NULL},
                    {"status", call    ? "\"in_progress\""
                               : wrong ? "\"failed\""
                                       : "\"completed\""},
                    {call ? "rawInput" : "rawOutput", value ? json_raw(a, d, value) : "null"}};
    post_put(r, POST_UPDATE, json_with(a, NULL, all, sizeof all / sizeof *all), NULL);
}

static void usage_add(run *r, const json_doc *d, const json_node *entry)
{
    const json_node *usage = json_get(d, entry, "usage");
    int64_t input = 0, output = 0;
    if (!json_is(usage, JSON_OBJECT))
        return;
    json_int(d, json_get(d, usage, "input"), &input);
    json_int(d, json_get(d, usage, "output"), &output);
    r->input += input;
    r->output += output;
    r->used = input + output;
}

static void turn_entry_send(run *r, arena *a, const json_doc *d, const json_node *entry)
{
    const json_node *parts = json_get(d, entry, "parts");
    usage_add(r, d, entry);
    for (const json_node *p = json_is(parts, JSON_ARRAY) ? json_first(d, parts) : NULL; p;
         p = json_next(d, parts, p))
        tool_send(r, a, d, p);
}

/* Converts the server's plan to the protocol's form, where every step has a priority. */
static void plan_send(run *r, arena *a, const json_doc *d, const json_node *plan)
{
    const json_node *steps = json_get(d, plan, "entries");
    buf b;
    buf_init(&b, 16 << 20);
    for (const json_node *s = json_is(steps, JSON_ARRAY) ? json_first(d, steps) : NULL; s;
         s = json_next(d, steps, s)) {
        const json_node *priority = json_get(d, s, "priority"), *status = json_get(d, s, "status");
        member all[] = {{"priority", priority ? json_raw(a, d, priority) : "\"medium\""},
                        {"status", status ? json_raw(a, d, status) : "\"pending\""}};
        buf_printf(&b, "%s%s", b.n ? "," : "", json_with(a, json_raw(a, d, s), all, 2));
    }
    post_put(r, POST_UPDATE,
             arena_printf(a, "{\"sessionUpdate\":\"plan\",\"entries\":[%s]}", b.data), NULL);
    buf_release(&b);
}

static void on_event(void *arg, const char *name, arena *a, const json_doc *d)
{
    run *r = arg;
    const json_node *root = d->nodes;
    const char *text = json_text(a, d, json_get(d, root, "text"));
    if (strcmp(name, "turn.started") == 0) {
        const char *id = json_text(a, d, json_get(d, root, "turn_id"));
        snprintf(r->turn, sizeof r->turn, "%s", id ? id : "");
    } else if (text && strcmp(name, "turn.delta") == 0) {
        text_send(r, a, "agent_message_chunk", text);
    } else if (text && strcmp(name, "turn.thinking") == 0) {
        text_send(r, a, "agent_thought_chunk", text);
    } else if (strcmp(name, "entry.appended") == 0) {
        turn_entry_send(r, a, d, json_get(d, root, "entry"));
    } else if (strcmp(name, "turn.plan") == 0) {
        plan_send(r, a, d, json_get(d, root, "plan"));
    } else if (strcmp(name, "turn.question") == 0) {
        const json_node *q = json_get(d, root, "question");
        post_put(r, POST_QUESTION, q ? json_raw(a, d, q) : "{}", r->turn);
    } else if (strcmp(name, "turn.done") == 0) {
        const char *status = json_text(a, d, json_get(d, root, "status"));
        const char *error = json_text(a, d, json_get(d, root, "error"));
        snprintf(r->status, sizeof r->status, "%s", status ? status : "done");
        snprintf(r->error, sizeof r->error, "%s", error ? error : "");
    }
}

static void *talk_main(void *arg)
{
    run *r = arg;
    client_events events = {.event = on_event, .arg = r};
    ramet_call *call = r->lib->ramet_call_new(r->store, r->user, "ramet-acp");
    r->rc = client_message(call, r->session, "messages", r->body, &events);
    if (r->rc != RAMET_OK)
        snprintf(r->error, sizeof r->error, "%s", r->lib->ramet_call_error(call)->message);
    r->lib->ramet_call_free(call);
    post_put(r, POST_DONE, NULL, NULL);
    return NULL;
}

bool talk_start(run *r)
{
    return pthread_create(&r->thread, NULL, talk_main, r) == 0;
}

void talk_free(run *r)
{
    pthread_join(r->thread, NULL);
    free(r->id);
    free(r->session);
    free(r->body);
    free(r);
}
