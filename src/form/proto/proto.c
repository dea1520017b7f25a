/* SPDX-License-Identifier: Apache-2.0
 *
 * proto.c: protobuf messages to JSON. The other direction is in proto_fill.c.
 */
#include "form/proto/proto.h"

#include "base/base64.h"
#include "base/util.h"

#include <google/protobuf/struct.pb-c.h>
#include <google/protobuf/timestamp.pb-c.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------- unpacking */

typedef struct walk {
    arena *arena;
    size_t left; /* number of fields the message may still have */
    const char *why;
} walk;

static bool walk_bad(walk *w, const char *why)
{
    w->why = why;
    return false;
}

static bool varint(const uint8_t **p, const uint8_t *end, uint64_t *out)
{
    *out = 0;
    for (unsigned shift = 0; *p < end && shift < 70; shift += 7) {
        uint8_t byte = *(*p)++;
        *out |= shift < 64 ? (uint64_t)(byte & 127) << shift : 0;
        if (!(byte & 128))
            return true;
    }
    return false;
}

static bool walk_message(walk *w, const ProtobufCMessageDescriptor *d, const uint8_t *p,
                         const uint8_t *end, int depth);

/* Walks a length-delimited value. */
static bool walk_bytes(walk *w, const ProtobufCFieldDescriptor *f, const uint8_t *p, size_t n,
                       int depth)
{
    if (!f)
        return true;
    if (f->type == PROTOBUF_C_TYPE_MESSAGE)
        return walk_message(w, f->descriptor, p, p + n, depth + 1);
    if (f->type != PROTOBUF_C_TYPE_STRING)
        return true;
    if (memchr(p, 0, n) || !utf8_valid((const char *)p, n))
        return walk_bad(w, arena_printf(w->arena, "%s must be UTF-8 without U+0000", f->name));
    return true;
}

static bool walk_message(walk *w, const ProtobufCMessageDescriptor *d, const uint8_t *p,
                         const uint8_t *end, int depth)
{
    static const char cut[] = "the message is cut off";
    uint64_t tag, n;
    if (depth > PROTO_MAX_DEPTH)
        return walk_bad(w, "the message is nested too deep");
    while (p < end) {
        if (!w->left--)
            return walk_bad(w, "the message has too many fields");
        if (!varint(&p, end, &tag) || tag >> 32)
            return walk_bad(w, cut);
        const ProtobufCFieldDescriptor *f =
            protobuf_c_message_descriptor_get_field(d, (unsigned)(tag >> 3));
        unsigned wire = tag & 7;
        if (wire != 0 && wire != 1 && wire != 2 && wire != 5)
            return walk_bad(w, "the message holds what is no field");
        n = wire == 1 ? 8 : 4;
        if ((wire == 0 || wire == 2) && !varint(&p, end, &n))
            return walk_bad(w, cut);
        if (wire == 0)
            continue;
        if (n > (size_t)(end - p))
            return walk_bad(w, cut);
        if (wire == 2 && !walk_bytes(w, f, p, n, depth))
            return false;
        p += n;
    }
    return true;
}

static void *arena_take(void *a, size_t n)
{
    return arena_alloc(a, n);
}

static void arena_give(void *a, void *p)
{
    (void)a;
    (void)p;
}

ProtobufCMessage *proto_unpack(arena *a, const ProtobufCMessageDescriptor *d, const void *bytes,
                               size_t n, const char **why)
{
    walk w = {.arena = a, .left = PROTO_MAX_FIELDS};
    const uint8_t *p = bytes;
    ProtobufCAllocator memory = {arena_take, arena_give, a};
    if (!walk_message(&w, d, p, p + n, 0)) {
        *why = w.why;
        return NULL;
    }
    ProtobufCMessage *m = protobuf_c_message_unpack(d, &memory, n, n ? p : (const uint8_t *)"");
    if (!m)
        *why = "the message cannot be read";
    return m;
}

ProtobufCMessage *proto_new(arena *a, const ProtobufCMessageDescriptor *d)
{
    ProtobufCMessage *m = arena_alloc(a, d->sizeof_message);
    d->message_init(m);
    return m;
}

/* ------------------------------------------------------------------------ fields */

const void *proto_at(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f)
{
    return (const char *)m + f->offset;
}

static const void *quantifier(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f)
{
    return (const char *)m + f->quantifier_offset;
}

bool proto_has(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f)
{
    const void *at = proto_at(m, f);
    if (f->label == PROTOBUF_C_LABEL_REPEATED)
        return *(const size_t *)quantifier(m, f) > 0;
    if (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
        return *(const uint32_t *)quantifier(m, f) == f->id;
    switch (f->type) {
    case PROTOBUF_C_TYPE_MESSAGE:
        return *(void *const *)at != NULL;
    case PROTOBUF_C_TYPE_STRING:
        return **(const char *const *)at != 0;
    case PROTOBUF_C_TYPE_BYTES:
        return ((const ProtobufCBinaryData *)at)->len > 0;
    case PROTOBUF_C_TYPE_DOUBLE:
        return *(const double *)at != 0;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64:
        return *(const int64_t *)at != 0;
    default:
        return *(const int32_t *)at != 0;
    }
}

const char *proto_json_name(arena *a, const ProtobufCFieldDescriptor *f)
{
    char *out = arena_strdup(a, f->name), *to = out;
    for (const char *p = f->name; *p; p++) {
        bool up = *p == '_' && p[1] >= 'a' && p[1] <= 'z';
        *to++ = up ? (char)(*++p - 32) : *p;
    }
    *to = 0;
    return out;
}

/* Strips the enum's name from a value's: CONVERSATION_LIST_MODE_ for ConversationListMode. */
static const char *value_name(const ProtobufCEnumDescriptor *d, const char *name)
{
    const char *p = name;
    for (const char *t = d->short_name; *t; t++) {
        char up = *t >= 'a' && *t <= 'z' ? (char)(*t - 32) : *t;
        if (t != d->short_name && *t >= 'A' && *t <= 'Z' && *p++ != '_')
            return name;
        if (*p++ != up)
            return name;
    }
    return *p == '_' ? p + 1 : name;
}

const char *proto_word(arena *a, const ProtobufCEnumDescriptor *d, int value)
{
    const ProtobufCEnumValue *v = protobuf_c_enum_descriptor_get_value(d, value);
    if (!v || !value)
        return NULL;
    char *out = arena_strdup(a, value_name(d, v->name));
    for (char *p = out; *p; p++)
        *p = *p == '_' ? '-' : *p >= 'A' && *p <= 'Z' ? (char)(*p + 32) : *p;
    return out;
}

/* ------------------------------------------------------------------- any values */

static bool any_value(json_writer *w, const Google__Protobuf__Value *v, const char **why);

/* Whole numbers without a decimal point, others with the fewest digits that are exact. */
static bool number_value(json_writer *w, double v, const char **why)
{
    char text[40];
    if (!isfinite(v)) {
        *why = "a number must be finite";
        return false;
    }
    if (v == floor(v) && fabs(v) <= 9007199254740992.0 && !(v == 0 && signbit(v))) {
        jw_int(w, (int64_t)v);
        return true;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            break;
    }
    jw_raw(w, text);
    return true;
}

static bool text_value(json_writer *w, const ProtobufCBinaryData *b, const char **why)
{
    if (!utf8_valid((const char *)b->data, b->len)) {
        *why = "a text is not valid UTF-8";
        return false;
    }
    jw_strn(w, b->len ? (const char *)b->data : "", b->len);
    return true;
}

static bool struct_value(json_writer *w, const Google__Protobuf__Struct *s, const char **why)
{
    jw_object(w);
    for (size_t i = 0; s && i < s->n_fields; i++) {
        const Google__Protobuf__Struct__FieldsEntry *e = s->fields[i];
        /* Write the key like a value, then mark that its value follows. */
        if (!text_value(w, &e->key, why))
            return false;
        buf_putc(w->out, ':');
        w->after_key = true;
        if (!any_value(w, e->value, why))
            return false;
    }
    jw_end_object(w);
    return true;
}

static bool list_value(json_writer *w, const Google__Protobuf__ListValue *l, const char **why)
{
    jw_array(w);
    for (size_t i = 0; l && i < l->n_values; i++)
        if (!any_value(w, l->values[i], why))
            return false;
    jw_end_array(w);
    return true;
}

static bool any_value(json_writer *w, const Google__Protobuf__Value *v, const char **why)
{
    switch (v ? v->kind_case : GOOGLE__PROTOBUF__VALUE__KIND_NULL_VALUE) {
    case GOOGLE__PROTOBUF__VALUE__KIND_NUMBER_VALUE:
        return number_value(w, v->number_value, why);
    case GOOGLE__PROTOBUF__VALUE__KIND_STRING_VALUE:
        return text_value(w, &v->string_value, why);
    case GOOGLE__PROTOBUF__VALUE__KIND_BOOL_VALUE:
        jw_bool(w, v->bool_value);
        return true;
    case GOOGLE__PROTOBUF__VALUE__KIND_STRUCT_VALUE:
        return struct_value(w, v->struct_value, why);
    case GOOGLE__PROTOBUF__VALUE__KIND_LIST_VALUE:
        return list_value(w, v->list_value, why);
    default:
        jw_null(w);
        return true;
    }
}

/* ------------------------------------------------------------------------ writing */

static bool bad_field(arena *a, const ProtobufCFieldDescriptor *f, const char *what,
                      const char **why)
{
    *why = arena_printf(a, "%s %s", f->name, what);
    return false;
}

static bool uuid_value(arena *a, json_writer *w, const ProtobufCFieldDescriptor *f,
                       const ProtobufCBinaryData *b, const char **why)
{
    char text[UUID_TEXT];
    if (b->len != 16)
        return bad_field(a, f, "must be a UUID of 16 bytes", why);
    jw_str(w, uuid_text(b->data, text));
    return true;
}

static void base64_value(arena *a, json_writer *w, const ProtobufCBinaryData *b)
{
    char *text = arena_alloc(a, BASE64_LEN(b->len) + 1);
    base64_encode(b->data, b->len, text);
    jw_str(w, text);
}

static const char *enum_name(const ProtobufCEnumDescriptor *d, int value)
{
    const ProtobufCEnumValue *v = protobuf_c_enum_descriptor_get_value(d, value);
    return v ? v->name : NULL;
}

static bool time_value(arena *a, json_writer *w, const ProtobufCFieldDescriptor *f,
                       const Google__Protobuf__Timestamp *t, const char **why)
{
    char text[TIME_TEXT];
    /* Years 1 to 9999, the range that the Timestamp type defines. */
    if (t->seconds < INT64_C(-62135596800) || t->seconds > INT64_C(253402300799) || t->nanos < 0 ||
        t->nanos > 999999999)
        return bad_field(a, f, "is no time", why);
    jw_str(w, time_text(t->seconds * 1000000 + t->nanos / 1000, text));
    return true;
}

static bool message_value(arena *a, proto_form form, json_writer *w,
                          const ProtobufCFieldDescriptor *f, const ProtobufCMessage *m,
                          const char **why)
{
    if (f->descriptor == &google__protobuf__value__descriptor)
        return any_value(w, (const Google__Protobuf__Value *)m, why);
    if (f->descriptor == &google__protobuf__struct__descriptor)
        return struct_value(w, (const Google__Protobuf__Struct *)m, why);
    if (f->descriptor == &google__protobuf__timestamp__descriptor)
        return time_value(a, w, f, (const Google__Protobuf__Timestamp *)m, why);
    jw_object(w);
    if (!proto_members(a, form, w, m, why))
        return false;
    jw_end_object(w);
    return true;
}

static bool one_value(arena *a, proto_form form, json_writer *w, const ProtobufCFieldDescriptor *f,
                      const void *at, const char **why)
{
    const char *word;
    switch (f->type) {
    case PROTOBUF_C_TYPE_STRING:
        jw_str(w, *(const char *const *)at);
        return true;
    case PROTOBUF_C_TYPE_BYTES:
        if (form == PROTO_SHORT)
            return uuid_value(a, w, f, at, why);
        base64_value(a, w, at);
        return true;
    case PROTOBUF_C_TYPE_MESSAGE:
        return message_value(a, form, w, f, *(ProtobufCMessage *const *)at, why);
    case PROTOBUF_C_TYPE_ENUM:
        word = form == PROTO_SHORT ? proto_word(a, f->descriptor, *(const int *)at)
                                   : enum_name(f->descriptor, *(const int *)at);
        if (!word && *(const int *)at)
            return bad_field(a, f, "is none of its values", why);
        jw_str(w, word);
        return true;
    case PROTOBUF_C_TYPE_BOOL:
        jw_bool(w, *(const protobuf_c_boolean *)at);
        return true;
    case PROTOBUF_C_TYPE_UINT32:
        jw_int(w, *(const uint32_t *)at);
        return true;
    case PROTOBUF_C_TYPE_INT32:
        jw_int(w, *(const int32_t *)at);
        return true;
    case PROTOBUF_C_TYPE_INT64:
        jw_int(w, *(const int64_t *)at);
        return true;
    default:
        return bad_field(a, f, "is of a type that is not taken", why);
    }
}

/* The object that a map is: its entries are messages with two fields. */
static bool map_value(arena *a, proto_form form, json_writer *w, ProtobufCMessage *const *entries,
                      size_t n, const char **why)
{
    jw_object(w);
    for (size_t i = 0; i < n; i++) {
        const ProtobufCFieldDescriptor *f = entries[i]->descriptor->fields;
        jw_key(w, *(const char *const *)proto_at(entries[i], &f[0]));
        if (!proto_has(entries[i], &f[1]))
            jw_str(w, "");
        else if (!one_value(a, form, w, &f[1], proto_at(entries[i], &f[1]), why))
            return false;
    }
    jw_end_object(w);
    return true;
}

bool proto_is_map(const ProtobufCFieldDescriptor *f)
{
    if (f->label != PROTOBUF_C_LABEL_REPEATED || f->type != PROTOBUF_C_TYPE_MESSAGE)
        return false;
    const ProtobufCMessageDescriptor *d = f->descriptor;
    size_t n = strlen(d->short_name);
    return d->n_fields == 2 && n > 5 && strcmp(d->short_name + n - 5, "Entry") == 0 &&
           strcmp(d->fields[0].name, "key") == 0 && strcmp(d->fields[1].name, "value") == 0;
}

bool proto_value(arena *a, proto_form form, json_writer *w, const ProtobufCMessage *m,
                 const ProtobufCFieldDescriptor *f, const char **why)
{
    const void *at = proto_at(m, f);
    if (f->label != PROTOBUF_C_LABEL_REPEATED)
        return one_value(a, form, w, f, at, why);
    /* Only strings and messages are repeated here, and both are pointers. */
    size_t n = *(const size_t *)quantifier(m, f);
    void *const *items = *(void *const *const *)at;
    if (proto_is_map(f))
        return map_value(a, form, w, (ProtobufCMessage *const *)items, n, why);
    jw_array(w);
    for (size_t i = 0; i < n; i++)
        if (!one_value(a, form, w, f, &items[i], why))
            return false;
    jw_end_array(w);
    return true;
}

bool proto_members(arena *a, proto_form form, json_writer *w, const ProtobufCMessage *m,
                   const char **why)
{
    const ProtobufCMessageDescriptor *d = m->descriptor;
    for (unsigned i = 0; i < d->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &d->fields[i];
        /* Value 0 of an enum means "unspecified". */
        if (!proto_has(m, f) || (f->type == PROTOBUF_C_TYPE_ENUM && !*(const int *)proto_at(m, f)))
            continue;
        jw_key(w, proto_json_name(a, f));
        if (!proto_value(a, form, w, m, f, why))
            return false;
    }
    return true;
}
