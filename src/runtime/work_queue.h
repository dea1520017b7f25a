/* SPDX-License-Identifier: Apache-2.0
 *
 * work_queue.h: decides which request gets the next thread, sharing threads fairly between clients.
 *
 * Requests of one client and one kind form a lane. Lanes with waiting requests take turns, so a
 * lane with a hundred waiting requests delays another one by one request, not by a hundred. Two
 * bounds limit the requests of a lane that run at once:
 *
 *   share  a lane that has reached it lets waiting requests of other lanes go first
 *   most   never exceeded: the rest stays free for clients that arrive later
 *
 * Both are fractions of what requests of that kind compete for: threads or, for reads, the store's
 * read connections, of which there are fewer.
 *
 * Not thread-safe: the caller (pool.c) holds a lock.
 */
#ifndef RUNTIME_WORK_QUEUE_H
#define RUNTIME_WORK_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

typedef enum {
    WORK_SHORT, /* does not block for long; also a request whose user is not known yet */
    WORK_READ,  /* holds a read connection of the store */
    WORK_WRITE, /* waits for a group commit */
    WORK_KINDS
} work_kind;

typedef struct pool_job pool_job;
typedef struct work_lane work_lane;

typedef struct work_limits {
    int threads;
    int readers; /* read connections of the store; 0: same as threads */
    int share;   /* percent, 1-100 */
} work_limits;

enum { WORK_BUCKETS = 256 };

typedef struct work_queue {
    struct {
        int share, max;
    } bounds[WORK_KINDS];
    work_lane *lanes[WORK_BUCKETS]; /* lanes in use, hashed by name */
    work_lane *first, *last;        /* lanes with waiting jobs, in turn order */
} work_queue;

void work_queue_init(work_queue *q, const work_limits *limits);

/* Finds or creates the lane of a client. It exists while a job runs or waits in it. */
work_lane *work_lane_get(work_queue *q, work_kind kind, const char *client);
/* Whether the lane may run one more job now. */
bool work_lane_open(const work_queue *q, const work_lane *lane);
void work_lane_begin(work_lane *lane);                 /* one of its jobs starts */
void work_lane_end(work_queue *q, work_lane *lane);    /* … ends */
void work_lane_unused(work_queue *q, work_lane *lane); /* frees the lane if it is unused */

void work_queue_add(work_queue *q, work_lane *lane, pool_job *job);
/* Takes the next job and counts it as running in *lane. NULL: none may run now. */
pool_job *work_queue_take(work_queue *q, work_lane **lane);

#endif
