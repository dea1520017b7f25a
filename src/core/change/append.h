/* SPDX-License-Identifier: Apache-2.0
 *
 * append.h: appending prepared entries, and what extensions add to an append.
 */
#ifndef CORE_CHANGE_APPEND_H
#define CORE_CHANGE_APPEND_H

#include "core/model/entry.h"

typedef struct append_work {
    ramet_log log;
    int64_t branch; /* 0 = the head */
    entry_new *list;
    size_t n;
    uint8_t expected[HASH_LEN];
    bool given;
    bool fenced;
    ramet_append_out *out;
} append_work;
/* Appends to a session that session_open_brief() returned with its head; *b becomes the branch
 * written to. Refuses before it has written anything. */
ramet_status append_do(txn *tx, session_brief *s, branch_row *b, const append_work *w);
/* Looks each prepared entry up on a path: known with the same content, new, or a conflict. */
ramet_status entries_known(txn *tx, const branch_row *b, entry_new *list, size_t n, size_t *fresh);
/* Fills in the answer to an append, after the entries were written. */
void append_answer(txn *tx, const branch_row *b, entry_new *list, size_t n, ramet_append_out *out);
/* Creates the adk log of a session that has none, or nothing in it. */
void adk_begin(txn *tx, session_brief *s, branch_row *b);

/* What an extension (core/ext) adds to ramet_append(), in the same commit. Each function looks at
 * its own argument in `in`, and does nothing when that was not given; each may be NULL. */
typedef struct append_extension {
    /* Refuses bad arguments, on the caller's thread. */
    ramet_status (*check)(ramet_call *c, const ramet_append_in *in);
    /* Opens the session in place of session_open_brief(), and may create it (*made). *opened stays
     * false when it leaves that to the default. */
    ramet_status (*open)(txn *tx, const char *session, const ramet_append_in *in, session_brief *s,
                         branch_row *b, bool *opened, bool *made);
    /* May refuse before anything is written. */
    ramet_status (*before)(txn *tx, const session_brief *s, const ramet_append_in *in);
    /* After the entries were written; `added` of them are new. */
    ramet_status (*after)(txn *tx, const session_brief *s, const ramet_append_in *in, size_t added);
} append_extension;
/* Only while the store is being opened. `x` must outlive it. */
void append_extension_register(ramet *r, const append_extension *x);

#endif
