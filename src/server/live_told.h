/* SPDX-License-Identifier: Apache-2.0
 *
 * live_told.h: lines on their way from who tells them (live_tell()) to the follower of live.c.
 */
#ifndef SERVER_LIVE_TOLD_H
#define SERVER_LIVE_TOLD_H

#include "server/server.h"

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

typedef struct told_queue {
    pthread_mutex_t lock;
    told *first, **end;
    size_t bytes;
} told_queue;

void told_queue_init(told_queue *q);
void told_queue_free(told_queue *q); /* with what is in it */

told *told_new(int64_t after, const char *session, const char *tree, const char *event,
               const char *json, size_t n);
/* Takes a line, or frees it when too much waits already. True: nothing waited before. */
bool told_put(told_queue *q, told *t);
/* Moves all of them to a list that is in the order of `after`: lines of several nodes come as they
 * come, and those of one in order. */
void told_take(told_queue *q, told **list);
void told_free(told **list);

#endif
