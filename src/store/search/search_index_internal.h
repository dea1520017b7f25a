/* SPDX-License-Identifier: Apache-2.0
 *
 * search_index_internal.h: the interface that an index implements for store/search/search_index.h.
 * Only files of store/ include it.
 */
#ifndef STORE_SEARCH_SEARCH_INDEX_INTERNAL_H
#define STORE_SEARCH_SEARCH_INDEX_INTERNAL_H

#include "store/search/tokenizer.h"
#include "store/search/search_index.h"

#define BM25_K 1.2
#define BM25_B 0.75

typedef struct fts_kind {
    fts_window window;
    void (*close)(fts *f);
    ramet_status (*begin_write)(fts *f);
    ramet_status (*reset)(fts *f);
    void (*clear)(fts *f); /* everything except the state */
    bool (*add)(fts *f, arena *tmp, const fts_doc *d, int64_t owner, const char *text,
                const char *given);
    void (*forget)(fts *f, arena *tmp, int64_t tree, int64_t k, const char *text);
    int64_t (*owner)(fts *f, const char *name, bool make);
    void (*tidy)(fts *f, int64_t from, int64_t upto); /* NULL: nothing to do */
    void (*find)(fts *f, fts_want *w, int64_t low, int64_t high);
    bool (*next)(fts *f, fts_doc *d);
    void (*end)(fts *f);
} fts_kind;

struct fts {
    const fts_kind *kind;
    db *db;
    tokenizer *cut;
};

#endif
