/* SPDX-License-Identifier: Apache-2.0
 *
 * listen.c: the listening sockets. One thread accepts connections, peeks at their first bytes and
 * distributes them: HTTP/1.1 to the workers, HTTP/2 to the gRPC server.
 *
 * Invariants
 *   L1  The first bytes are peeked at and stay in the socket. No thread blocks for them: until they
 *       arrive, the connection is a peer in this thread's epoll set, and its deadline runs.
 *   L2  A connection that was handed on stays a peer until either side shuts its socket down, which
 *       a second descriptor of the socket reports. So it is counted, and http_stop() can end it.
 */
#include "http/http_internal.h"

#include "base/util.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define DEAD_MS 60000 /* a peer that acknowledges nothing for this long is gone */
#define PAUSE_MS 10   /* between two attempts while no connection can be accepted */
#define EVENTS 64     /* per call */

static const char h2_begin[] = "PRI"; /* no method of HTTP/1.1 begins with this */

typedef union {
    struct sockaddr sa;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
} socket_address;

/* ---------------------------------------------------------------------- sockets */

static bool door_open(struct door *d, const char *address, int port, char *message)
{
    socket_address u = {0};
    socklen_t len = sizeof u.v4;
    if (inet_pton(AF_INET, address, &u.v4.sin_addr) == 1) {
        u.v4.sin_family = AF_INET;
        u.v4.sin_port = htons((uint16_t)port);
    } else if (inet_pton(AF_INET6, address, &u.v6.sin6_addr) == 1) {
        u.v6.sin6_family = AF_INET6;
        u.v6.sin6_port = htons((uint16_t)port);
        len = sizeof u.v6;
    } else {
        snprintf(message, 256, "%s is not an address; give an IPv4 or IPv6 literal", address);
        return false;
    }
    int one = 1, dead = DEAD_MS;
    d->fd = socket(u.sa.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (d->fd >= 0) {
        setsockopt(d->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
        /* Inherited by the connections. */
        setsockopt(d->fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
        setsockopt(d->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &dead, sizeof dead);
    }
    if (d->fd < 0 || bind(d->fd, &u.sa, len) != 0 || listen(d->fd, 1024) != 0 ||
        getsockname(d->fd, &u.sa, &len) != 0) {
        snprintf(message, 256, "cannot listen on %s port %d: %s", address, port, strerror(errno));
        return false;
    }
    d->port = ntohs(u.sa.sa_family == AF_INET ? u.v4.sin_port : u.v6.sin6_port);
    return true;
}

static bool watch_fd(http *h, int op, int fd, uint32_t events, void *what)
{
    struct epoll_event e = {.events = events, .data.ptr = what};
    return epoll_ctl(h->listen_poll, op, fd, &e) == 0;
}

bool listen_open(http *h, char *message)
{
    const http_config *cfg = &h->cfg;
    h->doors[0].fd = h->doors[1].fd = -1;
    h->listen_wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    h->listen_poll = epoll_create1(EPOLL_CLOEXEC);
    bool fine = h->listen_wake >= 0 && h->listen_poll >= 0 &&
                watch_fd(h, EPOLL_CTL_ADD, h->listen_wake, EPOLLIN, h);
    if (!fine)
        snprintf(message, 256, "the server cannot listen: %s", strerror(errno));
    fine = fine && door_open(&h->doors[0], cfg->address, cfg->port, message) &&
           (!cfg->h2_address || door_open(&h->doors[1], cfg->h2_address, cfg->h2_port, message));
    if (!fine)
        listen_close(h);
    return fine;
}

void listen_close(http *h)
{
    int all[] = {h->doors[0].fd, h->doors[1].fd, h->listen_wake, h->listen_poll};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] >= 0)
            close(all[i]);
}

/* ------------------------------------------------------------------ connections */

/* Closing a descriptor does not remove it from epoll while the socket has another one. */
static void connection_end(http *h, peer *p)
{
    int fd = p->fd;
    watch_fd(h, EPOLL_CTL_DEL, fd, 0, NULL);
    peer_free(h, p);
    close(fd);
}

static void to_worker(http *h, peer *p)
{
    watch_fd(h, EPOLL_CTL_DEL, p->fd, 0, NULL);
    pthread_mutex_lock(&h->lock);
    p->mine = false;
    pthread_mutex_unlock(&h->lock);
    if (!worker_take(h, p))
        connection_end(h, p);
}

/* Hands the socket on. The peer keeps a second descriptor, registered in epoll on its own. */
static void hand_on(http *h, peer *p)
{
    int one = 1, fd = p->fd, second = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    watch_fd(h, EPOLL_CTL_DEL, fd, 0, NULL);
    pthread_mutex_lock(&h->lock);
    p->fd = second;
    p->h2 = true;
    pthread_mutex_unlock(&h->lock);
    if (second >= 0 && peer_unlimit(p) && watch_fd(h, EPOLL_CTL_ADD, second, EPOLLET, p) &&
        h->cfg.h2(fd, h->cfg.arg))
        return;
    if (second >= 0)
        connection_end(h, p);
    else
        peer_free(h, p);
    close(fd);
}

/* Decides by the first bytes of a connection; too few, and it keeps waiting. */
static void connection_look(http *h, peer *p, uint32_t events)
{
    char first[sizeof h2_begin - 1];
    ssize_t n = recv(p->fd, first, sizeof first, MSG_PEEK | MSG_DONTWAIT);
    bool wait = n < 0 && (errno == EAGAIN || errno == EINTR) && !(events & (EPOLLHUP | EPOLLERR));
    bool like = n > 0 && memcmp(first, h2_begin, (size_t)n) == 0;
    if (wait || (like && (size_t)n < sizeof first && !(events & EPOLLRDHUP)))
        return;
    if (like && (size_t)n == sizeof first && h->cfg.h2) {
        hand_on(h, p);
    } else if (n <= 0 || p->door) {
        connection_end(h, p);
    } else {
        to_worker(h, p);
    }
}

/* False: not now. Try again after a pause, since the socket stays readable. */
static bool accept_one(http *h, struct door *d)
{
    socket_address from = {0};
    socklen_t len = sizeof from;
    if (http_open_connections(h) >= h->max)
        return false;
    int fd = accept4(d->fd, &from.sa, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0)
        return errno == EAGAIN || errno == EINTR || errno == ECONNABORTED || errno == EPROTO;
    peer *p = peer_add(h, fd, &from.sa);
    p->mine = true;
    p->door = d != &h->doors[0];
    if (p->over && !p->door)
        to_worker(h, p); /* the worker answers with the error */
    else if (p->over || !watch_fd(h, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLRDHUP | EPOLLET, p))
        connection_end(h, p);
    else
        connection_look(h, p, 0);
    return true;
}

/* ------------------------------------------------------------------- the thread */

static bool doors_watch(http *h, int op, uint32_t events)
{
    bool fine = true;
    for (int i = 0; i < 2; i++)
        if (h->doors[i].fd >= 0)
            fine = watch_fd(h, op, h->doors[i].fd, events, &h->doors[i]) && fine;
    return fine;
}

/* False: no connection can be accepted now. */
static bool event_take(http *h, const struct epoll_event *e)
{
    if (e->data.ptr == &h->doors[0] || e->data.ptr == &h->doors[1])
        return accept_one(h, e->data.ptr);
    peer *p = e->data.ptr;
    if (!p->h2)
        connection_look(h, p, e->events);
    else if (e->events & EPOLLHUP)
        connection_end(h, p);
    return true;
}

static void *listen_main(void *arg)
{
    http *h = arg;
    struct epoll_event list[EVENTS];
    bool full = false;
    for (;;) {
        int n = epoll_wait(h->listen_poll, list, EVENTS, full ? PAUSE_MS : -1);
        bool was = full;
        full = false;
        for (int i = 0; i < n; i++) {
            if (list[i].data.ptr == h)
                return NULL;
            full = !event_take(h, &list[i]) || full;
        }
        /* While no connection can be accepted, do not wait for the listening sockets. */
        if (full != was)
            doors_watch(h, EPOLL_CTL_MOD, full ? 0 : EPOLLIN);
    }
}

bool listen_start(http *h)
{
    return doors_watch(h, EPOLL_CTL_ADD, EPOLLIN) &&
           pthread_create(&h->acceptor, NULL, listen_main, h) == 0;
}

/* Ends the connections of this thread: those not dealt out yet, and those handed on. */
static void rest_end(http *h)
{
    for (;;) {
        pthread_mutex_lock(&h->lock);
        peer *p = h->peers;
        while (p && !p->mine)
            p = p->next;
        pthread_mutex_unlock(&h->lock);
        if (!p)
            return;
        connection_end(h, p);
    }
}

void listen_stop(http *h)
{
    uint64_t one = 1;
    if (write(h->listen_wake, &one, sizeof one) == sizeof one)
        pthread_join(h->acceptor, NULL);
    rest_end(h);
    listen_close(h);
}
