/* SPDX-License-Identifier: Apache-2.0
 *
 * run_parts.c: the parts of the entries that a run records.
 */
#include "turns/turns_internal.h"

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

static void parts_pending(parts_text *p, const run *r)
{
    for (size_t i = 0; i < r->parts.n; i++) {
        const run_part *part = &r->parts.items[i];
        jw_kstr(part_begin(p, part->is_thinking ? "thinking" : "text"), "text", part->text.data);
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

static bool has_pending(const run *r)
{
    return r->parts.n || r->plan_is_new || r->data;
}

/* The id that deltas have been published with; NULL: none were, or without one. */
static const char *entry_id_next(const run *r, arena *a)
{
    return *r->entry_next ? arena_strdup(a, r->entry_next) : NULL;
}

bool run_entry_pending(const run *r, arena *a, ramet_entry_in *out)
{
    parts_text p;
    if (!has_pending(r))
        return false;
    parts_begin(&p, a);
    parts_pending(&p, r);
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
    if (whole && r->recorded && !has_pending(r) && !r->has_usage)
        return false;
    parts_begin(&p, a);
    parts_pending(&p, r);
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
    jw_end_object(w);
    jw_end_object(w);
    return parts_end(&p);
}
