/* SPDX-License-Identifier: Apache-2.0
 *
 * program.c: the life cycle of a program that speaks ACP; acp.h describes its states and
 * invariants.
 */
#include "agent/acp/acp.h"

#include "base/util.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    HELLO_MS = 60000,      /* to wait for the answer to `initialize` */
    EOF_MS = 2000,         /* from the end of its input to SIGTERM */
    TERM_MS = 3000,        /* from there to SIGKILL */
    EXIT_MS = 1000,        /* from the end of its output to its exit, which gives a better reason */
    CANCEL_POLL_MS = 100,  /* how long a cancelled turn may keep waiting */
    QUEUE_MAX = 256 << 20, /* most bytes queued for a program that does not read */
};

#define HELLO_ID "0" /* for `initialize`; requests of turns count from 1 */

/* ------------------------------------------------------------------ states */

static void program_wake(const program *p)
{
    ssize_t put = write(p->wake, &(uint64_t){1}, sizeof(uint64_t));
    (void)put; /* fails only if many wake-ups are pending already */
}

/* Changes the state; no other function does. Caller holds the lock. */
static void program_move(program *p, program_state to)
{
    assert(to == PROGRAM_READY ? p->state == PROGRAM_STARTING : p->state != PROGRAM_ENDING);
    p->state = to;
    pthread_cond_broadcast(&p->own->some);
    program_wake(p);
}

/* Ends a program for a reason, unless it is ending already. Caller holds the lock. */
static void program_end(program *p, const char *why)
{
    if (p->state == PROGRAM_ENDING)
        return;
    snprintf(p->why, sizeof p->why, "%s", why);
    program_move(p, PROGRAM_ENDING);
}

/* The same; takes the lock itself. */
static void program_give_up(program *p, const char *why)
{
    pthread_mutex_lock(&p->own->lock);
    program_end(p, why);
    pthread_mutex_unlock(&p->own->lock);
}

bool program_ended(program *p, char *why, size_t n)
{
    pthread_mutex_lock(&p->own->lock);
    bool ended = p->state == PROGRAM_ENDING;
    if (ended)
        snprintf(why, n, "%s", p->why);
    pthread_mutex_unlock(&p->own->lock);
    return ended;
}

/* ------------------------------------------------------------------ lines */

static void line_give(acp *own, inbox *l, const char *text, size_t n)
{
    inbox_line *h = xcalloc(1, sizeof *h);
    h->text = xmalloc(n + 1);
    memcpy(h->text, text, n);
    h->text[n] = 0;
    h->n = n;
    *l->last = h;
    l->last = &h->next;
    pthread_cond_broadcast(&own->some);
}

/* The inbox a line is for. Caller holds the lock. */
static inbox *line_for(program *p, const message *m)
{
    for (inbox *l = p->inboxes; l; l = l->next) {
        if (!m->method && m->id_raw && strcmp(l->asked, m->id_raw) == 0)
            return l;
        if (m->method && m->session && l->inner && strcmp(l->inner, m->session) == 0)
            return l;
    }
    return NULL;
}

static bool prompt_takes(const message *m, const char *capability)
{
    return json_is(
        message_at(m, m->result,
                   arena_printf(m->arena, "agentCapabilities.promptCapabilities.%s", capability)),
        JSON_TRUE);
}

/* Reads the answer to `initialize`. Caller holds the lock. */
static void hello_receive(program *p, const message *m)
{
    char why[200];
    const char *text = m->error ? message_text(m, m->error, "message") : NULL;
    if (!m->result) {
        snprintf(why, sizeof why, "the agent's program refused to start: %.120s",
                 text ? text : "it did not say why");
        program_end(p, why);
        return;
    }
    p->takes_images = prompt_takes(m, "image");
    p->takes_sounds = prompt_takes(m, "audio");
    p->takes_files = prompt_takes(m, "embeddedContext");
    p->due = time_mono_us() + p->own->idle_us;
    program_move(p, PROGRAM_READY);
}

static void line_receive(program *p, arena *a, char *line, size_t n)
{
    message m;
    if (message_read(&m, a, line, n) != MESSAGE_FINE)
        return;
    pthread_mutex_lock(&p->own->lock);
    inbox *l = line_for(p, &m);
    if (l)
        line_give(p->own, l, line, n);
    else if (p->state == PROGRAM_STARTING && !m.method && m.id_raw &&
             strcmp(m.id_raw, HELLO_ID) == 0)
        hello_receive(p, &m);
    pthread_mutex_unlock(&p->own->lock);
    if (!l && m.method && m.id_raw) /* otherwise it would wait for ever */
        program_say(p, arena_printf(a,
                                    "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d,"
                                    "\"message\":\"nobody is there to answer\"}}",
                                    m.id_raw, JSONRPC_INTERNAL));
}

void inbox_add(acp *own, program *p, inbox *l)
{
    *l = (inbox){0};
    l->last = &l->first;
    pthread_mutex_lock(&own->lock);
    l->next = p->inboxes;
    p->inboxes = l;
    pthread_mutex_unlock(&own->lock);
}

void inbox_remove(acp *own, program *p, inbox *l)
{
    pthread_mutex_lock(&own->lock);
    inbox **at = &p->inboxes;
    while (*at != l)
        at = &(*at)->next;
    *at = l->next;
    pthread_mutex_unlock(&own->lock);
    while (l->first) {
        inbox_line *h = l->first;
        l->first = h->next;
        free(h->text);
        free(h);
    }
    free(l->inner);
}

char *inbox_next(acp *own, program *p, inbox *l, int ms, size_t *n)
{
    struct timespec until = time_after((int64_t)ms * 1000);
    char *text = NULL;
    pthread_mutex_lock(&own->lock);
    while (!l->first && p->state != PROGRAM_ENDING &&
           pthread_cond_timedwait(&own->some, &own->lock, &until) != ETIMEDOUT)
        ;
    inbox_line *h = l->first;
    if (h) {
        l->first = h->next;
        if (!h->next)
            l->last = &l->first;
        text = h->text;
        *n = h->n;
    }
    pthread_mutex_unlock(&own->lock);
    free(h);
    return text;
}

void program_say(program *p, const char *line)
{
    pthread_mutex_lock(&p->saying);
    lines_add(&p->to, line, strlen(line));
    lines_end(&p->to);
    size_t left = lines_left(&p->to);
    pthread_mutex_unlock(&p->saying);
    if (left)
        program_wake(p);
    if (left > QUEUE_MAX)
        program_give_up(p, "the agent's program does not read what it is sent");
}

void program_ask(acp *own, program *p, inbox *l, const char *method, const char *params)
{
    buf b;
    pthread_mutex_lock(&own->lock);
    snprintf(l->asked, sizeof l->asked, "%llu", ++p->last_id);
    pthread_mutex_unlock(&own->lock);
    buf_init(&b, 2 * ACP_LINE_MAX);
    buf_printf(&b, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"%s\",\"params\":", l->asked,
               method);
    buf_puts(&b, params);
    buf_putc(&b, '}');
    program_say(p, b.data);
    buf_release(&b);
}

/* ------------------------------------------------------------------ its thread */

/* Writes what the program accepts now; returns whether anything is left. */
static bool queue_write(program *p)
{
    uint64_t count;
    while (read(p->wake, &count, sizeof count) > 0)
        ;
    pthread_mutex_lock(&p->saying);
    lines_write(&p->to);
    bool left = lines_left(&p->to) > 0;
    pthread_mutex_unlock(&p->saying);
    return left;
}

/* How long to wait in ms, -1: until something happens. Ends a program whose deadline has passed;
 * false: it is ENDING. */
static bool time_left(program *p, int *ms)
{
    int64_t now = time_mono_us();
    pthread_mutex_lock(&p->own->lock);
    bool bounded = p->state == PROGRAM_STARTING || !p->users;
    if (bounded && now >= p->due)
        program_end(p, p->state == PROGRAM_READY
                           ? "the agent's program was not used any more"
                           : "the agent's program did not answer `initialize` within 60 s");
    *ms = bounded ? (int)((p->due - now) / 1000 + 1) : -1;
    bool on = p->state != PROGRAM_ENDING;
    pthread_mutex_unlock(&p->own->lock);
    return on;
}

/* The output has ended, or the process has exited: records how. */
static void exit_report(program *p)
{
    char why[160];
    poll(&(struct pollfd){.fd = p->child.exit_fd, .events = POLLIN}, 1, EXIT_MS);
    if (!child_over(&p->child))
        snprintf(why, sizeof why, "the agent's program has closed its output");
    else if (WIFSIGNALED(p->child.status))
        snprintf(why, sizeof why, "the agent's program has ended: it was killed by SIG%s",
                 sigabbrev_np(WTERMSIG(p->child.status)));
    else
        snprintf(why, sizeof why, "the agent's program has ended with exit code %d",
                 WEXITSTATUS(p->child.status));
    program_give_up(p, why);
}

/* Reads and writes until the program is ENDING. */
static void program_serve(program *p)
{
    lines_in in;
    arena *a = arena_new();
    char *line;
    size_t n;
    int ms;
    line_kind kind;
    lines_in_init(&in, p->child.out, ACP_LINE_MAX);
    while (time_left(p, &ms)) {
        struct pollfd f[4] = {{.fd = in.fd, .events = POLLIN},
                              {.fd = p->child.exit_fd, .events = POLLIN},
                              {.fd = p->wake, .events = POLLIN},
                              {.fd = queue_write(p) ? p->child.in : -1, .events = POLLOUT}};
        if (poll(f, 4, ms) <= 0 || !(f[0].revents || f[1].revents))
            continue;
        if (f[1].revents)
            lines_read_rest(&in);
        else
            lines_read(&in);
        while ((kind = lines_next(&in, &line, &n)) != LINE_NONE) {
            if (kind == LINE_WHOLE)
                line_receive(p, a, line, n);
            arena_reset(a);
        }
        if (in.ended)
            exit_report(p);
    }
    lines_in_release(&in);
    arena_free(a);
}

/* Starts the process and sends `initialize`. */
static bool program_start(program *p)
{
    const acp *own = p->own;
    char text[400];
    child_how how = {.argv = own->argv, .folder = p->folder, .env = own->env};
    if (!child_start_as(&p->child, &how)) {
        snprintf(text, sizeof text, "'%.60s' cannot be started in %.120s: %s", own->argv[0],
                 p->folder, strerror(errno));
        program_give_up(p, text);
        return false;
    }
    lines_out_init(&p->to, p->child.in);
    snprintf(text, sizeof text,
             "{\"jsonrpc\":\"2.0\",\"id\":" HELLO_ID ",\"method\":\"initialize\",\"params\":{"
             "\"protocolVersion\":1,\"clientCapabilities\":{\"fs\":{\"readTextFile\":%s,"
             "\"writeTextFile\":%s},\"terminal\":%s},\"clientInfo\":{\"name\":\"ramet\","
             "\"version\":\"" RAMET_VERSION "\"}}}",
             own->reads ? "true" : "false", own->writes ? "true" : "false",
             own->terminals ? "true" : "false");
    program_say(p, text);
    return true;
}

/* Waits until no turn uses the program, and removes it from the list. The agent may be freed as
 * soon as the lock is released. */
static void program_free(program *p)
{
    acp *own = p->own;
    pthread_mutex_lock(&own->lock);
    while (p->users)
        pthread_cond_wait(&own->some, &own->lock);
    program **at = &own->programs;
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    own->n_programs--;
    for (held **h = &own->held; *h;) {
        held *old = *h;
        if (old->in != p) {
            h = &old->next;
            continue;
        }
        *h = old->next;
        held_free(old);
    }
    pthread_mutex_destroy(&p->saying);
    lines_out_release(&p->to);
    close(p->wake);
    free(p->folder);
    free(p);
    pthread_cond_broadcast(&own->some);
    pthread_mutex_unlock(&own->lock);
}

static void *program_main(void *arg)
{
    program *p = arg;
    if (program_start(p)) {
        program_serve(p);
        terminals_stop(p);
        pthread_mutex_lock(&p->saying);
        p->to.broken = true; /* its descriptor is closed below */
        pthread_mutex_unlock(&p->saying);
        child_stop(&p->child, p->child.ended ? 0 : EOF_MS, TERM_MS);
    }
    program_free(p);
    return NULL;
}

/* ------------------------------------------------------------------ turns */

void held_free(held *h)
{
    free(h->session);
    free(h->inner);
    free(h->turn);
    free(h->setup);
    free(h->model_option);
    free(h);
}

/* Releases the lock until something has changed; false: the turn is cancelled. */
static bool change_wait(acp *own, const agent_sink *s)
{
    struct timespec until = time_after(CANCEL_POLL_MS * 1000);
    pthread_cond_timedwait(&own->some, &own->lock, &until);
    pthread_mutex_unlock(&own->lock);
    bool on = !s->cancelled(s->arg);
    pthread_mutex_lock(&own->lock);
    return on;
}

/* Whether there will soon be one program less: ends the one that has been idle longest, if
 * necessary. Caller holds the lock. */
static bool room_make(acp *own)
{
    program *oldest = NULL;
    for (program *p = own->programs; p; p = p->next) {
        if (p->state == PROGRAM_ENDING)
            return true;
        if (!p->users && (!oldest || p->due < oldest->due))
            oldest = p;
    }
    if (oldest)
        program_end(oldest, "the agent's program was ended to make room for another one");
    return oldest != NULL;
}

/* Creates a program and its thread. Caller holds the lock. */
static program *program_new(acp *own, const char *folder)
{
    pthread_t thread;
    program *p = xcalloc(1, sizeof *p);
    p->own = own;
    p->child = (child)CHILD_NONE;
    p->folder = xstrdup(folder);
    p->due = time_mono_us() + HELLO_MS * INT64_C(1000);
    p->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&p->saying, NULL);
    if (p->wake < 0 || pthread_create(&thread, NULL, program_main, p) != 0) {
        if (p->wake >= 0)
            close(p->wake);
        pthread_mutex_destroy(&p->saying);
        free(p->folder);
        free(p);
        return NULL;
    }
    pthread_detach(thread);
    p->next = own->programs;
    own->programs = p;
    own->n_programs++;
    return p;
}

/* The program of a folder, in any state, with one more user. NULL: as for program_enter(). Caller
 * holds the lock. */
static program *program_claim(acp *own, const char *folder, const agent_sink *s, char *why,
                              size_t n)
{
    for (;;) {
        program *p = own->programs;
        while (p && (p->state == PROGRAM_ENDING || strcmp(p->folder, folder) != 0))
            p = p->next;
        if (!p && own->n_programs < own->max) {
            p = program_new(own, folder);
            if (!p) {
                snprintf(why, n, "no thread or descriptor is left for the agent's program");
                return NULL;
            }
        }
        if (p) {
            p->users++;
            return p;
        }
        if (!room_make(own)) {
            snprintf(
                why, n,
                "all %zu programs of this agent are in use, each in another folder, and it may "
                "have no more at once; try again when one of their turns has ended",
                own->max);
            return NULL;
        }
        if (!change_wait(own, s))
            return NULL;
    }
}

/* Caller holds the lock. */
static void program_unclaim(program *p)
{
    assert(p->users > 0);
    if (--p->users == 0 && p->state == PROGRAM_READY)
        p->due = time_mono_us() + p->own->idle_us;
    pthread_cond_broadcast(&p->own->some);
    program_wake(p);
}

program *program_enter(acp *own, const char *folder, const agent_sink *s, char *why, size_t n)
{
    *why = 0;
    pthread_mutex_lock(&own->lock);
    program *p = program_claim(own, folder, s, why, n);
    bool on = true;
    while (p && on && p->state == PROGRAM_STARTING)
        on = change_wait(own, s);
    if (p && p->state != PROGRAM_READY) {
        if (on)
            snprintf(why, n, "%s", p->why);
        program_unclaim(p);
        p = NULL;
    }
    pthread_mutex_unlock(&own->lock);
    return p;
}

void program_leave(program *p)
{
    acp *own = p->own;
    pthread_mutex_lock(&own->lock);
    program_unclaim(p);
    pthread_mutex_unlock(&own->lock);
}

void programs_stop(acp *own)
{
    pthread_mutex_lock(&own->lock);
    for (program *p = own->programs; p; p = p->next)
        program_end(p, "the server stops");
    while (own->n_programs)
        pthread_cond_wait(&own->some, &own->lock);
    pthread_mutex_unlock(&own->lock);
}
