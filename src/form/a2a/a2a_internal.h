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
/* The content of a row. */
typedef struct a2a_row {
    a2a_state state;
    int64_t at;
    const char *time, *message, *artifacts, *metadata, *invocation;
    const char *tip; /* the last message when the row was written; NULL: not recorded */
    bool turn;
} a2a_row;
a2a_row a2a_row_read(arena *a, const char *data);
/* Write a task in two parts: everything before its messages, and everything after them. The view
 * carries the task's id. */
void a2a_task_open(arena *a, json_writer *w, const a2a_view *view, const a2a_task *t);
void a2a_task_close(arena *a, json_writer *w, const a2a_view *view, const a2a_task *t);
/* Reads the row of a task that was kept without it. RAMET_TURN_NOT_FOUND: the task was deleted. */
ramet_status a2a_task_reload(ramet_call *c, a2a_task *t);
/* The invocation id in the metadata of a message or a task; NULL: none. */
const char *a2a_invocation_in(arena *a, const json_doc *d, const json_node *metadata);
/* The metadata key for a value that Ramet adds: kagent's name for it, or a URN. */
#define URN "urn:ramet:ext:session-rewind:v1/"
const char *a2a_own_key(const a2a_view *view, const char *kagent, const char *urn);
/* What a data part of our own marks. */
typedef enum {
    A2A_MARK_NONE,
    A2A_MARK_CUT, /* a turn that was cut off */
    A2A_MARK_PLAN,
    A2A_MARK_QUESTION,
    A2A_MARK_ANSWER
} a2a_mark;
a2a_mark a2a_mark_of(arena *a, const json_doc *d, const json_node *part);
/* Writes the parts behind the text of a question; returns their number. */
size_t a2a_question_write(arena *a, json_writer *w, const a2a_view *view, const json_doc *d,
                          const json_node *question);
/* Writes the decision that kagent's page looks for behind a question, for an answer that came
 * another way; returns the number of parts. */
size_t a2a_decision_write(json_writer *w, const a2a_view *view, const char *text);
/* A UUID derived from a session and something in it: stable across reads, different in a fork. */
const char *a2a_derived(arena *a, const char *session, const char *what);
/* Whether two values are equal, ignoring the order of members and members that are null. */
bool a2a_json_same(arena *a, const json_doc *d, const json_node *v, const json_doc *e,
                   const json_node *u);

#endif
