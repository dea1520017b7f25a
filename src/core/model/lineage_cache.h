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

/* The first words of the paths through the entry at `pos` of a branch without parent. */
typedef struct root_words {
    int64_t tree, branch, pos;
    const char *text; /* NULL: none */
} root_words;

/* What a write has read; it may be cached once the write is committed. */
#define MAX_BRANCHES_SEEN 8
typedef struct branch_seen {
    int64_t past; /* txn.past */
    branch_meta metas[MAX_BRANCHES_SEEN];
    size_t n;
    root_words words;
} branch_seen;
void lineage_keep(struct lineage *l, const branch_seen *seen);
/* The words that a path is named after: those of the entry at `pos`. NULL: not cached. */
const char *words_get(txn *tx, const branch_row *head);
void words_put(txn *tx, const branch_row *head, int64_t pos, const char *text);
/* The last delta of the branch that owns the entry at k, up to that entry; false: not cached. */
bool end_delta(txn *tx, int64_t tree, int64_t k, int64_t *delta);
void end_fold(txn *tx, int64_t tree, int64_t k, int64_t delta);

#endif
