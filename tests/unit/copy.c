/* SPDX-License-Identifier: Apache-2.0
 *
 * copy.c: a store copied row by row to another: all of it, again, stopped, refused, verified.
 */
#include "attach.h"
#include "core/upkeep/copy.h"
#include "ramet/branches.h"
#include "ramet/retention.h"
#include "ramet/overlays.h"
#include "ramet/templates.h"
#include "ramet/kagent.h"
#include "ramet/memory.h"
#include "ramet/erase.h"
#include "ramet/merge.h"
#include "ramet/sandboxes.h"
#include "ramet/push.h"
#include "ramet/tasks.h"
#include "ramet/tokens.h"
#include "shim.h"
#include "turn.h"

#include "../lib/scratch_db.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

TestSuite(copy, .init = scratch_open, .fini = scratch_close);

static ramet_copy_out last;

static const char *beside(const char *name)
{
    static char paths[4][200];
    static int at;
    char *p = paths[at++ % 4];
    snprintf(p, sizeof paths[0], "%s/%s", T.dir, name);
    return p;
}

static const char *target(void)
{
    return beside("copy.db");
}

/* Copies, and finds nothing wrong. */
static void copied(void)
{
    ok(ramet_copy(T.call, target(), NULL, NULL, NULL, &last));
    cr_assert_eq(last.n_all, 0, "%s", last.n ? last.faults[0].what : "");
    cr_assert_eq(last.behind, 0);
}

static void verified(int64_t faults)
{
    ramet_copy_in in = {.verify_only = true};
    ok(ramet_copy(T.call, target(), &in, NULL, NULL, &last));
    cr_assert_eq(last.n_all, faults, "%s", last.n ? last.faults[0].what : "");
    if (!faults)
        cr_assert_str_eq(last.source_digest, last.target_digest);
}

static int64_t number(sqlite3 *h, const char *sql)
{
    sqlite3_stmt *s = NULL;
    cr_assert_eq(sqlite3_prepare_v2(h, sql, -1, &s, NULL), SQLITE_OK, "%s: %s", sql,
                 sqlite3_errmsg(h));
    cr_assert_eq(sqlite3_step(s), SQLITE_ROW, "%s", sql);
    int64_t v = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return v;
}

/* Every table has the same rows on both sides, as SQLite itself finds; and some, when `full`. Out
 * of a database it is the copy that compares them, by their hashes. */
static void same_rows(bool full)
{
    char sql[400];
    sqlite3 *h;
    if (scratch_db_on()) {
        verified(0);
        return;
    }
    cr_assert_eq(sqlite3_open(T.path, &h), SQLITE_OK);
    snprintf(sql, sizeof sql, "ATTACH '%s' AS b", target());
    cr_assert_eq(sqlite3_exec(h, sql, NULL, NULL, NULL), SQLITE_OK);
    for (size_t i = 0; i < COPY_N_TABLES; i++) {
        const char *t = copy_tables[i].name;
        snprintf(
            sql, sizeof sql,
            "SELECT (SELECT count(*) FROM (SELECT * FROM main.%s EXCEPT SELECT * FROM b.%s)) + "
            "(SELECT count(*) FROM (SELECT * FROM b.%s EXCEPT SELECT * FROM main.%s))",
            t, t, t, t);
        cr_expect_eq(number(h, sql), 0, "%s", t);
        snprintf(sql, sizeof sql, "SELECT count(*) FROM main.%s", t);
        cr_expect(!full || number(h, sql) > 0, "%s is empty", t);
    }
    sqlite3_close(h);
}

static void answer_kept(void *arg, int *status, const char **bytes, size_t *n)
{
    (void)arg;
    *status = 201;
    *bytes = "kept";
    *n = 4;
}

/* Many entries in one branch, some with usage and state. */
static void fill(const char *session, int n)
{
    for (int i = 0; i < n; i++) {
        char id[64], state[64];
        snprintf(id, sizeof id, "%s-%d", session, i);
        snprintf(state, sizeof state, "{\"n\":%d}", i);
        ramet_entry_in in = {.id = id, .role = RAMET_ASSISTANT, .text = id};
        ramet_usage used = {.input = i, .output = 2, .cost = 0.5, .currency = "EUR"};
        if (i % 5 == 0)
            in.usage = &used;
        if (i % 7 == 0)
            in.state_delta = state;
        put(session, &in);
    }
}

/* A hold, and a rule that has removed a session. */
static void plant_retention(void)
{
    ramet_session *gone;
    ramet_rule rule = {.name = "short", .agent = "none", .ephemeral = RAMET_ONLY};
    ramet_retention_out removed;
    ramet_session_in brief = {
        .id = "brief", .owner = "ann", .ephemeral_us = DAY, .agent = {.name = "none"}};
    ok(ramet_session_create(T.call, &brief, &gone));
    ok(ramet_hold_set(T.call, "boxed", &(ramet_hold_in){.tree = true, .reason = "case"}, NULL));
    ok(ramet_retention_set(T.call, &(ramet_retention_in){.rules = &rule, .n = 1}, NULL));
    ok(ramet_retention_run(T.call, &(ramet_retention_run_in){.dry_run = true}, NULL, NULL,
                           &removed));
    ok(ramet_retention_run(T.call, &(ramet_retention_run_in){0}, NULL, NULL, &removed));
    cr_assert_eq(removed.sessions, 1);
}

/* Something in every table. */
static void plant_template(void)
{
    ramet_template *pinned;
    ramet_session *chat;
    ramet_template_value value = {"name", "Ann"};
    ok(ramet_template_add(
        T.call,
        &(ramet_template_in){
            .session = "f", .name = "a template", .placeholders = &value.name, .n_placeholders = 1},
        &pinned));
    ok(ramet_template_chat(T.call, pinned->id,
                           &(ramet_template_use){.values = &value, .n_values = 1}, &chat));
}

static void plant(void)
{
    make("s");
    ask("s", "q", "a question");
    answer("s", "a", "an answer");
    fill("s", 150);
    static char large[300000];
    memset(large, 'x', sizeof large - 1);
    put("s", &(ramet_entry_in){.id = "large", .role = RAMET_USER, .text = large});
    ramet_entry_in raw = {.id = "raw", .role = RAMET_SYSTEM, .text = "raw"};
    ramet_append_out out;
    ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = &raw, .n = 1, .log = RAMET_LOG_ADK},
                    &out));
    fork_at("s", "a", "f");
    say("f", "x y z");
    rewind_to("s", "s-20");
    say("s", "other");
    for (int i = 0; i < 70; i++) {
        char name[32];
        snprintf(name, sizeof name, "user-%d", i);
        join("s", name, RAMET_READER);
    }
    const char *tags[] = {"travel", "Zoo", "straße"};
    ok(ramet_tags_add(T.call, "f", tags, 3, NULL));
    attach("f", "with", upload(T.call, "hello"));
    upload(T.call, "nobody refers to me");
    ok(ramet_feedback_set(T.call, "f", "x", 1, "good"));
    ramet_task *task;
    ok(ramet_task_put(T.call, "f", &(ramet_task_in){.id = "t1", .data = "{}"}, &task));
    ok_for(as("ann"),
           ramet_push_put(
               as("ann"), "f",
               &(ramet_push_in){.task = "t1", .id = "p", .wire = 10, .config = "c", .n = 1}));
    ramet_overlay_out laid;
    ok(ramet_overlay_set(T.call, "f",
                         &(ramet_overlay_in){.entry_id = get("f")->head.entry_id,
                                             .action = RAMET_OVERLAY_REPLACE,
                                             .text = "cut"},
                         &laid));
    ramet_turn *prompted;
    ramet_append_out asked;
    ok(ramet_turn_begin(T.call, "f", &(ramet_turn_in){.id = "prompted"}, &prompted, &asked));
    ramet_call_prompt(T.call, &(ramet_prompt_in){.agent = "echo", .length = 1, .data = "{}"});
    ok(ramet_turn_end(T.call, "prompted", RAMET_TURN_DONE, NULL, NULL, 0, &asked));
    ramet_session *boxed;
    ok(ramet_sandbox_add(T.call, &(ramet_sandbox_in){.id = "box"}, NULL));
    ok(ramet_session_create(T.call, &(ramet_session_in){.id = "boxed", .sandbox = "box"}, &boxed));
    ok(ramet_remark_add(T.call, &(ramet_remark){.positive = true, .text = "fine"}));
    ok(ramet_remark_add(T.call, &(ramet_remark){.text = "no", .has_message = true, .message = 7}));
    ramet_share *share;
    ok(ramet_share_add(T.call, "f", false, 0, &share));
    ramet_call *guest = as("guest");
    ok_for(guest, ramet_call_share(guest, share->token, NULL));
    ok_for(guest, ramet_share_visit(guest));
    plant_template();
    ramet_token *token;
    ok(ramet_token_add(T.call, &(ramet_token_in){.user = "bob"}, &token));
    ramet_verdict *verdict;
    ramet_side_in sides[] = {{.session = "s"}, {.session = "f"}};
    ok(ramet_verdict_add(T.call, sides, 2, 0, "shorter", &verdict));
    ramet_branch *named;
    ok(ramet_branch_update(T.call, "f", get("f")->head.branch,
                           &(ramet_branch_patch){.name = "short"}, &named));
    ramet_turn *t = turn_start("f", &(ramet_turn_in){MESSAGE("m")});
    turn_stop(t->id, RAMET_TURN_DONE);
    ramet_merge_out merged;
    ok(ramet_merge(T.call, "s",
                   &(ramet_merge_in){.mode = RAMET_LAND, .from = "f", .text = "in short"},
                   &merged));
    ramet_entry_in first = {.role = RAMET_USER, .text = "x", .key = "k", .indexed = "found"};
    ok(ramet_append(
        T.call, "started",
        &(ramet_append_in){.entries = &first, .n = 1, .make = &(ramet_make){.started_by = "s"}},
        &out));
    ramet_transfer *offer;
    ok_for(as("ann"), ramet_transfer_add(as("ann"), "s", "user-1", &offer));
    ramet_fetch *fetch;
    ok(ramet_fetch_add(T.call, "http://example.org/a", "a", "text/plain", 0, &fetch));
    plant_retention();
    ramet_once once = {.scope = "x", .key = "k", .answer = answer_kept};
    ramet_call_once(T.call, &once);
    ok(ramet_tags_add(T.call, "s", tags, 1, NULL));
    for (int i = 0; i < 20; i++) {
        char id[32];
        snprintf(id, sizeof id, "small-%d", i);
        make(id);
        say(id, "one two");
    }
    ramet_receipt *receipt;
    ok(ramet_erase(T.call, &(ramet_erase_in){.session = "small-0", .entry_id = "one"}, &receipt));
}

static void open_copy(void)
{
    snprintf(T.path, sizeof T.path, "%s", target());
    scratch_reopen(NULL);
}

/* ---- all of it */

Test(copy, knows_every_table_and_column)
{
    char sql[300];
    sqlite3 *h;
    cr_assert_eq(sqlite3_open(T.path, &h), SQLITE_OK);
    cr_assert_eq(
        number(h, "SELECT count(*) FROM sqlite_master WHERE type='table'"), COPY_N_TABLES + 2,
        "a table of the schema is not in COPY_TABLES; meta is not copied, attach_part by files");
    for (size_t i = 0; i < COPY_N_TABLES; i++) {
        const copy_table *t = &copy_tables[i];
        snprintf(sql, sizeof sql, "SELECT count(*) FROM pragma_table_info('%s')", t->name);
        cr_expect_eq(number(h, sql), (int64_t)t->n, "%s has other columns", t->name);
        for (size_t c = 0; c < t->n; c++) {
            snprintf(sql, sizeof sql,
                     "SELECT count(*) FROM pragma_table_info('%s') WHERE name='%s' AND type%s",
                     t->name, t->columns[c],
                     t->types[c] == 'i'   ? " LIKE '%INT%'"
                     : t->types[c] == 't' ? "='TEXT'"
                                          : "='BLOB'");
            cr_expect_eq(number(h, sql), 1, "%s.%s", t->name, t->columns[c]);
        }
    }
    sqlite3_close(h);
}

Test(copy, has_everything)
{
    plant();
    copied();
    cr_assert_eq(last.trees, 24);
    cr_assert_eq(last.attachments, 2);
    cr_assert_str_eq(last.source_digest, last.target_digest);
    same_rows(true);
    verified(0);
    const char *s = dump("s", 0), *f = dump("f", 0);
    open_copy();
    cr_assert_str_eq(dump("s", 0), s);
    cr_assert_str_eq(dump("f", 0), f);
    cr_assert_eq(files(), 2);
    sound();
    ramet_session *x;
    ok(ramet_undo(T.call, "s", NULL, &x));
    int64_t events = ramet_event_last(T.store);
    make("new");
    cr_assert_eq(ramet_event_last(T.store), events + 1);
    fork_at("s", "a", "new fork");
    sound();
}

Test(copy, of_nothing_is_a_store)
{
    copied();
    verified(0);
    open_copy();
    make("s");
}

/* Forth and back: the same again. */
Test(copy, goes_back)
{
    plant();
    copied();
    char first[200];
    snprintf(first, sizeof first, "%s", T.path);
    open_copy();
    ok(ramet_copy(T.call, beside("back.db"), NULL, NULL, NULL, &last));
    snprintf(T.path, sizeof T.path, "%s", first);
    scratch_reopen(NULL);
    ramet_copy_in in = {.verify_only = true};
    ok(ramet_copy(T.call, beside("back.db"), &in, NULL, NULL, &last));
    cr_assert_eq(last.n_all, 0);
    cr_assert_str_eq(last.source_digest, last.target_digest);
}

/* ---- again */

static void collect(void)
{
    ramet_gc_out out;
    tick(8 * DAY);
    ok(ramet_gc(T.call, false, NULL, NULL, &out));
}

Test(copy, again_brings_what_changed)
{
    plant();
    copied();
    copied();
    cr_assert_eq(last.written + last.removed, 0, "nothing changed");
    say("s", "later");
    copied();
    cr_assert_gt(last.written, 0);
    cr_assert_lt(last.written, 12, "only what changed");
    ok(ramet_feedback_set(T.call, "f", "x", -1, "not so good"));
    const char *tags[] = {"travel"};
    ok(ramet_tags_remove(T.call, "f", tags, 1, NULL));
    ok(ramet_member_remove(T.call, "s", "user-7"));
    drop("small-3");
    drop("f");
    copied();
    same_rows(false);
    collect();
    copied();
    cr_assert_gt(last.removed, 0);
    same_rows(false);
    verified(0);
    open_copy();
    sound();
}

/* gc has freed an id, and a session of an older tree got it. */
Test(copy, an_id_may_move)
{
    make("old");
    say("old", "a");
    make("young");
    say("young", "b");
    copied();
    drop("young");
    collect();
    fork_at("old", "a", "young");
    copied();
    same_rows(false);
    open_copy();
    cr_assert_str_eq(ids("young"), "a");
}

/* The newest verdict went with its tree, and its number is another tree's now. */
Test(copy, the_number_of_a_verdict_may_move)
{
    ramet_verdict *v;
    const ramet_side_in gone[] = {{.session = "gone"}, {.session = "gone-too"}};
    const ramet_side_in kept[] = {{.session = "kept"}, {.session = "kept-too"}};
    make("gone");
    say("gone", "a");
    fork_at("gone", "a", "gone-too");
    make("kept");
    say("kept", "b");
    fork_at("kept", "b", "kept-too");
    ok(ramet_verdict_add(T.call, gone, 2, 0, "first", &v));
    int64_t number = v->number;
    copied();
    drop("gone");
    drop("gone-too");
    collect();
    ok(ramet_verdict_add(T.call, kept, 2, 1, "second", &v));
    cr_assert_eq(v->number, number);
    copied();
    same_rows(false);
    verified(0);
}

/* A tree has one offer; another took its place, and its id may sort before or behind. */
Test(copy, an_offer_may_be_another)
{
    make("s");
    say("s", "a");
    ok_for(as("ann"), ramet_member_set(as("ann"), "s", "bob", RAMET_READER));
    for (int i = 0; i < 6; i++) {
        ramet_transfer *offer;
        ok_for(as("ann"), ramet_transfer_add(as("ann"), "s", "bob", &offer));
        char *id = xstrdup(offer->id);
        copied();
        same_rows(false);
        ok_for(as("ann"), ramet_transfer_delete(as("ann"), id));
        free(id);
    }
    copied();
    same_rows(false);
    verified(0);
}

/* ---- stopped, failed, killed */

static int steps;

static bool stop_after(void *arg, const char *what, int64_t done, int64_t total)
{
    (void)arg;
    (void)what;
    (void)done;
    (void)total;
    return steps-- > 0;
}

Test(copy, goes_on_after_every_stop)
{
    plant();
    ramet_status st = RAMET_STOP;
    int stops = 0;
    for (int n = 1; st != RAMET_OK && n < 10000; n += 37) {
        steps = n;
        st = ramet_copy(T.call, target(), NULL, stop_after, NULL, &last);
        if (st == RAMET_OK)
            break;
        cr_assert_eq(st, RAMET_STOP, "%s", ramet_call_error(T.call)->message);
        cr_assert_eq(last.resumed, stops > 0);
        stops++;
        ramet *r;
        ramet_error err;
        cr_assert_eq(ramet_open(target(), NULL, &r, &err), RAMET_CANNOT_OPEN);
        cr_assert(strstr(err.message, "not finished"), "%s", err.message);
        ramet_call_reset(T.call);
    }
    cr_assert_eq(st, RAMET_OK);
    cr_assert_gt(stops, 3);
    same_rows(true);
    verified(0);
}

/* What a copy that was killed left of a tree that is gone since. */
Test(copy, leftovers_of_a_tree_that_went_are_removed)
{
    make("s");
    say("s", "a b");
    steps = 3;
    refused(RAMET_STOP, NULL, ramet_copy(T.call, target(), NULL, stop_after, NULL, &last));
    sql_run(target(),
            "INSERT INTO entry VALUES(999<<24,77,'lost',x'00',1,NULL,NULL,NULL,NULL,NULL,1,"
            "'x',NULL,NULL,0,0,0)");
    copied();
    same_rows(false);
}

static bool full_after(void *arg, const char *what, int64_t done, int64_t total)
{
    if (!stop_after(arg, what, done, total))
        shim_write_error = SQLITE_FULL;
    return true;
}

Test(copy, a_full_disk_is_told_and_the_next_goes_on)
{
    plant();
    ramet_options opt = {.engine_vfs = shim_vfs()};
    ramet_copy_in in = {.target = &opt};
    steps = 40;
    refused(RAMET_FULL, NULL, ramet_copy(T.call, target(), &in, full_after, NULL, &last));
    cr_assert(strstr(ramet_call_error(T.call)->message, "target"));
    shim_write_error = 0;
    sql_run(target(), "UPDATE meta SET value='x 0 y' WHERE key='copy_lock'");
    ok(ramet_copy(T.call, target(), &in, NULL, NULL, &last));
    cr_assert(last.resumed);
    same_rows(true);
}

/* ---- who may write the target */

static bool second_copy(void *arg, const char *what, int64_t done, int64_t total)
{
    ramet_copy_out out;
    ramet_call *c = arg;
    (void)what;
    (void)done;
    (void)total;
    refused_for(c, RAMET_BUSY, "to", ramet_copy(c, target(), NULL, NULL, NULL, &out));
    return true;
}

Test(copy, one_at_a_time)
{
    make("s");
    say("s", "a");
    ok(ramet_copy(T.call, target(), NULL, second_copy, as(NULL), &last));
    same_rows(false);
}

static bool steal(void *arg, const char *what, int64_t done, int64_t total)
{
    (void)arg;
    (void)what;
    (void)done;
    (void)total;
    sql_run(target(), "UPDATE meta SET value='somebody 0 else' WHERE key='copy_lock'");
    return true;
}

Test(copy, who_lost_the_lock_writes_no_more)
{
    make("s");
    refused(RAMET_BUSY, NULL, ramet_copy(T.call, target(), NULL, steal, NULL, &last));
    cr_assert_eq(last.written, 0);
}

Test(copy, the_lock_of_the_dead_is_free)
{
    char sql[200];
    make("s");
    steps = 1;
    refused(RAMET_STOP, NULL, ramet_copy(T.call, target(), NULL, stop_after, NULL, &last));
    static const struct {
        const char *host;
        bool late, held;
    } cases[] = {{"another-boot/1/1", false, true},
                 {"another-boot/1/1", true, false},
                 {"%s", false, true},
                 {"%.36s/1/999999999999", false, false}};
    char me[HOST_TEXT], host[HOST_TEXT];
    host_name(me);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (i == 3)
            snprintf(host, sizeof host, "%.36s/1/999999999999", me);
        else
            snprintf(host, sizeof host, "%s", i == 2 ? me : cases[i].host);
        snprintf(sql, sizeof sql, "REPLACE INTO meta VALUES('copy_lock','x %s %s')",
                 cases[i].late ? "5" : "9000000000000000", host);
        sql_run(target(), sql);
        ramet_status st = ramet_copy(T.call, target(), NULL, NULL, NULL, &last);
        cr_expect_eq(st, cases[i].held ? RAMET_BUSY : RAMET_OK, "%s", sql);
    }
}

/* ---- refused, and nothing changed */

static int64_t rows_in(const char *path)
{
    sqlite3 *h;
    cr_assert_eq(sqlite3_open(path, &h), SQLITE_OK);
    int64_t n =
        number(h, "SELECT (SELECT count(*) FROM session)*1000 + (SELECT count(*) FROM entry)*10"
                  " + (SELECT count(*) FROM meta)");
    sqlite3_close(h);
    return n;
}

static void target_refused(const char *to, const char *words)
{
    int64_t before = rows_in(to);
    refused(RAMET_INVALID, "to", ramet_copy(T.call, to, NULL, NULL, NULL, &last));
    cr_assert(strstr(ramet_call_error(T.call)->message, words), "%s",
              ramet_call_error(T.call)->message);
    cr_assert_eq(rows_in(to), before);
}

Test(copy, only_into_a_new_store_or_its_own_copy)
{
    make("s");
    say("s", "a");
    copied();
    target_refused(T.path, "same store");
    ok(ramet_backup(T.call, beside("backup.db"), NULL, NULL));
    target_refused(beside("backup.db"), "same store");
    char first[200];
    snprintf(first, sizeof first, "%s", T.path);
    snprintf(T.path, sizeof T.path, "%s", beside("other.db"));
    scratch_reopen(NULL);
    make("mine");
    target_refused(first, "sessions of its own");
    target_refused(target(), "another store");
    open_copy();
    say("s", "own");
    snprintf(T.path, sizeof T.path, "%s", first);
    scratch_reopen(NULL);
    target_refused(target(), "written to since");
}

Test(copy, bad_places)
{
    make("s");
    refused(RAMET_INVALID, "to", ramet_copy(T.call, NULL, NULL, NULL, NULL, &last));
    refused(RAMET_INVALID, "to", ramet_copy(T.call, "", NULL, NULL, NULL, &last));
    refused(RAMET_CANNOT_OPEN, "to",
            ramet_copy(T.call, "/nonexistent/folder/copy.db", NULL, NULL, NULL, &last));
    ramet_copy_in verify = {.verify_only = true};
    refused(RAMET_CANNOT_OPEN, "to", ramet_copy(T.call, target(), &verify, NULL, NULL, &last));
    FILE *file = fopen(target(), "w");
    fputs("precious, and long enough to be looked at", file);
    fclose(file);
    refused(RAMET_NOT_A_STORE, "to", ramet_copy(T.call, target(), NULL, NULL, NULL, &last));
    ramet_call *ann = as("ann");
    refused_for(ann, RAMET_FORBIDDEN, NULL, ramet_copy(ann, beside("x"), NULL, NULL, NULL, &last));
}

/* ---- verified */

Test(copy, a_difference_is_named)
{
    static const struct {
        const char *sql, *table, *key, *what;
    } cases[] = {
        {"UPDATE session SET title='other' WHERE id='f'", "session", "parent=", "title differs"},
        {"DELETE FROM tag WHERE tag='travel'", "tag", "tag=travel", "missing in the target"},
        {"INSERT INTO member VALUES(1,'eve',4,0)", "member", "user_id=eve", "in the target alone"},
        {"UPDATE token SET roles='admin'", "token", "id=", "roles differs"},
        {"DELETE FROM event WHERE no=3", "event", "no=3", "missing"},
        {"UPDATE attachment SET owner='eve'", "attachment", "id=", "owner differs"},
        {"DELETE FROM once", "once", "scope=", "missing"},
        {"UPDATE entry SET channel='x' WHERE id='q'", "entry", "tree=1 k=", "channel differs"},
    };
    plant();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unlink(target());
        copied();
        verified(0);
        sql_run(target(), cases[i].sql);
        ramet_copy_in in = {.verify_only = true};
        ok(ramet_copy(T.call, target(), &in, NULL, NULL, &last));
        cr_assert_gt(last.n, 0, "%s", cases[i].sql);
        cr_expect_str_eq(last.faults[0].table, cases[i].table);
        cr_expect(strstr(last.faults[0].key, cases[i].key), "%s", last.faults[0].key);
        cr_expect(strstr(last.faults[0].what, cases[i].what), "%s", last.faults[0].what);
        cr_expect_str_neq(last.source_digest, last.target_digest);
    }
}

static bool told_of(const char *words)
{
    for (size_t i = 0; i < last.n; i++)
        if (strstr(last.faults[i].what, words))
            return true;
    return false;
}

Test(copy, a_damaged_source_is_told)
{
    plant();
    sql_run(T.path, "UPDATE entry SET text='forged' WHERE id='x'");
    sql_run(T.path, "INSERT INTO usage SELECT (999<<24),tree,1,1,1,1,'',1,1,1,1,1,'',0 FROM tree "
                    "WHERE tree=1");
    file_drop("2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
    ok(ramet_copy(T.call, target(), NULL, NULL, NULL, &last));
    cr_assert_eq(last.n_all, 3);
    cr_assert(told_of("its hash is wrong"));
    cr_assert(told_of("its file is missing"));
    cr_assert(told_of("a row of usage"));
    open_copy();
    cr_assert_str_eq(get("s")->id, "s");
}

/* ---- while others write */

static atomic_bool enough;

static void *writer(void *arg)
{
    static char wrong[] = "a write failed";
    ramet_call *c = arg;
    for (int i = 0; !enough; i++) {
        char id[32];
        ramet_append_out out;
        ramet_session *s;
        ramet_entry_in in = {.role = RAMET_USER, .text = "more"};
        const char *session = i % 3 ? "f" : "small-4";
        if (ramet_append(c, session, &(ramet_append_in){.entries = &in, .n = 1}, &out) != RAMET_OK)
            return wrong;
        snprintf(id, sizeof id, "fork-%d", i);
        if (i % 4 == 0 && ramet_fork(c, "s", &(ramet_fork_in){.id = id}, &s, NULL) != RAMET_OK)
            return wrong;
        ramet_call_reset(c);
    }
    return NULL;
}

Test(copy, while_others_write)
{
    plant();
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, writer, as(NULL)), 0);
    for (int i = 0; i < 3; i++) {
        ramet_copy_in in = {.passes = 2};
        ramet_status st = ramet_copy(T.call, target(), &in, NULL, NULL, &last);
        cr_assert(st == RAMET_OK || st == RAMET_BEHIND, "%s", ramet_call_error(T.call)->message);
        cr_assert_eq(last.n_all, 0, "%s", last.n ? last.faults[0].what : "");
        cr_assert_eq(st == RAMET_BEHIND, last.behind > 0);
    }
    enough = true;
    void *wrong;
    pthread_join(thread, &wrong);
    cr_assert_null(wrong, "%s", (char *)wrong);
    copied();
    same_rows(true);
    verified(0);
    open_copy();
    sound();
}

static bool write_each(void *arg, const char *what, int64_t done, int64_t total)
{
    ramet_call *c = arg;
    ramet_append_out out;
    ramet_entry_in in = {.role = RAMET_USER, .text = "more"};
    (void)what;
    (void)done;
    (void)total;
    ok_for(c, ramet_append(c, "s", &(ramet_append_in){.entries = &in, .n = 1}, &out));
    return true;
}

Test(copy, says_that_it_is_behind)
{
    make("s");
    refused(RAMET_BEHIND, NULL, ramet_copy(T.call, target(), NULL, write_each, as(NULL), &last));
    cr_assert_eq(last.behind, 1);
    cr_assert_eq(last.n_all, 0);
    cr_assert_eq(last.passes, 8);
    copied();
    same_rows(false);
}
