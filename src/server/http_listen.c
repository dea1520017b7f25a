/* SPDX-License-Identifier: Apache-2.0
 *
 * The listening socket: one thread accepts and deals the connections out to the workers.
 *
 * libmicrohttpd could listen itself, but cannot be told to stop listening while it runs:
 * MHD_quiesce_daemon() and its workers take the socket out of epoll without a lock, and the one
 * that comes second aborts the process. So each worker is a daemon without a listening socket.
 */
#include "server/http_own.h"

#include "base/util.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define DEAD_MS 60000 /* a peer that acknowledges nothing that long is gone */
#define PAUSE_MS 10   /* between two looks when nobody can be let in */

typedef union {
    struct sockaddr sa;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
} place;

bool listen_open(http *h, char *message)
{
    const http_config *cfg = &h->cfg;
    place u = {0};
    socklen_t len = sizeof u.v4;
    if (inet_pton(AF_INET, cfg->address, &u.v4.sin_addr) == 1) {
        u.v4.sin_family = AF_INET;
        u.v4.sin_port = htons((uint16_t)cfg->port);
    } else if (inet_pton(AF_INET6, cfg->address, &u.v6.sin6_addr) == 1) {
        u.v6.sin6_family = AF_INET6;
        u.v6.sin6_port = htons((uint16_t)cfg->port);
        len = sizeof u.v6;
    } else {
        snprintf(message, 256, "%s is not an address; give an IPv4 or IPv6 literal", cfg->address);
        return false;
    }
    int one = 1, dead = DEAD_MS;
    int fd = socket(u.sa.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0) {
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
        /* Inherited by the connections. */
        setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
        setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &dead, sizeof dead);
    }
    h->listen_wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0 || h->listen_wake < 0 || bind(fd, &u.sa, len) != 0 || listen(fd, 1024) != 0 ||
        getsockname(fd, &u.sa, &len) != 0) {
        snprintf(message, 256, "cannot listen on %s port %d: %s", cfg->address, cfg->port,
                 strerror(errno));
        if (fd >= 0)
            close(fd);
        if (h->listen_wake >= 0)
            close(h->listen_wake);
        return false;
    }
    h->port = ntohs(u.sa.sa_family == AF_INET ? u.v4.sin_port : u.v6.sin6_port);
    h->listen_fd = fd;
    return true;
}

/* False: not now. The next look is after a pause, since the socket stays readable. */
static bool accept_one(http *h)
{
    place from = {0};
    socklen_t len = sizeof from;
    if (http_open_connections(h) >= h->most)
        return false;
    int fd = accept4(h->listen_fd, &from.sa, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0)
        return errno == EAGAIN || errno == EINTR || errno == ECONNABORTED || errno == EPROTO;
    /* On failure it is closed there. */
    MHD_add_connection(h->daemons[h->next_daemon], fd, &from.sa, len);
    h->next_daemon = (h->next_daemon + 1) % h->n_daemons;
    return true;
}

static void *listen_main(void *arg)
{
    http *h = arg;
    struct pollfd wait[2] = {{.fd = h->listen_wake, .events = POLLIN},
                             {.fd = h->listen_fd, .events = POLLIN}};
    bool full = false;
    for (;;) {
        /* While nobody can be let in, only the end is waited for. */
        int n = poll(wait, full ? 1 : 2, full ? PAUSE_MS : -1);
        if (wait[0].revents)
            return NULL;
        full = (full || n > 0) && !accept_one(h);
    }
}

bool listen_start(http *h)
{
    return pthread_create(&h->listener, NULL, listen_main, h) == 0;
}

void listen_stop(http *h)
{
    uint64_t one = 1;
    if (write(h->listen_wake, &one, sizeof one) == sizeof one)
        pthread_join(h->listener, NULL);
    listen_close(h);
}

void listen_close(http *h)
{
    close(h->listen_fd);
    close(h->listen_wake);
}
