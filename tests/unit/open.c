/* SPDX-License-Identifier: Apache-2.0
 *
 * open.c: where a store is, what is opened, and what is refused.
 */
#include "help.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(open, .init = scratch_open, .fini = scratch_close);

static ramet_error err;

static ramet_status try_open(const char *where, const ramet_options *opt)
{
    ramet *r = (ramet *)&err;
    memset(&err, 0, sizeof err);
    ramet_status st = ramet_open(where, opt, &r, &err);
    if (st == RAMET_OK) {
        ramet_close(r);
    } else {
        cr_assert_null(r, "on failure *out is NULL");
        cr_assert_eq(err.status, st);
        cr_assert(err.message[0] && !strchr(err.message, '\n'), "'%s'", err.message);
    }
    return st;
}

static const char *inside(const char *name)
{
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", T.dir, name);
    return path;
}

static void write_file(const char *path, const char *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    cr_assert_not_null(f);
    fwrite(bytes, 1, n, f);
    fclose(f);
}

Test(open, a_path_and_a_path_with_its_engine)
{
    char where[220];
    snprintf(where, sizeof where, "sqlite:%s", inside("two.db"));
    cr_assert_str_eq(ramet_where(where), inside("two.db"));
    cr_assert_str_eq(ramet_where("some/path.db"), "some/path.db");
    cr_assert_eq(try_open(where, NULL), RAMET_OK, "%s", err.message);
    cr_assert_eq(access(inside("two.db"), F_OK), 0);
    cr_assert_eq(try_open(inside("two.db"), &(ramet_options){.must_exist = true}), RAMET_OK);
}

Test(open, the_default_place)
{
    setenv("XDG_DATA_HOME", inside("data"), 1);
    char want[250];
    snprintf(want, sizeof want, "%s/ramet/ramet.db", inside("data"));
    cr_assert_str_eq(ramet_where(NULL), want);
    cr_assert_str_eq(ramet_where(""), want);
    cr_assert_eq(try_open(NULL, &(ramet_options){.must_exist = true}), RAMET_CANNOT_OPEN);
    cr_assert_eq(try_open(NULL, NULL), RAMET_OK, "%s", err.message);
    cr_assert_eq(access(want, F_OK), 0, "the folders are made");
    unsetenv("XDG_DATA_HOME");
    setenv("HOME", inside("home"), 1);
    snprintf(want, sizeof want, "%s/.local/share/ramet/ramet.db", inside("home"));
    cr_assert_str_eq(ramet_where(NULL), want);
    cr_assert_eq(try_open("", NULL), RAMET_OK, "%s", err.message);
    cr_assert_eq(access(want, F_OK), 0);
}

Test(open, must_exist)
{
    cr_assert_eq(try_open(inside("none.db"), &(ramet_options){.must_exist = true}),
                 RAMET_CANNOT_OPEN);
    cr_assert(strstr(err.message, "none.db"), "%s", err.message);
    cr_assert_neq(access(inside("none.db"), F_OK), 0, "nothing is made");
}

Test(open, a_folder_that_is_not_there)
{
    cr_assert_eq(try_open(inside("no/such/folder.db"), NULL), RAMET_CANNOT_OPEN);
    cr_assert_eq(try_open(T.dir, NULL), RAMET_NOT_A_STORE);
}

Test(open, what_is_not_a_store)
{
    char junk[8192];
    for (size_t i = 0; i < sizeof junk; i++)
        junk[i] = (char)(i * 31 + 7);
    write_file(inside("junk.db"), junk, sizeof junk);
    cr_assert_eq(try_open(inside("junk.db"), NULL), RAMET_NOT_A_STORE);
    write_file(inside("text.db"), "Dear diary,\n", 12);
    cr_assert_eq(try_open(inside("text.db"), NULL), RAMET_NOT_A_STORE);
    sql_run(inside("other.db"), "CREATE TABLE notes(x); INSERT INTO notes VALUES(1)");
    cr_assert_eq(try_open(inside("other.db"), NULL), RAMET_NOT_A_STORE);
    sql_run(inside("other.db"), "INSERT INTO notes SELECT 2 FROM notes");
    struct stat st;
    cr_assert_eq(stat(inside("text.db"), &st), 0);
    cr_assert_eq(st.st_size, 12, "and it is left alone");
}

static int64_t version_get(void)
{
    return sql_number(T.database ? "SELECT value FROM meta WHERE key='schema'"
                                 : "PRAGMA user_version");
}

static void version_set(int64_t v)
{
    char sql[80];
    snprintf(sql, sizeof sql,
             T.database ? "UPDATE meta SET value='%d' WHERE key='schema'"
                        : "PRAGMA user_version = %d",
             (int)v);
    sql_run(T.path, sql);
}

Test(open, a_newer_store_is_refused_and_left_alone)
{
    make("s");
    scratch_reopen(NULL);
    int64_t version = version_get();
    cr_assert_gt(version, 0);
    version_set(version + 1);
    cr_assert_eq(try_open(T.path, NULL), RAMET_NEWER);
    char number[16];
    snprintf(number, sizeof number, "%d", (int)version + 1);
    cr_assert(strstr(err.message, number), "the message names the version: %s", err.message);
    cr_assert_eq(version_get(), version + 1);
    version_set(version);
    cr_assert_eq(try_open(T.path, NULL), RAMET_OK, "%s", err.message);
}

Test(open, twice_in_one_process_and_again_later)
{
    make("s");
    say("s", "a");
    ramet *second = NULL;
    cr_assert_eq(ramet_open(T.path, NULL, &second, NULL), RAMET_OK);
    ramet_call *c = ramet_call_new(second, NULL, NULL);
    ramet_session *s = NULL;
    cr_assert_eq(ramet_session_get(c, "s", &s), RAMET_OK);
    ramet_append_out out;
    ramet_entry_in in = {.id = "b", .role = RAMET_USER, .text = "b"};
    cr_assert_eq(ramet_append(c, "s", &(ramet_append_in){.entries = &in, .n = 1}, &out), RAMET_OK);
    cr_assert_str_eq(ids("s"), "a b", "the other sees it");
    say("s", "c");
    ramet_call_reset(c);
    cr_assert_eq(ramet_session_get(c, "s", &s), RAMET_OK);
    cr_assert_eq(s->head.length, 3);
    ramet_call_free(c);
    ramet_close(second);
    scratch_reopen(NULL);
    cr_assert_str_eq(ids("s"), "a b c");
    cr_assert_eq(ramet_health(T.store), RAMET_OK);
}

Test(open, a_call_keeps_its_last_error)
{
    ramet_session *s;
    cr_assert_eq(ramet_session_get(T.call, "none", &s), RAMET_SESSION_NOT_FOUND);
    const ramet_error *e = ramet_call_error(T.call);
    cr_assert_eq(e->status, RAMET_SESSION_NOT_FOUND);
    cr_assert(strstr(e->message, "none"));
    make("s");
    ok(ramet_session_get(T.call, "s", &s));
    cr_assert_eq(ramet_call_error(T.call)->status, RAMET_OK, "a call that goes well clears it");
    ramet_call_free(NULL);
    ramet_close(NULL);
}
