/* SPDX-License-Identifier: Apache-2.0
 *
 * minimum.h: the least that an append and a fork can be on PostgreSQL, driven by pgbench: what the
 * store is measured against there.
 *
 * Statements are prepared and go out in one pipeline: one round trip, one commit. The tables have
 * the columns of the store's own and nothing but their primary key: no second index, no partitions,
 * no directory of ids. Nothing is looked up or checked before, nobody is asked whether he may, no
 * hash is made, nothing is done afterwards. The text goes over the wire each time, as in the store.
 */
#ifndef BENCH_MINIMUM_H
#define BENCH_MINIMUM_H

#include "bench/server_pg.h"

typedef enum { MINIMUM_APPEND, MINIMUM_FORK } minimum_kind;

/* Makes the tables beside those of the store in a database. */
void minimum_make(const bench *b, const server_pg *s, const char *database);
/* Transactions a second by so many clients for so many seconds. */
double minimum_rate(const bench *b, const server_pg *s, const char *database, minimum_kind kind,
                    int clients, int seconds);

#endif
