/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads that are asked for together (db_prefetch()): what a rehearsal asks is sent without waiting,
 * and its answers are kept, by statement and parameters, for the performance.
 *
 *   H1  Only in a read: all of it sees the same rows, so that an answer holds until its end.
 *   H2  Only when something was answered in it before: a connection that died is found out by the
 *       first exchange (P4).
 *   H3  An answer is lent to the statement that asks for it, however often; it lives until the next
 *       rehearsal of other things, or the end of the read.
 */
#include "store/postgres/postgres.h"

#include "base/buf.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS 512
#define ASKED_MOST 2000 /* in one exchange */
#define KEY_MOST 4096   /* bytes of parameters; longer ones are asked for as usual */

struct pg_ahead {
    pg_ahead *next;
    sql_id id;
    size_t len;
    PGresult *res; /* NULL: not answered yet */
    char key[];
};

struct pg_aheads {
    pg_ahead *slots[SLOTS];
    buf key;
    bool rehearsing;
    size_t asked; /* in this rehearsal */
};

pg_aheads *aheads_new(void)
{
    pg_aheads *h = xcalloc(1, sizeof *h);
    buf_init(&h->key, KEY_MOST);
    return h;
}

void aheads_free(pg_aheads *h)
{
    if (!h)
        return;
    aheads_drop(h);
    buf_release(&h->key);
    free(h);
}

void aheads_drop(pg_aheads *h)
{
    for (size_t i = 0; i < SLOTS; i++) {
        for (pg_ahead *a = h->slots[i], *next; a; a = next) {
            next = a->next;
            PQclear(a->res);
            free(a);
        }
        h->slots[i] = NULL;
    }
    h->rehearsing = false;
    h->asked = 0;
}

void ahead_answer(pg_ahead *a, PGresult *r)
{
    PQclear(a->res);
    a->res = r;
}

/* The parameters, each with its length; false: they are too long. */
static bool key_make(buf *key, const pg_stmt *q)
{
    buf_clear(key);
    for (int i = 0; i < q->n; i++) {
        bool is_int = q->types[i] == PG_INT8;
        const char *from = is_int ? (const char *)&q->ints[i] : q->values[i];
        int32_t len = is_int ? 8 : from ? q->lengths[i] : -1;
        if (key->n + sizeof len + (size_t)(len > 0 ? len : 0) > KEY_MOST)
            return false;
        buf_add(key, &len, sizeof len);
        if (len > 0)
            buf_add(key, from, (size_t)len);
    }
    return true;
}

static pg_ahead **slot_of(pg_aheads *h, sql_id id)
{
    uint32_t hash = 2166136261u ^ (uint32_t)id;
    for (size_t i = 0; i < h->key.n; i++)
        hash = (hash ^ (unsigned char)h->key.p[i]) * 16777619u;
    return &h->slots[(hash ^ hash >> 16) % SLOTS];
}

ahead_found ahead_look(pg *d, pg_stmt *q)
{
    pg_aheads *h = d->aheads;
    if (!key_make(&h->key, q))
        return AHEAD_ASK;
    pg_ahead **slot = slot_of(h, q->id), *a = *slot;
    while (a && (a->id != q->id || a->len != h->key.n || memcmp(a->key, h->key.p, a->len) != 0))
        a = a->next;
    if (a && a->res) {
        q->res = a->res;
        q->lent = true;
        return AHEAD_LENT;
    }
    if (!h->rehearsing)
        return AHEAD_ASK;
    if (!a && h->asked < ASKED_MOST) {
        a = xmalloc(sizeof *a + h->key.n);
        *a = (pg_ahead){.next = *slot, .id = q->id, .len = h->key.n};
        memcpy(a->key, h->key.p, h->key.n);
        *slot = a;
        h->asked++;
        link_ahead(d, q, a);
    }
    return AHEAD_LATER;
}

bool ahead_begin(db *base)
{
    pg *d = (pg *)base;
    if (d->work != DB_READ || !d->begun || !d->exchanged || base->status != RAMET_OK)
        return false;
    d->aheads->rehearsing = true;
    d->aheads->asked = 0;
    d->looks_ahead = true;
    return true;
}

bool ahead_end(db *base)
{
    pg *d = (pg *)base;
    bool more = d->aheads->asked > 0;
    d->aheads->rehearsing = false;
    if (more) {
        link_sync(d);
        link_settle(d);
    }
    /* The failure that said so may have been cleared with those of the rehearsal. */
    if (d->lost && base->status == RAMET_OK) {
        base->engine = true;
        db_fail(base, RAMET_IO, "the connection to the database was lost, nothing was written");
    }
    return more && base->status == RAMET_OK;
}

void ahead_forget(db *base)
{
    pg *d = (pg *)base;
    if (!d->looks_ahead)
        return;
    stmts_clear(d);
    aheads_drop(d->aheads);
    d->looks_ahead = false;
}
