/* SPDX-License-Identifier: Apache-2.0
 *
 * overlay.c: hiding and replacing entries in the context view, and what becomes of the overlays
 * when the head moves.
 */
#include "help.h"
#include "turn.h"

#include "core/handle.h"
#include "core/change/overlay.h"
#include "core/model/overlay_set.h"
#include "ramet/overlays.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

TestSuite(overlay, .init = scratch_open, .fini = scratch_close);

/* The ids that a read gives, "a b c"; a replaced entry as id=text. */
static const char *view_in(const char *session, const ramet_read_in *in)
{
    static char text[65536];
    ramet_page page;
    size_t n = 0;
    text[0] = 0;
    ok(ramet_read(T.call, session, in, &page));
    for (size_t i = 0; i < page.n; i++) {
        const ramet_entry *e = &page.entries[i];
        char plain[300];
        snprintf(plain, sizeof plain, "text of %s", e->id);
        bool is_plain = strcmp(e->text, plain) == 0 || !strcmp(e->id, e->text);
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s%s%s", n ? " " : "", e->id,
                              is_plain ? "" : "=", is_plain ? "" : e->text);
    }
    return text;
}

static const char *context(const char *session)
{
    return view_in(session, &(ramet_read_in){.limit = 1000, .view = RAMET_VIEW_CONTEXT});
}

static int64_t overlay(const char *session, ramet_overlay_action action, const char *entry,
                       const char *text)
{
    ramet_overlay_out out;
    tick(SECOND);
    ok(ramet_overlay_set(T.call, session,
                         &(ramet_overlay_in){.entry_id = entry, .action = action, .text = text},
                         &out));
    cr_assert_eq(out.head.branch, get(session)->head.branch);
    return out.id;
}

static int64_t hide(const char *session, const char *entry)
{
    return overlay(session, RAMET_OVERLAY_HIDE, entry, NULL);
}

static void remove_overlay(const char *session, int64_t id)
{
    ramet_overlay_out out;
    tick(SECOND);
    ok(ramet_overlay_remove(T.call, session, id, NULL, NULL, false, &out));
    cr_assert_eq(out.id, id);
}

static void tool(const char *session, const char *id, const char *parts)
{
    put(session, &(ramet_entry_in){.id = id, .role = RAMET_ASSISTANT, .parts = parts});
}

#define CALL(id) "{\"type\":\"tool_call\",\"id\":\"" id "\",\"name\":\"n\",\"input\":{\"x\":1}}"
#define RESULT(id) "{\"type\":\"tool_result\",\"id\":\"" id "\",\"output\":\"secret\"}"

static void sound(void)
{
    ramet_fsck_out out;
    ok(ramet_fsck(T.call, NULL, NULL, &out));
    cr_assert_eq(out.n_all, 0, "%s", out.n ? out.faults[0].what : "");
}

Test(overlay, hides_and_replaces_without_touching_the_record)
{
    make("s");
    say("s", "a b c d");
    ramet_session before = *get("s");
    hide("s", "b");
    overlay("s", RAMET_OVERLAY_REPLACE, "c", "short");
    const ramet_session *after = get("s");
    cr_assert_str_eq(context("s"), "a c=short d");
    cr_assert_str_eq(ids("s"), "a b c d");
    cr_assert_str_eq(after->head.hash, before.head.hash);
    cr_assert_eq(after->head.length, 4);
    cr_assert_neq(after->head.branch, before.head.branch);
    cr_assert_gt(after->head.overlay, 0);
    ramet_page page;
    ok(ramet_read(T.call, "s", &(ramet_read_in){.view = RAMET_VIEW_CONTEXT}, &page));
    cr_assert_str_eq(page.entries[1].parts, "[{\"type\":\"text\",\"text\":\"short\"}]");
    cr_assert_str_eq(page.entries[1].format, "ramet");
    sound();
}

Test(overlay, hide_before_leaves_out_all_above)
{
    make("s");
    say("s", "a b c d");
    int64_t id = overlay("s", RAMET_OVERLAY_HIDE_BEFORE, "c", NULL);
    cr_assert_str_eq(context("s"), "c d");
    overlay("s", RAMET_OVERLAY_REPLACE, "c", "see");
    cr_assert_str_eq(context("s"), "c=see d", "a replace of the same entry stands beside it");
    remove_overlay("s", id);
    cr_assert_str_eq(context("s"), "a b c=see d");
    sound();
}

Test(overlay, is_a_move_that_undo_and_switch_take_back)
{
    make("s");
    say("s", "a b c");
    int64_t plain = get("s")->head.branch;
    hide("s", "a");
    int64_t hidden = get("s")->head.branch;
    hide("s", "b");
    ramet_session *s;
    ramet_move *moves;
    size_t n;
    bool more;
    cr_assert_str_eq(context("s"), "c");
    ok(ramet_undo(T.call, "s", NULL, &s));
    cr_assert_str_eq(context("s"), "b c");
    ok(ramet_redo(T.call, "s", NULL, &s));
    cr_assert_str_eq(context("s"), "c");
    ok(ramet_switch(T.call, "s", hidden, NULL, &s));
    cr_assert_str_eq(context("s"), "b c");
    ok(ramet_switch(T.call, "s", plain, NULL, &s));
    cr_assert_str_eq(context("s"), "a b c");
    ok(ramet_head_log(T.call, "s", 0, 50, &moves, &n, &more));
    cr_assert_eq(moves[n - 1].kind, RAMET_MOVE_OVERLAY);
    cr_assert_str_eq(ramet_move_name(moves[n - 1].kind), "overlay");
    sound();
}

Test(overlay, every_branch_from_a_head_takes_the_set_over)
{
    ramet_append_out out;
    ramet_sync_out synced;
    make("s");
    say("s", "a b c d");
    hide("s", "a");
    hide("s", "c");
    fork_at("s", NULL, "f");
    hide("s", "d");
    cr_assert_str_eq(context("f"), "b d", "what stood when it was made (I3)");
    hide("f", "b");
    cr_assert_str_eq(context("s"), "b");
    rewind_to("s", "b");
    say("s", "e");
    cr_assert_str_eq(context("s"), "b e", "entries off the path mean nothing");
    ok(ramet_edit(T.call, "s", "e", &(ramet_entry_in){.id = "e2", .text = "text of e2"}, NULL,
                  &out));
    cr_assert_str_eq(context("s"), "b e2");
    ramet_entry_in list[] = {{.id = "a", .role = RAMET_USER, .text = "text of a"},
                             {.id = "z", .role = RAMET_USER, .text = "text of z"}};
    tick(SECOND);
    ok(ramet_sync(T.call, "s", list, 2, NULL, &synced));
    cr_assert_str_eq(context("s"), "z");
    sound();
}

Test(overlay, the_newest_mention_of_an_entry_wins)
{
    make("s");
    say("s", "a b");
    int64_t first = hide("s", "a");
    int64_t second = overlay("s", RAMET_OVERLAY_REPLACE, "a", "other");
    ramet_overlay_out out;
    ramet_overlay *list;
    size_t n;
    cr_assert_str_eq(context("s"), "a=other b");
    ok(ramet_overlays(T.call, "s", 0, &list, &n));
    cr_assert_eq(n, 1);
    cr_assert_eq(list[0].id, second);
    refused(RAMET_OVERLAY_NOT_FOUND, "overlay",
            ramet_overlay_remove(T.call, "s", first, NULL, NULL, false, &out));
    remove_overlay("s", second);
    cr_assert_str_eq(context("s"), "a b", "the one before does not come back");
    refused(RAMET_OVERLAY_NOT_FOUND, "overlay",
            ramet_overlay_remove(T.call, "s", second, NULL, NULL, false, &out));
    sound();
}

Test(overlay, a_call_and_its_results_are_hidden_together)
{
    make("s");
    say("s", "q");
    tool("s", "c1", "[" CALL("t1") "," CALL("t2") "]");
    tool("s", "r1", "[" RESULT("t1") "]");
    tool("s", "r2", "[" RESULT("t2") "]");
    tool("s", "c3", "[" CALL("t1") "]");
    tool("s", "r3", "[" RESULT("t1") "]");
    say("s", "end");
    int64_t id = hide("s", "c1");
    cr_assert_str_eq(ids("s"), "q c1 r1 r2 c3 r3 end");
    cr_assert_not_null(strstr(context("s"), "c3"));
    cr_assert_null(strstr(context("s"), "r1"));
    cr_assert_null(strstr(context("s"), "r2"));
    cr_assert_not_null(strstr(context("s"), "r3"), "an id that is used again is another call");
    remove_overlay("s", id);
    hide("s", "r2");
    cr_assert_null(strstr(context("s"), "c1"), "the reverse");
    cr_assert_null(strstr(context("s"), "r1"), "and what belongs to that call");
    cr_assert_not_null(strstr(context("s"), "r3"));
    sound();
}

Test(overlay, later_results_of_a_hidden_call_are_hidden)
{
    make("s");
    say("s", "q");
    tool("s", "c1", "[" CALL("t1") "]");
    hide("s", "c1");
    tool("s", "r1", "[" RESULT("t1") "]");
    tool("s", "r1b", "[" RESULT("t1") "]");
    tool("s", "c2", "[" CALL("t1") "]");
    tool("s", "r2", "[" RESULT("t1") "]");
    cr_assert_null(strstr(context("s"), "r1"));
    cr_assert_not_null(strstr(context("s"), "r2"));
    /* Also where a page begins behind the call. */
    const char *page = view_in("s", &(ramet_read_in){.limit = 1, .after = "c1", .view = 1});
    cr_assert_null(strstr(page, "r1"), "%s", page);
    overlay("s", RAMET_OVERLAY_HIDE_BEFORE, "r2", NULL);
    cr_assert_str_eq(context("s"), "", "its call is above");
}

Test(overlay, a_replaced_entry_keeps_the_ids_of_its_calls_and_results)
{
    ramet_page page;
    make("s");
    tool("s", "c1", "[{\"type\":\"text\",\"text\":\"key 123\"}," CALL("t1") "]");
    tool("s", "r1", "[" RESULT("t1") "]");
    overlay("s", RAMET_OVERLAY_REPLACE, "c1", "no key");
    overlay("s", RAMET_OVERLAY_REPLACE, "r1", "cut");
    ok(ramet_read(T.call, "s", &(ramet_read_in){.view = RAMET_VIEW_CONTEXT}, &page));
    cr_assert_str_eq(page.entries[0].parts,
                     "[{\"type\":\"text\",\"text\":\"no key\"},{\"type\":\"tool_call\",\"id\":"
                     "\"t1\",\"name\":\"n\",\"input\":{}}]");
    cr_assert_str_eq(page.entries[1].parts,
                     "[{\"type\":\"tool_result\",\"id\":\"t1\",\"output\":\"cut\"}]");
}

Test(overlay, pages_and_streams_show_the_same)
{
    char all[40000] = "", name[16], whole[40000];
    ramet_stream *stream;
    const ramet_entry *e;
    make("s");
    for (int i = 0; i < 600; i++) {
        snprintf(name, sizeof name, "%sm%d", i ? " " : "", i);
        strcat(all, name);
    }
    say("s", all);
    for (int i = 100; i < 180; i++) {
        snprintf(name, sizeof name, "m%d", i);
        hide("s", name);
    }
    for (int i = 300; i < 600; i += 7) {
        snprintf(name, sizeof name, "m%d", i);
        hide("s", name);
    }
    strcpy(whole, context("s"));
    char joined[40000] = "", after[16] = "", before[16] = "";
    ramet_page page;
    ramet_read_in in = {.limit = 37, .view = RAMET_VIEW_CONTEXT};
    do { /* forward */
        in.after = *after ? after : NULL;
        ok(ramet_read(T.call, "s", &in, &page));
        for (size_t i = 0; i < page.n; i++) {
            strcat(joined, *joined ? " " : "");
            strcat(joined, page.entries[i].id);
        }
        cr_assert(page.n == 37 || !page.more_after);
        cr_assert_eq(page.more_before, *after != 0);
        snprintf(after, sizeof after, "%s", page.entries[page.n - 1].id);
    } while (page.more_after);
    cr_assert_str_eq(joined, whole);
    char back[40000] = "", piece[40000];
    in = (ramet_read_in){.limit = 37, .tail = true, .view = RAMET_VIEW_CONTEXT};
    do {
        in.before = *before ? before : NULL;
        ok(ramet_read(T.call, "s", &in, &page));
        piece[0] = 0;
        for (size_t i = 0; i < page.n; i++) {
            strcat(piece, *piece ? " " : "");
            strcat(piece, page.entries[i].id);
        }
        if (*back)
            strcat(strcat(piece, " "), back);
        strcpy(back, piece);
        snprintf(before, sizeof before, "%s", page.entries[0].id);
    } while (page.more_before);
    cr_assert_str_eq(back, whole);
    piece[0] = 0;
    ok(ramet_stream_open(T.call, "s", &(ramet_read_in){.view = RAMET_VIEW_CONTEXT}, &stream));
    while (ramet_stream_next(stream, &e) == RAMET_OK && e)
        strcat(strcat(piece, *piece ? " " : ""), e->id);
    ramet_stream_close(stream);
    cr_assert_str_eq(piece, whole);
    cr_assert_str_eq(view_in("s", &(ramet_read_in){.limit = 1, .after = "m150", .view = 1}), "m180",
                     "a cursor may be hidden");
    sound();
}

typedef struct union_job {
    int64_t tree, first, second, out;
    size_t n; /* in force in the union */
} union_job;

static ramet_status union_run(txn *tx, void *arg)
{
    union_job *j = arg;
    const overlay_item *items;
    TRY(overlay_union(tx, j->tree, j->first, j->second, &j->out));
    overlay_set *set = overlay_set_get(tx, j->tree, j->out);
    j->n = set ? overlay_set_items(set, &items) : 0;
    overlay_set_put(set);
    return txn_status(tx);
}

/* For a fast-forward: what is in force in either; the first wins where both name an entry. */
Test(overlay, a_union_has_what_is_in_force_in_either)
{
    make("s");
    say("s", "a b c");
    int64_t first = hide("s", "a");
    fork_at("s", NULL, "f");
    hide("s", "b");
    remove_overlay("s", first);
    overlay("f", RAMET_OVERLAY_REPLACE, "b", "other");
    union_job j = {.tree = sql_number("SELECT min(tree) FROM tree"),
                   .first = get("f")->head.overlay,
                   .second = get("s")->head.overlay};
    ok(txn_write(T.call, union_run, &j));
    cr_assert_eq(j.n, 2, "a is hidden in f, b replaced there");
    union_job same = {.tree = j.tree, .first = j.first, .second = j.first};
    ok(txn_write(T.call, union_run, &same));
    cr_assert_eq(same.out, j.first, "no row where one of them is enough");
    union_job none = {.tree = j.tree, .second = j.second};
    ok(txn_write(T.call, union_run, &none));
    cr_assert_eq(none.out, j.second);
    sound();
}

Test(overlay, refusals)
{
    ramet_overlay_out out;
    ramet_turn *turn;
    ramet_append_out appended;
    make("s");
    say("s", "a");
    fork_at("s", NULL, "f");
    say("f", "only-f");
    ramet_overlay_in in = {.entry_id = "only-f", .action = RAMET_OVERLAY_HIDE};
    refused(RAMET_ENTRY_NOT_FOUND, "entry_id", ramet_overlay_set(T.call, "s", &in, &out));
    in = (ramet_overlay_in){.entry_id = "a", .action = 9};
    refused(RAMET_INVALID, "action", ramet_overlay_set(T.call, "s", &in, &out));
    in.action = RAMET_OVERLAY_REPLACE;
    refused(RAMET_INVALID, "text", ramet_overlay_set(T.call, "s", &in, &out));
    in = (ramet_overlay_in){.entry_id = "a", .action = RAMET_OVERLAY_HIDE, .text = "x"};
    refused(RAMET_INVALID, "text", ramet_overlay_set(T.call, "s", &in, &out));
    char *large = calloc(1, (1 << 20) + 2);
    memset(large, 'x', (1 << 20) + 1);
    in = (ramet_overlay_in){.entry_id = "a", .action = RAMET_OVERLAY_REPLACE, .text = large};
    refused(RAMET_TOO_LARGE, "text", ramet_overlay_set(T.call, "s", &in, &out));
    free(large);
    in =
        (ramet_overlay_in){.entry_id = "a", .action = RAMET_OVERLAY_HIDE, .expected_head = NO_HASH};
    refused(RAMET_HEAD_MOVED, "expected_head", ramet_overlay_set(T.call, "s", &in, &out));
    in.expected_head = NULL;
    join("s", "bob", RAMET_READER);
    ramet_call *bob = as("bob");
    refused_for(bob, RAMET_FORBIDDEN, NULL, ramet_overlay_set(bob, "s", &in, &out));
    ramet_entry_in q = {.role = RAMET_USER, .text = "?"};
    ok(ramet_turn_begin(T.call, "s", &(ramet_turn_in){.entries = &q, .n = 1}, &turn, &appended));
    refused(RAMET_TURN_RUNNING_ALREADY, "session", ramet_overlay_set(T.call, "s", &in, &out));
    ok(ramet_turn_end(T.call, turn->id, RAMET_TURN_DONE, NULL, NULL, 0, &appended));
    ok(ramet_overlay_set(T.call, "s", &in, &out));
    sound();
}

/* Ends the turn while the write waits for its end. */
static void *end_turn(void *arg)
{
    ramet_call *c = ramet_call_new(T.store, NULL, NULL);
    ramet_append_out a;
    while (!atomic_load(&T.store->idle_waiting))
        sched_yield();
    ramet_turn_end(c, arg, RAMET_TURN_DONE, NULL, NULL, 0, &a);
    ramet_call_free(c);
    return NULL;
}

Test(overlay, when_idle_waits_for_the_end_of_the_turn)
{
    ramet_overlay_out out;
    pthread_t thread;
    make("s");
    say("s", "a b");
    ramet_overlay_in in = {.entry_id = "a", .action = RAMET_OVERLAY_HIDE, .when_idle = true};
    turn_start("s", &(ramet_turn_in){.id = "t1", MESSAGE("m")});
    cr_assert_eq(pthread_create(&thread, NULL, end_turn, (void *)"t1"), 0);
    ok(ramet_overlay_set(T.call, "s", &in, &out));
    pthread_join(thread, NULL);
    turn_start("s", &(ramet_turn_in){.id = "t2", MESSAGE("n")});
    cr_assert_eq(pthread_create(&thread, NULL, end_turn, (void *)"t2"), 0);
    ok(ramet_overlay_remove(T.call, "s", out.id, NULL, NULL, true, &out));
    pthread_join(thread, NULL);
    sound();
}

static bool close_idle(void *arg)
{
    ramet_idle_close(arg);
    return false;
}

Test(overlay, a_program_that_stops_ends_the_wait)
{
    ramet_overlay_out out;
    make("s");
    say("s", "a b");
    ramet_overlay_in in = {.entry_id = "a", .action = RAMET_OVERLAY_HIDE, .when_idle = true};
    turn_start("s", &(ramet_turn_in){.id = "t1", MESSAGE("m")});
    ramet_call_stop_when(T.call, close_idle, T.store);
    refused(RAMET_TOO_BUSY, "when", ramet_overlay_set(T.call, "s", &in, &out));
    ramet_call_stop_when(T.call, NULL, NULL);
    turn_stop("t1", RAMET_TURN_DONE);
}

Test(overlay, gc_takes_what_no_branch_leads_to)
{
    ramet_gc_out gone;
    make("s");
    say("s", "a b");
    hide("s", "a");
    fork_at("s", NULL, "f");
    int64_t later = overlay("s", RAMET_OVERLAY_REPLACE, "b", "words that must go");
    drop("s");
    tick(8 * DAY);
    ok(ramet_gc(T.call, false, NULL, NULL, &gone));
    cr_assert_str_eq(context("f"), "b");
    cr_assert_eq(sql_number("SELECT count(*) FROM overlay WHERE text IS NOT NULL"), 0);
    sound();
    cr_assert_gt(hide("f", "b"), later, "a number does not come back");
    sound();
}

Test(overlay, a_damaged_row_is_reported)
{
    if (T.database)
        return;
    ramet_page page;
    ramet_fsck_out out;
    make("s");
    say("s", "a b");
    overlay("s", RAMET_OVERLAY_REPLACE, "b", "right");
    scratch_shut();
    sql_run(T.path, "UPDATE overlay SET text='wrong'");
    scratch_reopen(NULL);
    refused(RAMET_DAMAGED, NULL,
            ramet_read(T.call, "s", &(ramet_read_in){.view = RAMET_VIEW_CONTEXT}, &page));
    ok(ramet_read(T.call, "s", &(ramet_read_in){0}, &page));
    ok(ramet_fsck(T.call, NULL, NULL, &out));
    cr_assert_gt(out.n_all, 0);
}
