/* SPDX-License-Identifier: Apache-2.0
 *
 * search.h: what the files of the search share.
 *
 *   search.c        the open index, the public calls
 *   search_follow.c brings the index up to the store's last commit
 *   search_query.c  what the caller typed, as an expression; cursors
 *   search_find.c   matches, ranked, that the caller may see
 */
#ifndef CORE_SEARCH_H
#define CORE_SEARCH_H

#include "core/core.h"
#include "store/fts.h"

#include <pthread.h>

#define SPAN_BITS 10 /* documents in a block of the time table: 1 << SPAN_BITS */
#define SCOPE_WORDS 64 /* alternatives that a filter may have and still go into the expression */

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

/* ---- search_find.c */

ramet_status find_page(ramet_call *c, fts *f, const ramet_search_in *in, query *q, ramet_hits *out);

#endif
