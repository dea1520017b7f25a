/* SPDX-License-Identifier: Apache-2.0
 *
 * Bounded growing buffers (buf.h).
 */
#include "base/buf.h"

#include "base/arena.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char nothing[1] = "";

void buf_init(buf *b, size_t max)
{
    *b = (buf){.data = nothing, .max = max};
}

/* Charges a change of the capacity to the budget; false when the budget does not allow it. */
static bool budget_move(buf *b, size_t cap)
{
    int64_t was = b->cap > BUF_FREE ? (int64_t)b->cap : 0;
    int64_t more = (cap > BUF_FREE ? (int64_t)cap : 0) - was;
    if (!b->budget || !more)
        return true;
    int64_t used = atomic_fetch_add(&b->budget->used, more) + more;
    if (more < 0 || used <= b->budget->max)
        return true;
    atomic_fetch_sub(&b->budget->used, more);
    return false;
}

void buf_release(buf *b)
{
    budget_move(b, 0);
    if (b->cap)
        free(b->data);
    b->data = nothing;
    b->n = b->cap = 0;
}

char *buf_keep(buf *b, arena *a)
{
    char *out = arena_memdup(a, b->data, b->n);
    buf_release(b);
    return out;
}

char *buf_keep_whole(buf *b, arena *a)
{
    return b->over ? NULL : buf_keep(b, a); /* over: nothing is left to release */
}

void buf_clear(buf *b)
{
    b->n = 0;
    b->over = b->starved = false;
    if (b->cap)
        b->data[0] = 0;
}

void buf_trim(buf *b)
{
    if (!b->cap || b->n + 1 > b->cap / 2)
        return;
    budget_move(b, b->n + 1);
    b->cap = b->n + 1;
    b->data = xrealloc(b->data, b->cap);
}

/* Makes room for n more bytes and the NUL; false when that exceeds the limit. */
static bool room(buf *b, size_t n)
{
    if (b->over)
        return false;
    if (n > b->max || b->n > b->max - n) {
        buf_release(b);
        b->over = true;
        return false;
    }
    size_t need = b->n + n + 1;
    if (need > b->cap) {
        size_t cap = b->cap ? b->cap : 64;
        while (cap < need)
            cap *= 2;
        if (!budget_move(b, cap)) {
            buf_release(b);
            b->over = b->starved = true;
            return false;
        }
        b->data = b->cap ? xrealloc(b->data, cap) : xmalloc(cap);
        b->cap = cap;
    }
    return true;
}

void buf_reserve(buf *b, size_t n)
{
    if (b->n <= b->max && n <= b->max - b->n)
        room(b, n);
}

void buf_add(buf *b, const void *p, size_t n)
{
    if (!n || !room(b, n))
        return;
    memcpy(b->data + b->n, p, n);
    b->n += n;
    b->data[b->n] = 0;
}

void buf_puts(buf *b, const char *s)
{
    if (s)
        buf_add(b, s, strlen(s));
}

void buf_putc(buf *b, char ch)
{
    buf_add(b, &ch, 1);
}

void buf_pad(buf *b, char ch, size_t times)
{
    if (!times || !room(b, times))
        return;
    memset(b->data + b->n, ch, times);
    b->n += times;
    b->data[b->n] = 0;
}

void buf_percent(buf *b, const char *s, const char *plain)
{
    for (; *s; s++) {
        unsigned char ch = (unsigned char)*s;
        if ((ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
            strchr(plain, ch))
            buf_putc(b, (char)ch);
        else
            buf_printf(b, "%%%02X", ch);
    }
}

void buf_printf(buf *b, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n > 0 && room(b, (size_t)n)) {
        vsnprintf(b->data + b->n, (size_t)n + 1, fmt, again);
        b->n += (size_t)n;
    }
    va_end(again);
}
