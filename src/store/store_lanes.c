/* SPDX-License-Identifier: Apache-2.0
 *
 * The lanes of light writes (store_lanes.h).
 *
 * While all lanes write, who wants to write queues; when one of them is done, the first in the
 * queue leads. It runs all that wait then, on its connection, and commits them at once. Whose
 * operation refused, wrote nothing or met another one runs it again by itself, on what is true
 * then. Nobody waits for what another has to read first: whoever has to, and is not alone in his
 * group, writes beside the lanes.
 */
#include "store/store_lanes.h"

#include "base/util.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Lanes: as many as there are processors, within these. More of them would make groups smaller, and
 * a commit, a start of the executor and two changes of processes are most of what a write costs.
 * But where a small group takes long, it waits for a disk or a replica, not for processors; then
 * there are as many as can be, since the server lets commits share such a wait. */
#define LANES_LEAST 2
#define LANES_MOST 8
#define SMALL_GROUP 4
#define SLOW_US 1500
#define SLOW_GROUPS 256 /* then it is found out again */
#define GROUP_MOST 256
#define PATIENCE_US 5000 /* then a group begins however small it is */
#define GROUP_BYTES ((size_t)4 << 20)

typedef struct light {
    struct light *next;
    store_op run;
    void *arg;
    ramet_status status;
    char *message; /* 512 */
    bool heavy;    /* to be run in a general transaction */
    bool beside;   /* to be run beside the lanes */
    bool lead;     /* woken to lead; else it is done */
    sem_t wake;
} light;

struct lanes {
    const lane_pool *pool;
    store *base;

    pthread_mutex_t lock;
    light *first, *last; /* waiting to write */
    size_t queued;       /* how many they are */
    size_t flying;       /* how many are being written */
    int usual, leading;  /* there are at least, and are in use */
    int64_t pace;        /* how long small groups took of late, in microseconds */
    int slow;            /* groups since that was found too long */
};

/* With the lock. */
static light *light_first(lanes *s)
{
    light *w = s->first;
    if (w && !(s->first = w->next))
        s->last = NULL;
    if (w) {
        s->queued--;
        s->flying++;
    }
    return w;
}

/* With the lock. */
static void light_queue(lanes *s, light *w)
{
    if (s->last)
        s->last->next = w;
    else
        s->first = w;
    s->last = w;
    s->queued++;
}

/* With the lock. */
static int light_lanes(const lanes *s)
{
    return s->pace > SLOW_US ? LANES_MOST : s->usual;
}

/* With the lock: who is to lead a group now; NULL: nobody. Beside others a group begins when it is
 * as large as they are together: whoever was just written comes back one by one, and the first of
 * them would take a lane for himself. Not when it has been `waiting`: those others may have met a
 * lock that stays. */
static light *light_next(lanes *s, bool waiting)
{
    bool small = s->leading && s->pace <= SLOW_US && s->queued < s->flying;
    if (s->leading >= light_lanes(s) || (small && !waiting))
        return NULL;
    light *w = light_first(s);
    s->leading += w != NULL;
    return w;
}

/* With the lock: a group has taken so long. With more lanes than usual they wait for each other,
 * and that says nothing. */
static void light_pace(lanes *s, size_t n, int64_t us)
{
    if (s->pace > SLOW_US) {
        s->slow = (s->slow + 1) % SLOW_GROUPS;
        if (!s->slow)
            s->pace = 0;
    } else if (n <= SMALL_GROUP && s->leading <= s->usual) {
        s->pace += (us - s->pace) / 8;
    }
}

/* Whether what it writes stands in the batch. */
static bool light_one(pg *d, light *w)
{
    size_t before = batch_count(d->batch);
    bool told = d->told;
    if (batch_bytes(d->batch) <= GROUP_BYTES && w->run(&d->base, w->arg) == RAMET_OK &&
        db_status(&d->base) == RAMET_OK && batch_count(d->batch) > before)
        return true;
    batch_cut(d->batch, before);
    d->told = told;
    return false;
}

/* How many of them stand in the batch. */
static size_t light_run(pg *d, light **group, size_t n)
{
    size_t good = 0;
    for (size_t i = 0; i < n && !d->lost; i++) {
        light *w = group[i];
        if (w->beside)
            continue;
        w->heavy = !light_one(d, w);
        good += !w->heavy;
        if (!w->heavy || d->lost)
            continue;
        if (d->asked) {
            w->heavy = false;
            w->beside = true;
        }
        d->asked = false;
        db_clear(&d->base);
    }
    return d->lost ? 0 : good;
}

/* True: those that are not heavy are committed, or failed with *st. */
static bool light_try(lanes *s, pg *d, db_work how, light **group, size_t n, size_t *good,
                      ramet_status *st)
{
    *st = d->base.e->begin(&d->base, how);
    d->asks_not = how == DB_LIGHT && n > 1;
    *good = *st == RAMET_OK ? light_run(d, group, n) : 0;
    d->asks_not = false;
    if (!*good) {
        db_rollback(&d->base);
        return true;
    }
    *st = db_commit(&d->base);
    if (*st == RAMET_OK && d->told)
        s->pool->told(s->base);
    return *st == RAMET_OK || !d->conflict;
}

/* What a group came to. */
typedef struct light_end {
    ramet_status status;
    bool told;         /* that is for all of them: nothing must be run again */
    char message[512]; /* then */
} light_end;

/* Gives the connection back. */
static void light_write(lanes *s, pg *d, light **group, size_t n, light_end *end)
{
    size_t good = 0;
    if (d && !light_try(s, d, DB_LIGHT, group, n, &good, &end->status))
        light_try(s, d, DB_FRESH, group, n, &good, &end->status);
    /* Whether it was committed is not known: it must not be run again here. */
    end->told = d && end->status != RAMET_OK && d->lost && d->unknown;
    if (end->told)
        snprintf(end->message, sizeof end->message, "%s", db_message(&d->base));
    if (d)
        s->pool->give(s->base, d);
    if (end->status == RAMET_OK && good)
        store_count(s->base, good);
}

/* Tells each what became of it, and wakes those who wait: all but `self`. */
static void light_settle(light **group, size_t n, const light *self, const light_end *end)
{
    for (size_t i = 0; i < n; i++) {
        light *w = group[i];
        if (!w->beside) {
            w->heavy |= end->status != RAMET_OK && !end->told;
            w->status = w->heavy ? RAMET_OK : end->status;
            if (w->status != RAMET_OK)
                snprintf(w->message, 512, "%s", end->message);
        }
        if (w != self)
            sem_post(&w->wake);
    }
}

/* Wakes it up to lead. */
static void light_call(light *w)
{
    if (!w)
        return;
    w->lead = true;
    sem_post(&w->wake);
}

/* Until it leads, or is done. */
static void light_wait(lanes *s, light *w)
{
    for (;;) {
        struct timespec until = time_after(PATIENCE_US);
        if (sem_clockwait(&w->wake, CLOCK_MONOTONIC, &until) == 0)
            return;
        if (errno != ETIMEDOUT)
            continue; /* a signal came */
        pthread_mutex_lock(&s->lock);
        light *next = light_next(s, true);
        pthread_mutex_unlock(&s->lock);
        light_call(next);
    }
}

static void light_lead(lanes *s, light *self)
{
    light *group[GROUP_MOST] = {self};
    size_t n = 1;
    pg *d = NULL;
    light_end end = {0};
    end.status = s->pool->take(s->base, &d, end.message);
    pthread_mutex_lock(&s->lock);
    while (n < GROUP_MOST && s->first)
        group[n++] = light_first(s);
    pthread_mutex_unlock(&s->lock);
    int64_t begun = time_mono_us();
    light_write(s, d, group, n, &end);
    pthread_mutex_lock(&s->lock);
    light_pace(s, n, time_mono_us() - begun);
    s->leading--;
    s->flying -= n;
    light *next = light_next(s, false);
    pthread_mutex_unlock(&s->lock);
    light_call(next);
    light_settle(group, n, self, &end);
}

static void light_beside(lanes *s, light *self)
{
    pg *d = NULL;
    light_end end = {0};
    self->beside = false;
    end.status = s->pool->take(s->base, &d, end.message);
    light_write(s, d, &self, 1, &end);
    light_settle(&self, 1, self, &end);
}

bool lanes_write(lanes *s, store_op run, void *arg, ramet_status *st, char *message)
{
    light w = {.run = run, .arg = arg, .message = message};
    message[0] = 0;
    sem_init(&w.wake, 0, 0);
    pthread_mutex_lock(&s->lock);
    light_queue(s, &w);
    light *next = light_next(s, false);
    pthread_mutex_unlock(&s->lock);
    if (next == &w) {
        w.lead = true;
    } else {
        light_call(next);
        light_wait(s, &w);
    }
    if (w.lead)
        light_lead(s, &w);
    if (w.beside)
        light_beside(s, &w);
    sem_destroy(&w.wake);
    *st = w.status;
    return !w.heavy;
}

static int lanes_of(long processors)
{
    return processors < LANES_LEAST  ? LANES_LEAST
           : processors > LANES_MOST ? LANES_MOST
                                     : (int)processors;
}

lanes *lanes_new(const lane_pool *pool, store *base)
{
    lanes *s = xcalloc(1, sizeof *s);
    s->pool = pool;
    s->base = base;
    s->usual = lanes_of(sysconf(_SC_NPROCESSORS_ONLN));
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

void lanes_free(lanes *s)
{
    if (!s)
        return;
    pthread_mutex_destroy(&s->lock);
    free(s);
}
