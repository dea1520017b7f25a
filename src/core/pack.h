/* SPDX-License-Identifier: Apache-2.0
 *
 * pack.h: the texts of a large entry, or other bytes, as one compressed blob.
 */
#ifndef CORE_PACK_H
#define CORE_PACK_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* Above this many bytes of content an entry's texts go to the body table, compressed (measured:
 * docs/performance.md). */
#define INLINE_MAX 4000
/* The same for an entry whose body repeats its text: compressed, that costs next to nothing. */
#define INLINE_TWICE_MAX 600

typedef struct pack_texts {
    const char *item[3]; /* NULL where there is none */
} pack_texts;

/* Packs; uses zstd when that saves an eighth or more. In the arena. */
const char *pack_make(arena *a, const pack_texts *t, size_t *len);
/* Unpacks; false when the bytes are damaged. Does not depend on the present limits: what was
 * written under larger ones stays readable. */
bool pack_open(arena *a, const void *p, size_t n, pack_texts *t);

/* The same for any bytes; short ones are not compressed. */
const char *pack_bytes(arena *a, const char *p, size_t n, size_t *len);
bool unpack_bytes(arena *a, const void *p, size_t n, const char **out, size_t *len);

#endif
