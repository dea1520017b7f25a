/* SPDX-License-Identifier: Apache-2.0
 *
 * Branches and paths.
 *
 *   B1  A branch's parent is the branch that owns entry base-1 on the path it was cut from, so base
 *       strictly falls on the way to the root, an empty branch is never a parent, and the owner
 *       of position p is the first branch upward with base <= p.
 *   B2  parent, base, depth, jump and jump_base never change and ids are never used again, so the
 *       lineage cache needs no invalidation. It only ever gets committed branches.
 *   B3  jump follows the skew-binary rule: jump(b) = jump(jump(p)) when the two last jumps of the
 *       parent p were of equal length, else p. Walking by jump and parent takes O(log depth).
 *   B4  base = 0 has parent 0; such a branch jumps to itself, with jump_base 0.
 *   B5  The caches here belong to one past (db_past()): after a fail-over the same number may mean
 *       another branch. A transaction of another past neither reads nor fills them.
 */
#include "core/model/branch.h"

#include "core/call.h"
#include "core/handle.h"
#include "core/model/branch_note.h"
#include "core/model/key.h"
#include "core/model/lineage_cache.h"
#include "core/model/path.h"
#include "core/session/session.h"
#include "core/model/state.h"
#include "core/txn.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

/* ------------------------------------------------------------ lineage cache */

#define CACHE_SLOTS 16384 /* direct-mapped by id: 1.5 MiB */
#define CACHE_LOCKS 64

#define TIP_SLOTS 1024

struct tip {
    int64_t branch;
    uint8_t hash[HASH_LEN];
};

#define WORDS_SLOTS 1024
#define WORDS_BYTES 256

struct words {
    int64_t tree, branch, pos;
    char text[WORDS_BYTES];
};

#define END_SLOTS 1024
#define END_ID_BYTES 64

/* What is known of an entry at which histories end that are forked. */
struct end {
    int64_t tree, key;
    bool named; /* id and hash are known */
    char id[END_ID_BYTES];
    uint8_t hash[HASH_LEN];
    bool folded;
    int64_t delta; /* the last one on its own branch up to it; 0: none */
};

struct lineage {
    int64_t past;               /* that all of it belongs to (B5); changed with all locks held */
    struct tip tips[TIP_SLOTS]; /* see tip_check() */
    struct end ends[END_SLOTS]; /* see end_of() */
    struct words words[WORDS_SLOTS];
    branch_meta slot[CACHE_SLOTS];
    pthread_mutex_t lock[CACHE_LOCKS];
};

struct lineage *lineage_new(void)
{
    struct lineage *l = xcalloc(1, sizeof *l);
    for (int i = 0; i < CACHE_LOCKS; i++)
        pthread_mutex_init(&l->lock[i], NULL);
    return l;
}

void lineage_free(struct lineage *l)
{
    if (!l)
        return;
    for (int i = 0; i < CACHE_LOCKS; i++)
        pthread_mutex_destroy(&l->lock[i]);
    free(l);
}

void lineage_enter(struct lineage *l, int64_t past)
{
    for (int i = 0; i < CACHE_LOCKS; i++)
        pthread_mutex_lock(&l->lock[i]);
    if (past > l->past) {
        l->past = past;
        memset(l->tips, 0, sizeof l->tips);
        memset(l->ends, 0, sizeof l->ends);
        memset(l->words, 0, sizeof l->words);
        memset(l->slot, 0, sizeof l->slot);
    }
    for (int i = 0; i < CACHE_LOCKS; i++)
        pthread_mutex_unlock(&l->lock[i]);
}

static bool cache_get(txn *tx, int64_t tree, int64_t id, branch_meta *m)
{
    struct lineage *l = tx->ramet->lineage;
    size_t i = (size_t)id % CACHE_SLOTS;
    pthread_mutex_lock(&l->lock[i % CACHE_LOCKS]);
    bool usable = l->past == tx->past;
    *m = l->slot[i];
    pthread_mutex_unlock(&l->lock[i % CACHE_LOCKS]);
    return usable && m->id == id && m->tree == tree;
}

static void cache_put(struct lineage *l, int64_t past, const branch_meta *m)
{
    size_t i = (size_t)m->id % CACHE_SLOTS;
    pthread_mutex_lock(&l->lock[i % CACHE_LOCKS]);
    if (l->past == past)
        l->slot[i] = *m;
    pthread_mutex_unlock(&l->lock[i % CACHE_LOCKS]);
}

static void words_keep(struct lineage *l, int64_t past, const root_words *w)
{
    size_t n = strlen(w->text) + 1;
    if (n > WORDS_BYTES)
        return;
    struct words *to = &l->words[(size_t)w->branch % WORDS_SLOTS];
    pthread_mutex_t *lock = &l->lock[(size_t)w->branch % CACHE_LOCKS];
    pthread_mutex_lock(lock);
    if (l->past == past) {
        to->tree = w->tree;
        to->branch = w->branch;
        to->pos = w->pos;
        memcpy(to->text, w->text, n);
    }
    pthread_mutex_unlock(lock);
}

void lineage_keep(struct lineage *l, const branch_seen *seen)
{
    assert(seen->n <= MAX_BRANCHES_SEEN);
    for (size_t i = 0; i < seen->n; i++)
        cache_put(l, seen->past, &seen->metas[i]);
    if (seen->words.text)
        words_keep(l, seen->past, &seen->words);
}

/* -------------------------------------------------------------------- rows */

void branch_from(db_stmt *q, int at, branch_row *b)
{
    *b = (branch_row){
        .meta = {.id = q_col_int(q, at),
                 .tree = q_col_int(q, at + 1),
                 .session = q_col_int(q, at + 2),
                 .log = (int)q_col_range(q, at + 3, RAMET_LOG_MAIN, RAMET_LOG_ADK, "branch.log"),
                 .parent = q_col_int(q, at + 4),
                 .base = q_col_int(q, at + 5),
                 .depth = q_col_int(q, at + 6),
                 .jump = q_col_int(q, at + 7),
                 .jump_base = q_col_int(q, at + 8),
                 .type = (int)q_col_range(q, at + 11, RAMET_EXPLICIT, RAMET_AUTO_REGENERATE,
                                          "branch.type")},
        .over = q_col_int(q, at + 9),
        .delta = q_col_int(q, at + 10),
        .created = q_col_int(q, at + 12),
        .len = q_col_int(q, at + 13),
        .live = q_col_int(q, at + 15) != 0,
        .touched = q_col_int(q, at + 16),
        .run = q_col_int(q, at + 17) != 0,
    };
    size_t n;
    const void *tip = q_col_blob(q, at + 14, &n);
    if (tip && n == HASH_LEN)
        memcpy(b->tip, tip, HASH_LEN);
}

/* What a row must be for a walk over it to end. */
static bool sane(const branch_row *b)
{
    return b->meta.id > 0 && b->meta.id <= BRANCH_MAX && b->meta.base >= 0 &&
           b->len >= b->meta.base && b->len <= POS_MAX && b->meta.depth >= 0 &&
           (b->meta.parent == 0) == (b->meta.base == 0) && b->meta.jump_base <= b->meta.base;
}

bool branch_came(txn *tx, const branch_row *b)
{
    if (!sane(b)) {
        db_fail(tx->db, RAMET_DAMAGED, "branch b%lld is damaged", (long long)b->meta.id);
        return false;
    }
    /* A writer sees its own uncommitted branches: those wait for the commit (B2). */
    if (!tx->writing)
        cache_put(tx->ramet->lineage, tx->past, &b->meta);
    else if (tx->seen && tx->seen->n < MAX_BRANCHES_SEEN)
        tx->seen->metas[tx->seen->n++] = b->meta;
    return true;
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
    if (cache_get(tx, tree, id, m))
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
    if (found && b->meta.session == s->no && b->meta.log == (int)log)
        return want == head ? RAMET_OK : pruned_check(tx, &s->access, want);
    TRY(txn_status(tx));
    if (!id && log == RAMET_LOG_MAIN) {
        db_fail(tx->db, RAMET_DAMAGED, "the head b%lld of session %s is missing", (long long)want,
                s->id);
        return txn_status(tx);
    }
    return call_fail(tx->call, RAMET_BRANCH_NOT_FOUND, "branch_id",
                     "session %s has no branch b%lld", s->id, (long long)want);
}

/* ------------------------------------------------------------------- paths */

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

static bool entry_marked(const txn *tx, int64_t tree, int64_t k)
{
    return tx->mark.key == k && tx->mark.tree == tree && k;
}

/* All paths through the entry at `pos` of a branch begin with what that branch holds before it; so
 * when it holds the first entry, too, they have the same first words. */
const char *words_get(txn *tx, const branch_row *head)
{
    branch_meta root, o;
    if (!head->len || !path_owner(tx, &head->meta, 0, &root))
        return NULL;
    struct lineage *l = tx->ramet->lineage;
    const struct words *w = &l->words[(size_t)root.id % WORDS_SLOTS];
    pthread_mutex_t *lock = &l->lock[(size_t)root.id % CACHE_LOCKS];
    const char *text = NULL;
    int64_t pos = 0;
    pthread_mutex_lock(lock);
    if (l->past == tx->past && w->branch == root.id && w->tree == root.tree && w->pos < head->len) {
        text = arena_strdup(tx->arena, w->text);
        pos = w->pos;
    }
    pthread_mutex_unlock(lock);
    return text && path_owner(tx, &head->meta, pos, &o) && o.id == root.id ? text : NULL;
}

void words_put(txn *tx, const branch_row *head, int64_t pos, const char *text)
{
    branch_meta root, o;
    if (!path_owner(tx, &head->meta, 0, &root) || !path_owner(tx, &head->meta, pos, &o) ||
        o.id != root.id)
        return;
    root_words w = {root.tree, root.id, pos, text};
    /* A writer sees what is not committed yet (B2). */
    if (!tx->writing)
        words_keep(tx->ramet->lineage, tx->past, &w);
    else if (tx->seen)
        tx->seen->words = w;
}

/* A second fork of the same session need not read its last entry again: an entry never changes.
 * Only where guards detect that the session has another history by now. Reads there see what is
 * committed, never what the write itself has made. */
static struct end *end_of(txn *tx, int64_t tree, int64_t k, pthread_mutex_t **lock)
{
    if (!db_guarded(tx->db) || db_fresh(tx->db) || !k)
        return NULL;
    size_t i = (size_t)((uint64_t)k * 0x9E3779B97F4A7C15u >> 32) % END_SLOTS;
    struct end *e = &tx->ramet->lineage->ends[i];
    *lock = &tx->ramet->lineage->lock[i % CACHE_LOCKS];
    pthread_mutex_lock(*lock);
    if (tx->ramet->lineage->past != tx->past) {
        pthread_mutex_unlock(*lock);
        return NULL;
    }
    if (e->key != k || e->tree != tree)
        *e = (struct end){.tree = tree, .key = k};
    return e;
}

static bool end_mark(txn *tx, int64_t tree, int64_t k)
{
    pthread_mutex_t *lock;
    const struct end *e = end_of(tx, tree, k, &lock);
    bool known = e && e->named;
    if (known) {
        tx->mark = (entry_mark){.tree = tree, .key = k, .id = arena_strdup(tx->arena, e->id)};
        memcpy(tx->mark.hash, e->hash, HASH_LEN);
    }
    if (e)
        pthread_mutex_unlock(lock);
    return known;
}

static void end_name(txn *tx)
{
    pthread_mutex_t *lock;
    size_t n = strlen(tx->mark.id) + 1;
    struct end *e = n <= END_ID_BYTES ? end_of(tx, tx->mark.tree, tx->mark.key, &lock) : NULL;
    if (!e)
        return;
    e->named = true;
    memcpy(e->id, tx->mark.id, n);
    memcpy(e->hash, tx->mark.hash, HASH_LEN);
    pthread_mutex_unlock(lock);
}

bool end_delta(txn *tx, int64_t tree, int64_t k, int64_t *delta)
{
    pthread_mutex_t *lock;
    const struct end *e = end_of(tx, tree, k, &lock);
    bool known = e && e->folded;
    if (known)
        *delta = e->delta;
    if (e)
        pthread_mutex_unlock(lock);
    return known;
}

void end_fold(txn *tx, int64_t tree, int64_t k, int64_t delta)
{
    pthread_mutex_t *lock;
    struct end *e = db_status(tx->db) == RAMET_OK ? end_of(tx, tree, k, &lock) : NULL;
    if (!e)
        return;
    e->folded = true;
    e->delta = delta;
    pthread_mutex_unlock(lock);
}

/* Id and hash of the entry at k, in tx->mark; false when it is missing or damaged. */
static bool entry_mark_at(txn *tx, int64_t tree, int64_t k)
{
    if (entry_marked(tx, tree, k) || end_mark(tx, tree, k))
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
        end_name(tx);
    return ok;
}

/* Whether the entry at k has that id: an index that was damaged could point anywhere. */
static bool entry_is(txn *tx, int64_t tree, int64_t k, const char *id)
{
    return entry_mark_at(tx, tree, k) && strcmp(tx->mark.id, id) == 0;
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
    if (entry_marked(tx, head->meta.tree, k)) {
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
    const char *id = entry_mark_at(tx, head->meta.tree, KEY(o.id, pos)) ? tx->mark.id : NULL;
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
    q_run(q);
}

void branch_create(txn *tx, const branch_row *from, int64_t base, const session_brief *s,
                   branch_reason why, int64_t not_before, ramet_log log, ramet_fork_type type,
                   branch_row *out)
{
    assert(tx->writing);
    txn_assert(tx, !from || from->meta.tree == s->tree);
    /* The branches of a session are ordered by when they were made, then by their numbers. The
     * clock of another process may be ahead. The first branch is as old as its session. */
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
                        .live = true};
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
        out->delta = delta_before(tx, from, base);
        if (!path_hash(tx, from, base, out->tip))
            return;
    }
    /* An inherited entry that this branch takes the place of stays one of its versions. */
    if (from && why == BRANCH_NEXT && base < from->len) {
        branch_meta o;
        if (!path_owner(tx, &from->meta, base, &o))
            return;
        out->over = o.session != s->no ? o.id : 0;
    }
    branch_insert(tx, out);
}

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
    *out = (ramet_head){.branch = b->meta.id, .length = b->len};
    hex_encode(b->tip, HASH_LEN, out->hash);
    static const uint8_t zeros[HASH_LEN];
    branch_meta o;
    if (b->len == 0 && memcmp(b->tip, zeros, HASH_LEN) != 0)
        db_fail(tx->db, RAMET_DAMAGED, "branch b%lld is damaged: it is empty and has a hash",
                (long long)b->meta.id);
    if (b->len == 0 || !path_owner(tx, &b->meta, b->len - 1, &o))
        return;
    bool found = entry_mark_at(tx, b->meta.tree, KEY(o.id, b->len - 1));
    if (found)
        out->entry_id = tx->mark.id;
    /* A length or a hash that was damaged would make the history another one without a word. */
    if (!found || memcmp(tx->mark.hash, b->tip, HASH_LEN) != 0)
        db_fail(tx->db, RAMET_DAMAGED,
                "branch b%lld is damaged: its last entry is not the one at %lld",
                (long long)b->meta.id, (long long)(b->len - 1));
}

/* Tips that this process has seen to be right, or made itself. */
static struct tip *tip_slot(txn *tx, int64_t branch, pthread_mutex_t **lock)
{
    size_t i = (size_t)branch % TIP_SLOTS;
    *lock = &tx->ramet->lineage->lock[i % CACHE_LOCKS];
    return &tx->ramet->lineage->tips[i];
}

void tip_note(txn *tx, const branch_row *b)
{
    assert(tx->writing);
    pthread_mutex_t *lock;
    struct tip *t = tip_slot(tx, b->meta.id, &lock);
    pthread_mutex_lock(lock);
    if (tx->ramet->lineage->past == tx->past) {
        t->branch = b->meta.id;
        memcpy(t->hash, b->tip, HASH_LEN);
    }
    pthread_mutex_unlock(lock);
}

static bool tip_known(txn *tx, const branch_row *b)
{
    pthread_mutex_t *lock;
    const struct tip *t = tip_slot(tx, b->meta.id, &lock);
    pthread_mutex_lock(lock);
    bool known = tx->ramet->lineage->past == tx->past && t->branch == b->meta.id &&
                 memcmp(t->hash, b->tip, HASH_LEN) == 0;
    pthread_mutex_unlock(lock);
    return known;
}

ramet_status tip_check(txn *tx, const branch_row *b)
{
    if (tip_known(tx, b))
        return RAMET_OK;
    uint8_t hash[HASH_LEN];
    branch_row longer = *b; /* so that the entry is asked, not the tip */
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
    h->entry_id = b->len ? path_entry_id(tx, b, b->len - 1) : NULL;
    hex_encode(b->tip, HASH_LEN, h->hash);
    return RAMET_HEAD_MOVED;
}
