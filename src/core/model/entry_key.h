/* SPDX-License-Identifier: Apache-2.0
 *
 * entry_key.h: data stored beside an entry: a key that is unique in its session, and a text that it
 * is found by.
 */
#ifndef CORE_MODEL_ENTRY_KEY_H
#define CORE_MODEL_ENTRY_KEY_H

#include "core/model/entry.h"

/* RAMET_KEY_TAKEN when an entry of the session has one of the keys already. */
ramet_status keys_check(txn *tx, const session_brief *s, const entry_new *list, size_t n);
/* Writes keys and texts of the entries that were just written to b. */
void keys_write(txn *tx, const session_brief *s, const branch_row *b, const entry_new *list,
                size_t n);
void indexed_write(txn *tx, int64_t tree, int64_t k, const char *text);

#endif
