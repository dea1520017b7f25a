/* SPDX-License-Identifier: Apache-2.0
 *
 * Notes: what is known about branches beside their rows.
 *
 *   N1  A row has a name, marks the favourite, or says that the branch was pruned. At most one
 *       branch of a session is its favourite.
 *   N2  A pruned branch is never the head of its session, and nothing is appended to it. The path
 * of a branch that is not pruned contains no entry of it at `keep` or behind. N3  A restore changes
 * NOTE_PRUNED to NOTE_KEPT; gc changes it to NOTE_TAKING and then to NOTE_TAKEN, which cannot be
 * undone. Branches of one prune share a `prune_op`, so that one restore can take them all. N4 Notes
 * decide what callers see, never what gc removes: that follows from the branches that are not
 * pruned (core/model/reach.c).
 */
#include "core/model/branch_note.h"

#include "core/call.h"
#include "core/check.h"
#include "core/model/key.h"
#include "core/txn.h"

#include <assert.h>
#include <stdlib.h>

#define MAX_NAME_CHARS 100

void note_from(db_stmt *q, arena *a, branch_note *out)
{
    *out = (branch_note){
        .branch = q_col_int(q, 0),
        .name = q_need_text(q, 1, a, "branch_note.name"),
        .favourite = q_col_int(q, 2) != 0,
        .state = (note_state)q_col_range(q, 3, NOTE_KEPT, NOTE_TAKEN, "branch_note.state"),
        .pruned = q_col_int(q, 4),
        .prune_op = q_col_int(q, 5),
        .keep = q_col_int(q, 6)};
}

static int by_branch(const void *a, const void *b)
{
    int64_t x = ((const branch_note *)a)->branch, y = ((const branch_note *)b)->branch;
    return x < y ? -1 : x > y;
}

static void notes_read(txn *tx, db_stmt *q, note_list *out)
{
    VEC(branch_note) v = {0};
    *out = (note_list){0};
    while (q_row(q)) {
        branch_note n;
        note_from(q, tx->arena, &n);
        VEC_PUSH(tx->arena, &v, n);
        out->n_pruned += n.state != NOTE_KEPT;
    }
    if (v.n)
        qsort(v.items, v.n, sizeof *v.items, by_branch);
    out->items = v.items;
    out->n = v.n;
}

void notes_of(txn *tx, int64_t tree, int64_t session, note_list *out)
{
    db_stmt *q = db_query(tx->db, Q_note_of_session);
    q_int(q, 1, tree);
    q_int(q, 2, session);
    notes_read(tx, q, out);
}

void notes_of_tree(txn *tx, int64_t tree, note_list *out)
{
    db_stmt *q = db_query(tx->db, Q_note_of_tree);
    q_int(q, 1, tree);
    notes_read(tx, q, out);
}

const branch_note *note_find(const note_list *v, int64_t branch)
{
    branch_note key = {.branch = branch};
    return v->n ? bsearch(&key, v->items, v->n, sizeof key, by_branch) : NULL;
}

bool notes_pruned(const note_list *v, int64_t branch)
{
    const branch_note *n = v->n_pruned ? note_find(v, branch) : NULL;
    return n && n->state != NOTE_KEPT;
}

bool notes_hide(const note_list *v, int64_t k)
{
    const branch_note *n = v->n_pruned ? note_find(v, KEY_BRANCH(k)) : NULL;
    return n && n->state != NOTE_KEPT && KEY_POS(k) >= n->keep;
}

ramet_status branch_name_check(ramet_call *c, const char *name)
{
    TRY(check_chars(c, "name", name, MAX_NAME_CHARS, RAMET_TOO_LARGE));
    for (const char *p = name; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            return call_fail(c, RAMET_INVALID, "name",
                             "the name of a branch must be one line without control characters");
    return RAMET_OK;
}

bool entry_is_pruned(txn *tx, int64_t tree, int64_t k)
{
    db_stmt *q = db_query(tx->db, Q_note_hides);
    q_int(q, 1, tree);
    q_int(q, 2, KEY_BRANCH(k));
    q_int(q, 3, KEY_POS(k));
    bool hides = q_row(q);
    q_end(q);
    return hides;
}

int64_t favourite_of(txn *tx, const session_access *s)
{
    note_list v;
    notes_of(tx, s->tree, s->no, &v);
    for (size_t i = 0; i < v.n; i++)
        if (v.items[i].favourite && v.items[i].state == NOTE_KEPT)
            return v.items[i].branch;
    return 0;
}

void note_write(txn *tx, int64_t tree, int64_t session, const branch_note *n)
{
    assert(tx->writing);
    txn_assert(tx, (n->state == NOTE_KEPT) == (n->pruned == 0));
    bool says = n->name[0] || n->favourite || n->state != NOTE_KEPT;
    db_stmt *q = db_query(tx->db, says ? Q_note_put : Q_note_del);
    q_int(q, 1, tree);
    q_int(q, 2, session);
    q_int(q, 3, n->branch);
    if (says) {
        q_text(q, 4, n->name);
        q_int(q, 5, n->favourite);
        q_int(q, 6, n->state);
        q_int(q, 7, n->pruned);
        q_int(q, 8, n->prune_op);
        q_int(q, 9, n->keep);
    }
    q_run(q);
}

ramet_status pruned_check(txn *tx, const session_access *s, int64_t branch)
{
    db_stmt *q = db_query(tx->db, Q_note_get);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    q_int(q, 3, branch);
    branch_note n = {0};
    if (q_row(q))
        note_from(q, tx->arena, &n);
    q_end(q);
    TRY(txn_status(tx));
    if (n.state == NOTE_KEPT)
        return RAMET_OK;
    return call_fail(tx->call, RAMET_BRANCH_PRUNED, "branch_id",
                     n.state == NOTE_PRUNED
                         ? "branch b%lld was pruned; restore it to go there"
                         : "branch b%lld was pruned, and gc has removed its entries",
                     (long long)branch);
}
