/* SPDX-License-Identifier: Apache-2.0
 *
 * What gc and fsck do with attachments (attachment.h has the invariants).
 */
#include "core/attachment/attachment_upkeep.h"

#include "core/attachment/attachment.h"
#include "core/attachment/files.h"
#include "core/call.h"
#include "core/model/entry.h"
#include "core/txn.h"
#include "core/upkeep/fsck.h"

#include <assert.h>
#include <stdlib.h>

#define SPENT_BATCH 256 /* rows per write */

/* -------------------------------------------------------------------------- gc */

void attached_cut(txn *tx, int64_t tree, int64_t lo, int64_t hi)
{
    assert(tx->writing);
    static const sql_id steps[] = {Q_attachment_release, Q_attached_del, Q_feedback_del,
                                   Q_indexed_del};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        db_stmt *q = db_query(tx->db, steps[i]);
        q_int(q, 1, tree);
        q_int(q, 2, lo);
        q_int(q, 3, hi);
        /* A released attachment expires now: the grace time of its entries has passed. */
        q_int(q, 4, tx->now);
        q_run(q);
    }
}

void attached_note(txn *tx, arena *a, int64_t tree, int64_t lo, int64_t hi, attached_refs *refs)
{
    db_stmt *q = db_query(tx->db, Q_attached_range);
    q_int(q, 1, tree);
    q_int(q, 2, lo);
    q_int(q, 3, hi);
    while (q_row(q))
        VEC_PUSH(a, refs, q_keep_text(q, 0, a));
}

static int64_t references(txn *tx, const char *id)
{
    db_stmt *q = db_query(tx->db, Q_attached_count);
    q_text(q, 1, id);
    int64_t n = q_row(q) ? q_col_int(q, 0) : 0;
    q_end(q);
    return n;
}

void attachments_would_go(txn *tx, attached_refs *refs, ramet_gc_out *out)
{
    db_stmt *q = db_query(tx->db, Q_attachment_spent_sums);
    q_int(q, 1, tx->now);
    if (q_row(q)) {
        out->attachments += q_col_int(q, 0);
        out->attachment_bytes += q_col_int(q, 1);
    }
    q_end(q);
    if (refs->n)
        qsort(refs->items, refs->n, sizeof *refs->items, text_order);
    for (size_t i = 0, next; i < refs->n; i = next) {
        attachment_row r;
        const char *id = refs->items[i];
        for (next = i + 1; next < refs->n && strcmp(refs->items[next], id) == 0;)
            next++;
        if (references(tx, id) != (int64_t)(next - i) || !attachment_load(tx, id, &r))
            continue;
        out->attachments++;
        out->attachment_bytes += r.size;
    }
}

int64_t attached_left(txn *tx, attached_refs *refs)
{
    int64_t n = 0;
    if (refs->n)
        qsort(refs->items, refs->n, sizeof *refs->items, text_order);
    for (size_t i = 0; i < refs->n; i++)
        if (i == 0 || strcmp(refs->items[i], refs->items[i - 1]) != 0)
            n += references(tx, refs->items[i]) > 0;
    return n;
}

typedef struct spent {
    const char *id;
    uint8_t sha[HASH_LEN];
    int64_t size;
} spent;

typedef struct spent_job {
    spent *rows;
    size_t n;
    arena *arena;
} spent_job;

static ramet_status spent_run(txn *tx, void *arg)
{
    spent_job *j = arg;
    j->n = 0;
    arena_reset(j->arena);
    j->rows = arena_array(j->arena, SPENT_BATCH, sizeof *j->rows);
    db_stmt *q = db_query(tx->db, Q_attachment_spent);
    q_int(q, 1, tx->now);
    q_int(q, 2, SPENT_BATCH);
    while (j->n < SPENT_BATCH && q_row(q)) {
        size_t n;
        spent *s = &j->rows[j->n++];
        *s = (spent){.id = q_keep_text(q, 0, j->arena), .size = q_col_int(q, 2)};
        const void *digest = q_col_blob(q, 1, &n);
        if (digest && n == HASH_LEN)
            memcpy(s->sha, digest, HASH_LEN);
    }
    q_end(q);
    for (size_t i = 0; i < j->n; i++) {
        q = db_query(tx->db, Q_attachment_del);
        q_text(q, 1, j->rows[i].id);
        q_run(q);
    }
    return txn_status(tx);
}

typedef struct reap_job {
    ramet_call *call;
    ramet_progress progress;
    void *arg;
    int64_t seen;
} reap_job;

static ramet_status progress_report(reap_job *j)
{
    if (!j->progress || j->progress(j->arg, "gc of attachments", j->seen, j->seen))
        return RAMET_OK;
    return call_fail(j->call, RAMET_STOP, NULL, "gc was stopped; the next one goes on");
}

/* Removes rows first, in small writes, and their files after each commit. */
static ramet_status rows_reap(reap_job *j, ramet_gc_out *out)
{
    ramet_status st = RAMET_OK;
    spent_job s = {.n = SPENT_BATCH, .arena = arena_new()};
    while (st == RAMET_OK && s.n == SPENT_BATCH) {
        st = txn_write(j->call, spent_run, &s);
        for (size_t i = 0; st == RAMET_OK && i < s.n; i++) {
            out->attachments++;
            out->attachment_bytes += s.rows[i].size;
            j->seen++;
            file_reap(j->call, s.rows[i].sha);
        }
        if (st == RAMET_OK && s.n)
            st = progress_report(j);
    }
    arena_free(s.arena);
    return st;
}

static ramet_status sweep_progress(void *arg)
{
    reap_job *j = arg;
    TRY(progress_report(j));
    j->seen++;
    return RAMET_OK;
}

ramet_status attachments_reap(ramet_call *c, ramet_progress progress, void *arg, ramet_gc_out *out)
{
    reap_job j = {.call = c, .progress = progress, .arg = arg};
    TRY(rows_reap(&j, out));
    return files_sweep(c, sweep_progress, &j);
}

/* ------------------------------------------------------------------------ fsck */

typedef struct suspect {
    const char *id, *fault;
} suspect;

static void link_check(fsck *f, const char *id, int64_t expires, bool used)
{
    if (used == (expires != 0))
        fsck_fault(f, (fsck_location){FSCK_NOWHERE},
                   used ? "attachment %s is in use and would expire"
                        : "attachment %s is not in use and would never expire",
                   id);
}

/* Checks rows ordered by content, so that each file is read once. */
static void rows_check(fsck *f, arena *a, suspect **list, size_t *n_list)
{
    VEC(suspect) bad = {0};
    uint8_t last[HASH_LEN];
    const char *fault = NULL;
    int64_t last_size = -1;
    db_stmt *q = db_query(f->tx.db, Q_attachment_all);
    while (!f->stopped && q_row(q)) {
        size_t n;
        int64_t size = q_col_int(q, 2);
        const char *id = q_keep_text(q, 0, a);
        link_check(f, id, q_col_int(q, 3), q_col_int(q, 4) != 0);
        const void *digest = q_col_blob(q, 1, &n);
        if (!digest || n != HASH_LEN) {
            fsck_fault(f, (fsck_location){FSCK_NOWHERE}, "attachment %s is damaged", id);
            continue;
        }
        if (last_size != size || memcmp(last, digest, HASH_LEN) != 0)
            fault = file_fault(f->tx.call, a, digest, size);
        memcpy(last, digest, HASH_LEN);
        last_size = size;
        if (fault)
            VEC_PUSH(a, &bad, ((suspect){id, fault}));
        fsck_tick(f, 0);
    }
    q_end(q);
    *list = bad.items;
    *n_list = bad.n;
}

void fsck_attachments(fsck *f)
{
    arena *a = arena_new();
    suspect *bad;
    size_t n;
    rows_check(f, a, &bad, &n);
    fsck_read_ok(f, (fsck_location){FSCK_NOWHERE}, "reading the attachments");
    /* Check suspects again in a new snapshot: a row removed meanwhile has taken its file with
     * it. */
    db_end_read(f->tx.db);
    if (n && db_begin_read(f->tx.db) != RAMET_OK)
        fsck_read_ok(f, (fsck_location){FSCK_NOWHERE}, "reading the attachments");
    for (size_t i = 0; i < n; i++) {
        attachment_row r;
        if (attachment_load(&f->tx, bad[i].id, &r))
            fsck_fault(f, (fsck_location){FSCK_NOWHERE}, "attachment %s: %s", bad[i].id,
                       bad[i].fault);
    }
    fsck_read_ok(f, (fsck_location){FSCK_NOWHERE}, "reading the attachments");
    arena_free(a);
}

const char *fsck_files_fault(fsck *f, int64_t k, const ramet_entry *e)
{
    const char **ids;
    size_t n = entry_files(f->entry, e->parts, &ids);
    bool all = n > 0;
    for (size_t i = 0; i < n && all; i++) {
        db_stmt *q = db_query(f->tx.db, Q_attached_has);
        q_int(q, 1, f->tree);
        q_int(q, 2, k);
        q_text(q, 3, ids[i]);
        all = q_row(q);
        q_end(q);
    }
    return all ? NULL : "that it refers to an attachment is not recorded";
}
