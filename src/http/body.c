/* SPDX-License-Identifier: Apache-2.0
 *
 * body.c: limits the bytes of request bodies held at once, in total and per user.
 *
 * A body is counted from before its first byte is read until the request has run. Until the client
 * is identified, it is charged to the client's address. All such bodies together may use a quarter
 * of the total, and one address a quarter of that, so unidentified clients cannot starve users.
 *
 * A body that arrived together with its header is already in the connection's buffer, which is
 * small. It is not counted, so a small request takes no lock here.
 */
#include "http/http_internal.h"

#include "base/util.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 256

typedef struct holder {
    struct holder *next;
    size_t bytes, bucket;
    bool known;
    char name[]; /* a user, or an address */
} holder;

typedef struct bodies {
    pthread_mutex_t lock;
    size_t max, max_each;                 /* all clients, identified or not */
    size_t max_unknown, max_each_unknown; /* for unidentified clients */
    size_t bytes, bytes_unknown;
    holder *holders[BUCKETS];
} bodies;

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

bodies *bodies_new(const http_config *cfg)
{
    bodies *b = xcalloc(1, sizeof *b);
    pthread_mutex_init(&b->lock, NULL);
    /* One body of the largest size always fits. */
    b->max = larger(cfg->bodies_max, cfg->body_max);
    b->max_each = larger(cfg->bodies_per_user, cfg->body_max);
    b->max_unknown = larger(b->max / 4, UNKNOWN_BODY_MAX);
    b->max_each_unknown = larger(b->max_unknown / 4, UNKNOWN_BODY_MAX);
    return b;
}

void bodies_free(bodies *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < BUCKETS; i++)
        assert(!b->holders[i]);
    pthread_mutex_destroy(&b->lock);
    free(b);
}

/* Caller holds the lock. */
static holder *holder_of(bodies *b, const char *name, bool known)
{
    uint32_t hash = hash_bytes(name, strlen(name), known);
    size_t bucket = (hash ^ hash >> 16) % BUCKETS;
    holder *o = b->holders[bucket];
    while (o && (o->known != known || strcmp(o->name, name) != 0))
        o = o->next;
    if (o)
        return o;
    size_t n = strlen(name) + 1;
    o = xcalloc(1, sizeof *o + n);
    memcpy(o->name, name, n);
    o->known = known;
    o->bucket = bucket;
    o->next = b->holders[bucket];
    b->holders[bucket] = o;
    return o;
}

/* Caller holds the lock. */
static void holder_give(bodies *b, holder *o)
{
    if (o->bytes)
        return;
    holder **at = &b->holders[o->bucket];
    while (*at != o)
        at = &(*at)->next;
    *at = o->next;
    free(o);
}

/* Caller holds the lock. */
static bool fits(const bodies *b, const holder *o, size_t more, int *status)
{
    size_t each = o->known ? b->max_each : b->max_each_unknown;
    bool all = more <= b->max - b->bytes && (o->known || more <= b->max_unknown - b->bytes_unknown);
    *status = all ? 429 : 503;
    return all && more <= each - o->bytes;
}

bool body_reserve(exchange *x, size_t n, int *status)
{
    bodies *b = x->http->bodies;
    if (n <= x->reserved)
        return true;
    const char *name =
        x->known && x->request.caller.user ? x->request.caller.user : x->peer->remote;
    size_t more = n - x->reserved;
    pthread_mutex_lock(&b->lock);
    holder *o = x->holder ? x->holder : holder_of(b, name, x->known && x->request.caller.user);
    bool fine = fits(b, o, more, status);
    if (fine) {
        x->holder = o;
        x->reserved = n;
        o->bytes += more;
        b->bytes += more;
        b->bytes_unknown += o->known ? 0 : more;
    }
    holder_give(b, o);
    pthread_mutex_unlock(&b->lock);
    return fine;
}

void body_release(exchange *x)
{
    bodies *b = x->http->bodies;
    holder *o = x->holder;
    if (!o)
        return;
    pthread_mutex_lock(&b->lock);
    o->bytes -= x->reserved;
    b->bytes -= x->reserved;
    b->bytes_unknown -= o->known ? 0 : x->reserved;
    holder_give(b, o);
    pthread_mutex_unlock(&b->lock);
    x->holder = NULL;
    x->reserved = 0;
}
