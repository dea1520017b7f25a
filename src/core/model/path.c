/* SPDX-License-Identifier: Apache-2.0
 *
 * path.c: paths: finds entries, owners and hashes on the way from the root to the head of a branch.
 */
#include "core/model/path.h"

#include "core/call.h"
#include "core/model/key.h"
#include "core/model/lineage_cache.h"
#include "core/txn.h"

bool path_owner(txn *tx, const branch_meta *head, int64_t pos, branch_meta *owner)
{
    branch_meta m = *head;
    while (m.base > pos) {
        /* base falls with every step (B1), so this ends; a row that breaks it is damage. */
        int64_t base = m.base, next = m.jump_base > pos ? m.jump : m.parent, id = m.id;
        if (!branch_meta_load(tx, m.tree, next, &m))
            return false;
        if (m.base >= base) {
            db_fail(tx->db, RAMET_DAMAGED, "branch b%lld has a damaged lineage", (long long)id);
            return false;
        }
    }
    *owner = m;
    return true;
}

static bool is_marked(const txn *tx, int64_t tree, int64_t k)
{
    return tx->mark.key == k && tx->mark.tree == tree && k;
}

bool path_mark(txn *tx, int64_t tree, int64_t k)
{
    if (is_marked(tx, tree, k) || fork_entry_mark(tx, tree, k))
        return true;
    db_stmt *q = db_query(tx->db, Q_entry_name);
    q_int(q, 1, tree);
    q_int(q, 2, k);
    size_t n = 0;
    const void *hash = q_row(q) ? q_col_blob(q, 2, &n) : NULL;
    bool ok = hash && n == HASH_LEN;
    tx->mark = (entry_mark){.tree = tree};
    if (ok) {
        memcpy(tx->mark.hash, hash, HASH_LEN);
        tx->mark.id = q_keep_text(q, 0, tx->arena);
    }
    q_end(q);
    ok = ok && tx->mark.id;
    tx->mark.key = ok ? k : 0;
    if (ok)
        fork_entry_keep_mark(tx);
    return ok;
}

/* Whether the entry at k has that id: an index that was damaged could point anywhere. */
static bool entry_is(txn *tx, int64_t tree, int64_t k, const char *id)
{
    return path_mark(tx, tree, k) && strcmp(tx->mark.id, id) == 0;
}

int64_t path_find(txn *tx, const branch_row *head, const char *entry_id, int64_t *k)
{
    db_stmt *q = db_query(tx->db, Q_entry_by_id);
    q_int(q, 1, head->meta.tree);
    q_text(q, 2, entry_id);
    int64_t found = -1;
    while (found < 0 && q_row(q)) {
        int64_t key = q_col_int(q, 0), pos = KEY_POS(key);
        branch_meta owner;
        if (pos >= head->len)
            continue;
        if (KEY_BRANCH(key) != head->meta.id || pos < head->meta.base) {
            if (!path_owner(tx, &head->meta, pos, &owner) || owner.id != KEY_BRANCH(key))
                continue;
        }
        found = pos;
        *k = key;
    }
    q_end(q);
    if (found >= 0 && !entry_is(tx, head->meta.tree, *k, entry_id)) {
        db_fail(tx->db, RAMET_DAMAGED,
                "the index of entries is damaged: %s is not at position %lld", entry_id,
                (long long)found);
        return -1;
    }
    return found;
}

bool path_hash(txn *tx, const branch_row *head, int64_t n, uint8_t out[HASH_LEN])
{
    memset(out, 0, HASH_LEN);
    if (n == 0)
        return true;
    if (n == head->len) {
        memcpy(out, head->tip, HASH_LEN);
        return true;
    }
    branch_meta o;
    if (!path_owner(tx, &head->meta, n - 1, &o))
        return false;
    int64_t k = KEY(o.id, n - 1);
    if (is_marked(tx, head->meta.tree, k)) {
        memcpy(out, tx->mark.hash, HASH_LEN);
        return true;
    }
    db_stmt *q = db_query(tx->db, Q_entry_hash);
    q_int(q, 1, head->meta.tree);
    q_int(q, 2, k);
    size_t len = 0;
    const void *p = q_row(q) ? q_col_blob(q, 0, &len) : NULL;
    if (p && len == HASH_LEN)
        memcpy(out, p, HASH_LEN);
    q_end(q);
    if (len != HASH_LEN) {
        db_fail(tx->db, RAMET_DAMAGED, "the entry at position %lld of branch b%lld is missing",
                (long long)(n - 1), (long long)o.id);
        return false;
    }
    return true;
}

const char *path_entry_id(txn *tx, const branch_row *head, int64_t pos)
{
    branch_meta o;
    if (pos < 0 || pos >= head->len || !path_owner(tx, &head->meta, pos, &o))
        return NULL;
    const char *id = path_mark(tx, head->meta.tree, KEY(o.id, pos)) ? tx->mark.id : NULL;
    if (!id)
        db_fail(tx->db, RAMET_DAMAGED, "the entry at position %lld of branch b%lld is missing",
                (long long)pos, (long long)o.id);
    return id;
}

bool path_segments(txn *tx, const branch_meta *head, int64_t lo, int64_t hi, segment **out,
                   size_t *n)
{
    VEC(segment) v = {0};
    *out = NULL;
    *n = 0;
    branch_meta m = *head;
    while (hi > lo) {
        if (!path_owner(tx, &m, hi - 1, &m))
            return false;
        segment s = {.meta = m, .lo = m.base > lo ? m.base : lo, .hi = hi};
        VEC_PUSH(tx->arena, &v, s);
        hi = m.base;
        if (hi > lo && !branch_meta_load(tx, m.tree, m.parent, &m))
            return false;
    }
    for (size_t i = 0; i < v.n / 2; i++) {
        segment t = v.items[i];
        v.items[i] = v.items[v.n - 1 - i];
        v.items[v.n - 1 - i] = t;
    }
    *out = v.items;
    *n = v.n;
    return true;
}

/* Two paths share exactly their first k entries when their hashes at k are equal (I2). */
int64_t path_shared(txn *tx, const branch_row *a, const branch_row *b, int64_t most)
{
    int64_t lo = 0, hi = most; /* equal at lo; not known above hi */
    if (a->len < hi)
        hi = a->len;
    if (b->len < hi)
        hi = b->len;
    int64_t at = hi; /* whole equal prefixes are common: look there first */
    while (lo < hi) {
        uint8_t ha[HASH_LEN], hb[HASH_LEN];
        if (!path_hash(tx, a, at, ha) || !path_hash(tx, b, at, hb))
            return 0;
        if (memcmp(ha, hb, HASH_LEN) == 0)
            lo = at;
        else
            hi = at - 1;
        at = lo + (hi - lo + 1) / 2;
    }
    return lo;
}
