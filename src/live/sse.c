/* SPDX-License-Identifier: Apache-2.0
 *
 * sse.c: see sse.h.
 */
#include "live/sse.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

size_t sse_begin(buf *out, const char *event, int64_t number)
{
    if (number >= 0)
        buf_printf(out, "id: %lld\n", (long long)number);
    buf_printf(out, "event: %s\ndata: ", event);
    return out->n;
}

/* Stored JSON may contain line breaks between its values: each line of the data gets its own
 * `data:`, and the client joins them again. */
static void lines_split(buf *out, size_t start)
{
    size_t n = out->n - start;
    if (!memchr(out->data + start, '\n', n) && !memchr(out->data + start, '\r', n))
        return;
    char *text = xmalloc(n + 1);
    memcpy(text, out->data + start, n + 1);
    out->n = start;
    for (char *p = text;;) {
        size_t len = strcspn(p, "\r\n");
        buf_add(out, p, len);
        p += len;
        if (!*p)
            break;
        p += p[0] == '\r' && p[1] == '\n' ? 2 : 1;
        buf_puts(out, "\ndata: ");
    }
    free(text);
}

void sse_end(buf *out, size_t data)
{
    if (!out->over)
        lines_split(out, data);
    buf_puts(out, "\n\n");
}
