/* SPDX-License-Identifier: Apache-2.0
 *
 * aside.c: one question to an agent outside the conversation: for a title, for a summary to land,
 * or about suggestions.
 *
 * The agent is asked in an ephemeral fork, which only the asker sees and which goes afterwards, so
 * that the history stays clean. Its answer is text; tools, plans and questions of the agent have
 * nobody to go to.
 */
#include "turns/turns_internal.h"

#include <string.h>

#define LIFE_US INT64_C(3600000000)

typedef struct listening {
    const aside *of;
    buf *text;
} listening;

static bool aside_on(void *arg)
{
    const listening *l = arg;
    const aside *of = l->of;
    return !l->text->over && time_mono_us() < of->until && turns_wait(of->turns, 0) &&
           !(of->gone && of->gone(of->gone_arg));
}

static bool aside_stops(void *arg)
{
    return !aside_on(arg);
}

static bool aside_delta(void *arg, const char *text, size_t n)
{
    buf_add(((listening *)arg)->text, text, n);
    return aside_on(arg);
}

static bool aside_no_thinking(void *arg, const char *text, size_t n)
{
    (void)text, (void)n;
    return aside_on(arg);
}

static bool aside_no_call(void *arg, const char *id, const char *name, const char *input)
{
    (void)id, (void)name, (void)input;
    return aside_on(arg);
}

static bool aside_no_result(void *arg, const char *id, const char *output, bool is_error)
{
    (void)id, (void)output, (void)is_error;
    return aside_on(arg);
}

/* There is no user to answer. */
static bool aside_no_ask(void *arg, const agent_question *q, agent_reply *answer)
{
    (void)arg, (void)q;
    *answer = (agent_reply){0};
    return false;
}

static bool aside_no_message(void *arg, const agent_message *m)
{
    (void)m;
    return aside_on(arg);
}

static bool aside_no_plan(void *arg, const char *json)
{
    (void)json;
    return aside_on(arg);
}

static bool aside_no_usage(void *arg, const ramet_usage *u)
{
    (void)u;
    return aside_on(arg);
}

bool aside_client_gone(void *arg)
{
    const request *q = arg;
    return q->gone && atomic_load_explicit(q->gone, memory_order_relaxed);
}

bool aside_enter(turns *t)
{
    pthread_mutex_lock(&t->lock);
    bool room = t->stage == TURNS_OPEN && t->asides < t->cfg->threads / 4;
    t->asides += room;
    pthread_mutex_unlock(&t->lock);
    return room;
}

void aside_leave(turns *t)
{
    pthread_mutex_lock(&t->lock);
    t->asides--;
    pthread_mutex_unlock(&t->lock);
}

/* Asks in the fork; false: it did not answer to the end. */
static bool fork_ask(const aside *of, ramet_call *c, const ramet_session *fork, buf *text)
{
    listening l = {of, text};
    ramet_entry_in ask = {.role = RAMET_USER, .text = of->question};
    ramet_turn_in in = {.entries = &ask, .n = 1, .agent = of->who->name, .host = of->turns->host};
    ramet_turn *turn;
    ramet_append_out out;
    ramet_page page;
    ramet_read_in read = {
        .limit = 1000, .tail = true, .channel = "history", .view = RAMET_VIEW_CONTEXT};
    agent_result result = {.end = AGENT_DONE};
    agent_sink sink = {.delta = aside_delta,
                       .thinking = aside_no_thinking,
                       .tool_call = aside_no_call,
                       .tool_result = aside_no_result,
                       .ask = aside_no_ask,
                       .message = aside_no_message,
                       .plan = aside_no_plan,
                       .usage = aside_no_usage,
                       .cancelled = aside_stops,
                       .arg = &l};
    if (ramet_turn_begin(c, fork->id, &in, &turn, &out) != RAMET_OK ||
        ramet_read(c, fork->id, &read, &page) != RAMET_OK)
        return false;
    agent_turn at = {.turn_id = turn->id,
                     .history = page.entries,
                     .n = page.n,
                     .cache_key = of->cache_key ? of->cache_key : fork->cache_root,
                     .session = fork->agent,
                     .user = of->user};
    of->who->kind->run(of->who, &at, &sink, &result);
    bool done = result.end == AGENT_DONE && !text->over;
    ramet_turn_end(c, turn->id, done ? RAMET_TURN_DONE : RAMET_TURN_FAILED, NULL, NULL, 0, &out);
    return done;
}

bool aside_ask(const aside *of, buf *text)
{
    ramet_agent named = {.name = of->who->name};
    ramet_fork_in in = {.reason = of->reason,
                        .agent = &named,
                        .by_kind = RAMET_BY_SYSTEM,
                        .visibility = RAMET_PRIVATE,
                        .branch = of->branch,
                        .ephemeral_us = LIFE_US};
    ramet_call *c = ramet_call_new(of->turns->store, of->user, NULL);
    ramet_session *fork;
    ramet_delete_out gone;
    bool done = false;
    if (ramet_fork(c, of->session, &in, &fork, NULL) == RAMET_OK) {
        done = fork_ask(of, c, fork, text);
        ramet_session_delete(c, fork->id, false, false, &gone);
    }
    ramet_call_free(c);
    return done && utf8_valid(text->data, text->n) && !memchr(text->data, 0, text->n);
}
