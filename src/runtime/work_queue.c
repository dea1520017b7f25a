/* SPDX-License-Identifier: Apache-2.0
 *
 * work_queue.c: see work_queue.h.
 */
#include "runtime/work_queue.h"

#include "base/util.h"
#include "runtime/pool.h"

#include <stdlib.h>
#include <string.h>

struct work_lane {
    work_lane *same;         /* next in its hash bucket */
    work_lane *prev, *next;  /* in turn order, while jobs wait */
    pool_job *waiting, *end; /* first and last waiting job */
    int running;
    work_kind kind;
    size_t bucket;
    char client[];
};

static int at_least_one(int n)
{
    return n > 0 ? n : 1;
}

void work_queue_init(work_queue *q, const work_limits *limits)
{
    memset(q, 0, sizeof *q);
    int readers = limits->readers > 0 && limits->readers < limits->threads ? limits->readers
                                                                           : limits->threads;
    for (int kind = 0; kind < WORK_KINDS; kind++) {
        int all = kind == WORK_READ ? readers : limits->threads;
        int share = at_least_one(all * limits->share / 100);
        int max = at_least_one(all - at_least_one(all / 4));
        q->bounds[kind].share = share;
        q->bounds[kind].max = max > share ? max : share;
    }
}

work_lane *work_lane_get(work_queue *q, work_kind kind, const char *client)
{
    size_t bucket = (size_t)kind, n = strlen(client);
    for (size_t i = 0; i < n; i++)
        bucket = bucket * 31 + (unsigned char)client[i];
    bucket %= WORK_BUCKETS;
    work_lane *lane = q->lanes[bucket];
    while (lane && !(lane->kind == kind && strcmp(lane->client, client) == 0))
        lane = lane->same;
    if (lane)
        return lane;
    lane = xcalloc(1, sizeof *lane + n + 1);
    memcpy(lane->client, client, n);
    lane->kind = kind;
    lane->bucket = bucket;
    lane->same = q->lanes[bucket];
    q->lanes[bucket] = lane;
    return lane;
}

void work_lane_unused(work_queue *q, work_lane *lane)
{
    if (lane->running || lane->waiting)
        return;
    work_lane **at = &q->lanes[lane->bucket];
    while (*at != lane)
        at = &(*at)->same;
    *at = lane->same;
    free(lane);
}

static bool below_share(const work_queue *q, const work_lane *lane)
{
    return lane->running < q->bounds[lane->kind].share;
}

bool work_lane_open(const work_queue *q, const work_lane *lane)
{
    if (lane->waiting) /* jobs of one lane keep their order */
        return false;
    if (below_share(q, lane))
        return true;
    const work_lane *other = q->first;
    while (other && !below_share(q, other))
        other = other->next;
    return !other && lane->running < q->bounds[lane->kind].max;
}

void work_lane_begin(work_lane *lane)
{
    lane->running++;
}

void work_lane_end(work_queue *q, work_lane *lane)
{
    lane->running--;
    work_lane_unused(q, lane);
}

static void turn_add(work_queue *q, work_lane *lane)
{
    lane->prev = q->last;
    lane->next = NULL;
    *(q->last ? &q->last->next : &q->first) = lane;
    q->last = lane;
}

static void turn_remove(work_queue *q, work_lane *lane)
{
    *(lane->prev ? &lane->prev->next : &q->first) = lane->next;
    *(lane->next ? &lane->next->prev : &q->last) = lane->prev;
}

void work_queue_add(work_queue *q, work_lane *lane, pool_job *job)
{
    job->next = NULL;
    if (lane->waiting)
        lane->end->next = job;
    else
        lane->waiting = job;
    if (lane->waiting == job)
        turn_add(q, lane);
    lane->end = job;
}

/* The lane whose turn is next: the first one below its share, otherwise the first one below its
 * maximum. At most as many lanes as there are threads can be at a bound, so the scan is short. */
static work_lane *turn_next(const work_queue *q)
{
    work_lane *lane = q->first;
    while (lane && !below_share(q, lane))
        lane = lane->next;
    if (lane)
        return lane;
    for (lane = q->first; lane && lane->running >= q->bounds[lane->kind].max;)
        lane = lane->next;
    return lane;
}

pool_job *work_queue_take(work_queue *q, work_lane **out)
{
    work_lane *lane = turn_next(q);
    if (!lane)
        return NULL;
    pool_job *job = lane->waiting;
    turn_remove(q, lane);
    lane->waiting = job->next;
    if (lane->waiting)
        turn_add(q, lane);
    lane->running++;
    *out = lane;
    return job;
}
