/* SPDX-License-Identifier: Apache-2.0
 *
 * fill.h: what a session shows in place of the placeholders of the template that it was made from.
 * fill.c has the invariants.
 */
#ifndef CORE_MODEL_FILL_H
#define CORE_MODEL_FILL_H

#include "core/model/branch.h"

#define FILL_NAMES_MAX 100                  /* placeholders of a template */
#define FILL_NAME_MAX 64                    /* bytes of a name */
#define FILL_VALUE_MAX ((size_t)64 << 10)   /* bytes of a value */
#define FILL_VALUES_MAX ((size_t)256 << 10) /* bytes of all values of a session together */
#define FILL_ADDED_MAX ((int64_t)8 << 20)   /* bytes that they may add to one entry */
#define FILL_LEVELS_MAX 8                   /* templates made from chats of templates */

typedef struct fill_value {
    const char *name, *text;
    const char *escaped; /* the text as it stands inside a JSON string */
} fill_value;

/* The values for one template. A template may itself be pinned in a session with values. */
typedef struct fill_level {
    const char *template_id;
    int64_t len[2]; /* how many entries of main and of adk it covers */
    fill_value *values;
    size_t n;
} fill_level;

typedef struct fill {
    fill_level levels[FILL_LEVELS_MAX]; /* oldest first */
    size_t n;
} fill;

/* The values of a session as they are stored; NULL: it has none. */
const char *fill_text(txn *tx, int64_t tree, int64_t session);
void fill_set(txn *tx, int64_t tree, int64_t session, const char *text);
/* Reads such a text; false when it is not one, or was damaged. */
bool fill_parse(sha *h, arena *a, const char *text, fill *out);
const char *fill_write(sha *h, arena *a, const fill *f);
/* The text in a JSON string, for fill_value.escaped. */
const char *fill_escape(arena *a, const char *text);

/* Whether an entry at that position of a path has something to fill. */
static inline bool fill_covers(const branch_row *head, int64_t pos)
{
    return pos < head->filled;
}
/* Loads the values of the session whose branch this is. False, and sticky: they are damaged. */
bool fill_load(txn *tx, const branch_row *head, arena *a, fill *out);
/* Replaces the placeholders of an entry of that path. New texts are in `a`. */
void fill_entry(txn *tx, const fill *f, const branch_row *head, ramet_entry *e, arena *a);
/* Replaces them in a plain text. */
const char *fill_plain(arena *a, const fill_level *l, const char *text);
/* Replaces those of one level in an entry; false: it becomes longer than it may. */
bool fill_level_entry(const fill_level *l, ramet_entry *e, arena *a);
/* How often the placeholders of a level occur in an entry. */
int64_t fill_count(const fill_level *l, const ramet_entry *e);

#endif
