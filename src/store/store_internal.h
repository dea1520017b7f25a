/* SPDX-License-Identifier: Apache-2.0
 *
 * store_internal.h: what the two kinds of store share: sqlite/file_store.c, postgres/pool_store.c
 * and postgres/group_commit.c. Only they and store.c include it.
 */
#ifndef STORE_STORE_INTERNAL_H
#define STORE_STORE_INTERNAL_H

#include "store/store.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

typedef struct store_kind {
    bool alone; /* store_alone() */
    void (*close)(store *s);
    ramet_status (*write)(store *s, store_op run, void *arg, char *message);
    /* NULL: same as write. */
    ramet_status (*write_guarded)(store *s, store_op run, void *arg, char *message);
    ramet_status (*fence)(store *s, char *message); /* NULL: there is only one writer */
    db *(*read_begin)(store *s, ramet_status *st, char *message);
    /* NULL: same as read_begin; there are no replicas. */
    db *(*page_begin)(store *s, int64_t *position, ramet_status *st, char *message);
    int64_t (*position)(store *s); /* NULL: there are no replicas */
    void (*read_end)(store *s, db *d);
    ramet_status (*connect)(store *s, db **out, char *message);
    ramet_status (*health)(store *s);
    void (*tidy)(store *s);                         /* NULL: nothing to do */
    ramet_status (*scrub)(store *s, char *message); /* NULL: it has no files */
    void (*release)(store *s);                      /* NULL: its connections cache nothing */
    void (*settle)(store *s, bool all);
    const struct store_others *others; /* NULL: it is a file */
} store_kind;

/* The calls of store.h about other processes. */
typedef struct store_others {
    int64_t (*mark)(store *s);
    void (*upto)(store *s, int64_t mark);
    bool (*follow)(store *s);
    void (*publish)(store *s, const char *text, size_t n);
    void (*flush)(store *s, int ms);
    bool (*subscribe)(store *s, store_subscriber subscriber, void *arg);
    void (*wait_event)(store *s, int64_t no, int ms);
    ramet_status (*beat)(store *s, const char *host, int64_t dead_us, arena *a, store_hosts *out,
                         char *message);
    void (*leave)(store *s, const char *host);
    bool (*job)(store *s, const char *job, int64_t every_us);
    void (*job_end)(store *s, const char *job);
} store_others;

struct store {
    const store_kind *kind;
    char *path; /* or URL without secrets */
    _Atomic int64_t commits, writes, batches[RAMET_BATCH_SIZES];
};

/* For functions that require the lock to be held. */
#define ASSERT_LOCKED(mutex) assert(pthread_mutex_trylock(mutex) != 0)

/* Counts a commit of n writes. */
void store_count(store *s, size_t n);

ramet_status store_file_open(const store_config *cfg, store **out, char *message);
ramet_status store_pool_open(const store_config *cfg, store **out, char *message);

#endif
