/* SPDX-License-Identifier: Apache-2.0
 *
 * seal.h: bytes that only the holder of a key can read or make: AES-256-GCM.
 */
#ifndef BASE_SEAL_H
#define BASE_SEAL_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

#define SEAL_KEY 32
#define SEAL_MORE                                                                                  \
    28 /* what is sealed is longer by that: 12 bytes IV before it, 16 bytes tag after */

/* Seals n bytes, at most INT_MAX - SEAL_MORE of them. `about` is not in what is given back, and
 * must be the same when that is opened. Every seal of the same bytes is another one. */
const char *seal_make(arena *a, const uint8_t key[SEAL_KEY], const char *about, const void *p,
                      size_t n, size_t *len);
/* NULL unless it was sealed with this key and `about` and is unchanged. A NUL stands after it. */
const char *seal_open(arena *a, const uint8_t key[SEAL_KEY], const char *about, const void *p,
                      size_t n, size_t *len);

#endif
