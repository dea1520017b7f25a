/* SPDX-License-Identifier: Apache-2.0
 *
 * run_parts.c: the parts of the entries that a run records.
 */
#include "turns/turns_internal.h"

#include <string.h>

void parts_begin(parts_text *p, arena *a)
{
    p->mem = a;
    buf_init(&p->out, (size_t)1 << 30);
    jw_init(&p->writer, &p->out, 0);
    jw_array(&p->writer);
}

json_writer *part_begin(parts_text *p, const char *type)
{
    jw_object(&p->writer);
    jw_kstr(&p->writer, "type", type);
    return &p->writer;
}

const char *parts_end(parts_text *p)
{
    jw_end_array(&p->writer);
    return buf_keep(&p->out, p->mem);
}

/* Adds the part that marks a turn as cut off. */
static void part_cut(parts_text *p, ramet_turn_status status, const char *error)
{
    json_writer *w = part_begin(p, "data");
    jw_key(w, "data");
    jw_object(w);
    jw_kstr(w, "turn", ramet_turn_status_name(status));
    if (error && *error)
        jw_kstr(w, "error", error);
    jw_end_object(w);
    jw_end_object(w);
}

bool run_pending_ends(const run *r, const char *text)
{
    const run_part *last = r->parts.n ? &r->parts.items[r->parts.n - 1] : NULL;
    size_t n = strlen(text);
    return last && !last->is_thinking && last->text.n >= n &&
           memcmp(last->text.data + last->text.n - n, text, n) == 0;
}

/* The length of a part's text without what is taken from the end of the last part, and without the
 * blank line before that. */
static size_t part_length(const run *r, size_t i, const char *without)
{
    const buf *text = &r->parts.items[i].text;
    if (!without || i + 1 < r->parts.n)
        return text->n;
    size_t n = text->n - strlen(without);
    return n >= 2 && memcmp(text->data + n - 2, "\n\n", 2) == 0 ? n - 2 : n;
}

static void parts_pending(parts_text *p, const run *r, const char *without)
{
    for (size_t i = 0; i < r->parts.n; i++) {
        const run_part *part = &r->parts.items[i];
        size_t n = part_length(r, i, without);
        if (!n && without)
            continue;
        jw_key(part_begin(p, part->is_thinking ? "thinking" : "text"), "text");
        jw_strn(&p->writer, part->text.data, n);
        jw_end_object(&p->writer);
    }
    for (int i = 0; i < 2; i++) {
        const char *json = i ? r->data : r->plan_is_new ? r->plan : NULL;
        if (!json)
            continue;
        jw_kraw(part_begin(p, "data"), "data", json);
        jw_end_object(&p->writer);
    }
}

static bool has_pending(const run *r, const char *without)
{
    return r->parts.n > 1 || (r->parts.n && (!without || part_length(r, 0, without))) ||
           r->plan_is_new || r->data;
}

/* The id that deltas have been published with; NULL: none were, or without one. */
static const char *entry_id_next(const run *r, arena *a)
{
    return *r->entry_next ? arena_strdup(a, r->entry_next) : NULL;
}

bool run_entry_pending(const run *r, arena *a, const char *without, ramet_entry_in *out)
{
    parts_text p;
    if (!has_pending(r, without))
        return false;
    parts_begin(&p, a);
    parts_pending(&p, r, without);
    *out = (ramet_entry_in){.id = entry_id_next(r, a),
                            .role = RAMET_ASSISTANT,
                            .author = r->agent_name,
                            .parts = parts_end(&p)};
    return true;
}

bool run_entry_last(const run *r, arena *a, ramet_entry_in *out)
{
    parts_text p;
    bool whole = r->status == RAMET_TURN_DONE;
    if (whole && r->recorded && !has_pending(r, NULL) && !r->has_usage)
        return false;
    parts_begin(&p, a);
    parts_pending(&p, r, NULL);
    if (!whole)
        part_cut(&p, r->status, r->error);
    *out = (ramet_entry_in){.id = entry_id_next(r, a),
                            .role = RAMET_ASSISTANT,
                            .author = r->agent_name,
                            .parts = parts_end(&p),
                            .usage = r->has_usage ? &r->usage : NULL};
    return true;
}

const char *turn_question_parts(arena *a, const turn_question *q)
{
    parts_text p;
    parts_begin(&p, a);
    jw_kstr(part_begin(&p, "text"), "text", q->text);
    jw_end_object(&p.writer);
    json_writer *w = part_begin(&p, "data");
    jw_key(w, "data");
    jw_object(w);
    jw_kstr(w, "type", "question");
    jw_kstr(w, "id", q->id);
    jw_kstr(w, "kind", q->kind);
    jw_kstr(w, "text", q->text);
    if (q->options)
        jw_kraw(w, "options", q->options);
    if (q->request)
        jw_kraw(w, "request", q->request);
    if (q->metadata)
        jw_kraw(w, "metadata", q->metadata);
    jw_end_object(w);
    jw_end_object(w);
    return parts_end(&p);
}
