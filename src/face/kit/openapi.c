/* SPDX-License-Identifier: Apache-2.0
 *
 * openapi.c: writes the tables of all faces as an OpenAPI 3.1 document.
 */
#include "face/kit/doc.h"

#include "base/words.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------- schemas */

/* Writes an enum's words, plus null if it is nullable. */
static void values_write(json_writer *w, const char *values, bool nullable)
{
    jw_key(w, "enum");
    jw_array(w);
    size_t n;
    for (const char *p; (p = word_next(&values, "|", &n));)
        jw_strn(w, p, n);
    if (nullable)
        jw_null(w);
    jw_end_array(w);
}

static void type_write(json_writer *w, const char *type, bool nullable)
{
    jw_key(w, "type");
    if (!nullable) {
        jw_str(w, type);
        return;
    }
    jw_array(w);
    jw_str(w, type);
    jw_str(w, "null");
    jw_end_array(w);
}

static void ref_members(json_writer *w, const char *name)
{
    char ref[160];
    snprintf(ref, sizeof ref, "#/components/schemas/%s", name);
    jw_kstr(w, "$ref", ref);
}

static void ref_write(json_writer *w, const char *name)
{
    jw_object(w);
    ref_members(w, name);
    jw_end_object(w);
}

static void object_type(json_writer *w, const form_field *f)
{
    const char *shape = form_shape_name(f);
    if (!shape) {
        type_write(w, "object", f->nullable);
        return;
    }
    if (!f->nullable) {
        ref_members(w, shape);
        return;
    }
    jw_key(w, "anyOf");
    jw_array(w);
    ref_write(w, shape);
    jw_object(w);
    jw_kstr(w, "type", "null");
    jw_end_object(w);
    jw_end_array(w);
}

static void array_type(json_writer *w, const form_field *f)
{
    const char *shape = form_shape_name(f);
    type_write(w, "array", f->nullable);
    jw_key(w, "items");
    if (shape) {
        ref_write(w, shape);
        return;
    }
    jw_object(w);
    jw_kstr(w, "type", "string");
    jw_end_object(w);
}

static void int_type(json_writer *w, const form_field *f)
{
    type_write(w, "integer", f->nullable);
    jw_kstr(w, "format", "int64");
    if (f->min || f->max)
        jw_kint(w, "minimum", f->min);
    if (f->max && f->max != INT64_MAX)
        jw_kint(w, "maximum", f->max);
}

/* Writes the schema of a field, with its description if `describe`. */
static void field_write(json_writer *w, const form_field *f, bool describe)
{
    jw_object(w);
    switch (f->kind) {
    case FIELD_TEXT:
        type_write(w, "string", f->nullable);
        break;
    case FIELD_INT:
        int_type(w, f);
        break;
    case FIELD_BOOL:
        type_write(w, "boolean", f->nullable);
        break;
    case FIELD_NUMBER:
        type_write(w, "number", f->nullable);
        break;
    case FIELD_TIME:
        type_write(w, "string", f->nullable);
        jw_kstr(w, "format", "date-time");
        break;
    case FIELD_UUID:
        type_write(w, "string", f->nullable);
        jw_kstr(w, "format", "uuid");
        break;
    case FIELD_ENUM:
        type_write(w, "string", f->nullable);
        values_write(w, f->values, f->nullable);
        break;
    case FIELD_OBJECT:
        object_type(w, f);
        break;
    case FIELD_ARRAY:
        array_type(w, f);
        break;
    case FIELD_ANY:
        break;
    }
    if (describe && f->text && *f->text)
        jw_kstr(w, "description", f->text);
    jw_end_object(w);
}

static void object_write(json_writer *w, const form_field *fields, const char *text, bool closed)
{
    bool any = false;
    jw_object(w);
    jw_kstr(w, "type", "object");
    if (text && *text)
        jw_kstr(w, "description", text);
    jw_key(w, "properties");
    jw_object(w);
    for (const form_field *f = fields; f->name; f++) {
        jw_key(w, f->name);
        field_write(w, f, true);
        any |= f->required;
    }
    jw_end_object(w);
    if (any) {
        jw_key(w, "required");
        jw_array(w);
        for (const form_field *f = fields; f->name; f++)
            if (f->required)
                jw_str(w, f->name);
        jw_end_array(w);
    }
    if (closed)
        jw_kbool(w, "additionalProperties", false);
    jw_end_object(w);
}

static void schema_write(json_writer *w, const form_schema *s)
{
    jw_key(w, s->name);
    if (!s->fields) {
        jw_object(w);
        jw_kstr(w, "description", s->text);
        jw_end_object(w);
    } else if (!s->or_text) {
        object_write(w, s->fields, s->text, false);
    } else {
        jw_object(w);
        jw_kstr(w, "description", s->text);
        jw_key(w, "anyOf");
        jw_array(w);
        jw_object(w);
        jw_kstr(w, "type", "string");
        jw_end_object(w);
        object_write(w, s->fields, NULL, !s->open);
        jw_end_array(w);
        jw_end_object(w);
    }
}

/* ---------------------------------------------------------------- operations */

static void parameter_begin(json_writer *w, const char *in, const char *name, const char *text,
                            bool required)
{
    jw_object(w);
    jw_kstr(w, "name", name);
    jw_kstr(w, "in", in);
    if (text && *text)
        jw_kstr(w, "description", text);
    if (required)
        jw_kbool(w, "required", true);
    jw_key(w, "schema");
}

static void text_parameter(json_writer *w, const char *in, const char *name, const char *text)
{
    parameter_begin(w, in, name, text, strcmp(in, "path") == 0);
    jw_object(w);
    jw_kstr(w, "type", "string");
    jw_end_object(w);
    jw_end_object(w);
}

static void parameters_write(json_writer *w, const face *f, const face_route *r)
{
    const char *p = r->path, *name;
    char text[64];
    size_t n;
    jw_key(w, "parameters");
    jw_array(w);
    while ((name = doc_path_next(&p, &n))) {
        const face_param *param = doc_param(f, name, n);
        snprintf(text, sizeof text, "%.*s", (int)n, name);
        text_parameter(w, "path", text, param ? param->text : "");
    }
    for (const form_field *q = r->query; q && q->name; q++) {
        parameter_begin(w, "query", q->name, q->text, q->required);
        field_write(w, q, false);
        jw_end_object(w);
    }
    if (doc_once(r))
        text_parameter(w, "header", "Idempotency-Key",
                       "1-255 bytes; the same request with the same key is answered with the first "
                       "answer for 24 hours");
    if (doc_expects(r))
        text_parameter(w, "header", "If-Match",
                       "the ETag of the session or its entries, instead of expected_head");
    if (r->flags & ROUTE_PAGE)
        text_parameter(w, "header", "X-Ramet-Position",
                       "what a write was answered with: the answer holds that write");
    if (r->flags & ROUTE_STREAM)
        text_parameter(w, "header", "Last-Event-ID", "number of the last event received");
    jw_end_array(w);
}

static void content_begin(json_writer *w, const char *type)
{
    jw_key(w, "content");
    jw_object(w);
    jw_key(w, type);
    jw_object(w);
}

static void content_end(json_writer *w)
{
    jw_end_object(w);
    jw_end_object(w);
}

static void body_write(json_writer *w, const face_route *r)
{
    bool upload = r->flags & ROUTE_UPLOAD, required = upload;
    if (!r->body && !upload)
        return;
    for (const form_field *f = r->body; f && f->name; f++)
        required |= f->required;
    jw_key(w, "requestBody");
    jw_object(w);
    jw_kbool(w, "required", required);
    content_begin(w, upload ? "*/*" : "application/json");
    if (!upload) {
        jw_key(w, "schema");
        object_write(w, r->body, NULL, !(r->flags & ROUTE_LOOSE));
        if (r->example)
            jw_kraw(w, "example", r->example);
    }
    content_end(w);
    jw_end_object(w);
}

static void answer_write(json_writer *w, const face_route *r)
{
    if (!r->or_answer) {
        ref_write(w, r->answer);
        return;
    }
    jw_object(w);
    jw_key(w, "anyOf");
    jw_array(w);
    ref_write(w, r->answer);
    ref_write(w, r->or_answer);
    jw_end_array(w);
    jw_end_object(w);
}

static void success_write(json_writer *w, const face_route *r)
{
    char status[8];
    snprintf(status, sizeof status, "%d", r->success);
    jw_key(w, status);
    jw_object(w);
    jw_kstr(w, "description", r->summary);
    if (r->success != 204 && r->success / 100 == 2) {
        content_begin(w, r->answer                   ? "application/json"
                         : (r->flags & ROUTE_STREAM) ? "text/event-stream"
                                                     : "*/*");
        if (r->answer) {
            jw_key(w, "schema");
            answer_write(w, r);
        }
        content_end(w);
    }
    jw_end_object(w);
}

/* Writes one response per status, which names all its codes. */
static void errors_write(json_writer *w, const face_route *r)
{
    doc_error e[DOC_ERRORS];
    size_t n = doc_errors(r, true, e);
    for (size_t i = 0; i < n;) {
        char status[8], text[1024];
        int http = e[i].http, used = 0;
        snprintf(status, sizeof status, "%d", http);
        for (; i < n && e[i].http == http; i++)
            used += snprintf(text + used, sizeof text - (size_t)used, "%s`%s`: %s",
                             used ? "; " : "", e[i].code, e[i].text);
        jw_key(w, status);
        jw_object(w);
        jw_kstr(w, "description", text);
        content_begin(w, "application/json");
        jw_key(w, "schema");
        ref_write(w, "Error");
        content_end(w);
        jw_end_object(w);
    }
}

static void operation_write(json_writer *w, const face *f, const face_route *r)
{
    char method[16] = "";
    for (size_t i = 0; r->method[i] && i + 1 < sizeof method; i++)
        method[i] = (char)(r->method[i] | 0x20);
    jw_key(w, method);
    jw_object(w);
    jw_kstr(w, "operationId", r->name);
    jw_kstr(w, "summary", r->summary);
    if (r->about)
        jw_kstr(w, "description", r->about);
    jw_key(w, "tags");
    jw_array(w);
    jw_str(w, r->group);
    jw_end_array(w);
    if (r->roles & ROLE_ANYONE) {
        jw_key(w, "security");
        jw_array(w);
        jw_end_array(w);
    }
    parameters_write(w, f, r);
    body_write(w, r);
    jw_key(w, "responses");
    jw_object(w);
    success_write(w, r);
    errors_write(w, r);
    jw_end_object(w);
    jw_end_object(w);
}

/* Writes all methods of a path together, at its first row. */
static void paths_write(json_writer *w, const face *f)
{
    for (const face_route *r = f->routes; r->method; r++) {
        const face_route *first = f->routes;
        while (strcmp(first->path, r->path) != 0)
            first++;
        if (first != r)
            continue;
        jw_key(w, r->path);
        jw_object(w);
        for (const face_route *o = r; o->method; o++)
            if (strcmp(o->path, r->path) == 0)
                operation_write(w, f, o);
        jw_end_object(w);
    }
}

static void groups_write(json_writer *w, const face *f)
{
    for (const face_route *r = f->routes; r->method; r++) {
        const face_route *first = f->routes;
        while (strcmp(first->group, r->group) != 0)
            first++;
        if (first != r)
            continue;
        jw_object(w);
        jw_kstr(w, "name", r->group);
        jw_end_object(w);
    }
}

static void components_write(json_writer *w, const face *const *faces, size_t n)
{
    jw_key(w, "components");
    jw_object(w);
    jw_key(w, "securitySchemes");
    jw_object(w);
    jw_key(w, "bearer");
    jw_object(w);
    jw_kstr(w, "type", "http");
    jw_kstr(w, "scheme", "bearer");
    jw_kstr(w, "description", "An API key, a JWT, or in local mode the name of the user.");
    jw_end_object(w);
    jw_end_object(w);
    jw_key(w, "schemas");
    jw_object(w);
    for (size_t i = 0; i < n; i++)
        for (const form_schema *const *s = faces[i]->schemas; s && *s; s++)
            schema_write(w, *s);
    jw_end_object(w);
    jw_end_object(w);
}

void face_openapi(const face *const *faces, size_t n, const char *version, buf *out)
{
    json_writer w;
    jw_init(&w, out, 0);
    jw_object(&w);
    jw_kstr(&w, "openapi", "3.1.0");
    jw_key(&w, "info");
    jw_object(&w);
    jw_kstr(&w, "title", "Ramet");
    jw_kstr(&w, "version", version);
    jw_kstr(&w, "description",
            "A session store and server for AI conversations: any of them can be forked, rewound, "
            "edited and compared at any message, without copying or losing anything.");
    jw_key(&w, "license");
    jw_raw(&w, "{\"name\":\"Apache-2.0\",\"identifier\":\"Apache-2.0\"}");
    jw_end_object(&w);
    jw_kraw(&w, "servers", "[{\"url\":\"/\"}]");
    jw_kraw(&w, "security", "[{\"bearer\":[]},{}]");
    jw_key(&w, "tags");
    jw_array(&w);
    for (size_t i = 0; i < n; i++)
        groups_write(&w, faces[i]);
    jw_end_array(&w);
    jw_key(&w, "paths");
    jw_object(&w);
    for (size_t i = 0; i < n; i++)
        paths_write(&w, faces[i]);
    jw_end_object(&w);
    components_write(&w, faces, n);
    jw_end_object(&w);
}
