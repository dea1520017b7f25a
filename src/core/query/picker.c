/* SPDX-License-Identifier: Apache-2.0
 *
 * Every version of every message of a session that has more than one, as a branch picker shows
 * them.
 *
 * Branches of a session that begin at one position (the same parent and base) form a group: the
 * entries there are versions of one message (core/view/version.c). A message is identified by the
 * id of its oldest version. An id may be on several branches that diverge earlier, so that two
 * groups can have the same id: then they are numbered together. The view message_branches
 * (store/sql/schema.c) does the same for all sessions.
 */
#include "ramet/agentpod.h"
#include "core/call.h"
#include "core/model/branch.h"
#include "core/model/path.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/view/version.h"
#include "core/txn.h"

#include <stdlib.h>

typedef struct group {
    branch_meta meta; /* one of its branches */
    int64_t pos;
    version_row *rows;
    size_t n, first; /* `first`: index of its first version among all */
    const char *message;
} group;

typedef VEC(group) group_list;

static const char *entry_name(txn *tx, int64_t tree, int64_t k)
{
    db_stmt *q = db_query(tx->db, Q_entry_name);
    q_int(q, 1, tree);
    q_int(q, 2, k);
    const char *id = q_row(q) ? q_keep_text(q, 0, tx->arena) : NULL;
    q_end(q);
    return id ? id : "";
}

static int by_start(const void *a, const void *b)
{
    const branch_row *p = *(const branch_row *const *)a, *q = *(const branch_row *const *)b;
    if (p->meta.base != q->meta.base)
        return p->meta.base < q->meta.base ? -1 : 1;
    return p->meta.parent < q->meta.parent ? -1 : p->meta.parent > q->meta.parent;
}

/* Finds the groups with more than one version, those earlier on the path first. */
static void groups_find(txn *tx, const session_full *s, const branch_row *list, size_t n,
                        group_list *out)
{
    const branch_row **at = arena_array(tx->arena, n + 1, sizeof *at);
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (list[i].meta.log == RAMET_LOG_MAIN)
            at[k++] = &list[i];
    if (k)
        qsort(at, k, sizeof *at, by_start);
    for (size_t i = 0; i < k && db_status(tx->db) == RAMET_OK; i++) {
        if (i && by_start(&at[i - 1], &at[i]) == 0)
            continue;
        group g = {.meta = at[i]->meta, .pos = at[i]->meta.base};
        versions_at(tx, &s->access, &g.meta, g.pos, &g.rows, &g.n);
        if (g.n < 2)
            continue;
        g.message = entry_name(tx, s->tree, g.rows[0].key);
        VEC_PUSH(tx->arena, out, g);
    }
}

/* The version earlier on the path that all versions of a group follow. */
static int within_find(txn *tx, const group_list *v, size_t i)
{
    const group *g = &v->items[i];
    for (size_t k = i; k-- > 0;) {
        const group *up = &v->items[k];
        branch_meta o;
        if (up->pos >= g->pos || !path_owner(tx, &g->meta, up->pos, &o))
            continue;
        for (size_t j = 0; j < up->n; j++)
            if (up->rows[j].owner == o.id)
                return (int)(up->first + j);
    }
    return -1;
}

typedef struct numbering {
    ramet_pick *pick;
    int64_t key;
} numbering;

static int by_message(const void *a, const void *b)
{
    const numbering *p = a, *q = b;
    int way = strcmp(p->pick->message_id, q->pick->message_id);
    if (way)
        return way;
    if (p->pick->created != q->pick->created)
        return p->pick->created < q->pick->created ? -1 : 1;
    return p->key < q->key ? -1 : p->key > q->key;
}

static void picks_number(numbering *v, size_t n)
{
    if (n)
        qsort(v, n, sizeof *v, by_message);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && strcmp(v[end].pick->message_id, v[i].pick->message_id) == 0; end++)
            v[end].pick->number = (int)(end - i) + 1;
        for (size_t k = i; k < end; k++)
            v[k].pick->count = (int)(end - i);
    }
}

static ramet_status picks_fill(txn *tx, const session_full *s, const branch_row *mine,
                               size_t n_mine, group_list *v, ramet_pick *out, numbering *numbers,
                               int *now)
{
    branch_row head;
    note_list notes;
    size_t at = 0;
    TRY(branch_open(tx, &s->brief, RAMET_LOG_MAIN, 0, &head));
    notes_of(tx, s->tree, s->no, &notes);
    for (size_t i = 0; i < v->n; i++) {
        group *g = &v->items[i];
        branch_meta current = {0};
        g->first = at;
        int within = within_find(tx, v, i);
        if (head.len > g->pos && !path_owner(tx, &head.meta, g->pos, &current))
            return txn_status(tx);
        for (size_t k = 0; k < g->n; k++, at++) {
            branch_meta m;
            if (!branch_meta_load(tx, s->tree, g->rows[k].owner, &m))
                return txn_status(tx);
            const branch_row *held =
                branch_holding(tx, mine, n_mine, &notes, RAMET_LOG_MAIN, m.id, g->pos);
            out[at] = (ramet_pick){.message_id = g->message,
                                   .entry_id = entry_name(tx, s->tree, g->rows[k].key),
                                   .position = g->pos,
                                   .branch = held ? held->meta.id : 0,
                                   .type = (ramet_fork_type)m.type,
                                   .current = current.id == m.id,
                                   .within = within,
                                   .created = g->rows[k].created};
            numbers[at] = (numbering){&out[at], g->rows[k].key};
            if (out[at].current)
                *now = (int)at;
        }
    }
    return txn_status(tx);
}

static ramet_status picks_run(txn *tx, const char *session, ramet_pick **out, size_t *n, int *now)
{
    session_full s;
    branch_row *mine;
    size_t n_mine, all = 0;
    group_list v = {0};
    TRY(session_open(tx, session, NEED_READ, &s));
    branches_of(tx, &s.access, &mine, &n_mine);
    groups_find(tx, &s, mine, n_mine, &v);
    TRY(txn_status(tx));
    for (size_t i = 0; i < v.n; i++)
        all += v.items[i].n;
    *out = arena_array(tx->arena, all + 1, sizeof **out);
    numbering *numbers = arena_array(tx->arena, all + 1, sizeof *numbers);
    TRY(picks_fill(tx, &s, mine, n_mine, &v, *out, numbers, now));
    picks_number(numbers, all);
    *n = all;
    return RAMET_OK;
}

ramet_status ramet_picks(ramet_call *c, const char *session, ramet_pick **out, size_t *n, int *now)
{
    txn tx;
    *out = NULL;
    *n = 0;
    *now = -1;
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_status st = txn_done(&tx, picks_run(&tx, session, out, n, now));
    if (st != RAMET_OK)
        *n = 0;
    return st;
}
