/* SPDX-License-Identifier: Apache-2.0
 *
 * Copying tables that belong to no tree: attachments with their content, tokens, kept answers,
 * events (copy.h).
 */
#include "core/attachment/files.h"
#include "core/call.h"
#include "core/txn.h"
#include "core/upkeep/copy.h"

enum { ATTACHMENT_ID, ATTACHMENT_SHA, ATTACHMENT_SIZE }; /* columns */

int64_t copy_number(db *d, sql_id what)
{
    db_stmt *q = db_query(d, what);
    int64_t v = q_row(q) ? q_col_int(q, 0) : 0;
    q_end(q);
    return v;
}

/* --------------------------------------------------------------- attachments */

static bool digest_of(const copy_cell *row, uint8_t out[HASH_LEN])
{
    const copy_cell *c = &row[ATTACHMENT_SHA];
    if (c->null || c->n != HASH_LEN)
        return false;
    memcpy(out, c->bytes, HASH_LEN);
    return true;
}

/* The content is stored before its row is (A2). */
static bool attachment_put_each(copy_job *j, const copy_table *t, const copy_cell *from,
                                const copy_cell *with)
{
    uint8_t digest[HASH_LEN];
    const char *fault = NULL;
    j->done += from != NULL;
    if (from && !with) {
        arena_reset(j->tree);
        if (!digest_of(from, digest))
            fault = "it has no digest";
        else if (file_carry(j->call, j->to, j->tree, digest, from[ATTACHMENT_SIZE].number,
                            &fault) != RAMET_OK) {
            bool there = j->to->err.status != RAMET_OK;
            const ramet_error *e = there ? &j->to->err : &j->call->err;
            copy_fail(j, e->status, NULL, "the %s: %s", there ? "target" : "source", e->message);
        }
        if (fault)
            copy_fault(j, t, from, "the source: %s", fault);
        j->out->attachments++;
    }
    return copy_put_each(j, t, from, with) && copy_tick(j);
}

static bool attachment_check_each(copy_job *j, const copy_table *t, const copy_cell *from,
                                  const copy_cell *with)
{
    uint8_t digest[HASH_LEN];
    const char *fault = NULL;
    copy_check_each(j, t, from, with);
    arena_reset(j->tree);
    if (with && digest_of(with, digest))
        fault = file_fault(j->to, j->tree, digest, with[ATTACHMENT_SIZE].number);
    if (fault)
        copy_fault(j, t, with, "the target: %s", fault);
    j->out->attachments += from != NULL;
    return copy_tick(j);
}

/* -------------------------------------------------------------------- events */

typedef struct prune_job {
    int64_t before;
} prune_job;

static ramet_status prune_run(txn *tx, void *arg)
{
    const prune_job *p = arg;
    db_stmt *q = db_query(tx->db, Q_event_del);
    q_int(q, 1, p->before - 1);
    q_run(q);
    return txn_status(tx);
}

/* Removes events from the target that the source has removed. */
static void events_prune(copy_job *j)
{
    prune_job p = {copy_number(j->src.db, Q_min_event)};
    int64_t have = copy_number(j->dst.db, Q_min_event);
    if (!have || have >= p.before || j->err.status != RAMET_OK)
        return;
    ramet_status st = txn_write(j->to, prune_run, &p);
    if (st != RAMET_OK)
        copy_fail(j, st, NULL, "the target: %s", j->to->err.message);
}

/* ---------------------------------------------------------------------- calls */

static const int others[] = {COPY_T_token, COPY_T_errand,  COPY_T_remark,
                             COPY_T_once,  COPY_T_visit,   COPY_T_sandbox,
                             COPY_T_rule,  COPY_T_removed, COPY_T_push};

void copy_whole(copy_job *j, int64_t upto, bool cut)
{
    const copy_table *event = &copy_tables[COPY_T_event],
                     *attachment = &copy_tables[COPY_T_attachment];
    copy_mark_add(j, COPY_EVENT, upto);
    if (!copy_read_begin(j))
        return;
    j->doing = "copying attachments";
    j->done = 0;
    j->total = copy_number(j->src.db, Q_attachment_sums);
    memset(j->extra, 0, sizeof j->extra);
    int64_t last = copy_number(j->dst.db, Q_max_event);
    j->moving = true;
    copy_merge(j, attachment, 0, INT64_MIN, 0, attachment_put_each);
    /* gc of the target removes the content of removed attachments. */
    if (cut && j->extra[COPY_T_attachment])
        copy_merge(j, attachment, 0, INT64_MIN, 0, copy_cut_each);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        copy_merge(j, &copy_tables[others[i]], 0, INT64_MIN, 0, copy_put_each);
        if (j->extra[others[i]])
            copy_merge(j, &copy_tables[others[i]], 0, INT64_MIN, 0, copy_cut_each);
    }
    copy_flush(j); /* writes the mark, too: before the first event that it covers */
    copy_merge(j, event, 0, last, upto, copy_put_each);
    copy_flush(j);
    j->moving = false;
    events_prune(j);
    copy_read_end(j);
    ramet_call_reset(j->to);
}

void copy_whole_verify(copy_job *j)
{
    if (!copy_read_begin(j))
        return;
    j->doing = "verifying attachments";
    j->done = 0;
    j->total = copy_number(j->src.db, Q_attachment_sums);
    copy_merge(j, &copy_tables[COPY_T_attachment], 0, INT64_MIN, 0, attachment_check_each);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        copy_merge(j, &copy_tables[others[i]], 0, INT64_MIN, 0, copy_check_each);
    copy_merge(j, &copy_tables[COPY_T_event], 0, INT64_MIN, INT64_MAX, copy_check_each);
    copy_read_end(j);
    ramet_call_reset(j->to);
}
