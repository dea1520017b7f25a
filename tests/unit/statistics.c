/* SPDX-License-Identifier: Apache-2.0
 *
 * statistics.c: who did what in the last days, and that nobody sees the work of others' trees.
 */
#include "help.h"

#include <stdio.h>

TestSuite(statistics, .init = scratch_open, .fini = scratch_close);

static ramet_activity look(ramet_call *c, int days)
{
    ramet_activity a;
    ok_for(c, ramet_statistics(c, days, &a));
    return a;
}

static void write_as(const char *user, const char *session, const char *text)
{
    ramet_call *c = ramet_call_new(T.store, user, NULL);
    ramet_append_out out;
    ramet_entry_in in = {.role = RAMET_USER, .text = text};
    tick(SECOND);
    ok_for(c, ramet_append(c, session, &(ramet_append_in){.entries = &in, .n = 1}, &out));
    ramet_call_free(c);
}

static void fork_as(const char *user, const char *session, const char *id, ramet_visibility v)
{
    ramet_call *c = ramet_call_new(T.store, user, NULL);
    ramet_session *s;
    tick(SECOND);
    ok_for(c, ramet_fork(c, session, &(ramet_fork_in){.id = id, .visibility = v}, &s, NULL));
    ramet_call_free(c);
}

static void rewind_as(const char *user, const char *session)
{
    ramet_call *c = ramet_call_new(T.store, user, NULL);
    ramet_session *s;
    tick(SECOND);
    ok_for(c, ramet_rewind(c, session, &(ramet_move_in){0}, &s, NULL));
    ramet_call_free(c);
}

Test(statistics, an_empty_store_is_quiet)
{
    ramet_activity a = look(T.call, 0);
    cr_assert_eq(a.days, 30);
    cr_assert_eq(a.active_users + a.sessions + a.forks + a.trees + a.entries, 0);
    cr_assert_eq(a.forks_per_tree, 0);
    ramet_activity out;
    refused(RAMET_INVALID, "days", ramet_statistics(T.call, -1, &out));
    refused(RAMET_INVALID, "days", ramet_statistics(T.call, 367, &out));
    ok(ramet_statistics(T.call, 366, &out));
}

/* ann has two trees; bob and cat write in the first one, dan in his own. */
static void stage(void)
{
    make("a1");
    make("a2");
    join("a1", "bob", RAMET_WRITER);
    join("a1", "cat", RAMET_WRITER);
    tick(SECOND);
    ramet_session *s;
    ok(ramet_session_create(T.call, &(ramet_session_in){.id = "d1", .owner = "dan"}, &s));
    write_as("ann", "a1", "one");
    write_as("bob", "a1", "two");
    answer("a1", "x", "an answer has no user");
    fork_as("cat", "a1", "c1", RAMET_TREE_VISIBLE);
    fork_as("cat", "a1", "c2", RAMET_PRIVATE);
    rewind_as("bob", "a1");
    write_as("dan", "d1", "mine");
}

Test(statistics, it_counts_who_wrote_forked_and_moved)
{
    stage();
    ramet_activity a = look(T.call, 7);
    cr_assert_eq(a.active_users, 4);
    cr_assert_eq(a.forked_users, 1);
    cr_assert_eq(a.switched_users, 1);
    cr_assert_eq(a.sessions, 5);
    cr_assert_eq(a.forks, 2);
    cr_assert_eq(a.trees, 3);
    cr_assert_eq(a.entries, 4);
    cr_assert_float_eq(a.forks_per_tree, 2.0 / 3, 1e-9);
}

Test(statistics, over_what_the_caller_may_see)
{
    stage();
    ramet_activity ann = look(as("ann"), 7), bob = look(as("bob"), 7), cat = look(as("cat"), 7),
                   dan = look(as("dan"), 7), eve = look(as("eve"), 7);
    cr_assert_eq(ann.sessions, 3, "a1, a2 and c1; not cat's private c2");
    cr_assert_eq(ann.forks, 1);
    cr_assert_eq(ann.active_users, 3);
    cr_assert_eq(bob.sessions, 2);
    cr_assert_eq(bob.trees, 1);
    cr_assert_eq(cat.sessions, 3);
    cr_assert_eq(cat.forks, 2);
    cr_assert_eq(dan.sessions, 1);
    cr_assert_eq(dan.entries, 1);
    cr_assert_eq(dan.active_users, 1);
    cr_assert_eq(eve.sessions + eve.entries + eve.active_users + eve.trees, 0);
}

Test(statistics, what_is_older_does_not_count)
{
    stage();
    tick(10 * DAY);
    ramet_activity a = look(T.call, 7);
    cr_assert_eq(a.active_users + a.sessions + a.entries + a.forks + a.switched_users, 0);
    for (int i = 0; i < 300; i++)
        write_as(i % 2 ? "bob" : "ann", "a1", "again");
    a = look(T.call, 7);
    cr_assert_eq(a.entries, 300);
    cr_assert_eq(a.active_users, 2);
    cr_assert_eq(a.switched_users, 0, "the rewind was before that");
    cr_assert_eq(a.sessions, 0);
    a = look(T.call, 30);
    cr_assert_eq(a.entries, 304);
    cr_assert_eq(a.active_users, 4);
    cr_assert_eq(a.switched_users, 1);
}

Test(statistics, entries_of_left_branches_count_and_deleted_sessions_do_not)
{
    make("s");
    say("s", "a b c");
    rewind_to("s", "a");
    say("s", "d");
    ramet_activity a = look(T.call, 1);
    cr_assert_eq(a.entries, 4);
    fork_at("s", NULL, "f");
    say("f", "e");
    cr_assert_eq(look(T.call, 1).entries, 5, "shared ones count once");
    drop("f");
    a = look(T.call, 1);
    cr_assert_eq(a.entries, 4);
    cr_assert_eq(a.forks, 0);
}

Test(statistics, edits_are_work_but_no_switch)
{
    make("s");
    say("s", "a b");
    ramet_call *ann = as("ann");
    ramet_append_out out;
    ramet_entry_in in = {.role = RAMET_USER, .text = "x", .author = "ann"};
    ok_for(ann, ramet_edit(ann, "s", "b", &in, NULL, &out));
    ramet_activity a = look(T.call, 1);
    cr_assert_eq(a.active_users, 1);
    cr_assert_eq(a.switched_users, 0);
    ramet_session *s;
    ok_for(ann, ramet_undo(ann, "s", NULL, &s));
    cr_assert_eq(look(T.call, 1).switched_users, 1);
}
