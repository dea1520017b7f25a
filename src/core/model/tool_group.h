/* SPDX-License-Identifier: Apache-2.0
 *
 * tool_group.h: entries that must not be parted: tool calls and their results.
 */
#ifndef CORE_MODEL_TOOL_GROUP_H
#define CORE_MODEL_TOOL_GROUP_H

#include "core/model/path.h"

/* The positions on a path that belong together with `pos`, which is one of them, in order: the
 * results of its tool calls, the calls of its results, and so on. Looks at TOOL_WINDOW entries to
 * either side. */
#define TOOL_WINDOW 2000
void tool_group(txn *tx, const branch_row *head, int64_t pos, int64_t **out, size_t *n);

#endif
