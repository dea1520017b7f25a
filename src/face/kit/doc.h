/* SPDX-License-Identifier: Apache-2.0
 *
 * doc.h: shared by openapi.c and docs.c, which write the documents from the tables of faces.
 */
#ifndef FACE_KIT_DOC_H
#define FACE_KIT_DOC_H

#include "face/kit/face.h"

/* An error that a route can return. */
typedef struct doc_error {
    int http;
    const char *code, *text;
} doc_error;

enum { DOC_ERRORS = 48 };
/* The errors of a route's row, by HTTP status; `all`: plus those of every such route. */
size_t doc_errors(const face_route *r, bool all, doc_error out[DOC_ERRORS]);
/* The errors that all routes have in common. */
size_t doc_errors_common(doc_error out[DOC_ERRORS]);

/* Whether a write of this route can be conditional. */
bool doc_expects(const face_route *r);
/* Whether the route accepts Idempotency-Key. */
bool doc_once(const face_route *r);
/* The parameter of a face with the name of n bytes; NULL if it has none. */
const face_param *doc_param(const face *f, const char *name, size_t n);
/* The next "{name}" of a path; advances *p past it. NULL if there is none. */
const char *doc_path_next(const char **p, size_t *n);

#endif
