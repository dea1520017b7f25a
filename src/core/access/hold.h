/* SPDX-License-Identifier: Apache-2.0
 *
 * hold.h: whether something is protected by a hold (ramet/retention.h).
 */
#ifndef CORE_ACCESS_HOLD_H
#define CORE_ACCESS_HOLD_H

#include "core/session/session.h"

/* RAMET_HELD when the tree or that session is on hold; the message says which. session 0: when
 * anything in the tree is. */
ramet_status hold_check(txn *tx, int64_t tree, int64_t session);
/* RAMET_HELD when the tree is on hold, or a session on hold has that entry on one of its branches'
 * paths. O(holds in the tree × branches that inherit it). */
ramet_status hold_check_entry(txn *tx, int64_t tree, int64_t k);

/* The holds of one tree, for many questions. */
typedef struct tree_holds {
    int64_t *sessions; /* in order; the first is 0 when the tree is on hold */
    size_t n;
} tree_holds;
void holds_load(txn *tx, arena *a, int64_t tree, tree_holds *out);
bool holds_have(const tree_holds *holds, int64_t session);

#endif
