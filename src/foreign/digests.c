/* SPDX-License-Identifier: Apache-2.0
 *
 * digests.c: where the message of a digest is stored: a hash table with open addressing.
 */
#include "foreign/foreign.h"

#include <stdlib.h>
#include <string.h>

static digest_place *slot_of(const digest_map *m, const uint8_t digest[DIGEST_LEN])
{
    size_t i;
    memcpy(&i, digest, sizeof i);
    for (i &= m->cap - 1; m->slots[i].session; i = (i + 1) & (m->cap - 1))
        if (memcmp(m->slots[i].digest, digest, DIGEST_LEN) == 0)
            break;
    return &m->slots[i];
}

static void grow(digest_map *m)
{
    digest_map bigger = {.cap = m->cap ? m->cap * 2 : 64};
    bigger.slots = xcalloc(bigger.cap, sizeof *bigger.slots);
    for (size_t i = 0; i < m->cap; i++)
        if (m->slots[i].session)
            *slot_of(&bigger, m->slots[i].digest) = m->slots[i];
    bigger.n = m->n;
    free(m->slots);
    *m = bigger;
}

void digests_clear(digest_map *m)
{
    free(m->slots);
    *m = (digest_map){0};
}

void digests_add(digest_map *m, const digest_place *p)
{
    if (m->n * 2 >= m->cap)
        grow(m);
    digest_place *s = slot_of(m, p->digest);
    if (s->session)
        return;
    *s = *p;
    m->n++;
}

const digest_place *digests_get(const digest_map *m, const uint8_t digest[DIGEST_LEN])
{
    const digest_place *s = m->cap ? slot_of(m, digest) : NULL;
    return s && s->session ? s : NULL;
}
