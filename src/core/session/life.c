/* SPDX-License-Identifier: Apache-2.0
 *
 * Deleting and restoring sessions (I7). A deleted session is only marked: its forks stay where they
 * are, and entries that they share with it live on. gc removes it after the grace time.
 */
#include "core/session/life.h"

#include "core/access/hold.h"
#include "core/access/member.h"
#include "core/call.h"
#include "core/check.h"
#include "core/event.h"
#include "core/session/rights.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/session/session_show.h"
#include "core/txn.h"
#include "core/upkeep/gc.h"

#include <stdlib.h>

typedef struct delete_job {
    const char *id;
    bool tree, dry_run;
    ramet_delete_out *out;
} delete_job;

typedef VEC(session_full) row_list;

static void sessions_of_tree(txn *tx, int64_t tree, row_list *out)
{
    db_stmt *q = db_query(tx->db, Q_session_of_tree);
    q_int(q, 1, tree);
    while (q_row(q)) {
        session_full s;
        session_from(q, tx->arena, &s);
        VEC_PUSH(tx->arena, out, s);
    }
}

static int by_depth(const void *a, const void *b)
{
    const session_full *x = a, *y = b;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    return x->no < y->no ? -1 : x->no > y->no;
}

/* The list is sorted. */
static bool in_list(const int64_t *list, size_t n, int64_t v)
{
    return bsearch(&v, list, n, sizeof v, number_order) != NULL;
}

/* The session and its descendants that are not gone and not private to another user. */
static ramet_status delete_set(txn *tx, const session_full *s, bool tree, row_list *out)
{
    VEC_PUSH(tx->arena, out, *s);
    if (!tree)
        return RAMET_OK;
    row_list all = {0};
    VEC(int64_t) below = {0};
    sessions_of_tree(tx, s->tree, &all);
    /* Sorted by depth, a fork comes after its parent, whatever the clock did and whichever node
     * assigned the number. */
    if (all.n)
        qsort(all.items, all.n, sizeof *all.items, by_depth);
    VEC_PUSH(tx->arena, &below, s->no);
    size_t sorted = 1;
    bool manager = level_in(tx, s->tree) >= RAMET_MANAGER;
    for (size_t i = 0; i < all.n; i++) {
        const session_full *d = &all.items[i];
        if (i && d->depth != d[-1].depth && sorted < below.n) {
            qsort(below.items, below.n, sizeof *below.items, number_order);
            sorted = below.n;
        }
        if (d->no == s->no || !d->parent || !in_list(below.items, sorted, d->parent))
            continue;
        VEC_PUSH(tx->arena, &below, d->no);
        /* Sessions that the caller cannot see are neither deleted nor named. */
        if (session_gone(tx, &d->access) || !session_visible(tx, &d->access))
            continue;
        if (!manager && strcmp(d->owner, tx->call->user) != 0)
            return call_fail(tx->call, RAMET_FORBIDDEN, "tree",
                             "session %s below it belongs to %s; this needs a manager of the tree",
                             d->id, d->owner);
        VEC_PUSH(tx->arena, out, *d);
    }
    return txn_status(tx);
}

static void set_deleted(txn *tx, const session_full *s, int64_t deleted, int64_t op,
                        int64_t expires)
{
    db_stmt *q = db_query(tx->db, Q_session_deleted);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    q_int(q, 3, deleted);
    q_int(q, 4, op);
    q_int(q, 5, expires);
    /* Not before the branches of the session: see branch_create(). */
    q_int(q, 6, tx->now > s->updated ? tx->now : s->updated);
    q_run(q);
    event_add(tx, s->tree, s->no, deleted ? RAMET_EVENT_DELETED : RAMET_EVENT_RESTORED, s->head, 0);
}

void session_remove(txn *tx, const session_full *s, int64_t op)
{
    set_deleted(tx, s, tx->now, op, s->expires);
    access_changed(tx, s->tree);
}

static ramet_status delete_run(txn *tx, void *arg)
{
    delete_job *j = arg;
    session_full s;
    row_list go = {0};
    tree_holds holds;
    TRY(session_open(tx, j->id, NEED_MANAGE, &s));
    TRY(delete_set(tx, &s, j->tree, &go));
    holds_load(tx, tx->arena, s.tree, &holds);
    for (size_t i = 0; i < go.n; i++)
        if (holds_have(&holds, go.items[i].no))
            return hold_check(tx, s.tree, go.items[i].no);
    const char **ids = arena_array(tx->arena, go.n, sizeof *ids);
    int64_t *nos = arena_array(tx->arena, go.n, sizeof *nos);
    for (size_t i = 0; i < go.n; i++) {
        ids[i] = go.items[i].id;
        nos[i] = go.items[i].no;
    }
    ANSWER(tx, j->out);
    *j->out = (ramet_delete_out){.ids = ids,
                                 .n = go.n,
                                 .entries = gc_would_take(tx, s.tree, nos, go.n),
                                 .dry_run = j->dry_run};
    TRY(txn_status(tx));
    if (j->dry_run)
        return RAMET_OK;
    int64_t op = db_number(tx->db, DB_DELETION, NULL);
    for (size_t i = 0; i < go.n; i++)
        session_remove(tx, &go.items[i], op);
    return txn_status(tx);
}

ramet_status ramet_session_delete(ramet_call *c, const char *id, bool tree, bool dry_run,
                                  ramet_delete_out *out)
{
    delete_job j = {id, tree, dry_run, out};
    *out = (ramet_delete_out){0};
    if (!dry_run)
        return txn_revoke(c, delete_run, &j);
    txn tx;
    if (!txn_read(&tx, c))
        return c->err.status;
    return txn_done(&tx, delete_run(&tx, &j));
}

/* ------------------------------------------------------------------ restore */

typedef struct restore_job {
    const char *id;
    bool tree;
    ramet_session **out;
} restore_job;

/* Its owner, or a manager of the tree; for a private session only its owner. */
static bool may_restore(const txn *tx, ramet_level level, const session_access *s)
{
    return !tx->call->user || strcmp(s->owner, tx->call->user) == 0 ||
           (s->visibility != RAMET_PRIVATE && level >= RAMET_MANAGER);
}

bool session_restorable(const txn *tx, ramet_level level, const session_access *s)
{
    return !s->purging && session_gone(tx, s) && session_seen(tx, level, s) &&
           may_restore(tx, level, s);
}

static ramet_status restore_access(txn *tx, const char *id, session_full *s)
{
    TRY(check_id(tx->call, "session", id));
    if (!session_load(tx, id, s) || s->purging) {
        TRY(txn_status(tx));
        return call_fail(tx->call, RAMET_SESSION_NOT_FOUND, "session",
                         "there is no session %s to restore", id);
    }
    if (!session_visible(tx, &s->access))
        return call_fail(tx->call, RAMET_HIDDEN, "session", "there is no session %s to restore",
                         id);
    if (!may_restore(tx, level_in(tx, s->tree), &s->access))
        return call_fail(tx->call, RAMET_FORBIDDEN, "session",
                         "restoring needs the session's owner or a manager of the tree");
    return RAMET_OK;
}

static void bring_back(txn *tx, const session_full *s)
{
    bool expired = s->expires && s->expires <= tx->now;
    set_deleted(tx, s, 0, 0, expired ? 0 : s->expires);
}

static ramet_status restore_run(txn *tx, void *arg)
{
    restore_job *j = arg;
    session_full s, fresh;
    TRY(restore_access(tx, j->id, &s));
    if (session_gone(tx, &s.access))
        bring_back(tx, &s);
    access_changed(tx, s.tree);
    if (j->tree && s.delete_op) {
        row_list all = {0};
        ramet_level level = level_in(tx, s.tree);
        sessions_of_tree(tx, s.tree, &all);
        for (size_t i = 0; i < all.n; i++) {
            const session_full *o = &all.items[i];
            if (o->no != s.no && o->delete_op == s.delete_op && !o->purging &&
                may_restore(tx, level, &o->access))
                bring_back(tx, o);
        }
    }
    if (!session_by_no(tx, s.tree, s.no, &fresh))
        return txn_status(tx);
    ANSWER(tx, j->out);
    *j->out = session_show(tx, &fresh);
    return txn_status(tx);
}

ramet_status ramet_session_restore(ramet_call *c, const char *id, bool tree, ramet_session **out)
{
    restore_job j = {.id = id, .tree = tree, .out = out};
    *out = NULL;
    ramet_status st = txn_write(c, restore_run, &j);
    if (st != RAMET_OK)
        *out = NULL;
    return st;
}
