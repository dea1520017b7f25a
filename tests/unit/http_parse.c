/* SPDX-License-Identifier: Apache-2.0
 *
 * The grammar of requests: the same result wherever the bytes are cut, and never past them.
 */
#include "http/parse.h"

#include "base/buf.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* Shows each step of a buffer of its own size, so that a read past its end is found (SAN=1). */
static head_state head_feed(const char *bytes, size_t n, size_t cut, head_scan *s)
{
    head_state st = HEAD_MORE;
    *s = (head_scan){0};
    for (size_t have = cut; st == HEAD_MORE; have += cut) {
        size_t now = have < n ? have : n;
        char *copy = xmalloc(now + 1);
        memcpy(copy, bytes, now);
        st = head_look(s, copy, now);
        free(copy);
        if (now == n)
            break;
    }
    return st;
}

Test(http_parse, a_header_is_found_wherever_it_is_cut)
{
    static const char text[] = "\r\n\r\nGET /a?b HTTP/1.1\r\nHost: x\r\nX: a\tb \r\n\r\nbehind it";
    size_t end = strstr(text, "behind") - text;
    for (size_t cut = 1; cut < sizeof text; cut++) {
        head_scan s;
        cr_assert_eq(head_feed(text, sizeof text - 1, cut, &s), HEAD_WHOLE, "%zu", cut);
        cr_assert_eq(s.at, end);
        cr_assert_eq(s.begin, 4);
        cr_assert_eq(s.first_line, strlen("GET /a?b HTTP/1.1"));
    }
}

Test(http_parse, a_header_says_what_it_says)
{
    static const char text[] = "GET /a?b HTTP/1.1\r\nHost: x\r\nx-y:\t  a b \t\r\nempty:\r\n\r\n";
    arena *a = arena_new();
    http_head h;
    char *copy = arena_memdup(a, text, sizeof text - 1);
    cr_assert_null(head_split(a, copy, sizeof text - 1, &h));
    cr_assert_str_eq(h.method, "GET");
    cr_assert_str_eq(h.target, "/a?b");
    cr_assert(h.major == 1 && h.minor == 1);
    cr_assert_eq(h.n, 3);
    cr_assert_str_eq(head_get(&h, "HOST"), "x");
    cr_assert_str_eq(head_get(&h, "X-Y"), "a b");
    cr_assert_str_eq(head_get(&h, "Empty"), "");
    cr_assert_null(head_get(&h, "X"));
    arena_free(a);
}

Test(http_parse, what_two_readers_could_take_differently_is_refused)
{
    static const struct {
        const char *text;
        size_t n;
    } bad[] = {
#define BAD(s) {s, sizeof s - 1}
        BAD("GET / HTTP/1.1\nHost: x\r\n\r\n"),
        BAD("GET / HTTP/1.1\r\nHost: x\n\r\n"),
        BAD("GET / HTTP/1.1\r\nHost: x\r\n\n"),
        BAD("GET / HTTP/1.1\r\nHost: x\ry\r\n\r\n"),
        BAD("GET / HTTP/1.1\r\nHost: x\0y\r\n\r\n"),
        BAD("GET / HTTP/1.1\r\nHo\0st: x\r\n\r\n"),
        BAD("GET / HTTP/1.1\r\nHost: x\x7f\r\n\r\n"),
        BAD("\x16\x03\x01"),
        BAD("\n"),
        BAD("\r\r"),
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (size_t cut = 1; cut <= bad[i].n; cut++) {
            head_scan s;
            cr_assert_eq(head_feed(bad[i].text, bad[i].n, cut, &s), HEAD_BAD, "%zu", i);
            cr_assert_not_null(s.wrong);
        }
    static const char *const lines[] = {"GET /\r\n\r\n",
                                        "GET\r\n\r\n",
                                        "G@T / HTTP/1.1\r\n\r\n",
                                        " / HTTP/1.1\r\n\r\n",
                                        "GET / HTTP/1.1 \r\n\r\n",
                                        "GET / HTTP/11\r\n\r\n",
                                        "GET / http/1.1\r\n\r\n",
                                        "GET / HTTP/1.1\r\nA: b\r\n folded: c\r\n\r\n",
                                        "GET / HTTP/1.1\r\nA : b\r\n\r\n",
                                        "GET / HTTP/1.1\r\n: b\r\n\r\n",
                                        "GET / HTTP/1.1\r\nA\r\n\r\n"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        arena *a = arena_new();
        http_head h;
        char *copy = arena_memdup(a, lines[i], strlen(lines[i]));
        cr_assert_not_null(head_split(a, copy, strlen(lines[i]), &h), "%s", lines[i]);
        arena_free(a);
    }
}

/* ------------------------------------------------------------------------ chunks */

static chunk_state chunk_feed(const char *bytes, size_t n, size_t cut, buf *out, size_t *at)
{
    chunk_reader r = {0};
    chunk_state st = CHUNK_MORE;
    buf_clear(out);
    for (*at = 0; *at < n && (st == CHUNK_MORE || st == CHUNK_BYTES);) {
        size_t used, piece, some = n - *at < cut ? n - *at : cut;
        char *copy = xmalloc(some);
        memcpy(copy, bytes + *at, some);
        st = chunk_read(&r, copy, some, &used, &piece);
        cr_assert(used > 0 && used <= some && piece <= used);
        if (st == CHUNK_BYTES)
            buf_add(out, copy + used - piece, piece);
        free(copy);
        *at += used;
    }
    return st;
}

Test(http_parse, chunks_give_the_same_body_wherever_they_are_cut)
{
    static const char text[] = "5\r\nhello\r\n00A;x=\"y\"\r\n, world\r\n!\r\n0;last\r\n"
                               "X: trailer\r\n\r\nbehind";
    buf out;
    buf_init(&out, 1000);
    for (size_t cut = 1; cut < sizeof text; cut++) {
        size_t at;
        cr_assert_eq(chunk_feed(text, sizeof text - 1, cut, &out, &at), CHUNK_END, "%zu", cut);
        cr_assert_str_eq(out.data, "hello, world\r\n!");
        cr_assert_str_eq(text + at, "behind");
    }
    buf_release(&out);
}

Test(http_parse, chunks_that_are_none)
{
    static const struct {
        const char *text;
        size_t n;
        chunk_state st;
    } bad[] = {
#define CHUNKS(s, st) {s, sizeof s - 1, st}
        CHUNKS("\r\n", CHUNK_BAD),
        CHUNKS("g\r\n", CHUNK_BAD),
        CHUNKS("-1\r\n", CHUNK_BAD),
        CHUNKS("0x1\r\n", CHUNK_BAD),
        CHUNKS(" 1\r\n", CHUNK_BAD),
        CHUNKS("1 \r\n", CHUNK_BAD),
        CHUNKS("1\nx\r\n", CHUNK_BAD),
        CHUNKS("1\rx", CHUNK_BAD),
        CHUNKS("1\r\nx\n", CHUNK_BAD),
        CHUNKS("1\r\nxy", CHUNK_BAD),
        CHUNKS("1\r\nx\r0", CHUNK_BAD),
        CHUNKS("1;a\n\r\n", CHUNK_BAD),
        CHUNKS("1;a\0\r\n", CHUNK_BAD),
        CHUNKS("0\r\n\n", CHUNK_BAD),
        CHUNKS("0\r\nX: y\n\r\n", CHUNK_BAD),
        CHUNKS("0\r\nX: \0\r\n\r\n", CHUNK_BAD),
        CHUNKS("1000000000000000\r\n", CHUNK_OVER),
        CHUNKS("0000000000000001\r\n", CHUNK_OVER),
    };
    buf out;
    buf_init(&out, 1000);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (size_t cut = 1; cut <= bad[i].n; cut++) {
            size_t at;
            cr_assert_eq(chunk_feed(bad[i].text, bad[i].n, cut, &out, &at), bad[i].st, "%zu", i);
        }
    buf_release(&out);
}
