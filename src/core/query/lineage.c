/* SPDX-License-Identifier: Apache-2.0
 *
 * Lineage: ancestry, children, the whole tree, and where forks leave a history.
 *
 * Which sessions of a tree a caller sees (I7, I10):
 *
 *   L1  A private session of another user is left out, but not its forks: they stay, with an
 *       unnamed parent.
 *   L2  A session that is gone is a placeholder as long as a visible session descends from it.
 *       It keeps its id while it can be restored.
 */
#include "core/access/member.h"
#include "core/call.h"
#include "core/model/branch.h"
#include "core/model/branch_note.h"
#include "core/view/version.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/session/session_show.h"
#include "core/txn.h"

#include <stdlib.h>

#define PATH_MAX_IDS 64

/* L2: only its position in the tree. */
static void holder_fill(const session_full *s, ramet_session *out)
{
    *out = (ramet_session){.id = s->id && !s->purging ? s->id : "",
                           .tree_id = "",
                           .title = "",
                           .shown_title = "",
                           .owner = "",
                           .reason = "",
                           .from_title = "",
                           .metadata = "{}",
                           .is_fork = s->parent != 0,
                           .deleted = true,
                           .depth = s->depth};
}

/* ---------------------------------------------------------- ancestry, children */

static ramet_status ancestry(txn *tx, const char *session, ramet_session **out, size_t *n)
{
    VEC(session_full) up = {0};
    session_full s;
    TRY(session_open(tx, session, NEED_TREE, &s));
    ramet_level level = level_in(tx, s.tree);
    VEC_PUSH(tx->arena, &up, s);
    while (s.parent) {
        int64_t depth = s.depth;
        if (!session_by_no(tx, s.tree, s.parent, &s) || s.depth >= depth) {
            db_fail(tx->db, RAMET_DAMAGED, "the ancestry of session %s is damaged", session);
            return txn_status(tx);
        }
        VEC_PUSH(tx->arena, &up, s);
    }
    ramet_session *list = arena_array(tx->arena, up.n, sizeof *list);
    size_t k = 0;
    for (size_t i = up.n; i-- > 0;) {
        const session_full *row = &up.items[i];
        if (!session_seen(tx, level, &row->access))
            continue;
        if (session_gone(tx, &row->access))
            holder_fill(row, &list[k++]);
        else
            session_fill(tx, row, &list[k++]);
    }
    *out = list;
    *n = k;
    return txn_status(tx);
}

ramet_status ramet_ancestry(ramet_call *c, const char *session, ramet_session **out, size_t *n)
{
    txn tx;
    *out = NULL;
    *n = 0;
    if (!txn_read(&tx, c))
        return c->err.status;
    return txn_done(&tx, ancestry(&tx, session, out, n));
}

static ramet_status children(txn *tx, const char *session, ramet_session **out, size_t *n)
{
    VEC(session_full) rows = {0};
    session_full s;
    TRY(session_open(tx, session, NEED_TREE, &s));
    ramet_level level = level_in(tx, s.tree);
    db_stmt *q = db_query(tx->db, Q_session_children);
    q_int(q, 1, s.tree);
    q_int(q, 2, s.no);
    while (q_row(q)) {
        session_full row;
        session_from(q, tx->arena, &row);
        if (!session_gone(tx, &row.access) && session_seen(tx, level, &row.access))
            VEC_PUSH(tx->arena, &rows, row);
    }
    *out = arena_array(tx->arena, rows.n, sizeof **out);
    *n = rows.n;
    session_fill_all(tx, rows.items, rows.n, *out);
    return txn_status(tx);
}

ramet_status ramet_children(ramet_call *c, const char *session, ramet_session **out, size_t *n)
{
    txn tx;
    *out = NULL;
    *n = 0;
    if (!txn_read(&tx, c))
        return c->err.status;
    return txn_done(&tx, children(&tx, session, out, n));
}

/* ------------------------------------------------------------------------ tree */

typedef struct node_head {
    int64_t len;
    uint8_t tip[HASH_LEN];
} node_head;

typedef struct node {
    session_full session;
    node_head head, adk;
    int64_t touched, base;
    struct node *parent, *child, *next; /* next: sibling */
    bool seen, gone, wanted;            /* wanted: it or a descendant is shown */
    const char *const *tags;
    size_t n_tags;
    const char **path;
    size_t n_path;
} node;

typedef struct forest {
    const char *tree_id;
    node **oldest; /* all, oldest first */
    node **by_no;  /* all, by number */
    node **order;  /* parents before their forks, forks of one parent oldest first */
    size_t n, n_order;
} forest;

static int age_order(const void *a, const void *b)
{
    const session_full *tx = &(*(node *const *)a)->session, *y = &(*(node *const *)b)->session;
    if (tx->created != y->created)
        return tx->created < y->created ? -1 : 1;
    return tx->no < y->no ? -1 : tx->no > y->no;
}

static int no_order(const void *a, const void *b)
{
    const session_full *tx = &(*(node *const *)a)->session, *y = &(*(node *const *)b)->session;
    return tx->no < y->no ? -1 : tx->no > y->no;
}

static node *node_at(const forest *f, int64_t no)
{
    node key = {.session = {.no = no}}, *want = &key, **hit = NULL;
    if (no && f->n)
        hit = bsearch(&want, f->by_no, f->n, sizeof want, no_order);
    return hit ? *hit : NULL;
}

static void head_from(db_stmt *q, int len, int tip, node_head *out)
{
    size_t n;
    const void *p = q_col_blob(q, tip, &n);
    out->len = q_col_int(q, len);
    if (p && n == HASH_LEN)
        memcpy(out->tip, p, HASH_LEN);
}

static void head_show(const node_head *h, int64_t branch, ramet_head *out)
{
    out->branch = branch;
    out->length = h->len;
    hex_encode(h->tip, HASH_LEN, out->hash);
}

static void nodes_load(txn *tx, int64_t tree, ramet_level level, forest *f)
{
    VEC(node *) v = {0};
    db_stmt *q = db_query(tx->db, Q_session_heads);
    q_int(q, 1, tree);
    while (q_row(q)) {
        node *d = arena_alloc(tx->arena, sizeof *d);
        session_from(q, tx->arena, &d->session);
        head_from(q, SESSION_N_COLS, SESSION_N_COLS + 1, &d->head);
        d->touched = q_col_int(q, SESSION_N_COLS + 2);
        d->base = q_col_int(q, SESSION_N_COLS + 6);
        if (d->session.adk) {
            head_from(q, SESSION_N_COLS + 3, SESSION_N_COLS + 4, &d->adk);
            int64_t adk = q_col_int(q, SESSION_N_COLS + 5);
            d->touched = adk > d->touched ? adk : d->touched;
        }
        d->gone = session_gone(tx, &d->session.access);
        d->seen = session_seen(tx, level, &d->session.access);
        VEC_PUSH(tx->arena, &v, d);
    }
    f->oldest = v.items;
    f->n = v.n;
    f->by_no = arena_array(tx->arena, v.n, sizeof *f->by_no);
    if (!v.n)
        return;
    memcpy(f->by_no, v.items, v.n * sizeof *v.items);
    qsort(f->oldest, v.n, sizeof *f->oldest, age_order);
    qsort(f->by_no, v.n, sizeof *f->by_no, no_order);
}

/* Loads the tags; those of one session are contiguous in one array. */
static void tags_load(txn *tx, int64_t tree, forest *f)
{
    VEC(const char *) tags = {0};
    VEC(node *) of = {0}; /* the session of each tag */
    db_stmt *q = db_query(tx->db, Q_tag_of_tree);
    q_int(q, 1, tree);
    int64_t last = 0;
    while (q_row(q)) {
        int64_t no = q_col_int(q, 0);
        node *d = of.n && no == last ? of.items[of.n - 1] : node_at(f, no);
        VEC_PUSH(tx->arena, &of, d);
        VEC_PUSH(tx->arena, &tags, q_need_text(q, 1, tx->arena, "tag.tag"));
        last = no;
    }
    for (size_t i = 0; i < of.n; i++) {
        node *d = of.items[i];
        if (!d)
            continue;
        if (!d->n_tags++)
            d->tags = (const char *const *)tags.items + i;
    }
}

/* Links forks to their parents and walks down from the roots. */
static void order_make(arena *a, forest *f)
{
    node **stack = arena_array(a, f->n + 1, sizeof *stack);
    size_t depth = 0;
    f->order = arena_array(a, f->n + 1, sizeof *f->order);
    /* From the youngest on, so that the oldest is first in each list and on top of the stack. */
    for (size_t i = f->n; i-- > 0;) {
        node *d = f->oldest[i];
        d->parent = node_at(f, d->session.parent);
        if (!d->parent) {
            stack[depth++] = d;
            continue;
        }
        d->next = d->parent->child;
        d->parent->child = d;
    }
    while (depth) {
        node *d = stack[--depth];
        f->order[f->n_order++] = d;
        /* A fork is followed by its own forks, then by its next sibling. */
        if (d->next)
            stack[depth++] = d->next;
        if (d->child)
            stack[depth++] = d->child;
    }
    for (size_t k = f->n_order; k-- > 0;) {
        node *d = f->order[k];
        d->wanted |= d->seen && !d->gone;
        if (d->wanted && d->parent)
            d->parent->wanted = true;
    }
}

static const char *node_id(const node *d)
{
    return d && d->seen && !d->session.purging ? d->session.id : NULL;
}

/* The ids from the root, without sessions whose id the caller may not know. */
static void path_make(arena *a, node *d)
{
    const char **up = d->parent ? d->parent->path : NULL;
    size_t n = d->parent ? d->parent->n_path : 0, skip = n == PATH_MAX_IDS;
    d->path = up;
    d->n_path = n;
    if (!node_id(d))
        return;
    d->n_path = n - skip + 1;
    d->path = arena_array(a, d->n_path, sizeof *d->path);
    if (n)
        memcpy(d->path, up + skip, (n - skip) * sizeof *up);
    d->path[d->n_path - 1] = d->session.id;
}

/* Fills a session in without a query. */
static void node_fill(txn *tx, const forest *f, const node *d, ramet_session *out)
{
    const session_full *s = &d->session;
    *out = (ramet_session){
        .id = s->id,
        .tree_id = f->tree_id,
        .title = s->title,
        .shown_title = s->title,
        .owner = s->owner,
        .visibility = (ramet_visibility)s->visibility,
        .agent = agent_from(tx->arena, s->agent, s->agent_config),
        .tags = d->tags,
        .n_tags = d->n_tags,
        .is_fork = s->parent != 0,
        .fork_entry_id = s->fork_entry,
        .fork_side = (ramet_side)s->fork_side,
        .type = (ramet_fork_type)s->type,
        .reason = s->reason,
        .by_kind = (ramet_actor)s->by_kind,
        .by_id = s->by_id,
        .from_title = s->from_title,
        .merged_into = node_id(node_at(f, s->merged_into)),
        .metadata = s->metadata ? s->metadata : "{}",
        .archived = s->archived,
        .expires = s->expires,
        .created = s->created,
        .updated = d->touched > s->updated ? d->touched : s->updated,
        .depth = s->depth,
        .number = s->no,
        .base = d->base,
    };
    head_show(&d->head, s->head, &out->head);
    if (s->adk)
        head_show(&d->adk, s->adk, &out->adk);
}

static ramet_status tree(txn *tx, const char *session, bool light, ramet_session **out, size_t *n)
{
    session_full s;
    forest f = {0};
    TRY(session_open(tx, session, NEED_TREE, &s));
    nodes_load(tx, s.tree, level_in(tx, s.tree), &f);
    if (light)
        tags_load(tx, s.tree, &f);
    db_stmt *q = db_query(tx->db, Q_tree_id);
    q_int(q, 1, s.tree);
    f.tree_id = q_row(q) ? q_keep_text(q, 0, tx->arena) : NULL;
    q_end(q);
    TRY(txn_status(tx));
    order_make(tx->arena, &f);
    ramet_session *list = arena_array(tx->arena, f.n_order, sizeof *list);
    size_t k = 0;
    for (size_t i = 0; i < f.n_order; i++) {
        node *d = f.order[i];
        path_make(tx->arena, d);
        if (!d->seen || !d->wanted)
            continue;
        ramet_session *to = &list[k++];
        if (d->gone)
            holder_fill(&d->session, to);
        else if (light)
            node_fill(tx, &f, d, to);
        else
            session_fill(tx, &d->session, to);
        to->parent_id = node_id(d->parent);
        to->path = d->path;
        to->n_path = d->n_path;
    }
    *out = list;
    *n = k;
    return txn_status(tx);
}

ramet_status ramet_tree(ramet_call *c, const char *session, bool light, ramet_session **out,
                        size_t *n)
{
    txn tx;
    *out = NULL;
    *n = 0;
    if (!txn_read(&tx, c))
        return c->err.status;
    return txn_done(&tx, tree(&tx, session, light, out, n));
}

static ramet_status tree_branches(txn *tx, const char *session, int64_t after, int limit,
                                  ramet_branch **out, size_t *n, bool *more)
{
    session_full s;
    forest f = {0};
    VEC(ramet_branch) v = {0};
    note_list notes;
    TRY(session_open(tx, session, NEED_TREE, &s));
    nodes_load(tx, s.tree, level_in(tx, s.tree), &f);
    notes_of_tree(tx, s.tree, &notes);
    db_stmt *q = db_query(tx->db, Q_branch_of_tree);
    q_int(q, 1, s.tree);
    while (q_row(q)) {
        branch_row b;
        branch_from(q, 0, &b);
        const node *d =
            b.meta.id > after && b.meta.log == RAMET_LOG_MAIN ? node_at(&f, b.meta.session) : NULL;
        if (!d || !d->seen || d->gone || notes_pruned(&notes, b.meta.id))
            continue;
        *more = limit > 0 && v.n == (size_t)limit;
        if (*more)
            break;
        ramet_branch shown = {.id = b.meta.id,
                              .parent = b.meta.parent,
                              .base = b.meta.base,
                              .length = b.len,
                              .type = (ramet_fork_type)b.meta.type,
                              .current = b.meta.id == d->session.head,
                              .created = b.created,
                              .preview = "",
                              .name = "",
                              .session = d->session.id};
        const branch_note *note = note_find(&notes, b.meta.id);
        if (note)
            branch_show_note(note, &shown);
        VEC_PUSH(tx->arena, &v, shown);
    }
    q_end(q);
    *out = v.items;
    *n = v.n;
    return txn_status(tx);
}

ramet_status ramet_tree_branches(ramet_call *c, const char *session, int64_t after, int limit,
                                 ramet_branch **out, size_t *n, bool *more)
{
    txn tx;
    *out = NULL;
    *n = 0;
    *more = false;
    if (!txn_read(&tx, c))
        return c->err.status;
    return txn_done(&tx, tree_branches(&tx, session, after, limit, out, n, more));
}
