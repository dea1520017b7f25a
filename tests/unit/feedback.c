/* SPDX-License-Identifier: Apache-2.0
 *
 * feedback.c: what users say about entries, kept beside them (I2).
 */
#include "help.h"

#include <stdio.h>

TestSuite(feedback, .init = scratch_open, .fini = scratch_close);

/* "ann+good bob-" */
static const char *all(ramet_call *c, const char *session, const char *entry)
{
    static char text[512];
    ramet_feedback *list;
    size_t n;
    ok_for(c, ramet_feedback_get(c, session, entry, &list, &n));
    text[0] = 0;
    for (size_t i = 0; i < n; i++) {
        size_t have = strlen(text);
        snprintf(text + have, sizeof text - have, "%s%s%c%s", have ? " " : "",
                 list[i].user ? list[i].user : "(program)", list[i].value > 0 ? '+' : '-',
                 list[i].comment);
        cr_assert(list[i].value == 1 || list[i].value == -1);
        cr_assert_leq(list[i].at, T.now);
    }
    return text;
}

static void give(const char *user, const char *session, const char *entry, int value,
                 const char *comment)
{
    ramet_call *c = as(user);
    tick(SECOND);
    ok_for(c, ramet_feedback_set(c, session, entry, value, comment));
}

Test(feedback, one_a_user_and_entry)
{
    make("s");
    say("s", "a b");
    join("s", "bob", RAMET_READER);
    const char *before = dump("s", 0);
    give("bob", "s", "a", -1, NULL);
    give("ann", "s", "a", 1, "good");
    give(NULL, "s", "a", 1, NULL);
    cr_assert_str_eq(all(T.call, "s", "a"), "bob- ann+good (program)+");
    give("bob", "s", "a", 1, "I was wrong");
    cr_assert_str_eq(all(as("bob"), "s", "a"), "ann+good (program)+ bob+I was wrong");
    give("ann", "s", "a", 0, NULL);
    give("ann", "s", "a", 0, NULL);
    cr_assert_str_eq(all(T.call, "s", "a"), "(program)+ bob+I was wrong");
    cr_assert_str_eq(all(T.call, "s", "b"), "");
    cr_assert_str_eq(dump("s", 0), before, "the entries did not change");
}

Test(feedback, every_session_that_shares_the_entry_shows_it)
{
    make("s");
    say("s", "a b");
    fork_at("s", "a", "f");
    say("f", "c");
    give("ann", "f", "a", 1, NULL);
    give("ann", "f", "c", -1, NULL);
    cr_assert_str_eq(all(T.call, "s", "a"), "ann+");
    ramet_feedback *list;
    size_t n;
    refused(RAMET_ENTRY_NOT_FOUND, "entry_id", ramet_feedback_get(T.call, "s", "c", &list, &n));
    rewind_to("s", "a");
    refused(RAMET_ENTRY_NOT_FOUND, "entry_id", ramet_feedback_set(T.call, "s", "b", 1, NULL));
}

Test(feedback, a_page_tells_the_callers_own)
{
    make("s");
    say("s", "a b");
    fork_at("s", "a", "f");
    say("f", "c d");
    join("s", "bob", RAMET_READER);
    give("bob", "f", "a", 1, NULL);
    give("bob", "f", "d", -1, NULL);
    give("ann", "f", "c", 1, NULL);
    ramet_page page;
    ramet_call *bob = as("bob");
    ok_for(bob, ramet_read(bob, "f", &(ramet_read_in){.feedback = true}, &page));
    cr_assert_eq(page.n, 3);
    cr_assert_eq(page.entries[0].feedback, 1, "what the fork inherited, too");
    cr_assert_eq(page.entries[1].feedback, 0, "ann's is hers");
    cr_assert_eq(page.entries[2].feedback, -1);
    ok_for(bob, ramet_read(bob, "f", &(ramet_read_in){0}, &page));
    cr_assert_eq(page.entries[2].feedback, 0, "only when it is asked for");
}

Test(feedback, bad_ones_are_refused)
{
    make("s");
    say("s", "a");
    static char text[2002];
    memset(text, 0x63, 2001);
    refused(RAMET_INVALID, "value", ramet_feedback_set(T.call, "s", "a", 2, NULL));
    refused(RAMET_TOO_LARGE, "comment", ramet_feedback_set(T.call, "s", "a", 1, text));
    refused(RAMET_INVALID, "comment", ramet_feedback_set(T.call, "s", "a", 1, "\xff"));
    refused(RAMET_BAD_ID, "entry_id", ramet_feedback_set(T.call, "s", "", 1, NULL));
    refused(RAMET_ENTRY_NOT_FOUND, "entry_id", ramet_feedback_set(T.call, "s", "zz", 1, NULL));
    refused(RAMET_SESSION_NOT_FOUND, "session", ramet_feedback_set(T.call, "none", "a", 1, NULL));
    ramet_call *bob = as("bob");
    ramet_feedback *list;
    size_t n;
    refused_for(bob, RAMET_HIDDEN, "session", ramet_feedback_set(bob, "s", "a", 1, NULL));
    refused_for(bob, RAMET_HIDDEN, "session", ramet_feedback_get(bob, "s", "a", &list, &n));
    text[2000] = 0;
    ok(ramet_feedback_set(T.call, "s", "a", 1, text));
    cr_assert_eq(sql_number("SELECT count(*) FROM feedback"), 1);
}

Test(feedback, goes_with_the_entry)
{
    make("s");
    say("s", "a b");
    fork_at("s", "a", "f");
    give("ann", "s", "a", 1, NULL);
    give("ann", "s", "b", 1, NULL);
    drop("s");
    tick(8 * DAY);
    ramet_gc_out out;
    ok(ramet_gc(T.call, false, NULL, NULL, &out));
    cr_assert_eq(sql_number("SELECT count(*) FROM feedback"), 1);
    cr_assert_str_eq(all(T.call, "f", "a"), "ann+");
    ramet_fsck_out sane;
    ok(ramet_fsck(T.call, NULL, NULL, &sane));
    cr_assert_eq(sane.n_all, 0);
    sql_run(T.path, "UPDATE feedback SET k=k+7");
    ok(ramet_fsck(T.call, NULL, NULL, &sane));
    cr_assert_eq(sane.n_all, 1);
    cr_assert_not_null(strstr(sane.faults[0].what, "feedback belongs to no entry"));
}
