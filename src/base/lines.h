/* SPDX-License-Identifier: Apache-2.0
 *
 * lines.h: reads and writes whole lines on two descriptors, without blocking on either.
 */
#ifndef BASE_LINES_H
#define BASE_LINES_H

#include <stdbool.h>
#include <stddef.h>

/* Incoming lines. A line longer than `max` bytes is skipped and reported once. */
typedef struct lines_in {
    int fd;
    char *bytes;
    size_t at, seen, n, cap; /* [at, n) was read and not returned; [at, seen) has no line end */
    size_t max;
    bool skips; /* inside a line that is too long */
    bool ended;
} lines_in;

typedef enum { LINE_NONE, LINE_WHOLE, LINE_TOO_LONG } line_kind;

/* The caller keeps the descriptor; it becomes non-blocking. */
void lines_in_init(lines_in *l, int fd, size_t max);
void lines_in_release(lines_in *l);
/* Reads what is available, at least a part of it; sets `ended` at the end. */
void lines_read(lines_in *l);
/* Reads what a pipe holds now and sets `ended`: for a program that has exited while another one may
 * still hold its end of the pipe, and write to it for ever. */
void lines_read_rest(lines_in *l);
/* The next line without its end (\n, or \r\n). It lives until the next lines_read(), may be
 * modified, and is followed by a NUL. What is left without a line end when the descriptor ends is a
 * line, too. */
line_kind lines_next(lines_in *l, char **text, size_t *n);

/* Outgoing lines, written as fast as the reader reads them. */
typedef struct lines_out {
    int fd;
    char *bytes;
    size_t at, n, cap;
    bool broken; /* the reader is gone: everything else is discarded */
} lines_out;

void lines_out_init(lines_out *l, int fd);
void lines_out_release(lines_out *l);
void lines_add(lines_out *l, const char *text, size_t n); /* a piece of a line */
void lines_end(lines_out *l);                             /* the end of a line; sends it */
void lines_write(lines_out *l);                           /* writes what can be written now */
size_t lines_left(const lines_out *l);                    /* bytes not yet written */

#endif
