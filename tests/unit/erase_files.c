/* SPDX-License-Identifier: Apache-2.0
 *
 * erase_files.c: the table of columns against the tables of a real store, and the bytes of files.
 */
#include "attach.h"
#include "erase.h"

#include "ramet/export.h"
#include "store/sql/sql.h"

#include <dirent.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(erase_files, .init = scratch_open, .fini = scratch_close);

/* ---- every column is known */

typedef struct column {
    const char *table, *name, *class;
} column;
static const column columns[] = {
#define ROW(X, t, c, class) {#t, #c, #class},
    ERASE_COLUMNS(ROW, )
#undef ROW
};
#define N_COLUMNS (sizeof columns / sizeof *columns)

Test(erase_files, every_text_column_of_a_file_has_a_class)
{
    char sql[400];
    int64_t known = 0;
    for (size_t i = 0; i < N_COLUMNS; i++) {
        snprintf(sql, sizeof sql,
                 "SELECT count(*) FROM pragma_table_info('%s') WHERE name='%s' AND type IN "
                 "('TEXT','BLOB')",
                 columns[i].table, columns[i].name);
        known += sql_number(sql);
    }
    cr_assert_eq(sql_number("SELECT count(*) FROM sqlite_master m, pragma_table_info(m.name) c "
                            "WHERE m.type='table' AND c.type NOT LIKE '%INT%'"),
                 known, "a column is not in ERASE_COLUMNS (src/store/sql/erase_sql.h)");
}

Test(erase_files, every_text_column_of_a_database_has_a_class)
{
    char sql[400];
    int64_t known = 0;
    for (size_t i = 0; i < N_COLUMNS; i++) {
        snprintf(sql, sizeof sql,
                 "SELECT count(*) FROM information_schema.columns WHERE "
                 "table_schema=current_schema() AND table_name='%s' AND column_name='%s'",
                 columns[i].table, columns[i].name);
        int64_t n = sql_number(sql);
        cr_expect_eq(n, 1, "%s.%s is not a column", columns[i].table, columns[i].name);
        known += n;
    }
    /* Without the views, and the partitions of tables. */
    cr_assert_eq(
        sql_number("SELECT count(*) FROM information_schema.columns c JOIN pg_namespace n ON "
                   "n.nspname=c.table_schema JOIN pg_class r ON r.relname=c.table_name AND "
                   "r.relnamespace=n.oid WHERE c.table_schema=current_schema() AND r.relkind IN "
                   "('r','p') AND NOT "
                   "r.relispartition AND c.data_type NOT IN ('bigint','integer','smallint')"),
        known, "a column is not in ERASE_COLUMNS (src/store/sql/erase_sql.h)");
}

/* A statement of its own changes or removes each column that is content. */
Test(erase_files, every_class_has_statements)
{
    static const char *const by_row[] = {
        "body.packed",   "attached.attachment", "feedback.comment", "indexed.text", "prompt.digest",
        "prompt.packed", "attachment.name",     "session.tags",     "tag.tag",      "session.fill"};
    for (size_t i = 0; i < N_COLUMNS; i++) {
        char name[96], set[96];
        bool served =
            strcmp(columns[i].class, "ENTRY") != 0 && strcmp(columns[i].class, "SESSION") != 0;
        snprintf(name, sizeof name, "%s.%s", columns[i].table, columns[i].name);
        for (size_t r = 0; r < sizeof by_row / sizeof *by_row; r++)
            served = served || strcmp(name, by_row[r]) == 0;
        snprintf(name, sizeof name, "UPDATE %s SET ", columns[i].table);
        snprintf(set, sizeof set, "%s=", columns[i].name);
        for (int q = 0; q < Q_COUNT && !served; q++)
            served = strncmp(sql_name((sql_id)q), "erase_", 6) == 0 &&
                     strncmp(sql_text((sql_id)q), name, strlen(name)) == 0 &&
                     strstr(sql_text((sql_id)q) + strlen(name), set);
        cr_expect(served, "no statement erases %s.%s", columns[i].table, columns[i].name);
    }
}

/* ---- the bytes of the files */

typedef struct needle {
    const char *bytes;
    size_t n;
} needle;

static bool file_has(const char *path, const needle *what)
{
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode) || !about.st_size)
        return false;
    FILE *f = fopen(path, "rb");
    char *all = malloc((size_t)about.st_size);
    size_t n = f && all ? fread(all, 1, (size_t)about.st_size, f) : 0;
    bool found = memmem(all, n, what->bytes, what->n) != NULL;
    if (found)
        fprintf(stderr, "found in %s\n", path);
    free(all);
    if (f)
        fclose(f);
    return found;
}

/* In any file of a folder, and of folders in it. */
static bool folder_has(const char *folder, const needle *what)
{
    bool found = false;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        found =
            e->d_type == DT_DIR ? folder_has(path, what) || found : file_has(path, what) || found;
    }
    if (d)
        closedir(d);
    return found;
}

Test(erase_files, no_byte_is_left_in_any_file)
{
    static char plain[9000], packed[9100];
    make("s");
    ask("s", "a", "plain " SECRET);
    for (uint32_t i = 0, x = 1; i + 1 < sizeof plain; i++) {
        x = x * 1664525u + 1013904223u;
        plain[i] = (char)('a' + (x >> 24) % 16);
    }
    ask("s", "l", plain);
    const char *file = upload(T.call, "a file with " SECRET);
    attach("s", "f", file);
    ramet_import *spool;
    ok(ramet_import_begin(T.call, "left", 1 << 20, &spool));
    ok(ramet_import_add(spool, "in a spool " SECRET, strlen("in a spool " SECRET)));
    ramet_import_close(spool);
    cr_assert_eq(erase_hits("plain"), 1);
    for (int i = 0; i < 300; i++) {
        char id[16];
        snprintf(id, sizeof id, "m%d", i);
        ask("s", id, "filler that stays");
    }
    /* What the body holds, packed: taken from the store itself. */
    sqlite3 *h;
    sqlite3_stmt *q;
    cr_assert_eq(sqlite3_open(T.path, &h), SQLITE_OK);
    cr_assert_eq(sqlite3_prepare_v2(h, "SELECT packed FROM body", -1, &q, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_step(q), SQLITE_ROW);
    size_t n = (size_t)sqlite3_column_bytes(q, 0);
    cr_assert_gt(n, 1000);
    cr_assert_lt(n, sizeof packed);
    memcpy(packed, sqlite3_column_blob(q, 0), n);
    cr_assert_eq(packed[0], 1, "it is not packed");
    sqlite3_finalize(q);
    sqlite3_close(h);
    needle middle = {packed + n / 2, 64}, secret = {SECRET, sizeof SECRET - 1};
    cr_assert(folder_has(T.dir, &middle));
    cr_assert(folder_has(T.dir, &secret));
    erase_it("s", "a");
    erase_it("s", "l");
    erase_it("s", "f");
    cr_assert_not(folder_has(T.dir, &middle));
    cr_assert_not(folder_has(T.dir, &secret));
    cr_assert_not(folder_has(T.dir, &(needle){"swordfish", 9}));
    cr_assert_eq(erase_hits("stays"), 50);
    cr_assert_not(folder_has(T.dir, &(needle){"swordfish", 9}), "the index was made anew with it");
    sound();
}

Test(erase_files, no_byte_of_a_name_is_left_in_any_file)
{
    erase_user_stage();
    cr_assert_eq(erase_hits("hello"), 1);
    cr_assert(folder_has(T.dir, &(needle){"carlos", 6}));
    ok(ramet_erase(T.call, &(ramet_erase_in){.user = "carlos"}, &erase_receipt));
    cr_assert_not(folder_has(T.dir, &(needle){"carlos", 6}));
    cr_assert_not(folder_has(T.dir, &(needle){"swordfish", 9}));
}

/* An entry whose text does not shrink when it is packed, one with a file, and a short one by dora,
 * in a session of hers. The secret is in each. */
static void secrets_put(const char *session, const char *secret)
{
    static char text[9000];
    ramet_session *s;
    ramet_call *dora = as("dora");
    size_t at = (size_t)snprintf(text, sizeof text, "%s ", secret);
    for (uint32_t x = 1; at + 1 < sizeof text; at++) {
        x = x * 1664525u + 1013904223u;
        text[at] = (char)('a' + (x >> 24) % 16);
    }
    ok_for(dora, ramet_session_create(dora, &(ramet_session_in){.id = session}, &s));
    ask(session, "long", text);
    attach(session, "file", upload(T.call, secret));
    put(session,
        &(ramet_entry_in){.id = "short", .role = RAMET_USER, .text = secret, .author = "dora"});
}

Test(erase_files, no_row_of_a_database_has_it)
{
    static const char *const kinds[] = {"entry", "session", "tree", "user"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char secret[60];
        ramet_session *s;
        snprintf(secret, sizeof secret, "swordfish%s", kinds[i]);
        secrets_put(kinds[i], secret);
        cr_assert_eq(erase_hits(secret), 2);
        cr_assert_eq(sql_number("SELECT count(*) FROM body"), 1);
        cr_assert_eq(sql_number("SELECT count(*) FROM attach_part"), 1);
        cr_assert(erase_anywhere(secret));
        ok(ramet_session_get(T.call, kinds[i], &s));
        ramet_erase_in in = {.session = i < 2 ? kinds[i] : NULL,
                             .tree = i == 2 ? s->tree_id : NULL,
                             .user = i == 3 ? "dora" : NULL};
        static const char *const ids[] = {"long", "file", "short"};
        for (size_t k = 0; k < (i == 0 ? 3 : 1); k++) {
            in.entry_id = i == 0 ? ids[k] : NULL;
            ok(ramet_erase(T.call, &in, &erase_receipt));
        }
        cr_assert_eq(erase_hits(secret), 0);
        cr_assert_eq(sql_number("SELECT count(*) FROM body"), 0);
        cr_assert_eq(sql_number("SELECT count(*) FROM attach_part"), 0);
        cr_assert_not(erase_anywhere(secret), "erased by %s", kinds[i]);
    }
    cr_assert_not(erase_anywhere("dora"));
    sound();
}

/* A reader that stands still keeps the log: the erasure is not acknowledged, and goes on later. */
Test(erase_files, a_reader_in_another_process_delays_the_answer)
{
    sqlite3 *h;
    make("s");
    ask("s", "a", SECRET);
    ramet_options opt = scratch_options();
    opt.busy_ms = 50;
    scratch_reopen(&opt);
    cr_assert_eq(sqlite3_open(T.path, &h), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(h, "BEGIN; SELECT * FROM entry", NULL, NULL, NULL), SQLITE_OK);
    refused(
        RAMET_BUSY, NULL,
        ramet_erase(T.call, &(ramet_erase_in){.session = "s", .entry_id = "a"}, &erase_receipt));
    ramet_entry *e;
    ok(ramet_entry_get(T.call, "s", 0, "a", &e));
    cr_assert_not_null(e->erased);
    sqlite3_exec(h, "COMMIT", NULL, NULL, NULL);
    sqlite3_close(h);
    int64_t n;
    ok(ramet_erase_resume(T.call, &n));
    cr_assert_eq(n, 1);
    cr_assert_not(folder_has(T.dir, &(needle){"swordfish", 9}));
}
