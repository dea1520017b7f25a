/* SPDX-License-Identifier: Apache-2.0
 *
 * form.h: writes C structs as JSON and reads them back, driven by the tables of form/field.h.
 */
#ifndef FORM_FORM_H
#define FORM_FORM_H

#include "form/field.h"
#include "ramet.h"

/* What hooks need besides the struct. A NULL context stands for an empty one. */
typedef struct form_context {
    /* Writes the member `running` of a session; NULL: write null. */
    void (*running)(void *arg, const ramet_session *s, json_writer *w);
    void *arg;
} form_context;

/* A page of any list; the list schemas (ShareList, TokenList …) describe it. */
typedef struct form_list {
    void *items;
    size_t n;
    const char *next_cursor; /* NULL on the last page */
} form_list;

/* Writes `value`, a struct that the schema describes, as one object. */
void form_write(json_writer *w, const form_schema *s, const void *value,
                const form_context *context);
/* Writes the members alone, into an open object. */
void form_write_members(json_writer *w, const form_schema *s, const void *value,
                        const form_context *context);

/* Fills a struct from an object; everything it points to is in the arena. The struct need not be
 * initialized. A missing or null member gets its value in an empty struct.
 *
 * With `err`, the value comes from a client: a value of the wrong kind or an unknown name makes the
 * function return false and fill *err (status, message, field). Without `err`, it comes from a
 * server: both are ignored, because a newer server may send more, and the function returns true;
 * `v` may be NULL. */
bool form_read(arena *a, const json_doc *d, const json_node *v, const form_schema *s, void *out,
               ramet_error *err);

#endif
