/* SPDX-License-Identifier: Apache-2.0
 *
 * doc.h: what openapi.c and docs.c share to write the documents from the tables of faces.
 */
#ifndef FACE_KIT_DOC_H
#define FACE_KIT_DOC_H

#include "face/kit/face.h"

/* A way in which a route can fail. */
typedef struct doc_error {
    int http;
    const char *code, *text;
} doc_error;

enum { DOC_ERRORS = 48 };
/* The errors of its row, by HTTP status; `all`: and those that every such route has. */
size_t doc_errors(const face_route *r, bool all, doc_error out[DOC_ERRORS]);
/* The errors that all routes have in common. */
size_t doc_errors_common(doc_error out[DOC_ERRORS]);

/* Whether a write of this route can be made conditional. */
bool doc_expects(const face_route *r);
/* Whether the route has Idempotency-Key. */
bool doc_once(const face_route *r);
/* The param of a face by the name of n bytes; NULL when it has none. */
const face_param *doc_param(const face *f, const char *name, size_t n);
/* The next "{name}" of a path: *p goes on behind it; NULL when there is none. */
const char *doc_path_next(const char **p, size_t *n);

#endif
