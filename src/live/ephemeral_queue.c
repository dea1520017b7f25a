/* SPDX-License-Identifier: Apache-2.0
 *
 * ephemeral_queue.c: see live_told.h.
 */
#include "live/ephemeral_queue.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of deltas in the queue; other lines may use twice as much. */
#define TOLD_MAX ((size_t)16 << 20)

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

told *ephemeral_new(int64_t after, const char *session, const char *tree, const char *event,
                    const char *json, size_t n)
{
    size_t a = strlen(session), b = strlen(tree), c = strlen(event);
    size_t size = sizeof(told) + a + b + c + n + 4;
    told *t = xmalloc(size);
    char *at = t->bytes;
    t->session = text_put(&at, session, a);
    t->tree = text_put(&at, tree, b);
    t->event = text_put(&at, event, c);
    t->json = text_put(&at, json, n);
    t->after = after;
    t->n = n;
    t->size = size;
    t->words = strcmp(event, "turn.delta") == 0 || strcmp(event, "turn.thinking") == 0;
    t->next = NULL;
    return t;
}

bool ephemeral_put(ephemeral_queue *q, told *t)
{
    pthread_mutex_lock(&q->lock);
    bool room = q->bytes + t->size <= (t->words ? TOLD_MAX : 2 * TOLD_MAX);
    bool first = !q->first;
    if (room) {
        q->bytes += t->size;
        *q->end = t;
        q->end = &t->next;
    }
    pthread_mutex_unlock(&q->lock);
    if (!room)
        free(t);
    return room && first;
}

void ephemeral_take(ephemeral_queue *q, told **list)
{
    pthread_mutex_lock(&q->lock);
    told *t = q->first;
    q->first = NULL;
    q->end = &q->first;
    q->bytes = 0;
    pthread_mutex_unlock(&q->lock);
    told **at = list; /* behind the last insertion: nearly always the place of the next */
    for (int64_t before = INT64_MIN; t;) {
        told *next = t->next;
        if (t->after < before)
            at = list;
        while (*at && (*at)->after <= t->after)
            at = &(*at)->next;
        t->next = *at;
        *at = t;
        before = t->after;
        t = next;
    }
}

void ephemeral_free(told **list)
{
    while (*list) {
        told *t = *list;
        *list = t->next;
        free(t);
    }
}
