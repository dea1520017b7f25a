/* SPDX-License-Identifier: Apache-2.0
 *
 * read.c: pages, single entries, streams and the record.
 */
#include "help.h"

#include <stdio.h>

TestSuite(read, .init = scratch_open, .fini = scratch_close);

static const char *page_ids(const char *session, const ramet_read_in *in)
{
    static char text[8192];
    ramet_page page;
    ok(ramet_read(T.call, session, in, &page));
    snprintf(text, sizeof text, "%s", page.more_before ? "< " : "");
    for (size_t i = 0; i < page.n; i++) {
        size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "%s%s", i ? " " : "", page.entries[i].id);
    }
    if (page.more_after)
        strcat(text, " >");
    return text;
}

static void ten(void)
{
    make("s");
    say("s", "e0 e1 e2 e3 e4 e5 e6 e7 e8 e9");
}

Test(read, pages_of_every_kind)
{
    ten();
    cr_assert_str_eq(page_ids("s", &(ramet_read_in){0}), "e0 e1 e2 e3 e4 e5 e6 e7 e8 e9");
    cr_assert_str_eq(page_ids("s", &(ramet_read_in){.limit = 3}), "e0 e1 e2 >");
    cr_assert_str_eq(page_ids("s", &(ramet_read_in){.limit = 3, .tail = true}), "< e7 e8 e9");
    cr_assert_str_eq(page_ids("s", &(ramet_read_in){.limit = 3, .after = "e2"}), "< e3 e4 e5 >");
    cr_assert_str_eq(page_ids("s", &(ramet_read_in){.limit = 9, .after = "e6"}), "< e7 e8 e9");
    cr_assert_str_eq(page_ids("s", &(ramet_read_in){.limit = 3, .before = "e6", .tail = true}),
                     "< e3 e4 e5 >");
    cr_assert_str_eq(page_ids("s", &(ramet_read_in){.limit = 3, .before = "e6"}), "e0 e1 e2 >");
    cr_assert_str_eq(page_ids("s", &(ramet_read_in){.after = "e2", .before = "e6"}),
                     "< e3 e4 e5 >");
    cr_assert_str_eq(
        page_ids("s", &(ramet_read_in){.limit = 2, .after = "e2", .before = "e6", .tail = true}),
        "< e4 e5 >");
    cr_assert_str_eq(
        page_ids("s", &(ramet_read_in){.limit = 2, .by_position = true, .position = 4}),
        "< e4 e5 >");
    cr_assert_str_eq(
        page_ids("s", &(ramet_read_in){.limit = 2, .by_position = true, .position = 8}), "< e8 e9");
    cr_assert_str_eq(page_ids("s", &(ramet_read_in){.after = "e9"}), "< ");
    cr_assert_str_eq(page_ids("s", &(ramet_read_in){.before = "e0"}), " >");
    cr_assert_str_eq(page_ids("s", &(ramet_read_in){.by_position = true, .position = 10}), "< ");
    cr_assert_str_eq(page_ids("s", &(ramet_read_in){.by_position = true, .position = 99}), "< ");
    cr_assert_str_eq(page_ids("s", &(ramet_read_in){.limit = 10}), "e0 e1 e2 e3 e4 e5 e6 e7 e8 e9");
}

Test(read, an_empty_history_is_an_empty_page)
{
    make("s");
    ramet_page page;
    ok(ramet_read(T.call, "s", &(ramet_read_in){0}, &page));
    cr_assert_eq(page.n, 0);
    cr_assert_not(page.more_after || page.more_before);
    cr_assert_eq(page.head.length, 0);
    cr_assert_str_eq(page.head.hash, NO_HASH);
    cr_assert_null(page.head.entry_id);
    ok(ramet_read(T.call, "s", &(ramet_read_in){.tail = true}, &page));
    cr_assert_eq(page.n, 0);
}

Test(read, the_page_tells_the_head)
{
    ten();
    ramet_page page;
    ok(ramet_read(T.call, "s", &(ramet_read_in){.limit = 2}, &page));
    cr_assert_eq(page.head.length, 10);
    cr_assert_str_eq(page.head.entry_id, "e9");
    cr_assert_str_eq(page.head.hash, get("s")->head.hash);
    cr_assert_eq(page.head.branch, get("s")->head.branch);
}

Test(read, wrong_places_are_refused)
{
    ten();
    ramet_page page;
    refused(RAMET_ENTRY_NOT_FOUND, "after",
            ramet_read(T.call, "s", &(ramet_read_in){.after = "x"}, &page));
    refused(RAMET_ENTRY_NOT_FOUND, "before",
            ramet_read(T.call, "s", &(ramet_read_in){.before = "x"}, &page));
    refused(RAMET_INVALID, "limit",
            ramet_read(T.call, "s", &(ramet_read_in){.limit = 1001}, &page));
    refused(RAMET_INVALID, "limit", ramet_read(T.call, "s", &(ramet_read_in){.limit = -1}, &page));
    refused(RAMET_INVALID, "position",
            ramet_read(T.call, "s", &(ramet_read_in){.by_position = true, .position = -1}, &page));
    refused(RAMET_BRANCH_NOT_FOUND, "branch_id",
            ramet_read(T.call, "s", &(ramet_read_in){.branch = 99}, &page));
    refused(RAMET_SESSION_NOT_FOUND, NULL, ramet_read(T.call, "none", &(ramet_read_in){0}, &page));
    rewind_to("s", "e4");
    refused(RAMET_ENTRY_NOT_FOUND, "after",
            ramet_read(T.call, "s", &(ramet_read_in){.after = "e7"}, &page));
    make("t");
    refused(RAMET_BRANCH_NOT_FOUND, "branch_id",
            ramet_read(T.call, "s", &(ramet_read_in){.branch = get("t")->head.branch}, &page));
}

Test(read, channels)
{
    make("s");
    for (int i = 0; i < 9; i++) {
        char id[4];
        snprintf(id, sizeof id, "e%d", i);
        put("s",
            &(ramet_entry_in){.id = id, .role = RAMET_USER, .channel = i % 3 ? NULL : "memory"});
    }
    cr_assert_str_eq(page_ids("s", &(ramet_read_in){.channel = "memory"}), "e0 e3 e6");
    cr_assert_str_eq(page_ids("s", &(ramet_read_in){.channel = "history", .limit = 2}), "e1 e2 >");
    cr_assert_str_eq(
        page_ids("s", &(ramet_read_in){.channel = "history", .limit = 2, .tail = true}), "< e7 e8");
    cr_assert_str_eq(page_ids("s", &(ramet_read_in){.channel = "memory", .after = "e1"}),
                     "< e3 e6");
    cr_assert_str_eq(
        page_ids("s",
                 &(ramet_read_in){.channel = "memory", .before = "e6", .tail = true, .limit = 1}),
        "< e3 >");
    cr_assert_str_eq(page_ids("s", &(ramet_read_in){.channel = "none"}), "");
    ramet_page page;
    ok(ramet_read(T.call, "s", &(ramet_read_in){.channel = "memory"}, &page));
    cr_assert_eq(page.entries[2].position, 6, "positions are those of the path");
    cr_assert_eq(page.head.length, 9);
}

Test(read, one_entry)
{
    ten();
    int64_t old = get("s")->head.branch;
    rewind_to("s", "e4");
    ramet_entry *e;
    ok(ramet_entry_get(T.call, "s", 0, "e3", &e));
    cr_assert_str_eq(e->text, "text of e3");
    cr_assert_eq(e->position, 3);
    cr_assert_eq(e->branch, old, "the branch that owns it");
    refused(RAMET_ENTRY_NOT_FOUND, "entry_id", ramet_entry_get(T.call, "s", 0, "e5", &e));
    cr_assert(strstr(ramet_call_error(T.call)->message, "e5"));
    ok(ramet_entry_get(T.call, "s", old, "e5", &e));
    cr_assert_eq(e->position, 5);
    refused(RAMET_BRANCH_NOT_FOUND, "branch_id", ramet_entry_get(T.call, "s", 77, "e3", &e));
    refused(RAMET_ENTRY_NOT_FOUND, "entry_id", ramet_entry_get(T.call, "s", 0, "none", &e));
}

Test(read, any_branch_without_moving_the_head)
{
    ten();
    int64_t b0 = get("s")->head.branch;
    int64_t b1 = rewind_to("s", "e4");
    say("s", "x");
    int64_t b2 = rewind_to("s", "e1");
    cr_assert_str_eq(ids("s"), "e0 e1");
    cr_assert_str_eq(ids_on("s", b2), "e0 e1");
    cr_assert_str_eq(ids_on("s", b1), "e0 e1 e2 e3 e4 x");
    cr_assert_str_eq(ids_on("s", b0), "e0 e1 e2 e3 e4 e5 e6 e7 e8 e9");
    cr_assert_str_eq(page_ids("s", &(ramet_read_in){.branch = b1, .after = "e3"}), "< e4 x");
    cr_assert_eq(get("s")->head.branch, b2);
}

Test(read, a_path_over_many_branches_is_one_history)
{
    make("s0");
    char id[16], last[16] = "s0", want[4096] = "";
    for (int i = 0; i < 60; i++) {
        char entry[16];
        snprintf(entry, sizeof entry, "e%d", i);
        say(last, entry);
        snprintf(want + strlen(want), sizeof want - strlen(want), "%s%s", i ? " " : "", entry);
        snprintf(id, sizeof id, "s%d", i + 1);
        fork_at(last, entry, id);
        say(last, "only-here");
        memcpy(last, id, sizeof last);
    }
    cr_assert_str_eq(ids(last), want);
    cr_assert_str_eq(page_ids(last, &(ramet_read_in){.limit = 3, .tail = true}), "< e57 e58 e59");
    cr_assert_str_eq(page_ids(last, &(ramet_read_in){.limit = 3, .after = "e30"}),
                     "< e31 e32 e33 >");
    cr_assert_str_eq(
        page_ids(last, &(ramet_read_in){.limit = 2, .by_position = true, .position = 0}),
        "e0 e1 >");
    cr_assert_eq(get(last)->depth, 60);
}

Test(read, a_stream_gives_the_path_as_it_was)
{
    ten();
    ramet_stream *st = NULL;
    ramet_call *c = as(NULL);
    ok_for(c, ramet_stream_open(c, "s", &(ramet_read_in){0}, &st));
    cr_assert_eq(ramet_stream_length(st), 10);
    const ramet_entry *e = NULL;
    ok_for(c, ramet_stream_next(st, &e));
    cr_assert_str_eq(e->id, "e0");
    say("s", "later");
    rewind_to("s", "e2");
    for (int i = 1; i < 10; i++) {
        char want[4];
        snprintf(want, sizeof want, "e%d", i);
        ok_for(c, ramet_stream_next(st, &e));
        cr_assert_not_null(e, "the stream ends before %s", want);
        cr_assert_str_eq(e->id, want);
        cr_assert_eq(e->position, i);
    }
    for (int i = 0; i < 2; i++) {
        ok_for(c, ramet_stream_next(st, &e));
        cr_assert_null(e);
    }
    ramet_stream_close(st);
    ramet_stream_close(NULL);
}

Test(read, a_session_without_an_adk_log)
{
    ten();
    ramet_page page;
    ok(ramet_read(T.call, "s", &(ramet_read_in){.log = RAMET_LOG_ADK}, &page));
    cr_assert_eq(page.n, 0);
    cr_assert_eq(page.head.branch, 0);
    cr_assert_eq(page.head.length, 0);
    cr_assert_str_eq(page.head.hash, NO_HASH);
    refused(RAMET_ENTRY_NOT_FOUND, "after",
            ramet_read(T.call, "s", &(ramet_read_in){.log = RAMET_LOG_ADK, .after = "e0"}, &page));
    ramet_stream *st = NULL;
    ok(ramet_stream_open(T.call, "s", &(ramet_read_in){.log = RAMET_LOG_ADK}, &st));
    const ramet_entry *e = NULL;
    ok(ramet_stream_next(st, &e));
    cr_assert_null(e);
    ramet_stream_close(st);
    int64_t total = -1;
    ok(ramet_record(T.call, "s", RAMET_LOG_ADK, 0, 0, &page, &total));
    cr_assert_eq(total, 0);
}

Test(read, a_channel_that_is_rare_in_a_long_history)
{
    make("s");
    ramet_entry_in in[1000];
    ramet_append_out out;
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 1000; i++)
            in[i] = (ramet_entry_in){
                .role = RAMET_USER, .text = "x", .channel = i == 500 ? "rare" : NULL};
        ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = in, .n = 1000}, &out));
    }
    ramet_page page;
    ok(ramet_read(T.call, "s", &(ramet_read_in){.channel = "rare", .tail = true, .limit = 3},
                  &page));
    cr_assert_eq(page.n, 3);
    cr_assert_eq(page.entries[0].position, 2500);
    cr_assert_eq(page.entries[2].position, 4500);
    cr_assert(page.more_before);
    cr_assert_not(page.more_after);
    ok(ramet_read(T.call, "s", &(ramet_read_in){.channel = "rare", .limit = 5}, &page));
    cr_assert_eq(page.n, 5);
    cr_assert_not(page.more_after);
    ok(ramet_read(
        T.call, "s",
        &(ramet_read_in){.channel = "rare", .by_position = true, .position = 501, .limit = 1},
        &page));
    cr_assert_eq(page.entries[0].position, 1500);
    cr_assert(page.more_before);
    cr_assert(page.more_after);
}

/* Pages are bounded in bytes too; what does not fit comes with the next one. */
Test(read, pages_of_large_entries_join_without_a_gap)
{
    make("s");
    static char text[4 << 20];
    memset(text, 'x', sizeof text - 1);
    enum { N = 24 };
    char id[8];
    for (int i = 0; i < N; i++) {
        snprintf(id, sizeof id, "e%d", i);
        put("s", &(ramet_entry_in){.id = id, .role = RAMET_USER, .text = text});
    }
    ramet_call *c = as(NULL);
    int64_t next = 0;
    bool more = true;
    while (more) {
        ramet_page page;
        ok_for(c,
               ramet_read(c, "s", &(ramet_read_in){.by_position = true, .position = next}, &page));
        cr_assert_gt(page.n, 0, "a page is never empty before the end");
        for (size_t i = 0; i < page.n; i++)
            cr_assert_eq(page.entries[i].position, next++);
        more = page.more_after;
        ramet_call_reset(c);
    }
    cr_assert_eq(next, N);
    int64_t before = N;
    more = true;
    while (more) {
        ramet_page page;
        snprintf(id, sizeof id, "e%d", (int)before);
        ramet_read_in in = {.tail = true, .before = before < N ? id : NULL};
        ok_for(c, ramet_read(c, "s", &in, &page));
        cr_assert_gt(page.n, 0);
        cr_assert_eq(page.entries[page.n - 1].position, before - 1, "the newest ones");
        before = page.entries[0].position;
        more = page.more_before;
        ramet_call_reset(c);
    }
    cr_assert_eq(before, 0);
}

Test(read, a_stream_of_the_tail_with_versions)
{
    ten();
    ramet_append_out out;
    ok(ramet_edit(T.call, "s", "e8", &(ramet_entry_in){.id = "e8b", .text = "x"}, NULL, &out));
    ramet_stream *st = NULL;
    ok(ramet_stream_open(T.call, "s", &(ramet_read_in){.tail = true, .limit = 2, .versions = true},
                         &st));
    const ramet_entry *e = NULL;
    ok(ramet_stream_next(st, &e));
    cr_assert_str_eq(e->id, "e7");
    cr_assert_eq(e->versions, 1);
    ok(ramet_stream_next(st, &e));
    cr_assert_str_eq(e->id, "e8b");
    cr_assert_eq(e->version, 2);
    cr_assert_eq(e->versions, 2);
    ok(ramet_stream_next(st, &e));
    cr_assert_null(e);
    ramet_stream_close(st);
}

Test(read, a_stream_starts_and_ends_where_it_is_told)
{
    ten();
    ramet_stream *st = NULL;
    const ramet_entry *e = NULL;
    ok(ramet_stream_open(T.call, "s", &(ramet_read_in){.after = "e6"}, &st));
    for (int i = 7; i < 10; i++) {
        ok(ramet_stream_next(st, &e));
        cr_assert_eq(e->position, i);
    }
    ok(ramet_stream_next(st, &e));
    cr_assert_null(e);
    ramet_stream_close(st);
    refused(RAMET_SESSION_NOT_FOUND, NULL,
            ramet_stream_open(T.call, "none", &(ramet_read_in){0}, &st));
    make("empty");
    ok(ramet_stream_open(T.call, "empty", &(ramet_read_in){0}, &st));
    cr_assert_eq(ramet_stream_length(st), 0);
    ok(ramet_stream_next(st, &e));
    cr_assert_null(e);
    ramet_stream_close(st);
}

static const char *record_ids(const char *session, int64_t from, int limit, int64_t *total)
{
    static char text[4096];
    ramet_page page;
    ok(ramet_record(T.call, session, RAMET_LOG_MAIN, from, limit, &page, total));
    text[0] = 0;
    for (size_t i = 0; i < page.n; i++) {
        size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "%s%s", n ? " " : "", page.entries[i].id);
    }
    return text;
}

Test(read, the_record_has_everything_in_order_of_appending)
{
    make("s");
    say("s", "a b c");
    int64_t old = get("s")->head.branch, total = 0;
    rewind_to("s", "a");
    say("s", "d");
    ramet_append_out out;
    ramet_entry_in in = {.id = "late", .role = RAMET_ASSISTANT, .text = "x"};
    ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = &in, .n = 1, .branch = old}, &out));
    say("s", "e");
    cr_assert_str_eq(ids("s"), "a d e");
    cr_assert_str_eq(record_ids("s", 0, 0, &total), "a b c d late e");
    cr_assert_eq(total, 6);
    cr_assert_str_eq(record_ids("s", 2, 3, &total), "c d late");
    cr_assert_str_eq(record_ids("s", 5, 10, &total), "e");
    cr_assert_str_eq(record_ids("s", 6, 10, &total), "");
    fork_at("s", "d", "f");
    cr_assert_str_eq(record_ids("f", 0, 0, &total), "", "what was inherited was not appended here");
    cr_assert_eq(total, 0);
    say("f", "g");
    cr_assert_str_eq(record_ids("f", 0, 0, &total), "g");
    cr_assert_eq(total, 1);
    ramet_page page;
    refused(RAMET_INVALID, "from", ramet_record(T.call, "s", RAMET_LOG_MAIN, -1, 0, &page, &total));
    refused(RAMET_INVALID, "limit",
            ramet_record(T.call, "s", RAMET_LOG_MAIN, 0, 1001, &page, &total));
}

static bool stop_now(void *arg)
{
    ++*(int *)arg;
    return true;
}

static bool stop_never(void *arg)
{
    ++*(int *)arg;
    return false;
}

/* A long history, of which a read in another channel has to look at every entry. */
static void many_entries(const char *session)
{
    ramet_entry_in entries[500];
    ramet_append_out out;
    make(session);
    for (size_t i = 0; i < 500; i++)
        entries[i] = (ramet_entry_in){.role = RAMET_USER, .text = "words"};
    for (int i = 0; i < 8; i++)
        ok(ramet_append(T.call, session, &(ramet_append_in){.entries = entries, .n = 500}, &out));
}

Test(read, a_read_that_nobody_waits_for_stops)
{
    const ramet_read_in in = {.channel = "other"};
    ramet_page page;
    int asked = 0;
    many_entries("s");
    ramet_call_stop_when(T.call, stop_never, &asked);
    ok(ramet_read(T.call, "s", &in, &page));
    cr_assert_gt(asked, 0, "it is asked");
    ramet_call_stop_when(T.call, stop_now, &asked);
    refused(RAMET_STOP, "", ramet_read(T.call, "s", &in, &page));
    cr_assert_eq(page.n, 0);
    /* The connection is as good as before for the next one. */
    ramet_call_stop_when(T.call, NULL, NULL);
    ok(ramet_read(T.call, "s", &in, &page));
}

Test(read, a_write_is_never_stopped)
{
    const ramet_entry_in entry = {.role = RAMET_USER, .text = "kept"};
    ramet_append_out out;
    ramet_page page;
    int asked = 0;
    make("s");
    ramet_call_stop_when(T.call, stop_now, &asked);
    for (int i = 0; i < 40; i++)
        ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = &entry, .n = 1}, &out));
    ramet_call_stop_when(T.call, NULL, NULL);
    ok(ramet_read(T.call, "s", &(ramet_read_in){0}, &page));
    cr_assert_eq(page.n, 40);
}
