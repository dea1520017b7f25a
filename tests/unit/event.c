/* SPDX-License-Identifier: Apache-2.0
 *
 * event.c: what happened, in order of commit, for who may see it; waiting for more; forgetting.
 */
#include "help.h"

#include "base/util.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(event, .init = scratch_open, .fini = scratch_close);

static ramet_events_out read_as(ramet_call *c, const ramet_events_in *in)
{
    ramet_events_out out;
    ok_for(c, ramet_events(c, in, &out));
    return out;
}

static ramet_events_out read_after(int64_t after)
{
    return read_as(T.call, &(ramet_events_in){.after = after});
}

/* The kinds as short words with their sessions: "created:s appended:s". */
static const char *told(const ramet_events_out *out)
{
    static char text[4096];
    size_t n = 0;
    text[0] = 0;
    for (size_t i = 0; i < out->n; i++) {
        const char *name = ramet_event_name(out->items[i].kind);
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s:%s", n ? " " : "",
                              strchr(name, '.') + 1, out->items[i].session);
    }
    return text;
}

static const char *told_to(const char *user, int64_t after)
{
    ramet_events_out out = read_as(as(user), &(ramet_events_in){.after = after});
    return told(&out);
}

/* ------------------------------------------------------------------- reading */

Test(event, every_kind_has_its_word)
{
    cr_assert_str_eq(ramet_event_name(RAMET_EVENT_CREATED), "session.created");
    cr_assert_str_eq(ramet_event_name(RAMET_EVENT_MERGED), "session.merged");
    cr_assert_str_eq(ramet_event_name(RAMET_EVENT_RESTORED), "session.restored");
    cr_assert_str_eq(ramet_event_name(RAMET_EVENT_APPENDED), "entry.appended");
    cr_assert_str_eq(ramet_event_name((ramet_event_kind)77), "unknown");
}

Test(event, every_change_is_told)
{
    ramet_session *s;
    ramet_append_out added;
    ramet_tags tags;
    ramet_sync_out synced;
    ramet_delete_out gone;
    make("s");
    say("s", "a b");
    fork_at("s", "a", "f");
    rewind_to("s", "a");
    ok(ramet_undo(T.call, "s", NULL, &s));
    ok(ramet_redo(T.call, "s", NULL, &s));
    ok(ramet_switch(T.call, "s", 1, NULL, &s));
    ramet_events_out out = read_after(0);
    cr_assert_str_eq(told(&out), "created:s appended:s appended:s forked:f rewound:s rewound:s "
                                 "rewound:s switched:s");
    int64_t at = out.next;
    ok(ramet_edit(T.call, "s", "b", &(ramet_entry_in){.text = "B"}, NULL, &added));
    const char *id = added.entries[0].id;
    ok(ramet_regenerate(T.call, "s", id, NULL, 0, NULL, &added));
    ramet_entry_in list[] = {{.id = "a", .role = RAMET_USER, .text = "text of a"},
                             {.id = "c", .role = RAMET_USER, .text = "c"}};
    ok(ramet_sync(T.call, "s", list, 2, NULL, &synced));
    ok(ramet_sync(T.call, "s", list, 1, NULL, &synced));
    out = read_after(at);
    cr_assert_str_eq(told(&out), "rewound:s appended:s rewound:s appended:s rewound:s");
    at = out.next;
    bool yes = true;
    ok(ramet_session_update(T.call, "s", &(ramet_session_patch){.archived = &yes}, &s));
    ok(ramet_session_update(T.call, "f", &(ramet_session_patch){.merged_into = "s"}, &s));
    ok(ramet_session_promote(T.call, "f", &s));
    ok(ramet_tags_set(T.call, "s", (const char *[]){"x"}, 1, &tags));
    ok(ramet_tags_set(T.call, "s", (const char *[]){"x"}, 1, &tags)); /* changes nothing */
    join("s", "bob", RAMET_READER);
    ok(ramet_member_remove(T.call, "s", "bob"));
    out = read_after(at);
    cr_assert_str_eq(told(&out), "updated:s merged:f updated:f updated:s updated:s updated:s");
    at = out.next;
    ok(ramet_session_delete(T.call, "s", true, false, &gone));
    ok(ramet_session_restore(T.call, "s", true, &s));
    out = read_after(at);
    cr_assert_str_eq(told(&out), "deleted:s deleted:f restored:s restored:f");
    cr_assert_eq(out.next, ramet_event_last(T.store));
}

Test(event, an_event_says_what_and_where)
{
    ramet_session *s = make("s");
    say("s", "a");
    ramet_entry_in in[] = {{.id = "b", .role = RAMET_USER, .text = "hello"},
                           {.id = "c", .role = RAMET_ASSISTANT, .text = "there"}};
    ramet_append_out added;
    ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = in, .n = 2}, &added));
    int64_t branch = rewind_to("s", "b");
    ramet_events_out out = read_after(0);
    cr_assert_eq(out.n, 4);
    for (size_t i = 0; i < out.n; i++) {
        cr_assert_eq(out.items[i].number, (int64_t)i + 1);
        cr_assert_str_eq(out.items[i].session, "s");
        cr_assert_str_eq(out.items[i].tree, s->tree_id);
        cr_assert_gt(out.items[i].at, T0 - DAY);
    }
    cr_assert_eq(out.items[0].branch, s->head.branch);
    cr_assert_eq(out.items[3].branch, branch);
    const ramet_event *e = &out.items[2];
    cr_assert_eq(e->branch, s->head.branch);
    cr_assert_eq(e->n, 2);
    cr_assert_not(e->more);
    cr_assert_str_eq(e->entries[0].id, "b");
    cr_assert_eq(e->entries[1].position, 2);
    cr_assert_str_eq(e->entries[1].text, "there");
    cr_assert_str_eq(e->entries[1].hash, added.entries[1].hash);
    out = read_as(T.call, &(ramet_events_in){.bare = true});
    cr_assert_eq(out.n, 4);
    cr_assert_eq(out.items[2].n, 0);
    cr_assert_null(out.items[2].entries);
}

Test(event, pages_follow_each_other)
{
    make("s");
    for (int i = 0; i < 20; i++) {
        char id[8];
        snprintf(id, sizeof id, "e%d", i);
        say("s", id);
    }
    int64_t after = 0, seen = 0;
    for (;;) {
        ramet_events_out out = read_as(T.call, &(ramet_events_in){.after = after, .limit = 6});
        if (!out.n)
            break;
        for (size_t i = 0; i < out.n; i++)
            cr_assert_eq(out.items[i].number, ++seen);
        cr_assert_eq(out.next, seen);
        after = out.next;
    }
    cr_assert_eq(seen, 21);
}

Test(event, many_entries_are_cut_and_said_so)
{
    enum { N = 1500 };
    static ramet_entry_in in[N];
    ramet_sync_out synced;
    make("s");
    for (int i = 0; i < N; i++)
        in[i] = (ramet_entry_in){.role = RAMET_USER, .text = "x"};
    ok(ramet_sync(T.call, "s", in, N, NULL, &synced));
    ramet_events_out out = read_after(1);
    cr_assert_eq(out.n, 1);
    cr_assert_eq(out.items[0].n, 1000);
    cr_assert(out.items[0].more);
}

Test(event, filters_by_session_and_tree)
{
    ramet_session *s = make("s");
    make("other");
    say("s", "a");
    say("other", "b");
    fork_at("s", "a", "f");
    ramet_events_out out = read_as(T.call, &(ramet_events_in){.session = "s"});
    cr_assert_str_eq(told(&out), "created:s appended:s");
    cr_assert_eq(out.next, 5, "it goes past what was filtered out");
    out = read_as(T.call, &(ramet_events_in){.tree = s->tree_id});
    cr_assert_str_eq(told(&out), "created:s appended:s forked:f");
    out = read_as(T.call, &(ramet_events_in){.tree = s->tree_id, .session = "other"});
    cr_assert_eq(out.n, 0);
    cr_assert_eq(out.next, 5);
    out = read_as(T.call, &(ramet_events_in){.session = "nobody"});
    cr_assert_eq(out.n, 0);
    cr_assert_eq(out.next, 5);
}

Test(event, bad_arguments_are_refused)
{
    ramet_events_out out;
    refused(RAMET_INVALID, "after", ramet_events(T.call, &(ramet_events_in){.after = -1}, &out));
    refused(RAMET_INVALID, "limit", ramet_events(T.call, &(ramet_events_in){.limit = 1001}, &out));
    refused(RAMET_BAD_ID, "session", ramet_events(T.call, &(ramet_events_in){.session = ""}, &out));
    refused(RAMET_INVALID, "keep", ramet_events_prune(T.call, 0, NULL));
    ramet_call *c = as("ann");
    refused_for(c, RAMET_FORBIDDEN, NULL, ramet_events_prune(c, 1, NULL));
}

/* --------------------------------------------------------------- who sees what */

Test(event, only_members_see_and_private_ones_stay_hidden)
{
    ramet_session *s;
    make("s");
    say("s", "a");
    join("s", "bob", RAMET_READER);
    ramet_call *bob = as("bob");
    ok_for(bob, ramet_fork(bob, "s", &(ramet_fork_in){.id = "own", .visibility = RAMET_PRIVATE}, &s,
                           NULL));
    cr_assert_str_eq(told_to("ann", 0), "created:s appended:s updated:s");
    cr_assert_str_eq(told_to("bob", 0), "created:s appended:s updated:s forked:own");
    cr_assert_str_eq(told_to("eve", 0), "");
    ramet_events_out all = read_after(0);
    cr_assert_str_eq(told(&all), "created:s appended:s updated:s forked:own");
    ramet_call *ann = as("ann"), *eve = as("eve");
    for (size_t i = 0; i < all.n; i++) {
        cr_assert(ramet_event_seen(T.call, &all.items[i]));
        cr_assert(ramet_event_seen(bob, &all.items[i]));
        cr_assert_eq(ramet_event_seen(ann, &all.items[i]), i < 3);
        cr_assert_not(ramet_event_seen(eve, &all.items[i]));
    }
    /* What was hidden counts in `next`, so that nobody asks for it again and again. */
    ramet_events_out out = read_as(eve, &(ramet_events_in){0});
    cr_assert_eq(out.next, ramet_event_last(T.store));
    ok(ramet_member_remove(T.call, "s", "bob"));
    cr_assert_str_eq(told_to("bob", 0), "forked:own updated:s", "his own removal is the last");
    all = read_after(all.next);
    cr_assert_str_eq(all.items[0].member, "bob");
    cr_assert(ramet_event_seen(bob, &all.items[0]));
    cr_assert_not(ramet_event_seen(eve, &all.items[0]));
    say("s", "b");
    cr_assert_str_eq(told_to("bob", 0), "forked:own updated:s");
}

Test(event, the_end_of_a_session_is_seen_by_who_could_see_it)
{
    make("s");
    say("s", "a");
    join("s", "bob", RAMET_READER);
    int64_t before = ramet_event_last(T.store);
    drop("s");
    cr_assert_str_eq(told_to("bob", before), "deleted:s");
    cr_assert_str_eq(told_to("bob", 0), "deleted:s");
    cr_assert_str_eq(told_to("eve", 0), "");
    ramet_events_out out = read_after(before);
    cr_assert(ramet_event_seen(as("bob"), &out.items[0]));
    cr_assert_not(ramet_event_seen(as("eve"), &out.items[0]));
    ramet_session *s;
    ok(ramet_session_restore(T.call, "s", false, &s));
    cr_assert_str_eq(told_to("bob", 0), "created:s appended:s updated:s deleted:s restored:s");
    /* Gone for good: nobody can name it any more. */
    drop("s");
    tick(30 * DAY);
    ramet_gc_out gc;
    ok(ramet_gc(T.call, false, NULL, NULL, &gc));
    cr_assert_str_eq(told_to("bob", 0), "");
    cr_assert_not(ramet_event_seen(as("bob"), &out.items[0]));
}

Test(event, an_id_that_was_given_again_is_another_session)
{
    make("s");
    ramet_events_out out = read_after(0);
    ramet_event old = out.items[0];
    drop("s");
    tick(30 * DAY);
    ramet_gc_out gc;
    ok(ramet_gc(T.call, false, NULL, NULL, &gc));
    make("s");
    cr_assert_not(ramet_event_seen(as("ann"), &old));
    cr_assert_str_eq(told_to("ann", 0), "created:s");
}

Test(event, the_adk_log_is_not_told)
{
    make("s");
    ramet_append_out added;
    ramet_entry_in in = {.role = RAMET_ASSISTANT, .format = "adk", .body = "{\"secret\":1}"};
    ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = &in, .n = 1, .log = RAMET_LOG_ADK},
                    &added));
    say("s", "a");
    ramet_events_out out = read_after(0);
    cr_assert_str_eq(told(&out), "created:s appended:s");
    cr_assert_eq(out.items[1].number, 3);
}

Test(event, a_damaged_entry_does_not_end_the_stream)
{
    make("s");
    say("s", "a b");
    sql_run(T.path, "UPDATE entry SET text='other' WHERE id='a'");
    ramet_events_out out = read_after(0);
    cr_assert_str_eq(told(&out), "created:s appended:s appended:s");
    cr_assert_eq(out.items[1].n, 0);
    cr_assert(out.items[1].more, "the caller is sent to read it, and is told there");
    cr_assert_eq(out.items[2].n, 1);
    ramet_page page;
    refused(RAMET_DAMAGED, NULL, ramet_read(T.call, "s", &(ramet_read_in){0}, &page));
}

/* ------------------------------------------------------------------- waiting */

Test(event, numbers_go_on_after_a_restart)
{
    cr_assert_eq(ramet_event_last(T.store), 0);
    make("s");
    say("s", "a");
    cr_assert_eq(ramet_event_last(T.store), 2);
    scratch_reopen(NULL);
    cr_assert_eq(ramet_event_last(T.store), 2);
    say("s", "b");
    cr_assert_eq(ramet_event_wait(T.store, 2, 10000), 3);
}

typedef struct waiting {
    int64_t after, got, us;
    int ms;
} waiting;

static void *wait_run(void *arg)
{
    waiting *w = arg;
    int64_t begin = time_mono_us();
    w->got = ramet_event_wait(T.store, w->after, w->ms);
    w->us = time_mono_us() - begin;
    return NULL;
}

Test(event, a_write_of_this_process_wakes_at_once)
{
    enum { N = 8 };
    make("s");
    pthread_t threads[N];
    waiting w[N];
    for (int round = 0; round < 5; round++) {
        int64_t last = ramet_event_last(T.store);
        for (int i = 0; i < N; i++) {
            w[i] = (waiting){.after = last, .ms = 20000};
            pthread_create(&threads[i], NULL, wait_run, &w[i]);
        }
        usleep(30000);
        char id[16];
        snprintf(id, sizeof id, "e%d", round);
        int64_t begin = time_mono_us();
        say("s", id);
        for (int i = 0; i < N; i++) {
            pthread_join(threads[i], NULL);
            cr_assert_eq(w[i].got, last + 1);
        }
        cr_assert_lt(time_mono_us() - begin, 5 * SECOND);
    }
}

Test(event, a_wait_ends_at_its_time_or_when_woken)
{
    make("s");
    int64_t begin = time_mono_us();
    cr_assert_eq(ramet_event_wait(T.store, 1, 60), 1);
    cr_assert_geq(time_mono_us() - begin, 60000);
    cr_assert_eq(ramet_event_wait(T.store, 1, 0), 1);
    cr_assert_eq(ramet_event_wait(T.store, 0, 60000), 1, "there is one past it already");
    pthread_t thread;
    waiting w = {.after = 1, .ms = 60000};
    pthread_create(&thread, NULL, wait_run, &w);
    usleep(50000);
    ramet_event_wake(T.store);
    pthread_join(thread, NULL);
    cr_assert_eq(w.got, 1);
    cr_assert_lt(w.us, 20 * SECOND);
}

/* Opens the store anew, as another program would, and appends. */
static void write_elsewhere(const char *path, int entries, int gap_us)
{
    ramet *r;
    ramet_options opt = scratch_options();
    if (ramet_open(path, &opt, &r, NULL) != RAMET_OK)
        _exit(1);
    ramet_call *c = ramet_call_new(r, NULL, NULL);
    for (int i = 0; i < entries; i++) {
        ramet_entry_in in = {.role = RAMET_USER, .text = "from elsewhere"};
        ramet_append_out out;
        usleep((useconds_t)gap_us);
        if (ramet_append(c, "s", &(ramet_append_in){.entries = &in, .n = 1}, &out) != RAMET_OK)
            _exit(2);
    }
    ramet_call_free(c);
    ramet_close(r);
    _exit(0);
}

static void ended_well(pid_t child)
{
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the other process failed: %x",
              status);
}

Test(event, a_write_of_another_process_is_seen_within_a_second)
{
    enum { WRITES = 5 };
    make("s");
    /* Not forked with the store open: SQLite's locks do not go over a fork. */
    scratch_shut();
    pid_t child = fork();
    if (!child)
        write_elsewhere(T.path, WRITES, 300000);
    scratch_reopen(NULL);
    int64_t at = 1;
    while (at < 1 + WRITES) {
        int64_t begin = time_mono_us(), got = ramet_event_wait(T.store, at, 15000);
        cr_assert_gt(got, at, "nothing came from the other process");
        ramet_events_out out = read_after(at);
        cr_assert_eq(out.items[0].number, at + 1);
        cr_assert_str_eq(out.items[0].entries[0].text, "from elsewhere");
        cr_assert_lt(time_mono_us() - begin, 10 * SECOND);
        at = out.next;
    }
    ended_well(child);
}

Test(event, two_processes_share_one_row_of_numbers)
{
    enum { WRITES = 60 };
    make("s");
    scratch_shut();
    pid_t child = fork();
    if (!child)
        write_elsewhere(T.path, WRITES, 0);
    scratch_reopen(NULL);
    for (int i = 0; i < WRITES; i++) {
        char id[16];
        snprintf(id, sizeof id, "here%d", i);
        say("s", id);
    }
    ended_well(child);
    int64_t at = 0, position = 0;
    while (at < 1 + 2 * WRITES) {
        ramet_events_out out = read_as(T.call, &(ramet_events_in){.after = at, .limit = 7});
        cr_assert_gt(out.n, 0);
        for (size_t i = 0; i < out.n; i++) {
            cr_assert_eq(out.items[i].number, ++at);
            if (out.items[i].kind == RAMET_EVENT_APPENDED)
                cr_assert_eq(out.items[i].entries[0].position, position++);
        }
    }
    cr_assert_eq(position, 2 * WRITES);
}

/* ---------------------------------------------------------------- forgetting */

static void fill(int entries)
{
    static int n;
    for (int i = 0; i < entries; i++) {
        char id[16];
        snprintf(id, sizeof id, "word%d", n++);
        say("s", id);
    }
}

Test(event, forgetting_keeps_the_newest_and_says_what_is_lost)
{
    make("s");
    fill(30);
    int64_t removed;
    ok(ramet_events_prune(T.call, 10, &removed));
    cr_assert_eq(removed, 21);
    cr_assert_eq(sql_number("SELECT min(no) FROM event"), 22);
    ramet_events_out out = read_after(21);
    cr_assert_eq(out.n, 10);
    cr_assert_not(out.lost);
    out = read_after(20);
    cr_assert(out.lost);
    cr_assert_eq(out.n, 0);
    cr_assert_eq(out.next, 31);
    cr_assert(read_after(0).lost);
    out = read_after(32);
    cr_assert(out.lost, "a number of the future");
    cr_assert_eq(out.next, 31);
    out = read_after(31);
    cr_assert_not(out.lost);
    cr_assert_eq(out.n, 0);
    ok(ramet_events_prune(T.call, 1, &removed));
    cr_assert_eq(sql_number("SELECT count(*) FROM event"), 1);
    fill(1);
    cr_assert_eq(ramet_event_last(T.store), 32, "a number does not come twice");
    ok(ramet_events_prune(T.call, 100, &removed));
    cr_assert_eq(removed, 0);
}

Test(event, an_empty_store_has_nothing_to_tell_or_forget)
{
    int64_t removed = 7;
    ok(ramet_events_prune(T.call, 1, &removed));
    cr_assert_eq(removed, 0);
    ramet_events_out out = read_after(0);
    cr_assert_not(out.lost);
    cr_assert_eq(out.n, 0);
    cr_assert(read_after(1).lost);
}

static size_t hits(const char *query)
{
    ramet_hits out;
    ok(ramet_search(T.call, &(ramet_search_in){.query = query, .limit = 200}, &out));
    return out.n;
}

Test(event, what_search_has_not_seen_is_kept)
{
    int64_t removed;
    make("s");
    fill(10);
    cr_assert_eq(hits("text"), 10);
    fill(10);
    ok(ramet_events_prune(T.call, 1, &removed));
    cr_assert_eq(removed, 10, "the event that the index has seen last stays as well");
    cr_assert_eq(sql_number("SELECT min(no) FROM event"), 11);
    int64_t indexed;
    ok(ramet_search_update(T.call, false, &indexed));
    cr_assert_eq(indexed, 10, "only the new ones: nothing was made anew");
    cr_assert_eq(hits("text"), 20);
    ok(ramet_events_prune(T.call, 1, &removed));
    cr_assert_eq(removed, 10);
}

Test(event, an_index_made_after_forgetting_has_everything)
{
    int64_t removed, indexed;
    make("s");
    fill(25);
    ok(ramet_events_prune(T.call, 3, &removed));
    cr_assert_eq(removed, 23);
    cr_assert_eq(hits("text"), 25);
    fill(5);
    cr_assert_eq(hits("text"), 30);
    ok(ramet_search_update(T.call, true, &indexed));
    cr_assert_eq(indexed, 30);
    ok(ramet_events_prune(T.call, 1, &removed));
    cr_assert_eq(hits("text"), 30);
}

Test(event, a_gap_behind_the_index_makes_it_anew)
{
    make("s");
    fill(5);
    cr_assert_eq(hits("text"), 5);
    fill(5);
    /* As an index that was put back from an old copy finds it. */
    sql_run(T.path, "DELETE FROM event WHERE no<9");
    cr_assert_eq(hits("text"), 10);
}

Test(event, an_index_that_stopped_in_its_first_event_misses_nothing)
{
    enum { N = 9000 };
    static ramet_entry_in in[N];
    ramet_sync_out synced;
    cr_assert_eq(hits("needle"), 0);
    make("s");
    for (int i = 0; i < N; i++)
        in[i] = (ramet_entry_in){.role = RAMET_USER, .text = i == 4321 ? "needle" : "hay"};
    ok(ramet_sync(T.call, "s", in, N, NULL, &synced));
    say("s", "needle");
    char index[128];
    snprintf(index, sizeof index, "%s-search", T.path);
    scratch_shut();
    sql_run(index, "UPDATE state SET done=8000");
    sql_run(T.path, "DELETE FROM event WHERE no<3");
    scratch_reopen(NULL);
    cr_assert_eq(hits("needle"), 2);
}
