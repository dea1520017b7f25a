/* SPDX-License-Identifier: Apache-2.0
 *
 * token.c: API keys: made, checked, used, revoked.
 */
#include "help.h"
#include "ramet/tokens.h"

#include <stdio.h>
#include <time.h>

TestSuite(token, .init = scratch_open, .fini = scratch_close);

static ramet_token *add(const char *user, int64_t life)
{
    ramet_token *t = NULL;
    tick(SECOND);
    ok(ramet_token_add(T.call, &(ramet_token_in){.user = user, .life_us = life}, &t));
    return t;
}

Test(token, it_tells_whose_it_is)
{
    ramet_token_in in = {
        .user = "ann", .client = "laptop", .roles = "admin,auditor", .note = "her laptop"};
    ramet_token *t, *got;
    ok(ramet_token_add(T.call, &in, &t));
    cr_assert_eq(strlen(t->secret), 68);
    cr_assert_eq(strncmp(t->secret, "rmt_", 4), 0);
    cr_assert_eq(t->created, T.now);
    cr_assert_eq(t->expires, 0);
    for (int i = 0; i < 3; i++) { /* the second time it is remembered */
        ramet_call *c = as("anybody");
        ok_for(c, ramet_token_check(c, t->secret, &got));
        cr_assert_str_eq(got->id, t->id);
        cr_assert_str_eq(got->user, "ann");
        cr_assert_str_eq(got->client, "laptop");
        cr_assert_str_eq(got->roles, "admin,auditor");
        cr_assert_str_eq(got->note, "her laptop");
        cr_assert_null(got->secret);
    }
    char sql[160];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM token WHERE hex(secret) LIKE '%%%s%%'",
             t->secret + 4);
    cr_assert_eq(sql_number(sql), 0, "it is kept hashed");
    cr_assert_eq(sql_number("SELECT length(secret) FROM token"), 32);
}

Test(token, unknown_ones_are_refused)
{
    ramet_token *t = add("ann", 0), *got = t;
    char bad[80];
    static const char *const wrong[] = {"", "rmt_", "ann", "rms_0000", "rmt_00"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refused(RAMET_UNAUTHENTICATED, NULL, ramet_token_check(T.call, wrong[i], &got));
    refused(RAMET_UNAUTHENTICATED, NULL, ramet_token_check(T.call, NULL, &got));
    snprintf(bad, sizeof bad, "%s", t->secret);
    for (size_t i = 4; i < 68; i += 21) {
        char was = bad[i];
        bad[i] = was == 'a' ? 'b' : 'a';
        refused(RAMET_UNAUTHENTICATED, NULL, ramet_token_check(T.call, bad, &got));
        bad[i] = was;
    }
    bad[67] = 'F'; /* capitals are not the form */
    refused(RAMET_UNAUTHENTICATED, NULL, ramet_token_check(T.call, bad, &got));
    cr_assert_null(got);
    ok(ramet_token_check(T.call, t->secret, &got));
}

Test(token, it_expires_by_the_stores_clock)
{
    ramet_token *t = add("ann", 60 * SECOND), *got;
    cr_assert_eq(t->expires, T.now + 60 * SECOND);
    tick(60 * SECOND - 1);
    ok(ramet_token_check(T.call, t->secret, &got));
    tick(1);
    refused(RAMET_UNAUTHENTICATED, NULL, ramet_token_check(T.call, t->secret, &got));
    cr_assert_null(got);
}

Test(token, a_revoked_one_is_refused_at_once)
{
    ramet_token *t = add("ann", 0), *other = add("bob", 0), *got, *list;
    size_t n;
    ok(ramet_token_check(T.call, t->secret, &got));
    ok(ramet_token_revoke(T.call, t->id));
    refused(RAMET_UNAUTHENTICATED, NULL, ramet_token_check(T.call, t->secret, &got));
    ok(ramet_token_check(T.call, other->secret, &got));
    ok(ramet_token_revoke(T.call, t->id));
    refused(RAMET_TOKEN_NOT_FOUND, "id", ramet_token_revoke(T.call, "none"));
    refused(RAMET_BAD_ID, "id", ramet_token_revoke(T.call, ""));
    ok(ramet_tokens(T.call, &list, &n));
    cr_assert_eq(n, 2);
    cr_assert_str_eq(list[0].id, t->id);
    cr_assert(list[0].revoked);
    cr_assert_not(list[1].revoked);
    cr_assert_null(list[0].secret);
}

Test(token, one_revoked_by_another_process_is_refused_within_a_second, .timeout = 30)
{
    ramet_token *t = add("ann", 0), *got;
    ok(ramet_token_check(T.call, t->secret, &got));
    ramet_options opt = scratch_options();
    ramet *other;
    cr_assert_eq(ramet_open(T.path, &opt, &other, NULL), RAMET_OK);
    ramet_call *c = ramet_call_new(other, NULL, NULL);
    cr_assert_eq(ramet_token_revoke(c, t->id), RAMET_OK);
    struct timespec wait = {.tv_sec = 1, .tv_nsec = 50000000};
    nanosleep(&wait, NULL);
    refused(RAMET_UNAUTHENTICATED, NULL, ramet_token_check(T.call, t->secret, &got));
    ramet_call_free(c);
    ramet_close(other);
}

Test(token, its_use_is_noted_once_a_minute)
{
    ramet_token *t = add("ann", 0), *got;
    ramet_stats before, after;
    ok(ramet_token_check(T.call, t->secret, &got));
    int64_t first = T.now;
    cr_assert_eq(sql_number("SELECT used FROM token"), first);
    ok(ramet_stat(T.call, &before));
    for (int i = 0; i < 50; i++) {
        tick(SECOND);
        ok(ramet_token_check(T.call, t->secret, &got));
    }
    ok(ramet_stat(T.call, &after));
    cr_assert_eq(after.commits, before.commits, "not a write a request");
    cr_assert_eq(sql_number("SELECT used FROM token"), first);
    tick(10 * SECOND);
    ok(ramet_token_check(T.call, t->secret, &got));
    cr_assert_eq(sql_number("SELECT used FROM token"), T.now);
    cr_assert_eq(got->used, T.now);
}

Test(token, many_of_them_do_not_mix)
{
    char user[32], secrets[300][80];
    for (int i = 0; i < 300; i++) {
        snprintf(user, sizeof user, "u%d", i);
        snprintf(secrets[i], sizeof secrets[i], "%s", add(user, 0)->secret);
    }
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 300; i++) {
            ramet_token *got;
            snprintf(user, sizeof user, "u%d", i);
            ok(ramet_token_check(T.call, secrets[i], &got));
            cr_assert_str_eq(got->user, user);
        }
}

Test(token, they_are_for_the_embedding_program)
{
    ramet_token *t = add("ann", 0), *got;
    ramet_call *ann = as("ann");
    size_t n;
    refused_for(ann, RAMET_FORBIDDEN, NULL,
                ramet_token_add(ann, &(ramet_token_in){.user = "ann"}, &got));
    refused_for(ann, RAMET_FORBIDDEN, NULL, ramet_tokens(ann, &got, &n));
    refused_for(ann, RAMET_FORBIDDEN, NULL, ramet_token_revoke(ann, t->id));
    ok_for(ann, ramet_token_check(ann, t->secret, &got));
}

Test(token, bad_input_is_refused_by_name)
{
    char long_text[2200];
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = 0;
    const struct {
        ramet_token_in in;
        ramet_status status;
        const char *field;
    } bad[] = {
        {{.user = NULL}, RAMET_INVALID, "user"},
        {{.user = ""}, RAMET_BAD_ID, "user"},
        {{.user = long_text}, RAMET_BAD_ID, "user"},
        {{.user = "a", .client = ""}, RAMET_BAD_ID, "client"},
        {{.user = "a", .roles = "a,,b"}, RAMET_INVALID, "roles"},
        {{.user = "a", .roles = ","}, RAMET_INVALID, "roles"},
        {{.user = "a", .roles = "a,"}, RAMET_INVALID, "roles"},
        {{.user = "a", .roles = "a b"}, RAMET_INVALID, "roles"},
        {{.user = "a", .roles = long_text}, RAMET_TOO_LARGE, "roles"},
        {{.user = "a", .note = long_text}, RAMET_TOO_LARGE, "note"},
        {{.user = "a", .note = "\xff"}, RAMET_INVALID, "note"},
        {{.user = "a", .life_us = -1}, RAMET_INVALID, "expires"},
        {{.user = "a", .life_us = INT64_MAX}, RAMET_INVALID, "expires"},
    };
    ramet_token *t;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ramet_status got = ramet_token_add(T.call, &bad[i].in, &t);
        cr_expect_eq(got, bad[i].status, "%zu: %s", i, ramet_status_code(got));
        cr_expect_str_eq(ramet_call_error(T.call)->field, bad[i].field, "%zu", i);
        cr_expect_null(t);
    }
    cr_assert_eq(sql_number("SELECT count(*) FROM token"), 0);
}
