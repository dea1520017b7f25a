/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of sessions ordered by their last activity.
 *
 * What a protocol derives from a session (tasks, for example) has times, but no rows that could be
 * sorted. Each session has a span instead, from the oldest to the newest time that anything in it
 * can have: a caller that walks the sessions in this order knows when nothing newer can follow.
 */
#include "ramet/tasks.h"
#include "core/call.h"
#include "core/check.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/txn.h"

typedef struct span {
    int64_t tree, no, last, first;
} span;
typedef VEC(span) span_list;

static void fetch(txn *tx, sql_id source, const ramet_active_in *in, int limit, span_list *out)
{
    db_stmt *q = db_query(tx->db, source);
    bool start = !in->last && !in->number;
    q_int(q, 1, start ? INT64_MAX : in->last);
    q_int(q, 2, start ? INT64_MAX : in->number);
    q_int(q, 3, in->until ? in->until : INT64_MAX);
    q_int(q, 4, limit);
    if (source != Q_active_all)
        q_text(q, 5, tx->call->user);
    while (q_row(q)) {
        span s = {q_col_int(q, 0), q_col_int(q, 1), q_col_int(q, 2), q_col_int(q, 3)};
        VEC_PUSH(tx->arena, out, s);
    }
}

static bool before(const span *a, const span *b)
{
    return a->last != b->last ? a->last > b->last : a->no > b->no;
}

/* Merges the sessions of the caller's trees with the caller's own private sessions elsewhere. */
static void fetch_both(txn *tx, const ramet_active_in *in, int limit, span_list *out)
{
    span_list a = {0}, b = {0};
    size_t i = 0, k = 0;
    fetch(tx, Q_active_of_member, in, limit, &a);
    fetch(tx, Q_active_owned, in, limit, &b);
    while ((i < a.n || k < b.n) && out->n < (size_t)limit) {
        bool both = i < a.n && k < b.n && a.items[i].no == b.items[k].no;
        bool take_a = k >= b.n || (i < a.n && !before(&b.items[k], &a.items[i]));
        span next = take_a ? a.items[i++] : b.items[k++];
        k += both;
        VEC_PUSH(tx->arena, out, next);
    }
}

typedef struct shower {
    const span *spans;
    ramet_active *shown; /* session NULL: not visible */
} shower;

static void show(txn *tx, void *arg, size_t i)
{
    const shower *w = arg;
    const span *at = &w->spans[i];
    session_full s;
    w->shown[i] = (ramet_active){.first = at->first, .last = at->last};
    if (!session_by_no(tx, at->tree, at->no, &s) || session_gone(tx, &s.access) ||
        !session_visible(tx, &s.access))
        return;
    w->shown[i].session = s.id;
    w->shown[i].agent = s.agent;
}

static ramet_status find_run(txn *tx, const ramet_active_in *in, int limit, ramet_active_list *out)
{
    span_list spans = {0};
    if (tx->call->user)
        fetch_both(tx, in, limit, &spans);
    else
        fetch(tx, Q_active_all, in, limit, &spans);
    TRY(txn_status(tx));
    shower w = {spans.items, arena_array(tx->arena, spans.n + 1, sizeof *out->items)};
    txn_prefetch(tx, show, &w, spans.n);
    for (size_t i = 0; i < spans.n; i++) {
        show(tx, &w, i);
        if (w.shown[i].session)
            w.shown[out->n++] = w.shown[i];
    }
    db_performed(tx->db);
    out->items = w.shown;
    out->more = spans.n == (size_t)limit;
    if (out->more) {
        out->last = spans.items[spans.n - 1].last;
        out->number = spans.items[spans.n - 1].no;
    }
    return txn_status(tx);
}

ramet_status ramet_active_find(ramet_call *c, const ramet_active_in *in, ramet_active_list *out)
{
    txn tx;
    int limit;
    *out = (ramet_active_list){0};
    TRY(check_limit(c, in->limit, 1000, 100, &limit));
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_status st = txn_done(&tx, find_run(&tx, in, limit, out));
    if (st != RAMET_OK)
        *out = (ramet_active_list){0};
    return st;
}
