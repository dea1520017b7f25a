/* SPDX-License-Identifier: Apache-2.0
 *
 * share.h: share links: access to one session for people outside its tree.
 */
#ifndef CORE_ACCESS_SHARE_H
#define CORE_ACCESS_SHARE_H

#include "core/session/session_open.h"

/* Whether the call's link allows this now. Every read and write looks it up again, so that a
 * revoked or expired link allows nothing. False at once when the call has no link. */
bool share_gives(txn *tx, const session_access *s, need what);
/* Whether the caller sees the session only through a link: then an answer holds no more than its
 * path and versions. */
bool share_only(txn *tx, const session_access *s);
/* Removes from an answer what a link does not show. */
void share_trim(ramet_session *out);
/* Removes expired links; for gc. */
ramet_status share_prune(ramet_call *c);

#endif
