/* SPDX-License-Identifier: Apache-2.0
 *
 * Bodies that go on: server-sent events.
 *
 * A stream has two owners, the producer and the response; the one that leaves last frees it. What
 * the producer adds waits in the stream until the worker fetches it; while there is nothing, the
 * connection is suspended and costs nobody anything. The producer may outlive the server: it
 * touches the stream alone, and that knows the server only as long as its response lives.
 */
#include "server/http_own.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define BLOCK 2048      /* what libmicrohttpd asks for at once, at least */
#define KEEP_BYTES 1024 /* memory that an idle stream keeps */
/* A slow reader's bytes wait here, where they are counted, not by megabytes in the kernel. */
#define KERNEL_BYTES 65536

struct face_stream {
    http *h;
    face_stream *prev, *next; /* in h->streams, under h->lock */
    exchange *x;
    struct MHD_Connection *conn;
    int fd;
    pthread_mutex_t lock; /* of what follows */
    buf bytes;            /* to be sent, from `taken` on */
    size_t taken;
    size_t most;
    bool suspended, ended, gone;
    int owners;
};

/* With its lock. */
static void stream_wake(face_stream *s)
{
    if (s->suspended) {
        s->suspended = false;
        MHD_resume_connection(s->conn);
    }
}

static void stream_leave(face_stream *s)
{
    pthread_mutex_lock(&s->lock);
    bool last = --s->owners == 0;
    pthread_mutex_unlock(&s->lock);
    if (!last)
        return;
    buf_release(&s->bytes);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

/* ---------------------------------------------------------------- the producer */

face_stream *face_stream_new(face_req *q, size_t most)
{
    exchange *x = q->inner;
    http *h = x->h;
    face_stream *s = xcalloc(1, sizeof *s);
    s->h = h;
    s->x = x;
    s->conn = x->conn;
    s->fd = x->p->fd;
    int kernel = KERNEL_BYTES;
    setsockopt(s->fd, SOL_SOCKET, SO_SNDBUF, &kernel, sizeof kernel);
    s->most = most;
    s->owners = 2;
    buf_init(&s->bytes, most);
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_lock(&h->lock);
    s->next = h->streams;
    if (s->next)
        s->next->prev = s;
    h->streams = s;
    h->n_streams++;
    pthread_mutex_unlock(&h->lock);
    q->stream = s;
    return s;
}

/* Room for n bytes; what was sent already makes way. */
static bool stream_room(face_stream *s, size_t n)
{
    size_t left = s->bytes.n - s->taken;
    if (left && (n > s->most || left > s->most - n))
        return false;
    /* Who has taken everything is not slow: a single event may be larger than the limit. */
    s->bytes.max = n > s->most ? n : s->most;
    if (s->taken && (s->bytes.n + n > s->bytes.cap || s->bytes.n + n > s->bytes.max)) {
        memmove(s->bytes.p, s->bytes.p + s->taken, left);
        s->bytes.n = left;
        s->taken = 0;
    }
    return true;
}

bool face_stream_add(face_stream *s, const void *p, size_t n)
{
    pthread_mutex_lock(&s->lock);
    bool open = !s->gone && !s->ended;
    if (open && stream_room(s, n)) {
        buf_add(&s->bytes, p, n);
        stream_wake(s);
    } else if (open) {
        /* Too slow. It waits for its socket, so that is what must end. */
        s->gone = true;
        buf_release(&s->bytes);
        s->taken = 0;
        shutdown(s->fd, SHUT_RDWR);
        stream_wake(s);
    }
    open = !s->gone && !s->ended;
    pthread_mutex_unlock(&s->lock);
    return open;
}

bool face_stream_gone(face_stream *s)
{
    pthread_mutex_lock(&s->lock);
    bool gone = s->gone || s->ended;
    pthread_mutex_unlock(&s->lock);
    return gone;
}

size_t face_stream_behind(face_stream *s)
{
    pthread_mutex_lock(&s->lock);
    size_t n = s->bytes.n - s->taken;
    pthread_mutex_unlock(&s->lock);
    return n;
}

void face_stream_end(face_stream *s)
{
    pthread_mutex_lock(&s->lock);
    s->ended = true;
    if (!s->gone)
        stream_wake(s);
    pthread_mutex_unlock(&s->lock);
    stream_leave(s);
}

/* ---------------------------------------------------------------- the response */

static void stream_emptied(face_stream *s)
{
    s->taken = 0;
    buf_clear(&s->bytes);
    if (s->bytes.cap > KEEP_BYTES)
        buf_release(&s->bytes);
}

static ssize_t stream_read(void *cls, uint64_t pos, char *out, size_t max)
{
    (void)pos;
    face_stream *s = cls;
    pthread_mutex_lock(&s->lock);
    size_t left = s->bytes.n - s->taken, n = left < max ? left : max;
    ssize_t rc = (ssize_t)n;
    if (s->gone) {
        rc = MHD_CONTENT_READER_END_WITH_ERROR;
    } else if (n) {
        memcpy(out, s->bytes.p + s->taken, n);
        s->taken += n;
        s->x->sent += (int64_t)n;
        if (s->taken == s->bytes.n)
            stream_emptied(s);
    } else if (s->ended) {
        rc = MHD_CONTENT_READER_END_OF_STREAM;
    } else {
        s->suspended = true;
        MHD_suspend_connection(s->conn);
    }
    pthread_mutex_unlock(&s->lock);
    return rc;
}

void stream_abandon(face_stream *s)
{
    http *h = s->h;
    pthread_mutex_lock(&h->lock);
    if (s->prev)
        s->prev->next = s->next;
    else
        h->streams = s->next;
    if (s->next)
        s->next->prev = s->prev;
    h->n_streams--;
    pthread_mutex_unlock(&h->lock);
    pthread_mutex_lock(&s->lock);
    s->gone = true;
    s->suspended = false;
    pthread_mutex_unlock(&s->lock);
    stream_leave(s);
}

void face_stream_drop(face_req *q)
{
    if (q->stream)
        stream_abandon(q->stream);
    q->stream = NULL;
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
    for (face_stream *s = h->streams; s; s = s->next) {
        pthread_mutex_lock(&s->lock);
        s->ended = true;
        stream_wake(s);
        pthread_mutex_unlock(&s->lock);
    }
    pthread_mutex_unlock(&h->lock);
}
