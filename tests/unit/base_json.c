/* SPDX-License-Identifier: Apache-2.0
 *
 * base_json.c: the reader refuses everything that RFC 8259 refuses and keeps the
 * bytes of what it takes; the writer writes only what the reader takes.
 */
#include "base/json.h"

#include "base/util.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static arena *a;

static void set_up(void)
{
    a = arena_new();
}

static void tear_down(void)
{
    arena_free(a);
}

TestSuite(base_json, .init = set_up, .fini = tear_down);

static json_error wrong;

/* The text is copied to memory of exactly its size, so that a read past its end shows. */
static bool parse_n(const char *text, size_t len, size_t depth, json_doc *d)
{
    char *exact = xmalloc(len ? len : 1);
    memcpy(exact, text, len);
    memset(&wrong, 0, sizeof wrong);
    bool good = json_parse(a, exact, len, depth, d, &wrong);
    if (good)
        d->text = arena_memdup(a, text, len);
    free(exact);
    return good;
}

static json_doc take(const char *text)
{
    json_doc d = {0};
    cr_assert(parse_n(text, strlen(text), 0, &d), "'%s' is refused: %s", text, wrong.message);
    return d;
}

static void refuse(const char *text, size_t offset, const char *what)
{
    json_doc d;
    cr_assert_not(parse_n(text, strlen(text), 0, &d), "'%s' is taken", text);
    cr_assert_eq(wrong.offset, offset, "'%s': offset %zu, not %zu (%s)", text, wrong.offset, offset,
                 wrong.message);
    cr_assert(strstr(wrong.message, what), "'%s': '%s' does not say '%s'", text, wrong.message,
              what);
}

Test(base_json, takes_what_is_json)
{
    static const char *const good[] = {"null",
                                       "true",
                                       "false",
                                       "0",
                                       "-0",
                                       "1",
                                       "-1",
                                       "12345678901234567890123",
                                       "0.5",
                                       "1e5",
                                       "1E+5",
                                       "1e-5",
                                       "-0.0e0",
                                       "\"\"",
                                       "\"a\"",
                                       "\"\\u0000\"",
                                       "\"\\ud83d\\ude00\"",
                                       "[]",
                                       "{}",
                                       " [ 1 , 2 ] ",
                                       "\t\r\n{\n\"a\" : [ { } ] }",
                                       "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
                                       "\"\x7f\"",
                                       "\"\xc2\x80\xe2\x82\xac\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf\"",
                                       "{\"\":0}",
                                       "{\"a\":{\"a\":{\"a\":1}}}",
                                       "{\"a\":1,\"A\":2}",
                                       "\"\\ud7ff\\ue000\\uFFFF\""};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        take(good[i]);
}

Test(base_json, refuses_broken_values)
{
    refuse("", 0, "a value");
    refuse("  ", 2, "a value");
    refuse("nul", 0, "a value");
    refuse("True", 0, "a value");
    refuse("NaN", 0, "a value");
    refuse("'a'", 0, "a value");
    refuse("\xef\xbb\xbf{}", 0, "a value");
    refuse("1 2", 2, "behind");
    refuse("{}x", 2, "behind");
    refuse("nullx", 4, "behind");
    refuse("/**/1", 0, "a value");
}

Test(base_json, refuses_broken_numbers)
{
    refuse("-", 1, "digit");
    refuse("+1", 0, "a value");
    refuse("01", 0, "starts with 0");
    refuse("-01", 0, "starts with 0");
    refuse(".5", 0, "a value");
    refuse("1.", 2, "digit");
    refuse("1.e5", 2, "digit");
    refuse("1e", 2, "digit");
    refuse("1e+", 3, "digit");
    refuse("0x10", 1, "behind");
    refuse("-Infinity", 1, "digit");
}

Test(base_json, refuses_broken_containers)
{
    refuse("[", 1, "a value");
    refuse("[1", 2, "','");
    refuse("[1,", 3, "a value");
    refuse("[1,]", 3, "a value");
    refuse("[,1]", 1, "a value");
    refuse("[1 2]", 3, "','");
    refuse("[1}", 2, "','");
    refuse("{", 1, "a key");
    refuse("{\"a\"", 4, "':'");
    refuse("{\"a\":", 5, "a value");
    refuse("{\"a\":1,}", 7, "a key");
    refuse("{,}", 1, "a key");
    refuse("{1:2}", 1, "a key");
    refuse("{a:2}", 1, "a key");
    refuse("{\"a\" 1}", 5, "':'");
    refuse("{\"a\":1]", 6, "','");
    refuse("]", 0, "a value");
    refuse("}", 0, "a value");
}

Test(base_json, refuses_broken_strings)
{
    refuse("\"", 0, "not closed");
    refuse("\"abc", 0, "not closed");
    refuse("\"a\nb\"", 2, "control");
    refuse("\"\x1f\"", 1, "control");
    refuse("\"\\", 1, "escape");
    refuse("\"\\x\"", 1, "escape");
    refuse("\"\\u12\"", 1, "four hex digits");
    refuse("\"\\u12G4\"", 1, "four hex digits");
    refuse("\"\\u123", 1, "four hex digits");
    refuse("\"\\ud800\"", 1, "surrogate");
    refuse("\"\\udc00\"", 1, "surrogate");
    refuse("\"\\ud800\\ud800\"", 1, "surrogate");
    refuse("\"\\ud800x\"", 1, "surrogate");
    refuse("\"\\ud800\\u0041\"", 1, "surrogate");
    refuse("\"\\udc00\\ud800\"", 1, "surrogate");
}

Test(base_json, refuses_what_is_not_utf8)
{
    refuse("\"\x80\"", 1, "UTF-8");
    refuse("\"\xc0\xaf\"", 1, "UTF-8");         /* overlong '/' */
    refuse("\"\xc1\xbf\"", 1, "UTF-8");         /* overlong */
    refuse("\"\xe0\x9f\xbf\"", 1, "UTF-8");     /* overlong */
    refuse("\"\xed\xa0\x80\"", 1, "UTF-8");     /* surrogate */
    refuse("\"\xf0\x8f\xbf\xbf\"", 1, "UTF-8"); /* overlong */
    refuse("\"\xf4\x90\x80\x80\"", 1, "UTF-8"); /* past U+10FFFF */
    refuse("\"\xf5\x80\x80\x80\"", 1, "UTF-8");
    refuse("\"\xff\"", 1, "UTF-8");
    refuse("\"ab\xe2\x82\"", 3, "UTF-8");
    refuse("\"ab\xe2\x82", 3, "UTF-8");
}

Test(base_json, a_nul_byte_in_the_text_is_refused)
{
    json_doc d;
    cr_assert_not(parse_n("\"a\0b\"", 5, 0, &d));
    cr_assert_eq(wrong.offset, 2);
    cr_assert_not(parse_n("1\0", 2, 0, &d));
    cr_assert_eq(wrong.offset, 1);
}

Test(base_json, duplicate_keys_are_refused_in_small_and_large_objects)
{
    refuse("{\"a\":1,\"a\":2}", 7, "duplicate key");
    refuse("{\"a\":1,\"\\u0061\":2}", 7, "duplicate key");
    refuse("{\"\":1,\"\":2}", 6, "duplicate key");
    refuse("{\"x\":{\"b\":1,\"c\":2,\"b\":3}}", 18, "duplicate key");
    refuse("{\"\xc3\xa9\":1,\"\\u00e9\":2}", 8, "duplicate key");
    for (int n = 7; n <= 3000; n = n * 3 / 2) {
        buf b;
        buf_init(&b, 1 << 20);
        buf_putc(&b, '{');
        for (int i = 0; i < n; i++)
            buf_printf(&b, "\"k%d\":%d,", i, i);
        size_t at = b.n;
        buf_puts(&b, "\"\\u006b0\":1}");
        refuse(b.data, at, "duplicate key");
        memcpy(b.data + at, "\"\\u006c0\":1}", 12);
        take(b.data);
        buf_release(&b);
    }
}

Test(base_json, many_keys_take_linear_time)
{
    int64_t took[2];
    for (int round = 0; round < 2; round++) {
        int n = round ? 200000 : 20000;
        buf b;
        buf_init(&b, 64 << 20);
        for (int i = 0; i < n; i++)
            buf_printf(&b, "%c\"key%d\":0", i ? ',' : '{', i);
        buf_putc(&b, '}');
        int64_t t0 = time_mono_us();
        json_doc d;
        cr_assert(json_parse(a, b.data, b.n, 0, &d, NULL));
        took[round] = time_mono_us() - t0;
        cr_assert_eq(d.nodes[0].count, (uint32_t)n);
        buf_release(&b);
    }
    cr_assert_lt(took[1], 60 * took[0] + 200000, "%lld us, then %lld us", (long long)took[0],
                 (long long)took[1]);
}

Test(base_json, depth_is_bounded)
{
    char text[2 * 300 + 1];
    for (int n = 1; n <= 300; n++) {
        memset(text, '[', (size_t)n);
        memset(text + n, ']', (size_t)n);
        json_doc d;
        cr_assert_eq(parse_n(text, 2 * (size_t)n, 0, &d), n <= JSON_MAX_DEPTH, "%d levels", n);
        cr_assert_eq(parse_n(text, 2 * (size_t)n, 3, &d), n <= 3, "%d levels of 3", n);
        cr_assert_eq(parse_n(text, 2 * (size_t)n, 250, &d), n <= 250, "%d levels of 250", n);
    }
    cr_assert(strstr(wrong.message, "deeper than 250"), "%s", wrong.message);
    json_doc d;
    cr_assert(parse_n("1", 1, 1, &d));
    cr_assert(parse_n("{\"a\":1}", 7, 1, &d));
    cr_assert_not(parse_n("{\"a\":[]}", 8, 1, &d));
}

Test(base_json, the_number_of_values_is_bounded)
{
    size_t n = JSON_MAX_NODES;
    char *text = xmalloc(2 * n + 2);
    text[0] = '[';
    for (size_t i = 0; i < n; i++) {
        text[1 + 2 * i] = '1';
        text[2 + 2 * i] = ',';
    }
    json_doc d;
    json_error e = {0};
    text[2 * (n - 1)] = ']';
    cr_assert(json_parse(a, text, 2 * (n - 1) + 1, 0, &d, NULL), "the limit itself");
    cr_assert_eq(d.n, JSON_MAX_NODES);
    arena_reset(a);
    text[2 * (n - 1)] = ',';
    text[2 * n] = ']';
    cr_assert_not(json_parse(a, text, 2 * n + 1, 0, &d, &e), "one more");
    cr_assert(strstr(e.message, "too many values"), "%s", e.message);
    free(text);
}

Test(base_json, a_text_over_4_gib_is_refused_unread)
{
    json_doc d;
    json_error e = {0};
    cr_assert_not(json_parse(a, "1", (size_t)UINT32_MAX + 1, 0, &d, &e));
    cr_assert(strstr(e.message, "4 GiB"), "%s", e.message);
}

Test(base_json, values_are_found_by_key)
{
    json_doc d = take("{\"a\":1,\"b\":{\"a\":2,\"\\u0063\":3},\"\":[],\"l\\u0061st\":\"x\"}");
    const json_node *root = &d.nodes[0];
    int64_t v = 0;
    cr_assert(json_int(&d, json_get(&d, root, "a"), &v));
    cr_assert_eq(v, 1);
    const json_node *b = json_get(&d, root, "b");
    cr_assert(json_int(&d, json_get(&d, b, "a"), &v));
    cr_assert_eq(v, 2);
    cr_assert(json_int(&d, json_get(&d, b, "c"), &v));
    cr_assert_eq(v, 3);
    cr_assert(json_is(json_get(&d, root, ""), JSON_ARRAY));
    cr_assert_str_eq(json_text(a, &d, json_get(&d, root, "last")), "x");
    cr_assert_null(json_get(&d, root, "c"));
    cr_assert_null(json_get(&d, root, "las"));
    cr_assert_null(json_get(&d, root, "lastt"));
    cr_assert_null(json_get(&d, json_get(&d, root, "a"), "a"));
    cr_assert_null(json_get(&d, NULL, "a"));
}

Test(base_json, children_come_in_order)
{
    json_doc d = take("[1,[2,3],{\"k\":4},5]");
    static const char *const want[] = {"1", "[2,3]", "{\"k\":4}", "5"};
    size_t i = 0;
    for (const json_node *v = json_first(&d, &d.nodes[0]); v; v = json_next(&d, &d.nodes[0], v))
        cr_assert_str_eq(json_raw(a, &d, v), want[i++]);
    cr_assert_eq(i, 4);
    const json_node *obj = d.nodes + d.n - 4;
    cr_assert(json_is(obj, JSON_OBJECT));
    const json_node *key = json_first(&d, obj);
    cr_assert_str_eq(json_text(a, &d, key), "k");
    const json_node *value = json_next(&d, obj, key);
    cr_assert_str_eq(json_raw(a, &d, value), "4");
    cr_assert_null(json_next(&d, obj, value));
    json_doc empty = take("[[],{}]");
    cr_assert_null(json_first(&empty, &empty.nodes[1]));
    cr_assert_null(json_first(&empty, &empty.nodes[2]));
    cr_assert_null(json_first(&empty, NULL));
    cr_assert_eq(d.nodes[0].count, 4);
    cr_assert_eq(d.nodes[0].next, d.n);
}

Test(base_json, strings_are_decoded)
{
    json_doc d =
        take("[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\",\"\\u20ac\\uD83D\\uDE00\xc3\xa9\",\"plain\",\"\"]");
    const json_node *v = json_first(&d, &d.nodes[0]);
    cr_assert_str_eq(json_text(a, &d, v), "\"\\/\b\f\n\r\t");
    v = json_next(&d, &d.nodes[0], v);
    cr_assert_str_eq(json_text(a, &d, v), "€😀é");
    cr_assert(v->escaped);
    v = json_next(&d, &d.nodes[0], v);
    cr_assert_str_eq(json_text(a, &d, v), "plain");
    cr_assert_not(v->escaped);
    v = json_next(&d, &d.nodes[0], v);
    cr_assert_str_eq(json_text(a, &d, v), "");
    cr_assert_null(json_text(a, &d, &d.nodes[0]));
    cr_assert_null(json_text(a, &d, NULL));
}

Test(base_json, a_nul_character_is_marked_up_to_the_root)
{
    json_doc d = take("{\"clean\":[\"\\\\u0000\"],\"dirty\":[[\"a\\u0000\"]],\"\\u0000\":1}");
    cr_assert(d.nodes[0].has_nul);
    cr_assert_not(json_get(&d, &d.nodes[0], "clean")->has_nul);
    cr_assert(json_get(&d, &d.nodes[0], "dirty")->has_nul);
    json_doc key = take("[{\"a\":[{\"b\\u0000\":1}]},2]");
    cr_assert(key.nodes[0].has_nul);
    cr_assert_not(take("[\"u0000\",\"\\u0001\"]").nodes[0].has_nul);
}

Test(base_json, the_raw_bytes_are_kept)
{
    static const char text[] =
        " { \"n\" : 0.10 , \"big\":12345678901234567890.0, \"s\":\"\\u0041\\/\" } ";
    json_doc d = take(text);
    const json_node *root = &d.nodes[0];
    cr_assert_str_eq(json_raw(a, &d, json_get(&d, root, "n")), "0.10");
    cr_assert_str_eq(json_raw(a, &d, json_get(&d, root, "big")), "12345678901234567890.0");
    cr_assert_str_eq(json_raw(a, &d, json_get(&d, root, "s")), "\"\\u0041\\/\"");
    cr_assert_eq(strlen(json_raw(a, &d, root)), sizeof text - 3);
    cr_assert_null(json_raw(a, &d, NULL));
}

Test(base_json, integers_in_range_only)
{
    static const struct {
        const char *text;
        bool good;
        int64_t v;
    } cases[] = {
        {"0", true, 0},
        {"-0", true, 0},
        {"42", true, 42},
        {"-7", true, -7},
        {"1.0", false, 0},
        {"1e3", false, 0},
        {"\"1\"", false, 0},
        {"null", false, 0},
        {"9223372036854775807", true, INT64_MAX},
        {"9223372036854775808", false, 0},
        {"-9223372036854775808", true, INT64_MIN},
        {"-9223372036854775809", false, 0},
        {"99999999999999999999", false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_doc d = take(cases[i].text);
        int64_t v = 0;
        cr_assert_eq(json_int(&d, &d.nodes[0], &v), cases[i].good, "%s", cases[i].text);
        if (cases[i].good)
            cr_assert_eq(v, cases[i].v, "%s", cases[i].text);
    }
    json_doc d = take("1");
    int64_t v;
    cr_assert_not(json_int(&d, NULL, &v));
}

Test(base_json, decimals_are_exact)
{
    static const struct {
        const char *text;
        bool good;
        int64_t v;
    } cases[] = {
        {"0.1", true, 100000000},
        {"1e-9", true, 1},
        {"1.5e3", true, 1500000000000},
        {"0", true, 0},
        {"-0.0", true, 0},
        {"0e999999999999999999999", true, 0},
        {"-2.5", true, -2500000000},
        {"0.0000000005", true, 1},
        {"0.00000000049999999999999999999999", true, 0},
        {"-0.0000000005", true, -1},
        {"1.0000000015", true, 1000000002},
        {"0.9999999999", true, 1000000000},
        {"123.456789012", true, 123456789012},
        {"0.00123E+3", true, 1230000000},
        {"10000e-4", true, 1000000000},
        {"9223372036.854775807", true, INT64_MAX},
        {"9223372036.8547758074999", true, INT64_MAX},
        {"9223372036.8547758075", false, 0},
        {"9223372036.854775808", false, 0},
        {"-9223372036.854775808", true, INT64_MIN},
        {"-9223372036.854775809", false, 0},
        {"1e10", false, 0},
        {"1e400", false, 0},
        {"1e99999999999999999999", false, 0},
        {"1e-99999999999999999999", true, 0},
        {"1e-400", true, 0},
        {"\"1\"", false, 0},
        {"true", false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_doc d = take(cases[i].text);
        int64_t v = 0;
        cr_assert_eq(json_nano(&d, &d.nodes[0], &v), cases[i].good, "%s", cases[i].text);
        if (cases[i].good)
            cr_assert_eq(v, cases[i].v, "%s gives %lld", cases[i].text, (long long)v);
    }
}

Test(base_json, an_exponent_makes_up_for_many_zeros)
{
    buf b;
    buf_init(&b, 1 << 20);
    buf_puts(&b, "0.");
    buf_pad(&b, '0', 5000);
    buf_puts(&b, "25e5002");
    json_doc d = take(b.data);
    int64_t v = 0;
    cr_assert(json_nano(&d, &d.nodes[0], &v));
    cr_assert_eq(v, 25000000000);
    buf_clear(&b);
    buf_putc(&b, '7');
    buf_pad(&b, '0', 5000);
    buf_puts(&b, "e-5000");
    d = take(b.data);
    cr_assert(json_nano(&d, &d.nodes[0], &v));
    cr_assert_eq(v, 7000000000);
    buf_release(&b);
}

Test(base_json, plain_bytes_are_counted_up_to_the_first_that_is_none)
{
    char text[41];
    for (size_t at = 0; at < 40; at++)
        for (int ch = 1; ch < 256; ch++) {
            memset(text, 'x', sizeof text);
            text[at] = (char)ch;
            bool plain = ch >= 0x20 && ch < 0x80 && ch != '"' && ch != '\\';
            cr_assert_eq(json_plain(text, 40), plain ? 40 : at, "byte %d at %zu", ch, at);
        }
    cr_assert_eq(json_plain("", 0), 0);
}

/* ---- writing */

static buf out;
static json_writer w;

static void writer_start(int indent)
{
    buf_init(&out, 1 << 20);
    jw_init(&w, &out, indent);
}

static void written(const char *want)
{
    cr_assert_str_eq(out.data, want);
    take(out.data);
    buf_release(&out);
}

static void write_all(void)
{
    jw_object(&w);
    jw_kstr(&w, "s", "a");
    jw_kstr(&w, "none", NULL);
    jw_kint(&w, "i", INT64_MIN);
    jw_kbool(&w, "t", true);
    jw_kraw(&w, "raw", "0.10");
    jw_kraw(&w, "noraw", NULL);
    jw_key(&w, "list");
    jw_array(&w);
    jw_int(&w, 1);
    jw_bool(&w, false);
    jw_null(&w);
    jw_object(&w);
    jw_end_object(&w);
    jw_array(&w);
    jw_end_array(&w);
    jw_end_array(&w);
    jw_end_object(&w);
}

Test(base_json, writes_on_one_line)
{
    writer_start(0);
    write_all();
    written("{\"s\":\"a\",\"none\":null,\"i\":-9223372036854775808,\"t\":true,\"raw\":0.10,"
            "\"noraw\":null,\"list\":[1,false,null,{},[]]}");
}

Test(base_json, writes_indented)
{
    writer_start(2);
    write_all();
    written(
        "{\n  \"s\": \"a\",\n  \"none\": null,\n  \"i\": -9223372036854775808,\n  \"t\": true,\n"
        "  \"raw\": 0.10,\n  \"noraw\": null,\n  \"list\": [\n    1,\n    false,\n    null,\n"
        "    {},\n    []\n  ]\n}");
}

Test(base_json, writes_every_character_so_that_it_reads_back)
{
    writer_start(0);
    jw_strn(&w, "q\" b\\ /\b\f\n\r\t\x01\x1f\x7f é😀", strlen("q\" b\\ /\b\f\n\r\t\x01\x1f\x7f é😀"));
    written("\"q\\\" b\\\\ /\\b\\f\\n\\r\\t\\u0001\\u001f\x7f é😀\"");
    writer_start(0);
    jw_strn(&w, "a\0b", 3);
    written("\"a\\u0000b\"");
    writer_start(0);
    jw_str(&w, "bad \xff\xc3 end\xe2\x82");
    written("\"bad \xef\xbf\xbd\xef\xbf\xbd end\xef\xbf\xbd\xef\xbf\xbd\"");
}

Test(base_json, writes_a_string_in_parts)
{
    writer_start(0);
    jw_array(&w);
    jw_str(&w, "a");
    jw_text(&w);
    jw_text_add(&w, "é \"");
    jw_text_add(&w, "");
    jw_text_add(&w, "\n\xff");
    jw_end_text(&w);
    jw_text(&w);
    jw_end_text(&w);
    jw_end_array(&w);
    written("[\"a\",\"é \\\"\\n\xef\xbf\xbd\",\"\"]");
}

Test(base_json, writes_the_shortest_decimal)
{
    static const struct {
        int64_t v;
        const char *want;
    } cases[] = {
        {0, "0"},
        {100000000, "0.1"},
        {1, "0.000000001"},
        {-1, "-0.000000001"},
        {1000000000, "1"},
        {1500000000000, "1500"},
        {-2500000000, "-2.5"},
        {10000000000, "10"},
        {INT64_MAX, "9223372036.854775807"},
        {INT64_MIN, "-9223372036.854775808"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        writer_start(0);
        jw_nano(&w, cases[i].v);
        json_doc d = take(out.data);
        int64_t back = 1;
        cr_assert(json_nano(&d, &d.nodes[0], &back));
        cr_assert_eq(back, cases[i].v);
        written(cases[i].want);
    }
}

Test(base_json, writing_past_the_limit_of_the_buffer_is_noticed)
{
    buf_init(&out, 10);
    jw_init(&w, &out, 0);
    jw_str(&w, "twelve chars");
    cr_assert(out.over);
    buf_release(&out);
}

/* ---- round trips and mutations */

/* Writes a document again from its nodes. */
static void rewrite(const json_doc *d, const json_node *v)
{
    const json_node *child;
    switch (v->type) {
    case JSON_STRING: {
        char *text = arena_alloc(a, v->end - v->start);
        const char *s = json_text(a, d, v);
        size_t n = strlen(s);
        memcpy(text, s, n);
        jw_strn(&w, text, n);
        break;
    }
    case JSON_ARRAY:
        jw_array(&w);
        for (child = json_first(d, v); child; child = json_next(d, v, child))
            rewrite(d, child);
        jw_end_array(&w);
        break;
    case JSON_OBJECT:
        jw_object(&w);
        for (child = json_first(d, v); child; child = json_next(d, v, child)) {
            jw_key(&w, json_text(a, d, child));
            child = json_next(d, v, child);
            rewrite(d, child);
        }
        jw_end_object(&w);
        break;
    default:
        jw_raw(&w, json_raw(a, d, v));
    }
}

static char *rewritten(const json_doc *d)
{
    writer_start(0);
    rewrite(d, &d->nodes[0]);
    char *text = arena_strdup(a, out.data);
    buf_release(&out);
    return text;
}

Test(base_json, what_was_written_reads_back_the_same)
{
    json_doc d =
        take(" {\"a\" : [1, -0.50, 1E5, \"\\u00e9\\n\", {\"b\":{}}, []], \"c\\/\": null} ");
    char *once = rewritten(&d);
    cr_assert_str_eq(once, "{\"a\":[1,-0.50,1E5,\"é\\n\",{\"b\":{}},[]],\"c/\":null}");
    json_doc again = take(once);
    cr_assert_str_eq(rewritten(&again), once);
}

static uint64_t dice_state;

static uint32_t dice(uint32_t sides)
{
    dice_state = dice_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(dice_state >> 33) % sides;
}

static size_t mutate(char *text, size_t n, size_t cap)
{
    static const char spice[] = "{}[]\",:\\u0e-+.1 \n\x80\xe2\xff\x01tfn";
    for (uint32_t times = 1 + dice(4); times; times--) {
        uint32_t at = n ? dice((uint32_t)n) : 0;
        switch (dice(4)) {
        case 0:
            if (n)
                text[at] = spice[dice(sizeof spice - 1)];
            break;
        case 1:
            if (n) {
                memmove(text + at, text + at + 1, n - at - 1);
                n--;
            }
            break;
        case 2:
            if (n < cap) {
                memmove(text + at + 1, text + at, n - at);
                text[at] = spice[dice(sizeof spice - 1)];
                n++;
            }
            break;
        default:
            n = at;
        }
    }
    return n;
}

/* Whatever the bytes are: the reader ends, stays inside them, says where it stopped, and what
 * it takes it takes again after having been written. */
Test(base_json, mutated_texts_never_confuse_the_reader)
{
    static const char *const seeds[] = {
        "{\"a\":[1,2.5e-3,\"x\\u00e9\\ud83d\\ude00\"],\"b\":{\"c\":null,\"d\":true},\"e\":\"\"}",
        "[[[[[]]]],{\"k\":[{},{\"l\":false}]},-0.1E+2,\"\xe2\x82\xac\"]",
        "{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"i\":9,\"j\":10}",
        "\"just a string with \\\\ and \\n\"",
    };
    dice_state = 20260115;
    int taken = 0, refused = 0;
    for (int round = 0; round < 8000; round++) {
        char text[256];
        const char *seed = seeds[dice(4)];
        size_t n = strlen(seed);
        memcpy(text, seed, n);
        n = mutate(text, n, sizeof text - 1);
        json_doc d;
        if (!parse_n(text, n, 6, &d)) {
            refused++;
            cr_assert_leq(wrong.offset, n);
            cr_assert(wrong.message[0]);
            continue;
        }
        taken++;
        cr_assert_eq(d.nodes[0].next, d.n);
        if (d.nodes[0].has_nul)
            continue;
        char *once = rewritten(&d);
        json_doc again = take(once);
        cr_assert_eq(again.n, d.n);
        cr_assert_str_eq(rewritten(&again), once);
        arena_reset(a);
    }
    cr_assert_gt(taken, 200);
    cr_assert_gt(refused, 3000);
}

Test(base_json, an_escape_is_measured)
{
    static const struct {
        const char *text;
        size_t size;
        uint32_t cp;
    } cases[] = {{"\\n", 2, '\n'},
                 {"\\\\u0041", 2, '\\'},
                 {"\\u0041", 6, 'A'},
                 {"\\u0000", 6, 0},
                 {"\\uD83D\\uDE00", 12, 0x1f600},
                 {"\\ud83d", 6, 0xd83d},
                 {"\\ud83d\\u0041", 6, 0xd83d},
                 {"\\ud83d\\ude0", 6, 0xd83d},
                 {"\\ude00\\ud83d", 6, 0xde00},
                 {"\\u00", 2, '\\'},
                 {"\\u00g0", 2, '\\'},
                 {"\\x", 2, '\\'},
                 {"\\", 1, '\\'}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t cp = 77;
        size_t n = strlen(cases[i].text);
        cr_expect_eq(json_escape(cases[i].text, n, &cp), cases[i].size, "%s", cases[i].text);
        cr_expect_eq(cp, cases[i].cp, "%s", cases[i].text);
    }
    cr_expect(JSON_HALF(0xd800) && JSON_HALF(0xdfff) && !JSON_HALF(0xd7ff) && !JSON_HALF(0xe000));
}

Test(base_json, a_text_is_quoted_whole)
{
    cr_expect_str_eq(json_quote(a, ""), "\"\"");
    cr_expect_str_eq(json_quote(a, "\x01\x01\x01"), "\"\\u0001\\u0001\\u0001\"");
    cr_expect_str_eq(json_quote(a, "\xff\"ä"), "\"\xef\xbf\xbd\\\"ä\"");
}
