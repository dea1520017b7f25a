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
#include "base/json.h"
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

/* --------------------------------------------------------------------- links */

enum { MAX_LINK_BYTES = 2000 };

/* The link of a sandbox is a row of `meta`: it is about this installation, and stays when the
 * store is copied. */
static const char *link_key(arena *a, const char *id)
{
    return arena_printf(a, "opencode %s", id);
}

static void link_load(txn *tx, ramet_sandbox *box)
{
    json_doc d;
    db_stmt *q = db_query(tx->db, Q_meta_get);
    q_text(q, 1, link_key(tx->arena, box->id));
    const char *text = q_row(q) ? q_keep_text(q, 0, tx->arena) : NULL;
    q_end(q);
    if (!text || !json_parse(tx->arena, text, strlen(text), 0, &d, NULL))
        return;
    box->opencode = json_text(tx->arena, &d, json_get(&d, d.nodes, "url"));
    if (!tx->call->user)
        box->password_file = json_text(tx->arena, &d, json_get(&d, d.nodes, "password_file"));
}

const char *sandbox_agent(txn *tx, const char *mark)
{
    ramet_sandbox box = {.id = mark};
    if (*mark)
        link_load(tx, &box);
    return box.opencode ? arena_printf(tx->arena, RAMET_SANDBOX_AGENT "%s", mark) : NULL;
}

static void link_store(txn *tx, const ramet_sandbox_in *in)
{
    assert(tx->writing);
    if (!in->opencode)
        return;
    const char *file = in->password_file ? json_quote(tx->arena, in->password_file) : "null";
    db_stmt *q = db_query(tx->db, Q_meta_set);
    q_text(q, 1, link_key(tx->arena, in->id));
    q_text(q, 2,
           arena_printf(tx->arena, "{\"url\":%s,\"password_file\":%s}",
                        json_quote(tx->arena, in->opencode), file));
    q_run(q);
}

static bool text_is_plain(const char *text)
{
    for (const char *s = text; *s; s++)
        if (*s <= ' ' || *s > '~')
            return false;
    return strlen(text) <= MAX_LINK_BYTES;
}

static ramet_status link_check(ramet_call *c, const ramet_sandbox_in *in)
{
    const char *url = in->opencode, *file = in->password_file;
    if (url && (!text_is_plain(url) || strpbrk(url, "?#@") ||
                (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0)))
        return call_fail(
            c, RAMET_INVALID, "opencode",
            "opencode must be http(s)://HOST:PORT, at most %d bytes, without a user, a "
            "query and a fragment",
            MAX_LINK_BYTES);
    if (file && (!url || file[0] != '/' || strlen(file) > MAX_LINK_BYTES))
        return call_fail(
            c, RAMET_INVALID, "password_file",
            "password_file must be an absolute path of at most %d bytes, and goes with "
            "opencode",
            MAX_LINK_BYTES);
    return RAMET_OK;
}

/* ------------------------------------------------------------- add, list, remove */

typedef struct add_job {
    const ramet_sandbox_in *in;
    const char *owner;
    ramet_sandbox **out;
} add_job;

static ramet_status add_run(txn *tx, void *arg)
{
    add_job *j = arg;
    ramet_sandbox have, *made = arena_alloc(tx->arena, sizeof *made);
    const char *id = j->in->id;
    bool taken = !tree_mark(id) || sandbox_load(tx, id, &have);
    TRY(txn_status(tx));
    if (taken)
        return call_fail(tx->call, RAMET_SANDBOX_EXISTS, "id", "the sandbox name %s is taken", id);
    *made = (ramet_sandbox){.id = arena_strdup(tx->arena, id),
                            .owner = arena_strdup(tx->arena, j->owner),
                            .created = tx->now,
                            .opencode = arena_strdup(tx->arena, j->in->opencode)};
    db_stmt *q = db_query(tx->db, Q_sandbox_add);
    q_text(q, 1, made->id);
    q_text(q, 2, made->owner);
    q_int(q, 3, made->created);
    q_run(q);
    link_store(tx, j->in);
    if (j->out) {
        ANSWER(tx, j->out);
        *j->out = made;
    }
    return txn_status(tx);
}

ramet_status ramet_sandbox_add(ramet_call *c, const ramet_sandbox_in *in, ramet_sandbox **out)
{
    add_job j = {.in = in, .owner = c->user ? c->user : "local", .out = out};
    if (out)
        *out = NULL;
    TRY(check_id(c, "id", in->id));
    TRY(link_check(c, in));
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
    for (size_t i = 1; i < v.n; i++)
        link_load(&tx, &v.items[i]);
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
    q = db_query(tx->db, Q_meta_del);
    q_text(q, 1, link_key(tx->arena, j->id));
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
