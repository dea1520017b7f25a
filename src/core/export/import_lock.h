/* SPDX-License-Identifier: Apache-2.0
 *
 * import_lock.h: which trees are being imported (M3 in import.h).
 */
#ifndef CORE_EXPORT_IMPORT_LOCK_H
#define CORE_EXPORT_IMPORT_LOCK_H

#include "base/host.h"
#include "core/txn.h"

/* Whether a living process is writing the tree. */
bool import_running(txn *tx, int64_t tree);
/* Notes that this process is, for a while; or that it no longer is (`host` NULL). */
void import_lock(txn *tx, int64_t tree, const char *host);

#endif
