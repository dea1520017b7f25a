/* SPDX-License-Identifier: Apache-2.0
 *
 * template.c: templates, and chats from them, over HTTP.
 */
#include "face/native/native_face.h"

/* The array of texts of that name in the body; NULL: it was not sent. */
static const char *const *texts_read(request *q, const char *name, size_t *n)
{
    const json_doc *d = &q->json;
    const json_node *v = json_get(d, d->nodes, name);
    *n = 0;
    if (!json_is(v, JSON_ARRAY))
        return NULL;
    const char **list = arena_array(q->arena, v->count + 1, sizeof *list);
    for (const json_node *i = json_first(d, v); i; i = json_next(d, v, i))
        list[(*n)++] = json_text(q->arena, d, i);
    return list;
}

void api_template_post(request *q)
{
    ramet_call *c = face_call(q);
    ramet_template *out = NULL;
    ramet_template_in in = {.session = face_text(q, "session_id"),
                            .entry_id = face_text(q, "entry_id"),
                            .name = face_text(q, "name")};
    in.placeholders = texts_read(q, "placeholders", &in.n_placeholders);
    if (!c)
        return;
    api_show_at(q, &form_template, &out);
    if (!face_answer(q, ramet_template_add(c, &in, &out)))
        return;
    if (out)
        request_add_header(q, "Location",
                           arena_printf(q->arena, "/ramet/v1/templates/%s", out->id));
}

void api_templates_list(request *q)
{
    ramet_call *c = face_call(q);
    form_list list = {0};
    if (!c)
        return;
    api_show(q, &form_template_list, &list);
    face_answer(q, ramet_templates(c, api_limit(q), request_query(q, "cursor"),
                                   ITEMS(list, ramet_template), &list.n, &list.next_cursor));
}

void api_template_get(request *q)
{
    ramet_call *c = face_call(q);
    ramet_template *out = NULL;
    if (!c)
        return;
    api_show_at(q, &form_template, &out);
    face_answer(q, ramet_template_get(c, face_path(q, "template"), &out));
}

void api_template_patch(request *q)
{
    ramet_call *c = face_call(q);
    ramet_template *out = NULL;
    ramet_template_patch in = {.name = face_text(q, "name"), .entry_id = face_text(q, "entry_id")};
    in.placeholders = texts_read(q, "placeholders", &in.n_placeholders);
    in.set_placeholders = in.placeholders != NULL;
    if (!c)
        return;
    api_show_at(q, &form_template, &out);
    face_answer(q, ramet_template_update(c, face_path(q, "template"), &in, &out));
}

void api_template_delete(request *q)
{
    ramet_call *c = face_call(q);
    if (c)
        face_answer(q, ramet_template_remove(c, face_path(q, "template")));
}

static void show_chat(request *q, const void *answer)
{
    form_context context = {.running = native_running, .arg = q->host->turns};
    native_session_more(&q->writer, *(ramet_session *const *)answer,
                        &(native_more){.context = &context});
}

/* False: the answer is filled. A text ends at U+0000 in C, so it is refused here. */
static bool values_check(request *q, const json_node *values)
{
    const json_doc *d = &q->json;
    for (const json_node *key = json_is(values, JSON_OBJECT) ? json_first(d, values) : NULL; key;) {
        const json_node *value = json_next(d, values, key);
        if (key->has_nul || value->has_nul) {
            request_fail(q, 400, ramet_status_code(RAMET_INVALID),
                         arena_printf(q->arena, "values.%.40s", json_text(q->arena, d, key)),
                         "the value of %.40s holds U+0000, which text may not",
                         json_text(q->arena, d, key));
            return false;
        }
        key = json_next(d, values, value);
    }
    return true;
}

void api_template_chat(request *q)
{
    const json_node *values = json_get(&q->json, q->json.nodes, "values");
    ramet_call *c = face_call(q);
    ramet_session *out = NULL;
    ramet_template_use in = {0};
    if (!c || !values_check(q, values) || !api_fork_in(q, q->json.nodes, &in.fork))
        return;
    in.values = native_values(q->arena, &q->json, values, &in.n_values);
    face_render(q, show_chat, &out);
    if (!face_answer(q, ramet_template_chat(c, face_path(q, "template"), &in, &out)))
        return;
    face_count(q, "fork", ramet_fork_type_name(RAMET_EXPLICIT));
    if (out)
        request_add_header(
            q, "Location",
            arena_printf(q->arena, "/ramet/v1/sessions/%s", face_escape(q, out->id)));
}

void api_template_values(request *q)
{
    ramet_call *c = face_call(q);
    ramet_template_origin out = {0};
    if (!c)
        return;
    api_show(q, &form_template_origin, &out);
    face_answer(q, ramet_template_values(c, face_path(q, "id"), &out));
}
