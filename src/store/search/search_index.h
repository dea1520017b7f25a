/* SPDX-License-Identifier: Apache-2.0
 *
 * search_index.h: the search index of a store: what core asks of it, and the two that there are.
 *
 *   store/sqlite/file_index.c  SQLite: a file of its own beside the store (FTS5)
 *   store/postgres/fulltext.c  PostgreSQL: tables of the store's own database (tsvector, GIN)
 *   store/search/query_text.c  the words of queries, and snippets, for both
 *
 * Everything in it comes from the store and can be made anew. Documents have numbers in order of
 * indexing; a higher number is newer. A document has its words and, apart from them, words for
 * what it belongs to (t12: tree 12, s34: session 34, r1: role 1, u5: trees of owner 5), so that a
 * filter is an intersection of lists.
 *
 * The texts themselves are not kept; the store has them.
 *
 * An `fts` belongs to one thread at a time.
 */
#ifndef STORE_SEARCH_SEARCH_INDEX_H
#define STORE_SEARCH_SEARCH_INDEX_H

#include "store/db.h"

#define FTS_PRINT 192
#define FTS_SPAN_BITS 10 /* documents in a block of the time table: 1 << FTS_SPAN_BITS */

typedef struct fts fts;

/* Opens the file of an index, and makes it when cfg->create says so. A file that is damaged, or no
 * index, is emptied. On failure *out is NULL. */
ramet_status fts_open(const db_config *cfg, fts **out, char *message);
/* The index in the database that `d` is connected to; `d` must outlive it. */
ramet_status fts_over(db *d, fts **out, char *message);
void fts_close(fts *f);
/* The connection: for read transactions, commit, rollback and status. */
db *fts_db(fts *f);
/* Begins a write: one at a time, on any node. */
ramet_status fts_begin_write(fts *f);
/* Empties it, also when it is damaged; outside a transaction. */
ramet_status fts_reset(fts *f);

/* ---- how far it has come; inside a transaction */

typedef struct fts_state {
    int64_t mark; /* the last event seen */
    int64_t done; /* entries of the next one that are indexed already */
    int64_t scan_tree,
        scan;              /* the last entry looked at when all are gone through; 0: they are not */
    int64_t bytes;         /* of all texts that were indexed */
    int64_t top;           /* number of the newest document */
    char print[FTS_PRINT]; /* what the event `mark` was */
} fts_state;

void fts_state_get(fts *f, fts_state *s);
void fts_state_set(fts *f, const fts_state *s);
/* Takes everything out, and sets the state to nothing. */
void fts_clear(fts *f);

/* ---- documents; inside a write */

typedef struct fts_doc {
    int64_t no, key, tree, session, created;
    int role;
    double score;
    bool unsure; /* only the text tells whether it matches: fts_text_fits() */
} fts_doc;

/* `given` is one more text that it is found by (may be NULL). False when it was there already. */
bool fts_add(fts *f, arena *tmp, const fts_doc *d, int64_t owner, const char *text,
             const char *given);
/* Both texts of a document in one. */
const char *fts_whole(arena *a, const char *text, const char *given);
/* `text` is what was added; what was given with it is known. */
void fts_forget(fts *f, arena *tmp, int64_t tree, int64_t k, const char *text);
/* When the documents of a block were created. */
void fts_span_add(fts *f, int64_t block, int64_t lo, int64_t hi);
/* The number that stands for an owner; 0: there is none. */
int64_t fts_owner(fts *f, const char *name, bool make);
/* Who owned a tree when it was first indexed; 0: it is not known. */
int64_t fts_tree_owner(fts *f, int64_t tree);
void fts_tree_add(fts *f, int64_t tree, int64_t owner);

/* After the commit of the documents (from, upto]: what the index has to do for itself now and then.
 */
void fts_tidy(fts *f, int64_t from, int64_t upto);

/* ---- words */

typedef struct fts_token {
    const char *text;
    size_t len;
} fts_token;

/* A word or phrase of a query, folded and cut into words as the index does it. */
typedef struct fts_term {
    const char *text;
    bool prefix;  /* the last word is a beginning */
    bool without; /* must not occur */
    fts_token *tokens;
    size_t n;
} fts_term;

/* Fills in the tokens of a term. */
void fts_term_cut(fts *f, arena *a, fts_term *t);
/* Whether a text has every term to find and none of those that must not occur. */
bool fts_text_fits(fts *f, const char *text, const fts_term *terms, size_t n);

typedef struct fts_snippet {
    const char *text;
    ramet_mark *marks;
    size_t n_marks;
} fts_snippet;

/* The part of a text where the most of the terms are, on one line. */
fts_snippet fts_snippet_make(fts *f, arena *a, const char *text, const fts_term *terms, size_t n);

/* ---- finding */

/* Alternatives of one filter, as words of what a document belongs to. */
typedef struct fts_scope {
    char letter;
    const int64_t *numbers;
    size_t n;
    char letter2; /* 0, or one more word */
    int64_t number2;
} fts_scope;

typedef bool (*fts_pass)(void *arg, const fts_doc *d); /* `no`, role and score are not known yet */

/* What is looked for, and how it is ranked (BM25). */
typedef struct fts_want {
    const fts_term *terms; /* those to find first, then those that must not occur */
    size_t n, n_find;
    const fts_scope *scopes; /* those without alternatives do not count */
    size_t n_scopes;
    int64_t top;    /* documents up to this number count in ranking */
    double average; /* bytes of a document, > 0 */
    size_t enough;  /* about how many the caller will take */
    fts_pass pass;  /* NULL: everything passes */
    void *arg;
    arena *arena;           /* until the end of the search */
    const char *expression; /* NULL at first; the index' own */
    double *weights;        /* the same */
} fts_want;

/* Among how many matches, the newest, it is reasonable to rank: `max`. A phrase is looked for
 * document by document: there `enough` suffice, when they came from more than `span` of them. */
typedef struct fts_window {
    size_t max, enough;
    int64_t span;
} fts_window;
const fts_window *fts_window_of(const fts *f);
/* Begins to look among the documents [low, high], newest first; fts_next() until it is false, or
 * fts_end(). What `pass` refuses does not come. */
void fts_find(fts *f, fts_want *w, int64_t low, int64_t high);
bool fts_next(fts *f, fts_doc *d);
void fts_end(fts *f);

#endif
