/* SPDX-License-Identifier: Apache-2.0
 *
 * turn_begin.c: turns begin in one commit with a message, an edit or a regenerate; one on a branch.
 */
#include "turn.h"

#include <pthread.h>
#include <stdio.h>

TestSuite(turn_begin, .init = scratch_open, .fini = scratch_close);

/* ---- beginning */

Test(turn_begin, begins_with_a_message)
{
    make("s");
    ramet_turn *t = turn_start(
        "s",
        &(ramet_turn_in){.id = "t1", .agent = "echo", .group = "g", .host = "h", MESSAGE("u1")});
    cr_assert_str_eq(t->id, "t1");
    cr_assert_str_eq(t->session, "s");
    cr_assert_eq(t->branch, get("s")->head.branch);
    cr_assert_str_eq(t->agent, "echo");
    cr_assert_str_eq(t->group, "g");
    cr_assert_str_eq(t->entry_id, "u1");
    cr_assert_null(t->by);
    cr_assert_eq(t->status, RAMET_TURN_RUNNING);
    cr_assert_str_eq(t->error, "");
    cr_assert_eq(t->started, T.now);
    cr_assert_eq(t->ended, 0);
    cr_assert_eq(turn_out.added, 1);
    cr_assert_str_eq(turn_out.entries[0].turn_id, "t1");
    cr_assert_str_eq(turn_out.head.entry_id, "u1");
    ramet_turn *again = turn_look("s", "t1"), *now = turn_running("s");
    cr_assert_str_eq(again->entry_id, "u1");
    cr_assert_str_eq(again->agent, "echo");
    cr_assert_str_eq(again->session, "s");
    cr_assert_eq(again->started, t->started);
    cr_assert_str_eq(now->id, "t1");
    cr_assert_str_eq(now->session, "s");
    ramet_entry *e;
    ok(ramet_entry_get(T.call, "s", 0, "u1", &e));
    cr_assert_str_eq(e->turn_id, "t1");
    turn_fsck();
}

Test(turn_begin, makes_an_id_and_tells_who_began)
{
    make("s");
    ramet_call *ann = as("ann");
    ramet_turn *t;
    ok_for(ann, ramet_turn_begin(ann, "s", &(ramet_turn_in){MESSAGE("u1")}, &t, &turn_out));
    cr_assert_eq(strlen(t->id), 36);
    cr_assert_str_eq(t->by, "ann");
    cr_assert_null(t->agent);
    cr_assert_null(t->group);
    cr_assert_str_eq(turn_out.entries[0].author, "ann");
    cr_assert_str_eq(turn_look("s", t->id)->by, "ann");
}

Test(turn_begin, its_id_wins_over_a_given_turn_id)
{
    make("s");
    ramet_entry_in in[] = {{.role = RAMET_SYSTEM, .text = "a", .turn_id = "other"},
                           {.role = RAMET_USER, .text = "b"}};
    turn_start("s", &(ramet_turn_in){.id = "t1", .entries = in, .n = 2});
    cr_assert_str_eq(turn_out.entries[0].turn_id, "t1");
    cr_assert_str_eq(turn_out.entries[1].turn_id, "t1");
}

Test(turn_begin, answers_what_is_there)
{
    make("s");
    say("s", "a b");
    const char *before = mark();
    ramet_turn *t = turn_start("s", &(ramet_turn_in){.id = "t1"});
    cr_assert_str_eq(t->entry_id, "b");
    cr_assert_eq(turn_out.n, 0);
    cr_assert_eq(turn_out.head.length, 2);
    cr_assert_str_eq(mark(), before, "no event, no branch");
    make("empty");
    cr_assert_null(turn_start("empty", &(ramet_turn_in){0})->entry_id);
}

Test(turn_begin, begins_only_on_the_history_that_was_seen)
{
    make("s");
    say("s", "a");
    char seen[65];
    strcpy(seen, get("s")->head.hash);
    say("s", "b");
    turn_refused(T.call, RAMET_HEAD_MOVED, NULL, "s",
                 &(ramet_turn_in){.expected_head = seen, MESSAGE("u1")});
    turn_refused(T.call, RAMET_HEAD_MOVED, NULL, "s", &(ramet_turn_in){.expected_head = seen});
    turn_refused(T.call, RAMET_HEAD_MOVED, NULL, "s",
                 &(ramet_turn_in){.expected_head = seen, .regenerate = ""});
    turn_refused(T.call, RAMET_HEAD_MOVED, NULL, "s",
                 &(ramet_turn_in){.expected_head = seen, .replace = "a", MESSAGE("u1")});
    strcpy(seen, get("s")->head.hash);
    turn_start("s", &(ramet_turn_in){.expected_head = seen, MESSAGE("u1")});
}

Test(turn_begin, bad_arguments_are_named)
{
    make("s");
    say("s", "a");
    turn_refused(T.call, RAMET_INVALID, "regenerate", "s",
                 &(ramet_turn_in){.replace = "a", .regenerate = "", MESSAGE("u")});
    turn_refused(T.call, RAMET_INVALID, "entries", "s", &(ramet_turn_in){.replace = "a"});
    turn_refused(T.call, RAMET_BAD_ID, "id", "s", &(ramet_turn_in){.id = ""});
    turn_refused(T.call, RAMET_BAD_ID, "agent", "s", &(ramet_turn_in){.agent = ""});
    turn_refused(T.call, RAMET_BAD_ID, "group", "s", &(ramet_turn_in){.group = "\n"});
    turn_refused(T.call, RAMET_BAD_ID, "host", "s", &(ramet_turn_in){.host = ""});
    turn_refused(T.call, RAMET_BAD_ID, "replace", "s",
                 &(ramet_turn_in){.replace = "", MESSAGE("u")});
    turn_refused(T.call, RAMET_ENTRY_NOT_FOUND, "replace", "s",
                 &(ramet_turn_in){.replace = "nope", MESSAGE("u")});
    turn_refused(
        T.call, RAMET_ENTRY_NOT_FOUND, "replace", "s",
        &(ramet_turn_in){.replace = "nope", .entries = &(ramet_entry_in){.text = "x"}, .n = 1});
    turn_refused(T.call, RAMET_ENTRY_NOT_FOUND, "regenerate", "s",
                 &(ramet_turn_in){.regenerate = "nope"});
    turn_refused(T.call, RAMET_INVALID, "entries[0].role", "s",
                 &(ramet_turn_in){.entries = &(ramet_entry_in){.text = "x"}, .n = 1});
    turn_refused(T.call, RAMET_SESSION_NOT_FOUND, "session", "nope",
                 &(ramet_turn_in){MESSAGE("u")});
}

Test(turn_begin, a_taken_id_is_refused)
{
    make("s");
    make("other");
    turn_start("s", &(ramet_turn_in){.id = "t1", MESSAGE("u1")});
    turn_refused(T.call, RAMET_INVALID, "id", "other", &(ramet_turn_in){.id = "t1", MESSAGE("u")});
    turn_stop("t1", RAMET_TURN_DONE);
    turn_refused(T.call, RAMET_INVALID, "id", "s", &(ramet_turn_in){.id = "t1", MESSAGE("u2")});
    turn_refused(T.call, RAMET_INVALID, "id", "s", &(ramet_turn_in){.id = "t1", .regenerate = ""});
}

/* ---- one at a time */

Test(turn_begin, a_second_one_on_the_head_branch_is_refused)
{
    make("s");
    turn_start("s", &(ramet_turn_in){.id = "t1", MESSAGE("u1")});
    turn_refused(T.call, RAMET_TURN_RUNNING_ALREADY, "session", "s",
                 &(ramet_turn_in){MESSAGE("u2")});
    ramet_turn *t;
    refused(RAMET_TURN_RUNNING_ALREADY, NULL,
            ramet_turn_begin(T.call, "s", &(ramet_turn_in){MESSAGE("u2")}, &t, &turn_out));
    const char *m = ramet_call_error(T.call)->message;
    cr_assert_str_eq(m + strlen(m) - 2, "t1", "the message ends with its id: %s", m);
    turn_refused(T.call, RAMET_TURN_RUNNING_ALREADY, NULL, "s", &(ramet_turn_in){0});
    turn_stop("t1", RAMET_TURN_DONE);
    turn_start("s", &(ramet_turn_in){.id = "t2", MESSAGE("u2")});
}

Test(turn_begin, one_runs_on_each_branch)
{
    make("s");
    say("s", "a");
    ramet_turn *first = turn_start("s", &(ramet_turn_in){.id = "t1", MESSAGE("u1")});
    int64_t b1 = first->branch;
    rewind_to("s", "a");
    cr_assert_null(turn_running("s"));
    turn_start("s", &(ramet_turn_in){.id = "t2", MESSAGE("u2")});
    cr_assert_str_eq(turn_running("s")->id, "t2");
    ramet_session *x;
    ok(ramet_switch(T.call, "s", b1, NULL, &x));
    cr_assert_str_eq(turn_running("s")->id, "t1");
    turn_refused(T.call, RAMET_TURN_RUNNING_ALREADY, NULL, "s", &(ramet_turn_in){MESSAGE("u3")});
    fork_at("s", NULL, "f");
    cr_assert_null(turn_running("f"), "a fork is another branch");
    turn_start("f", &(ramet_turn_in){MESSAGE("u4")});
}

typedef struct racer {
    ramet_call *c;
    ramet_status got;
} racer;

static void *race(void *arg)
{
    racer *r = arg;
    ramet_turn *t;
    ramet_append_out a;
    r->got = ramet_turn_begin(
        r->c, "s",
        &(ramet_turn_in){.entries = &(ramet_entry_in){.role = RAMET_USER, .text = "x"}, .n = 1}, &t,
        &a);
    return NULL;
}

Test(turn_begin, of_two_that_begin_at_once_one_wins, .timeout = 60)
{
    make("s");
    for (int round = 0; round < 25; round++) {
        pthread_t thread[4];
        racer r[4];
        int won = 0;
        for (int i = 0; i < 4; i++) {
            r[i].c = ramet_call_new(T.store, NULL, NULL);
            cr_assert_eq(pthread_create(&thread[i], NULL, race, &r[i]), 0);
        }
        for (int i = 0; i < 4; i++) {
            pthread_join(thread[i], NULL);
            won += r[i].got == RAMET_OK;
            cr_assert(r[i].got == RAMET_OK || r[i].got == RAMET_TURN_RUNNING_ALREADY);
            ramet_call_free(r[i].c);
        }
        cr_assert_eq(won, 1);
        cr_assert_eq(get("s")->head.length, round + 1, "the losers' messages were not written");
        turn_stop(turn_running("s")->id, RAMET_TURN_DONE);
    }
}

/* ---- a message sent again */

Test(turn_begin, an_unanswered_message_can_be_sent_again)
{
    make("s");
    turn_start("s", &(ramet_turn_in){.id = "t1", MESSAGE("u1")});
    turn_stop("t1", RAMET_TURN_FAILED);
    ramet_turn *t = turn_start("s", &(ramet_turn_in){.id = "t2", MESSAGE("u1")});
    cr_assert_eq(turn_out.added, 0);
    cr_assert_str_eq(turn_out.entries[0].turn_id, "t1", "it is the first one");
    cr_assert_str_eq(t->entry_id, "u1");
    turn_speak("t2", "a1");
    turn_stop("t2", RAMET_TURN_DONE);
    turn_refused(T.call, RAMET_ENTRY_EXISTS, "id", "s",
                 &(ramet_turn_in){.id = "t3", MESSAGE("u1")});
    ramet_entry_in other = {.id = "u1", .role = RAMET_USER, .text = "other"};
    turn_refused(T.call, RAMET_ENTRY_EXISTS, NULL, "s",
                 &(ramet_turn_in){.entries = &other, .n = 1});
    ramet_entry_in two[] = {{.id = "new", .role = RAMET_USER, .text = "x"},
                            {.id = "u1", .role = RAMET_USER, .text = "text of u1"}};
    turn_refused(T.call, RAMET_ENTRY_EXISTS, "id", "s", &(ramet_turn_in){.entries = two, .n = 2});
    cr_assert_str_eq(ids("s"), "u1 a1");
}

static void answer_once(void *arg, int *status, const char **bytes, size_t *n)
{
    ramet_turn **t = arg;
    *status = 200;
    *bytes = (*t)->id;
    *n = strlen(*bytes);
}

Test(turn_begin, a_key_begins_it_once)
{
    static const char *const kinds[][2] = {{NULL, NULL}, {"u0", NULL}, {NULL, ""}};
    make("s");
    for (size_t i = 0; i < 3; i++) {
        ramet_turn *t = NULL;
        char key[8];
        snprintf(key, sizeof key, "k%zu", i);
        if (!i)
            say("s", "u0");
        ramet_entry_in in = {.role = i == 1 ? 0 : RAMET_USER, .text = "x"};
        ramet_turn_in ti = {
            .entries = &in, .n = i == 2 ? 0 : 1, .replace = kinds[i][0], .regenerate = kinds[i][1]};
        ramet_once once = {.scope = "POST", .key = key, .answer = answer_once, .arg = &t};
        ramet_call_once(T.call, &once);
        ok(ramet_turn_begin(T.call, "s", &ti, &t, &turn_out));
        cr_assert_not(once.repeated);
        char first[64];
        snprintf(first, sizeof first, "%s", t->id);
        const char *before = mark();
        ramet_call_once(T.call, &once);
        ok(ramet_turn_begin(T.call, "s", &ti, &t, &turn_out));
        cr_assert(once.repeated);
        cr_assert_null(t);
        cr_assert_eq(once.n, strlen(first));
        cr_assert_eq(memcmp(once.bytes, first, once.n), 0);
        cr_assert_str_eq(mark(), before);
        turn_stop(first, RAMET_TURN_DONE);
    }
}

/* ---- regenerate */

#define CALL "[{\"type\":\"tool_call\",\"id\":\"c\",\"name\":\"n\",\"input\":{}}]"
#define RESULT "[{\"type\":\"tool_result\",\"id\":\"c\",\"output\":1}]"

static void tools(const char *session)
{
    put(session, &(ramet_entry_in){.id = "call", .role = RAMET_ASSISTANT, .parts = CALL});
    put(session, &(ramet_entry_in){.id = "result", .role = RAMET_TOOL, .parts = RESULT});
    answer(session, "text", "text");
}

Test(turn_begin, regenerate_makes_the_whole_last_answer_anew)
{
    make("s");
    say("s", "u0");
    answer("s", "a0", "first");
    say("s", "u1");
    tools("s");
    int64_t old = get("s")->head.branch;
    ramet_turn *t = turn_start("s", &(ramet_turn_in){.id = "t1", .regenerate = ""});
    cr_assert_str_eq(t->entry_id, "u1");
    cr_assert_neq(t->branch, old);
    cr_assert_eq(t->branch, get("s")->head.branch);
    cr_assert_eq(turn_out.n, 0);
    cr_assert_eq(turn_out.head.length, 3);
    cr_assert_str_eq(ids("s"), "u0 a0 u1");
    turn_speak("t1", "b1");
    cr_assert_str_eq(ids_on("s", old), "u0 a0 u1 call result text");
    ramet_version *v;
    size_t n;
    ok(ramet_versions(T.call, "s", 0, "b1", &v, &n));
    cr_assert_eq(n, 2);
    cr_assert_str_eq(v[0].entry_id, "call");
    cr_assert_eq(v[1].type, RAMET_AUTO_REGENERATE);
    ramet_move *m;
    bool more;
    ok(ramet_head_log(T.call, "s", 0, 0, &m, &n, &more));
    cr_assert_eq(m[0].kind, RAMET_MOVE_REGENERATE);
    turn_fsck();
}

Test(turn_begin, regenerate_answers_what_had_no_answer)
{
    make("s");
    say("s", "u0");
    answer("s", "a0", "x");
    turn_start("s", &(ramet_turn_in){.id = "t1", MESSAGE("u1")});
    ramet_turn *t = turn_start("s", &(ramet_turn_in){.id = "t2", .regenerate = ""});
    cr_assert_str_eq(t->entry_id, "u1");
    cr_assert_str_eq(ids("s"), "u0 a0 u1");
    cr_assert_neq(t->branch, turn_look("s", "t1")->branch, "the first one is not disturbed");
}

Test(turn_begin, regenerate_of_a_message_answers_it_when_it_is_the_last)
{
    make("s");
    say("s", "u0");
    answer("s", "a0", "x");
    say("s", "u1");
    cr_assert_str_eq(turn_start("s", &(ramet_turn_in){.regenerate = "u1"})->entry_id, "u1");
    cr_assert_str_eq(ids("s"), "u0 a0 u1");
    turn_refused(T.call, RAMET_INVALID, "regenerate", "s", &(ramet_turn_in){.regenerate = "u0"});
}

Test(turn_begin, regenerate_keeps_all_of_the_message)
{
    make("s");
    ramet_entry_in in[] = {{.id = "u1", .role = RAMET_USER, .text = "x"},
                           {.id = "u2", .role = RAMET_SYSTEM, .text = "y"}};
    turn_start("s", &(ramet_turn_in){.id = "t1", .entries = in, .n = 2});
    turn_speak("t1", "a1");
    turn_stop("t1", RAMET_TURN_DONE);
    fork_at("s", NULL, "f");
    cr_assert_str_eq(turn_start("s", &(ramet_turn_in){.regenerate = ""})->entry_id, "u2");
    cr_assert_str_eq(ids("s"), "u1 u2");
    cr_assert_str_eq(turn_start("f", &(ramet_turn_in){.regenerate = ""})->entry_id, "u2");
    cr_assert_str_eq(ids("f"), "u1 u2");
}

Test(turn_begin, regenerate_keeps_what_the_user_said_in_mid_answer)
{
    make("s");
    turn_start("s", &(ramet_turn_in){.id = "t1", MESSAGE("u1")});
    turn_speak("t1", "a1");
    say("s", "u2");
    put("s", &(ramet_entry_in){.role = RAMET_USER, .text = "aside", .channel = "other"});
    turn_speak("t1", "a2");
    turn_start("s", &(ramet_turn_in){.regenerate = ""});
    cr_assert_str_eq(ids("s"), "u1 a1 u2");
}

Test(turn_begin, regenerate_finds_the_message_over_forks)
{
    make("s");
    say("s", "u1");
    answer("s", "a1", "x");
    fork_at("s", NULL, "f");
    answer("f", "a2", "y");
    fork_at("f", NULL, "g");
    answer("g", "a3", "z");
    cr_assert_str_eq(turn_start("g", &(ramet_turn_in){.regenerate = ""})->entry_id, "u1");
    cr_assert_str_eq(ids("g"), "u1");
    cr_assert_str_eq(ids("f"), "u1 a1 a2");
}

Test(turn_begin, regenerate_of_nothing_is_refused)
{
    make("s");
    turn_refused(T.call, RAMET_ENTRY_NOT_FOUND, "regenerate", "s",
                 &(ramet_turn_in){.regenerate = ""});
    answer("s", "hello", "hello");
    turn_refused(T.call, RAMET_ENTRY_NOT_FOUND, "regenerate", "s",
                 &(ramet_turn_in){.regenerate = ""});
    turn_start("s", &(ramet_turn_in){.regenerate = "hello"});
    cr_assert_str_eq(ids("s"), "");
}

Test(turn_begin, regenerate_from_an_entry_on)
{
    make("s");
    say("s", "u1");
    tools("s");
    int64_t old = get("s")->head.branch;
    ramet_session *x;
    turn_refused(T.call, RAMET_INVALID, "regenerate", "s", &(ramet_turn_in){.regenerate = "u1"});
    ramet_turn *t = turn_start("s", &(ramet_turn_in){.regenerate = "text"});
    cr_assert_str_eq(t->entry_id, "result");
    cr_assert_str_eq(ids("s"), "u1 call result");
    ok(ramet_switch(T.call, "s", old, NULL, &x));
    turn_start("s", &(ramet_turn_in){.regenerate = "result"});
    cr_assert_str_eq(ids("s"), "u1", "no call without its result");
    ok(ramet_switch(T.call, "s", old, NULL, &x));
    ramet_entry_in hint = {.id = "hint", .role = RAMET_SYSTEM, .text = "shorter"};
    t = turn_start("s", &(ramet_turn_in){.regenerate = "text", .entries = &hint, .n = 1});
    cr_assert_str_eq(t->entry_id, "hint");
    cr_assert_str_eq(ids("s"), "u1 call result hint");
    cr_assert_str_eq(ids_on("s", old), "u1 call result text");
}

/* ---- replace */

Test(turn_begin, replace_makes_a_version_and_drops_nothing)
{
    make("s");
    say("s", "u0");
    turn_start("s", &(ramet_turn_in){.id = "t1", MESSAGE("u1")});
    turn_speak("t1", "a1");
    turn_stop("t1", RAMET_TURN_DONE);
    int64_t old = get("s")->head.branch;
    const char *before = dump("s", old);
    ramet_entry_in in = {.id = "u2", .text = "better"};
    ramet_turn *t =
        turn_start("s", &(ramet_turn_in){.id = "t2", .replace = "u1", .entries = &in, .n = 1});
    cr_assert_str_eq(t->entry_id, "u2");
    cr_assert_eq(turn_out.entries[0].role, RAMET_USER, "the old one's");
    cr_assert_str_eq(turn_out.entries[0].turn_id, "t2");
    turn_speak("t2", "a2");
    cr_assert_str_eq(ids("s"), "u0 u2 a2");
    cr_assert_str_eq(dump("s", old), before);
    ramet_version *v;
    size_t n;
    ok(ramet_versions(T.call, "s", 0, "u2", &v, &n));
    cr_assert_eq(n, 2);
    cr_assert_str_eq(v[0].entry_id, "u1");
    cr_assert_eq(v[1].type, RAMET_AUTO_EDIT);
    cr_assert(v[1].current);
    ramet_session *x;
    ok(ramet_undo(T.call, "s", NULL, &x));
    cr_assert_str_eq(dump("s", 0), before);
    turn_fsck();
}

Test(turn_begin, replace_keeps_a_given_role_and_takes_several)
{
    make("s");
    answer("s", "a", "x");
    ramet_entry_in in[] = {{.id = "p", .role = RAMET_SYSTEM, .text = "x"},
                           {.id = "q", .role = RAMET_USER, .text = "y"}};
    turn_start("s", &(ramet_turn_in){.replace = "a", .entries = in, .n = 2});
    cr_assert_eq(turn_out.entries[0].role, RAMET_SYSTEM);
    cr_assert_str_eq(ids("s"), "p q");
}
