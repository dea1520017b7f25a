/* SPDX-License-Identifier: Apache-2.0
 *
 * template.c: JSON shapes of templates.
 */
#include "form/rows.h"

static void values_write(json_writer *w, const void *owner, const form_context *context)
{
    const ramet_template_origin *o = owner;
    (void)context;
    jw_object(w);
    for (size_t i = 0; i < o->n_values; i++)
        jw_kstr(w, o->values[i].name, o->values[i].text);
    jw_end_object(w);
}

static void values_read(arena *a, const json_doc *d, const json_node *v, void *owner)
{
    ramet_template_origin *o = owner;
    o->values = native_values(a, d, v, &o->n_values);
}

ramet_template_value *native_values(arena *a, const json_doc *d, const json_node *v, size_t *n)
{
    ramet_template_value *list = arena_array(a, v ? v->count + 1 : 1, sizeof *list);
    *n = 0;
    for (const json_node *key = json_is(v, JSON_OBJECT) ? json_first(d, v) : NULL; key;) {
        const json_node *value = json_next(d, v, key);
        list[(*n)++] = (ramet_template_value){json_text(a, d, key), json_text(a, d, value)};
        key = json_next(d, v, value);
    }
    return list;
}

/* clang-format off */

#define S ramet_template
const form_schema form_template = STRUCT("Template", "A session pinned at an entry.",
    R("id", TEXT, "", AT(TEXT, id)),
    R("name", TEXT, "", AT(TEXT, name)),
    R("placeholders", ARRAY, "names that a chat needs a value for", TEXTS(placeholders, n_placeholders)),
    R("session_id", TEXT, "the session that it is pinned in", AT(TEXT, session)),
    R("entry_id", TEXT, "the last entry that a chat begins with", AT(TEXT, entry_id)),
    R("length", INT, "number of entries that a chat begins with", AT(INT64, length)),
    R("created_by", TEXT, "", NUL, AT(TEXT, by)),
    CREATED_AT(created),
    R("updated_at", TIME, "when it was last changed", AT(TIME, updated)));
#undef S
const form_schema form_template_list = LIST("TemplateList", "templates", form_template, "Newest first.");

#define S ramet_template_origin
const form_schema form_template_origin = STRUCT("TemplateOrigin", "What a session was made with.",
    R("template_id", TEXT, "null: it was not made from a template. The template itself may be gone", NUL, AT(TEXT, template_id)),
    R("values", OBJECT, "a text for each placeholder", HOOK(values_write, values_read)));
#undef S
