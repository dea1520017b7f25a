/* SPDX-License-Identifier: Apache-2.0
 *
 * overlay.h: setting and removing overlays. overlay_set.c has the invariants of sets.
 */
#ifndef CORE_CHANGE_OVERLAY_H
#define CORE_CHANGE_OVERLAY_H

#include "core/model/branch.h"

#define OVERLAY_SIZE_MAX 10000                /* rows behind one number */
#define OVERLAY_BYTES_MAX (INT64_C(16) << 20) /* of text in them */
#define OVERLAY_TEXT_MAX ((size_t)1 << 20)    /* bytes of one text */

/* The set of a branch that takes over both: what is in force in `first`, and what only `second` has
 * beside it. Writes a row unless one of them is enough. RAMET_TOO_LARGE. */
ramet_status overlay_union(txn *tx, int64_t tree, int64_t first, int64_t second, int64_t *out);

/* Removes what no branch of a tree leads to any more. */
void overlays_prune(txn *tx, int64_t tree);

#endif
