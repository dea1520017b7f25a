/* SPDX-License-Identifier: Apache-2.0
 *
 * event_text.h: events as they stand in a text/event-stream.
 */
#ifndef LIVE_EVENT_TEXT_H
#define LIVE_EVENT_TEXT_H

#include "live/live.h"
#include "ramet.h"

#define LIVE_EVENT_MAX ((size_t)256 << 20) /* one event; a page of the store ends at 32 MiB */
#define LIVE_KEEP ((size_t)1 << 20)        /* memory that is kept from one event to the next */

/* `feed` has a format of its own; event NULL: that of the native API.
 *
 * The first lines: when to come back, and from which number (-1: not known yet). */
void live_text_hello(buf *out, const live_feed *feed, int64_t number);
/* One event for each change of a session and for each appended entry; of several entries the last
 * one carries the number. */
void live_text_event(buf *out, const live_feed *feed, const ramet_event *e);
void live_text_reset(buf *out, const live_feed *feed, int64_t number);
/* The last event of a stream whose client was too slow; it has everything up to the number. Only
 * the native API has one. */
void live_text_closed(buf *out, const live_feed *feed, int64_t number);
/* An event without a number. */
void live_text_line(buf *out, const char *event, const char *json, size_t n);
void live_text_pulse(buf *out, const live_feed *feed, int64_t number);

#endif
