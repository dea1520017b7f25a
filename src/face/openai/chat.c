/* SPDX-License-Identifier: Apache-2.0
 *
 * chat.c: /chat/completions: reads a request and begins its turns. Where the list of messages
 * continues a history is found in lineage.c; chat_events.c writes the answer.
 */
#include "face/openai/openai_face.h"

#include <string.h>

static turn_listener chat_listener(void *arg, turn_place *place)
{
    chat_options o = *(const chat_options *)arg;
    o.place = place;
    return openai_chat_listener(&o);
}

void openai_chat_post(request *q)
{
    openai_input in;
    chat_options how = {.stream = face_bool(q, "stream")};
    openai_run run = {.input = &in, .listener = chat_listener, .arg = &how};
    run.unrecorded = !openai_records(q, true);
    int64_t n = 1;
    const json_node *options = face_member(q, "stream_options");
    if (!face_call(q) || !openai_model(q, face_text(q, "model"), &run.agent) ||
        !openai_messages_read(q, &in) || !openai_chat_settings(q, in.instructions, &run.agent) ||
        !openai_calls_check(q, NULL, 0, 0, &in) ||
        (!run.unrecorded && !openai_lineage(q, &in, &run.place)))
        return;
    json_int(&q->json, face_member(q, "n"), &n);
    run.choices = (size_t)n;
    run.kept = openai_request_kept(q, NULL);
    how.choices = (size_t)n;
    how.model = face_text(q, "model") ? face_text(q, "model") : run.agent.name;
    how.usage = json_is(json_get(&q->json, options, "include_usage"), JSON_TRUE);
    openai_turn_run(q, &run);
}
