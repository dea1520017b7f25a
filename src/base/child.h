/* SPDX-License-Identifier: Apache-2.0
 *
 * child.h: a program that is spoken to through its standard input and output.
 *
 * It leads a process group of its own, so that what it has started ends with it. Its standard error
 * is the caller's.
 */
#ifndef BASE_CHILD_H
#define BASE_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct child {
    pid_t pid;   /* 0: none, or it was waited for */
    int in, out; /* of ours: what it reads, what it says; -1: closed */
    int status;  /* as of waitpid(), when it has ended */
    bool ended;
} child;

typedef struct child_how {
    char *const *argv;  /* ends with NULL; the program is looked for in PATH */
    const char *folder; /* NULL: this one */
    char *const *env;   /* NULL: this process's */
    bool merges;        /* what it says on standard error is with the rest */
} child_how;

/* False: errno tells why, also when there is no such program. */
bool child_start_as(child *c, const child_how *how);
bool child_start(child *c, char *const *argv, const char *folder);
/* Whether it has ended by now. */
bool child_over(child *c);
/* Ends it and its group: closes its input and waits eof_ms, then SIGTERM and term_ms, then SIGKILL.
 * What it says meanwhile is thrown away. Closes both ends. */
void child_stop(child *c, int eof_ms, int term_ms);

#endif
