/* SPDX-License-Identifier: Apache-2.0
 *
 * turn.c: turns: written to their own branch, ended once, seen by those who may.
 */
#include "turn.h"

#include "link.h"

#include <stdio.h>

TestSuite(turn, .init = scratch_open, .fini = scratch_close);

/* ---- steps and looks */

ramet_append_out turn_out;

ramet_turn *turn_start(const char *session, const ramet_turn_in *in)
{
    ramet_turn *t = NULL;
    tick(SECOND);
    ok(ramet_turn_begin(T.call, session, in, &t, &turn_out));
    cr_assert_not_null(t);
    return t;
}

ramet_status turn_speak_as(ramet_call *c, const char *turn, const char *id)
{
    ramet_entry_in in = {.id = id, .role = RAMET_ASSISTANT, .text = id};
    return ramet_turn_append(c, turn, &in, 1, &turn_out);
}

void turn_speak(const char *turn, const char *id)
{
    tick(SECOND);
    ok(turn_speak_as(T.call, turn, id));
}

void turn_stop(const char *turn, ramet_turn_status status)
{
    tick(SECOND);
    ok(ramet_turn_end(T.call, turn, status, NULL, NULL, 0, &turn_out));
}

ramet_turn *turn_look(const char *session, const char *turn)
{
    ramet_turn *t = NULL;
    ok(ramet_turn_get(T.call, session, turn, &t));
    return t;
}

ramet_turn *turn_running(const char *session)
{
    ramet_turn *t = NULL;
    ok(ramet_turn_running(T.call, session, &t));
    return t;
}

int64_t turn_count(void)
{
    return sql_number("SELECT count(*) FROM turn");
}

void turn_fsck(void)
{
    ramet_fsck_out f;
    ok(ramet_fsck(T.call, NULL, NULL, &f));
    cr_assert_eq(f.n_all, 0, "%s", f.n ? f.faults[0].what : "");
}

void turn_refused(ramet_call *c, ramet_status status, const char *field, const char *session,
                  const ramet_turn_in *in)
{
    ramet_turn *t = (ramet_turn *)&turn_out;
    const char *before = mark();
    int64_t n = turn_count();
    refused_for(c, status, field, ramet_turn_begin(c, session, in, &t, &turn_out));
    cr_assert_null(t);
    cr_assert_eq(turn_out.n, 0);
    cr_assert_str_eq(mark(), before);
    cr_assert_eq(turn_count(), n);
}

/* ---- writing and ending */

Test(turn, writes_and_ends)
{
    make("s");
    ramet_turn *t = turn_start("s", &(ramet_turn_in){.id = "t1", MESSAGE("u1")});
    turn_speak("t1", "a1");
    cr_assert_str_eq(turn_out.entries[0].turn_id, "t1");
    cr_assert_eq(turn_out.head.branch, t->branch);
    ramet_entry_in last = {.id = "a2", .role = RAMET_ASSISTANT, .text = "a2"};
    tick(SECOND);
    ok(ramet_turn_end(T.call, "t1", RAMET_TURN_DONE, NULL, &last, 1, &turn_out));
    cr_assert_eq(turn_out.added, 1);
    cr_assert_str_eq(turn_out.entries[0].turn_id, "t1");
    cr_assert_str_eq(ids("s"), "u1 a1 a2");
    t = turn_look("s", "t1");
    cr_assert_eq(t->status, RAMET_TURN_DONE);
    cr_assert_eq(t->ended, T.now);
    cr_assert_str_eq(t->error, "");
    cr_assert_null(turn_running("s"));
    turn_fsck();
}

Test(turn, a_word_after_the_end_is_refused)
{
    static const ramet_turn_status ends[] = {RAMET_TURN_DONE, RAMET_TURN_CANCELLED,
                                             RAMET_TURN_FAILED, RAMET_TURN_INTERRUPTED};
    make("s");
    for (size_t i = 0; i < 4; i++) {
        char id[8];
        snprintf(id, sizeof id, "t%zu", i);
        turn_start("s", &(ramet_turn_in){
                            .id = id, .entries = &(ramet_entry_in){.role = RAMET_USER}, .n = 1});
        turn_stop(id, ends[i]);
        cr_assert_eq(turn_look("s", id)->status, ends[i]);
        const char *before = mark();
        refused(RAMET_TURN_OVER, "turn", turn_speak_as(T.call, id, "late"));
        cr_assert_str_eq(mark(), before);
    }
}

Test(turn, ending_twice_changes_nothing)
{
    make("s");
    turn_start("s", &(ramet_turn_in){.id = "t1", MESSAGE("u1")});
    tick(SECOND);
    ok(ramet_turn_end(T.call, "t1", RAMET_TURN_FAILED, "no route", NULL, 0, &turn_out));
    cr_assert_str_eq(turn_out.head.entry_id, "u1");
    int64_t ended = T.now;
    const char *before = mark();
    ramet_entry_in last = {.role = RAMET_ASSISTANT, .text = "late"};
    tick(SECOND);
    ok(ramet_turn_end(T.call, "t1", RAMET_TURN_DONE, "other", &last, 1, &turn_out));
    cr_assert_eq(turn_out.n, 0);
    cr_assert_eq(turn_out.added, 0);
    cr_assert_str_eq(turn_out.head.entry_id, "u1");
    cr_assert_str_eq(mark(), before);
    ramet_turn *t = turn_look("s", "t1");
    cr_assert_eq(t->status, RAMET_TURN_FAILED);
    cr_assert_str_eq(t->error, "no route");
    cr_assert_eq(t->ended, ended);
}

Test(turn, bad_words_and_ends_are_named)
{
    make("s");
    turn_start("s", &(ramet_turn_in){.id = "t1", MESSAGE("u1")});
    refused(RAMET_INVALID, "entries", ramet_turn_append(T.call, "t1", NULL, 0, &turn_out));
    refused(RAMET_TURN_NOT_FOUND, "turn", turn_speak_as(T.call, "nope", "a"));
    refused(RAMET_TURN_NOT_FOUND, "turn",
            ramet_turn_end(T.call, "nope", RAMET_TURN_DONE, NULL, NULL, 0, &turn_out));
    refused(RAMET_BAD_ID, "turn", turn_speak_as(T.call, "", "a"));
    refused(RAMET_BAD_ID, "turn",
            ramet_turn_end(T.call, NULL, RAMET_TURN_DONE, NULL, NULL, 0, &turn_out));
    refused(RAMET_INVALID, "status",
            ramet_turn_end(T.call, "t1", RAMET_TURN_RUNNING, NULL, NULL, 0, &turn_out));
    refused(RAMET_INVALID, "status",
            ramet_turn_end(T.call, "t1", (ramet_turn_status)6, NULL, NULL, 0, &turn_out));
    char text[2002];
    memset(text, 'x', 2001);
    text[2001] = 0;
    refused(RAMET_TOO_LARGE, "error",
            ramet_turn_end(T.call, "t1", RAMET_TURN_FAILED, text, NULL, 0, &turn_out));
    refused(RAMET_INVALID, "entries[0].role",
            ramet_turn_append(T.call, "t1", &(ramet_entry_in){.text = "x"}, 1, &turn_out));
    cr_assert_eq(turn_look("s", "t1")->status, RAMET_TURN_RUNNING);
    text[2000] = 0;
    ok(ramet_turn_end(T.call, "t1", RAMET_TURN_FAILED, text, NULL, 0, &turn_out));
}

Test(turn, a_repeated_word_is_written_once)
{
    make("s");
    turn_start("s", &(ramet_turn_in){.id = "t1", MESSAGE("u1")});
    turn_speak("t1", "a1");
    turn_speak("t1", "a1");
    cr_assert_eq(turn_out.added, 0);
    cr_assert_str_eq(ids("s"), "u1 a1");
}

/* ---- late words land where the turn began */

Test(turn, rewind_in_mid_turn_leaves_the_head_alone)
{
    make("s");
    say("s", "a");
    int64_t old = turn_start("s", &(ramet_turn_in){.id = "t1", MESSAGE("u1")})->branch;
    turn_speak("t1", "w1");
    int64_t head = rewind_to("s", "a");
    const char *before = dump("s", 0);
    turn_speak("t1", "w2");
    cr_assert_eq(turn_out.head.branch, old);
    ramet_entry_in last = {.id = "w3", .role = RAMET_ASSISTANT, .text = "w3"};
    ok(ramet_turn_end(T.call, "t1", RAMET_TURN_CANCELLED, NULL, &last, 1, &turn_out));
    cr_assert_eq(get("s")->head.branch, head);
    cr_assert_str_eq(dump("s", 0), before);
    cr_assert_str_eq(ids_on("s", old), "a u1 w1 w2 w3");
    say("s", "b");
    cr_assert_str_eq(ids("s"), "a b");
    ramet_session *x;
    ok(ramet_undo(T.call, "s", NULL, &x));
    cr_assert_str_eq(ids("s"), "a u1 w1 w2 w3");
    turn_fsck();
}

Test(turn, edit_switch_fork_and_regenerate_in_mid_turn)
{
    make("s");
    say("s", "a");
    int64_t old = turn_start("s", &(ramet_turn_in){.id = "t1", MESSAGE("u1")})->branch;
    turn_speak("t1", "w1");
    turn_start("s", &(ramet_turn_in){.id = "t2", .regenerate = ""});
    turn_speak("t2", "v1");
    turn_speak("t1", "w2");
    cr_assert_str_eq(ids("s"), "a u1 v1");
    turn_start("s", &(ramet_turn_in){.id = "t3", .replace = "u1", MESSAGE("u2")});
    turn_speak("t1", "w3");
    turn_speak("t3", "x1");
    turn_speak("t2", "v2");
    fork_at("s", NULL, "f");
    turn_speak("t3", "x2");
    cr_assert_str_eq(ids("s"), "a u2 x1 x2");
    cr_assert_str_eq(ids("f"), "a u2 x1");
    cr_assert_str_eq(ids_on("s", old), "a u1 w1 w2 w3");
    cr_assert_str_eq(ids_on("s", turn_look("s", "t2")->branch), "a u1 v1 v2");
    turn_fsck();
}
/* ---- reading */

Test(turn, the_list_is_newest_first)
{
    make("s");
    make("other");
    static const char *const names[] = {"z", "m", "a"};
    ramet_turn *t;
    size_t n;
    for (int i = 0; i < 3; i++) {
        ok(ramet_turn_begin(T.call, "s", &(ramet_turn_in){.id = names[i]}, &t, &turn_out));
        ok(ramet_turn_end(T.call, names[i], RAMET_TURN_DONE, NULL, NULL, 0, &turn_out));
        T.now -= SECOND; /* the clock goes back */
    }
    turn_start("other", &(ramet_turn_in){.id = "o"});
    ok(ramet_turns(T.call, "s", 0, &t, &n));
    cr_assert_eq(n, 3);
    for (size_t i = 0; i < 3; i++) {
        cr_assert_str_eq(t[i].id, names[2 - i]);
        cr_assert_str_eq(t[i].session, "s");
        cr_assert_geq(t[i].ended, t[i].started);
    }
    ok(ramet_turns(T.call, "s", 2, &t, &n));
    cr_assert_eq(n, 2);
    cr_assert_str_eq(t[0].id, "a");
    refused(RAMET_INVALID, "limit", ramet_turns(T.call, "s", 1001, &t, &n));
    refused(RAMET_INVALID, "limit", ramet_turns(T.call, "s", -1, &t, &n));
    cr_assert_eq(n, 0);
}

Test(turn, a_turn_is_of_one_session)
{
    make("s");
    turn_start("s", &(ramet_turn_in){.id = "t1", MESSAGE("u1")});
    fork_at("s", NULL, "f");
    ramet_turn *t;
    size_t n;
    refused(RAMET_TURN_NOT_FOUND, "turn", ramet_turn_get(T.call, "f", "t1", &t));
    cr_assert_null(t);
    refused(RAMET_TURN_NOT_FOUND, "turn", ramet_turn_get(T.call, "s", "nope", &t));
    refused(RAMET_BAD_ID, "turn", ramet_turn_get(T.call, "s", "", &t));
    ok(ramet_turns(T.call, "f", 0, &t, &n));
    cr_assert_eq(n, 0);
}

Test(turn, statuses_have_names)
{
    cr_assert_str_eq(ramet_turn_status_name(RAMET_TURN_RUNNING), "running");
    cr_assert_str_eq(ramet_turn_status_name(RAMET_TURN_DONE), "done");
    cr_assert_str_eq(ramet_turn_status_name(RAMET_TURN_CANCELLED), "cancelled");
    cr_assert_str_eq(ramet_turn_status_name(RAMET_TURN_FAILED), "failed");
    cr_assert_str_eq(ramet_turn_status_name(RAMET_TURN_INTERRUPTED), "interrupted");
    cr_assert_str_eq(ramet_turn_status_name((ramet_turn_status)0), "unknown");
    cr_assert_str_eq(ramet_turn_status_name((ramet_turn_status)6), "unknown");
}

/* Only what is appended and moved is an event. */
Test(turn, begins_and_ends_are_no_events)
{
    make("s");
    int64_t from = ramet_event_last(T.store);
    turn_start("s", &(ramet_turn_in){.id = "t1", MESSAGE("u1")});
    turn_speak("t1", "a1");
    turn_stop("t1", RAMET_TURN_DONE);
    turn_start("s", &(ramet_turn_in){.id = "t2", .regenerate = ""});
    turn_stop("t2", RAMET_TURN_CANCELLED);
    ramet_events_out e;
    ok(ramet_events(T.call, &(ramet_events_in){.after = from}, &e));
    cr_assert_eq(e.n, 3);
    cr_assert_eq(e.items[0].kind, RAMET_EVENT_APPENDED);
    cr_assert_str_eq(e.items[0].entries[0].turn_id, "t1");
    cr_assert_eq(e.items[1].kind, RAMET_EVENT_APPENDED);
    cr_assert_eq(e.items[2].kind, RAMET_EVENT_REWOUND);
}

/* ---- who may */

Test(turn, access_is_the_sessions)
{
    make("s");
    join("s", "wil", RAMET_WRITER);
    join("s", "rita", RAMET_READER);
    ramet_call *wil = as("wil"), *rita = as("rita"), *eve = as("eve");
    ramet_turn *t;
    size_t n;
    turn_refused(rita, RAMET_FORBIDDEN, "session", "s", &(ramet_turn_in){MESSAGE("u")});
    turn_refused(eve, RAMET_HIDDEN, "session", "s", &(ramet_turn_in){MESSAGE("u")});
    turn_refused(eve, RAMET_HIDDEN, "session", "s", &(ramet_turn_in){.regenerate = ""});
    ok_for(wil,
           ramet_turn_begin(wil, "s", &(ramet_turn_in){.id = "t1", MESSAGE("u1")}, &t, &turn_out));
    refused_for(rita, RAMET_FORBIDDEN, NULL, turn_speak_as(rita, "t1", "x"));
    refused_for(rita, RAMET_FORBIDDEN, NULL,
                ramet_turn_end(rita, "t1", RAMET_TURN_DONE, NULL, NULL, 0, &turn_out));
    ok_for(rita, ramet_turn_get(rita, "s", "t1", &t));
    cr_assert_str_eq(t->by, "wil");
    ok_for(rita, ramet_turns(rita, "s", 0, &t, &n));
    ok_for(rita, ramet_turn_running(rita, "s", &t));
    cr_assert_str_eq(t->id, "t1");
    refused_for(eve, RAMET_TURN_NOT_FOUND, NULL, turn_speak_as(eve, "t1", "x"));
    const char *m = ramet_call_error(eve)->message;
    cr_assert_str_eq(m, "there is no turn t1", "nor is the session told");
    refused_for(eve, RAMET_TURN_NOT_FOUND, NULL,
                ramet_turn_end(eve, "t1", RAMET_TURN_DONE, NULL, NULL, 0, &turn_out));
    refused_for(eve, RAMET_HIDDEN, NULL, ramet_turn_get(eve, "s", "t1", &t));
    refused_for(eve, RAMET_HIDDEN, NULL, ramet_turns(eve, "s", 0, &t, &n));
    refused_for(eve, RAMET_HIDDEN, NULL, ramet_turn_running(eve, "s", &t));
    ok_for(wil, turn_speak_as(wil, "t1", "a1"));
    ok(ramet_member_remove(T.call, "s", "wil"));
    refused_for(wil, RAMET_TURN_NOT_FOUND, NULL, turn_speak_as(wil, "t1", "a2"));
    int64_t done;
    refused_for(rita, RAMET_FORBIDDEN, NULL, ramet_turns_interrupt(rita, NULL, &done));
}

Test(turn, a_link_for_writing_begins_turns)
{
    link_stage();
    ramet_share *write = link_make("s", true, 0);
    ramet_call *eve = link_hold("eve", write), *bob = link_hold("bob", link_make("s", false, 0));
    ramet_turn *t;
    size_t n;
    ramet_turn_in in = {.id = "t1", .group = "g", MESSAGE("u1")};
    turn_refused(bob, RAMET_FORBIDDEN, NULL, "s", &in);
    ok_for(eve, ramet_turn_begin(eve, "s", &in, &t, &turn_out));
    ok_for(eve, turn_speak_as(eve, "t1", "a1"));
    refused_for(bob, RAMET_FORBIDDEN, NULL, turn_speak_as(bob, "t1", "x"));
    ok_for(bob, ramet_turn_get(bob, "s", "t1", &t));
    cr_assert_null(t->by, "a link does not tell who asked");
    cr_assert_null(t->group);
    ok_for(bob, ramet_turns(bob, "s", 0, &t, &n));
    cr_assert_null(t->by);
    ok_for(bob, ramet_turn_running(bob, "s", &t));
    cr_assert_null(t->by);
    ok_for(eve, ramet_turn_end(eve, "t1", RAMET_TURN_DONE, NULL, NULL, 0, &turn_out));
    ok_for(eve, ramet_turn_begin(eve, "s", &(ramet_turn_in){.id = "t2", .regenerate = ""}, &t,
                                 &turn_out));
    ok(ramet_share_revoke(T.call, "s", write->id));
    refused_for(eve, RAMET_TURN_NOT_FOUND, NULL, turn_speak_as(eve, "t2", "x"));
    refused_for(eve, RAMET_HIDDEN, NULL, ramet_turn_get(eve, "s", "t2", &t));
    turn_refused(eve, RAMET_HIDDEN, NULL, "s", &(ramet_turn_in){.replace = "a", MESSAGE("z")});
}

/* ---- restarts */

Test(turn, what_a_server_left_running_is_interrupted)
{
    make("s");
    make("other");
    turn_start("s", &(ramet_turn_in){.id = "t0", .host = "one", MESSAGE("u0")});
    turn_stop("t0", RAMET_TURN_DONE);
    turn_start("s", &(ramet_turn_in){.id = "t1", .host = "one", MESSAGE("u1")});
    turn_speak("t1", "half");
    turn_start("other", &(ramet_turn_in){.id = "t2", .host = "two", MESSAGE("u2")});
    scratch_reopen(NULL);
    cr_assert_eq(turn_look("s", "t1")->status, RAMET_TURN_RUNNING);
    int64_t n;
    tick(SECOND);
    ok(ramet_turns_interrupt(T.call, "one", &n));
    cr_assert_eq(n, 1);
    ramet_turn *t = turn_look("s", "t1");
    cr_assert_eq(t->status, RAMET_TURN_INTERRUPTED);
    cr_assert_eq(t->ended, T.now);
    cr_assert_str_eq(ids("s"), "u0 u1 half", "what came so far stands");
    cr_assert_eq(turn_look("s", "t0")->status, RAMET_TURN_DONE);
    cr_assert_eq(turn_look("other", "t2")->status, RAMET_TURN_RUNNING);
    refused(RAMET_TURN_OVER, NULL, turn_speak_as(T.call, "t1", "late"));
    turn_start("s", &(ramet_turn_in){.id = "t3", MESSAGE("u3")}); /* without a host */
    ok(ramet_turns_interrupt(T.call, "one", &n));
    cr_assert_eq(n, 0);
    ok(ramet_turns_interrupt(T.call, NULL, &n));
    cr_assert_eq(n, 2);
    cr_assert_null(turn_running("s"));
    cr_assert_null(turn_running("other"));
}

Test(turn, many_are_interrupted, .timeout = 60)
{
    make("s");
    say("s", "u");
    ramet_turn *t;
    for (int i = 0; i < 1100; i++)
        ok(ramet_turn_begin(T.call, "s", &(ramet_turn_in){.host = "h", .regenerate = ""}, &t,
                            &turn_out));
    int64_t n;
    ok(ramet_turns_interrupt(T.call, "h", &n));
    cr_assert_eq(n, 1100);
    cr_assert_eq(sql_number("SELECT count(*) FROM turn WHERE status=5"), 1100);
}

/* ---- life and death of the session */

Test(turn, a_deleted_session_takes_no_more_words)
{
    make("s");
    turn_start("s", &(ramet_turn_in){.id = "t1", MESSAGE("u1")});
    drop("s");
    ramet_entry_in word = {.role = RAMET_ASSISTANT, .text = "late"};
    const char *before = mark();
    refused(RAMET_SESSION_NOT_FOUND, "turn", turn_speak_as(T.call, "t1", "late"));
    refused(RAMET_SESSION_NOT_FOUND, "turn",
            ramet_turn_end(T.call, "t1", RAMET_TURN_DONE, NULL, &word, 1, &turn_out));
    ramet_call *ann = as("ann");
    refused_for(ann, RAMET_SESSION_NOT_FOUND, "turn",
                ramet_turn_end(ann, "t1", RAMET_TURN_DONE, NULL, NULL, 0, &turn_out));
    cr_assert_str_eq(mark(), before);
    ramet_session *s;
    ok(ramet_session_restore(T.call, "s", false, &s));
    cr_assert_str_eq(turn_running("s")->id, "t1", "as if nothing had been");
    turn_speak("t1", "a1");
    drop("s");
    turn_stop("t1", RAMET_TURN_CANCELLED);
    ok(ramet_session_restore(T.call, "s", false, &s));
    cr_assert_null(turn_running("s"));
    cr_assert_eq(turn_look("s", "t1")->status, RAMET_TURN_CANCELLED);
    cr_assert_str_eq(ids("s"), "u1 a1");
}

Test(turn, gc_takes_the_turns_of_a_session_that_is_gone)
{
    make("p");
    say("p", "a");
    fork_at("p", NULL, "f");
    fork_at("p", NULL, "g");
    turn_start("p", &(ramet_turn_in){.id = "t1", MESSAGE("u1")});
    turn_start("f", &(ramet_turn_in){.id = "t2", MESSAGE("u2")});
    turn_start("g", &(ramet_turn_in){.id = "t3", MESSAGE("u3")});
    drop("p"); /* a tombstone is left of it, as its forks are there */
    drop("g");
    tick(30 * DAY);
    ramet_gc_out gc;
    ok(ramet_gc(T.call, false, NULL, NULL, &gc));
    cr_assert_eq(gc.sessions, 2);
    cr_assert_eq(turn_count(), 1);
    refused(RAMET_TURN_NOT_FOUND, NULL, turn_speak_as(T.call, "t1", "late"));
    turn_speak("t2", "a2");
    turn_fsck();
}

/* ---- damage */

Test(turn, fsck_finds_turns_that_hang_in_the_air)
{
    static const char *const harm[] = {"UPDATE turn SET branch=999", "UPDATE turn SET session=999",
                                       "UPDATE turn SET status=9"};
    static const char *const told[] = {"branch that turn t1 writes to is missing",
                                       "a turn belongs to no session",
                                       "turn t1 has no known status"};
    make("s");
    turn_start("s", &(ramet_turn_in){.id = "t1", MESSAGE("u1")});
    for (size_t i = 0; i < 3; i++) {
        sql_run(T.path, "CREATE TABLE kept AS SELECT * FROM turn");
        sql_run(T.path, harm[i]);
        ramet_fsck_out f;
        ok(ramet_fsck(T.call, NULL, NULL, &f));
        cr_assert_eq(f.n_all, 1);
        cr_assert(strstr(f.faults[0].what, told[i]), "%s", f.faults[0].what);
        if (i == 0)
            refused(RAMET_BRANCH_NOT_FOUND, NULL, turn_speak_as(T.call, "t1", "x"));
        sql_run(T.path, "DELETE FROM turn; INSERT INTO turn SELECT * FROM kept; DROP TABLE kept");
    }
    turn_fsck();
}

/* Whatever the row says, a turn never writes to a branch of another session. */
Test(turn, a_branch_of_another_session_is_not_written_to)
{
    make("s");
    say("s", "a");
    fork_at("s", NULL, "f");
    turn_start("s", &(ramet_turn_in){.id = "t1", MESSAGE("u1")});
    char sql[80];
    snprintf(sql, sizeof sql, "UPDATE turn SET branch=%lld", (long long)get("f")->head.branch);
    sql_run(T.path, sql);
    refused(RAMET_BRANCH_NOT_FOUND, NULL, turn_speak_as(T.call, "t1", "x"));
    refused(RAMET_BRANCH_NOT_FOUND, NULL,
            ramet_turn_end(T.call, "t1", RAMET_TURN_DONE, NULL, NULL, 0, &turn_out));
    cr_assert_str_eq(ids("f"), "a");
}
