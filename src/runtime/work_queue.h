/* SPDX-License-Identifier: Apache-2.0
 *
 * work_queue.h: the order in which requests get a thread, shared fairly between clients.
 *
 * Requests of one client and one kind form a lane. Lanes with waiting requests take turns, so one
 * that has a hundred waiting delays another by one request, not by a hundred. A lane has two
 * bounds on the requests that run at once:
 *
 *   share  reached while requests of others wait: those go first
 *   most   never exceeded: the rest stays free for clients that come later
 *
 * Both are parts of what requests of that kind compete for: threads, or for reads the read
 * connections of the store, of which there are fewer.
 *
 * Not safe from several threads: the caller (pool.c) holds a lock.
 */
#ifndef RUNTIME_WORK_QUEUE_H
#define RUNTIME_WORK_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

typedef enum {
    WORK_SHORT, /* waits for nothing for long; also a request whose user is not known yet */
    WORK_READ,  /* holds a read connection of the store */
    WORK_WRITE, /* waits for a commit, which it shares with others */
    WORK_KINDS
} work_kind;

typedef struct pool_job pool_job;
typedef struct work_lane work_lane;

typedef struct work_limits {
    int threads;
    int readers; /* read connections of the store; 0: as many as threads */
    int share;   /* percent, 1-100 */
} work_limits;

enum { WORK_BUCKETS = 256 };

typedef struct work_queue {
    struct {
        int share, max;
    } bounds[WORK_KINDS];
    work_lane *lanes[WORK_BUCKETS]; /* those in use, by their name */
    work_lane *first, *last;        /* those with waiting jobs; the first has the next turn */
} work_queue;

void work_queue_init(work_queue *q, const work_limits *limits);

/* The lane of a client; made when there is none. It lives while a job runs or waits in it. */
work_lane *work_lane_get(work_queue *q, work_kind kind, const char *client);
/* Whether one more job of the lane may run at once. */
bool work_lane_open(const work_queue *q, const work_lane *lane);
void work_lane_begin(work_lane *lane);                 /* a job of it runs */
void work_lane_end(work_queue *q, work_lane *lane);    /* ... no longer */
void work_lane_unused(work_queue *q, work_lane *lane); /* frees it, unless it is in use */

void work_queue_add(work_queue *q, work_lane *lane, pool_job *job);
/* Takes the job whose turn it is, and counts it as running in *lane. NULL: none may run now. */
pool_job *work_queue_take(work_queue *q, work_lane **lane);

#endif
