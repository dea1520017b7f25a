/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables as text, for operators who create them by hand: the scripts of schema.c, as the
 * engines run them, statement by statement. The tables that PostgreSQL partitions are those that
 * Citus distributes; so nothing here names a table of a tree.
 */
#include "store/postgres/postgres.h"
#include "store/sql/schema.h"

#include "base/buf.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

/* Tables outside trees that are joined with tables of trees: Citus keeps a copy on each node. The
 * rest stays on the coordinator: one process writes it, or nothing joins it. */
static const char *const joined[] = {"dir", "share", "attachment"};

typedef struct schema_writer {
    const ramet_schema_in *in;
    void (*statement)(void *arg, const char *sql);
    void *arg;
    buf spread, others; /* names of tables, each followed by a NUL */
} schema_writer;

/* The number of partitions of a table; 1: none. */
static int parts_of(const schema_writer *t)
{
    return t->in->engine == RAMET_CITUS ? 1 : t->in->partitions ? t->in->partitions : PARTITIONS;
}

static void statement_write(schema_writer *t, const char *sql)
{
    char name[64] = "";
    bool spread = strstr(sql, SCHEMA_SPREAD) != NULL;
    if (t->in->engine != RAMET_SQLITE && schema_table(sql, name, sizeof name))
        buf_add(spread ? &t->spread : &t->others, name, strlen(name) + 1);
    char *whole = spread && parts_of(t) == 1 ? schema_whole(sql) : NULL;
    t->statement(t->arg, whole ? whole : sql);
    free(whole);
}

static void parts_write(schema_writer *t)
{
    char sql[512];
    int parts = parts_of(t);
    for (size_t at = 0; parts > 1 && at < t->spread.n; at += strlen(t->spread.data + at) + 1)
        for (int i = 0; i < parts; i++) {
            schema_part(t->spread.data + at, i, parts, sql, sizeof sql);
            t->statement(t->arg, sql);
        }
    buf_clear(&t->spread);
}

static bool is_joined(const char *table)
{
    for (size_t i = 0; i < sizeof joined / sizeof *joined; i++)
        if (strcmp(joined[i], table) == 0)
            return true;
    return false;
}

static void citus_write(schema_writer *t)
{
    char sql[256];
    for (size_t at = 0; at < t->others.n; at += strlen(t->others.data + at) + 1) {
        if (!is_joined(t->others.data + at))
            continue;
        snprintf(sql, sizeof sql, "SELECT create_reference_table('%s')", t->others.data + at);
        t->statement(t->arg, sql);
    }
    /* The first one is `tree`; all others are colocated with it. */
    for (size_t at = 0; at < t->spread.n; at += strlen(t->spread.data + at) + 1) {
        snprintf(sql, sizeof sql,
                 "SELECT create_distributed_table('%s','tree',colocate_with=>'%s')",
                 t->spread.data + at, at || t->in->after ? "tree" : "none");
        t->statement(t->arg, sql);
    }
}

static void step_write(schema_writer *t, const db_engine *e, const char *script)
{
    char *text = e->plain(script);
    for (char *sql = text, *end; *sql; sql = end) {
        end = sql + strcspn(sql, ";");
        if (*end)
            *end++ = 0;
        statement_write(t, sql);
    }
    free(text);
    if (t->in->engine == RAMET_POSTGRES)
        parts_write(t);
}

ramet_status schema_write(const ramet_schema_in *in, void (*statement)(void *arg, const char *sql),
                          void *arg)
{
    const db_engine *e = in->engine == RAMET_SQLITE ? &sqlite_engine : &postgres_engine;
    int64_t newest = schema_steps[schema_n_steps - 1].version;
    schema_writer t = {.in = in, .statement = statement, .arg = arg};
    if (in->partitions < 0 || in->partitions > MAX_PARTITIONS || in->after < 0 ||
        in->after > newest)
        return RAMET_INVALID;
    buf_init(&t.spread, 1 << 16);
    buf_init(&t.others, 1 << 16);
    for (size_t i = 0; i < schema_n_steps; i++)
        if (schema_steps[i].version > in->after)
            step_write(&t, e, schema_steps[i].script);
    if (in->engine == RAMET_CITUS)
        citus_write(&t);
    char *mark = e->version_text(newest);
    if (in->after < newest)
        statement(arg, mark);
    free(mark);
    buf_release(&t.spread);
    buf_release(&t.others);
    return RAMET_OK;
}
