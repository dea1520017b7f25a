/* SPDX-License-Identifier: Apache-2.0
 *
 * form.h: writes C structs as JSON and reads them back, by the tables of form/field.h.
 */
#ifndef FORM_FORM_H
#define FORM_FORM_H

#include "form/field.h"
#include "ramet.h"

/* What hooks need beside the struct; a NULL context stands for an empty one. */
typedef struct form_context {
    /* Writes the member `running` of a session; NULL: it is null. */
    void (*running)(void *arg, const ramet_session *s, json_writer *w);
    void *arg;
} form_context;

/* A page of any list; the schemas of lists (ShareList, TokenList …) lie in it. */
typedef struct form_list {
    void *items;
    size_t n;
    const char *next_cursor; /* NULL at the end */
} form_list;

/* Writes `value`, the struct that the schema is for, as one object. */
void form_write(json_writer *w, const form_schema *s, const void *value,
                const form_context *context);
/* The members alone, into an object that is open. */
void form_write_members(json_writer *w, const form_schema *s, const void *value,
                        const form_context *context);

/* Fills the struct from an object; what it points to is in the arena. The struct need not be
 * initialized. A member that is missing or null is that of an empty struct.
 *
 * With `err` the value comes from a caller: a wrong kind of value, or a name that the table does
 * not have, is refused (false, and *err has status, message and field). Without, it comes from a
 * server: both are passed over, since a newer one may say more, and the answer is true. `v` may be
 * NULL then. */
bool form_read(arena *a, const json_doc *d, const json_node *v, const form_schema *s, void *out,
               ramet_error *err);

#endif
