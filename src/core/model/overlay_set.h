/* SPDX-License-Identifier: Apache-2.0
 *
 * overlay_set.h: rows of overlays, and the sets that they make. overlay_set.c has the invariants.
 */
#ifndef CORE_MODEL_OVERLAY_SET_H
#define CORE_MODEL_OVERLAY_SET_H

#include "core/txn.h"
#include "ramet/overlays.h"

/* What a row does to the set before it; the first are those of ramet_overlay_action. */
typedef enum {
    OVERLAY_UNION = 0, /* joins the sets `prev` and `prev2` */
    OVERLAY_HIDE = RAMET_OVERLAY_HIDE,
    OVERLAY_REPLACE = RAMET_OVERLAY_REPLACE,
    OVERLAY_HIDE_BEFORE = RAMET_OVERLAY_HIDE_BEFORE,
    OVERLAY_REMOVE
} overlay_action;

typedef struct overlay_row {
    int64_t no, prev, prev2;
    int64_t size, bytes; /* rows that are gone through to resolve its set, and bytes of text */
    overlay_action action;
    int64_t key;     /* the entry */
    int64_t removes; /* OVERLAY_REMOVE: the number of another row */
    const char *text;
    const char *ties; /* JSON: what is hidden along with the entry (overlay.c); NULL: nothing */
    const char *who;
    int64_t at, seal;
} overlay_row;

/* Reads OVERLAY_COLS; false (sticky) when the row is damaged. */
bool overlay_row_from(txn *tx, db_stmt *q, int64_t tree, overlay_row *r);
/* A short digest of a row: no hash chain covers it. */
int64_t overlay_seal(sha *h, int64_t tree, const overlay_row *r);

/* An overlay that is in force. */
typedef struct overlay_item {
    int64_t no, key, at;
    overlay_action action;
    const char *text, *who;
} overlay_item;

/* A resolved set. It never changes. */
typedef struct overlay_set overlay_set;

/* The set of a number, held by the caller until overlay_set_put(). NULL: `no` is 0, or (sticky) it
 * cannot be read. */
overlay_set *overlay_set_get(txn *tx, int64_t tree, int64_t no);
void overlay_set_put(overlay_set *s); /* NULL is fine */

size_t overlay_set_items(const overlay_set *s, const overlay_item **out);
/* The hide or replace of an entry; NULL: there is none. */
const overlay_item *overlay_set_find(const overlay_set *s, int64_t k);
/* The n-th overlay that hides the entry because it belongs to the overlay's own; NULL: no more. */
const overlay_item *overlay_set_tied(const overlay_set *s, int64_t k, size_t n);
/* The n-th hide_before, from the end of paths on; NULL: no more. */
const overlay_item *overlay_set_before(const overlay_set *s, size_t n);
/* Whether a result with that id may belong to a call that is hidden. */
bool overlay_set_calls(const overlay_set *s, const char *tool_id);
bool overlay_set_has_calls(const overlay_set *s);

/* Sets that were resolved lately. */
struct overlay_cache *overlay_cache_new(void);
void overlay_cache_free(struct overlay_cache *c);
void overlay_cache_clear(struct overlay_cache *c);

#endif
