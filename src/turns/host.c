/* SPDX-License-Identifier: Apache-2.0
 *
 * host.c: which process runs a turn, and whether it still does.
 *
 * A host name consists of the machine, the process and its start time (base/host.h). So a server
 * that starts marks turns of dead processes as interrupted, and leaves alone those of other live
 * processes on the same file.
 *
 * Servers on one database may be on many machines, and in containers where each is process 1. So
 * their names also contain the process namespace and a random number, and each regularly records
 * that it is alive. Turns of a host that has stopped doing so, or that was on this machine and is
 * gone, are marked as interrupted by the first other node that notices.
 */
#include "turns/turns_internal.h"
#include "ramet/nodes.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Identifies the namespace in which process numbers are unique. */
static unsigned long long pid_namespace(void)
{
    struct stat st;
    return stat("/proc/self/ns/pid", &st) == 0 ? (unsigned long long)st.st_ino : 0;
}

void turns_host_name(char out[HOST_TEXT], bool shared)
{
    char more[2 * sizeof(uint64_t) + 1];
    uint64_t r;
    host_name(out);
    if (!shared)
        return;
    random_bytes(&r, sizeof r);
    hex_encode((const uint8_t *)&r, sizeof r, more);
    size_t n = strlen(out);
    snprintf(out + n, HOST_TEXT - n, "/%llu/%s", pid_namespace(), more);
}

/* For a database: whether the host was a process of this machine and is gone. */
static bool host_seen_dead(const char *host)
{
    unsigned long long namespace;
    const char *p = strchr(host, '/');
    return p && sscanf(p, "/%*d/%*u/%llu/", &namespace) == 1 && namespace &&
           namespace == pid_namespace() && host_look(host) == HOST_DEAD;
}

/* For a file; a host name of another form counts as alive. */
static bool host_dead(const char *host)
{
    host_life life = host_look(host);
    return life == HOST_DEAD || life == HOST_ELSEWHERE;
}

typedef struct hosts {
    const char *const *items;
    size_t n;
} hosts;

static bool is_alive(const hosts *h, const char *host)
{
    size_t i = 0;
    while (i < h->n && strcmp(h->items[i], host) != 0)
        i++;
    return i < h->n && !host_seen_dead(host);
}

/* Marks the turns of dead hosts as interrupted. `alive` NULL: check the processes of this machine
 * only. */
static ramet_status bury(ramet_call *c, const hosts *all, const hosts *alive, int64_t *gone)
{
    ramet_status st = RAMET_OK;
    for (size_t i = 0; i < all->n && st == RAMET_OK; i++) {
        int64_t some = 0;
        if (alive ? !is_alive(alive, all->items[i]) : host_dead(all->items[i]))
            st = ramet_turns_interrupt(c, all->items[i], &some);
        *gone += some;
    }
    return st;
}

/* Reads the turns first: every host in that list had recorded before that it is alive. */
static ramet_status bury_shared(ramet *store, ramet_call *c, const char *host, int64_t *n_alive,
                                int64_t *gone)
{
    hosts all, alive;
    size_t dead = 0;
    ramet_status st = ramet_turn_hosts(c, &all.items, &all.n);
    if (st == RAMET_OK)
        st = ramet_node_beat(c, host, &alive.items, &alive.n);
    if (st != RAMET_OK)
        return st;
    *n_alive = (int64_t)alive.n;
    for (size_t i = 0; i < all.n; i++)
        dead += !is_alive(&alive, all.items[i]);
    if (!dead || !ramet_job_begin(store, "interrupt", 0))
        return RAMET_OK;
    st = bury(c, &all, &alive, gone);
    ramet_job_end(store, "interrupt");
    return st;
}

ramet_status hosts_bury(ramet *store, const char *host, int64_t *alive, int64_t *gone,
                        ramet_error *err)
{
    hosts all;
    ramet_call *c = ramet_call_new(store, NULL, NULL);
    *alive = *gone = 0;
    ramet_status st;
    if (ramet_shared(store)) {
        st = bury_shared(store, c, host, alive, gone);
    } else {
        st = ramet_turn_hosts(c, &all.items, &all.n);
        st = st == RAMET_OK ? bury(c, &all, NULL, gone) : st;
    }
    if (st != RAMET_OK)
        *err = *ramet_call_error(c);
    ramet_call_free(c);
    return st;
}
