/* SPDX-License-Identifier: Apache-2.0
 *
 * version.h: versions of a message.
 */
#ifndef CORE_MODEL_VERSION_H
#define CORE_MODEL_VERSION_H

#include "core/model/path.h"

typedef struct version_row {
    int64_t owner, key, created;
} version_row;
/* The versions at a position of a path, in order of creation. */
void versions_at(txn *tx, const session_access *s, const branch_meta *owner, int64_t pos,
                 version_row **out, size_t *n);

#endif
