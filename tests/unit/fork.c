/* SPDX-License-Identifier: Apache-2.0
 *
 * fork.c: a new session that shares the history up to the cut, and nothing after it.
 */
#include "help.h"
#include "ramet/merge.h"

#include <stdio.h>

TestSuite(fork, .init = scratch_open, .fini = scratch_close);

static void abc(void)
{
    make("s");
    say("s", "a b c");
}

Test(fork, at_the_head_by_default)
{
    abc();
    tick(SECOND);
    ramet_session *f = NULL;
    ramet_cut cut;
    ok(ramet_fork(T.call, "s", &(ramet_fork_in){.id = "f"}, &f, &cut));
    for (int round = 0; round < 2; round++) {
        cr_assert_str_eq(f->id, "f");
        cr_assert_str_eq(f->tree_id, get("s")->tree_id);
        cr_assert(f->is_fork);
        cr_assert_str_eq(f->parent_id, "s");
        cr_assert_str_eq(f->fork_entry_id, "c");
        cr_assert_eq(f->fork_side, RAMET_AFTER);
        cr_assert_eq(f->type, RAMET_EXPLICIT);
        cr_assert_str_eq(f->reason, "");
        cr_assert_eq(f->depth, 1);
        cr_assert_eq(f->created, T.now);
        cr_assert_eq(f->head.length, 3);
        cr_assert_str_eq(f->head.entry_id, "c");
        cr_assert_str_eq(f->head.hash, get("s")->head.hash);
        cr_assert_neq(f->head.branch, get("s")->head.branch);
        f = get("f");
    }
    cr_assert_eq(cut.policy, RAMET_CUT_EXACT);
    cr_assert_str_eq(cut.entry_id, "c");
    cr_assert_eq(cut.side, RAMET_AFTER);
    cr_assert_eq(cut.position, 3);
    cr_assert_str_eq(ids("f"), "a b c");
}

Test(fork, before_and_after_every_entry)
{
    abc();
    static const struct {
        ramet_at at;
        const char *ids;
        int64_t position;
    } cases[] = {
        {{"a", RAMET_BEFORE}, "", 0},    {{"a", RAMET_AFTER}, "a", 1},
        {{"b", RAMET_BEFORE}, "a", 1},   {{"b", RAMET_AFTER}, "a b", 2},
        {{"c", RAMET_BEFORE}, "a b", 2}, {{"c", RAMET_AFTER}, "a b c", 3},
    };
    const char *source = dump("s", 0);
    for (size_t i = 0; i < 6; i++) {
        ramet_session *f = NULL;
        ramet_cut cut;
        ok(ramet_fork(T.call, "s", &(ramet_fork_in){.at = cases[i].at}, &f, &cut));
        cr_assert_str_eq(ids(f->id), cases[i].ids, "case %zu", i);
        cr_assert_eq(cut.position, cases[i].position);
        cr_assert_eq(f->head.length, cases[i].position);
        if (cases[i].position) {
            ramet_entry *e = NULL;
            ok(ramet_entry_get(T.call, "s", 0, f->head.entry_id, &e));
            cr_assert_str_eq(f->head.hash, e->hash);
        } else {
            cr_assert_str_eq(f->head.hash, NO_HASH);
            cr_assert_null(f->head.entry_id);
            cr_assert_str_eq(f->fork_entry_id, "a");
            cr_assert_eq(f->fork_side, RAMET_BEFORE);
            cr_assert_str_eq(cut.entry_id, "a");
            cr_assert_eq(cut.side, RAMET_BEFORE);
            cr_assert_str_eq(f->parent_id, "s");
        }
    }
    cr_assert_str_eq(dump("s", 0), source);
}

Test(fork, of_an_empty_session)
{
    make("s");
    ramet_session *f = fork_at("s", NULL, "f");
    cr_assert_eq(f->head.length, 0);
    cr_assert_null(f->fork_entry_id);
    cr_assert_str_eq(f->parent_id, "s");
    say("f", "x");
    say("s", "y");
    cr_assert_str_eq(ids("f"), "x");
    cr_assert_str_eq(ids("s"), "y");
}

Test(fork, carries_what_it_is_given)
{
    abc();
    ramet_agent agent = {.name = "other", .model = "m2"};
    ramet_session *f = NULL;
    ramet_fork_in in = {
        .id = "f",
        .title = "Try two",
        .reason = "the first was bad",
        .agent = &agent,
        .metadata = "{\"x\":1}",
        .type = RAMET_AUTO_REGENERATE,
        .visibility = RAMET_PRIVATE,
        .by_kind = RAMET_BY_SYSTEM,
        .by_id = "planner",
        .ephemeral_us = 60 * SECOND,
    };
    ok(ramet_fork(T.call, "s", &in, &f, NULL));
    cr_assert_str_eq(f->title, "Try two");
    cr_assert_str_eq(f->reason, "the first was bad");
    cr_assert_str_eq(f->agent.name, "other");
    cr_assert_str_eq(f->agent.model, "m2");
    cr_assert_str_eq(f->metadata, "{\"x\":1}");
    cr_assert_eq(f->type, RAMET_AUTO_REGENERATE);
    cr_assert_eq(f->visibility, RAMET_PRIVATE);
    cr_assert_eq(f->by_kind, RAMET_BY_SYSTEM);
    cr_assert_str_eq(f->by_id, "planner");
    cr_assert_eq(f->expires, T.now + 60 * SECOND);
}

Test(fork, takes_the_parents_agent_but_not_its_metadata)
{
    ramet_session *s = NULL;
    ok(ramet_session_create(
        T.call,
        &(ramet_session_in){.id = "s",
                            .owner = "ann",
                            .metadata = "{\"m\":1}",
                            .agent = {.name = "echo", .options = "{\"t\":0.50}"}},
        &s));
    ramet_call *ann = as("ann");
    ramet_session *f = NULL;
    ok_for(ann, ramet_fork(ann, "s", &(ramet_fork_in){.id = "f"}, &f, NULL));
    cr_assert_str_eq(f->agent.name, "echo");
    cr_assert_str_eq(f->agent.options, "{\"t\":0.50}");
    cr_assert_str_eq(f->metadata, "{}");
    cr_assert_eq(f->n_tags, 0);
    cr_assert_str_eq(f->owner, "ann");
    cr_assert_eq(f->by_kind, RAMET_BY_USER);
    cr_assert_str_eq(f->by_id, "ann");
}

Test(fork, belongs_to_who_forked)
{
    abc();
    join("s", "bob", RAMET_WRITER);
    ramet_call *bob = as("bob");
    ramet_session *f = NULL;
    ok_for(bob, ramet_fork(bob, "s", &(ramet_fork_in){.id = "f"}, &f, NULL));
    cr_assert_str_eq(f->owner, "bob");
    cr_assert_str_eq(f->by_id, "bob");
}

Test(fork, an_entry_off_the_present_path_is_not_found)
{
    abc();
    int64_t old = get("s")->head.branch;
    rewind_to("s", "a");
    say("s", "d");
    make("t");
    say("t", "z");
    fork_at("s", NULL, "sibling");
    say("sibling", "only-there");
    const char *before = mark();
    ramet_session *f;
    static const char *const missing[] = {"b", "c", "z", "only-there", "none"};
    for (size_t i = 0; i < 5; i++)
        refused(RAMET_ENTRY_NOT_FOUND, "at.entry_id",
                ramet_fork(T.call, "s",
                           &(ramet_fork_in){.at = {missing[i], RAMET_AFTER}, .id = "f"}, &f, NULL));
    refused(RAMET_BRANCH_NOT_FOUND, "branch_id",
            ramet_fork(T.call, "s", &(ramet_fork_in){.branch = get("t")->head.branch}, &f, NULL));
    refused(RAMET_SESSION_NOT_FOUND, NULL,
            ramet_fork(T.call, "none", &(ramet_fork_in){0}, &f, NULL));
    cr_assert_str_eq(mark(), before, "nothing is created");
    ok(ramet_fork(T.call, "s", &(ramet_fork_in){.at = {"b", RAMET_AFTER}, .branch = old, .id = "f"},
                  &f, NULL));
    cr_assert_str_eq(ids("f"), "a b");
    ok(ramet_fork(T.call, "s", &(ramet_fork_in){.branch = old, .id = "g"}, &f, NULL));
    cr_assert_str_eq(ids("g"), "a b c", "the end of the branch that was named");
}

Test(fork, of_a_fork_of_a_fork)
{
    abc();
    fork_at("s", "b", "f");
    say("f", "d e");
    fork_at("f", "d", "g");
    say("g", "x");
    fork_at("g", "a", "h");
    cr_assert_str_eq(ids("s"), "a b c");
    cr_assert_str_eq(ids("f"), "a b d e");
    cr_assert_str_eq(ids("g"), "a b d x");
    cr_assert_str_eq(ids("h"), "a");
    cr_assert_eq(get("h")->depth, 3);
    cr_assert_str_eq(get("h")->parent_id, "g");
    cr_assert_str_eq(get("h")->tree_id, get("s")->tree_id);
}

Test(fork, can_depend_on_the_head)
{
    abc();
    char seen[65];
    memcpy(seen, get("s")->head.hash, 65);
    ramet_session *f;
    ok(ramet_fork(T.call, "s", &(ramet_fork_in){.expected_head = seen}, &f, NULL));
    say("s", "d");
    const char *before = mark();
    refused(RAMET_HEAD_MOVED, "expected_head",
            ramet_fork(T.call, "s", &(ramet_fork_in){.expected_head = seen}, &f, NULL));
    cr_assert_eq(ramet_call_error(T.call)->head.length, 4);
    cr_assert_str_eq(mark(), before);
}

Test(fork, shares_the_cache_of_where_it_came_from)
{
    abc();
    fork_at("s", "b", "f");
    ramet_session *f = get("f");
    cr_assert_str_eq(f->cache_root, "s");
    cr_assert_eq(f->cache_root_shared, 2);
    say("f", "x y");
    cr_assert_eq(get("f")->cache_root_shared, 2);
    ramet_session *s = get("s");
    cr_assert_str_eq(s->cache_root, "s", "a root is its own");
    cr_assert_eq(s->cache_root_shared, 3);
}

/* The root of a history may own several runs of it, and all before the last one was in its cache.
 */
Test(fork, shares_the_cache_up_to_the_last_entry_of_the_root)
{
    ramet_merge_out out;
    char id[16], from[16] = "f";
    abc();
    fork_at("s", NULL, "f");
    say("f", "d");
    ok(ramet_merge(T.call, "s", &(ramet_merge_in){.mode = RAMET_FAST_FORWARD, .from = "f"}, &out));
    say("s", "e");
    fork_at("s", NULL, "g");
    say("g", "g");
    cr_assert_str_eq(get("g")->cache_root, "s");
    cr_assert_eq(get("g")->cache_root_shared, 5);
    say("f", "x");
    cr_assert_eq(get("f")->cache_root_shared, 3);
    /* Far from the root, too. */
    for (int i = 0; i < 40; i++) {
        snprintf(id, sizeof id, "f%d", i);
        fork_at(from, NULL, id);
        say(id, id);
        snprintf(from, sizeof from, "%s", id);
    }
    cr_assert_eq(get(from)->cache_root_shared, 3);
    snprintf(from, sizeof from, "g");
    for (int i = 0; i < 40; i++) {
        snprintf(id, sizeof id, "g%d", i);
        fork_at(from, NULL, id);
        say(id, id);
        snprintf(from, sizeof from, "%s", id);
    }
    cr_assert_eq(get(from)->cache_root_shared, 5);
}

Test(fork, cuts_the_adk_log_too)
{
    make("s");
    say_both("s", 3);
    ramet_session *f = NULL;
    ok(ramet_fork(
        T.call, "s",
        &(ramet_fork_in){.at = {"m1", RAMET_AFTER}, .adk_at = {"k0", RAMET_AFTER}, .id = "f"}, &f,
        NULL));
    cr_assert_eq(f->head.length, 2);
    cr_assert_eq(f->adk.length, 1);
    cr_assert_str_eq(f->adk.entry_id, "k0");
    ok(ramet_fork(T.call, "s", &(ramet_fork_in){.at = {"m1", RAMET_AFTER}, .id = "g"}, &f, NULL));
    cr_assert_eq(f->adk.length, 2, "what was there while m1 was the newest");
    cr_assert_str_eq(f->adk.entry_id, "k1");
    ok(ramet_fork(T.call, "s", &(ramet_fork_in){.at = {"m0", RAMET_BEFORE}, .id = "h"}, &f, NULL));
    cr_assert_eq(f->adk.length, 0);
    ok(ramet_fork(T.call, "s", &(ramet_fork_in){.id = "i"}, &f, NULL));
    cr_assert_eq(f->adk.length, 3);
    refused(RAMET_ENTRY_NOT_FOUND, "adk_at.entry_id",
            ramet_fork(T.call, "s", &(ramet_fork_in){.adk_at = {"m0", RAMET_AFTER}}, &f, NULL));
    ramet_page page;
    ok(ramet_read(T.call, "g", &(ramet_read_in){.log = RAMET_LOG_ADK}, &page));
    cr_assert_eq(page.n, 2);
    cr_assert_str_eq(page.entries[1].id, "k1");
    cr_assert_eq(get("s")->adk.length, 3);
}

Test(fork, writes_the_same_little_whatever_the_length)
{
    make("s");
    ramet_entry_in in[500];
    for (int i = 0; i < 500; i++)
        in[i] = (ramet_entry_in){.role = RAMET_USER, .text = "x"};
    ramet_append_out out;
    ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = in, .n = 500}, &out));
    ramet_stats before, after;
    ok(ramet_stat(T.call, &before));
    fork_at("s", NULL, "f");
    ok(ramet_stat(T.call, &after));
    cr_assert_eq(after.entries, before.entries, "no entry is copied");
    cr_assert_eq(after.branches, before.branches + 1);
    cr_assert_eq(after.sessions, before.sessions + 1);
    cr_assert_eq(after.forks, before.forks + 1);
    cr_assert_eq(after.trees, before.trees);
}
