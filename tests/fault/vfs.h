/* SPDX-License-Identifier: Apache-2.0
 *
 * vfs.h: a disk that fails on request. An SQLite VFS named SHIM_NAME that passes
 * everything on to the default one and, as armed,
 *
 *   fails the n-th write, truncate or sync of chosen files, once or from then on; or
 *   keeps, beside the real files, what a disk would hold after a power cut: what was
 *   synced, and by chance parts of what was not.
 *
 * There is one shim a process; its functions may be called from any thread.
 */
#ifndef FAULT_VFS_H
#define FAULT_VFS_H

#include "help.h"

#define SHIM_NAME "ramet-fault"

/* Files, told by their name: the store's own, and all others (the search index). */
enum { SHIM_DB = 1, SHIM_WAL = 2, SHIM_SIDE = 4 };
#define SHIM_STORE (SHIM_DB | SHIM_WAL)
#define SHIM_ANY (SHIM_DB | SHIM_WAL | SHIM_SIDE)
enum { SHIM_WRITE = 1, SHIM_TRUNCATE = 2, SHIM_SYNC = 4 };
#define SHIM_ALL_OPS (SHIM_WRITE | SHIM_TRUNCATE | SHIM_SYNC)

typedef struct shim_plan {
    int files, ops; /* which operations count */
    int64_t at;     /* the n-th of them fails, from 1; 0 = none */
    bool full;      /* as a full disk; else as a broken one */
    bool lasting;   /* all after it fail too */
    bool power;     /* keep what a disk would hold; the n-th is where the power goes */
} shim_plan;

void shim_register(void); /* once a process, before the first open */
/* Starts counting anew. `db` is the path of the store's file. */
void shim_arm(const char *db, const shim_plan *plan);
void shim_heal(void);        /* nothing fails any more; counting goes on */
int64_t shim_count(int ops); /* operations of these kinds on the files of the plan */
/* The numbers of the truncates, and of the syncs of the store's file: there are few, and a test
 * that takes samples wants them all. At most `max`; how many there were. */
int shim_rare(int64_t *out, int max);
int64_t shim_failures(void); /* operations that were made to fail */

/* Writes what the disk held when the power went into the folder `to`, with chance
 * deciding about what was not synced. `keep` 0: none of it, 1: all of it, 2: each
 * sector of 512 bytes by itself, 3: all up to some write, that one torn.
 * Call it after the store was closed; forgets everything. */
void shim_power_save(const char *to, int keep, rng *r);

#endif
