/* SPDX-License-Identifier: Apache-2.0
 *
 * terminal.c: commands that a program asks Ramet to run for it (terminal/…). Each has a thread that
 * reads its output, keeps the last bytes of it, and waits for its exit. The exit of the command
 * ends the terminal and any processes it left running in its session.
 */
#include "agent/acp/acp.h"

#include "base/util.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TERMINALS = 32,
    OUTPUT_BYTES = 1 << 20,
    MAX_OUTPUT_BYTES = 8 << 20,
    MAX_ARGV = 1024,
    WAITERS = 16
};

/* Guarded by the agent's lock. Only the terminal's thread reads from `child` and ends it. */
struct terminal {
    terminal *next;
    program *of;
    char id[32];
    char *session; /* the program's session id */
    child child;
    pthread_t thread;
    char *output;
    size_t n, limit;
    bool truncated;
    bool exited; /* all output was read, and `status` is set */
    int status;
    char *waits[WAITERS]; /* raw ids of requests that wait for the exit */
    size_t n_waits;
};

/* ------------------------------------------------------------------ answers */

static void answer(program *p, arena *a, const char *id, const char *result)
{
    program_say(p, arena_printf(a, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}", id, result));
}

static void refuse(program *p, arena *a, const message *m, int code, const char *text)
{
    program_say(
        p, arena_printf(a, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d,\"message\":%s}}",
                        m->id_raw, code, json_quote(a, text)));
}

static const char *status_text(arena *a, int status)
{
    if (WIFSIGNALED(status))
        return arena_printf(a, "{\"exitCode\":null,\"signal\":\"SIG%s\"}",
                            sigabbrev_np(WTERMSIG(status)) ? sigabbrev_np(WTERMSIG(status)) : "?");
    return arena_printf(a, "{\"exitCode\":%d,\"signal\":null}", WEXITSTATUS(status));
}

/* ------------------------------------------------------------------ its thread */

/* Keeps the newest bytes, beginning with a whole character. */
static void output_add(terminal *t, const char *bytes, size_t n)
{
    t->output = xrealloc(t->output, t->n + n + 1);
    memcpy(t->output + t->n, bytes, n);
    t->n += n;
    if (t->n <= t->limit)
        return;
    size_t from = t->n - t->limit;
    while (from < t->n && ((unsigned char)t->output[from] & 0xc0) == 0x80)
        from++;
    memmove(t->output, t->output + from, t->n - from);
    t->n -= from;
    t->truncated = true;
}

static void output_read(terminal *t, size_t max)
{
    char part[1 << 14];
    ssize_t got = read(t->child.out, part, max < sizeof part ? max : sizeof part);
    if (got <= 0)
        return;
    pthread_mutex_lock(&t->of->own->lock);
    output_add(t, part, (size_t)got);
    pthread_mutex_unlock(&t->of->own->lock);
}

/* Reads until the command has exited: a process that it left behind may keep the output open and
 * continue to write. */
static void output_follow(terminal *t)
{
    struct pollfd f[2] = {{.fd = t->child.out, .events = POLLIN},
                          {.fd = t->child.exit_fd, .events = POLLIN}};
    while (!f[1].revents) {
        if (poll(f, 2, -1) <= 0)
            continue;
        if (f[0].revents & POLLIN)
            output_read(t, SIZE_MAX);
        else if (f[0].revents)
            f[0].fd = -1; /* closed: only its exit is left to wait for */
    }
    int left = 0;
    if (f[0].fd < 0 || ioctl(f[0].fd, FIONREAD, &left) != 0)
        return;
    for (size_t rest = (size_t)left, before; rest; rest -= before) {
        before = rest < 1 << 14 ? rest : 1 << 14;
        output_read(t, before);
    }
}

static void *terminal_main(void *arg)
{
    terminal *t = arg;
    arena *a = arena_new();
    char *waits[WAITERS];
    output_follow(t);
    pthread_mutex_lock(&t->of->own->lock);
    child_over(&t->child);
    child done = t->child;
    t->child = (child)CHILD_NONE;
    t->exited = true;
    t->status = done.status;
    size_t n = t->n_waits;
    memcpy(waits, t->waits, sizeof waits);
    t->n_waits = 0;
    pthread_mutex_unlock(&t->of->own->lock);
    const char *status = status_text(a, done.status);
    for (size_t i = 0; i < n; i++) {
        answer(t->of, a, waits[i], status);
        free(waits[i]);
    }
    child_stop(&done, 0, 0);
    arena_free(a);
    return NULL;
}

/* ------------------------------------------------------------------ beginning and end */

/* The strings of an array, after `first`, ending with NULL. NULL: not strings, or too many. */
static char **argv_make(const message *m, const json_node *list, const char *first)
{
    char **out = arena_array(m->arena, MAX_ARGV + 2, sizeof *out);
    size_t n = 0;
    out[n++] = arena_strdup(m->arena, first);
    for (const json_node *v = json_is(list, JSON_ARRAY) ? json_first(&m->doc, list) : NULL; v;
         v = json_next(&m->doc, list, v)) {
        const char *text = json_text(m->arena, &m->doc, v);
        if (!text || n > MAX_ARGV)
            return NULL;
        out[n++] = arena_strdup(m->arena, text);
    }
    out[n] = NULL;
    return out;
}

/* The program's own environment with the variables it asks for. */
static char **environment_of(const program *p, const message *m, const json_node *list)
{
    size_t n = 0;
    char **more = arena_array(m->arena, (list ? list->count : 0) + 1, sizeof *more);
    for (const json_node *v = json_is(list, JSON_ARRAY) ? json_first(&m->doc, list) : NULL; v;
         v = json_next(&m->doc, list, v)) {
        const char *name = message_text(m, v, "name"), *value = message_text(m, v, "value");
        if (name && *name && value && !strchr(name, '='))
            more[n++] = arena_printf(m->arena, "%s=%s", name, value);
    }
    return env_join(m->arena, p->own->env, more, n);
}

static size_t terminals_count(const program *p)
{
    size_t n = 0;
    for (const terminal *t = p->terminals; t; t = t->next)
        n++;
    return n;
}

static void create(program *p, arena *a, const message *m, const char *folder)
{
    const char *command = message_text(m, m->params, "command");
    const char *cwd = message_text(m, m->params, "cwd");
    char **argv = command ? argv_make(m, message_at(m, m->params, "args"), command) : NULL;
    int64_t limit = OUTPUT_BYTES;
    json_int(&m->doc, message_at(m, m->params, "outputByteLimit"), &limit);
    if (!argv || (cwd && !path_within(cwd, folder))) {
        refuse(p, a, m, JSONRPC_PARAMS,
               argv ? "cwd is not in the session's folder" : "command or args are wrong");
        return;
    }
    terminal *t = xcalloc(1, sizeof *t);
    t->of = p;
    t->limit = limit < 1 ? 1 : limit > MAX_OUTPUT_BYTES ? MAX_OUTPUT_BYTES : (size_t)limit;
    child_how how = {.argv = argv,
                     .folder = cwd ? cwd : folder,
                     .env = environment_of(p, m, message_at(m, m->params, "env")),
                     .merges = true};
    pthread_mutex_lock(&p->own->lock);
    bool room = terminals_count(p) < TERMINALS;
    bool started = room && child_start_as(&t->child, &how);
    if (started) {
        close(t->child.in);
        t->child.in = -1;
        t->session = xstrdup(m->session);
        snprintf(t->id, sizeof t->id, "terminal-%llu", ++p->last_id);
        t->next = p->terminals;
        p->terminals = t;
        if (pthread_create(&t->thread, NULL, terminal_main, t) != 0)
            abort();
    }
    const char *id = arena_strdup(a, t->id);
    pthread_mutex_unlock(&p->own->lock);
    if (started) {
        answer(p, a, m->id_raw, arena_printf(a, "{\"terminalId\":%s}", json_quote(a, id)));
        return;
    }
    free(t);
    refuse(p, a, m, room ? JSONRPC_INTERNAL : JSONRPC_INVALID,
           room ? "the command cannot be started" : "there are too many terminals");
}

static void terminal_free(terminal *t)
{
    pthread_join(t->thread, NULL);
    free(t->session);
    free(t->output);
    free(t);
}

void terminals_stop(program *p)
{
    pthread_mutex_lock(&p->own->lock);
    terminal *all = p->terminals;
    p->terminals = NULL;
    for (const terminal *t = all; t; t = t->next)
        child_kill(&t->child);
    pthread_mutex_unlock(&p->own->lock);
    while (all) {
        terminal *next = all->next;
        terminal_free(all);
        all = next;
    }
}

/* ------------------------------------------------------------------ requests */

/* Caller holds the lock. */
static terminal **terminal_find(program *p, const message *m)
{
    const char *id = message_text(m, m->params, "terminalId");
    terminal **at = &p->terminals;
    while (*at && (!id || strcmp((*at)->id, id) != 0 || strcmp((*at)->session, m->session) != 0))
        at = &(*at)->next;
    return at;
}

/* Bytes that are not UTF-8 become U+FFFD. */
static const char *output_text(arena *a, const terminal *t)
{
    buf b;
    buf_init(&b, t->n * 3 + 16);
    for (size_t i = 0; i < t->n;) {
        uint32_t sign;
        size_t n = t->output[i] ? utf8_next(t->output + i, t->n - i, &sign) : 0;
        buf_add(&b, n ? t->output + i : "\xEF\xBF\xBD", n ? n : 3);
        i += n ? n : 1;
    }
    return buf_keep(&b, a);
}

/* The immediate answer; NULL: the request waits. Caller holds the lock. */
static const char *terminal_do(terminal *t, arena *a, const message *m, const char *what)
{
    const char *status = t->exited ? status_text(a, t->status) : NULL;
    if (strcmp(what, "output") == 0)
        return arena_printf(a, "{\"output\":%s,\"truncated\":%s%s%s}",
                            json_quote(a, output_text(a, t)), t->truncated ? "true" : "false",
                            status ? ",\"exitStatus\":" : "", status ? status : "");
    if (strcmp(what, "wait_for_exit") == 0) {
        if (status || t->n_waits == WAITERS)
            return status ? status : "{}";
        t->waits[t->n_waits++] = xstrdup(m->id_raw);
        return NULL;
    }
    child_kill(&t->child);
    return "{}";
}

void terminal_request(program *p, arena *a, const message *m, const char *folder)
{
    static const char *const all[] = {"output", "wait_for_exit", "kill", "release"};
    const char *what = m->method + strlen("terminal/");
    bool known = false;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        known |= strcmp(all[i], what) == 0;
    if (!p->own->terminals || (!known && strcmp(what, "create") != 0)) {
        refuse(p, a, m, JSONRPC_NO_METHOD, "Method not found");
        return;
    }
    if (!known) {
        create(p, a, m, folder);
        return;
    }
    pthread_mutex_lock(&p->own->lock);
    terminal **at = terminal_find(p, m), *t = *at;
    bool release = t && strcmp(what, "release") == 0;
    const char *result = t ? terminal_do(t, a, m, what) : NULL;
    if (release)
        *at = t->next;
    pthread_mutex_unlock(&p->own->lock);
    if (!t)
        refuse(p, a, m, JSONRPC_NOT_FOUND, "no such terminal");
    else if (result)
        answer(p, a, m->id_raw, result);
    if (release)
        terminal_free(t);
}
