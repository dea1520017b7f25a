/* SPDX-License-Identifier: Apache-2.0
 *
 * title.c: a title for a session that has none, by the agent that is set for it.
 *
 * The agent is asked in an ephemeral fork, which only the asker sees and which goes afterwards, so
 * that the history stays clean. Nothing waits for it, and a title that cannot be had is no error.
 */
#include "turns/turns_internal.h"

#include <stdlib.h>
#include <string.h>

#define LIFE_US INT64_C(3600000000)
#define TITLE_CHARS 60
#define TEXT_MAX 4096

static const char title_question[] = "Give this conversation a title of at most six words. "
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

/* The first line, without quotes around it. "" when it cannot be one. */
static const char *title_of(arena *a, const buf *text)
{
    if (text->over || !utf8_valid(text->p, text->n) || memchr(text->p, 0, text->n))
        return "";
    char *line = text_preview(a, text->p, TITLE_CHARS);
    size_t n = strlen(line);
    if (n > 1 && (*line == '"' || *line == '\'') && line[n - 1] == *line) {
        line[n - 1] = 0;
        line++;
    }
    return line;
}

/* Asks in the fork; the answer is in t->text. */
static bool title_ask(title *t, ramet_call *c, agent *who, const ramet_session *fork,
                      const char *question)
{
    run *r = t->run;
    ramet_entry_in ask = {.role = RAMET_USER, .text = question};
    ramet_turn_in in = {.entries = &ask, .n = 1, .agent = who->name, .host = r->turns->host};
    ramet_turn *turn;
    ramet_append_out out;
    ramet_page page;
    ramet_read_in read = {.limit = 1000, .tail = true, .channel = "history"};
    agent_result result = {.end = AGENT_DONE};
    agent_sink sink = {title_delta,     title_no_thinking, title_no_call,
                       title_no_result, title_no_ask,      title_no_plan,
                       title_no_usage,  title_stops,       t};
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

bool aside_ask(run *r, ramet_call *c, const char *agent_name, const char *reason,
               const char *question, buf *text)
{
    agent *who = agents_find(r->turns->agents, agent_name);
    ramet_agent named = {.name = who->name};
    ramet_fork_in in = {.reason = reason,
                        .agent = &named,
                        .by_kind = RAMET_BY_SYSTEM,
                        .visibility = RAMET_PRIVATE,
                        .branch = r->branch,
                        .ephemeral_us = LIFE_US};
    title t = {.run = r, .until = time_mono_us() + r->turns->cfg->turn_s * 1000000};
    ramet_session *fork;
    ramet_delete_out gone;
    if (ramet_fork(c, r->session, &in, &fork, NULL) != RAMET_OK)
        return false;
    buf_init(&t.text, TEXT_MAX);
    bool answered = title_ask(&t, c, who, fork, question);
    ramet_session_delete(c, fork->id, false, false, &gone);
    *text = t.text;
    return answered;
}

static void title_set(run *r, ramet_call *c, const buf *answer)
{
    arena *a = arena_new();
    ramet_session *s;
    const char *text = title_of(a, answer);
    ramet_session_patch patch = {.title = text};
    /* A user may have set one meanwhile. */
    if (*text && ramet_session_get(c, r->session, &s) == RAMET_OK && !*s->title)
        ramet_session_update(c, r->session, &patch, &s);
    arena_free(a);
}

void title_make(run *r)
{
    ramet_call *c = ramet_call_new(r->turns->store, r->user, NULL);
    buf text = {0};
    if (aside_ask(r, c, r->turns->cfg->title_agent, "title", title_question, &text))
        title_set(r, c, &text);
    buf_release(&text);
    ramet_call_free(c);
}
