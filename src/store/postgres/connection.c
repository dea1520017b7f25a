/* SPDX-License-Identifier: Apache-2.0
 *
 * One connection to PostgreSQL: sending, waiting, errors (P1 in postgres.h).
 */
#include "store/postgres/postgres.h"

#include "base/util.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STOP_MS 100     /* how often a waiting read checks whether it should stop */
#define ANSWER_MS 30000 /* past the statement timeout: then the connection counts as lost */

/* ------------------------------------------------------------------ errors */

static void one_line(char *s)
{
    size_t n = strlen(s);
    while (n && (s[n - 1] == '\n' || s[n - 1] == ' '))
        s[--n] = 0;
    for (; *s; s++)
        if (*s == '\n' || *s == '\t' || *s == '\r')
            *s = ' ';
}

static bool starts(const char *s, const char *with)
{
    return strncmp(s, with, strlen(with)) == 0;
}

/* 40003: the server itself does not know whether a statement was completed. Only distributed
 * engines report that. */
static bool is_ambiguous(const char *state)
{
    return strcmp(state, "40003") == 0;
}

/* 40001 serialization, 40P01 deadlock, 23505 unique, 55P03 lock time-out, 22012 a guard. */
static bool is_conflict(const char *state)
{
    return (starts(state, "40") && !is_ambiguous(state)) || strcmp(state, "23505") == 0 ||
           strcmp(state, "55P03") == 0 || strcmp(state, "22012") == 0;
}

/* The server shuts down, or became read-only. 08P01 is a mistake of ours. */
static bool is_lost(const char *state)
{
    return (starts(state, "08") && strcmp(state, "08P01") != 0) || starts(state, "57P") ||
           strcmp(state, "25006") == 0 || is_ambiguous(state);
}

static ramet_status status_of(const char *state)
{
    if (is_conflict(state) || strcmp(state, "57014") == 0 || strcmp(state, "53300") == 0)
        return RAMET_BUSY;
    if (strcmp(state, "53100") == 0)
        return RAMET_FULL;
    if (strcmp(state, "53200") == 0)
        return RAMET_NO_MEMORY;
    /* Our statements are constant, so the tables must be wrong. */
    if (starts(state, "42P01") || starts(state, "42703") || starts(state, "XX00"))
        return RAMET_DAMAGED;
    if (is_lost(state) || starts(state, "58") || starts(state, "53") || starts(state, "28"))
        return RAMET_IO;
    return RAMET_INTERNAL;
}

/* Records a failure (P7). False: there was one before. */
static bool failure_set(pg *d, pg_failure failure)
{
    if (d->base.status != RAMET_OK)
        return false;
    d->failure = failure;
    return true;
}

void link_lost(pg *d, const char *why)
{
    char text[300];
    bool unknown = d->state == STATE_COMMITTING;
    bool committed = d->state == STATE_COMMITTED;
    snprintf(text, sizeof text, "%s", why && *why ? why : "it was closed");
    one_line(text);
    d->link = LINK_LOST;
    /* A commit stays committed, and the caller gets that answer. */
    if (committed || !failure_set(d, unknown ? FAILURE_UNKNOWN : FAILURE_LOST))
        return;
    d->base.engine_failed = true;
    db_fail(&d->base, RAMET_IO,
            unknown ? "the connection to the database was lost while the write was committed; "
                      "whether it happened is not known, the same request again finds out: %s"
                    : "the connection to the database was lost, nothing was written: %s",
            text);
}

void link_past_changed(pg *d)
{
    if (failure_set(d, FAILURE_CONFLICT))
        db_fail(&d->base, RAMET_BUSY, "the database is another server now; try again");
}

void link_fail(pg *d, const PGresult *r, const char *what)
{
    const char *state = r ? PQresultErrorField(r, PG_DIAG_SQLSTATE) : NULL;
    const char *said = r ? PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    if (PQstatus(d->conn) == CONNECTION_BAD || !state || is_lost(state)) {
        link_lost(d, said ? said : PQerrorMessage(d->conn));
        return;
    }
    /* Each read of a guarded transaction is a transaction of its own: nothing else is undone with
     * it. */
    if (d->state == STATE_RUNNING && d->begin_sent)
        pg_move(d, STATE_UNDONE);
    if (!failure_set(d, is_conflict(state) ? FAILURE_CONFLICT : FAILURE_REFUSED))
        return;
    d->base.engine_failed = true;
    db_fail(&d->base, status_of(state), "%s (%s)%s%s", said ? said : "it failed", state,
            what ? ", in " : "", what ? what : "");
    one_line(d->base.message);
}

/* -------------------------------------------------------------- connecting */

static void hush(void *arg, const char *message)
{
    (void)arg;
    (void)message;
}

static void forget(pg *d)
{
    for (int i = 0; i < Q_COUNT; i++)
        if (d->stmts[i])
            d->stmts[i]->prepared = PG_NEW;
    for (int i = 0; i < PG_OWN; i++)
        d->own[i].stmt.prepared = PG_NEW;
    batch_forget(d->batch);
    prefetch_forget(&d->base);
    d->n_sent = d->n_done = 0;
    d->unsynced = d->begin_sent = false;
}

/* Reads the timeline of the server (P6). An engine without timelines, or a replica, has none, and
 * its past never changes. False: other servers of this site have one, and this one does not; it may
 * be a replica that is promoted while the connection lasts, so it must not be used. */
static bool past_ask(pg *d)
{
    PGresult *r = PQexec(d->conn, "SELECT " TIMELINE);
    const char *text = PQresultStatus(r) == PGRES_TUPLES_OK ? PQgetvalue(r, 0, 0) : "";
    int64_t timeline = (int64_t)strtoul(text, NULL, 16);
    bool usable = timeline || d->site->replica || !site_has_timeline(d->site);
    if (usable)
        d->past = site_past(d->site, timeline);
    PQclear(r);
    return usable;
}

bool link_connect(pg *d, char *message)
{
    PQfinish(d->conn);
    forget(d);
    d->link = LINK_LOST;
    d->conn = PQconnectdbParams((const char *const *)d->site->keys,
                                (const char *const *)d->site->values, 0);
    if (PQstatus(d->conn) != CONNECTION_OK) {
        snprintf(message, 512, "%s: %s", d->site->shown, PQerrorMessage(d->conn));
        one_line(message);
        return false;
    }
    const char *encoding = PQparameterStatus(d->conn, "server_encoding");
    if (PQserverVersion(d->conn) < 130000 || !encoding || strcmp(encoding, "UTF8") != 0) {
        snprintf(message, 512,
                 "%s: it has to be PostgreSQL 13 or newer with encoding UTF8, and is %d with %s",
                 d->site->shown, PQserverVersion(d->conn) / 10000, encoding ? encoding : "none");
        return false;
    }
    PQsetNoticeProcessor(d->conn, hush, NULL);
    if (!past_ask(d)) {
        snprintf(message, 512, "%s: it is not the primary server just now", d->site->shown);
        return false;
    }
    if (PQsetnonblocking(d->conn, 1) == 0 && PQenterPipelineMode(d->conn) == 1)
        d->link = LINK_UP;
    return d->link == LINK_UP;
}

bool link_usable(const pg *d)
{
    return d->link == LINK_UP && PQstatus(d->conn) == CONNECTION_OK;
}

bool link_alive(pg *d)
{
    struct pollfd p = {.fd = PQsocket(d->conn), .events = POLLIN};
    if (!link_usable(d))
        return false;
    /* Unexpected input is the end of the connection, or an answer that is still due (P3). */
    if (poll(&p, 1, 0) > 0 && !PQconsumeInput(d->conn))
        return false;
    return PQstatus(d->conn) == CONNECTION_OK;
}

/* ----------------------------------------------------------------- sending */

static void note(pg *d, pg_purpose what, pg_stmt *q)
{
    if (d->n_sent == d->cap) {
        d->cap = d->cap ? d->cap * 2 : 64;
        d->sent = xrealloc(d->sent, d->cap * sizeof *d->sent);
    }
    d->sent[d->n_sent++] = (pg_sent){what, q, NULL, d->turn};
    d->unsynced = what != FOR_SYNC && what != FOR_COMMIT_SYNC;
}

static bool sent_ok(pg *d, int ok, pg_purpose what, pg_stmt *q)
{
    if (ok == 1)
        note(d, what, q);
    else
        link_lost(d, PQerrorMessage(d->conn));
    return ok == 1;
}

void link_text(pg *d, const char *sql, pg_purpose what)
{
    if (d->link != LINK_LOST)
        sent_ok(d, PQsendQueryParams(d->conn, sql, 0, NULL, NULL, NULL, NULL, 1), what, NULL);
}

void link_begin(pg *d, const char *text, pg_purpose settings)
{
    assert(d->state != STATE_IDLE && !d->begin_sent);
    link_text(d, text, FOR_NOTHING);
    if (d->site->bouncer) /* P5 */
        link_text(d, d->site->settings, settings);
    d->begin_sent = true;
}

int64_t link_int(int64_t v)
{
    uint64_t u = (uint64_t)v, out;
    uint8_t *p = (uint8_t *)&out;
    for (int i = 7; i >= 0; i--, u >>= 8)
        p[i] = (uint8_t)u;
    return (int64_t)out;
}

/* The index of a statement; -1: it is sent unprepared. */
static int own_of(pg *d, const char *sql)
{
    int i = 0;
    while (i < PG_OWN && d->own[i].sql && d->own[i].sql != sql)
        i++;
    if (i == PG_OWN || d->site->bouncer)
        return -1;
    d->own[i].sql = sql;
    return i;
}

void link_ints(pg *d, const char *sql, const int64_t *args, int n, pg_purpose what)
{
    char name[16];
    int own = own_of(d, sql);
    pg_stmt *q = own < 0 ? NULL : &d->own[own].stmt;
    Oid types[4];
    int64_t ints[4];
    const char *values[4];
    int lengths[4], formats[4];
    assert(n <= 4);
    for (int i = 0; i < n && i < 4; i++) {
        types[i] = PG_INT8;
        ints[i] = link_int(args[i]);
        values[i] = (const char *)&ints[i];
        lengths[i] = 8;
        formats[i] = 1;
    }
    snprintf(name, sizeof name, "own%d", own);
    if (d->link != LINK_LOST && q && q->prepared == PG_NEW &&
        sent_ok(d, PQsendPrepare(d->conn, name, sql, n, types), FOR_PREPARE, q))
        q->prepared = PG_SENT;
    if (d->link == LINK_LOST)
        return;
    int ok = q ? PQsendQueryPrepared(d->conn, name, n, values, lengths, formats, 1)
               : PQsendQueryParams(d->conn, sql, n, types, values, lengths, formats, 1);
    sent_ok(d, ok, what, NULL);
}

void link_stmt(pg *d, pg_stmt *q, pg_purpose what)
{
    const char *text = sql_text_postgres(q->id), *name = sql_name(q->id);
    int ok = 1;
    if (d->link == LINK_LOST)
        return;
    for (int i = 0; i < q->n; i++)
        if (q->types[i] == PG_INT8)
            q->values[i] = (const char *)&q->ints[i];
    if (d->site->bouncer) {
        ok = PQsendQueryParams(d->conn, text, q->n, q->types, q->values, q->lengths, q->formats, 1);
        sent_ok(d, ok, what, q);
        return;
    }
    if (q->prepared == PG_NEW) {
        if (!sent_ok(d, PQsendPrepare(d->conn, name, text, q->n, q->types), FOR_PREPARE, q))
            return;
        q->prepared = PG_SENT;
    }
    ok = PQsendQueryPrepared(d->conn, name, q->n, q->values, q->lengths, q->formats, 1);
    sent_ok(d, ok, what, q);
}

void link_prefetch(pg *d, pg_stmt *q, prefetch_item *a)
{
    link_stmt(d, q, FOR_PREFETCH);
    if (d->link != LINK_LOST)
        d->sent[d->n_sent - 1].prefetched = a;
}

void link_whole(pg *d, pg_stmt *q, const char *name, const char *text, int n, const Oid *types,
                const char *const *values, const int *lengths, const int *formats, pg_purpose what)
{
    if (d->link == LINK_LOST)
        return;
    if (q->prepared == PG_NEW) {
        if (!sent_ok(d, PQsendPrepare(d->conn, name, text, n, types), FOR_PREPARE, q))
            return;
        q->prepared = PG_SENT;
    }
    sent_ok(d, PQsendQueryPrepared(d->conn, name, n, values, lengths, formats, 1), what, NULL);
}

static void sync_send(pg *d, pg_purpose what)
{
    if (d->link == LINK_LOST || !sent_ok(d, PQpipelineSync(d->conn), what, NULL))
        return;
    d->trips++;
    if (PQflush(d->conn) < 0)
        link_lost(d, PQerrorMessage(d->conn));
}

void link_sync(pg *d)
{
    sync_send(d, FOR_SYNC);
}

void link_sync_commit(pg *d)
{
    sync_send(d, FOR_COMMIT_SYNC);
}

void link_position(pg *d)
{
    if (!d->site->positions)
        return;
    link_text(d, "SELECT (pg_current_wal_insert_lsn()-'0/0')::bigint", FOR_POSITION);
    link_sync(d);
}

static void position_raise(db_site *s, int64_t to)
{
    int64_t have = s->position;
    while (to > have && !atomic_compare_exchange_weak(&s->position, &have, to))
        ;
}

/* ----------------------------------------------------------------- waiting */

/* Asks the server to cancel the running statement; its answer still arrives, as an error. */
static void statement_cancel(pg *d)
{
    char why[256];
    PGcancel *cancel = PQgetCancel(d->conn);
    if (cancel)
        PQcancel(cancel, why, sizeof why);
    PQfreeCancel(cancel);
}

/* Waits for the socket, at most `most` ms (-1: without limit). Cancels a read, once, when its
 * caller no longer wants it. */
static int link_wait(pg *d, struct pollfd *p, int max)
{
    int64_t until = max < 0 ? INT64_MAX : time_mono_us() + (int64_t)max * 1000;
    while (d->base.stop && d->link == LINK_UP) {
        int rc = poll(p, 1, STOP_MS);
        if (rc != 0 || time_mono_us() >= until)
            return rc;
        if (db_stopping(&d->base)) {
            d->link = LINK_CANCELLED;
            statement_cancel(d);
        }
    }
    return poll(p, 1, max);
}

/* Reads the next result; NULL between two of them. False: the connection is lost. */
static bool next_result(pg *d, pg_purpose what, PGresult **out)
{
    /* A commit may wait for a replica for any time; the sync after a whole statement commits it. */
    bool commits = what == FOR_COMMIT || what == FOR_COMMIT_SYNC;
    int max = commits ? -1 : d->site->statement_ms + ANSWER_MS;
    for (;;) {
        int left = PQflush(d->conn);
        if (left < 0)
            break;
        if (!PQisBusy(d->conn)) {
            *out = PQgetResult(d->conn);
            return true;
        }
        struct pollfd p = {.fd = PQsocket(d->conn),
                           .events = (short)(POLLIN | (left ? POLLOUT : 0))};
        int rc = link_wait(d, &p, max);
        if (rc == 0) {
            link_lost(d, "it did not answer in time");
            return false;
        }
        if ((rc < 0 && errno != EINTR) || (rc > 0 && !PQconsumeInput(d->conn)))
            break;
    }
    link_lost(d, PQerrorMessage(d->conn));
    return false;
}

/* Behind pgbouncer the server may be another one than in the transaction before: then what this one
 * relies on does not hold. */
static void past_note(pg *d, const PGresult *r)
{
    const char *text = PQgetvalue(r, 0, PQnfields(r) - 1);
    int64_t past = site_past(d->site, (int64_t)strtoul(text, NULL, 16));
    if (past == d->past)
        return;
    d->past = past;
    link_past_changed(d);
}

/* Handles one result for what was sent; takes ownership of it. */
static void take(pg *d, const pg_sent *s, PGresult *r)
{
    ExecStatusType st = PQresultStatus(r);
    bool good = st == PGRES_COMMAND_OK || st == PGRES_TUPLES_OK, mine = s->turn == d->turn;
    if (s->what == FOR_PREPARE)
        s->stmt->prepared = good ? PG_PREPARED : PG_NEW;
    /* The commit before it stands whatever happens to this. */
    if (s->what == FOR_POSITION && PQstatus(d->conn) == CONNECTION_OK) {
        if (st == PGRES_TUPLES_OK && PQntuples(r) == 1)
            position_raise(d->site, value_int(r, 0, 0));
        PQclear(r);
        return;
    }
    if (st == PGRES_FATAL_ERROR && (mine || PQstatus(d->conn) == CONNECTION_BAD))
        link_fail(d, r, s->stmt && s->stmt->connection ? sql_name(s->stmt->id) : NULL);
    if (good && mine && s->what == FOR_WHOLE && strcmp(PQcmdTuples(r), "0") == 0)
        db_conflict(&d->base);
    if (good && (s->what == FOR_WRITE || s->what == FOR_WHOLE))
        d->changes += strtoll(PQcmdTuples(r), NULL, 10);
    if (good && mine && s->what == FOR_COMMIT && strcmp(PQcmdStatus(r), "COMMIT") != 0)
        db_fail(&d->base, RAMET_INTERNAL, "the transaction was rolled back at its end");
    if (good && mine && s->what == FOR_PAST && PQntuples(r) == 1)
        past_note(d, r);
    if (good && mine && s->what == FOR_PREFETCH) {
        prefetch_answer(s->prefetched, r);
        return;
    }
    if (good && mine && s->what == FOR_READ) {
        if (s->stmt)
            stmt_clear(s->stmt);
        else
            PQclear(d->answer);
        *(s->stmt ? &s->stmt->res : &d->answer) = r;
        return;
    }
    PQclear(r);
}

bool link_settle(pg *d)
{
    while (d->link != LINK_LOST && d->n_done < d->n_sent) {
        pg_sent s = d->sent[d->n_done];
        PGresult *r = NULL;
        if (!next_result(d, s.what, &r))
            break;
        bool synced = r && PQresultStatus(r) == PGRES_PIPELINE_SYNC;
        if (r) {
            take(d, &s, r);
            if (PQstatus(d->conn) == CONNECTION_BAD)
                link_lost(d, PQerrorMessage(d->conn));
        }
        if (synced && s.what == FOR_COMMIT_SYNC && d->base.status == RAMET_OK) { /* P8 */
            assert(s.turn == d->turn);
            if (d->state == STATE_COMMITTING) {
                pg_move(d, STATE_COMMITTED);
                d->acknowledged = d->turn;
            }
        }
        /* Every answer except a sync ends with a NULL. */
        if (!r || synced)
            d->n_done++;
    }
    d->n_sent = d->n_done = 0;
    return d->link != LINK_LOST;
}

PGresult *link_run(pg *d, const char *sql, int n, const Oid *types, const char *const *values,
                   const int *lengths, const int *formats)
{
    if (d->unsynced)
        link_sync(d);
    if (!link_settle(d) || d->base.status != RAMET_OK)
        return NULL;
    PQexitPipelineMode(d->conn);
    PGresult *r = n ? PQexecParams(d->conn, sql, n, types, values, lengths, formats, 0)
                    : PQexec(d->conn, sql);
    d->trips++;
    ExecStatusType st = PQresultStatus(r);
    if (st != PGRES_COMMAND_OK && st != PGRES_TUPLES_OK) {
        link_fail(d, r, NULL);
        PQclear(r);
        r = NULL;
    }
    if (d->link != LINK_LOST && PQenterPipelineMode(d->conn) != 1)
        link_lost(d, PQerrorMessage(d->conn));
    return r;
}

PGresult *link_exec(pg *d, const char *sql)
{
    return link_run(d, sql, 0, NULL, NULL, NULL, NULL);
}
