/* SPDX-License-Identifier: Apache-2.0
 *
 * http2_shares.c: the limits that HTTP/2 connections share: totals, and the part of each address.
 *
 *   streams    open on all connections. The server refuses calls over its limit, so streams over
 *              it end soon. At twice the limit, connections are not read until they have.
 *   resets     a stream that is reset while young leaves a call in the core that the server has not
 *              seen yet. A connection may reset `resets` of them at once, and a quarter of that
 *              each second. One address may do four times as much, and all together sixteen times,
 *              so opening more connections does not help.
 *   messages   larger than the window of a stream. One address gets a quarter of the bytes. If
 *              there is no other message, one of any size is let in.
 *   calls      that the server has open, by kind.
 */
#include "grpc/http2_internal.h"

#include "base/arena.h"
#include "base/util.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 256
#define CROWD_FACTOR 2
#define RESETS_ADDRESS 4
#define RESETS_TOTAL 16
#define RESETS_REFILL 4 /* per second, as a fraction of the burst */
#define MESSAGE_SHARE 4

struct http2_address {
    http2_address *next;
    uint8_t key[16];
    size_t bucket, refs;
    int64_t streams, reserved;
    int64_t calls[CALL_KINDS];
    http2_budget resets;
};

/* A server's end. The entry is valid until another connection gets the same descriptor: the core
 * closes it after the last call of the connection. */
typedef struct bound {
    http2_address *from;
    char remote[INET6_ADDRSTRLEN];
} bound;

struct http2_shares {
    const http2_config *cfg;
    pthread_mutex_t lock; /* guards everything below, addresses included */
    http2_address *addresses[BUCKETS];
    bound *by_fd;
    size_t n_by_fd;
    int64_t streams, reserved;
    int64_t calls[CALL_KINDS];
    http2_budget resets;
};

http2_shares *shares_new(const http2_config *cfg)
{
    http2_shares *sh = xcalloc(1, sizeof *sh);
    sh->cfg = cfg;
    pthread_mutex_init(&sh->lock, NULL);
    return sh;
}

/* ------------------------------------------------------------------------- budgets */

bool budget_spend(http2_budget *b, int64_t now_us, double burst, double per_s)
{
    double flowed = (double)(now_us - b->at_us) / 1e6 * per_s;
    b->spent = b->spent > flowed ? b->spent - flowed : 0;
    b->at_us = now_us;
    if (b->spent + 1 > burst)
        return false;
    b->spent += 1;
    return true;
}

void budget_restore(http2_budget *b, double amount)
{
    b->spent = b->spent > amount ? b->spent - amount : 0;
}

/* ----------------------------------------------------------------------- addresses */

static void key_make(const struct sockaddr *sa, uint8_t key[16])
{
    memset(key, 0, 16);
    if (sa->sa_family == AF_INET) {
        key[10] = key[11] = 0xff;
        memcpy(key + 12, &((const struct sockaddr_in *)(const void *)sa)->sin_addr, 4);
    } else if (sa->sa_family == AF_INET6) {
        const struct in6_addr *v6 = &((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr;
        memcpy(key, v6, IN6_IS_ADDR_V4MAPPED(v6) ? 16 : 8);
    }
}

http2_address *shares_address(http2_shares *sh, const struct sockaddr *from)
{
    uint8_t key[16];
    key_make(from, key);
    uint32_t hash = hash_bytes(key, sizeof key, 0);
    size_t bucket = (hash ^ hash >> 16) % BUCKETS;
    pthread_mutex_lock(&sh->lock);
    http2_address *a = sh->addresses[bucket];
    while (a && memcmp(a->key, key, sizeof key) != 0)
        a = a->next;
    if (!a) {
        a = xcalloc(1, sizeof *a);
        memcpy(a->key, key, sizeof key);
        a->bucket = bucket;
        a->next = sh->addresses[bucket];
        sh->addresses[bucket] = a;
    }
    a->refs++;
    pthread_mutex_unlock(&sh->lock);
    return a;
}

/* Caller holds the lock. */
static void address_leave(http2_shares *sh, http2_address *a)
{
    if (--a->refs)
        return;
    http2_address **at = &sh->addresses[a->bucket];
    while (*at != a)
        at = &(*at)->next;
    *at = a->next;
    free(a);
}

void shares_release(http2_shares *sh, http2_address *a)
{
    pthread_mutex_lock(&sh->lock);
    address_leave(sh, a);
    pthread_mutex_unlock(&sh->lock);
}

void shares_bind(http2_shares *sh, int fd, http2_address *a, const char *remote)
{
    pthread_mutex_lock(&sh->lock);
    if ((size_t)fd >= sh->n_by_fd) {
        size_t n = (size_t)fd * 2 + 64;
        sh->by_fd = xrealloc(sh->by_fd, n * sizeof *sh->by_fd);
        memset(sh->by_fd + sh->n_by_fd, 0, (n - sh->n_by_fd) * sizeof *sh->by_fd);
        sh->n_by_fd = n;
    }
    bound *b = &sh->by_fd[fd];
    if (b->from)
        address_leave(sh, b->from);
    a->refs++;
    b->from = a;
    memcpy(b->remote, remote, sizeof b->remote);
    pthread_mutex_unlock(&sh->lock);
}

http2_address *http2_address_of(http2_guard *g, int fd, char remote[INET6_ADDRSTRLEN])
{
    http2_shares *sh = guard_shares(g);
    http2_address *a = NULL;
    pthread_mutex_lock(&sh->lock);
    if (fd >= 0 && (size_t)fd < sh->n_by_fd && sh->by_fd[fd].from) {
        a = sh->by_fd[fd].from;
        a->refs++;
        memcpy(remote, sh->by_fd[fd].remote, INET6_ADDRSTRLEN);
    }
    pthread_mutex_unlock(&sh->lock);
    return a;
}

void http2_address_release(http2_guard *g, http2_address *a)
{
    shares_release(guard_shares(g), a);
}

void shares_free(http2_shares *sh)
{
    for (size_t i = 0; i < sh->n_by_fd; i++)
        if (sh->by_fd[i].from)
            address_leave(sh, sh->by_fd[i].from);
    free(sh->by_fd);
    pthread_mutex_destroy(&sh->lock);
    free(sh);
}

/* ---------------------------------------------------------------- streams and resets */

void shares_stream_open(http2_shares *sh, http2_address *a)
{
    pthread_mutex_lock(&sh->lock);
    sh->streams++;
    a->streams++;
    pthread_mutex_unlock(&sh->lock);
}

void shares_stream_close(http2_shares *sh, http2_address *a)
{
    pthread_mutex_lock(&sh->lock);
    sh->streams--;
    a->streams--;
    pthread_mutex_unlock(&sh->lock);
}

bool shares_crowded(http2_shares *sh, const http2_address *a)
{
    int64_t total = 0, own = 0;
    bool limited = true;
    for (int i = 0; i < CALL_KINDS; i++) {
        total += sh->cfg->calls[i].total;
        own += sh->cfg->calls[i].per_address;
        limited = limited && sh->cfg->calls[i].per_address;
    }
    pthread_mutex_lock(&sh->lock);
    bool crowded =
        sh->streams >= CROWD_FACTOR * total || (limited && a->streams >= CROWD_FACTOR * own);
    pthread_mutex_unlock(&sh->lock);
    return crowded;
}

bool shares_reset(http2_shares *sh, http2_address *a, int64_t now_us)
{
    double own = (double)sh->cfg->resets * RESETS_ADDRESS;
    double total = (double)sh->cfg->resets * RESETS_TOTAL;
    pthread_mutex_lock(&sh->lock);
    bool fine = budget_spend(&a->resets, now_us, own, own / RESETS_REFILL);
    /* While other addresses use up the total, an address that rarely resets a stream may still do
     * so. */
    if (fine && !budget_spend(&sh->resets, now_us, total, total / RESETS_REFILL))
        fine = a->resets.spent <= sh->cfg->resets / (double)RESETS_REFILL;
    pthread_mutex_unlock(&sh->lock);
    return fine;
}

/* ------------------------------------------------------------------------ messages */

bool shares_reserve(http2_shares *sh, http2_address *a, int64_t bytes)
{
    int64_t total = sh->cfg->message_bytes;
    pthread_mutex_lock(&sh->lock);
    bool fine = (!sh->reserved || sh->reserved + bytes <= total) &&
                (!a->reserved || a->reserved + bytes <= total / MESSAGE_SHARE);
    if (fine) {
        sh->reserved += bytes;
        a->reserved += bytes;
    }
    pthread_mutex_unlock(&sh->lock);
    return fine;
}

void shares_unreserve(http2_shares *sh, http2_address *a, int64_t bytes)
{
    pthread_mutex_lock(&sh->lock);
    sh->reserved -= bytes;
    a->reserved -= bytes;
    pthread_mutex_unlock(&sh->lock);
}

/* --------------------------------------------------------------------------- calls */

bool http2_call_open(http2_guard *g, http2_address *a, call_kind kind, bool *per_address)
{
    http2_shares *sh = guard_shares(g);
    const call_limit *max = &sh->cfg->calls[kind];
    pthread_mutex_lock(&sh->lock);
    *per_address = max->per_address && a->calls[kind] >= max->per_address;
    bool fine = !*per_address && sh->calls[kind] < max->total;
    if (fine) {
        sh->calls[kind]++;
        a->calls[kind]++;
    }
    pthread_mutex_unlock(&sh->lock);
    return fine;
}

void http2_call_close(http2_guard *g, http2_address *a, call_kind kind)
{
    http2_shares *sh = guard_shares(g);
    pthread_mutex_lock(&sh->lock);
    sh->calls[kind]--;
    a->calls[kind]--;
    pthread_mutex_unlock(&sh->lock);
}

int64_t http2_calls(http2_guard *g, call_kind kind)
{
    http2_shares *sh = guard_shares(g);
    pthread_mutex_lock(&sh->lock);
    int64_t n = sh->calls[kind];
    pthread_mutex_unlock(&sh->lock);
    return n;
}
