/* SPDX-License-Identifier: Apache-2.0
 *
 * toy.h: what the files of the toy face share: routes.c (the tables), identity.c (callers), notes.c
 * (the handlers and the shape of errors), ask.c (answers of agents, as they come).
 *
 * The toy protocol keeps notebooks. A notebook is a session, a note an entry of the user.
 */
#ifndef FACE_TOY_TOY_H
#define FACE_TOY_TOY_H

#include "face/kit/face.h"

extern const identity_rule toy_identity;

/* {"ok": false, "problem", "where"?}: every error, whoever found it. */
void toy_fail(request *q, const char *code, const char *field, const char *message);

typedef void toy_handler(request *q);
toy_handler toy_health, toy_notebook_post, toy_note_post, toy_notes_get, toy_ask, toy_census;

#endif
