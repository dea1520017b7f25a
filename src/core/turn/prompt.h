/* SPDX-License-Identifier: Apache-2.0
 *
 * prompt.h: what the agents of turns were sent. prompt.c has the rules.
 */
#ifndef CORE_TURN_PROMPT_H
#define CORE_TURN_PROMPT_H

#include "core/turn/turn.h"

/* Checks what the call was given to keep. */
ramet_status prompt_check(ramet_call *c);
/* Keeps it, in the transaction of a write of that turn. Nothing was given: does nothing. */
void prompt_write(txn *tx, const turn_row *t);
/* As it is kept: packed, in the arena, and with a digest. */
const char *prompt_keep(sha *h, arena *a, const char *data, uint8_t digest[HASH_LEN], size_t *n);
/* What was kept, from the columns of a row; NULL: it is damaged. */
const char *prompt_data(txn *tx, db_stmt *q, int digest, int packed);

#endif
