/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of processes (host.h).
 */
#include "base/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first line of a small file, without the line end; "" when it cannot be read. */
static void line_of(const char *path, char *out, size_t size)
{
    FILE *f = fopen(path, "re");
    out[0] = 0;
    if (f && !fgets(out, (int)size, f))
        out[0] = 0;
    out[strcspn(out, "\n")] = 0;
    if (f)
        fclose(f);
}

/* The start time of a process in ticks since boot; 0: there is none. It is the 22nd field; the
 * second is the command name in parentheses, which may contain anything. */
static unsigned long long process_start(long pid)
{
    char path[64], line[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    line_of(path, line, sizeof line);
    const char *p = strrchr(line, ')');
    for (int field = 2; p && field < 22; field++) {
        p = strchr(p, ' ');
        p = p ? p + 1 : NULL;
    }
    return p ? strtoull(p, NULL, 10) : 0;
}

static void boot_id(char out[HOST_TEXT])
{
    line_of("/proc/sys/kernel/random/boot_id", out, HOST_TEXT / 2);
}

void host_name(char out[HOST_TEXT])
{
    char boot[HOST_TEXT];
    long pid = (long)getpid();
    boot_id(boot);
    snprintf(out, HOST_TEXT, "%.60s/%ld/%llu", boot, pid, process_start(pid));
}

host_life host_look(const char *host)
{
    char boot[HOST_TEXT];
    const char *slash = strchr(host, '/');
    long pid;
    unsigned long long start;
    if (!slash || sscanf(slash, "/%ld/%llu", &pid, &start) != 2)
        return HOST_UNKNOWN;
    boot_id(boot);
    if (strlen(boot) != (size_t)(slash - host) || strncmp(boot, host, strlen(boot)) != 0)
        return HOST_ELSEWHERE;
    return process_start(pid) == start ? HOST_ALIVE : HOST_DEAD;
}
