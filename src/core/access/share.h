/* SPDX-License-Identifier: Apache-2.0
 *
 * share.h: share links: access to one session for people outside its tree.
 */
#ifndef CORE_ACCESS_SHARE_H
#define CORE_ACCESS_SHARE_H

#include "core/session/session_open.h"

/* Whether the call's link allows this now. It is looked up anew in every piece of work, so that a
 * link that was revoked or has expired gives nothing. False at once without a link. */
bool share_gives(txn *tx, const session_access *s, need what);
/* Whether the caller sees the session through a link alone: then an answer has no more than its
 * path and versions. */
bool share_only(txn *tx, const session_access *s);
/* Takes out of an answer what a link does not show. */
void share_trim(ramet_session *out);
/* Removes links that have expired; for gc. */
ramet_status share_prune(ramet_call *c);

#endif
