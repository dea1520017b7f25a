/* SPDX-License-Identifier: Apache-2.0
 *
 * pack.h: the texts of a large entry, or other bytes, as one compressed blob.
 */
#ifndef CORE_PACK_H
#define CORE_PACK_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* Above this many bytes of content an entry's texts go to the body table, packed (measured:
 * docs/performance.md). */
#define INLINE_MAX 4000
/* The same for an entry whose body says its text again: packed, that costs next to nothing. */
#define INLINE_TWICE_MAX 600

typedef struct pack_texts {
    const char *item[3]; /* NULL where there is none */
} pack_texts;

/* Packs; compressed with zstd when that saves an eighth or more. In the arena. */
const char *pack_make(arena *a, const pack_texts *t, size_t *len);
/* Unpacks; false when the bytes are damaged. Does not depend on the limits of the day: what was
 * written under a larger one stays readable. */
bool pack_open(arena *a, const void *p, size_t n, pack_texts *t);

/* The same for any bytes; short ones are not compressed. */
const char *pack_bytes(arena *a, const char *p, size_t n, size_t *len);
bool unpack_bytes(arena *a, const void *p, size_t n, const char **out, size_t *len);

#endif
