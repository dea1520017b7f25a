/* SPDX-License-Identifier: Apache-2.0
 *
 * proto_fill.c: JSON to protobuf messages.
 */
#include "form/proto/proto.h"

#include "base/base64.h"
#include "base/util.h"

#include <google/protobuf/struct.pb-c.h>
#include <google/protobuf/timestamp.pb-c.h>
#include <stdlib.h>
#include <string.h>

/* The bytes of a string, which may contain NUL. */
static ProtobufCBinaryData text_bytes(arena *a, const json_doc *d, const json_node *v)
{
    size_t n;
    const char *text = json_textn(a, d, v, &n);
    return (ProtobufCBinaryData){n, (uint8_t *)text};
}

/* ------------------------------------------------------------------- any values */

static Google__Protobuf__Value *any_make(arena *a, const json_doc *d, const json_node *v);

static Google__Protobuf__Struct *struct_make(arena *a, const json_doc *d, const json_node *o)
{
    Google__Protobuf__Struct *s =
        (Google__Protobuf__Struct *)proto_new(a, &google__protobuf__struct__descriptor);
    s->fields = arena_array(a, o->count + 1, sizeof *s->fields);
    for (const json_node *k = json_first(d, o), *v; k; k = json_next(d, o, v)) {
        Google__Protobuf__Struct__FieldsEntry *e =
            (void *)proto_new(a, &google__protobuf__struct__fields_entry__descriptor);
        v = json_next(d, o, k);
        e->key = text_bytes(a, d, k);
        e->value = any_make(a, d, v);
        s->fields[s->n_fields++] = e;
    }
    return s;
}

static Google__Protobuf__ListValue *list_make(arena *a, const json_doc *d, const json_node *o)
{
    Google__Protobuf__ListValue *l =
        (Google__Protobuf__ListValue *)proto_new(a, &google__protobuf__list_value__descriptor);
    l->values = arena_array(a, o->count + 1, sizeof *l->values);
    for (const json_node *v = json_first(d, o); v; v = json_next(d, o, v))
        l->values[l->n_values++] = any_make(a, d, v);
    return l;
}

static double number_of(arena *a, const json_doc *d, const json_node *v)
{
    return strtod(json_raw(a, d, v), NULL);
}

static Google__Protobuf__Value *any_make(arena *a, const json_doc *d, const json_node *v)
{
    Google__Protobuf__Value *out =
        (Google__Protobuf__Value *)proto_new(a, &google__protobuf__value__descriptor);
    switch (v->type) {
    case JSON_NUMBER:
        out->kind_case = GOOGLE__PROTOBUF__VALUE__KIND_NUMBER_VALUE;
        out->number_value = number_of(a, d, v);
        break;
    case JSON_STRING:
        out->kind_case = GOOGLE__PROTOBUF__VALUE__KIND_STRING_VALUE;
        out->string_value = text_bytes(a, d, v);
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        out->kind_case = GOOGLE__PROTOBUF__VALUE__KIND_BOOL_VALUE;
        out->bool_value = v->type == JSON_TRUE;
        break;
    case JSON_OBJECT:
        out->kind_case = GOOGLE__PROTOBUF__VALUE__KIND_STRUCT_VALUE;
        out->struct_value = struct_make(a, d, v);
        break;
    case JSON_ARRAY:
        out->kind_case = GOOGLE__PROTOBUF__VALUE__KIND_LIST_VALUE;
        out->list_value = list_make(a, d, v);
        break;
    default:
        out->kind_case = GOOGLE__PROTOBUF__VALUE__KIND_NULL_VALUE;
        break;
    }
    return out;
}

/* ---------------------------------------------------------------------- one value */

static Google__Protobuf__Timestamp *time_make(arena *a, const char *text)
{
    Google__Protobuf__Timestamp *t =
        (Google__Protobuf__Timestamp *)proto_new(a, &google__protobuf__timestamp__descriptor);
    int64_t us = 0;
    if (text && time_parse(text, &us)) {
        int64_t rest = us % 1000000;
        rest += rest < 0 ? 1000000 : 0;
        t->seconds = (us - rest) / 1000000;
        t->nanos = (int32_t)rest * 1000;
    }
    return t;
}

static ProtobufCMessage *message_make(arena *a, proto_form form, const ProtobufCFieldDescriptor *f,
                                      const json_doc *d, const json_node *v)
{
    if (f->descriptor == &google__protobuf__value__descriptor)
        return &any_make(a, d, v)->base;
    if (f->descriptor == &google__protobuf__struct__descriptor)
        return json_is(v, JSON_OBJECT) ? &struct_make(a, d, v)->base : NULL;
    if (f->descriptor == &google__protobuf__timestamp__descriptor)
        return &time_make(a, json_text(a, d, v))->base;
    ProtobufCMessage *m = proto_new(a, f->descriptor);
    proto_fill(a, form, m, d, v);
    return m;
}

/* base64 of either alphabet, with or without padding; what is neither, as it is. */
static ProtobufCBinaryData base64_make(arena *a, const char *text)
{
    size_t n = strlen(text), len;
    char *plain = arena_memdup(a, text, n);
    while (n && plain[n - 1] == '=')
        n--;
    for (size_t i = 0; i < n; i++)
        plain[i] = plain[i] == '-' ? '+' : plain[i] == '_' ? '/' : plain[i];
    uint8_t *out = arena_alloc(a, n * 3 / 4 + 1);
    if (!base64_decode(plain, n, out, &len))
        return (ProtobufCBinaryData){strlen(text), (uint8_t *)text};
    return (ProtobufCBinaryData){len, out};
}

/* A UUID; any other JSON verbatim. */
static ProtobufCBinaryData bytes_make(arena *a, proto_form form, const json_doc *d,
                                      const json_node *v)
{
    const char *text = json_text(a, d, v);
    uint8_t *out = arena_alloc(a, 16);
    if (form == PROTO_CANONICAL && text)
        return base64_make(a, text);
    if (!text || !uuid_parse(text, out))
        return (ProtobufCBinaryData){v->end - v->start, (uint8_t *)json_raw(a, d, v)};
    return (ProtobufCBinaryData){16, out};
}

/* Times are cut to whole seconds: 2026-01-02T03:04:05.678Z loses its fraction. */
static char *string_make(arena *a, proto_form form, const ProtobufCFieldDescriptor *f,
                         const json_doc *d, const json_node *v)
{
    const char *text = json_text(a, d, v);
    size_t n = strlen(f->name);
    if (!text)
        return (char *)json_raw(a, d, v);
    if (form == PROTO_SHORT && n > 3 && strcmp(f->name + n - 3, "_at") == 0 && strlen(text) > 19 &&
        text[19] == '.')
        return arena_printf(a, "%.19sZ", text);
    return (char *)text;
}

static int enum_of(arena *a, proto_form form, const ProtobufCEnumDescriptor *d, const char *word)
{
    if (form == PROTO_CANONICAL) {
        const ProtobufCEnumValue *v =
            word ? protobuf_c_enum_descriptor_get_value_by_name(d, word) : NULL;
        return v ? v->value : 0;
    }
    for (unsigned i = 0; word && i < d->n_values; i++) {
        const char *name = proto_word(a, d, d->values[i].value);
        if (name && strcmp(name, word) == 0)
            return d->values[i].value;
    }
    return 0;
}

static void one_set(arena *a, proto_form form, void *at, const ProtobufCFieldDescriptor *f,
                    const json_doc *d, const json_node *v)
{
    int64_t whole = 0;
    if (v->type == JSON_NUMBER)
        json_int(d, v, &whole);
    switch (f->type) {
    case PROTOBUF_C_TYPE_STRING:
        *(char **)at = string_make(a, form, f, d, v);
        break;
    case PROTOBUF_C_TYPE_BYTES:
        *(ProtobufCBinaryData *)at = bytes_make(a, form, d, v);
        break;
    case PROTOBUF_C_TYPE_MESSAGE:
        *(ProtobufCMessage **)at = message_make(a, form, f, d, v);
        break;
    case PROTOBUF_C_TYPE_ENUM:
        *(int *)at = enum_of(a, form, f->descriptor, json_text(a, d, v));
        break;
    case PROTOBUF_C_TYPE_BOOL:
        *(protobuf_c_boolean *)at = v->type == JSON_TRUE;
        break;
    case PROTOBUF_C_TYPE_FLOAT:
        *(float *)at = (float)number_of(a, d, v);
        break;
    case PROTOBUF_C_TYPE_DOUBLE:
        *(double *)at = number_of(a, d, v);
        break;
    case PROTOBUF_C_TYPE_INT64:
        *(int64_t *)at = whole;
        break;
    default:
        *(uint32_t *)at = (uint32_t)whole;
        break;
    }
}

/* ------------------------------------------------------------------------ messages */

/* The entries of the map that an object is. */
static void map_set(arena *a, proto_form form, void *at, void *count,
                    const ProtobufCFieldDescriptor *f, const json_doc *d, const json_node *v)
{
    size_t n = 0;
    const ProtobufCMessageDescriptor *kind = f->descriptor;
    void **items = arena_array(a, v->count + 1, sizeof *items);
    for (const json_node *k = json_first(d, v), *of; k; k = json_next(d, v, of)) {
        ProtobufCMessage *entry = proto_new(a, kind);
        of = json_next(d, v, k);
        one_set(a, form, (char *)entry + kind->fields[0].offset, &kind->fields[0], d, k);
        one_set(a, form, (char *)entry + kind->fields[1].offset, &kind->fields[1], d, of);
        items[n++] = entry;
    }
    *(void ***)at = items;
    *(size_t *)count = n;
}

void proto_set(arena *a, proto_form form, ProtobufCMessage *m, const ProtobufCFieldDescriptor *f,
               const json_doc *d, const json_node *v)
{
    char *at = (char *)m + f->offset, *count = (char *)m + f->quantifier_offset;
    if (!v || v->type == JSON_NULL)
        return;
    if (f->label != PROTOBUF_C_LABEL_REPEATED) {
        if (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
            *(uint32_t *)count = f->id;
        one_set(a, form, at, f, d, v);
        return;
    }
    if (proto_is_map(f)) {
        if (v->type == JSON_OBJECT)
            map_set(a, form, at, count, f, d, v);
        return;
    }
    size_t n = 0;
    bool list = v->type == JSON_ARRAY; /* a single value counts as a list of one */
    void **items = arena_array(a, (list ? v->count : 1) + 1, sizeof *items);
    if (!list)
        one_set(a, form, &items[n++], f, d, v);
    for (const json_node *i = list ? json_first(d, v) : NULL; i; i = json_next(d, v, i))
        one_set(a, form, &items[n++], f, d, i);
    *(void ***)at = items;
    *(size_t *)count = n;
}

void proto_fill(arena *a, proto_form form, ProtobufCMessage *m, const json_doc *d,
                const json_node *object)
{
    const ProtobufCMessageDescriptor *kind = m->descriptor;
    for (unsigned i = 0; i < kind->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &kind->fields[i];
        const json_node *v = json_get(d, object, proto_json_name(a, f));
        proto_set(a, form, m, f, d, v ? v : json_get(d, object, f->name));
    }
}
