/* SPDX-License-Identifier: Apache-2.0
 *
 * The plans of PostgreSQL: what a statement reads must not depend on the statistics of its tables.
 * A store makes generic plans, and keeps each as long as its connection; the first plans of a
 * server are made while the tables are empty and have never been analyzed.
 *
 * Each statement of store/sql/sql.h is planned on an empty store, on a small one, on a small one
 * that was analyzed, on a large one and on a large one that was analyzed, by connections of the
 * store's own. The plan is then executed on the large store, and counted is what it touches: rows
 * that scans return and filters remove, and buffers. A statement is either a lookup, which touches
 * few of them, or stands in the list of walks (plans_list.h). One that is in neither list fails.
 */
#include "../lib/scratch_db.h"
#include "plans_fill.h"
#include "plans_list.h"
#include "store/postgres/postgres.h"
#include "store/sql/postgres_sql.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 12, LARGE = 1500, TEXT = 16384 };
/* For a lookup, all of its indexes included. A walk over one dimension of the large store takes
 * LARGE rows and more. */
enum { MOST_ROWS = 100, MOST_BUFFERS = 150 };

typedef struct plan_case {
    const char *name, *values;
} plan_case;

/* Statements that are not in store/sql/sql.h, found by a part of their text. */
typedef struct other_case {
    const char *name, *part, *types, *values;
} other_case;
static const other_case others[] = {OTHERS};
#define N_OTHERS (sizeof others / sizeof *others)

#define X(name, values) [Q_##name] = {#name, values},
static const plan_case lookups[Q_COUNT] = {LOOKUPS(X)};
#undef X
#define X(name, reason) [Q_##name] = {#name, reason},
static const plan_case walks[Q_COUNT] = {WALKS(X)};
#undef X

#define X(name) [Q_##name] = true,
static const bool sqlite_only[Q_COUNT] = {SQLITE_ONLY(X)};
#undef X

static char url[1024];
static db_site *site;

/* ------------------------------------------------------------- connections */

static pg *connect_store(void)
{
    char message[512];
    pg *d;
    cr_assert_eq(pg_connect(site, &d, message), RAMET_OK, "%s", message);
    return d;
}

static PGresult *run(pg *d, const char *sql)
{
    PGresult *r = link_exec(d, sql);
    cr_assert(r, "%s\n%s", d->base.message, sql);
    return r;
}

static void run_only(pg *d, const char *sql)
{
    PQclear(run(d, sql));
}

/* -------------------------------------------------------------- statements */

/* The next of the values; its type. NULL: there is none. */
static const char *value_type(const char **at)
{
    const char *p = *at, *type;
    if (!*p)
        return NULL;
    type = strncmp(p, "'\\x", 3) == 0 ? "bytea" : *p == '\'' || *p == 'N' ? "text" : "bigint";
    p += strcspn(p, ",");
    *at = *p ? p + 1 : p;
    return type;
}

static void types_of(const char *values, char *out, size_t size)
{
    size_t n = 0;
    *out = 0;
    for (const char *at = values, *type; (type = value_type(&at));)
        n += (size_t)snprintf(out + n, size - n, "%s%s", n ? "," : "(", type);
    if (n)
        snprintf(out + n, size - n, ")");
}

static void execute_text(const char *how, const char *name, const char *values, char *out)
{
    snprintf(out, TEXT, "EXPLAIN %s EXECUTE %s%s%s%s", how, name, *values ? "(" : "", values,
             *values ? ")" : "");
}

static void plan_one(pg *d, const char *name, const char *types, const char *text,
                     const char *values)
{
    char *sql = malloc(TEXT);
    snprintf(sql, TEXT, "PREPARE %s%s AS %s", name, types, text);
    run_only(d, sql);
    execute_text("", name, values, sql);
    run_only(d, sql);
    free(sql);
}

/* The text of a statement that is not in the table. The caller's. */
static char *other_text(const other_case *c)
{
    buf text;
    char *found = strstr(EVENTS_MOVE, c->part) ? strdup(EVENTS_MOVE) : NULL;
    buf_init(&text, TEXT);
    for (size_t i = 0; !found && batch_text(i, &text); i++) {
        found = strstr(text.data, c->part) ? strdup(text.data) : NULL;
        buf_clear(&text);
    }
    buf_release(&text);
    cr_assert(found, "%s", c->name);
    return found;
}

/* Plans every lookup on the store as it is. */
static void plan_all(pg *d)
{
    char types[512];
    for (int i = 0; i < Q_COUNT; i++) {
        if (!lookups[i].name)
            continue;
        types_of(lookups[i].values, types, sizeof types);
        plan_one(d, lookups[i].name, types, sql_text_postgres((sql_id)i), lookups[i].values);
    }
    for (size_t i = 0; i < N_OTHERS; i++) {
        char *text = other_text(&others[i]);
        plan_one(d, others[i].name, others[i].types, text, others[i].values);
        free(text);
    }
}

/* -------------------------------------------------------------------- work */

typedef struct work {
    double rows, buffers;
} work;

static double number_after(const char *line, const char *word)
{
    const char *at = strstr(line, word);
    return at ? strtod(at + strlen(word), NULL) : 0;
}

/* Adds up the lines of EXPLAIN (ANALYZE, BUFFERS). The buffers of a node include those below it. */
static work work_of(const PGresult *r)
{
    work w = {0};
    double loops = 0;
    bool counted = false;
    for (int i = 0; i < PQntuples(r); i++) {
        const char *line = PQgetvalue(r, i, 0);
        if (strncmp(line, "Planning:", 9) == 0)
            break;
        if (strstr(line, "(actual rows=") || strstr(line, "(never executed)")) {
            loops = number_after(line, "loops=");
            if (strstr(line, "Scan"))
                w.rows += number_after(line, "actual rows=") * loops;
        } else if (strstr(line, "Rows Removed by")) {
            w.rows += strtod(strrchr(line, ':') + 1, NULL) * loops;
        } else if (strstr(line, "Buffers: shared") && !counted) {
            w.buffers = number_after(line, "hit=") + number_after(line, "read=");
            counted = true;
        }
    }
    return w;
}

static void plan_print(const PGresult *r, char *out, size_t size)
{
    size_t n = 0;
    for (int i = 0; i < PQntuples(r) && n < size; i++)
        n += (size_t)snprintf(out + n, size - n, "    %s\n", PQgetvalue(r, i, 0));
}

/* Executes a statement by the plan that the connection has, and takes back what it did. */
static void execute_one(pg *d, const char *name, const char *values, const char *when)
{
    char *text = malloc(TEXT);
    work w = {0};
    /* The first execution also reads what the server keeps about tables. */
    for (int k = 0; k < 2; k++) {
        run_only(d, "BEGIN");
        execute_text("(ANALYZE,BUFFERS,COSTS OFF,TIMING OFF,SUMMARY OFF)", name, values, text);
        PGresult *r = run(d, text);
        w = work_of(r);
        plan_print(r, text, TEXT);
        PQclear(r);
        run_only(d, "ROLLBACK");
    }
    cr_expect(w.rows <= MOST_ROWS && w.buffers <= MOST_BUFFERS,
              "%s, planned on %s: %.0f rows and %.0f buffers\n%s", name, when, w.rows, w.buffers,
              text);
    free(text);
}

static void execute_all(pg *d, const char *when)
{
    for (int i = 0; i < Q_COUNT; i++)
        if (lookups[i].name)
            execute_one(d, lookups[i].name, lookups[i].values, when);
    for (size_t i = 0; i < N_OTHERS; i++)
        execute_one(d, others[i].name, others[i].values, when);
}

/* The tables of this store alone: others are in the same database. */
static void analyze(pg *d)
{
    run_only(d, "DO $$DECLARE r regclass; BEGIN FOR r IN SELECT oid FROM pg_class WHERE "
                "relnamespace=current_schema()::regnamespace AND relkind IN ('r','p') LOOP "
                "EXECUTE format('ANALYZE %s',r); END LOOP; END$$");
}

static void fill(pg *d, int from, int to)
{
    char sql[200];
    run_only(d, "CREATE TEMP TABLE IF NOT EXISTS num(i BIGINT); TRUNCATE num");
    snprintf(sql, sizeof sql, "INSERT INTO num SELECT generate_series(%d,%d)", from, to);
    run_only(d, sql);
    run_only(d, fill_sql);
}

/* -------------------------------------------------------------------- tests */

static void store_make(const char *name, int partitions)
{
    char message[512] = "";
    ramet *r;
    ramet_error err;
    scratch_db_make(name, url, sizeof url);
    char *at = strstr(url, "&partitions=");
    cr_assert(at);
    snprintf(at, sizeof url - (size_t)(at - url), "&partitions=%d", partitions);
    cr_assert_eq(ramet_open(url, NULL, &r, &err), RAMET_OK, "%s", err.message);
    ramet_close(r);
    cr_assert_eq(site_open(url, &site, message), RAMET_OK, "%s", message);
    /* Autovacuum would analyze the tables in mid-test. */
    pg *d = connect_store();
    run_only(d, "DO $$DECLARE r regclass; BEGIN FOR r IN SELECT oid FROM pg_class WHERE "
                "relnamespace=current_schema()::regnamespace AND relkind='r' LOOP "
                "EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled=off)',r); "
                "END LOOP; END$$");
    pg_close(d);
}

static void store_drop(const char *name)
{
    site_close(site);
    scratch_db_drop(name);
}

static void check_growing(const char *name, int partitions)
{
    if (!scratch_db_on())
        return;
    store_make(name, partitions);
    pg *filler = connect_store(), *empty = connect_store(), *small = connect_store();
    plan_all(empty);
    fill(filler, 1, SMALL);
    plan_all(small);
    fill(filler, SMALL + 1, LARGE);
    pg *large = connect_store();
    plan_all(large);
    execute_all(empty, "an empty store");
    execute_all(small, "a small store");
    execute_all(large, "a large store");
    analyze(filler);
    pg *analyzed = connect_store();
    plan_all(analyzed);
    execute_all(analyzed, "a large store that was analyzed");
    pg_close(filler);
    pg_close(empty);
    pg_close(small);
    pg_close(large);
    pg_close(analyzed);
    store_drop(name);
}

/* Statistics of a store of that size are old when it has become large. */
static void check_old(const char *name, int partitions, int size)
{
    char when[80];
    if (!scratch_db_on())
        return;
    snprintf(when, sizeof when, "a store of %d that was analyzed", size);
    store_make(name, partitions);
    pg *filler = connect_store(), *small = connect_store();
    fill(filler, 1, size);
    analyze(filler);
    plan_all(small);
    fill(filler, size + 1, LARGE);
    execute_all(small, when);
    pg_close(filler);
    pg_close(small);
    store_drop(name);
}

Test(plans, of_whole_tables_do_not_depend_on_old_statistics)
{
    check_old("plans_whole_old", 1, 0);
    check_old("plans_whole_old", 1, 2);
    check_old("plans_whole_old", 1, 40);
}

Test(plans, of_partitions_do_not_depend_on_old_statistics)
{
    check_old("plans_parts_old", 2, 3);
    check_old("plans_parts_old", 2, 40);
}

/* The plan of a statement whose parameters are not known. NULL: it has none here. */
static PGresult *plan_bare(pg *d, sql_id id)
{
    char *sql = malloc(TEXT);
    int n = pg_stmt_of(d, id)->n;
    snprintf(sql, TEXT, "PREPARE %s AS %s", sql_name(id), sql_text_postgres(id));
    PQclear(link_exec(d, sql));
    bool good = d->base.status == RAMET_OK;
    size_t at = (size_t)snprintf(sql, TEXT, "EXPLAIN EXECUTE %s", sql_name(id));
    for (int i = 0; i < n; i++)
        at += (size_t)snprintf(sql + at, TEXT - at, "%sNULL", i ? "," : "(");
    snprintf(sql + at, TEXT - at, n ? ")" : "");
    PGresult *r = good ? link_exec(d, sql) : NULL;
    free(sql);
    return r;
}

Test(plans, every_statement_that_scans_is_listed)
{
    if (!scratch_db_on())
        return;
    store_make("plans_list", 1);
    pg *d = connect_store();
    for (int i = 0; i < Q_COUNT; i++) {
        if (lookups[i].name || walks[i].name || sqlite_only[i])
            continue;
        char text[TEXT] = "";
        PGresult *r = plan_bare(d, (sql_id)i);
        if (r)
            plan_print(r, text, sizeof text);
        cr_expect(r && !strstr(text, "Scan"), "%s is in no list: %s\n%s", sql_name((sql_id)i),
                  d->base.message, text);
        PQclear(r);
        db_clear(&d->base);
    }
    pg_close(d);
    store_drop("plans_list");
    buf text;
    buf_init(&text, TEXT);
    for (size_t i = 0; batch_text(i, &text); i++) {
        bool listed = false;
        for (size_t k = 0; k < N_OTHERS; k++)
            listed |= strstr(text.data, others[k].part) != NULL;
        cr_expect(listed, "in no list: %s", text.data);
        buf_clear(&text);
    }
    buf_release(&text);
}

Test(plans, of_whole_tables_do_not_depend_on_statistics)
{
    check_growing("plans_whole", 1);
}

Test(plans, of_partitions_do_not_depend_on_statistics)
{
    check_growing("plans_parts", 2);
}
