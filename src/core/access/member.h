/* SPDX-License-Identifier: Apache-2.0
 *
 * member.h: members of a tree and their levels.
 */
#ifndef CORE_ACCESS_MEMBER_H
#define CORE_ACCESS_MEMBER_H

#include "core/session/session.h"

/* The caller's level in a tree. */
ramet_level level_in(txn *tx, int64_t tree);
ramet_level level_of(txn *tx, int64_t tree, const char *user);
/* The caller's level in a session that the caller may see. */
ramet_level session_level(txn *tx, const session_access *s);
/* Adds a member to a new tree. */
void member_insert(txn *tx, int64_t tree, const char *user, ramet_level level);
/* Opens a session for callers with at least that level in its tree; else RAMET_FORBIDDEN. */
ramet_status member_open(txn *tx, const char *session, ramet_level min, session_full *s,
                         ramet_level *level);
/* Makes another user the owner of the tree and of all its sessions, except private ones. */
void tree_hand_over(txn *tx, const session_brief *s, const char *to);

#endif
