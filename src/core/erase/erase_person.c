/* SPDX-License-Identifier: Apache-2.0
 *
 * A user's name in every table. The list of columns (store/sql/erase_sql.h) says which name a user:
 * PERSON columns get an alias, so that a tree keeps an owner and a head log its actors; rows with
 * an OWNER column belong to the user alone and go.
 */
#include "core/erase/erase.h"

#include "core/call.h"
#include "core/session/rights.h"

/* Statement, and whether it deletes rows. */
typedef struct person_step {
    sql_id q;
    bool deletes;
} person_step;

#define STEP_KEEP(t, c)
#define STEP_ENTRY(t, c)
#define STEP_SESSION(t, c)
#define STEP_OWNED(t, c)
#define STEP_INDEX(t, c)
#define STEP_PERSON(t, c) {Q_erase_##t##_##c, false},
#define STEP_OWNER(t, c) {Q_erase_##t##_##c, true},
#define STEP(X, t, c, class) STEP_##class(t, c)
static const person_step steps[] = {ERASE_COLUMNS(STEP, )};

/* Rights that were read by name are not valid any more. */
static void trees_note(txn *tx, const erase_batch *b, const char *user)
{
    VEC(int64_t) v = {0};
    db_stmt *q = db_query(tx->db, Q_user_trees);
    q_text(q, 1, user);
    while (q_row(q)) {
        int64_t tree = q_col_int(q, 0);
        VEC_PUSH(b->arena, &v, tree);
    }
    for (size_t i = 0; i < v.n; i++)
        access_changed(tx, v.items[i]);
}

/* A row of an overlay is sealed, the name included. */
static void overlays_rename(txn *tx, erase_batch *b, const erase_job *j)
{
    VEC(int64_t) v = {0};
    db_stmt *q = db_query(tx->db, Q_overlay_trees_of);
    q_text(q, 1, j->user);
    while (q_row(q)) {
        int64_t tree = q_col_int(q, 0);
        VEC_PUSH(b->arena, &v, tree);
    }
    for (size_t i = 0; i < v.n; i++)
        overlays_erase(tx, b, v.items[i], j->user, j->alias);
}

ramet_status person_run(txn *tx, void *batch)
{
    erase_batch *b = batch;
    const erase_job *j = b->job;
    *b = (erase_batch){.job = b->job, .arena = b->arena};
    trees_note(tx, b, j->user);
    overlays_rename(tx, b, j);
    db_stmt *q = db_query(tx->db, Q_erase_uploads);
    q_text(q, 1, j->user);
    q_int(q, 2, tx->now);
    q_run(q);
    q = db_query(tx->db, Q_erase_once_by);
    q_text(q, 1, j->user);
    batch_run(tx, b, q, ERASE_NAMES);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        q = db_query(tx->db, steps[i].q);
        q_text(q, 1, j->user);
        if (!steps[i].deletes)
            q_text(q, 2, j->alias);
        batch_run(tx, b, q, ERASE_NAMES);
    }
    return txn_status(tx);
}
