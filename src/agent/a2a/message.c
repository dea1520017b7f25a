/* SPDX-License-Identifier: Apache-2.0
 *
 * message.c: messages of a remote agent as they are recorded: in the form of A2A 1.0, with their
 * metadata.
 */
#include "agent/a2a/a2a.h"

#include <stdio.h>
#include <string.h>

enum { MAX_TOKENS = 1 << 30 };

const json_node *a2a_meta_get(const json_doc *d, const json_node *of, const char *key)
{
    char name[64];
    const json_node *meta = json_get(d, of, "metadata"), *v = NULL;
    static const char *const fronts[] = {"adk_", "kagent_", "kagent_adk_",
                                         "urn:ramet:ext:session-rewind:v1/"};
    for (size_t i = 0; !v && i < sizeof fronts / sizeof *fronts; i++) {
        snprintf(name, sizeof name, "%s%s", fronts[i], key);
        v = json_get(d, meta, name);
    }
    return v;
}

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

/* {"promptTokenCount", "candidatesTokenCount", "totalTokenCount"}: what the total has beyond the
 * prompt counts as output. */
static bool usage_read(const json_doc *d, const json_node *v, ramet_usage *out)
{
    int64_t prompt = 0, made = 0, total = 0;
    *out = (ramet_usage){0};
    if (!json_is(v, JSON_OBJECT))
        return false;
    json_int(d, json_get(d, v, "promptTokenCount"), &prompt);
    json_int(d, json_get(d, v, "candidatesTokenCount"), &made);
    json_int(d, json_get(d, v, "totalTokenCount"), &total);
    out->input = prompt;
    out->output = total > prompt ? total - prompt : made;
    bool fits = prompt >= 0 && made >= 0 && total >= 0 && prompt <= MAX_TOKENS &&
                made <= MAX_TOKENS && total <= MAX_TOKENS;
    return fits && (out->input || out->output);
}

void a2a_about_read(arena *a, const json_doc *d, const json_node *of, a2a_about *out)
{
    const json_node *usage = a2a_meta_get(d, of, "usage_metadata");
    *out = (a2a_about){.metadata = a2a_metadata_keep(a, d, json_get(d, of, "metadata"))};
    out->has_usage =
        usage_read(d, usage ? usage : a2a_meta_get(d, of, "usageMetadata"), &out->usage);
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
