/* SPDX-License-Identifier: Apache-2.0
 *
 * Homes: the session that appended an entry, found by the entry's id alone, by the branch that it
 * stands on, or by an attachment that it refers to.
 */
#include "core/core.h"

static bool home_row(cx *x, sql_id query, const char *id, const char **session, const char **entry)
{
    db_stmt *q = db_query(x->d, query);
    q_text(q, 1, id);
    bool found = q_row(q);
    if (found) {
        *session = q_keep_text(q, 0, x->a);
        *entry = q_keep_text(q, 1, x->a);
    }
    q_end(q);
    return found;
}

ramet_status ramet_entry_home(ramet_call *c, const char *id, const char **session)
{
    cx x;
    const char *entry;
    *session = NULL;
    TRY(program_only(c));
    TRY(check_id(c, "entry_id", id));
    if (!cx_read(&x, c))
        return c->err.status;
    ramet_status st = RAMET_OK;
    if (!home_row(&x, Q_entry_home, id, session, &entry))
        st = call_fail(c, RAMET_ENTRY_NOT_FOUND, "entry_id", "no session has appended an entry %s",
                       id);
    return cx_done(&x, st);
}

ramet_status ramet_branch_home(ramet_call *c, int64_t branch, const char **session)
{
    cx x;
    *session = NULL;
    TRY(program_only(c));
    if (!cx_read(&x, c))
        return c->err.status;
    db_stmt *q = db_query(x.d, Q_branch_home);
    q_int(q, 1, branch);
    if (q_row(q))
        *session = q_keep_text(q, 0, x.a);
    q_end(q);
    ramet_status st = RAMET_OK;
    if (!*session)
        st = call_fail(c, RAMET_BRANCH_NOT_FOUND, "branch", "no session has a branch %lld",
                       (long long)branch);
    return cx_done(&x, st);
}

ramet_status ramet_attachment_home(ramet_call *c, const char *id, const char **session,
                                   const char **entry)
{
    cx x;
    *session = *entry = NULL;
    TRY(check_id(c, "attachment_id", id));
    if (!cx_read(&x, c))
        return c->err.status;
    home_row(&x, Q_attached_home, id, session, entry);
    return cx_done(&x, RAMET_OK);
}
