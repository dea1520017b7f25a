/* SPDX-License-Identifier: Apache-2.0
 *
 * acp_program.c: programs that speak ACP: started, heard, ended.
 */
#include "agent/acp.h"

#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    HELLO_MS = 60000,
    EOF_MS = 2000,
    TERM_MS = 3000,
    QUEUE_MAX = 256 << 20 /* so much may wait for a program that does not read */
};

/* ------------------------------------------------------------------ lines */

static void line_give(acp *own, listener *l, const char *text, size_t n)
{
    heard_line *h = xcalloc(1, sizeof *h);
    h->text = xmalloc(n + 1);
    memcpy(h->text, text, n);
    h->text[n] = 0;
    h->n = n;
    *l->last = h;
    l->last = &h->next;
    pthread_cond_broadcast(&own->some);
}

/* For whom a line is. With the lock. */
static listener *line_for(program *p, const message *m)
{
    for (listener *l = p->listeners; l; l = l->next) {
        if (!m->method && m->id_raw && strcmp(l->asked, m->id_raw) == 0)
            return l;
        if (m->method && m->session && l->inner && strcmp(l->inner, m->session) == 0)
            return l;
    }
    return NULL;
}

static void line_hear(acp *own, program *p, arena *a, char *line, size_t n)
{
    message m;
    if (message_read(&m, a, line, n) != MESSAGE_FINE)
        return;
    pthread_mutex_lock(&own->lock);
    listener *l = line_for(p, &m);
    if (l)
        line_give(own, l, line, n);
    pthread_mutex_unlock(&own->lock);
    if (!l && m.method && m.id_raw) /* it would wait for ever */
        program_say(p, arena_printf(a,
                                    "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d,"
                                    "\"message\":\"nobody is there to answer\"}}",
                                    m.id_raw, RPC_INTERNAL));
}

typedef struct reading {
    acp *own;
    program *p;
} reading;

/* Writes what it takes of what it was told; whether something is left. */
static bool said_some(program *p)
{
    char waste[64];
    pthread_mutex_lock(&p->saying);
    while (read(p->wake[0], waste, sizeof waste) > 0)
        ;
    lines_write(&p->to);
    bool left = lines_left(&p->to) > 0;
    pthread_mutex_unlock(&p->saying);
    return left;
}

static void *reader_main(void *arg)
{
    reading r = *(reading *)arg;
    lines_in in;
    arena *a = arena_new();
    char *line;
    size_t n;
    line_kind kind;
    free(arg);
    lines_in_init(&in, r.p->child.out, ACP_LINE_MAX);
    while (!in.ended) {
        struct pollfd f[3] = {{.fd = in.fd, .events = POLLIN},
                              {.fd = r.p->wake[0], .events = POLLIN},
                              {.fd = said_some(r.p) ? r.p->child.in : -1, .events = POLLOUT}};
        if (poll(f, 3, -1) <= 0 || !f[0].revents)
            continue;
        lines_read(&in);
        while ((kind = lines_next(&in, &line, &n)) != LINE_NONE) {
            if (kind == LINE_WHOLE)
                line_hear(r.own, r.p, a, line, n);
            arena_reset(a);
        }
    }
    pthread_mutex_lock(&r.own->lock);
    r.p->gone = true;
    pthread_cond_broadcast(&r.own->some);
    pthread_mutex_unlock(&r.own->lock);
    lines_in_release(&in);
    arena_free(a);
    return NULL;
}

void listener_add(acp *own, program *p, listener *l)
{
    *l = (listener){0};
    l->last = &l->first;
    pthread_mutex_lock(&own->lock);
    l->next = p->listeners;
    p->listeners = l;
    pthread_mutex_unlock(&own->lock);
}

void listener_remove(acp *own, program *p, listener *l)
{
    pthread_mutex_lock(&own->lock);
    listener **at = &p->listeners;
    while (*at != l)
        at = &(*at)->next;
    *at = l->next;
    pthread_mutex_unlock(&own->lock);
    while (l->first) {
        heard_line *h = l->first;
        l->first = h->next;
        free(h->text);
        free(h);
    }
    free(l->inner);
}

char *listener_next(acp *own, program *p, listener *l, int ms, size_t *n)
{
    struct timespec until = time_after((int64_t)ms * 1000);
    char *text = NULL;
    pthread_mutex_lock(&own->lock);
    while (!l->first && !p->gone &&
           pthread_cond_timedwait(&own->some, &own->lock, &until) != ETIMEDOUT)
        ;
    heard_line *h = l->first;
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

/* It has not taken what it was told for too long: it is given up. */
static void program_stuck(program *p)
{
    pthread_mutex_lock(&p->own->lock);
    p->gone = true;
    pthread_cond_broadcast(&p->own->some);
    pthread_mutex_unlock(&p->own->lock);
}

void program_say(program *p, const char *line)
{
    pthread_mutex_lock(&p->saying);
    lines_add(&p->to, line, strlen(line));
    lines_end(&p->to);
    size_t left = lines_left(&p->to);
    ssize_t put = left ? write(p->wake[1], "", 1) : 0;
    (void)put; /* a full pipe wakes as well */
    pthread_mutex_unlock(&p->saying);
    if (left > QUEUE_MAX)
        program_stuck(p);
}

void program_ask(acp *own, program *p, listener *l, const char *method, const char *params)
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
    program_say(p, b.p);
    buf_release(&b);
}

/* ------------------------------------------------------------------ programs */

bool path_within(const char *path, const char *folder)
{
    char *one = realpath(path, NULL), *other = realpath(folder, NULL);
    size_t n = other ? strlen(other) : 0;
    bool in = one && other &&
              (strcmp(other, "/") == 0 ||
               (strncmp(one, other, n) == 0 && (one[n] == '/' || one[n] == 0)));
    free(one);
    free(other);
    return in;
}

static void pipe_close(const program *p)
{
    for (int i = 0; i < 2; i++)
        if (p->wake[i] >= 0)
            close(p->wake[i]);
}

static bool program_start(acp *own, program *p)
{
    reading *r = xmalloc(sizeof *r);
    *r = (reading){own, p};
    if (pipe2(p->wake, O_CLOEXEC | O_NONBLOCK) != 0 ||
        !child_start(&p->child, own->argv, p->folder)) {
        int why = errno;
        pipe_close(p);
        free(r);
        errno = why;
        return false;
    }
    lines_out_init(&p->to, p->child.in);
    if (pthread_create(&p->reader, NULL, reader_main, r) != 0)
        abort();
    return true;
}

static void program_free(program *p)
{
    terminals_stop(p);
    pthread_mutex_lock(&p->saying);
    p->to.broken = true; /* its end of the pipe is being closed */
    pthread_mutex_unlock(&p->saying);
    child_stop(&p->child, EOF_MS, TERM_MS);
    pthread_join(p->reader, NULL);
    pthread_mutex_destroy(&p->saying);
    lines_out_release(&p->to);
    pipe_close(p);
    free(p->folder);
    free(p);
}

static bool prompt_takes(const message *m, const char *capability)
{
    return json_is(
        message_at(m, m->result,
                   arena_printf(m->a, "agentCapabilities.promptCapabilities.%s", capability)),
        JSON_TRUE);
}

/* What it says of itself; false: it is no answer. */
static bool hello_hear(program *p, char *line, size_t n)
{
    message m;
    arena *a = arena_new();
    bool fine = message_read(&m, a, line, n) == MESSAGE_FINE && m.result;
    if (fine) {
        p->takes_images = prompt_takes(&m, "image");
        p->takes_sounds = prompt_takes(&m, "audio");
        p->takes_files = prompt_takes(&m, "embeddedContext");
    }
    arena_free(a);
    return fine;
}

static bool program_hello(acp *own, program *p, const agent_sink *s)
{
    listener l;
    char params[256];
    char *line = NULL;
    size_t n = 0;
    snprintf(params, sizeof params,
             "{\"protocolVersion\":1,\"clientCapabilities\":{\"fs\":{\"readTextFile\":%s,"
             "\"writeTextFile\":%s},\"terminal\":%s},\"clientInfo\":{\"name\":\"ramet\","
             "\"version\":\"" RAMET_VERSION "\"}}",
             own->reads ? "true" : "false", own->writes ? "true" : "false",
             own->terminals ? "true" : "false");
    listener_add(own, p, &l);
    program_ask(own, p, &l, "initialize", params);
    for (int ms = 0; !line && !p->gone && ms < HELLO_MS && !s->cancelled(s->arg); ms += 100)
        line = listener_next(own, p, &l, 100, &n);
    listener_remove(own, p, &l);
    bool fine = line && hello_hear(p, line, n);
    free(line);
    return fine;
}

void held_free(held *h)
{
    free(h->session);
    free(h->inner);
    free(h->turn);
    free(h->setup);
    free(h->model_option);
    free(h);
}

/* Programs that are gone and that nobody uses any more. With the lock; gives those to be freed. */
static program *programs_sweep(acp *own)
{
    program *old = NULL;
    for (program **at = &own->programs; *at;) {
        program *p = *at;
        if (!p->gone || p->users) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        p->next = old;
        old = p;
    }
    for (held **at = &own->held; *at;) {
        held *h = *at;
        if (!h->in->gone) {
            at = &h->next;
            continue;
        }
        *at = h->next;
        held_free(h);
    }
    return old;
}

program *program_enter(acp *own, const char *folder, const agent_sink *s, char *why, size_t n)
{
    pthread_mutex_lock(&own->lock);
    program *old = programs_sweep(own), *p = own->programs;
    while (p && (p->gone || strcmp(p->folder, folder) != 0))
        p = p->next;
    bool fresh = !p;
    if (fresh) {
        p = xcalloc(1, sizeof *p);
        p->own = own;
        p->wake[0] = p->wake[1] = -1;
        p->folder = xstrdup(folder);
        pthread_mutex_init(&p->saying, NULL);
        if (!program_start(own, p)) {
            snprintf(why, n, "'%.100s' cannot be started in %.200s: %s", own->argv[0], folder,
                     strerror(errno));
            free(p->folder);
            free(p);
            p = NULL;
        } else {
            p->next = own->programs;
            own->programs = p;
        }
    }
    if (p)
        p->users++;
    pthread_mutex_unlock(&own->lock);
    while (old) {
        program *next = old->next;
        program_free(old);
        old = next;
    }
    if (p && fresh)
        p->ready = program_hello(own, p, s);
    while (p && !fresh && !p->ready && !p->gone && agent_sleep(s, 20)) /* another turn does that */
        ;
    if (p && !p->ready) {
        snprintf(why, n, "'%.100s' does not speak ACP, or was given up", own->argv[0]);
        p->gone = true;
        program_leave(own, p);
        p = NULL;
    }
    return p;
}

void program_leave(acp *own, program *p)
{
    pthread_mutex_lock(&own->lock);
    p->users--;
    pthread_mutex_unlock(&own->lock);
}

void programs_stop(acp *own)
{
    pthread_mutex_lock(&own->lock);
    for (program *p = own->programs; p; p = p->next)
        p->gone = true;
    program *old = programs_sweep(own);
    pthread_mutex_unlock(&own->lock);
    while (old) {
        program *next = old->next;
        program_free(old);
        old = next;
    }
}
