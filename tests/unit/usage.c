/* SPDX-License-Identifier: Apache-2.0
 *
 * usage.c: tokens and money of a session's own entries, of its path, of its tree.
 */
#include "help.h"

TestSuite(usage, .init = scratch_open, .fini = scratch_close);

static void spend(const char *session, const char *id, int64_t in, int64_t out, int64_t cost,
                  const char *currency)
{
    ramet_usage u = {
        .input = in, .output = out, .cached = in / 2, .cost = cost, .currency = currency};
    put(session, &(ramet_entry_in){.id = id, .role = RAMET_ASSISTANT, .text = "x", .usage = &u});
}

static void sum_is(const ramet_usage_sum *s, int64_t entries, int64_t in, int64_t out, int64_t cost,
                   int line)
{
    cr_assert_eq(s->entries, entries, "line %d: %d entries", line, (int)s->entries);
    cr_assert_eq(s->input, in, "line %d: %d in", line, (int)s->input);
    cr_assert_eq(s->output, out, "line %d: %d out", line, (int)s->output);
    if (cost == 0) {
        cr_assert_eq(s->n_money, 0, "line %d", line);
        return;
    }
    cr_assert_eq(s->n_money, 1, "line %d", line);
    cr_assert_eq(s->money[0].cost, cost, "line %d: cost %d", line, (int)s->money[0].cost);
    cr_assert_str_eq(s->money[0].currency, "EUR");
}

static ramet_usage_out usage(const char *session)
{
    ramet_usage_out u;
    ok(ramet_usage_get(T.call, session, &u));
    return u;
}

Test(usage, of_one_session)
{
    make("s");
    ramet_usage_out u = usage("s");
    sum_is(&u.own, 0, 0, 0, 0, __LINE__);
    say("s", "a");
    spend("s", "b", 10, 20, 500, "EUR");
    spend("s", "c", 1, 2, 7, "EUR");
    u = usage("s");
    sum_is(&u.own, 2, 11, 22, 507, __LINE__);
    sum_is(&u.path, 2, 11, 22, 507, __LINE__);
    sum_is(&u.tree, 2, 11, 22, 507, __LINE__);
    cr_assert_eq(u.own.cached, 5);
}

Test(usage, a_fork_never_counts_twice)
{
    make("s");
    spend("s", "a", 100, 0, 0, "");
    spend("s", "b", 10, 0, 0, "");
    fork_at("s", "a", "f");
    spend("f", "c", 1, 0, 0, "");
    fork_at("f", NULL, "g");
    ramet_usage_out u = usage("f");
    sum_is(&u.own, 1, 1, 0, 0, __LINE__);
    sum_is(&u.path, 2, 101, 0, 0, __LINE__);
    sum_is(&u.tree, 3, 111, 0, 0, __LINE__);
    u = usage("g");
    sum_is(&u.own, 0, 0, 0, 0, __LINE__);
    sum_is(&u.path, 2, 101, 0, 0, __LINE__);
    sum_is(&u.tree, 3, 111, 0, 0, __LINE__);
    u = usage("s");
    sum_is(&u.own, 2, 110, 0, 0, __LINE__);
    sum_is(&u.tree, 3, 111, 0, 0, __LINE__);
}

Test(usage, abandoned_entries_were_paid_for)
{
    make("s");
    spend("s", "a", 1, 1, 10, "EUR");
    spend("s", "b", 2, 2, 20, "EUR");
    spend("s", "c", 4, 4, 40, "EUR");
    rewind_to("s", "b");
    spend("s", "d", 8, 8, 80, "EUR");
    ramet_usage_out u = usage("s");
    sum_is(&u.own, 4, 15, 15, 150, __LINE__);
    sum_is(&u.path, 3, 11, 11, 110, __LINE__);
    sum_is(&u.tree, 4, 15, 15, 150, __LINE__);
}

Test(usage, money_is_summed_by_currency)
{
    make("s");
    spend("s", "a", 1, 1, 100, "USD");
    spend("s", "b", 1, 1, 30, "EUR");
    spend("s", "c", 1, 1, 11, "USD");
    spend("s", "d", 1, 1, 0, "");
    ramet_usage_out u = usage("s");
    const ramet_usage_sum *sums[] = {&u.own, &u.path, &u.tree};
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(sums[i]->entries, 4);
        cr_assert_eq(sums[i]->n_money, 2);
        cr_assert_str_eq(sums[i]->money[0].currency, "EUR");
        cr_assert_eq(sums[i]->money[0].cost, 30);
        cr_assert_str_eq(sums[i]->money[1].currency, "USD");
        cr_assert_eq(sums[i]->money[1].cost, 111);
    }
    fork_at("s", "b", "f");
    u = usage("f");
    cr_assert_eq(u.path.n_money, 2);
    cr_assert_eq(u.path.money[1].cost, 100);
}

Test(usage, both_logs_count)
{
    make("s");
    spend("s", "a", 1, 0, 0, "");
    ramet_usage u = {.input = 10};
    ramet_append_out out;
    ramet_entry_in in = {.id = "k", .role = RAMET_ASSISTANT, .text = "x", .usage = &u};
    ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = &in, .n = 1, .log = RAMET_LOG_ADK},
                    &out));
    ramet_usage_out sum = usage("s");
    sum_is(&sum.own, 2, 11, 0, 0, __LINE__);
    sum_is(&sum.path, 2, 11, 0, 0, __LINE__);
    sum_is(&sum.tree, 2, 11, 0, 0, __LINE__);
}

Test(usage, cuts_inside_a_branch)
{
    make("s");
    for (int i = 0; i < 20; i++)
        spend("s", (char[]){(char)('a' + i), 0}, 1, 0, 1, "EUR");
    for (int i = 0; i < 20; i++) {
        char name[] = {'f', (char)('a' + i), 0}, at[] = {(char)('a' + i), 0};
        fork_at("s", at, name);
        ramet_usage_out u = usage(name);
        sum_is(&u.path, i + 1, i + 1, 0, i + 1, __LINE__);
        sum_is(&u.own, 0, 0, 0, 0, __LINE__);
    }
}
