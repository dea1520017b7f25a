/* SPDX-License-Identifier: Apache-2.0
 *
 * story.h: everything that a store tells through its public reads, as text, read by
 * read, so that two stores (or one store before and after a mishap) can be compared.
 */
#ifndef FAULT_STORY_H
#define FAULT_STORY_H

#include "help.h"

/* How much a difference matters. */
typedef enum {
    STORY_HISTORY, /* entries on a path: must never differ without an error */
    STORY_DERIVED, /* follows from them: state, sums, moves, lineage */
    STORY_LABEL,   /* titles, tags, times, links, tokens: nothing guards them */
    STORY_SEALED   /* whether it is right is known only to who has the key: fsck cannot tell */
} story_tier;

typedef struct story_item {
    story_tier tier;
    ramet_status status; /* not OK: the read failed, text is its error */
    char *key;           /* which read */
    char *text;          /* its answer */
} story_item;

/* The reads to make about one session. */
typedef struct story_ask {
    char *session;
    int64_t *branches;
    size_t n_branches;
    char **entries; /* ids on its path */
    size_t n_entries;
} story_ask;

typedef struct story {
    story_item *items;
    size_t n, cap;
    story_ask *asks;
    size_t n_asks;
} story;

/* Reads the store. `like` NULL: asks about every session that it lists; else asks again
 * what `like` asked. `full` makes many more kinds of reads. Branch numbers are left out
 * unless full: two stores may have the same story with other numbers. */
story *story_take(ramet *r, const story *like, bool full);
/* Adds a read of any kind: `read` writes its answer to a file in memory. */
typedef ramet_status story_read(ramet_call *c, void *arg, FILE *out);
void story_add(story *s, ramet_call *c, story_tier tier, const char *key, story_read *read,
               void *arg);
void story_free(story *s);

/* The first item that differs (an item that is missing differs); NULL when none does.
 * *other is its counterpart in b or NULL. */
const story_item *story_differs(const story *a, const story *b, const story_item **other);
/* Reports through wrong() how `got` differs from `wanted`; true when it does not. */
bool story_same(const story *wanted, const story *got, const char *when);
/* A few words on where two texts part; static buffer. */
const char *text_parting(const char *wanted, const char *got);

#endif
