/* SPDX-License-Identifier: Apache-2.0
 *
 * a2a_question.h: what a task is while its turn runs on this server.
 */
#ifndef FACE_KIT_A2A_QUESTION_H
#define FACE_KIT_A2A_QUESTION_H

#include "form/a2a/a2a.h"
#include "face/kit/face.h"

/* A question that the agent of a turn has asked, and nobody answered yet. */
typedef struct a2a_question {
    const char *turn;
    const char *id, *kind, *text;
    const char *options; /* JSON array; NULL: none */
} a2a_question;

/* The question that a session waits with; false: none. */
bool a2a_question_of(request *q, const ramet_session *s, a2a_question *out);
/* Reads one as the events of a turn tell it. */
bool a2a_question_read(arena *a, const json_doc *d, const json_node *v, a2a_question *out);
/* The message that asks it, as JSON of 0.3. */
const char *a2a_question_json(arena *a, const a2a_question *question);
/* A task that runs and waits for an answer becomes input-required, with the question. */
void a2a_task_live(request *q, const ramet_session *s, a2a_task *t);

#endif
