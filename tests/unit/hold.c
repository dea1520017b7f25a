/* SPDX-License-Identifier: Apache-2.0
 *
 * hold.c: what is on hold does not go, and who may set and release a hold.
 */
#include "help.h"
#include "ramet/branches.h"
#include "ramet/retention.h"

#include "core/access/hold.h"
#include "core/txn.h"

#include <stdio.h>

TestSuite(hold, .init = scratch_open, .fini = scratch_close);

static void set(ramet_call *c, const char *session, bool tree)
{
    ok_for(c, ramet_hold_set(c, session, &(ramet_hold_in){.tree = tree, .reason = "case 7"}, NULL));
}

static ramet_status delete (const char *session, bool tree)
{
    ramet_delete_out out;
    return ramet_session_delete(T.call, session, tree, false, &out);
}

static int64_t collect(bool dry)
{
    ramet_gc_out out;
    ok(ramet_gc(T.call, dry, NULL, NULL, &out));
    return out.sessions;
}

Test(hold, a_session_on_hold_is_not_deleted)
{
    ramet_delete_out out;
    make("s");
    say("s", "a b");
    fork_at("s", "a", "f");
    set(T.call, "f", false);
    refused(RAMET_HELD, "session", delete ("f", false));
    refused(RAMET_HELD, "session", ramet_session_delete(T.call, "f", false, true, &out));
    cr_assert(strstr(ramet_call_error(T.call)->message, "session f is on hold"));
    refused(RAMET_HELD, "session", delete ("s", true));
    cr_assert_str_eq(ids("s"), "a b", "a delete that is refused takes nothing");
    ok(delete ("s", false));
    ok(ramet_hold_release(T.call, "f", &(ramet_hold_in){0}));
    ok(delete ("f", false));
}

Test(hold, a_tree_on_hold_keeps_every_session)
{
    make("s");
    say("s", "a b");
    set(T.call, "s", true);
    const char *tree = get("s")->tree_id;
    ramet_call *eve = as("eve");
    fork_at("s", "a", "f");
    refused(RAMET_HELD, "tree", delete ("f", false));
    refused(RAMET_HELD, "tree", delete ("s", true));
    refused(RAMET_HOLD_NOT_FOUND, "session", ramet_hold_release(T.call, "s", &(ramet_hold_in){0}));
    refused_for(eve, RAMET_SESSION_NOT_FOUND, "session",
                ramet_hold_release(eve, tree, &(ramet_hold_in){.tree = true}));
    ok(ramet_hold_release(T.call, tree, &(ramet_hold_in){.tree = true}));
    ok(ramet_hold_set(T.call, tree, &(ramet_hold_in){.tree = true}, NULL));
    ok(ramet_hold_release(T.call, "f", &(ramet_hold_in){.tree = true}));
    ok(delete ("s", true));
}

Test(hold, gc_leaves_what_is_on_hold)
{
    ramet_session *s;
    ramet_session_in brief = {.id = "e", .owner = "ann", .ephemeral_us = 60 * SECOND};
    make("s");
    say("s", "a b");
    fork_at("s", "a", "f");
    ok(ramet_session_create(T.call, &brief, &s));
    say("e", "x");
    set(T.call, "e", false);
    ok(delete ("s", true));
    /* A deleted session can be put on hold until gc has come. */
    set(T.call, "s", false);
    tick(30 * DAY);
    cr_assert_eq(collect(true), 1, "f alone");
    cr_assert_eq(collect(false), 1);
    refused(RAMET_SESSION_NOT_FOUND, "session",
            ramet_hold_set(T.call, "f", &(ramet_hold_in){0}, NULL));
    ok(ramet_session_restore(T.call, "s", false, &s));
    cr_assert_str_eq(ids("s"), "a b");
    ok(ramet_session_restore(T.call, "e", false, &s));
    cr_assert_str_eq(ids("e"), "x");
    ok(ramet_hold_release(T.call, "s", &(ramet_hold_in){0}));
    ok(delete ("s", false));
    tick(30 * DAY);
    cr_assert_eq(collect(false), 1);
}

Test(hold, only_the_owner_of_the_tree_and_administrators)
{
    ramet_hold *h, *made;
    size_t n;
    ramet_call *ann = as("ann"), *bob = as("bob"), *eve = as("eve");
    make("s");
    say("s", "a b");
    join("s", "bob", RAMET_MANAGER);
    refused_for(bob, RAMET_FORBIDDEN, "session",
                ramet_hold_set(bob, "s", &(ramet_hold_in){0}, NULL));
    refused_for(eve, RAMET_HIDDEN, "session", ramet_hold_set(eve, "s", &(ramet_hold_in){0}, NULL));
    set(ann, "s", false);
    ok(ramet_hold_set(T.call, "s", &(ramet_hold_in){.reason = "court", .by = "root"}, &made));
    cr_assert(made->administrator);
    cr_assert_str_eq(made->who, "root");
    cr_assert_str_eq(made->session, "s");
    ok_for(ann, ramet_holds(ann, "s", &h, &n));
    cr_assert_eq(n, 2);
    cr_assert_str_eq(h[0].reason, "case 7");
    cr_assert_str_eq(h[0].who, "ann");
    cr_assert_not(h[0].administrator);
    cr_assert_str_eq(h[1].reason, "court");
    ok_for(bob, ramet_holds(bob, "s", &h, &n));
    cr_assert_eq(n, 2);
    cr_assert_str_eq(h[1].reason, "", "the reason is for the owner");
    cr_assert_null(h[1].who);
    refused_for(eve, RAMET_HIDDEN, "session", ramet_holds(eve, "s", &h, &n));
    refused_for(ann, RAMET_FORBIDDEN, "administrator",
                ramet_hold_set(ann, "s", &(ramet_hold_in){.administrator = true}, NULL));
    /* Hers goes, the administrator's stays. */
    ok_for(ann, ramet_hold_release(ann, "s", &(ramet_hold_in){0}));
    refused_for(ann, RAMET_FORBIDDEN, "session", ramet_hold_release(ann, "s", &(ramet_hold_in){0}));
    refused(RAMET_HELD, "session", delete ("s", false));
    ok(ramet_hold_release(T.call, "s", &(ramet_hold_in){0}));
    refused(RAMET_HOLD_NOT_FOUND, "session", ramet_hold_release(T.call, "s", &(ramet_hold_in){0}));
}

Test(hold, the_reason_is_bounded)
{
    char text[2100];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    make("s");
    refused(RAMET_REASON_TOO_LONG, "reason",
            ramet_hold_set(T.call, "s", &(ramet_hold_in){.reason = text}, NULL));
    refused(RAMET_BAD_ID, "session", ramet_hold_set(T.call, "", &(ramet_hold_in){0}, NULL));
    refused(RAMET_SESSION_NOT_FOUND, "session",
            ramet_hold_set(T.call, "none", &(ramet_hold_in){0}, NULL));
}

/* hold_check_entry() for an entry, by its session and id. */
static ramet_status entry_held(const char *entry)
{
    txn tx;
    char sql[128];
    snprintf(sql, sizeof sql, "SELECT k FROM entry WHERE id='%s'", entry);
    int64_t k = sql_number(sql), tree = sql_number("SELECT min(tree) FROM tree");
    cr_assert(txn_read(&tx, T.call));
    return txn_done(&tx, hold_check_entry(&tx, tree, k));
}

Test(hold, an_entry_is_held_by_every_session_that_reaches_it)
{
    make("s");
    say("s", "a b c");
    fork_at("s", "b", "f");
    say("f", "x");
    fork_at("f", "x", "g");
    ok(entry_held("a"));
    set(T.call, "g", false);
    refused(RAMET_HELD, "session", entry_held("a"));
    refused(RAMET_HELD, "session", entry_held("b"));
    refused(RAMET_HELD, "session", entry_held("x"));
    ok(entry_held("c"));
    set(T.call, "s", false);
    refused(RAMET_HELD, "session", entry_held("c"));
    ok(ramet_hold_release(T.call, "s", &(ramet_hold_in){0}));
    ok(ramet_hold_release(T.call, "g", &(ramet_hold_in){0}));
    set(T.call, "s", true);
    refused(RAMET_HELD, "tree", entry_held("c"));
}

Test(hold, a_branch_on_hold_is_not_pruned)
{
    ramet_prune_out out;
    ramet_gc_out gone;
    make("s");
    say("s", "a b c");
    int64_t left = get("s")->head.branch;
    rewind_to("s", "a");
    say("s", "d");
    set(T.call, "s", false);
    refused(RAMET_HELD, "session",
            ramet_prune(T.call, "s", &(ramet_prune_in){.branch = left}, &out));
    ok(ramet_hold_release(T.call, "s", &(ramet_hold_in){0}));
    ok(ramet_prune(T.call, "s", &(ramet_prune_in){.branch = left}, &out));
    /* What was pruned before the hold stays until the hold ends. */
    set(T.call, "s", true);
    tick(30 * DAY);
    ok(ramet_gc(T.call, true, NULL, NULL, &gone));
    cr_assert_eq(gone.entries, 0);
    ok(ramet_gc(T.call, false, NULL, NULL, &gone));
    cr_assert_eq(gone.entries, 0);
    cr_assert_eq(sql_number("SELECT count(*) FROM entry"), 4);
    ok(ramet_hold_release(T.call, "s", &(ramet_hold_in){.tree = true}));
    ok(ramet_gc(T.call, false, NULL, NULL, &gone));
    cr_assert_eq(gone.entries, 2);
}
