/* SPDX-License-Identifier: Apache-2.0
 *
 * Which entries an erasure takes. What depends on them is found again when they are erased
 * (entry_erase()), because it may have grown by then; a dry run looks for it here.
 */
#include "core/erase/erase.h"

#include "core/access/hold.h"
#include "core/call.h"
#include "core/model/entry.h"
#include "core/model/key.h"
#include "core/session/session.h"

#include <stdlib.h>

static void key_add(erase_job *j, int64_t tree, int64_t k, erase_count as)
{
    erase_key key = {tree, k, as};
    VEC_PUSH(j->arena, &j->keys, key);
}

/* The entries that a branch owns. Of a user who is erased, those of other authors stay. */
static void branch_plan(txn *tx, erase_job *j, const branch_row *b)
{
    if (j->kind != ERASE_USER) {
        for (int64_t pos = b->meta.base; pos < b->len; pos++)
            key_add(j, b->meta.tree, KEY(b->meta.id, pos), ERASE_ENTRIES);
        return;
    }
    db_stmt *q = db_query(tx->db, Q_person_entries);
    q_int(q, 1, b->meta.tree);
    q_int(q, 2, KEY(b->meta.id, 0));
    q_int(q, 3, KEY(b->meta.id, POS_MAX));
    q_text(q, 4, j->user);
    while (q_row(q)) {
        if (q_col_int(q, 1))
            key_add(j, b->meta.tree, q_col_int(q, 0), ERASE_ENTRIES);
        else
            j->answers_left++;
    }
}

/* Branches of the tree that belong to sessions of the plan. */
static void tree_plan(txn *tx, erase_job *j, int64_t tree, size_t from)
{
    VEC(branch_row) own = {0};
    db_stmt *q = db_query(tx->db, Q_branch_of_tree);
    q_int(q, 1, tree);
    while (q_row(q)) {
        branch_row b;
        branch_from(q, 0, &b);
        for (size_t i = from; i < j->sessions.n; i++)
            if (j->sessions.items[i].no == b.meta.session) {
                VEC_PUSH(j->arena, &own, b);
                break;
            }
    }
    for (size_t i = 0; i < own.n; i++) {
        const branch_row *b = &own.items[i];
        branch_plan(tx, j, b);
        if (b->live && b->meta.log == RAMET_LOG_MAIN && j->kind == ERASE_SESSION)
            j->inherited = b->meta.base;
    }
}

static void sessions_plan(txn *tx, erase_job *j)
{
    VEC(session_full) rows = {0};
    db_stmt *q = db_query(tx->db, Q_session_of_tree);
    q_int(q, 1, j->tree);
    while (q_row(q)) {
        session_full s;
        session_from(q, j->arena, &s);
        VEC_PUSH(j->arena, &rows, s);
    }
    for (size_t i = 0; i < rows.n; i++) {
        const session_full *s = &rows.items[i];
        /* Private sessions of others are neither erased nor named (I10). The place of a session
         * that gc has removed counts: its forks still show entries that it appended. It has no
         * owner, so that of a private one belongs to others. */
        if (j->only_of && s->visibility == RAMET_PRIVATE && strcmp(s->owner, j->only_of) != 0)
            continue;
        erase_session one = {s->tree, s->no};
        VEC_PUSH(j->arena, &j->sessions, one);
    }
    tree_plan(tx, j, j->tree, 0);
}

static void user_plan(txn *tx, erase_job *j)
{
    db_stmt *q = db_query(tx->db, Q_owner_sessions);
    q_text(q, 1, j->user);
    while (q_row(q)) {
        erase_session one = {q_col_int(q, 0), q_col_int(q, 1)};
        VEC_PUSH(j->arena, &j->sessions, one);
    }
    for (size_t i = 0, next; i < j->sessions.n; i = next) {
        int64_t tree = j->sessions.items[i].tree;
        for (next = i; next < j->sessions.n && j->sessions.items[next].tree == tree;)
            next++;
        size_t all = j->sessions.n;
        j->sessions.n = next;
        tree_plan(tx, j, tree, i);
        j->sessions.n = all;
    }
    q = db_query(tx->db, Q_author_entries);
    q_text(q, 1, j->user);
    while (q_row(q))
        key_add(j, q_col_int(q, 0), q_col_int(q, 1), ERASE_ENTRIES);
}

static int key_order(const void *a, const void *b)
{
    const erase_key *x = a, *y = b;
    if (x->tree != y->tree)
        return x->tree < y->tree ? -1 : 1;
    return x->k < y->k ? -1 : x->k > y->k;
}

/* In order, each once. */
static void keys_sort(erase_keys *v)
{
    size_t n = 0;
    if (v->n)
        qsort(v->items, v->n, sizeof *v->items, key_order);
    for (size_t i = 0; i < v->n; i++)
        if (!n || key_order(&v->items[n - 1], &v->items[i]) != 0)
            v->items[n++] = v->items[i];
    v->n = n;
}

/* ------------------------------------------------------------------- a dry run */

static bool is_planned(const erase_keys *v, size_t sorted, const erase_key *key)
{
    if (sorted && bsearch(key, v->items, sorted, sizeof *key, key_order))
        return true;
    for (size_t i = sorted; i < v->n; i++)
        if (key_order(&v->items[i], key) == 0)
            return true;
    return false;
}

static void count_one(txn *tx, erase_job *j, const erase_key *key, erase_turn *last,
                      erase_keys *more)
{
    bool there;
    ramet_entry e;
    uint8_t hash[HASH_LEN];
    if (entry_is_erased(tx, key->tree, key->k, &there) || !there) {
        j->already += there && key->as == ERASE_ENTRIES;
        return;
    }
    txn own = *tx;
    own.arena = arena_new();
    if (entry_load_record(&own, key->tree, key->k, &e, hash)) {
        copies_find(&own, j->arena, key->tree, key->k, more);
        events_find(&own, j->arena, j, key->tree, key->k, e.turn_id, last, more);
    }
    arena_free(own.arena);
    j->counts[key->as]++;
    VEC_PUSH(j->arena, &j->done, *key);
}

static void count_all(txn *tx, erase_job *j)
{
    size_t sorted = j->keys.n;
    erase_turn last = {0};
    for (size_t i = 0; i < j->keys.n && db_status(tx->db) == RAMET_OK; i++) {
        erase_keys more = {0};
        erase_key key = j->keys.items[i];
        count_one(tx, j, &key, &last, &more);
        for (size_t n = 0; n < more.n; n++)
            if (!is_planned(&j->keys, sorted, &more.items[n]))
                VEC_PUSH(j->arena, &j->keys, more.items[n]);
    }
}

/* ----------------------------------------------------------------------- refusals */

ramet_status turns_check(txn *tx, int64_t tree)
{
    db_stmt *q = db_query(tx->db, Q_turn_in_tree);
    q_int(q, 1, tree);
    const char *turn = q_row(q) ? q_keep_text(q, 0, tx->arena) : NULL;
    q_end(q);
    TRY(txn_status(tx));
    if (!turn)
        return RAMET_OK;
    call_fail(tx->call, RAMET_TURN_RUNNING_ALREADY, NULL,
              "a turn is running in the tree, and would bring back what is erased; cancel it, or "
              "wait for its end");
    return RAMET_TURN_RUNNING_ALREADY;
}

/* Holds and running turns. Each write checks again; this keeps a refusal from coming half way. */
static ramet_status plan_check(txn *tx, const erase_job *j)
{
    tree_holds holds = {0};
    int64_t tree = 0;
    for (size_t i = 0; i < j->keys.n; i++) {
        const erase_key *key = &j->keys.items[i];
        if (key->tree != tree) {
            tree = key->tree;
            TRY(turns_check(tx, tree));
            holds_load(tx, tx->arena, tree, &holds);
        }
        if (holds.n)
            TRY(hold_check_entry(tx, tree, key->k));
    }
    for (size_t i = 0; i < j->sessions.n; i++)
        TRY(hold_check(tx, j->sessions.items[i].tree, j->sessions.items[i].no));
    return txn_status(tx);
}

ramet_status plan_make(txn *tx, erase_job *j, bool all)
{
    j->keys.n = j->sessions.n = 0;
    j->answers_left = 0;
    switch (j->kind) {
    case ERASE_NOTHING:
        break;
    case ERASE_ENTRY:
        key_add(j, j->tree, j->k, ERASE_ENTRIES);
        break;
    case ERASE_SESSION: {
        erase_session one = {j->tree, j->session};
        VEC_PUSH(j->arena, &j->sessions, one);
        tree_plan(tx, j, j->tree, 0);
        break;
    }
    case ERASE_TREE:
        sessions_plan(tx, j);
        break;
    case ERASE_USER:
        user_plan(tx, j);
        break;
    }
    TRY(txn_status(tx));
    keys_sort(&j->keys);
    sessions_sort(&j->sessions);
    /* Copies may lie on hold, or where a turn runs: so they are looked for even when only the
     * named ones are counted. */
    size_t named = j->keys.n;
    count_all(tx, j);
    TRY(txn_status(tx));
    TRY(plan_check(tx, j));
    if (!all) {
        j->keys.n = named;
        j->done.n = 0;
        j->already = 0;
        memset(j->counts, 0, sizeof j->counts);
    }
    return RAMET_OK;
}
