/* SPDX-License-Identifier: Apache-2.0
 *
 * session_show.h: a session as the public struct: titles, agent, tags, heads.
 */
#ifndef CORE_SESSION_SESSION_SHOW_H
#define CORE_SESSION_SESSION_SHOW_H

#include "core/session/session.h"

/* The row as the public struct. */
ramet_session *session_show(txn *tx, const session_full *s);
void session_fill(txn *tx, const session_full *s, ramet_session *out);
void session_fill_all(txn *tx, session_full *rows, size_t n, ramet_session *out);
/* session_show() with what the caller has already loaded, so that it is not read again. Every
 * member may be empty. */
typedef struct session_known {
    const struct branch_row *head; /* of main */
    const char *parent_id;         /* set when the user may see it */
    bool untagged;
} session_known;
ramet_session *session_show_with(txn *tx, const session_full *s, const session_known *known);
/* The id of a tree; "" when it is missing. */
const char *tree_id(txn *tx, int64_t tree);
const char *session_shown_title(txn *tx, const session_full *s);
/* The words that a fork of it is named after. `head` is its head, NULL when not loaded. */
const char *session_base_title(txn *tx, const session_full *s, const struct branch_row *head);
/* The agent that answers in it, as far as the caller may know. */
ramet_agent session_agent(txn *tx, const session_full *s);
ramet_agent agent_from(arena *a, const char *name, const char *config);
const char *agent_config(arena *a, const ramet_agent *g);
void tags_of(txn *tx, const session_access *s, const char *const **out, size_t *n);

#endif
