/* SPDX-License-Identifier: Apache-2.0
 *
 * a2a_question.c: tasks whose turn runs on this server. A question to the user is not in the store:
 * it is asked for here, whenever a task is shown.
 */
#include "face/kit/a2a_question.h"

#include "base/util.h"

#include <string.h>

bool a2a_question_read(arena *a, const json_doc *d, const json_node *v, a2a_question *out)
{
    const json_node *options = json_get(d, v, "options");
    *out = (a2a_question){.id = json_text(a, d, json_get(d, v, "id")),
                          .kind = json_text(a, d, json_get(d, v, "kind")),
                          .text = json_text(a, d, json_get(d, v, "text"))};
    if (json_is(options, JSON_ARRAY))
        out->options = json_raw(a, d, options);
    return out->id && out->kind && out->text;
}

bool a2a_question_of(request *q, const ramet_session *s, a2a_question *out)
{
    buf text;
    json_writer w;
    json_doc d;
    if (!q->host->turn_running)
        return false;
    buf_init(&text, (size_t)64 << 20);
    jw_init(&w, &text, 0);
    q->host->turn_running(q->host->arg, s, &w);
    char *copy = arena_memdup(q->a, text.p, text.n);
    bool read = !text.over && json_parse(q->a, copy, text.n, 0, &d, NULL);
    buf_release(&text);
    if (!read || !a2a_question_read(q->a, &d, json_get(&d, &d.nodes[0], "question"), out))
        return false;
    out->turn = json_text(q->a, &d, json_get(&d, &d.nodes[0], "turn_id"));
    return out->turn != NULL;
}

/* What may be answered stands beside the question, for callers that can show it. */
const char *a2a_question_json(arena *a, const a2a_question *question)
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
    const char *out = b.over ? NULL : arena_memdup(a, b.p, b.n);
    buf_release(&b);
    return out;
}

void a2a_task_live(request *q, const ramet_session *s, a2a_task *t)
{
    a2a_question question;
    if (!t->running || !a2a_question_of(q, s, &question) || strcmp(question.turn, t->id) != 0)
        return;
    t->state = A2A_INPUT_REQUIRED;
    t->status_message = a2a_question_json(q->a, &question);
}
