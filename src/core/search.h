/* SPDX-License-Identifier: Apache-2.0
 *
 * search.h: what the files of the search share.
 *
 *   search.c        the open index, the public calls
 *   search_follow.c brings the index up to the store's last commit
 *   search_query.c  what the caller typed, as an expression; cursors
 *   search_see.c    who may see a match, and in which session
 *   search_find.c   matches, ranked, a page at a time
 */
#ifndef CORE_SEARCH_H
#define CORE_SEARCH_H

#include "core/core.h"
#include "store/fts.h"

#include <pthread.h>

#define SPAN_BITS 10    /* documents in a block of the time table: 1 << SPAN_BITS */
#define SCOPE_WORDS 512 /* alternatives that a filter may have and still go into the expression */

struct search {
    pthread_mutex_t lock; /* one search or one step of indexing at a time */
    fts *f;               /* NULL until it is used */
};

/* The text of an entry as it is indexed: the beginning of a very long one. */
const char *search_text(arena *a, const char *text);
/* Words of the scope column of a document. */
const char *search_scope(arena *a, int64_t tree, int64_t session, int role, int64_t owner);

/* Says that the index failed. */
ramet_status index_fail(ramet_call *c, fts *f);

/* ---- search_follow.c */

/* Indexes everything committed by now. *indexed grows by the entries. */
ramet_status follow_all(ramet_call *c, fts *f, int64_t *indexed);
/* Empties the index, so that the next follow_all() fills it anew. */
ramet_status follow_restart(ramet_call *c, fts *f);
int64_t follow_mark(fts *f);
int64_t follow_bytes(fts *f); /* of all texts that were indexed; inside a transaction */

/* ---- search_query.c */

typedef struct query {
    fts_term *terms; /* those to find first, then those that must not occur */
    size_t n, n_find;
} query;

ramet_status query_parse(ramet_call *c, const char *text, query *q);
/* Cuts the terms into words and drops those without any. */
ramet_status query_cut(ramet_call *c, fts *f, query *q);

/* Alternatives of one filter, as words of the scope column. */
typedef struct scope_group {
    char letter;
    const int64_t *numbers;
    size_t n;
    char letter2; /* 0, or one more word */
    int64_t number2;
} scope_group;
/* The whole expression; groups without alternatives are left out. */
const char *query_expression(arena *a, const query *q, const scope_group *groups, size_t n);

/* Where the next page goes on: among the documents up to `high`, behind (score, no). */
typedef struct place {
    int64_t top, high, no;
    double score, average;
} place;
const char *place_text(ramet_call *c, const ramet_search_in *in, const place *p);
ramet_status place_parse(ramet_call *c, const ramet_search_in *in, place *p);

/* ---- search_see.c: in which session a hit is shown */

typedef struct map {
    int64_t *keys; /* 0: free */
    void **values;
    size_t n, cap;
} map;

/* A session that was looked at. */
typedef struct seen {
    int64_t no, tree;
    bool open; /* living, and the caller may see it */
    bool fits; /* has the tag and agent that were asked for */
    int64_t head_id;
    const branch_row *head; /* loaded when needed */
    const char *id, *title; /* the same */
} seen;

typedef struct finder {
    ramet_call *c;
    const ramet_search_in *in;
    const query *q;
    cx x;
    db *d; /* the index */
    fts *f;
    arena *keep; /* until the end of the search */
    arena *tmp;  /* for one item */
    const char *tag;
    seen *only; /* the one session that was asked for */
    map sessions, heirs;
    map reach;  /* only: entries of each branch that it holds */
    bool check; /* the expression does not say all: look at each match */
    bool none;  /* nothing can match */
    const char *expression;
    int64_t low, top_high;
} finder;

/* The filters as an expression, and what has to be looked at besides. */
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

ramet_status find_page(ramet_call *c, fts *f, const ramet_search_in *in, int limit, const query *q,
                       ramet_hits *out);

#endif
