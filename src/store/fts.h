/* SPDX-License-Identifier: Apache-2.0
 *
 * fts.h: the search index, an SQLite file of its own beside the store.
 *
 * Everything in it comes from the store and can be made anew, so a file that is
 * damaged, or not an index, is emptied. Documents have numbers in order of
 * indexing; a higher number is newer. A document has its words and, in a column
 * of its own, words for what it belongs to (t12: tree 12, s34: session 34, r1:
 * role 1, u5: trees of owner 5), so that a filter is an intersection of lists.
 *
 * The words themselves are not kept as text. Who wants them back asks the store.
 *
 * An `fts` belongs to one thread at a time.
 */
#ifndef STORE_FTS_H
#define STORE_FTS_H

#include "store/db.h"

typedef struct fts fts;

/* Opens the index, and makes it when cfg->create says so. On failure *out is NULL. */
ramet_status fts_open(const db_config *cfg, fts **out, char *message);
void fts_close(fts *f);
/* The connection for the statements named fts_ and for transactions. */
db *fts_db(fts *f);
/* Empties it, also when it is damaged; outside a transaction. */
ramet_status fts_reset(fts *f);

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

typedef struct fts_snippet {
    const char *text;
    ramet_mark *marks;
    size_t n_marks;
} fts_snippet;

/* The part of a text where the most of the terms are, on one line. */
fts_snippet fts_snippet_make(fts *f, arena *a, const char *text, const fts_term *terms, size_t n);

/* ---- ranking */

typedef struct fts_doc {
    int64_t no, k, tree, session, created;
    int role;
    double score;
} fts_doc;

typedef bool (*fts_pass)(void *arg, const fts_doc *d); /* `no`, role and score are not known yet */

/* How the next Q_fts_find ranks (BM25). The first n phrases of its expression count. */
typedef struct fts_rank {
    const fts_term *terms;
    size_t n;
    int64_t top;    /* documents up to this number count */
    double average; /* bytes of a document, > 0 */
    fts_pass pass;  /* NULL: everything passes */
    void *arg;
    double *weights; /* NULL at first; made on the first row */
    arena *a;
} fts_rank;
void fts_rank_set(fts *f, fts_rank *r);

#endif
