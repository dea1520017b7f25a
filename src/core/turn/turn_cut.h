/* SPDX-License-Identifier: Apache-2.0
 *
 * turn_cut.h: cuts before a named turn, in both logs.
 */
#ifndef CORE_TURN_TURN_CUT_H
#define CORE_TURN_TURN_CUT_H

#include "core/change/move.h"

/* The cuts of both logs, each with the branch whose path is cut. */
typedef struct turn_cut {
    branch_row main, adk; /* adk.meta.id 0: none */
    cut_result at;
    const char *before; /* see head_to */
} turn_cut;
typedef enum turn_search {
    TURN_ON_PATH,   /* the paths of `head` and s->adk */
    TURN_IN_RECORD, /* the whole record; in main, the path comes first */
    TURN_ANYWHERE   /* the paths, and the record when neither has it */
} turn_search;
/* RAMET_TURN_NOT_FOUND. The entry with the key `but` does not count. */
ramet_status turn_cut_find(txn *tx, const session_full *s, const branch_row *head, const char *turn,
                           turn_search where, int64_t but, turn_cut *out);
/* Moves both heads to new branches at the cut. `marked`: see head_to. */
void move_to_turn(txn *tx, session_full *s, const turn_cut *cut, const char *why, int64_t marked,
                  branch_row *out);

#endif
