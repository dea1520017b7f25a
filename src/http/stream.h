/* SPDX-License-Identifier: Apache-2.0
 *
 * stream.h: a body_stream as its transport, and the live events, see it.
 *
 * A stream has two owners, the producer and the taker (the transport); the one that leaves last
 * frees it. What the producer adds waits in the stream, as pieces that streams share, until the
 * taker fetches it. The producer may outlive the server: it touches the stream alone, and that
 * knows the transport only until it is gone.
 *
 * Each piece knows the number of the event up to which a client has everything when it has taken
 * the piece. So a client that falls behind can be given the rest from the store instead
 * (stream_unwind()).
 */
#ifndef HTTP_STREAM_H
#define HTTP_STREAM_H

#include "base/shared_buf.h"
#include "http/request.h"

#include <pthread.h>

/* How a taker is reached. All but `abandon` are called with the lock of the stream. */
typedef struct stream_taker {
    void (*wake)(body_stream *s);    /* it was asleep, and there are bytes, or the end */
    void (*cut)(body_stream *s);     /* the client is too slow: its connection must end */
    void (*linger)(body_stream *s);  /* the same, after some time to take what is left */
    void (*abandon)(body_stream *s); /* the request is answered otherwise */
} stream_taker;

typedef struct stream_piece {
    shared_buf *bytes;
    int64_t number;
    bool once; /* it is nowhere else: it cannot be given again */
} stream_piece;

/* The first member of what a taker makes of it. */
struct body_stream {
    const stream_taker *taker;
    pthread_mutex_t lock;          /* of what follows */
    stream_piece *pieces;          /* a ring of n_pieces from `first` on */
    unsigned first, n_pieces, cap; /* cap: a power of two, or 0 */
    size_t offset;                 /* bytes of the first one that were taken */
    size_t waiting;                /* bytes that were not */
    size_t max;                    /* of them */
    int64_t passed, added;         /* number of the last piece that went, that came */
    bool asleep, ended, gone;
    int owners;
};

/* ---- for the taker */

/* `size` bytes, with the stream at their beginning; freed by the owner that leaves last. */
body_stream *stream_make(size_t size, const stream_taker *taker, size_t max);
void stream_leave(body_stream *s);
/* With its lock: takes up to `max` bytes. */
size_t stream_take(body_stream *s, char *out, size_t max);
/* With its lock: takes what is left of the first piece. */
bool stream_take_piece(body_stream *s, buf *out);

/* ---- for the producer */

/* body_stream_add() of bytes that other streams are given, too. */
bool body_stream_share(body_stream *s, shared_buf *b);
/* Adds a piece, however much waits. `number`: see above; -1: that of the piece before. False: the
 * client is gone. */
bool stream_share(body_stream *s, shared_buf *b, int64_t number, bool once);
/* Takes back what the client has not begun to take. *number: what it has everything up to then; -1:
 * that is not known. False: there is something that cannot be given again; nothing was taken back.
 */
bool stream_unwind(body_stream *s, int64_t *number);
/* Takes back everything that the client has not begun to take, adds some last bytes and ends. The
 * producer leaves as ever (body_stream_end()). */
void stream_close_slow(body_stream *s, const void *last, size_t n);

/* All streams together hold at most so many bytes, as far as body_stream_add() goes. */
void stream_total_limit(int64_t bytes);

#endif
