/* SPDX-License-Identifier: Apache-2.0
 *
 * rights.h: what a write relies on: that the session is there and that the caller may write to it.
 */
#ifndef CORE_SESSION_RIGHTS_H
#define CORE_SESSION_RIGHTS_H

#include "core/session/session.h"

/* Something has changed in a tree that writes rely on, the heads of its sessions aside: access
 * rights, or what session_cache_get() gives. The stamp of the tree counts up at the end of the
 * write. */
void access_changed(txn *tx, int64_t tree);
/* The write relies on what the caller may do in that tree. Returns st. */
ramet_status access_used(txn *tx, int64_t tree, ramet_status st);
/* The write relies on what was read of a session. */
void access_guard(txn *tx, const session_brief *s);
/* The last statements of a write that succeeded. */
void access_settle(txn *tx);

#endif
