/* SPDX-License-Identifier: Apache-2.0
 *
 * Attachments: the row, access to it, and how entries refer to it. attachment.h has the invariants.
 *
 * An attachment may be read by its uploader, and by every user who may read an entry that refers to
 * it. A session holds the entries on the paths of all its branches, so these are the sessions that
 * appended such an entry, and those with a branch that inherits it (their heirs).
 */
#include "core/attachment/attachment.h"

#include "ramet/memory.h"
#include "core/access/share.h"
#include "core/attachment/files.h"
#include "core/call.h"
#include "core/check.h"
#include "core/columns.h"
#include "core/model/entry.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/txn.h"

#include <assert.h>
#include <stdio.h>
#include <unistd.h>

/* ---------------------------------------------------------------------- row */

bool attachment_load(txn *tx, const char *id, attachment_row *r)
{
    db_stmt *q = db_query(tx->db, Q_attachment_get);
    q_text(q, 1, id);
    bool found = q_row(q);
    if (found) {
        size_t n = 0;
        *r = (attachment_row){
            .size = col_size(q, 2), .created = q_col_int(q, 6), .expires = q_col_int(q, 7)};
        const void *digest = q_col_blob(q, 1, &n);
        if (digest && n == HASH_LEN)
            memcpy(r->sha, digest, HASH_LEN);
        else
            db_fail(tx->db, RAMET_DAMAGED, "attachment %s is damaged", id);
        r->id = q_need_text(q, 0, tx->arena, "attachment.id");
        r->name = q_need_text(q, 3, tx->arena, "attachment.name");
        r->media_type = q_need_text(q, 4, tx->arena, "attachment.media_type");
        r->owner = q_need_text(q, 5, tx->arena, "attachment.owner");
    }
    q_end(q);
    return found && db_status(tx->db) == RAMET_OK;
}

void attachment_insert(txn *tx, const attachment_row *r)
{
    assert(tx->writing);
    db_stmt *q = db_query(tx->db, Q_attachment_add);
    q_text(q, 1, r->id);
    q_blob(q, 2, r->sha, HASH_LEN);
    q_int(q, 3, r->size);
    q_text(q, 4, r->name);
    q_text(q, 5, r->media_type);
    q_text(q, 6, r->owner);
    q_int(q, 7, r->created);
    q_int(q, 8, r->expires);
    q_run(q);
}

ramet_attachment *attachment_show(txn *tx, const attachment_row *r)
{
    ramet_attachment *out = arena_alloc(tx->arena, sizeof *out);
    *out = (ramet_attachment){.id = arena_strdup(tx->arena, r->id),
                              .name = arena_strdup(tx->arena, r->name ? r->name : ""),
                              .media_type =
                                  arena_strdup(tx->arena, r->media_type ? r->media_type : ""),
                              .size = r->size,
                              .created = r->created,
                              .expires = r->expires};
    out->owner = r->owner && r->owner[0] ? arena_strdup(tx->arena, r->owner) : NULL;
    hex_encode(r->sha, HASH_LEN, out->sha256);
    return out;
}

/* The same message whether it does not exist or is hidden from the caller (decision 14). */
ramet_status attachment_missing(ramet_call *c, const char *field, const char *id, bool hidden)
{
    call_fail(c, RAMET_ATTACHMENT_NOT_FOUND, field, "there is no attachment %s", id);
    c->err.hidden = hidden;
    snprintf(c->err.subject, sizeof c->err.subject, "%s", id);
    return RAMET_ATTACHMENT_NOT_FOUND;
}

/* ------------------------------------------------------------------- access */

static bool uploaded_by(const ramet_call *c, const attachment_row *r)
{
    return !c->user || (r->owner && strcmp(r->owner, c->user) == 0);
}

/* Whether the caller may read the entries of that session and log. */
static bool home_open(txn *tx, int64_t tree, int64_t no, int log)
{
    session_full s;
    if (!session_by_no(tx, tree, no, &s) || session_gone(tx, &s.access) ||
        (!session_visible(tx, &s.access) && !share_gives(tx, &s.access, NEED_READ)))
        return false;
    if (log == RAMET_LOG_MAIN)
        return true;
    bool may = session_open(tx, s.id, NEED_CHANGE, &s) == RAMET_OK;
    memset(&tx->call->err, 0, sizeof tx->call->err);
    return may;
}

/* Whether the caller may read one of the sessions that a statement returns (tree, number, log). */
static bool any_open(txn *tx, sql_id what, const char *id)
{
    txn look = *tx;
    look.arena = arena_new();
    int64_t last = 0, last_log = 0;
    bool open = false;
    db_stmt *q = db_query(tx->db, what);
    q_text(q, 1, id);
    q_text(q, 2, tx->call->user);
    q_int(q, 3, tx->call->share.on ? tx->call->share.tree : 0);
    while (!open && q_row(q)) {
        int64_t tree = q_col_int(q, 0), no = q_col_int(q, 1), log = q_col_int(q, 2);
        if (no == last && log == last_log)
            continue;
        last = no;
        last_log = log;
        open = home_open(&look, tree, no, (int)log);
        arena_reset(look.arena);
    }
    q_end(q);
    arena_free(look.arena);
    return open;
}

static bool spent(const txn *tx, const attachment_row *r)
{
    return r->expires && r->expires <= tx->now;
}

/* O(sessions that refer to it) when the caller may read one of them, else O(branches below, in
 * trees of the caller). */
static bool attachment_readable(txn *tx, const attachment_row *r)
{
    if (spent(tx, r))
        return false;
    return uploaded_by(tx->call, r) || any_open(tx, Q_attached_homes, r->id) ||
           any_open(tx, Q_attached_heirs, r->id);
}

static ramet_status attachment_find(txn *tx, const char *id, attachment_row *r)
{
    bool there = attachment_load(tx, id, r), open = there && attachment_readable(tx, r);
    TRY(txn_status(tx));
    return open ? RAMET_OK
                : attachment_missing(tx->call, "attachment_id", id, there && !spent(tx, r));
}

/* ------------------------------------------------------------------ entries */

ramet_status attachments_check(txn *tx, const entry_new *n)
{
    for (size_t i = 0; i < n->n_files; i++) {
        attachment_row r;
        bool there = attachment_load(tx, n->files[i], &r);
        bool open = there && attachment_readable(tx, &r);
        TRY(txn_status(tx));
        if (!open)
            return attachment_missing(tx->call, n->files_field, n->files[i],
                                      there && !spent(tx, &r));
    }
    return RAMET_OK;
}

void attachments_link(txn *tx, int64_t tree, int64_t k, const entry_new *n)
{
    assert(tx->writing);
    for (size_t i = 0; i < n->n_files; i++) {
        db_stmt *q = db_query(tx->db, Q_attached_add);
        q_int(q, 1, tree);
        q_int(q, 2, k);
        q_text(q, 3, n->files[i]);
        q_run(q);
        q = db_query(tx->db, Q_attachment_used);
        q_text(q, 1, n->files[i]);
        q_run(q);
    }
}

static bool attached_where(txn *tx, const char *id, int64_t tree)
{
    db_stmt *q = db_query(tx->db, tree ? Q_attached_in : Q_attached_any);
    q_text(q, 1, id);
    if (tree)
        q_int(q, 2, tree);
    bool yes = q_row(q);
    q_end(q);
    return yes;
}

ramet_status attachment_again(txn *tx, int64_t tree, const ramet_again *a)
{
    attachment_row r;
    bool there = attachment_load(tx, a->from, &r) && !spent(tx, &r);
    TRY(txn_status(tx));
    if (!there)
        return attachment_missing(tx->call, "attachment_id", a->from, false);
    if (!attached_where(tx, a->from, tree) &&
        (attached_where(tx, a->from, 0) || !uploaded_by(tx->call, &r)))
        return call_fail(tx->call, RAMET_FORBIDDEN, "attachment_id",
                         "attachment %s belongs to another tree", a->from);
    r.id = a->id;
    r.owner = tx->call->user ? tx->call->user : "";
    r.created = tx->now;
    r.expires = tx->now + UNUSED_US; /* until the entry is written, in the same commit */
    attachment_insert(tx, &r);
    return txn_status(tx);
}

/* -------------------------------------------------------------------- calls */

ramet_status ramet_attachment_get(ramet_call *c, const char *id, ramet_attachment **out)
{
    txn tx;
    attachment_row r;
    *out = NULL;
    TRY(check_id(c, "attachment_id", id));
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_status st = attachment_find(&tx, id, &r);
    if (st == RAMET_OK)
        *out = attachment_show(&tx, &r);
    return txn_done(&tx, st);
}

ramet_status ramet_attachment_open(ramet_call *c, const char *id, ramet_attachment **out, int *fd)
{
    struct stat file;
    uint8_t digest[HASH_LEN];
    *fd = -1;
    TRY(ramet_attachment_get(c, id, out));
    hex_decode((*out)->sha256, digest, HASH_LEN);
    int64_t size = (*out)->size;
    int got;
    ramet_status st = file_open(c, digest, size, &got);
    /* If it was removed since it was looked up, report that it is not found; otherwise it is
     * damaged. */
    if (st == RAMET_OK && got < 0 && (st = ramet_attachment_get(c, id, out)) == RAMET_OK)
        st = call_fail(c, RAMET_DAMAGED, NULL, "the file of attachment %s is missing", id);
    if (st != RAMET_OK) {
        *out = NULL;
        return st;
    }
    if (fstat(got, &file) != 0 || !S_ISREG(file.st_mode) || file.st_size != size) {
        close(got);
        *out = NULL;
        return call_fail(c, RAMET_DAMAGED, NULL, "the file of attachment %s has a wrong size", id);
    }
    *fd = got;
    return RAMET_OK;
}

typedef struct delete_job {
    const char *id;
    uint8_t sha[HASH_LEN];
    bool done;
} delete_job;

static ramet_status delete_run(txn *tx, void *arg)
{
    delete_job *j = arg;
    attachment_row r;
    TRY(attachment_find(tx, j->id, &r));
    if (!uploaded_by(tx->call, &r))
        return call_fail(tx->call, RAMET_FORBIDDEN, "attachment_id",
                         "only who uploaded attachment %s may delete it", j->id);
    db_stmt *q = db_query(tx->db, Q_attached_any);
    q_text(q, 1, j->id);
    bool used = q_row(q);
    q_end(q);
    if (used)
        return call_fail(tx->call, RAMET_ATTACHMENT_IN_USE, "attachment_id",
                         "an entry refers to attachment %s", j->id);
    q = db_query(tx->db, Q_attachment_del);
    q_text(q, 1, j->id);
    q_run(q);
    memcpy(j->sha, r.sha, HASH_LEN);
    j->done = true;
    return txn_status(tx);
}

ramet_status ramet_attachment_delete(ramet_call *c, const char *id)
{
    delete_job j = {.id = id};
    TRY(check_id(c, "attachment_id", id));
    TRY(txn_write(c, delete_run, &j));
    if (j.done)
        file_reap(c, j.sha);
    return RAMET_OK;
}
