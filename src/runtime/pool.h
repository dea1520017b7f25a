/* SPDX-License-Identifier: Apache-2.0
 *
 * pool.h: the threads that run requests of every transport.
 *
 * A job is embedded in what it belongs to, is in the pool at most once at a time, and may be freed
 * by its own run(). Clients share the threads as work_queue.h describes.
 */
#ifndef RUNTIME_POOL_H
#define RUNTIME_POOL_H

#include "runtime/work_queue.h"

typedef struct pool pool;

struct pool_job {
    struct pool_job *next; /* in its lane */
    void (*run)(pool_job *job);
};

pool *pool_new(const work_limits *limits); /* NULL: not one thread could be made */
/* False: it is closed. Else pool_put() must follow. */
bool pool_enter(pool *p);
/* Queues a job of a client: a user, or what stands for one until it is known. */
void pool_put(pool *p, pool_job *job, work_kind kind, const char *client);
/* On the thread that runs `job`: from here on it is work of that kind, of that client. False: the
 * client has its share, and the job was queued; run() is called again when its turn comes, and the
 * caller must return without touching the job. */
bool pool_claim(pool *p, pool_job *job, work_kind kind, const char *client);
void pool_close(pool *p);        /* takes nothing more */
size_t pool_busy(const pool *p); /* jobs that wait or run */
void pool_free(pool *p);         /* when no job runs any more; NULL: nothing */

#endif
