/* SPDX-License-Identifier: Apache-2.0
 *
 * artifact.c: the answer of a task, as text and as an A2A artifact.
 */
#include "form/a2a/a2a.h"

#include <string.h>

enum { MAX_ANSWER_BYTES = 256 << 20 };

void a2a_text_part_write(json_writer *w, a2a_version version, const char *text)
{
    jw_object(w);
    if (version == A2A_03)
        jw_kstr(w, "kind", "text");
    jw_kstr(w, "text", text);
    jw_end_object(w);
}

void a2a_artifact_write(json_writer *w, a2a_version version, const char *id, const char *text,
                        const char *metadata)
{
    jw_object(w);
    jw_kstr(w, "artifactId", id);
    jw_key(w, "parts");
    jw_array(w);
    a2a_text_part_write(w, version, text);
    jw_end_array(w);
    if (metadata)
        jw_kraw(w, "metadata", metadata);
    jw_end_object(w);
}

/* The metadata of an entry of text that came in the form of A2A; NULL: none. */
static const json_node *metadata_of(arena *a, const ramet_entry *e, json_doc *d)
{
    if (e->role != RAMET_ASSISTANT || !*e->text || !e->format || strcmp(e->format, "a2a") != 0 ||
        !e->body || !json_parse(a, e->body, strlen(e->body), SIZE_MAX, d, NULL))
        return NULL;
    const json_node *v = json_get(d, &d->nodes[0], "metadata");
    return json_is(v, JSON_OBJECT) && v->count ? v : NULL;
}

typedef struct member {
    const char *name, *value;
} member;
typedef VEC(member) member_list;

static void member_set(arena *a, member_list *all, const char *name, const char *value)
{
    member one = {name, value};
    for (size_t i = 0; i < all->n; i++)
        if (strcmp(all->items[i].name, name) == 0) {
            all->items[i] = one;
            return;
        }
    VEC_PUSH(a, all, one);
}

/* Sets the members of an object. */
static void members_add(arena *a, member_list *all, const json_doc *d, const json_node *of)
{
    const json_node *v;
    for (const json_node *k = json_first(d, of); k; k = json_next(d, of, v)) {
        v = json_next(d, of, k);
        member_set(a, all, json_text(a, d, k), json_raw(a, d, v));
    }
}

const char *a2a_answer_metadata(arena *a, const char *before, const ramet_entry *entries, size_t n)
{
    member_list all = {0};
    json_doc d;
    buf b;
    json_writer w;
    if (before && json_parse(a, before, strlen(before), SIZE_MAX, &d, NULL))
        members_add(a, &all, &d, &d.nodes[0]);
    for (size_t i = 0; i < n; i++) {
        const json_node *metadata = metadata_of(a, &entries[i], &d);
        if (metadata)
            members_add(a, &all, &d, metadata);
    }
    if (!all.n)
        return NULL;
    buf_init(&b, MAX_ANSWER_BYTES);
    jw_init(&w, &b, 0);
    jw_object(&w);
    for (size_t i = 0; i < all.n; i++)
        jw_kraw(&w, all.items[i].name, all.items[i].value);
    jw_end_object(&w);
    return buf_keep_whole(&b, a);
}

bool a2a_entry_is_value(const ramet_entry *e)
{
    return e->role == RAMET_ASSISTANT && e->format && strcmp(e->format, "a2a") == 0 && e->body &&
           !*e->text;
}

void a2a_value_artifact_write(arena *a, json_writer *w, const a2a_view *view, const ramet_entry *e)
{
    json_doc d;
    if (!json_parse(a, e->body, strlen(e->body), SIZE_MAX, &d, NULL)) {
        jw_null(w);
        return;
    }
    const json_node *parts = json_get(&d, &d.nodes[0], "parts");
    const json_node *metadata = json_get(&d, &d.nodes[0], "metadata");
    buf b;
    json_writer own;
    json_doc whole;
    buf_init(&b, MAX_ANSWER_BYTES);
    jw_init(&own, &b, 0);
    jw_object(&own);
    jw_kstr(&own, "artifactId", e->id);
    jw_kraw(&own, "parts", parts ? json_raw(a, &d, parts) : "[]");
    if (json_is(metadata, JSON_OBJECT))
        jw_kraw(&own, "metadata", json_raw(a, &d, metadata));
    jw_end_object(&own);
    const char *json = buf_keep(&b, a);
    if (view && json_parse(a, json, strlen(json), SIZE_MAX, &whole, NULL))
        a2a_artifact_rewrite(a, w, view, &whole, &whole.nodes[0]);
    else
        jw_raw(w, json);
}

const char *a2a_artifacts_of(arena *a, const char *text, const ramet_entry *entries, size_t n)
{
    buf b;
    json_writer w;
    size_t values = 0;
    buf_init(&b, MAX_ANSWER_BYTES);
    jw_init(&w, &b, 0);
    jw_array(&w);
    if (*text)
        a2a_artifact_write(&w, A2A_03, A2A_ANSWER, text, a2a_answer_metadata(a, NULL, entries, n));
    for (size_t i = 0; i < n; i++)
        if (a2a_entry_is_value(&entries[i])) {
            a2a_value_artifact_write(a, &w, NULL, &entries[i]);
            values++;
        }
    jw_end_array(&w);
    const char *json = buf_keep_whole(&b, a);
    return *text || values ? json : NULL;
}

const char *a2a_answer_text(arena *a, const a2a_task *t)
{
    buf b;
    buf_init(&b, MAX_ANSWER_BYTES);
    for (size_t i = 0; i < t->n; i++) {
        const ramet_entry *e = &t->history[i];
        if (e->role != RAMET_ASSISTANT || !*e->text || a2a_entry_asks(e))
            continue;
        if (b.n)
            buf_puts(&b, "\n\n");
        buf_puts(&b, e->text);
    }
    const char *text = buf_keep_whole(&b, a);
    return text ? text : "";
}
