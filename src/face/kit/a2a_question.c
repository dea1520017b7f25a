/* SPDX-License-Identifier: Apache-2.0
 *
 * a2a_question.c: tasks whose turn runs. Whether a question to the user is open is looked up in the
 * running turn whenever a task is shown.
 */
#include "face/kit/a2a_question.h"

#include "base/util.h"

#include <string.h>

/* Reads a question from its entry; see turn_question_parts(). */
static bool question_read(arena *a, const ramet_entry *e, turn_question *out)
{
    json_doc d;
    if (!a2a_entry_asks(e) || !json_parse(a, e->parts, strlen(e->parts), 0, &d, NULL))
        return false;
    for (const json_node *p = json_first(&d, &d.nodes[0]); p; p = json_next(&d, &d.nodes[0], p)) {
        const json_node *v = json_get(&d, p, "data"), *options = json_get(&d, v, "options"),
                        *calls = json_get(&d, v, "request"),
                        *metadata = json_get(&d, v, "metadata");
        const char *kind = json_text(a, &d, json_get(&d, v, "kind"));
        if (kind)
            *out = (turn_question){.id = e->id,
                                   .kind = kind,
                                   .text = e->text,
                                   .options = options ? json_raw(a, &d, options) : NULL,
                                   .request = calls ? json_raw(a, &d, calls) : NULL,
                                   .metadata = metadata ? json_raw(a, &d, metadata) : NULL,
                                   .asked_us = e->created};
    }
    return out->kind != NULL;
}

/* A node that does not run the turn may not have heard of the question yet: then the last message
 * of the task tells. */
bool a2a_question_of(request *q, const ramet_session *s, const a2a_task *t, turn_question *out)
{
    turn_running running;
    *out = (turn_question){0};
    if (!t->running)
        return false;
    if (turns_running_get(q->host->turns, s, q->arena, &running) && running.question &&
        strcmp(running.turn, t->id) == 0) {
        *out = *running.question;
        return true;
    }
    return t->history && t->n && question_read(q->arena, &t->history[t->n - 1], out);
}

ramet_entry *a2a_question_entry(arena *a, const turn_question *question, const char *turn)
{
    ramet_entry *e = arena_alloc(a, sizeof *e);
    *e = (ramet_entry){.id = arena_strdup(a, question->id),
                       .role = RAMET_ASSISTANT,
                       .text = arena_strdup(a, question->text),
                       .parts = turn_question_parts(a, question),
                       .format = "ramet",
                       .turn_id = arena_strdup(a, turn),
                       .channel = "history",
                       .created = question->asked_us};
    return e;
}

void a2a_task_live(request *q, const ramet_session *s, a2a_task *t)
{
    turn_question question;
    if (!a2a_question_of(q, s, t, &question))
        return;
    t->state = A2A_INPUT_REQUIRED;
    t->question = a2a_question_entry(q->arena, &question, t->id);
    if (question.asked_us)
        t->status_at = question.asked_us;
}
