/* SPDX-License-Identifier: Apache-2.0
 *
 * idle.h: returns memory to the system after a burst of load.
 *
 * Caches and free blocks are worth keeping while requests arrive. Once the process has used next to
 * no CPU for a while, and holds clearly more memory than after the previous release, the store's
 * caches are emptied and the allocator returns its free memory.
 */
#ifndef RUNTIME_IDLE_H
#define RUNTIME_IDLE_H

#include "ramet.h"

typedef struct idle {
    int64_t look_at;  /* time of the next check, CLOCK_MONOTONIC */
    int64_t cpu_us;   /* CPU time of the process at the last check */
    int64_t resident; /* bytes after memory was last returned; 0: never */
} idle;

/* Call from one thread, about once a second, with a zeroed struct at first. */
void idle_step(idle *i, ramet *store, int64_t now_us);

#endif
