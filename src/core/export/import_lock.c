/* SPDX-License-Identifier: Apache-2.0
 *
 * The note of a tree that is being imported (import_lock.h).
 */
#include "core/export/import_lock.h"

#include <stdio.h>

#define LOCK_US (INT64_C(60) * 1000000) /* it ends so long after it was renewed */

static const char *lock_key(txn *tx, int64_t tree)
{
    return arena_printf(tx->arena, "import %lld", (long long)tree);
}

bool import_running(txn *tx, int64_t tree)
{
    char host[HOST_TEXT] = "";
    long long deadline = 0;
    db_stmt *q = db_query(tx->db, Q_meta_get);
    q_text(q, 1, lock_key(tx, tree));
    const char *lock = q_row(q) ? q_col_text(q, 0) : NULL;
    bool noted = lock && sscanf(lock, "%lld %127s", &deadline, host) == 2;
    q_end(q);
    return noted && deadline > time_now_us() && host_look(host) != HOST_DEAD;
}

void import_lock(txn *tx, int64_t tree, const char *host)
{
    db_stmt *q = db_query(tx->db, host ? Q_meta_set : Q_meta_del);
    q_text(q, 1, lock_key(tx, tree));
    if (host)
        q_text(q, 2,
               arena_printf(tx->arena, "%lld %s", (long long)(time_now_us() + LOCK_US), host));
    q_run(q);
}
