/* SPDX-License-Identifier: Apache-2.0
 *
 * ramet/retention.h: what is kept whatever happens, and what goes by rule.
 *
 * A *hold* protects a session or a whole tree: while it stands, the session is not deleted, not
 * collected by gc (also when it was deleted before the hold was set), not pruned, not erased and
 * not removed by a rule.
 */
#ifndef RAMET_RETENTION_H
#define RAMET_RETENTION_H

#include "../ramet.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------------- holds */

typedef struct ramet_hold {
    const char *tree_id;
    const char *session; /* NULL: the whole tree, with every session that it has or will have */
    bool administrator;  /* set by an administrator, who alone can release it */
    const char *who;     /* NULL: the embedding program */
    const char *reason;
    int64_t at;
} ramet_hold;

typedef struct ramet_hold_in {
    bool tree;          /* the whole tree of the session */
    const char *reason; /* at most 2,000 characters; may be NULL */
    const char *by;     /* for the embedding program: the administrator who asked; may be NULL */
} ramet_hold_in;

/* Sets a hold, or changes its reason. A tree's owner sets holds of their own, and the embedding
 * program those of administrators: both may stand side by side. `session` names a session that the
 * caller may see; it may be deleted, as long as it can be restored. `out` may be NULL. O(1). */
RAMET_API ramet_status ramet_hold_set(ramet_call *c, const char *session, const ramet_hold_in *in,
                                      ramet_hold **out);
/* Releases a hold: the owner of the tree theirs, the embedding program all that stand there. When
 * only an administrator's is left, the owner gets RAMET_FORBIDDEN. RAMET_HOLD_NOT_FOUND. */
RAMET_API ramet_status ramet_hold_release(ramet_call *c, const char *session, bool tree);
/* Those that protect the session: its own, and those of its tree. Needs reader; the reason and who
 * set it are shown to the owner of the tree and the embedding program alone. */
RAMET_API ramet_status ramet_holds(ramet_call *c, const char *session, ramet_hold **out, size_t *n);

#ifdef __cplusplus
}
#endif
#endif
