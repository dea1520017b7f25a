/* SPDX-License-Identifier: Apache-2.0
 *
 * child.h: programs that a benchmark runs as child processes, each listening on its own port.
 */
#ifndef BENCH_CHILD_H
#define BENCH_CHILD_H

#include "bench/suite.h"

#include <sys/types.h>

typedef struct child {
    pid_t pid;
    int port;
} child;

/* Runs a function in a child process; it must write its port (an int) to `out`. */
child child_fork(void (*run)(int out));
/* Starts `ramet serve` on a scratch store, or on the store at a URL. `more` (may be NULL) holds
 * further arguments and ends with NULL. */
child child_serve(const bench *b, const char *name, const char *const *more);
void child_end(child *c);
int64_t child_resident(const child *c); /* resident bytes now */
/* http://127.0.0.1:PORT followed by the path; in a ring of a few static buffers. */
const char *child_url(const child *c, const char *path);

#endif
