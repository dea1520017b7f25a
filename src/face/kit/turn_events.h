/* SPDX-License-Identifier: Apache-2.0
 *
 * turn_events.h: turns in the JSON form of the native API, which the chat of the memory face uses,
 * too.
 */
#ifndef FACE_KIT_TURN_EVENTS_H
#define FACE_KIT_TURN_EVENTS_H

#include "face/kit/face.h"

/* Writes an event as a server-sent event: a turn_event_writer without state. */
bool face_turn_event(void *arg, const turn_event *e, buf *out);
/* Writes a question; null if NULL. */
void face_turn_question(json_writer *w, const turn_question *q);
/* A listener that sends events as they happen. */
turn_listener face_turn_stream(void);
/* A listener that answers with one JSON object when all n turns of a request are over. */
turn_listener face_turn_json(size_t n, bool fan_out);

/* Calls turns_run() for a request, and fills in the answer if it fails. */
void face_turns_run(request *q, turn_batch *batch, const turn_listener *listener);
/* Answers with an error of turns_run() and its relatives. */
void face_turn_error(request *q, const turn_error *e);

#endif
