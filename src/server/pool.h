/* SPDX-License-Identifier: Apache-2.0
 *
 * pool.h: the threads that run requests, whoever they came by.
 *
 * A job is a part of whatever it belongs to, is in the pool once at a time, and may be freed by its
 * own run().
 */
#ifndef SERVER_POOL_H
#define SERVER_POOL_H

#include <stdbool.h>
#include <stddef.h>

typedef struct pool pool;

typedef struct pool_job {
    struct pool_job *next; /* in the queue */
    void (*run)(struct pool_job *job);
} pool_job;

pool *pool_new(int threads); /* NULL: not one thread could be made */
/* False: it is closed. Else pool_put() is to follow. */
bool pool_enter(pool *p);
void pool_put(pool *p, pool_job *job);
void pool_close(pool *p);        /* takes nothing more */
size_t pool_busy(const pool *p); /* jobs that wait or run */
void pool_free(pool *p);         /* when no job runs any more; NULL: nothing */

#endif
