/* SPDX-License-Identifier: Apache-2.0
 *
 * ephemeral_queue.h: lines that are not stored, on their way from live_publish() to the follower of
 * live.c.
 */
#ifndef LIVE_EPHEMERAL_QUEUE_H
#define LIVE_EPHEMERAL_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pthread.h>

/* A line for the streams that are open now. */
typedef struct told {
    struct told *next;
    int64_t after; /* L3 in live.c */
    const char *session, *tree, *event, *json;
    size_t n, size; /* of the data, and of all */
    bool words;     /* a delta: the entry that follows repeats its text */
    char bytes[];
} told;

typedef struct ephemeral_queue {
    pthread_mutex_t lock;
    told *first, **end;
    size_t bytes;
} ephemeral_queue;

void ephemeral_queue_init(ephemeral_queue *q);
void ephemeral_queue_free(ephemeral_queue *q); /* and the lines in it */

told *ephemeral_new(int64_t after, const char *session, const char *tree, const char *event,
                    const char *json, size_t n);
/* Takes over a line; frees it if the queue is full. True: the queue was empty. */
bool ephemeral_put(ephemeral_queue *q, told *t);
/* Moves all lines to a list sorted by `after`. Lines of one node arrive in that order, lines of
 * several nodes interleaved. */
void ephemeral_take(ephemeral_queue *q, told **list);
void ephemeral_free(told **list);

#endif
