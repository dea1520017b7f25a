/* SPDX-License-Identifier: Apache-2.0
 *
 * idle.h: gives memory back when a burst of load is over.
 *
 * Caches and free blocks pay while requests come in. Once the process has used next to no CPU for a
 * while, and holds clearly more than after the last time, the store's caches are emptied and the
 * allocator returns what is free.
 */
#ifndef RUNTIME_IDLE_H
#define RUNTIME_IDLE_H

#include "ramet.h"

typedef struct idle {
    int64_t look_at;  /* when to look next; steady clock */
    int64_t cpu_us;   /* of the process, at the last look */
    int64_t resident; /* bytes, after memory was given back; 0: never was */
} idle;

/* From one thread, about once a second; all zero at first. */
void idle_step(idle *i, ramet *store, int64_t now_us);

#endif
