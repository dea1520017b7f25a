/* SPDX-License-Identifier: Apache-2.0
 *
 * util.h: ids, times, hashes and Unicode. Every function is safe from any thread.
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
/* Whether an errno means that there is no room: the disk, a quota, or a limit of the size of files.
 */
bool error_is_full(int error);
int64_t time_now_us(void);
int64_t time_mono_us(void); /* monotonic: only differences are meaningful */
struct timespec time_spec(int64_t us);
struct timespec time_after(int64_t us); /* that long from now, by time_mono_us() */
/* Initializes a condition whose timed waits use time_mono_us(). */
void cond_init(pthread_cond_t *c);
/* RFC 3339 with milliseconds and Z, "2026-01-02T03:04:05.678Z". */
#define TIME_TEXT 32
const char *time_text(int64_t us, char out[TIME_TEXT]);
/* Reads that form (fraction optional, Z or ±hh:mm), or a plain date. */
bool time_parse(const char *s, int64_t *us);

/* ---- ids */
#define UUID_TEXT 37
/* UUIDv7; those of one process strictly increase. */
const char *uuid7(int64_t now_us, char out[UUID_TEXT]);
const char *uuid4(char out[UUID_TEXT]); /* random */
/* UUIDv8 of 16 bytes of a hash, 6 bits of which make room for version and variant. */
const char *uuid8(const uint8_t hash[16], char out[UUID_TEXT]);
const char *uuid_text(const uint8_t bytes[16], char out[UUID_TEXT]);
/* FNV-1a, for hash tables in memory. `seed` separates kinds of keys; 0 when there is one kind. */
uint32_t hash_bytes(const void *bytes, size_t n, uint32_t seed);
uint32_t hash_text(const char *text);
bool uuid_valid(const char *s);                  /* 8-4-4-4-12 hex digits, in either case */
bool uuid_parse(const char *s, uint8_t out[16]); /* the bytes of a valid one */
void random_bytes(void *p, size_t n);

/* ---- hex */
void hex_encode(const uint8_t *p, size_t n, char *out); /* 2n characters and a NUL */
bool hex_decode(const char *s, uint8_t *out, size_t n); /* exactly 2n lower-case digits */
/* The value of one digit, and of two, in either case; -1 when they are none. The second character
 * is looked at only behind a digit. */
int hex_digit(char ch);
int hex_pair(const char *s);

/* ---- orders for qsort() and bsearch(): items are texts (const char *), or int64_t */
int text_order(const void *a, const void *b);
int number_order(const void *a, const void *b);

/* ---- SHA-256 */
#define HASH_LEN 32
typedef struct sha sha;
sha *sha_new(void); /* reusable, one thread at a time */
void sha_free(sha *s);
void sha_begin(sha *s);
void sha_add(sha *s, const void *p, size_t n);
void sha_end(sha *s, uint8_t out[HASH_LEN]);
int64_t sha_end_seal(sha *s); /* the first 7 bytes as a number: a seal of a row */
void sha_of(const void *p, size_t n, uint8_t out[HASH_LEN]); /* all of these at once */
/* SHA-256(a || b), 32 bytes each. */
void sha_chain(sha *s, const uint8_t a[HASH_LEN], const uint8_t b[HASH_LEN], uint8_t out[HASH_LEN]);

/* ---- UTF-8 */
/* Length in bytes of the character at s (n bytes left), 0 when it is invalid; *cp gets it. */
size_t utf8_next(const char *s, size_t n, uint32_t *cp);
bool utf8_valid(const char *s, size_t n);
size_t utf8_count(const char *s); /* characters of a valid text */
/* Bytes of the first `chars` characters of a valid text. */
size_t utf8_prefix(const char *s, size_t chars);
/* Removes bytes from the end until the rest is valid: for text that was cut by bytes. */
void utf8_trim(char *s);
size_t utf8_put(uint32_t cp, char out[4]);
/* Columns on a terminal: wide characters take two, combining ones none. */
int utf8_width(uint32_t cp);
/* Lower case by simple case mapping, independent of the locale. */
char *utf8_lower(arena *a, const char *s, size_t n);
bool utf8_is_space(uint32_t cp);
/* First non-empty line, trimmed, cut to `chars` characters with "…". */
char *text_preview(arena *a, const char *s, size_t chars);

#endif
