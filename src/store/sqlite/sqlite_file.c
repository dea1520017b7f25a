/* SPDX-License-Identifier: Apache-2.0
 *
 * The files of an SQLite store: creating and opening them, full disks, and SQLite's error codes.
 */
#include "store/sqlite/sqlite_file.h"

#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHM_BYTES 32768 /* the minimum size of a -shm file */
#define WRITEBACK_BYTES ((off_t)1 << 20)

/* ----------------------------------------------------------------- full disks */

/* SQLite recognizes only ENOSPC as a full disk. */
static ssize_t as_full(ssize_t wrote)
{
    if (wrote < 0 && error_is_full(errno))
        errno = ENOSPC;
    return wrote;
}

static ssize_t full_write(int fd, const void *p, size_t n)
{
    return as_full(write(fd, p, n));
}

/* Starts writing back the stretch of a file that a write has completed. A sync waits for the disk
 * anyway; so the disk works while a large transaction or a checkpoint still writes. A failure is
 * reported by that sync. */
static void writeback_start(int fd, off_t at, size_t n)
{
    off_t end = (at + (off_t)n) & ~(WRITEBACK_BYTES - 1);
    if (n && end > at)
        sync_file_range(fd, end - WRITEBACK_BYTES, WRITEBACK_BYTES, SYNC_FILE_RANGE_WRITE);
}

static ssize_t full_pwrite(int fd, const void *p, size_t n, off_t at)
{
    ssize_t wrote = as_full(pwrite(fd, p, n, at));
    if (wrote > 0)
        writeback_start(fd, at, (size_t)wrote);
    return wrote;
}

static int full_fallocate(int fd, off_t from, off_t n)
{
    int error = posix_fallocate(fd, from, n);
    return error_is_full(error) ? ENOSPC : error;
}

/* Set when a file could not be created because the disk is full. SQLite then tries to open it for
 * reading, so that errno reports a missing file. */
static _Thread_local bool no_room_for_file;

static int full_open(const char *path, int flags, int mode)
{
    int fd = open(path, flags, mode);
    if (flags & O_CREAT)
        no_room_for_file = fd < 0 && error_is_full(errno);
    return fd;
}

/* Which of these calls SQLite uses depends on how it was built. */
static void replace_call(sqlite3_vfs *vfs, const char *name, sqlite3_syscall_ptr by)
{
    if (vfs->xGetSystemCall(vfs, name))
        vfs->xSetSystemCall(vfs, name, by);
}

void sqlite_files_setup(void)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find("unix");
    if (!vfs || vfs->iVersion < 3)
        return;
    replace_call(vfs, "open", (sqlite3_syscall_ptr)full_open);
    replace_call(vfs, "write", (sqlite3_syscall_ptr)full_write);
    replace_call(vfs, "pwrite", (sqlite3_syscall_ptr)full_pwrite);
    replace_call(vfs, "pwrite64", (sqlite3_syscall_ptr)full_pwrite);
    replace_call(vfs, "fallocate", (sqlite3_syscall_ptr)full_fallocate);
}

/* SQLite checks errno only for writes to the database and its log. But -shm is extended as well,
 * and files are created (-journal, -wal, -shm). A failed sync never counts as a full disk: what was
 * written before it may be lost, so free space alone does not repair it. */
bool sqlite_file_full(sqlite3 *h, int rc)
{
    if ((rc & 0xff) == SQLITE_CANTOPEN) {
        bool full = no_room_for_file;
        no_room_for_file = false;
        return full;
    }
    return (rc == SQLITE_IOERR_SHMSIZE || rc == SQLITE_IOERR_WRITE) &&
           error_is_full(sqlite3_system_errno(h));
}

/* ------------------------------------------------------------------ new files */

static mode_t mode_like(const char *path)
{
    struct stat st;
    return path && stat(path, &st) == 0 ? 0600 | (st.st_mode & 0060) : 0600;
}

ramet_status sqlite_file_claim(const db_config *cfg, char *message)
{
    struct stat st;
    if (stat(cfg->path, &st) != 0) {
        if (!cfg->create) {
            snprintf(message, 512, "there is no store at %s", cfg->path);
            return RAMET_CANNOT_OPEN;
        }
        int fd = open(cfg->path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
        if (fd < 0 && error_is_full(errno)) {
            snprintf(message, 512, "%s cannot be made: the disk is full", cfg->path);
            return RAMET_FULL;
        }
        /* Any other failure shows when SQLite opens the file. */
        if (fd >= 0 && cfg->mode_from)
            (void)!fchmod(fd, mode_like(cfg->mode_from));
        if (fd >= 0)
            close(fd);
        return RAMET_OK;
    }
    if (!S_ISREG(st.st_mode)) {
        snprintf(message, 512, "%s is not a file", cfg->path);
        return RAMET_NOT_A_STORE;
    }
    return RAMET_OK;
}

int64_t sqlite_file_size(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (int64_t)st.st_size : 0;
}

/* ----------------------------------------------------------- read-only places */

static char *joined(const char *path, const char *end)
{
    size_t n = strlen(path) + strlen(end) + 1;
    char *s = xmalloc(n);
    snprintf(s, n, "%s%s", path, end);
    return s;
}

read_mode sqlite_file_read_mode(const char *path)
{
    char *shm = joined(path, "-shm"), *wal = joined(path, "-wal");
    /* A shorter one is left behind by SQLite when the disk was full. */
    read_mode how = sqlite_file_size(shm) >= SHM_BYTES ? READ_SHARED
                    : sqlite_file_size(wal) == 0       ? READ_IMMUTABLE
                                                       : READ_ALONE;
    free(shm);
    free(wal);
    return how;
}

/* A path as a URI with a parameter; characters that are special in a URI are written in hex. */
static char *uri_of(const char *path, const char *query)
{
    static const char hex[] = "0123456789ABCDEF";
    size_t size = sizeof "file://" + 3 * strlen(path) + strlen(query);
    char *uri = xmalloc(size), *to = uri;
    to += snprintf(uri, size, "%s", path[0] == '/' ? "file://" : "file:");
    for (const char *p = path; *p; p++) {
        if (strchr("%?#", *p)) {
            *to++ = '%';
            *to++ = hex[(unsigned char)*p >> 4];
            *to++ = hex[(unsigned char)*p & 15];
        } else {
            *to++ = *p;
        }
    }
    snprintf(to, size - (size_t)(to - uri), "%s", query);
    return uri;
}

int sqlite_file_open_read(const char *path, read_mode how, sqlite3 **out)
{
    const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX;
    if (how == READ_IMMUTABLE) {
        char *uri = uri_of(path, "?immutable=1");
        int rc = sqlite3_open_v2(uri, out, flags | SQLITE_OPEN_URI, NULL);
        free(uri);
        return rc;
    }
    int rc = sqlite3_open_v2(path, out, flags, how == READ_ALONE ? "unix-none" : NULL);
    /* Then the index of the log is in memory. */
    if (rc == SQLITE_OK && how == READ_ALONE)
        rc = sqlite3_exec(*out, "PRAGMA locking_mode=EXCLUSIVE", NULL, NULL, NULL);
    return rc;
}

bool db_read_only(db *d)
{
    return sqlite3_db_readonly(db_handle(d), "main") == 1;
}

void db_release(db *d)
{
    sqlite3_db_release_memory(db_handle(d));
}

ramet_status sqlite_status(int rc)
{
    switch (rc & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
        return RAMET_OK;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return RAMET_BUSY;
    case SQLITE_FULL:
        return RAMET_FULL;
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return rc == SQLITE_IOERR_NOMEM ? RAMET_NO_MEMORY : RAMET_IO;
    case SQLITE_CANTOPEN:
        return RAMET_CANNOT_OPEN;
    case SQLITE_CORRUPT:
        return RAMET_DAMAGED;
    case SQLITE_NOTADB:
        return RAMET_NOT_A_STORE;
    case SQLITE_NOMEM:
        return RAMET_NO_MEMORY;
    default:
        return RAMET_INTERNAL;
    }
}

ramet_status sqlite_scrub(db *d)
{
    sqlite3 *h = db_handle(d);
    db_clear(d);
    int rc = sqlite3_exec(h, "VACUUM", NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_wal_checkpoint_v2(h, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    if (rc != SQLITE_OK)
        db_fail(d, sqlite_file_full(h, rc) ? RAMET_FULL : sqlite_status(rc),
                "writing the file anew: %s", sqlite3_errmsg(h));
    return db_status(d);
}
