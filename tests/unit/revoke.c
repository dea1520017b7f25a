/* SPDX-License-Identifier: Apache-2.0
 *
 * A right that was taken away is not used any more: what commits after the revocation was answered
 * is refused, whichever node it comes through and whatever it waits for meanwhile (decision 0043).
 *
 * Node A (T.store) writes, node B (`other`) revokes.
 */
#include "help.h"

#include "../lib/scratch_db.h"
#include "core/txn.h"
#include "ramet/tasks.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

static ramet *other;
static ramet_call *there;

static void both_open(void)
{
    scratch_open();
    ramet_options o = scratch_options();
    o.busy_ms = 120000; /* the machine may be busy: what waits is not to give up */
    scratch_reopen(&o);
    cr_assert_eq(ramet_open(T.path, &o, &other, NULL), RAMET_OK);
    there = ramet_call_new(other, NULL, NULL);
}

static void both_close(void)
{
    ramet_call_free(there);
    ramet_close(other);
    scratch_close();
}

TestSuite(revoke, .init = both_open, .fini = both_close, .timeout = 300);

static void rest(void)
{
    struct timespec t = {.tv_nsec = 2000000};
    nanosleep(&t, NULL);
}

/* ----------------------------------------------------------------- revocations */

typedef struct stage {
    const char *session;
    ramet_call *bob; /* on node A; through a link when `share` is set */
    ramet_share *share;
} stage;

static ramet_status take_membership(const stage *s)
{
    return ramet_member_remove(there, s->session, "bob");
}

static ramet_status take_level(const stage *s)
{
    return ramet_member_set(there, s->session, "bob", RAMET_READER);
}

static ramet_status take_link(const stage *s)
{
    return ramet_share_revoke(there, s->session, s->share->id);
}

static ramet_status take_session(const stage *s)
{
    ramet_delete_out gone;
    return ramet_session_delete(there, s->session, false, false, &gone);
}

static ramet_status take_sight(const stage *s)
{
    ramet_visibility private = RAMET_PRIVATE;
    ramet_session *out;
    return ramet_session_update(there, s->session, &(ramet_session_patch){.visibility = &private},
                                &out);
}

static const struct revocation {
    const char *name;
    bool link;
    ramet_status (*run)(const stage *s);
    ramet_status refusal;
} revocations[] = {
    {"a member removed", false, take_membership, RAMET_HIDDEN},
    {"a member lowered", false, take_level, RAMET_FORBIDDEN},
    {"a link revoked", true, take_link, RAMET_HIDDEN},
    {"a session deleted", false, take_session, RAMET_SESSION_NOT_FOUND},
    {"a session made private", false, take_sight, RAMET_HIDDEN},
};
enum { REVOCATIONS = sizeof revocations / sizeof *revocations };

/* ---------------------------------------------------------------------- writes */

static ramet_status append(ramet_call *c, const char *session, const char *id, const char *key,
                           const ramet_task_in *task)
{
    ramet_entry_in e = {.id = id, .role = RAMET_USER, .text = id, .key = key};
    ramet_append_in in = {.entries = &e, .n = id ? 1 : 0, .task = task};
    ramet_append_out out;
    return ramet_append(c, session, &in, &out);
}

static ramet_status write_guarded(const stage *s)
{
    return append(s->bob, s->session, "late", NULL, NULL);
}

static ramet_status write_guarded_task(const stage *s)
{
    ramet_task_in task = {.id = s->session, .data = "{}"};
    return append(s->bob, s->session, "late", NULL, &task);
}

static ramet_status write_serializable(const stage *s)
{
    return append(s->bob, s->session, "late", "key", NULL);
}

static ramet_status write_move(const stage *s)
{
    ramet_session *out;
    return ramet_rewind(s->bob, s->session, &(ramet_move_in){.at = {.entry_id = "a"}}, &out, NULL);
}

static char forked[64]; /* by write_fork() */

/* Without an id of its own, which would make it a serializable write. */
static ramet_status write_fork(const stage *s)
{
    ramet_session *out;
    ramet_fork_in in = {.visibility = s->share ? RAMET_PRIVATE : RAMET_TREE_VISIBLE};
    ramet_status st = ramet_fork(s->bob, s->session, &in, &out, NULL);
    snprintf(forked, sizeof forked, "%s", st == RAMET_OK ? out->id : "");
    return st;
}

typedef ramet_status (*write_run)(const stage *s);

/* A session of ann's in which bob has appended, so that node A remembers it. */
static stage stage_make(const char *id, bool link)
{
    stage s = {.session = id, .bob = as("bob")};
    make(id);
    if (link) {
        ok(ramet_share_add(T.call, id, true, 0, &s.share));
        ok_for(s.bob, ramet_call_share(s.bob, s.share->token, NULL));
    } else {
        join(id, "bob", RAMET_WRITER);
    }
    ok_for(s.bob, append(s.bob, id, "a", NULL, NULL));
    ok_for(s.bob, append(s.bob, id, "b", NULL, NULL));
    ok_for(s.bob, append(s.bob, id, "c", NULL, NULL));
    return s;
}

/* ------------------------------------------------------ a write that comes later */

/* More than the one statement of a single entry can take. */
static ramet_status write_two(const stage *s)
{
    ramet_entry_in e[] = {{.id = "late", .role = RAMET_USER, .text = "late"},
                          {.id = "later", .role = RAMET_USER, .text = "later"}};
    ramet_append_out out;
    return ramet_append(s->bob, s->session, &(ramet_append_in){.entries = e, .n = 2}, &out);
}

/* Node A remembers the session and bob's level as they were, and nothing tells it of the change:
 * only the stamp, which is compared when it writes, does. */
Test(revoke, what_a_node_remembers_is_compared)
{
    static const struct {
        const char *name;
        write_run run;
    } writes[] = {{"an entry", write_guarded},
                  {"two entries", write_two},
                  {"an entry and a task", write_guarded_task},
                  {"an entry with a key", write_serializable},
                  {"a fork", write_fork}};
    for (size_t k = 0; k < sizeof writes / sizeof *writes; k++)
        for (int i = 0; i < REVOCATIONS; i++) {
            const struct revocation *v = &revocations[i];
            char id[16], sql[160];
            snprintf(id, sizeof id, "s%zu-%d", k, i);
            stage s = stage_make(id, v->link);
            if (writes[k].run == write_fork) /* a fork needs more of the session than an append */
                ok_for(s.bob, write_fork(&s));
            ok_for(there, v->run(&s));
            cr_expect_eq(writes[k].run(&s), v->refusal, "%s, %s", writes[k].name, v->name);
            snprintf(sql, sizeof sql,
                     "SELECT len FROM branch WHERE id=(SELECT head FROM session WHERE id='%s')",
                     id);
            cr_expect_eq(sql_number(sql), 3, "%s, %s", writes[k].name, v->name);
        }
    cr_expect_eq(sql_number("SELECT count(*) FROM task"), 0);
    cr_expect_eq(sql_number("SELECT count(*) FROM session"),
                 REVOCATIONS * (int)(sizeof writes / sizeof *writes + 1));
}

/* --------------------------------------------------------- a write that waits */

static PGconn *blocker; /* holds what the write waits for */

static int64_t ask_number(PGconn *c, const char *sql)
{
    PGresult *r = PQexec(c, sql);
    ExecStatusType st = PQresultStatus(r);
    cr_assert(st == PGRES_TUPLES_OK || st == PGRES_COMMAND_OK, "%s: %s", sql, PQerrorMessage(c));
    int64_t n = PQntuples(r) ? strtoll(PQgetvalue(r, 0, 0), NULL, 10) : 0;
    PQclear(r);
    return n;
}

static int64_t entries_of(PGconn *c, const char *session)
{
    char sql[160];
    snprintf(sql, sizeof sql,
             "SELECT len FROM branch WHERE id=(SELECT head FROM session WHERE id='%s')", session);
    return ask_number(c, sql);
}

static int64_t sessions_of(PGconn *c, const char *session)
{
    char sql[160];
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM session WHERE tree=(SELECT tree FROM session WHERE id='%s')",
             session);
    return ask_number(c, sql);
}

static void until_blocked(PGconn *look)
{
    char sql[160];
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM pg_stat_activity WHERE %d=ANY(pg_blocking_pids(pid))",
             PQbackendPID(blocker));
    while (!ask_number(look, sql))
        rest();
}

typedef struct writer {
    const stage *s;
    write_run run;
    ramet_status status;
} writer;

static void *writer_main(void *arg)
{
    writer *w = arg;
    w->status = w->run(w->s);
    return NULL;
}

static void wait_at_branch(write_run run)
{
    blocker = scratch_db_connect(T.path);
    PGconn *look = scratch_db_connect(T.path);
    for (int i = 0; i < REVOCATIONS; i++) {
        const struct revocation *v = &revocations[i];
        char id[16], sql[160];
        snprintf(id, sizeof id, "s%d", i);
        stage s = stage_make(id, v->link);
        writer w = {.s = &s, .run = run};
        pthread_t thread;
        snprintf(sql, sizeof sql, "BEGIN; SELECT 1 FROM branch WHERE id=%lld FOR UPDATE",
                 (long long)get(id)->head.branch);
        ask_number(blocker, sql);
        cr_assert_eq(pthread_create(&thread, NULL, writer_main, &w), 0);
        until_blocked(look);
        ok_for(there, v->run(&s));
        ask_number(blocker, "ROLLBACK");
        pthread_join(thread, NULL);
        cr_expect_eq(w.status, v->refusal, "%s: %s", v->name, ramet_status_text(w.status));
        cr_expect_eq(entries_of(look, id), 3, "%s", v->name);
    }
    PQfinish(look);
    PQfinish(blocker);
}

Test(revoke, while_a_guarded_append_waits_for_its_branch)
{
    wait_at_branch(write_guarded);
}

Test(revoke, while_a_guarded_append_with_a_task_waits_for_its_branch)
{
    wait_at_branch(write_guarded_task);
}

Test(revoke, while_a_serializable_append_waits_for_its_branch)
{
    wait_at_branch(write_serializable);
}

Test(revoke, while_a_move_waits_for_its_branch)
{
    wait_at_branch(write_move);
}

/* -------------------------------------------- a write that has looked already */

typedef struct revoker {
    const stage *s;
    const struct revocation *v;
    ramet_status status;
    int64_t (*count)(PGconn *c, const char *session); /* of what the write adds to */
    int64_t at_answer;
    atomic_bool answered;
} revoker;

static void *revoker_main(void *arg)
{
    revoker *r = arg;
    PGconn *c = scratch_db_connect(T.path);
    r->status = r->v->run(r->s);
    r->at_answer = r->count(c, r->s->session);
    r->answered = true;
    PQfinish(c);
    return NULL;
}

/* Other tests run in other schemas of the same database: the lock is one of this schema, and a
 * connection counts when it holds a lock on a table of it. */
#define GATE "4711,hashtext(current_schema())"
#define USES(table)                                                                                \
    "EXISTS (SELECT 1 FROM pg_locks l WHERE l.pid=a.pid AND l.relation='" table "'::regclass)"

/* A writer of this kind of event waits in its commit while `blocker` has a lock. It polls: the wait
 * for a lock would be over after lock_timeout. */
static void commits_wait(ramet_event_kind kind)
{
    char sql[600];
    snprintf(sql, sizeof sql,
             "CREATE FUNCTION commit_waits() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN "
             "WHILE NOT pg_try_advisory_xact_lock_shared(" GATE ") LOOP PERFORM pg_sleep(0.002); "
             "END LOOP; RETURN NULL; END';"
             "CREATE CONSTRAINT TRIGGER commit_waits AFTER INSERT ON outbox DEFERRABLE INITIALLY "
             "DEFERRED FOR EACH ROW WHEN (NEW.kind=%d) EXECUTE FUNCTION commit_waits()",
             kind);
    scratch_db_run(T.path, sql);
}

static void until_committing(PGconn *look)
{
    while (!ask_number(look, "SELECT count(*) FROM pg_stat_activity a WHERE wait_event='PgSleep' "
                             "AND " USES("outbox")))
        rest();
}

/* Until the revocation is answered too early, has long been committed and is not answered, or waits
 * for the writer itself. */
static void until_committed(PGconn *look, const revoker *r, int64_t stamp)
{
    char sql[400];
    snprintf(
        sql, sizeof sql,
        "SELECT count(*)+(SELECT count(*) FROM pg_stat_activity a WHERE "
        "wait_event_type='Lock' AND " USES(
            "tree") ") "
                    "FROM tree t JOIN session s ON s.tree=t.tree WHERE s.id='%s' AND t.stamp>%lld",
        r->s->session, (long long)stamp);
    while (!ask_number(look, sql))
        rest();
    for (int i = 0; i < 30 && !r->answered; i++)
        rest();
}

static void wait_in_commit(write_run run, ramet_event_kind kind,
                           int64_t (*count)(PGconn *c, const char *session))
{
    blocker = scratch_db_connect(T.path);
    PGconn *look = scratch_db_connect(T.path);
    for (int i = 0; i < REVOCATIONS; i++) {
        char id[16], sql[160];
        snprintf(id, sizeof id, "s%d", i);
        stage s = stage_make(id, revocations[i].link);
        writer w = {.s = &s, .run = run};
        revoker r = {.s = &s, .v = &revocations[i], .count = count};
        int64_t before = count(look, id);
        pthread_t writing, revoking;
        snprintf(sql, sizeof sql,
                 "SELECT t.stamp FROM tree t JOIN session s ON s.tree=t.tree WHERE s.id='%s'", id);
        int64_t stamp = ask_number(look, sql);
        if (!i)
            commits_wait(kind);
        ask_number(blocker, "SELECT pg_advisory_lock(" GATE ")");
        cr_assert_eq(pthread_create(&writing, NULL, writer_main, &w), 0);
        until_committing(look);
        cr_assert_eq(pthread_create(&revoking, NULL, revoker_main, &r), 0);
        until_committed(look, &r, stamp);
        ask_number(blocker, "SELECT pg_advisory_unlock(" GATE ")");
        pthread_join(writing, NULL);
        pthread_join(revoking, NULL);
        ok_for(there, r.status);
        cr_expect_eq(count(look, id), r.at_answer, "%s", r.v->name);
        cr_expect_eq(before + (w.status == RAMET_OK), r.at_answer, "%s", r.v->name);
    }
    PQfinish(look);
    PQfinish(blocker);
}

Test(revoke, while_a_guarded_append_commits)
{
    wait_in_commit(write_guarded, RAMET_EVENT_APPENDED, entries_of);
}

Test(revoke, while_a_serializable_append_commits)
{
    wait_in_commit(write_serializable, RAMET_EVENT_APPENDED, entries_of);
}

Test(revoke, while_a_guarded_fork_commits)
{
    wait_in_commit(write_fork, RAMET_EVENT_FORKED, sessions_of);
}

static ramet_status collect(const stage *s)
{
    (void)s;
    ramet_gc_out out;
    return ramet_gc(there, false, NULL, NULL, &out);
}

/* gc removes the source of a fork that had begun before the source expired. The fork keeps all. */
Test(revoke, gc_waits_for_a_fork_that_commits)
{
    static const struct revocation gc = {"gc", false, collect, RAMET_OK};
    blocker = scratch_db_connect(T.path);
    PGconn *look = scratch_db_connect(T.path);
    ramet_session *made;
    ok(ramet_session_create(
        T.call, &(ramet_session_in){.id = "brief", .ephemeral_us = 3600 * SECOND}, &made));
    stage s = {.session = "brief", .bob = as("bob")};
    join("brief", "bob", RAMET_WRITER);
    ok_for(s.bob, append(s.bob, "brief", "a", NULL, NULL));
    ok_for(s.bob, append(s.bob, "brief", "b", NULL, NULL));
    int64_t stamp = ask_number(look, "SELECT stamp FROM tree");
    writer w = {.s = &s, .run = write_fork};
    revoker r = {.s = &s, .v = &gc, .count = sessions_of};
    pthread_t writing, collecting;
    commits_wait(RAMET_EVENT_FORKED);
    ask_number(blocker, "SELECT pg_advisory_lock(" GATE ")");
    cr_assert_eq(pthread_create(&writing, NULL, writer_main, &w), 0);
    until_committing(look);
    tick(8 * 86400 * SECOND);
    cr_assert_eq(pthread_create(&collecting, NULL, revoker_main, &r), 0);
    until_committed(look, &r, stamp);
    cr_expect(!r.answered);
    ask_number(blocker, "SELECT pg_advisory_unlock(" GATE ")");
    pthread_join(writing, NULL);
    pthread_join(collecting, NULL);
    ok_for(there, r.status);
    ok_for(s.bob, w.status);
    cr_expect_eq(entries_of(look, forked), 2);
    ramet_entry *e;
    ok_for(s.bob, ramet_entry_get(s.bob, forked, 0, "a", &e));
    ok_for(s.bob, ramet_entry_get(s.bob, forked, 0, "b", &e));
    PQfinish(look);
    PQfinish(blocker);
}

/* ------------------------------------------------------- any number of writes */

/* Writes take their time to commit, as on a slow disk: those of one kind of event, or (0) all. */
static void commits_are_slow(int kind)
{
    char sql[600];
    snprintf(sql, sizeof sql,
             "CREATE FUNCTION commit_slowly() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN "
             "PERFORM pg_sleep(0.01); RETURN NULL; END';"
             "CREATE CONSTRAINT TRIGGER commit_slowly AFTER INSERT ON outbox DEFERRABLE INITIALLY "
             "DEFERRED FOR EACH ROW WHEN (%d IN (0,NEW.kind)) EXECUTE FUNCTION commit_slowly()",
             kind);
    scratch_db_run(T.path, sql);
}

static void *append_on(void *arg)
{
    writer *w = arg;
    for (int i = 0; w->status == RAMET_OK; i++) {
        char id[16];
        snprintf(id, sizeof id, "e%d", i);
        w->status = append(w->s->bob, w->s->session, id, i % 4 ? NULL : id, NULL);
        ramet_call_reset(w->s->bob);
        if (w->s->share && w->status == RAMET_OK)
            w->status = ramet_call_share(w->s->bob, w->s->share->token, NULL);
    }
    return NULL;
}

/* By numbers of the store: the session may be gone for everybody. At once: on a connection that is
 * there already, when the store is a database. */
static int64_t length_now(PGconn *look, const char *session)
{
    char sql[160];
    if (look)
        return entries_of(look, session);
    snprintf(sql, sizeof sql,
             "SELECT len FROM branch WHERE id=(SELECT head FROM session WHERE id='%s')", session);
    return sql_number(sql);
}

/* An append is nearly always about to commit when the revocation is answered. */
Test(revoke, nothing_comes_after_the_answer)
{
    PGconn *look = T.database ? scratch_db_connect(T.path) : NULL;
    if (look)
        commits_are_slow(RAMET_EVENT_APPENDED);
    for (int i = 0; i < REVOCATIONS * 3; i++) {
        const struct revocation *v = &revocations[i % REVOCATIONS];
        char id[16];
        snprintf(id, sizeof id, "s%d", i);
        stage s = stage_make(id, v->link);
        writer w = {.s = &s};
        pthread_t thread;
        cr_assert_eq(pthread_create(&thread, NULL, append_on, &w), 0);
        while (length_now(look, id) < 8)
            rest();
        ok_for(there, v->run(&s));
        int64_t n = length_now(look, id);
        pthread_join(thread, NULL);
        cr_expect_eq(length_now(look, id), n, "%s", v->name);
        if (v->link) /* the next call may find that there is no such link */
            cr_expect(w.status == v->refusal || w.status == RAMET_SHARE_NOT_FOUND);
        else
            cr_expect_eq(w.status, v->refusal, "%s: %s", v->name, ramet_status_text(w.status));
    }
    if (look)
        PQfinish(look);
}

/* ------------------------------------------------------- writes that do not end */

enum { CROWD = 8, CROWD_WRITES = 3000 };

typedef struct crowd {
    atomic_int writes;
    atomic_bool answered;
} crowd;

typedef struct crowd_member {
    crowd *all;
    ramet_call *call;
    char session[16];
    bool forks;
    ramet_status status;
    pthread_t thread;
} crowd_member;

static ramet_status crowd_write(crowd_member *m, int n)
{
    char id[16];
    ramet_session *out;
    snprintf(id, sizeof id, "e%d", n);
    return m->forks ? ramet_fork(m->call, m->session, &(ramet_fork_in){.id = id}, &out, NULL)
                    : append(m->call, m->session, id, id, NULL);
}

/* Until the revocation is answered, or so many writes were not enough for it. */
static void *crowd_main(void *arg)
{
    crowd_member *m = arg;
    while (!m->all->answered && m->status == RAMET_OK) {
        int n = m->all->writes++;
        if (n >= CROWD_WRITES)
            break;
        m->status = crowd_write(m, n);
        ramet_call_reset(m->call);
    }
    return NULL;
}

/* Half of the writers append by a key, in serializable transactions, and half of them fork, in
 * guarded ones. Both lock the row of the tree while they commit, and one of them always does; the
 * revocation must get its turn between them. */
Test(revoke, comes_through_while_others_write_on)
{
    static crowd all;
    static crowd_member members[CROWD];
    make("root");
    say("root", "a");
    join("root", "bob", RAMET_WRITER);
    for (int i = 0; i < CROWD; i++) {
        members[i] = (crowd_member){.all = &all, .call = as(NULL), .forks = i % 2};
        snprintf(members[i].session, sizeof members[i].session, "f%d", i);
        fork_at("root", "a", members[i].session);
    }
    commits_are_slow(0);
    for (int i = 0; i < CROWD; i++)
        cr_assert_eq(pthread_create(&members[i].thread, NULL, crowd_main, &members[i]), 0);
    while (all.writes < 4 * CROWD)
        rest();
    ramet_status st = ramet_member_remove(there, "root", "bob");
    all.answered = true;
    for (int i = 0; i < CROWD; i++) {
        pthread_join(members[i].thread, NULL);
        cr_expect_eq(members[i].status, RAMET_OK, "%s", ramet_status_text(members[i].status));
    }
    ok_for(there, st);
    cr_expect_lt(all.writes, CROWD_WRITES, "it was answered when the writes had ended");
}

/* ----------------------------------------------------------------------- tasks */

/* Node A remembers the session as it was. */
Test(revoke, a_task_without_an_entry_needs_the_right_too)
{
    for (int i = 0; i < REVOCATIONS; i++) {
        const struct revocation *v = &revocations[i];
        char id[16];
        snprintf(id, sizeof id, "s%d", i);
        ramet_task_in task = {.id = id, .data = "{}"};
        stage s = stage_make(id, v->link);
        ok_for(there, v->run(&s));
        cr_expect_eq(append(s.bob, id, NULL, NULL, &task), v->refusal, "%s", v->name);
        /* An entry that is there already is no new one. */
        cr_expect_eq(append(s.bob, id, "c", NULL, &task), v->refusal, "%s", v->name);
    }
    cr_expect_eq(sql_number("SELECT count(*) FROM task"), 0);
}

enum { PAIRS = 300 };

typedef struct racer {
    ramet_call *call;
    const char *session;
    bool entries;
    pthread_barrier_t *start;
    ramet_status status[PAIRS];
} racer;

static void *race(void *arg)
{
    racer *r = arg;
    for (int i = 0; i < PAIRS; i++) {
        char id[24];
        snprintf(id, sizeof id, "%s-%d", r->entries ? "with" : "bare", i);
        ramet_task_in task = {.id = id, .data = "{}"};
        pthread_barrier_wait(r->start);
        r->status[i] = append(r->call, r->session, r->entries ? id : NULL, NULL, &task);
        ramet_call_reset(r->call);
    }
    return NULL;
}

static void one_wins_each(bool entries)
{
    static racer a, b;
    pthread_barrier_t start;
    pthread_t thread;
    make("a");
    make("b");
    say("a", "x y");
    say("b", "x y");
    pthread_barrier_init(&start, NULL, 2);
    a = (racer){.call = T.call, .session = "a", .entries = entries, .start = &start};
    b = (racer){.call = there, .session = "b", .entries = entries, .start = &start};
    cr_assert_eq(pthread_create(&thread, NULL, race, &b), 0);
    race(&a);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&start);
    int64_t won = 0;
    for (int i = 0; i < PAIRS; i++) {
        cr_expect((a.status[i] == RAMET_OK) != (b.status[i] == RAMET_OK), "%d: %s and %s", i,
                  ramet_status_text(a.status[i]), ramet_status_text(b.status[i]));
        cr_expect(a.status[i] == RAMET_OK || a.status[i] == RAMET_ENTRY_EXISTS);
        cr_expect(b.status[i] == RAMET_OK || b.status[i] == RAMET_ENTRY_EXISTS);
        won += a.status[i] == RAMET_OK;
    }
    ramet_task *list;
    size_t n;
    ok(ramet_tasks(T.call, "a", &list, &n));
    cr_expect_eq(n, won);
    cr_expect_eq(get("a")->head.length, 2 + (entries ? won : 0));
}

Test(revoke, one_of_two_sessions_gets_a_task)
{
    one_wins_each(false);
}

Test(revoke, one_of_two_sessions_gets_a_task_with_an_entry)
{
    one_wins_each(true);
}

/* --------------------------------------------------------------------- answers */

Test(revoke, an_answer_too_many_is_not_dropped, .init = NULL, .fini = NULL, .signal = SIGABRT)
{
    int at[5];
    answer_list list = {0};
    txn x = {.answers = &list};
    for (int i = 0; i < 5; i++)
        ANSWER(&x, &at[i]);
}
