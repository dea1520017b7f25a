/* SPDX-License-Identifier: Apache-2.0
 *
 * ephemeral_queue.h: the queue of ephemeral events between live_publish() and the follower of
 * live.c.
 */
#ifndef LIVE_EPHEMERAL_QUEUE_H
#define LIVE_EPHEMERAL_QUEUE_H

#include "live/live.h"

#include <pthread.h>

typedef struct ephemeral {
    struct ephemeral *next;
    int64_t after;         /* L3 in live.c */
    ephemeral_event event; /* its texts are in `memory` */
    size_t size;           /* bytes, including `memory` */
    char memory[];
} ephemeral;

typedef struct ephemeral_queue {
    pthread_mutex_t lock;
    ephemeral *first, **end;
    size_t bytes;
} ephemeral_queue;

void ephemeral_queue_init(ephemeral_queue *q);
void ephemeral_queue_free(ephemeral_queue *q); /* with its events */

ephemeral *ephemeral_new(int64_t after, const ephemeral_event *e); /* a copy */
/* Queues an event, or frees it if too much is queued already. True: the queue was empty. */
bool ephemeral_put(ephemeral_queue *q, ephemeral *e);
/* Moves all events to a list, ordered by `after`. Events of several nodes arrive in any order,
 * those of one node in order. */
void ephemeral_take(ephemeral_queue *q, ephemeral **list);
void ephemeral_free(ephemeral **list);

#endif
