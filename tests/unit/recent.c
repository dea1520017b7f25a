/* SPDX-License-Identifier: Apache-2.0
 *
 * recent.c: the store remembers the sessions that were appended to last. Whatever happens to one
 * between two appends, here or through another opening of the same file, the second append sees it.
 */
#include "help.h"

static ramet *other; /* a second opening, as of another process */
static ramet_call *there;

static void both_open(void)
{
    scratch_open();
    ramet_options o = scratch_options();
    cr_assert_eq(ramet_open(T.path, &o, &other, NULL), RAMET_OK);
    there = ramet_call_new(other, NULL, NULL);
}

static void both_close(void)
{
    ramet_call_free(there);
    ramet_close(other);
    scratch_close();
}

TestSuite(recent, .init = both_open, .fini = both_close);

static ramet_status append_to(ramet_call *c, const char *session, const char *id, ramet_log log,
                              int64_t branch)
{
    ramet_entry_in e = {.id = id, .role = RAMET_USER, .text = id};
    ramet_append_in in = {.entries = &e, .n = 1, .log = log, .branch = branch};
    ramet_append_out out;
    return ramet_append(c, session, &in, &out);
}

static ramet_status append_as(ramet_call *c, const char *id)
{
    return append_to(c, "s", id, RAMET_LOG_MAIN, 0);
}

Test(recent, appends_of_two_openings_follow_each_other)
{
    make("s");
    ok(append_as(T.call, "a"));
    ok_for(there, append_as(there, "b"));
    ok(append_as(T.call, "c"));
    ok(append_as(T.call, "d"));
    ok_for(there, append_as(there, "e"));
    cr_assert_str_eq(ids("s"), "a b c d e");
}

Test(recent, a_move_made_elsewhere_is_seen)
{
    make("s");
    say("s", "a b c");
    ramet_session *s;
    ramet_move_in move = {.at = {.entry_id = "a"}};
    ok_for(there, ramet_rewind(there, "s", &move, &s, NULL));
    ok(append_as(T.call, "d"));
    cr_assert_str_eq(ids("s"), "a d");
    ok(ramet_undo(T.call, "s", NULL, &s));
    ok(append_as(T.call, "e"));
    cr_assert_str_eq(ids("s"), "a b c e");
}

Test(recent, a_level_that_was_taken_is_gone)
{
    make("s");
    join("s", "bob", RAMET_WRITER);
    ramet_call *bob = as("bob"), *ann = as("ann");
    ok_for(bob, append_as(bob, "a"));
    ok_for(ann, append_as(ann, "b"));
    ok_for(there, ramet_member_set(there, "s", "bob", RAMET_READER));
    refused_for(bob, RAMET_FORBIDDEN, "session", append_as(bob, "c"));
    ok_for(ann, append_as(ann, "d"));
    refused_for(bob, RAMET_FORBIDDEN, "session", append_as(bob, "e"));
    ramet_call *eve = as("eve");
    refused_for(eve, RAMET_HIDDEN, "session", append_as(eve, "f"));
    join("s", "bob", RAMET_WRITER);
    ok_for(bob, append_as(bob, "g"));
    cr_assert_str_eq(ids("s"), "a b d g");
}

Test(recent, a_session_that_was_deleted_or_has_expired_is_gone)
{
    make("s");
    ok(append_as(T.call, "a"));
    ramet_delete_out gone;
    ok_for(there, ramet_session_delete(there, "s", false, false, &gone));
    refused(RAMET_SESSION_NOT_FOUND, "session", append_as(T.call, "b"));
    ramet_session_in in = {.id = "short", .owner = "ann", .ephemeral_us = DAY};
    ramet_session *s;
    ok(ramet_session_create(T.call, &in, &s));
    ok(append_to(T.call, "short", "a", RAMET_LOG_MAIN, 0));
    tick(2 * DAY);
    refused(RAMET_SESSION_NOT_FOUND, "session", append_to(T.call, "short", "b", RAMET_LOG_MAIN, 0));
}

/* A fork by its owner, of what he was told last. */
static ramet_status fork_by(ramet_call *c, const char **id)
{
    ramet_session *made;
    ramet_fork_in in = {0};
    ramet_status st = ramet_fork(c, "s", &in, &made, NULL);
    *id = st == RAMET_OK ? made->id : NULL;
    return st;
}

Test(recent, a_fork_has_what_was_appended_elsewhere)
{
    const char *id;
    make("s");
    ok(append_as(T.call, "a"));
    ramet_call *ann = as("ann");
    ok_for(ann, fork_by(ann, &id));
    ok_for(ann, fork_by(ann, &id));
    cr_assert_str_eq(ids(id), "a");
    ok_for(there, append_as(there, "b"));
    ok_for(ann, fork_by(ann, &id));
    cr_assert_str_eq(ids(id), "a b");
    ramet_session *s;
    ramet_move_in move = {.at = {.entry_id = "a"}};
    ok_for(there, ramet_rewind(there, "s", &move, &s, NULL));
    ok_for(ann, fork_by(ann, &id));
    cr_assert_str_eq(ids(id), "a");
}

Test(recent, a_session_that_was_taken_elsewhere_is_not_forked)
{
    const char *id;
    ramet_delete_out gone;
    make("s");
    join("s", "bob", RAMET_WRITER);
    ramet_call *bob = as("bob"), *ann = as("ann");
    ok(append_as(T.call, "a"));
    ok_for(bob, fork_by(bob, &id));
    ok_for(bob, fork_by(bob, &id));
    ok_for(there, ramet_member_remove(there, "s", "bob"));
    refused_for(bob, RAMET_HIDDEN, "session", fork_by(bob, &id));
    ok_for(ann, fork_by(ann, &id));
    ok_for(ann, fork_by(ann, &id));
    ok_for(there, ramet_session_delete(there, "s", false, false, &gone));
    refused_for(ann, RAMET_SESSION_NOT_FOUND, "session", fork_by(ann, &id));
}

/* Appends to other branches change rows that the one to the head looks at. */
Test(recent, other_branches_and_the_adk_log_between)
{
    make("s");
    say("s", "a b");
    int64_t old = get("s")->head.branch;
    rewind_to("s", "a");
    ok(append_as(T.call, "c"));
    ok(append_to(T.call, "s", "d", RAMET_LOG_MAIN, old));
    ok(append_as(T.call, "e"));
    ok(append_to(T.call, "s", "x", RAMET_LOG_ADK, 0));
    ok(append_to(T.call, "s", "y", RAMET_LOG_ADK, 0));
    ok(append_as(T.call, "f"));
    cr_assert_str_eq(ids("s"), "a c e f");
    cr_assert_str_eq(ids_on("s", old), "a b d");
    ramet_fsck_out out;
    ok(ramet_fsck(T.call, NULL, NULL, &out));
    cr_assert_eq(out.n_all, 0);
}
