/* SPDX-License-Identifier: Apache-2.0
 *
 * search.h: what the files of the search share.
 *
 *   search.c          the public calls
 *   search_file.c     an index in a file of its own: opening it, and searching in it
 *   search_tables.c   the same for an index in the store's own database
 *   search_indexer.c  brings the index up to the store's last commit
 *   search_query.c    parses what the caller typed into terms; cursors
 *   search_access.c   which matches the caller may see, and in which session
 *   search_find.c     matches, ranked, a page at a time
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

#define MAX_SCOPE_NUMBERS                                                                          \
    512 /* most alternatives of a filter that the index checks itself, as a scope                  \
         */

struct search {
    pthread_mutex_t lock; /* one step of indexing at a time; in a file: or one search */
    fts *index;           /* NULL until it is used */
    bool no_room;         /* opened read-only because the disk is full: try again at the next use */
    db *db;               /* its connection, unless the index owns it */
};
/* Returns it locked; creates it on first use. */
struct search *search_lock(ramet *r);
void search_unlock(struct search *s);

/* The text of an entry as it is indexed: a very long one is truncated. */
const char *search_text(arena *a, const char *text);
/* Where the index of a store is, and how to search it. */
typedef struct query query;
typedef struct search_engine {
    /* Searches everything committed by now. */
    ramet_status (*find)(ramet_call *c, const ramet_search_in *in, int limit, const query *q,
                         ramet_hits *out);
    ramet_status (*update)(ramet_call *c, bool rebuild, int64_t *indexed);
    void (*forget)(ramet *r, int64_t tree, const int64_t *keys, const char *const *texts, size_t n);
    int64_t (*mark)(ramet *r);  /* the last event indexed */
    int64_t (*bytes)(ramet *r); /* on disk, apart from the store's */
    int64_t (*needs)(ramet *r); /* events from this number on must not be removed */
    ramet_status (*scrub)(ramet_call *c, bool whole); /* search_scrub() */
    void (*release)(ramet *r);                        /* empties its cache; NULL: it has none */
} search_engine;
extern const search_engine search_in_file, search_in_tables;

/* Reports a failure of the index. */
ramet_status index_fail(ramet_call *c, fts *f);

/* ---- core/search/search_indexer.c */

/* Indexes everything committed by now. *indexed grows by the entries. */
ramet_status follow_all(ramet_call *c, fts *f, int64_t *indexed);
/* Whether everything committed is indexed; f must be on the snapshot of tx. */
bool follow_fresh(txn *tx, fts *f);
/* Empties the index, so that the next follow_all() rebuilds it. */
ramet_status follow_restart(ramet_call *c, fts *f);
int64_t follow_mark(fts *f); /* inside a transaction */
/* Removes purged entries from the index. */
void follow_forget(fts *f, int64_t tree, const int64_t *keys, const char *const *texts, size_t n);

/* ---- search_query.c */

struct query {
    fts_term *terms; /* terms to find, then terms that must not occur */
    size_t n, n_find;
};

ramet_status query_parse(ramet_call *c, const char *text, query *q);
/* Splits the terms into words and drops those without any. */
ramet_status query_cut(ramet_call *c, fts *f, query *q);

/* Where the next page continues: among the documents up to `high`, after (score, no). */
typedef struct search_cursor {
    int64_t top, high, no;
    double score, average;
} search_cursor;
const char *search_cursor_text(ramet_call *c, const ramet_search_in *in, const search_cursor *p);
ramet_status search_cursor_parse(ramet_call *c, const ramet_search_in *in, search_cursor *p);

/* ---- core/search/search_access.c: in which session a match is shown */

typedef struct map {
    int64_t *keys; /* 0: empty */
    void **values;
    size_t n, cap;
} map;
void *map_get(const map *m, int64_t key);
void map_put(arena *a, map *m, int64_t key, void *value);

/* A session that was examined. */
typedef struct seen {
    int64_t no, tree;
    bool open; /* not gone, and visible to the caller */
    bool fits; /* has the requested tag and agent */
    int64_t head_id, first_id;
    const branch_row *head; /* loaded when needed */
    const char *id, *title; /* also loaded when needed */
    note_list *notes;       /* also loaded when needed */
} seen;

typedef struct finder {
    ramet_call *call;
    const ramet_search_in *in;
    const query *query;
    txn tx; /* reading */
    fts *index;
    arena *keep; /* lives until the end of the search */
    arena *tmp;  /* for one item */
    const char *tag;
    seen *only; /* the one session that was requested */
    map sessions, heirs;
    map reach;  /* only: how many entries of each branch it holds */
    bool check; /* the scopes do not decide everything: check each match */
    bool none;  /* nothing can match */
    const fts_scope *scopes;
    size_t n_scopes;
    int64_t low, top_high;
} finder;

/* Converts the filters to scopes, and determines what has to be checked besides. */
ramet_status see_begin(finder *f);
/* Whether a match is to be ranked. */
bool see_pass(void *arg, const fts_doc *d);
/* The session to show a match in; NULL when there is none. */
seen *see_session(finder *f, const fts_doc *d);
/* Whether a match is on the present path of a session. */
bool see_on_path(finder *f, seen *s, int64_t k);
/* Fills in id and title; false when the session no longer exists. */
bool see_names(finder *f, seen *s);
/* The text of an entry as that session shows it, in f->tmp (core/model/fill.h). */
const char *see_shown(finder *f, seen *s, int64_t k, const char *text);

/* ---- search_find.c */

/* call, in, query, tx and index must be set. */
ramet_status find_page(finder *f, int limit, ramet_hits *out);

#endif
