/* SPDX-License-Identifier: Apache-2.0
 *
 * a2a_internal.h: what the files of the A2A model share.
 */
#ifndef FORM_A2A_A2A_INTERNAL_H
#define FORM_A2A_A2A_INTERNAL_H

#include "form/a2a/a2a.h"

/* Whether a text can be the id of something: looked at before a session is made for it. */
enum { ID_BYTES = 255 };
bool a2a_id_fits(const json_node *v, const char *id);

/* What is kept in the row of a task. `tip`: the entry that is its last message now, NULL when it
 * has none; `turn`: its messages are a turn's. */
const char *a2a_row_data(arena *a, const a2a_task_in *in, const char *tip, bool turn);
/* A task in parts: what is before its messages, and what is behind them. The view names it. */
void a2a_task_open(arena *a, json_writer *w, const a2a_view *view, const a2a_task *t);
void a2a_task_close(arena *a, json_writer *w, const a2a_view *view, const a2a_task *t);
/* Reads what its row tells into a task that was kept without it. RAMET_TURN_NOT_FOUND: it was
 * deleted. */
ramet_status a2a_task_reload(ramet_call *c, a2a_task *t);
/* A UUID made of a session and something in it: the same at every read, another one in a fork. */
const char *a2a_derived(arena *a, const char *session, const char *what);
/* Whether two values are the same but for the order of members and those that are null. */
bool a2a_json_same(arena *a, const json_doc *d, const json_node *v, const json_doc *e,
                   const json_node *u);

#endif
