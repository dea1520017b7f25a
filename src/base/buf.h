/* SPDX-License-Identifier: Apache-2.0
 *
 * buf.h: a growing byte buffer with a limit set at initialization.
 *
 * Adding past the limit adds nothing, sets `over` and frees the content; all later additions do
 * nothing. So a writer checks once, at the end. The content is always NUL-terminated.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/arena.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory that several buffers share. Buffers up to BUF_FREE are not counted. */
#define BUF_FREE ((size_t)64 * 1024)
typedef struct buf_budget {
    _Atomic int64_t used;
    int64_t max;
} buf_budget;

typedef struct buf {
    char *data; /* never NULL after buf_init(), "" when empty */
    size_t n, cap, max;
    bool over;
    bool starved;       /* over, because the budget was exhausted */
    buf_budget *budget; /* NULL: unlimited; set right after buf_init() */
} buf;

void buf_init(buf *b, size_t max);
void buf_release(buf *b);
/* Copies the content into the arena and releases the buffer. */
char *buf_keep(buf *b, arena *a);
char *buf_keep_whole(buf *b, arena *a); /* the same; NULL when it is over its limit */
void buf_clear(buf *b);                 /* empties it, keeps the memory */
void buf_trim(buf *b);                  /* releases unused memory */
void buf_reserve(buf *b, size_t n); /* room for n more bytes in one step; past the limit: nothing */
void buf_add(buf *b, const void *p, size_t n);
void buf_puts(buf *b, const char *s);
void buf_putc(buf *b, char ch);
void buf_pad(buf *b, char ch, size_t times);
/* Adds s with each byte that is not a letter, a digit or in `plain` as %XX, for a URL. */
void buf_percent(buf *b, const char *s, const char *plain);
void buf_printf(buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
