/* SPDX-License-Identifier: Apache-2.0
 *
 * store.h: one open store: its writer, its readers, its health.
 *
 * WRITER  Writes are grouped. A thread that wants to write queues its operation;
 *         the first one that finds nobody writing becomes the leader, takes all
 *         that wait into one transaction, commits once, and wakes them. So one
 *         writer costs no thread switch, and many share one fsync.
 *
 *         An operation checks first and writes afterwards. When it refuses
 *         before it wrote anything, the others of the group are untouched. When
 *         it fails after a write, the group is rolled back and each is run again
 *         alone; so an operation must be able to run twice.
 *
 * I8      A failed write or commit stops all writes until the store is opened
 *         again; when the disk was full, until a small probe commits.
 *
 * READERS A pool of connections; each read sees one snapshot and never waits for
 *         the writer.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "store/db.h"

typedef struct store store;

typedef struct store_config {
    const char *path;
    const char *vfs;
    int busy_ms, readers;
    bool create;
} store_config;

ramet_status store_open(const store_config *cfg, store **out, char *message);
void store_close(store *s);

/* Runs one write in a group. `run` may be called on another thread while this one waits, and
 * more than once. Returns what it returned, or why the commit failed; message (512) says more. */
typedef ramet_status (*store_op)(db *d, void *arg);
ramet_status store_write(store *s, store_op run, void *arg, char *message);

/* A read connection inside a read transaction; NULL (and *st) on failure. */
db *store_read_begin(store *s, ramet_status *st, char *message);
void store_read_end(store *s, db *d);

ramet_status store_health(store *s);
const char *store_path(const store *s);
/* batches: see ramet_stats. */
void store_counters(store *s, int64_t *commits, int64_t *writes,
                    int64_t batches[RAMET_BATCH_SIZES]);
int64_t store_file_size(const char *path); /* 0 when there is none */

#endif
