/* SPDX-License-Identifier: Apache-2.0
 *
 * adk.h: places (place.c), cuts before a turn (before.c) and the rewind events of the adk log
 * (adk.c).
 */
#ifndef CORE_EXT_ADK_H
#define CORE_EXT_ADK_H

#include "core/core.h"

#define REWIND_CHANNEL "rewind" /* of rewind events in the adk log */

/* ---- places: P1, P2 in core/ext/turn_index.c */

void turn_index_add(txn *tx, int64_t tree, const char *name, ramet_log log, int64_t k);
/* The first position of a turn on a path; -1 when it is not there. */
int64_t turn_index_on_path(txn *tx, const branch_row *head, const char *name);
/* Where a turn came up first in the record of a session (what it inherited comes before that). The
 * entry with the key `but` does not count. */
bool turn_index_in_record(txn *tx, const session_row *s, ramet_log log, const char *name,
                          int64_t but, branch_row *b, int64_t *pos);

/* What a walk over a path needs to know of an entry. */
typedef struct entry_kind {
    ramet_role role;
    const char *turn; /* NULL: none */
    bool marker;      /* a rewind event of the adk log */
    bool adk;         /* an event of ADK */
} entry_kind;
bool kind_at(txn *tx, const branch_meta *head, int64_t pos, entry_kind *out);

/* ---- cuts before a turn (core/ext/turn_cut.c) */

/* Both logs, each with the branch whose path is cut. */
typedef struct turn_cut {
    branch_row main, adk; /* adk.m.id 0: none */
    cut_result at;
    const char *before; /* the turn as ADK knows it; NULL: it does not */
} turn_cut;
/* RAMET_TURN_NOT_FOUND. `raw`: anywhere in the record; else on the paths of `head` and s->adk. */
ramet_status turn_cut_find(txn *tx, const session_row *s, const branch_row *head, const char *turn,
                           bool raw, int64_t but, turn_cut *out);

/* ---- rewind events (adk.c) */

/* Whether the session's adk log holds events of ADK. */
bool adk_is(txn *tx, const session_row *s);
/* Moves the cut of the adk log to where ADK can rewind to. *before: the invocation there; NULL:
 * nothing is cut off. Without events of ADK the cut stays. */
void adk_snap(txn *tx, const session_row *s, const branch_row *adk, int64_t *cut,
              const char **before);
/* Writes the rewind event of the move `seq`, in the branch that the head leaves. */
void adk_mark(txn *tx, session_row *s, const head_to *to, int64_t seq);
/* What ADK goes back before to get to an adk branch that was the head (0: to nothing); NULL: it is
 * the head. */
const char *adk_left(txn *tx, const session_row *s, int64_t adk);
/* Moves both heads to new branches at the cut. marked: see head_to. (core/model/move.c) */
void move_to_turn(txn *tx, session_row *s, const turn_cut *cut, const char *why, int64_t marked,
                  branch_row *out);

#endif
