/* SPDX-License-Identifier: Apache-2.0
 *
 * page.h: the files of the web page, embedded in the binary by the build (web/tools/embed.mjs).
 */
#ifndef SERVER_PAGE_H
#define SERVER_PAGE_H

#include <stddef.h>

typedef enum { PAGE_PLAIN, PAGE_BROTLI, PAGE_GZIP, PAGE_CODINGS } page_coding;

typedef struct page_file {
    const char *path; /* "assets/index-3kdl2.js"; NULL ends the table */
    const char *type;
    const char *tag; /* of its bytes, unquoted */
    struct {
        size_t at, n; /* in page_bytes; n 0: not worth compressing */
    } as[PAGE_CODINGS];
} page_file;

extern const page_file page_files[];
extern const char page_bytes[];

#endif
