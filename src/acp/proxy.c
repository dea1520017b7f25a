/* SPDX-License-Identifier: Apache-2.0
 *
 * proxy.c: the main loop between the editor and the agent, and the output to both.
 */
#include "acp/own.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    IDLE_MS = 1000,
    EOF_MS = 2000,
    TERM_MS = 3000,
    QUEUE_MAX = 32 << 20 /* bytes queued for one side before the other is no longer read */
};

void complain(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fputs("ramet acp: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
}

const char *store_error(proxy *p)
{
    return p->lib->ramet_call_error(p->call)->message;
}

const char *data_session(proxy *p, const char *outer)
{
    return arena_printf(p->mem, "{\"sessionId\":%s}", json_quote(p->mem, outer ? outer : ""));
}

/* ------------------------------------------------------------------ what goes out */

void editor_put(proxy *p, const char *line, size_t n)
{
    lines_add(&p->to_editor, line, n);
    lines_end(&p->to_editor);
}

void editor_answer(proxy *p, const char *id, const char *result)
{
    const char *head = arena_printf(p->mem, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":", id);
    lines_add(&p->to_editor, head, strlen(head));
    lines_add(&p->to_editor, result, strlen(result));
    lines_add(&p->to_editor, "}", 1);
    lines_end(&p->to_editor);
}

void editor_error(proxy *p, const char *id, int code, const char *text, const char *data)
{
    const char *line = arena_printf(
        p->mem, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d,\"message\":%s%s%s}}", id,
        code, json_quote(p->mem, text), data ? ",\"data\":" : "", data ? data : "");
    editor_put(p, line, strlen(line));
}

void editor_update(proxy *p, const char *outer, const char *update)
{
    const char *head = arena_printf(p->mem,
                                    "{\"jsonrpc\":\"2.0\",\"method\":\"session/"
                                    "update\",\"params\":{\"sessionId\":%s,\"update\":",
                                    json_quote(p->mem, outer));
    lines_add(&p->to_editor, head, strlen(head));
    lines_add(&p->to_editor, update, strlen(update));
    lines_add(&p->to_editor, "}}", 2);
    lines_end(&p->to_editor);
}

void agent_put(proxy *p, const char *line, size_t n)
{
    if (p->conducts) {
        conduct_put(p, line, n);
        return;
    }
    lines_add(&p->to_agent, line, n);
    lines_end(&p->to_agent);
}

void agent_notify(proxy *p, const char *method, const char *params)
{
    const char *line = arena_printf(p->mem, "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":%s}",
                                    method, params);
    agent_put(p, line, strlen(line));
}

/* ------------------------------------------------------------------ open requests */

asked *ask_note(proxy *p, const char *id, ask_kind kind, const char *outer)
{
    asked *a = xcalloc(1, sizeof *a);
    a->id = xstrdup(id);
    a->kind = kind;
    a->outer = xstrdup(outer);
    a->next = p->asked;
    p->asked = a;
    return a;
}

asked *ask_find(proxy *p, const char *id)
{
    for (asked *a = p->asked; a; a = a->next)
        if (strcmp(a->id, id) == 0)
            return a;
    return NULL;
}

void ask_drop(proxy *p, asked *a)
{
    asked **at = &p->asked;
    while (*at && *at != a)
        at = &(*at)->next;
    if (*at)
        *at = a->next;
    free(a->id);
    free(a->outer);
    free(a->line);
    free(a);
}

bool opening(const proxy *p)
{
    for (const asked *a = p->asked; a; a = a->next)
        if (a->kind == ASK_NEW)
            return true;
    return p->flows != NULL;
}

/* ------------------------------------------------------------------ the end */

/* Answers every open request, and ends every turn. */
static void agent_gone(proxy *p, const char *why)
{
    for (session *s = p->sessions; s; s = s->next)
        if (s->turn && !turn_end(p, s, turn_asked(s->turn) ? "interrupted" : NULL, NULL))
            complain("the last turn of %s could not be recorded: %s", s->outer, store_error(p));
    while (p->flows) {
        flow *f = p->flows;
        f->slash = false;
        flow_fail(p, f, JSONRPC_INTERNAL, why, NULL);
    }
    while (p->asked) {
        if (!p->asked->flow && strncmp(p->asked->id, "\"" OWN_ID, sizeof OWN_ID) != 0)
            editor_error(p, p->asked->id,
                         p->asked->cancelled ? JSONRPC_CANCELLED : JSONRPC_INTERNAL, why, NULL);
        ask_drop(p, p->asked);
    }
}

/* Ends turns that no prompt waits for; `all`: every turn. */
static void idle(proxy *p, bool all)
{
    for (session *s = p->sessions; s; s = s->next)
        if (s->turn && (all || !turn_asked(s->turn)) &&
            !turn_end(p, s, turn_asked(s->turn) ? "interrupted" : NULL, NULL))
            complain("a part of %s could not be recorded: %s", s->outer, store_error(p));
    p->lib->ramet_call_reset(p->call);
    arena_reset(p->mem);
}

static void lines_take(proxy *p, lines_in *in, void (*handle)(proxy *p, char *line, size_t n))
{
    char *line;
    size_t n;
    line_kind kind;
    while ((kind = lines_next(in, &line, &n)) != LINE_NONE) {
        if (kind == LINE_WHOLE)
            handle(p, line, n);
        else if (in == &p->from_editor)
            editor_error(p, "null", JSONRPC_INVALID, "the line is longer than 64 MiB", NULL);
        else
            complain("the agent sent a line of more than 64 MiB; it is left out");
        p->lib->ramet_call_reset(p->call);
        arena_reset(p->mem);
    }
}

/* ------------------------------------------------------------------ the loop */

static volatile sig_atomic_t stop_requested;
static void on_end(int signal_no)
{
    (void)signal_no;
    stop_requested = 1;
}

/* Waits once and handles what arrived; false: the loop ends. */
static bool turn_round(proxy *p)
{
    struct pollfd f[5] = {
        {.fd = p->from_editor.fd, .events = lines_left(&p->to_agent) < QUEUE_MAX ? POLLIN : 0},
        {.fd = p->from_agent.fd, .events = lines_left(&p->to_editor) < QUEUE_MAX ? POLLIN : 0},
        {.fd = lines_left(&p->to_editor) ? p->to_editor.fd : -1, .events = POLLOUT},
        {.fd = lines_left(&p->to_agent) ? p->to_agent.fd : -1, .events = POLLOUT},
        {.fd = p->agent.exit_fd, .events = POLLIN},
    };
    int n = poll(f, 5, IDLE_MS);
    if (stop_requested)
        return false;
    if (n == 0)
        idle(p, false);
    if (n <= 0)
        return true;
    if (f[2].revents)
        lines_write(&p->to_editor);
    if (f[3].revents)
        lines_write(&p->to_agent);
    if (f[1].revents || f[4].revents) {
        if (f[4].revents)
            lines_read_rest(&p->from_agent);
        else
            lines_read(&p->from_agent);
        lines_take(p, &p->from_agent, agent_receive);
    }
    if (f[0].revents) {
        lines_read(&p->from_editor);
        lines_take(p, &p->from_editor, p->conducts ? conduct_receive : editor_receive);
    }
    return !p->from_editor.ended && !p->from_agent.ended && !p->to_editor.broken;
}

/* Sends what is still queued for the editor. */
static void drain(proxy *p)
{
    int64_t until = time_mono_us() + 2000000;
    while (lines_left(&p->to_editor) && time_mono_us() < until) {
        struct pollfd f = {.fd = p->to_editor.fd, .events = POLLOUT};
        if (poll(&f, 1, 100) > 0)
            lines_write(&p->to_editor);
    }
}

static int ended_how(const child *c)
{
    return !c->ended                ? 0
           : WIFSIGNALED(c->status) ? 128 + WTERMSIG(c->status)
                                    : WEXITSTATUS(c->status);
}

/* The agent has closed its end: it has exited, or is about to. */
static int agent_left(proxy *p)
{
    for (int i = 0; i < 100 && !child_over(&p->agent); i++)
        poll(NULL, 0, 10);
    int code = ended_how(&p->agent);
    const char *why = arena_printf(p->mem, "the agent ended with exit code %d", code);
    complain("%s", why);
    agent_gone(p, why);
    return code ? code : 1;
}

static void proxy_free(proxy *p)
{
    while (p->flows) {
        free(p->flows->id);
        p->flows->id = NULL;
        flow_end(p, p->flows);
    }
    while (p->asked)
        ask_drop(p, p->asked);
    while (p->sessions)
        session_drop(p, p->sessions);
    waiting_flush(p);
    for (ids *t = p->trees; t;) {
        ids *next = t->next;
        free(t->tree);
        free(t->slots);
        free(t);
        t = next;
    }
    free(p->closed.slots);
    lines_in_release(&p->from_agent);
    lines_in_release(&p->from_editor);
    lines_out_release(&p->to_agent);
    lines_out_release(&p->to_editor);
    p->lib->ramet_call_free(p->call);
    arena_free(p->mem);
}

static void signals_set(void)
{
    struct sigaction end = {.sa_handler = on_end};
    signal(SIGPIPE, SIG_IGN);
    sigaction(SIGTERM, &end, NULL);
    sigaction(SIGINT, &end, NULL);
    sigaction(SIGHUP, &end, NULL);
}

int acp_proxy_run(const acp_options *o)
{
    proxy p = {.options = o, .lib = o->lib, .agent = CHILD_NONE, .conducts = !o->agent};
    int code = 0;
    signals_set();
    if (o->agent && !child_start(&p.agent, o->agent, NULL)) {
        complain("'%s' cannot be started: %s", o->agent[0], strerror(errno));
        return 127;
    }
    p.mem = arena_new();
    p.call = o->lib->ramet_call_new(o->store, o->user, "ramet-acp");
    p.waiting_end = &p.waiting;
    lines_in_init(&p.from_editor, STDIN_FILENO, ACP_LINE_MAX);
    lines_out_init(&p.to_editor, STDOUT_FILENO);
    if (o->agent) {
        lines_in_init(&p.from_agent, p.agent.out, ACP_LINE_MAX);
        lines_out_init(&p.to_agent, p.agent.in);
    } else {
        p.from_agent.fd = p.to_agent.fd = -1;
    }
    while (turn_round(&p))
        ;
    if (p.from_agent.ended)
        code = agent_left(&p);
    idle(&p, true);
    drain(&p);
    child_stop(&p.agent, EOF_MS, TERM_MS);
    proxy_free(&p);
    return code;
}
