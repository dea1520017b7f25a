/* SPDX-License-Identifier: Apache-2.0
 *
 * wrk.h: runs wrk, the HTTP load generator, against a server.
 */
#ifndef BENCH_WRK_H
#define BENCH_WRK_H

#include "bench/suite.h"

#include <stdio.h>

typedef struct wrk_result {
    double rate, p50_ms, p99_ms;
} wrk_result;

typedef struct wrk {
    const char *url;
    FILE *out;
} wrk;

/* Starts wrk for a few seconds; `url` must live until it ends. script NULL: plain GETs. */
wrk wrk_start(const bench *b, const char *url, const char *script, int connections);
wrk_result wrk_end(wrk *w);
wrk_result wrk_run(const bench *b, const char *url, const char *script, int connections);
/* Writes a script that appends an entry to each of n new sessions in turn: one session per
 * connection, as nearly as wrk can. */
void wrk_append_script(ramet *store, int n, const char *path);

#endif
