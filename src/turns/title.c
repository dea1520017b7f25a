/* SPDX-License-Identifier: Apache-2.0
 *
 * title.c: asks the configured agent for a title of a session that has none.
 *
 * The agent runs in an ephemeral fork, which is visible to this code only and deleted afterwards,
 * so the history stays clean. Nothing waits for the title, and failing to get one is not an error.
 */
#include "turns/turns_internal.h"

#include <stdlib.h>
#include <string.h>

#define LIFE_US INT64_C(3600000000)
#define TITLE_CHARS 60
#define TEXT_MAX 4096

static const char question[] = "Give this conversation a title of at most six words. "
                               "Answer with the title alone, in its language.";

typedef struct title {
    run *run;
    buf text;
    int64_t until;
} title;

static bool title_on(void *arg)
{
    const title *t = arg;
    return !t->text.over && time_mono_us() < t->until && turns_wait(t->run->turns, 0);
}

static bool title_stops(void *arg)
{
    return !title_on(arg);
}

static bool title_delta(void *arg, const char *text, size_t n)
{
    buf_add(&((title *)arg)->text, text, n);
    return title_on(arg);
}

static bool title_no_thinking(void *arg, const char *text, size_t n)
{
    (void)text, (void)n;
    return title_on(arg);
}

static bool title_no_call(void *arg, const char *id, const char *name, const char *input)
{
    (void)id, (void)name, (void)input;
    return title_on(arg);
}

static bool title_no_result(void *arg, const char *id, const char *output, bool is_error)
{
    (void)id, (void)output, (void)is_error;
    return title_on(arg);
}

/* There is no user to answer. */
static bool title_no_ask(void *arg, const agent_question *q, const char **answer)
{
    (void)arg, (void)q;
    *answer = NULL;
    return false;
}

static bool title_no_plan(void *arg, const char *json)
{
    (void)json;
    return title_on(arg);
}

static bool title_no_usage(void *arg, const ramet_usage *u)
{
    (void)u;
    return title_on(arg);
}

/* The first line, without surrounding quotes. "" if it cannot be a title. */
static const char *title_of(arena *a, const buf *text)
{
    if (text->over || !utf8_valid(text->data, text->n) || memchr(text->data, 0, text->n))
        return "";
    char *line = text_preview(a, text->data, TITLE_CHARS);
    size_t n = strlen(line);
    if (n > 1 && (*line == '"' || *line == '\'') && line[n - 1] == *line) {
        line[n - 1] = 0;
        line++;
    }
    return line;
}

/* Asks the agent in the fork; the answer is in t->text. */
static bool title_ask(title *t, ramet_call *c, agent *who, const ramet_session *fork)
{
    run *r = t->run;
    ramet_entry_in ask = {.role = RAMET_USER, .text = question};
    ramet_turn_in in = {.entries = &ask, .n = 1, .agent = who->name, .host = r->turns->host};
    ramet_turn *turn;
    ramet_append_out out;
    ramet_page page;
    ramet_read_in read = {
        .limit = 1000, .tail = true, .channel = "history", .view = RAMET_VIEW_CONTEXT};
    agent_result result = {.end = AGENT_DONE};
    agent_sink sink = {.delta = title_delta,
                       .thinking = title_no_thinking,
                       .tool_call = title_no_call,
                       .tool_result = title_no_result,
                       .ask = title_no_ask,
                       .plan = title_no_plan,
                       .usage = title_no_usage,
                       .cancelled = title_stops,
                       .arg = t};
    if (ramet_turn_begin(c, fork->id, &in, &turn, &out) != RAMET_OK ||
        ramet_read(c, fork->id, &read, &page) != RAMET_OK)
        return false;
    agent_turn at = {.turn_id = turn->id,
                     .history = page.entries,
                     .n = page.n,
                     .cache_key = r->cache_key,
                     .session = fork->agent,
                     .user = r->user};
    who->kind->run(who, &at, &sink, &result);
    ramet_turn_end(c, turn->id, result.end == AGENT_DONE ? RAMET_TURN_DONE : RAMET_TURN_FAILED,
                   NULL, NULL, 0, &out);
    return result.end == AGENT_DONE;
}

static void title_set(title *t, ramet_call *c)
{
    arena *a = arena_new();
    ramet_session *s;
    const char *text = title_of(a, &t->text);
    ramet_session_patch patch = {.title = text};
    /* A user may have set one meanwhile. */
    if (*text && ramet_session_get(c, t->run->session, &s) == RAMET_OK && !*s->title)
        ramet_session_update(c, t->run->session, &patch, &s);
    arena_free(a);
}

void title_make(run *r)
{
    agent *who = agents_find(r->turns->agents, r->turns->cfg->title_agent);
    ramet_agent named = {.name = who->name};
    ramet_fork_in in = {.reason = "title",
                        .agent = &named,
                        .by_kind = RAMET_BY_SYSTEM,
                        .visibility = RAMET_PRIVATE,
                        .branch = r->branch,
                        .ephemeral_us = LIFE_US};
    title t = {.run = r, .until = time_mono_us() + r->turns->cfg->turn_s * 1000000};
    ramet_call *c = ramet_call_new(r->turns->store, r->user, NULL);
    ramet_session *fork;
    ramet_delete_out gone;
    if (ramet_fork(c, r->session, &in, &fork, NULL) == RAMET_OK) {
        buf_init(&t.text, TEXT_MAX);
        if (title_ask(&t, c, who, fork))
            title_set(&t, c);
        ramet_session_delete(c, fork->id, false, false, &gone);
        buf_release(&t.text);
    }
    ramet_call_free(c);
}
