/* SPDX-License-Identifier: Apache-2.0
 *
 * write.c: writes C structs as JSON, driven by their tables. See form/form.h.
 */
#include "form/form.h"
#include "ramet/overlays.h"

#include "base/util.h"
#include "base/words.h"

#include <assert.h>
#include <string.h>

static const void *at(const void *owner, size_t offset)
{
    return (const char *)owner + offset;
}

static const char *text_at(const void *p)
{
    return *(const char *const *)p;
}

/* Whether a number equals the row's `none` and is written as null. */
static bool is_none(const form_field *f, int64_t v)
{
    return f->nullable && v == f->none;
}

static int64_t number_at(const form_field *f, const void *p)
{
    return f->member == MEMBER_INT ? *(const int *)p : *(const int64_t *)p;
}

/* Whether a row with `omit` leaves the value out. */
static bool is_empty(const form_field *f, const void *owner)
{
    const void *p = at(owner, f->offset);
    switch (f->member) {
    case MEMBER_TEXT:
    case MEMBER_JSON:
    case MEMBER_SETTINGS:
    case MEMBER_POINTER:
        return !text_at(p);
    case MEMBER_STRING:
    case MEMBER_COMMAS:
        return !text_at(p) || !*text_at(p);
    case MEMBER_CHARS:
        return !*(const char *)p;
    case MEMBER_INT64:
    case MEMBER_INT:
        return number_at(f, p) == f->none;
    case MEMBER_TIME:
    case MEMBER_BRANCH:
    case MEMBER_OVERLAY:
    case MEMBER_NANO:
        return !*(const int64_t *)p;
    case MEMBER_COUNT:
        return !*(const size_t *)p;
    case MEMBER_BOOL:
        return !*(const bool *)p;
    case MEMBER_WORD:
        return !*(const int *)p;
    case MEMBER_TEXTS:
    case MEMBER_STRUCTS:
        return !*(const size_t *)at(owner, f->count);
    case MEMBER_NONE:
    case MEMBER_DOUBLE:
    case MEMBER_STRUCT:
    case MEMBER_HOOK:
        break;
    }
    return false;
}

static void time_write(json_writer *w, int64_t us)
{
    char text[TIME_TEXT];
    jw_str(w, us ? time_text(us, text) : NULL);
}

static void branch_write(json_writer *w, int64_t branch)
{
    char text[24];
    jw_str(w, branch > 0 ? ramet_branch_text(branch, text) : NULL);
}

static void overlay_write(json_writer *w, int64_t overlay)
{
    char text[24];
    jw_str(w, overlay > 0 ? ramet_overlay_text(overlay, text) : NULL);
}

static void commas_write(json_writer *w, const char *words)
{
    jw_array(w);
    size_t n;
    for (const char *p; (p = word_next(&words, ", ", &n));)
        jw_strn(w, p, n);
    jw_end_array(w);
}

static void texts_write(json_writer *w, const char *const *items, size_t n)
{
    jw_array(w);
    for (size_t i = 0; i < n; i++)
        jw_str(w, items[i]);
    jw_end_array(w);
}

static void structs_write(json_writer *w, const form_schema *of, const char *items, size_t n,
                          const form_context *context)
{
    jw_array(w);
    for (size_t i = 0; i < n; i++)
        form_write(w, of, items + i * of->size, context);
    jw_end_array(w);
}

static void value_write(json_writer *w, const form_field *f, const void *owner,
                        const form_context *context)
{
    const void *p = at(owner, f->offset);
    switch (f->member) {
    case MEMBER_NONE:
        break;
    case MEMBER_TEXT:
        jw_str(w, text_at(p));
        break;
    case MEMBER_STRING:
        jw_str(w, text_at(p) ? text_at(p) : "");
        break;
    case MEMBER_CHARS:
        jw_str(w, p);
        break;
    case MEMBER_JSON:
        jw_raw(w, text_at(p));
        break;
    case MEMBER_SETTINGS:
        jw_raw(w, text_at(p) ? text_at(p) : "{}");
        break;
    case MEMBER_INT64:
    case MEMBER_INT:
        if (is_none(f, number_at(f, p)))
            jw_null(w);
        else
            jw_int(w, number_at(f, p));
        break;
    case MEMBER_COUNT:
        jw_int(w, (int64_t)(*(const size_t *)p));
        break;
    case MEMBER_BOOL:
        jw_bool(w, *(const bool *)p);
        break;
    case MEMBER_TIME:
        time_write(w, *(const int64_t *)p);
        break;
    case MEMBER_BRANCH:
        branch_write(w, *(const int64_t *)p);
        break;
    case MEMBER_OVERLAY:
        overlay_write(w, *(const int64_t *)p);
        break;
    case MEMBER_NANO:
        jw_nano(w, *(const int64_t *)p);
        break;
    case MEMBER_DOUBLE:
        jw_nano(w, (int64_t)(*(const double *)p * 1e9));
        break;
    case MEMBER_WORD:
        jw_str(w, f->word_of(*(const unsigned *)p));
        break;
    case MEMBER_COMMAS:
        commas_write(w, text_at(p));
        break;
    case MEMBER_TEXTS:
        texts_write(w, *(const char *const *const *)p, *(const size_t *)at(owner, f->count));
        break;
    case MEMBER_STRUCT:
        form_write(w, f->of, p, context);
        break;
    case MEMBER_POINTER:
        if (text_at(p))
            form_write(w, f->of, *(const void *const *)p, context);
        else
            jw_null(w);
        break;
    case MEMBER_STRUCTS:
        structs_write(w, f->of, text_at(p), *(const size_t *)at(owner, f->count), context);
        break;
    case MEMBER_HOOK:
        f->write(w, owner, context);
        break;
    }
}

static void member_write(json_writer *w, const form_field *f, const void *owner,
                         const form_context *context)
{
    bool given = !f->when || f->when(owner);
    if (f->member == MEMBER_NONE || (f->omit && (!given || is_empty(f, owner))))
        return;
    jw_key(w, f->name);
    if (given)
        value_write(w, f, owner, context);
    else
        jw_null(w);
}

static const form_field *field_named(const form_schema *s, const char *name)
{
    const form_field *f = s->fields;
    while (f->name && strcmp(f->name, name) != 0)
        f++;
    assert(f->name);
    return f;
}

void form_write_members(json_writer *w, const form_schema *s, const void *value,
                        const form_context *context)
{
    static const form_context nothing;
    const char *const *names = s->order ? s->order(value) : NULL;
    if (!context)
        context = &nothing;
    for (; names && *names; names++)
        member_write(w, field_named(s, *names), value, context);
    for (const form_field *f = s->fields; !names && f->name; f++)
        member_write(w, f, value, context);
}

void form_write(json_writer *w, const form_schema *s, const void *value,
                const form_context *context)
{
    jw_object(w);
    form_write_members(w, s, value, context);
    jw_end_object(w);
}
