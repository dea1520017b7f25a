/* SPDX-License-Identifier: Apache-2.0
 *
 * The record of a session with pruned branches.
 *
 * A run covers entries of one branch up to where the next run begins (docs/data-model.md). Entries
 * are pruned, and removed by gc, from the end of a branch: so a run loses its end, or all of it,
 * and the runs behind it move up.
 *
 *   C1  Callers see the record without pruned entries, numbered without gaps. A restore puts the
 *       entries back where they were.
 *   C2  gc trims the runs in the write that cuts the branches, so the runs always cover exactly the
 *       entries that the session's branches own. The last run's branch alone has `run` set.
 */
#include "core/view/record.h"

#include "core/call.h"
#include "core/columns.h"
#include "core/model/branch.h"
#include "core/model/key.h"
#include "core/txn.h"

#include <assert.h>
#include <stdlib.h>

typedef VEC(record_part) part_list;

int64_t run_last_length(txn *tx, int64_t tree, int64_t key)
{
    branch_row b;
    if (!branch_load(tx, tree, KEY_BRANCH(key), &b))
        db_fail(tx->db, RAMET_DAMAGED, "the record ends on branch b%lld, which is missing",
                (long long)KEY_BRANCH(key));
    if (txn_status(tx) != RAMET_OK || tip_check(tx, &b) != RAMET_OK || b.len < KEY_POS(key))
        return 0;
    return b.len - KEY_POS(key);
}

/* The runs of a log, each with the entries that it covered when it was written. */
static void runs_load(txn *tx, int64_t tree, int64_t session, ramet_log log, part_list *out)
{
    db_stmt *q = db_query(tx->db, Q_run_all);
    q_int(q, 1, tree);
    q_int(q, 2, session);
    while (q_row(q)) {
        record_part p = {.key = q_col_int(q, 2), .rec = col_record(q, 1)};
        if (q_col_int(q, 0) == (int64_t)log)
            VEC_PUSH(tx->arena, out, p);
    }
    for (size_t i = 0; i + 1 < out->n; i++)
        out->items[i].n = out->items[i + 1].rec - out->items[i].rec;
    if (out->n) {
        record_part *last = &out->items[out->n - 1];
        last->n = run_last_length(tx, tree, last->key);
    }
}

/* Adds what a part has before position `end` of its branch. */
static void part_add(txn *tx, const record_part *p, int64_t end, part_list *out, int64_t *total)
{
    int64_t lo = KEY_POS(p->key), n = lo + p->n < end ? p->n : end - lo;
    if (n <= 0)
        return;
    record_part part = {.key = p->key, .n = n, .rec = *total};
    VEC_PUSH(tx->arena, out, part);
    *total += n;
}

static int by_id(const void *a, const void *b)
{
    int64_t x = ((const branch_row *)a)->meta.id, y = ((const branch_row *)b)->meta.id;
    return x < y ? -1 : x > y;
}

/* The record contains every entry that the session's branches own, exactly once: a record that
 * lost a part is damaged, not shorter. */
static void runs_check(txn *tx, const session_access *s, ramet_log log, const part_list *runs)
{
    branch_row *mine;
    size_t n;
    bool whole = true;
    branches_of(tx, s, &mine, &n);
    if (n)
        qsort(mine, n, sizeof *mine, by_id);
    int64_t *upto = arena_array(tx->arena, n + 1, sizeof *upto);
    for (size_t i = 0; i < n; i++)
        upto[i] = mine[i].meta.base;
    for (size_t i = 0; i < runs->n && whole; i++) {
        const record_part *p = &runs->items[i];
        branch_row key = {.meta = {.id = KEY_BRANCH(p->key)}};
        const branch_row *b = n ? bsearch(&key, mine, n, sizeof key, by_id) : NULL;
        whole = b && b->meta.log == (int)log && upto[b - mine] == KEY_POS(p->key) && p->n >= 0;
        if (whole)
            upto[b - mine] += p->n;
    }
    for (size_t i = 0; i < n && whole; i++)
        whole = mine[i].meta.log != (int)log || upto[i] == mine[i].len;
    if (!whole)
        db_fail(tx->db, RAMET_DAMAGED, "the record of session number %lld is damaged",
                (long long)s->no);
}

void record_parts_of(txn *tx, const session_access *s, ramet_log log, const note_list *notes,
                     record_parts *out)
{
    part_list runs = {0}, seen = {0};
    *out = (record_parts){0};
    runs_load(tx, s->tree, s->no, log, &runs);
    if (notes->n_pruned)
        runs_check(tx, s, log, &runs);
    for (size_t i = 0; i < runs.n; i++) {
        const branch_note *n = note_find(notes, KEY_BRANCH(runs.items[i].key));
        part_add(tx, &runs.items[i], n && n->state != NOTE_KEPT ? n->keep : POS_MAX, &seen,
                 &out->total);
    }
    out->items = seen.items;
    out->n = seen.n;
}

static void run_flag(txn *tx, sql_id what, int64_t tree, int64_t branch)
{
    db_stmt *q = db_query(tx->db, what);
    q_int(q, 1, tree);
    q_int(q, 2, branch);
    q_run(q);
}

static void runs_write(txn *tx, int64_t tree, int64_t session, ramet_log log,
                       const part_list *parts)
{
    for (size_t i = 0; i < parts->n; i++) {
        db_stmt *q = db_query(tx->db, Q_run_add);
        q_int(q, 1, tree);
        q_int(q, 2, session);
        q_int(q, 3, log);
        q_int(q, 4, parts->items[i].rec);
        q_int(q, 5, parts->items[i].key);
        q_run(q);
    }
}

/* C2: a branch that was cut has lost the flag already. */
static void last_flag(txn *tx, int64_t tree, const part_list *before, const part_list *after)
{
    int64_t was = before->n ? KEY_BRANCH(before->items[before->n - 1].key) : 0;
    int64_t is = after->n ? KEY_BRANCH(after->items[after->n - 1].key) : 0;
    if (was && was != is)
        run_flag(tx, Q_branch_run_off, tree, was);
    if (is)
        run_flag(tx, Q_branch_run_on, tree, is);
}

void record_trim(txn *tx, int64_t tree, int64_t session)
{
    assert(tx->writing);
    part_list runs[2] = {{0}}, parts[2] = {{0}};
    for (int log = RAMET_LOG_MAIN; log <= RAMET_LOG_ADK; log++) {
        int64_t total = 0;
        runs_load(tx, tree, session, (ramet_log)log, &runs[log]);
        for (size_t i = 0; i < runs[log].n; i++) {
            branch_row b;
            if (!branch_load(tx, tree, KEY_BRANCH(runs[log].items[i].key), &b))
                return;
            part_add(tx, &runs[log].items[i], b.len, &parts[log], &total);
        }
    }
    db_stmt *q = db_query(tx->db, Q_run_del);
    q_int(q, 1, tree);
    q_int(q, 2, session);
    q_run(q);
    for (int log = RAMET_LOG_MAIN; log <= RAMET_LOG_ADK; log++) {
        runs_write(tx, tree, session, (ramet_log)log, &parts[log]);
        last_flag(tx, tree, &runs[log], &parts[log]);
    }
}
