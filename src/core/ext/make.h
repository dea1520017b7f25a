/* SPDX-License-Identifier: Apache-2.0
 *
 * make.h: conversations that are made by their first entries (make.c).
 */
#ifndef CORE_EXT_MAKE_H
#define CORE_EXT_MAKE_H

#include "core/core.h"

ramet_status make_check(ramet_call *c, const ramet_make *m);
/* The session that an append goes to, made when it is not there. */
ramet_status make_open(txn *tx, const char *id, const ramet_make *m, session_row *s, branch_row *b,
                       bool *made);
/* The keys of entries that are about to be written, and what else is kept beside them. */
ramet_status keys_check(txn *tx, const session_row *s, const entry_new *list, size_t n);
void keys_write(txn *tx, const session_row *s, const branch_row *b, const entry_new *list,
                size_t n);

#endif
