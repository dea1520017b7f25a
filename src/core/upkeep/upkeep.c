/* SPDX-License-Identifier: Apache-2.0
 *
 * Upkeep for the embedding program: online backup and statistics.
 */
#include "core/attachment/files.h"
#include "core/call.h"
#include "core/handle.h"
#include "core/search/search_upkeep.h"
#include "core/txn.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

ramet_status program_only(ramet_call *c)
{
    if (!c->user)
        return RAMET_OK;
    return call_fail(c, RAMET_FORBIDDEN, NULL,
                     "only the program that opened the store may do that, not %s", c->user);
}

/* Creates the target, so that two backups never write into one file. */
static ramet_status target_claim(ramet_call *c, const char *path)
{
    if (!path || !*path)
        return call_fail(c, RAMET_INVALID, "path", "a backup needs a path to write to");
    const char *files = arena_printf(c->arena, "%s.files", path);
    if (access(files, F_OK) == 0)
        return call_fail(c, RAMET_INVALID, "path", "%s exists; a backup goes to a new place",
                         files);
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (fd >= 0) {
        close(fd);
        return RAMET_OK;
    }
    if (errno == EEXIST)
        return call_fail(c, RAMET_INVALID, "path", "%s exists; a backup goes to a new file", path);
    return call_fail(c, RAMET_CANNOT_OPEN, "path", "%s cannot be made: %s", path, strerror(errno));
}

static ramet_status file_copy(ramet_call *c, const char *path, ramet_progress progress, void *arg)
{
    txn tx;
    if (!txn_read(&tx, c))
        return c->err.status;
    /* The copy takes its own snapshot, on this connection. */
    db_end_read(tx.db);
    ramet_status st = db_backup(tx.db, path, progress, arg);
    if (st != RAMET_OK && db_status(tx.db) == RAMET_OK)
        call_fail(c, st, NULL, "%s", ramet_status_text(st));
    return txn_done(&tx, st);
}

ramet_status ramet_backup(ramet_call *c, const char *path, ramet_progress progress, void *arg)
{
    TRY(program_only(c));
    if (!store_file(c->ramet->store))
        return call_fail(c, RAMET_INVALID, NULL,
                         "a store in a database is backed up by the database's own tools, such as "
                         "pg_dump and pg_basebackup");
    TRY(target_claim(c, path));
    /* Taken before the snapshot: no attachment file in the snapshot is removed before it is
     * copied. */
    int hold = files_hold(c);
    ramet_status st = file_copy(c, path, progress, arg);
    if (st == RAMET_OK)
        st = files_copy(c, arena_printf(c->arena, "%s.files", path), progress, arg);
    if (st != RAMET_OK)
        unlink(path);
    if (hold >= 0)
        close(hold);
    return st;
}

static int64_t one_number(txn *tx, sql_id what, int64_t arg, int64_t *second)
{
    db_stmt *q = db_query(tx->db, what);
    q_int(q, 1, arg);
    int64_t v = 0;
    if (q_row(q)) {
        v = q_col_int(q, 0);
        if (second)
            *second = q_col_int(q, 1);
    }
    q_end(q);
    return v;
}

ramet_status ramet_stat(ramet_call *c, ramet_stats *out)
{
    txn tx;
    *out = (ramet_stats){0};
    TRY(program_only(c));
    store_settle(c->ramet->store);
    if (!txn_read(&tx, c))
        return c->err.status;
    out->path = arena_strdup(tx.arena, store_path(c->ramet->store));
    out->schema = db_version(tx.db);
    out->trees = one_number(&tx, Q_tree_count, 0, NULL);
    out->sessions = one_number(&tx, Q_session_counts, tx.now, &out->forks);
    out->deleted = one_number(&tx, Q_session_count_deleted, tx.now, NULL);
    out->branches = one_number(&tx, Q_branch_count, 0, &out->entries);
    out->events = one_number(&tx, Q_max_event, 0, NULL);
    out->attachments = one_number(&tx, Q_attachment_sums, 0, &out->attachment_bytes);
    db_sizes(tx.db, &out->file_bytes, &out->wal_bytes);
    ramet_status st = txn_done(&tx, RAMET_OK);
    out->search_bytes = search_bytes(c->ramet);
    int64_t seen = search_mark(c->ramet);
    out->unindexed = out->events > seen ? out->events - seen : 0;
    store_counters(c->ramet->store, &out->commits, &out->writes, out->batches);
    return st;
}
