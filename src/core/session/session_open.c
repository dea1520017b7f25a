/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening a session: whether it exists, and what the caller may do with it (I10).
 */
#include "core/session/session_open.h"

#include "core/access/member.h"
#include "core/access/share.h"
#include "core/call.h"
#include "core/check.h"
#include "core/columns.h"
#include "core/model/branch.h"
#include "core/session/rights.h"
#include "core/session/session.h"
#include "core/session/session_cache.h"
#include "core/txn.h"

#include <assert.h>

static bool owns(const txn *tx, const session_access *s)
{
    return !tx->call->user || strcmp(tx->call->user, s->owner) == 0;
}

bool session_seen(const txn *tx, ramet_level level, const session_access *s)
{
    if (!tx->call->user)
        return true;
    return s->visibility == RAMET_PRIVATE ? owns(tx, s) : level >= RAMET_READER;
}

bool session_visible(txn *tx, const session_access *s)
{
    /* Look the level up only where it matters. */
    bool by_level = tx->call->user && s->visibility != RAMET_PRIVATE;
    return session_seen(tx, by_level ? level_in(tx, s->tree) : RAMET_NO_LEVEL, s);
}

/* RAMET_HIDDEN; also sets whether the session was made as a conversation (core/ext/make.c). */
static ramet_status session_hidden(txn *tx, const session_access *s)
{
    db_stmt *q = db_query(tx->db, Q_origin_get);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    bool conversation = q_row(q);
    q_end(q);
    TRY(txn_status(tx));
    call_fail(tx->call, RAMET_HIDDEN, "session", "there is no session %s", s->id);
    tx->call->err.conversation = conversation;
    return RAMET_HIDDEN;
}

static ramet_status access_check(txn *tx, const session_access *s, need what)
{
    if (share_gives(tx, s, what))
        return RAMET_OK;
    if (!session_visible(tx, s)) {
        if (share_gives(tx, s, NEED_READ))
            return call_fail(tx->call, RAMET_FORBIDDEN, "session",
                             "the share link of session %s does not allow this", s->id);
        return session_hidden(tx, s);
    }
    /* The owner of a private session may do everything in it, at any level in the tree. */
    if (what == NEED_READ || what == NEED_TREE || !tx->call->user ||
        (s->visibility == RAMET_PRIVATE && owns(tx, s)))
        return RAMET_OK;
    ramet_level have = level_in(tx, s->tree);
    if (what != NEED_MANAGE && have < RAMET_WRITER)
        return call_fail(tx->call, RAMET_FORBIDDEN, "session",
                         "this needs the level writer in the tree; %s is %s", tx->call->user,
                         ramet_level_name(have));
    if (what == NEED_MANAGE && have < RAMET_MANAGER && !owns(tx, s))
        return call_fail(tx->call, RAMET_FORBIDDEN, "session",
                         "this needs the session's owner or a manager of the tree; %s is %s",
                         tx->call->user, ramet_level_name(have));
    return RAMET_OK;
}

static ramet_status session_opened(txn *tx, const char *id, bool found, need what,
                                   const session_access *s)
{
    if (!found || session_gone(tx, s)) {
        TRY(txn_status(tx));
        return call_fail(tx->call, RAMET_SESSION_NOT_FOUND, "session", "there is no session %s",
                         id);
    }
    return access_used(tx, s->tree, access_check(tx, s, what));
}

ramet_status session_open(txn *tx, const char *id, need what, session_full *s)
{
    TRY(check_id(tx->call, "session", id));
    bool found = session_load(tx, id, s);
    return session_opened(tx, id, found, what, &s->access);
}

#define BRIEF_N_COLS 13 /* columns of the session and the member, before those of the branch */

ramet_status session_open_brief(txn *tx, const char *id, need what, session_brief *s,
                                branch_row *head)
{
    assert(tx->writing);
    if (session_cache_get(tx, id, s, head))
        return session_opened(tx, id, true, what, &s->access);
    TRY(check_id(tx->call, "session", id));
    db_stmt *q = db_query(tx->db, Q_session_brief);
    q_text(q, 1, id);
    q_text(q, 2, tx->call->user);
    bool found = q_row(q);
    if (found) {
        *s = (session_brief){
            .no = q_col_int(q, 0),
            .tree = q_col_int(q, 1),
            .id = q_keep_text(q, 10, tx->arena),
            .owner = q_keep_text(q, 2, tx->arena),
            .visibility = col_visibility(q, 3),
            .head = q_col_int(q, 4),
            .adk = q_col_int(q, 5),
            .first_adk = q_col_int(q, 6),
            .expires = q_col_int(q, 7),
            .deleted = q_col_int(q, 8),
            .purging = col_purging(q, 9),
            .stamp = q_col_int(q, 12),
        };
        /* The row includes the caller's level, so level_in() need not read it. */
        tx->level = col_level(q, 11);
        tx->level_tree = s->tree;
        branch_from(q, BRIEF_N_COLS, head);
    }
    q_end(q);
    found = found && session_has_id(tx, &s->access, id);
    if (found && !s->owner)
        s->owner = "";
    TRY(session_opened(tx, id, found, what, &s->access));
    if (head->meta.id)
        head_came(tx, id, head);
    return txn_status(tx);
}

ramet_status session_open_head(txn *tx, const char *id, need what, session_full *s,
                               branch_row *head)
{
    if (session_cache_whole(tx, id, s, head))
        return session_opened(tx, id, true, what, &s->access);
    TRY(check_id(tx->call, "session", id));
    db_stmt *q = db_query(tx->db, Q_session_open);
    q_text(q, 1, id);
    q_text(q, 2, tx->call->user);
    bool found = q_row(q);
    if (found) {
        session_from(q, tx->arena, s);
        tx->level = col_level(q, SESSION_N_COLS);
        tx->level_tree = tx->named_tree = s->tree;
        tx->tree_id = q_keep_text(q, SESSION_N_COLS + 1, tx->arena);
        s->stamp = q_col_int(q, SESSION_N_COLS + 2);
        branch_from(q, SESSION_N_COLS + 3, head);
    }
    q_end(q);
    found = found && session_has_id(tx, &s->access, id);
    TRY(session_opened(tx, id, found, what, &s->access));
    if (head->meta.id && head->meta.session == s->no && head->meta.log == RAMET_LOG_MAIN) {
        if (!head_came(tx, id, head))
            return txn_status(tx);
        session_cache_put_whole(tx, s, head);
        return RAMET_OK;
    }
    return branch_open(tx, &s->brief, RAMET_LOG_MAIN, 0, head); /* reports what is wrong with it */
}
