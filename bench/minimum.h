/* SPDX-License-Identifier: Apache-2.0
 *
 * minimum.h: the least work that an append and a fork can be on PostgreSQL, driven by pgbench: the
 * baseline that the store is compared with.
 *
 * Statements are prepared and sent in one pipeline: one round trip, one commit. The tables have the
 * columns of the store's tables and only a primary key: no second index, no partitions, no
 * directory of ids. There is no lookup, no validation, no access check, no hash and no work after
 * the commit. The text is sent each time, as in the store.
 */
#ifndef BENCH_MINIMUM_H
#define BENCH_MINIMUM_H

#include "bench/server_pg.h"

typedef enum { MINIMUM_APPEND, MINIMUM_FORK } minimum_kind;

/* Creates the tables next to those of the store in a database. */
void minimum_make(const bench *b, const server_pg *s, const char *database);
/* Transactions a second by so many clients, measured for so many seconds. */
double minimum_rate(const bench *b, const server_pg *s, const char *database, minimum_kind kind,
                    int clients, int seconds);

#endif
