/* SPDX-License-Identifier: Apache-2.0
 *
 * expect.c: any write can be made conditional on a session's history (I5).
 */
#include "help.h"

TestSuite(expect, .init = scratch_open, .fini = scratch_close);

static const char *const one_tag[] = {"t"};

Test(expect, a_write_is_done_only_if_the_history_is_the_one)
{
    ramet_tags out;
    char old[65];
    make("s");
    say("s", "a b");
    memcpy(old, get("s")->head.hash, sizeof old);
    ramet_call_expect(T.call, "s", old);
    ok(ramet_tags_add(T.call, "s", one_tag, 1, &out));
    say("s", "c");
    ramet_call_expect(T.call, "s", old);
    refused(RAMET_HEAD_MOVED, "expected_head", ramet_member_set(T.call, "s", "bob", RAMET_READER));
    ramet_head h = ramet_call_error(T.call)->head;
    cr_assert_eq(h.length, 3);
    cr_assert_str_eq(h.entry_id, "c");
    cr_assert_str_eq(h.hash, get("s")->head.hash);
}

Test(expect, it_holds_for_one_write)
{
    ramet_tags out;
    make("s");
    say("s", "a");
    ramet_call_expect(T.call, "s", NO_HASH);
    refused(RAMET_HEAD_MOVED, "expected_head", ramet_tags_add(T.call, "s", one_tag, 1, &out));
    ok(ramet_tags_add(T.call, "s", one_tag, 1, &out));
    ramet_call_expect(T.call, "s", NO_HASH);
    ramet_call_expect(T.call, "s", NULL);
    ok(ramet_tags_set(T.call, "s", NULL, 0, &out));
}

Test(expect, a_hash_is_checked_and_a_hidden_session_stays_hidden)
{
    ramet_tags out;
    make("s");
    ramet_call_expect(T.call, "s", "abc");
    refused(RAMET_INVALID, "expected_head", ramet_tags_add(T.call, "s", one_tag, 1, &out));
    ramet_call *stranger = as("eve");
    ramet_call_expect(stranger, "s", NO_HASH);
    refused_for(stranger, RAMET_HIDDEN, "session", ramet_tags_add(stranger, "s", one_tag, 1, &out));
}
