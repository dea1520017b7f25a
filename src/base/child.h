/* SPDX-License-Identifier: Apache-2.0
 *
 * child.h: runs a program and talks to it through its standard input and output.
 *
 * A child leads a session of its own, so that the helpers it starts can be ended with it. It
 * inherits standard error from the caller (unless `merges`) and no other descriptor.
 *
 * LIFETIME  The exit of a child is the exit of the process that was started, whatever its helpers
 *           do: one of them may hold the output open for ever. Wait for `exit_fd`, not for the end
 *           of `out`. Only child_stop() reaps a child that has exited: until then the system does
 *           not reuse its process id, so signals reach no other process.
 * THREADS   One thread at a time, except child_kill(), which reads `pid` only.
 */
#ifndef BASE_CHILD_H
#define BASE_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct child {
    pid_t pid;   /* 0: never started, or reaped */
    int in, out; /* our ends of its standard input and output; -1: closed */
    int exit_fd; /* becomes readable when it exits; -1: closed */
    int status;  /* as of waitpid(), once `ended` */
    bool ended;
} child;

/* The value of a child before child_start(); child_stop() accepts it. */
#define CHILD_NONE                                                                                 \
    {                                                                                              \
        .in = -1, .out = -1, .exit_fd = -1                                                         \
    }

typedef struct child_how {
    char *const *argv;  /* NULL ends it; the program is looked up in PATH */
    const char *folder; /* NULL: the current one */
    char *const *env;   /* NULL: the environment of this process */
    bool merges;        /* standard error goes into the output */
} child_how;

/* False: errno says why; a program that cannot be executed is reported here, too. */
bool child_start_as(child *c, const child_how *how);
bool child_start(child *c, char *const *argv, const char *folder);
/* Whether it has exited by now. */
bool child_over(child *c);
/* Sends SIGKILL to it and to the processes of its session. */
void child_kill(const child *c);
/* Ends it: closes its input and waits eof_ms, then sends SIGTERM and waits term_ms, then SIGKILL.
 * Helpers that are left when it has exited get SIGTERM and SIGKILL in the same way. Output that
 * arrives meanwhile is discarded. Reaps it and closes the descriptors. */
void child_stop(child *c, int eof_ms, int term_ms);

#endif
