/* SPDX-License-Identifier: Apache-2.0 */
#include "shim.h"

#include <criterion/criterion.h>
#include <sqlite3.h>

static sqlite3_vfs shim;
static int (*real_open)(sqlite3_vfs *, const char *, sqlite3_file *, int, int *);
atomic_int shim_write_error, shim_sync_error;

/* SQLite has one table of methods for each way of locking; each gets a twin that can fail. */
static struct twin {
    sqlite3_io_methods failing;
    const sqlite3_io_methods *real;
} twins[4];

static const sqlite3_io_methods *real_of(sqlite3_file *f)
{
    return ((const struct twin *)(const void *)f->pMethods)->real;
}

static int shim_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
    return shim_write_error ? shim_write_error : real_of(f)->xWrite(f, p, n, at);
}

static int shim_sync(sqlite3_file *f, int flags)
{
    return shim_sync_error ? shim_sync_error : real_of(f)->xSync(f, flags);
}

static int shim_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *got)
{
    int rc = real_open(vfs, name, f, flags, got);
    if (rc != SQLITE_OK || !f->pMethods)
        return rc;
    for (size_t i = 0; i < sizeof twins / sizeof *twins; i++) {
        struct twin *t = &twins[i];
        if (t->real && t->real != f->pMethods)
            continue;
        t->real = f->pMethods;
        t->failing = *t->real;
        t->failing.xWrite = shim_write;
        t->failing.xSync = shim_sync;
        f->pMethods = &t->failing;
        return rc;
    }
    return SQLITE_CANTOPEN;
}

const char *shim_vfs(void)
{
    if (!real_open) {
        shim = *sqlite3_vfs_find(NULL);
        real_open = shim.xOpen;
        shim.xOpen = shim_open;
        shim.zName = "shim";
        shim.pNext = NULL;
        cr_assert_eq(sqlite3_vfs_register(&shim, 0), SQLITE_OK);
    }
    return shim.zName;
}
