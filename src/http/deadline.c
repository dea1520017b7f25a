/* SPDX-License-Identifier: Apache-2.0
 *
 * deadline.c: detects clients that disconnect while their request waits for a thread or runs on
 * one.
 *
 * During that time the worker does not touch the connection; the watcher checks it. A FIN alone
 * proves nothing: a client that has closed its socket sends the same FIN as one that has only shut
 * down its side and waits for the answer. So after a FIN, and when the answer takes longer than
 * PROBE_US, the watcher sends an interim response (102, which HTTP/1.1 clients must skip). A client
 * that still listens reads it; the kernel of one that is gone answers with a reset.
 *
 * The states of peer.wait, and the thread that makes each transition:
 *
 *   WAIT_NONE   -> WAIT_POOL    the worker, when it hands the request to the pool
 *   WAIT_POOL   -> WAIT_PROBED  the watcher, while it checks the socket
 *   WAIT_PROBED -> WAIT_POOL    the watcher
 *   WAIT_POOL   -> WAIT_NONE    the pool thread, before it hands the request back
 *
 * So the watcher never sends anything once the answer may be on its way.
 */
#include "http/http_internal.h"

#include "base/util.h"

#include <assert.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

#define PROBE_US 500000

void peer_wait_begin(peer *p, bool interim)
{
    p->interim = interim;
    p->probed = false;
    p->waits_since = time_mono_us();
    atomic_store(&p->gone, false);
    assert(atomic_load(&p->wait) == WAIT_NONE);
    atomic_store_explicit(&p->wait, WAIT_POOL, memory_order_release);
}

void peer_wait_end(peer *p)
{
    int state = WAIT_POOL;
    while (!atomic_compare_exchange_weak(&p->wait, &state, WAIT_NONE)) {
        assert(state != WAIT_NONE);
        state = WAIT_POOL;
        sched_yield();
    }
}

static void probe(peer *p)
{
    static const char interim[] = "HTTP/1.1 102 Processing\r\n\r\n";
    p->probed = true;
    send(p->fd, interim, sizeof interim - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void peer_wait_look(peer *p, int64_t now)
{
    int state = WAIT_POOL;
    if (!atomic_compare_exchange_strong(&p->wait, &state, WAIT_PROBED))
        return;
    struct pollfd f = {.fd = p->fd, .events = POLLRDHUP};
    if (poll(&f, 1, 0) > 0) {
        if (f.revents & (POLLHUP | POLLERR))
            atomic_store(&p->gone, true);
        else if ((f.revents & POLLRDHUP) && p->interim && !p->probed &&
                 now - p->waits_since >= PROBE_US)
            probe(p);
    }
    atomic_store_explicit(&p->wait, WAIT_POOL, memory_order_release);
}
