/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of a PostgreSQL store: created from the common scripts, in the first schema of the
 * connection's search path, partitioned by hash of the tree.
 */
#include "store/postgres/postgres.h"

#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pg *pg_of(db *d)
{
    return (pg *)d;
}

/* Runs a text inside the open transaction, if any. */
static PGresult *run(pg *d, const char *sql)
{
    return d->base.status == RAMET_OK ? link_exec(d, sql) : NULL;
}

static bool run_only(pg *d, const char *sql)
{
    PGresult *r = run(d, sql);
    PQclear(r);
    return r != NULL;
}

int64_t schema_one(db *base, const char *sql)
{
    PGresult *r = run(pg_of(base), sql);
    int64_t v = r && PQntuples(r) ? strtoll(PQgetvalue(r, 0, 0), NULL, 10) : 0;
    PQclear(r);
    return v;
}

/* Adds a collation: texts are ordered by their bytes, as everywhere in Ramet. */
static char *text_collate(const char *sql)
{
    static const char word[] = " TEXT", more[] = " COLLATE \"C\"";
    char *out = xmalloc(strlen(sql) * 4 + 1), *to = out;
    while (*sql) {
        bool hit = strncmp(sql, word, sizeof word - 1) == 0;
        *to++ = *sql++;
        if (!hit)
            continue;
        for (size_t i = 1; i < sizeof word - 1; i++)
            *to++ = *sql++;
        to = stpcpy(to, more);
    }
    *to = 0;
    return out;
}

/* Rows of branches are updated in place: room on their pages keeps that from touching an index. */
const char *schema_room(const char *table)
{
    return strcmp(table, "branch") == 0 ? " WITH (fillfactor=70)" : "";
}

void schema_part(const char *table, int part, int parts, char *out, size_t size)
{
    snprintf(out, size,
             "CREATE TABLE %s_%d PARTITION OF %s FOR VALUES WITH (MODULUS %d, REMAINDER %d)%s",
             table, part, table, parts, part, schema_room(table));
}

/* The number of partitions: of an existing store, as it was created; of a new one, from the URL. 1:
 * none. */
static int parts_of(pg *d)
{
    PGresult *r = run(d, "SELECT c.relkind,(SELECT count(*) FROM pg_inherits i WHERE "
                         "i.inhparent=c.oid) FROM pg_class c WHERE c.oid=to_regclass('tree')");
    int n = d->site->partitions;
    if (r && PQntuples(r))
        n = *PQgetvalue(r, 0, 0) == 'p' ? (int)strtol(PQgetvalue(r, 0, 1), NULL, 10) : 1;
    PQclear(r);
    return n > 0 ? n : 1;
}

/* Creates the partitions of every partitioned table that has none yet. */
static void parts_make(pg *d, int parts)
{
    char sql[512];
    PGresult *r =
        run(d, "SELECT c.relname FROM pg_class c WHERE c.relkind='p' AND "
               "c.relnamespace=quote_ident(current_schema())::regnamespace AND NOT EXISTS "
               "(SELECT 1 FROM pg_inherits i WHERE i.inhparent=c.oid) ORDER BY c.relname");
    for (int i = 0; r && i < PQntuples(r); i++) {
        const char *name = PQgetvalue(r, i, 0);
        for (int k = 0; k < parts; k++) {
            schema_part(name, k, parts, sql, sizeof sql);
            run_only(d, sql);
        }
    }
    PQclear(r);
}

char *schema_plain(const char *sql)
{
    static const db_word words[] = {{"@KEY", "BIGINT NOT NULL"},
                                    {"@BYTES", "bytea"},
                                    {"@CLUSTERED", ""},
                                    {"@SPREAD", SCHEMA_SPREAD}};
    char *plain = script_expand(sql, &postgres_engine, words, sizeof words / sizeof *words,
                                "))" SCHEMA_SPREAD);
    char *text = text_collate(plain);
    free(plain);
    return text;
}

bool schema_table(const char *sql, char *out, size_t size)
{
    static const char make[] = "CREATE TABLE ";
    if (strncmp(sql, make, sizeof make - 1) != 0)
        return false;
    sql += sizeof make - 1;
    size_t n = strcspn(sql, "( ");
    if (n >= size)
        return false;
    memcpy(out, sql, n);
    out[n] = 0;
    return true;
}

char *schema_whole(const char *sql)
{
    char name[64];
    const char *spread = strstr(sql, SCHEMA_SPREAD);
    if (!spread || !schema_table(sql, name, sizeof name))
        return xstrdup(sql);
    char *whole = xmalloc(strlen(sql) + 64);
    stpcpy(stpcpy(mempcpy(whole, sql, (size_t)(spread - sql)), schema_room(name)),
           spread + strlen(SCHEMA_SPREAD));
    return whole;
}

ramet_status schema_script(db *base, const char *sql)
{
    pg *d = pg_of(base);
    int parts = parts_of(d);
    char *text = schema_plain(sql);
    bool ok = true;
    for (char *at = text, *end; *at && ok; at = end) {
        end = at + strcspn(at, ";");
        if (*end)
            *end++ = 0;
        char *whole = parts == 1 ? schema_whole(at) : NULL;
        ok = run_only(d, whole ? whole : at);
        free(whole);
    }
    if (ok && parts > 1)
        parts_make(d, parts);
    free(text);
    return base->status;
}

/* Begins the announced transaction now: texts that run outside the pipeline do not do that. */
static void begin_now(pg *d)
{
    static const char text[] = "BEGIN";
    if (d->state == STATE_RUNNING && !d->begin_sent && d->work == DB_SCHEMA && run_only(d, text)) {
        d->begin_sent = true;
        run_only(
            d, "SELECT pg_advisory_xact_lock(hashtext('ramet schema'),hashtext(current_schema()))");
    }
}

bool schema_marked(db *base)
{
    begin_now(pg_of(base));
    return schema_one(
               base,
               "SELECT count(*) FROM pg_class WHERE "
               "relnamespace=quote_ident(current_schema())::regnamespace AND relkind IN ('r','p') "
               "AND relname IN ('meta','dir','outbox','session','branch','entry')") == 6;
}

int64_t schema_version(db *base)
{
    return schema_marked(base)
               ? schema_one(base, "SELECT CAST(value AS bigint) FROM meta WHERE key='schema'")
               : 0;
}

char *schema_version_text(int64_t v)
{
    char sql[160];
    snprintf(sql, sizeof sql,
             "INSERT INTO meta(key,value) VALUES('schema','%lld') "
             "ON CONFLICT(key) DO UPDATE SET value=excluded.value",
             (long long)v);
    return xstrdup(sql);
}

void schema_set_version(db *base, int64_t v)
{
    char *sql = schema_version_text(v);
    run_only(pg_of(base), sql);
    free(sql);
}

/* Nothing to do: the tables themselves are the mark. */
void schema_mark(db *d)
{
    (void)d;
}

/* Objects of an extension do not count. */
bool schema_empty(db *base)
{
    begin_now(pg_of(base));
    if (!schema_one(base, "SELECT CASE WHEN current_schema() IS NULL THEN 0 ELSE 1 END")) {
        db_fail(base, RAMET_CANNOT_OPEN, "no schema of the search path exists in the database");
        return false;
    }
    return schema_one(
               base,
               "SELECT count(*) FROM pg_class c WHERE c.relkind IN ('r','p','v','m') "
               "AND c.relnamespace=quote_ident(current_schema())::regnamespace AND NOT EXISTS "
               "(SELECT 1 FROM pg_depend x WHERE x.objid=c.oid AND x.deptype='e')") == 0;
}

void schema_sizes(db *base, int64_t *data, int64_t *log)
{
    *data = schema_one(
        base, "SELECT coalesce(sum(pg_total_relation_size(oid)),0) FROM pg_class "
              "WHERE relkind='r' AND relnamespace=quote_ident(current_schema())::regnamespace");
    *log = 0;
}
