/* SPDX-License-Identifier: Apache-2.0
 *
 * import.c: the two passes of an import (foreign.h).
 *
 *   index      every file of the input: which texts make which conversation
 *   1st pass   every conversation is read, and nothing is kept but what it is called, when it was
 *              begun, and what its tree is known by
 *   2nd pass   group by group, parents before their copies: each conversation is read again and
 *              written
 */
#include "foreign/foreign.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SKIPS 100 /* reasons that are told apart */

ramet_status job_fail(foreign_job *j, ramet_status st, const char *field, const char *fmt, ...)
{
    char message[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    utf8_trim(message);
    return ramet_import_fail(j->import, st, field, message);
}

/* ------------------------------------------------------------------------ skips */

void skip_note(foreign_job *j, const char *reason, const foreign_member *m, int64_t line)
{
    if (j->reads_again)
        return;
    for (size_t i = 0; i < j->skips.n; i++)
        if (strcmp(j->skips.items[i].what, reason) == 0) {
            j->skips.items[i].count++;
            return;
        }
    const char *name = !m ? "" : *m->name ? m->name : "line ";
    ramet_import_skip s = {arena_strdup(j->all, reason), 1, ""};
    if (m && line)
        s.first = arena_printf(j->all, *m->name ? "%s:%lld" : "%s%lld", name, (long long)line);
    else if (m)
        s.first = m->name;
    if (j->skips.n < MAX_SKIPS)
        VEC_PUSH(j->all, &j->skips, s);
}

void skip_span(foreign_job *j, const char *reason, const foreign_span *s)
{
    skip_note(j, reason, s ? &j->members.items[s->member] : NULL, s ? s->line : 0);
}

/* ---------------------------------------------------------------------- sources */

static size_t source_slot(const foreign_job *j, const char *id)
{
    size_t i = hash_text(id) & (j->n_slots - 1);
    while (j->slots[i] && strcmp(j->sources.items[j->slots[i] - 1].id, id) != 0)
        i = (i + 1) & (j->n_slots - 1);
    return i;
}

static void slots_grow(foreign_job *j)
{
    free(j->slots);
    j->n_slots = j->n_slots ? j->n_slots * 2 : 1024;
    j->slots = xcalloc(j->n_slots, sizeof *j->slots);
    for (size_t i = 0; i < j->sources.n; i++)
        if (j->sources.items[i].id)
            j->slots[source_slot(j, j->sources.items[i].id)] = (uint32_t)i + 1;
}

ramet_status source_add(foreign_job *j, const char *id, foreign_span span)
{
    if (id && j->n_named * 2 >= j->n_slots)
        slots_grow(j);
    size_t slot = id ? source_slot(j, id) : 0;
    if (++j->n_spans > MAX_SPANS)
        return job_fail(j, RAMET_TOO_LARGE, "import", "the input has more than %d lines or files",
                        MAX_SPANS);
    if (!id || !j->slots[slot]) {
        foreign_source s = {.id = arena_strdup(j->all, id), .order = j->sources.n, .above = -1};
        if (j->sources.n == MAX_SOURCES)
            return job_fail(j, RAMET_TOO_LARGE, "import",
                            "the input has more than %d conversations", MAX_SOURCES);
        VEC_PUSH(j->all, &j->sources, s);
        if (id) {
            j->slots[slot] = (uint32_t)j->sources.n;
            j->n_named++;
        }
    }
    foreign_source *s = &j->sources.items[id ? j->slots[slot] - 1 : j->sources.n - 1];
    VEC_PUSH(j->all, &s->spans, span);
    return RAMET_OK;
}

bool source_parse(foreign_job *j, const foreign_source *s, arena *a, json_doc *d)
{
    if (foreign_parse(a, s->spans.items, d))
        return true;
    skip_span(j, "conversations that are not valid JSON, or over a limit of nesting or size",
              s->spans.items);
    return false;
}

/* ------------------------------------------------------------------ the first pass */

/* Reads a conversation; false: it was skipped. */
static bool source_load(foreign_job *j, const foreign_source *s, foreign_conversation *c)
{
    const foreign_span *where = s->spans.items;
    *c = (foreign_conversation){.mem = c->mem, .tip = -1};
    c->timeless = j->reader->copies_have_new_times;
    if (!j->reader->load(j, s, c) || !foreign_resolve(j, c, where))
        return false;
    if (!c->nodes.n) {
        skip_span(j, "conversations without messages", where);
        return false;
    }
    if (!c->id)
        c->id = s->conversation;
    if (c->id && strlen(c->id) > 1000) {
        skip_span(j, "conversations with an id over 1,000 bytes", where);
        return false;
    }
    return true;
}

/* The message that a tree is known by: the first one; without times, the first answer. */
static const uint8_t *key_of(const foreign_conversation *c)
{
    int64_t key = c->tip;
    for (int64_t i = c->tip; i >= 0; i = c->nodes.items[i].up)
        if (!c->timeless || c->nodes.items[i].role == RAMET_ASSISTANT)
            key = i;
    return c->nodes.items[key].digest;
}

static void key_of_id(foreign_job *j, const char *id, uint8_t out[DIGEST_LEN])
{
    uint8_t h[HASH_LEN];
    sha_begin(j->hasher);
    sha_add(j->hasher, "conversation", 13);
    sha_add(j->hasher, id, strlen(id));
    sha_end(j->hasher, h);
    memcpy(out, h, DIGEST_LEN);
}

/* A conversation without an id is known by its beginning, and by how many began so before it. */
static bool source_name(foreign_job *j, foreign_source *s, const foreign_conversation *c,
                        digest_map *begun, digest_map *whole)
{
    char hex[2 * DIGEST_LEN + 1];
    digest_place p = {.session = ""};
    const digest_place *before;
    memcpy(p.digest, c->nodes.items[c->tip].digest, DIGEST_LEN);
    if (digests_get(whole, p.digest)) {
        skip_span(j, "conversations that are in the file already", s->spans.items);
        return false;
    }
    digests_add(whole, &p);
    memcpy(p.digest, s->key, DIGEST_LEN);
    int64_t number = 0;
    if ((before = digests_get(begun, p.digest)))
        number = ++((digest_place *)before)->position;
    else
        digests_add(begun, &p);
    hex_encode(s->key, DIGEST_LEN, hex);
    s->conversation = arena_printf(j->all, "%s-%lld", hex, (long long)number);
    return true;
}

static bool job_tick(foreign_job *j, const char *what)
{
    j->done++;
    return !j->progress || j->progress(j->progress_arg, what, j->done, j->total);
}

static ramet_status job_stopped(foreign_job *j)
{
    return job_fail(j, RAMET_STOP, NULL,
                    "the import was stopped; done again, it goes on with what is missing");
}

static ramet_status first_pass(foreign_job *j, digest_map *begun, digest_map *whole)
{
    foreign_conversation c = {.mem = arena_new()};
    ramet_status st = RAMET_OK;
    for (size_t i = 0; st == RAMET_OK && i < j->sources.n; i++) {
        foreign_source *s = &j->sources.items[i];
        s->skipped = !source_load(j, s, &c);
        if (!s->skipped) {
            memcpy(s->key, key_of(&c), DIGEST_LEN);
            s->skipped = !c.id && !source_name(j, s, &c, begun, whole);
        }
        if (!s->skipped) {
            if (c.id)
                s->conversation = arena_strdup(j->all, c.id);
            s->parent = arena_strdup(j->all, c.parent);
            s->link = c.link;
            s->created = c.created;
            j->out->conversations++;
            j->out->messages += (int64_t)c.nodes.n;
        }
        arena_reset(c.mem);
        if (!job_tick(j, "read"))
            st = job_stopped(j);
    }
    arena_free(c.mem);
    return st;
}

/* ------------------------------------------------------------------------ groups */

/* Which source has the conversation that each one is linked to. */
static void links_find(foreign_job *j)
{
    digest_map by_id = {0};
    for (size_t i = 0; i < j->sources.n; i++) {
        digest_place p = {.session = "", .position = (int64_t)i};
        if (j->sources.items[i].skipped)
            continue;
        key_of_id(j, j->sources.items[i].conversation, p.digest);
        digests_add(&by_id, &p);
    }
    for (size_t i = 0; i < j->sources.n; i++) {
        foreign_source *s = &j->sources.items[i];
        uint8_t key[DIGEST_LEN];
        if (s->skipped || s->link == LINK_NONE)
            continue;
        key_of_id(j, s->parent, key);
        const digest_place *p = digests_get(&by_id, key);
        s->above = p && p->position != (int64_t)i ? p->position : -1;
    }
    digests_clear(&by_id);
}

/* The depth below the first conversation, and the key of its tree; links that go round in a circle
 * end after as many steps as there are sources. */
static void source_place(foreign_job *j, foreign_source *s)
{
    const foreign_source *top = s;
    while (top->above >= 0 && s->depth < j->sources.n) {
        top = &j->sources.items[top->above];
        if (++s->depth > 1000)
            break;
    }
    if (j->reader->copies_have_new_times) {
        bool linked = top->link != LINK_NONE && top->above < 0;
        key_of_id(j, linked ? top->parent : top->conversation, s->key);
    } else if (top != s) {
        memcpy(s->key, top->key, DIGEST_LEN);
    }
}

static int source_order(const void *a, const void *b)
{
    const foreign_source *const *x = a, *const *y = b;
    const foreign_source *s = *x, *t = *y;
    if (s->group != t->group)
        return s->group < t->group ? -1 : 1;
    if (s->depth != t->depth)
        return s->depth < t->depth ? -1 : 1;
    if (s->created != t->created)
        return s->created < t->created ? -1 : 1;
    return s->order < t->order ? -1 : s->order > t->order;
}

static size_t groups_make(foreign_job *j, foreign_source ***out)
{
    digest_map keys = {0};
    size_t n = 0, groups = 0;
    foreign_source **list = arena_array(j->all, j->sources.n + 1, sizeof *list);
    links_find(j);
    for (size_t i = 0; i < j->sources.n; i++) {
        foreign_source *s = &j->sources.items[i];
        digest_place p = {.session = "", .position = (int64_t)groups};
        if (s->skipped)
            continue;
        source_place(j, s);
        memcpy(p.digest, s->key, DIGEST_LEN);
        const digest_place *known = digests_get(&keys, s->key);
        s->group = known ? (size_t)known->position : groups++;
        digests_add(&keys, &p);
        list[n++] = s;
    }
    digests_clear(&keys);
    qsort(list, n, sizeof *list, source_order);
    *out = list;
    return n;
}

/* ----------------------------------------------------------------- the second pass */

/* Reads a session of the store that no conversation of the input is: copies of it may come. */
static ramet_status group_know(foreign_job *j, arena *a, foreign_group *g,
                               const foreign_conversation *c, bool timeless, known_session *k)
{
    ramet_status st = known_load(j, a, c, timeless, k);
    const char *session = arena_strdup(j->all, k->id);
    for (size_t i = 0; st == RAMET_OK && i < k->places.cap; i++) {
        digest_place p = k->places.slots[i];
        if (!p.session)
            continue;
        p.session = session;
        digests_add(&g->places, &p);
    }
    known_release(k);
    return st;
}

static ramet_status parent_know(foreign_job *j, arena *a, foreign_group *g,
                                const foreign_conversation *c, const foreign_source *s)
{
    known_session k;
    session_state state;
    char id[UUID_TEXT];
    if (s->link != LINK_COPY || s->above >= 0)
        return RAMET_OK;
    session_id_make(j, "conversation", s->parent, strlen(s->parent), id);
    TRY(known_open(j, a, id, &k, &state));
    return state == SESSION_OURS ? group_know(j, a, g, c, j->reader->copies_have_new_times, &k)
                                 : RAMET_OK;
}

/* What the store has of a group; `c` is its first conversation. */
static ramet_status group_begin(foreign_job *j, foreign_group *g, foreign_source *const *list,
                                size_t n, const foreign_conversation *c)
{
    known_session root;
    session_state state;
    digests_clear(&g->places);
    *g = (foreign_group){0};
    session_id_make(j, "root", list[0]->key, DIGEST_LEN, g->root);
    arena *a = arena_new();
    ramet_status st = known_open(j, a, g->root, &root, &state);
    g->has_root = st == RAMET_OK && state == SESSION_OURS;
    g->root_unusable = st == RAMET_OK && state == SESSION_UNUSABLE;
    bool here = false;
    for (size_t i = 0; g->has_root && root.conversation && i < n; i++)
        here = here || strcmp(list[i]->conversation, root.conversation) == 0;
    if (g->has_root && !here)
        st = group_know(j, a, g, c, c->timeless, &root);
    for (size_t i = 0; st == RAMET_OK && i < n; i++)
        st = parent_know(j, a, g, c, list[i]);
    arena_free(a);
    return st;
}

/* What the store refuses of one conversation does not stop the others. */
static ramet_status source_write(foreign_job *j, foreign_group *g, const foreign_source *s,
                                 foreign_conversation *c)
{
    ramet_status st = conversation_write(j, g, c);
    if (st == RAMET_OK || st == RAMET_STOP || ramet_status_http(st) >= 500)
        return st;
    char reason[600];
    snprintf(reason, sizeof reason, "conversations that were refused (%s)",
             ramet_call_error(j->call)->message);
    utf8_trim(reason);
    skip_span(j, reason, s->spans.items);
    return RAMET_OK;
}

static ramet_status second_pass(foreign_job *j)
{
    foreign_source **list;
    size_t n = groups_make(j, &list);
    foreign_group g = {0};
    foreign_conversation c = {.mem = arena_new()};
    ramet_status st = RAMET_OK;
    j->done = 0;
    j->total = (int64_t)n;
    for (size_t i = 0; st == RAMET_OK && i < n; i++) {
        j->reads_again = true;
        bool there = source_load(j, list[i], &c);
        j->reads_again = false;
        if (i == 0 || list[i]->group != list[i - 1]->group) {
            size_t end = i;
            while (end < n && list[end]->group == list[i]->group)
                end++;
            ramet_call_reset(j->call);
            st = group_begin(j, &g, list + i, end - i, &c);
        }
        if (st == RAMET_OK && there)
            st = source_write(j, &g, list[i], &c);
        arena_reset(c.mem);
        if (st == RAMET_OK && !job_tick(j, "import"))
            st = job_stopped(j);
    }
    digests_clear(&g.places);
    arena_free(c.mem);
    return st;
}

/* -------------------------------------------------------------------------- run */

static ramet_status passes(foreign_job *j)
{
    digest_map begun = {0}, whole = {0};
    TRY(input_open(j));
    for (size_t i = 0; i < j->members.n; i++)
        TRY(j->reader->index(j, &j->members.items[i]));
    j->total = (int64_t)j->sources.n;
    ramet_status st = first_pass(j, &begun, &whole);
    digests_clear(&begun);
    digests_clear(&whole);
    TRY(st);
    if (!j->out->conversations)
        return job_fail(j, RAMET_IMPORT_DAMAGED, "import",
                        "no conversation of %s was found in it%s%s%s%s", j->format,
                        j->skips.n ? ": " : "", j->skips.n ? j->skips.items[0].what : "",
                        j->skips.n && *j->skips.items[0].first ? ", first in " : "",
                        j->skips.n ? j->skips.items[0].first : "");
    return second_pass(j);
}

/* The skips live in the call. */
static void skips_keep(foreign_job *j)
{
    arena *a = ramet_call_arena(j->call);
    ramet_import_skip *list = arena_array(a, j->skips.n + 1, sizeof *list);
    for (size_t i = 0; i < j->skips.n; i++)
        list[i] =
            (ramet_import_skip){arena_strdup(a, j->skips.items[i].what), j->skips.items[i].count,
                                arena_strdup(a, j->skips.items[i].first)};
    j->out->skipped = list;
    j->out->n_skipped = j->skips.n;
}

ramet_status ramet_import_foreign(ramet_import *m, const char *format, ramet_progress progress,
                                  void *arg, ramet_import_out *out)
{
    const char *user = ramet_import_user(m);
    foreign_job j = {.import = m,
                     .call = ramet_import_call(m),
                     .reader = foreign_find(format),
                     .format = format,
                     .user = user ? user : "",
                     .progress = progress,
                     .progress_arg = arg,
                     .out = out};
    *out = (ramet_import_out){0};
    if (!j.reader)
        return job_fail(&j, RAMET_INVALID, "from", "there is no format %s", format);
    j.all = arena_new();
    j.hasher = sha_new();
    ramet_status st = passes(&j);
    if (st == RAMET_OK)
        skips_keep(&j);
    input_close(&j);
    free(j.slots);
    sha_free(j.hasher);
    arena_free(j.all);
    ramet_import_done(m, st);
    return st;
}
