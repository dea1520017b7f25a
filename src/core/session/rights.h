/* SPDX-License-Identifier: Apache-2.0
 *
 * rights.h: what a write relies on: that the session exists and that the caller may write to it.
 */
#ifndef CORE_SESSION_RIGHTS_H
#define CORE_SESSION_RIGHTS_H

#include "core/session/session.h"

/* Records that something which writes rely on has changed in a tree, other than the heads of its
 * sessions: access rights, or what session_cache_get() returns. The end of the write increments the
 * stamp of the tree. */
void access_changed(txn *tx, int64_t tree);
/* Records that the write relies on the caller's rights in that tree. Returns st. */
ramet_status access_used(txn *tx, int64_t tree, ramet_status st);
/* Records that the write relies on what was read of a session. */
void access_guard(txn *tx, const session_brief *s);
/* Runs the last statements of a successful write. */
void access_settle(txn *tx);

#endif
