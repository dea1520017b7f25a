/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads that are sent together (db_prefetch()). The caller first runs its code on trial (a dry
 * run): its reads are sent without waiting, and their answers are kept, by statement and
 * parameters, for the real run.
 *
 *   H1  Only in a read transaction: all of it sees the same rows, so an answer is valid until its
 *       end.
 *   H2  Only after a first answer in that transaction: a dead connection is noticed by the first
 *       exchange (P4).
 *   H3  An answer is lent to the statement that asks for it, however often. It lives until the next
 *       dry run of other items, or the end of the read.
 */
#include "store/postgres/postgres.h"

#include "base/buf.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS 512
#define MAX_ASKED 2000     /* statements in one exchange */
#define MAX_KEY_BYTES 4096 /* bytes of parameters; longer ones are not prefetched */

struct prefetch_item {
    prefetch_item *next;
    sql_id id;
    size_t len;
    PGresult *result; /* NULL: not answered yet */
    char key[];
};

struct pg_prefetch {
    prefetch_item *slots[SLOTS];
    buf key;
    bool dry_run;
    size_t asked; /* statements in this dry run */
};

pg_prefetch *prefetch_new(void)
{
    pg_prefetch *h = xcalloc(1, sizeof *h);
    buf_init(&h->key, MAX_KEY_BYTES);
    return h;
}

void prefetch_free(pg_prefetch *h)
{
    if (!h)
        return;
    prefetch_clear(h);
    buf_release(&h->key);
    free(h);
}

void prefetch_clear(pg_prefetch *h)
{
    for (size_t i = 0; i < SLOTS; i++) {
        for (prefetch_item *a = h->slots[i], *next; a; a = next) {
            next = a->next;
            PQclear(a->result);
            free(a);
        }
        h->slots[i] = NULL;
    }
    h->dry_run = false;
    h->asked = 0;
}

void prefetch_answer(prefetch_item *a, PGresult *r)
{
    PQclear(a->result);
    a->result = r;
}

/* Makes a key of the parameters, each with its length; false: they are too long. */
static bool key_make(buf *key, const pg_stmt *q)
{
    buf_clear(key);
    for (int i = 0; i < q->n; i++) {
        bool is_int = q->types[i] == PG_INT8;
        const char *from = is_int ? (const char *)&q->ints[i] : q->values[i];
        int32_t len = is_int ? 8 : from ? q->lengths[i] : -1;
        if (key->n + sizeof len + (size_t)(len > 0 ? len : 0) > MAX_KEY_BYTES)
            return false;
        buf_add(key, &len, sizeof len);
        if (len > 0)
            buf_add(key, from, (size_t)len);
    }
    return true;
}

static prefetch_item **slot_of(pg_prefetch *h, sql_id id)
{
    uint32_t hash = hash_bytes(h->key.data, h->key.n, (uint32_t)id);
    return &h->slots[(hash ^ hash >> 16) % SLOTS];
}

prefetch_found prefetch_look(pg *d, pg_stmt *q)
{
    pg_prefetch *h = d->prefetch;
    if (!key_make(&h->key, q))
        return PREFETCH_MISS;
    prefetch_item **slot = slot_of(h, q->id), *a = *slot;
    while (a && (a->id != q->id || a->len != h->key.n || memcmp(a->key, h->key.data, a->len) != 0))
        a = a->next;
    if (a && a->result) {
        q->res = a->result;
        q->lent = true;
        return PREFETCH_HIT;
    }
    if (!h->dry_run)
        return PREFETCH_MISS;
    if (!a && h->asked < MAX_ASKED) {
        a = xmalloc(sizeof *a + h->key.n);
        *a = (prefetch_item){.next = *slot, .id = q->id, .len = h->key.n};
        memcpy(a->key, h->key.data, h->key.n);
        *slot = a;
        h->asked++;
        link_prefetch(d, q, a);
    }
    return PREFETCH_ASKED;
}

bool prefetch_begin(db *base)
{
    pg *d = (pg *)base;
    if (d->work != DB_READ || !d->begin_sent || d->progress != DID_READ || base->status != RAMET_OK)
        return false;
    d->prefetch->dry_run = true;
    d->prefetch->asked = 0;
    d->reads = READS_PREFETCHED;
    return true;
}

bool prefetch_end(db *base)
{
    pg *d = (pg *)base;
    bool more = d->prefetch->asked > 0;
    d->prefetch->dry_run = false;
    if (more) {
        link_sync(d);
        link_settle(d);
    }
    /* The failure may have been cleared together with those of the dry run. */
    if (d->link == LINK_LOST && base->status == RAMET_OK) {
        base->engine_failed = true;
        db_fail(base, RAMET_IO, "the connection to the database was lost, nothing was written");
    }
    return more && base->status == RAMET_OK;
}

void prefetch_forget(db *base)
{
    pg *d = (pg *)base;
    if (d->reads != READS_PREFETCHED)
        return;
    stmts_clear(d);
    prefetch_clear(d->prefetch);
    d->reads = READS_SENT;
}
