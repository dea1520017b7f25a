/* SPDX-License-Identifier: Apache-2.0
 *
 * ramet/branches.h: Names of branches, the path that a session opens at, and pruning.
 *
 * A prune hides branches of a session: lists, versions, search and the record no longer show them,
 * and a move into one of them fails with RAMET_BRANCH_PRUNED. They can be restored until gc
 * (options.grace_us later) removes the entries that no other path needs; from then on
 * ramet_branches_pruned() lists them as `removed`. This is the exception to "every move can be
 * undone". Usage counts pruned entries until gc removes them.
 *
 * What is pruned of a branch are its entries behind the place where the path of the head leaves it.
 * If a path of another session, or of another branch that is not pruned, contains one of them, the
 * branch cannot be pruned. The adk branches that were beside the pruned ones, and beside no others,
 * are pruned with them; where a runtime derives from the record of that log what counts
 * (ramet/kagent.h), they stay.
 */
#ifndef RAMET_BRANCHES_H
#define RAMET_BRANCHES_H

#include "../ramet.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ramet_prune_in {
    int64_t branch; /* to prune; with `others`: to keep, 0 = the head's */
    bool others;    /* prune all branches that are not on its path; it must be the head's */
    bool dry_run;
} ramet_prune_in;

typedef struct ramet_kept_branch {
    int64_t branch;
    const char *reason; /* what needs it */
} ramet_kept_branch;

typedef struct ramet_prune_out {
    const char *const *branches; /* of main: pruned (or would be), or restored, such as "b17" */
    size_t n;
    int64_t entries; /* of both logs: what gc will remove; after a restore: what it will not */
    const ramet_kept_branch *kept; /* with `others`: not pruned, because something needs them; at
                                      most 100 */
    size_t n_kept;
    bool dry_run;
} ramet_prune_out;

/* Needs the session's owner, or manager in the tree. RAMET_BRANCH_NEEDED: it is the head's branch,
 * or another path needs what would be pruned; the message says which. RAMET_TURN_RUNNING_ALREADY: a
 * turn writes to it. Pruning a pruned branch is not an error. O(sessions and branches of the tree).
 */
RAMET_API ramet_status ramet_prune(ramet_call *c, const char *session, const ramet_prune_in *in,
                                   ramet_prune_out *out);

/* Restores a pruned branch; `all`: everything that the same call pruned. Needs the same rights.
 * RAMET_BRANCH_PRUNED: gc has removed it. Restoring a branch that is not pruned is not an error. */
RAMET_API ramet_status ramet_branch_restore(ramet_call *c, const char *session, int64_t branch,
                                            bool all, ramet_prune_out *out);

/* The pruned branches of the main log, oldest first. Needs reader in the tree; a share link is not
 * enough. */
RAMET_API ramet_status ramet_branches_pruned(ramet_call *c, const char *session, ramet_branch **out,
                                             size_t *n);

/* NULL members are left as they are. */
typedef struct ramet_branch_patch {
    const char *name;      /* at most 100 characters; "" removes it. Names need not differ */
    const bool *favourite; /* a session has at most one: true replaces it */
} ramet_branch_patch;

/* Names a branch of the main log, or makes it the path that its session opens at. Reads without a
 * branch still use the head; programs that open a session for a person go to its favourite
 * (ramet_session.favourite) first. Needs writer in the tree. O(branches of the session that have
 * notes). */
RAMET_API ramet_status ramet_branch_update(ramet_call *c, const char *session, int64_t branch,
                                           const ramet_branch_patch *in, ramet_branch **out);

#ifdef __cplusplus
}
#endif

#endif
