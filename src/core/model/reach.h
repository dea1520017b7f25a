/* SPDX-License-Identifier: Apache-2.0
 *
 * reach.h: which entries of a tree are on a path that something needs. gc removes the others; a
 * prune computes what it would free. reach.c has the invariants.
 */
#ifndef CORE_MODEL_REACH_H
#define CORE_MODEL_REACH_H

#include "core/model/branch_note.h"

typedef struct reach_session {
    int64_t no, parent, depth, deleted, expires;
    int64_t first, first_adk; /* its first branch in each log */
    int purging;
    bool dead;    /* set by the caller: its own paths are not needed */
    bool left;    /* it still has a branch */
    bool on_hold; /* nothing of it may go (core/access/hold.c) */
} reach_session;

typedef struct reach_branch {
    int64_t id, session, parent, base, len;
    int log;
    int64_t need;            /* entries up to this position are on a needed path */
    struct reach_branch *by; /* the child that needs the most of it; NULL: none */
    bool out;                /* set by the caller: its path is not needed */
    bool work;               /* a part of it can be removed */
    int64_t held;            /* for a prune: how far the head's path follows it; 0: not at all */
    bool asked;              /* for a prune: it is to be pruned, or restored */
    branch_note *note;       /* NULL: there is none */
    reach_session *of;
} reach_branch;

typedef struct reach_tree {
    int64_t tree;
    reach_session *sessions; /* by number */
    size_t n_sessions;
    reach_branch *branches; /* by number */
    size_t n_branches;
    reach_branch **down; /* the same, largest base first: children before parents (B1) */
} reach_tree;

/* Loads all sessions, branches and notes of a tree. Fails with RAMET_DAMAGED if the tree is
 * inconsistent: nothing is removed from such a tree. */
void reach_load(txn *tx, arena *a, int64_t tree, reach_tree *t);
/* Sorts the branches of a tree that was filled in otherwise, with sessions and branches in order.
 */
void reach_sort(arena *a, reach_tree *t);
reach_session *reach_session_at(const reach_tree *t, int64_t no);
reach_branch *reach_branch_at(const reach_tree *t, int64_t id);
/* The branch was made with its session: it says where the session was forked. */
bool reach_is_first(const reach_branch *b);
/* Computes `need` of every branch from `dead` and `out`. `look`, unless it is NULL, is called for
 * each branch once its `need` is known, children before parents, and may change its `out`. */
typedef void (*reach_look)(void *arg, reach_branch *b);
void reach_find(reach_tree *t, reach_look look, void *arg);
/* Its own path is needed. */
bool reach_is_needed(const reach_branch *b);
/* If the branch is `out` or its session dead, entries from this position on can be removed. */
static inline int64_t reach_keep(const reach_branch *b)
{
    return b->need > b->base ? b->need : b->base;
}
static inline bool reach_free(const reach_branch *b)
{
    return b->of->dead || b->out;
}
/* The number of entries that can be removed. */
int64_t reach_entries(const reach_tree *t);

#endif
