/* SPDX-License-Identifier: Apache-2.0
 *
 * a2a_question.h: the state of a task while its turn runs on this server.
 */
#ifndef FACE_KIT_A2A_QUESTION_H
#define FACE_KIT_A2A_QUESTION_H

#include "form/a2a/a2a.h"
#include "face/kit/face.h"

/* The question that the turn of a running task waits for, in the arena of the request. False: it
 * waits for none. */
bool a2a_question_of(request *q, const ramet_session *s, const a2a_task *t, turn_question *out);
/* The entry that a question of a turn is. */
ramet_entry *a2a_question_entry(arena *a, const turn_question *question, const char *turn);
/* If the task's turn waits for an answer, makes the task input-required, with the question. */
void a2a_task_live(request *q, const ramet_session *s, a2a_task *t);

#endif
