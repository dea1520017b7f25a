/* SPDX-License-Identifier: Apache-2.0
 *
 * turn_index.h: where turns begin, by their names. turn_index.c has the invariants.
 */
#ifndef CORE_TURN_TURN_INDEX_H
#define CORE_TURN_TURN_INDEX_H

#include "core/model/entry.h"

void turn_index_add(txn *tx, int64_t tree, const char *name, ramet_log log, int64_t k);
/* The first position of a turn on a path; -1 when it is not there. */
int64_t turn_index_on_path(txn *tx, const branch_row *head, const char *name);
/* Where a turn first occurred in the record of a session (what it inherited comes before its own).
 * `first_branch` is the session's first branch of that log; 0: it has none. The entry with the key
 * `but` does not count. */
bool turn_index_in_record(txn *tx, const session_access *s, int64_t first_branch, ramet_log log,
                          const char *name, int64_t but, branch_row *b, int64_t *pos);
/* Records where turns begin, for the entry that is written next to b; last_turn is the turn of the
 * entry before it. */
void turn_index_note(txn *tx, const branch_row *b, const entry_new *e, const char *last_turn);
/* Gives a turn on the path of b another name (an invocation), which finds it from the last question
 * of the turn on. Nothing happens if the path knows the name already. */
void turn_index_name(txn *tx, const branch_row *b, const char *turn, const char *name);
/* Where the question that ends just before `end` begins: the messages of the user there that belong
 * to one turn. `end`: there is none. */
int64_t turn_question_start(txn *tx, const branch_meta *path, int64_t end);

/* Whether the session ever had that turn, also on a pruned branch. */
bool turn_index_ever(txn *tx, const session_access *s, int64_t first_branch, ramet_log log,
                     const char *name);

#endif
