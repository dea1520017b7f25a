/* SPDX-License-Identifier: Apache-2.0
 *
 * Feedback on entries. It is stored beside the entry, under its key, so that the entry's bytes
 * never change (I2) and every session that shares the entry shows it. The user of the embedding
 * program's own feedback is "".
 */
#include "core/call.h"
#include "core/check.h"
#include "core/columns.h"
#include "core/model/branch.h"
#include "core/model/path.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/txn.h"

#define COMMENT_CHARS 2000

/* Finds the entry on the session's present path. */
static ramet_status entry_find(txn *tx, const char *session, const char *entry_id, session_full *s,
                               int64_t *k)
{
    branch_row head;
    TRY(session_open(tx, session, NEED_TREE, s));
    TRY(branch_open(tx, &s->brief, RAMET_LOG_MAIN, 0, &head));
    if (path_find(tx, &head, entry_id, k) >= 0)
        return RAMET_OK;
    TRY(txn_status(tx));
    return call_fail(tx->call, RAMET_ENTRY_NOT_FOUND, "entry_id",
                     "session %s has no entry %s on its path", session, entry_id);
}

typedef struct feedback_job {
    const char *session, *entry_id, *comment;
    int value;
} feedback_job;

static ramet_status set_run(txn *tx, void *arg)
{
    const feedback_job *j = arg;
    session_full s;
    int64_t k = 0;
    TRY(entry_find(tx, j->session, j->entry_id, &s, &k));
    db_stmt *q = db_query(tx->db, j->value ? Q_feedback_set : Q_feedback_unset);
    q_int(q, 1, s.tree);
    q_int(q, 2, k);
    q_text(q, 3, tx->call->user ? tx->call->user : "");
    q_int(q, 4, j->value);
    q_text(q, 5, j->comment ? j->comment : "");
    q_int(q, 6, tx->now);
    q_run(q);
    return txn_status(tx);
}

ramet_status ramet_feedback_set(ramet_call *c, const char *session, const char *entry_id, int value,
                                const char *comment)
{
    feedback_job j = {session, entry_id, comment, value};
    TRY(check_id(c, "entry_id", entry_id));
    if (value < -1 || value > 1)
        return call_fail(c, RAMET_INVALID, "value", "value is %d; it must be 1, -1 or 0", value);
    TRY(check_chars(c, "comment", comment, COMMENT_CHARS, RAMET_TOO_LARGE));
    return txn_write(c, set_run, &j);
}

ramet_status ramet_feedback_get(ramet_call *c, const char *session, const char *entry_id,
                                ramet_feedback **out, size_t *n)
{
    txn tx;
    session_full s;
    int64_t k = 0;
    VEC(ramet_feedback) v = {0};
    *out = NULL;
    *n = 0;
    TRY(check_id(c, "entry_id", entry_id));
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_status st = entry_find(&tx, session, entry_id, &s, &k);
    if (st == RAMET_OK) {
        db_stmt *q = db_query(tx.db, Q_feedback_of);
        q_int(q, 1, s.tree);
        q_int(q, 2, k);
        while (q_row(q)) {
            ramet_feedback f = {.user = q_need_text(q, 0, tx.arena, "feedback.user_id"),
                                .value = col_feedback(q, 1),
                                .comment = q_need_text(q, 2, tx.arena, "feedback.comment"),
                                .at = q_col_int(q, 3)};
            if (!f.user[0])
                f.user = NULL;
            VEC_PUSH(tx.arena, &v, f);
        }
        *out = v.items;
        *n = v.n;
    }
    return txn_done(&tx, st);
}
