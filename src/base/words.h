/* SPDX-License-Identifier: Apache-2.0
 *
 * words.h: lists of words in one text, like "asc|desc" or "keep-alive, close".
 *
 * `separators` are the characters between words; any number of them may stand together, and at
 * either end. So no word is empty.
 */
#ifndef BASE_WORDS_H
#define BASE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* The next word of *list, which moves behind it, and its length; NULL at the end. The word ends
 * with a separator or the text. A list that is NULL is empty. */
const char *word_next(const char **list, const char *separators, size_t *n);
/* Whether the list has the word, letter by letter or whatever the case of ASCII letters. */
bool word_in(const char *list, const char *separators, const char *word);
bool word_in_any_case(const char *list, const char *separators, const char *word);

#endif
