/* SPDX-License-Identifier: Apache-2.0
 *
 * wal_vfs.h: an SQLite VFS that writes the write-ahead log in few large writes.
 *
 * SQLite writes each page of a commit with two calls, one for its header of 24
 * bytes; on a commit of many pages these calls cost as much as the pages. During a
 * COMMIT they are gathered here, and written before anything else is done to the
 * file: before it is synced or read. So what is on the disk after a sync, and in
 * which order commits come there, is what it is without.
 *
 *   L1  Nothing is gathered but inside a COMMIT, and nothing stays gathered behind it: the place
 *       in the log belongs to the holder of the lock for writing.
 *   L2  Only for a connection that syncs every commit (synchronous=FULL): the others read
 *       a commit from the file once it is announced, and that is after its sync.
 */
#ifndef STORE_SQLITE_WAL_VFS_H
#define STORE_SQLITE_WAL_VFS_H

#include <sqlite3.h>
#include <stdbool.h>

/* The name of that VFS over another one (NULL: the default). It is registered on first use and
 * stays. A base that is not there is given back, so that opening it fails by its name. */
const char *wal_vfs(const char *base);
/* Around a COMMIT. `false` drops what a COMMIT that failed has left: it was announced to nobody. No
 * effect on a connection with another VFS. */
void wal_gather(sqlite3 *h, bool on);

#endif
