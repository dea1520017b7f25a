/* SPDX-License-Identifier: Apache-2.0
 *
 * cutter.h: cuts a text into words, folded to lower case and without diacritics.
 *
 * What is indexed, what is looked for and what is marked in a snippet goes through the same cutter,
 * on both engines: SQLite's tokenizer "unicode61", which its index uses by itself.
 */
#ifndef STORE_CUTTER_H
#define STORE_CUTTER_H

#include <stddef.h>

#define CUTTER_NAME "unicode61"
#define CUTTER_FOLD "remove_diacritics"
#define CUTTER_FOLD_HOW "2"

typedef struct cutter cutter; /* belongs to one thread at a time */

/* NULL: this SQLite has no FTS5. */
cutter *cutter_new(void);
void cutter_free(cutter *c);

/* A word, folded, and the bytes [start, end) that it is in the text. The word is gone after it. */
typedef void (*cutter_word)(void *arg, const char *word, size_t len, size_t start, size_t end);
void cutter_run(cutter *c, const char *text, size_t len, cutter_word each, void *arg);

#endif
