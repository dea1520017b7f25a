/* SPDX-License-Identifier: Apache-2.0
 *
 * Revocation of access: what a write relies on (the session exists, and the caller may write to
 * it), and how a change of that stops it.
 *
 * A revocation is a member removed or lowered, a share link revoked, a session deleted, archived or
 * made private. Each one increments the stamp of its tree. Once a revocation is answered, no write
 * that relied on the old state can still commit.
 *
 *   A1  A file has one writer, and every write reads what it relies on inside its own transaction.
 *       Nothing more is needed there.
 *   A2  A guarded write (DB_GUARDED) compares the stamp that it has read with the one of the tree
 *       in the statement that writes (access_guard()). Levels and links that it read after the
 *       stamp cannot be older than it. A write that does not compare the stamp of a tree whose
 *       rights it has used becomes one of A3 (q_hold()).
 *   A3  Any other write locks the row of the stamp at its end (access_settle()). The engine refuses
 *       the lock when the row was changed since the transaction began, and a revocation waits for
 *       it: one of the two sees the other. Both queue for the row, so that a stream of writes does
 *       not keep a revocation waiting for ever.
 *   A4  A guarded write takes no such lock, so it may still commit when the stamp changes after its
 *       comparison. The revocation waits for such writes before it is answered (txn_revoke(),
 *       store_fence()).
 *
 * Decision 0043 explains why this is enough and what it costs.
 */
#include "core/session/rights.h"

#include "core/call.h"
#include "core/session/session.h"
#include "core/txn.h"

#include <assert.h>
#include <stdlib.h>

static tree_use *use_of(txn *tx, int64_t tree)
{
    for (size_t i = tx->uses->n; i-- > 0;)
        if (tx->uses->items[i].tree == tree)
            return &tx->uses->items[i];
    tree_use fresh = {.tree = tree};
    VEC_PUSH(tx->call->arena, tx->uses, fresh);
    return &tx->uses->items[tx->uses->n - 1];
}

void access_changed(txn *tx, int64_t tree)
{
    assert(tx->uses);
    use_of(tx, tree)->changed = true;
}

ramet_status access_used(txn *tx, int64_t tree, ramet_status st)
{
    if (st == RAMET_OK && tx->uses && db_concurrent(tx->db))
        use_of(tx, tree);
    return st;
}

void access_guard(txn *tx, const session_brief *s)
{
    db_stmt *q = db_query(tx->db, Q_guard_tree);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->stamp);
    q_guard(q);
}

static int by_tree(const void *a, const void *b)
{
    const tree_use *x = a, *y = b;
    return x->tree < y->tree ? -1 : x->tree > y->tree;
}

/* Ordered by tree number, so that two writes cannot deadlock here. */
void access_settle(txn *tx)
{
    assert(tx->writing && tx->uses);
    tree_uses *uses = tx->uses;
    if (uses->n > 1)
        qsort(uses->items, uses->n, sizeof *uses->items, by_tree);
    for (size_t i = 0; i < uses->n; i++) {
        const tree_use *use = &uses->items[i];
        db_stmt *q = db_query(tx->db, use->changed ? Q_tree_stamp : Q_hold_tree);
        q_int(q, 1, use->tree);
        if (use->changed)
            q_run(q);
        else
            q_hold(q);
    }
}
