/* SPDX-License-Identifier: Apache-2.0
 *
 * search_upkeep.h: the search index as seen by the rest of core.
 */
#ifndef CORE_SEARCH_SEARCH_UPKEEP_H
#define CORE_SEARCH_SEARCH_UPKEEP_H

#include "core/handle.h"

void search_close(ramet *r);
/* Removes purged entries from the index; gc calls it after the commit. */
void search_forget(ramet *r, int64_t tree, const int64_t *keys, const char *const *texts, size_t n);
/* After entries were erased: makes sure that the index holds nothing of them. An index in a file is
 * made anew, without the old pages; one in the same database only when `whole`. */
ramet_status search_scrub(ramet_call *c, bool whole);
int64_t search_mark(ramet *r);  /* the last event indexed */
int64_t search_bytes(ramet *r); /* on disk, apart from the store's */
void search_release(ramet *r);  /* empties its cache */
int64_t search_needs(ramet *r); /* events from this number on must not be removed */

#endif
