/* SPDX-License-Identifier: Apache-2.0
 *
 * export.c: exports and imports: there and back with the same bytes, again, damaged, in conflict,
 * of what a user may see, and stopped in the middle.
 */
#include "attach.h"
#include "away.h"
#include "core/export/record.h"
#include "ramet/export.h"
#include "ramet/kagent.h"
#include "ramet/memory.h"
#include "ramet/sandboxes.h"
#include "ramet/tasks.h"
#include "turn.h"

#include "../lib/scratch_db.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(export, .init = open_both, .fini = close_both);

/* -------------------------------------------------------------------- material */

static void fill(const char *session, int n)
{
    for (int i = 0; i < n; i++) {
        char id[64], state[64];
        snprintf(id, sizeof id, "%s-%d", session, i);
        snprintf(state, sizeof state, "{\"n\":%d}", i);
        ramet_entry_in in = {.id = id, .role = RAMET_ASSISTANT, .text = id};
        ramet_usage used = {.input = i, .output = 2, .cost = 500, .currency = "EUR"};
        if (i % 5 == 0)
            in.usage = &used;
        if (i % 7 == 0)
            in.state_delta = state;
        put(session, &in);
    }
}

/* Something in every table that is exported. */
static void plant(void)
{
    make("s");
    ask("s", "q", "a question\nof two lines, \"quoted\" \t\x01 and \xf0\x9f\x8c\xb1");
    answer("s", "a", "an answer");
    fill("s", 40);
    static char large[30000];
    memset(large, 'x', sizeof large - 1);
    put("s", &(ramet_entry_in){.id = "large", .role = RAMET_USER, .text = large});
    put("s", &(ramet_entry_in){.id = "call",
                               .role = RAMET_ASSISTANT,
                               .parts = "[{\"type\":\"text\",\"text\":\"I look\"},\n "
                                        "{\"type\":\"tool_call\",\"id\":\"c\",\"name\":\"ls\","
                                        "\"input\":{\"a\":1.50}}]"});
    put("s", &(ramet_entry_in){.id = "foreign",
                               .role = RAMET_TOOL,
                               .text = "x",
                               .format = "a2a",
                               .channel = "side",
                               .turn_id = "turn-1",
                               .body = " {\"n\": 1e3,\r\n \"z\":\"\\u0000\"} "});
    ramet_entry_in raw = {.id = "raw", .role = RAMET_SYSTEM, .text = "raw"};
    ramet_append_out out;
    ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = &raw, .n = 1, .log = RAMET_LOG_ADK},
                    &out));
    fork_at("s", "a", "f");
    say("f", "x y z");
    rewind_to("s", "s-20");
    say("s", "other");
    ramet_session *x;
    ok(ramet_undo(T.call, "s", NULL, &x));
    ok(ramet_redo(T.call, "s", NULL, &x));
    for (int i = 0; i < 12; i++) {
        char name[32];
        snprintf(name, sizeof name, "user-%d", i);
        join("s", name, RAMET_READER);
    }
    const char *tags[] = {"travel", "Zoo", "straße"};
    ok(ramet_tags_add(T.call, "f", tags, 3, NULL));
    attach("f", "with", upload(T.call, "hello"));
    ok(ramet_feedback_set(T.call, "f", "x", 1, "good"));
    ok_for(as("ann"), ramet_feedback_set(as("ann"), "f", "x", -1, ""));
    ramet_task *task;
    ok(ramet_task_put(T.call, "f", &(ramet_task_in){.id = "t1", .data = "{\"a\": 1}"}, &task));
    ok(ramet_sandbox_add(T.call, &(ramet_sandbox_in){.id = "box"}, NULL));
    ok(ramet_session_create(T.call, &(ramet_session_in){.id = "boxed", .sandbox = "box"}, &x));
    ramet_verdict *verdict;
    ramet_side_in sides[] = {{.session = "s"}, {.session = "f"}};
    ok(ramet_verdict_add(T.call, sides, 2, 0, "shorter", &verdict));
    ramet_turn *t = turn_start("f", &(ramet_turn_in){MESSAGE("m")});
    turn_stop(t->id, RAMET_TURN_DONE);
    ramet_entry_in first = {.role = RAMET_USER, .text = "x", .key = "k", .indexed = "found"};
    ok(ramet_append(
        T.call, "started",
        &(ramet_append_in){.entries = &first, .n = 1, .make = &(ramet_make){.started_by = "s"}},
        &out));
    for (int i = 0; i < 20; i++) {
        char id[32];
        snprintf(id, sizeof id, "small-%d", i);
        make(id);
        say(id, "one two");
    }
}

/* ------------------------------------------------------------- there and back */

Test(export, knows_every_column)
{
    static const int tables[] = {COPY_T_tree,    COPY_T_member,  COPY_T_session,     COPY_T_branch,
                                 COPY_T_run,     COPY_T_move,    COPY_T_turn,        COPY_T_task,
                                 COPY_T_place,   COPY_T_indexed, COPY_T_feedback,    COPY_T_verdict,
                                 COPY_T_overlay, COPY_T_prompt,  COPY_T_branch_note, COPY_T_held};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        const copy_table *t = &copy_tables[tables[i]];
        const record_def *d = NULL;
        for (size_t k = 0; k < RECORD_KINDS; k++)
            if (record_defs[k].table == tables[i])
                d = &record_defs[k];
        cr_assert(d, "%s is not exported", t->name);
        cr_expect_eq(d->n, t->n, "%s has a column that an export does not know", t->name);
        for (size_t c = 0; c < d->n; c++)
            record_column_at(t, d->columns[c].column);
    }
}

Test(export, there_and_back_has_the_same_bytes)
{
    plant();
    file a = all_of(T.call);
    cr_assert_eq(exported.trees, 23);
    import_file(other.call, &a);
    cr_assert_eq(imported.sessions_added, exported.sessions);
    cr_assert_eq(imported.entries_added, exported.entries);
    cr_assert_eq(imported.sessions_known, 0);
    sound_other();
    file b = all_of(other.call);
    same_file(&a, &b);
    /* And it is a store like any other. */
    ramet_session *x;
    ok_for(other.call, ramet_undo(other.call, "s", NULL, &x));
    ok_for(other.call, ramet_session_get(other.call, "f", &x));
    cr_assert_str_eq(x->head.hash, get("f")->head.hash);
    cr_assert_eq(x->n_tags, 3);
    ramet_hits hits;
    ok_for(other.call, ramet_search(other.call, &(ramet_search_in){.query = "question"}, &hits));
    cr_assert_eq(hits.n, 1);
    sound_other();
}

Test(export, of_nothing_is_a_file)
{
    file a = all_of(T.call);
    import_file(other.call, &a);
    cr_assert_eq(imported.sessions_added, 0);
    file b = all_of(other.call);
    same_file(&a, &b);
}

Test(export, what_is_there_adds_nothing)
{
    plant();
    file a = all_of(T.call);
    const char *before = mark();
    import_file(T.call, &a);
    cr_assert_eq(imported.sessions_added, 0);
    cr_assert_eq(imported.entries_added, 0);
    cr_assert_eq(imported.sessions_known, exported.sessions);
    cr_assert_str_eq(mark(), before);
    /* The store has gone on since: that is no conflict. */
    say("f", "later");
    rewind_to("f", "x");
    import_file(T.call, &a);
    cr_assert_eq(imported.sessions_added, 0);
}

/* Deleted sessions are not exported; what living ones share with them is. */
Test(export, a_fork_of_what_is_gone)
{
    make("s");
    say("s", "a b c d");
    fork_at("s", "c", "f");
    say("f", "x");
    fork_at("f", "b", "g");
    say("g", "y");
    drop("s");
    drop("f");
    file a = all_of(T.call);
    cr_assert_eq(exported.sessions, 1);
    cr_assert_eq(exported.entries, 3);
    cr_assert_not(strstr(a.p, "\"id\":\"s\""));
    import_file(other.call, &a);
    sound_other();
    file b = all_of(other.call);
    same_file(&a, &b);
    ramet_gc_out gone;
    ok_for(other.call, ramet_gc(other.call, false, NULL, NULL, &gone));
    sound_other();
    b = all_of(other.call);
    same_file(&a, &b);
}

Test(export, one_session_and_its_tree)
{
    plant();
    file one = file_of(T.call, &(ramet_export_in){.session = "f"});
    cr_assert_eq(exported.sessions, 1);
    file tree = file_of(T.call, &(ramet_export_in){.session = "f", .tree = true});
    cr_assert_eq(exported.sessions, 2);
    cr_assert_not(strstr(tree.p, "\"raw\""), "the adk log is left out");
    import_file(other.call, &one);
    sound_other();
    file again = file_of(other.call, &(ramet_export_in){.session = "f"});
    same_file(&one, &again);
    refused_for(other.call, RAMET_IMPORT_CONFLICT, "session",
                import_bytes(other.call, tree.p, tree.n));
    import_file(T.call, &one);
    cr_assert_eq(imported.sessions_known, 1);
}

/* Chosen paths are a session like any other, and there and back the same. */
Test(export, pruned)
{
    make("s");
    say("s", "a b c d");
    rewind_to("s", "b");
    say("s", "e f");
    int64_t second = get("s")->head.branch;
    rewind_to("s", "e");
    say("s", "g");
    fork_at("s", "e", "t");
    rewind_to("t", "a");
    say("t", "h");
    file a = file_of(T.call, &(ramet_export_in){.session = "s", .path = true});
    cr_assert_eq(exported.entries, 4);
    cr_assert_not(strstr(a.p, "text of f"));
    import_file(other.call, &a);
    sound_other();
    file b = file_of(other.call, &(ramet_export_in){.session = "s", .path = true});
    same_file(&a, &b);
    b = file_of(other.call, &(ramet_export_in){.session = "s"});
    same_file(&a, &b);
    ramet_session *x;
    ok_for(other.call, ramet_session_get(other.call, "s", &x));
    cr_assert_str_eq(x->head.hash, get("s")->head.hash);
    import_file(T.call, &a);
    cr_assert_eq(imported.sessions_known, 1);
    other_shut();
    if (!scratch_db_on()) {
        snprintf(other.where, sizeof other.where, "%s/third.db", T.dir);
        other_open();
        int64_t chosen[] = {second};
        a = file_of(T.call,
                    &(ramet_export_in){.session = "s", .branches = chosen, .n_branches = 1});
        cr_assert_eq(exported.entries, 4);
        cr_assert_not(strstr(a.p, "text of g"));
        import_file(other.call, &a);
        sound_other();
        a = file_of(T.call, &(ramet_export_in){.session = "t", .path = true});
        import_file(other.call, &a);
        sound_other();
        other_shut();
        snprintf(other.where, sizeof other.where, "%s/fourth.db", T.dir);
        other_open();
        a = file_of(T.call, &(ramet_export_in){.session = "t", .tree = true, .path = true});
        cr_assert_eq(exported.sessions, 2);
        import_file(other.call, &a);
        sound_other();
    } else {
        other_open();
    }
}

/* ------------------------------------------------------------------ who sees what */

Test(export, private_sessions_of_others_are_not_named)
{
    ramet_session *x;
    make("s");
    say("s", "a b");
    join("s", "bob", RAMET_WRITER);
    ok_for(as("bob"),
           ramet_fork(as("bob"), "s", &(ramet_fork_in){.id = "secret", .visibility = RAMET_PRIVATE},
                      &x, NULL));
    say("secret", "hidden");
    file a = file_of(as("ann"), &(ramet_export_in){.session = "s", .tree = true});
    cr_assert_not(strstr(a.p, "secret"));
    cr_assert_not(strstr(a.p, "hidden"));
    file b = file_of(as("bob"), &(ramet_export_in){0});
    cr_assert(strstr(b.p, "hidden"));
    ramet_call *eve = as("eve");
    file c = file_of(eve, &(ramet_export_in){0});
    cr_assert_eq(exported.trees, 0);
    refused_for(eve, RAMET_HIDDEN, NULL,
                ramet_export(eve, &(ramet_export_in){.session = "s"}, file_take, &c, NULL, NULL,
                             &exported));
    /* One that was forked from a private session of another: its entries are there, its name is
     * not. */
    ramet_share *share;
    ok_for(as("bob"), ramet_share_add(as("bob"), "secret", false, 0, &share));
    ramet_call *guest = as("guest");
    ok_for(guest, ramet_call_share(guest, share->token, NULL));
    ok_for(guest,
           ramet_fork(guest, "secret", &(ramet_fork_in){.id = "mine", .visibility = RAMET_PRIVATE},
                      &x, NULL));
    ramet_call *own = as("guest");
    file d = file_of(own, &(ramet_export_in){0});
    cr_assert_eq(exported.sessions, 1);
    cr_assert(strstr(d.p, "text of hidden"));
    cr_assert_not(strstr(d.p, "\"secret\""));
    import_file(other.call, &d);
    sound_other();
}

Test(export, a_user_owns_what_he_imports)
{
    ramet_session *x;
    plant();
    file a = file_of(as("ann"), &(ramet_export_in){0});
    ramet_call *eve = ramet_call_new(other.store, "eve", NULL);
    import_file(eve, &a);
    sound_other();
    ok_for(eve, ramet_session_get(eve, "f", &x));
    cr_assert_str_eq(x->owner, "eve");
    ramet_member *members;
    size_t n;
    ok_for(eve, ramet_members(eve, "s", &members, &n));
    cr_assert_eq(n, 1);
    /* Another user cannot take what is hers, and learns nothing about it. */
    ramet_call *bob = ramet_call_new(other.store, "bob", NULL);
    refused_for(bob, RAMET_IMPORT_CONFLICT, "session", import_bytes(bob, a.p, a.n));
    ramet_call_free(eve);
    ramet_call_free(bob);
}

/* ---------------------------------------------------------------------- damage */

static void damaged(const file *f, const char *line)
{
    ramet_status st = import_bytes(other.call, f->p, f->n);
    const ramet_error *e = ramet_call_error(other.call);
    cr_assert_eq(st, RAMET_IMPORT_DAMAGED, "%s", e->message);
    cr_assert(strstr(e->message, line), "wanted %s: %s", line, e->message);
    ramet_stats s;
    ok_for(other.call, ramet_stat(other.call, &s));
    cr_assert_eq(s.trees, 0, "something was added");
}

Test(export, damage_is_found_before_anything_is_written)
{
    make("s");
    say("s", "a b c");
    file a = all_of(T.call), b;
    b = changed(&a, "text of b", "text of B");
    damaged(&b, "line 7: entry b is not what its prefix_hash says");
    b = changed(&a, "\"type\":\"branch\"", "\"type\":\"brunch\"");
    damaged(&b, "line 5: unknown record type");
    b = changed(&a, "\"version\":1", "\"version\":9");
    damaged(&b, "line 1: the file has version 9");
    b = changed(&a, "\"level\"", "\"livel\"");
    damaged(&b, "line 3: \"level\" is missing");
    b = changed(&a, "\"user\":\"ann\"", "\"user\":\"anm\"");
    damaged(&b, "do not have the SHA-256");
    b = changed(&a, "\"entries\":3", "\"entries\":4");
    damaged(&b, "line 2: the tree has 4 entries, and 3 follow");
    b = changed(&a, "\"type\":\"tree\"", "\"type\":\"true\"");
    damaged(&b, "line 2");
    for (size_t n = 0; n < a.n; n += 37) {
        b = (file){.p = a.p, .n = n};
        damaged(&b, "line");
    }
    b = (file){0};
    file_take(&b, a.p, a.n);
    file_take(&b, "{}\n", 3);
    damaged(&b, "something follows the end");
    import_file(other.call, &a);
}

/* What a store would never have written, although the hash fits. */
Test(export, forged_words_are_refused)
{
    const char *tags[] = {"travel"};
    make("s");
    say("s", "a");
    ok(ramet_tags_add(T.call, "s", tags, 1, NULL));
    file a = all_of(T.call), b;
    b = changed(&a, "\"travel\"", "\"Travel\"");
    resign(&b);
    damaged(&b, "line 4: tags must be");
    char *created = strstr(strstr(a.p, "\"type\":\"session\""), "\"created\":");
    char was[32], late[32];
    snprintf(was, sizeof was, "%.14s", created);
    snprintf(late, sizeof late, "\"created\":99");
    was[strlen(late)] = 0;
    b = (file){0};
    file_take(&b, a.p, a.n);
    memcpy(strstr(strstr(b.p, "\"type\":\"session\""), was), late, strlen(late));
    resign(&b);
    damaged(&b, "line 4: session 1 was created in the future");
    import_file(other.call, &a);
}

/* Any byte of the file, any other byte in its place: refused, or the same. */
Test(export, no_flipped_byte_gets_in)
{
    make("s");
    say("s", "a b");
    attach("s", "with", upload(T.call, "hello"));
    file a = all_of(T.call);
    for (size_t i = 0; i < a.n; i++) {
        char kept = a.p[i];
        a.p[i] = (char)(kept ^ (1 << i % 7));
        ramet_status st = import_bytes(other.call, a.p, a.n);
        cr_assert(st == RAMET_IMPORT_DAMAGED, "byte %zu: %s", i,
                  ramet_call_error(other.call)->message);
        ramet_call_reset(other.call);
        a.p[i] = kept;
    }
    import_file(other.call, &a);
    sound_other();
}

/* A file that somebody forged, with a hash that fits: whatever number in it is another one, it is
 * refused, or what comes of it is a sound store. */
Test(export, a_forged_file_does_no_damage)
{
    plant();
    file a = file_of(T.call, &(ramet_export_in){.session = "f", .tree = true, .with_adk = true});
    size_t end = (size_t)(strstr(a.p, "{\"type\":\"end\"") - a.p), taken = 0, refused_n = 0;
    uint32_t seed = 7;
    for (int i = 0; i < 250; i++) {
        seed = seed * 1664525 + 1013904223;
        size_t at = seed % end;
        while (at < end && !(a.p[at] == ':' && a.p[at + 1] >= '1' && a.p[at + 1] <= '9'))
            at++; /* a number, not a digit of a hash */
        at += at < end;
        if (at == end)
            continue;
        file b = {0};
        file_take(&b, a.p, a.n);
        b.p[at] = (char)('0' + (b.p[at] - '0' + 1 + (seed >> 8) % 9) % 10);
        resign(&b);
        ramet_status st = import_bytes(other.call, b.p, b.n);
        cr_assert(st == RAMET_OK || st == RAMET_IMPORT_DAMAGED || st == RAMET_IMPORT_CONFLICT,
                  "byte %zu: %s: %.80s", at, ramet_call_error(other.call)->message, a.p + at - 20);
        sound_other();
        taken += st == RAMET_OK;
        refused_n += st != RAMET_OK;
        if (st == RAMET_OK)
            other_anew();
        ramet_call_reset(other.call);
        free(b.p);
    }
    cr_assert_gt(taken, 0);
    cr_assert_gt(refused_n, 0);
}

/* ----------------------------------------------------------------------- spools */

Test(export, an_upload_goes_on_where_it_broke_off)
{
    make("s");
    say("s", "a b c");
    file a = all_of(T.call);
    ramet_import *m, *second;
    ok_for(other.call, ramet_import_begin(other.call, "up-1", 0, &m));
    ok_for(other.call, ramet_import_add(m, a.p, 100));
    refused_for(other.call, RAMET_BUSY, "upload",
                ramet_import_begin(other.call, "up-1", 0, &second));
    ramet_import_close(m);
    cr_assert_eq(ramet_import_spooled(other.call, "up-1"), 100);
    ok_for(other.call, ramet_import_begin(other.call, "up-1", 0, &m));
    cr_assert_eq(ramet_import_offset(m), 100);
    ok_for(other.call, ramet_import_add(m, a.p + 100, a.n - 100));
    ok_for(other.call, ramet_import_run(m, NULL, NULL, &imported));
    ramet_import_close(m);
    cr_assert_eq(imported.sessions_added, 1);
    cr_assert_eq(ramet_import_spooled(other.call, "up-1"), 0);
    refused_for(other.call, RAMET_INVALID, "upload",
                ramet_import_begin(other.call, "../up", 0, &m));
    ok_for(other.call, ramet_import_begin(other.call, NULL, 50, &m));
    refused_for(other.call, RAMET_TOO_LARGE, "import", ramet_import_add(m, a.p, 51));
    ramet_import_close(m);
    ok_for(other.call, ramet_import_tidy(other.call));
}

/* ------------------------------------------------------------- in the middle */

static int64_t stop_at;

static bool stopping(void *arg, const char *what, int64_t done, int64_t total)
{
    (void)arg;
    (void)total;
    return strcmp(what, "import") != 0 || done < stop_at;
}

/* Nothing of a tree shows until it is whole; gc takes what is left, and the import done again adds
 * the rest. */
Test(export, stopped_in_the_middle)
{
    ramet_import *m;
    ramet_session_list list;
    make("s");
    for (int i = 0; i < 60; i++) {
        char words[2000] = "";
        for (int k = 0; k < 100; k++)
            snprintf(words + strlen(words), sizeof words - strlen(words), "e%d-%d ", i, k);
        say("s", words);
    }
    fork_at("s", "e20-5", "f");
    say("f", "x");
    file a = all_of(T.call);
    stop_at = 5120;
    ok_for(other.call, ramet_import_begin(other.call, NULL, 0, &m));
    ok_for(other.call, ramet_import_add(m, a.p, a.n));
    refused_for(other.call, RAMET_STOP, NULL, ramet_import_run(m, stopping, NULL, &imported));
    ramet_import_close(m);
    ok_for(other.call, ramet_session_find(other.call, &(ramet_list_in){0}, &list));
    cr_assert_eq(list.n, 0);
    sound_other();
    import_file(other.call, &a);
    sound_other();
    ramet_gc_out gone;
    ok_for(other.call, ramet_gc(other.call, false, NULL, NULL, &gone));
    sound_other();
    ramet_stats s;
    ok_for(other.call, ramet_stat(other.call, &s));
    cr_assert_eq(s.entries, 6001);
    file b = all_of(other.call);
    same_file(&a, &b);
}

/* Writes a byte for each step of an import. */
static bool tell_step(void *arg, const char *doing, int64_t done, int64_t total)
{
    (void)doing, (void)done, (void)total;
    return write(*(const int *)arg, ".", 1) == 1;
}

/* Imports in a process of its own, which is killed when it has come to a step. */
static void import_killed(const file *a, int step)
{
    int ends[2];
    char byte;
    cr_assert_eq(pipe(ends), 0);
    other_shut();
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        ramet_import *m;
        close(ends[0]);
        other_open();
        if (ramet_import_begin(other.call, NULL, 0, &m) == RAMET_OK &&
            ramet_import_add(m, a->p, a->n) == RAMET_OK)
            ramet_import_run(m, tell_step, &ends[1], &imported);
        _exit(0);
    }
    close(ends[1]);
    while (step-- > 0 && read(ends[0], &byte, 1) == 1)
        continue;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(ends[0]);
    other_open();
}

/* Killed at any moment: nothing of the tree shows, or all of it; and done again it is whole. */
Test(export, killed_in_the_middle, .timeout = 120)
{
    ramet_session_list list;
    make("s");
    for (int i = 0; i < 40; i++) {
        char words[2000] = "";
        for (int k = 0; k < 100; k++)
            snprintf(words + strlen(words), sizeof words - strlen(words), "e%d-%d ", i, k);
        say("s", words);
    }
    fork_at("s", "e20-5", "f");
    say("f", "x");
    attach("f", "with", upload(T.call, "hello"));
    file a = all_of(T.call);
    for (int round = 0; round < 12; round++) {
        import_killed(&a, round);
        sound_other();
        ok_for(other.call, ramet_session_find(other.call, &(ramet_list_in){0}, &list));
        cr_assert(list.n == 0 || list.n == 2);
    }
    import_file(other.call, &a);
    ramet_gc_out gone;
    ok_for(other.call, ramet_gc(other.call, false, NULL, NULL, &gone));
    sound_other();
    file b = all_of(other.call);
    same_file(&a, &b);
}

/* Older sessions than those that are there: lists go by time from then on, in open stores too. */
Test(export, lists_go_by_time)
{
    ramet_session_list list;
    ramet_session *x;
    make("old");
    file a = all_of(T.call);
    ok_for(other.call, ramet_session_create(other.call, &(ramet_session_in){.id = "new"}, &x));
    ok_for(other.call, ramet_session_find(other.call, &(ramet_list_in){0}, &list));
    cr_assert_eq(list.n, 1);
    import_file(other.call, &a);
    ok_for(other.call, ramet_session_find(other.call, &(ramet_list_in){0}, &list));
    cr_assert_eq(list.n, 2);
    cr_assert_str_eq(list.items[0].id, "new");
    cr_assert_str_eq(list.items[1].id, "old");
}
