/* SPDX-License-Identifier: Apache-2.0
 *
 * script.h: a fixed sequence of operations of every kind. A step is a function of its
 * number and of what the store holds, and time stands still within a step: so two stores
 * that took the same steps tell the same story.
 */
#ifndef FAULT_SCRIPT_H
#define FAULT_SCRIPT_H

#include "help.h"

enum { SCRIPT_STEPS = 200 };

typedef struct script {
    uint64_t seed;
    int steps;
    bool busy;   /* large updates in place, among appends: the write-ahead log runs over */
    int64_t now; /* the clock; set by each step */
} script;

/* Options with the script's clock. */
ramet_options script_options(script *s, const char *vfs);
/* Takes a step; its status. Refusals such as NOTHING_TO_UNDO are part of the script. */
ramet_status script_step(script *s, ramet_call *c, int step);
/* Takes all steps; for a store to start from. Aborts when one fails for a reason of the disk. */
void script_play(script *s, ramet *r);

#endif
