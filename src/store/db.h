/* SPDX-License-Identifier: Apache-2.0
 *
 * db.h: the thin database interface: prepare, bind, step, transaction.
 *
 * Two engines implement it: SQLite (a file) and PostgreSQL (a URL); db_open() picks by the place.
 * What they differ in is behind a function here, so that core knows neither.
 *
 * A `db` is one connection and belongs to one thread at a time. Statements are named
 * (store/sql/sql.h), prepared on first use and kept.
 *
 * Errors are sticky: the first failure of a statement is kept in the connection, later statements
 * do nothing, and db_status() returns it. So a caller runs what it has to run and checks once. The
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

/* What the connections of one store share in this process; only PostgreSQL has it. */
typedef struct db_site db_site;

typedef struct db_config {
    const char *path; /* or URL */
    db_site *site;    /* NULL: one of its own */
    const char *vfs;  /* NULL = default */
    int busy_ms;
    bool create;           /* make the file when it is missing */
    bool writer;           /* else only reads */
    bool index;            /* the search index: no fsync a commit, it can be made anew */
    const char *mode_from; /* the file whose group's rights a new one gets, too; NULL: none */
    bool read_only;        /* do not try to write: there is no room for what that needs */
} db_config;

/* Whether a place is the URL of a PostgreSQL database. */
bool db_is_url(const char *place);
/* On failure *out is NULL; message (512 bytes) says why. */
ramet_status db_open(const db_config *cfg, db **out, char *message);
void db_close(db *d);

/* The first failure since the transaction began, and what the engine said. */
ramet_status db_status(const db *d);
const char *db_message(const db *d);
/* Whether the engine itself failed: what was only read and made no sense (db_fail) is not that. */
bool db_engine_failed(const db *d);
/* Sets it by hand: what was read makes no sense (RAMET_DAMAGED). */
void db_fail(db *d, ramet_status s, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Forgets it. Inside a transaction a failure stays that keeps the transaction from being committed:
 * a lost connection, or a failed statement behind writes. */
void db_clear(db *d);

/* DB_GUARDED and DB_GUARDED_FRESH: only where there are many writers. Each read in them stands for
 * itself; writes go out with the commit, and happen only if all guards hold. A statement that is
 * not marked for them (store/sql/guarded_sql.h) fails there, and so does q_hold() of a tree that
 * has no guard: the store runs the operation again in a transaction of the kind DB_WRITE. */
typedef enum { DB_READ, DB_WRITE, DB_SCHEMA, DB_GUARDED, DB_GUARDED_FRESH } db_work;

/* A read transaction sees one snapshot. Both end every open statement. */
ramet_status db_begin_read(db *d);
void db_end_read(db *d);
ramet_status db_begin_write(db *d);  /* RAMET_BUSY when another process holds the lock too long */
ramet_status db_begin_schema(db *d); /* a write that changes tables: one at a time, on any node */
ramet_status db_commit(db *d);       /* durable when it returns RAMET_OK */
void db_rollback(db *d);
/* Rows changed by this connection so far; tells whether something was written since. */
int64_t db_changes(db *d);
/* While writing: a number that changes when what this connection has read or written in earlier
 * transactions may be otherwise now, because another process wrote or it was rolled back. */
int64_t db_epoch(db *d);
/* The past that the connection leads to. It rises when what was committed may have become undone,
 * by a fail-over: nothing that was read in an earlier past holds then, not even that a number means
 * the same thing. It never changes within a transaction: that fails instead. DB_PAST_UNKNOWN: a
 * replica, which may be of any past. */
#define DB_PAST_UNKNOWN (-1)
int64_t db_past(db *d);

/* Lets reads end early: `stop` is asked now and then, on the thread that reads, and when it says so
 * the connection fails with RAMET_STOP. NULL: never. Only between db_begin_read() and
 * db_end_read(): a write is never stopped in the middle. */
void db_stop_when(db *d, bool (*stop)(void *arg), void *arg);

/* What has numbers. */
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
/* The next free number; only while writing. Each is used once. Numbers that two processes take need
 * not rise with time. `at` (may be NULL) is a time, and is raised to that of the last one of its
 * kind when the clock went back. DB_EVENT: 0 where events are numbered after the commit. */
int64_t db_number(db *d, db_kind what, int64_t *at);
/* The same, above every number of its kind that was given before, by whichever process. */
int64_t db_number_above(db *d, db_kind what);
/* The row that has to stay because the next number is taken from it; 0: there is none such. */
int64_t db_highest(db *d, db_kind what);
/* For caches alone. While writing: whether the transaction may rely on rows that were read before
 * it, by any thread, since its guards (q_guard()) are compared when it is committed. */
bool db_guarded(const db *d);
/* ... but only on what was read in this transaction: a guard has failed before. */
bool db_fresh(const db *d);

/* A statement, reset. Bind every parameter: those of the use before are still there. One use at a
 * time: asking again for the same name ends the use before. Never NULL. */
db_stmt *db_query(db *d, sql_id q);
/* Parameters count from 1. Texts and blobs are not copied: they must live until q_end(). */
void q_int(db_stmt *q, int n, int64_t v);
void q_text(db_stmt *q, int n, const char *s); /* NULL binds NULL */
void q_blob(db_stmt *q, int n, const void *p, size_t len);
/* True when there is a row. At the end, or on failure, false, and the statement is reset. */
bool q_row(db_stmt *q);
/* Runs a statement that gives no rows. */
void q_run(db_stmt *q);
/* Runs one that must change a row: otherwise nothing of this transaction happens. */
void q_change(db_stmt *q);
/* Runs one that must find a row: otherwise nothing of this transaction happens. Only a guarded
 * transaction has to look; in any other what was read in it still holds. */
void q_guard(db_stmt *q);
/* Whether others may write beside this one: there are several writers. */
bool db_concurrent(const db *d);
/* Runs, at the end of a write, one that must find its row as it was when the transaction began:
 * otherwise the transaction is run again. Only where db_concurrent(); does nothing when nothing was
 * written. */
void q_hold(db_stmt *q);
/* Ends the use before the last row. */
void q_end(db_stmt *q);
/* Where each read is a round trip, what is going to be read for many things can be asked for at
 * once. False: there is nothing to gain. True: until db_prefetched() a statement whose answer is
 * not known yet gives no row, and is sent. So a caller that makes an answer out of many reads makes
 * it once for nothing, clears the failures of that (db_clear()), and keeps nothing of it; and
 * again, as long as db_prefetched() says that something new was asked for. Then it makes the answer
 * in earnest; db_performed() forgets what was read for it. Only in a read transaction. */
bool db_prefetch(db *d);
bool db_prefetched(db *d);
void db_performed(db *d);
/* Columns count from 0. NULL is 0 and NULL. The bytes live until the next q_ call on it. */
int64_t q_col_int(db_stmt *q, int n);
double q_col_real(db_stmt *q, int n);
const char *q_col_text(db_stmt *q, int n);
const void *q_col_blob(db_stmt *q, int n, size_t *len);
bool q_col_null(db_stmt *q, int n);
/* The same, kept in an arena. */
const char *q_keep_text(db_stmt *q, int n, arena *a);
/* Columns that a damaged file must not be trusted with. Where the value is not what every store
 * holds there, the connection fails with RAMET_DAMAGED and a message that names the column (`what`,
 * "table.column"); the result is one that can be used all the same: `low`, or "". */
int64_t q_col_range(db_stmt *q, int n, int64_t low, int64_t high, const char *what);
const char *q_need_text(db_stmt *q, int n, arena *a, const char *what); /* must not be NULL */

/* A script of the schema; store/sql/schema.c tells the marks that stand for the engine's own words.
 */
ramet_status db_script(db *d, const char *sql);
/* One integer or text from a statement given as text (pragmas of the driver, tests of the plan). */
int64_t db_one(db *d, const char *sql);

/* The version that the store was written with; 0 for an empty one. */
int64_t db_version(db *d);
void db_set_version(db *d, int64_t v);
/* Whether it is marked as a Ramet store; marks it. */
bool db_marked(db *d);
void db_mark(db *d);
bool db_empty(db *d); /* nothing in it yet */

/* Empties the file in place, also when it is damaged. Only for what can be made anew. */
ramet_status db_reset(db *d);
/* Empties the cache of pages. */
void db_release(db *d);
/* Whether it is a file that can only be read. */
bool db_read_only(db *d);
/* SQLite's own connection, for what only it has (the search index). */
void *db_handle(db *d);

/* Bytes that it takes: of data, and of the log of what was written last. */
void db_sizes(db *d, int64_t *data, int64_t *log);
/* What the engine's own check finds, line by line; false when it could not run. */
bool db_check(db *d, void (*line)(void *arg, const char *text), void *arg);
/* Copies a snapshot to a new file; RAMET_INVALID where the engine has tools of its own for that. */
ramet_status db_backup(db *d, const char *path, ramet_progress progress, void *arg);
/* Pages in the write-ahead log after the last commit of this connection; 0: it has none. */
int db_log_pages(const db *d);
/* Outside a transaction: moves what is in the write-ahead log into the main file, as far as others
 * let it. A failure does not touch what was committed, but the disk failed. */
ramet_status db_checkpoint(db *d);

#endif
