/* SPDX-License-Identifier: Apache-2.0
 *
 * attachment.h: what the files of core/ that deal with attachments share.
 *
 *   A1  A row of `attachment` is one upload. Its bytes are a file named by their SHA-256 in
 *       PATH.files, beside the database file: FOLDER/ab/cdef…, kept once however many rows name it.
 *   A2  The file is whole, in its place and synced before the row is committed, and goes only after
 *       the last row that names it went. So whatever stops Ramet leaves at most a file without a
 *       row, which gc removes.
 *   A3  Who places a file holds a shared lock on its folder (ab) from before the rename until the
 *       row is committed; who removes one holds it alone, and looks for rows after he got it. Who
 *       removes also shares the lock of PATH.files, which a backup holds alone: no file goes while
 *       a snapshot that names it is copied. Locks are flock(2), so they end with their process. No
 *       lock is waited for by somebody who has a read connection.
 *   A4  An entry that refers to attachments has a row in `attached` for each, from the same commit
 *       on. An attachment with such a row does not expire, one without does.
 */
#ifndef CORE_ATTACHMENT_H
#define CORE_ATTACHMENT_H

#include "core/core.h"

#include <sys/stat.h>

typedef struct attachment_row {
    const char *id, *name, *media_type, *owner;
    uint8_t sha[HASH_LEN];
    int64_t size, created, expires;
} attachment_row;

bool attachment_load(cx *x, const char *id, attachment_row *r);
void attachment_insert(cx *x, const attachment_row *r);
ramet_attachment *attachment_show(cx *x, const attachment_row *r);
ramet_status attachment_missing(ramet_call *c, const char *field, const char *id);

/* ---- files (core/files.c) */

/* The error that errno stands for: "PATH cannot be WHAT: why". */
ramet_status file_failed(ramet_call *c, const char *what, const char *path);
const char *file_path(arena *a, const ramet *r, const uint8_t digest[HASH_LEN]);
/* Rights of a new file or folder: those of the database file. */
mode_t files_mode(const ramet *r, bool folder);

/* No error when it is there already. */
ramet_status folder_make(ramet_call *c, const char *path);
/* Opens and locks a folder (LOCK_SH, …); -1 and errno when that fails. */
int folder_lock(const char *path, int how);
bool folder_sync(const char *path);
/* The folder that a path is in. */
const char *folder_above(arena *a, const char *path);

/* Moves a finished, synced file to where its content belongs. *lock is then held (A3) until it is
 * closed. */
ramet_status file_place(ramet_call *c, const char *from, const uint8_t digest[HASH_LEN], int *lock);
/* Whether a row names the content; true also when that cannot be told. */
bool file_named(ramet_call *c, const uint8_t digest[HASH_LEN]);
/* Removes a file when no row names it. */
void file_reap(ramet_call *c, const uint8_t digest[HASH_LEN]);

/* Writes all of it; false and errno when that fails. */
bool file_write(int fd, const void *bytes, size_t n);
/* Hands a file over piece by piece; false when it cannot be read, or `take` wanted no more. */
typedef bool (*file_take)(void *arg, const void *bytes, size_t n);
bool file_read(int fd, file_take take, void *arg);
/* NULL when the file has that content, else what is wrong with it. */
const char *file_fault(ramet_call *c, arena *a, const uint8_t digest[HASH_LEN], int64_t size);

#define FILE_BEGUN "up-" /* how the name of one under way begins; it lies in PATH.files itself */

typedef struct file_seen {
    const char *path, *folder, *name;
    uint8_t sha[HASH_LEN];
    bool whole; /* in its place; else one that was begun */
    struct stat st;
} file_seen;
/* Every file in PATH.files, or in a copy of it, a folder at a time; what is not ours is passed
 * over. `each` answers RAMET_OK to go on. */
typedef ramet_status (*file_each)(void *arg, const file_seen *f);
ramet_status files_walk(ramet_call *c, const char *root, file_each each, void *arg);

#endif
