/* SPDX-License-Identifier: Apache-2.0
 *
 * copied.h: where copies that a merge made came from, and where entries went. copied.c has the
 * invariants.
 */
#ifndef CORE_MODEL_COPIED_H
#define CORE_MODEL_COPIED_H

#include "core/model/entry.h"

/* An origin: the entry at a key, as a session had it. */
typedef struct copied_from {
    int64_t tree, session, key;
    int64_t span; /* entries of that branch that it stands for, which end there */
} copied_from;

/* Records the n-th origin of a copy that was just written. Only the first one, 0, is shown. */
void copied_write(txn *tx, int64_t tree, int64_t k, int n, const copied_from *from);
/* The same, as an import has it: of zeros when it is not known. */
void copied_restore(txn *tx, int64_t tree, int64_t k, int n, const copied_from *from);
/* The entries from key lo to key hi are about to be removed. What was made from copies among them
 * names their origins from now on. */
void copied_relink(txn *tx, int64_t tree, int64_t lo, int64_t hi);
/* Whether the copy at k has an origin. */
bool copied_known(txn *tx, int64_t tree, int64_t k);
/* Fills the origins of the copies in a list of entries in order of their paths, as far as the
 * caller may see them. Entries that are no copies cost nothing. */
void origins_fill(txn *tx, int64_t tree, ramet_entry *list, size_t n);

#endif
