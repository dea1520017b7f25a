/* SPDX-License-Identifier: Apache-2.0
 *
 * A cache of sessions that were appended to recently, so that the next append need not read their
 * rows again.
 *
 *   R1  A row is valid while this process has written nothing but appends
 *       (session_cache_forget()), no other process has written, and nothing was rolled back
 *       (db_epoch()).
 *   R2  Where many processes write side by side, a row may always be out of date. A write that is
 *       based on it is then guarded (db_guarded()): it succeeds only if the branch is still live
 *       and ends in the same hash, so that its history is the known one, and if the tree has the
 *       same stamp, so that access rights have not changed.
 *   R3  An append changes rows of its own session alone. It stores the head that it made, or
 *       drops the session when it changed more than that (append_do()).
 *   R4  All rows belong to one past (db_past()). A transaction of another past neither reads nor
 *       stores any.
 *
 * What depends on the clock is not cached: whether a session has expired is checked every time.
 */
#include "core/session/session_cache.h"

#include "core/call.h"
#include "core/handle.h"
#include "core/model/branch.h"
#include "core/session/session.h"
#include "core/txn.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#define SLOTS 1024 /* direct-mapped by the session's id */

#define MAX_TEXT_BYTES 4096 /* of one whole row */

typedef struct slot {
    int64_t epoch, turn; /* when it was stored (R1) */
    int64_t wrote;       /* the transaction that made its head */
    char *texts;         /* memory of all texts below; NULL: empty slot */
    const char *user;    /* the user whose level it holds; NULL: the embedding program */
    const char *tree_id; /* NULL: only what an append needs is cached */
    ramet_level level;
    session_full session;
    branch_row head;
} slot;

/* The texts of a row. */
#define ROW_TEXTS(s)                                                                               \
    {                                                                                              \
        &(s)->id, &(s)->owner, &(s)->title, &(s)->agent, &(s)->agent_config, &(s)->metadata,       \
            &(s)->reason, &(s)->by_id, &(s)->fork_entry, &(s)->from_title                          \
    }
#define N_ROW_TEXTS 10

struct session_cache {
    pthread_mutex_t lock; /* protects the slots: guarded writes run concurrently */
    int64_t turn;
    int64_t past; /* R4 */
    slot slots[SLOTS];
};

struct session_cache *session_cache_new(void)
{
    struct session_cache *r = xcalloc(1, sizeof *r);
    pthread_mutex_init(&r->lock, NULL);
    return r;
}

void session_cache_free(struct session_cache *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < SLOTS; i++)
        free(r->slots[i].texts);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

void session_cache_enter(struct session_cache *r, int64_t past)
{
    pthread_mutex_lock(&r->lock);
    bool newer = past > r->past;
    if (newer)
        r->past = past;
    for (size_t i = 0; i < SLOTS && newer; i++) {
        free(r->slots[i].texts);
        r->slots[i] = (slot){0};
    }
    pthread_mutex_unlock(&r->lock);
}

void session_cache_forget(struct session_cache *r)
{
    pthread_mutex_lock(&r->lock);
    r->turn++;
    pthread_mutex_unlock(&r->lock);
}

static slot *slot_of(txn *tx, const char *id)
{
    uint32_t h = hash_text(id);
    return &tx->ramet->session_cache->slots[(h ^ h >> 16) % SLOTS];
}

static bool slot_holds(txn *tx, const slot *t, const char *id)
{
    if (tx->ramet->session_cache->past != tx->past || !t->texts || strcmp(t->session.id, id) != 0)
        return false;
    if (db_guarded(tx->db))
        return !db_fresh(tx->db) || t->epoch == db_epoch(tx->db);
    return t->turn == tx->ramet->session_cache->turn && t->epoch == db_epoch(tx->db);
}

session_full session_keep(arena *a, const session_full *row)
{
    session_full s = *row;
    const char **texts[] = ROW_TEXTS(&s);
    for (size_t i = 0; i < N_ROW_TEXTS; i++)
        *texts[i] = arena_strdup(a, *texts[i]);
    return s;
}

/* Passes the head and level of a slot to the caller. */
static void slot_give(txn *tx, const slot *t, branch_row *head)
{
    *head = t->head;
    const char *user = tx->call->user;
    if (user && t->user && strcmp(user, t->user) == 0) {
        tx->level = t->level;
        tx->level_tree = t->session.tree;
    }
}

bool session_cache_get(txn *tx, const char *id, session_brief *s, branch_row *head)
{
    struct session_cache *r = tx->ramet->session_cache;
    pthread_mutex_lock(&r->lock);
    const slot *t = slot_of(tx, id);
    bool holds = slot_holds(tx, t, id);
    if (holds) {
        *s = t->session.brief;
        s->id = arena_strdup(tx->arena, s->id);
        s->owner = arena_strdup(tx->arena, s->owner);
        slot_give(tx, t, head);
    }
    pthread_mutex_unlock(&r->lock);
    return holds;
}

bool session_cache_whole(txn *tx, const char *id, session_full *s, branch_row *head)
{
    struct session_cache *r = tx->ramet->session_cache;
    if (!db_guarded(tx->db))
        return false;
    pthread_mutex_lock(&r->lock);
    const slot *t = slot_of(tx, id);
    /* A fork needs the committed branch, as it was before this transaction. */
    bool holds = slot_holds(tx, t, id) && t->tree_id && t->wrote != db_epoch(tx->db);
    if (holds) {
        *s = session_keep(tx->arena, &t->session);
        slot_give(tx, t, head);
        tx->named_tree = s->tree;
        tx->tree_id = arena_strdup(tx->arena, t->tree_id);
    }
    pthread_mutex_unlock(&r->lock);
    return holds;
}

static const char *text_put(char **to, const char *text)
{
    if (!text)
        return NULL;
    char *at = *to;
    *to = stpcpy(at, text) + 1;
    return at;
}

/* tree_id NULL: the row is a brief one. Rows with long texts are not cached. */
static void slot_fill(txn *tx, slot *t, const session_full *s, const branch_row *head,
                      const char *tree_id)
{
    assert(tx->writing);
    txn_assert(tx, head->meta.tree == s->tree);
    assert(!db_guarded(tx->db) || s->stamp != SESSION_NO_STAMP); /* R2 compares it */
    if (tx->ramet->session_cache->past != tx->past)
        return;
    const char *user = tx->level_tree == s->tree && tx->call->user ? tx->call->user : NULL;
    slot now = {.epoch = db_epoch(tx->db),
                .turn = tx->ramet->session_cache->turn,
                .level = tx->level,
                .session = *s,
                .head = *head};
    const char **texts[] = ROW_TEXTS(&now.session);
    size_t n = (user ? strlen(user) : 0) + (tree_id ? strlen(tree_id) : 0) + 2;
    for (size_t i = 0; i < N_ROW_TEXTS; i++)
        n += *texts[i] ? strlen(*texts[i]) + 1 : 0;
    if (n > MAX_TEXT_BYTES)
        return;
    char *p = now.texts = xmalloc(n);
    for (size_t i = 0; i < N_ROW_TEXTS; i++)
        *texts[i] = text_put(&p, *texts[i]);
    now.user = text_put(&p, user);
    now.tree_id = text_put(&p, tree_id);
    free(t->texts);
    *t = now;
}

/* Whether the slot holds the same session, apart from the head. */
static bool slot_same(txn *tx, const slot *t, const session_brief *s)
{
    return slot_holds(tx, t, s->id) && (!db_guarded(tx->db) || t->session.stamp == s->stamp);
}

void session_cache_put(txn *tx, const session_brief *s, const branch_row *head)
{
    struct session_cache *r = tx->ramet->session_cache;
    pthread_mutex_lock(&r->lock);
    slot *t = slot_of(tx, s->id);
    if (slot_same(tx, t, s)) {
        t->head = *head;
        t->session.head = s->head;
    } else {
        slot_fill(tx, t, &(session_full){.brief = *s}, head, NULL);
    }
    t->wrote = db_epoch(tx->db);
    pthread_mutex_unlock(&r->lock);
}

void session_cache_put_whole(txn *tx, const session_full *s, const branch_row *head)
{
    struct session_cache *r = tx->ramet->session_cache;
    if (!db_guarded(tx->db) || tx->named_tree != s->tree)
        return;
    pthread_mutex_lock(&r->lock);
    slot *t = slot_of(tx, s->id);
    if (t->wrote != db_epoch(tx->db))
        slot_fill(tx, t, s, head, tx->tree_id);
    pthread_mutex_unlock(&r->lock);
}

void session_cache_drop(txn *tx, const char *id)
{
    struct session_cache *r = tx->ramet->session_cache;
    pthread_mutex_lock(&r->lock);
    slot *t = slot_of(tx, id);
    free(t->texts);
    *t = (slot){0};
    pthread_mutex_unlock(&r->lock);
}
