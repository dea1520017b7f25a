/* SPDX-License-Identifier: Apache-2.0
 *
 * live_feed.c: live events in the form of the native API.
 *
 * The number (`id:`) is what a client sends back as Last-Event-ID. So it is sent only when
 * everything up to it has been sent: with the last of several entries of one event, and on lines
 * without data.
 */
#include "face/native/native_face.h"

#include "live/sse.h"

static void feed_hello(void *arg, int64_t number, buf *out)
{
    (void)arg;
    buf_puts(out, ": ramet\nretry: 1000\n");
    if (number >= 0)
        buf_printf(out, "id: %lld\n", (long long)number);
    buf_putc(out, '\n');
}

static void feed_heartbeat(void *arg, int64_t number, buf *out)
{
    (void)arg;
    buf_printf(out, ": %lld\nid: %lld\n\n", (long long)number, (long long)number);
}

static void feed_reset(void *arg, int64_t number, buf *out)
{
    (void)arg;
    buf_printf(out, "id: %lld\nevent: reset\ndata: {\"type\":\"reset\",\"number\":%lld}\n\n",
               (long long)number, (long long)number);
}

static void feed_closed(void *arg, int64_t number, buf *out)
{
    (void)arg;
    buf_printf(out,
               "event: closed\ndata: {\"type\":\"closed\",\"reason\":\"too_slow\","
               "\"number\":%lld}\n\n",
               (long long)number);
}

/* Writes one event for each appended entry; `entry` NULL: for another change of a session. */
static void event_write(const ramet_event *e, const ramet_entry *entry, bool is_last, buf *out)
{
    json_writer w;
    size_t data = sse_begin(out, ramet_event_name(e->kind), is_last ? e->number : -1);
    jw_init(&w, out, 0);
    jw_object(&w);
    jw_kstr(&w, "type", ramet_event_name(e->kind));
    jw_kint(&w, "number", e->number);
    jw_kstr(&w, "session_id", e->session);
    jw_kstr(&w, "tree_id", e->tree);
    native_kbranch(&w, "branch_id", e->branch);
    native_ktime(&w, "at", e->at);
    if (entry) {
        jw_key(&w, "entry");
        native_entry(&w, entry);
    }
    if (is_last && e->more)
        jw_kbool(&w, "more", true);
    jw_end_object(&w);
    sse_end(out, data);
}

static void feed_event(void *arg, const ramet_event *e, buf *out)
{
    (void)arg;
    if (!e->n)
        event_write(e, NULL, true, out);
    for (size_t i = 0; i < e->n; i++)
        event_write(e, &e->entries[i], i + 1 == e->n, out);
}

const live_feed native_feed = {.hello = feed_hello,
                               .event = feed_event,
                               .reset = feed_reset,
                               .heartbeat = feed_heartbeat,
                               .closed = feed_closed,
                               .is_shared = true,
                               .takes_ephemeral = true};
