/* SPDX-License-Identifier: Apache-2.0
 *
 * Full-text search in an index that is in tables of the store's own database.
 *
 * A search reads index and store in one snapshot, on a connection of the pool; any number of
 * searches run at a time. When the snapshot holds something that is not indexed yet, the search
 * releases it, brings the index up to date on a separate connection, and starts again.
 */
#include "core/call.h"
#include "core/handle.h"
#include "core/search/search.h"
#include "core/txn.h"

/* Opens the index for writing; under the lock. */
static ramet_status index_open(ramet *r, struct search *s, char *message)
{
    ramet_status st = RAMET_OK;
    if (!s->db)
        st = store_connect(r->store, &s->db, message);
    if (st == RAMET_OK && !s->index)
        st = fts_over(s->db, &s->index, message);
    return st;
}

static ramet_status cannot_open(ramet_call *c, ramet_status st, const char *message)
{
    return call_fail(c, st, NULL, "the search index cannot be opened: %s", message);
}

/* Whether any node has committed an event that has no number yet. */
static bool is_waiting(txn *tx)
{
    db_stmt *q = db_query(tx->db, Q_event_waiting);
    bool waiting = q_row(q);
    q_end(q);
    return waiting;
}

static ramet_status tables_update(ramet_call *c, bool rebuild, int64_t *indexed)
{
    char message[512] = "";
    store_settle_all(c->ramet->store);
    struct search *s = search_lock(c->ramet);
    ramet_status st = index_open(c->ramet, s, message);
    if (st != RAMET_OK)
        cannot_open(c, st, message);
    else if (rebuild)
        st = follow_restart(c, s->index);
    if (st == RAMET_OK)
        st = follow_all(c, s->index, indexed);
    search_unlock(s);
    return st;
}

/* Runs a search on one snapshot. *fresh false: the index is behind, and nothing was searched. */
static ramet_status find_on(finder *f, int limit, bool *fresh, ramet_hits *out)
{
    char message[512] = "";
    ramet_call *c = f->call;
    if (!txn_read(&f->tx, c))
        return c->err.status;
    ramet_status st = fts_over(f->tx.db, &f->index, message);
    if (st != RAMET_OK) {
        cannot_open(c, st, message);
    } else {
        query q = *f->query;
        st = query_cut(c, f->index, &q);
        const query *typed = f->query;
        f->query = &q;
        if (st == RAMET_OK && !*fresh)
            *fresh = follow_fresh(&f->tx, f->index) && !is_waiting(&f->tx);
        if (st == RAMET_OK && *fresh)
            st = find_page(f, limit, out);
        f->query = typed;
        fts_close(f->index);
    }
    return txn_done(&f->tx, st);
}

static ramet_status tables_find(ramet_call *c, const ramet_search_in *in, int limit, const query *q,
                                ramet_hits *out)
{
    int64_t indexed = 0;
    bool fresh = false;
    finder f = {.call = c, .in = in, .query = q};
    TRY(find_on(&f, limit, &fresh, out));
    if (fresh)
        return RAMET_OK;
    TRY(tables_update(c, false, &indexed));
    fresh = true; /* what was committed since then need not be found */
    f = (finder){.call = c, .in = in, .query = q};
    return find_on(&f, limit, &fresh, out);
}

static void tables_forget(ramet *r, int64_t tree, const int64_t *keys, const char *const *texts,
                          size_t n)
{
    char message[512];
    struct search *s = search_lock(r);
    if (index_open(r, s, message) == RAMET_OK)
        follow_forget(s->index, tree, keys, texts, n);
    search_unlock(s);
}

static ramet_status tables_scrub(ramet_call *c, bool whole)
{
    int64_t indexed = 0;
    return whole ? tables_update(c, true, &indexed) : RAMET_OK;
}

/* Reads one number of the index. */
static int64_t number_read(ramet *r, int64_t (*read)(fts *f))
{
    char message[512];
    ramet_status st;
    int64_t v = 0;
    fts *f;
    db *d = store_read_begin(r->store, &st, message);
    if (!d)
        return 0;
    if (fts_over(d, &f, message) == RAMET_OK) {
        v = read(f);
        fts_close(f);
    }
    store_read_end(r->store, d);
    return v;
}

static int64_t tables_mark(ramet *r)
{
    return number_read(r, follow_mark);
}

static int64_t bytes_read(fts *f)
{
    db_stmt *q = db_query(fts_db(f), Q_fts_bytes);
    int64_t v = q_row(q) ? q_col_int(q, 0) : 0;
    q_end(q);
    return v;
}

static int64_t tables_bytes(ramet *r)
{
    return number_read(r, bytes_read);
}

/* The event that the index has seen last must stay: by that event it recognizes the store it
 * belongs to. An index that has seen none reads the entries themselves. */
static int64_t needs_read(fts *f)
{
    fts_state s;
    fts_state_get(f, &s);
    return s.mark || s.scan ? s.mark : INT64_MAX;
}

static int64_t tables_needs(ramet *r)
{
    return number_read(r, needs_read);
}

const search_engine search_in_tables = {
    .find = tables_find,
    .update = tables_update,
    .forget = tables_forget,
    .mark = tables_mark,
    .bytes = tables_bytes,
    .needs = tables_needs,
    .scrub = tables_scrub,
};
