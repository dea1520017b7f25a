/* SPDX-License-Identifier: Apache-2.0
 *
 * state.c: the state at a point is the fold of the deltas on the path to it.
 */
#include "help.h"

#include <stdio.h>

TestSuite(state, .init = scratch_open, .fini = scratch_close);

static void delta(const char *session, const char *id, const char *json)
{
    put(session, &(ramet_entry_in){.id = id, .role = RAMET_TOOL, .text = "x", .state_delta = json});
}

static const char *state(const char *session, const char *entry)
{
    const char *json = NULL;
    ok(ramet_state(T.call, session, entry, &json));
    return json;
}

Test(state, is_empty_at_first)
{
    make("s");
    cr_assert_str_eq(state("s", NULL), "{}");
    say("s", "a");
    cr_assert_str_eq(state("s", NULL), "{}");
    cr_assert_str_eq(state("s", "a"), "{}");
}

Test(state, folds_the_path)
{
    make("s");
    delta("s", "a", "{\"b\":1,\"a\":\"x\"}");
    say("s", "plain");
    delta("s", "c", "{\"b\": 2.50, \"z\":{\"deep\":[1, 2]}}");
    delta("s", "d", "{\"a\":null,\"none\":null}");
    delta("s", "e", "{\"z\":{\"other\":true}}");
    cr_assert_str_eq(state("s", "a"), "{\"a\":\"x\",\"b\":1}");
    cr_assert_str_eq(state("s", "plain"), "{\"a\":\"x\",\"b\":1}");
    cr_assert_str_eq(state("s", "c"), "{\"a\":\"x\",\"b\":2.50,\"z\":{\"deep\":[1, 2]}}");
    cr_assert_str_eq(state("s", "d"), "{\"b\":2.50,\"z\":{\"deep\":[1, 2]}}");
    cr_assert_str_eq(state("s", "e"), "{\"b\":2.50,\"z\":{\"other\":true}}");
    cr_assert_str_eq(state("s", NULL), state("s", "e"));
}

static void event(const char *session, const char *id, const char *json)
{
    ramet_append_out out;
    ramet_entry_in in = {
        .id = id, .role = RAMET_TOOL, .format = "adk", .body = "{}", .state_delta = json};
    ok(ramet_append(T.call, session,
                    &(ramet_append_in){.entries = &in, .n = 1, .log = RAMET_LOG_ADK}, &out));
}

static const char *state_as(ramet_call *c, const char *session, const char *entry)
{
    const char *json = NULL;
    ok_for(c, ramet_state(c, session, entry, &json));
    return json;
}

Test(state, the_deltas_of_adk_events_are_below_those_of_main)
{
    ramet_session *s;
    make("s");
    say("s", "a");
    event("s", "e1", "{\"n\":1,\"own\":\"adk\"}");
    delta("s", "b", "{\"own\":\"main\"}");
    event("s", "e2", "{\"n\":2,\"own\":\"later\",\"gone\":1}");
    event("s", "e3", "{\"gone\":null}");
    cr_assert_str_eq(state("s", NULL), "{\"n\":2,\"own\":\"main\"}");
    cr_assert_str_eq(state("s", "a"), "{\"n\":1,\"own\":\"adk\"}");
    delta("s", "c", "{\"own\":null}");
    cr_assert_str_eq(state("s", NULL), "{\"n\":2,\"own\":\"later\"}");
    fork_at("s", "a", "f");
    cr_assert_str_eq(state("f", NULL), "{\"n\":1,\"own\":\"adk\"}");
    ok(ramet_rewind(T.call, "s", &(ramet_move_in){.at = {"a", RAMET_AFTER}}, &s, NULL));
    cr_assert_str_eq(state("s", NULL), "{\"n\":1,\"own\":\"adk\"}");
}

Test(state, adk_deltas_are_for_members_and_headers_for_those_who_read_the_log)
{
    make("s");
    delta("s", "a", "{\"m\":1}");
    event("s", "e", "{\"headers\":{\"authorization\":\"secret\"},\"n\":1}");
    join("s", "reader", RAMET_READER);
    join("s", "writer", RAMET_WRITER);
    const char *all = "{\"headers\":{\"authorization\":\"secret\"},\"m\":1,\"n\":1}";
    cr_assert_str_eq(state("s", NULL), all);
    cr_assert_str_eq(state_as(as("ann"), "s", NULL), all);
    cr_assert_str_eq(state_as(as("writer"), "s", NULL), all);
    cr_assert_str_eq(state_as(as("reader"), "s", NULL), "{\"m\":1,\"n\":1}");
    ramet_share *link;
    ok(ramet_share_add(T.call, "s", false, 0, &link));
    ramet_call *guest = as("guest");
    ok_for(guest, ramet_call_share(guest, link->token, NULL));
    cr_assert_str_eq(state_as(guest, "s", NULL), "{\"m\":1}");
}

Test(state, a_rewind_and_a_fork_restore_it)
{
    make("s");
    delta("s", "a", "{\"n\":1}");
    delta("s", "b", "{\"n\":2}");
    delta("s", "c", "{\"m\":3}");
    fork_at("s", "a", "f");
    cr_assert_str_eq(state("f", NULL), "{\"n\":1}");
    delta("f", "x", "{\"f\":true}");
    cr_assert_str_eq(state("f", NULL), "{\"f\":true,\"n\":1}");
    rewind_to("s", "b");
    cr_assert_str_eq(state("s", NULL), "{\"n\":2}");
    ramet_session *s;
    ok(ramet_undo(T.call, "s", NULL, &s));
    cr_assert_str_eq(state("s", NULL), "{\"m\":3,\"n\":2}");
    ok(ramet_rewind(T.call, "s", &(ramet_move_in){.at = {"a", RAMET_BEFORE}}, &s, NULL));
    cr_assert_str_eq(state("s", NULL), "{}");
}

Test(state, keys_of_every_kind)
{
    make("s");
    delta("s", "a", "{\"\":0,\"\\u0061\":1,\"q\\\"\":2,\"é\":3,\"__proto__\":4}");
    cr_assert_str_eq(state("s", NULL), "{\"\":0,\"__proto__\":4,\"a\":1,\"q\\\"\":2,\"é\":3}");
    delta("s", "b", "{\"a\":null,\"\":null}");
    cr_assert_str_eq(state("s", NULL), "{\"__proto__\":4,\"q\\\"\":2,\"é\":3}");
}

Test(state, at_what_is_not_on_the_path)
{
    make("s");
    delta("s", "a", "{\"n\":1}");
    const char *json;
    refused(RAMET_ENTRY_NOT_FOUND, "at", ramet_state(T.call, "s", "none", &json));
    refused(RAMET_SESSION_NOT_FOUND, NULL, ramet_state(T.call, "none", NULL, &json));
}

/* Against a fold by hand, over enough deltas that snapshots come into it. */
Test(state, long_histories)
{
    make("s");
    int64_t value[7];
    bool there[7] = {false};
    for (int i = 0; i < 400; i++) {
        char id[16], json[64];
        int key = i * 5 % 7;
        bool remove = i % 11 == 10;
        snprintf(id, sizeof id, "e%d", i);
        snprintf(json, sizeof json, remove ? "{\"k%d\":null}" : "{\"k%d\":%d}", key, i);
        if (i % 50 == 49) {
            char fork[16];
            snprintf(fork, sizeof fork, "f%d", i);
            fork_at("s", NULL, fork);
        }
        delta("s", id, json);
        there[key] = !remove;
        value[key] = i;
        char want[256] = "{";
        for (int k = 0; k < 7; k++)
            if (there[k])
                snprintf(want + strlen(want), sizeof want - strlen(want), "%s\"k%d\":%d",
                         want[1] ? "," : "", k, (int)value[k]);
        strcat(want, "}");
        cr_assert_str_eq(state("s", NULL), want, "after %d", i);
        ramet_call_reset(T.call);
    }
    cr_assert_str_eq(state("f49", NULL), state("s", "e48"));
    cr_assert_str_eq(state("f349", NULL), state("s", "e348"));
}

Test(state, many_keys_in_one_delta)
{
    make("s");
    enum { N = 3000 };
    static char json[N * 16], want[N * 16];
    json[0] = want[0] = '{';
    size_t n = 1, m = 1;
    for (int i = 0; i < N; i++)
        n += (size_t)snprintf(json + n, sizeof json - n, "%s\"k%04d\":%d", i ? "," : "", N - 1 - i,
                              i);
    for (int i = 0; i < N; i++)
        m += (size_t)snprintf(want + m, sizeof want - m, "%s\"k%04d\":%d", i ? "," : "", i,
                              N - 1 - i);
    json[n] = want[m] = '}';
    delta("s", "a", json);
    delta("s", "b", "{\"k0000\":null,\"k9999\":1}");
    delta("s", "c", "{\"k0000\":2999,\"k9999\":null}");
    cr_assert_str_eq(state("s", "a"), want);
    cr_assert_str_eq(state("s", NULL), want);
    cr_assert_eq(strncmp(state("s", "b"), "{\"k0001\":2998,", 14), 0);
}
