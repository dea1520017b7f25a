/* SPDX-License-Identifier: Apache-2.0
 *
 * tool_group.c: a tool call is picked with its result, and the reverse.
 */
#include "help.h"

#include "ramet/merge.h"

#include <stdio.h>

TestSuite(tool_group, .init = scratch_open, .fini = scratch_close);

static ramet_merge_out out;

static void tool(const char *session, const char *id, const char *parts)
{
    put(session, &(ramet_entry_in){.id = id, .role = RAMET_ASSISTANT, .parts = parts});
}

#define CALL_PART(i) "{\"type\":\"tool_call\",\"id\":\"" i "\",\"name\":\"n\",\"input\":{}}"
#define RESULT_PART(i) "{\"type\":\"tool_result\",\"id\":\"" i "\",\"output\":\"o\"}"

/* The origins of what was appended, by their ids. */
static const char *picked(const char *session, const char *entry)
{
    static char all[256];
    ramet_merge_in in = {.mode = RAMET_PICK,
                         .from = session,
                         .picks = &(ramet_merge_pick){.entry_id = entry},
                         .n_picks = 1,
                         .dry_run = true};
    size_t at = 0;
    all[0] = 0;
    ok(ramet_merge(T.call, "s", &in, &out));
    for (size_t i = 0; i < out.n; i++)
        at += (size_t)snprintf(all + at, sizeof all - at, "%s%s", at ? " " : "",
                               out.entries[i].origins[0].entry_id);
    return all;
}

Test(tool_group, a_tool_call_takes_its_result_along)
{
    make("s");
    fork_at("s", NULL, "f");
    say("f", "q");
    tool("f", "call", "[" CALL_PART("1") "," CALL_PART("2") "]");
    tool("f", "result-1", "[" RESULT_PART("1") "]");
    say("f", "between");
    tool("f", "result-2", "[" RESULT_PART("2") "]");
    tool("f", "again", "[" CALL_PART("1") "]"); /* the id once more, in another turn */
    tool("f", "answer", "[" RESULT_PART("1") "]");
    tool("f", "open", "[" CALL_PART("9") "]");
    tool("f", "lost", "[" RESULT_PART("8") "]");
    cr_assert_str_eq(picked("f", "q"), "q");
    cr_assert_str_eq(picked("f", "between"), "between");
    cr_assert_str_eq(picked("f", "call"), "call result-1 result-2");
    cr_assert_str_eq(picked("f", "result-2"), "call result-1 result-2");
    cr_assert_str_eq(picked("f", "answer"), "again answer");
    cr_assert_str_eq(picked("f", "again"), "again answer");
    cr_assert_str_eq(picked("f", "open"), "open");
    cr_assert_str_eq(picked("f", "lost"), "lost");
    ramet_merge_pick picks[] = {{"f", 0, "result-1"}, {"f", 0, "q"}, {"f", 0, "call"}};
    ok(ramet_merge(T.call, "s", &(ramet_merge_in){.mode = RAMET_PICK, .picks = picks, .n_picks = 3},
                   &out));
    cr_assert_eq(out.n, 4);
    cr_assert_str_eq(out.entries[0].origins[0].entry_id, "call");
    cr_assert_str_eq(out.entries[3].origins[0].entry_id, "q");
}

Test(tool_group, a_result_is_found_far_away_and_across_branches)
{
    make("s");
    tool("s", "call", "[" CALL_PART("1") "]");
    fork_at("s", NULL, "f");
    char text[32];
    for (int i = 0; i < 150; i++) {
        snprintf(text, sizeof text, "m%d", i);
        answer("f", text, text);
    }
    tool("f", "result", "[" RESULT_PART("1") "]");
    cr_assert_str_eq(picked("f", "call"), "call result");
    cr_assert_str_eq(picked("f", "result"), "call result");
    cr_assert_str_eq(picked("s", "call"), "call");
}

Test(tool_group, a_call_has_all_its_results_until_its_id_is_called_again)
{
    make("s");
    fork_at("s", NULL, "f");
    tool("f", "call", "[" CALL_PART("1") "]");
    tool("f", "result", "[" RESULT_PART("1") "]");
    char text[32];
    for (int i = 0; i < 40; i++) {
        snprintf(text, sizeof text, "m%d", i);
        answer("f", text, text);
    }
    tool("f", "more", "[" RESULT_PART("1") "]");
    tool("f", "again", "[" CALL_PART("1") "]");
    tool("f", "other", "[" RESULT_PART("1") "]");
    cr_assert_str_eq(picked("f", "call"), "call result more");
    cr_assert_str_eq(picked("f", "result"), "call result more");
    cr_assert_str_eq(picked("f", "more"), "call result more");
    cr_assert_str_eq(picked("f", "other"), "again other");
}
