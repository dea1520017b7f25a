/* SPDX-License-Identifier: Apache-2.0
 *
 * verdict.c: which side was the better one, why, and who says so.
 */
#include "help.h"

TestSuite(verdict, .init = scratch_open, .fini = scratch_close);

static const ramet_side_in sf[] = {{"s", 0}, {"f", 0}};

static void two(void)
{
    make("s");
    say("s", "a");
    fork_at("s", NULL, "f");
}

Test(verdict, is_stored_and_listed)
{
    two();
    ramet_call *ann = as("ann");
    ramet_verdict *v = NULL;
    tick(SECOND);
    ok_for(ann, ramet_verdict_add(ann, sf, 2, 1, "shorter", &v));
    cr_assert_eq(v->winner, 1);
    cr_assert_str_eq(v->reason, "shorter");
    cr_assert_str_eq(v->who, "ann");
    cr_assert_eq(v->at, T.now);
    int64_t first = v->number;
    cr_assert_gt(first, 0);
    ok_for(ann, ramet_verdict_add(ann, sf, 2, -1, NULL, &v));
    cr_assert_eq(v->winner, -1, "a tie");
    cr_assert_gt(v->number, first);
    ramet_verdict *all;
    size_t n;
    bool more = true;
    ok_for(ann, ramet_verdicts(ann, "f", 0, 0, &all, &n, &more));
    cr_assert_eq(n, 2);
    cr_assert_not(more);
    cr_assert_eq(all[0].winner, -1, "newest first");
    cr_assert_str_eq(all[0].reason, "");
    cr_assert_eq(all[1].number, first);
    cr_assert_eq(all[1].n, 2);
    cr_assert_str_eq(all[1].sides[0].session, "s");
    cr_assert_str_eq(all[1].sides[1].session, "f");
    cr_assert_str_eq(all[1].reason, "shorter");
    ok_for(ann, ramet_verdicts(ann, NULL, 0, 1, &all, &n, &more));
    cr_assert_eq(n, 1);
    cr_assert(more);
    ok_for(ann, ramet_verdicts(ann, NULL, all[0].number, 1, &all, &n, &more));
    cr_assert_eq(n, 1);
    cr_assert_eq(all[0].number, first);
    cr_assert_not(more);
}

Test(verdict, names_branches)
{
    make("s");
    say("s", "a b");
    int64_t b0 = get("s")->head.branch, b1 = rewind_to("s", "a");
    ramet_verdict *v = NULL;
    ok(ramet_verdict_add(T.call, (ramet_side_in[]){{"s", b0}, {"s", b1}}, 2, 0, "r", &v));
    ramet_verdict *all;
    size_t n;
    bool more;
    ok(ramet_verdicts(T.call, "s", 0, 0, &all, &n, &more));
    cr_assert_eq(n, 1, "once, though it names the session twice");
    cr_assert_eq(all[0].sides[0].branch, b0);
    cr_assert_eq(all[0].sides[1].branch, b1);
}

Test(verdict, wrong_ones_are_refused)
{
    two();
    make("other");
    ramet_verdict *v;
    const char *before = mark();
    refused(RAMET_INVALID, "winner", ramet_verdict_add(T.call, sf, 2, 2, NULL, &v));
    refused(RAMET_INVALID, "winner", ramet_verdict_add(T.call, sf, 2, -2, NULL, &v));
    refused(RAMET_INVALID, "sides", ramet_verdict_add(T.call, sf, 1, 0, NULL, &v));
    refused(RAMET_INVALID, "sides",
            ramet_verdict_add(T.call, (ramet_side_in[]){{"s", 0}, {"other", 0}}, 2, 0, NULL, &v));
    refused(RAMET_SESSION_NOT_FOUND, NULL,
            ramet_verdict_add(T.call, (ramet_side_in[]){{"s", 0}, {"none", 0}}, 2, 0, NULL, &v));
    refused(RAMET_BRANCH_NOT_FOUND, NULL,
            ramet_verdict_add(T.call, (ramet_side_in[]){{"s", 0}, {"f", get("s")->head.branch}}, 2,
                              0, NULL, &v));
    cr_assert_str_eq(mark(), before);
    ramet_verdict *all;
    size_t n;
    bool more;
    ok(ramet_verdicts(T.call, "s", 0, 0, &all, &n, &more));
    cr_assert_eq(n, 0);
}

Test(verdict, needs_a_writer_and_shows_to_who_may_see_all_sides)
{
    two();
    join("s", "rita", RAMET_READER);
    join("s", "will", RAMET_WRITER);
    ramet_call *rita = as("rita"), *will = as("will"), *eve = as("eve");
    ramet_verdict *v, *all;
    size_t n;
    bool more;
    refused_for(rita, RAMET_FORBIDDEN, NULL, ramet_verdict_add(rita, sf, 2, 0, NULL, &v));
    ok_for(will, ramet_verdict_add(will, sf, 2, 0, NULL, &v));
    ok_for(rita, ramet_verdicts(rita, "s", 0, 0, &all, &n, &more));
    cr_assert_eq(n, 1);
    ok_for(eve, ramet_verdicts(eve, NULL, 0, 0, &all, &n, &more));
    cr_assert_eq(n, 0);
    refused_for(eve, RAMET_HIDDEN, NULL, ramet_verdicts(eve, "s", 0, 0, &all, &n, &more));
    ramet_session *s;
    ok_for(will, ramet_fork(will, "s", &(ramet_fork_in){.id = "mine", .visibility = RAMET_PRIVATE},
                            &s, NULL));
    ok_for(will,
           ramet_verdict_add(will, (ramet_side_in[]){{"s", 0}, {"mine", 0}}, 2, 1, "secret", &v));
    ok_for(rita, ramet_verdicts(rita, NULL, 0, 0, &all, &n, &more));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < all[i].n; j++)
            cr_assert(!all[i].sides[j].session || strcmp(all[i].sides[j].session, "mine") != 0);
}
