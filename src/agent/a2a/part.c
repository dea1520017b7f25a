/* SPDX-License-Identifier: Apache-2.0
 *
 * part.c: parts of A2A messages that are not text: files and JSON values, in both versions, and as
 * the parts of an entry.
 *
 * In 0.3 a value must be an object. Another one is wrapped as {"value": …} and marked in the
 * metadata, as the SDK of 1.0 does for agents of 0.3; marked ones are unwrapped for 1.0.
 */
#include "agent/a2a/a2a.h"

#include <string.h>

#define WRAPPED "data_part_compat"

/* A part of either version. */
typedef struct part {
    bool old;
    const json_node *text, *data, *bytes, *uri, *name, *media, *metadata;
} part;

static part part_read(const json_doc *d, const json_node *v)
{
    const json_node *file = json_get(d, v, "file");
    bool old = json_get(d, v, "kind") != NULL || file != NULL;
    return (part){.old = old,
                  .text = json_get(d, v, "text"),
                  .data = json_get(d, v, "data"),
                  .bytes = old ? json_get(d, file, "bytes") : json_get(d, v, "raw"),
                  .uri = old ? json_get(d, file, "uri") : json_get(d, v, "url"),
                  .name = old ? json_get(d, file, "name") : json_get(d, v, "filename"),
                  .media = old ? json_get(d, file, "mimeType") : json_get(d, v, "mediaType"),
                  .metadata = json_get(d, v, "metadata")};
}

static bool is_wrapped(const json_doc *d, const part *p)
{
    return p->old && json_is(json_get(d, p->metadata, WRAPPED), JSON_TRUE) &&
           json_get(d, p->data, "value");
}

/* The metadata, with or without the mark. */
static void metadata_write(arena *a, json_writer *w, const json_doc *d, const json_node *metadata,
                           bool mark)
{
    const json_node *v;
    bool any = false;
    for (const json_node *k = json_first(d, metadata); k; k = json_next(d, metadata, v)) {
        const char *name = json_text(a, d, k);
        v = json_next(d, metadata, k);
        if (strcmp(name, WRAPPED) == 0)
            continue;
        if (!any) {
            jw_key(w, "metadata");
            jw_object(w);
        }
        any = true;
        jw_kraw(w, name, json_raw(a, d, v));
    }
    if (mark && !any) {
        jw_key(w, "metadata");
        jw_object(w);
    }
    if (mark)
        jw_kbool(w, WRAPPED, true);
    if (mark || any)
        jw_end_object(w);
}

static void raw_member(arena *a, json_writer *w, const char *key, const json_doc *d,
                       const json_node *v)
{
    if (v && !json_is(v, JSON_NULL))
        jw_kraw(w, key, json_raw(a, d, v));
}

static void file_write(arena *a, json_writer *w, const json_doc *d, const part *p, bool v1)
{
    if (!v1) {
        jw_kstr(w, "kind", "file");
        jw_key(w, "file");
        jw_object(w);
    }
    raw_member(a, w, v1 ? "raw" : "bytes", d, p->bytes);
    raw_member(a, w, v1 ? "url" : "uri", d, p->uri);
    raw_member(a, w, v1 ? "filename" : "name", d, p->name);
    raw_member(a, w, v1 ? "mediaType" : "mimeType", d, p->media);
    if (!v1)
        jw_end_object(w);
}

void a2a_part_write(arena *a, json_writer *w, const json_doc *d, const json_node *v, bool v1)
{
    part p = part_read(d, v);
    if (p.old != v1 && !is_wrapped(d, &p)) {
        jw_raw(w, json_raw(a, d, v));
        return;
    }
    bool mark = false;
    jw_object(w);
    if (p.text) {
        if (!v1)
            jw_kstr(w, "kind", "text");
        jw_kraw(w, "text", json_raw(a, d, p.text));
    } else if (p.data) {
        const json_node *data = is_wrapped(d, &p) ? json_get(d, p.data, "value") : p.data;
        const char *raw = json_raw(a, d, data);
        mark = !v1 && !json_is(data, JSON_OBJECT);
        if (!v1)
            jw_kstr(w, "kind", "data");
        jw_kraw(w, "data", mark ? arena_printf(a, "{\"value\":%s}", raw) : raw);
    } else {
        file_write(a, w, d, &p, v1);
    }
    metadata_write(a, w, d, p.metadata, mark);
    jw_end_object(w);
}

bool a2a_part_is_value(const json_doc *d, const json_node *v)
{
    part p = part_read(d, v);
    bool empty = json_is(p.data, JSON_OBJECT) && !p.data->count;
    return !p.text && (p.bytes || p.uri || (p.data && !empty));
}

/* As the parts of an entry: the bytes of a file stay in the message. */
const char *a2a_part_normal(arena *a, const json_doc *d, const json_node *v)
{
    part p = part_read(d, v);
    buf b;
    json_writer w;
    buf_init(&b, A2A_EVENT_BYTES);
    jw_init(&w, &b, 0);
    jw_array(&w);
    jw_object(&w);
    if (json_is(p.uri, JSON_STRING)) {
        jw_kstr(&w, "type", "file");
        jw_kraw(&w, "url", json_raw(a, d, p.uri));
        raw_member(a, &w, "name", d, p.name);
        raw_member(a, &w, "media_type", d, p.media);
    } else if (p.data) {
        jw_kstr(&w, "type", "data");
        jw_kraw(&w, "data",
                json_raw(a, d, is_wrapped(d, &p) ? json_get(d, p.data, "value") : p.data));
    } else {
        jw_kstr(&w, "type", "data");
        jw_key(&w, "data");
        jw_object(&w);
        raw_member(a, &w, "file", d, p.name);
        raw_member(a, &w, "media_type", d, p.media);
        jw_end_object(&w);
    }
    jw_end_object(&w);
    jw_end_array(&w);
    return buf_keep_whole(&b, a);
}
