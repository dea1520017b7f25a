/* SPDX-License-Identifier: Apache-2.0
 *
 * a2a_question.c: tasks whose turn runs on this server. A question to the user is not in the store:
 * it is looked up in the running turn whenever a task is shown.
 */
#include "face/kit/a2a_question.h"

#include "base/util.h"

#include <string.h>

bool a2a_question_of(request *q, const ramet_session *s, turn_running *running)
{
    return turns_running_get(q->host->turns, s, q->arena, running) && running->question;
}

/* The options are sent as data next to the question, for clients that can show them. */
const char *a2a_question_json(arena *a, const turn_question *question)
{
    buf b;
    json_writer w;
    buf_init(&b, (size_t)16 << 20);
    jw_init(&w, &b, 0);
    jw_object(&w);
    jw_kstr(&w, "kind", "message");
    jw_kstr(&w, "messageId", question->id);
    jw_kstr(&w, "role", "agent");
    jw_key(&w, "parts");
    jw_array(&w);
    jw_object(&w);
    jw_kstr(&w, "kind", "text");
    jw_kstr(&w, "text", question->text);
    jw_end_object(&w);
    if (question->options) {
        jw_object(&w);
        jw_kstr(&w, "kind", "data");
        jw_key(&w, "data");
        jw_object(&w);
        jw_kraw(&w, "options", question->options);
        jw_end_object(&w);
        jw_end_object(&w);
    }
    jw_end_array(&w);
    jw_end_object(&w);
    return buf_keep_whole(&b, a);
}

void a2a_task_live(request *q, const ramet_session *s, a2a_task *t)
{
    turn_running running;
    if (!t->running || !a2a_question_of(q, s, &running) || strcmp(running.turn, t->id) != 0)
        return;
    t->state = A2A_INPUT_REQUIRED;
    t->status_message = a2a_question_json(q->arena, running.question);
}
