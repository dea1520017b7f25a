/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers on PostgreSQL. A process reserves them in blocks, in separate transactions on a separate
 * connection, so that no write waits for the commit of another. The first block is small, and the
 * rest of the last one is given back, so that a short-lived process leaves no large gap.
 */
#include "store/postgres/postgres.h"

#include <stdio.h>

#define BLOCK_FIRST 16
#define MAX_BLOCK 1000

static const char reserve_sql[] = "UPDATE counter SET next=next+$2 WHERE kind=$1 RETURNING next-$2";
static const char reserve_session_sql[] =
    "UPDATE counter SET next=next+$2 WHERE kind=$1 RETURNING next-$2,"
    "(SELECT s.created FROM session s ORDER BY s.created DESC LIMIT 1)";
static const char return_sql[] = "UPDATE counter SET next=$2 WHERE kind=$1 AND next=$3";

/* Runs one statement on the side connection; `d->answer` has its rows. */
static ramet_status side_ask(db_site *s, const char *sql, const int64_t *args, int n, char *message)
{
    ramet_status st = RAMET_OK;
    for (int again = 0; again < 2; again++) {
        if (!s->side && (st = pg_reach(s, &s->side, message)) != RAMET_OK)
            return st;
        pg *d = s->side;
        db_clear(&d->base);
        d->turn++;
        link_ints(d, sql, args, n, FOR_READ);
        link_sync(d);
        link_settle(d);
        st = d->base.status;
        if (st == RAMET_OK)
            return st;
        snprintf(message, 512, "%s", d->base.message);
        pg_close(d);
        s->side = NULL;
    }
    return st;
}

/* If the first answer is lost, the numbers are reserved a second time; that only leaves a gap. */
static ramet_status refill(db_site *s, db_kind what, char *message)
{
    pg_block *b = &s->blocks[what];
    if (s->side && s->side->past != s->past) {
        pg_close(s->side);
        s->side = NULL;
    }
    /* Verdicts and remarks are listed by their numbers, and are few. */
    int64_t size = what == DB_VERDICT || what == DB_REMARK ? 1
                   : b->size                               ? b->size * 8
                                                           : BLOCK_FIRST;
    size = size < MAX_BLOCK ? size : MAX_BLOCK;
    int64_t args[] = {what, size};
    ramet_status st =
        side_ask(s, what == DB_SESSION ? reserve_session_sql : reserve_sql, args, 2, message);
    if (st != RAMET_OK)
        return st;
    const PGresult *r = s->side->answer;
    if (!r || PQntuples(r) != 1) {
        snprintf(message, 512, "the table of numbers has no row %d", (int)what);
        return RAMET_DAMAGED;
    }
    b->next = value_int(r, 0, 0);
    b->end = b->next + size;
    b->size = size;
    b->past = s->side->past;
    int64_t created = what == DB_SESSION ? value_int(r, 0, 1) : 0;
    if (created > s->created)
        s->created = created;
    return RAMET_OK;
}

int64_t pg_number(db *base, db_kind what, int64_t *at, bool above)
{
    db_site *s = ((pg *)base)->site;
    char message[512];
    int64_t no = 0;
    /* The sequencer numbers events. */
    if (base->status != RAMET_OK || what == DB_EVENT)
        return 0;
    pthread_mutex_lock(&s->lock);
    pg_block *b = &s->blocks[what];
    /* A new block is above all that were reserved before. */
    bool have = b->next < b->end && b->past == s->past;
    ramet_status st = have && !above ? RAMET_OK : refill(s, what, message);
    if (st == RAMET_OK) {
        no = b->next++;
        if (at && what == DB_SESSION) {
            *at = *at > s->created ? *at : s->created;
            s->created = *at;
        }
    }
    pthread_mutex_unlock(&s->lock);
    if (st != RAMET_OK)
        db_fail(base, st, "no number could be reserved: %s", message);
    return no;
}

void numbers_return(db_site *s)
{
    char message[512];
    for (int i = 0; i < DB_KINDS; i++) {
        pg_block *b = &s->blocks[i];
        int64_t args[] = {i, b->next, b->end};
        if (b->next < b->end && s->side && b->past == s->side->past && b->past == s->past)
            side_ask(s, return_sql, args, 3, message);
        *b = (pg_block){0};
    }
}
