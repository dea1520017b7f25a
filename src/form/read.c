/* SPDX-License-Identifier: Apache-2.0
 *
 * read.c: reads JSON into C structs, driven by their tables. See form/form.h.
 */
#include "form/form.h"
#include "ramet/overlays.h"

#include "base/util.h"
#include "base/words.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

typedef struct reader {
    arena *arena;
    const json_doc *doc;
    ramet_error *err; /* NULL: ignore what does not fit */
} reader;

static void *at(void *owner, size_t offset)
{
    return (char *)owner + offset;
}

/* Fills the error and returns false. Without an error to fill returns true: the value is
 * ignored. */
__attribute__((format(printf, 3, 4))) static bool refuse(const reader *r, const char *field,
                                                         const char *fmt, ...)
{
    va_list ap;
    if (!r->err)
        return true;
    memset(r->err, 0, sizeof *r->err);
    r->err->status = RAMET_INVALID;
    va_start(ap, fmt);
    vsnprintf(r->err->message, sizeof r->err->message, fmt, ap);
    va_end(ap);
    snprintf(r->err->field, sizeof r->err->field, "%s", field);
    return false;
}

/* ------------------------------------------------------------------ one value */

static bool text_read(const reader *r, const form_field *f, const json_node *v, const char **out)
{
    if (!json_is(v, JSON_STRING))
        return refuse(r, f->name, "\"%s\" must be a string", f->name);
    if (r->err && v->has_nul)
        return refuse(r, f->name, "\"%s\" holds U+0000, which text may not", f->name);
    *out = json_text(r->arena, r->doc, v);
    return true;
}

static bool chars_read(const reader *r, const form_field *f, const json_node *v, char *out)
{
    const char *text = NULL;
    if (!text_read(r, f, v, &text))
        return false;
    if (text && strlen(text) < f->size)
        memcpy(out, text, strlen(text) + 1);
    return true;
}

static bool json_read(const reader *r, const form_field *f, const json_node *v, const char **out)
{
    json_type type = f->kind == FIELD_ARRAY ? JSON_ARRAY : JSON_OBJECT;
    if (f->kind != FIELD_ANY && !json_is(v, type))
        return refuse(r, f->name, "\"%s\" must be %s", f->name,
                      type == JSON_ARRAY ? "an array" : "an object");
    *out = json_raw(r->arena, r->doc, v);
    return true;
}

/* Clients send counts and amounts of money, which are never negative. */
static bool number_read(const reader *r, const form_field *f, const json_node *v, int64_t *out)
{
    int64_t n = 0;
    bool whole = f->kind == FIELD_INT;
    if (!(whole ? json_int(r->doc, v, &n) : json_nano(r->doc, v, &n)) || (r->err && n < 0))
        return refuse(r, f->name, "\"%s\" must be %s that is not negative", f->name,
                      whole ? "a whole number" : "a number");
    *out = n;
    return true;
}

static bool int_read(const reader *r, const form_field *f, const json_node *v, int *out)
{
    int64_t n = *out;
    if (!number_read(r, f, v, &n))
        return false;
    if (n >= INT_MIN && n <= INT_MAX)
        *out = (int)n;
    return true;
}

static bool double_read(const reader *r, const form_field *f, const json_node *v, double *out)
{
    int64_t nano = 0;
    if (!number_read(r, f, v, &nano))
        return false;
    *out = (double)nano / 1e9;
    return true;
}

static bool time_read(const reader *r, const form_field *f, const json_node *v, int64_t *out)
{
    const char *text = NULL;
    if (!text_read(r, f, v, &text))
        return false;
    return (text && time_parse(text, out)) || refuse(r, f->name, "\"%s\" must be a time", f->name);
}

static bool branch_read(const reader *r, const form_field *f, const json_node *v, int64_t *out)
{
    const char *text = NULL;
    if (!text_read(r, f, v, &text))
        return false;
    int64_t branch = text ? ramet_branch_parse(text) : 0;
    if (!branch)
        return refuse(r, f->name, "\"%s\" is '%.60s'; a branch is like b17", f->name,
                      text ? text : "");
    *out = branch;
    return true;
}

static bool overlay_read(const reader *r, const form_field *f, const json_node *v, int64_t *out)
{
    const char *text = NULL;
    if (!text_read(r, f, v, &text))
        return false;
    *out = text ? ramet_overlay_parse(text) : 0;
    return *out || refuse(r, f->name, "\"%s\" is '%.60s'; an overlay is like o17", f->name,
                          text ? text : "");
}

static const char *values_shown(arena *a, const char *values)
{
    const char *all = "";
    size_t n;
    for (const char *w; (w = word_next(&values, "|", &n));)
        all = arena_printf(a, "%s%s%.*s", all, *all ? ", " : "", (int)n, w);
    return all;
}

static bool word_read(const reader *r, const form_field *f, const json_node *v, int *out)
{
    enum { MIN_VALUE = -1, MAX_VALUE = 15 }; /* bounds of all enums with words */
    const char *word = json_text(r->arena, r->doc, v);
    if (!f->values) /* write-only member */
        return true;
    if (word && word_in(f->values, "|", word))
        for (int i = MIN_VALUE; i <= MAX_VALUE; i++) {
            const char *name = f->word_of((unsigned)i);
            if (name && strcmp(name, word) == 0) {
                *out = i;
                return true;
            }
        }
    return refuse(r, f->name, "\"%s\" is %.60s; it is one of %s", f->name,
                  json_raw(r->arena, r->doc, v), values_shown(r->arena, f->values));
}

static bool texts_read(const reader *r, const form_field *f, const json_node *v,
                       const char *const **out, size_t *n)
{
    if (!json_is(v, JSON_ARRAY))
        return refuse(r, f->name, "\"%s\" must be an array", f->name);
    const char **list = arena_array(r->arena, v->count + 1, sizeof *list);
    for (const json_node *x = json_first(r->doc, v); x; x = json_next(r->doc, v, x))
        if (!text_read(r, f, x, &list[(*n)++]))
            return false;
    *out = list;
    return true;
}

static bool commas_read(const reader *r, const form_field *f, const json_node *v, const char **out)
{
    const char *const *list = NULL;
    size_t n = 0;
    if (!texts_read(r, f, v, &list, &n))
        return false;
    for (size_t i = 0; i < n; i++)
        *out = arena_printf(r->arena, "%s%s%s", *out, **out ? "," : "", list[i] ? list[i] : "");
    return true;
}

/* -------------------------------------------------------------------- structs */

static void struct_init(const form_schema *s, void *out);
static bool members_read(const reader *r, const json_node *v, const form_schema *s, void *out);

static bool structs_read(const reader *r, const form_field *f, const json_node *v, void **out,
                         size_t *n)
{
    if (!json_is(v, JSON_ARRAY))
        return refuse(r, f->name, "\"%s\" must be an array", f->name);
    char *list = arena_array(r->arena, v->count + 1, f->of->size);
    *out = list;
    for (const json_node *x = json_first(r->doc, v); x; x = json_next(r->doc, v, x)) {
        void *item = list + f->of->size * (*n)++;
        struct_init(f->of, item);
        if (!members_read(r, x, f->of, item))
            return false;
    }
    return true;
}

static bool pointer_read(const reader *r, const form_field *f, const json_node *v, void **out)
{
    if (!r->err && !json_is(v, JSON_OBJECT) && !(f->of->or_text && json_is(v, JSON_STRING)))
        return true;
    *out = arena_alloc(r->arena, f->of->size);
    struct_init(f->of, *out);
    return members_read(r, v, f->of, *out);
}

static bool value_read(const reader *r, const form_field *f, const json_node *v, void *owner)
{
    void *p = at(owner, f->offset);
    switch (f->member) {
    case MEMBER_NONE:
    case MEMBER_HOOK:
        return true;
    case MEMBER_TEXT:
    case MEMBER_STRING:
        return text_read(r, f, v, p);
    case MEMBER_CHARS:
        return chars_read(r, f, v, p);
    case MEMBER_JSON:
    case MEMBER_SETTINGS:
        return json_read(r, f, v, p);
    case MEMBER_INT64:
    case MEMBER_COUNT:
    case MEMBER_NANO:
        return number_read(r, f, v, p);
    case MEMBER_INT:
        return int_read(r, f, v, p);
    case MEMBER_DOUBLE:
        return double_read(r, f, v, p);
    case MEMBER_BOOL:
        *(bool *)p = json_is(v, JSON_TRUE);
        return json_is(v, JSON_TRUE) || json_is(v, JSON_FALSE) ||
               refuse(r, f->name, "\"%s\" must be true or false", f->name);
    case MEMBER_TIME:
        return time_read(r, f, v, p);
    case MEMBER_BRANCH:
        return branch_read(r, f, v, p);
    case MEMBER_OVERLAY:
        return overlay_read(r, f, v, p);
    case MEMBER_WORD:
        return word_read(r, f, v, p);
    case MEMBER_COMMAS:
        return commas_read(r, f, v, p);
    case MEMBER_TEXTS:
        return texts_read(r, f, v, p, at(owner, f->count));
    case MEMBER_STRUCT:
        return members_read(r, v, f->of, p);
    case MEMBER_POINTER:
        return pointer_read(r, f, v, p);
    case MEMBER_STRUCTS:
        return structs_read(r, f, v, p, at(owner, f->count));
    }
    return true;
}

/* Sets the members that are not in the object: "" and `none` where the table says so. The rest is
 * zero already. */
static void struct_init(const form_schema *s, void *out)
{
    for (const form_field *f = s->fields; f->name; f++) {
        void *p = at(out, f->offset);
        if (f->member == MEMBER_STRING || f->member == MEMBER_COMMAS)
            *(const char **)p = "";
        else if (f->member == MEMBER_INT)
            *(int *)p = (int)f->none;
        else if (f->member == MEMBER_INT64 || f->member == MEMBER_BRANCH ||
                 f->member == MEMBER_OVERLAY)
            *(int64_t *)p = f->none;
        else if (f->member == MEMBER_STRUCT)
            struct_init(f->of, p);
    }
}

/* Finds the row for a key. Members usually arrive in table order, so the search starts after the
 * last match. Keys without escapes are compared undecoded. */
static const form_field *field_of(const reader *r, const form_schema *s, const json_node *key,
                                  const form_field *after)
{
    const char *name = r->doc->text + key->start + 1;
    size_t n = key->end - key->start - 2;
    if (key->escaped) {
        name = json_text(r->arena, r->doc, key);
        n = key->has_nul ? 0 : strlen(name);
    }
    const form_field *first = after && after[1].name ? after + 1 : s->fields, *f = first;
    do {
        if (strncmp(f->name, name, n) == 0 && !f->name[n])
            return f;
        f = f[1].name ? f + 1 : s->fields;
    } while (f != first);
    return NULL;
}

static bool unknown(const reader *r, const form_schema *s, const json_node *key)
{
    const char *name = json_text(r->arena, r->doc, key), *known = "";
    if (!r->err)
        return true;
    for (const form_field *f = s->fields; f->name; f++)
        known = arena_printf(r->arena, "%s%s%s", known, *known ? ", " : "", f->name);
    return refuse(r, name, "unknown key \"%.60s\"; known are %s", name, known);
}

static bool members_read(const reader *r, const json_node *v, const form_schema *s, void *out)
{
    const form_field *f = NULL;
    if (s->or_text && json_is(v, JSON_STRING))
        return value_read(r, s->fields, v, out);
    if (!json_is(v, JSON_OBJECT))
        return refuse(r, s->refused_field ? s->refused_field : "", "%s",
                      s->refused_text ? s->refused_text : "an object was expected");
    for (const json_node *key = json_first(r->doc, v); key;) {
        const json_node *value = json_next(r->doc, v, key);
        const form_field *found = field_of(r, s, key, f);
        if (!(found ? (json_is(value, JSON_NULL) && found->kind != FIELD_ANY) ||
                          value_read(r, found, value, out)
                    : unknown(r, s, key)))
            return false;
        f = found ? found : f;
        key = json_next(r->doc, v, value);
    }
    for (f = s->fields; f->name; f++) {
        const json_node *value =
            f->member == MEMBER_HOOK && f->read ? json_get(r->doc, v, f->name) : NULL;
        if (value && (!json_is(value, JSON_NULL) || f->kind == FIELD_ANY))
            f->read(r->arena, r->doc, value, out);
    }
    if (s->read_end)
        s->read_end(out);
    return true;
}

bool form_read(arena *a, const json_doc *d, const json_node *v, const form_schema *s, void *out,
               ramet_error *err)
{
    /* cppcheck-suppress ctuuninitvar ; *err is only written to */
    reader r = {a, d, err};
    memset(out, 0, s->size);
    struct_init(s, out);
    return members_read(&r, v, s, out);
}
