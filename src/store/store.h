/* SPDX-License-Identifier: Apache-2.0
 *
 * store.h: one open store: its writers, its readers, its health, and the other processes on it.
 *
 * A FILE (SQLite, store/sqlite/file_store.c)
 *
 * WRITER  Writes are grouped. A thread queues its operation; the first one that finds no leader
 *         becomes the leader, runs all queued operations in one transaction, commits once, and
 *         wakes their callers. So a single writer costs no thread switch, and many share one fsync.
 *
 *         An operation checks first and writes afterwards. When it refuses before it wrote
 *         anything, the rest of the group is untouched. When it fails after a write, the group is
 *         rolled back and each operation is run again alone; so an operation must be able to run
 *         twice.
 *
 * I8      A failed write or commit stops all writes until the store is opened again; when the disk
 *         was full, until a small probe commits.
 *
 * READERS A pool of connections; each read sees one snapshot and never waits for the writer.
 *
 * A DATABASE (PostgreSQL, store/postgres/pool_store.c)
 *
 * One pool of connections for reads and writes. A write is a serializable transaction of its own,
 * or shares a guarded one with others (store/postgres/group_commit.c); a conflict runs it again. A
 * lost connection fails the operation that it was used for, and is replaced.
 *
 * Ownership and threads: a `store` belongs to the caller of store_open(), who closes it after all
 * other calls have returned. Every function may be called by any thread.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "store/db.h"

typedef struct store store;

typedef struct store_config {
    const char *path; /* or URL */
    const char *vfs;
    int busy_ms, readers;
    int pool;                 /* connections to a database; 0 = 16 */
    const char *direct;       /* URL that bypasses pgbouncer; NULL: as path */
    const char *const *reads; /* URLs of its read replicas */
    size_t n_reads;
    bool create;
    /* Called when events were numbered after their commit, on any thread. May be NULL. From
     * store_follow() on also for events of other processes. */
    void (*on_event)(void *arg, int64_t newest);
    void *arg;
} store_config;

ramet_status store_open(const store_config *cfg, store **out, char *message);
void store_close(store *s);

/* Runs one write in a group. `run` may be called on another thread while this one waits, and
 * more than once. Returns what it returned, or why the commit failed; message (512) says more. */
typedef ramet_status (*store_op)(db *d, void *arg);
ramet_status store_write(store *s, store_op run, void *arg, char *message);

/* The same for an operation that guards what it relies on (q_guard()): operations of many callers
 * are committed together. When a guard fails, the operation refuses, or it runs a statement that no
 * guard covers (store/sql/guarded_sql.h), it is run again by store_write(). */
ramet_status store_write_guarded(store *s, store_op run, void *arg, char *message);

/* Called after a commit that no later write may miss: waits until every transaction has ended that
 * may have missed it and could still commit. RAMET_BUSY: that takes too long. */
ramet_status store_fence(store *s, char *message);

/* A read connection inside a read transaction; NULL (and *st) on failure. */
db *store_read_begin(store *s, ramet_status *st, char *message);
/* The same, possibly on a replica that has everything written up to *position, which is raised to
 * the replica's position. If it is not a replica, *position becomes 0. */
db *store_page_begin(store *s, int64_t *position, ramet_status *st, char *message);
void store_read_end(store *s, db *d);
/* A position at or after the last commit of this process; 0: there are no replicas. */
int64_t store_position(store *s);

/* A read connection outside the pool, for a caller that must not wait; the caller closes it with
 * db_close(). */
ramet_status store_connect(store *s, db **out, char *message);
/* Whether writes of this process run one after the other, on whatever thread. */
bool store_alone(const store *s);
/* Waits until the events of everything that this process has committed by now have numbers. */
void store_settle(store *s);
/* The same for what any process has committed. */
void store_settle_all(store *s);

/* A mark for what this process has committed by now; waits until the events of that have
 * numbers. */
int64_t store_mark(store *s);
void store_upto(store *s, int64_t mark);

/* ---- other processes. Processes on a file do not know each other: nothing is published, every job
 * is granted, and there are no heartbeats. */

bool store_shared(const store *s);
/* From now on on_event is called at once for events of other processes; false: it is not, and the
 * caller must poll. Cheap when it was called before. */
bool store_follow(store *s);
int64_t store_poll_us(const store *s); /* interval of that polling */
/* Sends a text (UTF-8) to the subscribers in all other processes: in order, at most once, not
 * stored. Never waits. */
void store_publish(store *s, const char *text, size_t n);
/* Waits until what was published so far is sent: a process that learns of a later commit has
 * received it before. At most ms, and not while nothing can be sent. */
void store_flush(store *s, int ms);
/* text NULL: something may have been missed. Called on a thread of the store, which it must not
 * block. subscriber NULL: ends the subscription, and no call is in progress when it returns. False:
 * nothing can be received. */
typedef void (*store_subscriber)(void *arg, const char *text, size_t n);
bool store_subscribe(store *s, store_subscriber subscriber, void *arg);
/* Waits until the number of that event was received, and with it what was published before its
 * commit. At most ms, and not while nothing can be received. */
void store_wait_event(store *s, int64_t no, int ms);
typedef VEC(const char *) store_hosts;
/* Reports that a process is alive, and lists those that did so in the last dead_us, by one
 * clock. */
ramet_status store_beat(store *s, const char *host, int64_t dead_us, arena *a, store_hosts *out,
                        char *message);
void store_leave(store *s, const char *host);
/* True: no other process runs the job until store_job_end(), and none did in the last every_us. */
bool store_job(store *s, const char *job, int64_t every_us);
void store_job_end(store *s, const char *job);

ramet_status store_health(store *s);
/* Does work in advance that a write would otherwise have to do now and then. */
void store_tidy(store *s);
/* Releases the caches of idle connections. */
void store_release(store *s);
const char *store_path(const store *s); /* for people: a URL without secrets */
const char *store_file(const store *s); /* NULL: it is not a file */
void store_shown(const char *where, char *out, size_t size);
/* batches: see ramet_stats. */
void store_counters(store *s, int64_t *commits, int64_t *writes,
                    int64_t batches[RAMET_BATCH_SIZES]);
int64_t store_file_size(const char *path); /* 0 when there is none */

#endif
