/* SPDX-License-Identifier: Apache-2.0
 *
 * Group commit on PostgreSQL: what becomes of the operations of a group when its connection dies, a
 * guard fails or one of them cannot stay; and of a transaction whose server is replaced under it.
 *
 * The tests run operations of their own in groups of their own: the queue is filled before the
 * leader gets its connection, so that who is in a group, and in which order, is certain.
 */
#include "../lib/lockstep.h"
#include "../lib/scratch_db.h"
#include "help.h"
#include "store/postgres/group_commit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { KIND = 77 }; /* of the events that operations write */

static struct {
    db_site *site;
    pg *d; /* the only connection of groups */
    store base;
    group_commit *groups;
    atomic_int taken;   /* connections so far */
    atomic_size_t want; /* operations that must be queued before the first one is given */
} S;

typedef struct op {
    store_op run;
    int number; /* of the row that it writes */
    int runs;
    bool answered; /* else it has to be run in a serializable transaction */
    ramet_status status;
    char message[512];
    pthread_t thread;
} op;
#define OP(f, n)                                                                                   \
    {                                                                                              \
        .run = (f), .number = (n)                                                                  \
    }

static ramet_status stage_take(store *base, pg **out, char *message)
{
    (void)base;
    (void)message;
    if (S.taken++ == 0)
        while (group_commit_queued(S.groups) < S.want)
            usleep(500);
    *out = S.d;
    return RAMET_OK;
}

static void stage_give(store *base, pg *d)
{
    (void)base;
    (void)d;
}

static void stage_wrote_events(store *base)
{
    (void)base;
}

static void stage_open(void)
{
    static const group_connections connections = {stage_take, stage_give, stage_wrote_events};
    char message[512];
    scratch_open();
    make("s"); /* the tree 1 */
    cr_assert_eq(site_open(T.path, &S.site, message), RAMET_OK, "%s", message);
    cr_assert_eq(pg_connect(S.site, &S.d, message), RAMET_OK, "%s", message);
    S.groups = group_commit_new(&connections, &S.base, 1);
}

static void stage_close(void)
{
    group_commit_free(S.groups);
    pg_close(S.d);
    site_close(S.site);
    scratch_close();
}

TestSuite(group_commit, .init = stage_open, .fini = stage_close);

/* ---- operations */

static void row_write(db *d, int number)
{
    db_stmt *q = db_query(d, Q_event_add);
    for (int i = 1; i <= 7; i++)
        q_int(q, i, 0);
    q_int(q, 4, KIND);
    q_int(q, 5, number);
    q_run(q);
}

static int64_t rows(int number)
{
    char sql[200];
    snprintf(sql, sizeof sql,
             "SELECT (SELECT count(*) FROM outbox WHERE kind=%d AND k=%d)+"
             "(SELECT count(*) FROM event WHERE kind=%d AND k=%d)",
             KIND, number, KIND, number);
    return scratch_db_run(T.path, sql);
}

static bool read_something(db *d)
{
    db_stmt *q = db_query(d, Q_tree_id); /* which may run in any transaction (P9) */
    q_int(q, 1, 1);
    bool found = q_row(q);
    q_end(q);
    return found;
}

/* No byte passes any more, in one way or in both. */
static void connection_cut(db *d, int how)
{
    cr_assert_eq(shutdown(PQsocket(((pg *)d)->conn), how), 0);
}

static op *run_begin(db *d, void *arg)
{
    op *o = arg;
    o->runs++;
    row_write(d, o->number);
    return o;
}

static ramet_status op_write(db *d, void *arg)
{
    run_begin(d, arg);
    return db_status(d);
}

/* Its guard fails, the first time. */
static ramet_status op_conflict(db *d, void *arg)
{
    run_begin(d, arg);
    if (!db_fresh(d)) {
        db_stmt *q = db_query(d, Q_guard_tree);
        q_int(q, 1, INT64_C(1) << 40);
        q_int(q, 2, 1);
        q_guard(q);
    }
    return db_status(d);
}

static ramet_status op_lose_second(db *d, void *arg)
{
    run_begin(d, arg);
    if (db_fresh(d)) {
        connection_cut(d, SHUT_RDWR);
        read_something(d);
    }
    return db_status(d);
}

/* The server refuses a read of it, the second time. */
static ramet_status op_refused_second(db *d, void *arg)
{
    run_begin(d, arg);
    if (db_fresh(d))
        db_one(d, "SELECT 1/0");
    return db_status(d);
}

static ramet_status op_serial(db *d, void *arg)
{
    run_begin(d, arg);
    db_conflict(d);
    return db_status(d);
}

/* It asks for a statement that has no mark (P9), and does not even notice. */
static ramet_status op_unmarked(db *d, void *arg)
{
    run_begin(d, arg);
    db_stmt *q = db_query(d, Q_meta_set);
    q_text(q, 1, "unmarked");
    q_text(q, 2, "");
    q_run(q);
    db_clear(d);
    row_write(d, ((op *)arg)->number);
    return RAMET_OK;
}

/* The server gets the commit, and its answer does not come back. */
static ramet_status op_deaf(db *d, void *arg)
{
    run_begin(d, arg);
    connection_cut(d, SHUT_RD);
    return db_status(d);
}

static ramet_status op_read(db *d, void *arg)
{
    read_something(d);
    run_begin(d, arg);
    return db_status(d);
}

/* ---- a group */

static void *op_thread(void *arg)
{
    op *o = arg;
    o->answered = group_commit_write(S.groups, o->run, o, &o->status, o->message);
    return NULL;
}

/* All of them in one group, in this order; the first one leads. */
static void group_of(op *ops, size_t n)
{
    S.taken = 0;
    S.want = n - 1;
    for (size_t i = 0; i < n; i++) {
        ops[i].runs = 0;
        cr_assert_eq(pthread_create(&ops[i].thread, NULL, op_thread, &ops[i]), 0);
        while (i == 0 ? !S.taken : i < n - 1 && group_commit_queued(S.groups) < i)
            usleep(500);
    }
    for (size_t i = 0; i < n; i++)
        pthread_join(ops[i].thread, NULL);
}

static void expect_committed(const op *o)
{
    cr_expect(o->answered, "%d has to be run again", o->number);
    cr_expect_eq(o->status, RAMET_OK, "%d: %s", o->number, o->message);
    cr_expect_eq(rows(o->number), 1, "row %d", o->number);
}

static void expect_not_committed(const op *o)
{
    cr_expect_not(o->answered, "%d was answered %s", o->number, ramet_status_code(o->status));
    cr_expect_eq(rows(o->number), 0, "row %d", o->number);
}

Test(group_commit, operations_that_wait_are_committed_together)
{
    op ops[] = {OP(op_write, 1), OP(op_write, 2), OP(op_write, 3)};
    group_of(ops, 3);
    for (int i = 0; i < 3; i++) {
        expect_committed(&ops[i]);
        cr_expect_eq(ops[i].runs, 1);
    }
    cr_expect_eq(S.base.commits, 1);
    cr_expect_eq(S.base.writes, 3);
    op more[] = {OP(op_write, 4), OP(op_write, 5)};
    int64_t trips = S.d->trips;
    group_of(more, 2);
    expect_committed(&more[0]);
    expect_committed(&more[1]);
    cr_expect_eq(S.d->trips - trips, 1, "round trips of a group whose types are known");
}

Test(group_commit, a_failed_guard_runs_the_group_once_more)
{
    op ops[] = {OP(op_write, 1), OP(op_conflict, 2)};
    group_of(ops, 2);
    for (int i = 0; i < 2; i++) {
        expect_committed(&ops[i]);
        cr_expect_eq(ops[i].runs, 2);
    }
}

Test(group_commit, one_that_has_to_read_does_so_by_itself)
{
    op ops[] = {OP(op_write, 1), OP(op_read, 2)};
    group_of(ops, 2);
    expect_committed(&ops[0]);
    expect_committed(&ops[1]);
    cr_expect_eq(S.base.commits, 2);
}

Test(group_commit, one_that_no_guard_covers_leaves_its_group)
{
    op ops[] = {OP(op_write, 1), OP(op_unmarked, 2), OP(op_write, 3)};
    group_of(ops, 3);
    expect_committed(&ops[0]);
    expect_not_committed(&ops[1]);
    expect_committed(&ops[2]);
    cr_expect_eq(ops[1].runs, 1);
    cr_expect_eq(S.base.commits, 1);
}

/* G2: also those that had run before the connection was lost, and those that had not run yet. */
Test(group_commit, a_connection_lost_in_the_second_pass_acknowledges_nothing)
{
    op ops[] = {OP(op_write, 1), OP(op_conflict, 2), OP(op_lose_second, 3), OP(op_write, 4)};
    group_of(ops, 4);
    for (int i = 0; i < 4; i++)
        expect_not_committed(&ops[i]);
}

/* G1: what the others have written stays in the batch. */
Test(group_commit, a_read_that_is_refused_takes_nothing_from_the_others)
{
    op ops[] = {OP(op_write, 1), OP(op_conflict, 2), OP(op_refused_second, 3), OP(op_write, 4)};
    group_of(ops, 4);
    expect_committed(&ops[0]);
    expect_committed(&ops[1]);
    expect_not_committed(&ops[2]);
    expect_committed(&ops[3]);
}

/* G3, G4: the failure of the first must not be taken for that of the commit. */
Test(group_commit, a_group_that_may_be_committed_is_not_run_again)
{
    char gone[120];
    op known[] = {OP(op_write, 1), OP(op_write, 2)};
    op ops[] = {OP(op_serial, 3), OP(op_deaf, 4), OP(op_write, 5)};
    group_of(known, 2); /* so that nothing but the commit is exchanged later */
    snprintf(gone, sizeof gone, "SELECT count(*) FROM pg_stat_activity WHERE pid=%d",
             PQbackendPID(S.d->conn));
    group_of(ops, 3);
    expect_not_committed(&ops[0]);
    while (scratch_db_run(T.path, gone)) /* the server may still be at it */
        usleep(1000);
    for (int i = 1; i < 3; i++) {
        cr_expect(ops[i].answered);
        cr_expect_eq(ops[i].status, RAMET_IO);
        cr_expect(strstr(ops[i].message, "not known"), "%s", ops[i].message);
        cr_expect_eq(ops[i].runs, 1);
        cr_expect_eq(rows(ops[i].number), 1, "row %d", ops[i].number);
    }
}

/* ---- a connection that is cut between two answers */

static struct {
    int64_t tree, stamp, branch;
} empty; /* a session without entries */

static int64_t number_of(const char *what, const char *session)
{
    char sql[200];
    snprintf(sql, sizeof sql,
             "SELECT %s FROM session s JOIN tree t ON t.tree=s.tree WHERE s.id='%s'", what,
             session);
    return scratch_db_run(T.path, sql);
}

static void empty_make(int number)
{
    char id[24];
    snprintf(id, sizeof id, "empty%d", number);
    make(id);
    empty.tree = number_of("t.tree", id);
    empty.stamp = number_of("t.stamp", id);
    empty.branch = number_of("s.head", id);
}

/* The statements of an append of one entry. By itself it is one statement (`whole_append`), which
 * is sent without a word of the server before. */
static ramet_status op_append(db *d, void *arg)
{
    static const uint8_t before[32], after[32] = {1};
    op *o = arg;
    db_stmt *q = db_query(d, Q_guard_tree);
    q_int(q, 1, empty.tree);
    q_int(q, 2, empty.stamp);
    q_guard(q);
    q = db_query(d, Q_branch_grow);
    const int64_t grown[] = {empty.tree, empty.branch, 1, 0, T0, 0, 1, 0};
    for (int i = 1; i <= 8; i++)
        q_int(q, i, grown[i - 1]);
    q_blob(q, 4, after, sizeof after);
    q_blob(q, 6, before, sizeof before);
    q_guard(q);
    q = db_query(d, Q_entry_add);
    for (int i = 1; i <= 16; i++)
        q_text(q, i, NULL);
    q_int(q, 1, o->number);
    q_int(q, 2, empty.tree);
    q_text(q, 3, "id");
    q_blob(q, 4, after, sizeof after);
    q_int(q, 5, RAMET_USER);
    q_int(q, 11, T0);
    q_int(q, 15, 0);
    q_int(q, 16, 0);
    q_run(q);
    run_begin(d, o);
    return db_status(d);
}

static ramet_status guard_run(db *d, op *o, sql_id guard, int64_t stamp)
{
    static const uint8_t tip[32];
    run_begin(d, o);
    db_stmt *q = db_query(d, guard);
    q_int(q, 1, empty.tree);
    q_int(q, 2, stamp);
    if (guard == Q_guard_fork) {
        q_int(q, 3, empty.branch);
        q_blob(q, 4, tip, sizeof tip);
    }
    q_guard(q);
    return db_status(d);
}

static ramet_status op_guard_tree(db *d, void *arg)
{
    return guard_run(d, arg, Q_guard_tree, empty.stamp);
}

static ramet_status op_guard_fork(db *d, void *arg)
{
    return guard_run(d, arg, Q_guard_fork, empty.stamp);
}

/* The same, with rights that have changed since. */
static ramet_status op_stale_tree(db *d, void *arg)
{
    return guard_run(d, arg, Q_guard_tree, empty.stamp + 1);
}

static ramet_status op_stale_fork(db *d, void *arg)
{
    return guard_run(d, arg, Q_guard_fork, empty.stamp + 1);
}

Test(group_commit, a_changed_stamp_fails_the_whole_group)
{
    op fine[] = {OP(op_guard_tree, 1), OP(op_guard_fork, 2), OP(op_write, 3)};
    empty_make(1);
    group_of(fine, 3);
    for (int i = 0; i < 3; i++) {
        expect_committed(&fine[i]);
        cr_expect_eq(fine[i].runs, 1);
    }
    static const store_op stale[] = {op_stale_tree, op_stale_fork};
    for (int k = 0; k < 2; k++) {
        op ops[] = {OP(op_write, 10 * k + 11), OP(stale[k], 10 * k + 12)};
        group_of(ops, 2);
        for (int i = 0; i < 2; i++) {
            expect_not_committed(&ops[i]);
            cr_expect_eq(ops[i].runs, 2);
        }
    }
}

/* Runs the first n on a new connection, which is cut after so many exchanges (below 0: never);
 * returns how many were answered. */
static int group_of_cut(lockstep *l, db_site *site, op *ops, size_t n, int exchanges)
{
    char message[512];
    pg_close(S.d);
    empty_make(ops[0].number);
    lockstep_cut_after(l, -1);
    cr_assert_eq(pg_connect(site, &S.d, message), RAMET_OK, "%s", message);
    lockstep_cut_after(l, exchanges);
    group_of(ops, n);
    return lockstep_answered(l);
}

/* G1, P8: the answer to any exchange before the commit's says nothing about it. The first commit of
 * a connection has such ones: its lock time-out is set, and types may be asked for. */
Test(group_commit, a_commit_is_acknowledged_by_its_own_answer_alone)
{
    char url[700], message[512];
    db_site *site;
    lockstep *l = lockstep_new(T.path, T.dir);
    lockstep_url(l, T.path, url, sizeof url);
    cr_assert_eq(site_open(url, &site, message), RAMET_OK, "%s", message);
    int number = 0;
    for (size_t n = 1; n <= 2; n++) {
        op all[] = {OP(op_append, ++number), OP(op_write, ++number)};
        int whole = group_of_cut(l, site, all, n, -1);
        cr_expect_geq(whole, 2, "nothing is exchanged before the commit");
        for (size_t i = 0; i < n; i++)
            expect_committed(&all[i]);
        for (int k = 1; k <= whole; k++) {
            op ops[] = {OP(op_append, ++number), OP(op_write, ++number)};
            cr_expect_eq(group_of_cut(l, site, ops, n, k), k);
            for (size_t i = 0; i < n; i++) {
                bool acknowledged = ops[i].answered && ops[i].status == RAMET_OK;
                cr_expect_eq(acknowledged, k == whole, "%zu of %zu, after %d of %d", i, n, k,
                             whole);
                cr_expect_eq(rows(ops[i].number), k == whole, "%zu of %zu, after %d", i, n, k);
            }
        }
    }
    pg_close(S.d);
    S.d = NULL;
    site_close(site);
    lockstep_free(l);
}

/* ---- the connection: P6 to P8 */

/* As if another connection had been led to a server of another timeline. */
static void server_replaced(void)
{
    site_past(S.site, S.site->timeline + 1);
}

static void expect_conflict(void)
{
    cr_expect_eq(db_status(&S.d->base), RAMET_BUSY, "%s", db_message(&S.d->base));
    cr_expect_eq(S.d->failure, FAILURE_CONFLICT);
}

Test(group_commit, a_connection_made_again_in_another_past_is_a_conflict)
{
    static const db_work all[] = {DB_READ, DB_WRITE, DB_GUARDED, DB_GUARDED_FRESH};
    db *d = &S.d->base;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        cr_assert_eq(d->engine->begin(d, all[i]), RAMET_OK);
        int64_t past = db_past(d);
        server_replaced();
        connection_cut(d, SHUT_RDWR);
        cr_expect_not(read_something(d), "an answer of another past was used");
        expect_conflict();
        db_rollback(d);
        cr_assert_eq(d->engine->begin(d, all[i]), RAMET_OK);
        cr_expect_gt(db_past(d), past);
        cr_expect(read_something(d));
        db_rollback(d);
    }
}

Test(group_commit, a_connection_made_again_in_the_same_past_goes_on)
{
    db *d = &S.d->base;
    cr_assert_eq(db_begin_write(d), RAMET_OK);
    connection_cut(d, SHUT_RDWR);
    cr_expect(read_something(d), "%s", db_message(d));
    row_write(d, 1);
    cr_expect_eq(db_commit(d), RAMET_OK, "%s", db_message(d));
    cr_expect_eq(rows(1), 1);
}

/* The failure of a statement and the end of the connection are read in one exchange. */
Test(group_commit, a_transaction_whose_first_exchange_failed_and_was_lost_begins_anew)
{
    db *d = &S.d->base;
    char sql[160];
    int pid = PQbackendPID(S.d->conn);
    cr_assert_eq(db_begin_write(d), RAMET_OK);
    link_begin(S.d, "BEGIN", FOR_NOTHING);
    link_text(S.d, "SELECT 1/0", FOR_NOTHING);
    link_sync(S.d);
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM pg_stat_activity WHERE pid=%d "
             "AND state='idle in transaction (aborted)'",
             pid);
    while (!scratch_db_run(T.path, sql))
        usleep(1000);
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM pg_stat_activity WHERE pid="
             "(SELECT CASE WHEN pg_terminate_backend(%d) THEN %d END)",
             pid, pid);
    while (scratch_db_run(T.path, sql))
        usleep(1000);
    cr_expect(read_something(d), "%s", db_message(d));
    row_write(d, 1);
    cr_expect(read_something(d), "%s", db_message(d));
    cr_expect_eq(db_commit(d), RAMET_OK, "%s", db_message(d));
    cr_expect_eq(rows(1), 1);
}

Test(group_commit, nothing_is_committed_to_a_server_of_an_older_past)
{
    static const db_work all[] = {DB_WRITE, DB_GUARDED};
    db *d = &S.d->base;
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(d->engine->begin(d, all[i]), RAMET_OK);
        cr_expect(read_something(d));
        row_write(d, i);
        server_replaced();
        cr_expect_neq(db_commit(d), RAMET_OK);
        expect_conflict();
        cr_expect_eq(rows(i), 0);
    }
}

Test(group_commit, a_lost_connection_cannot_be_cleared_within_a_transaction)
{
    db *d = &S.d->base;
    cr_assert_eq(db_begin_write(d), RAMET_OK);
    cr_expect(read_something(d));
    connection_cut(d, SHUT_RDWR);
    cr_expect_not(read_something(d));
    db_clear(d);
    cr_expect_eq(db_status(d), RAMET_IO);
    cr_expect_eq(S.d->failure, FAILURE_LOST);
    cr_expect_eq(db_commit(d), RAMET_IO);
}

Test(group_commit, writes_that_the_server_has_undone_cannot_be_committed)
{
    db *d = &S.d->base;
    cr_assert_eq(db_begin_write(d), RAMET_OK);
    row_write(d, 1);
    db_one(d, "SELECT 1/0");
    db_clear(d);
    row_write(d, 2);
    cr_expect_neq(db_commit(d), RAMET_OK);
    cr_expect_eq(rows(1) + rows(2), 0);
}

Test(group_commit, a_commit_that_is_not_acknowledged_is_not_known)
{
    db *d = &S.d->base;
    cr_assert_eq(db_begin_write(d), RAMET_OK);
    row_write(d, 1);
    cr_expect(read_something(d));
    connection_cut(d, SHUT_RD);
    cr_expect_eq(db_commit(d), RAMET_IO);
    cr_expect_eq(S.d->failure, FAILURE_UNKNOWN);
}
