/* SPDX-License-Identifier: Apache-2.0
 *
 * Homes: the session that appended an entry, found by the entry's id alone, by the branch that owns
 * it, or by an attachment that it refers to.
 */
#include "ramet/memory.h"
#include "ramet/tasks.h"
#include "core/call.h"
#include "core/check.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/turn/turn.h"
#include "core/txn.h"

static bool home_row(txn *tx, sql_id query, const char *id, const char **session,
                     const char **entry)
{
    db_stmt *q = db_query(tx->db, query);
    q_text(q, 1, id);
    bool found = q_row(q);
    if (found) {
        *session = q_keep_text(q, 0, tx->arena);
        *entry = q_keep_text(q, 1, tx->arena);
    }
    q_end(q);
    return found;
}

ramet_status ramet_entry_home(ramet_call *c, const char *id, const char **session)
{
    txn tx;
    const char *entry;
    *session = NULL;
    TRY(program_only(c));
    TRY(check_id(c, "entry_id", id));
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_status st = RAMET_OK;
    if (!home_row(&tx, Q_entry_home, id, session, &entry))
        st = call_fail(c, RAMET_ENTRY_NOT_FOUND, "entry_id", "no session has appended an entry %s",
                       id);
    return txn_done(&tx, st);
}

ramet_status ramet_branch_home(ramet_call *c, int64_t branch, const char **session)
{
    txn tx;
    *session = NULL;
    TRY(program_only(c));
    if (!txn_read(&tx, c))
        return c->err.status;
    db_stmt *q = db_query(tx.db, Q_branch_home);
    q_int(q, 1, branch);
    if (q_row(q))
        *session = q_keep_text(q, 0, tx.arena);
    q_end(q);
    ramet_status st = RAMET_OK;
    if (!*session)
        st = call_fail(c, RAMET_BRANCH_NOT_FOUND, "branch", "no session has a branch %lld",
                       (long long)branch);
    return txn_done(&tx, st);
}

ramet_status ramet_attachment_home(ramet_call *c, const char *id, const char **session,
                                   const char **entry)
{
    txn tx;
    *session = *entry = NULL;
    TRY(check_id(c, "attachment_id", id));
    if (!txn_read(&tx, c))
        return c->err.status;
    home_row(&tx, Q_attached_home, id, session, entry);
    return txn_done(&tx, RAMET_OK);
}

static ramet_status turn_session_run(txn *tx, const char *turn, const char **out)
{
    turn_row t;
    session_full s;
    if (turn_load(tx, turn, &t) && t.shown.session &&
        session_open(tx, t.shown.session, NEED_READ, &s) == RAMET_OK)
        *out = s.id;
    return txn_status(tx);
}

ramet_status ramet_turn_session(ramet_call *c, const char *turn, const char **session)
{
    txn tx;
    *session = NULL;
    TRY(check_id(c, "turn", turn));
    if (!txn_read(&tx, c))
        return c->err.status;
    return txn_done(&tx, turn_session_run(&tx, turn, session));
}
