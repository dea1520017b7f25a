/* SPDX-License-Identifier: Apache-2.0
 *
 * The threads that run requests: a write waits for its commit on one of them, and no worker does.
 *
 * Each idle thread sleeps on a condition of its own, so that one request wakes one thread. The one
 * that became idle last is woken first.
 */
#include "server/http_own.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

typedef struct pool_thread {
    http *h;
    pthread_t id;
    pthread_cond_t wake;
    exchange *job;
    struct pool_thread *next; /* idle below it */
} pool_thread;

/* The rest of an upload, then the request itself. */
static void exchange_run(exchange *x)
{
    face_req *q = &x->q;
    bool wanted = true;
    if (x->to.sink) {
        wanted = !q->body.n || x->to.sink(q, q->body.p, q->body.n);
        buf_clear(&q->body);
        x->paused_us += time_mono_us() - x->handed_us;
        if (wanted && !x->ended) {
            atomic_store(&x->at, AT_BODY);
            return;
        }
    }
    if (wanted)
        x->to.run(q, x->to.arg);
    answer_prepare(x);
    /* An upload that is not wanted any more is answered in mid-body. */
    atomic_store(&x->at, x->ended ? AT_ANSWER : AT_REFUSED);
}

static exchange *job_next(pool *p, pool_thread *t)
{
    exchange *x = p->first;
    if (x) {
        p->first = x->next;
        if (!p->first)
            p->last = NULL;
        return x;
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
    pool *p = &t->h->pool;
    pthread_mutex_lock(&p->lock);
    for (exchange *x; (x = job_next(p, t));) {
        pthread_mutex_unlock(&p->lock);
        struct MHD_Connection *conn = x->conn;
        exchange_run(x);
        MHD_resume_connection(conn);
        atomic_fetch_sub(&p->busy, 1);
        pthread_mutex_lock(&p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

bool pool_enter(http *h)
{
    atomic_fetch_add(&h->pool.busy, 1);
    if (!atomic_load(&h->pool.closed))
        return true;
    atomic_fetch_sub(&h->pool.busy, 1);
    return false;
}

void pool_put(http *h, exchange *x)
{
    pool *p = &h->pool;
    atomic_store(&x->at, AT_POOL);
    x->next = NULL;
    pthread_mutex_lock(&p->lock);
    pool_thread *t = p->idle;
    if (t) {
        p->idle = t->next;
        t->job = x;
        pthread_cond_signal(&t->wake);
    } else if (p->last) {
        p->last = p->last->next = x;
    } else {
        p->first = p->last = x;
    }
    pthread_mutex_unlock(&p->lock);
}

bool pool_start(http *h)
{
    pool *p = &h->pool;
    pthread_mutex_init(&p->lock, NULL);
    int n = h->cfg.threads > 0 ? h->cfg.threads : 1;
    p->threads = xcalloc((size_t)n, sizeof *p->threads);
    for (; p->n_threads < n; p->n_threads++) {
        pool_thread *t = &p->threads[p->n_threads];
        t->h = h;
        pthread_cond_init(&t->wake, NULL);
        if (pthread_create(&t->id, NULL, pool_main, t) != 0)
            break;
    }
    return p->n_threads > 0;
}

void pool_stop(http *h)
{
    pool *p = &h->pool;
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
}
