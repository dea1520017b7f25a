/* SPDX-License-Identifier: Apache-2.0
 *
 * Remarks: feedback of users that names no entry (kagent's feedback).
 */
#include "ramet/kagent.h"
#include "core/call.h"
#include "core/check.h"
#include "core/txn.h"

#define REMARK_CHARS 10000
#define ISSUE_CHARS 100

static ramet_status remark_run(txn *tx, void *arg)
{
    const ramet_remark *in = arg;
    int64_t no = db_number(tx->db, DB_REMARK, NULL);
    int at = 1;
    db_stmt *q = db_query(tx->db, in->has_message ? Q_remark_add : Q_remark_add_bare);
    q_int(q, at++, no);
    q_text(q, at++, tx->call->user ? tx->call->user : "");
    if (in->has_message)
        q_int(q, at++, in->message);
    q_int(q, at++, in->positive);
    q_text(q, at++, in->text);
    q_text(q, at++, in->issue ? in->issue : "");
    q_int(q, at++, tx->now);
    q_run(q);
    return txn_status(tx);
}

ramet_status ramet_remark_add(ramet_call *c, const ramet_remark *in)
{
    ramet_remark copy = *in;
    TRY(check_chars(c, "text", in->text, REMARK_CHARS, RAMET_TOO_LARGE));
    TRY(check_chars(c, "issue", in->issue, ISSUE_CHARS, RAMET_TOO_LARGE));
    return txn_write(c, remark_run, &copy);
}

static void remarks_read(txn *tx, int64_t after, int limit, ramet_remark **out, size_t *n)
{
    VEC(ramet_remark) v = {0};
    db_stmt *q = db_query(tx->db, Q_remark_page);
    q_text(q, 1, tx->call->user ? tx->call->user : "");
    q_int(q, 2, after);
    q_int(q, 3, limit);
    while (q_row(q)) {
        ramet_remark r = {.number = q_col_int(q, 0),
                          .user = q_need_text(q, 1, tx->arena, "remark.user_id"),
                          .message = q_col_int(q, 2),
                          .has_message = q_col_int(q, 3) != 0,
                          .positive = q_col_int(q, 4) != 0,
                          .text = q_need_text(q, 5, tx->arena, "remark.text"),
                          .issue = q_need_text(q, 6, tx->arena, "remark.issue"),
                          .at = q_col_int(q, 7)};
        VEC_PUSH(tx->arena, &v, r);
    }
    *out = v.items;
    *n = v.n;
}

ramet_status ramet_remarks(ramet_call *c, int64_t after, int limit, ramet_remark **out, size_t *n)
{
    txn tx;
    int max;
    *out = NULL;
    *n = 0;
    TRY(check_limit(c, limit, 1000, 50, &max));
    if (!txn_read(&tx, c))
        return c->err.status;
    remarks_read(&tx, after, max, out, n);
    return txn_done(&tx, RAMET_OK);
}
