/* SPDX-License-Identifier: Apache-2.0
 *
 * Session state: key-value deltas carried by entries. The state at an entry is the fold of the
 * deltas on its path.
 *
 *   S1  Each delta names the one before it on its path (`prev`), so a fold is a walk back.
 *   S2  Now and then a delta carries a snapshot of the state including it; the walk ends there.
 *       One is written when the deltas since the last weigh more than it: the work of writing them
 *       at most doubles, and a fold reads at most about twice the size of the state.
 *   S3  A branch names the last delta below its base, so a fork inherits without a walk.
 *   S4  Values are never decoded: they are returned as the bytes that were sent.
 *   S5  The state of a session is that of its main log over that of its adk log, each folded
 *       separately: main's value of a key wins. Through a link only main's state is visible.
 */
#include "core/model/state.h"

#include "core/access/share.h"
#include "core/call.h"
#include "core/check.h"
#include "core/model/branch.h"
#include "core/model/key.h"
#include "core/model/lineage_cache.h"
#include "core/change/log_rules.h"
#include "core/change/move.h"
#include "core/model/path.h"
#include "core/session/rights.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/txn.h"

#include <assert.h>
#include <stdlib.h>

#define SNAP_MIN 2048 /* deltas that weigh less are not worth a snapshot */
#define ROW_WEIGHT 16 /* cost of a row, however short it is */
#define STATE_MAX ((size_t)64 << 20)

int64_t delta_before_on(txn *tx, const branch_meta *owner, int64_t inherited, int64_t n)
{
    if (n <= owner->base)
        return inherited;
    int64_t end = KEY(owner->id, n - 1), k;
    if (fork_entry_delta(tx, owner->tree, end, &k))
        return k ? k : inherited;
    db_stmt *q = db_query(tx->db, Q_delta_last);
    q_int(q, 1, owner->tree);
    q_int(q, 2, KEY(owner->id, owner->base));
    q_int(q, 3, end);
    k = q_row(q) ? q_col_int(q, 0) : 0;
    q_end(q);
    fork_entry_keep_delta(tx, owner->tree, end, k);
    return k ? k : inherited;
}

int64_t delta_before(txn *tx, const branch_row *head, int64_t n)
{
    branch_meta o;
    if (n <= 0 || !path_owner(tx, &head->meta, n - 1, &o))
        return 0;
    branch_row b = *head;
    if (o.id != head->meta.id && !branch_lineage_load(tx, o.tree, o.id, &b))
        return 0;
    return delta_before_on(tx, &o, b.delta, n);
}

/* --------------------------------------------------------------------- fold */

typedef struct item {
    const char *key;   /* decoded */
    const char *value; /* raw; NULL: removed */
} item;

/* The newest value of each key wins, so a walk back from the newest delta keeps the first value it
 * sees. */
typedef struct fold {
    arena *arena;
    VEC(item) items;
    uint32_t *table; /* index + 1 by hash of the key */
    size_t slots;
} fold;

static void fold_place(fold *f, size_t i)
{
    size_t s = hash_text(f->items.items[i].key) & (f->slots - 1);
    while (f->table[s])
        s = (s + 1) & (f->slots - 1);
    f->table[s] = (uint32_t)i + 1;
}

static bool fold_known(const fold *f, const char *key)
{
    if (!f->slots)
        return false;
    size_t s = hash_text(key) & (f->slots - 1);
    for (; f->table[s]; s = (s + 1) & (f->slots - 1))
        if (strcmp(f->items.items[f->table[s] - 1].key, key) == 0)
            return true;
    return false;
}

static void fold_put(fold *f, const char *key, const char *value)
{
    if (fold_known(f, key))
        return;
    item it = {key, value};
    VEC_PUSH(f->arena, &f->items, it);
    if (f->items.n * 2 > f->slots) {
        f->slots = f->slots ? f->slots * 2 : 32;
        f->table = arena_array(f->arena, f->slots, sizeof *f->table);
        for (size_t i = 0; i < f->items.n; i++)
            fold_place(f, i);
    } else {
        fold_place(f, f->items.n - 1);
    }
}

static bool fold_json(fold *f, const char *json)
{
    json_doc d;
    if (!json || !json_parse(f->arena, json, strlen(json), STORED_DEPTH, &d, NULL))
        return false;
    const json_node *root = &d.nodes[0];
    if (!json_is(root, JSON_OBJECT))
        return false;
    for (const json_node *k = json_first(&d, root); k; k = json_next(&d, root, k)) {
        const json_node *v = json_next(&d, root, k);
        const char *value = json_is(v, JSON_NULL) ? NULL : json_raw(f->arena, &d, v);
        fold_put(f, json_text(f->arena, &d, k), value);
        k = v;
    }
    return true;
}

/* Walks back from a delta until a snapshot (S1, S2). */
static void fold_walk(txn *tx, fold *f, int64_t tree, int64_t k)
{
    while (k) {
        db_stmt *q = db_query(tx->db, Q_delta_get);
        q_int(q, 1, tree);
        q_int(q, 2, k);
        bool found = q_row(q);
        int64_t prev = found ? q_col_int(q, 0) : 0;
        const char *snap = found ? q_keep_text(q, 4, f->arena) : NULL;
        const char *json = found && !snap ? q_keep_text(q, 3, f->arena) : NULL;
        q_end(q);
        if (!found || !fold_json(f, snap ? snap : json) || (prev && KEY_POS(prev) >= KEY_POS(k))) {
            db_fail(tx->db, RAMET_DAMAGED,
                    "the state delta at position %lld of branch b%lld is damaged",
                    (long long)KEY_POS(k), (long long)KEY_BRANCH(k));
            return;
        }
        k = snap ? 0 : prev;
    }
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const item *)a)->key, ((const item *)b)->key);
}

static const char *fold_text(fold *f, arena *into)
{
    buf b;
    json_writer w;
    buf_init(&b, SIZE_MAX / 4);
    jw_init(&w, &b, 0);
    jw_object(&w);
    if (f->items.n)
        qsort(f->items.items, f->items.n, sizeof *f->items.items, by_key);
    for (size_t i = 0; i < f->items.n; i++)
        if (f->items.items[i].value)
            jw_kraw(&w, f->items.items[i].key, f->items.items[i].value);
    jw_end_object(&w);
    return buf_keep(&b, into);
}

const char *state_fold(txn *tx, int64_t tree, int64_t k)
{
    fold f = {.arena = arena_new()};
    fold_walk(tx, &f, tree, k);
    const char *out = fold_text(&f, tx->arena);
    arena_free(f.arena);
    return out;
}

const char *state_after(txn *tx, int64_t tree, int64_t prev, const char *json)
{
    fold f = {.arena = arena_new()};
    fold_json(&f, json);
    fold_walk(tx, &f, tree, prev);
    const char *out = fold_text(&f, tx->arena);
    arena_free(f.arena);
    return out;
}

/* -------------------------------------------------------------------- write */

/* A snapshot must be readable again, so the size of a state is limited. */
static void snap_check(txn *tx, const char *snap)
{
    json_doc d;
    size_t n = strlen(snap);
    if (n <= JSON_MAX_NODES) /* fewer values than bytes */
        return;
    arena *scratch = arena_new();
    if (n > STATE_MAX || !json_parse(scratch, snap, n, STORED_DEPTH, &d, NULL))
        db_fail(tx->db, RAMET_TOO_LARGE,
                "the state would have more than %u keys and values, or %zu bytes; remove some",
                JSON_MAX_NODES, STATE_MAX);
    arena_free(scratch);
}

void delta_write(txn *tx, const branch_row *b, int64_t k, const char *json)
{
    assert(tx->writing);
    txn_assert(tx, KEY_BRANCH(k) == b->meta.id);
    int64_t prev = delta_before_on(tx, &b->meta, b->delta, KEY_POS(k));
    int64_t weight = 0, snap_len = 0;
    if (prev) {
        db_stmt *q = db_query(tx->db, Q_delta_get);
        q_int(q, 1, b->meta.tree);
        q_int(q, 2, prev);
        if (q_row(q)) {
            weight = q_col_int(q, 1);
            snap_len = q_col_int(q, 2);
        }
        q_end(q);
    }
    weight += (int64_t)strlen(json) + ROW_WEIGHT;
    const char *snap = NULL;
    if (weight > SNAP_MIN && weight > snap_len) {
        snap = state_after(tx, b->meta.tree, prev, json);
        snap_check(tx, snap);
        snap_len = (int64_t)strlen(snap);
        weight = 0;
    }
    db_stmt *q = db_query(tx->db, Q_delta_add);
    q_int(q, 1, k);
    q_int(q, 2, b->meta.tree);
    q_int(q, 3, prev);
    q_int(q, 4, weight);
    q_int(q, 5, snap_len);
    q_text(q, 6, json);
    q_text(q, 7, snap);
    q_run(q);
}

/* --------------------------------------------------------------------- read */

/* Adds the state of a log to that of others; `but` (may be NULL) is a key to leave out. */
static void fold_join(fold *to, txn *tx, int64_t tree, int64_t k, const char *but)
{
    fold log = {.arena = to->arena};
    fold_walk(tx, &log, tree, k);
    for (size_t i = 0; i < log.items.n; i++)
        if (log.items.items[i].value && (!but || strcmp(log.items.items[i].key, but) != 0))
            fold_put(to, log.items.items[i].key, log.items.items[i].value);
}

/* Whether the caller may read the adk log itself. */
static bool adk_open(txn *tx, const session_full *s)
{
    session_full again;
    bool may = session_open(tx, s->id, NEED_CHANGE, &again) == RAMET_OK;
    memset(&tx->call->err, 0, sizeof tx->call->err);
    return may;
}

/* Adds the deltas of the adk log up to the point when main had n entries. Members see them; a key
 * that the rules of the log declare private is only for callers who may read the log. */
static ramet_status adk_fold(txn *tx, const session_full *s, const branch_row *head, int64_t n,
                             fold *to)
{
    branch_row adk;
    cut_result cut = {.main = n};
    if (!s->adk || share_only(tx, &s->access) || !branch_load(tx, s->tree, s->adk, &adk))
        return txn_status(tx);
    TRY(cut_adk(tx, head, &adk, &(ramet_at){0}, &cut));
    const char *hidden =
        adk_open(tx, s) ? NULL : log_rules_of(tx, RAMET_LOG_ADK)->private_state_key;
    fold_join(to, tx, s->tree, delta_before(tx, &adk, cut.adk), hidden);
    return txn_status(tx);
}

static ramet_status state_run(txn *tx, const char *session, const char *entry_id, const char **json)
{
    session_full s;
    branch_row head;
    int64_t k;
    TRY(session_open(tx, session, NEED_READ, &s));
    TRY(branch_open(tx, &s.brief, RAMET_LOG_MAIN, 0, &head));
    int64_t n = head.len;
    if (entry_id) {
        TRY(check_id(tx->call, "at", entry_id));
        int64_t pos = path_find(tx, &head, entry_id, &k);
        TRY(txn_status(tx));
        if (pos < 0)
            return call_fail(tx->call, RAMET_ENTRY_NOT_FOUND, "at", "entry %s is not on this path",
                             entry_id);
        n = pos + 1;
    }
    fold f = {.arena = arena_new()};
    fold_join(&f, tx, s.tree, delta_before(tx, &head, n), NULL);
    ramet_status st = adk_fold(tx, &s, &head, n, &f);
    *json = fold_text(&f, tx->arena);
    arena_free(f.arena);
    return st == RAMET_OK ? txn_status(tx) : st;
}

ramet_status ramet_state(ramet_call *c, const char *session, const char *entry_id,
                         const char **json)
{
    txn tx;
    *json = NULL;
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_status st = txn_done(&tx, state_run(&tx, session, entry_id, json));
    if (st != RAMET_OK)
        *json = NULL;
    return st;
}
