/* SPDX-License-Identifier: Apache-2.0
 *
 * Which statements may run in a guarded transaction, and what becomes of a write that asks for
 * another one: it is run again in a serializable transaction, and its outcome is the same.
 *
 * The list below is a copy of that in store/sql/guarded_sql.h, by the kind of reason. A statement
 * that is marked there and not here fails: a mark is a claim about concurrent writers, so a new one
 * has to be made twice.
 */
#include "help.h"

#include "../lib/scratch_db.h"
#include "core/txn.h"

/* clang-format off */
/* It is a guard, or is sent with one. */
#define GUARDS(X) X(guard_tree) X(guard_fork) X(hold_tree) X(branch_grow) X(task_put)
/* A row that belongs to a guarded one, or is new. */
#define NEW_ROWS(X)                                                                                \
    X(entry_add) X(body_add) X(indexed_set) X(branch_add) X(session_add) X(event_add)
/* Every change of what it reads counts up a stamp, which is compared. */
#define STAMPED(X)                                                                                 \
    X(session_open) X(session_brief) X(session_by_no) X(session_origin) X(session_name)             \
    X(member_level) X(share_by_secret)
/* What it reads never changes, up to the end of a branch that is guarded. */
#define FIXED(X)                                                                                   \
    X(tree_id) X(branch_lineage) X(entry_by_id) X(entry_get) X(entry_name) X(entry_hash)           \
    X(entry_kind) X(entry_range) X(entry_segments) X(body_get) X(usage_get) X(delta_json)          \
    X(delta_last) X(move_merges)
/* Only a statement with a condition of its own relies on it. */
#define CHECKED_LATER(X) X(task_get)
/* clang-format on */

TestSuite(guarded, .init = scratch_open, .fini = scratch_close);

Test(guarded, every_mark_is_a_deliberate_one)
{
#define X(name) [Q_##name] = true,
    static const bool expected[Q_COUNT] = {GUARDS(X) NEW_ROWS(X) STAMPED(X) FIXED(X)
                                               CHECKED_LATER(X)};
#undef X
    for (int q = 0; q < Q_COUNT; q++) {
        const char *reason = sql_guarded((sql_id)q);
        cr_expect_eq(reason != NULL, expected[q], "%s is %s", sql_name((sql_id)q),
                     reason ? reason : "not marked");
        cr_expect(!reason || strlen(reason) > 5, "%s has no reason", sql_name((sql_id)q));
    }
}

/* ---- a write that is not covered */

typedef struct op {
    const char *key;
    int64_t tree; /* whose rights it relies on; 0: none */
    bool reads, writes, clears;
    int guarded_runs, other_runs;
} op;

static ramet_status op_run(db *d, void *arg)
{
    op *o = arg;
    db_guarded(d) ? o->guarded_runs++ : o->other_runs++;
    db_stmt *q = db_query(d, Q_event_add);
    for (int i = 1; i <= 7; i++)
        q_int(q, i, 7);
    q_run(q);
    const char *before = "none";
    if (o->reads) {
        q = db_query(d, Q_meta_get);
        q_text(q, 1, o->key);
        before = q_row(q) ? "some" : "none";
        q_end(q);
    }
    if (o->writes) {
        q = db_query(d, Q_meta_set);
        q_text(q, 1, o->key);
        q_text(q, 2, before);
        q_run(q);
    }
    if (o->tree) {
        q = db_query(d, Q_hold_tree);
        q_int(q, 1, o->tree);
        q_hold(q);
    }
    if (o->clears)
        db_clear(d);
    return db_status(d);
}

static int64_t events(void)
{
    return scratch_db_run(T.path, "SELECT (SELECT count(*) FROM outbox WHERE kind=7)+"
                                  "(SELECT count(*) FROM event WHERE kind=7)");
}

/* What the two ways to write make of an operation. */
static void expect_serializable(const char *what, op like)
{
    char message[512];
    op guarded = like, plain = like;
    int64_t before = events();
    guarded.key = "guarded";
    plain.key = "plain";
    cr_expect_eq(store_write_guarded(T.store->store, op_run, &guarded, message), RAMET_OK, "%s: %s",
                 what, message);
    int64_t between = events();
    cr_expect_eq(store_write(T.store->store, op_run, &plain, message), RAMET_OK, "%s: %s", what,
                 message);
    cr_expect_eq(guarded.guarded_runs, 1, "%s", what);
    cr_expect_geq(guarded.other_runs, 1, "%s", what);
    cr_expect_eq(between - before, 1, "%s", what);
    cr_expect_eq(events() - between, 1, "%s", what);
    cr_expect_eq(scratch_db_run(T.path, "SELECT count(*) FROM meta WHERE value='none' "
                                        "AND key IN ('guarded','plain')"),
                 like.writes ? 2 : 0, "%s", what);
    scratch_db_run(T.path, "DELETE FROM meta WHERE key IN ('guarded','plain')");
}

Test(guarded, a_statement_without_a_mark_makes_its_write_serializable)
{
    make("s");
    expect_serializable("a write", (op){.writes = true});
    expect_serializable("a read", (op){.reads = true});
    expect_serializable("both", (op){.reads = true, .writes = true});
    expect_serializable("a failure that is cleared", (op){.writes = true, .clears = true});
    expect_serializable("a right without a guard", (op){.tree = 1});
}

Test(guarded, a_write_with_marked_statements_alone_stays_guarded)
{
    char message[512];
    op o = {.key = "guarded"};
    cr_expect_eq(store_write_guarded(T.store->store, op_run, &o, message), RAMET_OK, "%s", message);
    cr_expect_eq(o.guarded_runs, 1);
    cr_expect_eq(o.other_runs, 0);
    cr_expect_eq(events(), 1);
}
