/* SPDX-License-Identifier: Apache-2.0
 *
 * sqlite_file.h: the files of the SQLite engine: how they are created, opened and measured.
 *
 * Only its owner can read and write a new file, whatever the umask; an index also gets the group
 * permissions of the store that it belongs to. SQLite gives -wal and -shm the permissions of their
 * file.
 *
 * A write that a limit refuses (RLIMIT_FSIZE, a quota) is a full disk to SQLite and to us: it may
 * succeed again when the limit is raised. A program that writes to stores must ignore SIGXFSZ,
 * which would otherwise end it before the write can fail.
 *
 * A file that cannot be written (a read-only file system, missing permissions) is opened for
 * reading. SQLite needs the -shm file for that, which it cannot create there:
 *
 *   READ_SHARED     -shm exists: like any other reader
 *   READ_IMMUTABLE  there is no -wal, or it is empty: the file alone holds everything
 *   READ_ALONE      -wal without -shm, as left by a crash or a copy: its index is built in memory
 *
 * The last two take no locks: nothing on this machine may write the file through another mount.
 */
#ifndef STORE_SQLITE_SQLITE_FILE_H
#define STORE_SQLITE_SQLITE_FILE_H

#include "store/db.h"

#include <sqlite3.h>

typedef enum { READ_SHARED, READ_IMMUTABLE, READ_ALONE } read_mode;

/* Call it before the first connection of the process. */
void sqlite_files_setup(void);
/* Creates the file when it is missing and may be created. On failure message (512) says why. */
ramet_status sqlite_file_claim(const db_config *cfg, char *message);
/* How to read a file that cannot be written. */
read_mode sqlite_file_read_mode(const char *path);
/* Like sqlite3_open_v2(), for reading without a -shm file. */
int sqlite_file_open_read(const char *path, read_mode how, sqlite3 **out);
/* Whether a failure of SQLite means a full disk although its code says otherwise. */
bool sqlite_file_full(sqlite3 *h, int rc);
int64_t sqlite_file_size(const char *path); /* 0 when there is none */

/* Writes the file anew and empties its log (db_scrub()). */
ramet_status sqlite_scrub(db *d);

/* The status for a result code of SQLite. */
ramet_status sqlite_status(int rc);

#endif
