/* SPDX-License-Identifier: Apache-2.0
 *
 * proto.c: messages of protobuf as JSON and back: values are what they were, and no rubbish does
 * harm.
 */
#include "form/proto/proto.h"

#include "base/util.h"

#include <criterion/criterion.h>
#include <math.h>
#include <memory/v1/memory.pb-c.h>
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

TestSuite(proto, .init = set_up, .fini = tear_down);

static const ProtobufCMessageDescriptor *const entry = &memory__v1__entry__descriptor;
static const ProtobufCMessageDescriptor *const append =
    &memory__v1__append_entry_request__descriptor;

/* JSON as an Entry, packed, unpacked, and as JSON again. */
static const char *round_trip(const char *json)
{
    json_doc d;
    buf out;
    json_writer w;
    const char *why = NULL;
    cr_assert(json_parse(a, json, strlen(json), 0, &d, NULL), "%s", json);
    ProtobufCMessage *m = proto_new(a, entry);
    proto_fill(a, PROTO_SHORT, m, &d, &d.nodes[0]);
    size_t n = protobuf_c_message_get_packed_size(m);
    uint8_t *bytes = xmalloc(n + 1); /* of exactly its size, so that a read past its end shows */
    cr_assert_eq(protobuf_c_message_pack(m, bytes), n);
    bytes = xrealloc(bytes, n ? n : 1);
    m = proto_unpack(a, entry, bytes, n, &why);
    cr_assert_not_null(m, "%s", why);
    buf_init(&out, 1 << 20);
    jw_init(&w, &out, 0);
    jw_object(&w);
    cr_assert(proto_members(a, PROTO_SHORT, &w, m, &why), "%s", why);
    jw_end_object(&w);
    const char *text = arena_memdup(a, out.data, out.n);
    buf_release(&out);
    free(bytes);
    return text;
}

Test(proto, what_goes_in_comes_out)
{
    static const char *const same[] = {
        "{}",
        "{\"id\":\"01234567-89ab-7def-8123-456789abcdef\",\"conversationId\":\"a\",\"channel\":"
        "\"history\",\"epoch\":9007199254740993,\"contentType\":\"x\",\"content\":[1,\"b\",null,"
        "true,false,[],{},[[{\"k\":[1.5]}]]],\"seq\":0,\"agentId\":\"\"}",
        "{\"content\":[0.1,-0.25,1e+300,4.94065645841247e-324,9007199254740992,-1,0,-0]}",
        "{\"content\":[\"a\\u0000b\",{\"k\\u0000\\\"\":\"\xc3\xbc\xe2\x82\xac\"}]}",
        "{\"indexedAt\":\"2026-01-02T03:04:05.678Z\",\"clientId\":\"c\"}",
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        cr_expect_str_eq(round_trip(same[i]), same[i]);
    cr_expect_str_eq(round_trip("{\"createdAt\":\"2026-01-02T03:04:05.678Z\",\"unknown\":1}"),
                     "{\"createdAt\":\"2026-01-02T03:04:05Z\"}");
}

Test(proto, every_double_is_told_apart)
{
    uint64_t seed = 7;
    for (int i = 0; i < 20000; i++) {
        double v;
        char json[64];
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        memcpy(&v, &seed, sizeof v);
        if (!isfinite(v))
            continue;
        snprintf(json, sizeof json, "{\"content\":[%.17g]}", v);
        const char *got = strchr(round_trip(json), '[') + 1;
        cr_assert_eq(strtod(got, NULL), v, "%s became %s", json, got);
        arena_reset(a);
    }
}

/* Random bytes, and a good message with a few bytes changed: taken or refused, nothing else. */
Test(proto, rubbish_does_no_harm)
{
    Memory__V1__CreateEntryRequest e = MEMORY__V1__CREATE_ENTRY_REQUEST__INIT;
    Memory__V1__AppendEntryRequest m = MEMORY__V1__APPEND_ENTRY_REQUEST__INIT;
    Google__Protobuf__Value v = GOOGLE__PROTOBUF__VALUE__INIT, *list[] = {&v, &v, &v};
    uint8_t good[256];
    v.kind_case = GOOGLE__PROTOBUF__VALUE__KIND_NUMBER_VALUE;
    v.number_value = 1.5;
    e.content = list;
    e.n_content = 3;
    e.content_type = (char *)"history";
    m.conversation_id = (char *)"a conversation";
    m.entry = &e;
    size_t n = memory__v1__append_entry_request__pack(&m, good);
    uint64_t seed = 11;
    for (int i = 0; i < 50000; i++) {
        const char *why = NULL;
        uint8_t *bytes = xmalloc(n);
        memcpy(bytes, good, n);
        for (int k = 0; k < 1 + i % 4; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            bytes[(seed >> 33) % n] = (uint8_t)(seed >> 20);
        }
        size_t len = i % 3 ? n : (seed >> 40) % n;
        ProtobufCMessage *got = proto_unpack(a, append, bytes, len, &why);
        cr_assert(got || why);
        free(bytes);
        arena_reset(a);
    }
}

Test(proto, depth_and_number_are_bounded)
{
    const char *why = NULL;
    size_t most = 1 << 20, n = 0;
    uint8_t *bytes = xmalloc(most), length[5];
    /* A list in a list in a list, from the inside out. */
    for (int i = 0; i < 500; i++) {
        size_t k = 0;
        for (size_t left = n; k == 0 || left; left >>= 7)
            length[k++] = (uint8_t)((left & 127) | (left >> 7 ? 128 : 0));
        memmove(bytes + 1 + k, bytes, n);
        bytes[0] = i % 2 ? 0x32 : 0x0a;
        memcpy(bytes + 1, length, k);
        n += 1 + k;
    }
    cr_expect_null(proto_unpack(a, &google__protobuf__value__descriptor, bytes, n, &why));
    cr_expect_str_eq(why, "the message is nested too deep");
    for (n = 0; n < most; n += 2) {
        bytes[n] = 0x0a;
        bytes[n + 1] = 0;
    }
    size_t times = 2 * (size_t)PROTO_MAX_FIELDS / most + 1;
    uint8_t *many = xmalloc(most * times);
    for (size_t i = 0; i < times; i++)
        memcpy(many + i * most, bytes, most);
    cr_expect_null(
        proto_unpack(a, &google__protobuf__list_value__descriptor, many, most * times, &why));
    cr_expect_str_eq(why, "the message has too many fields");
    free(many);
    free(bytes);
}

Test(proto, words_of_enumerations)
{
    cr_expect_str_eq(proto_word(a, &memory__v1__conversation_list_mode__descriptor, 3),
                     "latest-fork");
    cr_expect_str_eq(proto_word(a, &memory__v1__conversation_ancestry_filter__descriptor, 1),
                     "roots");
    cr_expect_str_eq(proto_word(a, &memory__v1__archive_filter__descriptor, 3), "only");
    cr_expect_str_eq(proto_word(a, &memory__v1__access_level__descriptor, 2), "manager");
    cr_expect_null(proto_word(a, &memory__v1__access_level__descriptor, 0));
    cr_expect_null(proto_word(a, &memory__v1__access_level__descriptor, 99));
}
