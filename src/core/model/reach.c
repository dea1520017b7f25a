/* SPDX-License-Identifier: Apache-2.0
 *
 * Reachability in one tree.
 *
 *   R1  A path is needed if its branch belongs to a live session and was not pruned. A path needs
 *       its parent's entries below its base, and so on up to the root.
 *   R2  The first branch of a session says where the session was forked. So a live session needs
 *       what is below the base of its first branches, even if it pruned them.
 *   R3  Children have a larger base than their parent (B1), so one pass over the branches, largest
 *       base first, finds what is needed of each.
 */
#include "core/model/reach.h"

#include "core/access/hold.h"
#include "core/call.h"
#include "core/columns.h"
#include "core/model/branch.h"
#include "core/txn.h"

#include <stdlib.h>

static int session_order(const void *a, const void *b)
{
    int64_t x = ((const reach_session *)a)->no, y = ((const reach_session *)b)->no;
    return x < y ? -1 : x > y;
}

static int branch_order(const void *a, const void *b)
{
    int64_t x = ((const reach_branch *)a)->id, y = ((const reach_branch *)b)->id;
    return x < y ? -1 : x > y;
}

static int down_order(const void *a, const void *b)
{
    const reach_branch *x = *(reach_branch *const *)a, *y = *(reach_branch *const *)b;
    if (x->base != y->base)
        return x->base > y->base ? -1 : 1;
    return x->id > y->id ? -1 : x->id < y->id;
}

reach_session *reach_session_at(const reach_tree *t, int64_t no)
{
    reach_session key = {.no = no};
    return t->n_sessions ? bsearch(&key, t->sessions, t->n_sessions, sizeof key, session_order)
                         : NULL;
}

reach_branch *reach_branch_at(const reach_tree *t, int64_t id)
{
    reach_branch key = {.id = id};
    return t->n_branches ? bsearch(&key, t->branches, t->n_branches, sizeof key, branch_order)
                         : NULL;
}

static void sessions_load(txn *tx, arena *a, reach_tree *t)
{
    VEC(reach_session) v = {0};
    tree_holds holds;
    holds_load(tx, a, t->tree, &holds);
    db_stmt *q = db_query(tx->db, Q_session_states);
    q_int(q, 1, t->tree);
    while (q_row(q)) {
        reach_session s = {.no = q_col_int(q, 0),
                           .parent = q_col_int(q, 1),
                           .depth = q_col_int(q, 2),
                           .deleted = q_col_int(q, 3),
                           .expires = q_col_int(q, 4),
                           .purging = col_purging(q, 5),
                           .first = q_col_int(q, 6),
                           .first_adk = q_col_int(q, 7),
                           .on_hold = holds_have(&holds, q_col_int(q, 0))};
        VEC_PUSH(a, &v, s);
    }
    t->sessions = v.items;
    t->n_sessions = v.n;
}

void reach_sort(arena *a, reach_tree *t)
{
    t->down = arena_array(a, t->n_branches, sizeof *t->down);
    for (size_t i = 0; i < t->n_branches; i++)
        t->down[i] = &t->branches[i];
    if (t->n_branches)
        qsort(t->down, t->n_branches, sizeof *t->down, down_order);
}

static void branches_load(txn *tx, arena *a, reach_tree *t)
{
    VEC(reach_branch) v = {0};
    db_stmt *q = db_query(tx->db, Q_branch_of_tree);
    q_int(q, 1, t->tree);
    while (q_row(q)) {
        branch_row b;
        branch_from(q, 0, &b);
        reach_branch r = {.id = b.meta.id,
                          .session = b.meta.session,
                          .parent = b.meta.parent,
                          .base = b.meta.base,
                          .len = b.len,
                          .log = b.meta.log,
                          .of = reach_session_at(t, b.meta.session)};
        VEC_PUSH(a, &v, r);
    }
    t->branches = v.items;
    t->n_branches = v.n;
    reach_sort(a, t);
}

static void notes_load(txn *tx, arena *a, reach_tree *t)
{
    db_stmt *q = db_query(tx->db, Q_note_of_tree);
    q_int(q, 1, t->tree);
    while (q_row(q)) {
        branch_note n;
        note_from(q, a, &n);
        reach_branch *b = reach_branch_at(t, n.branch);
        if (!b || b->session != q_col_int(q, NOTE_N_COLS))
            continue;
        b->note = arena_alloc(a, sizeof *b->note);
        *b->note = n;
    }
}

static void tree_check(txn *tx, const reach_tree *t)
{
    for (size_t i = 0; i < t->n_branches; i++) {
        const reach_branch *b = &t->branches[i];
        const reach_branch *p = b->parent ? reach_branch_at(t, b->parent) : NULL;
        if (!b->of || b->len < b->base || (b->parent == 0) != (b->base == 0) ||
            (b->parent && (!p || p->base >= b->base || p->len < b->base))) {
            db_fail(tx->db, RAMET_DAMAGED, "branch b%lld is damaged; run fsck", (long long)b->id);
            return;
        }
    }
}

void reach_load(txn *tx, arena *a, int64_t tree, reach_tree *t)
{
    *t = (reach_tree){.tree = tree};
    sessions_load(tx, a, t);
    branches_load(tx, a, t);
    notes_load(tx, a, t);
    tree_check(tx, t);
}

bool reach_is_first(const reach_branch *b)
{
    return b->id == b->of->first || b->id == b->of->first_adk;
}

/* R1, R2. */
bool reach_is_needed(const reach_branch *b)
{
    return !b->of->dead && (!b->out || reach_is_first(b));
}

void reach_find(reach_tree *t, reach_look look, void *arg)
{
    for (size_t i = 0; i < t->n_branches; i++) {
        t->branches[i].need = 0;
        t->branches[i].by = NULL;
    }
    for (size_t i = 0; i < t->n_branches; i++) {
        reach_branch *b = t->down[i];
        if (look)
            look(arg, b);
        bool needs = b->parent && (reach_is_needed(b) || b->need);
        reach_branch *p = needs ? reach_branch_at(t, b->parent) : NULL;
        if (p && p->need < b->base) {
            p->need = b->base;
            p->by = b;
        }
    }
}

int64_t reach_entries(const reach_tree *t)
{
    int64_t n = 0;
    for (size_t i = 0; i < t->n_branches; i++)
        if (reach_free(&t->branches[i]))
            n += t->branches[i].len - reach_keep(&t->branches[i]);
    return n;
}
