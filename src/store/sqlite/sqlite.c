/* SPDX-License-Identifier: Apache-2.0
 *
 * The SQLite engine of store/db.h.
 *
 * Settings, and why:
 *   WAL, synchronous=FULL   a commit is one append and one fsync, and is power-safe
 *   automatic_index=OFF     a planner trap: a tail page through one took 1,000 times as long
 *   mmap off                a truncated file must be an error, not a SIGBUS
 *   busy handler            waits with short sleeps, so that processes share the lock fairly
 */
#include "store/engine.h"

#include "base/util.h"
#include "store/sqlite/wal_vfs.h"
#include "store/sqlite/sqlite_file.h"

#include <assert.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define APPLICATION_ID 0x52414d54 /* "RAMT" */
#define MAX_PARAMS 40

/* The statements around a transaction: prepared once, like all others. */
typedef enum { BEGIN_READ, BEGIN_WRITE, COMMIT, VERSION, N_BOUNDS } bound;
static const char *const bound_sql[N_BOUNDS] = {"BEGIN", "BEGIN IMMEDIATE", "COMMIT",
                                                "PRAGMA data_version"};

typedef struct lite lite;

typedef struct lite_stmt {
    db_stmt base;
    lite *connection;
    sqlite3_stmt *stmt;
    sql_id id;
    bool busy;               /* stepped and not reset */
    bool by_time;            /* it is the one of its kind that goes by time (by_time()) */
    int map[MAX_PARAMS + 1]; /* $n -> SQLite's own number, 0 when unused */
} lite_stmt;

struct lite {
    db base;
    sqlite3 *handle;
    bool in_txn;
    int64_t event;   /* last number assigned in this transaction; 0: not read yet */
    int64_t epoch;   /* db_epoch() */
    int64_t version; /* data_version when it was last read */
    bool looked;     /* data_version was read in this transaction */
    bool read_only;  /* the file cannot be written */
    int busy_ms;
    int64_t busy_until;
    int log_pages; /* in the write-ahead log after the last commit of this connection */
    lite_stmt *stmts[Q_COUNT];
    int n_busy;     /* statements that are stepped and not reset */
    lite_stmt none; /* returned when a statement could not be prepared */
    sqlite3_stmt *bounds[N_BOUNDS];
};

static void lite_close(db *d);
static void lite_end(db_stmt *q);
static bool lite_marked(db *d);
static bool lite_empty(db *d);

static lite *lite_of(db *d)
{
    return (lite *)d;
}

static lite_stmt *stmt_of(db_stmt *q)
{
    return (lite_stmt *)q;
}

static void fail_rc(lite *d, int rc, const char *what)
{
    if (d->base.status != RAMET_OK)
        return;
    bool full = sqlite_file_full(d->handle, rc);
    d->base.status = full ? RAMET_FULL : sqlite_status(rc);
    d->base.engine_failed = true;
    const char *means = sqlite3_errstr(full ? SQLITE_FULL : rc);
    const char *said = full ? means : sqlite3_errmsg(d->handle);
    /* SQLite has no error code for a header with an unknown format, nor for sums that overflow; in
     * a sound store neither occurs. */
    if (rc == SQLITE_ERROR &&
        (strcmp(said, "unsupported file format") == 0 || strcmp(said, "integer overflow") == 0))
        d->base.status = RAMET_DAMAGED;
    bool twice = strcmp(said, means) == 0;
    snprintf(d->base.message, sizeof d->base.message, "%s%s%s%s%s", said, twice ? "" : ": ",
             twice ? "" : means, what ? ", in " : "", what ? what : "");
}

/* Sleeps 0.1 ms at first, up to 2 ms: about the time of a commit by another process. */
static int on_busy(void *arg, int count)
{
    lite *d = arg;
    int64_t now = time_mono_us();
    if (count == 0)
        d->busy_until = now + (int64_t)d->busy_ms * 1000;
    if (now >= d->busy_until)
        return 0;
    long us = 100L << (count < 5 ? count : 5);
    struct timespec ts = {0, (us < 2000 ? us : 2000) * 1000};
    nanosleep(&ts, NULL);
    return 1;
}

static bool exec(lite *d, const char *sql)
{
    int rc = sqlite3_exec(d->handle, sql, NULL, NULL, NULL);
    if (rc != SQLITE_OK)
        fail_rc(d, rc, NULL);
    return rc == SQLITE_OK;
}

static int on_log(void *arg, sqlite3 *h, const char *name, int pages)
{
    (void)h;
    (void)name;
    ((lite *)arg)->log_pages = pages;
    return SQLITE_OK;
}

/* Refuses a file that is not a store before anything in it is changed. An empty file may be one
 * whose creation was interrupted. */
static bool ours(lite *d, const db_config *cfg)
{
    if (lite_marked(&d->base) || (cfg->create && lite_empty(&d->base)))
        return d->base.status == RAMET_OK;
    db_fail(&d->base, RAMET_NOT_A_STORE, "the file is %s, not a Ramet store",
            lite_empty(&d->base) ? "empty" : "another program's database");
    return false;
}

/* A search index that cannot be read is rebuilt. */
static bool reset_damaged(lite *d)
{
    bool useless = d->base.status == RAMET_NOT_A_STORE || d->base.status == RAMET_DAMAGED;
    return useless && db_reset(&d->base) == RAMET_OK;
}

static bool configure(lite *d, const db_config *cfg)
{
    sqlite3_busy_handler(d->handle, on_busy, d);
    sqlite3_progress_handler(d->handle, DB_STEPS_PER_STOP, db_on_progress, d);
    sqlite3_extended_result_codes(d->handle, 1);
    sqlite3_db_config(d->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(d->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    /* The first statement reads the header, so a file that is not a database is detected here. */
    if (!exec(d, "PRAGMA schema_version") && !(cfg->index && !d->read_only && reset_damaged(d)))
        return false;
    if (cfg->writer && !cfg->index && !ours(d, cfg))
        return false;
    if (!d->read_only && !exec(d, "PRAGMA journal_mode=WAL") &&
        !(cfg->index && reset_damaged(d) && exec(d, "PRAGMA journal_mode=WAL")))
        return false;
    exec(d, "PRAGMA automatic_index=OFF");
    exec(d, "PRAGMA mmap_size=0");
    /* One writer, but one reader per thread: their caches add up. */
    exec(d, cfg->index    ? "PRAGMA cache_size=-16384"
            : cfg->writer ? "PRAGMA cache_size=-8192"
                          : "PRAGMA cache_size=-2048");
    exec(d, "PRAGMA temp_store=MEMORY");
    exec(d, cfg->index ? "PRAGMA cell_size_check=OFF" : "PRAGMA cell_size_check=ON");
    exec(d, cfg->index ? "PRAGMA synchronous=NORMAL" : "PRAGMA synchronous=FULL");
    exec(d, "PRAGMA wal_autocheckpoint=4000");
    /* SQLite's own checkpoints do not report failures; the store runs db_checkpoint() instead. */
    if (cfg->writer && !cfg->index)
        sqlite3_wal_hook(d->handle, on_log, d);
    exec(d, "PRAGMA journal_size_limit=67108864");
    if (!cfg->writer)
        exec(d, "PRAGMA query_only=ON");
    return d->base.status == RAMET_OK;
}

/* SQLite counts its memory under a lock that all connections share, and we never read the count.
 * Has no effect when the embedding program has initialized SQLite already. */
static void settle_once(void)
{
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    sqlite_files_setup();
}

/* SQLite opens a file that it may not write for reading, and fails later because -shm is
 * missing. */
static int handle_open(lite *d, const db_config *cfg)
{
    int flags =
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (cfg->create ? SQLITE_OPEN_CREATE : 0);
    bool gather = cfg->writer && !cfg->index; /* it syncs every commit */
    int rc = SQLITE_OK;
    if (!cfg->read_only)
        rc = sqlite3_open_v2(cfg->path, &d->handle, flags, gather ? wal_vfs(cfg->vfs) : cfg->vfs);
    d->read_only =
        rc == SQLITE_OK && (cfg->read_only || sqlite3_db_readonly(d->handle, "main") == 1);
    if (!d->read_only)
        return rc;
    sqlite3_close(d->handle);
    d->handle = NULL;
    return sqlite_file_open_read(cfg->path, sqlite_file_read_mode(cfg->path), &d->handle);
}

static ramet_status lite_open(const db_config *cfg, db **out, char *message)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, settle_once);
    *out = NULL;
    ramet_status st = sqlite_file_claim(cfg, message);
    if (st != RAMET_OK)
        return st;
    lite *d = xcalloc(1, sizeof *d);
    d->base.engine = &sqlite_engine;
    d->busy_ms = cfg->busy_ms > 0 ? cfg->busy_ms : 10000;
    d->none = (lite_stmt){.base = {&sqlite_engine, &d->base}, .connection = d};
    int rc = handle_open(d, cfg);
    if (rc != SQLITE_OK)
        fail_rc(d, rc, NULL);
    if (rc == SQLITE_OK && configure(d, cfg)) {
        *out = &d->base;
        return RAMET_OK;
    }
    st = d->base.status;
    snprintf(message, 512, "%s: %s", cfg->path, d->base.message);
    lite_close(&d->base);
    return st;
}

static void lite_close(db *base)
{
    lite *d = lite_of(base);
    for (int i = 0; i < Q_COUNT; i++) {
        if (d->stmts[i])
            sqlite3_finalize(d->stmts[i]->stmt);
        free(d->stmts[i]);
    }
    for (int i = 0; i < N_BOUNDS; i++)
        sqlite3_finalize(d->bounds[i]);
    sqlite3_close(d->handle);
    free(d);
}

/* ------------------------------------------------------------ transactions */

static void reset_all(lite *d)
{
    for (int i = 0; d->n_busy && i < Q_COUNT; i++)
        if (d->stmts[i])
            lite_end(&d->stmts[i]->base);
}

/* Runs it; returns its first column, 0 when it has none. */
static int64_t bound_run(lite *d, bound b)
{
    int64_t v = 0;
    int rc = SQLITE_OK;
    if (!d->bounds[b])
        rc = sqlite3_prepare_v3(d->handle, bound_sql[b], -1, SQLITE_PREPARE_PERSISTENT,
                                &d->bounds[b], NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(d->bounds[b]);
    if (rc == SQLITE_ROW)
        v = sqlite3_column_int64(d->bounds[b], 0);
    else if (rc != SQLITE_DONE)
        fail_rc(d, rc, NULL);
    sqlite3_reset(d->bounds[b]);
    return v;
}

static ramet_status lite_begin(db *base, db_work what)
{
    lite *d = lite_of(base);
    assert(!d->in_txn);
    db_clear(base);
    d->event = 0;
    d->looked = false;
    bound_run(d, what == DB_READ ? BEGIN_READ : BEGIN_WRITE);
    d->in_txn = base->status == RAMET_OK;
    return base->status;
}

static void lite_end_read(db *base)
{
    lite *d = lite_of(base);
    reset_all(d);
    if (d->in_txn)
        bound_run(d, COMMIT);
    if (!sqlite3_get_autocommit(d->handle))
        sqlite3_exec(d->handle, "ROLLBACK", NULL, NULL, NULL);
    d->in_txn = false;
}

static void lite_rollback(db *base)
{
    lite *d = lite_of(base);
    reset_all(d);
    /* SQLite may have rolled back on its own. */
    if (!sqlite3_get_autocommit(d->handle))
        sqlite3_exec(d->handle, "ROLLBACK", NULL, NULL, NULL);
    d->in_txn = false;
    d->epoch++;
}

static ramet_status lite_commit(db *base)
{
    lite *d = lite_of(base);
    reset_all(d);
    if (base->status == RAMET_OK) {
        wal_gather(d->handle, true);
        bound_run(d, COMMIT);
        wal_gather(d->handle, false);
    }
    if (base->status != RAMET_OK) {
        lite_rollback(base);
        return base->status;
    }
    d->in_txn = false;
    return RAMET_OK;
}

static int64_t lite_epoch(db *base)
{
    lite *d = lite_of(base);
    if (!d->looked) {
        int64_t version = bound_run(d, VERSION);
        if (version != d->version || base->status != RAMET_OK)
            d->epoch++;
        d->version = version;
        d->looked = true;
    }
    return d->epoch;
}

static int64_t lite_changes(db *base)
{
    return sqlite3_total_changes64(lite_of(base)->handle);
}

/* ----------------------------------------------------------------- numbers */

static const sql_id number_sql[DB_KINDS] = {
    [DB_TREE] = Q_max_tree,       [DB_SESSION] = Q_max_session, [DB_BRANCH] = Q_max_branch,
    [DB_VERDICT] = Q_max_verdict, [DB_REMARK] = Q_max_remark,   [DB_DELETION] = Q_max_event,
    [DB_EVENT] = Q_max_event};

/* The rows with the highest numbers are never deleted, so a number is used only once; the exception
 * is a verdict's, which is reused when the newest is removed with its tree. Sessions record their
 * creation time. */
static int64_t last_number(db *base, db_kind what, int64_t *at)
{
    db_stmt *q = db_query(base, number_sql[what]);
    int64_t v = 0;
    if (q_row(q)) {
        v = q_col_int(q, 0);
        int64_t last = at ? q_col_int(q, 1) : 0;
        if (at && last > *at)
            *at = last;
    }
    q_end(q);
    return v;
}

/* Every number is above the ones before, so `above` does not matter. Only this transaction can add
 * events, so one read of them is enough. */
static int64_t lite_number(db *base, db_kind what, int64_t *at, bool above)
{
    int64_t *event = &lite_of(base)->event, last = what == DB_EVENT ? *event : 0;
    (void)above;
    if (!last)
        last = last_number(base, what, what == DB_SESSION ? at : NULL);
    if (last == INT64_MAX) /* only in a damaged file */
        db_fail(base, RAMET_DAMAGED, "a row has the highest number there is; run fsck");
    last += last < INT64_MAX;
    if (what == DB_EVENT)
        *event = last;
    return last;
}

static int64_t lite_highest(db *base, db_kind what)
{
    return last_number(base, what, NULL);
}

/* -------------------------------------------------------------- statements */

/* A file whose sessions were copied or imported, so that their numbers do not rise with time, has
 * an index by time, and lists go by it. */
static sql_id by_time(lite *d, sql_id id)
{
    static const char index[] = "SELECT count(*) FROM sqlite_master WHERE name='session_by_time'";
    if ((id != Q_session_newest && id != Q_statistics_all) || !db_one(&d->base, index))
        return id;
    return id == Q_session_newest ? Q_session_by_time : Q_statistics_by_time;
}

static lite_stmt *prepare(lite *d, sql_id id)
{
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v3(d->handle, sql_text(by_time(d, id)), -1, SQLITE_PREPARE_PERSISTENT,
                                &s, NULL);
    if (rc != SQLITE_OK) {
        /* Our statements are constant, so the tables must be wrong. */
        fail_rc(d, (rc & 0xff) == SQLITE_ERROR ? SQLITE_CORRUPT : rc, sql_name(id));
        sqlite3_finalize(s);
        return &d->none;
    }
    lite_stmt *q = xcalloc(1, sizeof *q);
    *q = (lite_stmt){.base = {&sqlite_engine, &d->base},
                     .connection = d,
                     .stmt = s,
                     .id = id,
                     .by_time = by_time(d, id) != id};
    for (int i = 1; i <= MAX_PARAMS; i++) {
        char name[8];
        snprintf(name, sizeof name, "$%d", i);
        q->map[i] = sqlite3_bind_parameter_index(s, name);
    }
    d->stmts[id] = q;
    return q;
}

static void lite_end(db_stmt *base)
{
    lite_stmt *q = stmt_of(base);
    if (!q->busy)
        return;
    sqlite3_reset(q->stmt);
    q->busy = false;
    q->connection->n_busy--;
}

static db_stmt *lite_query(db *base, sql_id id)
{
    lite *d = lite_of(base);
    if (base->status != RAMET_OK)
        return &d->none.base;
    lite_stmt *q = d->stmts[id];
    if (!q)
        return &prepare(d, id)->base;
    if (q->busy)
        lite_end(&q->base);
    /* An import may have made the index since: then the statement is another one from here on. */
    if (!q->by_time && by_time(d, id) != id) {
        sqlite3_finalize(q->stmt);
        free(q);
        d->stmts[id] = NULL;
        return &prepare(d, id)->base;
    }
    return &q->base;
}

static int slot(const lite_stmt *q, int n)
{
    assert(n >= 1 && n <= MAX_PARAMS);
    return q->stmt ? q->map[n] : 0;
}

static void lite_int(db_stmt *base, int n, int64_t v)
{
    lite_stmt *q = stmt_of(base);
    int i = slot(q, n);
    if (i)
        sqlite3_bind_int64(q->stmt, i, v);
}

static void lite_text(db_stmt *base, int n, const char *s)
{
    lite_stmt *q = stmt_of(base);
    int i = slot(q, n);
    if (!i)
        return;
    if (s)
        sqlite3_bind_text(q->stmt, i, s, -1, SQLITE_STATIC);
    else
        sqlite3_bind_null(q->stmt, i);
}

static void lite_blob(db_stmt *base, int n, const void *p, size_t len)
{
    lite_stmt *q = stmt_of(base);
    int i = slot(q, n);
    if (!i)
        return;
    if (p)
        sqlite3_bind_blob64(q->stmt, i, p, len, SQLITE_STATIC);
    else
        sqlite3_bind_null(q->stmt, i);
}

static bool lite_row(db_stmt *base)
{
    lite_stmt *q = stmt_of(base);
    if (!q->stmt || q->connection->base.status != RAMET_OK)
        return false;
    if (!q->busy)
        q->connection->n_busy++;
    q->busy = true;
    int rc = sqlite3_step(q->stmt);
    if (rc == SQLITE_ROW)
        return true;
    if (rc != SQLITE_DONE)
        fail_rc(q->connection, rc, sql_name(q->id));
    lite_end(base);
    return false;
}

static void lite_run(db_stmt *q)
{
    while (lite_row(q))
        ;
}

/* There is one writer at a time, so what it has read still holds, unless the file is damaged. */
static void lite_change(db_stmt *q)
{
    int64_t before = lite_changes(q->connection);
    bool found = lite_row(q);
    lite_end(q);
    if (!found && q->connection->status == RAMET_OK && lite_changes(q->connection) == before)
        db_fail(q->connection, RAMET_DAMAGED, "a row is not as it was, in %s",
                sql_name(stmt_of(q)->id));
}

/* The statement to read a column of; NULL: it could not be prepared. */
static sqlite3_stmt *column_of(db_stmt *q, int n)
{
    sqlite3_stmt *s = stmt_of(q)->stmt;
    assert(!s || (n >= 0 && n < sqlite3_column_count(s)));
    return s;
}

static int64_t lite_col_int(db_stmt *q, int n)
{
    sqlite3_stmt *s = column_of(q, n);
    return s ? sqlite3_column_int64(s, n) : 0;
}

static double lite_col_real(db_stmt *q, int n)
{
    sqlite3_stmt *s = column_of(q, n);
    return s ? sqlite3_column_double(s, n) : 0;
}

static const void *lite_col_bytes(db_stmt *q, int n, bool text, size_t *len)
{
    sqlite3_stmt *s = column_of(q, n);
    *len = 0;
    if (!s)
        return NULL;
    const void *p = text ? (const void *)sqlite3_column_text(s, n) : sqlite3_column_blob(s, n);
    *len = (size_t)sqlite3_column_bytes(s, n);
    return p;
}

static bool lite_col_null(db_stmt *q, int n)
{
    sqlite3_stmt *s = column_of(q, n);
    return !s || sqlite3_column_type(s, n) == SQLITE_NULL;
}

/* ------------------------------------------------------------------ schema */

static char *lite_plain(const char *sql)
{
    static const db_word words[] = {{"@KEY", "INTEGER PRIMARY KEY"},
                                    {"@BYTES", "BLOB"},
                                    {"@CLUSTERED", " WITHOUT ROWID"},
                                    {"@SPREAD", " WITHOUT ROWID"}};
    return script_expand(sql, &sqlite_engine, words, sizeof words / sizeof *words, NULL);
}

static char *lite_version_text(int64_t v)
{
    char sql[120];
    snprintf(sql, sizeof sql, "PRAGMA application_id=%d;PRAGMA user_version=%lld", APPLICATION_ID,
             (long long)v);
    return xstrdup(sql);
}

static ramet_status lite_script(db *base, const char *sql)
{
    char *text = lite_plain(sql);
    exec(lite_of(base), text);
    free(text);
    return base->status;
}

static int64_t lite_one(db *base, const char *sql)
{
    lite *d = lite_of(base);
    sqlite3_stmt *s = NULL;
    int64_t v = 0;
    int rc = sqlite3_prepare_v2(d->handle, sql, -1, &s, NULL);
    if (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW)
        v = sqlite3_column_int64(s, 0);
    if (sqlite_status(rc) != RAMET_OK)
        fail_rc(d, rc, sql);
    sqlite3_finalize(s);
    return v;
}

static int64_t lite_version(db *d)
{
    return lite_one(d, "PRAGMA user_version");
}

static void lite_set_version(db *d, int64_t v)
{
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA user_version=%lld", (long long)v);
    exec(lite_of(d), sql);
}

static bool lite_marked(db *d)
{
    return lite_one(d, "PRAGMA application_id") == APPLICATION_ID;
}

static void lite_mark(db *d)
{
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA application_id=%d", APPLICATION_ID);
    exec(lite_of(d), sql);
}

static bool lite_empty(db *d)
{
    return lite_one(d, "SELECT count(*) FROM sqlite_master") == 0;
}

/* ------------------------------------------------------------------ upkeep */

ramet_status db_reset(db *base)
{
    lite *d = lite_of(base);
    lite_rollback(base);
    db_clear(base);
    sqlite3_db_config(d->handle, SQLITE_DBCONFIG_RESET_DATABASE, 1, NULL);
    exec(d, "VACUUM");
    sqlite3_db_config(d->handle, SQLITE_DBCONFIG_RESET_DATABASE, 0, NULL);
    return d->base.status;
}

void *db_handle(db *d)
{
    return lite_of(d)->handle;
}

/* A damaged schema shows in statements that can no longer be prepared. */
static void check_statements(lite *d, void (*line)(void *arg, const char *text), void *arg)
{
    for (int i = 0; i < Q_COUNT; i++) {
        sqlite3_stmt *s = NULL;
        if (strncmp(sql_name((sql_id)i), "fts_", 4) == 0)
            continue;
        int rc = sqlite3_prepare_v2(d->handle, sql_text((sql_id)i), -1, &s, NULL);
        sqlite3_finalize(s);
        if (rc != SQLITE_OK) {
            line(arg, sqlite3_errmsg(d->handle));
            return;
        }
    }
}

static bool lite_check(db *base, void (*line)(void *arg, const char *text), void *arg)
{
    lite *d = lite_of(base);
    check_statements(d, line, arg);
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v2(d->handle, "PRAGMA integrity_check(1000)", -1, &s, NULL);
    while (rc == SQLITE_OK || rc == SQLITE_ROW) {
        rc = sqlite3_step(s);
        const char *text = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(s, 0) : NULL;
        if (text && strcmp(text, "ok") != 0)
            line(arg, text);
    }
    if (rc != SQLITE_DONE)
        line(arg, sqlite3_errmsg(d->handle));
    sqlite3_finalize(s);
    return rc == SQLITE_DONE;
}

static ramet_status backup_run(lite *d, sqlite3 *to, ramet_progress progress, void *arg)
{
    sqlite3_backup *b = sqlite3_backup_init(to, "main", d->handle, "main");
    if (!b) {
        fail_rc(d, sqlite3_errcode(to), "backup");
        return d->base.status;
    }
    int rc;
    do {
        rc = sqlite3_backup_step(b, 2048);
        int64_t total = sqlite3_backup_pagecount(b), left = sqlite3_backup_remaining(b);
        if (progress && !progress(arg, "backup", total - left, total)) {
            sqlite3_backup_finish(b);
            return RAMET_STOP;
        }
    } while (rc == SQLITE_OK);
    sqlite3_backup_finish(b);
    if (rc != SQLITE_DONE) {
        db_fail(&d->base, sqlite_status(rc), "the backup failed: %s", sqlite3_errstr(rc));
        return d->base.status;
    }
    return RAMET_OK;
}

static ramet_status lite_backup(db *d, const char *path, ramet_progress progress, void *arg)
{
    /* Inside a read transaction: the copy is one snapshot, and writers neither wait for it nor
     * restart it. */
    ramet_status st = db_begin_read(d);
    if (st != RAMET_OK)
        return st;
    lite_one(d, "SELECT count(*) FROM meta");
    sqlite3 *to = NULL;
    int rc = sqlite3_open_v2(path, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (rc != SQLITE_OK) {
        db_fail(d, RAMET_CANNOT_OPEN, "%s: %s", path, sqlite3_errstr(rc));
        st = d->status;
    } else {
        st = backup_run(lite_of(d), to, progress, arg);
    }
    db_end_read(d);
    if (sqlite3_close(to) != SQLITE_OK && st == RAMET_OK)
        st = RAMET_IO;
    if (st != RAMET_OK)
        unlink(path);
    return st;
}

static ramet_status lite_checkpoint(db *base)
{
    lite *d = lite_of(base);
    int rc = sqlite3_wal_checkpoint_v2(d->handle, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    if (rc == SQLITE_BUSY) /* another checkpoint is running */
        return RAMET_OK;
    if (sqlite_status(rc) != RAMET_OK)
        fail_rc(d, rc, "checkpoint");
    return sqlite_status(rc);
}

static int lite_log_pages(const db *d)
{
    return ((const lite *)d)->log_pages;
}

static void lite_sizes(db *d, int64_t *data, int64_t *log)
{
    const char *path = sqlite3_db_filename(lite_of(d)->handle, "main");
    *data = sqlite_file_size(path);
    *log = sqlite_file_size(sqlite3_filename_wal(path));
}

const db_engine sqlite_engine = {
    .name = "SQLITE",
    .open = lite_open,
    .close = lite_close,
    .begin = lite_begin,
    .end_read = lite_end_read,
    .commit = lite_commit,
    .rollback = lite_rollback,
    .changes = lite_changes,
    .epoch = lite_epoch,
    .number = lite_number,
    .highest = lite_highest,
    .query = lite_query,
    .bind_int = lite_int,
    .bind_text = lite_text,
    .bind_blob = lite_blob,
    .row = lite_row,
    .run = lite_run,
    .change = lite_change,
    .end = lite_end,
    .col_int = lite_col_int,
    .col_real = lite_col_real,
    .col_bytes = lite_col_bytes,
    .col_null = lite_col_null,
    .plain = lite_plain,
    .version_text = lite_version_text,
    .script = lite_script,
    .one = lite_one,
    .version = lite_version,
    .set_version = lite_set_version,
    .marked = lite_marked,
    .mark = lite_mark,
    .empty = lite_empty,
    .sizes = lite_sizes,
    .check = lite_check,
    .backup = lite_backup,
    .log_pages = lite_log_pages,
    .checkpoint = lite_checkpoint,
    .scrub = sqlite_scrub,
};
