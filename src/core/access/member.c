/* SPDX-License-Identifier: Apache-2.0
 *
 * Members of a tree and their levels (I10).
 *
 *   M1  A tree has exactly one owner. Only the owner can transfer ownership; the old owner becomes
 *       manager in the same commit.
 *   M2  Nothing else changes the owner's row, and the owner cannot be removed.
 */
#include "core/access/member.h"

#include "core/access/share.h"
#include "core/call.h"
#include "core/check.h"
#include "core/columns.h"
#include "core/event.h"
#include "core/session/rights.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/txn.h"

#include <assert.h>

ramet_level level_of(txn *tx, int64_t tree, const char *user)
{
    db_stmt *q = db_query(tx->db, Q_member_level);
    q_int(q, 1, tree);
    q_text(q, 2, user);
    ramet_level level = q_row(q) ? col_level(q, 0) : RAMET_NO_LEVEL;
    q_end(q);
    return level;
}

ramet_level level_in(txn *tx, int64_t tree)
{
    if (!tx->call->user)
        return RAMET_OWNER;
    /* Cached: one answer needs it again and again. */
    if (tx->level_tree != tree) {
        tx->level = level_of(tx, tree, tx->call->user);
        tx->level_tree = tree;
    }
    return tx->level;
}

ramet_level session_level(txn *tx, const session_access *s)
{
    if (share_only(tx, s))
        return share_gives(tx, s, NEED_WRITE) ? RAMET_WRITER : RAMET_READER;
    /* Only its owner sees a private session. */
    return s->visibility == RAMET_PRIVATE ? RAMET_OWNER : level_in(tx, s->tree);
}

void member_insert(txn *tx, int64_t tree, const char *user, ramet_level level)
{
    assert(tx->writing);
    db_stmt *q = db_query(tx->db, Q_member_set);
    q_int(q, 1, tree);
    q_text(q, 2, user);
    q_int(q, 3, level);
    q_int(q, 4, tx->now);
    q_run(q);
}

static void member_write(txn *tx, int64_t tree, const char *user, ramet_level level)
{
    assert(tx->writing);
    member_insert(tx, tree, user, level);
    tx->level_tree = 0;
    access_changed(tx, tree);
}

static void owner_lower(txn *tx, const session_brief *s);

void tree_hand_over(txn *tx, const session_brief *s, const char *to)
{
    assert(tx->writing);
    ramet_level before = level_of(tx, s->tree, to);
    owner_lower(tx, s);
    member_write(tx, s->tree, to, RAMET_OWNER);
    event_add_member(tx, s, to, before, RAMET_OWNER);
    db_stmt *q = db_query(tx->db, Q_session_owner);
    q_int(q, 1, s->tree);
    q_text(q, 2, to);
    q_run(q);
}

/* Requires a member; the owner of a private session in the tree is not enough. */
ramet_status member_open(txn *tx, const char *session, ramet_level min, session_full *s,
                         ramet_level *level)
{
    TRY(session_open(tx, session, NEED_TREE, s));
    *level = level_in(tx, s->tree);
    if (*level < min)
        return call_fail(tx->call, RAMET_FORBIDDEN, NULL,
                         "it needs level %s in the tree of session %s; %s has %s",
                         ramet_level_name(min), s->id, tx->call->user,
                         *level ? ramet_level_name(*level) : "none");
    return RAMET_OK;
}

static ramet_status members_list(txn *tx, const char *session, ramet_member **out, size_t *n)
{
    session_full s;
    ramet_level level;
    TRY(member_open(tx, session, RAMET_READER, &s, &level));
    VEC(ramet_member) v = {0};
    db_stmt *q = db_query(tx->db, Q_member_all);
    q_int(q, 1, s.tree);
    while (q_row(q)) {
        ramet_member m = {.user = q_need_text(q, 0, tx->arena, "member.user_id"),
                          .level = col_level(q, 1),
                          .since = q_col_int(q, 2)};
        VEC_PUSH(tx->arena, &v, m);
    }
    *out = v.items;
    *n = v.n;
    return RAMET_OK;
}

ramet_status ramet_members(ramet_call *c, const char *session, ramet_member **out, size_t *n)
{
    txn tx;
    *out = NULL;
    *n = 0;
    if (!txn_read(&tx, c))
        return c->err.status;
    return txn_done(&tx, members_list(&tx, session, out, n));
}

typedef struct member_job {
    const char *session, *user;
    ramet_level level;
    bool fresh, there; /* the user must not be a member yet; must be one */
} member_job;

/* M1: the old owner becomes manager, and an offer that the old owner made ends. */
static void owner_lower(txn *tx, const session_brief *s)
{
    VEC(const char *) owners = {0};
    db_stmt *q = db_query(tx->db, Q_member_all);
    q_int(q, 1, s->tree);
    while (q_row(q))
        if (q_col_int(q, 1) == RAMET_OWNER)
            VEC_PUSH(tx->arena, &owners, q_keep_text(q, 0, tx->arena));
    for (size_t i = 0; i < owners.n; i++) {
        member_write(tx, s->tree, owners.items[i], RAMET_MANAGER);
        event_add_member(tx, s, owners.items[i], RAMET_OWNER, RAMET_MANAGER);
    }
    q = db_query(tx->db, Q_transfer_clear);
    q_int(q, 1, s->tree);
    q_run(q);
}

static ramet_status set_run(txn *tx, void *arg)
{
    member_job *j = arg;
    session_full s;
    ramet_level mine, have;
    TRY(member_open(tx, j->session, RAMET_MANAGER, &s, &mine));
    have = level_of(tx, s.tree, j->user);
    TRY(txn_status(tx));
    if (j->fresh && have)
        return call_fail(tx->call, RAMET_MEMBER_EXISTS, "user",
                         "%s is a member of the tree already", j->user);
    if (j->there && !have)
        return call_fail(tx->call, RAMET_MEMBER_NOT_FOUND, "user", "%s is not a member of the tree",
                         j->user);
    if (have == j->level)
        return RAMET_OK;
    if (have == RAMET_OWNER)
        return call_fail(tx->call, RAMET_FORBIDDEN, "user",
                         "%s is the owner of the tree; hand the tree over first", j->user);
    if (j->level == RAMET_OWNER) {
        if (mine != RAMET_OWNER)
            return call_fail(tx->call, RAMET_FORBIDDEN, "level",
                             "only the owner hands the tree over");
        owner_lower(tx, &s.brief);
    }
    member_write(tx, s.tree, j->user, j->level);
    event_add_member(tx, &s.brief, j->user, have, j->level);
    return txn_status(tx);
}

static ramet_status member_put(ramet_call *c, const member_job *in)
{
    member_job j = *in;
    TRY(check_id(c, "user", j.user));
    if (j.level < RAMET_READER || j.level > RAMET_OWNER)
        return call_fail(c, RAMET_INVALID, "level", "%d is not a level", (int)j.level);
    return txn_revoke(c, set_run, &j);
}

ramet_status ramet_member_set(ramet_call *c, const char *session, const char *user,
                              ramet_level level)
{
    return member_put(c, &(member_job){.session = session, .user = user, .level = level});
}

ramet_status ramet_member_add(ramet_call *c, const char *session, const char *user,
                              ramet_level level)
{
    return member_put(
        c, &(member_job){.session = session, .user = user, .level = level, .fresh = true});
}

ramet_status ramet_member_change(ramet_call *c, const char *session, const char *user,
                                 ramet_level level)
{
    return member_put(
        c, &(member_job){.session = session, .user = user, .level = level, .there = true});
}

static ramet_status remove_run(txn *tx, void *arg)
{
    member_job *j = arg;
    session_full s;
    ramet_level mine, have;
    bool self = tx->call->user && strcmp(tx->call->user, j->user) == 0;
    TRY(member_open(tx, j->session, self ? RAMET_READER : RAMET_MANAGER, &s, &mine));
    have = level_of(tx, s.tree, j->user);
    TRY(txn_status(tx));
    if (have == RAMET_NO_LEVEL)
        return call_fail(tx->call, RAMET_MEMBER_NOT_FOUND, "user", "%s is not a member of the tree",
                         j->user);
    if (have == RAMET_OWNER)
        return call_fail(tx->call, RAMET_FORBIDDEN, "user",
                         "%s is the owner of the tree; hand the tree over first", j->user);
    db_stmt *q = db_query(tx->db, Q_member_del);
    q_int(q, 1, s.tree);
    q_text(q, 2, j->user);
    q_run(q);
    q = db_query(tx->db, Q_transfer_to);
    q_int(q, 1, s.tree);
    q_text(q, 2, j->user);
    q_run(q);
    tx->level_tree = 0;
    access_changed(tx, s.tree);
    event_add_member(tx, &s.brief, j->user, have, RAMET_NO_LEVEL);
    return txn_status(tx);
}

ramet_status ramet_member_remove(ramet_call *c, const char *session, const char *user)
{
    TRY(check_id(c, "user", user));
    member_job j = {.session = session, .user = user};
    return txn_revoke(c, remove_run, &j);
}

ramet_status ramet_session_writable(ramet_call *c, const char *session)
{
    txn tx;
    session_full s;
    if (!txn_read(&tx, c))
        return c->err.status;
    return txn_done(&tx, session_open(&tx, session, NEED_WRITE, &s));
}
