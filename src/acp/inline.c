/* SPDX-License-Identifier: Apache-2.0
 *
 * inline.c: stores content that is too large for an entry as attachments: the bytes of images,
 * sounds and files wherever they are in an update (in a message, in the output of a tool), and any
 * text of several MiB. The object that contained them names the attachments in
 * `_meta.ramet.attachments`, and is restored when it is replayed.
 */
#include "acp/own.h"

#include "base/base64.h"

#include <stdlib.h>
#include <string.h>

enum {
    INLINE_BYTES = 256 << 10,
    TEXT_BYTES = 4 << 20,
    MEMBERS = 256 /* per update; further ones stay where they are */
};

typedef struct large {
    const json_node *object, *value;
    const char *key;
    bool base64;
} large;

/* ------------------------------------------------------------------ base64 */

static char *base64_of(const unsigned char *bytes, size_t n)
{
    char *text = xmalloc(BASE64_LEN(n) + 1);
    base64_encode(bytes, n, text);
    return text;
}

/* Decodes to bytes allocated with xmalloc; NULL if they would not encode to the same text again. */
static unsigned char *bytes_of(const char *text, size_t *len)
{
    size_t n = strlen(text);
    if (!n || n % 4)
        return NULL;
    for (int pad = 0; pad < 2 && text[n - 1] == '='; pad++)
        n--;
    unsigned char *bytes = xmalloc(n);
    if (base64_decode(text, n, bytes, len))
        return bytes;
    free(bytes);
    return NULL;
}

/* ------------------------------------------------------------------ away */

static const char *const binary[] = {"data", "blob"};

static bool is_binary(const char *key)
{
    return strcmp(key, binary[0]) == 0 || strcmp(key, binary[1]) == 0;
}

/* Finds the next member that is too large, after the node `*at`. */
static bool large_next(proxy *p, const json_doc *d, size_t *at, large *out)
{
    for (; *at < d->n; ++*at) {
        const json_node *o = &d->nodes[*at];
        if (!json_is(o, JSON_OBJECT) || o->end - o->start < INLINE_BYTES)
            continue;
        for (const json_node *k = json_first(d, o); k;) {
            const json_node *v = json_next(d, o, k);
            size_t n = v->end - v->start;
            const char *key = json_text(p->mem, d, k);
            bool text = key && strcmp(key, "text") == 0 && json_get(d, o, "uri");
            if (json_is(v, JSON_STRING) && key &&
                n > (size_t)(is_binary(key) || text ? INLINE_BYTES : TEXT_BYTES) && !v->has_nul) {
                *out = (large){o, v, key, is_binary(key)};
                return true;
            }
            k = json_next(d, o, v);
        }
    }
    return false;
}

/* The text with one object replaced. */
static const char *object_put(proxy *p, const json_doc *d, const json_node *o, const char *now)
{
    size_t n = strlen(now), rest = d->len - o->end;
    char *out = arena_alloc(p->mem, o->start + n + rest + 1);
    memcpy(out, d->text, o->start);
    memcpy(out + o->start, now, n);
    memcpy(out + o->start + n, d->text + o->end, rest);
    out[o->start + n + rest] = 0;
    return out;
}

/* The id of the attachment; NULL: the value stays where it is. */
static const char *large_keep(proxy *p, const json_doc *d, large *v)
{
    const char *text = json_text(p->mem, d, v->value), *id = NULL;
    const char *media = json_text(p->mem, d, json_get(d, v->object, "mimeType"));
    size_t n = strlen(text);
    unsigned char *bytes = v->base64 ? bytes_of(text, &n) : NULL;
    if (!bytes && n < TEXT_BYTES && v->base64)
        return NULL;
    v->base64 = bytes != NULL;
    if (!media)
        media = bytes ? "application/octet-stream" : "text/plain";
    ramet_status rc = client_attach(p->lib, p->call, media, bytes ? (const void *)bytes : text,
                                    bytes ? n : strlen(text), &id);
    free(bytes);
    if (rc != RAMET_OK)
        complain("a file could not be kept apart: %s", store_error(p));
    return rc == RAMET_OK ? id : NULL;
}

/* The object without the value, but with the id of its attachment. */
static const char *object_without(proxy *p, const json_doc *d, const large *v, const char *id)
{
    message m = {.arena = p->mem, .doc = *d};
    const char *was = message_raw(&m, v->object, "_meta");
    const char *list = message_raw(&m, v->object, "_meta.ramet.attachments");
    const char *one =
        arena_printf(p->mem, "{\"key\":%s,\"id\":%s%s}", json_quote(p->mem, v->key),
                     json_quote(p->mem, id), v->base64 ? ",\"encoding\":\"base64\"" : "");
    member all = {"attachments",
                  list ? arena_printf(p->mem, "%.*s,%s]", (int)strlen(list) - 1, list, one)
                       : arena_printf(p->mem, "[%s]", one)};
    member ours = {"ramet", json_with(p->mem, message_raw(&m, v->object, "_meta.ramet"), &all, 1)};
    member changes[] = {{v->key, "\"\""}, {"_meta", json_with(p->mem, was, &ours, 1)}};
    return json_with(p->mem, json_raw(p->mem, d, v->object), changes, 2);
}

const char *inline_keep(proxy *p, const char *raw)
{
    json_doc d;
    large v;
    size_t at = 0;
    if (strlen(raw) < INLINE_BYTES || !json_parse(p->mem, raw, strlen(raw), 0, &d, NULL))
        return raw;
    for (int i = 0; i < MEMBERS && large_next(p, &d, &at, &v); i++) {
        const char *id = large_keep(p, &d, &v);
        if (!id) {
            at++; /* nothing to move out of this object */
            continue;
        }
        raw = object_put(p, &d, v.object, object_without(p, &d, &v, id));
        if (!json_parse(p->mem, raw, strlen(raw), 0, &d, NULL))
            return raw;
    }
    return raw;
}

const char *inline_kept(proxy *p, const json_doc *d, const json_node *object)
{
    message m = {.arena = p->mem, .doc = *d};
    const json_node *list = message_at(&m, object, "_meta.ramet.attachments");
    return json_is(list, JSON_ARRAY) ? message_text(&m, json_first(d, list), "id") : NULL;
}

/* ------------------------------------------------------------------ and back */

/* An attachment as a JSON string; NULL: it cannot be read. */
static const char *value_of(proxy *p, const char *id, bool base64)
{
    ramet_call *own = p->lib->ramet_call_new(p->options->store, p->options->user, "ramet-acp");
    const char *out = NULL;
    buf b;
    buf_init(&b, ACP_LINE_MAX);
    if (client_attached(p->lib, own, id, &b) != RAMET_OK || b.over) {
        complain("the attachment %s cannot be read: %s", id,
                 p->lib->ramet_call_error(own)->message);
    } else if (base64) {
        char *text = base64_of((const unsigned char *)b.data, b.n);
        out = arena_printf(p->mem, "\"%s\"", text);
        free(text);
    } else {
        out = json_quote(p->mem, b.data);
    }
    buf_release(&b);
    p->lib->ramet_call_free(own);
    return out;
}

/* The object as it was received. */
static const char *object_whole(proxy *p, const message *m, const json_node *o,
                                const json_node *list)
{
    const char *raw = json_raw(p->mem, &m->doc, o);
    for (const json_node *v = json_first(&m->doc, list); v; v = json_next(&m->doc, list, v)) {
        const char *key = message_text(m, v, "key"), *id = message_text(m, v, "id");
        const char *value =
            key && id ? value_of(p, id, message_text(m, v, "encoding") != NULL) : NULL;
        member change = {key, value};
        if (value)
            raw = json_with(p->mem, raw, &change, 1);
    }
    member none = {"attachments", NULL};
    const char *ours = json_with(p->mem, message_raw(m, o, "_meta.ramet"), &none, 1);
    member own = {"ramet", strcmp(ours, "{}") == 0 ? NULL : ours};
    const char *meta = json_with(p->mem, message_raw(m, o, "_meta"), &own, 1);
    member change = {"_meta", strcmp(meta, "{}") == 0 ? NULL : meta};
    return json_with(p->mem, raw, &change, 1);
}

const char *inline_restore(proxy *p, const char *update)
{
    message m = {.arena = p->mem};
    for (size_t at = 0; strstr(update, "\"attachments\"") &&
                        json_parse(p->mem, update, strlen(update), 0, &m.doc, NULL) &&
                        at < m.doc.n;) {
        const json_node *list = NULL;
        for (; at < m.doc.n && !json_is(list, JSON_ARRAY); at++)
            if (json_is(&m.doc.nodes[at], JSON_OBJECT))
                list = message_at(&m, &m.doc.nodes[at], "_meta.ramet.attachments");
        if (!json_is(list, JSON_ARRAY))
            break;
        const json_node *o = &m.doc.nodes[at - 1];
        update = object_put(p, &m.doc, o, object_whole(p, &m, o, list));
    }
    return update;
}
