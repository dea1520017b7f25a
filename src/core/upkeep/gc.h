/* SPDX-License-Identifier: Apache-2.0
 *
 * gc.h: what a garbage collection would remove.
 */
#ifndef CORE_UPKEEP_GC_H
#define CORE_UPKEEP_GC_H

#include "core/txn.h"

/* The number of entries that no session of the tree could reach if these were dead, too. */
int64_t gc_would_take(txn *tx, int64_t tree, const int64_t *sessions, size_t n);

#endif
