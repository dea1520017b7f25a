/* SPDX-License-Identifier: Apache-2.0
 *
 * A store in a file: one writer that commits queued writes in groups, and a pool of readers
 * (store.h).
 *
 * Whether writes are accepted is a state of the store:
 *
 *   WRITES_OPEN       writes are accepted
 *   WRITES_FULL       the disk was full; each group first probes with one small commit
 *   WRITES_BROKEN     a write or sync failed, the file is damaged, or it can only be read; this
 *                     lasts until the store is reopened
 *
 *             probe commits
 *        +----------------------+
 *        v                      |
 *   WRITES_OPEN -- full --> WRITES_FULL
 *        |                      |
 *        +------- failure ------+----> WRITES_BROKEN (final)
 *
 * Invariants
 *   W1  Nothing leaves WRITES_BROKEN, and the first failure that led there stays the reason.
 *   W2  Only a probe that committed leads from WRITES_FULL back to WRITES_OPEN.
 *   W3  The state and its reason change and are read together, under `lock`: the leader, a
 *       checkpoint on another thread (file_tidy) and file_health() share them.
 */
#include "store/store_internal.h"

#include "base/util.h"
#include "store/sql/schema.h"

#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define GROUP_MAX 512
_Static_assert(GROUP_MAX == 1 << (RAMET_BATCH_SIZES - 1), "the last size is that of a full group");
#define GATHER_PART 4 /* the leader waits at most a quarter of a commit for more writes */
#define READERS_MAX 256
/* Pages in the write-ahead log: from the first on a checkpoint is worthwhile, beyond the second a
 * writer makes one itself. */
#define LOG_SOME 500
#define MAX_LOG_PAGES 4000

typedef struct waiter {
    struct waiter *next;
    store_op run; /* NULL: write the file anew (file_scrub()), in no group */
    void *arg;
    ramet_status status;
    char message[512];
    bool done;
    sem_t wake; /* done, or: must become the leader */
} waiter;

typedef enum { WRITES_OPEN, WRITES_FULL, WRITES_BROKEN, N_WRITE_STATES } write_state;

/* Why writes are not accepted; RAMET_OK and no text while they are. */
typedef struct write_stop {
    ramet_status cause;
    char why[512];
} write_stop;

typedef struct file_store {
    store base;
    char *vfs;
    int busy_ms;

    pthread_mutex_t lock; /* protects the queue and the write state */
    waiter *first, *last;
    bool leading;   /* there is a leader */
    size_t waiting; /* in the queue */
    size_t last_group;
    size_t wanted; /* length of the queue that the leader waits for; 0: it does not wait */
    pthread_cond_t gathered;
    int64_t commit_us;     /* duration of the last commit */
    db *writer;            /* used by the leader only */
    write_state writes;    /* changed only by writes_move() */
    write_stop stop;       /* its reason */
    _Atomic int log_pages; /* after the last commit */

    pthread_mutex_t pool_lock;
    pthread_cond_t pool_free;
    db *idle[READERS_MAX];
    int n_idle, n_open, max_open;
} file_store;

static file_store *file_of(store *s)
{
    return (file_store *)s;
}

/* Failures after which the disk or the file can no longer be trusted. */
static bool stops_writes(ramet_status st)
{
    return st == RAMET_IO || st == RAMET_FULL || st == RAMET_DAMAGED || st == RAMET_CANNOT_OPEN ||
           st == RAMET_NOT_A_STORE;
}

/* The only function that changes the state; `lock` must be held. */
static void writes_move(file_store *s, write_state to, ramet_status cause, const char *why)
{
    static const bool legal[N_WRITE_STATES][N_WRITE_STATES] = {
        [WRITES_OPEN] = {[WRITES_FULL] = true, [WRITES_BROKEN] = true},
        [WRITES_FULL] = {[WRITES_OPEN] = true, [WRITES_BROKEN] = true},
    };
    ASSERT_LOCKED(&s->lock);
    assert(legal[s->writes][to]);
    assert((to == WRITES_OPEN) == (cause == RAMET_OK));
    s->writes = to;
    s->stop.cause = cause;
    snprintf(s->stop.why, sizeof s->stop.why, "%s", why);
}

/* A write, a sync or a checkpoint failed. A state that is already as bad keeps its reason. */
static void writes_stop(file_store *s, ramet_status cause, const char *why)
{
    write_state to = cause == RAMET_FULL ? WRITES_FULL : WRITES_BROKEN;
    pthread_mutex_lock(&s->lock);
    if (to > s->writes)
        writes_move(s, to, cause, why);
    pthread_mutex_unlock(&s->lock);
}

/* A probe has committed: unless a checkpoint has failed meanwhile, there is room again. */
static void writes_resume(file_store *s)
{
    pthread_mutex_lock(&s->lock);
    if (s->writes == WRITES_FULL)
        writes_move(s, WRITES_OPEN, RAMET_OK, "");
    pthread_mutex_unlock(&s->lock);
}

/* A snapshot of the state; `stop` may be NULL. */
static write_state writes_now(file_store *s, write_stop *stop)
{
    pthread_mutex_lock(&s->lock);
    write_state now = s->writes;
    if (stop)
        *stop = s->stop;
    pthread_mutex_unlock(&s->lock);
    return now;
}

static void settle(waiter **group, size_t n, ramet_status st, const char *message)
{
    for (size_t i = 0; i < n; i++) {
        group[i]->status = st;
        snprintf(group[i]->message, sizeof group[i]->message, "%s", message);
    }
}

typedef enum { GROUP_DONE, GROUP_SPLIT } group_result;

/* Runs a group in one transaction. GROUP_SPLIT: one of several operations failed after a write, or
 * on rows that make no sense; everything was rolled back and no operation has a status yet. */
static group_result group_run(file_store *s, waiter **group, size_t n)
{
    db *d = s->writer;
    ramet_status st = db_begin_write(d);
    for (size_t i = 0; st == RAMET_OK && i < n; i++) {
        waiter *w = group[i];
        int64_t before = db_changes(d);
        w->status = w->run(d, w->arg);
        st = db_status(d);
        bool dirty = w->status != RAMET_OK && db_changes(d) != before;
        bool damaged = st != RAMET_OK && !db_engine_failed(d);
        if ((st == RAMET_OK && dirty) || (n > 1 && damaged)) {
            db_rollback(d);
            return n > 1 ? GROUP_SPLIT : GROUP_DONE;
        }
    }
    int64_t ran = time_mono_us();
    if (st == RAMET_OK)
        st = db_commit(d);
    else
        db_rollback(d);
    s->commit_us = time_mono_us() - ran;
    if (st != RAMET_OK) {
        if (stops_writes(st) && db_engine_failed(d))
            writes_stop(s, st, db_message(d));
        settle(group, n, st, db_message(d));
        return GROUP_DONE;
    }
    store_count(&s->base, n);
    s->log_pages = db_log_pages(d);
    st = s->log_pages < MAX_LOG_PAGES ? RAMET_OK : db_checkpoint(d);
    if (stops_writes(st))
        writes_stop(s, st, db_message(d));
    return GROUP_DONE;
}

/* After a full disk: one small durable write shows whether there is room again. */
static void probe(file_store *s)
{
    db *d = s->writer;
    ramet_status st = db_begin_write(d);
    if (st == RAMET_OK) {
        db_stmt *q = db_query(d, Q_meta_set);
        q_text(q, 1, "probe");
        char value[24];
        snprintf(value, sizeof value, "%lld", (long long)db_changes(d));
        q_text(q, 2, value);
        q_run(q);
        st = db_status(d);
        if (st == RAMET_OK)
            st = db_commit(d);
        else
            db_rollback(d);
    }
    if (st == RAMET_OK)
        writes_resume(s);
    else if (stops_writes(st))
        writes_stop(s, st, db_message(d));
}

/* False, and the answer for the whole group, while writes are not accepted. */
static bool writes_accepted(file_store *s, waiter **group, size_t n)
{
    write_stop stop;
    if (writes_now(s, &stop) == WRITES_OPEN)
        return true;
    char message[600];
    snprintf(message, sizeof message, "writes are stopped: %s", stop.why);
    settle(group, n, RAMET_STOPPED, message);
    return false;
}

/* Writes the file anew, outside any transaction. */
static void scrub_run(file_store *s, waiter **one)
{
    ramet_status st = db_scrub(s->writer);
    if (stops_writes(st))
        writes_stop(s, st, db_message(s->writer));
    settle(one, 1, st, db_message(s->writer));
    db_clear(s->writer);
    s->log_pages = 0;
}

static void lead(file_store *s, waiter **group, size_t n)
{
    if (writes_now(s, NULL) == WRITES_FULL)
        probe(s);
    if (!writes_accepted(s, group, n))
        return;
    if (n == 1 && !group[0]->run) {
        scrub_run(s, group);
        return;
    }
    if (group_run(s, group, n) == GROUP_DONE)
        return;
    for (size_t i = 0; i < n; i++)
        if (writes_accepted(s, &group[i], 1))
            group_run(s, &group[i], 1);
}

static size_t take_group(file_store *s, waiter **group)
{
    size_t n = 0;
    ASSERT_LOCKED(&s->lock);
    bool alone = s->first && !s->first->run;
    while (s->first && n < GROUP_MAX && (n == 0 || (!alone && s->first->run))) {
        group[n++] = s->first;
        s->first = s->first->next;
    }
    if (!s->first)
        s->last = NULL;
    s->waiting -= n;
    return n;
}

/* The callers woken by the last commit are about to queue again, and share the next commit if the
 * leader waits for them. It waits for most of them, not all: the last ones queue while the group
 * runs, and head the next group. It never waits longer than a part of the duration of a commit. */
static void gather(file_store *s)
{
    size_t want = s->last_group * 3 / 4;
    if (want < 2 || s->waiting >= want)
        return;
    struct timespec until = time_after(s->commit_us / GATHER_PART);
    s->wanted = want;
    while (s->waiting < want && pthread_cond_timedwait(&s->gathered, &s->lock, &until) == 0)
        ;
    s->wanted = 0;
}

/* Runs the group at the front of the queue, passes the lead on, and wakes the group. */
static void lead_once(file_store *s)
{
    waiter *group[GROUP_MAX];
    pthread_mutex_lock(&s->lock);
    gather(s);
    size_t n = take_group(s, group);
    s->last_group = n;
    pthread_mutex_unlock(&s->lock);
    lead(s, group, n);
    pthread_mutex_lock(&s->lock);
    waiter *next = s->first;
    s->leading = next != NULL;
    pthread_mutex_unlock(&s->lock);
    if (next)
        sem_post(&next->wake);
    for (size_t i = 0; i < n; i++) {
        group[i]->done = true;
        sem_post(&group[i]->wake);
    }
}

static ramet_status file_write(store *base, store_op run, void *arg, char *message)
{
    file_store *s = file_of(base);
    waiter w; /* not initialized as a whole: its message is long */
    w.next = NULL;
    w.run = run;
    w.arg = arg;
    w.status = RAMET_OK;
    w.message[0] = 0;
    w.done = false;
    sem_init(&w.wake, 0, 0);
    pthread_mutex_lock(&s->lock);
    if (s->last)
        s->last->next = &w;
    else
        s->first = &w;
    s->last = &w;
    s->waiting++;
    if (s->wanted && s->waiting >= s->wanted)
        pthread_cond_signal(&s->gathered);
    bool leader = !s->leading;
    s->leading = true;
    pthread_mutex_unlock(&s->lock);
    while (!leader && sem_wait(&w.wake) != 0)
        ; /* interrupted by a signal */
    /* There is no leader only while the queue is empty, and the lead goes to the first in it: so
     * the leader's own operation is in its group. */
    if (!w.done)
        lead_once(s);
    assert(w.done);
    sem_destroy(&w.wake);
    snprintf(message, sizeof w.message, "%s", w.status == RAMET_OK ? "" : w.message);
    return w.status;
}

/* ------------------------------------------------------------------ readers */

static ramet_status file_connect(store *base, db **out, char *message)
{
    const file_store *s = file_of(base);
    db_config cfg = {.path = s->base.path, .vfs = s->vfs, .busy_ms = s->busy_ms};
    return db_open(&cfg, out, message);
}

static db *file_read_begin(store *base, ramet_status *st, char *message)
{
    file_store *s = file_of(base);
    pthread_mutex_lock(&s->pool_lock);
    while (!s->n_idle && s->n_open >= s->max_open)
        pthread_cond_wait(&s->pool_free, &s->pool_lock);
    db *d = s->n_idle ? s->idle[--s->n_idle] : NULL;
    if (!d)
        s->n_open++;
    pthread_mutex_unlock(&s->pool_lock);
    *st = RAMET_OK;
    if (!d)
        *st = file_connect(base, &d, message);
    if (*st == RAMET_OK && (*st = db_begin_read(d)) != RAMET_OK)
        snprintf(message, 512, "%s", db_message(d));
    if (*st == RAMET_OK)
        return d;
    db_close(d);
    pthread_mutex_lock(&s->pool_lock);
    s->n_open--;
    pthread_cond_signal(&s->pool_free);
    pthread_mutex_unlock(&s->pool_lock);
    return NULL;
}

static void file_read_end(store *base, db *d)
{
    file_store *s = file_of(base);
    db_end_read(d);
    pthread_mutex_lock(&s->pool_lock);
    assert(s->n_idle < s->n_open);
    s->idle[s->n_idle++] = d;
    pthread_cond_signal(&s->pool_free);
    pthread_mutex_unlock(&s->pool_lock);
}

/* ------------------------------------------------------------- open, close */

static void file_close(store *base)
{
    file_store *s = file_of(base);
    for (int i = 0; i < s->n_idle; i++)
        db_close(s->idle[i]);
    db_close(s->writer);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->pool_lock);
    pthread_cond_destroy(&s->pool_free);
    pthread_cond_destroy(&s->gathered);
    free(s->base.path);
    free(s->vfs);
    free(s);
}

/* Runs a checkpoint on a separate connection, so that a writer can continue. The writer restarts
 * the log if all of it is in the main file by then. */
static void file_tidy(store *base)
{
    file_store *s = file_of(base);
    char message[512];
    db *d;
    if (s->log_pages < LOG_SOME || file_connect(base, &d, message) != RAMET_OK)
        return;
    ramet_status st = db_checkpoint(d);
    if (stops_writes(st))
        writes_stop(s, st, db_message(d));
    db_close(d);
    s->log_pages = 0;
}

static ramet_status file_scrub(store *base, char *message)
{
    return file_write(base, NULL, NULL, message);
}

/* Connections in use keep their caches, and so does the writer, which belongs to the leader.
 * Freeing pages is quick: readers may wait for it. */
static void file_release(store *base)
{
    file_store *s = file_of(base);
    pthread_mutex_lock(&s->pool_lock);
    for (int i = 0; i < s->n_idle; i++)
        db_release(s->idle[i]);
    pthread_mutex_unlock(&s->pool_lock);
}

static ramet_status file_health(store *base)
{
    write_stop stop;
    writes_now(file_of(base), &stop);
    return stop.cause;
}

/* Nothing to do: the write itself assigns numbers. */
static void file_settle(store *s, bool all)
{
    (void)s;
    (void)all;
}

static const store_kind file_kind = {
    .alone = true,
    .close = file_close,
    .write = file_write,
    .read_begin = file_read_begin,
    .read_end = file_read_end,
    .connect = file_connect,
    .health = file_health,
    .tidy = file_tidy,
    .scrub = file_scrub,
    .release = file_release,
    .settle = file_settle,
};

ramet_status store_file_open(const store_config *cfg, store **out, char *message)
{
    *out = NULL;
    db_config wc = {.path = cfg->path,
                    .vfs = cfg->vfs,
                    .busy_ms = cfg->busy_ms,
                    .create = cfg->create,
                    .writer = true};
    db *writer;
    ramet_status st = db_open(&wc, &writer, message);
    if (st != RAMET_OK)
        return st;
    st = schema_migrate(writer, schema_steps, schema_n_steps, cfg->create, message);
    if (st != RAMET_OK) {
        db_close(writer);
        return st;
    }
    file_store *s = xcalloc(1, sizeof *s);
    s->base.kind = &file_kind;
    s->base.path = xstrdup(cfg->path);
    s->vfs = xstrdup(cfg->vfs);
    s->busy_ms = cfg->busy_ms;
    s->max_open = cfg->readers > 0 ? (cfg->readers < READERS_MAX ? cfg->readers : READERS_MAX) : 8;
    s->writer = writer;
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->pool_lock, NULL);
    pthread_cond_init(&s->pool_free, NULL);
    cond_init(&s->gathered);
    if (db_read_only(writer)) {
        char why[512];
        snprintf(why, sizeof why, "%s cannot be written: it or its file system is read-only",
                 cfg->path);
        writes_stop(s, RAMET_IO, why);
    }
    *out = &s->base;
    return RAMET_OK;
}
