/* SPDX-License-Identifier: Apache-2.0
 *
 * branch.h: branches: their rows, how one is created, and their heads. branch.c has the invariants.
 */
#ifndef CORE_MODEL_BRANCH_H
#define CORE_MODEL_BRANCH_H

#include "core/session/session_open.h"

/* What never changes about a branch. */
typedef struct branch_meta {
    int64_t id, tree, session, parent, base, depth, jump, jump_base;
    int log, type;
} branch_meta;

typedef struct branch_row {
    branch_meta meta;
    int64_t over, delta, created, len, touched;
    uint8_t tip[HASH_LEN];
    bool live, run;
    int64_t overlay; /* the overlay set in force on it (overlay.h); never changes */
    int64_t filled;  /* entries at the start of its path that the values of its session are meant
                        for (fill.h); never changes */
    int64_t seal;    /* branch_seal(); 0: none */
} branch_row;
#define BRANCH_N_COLS 21

/* Reads BRANCH_COLS from column `at` on. */
void branch_from(db_stmt *q, int at, branch_row *b);
/* Whether the numbers of a row fit each other, so that a walk over it ends. */
bool branch_sane(const branch_row *b);
/* A short digest of what never changes about a branch, over facts that no hash chain covers. */
int64_t branch_seal(sha *h, const branch_row *b);
/* Checks a branch that was read for a path and adds it to the lineage cache. False when it is
 * damaged. */
bool branch_came(txn *tx, const branch_row *b);
/* The same for a branch that its session names as a head, both read at once: a damaged session
 * could name another one of its branches. */
bool head_came(txn *tx, const char *session, const branch_row *b);
bool branch_load(txn *tx, int64_t tree, int64_t id, branch_row *b);
/* Loads only what never changes: `meta`, `over`, `delta` and `created`. */
bool branch_lineage_load(txn *tx, int64_t tree, int64_t id, branch_row *b);
bool branch_meta_load(txn *tx, int64_t tree, int64_t id, branch_meta *m);
/* A branch of this session and log (0 = the head of that log), else RAMET_BRANCH_NOT_FOUND;
 * RAMET_BRANCH_PRUNED when it was pruned. */
ramet_status branch_open(txn *tx, const session_brief *s, ramet_log log, int64_t id, branch_row *b);
/* RAMET_BRANCH_NOT_FOUND. A number above BRANCH_MAX stands for a text that names no branch. */
ramet_status branch_missing(ramet_call *c, const char *session, int64_t want);
/* Why a branch is created. */
typedef enum {
    BRANCH_FIRST, /* the first of a session and log; not before `not_before`, the session's creation
                   */
    BRANCH_NEXT   /* another one of the same session: after its last change, `not_before` */
} branch_reason;
/* Creates branch(parent, base) on the path of `from` for a session. from NULL: an empty root. */
void branch_create(txn *tx, const branch_row *from, int64_t base, const session_brief *s,
                   branch_reason why, int64_t not_before, ramet_log log, ramet_fork_type type,
                   branch_row *out);
/* Every branch of a session, both logs, oldest first. */
void branches_of(txn *tx, const session_access *s, branch_row **out, size_t *n);
void head_fill(txn *tx, const branch_row *b, ramet_head *out);
/* Checks that the tip is the hash of the last entry: nothing must be chained onto a damaged one. */
ramet_status tip_check(txn *tx, const branch_row *b);
/* expected_head against a branch: RAMET_OK or RAMET_HEAD_MOVED. */
ramet_status head_check(txn *tx, const branch_row *b, const uint8_t *expected, bool given);

#endif
