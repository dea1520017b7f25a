/* SPDX-License-Identifier: Apache-2.0
 *
 * bounds.c: what is read must not depend on what lies around it: large entries, other channels,
 * limits of another day, a clock that went back.
 */
#include "help.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

TestSuite(bounds, .init = scratch_open, .fini = scratch_close, .timeout = 120);

/* `n` entries of a channel, each of that many bytes that do not compress to nothing. */
static void fill(const char *session, const char *channel, size_t n, size_t bytes)
{
    char *text = malloc(bytes + 1);
    unsigned seed = 7;
    for (size_t i = 0; i < bytes; i++)
        text[i] = (char)('a' + (seed = seed * 1103515245u + 12345u) / 65536u % 26);
    text[bytes] = 0;
    ramet_entry_in in[100];
    for (size_t i = 0; i < 100; i++)
        in[i] = (ramet_entry_in){.role = RAMET_USER, .channel = channel, .text = text};
    while (n) {
        ramet_append_in batch = {.entries = in, .n = n < 100 ? n : 100};
        ramet_append_out out;
        ok(ramet_append(T.call, session, &batch, &out));
        ramet_call_reset(T.call);
        n -= batch.n;
    }
    free(text);
}

/* 40 MiB of another channel lie behind it: more than a page may hold. */
Test(bounds, a_channel_is_found_behind_much_of_another)
{
    make("s");
    put("s", &(ramet_entry_in){.id = "first", .role = RAMET_USER, .channel = "rare", .text = "1"});
    fill("s", "noise", 40, 1 << 20);
    ramet_page p;
    ok(ramet_read(T.call, "s", &(ramet_read_in){.channel = "rare", .tail = true}, &p));
    cr_assert_eq(p.n, 1);
    cr_assert_str_eq(p.entries[0].id, "first");
    cr_assert(!p.more_before && !p.more_after);
    put("s", &(ramet_entry_in){.id = "last", .role = RAMET_USER, .channel = "rare", .text = "2"});
    ok(ramet_read(T.call, "s", &(ramet_read_in){.channel = "rare", .limit = 1, .after = "first"},
                  &p));
    cr_assert_eq(p.n, 1);
    cr_assert_str_eq(p.entries[0].id, "last");
    cr_assert_str_eq(p.entries[0].text, "2");
    cr_assert(p.more_before && !p.more_after);
}

/* Far less than the 120 MB that the history has. */
Test(bounds, a_channel_is_read_in_little_memory)
{
    make("s");
    fill("s", "noise", 30000, 4000);
    put("s", &(ramet_entry_in){.id = "last", .role = RAMET_USER, .channel = "rare", .text = "2"});
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    ramet_page p;
    ok(ramet_read(T.call, "s", &(ramet_read_in){.channel = "rare"}, &p));
    cr_assert_eq(p.n, 1);
    ramet_stream *stream = NULL;
    const ramet_entry *e = NULL;
    ok(ramet_stream_open(T.call, "s", &(ramet_read_in){.channel = "rare"}, &stream));
    ok(ramet_stream_next(stream, &e));
    cr_assert_str_eq(e->id, "last");
    ok(ramet_stream_next(stream, &e));
    cr_assert_null(e);
    ramet_stream_close(stream);
    getrusage(RUSAGE_SELF, &after);
#ifndef __SANITIZE_ADDRESS__ /* it keeps what was freed */
    cr_assert_lt(after.ru_maxrss - before.ru_maxrss, 80 << 10, "%ld KiB more",
                 after.ru_maxrss - before.ru_maxrss);
#endif
}

Test(bounds, an_entry_outlives_the_limit_it_was_written_under)
{
    make("s");
    fill("s", NULL, 1, 3 << 20);
    ramet_options opt = scratch_options();
    opt.limits.entry_bytes = 1 << 16;
    scratch_reopen(&opt);
    ramet_page p;
    ok(ramet_read(T.call, "s", &(ramet_read_in){0}, &p));
    cr_assert_eq(strlen(p.entries[0].text), 3 << 20);
    fork_at("s", NULL, "f");
    cr_assert_eq(ramet_health(T.store), RAMET_OK);
}

/* Two keys that differ only behind U+0000 would become one. */
Test(bounds, a_state_key_holds_no_nul)
{
    make("s");
    ramet_entry_in in = {.role = RAMET_SYSTEM, .state_delta = "{\"a\\u0000x\":1,\"a\\u0000y\":2}"};
    ramet_append_out out;
    refused(RAMET_INVALID, "entries[0].state_delta",
            ramet_append(T.call, "s", &(ramet_append_in){.entries = &in, .n = 1}, &out));
}

/* A fork of a fork that is older than its parent, by the clock. */
Test(bounds, a_tree_goes_whole_whatever_the_clock_did)
{
    make("s");
    fork_at("s", NULL, "f");
    tick(-DAY);
    fork_at("f", NULL, "g");
    fork_at("g", NULL, "h");
    ramet_delete_out gone;
    ok(ramet_session_delete(T.call, "f", true, false, &gone));
    cr_assert_eq(gone.n, 3);
    ramet_session *s = NULL;
    refused(RAMET_SESSION_NOT_FOUND, "session", ramet_session_get(T.call, "h", &s));
    cr_assert_str_eq(get("s")->id, "s");
}

/* Each call is answered only behind the next one: no place between parts none. */
Test(bounds, a_long_chain_of_overlapping_pairs)
{
    make("s");
    enum { N = 6000, BATCH = 500 };
    static char parts[BATCH * 2][80];
    static ramet_entry_in in[BATCH * 2];
    for (int i = 0; i < N; i += BATCH) {
        for (int k = 0; k < BATCH; k++) {
            char *call = parts[k * 2], *result = parts[k * 2 + 1];
            snprintf(call, sizeof parts[0],
                     "[{\"type\":\"tool_call\",\"id\":\"c%d\",\"name\":\"n\",\"input\":1}]", i + k);
            snprintf(result, sizeof parts[0],
                     "[{\"type\":\"tool_result\",\"id\":\"c%d\",\"output\":1}]", i + k - 1);
            in[k * 2] = (ramet_entry_in){.role = RAMET_ASSISTANT, .parts = call};
            in[k * 2 + 1] = (ramet_entry_in){.role = RAMET_TOOL, .parts = result};
        }
        ramet_append_out out;
        ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = in, .n = BATCH * 2}, &out));
        ramet_call_reset(T.call);
    }
    ramet_page p;
    ok(ramet_read(T.call, "s", &(ramet_read_in){.by_position = true, .position = N, .limit = 1},
                  &p));
    ramet_session *f = NULL;
    ramet_cut cut;
    ramet_fork_in at = {.at = {p.entries[0].id, RAMET_AFTER}, .cut = RAMET_CUT_SNAP_AFTER};
    ok(ramet_fork(T.call, "s", &at, &f, &cut));
    cr_assert(cut.position > N + 1000 && cut.position <= N + 2001, "%d", (int)cut.position);
    at.cut = RAMET_CUT_SNAP_BEFORE;
    ok(ramet_fork(T.call, "s", &at, &f, &cut));
    cr_assert(cut.position < N - 1000 && cut.position >= N - 2001, "%d", (int)cut.position);
}

/* They are kept one level deeper, in the agent's settings. */
Test(bounds, agent_options_as_deep_as_allowed)
{
    char open[128] = "", shut[128] = "", deep[300];
    memset(open, '[', 127);
    memset(shut, ']', 127);
    snprintf(deep, sizeof deep, "{\"a\":%s%s}", open, shut);
    ramet_session_in in = {.id = "s", .agent = {.name = "x", .model = "m", .options = deep}};
    ramet_session *s = NULL;
    ok(ramet_session_create(T.call, &in, &s));
    cr_assert_str_eq(s->agent.model, "m");
    cr_assert_str_eq(s->agent.options, deep);
}

/* The entry itself is named by whoever reads it; a search and gc get past it. */
Test(bounds, a_damaged_body_blocks_neither_search_nor_gc)
{
    make("s");
    fill("s", NULL, 1, 20000);
    make("t");
    put("t", &(ramet_entry_in){.id = "e", .role = RAMET_USER, .text = "lighthouse"});
    sql_run(T.path, "UPDATE body SET packed=zeroblob(2)");
    ramet_page p;
    refused(RAMET_DAMAGED, NULL, ramet_read(T.call, "s", &(ramet_read_in){0}, &p));
    ramet_hits hits;
    ok(ramet_search(T.call, &(ramet_search_in){.query = "lighthouse"}, &hits));
    cr_assert_eq(hits.n, 1);
    drop("s");
    tick(30 * DAY);
    ramet_gc_out gone;
    ok(ramet_gc(T.call, false, NULL, NULL, &gone));
    cr_assert_eq(gone.entries, 1);
    cr_assert_eq(sql_number("SELECT count(*) FROM body"), 0);
    cr_assert_eq(ramet_health(T.store), RAMET_OK);
}

Test(bounds, who_asks_is_checked_before_it_is_written)
{
    make("s");
    ramet_call *c = ramet_call_new(T.store, NULL, "bad\nclient");
    ramet_entry_in in = {.role = RAMET_USER, .text = "x"};
    ramet_append_in batch = {.entries = &in, .n = 1};
    ramet_append_out out;
    refused_for(c, RAMET_BAD_ID, "client", ramet_append(c, "s", &batch, &out));
    ramet_call_free(c);
    ramet_session *s = NULL;
    c = as("\xff");
    refused_for(c, RAMET_BAD_ID, "user", ramet_fork(c, "s", &(ramet_fork_in){0}, &s, NULL));
}

/* A snapshot that could not be read again would take the whole state with it. */
Test(bounds, a_state_has_a_limit_and_stays_readable)
{
    make("s");
    make("t");
    enum { VALUES = 900000 };
    char *delta = malloc(VALUES * 2 + 32);
    ramet_entry_in in = {.role = RAMET_SYSTEM, .state_delta = delta};
    ramet_append_in batch = {.entries = &in, .n = 1};
    ramet_append_out out;
    for (char key = 'a'; key <= 'd'; key++) {
        int n = snprintf(delta, 16, "{\"%c\":[1", key);
        for (int i = 1; i < VALUES; i++, n += 2)
            memcpy(delta + n, ",1", 2);
        memcpy(delta + n, "]}", 3);
        if (key < 'd')
            ok(ramet_append(T.call, "s", &batch, &out));
        else
            refused(RAMET_TOO_LARGE, NULL, ramet_append(T.call, "s", &batch, &out));
    }
    const char *state = NULL;
    ok(ramet_state(T.call, "s", NULL, &state));
    cr_assert_eq(strlen(state), 3 * (VALUES * 2 + 5) + 3 + 1);
    say("t", "e");
    char less[] = "{\"a\":null,\"b\":null}";
    ok(ramet_append(
        T.call, "s",
        &(ramet_append_in){.entries = &(ramet_entry_in){.role = RAMET_SYSTEM, .state_delta = less},
                           .n = 1},
        &out));
    ok(ramet_append(T.call, "s", &batch, &out));
    ok(ramet_state(T.call, "s", NULL, &state));
    cr_assert_eq(strncmp(state, "{\"c\":[1", 7), 0);
    free(delta);
}
