/* SPDX-License-Identifier: Apache-2.0
 *
 * peer.c: connections: how many there are, from where, and for how long.
 *
 * Each connection has a deadline, whatever its client sends: a client that sends a byte now and
 * then must not keep it open for ever. One thread checks all of them a few times a second.
 *
 * A connection over a limit is accepted, gets an error as the answer to its request, and is closed.
 * Only a few more than the limit are accepted for that; the rest wait in the kernel's queue or are
 * closed.
 */
#include "http/http_internal.h"

#include "base/util.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define WATCH_MS 100
#define OVER_US 1000000 /* time a connection over a limit has to send its request */
#define ENDED (-1)      /* peer.until: the watcher has closed it */

/* The number of connections of an address (the socket address without its port). */
typedef struct address {
    struct address *next;
    uint8_t key[16];
    size_t n, bucket;
} address;

/* ------------------------------------------------------------------- addresses */

static void address_key(const struct sockaddr *sa, uint8_t key[16], char text[INET6_ADDRSTRLEN])
{
    memset(key, 0, 16);
    text[0] = 0;
    if (sa && sa->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)sa;
        key[10] = key[11] = 0xff;
        memcpy(key + 12, &v4->sin_addr, 4);
        inet_ntop(AF_INET, &v4->sin_addr, text, INET6_ADDRSTRLEN);
    } else if (sa && sa->sa_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)sa;
        memcpy(key, &v6->sin6_addr, 16);
        inet_ntop(AF_INET6, &v6->sin6_addr, text, INET6_ADDRSTRLEN);
    }
}

/* Caller holds h->lock. */
static address *address_take(http *h, const uint8_t key[16])
{
    uint32_t hash = hash_bytes(key, 16, 0);
    size_t bucket = (hash ^ hash >> 16) % ADDRESS_BUCKETS;
    address *a = h->addresses[bucket];
    while (a && memcmp(a->key, key, 16) != 0)
        a = a->next;
    if (!a) {
        a = xcalloc(1, sizeof *a);
        memcpy(a->key, key, 16);
        a->bucket = bucket;
        a->next = h->addresses[bucket];
        h->addresses[bucket] = a;
    }
    a->n++;
    return a;
}

/* Caller holds h->lock. */
static void address_give(http *h, address *a)
{
    if (--a->n)
        return;
    address **at = &h->addresses[a->bucket];
    while (*at != a)
        at = &(*at)->next;
    *at = a->next;
    free(a);
}

/* ----------------------------------------------------------------- connections */

static bool peer_set(peer *p, int64_t until)
{
    int64_t old = atomic_load_explicit(&p->until, memory_order_relaxed);
    while (old != ENDED)
        if (atomic_compare_exchange_weak(&p->until, &old, until))
            return true;
    return false;
}

/* Deadlines are set three times a request and need not be exact: use the cheap clock. */
static int64_t now_coarse(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

bool peer_limit(peer *p, int64_t us)
{
    return peer_set(p, now_coarse() + us);
}

bool peer_unlimit(peer *p)
{
    return peer_set(p, 0);
}

peer *peer_add(http *h, int fd, const struct sockaddr *from)
{
    peer *p = xcalloc(1, sizeof *p);
    uint8_t key[16];
    p->fd = fd;
    p->http = h;
    buf_init(&p->in, h->cfg.header_max + READ_BYTES);
    address_key(from, key, p->remote);
    pthread_mutex_lock(&h->lock);
    p->from = address_take(h, key);
    size_t max = (size_t)h->cfg.connections_per_address;
    p->over = h->n_peers >= (size_t)h->cfg.connections || (max && p->from->n > max);
    int first_s = h->cfg.idle_s < h->cfg.request_s ? h->cfg.idle_s : h->cfg.request_s;
    peer_limit(p, p->over ? OVER_US : (int64_t)first_s * 1000000);
    p->next = h->peers;
    if (p->next)
        p->next->prev = p;
    h->peers = p;
    h->n_peers++;
    pthread_mutex_unlock(&h->lock);
    return p;
}

void peer_free(http *h, peer *p)
{
    pthread_mutex_lock(&h->lock);
    if (p->prev)
        p->prev->next = p->next;
    else
        h->peers = p->next;
    if (p->next)
        p->next->prev = p->prev;
    h->n_peers--;
    address_give(h, p->from);
    pthread_mutex_unlock(&h->lock);
    buf_release(&p->in);
    if (p->exchange) {
        buf_release(&p->exchange->request.body);
        buf_release(&p->exchange->request.out);
        buf_release(&p->exchange->start);
        buf_release(&p->exchange->packed);
        buf_release(&p->exchange->piece);
        arena_free(p->exchange->request.arena);
        free(p->exchange);
    }
    free(p);
}

/* --------------------------------------------------------------------- watching */

/* The socket is still open: peer_free() runs first, under the same lock. */
static void peer_end(peer *p, int64_t until)
{
    if (!atomic_compare_exchange_strong(&p->until, &until, ENDED))
        return;
    if (atomic_load_explicit(&p->arriving, memory_order_relaxed)) {
        char text[512];
        size_t n = answer_plain(text, sizeof text, "408 Request Timeout", "request_timeout",
                                "the request did not arrive in time");
        send(p->fd, text, n, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    shutdown(p->fd, SHUT_RDWR);
}

static void *watch_main(void *arg)
{
    http *h = arg;
    pthread_mutex_lock(&h->lock);
    while (!h->watch_stop) {
        int64_t now = now_coarse();
        for (peer *p = h->peers; p; p = p->next) {
            int64_t until = atomic_load_explicit(&p->until, memory_order_relaxed);
            if (until > 0 && until < now)
                peer_end(p, until);
            peer_wait_look(p, now);
            if (stall_look(p, now, (int64_t)h->cfg.stall_s * 1000000))
                shutdown(p->fd, SHUT_RDWR);
        }
        struct timespec until = time_after(WATCH_MS * INT64_C(1000));
        pthread_cond_timedwait(&h->watch_wake, &h->lock, &until);
    }
    pthread_mutex_unlock(&h->lock);
    return NULL;
}

void watch_start(http *h)
{
    cond_init(&h->watch_wake);
    pthread_create(&h->watcher, NULL, watch_main, h);
}

void watch_stop(http *h)
{
    pthread_mutex_lock(&h->lock);
    h->watch_stop = true;
    pthread_cond_signal(&h->watch_wake);
    pthread_mutex_unlock(&h->lock);
    pthread_join(h->watcher, NULL);
    pthread_cond_destroy(&h->watch_wake);
}

size_t peers_end(http *h, bool all)
{
    size_t busy = 0;
    pthread_mutex_lock(&h->lock);
    for (peer *p = h->peers; p; p = p->next) {
        bool now = atomic_load_explicit(&p->busy, memory_order_relaxed);
        if (all || !now)
            shutdown(p->fd, SHUT_RDWR);
        busy += now;
    }
    pthread_mutex_unlock(&h->lock);
    return busy;
}
