/* SPDX-License-Identifier: Apache-2.0
 *
 * event_text.c: events as they stand in a text/event-stream.
 *
 * The number (`id:`) is what a reader sends back as Last-Event-ID, so it stands where everything up
 * to it has been told: at the last of several entries of one event, and on lines without data.
 */
#include "live/event_text.h"

#include "form/native.h"

#include <stdlib.h>
#include <string.h>

void live_text_hello(buf *out, const live_feed *feed, int64_t number)
{
    if (feed->event) {
        buf_puts(out, feed->hello);
        return;
    }
    buf_puts(out, ": ramet\nretry: 1000\n");
    if (number >= 0)
        buf_printf(out, "id: %lld\n", (long long)number);
    buf_putc(out, '\n');
}

void live_text_pulse(buf *out, const live_feed *feed, int64_t number)
{
    if (feed->event) {
        buf_puts(out, feed->pulse);
        return;
    }
    buf_printf(out, ": %lld\nid: %lld\n\n", (long long)number, (long long)number);
}

void live_text_reset(buf *out, const live_feed *feed, int64_t number)
{
    if (feed->event) {
        feed->lost(feed->arg, number, out);
        return;
    }
    buf_printf(out, "id: %lld\nevent: reset\ndata: {\"type\":\"reset\",\"number\":%lld}\n\n",
               (long long)number, (long long)number);
}

void live_text_closed(buf *out, const live_feed *feed, int64_t number)
{
    if (!feed->event)
        buf_printf(out,
                   "event: closed\ndata: {\"type\":\"closed\",\"reason\":\"too_slow\","
                   "\"number\":%lld}\n\n",
                   (long long)number);
}

static size_t event_begin(buf *out, json_writer *w, const ramet_event *e, bool last)
{
    if (last)
        buf_printf(out, "id: %lld\n", (long long)e->number);
    buf_printf(out, "event: %s\ndata: ", ramet_event_name(e->kind));
    size_t start = out->n;
    jw_init(w, out, 0);
    jw_object(w);
    jw_kstr(w, "type", ramet_event_name(e->kind));
    jw_kint(w, "number", e->number);
    jw_kstr(w, "session_id", e->session);
    jw_kstr(w, "tree_id", e->tree);
    native_kbranch(w, "branch_id", e->branch);
    native_ktime(w, "at", e->at);
    return start;
}

/* A body is kept as it came and may hold line ends between its values: each line of the data gets
 * its own `data:`, and the reader puts them together again. */
static void lines_split(buf *out, size_t start)
{
    size_t n = out->n - start;
    if (!memchr(out->p + start, '\n', n) && !memchr(out->p + start, '\r', n))
        return;
    char *text = xmalloc(n + 1);
    memcpy(text, out->p + start, n + 1);
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

static void event_end(buf *out, json_writer *w, size_t start)
{
    jw_end_object(w);
    if (!out->over)
        lines_split(out, start);
    buf_puts(out, "\n\n");
}

void live_text_line(buf *out, const char *event, const char *json, size_t n)
{
    buf_printf(out, "event: %s\ndata: ", event);
    size_t start = out->n;
    buf_add(out, json, n);
    if (!out->over)
        lines_split(out, start);
    buf_puts(out, "\n\n");
}

void live_text_event(buf *out, const live_feed *feed, const ramet_event *e)
{
    json_writer w;
    if (feed->event) {
        feed->event(feed->arg, e, out);
        return;
    }
    if (!e->n) {
        size_t start = event_begin(out, &w, e, true);
        if (e->more)
            jw_kbool(&w, "more", true);
        event_end(out, &w, start);
    }
    for (size_t i = 0; i < e->n; i++) {
        bool last = i + 1 == e->n;
        size_t start = event_begin(out, &w, e, last);
        jw_key(&w, "entry");
        native_entry(&w, &e->entries[i]);
        if (last && e->more)
            jw_kbool(&w, "more", true);
        event_end(out, &w, start);
    }
}
