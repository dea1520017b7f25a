/* SPDX-License-Identifier: Apache-2.0
 *
 * Fork points: where forks and other branches leave a session's present path.
 *
 * The parent of a branch that leaves the path is the branch that owns the last entry kept (B1), so
 * the branches that leave a segment of the path are found by its owner.
 */
#include "core/access/member.h"
#include "core/call.h"
#include "core/model/branch.h"
#include "core/model/branch_note.h"
#include "core/model/path.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/txn.h"

typedef struct leaving {
    int64_t branch, session, base, len;
} leaving;

typedef struct point_list {
    const session_full *session;
    const branch_row *head;
    ramet_level level;
    VEC(ramet_fork_point) v;
    note_list notes; /* of the session */
} point_list;

static void leaving_load(txn *tx, db_stmt *q, leaving **out, size_t *n)
{
    VEC(leaving) v = {0};
    while (q_row(q)) {
        leaving l = {q_col_int(q, 0), q_col_int(q, 1), q_col_int(q, 2), q_col_int(q, 3)};
        VEC_PUSH(tx->arena, &v, l);
    }
    *out = v.items;
    *n = v.n;
}

/* The fork whose first branch this is, when the caller may see it. */
static const char *fork_id(txn *tx, const point_list *p, const leaving *l)
{
    session_full s;
    if (!session_by_no(tx, p->session->tree, l->session, &s) || session_gone(tx, &s.access) ||
        !s.parent || s.first != l->branch || !session_seen(tx, p->level, &s.access))
        return NULL;
    return s.id;
}

/* `next` is the branch that the path itself continues with. */
static void points_add(txn *tx, point_list *p, const leaving *list, size_t n, int64_t next)
{
    for (size_t i = 0; i < n; i++) {
        const leaving *l = &list[i];
        bool own = l->session == p->session->no;
        if (l->branch == next || l->branch == p->head->meta.id ||
            (own && (l->len == l->base || notes_pruned(&p->notes, l->branch))))
            continue;
        const char *fork = own ? NULL : fork_id(tx, p, l);
        if (!own && !fork)
            continue;
        ramet_fork_point at = {.position = l->base, .session = fork, .branch = l->branch};
        const ramet_fork_point *last = p->v.n ? &p->v.items[p->v.n - 1] : NULL;
        if (last && last->position == at.position)
            at.entry_id = last->entry_id;
        else if (at.position)
            at.entry_id = path_entry_id(tx, p->head, at.position - 1);
        VEC_PUSH(tx->arena, &p->v, at);
    }
}

/* A branch of this session that the path follows up to `at` and then leaves. */
static void point_left(txn *tx, point_list *p, const branch_meta *m, int64_t at)
{
    branch_row b;
    if (m->session != p->session->no || m->id == p->head->meta.id ||
        notes_pruned(&p->notes, m->id) || !branch_load(tx, m->tree, m->id, &b) || b.len <= at)
        return;
    ramet_fork_point left = {
        .position = at, .entry_id = path_entry_id(tx, p->head, at - 1), .branch = m->id};
    VEC_PUSH(tx->arena, &p->v, left);
}

static ramet_status points(txn *tx, const char *session, ramet_fork_point **out, size_t *n)
{
    session_full s;
    branch_row head;
    segment *segs;
    leaving *list;
    size_t n_segs, n_list;
    TRY(session_open(tx, session, NEED_READ, &s));
    TRY(branch_open(tx, &s.brief, RAMET_LOG_MAIN, 0, &head));
    if (!path_segments(tx, &head.meta, 0, head.len, &segs, &n_segs))
        return txn_status(tx);
    point_list p = {.session = &s, .head = &head, .level = level_in(tx, s.tree)};
    notes_of(tx, s.tree, s.no, &p.notes);
    db_stmt *q = db_query(tx->db, Q_branch_off_root);
    q_int(q, 1, s.tree);
    leaving_load(tx, q, &list, &n_list);
    points_add(tx, &p, list, n_list, n_segs ? segs[0].meta.id : 0);
    for (size_t i = 0; i < n_segs; i++) {
        q = db_query(tx->db, Q_branch_off);
        q_int(q, 1, s.tree);
        q_int(q, 2, segs[i].meta.id);
        q_int(q, 3, segs[i].lo);
        q_int(q, 4, segs[i].hi);
        leaving_load(tx, q, &list, &n_list);
        points_add(tx, &p, list, n_list, i + 1 < n_segs ? segs[i + 1].meta.id : 0);
        point_left(tx, &p, &segs[i].meta, segs[i].hi);
    }
    *out = p.v.items;
    *n = p.v.n;
    return txn_status(tx);
}

ramet_status ramet_fork_points(ramet_call *c, const char *session, ramet_fork_point **out,
                               size_t *n)
{
    txn tx;
    *out = NULL;
    *n = 0;
    if (!txn_read(&tx, c))
        return c->err.status;
    return txn_done(&tx, points(&tx, session, out, n));
}
