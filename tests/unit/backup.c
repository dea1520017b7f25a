/* SPDX-License-Identifier: Apache-2.0
 *
 * backup.c: a consistent copy, taken while others write; and the counts of a store.
 */
#include "help.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

TestSuite(backup, .init = scratch_open, .fini = scratch_close);

static char copy[200];

static const char *target(void)
{
    snprintf(copy, sizeof copy, "%s/copy.db", T.dir);
    return copy;
}

static void open_copy(void)
{
    snprintf(T.path, sizeof T.path, "%s/copy.db", T.dir);
    scratch_reopen(NULL);
}

Test(backup, is_a_store_with_everything_in_it)
{
    make("s");
    say("s", "a b c");
    fork_at("s", "b", "f");
    rewind_to("s", "a");
    ask("f", "w", "wombat");
    const char *s = dump("s", 0), *f = dump("f", 0), *counts = mark();
    ok(ramet_backup(T.call, target(), NULL, NULL));
    say("s", "later");
    open_copy();
    cr_assert_str_eq(dump("s", 0), s);
    cr_assert_str_eq(dump("f", 0), f);
    cr_assert_str_eq(mark(), counts);
    ramet_session *x;
    ok(ramet_undo(T.call, "s", NULL, &x));
    cr_assert_str_eq(ids("s"), "a b c");
    ramet_hits hits;
    ok(ramet_search(T.call, &(ramet_search_in){.query = "wombat"}, &hits));
    cr_assert_eq(hits.n, 1);
    ramet_fsck_out out;
    ok(ramet_fsck(T.call, NULL, NULL, &out));
    cr_assert_eq(out.n_all, 0);
}

Test(backup, never_writes_over_a_file)
{
    make("s");
    FILE *file = fopen(target(), "w");
    fputs("precious", file);
    fclose(file);
    cr_assert_neq(ramet_backup(T.call, copy, NULL, NULL), RAMET_OK);
    char text[16] = "";
    file = fopen(copy, "r");
    cr_assert_not_null(fgets(text, sizeof text, file));
    fclose(file);
    cr_assert_str_eq(text, "precious");
    cr_assert_neq(ramet_backup(T.call, T.path, NULL, NULL), RAMET_OK);
    cr_assert_str_eq(get("s")->id, "s");
    cr_assert_neq(ramet_backup(T.call, "/nonexistent/folder/copy.db", NULL, NULL), RAMET_OK);
    cr_assert_neq(ramet_backup(T.call, "", NULL, NULL), RAMET_OK);
    cr_assert_neq(ramet_backup(T.call, NULL, NULL, NULL), RAMET_OK);
}

static bool stop(void *arg, const char *what, int64_t done, int64_t total)
{
    (void)arg;
    (void)what;
    (void)done;
    (void)total;
    return false;
}

Test(backup, a_stopped_one_leaves_nothing)
{
    make("s");
    refused(RAMET_STOP, NULL, ramet_backup(T.call, target(), stop, NULL));
    cr_assert_neq(access(copy, F_OK), 0);
    ok(ramet_backup(T.call, copy, NULL, NULL));
}

static atomic_bool enough;

static void *writer(void *arg)
{
    static char wrong[] = "an append failed";
    ramet_call *c = arg;
    ramet_entry_in pair[2] = {{.role = RAMET_USER, .text = "one"},
                              {.role = RAMET_USER, .text = "two"}};
    while (!enough) {
        ramet_append_out out;
        if (ramet_append(c, "s", &(ramet_append_in){.entries = pair, .n = 2}, &out) != RAMET_OK)
            return wrong;
        ramet_call_reset(c);
    }
    return NULL;
}

Test(backup, is_consistent_while_others_write)
{
    make("s");
    say("s", "a b");
    pthread_t thread;
    ramet_call *c = as(NULL);
    cr_assert_eq(pthread_create(&thread, NULL, writer, c), 0);
    for (int i = 0; i < 3; i++) {
        unlink(target());
        ok(ramet_backup(T.call, copy, NULL, NULL));
    }
    enough = true;
    void *wrong;
    pthread_join(thread, &wrong);
    cr_assert_null(wrong, "%s", (char *)wrong);
    int64_t live = get("s")->head.length;
    open_copy();
    int64_t kept = get("s")->head.length;
    cr_assert_eq(kept % 2, 0, "no half batch");
    cr_assert_leq(kept, live);
    ramet_fsck_out out;
    ok(ramet_fsck(T.call, NULL, NULL, &out));
    cr_assert_eq(out.n_all, 0);
}

Test(backup, the_counts_of_a_store)
{
    ramet_stats st;
    ok(ramet_stat(T.call, &st));
    cr_assert_str_eq(st.path, T.path);
    cr_assert_gt(st.schema, 0);
    cr_assert_eq(st.sessions, 0);
    cr_assert_gt(st.file_bytes, 0);
    make("s");
    say("s", "a b");
    fork_at("s", NULL, "f");
    rewind_to("s", "a");
    make("t");
    drop("t");
    int64_t events = st.events;
    ok(ramet_stat(T.call, &st));
    cr_assert_eq(st.trees, 2);
    cr_assert_eq(st.sessions, 2);
    cr_assert_eq(st.forks, 1);
    cr_assert_eq(st.deleted, 1);
    cr_assert_eq(st.branches, 4);
    cr_assert_eq(st.entries, 2);
    cr_assert_gt(st.events, events);
    cr_assert_geq(st.writes, 7);
    cr_assert_leq(st.commits, st.writes);
    cr_assert_gt(st.commits, 0);
}
