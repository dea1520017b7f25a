/* SPDX-License-Identifier: Apache-2.0
 *
 * path.h: paths: the entries from the root to the head of a branch.
 */
#ifndef CORE_MODEL_PATH_H
#define CORE_MODEL_PATH_H

#include "core/model/branch.h"
#include "core/model/key.h"

/* The branch that owns a position on a path: O(log depth). pos < length of the path. */
bool path_owner(txn *tx, const branch_meta *head, int64_t pos, branch_meta *owner);
/* The position of an entry id on a path; -1 when it is not there. *k gets its key. */
int64_t path_find(txn *tx, const branch_row *head, const char *entry_id, int64_t *k);
/* Hash after the first n entries of a path. */
bool path_hash(txn *tx, const branch_row *head, int64_t n, uint8_t out[HASH_LEN]);
/* Sets tx->mark to the id and hash of the entry at k; false when it is missing or damaged. */
bool path_mark(txn *tx, int64_t tree, int64_t k);

/* How many entries two paths share, of which `most` is as much as can count: O(log n). */
int64_t path_shared(txn *tx, const branch_row *a, const branch_row *b, int64_t most);
/* Id of the entry at a position; NULL when there is none. */
const char *path_entry_id(txn *tx, const branch_row *head, int64_t pos);

/* A run of positions [lo, hi) owned by one branch. */
typedef struct segment {
    branch_meta meta;
    int64_t lo, hi;
} segment;
/* The segments that make up [lo, hi) of a path, oldest first. */
bool path_segments(txn *tx, const branch_meta *head, int64_t lo, int64_t hi, segment **out,
                   size_t *n);

/* Reads [lo, hi) of a path in order and checks it against the hash chain; one callback per entry,
 * with its placeholders filled in (fill.h). It lives in `into`. The callback returns false to stop.
 * Damage is sticky in the db. */
typedef bool (*entry_each)(void *arg, ramet_entry *e);
void path_read(txn *tx, const branch_row *head, int64_t lo, int64_t hi, arena *into,
               entry_each each, void *arg);

#endif
