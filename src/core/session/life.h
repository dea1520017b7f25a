/* SPDX-License-Identifier: Apache-2.0
 *
 * life.h: deleting a session, for those who decide elsewhere that it goes; what can be restored.
 */
#ifndef CORE_SESSION_LIFE_H
#define CORE_SESSION_LIFE_H

#include "core/session/session.h"

/* Marks a session as deleted now, by the deletion of that number (DB_DELETION): it can be restored
 * until gc. Only in a txn_revoke(). */
void session_remove(txn *tx, const session_full *s, int64_t op);

/* Whether it is deleted or expired, gc has not begun to remove it, and the caller may restore it:
 * as its owner, or as a manager of its tree unless it is private. `level`: the caller's in its
 * tree. */
bool session_restorable(const txn *tx, ramet_level level, const session_access *s);

#endif
