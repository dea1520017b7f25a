/* SPDX-License-Identifier: Apache-2.0
 *
 * stream.c: bodies of unknown length: the producer's side, and the queue of pieces.
 */
#include "http/stream.h"

#include <stdlib.h>
#include <string.h>

#define KEEP_PIECES 8 /* slots that an idle stream keeps */

static _Atomic int64_t total_limit = INT64_MAX;

void stream_total_limit(int64_t bytes)
{
    atomic_store(&total_limit, bytes);
}

body_stream *stream_make(size_t size, const stream_taker *taker, size_t max)
{
    body_stream *s = xcalloc(1, size);
    s->taker = taker;
    s->max = max;
    s->owners = 2;
    s->passed = s->added = -1;
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

/* ------------------------------------------------------------------- pieces */

static stream_piece *piece_at(body_stream *s, unsigned i)
{
    return &s->pieces[(s->first + i) & (s->cap - 1)];
}

static void pieces_grow(body_stream *s)
{
    unsigned cap = s->cap ? s->cap * 2 : KEEP_PIECES;
    stream_piece *all = xmalloc(cap * sizeof *all);
    for (unsigned i = 0; i < s->n_pieces; i++)
        all[i] = *piece_at(s, i);
    free(s->pieces);
    s->pieces = all;
    s->cap = cap;
    s->first = 0;
}

static void piece_add(body_stream *s, shared_buf *b, int64_t number, bool once)
{
    if (s->n_pieces == s->cap)
        pieces_grow(s);
    s->n_pieces++;
    s->waiting += b->n;
    s->added = number < 0 ? s->added : number;
    *piece_at(s, s->n_pieces - 1) = (stream_piece){b, s->added, once};
}

static void piece_shift(body_stream *s)
{
    stream_piece *p = piece_at(s, 0);
    s->passed = p->number;
    shared_buf_drop(p->bytes);
    s->first = (s->first + 1) & (s->cap - 1);
    s->n_pieces--;
    s->offset = 0;
    if (s->n_pieces || s->cap <= KEEP_PIECES)
        return;
    free(s->pieces);
    s->pieces = NULL;
    s->first = s->cap = 0;
}

/* Drops all pieces but the first `keep`. */
static void pieces_cut(body_stream *s, unsigned keep)
{
    while (s->n_pieces > keep) {
        stream_piece *p = piece_at(s, --s->n_pieces);
        s->waiting -= p->bytes->n - (s->n_pieces ? 0 : s->offset);
        shared_buf_drop(p->bytes);
    }
    if (!keep)
        s->offset = 0;
    s->added = s->n_pieces ? piece_at(s, s->n_pieces - 1)->number : s->passed;
}

void stream_leave(body_stream *s)
{
    pthread_mutex_lock(&s->lock);
    bool last = --s->owners == 0;
    pthread_mutex_unlock(&s->lock);
    if (!last)
        return;
    pieces_cut(s, 0);
    free(s->pieces);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

size_t stream_take(body_stream *s, char *out, size_t max)
{
    size_t taken = 0;
    while (s->n_pieces && taken < max) {
        const shared_buf *b = piece_at(s, 0)->bytes;
        size_t left = b->n - s->offset, n = left < max - taken ? left : max - taken;
        memcpy(out + taken, b->bytes + s->offset, n);
        taken += n;
        s->waiting -= n;
        s->offset += n;
        if (s->offset == b->n)
            piece_shift(s);
    }
    return taken;
}

bool stream_take_piece(body_stream *s, buf *out)
{
    if (!s->n_pieces)
        return false;
    const shared_buf *b = piece_at(s, 0)->bytes;
    buf_add(out, b->bytes + s->offset, b->n - s->offset);
    s->waiting -= b->n - s->offset;
    piece_shift(s);
    return true;
}

/* -------------------------------------------------------------- the producer */

body_stream *body_stream_new(request *q, size_t max)
{
    q->stream = q->stream_new(q, max);
    return q->stream;
}

/* Caller holds the stream's lock. */
static void stream_wake(body_stream *s)
{
    if (s->asleep) {
        s->asleep = false;
        s->taker->wake(s);
    }
}

bool stream_share(body_stream *s, shared_buf *b, int64_t number, bool once)
{
    pthread_mutex_lock(&s->lock);
    bool open = !s->gone && !s->ended;
    if (open && b->n) {
        piece_add(s, shared_buf_hold(b), number, once);
        stream_wake(s);
    }
    pthread_mutex_unlock(&s->lock);
    return open;
}

/* A client that has read everything is not slow: one piece may exceed the limit. */
static bool stream_room(const body_stream *s, size_t n)
{
    return !s->waiting || (n <= s->max && s->waiting <= s->max - n &&
                           shared_buf_total() <= atomic_load(&total_limit));
}

bool body_stream_share(body_stream *s, shared_buf *b)
{
    pthread_mutex_lock(&s->lock);
    bool open = !s->gone && !s->ended;
    if (open && !stream_room(s, b->n)) {
        /* The client is too slow: end its connection. */
        open = false;
        s->gone = true;
        pieces_cut(s, 0);
        s->taker->cut(s);
        stream_wake(s);
    }
    pthread_mutex_unlock(&s->lock);
    return open && stream_share(s, b, -1, true);
}

bool body_stream_add(body_stream *s, const void *p, size_t n)
{
    shared_buf *b = shared_buf_new(p, n);
    bool open = body_stream_share(s, b);
    shared_buf_drop(b);
    return open;
}

/* A piece that was begun must be completed, or the next bytes would make no sense. */
static unsigned pieces_begun(const body_stream *s)
{
    return s->offset ? 1 : 0;
}

bool stream_unwind(body_stream *s, int64_t *number)
{
    pthread_mutex_lock(&s->lock);
    bool repeatable = true;
    for (unsigned i = pieces_begun(s); i < s->n_pieces; i++)
        repeatable &= !piece_at(s, i)->once;
    if (repeatable)
        pieces_cut(s, pieces_begun(s));
    *number = s->added;
    pthread_mutex_unlock(&s->lock);
    return repeatable;
}

void stream_close_slow(body_stream *s, const void *last, size_t n)
{
    pthread_mutex_lock(&s->lock);
    if (!s->gone && !s->ended) {
        pieces_cut(s, pieces_begun(s));
        if (n)
            piece_add(s, shared_buf_new(last, n), -1, true);
        s->ended = true;
        s->taker->linger(s);
        stream_wake(s);
    }
    pthread_mutex_unlock(&s->lock);
}

bool body_stream_gone(body_stream *s)
{
    pthread_mutex_lock(&s->lock);
    bool gone = s->gone || s->ended;
    pthread_mutex_unlock(&s->lock);
    return gone;
}

size_t body_stream_behind(body_stream *s)
{
    pthread_mutex_lock(&s->lock);
    size_t n = s->waiting;
    pthread_mutex_unlock(&s->lock);
    return n;
}

void body_stream_end(body_stream *s)
{
    pthread_mutex_lock(&s->lock);
    s->ended = true;
    if (!s->gone)
        stream_wake(s);
    pthread_mutex_unlock(&s->lock);
    stream_leave(s);
}

void body_stream_drop(request *q)
{
    if (q->stream)
        q->stream->taker->abandon(q->stream);
    q->stream = NULL;
}
