/* SPDX-License-Identifier: Apache-2.0
 *
 * Members of a tree and their levels (I10).
 *
 *   M1  A tree has exactly one owner. Ownership is handed over, never taken: the old owner
 *       becomes manager in the same commit.
 *   M2  Nobody else touches the owner's row, and the owner cannot be removed.
 */
#include "core/columns.h"

ramet_level level_of(cx *x, int64_t tree, const char *user)
{
    db_stmt *q = db_query(x->d, Q_member_level);
    q_int(q, 1, tree);
    q_text(q, 2, user);
    ramet_level level = q_row(q) ? col_level(q, 0) : RAMET_NO_LEVEL;
    q_end(q);
    return level;
}

ramet_level level_in(cx *x, int64_t tree)
{
    if (!x->c->user)
        return RAMET_OWNER;
    /* Asked for again and again while one answer is made. */
    if (x->level_tree != tree) {
        x->level = level_of(x, tree, x->c->user);
        x->level_tree = tree;
    }
    return x->level;
}

ramet_level session_level(cx *x, const session_row *s)
{
    if (share_only(x, s))
        return share_gives(x, s, NEED_WRITE) ? RAMET_WRITER : RAMET_READER;
    /* A private session is seen by its owner alone. */
    return s->visibility == RAMET_PRIVATE ? RAMET_OWNER : level_in(x, s->tree);
}

void member_insert(cx *x, int64_t tree, const char *user, ramet_level level)
{
    db_stmt *q = db_query(x->d, Q_member_set);
    q_int(q, 1, tree);
    q_text(q, 2, user);
    q_int(q, 3, level);
    q_int(q, 4, x->now);
    q_run(q);
}

static void member_write(cx *x, int64_t tree, const char *user, ramet_level level)
{
    member_insert(x, tree, user, level);
    x->level_tree = 0;
    access_changed(x, tree);
}

static void owner_lower(cx *x, const session_row *s);

void tree_hand_over(cx *x, const session_row *s, const char *to)
{
    ramet_level before = level_of(x, s->tree, to);
    owner_lower(x, s);
    member_write(x, s->tree, to, RAMET_OWNER);
    event_add_member(x, s, to, before, RAMET_OWNER);
    db_stmt *q = db_query(x->d, Q_session_owner);
    q_int(q, 1, s->tree);
    q_text(q, 2, to);
    q_run(q);
}

/* A member, not only the owner of a private session in the tree. */
ramet_status member_open(cx *x, const char *session, ramet_level least, session_row *s,
                         ramet_level *level)
{
    TRY(session_open(x, session, NEED_TREE, s));
    *level = level_in(x, s->tree);
    if (*level < least)
        return call_fail(
            x->c, RAMET_FORBIDDEN, NULL, "it needs level %s in the tree of session %s; %s has %s",
            ramet_level_name(least), s->id, x->c->user, *level ? ramet_level_name(*level) : "none");
    return RAMET_OK;
}

static ramet_status members_list(cx *x, const char *session, ramet_member **out, size_t *n)
{
    session_row s;
    ramet_level level;
    TRY(member_open(x, session, RAMET_READER, &s, &level));
    VEC(ramet_member) v = {0};
    db_stmt *q = db_query(x->d, Q_member_all);
    q_int(q, 1, s.tree);
    while (q_row(q)) {
        ramet_member m = {.user = q_need_text(q, 0, x->a, "member.user_id"),
                          .level = col_level(q, 1),
                          .since = q_col_int(q, 2)};
        VEC_PUSH(x->a, &v, m);
    }
    *out = v.items;
    *n = v.n;
    return RAMET_OK;
}

ramet_status ramet_members(ramet_call *c, const char *session, ramet_member **out, size_t *n)
{
    cx x;
    *out = NULL;
    *n = 0;
    if (!cx_read(&x, c))
        return c->err.status;
    return cx_done(&x, members_list(&x, session, out, n));
}

typedef struct member_job {
    const char *session, *user;
    ramet_level level;
    bool fresh, there; /* he must not be a member yet; he must be one */
} member_job;

/* M1: whoever was owner becomes manager; what he has offered is not his to give any more. */
static void owner_lower(cx *x, const session_row *s)
{
    VEC(const char *) owners = {0};
    db_stmt *q = db_query(x->d, Q_member_all);
    q_int(q, 1, s->tree);
    while (q_row(q))
        if (q_col_int(q, 1) == RAMET_OWNER)
            VEC_PUSH(x->a, &owners, q_keep_text(q, 0, x->a));
    for (size_t i = 0; i < owners.n; i++) {
        member_write(x, s->tree, owners.items[i], RAMET_MANAGER);
        event_add_member(x, s, owners.items[i], RAMET_OWNER, RAMET_MANAGER);
    }
    q = db_query(x->d, Q_transfer_clear);
    q_int(q, 1, s->tree);
    q_run(q);
}

static ramet_status set_run(cx *x, void *arg)
{
    member_job *j = arg;
    session_row s;
    ramet_level mine, have;
    TRY(member_open(x, j->session, RAMET_MANAGER, &s, &mine));
    have = level_of(x, s.tree, j->user);
    TRY(cx_status(x));
    if (j->fresh && have)
        return call_fail(x->c, RAMET_MEMBER_EXISTS, "user", "%s is a member of the tree already",
                         j->user);
    if (j->there && !have)
        return call_fail(x->c, RAMET_MEMBER_NOT_FOUND, "user", "%s is not a member of the tree",
                         j->user);
    if (have == j->level)
        return RAMET_OK;
    if (have == RAMET_OWNER)
        return call_fail(x->c, RAMET_FORBIDDEN, "user",
                         "%s is the owner of the tree; hand the tree over first", j->user);
    if (j->level == RAMET_OWNER) {
        if (mine != RAMET_OWNER)
            return call_fail(x->c, RAMET_FORBIDDEN, "level", "only the owner hands the tree over");
        owner_lower(x, &s);
    }
    member_write(x, s.tree, j->user, j->level);
    event_add_member(x, &s, j->user, have, j->level);
    return cx_status(x);
}

static ramet_status member_put(ramet_call *c, const member_job *in)
{
    member_job j = *in;
    TRY(check_id(c, "user", j.user));
    if (j.level < RAMET_READER || j.level > RAMET_OWNER)
        return call_fail(c, RAMET_INVALID, "level", "%d is not a level", (int)j.level);
    return cx_revoke(c, set_run, &j);
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

static ramet_status remove_run(cx *x, void *arg)
{
    member_job *j = arg;
    session_row s;
    ramet_level mine, have;
    bool self = x->c->user && strcmp(x->c->user, j->user) == 0;
    TRY(member_open(x, j->session, self ? RAMET_READER : RAMET_MANAGER, &s, &mine));
    have = level_of(x, s.tree, j->user);
    TRY(cx_status(x));
    if (have == RAMET_NO_LEVEL)
        return call_fail(x->c, RAMET_MEMBER_NOT_FOUND, "user", "%s is not a member of the tree",
                         j->user);
    if (have == RAMET_OWNER)
        return call_fail(x->c, RAMET_FORBIDDEN, "user",
                         "%s is the owner of the tree; hand the tree over first", j->user);
    db_stmt *q = db_query(x->d, Q_member_del);
    q_int(q, 1, s.tree);
    q_text(q, 2, j->user);
    q_run(q);
    q = db_query(x->d, Q_transfer_to);
    q_int(q, 1, s.tree);
    q_text(q, 2, j->user);
    q_run(q);
    x->level_tree = 0;
    access_changed(x, s.tree);
    event_add_member(x, &s, j->user, have, RAMET_NO_LEVEL);
    return cx_status(x);
}

ramet_status ramet_member_remove(ramet_call *c, const char *session, const char *user)
{
    TRY(check_id(c, "user", user));
    member_job j = {.session = session, .user = user};
    return cx_revoke(c, remove_run, &j);
}

ramet_status ramet_session_writable(ramet_call *c, const char *session)
{
    cx x;
    session_row s;
    if (!cx_read(&x, c))
        return c->err.status;
    return cx_done(&x, session_open(&x, session, NEED_WRITE, &s));
}
