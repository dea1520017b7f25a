/* SPDX-License-Identifier: Apache-2.0
 *
 * worker.c: the workers: threads that read and write connections, each with its own epoll set.
 *
 * A connection stays in its worker's set from the first byte to the last, edge-triggered, for
 * reading and writing alike: an event sets can_read or can_write, a socket that would block clears
 * it, and no system call is spent on changing the set. way_step() decides what a connection does
 * next.
 *
 * Invariants
 *   W1  Only its worker touches a connection, except for the members named in http_internal.h.
 *   W2  A stream wakes its connection with worker_resume(). A connection is in that queue at most
 *       once, and is freed only when it has left it.
 *   W3  A closed connection is freed at the end of a round, because a later event of the same round
 *       may still name it.
 *   W4  A connection whose exchange belongs to the pool is not closed before the pool hands it back
 *       with worker_hand_back(), which does not touch it once it is in the list.
 */
#include "http/http_internal.h"

#include "base/util.h"

#include <assert.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define EVENTS 128
#define STEPS 64 /* for one connection before the next one has its turn */

struct worker {
    http *http;
    pthread_t thread;
    int poll, wake;
    _Atomic(peer *) resumed; /* by their streams, newest first */
    _Atomic(peer *) back;    /* handed back by the pool, newest first */
    peer *closed;            /* in this round */
    atomic_bool stop;
};

/* ------------------------------------------------------------------- connections */

fill_result peer_fill(peer *p)
{
    if (p->ended)
        return FILL_END;
    if (!p->can_read)
        return FILL_LATER;
    buf *b = &p->in;
    if (p->used) {
        memmove(b->data, b->data + p->used, b->n - p->used);
        b->n -= p->used;
        p->used = 0;
    }
    size_t room = b->max - b->n < READ_BYTES ? b->max - b->n : READ_BYTES;
    assert(room);
    buf_reserve(b, room);
    ssize_t n = recv(p->fd, b->data + b->n, room, 0);
    if (n > 0) {
        b->n += (size_t)n;
        b->data[b->n] = 0;
        /* A short read has emptied the socket; the end of the stream is another event. */
        if ((size_t)n < room && !p->half)
            p->can_read = false;
        return FILL_SOME;
    }
    if (n < 0 && errno == EINTR)
        return peer_fill(p);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        p->can_read = false;
        return FILL_LATER;
    }
    p->ended = true;
    p->broken = p->broken || n < 0;
    return FILL_END;
}

void peer_close(peer *p)
{
    if (p->closed)
        return;
    p->closed = true;
    exchange_end(p->exchange);
    p->round = p->worker->closed;
    p->worker->closed = p;
}

static void round_end(worker *w)
{
    while (w->closed) {
        peer *p = w->closed;
        w->closed = p->round;
        if (!atomic_load(&p->queued)) {
            int fd = p->fd;
            peer_free(w->http, p);
            close(fd);
        } else {
            p->parked = true; /* until it leaves the queue */
        }
    }
}

static void peer_go(peer *p)
{
    for (int i = 0; i < STEPS; i++)
        if (p->closed || !way_step(p))
            return;
    worker_resume(p);
}

/* ------------------------------------------------------------------- the thread */

static void worker_wake(worker *w)
{
    uint64_t one = 1;
    if (write(w->wake, &one, sizeof one) < 0)
        abort(); /* the counter cannot overflow */
}

void worker_resume(peer *p)
{
    worker *w = p->worker;
    if (atomic_exchange(&p->queued, true))
        return;
    peer *first = atomic_load(&w->resumed);
    do
        p->queue = first;
    while (!atomic_compare_exchange_weak(&w->resumed, &first, p));
    if (!first)
        worker_wake(w);
}

void worker_hand_back(peer *p)
{
    worker *w = p->worker;
    peer *first = atomic_load(&w->back);
    do
        p->back = first;
    while (!atomic_compare_exchange_weak(&w->back, &first, p));
    if (!first)
        worker_wake(w);
}

static void resumed_go(worker *w)
{
    for (peer *p = atomic_exchange(&w->resumed, NULL), *next; p; p = next) {
        next = p->queue;
        atomic_store(&p->queued, false);
        if (!p->closed) {
            peer_go(p);
        } else if (p->parked) {
            p->round = w->closed;
            w->closed = p;
        }
    }
}

/* Continues them in the order in which they were handed back. */
static void back_go(worker *w)
{
    peer *list = atomic_exchange(&w->back, NULL), *first = NULL;
    while (list) {
        peer *p = list;
        list = p->back;
        p->back = first;
        first = p;
    }
    while (first) {
        peer *p = first;
        first = p->back;
        way_back(p);
        peer_go(p);
    }
}

static void event_take(peer *p, uint32_t events)
{
    if (p->closed)
        return;
    if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
        p->can_read = true;
    if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
        p->half = true;
    if (events & (EPOLLOUT | EPOLLHUP | EPOLLERR))
        p->can_write = true;
    if (events & (EPOLLHUP | EPOLLERR)) {
        p->broken = true;
        atomic_store_explicit(&p->gone, true, memory_order_relaxed);
    }
    peer_go(p);
}

static void *worker_main(void *arg)
{
    worker *w = arg;
    struct epoll_event list[EVENTS];
    while (!atomic_load_explicit(&w->stop, memory_order_relaxed)) {
        int n = epoll_wait(w->poll, list, EVENTS, -1);
        for (int i = 0; i < n; i++)
            if (list[i].data.ptr != w)
                event_take(list[i].data.ptr, list[i].events);
        uint64_t count;
        for (int i = 0; i < n; i++)
            if (list[i].data.ptr == w && read(w->wake, &count, sizeof count) > 0)
                back_go(w), resumed_go(w);
        round_end(w);
    }
    return NULL;
}

/* ------------------------------------------------------------------- begin and end */

bool worker_take(http *h, peer *p)
{
    p->worker = &h->workers[h->next_worker];
    h->next_worker = (h->next_worker + 1) % h->n_workers;
    /* Each answer and each piece of a stream is written with one call: delaying gains nothing.
     */
    int one = 1;
    setsockopt(p->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    /* The first event may arrive before epoll_ctl() returns. */
    struct epoll_event e = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = p};
    return epoll_ctl(p->worker->poll, EPOLL_CTL_ADD, p->fd, &e) == 0;
}

static bool worker_start(worker *w, http *h)
{
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = w};
    w->http = h;
    w->poll = epoll_create1(EPOLL_CLOEXEC);
    w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (w->poll >= 0 && w->wake >= 0 && epoll_ctl(w->poll, EPOLL_CTL_ADD, w->wake, &e) == 0 &&
        pthread_create(&w->thread, NULL, worker_main, w) == 0)
        return true;
    int error = errno;
    if (w->poll >= 0)
        close(w->poll);
    if (w->wake >= 0)
        close(w->wake);
    errno = error;
    return false;
}

bool workers_start(http *h)
{
    size_t n = h->cfg.workers > 0 ? (size_t)h->cfg.workers : 1;
    h->workers = xcalloc(n, sizeof *h->workers);
    for (; h->n_workers < n; h->n_workers++)
        if (!worker_start(&h->workers[h->n_workers], h))
            return false;
    return true;
}

void workers_stop(http *h)
{
    uint64_t one = 1;
    for (size_t i = 0; i < h->n_workers; i++) {
        worker *w = &h->workers[i];
        atomic_store(&w->stop, true);
        if (write(w->wake, &one, sizeof one) == sizeof one)
            pthread_join(w->thread, NULL);
    }
    /* All threads have ended. Queued connections are in this list, too. */
    while (h->peers) {
        peer *p = h->peers;
        int fd = p->fd;
        exchange_end(p->exchange);
        peer_free(h, p);
        close(fd);
    }
    for (size_t i = 0; i < h->n_workers; i++) {
        close(h->workers[i].poll);
        close(h->workers[i].wake);
    }
    free(h->workers);
}
