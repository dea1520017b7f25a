/* SPDX-License-Identifier: Apache-2.0
 *
 * A store in a PostgreSQL database: a pool of connections (store/store.h).
 *
 *   L1  Reads may use all connections except a few, so that a thread that reads and then writes
 *       never waits for itself.
 *   L2  Threads get a connection in the order in which they asked for one, except that a write may
 *       pass reads that must wait because of L1.
 *   L3  An operation that met a conflict is run again, after a short random sleep, for as long as
 *       busy_ms allows; never when its outcome is unknown.
 */
#include "store/store_internal.h"

#include "base/util.h"
#include "store/postgres/group_commit.h"
#include "store/postgres/postgres.h"
#include "store/sql/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define POOL 16
#define MAX_POOL 256
#define BUSY_MS 10000
#define MAX_TRIES 200
#define SLEEP_US 500 /* doubled each time, up to 64 times that */
#define HEALTH_US 1000000
#define MAX_JOBS 8

/* A thread that waits for a connection; on its stack. */
typedef struct waiter {
    struct waiter *next;
    bool reading;
    pthread_cond_t able;
} waiter;

typedef struct pool_store {
    store base;
    db_site *site;
    db_site *direct; /* bypasses pgbouncer; or the same */
    int busy_ms;
    sequencer *events;
    bus *bus;
    replicas *replicas; /* NULL: none */
    group_commit *groups;

    pthread_mutex_t lock;
    waiter *waiting;    /* in order of arrival */
    pg *idle[MAX_POOL]; /* the last one used is taken first */
    int n_idle, n_open, max;
    int reading, max_reading;
    ramet_status health; /* of the last attempt to reach the database */
    int64_t asked;       /* when that was */

    struct {
        const char *name; /* NULL: unused */
        pg *holder;       /* the connection that holds it */
    } jobs[MAX_JOBS];     /* jobs that this process runs */
} pool_store;

static pool_store *pool_of(store *s)
{
    return (pool_store *)s;
}

/* ------------------------------------------------------------- connections */

static void health_note(pool_store *s, ramet_status st)
{
    pthread_mutex_lock(&s->lock);
    s->health = st;
    s->asked = time_mono_us();
    pthread_mutex_unlock(&s->lock);
}

/* Call these with the lock held. */
static bool permit_free(const pool_store *s, bool reading)
{
    assert(s->n_idle <= s->n_open && s->n_open <= s->max && s->reading <= s->max_reading);
    return (s->n_idle || s->n_open < s->max) && !(reading && s->reading >= s->max_reading);
}

/* The first waiter that may have a free permit: a read may have to wait where a write need not (L1,
 * L2). */
static waiter *permit_next(const pool_store *s)
{
    waiter *w = s->waiting;
    while (w && !permit_free(s, w->reading))
        w = w->next;
    return w;
}

static void permit_signal(pool_store *s)
{
    ASSERT_LOCKED(&s->lock);
    waiter *w = permit_next(s);
    if (w)
        pthread_cond_signal(&w->able);
}

/* Waits for this thread's turn; false: it took too long. */
static bool permit_wait(pool_store *s, bool reading)
{
    struct timespec until = time_after((int64_t)s->busy_ms * 1000);
    waiter me = {.reading = reading}, **at = &s->waiting;
    cond_init(&me.able);
    while (*at)
        at = &(*at)->next;
    *at = &me;
    int rc = 0;
    while (rc == 0 && permit_next(s) != &me)
        rc = pthread_cond_timedwait(&me.able, &s->lock, &until);
    for (at = &s->waiting; *at != &me;)
        at = &(*at)->next;
    *at = me.next;
    pthread_cond_destroy(&me.able);
    return rc == 0;
}

/* Waits for a permit to use a connection, and takes an idle connection when there is one. */
static ramet_status permit_take(pool_store *s, bool reading, pg **out, char *message)
{
    pthread_mutex_lock(&s->lock);
    bool fine = (permit_free(s, reading) && !permit_next(s)) || permit_wait(s, reading);
    *out = NULL;
    if (fine) {
        s->reading += reading;
        if (s->n_idle)
            *out = s->idle[--s->n_idle];
        else
            s->n_open++;
    }
    /* Another permit may be free as well; and a waiter that gave up may have been signalled. */
    permit_signal(s);
    pthread_mutex_unlock(&s->lock);
    if (fine)
        return RAMET_OK;
    snprintf(message, 512, "no connection to the database became free in %d ms", s->busy_ms);
    return RAMET_BUSY;
}

/* Returns a connection to the pool, or only its permit when it is NULL or unusable. Whether the
 * server has closed it is checked when it is taken again: that may happen at any time until
 * then. */
static void permit_give(pool_store *s, bool reading, pg *d)
{
    pg *dead = d && !link_usable(d) ? d : NULL;
    pthread_mutex_lock(&s->lock);
    s->reading -= reading;
    if (d && !dead)
        s->idle[s->n_idle++] = d;
    else
        s->n_open--;
    permit_signal(s);
    pthread_mutex_unlock(&s->lock);
    pg_close(dead);
}

static ramet_status take(pool_store *s, bool reading, pg **out, char *message)
{
    ramet_status st = permit_take(s, reading, out, message);
    if (st != RAMET_OK || (*out && link_alive(*out)))
        return st;
    pg_close(*out);
    st = pg_reach(s->site, out, message);
    health_note(s, st);
    if (st != RAMET_OK)
        permit_give(s, reading, NULL);
    return st;
}

/* ------------------------------------------------------------------ reading */

static db *pool_read_begin(store *base, ramet_status *st, char *message)
{
    pool_store *s = pool_of(base);
    pg *d;
    *st = take(s, true, &d, message);
    if (*st != RAMET_OK)
        return NULL;
    *st = db_begin_read(&d->base);
    if (*st == RAMET_OK)
        return &d->base;
    snprintf(message, 512, "%s", db_message(&d->base));
    permit_give(s, true, d);
    return NULL;
}

static db *pool_page_begin(store *base, int64_t *position, ramet_status *st, char *message)
{
    replicas *r = pool_of(base)->replicas;
    pg *d = r ? replica_take(r, position) : NULL;
    *st = RAMET_OK;
    if (d)
        return &d->base;
    *position = 0;
    return pool_read_begin(base, st, message);
}

static int64_t pool_position(store *base)
{
    return pool_of(base)->site->position;
}

static void pool_read_end(store *base, db *d)
{
    db_end_read(d);
    if (((pg *)d)->replica) {
        replica_give((pg *)d);
        return;
    }
    permit_give(pool_of(base), true, (pg *)d);
}

static ramet_status pool_connect(store *base, db **out, char *message)
{
    pg *d;
    ramet_status st = pg_connect(pool_of(base)->site, &d, message);
    *out = st == RAMET_OK ? &d->base : NULL;
    return st;
}

/* ------------------------------------------------------------------ writing */

/* The result of one run of an operation. */
typedef struct outcome {
    ramet_status status;
    bool again; /* it may be run again */
    bool wrote;
} outcome;

/* Only when it is certain that nothing was written. */
static bool can_run_again(pg_failure failure)
{
    switch (failure) {
    case FAILURE_CONFLICT:
    case FAILURE_LOST:
        return true;
    case FAILURE_NONE:
    case FAILURE_NEEDS_READ:
    case FAILURE_UNGUARDED:
    case FAILURE_UNKNOWN:
    case FAILURE_REFUSED:
        break;
    }
    return false;
}

static outcome run_once(pool_store *s, pg *d, store_op run, void *arg, char *message)
{
    outcome o = {.status = db_begin_write(&d->base)};
    if (o.status == RAMET_OK) {
        o.status = run(&d->base, arg);
        /* A refusal has changed nothing, whatever was sent. */
        if (db_status(&d->base) == RAMET_OK && o.status != RAMET_OK) {
            db_rollback(&d->base);
            return o;
        }
        o.status = db_commit(&d->base);
    }
    if (o.status == RAMET_OK) {
        o.wrote = d->progress >= DID_WRITE;
        if (d->progress == DID_WRITE_EVENTS)
            sequencer_wrote(s->events);
        return o;
    }
    o.again = can_run_again(d->failure);
    snprintf(message, 512, "%s", db_message(&d->base));
    return o;
}

static void sleep_uneven(int tries)
{
    uint32_t r;
    random_bytes(&r, sizeof r);
    int64_t max = (int64_t)SLEEP_US << (tries < 6 ? tries : 6);
    struct timespec t = time_spec((int64_t)(r % (uint32_t)max));
    nanosleep(&t, NULL);
}

static ramet_status pool_write(store *base, store_op run, void *arg, char *message)
{
    pool_store *s = pool_of(base);
    int64_t until = time_mono_us() + (int64_t)s->busy_ms * 1000;
    for (int tries = 0;; tries++) {
        pg *d;
        message[0] = 0;
        ramet_status st = take(s, false, &d, message);
        if (st != RAMET_OK)
            return st;
        outcome o = run_once(s, d, run, arg, message);
        bool lost = d->link == LINK_LOST;
        permit_give(s, false, d);
        if (o.status == RAMET_OK && o.wrote)
            store_count(base, 1);
        /* A lost connection is replaced once; when that does not help, the caller gets the
         * error. */
        if (!o.again || tries >= MAX_TRIES || (lost && tries) || time_mono_us() > until)
            return o.status;
        sleep_uneven(tries);
    }
}

/* A lost connection is replaced until the time is over: the caller needs the answer. */
static ramet_status pool_fence(store *base, char *message)
{
    pool_store *s = pool_of(base);
    int64_t until = time_mono_us() + (int64_t)s->busy_ms * 1000;
    for (;;) {
        pg *d;
        ramet_status st = take(s, false, &d, message);
        if (st == RAMET_OK) {
            st = fence_wait(d, until);
            bool over = st == RAMET_OK || d->link != LINK_LOST;
            if (st != RAMET_OK)
                snprintf(message, 512, "%s", db_message(&d->base));
            permit_give(s, false, d);
            if (over)
                return st;
        }
        if (time_mono_us() > until)
            return st;
        sleep_uneven(6);
    }
}

static ramet_status group_take(store *s, pg **out, char *message)
{
    return take(pool_of(s), false, out, message);
}

static void group_give(store *s, pg *d)
{
    permit_give(pool_of(s), false, d);
}

static void group_wrote_events(store *s)
{
    sequencer_wrote(pool_of(s)->events);
}

static ramet_status pool_write_guarded(store *base, store_op run, void *arg, char *message)
{
    pool_store *s = pool_of(base);
    ramet_status st;
    if (!s->site->bouncer && group_commit_write(s->groups, run, arg, &st, message))
        return st;
    return pool_write(base, run, arg, message);
}

/* ------------------------------------------------------------------ health */

/* While all is well no connection is used; after a failure the database is probed now and then. */
static ramet_status pool_health(store *base)
{
    pool_store *s = pool_of(base);
    pthread_mutex_lock(&s->lock);
    ramet_status st = s->health;
    bool look = st != RAMET_OK && time_mono_us() - s->asked > HEALTH_US;
    pthread_mutex_unlock(&s->lock);
    if (!look)
        return st;
    char message[512];
    pg *d;
    st = take(s, false, &d, message);
    if (st == RAMET_OK)
        permit_give(s, false, d);
    return st;
}

static void pool_settle(store *s, bool all)
{
    sequencer_settle(pool_of(s)->events, all);
}

/* --------------------------------------------------------- other processes */

static int64_t pool_mark(store *s)
{
    return sequencer_mark(pool_of(s)->events);
}

static void pool_upto(store *s, int64_t mark)
{
    sequencer_upto(pool_of(s)->events, mark);
}

static bool pool_follow(store *s)
{
    return bus_follow(pool_of(s)->bus);
}

static void pool_publish(store *s, const char *text, size_t n)
{
    bus_publish(pool_of(s)->bus, text, n);
}

static void pool_flush(store *s, int ms)
{
    bus_flush(pool_of(s)->bus, ms);
}

static bool pool_subscribe(store *s, store_subscriber subscriber, void *arg)
{
    return bus_subscribe(pool_of(s)->bus, subscriber, arg);
}

static void pool_wait_event(store *s, int64_t no, int ms)
{
    bus_wait_event(pool_of(s)->bus, no, ms);
}

static ramet_status pool_beat(store *base, const char *host, int64_t dead_us, arena *a,
                              store_hosts *out, char *message)
{
    pool_store *s = pool_of(base);
    pg *d;
    ramet_status st = take(s, false, &d, message);
    if (st != RAMET_OK)
        return st;
    st = node_beat(d, host, dead_us, a, out);
    if (st != RAMET_OK)
        snprintf(message, 512, "%s", db_message(&d->base));
    permit_give(s, false, d);
    return st;
}

static void pool_leave(store *base, const char *host)
{
    pool_store *s = pool_of(base);
    char message[512];
    pg *d;
    if (take(s, false, &d, message) != RAMET_OK)
        return;
    node_leave(d, host);
    permit_give(s, false, d);
}

/* A dedicated connection holds the job, so that the job ends when the process dies. */
static bool pool_job(store *base, const char *job, int64_t every_us)
{
    pool_store *s = pool_of(base);
    char message[512];
    pg *d;
    int i = 0;
    if (take(s, false, &d, message) != RAMET_OK)
        return false;
    bool due = job_due(d, job, every_us);
    permit_give(s, false, d);
    if (!due || pg_connect(s->direct, &d, message) != RAMET_OK)
        return false;
    bool mine = job_take(d, job, every_us);
    pthread_mutex_lock(&s->lock);
    while (i < MAX_JOBS && s->jobs[i].name)
        i++;
    mine = mine && i < MAX_JOBS;
    if (mine) {
        s->jobs[i].name = job;
        s->jobs[i].holder = d;
    }
    pthread_mutex_unlock(&s->lock);
    if (!mine)
        pg_close(d);
    return mine;
}

static void pool_job_end(store *base, const char *job)
{
    pool_store *s = pool_of(base);
    pg *d = NULL;
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < MAX_JOBS && !d; i++)
        if (s->jobs[i].name && strcmp(s->jobs[i].name, job) == 0) {
            d = s->jobs[i].holder;
            s->jobs[i].name = NULL;
        }
    pthread_mutex_unlock(&s->lock);
    pg_close(d);
}

static const store_others pool_others = {
    .mark = pool_mark,
    .upto = pool_upto,
    .follow = pool_follow,
    .publish = pool_publish,
    .flush = pool_flush,
    .subscribe = pool_subscribe,
    .wait_event = pool_wait_event,
    .beat = pool_beat,
    .leave = pool_leave,
    .job = pool_job,
    .job_end = pool_job_end,
};

/* ------------------------------------------------------------- open, close */

static void pool_close(store *base)
{
    pool_store *s = pool_of(base);
    group_commit_free(s->groups);
    sequencer_free(s->events);
    bus_free(s->bus);
    replicas_close(s->replicas);
    for (int i = 0; i < s->n_idle; i++)
        pg_close(s->idle[i]);
    if (s->direct != s->site)
        site_close(s->direct);
    site_close(s->site);
    pthread_mutex_destroy(&s->lock);
    free(base->path);
    free(s);
}

static const store_kind pool_kind = {
    .alone = false,
    .close = pool_close,
    .write = pool_write,
    .write_guarded = pool_write_guarded,
    .fence = pool_fence,
    .read_begin = pool_read_begin,
    .page_begin = pool_page_begin,
    .position = pool_position,
    .read_end = pool_read_end,
    .connect = pool_connect,
    .health = pool_health,
    .settle = pool_settle,
    .others = &pool_others,
};

static const group_connections pool_connections = {group_take, group_give, group_wrote_events};

static pool_store *pool_new(const store_config *cfg, db_site *site, db_site *direct)
{
    pool_store *s = xcalloc(1, sizeof *s);
    s->base.kind = &pool_kind;
    s->base.path = xstrdup(site->shown);
    s->site = site;
    s->direct = direct;
    s->busy_ms = cfg->busy_ms > 0 ? cfg->busy_ms : BUSY_MS;
    s->max = cfg->pool > 0 ? cfg->pool : POOL;
    s->max = s->max < 2 ? 2 : s->max > MAX_POOL ? MAX_POOL : s->max;
    s->max_reading = s->max - (s->max + 3) / 4;
    s->groups = group_commit_new(&pool_connections, &s->base, 0);
    pthread_mutex_init(&s->lock, NULL);
    s->events = sequencer_new(site, cfg->on_event, cfg->arg);
    s->bus = bus_new(direct, cfg->on_event, cfg->arg);
    return s;
}

/* Creates or migrates the tables on a direct connection, which bypasses pgbouncer. Without a
 * separate URL for that, the connection joins the pool. */
static ramet_status first_connect(pool_store *s, const store_config *cfg, char *message)
{
    pg *first;
    ramet_status st = pg_connect(s->direct, &first, message);
    if (st == RAMET_OK)
        st = schema_migrate(&first->base, schema_steps, schema_n_steps, cfg->create, message);
    if (st == RAMET_NOT_A_STORE && !cfg->create && schema_empty(&first->base)) {
        snprintf(message, 512, "there is no store at %s", s->site->shown);
        st = RAMET_CANNOT_OPEN;
    }
    if (st == RAMET_OK && s->direct == s->site) {
        s->idle[s->n_idle++] = first;
        s->n_open = 1;
    } else {
        pg_close(first);
    }
    return st;
}

ramet_status store_pool_open(const store_config *cfg, store **out, char *message)
{
    db_site *site, *direct = NULL;
    *out = NULL;
    ramet_status st = site_open(cfg->path, &site, message);
    if (st == RAMET_OK && cfg->direct)
        st = site_open(cfg->direct, &direct, message);
    if (st != RAMET_OK) {
        site_close(site);
        return st;
    }
    pool_store *s = pool_new(cfg, site, direct ? direct : site);
    st = first_connect(s, cfg, message);
    if (st == RAMET_OK && cfg->n_reads)
        st = replicas_open(cfg->reads, cfg->n_reads, cfg->pool > 0 ? cfg->pool : POOL, &s->replicas,
                           message);
    if (st != RAMET_OK) {
        pool_close(&s->base);
        return st;
    }
    site->positions = s->replicas != NULL;
    *out = &s->base;
    return RAMET_OK;
}
