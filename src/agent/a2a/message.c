/* SPDX-License-Identifier: Apache-2.0
 *
 * message.c: messages of a remote agent as they are recorded: in the form of A2A 1.0, with their
 * metadata.
 */
#include "agent/a2a/a2a.h"

#include <string.h>

/* Whether a key names the invocation of the remote agent: the entry belongs to one of ours. */
static bool key_is_invocation(const char *key)
{
    static const char *const keys[] = {"kagent_invocation_id", "adk_invocation_id",
                                       "kagent_adk_invocation_id",
                                       "urn:ramet:ext:session-rewind:v1/invocationId"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

const char *a2a_metadata_keep(arena *a, const json_doc *d, const json_node *metadata)
{
    const json_node *v;
    size_t n = 0;
    buf b;
    json_writer w;
    if (!json_is(metadata, JSON_OBJECT))
        return NULL;
    buf_init(&b, A2A_EVENT_BYTES);
    jw_init(&w, &b, 0);
    jw_object(&w);
    for (const json_node *k = json_first(d, metadata); k; k = json_next(d, metadata, v)) {
        const char *key = json_text(a, d, k);
        v = json_next(d, metadata, k);
        if (key_is_invocation(key))
            continue;
        jw_kraw(&w, key, json_raw(a, d, v));
        n++;
    }
    jw_end_object(&w);
    const char *kept = buf_keep_whole(&b, a);
    return n ? kept : NULL;
}

const char *a2a_body_make(arena *a, const char *id, const char *parts, const char *metadata)
{
    buf b;
    json_writer w;
    buf_init(&b, A2A_EVENT_BYTES);
    jw_init(&w, &b, 0);
    jw_object(&w);
    if (id)
        jw_kstr(&w, "messageId", id);
    jw_kstr(&w, "role", "ROLE_AGENT");
    jw_kraw(&w, "parts", parts);
    if (metadata)
        jw_kraw(&w, "metadata", metadata);
    jw_end_object(&w);
    return buf_keep_whole(&b, a);
}

/* ------------------------------------------------------------------ text */

void a2a_texts_begin(a2a_texts *t)
{
    *t = (a2a_texts){0};
    buf_init(&t->text, A2A_EVENT_BYTES);
    buf_init(&t->parts, A2A_EVENT_BYTES);
}

void a2a_texts_add(a2a_texts *t, arena *a, const json_doc *d, const json_node *part,
                   const char *text)
{
    json_writer w;
    buf_puts(&t->text, text);
    buf_puts(&t->parts, t->parts.n ? "," : "[");
    jw_init(&w, &t->parts, 0);
    a2a_part_write(a, &w, d, part, true);
    const json_node *metadata = json_get(d, part, "metadata");
    t->is_marked = t->is_marked || (json_is(metadata, JSON_OBJECT) && metadata->count) ||
                   json_is(json_get(d, part, "mediaType"), JSON_STRING);
}

void a2a_texts_clear(a2a_texts *t)
{
    buf_clear(&t->text);
    buf_clear(&t->parts);
    t->is_marked = false;
}

void a2a_texts_release(a2a_texts *t)
{
    buf_release(&t->text);
    buf_release(&t->parts);
}
