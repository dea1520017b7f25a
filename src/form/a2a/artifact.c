/* SPDX-License-Identifier: Apache-2.0
 *
 * artifact.c: the answer of a task, as text and as the artifact that A2A wants.
 */
#include "form/a2a/a2a.h"

enum { MAX_ANSWER_BYTES = 256 << 20 };

static const char *json_kept(arena *a, buf *b)
{
    const char *out = b->over ? NULL : arena_memdup(a, b->data, b->n);
    buf_release(b);
    return out;
}

void a2a_text_part_write(json_writer *w, a2a_version version, const char *text)
{
    jw_object(w);
    if (version == A2A_03)
        jw_kstr(w, "kind", "text");
    jw_kstr(w, "text", text);
    jw_end_object(w);
}

void a2a_artifact_write(json_writer *w, a2a_version version, const char *text)
{
    jw_object(w);
    jw_kstr(w, "artifactId", "answer");
    jw_key(w, "parts");
    jw_array(w);
    a2a_text_part_write(w, version, text);
    jw_end_array(w);
    jw_end_object(w);
}

const char *a2a_artifacts_json(arena *a, const char *text)
{
    buf b;
    json_writer w;
    if (!*text)
        return NULL;
    buf_init(&b, MAX_ANSWER_BYTES);
    jw_init(&w, &b, 0);
    jw_array(&w);
    a2a_artifact_write(&w, A2A_03, text);
    jw_end_array(&w);
    return json_kept(a, &b);
}

const char *a2a_answer_text(arena *a, const a2a_task *t)
{
    buf b;
    buf_init(&b, MAX_ANSWER_BYTES);
    for (size_t i = 0; i < t->n; i++) {
        const ramet_entry *e = &t->history[i];
        if (e->role != RAMET_ASSISTANT || !*e->text)
            continue;
        if (b.n)
            buf_puts(&b, "\n\n");
        buf_puts(&b, e->text);
    }
    const char *text = json_kept(a, &b);
    return text ? text : "";
}
