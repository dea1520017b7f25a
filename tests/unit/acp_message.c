/* SPDX-License-Identifier: Apache-2.0
 *
 * base_message.c: a line of JSON-RPC, and the same line with a few tokens changed.
 */
#include "agent/acp/message.h"

#include <criterion/criterion.h>
#include <string.h>

static message_state state_of(const char *line)
{
    arena *a = arena_new();
    message m;
    message_state s = message_read(&m, a, line, strlen(line));
    arena_free(a);
    return s;
}

Test(acp_message, what_is_a_message_and_what_is_not)
{
    cr_assert_eq(state_of("{\"jsonrpc\":\"2.0\",\"method\":\"a\"}"), MESSAGE_FINE);
    cr_assert_eq(state_of("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null}"), MESSAGE_FINE);
    cr_assert_eq(state_of("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{}}"), MESSAGE_FINE);
    cr_assert_eq(state_of("{\"jsonrpc\":\"2.0\",\"id\":1}"), MESSAGE_NOT_JSONRPC);
    cr_assert_eq(state_of("{\"jsonrpc\":\"1.0\",\"method\":\"a\"}"), MESSAGE_NOT_JSONRPC);
    cr_assert_eq(state_of("{\"method\":\"a\"}"), MESSAGE_NOT_JSONRPC);
    cr_assert_eq(state_of("{\"jsonrpc\":2.0,\"method\":\"a\"}"), MESSAGE_NOT_JSONRPC);
    cr_assert_eq(state_of("\"text\""), MESSAGE_NOT_JSONRPC);
    cr_assert_eq(state_of("[]"), MESSAGE_BATCH);
    cr_assert_eq(state_of("{"), MESSAGE_NOT_JSON);
    cr_assert_eq(state_of("{\"jsonrpc\":\"2.0\",\"method\":\"\\ud83x\"}"), MESSAGE_NOT_JSON);
    cr_assert_eq(state_of("{\"jsonrpc\":\"2.0\",\"method\":\"a\\"), MESSAGE_NOT_JSON);
}

Test(acp_message, its_parts_and_its_id_as_it_came)
{
    static const char line[] =
        "{\"jsonrpc\":\"2.0\", \"id\": 9007199254740993,\"method\":\"m\",\"params\":{\"sessionId\":"
        "\"s\\u00e9\",\"a\":{\"b\":[1],\"c\":null}}}";
    arena *a = arena_new();
    message m;
    cr_assert_eq(message_read(&m, a, line, strlen(line)), MESSAGE_FINE);
    cr_assert_str_eq(m.id_raw, "9007199254740993");
    cr_assert_str_eq(m.session, "s\xc3\xa9");
    cr_assert_str_eq(message_raw(&m, m.params, "a.b"), "[1]");
    cr_assert_null(message_raw(&m, m.params, "a.c"), "null is nothing");
    cr_assert_not_null(message_at(&m, m.params, "a.c"));
    cr_assert_null(message_at(&m, m.params, "a.d.e"));
    cr_assert_null(message_at(&m, NULL, "a"));
    cr_assert_null(message_text(&m, m.params, "a"));
    arena_free(a);
}

Test(acp_message, halves_of_surrogate_pairs_keep_every_byte_in_its_place)
{
    static const char line[] =
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"a\":\"\\ud83d\","
        "\"b\":\"\\uDE00x\\ud83d\\ude00\",\"c\":\"\\\\ud83d\",\"d\":1}}";
    arena *a = arena_new();
    message m;
    cr_assert_eq(message_read(&m, a, line, strlen(line)), MESSAGE_FINE);
    cr_assert_str_eq(message_text(&m, m.params, "a"), "\xEF\xBF\xBD");
    cr_assert_str_eq(message_text(&m, m.params, "b"), "\xEF\xBF\xBDx\xF0\x9F\x98\x80");
    cr_assert_str_eq(message_text(&m, m.params, "c"), "\\ud83d");
    splices s = {0};
    size_t n;
    splice_node(&s, message_at(&m, m.params, "d"), "22");
    const char *out = splice_text(&m, &s, 0, m.n, &n);
    cr_assert_eq(n, sizeof line); /* one more sign, without the NUL */
    cr_assert_eq(memcmp(out, line, sizeof line - 5), 0, "the line itself is as it came");
    cr_assert_str_eq(out + n - 5, ":22}}");
    arena_free(a);
}

Test(acp_message, splices_change_their_tokens_alone)
{
    static const char line[] =
        "{ \"jsonrpc\":\"2.0\",\"method\" : \"m\",\"params\":{\"sessionId\":\"in\",\"list\":[ 1],"
        "\"none\":[],\"empty\":{}} }";
    arena *a = arena_new();
    message m;
    splices s = {0};
    size_t n;
    cr_assert_eq(message_read(&m, a, line, strlen(line)), MESSAGE_FINE);
    splice_first(&s, &m, message_at(&m, m.params, "list"), "0");
    splice_node(&s, message_at(&m, m.params, "sessionId"), "\"outer\"");
    splice_member(&s, &m, m.params, "new", "true");
    splice_member(&s, &m, m.params, "also", "false");
    splice_first(&s, &m, message_at(&m, m.params, "none"), "7");
    splice_member(&s, &m, message_at(&m, m.params, "empty"), "k", "1");
    const char *out = splice_text(&m, &s, 0, m.n, &n);
    cr_assert_str_eq(out,
                     "{ \"jsonrpc\":\"2.0\",\"method\" : \"m\",\"params\":{\"new\":true,\"also\":"
                     "false,\"sessionId\":\"outer\",\"list\":[0, 1],\"none\":[7],\"empty\":{"
                     "\"k\":1}} }");
    cr_assert_eq(n, strlen(out));
    size_t from = m.params->start;
    cr_assert_eq(splice_text(&m, &s, from, m.params->end, &n)[n - 1], '}');
    arena_free(a);
}

Test(acp_message, objects_with_members_changed_added_and_taken_out)
{
    arena *a = arena_new();
    member all[] = {{"a", "2"}, {"b", NULL}, {"new \"key\"", "{}"}, {"none", NULL}};
    cr_assert_str_eq(json_with(a, "{\"a\": 1.0, \"b\":[],\"z\":1e3}", all, 4),
                     "{\"a\":2,\"z\":1e3,\"new \\\"key\\\"\":{}}");
    cr_assert_str_eq(json_with(a, NULL, all, 1), "{\"a\":2}");
    cr_assert_str_eq(json_with(a, "null", all, 2), "{\"a\":2}");
    cr_assert_str_eq(json_quote(a, "a\"\n\x01"), "\"a\\\"\\n\\u0001\"");
    cr_assert_str_eq(json_without_nul(a, "\"\\u0000\\\\u0000x\""), "\"\\ufffd\\\\u0000x\"");
    arena_free(a);
}
