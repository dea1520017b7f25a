/* SPDX-License-Identifier: Apache-2.0
 *
 * sandbox.h: the sandbox that a tree is in.
 */
#ifndef CORE_ACCESS_SANDBOX_H
#define CORE_ACCESS_SANDBOX_H

#include "core/txn.h"

/* The sandbox to record in a new tree of that owner: "" for none. RAMET_SANDBOX_NOT_FOUND. */
ramet_status sandbox_for_new(txn *tx, const char *id, const char *owner, const char **mark);
/* The agent that answers in a new session of that sandbox, if none is named; NULL: none. */
const char *sandbox_agent(txn *tx, const char *mark);
void sandbox_put(txn *tx, int64_t tree, const char *mark);
/* RAMET_SANDBOX_NOT_FOUND unless the caller may use a sandbox with that id. */
ramet_status sandbox_open(txn *tx, const char *id);
/* The sandbox of a tree. */
const char *sandbox_name(txn *tx, int64_t tree);
/* Whether the id stands for no sandbox. */
bool sandbox_is_default(const char *id);

#endif
