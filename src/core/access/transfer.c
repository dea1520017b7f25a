/* SPDX-License-Identifier: Apache-2.0
 *
 * Transferring a tree: its owner offers it, a member accepts. A tree has at most one offer. The
 * offer ends when it is accepted, when either of the two users withdraws it, or when the member
 * leaves the tree.
 */
#include "ramet/memory.h"
#include "core/access/member.h"
#include "core/call.h"
#include "core/check.h"
#include "core/event.h"
#include "core/session/session.h"
#include "core/txn.h"

#include <stdlib.h>

typedef struct transfer_row {
    int64_t tree, session; /* numbers */
    ramet_transfer shown;
} transfer_row;

/* Reads TRANSFER_COLS; the caller fills in the session's id once the statement has ended. */
static void transfer_from(db_stmt *q, arena *a, transfer_row *t)
{
    *t = (transfer_row){.tree = q_col_int(q, 1),
                        .session = q_col_int(q, 2),
                        .shown = {.id = q_need_text(q, 0, a, "transfer.id"),
                                  .from = q_need_text(q, 3, a, "transfer.giver"),
                                  .to = q_need_text(q, 4, a, "transfer.taker"),
                                  .created = q_col_int(q, 5)}};
}

static const char *session_id_of(txn *tx, int64_t tree, int64_t no)
{
    session_full s;
    return session_by_no(tx, tree, no, &s) && s.id ? s.id : "";
}

static bool transfer_load(txn *tx, sql_id what, const char *id, int64_t tree, transfer_row *t)
{
    db_stmt *q = db_query(tx->db, what);
    if (id)
        q_text(q, 1, id);
    else
        q_int(q, 1, tree);
    bool found = q_row(q);
    if (found)
        transfer_from(q, tx->arena, t);
    q_end(q);
    if (found)
        t->shown.session = session_id_of(tx, t->tree, t->session);
    return found;
}

static ramet_transfer *transfer_show(txn *tx, const transfer_row *t)
{
    ramet_transfer *out = arena_alloc(tx->arena, sizeof *out);
    *out = t->shown;
    return out;
}

static ramet_status missing(ramet_call *c, const char *id)
{
    return call_fail(c, RAMET_TRANSFER_NOT_FOUND, "transfer", "there is no transfer %s", id);
}

static bool is(const txn *tx, const char *user)
{
    return !tx->call->user || strcmp(tx->call->user, user) == 0;
}

/* ---------------------------------------------------------------------- add */

typedef struct offer_job {
    const char *session, *to;
    ramet_transfer **out;
} offer_job;

static ramet_status offer_run(txn *tx, void *arg)
{
    offer_job *j = arg;
    session_full s;
    ramet_level level;
    transfer_row t;
    char uuid[UUID_TEXT];
    ANSWER(tx, j->out);
    TRY(member_open(tx, j->session, RAMET_OWNER, &s, &level));
    if (s.archived)
        return call_fail(tx->call, RAMET_SESSION_NOT_FOUND, "session", "session %s is archived",
                         s.id);
    level = level_of(tx, s.tree, j->to);
    if (level == RAMET_OWNER)
        return call_fail(tx->call, RAMET_INVALID, "to", "a tree is not handed over to its owner");
    if (level == RAMET_NO_LEVEL) {
        TRY(txn_status(tx));
        return call_fail(tx->call, RAMET_INVALID, "to", "%s is not a member of the tree", j->to);
    }
    if (transfer_load(tx, Q_transfer_of_tree, NULL, s.tree, &t)) {
        *j->out = transfer_show(tx, &t);
        return call_fail(tx->call, RAMET_TRANSFER_PENDING, "session",
                         "the tree of session %s is being handed over already", s.id);
    }
    t = (transfer_row){
        .tree = s.tree,
        .shown = {.id = arena_strdup(tx->arena, uuid7(tx->now, uuid)),
                  .session = s.id,
                  .from = tx->call->user ? arena_strdup(tx->arena, tx->call->user) : s.owner,
                  .to = arena_strdup(tx->arena, j->to),
                  .created = tx->now}};
    db_stmt *q = db_query(tx->db, Q_transfer_add);
    q_text(q, 1, t.shown.id);
    q_int(q, 2, s.tree);
    q_int(q, 3, s.no);
    q_text(q, 4, t.shown.from);
    q_text(q, 5, t.shown.to);
    q_int(q, 6, tx->now);
    q_run(q);
    *j->out = transfer_show(tx, &t);
    return txn_status(tx);
}

ramet_status ramet_transfer_add(ramet_call *c, const char *session, const char *to,
                                ramet_transfer **out)
{
    offer_job j = {session, to, out};
    *out = NULL;
    TRY(check_id(c, "to", to));
    return txn_write(c, offer_run, &j);
}

/* --------------------------------------------------------------------- read */

typedef VEC(transfer_row) transfer_list;

static int by_age(const void *a, const void *b)
{
    const ramet_transfer *x = a, *y = b;
    if (x->created != y->created)
        return x->created < y->created ? -1 : 1;
    return strcmp(x->id, y->id);
}

/* Adds the offers of a statement to the list. `others`: without the caller's own, which are in it
 * already: an offer that the embedding program made has the session's owner as giver, who may also
 * be the user that it is offered to. */
static void transfers_of(txn *tx, sql_id what, bool others, transfer_list *v)
{
    size_t first = v->n;
    db_stmt *q = db_query(tx->db, what);
    q_text(q, 1, tx->call->user);
    while (q_row(q)) {
        transfer_row t;
        transfer_from(q, tx->arena, &t);
        if (!others || strcmp(t.shown.from, tx->call->user) != 0)
            VEC_PUSH(tx->arena, v, t);
    }
    for (size_t i = first; i < v->n; i++)
        v->items[i].shown.session = session_id_of(tx, v->items[i].tree, v->items[i].session);
}

ramet_status ramet_transfers(ramet_call *c, bool given, bool taken, ramet_transfer **out, size_t *n)
{
    txn tx;
    transfer_list v = {0};
    *out = NULL;
    *n = 0;
    if (!txn_read(&tx, c))
        return c->err.status;
    if (given)
        transfers_of(&tx, Q_transfer_given, false, &v);
    if (taken)
        transfers_of(&tx, Q_transfer_taken, given, &v);
    ramet_transfer *list = arena_array(tx.arena, v.n + 1, sizeof *list);
    for (size_t i = 0; i < v.n; i++)
        list[i] = v.items[i].shown;
    if (v.n)
        qsort(list, v.n, sizeof *list, by_age);
    ramet_status st = txn_done(&tx, RAMET_OK);
    if (st != RAMET_OK)
        return st;
    *out = list;
    *n = v.n;
    return RAMET_OK;
}

ramet_status ramet_transfer_get(ramet_call *c, const char *id, ramet_transfer **out)
{
    txn tx;
    transfer_row t;
    *out = NULL;
    TRY(check_id(c, "transfer", id));
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_status st = RAMET_OK;
    if (transfer_load(&tx, Q_transfer_get, id, 0, &t) &&
        (is(&tx, t.shown.from) || is(&tx, t.shown.to)))
        *out = transfer_show(&tx, &t);
    else if ((st = txn_status(&tx)) == RAMET_OK)
        st = missing(c, id);
    return txn_done(&tx, st);
}

/* ---------------------------------------------------------------------- end */

static ramet_status end_run(txn *tx, const char *id, bool accept)
{
    transfer_row t;
    if (!transfer_load(tx, Q_transfer_get, id, 0, &t)) {
        TRY(txn_status(tx));
        return missing(tx->call, id);
    }
    if (!is(tx, t.shown.to) && (accept || !is(tx, t.shown.from)))
        return call_fail(tx->call, RAMET_FORBIDDEN, "transfer", "transfer %s is not %s's", id,
                         tx->call->user);
    db_stmt *q = db_query(tx->db, Q_transfer_del);
    q_text(q, 1, id);
    q_run(q);
    if (!accept)
        return txn_status(tx);
    session_full s;
    if (!session_by_no(tx, t.tree, t.session, &s))
        s = (session_full){.tree = t.tree, .no = t.session}; /* gone, but not its tree */
    tree_hand_over(tx, &s.brief, t.shown.to);
    event_add(tx, s.tree, s.no, RAMET_EVENT_UPDATED, s.head, 0);
    return txn_status(tx);
}

static ramet_status delete_run(txn *tx, void *arg)
{
    return end_run(tx, arg, false);
}

static ramet_status accept_run(txn *tx, void *arg)
{
    return end_run(tx, arg, true);
}

ramet_status ramet_transfer_delete(ramet_call *c, const char *id)
{
    TRY(check_id(c, "transfer", id));
    return txn_write(c, delete_run, (void *)id);
}

ramet_status ramet_transfer_accept(ramet_call *c, const char *id)
{
    TRY(check_id(c, "transfer", id));
    return txn_revoke(c, accept_run, (void *)id);
}
