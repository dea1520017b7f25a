/* SPDX-License-Identifier: Apache-2.0
 *
 * The rules for frames of HTTP/2 (grpc/http2_frames.c), by literal bytes: what comes in pieces is
 * seen as what comes at once, and shares are given back.
 */
#include "help.h"

#include "grpc/http2_internal.h"

#include <arpa/inet.h>
#include <string.h>

TestSuite(http2);

static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
enum { DATA = 0, HEADERS = 1, RST = 3, SETTINGS = 4, UPDATE = 8, CONTINUATION = 9 };
enum { END_STREAM = 1, END_HEADERS = 4, PADDED = 8 };
enum { MIB = 1 << 20, WINDOW = 65535 };

static http2_config cfg = {.header_max = 1000,
                           .streams = 4,
                           .window = WINDOW,
                           .resets = 8,
                           .message_bytes = 8 * MIB,
                           .calls = {{100, 50}, {10, 5}},
                           .request_s = 10,
                           .idle_s = 10};

typedef struct wire {
    uint8_t bytes[1 << 20];
    size_t n;
} wire;

static void add(wire *w, int type, int flags, uint32_t id, const void *payload, uint32_t length)
{
    uint8_t head[9] = {(uint8_t)(length >> 16),
                       (uint8_t)(length >> 8),
                       (uint8_t)length,
                       (uint8_t)type,
                       (uint8_t)flags,
                       0,
                       0,
                       (uint8_t)(id >> 8),
                       (uint8_t)id};
    cr_assert(w->n + sizeof head + length <= sizeof w->bytes);
    memcpy(w->bytes + w->n, head, sizeof head);
    if (payload)
        memcpy(w->bytes + w->n + sizeof head, payload, length);
    else
        memset(w->bytes + w->n + sizeof head, 0, length);
    w->n += sizeof head + length;
}

static http2_shares *shares;
static http2_address *from;

static http2_address *address(const char *text)
{
    struct sockaddr_in6 a = {.sin6_family = AF_INET6};
    cr_assert_eq(inet_pton(AF_INET6, text, &a.sin6_addr), 1);
    return shares_address(shares, (struct sockaddr *)&a);
}

static void connection_begin(http2_frames *f)
{
    if (!shares) {
        shares = shares_new(&cfg);
        from = address("2001:db8::1");
    }
    frames_init(f, &cfg, shares, from, 0);
    cr_assert_eq(frames_client(f, (const uint8_t *)preface, sizeof preface - 1, 0), HTTP2_FINE);
}

/* What is said of these bytes, however they are cut. */
static http2_verdict verdict_of(const wire *w)
{
    static const size_t steps[] = {1, 2, 3, 7, 9, 10, 1000, sizeof w->bytes};
    http2_verdict first = HTTP2_FINE;
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
        http2_frames f;
        http2_verdict v = HTTP2_FINE;
        connection_begin(&f);
        /* Budgets of addresses last: each round is long after the one before. */
        int64_t now = (int64_t)(k + 1) * 1000000000;
        for (size_t at = 0; at < w->n && v == HTTP2_FINE; at += steps[k])
            v = frames_client(&f, w->bytes + at, w->n - at < steps[k] ? w->n - at : steps[k], now);
        if (!k)
            first = v;
        cr_expect_eq(v, first, "in pieces of %zu: %d, not %d", steps[k], v, first);
        frames_release(&f);
    }
    return first;
}

static wire w;

Test(http2, resets_are_counted_until_the_budget_is_spent)
{
    for (uint32_t i = 0; i < 8; i++) {
        add(&w, HEADERS, END_HEADERS, 1 + 2 * i, NULL, 10);
        add(&w, RST, 0, 1 + 2 * i, NULL, 4);
    }
    cr_expect_eq(verdict_of(&w), HTTP2_FINE);
    add(&w, HEADERS, END_HEADERS, 99, NULL, 10);
    add(&w, RST, 0, 99, NULL, 4);
    cr_expect_eq(verdict_of(&w), HTTP2_MANY_RESETS);
}

Test(http2, a_header_block_is_bounded_by_bytes_and_frames)
{
    add(&w, HEADERS, 0, 1, NULL, 500);
    add(&w, CONTINUATION, 0, 1, NULL, 500);
    cr_expect_eq(verdict_of(&w), HTTP2_FINE);
    wire *one = &w;
    size_t n = one->n;
    add(&w, CONTINUATION, END_HEADERS, 1, NULL, 1);
    cr_expect_eq(verdict_of(&w), HTTP2_LARGE_HEADER);
    w.n = n;
    for (int i = 0; i < 100; i++)
        add(&w, CONTINUATION, 0, 1, NULL, 0);
    cr_expect_eq(verdict_of(&w), HTTP2_LARGE_HEADER);
    w.n = n;
    add(&w, SETTINGS, 0, 0, NULL, 0);
    cr_expect_eq(verdict_of(&w), HTTP2_BAD_FRAME);
    w.n = 0;
    add(&w, CONTINUATION, END_HEADERS, 1, NULL, 1);
    cr_expect_eq(verdict_of(&w), HTTP2_BAD_FRAME);
}

Test(http2, streams_and_windows_are_bounded)
{
    for (uint32_t i = 0; i < 4; i++)
        add(&w, HEADERS, END_HEADERS, 1 + 2 * i, NULL, 10);
    for (int i = 0; i < 3; i++)
        add(&w, DATA, 0, 1, NULL, 16384);
    add(&w, DATA, 0, 1, NULL, 16383);
    cr_expect_eq(verdict_of(&w), HTTP2_FINE);
    size_t n = w.n;
    add(&w, DATA, 0, 1, NULL, 1);
    cr_expect_eq(verdict_of(&w), HTTP2_OVERRUN);
    w.n = n;
    add(&w, HEADERS, END_HEADERS, 9, NULL, 10);
    cr_expect_eq(verdict_of(&w), HTTP2_MANY_STREAMS);
    w.n = n;
    add(&w, DATA, 0, 3, NULL, 16385);
    cr_expect_eq(verdict_of(&w), HTTP2_BAD_FRAME);
}

Test(http2, the_preface_is_checked)
{
    http2_frames f;
    connection_begin(&f);
    frames_release(&f);
    frames_init(&f, &cfg, shares, from, 0);
    cr_expect_eq(frames_client(&f, (const uint8_t *)"PRI * HTTP/2.1", 14, 0), HTTP2_BAD_PREFACE);
}

/* ---- large messages: window updates of the server wait for room */

static size_t served(http2_frames *f, const wire *from_server, size_t step, uint8_t *out)
{
    size_t n = 0;
    http2_verdict v;
    for (size_t at = 0; at < from_server->n; at += step) {
        size_t some = from_server->n - at < step ? from_server->n - at : step;
        n += frames_server(f, from_server->bytes + at, some, out + n, 0, &v);
        cr_expect_eq(v, HTTP2_FINE);
    }
    return n;
}

static void message_begin(http2_frames *f, uint32_t id, uint32_t length)
{
    uint8_t prefix[] = {0, (uint8_t)(length >> 24), (uint8_t)(length >> 16), (uint8_t)(length >> 8),
                        (uint8_t)length};
    uint8_t padded[] = {3, 0, prefix[1], prefix[2], prefix[3], prefix[4], 0, 0, 0};
    w.n = 0;
    add(&w, HEADERS, END_HEADERS, id, NULL, 10);
    /* Padding is no part of the message. */
    if (id % 4 == 1)
        add(&w, DATA, PADDED, id, padded, sizeof padded);
    else
        add(&w, DATA, 0, id, prefix, sizeof prefix);
    cr_assert_eq(frames_client(f, w.bytes, w.n, 0), HTTP2_FINE);
}

Test(http2, updates_wait_until_there_is_room_for_the_message)
{
    static const uint8_t more[4] = {0, 1, 0, 0};
    static uint8_t out[1000];
    static wire s;
    for (size_t step = 1; step < 60; step++) {
        http2_frames f;
        connection_begin(&f);
        message_begin(&f, 1, MIB); /* an address may have 2 MiB */
        message_begin(&f, 3, 3 * MIB / 2);
        message_begin(&f, 5, 1000);
        s.n = 0;
        add(&s, UPDATE, 0, 1, more, 4);
        add(&s, UPDATE, 0, 3, more, 4); /* waits */
        add(&s, UPDATE, 0, 5, more, 4);
        add(&s, UPDATE, 0, 0, more, 4);
        add(&s, HEADERS, END_HEADERS, 5, "abc", 3);
        add(&s, UPDATE, 0, 3, more, 4); /* the same stream: waits, too */
        size_t n = served(&f, &s, step, out);
        cr_expect_eq(n, 13 + 13 + 13 + 12, "%zu bytes in steps of %zu", n, step);
        cr_expect(memcmp(out, s.bytes, 13) == 0);
        cr_expect(memcmp(out + 13, s.bytes + 26, 38) == 0);
        cr_expect(frames_whole(&f));
        cr_expect_eq(f.n_parked, 1);
        cr_expect_eq(frames_grant(&f, out, sizeof out), 0);
        s.n = 0;
        add(&s, HEADERS, END_HEADERS | END_STREAM, 1, "z", 1); /* the first one ends */
        cr_expect_eq(served(&f, &s, step, out), 10);
        cr_expect_eq(frames_grant(&f, out, sizeof out), 13);
        static const uint8_t granted[] = {0, 0, 4, UPDATE, 0, 0, 0, 0, 3, 0, 2, 0, 0};
        cr_expect(memcmp(out, granted, sizeof granted) == 0);
        cr_expect_eq(f.n_parked, 0);
        frames_release(&f);
        /* All was given back: the next round begins as this one did. */
    }
}

Test(http2, a_message_that_is_larger_than_the_share_is_let_in_alone)
{
    static const uint8_t more[4] = {0, 1, 0, 0};
    static uint8_t out[100];
    static wire s;
    http2_frames f;
    connection_begin(&f);
    message_begin(&f, 1, 100 * MIB);
    message_begin(&f, 3, MIB);
    add(&s, UPDATE, 0, 1, more, 4);
    add(&s, UPDATE, 0, 3, more, 4);
    cr_expect_eq(served(&f, &s, 26, out), 13);
    frames_release(&f);
}

Test(http2, addresses_of_one_ipv6_network_are_one)
{
    http2_frames f;
    connection_begin(&f);
    cr_expect_eq(address("2001:db8::1"), address("2001:db8::ffff"));
    cr_expect_neq(address("2001:db8::1"), address("2001:db8:0:1::1"));
    cr_expect_neq(address("::ffff:10.0.0.1"), address("::ffff:10.0.0.2"));
    frames_release(&f);
}

Test(http2, a_budget_comes_back_with_time)
{
    http2_budget b = {0};
    for (int i = 0; i < 8; i++)
        cr_expect(budget_spend(&b, 0, 8, 2));
    cr_expect_not(budget_spend(&b, 0, 8, 2));
    cr_expect(budget_spend(&b, 500000, 8, 2));
    cr_expect_not(budget_spend(&b, 500000, 8, 2));
}
