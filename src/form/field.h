/* SPDX-License-Identifier: Apache-2.0
 *
 * field.h: JSON objects and query parameters, declared as tables.
 *
 * One row says all there is to know about a member: its name, what it may hold, what it means, and
 * where it lies in a C struct. The checks of requests and the documents use the first half of a
 * row; form_write() and form_read() (form/form.h) use the second half. A row without the second
 * half is checked and documented only.
 */
#ifndef FORM_FIELD_H
#define FORM_FIELD_H

#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    FIELD_TEXT,
    FIELD_INT,    /* a whole number from `least` to `most`; both 0: any */
    FIELD_BOOL,   /* in a query: true or false */
    FIELD_NUMBER, /* seconds, money */
    FIELD_TIME,   /* RFC 3339 */
    FIELD_UUID,   /* 8-4-4-4-12 hex digits */
    FIELD_ENUM,   /* one of `words`, parted by | */
    FIELD_OBJECT, /* `schema` or `of` is its shape; neither = any object */
    FIELD_ARRAY,  /* of `schema` or `of`; neither = of texts */
    FIELD_ANY     /* any JSON value; `schema` tells more when it is not NULL */
} field_kind;

/* How a member lies in the C struct, and which values stand for null. */
typedef enum {
    MEMBER_NONE,     /* not in the struct: the row only documents */
    MEMBER_TEXT,     /* const char *; NULL is null */
    MEMBER_STRING,   /* const char *; NULL is "" */
    MEMBER_CHARS,    /* char[size], ended by NUL */
    MEMBER_JSON,     /* const char *, a JSON value as bytes; NULL is null */
    MEMBER_SETTINGS, /* const char *, a JSON object as bytes; NULL is {} */
    MEMBER_INT64,    /* `none` is null in a row that is nullable */
    MEMBER_INT,      /* int; the same */
    MEMBER_COUNT,    /* size_t */
    MEMBER_BOOL,
    MEMBER_TIME,    /* int64_t, microseconds; 0 is null */
    MEMBER_BRANCH,  /* int64_t, as text "b17"; 0 and less are null */
    MEMBER_OVERLAY, /* the same as "o17" */
    MEMBER_NANO,    /* int64_t, scaled by 10^9 */
    MEMBER_DOUBLE,
    MEMBER_WORD,   /* an enum, as the text that `word_of` gives */
    MEMBER_COMMAS, /* const char *, words parted by commas, as an array of texts */
    MEMBER_TEXTS,  /* const char *const *, and a size_t at `count` */
    MEMBER_STRUCT, /* a struct by `of`, which may also bind members of the same struct (offset 0) */
    MEMBER_POINTER, /* a pointer to a struct by `of`; NULL is null */
    MEMBER_STRUCTS, /* a pointer to an array of structs by `of`, and a size_t at `count` */
    MEMBER_HOOK     /* computed: by `write` and `read` */
} member_kind;

struct form_schema;
struct form_context;

/* A query parameter, a member of a JSON body, or of a shape that is answered. */
typedef struct form_field {
    const char *name; /* NULL ends an array */
    field_kind kind;
    bool required;
    bool nullable;
    const char *text;             /* what it means; one line */
    const char *words;            /* FIELD_ENUM */
    const char *schema;           /* a form_schema by name, where `of` is not given */
    const struct form_schema *of; /* the shape of a FIELD_OBJECT, of the items of a FIELD_ARRAY */
    int64_t least, most;
    bool secret; /* its value is left out of logs */

    member_kind member;
    bool omit; /* left out instead of null, "", {}, 0, false or empty */
    size_t offset, count, size;
    int64_t none;
    const char *(*word_of)(unsigned value);
    /* False: the value is null, or left out (`omit`), whatever lies there. NULL: always true. */
    bool (*when)(const void *owner);
    /* MEMBER_HOOK. `write` writes one value. `read` (NULL: it is not read) gets it after
     * all other members were read, and null only where the kind is FIELD_ANY. */
    void (*write)(json_writer *w, const void *owner, const struct form_context *context);
    void (*read)(arena *a, const json_doc *d, const json_node *v, void *owner);
} form_field;

/* A named shape ("Session", "Entry", "EntryIn" …). */
typedef struct form_schema {
    const char *name; /* NULL: it is no part of the documents */
    const char *text;
    const form_field *fields;
    bool or_text; /* a string may stand in its place: the value of the first field */
    bool open;    /* the fields are told, not checked: core does that */
    size_t size;  /* of the struct that the fields lie in; 0: there is none */
    /* The names of the members that this value is written with, in their order, NULL at the end;
     * where it is NULL or gives NULL: all, in the order of the fields. */
    const char *const *(*order)(const void *value);
    /* Called when an object was read into the struct. */
    void (*read_end)(void *value);
    /* What is refused when the value is no object: the member to name, and what it must be. */
    const char *refused_field, *refused_text;
} form_schema;

/* The name of the shape of an object, or of the items of an array; NULL: there is none. */
static inline const char *form_shape_name(const form_field *f)
{
    return f->of ? f->of->name : f->schema;
}

#endif
