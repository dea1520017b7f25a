/* SPDX-License-Identifier: Apache-2.0
 *
 * version.c: the picker's 2/3: distinct entries at a position on the paths of this session's
 * branches that share everything before it.
 */
#include "help.h"

#include <stdio.h>

TestSuite(version, .init = scratch_open, .fini = scratch_close);

/* "a b* c": the entries in order, the current one with a star. */
static const char *versions(const char *session, int64_t branch, const char *entry)
{
    static char text[1024];
    ramet_version *v;
    size_t n;
    ok(ramet_versions(T.call, session, branch, entry, &v, &n));
    text[0] = 0;
    for (size_t i = 0; i < n; i++) {
        size_t have = strlen(text);
        cr_assert_eq(v[i].number, (int)i + 1);
        snprintf(text + have, sizeof text - have, "%s%s%s", have ? " " : "", v[i].entry_id,
                 v[i].current ? "*" : "");
    }
    return text;
}

/* "1/1 2/3": what a page says at each position. */
static const char *picker(const char *session, int64_t branch)
{
    static char text[1024];
    ramet_page page;
    ok(ramet_read(T.call, session, &(ramet_read_in){.branch = branch, .versions = true}, &page));
    text[0] = 0;
    for (size_t i = 0; i < page.n; i++) {
        size_t have = strlen(text);
        snprintf(text + have, sizeof text - have, "%s%d/%d", have ? " " : "",
                 page.entries[i].version, page.entries[i].versions);
    }
    return text;
}

static void edit(const char *session, const char *old, const char *id)
{
    tick(SECOND);
    ramet_append_out out;
    ok(ramet_edit(T.call, session, old, &(ramet_entry_in){.id = id, .text = id}, NULL, &out));
}

Test(version, without_a_branch_there_is_one)
{
    make("s");
    say("s", "a b");
    cr_assert_str_eq(versions("s", 0, "a"), "a*");
    cr_assert_str_eq(versions("s", 0, "b"), "b*");
    cr_assert_str_eq(picker("s", 0), "1/1 1/1");
    ramet_page page;
    ok(ramet_read(T.call, "s", &(ramet_read_in){0}, &page));
    cr_assert_eq(page.entries[0].version, 0, "not asked for");
    cr_assert_eq(page.entries[0].versions, 0);
}

Test(version, edits_and_regenerations_count)
{
    make("s");
    ask("s", "q", "question");
    answer("s", "r1", "first answer\nsecond line");
    int64_t b0 = get("s")->head.branch;
    ramet_append_out out;
    tick(SECOND);
    ramet_entry_in again = {.id = "r2", .role = RAMET_ASSISTANT, .text = "second answer"};
    ok(ramet_regenerate(T.call, "s", "r1", &again, 1, NULL, &out));
    int64_t b1 = out.head.branch;
    tick(SECOND);
    again.id = "r3";
    ok(ramet_regenerate(T.call, "s", "r2", &again, 1, NULL, &out));
    cr_assert_str_eq(versions("s", 0, "r3"), "r1 r2 r3*");
    cr_assert_str_eq(picker("s", 0), "1/1 3/3");
    cr_assert_str_eq(picker("s", b0), "1/1 1/3");
    cr_assert_str_eq(picker("s", b1), "1/1 2/3");
    cr_assert_str_eq(versions("s", b0, "r1"), "r1 r2 r3*", "asked through any branch");
    ramet_version *v;
    size_t n;
    ok(ramet_versions(T.call, "s", 0, "r3", &v, &n));
    cr_assert_eq(v[0].branch, b0);
    cr_assert_eq(v[0].owner, b0);
    cr_assert_eq(v[1].branch, b1);
    cr_assert_eq(v[1].type, RAMET_AUTO_REGENERATE);
    cr_assert_eq(v[0].type, RAMET_EXPLICIT);
    cr_assert_str_eq(v[0].preview, "first answer");
    cr_assert_eq(v[2].created, T.now);
    ramet_session *s;
    ok(ramet_switch(T.call, "s", v[1].branch, NULL, &s));
    cr_assert_str_eq(ids("s"), "q r2");
    cr_assert_str_eq(versions("s", 0, "r2"), "r1 r2* r3");
}

Test(version, a_rewind_counts_once_it_goes_on)
{
    make("s");
    say("s", "a b c");
    rewind_to("s", "a");
    cr_assert_str_eq(picker("s", 0), "1/1");
    int64_t empty = get("s")->head.branch;
    ramet_session *s;
    ok(ramet_undo(T.call, "s", NULL, &s));
    cr_assert_str_eq(picker("s", 0), "1/1 1/1 1/1", "an empty branch does not count");
    ok(ramet_switch(T.call, "s", empty, NULL, &s));
    say("s", "x y");
    cr_assert_str_eq(picker("s", 0), "1/1 2/2 1/1");
    cr_assert_str_eq(versions("s", 0, "x"), "b x*");
    cr_assert_str_eq(versions("s", 0, "y"), "y*", "c does not share everything before it");
}

Test(version, at_the_first_position)
{
    make("s");
    say("s", "a b");
    edit("s", "a", "a2");
    cr_assert_str_eq(ids("s"), "a2");
    cr_assert_str_eq(versions("s", 0, "a2"), "a a2*");
    cr_assert_str_eq(picker("s", 0), "2/2");
}

Test(version, choosing_goes_to_the_newest_branch_that_holds_it)
{
    make("s");
    say("s", "a b c");
    edit("s", "c", "c2");
    int64_t with_b = get("s")->head.branch;
    edit("s", "b", "b2");
    ramet_version *v;
    size_t n;
    ok(ramet_versions(T.call, "s", 0, "b2", &v, &n));
    cr_assert_eq(n, 2);
    cr_assert_str_eq(v[0].entry_id, "b");
    cr_assert_eq(v[0].branch, with_b);
    ramet_session *s;
    ok(ramet_switch(T.call, "s", v[0].branch, NULL, &s));
    cr_assert_str_eq(ids("s"), "a b c2");
    cr_assert_str_eq(picker("s", 0), "1/1 1/2 2/2");
}

Test(version, other_sessions_do_not_count)
{
    make("s");
    say("s", "a b c");
    fork_at("s", "b", "f");
    say("f", "x");
    cr_assert_str_eq(picker("s", 0), "1/1 1/1 1/1");
    cr_assert_str_eq(picker("f", 0), "1/1 1/1 1/1", "the source going on is no version here");
    edit("f", "x", "x2");
    edit("s", "c", "c2");
    cr_assert_str_eq(picker("s", 0), "1/1 1/1 2/2");
    cr_assert_str_eq(versions("f", 0, "x2"), "x x2*");
}

Test(version, an_inherited_original_that_a_fork_edited_counts)
{
    make("s");
    say("s", "a b c");
    fork_at("s", "c", "f");
    edit("f", "b", "b2");
    cr_assert_str_eq(ids("f"), "a b2");
    cr_assert_str_eq(versions("f", 0, "b2"), "b b2*");
    cr_assert_str_eq(picker("f", 0), "1/1 2/2");
    cr_assert_str_eq(picker("s", 0), "1/1 1/1 1/1", "and not in the source");
    ramet_version *v;
    size_t n;
    ok(ramet_versions(T.call, "f", 0, "b2", &v, &n));
    ramet_session *s;
    ok(ramet_switch(T.call, "f", v[0].branch, NULL, &s));
    cr_assert_str_eq(ids("f"), "a b c");
    cr_assert_str_eq(picker("f", 0), "1/1 1/2 1/1");
    edit("f", "b", "b3");
    cr_assert_str_eq(versions("f", 0, "b3"), "b b2 b3*");
}

Test(version, edits_that_the_source_made_before_are_not_the_forks)
{
    make("s");
    say("s", "a b");
    edit("s", "b", "b2");
    fork_at("s", "b2", "f");
    cr_assert_str_eq(picker("f", 0), "1/1 1/1", "only paths of its own branches");
    edit("f", "b2", "b3");
    cr_assert_str_eq(versions("f", 0, "b3"), "b2 b3*");
    cr_assert_str_eq(versions("s", 0, "b2"), "b b2*");
}

Test(version, of_what_is_not_there)
{
    make("s");
    say("s", "a b");
    int64_t old = get("s")->head.branch;
    rewind_to("s", "a");
    ramet_version *v;
    size_t n;
    refused(RAMET_ENTRY_NOT_FOUND, "entry_id", ramet_versions(T.call, "s", 0, "b", &v, &n));
    cr_assert_str_eq(versions("s", old, "b"), "b");
    refused(RAMET_BRANCH_NOT_FOUND, "branch_id", ramet_versions(T.call, "s", 999, "b", &v, &n));
    refused(RAMET_SESSION_NOT_FOUND, NULL, ramet_versions(T.call, "none", 0, "b", &v, &n));
}

Test(version, every_branch_is_listed_oldest_first)
{
    make("s");
    say("s", "a b");
    int64_t b0 = get("s")->head.branch;
    edit("s", "b", "b2");
    int64_t b1 = get("s")->head.branch;
    int64_t b2 = rewind_to("s", "a");
    fork_at("s", NULL, "f");
    ramet_branch *b;
    size_t n;
    ok(ramet_branches(T.call, "s", &b, &n));
    cr_assert_eq(n, 3);
    cr_assert_eq(b[0].id, b0);
    cr_assert_eq(b[0].parent, 0);
    cr_assert_eq(b[0].base, 0);
    cr_assert_eq(b[0].length, 2);
    cr_assert_str_eq(b[0].tip_id, "b");
    cr_assert_str_eq(b[0].preview, "text of a");
    cr_assert_not(b[0].current);
    cr_assert_eq(b[1].id, b1);
    cr_assert_eq(b[1].parent, b0);
    cr_assert_eq(b[1].base, 1);
    cr_assert_eq(b[1].length, 2);
    cr_assert_eq(b[1].type, RAMET_AUTO_EDIT);
    cr_assert_str_eq(b[1].tip_id, "b2");
    cr_assert_str_eq(b[1].preview, "b2");
    cr_assert_eq(b[2].id, b2);
    cr_assert_eq(b[2].parent, b0);
    cr_assert_eq(b[2].base, 1);
    cr_assert_eq(b[2].length, 1);
    cr_assert(b[2].current);
    cr_assert_str_eq(b[2].tip_id, "a");
    cr_assert_str_eq(b[2].preview, "");
    ok(ramet_branches(T.call, "f", &b, &n));
    cr_assert_eq(n, 1);
    make("empty");
    ok(ramet_branches(T.call, "empty", &b, &n));
    cr_assert_eq(n, 1);
    cr_assert_null(b[0].tip_id);
}
