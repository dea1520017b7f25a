/* SPDX-License-Identifier: Apache-2.0
 *
 * world.c: one run: the store, the model and the clock; what the operands of a script mean in it.
 */
#include "driver.h"

#include "../lib/scratch_db.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ----------------------------------------------------------------- failing */

bool world_failed(const world *w)
{
    return w->result->failed;
}

void world_fail(world *w, const char *what, const char *format, ...)
{
    char text[1500];
    va_list args;
    if (w->result->failed)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    w->result->failed = true;
    snprintf(w->result->label, sizeof w->result->label, "%s: %s", op_name(w->op->kind), what);
    snprintf(w->result->message, sizeof w->result->message, "%s: %s: %s (user %s)",
             op_name(w->op->kind), what, text, w->user ? w->user : "-");
}

void world_judge(world *w, ramet_status got, m_set want)
{
    char text[300];
    size_t n = 0;
    /* Those who may not know of a session are not told so. */
    if (OVER_WIRE && got == RAMET_SESSION_NOT_FOUND && want & M(HIDDEN))
        got = RAMET_HIDDEN;
    /* SESSION@BRANCH is a session of that name when it has no such branch. */
    if (OVER_WIRE && got == RAMET_SESSION_NOT_FOUND &&
        (w->op->kind == OP_compare || w->op->kind == OP_verdict))
        got = want & M(BRANCH_NOT_FOUND) ? RAMET_BRANCH_NOT_FOUND : got;
    if (want >> got & 1) {
        ++*(got ? &w->result->refused[w->op->kind] : &w->result->done[w->op->kind]);
        return;
    }
    text[0] = 0;
    for (int s = 0; s < RAMET_STATUS_COUNT; s++)
        if (want >> s & 1)
            n +=
                (size_t)snprintf(text + n, sizeof text - n, " %s",
                                 s == RAMET_HIDDEN ? "hidden" : ramet_status_code((ramet_status)s));
    world_fail(w, "status", "got %s (%s), wanted%s",
               got == RAMET_HIDDEN ? "hidden" : ramet_status_code(got),
               got ? ramet_call_error(w->call)->message : "", text);
}

/* ------------------------------------------------------------------- store */

int64_t world_clock(void *arg)
{
    return atomic_load(&((world *)arg)->clock);
}

static const ramet_limits small_limits = {.batch = 9,
                                          .sync = 1000,
                                          .merge = 30,
                                          .id_bytes = 255,
                                          .title_chars = 20,
                                          .reason_chars = 20,
                                          .tags = 4,
                                          .tag_chars = 8};
/* Odd, where the clock is even: "just now" does not happen. */
static const int64_t grace_us = OVER_WIRE ? 1000001000 : 1000000001;

static ramet_status handle_open(world *w, ramet **out)
{
    ramet_options opt = {
        .limits = small_limits, .grace_us = grace_us, .clock = world_clock, .clock_arg = w};
    ramet_error err = {0};
    ramet_status st = ramet_open(w->path, &opt, out, &err);
    if (st)
        world_fail(w, "open", "%s: %s", ramet_status_code(st), err.message);
    return st;
}

ramet_status world_open(world *w, int handle)
{
    return handle_open(w, &w->r[handle]);
}

static ramet_status nodes_open(world *w)
{
    ramet_status st = RAMET_OK;
    for (int i = 0; i < NODES - 1 && w->database && !st; i++)
        st = handle_open(w, &w->nodes[i]);
    return st;
}

static void nodes_close(world *w)
{
    for (int i = 0; i < NODES - 1; i++)
        if (w->nodes[i])
            ramet_close(w->nodes[i]);
}

void world_close(world *w, int handle)
{
    if (handle == 0 && w->stream) {
        ramet_stream_close(w->stream);
        ramet_call_free(w->stream_call);
        w->stream = NULL;
    }
    if (w->r[handle])
        ramet_close(w->r[handle]);
    w->r[handle] = NULL;
}

ramet_call *world_program(world *w)
{
    return ramet_call_new(w->r[0], NULL, NULL);
}

/* ---------------------------------------------------------------- learning */

static void branch_learn(world *w, m_branch *b, int64_t id)
{
    if (b->id == id)
        return;
    if (b->id || !id) {
        world_fail(w, "head branch", "got b%" PRId64 ", wanted b%" PRId64, id, b->id);
        return;
    }
    for (size_t i = 0; i < w->m.branches.n; i++)
        if (((m_branch *)w->m.branches.items[i])->id == id)
            world_fail(w, "new branch", "b%" PRId64 " is not new", id);
    b->id = id;
}

/* Where the hash of e is in the table, or would be. */
static size_t hash_slot(const world *w, const m_entry *e)
{
    char start[8] = {0};
    memcpy(start, e->hash, 7);
    size_t at = strtoul(start, NULL, 16) & (w->cap_hashes - 1);
    while (w->hashes[at] && strcmp(w->hashes[at]->hash, e->hash) != 0)
        at = (at + 1) & (w->cap_hashes - 1);
    return at;
}

/* False when another entry has that hash: no two entries are equal, as their times differ. */
static bool hash_add(world *w, m_entry *e)
{
    if (w->n_hashes * 2 >= w->cap_hashes) {
        m_entry **old = w->hashes;
        size_t n = w->cap_hashes;
        w->cap_hashes = n ? n * 2 : 1024;
        w->hashes = calloc(w->cap_hashes, sizeof *w->hashes);
        if (!w->hashes)
            abort();
        for (size_t i = 0; i < n; i++)
            if (old[i])
                w->hashes[hash_slot(w, old[i])] = old[i];
        free(old);
    }
    size_t at = hash_slot(w, e);
    if (w->hashes[at])
        return false;
    w->hashes[at] = e;
    w->n_hashes++;
    return true;
}

static void entry_learn(world *w, m_branch *b, m_entry *e, const ramet_entry *got)
{
    if (!e->id) {
        if (m_branch_entry(b, got->id))
            world_fail(w, "entry id", "%s was made twice", got->id);
        e->id = model_text(&w->m, got->id);
    }
    if (!e->fixed_time) {
        if (got->created != w->m.now)
            world_fail(w, "created", "got %" PRId64 ", now is %" PRId64, got->created, w->m.now);
        e->created = got->created;
    }
    /* A copy is of a turn of its own. */
    if (e->from && e->turn_id) {
        if (!got->turn_id || strcmp(got->turn_id, e->turn_id) == 0)
            world_fail(w, "turn_id", "that of a copy is '%s'", got->turn_id ? got->turn_id : "");
        e->turn_id = model_text(&w->m, got->turn_id);
    }
    memcpy(e->hash, got->hash, sizeof e->hash);
    if (strlen(e->hash) != 64 || strspn(e->hash, "0123456789abcdef") != 64)
        world_fail(w, "hash", "'%s' is none", got->hash);
    else if (!hash_add(w, e))
        world_fail(w, "hash", "two histories have the hash %s", got->hash);
}

static void path_learn(world *w, ramet_call *c, m_branch *b)
{
    size_t from = b->n;
    while (from > 0 && !b->path[from - 1]->hash[0])
        from--;
    if (from == b->n)
        return;
    ramet_read_in in = {.limit = 1000,
                        .by_position = true,
                        .position = (int64_t)from,
                        .branch = b->id,
                        .log = b->log};
    ramet_page page = {0};
    ramet_status st = ramet_read(c, b->session->id, &in, &page);
    if (st || page.n != b->n - from) {
        world_fail(w, "new entries", "%s, %zu entries instead of %zu", ramet_status_code(st),
                   page.n, b->n - from);
        return;
    }
    for (size_t i = 0; i < page.n && !world_failed(w); i++)
        entry_learn(w, b, b->path[from + i], &page.entries[i]);
    for (size_t i = 0; i < page.n && !world_failed(w); i++)
        same_entry(w, &page.entries[i], b->path[from + i], b->session, b, false);
}

void world_learn(world *w, m_session *s, m_branch *b)
{
    ramet_call *c = world_program(w);
    ramet_session *got = NULL;
    ramet_status st = ramet_session_get(c, s->id, &got);
    if (st) {
        world_fail(w, "get after it", "%s: %s", ramet_status_code(st),
                   ramet_call_error(c)->message);
    } else {
        if (!s->tree->id)
            s->tree->id = model_text(&w->m, got->tree_id);
        branch_learn(w, s->head, got->head.branch);
        if (s->adk)
            branch_learn(w, s->adk, got->adk.branch);
        if (b && !world_failed(w))
            path_learn(w, c, b);
    }
    ramet_call_free(c);
}

/* ---------------------------------------------------------------- operands */

const char *user_name(int32_t n)
{
    static const char *const users[] = {NULL, "u1", "u2 \xC3\xBC", "u3", "u4/%25", "u5"};
    return users[n];
}

const char *slot_id(const world *w, int32_t slot)
{
    static const char *const names[SLOTS] = {"s0",    "s1",  "s2/ %41", "s3",  "s4\xF0\x9F\x8C\xBF",
                                             "s5'\"", "s6",  "s7",      "s8",  "s9",
                                             "s10",   "s11", "s12",     "s13", "s14",
                                             "s15",   "s16", "s17",     "s18", "s19",
                                             "s20",   "s21", "s22",     "s23", "s24",
                                             "s25",   "s26", "s27",     "s28", "s29",
                                             "s30",   "s31", "s32",     "s33", "s34",
                                             "s35",   "s36", "s37",     "s38", "s39"};
    return w->slot[slot] ? w->slot[slot] : names[slot];
}

m_session *slot_session(world *w, int32_t slot)
{
    return model_find(&w->m, slot_id(w, slot));
}

static bool slot_fits(world *w, int32_t slot, slot_want want)
{
    const m_session *s = slot_session(w, slot);
    switch (want) {
    case SLOT_SHOWN:
        return s && m_shown(&w->m, s, w->user);
    case SLOT_GONE:
        return s && m_gone(&w->m, s) && m_visible(s, w->user);
    case SLOT_FREE:
        return !s;
    }
    return false;
}

int32_t slot_find(world *w, int32_t slot, slot_want want)
{
    for (int32_t i = 0; i < SLOTS && !w->op->a[A_STRICT]; i++)
        if (slot_fits(w, (slot + i) % SLOTS, want))
            return (slot + i) % SLOTS;
    return slot;
}

const char *entry_ref(const world *w, const m_session *s, const m_branch *b, int32_t v)
{
    static const char *const strangers[] = {"e1", "e2", "e3", "e900", "e5", "e8/ %41 \xC3\xA9"};
    size_t k = (size_t)v / 8;
    if (v == 0)
        return NULL;
    if (v % 8 == 7)
        return strangers[k % 6];
    if (v % 8 == 6 && s && w->m.entries.n) {
        const m_entry *e = w->m.entries.items[k * 37 % w->m.entries.n];
        return s->record[0].n ? ((m_entry *)s->record[0].items[k % s->record[0].n])->id : e->id;
    }
    if (!b || !b->n)
        return w->op->a[A_STRICT] ? "e1" : NULL;
    return b->path[b->n - 1 - k % b->n]->id;
}

const char *entry_named(const world *w, const m_session *s, const m_branch *b, int32_t v)
{
    const char *id = entry_ref(w, s, b, v ? v : 1);
    return id ? id : "e1";
}

int64_t branch_ref(const world *w, const m_session *s, ramet_log log, int32_t v)
{
    size_t n = 0, k = (size_t)v / 16 * 15 + (size_t)v % 16 - 1;
    if (v == 0)
        return 0;
    if (v % 16 == 15 || v % 16 == 0 || !s)
        return v > 40 && w->m.branches.n
                   ? ((m_branch *)w->m.branches.items[(size_t)v * 7 % w->m.branches.n])->id
                   : 987654;
    for (size_t i = 0; i < s->branches.n; i++)
        n += ((m_branch *)s->branches.items[i])->log == log;
    if (!n)
        return 987654;
    k %= n;
    for (size_t i = s->branches.n; i-- > 0;) {
        const m_branch *b = s->branches.items[i];
        if (b->log == log && k-- == 0)
            return b->id ? b->id : 987654;
    }
    return 0;
}

const char *head_ref(const m_branch *b, int32_t v)
{
    static const char stale[] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    if (v == 0)
        return NULL;
    if (v <= 2)
        return m_branch_hash(b);
    if (v == 5)
        return "0011";
    return v == 3 && b && b->n ? (b->n > 1 ? b->path[b->n - 2]->hash : M_ZEROS) : stale;
}

int limit_ref(int32_t v)
{
    static const int limits[] = {0, 1, 2, 3, 5, 10, 50, 1000, 7, 20, -1, 1001};
    return limits[v];
}

/* --------------------------------------------------------------------- run */

static op_run *const runs[] = {
#define X(name, ...) run_##name,
    SCRIPT_OPS(X)
#undef X
};

static void slots_resolve(world *w, op *o)
{
    slot_want want = o->kind == OP_create    ? SLOT_FREE
                     : o->kind == OP_restore ? SLOT_GONE
                                             : SLOT_SHOWN;
    o->a[A_S] = slot_find(w, o->a[A_S], want);
    o->a[A_S1] = slot_find(w, o->a[A_S1], SLOT_SHOWN);
    o->a[A_TO] = slot_find(w, o->a[A_TO], SLOT_FREE);
    if (o->a[A_S2])
        o->a[A_S2] = slot_find(w, o->a[A_S2] - 1, SLOT_SHOWN) + 1;
}

/* Any node sees at once what another one has written. */
static ramet *handle_pick(world *w, const op *o)
{
    uint64_t turn = ++w->turn * UINT64_C(0x9e3779b97f4a7c15);
    size_t n = (size_t)(turn >> 33) % NODES;
    if (o->a[A_H] && w->r[1])
        return w->r[1];
    return n && w->nodes[n - 1] ? w->nodes[n - 1] : w->r[0];
}

static void op_do(world *w, const op *o)
{
    static const int64_t steps[] = {2, 20, 2000, 2000000, 200000000, 1000000000};
    int64_t step = steps[o->a[A_DT]];
    if (OVER_WIRE && step < 2000) /* times have milliseconds there */
        step = 2000;
    atomic_fetch_add(&w->clock, step);
    w->m.now = atomic_load(&w->clock);
    w->op = o;
    w->user = user_name(o->a[A_U]);
    w->client = o->a[A_U] % 2 ? "cli" : NULL;
    w->call = ramet_call_new(handle_pick(w, o), w->user, w->client);
    op found = *o;
    slots_resolve(w, &found);
    runs[o->kind](w, &found);
    if (w->call)
        ramet_call_free(w->call);
    w->call = NULL;
}

bool world_keep;

static void store_remove(const char *path)
{
    static const char *const ends[] = {
        "",        "-wal",  "-shm",      "-journal",  ".copy",   ".copy-wal",   ".copy-shm",
        ".search", ".twin", ".twin-wal", ".twin-shm", "-search", "-search-wal", "-search-shm"};
    char name[640];
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
}

static const char *schema_name(void)
{
    static char name[40];
    snprintf(name, sizeof name, "model_%ld", (long)getpid());
    return name;
}

/* Where the store is: a new file, or a new schema of the database that is tested. */
static void world_place(world *w, const char *dir)
{
    snprintf(w->file, sizeof w->file, "%s/model-%ld.db", dir, (long)getpid());
    store_remove(w->file);
    w->database = scratch_db_on();
    if (w->database)
        scratch_db_make(schema_name(), w->path, sizeof w->path);
    else
        snprintf(w->path, sizeof w->path, "%s", w->file);
}

static void world_leave(world *w)
{
    if (w->database)
        scratch_db_drop(schema_name());
    store_remove(w->file);
}

void world_run(const char *dir, const op *ops, size_t n, outcome *result)
{
    world *w = calloc(1, sizeof *w);
    if (!w)
        abort();
    w->result = result;
    atomic_store(&w->clock, 1700000000000000);
    world_place(w, dir);
    model_init(&w->m, &small_limits, grace_us);
    w->op = ops;
    if (world_open(w, 0) == RAMET_OK && nodes_open(w) == RAMET_OK)
        for (size_t i = 0; i < n && !result->failed; i++) {
            result->at = i;
            op_do(w, &ops[i]);
        }
    world_close(w, 0);
    world_close(w, 1);
    nodes_close(w);
    if (!world_keep)
        world_leave(w);
    free(w->stream_want.items);
    free(w->hashes);
    model_free(&w->m);
    free(w);
}
