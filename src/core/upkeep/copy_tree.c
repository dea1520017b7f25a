/* SPDX-License-Identifier: Apache-2.0
 *
 * Trees of a copy: finding what differs in one, writing it to the target and reading it back, and
 * walks over many trees, a few per snapshot (copy.h).
 */
#include "core/model/key.h"
#include "core/txn.h"
#include "core/upkeep/copy.h"
#include "core/upkeep/fsck.h"

#include <stdlib.h>

#define CHUNK_TREES 256
#define CHUNK_SHORT (INT64_C(250) * 1000) /* below this, in microseconds, take more trees */
#define CHUNK_LONG (INT64_C(1) * 1000000) /* above this, fewer */
#define ORPHANS 1000

/* ------------------------------------------------------------------ branches */

typedef struct mark {
    int64_t id, base, len;
    uint8_t tip[HASH_LEN];
} mark;

/* Entries of some branches: keys after lo, up to hi. */
typedef struct range {
    int64_t lo, hi;
} range;

/* A tree that was processed, and which part of its content. */
typedef struct seen {
    int64_t tree;
    range *ranges; /* in ascending order */
    size_t n;
} seen;

/* Trees that are processed together: all that exist from lo to hi. */
typedef struct span {
    int64_t lo, hi;
    seen *trees;
    size_t n;
} span;

typedef VEC(mark) marks;
typedef VEC(range) ranges;

static void marks_load(db *d, arena *a, int64_t tree, marks *v)
{
    db_stmt *q = db_query(d, Q_copy_branches);
    q_int(q, 1, tree);
    while (q_row(q)) {
        size_t n;
        mark m = {.id = q_col_int(q, 0), .base = q_col_int(q, 1), .len = q_col_int(q, 2)};
        const void *tip = q_col_blob(q, 3, &n);
        if (tip)
            memcpy(m.tip, tip, n < HASH_LEN ? n : HASH_LEN);
        VEC_PUSH(a, v, m);
    }
}

static bool mark_same(const mark *a, const mark *b)
{
    return a->base == b->base && a->len == b->len && memcmp(a->tip, b->tip, HASH_LEN) == 0;
}

/* Adjacent branches become one range: the branches of a tree often are adjacent. */
static void range_add(arena *a, ranges *v, int64_t id)
{
    range r = {KEY(id, 0) - 1, KEY(id, POS_MAX)};
    if (v->n && v->items[v->n - 1].hi == r.lo)
        v->items[v->n - 1].hi = r.hi;
    else
        VEC_PUSH(a, v, r);
}

/* Finds the branches whose content may differ (C3), or all of them. */
static void ranges_find(copy_job *j, int64_t tree, bool all, seen *s)
{
    marks from = {0}, with = {0};
    ranges v = {0};
    marks_load(j->src.db, j->tree, tree, &from);
    marks_load(j->dst.db, j->tree, tree, &with);
    for (size_t a = 0, b = 0; a < from.n || b < with.n;) {
        const mark *x = a < from.n ? &from.items[a] : NULL, *y = b < with.n ? &with.items[b] : NULL;
        bool both = x && y && x->id == y->id;
        int64_t id = !y || (x && x->id < y->id) ? x->id : y->id;
        if (all || !both || !mark_same(x, y))
            range_add(j->chunk, &v, id);
        a += x && x->id == id;
        b += y && y->id == id;
    }
    *s = (seen){.tree = tree, .ranges = v.items, .n = v.n};
}

static bool in_ranges(void *arg, int64_t branch)
{
    const seen *s = arg;
    int64_t k = KEY(branch, 0);
    size_t lo = 0, hi = s->n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (s->ranges[mid].hi < k)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < s->n && s->ranges[lo].lo < k;
}

/* --------------------------------------------------------------------- spans */

static void table_merge(copy_job *j, const span *s, const copy_table *t, copy_each each)
{
    if (t->reach == COPY_TREE)
        copy_merge(j, t, 0, s->lo, s->hi, each);
    for (size_t i = 0; t->reach == COPY_RANGE && i < s->n; i++)
        for (size_t r = 0; r < s->trees[i].n; r++)
            copy_merge(j, t, s->trees[i].tree, s->trees[i].ranges[r].lo, s->trees[i].ranges[r].hi,
                       each);
}

static void span_sync(copy_job *j, const span *s)
{
    memset(j->extra, 0, sizeof j->extra);
    j->moving = true;
    for (size_t i = 0; i < COPY_N_TABLES; i++)
        table_merge(j, s, &copy_tables[i], copy_put_each);
    for (size_t i = COPY_N_TABLES; i-- > 0;)
        if (j->extra[i])
            table_merge(j, s, &copy_tables[i], copy_cut_each);
    j->moving = false;
}

/* Renews the lock during a long check. */
static bool chain_tick(void *arg, const char *what, int64_t done, int64_t total)
{
    (void)what;
    (void)done;
    (void)total;
    return copy_tick(arg);
}

/* Checks the hash chains of one side; damage is on both when the rows are equal. */
static void tree_chains(copy_job *j, const txn *side, seen *s, arena *of_tree, arena *of_entry)
{
    ramet_fsck_out out = {0};
    fsck f = {.tx = *side, .entry = of_entry, .out = &out, .tree = s->tree};
    f.tx.arena = of_tree;
    f.wanted = in_ranges;
    f.wanted_arg = s;
    f.progress = chain_tick;
    f.arg = j;
    fsck_tree(&f);
    for (size_t i = 0; i < f.faults.n; i++)
        copy_fault(j, NULL, NULL, "tree %lld: %s", (long long)s->tree, f.faults.items[i].what);
    j->out->n_all += out.n_all - (int64_t)f.faults.n;
}

static void span_chains(copy_job *j, const txn *side, const span *s)
{
    arena *a = arena_new(), *b = arena_new();
    for (size_t i = 0; i < s->n && j->err.status == RAMET_OK; i++) {
        arena_reset(a);
        tree_chains(j, side, &s->trees[i], a, b);
    }
    arena_free(a);
    arena_free(b);
}

/* When both sides have equal rows, computes the chains from the side that is faster to read: a
 * file, when the other is a server. */
static void span_verify(copy_job *j, const span *s)
{
    int64_t before = j->out->n_all;
    for (size_t i = 0; i < COPY_N_TABLES; i++)
        table_merge(j, s, &copy_tables[i], copy_check_each);
    bool differ = j->out->n_all != before;
    span_chains(j, differ || j->with.spent <= j->from.spent ? &j->dst : &j->src, s);
}

/* ----------------------------------------------------------- what is otherwise */

static bool look_each(copy_job *j, const copy_table *t, const copy_cell *from,
                      const copy_cell *with)
{
    int64_t tree = copy_tree_of(t, from ? from : with);
    bool known = j->otherwise.n && j->otherwise.items[j->otherwise.n - 1] == tree;
    if (!known && !(from && with && copy_same(t, from, with)))
        VEC_PUSH(j->tree, &j->otherwise, tree);
    return true;
}

typedef VEC(int64_t) numbers;

/* Finds the trees from lo to hi where anything except content differs. */
static void otherwise_find(copy_job *j, int64_t lo, int64_t hi, numbers *out)
{
    span s = {.lo = lo, .hi = hi};
    memset(&j->otherwise, 0, sizeof j->otherwise);
    for (size_t i = 0; i < COPY_N_TABLES; i++)
        table_merge(j, &s, &copy_tables[i], look_each);
    if (j->otherwise.n)
        qsort(j->otherwise.items, j->otherwise.n, sizeof *j->otherwise.items, number_order);
    out->n = 0;
    for (size_t i = 0; i < j->otherwise.n; i++)
        if (!out->n || out->items[out->n - 1] != j->otherwise.items[i])
            VEC_PUSH(j->chunk, out, j->otherwise.items[i]);
}

/* --------------------------------------------------------------------- walks */

static void trees_page(copy_job *j, db *d, int64_t after, size_t n, numbers *v)
{
    db_stmt *q = db_query(d, Q_tree_all);
    q_int(q, 1, after);
    q_int(q, 2, (int64_t)n);
    while (q_row(q))
        VEC_PUSH(j->chunk, v, q_col_int(q, 0));
    if (db_status(d) != RAMET_OK)
        copy_fail(j, db_status(d), NULL, "the list of trees: %s", db_message(d));
}

/* The next trees, in order, that either side has. */
static void trees_next(copy_job *j, copy_walk *w, numbers *v)
{
    numbers from = {0}, with = {0};
    if (w->mode == COPY_NAMED) {
        for (; v->n < w->size && w->n; w->n--)
            VEC_PUSH(j->chunk, v, *w->list++);
        return;
    }
    trees_page(j, j->src.db, w->at, w->size, &from);
    trees_page(j, j->dst.db, w->at, w->size, &with);
    for (size_t a = 0, b = 0; v->n < w->size && (a < from.n || b < with.n);) {
        int64_t tx = a < from.n ? from.items[a] : INT64_MAX;
        int64_t y = b < with.n ? with.items[b] : INT64_MAX;
        VEC_PUSH(j->chunk, v, tx < y ? tx : y);
        a += tx <= y;
        b += y <= tx;
    }
}

/* Processes the n trees; false when there was nothing to do. */
static bool span_take(copy_job *j, copy_walk *w, const int64_t *trees, size_t n, span *out)
{
    int64_t before = j->changed;
    bool all = w->mode == COPY_ALL || w->mode == COPY_VERIFY;
    *out = (span){.lo = trees[0], .hi = trees[n - 1], .n = n};
    out->trees = arena_array(j->chunk, n, sizeof *out->trees);
    for (size_t i = 0; i < n; i++) {
        arena_reset(j->tree);
        ranges_find(j, trees[i], all, &out->trees[i]);
    }
    if (w->mode != COPY_VERIFY)
        span_sync(j, out);
    return all || j->changed != before;
}

/* Processes all of them together, or each that differs, then reads back what was written. */
static void chunk_take(copy_job *j, copy_walk *w, numbers *v)
{
    VEC(span) list = {0};
    bool together = w->mode == COPY_ALL || w->mode == COPY_VERIFY;
    span s;
    arena_reset(j->tree);
    if (together)
        j->out->trees += (int64_t)v->n;
    if (w->mode == COPY_COMPARED) {
        j->done += (int64_t)v->n;
        otherwise_find(j, v->items[0], v->items[v->n - 1], v);
    }
    for (size_t i = 0; i < v->n && copy_tick(j); i += together ? v->n : 1)
        if (span_take(j, w, &v->items[i], together ? v->n : 1, &s))
            VEC_PUSH(j->chunk, &list, s);
    w->changed += (int64_t)list.n;
    if (w->mode != COPY_VERIFY && j->changes.n)
        copy_flush(j);
    if (list.n && copy_read_target(j))
        for (size_t i = 0; i < list.n && j->err.status == RAMET_OK; i++)
            span_verify(j, &list.items[i]);
}

/* Processes some trees in one snapshot of the source. False: there are no more. */
static bool chunk_run(copy_job *j, copy_walk *w)
{
    numbers v = {0};
    int64_t began = time_mono_us();
    arena_reset(j->chunk);
    if (!copy_read_begin(j))
        return false;
    trees_next(j, w, &v);
    bool any = v.n > 0;
    if (any) {
        w->at = v.items[v.n - 1];
        chunk_take(j, w, &v);
    }
    copy_read_end(j);
    /* Written with the next change: trees that were not verified are processed again. */
    if (any && w->mode == COPY_ALL && j->err.status == RAMET_OK)
        copy_mark_add(j, COPY_TREE_AT, w->at);
    ramet_call_reset(j->to);
    int64_t took = time_mono_us() - began;
    if (took < CHUNK_SHORT && w->size < CHUNK_TREES)
        w->size *= 2;
    else if (took > CHUNK_LONG && w->size > 1)
        w->size /= 2;
    return any && j->err.status == RAMET_OK;
}

void copy_walk_run(copy_job *j, copy_walk *w)
{
    w->size = 1;
    while (copy_tick(j) && chunk_run(j, w))
        ;
}

/* ------------------------------------------------------------------- orphans */

static const struct {
    sql_id find;
    int table;
} orphan_kinds[] = {
    {Q_orphan_entry, COPY_T_entry},       {Q_orphan_body, COPY_T_body},
    {Q_orphan_usage, COPY_T_usage},       {Q_orphan_delta, COPY_T_delta},
    {Q_orphan_session, COPY_T_session},   {Q_orphan_branch, COPY_T_branch},
    {Q_orphan_run, COPY_T_run},           {Q_orphan_move, COPY_T_move},
    {Q_orphan_tag, COPY_T_tag},           {Q_orphan_member, COPY_T_member},
    {Q_orphan_verdict, COPY_T_verdict},   {Q_orphan_share, COPY_T_share},
    {Q_orphan_turn, COPY_T_turn},         {Q_orphan_attached, COPY_T_attached},
    {Q_orphan_feedback, COPY_T_feedback}, {Q_orphan_copied, COPY_T_copied},
    {Q_orphan_overlay, COPY_T_overlay},   {Q_orphan_prompt, COPY_T_prompt},
};

static void orphans_name(copy_job *j, size_t kind)
{
    db_stmt *q = db_query(j->src.db, orphan_kinds[kind].find);
    q_int(q, 1, ORPHANS);
    while (q_row(q))
        copy_fault(j, NULL, NULL,
                   "the source: a row of %s (tree %lld, %lld%s%s) belongs to nothing",
                   copy_tables[orphan_kinds[kind].table].name, (long long)q_col_int(q, 0),
                   (long long)q_col_int(q, 1), q_col_text(q, 2)[0] ? ", " : "", q_col_text(q, 2));
}

/* Removes content without a branch. Its tables have k and tree as first columns, and k as key. */
static void orphans_cut(copy_job *j, size_t kind)
{
    const copy_table *t = &copy_tables[orphan_kinds[kind].table];
    copy_cell row[2] = {{0}};
    ranges found = {0};
    arena_reset(j->tree);
    db_stmt *q = db_query(j->dst.db, orphan_kinds[kind].find);
    q_int(q, 1, INT64_MAX);
    while (q_row(q))
        VEC_PUSH(j->tree, &found, ((range){q_col_int(q, 0), q_col_int(q, 1)}));
    for (size_t i = 0; i < found.n; i++) {
        copy_cell *full = arena_array(j->tree, t->n, sizeof *full);
        row[0].number = found.items[i].hi;
        row[1].number = found.items[i].lo;
        memcpy(full, row, sizeof row);
        for (size_t c = 2; c < t->n; c++)
            full[c].null = true;
        copy_change_add(j, &(copy_change){.table = t, .row = full, .cut = true});
    }
}

void copy_orphans(copy_job *j)
{
    if (!copy_read_begin(j))
        return;
    for (size_t i = 0; i < sizeof orphan_kinds / sizeof *orphan_kinds && copy_tick(j); i++) {
        orphans_name(j, i);
        if (!j->in->verify_only && copy_tables[orphan_kinds[i].table].reach == COPY_RANGE)
            orphans_cut(j, i);
    }
    copy_read_end(j);
}
