/* SPDX-License-Identifier: Apache-2.0
 *
 * schema.c: `ramet schema` prints the statements that create the tables of a store.
 */
#include "cli/commands.h"

#include <string.h>

enum { SCHEMA_WIDTH = 100, SCHEMA_INDENT = 4 };

/* Where to break a line of a statement: after a space outside quotes. */
static size_t line_end(const char *sql, size_t width)
{
    size_t end = 0, i;
    bool quoted = false;
    for (i = 0; (i < width || !end) && sql[i]; i++) {
        quoted ^= sql[i] == '\'';
        if (sql[i] == ' ' && !quoted)
            end = i + 1;
    }
    return sql[i] ? end : i;
}

static void statement_print(void *arg, const char *sql)
{
    size_t width = SCHEMA_WIDTH, n;
    (void)arg;
    for (; *sql; sql += n, width = SCHEMA_WIDTH - SCHEMA_INDENT) {
        n = line_end(sql, width);
        int shown = (int)(sql[n] ? n - 1 : n);
        printf("%*s%.*s%s\n", width < SCHEMA_WIDTH ? SCHEMA_INDENT : 0, "", shown, sql,
               sql[n] ? "" : ";");
    }
}

static void statement_json(void *arg, const char *sql)
{
    cli *c = arg;
    jw_str(&c->jw, sql);
}

int cmd_schema(cli *c)
{
    static const char *const engines[] = {"sqlite", "postgres"};
    const char *engine = opt_text(c, "engine");
    int64_t parts = opt_count(c, "partitions", 0);
    bool citus = opt_flag(c, "citus");
    ramet_schema_in in = {.engine = citus ? RAMET_CITUS : RAMET_POSTGRES,
                          .after = opt_count(c, "after", 0)};
    if (engine && strcmp(engine, engines[0]) == 0)
        in.engine = RAMET_SQLITE;
    if (in.engine == RAMET_SQLITE && (citus || parts))
        return cli_error(c, RAMET_INVALID, citus ? "citus" : "partitions", "--%s is for PostgreSQL",
                         citus ? "citus" : "partitions");
    if (citus && parts)
        return cli_error(c, RAMET_INVALID, "partitions", "with --citus tables have no partitions");
    in.partitions = parts > INT32_MAX ? INT32_MAX : (int)parts;
    if (c->json)
        json_list_begin(c, "statements");
    if (ramet_schema(&in, c->json ? statement_json : statement_print, c) != RAMET_OK)
        return cli_error(c, RAMET_INVALID, parts ? "partitions" : "after",
                         "--partitions is 1 to 1024, --after a schema version up to this Ramet's");
    return c->json ? json_list_end(c) : 0;
}
