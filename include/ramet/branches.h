/* SPDX-License-Identifier: Apache-2.0
 *
 * ramet/branches.h: Names of branches, the path that a session opens at, and pruning.
 *
 * A prune takes branches out of a session: they are in no list, no version, no search and no record
 * any more, and a move into one of them is RAMET_BRANCH_PRUNED. It can be taken back until gc
 * (options.grace_us later) removes the entries that no other path needs; the branch stays listed by
 * ramet_branches_pruned() from then on as `removed`. It is the exception to "every move can be
 * undone". Usage counts what was pruned until gc removes it.
 *
 * What goes are the entries of a branch behind the place where the path of the head leaves it. If a
 * path of another session, or of another branch that stays, holds one of them, the branch cannot be
 * pruned. The adk branches that were beside the pruned ones, and beside no others, go along; where
 * a runtime works out from the record of that log what counts (ramet/kagent.h), they stay.
 */
#ifndef RAMET_BRANCHES_H
#define RAMET_BRANCHES_H

#include "../ramet.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ramet_prune_in {
    int64_t branch; /* the one that goes; with `others`: the one that stays, 0 = the head's */
    bool others;    /* all branches go that are not on its path; it must be the head's */
    bool dry_run;
} ramet_prune_in;

typedef struct ramet_kept_branch {
    int64_t branch;
    const char *reason; /* what needs it */
} ramet_kept_branch;

typedef struct ramet_prune_out {
    const char *const *branches; /* of main that are (or would be) pruned or restored, like "b17" */
    size_t n;
    int64_t entries; /* of both logs: those that gc will remove; of a restore: that it will not */
    const ramet_kept_branch *kept; /* with `others`: what stays because something needs it; at most
                                      100 */
    size_t n_kept;
    bool dry_run;
} ramet_prune_out;

/* Needs the session's owner, or manager in the tree. RAMET_BRANCH_NEEDED: it is the head's branch,
 * or another path needs what would go; the message says which. RAMET_TURN_RUNNING_ALREADY: a turn
 * writes to it. A branch that is pruned already is no error. O(sessions and branches of the tree).
 */
RAMET_API ramet_status ramet_prune(ramet_call *c, const char *session, const ramet_prune_in *in,
                                   ramet_prune_out *out);

/* Brings a pruned branch back; `all`: everything that the same prune took. Needs the same rights.
 * RAMET_BRANCH_PRUNED: gc was there before. A branch that is not pruned is no error. */
RAMET_API ramet_status ramet_branch_restore(ramet_call *c, const char *session, int64_t branch,
                                            bool all, ramet_prune_out *out);

/* The branches of the main log that were pruned, oldest first. */
RAMET_API ramet_status ramet_branches_pruned(ramet_call *c, const char *session, ramet_branch **out,
                                             size_t *n);

/* NULL: stays as it is. */
typedef struct ramet_branch_patch {
    const char *name;      /* at most 100 characters; "" removes it. Names need not differ */
    const bool *favourite; /* a session has at most one: setting it takes it from another */
} ramet_branch_patch;

/* Names a branch of the main log, or makes it the path that its session opens at. Reads without a
 * branch are still those of the head; programs that open a session for a person go to its favourite
 * (ramet_session.favourite) first. Needs writer. O(branches of the session that have notes). */
RAMET_API ramet_status ramet_branch_update(ramet_call *c, const char *session, int64_t branch,
                                           const ramet_branch_patch *in, ramet_branch **out);

#ifdef __cplusplus
}
#endif

#endif
