/* SPDX-License-Identifier: Apache-2.0
 *
 * lineage_cache.h: caches of what never changes about branches and entries (B2, B5 in branch.c).
 */
#ifndef CORE_MODEL_LINEAGE_CACHE_H
#define CORE_MODEL_LINEAGE_CACHE_H

#include "core/model/branch.h"

struct lineage *lineage_new(void);
void lineage_free(struct lineage *l);
/* Drops what belongs to an earlier past (db_past()). */
void lineage_enter(struct lineage *l, int64_t past);

/* ---- branches */

bool lineage_get(txn *tx, int64_t tree, int64_t id, branch_meta *m);
void lineage_put(struct lineage *l, int64_t past, const branch_meta *m);

/* What a write has read; it may be cached once the write is committed. */

/* The title of the paths through the entry at `pos` of a branch without parent: the words that
 * entry begins with. */
typedef struct path_title {
    int64_t tree, branch, pos;
    int64_t stamp;    /* of the tree when it was read; SESSION_NO_STAMP: not known */
    const char *text; /* NULL: none */
} path_title;
/* The words that a path is named after: those of the entry at `pos`. NULL: not cached, or the entry
 * may have been erased since. `stamp` is that of the tree, or SESSION_NO_STAMP. */
const char *path_title_get(txn *tx, const branch_row *head, int64_t stamp);
void path_title_put(txn *tx, const branch_row *head, int64_t pos, int64_t stamp, const char *text);

/* ---- entries at which histories end that are forked */

/* Sets tx->mark to the id and hash of the entry at k; false: they are not known. */
bool fork_entry_mark(txn *tx, int64_t tree, int64_t k);
/* Keeps tx->mark. */
void fork_entry_keep_mark(txn *tx);
/* The last delta of the branch that owns the entry at k, up to that entry, while it is known. */
bool fork_entry_delta(txn *tx, int64_t tree, int64_t k, int64_t *delta);
void fork_entry_keep_delta(txn *tx, int64_t tree, int64_t k, int64_t delta);

/* ---- tips */

/* Remembers a tip that was just made, so that the next append need not check it. */
void tip_note(txn *tx, const branch_row *b);
bool tip_is_known(txn *tx, const branch_row *b);

/* ---- commit */

/* What a write has read. It may be cached once the write is committed. */
#define MAX_BRANCHES_SEEN 8
typedef struct branch_seen {
    int64_t past; /* txn.past */
    branch_meta metas[MAX_BRANCHES_SEEN];
    size_t n;
    path_title title;
} branch_seen;
void lineage_keep(struct lineage *l, const branch_seen *seen);

#endif
