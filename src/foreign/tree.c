/* SPDX-License-Identifier: Apache-2.0
 *
 * tree.c: messages that name their parents become a tree.
 *
 *   T1  Messages without content are left out; what is below them goes below the nearest message
 *       above them that has some.
 *   T2  The result lists parents before their children; messages of the same depth keep the order
 *       in which they were read.
 *   T3  Whatever the input says, the result is a forest: a parent that is not there, or that is
 *       below its own child, makes a first message.
 */
#include "foreign/foreign.h"

#include <string.h>

typedef struct id_map {
    const foreign_conversation *c;
    uint32_t *slots; /* index + 1 */
    size_t cap;
    const char **names;
    int64_t *index;
    size_t n;
} id_map;

static size_t id_slot(const id_map *m, const char *id)
{
    size_t i = hash_text(id) & (m->cap - 1);
    while (m->slots[i] && strcmp(m->names[m->slots[i] - 1], id) != 0)
        i = (i + 1) & (m->cap - 1);
    return i;
}

/* The index of an id; -1 when it is not there. */
static int64_t id_get(const id_map *m, const char *id)
{
    size_t i = id_slot(m, id);
    return m->slots[i] ? m->index[m->slots[i] - 1] : -1;
}

static void id_put(id_map *m, const char *id, int64_t index)
{
    size_t i = id_slot(m, id);
    if (m->slots[i]) {
        m->index[m->slots[i] - 1] = index;
        return;
    }
    m->names[m->n] = id;
    m->index[m->n] = index;
    m->slots[i] = (uint32_t)++m->n;
}

static void ids_init(id_map *m, const foreign_conversation *c, size_t n)
{
    *m = (id_map){.c = c, .cap = 16};
    while (m->cap < n * 2 + 2)
        m->cap *= 2;
    m->slots = arena_array(c->mem, m->cap, sizeof *m->slots);
    m->names = arena_array(c->mem, n + 1, sizeof *m->names);
    m->index = arena_array(c->mem, n + 1, sizeof *m->index);
}

/* The first message of an id counts: programs write the same one into several files. */
static void ids_fill(foreign_job *j, foreign_conversation *c, id_map *ids,
                     const foreign_span *where)
{
    for (size_t i = 0; i < c->nodes.n; i++) {
        foreign_node *n = &c->nodes.items[i];
        int64_t known = n->id ? id_get(ids, n->id) : -1;
        if (!n->id)
            continue;
        if (known < 0) {
            id_put(ids, n->id, (int64_t)i);
            continue;
        }
        const foreign_node *old = &c->nodes.items[known];
        if (n->role && (old->role != n->role || strcmp(old->parts, n->parts) != 0))
            skip_span(j, "messages whose id another message has, with other content", where);
        n->role = 0;
        n->id = NULL;
        n->up = known;
        n->parent = NULL;
    }
    for (size_t i = 0; i + 1 < c->aliases.n; i += 2) {
        int64_t to = id_get(ids, c->aliases.items[i + 1]);
        if (to >= 0)
            id_put(ids, c->aliases.items[i], to);
    }
}

/* Follows parents through messages without content; -1 at the top, or after a full circle. The ones
 * on the way remember the result. */
static int64_t solid_above(foreign_conversation *c, int64_t from)
{
    size_t steps = 0;
    int64_t to = from;
    while (to >= 0 && !c->nodes.items[to].role)
        to = steps++ > c->nodes.n ? -1 : c->nodes.items[to].up;
    for (int64_t i = from; i >= 0 && i != to && !c->nodes.items[i].role;) {
        int64_t next = c->nodes.items[i].up;
        c->nodes.items[i].up = to;
        i = next == to ? -1 : next;
    }
    return to;
}

/* The depth of every message, from 1; parents that go round in a circle are taken away. */
static int64_t *depths(foreign_job *j, foreign_conversation *c, const foreign_span *where)
{
    size_t n = c->nodes.n;
    int64_t *depth = arena_array(c->mem, n + 1, sizeof *depth);
    int64_t *stack = arena_array(c->mem, n + 1, sizeof *stack);
    for (size_t i = 0; i < n; i++) {
        size_t top = 0;
        int64_t at = (int64_t)i;
        while (at >= 0 && depth[at] == 0) {
            depth[at] = -1; /* on the stack */
            stack[top++] = at;
            at = c->nodes.items[at].up;
        }
        if (at >= 0 && depth[at] == -1) {
            skip_span(j, "parents of messages that go round in a circle", where);
            c->nodes.items[stack[top - 1]].up = -1;
            at = -1;
        }
        int64_t above = at < 0 ? 0 : depth[at];
        while (top)
            depth[stack[--top]] = ++above;
    }
    return depth;
}

/* Replaces the nodes by those with content, by depth. */
static void sort_by_depth(foreign_conversation *c, const int64_t *depth, int64_t *moved)
{
    size_t n = c->nodes.n, at = 0;
    size_t *count = arena_array(c->mem, n + 2, sizeof *count);
    foreign_node *sorted = arena_array(c->mem, n + 1, sizeof *sorted);
    for (size_t i = 0; i < n; i++)
        if (c->nodes.items[i].role)
            count[depth[i]]++;
    for (size_t d = 0; d <= n; d++) {
        size_t here = count[d];
        count[d] = at;
        at += here;
    }
    for (size_t i = 0; i < n; i++) {
        moved[i] = -1;
        if (c->nodes.items[i].role) {
            moved[i] = (int64_t)count[depth[i]]++;
            sorted[moved[i]] = c->nodes.items[i];
        }
    }
    for (size_t i = 0; i < at; i++)
        if (sorted[i].up >= 0) {
            sorted[i].up = moved[sorted[i].up];
            sorted[sorted[i].up].has_child = true;
        }
    c->nodes.items = sorted;
    c->nodes.n = at;
}

/* A message without a time has that of the one above it, a first one that of the conversation, or
 * of the first message that has one. */
static void times_fill(foreign_conversation *c)
{
    int64_t first = c->created;
    for (size_t i = 0; !first && i < c->nodes.n; i++)
        first = c->nodes.items[i].created;
    if (!first)
        c->timeless = true;
    for (size_t i = 0; i < c->nodes.n; i++) {
        foreign_node *n = &c->nodes.items[i];
        if (!n->created)
            n->created = n->up < 0 ? first : c->nodes.items[n->up].created;
    }
    if (!c->created)
        c->created = first;
}

static bool is_question(const foreign_node *n)
{
    return n->role == RAMET_USER;
}

void digest_make(sha *s, const uint8_t *above, ramet_role role, const char *parts, int64_t created,
                 uint8_t out[DIGEST_LEN])
{
    static const uint8_t none[DIGEST_LEN];
    uint8_t whole[HASH_LEN];
    int64_t head[2] = {(int64_t)role, created};
    sha_begin(s);
    sha_add(s, above ? above : none, DIGEST_LEN);
    sha_add(s, head, sizeof head);
    sha_add(s, parts, strlen(parts));
    sha_end(s, whole);
    memcpy(out, whole, DIGEST_LEN);
}

static void nodes_finish(foreign_job *j, foreign_conversation *c)
{
    times_fill(c);
    c->n_leaves = 0;
    for (size_t i = 0; i < c->nodes.n; i++) {
        foreign_node *n = &c->nodes.items[i];
        const foreign_node *up = n->up < 0 ? NULL : &c->nodes.items[n->up];
        n->turn = is_question(n) ? n->id : up ? up->turn : NULL;
        c->n_leaves += !n->has_child;
        digest_make(j->hasher, up ? up->digest : NULL, n->role, n->parts,
                    c->timeless ? 0 : n->created, n->digest);
    }
}

bool foreign_resolve(foreign_job *j, foreign_conversation *c, const foreign_span *where)
{
    id_map ids;
    if (c->nodes.n > MAX_MESSAGES) {
        skip_span(j, "conversations with more than 1,000,000 messages", where);
        return false;
    }
    ids_init(&ids, c, c->nodes.n + c->aliases.n);
    ids_fill(j, c, &ids, where);
    for (size_t i = 0; i < c->nodes.n; i++) {
        foreign_node *n = &c->nodes.items[i];
        if (n->up >= 0 || !n->parent)
            continue;
        n->up = id_get(&ids, n->parent);
        if (n->up < 0 && n->role)
            skip_span(j, "messages above others that are not in the file", where);
    }
    for (size_t i = 0; i < c->nodes.n; i++)
        if (c->nodes.items[i].role)
            c->nodes.items[i].up = solid_above(c, c->nodes.items[i].up);
    int64_t tip = c->current ? solid_above(c, id_get(&ids, c->current)) : -1;
    for (size_t i = c->nodes.n; tip < 0 && i-- > 0;)
        if (c->nodes.items[i].role)
            tip = (int64_t)i;
    int64_t *moved = arena_array(c->mem, c->nodes.n + 1, sizeof *moved);
    sort_by_depth(c, depths(j, c, where), moved);
    c->tip = tip < 0 ? -1 : moved[tip];
    nodes_finish(j, c);
    return true;
}
