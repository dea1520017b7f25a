/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of store/store.h that is common to files and databases, and the calls into the kind of
 * store that is open.
 */
#include "store/store_internal.h"

#include "store/postgres/postgres.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

ramet_status store_open(const store_config *cfg, store **out, char *message)
{
    *out = NULL;
    if (db_is_url(cfg->path))
        return store_pool_open(cfg, out, message);
    if (!cfg->n_reads && !cfg->direct)
        return store_file_open(cfg, out, message);
    snprintf(message, 512, "only a PostgreSQL database has %s",
             cfg->n_reads ? "read replicas" : "a direct URL");
    return RAMET_INVALID;
}

void store_close(store *s)
{
    if (s)
        s->kind->close(s);
}

/* ---------------------------------------------- calls that the kind answers */

#define POLL_FILE_US 200000
#define POLL_US 1000000

/* Defines a function with a result, and one without, so that the calls below read as a table. */
#define CALL(type, name, params, call)                                                             \
    type name params                                                                               \
    {                                                                                              \
        return call;                                                                               \
    }
#define DO(name, params, call)                                                                     \
    void name params                                                                               \
    {                                                                                              \
        call;                                                                                      \
    }
/* The same for calls that only a store shared by several processes has. */
#define SHARED(s) (s)->kind->others
#define CALL_SHARED(type, name, params, call, alone)                                               \
    CALL(type, name, params, SHARED(s) ? SHARED(s)->call : (alone))
#define DO_SHARED(name, params, call) DO(name, params, if (SHARED(s)) SHARED(s)->call)

/* clang-format off */
CALL(ramet_status, store_write, (store *s, store_op run, void *arg, char *message),
     s->kind->write(s, run, arg, message))
CALL(ramet_status, store_write_guarded, (store *s, store_op run, void *arg, char *message),
     (s->kind->write_guarded ? s->kind->write_guarded : s->kind->write)(s, run, arg, message))
CALL(db *, store_read_begin, (store *s, ramet_status *st, char *message),
     s->kind->read_begin(s, st, message))
CALL(int64_t, store_position, (store *s), s->kind->position ? s->kind->position(s) : 0)
DO(store_read_end, (store *s, db *d), s->kind->read_end(s, d))
CALL(ramet_status, store_connect, (store *s, db **out, char *message),
     s->kind->connect(s, out, message))
CALL(bool, store_alone, (const store *s), s->kind->alone)
DO(store_settle, (store *s), s->kind->settle(s, false))
DO(store_settle_all, (store *s), s->kind->settle(s, true))
DO(store_release, (store *s), if (s->kind->release) s->kind->release(s))
CALL(ramet_status, store_scrub, (store *s, char *message),
     s->kind->scrub ? s->kind->scrub(s, message) : RAMET_OK)
DO(store_tidy, (store *s), if (s->kind->tidy) s->kind->tidy(s))
CALL(ramet_status, store_health, (store *s), s->kind->health(s))
CALL(const char *, store_path, (const store *s), s->path)
CALL(const char *, store_file, (const store *s), s->kind->alone ? s->path : NULL)

CALL(bool, store_shared, (const store *s), SHARED(s) != NULL)
CALL(int64_t, store_poll_us, (const store *s), SHARED(s) ? POLL_US : POLL_FILE_US)
CALL_SHARED(int64_t, store_mark, (store *s), mark(s), 0)
DO_SHARED(store_upto, (store *s, int64_t mark), upto(s, mark))
CALL_SHARED(bool, store_follow, (store *s), follow(s), false)
DO_SHARED(store_publish, (store *s, const char *text, size_t n), publish(s, text, n))
DO_SHARED(store_flush, (store *s, int ms), flush(s, ms))
CALL_SHARED(bool, store_subscribe, (store *s, store_subscriber subscriber, void *arg), subscribe(s, subscriber, arg), false)
DO_SHARED(store_wait_event, (store *s, int64_t no, int ms), wait_event(s, no, ms))
DO_SHARED(store_leave, (store *s, const char *host), leave(s, host))
CALL_SHARED(bool, store_job, (store *s, const char *job, int64_t every_us), job(s, job, every_us), true)
DO_SHARED(store_job_end, (store *s, const char *job), job_end(s, job))
/* clang-format on */

ramet_status store_fence(store *s, char *message)
{
    message[0] = 0;
    return s->kind->fence ? s->kind->fence(s, message) : RAMET_OK;
}

db *store_page_begin(store *s, int64_t *position, ramet_status *st, char *message)
{
    if (s->kind->page_begin)
        return s->kind->page_begin(s, position, st, message);
    *position = 0;
    return s->kind->read_begin(s, st, message);
}

ramet_status store_beat(store *s, const char *host, int64_t dead_us, arena *a, store_hosts *out,
                        char *message)
{
    *out = (store_hosts){0};
    return s->kind->others ? s->kind->others->beat(s, host, dead_us, a, out, message) : RAMET_OK;
}

void store_shown(const char *where, char *out, size_t size)
{
    if (db_is_url(where))
        url_shown(where, out, size);
    else
        snprintf(out, size, "%s", where);
}

void store_count(store *s, size_t n)
{
    size_t bucket = 0;
    while (((size_t)1 << bucket) < n && bucket < RAMET_BATCH_SIZES - 1)
        bucket++;
    s->batches[bucket]++;
    s->commits++;
    s->writes += (int64_t)n;
}

void store_counters(store *s, int64_t *commits, int64_t *writes, int64_t batches[RAMET_BATCH_SIZES])
{
    *commits = s->commits;
    *writes = s->writes;
    for (size_t i = 0; i < RAMET_BATCH_SIZES; i++)
        batches[i] = s->batches[i];
}

int64_t store_file_size(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (int64_t)st.st_size : 0;
}
