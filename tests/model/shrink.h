/* SPDX-License-Identifier: Apache-2.0
 *
 * shrink.h: runs scripts in processes of their own, and cuts a failing one down.
 */
#ifndef SHRINK_H
#define SHRINK_H

#include "driver.h"

#include <sys/types.h>

/* A run in a child process: a crash is a failure like another. */
typedef struct trial {
    pid_t pid;
    outcome *result; /* shared with the child */
} trial;

void trial_start(trial *t, const char *dir, const op *ops, size_t n, bool quiet);
/* Waits for it, and copies how it ended. True when it was clean. */
bool trial_end(trial *t, outcome *out);

/* Makes the failing script ops[0, n) as short and as plain as it can within the seconds given;
 * *n is its new length and *failure how it fails. Only the same kind of failure counts. */
void script_shrink(const char *dir, op *ops, size_t *n, outcome *failure, int seconds);

#endif
