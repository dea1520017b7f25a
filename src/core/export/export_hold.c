/* SPDX-License-Identifier: Apache-2.0
 *
 * Holds in an export: only in one that an administrator makes, who alone can restore them, and only
 * of whole trees, because a part of one becomes another tree.
 */
#include "core/export/export.h"

#include "core/call.h"

#include <string.h>

void export_holds(export_job *j, export_tree *t)
{
    const char *id = t->row[record_column_at(&copy_tables[COPY_T_tree], "id")].bytes;
    if (!j->call->user && strcmp(t->id, id) == 0)
        export_records(j, t, RECORD_HOLD);
}
