/* SPDX-License-Identifier: Apache-2.0
 *
 * upkeep.c: periodic work of a server: it keeps the search index up to date, removes expired rows
 * and what the rules of retention name, logs changes of the store's health, and returns memory to
 * the system.
 *
 * A search updates the index, too; doing it in advance makes the first search quick. While writes
 * arrive, the update waits for a pause, at most INDEX_LATEST_S.
 */
#include "server/upkeep.h"

#include "base/util.h"
#include "ramet/erase.h"
#include "ramet/nodes.h"
#include "ramet/retention.h"
#include "runtime/idle.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    TICK_S = 1,
    INDEX_LATEST_S = 30,
    PRUNE_FIRST_S = 3,
    PRUNE_S = 10,
    PRUNE_IDLE_S = 3600,
    GC_FIRST_S = 3600,
    ERASE_AGAIN_S = 60
};

struct upkeep {
    const server_config *cfg;
    ramet *store;
    metrics *metrics;

    /* of the thread */
    ramet_call *call;
    int64_t indexed, seen; /* event numbers */
    int64_t index_due;     /* deadline of the next update; 0: nothing to index */
    int64_t prune_at, gc_at, retention_at;
    int64_t erase_at; /* when to look for interrupted erasures; INT64_MAX: done */
    int64_t pruned;   /* newest event at the last complete pruning */
    ramet_status health;
    idle idle;

    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool stop; /* under the lock */
};

static void upkeep_failed(const upkeep *u, const char *what, ramet_status st)
{
    if (st != RAMET_OK && st != RAMET_STOPPED)
        log_line(LOG_WARN, what, "error", ramet_call_error(u->call)->message, NULL);
}

static void upkeep_index(upkeep *u, int64_t now)
{
    int64_t newest = ramet_event_last(u->store);
    if (newest == u->indexed)
        return;
    if (!u->index_due)
        u->index_due = now + INDEX_LATEST_S * INT64_C(1000000);
    if (newest == u->seen || now > u->index_due) {
        upkeep_failed(u, "the search index cannot follow",
                      ramet_search_update(u->call, false, NULL));
        u->indexed = newest;
        u->index_due = 0;
    }
    u->seen = newest;
}

/* Removes old events and expired answers of idempotency keys; the latter also without new events.
 */
static void upkeep_prune(upkeep *u, int64_t now)
{
    bool moved = u->seen != u->pruned;
    if (now < u->prune_at + (moved ? 0 : PRUNE_IDLE_S * INT64_C(1000000)))
        return;
    u->prune_at = now + PRUNE_S * INT64_C(1000000);
    /* Events that are not indexed yet are kept, and pruned by a later call. */
    u->pruned = u->indexed == u->seen ? u->seen : -1;
    if (!ramet_job_begin(u->store, "prune", PRUNE_S * INT64_C(800000)))
        return;
    upkeep_failed(u, "old events cannot be removed",
                  ramet_events_prune(u->call, u->cfg->event_window, NULL));
    ramet_job_end(u->store, "prune");
}

static bool upkeep_goes_on(void *arg, const char *what, int64_t done_n, int64_t total)
{
    upkeep *u = arg;
    (void)what, (void)done_n, (void)total;
    pthread_mutex_lock(&u->lock);
    bool on = !u->stop;
    pthread_mutex_unlock(&u->lock);
    return on;
}

static void upkeep_gc(upkeep *u, int64_t now)
{
    ramet_gc_out out;
    char sessions[24], entries[24];
    if (!u->cfg->gc_hours || now < u->gc_at)
        return;
    u->gc_at = now + u->cfg->gc_hours * INT64_C(3600000000);
    /* Shorter than the interval: another node may have run it a little later than this one would.
     */
    if (!ramet_job_begin(u->store, "gc", u->cfg->gc_hours * INT64_C(3000000000)))
        return;
    ramet_status st = ramet_gc(u->call, false, upkeep_goes_on, u, &out);
    ramet_job_end(u->store, "gc");
    if (st != RAMET_STOP)
        upkeep_failed(u, "what was deleted could not be removed", st);
    if (st != RAMET_OK || !out.sessions)
        return;
    snprintf(sessions, sizeof sessions, "%lld", (long long)out.sessions);
    snprintf(entries, sizeof entries, "%lld", (long long)out.entries);
    log_line(LOG_INFO, "removed for good", "sessions", sessions, "entries", entries, NULL);
}

/* Applies the rules of retention, if they are switched on. */
static void upkeep_retention(upkeep *u, int64_t now)
{
    ramet_retention_out out;
    char sessions[24], entries[24];
    if (!u->cfg->retention_s || now < u->retention_at)
        return;
    u->retention_at = now + u->cfg->retention_s * INT64_C(1000000);
    ramet_retention_run_in in = {.scheduled = true,
                                 .every_us = u->cfg->retention_s * INT64_C(800000)};
    ramet_status st = ramet_retention_run(u->call, &in, upkeep_goes_on, u, &out);
    if (st != RAMET_STOP)
        upkeep_failed(u, "the rules of retention could not be applied", st);
    if (st != RAMET_OK || !out.sessions)
        return;
    snprintf(sessions, sizeof sessions, "%lld", (long long)out.sessions);
    snprintf(entries, sizeof entries, "%lld", (long long)out.entries);
    log_line(LOG_INFO, "removed by rule", "sessions", sessions, "entries", entries, NULL);
}

/* What a server that died has begun to erase. Once it has looked, only a crash leaves more. */
static void upkeep_erase(upkeep *u, int64_t now)
{
    int64_t n = 0;
    char count[24];
    if (now < u->erase_at)
        return;
    u->erase_at = now + ERASE_AGAIN_S * INT64_C(1000000);
    ramet_status st = ramet_erase_resume(u->call, &n);
    upkeep_failed(u, "an erasure that was interrupted cannot go on", st);
    if (st == RAMET_OK)
        u->erase_at = INT64_MAX;
    if (!n)
        return;
    snprintf(count, sizeof count, "%lld", (long long)n);
    log_line(LOG_INFO, "finished erasures that were interrupted", "count", count, NULL);
}

static void upkeep_step(upkeep *u)
{
    int64_t now = time_mono_us();
    ramet_status health = ramet_health(u->store);
    if (health != u->health)
        log_line(health == RAMET_OK ? LOG_INFO : LOG_ERROR,
                 health == RAMET_OK ? "the store takes writes again" : "the store takes no writes",
                 "reason", ramet_status_text(health), NULL);
    u->health = health;
    metrics_refresh(u->metrics, u->store);
    idle_step(&u->idle, u->store, now);
    if (health != RAMET_OK)
        return;
    ramet_tidy(u->store);
    upkeep_index(u, now);
    upkeep_prune(u, now);
    upkeep_retention(u, now);
    upkeep_gc(u, now);
    upkeep_erase(u, now);
    ramet_call_reset(u->call);
}

static void *upkeep_main(void *arg)
{
    upkeep *u = arg;
    pthread_mutex_lock(&u->lock);
    while (!u->stop) {
        pthread_mutex_unlock(&u->lock);
        upkeep_step(u);
        struct timespec at = time_after(TICK_S * INT64_C(1000000));
        pthread_mutex_lock(&u->lock);
        while (!u->stop && pthread_cond_timedwait(&u->wake, &u->lock, &at) == 0)
            continue;
    }
    pthread_mutex_unlock(&u->lock);
    return NULL;
}

upkeep *upkeep_start(const server_config *cfg, ramet *store, metrics *m)
{
    upkeep *u = xcalloc(1, sizeof *u);
    int64_t now = time_mono_us(), first = GC_FIRST_S * INT64_C(1000000);
    int64_t span = cfg->gc_hours * INT64_C(3600000000);
    u->cfg = cfg;
    u->store = store;
    u->metrics = m;
    u->call = ramet_call_new(store, NULL, NULL);
    u->indexed = -1;
    u->prune_at = now + PRUNE_FIRST_S * INT64_C(1000000);
    u->gc_at = now + (span < first ? span : first);
    span = cfg->retention_s * INT64_C(1000000);
    u->retention_at = now + (span < first ? span : first);
    pthread_mutex_init(&u->lock, NULL);
    cond_init(&u->wake);
    if (pthread_create(&u->thread, NULL, upkeep_main, u))
        abort();
    return u;
}

void upkeep_stop(upkeep *u)
{
    pthread_mutex_lock(&u->lock);
    u->stop = true;
    ramet_search_stop(u->store);
    pthread_cond_signal(&u->wake);
    pthread_mutex_unlock(&u->lock);
    pthread_join(u->thread, NULL);
    pthread_cond_destroy(&u->wake);
    pthread_mutex_destroy(&u->lock);
    ramet_call_free(u->call);
    free(u);
}
