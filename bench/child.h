/* SPDX-License-Identifier: Apache-2.0
 *
 * child.h: programs that a case runs beside itself, each on a port of its own.
 */
#ifndef BENCH_CHILD_H
#define BENCH_CHILD_H

#include "bench/suite.h"

#include <sys/types.h>

typedef struct child {
    pid_t pid;
    int port;
} child;

/* A function in a process of its own: it writes its port (an int) to `out`. */
child child_fork(void (*run)(int out));
/* `ramet serve` on a scratch store, or on the one of a URL; `more` (NULL: none) are further words,
 * NULL at the end. */
child child_serve(const bench *b, const char *name, const char *const *more);
void child_end(child *c);
int64_t child_resident(const child *c); /* bytes of memory that it has now */
/* http://127.0.0.1:PORT and the path; in a ring of a few static buffers. */
const char *child_url(const child *c, const char *path);

#endif
