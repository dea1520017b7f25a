/* SPDX-License-Identifier: Apache-2.0
 *
 * fork.c: navigation between forks: where alternatives leave the path of a conversation, and which
 * alternatives there are.
 *
 * A fork point is a pair (conversation, first entry that its forks do not have). A conversation
 * sees the path of an ancestor up to `reach`, the smallest position at which a fork between them
 * left. A point before `reach` is shown at its entry; a point at `reach`, at the first own entry of
 * the alternative that leads here; a point after it is invisible.
 */
#include "face/memory/memory.h"

#include "base/util.h"
#include "form/native.h"

#include <stdlib.h>
#include <string.h>

enum { PREVIEW_BYTES = 200 };

typedef struct nav {
    request *request;
    ramet_session *list; /* the tree */
    size_t n;
    const ramet_session **way; /* from the conversation up to the root */
    int64_t *reach;            /* for each conversation on the way */
    size_t n_way;
    bool admin;
    memory_sieve of; /* selects the entries that count: history, and the client's journal */
} nav;

typedef struct option {
    const ramet_session *session;
    const char *entry, *preview; /* may be NULL */
    int64_t created;
} option;

typedef struct point {
    size_t way; /* index of the ancestor */
    const char *anchor;
    const ramet_entry *at; /* where it is shown */
    VEC(option) options;
} point;

static const ramet_session *session_at(const nav *v, const char *id)
{
    for (size_t i = 0; id && i < v->n; i++)
        if (v->list[i].id && strcmp(v->list[i].id, id) == 0)
            return &v->list[i];
    return NULL;
}

static void way_find(nav *v, const char *id)
{
    int64_t reach = INT64_MAX;
    v->way = arena_array(v->request->arena, v->n + 1, sizeof *v->way);
    v->reach = arena_array(v->request->arena, v->n + 1, sizeof *v->reach);
    for (const ramet_session *s = session_at(v, id); s && v->n_way <= v->n;
         s = session_at(v, s->parent_id)) {
        v->way[v->n_way] = s;
        v->reach[v->n_way++] = reach;
        if (s->base < reach)
            reach = s->base;
    }
}

static bool navigable(void *arg, const ramet_entry *e)
{
    nav *v = arg;
    if (strcmp(e->channel, "journal") == 0 && v->admin)
        return true;
    return strcmp(e->channel, "context") != 0 && memory_sieve_takes(&v->of, e);
}

static bool own_navigable(void *arg, const ramet_entry *e)
{
    nav *v = arg;
    return e->owner_no == v->of.highest && navigable(v, e);
}

/* The first own entry of a fork below a position (0: anywhere); NULL: it has none. */
static const ramet_entry *first_own(nav *v, const ramet_session *s, int64_t end)
{
    ramet_page page;
    ramet_read_in in = {.by_position = true,
                        .position = s->base,
                        .end = end,
                        .limit = 1,
                        .want = own_navigable,
                        .want_arg = v};
    v->of.highest = s->number;
    if (ramet_read(v->request->call, s->id, &in, &page) != RAMET_OK || !page.n)
        return NULL;
    return page.entries;
}

static const char *preview_of(request *q, const ramet_entry *e)
{
    memory_body b;
    json_doc d;
    const char *text = e->text;
    if (memory_body_read(q->arena, e, &b) &&
        json_parse(q->arena, b.content, strlen(b.content), SIZE_MAX, &d, NULL)) {
        text = "";
        for (const json_node *v = json_first(&d, &d.nodes[0]); v && !*text;
             v = json_next(&d, &d.nodes[0], v)) {
            const char *found = json_text(q->arena, &d, json_get(&d, v, "text"));
            text = found ? found : "";
        }
    }
    size_t n = strlen(text);
    if (n > PREVIEW_BYTES)
        n = PREVIEW_BYTES;
    while (n && !utf8_valid(text, n))
        n--;
    return n ? arena_memdup(q->arena, text, n) : NULL;
}

static option option_of(nav *v, const ramet_session *s, const ramet_entry *e)
{
    return (option){.session = s,
                    .entry = e ? memory_entry_id(v->request->arena, e) : NULL,
                    .preview = e ? preview_of(v->request, e) : NULL,
                    .created = e ? e->created : s->created};
}

static int option_order(const void *a, const void *b)
{
    const option *x = a, *y = b;
    if (x->created != y->created)
        return x->created < y->created ? -1 : 1;
    return strcmp(x->session->id, y->session->id);
}

/* Where a point is shown; NULL: not at all. */
static const ramet_entry *shown_at(nav *v, size_t way, const ramet_entry *anchor)
{
    if (anchor->position < v->reach[way])
        return anchor;
    if (anchor->position > v->reach[way] || !way)
        return NULL;
    const ramet_session *next = v->way[way - 1];
    if (!next->fork_entry_id || strcmp(next->fork_entry_id, anchor->id) != 0 ||
        next->fork_side != RAMET_BEFORE)
        return NULL;
    return first_own(v, next, v->reach[way - 1] == INT64_MAX ? 0 : v->reach[way - 1]);
}

/* The entry before which forks of a session leave. */
static const ramet_entry *anchor_load(nav *v, const ramet_session *parent,
                                      const ramet_session *fork)
{
    ramet_page page;
    ramet_read_in in = {.by_position = true, .position = fork->base, .limit = 1};
    if (!fork->fork_entry_id || ramet_read(v->request->call, parent->id, &in, &page) != RAMET_OK ||
        !page.n)
        return NULL;
    const ramet_entry *e = &page.entries[0];
    /* The entry in the parent at that time; a rewind may have replaced it. */
    if (fork->fork_side == RAMET_BEFORE && strcmp(e->id, fork->fork_entry_id) != 0)
        return NULL;
    return navigable(v, e) ? e : NULL;
}

typedef VEC(point) point_list;

static void points_of(nav *v, size_t way, point_list *out)
{
    const ramet_session *parent = v->way[way];
    size_t first = out->n;
    for (size_t i = 0; i < v->n; i++) {
        const ramet_session *f = &v->list[i];
        if (f->deleted || !f->parent_id || strcmp(f->parent_id, parent->id) != 0)
            continue;
        const ramet_entry *anchor = anchor_load(v, parent, f);
        point *p = NULL;
        for (size_t k = first; anchor && k < out->n && !p; k++)
            if (strcmp(out->items[k].anchor, anchor->id) == 0)
                p = &out->items[k];
        if (anchor && !p) {
            point fresh = {.way = way, .anchor = anchor->id, .at = shown_at(v, way, anchor)};
            VEC_PUSH(v->request->arena, out, fresh);
            p = &out->items[out->n - 1];
            option o = option_of(v, parent, anchor);
            VEC_PUSH(v->request->arena, &p->options, o);
        }
        if (!p || !p->at)
            continue;
        option o = option_of(v, f, first_own(v, f, 0));
        VEC_PUSH(v->request->arena, &p->options, o);
    }
}

static int point_order(const void *a, const void *b)
{
    const point *x = a, *y = b;
    if (x->way != y->way)
        return x->way > y->way ? -1 : 1;
    if (x->at->created != y->at->created)
        return x->at->created < y->at->created ? -1 : 1;
    return strcmp(x->at->id, y->at->id);
}

/* -------------------------------------------------------------------------- answer */

static void point_write(request *q, point *p)
{
    qsort(p->options.items, p->options.n, sizeof *p->options.items, option_order);
    jw_object(&q->writer);
    jw_kstr(&q->writer, "entryId", memory_entry_id(q->arena, p->at));
    jw_key(&q->writer, "options");
    jw_array(&q->writer);
    for (size_t i = 0; i < p->options.n; i++) {
        const option *o = &p->options.items[i];
        jw_object(&q->writer);
        jw_kstr(&q->writer, "conversationId", o->session->id);
        if (o->entry)
            jw_kstr(&q->writer, "entryId", o->entry);
        jw_kstr(&q->writer, "title", o->session->title);
        if (o->preview)
            jw_kstr(&q->writer, "preview", o->preview);
        native_ktime(&q->writer, "createdAt", o->created);
        jw_end_object(&q->writer);
    }
    jw_end_array(&q->writer);
    jw_end_object(&q->writer);
}

static int by_age(const void *a, const void *b)
{
    const ramet_session *x = *(ramet_session *const *)a, *y = *(ramet_session *const *)b;
    if (x->created != y->created)
        return x->created < y->created ? -1 : 1;
    return strcmp(x->id, y->id);
}

static void ids_write(nav *v)
{
    VEC(const ramet_session *) all = {0};
    for (size_t i = 0; i < v->n; i++)
        if (!v->list[i].deleted)
            VEC_PUSH(v->request->arena, &all, &v->list[i]);
    if (all.n)
        qsort(all.items, all.n, sizeof *all.items, by_age);
    jw_key(&v->request->writer, "conversationIds");
    jw_array(&v->request->writer);
    for (size_t i = 0; i < all.n; i++)
        jw_str(&v->request->writer, all.items[i]->id);
    jw_end_array(&v->request->writer);
}

static void navigation(request *q, bool admin)
{
    const char *id = face_path(q, "conversationId");
    nav v = {.request = q, .admin = admin};
    point_list points = {0};
    size_t kept = 0;
    if (ramet_tree(q->call, id, true, &v.list, &v.n) != RAMET_OK) {
        memory_error(q, id);
        return;
    }
    v.of = (memory_sieve){.client = q->caller.client, .epoch = -1, .from_seq = -1};
    way_find(&v, id);
    for (size_t i = v.n_way; i-- > 0;)
        points_of(&v, i, &points);
    for (size_t i = 0; i < points.n; i++)
        if (points.items[i].at)
            points.items[kept++] = points.items[i];
    if (kept)
        qsort(points.items, kept, sizeof *points.items, point_order);
    jw_object(&q->writer);
    ids_write(&v);
    jw_key(&q->writer, "forkPoints");
    jw_array(&q->writer);
    for (size_t i = 0; i < kept; i++)
        point_write(q, &points.items[i]);
    jw_end_array(&q->writer);
    jw_end_object(&q->writer);
    face_done(q);
}

void memory_forks_get(request *q)
{
    if (face_call(q))
        navigation(q, false);
}

void memory_admin_forks(request *q)
{
    memory_program_call(q);
    navigation(q, true);
}
