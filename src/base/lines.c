/* SPDX-License-Identifier: Apache-2.0
 *
 * Line-based input and output on non-blocking descriptors (lines.h).
 */
#include "base/lines.h"

#include "base/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { READ_BYTES = 1 << 16, KEEP_BYTES = 1 << 20 };

static void unblock(int fd)
{
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

/* ------------------------------------------------------------------ in */

void lines_in_init(lines_in *l, int fd, size_t max)
{
    *l = (lines_in){.fd = fd, .max = max};
    unblock(fd);
}

void lines_in_release(lines_in *l)
{
    free(l->bytes);
    *l = (lines_in){.fd = -1, .ended = true};
}

/* Makes room for one more read and a NUL. Releases a buffer that one long line has made large. */
static void make_room(lines_in *l)
{
    if (l->at == l->n) {
        l->at = l->seen = l->n = 0;
        if (l->cap > KEEP_BYTES) {
            free(l->bytes);
            l->bytes = NULL;
            l->cap = 0;
        }
    } else if (l->at && l->cap - l->n <= READ_BYTES) {
        memmove(l->bytes, l->bytes + l->at, l->n - l->at);
        l->n -= l->at;
        l->seen -= l->at;
        l->at = 0;
    }
    if (l->cap - l->n <= READ_BYTES) {
        l->cap = (l->cap < READ_BYTES ? READ_BYTES : l->cap) * 2;
        l->bytes = xrealloc(l->bytes, l->cap);
    }
}

/* Reads once; returns the number of bytes. */
static size_t read_some(lines_in *l)
{
    make_room(l);
    ssize_t got = read(l->fd, l->bytes + l->n, READ_BYTES);
    if (got > 0)
        l->n += (size_t)got;
    else if (got == 0 || (errno != EAGAIN && errno != EINTR))
        l->ended = true;
    return got > 0 ? (size_t)got : 0;
}

void lines_read(lines_in *l)
{
    if (!l->ended)
        read_some(l);
}

void lines_read_rest(lines_in *l)
{
    int left = 0;
    if (ioctl(l->fd, FIONREAD, &left) != 0)
        left = 0;
    for (size_t got; !l->ended && left > 0 && (got = read_some(l)) > 0;)
        left -= (int)got;
    l->ended = true;
}

/* Discards the bytes of a line that is too long; true the first time for that line. */
static bool too_long(lines_in *l)
{
    bool first = !l->skips;
    l->skips = true;
    l->at = l->seen = l->n;
    return first;
}

line_kind lines_next(lines_in *l, char **text, size_t *n)
{
    for (;;) {
        if (l->at == l->n)
            return LINE_NONE;
        char *end = memchr(l->bytes + l->seen, '\n', l->n - l->seen);
        if (!end && !l->ended) {
            l->seen = l->n;
            if (l->skips || l->n - l->at > l->max)
                return too_long(l) ? LINE_TOO_LONG : LINE_NONE;
            return LINE_NONE;
        }
        char *line = l->bytes + l->at, *stop = end ? end : l->bytes + l->n;
        l->at = l->seen = (size_t)(stop - l->bytes) + (end ? 1 : 0);
        if (l->skips) {
            l->skips = false;
            continue;
        }
        if ((size_t)(stop - line) > l->max)
            return LINE_TOO_LONG;
        if (stop > line && stop[-1] == '\r')
            stop--;
        *stop = 0;
        *text = line;
        *n = (size_t)(stop - line);
        return LINE_WHOLE;
    }
}

/* ------------------------------------------------------------------ out */

void lines_out_init(lines_out *l, int fd)
{
    *l = (lines_out){.fd = fd};
    unblock(fd);
}

void lines_out_release(lines_out *l)
{
    free(l->bytes);
    *l = (lines_out){.fd = -1, .broken = true};
}

void lines_add(lines_out *l, const char *text, size_t n)
{
    if (l->broken)
        return;
    if (l->n + n > l->cap) {
        if (l->at) {
            memmove(l->bytes, l->bytes + l->at, l->n - l->at);
            l->n -= l->at;
            l->at = 0;
        }
        while (l->n + n > l->cap)
            l->cap = l->cap ? l->cap * 2 : READ_BYTES;
        l->bytes = xrealloc(l->bytes, l->cap);
    }
    memcpy(l->bytes + l->n, text, n);
    l->n += n;
}

void lines_end(lines_out *l)
{
    lines_add(l, "\n", 1);
    lines_write(l);
}

void lines_write(lines_out *l)
{
    while (!l->broken && l->at < l->n) {
        ssize_t put = write(l->fd, l->bytes + l->at, l->n - l->at);
        if (put > 0)
            l->at += (size_t)put;
        else if (put < 0 && errno == EINTR)
            continue;
        else if (put < 0 && errno == EAGAIN)
            return;
        else
            l->broken = true;
    }
    l->at = l->n = 0;
    if (l->cap > KEEP_BYTES) {
        free(l->bytes);
        l->bytes = NULL;
        l->cap = 0;
    }
}

size_t lines_left(const lines_out *l)
{
    return l->n - l->at;
}
