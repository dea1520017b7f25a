/* SPDX-License-Identifier: Apache-2.0
 *
 * a2a_internal.h: shared by the files of form/a2a and by nothing else.
 */
#ifndef FORM_A2A_A2A_INTERNAL_H
#define FORM_A2A_A2A_INTERNAL_H

#include "form/a2a/a2a.h"

/* Whether a text can be an id. Checked before a session is created for it. */
enum { ID_BYTES = 255 };
bool a2a_id_fits(const json_node *v, const char *id);

/* The content of a task's row. `tip`: the entry that is its last message now, NULL if it has none;
 * `turn`: its messages belong to a turn. */
const char *a2a_row_data(arena *a, const a2a_task_in *in, const char *tip, bool turn);
/* Write a task in two parts: everything before its messages, and everything after them. The view
 * carries the task's id. */
void a2a_task_open(arena *a, json_writer *w, const a2a_view *view, const a2a_task *t);
void a2a_task_close(arena *a, json_writer *w, const a2a_view *view, const a2a_task *t);
/* Reads the row of a task that was kept without it. RAMET_TURN_NOT_FOUND: the task was deleted. */
ramet_status a2a_task_reload(ramet_call *c, a2a_task *t);
/* A UUID derived from a session and something in it: stable across reads, different in a fork. */
const char *a2a_derived(arena *a, const char *session, const char *what);
/* Whether two values are equal, ignoring the order of members and members that are null. */
bool a2a_json_same(arena *a, const json_doc *d, const json_node *v, const json_doc *e,
                   const json_node *u);

#endif
