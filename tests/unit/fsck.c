/* SPDX-License-Identifier: Apache-2.0
 *
 * fsck.c: a sound store has no fault; every kind of damage is found and named.
 */
#include "help.h"

#include <stdio.h>

TestSuite(fsck, .init = scratch_open, .fini = scratch_close);

static ramet_fsck_out check(void)
{
    ramet_fsck_out out;
    ok(ramet_fsck(T.call, NULL, NULL, &out));
    return out;
}

static void busy_store(void)
{
    make("s");
    say("s", "a b c");
    ramet_usage u = {.input = 1, .cost = 5, .currency = "EUR"};
    put("s", &(ramet_entry_in){.id = "d",
                               .role = RAMET_ASSISTANT,
                               .text = "d",
                               .usage = &u,
                               .state_delta = "{\"k\":1}"});
    fork_at("s", "b", "f");
    say("f", "x y");
    rewind_to("s", "a");
    say("s", "z");
    ramet_append_out out;
    ramet_entry_in raw = {.id = "k", .role = RAMET_ASSISTANT, .format = "adk", .body = "{}"};
    ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = &raw, .n = 1, .log = RAMET_LOG_ADK},
                    &out));
    make("t");
    say("t", "a");
    ramet_tags tags;
    ok(ramet_tags_set(T.call, "t", (const char *[]){"x"}, 1, &tags));
}

/* Damages the file and gives the first fault that names the entry (or any, when NULL). */
static ramet_fault damaged(const char *sql, const char *entry)
{
    busy_store();
    cr_assert_eq(check().n_all, 0);
    scratch_shut();
    sql_run(T.path, sql);
    scratch_reopen(NULL);
    ramet_fsck_out out = check();
    cr_assert_gt(out.n_all, 0, "nothing found after: %s", sql);
    cr_assert_gt(out.n, 0);
    for (size_t i = 0; i < out.n; i++) {
        cr_assert(out.faults[i].what && out.faults[i].what[0]);
        if (!entry || (out.faults[i].entry_id && strcmp(out.faults[i].entry_id, entry) == 0))
            return out.faults[i];
    }
    cr_assert_fail("no fault names %s; the first is: %s", entry, out.faults[0].what);
    return out.faults[0];
}

Test(fsck, a_sound_store_has_no_fault)
{
    ramet_fsck_out out = check();
    cr_assert_eq(out.n_all, 0);
    cr_assert_eq(out.entries, 0);
    busy_store();
    out = check();
    cr_assert_eq(out.n_all, 0);
    cr_assert_eq(out.n, 0);
    cr_assert_eq(out.trees, 2);
    cr_assert_eq(out.sessions, 3);
    cr_assert_eq(out.entries, 9);
    cr_assert_eq(out.branches, 5);
    drop("f");
    cr_assert_eq(check().n_all, 0);
    tick(8 * DAY);
    ramet_gc_out gc;
    ok(ramet_gc(T.call, false, NULL, NULL, &gc));
    cr_assert_eq(check().n_all, 0, "also after gc");
}

Test(fsck, a_changed_text)
{
    ramet_fault f = damaged("UPDATE entry SET text = 'forged' WHERE id = 'b'", "b");
    cr_assert_eq(f.position, 1);
    cr_assert_gt(f.branch, 0);
    ramet_page page;
    refused(RAMET_DAMAGED, NULL, ramet_read(T.call, "f", &(ramet_read_in){0}, &page));
    cr_assert(strstr(ramet_call_error(T.call)->message, "b"), "%s",
              ramet_call_error(T.call)->message);
    ramet_entry *e;
    refused(RAMET_DAMAGED, NULL, ramet_entry_get(T.call, "f", 0, "b", &e));
    ok(ramet_entry_get(T.call, "f", 0, "a", &e));
}

Test(fsck, a_changed_role)
{
    damaged("UPDATE entry SET role = 3 WHERE id = 'c'", "c");
}

Test(fsck, a_changed_time)
{
    damaged("UPDATE entry SET created = created + 1 WHERE id = 'c'", "c");
}

Test(fsck, a_changed_hash)
{
    damaged("UPDATE entry SET hash = zeroblob(32) WHERE id = 'x'", "x");
}

Test(fsck, a_changed_id)
{
    damaged("UPDATE entry SET id = 'forged' WHERE id = 'y'", "forged");
}

Test(fsck, changed_usage)
{
    damaged("UPDATE usage SET input = 1000", "d");
}

Test(fsck, a_changed_delta)
{
    damaged("UPDATE delta SET json = '{\"k\":2}'", "d");
}

Test(fsck, a_body_of_the_adk_log)
{
    damaged("UPDATE entry SET body = '{\"a\":1}' WHERE id = 'k'", "k");
}

Test(fsck, a_missing_entry)
{
    ramet_fault f = damaged("DELETE FROM entry WHERE id = 'c'", NULL);
    cr_assert_gt(f.branch, 0);
    ramet_page page;
    refused(RAMET_DAMAGED, NULL,
            ramet_read(T.call, "s", &(ramet_read_in){.branch = f.branch}, &page));
}

Test(fsck, a_shorter_branch)
{
    damaged("UPDATE branch SET len = len - 1 WHERE id = (SELECT head FROM session WHERE id = 'f')",
            NULL);
}

Test(fsck, a_wrong_tip)
{
    damaged(
        "UPDATE branch SET tip = zeroblob(32) WHERE id = (SELECT head FROM session WHERE id = 'f')",
        NULL);
}

Test(fsck, a_head_that_is_nowhere)
{
    damaged("UPDATE session SET head = 4711 WHERE id = 'f'", NULL);
    ramet_page page;
    cr_assert_eq(ramet_read(T.call, "f", &(ramet_read_in){0}, &page), RAMET_DAMAGED);
}

Test(fsck, a_head_of_another_session)
{
    ramet_fault f = damaged("UPDATE session SET head = (SELECT head FROM session WHERE id = 't')"
                            " WHERE id = 'f'",
                            NULL);
    cr_assert(!f.session || strcmp(f.session, "f") == 0 || strcmp(f.session, "t") == 0);
}

/* What tells which branches a session has, and in which order. */
Test(fsck, a_branch_that_no_move_names)
{
    damaged("UPDATE session SET adk = 0, first_adk = 0 WHERE id = 's'", NULL);
}

Test(fsck, a_first_move_from_elsewhere)
{
    damaged("UPDATE move SET f = t", NULL);
}

Test(fsck, a_branch_older_than_the_one_before_it)
{
    damaged("UPDATE branch SET created = 1 WHERE id = (SELECT head FROM session WHERE id = 's')",
            NULL);
}

Test(fsck, a_branch_of_another_type)
{
    damaged("UPDATE branch SET type = 1 WHERE id = (SELECT head FROM session WHERE id = 's')",
            NULL);
}

Test(fsck, a_first_branch_of_another_type)
{
    damaged("UPDATE branch SET type = 2 WHERE id = (SELECT first FROM session WHERE id = 's')",
            NULL);
}

Test(fsck, a_first_branch_of_another_time)
{
    damaged("UPDATE branch SET created = created + 1 WHERE id = (SELECT first FROM session "
            "WHERE id = 'f')",
            NULL);
}

Test(fsck, a_missing_branch)
{
    damaged("DELETE FROM branch WHERE parent = 0 AND log = 0 AND session ="
            " (SELECT no FROM session WHERE id = 's')",
            NULL);
}

Test(fsck, a_missing_tree)
{
    damaged("DELETE FROM tree WHERE tree = (SELECT tree FROM session WHERE id = 't')", NULL);
}

Test(fsck, a_tag_of_nobody)
{
    damaged("UPDATE tag SET session = 4711", NULL);
}

static int told;

static bool stop_at_once(void *arg, const char *what, int64_t done, int64_t total)
{
    cr_assert_eq(arg, &told);
    cr_assert(what && what[0]);
    cr_assert_leq(done, total);
    told++;
    return false;
}

static bool go_on(void *arg, const char *what, int64_t done, int64_t total)
{
    (void)what;
    (void)done;
    (void)total;
    ++*(int *)arg;
    return true;
}

Test(fsck, tells_its_progress_and_can_be_stopped)
{
    busy_store();
    ramet_fsck_out out;
    ok(ramet_fsck(T.call, go_on, &told, &out));
    cr_assert_gt(told, 0);
    told = 0;
    refused(RAMET_STOP, NULL, ramet_fsck(T.call, stop_at_once, &told, &out));
    cr_assert_eq(told, 1);
}

Test(fsck, the_first_thousand_faults_are_listed_and_all_are_counted)
{
    make("s");
    ramet_entry_in in[600];
    ramet_append_out out;
    for (int i = 0; i < 600; i++)
        in[i] = (ramet_entry_in){.role = RAMET_USER, .text = "x"};
    for (int i = 0; i < 2; i++)
        ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = in, .n = 600}, &out));
    scratch_shut();
    sql_run(T.path, "UPDATE entry SET text = 'forged'");
    scratch_reopen(NULL);
    ramet_fsck_out found = check();
    cr_assert_eq(found.n, 1000);
    cr_assert_geq(found.n_all, 1200);
    cr_assert_eq(found.entries, 1200);
}
