/* SPDX-License-Identifier: Apache-2.0
 *
 * move.c: rewind, undo, redo, switch, and the log of them.
 */
#include "help.h"

#include <stdio.h>

TestSuite(move, .init = scratch_open, .fini = scratch_close);

static void abc(void)
{
    make("s");
    say("s", "a b c");
}

static void undo(const char *want)
{
    tick(SECOND);
    ramet_session *s = NULL;
    ok(ramet_undo(T.call, "s", NULL, &s));
    cr_assert_str_eq(ids("s"), want);
    cr_assert_eq(s->head.branch, get("s")->head.branch);
}

static void redo(const char *want)
{
    tick(SECOND);
    ramet_session *s = NULL;
    ok(ramet_redo(T.call, "s", NULL, &s));
    cr_assert_str_eq(ids("s"), want);
}

static void no_undo(void)
{
    ramet_session *s;
    const char *before = mark();
    refused(RAMET_NOTHING_TO_UNDO, NULL, ramet_undo(T.call, "s", NULL, &s));
    cr_assert_str_eq(mark(), before);
}

static void no_redo(void)
{
    ramet_session *s;
    const char *before = mark();
    refused(RAMET_NOTHING_TO_REDO, NULL, ramet_redo(T.call, "s", NULL, &s));
    cr_assert_str_eq(mark(), before);
}

Test(move, a_rewind_moves_the_head_and_keeps_the_rest)
{
    abc();
    int64_t old = get("s")->head.branch;
    tick(SECOND);
    ramet_session *s = NULL;
    ramet_cut cut;
    ok(ramet_rewind(T.call, "s", &(ramet_move_in){.at = {"b", RAMET_BEFORE}, .reason = "wrong way"},
                    &s, &cut));
    cr_assert_eq(s->head.length, 1);
    cr_assert_str_eq(s->head.entry_id, "a");
    cr_assert_neq(s->head.branch, old);
    cr_assert_eq(s->updated, T.now);
    cr_assert_eq(cut.position, 1);
    cr_assert_str_eq(ids("s"), "a");
    cr_assert_str_eq(ids_on("s", old), "a b c");
    say("s", "d");
    cr_assert_str_eq(ids("s"), "a d");
    cr_assert_str_eq(ids_on("s", old), "a b c");
}

Test(move, a_rewind_to_nothing_and_to_the_head)
{
    abc();
    ramet_session *s = NULL;
    ramet_cut cut;
    ok(ramet_rewind(T.call, "s", &(ramet_move_in){.at = {"a", RAMET_BEFORE}}, &s, &cut));
    cr_assert_eq(s->head.length, 0);
    cr_assert_str_eq(s->head.hash, NO_HASH);
    cr_assert_str_eq(cut.entry_id, "a");
    cr_assert_eq(cut.side, RAMET_BEFORE);
    cr_assert_eq(cut.position, 0);
    undo("a b c");
    int64_t before = get("s")->head.branch;
    ok(ramet_rewind(T.call, "s", &(ramet_move_in){.at = {"c", RAMET_AFTER}}, &s, &cut));
    cr_assert_eq(cut.position, 3);
    cr_assert_str_eq(ids("s"), "a b c");
    cr_assert_str_eq(ids_on("s", before), "a b c");
}

Test(move, a_rewind_to_what_is_not_on_the_path)
{
    abc();
    rewind_to("s", "a");
    ramet_session *s;
    const char *before = mark();
    refused(RAMET_ENTRY_NOT_FOUND, "at.entry_id",
            ramet_rewind(T.call, "s", &(ramet_move_in){.at = {"c", RAMET_AFTER}}, &s, NULL));
    refused(RAMET_SESSION_NOT_FOUND, NULL,
            ramet_rewind(T.call, "none", &(ramet_move_in){.at = {"c", RAMET_AFTER}}, &s, NULL));
    cr_assert_str_eq(mark(), before);
    cr_assert_str_eq(ids("s"), "a");
}

Test(move, undo_and_redo_as_in_an_editor)
{
    abc();
    no_undo();
    no_redo();
    rewind_to("s", "b");
    rewind_to("s", "a");
    no_redo();
    undo("a b");
    undo("a b c");
    no_undo();
    redo("a b");
    redo("a");
    no_redo();
    undo("a b");
    rewind_to("s", "a");
    no_redo();
    undo("a b");
    undo("a b c");
    no_undo();
}

Test(move, undo_has_no_limit)
{
    abc();
    for (int i = 0; i < 200; i++)
        rewind_to("s", i % 2 ? "a" : "b"), say("s", "b");
    for (int i = 0; i < 200; i++) {
        ramet_session *s;
        ok(ramet_undo(T.call, "s", NULL, &s));
    }
    cr_assert_str_eq(ids("s"), "a b c");
    no_undo();
    for (int i = 0; i < 200; i++) {
        ramet_session *s;
        ok(ramet_redo(T.call, "s", NULL, &s));
    }
    no_redo();
    cr_assert_str_eq(ids("s"), "a b");
}

Test(move, appends_are_kept_by_undo_and_redo)
{
    abc();
    rewind_to("s", "a");
    say("s", "x");
    undo("a b c");
    say("s", "d");
    cr_assert_str_eq(ids("s"), "a b c d");
    redo("a x");
    undo("a b c d");
    redo("a x");
    say("s", "y");
    undo("a b c d");
    redo("a x y");
}

Test(move, a_switch_goes_to_another_branch)
{
    abc();
    int64_t b0 = get("s")->head.branch;
    int64_t b1 = rewind_to("s", "a");
    say("s", "x");
    ramet_session *s = NULL;
    ok(ramet_switch(T.call, "s", b0, NULL, &s));
    cr_assert_eq(s->head.branch, b0);
    cr_assert_str_eq(ids("s"), "a b c");
    say("s", "d");
    ok(ramet_switch(T.call, "s", b1, NULL, &s));
    cr_assert_str_eq(ids("s"), "a x");
    undo("a b c d");
    undo("a x");
    redo("a b c d");
    ok(ramet_switch(T.call, "s", b1, NULL, &s));
    no_redo();
}

Test(move, a_switch_takes_branches_of_this_session_alone)
{
    abc();
    fork_at("s", "a", "f");
    make("t");
    ramet_session *s;
    const char *before = mark();
    refused(RAMET_BRANCH_NOT_FOUND, "branch_id",
            ramet_switch(T.call, "s", get("f")->head.branch, NULL, &s));
    refused(RAMET_BRANCH_NOT_FOUND, "branch_id",
            ramet_switch(T.call, "f", get("s")->head.branch, NULL, &s));
    refused(RAMET_BRANCH_NOT_FOUND, "branch_id",
            ramet_switch(T.call, "s", get("t")->head.branch, NULL, &s));
    refused(RAMET_BRANCH_NOT_FOUND, "branch_id", ramet_switch(T.call, "s", 12345, NULL, &s));
    refused(RAMET_BRANCH_NOT_FOUND, "branch_id", ramet_switch(T.call, "s", -1, NULL, &s));
    cr_assert_str_eq(mark(), before);
}

Test(move, every_move_can_depend_on_the_head)
{
    abc();
    int64_t b0 = get("s")->head.branch;
    char seen[65];
    memcpy(seen, get("s")->head.hash, 65);
    ramet_session *s = NULL;
    ok(ramet_rewind(T.call, "s", &(ramet_move_in){.at = {"a", RAMET_AFTER}, .expected_head = seen},
                    &s, NULL));
    char now[65];
    memcpy(now, s->head.hash, 65);
    const char *before = mark();
    refused(RAMET_HEAD_MOVED, "expected_head",
            ramet_rewind(T.call, "s",
                         &(ramet_move_in){.at = {"a", RAMET_AFTER}, .expected_head = seen}, &s,
                         NULL));
    refused(RAMET_HEAD_MOVED, "expected_head", ramet_undo(T.call, "s", seen, &s));
    refused(RAMET_HEAD_MOVED, "expected_head", ramet_switch(T.call, "s", b0, seen, &s));
    cr_assert_eq(ramet_call_error(T.call)->head.length, 1);
    cr_assert_str_eq(ramet_call_error(T.call)->head.hash, now);
    cr_assert_str_eq(mark(), before);
    ok(ramet_undo(T.call, "s", now, &s));
    refused(RAMET_HEAD_MOVED, "expected_head", ramet_redo(T.call, "s", now, &s));
    ok(ramet_redo(T.call, "s", seen, &s));
}

Test(move, the_head_log_tells_who_when_why_from_and_to)
{
    abc();
    int64_t b0 = get("s")->head.branch;
    ramet_call *ann = as("ann");
    ramet_session *s = NULL;
    tick(SECOND);
    int64_t at1 = T.now;
    ok_for(ann,
           ramet_rewind(ann, "s", &(ramet_move_in){.at = {"a", RAMET_AFTER}, .reason = "why not"},
                        &s, NULL));
    int64_t b1 = s->head.branch;
    say("s", "x");
    tick(SECOND);
    ok_for(ann, ramet_undo(ann, "s", NULL, &s));
    ok_for(ann, ramet_redo(ann, "s", NULL, &s));
    ok_for(ann, ramet_switch(ann, "s", b0, NULL, &s));
    ramet_move *m;
    size_t n;
    bool more = true;
    ok(ramet_head_log(T.call, "s", 0, 0, &m, &n, &more));
    cr_assert_eq(n, 4);
    cr_assert_not(more);
    static const ramet_move_kind kinds[] = {RAMET_MOVE_SWITCH, RAMET_MOVE_REDO, RAMET_MOVE_UNDO,
                                            RAMET_MOVE_REWIND};
    for (size_t i = 0; i < 4; i++) {
        cr_assert_eq(m[i].number, 4 - (int64_t)i);
        cr_assert_eq(m[i].kind, kinds[i]);
        cr_assert_str_eq(m[i].who, "ann");
        cr_assert_eq(m[i].from, i % 2 ? b0 : b1);
        cr_assert_eq(m[i].to, i % 2 ? b1 : b0);
        cr_assert_eq(m[i].from_length, i % 2 ? 3 : 2);
        cr_assert_eq(m[i].to_length, i % 2 ? 2 : 3);
    }
    cr_assert_str_eq(m[3].reason, "why not");
    cr_assert_eq(m[3].at, at1);
    cr_assert_eq(m[2].at, T.now);
    ok(ramet_head_log(T.call, "s", 0, 2, &m, &n, &more));
    cr_assert_eq(n, 2);
    cr_assert(more);
    ok(ramet_head_log(T.call, "s", m[1].number, 2, &m, &n, &more));
    cr_assert_eq(n, 2);
    cr_assert_eq(m[0].number, 2);
    cr_assert_not(more);
    fork_at("s", NULL, "f");
    ok(ramet_head_log(T.call, "f", 0, 0, &m, &n, &more));
    cr_assert_eq(n, 0, "a fork begins with an empty log");
}

Test(move, a_move_takes_the_adk_log_with_it)
{
    make("s");
    say_both("s", 3);
    ramet_session *s = NULL;
    ok(ramet_rewind(T.call, "s", &(ramet_move_in){.at = {"m1", RAMET_AFTER}}, &s, NULL));
    cr_assert_eq(s->head.length, 2);
    cr_assert_eq(s->adk.length, 2);
    ok(ramet_undo(T.call, "s", NULL, &s));
    cr_assert_eq(s->head.length, 3);
    cr_assert_eq(s->adk.length, 3);
    ok(ramet_redo(T.call, "s", NULL, &s));
    cr_assert_eq(s->adk.length, 2);
    ok(ramet_undo(T.call, "s", NULL, &s));
    ok(ramet_rewind(T.call, "s",
                    &(ramet_move_in){.at = {"m1", RAMET_AFTER}, .adk_at = {"k0", RAMET_BEFORE}}, &s,
                    NULL));
    cr_assert_eq(s->adk.length, 0);
    cr_assert_eq(s->head.length, 2);
}

Test(move, moves_survive_reopening)
{
    abc();
    rewind_to("s", "a");
    scratch_reopen(NULL);
    cr_assert_str_eq(ids("s"), "a");
    undo("a b c");
    scratch_reopen(NULL);
    redo("a");
}
