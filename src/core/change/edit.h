/* SPDX-License-Identifier: Apache-2.0
 *
 * edit.h: editing and regenerating: a new branch at a cut, with prepared entries appended to it.
 */
#ifndef CORE_CHANGE_EDIT_H
#define CORE_CHANGE_EDIT_H

#include "core/model/entry.h"

typedef struct edit_work {
    ramet_at at;
    ramet_cut_policy cut;
    entry_new *list;
    size_t n;
    ramet_move_kind kind; /* edit or regenerate */
    uint8_t expected[HASH_LEN];
    bool given;
    ramet_append_out *out;
} edit_work;
/* Refuses before it has written anything. *to is the new branch. */
ramet_status edit_do(txn *tx, session_full *s, const branch_row *head, const edit_work *w,
                     branch_row *to);
/* The role of an entry on the path: an edit may inherit the role of the entry that it replaces. */
ramet_status role_of(ramet_call *c, const char *session, const char *entry_id, ramet_role *role);

#endif
