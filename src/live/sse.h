/* SPDX-License-Identifier: Apache-2.0
 *
 * sse.h: the framing of one event in a text/event-stream. The protocol defines its content.
 */
#ifndef LIVE_SSE_H
#define LIVE_SSE_H

#include "base/buf.h"

#include <stdint.h>

/* Begins an event up to its data, which the caller appends to `out`. `number` is what a client
 * sends back as Last-Event-ID; -1: none. Returns where the data begins, for sse_end(). */
size_t sse_begin(buf *out, const char *event, int64_t number);
void sse_end(buf *out, size_t data);

#endif
