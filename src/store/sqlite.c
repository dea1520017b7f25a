/* SPDX-License-Identifier: Apache-2.0
 *
 * The SQLite driver of store/db.h.
 *
 * Settings, and why:
 *   WAL, synchronous=FULL   a commit is one append and one fsync, and is power-safe
 *   automatic_index=OFF     a planner trap: a tail page through one took 1,000 times as long
 *   mmap off                a truncated file must be an error, not a SIGBUS
 *   busy handler            waits with short sleeps, so that processes share the lock fairly
 */
#include "store/db.h"

#include "base/util.h"
#include "store/logfile.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define APPLICATION_ID 0x52414d54 /* "RAMT" */
#define MAX_PARAMS 24
#define LOG_PAGES 4000 /* the write-ahead log is emptied when it is longer */

/* The statements around a transaction: prepared once, like the others. */
typedef enum { BEGIN_READ, BEGIN_WRITE, COMMIT, VERSION, N_BOUNDS } bound;
static const char *const bound_sql[N_BOUNDS] = {"BEGIN", "BEGIN IMMEDIATE", "COMMIT",
                                                "PRAGMA data_version"};

struct db_stmt {
    db *d;
    sqlite3_stmt *s;
    sql_id id;
    bool busy;               /* stepped and not reset */
    int map[MAX_PARAMS + 1]; /* $n -> SQLite's own number, 0 when unused */
};

struct db {
    sqlite3 *h;
    ramet_status status;
    bool engine; /* the failure came from the engine, not from db_fail() */
    char message[512];
    bool in_txn;
    int64_t counter; /* db_counter() */
    int64_t epoch;   /* db_epoch() */
    int64_t version; /* data_version when it was last looked at */
    bool looked;     /* in this transaction */
    int busy_ms;
    int64_t busy_until;
    int log_pages; /* in the write-ahead log after the last commit of this connection */
    db_stmt *stmts[Q_COUNT];
    int n_busy;   /* of them are stepped and not reset */
    db_stmt none; /* answers when a statement could not be prepared */
    sqlite3_stmt *bounds[N_BOUNDS];
};

static ramet_status status_of(int rc)
{
    switch (rc & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
        return RAMET_OK;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return RAMET_BUSY;
    case SQLITE_FULL:
        return RAMET_FULL;
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return rc == SQLITE_IOERR_NOMEM ? RAMET_NO_MEMORY : RAMET_IO;
    case SQLITE_CANTOPEN:
        return RAMET_CANNOT_OPEN;
    case SQLITE_CORRUPT:
        return RAMET_DAMAGED;
    case SQLITE_NOTADB:
        return RAMET_NOT_A_STORE;
    case SQLITE_NOMEM:
        return RAMET_NO_MEMORY;
    default:
        return RAMET_INTERNAL;
    }
}

static void fail_rc(db *d, int rc, const char *what)
{
    if (d->status != RAMET_OK)
        return;
    d->status = status_of(rc);
    d->engine = true;
    const char *said = sqlite3_errmsg(d->h), *means = sqlite3_errstr(rc);
    /* SQLite has no code of its own for a header that names a format of the future. */
    if (rc == SQLITE_ERROR && strcmp(said, "unsupported file format") == 0)
        d->status = RAMET_DAMAGED;
    bool twice = strcmp(said, means) == 0;
    snprintf(d->message, sizeof d->message, "%s%s%s%s%s", said, twice ? "" : ": ",
             twice ? "" : means, what ? ", in " : "", what ? what : "");
}

void db_fail(db *d, ramet_status s, const char *fmt, ...)
{
    if (d->status != RAMET_OK)
        return;
    d->status = s;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(d->message, sizeof d->message, fmt, ap);
    va_end(ap);
}

ramet_status db_status(const db *d)
{
    return d->status;
}

bool db_engine_failed(const db *d)
{
    return d->engine;
}

const char *db_message(const db *d)
{
    return d->message;
}

void db_clear(db *d)
{
    d->status = RAMET_OK;
    d->engine = false;
    d->message[0] = 0;
}

/* Sleeps 0.1 ms at first, up to 2 ms: a writer of another process commits in about that time. */
static int on_busy(void *arg, int count)
{
    db *d = arg;
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

static bool exec(db *d, const char *sql)
{
    int rc = sqlite3_exec(d->h, sql, NULL, NULL, NULL);
    if (rc != SQLITE_OK)
        fail_rc(d, rc, NULL);
    return rc == SQLITE_OK;
}

static int on_log(void *arg, sqlite3 *h, const char *name, int pages)
{
    (void)h;
    (void)name;
    ((db *)arg)->log_pages = pages;
    return SQLITE_OK;
}

/* What is not a store is refused before anything is changed in it. An empty file may be one whose
 * making was cut short. */
static bool ours(db *d, const db_config *cfg)
{
    if (db_marked(d) || (cfg->create && db_empty(d)))
        return d->status == RAMET_OK;
    db_fail(d, RAMET_NOT_A_STORE, "the file is %s, not a Ramet store",
            db_empty(d) ? "empty" : "another program's database");
    return false;
}

/* A search index that cannot be read is made anew. */
static bool reset_damaged(db *d)
{
    bool useless = d->status == RAMET_NOT_A_STORE || d->status == RAMET_DAMAGED;
    return useless && db_reset(d) == RAMET_OK;
}

static bool configure(db *d, const db_config *cfg)
{
    sqlite3_busy_handler(d->h, on_busy, d);
    sqlite3_extended_result_codes(d->h, 1);
    sqlite3_db_config(d->h, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(d->h, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    /* The first statement reads the header, so a file that is none shows here. */
    if (!exec(d, "PRAGMA schema_version") && !(cfg->index && reset_damaged(d)))
        return false;
    if (cfg->writer && !cfg->index && !ours(d, cfg))
        return false;
    if (!exec(d, "PRAGMA journal_mode=WAL") &&
        !(cfg->index && reset_damaged(d) && exec(d, "PRAGMA journal_mode=WAL")))
        return false;
    exec(d, "PRAGMA automatic_index=OFF");
    exec(d, "PRAGMA mmap_size=0");
    exec(d, cfg->index ? "PRAGMA cache_size=-32768" : "PRAGMA cache_size=-8192");
    exec(d, "PRAGMA temp_store=MEMORY");
    exec(d, cfg->index ? "PRAGMA cell_size_check=OFF" : "PRAGMA cell_size_check=ON");
    exec(d, cfg->index ? "PRAGMA synchronous=NORMAL" : "PRAGMA synchronous=FULL");
    exec(d, "PRAGMA wal_autocheckpoint=4000");
    /* SQLite's own checkpoints keep their failures to themselves; the store's are db_checkpoint().
     */
    if (cfg->writer && !cfg->index)
        sqlite3_wal_hook(d->h, on_log, d);
    exec(d, "PRAGMA journal_size_limit=67108864");
    if (!cfg->writer)
        exec(d, "PRAGMA query_only=ON");
    return d->status == RAMET_OK;
}

static ramet_status check_path(const db_config *cfg, char *message)
{
    struct stat st;
    if (stat(cfg->path, &st) != 0) {
        if (cfg->create)
            return RAMET_OK;
        snprintf(message, 512, "there is no store at %s", cfg->path);
        return RAMET_CANNOT_OPEN;
    }
    if (!S_ISREG(st.st_mode)) {
        snprintf(message, 512, "%s is not a file", cfg->path);
        return RAMET_NOT_A_STORE;
    }
    return RAMET_OK;
}

/* SQLite counts its memory under a lock that all connections share; nobody reads the count. Has no
 * effect when the embedding program has started SQLite already. */
static void settle_once(void)
{
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

ramet_status db_open(const db_config *cfg, db **out, char *message)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, settle_once);
    *out = NULL;
    ramet_status st = check_path(cfg, message);
    if (st != RAMET_OK)
        return st;
    db *d = xcalloc(1, sizeof *d);
    d->busy_ms = cfg->busy_ms > 0 ? cfg->busy_ms : 10000;
    d->none.d = d;
    int flags =
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (cfg->create ? SQLITE_OPEN_CREATE : 0);
    bool gather = cfg->writer && !cfg->index; /* it syncs every commit */
    int rc = sqlite3_open_v2(cfg->path, &d->h, flags, gather ? logfile_vfs(cfg->vfs) : cfg->vfs);
    if (rc != SQLITE_OK)
        fail_rc(d, rc, NULL);
    if (rc == SQLITE_OK && configure(d, cfg)) {
        *out = d;
        return RAMET_OK;
    }
    st = d->status;
    snprintf(message, 512, "%s: %s", cfg->path, d->message);
    db_close(d);
    return st;
}

void db_close(db *d)
{
    if (!d)
        return;
    for (int i = 0; i < Q_COUNT; i++) {
        if (d->stmts[i])
            sqlite3_finalize(d->stmts[i]->s);
        free(d->stmts[i]);
    }
    for (int i = 0; i < N_BOUNDS; i++)
        sqlite3_finalize(d->bounds[i]);
    sqlite3_close(d->h);
    free(d);
}

/* ------------------------------------------------------------ transactions */

static void reset_all(db *d)
{
    for (int i = 0; d->n_busy && i < Q_COUNT; i++)
        if (d->stmts[i])
            q_end(d->stmts[i]);
}

/* Its first column, 0 when it has none. */
static int64_t bound_run(db *d, bound b)
{
    int64_t v = 0;
    int rc = SQLITE_OK;
    if (!d->bounds[b])
        rc = sqlite3_prepare_v3(d->h, bound_sql[b], -1, SQLITE_PREPARE_PERSISTENT, &d->bounds[b],
                                NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(d->bounds[b]);
    if (rc == SQLITE_ROW)
        v = sqlite3_column_int64(d->bounds[b], 0);
    else if (rc != SQLITE_DONE)
        fail_rc(d, rc, NULL);
    sqlite3_reset(d->bounds[b]);
    return v;
}

static ramet_status begin(db *d, bound b)
{
    db_clear(d);
    d->counter = 0;
    d->looked = false;
    bound_run(d, b);
    d->in_txn = d->status == RAMET_OK;
    return d->status;
}

ramet_status db_begin_read(db *d)
{
    return begin(d, BEGIN_READ);
}

ramet_status db_begin_write(db *d)
{
    return begin(d, BEGIN_WRITE);
}

void db_end_read(db *d)
{
    reset_all(d);
    if (d->in_txn)
        bound_run(d, COMMIT);
    if (!sqlite3_get_autocommit(d->h))
        sqlite3_exec(d->h, "ROLLBACK", NULL, NULL, NULL);
    d->in_txn = false;
}

ramet_status db_commit(db *d)
{
    reset_all(d);
    if (d->status == RAMET_OK) {
        logfile_gather(d->h, true);
        bound_run(d, COMMIT);
        logfile_gather(d->h, false);
    }
    if (d->status != RAMET_OK) {
        db_rollback(d);
        return d->status;
    }
    d->in_txn = false;
    return RAMET_OK;
}

void db_rollback(db *d)
{
    reset_all(d);
    /* SQLite may have rolled back by itself. */
    if (!sqlite3_get_autocommit(d->h))
        sqlite3_exec(d->h, "ROLLBACK", NULL, NULL, NULL);
    d->in_txn = false;
    d->epoch++;
}

int64_t db_epoch(db *d)
{
    if (!d->looked) {
        int64_t version = bound_run(d, VERSION);
        if (version != d->version || d->status != RAMET_OK)
            d->epoch++;
        d->version = version;
        d->looked = true;
    }
    return d->epoch;
}

int64_t db_changes(const db *d)
{
    return sqlite3_total_changes64(d->h);
}

int64_t *db_counter(db *d)
{
    return &d->counter;
}

/* -------------------------------------------------------------- statements */

static db_stmt *prepare(db *d, sql_id id)
{
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v3(d->h, sql_text(id), -1, SQLITE_PREPARE_PERSISTENT, &s, NULL);
    if (rc != SQLITE_OK) {
        /* The texts are constant: it is the tables that are not what they should be. */
        fail_rc(d, (rc & 0xff) == SQLITE_ERROR ? SQLITE_CORRUPT : rc, sql_name(id));
        sqlite3_finalize(s);
        return &d->none;
    }
    db_stmt *q = xcalloc(1, sizeof *q);
    *q = (db_stmt){.d = d, .s = s, .id = id};
    for (int i = 1; i <= MAX_PARAMS; i++) {
        char name[8];
        snprintf(name, sizeof name, "$%d", i);
        q->map[i] = sqlite3_bind_parameter_index(s, name);
    }
    d->stmts[id] = q;
    return q;
}

db_stmt *db_query(db *d, sql_id id)
{
    if (d->status != RAMET_OK)
        return &d->none;
    db_stmt *q = d->stmts[id];
    if (!q)
        return prepare(d, id);
    if (q->busy)
        q_end(q);
    return q;
}

static int slot(db_stmt *q, int n)
{
    return q->s && n >= 1 && n <= MAX_PARAMS ? q->map[n] : 0;
}

void q_int(db_stmt *q, int n, int64_t v)
{
    int i = slot(q, n);
    if (i)
        sqlite3_bind_int64(q->s, i, v);
}

void q_text(db_stmt *q, int n, const char *s)
{
    int i = slot(q, n);
    if (!i)
        return;
    if (s)
        sqlite3_bind_text(q->s, i, s, -1, SQLITE_STATIC);
    else
        sqlite3_bind_null(q->s, i);
}

void q_blob(db_stmt *q, int n, const void *p, size_t len)
{
    int i = slot(q, n);
    if (!i)
        return;
    if (p)
        sqlite3_bind_blob64(q->s, i, p, len, SQLITE_STATIC);
    else
        sqlite3_bind_null(q->s, i);
}

bool q_row(db_stmt *q)
{
    if (!q->s || q->d->status != RAMET_OK)
        return false;
    if (!q->busy)
        q->d->n_busy++;
    q->busy = true;
    int rc = sqlite3_step(q->s);
    if (rc == SQLITE_ROW)
        return true;
    if (rc != SQLITE_DONE)
        fail_rc(q->d, rc, sql_name(q->id));
    q_end(q);
    return false;
}

void q_run(db_stmt *q)
{
    while (q_row(q))
        ;
}

void q_end(db_stmt *q)
{
    if (!q->busy)
        return;
    sqlite3_reset(q->s);
    q->busy = false;
    q->d->n_busy--;
}

int64_t q_col_int(db_stmt *q, int n)
{
    return q->s ? sqlite3_column_int64(q->s, n) : 0;
}

double q_col_real(db_stmt *q, int n)
{
    return q->s ? sqlite3_column_double(q->s, n) : 0;
}

const char *q_col_text(db_stmt *q, int n)
{
    return q->s ? (const char *)sqlite3_column_text(q->s, n) : NULL;
}

const void *q_col_blob(db_stmt *q, int n, size_t *len)
{
    *len = 0;
    if (!q->s)
        return NULL;
    const void *p = sqlite3_column_blob(q->s, n);
    *len = (size_t)sqlite3_column_bytes(q->s, n);
    return p;
}

bool q_col_null(db_stmt *q, int n)
{
    return !q->s || sqlite3_column_type(q->s, n) == SQLITE_NULL;
}

const char *q_keep_text(db_stmt *q, int n, arena *a)
{
    const char *p = q_col_text(q, n);
    return p ? arena_memdup(a, p, (size_t)sqlite3_column_bytes(q->s, n)) : NULL;
}

/* ------------------------------------------------------------------ schema */

/* The engine's own words for the marks in a schema script. */
static char *dialect(const char *sql)
{
    static const struct {
        const char *mark, *word;
    } words[] = {
        {"@KEY", "INTEGER PRIMARY KEY"}, {"@BYTES", "BLOB"}, {"@CLUSTERED", " WITHOUT ROWID"}};
    char *out = xmalloc(strlen(sql) * 4 + 1), *to = out;
    while (*sql) {
        size_t i = 0, n = sizeof words / sizeof words[0];
        while (i < n && strncmp(sql, words[i].mark, strlen(words[i].mark)) != 0)
            i++;
        if (i < n) {
            to = stpcpy(to, words[i].word);
            sql += strlen(words[i].mark);
        } else {
            *to++ = *sql++;
        }
    }
    *to = 0;
    return out;
}

ramet_status db_script(db *d, const char *sql)
{
    char *text = dialect(sql);
    exec(d, text);
    free(text);
    return d->status;
}

int64_t db_one(db *d, const char *sql)
{
    sqlite3_stmt *s = NULL;
    int64_t v = 0;
    int rc = sqlite3_prepare_v2(d->h, sql, -1, &s, NULL);
    if (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW)
        v = sqlite3_column_int64(s, 0);
    if (status_of(rc) != RAMET_OK)
        fail_rc(d, rc, sql);
    sqlite3_finalize(s);
    return v;
}

int64_t db_version(db *d)
{
    return db_one(d, "PRAGMA user_version");
}

void db_set_version(db *d, int64_t v)
{
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA user_version=%lld", (long long)v);
    exec(d, sql);
}

bool db_marked(db *d)
{
    return db_one(d, "PRAGMA application_id") == APPLICATION_ID;
}

void db_mark(db *d)
{
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA application_id=%d", APPLICATION_ID);
    exec(d, sql);
}

bool db_empty(db *d)
{
    return db_one(d, "SELECT count(*) FROM sqlite_master") == 0;
}

/* ------------------------------------------------------------------ upkeep */

ramet_status db_reset(db *d)
{
    db_rollback(d);
    db_clear(d);
    sqlite3_db_config(d->h, SQLITE_DBCONFIG_RESET_DATABASE, 1, NULL);
    exec(d, "VACUUM");
    sqlite3_db_config(d->h, SQLITE_DBCONFIG_RESET_DATABASE, 0, NULL);
    return d->status;
}

void *db_handle(db *d)
{
    return d->h;
}

/* A damaged schema shows in the statements that can no longer be prepared. */
static void check_statements(db *d, void (*line)(void *arg, const char *text), void *arg)
{
    for (int i = 0; i < Q_COUNT; i++) {
        sqlite3_stmt *s = NULL;
        if (strncmp(sql_name((sql_id)i), "fts_", 4) == 0)
            continue;
        int rc = sqlite3_prepare_v2(d->h, sql_text((sql_id)i), -1, &s, NULL);
        sqlite3_finalize(s);
        if (rc != SQLITE_OK) {
            line(arg, sqlite3_errmsg(d->h));
            return;
        }
    }
}

bool db_check(db *d, void (*line)(void *arg, const char *text), void *arg)
{
    check_statements(d, line, arg);
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v2(d->h, "PRAGMA integrity_check(1000)", -1, &s, NULL);
    while (rc == SQLITE_OK || rc == SQLITE_ROW) {
        rc = sqlite3_step(s);
        const char *text = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(s, 0) : NULL;
        if (text && strcmp(text, "ok") != 0)
            line(arg, text);
    }
    if (rc != SQLITE_DONE)
        line(arg, sqlite3_errmsg(d->h));
    sqlite3_finalize(s);
    return rc == SQLITE_DONE;
}

static ramet_status backup_run(db *d, sqlite3 *to, ramet_progress progress, void *arg)
{
    sqlite3_backup *b = sqlite3_backup_init(to, "main", d->h, "main");
    if (!b) {
        fail_rc(d, sqlite3_errcode(to), "backup");
        return d->status;
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
        db_fail(d, status_of(rc), "the backup failed: %s", sqlite3_errstr(rc));
        return d->status;
    }
    return RAMET_OK;
}

ramet_status db_backup(db *d, const char *path, ramet_progress progress, void *arg)
{
    /* Inside a read transaction: the copy is one snapshot, and writers neither wait nor restart it.
     */
    ramet_status st = db_begin_read(d);
    if (st != RAMET_OK)
        return st;
    db_one(d, "SELECT count(*) FROM meta");
    sqlite3 *to = NULL;
    int rc = sqlite3_open_v2(path, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (rc != SQLITE_OK) {
        db_fail(d, RAMET_CANNOT_OPEN, "%s: %s", path, sqlite3_errstr(rc));
        st = d->status;
    } else {
        st = backup_run(d, to, progress, arg);
    }
    db_end_read(d);
    if (sqlite3_close(to) != SQLITE_OK && st == RAMET_OK)
        st = RAMET_IO;
    if (st != RAMET_OK)
        unlink(path);
    return st;
}

ramet_status db_checkpoint(db *d)
{
    if (d->log_pages < LOG_PAGES)
        return RAMET_OK;
    int rc = sqlite3_wal_checkpoint_v2(d->h, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    if (status_of(rc) != RAMET_OK)
        fail_rc(d, rc, "checkpoint");
    return status_of(rc);
}
