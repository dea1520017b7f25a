/* SPDX-License-Identifier: Apache-2.0
 *
 * move.h: cut points, and moving the heads of a session. move.c has the invariants.
 */
#ifndef CORE_CHANGE_MOVE_H
#define CORE_CHANGE_MOVE_H

#include "core/model/path.h"

typedef struct cut_result {
    int64_t main, adk; /* entries kept */
    ramet_cut shown;
    const char *before; /* see head_to */
} cut_result;
/* Finds where a cut point is on a path, applying the policy. */
ramet_status cut_find(txn *tx, const branch_row *head, const ramet_at *at, ramet_cut_policy policy,
                      cut_result *out);
/* The same for both logs. adk_at->entry_id NULL: adk keeps what was there when the last entry kept
 * in main arrived. */
ramet_status cut_both(txn *tx, const session_full *s, const branch_row *head, const ramet_at *at,
                      const ramet_at *adk_at, ramet_cut_policy policy, cut_result *cut);
/* The adk part of that, for a cut of the path of `head` at out->main. */
ramet_status cut_adk(txn *tx, const branch_row *head, const branch_row *adk, const ramet_at *at,
                     cut_result *out);
/* The adk head that belongs to a main branch: where that log was when the branch was last the
 * head. */
int64_t adk_head_of(txn *tx, const session_brief *s, int64_t branch);

/* The destination of the heads. */
typedef struct head_to {
    int64_t main, adk; /* branches */
    /* For the rules of the adk log (log_rules.h): the turn that its reader goes back before; NULL:
     * nothing is cut off for it. `marked`: the key of an entry that already marks this move. */
    const char *before;
    int64_t marked;
} head_to;
/* Moves the heads of a session and writes the head log. Updates the row. */
void head_move(txn *tx, session_full *s, const head_to *to, ramet_move_kind kind, const char *why,
               int64_t undo_under, int64_t redo_under, int64_t undo, int64_t redo);
/* A move other than undo or redo: it goes on the undo stack and ends redo (M2). */
void move_new(txn *tx, session_full *s, const head_to *to, ramet_move_kind kind, const char *why);
/* A new move to new branches at the cut in main (and adk). *out is the new main branch. */
void move_to_cut(txn *tx, session_full *s, const branch_row *head, const cut_result *cut,
                 ramet_fork_type type, ramet_move_kind kind, const char *why, branch_row *out);

#endif
