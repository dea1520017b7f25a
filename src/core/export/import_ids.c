/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether an entry id of a file is on a path twice, found in the first pass of an import.
 *
 * Ids are usually unique in a tree, but a tree may have one on several branches, as long as no path
 * holds two of them. Memory must not grow with the entries (M5 in import.h), so it takes two steps:
 *
 *   1  A Bloom filter of the tree's ids picks out those that may have come before: suspects. An id
 *      that is greater than all before it is none, and generated ids rise with time.
 *   2  If there are any, the entries are read once more. Those with the hash of a suspect are kept,
 *      compared by their ids, and their branches are looked for on each other's paths. Where many
 *      are kept, they are taken in several rounds, each with a part of the hashes.
 */
#include "core/export/import.h"

#include "core/call.h"
#include "core/model/key.h"

#include <stdlib.h>
#include <string.h>

#define FILTER_BITS_PER_ID 32
#define FILTER_PROBES 6 /* about one id in a million is a suspect without a reason */
#define MIN_FILTER_BITS ((uint64_t)1 << 12)
#define MAX_FILTER_BITS ((uint64_t)1 << 27) /* 16 MiB */
#define MAX_SUSPECTS ((size_t)1 << 17)      /* else every id is one */
#define MAX_HELD 200000                     /* entries kept in one round, about */

/* FNV-1a, with its bits mixed once more: the filter takes parts of it. */
static uint64_t id_hash(const char *id)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (const char *p = id; *p; p++)
        h = (h ^ (uint8_t)*p) * 0x100000001b3u;
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
    return (h ^ (h >> 33)) | 1; /* 0 is a free slot */
}

void import_ids_begin(import_ids *ids, arena *a, int64_t n_entries)
{
    uint64_t bits = MIN_FILTER_BITS;
    while (bits < MAX_FILTER_BITS && bits / FILTER_BITS_PER_ID < (uint64_t)n_entries)
        bits *= 2;
    *ids = (import_ids){.arena = a, .mask = bits - 1};
    ids->bits = arena_array(a, bits / 64, sizeof *ids->bits);
}

/* True when all bits of the hash were set before. */
static bool filter_add(import_ids *ids, uint64_t h)
{
    bool before = true;
    uint64_t step = (h >> 32) | 1;
    for (int i = 0; i < FILTER_PROBES; i++) {
        uint64_t at = (h + (uint64_t)i * step * 0x9e3779b97f4a7c15u) & ids->mask;
        before &= ids->bits[at / 64] >> (at % 64) & 1;
        ids->bits[at / 64] |= (uint64_t)1 << (at % 64);
    }
    return before;
}

static bool suspect_known(const import_ids *ids, uint64_t h)
{
    for (size_t s = h & (ids->n_slots - 1); ids->n_slots && ids->slots[s];
         s = (s + 1) & (ids->n_slots - 1))
        if (ids->slots[s] == h)
            return true;
    return false;
}

static void suspect_slot(import_ids *ids, uint64_t h)
{
    size_t s = h & (ids->n_slots - 1);
    while (ids->slots[s])
        s = (s + 1) & (ids->n_slots - 1);
    ids->slots[s] = h;
}

static void suspect_add(import_ids *ids, uint64_t h)
{
    ids->n_again++;
    if (ids->all || suspect_known(ids, h))
        return;
    if ((ids->n_suspects + 1) * 2 > ids->n_slots) {
        const uint64_t *old = ids->slots;
        size_t n = ids->n_slots;
        ids->n_slots = n ? n * 2 : 64;
        ids->slots = arena_array(ids->arena, ids->n_slots, sizeof *ids->slots);
        for (size_t i = 0; i < n; i++)
            if (old[i])
                suspect_slot(ids, old[i]);
    }
    suspect_slot(ids, h);
    ids->all = ++ids->n_suspects >= MAX_SUSPECTS;
}

void import_ids_add(import_ids *ids, const char *id)
{
    uint64_t h = id_hash(id);
    size_t n = strlen(id);
    ids->n_all++;
    bool rises = n < sizeof ids->last && strcmp(id, ids->last) > 0;
    if (filter_add(ids, h) && !rises)
        suspect_add(ids, h);
    if (rises)
        memcpy(ids->last, id, n + 1);
}

bool import_ids_suspects(const import_ids *ids, const char *id, uint64_t part, uint64_t n_parts)
{
    uint64_t h = id_hash(id);
    return (h >> 8) % n_parts == part && (ids->all || suspect_known(ids, h));
}

uint64_t import_ids_parts(const import_ids *ids)
{
    int64_t n = ids->all ? ids->n_all : ids->n_again + (int64_t)ids->n_suspects;
    return (uint64_t)n / MAX_HELD + 1;
}

/* ------------------------------------------------------------------- the second look */

typedef struct held_id {
    const char *id;
    int64_t branch, position, line;
} held_id;
typedef VEC(held_id) held_ids;

static int by_branch(const void *a, const void *b)
{
    const held_id *x = a, *y = b;
    return x->branch < y->branch ? -1 : x->branch > y->branch;
}

static int by_id(const void *a, const void *b)
{
    const held_id *x = a, *y = b;
    int order = strcmp(x->id, y->id);
    order = order ? order : by_branch(x, y);
    return order ? order : x->line < y->line ? -1 : x->line > y->line;
}

/* Entries with one id, in order of their branches. */
static ramet_status group_check(import_job *j, const held_id *list, size_t n)
{
    const import_branch *branches = j->t.branches;
    for (size_t i = 0; i < n; i++) {
        held_id up = {.branch = list[i].branch};
        bool twice = i && list[i - 1].branch == list[i].branch;
        while (!twice && branches[up.branch - 1].parent) {
            int64_t base = branches[up.branch - 1].base;
            up.branch = branches[up.branch - 1].parent;
            const held_id *found = bsearch(&up, list, n, sizeof *list, by_branch);
            twice = found && found->position < base;
        }
        if (twice)
            return import_damaged(j, list[i].line, "entry %s is on its path twice", list[i].id);
    }
    return RAMET_OK;
}

static ramet_status held_check(import_job *j, held_ids *held)
{
    if (held->n)
        qsort(held->items, held->n, sizeof *held->items, by_id);
    for (size_t i = 0, n; i < held->n; i += n) {
        for (n = 1; i + n < held->n && strcmp(held->items[i + n].id, held->items[i].id) == 0;)
            n++;
        TRY(group_check(j, held->items + i, n));
    }
    return RAMET_OK;
}

typedef struct round {
    const import_ids *ids;
    uint64_t part, n_parts;
    import_reader in;
    arena *line, *kept;
    held_ids held;
} round;

static ramet_status entries_hold(import_job *j, round *r)
{
    for (int64_t n = 0; n < j->t.have_entries; n++) {
        record rec;
        int64_t line = r->in.line;
        arena_reset(r->line);
        TRY(import_next(j, &r->in, r->line, &rec));
        if (rec.kind != RECORD_ENTRY && rec.kind != RECORD_ERASED)
            break;
        const char *id = record_text(&rec, "id");
        int64_t branch = record_int(&rec, "branch", 1, j->t.have_branches),
                position = record_int(&rec, "position", 0, POS_MAX);
        if (!import_ids_suspects(r->ids, id, r->part, r->n_parts))
            continue;
        held_id one = {arena_strdup(r->kept, id), branch, position, line};
        VEC_PUSH(r->kept, &r->held, one);
    }
    return held_check(j, &r->held);
}

ramet_status import_ids_check(import_job *j, const import_ids *ids)
{
    ramet_status st = RAMET_OK;
    round r = {.ids = ids, .n_parts = import_ids_parts(ids)};
    for (; ids->n_again && st == RAMET_OK && r.part < r.n_parts; r.part++) {
        if (!import_tick(j, "check", 0))
            return import_stopped(j);
        r.line = arena_new();
        r.kept = arena_new();
        r.held = (held_ids){0};
        reader_init(&r.in, j->in.fd, j->in.most);
        reader_seek(&r.in, ids->offset, ids->line);
        st = entries_hold(j, &r);
        reader_release(&r.in);
        arena_free(r.line);
        arena_free(r.kept);
    }
    return st;
}
