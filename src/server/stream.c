/* SPDX-License-Identifier: Apache-2.0
 *
 * Bodies that go on: the producer's side.
 */
#include "server/stream.h"

#include <stdlib.h>
#include <string.h>

#define KEEP_BYTES 1024 /* memory that an idle stream keeps */

face_stream *stream_make(size_t size, const stream_taker *taker, size_t most)
{
    face_stream *s = xcalloc(1, size);
    s->taker = taker;
    s->most = most;
    s->owners = 2;
    buf_init(&s->bytes, most);
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

void stream_leave(face_stream *s)
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

void stream_emptied(face_stream *s)
{
    s->taken = 0;
    buf_clear(&s->bytes);
    if (s->bytes.cap > KEEP_BYTES)
        buf_release(&s->bytes);
}

face_stream *face_stream_new(face_req *q, size_t most)
{
    q->stream = q->stream_new(q, most);
    return q->stream;
}

/* With its lock. */
static void stream_wake(face_stream *s)
{
    if (s->asleep) {
        s->asleep = false;
        s->taker->wake(s);
    }
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
        /* Too slow. It waits for its connection, so that is what must end. */
        s->gone = true;
        buf_release(&s->bytes);
        s->taken = 0;
        s->taker->cut(s);
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

void face_stream_drop(face_req *q)
{
    if (q->stream)
        q->stream->taker->abandon(q->stream);
    q->stream = NULL;
}
