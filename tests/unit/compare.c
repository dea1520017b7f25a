/* SPDX-License-Identifier: Apache-2.0
 *
 * compare.c: what sides share, what each has of its own, turn beside turn.
 */
#include "help.h"

#include <stdio.h>
#include <stdlib.h>

TestSuite(compare, .init = scratch_open, .fini = scratch_close);

static const char *own(const ramet_compare_side *s)
{
    static char text[4][512];
    static int slot;
    char *t = text[slot++ % 4];
    t[0] = 0;
    for (size_t i = 0; i < s->n; i++) {
        size_t have = strlen(t);
        snprintf(t + have, 512 - have, "%s%s", have ? " " : "", s->entries[i].id);
    }
    return t;
}

Test(compare, a_fork_with_its_source)
{
    ramet_session *made = NULL;
    ok(ramet_session_create(
        T.call,
        &(ramet_session_in){.id = "s", .owner = "ann", .title = "Plan", .agent = {.name = "one"}},
        &made));
    say("s", "a b");
    ramet_agent other = {.name = "two"};
    tick(SECOND);
    ok(ramet_fork(T.call, "s", &(ramet_fork_in){.id = "f", .agent = &other}, &made, NULL));
    say("s", "c");
    int64_t at_c = T.now;
    ramet_usage usage = {.input = 5, .output = 7, .cost = 1000, .currency = "EUR"};
    put("f", &(ramet_entry_in){.id = "x", .role = RAMET_USER, .text = "x", .usage = &usage});
    int64_t at_x = T.now;
    put("f", &(ramet_entry_in){.id = "y", .role = RAMET_ASSISTANT, .text = "y", .usage = &usage});
    ramet_compare_out out;
    ok(ramet_compare(T.call, (ramet_side_in[]){{"s", 0}, {"f", 0}}, 2, 0, &out));
    cr_assert_eq(out.shared, 2);
    cr_assert_eq(out.n, 2);
    const ramet_compare_side *s = &out.sides[0], *f = &out.sides[1];
    cr_assert_str_eq(s->session, "s");
    cr_assert_str_eq(f->session, "f");
    cr_assert_eq(s->branch, get("s")->head.branch);
    cr_assert_str_eq(s->title, "Plan");
    cr_assert_str_eq(f->title, "Fork of Plan");
    cr_assert_str_eq(s->agent.name, "one");
    cr_assert_str_eq(f->agent.name, "two");
    cr_assert_eq(s->head.length, 3);
    cr_assert_str_eq(f->head.hash, get("f")->head.hash);
    cr_assert_eq(s->own, 1);
    cr_assert_eq(f->own, 2);
    cr_assert_str_eq(own(s), "c");
    cr_assert_str_eq(own(f), "x y");
    cr_assert_eq(f->usage.entries, 2);
    cr_assert_eq(f->usage.input, 10);
    cr_assert_eq(f->usage.output, 14);
    cr_assert_eq(f->usage.n_money, 1);
    cr_assert_eq(f->usage.money[0].cost, 2000);
    cr_assert_eq(s->usage.entries, 0);
    cr_assert_eq(s->first, at_c);
    cr_assert_eq(s->last, at_c);
    cr_assert_eq(f->first, at_x);
    cr_assert_eq(f->last, at_x + SECOND);
}

Test(compare, equal_histories_have_nothing_of_their_own)
{
    make("s");
    say("s", "a b");
    fork_at("s", NULL, "f");
    ramet_compare_out out;
    ok(ramet_compare(T.call, (ramet_side_in[]){{"s", 0}, {"f", 0}}, 2, 0, &out));
    cr_assert_eq(out.shared, 2);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(out.sides[i].own, 0);
        cr_assert_eq(out.sides[i].n, 0);
        cr_assert_eq(out.sides[i].first, 0);
        cr_assert_eq(out.sides[i].last, 0);
    }
    cr_assert_eq(out.n_turns, 0);
}

Test(compare, a_prefix)
{
    make("s");
    say("s", "a b c");
    fork_at("s", "a", "f");
    ramet_compare_out out;
    ok(ramet_compare(T.call, (ramet_side_in[]){{"f", 0}, {"s", 0}}, 2, 0, &out));
    cr_assert_eq(out.shared, 1);
    cr_assert_eq(out.sides[0].own, 0);
    cr_assert_str_eq(own(&out.sides[1]), "b c");
}

Test(compare, unrelated_sessions_share_nothing)
{
    make("s");
    make("t");
    say("s", "a b");
    say("t", "c");
    ramet_compare_out out;
    ok(ramet_compare(T.call, (ramet_side_in[]){{"s", 0}, {"t", 0}}, 2, 0, &out));
    cr_assert_eq(out.shared, 0);
    cr_assert_str_eq(own(&out.sides[0]), "a b");
    cr_assert_str_eq(own(&out.sides[1]), "c");
    make("empty");
    ok(ramet_compare(T.call, (ramet_side_in[]){{"s", 0}, {"empty", 0}}, 2, 0, &out));
    cr_assert_eq(out.shared, 0);
    cr_assert_eq(out.sides[1].own, 0);
}

Test(compare, branches_of_one_session)
{
    make("s");
    say("s", "a b c");
    int64_t b0 = get("s")->head.branch;
    rewind_to("s", "a");
    say("s", "x");
    ramet_compare_out out;
    ok(ramet_compare(T.call, (ramet_side_in[]){{"s", b0}, {"s", 0}}, 2, 0, &out));
    cr_assert_eq(out.shared, 1);
    cr_assert_str_eq(own(&out.sides[0]), "b c");
    cr_assert_str_eq(own(&out.sides[1]), "x");
    cr_assert_eq(out.sides[0].branch, b0);
}

Test(compare, three_and_sixteen_sides)
{
    make("s");
    say("s", "a b c d");
    fork_at("s", "c", "f");
    say("f", "x");
    fork_at("s", "b", "g");
    say("g", "y");
    ramet_compare_out out;
    ok(ramet_compare(T.call, (ramet_side_in[]){{"s", 0}, {"f", 0}, {"g", 0}}, 3, 0, &out));
    cr_assert_eq(out.shared, 2, "what all share");
    cr_assert_str_eq(own(&out.sides[0]), "c d");
    cr_assert_str_eq(own(&out.sides[1]), "c x");
    cr_assert_str_eq(own(&out.sides[2]), "y");
    ramet_side_in many[17];
    for (int i = 0; i < 17; i++)
        many[i] = (ramet_side_in){i % 2 ? "f" : "s", 0};
    ok(ramet_compare(T.call, many, 16, 0, &out));
    cr_assert_eq(out.n, 16);
    cr_assert_eq(out.shared, 3);
    refused(RAMET_INVALID, "sides", ramet_compare(T.call, many, 17, 0, &out));
    refused(RAMET_INVALID, "sides", ramet_compare(T.call, many, 1, 0, &out));
    refused(RAMET_INVALID, "sides", ramet_compare(T.call, many, 0, 0, &out));
}

Test(compare, what_is_not_there)
{
    make("s");
    make("t");
    ramet_compare_out out;
    refused(RAMET_SESSION_NOT_FOUND, NULL,
            ramet_compare(T.call, (ramet_side_in[]){{"s", 0}, {"none", 0}}, 2, 0, &out));
    refused(RAMET_BRANCH_NOT_FOUND, NULL,
            ramet_compare(T.call, (ramet_side_in[]){{"s", 0}, {"s", get("t")->head.branch}}, 2, 0,
                          &out));
    refused(RAMET_INVALID, "limit",
            ramet_compare(T.call, (ramet_side_in[]){{"s", 0}, {"t", 0}}, 2, 1001, &out));
}

Test(compare, turns_stand_beside_each_other)
{
    make("s");
    say("s", "shared");
    fork_at("s", NULL, "f");
    ask("s", "q1", "one");
    answer("s", "r1", "eins");
    answer("s", "r1b", "eins, again");
    ask("s", "q2", "two");
    answer("s", "r2", "zwei");
    ask("f", "p1", "uno");
    answer("f", "o1", "one");
    ramet_compare_out out;
    ok(ramet_compare(T.call, (ramet_side_in[]){{"s", 0}, {"f", 0}}, 2, 0, &out));
    cr_assert_eq(out.n_turns, 2);
    cr_assert_eq(out.turns[0].side[0].from, 0);
    cr_assert_eq(out.turns[0].side[0].to, 3);
    cr_assert_eq(out.turns[0].side[1].from, 0);
    cr_assert_eq(out.turns[0].side[1].to, 2);
    cr_assert_eq(out.turns[1].side[0].from, 3);
    cr_assert_eq(out.turns[1].side[0].to, 5);
    cr_assert_eq(out.turns[1].side[1].from, out.turns[1].side[1].to, "no such turn");
}

Test(compare, the_limit_bounds_what_is_read_not_what_is_counted)
{
    make("s");
    say("s", "a");
    fork_at("s", NULL, "f");
    for (int i = 0; i < 120; i++)
        put("f", &(ramet_entry_in){.role = RAMET_USER, .text = "x"});
    ramet_compare_out out;
    ok(ramet_compare(T.call, (ramet_side_in[]){{"s", 0}, {"f", 0}}, 2, 7, &out));
    cr_assert_eq(out.sides[1].n, 7);
    cr_assert_eq(out.sides[1].own, 120);
    cr_assert_eq(out.sides[1].last, T.now, "of all its own");
    ok(ramet_compare(T.call, (ramet_side_in[]){{"s", 0}, {"f", 0}}, 2, 0, &out));
    cr_assert_eq(out.sides[1].n, 100);
    ok(ramet_compare(T.call, (ramet_side_in[]){{"s", 0}, {"f", 0}}, 2, 1000, &out));
    cr_assert_eq(out.sides[1].n, 120);
}

Test(compare, every_parting_point_of_a_long_history)
{
    make("s");
    enum { N = 300 };
    ramet_entry_in in[N];
    char names[N][8];
    for (int i = 0; i < N; i++) {
        snprintf(names[i], sizeof names[i], "e%d", i);
        in[i] = (ramet_entry_in){.id = names[i], .role = RAMET_USER, .text = "t"};
    }
    ramet_append_out done;
    ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = in, .n = N}, &done));
    for (int at = 0; at < N; at += at < 5 ? 1 : 37) {
        char id[16];
        snprintf(id, sizeof id, "f%d", at);
        fork_at("s", names[at], id);
        say(id, "own");
        ramet_compare_out out;
        ok(ramet_compare(T.call, (ramet_side_in[]){{"s", 0}, {id, 0}}, 2, 1, &out));
        cr_assert_eq(out.shared, at + 1, "parted after %d", at);
        cr_assert_eq(out.sides[0].own, N - at - 1);
    }
}

Test(compare, turns_go_by_their_id_where_there_is_one)
{
    make("s");
    say("s", "shared");
    fork_at("s", NULL, "f");
    static const char *const turns[] = {"t1", "t1", "t2", "t2"};
    for (int i = 0; i < 4; i++)
        put("s",
            &(ramet_entry_in){.role = i % 2 ? RAMET_ASSISTANT : RAMET_USER, .turn_id = turns[i]});
    put("f", &(ramet_entry_in){.role = RAMET_USER, .turn_id = "u1"});
    put("f", &(ramet_entry_in){.role = RAMET_USER, .turn_id = "u1"});
    put("f", &(ramet_entry_in){.role = RAMET_ASSISTANT, .turn_id = "u1"});
    ramet_compare_out out;
    ok(ramet_compare(T.call, (ramet_side_in[]){{"s", 0}, {"f", 0}}, 2, 0, &out));
    cr_assert_eq(out.n_turns, 2);
    cr_assert_eq(out.turns[0].side[0].to, 2);
    cr_assert_eq(out.turns[0].side[1].to, 3, "two user messages of one turn");
    cr_assert_eq(out.turns[1].side[0].from, 2);
    cr_assert_eq(out.turns[1].side[0].to, 4);
}
