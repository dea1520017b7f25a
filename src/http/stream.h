/* SPDX-License-Identifier: Apache-2.0
 *
 * stream.h: the interface of a body_stream for its transport and for live events.
 *
 * A stream has two owners, the producer and the taker (the transport); the one that leaves last
 * frees it. Added bytes wait in the stream, as pieces that streams may share, until the taker
 * fetches them. The producer may outlive the server: it touches only the stream, and the stream
 * refers to the transport only while that exists.
 *
 * Each piece carries an event number: a client that has read the piece has everything up to that
 * event. So the rest can be sent to a slow client from the store instead (stream_unwind()).
 */
#ifndef HTTP_STREAM_H
#define HTTP_STREAM_H

#include "base/shared_buf.h"
#include "http/request.h"

#include <pthread.h>

/* Callbacks of a taker. All but `abandon` are called with the stream's lock held. */
typedef struct stream_taker {
    void (*wake)(body_stream *s);    /* the taker sleeps, and there are bytes, or the end */
    void (*cut)(body_stream *s);     /* the client is too slow: its connection must end */
    void (*linger)(body_stream *s);  /* likewise, after some time to read what is left */
    void (*abandon)(body_stream *s); /* the request gets another answer */
} stream_taker;

typedef struct stream_piece {
    shared_buf *bytes;
    int64_t number;
    bool once; /* it is stored nowhere else, so it cannot be sent again */
} stream_piece;

/* The first member of a taker's own struct. */
struct body_stream {
    const stream_taker *taker;
    pthread_mutex_t lock;          /* guards what follows */
    stream_piece *pieces;          /* a ring of n_pieces, starting at `first` */
    unsigned first, n_pieces, cap; /* cap: a power of two, or 0 */
    size_t offset;                 /* bytes taken of the first piece */
    size_t waiting;                /* bytes not taken yet */
    size_t max;                    /* limit of `waiting` */
    int64_t passed, added;         /* event number of the last piece taken, and added */
    bool asleep, ended, gone;
    int owners;
};

/* ---- for the taker */

/* Allocates `size` bytes, beginning with the stream; the owner that leaves last frees them. */
body_stream *stream_make(size_t size, const stream_taker *taker, size_t max);
void stream_leave(body_stream *s);
/* Takes up to `max` bytes. Caller holds the lock. */
size_t stream_take(body_stream *s, char *out, size_t max);
/* Takes the rest of the first piece. Caller holds the lock. */
bool stream_take_piece(body_stream *s, buf *out);

/* ---- for the producer */

/* body_stream_add() for bytes that other streams get, too. */
bool body_stream_share(body_stream *s, shared_buf *b);
/* Adds a piece, however much is waiting. `number`: see above; -1: the number of the piece before.
 * False: the client has disconnected. */
bool stream_share(body_stream *s, shared_buf *b, int64_t number, bool once);
/* Takes back the pieces that the client has not begun to read. *number: it then has everything up
 * to this event; -1: unknown. False: a piece cannot be sent again; nothing was taken back.
 */
bool stream_unwind(body_stream *s, int64_t *number);
/* Takes back everything that the client has not begun to read, adds some last bytes and ends. The
 * producer still calls body_stream_end(). */
void stream_close_slow(body_stream *s, const void *last, size_t n);

/* Sets the limit of bytes in all streams together, enforced by body_stream_add(). */
void stream_total_limit(int64_t bytes);

#endif
