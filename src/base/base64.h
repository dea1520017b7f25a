/* SPDX-License-Identifier: Apache-2.0
 *
 * base64.h: base64 and base64url (RFC 4648). Every function is safe from any thread.
 */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* BASE64_LEN(n) characters and a NUL; how many. n below 1 GiB. */
size_t base64_encode(const void *p, size_t n, char *out);
#define BASE64_LEN(n) (((n) + 2) / 3 * 4)

#define BASE64_DIGITS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
/* The n characters, without padding, as bytes: `out` needs room for n * 3 / 4. Strict, so that each
 * value has one encoding: false for any other character (padding too), a lone last one, and unused
 * bits that are not zero; *out_n is set only on success. */
bool base64_decode(const char *s, size_t n, void *out, size_t *out_n);

/* base64url without padding (RFC 7515), in the arena. Decoding is as strict (NULL), and adds a
 * NUL. n below 1 GiB. */
char *b64url_encode(arena *a, const void *p, size_t n);
char *b64url_decode(arena *a, const char *s, size_t n, size_t *out_n);

#endif
