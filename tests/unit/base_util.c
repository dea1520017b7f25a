/* SPDX-License-Identifier: Apache-2.0
 *
 * base_util.c: times, ids, hashes and Unicode against known values.
 */
#include "base/util.h"

#include <criterion/criterion.h>
#include <pthread.h>
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

TestSuite(base_util, .init = set_up, .fini = tear_down);

Test(base_util, a_time_has_milliseconds_and_z)
{
    static const struct {
        int64_t us;
        const char *text;
    } cases[] = {
        {0, "1970-01-01T00:00:00.000Z"},
        {1767323045678999, "2026-01-02T03:04:05.678Z"},
        {951782400000000, "2000-02-29T00:00:00.000Z"},
        {1709251199999999, "2024-02-29T23:59:59.999Z"},
        {4107542400000000, "2100-03-01T00:00:00.000Z"},
        {-1, "1969-12-31T23:59:59.999Z"},
        {-62135596800000000, "0001-01-01T00:00:00.000Z"},
        {253402300799999000, "9999-12-31T23:59:59.999Z"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[TIME_TEXT];
        cr_assert_str_eq(time_text(cases[i].us, text), cases[i].text);
        int64_t back;
        cr_assert(time_parse(text, &back), "%s", text);
        cr_assert_eq(back, cases[i].us >= 0 ? cases[i].us / 1000 * 1000
                                            : (cases[i].us - 999) / 1000 * 1000);
    }
}

Test(base_util, extreme_times_do_not_overflow)
{
    char text[TIME_TEXT];
    cr_assert_str_eq(time_text(INT64_MAX, text), "294247-01-10T04:00:54.775Z");
    cr_assert_lt(strlen(time_text(INT64_MIN, text)), TIME_TEXT);
}

Test(base_util, a_time_is_read_in_every_allowed_form)
{
    static const struct {
        const char *text;
        int64_t us;
    } cases[] = {
        {"1970-01-01", 0},
        {"2026-01-02", 1767312000000000},
        {"1970-01-01T00:00:01Z", 1000000},
        {"1970-01-01T00:00:01.5Z", 1500000},
        {"1970-01-01T00:00:01.000001Z", 1000001},
        {"1970-01-01T00:00:01.000001999Z", 1000001},
        {"1970-01-01T02:00:00+02:00", 0},
        {"1969-12-31T18:30:00-05:30", 0},
        {"1970-01-01T00:00:00-00:00", 0},
        {"2000-02-29T00:00:00Z", 951782400000000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t us = -1;
        cr_assert(time_parse(cases[i].text, &us), "%s", cases[i].text);
        cr_assert_eq(us, cases[i].us, "%s gives %lld", cases[i].text, (long long)us);
    }
}

Test(base_util, other_times_are_refused)
{
    static const char *const bad[] = {"",
                                      "x",
                                      "2026",
                                      "2026-01",
                                      "2026-1-2",
                                      "2026-13-01",
                                      "2026-00-01",
                                      "2026-01-00",
                                      "2026-01-32",
                                      "2026-02-29",
                                      "1900-02-29",
                                      "2026-04-31",
                                      "2026-01-02T",
                                      "2026-01-02 03:04:05Z",
                                      "2026-01-02T03:04Z",
                                      "2026-01-02T03:04:05",
                                      "2026-01-02T24:00:00Z",
                                      "2026-01-02T03:60:00Z",
                                      "2026-01-02T03:04:60Z",
                                      "2026-01-02T03:04:05.Z",
                                      "2026-01-02T03:04:05,5Z",
                                      "2026-01-02T03:04:05z",
                                      "2026-01-02t03:04:05Z",
                                      "2026-01-02T03:04:05+0200",
                                      "2026-01-02T03:04:05+24:00",
                                      "2026-01-02T03:04:05+02:60",
                                      "2026-01-02T03:04:05Zx",
                                      "2026-01-02x",
                                      " 2026-01-02",
                                      "2026-01-02T03:04:05.1234567890Z",
                                      "+2026-01-02",
                                      "-026-01-02"};
    int64_t us;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_assert_not(time_parse(bad[i], &us), "%s", bad[i]);
    cr_assert_not(time_parse(NULL, &us));
}

Test(base_util, the_clocks_run)
{
    int64_t mono = time_mono_us(), now = time_now_us();
    cr_assert_gt(now, INT64_C(1700000000000000));
    while (time_mono_us() == mono)
        continue;
    cr_assert_gt(time_mono_us(), mono);
}

Test(base_util, a_uuid_carries_version_variant_and_time)
{
    char id[UUID_TEXT];
    int64_t now = time_now_us() + INT64_C(1000000000);
    uuid7(now, id);
    cr_assert_eq(strlen(id), 36);
    cr_assert_eq(id[14], '7');
    cr_assert(strchr("89ab", id[19]));
    uint8_t ms[6];
    char hex[13];
    memcpy(hex, id, 8);
    memcpy(hex + 8, id + 9, 4);
    hex[12] = 0;
    cr_assert(hex_decode(hex, ms, 6));
    int64_t v = 0;
    for (int i = 0; i < 6; i++)
        v = v << 8 | ms[i];
    cr_assert_eq(v, now / 1000);
    for (int i = 0; i < 36; i++)
        cr_assert(
            strchr(i == 8 || i == 13 || i == 18 || i == 23 ? "-" : "0123456789abcdef", id[i]));
}

Test(base_util, uuids_grow_also_when_the_clock_stands_or_goes_back)
{
    char last[UUID_TEXT], id[UUID_TEXT];
    uuid7(1700000000000000, last);
    for (int i = 0; i < 20000; i++) {
        uuid7(i % 3 ? 1700000000000000 : 1600000000000000 - i, id);
        cr_assert_gt(strcmp(id, last), 0, "%s then %s", last, id);
        memcpy(last, id, sizeof last);
    }
    cr_assert_eq(strlen(uuid7(-5, id)), 36);
}

Test(base_util, a_uuid_of_a_hash_is_always_the_same)
{
    uint8_t hash[16];
    char id[UUID_TEXT];
    memset(hash, 0xff, sizeof hash);
    cr_expect_str_eq(uuid8(hash, id), "ffffffff-ffff-8fff-bfff-ffffffffffff");
    memset(hash, 0, sizeof hash);
    cr_expect_str_eq(uuid8(hash, id), "00000000-0000-8000-8000-000000000000");
    cr_expect(hash[6] == 0 && hash[8] == 0);
}

Test(base_util, a_uuid_there_and_back)
{
    uint8_t bytes[16];
    char id[UUID_TEXT];
    cr_assert(uuid_parse("01234567-89aB-cDeF-0123-456789ABCDEF", bytes));
    cr_expect_str_eq(uuid_text(bytes, id), "01234567-89ab-cdef-0123-456789abcdef");
    static const char *const bad[] = {"",
                                      "01234567",
                                      "0123456789abcdef0123456789abcdef",
                                      "01234567-89ab-cdef-0123-456789abcde",
                                      "01234567-89ab-cdef-0123-456789abcdef0",
                                      "01234567-89ab-cdef-0123-456789abcdeg",
                                      "0123456-789ab-cdef-0123-456789abcdef",
                                      "01234567-89ab-cdef-0123 456789abcdef",
                                      "01234567--89a-cdef-0123-456789abcdef"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cr_expect_not(uuid_parse(bad[i], bytes), "%s", bad[i]);
        cr_expect_not(uuid_valid(bad[i]), "%s", bad[i]);
    }
}

#define IDS 2000
static char many[4][IDS][UUID_TEXT];

static void *make_ids(void *arg)
{
    char(*ids)[UUID_TEXT] = arg;
    for (int i = 0; i < IDS; i++)
        uuid7(1700000000000000, ids[i]);
    return NULL;
}

static int by_text(const void *x, const void *y)
{
    return strcmp(x, y);
}

Test(base_util, uuids_of_many_threads_differ)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, make_ids, many[i]), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (int t = 0; t < 4; t++)
        for (int i = 1; i < IDS; i++)
            cr_assert_gt(strcmp(many[t][i], many[t][i - 1]), 0);
    qsort(many, 4 * IDS, UUID_TEXT, by_text);
    char(*all)[UUID_TEXT] = many[0];
    for (int i = 1; i < 4 * IDS; i++)
        cr_assert_str_neq(all[i], all[i - 1]);
}

Test(base_util, random_bytes_fill_everything)
{
    uint8_t p[64] = {0}, q[64] = {0}, none[64] = {0};
    random_bytes(p, sizeof p);
    random_bytes(q, sizeof q);
    cr_assert_neq(memcmp(p, q, sizeof p), 0);
    cr_assert_neq(memcmp(p + 32, none, 32), 0);
    random_bytes(none, 0);
}

Test(base_util, hex_there_and_back)
{
    uint8_t bytes[4] = {0x00, 0x9f, 0xff, 0x10}, back[4];
    char text[9];
    hex_encode(bytes, 4, text);
    cr_assert_str_eq(text, "009fff10");
    cr_assert(hex_decode(text, back, 4));
    cr_assert_arr_eq(back, bytes, 4);
    static const char *const bad[] = {"",         "009fff1",    "009fff1g",
                                      "009FFF10", "009fff1000", "009f ff1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_assert_not(hex_decode(bad[i], back, 4), "%s", bad[i]);
    hex_encode(bytes, 0, text);
    cr_assert_str_eq(text, "");
}

Test(base_util, hex_digits_of_either_case)
{
    for (int ch = 0; ch < 256; ch++) {
        static const char digits[] = "0123456789abcdef0123456789ABCDEF";
        const char *at = ch ? strchr(digits, ch) : NULL;
        cr_expect_eq(hex_digit((char)ch), at ? (int)(at - digits) % 16 : -1, "%d", ch);
    }
    cr_expect_eq(hex_pair("fF"), 255);
    cr_expect_eq(hex_pair("00"), 0);
    cr_expect_eq(hex_pair("A9x"), 0xa9);
    cr_expect(hex_pair("") == -1 && hex_pair("1") == -1 && hex_pair("g1") == -1 &&
              hex_pair("1g") == -1);
}

static void sha_is(sha *s, const char *want)
{
    uint8_t hash[HASH_LEN];
    char text[2 * HASH_LEN + 1];
    sha_end(s, hash);
    hex_encode(hash, HASH_LEN, text);
    cr_assert_str_eq(text, want);
}

Test(base_util, sha256_of_known_texts)
{
    sha *s = sha_new();
    sha_begin(s);
    sha_is(s, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    sha_begin(s);
    sha_add(s, "abc", 3);
    sha_is(s, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    sha_begin(s);
    sha_add(s, "thrown away", 11);
    sha_begin(s);
    for (int i = 0; i < 3; i++)
        sha_add(s, "abc" + i, 1);
    sha_add(s, NULL, 0);
    sha_is(s, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    uint8_t zero[2 * HASH_LEN] = {0}, chained[HASH_LEN], plain[HASH_LEN];
    sha_chain(s, zero, zero, chained);
    sha_begin(s);
    sha_add(s, zero, sizeof zero);
    sha_end(s, plain);
    cr_assert_arr_eq(chained, plain, HASH_LEN);
    sha_chain(s, plain, plain, plain); /* in and out may be the same */
    cr_assert_neq(memcmp(chained, plain, HASH_LEN), 0);
    sha_free(s);
    sha_free(NULL);
}

Test(base_util, utf8_is_checked_strictly)
{
    cr_assert(utf8_valid("", 0));
    cr_assert(utf8_valid("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 10));
    cr_assert(utf8_valid("\xf4\x8f\xbf\xbf", 4));
    cr_assert(utf8_valid("a\0b", 3));
    static const char *const bad[] = {"\x80",
                                      "\xc0\x80",
                                      "\xc1\xbf",
                                      "\xe0\x80\x80",
                                      "\xed\xa0\x80",
                                      "\xed\xbf\xbf",
                                      "\xf0\x80\x80\x80",
                                      "\xf4\x90\x80\x80",
                                      "\xf8\x88\x80\x80\x80",
                                      "\xc3",
                                      "\xe2\x82",
                                      "\xf0\x9f\x98",
                                      "a\xff",
                                      "\xc3(",
                                      "\xe2(\xa1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_assert_not(utf8_valid(bad[i], strlen(bad[i])), "case %zu", i);
    cr_assert_not(utf8_valid("\xc3\xa9", 1), "cut off");
    uint32_t cp = 0;
    cr_assert_eq(utf8_next("\xf0\x9f\x98\x80z", 5, &cp), 4);
    cr_assert_eq(cp, 0x1f600);
    cr_assert_eq(utf8_next("", 0, &cp), 0);
}

Test(base_util, every_character_is_written_as_it_is_read)
{
    for (uint32_t cp = 0; cp <= 0x10ffff; cp += cp < 0x3000 ? 1 : 97) {
        char text[4];
        size_t n = utf8_put(cp, text);
        uint32_t back = 0;
        bool surrogate = cp >= 0xd800 && cp <= 0xdfff;
        cr_assert_eq(utf8_next(text, n, &back), surrogate ? 0 : n, "U+%04X", cp);
        if (!surrogate)
            cr_assert_eq(back, cp);
    }
}

Test(base_util, characters_are_counted_and_cut)
{
    cr_assert_eq(utf8_count(""), 0);
    cr_assert_eq(utf8_count("añ€😀"), 4);
    cr_assert_eq(utf8_prefix("añ€😀", 0), 0);
    cr_assert_eq(utf8_prefix("añ€😀", 1), 1);
    cr_assert_eq(utf8_prefix("añ€😀", 2), 3);
    cr_assert_eq(utf8_prefix("añ€😀", 3), 6);
    cr_assert_eq(utf8_prefix("añ€😀", 4), 10);
    cr_assert_eq(utf8_prefix("añ€😀", 99), 10);
}

Test(base_util, widths_are_those_of_a_terminal)
{
    cr_assert_eq(utf8_width('a'), 1);
    cr_assert_eq(utf8_width(' '), 1);
    cr_assert_eq(utf8_width('\n'), 0);
    cr_assert_eq(utf8_width(0x7f), 0);
    cr_assert_eq(utf8_width(0xe9), 1);
    cr_assert_eq(utf8_width(0x301), 0);   /* combining acute */
    cr_assert_eq(utf8_width(0x200d), 0);  /* zero width joiner */
    cr_assert_eq(utf8_width(0x4e2d), 2);  /* 中 */
    cr_assert_eq(utf8_width(0xff21), 2);  /* fullwidth A */
    cr_assert_eq(utf8_width(0x1f600), 2); /* 😀 */
    cr_assert_eq(utf8_width(0x2500), 1);  /* ─ */
}

static void lower_is(const char *s, const char *want)
{
    cr_assert_str_eq(utf8_lower(a, s, strlen(s)), want);
}

Test(base_util, lower_case_in_any_script)
{
    lower_is("", "");
    lower_is("ABC xyz 123", "abc xyz 123");
    lower_is("ÄÖÜ Ünïcode", "äöü ünïcode");
    lower_is("ПРИВЕТ ΑΒΓ", "привет αβγ");
    lower_is("ȺȾ", "ⱥⱦ"); /* grows from two bytes to three */
    lower_is("漢字 😀", "漢字 😀");
    lower_is("A\xffZ", "a\xffz");
}

Test(base_util, spaces)
{
    static const uint32_t spaces[] = {9,      10,     13,     ' ',    0x85,  0xa0,
                                      0x1680, 0x2003, 0x2028, 0x202f, 0x3000};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        cr_assert(utf8_is_space(spaces[i]), "U+%04X", spaces[i]);
    static const uint32_t others[] = {0, 8, 14, 'a', 0x200b, 0x200d, 0xfeff, 0x1f600};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        cr_assert_not(utf8_is_space(others[i]), "U+%04X", others[i]);
}

Test(base_util, a_preview_is_the_first_line_with_something_on_it)
{
    cr_assert_str_eq(text_preview(a, "", 10), "");
    cr_assert_str_eq(text_preview(a, NULL, 10), "");
    cr_assert_str_eq(text_preview(a, "\n \t\r\n\n", 10), "");
    cr_assert_str_eq(text_preview(a, "one", 10), "one");
    cr_assert_str_eq(text_preview(a, "\n\r\n   one two  \nthree", 10), "one two");
    cr_assert_str_eq(text_preview(a,
                                  "\xe3\x80\x80"
                                  "wide\xc2\xa0",
                                  10),
                     "wide");
    cr_assert_str_eq(text_preview(a, "0123456789", 10), "0123456789");
    cr_assert_str_eq(text_preview(a, "0123456789a", 10), "012345678…");
    cr_assert_str_eq(text_preview(a, "ääääääääääää", 10), "äääääääää…");
    cr_assert_str_eq(text_preview(a, "abc", 1), "…");
    cr_assert_str_eq(text_preview(a, "abc", 0), "");
}
