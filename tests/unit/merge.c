/* SPDX-License-Identifier: Apache-2.0
 *
 * merge.c: fast_forward, splice, pick and land; origins and destinations; what is refused.
 */
#include "attach.h"
#include "link.h"
#include "turn.h"

#include "core/handle.h"

#include "ramet/kagent.h"
#include "ramet/merge.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

TestSuite(merge, .init = scratch_open, .fini = scratch_close);

static ramet_merge_out out;
static ramet_session *s_out;

/* ---- steps and looks */

static void merged(const char *into, const ramet_merge_in *in)
{
    tick(SECOND);
    ok(ramet_merge(T.call, into, in, &out));
    cr_assert_not_null(out.session);
    cr_assert_str_eq(out.session->id, into);
    cr_assert_eq(out.session->head.branch, get(into)->head.branch);
}

/* Refused, and nothing at all has changed. */
static void not_merged(ramet_call *c, ramet_status st, const char *field, const char *into,
                       const ramet_merge_in *in)
{
    const char *before = mark();
    refused_for(c, st, field, ramet_merge(c, into, in, &out));
    cr_assert_str_eq(mark(), before);
    cr_assert_null(out.session);
    cr_assert_eq(out.n, 0);
}

/* s has a b; f is a fork of it with c d, of its own. */
static void forked(void)
{
    make("s");
    say("s", "a b");
    fork_at("s", NULL, "f");
    say("f", "c d");
}

/* The texts of a path, one after the other. */
static const char *texts(const char *session)
{
    static char all[4096];
    ramet_page page;
    size_t n = 0;
    all[0] = 0;
    ok(ramet_read(T.call, session, &(ramet_read_in){.limit = 1000}, &page));
    for (size_t i = 0; i < page.n; i++)
        n += (size_t)snprintf(all + n, sizeof all - n, "%s%s", n ? "|" : "", page.entries[i].text);
    return all;
}

static ramet_entry *entry_at(const char *session, int64_t position)
{
    ramet_page page;
    ok(ramet_read(T.call, session,
                  &(ramet_read_in){.limit = 1, .by_position = true, .position = position}, &page));
    cr_assert_eq(page.n, 1);
    return page.entries;
}

/* "session/entry" for each of them. */
static const char *ends_as(ramet_call *c, bool forward, const char *session, const char *entry)
{
    static char all[1024];
    ramet_entry_ref *list;
    size_t n, at = 0;
    all[0] = 0;
    ok_for(c, (forward ? ramet_destinations : ramet_origins)(c, session, 0, entry, &list, &n));
    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(all + at, sizeof all - at, "%s%s/%s", at ? " " : "", list[i].session,
                               list[i].entry_id);
    return all;
}

static const char *origins(const char *session, const char *entry)
{
    return ends_as(T.call, false, session, entry);
}

static int64_t went(const char *session, const char *entry)
{
    ramet_entry_ref *list;
    size_t n;
    ok(ramet_destinations(T.call, session, 0, entry, &list, &n));
    return (int64_t)n;
}

/* ---- fast-forward */

Test(merge, a_fast_forward_shares_the_entries)
{
    forked();
    ramet_usage used = {.input = 7};
    put("f", &(ramet_entry_in){.id = "e", .role = RAMET_ASSISTANT, .text = "e", .usage = &used});
    int64_t entries = sql_number("SELECT count(*) FROM entry");
    int64_t before = get("s")->head.branch;
    merged("s", &(ramet_merge_in){.mode = RAMET_FAST_FORWARD, .from = "f"});
    cr_assert_eq(out.count, 3);
    cr_assert_eq(out.n, 0);
    cr_assert_str_eq(ids("s"), "a b c d e");
    cr_assert_str_eq(dump("s", 0), dump("f", 0));
    cr_assert_eq(sql_number("SELECT count(*) FROM entry"), entries);
    cr_assert_eq(sql_number("SELECT count(*) FROM copied"), 0);
    cr_assert_str_eq(get("f")->merged_into, "s");
    cr_assert_null(get("s")->merged_into);
    cr_assert_null(get("s")->parent_id, "lineage stays as it was");
    ramet_usage_out usage;
    ok(ramet_usage_get(T.call, "s", &usage));
    cr_assert_eq(usage.path.input, 7);
    cr_assert_eq(usage.own.input, 0);
    cr_assert_eq(usage.tree.input, 7);
    cr_assert_str_eq(ids_on("s", before), "a b");
    /* Both go on, each for itself. */
    say("s", "g");
    say("f", "h");
    cr_assert_str_eq(ids("s"), "a b c d e g");
    cr_assert_str_eq(ids("f"), "a b c d e h");
    sound();
}

Test(merge, a_merge_is_one_move_that_can_be_undone)
{
    forked();
    merged("s", &(ramet_merge_in){.mode = RAMET_FAST_FORWARD, .from = "f"});
    ramet_move *m;
    size_t n;
    bool more;
    ok(ramet_head_log(T.call, "s", 0, 0, &m, &n, &more));
    cr_assert_eq(n, 1);
    cr_assert_eq(m[0].kind, RAMET_MOVE_MERGE);
    cr_assert_str_eq(ramet_move_name(m[0].kind), "merge");
    cr_assert_str_eq(m[0].reason, "fast_forward");
    ok(ramet_undo(T.call, "s", NULL, &s_out));
    cr_assert_str_eq(ids("s"), "a b");
    ok(ramet_redo(T.call, "s", NULL, &s_out));
    cr_assert_str_eq(ids("s"), "a b c d");
    ok(ramet_undo(T.call, "s", NULL, &s_out));
    merged("s", &(ramet_merge_in){.mode = RAMET_SPLICE, .from = "f"});
    cr_assert_eq(get("s")->head.length, 4);
    ok(ramet_undo(T.call, "s", NULL, &s_out));
    cr_assert_str_eq(ids("s"), "a b");
    sound();
}

Test(merge, a_merge_is_told_as_an_event)
{
    forked();
    int64_t last = ramet_event_last(T.store);
    merged("s", &(ramet_merge_in){.mode = RAMET_SPLICE, .from = "f"});
    ramet_events_out events;
    ok(ramet_events(T.call, &(ramet_events_in){.after = last}, &events));
    cr_assert_eq(events.n, 3);
    cr_assert_str_eq(ramet_event_name(events.items[0].kind), "session.merged");
    cr_assert_str_eq(events.items[0].session, "s");
    cr_assert_eq(events.items[0].branch, get("s")->head.branch);
    cr_assert_eq(events.items[1].kind, RAMET_EVENT_APPENDED);
    cr_assert_eq(events.items[1].n, 2);
    cr_assert_eq(events.items[1].entries[0].n_origins, 0, "events are the same for all readers");
    cr_assert_eq(events.items[2].kind, RAMET_EVENT_MERGED);
    cr_assert_str_eq(events.items[2].session, "f");
}

Test(merge, a_fast_forward_of_what_has_gone_on_is_refused)
{
    forked();
    say("s", "x");
    ramet_call *ann = as("ann");
    not_merged(ann, RAMET_MERGE_REFUSED, "mode", "s",
               &(ramet_merge_in){.mode = RAMET_FAST_FORWARD, .from = "f"});
    cr_assert(strstr(ramet_call_error(ann)->message, "1 entry of its own"));
    rewind_to("s", "b");
    merged("s", &(ramet_merge_in){.mode = RAMET_FAST_FORWARD, .from = "f"});
    cr_assert_str_eq(ids("s"), "a b c d");
}

Test(merge, what_has_nothing_new_is_refused)
{
    forked();
    fork_at("s", NULL, "same");
    static const ramet_merge_mode modes[] = {RAMET_FAST_FORWARD, RAMET_SPLICE, RAMET_LAND};
    for (size_t i = 0; i < 3; i++) {
        ramet_merge_in in = {.mode = modes[i], .text = modes[i] == RAMET_LAND ? "x" : NULL};
        in.from = "same";
        not_merged(T.call, RAMET_MERGE_REFUSED, "from", "s", &in);
        in.from = "s";
        not_merged(T.call, RAMET_MERGE_REFUSED, "from", "s", &in);
        not_merged(T.call, RAMET_MERGE_REFUSED, "from", "f", &in);
    }
    make("empty");
    not_merged(T.call, RAMET_MERGE_REFUSED, "from", "s",
               &(ramet_merge_in){.mode = RAMET_LAND, .from = "empty", .text = "x"});
}

Test(merge, an_empty_session_takes_a_fork)
{
    make("s");
    fork_at("s", NULL, "f");
    say("f", "a b");
    merged("s", &(ramet_merge_in){.mode = RAMET_FAST_FORWARD, .from = "f"});
    cr_assert_str_eq(ids("s"), "a b");
    ok(ramet_undo(T.call, "s", NULL, &s_out));
    merged("s", &(ramet_merge_in){.mode = RAMET_SPLICE, .from = "f"});
    cr_assert_str_eq(texts("s"), "text of a|text of b");
    sound();
}

Test(merge, a_branch_of_the_session_itself)
{
    make("s");
    say("s", "a b c");
    int64_t old = get("s")->head.branch;
    rewind_to("s", "a");
    merged("s", &(ramet_merge_in){.mode = RAMET_FAST_FORWARD, .from = "s", .from_branch = old});
    cr_assert_str_eq(ids("s"), "a b c");
    cr_assert_null(get("s")->merged_into);
    ok(ramet_undo(T.call, "s", NULL, &s_out));
    say("s", "x");
    merged("s", &(ramet_merge_in){.mode = RAMET_SPLICE, .from = "s", .from_branch = old});
    cr_assert_str_eq(texts("s"), "text of a|text of x|text of b|text of c");
    sound();
}

/* ---- copies */

Test(merge, a_splice_copies_all_but_the_usage)
{
    forked();
    ramet_usage used = {.input = 7, .cost = 9};
    ramet_entry_in rich[] = {{.id = "q",
                              .role = RAMET_USER,
                              .text = "q",
                              .author = "bob",
                              .turn_id = "turn-1",
                              .channel = "notes"},
                             {.id = "r",
                              .role = RAMET_ASSISTANT,
                              .parts = "[{\"type\":\"text\",\"text\":\"x\"},{\"type\":\"data\","
                                       "\"data\":1.50}]",
                              .format = "a2a",
                              .body = "{\"b\": 1.0}",
                              .turn_id = "turn-1",
                              .state_delta = "{\"k\":1}",
                              .usage = &used}};
    ramet_append_out a;
    ok(ramet_append(T.call, "f", &(ramet_append_in){.entries = rich, .n = 2}, &a));
    say("s", "x");
    merged("s", &(ramet_merge_in){.mode = RAMET_SPLICE, .from = "f"});
    cr_assert_eq(out.count, 4);
    cr_assert_eq(out.n, 4);
    cr_assert_str_eq(texts("s"), "text of a|text of b|text of x|text of c|text of d|q|x");
    ramet_entry *q = entry_at("s", 5), *r = entry_at("s", 6);
    cr_assert_str_neq(q->id, "q");
    cr_assert_str_eq(q->author, "bob");
    cr_assert_str_eq(q->channel, "notes");
    cr_assert_str_eq(r->format, "a2a");
    cr_assert_str_eq(r->body, "{\"b\": 1.0}");
    cr_assert_str_eq(r->parts, rich[1].parts);
    cr_assert_str_eq(r->state_delta, "{\"k\":1}");
    cr_assert_null(r->usage);
    cr_assert_eq(r->created, T.now);
    cr_assert_str_neq(r->turn_id, "turn-1");
    cr_assert_str_eq(r->turn_id, q->turn_id, "one turn stays one");
    cr_assert(r->copied && r->n_origins == 1);
    cr_assert_str_eq(r->origins[0].session, "f");
    cr_assert_str_eq(r->origins[0].entry_id, "r");
    cr_assert(!entry_at("s", 2)->copied);
    const char *state;
    ok(ramet_state(T.call, "s", NULL, &state));
    cr_assert_str_eq(state, "{\"k\":1}");
    ramet_usage_out usage;
    ok(ramet_usage_get(T.call, "s", &usage));
    cr_assert_eq(usage.path.input, 0);
    cr_assert_eq(usage.tree.input, 7);
    cr_assert_str_eq(get("f")->merged_into, "s");
    cr_assert_str_eq(ids("f"), "a b c d q r");
    sound();
}

Test(merge, who_said_nothing_in_his_name_is_not_the_merger)
{
    forked();
    put("f", &(ramet_entry_in){.id = "anon", .role = RAMET_USER, .text = "anon"});
    ramet_call *ann = as("ann");
    ok_for(ann, ramet_merge(ann, "s", &(ramet_merge_in){.mode = RAMET_SPLICE, .from = "f"}, &out));
    cr_assert_null(entry_at("s", 4)->author);
}

Test(merge, picks_come_in_the_order_they_are_named)
{
    forked();
    make("other");
    fork_at("s", "a", "g");
    say("g", "x y");
    int64_t old = get("g")->head.branch;
    rewind_to("g", "a");
    ramet_merge_pick picks[] = {
        {"f", 0, "d"}, {"g", old, "y"}, {NULL, 0, "c"}, {"f", 0, "d"}, {"s", 0, "a"}};
    merged("s", &(ramet_merge_in){.mode = RAMET_PICK, .from = "f", .picks = picks, .n_picks = 5});
    cr_assert_eq(out.count, 4);
    cr_assert_str_eq(texts("s"), "text of a|text of b|text of d|text of y|text of c|text of a");
    cr_assert_str_eq(origins("s", entry_at("s", 3)->id), "g/y");
    cr_assert_null(get("f")->merged_into, "picking is no merge of the whole");
    not_merged(T.call, RAMET_ENTRY_NOT_FOUND, "entries[1].entry_id", "s",
               &(ramet_merge_in){.mode = RAMET_PICK,
                                 .picks = (ramet_merge_pick[]){{"f", 0, "d"}, {"g", 0, "y"}},
                                 .n_picks = 2});
    not_merged(T.call, RAMET_SESSION_NOT_FOUND, "entries[0].session_id", "s",
               &(ramet_merge_in){
                   .mode = RAMET_PICK, .picks = &(ramet_merge_pick){"none", 0, "d"}, .n_picks = 1});
    sound();
}

/* ---- land */

Test(merge, land_appends_one_summary)
{
    forked();
    say("s", "x");
    ramet_call *ann = as("ann");
    ok_for(ann, ramet_merge(ann, "s",
                            &(ramet_merge_in){.mode = RAMET_LAND, .from = "f", .text = "in short"},
                            &out));
    cr_assert_eq(out.count, 1);
    ramet_entry *e = entry_at("s", 3);
    cr_assert_str_eq(e->text, "in short");
    cr_assert_eq(e->role, RAMET_USER);
    cr_assert_str_eq(e->author, "ann");
    cr_assert_str_eq(origins("s", e->id), "f/d");
    cr_assert_eq(sql_number("SELECT span FROM copied"), 2);
    cr_assert_str_eq(get("f")->merged_into, "s");
    not_merged(T.call, RAMET_INVALID, "text", "s",
               &(ramet_merge_in){.mode = RAMET_LAND, .from = "f"});
    not_merged(T.call, RAMET_INVALID, "text", "s",
               &(ramet_merge_in){.mode = RAMET_LAND, .from = "f", .text = ""});
    sound();
}

Test(merge, from_another_tree_a_text_alone_is_landed)
{
    forked();
    make("o");
    say("o", "far");
    static const ramet_merge_mode modes[] = {RAMET_FAST_FORWARD, RAMET_SPLICE};
    for (size_t i = 0; i < 2; i++)
        not_merged(T.call, RAMET_MERGE_REFUSED, "from", "s",
                   &(ramet_merge_in){.mode = modes[i], .from = "o"});
    not_merged(T.call, RAMET_MERGE_REFUSED, "entries[0].session_id", "s",
               &(ramet_merge_in){
                   .mode = RAMET_PICK, .picks = &(ramet_merge_pick){"o", 0, "far"}, .n_picks = 1});
    not_merged(
        T.call, RAMET_MERGE_REFUSED, "text", "s",
        &(ramet_merge_in){.mode = RAMET_LAND, .from = "o", .text = "by an agent", .written = true});
    merged("s", &(ramet_merge_in){.mode = RAMET_LAND, .from = "o", .text = "from afar"});
    const char *copy = entry_at("s", 2)->id;
    cr_assert_str_eq(origins("s", copy), "o/far");
    cr_assert_null(get("o")->merged_into, "another tree");
    cr_assert_eq(went("o", "far"), 1);
    /* bob is a member of one of the two trees alone. */
    join("s", "bob", RAMET_READER);
    cr_assert_str_eq(ends_as(as("bob"), false, "s", copy), "");
    join("o", "bob", RAMET_READER);
    cr_assert_str_eq(ends_as(as("bob"), false, "s", copy), "o/far");
    sound();
}

Test(merge, by_a_share_link_a_text_alone_is_landed)
{
    link_stage();
    make("mine");
    const char *token = link_make("s", false, 0)->token;
    join("mine", "eve", RAMET_WRITER);
    ramet_call *eve = as("eve");
    ramet_merge_in in = {.mode = RAMET_LAND, .share = token, .text = "seen"};
    ok_for(eve, ramet_merge(eve, "mine", &in, &out));
    const char *copy = entry_at("mine", 0)->id;
    cr_assert_str_eq(ends_as(eve, false, "mine", copy), "", "the link was for the merge");
    ramet_call *held = as("eve");
    ok_for(held, ramet_call_share(held, token, NULL));
    cr_assert_str_eq(ends_as(held, false, "mine", copy), "s/b");
    in.mode = RAMET_SPLICE;
    in.text = NULL;
    not_merged(eve, RAMET_MERGE_REFUSED, "from", "mine", &in);
    in.share = "rs_none";
    not_merged(eve, RAMET_SHARE_NOT_FOUND, NULL, "mine", &in);
}

Test(merge, every_entry_that_a_summary_stands_for_leads_to_it)
{
    forked();
    rewind_to("f", "c");
    say("f", "g h");
    ramet_merge_in in = {.mode = RAMET_LAND, .from = "f", .text = "in short"};
    merged("s", &in);
    const char *id = entry_at("s", 2)->id;
    cr_assert_str_eq(origins("s", id), "f/h", "the last one stands for all");
    for (const char *each = "cgh"; *each; each++) {
        char name[2] = {*each, 0}, want[300];
        snprintf(want, sizeof want, "s/%s", id);
        cr_assert_str_eq(ends_as(T.call, true, "f", name), want);
    }
    cr_assert_eq(went("f", "b"), 0, "both have it");
    sound();
}

/* ---- what stands in the way */

Test(merge, a_running_turn_stands_in_the_way)
{
    forked();
    turn_start("s", &(ramet_turn_in){.id = "t1", MESSAGE("m")});
    ramet_merge_in in = {.mode = RAMET_SPLICE, .from = "f"};
    ramet_call *ann = as("ann");
    not_merged(ann, RAMET_TURN_RUNNING_ALREADY, "session", "s", &in);
    cr_assert_str_eq(ramet_call_error(ann)->subject, "t1");
    in.dry_run = true;
    not_merged(T.call, RAMET_TURN_RUNNING_ALREADY, "session", "s", &in);
    turn_stop("t1", RAMET_TURN_DONE);
    in.dry_run = false;
    merged("s", &in);
    /* A turn of the source is no obstacle. */
    turn_start("f", &(ramet_turn_in){.id = "t2", MESSAGE("n")});
    merged("s", &in);
}

/* Ends the turn while the merge waits for its end. */
static void *end_turn(void *arg)
{
    ramet_call *c = ramet_call_new(T.store, NULL, NULL);
    ramet_append_out a;
    ramet_entry_in late = {.id = "late", .role = RAMET_USER, .text = "late"};
    (void)arg;
    while (!atomic_load(&T.store->idle_waiting))
        sched_yield();
    ramet_append(c, "f", &(ramet_append_in){.entries = &late, .n = 1}, &a);
    ramet_turn_end(c, "t1", RAMET_TURN_DONE, NULL, NULL, 0, &a);
    ramet_call_free(c);
    return NULL;
}

Test(merge, when_idle_waits_for_the_end_of_the_turn)
{
    forked();
    turn_start("s", &(ramet_turn_in){.id = "t1", MESSAGE("m")});
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, end_turn, NULL), 0);
    ramet_merge_in in = {.mode = RAMET_SPLICE, .from = "f", .when_idle = true};
    ok(ramet_merge(T.call, "s", &in, &out));
    pthread_join(thread, NULL);
    cr_assert_eq(out.count, 3, "the source as it is by then");
    cr_assert_str_eq(texts("s"), "text of a|text of b|text of m|text of c|text of d|late");
}

static bool stop_now(void *arg)
{
    return ++*(int *)arg > 2;
}

Test(merge, a_wait_can_be_ended)
{
    forked();
    turn_start("s", &(ramet_turn_in){.id = "t1", MESSAGE("m")});
    int asked = 0;
    ramet_call *c = as("ann");
    ramet_merge_in in = {.mode = RAMET_SPLICE, .from = "f", .when_idle = true};
    ramet_call_stop_when(c, stop_now, &asked);
    cr_assert_neq(ramet_merge(c, "s", &in, &out), RAMET_OK);
    cr_assert_str_eq(ids("s"), "a b m");
    ramet_options opt = scratch_options();
    opt.idle_waiters = -1;
    scratch_reopen(&opt);
    not_merged(T.call, RAMET_TOO_BUSY, "when", "s", &in);
}

Test(merge, expected_head_is_that_of_the_target)
{
    forked();
    ramet_merge_in in = {.mode = RAMET_SPLICE, .from = "f", .expected_head = get("f")->head.hash};
    not_merged(T.call, RAMET_HEAD_MOVED, "expected_head", "s", &in);
    in.expected_head = get("s")->head.hash;
    merged("s", &in);
}

Test(merge, a_dry_run_shows_and_changes_nothing)
{
    forked();
    say("s", "x");
    ramet_merge_in in = {.mode = RAMET_SPLICE, .from = "f", .dry_run = true};
    const char *before = mark();
    ok(ramet_merge(T.call, "s", &in, &out));
    cr_assert_str_eq(mark(), before);
    cr_assert_eq(out.n, 2);
    cr_assert_eq(out.count, 2);
    cr_assert_eq(out.entries[0].position, 3);
    cr_assert_str_eq(out.entries[0].text, "text of c");
    cr_assert_str_eq(out.entries[0].origins[0].session, "f");
    cr_assert_str_eq(out.session->head.entry_id, "x");
    rewind_to("s", "b");
    in.mode = RAMET_FAST_FORWARD;
    ok(ramet_merge(T.call, "s", &in, &out));
    cr_assert_eq(out.n, 2);
    cr_assert_str_eq(out.entries[0].id, "c");
    cr_assert_eq(out.entries[0].n_origins, 0);
    cr_assert_str_eq(ids("s"), "a b");
}

Test(merge, limits)
{
    ramet_options opt = scratch_options();
    opt.limits.merge = 3;
    opt.limits.merge_bytes = 200;
    scratch_reopen(&opt);
    forked();
    say("f", "e");
    ramet_merge_in in = {.mode = RAMET_SPLICE, .from = "f"};
    merged("s", &in);
    ok(ramet_undo(T.call, "s", NULL, &s_out));
    answer("f", "g", "g");
    not_merged(T.call, RAMET_BATCH_TOO_LARGE, "entries", "s", &in);
    ramet_merge_pick picks[] = {{"f", 0, "c"}, {"f", 0, "d"}, {"f", 0, "e"}, {"f", 0, "g"}};
    ramet_merge_in some = {.mode = RAMET_PICK, .picks = picks, .n_picks = 4};
    not_merged(T.call, RAMET_BATCH_TOO_LARGE, "entries", "s", &some);
    char long_text[256];
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = 0;
    answer("f", "long", long_text);
    picks[0].entry_id = "long";
    some.n_picks = 1;
    not_merged(T.call, RAMET_TOO_LARGE, "entries", "s", &some);
    /* Nothing is copied there. */
    merged("s", &(ramet_merge_in){.mode = RAMET_FAST_FORWARD, .from = "f"});
}

Test(merge, what_does_not_fit_together)
{
    forked();
    ramet_merge_pick pick = {"f", 0, "c"}, bare = {"f", 0, NULL};
    const struct {
        const char *field;
        ramet_merge_in in;
    } odd[] = {{"mode", {.from = "f"}},
               {"mode", {.mode = RAMET_LAND + 1, .from = "f"}},
               {"from", {.mode = RAMET_SPLICE}},
               {"entries", {.mode = RAMET_PICK, .from = "f"}},
               {"entries", {.mode = RAMET_SPLICE, .from = "f", .picks = &pick, .n_picks = 1}},
               {"entries", {.mode = RAMET_PICK, .picks = &bare, .n_picks = 1}},
               {"text", {.mode = RAMET_SPLICE, .from = "f", .text = "x"}},
               {"from", {.mode = RAMET_LAND, .from = "f", .share = "x", .text = "x"}}};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        not_merged(T.call, RAMET_INVALID, odd[i].field, "s", &odd[i].in);
    not_merged(T.call, RAMET_BRANCH_NOT_FOUND, "from", "s",
               &(ramet_merge_in){.mode = RAMET_SPLICE, .from = "f", .from_branch = INT64_MAX});
    cr_assert_eq(ramet_merge_mode_parse("land"), RAMET_LAND);
    cr_assert_eq(ramet_merge_mode_parse("octopus"), -1);
}

/* ---- who may, and who sees */

Test(merge, it_needs_writer_in_the_target_and_reader_in_the_source)
{
    forked();
    join("s", "bob", RAMET_READER);
    ramet_call *bob = as("bob"), *eve = as("eve");
    ramet_merge_in in = {.mode = RAMET_SPLICE, .from = "f"};
    not_merged(bob, RAMET_FORBIDDEN, "session", "s", &in);
    not_merged(eve, RAMET_HIDDEN, "session", "s", &in);
    make("mine");
    join("mine", "eve", RAMET_WRITER);
    in = (ramet_merge_in){.mode = RAMET_LAND, .from = "f", .text = "x"};
    not_merged(eve, RAMET_HIDDEN, "from", "mine", &in);
    /* A reader's private session takes what he may read; it leaves no mark on the source. */
    ramet_fork_in own = {.id = "b", .visibility = RAMET_PRIVATE};
    ok_for(bob, ramet_fork(bob, "s", &own, &s_out, NULL));
    in = (ramet_merge_in){.mode = RAMET_FAST_FORWARD, .from = "f"};
    ok_for(bob, ramet_merge(bob, "b", &in, &out));
    cr_assert_null(get("f")->merged_into);
}

Test(merge, private_sessions_of_others_are_not_named)
{
    forked();
    join("s", "bob", RAMET_WRITER);
    ramet_call *ann = as("ann"), *bob = as("bob");
    ramet_fork_in own = {.id = "secret", .visibility = RAMET_PRIVATE};
    ok_for(bob, ramet_fork(bob, "s", &own, &s_out, NULL));
    ramet_entry_in e = {.id = "hush", .role = RAMET_USER, .text = "hush"};
    ramet_append_out a;
    ok_for(bob, ramet_append(bob, "secret", &(ramet_append_in){.entries = &e, .n = 1}, &a));
    not_merged(ann, RAMET_HIDDEN, "from", "s",
               &(ramet_merge_in){.mode = RAMET_SPLICE, .from = "secret"});
    ok_for(bob,
           ramet_merge(bob, "s", &(ramet_merge_in){.mode = RAMET_SPLICE, .from = "secret"}, &out));
    const char *copy = entry_at("s", 2)->id;
    cr_assert_str_eq(ends_as(bob, false, "s", copy), "secret/hush");
    cr_assert_str_eq(ends_as(ann, false, "s", copy), "");
    ramet_page page;
    ok_for(ann, ramet_read(ann, "s", &(ramet_read_in){0}, &page));
    cr_assert(page.entries[2].copied && !page.entries[2].n_origins);
    /* And the other way: where it went. */
    ramet_merge_pick pick = {"s", 0, "a"};
    ramet_merge_in in = {.mode = RAMET_PICK, .picks = &pick, .n_picks = 1};
    ok_for(bob, ramet_merge(bob, "secret", &in, &out));
    cr_assert_str_eq(ends_as(ann, true, "s", "a"), "");
    cr_assert_neq(*ends_as(bob, true, "s", "a"), 0);
}

Test(merge, a_writing_link_may_land_in_its_session)
{
    link_stage();
    ramet_call *c = link_hold("eve", link_make("s", true, 0));
    make("mine");
    join("mine", "eve", RAMET_READER);
    say("mine", "z");
    ok_for(c,
           ramet_merge(c, "s", &(ramet_merge_in){.mode = RAMET_LAND, .from = "mine", .text = "z"},
                       &out));
    ramet_call *r = link_hold("eve", link_make("s", false, 0));
    not_merged(r, RAMET_FORBIDDEN, "session", "s",
               &(ramet_merge_in){.mode = RAMET_LAND, .from = "mine", .text = "z"});
}

/* ---- both ways, and for how long */

Test(merge, where_it_came_from_and_where_it_went)
{
    forked();
    fork_at("s", NULL, "g");
    ramet_merge_pick pick = {"f", 0, "c"};
    ramet_merge_in in = {.mode = RAMET_PICK, .picks = &pick, .n_picks = 1};
    merged("s", &in);
    merged("g", &in);
    const char *in_s = entry_at("s", 2)->id;
    cr_assert_str_eq(origins("s", in_s), "f/c");
    cr_assert_str_eq(origins("f", "c"), "");
    cr_assert_eq(went("f", "c"), 2);
    cr_assert_eq(went("f", "d"), 0);
    /* A fork shares the copy; a copy of the copy came from the copy. */
    fork_at("s", NULL, "k");
    cr_assert_str_eq(origins("k", in_s), "f/c");
    merged("g", &(ramet_merge_in){
                    .mode = RAMET_PICK, .picks = &(ramet_merge_pick){"k", 0, in_s}, .n_picks = 1});
    cr_assert_eq(went("f", "c"), 2);
    cr_assert_eq(went("s", in_s), 1);
    /* Gone, and back. */
    drop("f");
    cr_assert_str_eq(origins("s", in_s), "");
    ok(ramet_session_restore(T.call, "f", false, &s_out));
    cr_assert_str_eq(origins("s", in_s), "f/c");
    drop("g");
    cr_assert_eq(went("f", "c"), 1);
    refused(RAMET_ENTRY_NOT_FOUND, "entry_id",
            ramet_origins(T.call, "s", 0, "none", &(ramet_entry_ref *){0}, &(size_t){0}));
    sound();
}

Test(merge, gc_takes_the_rows_of_copies_that_go)
{
    forked();
    fork_at("s", NULL, "g");
    merged("g", &(ramet_merge_in){.mode = RAMET_SPLICE, .from = "f"});
    merged("s", &(ramet_merge_in){.mode = RAMET_FAST_FORWARD, .from = "f"});
    cr_assert_eq(sql_number("SELECT count(*) FROM copied"), 2);
    drop("g");
    drop("f");
    tick(8 * DAY);
    ramet_gc_out gone;
    ok(ramet_gc(T.call, false, NULL, NULL, &gone));
    cr_assert_eq(sql_number("SELECT count(*) FROM copied"), 0);
    cr_assert_str_eq(ids("s"), "a b c d", "what was forwarded to is shared");
    sound();
}

Test(merge, a_copy_outlives_its_origin)
{
    forked();
    merged("s", &(ramet_merge_in){.mode = RAMET_SPLICE, .from = "f"});
    const char *copy = entry_at("s", 2)->id;
    drop("f");
    tick(8 * DAY);
    ramet_gc_out gone;
    ok(ramet_gc(T.call, false, NULL, NULL, &gone));
    cr_assert_str_eq(origins("s", copy), "");
    cr_assert_str_eq(texts("s"), "text of a|text of b|text of c|text of d");
    sound();
}

Test(merge, attachments_come_along)
{
    forked();
    const char *file = upload(T.call, "content");
    attach("f", "with", file);
    merged("s", &(ramet_merge_in){.mode = RAMET_SPLICE, .from = "f"});
    drop("f");
    tick(8 * DAY);
    ramet_gc_out gone;
    ok(ramet_gc(T.call, false, NULL, NULL, &gone));
    cr_assert_str_eq(content(T.call, file), "content");
    sound();
}

Test(merge, large_entries_are_copied)
{
    forked();
    char *large = malloc(200001);
    for (int i = 0; i < 200000; i++)
        large[i] = (char)('a' + i * 7 % 26);
    large[200000] = 0;
    answer("f", "large", large);
    merged("s", &(ramet_merge_in){.mode = RAMET_SPLICE, .from = "f"});
    cr_assert_str_eq(entry_at("s", 4)->text, large);
    free(large);
    sound();
}

Test(merge, the_adk_log_stays_as_it_is)
{
    make("s");
    say_both("s", 2);
    fork_at("s", NULL, "f");
    say("f", "c");
    ramet_entry_in raw = {.id = "raw", .role = RAMET_TOOL, .text = "raw"};
    ramet_append_out a;
    ok(ramet_append(T.call, "f", &(ramet_append_in){.entries = &raw, .n = 1, .log = RAMET_LOG_ADK},
                    &a));
    ramet_head before = get("s")->adk;
    merged("s", &(ramet_merge_in){.mode = RAMET_FAST_FORWARD, .from = "f"});
    ramet_head after = get("s")->adk;
    cr_assert_str_eq(after.hash, before.hash);
    cr_assert_neq(after.branch, before.branch);
    ok(ramet_undo(T.call, "s", NULL, &s_out));
    cr_assert_eq(get("s")->adk.branch, before.branch);
    sound();
}

static void answer_keep(void *arg, int *status, const char **bytes, size_t *n)
{
    (void)arg;
    *status = 200;
    *bytes = "x";
    *n = 1;
}

Test(merge, the_same_request_twice_is_done_once)
{
    forked();
    ramet_once once = {.scope = "x", .key = "k", .digest = {1}, .answer = answer_keep};
    ramet_merge_in in = {.mode = RAMET_SPLICE, .from = "f"};
    ramet_call_once(T.call, &once);
    ok(ramet_merge(T.call, "s", &in, &out));
    ramet_call_once(T.call, &once);
    ok(ramet_merge(T.call, "s", &in, &out));
    cr_assert(once.repeated);
    cr_assert_eq(get("s")->head.length, 4);
}
