/* SPDX-License-Identifier: Apache-2.0
 *
 * search.h: what the files of the search share.
 *
 *   search.c        the public calls
 *   search_file.c   where the index is a file of its own: when it is opened, and used by whom
 *   search_tables.c the same where it is in the store's own database
 *   core/search/search_indexer.c brings the index up to the store's last commit
 *   search_query.c  what the caller typed, as terms; cursors
 *   core/search/search_access.c    who may see a match, and in which session
 *   search_find.c   matches, ranked, a page at a time
 *
 * The index itself is behind store/search/search_index.h.
 */
#ifndef CORE_SEARCH_SEARCH_H
#define CORE_SEARCH_SEARCH_H

#include "core/model/branch.h"
#include "core/model/branch_note.h"
#include "core/txn.h"
#include "store/search/search_index.h"

#include <pthread.h>

#define SCOPE_WORDS                                                                                \
    512 /* alternatives that a filter may have and still go into the index' scopes */

struct search {
    pthread_mutex_t lock; /* file: one search or one step of indexing at a time; else the latter */
    fts *index;           /* NULL until it is used */
    bool no_room;         /* opened for reading only: to be tried again at the next use */
    db *db;               /* its connection, where it does not own that */
};
/* Locked; made on first use. */
struct search *search_lock(ramet *r);
void search_unlock(struct search *s);

/* The text of an entry as it is indexed: the beginning of a very long one. */
const char *search_text(arena *a, const char *text);
/* Where the words of a store are kept, and how they are found. */
typedef struct query query;
typedef struct search_engine {
    /* Finds what matches, with everything that was committed by now. */
    ramet_status (*find)(ramet_call *c, const ramet_search_in *in, int limit, const query *q,
                         ramet_hits *out);
    ramet_status (*update)(ramet_call *c, bool rebuild, int64_t *indexed);
    void (*forget)(ramet *r, int64_t tree, const int64_t *keys, const char *const *texts, size_t n);
    int64_t (*mark)(ramet *r);  /* last event it has seen */
    int64_t (*bytes)(ramet *r); /* on disk, apart from the store's */
    int64_t (*needs)(ramet *r); /* events from this number on have to stay */
    void (*release)(ramet *r);  /* empties its cache; NULL: it has none */
} search_engine;
extern const search_engine search_in_file, search_in_tables;

/* Says that the index failed. */
ramet_status index_fail(ramet_call *c, fts *f);

/* ---- core/search/search_indexer.c */

/* Indexes everything committed by now. *indexed grows by the entries. */
ramet_status follow_all(ramet_call *c, fts *f, int64_t *indexed);
/* Whether nothing was committed behind what is indexed; f is on x's own snapshot. */
bool follow_fresh(txn *tx, fts *f);
/* Empties the index, so that the next follow_all() fills it anew. */
ramet_status follow_restart(ramet_call *c, fts *f);
int64_t follow_mark(fts *f); /* inside a transaction */
/* Takes entries out of the index that were purged. */
void follow_forget(fts *f, int64_t tree, const int64_t *keys, const char *const *texts, size_t n);

/* ---- search_query.c */

struct query {
    fts_term *terms; /* those to find first, then those that must not occur */
    size_t n, n_find;
};

ramet_status query_parse(ramet_call *c, const char *text, query *q);
/* Cuts the terms into words and drops those without any. */
ramet_status query_cut(ramet_call *c, fts *f, query *q);

/* Where the next page goes on: among the documents up to `high`, behind (score, no). */
typedef struct search_cursor {
    int64_t top, high, no;
    double score, average;
} search_cursor;
const char *search_cursor_text(ramet_call *c, const ramet_search_in *in, const search_cursor *p);
ramet_status search_cursor_parse(ramet_call *c, const ramet_search_in *in, search_cursor *p);

/* ---- core/search/search_access.c: in which session a hit is shown */

typedef struct map {
    int64_t *keys; /* 0: free */
    void **values;
    size_t n, cap;
} map;
void *map_get(const map *m, int64_t key);
void map_put(arena *a, map *m, int64_t key, void *value);

/* A session that was looked at. */
typedef struct seen {
    int64_t no, tree;
    bool open; /* living, and the caller may see it */
    bool fits; /* has the tag and agent that were asked for */
    int64_t head_id;
    const branch_row *head; /* loaded when needed */
    const char *id, *title; /* the same */
    note_list *notes;       /* the same */
} seen;

typedef struct finder {
    ramet_call *call;
    const ramet_search_in *in;
    const query *query;
    txn tx; /* reading */
    fts *index;
    arena *keep; /* until the end of the search */
    arena *tmp;  /* for one item */
    const char *tag;
    seen *only; /* the one session that was asked for */
    map sessions, heirs;
    map reach;  /* only: entries of each branch that it holds */
    bool check; /* the scopes do not say all: look at each match */
    bool none;  /* nothing can match */
    const fts_scope *scopes;
    size_t n_scopes;
    int64_t low, top_high;
} finder;

/* The filters as scopes, and what has to be looked at besides. */
ramet_status see_begin(finder *f);
/* Whether a match is one to rank. */
bool see_pass(void *arg, const fts_doc *d);
/* The session to show a match in; NULL when there is none. */
seen *see_session(finder *f, const fts_doc *d);
/* Whether a match is on the present path of a session. */
bool see_on_path(finder *f, seen *s, int64_t k);
/* Fills in id and title; false when the session is not there any more. */
bool see_names(finder *f, seen *s);

/* ---- search_find.c */

/* c, in, q, tx and f are set. */
ramet_status find_page(finder *f, int limit, ramet_hits *out);

#endif
