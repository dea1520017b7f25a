/* SPDX-License-Identifier: Apache-2.0
 *
 * field.h: members of JSON objects and query parameters, declared as tables. The checks of what is
 * sent and the documents are made from them.
 */
#ifndef FORM_FIELD_H
#define FORM_FIELD_H

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
    FIELD_OBJECT, /* `schema` names its shape; NULL = any object */
    FIELD_ARRAY,  /* of `schema`; NULL = of texts */
    FIELD_ANY     /* any JSON value; `schema` tells more when it is not NULL */
} field_kind;

struct form_schema;

/* A query parameter, a member of a JSON body, or of a shape that is answered. */
typedef struct form_field {
    const char *name; /* NULL ends an array */
    field_kind kind;
    bool required;
    bool nullable;
    const char *text;   /* what it means; one line */
    const char *words;  /* FIELD_ENUM */
    const char *schema; /* a form_schema by name, where `of` is not given */
    const struct form_schema *of;
    int64_t least, most;
    bool secret; /* its value is left out of logs */
} form_field;

/* A named shape, for the documents ("Session", "Entry", "EntryIn" …). */
typedef struct form_schema {
    const char *name; /* NULL ends an array */
    const char *text;
    const form_field *fields;
    bool or_text; /* a string may stand in its place; `text` tells what it means */
    bool open;    /* the fields are told, not checked: core does that */
} form_schema;

/* The name of the shape of an object, or of the items of an array; NULL: there is none. */
static inline const char *form_shape_name(const form_field *f)
{
    return f->of ? f->of->name : f->schema;
}

#endif
