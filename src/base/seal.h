/* SPDX-License-Identifier: Apache-2.0
 *
 * seal.h: authenticated encryption (AES-256-GCM): only the holder of the key can read or make a
 * sealed text.
 */
#ifndef BASE_SEAL_H
#define BASE_SEAL_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

#define SEAL_KEY 32
#define SEAL_MORE 28 /* bytes that sealing adds: 12 of IV in front, 16 of tag at the end */

/* Seals n bytes, at most INT_MAX - SEAL_MORE. `about` is authenticated but not part of the result;
 * it must be the same when the result is opened. Sealing the same bytes twice gives different
 * results. */
const char *seal_make(arena *a, const uint8_t key[SEAL_KEY], const char *about, const void *p,
                      size_t n, size_t *len);
/* NULL unless it was sealed with this key and `about` and is unchanged. The result is followed by a
 * NUL. */
const char *seal_open(arena *a, const uint8_t key[SEAL_KEY], const char *about, const void *p,
                      size_t n, size_t *len);

#endif
