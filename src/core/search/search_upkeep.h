/* SPDX-License-Identifier: Apache-2.0
 *
 * search_upkeep.h: the search index as the rest of core sees it.
 */
#ifndef CORE_SEARCH_SEARCH_UPKEEP_H
#define CORE_SEARCH_SEARCH_UPKEEP_H

#include "core/handle.h"

void search_close(ramet *r);
/* Takes purged entries out of the index; gc calls it after the commit. */
void search_forget(ramet *r, int64_t tree, const int64_t *keys, const char *const *texts, size_t n);
int64_t search_mark(ramet *r);  /* the last event it has seen */
int64_t search_bytes(ramet *r); /* on disk, apart from the store's */
void search_release(ramet *r);  /* empties its cache */
int64_t search_needs(ramet *r); /* events from this number on must stay for it */

#endif
