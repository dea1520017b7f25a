/* SPDX-License-Identifier: Apache-2.0
 *
 * log_rules.h: hooks for the owner of a log, called when the heads of its session move.
 *
 * The model keeps two logs and moves both, but does not know what is in them. A protocol whose
 * entries fill a log registers its rules when the store is opened (core/ext/adk.c does, for the adk
 * log); the model calls them at the few points where they matter. A log without an owner has
 * default rules, which do nothing.
 */
#ifndef CORE_CHANGE_LOG_RULES_H
#define CORE_CHANGE_LOG_RULES_H

#include "core/change/append.h"
#include "core/change/move.h"
#include "core/model/branch_note.h"

typedef struct log_rules {
    /* May refuse an append to a branch of the log that is not its head. */
    ramet_status (*append_check)(txn *tx, const session_brief *s, int64_t branch);
    /* Whether this log keeps or loses the entries of a turn as a whole: then a cut of main inside a
     * turn counts as one at its start. */
    bool (*whole_turns)(txn *tx, const session_brief *s);
    /* Moves a cut of the log to a position that can be described to its reader. *before: the turn
     * that begins there; NULL: nothing is cut off. */
    void (*snap)(txn *tx, const session_brief *s, const branch_row *log, int64_t *cut,
                 const char **before);
    /* Called for every move of the head, in its commit, before the heads move: writes what the
     * reader of the log must know. `seq` is the number of the move. */
    void (*mark)(txn *tx, session_brief *s, const head_to *to, int64_t seq);
    /* The turn that the reader must go back before to reach a branch of the log that was its head
     * once (0: the empty log); NULL: it is the head. */
    const char *(*left)(txn *tx, const session_brief *s, int64_t branch);
    /* Handles an append whose entry itself requests a move (ramet_append_in.before_turn). */
    ramet_status (*append_rewind)(txn *tx, const char *session, const append_work *w,
                                  const char *before_turn);
    /* Whether the reader of the log comes to the same result, now and for every branch that it may
     * go back to, when other branches than before are left out of the record. */
    bool (*may_hide)(txn *tx, const session_brief *s);
    /* A state key that only callers who may read the log get; NULL: none. */
    const char *private_state_key;
} log_rules;

/* Only while the store is being opened. `rules` must outlive it. */
void log_rules_register(ramet *r, ramet_log log, const log_rules *rules);
/* Never NULL. */
const log_rules *log_rules_of(const txn *tx, ramet_log log);

#endif
