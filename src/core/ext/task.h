/* SPDX-License-Identifier: Apache-2.0
 *
 * task.h: rows of tasks, for an append that puts one in its own commit.
 */
#ifndef CORE_EXT_TASK_H
#define CORE_EXT_TASK_H

#include "core/core.h"

ramet_status task_in_check(ramet_call *c, const ramet_task_in *in);
/* RAMET_ENTRY_EXISTS when the id is not the session's to use. */
ramet_status task_check(txn *tx, const session_row *s, const char *id);
void task_write(txn *tx, const session_row *s, const ramet_task_in *in);
/* The session was written to, although none of its logs was. */
void session_touch(txn *tx, session_row *s);

#endif
