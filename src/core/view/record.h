/* SPDX-License-Identifier: Apache-2.0
 *
 * record.h: the parts of a session's record, without pruned entries. record.c has the invariants.
 */
#ifndef CORE_VIEW_RECORD_H
#define CORE_VIEW_RECORD_H

#include "core/model/branch_note.h"

/* `n` entries of one branch, from `key` on; the first has number `rec` in the record. */
typedef struct record_part {
    int64_t key, n, rec;
} record_part;

typedef struct record_parts {
    record_part *items;
    size_t n;
    int64_t total;
} record_parts;

/* How many entries the last run of a record covers, which begins at `key`. 0 (sticky): the branch
 * is missing or damaged, and nothing else tells where the run ends. */
int64_t run_last_length(txn *tx, int64_t tree, int64_t key);
/* The record of a log without pruned entries, numbered from 0. O(runs). */
void record_parts_of(txn *tx, const session_access *s, ramet_log log, const note_list *notes,
                     record_parts *out);
/* Removes what its branches no longer own from the record of a session, in both logs. */
void record_trim(txn *tx, int64_t tree, int64_t session);

#endif
