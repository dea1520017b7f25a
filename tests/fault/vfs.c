/* SPDX-License-Identifier: Apache-2.0
 *
 * vfs.c: see vfs.h.
 */
#include "vfs.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A change of a file that was not synced yet. */
typedef struct pending {
    int64_t offset; /* of the write; the new size of a truncate */
    size_t n;
    uint8_t *data; /* NULL: a truncate */
} pending;

/* What the disk holds of one file. */
typedef struct image {
    char *path;
    bytes safe; /* what was synced */
    pending *todo;
    size_t n_todo, cap;
} image;

typedef struct shim_file {
    sqlite3_file base;
    int kind;           /* SHIM_DB, SHIM_WAL or SHIM_SIDE; 0: a nameless file, never failed */
    size_t image;       /* its image + 1; 0 = none is kept */
    sqlite3_file *real; /* behind this struct */
} shim_file;

static struct {
    pthread_mutex_t lock;
    sqlite3_vfs vfs;
    sqlite3_vfs *under;
    char *db;
    shim_plan plan;
    bool healed, dark; /* dark: the power is off */
    int64_t count[8];  /* by kind of operation */
    int64_t failures;
    int64_t rare[64];
    int n_rare;
    image *images;
    size_t n_images;
} shim = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- what the disk holds */

static void image_clear(image *m)
{
    for (size_t i = 0; i < m->n_todo; i++)
        free(m->todo[i].data);
    m->n_todo = 0;
}

static size_t image_find(const char *path)
{
    for (size_t i = 0; i < shim.n_images; i++)
        if (!strcmp(shim.images[i].path, path))
            return i + 1;
    shim.images = mem_grow(shim.images, (shim.n_images + 1) * sizeof *shim.images);
    shim.images[shim.n_images] = (image){.path = must(strdup(path)), .safe = image_read(path)};
    return ++shim.n_images;
}

static void bytes_put(bytes *b, int64_t offset, const void *p, size_t n)
{
    size_t end = (size_t)offset + n;
    if (end > b->n) {
        b->p = mem_grow(b->p, end);
        memset(b->p + b->n, 0, end - b->n);
        b->n = end;
    }
    memcpy(b->p + offset, p, n);
}

static void bytes_cut(bytes *b, int64_t size)
{
    if ((size_t)size < b->n)
        b->n = (size_t)size;
}

static void pending_apply(bytes *b, const pending *p)
{
    if (p->data)
        bytes_put(b, p->offset, p->data, p->n);
    else
        bytes_cut(b, p->offset);
}

static void image_note(size_t which, const void *data, size_t n, int64_t offset)
{
    image *m = &shim.images[which - 1];
    if (m->n_todo == m->cap) {
        m->cap = m->cap ? 2 * m->cap : 64;
        m->todo = mem_grow(m->todo, m->cap * sizeof *m->todo);
    }
    pending *p = &m->todo[m->n_todo++];
    *p = (pending){.offset = offset, .n = n};
    if (data) {
        p->data = mem_new(n);
        memcpy(p->data, data, n);
    }
}

static void image_sync(size_t which)
{
    image *m = &shim.images[which - 1];
    for (size_t i = 0; i < m->n_todo; i++)
        pending_apply(&m->safe, &m->todo[i]);
    image_clear(m);
}

/* ---- counting and failing; both under the lock */

static int64_t count_of(int ops)
{
    int64_t n = 0;
    for (int op = SHIM_WRITE; op <= SHIM_SYNC; op <<= 1)
        n += ops & op ? shim.count[op] : 0;
    return n;
}

/* The error that this operation must give, SQLITE_OK to let it pass. */
static int shim_meet(const shim_file *f, int op, int broken)
{
    if (!f->kind)
        return SQLITE_OK;
    if (shim.dark)
        return broken;
    if (!(shim.plan.files & f->kind))
        return SQLITE_OK;
    shim.count[op]++;
    if ((op == SHIM_TRUNCATE || (op == SHIM_SYNC && f->kind == SHIM_DB)) && shim.n_rare < 64)
        shim.rare[shim.n_rare++] = count_of(SHIM_ALL_OPS);
    int64_t n = count_of(shim.plan.ops);
    if (!(shim.plan.ops & op) || !shim.plan.at || n < shim.plan.at || shim.healed)
        return SQLITE_OK;
    if (n > shim.plan.at && !shim.plan.lasting)
        return SQLITE_OK;
    shim.failures++;
    shim.dark = shim.plan.power;
    /* A sync that finds the disk full is an I/O error to SQLite. */
    return shim.plan.full && op == SHIM_WRITE ? SQLITE_FULL : broken;
}

static int shim_write(sqlite3_file *file, const void *data, int n, sqlite3_int64 offset)
{
    shim_file *f = (shim_file *)file;
    pthread_mutex_lock(&shim.lock);
    int rc = shim_meet(f, SHIM_WRITE, SQLITE_IOERR_WRITE);
    if (!rc && f->image)
        image_note(f->image, data, (size_t)n, offset);
    pthread_mutex_unlock(&shim.lock);
    return rc ? rc : f->real->pMethods->xWrite(f->real, data, n, offset);
}

static int shim_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    shim_file *f = (shim_file *)file;
    pthread_mutex_lock(&shim.lock);
    int rc = shim_meet(f, SHIM_TRUNCATE, SQLITE_IOERR_TRUNCATE);
    if (!rc && f->image)
        image_note(f->image, NULL, 0, size);
    pthread_mutex_unlock(&shim.lock);
    return rc ? rc : f->real->pMethods->xTruncate(f->real, size);
}

static int shim_sync(sqlite3_file *file, int flags)
{
    shim_file *f = (shim_file *)file;
    pthread_mutex_lock(&shim.lock);
    int rc = shim_meet(f, SHIM_SYNC, SQLITE_IOERR_FSYNC);
    if (!rc && f->image)
        image_sync(f->image);
    pthread_mutex_unlock(&shim.lock);
    return rc ? rc : f->real->pMethods->xSync(f->real, flags);
}

/* ---- everything else is passed on */

#define REAL(file) (((shim_file *)(file))->real)
#define PASS(file, method, ...) REAL(file)->pMethods->method(REAL(file), ##__VA_ARGS__)

static int shim_close(sqlite3_file *file)
{
    return PASS(file, xClose);
}

static int shim_read(sqlite3_file *file, void *p, int n, sqlite3_int64 offset)
{
    return PASS(file, xRead, p, n, offset);
}

static int shim_size(sqlite3_file *file, sqlite3_int64 *size)
{
    return PASS(file, xFileSize, size);
}

static int shim_lock(sqlite3_file *file, int level)
{
    return PASS(file, xLock, level);
}

static int shim_unlock(sqlite3_file *file, int level)
{
    return PASS(file, xUnlock, level);
}

static int shim_reserved(sqlite3_file *file, int *out)
{
    return PASS(file, xCheckReservedLock, out);
}

static int shim_control(sqlite3_file *file, int op, void *arg)
{
    return PASS(file, xFileControl, op, arg);
}

static int shim_sector(sqlite3_file *file)
{
    return PASS(file, xSectorSize);
}

static int shim_traits(sqlite3_file *file)
{
    return PASS(file, xDeviceCharacteristics);
}

static int shim_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **out)
{
    return PASS(file, xShmMap, page, size, extend, out);
}

static int shim_shm_lock(sqlite3_file *file, int offset, int n, int flags)
{
    return PASS(file, xShmLock, offset, n, flags);
}

static void shim_shm_barrier(sqlite3_file *file)
{
    PASS(file, xShmBarrier);
}

static int shim_shm_unmap(sqlite3_file *file, int drop)
{
    return PASS(file, xShmUnmap, drop);
}

/* Version 2: no memory-mapped reads, so that each read passes through here too. */
static const sqlite3_io_methods shim_methods = {
    .iVersion = 2,
    .xClose = shim_close,
    .xRead = shim_read,
    .xWrite = shim_write,
    .xTruncate = shim_truncate,
    .xSync = shim_sync,
    .xFileSize = shim_size,
    .xLock = shim_lock,
    .xUnlock = shim_unlock,
    .xCheckReservedLock = shim_reserved,
    .xFileControl = shim_control,
    .xSectorSize = shim_sector,
    .xDeviceCharacteristics = shim_traits,
    .xShmMap = shim_shm_map,
    .xShmLock = shim_shm_lock,
    .xShmBarrier = shim_shm_barrier,
    .xShmUnmap = shim_shm_unmap,
};

/* ---- the VFS */

static int file_kind(const char *name)
{
    if (!name || !shim.db)
        return 0;
    size_t n = strlen(shim.db);
    if (strncmp(name, shim.db, n))
        return SHIM_SIDE;
    if (!name[n])
        return SHIM_DB;
    return !strcmp(name + n, "-wal") || !strcmp(name + n, "-journal") ? SHIM_WAL : SHIM_SIDE;
}

static int shim_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
    (void)vfs;
    shim_file *f = (shim_file *)file;
    f->real = (sqlite3_file *)(f + 1);
    f->base.pMethods = NULL;
    pthread_mutex_lock(&shim.lock);
    f->kind = file_kind(name);
    f->image = f->kind && shim.plan.power && !shim.dark ? image_find(name) : 0;
    int rc = f->kind && shim.dark ? SQLITE_CANTOPEN : SQLITE_OK;
    pthread_mutex_unlock(&shim.lock);
    if (!rc)
        rc = shim.under->xOpen(shim.under, name, f->real, flags, out);
    if (f->real->pMethods && !rc)
        f->base.pMethods = &shim_methods;
    return rc;
}

static int shim_delete(sqlite3_vfs *vfs, const char *name, int sync_dir)
{
    (void)vfs;
    pthread_mutex_lock(&shim.lock);
    int rc = shim.dark ? SQLITE_IOERR_DELETE : SQLITE_OK;
    if (!rc && shim.plan.power) {
        image *m = &shim.images[image_find(name) - 1];
        image_clear(m);
        m->safe.n = 0;
    }
    pthread_mutex_unlock(&shim.lock);
    return rc ? rc : shim.under->xDelete(shim.under, name, sync_dir);
}

static int shim_access(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
    (void)vfs;
    return shim.under->xAccess(shim.under, name, flags, out);
}

static int shim_full_path(sqlite3_vfs *vfs, const char *name, int n, char *out)
{
    (void)vfs;
    return shim.under->xFullPathname(shim.under, name, n, out);
}

void shim_register(void)
{
    shim.under = sqlite3_vfs_find(NULL);
    if (!shim.under || sqlite3_vfs_find(SHIM_NAME))
        return;
    shim.vfs = *shim.under;
    shim.vfs.pNext = NULL;
    shim.vfs.zName = SHIM_NAME;
    shim.vfs.szOsFile = (int)sizeof(shim_file) + shim.under->szOsFile;
    shim.vfs.xOpen = shim_open;
    shim.vfs.xDelete = shim_delete;
    shim.vfs.xAccess = shim_access;
    shim.vfs.xFullPathname = shim_full_path;
    sqlite3_vfs_register(&shim.vfs, 0);
}

static void images_free(void)
{
    for (size_t i = 0; i < shim.n_images; i++) {
        image_clear(&shim.images[i]);
        free(shim.images[i].todo);
        free(shim.images[i].safe.p);
        free(shim.images[i].path);
    }
    free(shim.images);
    shim.images = NULL;
    shim.n_images = 0;
}

void shim_arm(const char *db, const shim_plan *plan)
{
    pthread_mutex_lock(&shim.lock);
    images_free();
    free(shim.db);
    shim.db = must(strdup(db));
    shim.plan = *plan;
    shim.healed = shim.dark = false;
    memset(shim.count, 0, sizeof shim.count);
    shim.failures = 0;
    shim.n_rare = 0;
    pthread_mutex_unlock(&shim.lock);
}

void shim_heal(void)
{
    pthread_mutex_lock(&shim.lock);
    shim.healed = true;
    shim.dark = false;
    pthread_mutex_unlock(&shim.lock);
}

int64_t shim_count(int ops)
{
    pthread_mutex_lock(&shim.lock);
    int64_t n = count_of(ops);
    pthread_mutex_unlock(&shim.lock);
    return n;
}

int shim_rare(int64_t *out, int max)
{
    pthread_mutex_lock(&shim.lock);
    int n = shim.n_rare < max ? shim.n_rare : max;
    memcpy(out, shim.rare, (size_t)n * sizeof *out);
    pthread_mutex_unlock(&shim.lock);
    return n;
}

int64_t shim_failures(void)
{
    pthread_mutex_lock(&shim.lock);
    int64_t n = shim.failures;
    pthread_mutex_unlock(&shim.lock);
    return n;
}

/* ---- after a power cut */

/* Puts a write down sector by sector, each with an even chance. */
static void pending_tear(bytes *b, const pending *p, rng *r)
{
    if (!p->data) {
        if (rng_below(r, 2))
            bytes_cut(b, p->offset);
        return;
    }
    for (size_t done = 0; done < p->n;) {
        size_t n = 512 - (size_t)((p->offset + (int64_t)done) % 512);
        if (n > p->n - done)
            n = p->n - done;
        if (rng_below(r, 2))
            bytes_put(b, p->offset + (int64_t)done, p->data + done, n);
        done += n;
    }
}

static void image_settle(image *m, int keep, rng *r)
{
    size_t torn = m->n_todo ? (size_t)rng_below(r, (int)m->n_todo) : 0;
    for (size_t i = 0; i < m->n_todo; i++) {
        if (keep == 2 || (keep == 3 && i == torn))
            pending_tear(&m->safe, &m->todo[i], r);
        else if (keep == 1 || (keep == 3 && i < torn))
            pending_apply(&m->safe, &m->todo[i]);
    }
    image_clear(m);
}

void shim_power_save(const char *to, int keep, rng *r)
{
    mkdir(to, 0755);
    pthread_mutex_lock(&shim.lock);
    for (size_t i = 0; i < shim.n_images; i++) {
        image *m = &shim.images[i];
        const char *name = strrchr(m->path, '/');
        image_settle(m, keep, r);
        char *path = text_new("%s/%s", to, name ? name + 1 : m->path);
        /* A file that was made and never synced may be there, empty, or not at all. */
        if (m->safe.n || rng_below(r, 2))
            image_write(path, m->safe.p, m->safe.n);
        free(path);
    }
    images_free();
    shim.dark = false;
    pthread_mutex_unlock(&shim.lock);
}
