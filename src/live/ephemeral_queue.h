/* SPDX-License-Identifier: Apache-2.0
 *
 * ephemeral_queue.h: lines on their way from who tells them (live_publish()) to the follower of
 * live.c.
 */
#ifndef LIVE_EPHEMERAL_QUEUE_H
#define LIVE_EPHEMERAL_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pthread.h>

/* A line for those who listen now. */
typedef struct told {
    struct told *next;
    int64_t after; /* L3 in live.c */
    const char *session, *tree, *event, *json;
    size_t n, size; /* of the data, and of all */
    bool words;     /* they come again, in the entry */
    char bytes[];
} told;

typedef struct ephemeral_queue {
    pthread_mutex_t lock;
    told *first, **end;
    size_t bytes;
} ephemeral_queue;

void ephemeral_queue_init(ephemeral_queue *q);
void ephemeral_queue_free(ephemeral_queue *q); /* with what is in it */

told *ephemeral_new(int64_t after, const char *session, const char *tree, const char *event,
                    const char *json, size_t n);
/* Takes a line, or frees it when too much waits already. True: nothing waited before. */
bool ephemeral_put(ephemeral_queue *q, told *t);
/* Moves all of them to a list that is in the order of `after`: lines of several nodes come as they
 * come, and those of one in order. */
void ephemeral_take(ephemeral_queue *q, told **list);
void ephemeral_free(told **list);

#endif
