/* SPDX-License-Identifier: Apache-2.0
 *
 * word_diff.h: the difference of two texts, word by word.
 */
#ifndef CLI_WORD_DIFF_H
#define CLI_WORD_DIFF_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum { WORDS_SAME, WORDS_GONE, WORDS_NEW } words_kind;

/* A span of text: of `a` if deleted, of `b` if inserted or equal. */
typedef struct words_span {
    words_kind kind;
    const char *text;
    size_t n;
} words_span;

typedef struct words_diff {
    words_span *spans;
    size_t n;
    double alike; /* 0 … 1: the fraction of both texts that is equal */
} words_diff;

/* The spans point into a and b. O((|a|+|b|) * difference), the difference bounded: texts with
 * little in common come out as one deletion and one insertion. */
words_diff words_compare(arena *mem, const char *a, const char *b);

#endif
