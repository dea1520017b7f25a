/* SPDX-License-Identifier: Apache-2.0
 *
 * The VFS of wal_vfs.h. All files except the log belong to the base VFS: they are opened in place
 * and have its methods.
 */
#include "store/sqlite/wal_vfs.h"

#include "base/arena.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The largest page, and so the largest write that a VFS ever gets: SQLite's own VFS accepts less
 * than 128 KiB. */
#define GATHER_BYTES 65536

typedef struct logfile {
    sqlite3_file base;   /* first, because SQLite holds a pointer to it */
    sqlite3_file *real;  /* stored after this struct */
    sqlite3_int64 start; /* offset of the gathered bytes */
    int n;               /* their number; 0 unless gathering */
    bool gathering;
    char *bytes;
} logfile;

typedef struct overlay {
    sqlite3_vfs vfs; /* first, because SQLite holds a pointer to it */
    sqlite3_vfs *base;
    char name[40];
    struct overlay *next;
} overlay;

static int flush(logfile *f)
{
    int n = f->n;
    f->n = 0;
    return n ? f->real->pMethods->xWrite(f->real, f->bytes, n, f->start) : SQLITE_OK;
}

/* Writes the gathered bytes before any other operation on the file. */
#define PASS(file, method, ...)                                                                    \
    logfile *f = (logfile *)(file);                                                                \
    int rc = flush(f);                                                                             \
    return rc != SQLITE_OK ? rc : f->real->pMethods->method(f->real, ##__VA_ARGS__)

static int log_write(sqlite3_file *file, const void *p, int n, sqlite3_int64 at)
{
    logfile *f = (logfile *)file;
    if (f->n && (at != f->start + f->n || n > GATHER_BYTES - f->n)) {
        int rc = flush(f);
        if (rc != SQLITE_OK)
            return rc;
    }
    if (!f->gathering || n > GATHER_BYTES)
        return f->real->pMethods->xWrite(f->real, p, n, at);
    if (!f->n)
        f->start = at;
    memcpy(f->bytes + f->n, p, (size_t)n);
    f->n += n;
    return SQLITE_OK;
}

static int log_close(sqlite3_file *file)
{
    logfile *f = (logfile *)file;
    int wrote = flush(f), closed = f->real->pMethods->xClose(f->real);
    free(f->bytes);
    return wrote != SQLITE_OK ? wrote : closed;
}

static int log_read(sqlite3_file *file, void *p, int n, sqlite3_int64 at)
{
    PASS(file, xRead, p, n, at);
}

static int log_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    PASS(file, xTruncate, size);
}

static int log_sync(sqlite3_file *file, int flags)
{
    PASS(file, xSync, flags);
}

static int log_size(sqlite3_file *file, sqlite3_int64 *size)
{
    PASS(file, xFileSize, size);
}

static int log_lock(sqlite3_file *file, int level)
{
    PASS(file, xLock, level);
}

static int log_unlock(sqlite3_file *file, int level)
{
    PASS(file, xUnlock, level);
}

static int log_reserved(sqlite3_file *file, int *out)
{
    PASS(file, xCheckReservedLock, out);
}

static int log_control(sqlite3_file *file, int op, void *arg)
{
    PASS(file, xFileControl, op, arg);
}

static int log_sector(sqlite3_file *file)
{
    logfile *f = (logfile *)file;
    return f->real->pMethods->xSectorSize(f->real);
}

static int log_traits(sqlite3_file *file)
{
    logfile *f = (logfile *)file;
    return f->real->pMethods->xDeviceCharacteristics(f->real);
}

/* Version 1: shared memory and mapping concern the main file only. */
static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = log_close,
    .xRead = log_read,
    .xWrite = log_write,
    .xTruncate = log_truncate,
    .xSync = log_sync,
    .xFileSize = log_size,
    .xLock = log_lock,
    .xUnlock = log_unlock,
    .xCheckReservedLock = log_reserved,
    .xFileControl = log_control,
    .xSectorSize = log_sector,
    .xDeviceCharacteristics = log_traits,
};

void wal_gather(sqlite3 *h, bool on)
{
    sqlite3_file *file = NULL;
    sqlite3_file_control(h, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file);
    if (!file || file->pMethods != &methods)
        return;
    logfile *f = (logfile *)file;
    f->gathering = on;
    f->n = 0;
}

/* ---- the VFS */

static int log_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
    sqlite3_vfs *base = ((overlay *)vfs)->base;
    if (!(flags & SQLITE_OPEN_WAL))
        return base->xOpen(base, name, file, flags, out);
    logfile *f = (logfile *)file;
    *f = (logfile){.real = (sqlite3_file *)(f + 1)};
    int rc = base->xOpen(base, name, f->real, flags, out);
    if (rc != SQLITE_OK) {
        /* A base that failed half-way sets its methods when it must be closed. */
        if (f->real->pMethods)
            f->real->pMethods->xClose(f->real);
        return rc;
    }
    f->bytes = xmalloc(GATHER_BYTES);
    f->base.pMethods = &methods;
    return SQLITE_OK;
}

static int log_delete(sqlite3_vfs *vfs, const char *name, int sync_folder)
{
    sqlite3_vfs *base = ((overlay *)vfs)->base;
    return base->xDelete(base, name, sync_folder);
}

static int log_access(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
    sqlite3_vfs *base = ((overlay *)vfs)->base;
    return base->xAccess(base, name, flags, out);
}

static int log_full_path(sqlite3_vfs *vfs, const char *name, int n, char *out)
{
    sqlite3_vfs *base = ((overlay *)vfs)->base;
    return base->xFullPathname(base, name, n, out);
}

static overlay *overlay_new(sqlite3_vfs *base)
{
    overlay *o = xcalloc(1, sizeof *o);
    /* The remaining functions do not concern files: those of the base serve, with its data. */
    o->vfs = *base;
    o->vfs.pNext = NULL;
    o->base = base;
    snprintf(o->name, sizeof o->name, "ramet-log-%p", (void *)base);
    o->vfs.zName = o->name;
    o->vfs.szOsFile = (int)sizeof(logfile) + base->szOsFile;
    o->vfs.xOpen = log_open;
    o->vfs.xDelete = log_delete;
    o->vfs.xAccess = log_access;
    o->vfs.xFullPathname = log_full_path;
    return o;
}

const char *wal_vfs(const char *name)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static overlay *list;
    sqlite3_vfs *base = sqlite3_vfs_find(name);
    if (!base)
        return name;
    pthread_mutex_lock(&lock);
    overlay *o = list;
    while (o && o->base != base)
        o = o->next;
    if (!o) {
        o = overlay_new(base);
        if (sqlite3_vfs_register(&o->vfs, 0) == SQLITE_OK) {
            o->next = list;
            list = o;
        } else {
            free(o);
            o = NULL;
        }
    }
    pthread_mutex_unlock(&lock);
    return o ? o->name : name;
}
