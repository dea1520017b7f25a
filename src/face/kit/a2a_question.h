/* SPDX-License-Identifier: Apache-2.0
 *
 * a2a_question.h: what a task is while its turn runs on this server.
 */
#ifndef FACE_KIT_A2A_QUESTION_H
#define FACE_KIT_A2A_QUESTION_H

#include "form/a2a/a2a.h"
#include "face/kit/face.h"

/* The turn that runs in a session and waits for an answer: running->question is set. False: there
 * is none. */
bool a2a_question_of(request *q, const ramet_session *s, turn_running *running);
/* The message that asks it, as JSON of 0.3. */
const char *a2a_question_json(arena *a, const turn_question *question);
/* A task that runs and waits for an answer becomes input-required, with the question. */
void a2a_task_live(request *q, const ramet_session *s, a2a_task *t);

#endif
