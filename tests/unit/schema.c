/* SPDX-License-Identifier: Apache-2.0
 *
 * Migration: an older file is upgraded in one transaction or not at all, a newer one is refused.
 * And the plans: no statement of the store walks a table that it should look up in.
 */
#include "../lib/scratch_db.h"
#include "store/sql/schema.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <ramet.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[] = "/tmp/ramet-schema-XXXXXX", path[64];

static void setup(void)
{
    cr_assert(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/s.db", dir);
}

static void teardown(void)
{
    static const char *const ends[] = {"", "-wal", "-shm"};
    for (int i = 0; i < 3; i++) {
        char file[80];
        snprintf(file, sizeof file, "%s%s", path, ends[i]);
        unlink(file);
    }
    rmdir(dir);
}

static db *open_db(bool create)
{
    char message[512] = "";
    db *d;
    db_config cfg = {.path = path, .create = create, .writer = true};
    cr_assert_eq(db_open(&cfg, &d, message), RAMET_OK, "%s", message);
    return d;
}

static schema_step steps_with(const char *extra, schema_step *out)
{
    out[0] = schema_steps[0];
    out[1] = (schema_step){schema_steps[schema_n_steps - 1].version + 1, extra};
    return out[1];
}

Test(schema, older_is_upgraded, .init = setup, .fini = teardown)
{
    char message[512] = "";
    schema_step steps[2];
    int64_t newest =
        steps_with("CREATE TABLE later(a INT); INSERT INTO later VALUES(7);", steps).version;
    db *d = open_db(true);
    cr_assert_eq(schema_migrate(d, schema_steps, schema_n_steps, true, message), RAMET_OK);
    db_close(d);
    d = open_db(false);
    cr_assert_eq(schema_migrate(d, steps, 2, false, message), RAMET_OK, "%s", message);
    cr_expect_eq(db_version(d), newest);
    cr_expect_eq(db_one(d, "SELECT a FROM later"), 7);
    /* Again: nothing to do. */
    cr_assert_eq(schema_migrate(d, steps, 2, false, message), RAMET_OK);
    /* And what wrote version 1 refuses it. */
    cr_expect_eq(schema_migrate(d, schema_steps, schema_n_steps, false, message), RAMET_NEWER);
    cr_expect(strstr(message, "newer"), "%s", message);
    db_close(d);
}

/* A file of every version there was becomes one of today. */
Test(schema, every_version_is_upgraded, .init = setup, .fini = teardown)
{
    char message[512] = "";
    for (size_t n = 1; n < schema_n_steps; n++) {
        db *d = open_db(true);
        cr_assert_eq(schema_migrate(d, schema_steps, n, true, message), RAMET_OK, "%s", message);
        cr_expect_eq(db_one(d, "SELECT count(*) FROM sqlite_master WHERE name='turn'"), n > 2);
        db_script(d, "INSERT INTO tree(tree,id,root,created) VALUES(1,'t',1,77)");
        db_script(d, "INSERT INTO member(tree,user_id,level) VALUES(1,'ann',4),(2,'bob',4)");
        cr_assert_eq(schema_migrate(d, schema_steps, schema_n_steps, false, message), RAMET_OK,
                     "%s", message);
        cr_expect_eq(db_one(d, "SELECT count(*) FROM sqlite_master WHERE name='turn'"), 1);
        /* Who was a member before that was noted has been one as long as there is the tree. */
        cr_expect_eq(db_one(d, "SELECT created FROM member WHERE user_id='ann'"), n < 7 ? 77 : 0);
        cr_expect_eq(db_one(d, "SELECT created FROM member WHERE user_id='bob'"), 0);
        cr_expect_eq(db_one(d, "SELECT count(*) FROM member"), 2);
        db_close(d);
        unlink(path);
    }
}

enum { WRITERS = 6, ROUNDS = 8 };

static ramet *shared;

/* Forks and appends beside others, so that they are written together. */
static void *write_some(void *arg)
{
    ramet_call *c = ramet_call_new(shared, NULL, NULL);
    ramet_session *made;
    char id[16];
    snprintf(id, sizeof id, "s%d", *(const int *)arg);
    ramet_session_in with = {.id = id};
    cr_expect_eq(ramet_session_create(c, &with, &made), RAMET_OK);
    for (int i = 0; i < ROUNDS; i++) {
        ramet_entry_in e = {.role = RAMET_USER, .text = "words"};
        ramet_append_in in = {.entries = &e, .n = 1};
        ramet_append_out out;
        cr_expect_eq(ramet_append(c, id, &in, &out), RAMET_OK, "%s", ramet_call_error(c)->message);
        cr_expect_eq(ramet_fork(c, id, &(ramet_fork_in){0}, &made, NULL), RAMET_OK, "%s",
                     ramet_call_error(c)->message);
    }
    ramet_call_free(c);
    return NULL;
}

static void write_together(const char *url)
{
    pthread_t threads[WRITERS];
    int numbers[WRITERS];
    ramet_error err;
    cr_assert_eq(ramet_open(url, NULL, &shared, &err), RAMET_OK, "%s", err.message);
    for (int i = 0; i < WRITERS; i++) {
        numbers[i] = i;
        cr_assert_eq(pthread_create(&threads[i], NULL, write_some, &numbers[i]), 0);
    }
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    ramet_close(shared);
}

/* The same of a database, and it is written to afterwards. */
Test(schema, every_version_of_a_database_is_upgraded)
{
    char message[512] = "", url[512];
    for (size_t n = 1; n <= schema_n_steps; n++) {
        scratch_db_make("versions", url, sizeof url);
        db_config cfg = {.path = url, .create = true, .writer = true};
        db *d;
        cr_assert_eq(db_open(&cfg, &d, message), RAMET_OK, "%s", message);
        cr_assert_eq(schema_migrate(d, schema_steps, n, true, message), RAMET_OK, "%s", message);
        db_close(d);
        write_together(url);
        cr_expect_eq(scratch_db_run(url, "SELECT count(*) FROM session"), WRITERS * (ROUNDS + 1));
        cr_expect_eq(scratch_db_run(url, "SELECT count(*) FROM dir WHERE kind=1"),
                     WRITERS * (ROUNDS + 1));
        cr_expect_eq(scratch_db_run(url, "SELECT count(*) FROM entry"), WRITERS * ROUNDS);
        cr_expect_eq(scratch_db_run(url, "SELECT count(*) FROM event"), WRITERS * (2 * ROUNDS + 1));
        scratch_db_drop("versions");
    }
}

Test(schema, failed_upgrade_leaves_nothing, .init = setup, .fini = teardown)
{
    char message[512] = "";
    schema_step steps[2];
    steps_with("CREATE TABLE later(a INT); INSERT INTO nowhere VALUES(1);", steps);
    db *d = open_db(true);
    cr_assert_eq(schema_migrate(d, schema_steps, schema_n_steps, true, message), RAMET_OK);
    cr_expect_neq(schema_migrate(d, steps, 2, false, message), RAMET_OK);
    cr_expect(strstr(message, "nowhere"), "%s", message);
    db_clear(d);
    cr_expect_eq(db_version(d), schema_steps[schema_n_steps - 1].version);
    cr_expect_eq(db_one(d, "SELECT count(*) FROM sqlite_master WHERE name='later'"), 0);
    db_close(d);
}

/* Statements that are meant to walk a table: counts, upkeep, and walks that stop at a LIMIT. A star
 * stands for the rest of a name. */
static const char *const walkers[] = {"max_*",
                                      "min_*",
                                      "orphan_*",
                                      "odd_*",
                                      "branch_count",
                                      "session_counts",
                                      "session_count_deleted",
                                      "tree_count",
                                      "session_expired",
                                      "session_newest",
                                      "tag_all",
                                      "tag_sessions",
                                      "attachment_sums",
                                      "attachment_all",
                                      "share_expired",
                                      "token_all",
                                      "statistics_all",
                                      "copy_any",
                                      "session_by_time",
                                      "statistics_by_time",
                                      "copy_unordered",
                                      "visit_prune",
                                      "held_all",
                                      "rule_all",
                                      "sandbox_all",
                                      "sandbox_none*",
                                      "active_all",
                                      "erase_*",
                                      "erased_*",
                                      "once_scopes",
                                      "overlay_trees_of",
                                      "author_entries",
                                      "orphan_erased"};
/* Statements that may sort, or walk what they just made: one caller's, one tree's or one tag's. */
static const char *const sorters[] = {
    "session_of_tree",    "session_children",  "session_in_tree",   "session_tagged",
    "session_states",     "branch_of_tree",    "session_of_member", "branch_of_session",
    "branch_needed",      "branch_heirs",      "branch_group",      "branch_off*",
    "usage_by_currency",  "member_all",        "user_trees",        "attached_homes",
    "attached_heirs",     "feedback_of",       "entry_segments",    "copy_branches",
    "copy_trees_since",   "event_texts",       "session_by_time",   "statistics_by_time",
    "copy_unordered",     "sandbox_user*",     "active_*",          "attached_home",
    "entry_home",         "overlay_set",       "overlay_prune",     "rule_all",
    "template_of_member", "template_of_owner", "delta_snapshots",   "turn_names",
    "author_entries",     "owner_sessions",    "overlay_trees_of",  "erased_of_tree"};

static bool named(const char *const *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(list[i]);
        if (list[i][len - 1] == '*' ? strncmp(list[i], name, len - 1) == 0 : !strcmp(list[i], name))
            return true;
    }
    return false;
}
#define NAMED(list, name) named(list, sizeof list / sizeof list[0], name)

static void check_plan(sqlite3 *h, sql_id id)
{
    const char *name = sql_name(id);
    char sql[4096];
    sqlite3_stmt *s = NULL;
    snprintf(sql, sizeof sql, "EXPLAIN QUERY PLAN %s", sql_text(id));
    cr_assert_eq(sqlite3_prepare_v2(h, sql, -1, &s, NULL), SQLITE_OK, "%s: %s", name,
                 sqlite3_errmsg(h));
    while (sqlite3_step(s) == SQLITE_ROW) {
        const char *line = (const char *)sqlite3_column_text(s, 3);
        bool walk = strncmp(line, "SCAN ", 5) == 0 && !strstr(line, "SCAN CONSTANT");
        bool sort = strstr(line, "TEMP B-TREE") != NULL;
        cr_expect(!walk || NAMED(walkers, name) || NAMED(sorters, name), "%s: %s", name, line);
        cr_expect(!sort || NAMED(sorters, name), "%s: %s", name, line);
        cr_expect(!strstr(line, "AUTOMATIC"), "%s: %s", name, line);
        /* The range of a path's entries is the primary key's, never an index'. */
        if (strncmp(name, "entry_range", 11) == 0)
            cr_expect(strstr(line, "INTEGER PRIMARY KEY"), "%s: %s", name, line);
    }
    sqlite3_finalize(s);
}

Test(schema, plans_look_up, .init = setup, .fini = teardown)
{
    char message[512] = "";
    db *d = open_db(true);
    cr_assert_eq(schema_migrate(d, schema_steps, schema_n_steps, true, message), RAMET_OK);
    db_close(d);
    sqlite3 *h;
    cr_assert_eq(sqlite3_open(path, &h), SQLITE_OK);
    sqlite3_exec(h, "PRAGMA automatic_index=OFF", NULL, NULL, NULL);
    for (int i = 0; i < Q_COUNT; i++)
        if (strncmp(sql_name((sql_id)i), "fts_", 4) != 0)
            check_plan(h, (sql_id)i);
    sqlite3_close(h);
}
