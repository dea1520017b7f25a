/* SPDX-License-Identifier: Apache-2.0
 *
 * rows.h: shorthand for the rows of a protocol's tables. Only the file with the tables includes it
 * (face/NAME/routes.c).
 */
#ifndef FACE_KIT_ROWS_H
#define FACE_KIT_ROWS_H

#include "face/kit/face.h"

/* clang-format off */
/* A field of a query, a body or a shape: F is optional, R is required. */
#define F(n, k, t, ...) {.name = n, .kind = FIELD_##k, .text = t, __VA_ARGS__}
#define R(n, k, t, ...) {.name = n, .kind = FIELD_##k, .text = t, .required = true, __VA_ARGS__}
#define FIELDS(...)     (const form_field[]){__VA_ARGS__, {.name = NULL}}
/* A named shape for the documents; its fields are not checked. */
#define SHAPE(n, t, ...) &(const form_schema){.name = n, .text = t, .fields = FIELDS(__VA_ARGS__), .open = true}
/* clang-format on */

#endif
