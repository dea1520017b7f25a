/* SPDX-License-Identifier: Apache-2.0
 *
 * invariant.c: one test for each invariant I1-I10, named for it.
 */
#include "help.h"
#include "shim.h"

#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(invariant, .init = scratch_open, .fini = scratch_close, .timeout = 120);

static void clean(void)
{
    ramet_fsck_out out;
    ok(ramet_fsck(T.call, NULL, NULL, &out));
    cr_assert_eq(out.n_all, 0, "%s", out.n ? out.faults[0].what : "");
}

/* ---- I1: no acknowledged entry is lost, whatever is killed and when */

/* The child: appends, and now and then forks, and tells each acknowledged number. */
static void append_until_killed(int pipe_end, int first)
{
    ramet *r = NULL;
    if (ramet_open(T.path, NULL, &r, NULL) != RAMET_OK)
        _exit(9);
    ramet_call *c = ramet_call_new(r, NULL, NULL);
    for (int i = first;; i++) {
        char id[16], text[2000];
        snprintf(id, sizeof id, "e%d", i);
        memset(text, 'a' + i % 26, sizeof text - 1);
        text[sizeof text - 1] = 0;
        ramet_entry_in in = {.id = id, .role = RAMET_USER, .text = text};
        ramet_append_out out;
        if (ramet_append(c, "s", &(ramet_append_in){.entries = &in, .n = 1}, &out) != RAMET_OK)
            _exit(8);
        if (write(pipe_end, &i, sizeof i) != sizeof i)
            _exit(7);
        ramet_call_reset(c);
    }
}

static int killed_round(int first, int acknowledged)
{
    int ends[2], last = first - 1;
    cr_assert_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        append_until_killed(ends[1], first);
    }
    close(ends[1]);
    for (int i = 0; i < acknowledged; i++) {
        int n;
        cr_assert_eq(read(ends[0], &n, sizeof n), (ssize_t)sizeof n, "the child died too early");
        cr_assert_eq(n, last + 1);
        last = n;
    }
    kill(child, SIGKILL);
    for (int n; read(ends[0], &n, sizeof n) == sizeof n;)
        last = n;
    int status;
    waitpid(child, &status, 0);
    cr_assert(WIFSIGNALED(status));
    close(ends[0]);
    return last;
}

Test(invariant, i1_acknowledged_survives_kill)
{
    make("s");
    int64_t length = 0;
    for (int round = 0; round < 5; round++) {
        scratch_shut();
        int last = killed_round((int)length, 20 + 7 * round);
        scratch_reopen(NULL);
        length = get("s")->head.length;
        cr_assert_gt(length, last, "acknowledged up to %d, there are %d", last, (int)length);
        cr_assert_leq(length, last + 2, "at most the one that was not told yet");
        ramet_page page;
        ok(ramet_read(T.call, "s", &(ramet_read_in){.limit = 1000}, &page));
        for (size_t i = 0; i < page.n; i++) {
            char id[32];
            snprintf(id, sizeof id, "e%zu", i);
            cr_assert_str_eq(page.entries[i].id, id);
            cr_assert_eq(strlen(page.entries[i].text), 1999);
            cr_assert_eq(page.entries[i].text[1998], (char)('a' + i % 26));
        }
        clean();
    }
}

/* ---- I2: bytes and ids never change; equal hashes are equal histories */

Test(invariant, i2_equal_hashes_are_equal_histories)
{
    make("s");
    say("s", "a b c");
    const char *before = dump("s", 0);
    char at_b[65];
    ramet_entry *e = NULL;
    ok(ramet_entry_get(T.call, "s", 0, "b", &e));
    memcpy(at_b, e->hash, 65);
    fork_at("s", "b", "f");
    cr_assert_str_eq(get("f")->head.hash, at_b);
    ask("f", "c", "text of c");
    cr_assert_str_neq(get("f")->head.hash, get("s")->head.hash,
                      "made at another time: another entry");
    rewind_to("s", "b");
    cr_assert_str_eq(get("s")->head.hash, at_b);
    ramet_session *s;
    ok(ramet_undo(T.call, "s", NULL, &s));
    cr_assert_str_eq(dump("s", 0), before);
    make("t");
    make("u");
    static const ramet_entry_in same = {.id = "x", .role = RAMET_USER, .text = "x", .created = T0};
    ramet_entry_in other[] = {
        {.id = "y", .role = RAMET_USER, .text = "x", .created = T0},
        {.id = "x", .role = RAMET_SYSTEM, .text = "x", .created = T0},
        {.id = "x", .role = RAMET_USER, .text = "y", .created = T0},
        {.id = "x", .role = RAMET_USER, .text = "x", .created = T0 + 1},
        {.id = "x", .role = RAMET_USER, .text = "x", .created = T0, .channel = "c"},
        {.id = "x", .role = RAMET_USER, .text = "x", .created = T0, .turn_id = "t"},
        {.id = "x", .role = RAMET_USER, .text = "x", .created = T0, .author = "a"},
        {.id = "x", .role = RAMET_USER, .text = "x", .created = T0, .state_delta = "{}"},
        {.id = "x", .role = RAMET_USER, .text = "x", .created = T0, .format = "f", .body = "1"},
        {.id = "x",
         .role = RAMET_USER,
         .text = "x",
         .created = T0,
         .usage = &(ramet_usage){.input = 1}},
    };
    put("t", &same);
    put("u", &same);
    cr_assert_str_eq(get("t")->head.hash, get("u")->head.hash);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        ok(ramet_rewind(T.call, "u",
                        &(ramet_move_in){.at = {get("u")->head.entry_id, RAMET_BEFORE}}, &s, NULL));
        put("u", &other[i]);
        cr_assert_str_neq(get("t")->head.hash, get("u")->head.hash, "field %zu is not in the hash",
                          i);
    }
    clean();
}

/* ---- I3: after a fork nothing done elsewhere changes it, and the reverse */

static void stir(const char *session, const char *tag)
{
    char id[32], other[48];
    ramet_append_out out;
    ramet_session *s;
    snprintf(id, sizeof id, "%s-%s", session, tag);
    say(session, id);
    snprintf(other, sizeof other, "%s-edit", id);
    ok(ramet_edit(T.call, session, "b", &(ramet_entry_in){.id = other, .text = "changed"}, NULL,
                  &out));
    ok(ramet_regenerate(T.call, session, other, NULL, 0, NULL, &out));
    rewind_to(session, "a");
    snprintf(other, sizeof other, "%s-fork", id);
    fork_at(session, NULL, other);
    say(other, "deeper");
    ok(ramet_undo(T.call, session, NULL, &s));
    ok(ramet_session_update(T.call, session, &(ramet_session_patch){.title = tag}, &s));
    rewind_to(session, "a");
}

Test(invariant, i3_a_fork_and_its_source_do_not_touch_each_other)
{
    make("s");
    say("s", "a b c");
    fork_at("s", "c", "f");
    fork_at("f", "c", "g");
    const char *f = dump("f", 0), *g = dump("g", 0);
    ramet_session *was = get("f"), *renamed;
    stir("s", "1");
    ok(ramet_session_update(T.call, "s", &(ramet_session_patch){.title = "another"}, &renamed));
    cr_assert_str_eq(dump("f", 0), f);
    drop("s");
    tick(8 * DAY);
    ramet_gc_out gc;
    ok(ramet_gc(T.call, false, NULL, NULL, &gc));
    cr_assert_str_eq(dump("f", 0), f);
    cr_assert_str_eq(get("f")->shown_title, was->shown_title);
    stir("f", "2");
    cr_assert_str_eq(dump("g", 0), g);
    make("t");
    say("t", "a b c");
    fork_at("t", "b", "u");
    const char *t = dump("t", 0);
    stir("u", "3");
    drop("u");
    tick(8 * DAY);
    ok(ramet_gc(T.call, false, NULL, NULL, &gc));
    cr_assert_str_eq(dump("t", 0), t);
    clean();
}

/* ---- I4: the shared entries are byte- and id-identical */

Test(invariant, i4_a_fork_has_the_sources_very_entries)
{
    make("s");
    ramet_usage u = {.input = 3, .output = 4, .cached = 1, .cost = 99, .currency = "EUR"};
    put("s", &(ramet_entry_in){.id = "a",
                               .role = RAMET_USER,
                               .format = "a2a",
                               .turn_id = "t1",
                               .body = "{ \"n\": 1.00, \"u\":\"\\u00e9\" }",
                               .state_delta = "{\"k\": 1e2}"});
    put("s", &(ramet_entry_in){.id = "b",
                               .role = RAMET_ASSISTANT,
                               .usage = &u,
                               .channel = "side",
                               .parts = "[ {\"type\":\"data\", \"data\":0.10} ]"});
    say("s", "c d");
    int64_t stored = sql_number("SELECT count(*) FROM entry");
    static const char *const at[] = {"a", "b", "c", "d"};
    for (size_t k = 0; k < 4; k++) {
        char id[8];
        snprintf(id, sizeof id, "f%zu", k);
        fork_at("s", at[k], id);
        const char *source = dump("s", 0), *fork = dump(id, 0);
        const char *end = source;
        for (size_t i = 0; i <= k; i++)
            end = strchr(end, '\n') + 1;
        cr_assert_eq(strncmp(source, fork, (size_t)(end - source)), 0, "%s\n%s", source, fork);
        cr_assert_eq(strncmp(fork + (end - source), "head", 4), 0);
    }
    cr_assert_eq(sql_number("SELECT count(*) FROM entry"), stored, "nothing was copied");
}

/* ---- I5: appends are linearizable, expected_head makes them conditional */

#define THREADS 8
#define EACH 40

typedef struct worker {
    ramet_call *call;
    int number, conflicts;
    const char *wrong;
} worker;

static void *append_conditionally(void *arg)
{
    worker *w = arg;
    for (int i = 0; i < EACH;) {
        ramet_session *s;
        ramet_append_out out;
        char id[16];
        snprintf(id, sizeof id, "t%d-%d", w->number, i);
        if (ramet_session_get(w->call, "s", &s) != RAMET_OK) {
            w->wrong = "get failed";
            return NULL;
        }
        ramet_entry_in in = {.id = id, .role = RAMET_USER, .text = s->head.hash};
        ramet_status st = ramet_append(
            w->call, "s", &(ramet_append_in){.entries = &in, .n = 1, .expected_head = s->head.hash},
            &out);
        if (st == RAMET_OK) {
            i++;
        } else if (st == RAMET_HEAD_MOVED) {
            w->conflicts++;
        } else {
            w->wrong = ramet_status_code(st);
            return NULL;
        }
        ramet_call_reset(w->call);
    }
    return NULL;
}

Test(invariant, i5_appends_are_linearizable)
{
    make("s");
    pthread_t threads[THREADS];
    worker workers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){.call = as(NULL), .number = i};
        cr_assert_eq(pthread_create(&threads[i], NULL, append_conditionally, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        cr_assert_null(workers[i].wrong, "%s", workers[i].wrong);
    }
    ramet_page page;
    ok(ramet_read(T.call, "s", &(ramet_read_in){.limit = 1000}, &page));
    cr_assert_eq(page.n, THREADS * EACH);
    int next[THREADS] = {0};
    for (size_t i = 0; i < page.n; i++) {
        int t, n;
        cr_assert_eq(sscanf(page.entries[i].id, "t%d-%d", &t, &n), 2);
        cr_assert_eq(n, next[t]++, "the order of one caller");
        cr_assert_str_eq(page.entries[i].text, i ? page.entries[i - 1].hash : NO_HASH,
                         "each stands on exactly the history that its caller had seen");
    }
    const char *before = mark();
    ramet_append_out out;
    ramet_entry_in again = {
        .id = page.entries[7].id, .role = RAMET_USER, .text = page.entries[7].text};
    ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = &again, .n = 1}, &out));
    cr_assert_str_eq(out.entries[0].hash, page.entries[7].hash);
    again.text = "other";
    refused(RAMET_ENTRY_EXISTS, NULL,
            ramet_append(T.call, "s", &(ramet_append_in){.entries = &again, .n = 1}, &out));
    cr_assert_str_eq(mark(), before, "the same again writes nothing");
}

/* ---- I6: the head is stored, every move is logged and can be undone */

Test(invariant, i6_the_head_is_stored_not_inferred)
{
    make("s");
    say("s", "a b c");
    int64_t b0 = get("s")->head.branch, b1 = rewind_to("s", "a");
    say("s", "x");
    ramet_session *s;
    ok(ramet_switch(T.call, "s", b0, NULL, &s));
    ramet_append_out out;
    ramet_entry_in late = {.id = "y", .role = RAMET_USER, .text = "y", .created = T0 + 1000 * DAY};
    ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = &late, .n = 1, .branch = b1}, &out));
    T.now = T0 - 100 * DAY;
    cr_assert_eq(get("s")->head.branch, b0, "neither the newest branch nor the newest entry");
    scratch_reopen(NULL);
    cr_assert_eq(get("s")->head.branch, b0);
    ramet_sync_out sync;
    ok(ramet_edit(T.call, "s", "b", &(ramet_entry_in){.text = "b2"}, NULL, &out));
    ok(ramet_regenerate(T.call, "s", "a", NULL, 0, NULL, &out));
    ok(ramet_sync(T.call, "s", &late, 1, NULL, &sync));
    rewind_to("s", NULL);
    ramet_move *m;
    size_t n, moves;
    bool more;
    ok(ramet_head_log(T.call, "s", 0, 0, &m, &moves, &more));
    for (size_t i = 0; i + 1 < moves; i++)
        cr_assert_eq(m[i].from, m[i + 1].to, "each goes on from where the last one led");
    cr_assert_eq(m[0].to, get("s")->head.branch);
    cr_assert_eq(m[moves - 1].from, b0);
    for (size_t i = 0; i < moves; i++) {
        ok(ramet_undo(T.call, "s", NULL, &s));
        cr_assert_eq(s->head.branch, m[i].from, "move %d", (int)m[i].number);
    }
    refused(RAMET_NOTHING_TO_UNDO, NULL, ramet_undo(T.call, "s", NULL, &s));
    ramet_move *all;
    ok(ramet_head_log(T.call, "s", 0, 0, &all, &n, &more));
    cr_assert_eq(n, 2 * moves, "an undo is a move too");
    clean();
}

/* ---- I7: deletion is scoped */

Test(invariant, i7_deletion_is_scoped)
{
    make("s");
    say("s", "a b c");
    fork_at("s", "b", "f");
    say("f", "x");
    fork_at("f", "x", "g");
    const char *g = dump("g", 0);
    ramet_delete_out dry, out;
    ok(ramet_session_delete(T.call, "f", false, true, &dry));
    ok(ramet_session_delete(T.call, "f", false, false, &out));
    cr_assert_eq(dry.n, out.n);
    cr_assert_eq(dry.entries, out.entries);
    cr_assert_eq(out.entries, 0, "g shares all of it");
    ramet_session *s;
    refused(RAMET_SESSION_NOT_FOUND, NULL, ramet_session_get(T.call, "f", &s));
    cr_assert_str_eq(dump("g", 0), g);
    ok(ramet_session_restore(T.call, "f", false, &s));
    cr_assert_str_eq(ids("f"), "a b x");
    drop("f");
    drop("s");
    tick(8 * DAY);
    ramet_gc_out gc;
    ok(ramet_gc(T.call, false, NULL, NULL, &gc));
    cr_assert_eq(gc.entries, 1, "c alone");
    cr_assert_str_eq(dump("g", 0), g);
    size_t n;
    ok(ramet_ancestry(T.call, "g", &s, &n));
    cr_assert_eq(n, 3, "g stays where it was in the tree");
    cr_assert(s[0].deleted && s[1].deleted);
    clean();
}

/* ---- I8: a failed write is reported and stops writes; reads go on */

static void open_with_shim(void)
{
    ramet_options opt = scratch_options();
    opt.engine_vfs = shim_vfs();
    scratch_reopen(&opt);
}

static ramet_status try_append(const char *id)
{
    ramet_append_out out;
    ramet_entry_in in = {.id = id, .role = RAMET_USER, .text = "x"};
    return ramet_append(T.call, "s", &(ramet_append_in){.entries = &in, .n = 1}, &out);
}

Test(invariant, i8_a_failed_sync_stops_writes_until_reopened)
{
    open_with_shim();
    make("s");
    say("s", "a");
    shim_sync_error = SQLITE_IOERR_FSYNC;
    refused(RAMET_IO, NULL, try_append("b"));
    shim_sync_error = 0;
    cr_assert_eq(ramet_health(T.store), RAMET_IO);
    for (int i = 0; i < 3; i++)
        refused(RAMET_STOPPED, NULL, try_append("c"));
    ramet_session *s;
    refused(RAMET_STOPPED, NULL, ramet_fork(T.call, "s", &(ramet_fork_in){.id = "f"}, &s, NULL));
    ramet_page page;
    ok(ramet_read(T.call, "s", &(ramet_read_in){0}, &page));
    cr_assert_geq(page.n, 1, "reads go on");
    cr_assert_str_eq(page.entries[0].id, "a");
    ramet_options opt = scratch_options();
    opt.engine_vfs = shim_vfs();
    scratch_reopen(&opt);
    cr_assert_eq(ramet_health(T.store), RAMET_OK);
    ok(try_append("d"));
    cr_assert_null(strstr(ids("s"), "c"));
    clean();
}

Test(invariant, i8_a_full_disk_stops_writes_until_there_is_room)
{
    open_with_shim();
    make("s");
    say("s", "a");
    shim_write_error = SQLITE_FULL;
    refused(RAMET_FULL, NULL, try_append("b"));
    cr_assert_eq(ramet_health(T.store), RAMET_FULL);
    ramet_status st = try_append("c");
    cr_assert(st == RAMET_FULL || st == RAMET_STOPPED, "%s", ramet_status_code(st));
    ramet_page page;
    ok(ramet_read(T.call, "s", &(ramet_read_in){0}, &page));
    cr_assert_eq(page.n, 1);
    shim_write_error = 0;
    for (int i = 0; i < 300 && (st = try_append("d")) != RAMET_OK; i++)
        usleep(20000);
    cr_assert_eq(st, RAMET_OK, "%s", ramet_status_code(st));
    cr_assert_eq(ramet_health(T.store), RAMET_OK);
    cr_assert_str_eq(ids("s"), "a d");
    clean();
}

/* ---- I9: usage belongs to one entry of one branch */

Test(invariant, i9_a_fork_never_counts_usage_twice)
{
    make("s");
    ramet_usage u = {.input = 1, .cost = 10, .currency = "EUR"};
    int64_t spent = 0;
    char last[8] = "s";
    for (int i = 0; i < 12; i++) {
        char id[8], entry[8];
        snprintf(entry, sizeof entry, "e%d", i);
        snprintf(id, sizeof id, "f%d", i);
        put(last,
            &(ramet_entry_in){.id = entry, .role = RAMET_ASSISTANT, .text = "x", .usage = &u});
        fork_at(last, i % 3 ? entry : NULL, id);
        put(last,
            &(ramet_entry_in){.id = "off", .role = RAMET_ASSISTANT, .text = "x", .usage = &u});
        spent += 2;
        memcpy(last, id, sizeof last);
    }
    ramet_session *all;
    size_t n;
    ok(ramet_tree(T.call, "s", true, &all, &n));
    int64_t own = 0;
    for (size_t i = 0; i < n; i++) {
        ramet_usage_out sum;
        ok(ramet_usage_get(T.call, all[i].id, &sum));
        own += sum.own.input;
        cr_assert_eq(sum.tree.input, spent, "every entry once, from wherever it is asked");
        cr_assert_eq(sum.tree.money[0].cost, spent * 10);
        cr_assert_eq(sum.path.input, all[i].head.length);
    }
    cr_assert_eq(own, spent, "own parts add up to the tree");
}

/* ---- I10: a user sees only trees that he is a member of */

Test(invariant, i10_a_stranger_learns_nothing)
{
    make("secret");
    say("secret", "a b");
    fork_at("secret", "a", "secret-fork");
    ramet_tags tags;
    ok(ramet_tags_set(T.call, "secret", (const char *[]){"hidden"}, 1, &tags));
    ramet_call *eve = as("eve");
    ramet_session *s;
    size_t n;
    char hidden[512], absent[512];
    refused_for(eve, RAMET_HIDDEN, NULL, ramet_session_get(eve, "secret", &s));
    cr_assert_str_eq(ramet_status_code(RAMET_HIDDEN), "session_not_found");
    memcpy(hidden, ramet_call_error(eve)->message, sizeof hidden);
    refused_for(eve, RAMET_SESSION_NOT_FOUND, NULL, ramet_session_get(eve, "absent", &s));
    memcpy(absent, ramet_call_error(eve)->message, sizeof absent);
    char *at = strstr(hidden, "secret");
    cr_assert_not_null(at);
    memcpy(at, "absent", 6);
    cr_assert_str_eq(hidden, absent, "what is hidden reads like what is not there");
    ramet_session_list list;
    ok_for(eve,
           ramet_session_find(eve, &(ramet_list_in){.archived = RAMET_ARCHIVED_INCLUDE}, &list));
    cr_assert_eq(list.n, 0);
    ok_for(eve, ramet_session_find(eve, &(ramet_list_in){.tree = get("secret")->tree_id}, &list));
    cr_assert_eq(list.n, 0);
    ramet_hits hits;
    ok_for(eve, ramet_search(eve, &(ramet_search_in){.query = "text"}, &hits));
    cr_assert_eq(hits.n, 0);
    ramet_tag_count *counts;
    ok_for(eve, ramet_tags_all(eve, &counts, &n));
    cr_assert_eq(n, 0);
    ramet_session *mine = NULL;
    ok_for(eve, ramet_session_create(eve, &(ramet_session_in){.id = "mine"}, &mine));
    ramet_compare_out out;
    refused_for(eve, RAMET_HIDDEN, NULL,
                ramet_compare(eve, (ramet_side_in[]){{"mine", 0}, {"secret", 0}}, 2, 0, &out));
    cr_assert_neq(
        ramet_session_update(eve, "mine", &(ramet_session_patch){.merged_into = "secret"}, &s),
        RAMET_OK);
    ramet_page page;
    refused_for(
        eve, RAMET_BRANCH_NOT_FOUND, NULL,
        ramet_read(eve, "mine", &(ramet_read_in){.branch = get("secret")->head.branch}, &page));
    join("secret", "eve", RAMET_READER);
    ok_for(eve, ramet_session_get(eve, "secret", &s));
    ok_for(eve, ramet_session_find(eve, &(ramet_list_in){0}, &list));
    cr_assert_eq(list.n, 3);
    ok(ramet_member_remove(T.call, "secret", "eve"));
    refused_for(eve, RAMET_HIDDEN, NULL, ramet_session_get(eve, "secret-fork", &s));
}
