/* SPDX-License-Identifier: Apache-2.0
 *
 * Bodies that go on over HTTP: server-sent events. While there is nothing to send, the connection
 * is suspended and costs nobody anything.
 */
#include "server/http_own.h"

#include <string.h>
#include <sys/socket.h>

#define BLOCK 2048 /* what libmicrohttpd asks for at once, at least */
/* A slow reader's bytes wait here, where they are counted, not by megabytes in the kernel. */
#define KERNEL_BYTES 65536

/* When the server stops: for a client to take what is left. */
#define END_US 2000000

struct http_stream {
    face_stream s;
    http *h;
    http_stream *prev, *next; /* in h->streams, under h->lock */
    exchange *x;
    struct MHD_Connection *conn;
    int fd;
    bool ending; /* the server stops */
};

static void http_wake(face_stream *s)
{
    MHD_resume_connection(((http_stream *)s)->conn);
}

static void http_cut(face_stream *s)
{
    shutdown(((http_stream *)s)->fd, SHUT_RDWR);
}

void stream_abandon(face_stream *s)
{
    http_stream *t = (http_stream *)s;
    http *h = t->h;
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

/* The watcher ends the connection then. */
static void http_linger(face_stream *s)
{
    http_stream *t = (http_stream *)s;
    peer_limit(t->x->p, (int64_t)t->h->cfg.stall_s * 1000000, 0);
}

static const stream_taker over_http = {
    .wake = http_wake, .cut = http_cut, .linger = http_linger, .abandon = stream_abandon};

face_stream *http_stream_new(face_req *q, size_t most)
{
    exchange *x = q->inner;
    http *h = x->h;
    face_stream *s = stream_make(sizeof(http_stream), &over_http, most);
    http_stream *t = (http_stream *)s;
    t->h = h;
    t->x = x;
    t->conn = x->conn;
    t->fd = x->p->fd;
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

static ssize_t stream_read(void *cls, uint64_t pos, char *out, size_t max)
{
    (void)pos;
    face_stream *s = cls;
    http_stream *t = cls;
    pthread_mutex_lock(&s->lock);
    size_t n = s->gone ? 0 : stream_take(s, out, max);
    ssize_t rc = (ssize_t)n;
    if (s->gone) {
        rc = MHD_CONTENT_READER_END_WITH_ERROR;
    } else if (n) {
        t->x->sent += (int64_t)n;
    } else if (s->ended) {
        rc = MHD_CONTENT_READER_END_OF_STREAM;
    } else {
        s->asleep = true;
        MHD_suspend_connection(t->conn);
    }
    pthread_mutex_unlock(&s->lock);
    return rc;
}

static void stream_free(void *cls)
{
    stream_abandon(cls);
}

struct MHD_Response *stream_response(face_stream *s)
{
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, stream_read, s, stream_free);
}

void streams_end(http *h)
{
    pthread_mutex_lock(&h->lock);
    for (http_stream *t = h->streams; t; t = t->next) {
        face_stream *s = &t->s;
        pthread_mutex_lock(&s->lock);
        if (!t->ending)
            peer_limit(t->x->p, END_US, 0);
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
