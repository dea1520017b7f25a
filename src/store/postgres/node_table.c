/* SPDX-License-Identifier: Apache-2.0
 *
 * Which processes on one PostgreSQL database are alive, and which of them runs a job that only one
 * may run. Times are those of the database, because the clocks of machines differ.
 */
#include "store/postgres/postgres.h"

#include <stdlib.h>

#define NOW "(extract(epoch FROM clock_timestamp())*1000000)::bigint"

/* $1 is a name, $2 a time. Rows of nodes that have been away for long are removed. */
static const char beat_sql[] =
    "WITH now AS (SELECT " NOW " AS t),"
    "old AS (DELETE FROM node USING now WHERE host<>$1 AND seen<t-$2*4),"
    "own AS (INSERT INTO node(host,seen) SELECT $1,t FROM now "
    "ON CONFLICT(host) DO UPDATE SET seen=excluded.seen) "
    "SELECT host FROM node,now WHERE seen>t-$2 AND host<>$1 UNION ALL SELECT $1 ORDER BY 1";
static const char leave_sql[] = "DELETE FROM node WHERE host=$1 AND $2=0";
static const char due_sql[] = "SELECT 1 FROM job WHERE name=$1 AND at>" NOW "-$2";
/* The lock is held until the connection ends. */
static const char lock_sql[] = "SELECT CASE WHEN $2>=0 AND pg_try_advisory_lock("
                               "hashtext('ramet job '||$1),hashtext(current_schema())) "
                               "THEN 1 ELSE 0 END";
static const char take_sql[] =
    "INSERT INTO job(name,at,runs) VALUES($1," NOW ",1) ON CONFLICT(name) DO UPDATE "
    "SET at=excluded.at,runs=job.runs+1 WHERE job.at<=excluded.at-$2 RETURNING 1";

/* Runs a statement outside the pipeline. NULL on failure; the caller owns the result. */
static PGresult *run(pg *d, const char *sql, const char *name, int64_t number)
{
    static const Oid types[] = {PG_TEXT, PG_INT8};
    int64_t net = link_int(number);
    const char *values[] = {name, (const char *)&net};
    const int lengths[] = {0, sizeof net}, formats[] = {0, 1};
    db_clear(&d->base);
    return link_run(d, sql, 2, types, values, lengths, formats);
}

static int64_t rows(pg *d, const char *sql, const char *name, int64_t number)
{
    PGresult *r = run(d, sql, name, number);
    int64_t n = r ? PQntuples(r) : -1;
    PQclear(r);
    return n;
}

ramet_status node_beat(pg *d, const char *host, int64_t dead_us, arena *a, store_hosts *out)
{
    *out = (store_hosts){0};
    PGresult *r = run(d, beat_sql, host, dead_us);
    if (!r)
        return db_status(&d->base);
    for (int i = 0; i < PQntuples(r); i++) {
        const char *name = arena_strdup(a, PQgetvalue(r, i, 0));
        VEC_PUSH(a, out, name);
    }
    PQclear(r);
    return RAMET_OK;
}

void node_leave(pg *d, const char *host)
{
    PQclear(run(d, leave_sql, host, 0));
}

bool job_due(pg *d, const char *job, int64_t every_us)
{
    return rows(d, due_sql, job, every_us) == 0;
}

bool job_take(pg *d, const char *job, int64_t every_us)
{
    PGresult *r = d->site->bouncer ? NULL : run(d, lock_sql, job, 0);
    bool held = d->site->bouncer || (r && PQntuples(r) && PQgetvalue(r, 0, 0)[0] == '1');
    PQclear(r);
    return held && rows(d, take_sql, job, every_us) == 1;
}
