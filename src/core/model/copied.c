/* SPDX-License-Identifier: Apache-2.0
 *
 * Where copies came from and where entries went: the table `copied`.
 *
 *   O1  An entry with FLAG_COPY has at least one row; an entry without it has none. So reading
 *       ordinary entries needs no look-up.
 *   O2  Rows are written with the copy and go with it (gc). They are not part of the entry's
 *       digest, and what they name may be gone.
 *   O3  What a row names is shown only to callers who may see that session now (I10), and only
 *       while it is there and not pruned. A caller learns from a copy that it is one, not whose it
 *       was.
 *   O4  A summary stands for many entries. It has a row for each run of them that one branch owns,
 *       the newest first, so every entry finds it by one range of an index, and erasure too.
 *   O5  When gc takes a copy, its origins take its place in the rows that name it. So a copy of a
 *       copy is found from the first entry as long as both are there, by erasure too.
 *   O6  Live events carry entries without origins: they are rendered once for all their readers.
 */
#include "core/model/copied.h"

#include "ramet/merge.h"
#include "core/access/share.h"
#include "core/call.h"
#include "core/check.h"
#include "core/columns.h"
#include "core/event.h"
#include "core/model/branch.h"
#include "core/model/branch_note.h"
#include "core/model/key.h"
#include "core/model/path.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/txn.h"

#define SHOWN_MAX 1000

void copied_write(txn *tx, int64_t tree, int64_t k, int n, const copied_from *from)
{
    txn_assert(tx, from->key && from->span > 0);
    copied_restore(tx, tree, k, n, from);
}

void copied_restore(txn *tx, int64_t tree, int64_t k, int n, const copied_from *from)
{
    assert(tx->writing);
    db_stmt *q = db_query(tx->db, Q_copied_add);
    q_int(q, 1, tree);
    q_int(q, 2, k);
    q_int(q, 3, n);
    q_int(q, 4, from->tree);
    q_int(q, 5, from->session);
    q_int(q, 6, from->key);
    q_int(q, 7, from->span);
    q_run(q);
}

/* -------------------------------------------------------- removing a copy in between */

/* An origin of an entry that goes. */
typedef struct leaving {
    int64_t k;
    copied_from from;
} leaving;
typedef VEC(leaving) leaving_list;

/* A row that names an entry which goes. */
typedef struct naming {
    int64_t tree, k;
    int n;
    copied_from from;
} naming;
typedef VEC(naming) naming_list;

static void origin_add(txn *tx, const naming *row, const copied_from *from)
{
    db_stmt *q = db_query(tx->db, Q_copied_next);
    q_int(q, 1, row->tree);
    q_int(q, 2, row->k);
    int n = q_row(q) ? (int)q_col_int(q, 0) : 0;
    q_end(q);
    copied_restore(tx, row->tree, row->k, n, from);
}

static void origin_set(txn *tx, const naming *row, const copied_from *from)
{
    db_stmt *q = db_query(tx->db, Q_copied_set);
    q_int(q, 1, row->tree);
    q_int(q, 2, row->k);
    q_int(q, 3, row->n);
    q_int(q, 4, from->tree);
    q_int(q, 5, from->session);
    q_int(q, 6, from->key);
    q_int(q, 7, from->span);
    q_run(q);
}

/* A store that is being copied learns by an event that another tree has changed. */
static void tree_touch(txn *tx, const naming *row)
{
    branch_meta m;
    session_full s;
    if (branch_meta_load(tx, row->tree, KEY_BRANCH(row->k), &m) &&
        session_by_no(tx, row->tree, m.session, &s))
        event_add(tx, row->tree, s.no, RAMET_EVENT_UPDATED, s.head, 0);
}

/* The rows that name the entry at k; those with n < 0 name a run that it is in. */
static void namings_find(txn *tx, int64_t tree, int64_t k, naming_list *out)
{
    db_stmt *q = db_query(tx->db, Q_copied_naming);
    q_int(q, 1, tree);
    q_int(q, 2, k);
    while (q_row(q)) {
        naming row = {.tree = q_col_int(q, 0),
                      .k = q_col_int(q, 1),
                      .n = (int)q_col_int(q, 2),
                      .from = {tree, q_col_int(q, 3), k, q_col_int(q, 4)}};
        VEC_PUSH(tx->arena, out, row);
    }
    q = db_query(tx->db, Q_copied_over);
    q_int(q, 1, tree);
    q_int(q, 2, k);
    q_int(q, 3, KEY(KEY_BRANCH(k), POS_MAX));
    while (q_row(q)) {
        naming row = {.tree = q_col_int(q, 1), .k = q_col_int(q, 0), .n = -1};
        VEC_PUSH(tx->arena, out, row);
    }
}

/* Gives one row the n origins of the entry that it names. */
static void naming_relink(txn *tx, const naming *row, const leaving *origins, size_t n)
{
    bool whole = row->n >= 0;
    if (whole)
        origin_set(tx, row, &origins[0].from);
    if (whole && row->from.span > 1) {
        copied_from rest = row->from;
        rest.key--;
        rest.span--;
        origin_add(tx, row, &rest);
    }
    for (size_t i = whole; i < n; i++)
        origin_add(tx, row, &origins[i].from);
}

void copied_relink(txn *tx, int64_t tree, int64_t lo, int64_t hi)
{
    leaving_list gone = {0};
    db_stmt *q = db_query(tx->db, Q_copied_leaving);
    q_int(q, 1, tree);
    q_int(q, 2, lo);
    q_int(q, 3, hi);
    while (q_row(q)) {
        leaving one = {q_col_int(q, 0),
                       {q_col_int(q, 1), q_col_int(q, 2), q_col_int(q, 3), q_col_int(q, 4)}};
        VEC_PUSH(tx->arena, &gone, one);
    }
    for (size_t i = 0, n; i < gone.n; i += n) {
        naming_list rows = {0};
        for (n = 1; i + n < gone.n && gone.items[i + n].k == gone.items[i].k;)
            n++;
        namings_find(tx, tree, gone.items[i].k, &rows);
        for (size_t r = 0; r < rows.n; r++) {
            const naming *row = &rows.items[r];
            if (row->tree == tree && row->k >= lo && row->k <= hi)
                continue;
            naming_relink(tx, row, gone.items + i, n);
            if (row->tree != tree)
                tree_touch(tx, row);
        }
    }
}

bool copied_known(txn *tx, int64_t tree, int64_t k)
{
    db_stmt *q = db_query(tx->db, Q_copied_has);
    q_int(q, 1, tree);
    q_int(q, 2, k);
    bool found = q_row(q);
    q_end(q);
    return found;
}

/* The other end of a row, behind its first column; false when the caller may not see it (O3). */
static bool end_from(txn *tx, db_stmt *q, ramet_entry_ref *out)
{
    if (q_col_null(q, 3) || q_col_null(q, 4) || q_col_null(q, 9))
        return false;
    session_access s = {.tree = q_col_int(q, 1),
                        .no = q_col_int(q, 2),
                        .id = q_col_text(q, 3),
                        .owner = q_col_text(q, 4),
                        .visibility = col_visibility(q, 5),
                        .expires = q_col_int(q, 6),
                        .deleted = q_col_int(q, 7),
                        .purging = col_purging(q, 8)};
    if (session_gone(tx, &s) || !(session_visible(tx, &s) || share_gives(tx, &s, NEED_READ)) ||
        entry_is_pruned(tx, s.tree, q_col_int(q, 10)))
        return false;
    *out = (ramet_entry_ref){.session = q_keep_text(q, 3, tx->arena),
                             .entry_id = q_keep_text(q, 9, tx->arena),
                             .branch = KEY_BRANCH(q_col_int(q, 10))};
    return true;
}

/* The entries [from, to) of a list are of one branch, in order; the first and the last are copies.
 */
static void run_fill(txn *tx, int64_t tree, ramet_entry *list, size_t from, size_t to)
{
    VEC(ramet_entry_ref) v = {0};
    size_t at = from;
    db_stmt *q = db_query(tx->db, Q_copied_range);
    q_int(q, 1, tree);
    q_int(q, 2, KEY(list[from].branch, list[from].position));
    q_int(q, 3, KEY(list[from].branch, list[to - 1].position));
    while (q_row(q)) {
        ramet_entry_ref o;
        int64_t pos = KEY_POS(q_col_int(q, 0));
        while (at < to && list[at].position < pos) {
            at++;
            v.items = NULL;
            v.n = v.cap = 0;
        }
        if (at == to || list[at].position != pos || !end_from(tx, q, &o))
            continue;
        VEC_PUSH(tx->arena, &v, o);
        list[at].origins = v.items;
        list[at].n_origins = v.n;
    }
}

void origins_fill(txn *tx, int64_t tree, ramet_entry *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!list[i].copied)
            continue;
        size_t to = i + 1;
        for (size_t k = to; k < n && list[k].branch == list[i].branch; k++)
            if (list[k].copied)
                to = k + 1;
        run_fill(tx, tree, list, i, to);
        i = to - 1;
    }
}

/* -------------------------------------------------------------------- calls */

typedef struct ends_job {
    const char *session, *entry_id;
    int64_t branch;
    bool forward;
    ramet_entry_ref **out;
    size_t *n;
} ends_job;

typedef VEC(ramet_entry_ref) end_list;

/* A copy may name an entry twice, by itself and in a run. */
static bool is_listed(const end_list *v, const ramet_entry_ref *o)
{
    for (size_t i = 0; i < v->n; i++)
        if (v->items[i].branch == o->branch && strcmp(v->items[i].entry_id, o->entry_id) == 0 &&
            strcmp(v->items[i].session, o->session) == 0)
            return true;
    return false;
}

static void ends_take(txn *tx, db_stmt *q, end_list *v)
{
    while (v->n < SHOWN_MAX && q_row(q)) {
        ramet_entry_ref o;
        if (end_from(tx, q, &o) && !is_listed(v, &o))
            VEC_PUSH(tx->arena, v, o);
    }
    q_end(q);
}

static void destinations_find(txn *tx, int64_t tree, int64_t k, end_list *v)
{
    db_stmt *q = db_query(tx->db, Q_copied_to);
    q_int(q, 1, tree);
    q_int(q, 2, k);
    ends_take(tx, q, v);
    q = db_query(tx->db, Q_copied_over);
    q_int(q, 1, tree);
    q_int(q, 2, k);
    q_int(q, 3, KEY(KEY_BRANCH(k), POS_MAX));
    ends_take(tx, q, v);
}

static void origins_find(txn *tx, int64_t tree, int64_t k, end_list *v)
{
    db_stmt *q = db_query(tx->db, Q_copied_range);
    q_int(q, 1, tree);
    q_int(q, 2, k);
    q_int(q, 3, k);
    ends_take(tx, q, v);
}

static ramet_status ends_run(txn *tx, const ends_job *j)
{
    session_full s;
    branch_row b;
    int64_t k;
    end_list v = {0};
    TRY(session_open(tx, j->session, NEED_READ, &s));
    TRY(branch_open(tx, &s.brief, RAMET_LOG_MAIN, j->branch, &b));
    TRY(check_id(tx->call, "entry_id", j->entry_id));
    if (path_find(tx, &b, j->entry_id, &k) < 0) {
        TRY(txn_status(tx));
        return call_fail(tx->call, RAMET_ENTRY_NOT_FOUND, "entry_id",
                         "entry %s is not on this path", j->entry_id);
    }
    (j->forward ? destinations_find : origins_find)(tx, s.tree, k, &v);
    *j->out = v.items;
    *j->n = v.n;
    return txn_status(tx);
}

static ramet_status ends_find(ramet_call *c, const ends_job *j)
{
    txn tx;
    *j->out = NULL;
    *j->n = 0;
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_status st = txn_done(&tx, ends_run(&tx, j));
    if (st != RAMET_OK)
        *j->n = 0;
    return st;
}

ramet_status ramet_origins(ramet_call *c, const char *session, int64_t branch, const char *entry_id,
                           ramet_entry_ref **out, size_t *n)
{
    return ends_find(c, &(ends_job){session, entry_id, branch, false, out, n});
}

ramet_status ramet_destinations(ramet_call *c, const char *session, int64_t branch,
                                const char *entry_id, ramet_entry_ref **out, size_t *n)
{
    return ends_find(c, &(ends_job){session, entry_id, branch, true, out, n});
}
