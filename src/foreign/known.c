/* SPDX-License-Identifier: Apache-2.0
 *
 * known.c: what a session of the store has, as digests.
 */
#include "foreign/foreign.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_ENTRIES 200

/* ------------------------------------------------------------------- the session */

static void metadata_read(arena *a, known_session *k)
{
    json_doc d;
    if (!k->metadata || !json_parse(a, k->metadata, strlen(k->metadata), 0, &d, NULL))
        return;
    const json_node *import = json_get(&d, d.nodes, "import");
    k->conversation = pick_text(a, &d, import, "id");
    k->current = pick_text(a, &d, import, "current");
}

ramet_status known_open(foreign_job *j, arena *a, const char *id, known_session *out,
                        session_state *state)
{
    ramet_session *s;
    *out = (known_session){.id = arena_strdup(a, id)};
    ramet_status st = ramet_session_get(j->call, id, &s);
    *state = st == RAMET_SESSION_NOT_FOUND ? SESSION_ABSENT : SESSION_UNUSABLE;
    if (st == RAMET_SESSION_NOT_FOUND || st == RAMET_HIDDEN || st == RAMET_SESSION_DELETED)
        return RAMET_OK;
    if (st != RAMET_OK)
        return st;
    /* Somebody else may have made a session with this id, and let us write to it. */
    if (*j->user && (!s->owner || strcmp(s->owner, j->user) != 0))
        return RAMET_OK;
    out->head = s->head;
    out->tip_id = arena_strdup(a, s->head.entry_id);
    out->metadata = arena_strdup(a, s->metadata);
    metadata_read(a, out);
    *state = SESSION_OURS;
    return RAMET_OK;
}

void known_release(known_session *k)
{
    digests_clear(&k->places);
}

/* -------------------------------------------------------------------- its entries */

/* The parts of an entry as they were before its files were uploaded: named by their content. */
static const char *parts_named(foreign_job *j, arena *a, const char *parts)
{
    json_doc d;
    buf out;
    size_t at = 0;
    if (!strstr(parts, "\"attachment_id\"") || !json_parse(a, parts, strlen(parts), 0, &d, NULL))
        return parts;
    buf_init(&out, MAX_TEXT_BYTES);
    for (const json_node *p = json_first(&d, d.nodes); p; p = json_next(&d, d.nodes, p)) {
        const json_node *id = json_get(&d, p, "attachment_id");
        ramet_attachment *about;
        if (!pick_is(&d, json_get(&d, p, "type"), "file") || !json_is(id, JSON_STRING) ||
            ramet_attachment_get(j->call, json_text(a, &d, id), &about) != RAMET_OK)
            continue;
        buf_add(&out, parts + at, id->start - at);
        buf_printf(&out, "\"sha256:%s\"", about->sha256);
        at = id->end;
    }
    buf_puts(&out, parts + at);
    return buf_keep(&out, a);
}

/* Digests by prefix_hash: a branch begins where an entry of another one ends. */
typedef struct hash_entry {
    uint8_t hash[DIGEST_LEN];
    uint8_t digest[DIGEST_LEN];
    bool used;
} hash_entry;

/* The messages of the conversation that is read, by the digest above them. */
typedef struct message_index {
    digest_map by_digest;
    int64_t *first,
        *next; /* of message i: its first child, at i + 1; the next one below the same */
} message_index;

typedef struct loader {
    foreign_job *job;
    const foreign_conversation *read;
    known_session *known;
    bool timeless;
    hash_entry *slots;
    size_t n, cap;
    message_index messages; /* made for the first erased entry */
} loader;

static hash_entry *hash_slot(const loader *l, const uint8_t hash[DIGEST_LEN])
{
    size_t i;
    memcpy(&i, hash, sizeof i);
    for (i &= l->cap - 1; l->slots[i].used; i = (i + 1) & (l->cap - 1))
        if (memcmp(l->slots[i].hash, hash, DIGEST_LEN) == 0)
            break;
    return &l->slots[i];
}

static void hash_put(loader *l, const uint8_t hash[DIGEST_LEN], const uint8_t digest[DIGEST_LEN])
{
    if (l->n * 2 >= l->cap) {
        loader bigger = *l;
        bigger.cap = l->cap ? l->cap * 2 : 64;
        bigger.slots = xcalloc(bigger.cap, sizeof *bigger.slots);
        for (size_t i = 0; i < l->cap; i++)
            if (l->slots[i].used)
                *hash_slot(&bigger, l->slots[i].hash) = l->slots[i];
        free(l->slots);
        *l = bigger;
    }
    hash_entry *e = hash_slot(l, hash);
    l->n += !e->used;
    memcpy(e->hash, hash, DIGEST_LEN);
    memcpy(e->digest, digest, DIGEST_LEN);
    e->used = true;
}

/* The digest of the path up to `position`; false: it must be read from the beginning. */
static bool digest_at(loader *l, int64_t branch, int64_t position, uint8_t digest[DIGEST_LEN])
{
    uint8_t hash[HASH_LEN];
    ramet_page page;
    ramet_read_in in = {.limit = 1, .by_position = true, .position = position, .branch = branch};
    if (ramet_read(l->job->call, l->known->id, &in, &page) != RAMET_OK || page.n != 1 ||
        !hex_decode(page.entries[0].hash, hash, HASH_LEN) || !l->cap)
        return false;
    const hash_entry *e = hash_slot(l, hash);
    if (e->used)
        memcpy(digest, e->digest, DIGEST_LEN);
    return e->used;
}

static void messages_index(loader *l)
{
    message_index *x = &l->messages;
    size_t n = l->read->nodes.n;
    if (x->first)
        return;
    x->first = xcalloc(n + 1, sizeof *x->first);
    x->next = xcalloc(n + 1, sizeof *x->next);
    for (size_t i = 0; i <= n; i++)
        x->first[i] = -1;
    for (size_t i = n; i-- > 0;) {
        const foreign_node *m = &l->read->nodes.items[i];
        x->next[i] = x->first[m->up + 1];
        x->first[m->up + 1] = (int64_t)i;
    }
    for (size_t i = 0; i < n; i++) {
        digest_place p = {.session = "", .position = (int64_t)i};
        memcpy(p.digest, l->read->nodes.items[i].digest, DIGEST_LEN);
        digests_add(&x->by_digest, &p);
    }
}

/* What an erased entry said is not known. It stands for the message in its place that has its id,
 * or its role and time: else an import would bring back what was erased. */
static const foreign_node *message_of_erased(loader *l, const ramet_entry *e, const uint8_t *above)
{
    const foreign_node *found = NULL;
    if (!l->read)
        return NULL;
    messages_index(l);
    const digest_place *p = above ? digests_get(&l->messages.by_digest, above) : NULL;
    if (above && !p)
        return NULL;
    int64_t i = l->messages.first[p ? p->position + 1 : 0];
    for (; i >= 0; i = l->messages.next[i]) {
        const foreign_node *m = &l->read->nodes.items[i];
        if (m->id && strcmp(m->id, e->id) == 0)
            return m;
        if (!found && m->role == e->role &&
            (l->timeless || !m->created || m->created == e->created))
            found = m;
    }
    return found;
}

static void entry_take(loader *l, arena *scratch, const known_branch *b, const ramet_entry *e,
                       uint8_t digest[DIGEST_LEN])
{
    uint8_t hash[HASH_LEN];
    digest_place at = {.session = l->known->id, .branch = b->id, .position = e->position};
    const uint8_t *above = e->position ? digest : NULL;
    const foreign_node *erased = e->erased ? message_of_erased(l, e, above) : NULL;
    if (erased)
        memcpy(digest, erased->digest, DIGEST_LEN);
    else
        digest_make(l->job->hasher, above, e->role, parts_named(l->job, scratch, e->parts),
                    l->timeless ? 0 : e->created, digest);
    memcpy(at.digest, digest, DIGEST_LEN);
    digests_add(&l->known->places, &at);
    if (hex_decode(e->hash, hash, HASH_LEN))
        hash_put(l, hash, digest);
    arena_reset(scratch);
}

static ramet_status branch_read(loader *l, arena *scratch, const known_branch *b, int64_t from,
                                uint8_t digest[DIGEST_LEN])
{
    while (from < b->length) {
        ramet_page page;
        ramet_read_in in = {
            .limit = PAGE_ENTRIES, .branch = b->id, .by_position = true, .position = from};
        ramet_call_reset(l->job->call);
        TRY(ramet_read(l->job->call, l->known->id, &in, &page));
        for (size_t i = 0; i < page.n; i++)
            entry_take(l, scratch, b, &page.entries[i], digest);
        if (!page.n)
            break;
        from += (int64_t)page.n;
    }
    return RAMET_OK;
}

ramet_status known_load(foreign_job *j, arena *a, const foreign_conversation *read, bool timeless,
                        known_session *k)
{
    ramet_branch *list;
    size_t n;
    loader l = {.job = j, .read = read, .known = k, .timeless = timeless};
    TRY(ramet_branches(j->call, k->id, &list, &n));
    list = (ramet_branch *)(void *)arena_memdup(a, list, n * sizeof *list);
    arena *scratch = arena_new();
    ramet_status st = RAMET_OK;
    for (size_t i = 0; st == RAMET_OK && i < n; i++) {
        known_branch b = {list[i].id, list[i].length};
        uint8_t digest[DIGEST_LEN] = {0};
        int64_t from = list[i].base;
        VEC_PUSH(a, &k->branches, b);
        if (from > 0 && !digest_at(&l, b.id, from - 1, digest))
            from = 0;
        st = branch_read(&l, scratch, &b, from, digest);
        if (b.id == k->head.branch && b.length)
            memcpy(k->tip, digest, DIGEST_LEN);
    }
    free(l.slots);
    free(l.messages.first);
    free(l.messages.next);
    digests_clear(&l.messages.by_digest);
    arena_free(scratch);
    return st;
}
