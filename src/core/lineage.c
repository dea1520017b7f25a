/* SPDX-License-Identifier: Apache-2.0
 *
 * Lineage: ancestry, children, the whole tree, and where forks leave a history.
 *
 * What of a tree is shown to a caller (I7, I10):
 *
 *   L1  A private session of another is left out, alone: a fork of it stays, its parent unnamed.
 *   L2  A session that is gone is a place holder as long as something shown descends from it.
 *       It keeps its id while it can be restored.
 */
#include "core/core.h"

#include <stdlib.h>

#define PATH_MAX_IDS 64
#define NONE SIZE_MAX

/* L2: its place and nothing else. */
static void holder_fill(const session_row *s, ramet_session *out)
{
    *out = (ramet_session){.id = s->id && !s->purging ? s->id : "",
                           .tree_id = "",
                           .title = "",
                           .shown_title = "",
                           .owner = "",
                           .reason = "",
                           .metadata = "{}",
                           .is_fork = s->parent != 0,
                           .deleted = true,
                           .depth = s->depth};
}

/* ---------------------------------------------------------- ancestry, children */

static ramet_status ancestry(cx *x, const char *session, ramet_session **out, size_t *n)
{
    VEC(session_row) up = {0};
    session_row s;
    TRY(session_open(x, session, NEED_READ, &s));
    ramet_level level = level_in(x, s.tree);
    VEC_PUSH(x->a, &up, s);
    while (s.parent) {
        int64_t depth = s.depth;
        if (!session_by_no(x, s.tree, s.parent, &s) || s.depth >= depth) {
            db_fail(x->d, RAMET_DAMAGED, "the ancestry of session %s is damaged", session);
            return cx_status(x);
        }
        VEC_PUSH(x->a, &up, s);
    }
    ramet_session *list = arena_array(x->a, up.n, sizeof *list);
    size_t k = 0;
    for (size_t i = up.n; i-- > 0;) {
        const session_row *row = &up.items[i];
        if (!session_seen(x, level, row))
            continue;
        if (session_gone(x, row))
            holder_fill(row, &list[k++]);
        else
            session_fill(x, row, &list[k++]);
    }
    *out = list;
    *n = k;
    return cx_status(x);
}

ramet_status ramet_ancestry(ramet_call *c, const char *session, ramet_session **out, size_t *n)
{
    cx x;
    *out = NULL;
    *n = 0;
    if (!cx_read(&x, c))
        return c->err.status;
    return cx_done(&x, ancestry(&x, session, out, n));
}

static ramet_status children(cx *x, const char *session, ramet_session **out, size_t *n)
{
    VEC(session_row) rows = {0};
    session_row s;
    TRY(session_open(x, session, NEED_READ, &s));
    ramet_level level = level_in(x, s.tree);
    db_stmt *q = db_query(x->d, Q_session_children);
    q_int(q, 1, s.tree);
    q_int(q, 2, s.no);
    while (q_row(q)) {
        session_row row;
        session_from(q, x->a, &row);
        if (!session_gone(x, &row) && session_seen(x, level, &row))
            VEC_PUSH(x->a, &rows, row);
    }
    *out = arena_array(x->a, rows.n, sizeof **out);
    *n = rows.n;
    for (size_t i = 0; i < rows.n; i++)
        session_fill(x, &rows.items[i], &(*out)[i]);
    return cx_status(x);
}

ramet_status ramet_children(ramet_call *c, const char *session, ramet_session **out, size_t *n)
{
    cx x;
    *out = NULL;
    *n = 0;
    if (!cx_read(&x, c))
        return c->err.status;
    return cx_done(&x, children(&x, session, out, n));
}

/* ------------------------------------------------------------------------ tree */

typedef struct node {
    session_row s;
    ramet_head head, adk;
    int64_t touched;
    size_t parent, child, next; /* indexes; NONE at the end */
    bool seen, gone, wanted;    /* wanted: it or something below it is shown */
    const char *const *tags;
    size_t n_tags;
    const char **path;
    size_t n_path;
} node;

typedef struct by_no {
    int64_t no;
    size_t at;
} by_no;

typedef struct forest {
    const char *tree_id;
    node *nodes; /* oldest first */
    size_t n;
    by_no *index;
    size_t *order; /* parents before their forks, forks of one parent oldest first */
    size_t n_order;
} forest;

static int index_order(const void *a, const void *b)
{
    int64_t x = ((const by_no *)a)->no, y = ((const by_no *)b)->no;
    return x < y ? -1 : x > y;
}

static size_t node_at(const forest *f, int64_t no)
{
    by_no key = {.no = no}, *hit = NULL;
    if (no && f->n)
        hit = bsearch(&key, f->index, f->n, sizeof key, index_order);
    return hit ? hit->at : NONE;
}

static void head_from(db_stmt *q, int len, int tip, int64_t branch, ramet_head *out)
{
    static const uint8_t zeros[HASH_LEN];
    size_t n;
    const void *p = q_col_blob(q, tip, &n);
    *out = (ramet_head){.branch = branch, .length = q_col_int(q, len)};
    hex_encode(p && n == HASH_LEN ? p : zeros, HASH_LEN, out->hash);
}

static void nodes_load(cx *x, int64_t tree, ramet_level level, forest *f)
{
    VEC(node) v = {0};
    db_stmt *q = db_query(x->d, Q_session_of_tree);
    q_int(q, 1, tree);
    while (q_row(q)) {
        node d = {.parent = NONE, .child = NONE, .next = NONE};
        session_from(q, x->a, &d.s);
        head_from(q, SESSION_N_COLS, SESSION_N_COLS + 1, d.s.head, &d.head);
        d.touched = q_col_int(q, SESSION_N_COLS + 2);
        if (d.s.adk)
            head_from(q, SESSION_N_COLS + 3, SESSION_N_COLS + 4, d.s.adk, &d.adk);
        d.gone = session_gone(x, &d.s);
        d.seen = session_seen(x, level, &d.s);
        VEC_PUSH(x->a, &v, d);
    }
    f->nodes = v.items;
    f->n = v.n;
    f->index = arena_array(x->a, v.n, sizeof *f->index);
    for (size_t i = 0; i < v.n; i++)
        f->index[i] = (by_no){v.items[i].s.no, i};
    if (v.n)
        qsort(f->index, v.n, sizeof *f->index, index_order);
}

static void tags_load(cx *x, int64_t tree, forest *f)
{
    VEC(const char *) tags = {0};
    VEC(size_t) starts = {0}; /* pairs: node, first tag */
    int64_t last = 0;
    db_stmt *q = db_query(x->d, Q_tag_of_tree);
    q_int(q, 1, tree);
    while (q_row(q)) {
        int64_t no = q_col_int(q, 0);
        if (no != last) {
            VEC_PUSH(x->a, &starts, node_at(f, no));
            VEC_PUSH(x->a, &starts, tags.n);
            last = no;
        }
        VEC_PUSH(x->a, &tags, q_keep_text(q, 1, x->a));
    }
    for (size_t i = 0; i + 1 < starts.n; i += 2) {
        size_t at = starts.items[i], from = starts.items[i + 1];
        size_t to = i + 3 < starts.n ? starts.items[i + 3] : tags.n;
        if (at == NONE)
            continue;
        f->nodes[at].tags = (const char *const *)tags.items + from;
        f->nodes[at].n_tags = to - from;
    }
}

/* Links forks to their parents and walks down from the roots. */
static void order_make(arena *a, forest *f)
{
    size_t *stack = arena_array(a, f->n + 1, sizeof *stack), depth = 0;
    f->order = arena_array(a, f->n + 1, sizeof *f->order);
    for (size_t i = f->n; i-- > 0;) {
        node *d = &f->nodes[i];
        d->parent = node_at(f, d->s.parent);
        if (d->parent == NONE) {
            stack[depth++] = i; /* reversed, so the oldest root comes first */
            continue;
        }
        d->next = f->nodes[d->parent].child;
        f->nodes[d->parent].child = i;
    }
    while (depth) {
        size_t i = stack[--depth], from = depth;
        f->order[f->n_order++] = i;
        for (size_t k = f->nodes[i].child; k != NONE; k = f->nodes[k].next)
            stack[depth++] = k;
        for (size_t lo = from, hi = depth; lo + 1 < hi; lo++, hi--) {
            size_t t = stack[lo];
            stack[lo] = stack[hi - 1];
            stack[hi - 1] = t;
        }
    }
    for (size_t k = f->n_order; k-- > 0;) {
        node *d = &f->nodes[f->order[k]];
        d->wanted |= d->seen && !d->gone;
        if (d->wanted && d->parent != NONE)
            f->nodes[d->parent].wanted = true;
    }
}

static bool node_named(const node *d)
{
    return d->seen && d->s.id && !d->s.purging;
}

/* The ids from the root; what has no name for the caller is left out. */
static void path_make(arena *a, const forest *f, node *d)
{
    const node *up = d->parent != NONE ? &f->nodes[d->parent] : NULL;
    size_t n = up ? up->n_path : 0, skip;
    if (!node_named(d)) {
        d->path = up ? up->path : NULL;
        d->n_path = n;
        return;
    }
    skip = n == PATH_MAX_IDS;
    d->n_path = n - skip + 1;
    d->path = arena_array(a, d->n_path, sizeof *d->path);
    for (size_t i = 0; i + 1 < d->n_path; i++)
        d->path[i] = up->path[i + skip];
    d->path[d->n_path - 1] = d->s.id;
}

static const char *named_id(const forest *f, size_t at)
{
    return at != NONE && node_named(&f->nodes[at]) ? f->nodes[at].s.id : NULL;
}

/* Without a query of its own. */
static void node_fill(cx *x, const forest *f, const node *d, ramet_session *out)
{
    const session_row *s = &d->s;
    *out = (ramet_session){
        .id = s->id,
        .tree_id = f->tree_id,
        .title = s->title,
        .shown_title = s->title,
        .owner = s->owner,
        .visibility = (ramet_visibility)s->visibility,
        .agent = agent_from(x->a, s->agent, s->agent_config),
        .tags = d->tags,
        .n_tags = d->n_tags,
        .head = d->head,
        .adk = d->adk,
        .is_fork = s->parent != 0,
        .fork_entry_id = s->fork_entry,
        .fork_side = (ramet_side)s->fork_side,
        .type = (ramet_fork_type)s->type,
        .reason = s->reason,
        .by_kind = (ramet_actor)s->by_kind,
        .by_id = s->by_id,
        .merged_into = named_id(f, node_at(f, s->merged_into)),
        .metadata = s->metadata ? s->metadata : "{}",
        .archived = s->archived,
        .expires = s->expires,
        .created = s->created,
        .updated = d->touched > s->updated ? d->touched : s->updated,
        .depth = s->depth,
    };
}

static ramet_status tree(cx *x, const char *session, bool light, ramet_session **out, size_t *n)
{
    session_row s;
    forest f = {0};
    TRY(session_open(x, session, NEED_READ, &s));
    nodes_load(x, s.tree, level_in(x, s.tree), &f);
    if (light)
        tags_load(x, s.tree, &f);
    db_stmt *q = db_query(x->d, Q_tree_id);
    q_int(q, 1, s.tree);
    f.tree_id = q_row(q) ? q_keep_text(q, 0, x->a) : NULL;
    q_end(q);
    TRY(cx_status(x));
    order_make(x->a, &f);
    ramet_session *list = arena_array(x->a, f.n_order, sizeof *list);
    size_t k = 0;
    for (size_t i = 0; i < f.n_order; i++) {
        node *d = &f.nodes[f.order[i]];
        path_make(x->a, &f, d);
        if (!d->seen || !d->wanted)
            continue;
        ramet_session *to = &list[k++];
        if (d->gone)
            holder_fill(&d->s, to);
        else if (light)
            node_fill(x, &f, d, to);
        else
            session_fill(x, &d->s, to);
        to->parent_id = named_id(&f, d->parent);
        to->path = d->path;
        to->n_path = d->n_path;
    }
    *out = list;
    *n = k;
    return cx_status(x);
}

ramet_status ramet_tree(ramet_call *c, const char *session, bool light, ramet_session **out, size_t *n)
{
    cx x;
    *out = NULL;
    *n = 0;
    if (!cx_read(&x, c))
        return c->err.status;
    return cx_done(&x, tree(&x, session, light, out, n));
}
