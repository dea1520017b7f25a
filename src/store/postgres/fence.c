/* SPDX-License-Identifier: Apache-2.0
 *
 * Waits until every guarded write has ended that may have missed a commit and could still commit
 * itself. A revocation does so before it is answered (core/session/rights.c, decision 0043).
 *
 *   F1  A guarded write compares the stamp of its tree in the snapshot of the statement that
 *       writes. The server locks the tables of a statement before it takes that snapshot. So a
 *       write whose snapshot is older than the commit has locked `branch` in ROW EXCLUSIVE mode
 *       before the commit, and holds that lock until its own end: pg_locks lists it.
 *   F2  Serializable transactions hold that lock as well, some of them for long, but there is no
 *       need to wait for them: their last statement locks the row of the stamp. They are recognized
 *       by their predicate locks, which no other transaction has.
 *   F3  A guarded write is never idle in its transaction: all of it is sent at once. So there is no
 *       need to wait for an idle transaction either. Its state is read with the locks, after the
 *       commit; when it is that of the transaction before or after the one with the lock, then that
 *       one began after the commit, or has ended.
 *   F4  A guarded write waits only briefly for a lock (BRIEF_MS in batch.c), so the wait ends soon;
 *       behind pgbouncer it waits as long as any statement may for a lock.
 */
#include "store/postgres/postgres.h"

#include "base/util.h"

#include <string.h>
#include <time.h>

#define LOOK_US 1000 /* doubled each time, up to 16 times that */

/* The transactions to wait for, as the text of an array; NULL when there are none. */
static const char found_sql[] =
    "WITH held AS MATERIALIZED (SELECT locktype,database,relation,virtualtransaction,pid,mode,"
    "granted FROM pg_locks) "
    "SELECT array_agg(DISTINCT h.virtualtransaction)::text FROM held h "
    "WHERE h.locktype='relation' AND h.granted AND h.pid<>pg_backend_pid() "
    "AND h.database=(SELECT oid FROM pg_database WHERE datname=current_database()) "
    "AND h.relation='branch'::regclass AND h.mode='RowExclusiveLock' AND NOT EXISTS (SELECT 1 FROM "
    "held p WHERE p.virtualtransaction=h.virtualtransaction AND p.mode='SIReadLock') "
    "AND NOT EXISTS (SELECT 1 FROM pg_stat_activity a WHERE a.pid=h.pid "
    "AND a.state='idle in transaction')";
/* Whether one of them is left: each holds the lock of its virtual transaction id until its end. */
static const char left_sql[] = "SELECT 1 FROM pg_locks WHERE locktype='virtualxid' AND granted "
                               "AND virtualxid=ANY($1::text[]) LIMIT 1";

/* -1: the query failed. */
static int any_left(pg *d, const char *list)
{
    const int length = 0, format = 0;
    const Oid type = PG_TEXT;
    PGresult *r = link_run(d, left_sql, 1, &type, &list, &length, &format);
    int n = r ? PQntuples(r) : -1;
    PQclear(r);
    return n;
}

ramet_status fence_wait(pg *d, int64_t until)
{
    db_clear(&d->base);
    PGresult *r = link_exec(d, found_sql);
    const char *list = r && !PQgetisnull(r, 0, 0) ? PQgetvalue(r, 0, 0) : NULL;
    int left = list ? 1 : 0;
    for (int64_t us = LOOK_US; left > 0; us = us < 16 * LOOK_US ? us * 2 : us) {
        left = any_left(d, list);
        if (left <= 0)
            break;
        if (time_mono_us() > until) {
            db_fail(&d->base, RAMET_BUSY,
                    "the change is made, but a write that began before it has not ended yet and "
                    "may still be committed");
            break;
        }
        struct timespec t = time_spec(us);
        nanosleep(&t, NULL);
    }
    PQclear(r);
    return db_status(&d->base);
}
