/* SPDX-License-Identifier: Apache-2.0
 *
 * echo.c: the agent kind `echo`, which needs no model: it repeats the message word by word.
 *
 * Lines at the start of a message that are commands (/think, /tool …, the table below) are executed
 * in order; the rest of the message, from the first other line on, is repeated byte for byte. See
 * docs/agents.md.
 */
#include "agent/agent.h"

#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DELAY_MS = 60000, MAX_COUNT = 1000000, MAX_CALLS = 100, PROMPT_BYTES = 256 << 20 };

static const agent_setting settings[] = {
    {"delay_ms", "0", "wait between words, in milliseconds", false},
    {"think", "", "a thought before each answer", false},
    {"tool", "", "a simulated tool to call before each answer", false},
    {"fail_after", "", "fail after this many words", false},
    {"context", "0", "size of the context to report, in tokens; 0: do not report", false},
    {NULL, NULL, NULL, false}};

typedef struct echo {
    int64_t delay_ms, fail_after; /* fail_after -1: never */
} echo;

/* One run. */
typedef struct speech {
    arena *arena;
    const agent_turn *turn;
    const agent_sink *sink;
    agent_result *out;
    int64_t delay_ms;
    int64_t left;   /* words until it fails; -1: never */
    int64_t spoken; /* words, including thoughts */
    int calls;
    bool said;        /* output was written since the last tool call */
    const char *owed; /* a tool's result, written if nothing else follows it */
    ramet_usage usage;
    bool usage_given;
} speech;

/* ------------------------------------------------------------------ saying */

typedef bool (*say_fn)(void *arg, const char *text, size_t n);

/* The length of a word with trailing blanks (and leading ones, at the start). */
static size_t word_bytes(const char *s)
{
    static const char blanks[] = " \t\r\n";
    size_t n = strspn(s, blanks);
    n += strcspn(s + n, blanks);
    return n + strspn(s + n, blanks);
}

static int64_t words_count(const char *s)
{
    int64_t n = 0;
    for (; *s; s += word_bytes(s))
        n++;
    return n;
}

static bool fail_as_configured(speech *e)
{
    agent_fail(e->out, "the echo agent was told to fail, after %lld words", (long long)e->spoken);
    return false;
}

/* Returns false if the turn is cancelled or has failed: see out->end. */
static bool say(speech *e, say_fn to, const char *text)
{
    for (const char *s = text; *s;) {
        if (e->left == 0)
            return fail_as_configured(e);
        size_t n = word_bytes(s);
        if ((e->delay_ms && e->spoken && !agent_sleep(e->sink, e->delay_ms)) ||
            !to(e->sink->arg, s, n)) {
            e->out->end = AGENT_CANCELLED;
            return false;
        }
        s += n;
        e->spoken++;
        if (to == e->sink->delta)
            e->owed = NULL;
        e->left -= e->left > 0;
    }
    return true;
}

/* Writes a piece of the answer; pieces are separated by line breaks. */
static bool speak(speech *e, const char *text)
{
    if (e->said && *text)
        text = arena_printf(e->arena, "\n%s", text);
    e->said = e->said || *text;
    return say(e, e->sink->delta, text);
}

static bool goes_on(speech *e, bool went_on)
{
    if (!went_on)
        e->out->end = AGENT_CANCELLED;
    return went_on;
}

/* ------------------------------------------------------------------ commands */

/* Reads a number at *s and the blanks after it; -1 if there is none up to `most`. */
static int64_t number_take(const char **s, int64_t max)
{
    size_t n = strspn(*s, "0123456789");
    if (n == 0 || n > 9 || ((*s)[n] && !strchr(" \t", (*s)[n])))
        return -1;
    int64_t v = strtoll(*s, NULL, 10);
    if (v > max)
        return -1;
    *s += n;
    *s += strspn(*s, " \t");
    return v;
}

static bool command_think(speech *e, const char *rest)
{
    return say(e, e->sink->thinking, rest);
}

static const char *json_or(speech *e, const char *text, const char *otherwise)
{
    json_doc d;
    return *text && json_parse(e->arena, text, strlen(text), 0, &d, NULL) && !d.nodes[0].has_nul
               ? text
               : otherwise;
}

static bool command_tool(speech *e, const char *rest)
{
    size_t n = strcspn(rest, " \t");
    const char *name = n ? arena_memdup(e->arena, rest, n) : "pretend";
    rest += n + strspn(rest + n, " \t");
    const char *input = json_or(e, rest, NULL);
    bool wrong = strcmp(name, "fail") == 0 || (!input && *rest);
    buf b;
    buf_init(&b, 64u << 20);
    json_writer w;
    jw_init(&w, &b, 0);
    jw_object(&w);
    if (wrong)
        jw_kstr(&w, "error", input || !*rest ? "the pretend tool fails" : "the input is no JSON");
    else
        jw_kraw(&w, "echo", input ? input : "{}");
    jw_end_object(&w);
    const char *output = buf_keep(&b, e->arena);
    char id[AGENT_CALL_ID];
    agent_call_id(id);
    if (e->calls++ >= MAX_CALLS) {
        agent_fail(e->out, "over %d calls of tools in one answer", MAX_CALLS);
        return false;
    }
    e->said = false;
    e->owed = arena_printf(e->arena, "%s answered %s", name, output);
    return goes_on(e, e->sink->tool_call(e->sink->arg, id, name, input ? input : "{}") &&
                          (!e->delay_ms || agent_sleep(e->sink, e->delay_ms)) &&
                          e->sink->tool_result(e->sink->arg, id, output, wrong));
}

static bool command_fail(speech *e, const char *rest)
{
    int64_t n = 0;
    if (strncmp(rest, "after ", 6) == 0) {
        rest += 6;
        rest += strspn(rest, " \t");
        n = number_take(&rest, MAX_COUNT);
    }
    e->left = n < 0 ? 0 : n;
    if (e->left == 0) {
        agent_fail(e->out, "%s", *rest ? rest : "the echo agent was told to fail");
        return false;
    }
    return speak(e, rest);
}

static bool command_slow(speech *e, const char *rest)
{
    int64_t ms = number_take(&rest, MAX_DELAY_MS);
    if (ms >= 0)
        e->delay_ms = ms;
    return speak(e, rest);
}

static bool question_ask(speech *e, const char *kind, const char *text, const char *options)
{
    char id[AGENT_CALL_ID];
    agent_reply answer = {0};
    agent_question q = {.id = agent_call_id(id), .kind = kind, .text = text, .options = options};
    if (!goes_on(e, e->sink->ask(e->sink->arg, &q, &answer)))
        return false;
    return speak(e,
                 arena_printf(e->arena, "You answered: %s", answer.text ? answer.text : "nothing"));
}

static bool command_ask(speech *e, const char *rest)
{
    return question_ask(e, "input", *rest ? rest : "What shall I say?", NULL);
}

static bool command_permit(speech *e, const char *rest)
{
    return question_ask(e, "permission", *rest ? rest : "May I?",
                        "[{\"id\":\"allow\",\"name\":\"Allow\"},{\"id\":\"deny\",\"name\":"
                        "\"Deny\"}]");
}

/* Steps, separated by semicolons; the first is in progress. */
static bool command_plan(speech *e, const char *rest)
{
    buf b;
    buf_init(&b, 64u << 20);
    json_writer w;
    jw_init(&w, &b, 0);
    jw_object(&w);
    jw_kstr(&w, "type", "plan");
    jw_key(&w, "entries");
    jw_array(&w);
    const char *s = *rest ? rest : "Read the message; Say it again";
    for (int i = 0; *s; i++) {
        s += strspn(s, " \t;");
        size_t n = strcspn(s, ";");
        if (!n)
            break;
        jw_object(&w);
        jw_key(&w, "content");
        jw_strn(&w, s, n);
        jw_kstr(&w, "status", i ? "pending" : "in_progress");
        jw_end_object(&w);
        s += n;
    }
    jw_end_array(&w);
    jw_end_object(&w);
    bool fine = goes_on(e, e->sink->plan(e->sink->arg, b.data));
    buf_release(&b);
    return fine;
}

static bool command_usage(speech *e, const char *rest)
{
    int64_t *to[] = {&e->usage.input, &e->usage.output, &e->usage.cached};
    for (size_t i = 0; i < 3; i++) {
        int64_t v = number_take(&rest, 999999999);
        *to[i] = v < 0 ? 0 : v;
    }
    e->usage_given = true;
    return true;
}

/* Writes the numbers from 1 on, so that a lost or duplicated word is noticed. */
static bool command_count(speech *e, const char *rest)
{
    int64_t max = number_take(&rest, MAX_COUNT);
    buf b;
    buf_init(&b, 8 * MAX_COUNT);
    for (int64_t i = 1; i <= max; i++)
        buf_printf(&b, i > 1 ? " %lld" : "%lld", (long long)i);
    bool on = speak(e, b.data);
    buf_release(&b);
    return on;
}

/* Writes the history it got, for tests and curious users. */
static bool command_history(speech *e, const char *rest)
{
    (void)rest;
    for (size_t i = 0; i < e->turn->n; i++) {
        const ramet_entry *it = &e->turn->history[i];
        if (!speak(e, arena_printf(e->arena, "%s: %s", ramet_role_name(it->role), it->text)))
            return false;
    }
    return true;
}

static const struct command {
    const char *name;
    bool (*run)(speech *e, const char *rest);
} commands[] = {
    {"/think", command_think},     {"/tool", command_tool},   {"/fail", command_fail},
    {"/slow", command_slow},       {"/ask", command_ask},     {"/permit", command_permit},
    {"/plan", command_plan},       {"/usage", command_usage}, {"/count", command_count},
    {"/history", command_history},
};

static const struct command *command_find(const char *line)
{
    size_t n = strcspn(line, " \t\r\n");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strlen(commands[i].name) == n && memcmp(commands[i].name, line, n) == 0)
            return &commands[i];
    return NULL;
}

/* ------------------------------------------------------------------ a run */

/* Executes the commands at the start of a message; *text is the rest. */
static bool commands_run(speech *e, const char **text)
{
    const struct command *c;
    while ((c = command_find(*text))) {
        size_t n = strcspn(*text, "\r\n");
        const char *line = arena_memdup(e->arena, *text, n);
        line += strlen(c->name);
        *text += n;
        *text += **text == '\r';
        *text += **text == '\n';
        if (!c->run(e, line + strspn(line, " \t")))
            return false;
    }
    return true;
}

static bool settings_obey(speech *e, const agent *a)
{
    const char *think = agent_get(a, "think"), *tool = agent_get(a, "tool");
    return (!*think || say(e, e->sink->thinking, think)) && (!*tool || command_tool(e, tool));
}

static const char *question_text(const agent_turn *t)
{
    for (size_t i = t->n; i-- > 0;)
        if (t->history[i].role == RAMET_USER)
            return t->history[i].text;
    return "";
}

static bool speech_hold(speech *e, const agent *a)
{
    const char *text = question_text(e->turn);
    if (!settings_obey(e, a) || !commands_run(e, &text))
        return false;
    if (text[0] == '/' && text[1] == '/')
        text++;
    if (!speak(e, text) || (e->owed && !speak(e, e->owed)))
        return false;
    return e->left < 0 || fail_as_configured(e);
}

/* What an endpoint would be sent, as far as echo has it. */
static void echo_messages(const ramet_entry *history, size_t n, const char *instructions,
                          json_writer *w)
{
    (void)instructions;
    jw_array(w);
    for (size_t i = 0; i < n; i++) {
        jw_object(w);
        jw_kstr(w, "role", ramet_role_name(history[i].role));
        jw_kstr(w, "content", history[i].text);
        jw_end_object(w);
    }
    jw_end_array(w);
}

static void prompt_tell(const agent_turn *t, const agent_sink *s)
{
    buf out;
    json_writer w;
    buf_init(&out, PROMPT_BYTES);
    jw_init(&w, &out, 0);
    echo_messages(t->history, t->n, "", &w);
    if (!out.over)
        agent_sent(s, &(agent_prompt){"", "{}", out.data, true});
    buf_release(&out);
}

static void echo_run(agent *a, const agent_turn *t, const agent_sink *s, agent_result *out)
{
    const echo *own = a->own;
    speech e = {.arena = arena_new(),
                .turn = t,
                .sink = s,
                .out = out,
                .delay_ms = own->delay_ms,
                .left = own->fail_after};
    *out = (agent_result){.end = AGENT_DONE};
    prompt_tell(t, s);
    speech_hold(&e, a);
    if (!e.usage_given) {
        for (size_t i = 0; i < t->n; i++)
            e.usage.input += words_count(t->history[i].text);
        e.usage.output = e.spoken;
    }
    if (out->end != AGENT_CANCELLED)
        goes_on(&e, s->usage(s->arg, &e.usage));
    arena_free(e.arena);
}

static bool echo_open(agent *a, char *message)
{
    echo *own = xcalloc(1, sizeof *own);
    own->fail_after = -1;
    if (agent_number(a, "context", 0, AGENT_MAX_CONTEXT, &(int64_t){0}, message) &&
        agent_number(a, "delay_ms", 0, MAX_DELAY_MS, &own->delay_ms, message) &&
        (!*agent_get(a, "fail_after") ||
         agent_number(a, "fail_after", 0, MAX_COUNT, &own->fail_after, message))) {
        a->own = own;
        return true;
    }
    free(own);
    return false;
}

static void echo_close(agent *a)
{
    free(a->own);
}

const agent_kind agent_echo = {
    .name = "echo",
    .about = "repeats the message word by word; needs no model",
    .settings = settings,
    .open = echo_open,
    .close = echo_close,
    .run = echo_run,
    .messages = echo_messages,
};
