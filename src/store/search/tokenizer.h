/* SPDX-License-Identifier: Apache-2.0
 *
 * tokenizer.h: cuts a text into words, folded to lower case and without diacritics.
 *
 * What is indexed, what is looked for and what is marked in a snippet goes through the same
 * tokenizer, on both engines: SQLite's tokenizer "unicode61", which its index uses by itself.
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

/* A word, folded, and the bytes [start, end) that it is in the text. The word is gone after it. */
typedef void (*tokenizer_word)(void *arg, const char *word, size_t len, size_t start, size_t end);
void tokenizer_run(tokenizer *c, const char *text, size_t len, tokenizer_word each, void *arg);

#endif
