/* SPDX-License-Identifier: Apache-2.0
 *
 * template.h: rows of templates, and how one is opened.
 */
#ifndef CORE_CHANGE_TEMPLATE_H
#define CORE_CHANGE_TEMPLATE_H

#include "core/model/branch.h"
#include "core/session/session_open.h"

typedef struct template_row {
    const char *id, *name;
    const char *placeholders; /* a JSON array of names */
    int64_t tree, session;
    int64_t branch, len;         /* of main: what a chat begins with */
    int64_t adk_branch, adk_len; /* 0: the log was empty */
    int64_t most;                /* how often placeholders occur in one entry, at most */
    const char *who;             /* "": the embedding program */
    int64_t created, updated;
} template_row;

/* Reads TEMPLATE_COLS. */
void template_from(db_stmt *q, arena *a, template_row *t);
/* Its names; false when they are none. */
bool template_names(arena *a, const template_row *t, const char ***out, size_t *n);
/* A template and its session, for a caller who may do that with the session. */
ramet_status template_open(txn *tx, const char *id, need what, template_row *t, session_full *s);
/* The branch that it is pinned on. */
ramet_status template_pin(txn *tx, const template_row *t, branch_row *b);
ramet_status template_damaged(txn *tx, const template_row *t);

#endif
