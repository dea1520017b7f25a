/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether parts of a record of ADK events can be left out (a prune) or put back (a restore).
 *
 * ADK finds what counts by its rule over the record (adk.c). Let what(i) be what counts when the
 * record ends with event i: for a rewind event "before X" it is what(j - 1), where j is the first
 * event of X; for any other event it is what(i - 1) and i. Every state that a later move may go
 * back to is some what(i). So nothing changes for ADK exactly if what(i) is the same in both
 * records for each i that is in both. A state is compared by a hash of its events.
 */
#include "core/ext/adk.h"

#include "core/call.h"
#include "core/model/branch.h"
#include "core/model/key.h"
#include "core/model/path.h"
#include "core/model/record.h"
#include "core/txn.h"

#define MAX_EVENTS 100000 /* of a longer record nothing is left out */
#define CHUNK 256

typedef struct event {
    int64_t key;   /* 0: inherited, so that it cannot be pruned */
    size_t turn;   /* number of its invocation; 0: it has none */
    size_t before; /* of a rewind event: the invocation that it goes back before */
    bool rewind;
} event;

typedef struct names {
    const char **slots;
    size_t *numbers;
    size_t cap, n;
} names;

typedef struct record {
    arena *keep, *page;
    names names;
    VEC(event) events;
    bool inherited;
    int64_t seen;
} record;

/* The number of an invocation, from 1. */
static size_t name_number(record *r, const char *name)
{
    names *v = &r->names;
    if (!name || !name[0])
        return 0;
    if (v->n * 2 >= v->cap) {
        names old = *v;
        v->cap = old.cap ? old.cap * 2 : 256;
        v->slots = arena_array(r->keep, v->cap, sizeof *v->slots);
        v->numbers = arena_array(r->keep, v->cap, sizeof *v->numbers);
        memset(v->slots, 0, v->cap * sizeof *v->slots);
        for (size_t i = 0; i < old.cap; i++) {
            if (!old.slots[i])
                continue;
            size_t to = hash_text(old.slots[i]) & (v->cap - 1);
            while (v->slots[to])
                to = (to + 1) & (v->cap - 1);
            v->slots[to] = old.slots[i];
            v->numbers[to] = old.numbers[i];
        }
    }
    size_t at = hash_text(name) & (v->cap - 1);
    while (v->slots[at] && strcmp(v->slots[at], name) != 0)
        at = (at + 1) & (v->cap - 1);
    if (!v->slots[at]) {
        v->slots[at] = arena_strdup(r->keep, name);
        v->numbers[at] = ++v->n;
    }
    return v->numbers[at];
}

/* The runtimes of ADK write the name of the key in their own ways. */
static const char *rewind_target(arena *a, const ramet_entry *e)
{
    static const char *const keys[] = {"rewind_before_invocation_id", "rewindBeforeInvocationId",
                                       "RewindBeforeInvocationID", "RewindBeforeInvocationId"};
    static const char *const boxes[] = {"actions", "Actions"};
    json_doc d;
    if (!e->body || !json_parse(a, e->body, strlen(e->body), STORED_DEPTH, &d, NULL))
        return NULL;
    for (size_t b = 0; b < sizeof boxes / sizeof boxes[0]; b++) {
        const json_node *actions = json_get(&d, d.nodes, boxes[b]);
        for (size_t i = 0; actions && i < sizeof keys / sizeof keys[0]; i++) {
            const char *to = json_text(a, &d, json_get(&d, actions, keys[i]));
            if (to && to[0])
                return to;
        }
    }
    return NULL;
}

static bool record_take(void *arg, ramet_entry *e)
{
    record *r = arg;
    const char *before = rewind_target(r->page, e);
    event v = {.key = r->inherited ? 0 : KEY(e->branch, e->position),
               .turn = name_number(r, e->turn_id),
               .before = name_number(r, before),
               .rewind = before != NULL};
    VEC_PUSH(r->keep, &r->events, v);
    r->seen = e->position;
    return arena_used(r->page) < PAGE_BYTES;
}

static void record_read(txn *tx, record *r, const branch_row *b, int64_t lo, int64_t hi)
{
    while (lo < hi && db_status(tx->db) == RAMET_OK) {
        r->seen = lo - 1;
        path_read(tx, b, lo, lo + CHUNK < hi ? lo + CHUNK : hi, r->page, record_take, r);
        arena_reset(r->page);
        lo = r->seen + 1;
    }
}

/* False: it is too long, or could not be read. */
static bool record_load(txn *tx, const session_brief *s, record *r)
{
    static const note_list none;
    record_parts parts;
    branch_row b;
    if (!branch_load(tx, s->tree, s->first_adk, &b))
        return false;
    record_parts_of(tx, &s->access, RAMET_LOG_ADK, &none, &parts);
    if (b.meta.base + parts.total > MAX_EVENTS)
        return false;
    r->inherited = true;
    record_read(tx, r, &b, 0, b.meta.base);
    r->inherited = false;
    for (size_t i = 0; i < parts.n; i++) {
        int64_t lo = KEY_POS(parts.items[i].key);
        if (!branch_load(tx, s->tree, KEY_BRANCH(parts.items[i].key), &b))
            return false;
        record_read(tx, r, &b, lo, lo + parts.items[i].n);
    }
    return db_status(tx->db) == RAMET_OK;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ (v + 0x9E3779B97F4A7C15u)) * 0xBF58476D1CE4E5B9u;
    h = (h ^ h >> 27) * 0x94D049BB133111EBu;
    return h ^ h >> 31;
}

/* what(i) for each event that the notes leave, and a 0 for those that they hide. */
static uint64_t *states_of(const record *r, const note_list *notes)
{
    size_t n = r->events.n;
    uint64_t *what = arena_array(r->keep, n + 1, sizeof *what);
    uint64_t *before_first = arena_array(r->keep, r->names.n + 2, sizeof *before_first);
    bool *met = arena_array(r->keep, r->names.n + 2, sizeof *met);
    memset(met, 0, (r->names.n + 2) * sizeof *met);
    uint64_t now = 1;
    for (size_t i = 0; i < n; i++) {
        const event *e = &r->events.items[i];
        what[i] = 0;
        if (e->key && notes_hide(notes, e->key))
            continue;
        if (e->turn && !met[e->turn]) {
            met[e->turn] = true;
            before_first[e->turn] = now;
        }
        if (!e->rewind)
            now = mix(now, i + 1);
        else if (met[e->before])
            now = before_first[e->before];
        what[i] = now;
    }
    return what;
}

bool adk_may_hide(txn *tx, const session_brief *s, const note_list *before, const note_list *after)
{
    if (!adk_is(tx, s))
        return true;
    record r = {.keep = arena_new(), .page = arena_new()};
    bool same = record_load(tx, s, &r);
    if (same) {
        const uint64_t *was = states_of(&r, before), *is = states_of(&r, after);
        for (size_t i = 0; i < r.events.n && same; i++)
            same = !was[i] || !is[i] || was[i] == is[i];
    }
    arena_free(r.page);
    arena_free(r.keep);
    return same;
}
