/* SPDX-License-Identifier: Apache-2.0
 *
 * Sandboxes: their owners, and the sandbox that a tree is in. core/ext/sandbox_list.c lists the
 * sessions of one.
 *
 *   B1  A tree is in at most one sandbox, with all its sessions: so a fork is in its parent's
 *       sandbox without a write.
 *   B2  Only its owner can use a sandbox, whatever trees are in it. Access to those trees is
 *       checked as everywhere (I10).
 */
#include "core/access/sandbox.h"

#include "ramet/sandboxes.h"
#include "core/call.h"
#include "core/check.h"
#include "core/event.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/txn.h"

#include <assert.h>
#include <stdlib.h>

/* The name that the trees of a sandbox carry; NULL for the default sandbox. */
static const char *tree_mark(const char *id)
{
    return id && strcmp(id, RAMET_SANDBOX_DEFAULT) != 0 ? id : NULL;
}

static ramet_sandbox sandbox_from(db_stmt *q, arena *a)
{
    return (ramet_sandbox){.id = q_need_text(q, 0, a, "sandbox.id"),
                           .owner = q_keep_text(q, 1, a),
                           .created = q_col_int(q, 2)};
}

static bool sandbox_load(txn *tx, const char *id, ramet_sandbox *out)
{
    db_stmt *q = db_query(tx->db, Q_sandbox_get);
    q_text(q, 1, id);
    bool found = q_row(q);
    if (found)
        *out = sandbox_from(q, tx->arena);
    q_end(q);
    return found;
}

bool sandbox_is_default(const char *id)
{
    return !tree_mark(id);
}

/* Checks B2 for a user; NULL: the embedding program. */
static ramet_status sandbox_open_for(txn *tx, const char *id, const char *user)
{
    ramet_sandbox box;
    TRY(check_id(tx->call, "sandbox", id));
    if (!tree_mark(id))
        return RAMET_OK;
    bool found = sandbox_load(tx, id, &box);
    TRY(txn_status(tx));
    if (!found || (user && strcmp(box.owner, user) != 0))
        return call_fail(tx->call, RAMET_SANDBOX_NOT_FOUND, "sandbox", "there is no sandbox %s",
                         id);
    return RAMET_OK;
}

ramet_status sandbox_open(txn *tx, const char *id)
{
    return sandbox_open_for(tx, id, tx->call->user);
}

ramet_status sandbox_for_new(txn *tx, const char *id, const char *owner, const char **mark)
{
    *mark = "";
    if (!tree_mark(id))
        return RAMET_OK;
    *mark = id;
    return sandbox_open_for(tx, id, owner);
}

void sandbox_put(txn *tx, int64_t tree, const char *mark)
{
    assert(tx->writing);
    if (!*mark)
        return;
    db_stmt *q = db_query(tx->db, Q_tree_sandbox_set);
    q_int(q, 1, tree);
    q_text(q, 2, mark);
    q_run(q);
}

/* ------------------------------------------------------------- add, list, remove */

typedef struct add_job {
    const char *id, *owner;
    ramet_sandbox **out;
} add_job;

static ramet_status add_run(txn *tx, void *arg)
{
    add_job *j = arg;
    ramet_sandbox have, *made = arena_alloc(tx->arena, sizeof *made);
    bool taken = !tree_mark(j->id) || sandbox_load(tx, j->id, &have);
    TRY(txn_status(tx));
    if (taken)
        return call_fail(tx->call, RAMET_SANDBOX_EXISTS, "id", "the sandbox name %s is taken",
                         j->id);
    *made = (ramet_sandbox){.id = arena_strdup(tx->arena, j->id),
                            .owner = arena_strdup(tx->arena, j->owner),
                            .created = tx->now};
    db_stmt *q = db_query(tx->db, Q_sandbox_add);
    q_text(q, 1, made->id);
    q_text(q, 2, made->owner);
    q_int(q, 3, made->created);
    q_run(q);
    if (j->out) {
        ANSWER(tx, j->out);
        *j->out = made;
    }
    return txn_status(tx);
}

ramet_status ramet_sandbox_add(ramet_call *c, const char *id, ramet_sandbox **out)
{
    add_job j = {.id = id, .owner = c->user ? c->user : "local", .out = out};
    if (out)
        *out = NULL;
    TRY(check_id(c, "id", id));
    return txn_write(c, add_run, &j);
}

ramet_status ramet_sandboxes(ramet_call *c, ramet_sandbox **out, size_t *n)
{
    txn tx;
    VEC(ramet_sandbox) v = {0};
    *out = NULL;
    *n = 0;
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_sandbox own = {.id = RAMET_SANDBOX_DEFAULT,
                         .owner = arena_strdup(tx.arena, c->user ? c->user : "local")};
    VEC_PUSH(tx.arena, &v, own);
    db_stmt *q = db_query(tx.db, c->user ? Q_sandbox_of_owner : Q_sandbox_all);
    if (c->user)
        q_text(q, 1, c->user);
    while (q_row(q))
        VEC_PUSH(tx.arena, &v, sandbox_from(q, tx.arena));
    ramet_status st = txn_done(&tx, RAMET_OK);
    if (st != RAMET_OK)
        return st;
    *out = v.items;
    *n = v.n;
    return RAMET_OK;
}

typedef struct remove_job {
    const char *id;
    int64_t *trees;
} remove_job;

typedef struct tree_root {
    int64_t tree, root;
} tree_root;

static ramet_status remove_run(txn *tx, void *arg)
{
    remove_job *j = arg;
    VEC(tree_root) v = {0};
    TRY(sandbox_open(tx, j->id));
    db_stmt *q = db_query(tx->db, Q_sandbox_trees);
    q_text(q, 1, j->id);
    while (q_row(q)) {
        tree_root t = {q_col_int(q, 0), q_col_int(q, 1)};
        VEC_PUSH(tx->arena, &v, t);
    }
    TRY(txn_status(tx));
    for (size_t i = 0; i < v.n; i++) {
        q = db_query(tx->db, Q_tree_sandbox_set);
        q_int(q, 1, v.items[i].tree);
        q_text(q, 2, "");
        q_run(q);
        /* A copy in progress finds changed trees by their events. */
        event_add(tx, v.items[i].tree, v.items[i].root, RAMET_EVENT_UPDATED, 0, 0);
    }
    q = db_query(tx->db, Q_sandbox_del);
    q_text(q, 1, j->id);
    q_run(q);
    if (j->trees) {
        ANSWER(tx, j->trees);
        *j->trees = (int64_t)v.n;
    }
    return txn_status(tx);
}

ramet_status ramet_sandbox_remove(ramet_call *c, const char *id, int64_t *trees)
{
    remove_job j = {id, trees};
    if (trees)
        *trees = 0;
    TRY(check_id(c, "sandbox", id));
    if (!tree_mark(id))
        return call_fail(c, RAMET_INVALID, "sandbox", "the sandbox default is always there");
    return txn_write(c, remove_run, &j);
}

/* --------------------------------------------------------------- one session */

const char *sandbox_name(txn *tx, int64_t tree)
{
    db_stmt *q = db_query(tx->db, Q_tree_sandbox);
    q_int(q, 1, tree);
    const char *mark = q_row(q) ? q_keep_text(q, 0, tx->arena) : NULL;
    q_end(q);
    return mark && *mark ? mark : RAMET_SANDBOX_DEFAULT;
}

static ramet_status check_run(txn *tx, const char *id, const char *session)
{
    session_full s;
    TRY(sandbox_open(tx, id));
    if (!session)
        return RAMET_OK;
    TRY(session_open(tx, session, NEED_READ, &s));
    if (strcmp(sandbox_name(tx, s.tree), id) != 0)
        return call_fail(tx->call, RAMET_SESSION_NOT_FOUND, "session",
                         "there is no session %s in the sandbox %s", session, id);
    return txn_status(tx);
}

ramet_status ramet_sandbox_check(ramet_call *c, const char *id, const char *session)
{
    txn tx;
    if (!txn_read(&tx, c))
        return c->err.status;
    return txn_done(&tx, check_run(&tx, id, session));
}

ramet_status ramet_sandbox_of(ramet_call *c, const char *session, const char **id)
{
    txn tx;
    session_full s;
    *id = NULL;
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_status st = session_open(&tx, session, NEED_TREE, &s);
    const char *name = st == RAMET_OK ? sandbox_name(&tx, s.tree) : NULL;
    st = txn_done(&tx, st);
    if (st == RAMET_OK)
        *id = name;
    return st;
}
