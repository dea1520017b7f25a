/* SPDX-License-Identifier: Apache-2.0
 *
 * proto_names.c: JSON as clients may write it, rewritten to the names that this server reads.
 *
 * Most clients write those already. So a first walk over the object writes nothing and only finds
 * out whether a second one is needed; the bytes of an object that needs none stay as received.
 */
#include "form/proto/proto.h"

#include <google/protobuf/struct.pb-c.h>
#include <google/protobuf/timestamp.pb-c.h>
#include <string.h>

typedef struct walk {
    arena *arena;
    const json_doc *doc;
    json_writer *writer; /* NULL: the first walk */
    bool changes;        /* something has another name, or is another value, than it should */
    const char *unknown, *why;
} walk;

static bool object_walk(walk *w, const ProtobufCMessageDescriptor *m, const json_node *v, bool top);

static void raw_write(walk *w, const json_node *v)
{
    if (w->writer)
        jw_raw(w->writer, json_raw(w->arena, w->doc, v));
}

/* The field of that name in either spelling. */
static const ProtobufCFieldDescriptor *field_find(walk *w, const ProtobufCMessageDescriptor *m,
                                                  const char *name, const char **json_name)
{
    for (unsigned i = 0; i < m->n_fields; i++) {
        *json_name = proto_json_name(w->arena, &m->fields[i]);
        if (strcmp(*json_name, name) == 0 || strcmp(m->fields[i].name, name) == 0)
            return &m->fields[i];
    }
    return NULL;
}

static bool holds_members(const ProtobufCFieldDescriptor *f)
{
    return f->type == PROTOBUF_C_TYPE_MESSAGE &&
           f->descriptor != &google__protobuf__value__descriptor &&
           f->descriptor != &google__protobuf__struct__descriptor &&
           f->descriptor != &google__protobuf__timestamp__descriptor;
}

/* A number stands for the name of an enum's value; a text of digits stands for a number. */
static void scalar_walk(walk *w, const ProtobufCFieldDescriptor *f, const json_node *v)
{
    int64_t n;
    const ProtobufCEnumValue *value = NULL;
    if (f->type == PROTOBUF_C_TYPE_ENUM && json_is(v, JSON_NUMBER) && json_int(w->doc, v, &n) &&
        n >= 0 && n <= INT32_MAX)
        value = protobuf_c_enum_descriptor_get_value(f->descriptor, (int)n);
    const char *digits = f->type == PROTOBUF_C_TYPE_INT32 && json_is(v, JSON_STRING)
                             ? json_text(w->arena, w->doc, v)
                             : NULL;
    size_t len = digits ? strlen(digits) : 0;
    bool number = len && len < 11 && *digits != '0' && strspn(digits, "0123456789") == len;
    number = number || (len == 1 && *digits == '0');
    w->changes = w->changes || value || number;
    if (w->writer && value)
        jw_str(w->writer, value->name);
    else if (w->writer && number)
        jw_raw(w->writer, digits);
    else
        raw_write(w, v);
}

static bool one_walk(walk *w, const ProtobufCFieldDescriptor *f, const json_node *v)
{
    if (holds_members(f) && json_is(v, JSON_OBJECT))
        return object_walk(w, f->descriptor, v, false);
    scalar_walk(w, f, v);
    return true;
}

static bool value_walk(walk *w, const ProtobufCFieldDescriptor *f, const json_node *v)
{
    if (f->label != PROTOBUF_C_LABEL_REPEATED || !json_is(v, JSON_ARRAY) || !holds_members(f)) {
        if (proto_is_map(f))
            raw_write(w, v);
        return proto_is_map(f) || one_walk(w, f, v);
    }
    if (w->writer)
        jw_array(w->writer);
    for (const json_node *i = json_first(w->doc, v); i; i = json_next(w->doc, v, i))
        if (!one_walk(w, f, i))
            return false;
    if (w->writer)
        jw_end_array(w->writer);
    return true;
}

static bool object_walk(walk *w, const ProtobufCMessageDescriptor *m, const json_node *v, bool top)
{
    const json_node *of;
    if (w->writer)
        jw_object(w->writer);
    for (const json_node *k = json_first(w->doc, v); k; k = json_next(w->doc, v, of)) {
        const char *name = json_text(w->arena, w->doc, k), *json_name;
        const ProtobufCFieldDescriptor *f = field_find(w, m, name, &json_name);
        of = json_next(w->doc, v, k);
        if (!f && top && !w->unknown)
            w->unknown = name;
        bool renamed = f && strcmp(name, json_name) != 0;
        if (renamed && json_get(w->doc, v, json_name)) {
            w->why = arena_printf(w->arena, "%s and %s are the same; one of them must go",
                                  json_name, name);
            return false;
        }
        w->changes = w->changes || renamed;
        if (w->writer)
            jw_key(w->writer, f ? json_name : name);
        if (!f)
            raw_write(w, of);
        else if (!value_walk(w, f, of))
            return false;
    }
    if (w->writer)
        jw_end_object(w->writer);
    return true;
}

bool proto_names(arena *a, const ProtobufCMessageDescriptor *m, const json_doc *d,
                 const json_node *object, const char **out, const char **unknown, const char **why)
{
    walk w = {.arena = a, .doc = d};
    buf b;
    json_writer writer;
    *out = NULL;
    bool fine = object_walk(&w, m, object, true);
    *unknown = w.unknown;
    *why = w.why;
    if (!fine || !w.changes)
        return fine;
    buf_init(&b, SIZE_MAX / 4);
    jw_init(&writer, &b, 0);
    w.writer = &writer;
    object_walk(&w, m, object, true);
    *out = buf_keep(&b, a);
    return true;
}
