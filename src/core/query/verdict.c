/* SPDX-License-Identifier: Apache-2.0
 *
 * Verdicts: which side of a comparison was better, why, and by whose judgement.
 *
 * Sides are stored by number, [{"session":3,"branch":17},…], and resolved to ids when they are read
 * (I4). When a side is a head, its current branch is stored, so a later move does not change what
 * was judged.
 */
#include "core/call.h"
#include "core/check.h"
#include "core/handle.h"
#include "core/model/branch.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/query/compare.h"
#include "core/txn.h"

#define BATCH 256 /* rows read at a time */

typedef struct verdict_row {
    int64_t no, tree;
    const char *sides;
    int winner;
    const char *reason, *who;
    int64_t at;
} verdict_row;

/* --------------------------------------------------------------------- adding */

typedef struct verdict_job {
    const ramet_side_in *sides;
    size_t n;
    int winner;
    const char *reason;
    ramet_verdict **out;
} verdict_job;

static ramet_status sides_open(txn *tx, const verdict_job *j, ramet_side_in *shown, int64_t *tree,
                               buf *json)
{
    json_writer w;
    jw_init(&w, json, 0);
    jw_array(&w);
    for (size_t i = 0; i < j->n; i++) {
        session_full s;
        branch_row b;
        TRY(session_open(tx, j->sides[i].session, NEED_CHANGE, &s));
        TRY(branch_open(tx, &s.brief, RAMET_LOG_MAIN, j->sides[i].branch, &b));
        if (i && s.tree != *tree)
            return call_fail(tx->call, RAMET_INVALID, "sides",
                             "sessions %s and %s are of different trees", j->sides[0].session,
                             s.id);
        *tree = s.tree;
        shown[i] = (ramet_side_in){.session = s.id, .branch = b.meta.id};
        jw_object(&w);
        jw_kint(&w, "session", s.no);
        jw_kint(&w, "branch", b.meta.id);
        jw_end_object(&w);
    }
    jw_end_array(&w);
    return RAMET_OK;
}

static void verdict_insert(txn *tx, int64_t tree, const char *sides, ramet_verdict *v)
{
    v->number = db_number(tx->db, DB_VERDICT, NULL);
    db_stmt *q = db_query(tx->db, Q_verdict_add);
    q_int(q, 1, v->number);
    q_int(q, 2, tree);
    q_text(q, 3, sides);
    q_int(q, 4, v->winner);
    q_text(q, 5, v->reason);
    q_text(q, 6, v->who);
    q_int(q, 7, v->at);
    q_run(q);
}

static ramet_status add_run(txn *tx, void *arg)
{
    verdict_job *j = arg;
    int64_t tree = 0;
    buf json;
    buf_init(&json, 4096);
    ramet_side_in *shown = arena_array(tx->arena, j->n, sizeof *shown);
    ramet_status st = sides_open(tx, j, shown, &tree, &json);
    if (st == RAMET_OK) {
        ANSWER(tx, j->out);
        ramet_verdict *v = *j->out = arena_alloc(tx->arena, sizeof *v);
        *v = (ramet_verdict){.sides = shown,
                             .n = j->n,
                             .winner = j->winner,
                             .reason = arena_strdup(tx->arena, j->reason),
                             .who = arena_strdup(tx->arena, tx->call->user),
                             .at = tx->now};
        verdict_insert(tx, tree, json.data, v);
        st = txn_status(tx);
    }
    buf_release(&json);
    return st;
}

ramet_status ramet_verdict_add(ramet_call *c, const ramet_side_in *sides, size_t n, int winner,
                               const char *reason, ramet_verdict **out)
{
    *out = NULL;
    TRY(sides_check(c, sides, n));
    if (winner < -1 || winner >= (int)n)
        return call_fail(c, RAMET_INVALID, "winner", "winner is %d; it must be -1 (a tie) to %d",
                         winner, (int)n - 1);
    TRY(check_chars(c, "reason", reason, c->ramet->limits.reason_chars, RAMET_REASON_TOO_LONG));
    verdict_job j = {
        .sides = sides, .n = n, .winner = winner, .reason = reason ? reason : "", .out = out};
    ramet_status st = txn_write(c, add_run, &j);
    if (st != RAMET_OK)
        *out = NULL;
    return st;
}

/* -------------------------------------------------------------------- listing */

/* Loads the next rows below `before`; of one tree, or of all (tree 0). */
static size_t rows_load(txn *tx, arena *a, int64_t tree, int64_t before, verdict_row *rows)
{
    db_stmt *q = db_query(tx->db, tree ? Q_verdict_of_tree : Q_verdict_page);
    if (tree) {
        q_int(q, 1, tree);
        q_int(q, 2, before);
        q_int(q, 3, BATCH);
    } else {
        q_int(q, 1, before);
        q_int(q, 2, BATCH);
    }
    size_t n = 0;
    while (q_row(q) && n < BATCH)
        rows[n++] = (verdict_row){.no = q_col_int(q, 0),
                                  .tree = q_col_int(q, 1),
                                  .sides = q_keep_text(q, 2, a),
                                  .winner = (int)q_col_range(q, 3, -1, INT32_MAX, "verdict.winner"),
                                  .reason = q_need_text(q, 4, a, "verdict.reason"),
                                  .who = q_keep_text(q, 5, a),
                                  .at = q_col_int(q, 6)};
    q_end(q);
    return n;
}

/* Resolves the sides to ids. False: none of them is `wanted` (0 = any), or one is a session that is
 * gone or that the caller may not see. */
static bool sides_show(txn *tx, const verdict_row *r, int64_t wanted, ramet_side_in **out,
                       size_t *n)
{
    json_doc d;
    if (!r->sides || !json_parse(tx->arena, r->sides, strlen(r->sides), 0, &d, NULL) ||
        !json_is(&d.nodes[0], JSON_ARRAY) || !d.nodes[0].count ||
        r->winner >= (int64_t)d.nodes[0].count) {
        db_fail(tx->db, RAMET_DAMAGED, "verdict %lld is damaged", (long long)r->no);
        return false;
    }
    bool named = wanted == 0;
    ramet_side_in *list = arena_array(tx->arena, d.nodes[0].count, sizeof *list);
    size_t i = 0;
    for (const json_node *v = json_first(&d, d.nodes); v; v = json_next(&d, d.nodes, v)) {
        int64_t no = 0, branch = 0;
        session_full s;
        json_int(&d, json_get(&d, v, "session"), &no);
        json_int(&d, json_get(&d, v, "branch"), &branch);
        if (!session_by_no(tx, r->tree, no, &s) || session_gone(tx, &s.access) ||
            !session_visible(tx, &s.access))
            return false;
        named |= no == wanted;
        list[i++] = (ramet_side_in){.session = s.id, .branch = branch};
    }
    *out = list;
    *n = i;
    return named;
}

static ramet_verdict verdict_keep(arena *a, const verdict_row *r, const ramet_side_in *sides,
                                  size_t n)
{
    ramet_side_in *kept = arena_array(a, n, sizeof *kept);
    for (size_t i = 0; i < n; i++)
        kept[i] = (ramet_side_in){arena_strdup(a, sides[i].session), sides[i].branch};
    return (ramet_verdict){.number = r->no,
                           .sides = kept,
                           .n = n,
                           .winner = r->winner,
                           .reason = arena_strdup(a, r->reason ? r->reason : ""),
                           .who = arena_strdup(a, r->who),
                           .at = r->at};
}

/* Fills list (room for limit) and returns whether there is one more. Most rows of a large store may
 * be hidden from the caller, so rows that are only examined live in an arena of their own. */
static size_t verdicts_find(txn *tx, int64_t tree, int64_t session, int64_t before, size_t limit,
                            ramet_verdict *list, bool *more)
{
    verdict_row rows[BATCH];
    txn look = *tx;
    look.arena = arena_new();
    size_t n = 0, got = BATCH;
    while (!*more && got == BATCH) {
        arena_reset(look.arena);
        got = rows_load(&look, look.arena, tree, before, rows);
        for (size_t i = 0; i < got && !*more; i++) {
            ramet_side_in *sides;
            size_t n_sides;
            before = rows[i].no;
            if (!sides_show(&look, &rows[i], session, &sides, &n_sides))
                continue;
            *more = n == limit;
            if (!*more)
                list[n++] = verdict_keep(tx->arena, &rows[i], sides, n_sides);
        }
    }
    arena_free(look.arena);
    return n;
}

ramet_status ramet_verdicts(ramet_call *c, const char *session, int64_t before, int limit,
                            ramet_verdict **out, size_t *n, bool *more)
{
    txn tx;
    session_full s = {0};
    bool ignored = false, *rest = more ? more : &ignored;
    *out = NULL;
    *n = 0;
    *rest = false;
    TRY(check_limit(c, limit, 1000, 50, &limit));
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_status st = session ? session_open(&tx, session, NEED_TREE, &s) : RAMET_OK;
    if (st == RAMET_OK) {
        *out = arena_array(tx.arena, (size_t)limit, sizeof **out);
        *n = verdicts_find(&tx, s.tree, s.no, before > 0 ? before : INT64_MAX, (size_t)limit, *out,
                           rest);
    }
    return txn_done(&tx, st);
}
