/* SPDX-License-Identifier: Apache-2.0
 *
 * Usage of tokens and money (I9): it belongs to an entry, and an entry to one branch, so nothing is
 * counted twice.
 *
 * Each row carries the running sums of its branch, so the sum over a stretch of a branch that
 * starts at its base is one lookup. Money is summed by currency: a branch that has used more than
 * one is marked `mixed`, and its money is then added up row by row.
 */
#include "core/model/usage.h"

#include "core/access/member.h"
#include "core/access/share.h"
#include "core/call.h"
#include "core/columns.h"
#include "core/model/branch.h"
#include "core/model/key.h"
#include "core/model/path.h"
#include "core/session/rights.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/txn.h"

#include <assert.h>
#include <stdlib.h>

typedef struct usage_cum {
    int64_t n, input, output, cached, cost;
    const char *currency; /* the currency of the branch so far, "" when no money was spent */
    bool mixed;
} usage_cum;

/* The running sums at the last usage row of [lo, hi) of a branch. */
static bool cum_last(txn *tx, int64_t tree, int64_t branch, int64_t lo, int64_t hi, usage_cum *c)
{
    db_stmt *q = db_query(tx->db, Q_usage_last);
    q_int(q, 1, tree);
    q_int(q, 2, KEY(branch, lo));
    q_int(q, 3, KEY(branch, hi) - 1);
    bool found = q_row(q);
    *c = (usage_cum){.currency = ""};
    if (found)
        *c = (usage_cum){.n = col_sum(q, 0),
                         .input = col_sum(q, 1),
                         .output = col_sum(q, 2),
                         .cached = col_sum(q, 3),
                         .cost = col_sum(q, 4),
                         .currency = q_keep_text(q, 5, tx->arena),
                         .mixed = q_col_int(q, 6) != 0};
    q_end(q);
    if (!c->currency)
        c->currency = "";
    return found;
}

void usage_write(txn *tx, int64_t tree, int64_t k, const ramet_usage *u)
{
    assert(tx->writing);
    usage_cum c;
    cum_last(tx, tree, KEY_BRANCH(k), 0, KEY_POS(k), &c);
    /* A row without cost carries the branch's currency forward. */
    bool other = u->cost && c.currency[0] && strcmp(c.currency, u->currency) != 0;
    db_stmt *q = db_query(tx->db, Q_usage_add);
    q_int(q, 1, k);
    q_int(q, 2, tree);
    q_int(q, 3, u->input);
    q_int(q, 4, u->output);
    q_int(q, 5, u->cached);
    q_int(q, 6, u->cost);
    q_text(q, 7, u->currency);
    q_int(q, 8, c.n + 1);
    q_int(q, 9, c.input + u->input);
    q_int(q, 10, c.output + u->output);
    q_int(q, 11, c.cached + u->cached);
    q_int(q, 12, c.cost + u->cost);
    q_int(q, 13, c.mixed || other);
    q_text(q, 14, u->cost ? u->currency : c.currency);
    q_run(q);
}

/* --------------------------------------------------------------------- sums */

struct usage_acc {
    arena *arena;
    ramet_usage_sum sum;
    VEC(ramet_money) money;
};

usage_acc *usage_acc_new(arena *a)
{
    usage_acc *acc = arena_alloc(a, sizeof *acc);
    acc->arena = a;
    return acc;
}

static void add_money(usage_acc *acc, const char *currency, int64_t cost)
{
    if (!currency || !currency[0])
        return;
    for (size_t i = 0; i < acc->money.n; i++) {
        if (strcmp(acc->money.items[i].currency, currency) == 0) {
            acc->money.items[i].cost += cost;
            return;
        }
    }
    ramet_money m = {cost, arena_strdup(acc->arena, currency)};
    VEC_PUSH(acc->arena, &acc->money, m);
}

static void add_by_currency(txn *tx, usage_acc *acc, int64_t tree, int64_t branch, int64_t lo,
                            int64_t hi)
{
    db_stmt *q = db_query(tx->db, Q_usage_by_currency);
    q_int(q, 1, tree);
    q_int(q, 2, KEY(branch, lo));
    q_int(q, 3, KEY(branch, hi) - 1);
    while (q_row(q))
        add_money(acc, q_col_text(q, 0), col_sum(q, 1));
}

void usage_acc_add(txn *tx, usage_acc *acc, int64_t tree, int64_t branch, int64_t lo, int64_t hi)
{
    usage_cum end, start;
    if (lo >= hi || !cum_last(tx, tree, branch, 0, hi, &end))
        return;
    cum_last(tx, tree, branch, 0, lo, &start);
    acc->sum.entries += end.n - start.n;
    acc->sum.input += end.input - start.input;
    acc->sum.output += end.output - start.output;
    acc->sum.cached += end.cached - start.cached;
    if (end.mixed)
        add_by_currency(tx, acc, tree, branch, lo, hi);
    else if (end.cost > start.cost)
        add_money(acc, end.currency, end.cost - start.cost);
}

void usage_acc_path(txn *tx, usage_acc *acc, const branch_row *head, int64_t lo, int64_t hi)
{
    segment *segs;
    size_t n;
    if (!path_segments(tx, &head->meta, lo, hi, &segs, &n))
        return;
    for (size_t i = 0; i < n; i++)
        usage_acc_add(tx, acc, head->meta.tree, segs[i].meta.id, segs[i].lo, segs[i].hi);
}

ramet_usage_sum usage_acc_sum(usage_acc *acc)
{
    acc->sum.money = acc->money.items;
    acc->sum.n_money = acc->money.n;
    return acc->sum;
}

/* Sums every branch except those of sessions that the caller may not see. */
static ramet_usage_sum tree_sum(txn *tx, const session_full *s)
{
    usage_acc *acc = usage_acc_new(tx->arena);
    VEC(branch_row) list = {0};
    db_stmt *q = db_query(tx->db, Q_branch_of_tree);
    q_int(q, 1, s->tree);
    while (q_row(q)) {
        branch_row b;
        branch_from(q, 0, &b);
        VEC_PUSH(tx->arena, &list, b);
    }
    VEC(int64_t) hidden = {0};
    ramet_level level = level_in(tx, s->tree);
    q = db_query(tx->db, Q_session_of_tree);
    q_int(q, 1, s->tree);
    while (q_row(q)) {
        session_full o;
        session_from(q, tx->arena, &o);
        if (!session_seen(tx, level, &o.access))
            VEC_PUSH(tx->arena, &hidden, o.no);
    }
    if (hidden.n)
        qsort(hidden.items, hidden.n, sizeof *hidden.items, number_order);
    for (size_t i = 0; i < list.n; i++) {
        const branch_row *b = &list.items[i];
        if (!hidden.n ||
            !bsearch(&b->meta.session, hidden.items, hidden.n, sizeof *hidden.items, number_order))
            usage_acc_add(tx, acc, s->tree, b->meta.id, b->meta.base, b->len);
    }
    return usage_acc_sum(acc);
}

static ramet_status usage_run(txn *tx, const char *session, ramet_usage_out *out)
{
    session_full s;
    branch_row head, adk, *mine;
    size_t n;
    TRY(session_open(tx, session, NEED_READ, &s));
    TRY(branch_open(tx, &s.brief, RAMET_LOG_MAIN, 0, &head));
    usage_acc *own = usage_acc_new(tx->arena), *path = usage_acc_new(tx->arena);
    branches_of(tx, &s.access, &mine, &n);
    bool linked = share_only(tx, &s.access);
    for (size_t i = 0; i < n; i++)
        if (!linked || mine[i].meta.log == RAMET_LOG_MAIN)
            usage_acc_add(tx, own, s.tree, mine[i].meta.id, mine[i].meta.base, mine[i].len);
    usage_acc_path(tx, path, &head, 0, head.len);
    if (!linked && s.adk && branch_load(tx, s.tree, s.adk, &adk))
        usage_acc_path(tx, path, &adk, 0, adk.len);
    out->own = usage_acc_sum(own);
    out->path = usage_acc_sum(path);
    if (!linked)
        out->tree = tree_sum(tx, &s);
    return txn_status(tx);
}

ramet_status ramet_usage_get(ramet_call *c, const char *session, ramet_usage_out *out)
{
    txn tx;
    *out = (ramet_usage_out){0};
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_status st = txn_done(&tx, usage_run(&tx, session, out));
    if (st != RAMET_OK)
        *out = (ramet_usage_out){0};
    return st;
}
