/* SPDX-License-Identifier: Apache-2.0
 *
 * The threads that run requests: a write waits for its commit on one of them, and no worker does.
 *
 * Each idle thread sleeps on a condition of its own, so that one request wakes one thread. The one
 * that became idle last is woken first.
 */
#include "server/pool.h"

#include "base/util.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct pool_thread {
    pool *p;
    pthread_t id;
    pthread_cond_t wake;
    pool_job *job;
    struct pool_thread *next; /* idle below it */
} pool_thread;

struct pool {
    pthread_mutex_t lock;
    pool_job *first, *last;
    pool_thread *idle; /* the one that became idle last is first: its caches are warm */
    pool_thread *threads;
    int n_threads;
    atomic_size_t busy; /* waiting or running */
    atomic_bool closed; /* takes nothing more */
    bool stop;
};

static pool_job *job_next(pool *p, pool_thread *t)
{
    pool_job *job = p->first;
    if (job) {
        p->first = job->next;
        if (!p->first)
            p->last = NULL;
        return job;
    }
    t->job = NULL;
    t->next = p->idle;
    p->idle = t;
    while (!t->job && !p->stop)
        pthread_cond_wait(&t->wake, &p->lock);
    return t->job;
}

static void *pool_main(void *arg)
{
    pool_thread *t = arg;
    pool *p = t->p;
    pthread_mutex_lock(&p->lock);
    for (pool_job *job; (job = job_next(p, t));) {
        pthread_mutex_unlock(&p->lock);
        job->run(job);
        atomic_fetch_sub(&p->busy, 1);
        pthread_mutex_lock(&p->lock);
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

void pool_put(pool *p, pool_job *job)
{
    job->next = NULL;
    pthread_mutex_lock(&p->lock);
    pool_thread *t = p->idle;
    if (t) {
        p->idle = t->next;
        t->job = job;
        pthread_cond_signal(&t->wake);
    } else if (p->last) {
        p->last = p->last->next = job;
    } else {
        p->first = p->last = job;
    }
    pthread_mutex_unlock(&p->lock);
}

pool *pool_new(int threads)
{
    pool *p = xcalloc(1, sizeof *p);
    pthread_mutex_init(&p->lock, NULL);
    int n = threads > 0 ? threads : 1;
    p->threads = xcalloc((size_t)n, sizeof *p->threads);
    for (; p->n_threads < n; p->n_threads++) {
        pool_thread *t = &p->threads[p->n_threads];
        t->p = p;
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
