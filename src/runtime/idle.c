/* SPDX-License-Identifier: Apache-2.0
 *
 * idle.c: see idle.h.
 */
#include "runtime/idle.h"

#include "base/memory.h"

#include <time.h>

#define LOOK_US INT64_C(5000000)
#define QUIET_US (LOOK_US / 10) /* less CPU time than this between two checks counts as idle */
#define WORTH_BYTES (INT64_C(2) << 20)

static int64_t cpu_us(void)
{
    struct timespec ts = {0};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

void idle_step(idle *i, ramet *store, int64_t now_us)
{
    if (now_us < i->look_at)
        return;
    int64_t cpu = cpu_us(), used = cpu - i->cpu_us;
    bool first = i->look_at == 0;
    i->look_at = now_us + LOOK_US;
    i->cpu_us = cpu;
    if (first || used > QUIET_US || memory_resident() < i->resident + WORTH_BYTES)
        return;
    ramet_release(store);
    memory_trim();
    i->resident = memory_resident();
}
