/* SPDX-License-Identifier: Apache-2.0
 *
 * What was erased of a history. A receipt is given once, to the caller that erased; this is the
 * answer for everybody who sees the history, at any time afterwards. It is read from what is kept
 * with each erased entry, so it is as complete as the entries are.
 *
 * All erased entries of the tree are looked at, O(n).
 */
#include "core/erase/erase.h"

#include "core/access/share.h"
#include "core/call.h"
#include "core/model/key.h"
#include "core/model/path.h"
#include "core/session/session_open.h"

#define MAX_ERASURES 1000

typedef struct erased_row {
    int64_t k, at;
    const char *who, *why;
} erased_row;
typedef VEC(erased_row) erased_rows;

static const char *text_again(arena *a, const char *text, const char *before)
{
    return text && before && strcmp(text, before) == 0 ? before : arena_strdup(a, text);
}

static void rows_load(txn *tx, arena *a, int64_t tree, erased_rows *out)
{
    erased_row before = {0};
    db_stmt *q = db_query(tx->db, Q_erased_of_tree);
    q_int(q, 1, tree);
    while (q_row(q)) {
        erased_row r = {q_col_int(q, 0), q_col_int(q, 1),
                        text_again(a, q_col_text(q, 2), before.who),
                        text_again(a, q_col_text(q, 3), before.why)};
        VEC_PUSH(a, out, r);
        before = r;
    }
}

static bool is_on_path(txn *tx, const branch_row *b, int64_t k)
{
    branch_meta owner;
    return KEY_POS(k) < b->len && path_owner(tx, &b->meta, KEY_POS(k), &owner) &&
           owner.id == KEY_BRANCH(k);
}

/* Rows are in the order of their times, newest first: entries of one erasure follow each other. */
static void erasures_fill(txn *tx, const branch_row *b, const erased_rows *rows, bool linked,
                          ramet_erasure **out, size_t *n)
{
    VEC(ramet_erasure) v = {0};
    for (size_t i = 0; i < rows->n && db_status(tx->db) == RAMET_OK; i++) {
        const erased_row *r = &rows->items[i];
        if (!is_on_path(tx, b, r->k))
            continue;
        ramet_erasure *last = v.n ? &v.items[v.n - 1] : NULL;
        if (last && last->at == r->at && strcmp(last->reason, r->why) == 0) {
            last->entries++;
            continue;
        }
        if (v.n == MAX_ERASURES)
            break;
        ramet_erasure one = {r->at, linked ? NULL : arena_strdup(tx->arena, r->who),
                             arena_strdup(tx->arena, r->why), 1};
        VEC_PUSH(tx->arena, &v, one);
    }
    *out = v.items;
    *n = v.n;
}

static ramet_status list_run(txn *tx, const char *session, int64_t branch, ramet_erasure **out,
                             size_t *n)
{
    session_full s;
    branch_row b;
    erased_rows rows = {0};
    TRY(session_open(tx, session, NEED_READ, &s));
    TRY(branch_open(tx, &s.brief, RAMET_LOG_MAIN, branch, &b));
    arena *scratch = arena_new();
    rows_load(tx, scratch, s.tree, &rows);
    erasures_fill(tx, &b, &rows, share_only(tx, &s.access), out, n);
    arena_free(scratch);
    return txn_status(tx);
}

ramet_status ramet_erasures(ramet_call *c, const char *session, int64_t branch, ramet_erasure **out,
                            size_t *n)
{
    txn tx;
    *out = NULL;
    *n = 0;
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_status st = txn_done(&tx, list_run(&tx, session, branch, out, n));
    if (st != RAMET_OK) {
        *out = NULL;
        *n = 0;
    }
    return st;
}
