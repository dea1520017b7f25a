/* SPDX-License-Identifier: Apache-2.0
 *
 * pool.c: the thread pool that runs requests. A write blocks a pool thread until it is committed,
 * never an HTTP worker.
 *
 * Each idle thread sleeps on its own condition variable, so one request wakes one thread. The
 * thread that became idle last is woken first: its caches are warm.
 */
#include "runtime/pool.h"

#include "base/util.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct pool_thread {
    pool *pool;
    pthread_t id;
    pthread_cond_t wake;
    pool_job *job;            /* job handed over while the thread was idle */
    work_lane *lane;          /* the lane its job counts in; NULL: none */
    struct pool_thread *next; /* next in the stack of idle threads */
} pool_thread;

struct pool {
    pthread_mutex_t lock; /* guards everything but the atomics */
    work_queue queue;
    pool_thread *idle;
    pool_thread *threads;
    int n_threads;
    atomic_size_t busy; /* waiting or running */
    atomic_bool closed; /* accepts no more jobs */
    bool stop;
};

static _Thread_local pool_thread *this_thread;

/* Hands runnable jobs to idle threads. Caller holds the lock, as for all functions up to
 * pool_main().
 */
static void idle_feed(pool *p)
{
    work_lane *lane;
    pool_job *job;
    while (p->idle && (job = work_queue_take(&p->queue, &lane))) {
        pool_thread *t = p->idle;
        p->idle = t->next;
        t->job = job;
        t->lane = lane;
        pthread_cond_signal(&t->wake);
    }
}

static void lane_leave(pool *p, pool_thread *t)
{
    if (t->lane)
        work_lane_end(&p->queue, t->lane);
    t->lane = NULL;
}

static pool_job *job_next(pool *p, pool_thread *t)
{
    pool_job *job = work_queue_take(&p->queue, &t->lane);
    if (job)
        return job;
    t->job = NULL;
    t->next = p->idle;
    p->idle = t;
    while (!t->job && !p->stop)
        pthread_cond_wait(&t->wake, &p->lock);
    return t->job;
}

static void *pool_main(void *arg)
{
    pool_thread *t = this_thread = arg;
    pool *p = t->pool;
    pthread_mutex_lock(&p->lock);
    for (pool_job *job; (job = job_next(p, t));) {
        pthread_mutex_unlock(&p->lock);
        job->run(job);
        pthread_mutex_lock(&p->lock);
        /* A job that pool_claim() queued again still counts as busy. */
        if (t->lane)
            atomic_fetch_sub(&p->busy, 1);
        lane_leave(p, t);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

bool pool_enter(pool *p)
{
    atomic_fetch_add(&p->busy, 1);
    if (!atomic_load(&p->closed))
        return true;
    atomic_fetch_sub(&p->busy, 1);
    return false;
}

void pool_put(pool *p, pool_job *job, work_kind kind, const char *client)
{
    pthread_mutex_lock(&p->lock);
    work_queue_add(&p->queue, work_lane_get(&p->queue, kind, client), job);
    idle_feed(p);
    pthread_mutex_unlock(&p->lock);
}

bool pool_claim(pool *p, pool_job *job, work_kind kind, const char *client)
{
    pool_thread *t = this_thread;
    pthread_mutex_lock(&p->lock);
    work_lane *lane = work_lane_get(&p->queue, kind, client);
    bool now = lane == t->lane || work_lane_open(&p->queue, lane);
    if (lane != t->lane) {
        if (now)
            work_lane_begin(lane);
        else
            work_queue_add(&p->queue, lane, job);
        lane_leave(p, t);
        t->lane = now ? lane : NULL;
        idle_feed(p); /* the lane it left has room now */
    }
    pthread_mutex_unlock(&p->lock);
    return now;
}

pool *pool_new(const work_limits *limits)
{
    pool *p = xcalloc(1, sizeof *p);
    pthread_mutex_init(&p->lock, NULL);
    int n = limits->threads > 0 ? limits->threads : 1;
    work_queue_init(
        &p->queue,
        &(work_limits){.threads = n, .readers = limits->readers, .share = limits->share});
    p->threads = xcalloc((size_t)n, sizeof *p->threads);
    for (; p->n_threads < n; p->n_threads++) {
        pool_thread *t = &p->threads[p->n_threads];
        t->pool = p;
        pthread_cond_init(&t->wake, NULL);
        if (pthread_create(&t->id, NULL, pool_main, t) != 0)
            break;
    }
    if (p->n_threads)
        return p;
    pool_free(p);
    return NULL;
}

void pool_close(pool *p)
{
    atomic_store(&p->closed, true);
}

size_t pool_busy(const pool *p)
{
    return atomic_load(&p->busy);
}

void pool_free(pool *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    for (pool_thread *t = p->idle; t; t = t->next)
        pthread_cond_signal(&t->wake);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < p->n_threads; i++) {
        pthread_join(p->threads[i].id, NULL);
        pthread_cond_destroy(&p->threads[i].wake);
    }
    pthread_mutex_destroy(&p->lock);
    free(p->threads);
    free(p);
}
