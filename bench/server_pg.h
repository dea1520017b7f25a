/* SPDX-License-Identifier: Apache-2.0
 *
 * server_pg.h: a private PostgreSQL server for benchmarks, in the scratch folder, listening on a
 * socket there, with durable commits.
 */
#ifndef BENCH_SERVER_PG_H
#define BENCH_SERVER_PG_H

#include "bench/suite.h"

#include <sys/types.h>

typedef struct server_pg {
    char bin[256];  /* the folder of its executables */
    char dir[1024]; /* holds its data, its socket and its log */
    pid_t pid;
} server_pg;

void server_pg_start(const bench *b, server_pg *s);
void server_pg_stop(server_pg *s);
/* The URL of a database there; in a ring of a few static buffers. */
const char *server_pg_url(const server_pg *s, const char *database);
/* Runs statements; returns the first number of the last result, or 0. */
double server_pg_run(const server_pg *s, const char *database, const char *sql);
void server_pg_database(const server_pg *s, const char *name); /* creates a database */

#endif
