/* SPDX-License-Identifier: Apache-2.0
 *
 * Settings of glibc's allocator (memory.h).
 */
#include "base/memory.h"

#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

/* Threads wait for the disk or for a model most of the time: two arenas a core are enough for those
 * that run. The default, 8 a core, would retain the peak memory of all of them. */
#define ARENAS_A_CORE 2
#define ARENAS_MAX 16
/* Fixes the threshold. By default freeing a mapped block raises it, up to 32 MiB, and smaller
 * blocks stay in the heap. */
#define MMAP_BYTES (256 << 10)
#define TRIM_BYTES (256 << 10)

void memory_setup(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    long arenas = (cores > 0 ? cores : 1) * ARENAS_A_CORE;
    mallopt(M_ARENA_MAX, (int)(arenas < ARENAS_MAX ? arenas : ARENAS_MAX));
    mallopt(M_MMAP_THRESHOLD, MMAP_BYTES);
    mallopt(M_TRIM_THRESHOLD, TRIM_BYTES);
}

void memory_trim(void)
{
    malloc_trim(0);
}

int64_t memory_resident(void)
{
    long long pages = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (!f)
        return 0;
    if (fscanf(f, "%lld %lld", &pages, &resident) != 2)
        resident = 0;
    fclose(f);
    return (int64_t)resident * sysconf(_SC_PAGESIZE);
}
