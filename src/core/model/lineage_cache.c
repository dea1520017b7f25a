/* SPDX-License-Identifier: Apache-2.0
 *
 * lineage_cache.c: what this process knows of branches and entries that never change: the lineage
 * of branches, titles of paths, the entries at which histories are forked, and tips that were
 * checked.
 *
 * Each is a direct-mapped table; a slot is overwritten by the next one that falls into it.
 */
#include "core/model/lineage_cache.h"

#include "core/call.h"
#include "core/handle.h"
#include "core/model/entry.h"
#include "core/model/path.h"
#include "core/txn.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#define BRANCH_SLOTS 16384 /* direct-mapped by id: 1.5 MiB */
#define CACHE_LOCKS 64

#define TIP_SLOTS 1024

struct tip {
    int64_t branch;
    uint8_t hash[HASH_LEN];
};

#define TITLE_SLOTS 1024
#define TITLE_BYTES 256

struct path_title_slot {
    int64_t tree, branch, pos, stamp;
    char text[TITLE_BYTES];
};

#define FORK_ENTRY_SLOTS 1024
#define FORK_ENTRY_ID_BYTES 64

/* What is known of an entry at which histories end that are forked. */
struct fork_entry {
    int64_t tree, key;
    bool has_mark; /* id and hash are known */
    char id[FORK_ENTRY_ID_BYTES];
    uint8_t hash[HASH_LEN];
    bool has_delta;
    int64_t delta; /* the last one on its own branch up to it; 0: none */
};

struct lineage {
    int64_t past;               /* that all of it belongs to (B5); changed with all locks held */
    struct tip tips[TIP_SLOTS]; /* see tip_is_known() */
    struct fork_entry forked[FORK_ENTRY_SLOTS]; /* see fork_entry_slot() */
    struct path_title_slot titles[TITLE_SLOTS];
    branch_meta branches[BRANCH_SLOTS];
    pthread_mutex_t locks[CACHE_LOCKS];
};

struct lineage *lineage_new(void)
{
    struct lineage *l = xcalloc(1, sizeof *l);
    for (int i = 0; i < CACHE_LOCKS; i++)
        pthread_mutex_init(&l->locks[i], NULL);
    return l;
}

void lineage_free(struct lineage *l)
{
    if (!l)
        return;
    for (int i = 0; i < CACHE_LOCKS; i++)
        pthread_mutex_destroy(&l->locks[i]);
    free(l);
}

void lineage_enter(struct lineage *l, int64_t past)
{
    for (int i = 0; i < CACHE_LOCKS; i++)
        pthread_mutex_lock(&l->locks[i]);
    if (past > l->past) {
        l->past = past;
        memset(l->tips, 0, sizeof l->tips);
        memset(l->forked, 0, sizeof l->forked);
        memset(l->titles, 0, sizeof l->titles);
        memset(l->branches, 0, sizeof l->branches);
    }
    for (int i = 0; i < CACHE_LOCKS; i++)
        pthread_mutex_unlock(&l->locks[i]);
}

/* ------------------------------------------------------------ branches */

bool lineage_get(txn *tx, int64_t tree, int64_t id, branch_meta *m)
{
    struct lineage *l = tx->ramet->lineage;
    size_t i = (size_t)id % BRANCH_SLOTS;
    pthread_mutex_lock(&l->locks[i % CACHE_LOCKS]);
    bool usable = l->past == tx->past;
    *m = l->branches[i];
    pthread_mutex_unlock(&l->locks[i % CACHE_LOCKS]);
    return usable && m->id == id && m->tree == tree;
}

void lineage_put(struct lineage *l, int64_t past, const branch_meta *m)
{
    size_t i = (size_t)m->id % BRANCH_SLOTS;
    pthread_mutex_lock(&l->locks[i % CACHE_LOCKS]);
    if (l->past == past)
        l->branches[i] = *m;
    pthread_mutex_unlock(&l->locks[i % CACHE_LOCKS]);
}

/* -------------------------------------------------------------- titles */

static void title_keep(struct lineage *l, int64_t past, const path_title *w)
{
    size_t n = strlen(w->text) + 1;
    if (n > TITLE_BYTES)
        return;
    struct path_title_slot *to = &l->titles[(size_t)w->branch % TITLE_SLOTS];
    pthread_mutex_t *lock = &l->locks[(size_t)w->branch % CACHE_LOCKS];
    pthread_mutex_lock(lock);
    if (l->past == past) {
        to->tree = w->tree;
        to->branch = w->branch;
        to->pos = w->pos;
        to->stamp = w->stamp;
        memcpy(to->text, w->text, n);
    }
    pthread_mutex_unlock(lock);
}

/* All paths through the entry at `pos` of a branch begin with what that branch holds before it; so
 * when it holds the first entry, too, they have the same title.
 *
 * An entry can be erased, by another process, too; that counts up the stamp of the tree. A guarded
 * write, which compares the stamp when it commits, uses a title of the same stamp. Everybody else
 * asks whether the entry is still there. */
static bool title_valid(txn *tx, const path_title *w, int64_t stamp)
{
    if (db_guarded(tx->db))
        return stamp != SESSION_NO_STAMP && w->stamp == stamp;
    db_stmt *q = db_query(tx->db, Q_entry_flags);
    q_int(q, 1, w->tree);
    q_int(q, 2, KEY(w->branch, w->pos));
    bool there = q_row(q) && !(q_col_int(q, 0) & FLAG_ERASED);
    q_end(q);
    return there;
}

const char *path_title_get(txn *tx, const branch_row *head, int64_t stamp)
{
    branch_meta root, o;
    /* The words of a path with values are its own. */
    if (!head->len || head->filled || !path_owner(tx, &head->meta, 0, &root))
        return NULL;
    struct lineage *l = tx->ramet->lineage;
    const struct path_title_slot *w = &l->titles[(size_t)root.id % TITLE_SLOTS];
    pthread_mutex_t *lock = &l->locks[(size_t)root.id % CACHE_LOCKS];
    path_title found = {0};
    pthread_mutex_lock(lock);
    if (l->past == tx->past && w->branch == root.id && w->tree == root.tree && w->pos < head->len) {
        found = (path_title){w->tree, w->branch, w->pos, w->stamp, NULL};
        found.text = arena_strdup(tx->arena, w->text);
    }
    pthread_mutex_unlock(lock);
    return found.text && path_owner(tx, &head->meta, found.pos, &o) && o.id == root.id &&
                   title_valid(tx, &found, stamp)
               ? found.text
               : NULL;
}

void path_title_put(txn *tx, const branch_row *head, int64_t pos, int64_t stamp, const char *text)
{
    branch_meta root, o;
    if (head->filled || !path_owner(tx, &head->meta, 0, &root) ||
        !path_owner(tx, &head->meta, pos, &o) || o.id != root.id)
        return;
    path_title w = {root.tree, root.id, pos, stamp, text};
    /* A writer sees what is not committed yet (B2). */
    if (!tx->writing)
        title_keep(tx->ramet->lineage, tx->past, &w);
    else if (tx->seen)
        tx->seen->title = w;
}

/* ------------------------------------------------------ forked entries */

/* A second fork of the same session need not read its last entry again: an entry never changes.
 * Only where guards detect that the session has another history by now. Reads there see what is
 * committed, never what the write itself has made. */
static struct fork_entry *fork_entry_slot(txn *tx, int64_t tree, int64_t k, pthread_mutex_t **lock)
{
    if (!db_guarded(tx->db) || db_fresh(tx->db) || !k)
        return NULL;
    size_t i = (size_t)((uint64_t)k * 0x9E3779B97F4A7C15u >> 32) % FORK_ENTRY_SLOTS;
    struct fork_entry *e = &tx->ramet->lineage->forked[i];
    *lock = &tx->ramet->lineage->locks[i % CACHE_LOCKS];
    pthread_mutex_lock(*lock);
    if (tx->ramet->lineage->past != tx->past) {
        pthread_mutex_unlock(*lock);
        return NULL;
    }
    if (e->key != k || e->tree != tree)
        *e = (struct fork_entry){.tree = tree, .key = k};
    return e;
}

bool fork_entry_mark(txn *tx, int64_t tree, int64_t k)
{
    pthread_mutex_t *lock;
    const struct fork_entry *e = fork_entry_slot(tx, tree, k, &lock);
    bool known = e && e->has_mark;
    if (known) {
        tx->mark = (entry_mark){.tree = tree, .key = k, .id = arena_strdup(tx->arena, e->id)};
        memcpy(tx->mark.hash, e->hash, HASH_LEN);
    }
    if (e)
        pthread_mutex_unlock(lock);
    return known;
}

void fork_entry_keep_mark(txn *tx)
{
    pthread_mutex_t *lock;
    size_t n = strlen(tx->mark.id) + 1;
    struct fork_entry *e =
        n <= FORK_ENTRY_ID_BYTES ? fork_entry_slot(tx, tx->mark.tree, tx->mark.key, &lock) : NULL;
    if (!e)
        return;
    e->has_mark = true;
    memcpy(e->id, tx->mark.id, n);
    memcpy(e->hash, tx->mark.hash, HASH_LEN);
    pthread_mutex_unlock(lock);
}

bool fork_entry_delta(txn *tx, int64_t tree, int64_t k, int64_t *delta)
{
    pthread_mutex_t *lock;
    const struct fork_entry *e = fork_entry_slot(tx, tree, k, &lock);
    bool known = e && e->has_delta;
    if (known)
        *delta = e->delta;
    if (e)
        pthread_mutex_unlock(lock);
    return known;
}

void fork_entry_keep_delta(txn *tx, int64_t tree, int64_t k, int64_t delta)
{
    pthread_mutex_t *lock;
    struct fork_entry *e =
        db_status(tx->db) == RAMET_OK ? fork_entry_slot(tx, tree, k, &lock) : NULL;
    if (!e)
        return;
    e->has_delta = true;
    e->delta = delta;
    pthread_mutex_unlock(lock);
}

/* ---------------------------------------------------------------- tips */

/* Tips that this process has seen to be right, or made itself. */
static struct tip *tip_slot(txn *tx, int64_t branch, pthread_mutex_t **lock)
{
    size_t i = (size_t)branch % TIP_SLOTS;
    *lock = &tx->ramet->lineage->locks[i % CACHE_LOCKS];
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

bool tip_is_known(txn *tx, const branch_row *b)
{
    pthread_mutex_t *lock;
    const struct tip *t = tip_slot(tx, b->meta.id, &lock);
    pthread_mutex_lock(lock);
    bool known = tx->ramet->lineage->past == tx->past && t->branch == b->meta.id &&
                 memcmp(t->hash, b->tip, HASH_LEN) == 0;
    pthread_mutex_unlock(lock);
    return known;
}

/* -------------------------------------------------------------- commit */

void lineage_keep(struct lineage *l, const branch_seen *seen)
{
    assert(seen->n <= MAX_BRANCHES_SEEN);
    for (size_t i = 0; i < seen->n; i++)
        lineage_put(l, seen->past, &seen->metas[i]);
    if (seen->title.text)
        title_keep(l, seen->past, &seen->title);
}
