/* SPDX-License-Identifier: Apache-2.0
 *
 * Deleting and bringing back (I7). A deleted session is only marked: its forks stay where they are,
 * and what it shares lives on. gc takes it after the grace time.
 */
#include "core/core.h"

#include <stdlib.h>

typedef struct delete_job {
    const char *id;
    bool tree, dry_run;
    ramet_delete_out *out;
} delete_job;

typedef VEC(session_row) row_list;

static void sessions_of_tree(cx *x, int64_t tree, row_list *out)
{
    db_stmt *q = db_query(x->d, Q_session_of_tree);
    q_int(q, 1, tree);
    while (q_row(q)) {
        session_row s;
        session_from(q, x->a, &s);
        VEC_PUSH(x->a, out, s);
    }
}

static int by_depth(const void *a, const void *b)
{
    const session_row *x = a, *y = b;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    return x->no < y->no ? -1 : x->no > y->no;
}

static int number_order(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* The list is sorted. */
static bool in_list(const int64_t *list, size_t n, int64_t v)
{
    return bsearch(&v, list, n, sizeof v, number_order) != NULL;
}

/* The session and all that descends from it, as far as it lives and is not somebody else's own. */
static ramet_status delete_set(cx *x, const session_row *s, bool tree, row_list *out)
{
    VEC_PUSH(x->a, out, *s);
    if (!tree)
        return RAMET_OK;
    row_list all = {0};
    VEC(int64_t) below = {0};
    sessions_of_tree(x, s->tree, &all);
    /* By depth a fork comes after its parent, whatever the clock did and whichever node gave the
     * number. */
    if (all.n)
        qsort(all.items, all.n, sizeof *all.items, by_depth);
    VEC_PUSH(x->a, &below, s->no);
    size_t sorted = 1;
    bool manager = level_in(x, s->tree) >= RAMET_MANAGER;
    for (size_t i = 0; i < all.n; i++) {
        const session_row *d = &all.items[i];
        if (i && d->depth != d[-1].depth && sorted < below.n) {
            qsort(below.items, below.n, sizeof *below.items, number_order);
            sorted = below.n;
        }
        if (d->no == s->no || !d->parent || !in_list(below.items, sorted, d->parent))
            continue;
        VEC_PUSH(x->a, &below, d->no);
        /* What the caller cannot see is neither taken nor named. */
        if (session_gone(x, d) || !session_visible(x, d))
            continue;
        if (!manager && strcmp(d->owner, x->c->user) != 0)
            return call_fail(x->c, RAMET_FORBIDDEN, "tree",
                             "session %s below it belongs to %s; this needs a manager of the tree",
                             d->id, d->owner);
        VEC_PUSH(x->a, out, *d);
    }
    return cx_status(x);
}

static void set_deleted(cx *x, const session_row *s, int64_t deleted, int64_t op, int64_t expires)
{
    db_stmt *q = db_query(x->d, Q_session_deleted);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    q_int(q, 3, deleted);
    q_int(q, 4, op);
    q_int(q, 5, expires);
    /* Not before the branches that it has: see branch_create(). */
    q_int(q, 6, x->now > s->updated ? x->now : s->updated);
    q_run(q);
    event_add(x, s->tree, s->no, deleted ? RAMET_EVENT_DELETED : RAMET_EVENT_RESTORED, s->head, 0);
}

static ramet_status delete_run(cx *x, void *arg)
{
    delete_job *j = arg;
    session_row s;
    row_list go = {0};
    TRY(session_open(x, j->id, NEED_MANAGE, &s));
    TRY(delete_set(x, &s, j->tree, &go));
    const char **ids = arena_array(x->a, go.n, sizeof *ids);
    int64_t *nos = arena_array(x->a, go.n, sizeof *nos);
    for (size_t i = 0; i < go.n; i++) {
        ids[i] = go.items[i].id;
        nos[i] = go.items[i].no;
    }
    ANSWER(x, j->out);
    *j->out = (ramet_delete_out){.ids = ids,
                                 .n = go.n,
                                 .entries = gc_would_take(x, s.tree, nos, go.n),
                                 .dry_run = j->dry_run};
    TRY(cx_status(x));
    if (j->dry_run)
        return RAMET_OK;
    int64_t op = db_number(x->d, DB_DELETION, NULL);
    for (size_t i = 0; i < go.n; i++)
        set_deleted(x, &go.items[i], x->now, op, go.items[i].expires);
    access_changed(x, s.tree);
    return cx_status(x);
}

ramet_status ramet_session_delete(ramet_call *c, const char *id, bool tree, bool dry_run,
                                  ramet_delete_out *out)
{
    delete_job j = {id, tree, dry_run, out};
    *out = (ramet_delete_out){0};
    if (!dry_run)
        return cx_revoke(c, delete_run, &j);
    cx x;
    if (!cx_read(&x, c))
        return c->err.status;
    return cx_done(&x, delete_run(&x, &j));
}

/* ------------------------------------------------------------------ restore */

typedef struct restore_job {
    const char *id;
    bool tree;
    ramet_session **out;
} restore_job;

/* Its owner, or a manager of the tree; a private one only its owner. */
static bool may_restore(cx *x, const session_row *s)
{
    return !x->c->user || strcmp(s->owner, x->c->user) == 0 ||
           (s->visibility != RAMET_PRIVATE && level_in(x, s->tree) >= RAMET_MANAGER);
}

static ramet_status restore_access(cx *x, const char *id, session_row *s)
{
    TRY(check_id(x->c, "session", id));
    if (!session_load(x, id, s) || s->purging) {
        TRY(cx_status(x));
        return call_fail(x->c, RAMET_SESSION_NOT_FOUND, "session",
                         "there is no session %s to restore", id);
    }
    if (!session_visible(x, s))
        return call_fail(x->c, RAMET_HIDDEN, "session", "there is no session %s to restore", id);
    if (!may_restore(x, s))
        return call_fail(x->c, RAMET_FORBIDDEN, "session",
                         "restoring needs the session's owner or a manager of the tree");
    return RAMET_OK;
}

static void bring_back(cx *x, const session_row *s)
{
    bool expired = s->expires && s->expires <= x->now;
    set_deleted(x, s, 0, 0, expired ? 0 : s->expires);
}

static ramet_status restore_run(cx *x, void *arg)
{
    restore_job *j = arg;
    session_row s, fresh;
    TRY(restore_access(x, j->id, &s));
    if (session_gone(x, &s))
        bring_back(x, &s);
    access_changed(x, s.tree);
    if (j->tree && s.delete_op) {
        row_list all = {0};
        sessions_of_tree(x, s.tree, &all);
        for (size_t i = 0; i < all.n; i++) {
            const session_row *o = &all.items[i];
            if (o->no != s.no && o->delete_op == s.delete_op && !o->purging && may_restore(x, o))
                bring_back(x, o);
        }
    }
    if (!session_by_no(x, s.tree, s.no, &fresh))
        return cx_status(x);
    ANSWER(x, j->out);
    *j->out = session_show(x, &fresh);
    return cx_status(x);
}

ramet_status ramet_session_restore(ramet_call *c, const char *id, bool tree, ramet_session **out)
{
    restore_job j = {.id = id, .tree = tree, .out = out};
    *out = NULL;
    ramet_status st = cx_write(c, restore_run, &j);
    if (st != RAMET_OK)
        *out = NULL;
    return st;
}
