/* SPDX-License-Identifier: Apache-2.0
 *
 * stream.h: the side of a face_stream that takes the bytes: who speaks the transport.
 *
 * A stream has two owners, the producer and the taker; the one that leaves last frees it. What the
 * producer adds waits in the stream until the taker fetches it. The producer may outlive the
 * server: it touches the stream alone, and that knows the transport only until it is gone.
 */
#ifndef SERVER_STREAM_H
#define SERVER_STREAM_H

#include "face/face.h"

#include <pthread.h>

/* How a taker is reached. All but `abandon` are called with the lock of the stream. */
typedef struct stream_taker {
    void (*wake)(face_stream *s);    /* it was asleep, and there are bytes, or the end */
    void (*cut)(face_stream *s);     /* it is too slow: its connection must end */
    void (*abandon)(face_stream *s); /* the request is answered otherwise */
} stream_taker;

/* The first member of what a taker makes of it. */
struct face_stream {
    const stream_taker *taker;
    pthread_mutex_t lock; /* of what follows */
    buf bytes;            /* to be sent, from `taken` on */
    size_t taken, most;
    bool asleep, ended, gone;
    int owners;
};

/* `size` bytes, with the stream at their beginning; freed by whoever leaves last. */
face_stream *stream_make(size_t size, const stream_taker *taker, size_t most);
void stream_leave(face_stream *s);
/* With its lock: everything was taken. */
void stream_emptied(face_stream *s);

#endif
