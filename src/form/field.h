/* SPDX-License-Identifier: Apache-2.0
 *
 * field.h: JSON objects and query parameters, declared as tables.
 *
 * A row describes a member completely: its name, what it may hold, what it means, and where it is
 * in a C struct. Request checks and the documents use the first half of a row; form_write() and
 * form_read() (form/form.h) use the second half. A row without the second half is checked and
 * documented only.
 */
#ifndef FORM_FIELD_H
#define FORM_FIELD_H

#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    FIELD_TEXT,
    FIELD_INT,    /* an integer from `least` to `most`; both 0: any */
    FIELD_BOOL,   /* in a query: true or false */
    FIELD_NUMBER, /* seconds, money */
    FIELD_TIME,   /* RFC 3339 */
    FIELD_UUID,   /* 8-4-4-4-12 hex digits */
    FIELD_ENUM,   /* one of `words`, separated by | */
    FIELD_OBJECT, /* shaped by `schema` or `of`; neither: any object */
    FIELD_ARRAY,  /* of `schema` or `of`; neither: of strings */
    FIELD_ANY     /* any JSON value; `schema`, if set, describes it */
} field_kind;

/* How a member is stored in the C struct, and which values stand for null. */
typedef enum {
    MEMBER_NONE,     /* not in the struct: checked and documented only */
    MEMBER_TEXT,     /* const char *; NULL is null */
    MEMBER_STRING,   /* const char *; NULL is "" */
    MEMBER_CHARS,    /* char[size], NUL-terminated */
    MEMBER_JSON,     /* const char *, the text of a JSON value; NULL is null */
    MEMBER_SETTINGS, /* const char *, the text of a JSON object; NULL is {} */
    MEMBER_INT64,    /* int64_t; `none` is null in a nullable row */
    MEMBER_INT,      /* int; likewise */
    MEMBER_COUNT,    /* size_t */
    MEMBER_BOOL,
    MEMBER_TIME,    /* int64_t, microseconds; 0 is null */
    MEMBER_BRANCH,  /* int64_t, as a string "b17"; 0 and less are null */
    MEMBER_OVERLAY, /* the same as "o17" */
    MEMBER_NANO,    /* int64_t, scaled by 10^9 */
    MEMBER_DOUBLE,
    MEMBER_WORD,    /* an enum, as the string that `word_of` returns */
    MEMBER_COMMAS,  /* const char *, words separated by commas, as an array of strings */
    MEMBER_TEXTS,   /* const char *const *, with a size_t at `count` */
    MEMBER_STRUCT,  /* a struct described by `of`, which may also bind members of the same struct
                       (offset 0) */
    MEMBER_POINTER, /* a pointer to a struct described by `of`; NULL is null */
    MEMBER_STRUCTS, /* a pointer to an array of such structs, with a size_t at `count` */
    MEMBER_HOOK     /* computed by `write` and `read` */
} member_kind;

struct form_schema;
struct form_context;

/* A query parameter, or a member of a request body or response. */
typedef struct form_field {
    const char *name; /* NULL ends an array */
    field_kind kind;
    bool required;
    bool nullable;
    const char *text;             /* its meaning, in one line */
    const char *values;           /* FIELD_ENUM: the allowed words */
    const char *schema;           /* the name of a form_schema, where `of` is not set */
    const struct form_schema *of; /* shape of a FIELD_OBJECT, or of a FIELD_ARRAY's items */
    int64_t min, max;
    bool secret; /* never log its value */

    member_kind member;
    bool omit; /* leave the member out instead of writing null, "", {}, 0, false or empty */
    size_t offset, count, size;
    int64_t none;
    const char *(*word_of)(unsigned value);
    /* If it returns false, the value is null, or left out with `omit`. NULL: always true. */
    bool (*when)(const void *owner);
    /* For MEMBER_HOOK. `write` writes one value. `read` (NULL: never read) runs after all other
     * members were read; it gets null only if the kind is FIELD_ANY. */
    void (*write)(json_writer *w, const void *owner, const struct form_context *context);
    void (*read)(arena *a, const json_doc *d, const json_node *v, void *owner);
} form_field;

/* A named shape ("Session", "Entry", "EntryIn" …). */
typedef struct form_schema {
    const char *name; /* NULL: not in the documents */
    const char *text;
    const form_field *fields;
    bool or_text; /* a string is accepted too: the value of the first field */
    bool open;    /* fields are documented but not checked here: core does that */
    size_t size;  /* of the struct that the fields bind; 0: none */
    /* The names of the members to write for this value, in order, ending with NULL. If the hook is
     * NULL or returns NULL: all members, in the order of the fields. */
    const char *const *(*order)(const void *value);
    /* Called after an object was read into the struct. */
    void (*read_end)(void *value);
    /* The error for a value that is not an object: the field to name, and what it must be. */
    const char *refused_field, *refused_text;
} form_schema;

/* The name of the shape of an object, or of the items of an array; NULL if it has none. */
static inline const char *form_shape_name(const form_field *f)
{
    return f->of ? f->of->name : f->schema;
}

#endif
