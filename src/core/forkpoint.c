/* SPDX-License-Identifier: Apache-2.0
 *
 * Fork points: where forks and other branches leave a session's present path.
 *
 * A branch that leaves the path has as its parent the branch that owns the last entry kept
 * (B1), so each segment of the path knows those that leave it.
 */
#include "core/core.h"

typedef struct leaving {
    int64_t branch, session, base, len;
} leaving;

typedef struct point_list {
    const session_row *s;
    const branch_row *head;
    ramet_level level;
    VEC(ramet_fork_point) v;
} point_list;

static void leaving_load(cx *x, db_stmt *q, leaving **out, size_t *n)
{
    VEC(leaving) v = {0};
    while (q_row(q)) {
        leaving l = {q_col_int(q, 0), q_col_int(q, 1), q_col_int(q, 2), q_col_int(q, 3)};
        VEC_PUSH(x->a, &v, l);
    }
    *out = v.items;
    *n = v.n;
}

/* The fork whose first branch this is, when the caller may see it. */
static const char *fork_id(cx *x, const point_list *p, const leaving *l)
{
    session_row s;
    if (!session_by_no(x, p->s->tree, l->session, &s) || session_gone(x, &s) || !s.parent ||
        s.first != l->branch || !session_seen(x, p->level, &s))
        return NULL;
    return s.id;
}

/* `next` is the branch that the path itself goes on with. */
static void points_add(cx *x, point_list *p, const leaving *list, size_t n, int64_t next)
{
    for (size_t i = 0; i < n; i++) {
        const leaving *l = &list[i];
        bool own = l->session == p->s->no;
        if (l->branch == next || l->branch == p->head->m.id || (own && l->len == l->base))
            continue;
        const char *fork = own ? NULL : fork_id(x, p, l);
        if (!own && !fork)
            continue;
        ramet_fork_point at = {.position = l->base, .session = fork, .branch = l->branch};
        const ramet_fork_point *last = p->v.n ? &p->v.items[p->v.n - 1] : NULL;
        if (last && last->position == at.position)
            at.entry_id = last->entry_id;
        else if (at.position)
            at.entry_id = path_entry_id(x, p->head, at.position - 1);
        VEC_PUSH(x->a, &p->v, at);
    }
}

/* A branch of this session that the path follows up to `at` and then leaves behind. */
static void point_left(cx *x, point_list *p, const branch_meta *m, int64_t at)
{
    branch_row b;
    if (m->session != p->s->no || m->id == p->head->m.id || !branch_load(x, m->tree, m->id, &b) ||
        b.len <= at)
        return;
    ramet_fork_point left = {
        .position = at, .entry_id = path_entry_id(x, p->head, at - 1), .branch = m->id};
    VEC_PUSH(x->a, &p->v, left);
}

static ramet_status points(cx *x, const char *session, ramet_fork_point **out, size_t *n)
{
    session_row s;
    branch_row head;
    segment *segs;
    leaving *list;
    size_t n_segs, n_list;
    TRY(session_open(x, session, NEED_READ, &s));
    TRY(branch_open(x, &s, RAMET_LOG_MAIN, 0, &head));
    if (!path_segments(x, &head.m, 0, head.len, &segs, &n_segs))
        return cx_status(x);
    point_list p = {.s = &s, .head = &head, .level = level_in(x, s.tree)};
    db_stmt *q = db_query(x->d, Q_branch_off_root);
    q_int(q, 1, s.tree);
    leaving_load(x, q, &list, &n_list);
    points_add(x, &p, list, n_list, n_segs ? segs[0].m.id : 0);
    for (size_t i = 0; i < n_segs; i++) {
        q = db_query(x->d, Q_branch_off);
        q_int(q, 1, s.tree);
        q_int(q, 2, segs[i].m.id);
        q_int(q, 3, segs[i].lo);
        q_int(q, 4, segs[i].hi);
        leaving_load(x, q, &list, &n_list);
        points_add(x, &p, list, n_list, i + 1 < n_segs ? segs[i + 1].m.id : 0);
        point_left(x, &p, &segs[i].m, segs[i].hi);
    }
    *out = p.v.items;
    *n = p.v.n;
    return cx_status(x);
}

ramet_status ramet_fork_points(ramet_call *c, const char *session, ramet_fork_point **out,
                               size_t *n)
{
    cx x;
    *out = NULL;
    *n = 0;
    if (!cx_read(&x, c))
        return c->err.status;
    return cx_done(&x, points(&x, session, out, n));
}
