/* SPDX-License-Identifier: Apache-2.0
 *
 * search_index.h: the search index of a store, with two implementations.
 *
 *   store/sqlite/file_index.c  SQLite: a file of its own beside the store (FTS5)
 *   store/postgres/fulltext.c  PostgreSQL: tables of the store's own database (tsvector, GIN)
 *   store/search/query_text.c  matching in texts, and snippets, for both
 *
 * Everything in it comes from the store and can be rebuilt. Documents have numbers in order of
 * indexing; a higher number is newer. A document has its words and, apart from them, words for its
 * scopes (t12: tree 12, s34: session 34, r1: role 1, u5: trees of owner 5), so that a filter is an
 * intersection of lists.
 *
 * The texts themselves are not stored here; the store has them.
 *
 * An `fts` belongs to one thread at a time.
 */
#ifndef STORE_SEARCH_SEARCH_INDEX_H
#define STORE_SEARCH_SEARCH_INDEX_H

#include "store/db.h"

#define FTS_PRINT 192
#define FTS_SPAN_BITS 10 /* documents in a block of the time table: 1 << FTS_SPAN_BITS */

typedef struct fts fts;

/* Opens the file of an index, and creates it if cfg->create. A file that is damaged, or not an
 * index, is emptied. On failure *out is NULL. */
ramet_status fts_open(const db_config *cfg, fts **out, char *message);
/* The index in the database that `d` is connected to; `d` must outlive it. */
ramet_status fts_over(db *d, fts **out, char *message);
void fts_close(fts *f);
/* The connection: for read transactions, commit, rollback and status. */
db *fts_db(fts *f);
/* Begins a write: one at a time, on any node. */
ramet_status fts_begin_write(fts *f);
/* Empties it, even when it is damaged; outside a transaction. */
ramet_status fts_reset(fts *f);

/* ---- how far indexing has come; inside a transaction */

typedef struct fts_state {
    int64_t mark; /* the last event indexed */
    int64_t done; /* entries of the next event that are indexed already */
    int64_t scan_tree,
        scan;      /* the last entry of a scan over all entries; 0: no scan is in progress */
    int64_t bytes; /* of all indexed texts */
    int64_t top;   /* number of the newest document */
    char print[FTS_PRINT]; /* a fingerprint of the event `mark` */
} fts_state;

void fts_state_get(fts *f, fts_state *s);
void fts_state_set(fts *f, const fts_state *s);
/* Removes everything, and resets the state. */
void fts_clear(fts *f);

/* ---- documents; inside a write */

typedef struct fts_doc {
    int64_t no, key, tree, session, created;
    int role;
    double score;
    bool unsure; /* only the text can decide whether it matches: fts_text_fits() */
} fts_doc;

/* `given` is another text that it is found by (may be NULL). False when it was indexed already. */
bool fts_add(fts *f, arena *tmp, const fts_doc *d, int64_t owner, const char *text,
             const char *given);
/* Joins both texts of a document. */
const char *fts_whole(arena *a, const char *text, const char *given);
/* `text` is what was added; the index itself knows the text given with it. */
void fts_forget(fts *f, arena *tmp, int64_t tree, int64_t k, const char *text);
/* Records when the documents of a block were created. */
void fts_span_add(fts *f, int64_t block, int64_t lo, int64_t hi);
/* The number of an owner; 0: there is none. */
int64_t fts_owner(fts *f, const char *name, bool make);
/* The owner of a tree when it was first indexed; 0: unknown. */
int64_t fts_tree_owner(fts *f, int64_t tree);
void fts_tree_add(fts *f, int64_t tree, int64_t owner);

/* Called after the commit of the documents (from, upto]: periodic maintenance of the index. */
void fts_tidy(fts *f, int64_t from, int64_t upto);

/* ---- words */

typedef struct fts_token {
    const char *text;
    size_t len;
} fts_token;

/* A word or phrase of a query, folded and split into words like the index does. */
typedef struct fts_term {
    const char *text;
    bool prefix;  /* the last word is a prefix */
    bool without; /* must not occur */
    fts_token *tokens;
    size_t n;
} fts_term;

/* Splits a term into its tokens. */
void fts_term_cut(fts *f, arena *a, fts_term *t);
/* Whether a text contains every term to find and none of those that must not occur. */
bool fts_text_fits(fts *f, const char *text, const fts_term *terms, size_t n);

typedef struct fts_snippet {
    const char *text;
    ramet_mark *marks;
    size_t n_marks;
} fts_snippet;

/* The part of a text with the most terms, on one line. */
fts_snippet fts_snippet_make(fts *f, arena *a, const char *text, const fts_term *terms, size_t n);

/* ---- finding */

/* Alternatives of one filter, as scope words. */
typedef struct fts_scope {
    char letter;
    const int64_t *numbers;
    size_t n;
    char letter2; /* 0, or another word */
    int64_t number2;
} fts_scope;

typedef bool (*fts_pass)(void *arg, const fts_doc *d); /* `no`, role and score are not set yet */

/* A search, and how its matches are ranked (BM25). */
typedef struct fts_want {
    const fts_term *terms; /* terms to find, then terms that must not occur */
    size_t n, n_find;
    const fts_scope *scopes; /* those without alternatives do not count */
    size_t n_scopes;
    int64_t top;    /* documents up to this number count in ranking */
    double average; /* bytes of a document, > 0 */
    size_t enough;  /* about how many the caller needs */
    fts_pass pass;  /* NULL: everything passes */
    void *arg;
    arena *arena;           /* lives until the end of the search */
    const char *expression; /* initially NULL; private to the index */
    double *weights;        /* likewise */
} fts_want;

/* How many of the newest matches it is reasonable to rank: `most`. A phrase is searched document by
 * document: there `enough` suffice, when they came from more than `span` documents. */
typedef struct fts_window {
    size_t max, enough;
    int64_t span;
} fts_window;
const fts_window *fts_window_of(const fts *f);
/* Begins a search among the documents [low, high], newest first; call fts_next() until it returns
 * false, or fts_end(). Documents that `pass` rejects are skipped. */
void fts_find(fts *f, fts_want *w, int64_t low, int64_t high);
bool fts_next(fts *f, fts_doc *d);
void fts_end(fts *f);

#endif
