/* SPDX-License-Identifier: Apache-2.0
 *
 * stall.c: detects clients that do not read their answer, which is kept in memory until they do.
 *
 * Progress is measured by what the client's kernel has acknowledged, no matter how much our own
 * kernel buffers.
 */
#include "http/http_internal.h"

#include <linux/tcp.h>
#include <stddef.h>
#include <sys/socket.h>

#define LOOK_US 500000

/* -1: unknown. */
static int64_t bytes_acked(int fd)
{
    struct tcp_info info;
    socklen_t n = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &n) != 0 ||
        n < offsetof(struct tcp_info, tcpi_bytes_acked) + sizeof info.tcpi_bytes_acked)
        return -1;
    return (int64_t)info.tcpi_bytes_acked;
}

bool stall_look(peer *p, int64_t now, int64_t stall_us)
{
    if (stall_us <= 0 || !atomic_load_explicit(&p->sending, memory_order_relaxed) ||
        atomic_load_explicit(&p->wait, memory_order_relaxed) != WAIT_NONE) {
        p->acked_at = 0;
        return false;
    }
    if (p->acked_at && now - p->acked_at < LOOK_US)
        return false;
    int64_t acked = bytes_acked(p->fd);
    if (acked < 0 || !p->acked_at || acked != p->acked) {
        p->acked = acked;
        p->acked_at = now;
        return false;
    }
    return now - p->acked_at >= stall_us;
}
