/* SPDX-License-Identifier: Apache-2.0
 *
 * prune.c: taking branches out of a session, bringing them back, and what gc does with them; names
 * of branches and the favourite of a session.
 */
#include "help.h"
#include "ramet/branches.h"

#include <stdio.h>

TestSuite(prune, .init = scratch_open, .fini = scratch_close);

static int64_t head_of(const char *session)
{
    return get(session)->head.branch;
}

static ramet_prune_out prune(const char *session, int64_t branch)
{
    ramet_prune_out out;
    ok(ramet_prune(T.call, session, &(ramet_prune_in){.branch = branch}, &out));
    return out;
}

static ramet_prune_out prune_others(const char *session, bool dry_run)
{
    ramet_prune_out out;
    ok(ramet_prune(T.call, session, &(ramet_prune_in){.others = true, .dry_run = dry_run}, &out));
    return out;
}

static size_t branches(const char *session)
{
    ramet_branch *b;
    size_t n;
    ok(ramet_branches(T.call, session, &b, &n));
    return n;
}

static const char *record(const char *session)
{
    static char text[1024];
    ramet_page page;
    int64_t total;
    ok(ramet_record(T.call, session, RAMET_LOG_MAIN, 0, 0, &page, &total));
    text[0] = 0;
    for (size_t i = 0; i < page.n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "",
                 page.entries[i].id);
    cr_assert_eq(total, (int64_t)page.n);
    return text;
}

static void sound(void)
{
    ramet_fsck_out out;
    ok(ramet_fsck(T.call, NULL, NULL, &out));
    cr_assert_eq(out.n_all, 0, "%s", out.n ? out.faults[0].what : "");
}

static ramet_gc_out gc(void)
{
    ramet_gc_out out;
    ok(ramet_gc(T.call, false, NULL, NULL, &out));
    return out;
}

/* b0: a b c d e f; b1: a b c x; the head: a b y */
static void grow(int64_t *b0, int64_t *b1)
{
    ramet_session *s;
    make("s");
    say("s", "a b c d e f");
    *b0 = head_of("s");
    rewind_to("s", "c");
    say("s", "x");
    *b1 = head_of("s");
    tick(SECOND);
    ok(ramet_rewind(T.call, "s", &(ramet_move_in){.at = {.entry_id = "b"}}, &s, NULL));
    say("s", "y");
}

Test(prune, a_branch_goes_and_comes_back)
{
    int64_t b0, b1;
    ramet_session *s;
    ramet_prune_out out;
    grow(&b0, &b1);
    out = prune("s", b1);
    cr_assert_eq(out.n, 1);
    cr_assert_eq(out.entries, 1);
    cr_assert_eq(branches("s"), 2);
    cr_assert_str_eq(record("s"), "a b c d e f y");
    refused(RAMET_BRANCH_PRUNED, NULL, ramet_undo(T.call, "s", NULL, &s));
    refused(RAMET_BRANCH_PRUNED, "branch_id", ramet_switch(T.call, "s", b1, NULL, &s));
    ramet_page page;
    refused(RAMET_BRANCH_PRUNED, "branch_id",
            ramet_read(T.call, "s", &(ramet_read_in){.branch = b1}, &page));
    refused(RAMET_BRANCH_PRUNED, "branch_id",
            ramet_fork(T.call, "s", &(ramet_fork_in){.branch = b1}, &s, NULL));
    cr_assert_eq(prune("s", b1).n, 0, "again is no error");
    sound();
    ok(ramet_branch_restore(T.call, "s", b1, false, &out));
    cr_assert_eq(out.n, 1);
    cr_assert_eq(out.entries, 1);
    cr_assert_str_eq(record("s"), "a b c d e f x y");
    ok(ramet_undo(T.call, "s", NULL, &s));
    cr_assert_str_eq(ids("s"), "a b c x");
    ok(ramet_branch_restore(T.call, "s", b1, false, &out));
    cr_assert_eq(out.n, 0, "again is no error");
    sound();
}

Test(prune, what_a_path_needs_is_refused)
{
    int64_t b0, b1;
    ramet_prune_out out;
    ramet_session *s;
    grow(&b0, &b1);
    refused(RAMET_BRANCH_NEEDED, "branch_id",
            ramet_prune(T.call, "s", &(ramet_prune_in){.branch = b0}, &out));
    cr_assert(strstr(ramet_call_error(T.call)->message, "needs its entry 3"));
    refused(RAMET_BRANCH_NEEDED, "branch_id",
            ramet_prune(T.call, "s", &(ramet_prune_in){.branch = head_of("s")}, &out));
    refused(RAMET_BRANCH_NOT_FOUND, "branch_id",
            ramet_prune(T.call, "s", &(ramet_prune_in){.branch = 999}, &out));
    refused(RAMET_BRANCH_NOT_FOUND, "branch_id",
            ramet_prune(T.call, "s", &(ramet_prune_in){.branch = -1}, &out));
    ok(ramet_fork(T.call, "s", &(ramet_fork_in){.id = "f", .branch = b0, .at = {.entry_id = "e"}},
                  &s, NULL));
    prune("s", b1);
    refused(RAMET_BRANCH_NEEDED, "branch_id",
            ramet_prune(T.call, "s", &(ramet_prune_in){.branch = b0}, &out));
    cr_assert(strstr(ramet_call_error(T.call)->message, "session f needs its entries 3 to 5"), "%s",
              ramet_call_error(T.call)->message);
    /* A deleted session can come back. */
    ramet_delete_out gone;
    ok(ramet_session_delete(T.call, "f", false, false, &gone));
    refused(RAMET_BRANCH_NEEDED, "branch_id",
            ramet_prune(T.call, "s", &(ramet_prune_in){.branch = b0}, &out));
    tick(8 * DAY);
    gc();
    cr_assert_eq(prune("s", b0).entries, 4);
    sound();
}

Test(prune, all_but_the_path)
{
    int64_t b0, b1;
    ramet_session *s;
    ramet_prune_out out;
    grow(&b0, &b1);
    out = prune_others("s", true);
    cr_assert(out.dry_run);
    cr_assert_eq(out.n, 2);
    cr_assert_eq(out.entries, 5);
    cr_assert_eq(branches("s"), 3, "a dry run does nothing");
    refused(RAMET_BRANCH_NEEDED, "branch_id",
            ramet_prune(T.call, "s", &(ramet_prune_in){.branch = b1, .others = true}, &out));
    ok(ramet_fork(T.call, "s", &(ramet_fork_in){.id = "f", .branch = b1, .at = {.entry_id = "x"}},
                  &s, NULL));
    out = prune_others("s", false);
    cr_assert_eq(out.n, 0);
    cr_assert_eq(out.n_kept, 2, "b0 because b1 stays, b1 because of the fork");
    ramet_delete_out gone;
    ok(ramet_session_delete(T.call, "f", false, false, &gone));
    tick(8 * DAY);
    gc();
    out = prune_others("s", false);
    cr_assert_eq(out.n, 2);
    cr_assert_eq(branches("s"), 1);
    cr_assert_str_eq(record("s"), "a b y");
    ramet_page page;
    ok(ramet_read(T.call, "s", &(ramet_read_in){.versions = true}, &page));
    cr_assert_eq(page.entries[2].versions, 1, "c is a version no more");
    ramet_hits hits;
    ok(ramet_search(T.call, &(ramet_search_in){.query = "e", .session = "s"}, &hits));
    cr_assert_eq(hits.n, 0);
    ok(ramet_search(T.call, &(ramet_search_in){.query = "e"}, &hits));
    cr_assert_eq(hits.n, 0);
    ok(ramet_branch_restore(T.call, "s", b0, true, &out));
    cr_assert_eq(out.n, 2);
    cr_assert_eq(branches("s"), 3);
    cr_assert_str_eq(record("s"), "a b c d e f x y");
    sound();
}

Test(prune, gc_takes_it_and_says_so)
{
    int64_t b0, b1;
    ramet_session *s;
    ramet_prune_out out;
    ramet_branch *b;
    size_t n;
    grow(&b0, &b1);
    prune_others("s", false);
    tick(6 * DAY);
    cr_assert_eq(gc().entries, 0, "within the grace time");
    ok(ramet_branch_restore(T.call, "s", b1, false, &out));
    cr_assert_eq(out.entries, 2, "with it comes c, which it needs");
    cr_assert_eq(branches("s"), 2);
    prune("s", b1);
    tick(2 * DAY);
    cr_assert_eq(gc().entries, 3, "d e f; b1 was pruned later and may still need c");
    sound();
    refused(RAMET_BRANCH_PRUNED, "branch_id", ramet_branch_restore(T.call, "s", b0, false, &out));
    ok(ramet_branch_restore(T.call, "s", b1, false, &out));
    ok(ramet_switch(T.call, "s", b1, NULL, &s));
    cr_assert_str_eq(ids("s"), "a b c x");
    ok(ramet_undo(T.call, "s", NULL, &s));
    prune("s", b1);
    tick(8 * DAY);
    cr_assert_eq(gc().entries, 2);
    sound();
    cr_assert_str_eq(record("s"), "a b y");
    ok(ramet_branches_pruned(T.call, "s", &b, &n));
    cr_assert_eq(n, 2);
    cr_assert(b[0].removed && b[1].removed && b[0].pruned);
    refused(RAMET_BRANCH_PRUNED, NULL, ramet_undo(T.call, "s", NULL, &s));
    say("s", "z");
    cr_assert_str_eq(record("s"), "a b y z");
    cr_assert_str_eq(ids("s"), "a b y z");
    cr_assert_eq(gc().entries, 0);
    sound();
}

Test(prune, usage_counts_until_gc)
{
    ramet_append_out appended;
    ramet_usage_out u;
    ramet_entry_in e = {
        .id = "u", .role = RAMET_USER, .text = "u", .usage = &(ramet_usage){.input = 10}};
    make("s");
    say("s", "a");
    ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = &e, .n = 1}, &appended));
    int64_t b0 = head_of("s");
    rewind_to("s", "a");
    prune("s", b0);
    ok(ramet_usage_get(T.call, "s", &u));
    cr_assert_eq(u.own.input, 10);
    cr_assert_eq(u.tree.input, 10);
    tick(8 * DAY);
    gc();
    ok(ramet_usage_get(T.call, "s", &u));
    cr_assert_eq(u.own.input, 0);
    cr_assert_eq(u.tree.input, 0);
}

Test(prune, the_first_branch_of_a_fork_keeps_its_place)
{
    ramet_session *s;
    ramet_fork_point *points;
    size_t n;
    make("s");
    say("s", "a b c");
    ok(ramet_fork(T.call, "s", &(ramet_fork_in){.id = "f"}, &s, NULL));
    say("f", "d");
    int64_t first = head_of("f");
    rewind_to("f", "a");
    say("f", "e");
    prune("f", first);
    tick(8 * DAY);
    cr_assert_eq(gc().entries, 1);
    sound();
    cr_assert_str_eq(ids("f"), "a e");
    ok(ramet_fork_points(T.call, "s", &points, &n));
    cr_assert_eq(n, 1);
    cr_assert_eq(points[0].position, 3, "f still was forked there");
}

Test(prune, the_adk_log_goes_along)
{
    ramet_session *s;
    ramet_prune_out out;
    ramet_page page;
    int64_t total;
    make("s");
    ramet_append_out appended;
    ramet_entry_in raw = {.id = "r1", .role = RAMET_USER, .text = "raw"};
    say("s", "a b");
    ok(ramet_append(T.call, "s", &(ramet_append_in){.log = RAMET_LOG_ADK, .entries = &raw, .n = 1},
                    &appended));
    int64_t b0 = head_of("s");
    rewind_to("s", "a");
    raw.id = "r2";
    ok(ramet_append(T.call, "s", &(ramet_append_in){.log = RAMET_LOG_ADK, .entries = &raw, .n = 1},
                    &appended));
    out = prune("s", b0);
    cr_assert_eq(out.n, 1);
    cr_assert_eq(out.entries, 2, "b, and r1 beside it");
    ok(ramet_record(T.call, "s", RAMET_LOG_ADK, 0, 0, &page, &total));
    cr_assert_eq(total, 1);
    cr_assert_str_eq(page.entries[0].id, "r2");
    ok(ramet_branch_restore(T.call, "s", b0, false, &out));
    cr_assert_eq(out.entries, 2);
    ok(ramet_switch(T.call, "s", b0, NULL, &s));
    cr_assert_eq(s->adk.length, 1);
    ok(ramet_undo(T.call, "s", NULL, &s));
    prune("s", b0);
    tick(8 * DAY);
    cr_assert_eq(gc().entries, 2);
    ok(ramet_record(T.call, "s", RAMET_LOG_ADK, 0, 0, &page, &total));
    cr_assert_eq(total, 1);
    sound();
}

/* Pruned while it was empty, the branch of adk comes back when ADK has begun to write elsewhere. */
Test(prune, the_adk_log_comes_back_after_the_first_event)
{
    ramet_session *s;
    ramet_prune_out out;
    ramet_append_out appended;
    ramet_page page;
    int64_t total;
    ramet_entry_in raw = {
        .id = "r1", .role = RAMET_USER, .format = "adk", .body = "{}", .turn_id = "i1"};
    const ramet_append_in event = {.log = RAMET_LOG_ADK, .entries = &raw, .n = 1};
    make("o");
    ok(ramet_append(T.call, "o", &event, &appended));
    ok(ramet_fork(T.call, "o", &(ramet_fork_in){.id = "s", .before_turn = "i1"}, &s, NULL));
    say("s", "a");
    int64_t b0 = head_of("s");
    ok(ramet_rewind(T.call, "s", &(ramet_move_in){.at = {"a", RAMET_BEFORE}}, &s, NULL));
    prune("s", b0);
    raw.id = "r2";
    raw.turn_id = "i2";
    ok(ramet_append(T.call, "s", &event, &appended));
    ok(ramet_branch_restore(T.call, "s", b0, false, &out));
    ok(ramet_undo(T.call, "s", NULL, &s));
    raw.id = "r3";
    raw.turn_id = "i3";
    ok(ramet_append(T.call, "s", &event, &appended));
    ok(ramet_record(T.call, "s", RAMET_LOG_ADK, 0, 0, &page, &total));
    cr_assert_str_eq(page.entries[page.n - 1].id, "r3", "%zu events", page.n);
    sound();
}

/* The entry that a fork inherited and replaced twice is a version, when the first of both is gone.
 */
Test(prune, an_inherited_original_stays_a_version)
{
    ramet_session *s;
    ramet_version *v;
    size_t n;
    make("s");
    say("s", "a b");
    ok(ramet_fork(T.call, "s", &(ramet_fork_in){.id = "f"}, &s, NULL));
    int64_t made[2];
    for (int i = 0; i < 2; i++) {
        tick(SECOND);
        rewind_to("f", "a");
        say("f", i ? "d" : "c");
        made[i] = head_of("f");
    }
    ok(ramet_versions(T.call, "f", 0, "d", &v, &n));
    cr_assert_eq(n, 3, "b c d");
    rewind_to("f", "a"); /* empty, over an entry of the same session */
    ok(ramet_switch(T.call, "f", made[1], NULL, &s));
    prune("f", made[0]);
    for (int i = 0; i < 2; i++) {
        ok(ramet_versions(T.call, "f", 0, "d", &v, &n));
        cr_assert_eq(n, 2, "b d");
        cr_assert_str_eq(v[0].entry_id, "b");
        tick(8 * DAY);
        gc();
    }
    sound();
}

Test(prune, a_running_turn_keeps_its_branch)
{
    ramet_session *s;
    ramet_prune_out out;
    ramet_turn *t;
    ramet_append_out appended;
    ramet_entry_in q = {.id = "q", .role = RAMET_USER, .text = "q"};
    make("s");
    say("s", "a");
    int64_t b0 = head_of("s");
    ok(ramet_turn_begin(T.call, "s", &(ramet_turn_in){.id = "t", .entries = &q, .n = 1}, &t,
                        &appended));
    ok(ramet_rewind(T.call, "s", &(ramet_move_in){.at = {.entry_id = "a"}}, &s, NULL));
    refused(RAMET_TURN_RUNNING_ALREADY, "branch_id",
            ramet_prune(T.call, "s", &(ramet_prune_in){.branch = b0}, &out));
    ok(ramet_prune(T.call, "s", &(ramet_prune_in){.others = true}, &out));
    cr_assert_eq(out.n_kept, 1);
    ok(ramet_turn_end(T.call, "t", RAMET_TURN_DONE, NULL, NULL, 0, &appended));
    prune("s", b0);
    sound();
}

Test(prune, needs_the_owner_or_a_manager)
{
    int64_t b0, b1;
    ramet_prune_out out;
    ramet_branch *b;
    grow(&b0, &b1);
    ramet_call *bob = as("bob"), *eve = as("eve");
    ok(ramet_member_set(T.call, "s", "bob", RAMET_WRITER));
    refused_for(bob, RAMET_FORBIDDEN, NULL,
                ramet_prune(bob, "s", &(ramet_prune_in){.branch = b1}, &out));
    ok_for(bob, ramet_branch_update(bob, "s", b1, &(ramet_branch_patch){.name = "n"}, &b));
    refused_for(eve, RAMET_HIDDEN, NULL,
                ramet_prune(eve, "s", &(ramet_prune_in){.branch = b1}, &out));
    refused_for(eve, RAMET_HIDDEN, NULL,
                ramet_branch_update(eve, "s", b1, &(ramet_branch_patch){.name = "n"}, &b));
}

Test(prune, names_and_the_favourite)
{
    static const bool yes = true, no = false;
    int64_t b0, b1;
    ramet_branch *b;
    size_t n;
    char long_name[102];
    grow(&b0, &b1);
    ok(ramet_branch_update(T.call, "s", b0, &(ramet_branch_patch){.name = "long way"}, &b));
    cr_assert_str_eq(b->name, "long way");
    cr_assert_eq(get("s")->favourite, 0);
    ok(ramet_branch_update(T.call, "s", b0, &(ramet_branch_patch){.favourite = &yes}, &b));
    cr_assert_str_eq(b->name, "long way");
    cr_assert_eq(get("s")->favourite, b0);
    ok(ramet_branch_update(T.call, "s", b1, &(ramet_branch_patch){.favourite = &yes}, &b));
    cr_assert_eq(get("s")->favourite, b1, "there is one");
    cr_assert_str_eq(ids("s"), "a b y", "reads are those of the head");
    ok(ramet_branches(T.call, "s", &b, &n));
    cr_assert_str_eq(b[0].name, "long way");
    cr_assert(!b[0].favourite && b[1].favourite);
    prune("s", b1);
    cr_assert_eq(get("s")->favourite, 0, "a pruned branch is not opened");
    refused(RAMET_BRANCH_PRUNED, "branch_id",
            ramet_branch_update(T.call, "s", b1, &(ramet_branch_patch){.name = "x"}, &b));
    ramet_prune_out out;
    ok(ramet_branch_restore(T.call, "s", b1, false, &out));
    cr_assert_eq(get("s")->favourite, b1);
    ok(ramet_branch_update(T.call, "s", b1, &(ramet_branch_patch){.favourite = &no}, &b));
    cr_assert_eq(get("s")->favourite, 0);
    ok(ramet_branch_update(T.call, "s", b0, &(ramet_branch_patch){.name = ""}, &b));
    cr_assert_str_eq(b->name, "");
    memset(long_name, 'n', 101);
    long_name[101] = 0;
    refused(RAMET_TOO_LARGE, "name",
            ramet_branch_update(T.call, "s", b0, &(ramet_branch_patch){.name = long_name}, &b));
    refused(RAMET_INVALID, "name",
            ramet_branch_update(T.call, "s", b0, &(ramet_branch_patch){.name = "a\nb"}, &b));
    refused(RAMET_BRANCH_NOT_FOUND, "branch_id",
            ramet_branch_update(T.call, "s", 999, &(ramet_branch_patch){.name = "x"}, &b));
    sound();
}
