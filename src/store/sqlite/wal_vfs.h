/* SPDX-License-Identifier: Apache-2.0
 *
 * wal_vfs.h: an SQLite VFS that writes the write-ahead log in few large writes.
 *
 * SQLite writes each page of a commit with two calls, one for its header of 24 bytes; on a commit
 * of many pages these calls cost as much as the pages. This VFS gathers them during a COMMIT, and
 * writes them before anything else happens to the file, such as a sync or a read. So the content of
 * the disk after a sync, and the order of commits in it, are the same as without it.
 *
 *   L1  Bytes are gathered only inside a COMMIT, and none stay gathered after it: the position in
 *       the log belongs to the holder of the write lock.
 *   L2  Only for a connection that syncs every commit (synchronous=FULL): other connections read a
 *       commit from the file once it is announced, and that is after its sync.
 */
#ifndef STORE_SQLITE_WAL_VFS_H
#define STORE_SQLITE_WAL_VFS_H

#include <sqlite3.h>
#include <stdbool.h>

/* The name of this VFS over another one (NULL: the default). It is registered on first use and
 * stays. If the base does not exist its own name is returned, so that opening it fails by that
 * name. */
const char *wal_vfs(const char *base);
/* Call it around a COMMIT. `false` drops what a failed COMMIT has left: no reader knows of it. No
 * effect on a connection with another VFS. */
void wal_gather(sqlite3 *h, bool on);

#endif
