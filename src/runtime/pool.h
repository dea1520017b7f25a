/* SPDX-License-Identifier: Apache-2.0
 *
 * pool.h: the thread pool that runs the requests of every transport.
 *
 * A job is embedded in the object it belongs to, is in the pool at most once at a time, and may be
 * freed by its own run(). work_queue.h describes how clients share the threads.
 */
#ifndef RUNTIME_POOL_H
#define RUNTIME_POOL_H

#include "runtime/work_queue.h"

typedef struct pool pool;

struct pool_job {
    struct pool_job *next; /* in its lane */
    void (*run)(pool_job *job);
};

pool *pool_new(const work_limits *limits); /* NULL: no thread could be started */
/* Returns false if the pool is closed. Otherwise pool_put() must follow. */
bool pool_enter(pool *p);
/* Queues a job of a client: a user, or a stand-in for the user until it is known. */
void pool_put(pool *p, pool_job *job, work_kind kind, const char *client);
/* On the thread that runs `job`: counts it as work of that kind and that client from here on.
 * False: the client already has its share, and the job was queued; run() is called again when its
 * turn comes, and the caller must return without touching the job. */
bool pool_claim(pool *p, pool_job *job, work_kind kind, const char *client);
void pool_close(pool *p);        /* accept no more jobs */
size_t pool_busy(const pool *p); /* jobs that wait or run */
void pool_free(pool *p);         /* only once no job runs; NULL: does nothing */

#endif
