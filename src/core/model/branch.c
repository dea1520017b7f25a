/* SPDX-License-Identifier: Apache-2.0
 *
 * Branches and paths: lookup of rows, the lineage cache, and creating a branch.
 *
 *   B1  A branch's parent is the branch that owns entry base-1 on the path it was cut from, so base
 *       strictly falls on the way to the root, an empty branch is never a parent, and the owner
 *       of position p is the first branch upward with base <= p.
 *   B2  parent, base, depth, jump and jump_base never change and ids are never used again, so the
 *       lineage cache needs no invalidation. Only committed branches are added to it.
 *   B3  jump follows the skew-binary rule: jump(b) = jump(jump(p)) when the two last jumps of the
 *       parent p were of equal length, else p. Walking by jump and parent takes O(log depth).
 *   B4  base = 0 has parent 0; such a branch jumps to itself, with jump_base 0.
 *   B5  The caches here belong to one past (db_past()): after a fail-over the same number may mean
 *       another branch. A transaction of another past neither reads nor fills them.
 */
#include "core/model/branch.h"

#include "core/call.h"
#include "core/columns.h"
#include "core/handle.h"
#include "core/model/branch_note.h"
#include "core/model/key.h"
#include "core/model/lineage_cache.h"
#include "core/model/path.h"
#include "core/session/session.h"
#include "core/model/state.h"
#include "core/txn.h"

#include <assert.h>
#include <stdio.h>

/* -------------------------------------------------------------------- rows */

void branch_from(db_stmt *q, int at, branch_row *b)
{
    *b = (branch_row){
        .meta = {.id = col_branch(q, at),
                 .tree = q_col_int(q, at + 1),
                 .session = q_col_int(q, at + 2),
                 .log = (int)q_col_range(q, at + 3, RAMET_LOG_MAIN, RAMET_LOG_ADK, "branch.log"),
                 .parent = q_col_int(q, at + 4),
                 .base = col_length(q, at + 5, "branch.base"),
                 .depth = col_length(q, at + 6, "branch.depth"),
                 .jump = q_col_int(q, at + 7),
                 .jump_base = q_col_int(q, at + 8),
                 .type = (int)q_col_range(q, at + 11, RAMET_EXPLICIT, RAMET_AUTO_REGENERATE,
                                          "branch.type")},
        .over = q_col_int(q, at + 9),
        .delta = q_col_int(q, at + 10),
        .created = q_col_int(q, at + 12),
        .len = col_length(q, at + 13, "branch.len"),
        .live = q_col_int(q, at + 15) != 0,
        .touched = q_col_int(q, at + 16),
        .run = q_col_int(q, at + 17) != 0,
        .overlay = q_col_int(q, at + 18),
        .filled = q_col_int(q, at + 19),
        .seal = q_col_int(q, at + 20),
    };
    size_t n;
    const void *tip = q_col_blob(q, at + 14, &n);
    if (tip && n == HASH_LEN)
        memcpy(b->tip, tip, HASH_LEN);
}

bool branch_sane(const branch_row *b)
{
    return b->meta.id > 0 && b->meta.id <= BRANCH_MAX && b->meta.base >= 0 &&
           b->len >= b->meta.base && b->len <= POS_MAX && b->meta.depth >= 0 && b->filled >= 0 &&
           b->filled <= b->meta.base && (b->meta.parent == 0) == (b->meta.base == 0) &&
           b->meta.jump_base <= b->meta.base;
}

int64_t branch_seal(sha *h, const branch_row *b)
{
    char text[320];
    const branch_meta *m = &b->meta;
    int n =
        snprintf(text, sizeof text, "%lld %lld %lld %d %lld %lld %lld %lld %d %lld %lld %lld",
                 (long long)m->id, (long long)m->tree, (long long)m->session, m->log,
                 (long long)m->parent, (long long)m->base, (long long)b->over, (long long)b->delta,
                 m->type, (long long)b->created, (long long)b->overlay, (long long)b->filled);
    sha_begin(h);
    sha_add(h, text, (size_t)n);
    return sha_end_seal(h);
}

bool branch_came(txn *tx, const branch_row *b)
{
    if (!branch_sane(b)) {
        db_fail(tx->db, RAMET_DAMAGED, "branch b%lld is damaged", (long long)b->meta.id);
        return false;
    }
    /* A writer sees its own uncommitted branches: those wait for the commit (B2). */
    if (!tx->writing)
        lineage_put(tx->ramet->lineage, tx->past, &b->meta);
    else if (tx->seen && tx->seen->n < MAX_BRANCHES_SEEN)
        tx->seen->metas[tx->seen->n++] = b->meta;
    return true;
}

bool head_came(txn *tx, const char *session, const branch_row *b)
{
    if (!branch_came(tx, b))
        return false;
    if (!b->live)
        db_fail(tx->db, RAMET_DAMAGED, "branch b%lld, the head of session %s, is marked as left",
                (long long)b->meta.id, session);
    return b->live;
}

static bool load_by(txn *tx, sql_id statement, int64_t tree, int64_t id, branch_row *b)
{
    db_stmt *q = db_query(tx->db, statement);
    q_int(q, 1, tree);
    q_int(q, 2, id);
    bool found = q_row(q);
    if (found)
        branch_from(q, 0, b);
    q_end(q);
    return found && branch_came(tx, b);
}

bool branch_load(txn *tx, int64_t tree, int64_t id, branch_row *b)
{
    return load_by(tx, Q_branch_get, tree, id, b);
}

bool branch_lineage_load(txn *tx, int64_t tree, int64_t id, branch_row *b)
{
    return load_by(tx, Q_branch_lineage, tree, id, b);
}

bool branch_meta_load(txn *tx, int64_t tree, int64_t id, branch_meta *m)
{
    if (lineage_get(tx, tree, id, m))
        return true;
    branch_row b;
    if (!branch_lineage_load(tx, tree, id, &b)) {
        db_fail(tx->db, RAMET_DAMAGED, "branch b%lld is missing", (long long)id);
        return false;
    }
    *m = b.meta;
    return true;
}

ramet_status branch_open(txn *tx, const session_brief *s, ramet_log log, int64_t id, branch_row *b)
{
    int64_t head = log == RAMET_LOG_ADK ? s->adk : s->head;
    int64_t want = id ? id : head;
    bool found = want > 0 && branch_load(tx, s->tree, want, b);
    if (found && b->meta.session == s->no && b->meta.log == (int)log) {
        if (want != head)
            return pruned_check(tx, &s->access, want);
        /* A reader has one snapshot of the session and its branch. */
        return tx->writing || head_came(tx, s->id, b) ? RAMET_OK : txn_status(tx);
    }
    TRY(txn_status(tx));
    if (!id && log == RAMET_LOG_MAIN) {
        db_fail(tx->db, RAMET_DAMAGED, "the head b%lld of session %s is missing", (long long)want,
                s->id);
        return txn_status(tx);
    }
    return branch_missing(tx->call, s->id, want);
}

ramet_status branch_missing(ramet_call *c, const char *session, int64_t want)
{
    if (want > BRANCH_MAX)
        return call_fail(c, RAMET_BRANCH_NOT_FOUND, "branch_id", "session %s has no such branch",
                         session);
    return call_fail(c, RAMET_BRANCH_NOT_FOUND, "branch_id", "session %s has no branch b%lld",
                     session, (long long)want);
}

/* ------------------------------------------------------------------ create */

/* The jump pointer of a child of p (B3). */
static bool jump_of(txn *tx, const branch_meta *p, branch_meta *to)
{
    branch_meta j, jj;
    if (!branch_meta_load(tx, p->tree, p->jump, &j) || !branch_meta_load(tx, p->tree, j.jump, &jj))
        return false;
    *to = p->depth - j.depth == j.depth - jj.depth ? jj : *p;
    return true;
}

static void branch_insert(txn *tx, branch_row *b)
{
    db_stmt *q = db_query(tx->db, Q_branch_add);
    q_int(q, 1, b->meta.id);
    q_int(q, 2, b->meta.tree);
    q_int(q, 3, b->meta.session);
    q_int(q, 4, b->meta.log);
    q_int(q, 5, b->meta.parent);
    q_int(q, 6, b->meta.base);
    q_int(q, 7, b->meta.depth);
    q_int(q, 8, b->meta.jump);
    q_int(q, 9, b->meta.jump_base);
    q_int(q, 10, b->over);
    q_int(q, 11, b->delta);
    q_int(q, 12, b->meta.type);
    q_int(q, 13, b->created);
    q_blob(q, 14, b->tip, HASH_LEN);
    q_int(q, 15, b->overlay);
    q_int(q, 16, b->filled);
    b->seal = branch_seal(tx->call->hasher, b);
    q_int(q, 17, b->seal);
    q_run(q);
}

/* An inherited entry that a new branch takes the place of stays one of its versions. What it takes
 * the place of may have done so itself: the new one remembers the original, too, because the other
 * can be pruned and removed. */
static bool over_find(txn *tx, const branch_row *from, int64_t base, const session_brief *s,
                      int64_t *over)
{
    branch_meta o;
    branch_row replaced;
    if (base == from->len) { /* at most an empty branch is replaced */
        *over = from->meta.session == s->no && from->meta.base == base ? from->over : 0;
        return true;
    }
    if (!path_owner(tx, &from->meta, base, &o))
        return false;
    *over = o.session != s->no ? o.id : 0;
    if (!*over && o.base == base) {
        if (!branch_lineage_load(tx, s->tree, o.id, &replaced))
            return false;
        *over = replaced.over;
    }
    return true;
}

void branch_create(txn *tx, const branch_row *from, int64_t base, const session_brief *s,
                   branch_reason why, int64_t not_before, ramet_log log, ramet_fork_type type,
                   branch_row *out)
{
    assert(tx->writing);
    txn_assert(tx, !from || from->meta.tree == s->tree);
    /* An inherited entry that this branch replaces remains one of its versions. */
    bool tie = why == BRANCH_NEXT && not_before >= tx->now;
    int64_t id = tie ? db_number_above(tx->db, DB_BRANCH) : db_number(tx->db, DB_BRANCH, NULL);
    int64_t created = not_before > tx->now ? not_before : tx->now;
    *out = (branch_row){.meta = {.id = id,
                                 .tree = s->tree,
                                 .session = s->no,
                                 .log = (int)log,
                                 .type = (int)type,
                                 .jump = id},
                        .created = created,
                        .touched = created,
                        .live = true,
                        .overlay = from ? from->overlay : 0};
    branch_meta p, to;
    if (from && base > 0) {
        txn_assert(tx, base <= from->len);
        if (!path_owner(tx, &from->meta, base - 1, &p) || !jump_of(tx, &p, &to))
            return;
        out->meta.parent = p.id;
        out->meta.base = base;
        out->meta.depth = p.depth + 1;
        out->meta.jump = to.id;
        out->meta.jump_base = to.base;
        out->len = base;
        out->filled = from->filled < base ? from->filled : base;
        out->delta = delta_before(tx, from, base);
        if (!path_hash(tx, from, base, out->tip))
            return;
    }
    if (from && why == BRANCH_NEXT && !over_find(tx, from, base, s, &out->over))
        return;
    branch_insert(tx, out);
}
/* The cache slot for tips that this process has checked, or made itself. */
void branches_of(txn *tx, const session_access *s, branch_row **out, size_t *n)
{
    VEC(branch_row) v = {0};
    db_stmt *q = db_query(tx->db, Q_branch_of_session);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    while (q_row(q)) {
        branch_row b;
        branch_from(q, 0, &b);
        VEC_PUSH(tx->arena, &v, b);
    }
    *out = v.items;
    *n = v.n;
}

/* -------------------------------------------------------------------- heads */

void head_fill(txn *tx, const branch_row *b, ramet_head *out)
{
    *out = (ramet_head){.branch = b->meta.id, .length = b->len, .overlay = b->overlay};
    hex_encode(b->tip, HASH_LEN, out->hash);
    static const uint8_t zeros[HASH_LEN];
    branch_meta o;
    if (b->len == 0 && memcmp(b->tip, zeros, HASH_LEN) != 0)
        db_fail(tx->db, RAMET_DAMAGED, "branch b%lld is damaged: it is empty and has a hash",
                (long long)b->meta.id);
    if (b->len == 0 || !path_owner(tx, &b->meta, b->len - 1, &o))
        return;
    bool found = path_mark(tx, b->meta.tree, KEY(o.id, b->len - 1));
    if (found)
        out->entry_id = tx->mark.id;
    /* A length or a hash that was damaged would make the history another one without a word. */
    if (!found || memcmp(tx->mark.hash, b->tip, HASH_LEN) != 0)
        db_fail(tx->db, RAMET_DAMAGED,
                "branch b%lld is damaged: its last entry is not the one at %lld",
                (long long)b->meta.id, (long long)(b->len - 1));
}

ramet_status tip_check(txn *tx, const branch_row *b)
{
    if (tip_is_known(tx, b))
        return RAMET_OK;
    uint8_t hash[HASH_LEN];
    branch_row longer = *b; /* makes path_hash() read the entry, not the tip */
    longer.len++;
    if (path_hash(tx, &longer, b->len, hash) && memcmp(hash, b->tip, HASH_LEN) != 0)
        db_fail(tx->db, RAMET_DAMAGED,
                "branch b%lld is damaged: its tip is not its last entry's hash",
                (long long)b->meta.id);
    return txn_status(tx);
}

ramet_status head_check(txn *tx, const branch_row *b, const uint8_t *expected, bool given)
{
    if (!given || memcmp(expected, b->tip, HASH_LEN) == 0)
        return RAMET_OK;
    call_fail(tx->call, RAMET_HEAD_MOVED, "expected_head",
              "the history has %lld entr%s now and is not the expected one; read it again",
              (long long)b->len, b->len == 1 ? "y" : "ies");
    ramet_head *h = &tx->call->err.head;
    h->branch = b->meta.id;
    h->length = b->len;
    h->overlay = b->overlay;
    h->entry_id = b->len ? path_entry_id(tx, b, b->len - 1) : NULL;
    hex_encode(b->tip, HASH_LEN, h->hash);
    return RAMET_HEAD_MOVED;
}
