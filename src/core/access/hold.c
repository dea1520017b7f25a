/* SPDX-License-Identifier: Apache-2.0
 *
 * Holds: what no call may remove, for any user.
 *
 *   L1  A hold is a row of its tree: of one session, or of the whole tree (session 0). Two kinds
 *       may stand side by side, that of the tree's owner and that of an administrator.
 *   L2  Every call that removes something for good, or takes the first step to it, checks in the
 *       transaction that writes (hold_check(), hold_check_entry()).
 *   L3  A session that gc has marked (purging) is past the point of return: it cannot be put on
 *       hold.
 */
#include "core/access/hold.h"

#include "ramet/retention.h"
#include "core/access/member.h"
#include "core/call.h"
#include "core/check.h"
#include "core/columns.h"
#include "core/event.h"
#include "core/handle.h"
#include "core/model/branch.h"
#include "core/model/key.h"
#include "core/session/session_open.h"
#include "core/session/session_show.h"
#include "core/txn.h"

#include <stdlib.h>

#define MAX_LISTED 10000

enum { BY_OWNER, BY_ADMINISTRATOR };

/* ------------------------------------------------------------------- checks */

void holds_load(txn *tx, arena *a, int64_t tree, tree_holds *out)
{
    VEC(int64_t) found = {0};
    db_stmt *q = db_query(tx->db, Q_held_of_tree);
    q_int(q, 1, tree);
    while (q_row(q)) {
        int64_t session = q_col_int(q, 0);
        if (!found.n || found.items[found.n - 1] != session)
            VEC_PUSH(a, &found, session);
    }
    *out = (tree_holds){found.items, found.n};
}

bool holds_have(const tree_holds *holds, int64_t session)
{
    if (!holds->n)
        return false;
    return holds->sessions[0] == 0 ||
           bsearch(&session, holds->sessions, holds->n, sizeof session, number_order);
}

static ramet_status hold_refuse(txn *tx, int64_t tree, int64_t session)
{
    session_full s;
    TRY(txn_status(tx));
    if (session && session_by_no(tx, tree, session, &s) && s.id && session_visible(tx, &s.access))
        return call_fail(tx->call, RAMET_HELD, "session",
                         "session %s is on hold; release the hold first", s.id);
    TRY(txn_status(tx));
    return call_fail(tx->call, RAMET_HELD, session ? "session" : "tree",
                     session ? "a session of the tree is on hold; release the hold first"
                             : "the tree is on hold; release the hold first");
}

ramet_status hold_check(txn *tx, int64_t tree, int64_t session)
{
    tree_holds holds;
    holds_load(tx, tx->arena, tree, &holds);
    TRY(txn_status(tx));
    if (!holds.n || (session && !holds_have(&holds, session)))
        return RAMET_OK;
    return hold_refuse(tx, tree,
                       holds.sessions[0] == 0 ? 0
                       : session              ? session
                                              : holds.sessions[0]);
}

ramet_status hold_check_entry(txn *tx, int64_t tree, int64_t k)
{
    tree_holds holds;
    holds_load(tx, tx->arena, tree, &holds);
    TRY(txn_status(tx));
    if (!holds.n)
        return RAMET_OK;
    if (holds.sessions[0] == 0)
        return hold_refuse(tx, tree, 0);
    int64_t held = 0;
    branch_row b;
    if (branch_load(tx, tree, KEY_BRANCH(k), &b) && holds_have(&holds, b.meta.session))
        held = b.meta.session;
    db_stmt *q = db_query(tx->db, Q_branch_heirs);
    q_int(q, 1, tree);
    q_int(q, 2, KEY_BRANCH(k));
    while (q_row(q))
        if (!held && q_col_int(q, 1) > KEY_POS(k) && holds_have(&holds, q_col_int(q, 0)))
            held = q_col_int(q, 0);
    TRY(txn_status(tx));
    return held ? hold_refuse(tx, tree, held) : RAMET_OK;
}

/* ------------------------------------------------------------------ set, release */

typedef struct hold_job {
    const char *session;
    const ramet_hold_in *in;
    ramet_hold **out;
} hold_job;

/* A deleted session is found, too, until gc has marked it (L3). */
static ramet_status hold_open(txn *tx, const char *id, session_full *s)
{
    TRY(check_id(tx->call, "session", id));
    bool found = session_load(tx, id, s) && !s->purging;
    TRY(txn_status(tx));
    if (!found)
        return call_fail(tx->call, RAMET_SESSION_NOT_FOUND, "session", "there is no session %s",
                         id);
    if (!session_visible(tx, &s->access))
        return call_fail(tx->call, RAMET_HIDDEN, "session", "there is no session %s", id);
    return txn_status(tx);
}

/* By the id of a tree: its root stands for it, which may be gone. */
static bool tree_open(txn *tx, const char *id, session_full *s)
{
    int64_t tree = tree_number(tx, id), root = 0;
    if (!tree || (tx->call->user && level_in(tx, tree) < RAMET_READER))
        return false;
    db_stmt *q = db_query(tx->db, Q_tree_root);
    q_int(q, 1, tree);
    if (q_row(q))
        root = q_col_int(q, 0);
    q_end(q);
    return session_by_no(tx, tree, root, s);
}

static bool owns_tree(txn *tx, int64_t tree)
{
    return !tx->call->user || level_in(tx, tree) >= RAMET_OWNER;
}

static ramet_status hold_open_owned(txn *tx, const hold_job *j, session_full *s)
{
    TRY(check_id(tx->call, "session", j->session));
    if (!j->in->tree || !tree_open(tx, j->session, s))
        TRY(hold_open(tx, j->session, s));
    if (!owns_tree(tx, s->tree))
        return call_fail(tx->call, RAMET_FORBIDDEN, "session",
                         "a hold needs the owner of the tree or an administrator");
    return txn_status(tx);
}

static ramet_status set_run(txn *tx, void *arg)
{
    const hold_job *j = arg;
    session_full s;
    TRY(hold_open_owned(tx, j, &s));
    const char *who = tx->call->user ? tx->call->user : j->in->by;
    const char *why = j->in->reason ? j->in->reason : "";
    db_stmt *q = db_query(tx->db, Q_held_set);
    q_int(q, 1, s.tree);
    q_int(q, 2, j->in->tree ? 0 : s.no);
    q_int(q, 3, tx->call->user ? BY_OWNER : BY_ADMINISTRATOR);
    q_text(q, 4, who);
    q_int(q, 5, tx->now);
    q_text(q, 6, why);
    q_run(q);
    /* A copy that runs meanwhile learns by it that the tree has changed. */
    event_add(tx, s.tree, s.no, RAMET_EVENT_UPDATED, s.head, 0);
    if (!j->out)
        return txn_status(tx);
    ramet_hold *made = arena_alloc(tx->arena, sizeof *made);
    *made = (ramet_hold){.tree_id = tree_id(tx, s.tree),
                         .session = j->in->tree ? NULL : s.id,
                         .administrator = !tx->call->user,
                         .who = who ? arena_strdup(tx->arena, who) : NULL,
                         .reason = arena_strdup(tx->arena, why),
                         .at = tx->now};
    ANSWER(tx, j->out);
    *j->out = made;
    return txn_status(tx);
}

static ramet_status administrator_check(ramet_call *c, const ramet_hold_in *in)
{
    if (in->administrator && c->user)
        return call_fail(c, RAMET_FORBIDDEN, "administrator",
                         "only administrators set and release such holds");
    return RAMET_OK;
}

ramet_status ramet_hold_set(ramet_call *c, const char *session, const ramet_hold_in *in,
                            ramet_hold **out)
{
    hold_job j = {session, in, out};
    if (out)
        *out = NULL;
    TRY(administrator_check(c, in));
    TRY(check_chars(c, "reason", in->reason, c->ramet->limits.reason_chars, RAMET_REASON_TOO_LONG));
    if (in->by)
        TRY(check_id(c, "by", in->by));
    ramet_status st = txn_write(c, set_run, &j);
    if (st != RAMET_OK && out)
        *out = NULL;
    return st;
}

static void hold_remove(txn *tx, int64_t tree, int64_t session, int kind)
{
    db_stmt *q = db_query(tx->db, Q_held_del);
    q_int(q, 1, tree);
    q_int(q, 2, session);
    q_int(q, 3, kind);
    q_run(q);
}

static ramet_status release_run(txn *tx, void *arg)
{
    const hold_job *j = arg;
    session_full s;
    bool own = false, administrators = false;
    TRY(hold_open_owned(tx, j, &s));
    int64_t session = j->in->tree ? 0 : s.no;
    db_stmt *q = db_query(tx->db, Q_held_of_tree);
    q_int(q, 1, s.tree);
    while (q_row(q))
        if (q_col_int(q, 0) == session) {
            own |= q_col_int(q, 1) == BY_OWNER;
            administrators |= q_col_int(q, 1) == BY_ADMINISTRATOR;
        }
    TRY(txn_status(tx));
    if (!own && !administrators)
        return call_fail(tx->call, RAMET_HOLD_NOT_FOUND, "session", "%s %s is not on hold",
                         j->in->tree ? "the tree of" : "session", j->session);
    if (!own && tx->call->user)
        return call_fail(tx->call, RAMET_FORBIDDEN, "session",
                         "an administrator has set that hold, and only one can release it");
    hold_remove(tx, s.tree, session, BY_OWNER);
    if (!tx->call->user)
        hold_remove(tx, s.tree, session, BY_ADMINISTRATOR);
    event_add(tx, s.tree, s.no, RAMET_EVENT_UPDATED, s.head, 0);
    return txn_status(tx);
}

ramet_status ramet_hold_release(ramet_call *c, const char *session, const ramet_hold_in *in)
{
    hold_job j = {session, in, NULL};
    TRY(administrator_check(c, in));
    return txn_write(c, release_run, &j);
}

/* --------------------------------------------------------------------- list */

static ramet_hold hold_from(txn *tx, db_stmt *q, bool told)
{
    return (ramet_hold){.administrator = q_col_range(q, 1, BY_OWNER, BY_ADMINISTRATOR,
                                                     "held.kind") == BY_ADMINISTRATOR,
                        .who = told ? q_keep_text(q, 2, tx->arena) : NULL,
                        .reason = told ? q_need_text(q, 4, tx->arena, "held.why") : "",
                        .at = q_col_int(q, 3)};
}

typedef VEC(ramet_hold) hold_list;

static ramet_status list_all(txn *tx, ramet_hold **out, size_t *n)
{
    hold_list v = {0};
    VEC(session_access) of = {0};
    db_stmt *q = db_query(tx->db, Q_held_all);
    q_int(q, 1, MAX_LISTED);
    while (q_row(q)) {
        session_access name = {.no = q_col_int(q, 0), .tree = q_col_int(q, 5)};
        VEC_PUSH(tx->arena, &v, hold_from(tx, q, true));
        VEC_PUSH(tx->arena, &of, name);
    }
    for (size_t i = 0; i < v.n; i++) {
        session_full s;
        v.items[i].tree_id = tree_id(tx, of.items[i].tree);
        if (of.items[i].no && session_by_no(tx, of.items[i].tree, of.items[i].no, &s))
            v.items[i].session = s.id;
    }
    *out = v.items;
    *n = v.n;
    return txn_status(tx);
}

static ramet_status list_run(txn *tx, const char *session, ramet_hold **out, size_t *n)
{
    session_full s;
    hold_list v = {0};
    TRY(hold_open(tx, session, &s));
    bool told = owns_tree(tx, s.tree);
    const char *tree = tree_id(tx, s.tree);
    db_stmt *q = db_query(tx->db, Q_held_of_tree);
    q_int(q, 1, s.tree);
    while (q_row(q)) {
        int64_t of = q_col_int(q, 0);
        ramet_hold h = hold_from(tx, q, told);
        h.tree_id = tree;
        h.session = of ? s.id : NULL;
        if (!of || of == s.no)
            VEC_PUSH(tx->arena, &v, h);
    }
    *out = v.items;
    *n = v.n;
    return txn_status(tx);
}

ramet_status ramet_holds(ramet_call *c, const char *session, ramet_hold **out, size_t *n)
{
    txn tx;
    *out = NULL;
    *n = 0;
    if (!session)
        TRY(program_only(c));
    if (!txn_read(&tx, c))
        return c->err.status;
    return txn_done(&tx, session ? list_run(&tx, session, out, n) : list_all(&tx, out, n));
}
