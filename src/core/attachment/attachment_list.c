/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of attachments of all users, in use or not, for the embedding program.
 */
#include "ramet/memory.h"
#include "core/attachment/attachment.h"
#include "core/call.h"
#include "core/check.h"
#include "core/model/key.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/txn.h"

#include <stdlib.h>

enum { CHUNK = 500 }; /* rows read at a time */

typedef struct listing {
    txn *tx;
    const ramet_attachments_in *in;
    size_t limit;
    ramet_attachments *out;
} listing;

/* An attachment with what a list adds to it. */
typedef struct listed_row {
    const char *id;
    bool linked;
    int64_t sharing;
} listed_row;

static listed_row listed_row_read(db_stmt *q, arena *a)
{
    return (listed_row){q_keep_text(q, 0, a), q_col_int(q, 1) != 0, q_col_int(q, 2)};
}

static bool fits(const listing *l, const listed_row *b, const attachment_row *r)
{
    if (l->in->owner && strcmp(r->owner, l->in->owner) != 0)
        return false;
    switch (l->in->which) {
    case RAMET_ATTACHED_ANY:
        return true;
    case RAMET_ATTACHED_LINKED:
        return b->linked;
    case RAMET_ATTACHED_UNLINKED:
        return !b->linked;
    case RAMET_ATTACHED_EXPIRED:
        return !b->linked && r->expires && r->expires <= l->tx->now;
    }
    return false;
}

/* Adds an attachment; false: the page is full without it. */
static bool listing_add(listing *l, const listed_row *b)
{
    attachment_row r;
    if (!attachment_load(l->tx, b->id, &r) || !fits(l, b, &r))
        return true;
    l->out->more = l->out->n == l->limit;
    if (l->out->more)
        return false;
    l->out->items[l->out->n].attachment = *attachment_show(l->tx, &r);
    l->out->items[l->out->n].sharing = b->sharing;
    l->out->n++;
    return true;
}

/* Lists those of the whole store, from `after` on. */
static void all_list(listing *l)
{
    const char *after = l->in->after ? l->in->after : "";
    listed_row *rows = arena_array(l->tx->arena, CHUNK, sizeof *rows);
    for (size_t n = CHUNK; n == CHUNK;) {
        n = 0;
        db_stmt *q = db_query(l->tx->db, Q_attachment_page);
        q_text(q, 1, after);
        q_int(q, 2, CHUNK);
        while (q_row(q))
            rows[n++] = listed_row_read(q, l->tx->arena);
        q_end(q);
        for (size_t i = 0; i < n; i++)
            if (!listing_add(l, &rows[i]))
                return;
        after = n ? rows[n - 1].id : after;
    }
}

static void one_list(listing *l, const char *id)
{
    db_stmt *q = db_query(l->tx->db, Q_attachment_listed);
    q_text(q, 1, id);
    bool there = q_row(q);
    listed_row b = there ? listed_row_read(q, l->tx->arena) : (listed_row){0};
    q_end(q);
    if (there)
        listing_add(l, &b);
}

/* Lists those that an entry refers to. */
static ramet_status entry_list(listing *l)
{
    session_full s;
    VEC(const char *) ids = {0};
    TRY(session_open(l->tx, l->in->session, NEED_READ, &s));
    int64_t k = KEY(l->in->branch, l->in->position);
    db_stmt *q = db_query(l->tx->db, Q_attached_range);
    q_int(q, 1, s.tree);
    q_int(q, 2, k);
    q_int(q, 3, k);
    while (q_row(q))
        VEC_PUSH(l->tx->arena, &ids, q_keep_text(q, 0, l->tx->arena));
    q_end(q);
    if (ids.n)
        qsort(ids.items, ids.n, sizeof *ids.items, text_order);
    for (size_t i = 0; i < ids.n && !l->out->more; i++)
        if (!l->in->after || strcmp(ids.items[i], l->in->after) > 0)
            one_list(l, ids.items[i]);
    return RAMET_OK;
}

ramet_status ramet_attachment_list(ramet_call *c, const ramet_attachments_in *in,
                                   ramet_attachments *out)
{
    txn tx;
    int limit;
    *out = (ramet_attachments){0};
    TRY(program_only(c));
    TRY(check_limit(c, in->limit, 1000, 50, &limit));
    if ((unsigned)in->which > RAMET_ATTACHED_EXPIRED)
        return call_fail(c, RAMET_INVALID, "which", "there is no such kind of attachments");
    if (in->only)
        TRY(check_id(c, "only", in->only));
    if (!txn_read(&tx, c))
        return c->err.status;
    out->items = arena_array(c->arena, (size_t)limit, sizeof *out->items);
    listing l = {.tx = &tx, .in = in, .limit = (size_t)limit, .out = out};
    ramet_status st = RAMET_OK;
    if (in->only)
        one_list(&l, in->only);
    else if (in->session)
        st = entry_list(&l);
    else
        all_list(&l);
    st = txn_done(&tx, st);
    if (st != RAMET_OK)
        *out = (ramet_attachments){0};
    return st;
}
