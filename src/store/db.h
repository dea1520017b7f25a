/* SPDX-License-Identifier: Apache-2.0
 *
 * db.h: the thin database interface: prepare, bind, step, transaction.
 *
 * Two engines implement it: SQLite (a file) and PostgreSQL (a URL); db_open() chooses by the
 * location. Their differences are behind the functions of this header, so that core depends on
 * neither.
 *
 * A `db` is one connection and belongs to one thread at a time. Statements are named
 * (store/sql/sql.h), prepared on first use and kept.
 *
 * Errors are sticky: the first failure of a statement is kept in the connection, later statements
 * do nothing, and db_status() returns it. So a caller runs all its statements and checks once. The
 * next transaction starts clean. An engine may hold writes back and send them with the next read or
 * the commit: then their failure shows there.
 */
#ifndef STORE_DB_H
#define STORE_DB_H

#include "ramet.h"
#include "base/arena.h"
#include "store/sql/sql.h"

typedef struct db db;
typedef struct db_stmt db_stmt;

/* What the connections of one store share in this process; only PostgreSQL has one. */
typedef struct db_site db_site;

typedef struct db_config {
    const char *path; /* or URL */
    db_site *site;    /* NULL: create one */
    const char *vfs;  /* NULL = default */
    int busy_ms;
    bool create;           /* create the file when it is missing */
    bool writer;           /* else only reads */
    bool index;            /* the search index: no fsync per commit, because it can be rebuilt */
    const char *mode_from; /* the file whose group permissions a new file gets; NULL: none */
    bool read_only;        /* do not try to write: there is no disk space for that */
} db_config;

/* Whether a location is the URL of a PostgreSQL database. */
bool db_is_url(const char *name);
/* On failure *out is NULL; message (512 bytes) says why. */
ramet_status db_open(const db_config *cfg, db **out, char *message);
void db_close(db *d);

/* The first failure since the transaction began, and what the engine said. */
ramet_status db_status(const db *d);
const char *db_message(const db *d);
/* Whether the engine itself failed, as opposed to db_fail(). */
bool db_engine_failed(const db *d);
/* Sets the failure by hand: what was read makes no sense (RAMET_DAMAGED). */
void db_fail(db *d, ramet_status s, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Clears the failure. Inside a transaction a failure stays that keeps the transaction from being
 * committed: a lost connection, or a failed statement after writes. */
void db_clear(db *d);

/* DB_GUARDED and DB_GUARDED_FRESH: only where there are many writers. Each read in them is a
 * transaction of its own; writes are sent with the commit, and take effect only if all guards hold.
 * A statement that is not marked for them (store/sql/guarded_sql.h) fails there, and so does
 * q_hold() of a tree that has no guard: the store runs the operation again in a transaction of the
 * kind DB_WRITE. */
typedef enum { DB_READ, DB_WRITE, DB_SCHEMA, DB_GUARDED, DB_GUARDED_FRESH } db_work;

/* A read transaction sees one snapshot. Both end every open statement. */
ramet_status db_begin_read(db *d);
void db_end_read(db *d);
ramet_status db_begin_write(db *d);  /* RAMET_BUSY when another process holds the lock too long */
ramet_status db_begin_schema(db *d); /* a write that changes tables: one at a time, on any node */
ramet_status db_commit(db *d);       /* durable when it returns RAMET_OK */
void db_rollback(db *d);
/* Rows changed by this connection so far: shows whether something was written since. */
int64_t db_changes(db *d);
/* While writing: a number that changes when what this connection has read or written in earlier
 * transactions may have changed, because another process wrote or a transaction was rolled back. */
int64_t db_epoch(db *d);
/* The past that the connection leads to. It rises when committed data may have been lost by a
 * fail-over: then nothing that was read in an earlier past is valid, not even the meaning of a
 * number. It never changes within a transaction: the transaction fails instead. DB_PAST_UNKNOWN: a
 * replica, which may be of any past. */
#define DB_PAST_UNKNOWN (-1)
int64_t db_past(db *d);

/* Lets reads end early: `stop` is called now and then, on the thread that reads, and when it
 * returns true the connection fails with RAMET_STOP. NULL: never. Only between db_begin_read() and
 * db_end_read(): a write is never stopped in the middle. */
void db_stop_when(db *d, bool (*stop)(void *arg), void *arg);

/* Kinds of rows that have numbers. */
typedef enum {
    DB_TREE,
    DB_SESSION,
    DB_BRANCH,
    DB_VERDICT,
    DB_DELETION,
    DB_EVENT,
    DB_REMARK,
    DB_KINDS
} db_kind;
/* The next free number; only while writing. Each is used once. Numbers of two processes need not
 * rise with time. `at` (may be NULL) is a time; it is raised to that of the last row of its kind
 * when the clock went back. DB_EVENT: 0 where events are numbered after the commit. */
int64_t db_number(db *d, db_kind what, int64_t *at);
/* The same, above every number of its kind that any process was given before. */
int64_t db_number_above(db *d, db_kind what);
/* The row that must stay because the next number is derived from it; 0: there is none. */
int64_t db_highest(db *d, db_kind what);
/* For caches only. While writing: whether the transaction may rely on rows that any thread has read
 * before it, because its guards (q_guard()) are compared when it commits. */
bool db_guarded(const db *d);
/* ... but only on what was read in this transaction, because a guard has failed before. */
bool db_fresh(const db *d);

/* Returns a statement, reset. Bind every parameter: those of the previous use are still there. One
 * use at a time: requesting the same name again ends the previous use. Never NULL. */
db_stmt *db_query(db *d, sql_id q);
/* Parameters count from 1. Texts and blobs are not copied: they must live until q_end(). */
void q_int(db_stmt *q, int n, int64_t v);
void q_text(db_stmt *q, int n, const char *s); /* NULL binds NULL */
void q_blob(db_stmt *q, int n, const void *p, size_t len);
/* True when there is a row. At the end, or on failure, returns false and resets the statement. */
bool q_row(db_stmt *q);
/* Runs a statement that returns no rows. */
void q_run(db_stmt *q);
/* Runs a statement that must change a row: otherwise the whole transaction fails. */
void q_change(db_stmt *q);
/* Runs a statement that must find a row: otherwise the whole transaction fails. Only a guarded
 * transaction has to check; in any other, what it has read still holds. */
void q_guard(db_stmt *q);
/* Whether other writers run concurrently. */
bool db_concurrent(const db *d);
/* Runs, at the end of a write, a statement that must find its row as it was when the transaction
 * began: otherwise the transaction is run again. Only where db_concurrent(); does nothing when
 * nothing was written. */
void q_hold(db_stmt *q);
/* Ends the use of a statement before its last row. */
void q_end(db_stmt *q);
/* Where each read is a round trip, the reads for many items can be sent together. db_prefetch()
 * returns false when there is nothing to gain. True: until db_prefetched(), a statement whose
 * answer is not known yet returns no row, and is sent. So a caller that builds an answer out of
 * many reads first builds it on trial, clears the failures (db_clear()) and discards the result,
 * and repeats that as long as db_prefetched() says that something new was requested. Then it builds
 * the answer for real, and db_performed() drops the prefetched rows. Only in a read transaction. */
bool db_prefetch(db *d);
bool db_prefetched(db *d);
void db_performed(db *d);
/* Columns count from 0. NULL reads as 0 or NULL. The bytes live until the next q_ call on it. */
int64_t q_col_int(db_stmt *q, int n);
double q_col_real(db_stmt *q, int n);
const char *q_col_text(db_stmt *q, int n);
const void *q_col_blob(db_stmt *q, int n, size_t *len);
bool q_col_null(db_stmt *q, int n);
/* The same, copied to an arena. */
const char *q_keep_text(db_stmt *q, int n, arena *a);
/* Columns whose values must be validated because the file may be damaged. When a value is outside
 * what a store can hold, the connection fails with RAMET_DAMAGED and a message that names the
 * column (`what`, "table.column"); the result is still usable: `low`, or "". */
int64_t q_col_range(db_stmt *q, int n, int64_t low, int64_t high, const char *what);
const char *q_need_text(db_stmt *q, int n, arena *a, const char *what); /* must not be NULL */

/* Runs a script of the schema; store/sql/schema.c lists the marks that stand for the engine's own
 * words. */
ramet_status db_script(db *d, const char *sql);
/* One integer or text from a statement given as text (pragmas of the driver, tests of query
 * plans). */
int64_t db_one(db *d, const char *sql);

/* The schema version of the store; 0 for an empty one. */
int64_t db_version(db *d);
void db_set_version(db *d, int64_t v);
/* Whether it is marked as a Ramet store; db_mark() marks it. */
bool db_marked(db *d);
void db_mark(db *d);
bool db_empty(db *d); /* it has no tables yet */

/* Empties the file in place, even when it is damaged. Only for what can be rebuilt. */
ramet_status db_reset(db *d);
/* Empties the page cache. */
void db_release(db *d);
/* Whether it is a read-only file. */
bool db_read_only(db *d);
/* SQLite's own connection, for features that only it has (the search index). */
void *db_handle(db *d);

/* Bytes on disk: of data, and of the write-ahead log. */
void db_sizes(db *d, int64_t *data, int64_t *log);
/* Runs the engine's own check and reports its findings line by line; false when it could not
 * run. */
bool db_check(db *d, void (*line)(void *arg, const char *text), void *arg);
/* Copies a snapshot to a new file; RAMET_INVALID where the engine has its own tools for that. */
ramet_status db_backup(db *d, const char *path, ramet_progress progress, void *arg);
/* Pages in the write-ahead log after the last commit of this connection; 0: it has none. */
int db_log_pages(const db *d);
/* Outside a transaction: moves the write-ahead log into the main file, as far as readers allow it.
 * A failure does not affect committed data, but means that the disk failed. */
ramet_status db_checkpoint(db *d);

#endif
