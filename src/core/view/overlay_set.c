/* SPDX-License-Identifier: Apache-2.0
 *
 * Sets of overlays: rows, how they make a set, and a cache of resolved sets.
 *
 *   O1  A row never changes, except that its text can be erased (core/erase/erase_entry.c), and its
 *       number is never used again in its tree. `prev` and `prev2` are 0 or smaller than its own
 *       number. So a number stands for one set for ever, and a resolved set can be cached without
 *       invalidation. Only committed rows get into the cache: sets that a write has resolved do
 *       not.
 *   O2  The set of a row is that of `prev` with one change: an overlay more, which takes the place
 *       of another one of the same kind on the same entry, or one less. The set of a union is that
 *       of `prev`, and what that of `prev2` has beside it.
 *   O3  size(row) = 1 + size(prev) + size(prev2) is at most OVERLAY_SIZE_MAX, also where rows are
 *       gone through twice: resolving is bounded by it.
 */
#include "core/view/overlay_set.h"

#include "core/call.h"
#include "core/handle.h"
#include "core/model/key.h"
#include "core/change/overlay.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* ---------------------------------------------------------------------- rows */

static void seal_text(sha *h, const char *s)
{
    char mark = s ? 1 : 0;
    sha_add(h, &mark, 1);
    if (s)
        sha_add(h, s, strlen(s) + 1);
}

int64_t overlay_seal(sha *h, int64_t tree, const overlay_row *r)
{
    char text[320];
    int n = snprintf(text, sizeof text, "%lld %lld %lld %lld %lld %lld %d %lld %lld %lld",
                     (long long)tree, (long long)r->no, (long long)r->prev, (long long)r->prev2,
                     (long long)r->size, (long long)r->bytes, (int)r->action, (long long)r->key,
                     (long long)r->removes, (long long)r->at);
    sha_begin(h);
    sha_add(h, text, (size_t)n);
    seal_text(h, r->text);
    seal_text(h, r->ties);
    seal_text(h, r->who);
    return sha_end_seal(h);
}

bool overlay_row_from(txn *tx, db_stmt *q, int64_t tree, overlay_row *r)
{
    *r = (overlay_row){
        .no = q_col_int(q, 0),
        .prev = q_col_int(q, 1),
        .prev2 = q_col_int(q, 2),
        .size = q_col_range(q, 3, 1, OVERLAY_SIZE_MAX, "overlay.size"),
        .bytes = q_col_range(q, 4, 0, OVERLAY_BYTES_MAX, "overlay.bytes"),
        .action =
            (overlay_action)q_col_range(q, 5, OVERLAY_UNION, OVERLAY_REMOVE, "overlay.action"),
        .key = q_col_int(q, 6),
        .removes = q_col_int(q, 7),
        .text = q_keep_text(q, 8, tx->arena),
        .ties = q_keep_text(q, 9, tx->arena),
        .who = q_keep_text(q, 10, tx->arena),
        .at = q_col_int(q, 11),
        .seal = q_col_int(q, 12),
    };
    if (db_status(tx->db) != RAMET_OK)
        return false;
    if (r->prev < 0 || r->prev >= r->no || r->prev2 < 0 || r->prev2 >= r->no ||
        r->seal != overlay_seal(tx->call->hasher, tree, r)) {
        db_fail(tx->db, RAMET_DAMAGED, "overlay o%lld is damaged", (long long)r->no);
        return false;
    }
    return true;
}

/* ------------------------------------------------------------------ the set */

typedef struct key_slot {
    int64_t key;   /* 0: free */
    uint32_t item; /* index */
    bool tied;     /* the entry belongs to that of the item */
} key_slot;

struct overlay_set {
    _Atomic int holders; /* the cache is one of them */
    struct overlay_set *next;
    arena *mem; /* everything, this struct too */
    int64_t past, tree, no;
    overlay_item *items; /* newest first */
    size_t n;
    key_slot *keys; /* open addressing */
    size_t n_keys;  /* slots: a power of 2; 0: none */
    uint32_t *before;
    size_t n_before;
    const char **calls; /* open addressing; NULL: free */
    size_t n_calls;     /* slots */
};

static size_t key_slot_of(int64_t k, size_t slots)
{
    return (size_t)((uint64_t)k * 0x9E3779B97F4A7C15u >> 32) & (slots - 1);
}

static size_t slots_for(size_t n)
{
    size_t slots = 8;
    while (slots < 2 * n)
        slots *= 2;
    return n ? slots : 0;
}

size_t overlay_set_items(const overlay_set *s, const overlay_item **out)
{
    *out = s->items;
    return s->n;
}

/* The n-th entry of the table for a key. */
static const overlay_item *key_find(const overlay_set *s, int64_t k, bool tied, size_t n)
{
    if (!s->n_keys)
        return NULL;
    for (size_t i = key_slot_of(k, s->n_keys); s->keys[i].key; i = (i + 1) & (s->n_keys - 1))
        if (s->keys[i].key == k && s->keys[i].tied == tied && n-- == 0)
            return &s->items[s->keys[i].item];
    return NULL;
}

const overlay_item *overlay_set_find(const overlay_set *s, int64_t k)
{
    return key_find(s, k, false, 0);
}

const overlay_item *overlay_set_tied(const overlay_set *s, int64_t k, size_t n)
{
    return key_find(s, k, true, n);
}

const overlay_item *overlay_set_before(const overlay_set *s, size_t n)
{
    return n < s->n_before ? &s->items[s->before[n]] : NULL;
}

bool overlay_set_has_calls(const overlay_set *s)
{
    return s->n_calls > 0;
}

bool overlay_set_calls(const overlay_set *s, const char *tool_id)
{
    if (!s->n_calls)
        return false;
    for (size_t i = hash_text(tool_id) & (s->n_calls - 1); s->calls[i];
         i = (i + 1) & (s->n_calls - 1))
        if (strcmp(s->calls[i], tool_id) == 0)
            return true;
    return false;
}

/* ---------------------------------------------------------------- resolving */

/* A set of numbers in an arena. */
typedef struct numbers {
    int64_t *slots; /* 0: free; a number is never 0 */
    size_t n_slots, n;
} numbers;

static bool numbers_has(const numbers *s, int64_t v)
{
    if (!s->n_slots)
        return false;
    for (size_t i = key_slot_of(v, s->n_slots); s->slots[i]; i = (i + 1) & (s->n_slots - 1))
        if (s->slots[i] == v)
            return true;
    return false;
}

static void numbers_put(numbers *s, int64_t v)
{
    size_t i = key_slot_of(v, s->n_slots);
    while (s->slots[i])
        i = (i + 1) & (s->n_slots - 1);
    s->slots[i] = v;
    s->n++;
}

static void numbers_add(arena *a, numbers *s, int64_t v)
{
    if (numbers_has(s, v))
        return;
    if (2 * (s->n + 1) > s->n_slots) {
        numbers old = *s;
        s->n_slots = old.n_slots ? 2 * old.n_slots : 32;
        s->slots = arena_array(a, s->n_slots, sizeof *s->slots);
        s->n = 0;
        for (size_t i = 0; i < old.n_slots; i++)
            if (old.slots[i])
                numbers_put(s, old.slots[i]);
    }
    numbers_put(s, v);
}

static numbers numbers_copy(arena *a, const numbers *s)
{
    numbers out = *s;
    out.slots = arena_array(a, s->n_slots, sizeof *s->slots);
    if (s->n_slots)
        memcpy(out.slots, s->slots, s->n_slots * sizeof *s->slots);
    return out;
}

typedef struct resolver {
    txn *tx;
    arena *mem;        /* of the work */
    overlay_row *rows; /* newest first */
    size_t n;
    VEC(const overlay_row *) found;
} resolver;

static const overlay_row *row_at(const resolver *r, int64_t no)
{
    size_t lo = 0, hi = r->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (r->rows[mid].no > no)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo < r->n && r->rows[lo].no == no)
        return &r->rows[lo];
    db_fail(r->tx->db, RAMET_DAMAGED, "overlay o%lld is missing", (long long)no);
    return NULL;
}

/* What an overlay takes the place of: the same kind on the same entry. A key is far below 2^62. */
static int64_t target_of(const overlay_row *r)
{
    return 2 * r->key + (r->action == OVERLAY_HIDE_BEFORE);
}

/* Adds what is in force in the set `no`, without what newer rows have removed, or have named
 * already. */
static void resolve(resolver *r, int64_t no, numbers removed, numbers named)
{
    while (no) {
        const overlay_row *row = row_at(r, no);
        if (!row)
            return;
        no = row->prev;
        if (row->action == OVERLAY_REMOVE) {
            if (row->removes) /* else it only keeps a number */
                numbers_add(r->mem, &removed, row->removes);
        } else if (row->action == OVERLAY_UNION) {
            size_t first = r->found.n;
            resolve(r, row->prev, numbers_copy(r->mem, &removed), numbers_copy(r->mem, &named));
            for (size_t i = first; i < r->found.n; i++)
                numbers_add(r->mem, &named, target_of(r->found.items[i]));
            no = row->prev2;
        } else if (!numbers_has(&named, target_of(row))) {
            numbers_add(r->mem, &named, target_of(row));
            if (!numbers_has(&removed, row->no))
                VEC_PUSH(r->mem, &r->found, row);
        }
    }
}

static void rows_load(resolver *r, int64_t tree, int64_t no)
{
    VEC(overlay_row) v = {0};
    txn own = *r->tx;
    own.arena = r->mem;
    db_stmt *q = db_query(r->tx->db, Q_overlay_set);
    q_int(q, 1, tree);
    q_int(q, 2, no);
    while (q_row(q)) {
        overlay_row row;
        if (!overlay_row_from(&own, q, tree, &row))
            break;
        VEC_PUSH(r->mem, &v, row);
    }
    q_end(q);
    r->rows = v.items;
    r->n = v.n;
}

/* ---- building */

static void key_put(overlay_set *s, int64_t k, uint32_t item, bool tied)
{
    size_t i = key_slot_of(k, s->n_keys);
    while (s->keys[i].key)
        i = (i + 1) & (s->n_keys - 1);
    s->keys[i] = (key_slot){k, item, tied};
}

static void call_put(overlay_set *s, const char *id)
{
    size_t i = hash_text(id) & (s->n_calls - 1);
    while (s->calls[i] && strcmp(s->calls[i], id) != 0)
        i = (i + 1) & (s->n_calls - 1);
    if (!s->calls[i])
        s->calls[i] = arena_strdup(s->mem, id);
}

/* The ties of a row, parsed. */
typedef struct ties {
    json_doc doc;
    const json_node *also, *calls; /* NULL: there are none */
} ties;

static void ties_read(resolver *r, const overlay_row *row, ties *out)
{
    *out = (ties){0};
    if (!row->ties)
        return;
    if (!json_parse(r->mem, row->ties, strlen(row->ties), STORED_DEPTH, &out->doc, NULL)) {
        db_fail(r->tx->db, RAMET_DAMAGED, "overlay o%lld is damaged", (long long)row->no);
        return;
    }
    out->also = json_get(&out->doc, out->doc.nodes, "also");
    out->calls = json_get(&out->doc, out->doc.nodes, "calls");
}

static void ties_put(resolver *r, overlay_set *s, uint32_t item, const ties *t)
{
    int64_t k;
    for (const json_node *v = json_first(&t->doc, t->also); v; v = json_next(&t->doc, t->also, v))
        if (json_int(&t->doc, v, &k) && k > 0)
            key_put(s, k, item, true);
    for (const json_node *v = json_first(&t->doc, t->calls); v; v = json_next(&t->doc, t->calls, v))
        if (json_is(v, JSON_STRING))
            call_put(s, json_text(r->mem, &t->doc, v));
}

static int by_position_down(const void *a, const void *b, void *items)
{
    const overlay_item *all = items;
    int64_t x = KEY_POS(all[*(const uint32_t *)a].key), y = KEY_POS(all[*(const uint32_t *)b].key);
    return x > y ? -1 : x < y;
}

static void set_fill(resolver *r, overlay_set *s)
{
    size_t n = r->found.n, keys = n, calls = 0;
    ties *all = arena_array(r->mem, n, sizeof *all);
    for (size_t i = 0; i < n; i++) {
        ties_read(r, r->found.items[i], &all[i]);
        keys += all[i].also ? all[i].also->count : 0;
        calls += all[i].calls ? all[i].calls->count : 0;
    }
    s->n = n;
    s->items = arena_array(s->mem, n, sizeof *s->items);
    s->n_keys = slots_for(keys);
    s->keys = arena_array(s->mem, s->n_keys, sizeof *s->keys);
    s->n_calls = slots_for(calls);
    s->calls = arena_array(s->mem, s->n_calls, sizeof *s->calls);
    s->before = arena_array(s->mem, n, sizeof *s->before);
    for (uint32_t i = 0; i < n; i++) {
        const overlay_row *row = r->found.items[i];
        s->items[i] = (overlay_item){.no = row->no,
                                     .key = row->key,
                                     .at = row->at,
                                     .action = row->action,
                                     .text = arena_strdup(s->mem, row->text),
                                     .who = arena_strdup(s->mem, row->who)};
        if (row->action == OVERLAY_HIDE_BEFORE)
            s->before[s->n_before++] = i;
        else
            key_put(s, row->key, i, false);
        ties_put(r, s, i, &all[i]);
    }
    if (s->n_before)
        qsort_r(s->before, s->n_before, sizeof *s->before, by_position_down, s->items);
}

static overlay_set *set_resolve(txn *tx, int64_t tree, int64_t no)
{
    resolver r = {.tx = tx, .mem = arena_new()};
    overlay_set *s = NULL;
    rows_load(&r, tree, no);
    if (db_status(tx->db) == RAMET_OK)
        resolve(&r, no, (numbers){0}, (numbers){0});
    if (db_status(tx->db) == RAMET_OK) {
        arena *mem = arena_new();
        s = arena_alloc(mem, sizeof *s);
        s->mem = mem;
        s->holders = 1;
        s->past = tx->past;
        s->tree = tree;
        s->no = no;
        set_fill(&r, s);
    }
    arena_free(r.mem);
    if (s && db_status(tx->db) != RAMET_OK) {
        overlay_set_put(s);
        s = NULL;
    }
    return s;
}

/* -------------------------------------------------------------------- cache */

#define CACHE_SETS 256
#define CACHE_BYTES ((size_t)32 << 20)

/* Used last first. Few trees have overlays, and a turn uses one set: a list is enough. */
struct overlay_cache {
    pthread_mutex_t lock;
    overlay_set *first;
    size_t n, bytes;
};

struct overlay_cache *overlay_cache_new(void)
{
    struct overlay_cache *c = xcalloc(1, sizeof *c);
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

/* With the lock: all behind the first `keep`. */
static void cache_trim(struct overlay_cache *c, size_t keep)
{
    overlay_set **at = &c->first;
    for (size_t i = 0; i < keep && *at; i++)
        at = &(*at)->next;
    while (*at) {
        overlay_set *s = *at;
        *at = s->next;
        c->n--;
        c->bytes -= arena_used(s->mem);
        overlay_set_put(s);
    }
}

void overlay_cache_clear(struct overlay_cache *c)
{
    pthread_mutex_lock(&c->lock);
    cache_trim(c, 0);
    pthread_mutex_unlock(&c->lock);
}

void overlay_cache_free(struct overlay_cache *c)
{
    if (!c)
        return;
    cache_trim(c, 0);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static overlay_set *cache_find(txn *tx, int64_t tree, int64_t no)
{
    struct overlay_cache *c = tx->ramet->overlays;
    overlay_set *found = NULL;
    pthread_mutex_lock(&c->lock);
    for (overlay_set **at = &c->first; *at && !found; at = &(*at)->next)
        if ((*at)->no == no && (*at)->tree == tree && (*at)->past == tx->past) {
            found = *at;
            *at = found->next;
            found->next = c->first;
            c->first = found;
            found->holders++;
            break;
        }
    pthread_mutex_unlock(&c->lock);
    return found;
}

static void cache_add(txn *tx, overlay_set *s)
{
    struct overlay_cache *c = tx->ramet->overlays;
    size_t bytes = arena_used(s->mem);
    if (bytes > CACHE_BYTES / 2)
        return;
    pthread_mutex_lock(&c->lock);
    bool there = false;
    for (const overlay_set *at = c->first; at; at = at->next)
        there = there || (at->no == s->no && at->tree == s->tree && at->past == s->past);
    if (!there) {
        s->holders++;
        s->next = c->first;
        c->first = s;
        c->n++;
        c->bytes += bytes;
        if (c->n > CACHE_SETS)
            cache_trim(c, CACHE_SETS);
        while (c->bytes > CACHE_BYTES)
            cache_trim(c, c->n - 1);
    }
    pthread_mutex_unlock(&c->lock);
}

overlay_set *overlay_set_fresh(txn *tx, int64_t tree, int64_t no)
{
    return no ? set_resolve(tx, tree, no) : NULL;
}

overlay_set *overlay_set_get(txn *tx, int64_t tree, int64_t no)
{
    if (!no)
        return NULL;
    overlay_set *s = cache_find(tx, tree, no);
    if (s)
        return s;
    s = set_resolve(tx, tree, no);
    /* A writer sees rows that may yet be rolled back (O1). */
    if (s && !tx->writing && tx->past != DB_PAST_UNKNOWN)
        cache_add(tx, s);
    return s;
}

void overlay_set_put(overlay_set *s)
{
    if (s && --s->holders == 0)
        arena_free(s->mem);
}
