/* SPDX-License-Identifier: Apache-2.0
 *
 * gc.c: deletion is scoped and can be undone; gc takes only what nothing reaches.
 */
#include "help.h"

#include <stdio.h>

TestSuite(gc, .init = scratch_open, .fini = scratch_close);

static const char *gone(const ramet_delete_out *out)
{
    static char text[512];
    text[0] = 0;
    for (size_t i = 0; i < out->n; i++) {
        size_t have = strlen(text);
        snprintf(text + have, sizeof text - have, "%s%s", have ? " " : "", out->ids[i]);
    }
    return text;
}

static ramet_gc_out collect(bool dry)
{
    ramet_gc_out out;
    ok(ramet_gc(T.call, dry, NULL, NULL, &out));
    cr_assert_eq(out.dry_run, dry);
    return out;
}

static bool there(const char *session)
{
    ramet_session *s;
    ramet_status st = ramet_session_get(T.call, session, &s);
    cr_assert(st == RAMET_OK || st == RAMET_SESSION_NOT_FOUND, "%s", ramet_status_code(st));
    return st == RAMET_OK;
}

static int64_t entries(void)
{
    return sql_number("SELECT count(*) FROM entry");
}

/* s: a b c d; f forks after b and adds x y; g forks f after x and adds z. */
static void family(void)
{
    make("s");
    say("s", "a b c d");
    fork_at("s", "b", "f");
    say("f", "x y");
    fork_at("f", "x", "g");
    say("g", "z");
}

Test(gc, delete_takes_the_named_session_alone)
{
    family();
    ramet_delete_out out;
    tick(SECOND);
    ok(ramet_session_delete(T.call, "f", false, true, &out));
    cr_assert(out.dry_run);
    cr_assert_str_eq(gone(&out), "f");
    cr_assert_eq(out.entries, 1, "y: g still reaches x");
    cr_assert(there("f"), "a dry run takes nothing");
    ok(ramet_session_delete(T.call, "f", false, false, &out));
    cr_assert_not(out.dry_run);
    cr_assert_str_eq(gone(&out), "f");
    cr_assert_eq(out.entries, 1);
    cr_assert_not(there("f"));
    cr_assert_str_eq(ids("s"), "a b c d");
    cr_assert_str_eq(ids("g"), "a b x z");
    cr_assert_eq(get("g")->depth, 2);
    ramet_delete_out again;
    refused(RAMET_SESSION_NOT_FOUND, NULL, ramet_session_delete(T.call, "f", false, false, &again));
}

Test(gc, delete_of_the_root_leaves_its_forks)
{
    family();
    ramet_delete_out out;
    ok(ramet_session_delete(T.call, "s", false, false, &out));
    cr_assert_eq(out.entries, 2, "c and d");
    cr_assert_str_eq(ids("f"), "a b x y");
    tick(8 * DAY);
    collect(false);
    cr_assert_str_eq(ids("f"), "a b x y");
    cr_assert_str_eq(ids("g"), "a b x z");
    cr_assert_eq(entries(), 5);
    say("f", "more");
    fork_at("f", "b", "h");
    cr_assert_str_eq(ids("h"), "a b");
}

Test(gc, delete_of_a_tree_takes_all_that_descends)
{
    family();
    fork_at("s", "a", "e");
    ramet_delete_out out;
    tick(SECOND);
    ok(ramet_session_delete(T.call, "f", true, true, &out));
    cr_assert_eq(out.n, 2);
    cr_assert_eq(out.entries, 3);
    ok(ramet_session_delete(T.call, "f", true, false, &out));
    cr_assert_eq(out.n, 2);
    cr_assert(strcmp(gone(&out), "f g") == 0 || strcmp(gone(&out), "g f") == 0, "%s", gone(&out));
    cr_assert_not(there("f"));
    cr_assert_not(there("g"));
    cr_assert(there("s"));
    cr_assert(there("e"));
    ramet_session *s;
    ok(ramet_session_restore(T.call, "f", true, &s));
    cr_assert_str_eq(s->id, "f");
    cr_assert(there("g"));
}

Test(gc, restore_brings_back_one_or_all_of_a_delete)
{
    family();
    drop("g");
    ramet_delete_out out;
    tick(SECOND);
    ok(ramet_session_delete(T.call, "s", true, false, &out));
    cr_assert_eq(out.n, 2, "g was gone before");
    ramet_session *s = NULL;
    ok(ramet_session_restore(T.call, "f", false, &s));
    cr_assert(there("f"));
    cr_assert_not(there("s"));
    cr_assert_str_eq(ids("f"), "a b x y");
    ok(ramet_session_restore(T.call, "s", true, &s));
    cr_assert(there("s"));
    cr_assert_not(there("g"), "another delete took it");
    ok(ramet_session_restore(T.call, "g", false, &s));
    cr_assert_str_eq(ids("g"), "a b x z");
    cr_assert_str_eq(ids("s"), "a b c d");
}

static const char *restorable(ramet_call *c, int64_t *when)
{
    static char text[512];
    ramet_session_list list;
    text[0] = 0;
    ok_for(c, ramet_session_find(c, &(ramet_list_in){.deleted = true}, &list));
    for (size_t i = 0; i < list.n; i++) {
        size_t have = strlen(text);
        snprintf(text + have, sizeof text - have, "%s%s", have ? " " : "", list.items[i].id);
        cr_assert_gt(list.items[i].deleted_at, 0);
        if (when)
            *when = list.items[i].deleted_at;
    }
    return text;
}

Test(gc, deleted_sessions_are_listed_for_those_who_may_restore_them)
{
    family();
    join("s", "bob", RAMET_WRITER);
    join("s", "meg", RAMET_MANAGER);
    ramet_session *own, *side;
    ok_for(as("bob"),
           ramet_fork(as("bob"), "s", &(ramet_fork_in){.id = "p", .visibility = RAMET_PRIVATE},
                      &own, NULL));
    ok(ramet_fork(T.call, "s", &(ramet_fork_in){.id = "e", .ephemeral_us = DAY}, &side, NULL));
    cr_assert_str_eq(restorable(T.call, NULL), "");
    drop("g");
    drop("p");
    int64_t when = 0, dropped = T.now;
    cr_assert_str_eq(restorable(as("meg"), NULL), "g", "not what is private to another");
    cr_assert_str_eq(restorable(as("bob"), &when), "p", "a writer restores only his own");
    cr_assert_eq(when, dropped);
    cr_assert_str_eq(restorable(as("eve"), NULL), "");
    tick(DAY);
    cr_assert_str_eq(restorable(as("meg"), NULL), "e g", "it has expired");
    ramet_session *back;
    ok_for(as("meg"), ramet_session_restore(as("meg"), "g", false, &back));
    cr_assert_str_eq(restorable(T.call, NULL), "e p");
    tick(7 * DAY + 2 * SECOND);
    cr_assert_eq(collect(false).sessions, 2);
    cr_assert_str_eq(restorable(T.call, NULL), "", "gc has taken them");
}

Test(gc, a_restored_session_is_as_it_was)
{
    family();
    ramet_tags tags;
    ok(ramet_tags_set(T.call, "f", (const char *[]){"t"}, 1, &tags));
    rewind_to("f", "x");
    const char *before = dump("f", 0);
    drop("f");
    ramet_session *s = NULL;
    ok(ramet_session_restore(T.call, "f", false, &s));
    cr_assert_str_eq(dump("f", 0), before);
    cr_assert_eq(s->n_tags, 1);
    ok(ramet_undo(T.call, "f", NULL, &s));
    cr_assert_str_eq(ids("f"), "a b x y");
}

Test(gc, nothing_goes_before_its_grace_is_over)
{
    family();
    drop("f");
    int64_t before = entries();
    tick(7 * DAY - 2 * SECOND);
    ramet_gc_out out = collect(false);
    cr_assert_eq(out.sessions, 0);
    cr_assert_eq(out.entries, 0);
    cr_assert_eq(entries(), before);
    ramet_session *s;
    ok(ramet_session_restore(T.call, "f", false, &s));
    drop("f");
    tick(7 * DAY + SECOND);
    out = collect(true);
    cr_assert_eq(out.sessions, 1);
    cr_assert_eq(out.entries, 1);
    cr_assert_eq(entries(), before, "a dry run takes nothing");
    out = collect(false);
    cr_assert_eq(out.sessions, 1);
    cr_assert_eq(out.entries, 1);
    cr_assert_gt(out.bytes, 0);
    cr_assert_eq(entries(), before - 1);
    refused(RAMET_SESSION_NOT_FOUND, NULL, ramet_session_restore(T.call, "f", false, &s));
    cr_assert_str_eq(ids("g"), "a b x z");
    out = collect(false);
    cr_assert_eq(out.sessions, 0, "a second time there is nothing left");
    cr_assert_eq(out.entries, 0);
}

Test(gc, the_grace_can_be_set)
{
    ramet_options opt = scratch_options();
    opt.grace_us = 10 * SECOND;
    scratch_reopen(&opt);
    make("s");
    drop("s");
    tick(9 * SECOND);
    cr_assert_eq(collect(false).sessions, 0);
    tick(2 * SECOND);
    cr_assert_eq(collect(false).sessions, 1);
}

Test(gc, the_id_is_free_again_afterwards)
{
    make("s");
    say("s", "a");
    drop("s");
    tick(8 * DAY);
    collect(false);
    cr_assert_eq(entries(), 0);
    ramet_session *s = make("s");
    cr_assert_eq(s->head.length, 0);
    cr_assert_str_eq(ids("s"), "");
}

Test(gc, a_place_in_the_tree_is_kept)
{
    family();
    drop("f");
    tick(8 * DAY);
    collect(false);
    ramet_session *s;
    size_t n;
    ok(ramet_ancestry(T.call, "g", &s, &n));
    cr_assert_eq(n, 3);
    cr_assert(s[1].deleted);
    cr_assert_eq(s[2].depth, 2);
    ok(ramet_tree(T.call, "s", false, &s, &n));
    cr_assert_eq(n, 3);
}

Test(gc, shared_entries_live_while_any_session_reaches_them)
{
    family();
    drop("s");
    drop("f");
    tick(8 * DAY);
    ramet_gc_out out = collect(false);
    cr_assert_eq(out.sessions, 2);
    cr_assert_eq(out.entries, 3, "c, d and y");
    cr_assert_str_eq(ids("g"), "a b x z");
    ramet_fsck_out fsck;
    ok(ramet_fsck(T.call, NULL, NULL, &fsck));
    cr_assert_eq(fsck.n_all, 0);
    drop("g");
    tick(8 * DAY);
    out = collect(false);
    cr_assert_eq(out.entries, 4);
    cr_assert_eq(entries(), 0);
    cr_assert_leq(sql_number("SELECT count(*) FROM branch"), 1,
                  "the highest number stays: it must not come back");
}

Test(gc, abandoned_branches_of_a_living_session_stay)
{
    make("s");
    say("s", "a b c");
    int64_t old = get("s")->head.branch;
    rewind_to("s", "a");
    tick(30 * DAY);
    cr_assert_eq(collect(false).entries, 0);
    cr_assert_str_eq(ids_on("s", old), "a b c");
}

Test(gc, a_fork_of_an_abandoned_branch_keeps_it)
{
    make("s");
    say("s", "a b c");
    int64_t old = get("s")->head.branch;
    rewind_to("s", "a");
    say("s", "d");
    ramet_session *f;
    ok(ramet_fork(T.call, "s", &(ramet_fork_in){.id = "f", .branch = old, .at = {"b", RAMET_AFTER}},
                  &f, NULL));
    drop("s");
    tick(8 * DAY);
    cr_assert_eq(collect(false).entries, 2);
    cr_assert_str_eq(ids("f"), "a b");
}

Test(gc, a_deleted_session_is_nowhere)
{
    family();
    drop("f");
    ramet_session_list list;
    ok(ramet_session_find(T.call, &(ramet_list_in){0}, &list));
    cr_assert_eq(list.n, 2);
    ramet_page page;
    refused(RAMET_SESSION_NOT_FOUND, NULL, ramet_read(T.call, "f", &(ramet_read_in){0}, &page));
    ramet_session *s;
    refused(RAMET_SESSION_NOT_FOUND, NULL, ramet_fork(T.call, "f", &(ramet_fork_in){0}, &s, NULL));
    refused(RAMET_SESSION_NOT_FOUND, NULL, ramet_undo(T.call, "f", NULL, &s));
    cr_assert_null(get("g")->is_fork ? NULL : "g is a fork still");
}

Test(gc, private_sessions_of_others_are_neither_taken_nor_named)
{
    make("s");
    say("s", "a b");
    join("s", "rita", RAMET_READER);
    ramet_call *rita = as("rita"), *ann = as("ann");
    ramet_session *s;
    ok_for(rita, ramet_fork(rita, "s", &(ramet_fork_in){.id = "p", .visibility = RAMET_PRIVATE}, &s,
                            NULL));
    ramet_delete_out out;
    for (int dry = 1; dry >= 0; dry--) {
        ok_for(ann, ramet_session_delete(ann, "s", true, dry, &out));
        cr_assert_str_eq(gone(&out), "s");
    }
    tick(8 * DAY);
    collect(false);
    ok_for(rita, ramet_session_get(rita, "p", &s));
    cr_assert_str_eq(ids("p"), "a b");
}

Test(gc, an_ephemeral_session_expires)
{
    make("s");
    say("s", "a");
    ramet_session *f = NULL;
    ok(ramet_fork(T.call, "s", &(ramet_fork_in){.id = "f", .ephemeral_us = 60 * SECOND}, &f, NULL));
    cr_assert_eq(f->expires, T.now + 60 * SECOND);
    ramet_session *e = NULL;
    ok(ramet_session_create(T.call, &(ramet_session_in){.id = "e", .ephemeral_us = 60 * SECOND},
                            &e));
    cr_assert_eq(e->expires, T.now + 60 * SECOND);
    tick(59 * SECOND);
    cr_assert(there("f"));
    tick(2 * SECOND);
    cr_assert_not(there("f"));
    cr_assert_not(there("e"));
    ramet_session_list list;
    ok(ramet_session_find(T.call, &(ramet_list_in){0}, &list));
    cr_assert_eq(list.n, 1);
    ramet_gc_out out = collect(false);
    cr_assert_eq(out.expired, 2);
    ramet_session *s = NULL;
    ok(ramet_session_restore(T.call, "f", false, &s));
    cr_assert(there("f"));
    tick(8 * DAY);
    out = collect(false);
    cr_assert_eq(out.sessions, 1, "e has had its grace");
    ramet_session *x;
    refused(RAMET_SESSION_NOT_FOUND, NULL, ramet_session_restore(T.call, "e", false, &x));
}

Test(gc, an_ephemeral_session_can_be_promoted)
{
    make("s");
    ramet_session *f = NULL;
    ok(ramet_fork(T.call, "s", &(ramet_fork_in){.id = "f", .ephemeral_us = SECOND}, &f, NULL));
    ok(ramet_session_promote(T.call, "f", &f));
    cr_assert_eq(f->expires, 0);
    tick(100 * DAY);
    collect(false);
    cr_assert(there("f"));
    ok(ramet_session_promote(T.call, "f", &f));
    ok(ramet_session_promote(T.call, "s", &f));
}

static bool stop(void *arg, const char *what, int64_t done, int64_t total)
{
    (void)arg;
    (void)what;
    (void)done;
    (void)total;
    return false;
}

Test(gc, can_be_stopped_and_goes_on_later)
{
    family();
    drop("s");
    drop("f");
    drop("g");
    tick(8 * DAY);
    ramet_gc_out out;
    ramet_status st = ramet_gc(T.call, false, stop, NULL, &out);
    cr_assert(st == RAMET_STOP || st == RAMET_OK);
    collect(false);
    cr_assert_eq(entries(), 0);
    ramet_fsck_out fsck;
    ok(ramet_fsck(T.call, NULL, NULL, &fsck));
    cr_assert_eq(fsck.n_all, 0);
}

Test(gc, nothing_of_a_whole_tree_is_left)
{
    family();
    ramet_verdict *v;
    ok(ramet_verdict_add(T.call, (ramet_side_in[]){{"s", 0}, {"f", 0}}, 2, 0, "r", &v));
    ramet_tags tags;
    ok(ramet_tags_set(T.call, "f", (const char *[]){"t"}, 1, &tags));
    join("s", "bob", RAMET_READER);
    ramet_usage u = {.input = 1};
    put("g", &(ramet_entry_in){.role = RAMET_USER, .usage = &u, .state_delta = "{\"k\":1}"});
    ramet_delete_out gone_now;
    ok(ramet_session_delete(T.call, "s", true, false, &gone_now));
    make("other");
    say("other", "o");
    tick(8 * DAY);
    collect(false);
    static const char *const tables[] = {"entry", "tree", "session", "branch", "member", "verdict",
                                         "tag",   "move", "run",     "usage",  "delta"};
    static const int64_t want[] = {1, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        char sql[64];
        snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", tables[i]);
        cr_assert_eq(sql_number(sql), want[i], "%s has %d rows", tables[i], (int)sql_number(sql));
    }
    cr_assert_str_eq(ids("other"), "o");
}

Test(gc, works_beside_readers_and_keeps_what_a_stream_reads)
{
    make("s");
    ramet_entry_in in[900];
    for (int i = 0; i < 900; i++)
        in[i] = (ramet_entry_in){.role = RAMET_USER, .text = "x"};
    ramet_append_out out;
    ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = in, .n = 900}, &out));
    ramet_call *c = as(NULL);
    ramet_stream *st = NULL;
    ok_for(c, ramet_stream_open(c, "s", &(ramet_read_in){0}, &st));
    const ramet_entry *e = NULL;
    ok_for(c, ramet_stream_next(st, &e));
    drop("s");
    tick(8 * DAY);
    collect(false);
    int n = 1;
    ramet_status status;
    while ((status = ramet_stream_next(st, &e)) == RAMET_OK && e)
        cr_assert_eq(e->position, n++);
    cr_assert(status != RAMET_OK || n == 900, "all of it, or an error: never silently shorter");
    ramet_stream_close(st);
}

Test(gc, the_id_of_an_expired_session_is_not_free_yet)
{
    ramet_session *s;
    ok(ramet_session_create(T.call, &(ramet_session_in){.id = "e", .ephemeral_us = SECOND}, &s));
    tick(2 * SECOND);
    refused(RAMET_SESSION_DELETED, "id",
            ramet_session_create(T.call, &(ramet_session_in){.id = "e"}, &s));
    tick(8 * DAY);
    collect(false);
    ok(ramet_session_create(T.call, &(ramet_session_in){.id = "e"}, &s));
}

Test(gc, many_sessions_at_once, .timeout = 60)
{
    make("s");
    say("s", "a");
    enum { N = 1100 };
    for (int i = 0; i < N; i++) {
        ramet_session *f;
        ok(ramet_fork(T.call, "s", &(ramet_fork_in){0}, &f, NULL));
        ramet_append_out out;
        ramet_entry_in own = {.id = "own", .role = RAMET_USER, .text = "x"};
        ok(ramet_append(T.call, f->id, &(ramet_append_in){.entries = &own, .n = 1}, &out));
        ramet_call_reset(T.call);
    }
    ramet_delete_out out;
    ok(ramet_session_delete(T.call, "s", true, false, &out));
    cr_assert_eq(out.n, N + 1);
    cr_assert_eq(out.entries, N + 1);
    tick(8 * DAY);
    ramet_gc_out gc = collect(false);
    cr_assert_eq(gc.sessions, N + 1);
    cr_assert_eq(gc.entries, N + 1);
    cr_assert_eq(entries(), 0);
    make("t");
    collect(false);
    cr_assert_eq(sql_number("SELECT count(*) FROM session"), 1);
    cr_assert_eq(sql_number("SELECT count(*) FROM branch"), 1);
}
