/* SPDX-License-Identifier: Apache-2.0
 *
 * Comparison of two to sixteen histories: what they share, and what each has of its own.
 *
 * Two paths share exactly their first k entries when their hashes at k are equal (I2), so bisection
 * finds the shared length with a few key lookups, whatever the lengths.
 */
#include "core/query/compare.h"

#include "core/call.h"
#include "core/check.h"
#include "core/model/branch.h"
#include "core/model/key.h"
#include "core/model/path.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/session/session_show.h"
#include "core/model/usage.h"
#include "core/txn.h"

#define SIDES_MAX 16

typedef struct side {
    session_full session;
    branch_row branch;
} side;

static ramet_status side_open(txn *tx, const ramet_side_in *in, side *out)
{
    TRY(session_open(tx, in->session, NEED_READ, &out->session));
    return branch_open(tx, &out->session.brief, RAMET_LOG_MAIN, in->branch, &out->branch);
}

/* The creation time of the entry at a position of a path. */
static int64_t path_created(txn *tx, const branch_row *head, int64_t pos)
{
    branch_meta o;
    if (!path_owner(tx, &head->meta, pos, &o))
        return 0;
    db_stmt *q = db_query(tx->db, Q_entry_name);
    q_int(q, 1, head->meta.tree);
    q_int(q, 2, KEY(o.id, pos));
    int64_t at = q_row(q) ? q_col_int(q, 1) : 0;
    q_end(q);
    return at;
}

typedef struct own_part {
    arena *arena;
    ramet_entry *entries;
    size_t n, max;
    size_t bytes; /* kept so far */
} own_part;

static bool own_take(void *arg, ramet_entry *e)
{
    own_part *o = arg;
    if (!o->entries)
        o->entries = arena_array(o->arena, o->max, sizeof *o->entries);
    o->entries[o->n++] = *e;
    o->bytes += strlen(e->text) + strlen(e->parts) + (e->body ? strlen(e->body) : 0);
    return o->n < o->max && o->bytes < PAGE_BYTES;
}

static void side_fill(txn *tx, const side *from, int64_t shared, int limit, ramet_compare_side *out)
{
    int64_t len = from->branch.len, hi = len - shared > limit ? shared + limit : len;
    *out = (ramet_compare_side){.session = from->session.id,
                                .branch = from->branch.meta.id,
                                .title = session_shown_title(tx, &from->session),
                                .agent = session_agent(tx, &from->session),
                                .own = len - shared};
    head_fill(tx, &from->branch, &out->head);
    usage_acc *acc = usage_acc_new(tx->arena);
    usage_acc_path(tx, acc, &from->branch, shared, len);
    out->usage = usage_acc_sum(acc);
    if (len == shared)
        return;
    out->first = path_created(tx, &from->branch, shared);
    out->last = path_created(tx, &from->branch, len - 1);
    own_part own = {.arena = tx->arena, .max = (size_t)(hi - shared)};
    path_read(tx, &from->branch, shared, hi, tx->arena, own_take, &own);
    out->entries = own.entries;
    out->n = own.n;
}

/* ---------------------------------------------------------------------- turns */

/* Entries with one turn id are one turn; without ids a user message begins one. */
static bool turn_begins(const ramet_entry *before, const ramet_entry *e)
{
    if (before->turn_id && e->turn_id)
        return strcmp(before->turn_id, e->turn_id) != 0;
    return e->role == RAMET_USER;
}

static size_t turns_count(const ramet_compare_side *s)
{
    size_t n = s->n > 0;
    for (size_t i = 1; i < s->n; i++)
        n += turn_begins(&s->entries[i - 1], &s->entries[i]);
    return n;
}

static void turns_align(arena *a, ramet_compare_out *out)
{
    for (size_t i = 0; i < out->n; i++) {
        size_t n = turns_count(&out->sides[i]);
        if (n > out->n_turns)
            out->n_turns = n;
    }
    out->turns = arena_array(a, out->n_turns, sizeof *out->turns);
    for (size_t i = 0; i < out->n; i++) {
        const ramet_compare_side *s = &out->sides[i];
        size_t row = 0, from = 0;
        for (size_t e = 1; e <= s->n; e++) {
            if (e < s->n && !turn_begins(&s->entries[e - 1], &s->entries[e]))
                continue;
            out->turns[row].side[i].from = (int64_t)from;
            out->turns[row].side[i].to = (int64_t)e;
            row++;
            from = e;
        }
        for (; row < out->n_turns; row++)
            out->turns[row].side[i].from = out->turns[row].side[i].to = (int64_t)s->n;
    }
}

static ramet_status compare(txn *tx, const ramet_side_in *in, size_t n, int limit,
                            ramet_compare_out *out)
{
    side *sides = arena_array(tx->arena, n, sizeof *sides);
    for (size_t i = 0; i < n; i++)
        TRY(side_open(tx, &in[i], &sides[i]));
    int64_t shared = sides[0].branch.len;
    for (size_t i = 1; i < n; i++)
        shared = path_shared(tx, &sides[0].branch, &sides[i].branch, shared);
    TRY(txn_status(tx));
    out->shared = shared;
    out->n = n;
    out->sides = arena_array(tx->arena, n, sizeof *out->sides);
    for (size_t i = 0; i < n; i++)
        side_fill(tx, &sides[i], shared, limit, &out->sides[i]);
    turns_align(tx->arena, out);
    return txn_status(tx);
}

ramet_status sides_check(ramet_call *c, const ramet_side_in *sides, size_t n)
{
    if (n < 2 || n > SIDES_MAX || !sides)
        return call_fail(c, RAMET_INVALID, "sides", "%zu sides; it takes 2 to %d", n, SIDES_MAX);
    return RAMET_OK;
}

ramet_status ramet_compare(ramet_call *c, const ramet_side_in *sides, size_t n, int limit,
                           ramet_compare_out *out)
{
    txn tx;
    *out = (ramet_compare_out){0};
    TRY(sides_check(c, sides, n));
    TRY(check_limit(c, limit, 1000, 100, &limit));
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_status st = txn_done(&tx, compare(&tx, sides, n, limit, out));
    if (st != RAMET_OK)
        *out = (ramet_compare_out){0};
    return st;
}
