/* SPDX-License-Identifier: Apache-2.0
 *
 * tokenizer.h: splits a text into words, folded to lower case and without diacritics.
 *
 * Indexing, searching and marking in a snippet use the same tokenizer, on both engines: SQLite's
 * "unicode61", which its index uses by itself.
 */
#ifndef STORE_SEARCH_TOKENIZER_H
#define STORE_SEARCH_TOKENIZER_H

#include <stddef.h>

#define CUTTER_NAME "unicode61"
#define CUTTER_FOLD "remove_diacritics"
#define CUTTER_FOLD_HOW "2"

typedef struct tokenizer tokenizer; /* belongs to one thread at a time */

/* NULL: this SQLite has no FTS5. */
tokenizer *tokenizer_new(void);
void tokenizer_free(tokenizer *c);

/* Receives a word, folded, and its bytes [start, end) in the text. The word is invalid
 * afterwards. */
typedef void (*tokenizer_word)(void *arg, const char *word, size_t len, size_t start, size_t end);
void tokenizer_run(tokenizer *c, const char *text, size_t len, tokenizer_word each, void *arg);

#endif
