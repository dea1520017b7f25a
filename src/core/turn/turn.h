/* SPDX-License-Identifier: Apache-2.0
 *
 * turn.h: what the two files of turns share. turn.c has the invariants.
 */
#ifndef CORE_TURN_TURN_H
#define CORE_TURN_TURN_H

#include "core/model/entry.h"
#include "core/session/session.h"
#include "core/txn.h"

typedef struct turn_row {
    int64_t tree, session;
    ramet_turn shown; /* `session` is NULL when the session was purged */
} turn_row;

bool turn_load(txn *tx, const char *id, turn_row *t);
/* The turn that is running on a branch of a session. */
bool turn_on(txn *tx, const session_access *s, int64_t branch, turn_row *t);
/* RAMET_TURN_RUNNING_ALREADY when one runs on the head of a session. */
ramet_status turn_none_on(txn *tx, const session_brief *s);
/* Prepares entries of a turn. `first`: the role of the first one when it has none. */
ramet_status turn_entries(ramet_call *c, const char *turn, const ramet_entry_in *in, size_t n,
                          ramet_role first, entry_new **out);

#endif
