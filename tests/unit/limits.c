/* SPDX-License-Identifier: Apache-2.0
 *
 * limits.c: each limit has its own error; at the limit it fits, over it nothing is written.
 */
#include "help.h"

#include <stdio.h>
#include <stdlib.h>

TestSuite(limits, .init = scratch_open, .fini = scratch_close);

/* A text of n characters, each of `bytes` bytes. */
static char *text_of(size_t n, const char *character)
{
    size_t bytes = strlen(character);
    char *text = malloc(n * bytes + 1);
    for (size_t i = 0; i < n; i++)
        memcpy(text + i * bytes, character, bytes);
    text[n * bytes] = 0;
    return text;
}

static ramet_status append_n(size_t n, const ramet_entry_in *each)
{
    ramet_entry_in *in = calloc(n, sizeof *in);
    for (size_t i = 0; i < n; i++)
        in[i] = *each;
    ramet_append_out out;
    ramet_status st = ramet_append(T.call, "s", &(ramet_append_in){.entries = in, .n = n}, &out);
    free(in);
    return st;
}

Test(limits, an_entry_of_16_mib, .timeout = 60)
{
    make("s");
    char *fits = text_of((16u << 20) - 1024, "x"), *over = text_of((16u << 20) + 1, "x");
    ok(append_n(1, &(ramet_entry_in){.id = "fits", .role = RAMET_USER, .text = fits}));
    const char *before = mark();
    refused(RAMET_ENTRY_TOO_LARGE, NULL,
            append_n(1, &(ramet_entry_in){.role = RAMET_USER, .text = over}));
    cr_assert_eq(strncmp(ramet_call_error(T.call)->field, "entries[0]", 10), 0);
    over[0] = over[(16u << 20)] = '"';
    refused(RAMET_ENTRY_TOO_LARGE, NULL,
            append_n(1, &(ramet_entry_in){.role = RAMET_USER, .format = "a2a", .body = over}));
    cr_assert_str_eq(mark(), before);
    ramet_entry *e = NULL;
    ok(ramet_entry_get(T.call, "s", 0, "fits", &e));
    cr_assert_eq(strlen(e->text), (16u << 20) - 1024);
    free(fits);
    free(over);
}

Test(limits, all_fields_of_an_entry_count_together)
{
    ramet_options opt = scratch_options();
    opt.limits.entry_bytes = 4096;
    scratch_reopen(&opt);
    make("s");
    char *half = text_of(2500, "x"), body[2600], delta[2600];
    snprintf(body, sizeof body, "\"%s\"", half);
    snprintf(delta, sizeof delta, "{\"k\":\"%s\"}", half);
    ok(append_n(1, &(ramet_entry_in){.role = RAMET_USER, .text = half}));
    const char *before = mark();
    refused(RAMET_ENTRY_TOO_LARGE, NULL,
            append_n(1, &(ramet_entry_in){
                            .role = RAMET_USER, .text = half, .format = "x", .body = body}));
    refused(RAMET_ENTRY_TOO_LARGE, NULL,
            append_n(1, &(ramet_entry_in){.role = RAMET_USER, .text = half, .state_delta = delta}));
    ramet_append_out out;
    char *over = text_of(5000, "x");
    refused(RAMET_ENTRY_TOO_LARGE, NULL,
            ramet_edit(T.call, "s", get("s")->head.entry_id, &(ramet_entry_in){.text = over}, NULL,
                       &out));
    ramet_sync_out sync;
    refused(RAMET_ENTRY_TOO_LARGE, NULL,
            ramet_sync(T.call, "s", &(ramet_entry_in){.role = RAMET_USER, .text = over}, 1, NULL,
                       &sync));
    cr_assert_str_eq(mark(), before);
    free(half);
    free(over);
}

Test(limits, a_batch_of_1000)
{
    make("s");
    ramet_entry_in each = {.role = RAMET_USER, .text = "x"};
    ok(append_n(1000, &each));
    const char *before = mark();
    refused(RAMET_BATCH_TOO_LARGE, "entries", append_n(1001, &each));
    cr_assert_str_eq(mark(), before);
    cr_assert_eq(get("s")->head.length, 1000);
}

Test(limits, a_sync_of_its_own_length)
{
    ramet_options opt = scratch_options();
    opt.limits.sync = 5;
    opt.limits.batch = 3;
    scratch_reopen(&opt);
    make("s");
    ramet_entry_in in[6];
    for (int i = 0; i < 6; i++)
        in[i] = (ramet_entry_in){.role = RAMET_USER, .text = "x"};
    ramet_sync_out out;
    ok(ramet_sync(T.call, "s", in, 5, NULL, &out));
    const char *before = mark();
    refused(RAMET_BATCH_TOO_LARGE, "entries", ramet_sync(T.call, "s", in, 6, NULL, &out));
    refused(RAMET_BATCH_TOO_LARGE, "entries", append_n(4, &in[0]));
    cr_assert_str_eq(mark(), before);
}

Test(limits, ids_of_255_bytes)
{
    make("s");
    char *fits = text_of(255, "x"), *over = text_of(256, "x"), *wide = text_of(128, "é");
    ok(append_n(1, &(ramet_entry_in){.id = fits, .role = RAMET_USER, .turn_id = fits}));
    const char *before = mark();
    refused(RAMET_BAD_ID, "entries[0].id",
            append_n(1, &(ramet_entry_in){.id = over, .role = RAMET_USER}));
    refused(RAMET_BAD_ID, "entries[0].id",
            append_n(1, &(ramet_entry_in){.id = wide, .role = RAMET_USER}));
    refused(RAMET_BAD_ID, "entries[0].id",
            append_n(1, &(ramet_entry_in){.id = "", .role = RAMET_USER}));
    ramet_session *s;
    refused(RAMET_BAD_ID, "id", ramet_fork(T.call, "s", &(ramet_fork_in){.id = over}, &s, NULL));
    refused(RAMET_BAD_ID, "user", ramet_member_set(T.call, "s", over, RAMET_READER));
    cr_assert_str_eq(mark(), before);
    free(fits);
    free(over);
    free(wide);
}

Test(limits, a_title_of_500_characters)
{
    make("s");
    char *fits = text_of(500, "é"), *over = text_of(501, "é");
    ramet_session *s = NULL;
    ok(ramet_session_update(T.call, "s", &(ramet_session_patch){.title = fits}, &s));
    cr_assert_str_eq(s->title, fits);
    const char *before = mark();
    refused(RAMET_TITLE_TOO_LONG, "title",
            ramet_session_update(T.call, "s", &(ramet_session_patch){.title = over}, &s));
    refused(RAMET_TITLE_TOO_LONG, "title",
            ramet_session_create(T.call, &(ramet_session_in){.title = over}, &s));
    refused(RAMET_TITLE_TOO_LONG, "title",
            ramet_fork(T.call, "s", &(ramet_fork_in){.title = over}, &s, NULL));
    cr_assert_str_eq(mark(), before);
    free(fits);
    free(over);
}

Test(limits, a_reason_of_2000_characters)
{
    make("s");
    say("s", "a b");
    char *fits = text_of(2000, "é"), *over = text_of(2001, "é");
    ramet_session *s = NULL;
    ok(ramet_fork(T.call, "s", &(ramet_fork_in){.id = "f", .reason = fits}, &s, NULL));
    cr_assert_str_eq(s->reason, fits);
    const char *before = mark();
    refused(RAMET_REASON_TOO_LONG, "reason",
            ramet_fork(T.call, "s", &(ramet_fork_in){.reason = over}, &s, NULL));
    refused(RAMET_REASON_TOO_LONG, "reason",
            ramet_rewind(T.call, "s", &(ramet_move_in){.at = {"a", RAMET_AFTER}, .reason = over},
                         &s, NULL));
    ramet_verdict *v;
    refused(RAMET_REASON_TOO_LONG, "reason",
            ramet_verdict_add(T.call, (ramet_side_in[]){{"s", 0}, {"f", 0}}, 2, 0, over, &v));
    cr_assert_str_eq(mark(), before);
    free(fits);
    free(over);
}

Test(limits, metadata_and_agent_options_of_64_kib)
{
    make("s");
    char *fits = malloc(70000), *over = malloc(70000);
    char *pad = text_of(65536, "x");
    snprintf(fits, 70000, "{\"k\":\"%.*s\"}", 65536 - 8, pad);
    snprintf(over, 70000, "{\"k\":\"%.*s\"}", 65536 - 7, pad);
    ramet_session *s = NULL;
    ok(ramet_session_update(T.call, "s", &(ramet_session_patch){.metadata = fits}, &s));
    cr_assert_str_eq(s->metadata, fits);
    ramet_agent agent = {.name = "a", .options = fits};
    ok(ramet_session_update(T.call, "s", &(ramet_session_patch){.agent = &agent}, &s));
    const char *before = mark();
    refused(RAMET_TOO_LARGE, "metadata",
            ramet_session_update(T.call, "s", &(ramet_session_patch){.metadata = over}, &s));
    agent.options = over;
    refused(RAMET_TOO_LARGE, "agent.options",
            ramet_session_update(T.call, "s", &(ramet_session_patch){.agent = &agent}, &s));
    refused(RAMET_TOO_LARGE, "metadata",
            ramet_fork(T.call, "s", &(ramet_fork_in){.metadata = over}, &s, NULL));
    cr_assert_str_eq(mark(), before);
    free(fits);
    free(over);
    free(pad);
}

Test(limits, json_of_128_levels)
{
    make("s");
    char deep[600];
    for (int n = 128; n <= 129; n++) {
        memset(deep, '[', (size_t)n);
        memset(deep + n, ']', (size_t)n);
        deep[2 * n] = 0;
        ramet_status st =
            append_n(1, &(ramet_entry_in){.role = RAMET_USER, .format = "x", .body = deep});
        if (n == 128)
            ok(st);
        else
            refused(RAMET_INVALID, "entries[0].body", st);
    }
}

Test(limits, every_limit_can_be_set)
{
    ramet_options opt = scratch_options();
    opt.limits = (ramet_limits){.entry_bytes = 1000,
                                .batch = 2,
                                .id_bytes = 10,
                                .title_chars = 5,
                                .reason_chars = 4,
                                .tags = 2,
                                .tag_chars = 3,
                                .json_depth = 2,
                                .meta_bytes = 20};
    scratch_reopen(&opt);
    make("s");
    say("s", "a");
    ramet_session *s;
    ramet_tags tags;
    const char *before = mark();
    refused(RAMET_BATCH_TOO_LARGE, "entries", append_n(3, &(ramet_entry_in){.role = RAMET_USER}));
    refused(RAMET_BAD_ID, "id",
            ramet_session_create(T.call, &(ramet_session_in){.id = "12345678901"}, &s));
    refused(RAMET_TITLE_TOO_LONG, "title",
            ramet_session_create(T.call, &(ramet_session_in){.title = "123456"}, &s));
    refused(RAMET_REASON_TOO_LONG, "reason",
            ramet_fork(T.call, "s", &(ramet_fork_in){.reason = "12345"}, &s, NULL));
    refused(RAMET_TOO_MANY_TAGS, "tags",
            ramet_tags_set(T.call, "s", (const char *[]){"a", "b", "c"}, 3, &tags));
    refused(RAMET_BAD_TAG, "tags", ramet_tags_set(T.call, "s", (const char *[]){"abcd"}, 1, &tags));
    refused(RAMET_INVALID, "metadata",
            ramet_session_create(T.call, &(ramet_session_in){.metadata = "{\"a\":[[]]}"}, &s));
    refused(RAMET_TOO_LARGE, "metadata",
            ramet_session_create(T.call,
                                 &(ramet_session_in){.metadata = "{\"a\":\"1234567890123\"}"}, &s));
    cr_assert_str_eq(mark(), before);
    opt.limits.id_bytes = 1000;
    scratch_reopen(&opt);
    char *over = text_of(256, "x");
    refused(RAMET_BAD_ID, "id", ramet_session_create(T.call, &(ramet_session_in){.id = over}, &s));
    free(over);
}

Test(limits, a_history_cannot_grow_past_the_last_position)
{
    make("s");
    say("s", "a");
    scratch_shut();
    sql_run(T.path, "UPDATE branch SET len = 16777215");
    scratch_reopen(NULL);
    refused(RAMET_PATH_FULL, NULL, append_n(1, &(ramet_entry_in){.role = RAMET_USER, .text = "x"}));
    cr_assert_eq(sql_number("SELECT len FROM branch"), 16777215);
    cr_assert_eq(sql_number("SELECT count(*) FROM entry"), 1);
}
