/* SPDX-License-Identifier: Apache-2.0
 *
 * append.c: a batch is atomic and ordered; what was given comes back byte for byte.
 */
#include "help.h"

#include <stdio.h>

TestSuite(append, .init = scratch_open, .fini = scratch_close);

Test(append, everything_given_is_kept)
{
    make("s");
    ramet_usage usage = {
        .input = 10, .output = 20, .cached = 3, .cost = 1500000, .currency = "EUR"};
    ramet_entry_in in = {
        .id = "e1",
        .role = RAMET_ASSISTANT,
        .parts = "[{\"type\":\"text\",\"text\":\"one\"},{\"type\":\"thinking\",\"text\":\"hm\"},"
                 "{\"type\":\"text\",\"text\":\"two\"}]",
        .format = "a2a",
        .body = "{ \"n\" : 0.10, \"big\":12345678901234567890 }",
        .turn_id = "turn-1",
        .channel = "side",
        .author = "bot",
        .usage = &usage,
        .state_delta = "{\"k\":1.0}",
        .created = T0 - DAY,
    };
    ramet_call *c = ramet_call_new(T.store, NULL, "cli/1");
    ramet_append_out out;
    ok_for(c, ramet_append(c, "s", &(ramet_append_in){.entries = &in, .n = 1}, &out));
    cr_assert_eq(out.n, 1);
    cr_assert_eq(out.added, 1);
    cr_assert_eq(out.head.length, 1);
    cr_assert_str_eq(out.head.entry_id, "e1");
    ramet_entry *read = NULL;
    ok(ramet_entry_get(T.call, "s", 0, "e1", &read));
    const ramet_entry *both[] = {&out.entries[0], read};
    for (int i = 0; i < 2; i++) {
        const ramet_entry *e = both[i];
        cr_assert_str_eq(e->id, "e1");
        cr_assert_eq(e->position, 0);
        cr_assert_eq(e->branch, get("s")->head.branch);
        cr_assert_eq(e->role, RAMET_ASSISTANT);
        cr_assert_str_eq(e->text, "one\n\ntwo");
        cr_assert_str_eq(e->format, "a2a");
        cr_assert_str_eq(e->body, in.body);
        cr_assert_str_eq(e->turn_id, "turn-1");
        cr_assert_str_eq(e->channel, "side");
        cr_assert_str_eq(e->author, "bot");
        cr_assert_str_eq(e->client, "cli/1");
        cr_assert_str_eq(e->state_delta, "{\"k\":1.0}");
        cr_assert_eq(e->usage->input, 10);
        cr_assert_eq(e->usage->output, 20);
        cr_assert_eq(e->usage->cached, 3);
        cr_assert_eq(e->usage->cost, 1500000);
        cr_assert_str_eq(e->usage->currency, "EUR");
        cr_assert_eq(e->created, T0 - DAY);
        cr_assert_str_eq(e->hash, out.head.hash);
        cr_assert_str_eq(e->parts, in.parts);
    }
    ramet_call_free(c);
}

Test(append, little_need_be_given)
{
    make("s");
    ramet_entry *e = put("s", &(ramet_entry_in){.role = RAMET_USER, .text = "hi \"there\"\n"});
    cr_assert_eq(strlen(e->id), 36);
    cr_assert_eq(e->id[14], '7');
    cr_assert_str_eq(e->text, "hi \"there\"\n");
    cr_assert_str_eq(e->parts, "[{\"type\":\"text\",\"text\":\"hi \\\"there\\\"\\n\"}]");
    cr_assert_str_eq(e->format, "ramet");
    cr_assert_null(e->body);
    cr_assert_str_eq(e->channel, "history");
    cr_assert_null(e->usage);
    cr_assert_null(e->state_delta);
    cr_assert_null(e->turn_id);
    cr_assert_eq(e->created, T.now);
    e = put("s", &(ramet_entry_in){.role = RAMET_ASSISTANT});
    cr_assert_str_eq(e->text, "");
    cr_assert_str_eq(e->parts, "[]");
}

Test(append, the_caller_is_the_author_of_user_messages)
{
    make("s");
    ramet_call *ann = as("ann");
    ramet_append_out out;
    ramet_entry_in in[] = {{.id = "u", .role = RAMET_USER, .text = "q"},
                           {.id = "a", .role = RAMET_ASSISTANT, .text = "r"},
                           {.id = "u2", .role = RAMET_USER, .text = "q", .author = "zoe"}};
    ok_for(ann, ramet_append(ann, "s", &(ramet_append_in){.entries = in, .n = 3}, &out));
    cr_assert_str_eq(out.entries[0].author, "ann");
    cr_assert_null(out.entries[1].author);
    cr_assert_str_eq(out.entries[2].author, "zoe");
}

Test(append, a_batch_keeps_its_order)
{
    make("s");
    say("s", "first");
    ramet_entry_in in[100];
    char names[100][8];
    for (int i = 0; i < 100; i++) {
        snprintf(names[i], sizeof names[i], "n%d", 99 - i);
        in[i] = (ramet_entry_in){.id = names[i], .role = RAMET_USER, .text = names[i]};
    }
    ramet_append_out out;
    ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = in, .n = 100}, &out));
    cr_assert_eq(out.n, 100);
    cr_assert_eq(out.added, 100);
    cr_assert_eq(out.head.length, 101);
    ramet_page page;
    ok(ramet_read(T.call, "s", &(ramet_read_in){.limit = 1000}, &page));
    cr_assert_eq(page.n, 101);
    for (size_t i = 0; i < 100; i++) {
        cr_assert_str_eq(page.entries[i + 1].id, names[i]);
        cr_assert_str_eq(out.entries[i].id, names[i]);
        cr_assert_str_eq(out.entries[i].hash, page.entries[i + 1].hash);
        cr_assert_eq(out.entries[i].position, (int64_t)i + 1);
        cr_assert_str_neq(page.entries[i + 1].hash, page.entries[i].hash);
    }
    cr_assert_str_eq(page.entries[100].hash, out.head.hash);
}

Test(append, one_bad_entry_refuses_the_batch)
{
    make("s");
    say("s", "a");
    const char *before = mark();
    ramet_append_out out;
    ramet_entry_in in[] = {{.id = "b", .role = RAMET_USER, .text = "b"},
                           {.id = "bad\n", .role = RAMET_USER, .text = "c"}};
    refused(RAMET_BAD_ID, "entries[1].id",
            ramet_append(T.call, "s", &(ramet_append_in){.entries = in, .n = 2}, &out));
    in[1] = (ramet_entry_in){.id = "a", .role = RAMET_USER, .text = "other content"};
    refused(RAMET_ENTRY_EXISTS, "entries[1].id",
            ramet_append(T.call, "s", &(ramet_append_in){.entries = in, .n = 2}, &out));
    cr_assert_str_eq(mark(), before);
    cr_assert_str_eq(ids("s"), "a");
}

static void bad_entry_as(ramet_status status, const char *field, const ramet_entry_in *in)
{
    ramet_append_out out;
    char name[64];
    snprintf(name, sizeof name, "entries[0].%s", field);
    refused(status, name,
            ramet_append(T.call, "s", &(ramet_append_in){.entries = in, .n = 1}, &out));
}

static void bad_entry(const char *field, const ramet_entry_in *in)
{
    bad_entry_as(RAMET_INVALID, field, in);
}

Test(append, every_field_is_checked)
{
    make("s");
    const char *before = mark();
    ramet_usage minus = {.input = -1}, minus_cost = {.cost = -1, .currency = "EUR"};
    char long_channel[66];
    memset(long_channel, 'c', 65);
    long_channel[65] = 0;
    bad_entry("role", &(ramet_entry_in){.text = "no role"});
    bad_entry("role", &(ramet_entry_in){.role = (ramet_role)9, .text = "no role"});
    bad_entry("text", &(ramet_entry_in){.role = RAMET_USER, .text = "\xc3("});
    bad_entry("text", &(ramet_entry_in){.role = RAMET_USER, .text = "t", .parts = "[]"});
    bad_entry("parts", &(ramet_entry_in){.role = RAMET_USER, .parts = "{}"});
    bad_entry("parts", &(ramet_entry_in){.role = RAMET_USER, .parts = "[1]"});
    bad_entry("parts", &(ramet_entry_in){.role = RAMET_USER, .parts = "[{\"type\":\"song\"}]"});
    bad_entry("parts", &(ramet_entry_in){.role = RAMET_USER, .parts = "[{\"type\":\"text\"}]"});
    bad_entry("parts",
              &(ramet_entry_in){.role = RAMET_USER, .parts = "[{\"type\":\"text\",\"text\":1}]"});
    bad_entry("parts", &(ramet_entry_in){.role = RAMET_USER,
                                         .parts = "[{\"type\":\"text\",\"text\":\"a\\u0000\"}]"});
    bad_entry("parts",
              &(ramet_entry_in){.role = RAMET_USER,
                                .parts = "[{\"type\":\"text\",\"text\":\"a\",\"text\":\"b\"}]"});
    bad_entry("parts",
              &(ramet_entry_in){.role = RAMET_ASSISTANT, .parts = "[{\"type\":\"tool_call\"}]"});
    bad_entry("parts",
              &(ramet_entry_in){.role = RAMET_TOOL, .parts = "[{\"type\":\"tool_result\"}]"});
    bad_entry("body", &(ramet_entry_in){.role = RAMET_USER, .body = "{}"});
    bad_entry("body", &(ramet_entry_in){.role = RAMET_USER, .format = "ramet", .body = "{}"});
    bad_entry("body", &(ramet_entry_in){.role = RAMET_USER, .format = "a2a", .body = "{"});
    bad_entry("body",
              &(ramet_entry_in){.role = RAMET_USER, .format = "a2a", .body = "{\"a\":1,\"a\":1}"});
    bad_entry_as(RAMET_BAD_ID, "turn_id", &(ramet_entry_in){.role = RAMET_USER, .turn_id = ""});
    bad_entry_as(RAMET_BAD_ID, "channel", &(ramet_entry_in){.role = RAMET_USER, .channel = ""});
    bad_entry("channel", &(ramet_entry_in){.role = RAMET_USER, .channel = long_channel});
    bad_entry("usage", &(ramet_entry_in){.role = RAMET_USER, .usage = &minus});
    bad_entry("usage", &(ramet_entry_in){.role = RAMET_USER, .usage = &minus_cost});
    bad_entry("state_delta", &(ramet_entry_in){.role = RAMET_USER, .state_delta = "[]"});
    bad_entry("state_delta", &(ramet_entry_in){.role = RAMET_USER, .state_delta = "{\"a\"}"});
    cr_assert_str_eq(mark(), before);
}

Test(append, every_kind_of_part_is_taken)
{
    make("s");
    const char *parts =
        "[{\"type\":\"tool_call\",\"id\":\"c1\",\"name\":\"ls\",\"input\":{\"p\":1.50}},"
        "{\"type\":\"file\",\"url\":\"http://x/y\",\"name\":\"n\",\"media_type\":\"a/b\"},"
        "{\"type\":\"data\",\"data\":[null]},{\"type\":\"text\",\"text\":\"t\"}]";
    ramet_entry *e = put("s", &(ramet_entry_in){.role = RAMET_ASSISTANT, .parts = parts});
    cr_assert_str_eq(e->parts, parts);
    cr_assert_str_eq(e->text, "t");
    parts = "[{\"type\":\"tool_result\",\"id\":\"c1\",\"output\":\"ok\",\"is_error\":false}]";
    e = put("s", &(ramet_entry_in){.role = RAMET_TOOL, .parts = parts});
    cr_assert_str_eq(e->parts, parts);
}

Test(append, the_same_again_is_answered_with_the_first_result)
{
    make("s");
    ramet_entry *first = ask("s", "e", "hello");
    say("s", "f");
    const char *before = mark();
    tick(SECOND);
    ramet_append_out out;
    ramet_entry_in in = {.id = "e", .role = RAMET_USER, .text = "hello"};
    ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = &in, .n = 1}, &out));
    cr_assert_eq(out.added, 0);
    cr_assert_eq(out.n, 1);
    cr_assert_eq(out.entries[0].position, 0);
    cr_assert_str_eq(out.entries[0].hash, first->hash);
    cr_assert_eq(out.entries[0].created, first->created);
    cr_assert_eq(out.head.length, 2);
    cr_assert_str_eq(mark(), before, "nothing is written");
}

Test(append, the_same_id_with_other_content_is_a_conflict)
{
    make("s");
    ramet_usage usage = {.input = 1};
    put("s", &(ramet_entry_in){.id = "e",
                               .role = RAMET_USER,
                               .text = "hello",
                               .turn_id = "t",
                               .usage = &usage,
                               .state_delta = "{\"a\":1}"});
    const char *before = mark();
    ramet_usage other_usage = {.input = 2};
    ramet_entry_in other[] = {
        {.id = "e", .role = RAMET_USER, .text = "bye"},
        {.id = "e", .role = RAMET_ASSISTANT, .text = "hello"},
        {.id = "e", .role = RAMET_USER, .text = "hello", .turn_id = "u"},
        {.id = "e", .role = RAMET_USER, .text = "hello", .channel = "side"},
        {.id = "e", .role = RAMET_USER, .text = "hello", .author = "zoe"},
        {.id = "e", .role = RAMET_USER, .text = "hello", .usage = &other_usage},
        {.id = "e", .role = RAMET_USER, .text = "hello", .state_delta = "{\"a\":2}"},
        {.id = "e", .role = RAMET_USER, .text = "hello", .format = "a2a", .body = "1"},
    };
    ramet_append_out out;
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        refused(RAMET_ENTRY_EXISTS, "entries[0].id",
                ramet_append(T.call, "s", &(ramet_append_in){.entries = &other[i], .n = 1}, &out));
    ramet_entry_in less = {.id = "e", .role = RAMET_USER, .text = "hello"};
    ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = &less, .n = 1}, &out));
    cr_assert_eq(out.added, 0, "only the fields given are compared");
    cr_assert_str_eq(mark(), before);
}

Test(append, a_retry_with_every_field_is_the_same)
{
    make("s");
    ramet_usage u = {1, 2, 3, 4, "EUR"};
    ramet_entry_in in[] = {
        {.id = "a",
         .role = RAMET_USER,
         .parts = "[{\"type\":\"text\", \"text\":\"x\"}]",
         .usage = &u},
        {.id = "b",
         .role = RAMET_USER,
         .format = "f",
         .body = "[1.0]",
         .turn_id = "t",
         .channel = "c",
         .author = "z",
         .state_delta = "{\"k\":1}",
         .created = T0},
        {.id = "c", .role = RAMET_TOOL},
    };
    ramet_append_out out;
    ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = in, .n = 3}, &out));
    const char *before = mark();
    tick(SECOND);
    ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = in, .n = 3}, &out));
    cr_assert_eq(out.added, 0);
    cr_assert_str_eq(mark(), before);
    in[0].parts = "[{\"type\":\"text\", \"text\":\"y\"}]";
    refused(RAMET_ENTRY_EXISTS, "entries[0].id",
            ramet_append(T.call, "s", &(ramet_append_in){.entries = in, .n = 1}, &out));
}

Test(append, a_body_may_hold_what_text_may_not)
{
    make("s");
    const char *body = "{\"nul\":\"a\\u0000b\",\"e\":1E400,\"neg\":-0}";
    put("s", &(ramet_entry_in){.id = "e", .role = RAMET_USER, .format = "x", .body = body});
    ramet_entry *e;
    ok(ramet_entry_get(T.call, "s", 0, "e", &e));
    cr_assert_str_eq(e->body, body);
}

Test(append, expected_head_is_that_of_the_branch_and_log_written_to)
{
    make("s");
    say("s", "a b");
    ramet_head old = get("s")->head;
    char old_hash[65];
    memcpy(old_hash, old.hash, 65);
    rewind_to("s", "a");
    ramet_append_out out;
    ramet_entry_in in = {.id = "c", .role = RAMET_USER, .text = "x"};
    refused(RAMET_HEAD_MOVED, "expected_head",
            ramet_append(T.call, "s",
                         &(ramet_append_in){.entries = &in, .n = 1, .expected_head = old_hash},
                         &out));
    ok(ramet_append(
        T.call, "s",
        &(ramet_append_in){.entries = &in, .n = 1, .expected_head = old_hash, .branch = old.branch},
        &out));
    cr_assert_str_eq(ids_on("s", old.branch), "a b c");
    ramet_append_in adk = {.entries = &in, .n = 1, .expected_head = NO_HASH, .log = RAMET_LOG_ADK};
    ok(ramet_append(T.call, "s", &adk, &out));
    in.id = "d";
    refused(RAMET_HEAD_MOVED, "expected_head", ramet_append(T.call, "s", &adk, &out));
    adk.expected_head = get("s")->adk.hash;
    ok(ramet_append(T.call, "s", &adk, &out));
}

Test(append, a_batch_may_hold_old_and_new_entries)
{
    make("s");
    say("s", "a b");
    ramet_entry_in in[] = {{.id = "b", .role = RAMET_USER, .text = "text of b"},
                           {.id = "c", .role = RAMET_USER, .text = "text of c"}};
    ramet_append_out out;
    ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = in, .n = 2}, &out));
    cr_assert_eq(out.added, 1);
    cr_assert_eq(out.entries[0].position, 1);
    cr_assert_eq(out.entries[1].position, 2);
    cr_assert_str_eq(ids("s"), "a b c");
    ramet_entry_in twice[] = {{.id = "d", .role = RAMET_USER, .text = "1"},
                              {.id = "d", .role = RAMET_USER, .text = "2"}};
    refused(RAMET_ENTRY_EXISTS, "entries[1].id",
            ramet_append(T.call, "s", &(ramet_append_in){.entries = twice, .n = 2}, &out));
    twice[1].text = "1";
    ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = twice, .n = 2}, &out));
    cr_assert_eq(out.added, 1);
    cr_assert_eq(out.n, 2);
    cr_assert_eq(out.entries[1].position, 3);
    cr_assert_str_eq(out.entries[1].hash, out.entries[0].hash);
    cr_assert_str_eq(ids("s"), "a b c d");
}

Test(append, an_id_is_unique_on_a_path_not_in_the_store)
{
    make("s");
    make("t");
    say("s", "e1 e2");
    say("t", "e1 e2");
    rewind_to("s", "e1");
    ask("s", "e2", "quite another text");
    cr_assert_str_eq(ids("s"), "e1 e2");
    cr_assert_str_eq(ids("t"), "e1 e2");
    ramet_entry *e;
    ok(ramet_entry_get(T.call, "s", 0, "e2", &e));
    cr_assert_str_eq(e->text, "quite another text");
}

Test(append, expected_head_makes_it_conditional)
{
    make("s");
    ramet_append_out out;
    ramet_entry_in in = {.id = "a", .role = RAMET_USER, .text = "a"};
    ramet_append_in when = {.entries = &in, .n = 1, .expected_head = NO_HASH};
    ok(ramet_append(T.call, "s", &when, &out));
    char seen[65];
    memcpy(seen, out.head.hash, 65);
    in.id = "b";
    const char *before = mark();
    refused(RAMET_HEAD_MOVED, "expected_head", ramet_append(T.call, "s", &when, &out));
    const ramet_error *e = ramet_call_error(T.call);
    cr_assert_eq(e->head.length, 1);
    cr_assert_str_eq(e->head.hash, seen);
    cr_assert_str_eq(e->head.entry_id, "a");
    cr_assert_str_eq(mark(), before);
    when.expected_head = seen;
    ok(ramet_append(T.call, "s", &when, &out));
    cr_assert_str_eq(ids("s"), "a b");
    static const char *const bad[] = {"", "abc", "ZZ", NO_HASH "0"};
    for (size_t i = 0; i < 4; i++) {
        when.expected_head = bad[i];
        refused(RAMET_INVALID, "expected_head", ramet_append(T.call, "s", &when, &out));
    }
}

Test(append, a_turn_can_go_on_where_it_began)
{
    make("s");
    say("s", "a b");
    int64_t old = get("s")->head.branch;
    rewind_to("s", "a");
    say("s", "c");
    ramet_append_out out;
    ramet_entry_in in = {.id = "b2", .role = RAMET_ASSISTANT, .text = "late"};
    ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = &in, .n = 1, .branch = old}, &out));
    cr_assert_eq(out.head.branch, old);
    cr_assert_eq(out.head.length, 3);
    cr_assert_str_eq(ids("s"), "a c");
    cr_assert_str_eq(ids_on("s", old), "a b b2");
    make("t");
    refused(RAMET_BRANCH_NOT_FOUND, "branch_id",
            ramet_append(
                T.call, "s",
                &(ramet_append_in){.entries = &in, .n = 1, .branch = get("t")->head.branch}, &out));
    fork_at("s", NULL, "f");
    refused(
        RAMET_BRANCH_NOT_FOUND, "branch_id",
        ramet_append(T.call, "f", &(ramet_append_in){.entries = &in, .n = 1, .branch = old}, &out));
    refused(RAMET_BRANCH_NOT_FOUND, "branch_id",
            ramet_append(T.call, "s", &(ramet_append_in){.entries = &in, .n = 1, .branch = 9999},
                         &out));
}

Test(append, the_adk_log_is_another_one)
{
    make("s");
    say("s", "a b");
    ramet_append_out out;
    ramet_entry_in in = {.id = "a", .role = RAMET_ASSISTANT, .format = "adk", .body = "{\"h\":1}"};
    ramet_append_in to = {.entries = &in, .n = 1, .log = RAMET_LOG_ADK};
    ok(ramet_append(T.call, "s", &to, &out));
    cr_assert_eq(out.head.length, 1);
    ramet_session *s = get("s");
    cr_assert_gt(s->adk.branch, 0);
    cr_assert_neq(s->adk.branch, s->head.branch);
    cr_assert_eq(s->adk.length, 1);
    cr_assert_str_eq(s->adk.entry_id, "a");
    cr_assert_str_eq(s->adk.hash, out.head.hash);
    cr_assert_eq(s->head.length, 2);
    cr_assert_str_eq(ids("s"), "a b");
    ramet_page page;
    ok(ramet_read(T.call, "s", &(ramet_read_in){.log = RAMET_LOG_ADK}, &page));
    cr_assert_eq(page.n, 1);
    cr_assert_str_eq(page.entries[0].body, "{\"h\":1}");
}

Test(append, an_append_is_no_move_but_an_update)
{
    make("s");
    tick(5 * SECOND);
    say("s", "a");
    cr_assert_eq(get("s")->updated, T.now);
    ramet_session *s;
    refused(RAMET_NOTHING_TO_UNDO, NULL, ramet_undo(T.call, "s", NULL, &s));
}

Test(append, nowhere_to_append)
{
    ramet_append_out out;
    ramet_entry_in in = {.role = RAMET_USER, .text = "x"};
    refused(RAMET_SESSION_NOT_FOUND, NULL,
            ramet_append(T.call, "none", &(ramet_append_in){.entries = &in, .n = 1}, &out));
    make("s");
    refused(RAMET_INVALID, "entries", ramet_append(T.call, "s", &(ramet_append_in){.n = 0}, &out));
    drop("s");
    refused(RAMET_SESSION_NOT_FOUND, NULL,
            ramet_append(T.call, "s", &(ramet_append_in){.entries = &in, .n = 1}, &out));
}

Test(append, large_bodies_come_back_whole)
{
    make("s");
    static char text[3 << 20];
    for (size_t i = 0; i < sizeof text - 1; i++)
        text[i] = (char)('a' + (i * 7919 + i / 251) % 26);
    static char body[(3 << 20) + 16];
    uint32_t noise = 1;
    for (size_t i = sizeof text / 2; i < sizeof text - 1; i++) {
        noise = noise * 1664525 + 1013904223;
        text[i] = (char)(' ' + 3 +
                         (noise >> 24) % 56); /* half of it hardly packs; no quote, no backslash */
    }
    snprintf(body, sizeof body, "[\"%s\"]", text);
    put("s", &(ramet_entry_in){.id = "big", .role = RAMET_USER, .text = text});
    put("s", &(ramet_entry_in){.id = "body", .role = RAMET_USER, .format = "a2a", .body = body});
    ramet_entry *e;
    ok(ramet_entry_get(T.call, "s", 0, "big", &e));
    cr_assert(strcmp(e->text, text) == 0);
    ok(ramet_entry_get(T.call, "s", 0, "body", &e));
    cr_assert(strcmp(e->body, body) == 0);
    ramet_append_out out;
    ramet_entry_in again = {.id = "body", .role = RAMET_USER, .format = "a2a", .body = body};
    ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = &again, .n = 1}, &out));
    cr_assert_eq(out.added, 0);
}
