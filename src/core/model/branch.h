/* SPDX-License-Identifier: Apache-2.0
 *
 * branch.h: branches: their rows, how one is made, and their heads. branch.c has the invariants.
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
} branch_row;
#define BRANCH_N_COLS 18

/* Reads BRANCH_COLS from column `at` on. */
void branch_from(db_stmt *q, int at, branch_row *b);
/* Every branch that was read for a path goes through this. False when it is damaged. */
bool branch_came(txn *tx, const branch_row *b);
bool branch_load(txn *tx, int64_t tree, int64_t id, branch_row *b);
/* Only what never changes of it: `meta`, `over`, `delta` and `created`. */
bool branch_lineage_load(txn *tx, int64_t tree, int64_t id, branch_row *b);
bool branch_meta_load(txn *tx, int64_t tree, int64_t id, branch_meta *m);
/* A branch of this session and log (0 = the head of that log), else RAMET_BRANCH_NOT_FOUND;
 * RAMET_BRANCH_PRUNED when it was pruned. */
ramet_status branch_open(txn *tx, const session_brief *s, ramet_log log, int64_t id, branch_row *b);
/* Why a branch is made. */
typedef enum {
    BRANCH_FIRST, /* of a session and log; it is not made before `not_before`, the session's
                     creation */
    BRANCH_NEXT   /* another one of the same session: after its last change, `not_before` */
} branch_reason;
/* Makes branch(parent, base) on the path of `from` for a session. from NULL: an empty root. */
void branch_create(txn *tx, const branch_row *from, int64_t base, const session_brief *s,
                   branch_reason why, int64_t not_before, ramet_log log, ramet_fork_type type,
                   branch_row *out);
/* Every branch of a session, both logs, oldest first. */
void branches_of(txn *tx, const session_access *s, branch_row **out, size_t *n);
void head_fill(txn *tx, const branch_row *b, ramet_head *out);
/* Checks that the tip is the hash of the last entry: nothing is chained onto a damaged one. */
ramet_status tip_check(txn *tx, const branch_row *b);
/* Remembers a tip that was just made, so that the next append need not check it. */
void tip_note(txn *tx, const branch_row *b);
/* expected_head against a branch: RAMET_OK or RAMET_HEAD_MOVED. */
ramet_status head_check(txn *tx, const branch_row *b, const uint8_t *expected, bool given);

#endif
