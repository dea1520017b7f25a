/* SPDX-License-Identifier: Apache-2.0
 *
 * lines.h: whole lines from one descriptor and to another, without waiting for either.
 */
#ifndef BASE_LINES_H
#define BASE_LINES_H

#include <stdbool.h>
#include <stddef.h>

/* Lines that come in. A longer one than `max` bytes is left out and told once. */
typedef struct lines_in {
    int fd;
    char *bytes;
    size_t at, seen, n, cap; /* [at, n) was read and not given out; [at, seen) has no line end */
    size_t max;
    bool skips; /* within a line that is too long */
    bool ended;
} lines_in;

typedef enum { LINE_NONE, LINE_WHOLE, LINE_TOO_LONG } line_kind;

/* The descriptor stays the caller's; it is made non-blocking. */
void lines_in_init(lines_in *l, int fd, size_t max);
void lines_in_release(lines_in *l);
/* Reads what is there now, some of it at least; `ended` is set at the end. */
void lines_read(lines_in *l);
/* Reads what a pipe holds now and sets `ended`: for a program that has exited while another one may
 * still hold its end of the pipe, and write to it for ever. */
void lines_read_rest(lines_in *l);
/* The next line without its end (\n, or \r\n); it lives until the next lines_read(), may be written
 * to, and a NUL stands behind it. What is left without an end when the descriptor ends is a line.
 */
line_kind lines_next(lines_in *l, char **text, size_t *n);

/* Lines that go out, as fast as they are taken. */
typedef struct lines_out {
    int fd;
    char *bytes;
    size_t at, n, cap;
    bool broken; /* nobody reads any more: all else is thrown away */
} lines_out;

void lines_out_init(lines_out *l, int fd);
void lines_out_release(lines_out *l);
void lines_add(lines_out *l, const char *text, size_t n); /* a piece of a line */
void lines_end(lines_out *l);                             /* its end; then it is sent */
void lines_write(lines_out *l);                           /* what can be written now */
size_t lines_left(const lines_out *l);                    /* bytes not yet written */

#endif
