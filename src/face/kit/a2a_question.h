/* SPDX-License-Identifier: Apache-2.0
 *
 * a2a_question.h: the state of a task while its turn runs on this server.
 */
#ifndef FACE_KIT_A2A_QUESTION_H
#define FACE_KIT_A2A_QUESTION_H

#include "form/a2a/a2a.h"
#include "face/kit/face.h"

/* The running turn of a session that waits for an answer: running->question is set. False: none
 * does. */
bool a2a_question_of(request *q, const ramet_session *s, turn_running *running);
/* The message with the question, as JSON of version 0.3. */
const char *a2a_question_json(arena *a, const turn_question *question);
/* If the task's turn waits for an answer, makes the task input-required, with the question. */
void a2a_task_live(request *q, const ramet_session *s, a2a_task *t);

#endif
