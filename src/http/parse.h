/* SPDX-License-Identifier: Apache-2.0
 *
 * parse.h: the grammar of HTTP/1.1 requests (RFC 9112), without sockets or memory allocation. Bytes
 * go in as they arrive, split anywhere; the result does not depend on how they are split.
 *
 * The rules are strict where implementations have disagreed about the same bytes, because a
 * disagreement lets one request hide inside another. Lines end with CRLF. A lone CR or LF, a NUL or
 * any other control character but a tab, a folded header line and a blank before a colon are
 * errors.
 */
#ifndef HTTP_PARSE_H
#define HTTP_PARSE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- where a header ends */

typedef enum { HEAD_MORE, HEAD_WHOLE, HEAD_BAD } head_state;

/* All zero before the first byte of a request. Offsets count from that byte. */
typedef struct head_scan {
    size_t at;         /* bytes scanned */
    size_t begin;      /* start of the request line, after empty lines */
    size_t line;       /* start of the current line */
    size_t first_line; /* length of the request line; 0: not complete yet */
    bool cr;           /* the last byte was a CR */
    const char *wrong; /* for HEAD_BAD: the reason */
} head_scan;

/* Scans `n` bytes from the start of the request. HEAD_WHOLE: `at` is the first byte after the empty
 * line that ends the header. */
head_state head_look(head_scan *s, const char *bytes, size_t n);

/* ---- its contents */

typedef struct http_field {
    const char *name, *value; /* without surrounding blanks */
} http_field;

typedef struct http_head {
    const char *method, *target;
    int major, minor; /* of HTTP/1.1 */
    http_field *fields;
    size_t n;
} http_head;

/* Splits a complete header in place: `bytes` are the `n` bytes from head_scan.begin on, plus one
 * that may be overwritten. Returns NULL, or what is wrong with it; `out` then holds what came
 * before. */
const char *head_split(arena *a, char *bytes, size_t n, http_head *out);

/* The value of the first field with that name, ignoring case; NULL: none. */
const char *head_get(const http_head *h, const char *name);

/* ---- a chunked body */

typedef enum { CHUNK_MORE, CHUNK_BYTES, CHUNK_END, CHUNK_BAD, CHUNK_OVER } chunk_state;

/* All zero before the first byte of the body. */
typedef struct chunk_reader {
    enum {
        IN_SIZE,      /* digits */
        IN_EXTENSION, /* skipped */
        IN_SIZE_LF,
        IN_DATA,
        IN_DATA_CR, /* after the data */
        IN_DATA_LF,
        IN_TRAILER, /* skipped, line by line, up to an empty line */
        IN_TRAILER_LF
    } in;
    uint64_t left; /* bytes of the chunk still to come */
    unsigned digits;
    size_t skipped; /* bytes of this extension, or of the trailer */
    bool empty;     /* the current trailer line has no bytes yet */
    bool last;      /* the size was 0 */
} chunk_reader;

/* Reads up to the next piece of data. *used: bytes consumed, including the piece. CHUNK_BYTES: the
 * piece is the last *piece of them. CHUNK_OVER: a size too large to represent. */
chunk_state chunk_read(chunk_reader *r, const char *bytes, size_t n, size_t *used, size_t *piece);

#endif
