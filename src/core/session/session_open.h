/* SPDX-License-Identifier: Apache-2.0
 *
 * session_open.h: opening a session: whether it exists, and what the caller may do with it (I10).
 */
#ifndef CORE_SESSION_SESSION_OPEN_H
#define CORE_SESSION_SESSION_OPEN_H

#include "core/session/session.h"

/* A share link grants NEED_READ, and NEED_WRITE when it is one for writing; nothing else. */
typedef enum {
    NEED_READ,   /* its path and versions: reader */
    NEED_TREE,   /* its relatives in the tree: reader */
    NEED_WRITE,  /* append, and move through its history: writer */
    NEED_CHANGE, /* everything else about it, and its adk log: writer */
    NEED_MANAGE  /* its owner, or manager */
} need;

/* By the caller's own rights: a link of the call does not count here. */
bool session_visible(txn *tx, const session_access *s);
/* The same where the caller's level in the tree is known: for long lists. */
bool session_seen(const txn *tx, ramet_level level, const session_access *s);
/* Loads a session that is not gone and checks access; otherwise sets the error of the call. */
ramet_status session_open(txn *tx, const char *id, need what, session_full *s);
/* session_open() and branch_open() of the head of main, in one statement. */
ramet_status session_open_head(txn *tx, const char *id, need what, session_full *s,
                               struct branch_row *head);
/* Loads what an append needs, and the branch at the head; head->meta.id is 0 when that is missing.
 * Only while writing. */
ramet_status session_open_brief(txn *tx, const char *id, need what, session_brief *s,
                                struct branch_row *head);

#endif
