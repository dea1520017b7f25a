/* SPDX-License-Identifier: Apache-2.0
 *
 * cut.c: a cut that snaps never parts a tool call from its result.
 */
#include "help.h"

#include <stdio.h>

TestSuite(cut, .init = scratch_open, .fini = scratch_close);

static void call_tools(const char *session, const char *id, const char *a, const char *b)
{
    char parts[256], more[128] = "";
    if (b)
        snprintf(more, sizeof more,
                 ",{\"type\":\"tool_call\",\"id\":\"%s\",\"name\":\"n\",\"input\":{}}", b);
    snprintf(parts, sizeof parts,
             "[{\"type\":\"tool_call\",\"id\":\"%s\",\"name\":\"n\",\"input\":{}}%s]", a, more);
    put(session, &(ramet_entry_in){.id = id, .role = RAMET_ASSISTANT, .parts = parts});
}

static void tool_result(const char *session, const char *id, const char *call)
{
    char parts[128];
    snprintf(parts, sizeof parts, "[{\"type\":\"tool_result\",\"id\":\"%s\",\"output\":\"x\"}]",
             call);
    put(session, &(ramet_entry_in){.id = id, .role = RAMET_TOOL, .parts = parts});
}

/* Where a fork at that place keeps how many entries, by policy. */
static void cuts(const char *session, const char *entry, ramet_side side, int64_t exact,
                 int64_t before, int64_t after)
{
    int64_t want[] = {exact, before, after};
    for (int policy = RAMET_CUT_EXACT; policy <= RAMET_CUT_SNAP_AFTER; policy++) {
        ramet_session *f = NULL;
        ramet_cut cut;
        ok(ramet_fork(T.call, session,
                      &(ramet_fork_in){.at = {entry, side}, .cut = (ramet_cut_policy)policy}, &f,
                      &cut));
        cr_assert_eq(cut.position, want[policy], "%s %s, %s: %d kept, not %d",
                     ramet_side_name(side), entry, ramet_cut_name((ramet_cut_policy)policy),
                     (int)cut.position, (int)want[policy]);
        cr_assert_eq(f->head.length, cut.position);
        cr_assert_eq((int)cut.policy, policy);
        if (!cut.position && want[0]) {
            cr_assert_null(cut.entry_id, "it snapped to the very beginning");
            cr_assert_eq(cut.side, RAMET_BEFORE);
            continue;
        }
        ramet_entry *e = NULL;
        ok(ramet_entry_get(T.call, session, 0, cut.entry_id, &e));
        cr_assert_eq(e->position + (cut.side == RAMET_AFTER), cut.position,
                     "the answer says where it cut");
    }
}

Test(cut, one_pair)
{
    make("s");
    ask("s", "u", "list");
    call_tools("s", "call", "c1", NULL);
    tool_result("s", "result", "c1");
    answer("s", "done", "two files");
    cuts("s", "u", RAMET_AFTER, 1, 1, 1);
    cuts("s", "call", RAMET_BEFORE, 1, 1, 1);
    cuts("s", "call", RAMET_AFTER, 2, 1, 3);
    cuts("s", "result", RAMET_BEFORE, 2, 1, 3);
    cuts("s", "result", RAMET_AFTER, 3, 3, 3);
    cuts("s", "done", RAMET_AFTER, 4, 4, 4);
    cuts("s", "u", RAMET_BEFORE, 0, 0, 0);
    cuts("s", NULL, RAMET_AFTER, 4, 4, 4);
}

Test(cut, several_calls_in_one_message)
{
    make("s");
    ask("s", "u", "list");
    call_tools("s", "call", "c1", "c2");
    tool_result("s", "r1", "c1");
    tool_result("s", "r2", "c2");
    cuts("s", "call", RAMET_AFTER, 2, 1, 4);
    cuts("s", "r1", RAMET_AFTER, 3, 1, 4);
    cuts("s", "r2", RAMET_AFTER, 4, 4, 4);
}

Test(cut, pairs_that_overlap)
{
    make("s");
    ask("s", "u", "list");
    call_tools("s", "k1", "c1", NULL);
    call_tools("s", "k2", "c2", NULL);
    tool_result("s", "r1", "c1");
    tool_result("s", "r2", "c2");
    answer("s", "a", "done");
    cuts("s", "k1", RAMET_AFTER, 2, 1, 5);
    cuts("s", "k2", RAMET_AFTER, 3, 1, 5);
    cuts("s", "r1", RAMET_AFTER, 4, 1, 5);
    cuts("s", "r2", RAMET_AFTER, 5, 5, 5);
}

Test(cut, nested_pairs)
{
    make("s");
    call_tools("s", "outer", "c1", NULL);
    call_tools("s", "inner", "c2", NULL);
    tool_result("s", "inner-result", "c2");
    tool_result("s", "outer-result", "c1");
    cuts("s", "inner-result", RAMET_AFTER, 3, 0, 4);
    cuts("s", "inner", RAMET_AFTER, 2, 0, 4);
    cuts("s", "outer", RAMET_AFTER, 1, 0, 4);
}

/* A model takes no history that ends in a call without a result; one that the user has talked past
 * is no pair any more. */
Test(cut, a_call_without_a_result)
{
    make("s");
    ask("s", "u", "list");
    call_tools("s", "call", "c1", NULL);
    cuts("s", "call", RAMET_AFTER, 2, 1, 2);
    ask("s", "u2", "never mind");
    cuts("s", "call", RAMET_AFTER, 2, 1, 2);
    cuts("s", "u2", RAMET_AFTER, 3, 3, 3);
    make("t");
    tool_result("t", "stray", "c9");
    cuts("t", "stray", RAMET_AFTER, 1, 1, 1);
}

Test(cut, the_same_call_id_used_again)
{
    make("s");
    call_tools("s", "k1", "c", NULL);
    tool_result("s", "r1", "c");
    ask("s", "u", "again");
    call_tools("s", "k2", "c", NULL);
    tool_result("s", "r2", "c");
    cuts("s", "u", RAMET_AFTER, 3, 3, 3);
    cuts("s", "r1", RAMET_AFTER, 2, 2, 2);
    cuts("s", "k1", RAMET_AFTER, 1, 0, 2);
    cuts("s", "k2", RAMET_AFTER, 4, 3, 5);
}

Test(cut, a_pair_over_two_branches)
{
    make("s");
    ask("s", "u", "list");
    call_tools("s", "call", "c1", NULL);
    ramet_session *f = fork_at("s", "call", "f");
    cr_assert_eq(f->head.length, 2);
    tool_result("f", "late-result", "c1");
    answer("f", "a", "ok");
    cuts("f", "call", RAMET_AFTER, 2, 1, 3);
    cuts("s", "call", RAMET_AFTER, 2, 1, 2);
}

Test(cut, a_rewind_snaps_too)
{
    make("s");
    ask("s", "u", "list");
    call_tools("s", "call", "c1", NULL);
    tool_result("s", "result", "c1");
    answer("s", "a", "ok");
    ramet_session *s = NULL;
    ramet_cut cut;
    ok(ramet_rewind(T.call, "s",
                    &(ramet_move_in){.at = {"call", RAMET_AFTER}, .cut = RAMET_CUT_SNAP_AFTER}, &s,
                    &cut));
    cr_assert_str_eq(ids("s"), "u call result");
    cr_assert_eq(cut.position, 3);
    cr_assert_eq(cut.policy, RAMET_CUT_SNAP_AFTER);
    ok(ramet_rewind(T.call, "s",
                    &(ramet_move_in){.at = {"result", RAMET_BEFORE}, .cut = RAMET_CUT_SNAP_BEFORE},
                    &s, &cut));
    cr_assert_str_eq(ids("s"), "u");
}
