/* SPDX-License-Identifier: Apache-2.0
 *
 * util.h: ids, times, hashes and Unicode. Knows nothing of conversations.
 * Every function is safe from any thread.
 */
#ifndef BASE_UTIL_H
#define BASE_UTIL_H

#include "base/arena.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* ---- time: microseconds since 1970, UTC */
int64_t time_now_us(void);
int64_t time_mono_us(void); /* only differences mean something */
struct timespec time_spec(int64_t us);
struct timespec time_after(int64_t us); /* that far from now, by time_mono_us() */
/* One whose waits end by time_mono_us(). */
void cond_init(pthread_cond_t *c);
/* RFC 3339 with milliseconds and Z, "2026-01-02T03:04:05.678Z". */
#define TIME_TEXT 32
const char *time_text(int64_t us, char out[TIME_TEXT]);
/* Reads that form (fraction optional, Z or ±hh:mm), or a plain date. */
bool time_parse(const char *s, int64_t *us);

/* ---- ids */
#define UUID_TEXT 37
/* UUIDv7; of one process they grow strictly. */
const char *uuid7(int64_t now_us, char out[UUID_TEXT]);
const char *uuid4(char out[UUID_TEXT]); /* random */
/* FNV-1a, for hash tables in memory. `seed` tells apart keys of several kinds; 0 for one. */
uint32_t hash_bytes(const void *bytes, size_t n, uint32_t seed);
uint32_t hash_text(const char *text);
bool uuid_valid(const char *s); /* 8-4-4-4-12 hex digits, in either case */
void random_bytes(void *p, size_t n);

/* ---- hex */
void hex_encode(const uint8_t *p, size_t n, char *out); /* 2n characters and a NUL */
/* BASE64_LEN(n) characters and a NUL; how many. n below 1 GiB. */
size_t base64_encode(const void *p, size_t n, char *out);
#define BASE64_LEN(n) (((n) + 2) / 3 * 4)
/* With its padding, and nothing else; `out` has room for n / 4 * 3 bytes. */
bool base64_decode(const char *s, size_t n, uint8_t *out, size_t *len);
bool hex_decode(const char *s, uint8_t *out, size_t n); /* exactly 2n lower-case digits */

/* ---- SHA-256 */
#define HASH_LEN 32
typedef struct sha sha;
sha *sha_new(void); /* reusable, one thread at a time */
void sha_free(sha *s);
void sha_begin(sha *s);
void sha_add(sha *s, const void *p, size_t n);
void sha_end(sha *s, uint8_t out[HASH_LEN]);
/* SHA-256(a || b), 32 bytes each. */
void sha_chain(sha *s, const uint8_t a[HASH_LEN], const uint8_t b[HASH_LEN], uint8_t out[HASH_LEN]);

/* ---- UTF-8 */
/* Length in bytes of the character at s (n bytes left), 0 when it is not valid; *cp gets it. */
size_t utf8_next(const char *s, size_t n, uint32_t *cp);
bool utf8_valid(const char *s, size_t n);
size_t utf8_count(const char *s); /* characters of a valid text */
/* Bytes of the first `chars` characters of a valid text. */
size_t utf8_prefix(const char *s, size_t chars);
/* Takes bytes off the end until what is left is valid: for what was cut by bytes. */
void utf8_trim(char *s);
size_t utf8_put(uint32_t cp, char out[4]);
/* Columns on a terminal: wide characters count two, combining ones none. */
int utf8_width(uint32_t cp);
/* Lower case by simple case mapping, independent of the locale. */
char *utf8_lower(arena *a, const char *s, size_t n);
bool utf8_is_space(uint32_t cp);
/* First non-empty line, trimmed, cut to `chars` characters with "…". */
char *text_preview(arena *a, const char *s, size_t chars);

#endif
