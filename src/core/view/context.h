/* SPDX-License-Identifier: Apache-2.0
 *
 * context.h: the context view of a path: what its overlays leave of it.
 *
 * A caller reads a path in spans: context_span() says which positions are worth reading, and
 * context_filter() drops what is hidden of the entries that were read, and replaces what is
 * replaced. Without overlays there is nothing to do (`set` is NULL).
 */
#ifndef CORE_VIEW_CONTEXT_H
#define CORE_VIEW_CONTEXT_H

#include "core/view/overlay_set.h"
#include "core/model/path.h"

typedef struct context {
    overlay_set *set; /* NULL: the view is the record */
    const branch_row *head;
    int64_t from; /* everything before this position is hidden */
} context;

/* `head` must outlive it. A failure is sticky in the database. */
void context_open(txn *tx, const branch_row *head, context *out);
void context_close(context *c);

/* A span of [lo, hi) with about `wanted` entries that are shown, from its start or (`back`) from
 * its end; *from == *to: there are none. Everything between it and that end of [lo, hi) is hidden.
 */
void context_span(txn *tx, const context *c, int64_t lo, int64_t hi, size_t wanted, bool back,
                  int64_t *from, int64_t *to);
/* Whether something of [lo, hi) is shown, as far as that is known without reading it. */
bool context_shows(txn *tx, const context *c, int64_t lo, int64_t hi);
/* Of n entries, which follow each other on the path, those that are shown move to the front. How
 * many there are. New texts are in `into`. No statement may be open. */
size_t context_filter(txn *tx, const context *c, ramet_entry *list, size_t n, arena *into);

#endif
