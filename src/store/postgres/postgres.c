/* SPDX-License-Identifier: Apache-2.0
 *
 * The PostgreSQL engine of store/db.h: transactions and statements. postgres.h has the rules.
 *
 * A write is a SERIALIZABLE transaction, so that what it has read still holds when it commits. When
 * the server refuses that, it is a conflict, and the pool runs the operation again.
 */
#include "store/postgres/postgres.h"

#include "base/util.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SENT 2000 /* writes sent before their answers are read */

static _Atomic int64_t epochs; /* of all connections: other processes write at any time */

static pg *pg_of(db *d)
{
    return (pg *)d;
}

static pg_stmt *stmt_of(db_stmt *q)
{
    return (pg_stmt *)q;
}

/* ------------------------------------------------------------- open, close */

ramet_status pg_connect(db_site *site, pg **out, char *message)
{
    pg *d = xcalloc(1, sizeof *d);
    *out = NULL;
    d->base.engine = &postgres_engine;
    d->site = site;
    d->batch = batch_new();
    d->prefetch = prefetch_new();
    d->none = (pg_stmt){.base = {&postgres_engine, &d->base}, .connection = d};
    if (link_connect(d, message)) {
        *out = d;
        return RAMET_OK;
    }
    pg_close(d);
    return RAMET_CANNOT_OPEN;
}

ramet_status pg_reach(db_site *site, pg **out, char *message)
{
    if (pg_connect(site, out, message) == RAMET_OK)
        return RAMET_OK;
    snprintf(message, 512, "the database cannot be reached");
    return RAMET_IO;
}

void pg_close(pg *d)
{
    if (!d)
        return;
    /* pgbouncer closes the server connection when an answer is still due. */
    if (d->conn && d->link != LINK_LOST && !d->begin_sent)
        link_settle(d);
    for (int i = 0; i < Q_COUNT; i++) {
        if (d->stmts[i])
            stmt_clear(d->stmts[i]);
        free(d->stmts[i]);
    }
    PQclear(d->answer);
    PQfinish(d->conn);
    free(d->sent);
    batch_free(d->batch);
    prefetch_free(d->prefetch);
    if (d->own_site)
        site_close(d->site);
    free(d);
}

static ramet_status engine_open(const db_config *cfg, db **out, char *message)
{
    db_site *site = cfg->site;
    *out = NULL;
    ramet_status st = site ? RAMET_OK : site_open(cfg->path, &site, message);
    if (st != RAMET_OK)
        return st;
    pg *d;
    st = pg_connect(site, &d, message);
    if (st == RAMET_OK) {
        d->own_site = !cfg->site;
        *out = &d->base;
    } else if (!cfg->site) {
        site_close(site);
    }
    return st;
}

static void engine_close(db *d)
{
    pg_close(pg_of(d));
}

/* ------------------------------------------------------------ transactions */

#define TO(state) (1u << (state))

void pg_move(pg *d, pg_state to)
{
    static const unsigned legal[] = {
        [STATE_IDLE] = TO(STATE_RUNNING),
        [STATE_RUNNING] = TO(STATE_IDLE) | TO(STATE_UNDONE) | TO(STATE_COMMITTING),
        [STATE_UNDONE] = TO(STATE_IDLE) | TO(STATE_RUNNING),
        [STATE_COMMITTING] = TO(STATE_COMMITTED) | TO(STATE_RUNNING) | TO(STATE_IDLE),
        [STATE_COMMITTED] = TO(STATE_IDLE),
    };
    assert(legal[d->state] & TO(to));
    d->state = to;
}

static void progress_note(pg *d, pg_progress progress)
{
    if (d->progress < progress)
        d->progress = progress;
}

void stmt_clear(pg_stmt *q)
{
    if (!q->lent)
        PQclear(q->res);
    q->res = NULL;
    q->lent = false;
}

void stmts_clear(pg *d)
{
    for (int i = 0; i < Q_COUNT; i++)
        if (d->stmts[i] && d->stmts[i]->res)
            stmt_clear(d->stmts[i]);
}

static void results_drop(pg *d)
{
    stmts_clear(d);
    prefetch_forget(&d->base);
}

/* P6. Behind pgbouncer a connection leads to any server; each transaction checks it. */
static bool of_older_past(const pg *d)
{
    return !d->site->bouncer && d->past != d->site->past;
}

/* Reconnects, and clears the failure of the lost connection. A statement may have failed on that
 * one before: nothing was written that the server could have undone. */
static bool reconnect(pg *d)
{
    char message[512];
    assert(d->progress == DID_NOTHING);
    bool made = link_connect(d, message);
    if (d->state == STATE_UNDONE)
        pg_move(d, STATE_RUNNING);
    d->base.status = RAMET_OK;
    d->base.engine_failed = false;
    d->failure = FAILURE_NONE;
    if (!made) {
        d->failure = FAILURE_LOST;
        db_fail(&d->base, RAMET_IO, "the database cannot be reached");
    }
    return made;
}

static ramet_status engine_begin(db *base, db_work what)
{
    pg *d = pg_of(base);
    assert(d->state == STATE_IDLE);
    d->begin_sent = false;
    d->progress = DID_NOTHING;
    d->reads = READS_SENT;
    db_clear(base);
    d->work = what;
    d->turn++;
    base->guarded = what == DB_GUARDED || what == DB_GUARDED_FRESH;
    base->fresh = what == DB_GUARDED_FRESH;
    batch_clear(d->batch);
    d->epoch = ++epochs;
    if (!(d->link == LINK_LOST || of_older_past(d)) || reconnect(d))
        pg_move(d, STATE_RUNNING);
    return base->status;
}

/* Sends BEGIN, with the next statement (P2). */
static void begin_send(pg *d)
{
    static const char *const texts[] = {[DB_READ] =
                                            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
                                        [DB_WRITE] = "BEGIN ISOLATION LEVEL SERIALIZABLE",
                                        [DB_SCHEMA] = "BEGIN ISOLATION LEVEL READ COMMITTED"};
    /* Each read of a guarded transaction is a transaction of its own. */
    if (d->begin_sent || d->state != STATE_RUNNING || d->base.guarded)
        return;
    link_begin(d, texts[d->work], FOR_PAST);
    /* One at a time, on any node; the following statements see what the previous one has made. */
    if (d->work == DB_SCHEMA)
        link_text(
            d, "SELECT pg_advisory_xact_lock(hashtext('ramet schema'),hashtext(current_schema()))",
            FOR_NOTHING);
}

/* Sends the end of a transaction (P3). A failure of what was sent before must not fail the end as
 * well: hence the sync between them. */
static void end_send(pg *d, const char *how)
{
    if (d->begin_sent && d->link != LINK_LOST) {
        if (d->unsynced)
            link_sync(d);
        link_text(d, how, FOR_NOTHING);
        link_sync(d);
    }
    results_drop(d);
    d->begin_sent = false;
    if (d->state != STATE_IDLE)
        pg_move(d, STATE_IDLE);
    d->turn++;
}

static void engine_end_read(db *d)
{
    end_send(pg_of(d), "COMMIT");
}

static void engine_rollback(db *d)
{
    batch_clear(pg_of(d)->batch);
    end_send(pg_of(d), "ROLLBACK");
}

/* Whether the transaction may be committed; false: it has failed. */
static bool can_commit(pg *d)
{
    assert(d->state == STATE_RUNNING || d->base.status != RAMET_OK);
    if (d->link == LINK_LOST)
        link_lost(d, NULL);
    else if (of_older_past(d))
        link_past_changed(d);
    return d->base.status == RAMET_OK;
}

/* Sends what is left to the server and reads its answers. */
static void commit_exchange(pg *d)
{
    link_sync_commit(d);
    link_position(d);
    link_settle(d);
}

/* The server ends the statement timeout itself before it commits. */
static void guarded_commit(pg *d)
{
    if (batch_count(d->batch))
        progress_note(d, batch_has_events(d->batch) ? DID_WRITE_EVENTS : DID_WRITE);
    if (!can_commit(d) || d->progress < DID_WRITE || !batch_ready(d))
        return;
    pg_move(d, STATE_COMMITTING);
    if (batch_send(d)) {
        commit_exchange(d);
    } else {
        pg_move(d, STATE_RUNNING);
        db_conflict(&d->base);
    }
}

static void plain_commit(pg *d)
{
    if (!can_commit(d) || !d->begin_sent)
        return;
    if (d->site->statement_ms)
        link_text(d, "SET LOCAL statement_timeout=0", FOR_NOTHING);
    if (d->progress >= DID_WRITE)
        pg_move(d, STATE_COMMITTING);
    link_text(d, "COMMIT", FOR_COMMIT);
    commit_exchange(d);
}

static ramet_status engine_commit(db *base)
{
    pg *d = pg_of(base);
    if (base->guarded)
        guarded_commit(d);
    else
        plain_commit(d);
    /* P8: not without an acknowledgement, even if everything else looks well. */
    if (base->status == RAMET_OK && d->progress >= DID_WRITE && d->acknowledged != d->turn)
        link_lost(d, "the commit was not acknowledged");
    if (base->status != RAMET_OK) {
        engine_rollback(base);
        return base->status;
    }
    results_drop(d);
    d->begin_sent = false;
    pg_move(d, STATE_IDLE);
    return RAMET_OK;
}

/* An operation of a guarded transaction cannot continue in it. */
static void operation_fail(pg *d, pg_failure why)
{
    assert(d->base.guarded && (why == FAILURE_NEEDS_READ || why == FAILURE_UNGUARDED));
    if (d->base.status == RAMET_OK)
        d->failure = why;
    db_fail(&d->base, RAMET_BUSY,
            why == FAILURE_NEEDS_READ ? "it has to be read first"
                                      : "the write has to be serializable");
}

/* P7. A read transaction in which a statement failed returns nothing any more: its caller continues
 * in another one. A guarded transaction has none open on the server. */
static void engine_cleared(db *base)
{
    pg *d = pg_of(base);
    pg_failure was = d->failure;
    d->failure = FAILURE_NONE;
    if (d->state == STATE_IDLE)
        return;
    if (d->link == LINK_LOST) {
        link_lost(d, NULL);
    } else if (was == FAILURE_UNGUARDED || was == FAILURE_NEEDS_READ) {
        operation_fail(d, was);
    } else if (d->state == STATE_UNDONE && d->progress >= DID_WRITE && was == FAILURE_CONFLICT) {
        d->failure = was; /* it can still be run again */
        db_fail(base, RAMET_BUSY, "the server has undone the transaction: another one came first");
    } else if (d->state == STATE_UNDONE && d->progress >= DID_WRITE) {
        d->failure = FAILURE_REFUSED;
        db_fail(base, RAMET_INTERNAL, "the server has undone the transaction, a statement failed");
    } else if (d->state == STATE_UNDONE) {
        engine_rollback(base);
        pg_move(d, STATE_RUNNING);
    }
}

void pg_operation_undo(pg *d)
{
    assert(d->base.guarded && d->state == STATE_RUNNING);
    batch_operation_undo(d->batch);
    d->failure = FAILURE_NONE;
    db_clear(&d->base);
}

static int64_t engine_changes(db *base)
{
    pg *d = pg_of(base);
    if (base->guarded)
        return d->changes + (int64_t)batch_count(d->batch);
    if (d->unsynced) {
        link_sync(d);
        link_settle(d);
    }
    return d->changes;
}

static int64_t engine_epoch(db *d)
{
    return pg_of(d)->epoch;
}

static int64_t engine_past(db *d)
{
    return pg_of(d)->site->replica ? DB_PAST_UNKNOWN : pg_of(d)->past;
}

/* No row must stay: numbers come from a table of their own. */
static int64_t engine_highest(db *d, db_kind what)
{
    (void)d;
    (void)what;
    return 0;
}

/* -------------------------------------------------------------- statements */

/* The server requires exactly as many parameters as the text has; a caller may bind more, for the
 * text of the other engine. */
static int highest_param(const char *text)
{
    long max = 0;
    for (const char *p = strchr(text, '$'); p; p = strchr(p + 1, '$')) {
        long n = strtol(p + 1, NULL, 10);
        max = n > max && n <= PG_PARAMS ? n : max;
    }
    return (int)max;
}

pg_stmt *pg_stmt_of(pg *d, sql_id id)
{
    assert(id >= 0 && id < Q_COUNT);
    pg_stmt *q = d->stmts[id];
    if (!q) {
        q = d->stmts[id] = xcalloc(1, sizeof *q);
        *q = (pg_stmt){.base = {&postgres_engine, &d->base}, .connection = d, .id = id};
        q->n = highest_param(sql_text_postgres(id));
    }
    return q;
}

static db_stmt *engine_query(db *base, sql_id id)
{
    pg *d = pg_of(base);
    if (base->status == RAMET_OK && base->guarded && !sql_guarded(id)) /* P9 */
        operation_fail(d, FAILURE_UNGUARDED);
    if (base->status != RAMET_OK)
        return &d->none.base;
    pg_stmt *q = pg_stmt_of(d, id);
    stmt_clear(q);
    return &q->base;
}

static bool bind_at(pg_stmt *q, int n, Oid type, const char *value, int len)
{
    assert(n >= 1 && n <= PG_PARAMS);
    if (n > q->n)
        return false;
    q->types[n - 1] = type;
    q->values[n - 1] = value;
    q->lengths[n - 1] = len;
    q->formats[n - 1] = 1;
    return true;
}

static void engine_int(db_stmt *base, int n, int64_t v)
{
    pg_stmt *q = stmt_of(base);
    if (bind_at(q, n, PG_INT8, NULL, 8))
        q->ints[n - 1] = link_int(v);
}

static void engine_text(db_stmt *q, int n, const char *s)
{
    bind_at(stmt_of(q), n, PG_TEXT, s, s ? (int)strlen(s) : 0);
}

static void engine_blob(db_stmt *q, int n, const void *p, size_t len)
{
    bind_at(stmt_of(q), n, PG_BYTEA, p, (int)len);
}

/* False: the connection is lost. */
static bool ask_once(pg *d, pg_stmt *q)
{
    begin_send(d);
    link_stmt(d, q, FOR_READ);
    link_sync(d);
    return link_settle(d);
}

/* Runs a statement that returns rows, together with the writes held back. */
static void ask(pg *d, pg_stmt *q)
{
    bool first = d->progress == DID_NOTHING && !batch_count(d->batch); /* P4 */
    int64_t past = d->past;
    if (!ask_once(d, q) && first && reconnect(d)) {
        if (d->past == past)
            ask_once(d, q);
        else
            link_past_changed(d); /* P6: what the caller knows may come from the previous server */
    }
    progress_note(d, DID_READ);
}

static bool engine_row(db_stmt *base)
{
    pg_stmt *q = stmt_of(base);
    pg *d = q->connection;
    if (q == &d->none || d->base.status != RAMET_OK)
        return false;
    assert(d->state == STATE_RUNNING);
    if (!q->res && d->reads == READS_REFUSED) {
        operation_fail(d, FAILURE_NEEDS_READ);
        return false;
    }
    if (q->res) {
        q->row++;
    } else {
        q->row = 0;
        if (d->reads != READS_PREFETCHED || prefetch_look(d, q) == PREFETCH_MISS)
            ask(d, q);
    }
    if (q->res && q->row < PQntuples(q->res))
        return true;
    stmt_clear(q);
    return false;
}

static void engine_run(db_stmt *base)
{
    pg_stmt *q = stmt_of(base);
    pg *d = q->connection;
    if (q == &d->none || d->base.status != RAMET_OK)
        return;
    assert(d->state == STATE_RUNNING && d->work != DB_READ);
    if (d->base.guarded) {
        batch_keep(d->batch, q);
        return;
    }
    bool is_event = q->id == Q_event_add || q->id == Q_event_member;
    begin_send(d);
    link_stmt(d, q, FOR_WRITE);
    progress_note(d, is_event ? DID_WRITE_EVENTS : DID_WRITE);
    if (d->n_sent >= MAX_SENT) {
        link_sync(d);
        link_settle(d);
    }
}

/* A guard that does not hold fails the statement: see postgres_sql.h. A serializable transaction
 * needs none. */
static void engine_guard(db_stmt *q)
{
    if (q->connection->guarded)
        engine_run(q);
}

/* P9: in a guarded transaction the guard of the tree takes the place of the lock. */
static void engine_hold(db_stmt *base)
{
    pg_stmt *q = stmt_of(base);
    pg *d = q->connection;
    if (q == &d->none || d->base.status != RAMET_OK)
        return;
    if (!d->base.guarded && d->progress >= DID_WRITE)
        link_stmt(d, q, FOR_NOTHING);
    else if (d->base.guarded && batch_operation_count(d->batch) &&
             !batch_operation_guards(d->batch, q))
        operation_fail(d, FAILURE_UNGUARDED);
}

static void engine_conflict(db *base)
{
    pg_of(base)->failure = FAILURE_CONFLICT;
}

static void engine_end(db_stmt *base)
{
    stmt_clear(stmt_of(base));
}

static int64_t engine_col_int(db_stmt *base, int n)
{
    const pg_stmt *q = stmt_of(base);
    return q->res ? value_int(q->res, q->row, n) : 0;
}

static double engine_col_real(db_stmt *base, int n)
{
    const pg_stmt *q = stmt_of(base);
    return q->res ? value_real(q->res, q->row, n) : 0;
}

static const void *engine_col_bytes(db_stmt *base, int n, bool text, size_t *len)
{
    const pg_stmt *q = stmt_of(base);
    (void)text; /* libpq terminates both with a zero */
    *len = 0;
    return q->res ? value_bytes(q->res, q->row, n, len) : NULL;
}

static bool engine_col_null(db_stmt *base, int n)
{
    const pg_stmt *q = stmt_of(base);
    return !q->res || PQgetisnull(q->res, q->row, n);
}

/* ------------------------------------------------------------------ upkeep */

/* The server has its own tools (pg_amcheck, checksums); fsck checks our data. */
static bool engine_check(db *d, void (*line)(void *arg, const char *text), void *arg)
{
    (void)d;
    (void)line;
    (void)arg;
    return true;
}

static ramet_status engine_backup(db *d, const char *path, ramet_progress progress, void *arg)
{
    (void)path;
    (void)progress;
    (void)arg;
    db_fail(d, RAMET_INVALID,
            "a store in PostgreSQL is backed up by pg_dump or pg_basebackup, not by Ramet");
    return d->status;
}

const db_engine postgres_engine = {
    .name = "POSTGRES",
    .open = engine_open,
    .close = engine_close,
    .cleared = engine_cleared,
    .begin = engine_begin,
    .end_read = engine_end_read,
    .commit = engine_commit,
    .rollback = engine_rollback,
    .conflict = engine_conflict,
    .changes = engine_changes,
    .epoch = engine_epoch,
    .past = engine_past,
    .number = pg_number,
    .highest = engine_highest,
    .query = engine_query,
    .bind_int = engine_int,
    .bind_text = engine_text,
    .bind_blob = engine_blob,
    .row = engine_row,
    .run = engine_run,
    .change = engine_run, /* a row that is not changed fails the statement: see postgres_sql.h */
    .guard = engine_guard,
    .hold = engine_hold,
    .end = engine_end,
    .prefetch_begin = prefetch_begin,
    .prefetch_end = prefetch_end,
    .prefetch_forget = prefetch_forget,
    .col_int = engine_col_int,
    .col_real = engine_col_real,
    .col_bytes = engine_col_bytes,
    .col_null = engine_col_null,
    .plain = schema_plain,
    .version_text = schema_version_text,
    .script = schema_script,
    .one = schema_one,
    .version = schema_version,
    .set_version = schema_set_version,
    .marked = schema_marked,
    .mark = schema_mark,
    .empty = schema_empty,
    .sizes = schema_sizes,
    .check = engine_check,
    .backup = engine_backup,
};
