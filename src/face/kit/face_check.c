/* SPDX-License-Identifier: Apache-2.0
 *
 * face_check.c: checks query and body of a request against the fields of its row: names, kinds,
 * ranges. It runs before the handler. An error names the field.
 */
#include "face/kit/face.h"

#include "base/util.h"
#include "base/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BAD(q, field, ...) (request_fail(q, 400, "invalid_request", field, __VA_ARGS__), false)

/* The shape of an object, or of the items of an array; NULL: any. */
static const form_schema *shape_of(const face *of, const form_field *f)
{
    if (f->of)
        return f->of;
    for (const form_schema *const *s = of->schemas; f->schema && s && *s; s++)
        if (strcmp((*s)->name, f->schema) == 0)
            return *s;
    return NULL;
}

/* The names in a table, for a message: "a, b, c". */
static const char *names_of(request *q, const form_field *fields)
{
    const char *all = NULL;
    for (const form_field *f = fields; f && f->name; f++)
        all = all ? arena_printf(q->arena, "%s, %s", all, f->name) : f->name;
    return all ? all : "none";
}

static const char *values_shown(request *q, const char *values)
{
    char *s = arena_strdup(q->arena, values);
    for (char *p = s; *p; p++)
        if (*p == '|')
            *p = ' ';
    return s;
}

static bool in_range(const form_field *f, int64_t v)
{
    return (!f->min && !f->max) || (v >= f->min && v <= f->max);
}

static const char *range_shown(request *q, const form_field *f, int64_t v)
{
    if (f->max == INT64_MAX)
        return arena_printf(q->arena, "is %lld; it must be at least %lld", (long long)v,
                            (long long)f->min);
    return arena_printf(q->arena, "is %lld; it must be from %lld to %lld", (long long)v,
                        (long long)f->min, (long long)f->max);
}

/* --------------------------------------------------------------------- query */

static bool parse_int(const char *s, int64_t *out)
{
    char *end;
    const char *digits = *s == '-' ? s + 1 : s;
    if (!*digits || strspn(digits, "0123456789") != strlen(digits))
        return false;
    errno = 0;
    *out = strtoll(s, &end, 10);
    return errno == 0 && !*end;
}

static bool check_parameter(request *q, const form_field *f, const char *value)
{
    int64_t v;
    switch (f->kind) {
    case FIELD_INT:
        if (!parse_int(value, &v))
            return BAD(q, f->name, "\"%s\" must be a whole number, not '%.60s'", f->name, value);
        return in_range(f, v) ? true : BAD(q, f->name, "\"%s\" %s", f->name, range_shown(q, f, v));
    case FIELD_BOOL:
        if (!word_in("true|false", "|", value))
            return BAD(q, f->name, "\"%s\" must be true or false, not '%.60s'", f->name, value);
        return true;
    case FIELD_TIME:
        if (!time_parse(value, &v))
            return BAD(q, f->name, "\"%s\" must be a time like 2026-01-31T12:00:00Z", f->name);
        return true;
    case FIELD_UUID:
        return uuid_valid(value) ? true : BAD(q, f->name, "\"%s\" must be a UUID", f->name);
    case FIELD_ENUM:
        if (!word_in(f->values, "|", value))
            return BAD(q, f->name, "\"%s\" is '%.60s'; it is one of: %s", f->name, value,
                       values_shown(q, f->values));
        return true;
    default:
        return true;
    }
}

/* Parameters that identify the client, on any route. */
static bool names_caller(const char *name)
{
    return strcmp(name, "user_id") == 0 || strcmp(name, "share") == 0 ||
           strcmp(name, "share_only") == 0;
}

static bool check_pair(request *q, size_t i)
{
    const request_pair *p = &q->query[i];
    const form_field *f = q->route->query;
    if (!utf8_valid(p->name, strlen(p->name)))
        return BAD(q, NULL, "the name of a parameter is not valid UTF-8");
    if (!utf8_valid(p->value, strlen(p->value)))
        return BAD(q, p->name, "\"%.60s\" is not valid UTF-8", p->name);
    while (f && f->name && strcmp(f->name, p->name) != 0)
        f++;
    if (!f || !f->name)
        return names_caller(p->name) || (q->route->flags & ROUTE_LOOSE)
                   ? true
                   : BAD(q, p->name, "unknown parameter \"%.60s\"; known are: %s", p->name,
                         names_of(q, q->route->query));
    for (size_t k = 0; f->kind != FIELD_ARRAY && k < i; k++)
        if (strcmp(q->query[k].name, p->name) == 0)
            return BAD(q, p->name, "\"%s\" is given twice", p->name);
    return check_parameter(q, f, p->value);
}

bool face_check_query(request *q)
{
    for (const face_param *p = q->face->uuids ? q->face->params : NULL; p && p->name; p++) {
        const char *value = word_in(q->face->uuids, "|", p->name) ? face_path(q, p->name) : "";
        if (*value && !uuid_valid(value))
            return BAD(q, p->name, "\"%s\" must be a UUID", p->name);
    }
    for (size_t i = 0; i < q->n_segments; i++)
        if (!utf8_valid(q->segments[i], strlen(q->segments[i])))
            return BAD(q, "path", "a part of the path is not valid UTF-8");
    for (size_t i = 0; i < q->n_query; i++)
        if (!check_pair(q, i))
            return false;
    for (const form_field *f = q->route->query; f && f->name; f++)
        if (f->required && !request_query(q, f->name))
            return BAD(q, f->name, "\"%s\" is missing", f->name);
    return true;
}

/* ---------------------------------------------------------------------- body */

/* A position in the body, for messages: "at.entry_id", "entries[3].role". Its text is formatted
 * only for an error. */
typedef struct spot {
    const struct spot *up;
    const char *name; /* NULL: item `index` of an array */
    size_t index;
} spot;

static const char *spell(request *q, const spot *at)
{
    if (!at->name)
        return arena_printf(q->arena, "%s[%zu]", spell(q, at->up), at->index);
    return at->up ? arena_printf(q->arena, "%s.%s", spell(q, at->up), at->name) : at->name;
}

static bool refuse(request *q, const spot *at, const char *what)
{
    const char *where = spell(q, at);
    return BAD(q, where, "\"%s\" %s", where, what);
}

static bool check_object(request *q, const json_node *obj, const form_field *fields,
                         const spot *at);

static bool check_text(request *q, const json_node *v, const spot *at)
{
    if (!json_is(v, JSON_STRING))
        return refuse(q, at, "must be a string");
    return v->has_nul ? refuse(q, at, "holds U+0000, which text may not") : true;
}

static bool check_shape(request *q, const json_node *v, const form_schema *s, const spot *at)
{
    if (s && s->or_text && json_is(v, JSON_STRING))
        return check_text(q, v, at);
    if (!json_is(v, JSON_OBJECT))
        return refuse(q, at,
                      s && s->or_text ? "must be an object or a string" : "must be an object");
    if (!s)
        return true;
    if (!s->open)
        return check_object(q, v, s->fields, at);
    for (const form_field *f = s->fields; s->or_text && f->name; f++)
        if (f->required && !check_text(q, json_get(&q->json, v, f->name), &(spot){at, f->name, 0}))
            return false;
    return true;
}

static bool check_array(request *q, const json_node *v, const form_field *f, const spot *at)
{
    const form_schema *s = shape_of(q->face, f);
    spot item_at = {.up = at};
    if (!json_is(v, JSON_ARRAY))
        return refuse(q, at, "must be an array");
    if (s && s->open)
        return true;
    for (const json_node *item = json_first(&q->json, v); item;
         item = json_next(&q->json, v, item)) {
        if (!(form_shape_name(f) ? check_shape(q, item, s, &item_at)
                                 : check_text(q, item, &item_at)))
            return false;
        item_at.index++;
    }
    return true;
}

static bool check_word(request *q, const json_node *v, const form_field *f, const spot *at)
{
    if (!check_text(q, v, at))
        return false;
    const char *word = json_text(q->arena, &q->json, v);
    if (word_in(f->values, "|", word))
        return true;
    return refuse(
        q, at,
        arena_printf(q->arena, "is '%.60s'; it is one of: %s", word, values_shown(q, f->values)));
}

static bool check_number(request *q, const json_node *v, const form_field *f, const spot *at)
{
    int64_t n;
    if (f->kind == FIELD_NUMBER)
        return json_nano(&q->json, v, &n) ? true
                                          : refuse(q, at, "must be a number below nine billion");
    if (!json_int(&q->json, v, &n))
        return refuse(q, at, "must be a whole number");
    return in_range(f, n) ? true : refuse(q, at, range_shown(q, f, n));
}

static bool check_member(request *q, const json_node *v, const form_field *f, const spot *at)
{
    int64_t us;
    if (json_is(v, JSON_NULL) && f->kind != FIELD_ANY)
        return f->required && !f->nullable ? refuse(q, at, "may not be null") : true;
    switch (f->kind) {
    case FIELD_TEXT:
        return check_text(q, v, at);
    case FIELD_UUID:
        if (!check_text(q, v, at))
            return false;
        return uuid_valid(json_text(q->arena, &q->json, v)) ? true
                                                            : refuse(q, at, "must be a UUID");
    case FIELD_ENUM:
        return check_word(q, v, f, at);
    case FIELD_INT:
    case FIELD_NUMBER:
        return check_number(q, v, f, at);
    case FIELD_BOOL:
        return json_is(v, JSON_TRUE) || json_is(v, JSON_FALSE)
                   ? true
                   : refuse(q, at, "must be true or false");
    case FIELD_TIME:
        if (!check_text(q, v, at))
            return false;
        return time_parse(json_text(q->arena, &q->json, v), &us) ? true
                                                                 : refuse(q, at, "must be a time");
    case FIELD_OBJECT:
        return check_shape(q, v, shape_of(q->face, f), at);
    case FIELD_ARRAY:
        return check_array(q, v, f, at);
    case FIELD_ANY:
        return true;
    }
    return true;
}

/* Finds the field for a key. A key without escapes is compared undecoded. */
static const form_field *field_of(request *q, const form_field *fields, const json_node *key)
{
    const char *s = q->json.text + key->start + 1;
    size_t n = key->end - key->start - 2;
    if (key->escaped) {
        s = json_text(q->arena, &q->json, key);
        n = key->has_nul ? 0 : strlen(s);
    }
    for (const form_field *f = fields; f->name; f++)
        if (strlen(f->name) == n && memcmp(f->name, s, n) == 0)
            return f;
    return NULL;
}

/* `at` NULL: the body itself. */
static bool check_object(request *q, const json_node *obj, const form_field *fields, const spot *at)
{
    for (const json_node *key = json_first(&q->json, obj); key;) {
        const json_node *v = json_next(&q->json, obj, key);
        const form_field *f = field_of(q, fields, key);
        if (!f && !at && (q->route->flags & ROUTE_LOOSE)) {
            key = json_next(&q->json, obj, v);
            continue;
        }
        if (!f) {
            const char *name = json_text(q->arena, &q->json, key);
            return refuse(
                q, &(spot){at, name, 0},
                arena_printf(q->arena, "is not known here; known are: %s", names_of(q, fields)));
        }
        if (!check_member(q, v, f, &(spot){at, f->name, 0}))
            return false;
        key = json_next(&q->json, obj, v);
    }
    for (const form_field *f = fields; f->name; f++)
        if (f->required && !json_get(&q->json, obj, f->name))
            return refuse(q, &(spot){at, f->name, 0}, "is missing");
    return true;
}

/* A missing Content-Type means JSON, since scripts forget it. So does that of a form, which `curl
 * -d` sends by default. Web pages can therefore send JSON without a preflight request; the origin
 * check protects against that. */
static bool check_media(request *q)
{
    static const char form[] = "application/x-www-form-urlencoded";
    const char *type = request_header(q, "Content-Type");
    if (!type || !*type)
        return true;
    size_t n = strcspn(type, "; \t");
    if (n == sizeof form - 1 && strncasecmp(type, form, n) == 0 &&
        (!q->body.n || q->body.data[strspn(q->body.data, " \t\r\n")] == '{'))
        return true;
    if ((n == 16 && strncasecmp(type, "application/json", n) == 0) ||
        (n > 5 && strncasecmp(type + n - 5, "+json", 5) == 0))
        return true;
    request_fail(q, 415, "unsupported_media_type", "Content-Type",
                 "the body must be application/json, not %.100s", type);
    return false;
}

bool face_check_body(request *q)
{
    json_error e = {0};
    if (!q->route->body || (q->route->flags & ROUTE_UPLOAD))
        return true;
    if (q->body.n && !check_media(q))
        return false;
    const char *text = q->body.n ? q->body.data : "{}";
    if (!json_parse(q->arena, text, q->body.n ? q->body.n : 2, 0, &q->json, &e))
        return BAD(q, "body", "the body is not JSON that can be taken: %s, at byte %zu", e.message,
                   e.offset);
    if (!json_is(&q->json.nodes[0], JSON_OBJECT))
        return BAD(q, "body", "the body must be a JSON object");
    return check_object(q, &q->json.nodes[0], q->route->body, NULL);
}
