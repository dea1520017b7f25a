/* SPDX-License-Identifier: Apache-2.0
 *
 * txn.h: one transaction of the library on one connection.
 *
 * Every public call has one of two shapes:
 *
 *   read   txn_read() takes a snapshot, the work is done on it, txn_done() ends it
 *   write  a struct of arguments and answers is passed to txn_write(), which runs its function
 *          inside the group transaction (store/store.h). The function checks first and writes
 *          afterwards, and it must be able to run twice.
 *
 * A failure of the database is sticky in the connection, so that work need not check every
 * statement: txn_status() at the end turns it into the error of the call.
 */
#ifndef CORE_TXN_H
#define CORE_TXN_H

#include "core/call.h"

#include <assert.h>

/* Id and hash of the entry that was last looked up; they never change. key 0: none. */
typedef struct entry_mark {
    int64_t tree, key;
    const char *id;
    uint8_t hash[HASH_LEN];
} entry_mark;

/* A tree whose access rights a write relies on, or changes (core/session/rights.c). */
typedef struct tree_use {
    int64_t tree;
    bool changed;
} tree_use;
typedef VEC(tree_use) tree_uses;

typedef struct txn {
    ramet *ramet;
    ramet_call *call;
    db *db;
    arena *arena; /* the call's */
    int64_t now;
    int64_t past; /* cached rows are used only by transactions of the same past (db_past()) */
    bool writing;
    int64_t level_tree; /* the tree that `level` is the caller's level in; 0: not looked up yet */
    ramet_level level;
    enum { LINK_UNKNOWN, LINK_NONE, LINK_READ, LINK_WRITE } link; /* what the call's link allows */
    int64_t named_tree; /* the tree whose id is `tree_id` */
    const char *tree_id;
    entry_mark mark;
    const struct merge_list
        *merges;                 /* of the session that was asked for last (core/view/version.c) */
    struct branch_seen *seen;    /* while writing: goes into the lineage cache after the commit */
    int64_t event;               /* number of the last event that was added */
    struct answer_list *answers; /* while writing */
    tree_uses *uses;             /* while writing */
} txn;

/* Where an operation puts its answers. The operation may run again and find that there is nothing
 * left to do (core/idempotency.c), so the answers are cleared before each run. */
#define MAX_ANSWERS 4
typedef struct answer_list {
    struct {
        void *out;
        size_t size;
    } at[MAX_ANSWERS];
    size_t n;
} answer_list;
void txn_answers(txn *tx, void *out, size_t size);
/* Registers *out, an answer that the operation is about to fill. NULL does nothing. */
#define ANSWER(tx, out) txn_answers((tx), (out), sizeof *(out))

/* Begins a read. False: the error of the call is set. */
bool txn_read(txn *tx, ramet_call *c);
/* Ends a read. `st` is what the work found; a database failure takes precedence over it. */
ramet_status txn_done(txn *tx, ramet_status st);
/* Runs a write in the group transaction. `run` gets `arg` back. */
typedef ramet_status (*txn_op)(txn *tx, void *arg);
ramet_status txn_write(ramet_call *c, txn_op run, void *arg);
/* The same for a write that revokes a right or removes a session. It returns once no write that
 * relied on it can commit any more (core/session/rights.c). RAMET_BUSY: the write was made, but one
 * that relied on the old state is still running. */
ramet_status txn_revoke(ramet_call *c, txn_op run, void *arg);
/* The same for a write that changes only the session that it appends to, or creates a new one
 * (core/session/session_cache.c). */
ramet_status txn_append(ramet_call *c, txn_op run, void *arg);
/* The same for a write that also guards everything that it relies on (db_guarded()). */
ramet_status txn_write_guarded(ramet_call *c, txn_op run, void *arg);
/* Turns the sticky database failure into the error of the call; RAMET_OK: there is none. */
ramet_status txn_status(txn *tx);
/* Asserts a condition on values that were read or made in this transaction. After a failure, which
 * is sticky, statements return nothing and the values mean nothing. */
#define txn_assert(tx, what) assert(db_status((tx)->db) != RAMET_OK || (what))
/* A page of entries ends past this many bytes. */
size_t txn_page_bytes(const txn *tx);
/* Call it before `make` is called for each of n items in a read: it reads what they need together,
 * where that is faster (db_prefetch()). To learn what that is, it calls `make` with memory that is
 * discarded afterwards. The caller must call db_performed() when it is done. */
typedef void (*txn_make)(txn *tx, void *arg, size_t i);
void txn_prefetch(txn *tx, txn_make make, void *arg, size_t n);

#endif
