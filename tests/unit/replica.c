/* SPDX-License-Identifier: Apache-2.0
 *
 * replica.c: reads from a replica through the library; the replica is the database itself here.
 * tests/server/replica.mjs has a real one, which is behind and goes away.
 */
#include "help.h"

#include <stdio.h>
#include <unistd.h>

TestSuite(replica, .init = scratch_open, .fini = scratch_close);

static const char *urls[2];

static void with_replicas(size_t n)
{
    ramet_options opt = scratch_options();
    opt.reads = urls;
    opt.n_reads = n;
    scratch_reopen(&opt);
}

/* It takes a moment until a replica is known to be there. */
static bool replicated(ramet_call *c, int64_t since)
{
    ramet_session *s;
    for (int i = 0; i < 200; i++) {
        ramet_call_reset(c);
        ramet_call_replica(c, since);
        ok_for(c, ramet_session_get(c, "s", &s));
        if (ramet_call_replicated(c))
            return true;
        usleep(20000);
    }
    return false;
}

Test(replica, positions_are_written_and_read)
{
    static const char *const wrong[] = {"",     "/",     "1",         "1/",          "/1",
                                        "1/x",  " 1/1",  "1/1 ",      "123456789/0", "0/123456789",
                                        "-1/1", "0x1/1", "80000000/0"};
    char text[24];
    cr_assert_str_eq(ramet_position_text(0, text), "0/0");
    cr_assert_str_eq(ramet_position_text(INT64_C(0x16B374D848), text), "16/B374D848");
    cr_assert_str_eq(ramet_position_text(INT64_MAX, text), "7FFFFFFF/FFFFFFFF");
    cr_assert_eq(ramet_position_parse("16/B374D848"), INT64_C(0x16B374D848));
    cr_assert_eq(ramet_position_parse("16/b374d848"), INT64_C(0x16B374D848));
    cr_assert_eq(ramet_position_parse("7FFFFFFF/FFFFFFFF"), INT64_MAX);
    cr_assert_eq(ramet_position_parse(NULL), -1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        cr_assert_eq(ramet_position_parse(wrong[i]), -1, "'%s'", wrong[i]);
}

Test(replica, without_one_there_is_no_position)
{
    ramet_call *c = as("ann");
    ramet_session *s;
    ok_for(c, ramet_session_create(c, &(ramet_session_in){.id = "s"}, &s));
    cr_assert_eq(ramet_call_position(c), 0);
    cr_assert_eq(ramet_position(T.store), 0);
    ramet_call_replica(c, INT64_MAX);
    ok_for(c, ramet_session_get(c, "s", &s));
    cr_assert_not(ramet_call_replicated(c));
}

Test(replica, only_a_database_has_some)
{
    ramet_error err = {0};
    ramet *r;
    char path[200];
    const char *file = "other.db";
    ramet_options opt = {.reads = &file, .n_reads = 1};
    snprintf(path, sizeof path, "%s/plain.db", T.dir);
    cr_assert_eq(ramet_open(path, &opt, &r, &err), RAMET_INVALID);
    cr_assert_null(r);
    if (!T.database)
        return;
    cr_assert_eq(ramet_open(T.path, &opt, &r, &err), RAMET_INVALID);
    cr_assert_not_null(strstr(err.message, "other.db"), "%s", err.message);
}

Test(replica, a_call_asks_for_it)
{
    if (!T.database)
        cr_skip_test("only of a database");
    urls[0] = T.path;
    with_replicas(1);
    make("s");
    ramet_call *c = as("ann");
    ramet_session *s;
    ok_for(c, ramet_session_get(c, "s", &s));
    cr_assert_not(ramet_call_replicated(c), "the primary unless it says so");
    cr_assert(replicated(c, 0));
    ramet_call_reset(c);
    ok_for(c, ramet_session_get(c, "s", &s));
    cr_assert_not(ramet_call_replicated(c), "a reset takes it back");
    ramet_call_replica(c, -1);
    ok_for(c, ramet_session_get(c, "s", &s));
    cr_assert_not(ramet_call_replicated(c));
}

Test(replica, a_write_has_a_position_that_rises)
{
    if (!T.database)
        cr_skip_test("only of a database");
    urls[0] = T.path;
    with_replicas(1);
    make("s");
    int64_t last = ramet_call_position(T.call);
    cr_assert_gt(last, 0);
    for (int i = 0; i < 5; i++) {
        char id[8];
        snprintf(id, sizeof id, "e%d", i);
        say("s", id);
        cr_assert_gt(ramet_call_position(T.call), last, "%s", id);
        last = ramet_call_position(T.call);
        cr_assert_geq(ramet_position(T.store), last);
    }
    cr_assert(replicated(as("ann"), last));
    ramet_session *s;
    ramet_call *c = as("ann");
    ramet_call_replica(c, INT64_MAX);
    ok_for(c, ramet_session_get(c, "s", &s));
    cr_assert_not(ramet_call_replicated(c), "none has come so far");
}

Test(replica, one_that_cannot_be_reached_is_left_out)
{
    if (!T.database)
        cr_skip_test("only of a database");
    urls[0] = "postgres://nobody@127.0.0.1:1/none";
    with_replicas(1);
    make("s");
    ramet_call *c = as("ann");
    ramet_session *s;
    ramet_call_replica(c, 0);
    ok_for(c, ramet_session_get(c, "s", &s));
    cr_assert_not(ramet_call_replicated(c));
    urls[1] = T.path;
    with_replicas(2);
    cr_assert(replicated(as("ann"), 0));
}

Test(replica, what_a_link_shows_comes_from_the_primary)
{
    if (!T.database)
        cr_skip_test("only of a database");
    urls[0] = T.path;
    with_replicas(1);
    make("s");
    cr_assert(replicated(as("ann"), 0));
    ramet_share *link;
    ramet_session *s;
    ok(ramet_share_add(T.call, "s", false, 0, &link));
    ramet_call *eve = as("eve");
    ok_for(eve, ramet_call_share(eve, link->token, NULL));
    ramet_call_replica(eve, 0);
    ok_for(eve, ramet_session_get(eve, "s", &s));
    cr_assert_not(ramet_call_replicated(eve));
}
