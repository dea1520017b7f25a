/* SPDX-License-Identifier: Apache-2.0
 *
 * ephemeral_queue.c: see ephemeral_queue.h.
 */
#include "live/ephemeral_queue.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

/* Limit of the bytes in the queue; events other than deltas may use twice that. */
#define MAX_DELTA_BYTES ((size_t)16 << 20)

void ephemeral_queue_init(ephemeral_queue *q)
{
    pthread_mutex_init(&q->lock, NULL);
    q->end = &q->first;
}

void ephemeral_queue_free(ephemeral_queue *q)
{
    ephemeral_free(&q->first);
    pthread_mutex_destroy(&q->lock);
}

static const char *text_put(char **at, const char *s, size_t n)
{
    char *to = *at;
    memcpy(to, s, n);
    to[n] = 0;
    *at += n + 1;
    return to;
}

ephemeral *ephemeral_new(int64_t after, const ephemeral_event *from)
{
    size_t session = strlen(from->session), tree = strlen(from->tree);
    size_t size = sizeof(ephemeral) + session + tree + from->n + 3;
    ephemeral *e = xmalloc(size);
    char *at = e->memory;
    e->event = *from;
    e->event.session = text_put(&at, from->session, session);
    e->event.tree = text_put(&at, from->tree, tree);
    e->event.bytes = text_put(&at, from->bytes, from->n);
    e->after = after;
    e->size = size;
    e->next = NULL;
    return e;
}

bool ephemeral_put(ephemeral_queue *q, ephemeral *e)
{
    pthread_mutex_lock(&q->lock);
    bool room = q->bytes + e->size <= (e->event.is_delta ? MAX_DELTA_BYTES : 2 * MAX_DELTA_BYTES);
    bool first = !q->first;
    if (room) {
        q->bytes += e->size;
        *q->end = e;
        q->end = &e->next;
    }
    pthread_mutex_unlock(&q->lock);
    if (!room)
        free(e);
    return room && first;
}

void ephemeral_take(ephemeral_queue *q, ephemeral **list)
{
    pthread_mutex_lock(&q->lock);
    ephemeral *e = q->first;
    q->first = NULL;
    q->end = &q->first;
    q->bytes = 0;
    pthread_mutex_unlock(&q->lock);
    ephemeral **at = list; /* place of the last one: nearly always that of the next */
    for (int64_t before = INT64_MIN; e;) {
        ephemeral *next = e->next;
        if (e->after < before)
            at = list;
        while (*at && (*at)->after <= e->after)
            at = &(*at)->next;
        e->next = *at;
        *at = e;
        before = e->after;
        e = next;
    }
}

void ephemeral_free(ephemeral **list)
{
    while (*list) {
        ephemeral *e = *list;
        *list = e->next;
        free(e);
    }
}
