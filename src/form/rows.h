/* SPDX-License-Identifier: Apache-2.0
 *
 * rows.h: shorthand macros for the tables of this folder. Before each table that binds a struct, a
 * file defines S as that struct:
 *
 *     #define S ramet_member
 *     const form_schema form_member = STRUCT("Member", "",
 *         R("user", TEXT, "", AT(TEXT, user)),
 *         R("level", ENUM, "", WORD(LEVELS, level)));
 *     #undef S
 */
#ifndef FORM_ROWS_H
#define FORM_ROWS_H

#include "form/native.h"

/* clang-format off */

/* ---- rows: name, kind, meaning, and more; R is required */
#define F(n, k, t, ...) {.name = n, .kind = FIELD_##k, .text = t, __VA_ARGS__}
#define R(n, k, t, ...) {.name = n, .kind = FIELD_##k, .text = t, .required = true, __VA_ARGS__}
#define NUL             .nullable = true
#define OMIT            .omit = true
#define WHEN(f)         .when = f

/* ---- where the value is in S */
#define AT(kind_, m)            .member = MEMBER_##kind_, .offset = offsetof(S, m)
#define CHARS(m)                AT(CHARS, m), .size = sizeof ((S *)0)->m
#define WORD_(values_, name_, m) AT(WORD, m), .values = values_, .word_of = name_
#define WORD(enum_, m)          WORD_(enum_, m) /* one of the enums below */
#define TEXTS(m, n_)            AT(TEXTS, m), .count = offsetof(S, n_)
#define LIST_OF(schema_, m, n_) AT(STRUCTS, m), .count = offsetof(S, n_), .of = &schema_
#define PART(schema_, m)        AT(STRUCT, m), .of = &schema_
#define SELF(schema_)           .member = MEMBER_STRUCT, .of = &schema_ /* members of S itself */
#define POINTER(schema_, m)     AT(POINTER, m), .of = &schema_
#define HOOK(write_, read_)     .member = MEMBER_HOOK, .write = write_, .read = read_

/* ---- shapes: SHAPE is checked and documented only, STRUCT binds S */
#define FIELDS(...)       (const form_field[]){__VA_ARGS__, {.name = NULL}}
#define SHAPE(n, t, ...)  {.name = n, .text = t, .fields = FIELDS(__VA_ARGS__)}
#define STRUCT(n, t, ...) {.name = n, .text = t, .size = sizeof(S), .fields = FIELDS(__VA_ARGS__)}
#define LIST(name_, noun_, item_, text_)                                                           \
    {.name = name_, .text = text_, .size = sizeof(form_list), .fields = FIELDS(                    \
        {.name = noun_, .kind = FIELD_ARRAY, .text = "", .required = true, .of = &item_,           \
         .member = MEMBER_STRUCTS, .offset = offsetof(form_list, items), .count = offsetof(form_list, n)}, \
        {.name = "next_cursor", .kind = FIELD_TEXT, .text = "`cursor` of the next page; null at the end", .required = true, NUL, \
         .member = MEMBER_TEXT, .offset = offsetof(form_list, next_cursor)})}

/* ---- rows that several shapes share; the first argument is the member of S */
#define CREATED_AT(m) R("created_at", TIME, "when it was created", AT(TIME, m))
#define BY(m)         R("by", TEXT, "who", NUL, AT(TEXT, m))

/* ---- words of enums */
#define SIDES    "before|after", ramet_side_name
#define CUTS     "exact|snap_before|snap_after", ramet_cut_name
#define TYPES    "explicit|auto-edit|auto-regenerate", ramet_fork_type_name
#define SEEN     "tree|private", ramet_visibility_name
#define ACTORS   "user|system", ramet_actor_name
#define LEVELS   "reader|writer|manager|owner", ramet_level_name
#define ROLES    "user|assistant|tool|system", ramet_role_name
#define MOVES    "rewind|undo|redo|switch|edit|regenerate|sync|merge|overlay", ramet_move_name
#define OVERLAY_ACTIONS "hide|replace|hide_before", ramet_overlay_action_name
#define SUGGESTS "correction|failed_tool|retry|topic", ramet_suggestion_name
#define STATUSES "running|done|cancelled|failed|interrupted", ramet_turn_status_name

/* clang-format on */

#endif
