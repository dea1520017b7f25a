/* SPDX-License-Identifier: Apache-2.0 */
#include "scratch_db.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARTITIONS "&partitions=2" /* fewer tables to make and to drop */

static const char *server(void)
{
    return getenv("RAMET_TEST_DB");
}

bool scratch_db_on(void)
{
    return server() && *server();
}

static void give_up(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    abort();
}

static void cut(char *url, const char *what)
{
    char *at = strstr(url, what);
    if (at)
        memmove(at, at + strlen(what), strlen(at + strlen(what)) + 1);
}

PGconn *scratch_db_connect(const char *url)
{
    char plain[1024];
    snprintf(plain, sizeof plain, "%s", url);
    /* libpq does not know our own parameters. */
    cut(plain, PARTITIONS);
    cut(plain, "&pgbouncer=1");
    PGconn *c = PQconnectdb(plain);
    if (PQstatus(c) != CONNECTION_OK)
        give_up("no connection", PQerrorMessage(c));
    PQclear(PQexec(c, "SET client_min_messages=error"));
    return c;
}

int64_t scratch_db_run(const char *url, const char *sql)
{
    PGconn *c = scratch_db_connect(url);
    PGresult *r = PQexec(c, sql);
    ExecStatusType st = PQresultStatus(r);
    if (st != PGRES_COMMAND_OK && st != PGRES_TUPLES_OK)
        give_up(sql, PQerrorMessage(c));
    int64_t v = PQntuples(r) ? strtoll(PQgetvalue(r, 0, 0), NULL, 10) : 0;
    PQclear(r);
    PQfinish(c);
    return v;
}

void scratch_db_drop(const char *name)
{
    char sql[200];
    snprintf(sql, sizeof sql, "DROP SCHEMA IF EXISTS \"%s\" CASCADE", name);
    scratch_db_run(server(), sql);
}

void scratch_db_make(const char *name, char *url, size_t size)
{
    char sql[200];
    scratch_db_drop(name);
    snprintf(sql, sizeof sql, "CREATE SCHEMA \"%s\"", name);
    scratch_db_run(server(), sql);
    snprintf(url, size, "%s%soptions=-csearch_path%%3D%%22%s%%22" PARTITIONS, server(),
             strchr(server(), '?') ? "&" : "?", name);
    /* Words of SQLite that tests use to look at bytes and to change them. */
    scratch_db_run(url, "CREATE FUNCTION zeroblob(n INT) RETURNS bytea LANGUAGE sql AS "
                        "'SELECT decode(repeat(''00'',n),''hex'')';"
                        "CREATE FUNCTION hex(b bytea) RETURNS text LANGUAGE sql AS "
                        "'SELECT encode(b,''hex'')'");
}
