/* SPDX-License-Identifier: Apache-2.0
 *
 * version.h: versions of a message.
 */
#ifndef CORE_VIEW_VERSION_H
#define CORE_VIEW_VERSION_H

#include "core/model/branch_note.h"
#include "core/model/path.h"

typedef struct version_row {
    int64_t owner, key, created;
} version_row;
/* The versions at a position of a path, in order of creation. */
void versions_at(txn *tx, const session_access *s, const branch_meta *owner, int64_t pos,
                 version_row **out, size_t *n);

/* The newest of a session's branches, oldest first in `list`, whose path holds an entry and which
 * was not pruned; NULL: none. */
const branch_row *branch_holding(txn *tx, const branch_row *list, size_t n, const note_list *notes,
                                 int log, int64_t owner, int64_t pos);
/* A branch as it is listed; `note` may be NULL. */
void branch_show(txn *tx, const session_brief *s, const branch_row *b, const branch_note *note,
                 ramet_branch *out);
void branch_show_note(const branch_note *note, ramet_branch *out);

#endif
