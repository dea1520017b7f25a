/* SPDX-License-Identifier: Apache-2.0
 *
 * fsck of the content of a branch: entries without gaps on the hash chain, running sums of usage,
 * the chain of state deltas.
 */
#include "core/attachment/attachment_upkeep.h"
#include "core/call.h"
#include "core/model/branch.h"
#include "core/model/copied.h"
#include "core/model/entry.h"
#include "core/model/key.h"
#include "core/model/state.h"
#include "core/txn.h"
#include "core/upkeep/fsck.h"

#define ENTRY_MEMORY ((size_t)1 << 20) /* reset when it holds more than this */

/* -------------------------------------------------------------------- entries */

typedef struct chain {
    const fsck_branch *branch;
    int64_t next;              /* the next position to expect */
    uint8_t hash[2][HASH_LEN]; /* the next entry may follow either: as stored, as computed */
    int n;                     /* how many of them; 0: unknown */
} chain;

static void chain_start(fsck *f, chain *c)
{
    const branch_meta *m = &c->branch->row.meta;
    memset(c->hash[0], 0, HASH_LEN);
    c->n = c->branch->linked;
    c->next = m->base;
    if (!m->base || !c->branch->linked)
        return;
    db_stmt *q = db_query(f->tx.db, Q_entry_hash);
    q_int(q, 1, f->tree);
    q_int(q, 2, KEY(m->parent, m->base - 1));
    size_t len = 0;
    const void *p = q_row(q) ? q_col_blob(q, 0, &len) : NULL;
    if (p && len == HASH_LEN)
        memcpy(c->hash[0], p, HASH_LEN);
    q_end(q);
    c->n = len == HASH_LEN;
    if (fsck_read_ok(f, fsck_in(c->branch, m->base, NULL), "reading where it begins") && !c->n)
        fsck_fault(f, fsck_in(c->branch, m->base - 1, NULL),
                   "the entry that it begins after is missing");
}

/* What the flags promise but is missing. */
static const char *missing_part(fsck *f, const ramet_entry *e, const entry_cols *cols, int flags)
{
    if (!e->id[0])
        return "it has no id";
    if ((flags & FLAG_USAGE) && !e->usage)
        return "its usage is missing";
    if (e->erased)
        return cols->text || cols->parts || cols->body || e->state_delta
                   ? "it was erased and still has content"
                   : NULL;
    if ((flags & FLAG_DELTA) && !e->state_delta)
        return "its state delta is missing";
    if ((flags & FLAG_COPY) && !copied_known(&f->tx, f->tree, KEY(e->branch, e->position)))
        return "where it was copied from is missing";
    if (flags & FLAG_FILE)
        return fsck_files_fault(f, KEY(e->branch, e->position), e);
    return NULL;
}

/* Reports a damaged entry, but not the one after it unless that is damaged itself: it may follow
 * either the stored hash or the computed one. */
static void chain_link(fsck *f, chain *c, const ramet_entry *e, const entry_cols *cols, int flags,
                       const uint8_t hash[HASH_LEN])
{
    uint8_t digest[HASH_LEN], want[HASH_LEN];
    sha *h = f->tx.call->hasher;
    const char *missing = missing_part(f, e, cols, flags);
    bool linked = c->n == 0;
    entry_digest(h, e, cols, digest);
    for (int i = 0; i < c->n && !linked; i++) {
        sha_chain(h, c->hash[i], digest, want);
        linked = memcmp(want, hash, HASH_LEN) == 0;
    }
    if (missing)
        fsck_fault(f, fsck_in(c->branch, e->position, e->id), "%s", missing);
    else if (!linked)
        fsck_fault(f, fsck_in(c->branch, e->position, e->id), "its hash is wrong");
    if (c->n && !linked)
        memcpy(c->hash[1], want, HASH_LEN);
    c->n = c->n && !linked ? 2 : 1;
    memcpy(c->hash[0], hash, HASH_LEN);
}

static void gap_fault(fsck *f, chain *c, int64_t upto)
{
    if (upto == c->next + 1)
        fsck_fault(f, fsck_in(c->branch, c->next, NULL), "the entry is missing");
    else
        fsck_fault(f, fsck_in(c->branch, c->next, NULL), "%lld entries from here on are missing",
                   (long long)(upto - c->next));
    c->n = 0;
}

static void entry_check(fsck *f, chain *c, db_stmt *q)
{
    const branch_row *b = &c->branch->row;
    int64_t pos = KEY_POS(q_col_int(q, 0));
    int flags = (int)(q_col_int(q, 13) & FLAGS_ALL);
    ramet_entry e;
    entry_cols cols;
    uint8_t hash[HASH_LEN];
    if (pos < b->meta.base || pos >= b->len) {
        fsck_fault(f, fsck_in(c->branch, pos, q_col_text(q, 1)),
                   "the entry lies outside its branch");
        return;
    }
    if (pos < c->next) {
        fsck_fault(f, fsck_in(c->branch, pos, NULL), "the entry is out of order");
        return;
    }
    if (pos > c->next)
        gap_fault(f, c, pos);
    c->next = pos + 1;
    txn tx = f->tx;
    tx.arena = f->entry;
    if (arena_used(f->entry) > ENTRY_MEMORY)
        arena_reset(f->entry);
    if (entry_from(&tx, q, f->tree, &e, hash, &cols)) {
        f->out->erased += e.erased != NULL;
        chain_link(f, c, &e, &cols, flags, hash);
        return;
    }
    fsck_read_ok(f, fsck_in(c->branch, pos, e.id), "reading the entry");
    c->n = 0;
}

/* Covers the whole range of keys of a branch, so that rows outside its length are seen, too. */
static db_stmt *rows_of(fsck *f, const fsck_branch *b, sql_id what)
{
    db_stmt *q = db_query(f->tx.db, what);
    q_int(q, 1, f->tree);
    q_int(q, 2, KEY(b->row.meta.id, 0));
    q_int(q, 3, KEY(b->row.meta.id, POS_MAX));
    return q;
}

static void entries_check(fsck *f, const fsck_branch *b)
{
    chain c = {.branch = b};
    bool more = true;
    chain_start(f, &c);
    db_stmt *q = rows_of(f, b, Q_entry_range);
    while (more && q_row(q)) {
        entry_check(f, &c, q);
        more = fsck_tick(f, 1);
    }
    q_end(q);
    if (!fsck_read_ok(f, fsck_in(b, c.next, NULL), "reading its entries") || !more)
        return;
    if (c.next < b->row.len) {
        gap_fault(f, &c, b->row.len);
        return;
    }
    bool ends = c.n == 0;
    for (int i = 0; i < c.n && !ends; i++)
        ends = memcmp(c.hash[i], b->row.tip, HASH_LEN) == 0;
    if (!ends)
        fsck_fault(f, fsck_in(b, -1, NULL), "it does not end with the hash of its last entry");
}

/* ---------------------------------------------------------------------- usage */

typedef struct sums {
    int64_t n, values[4];
    char currency[64];
    bool mixed;
} sums;

/* Adds a row like usage.c. */
static void sums_add(sums *s, db_stmt *q)
{
    const char *currency = q_col_text(q, 5);
    int64_t cost = q_col_int(q, 4);
    s->n++;
    for (int i = 0; i < 4; i++)
        s->values[i] = (int64_t)((uint64_t)s->values[i] + (uint64_t)q_col_int(q, 1 + i));
    if (!cost || !currency)
        return;
    s->mixed |= s->currency[0] && strcmp(s->currency, currency) != 0;
    strncpy(s->currency, currency, sizeof s->currency - 1);
}

static bool sums_same(const sums *s, db_stmt *q)
{
    const char *currency = q_col_text(q, 11);
    bool same = s->n == q_col_int(q, 6) && s->mixed == (q_col_int(q, 12) != 0) && currency &&
                strncmp(s->currency, currency, sizeof s->currency - 1) == 0;
    for (int i = 0; i < 4; i++)
        same = same && s->values[i] == q_col_int(q, 7 + i);
    return same;
}

static void usage_check(fsck *f, const fsck_branch *b)
{
    sums s = {0};
    bool is_reported = false;
    db_stmt *q = rows_of(f, b, Q_usage_range);
    while (q_row(q)) {
        sums_add(&s, q);
        /* Report only the first wrong sum; those after it are wrong because of it. */
        if (!is_reported && !sums_same(&s, q)) {
            fsck_fault(f, fsck_in(b, KEY_POS(q_col_int(q, 0)), NULL),
                       "the running sum of usage is wrong here");
            is_reported = true;
        }
    }
    fsck_read_ok(f, fsck_in(b, -1, NULL), "reading its usage");
}

/* --------------------------------------------------------------------- deltas */

/* The last delta below the base: one of the parent's own, or the one that the parent inherited. */
static int64_t inherited_delta(fsck *f, const fsck_branch *b)
{
    return b->parent ? delta_before_on(&f->tx, &b->parent->row.meta, b->parent->row.delta,
                                       b->row.meta.base)
                     : 0;
}

static bool weight_sane(db_stmt *q)
{
    const char *snap = q_col_text(q, 5);
    int64_t weight = q_col_int(q, 2), snap_len = q_col_int(q, 3);
    if (snap)
        return weight == 0 && snap_len == (int64_t)strlen(snap);
    return weight > 0 && snap_len >= 0;
}

/* A snapshot is not on the hash chain, so it must equal the fold of the deltas before it. */
static void snapshot_check(fsck *f, const fsck_branch *b, int64_t k, int64_t prev, const char *json,
                           const char *snap)
{
    txn tx = f->tx;
    tx.arena = arena_new();
    const char *want = state_after(&tx, f->tree, prev, json);
    if (fsck_read_ok(f, fsck_in(b, KEY_POS(k), NULL), "folding the state") &&
        strcmp(want, snap) != 0)
        fsck_fault(f, fsck_in(b, KEY_POS(k), NULL), "the snapshot of the state is wrong");
    arena_free(tx.arena);
}

static void deltas_check(fsck *f, const fsck_branch *b)
{
    int64_t before = b->row.delta;
    if (b->linked && inherited_delta(f, b) != before)
        fsck_fault(f, fsck_in(b, -1, NULL), "it does not name the last state delta before it");
    db_stmt *q = rows_of(f, b, Q_delta_range);
    while (q_row(q)) {
        int64_t k = q_col_int(q, 0), prev = q_col_int(q, 1);
        const char *json = q_col_text(q, 4), *snap = q_col_text(q, 5);
        if (prev != before)
            fsck_fault(f, fsck_in(b, KEY_POS(k), NULL),
                       "the state delta does not name the one before it");
        else if (!json || !weight_sane(q))
            fsck_fault(f, fsck_in(b, KEY_POS(k), NULL), "the state delta has a wrong weight");
        else if (snap)
            snapshot_check(f, b, k, prev, json, snap);
        before = k;
    }
    fsck_read_ok(f, fsck_in(b, -1, NULL), "reading its state deltas");
}

void fsck_content(fsck *f, const fsck_branch *b)
{
    entries_check(f, b);
    if (f->stopped)
        return;
    usage_check(f, b);
    deltas_check(f, b);
}
