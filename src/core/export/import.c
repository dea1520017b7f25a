/* SPDX-License-Identifier: Apache-2.0
 *
 * Imports: the spool that a file comes into, and the two passes over it (import.h).
 *
 * Spools lie in a folder of their own, PATH.import beside a store that is a file, else in $TMPDIR;
 * only this user can read them. One without a name has none in the folder either, and goes with the
 * process. One with a name is locked while it is in use, and removed when nobody went on with it
 * for a day.
 */
#include "core/export/import.h"
#include "core/export/import_spool.h"

#include "core/attachment/files.h"
#include "core/call.h"
#include "core/check.h"
#include "core/handle.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_BYTES (INT64_C(64) << 30)
#define SPOOL_DAYS_US (INT64_C(24) * 3600 * 1000000)
#define UPLOAD_CHARS 64
#define TICK 1024 /* entries between two reports of progress */

struct ramet_import {
    ramet_call *call;
    char *path; /* of a spool with a name, else NULL */
    int fd;
    int64_t size, most;
};

/* ---------------------------------------------------------------------- folder */

static const char *folder_name(ramet_call *c, arena *a)
{
    const char *tmp = getenv("TMPDIR"), *path = store_file(c->ramet->store);
    if (path)
        return arena_printf(a, "%s.import", path);
    return arena_printf(a, "%s/ramet-import-%ld", tmp && *tmp ? tmp : "/tmp", (long)geteuid());
}

/* It must be ours alone: others may write to the folder that it is in. */
static ramet_status folder_open(ramet_call *c, arena *a, const char **out)
{
    struct stat about;
    *out = folder_name(c, a);
    if (mkdir(*out, 0700) != 0 && errno != EEXIST)
        return call_fail(c, error_is_full(errno) ? RAMET_FULL : RAMET_IO, NULL,
                         "the folder %s of imports cannot be made: %s", *out, strerror(errno));
    if (lstat(*out, &about) != 0 || !S_ISDIR(about.st_mode) || about.st_uid != geteuid() ||
        (about.st_mode & 077))
        return call_fail(c, RAMET_IO, NULL,
                         "%s must be a folder that only the user of this process can use", *out);
    return RAMET_OK;
}

static ramet_status upload_check(ramet_call *c, const char *upload)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    size_t n = strlen(upload);
    if (n == 0 || n > UPLOAD_CHARS || strspn(upload, plain) != n)
        return call_fail(c, RAMET_INVALID, "upload",
                         "upload must be 1 to %d letters, digits, - and _", UPLOAD_CHARS);
    return RAMET_OK;
}

/* Of a user and a name: nobody reaches another user's spool. */
static const char *spool_path(ramet_call *c, arena *a, const char *folder, const char *upload)
{
    uint8_t h[HASH_LEN];
    char hex[2 * HASH_LEN + 1];
    sha_begin(c->hasher);
    sha_add(c->hasher, c->user ? c->user : "", c->user ? strlen(c->user) + 1 : 0);
    sha_add(c->hasher, upload, strlen(upload));
    sha_end(c->hasher, h);
    hex_encode(h, HASH_LEN, hex);
    return arena_printf(a, "%s/spool-%.40s", folder, hex);
}

int64_t ramet_import_spooled(ramet_call *c, const char *upload)
{
    struct stat about;
    if (upload_check(c, upload) != RAMET_OK)
        return 0;
    arena *a = arena_new();
    const char *path = spool_path(c, a, folder_name(c, a), upload);
    bool there = lstat(path, &about) == 0 && S_ISREG(about.st_mode);
    arena_free(a);
    return there ? (int64_t)about.st_size : 0;
}

/* True when nobody uses it and it was left that long ago. */
static bool spool_old(int fd, int64_t now, int64_t age_us)
{
    struct stat about;
    if (fd < 0 || fstat(fd, &about) != 0 || flock(fd, LOCK_EX | LOCK_NB) != 0)
        return false;
    return now - (int64_t)about.st_mtime * 1000000 >= age_us;
}

/* Spools that nobody went on with. Returns how many were removed. */
static int64_t folder_tidy(const char *folder, int64_t age_us)
{
    int64_t removed = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (strncmp(e->d_name, "spool-", 6) != 0)
            continue;
        int fd = openat(dirfd(d), e->d_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        if (spool_old(fd, time_now_us(), age_us))
            removed += unlinkat(dirfd(d), e->d_name, 0) == 0;
        if (fd >= 0)
            close(fd);
    }
    if (d)
        closedir(d);
    return removed;
}

int64_t import_spools_drop(ramet_call *c)
{
    arena *a = arena_new();
    int64_t removed = folder_tidy(folder_name(c, a), INT64_MIN);
    arena_free(a);
    return removed;
}

ramet_status ramet_import_tidy(ramet_call *c)
{
    TRY(program_only(c));
    arena *a = arena_new();
    folder_tidy(folder_name(c, a), SPOOL_DAYS_US);
    arena_free(a);
    return RAMET_OK;
}

/* ----------------------------------------------------------------------- spools */

static ramet_status spool_open(ramet_import *m, const char *folder, const char *upload, arena *a)
{
    ramet_call *c = m->call;
    struct stat about;
    char *path = arena_printf(a, "%s/XXXXXX", folder);
    if (upload) {
        const char *named = spool_path(c, a, folder, upload);
        m->fd = open(named, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        m->path = xstrdup(named);
    } else {
        m->fd = mkostemp(path, O_CLOEXEC);
        if (m->fd >= 0)
            unlink(path);
    }
    if (m->fd < 0)
        return call_fail(c, error_is_full(errno) ? RAMET_FULL : RAMET_IO, NULL,
                         "a spool cannot be made in %s: %s", folder, strerror(errno));
    if (upload && flock(m->fd, LOCK_EX | LOCK_NB) != 0)
        return call_fail(c, RAMET_BUSY, "upload", "the upload %s is being written already", upload);
    if (fstat(m->fd, &about) != 0 || lseek(m->fd, 0, SEEK_END) < 0)
        return call_fail(c, RAMET_IO, NULL, "the spool cannot be read: %s", strerror(errno));
    m->size = about.st_size;
    return RAMET_OK;
}

ramet_status ramet_import_begin(ramet_call *c, const char *upload, int64_t max_bytes,
                                ramet_import **out)
{
    const char *folder;
    *out = NULL;
    memset(&c->err, 0, sizeof c->err);
    if (max_bytes < 0)
        return call_fail(c, RAMET_INVALID, "max_bytes", "max_bytes must not be negative");
    if (c->user)
        TRY(check_id(c, "user", c->user));
    if (upload)
        TRY(upload_check(c, upload));
    arena *a = arena_new();
    ramet_import *m = xcalloc(1, sizeof *m);
    *m = (ramet_import){.call = c, .fd = -1, .most = max_bytes ? max_bytes : MOST_BYTES};
    ramet_status st = folder_open(c, a, &folder);
    if (st == RAMET_OK) {
        folder_tidy(folder, SPOOL_DAYS_US);
        st = spool_open(m, folder, upload, a);
    }
    arena_free(a);
    if (st == RAMET_OK)
        *out = m;
    else
        ramet_import_close(m);
    return st;
}

int64_t ramet_import_offset(const ramet_import *m)
{
    return m->size;
}

ramet_status ramet_import_add(ramet_import *m, const void *bytes, size_t n)
{
    if ((int64_t)n > m->most - m->size)
        return call_fail(m->call, RAMET_TOO_LARGE, "import", "the file has more than %lld bytes",
                         (long long)m->most);
    if (!bytes_write(m->fd, bytes, n))
        return call_fail(m->call, error_is_full(errno) ? RAMET_FULL : RAMET_IO, NULL,
                         "the spool cannot be written: %s", strerror(errno));
    m->size += (int64_t)n;
    return RAMET_OK;
}

void ramet_import_close(ramet_import *m)
{
    if (!m)
        return;
    if (m->fd >= 0)
        close(m->fd);
    free(m->path);
    free(m);
}

/* ------------------------------------------------------- for readers of other formats */

ramet_call *ramet_import_call(const ramet_import *m)
{
    return m->call;
}

int ramet_import_file(const ramet_import *m)
{
    return m->fd;
}

const char *ramet_import_user(const ramet_import *m)
{
    return m->call->user;
}

ramet_status ramet_import_fail(ramet_import *m, ramet_status st, const char *field,
                               const char *message)
{
    return call_fail(m->call, st, field, "%s", message);
}

void ramet_import_done(ramet_import *m, ramet_status st)
{
    /* Sent again, the same bytes would be refused again. */
    if (m->path && (st == RAMET_OK || st == RAMET_IMPORT_DAMAGED || st == RAMET_IMPORT_CONFLICT))
        unlink(m->path);
}

/* ---------------------------------------------------------------------- progress */

bool import_tick(import_job *j, const char *doing, int64_t entries)
{
    int64_t before = j->done / TICK;
    j->done += entries;
    return !j->progress || (entries && j->done / TICK == before) ||
           j->progress(j->arg, doing, j->done, j->total);
}

ramet_status import_stopped(import_job *j)
{
    return call_fail(j->call, RAMET_STOP, NULL,
                     "the import was stopped; done again, it goes on with what is missing");
}

/* ------------------------------------------------------------------------- passes */

static ramet_status lock_run(txn *tx, void *arg)
{
    const import_job *j = arg;
    import_lock(tx, j->t.tree, NULL);
    return txn_status(tx);
}

/* gc takes a tree that was not finished; it need not wait for this process to end. */
static void tree_give_up(import_job *j)
{
    ramet_error err = j->call->err;
    if (j->t.tree)
        txn_write(j->call, lock_run, j);
    j->call->err = err;
}

static ramet_status passes(import_job *j)
{
    TRY(import_check(j));
    j->done = 0;
    for (size_t i = 0; i < j->marks.n; i++) {
        if (j->marks.items[i].known)
            continue;
        if (!import_tick(j, "import", 0))
            return import_stopped(j);
        ramet_status st = import_tree_write(j, &j->marks.items[i]);
        if (st != RAMET_OK) {
            tree_give_up(j);
            return st;
        }
        j->t.tree = 0;
    }
    return import_links_write(j);
}

ramet_status ramet_import_run(ramet_import *m, ramet_progress progress, void *arg,
                              ramet_import_out *out)
{
    ramet_call *c = m->call;
    import_job j = {.call = c,
                    .progress = progress,
                    .arg = arg,
                    .out = out,
                    .user = c->user,
                    .all = arena_new(),
                    .tree = arena_new(),
                    .line = arena_new(),
                    .batch = arena_new(),
                    .scratch = arena_new()};
    *out = (ramet_import_out){0};
    /* JSON may need six bytes for one of an entry, and has its numbers beside. */
    reader_init(&j.in, m->fd, c->ramet->limits.entry_bytes * 6 + ((size_t)1 << 20));
    host_name(j.host);
    ramet_status st = passes(&j);
    reader_release(&j.in);
    arena_free(j.all);
    arena_free(j.tree);
    arena_free(j.line);
    arena_free(j.batch);
    arena_free(j.scratch);
    ramet_import_done(m, st);
    return st;
}
