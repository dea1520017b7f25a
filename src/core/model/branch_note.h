/* SPDX-License-Identifier: Apache-2.0
 *
 * branch_note.h: what is known about a branch beside its row: its name, whether its session opens
 * at it, and whether it was pruned. branch_note.c has the invariants.
 */
#ifndef CORE_MODEL_BRANCH_NOTE_H
#define CORE_MODEL_BRANCH_NOTE_H

#include "core/session/session.h"

typedef enum {
    NOTE_KEPT,   /* not pruned */
    NOTE_PRUNED, /* can be restored */
    NOTE_TAKING, /* gc is removing it: it cannot be restored */
    NOTE_TAKEN   /* gc has removed what nothing needed */
} note_state;

typedef struct branch_note {
    int64_t branch;
    const char *name; /* "": none */
    bool favourite;
    note_state state;
    int64_t pruned;   /* when it was pruned; 0: it was not */
    int64_t prune_op; /* the operation that pruned it */
    int64_t keep;     /* pruned: its entries from here on are on no remaining path */
} branch_note;
#define NOTE_N_COLS 7

/* The notes of a session, by branch. */
typedef struct note_list {
    branch_note *items;
    size_t n;
    size_t n_pruned;
} note_list;

/* Reads NOTE_COLS. */
void note_from(db_stmt *q, arena *a, branch_note *out);
void notes_of(txn *tx, int64_t tree, int64_t session, note_list *out);
/* The notes of all sessions of a tree. */
void notes_of_tree(txn *tx, int64_t tree, note_list *out);
/* NULL: there is none. */
const branch_note *note_find(const note_list *v, int64_t branch);
/* A name must be one line of at most 100 characters; "" is none. */
ramet_status branch_name_check(ramet_call *c, const char *name);
/* The branch that the session opens at; 0: its head. */
int64_t favourite_of(txn *tx, const session_access *s);
/* Writes a note, or removes its row if nothing is set. */
void note_write(txn *tx, int64_t tree, int64_t session, const branch_note *n);
/* The branch was pruned. */
bool notes_pruned(const note_list *v, int64_t branch);
/* The entry was pruned: no remaining path holds it. */
bool notes_hide(const note_list *v, int64_t k);
/* The same for an entry of any session. O(log notes). */
bool entry_is_pruned(txn *tx, int64_t tree, int64_t k);
/* RAMET_BRANCH_PRUNED if this branch of the session was pruned. */
ramet_status pruned_check(txn *tx, const session_access *s, int64_t branch);

#endif
