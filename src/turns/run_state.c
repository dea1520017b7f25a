/* SPDX-License-Identifier: Apache-2.0
 *
 * run_state.c: the states of a run, and the moves between them.
 */
/* clang-format off */
/*
 *   BEGINNING ──▶ RUNNING ──▶ CLOSING ──────▶ OVER
 *    │   │           │           │             ▲
 *    │   │           │           ▼             │
 *    │   │           │        UNSAVED ◀──▶ SAVING
 *    │   │           │           │
 *    │   └───────────┴───────────┴───────▶ OVER
 *    └▶ ABANDONED
 *
 * Four moves lead to OVER besides the one from CLOSING: a run that is made up from the store
 * begins and is over at once, the end of a remote run is received, a run that is UNSAVED when the
 * server stops is given up, and SAVING has succeeded.
 */
/* clang-format on */
#include "turns/turns_internal.h"

#include <assert.h>

static bool is_legal(run_state from, run_state to)
{
    switch (from) {
    case RUN_BEGINNING:
        return to == RUN_RUNNING || to == RUN_ABANDONED || to == RUN_OVER;
    case RUN_RUNNING:
        return to == RUN_CLOSING || to == RUN_OVER;
    case RUN_CLOSING:
        return to == RUN_UNSAVED || to == RUN_OVER;
    case RUN_UNSAVED:
        return to == RUN_SAVING || to == RUN_OVER;
    case RUN_SAVING:
        return to == RUN_UNSAVED || to == RUN_OVER;
    case RUN_ABANDONED:
    case RUN_OVER:
        return false;
    }
    return false;
}

void run_move(run *r, run_state to)
{
    assert(is_legal(r->state, to));
    r->state = to;
    pthread_cond_broadcast(&r->wake);
}

bool run_has_begun(const run *r)
{
    run_state state = r->state;
    switch (state) {
    case RUN_BEGINNING:
    case RUN_ABANDONED:
        return false;
    case RUN_RUNNING:
    case RUN_CLOSING:
    case RUN_UNSAVED:
    case RUN_SAVING:
    case RUN_OVER:
        return true;
    }
    return false;
}

bool run_is_closed(const run *r)
{
    run_state state = r->state;
    switch (state) {
    case RUN_BEGINNING:
    case RUN_RUNNING:
        return false;
    case RUN_ABANDONED:
    case RUN_CLOSING:
    case RUN_UNSAVED:
    case RUN_SAVING:
    case RUN_OVER:
        return true;
    }
    return true;
}

bool run_is_over(const run *r)
{
    run_state state = r->state;
    switch (state) {
    case RUN_BEGINNING:
    case RUN_RUNNING:
    case RUN_CLOSING:
        return false;
    case RUN_ABANDONED:
    case RUN_UNSAVED:
    case RUN_SAVING:
    case RUN_OVER:
        return true;
    }
    return true;
}
