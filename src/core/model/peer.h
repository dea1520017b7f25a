/* SPDX-License-Identifier: Apache-2.0
 *
 * peer.h: which events of the adk log belong to which length of main.
 */
#ifndef CORE_MODEL_PEER_H
#define CORE_MODEL_PEER_H

#include "core/model/branch.h"

/* The peer of the entries that are appended to a branch now; 0 for a branch of main. */
int64_t peer_new(txn *tx, const session_brief *s, const branch_row *b);
/* The length of main that an entry on a path of adk belongs to (P2). */
int64_t peer_at(txn *tx, const branch_row *adk, int64_t pos);
/* How many entries of a path of adk belong to the first `main_len` entries of main (P3). */
int64_t peer_cut(txn *tx, const branch_row *adk, int64_t main_len);

#endif
