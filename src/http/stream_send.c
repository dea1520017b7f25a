/* SPDX-License-Identifier: Apache-2.0
 *
 * stream_send.c: streamed bodies over HTTP: server-sent events. A connection with nothing to send
 * waits without using a thread.
 */
#include "http/http_internal.h"

#include <string.h>
#include <sys/socket.h>

#define TAKE_MAX ((size_t)64 * 1024) /* bytes per call */
/* Bytes for a slow client wait in the stream, where they are counted, not by the megabyte in the
 * kernel. */
#define KERNEL_BYTES 65536

/* Time for clients to read what is left when the server stops. */
#define END_US 2000000

struct http_stream {
    body_stream stream;
    http *http;
    http_stream *prev, *next; /* in h->streams, under h->lock */
    peer *peer;
    int fd;
    bool ending; /* the server stops */
};

static void http_wake(body_stream *s)
{
    worker_resume(((http_stream *)s)->peer);
}

static void http_cut(body_stream *s)
{
    shutdown(((http_stream *)s)->fd, SHUT_RDWR);
}

void stream_abandon(body_stream *s)
{
    http_stream *t = (http_stream *)s;
    http *h = t->http;
    pthread_mutex_lock(&h->lock);
    if (t->prev)
        t->prev->next = t->next;
    else
        h->streams = t->next;
    if (t->next)
        t->next->prev = t->prev;
    h->n_streams--;
    pthread_mutex_unlock(&h->lock);
    pthread_mutex_lock(&s->lock);
    s->gone = true;
    s->asleep = false;
    pthread_mutex_unlock(&s->lock);
    stream_leave(s);
}

/* The watcher then ends the connection. */
static void http_linger(body_stream *s)
{
    http_stream *t = (http_stream *)s;
    peer_limit(t->peer, (int64_t)t->http->cfg.stall_s * 1000000);
}

static const stream_taker over_http = {
    .wake = http_wake, .cut = http_cut, .linger = http_linger, .abandon = stream_abandon};

body_stream *http_stream_new(request *q, size_t max)
{
    exchange *x = q->inner;
    http *h = x->http;
    body_stream *s = stream_make(sizeof(http_stream), &over_http, max);
    http_stream *t = (http_stream *)s;
    t->http = h;
    t->peer = x->peer;
    t->fd = x->peer->fd;
    int kernel = KERNEL_BYTES;
    setsockopt(t->fd, SOL_SOCKET, SO_SNDBUF, &kernel, sizeof kernel);
    pthread_mutex_lock(&h->lock);
    t->next = h->streams;
    if (t->next)
        t->next->prev = t;
    h->streams = t;
    h->n_streams++;
    pthread_mutex_unlock(&h->lock);
    return s;
}

bool stream_next(exchange *x, buf *out)
{
    body_stream *s = x->request.stream;
    bool chunks = x->head.minor > 0;
    pthread_mutex_lock(&s->lock);
    size_t n = s->waiting < TAKE_MAX ? s->waiting : TAKE_MAX;
    if (n) {
        if (chunks)
            buf_printf(out, "%zx\r\n", n);
        buf_reserve(out, n);
        out->n += stream_take(s, out->data + out->n, n);
        if (chunks)
            buf_puts(out, "\r\n");
        x->sent += (int64_t)n;
    } else if (s->ended) {
        x->stream_over = true;
        if (chunks)
            buf_puts(out, "0\r\n\r\n");
    } else {
        s->asleep = true;
    }
    bool some = n || x->stream_over, gone = s->gone;
    pthread_mutex_unlock(&s->lock);
    x->peer->broken = x->peer->broken || gone;
    return some || gone;
}

void streams_end(http *h)
{
    pthread_mutex_lock(&h->lock);
    for (http_stream *t = h->streams; t; t = t->next) {
        body_stream *s = &t->stream;
        pthread_mutex_lock(&s->lock);
        if (!t->ending)
            peer_limit(t->peer, END_US);
        t->ending = true;
        s->ended = true;
        if (s->asleep) {
            s->asleep = false;
            http_wake(s);
        }
        pthread_mutex_unlock(&s->lock);
    }
    pthread_mutex_unlock(&h->lock);
}
