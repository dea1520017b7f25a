/* SPDX-License-Identifier: Apache-2.0
 *
 * Content of attachments as files in a folder: their names, and how files are added and removed (A1
 * to A3 in attachment.h). Several nodes may share the folder.
 */
#include "core/attachment/files.h"
#include "core/call.h"
#include "core/handle.h"
#include "core/txn.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#define READ_BYTES ((size_t)64 << 10)
#define BEGUN "up-" /* prefix of an upload in progress, directly in the folder */
#define YOUNG_US (INT64_C(3600) * 1000000) /* a younger file may still be written */

/* ------------------------------------------------------------------------ names */

/* Reports errno as "PATH cannot be WHAT: why". */
static ramet_status failed(ramet_call *c, const char *what, const char *path)
{
    int why = errno;
    return call_fail(c, error_is_full(why) ? RAMET_FULL : RAMET_IO, NULL, "%s cannot be %s: %s",
                     path, what, strerror(why));
}

static const char *root_of(const ramet_call *c)
{
    return c->ramet->files->root;
}

static const char *path_of(arena *a, const ramet_call *c, const uint8_t digest[HASH_LEN])
{
    char hex[2 * HASH_LEN + 1];
    hex_encode(digest, HASH_LEN, hex);
    return arena_printf(a, "%s/%.2s/%s", root_of(c), hex, hex + 2);
}

/* The folder that a path is in. */
static const char *above(arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return ".";
    return slash == path ? "/" : arena_memdup(a, path, (size_t)(slash - path));
}

/* Permissions of a new file or folder: the owner's, and the group's where the database file grants
 * them. */
static mode_t mode_of(const ramet *r, bool folder)
{
    struct stat st;
    const char *file = store_file(r->store);
    mode_t mode = 0600 | (file && stat(file, &st) == 0 ? st.st_mode & 0060 : 0);
    return folder ? mode | (mode & 0440) >> 2 : mode;
}

/* ---------------------------------------------------------------------- folders */

static int folder_open(const char *path)
{
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Opens and locks a folder (LOCK_SH, …); -1 with errno on failure. */
static int folder_lock(const char *path, int how)
{
    int fd = folder_open(path), rc = -1;
    while (fd >= 0 && (rc = flock(fd, how)) != 0 && errno == EINTR)
        ;
    if (fd >= 0 && rc != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static bool folder_sync(const char *path)
{
    int fd = folder_open(path);
    bool done = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    return done;
}

/* Creates a folder; no error when it exists. */
static ramet_status folder_make(ramet_call *c, const char *path)
{
    if (mkdir(path, mode_of(c->ramet, true)) == 0 || errno == EEXIST)
        return RAMET_OK;
    return failed(c, "made", path);
}

/* ------------------------------------------------------------------ on its way */

typedef struct coming {
    incoming base;
    int fd;     /* locked, so that gc leaves the file alone */
    char *path; /* NULL: the file is in its final location */
    int lock;   /* the lock of A3, then; else -1 */
} coming;

static void folder_end(incoming *base, bool kept)
{
    coming *w = (coming *)base;
    (void)kept; /* gc removes a file without a row */
    if (w->path)
        unlink(w->path);
    if (w->fd >= 0)
        close(w->fd);
    if (w->lock >= 0)
        close(w->lock);
    free(w->path);
    free(w);
}

static ramet_status begun_make(ramet_call *c, coming *w)
{
    char uuid[UUID_TEXT];
    TRY(folder_make(c, root_of(c)));
    const char *path =
        arena_printf(c->arena, "%s/" BEGUN "%s", root_of(c), uuid7(ramet_now(c->ramet), uuid));
    w->fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode_of(c->ramet, false));
    if (w->fd < 0)
        return failed(c, "made", path);
    w->path = xstrdup(path);
    if (flock(w->fd, LOCK_EX | LOCK_NB) != 0)
        return failed(c, "locked", path);
    return RAMET_OK;
}

static ramet_status folder_begin(ramet_call *c, incoming **out)
{
    coming *w = xcalloc(1, sizeof *w);
    *w = (coming){.base = {&files_folder, c}, .fd = -1, .lock = -1};
    ramet_status st = begun_make(c, w);
    *out = st == RAMET_OK ? &w->base : NULL;
    if (st != RAMET_OK)
        folder_end(&w->base, false);
    return st;
}

static ramet_status folder_add(incoming *base, const void *bytes, size_t n)
{
    coming *w = (coming *)base;
    return bytes_write(w->fd, bytes, n) ? RAMET_OK : failed(base->call, "written", w->path);
}

/* Syncs every folder on the way, whichever process created it: that process may not have done so
 * yet. */
static ramet_status file_install(ramet_call *c, const char *from, const char *to,
                                 const char *folder)
{
    if (rename(from, to) != 0)
        return failed(c, "made", to);
    const char *way[] = {folder, root_of(c), above(c->arena, root_of(c))};
    for (size_t i = 0; i < sizeof way / sizeof way[0]; i++)
        if (!folder_sync(way[i]))
            return failed(c, "synced", way[i]);
    return RAMET_OK;
}

static ramet_status folder_seal(incoming *base, const uint8_t digest[HASH_LEN])
{
    coming *w = (coming *)base;
    ramet_call *c = base->call;
    const char *to = path_of(c->arena, c, digest), *folder = above(c->arena, to);
    if (fsync(w->fd) != 0)
        return failed(c, "synced", w->path);
    TRY(folder_make(c, folder));
    w->lock = folder_lock(folder, LOCK_SH);
    if (w->lock < 0)
        return failed(c, "locked", folder);
    TRY(file_install(c, w->path, to, folder));
    free(w->path);
    w->path = NULL;
    return RAMET_OK;
}

/* --------------------------------------------------------------------- reading */

static int file_of(ramet_call *c, arena *a, const uint8_t digest[HASH_LEN], const char **path)
{
    *path = path_of(a, c, digest);
    return open(*path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
}

static ramet_status folder_file(ramet_call *c, const uint8_t digest[HASH_LEN], int64_t size,
                                int *fd)
{
    const char *path;
    (void)size;
    *fd = file_of(c, c->arena, digest, &path);
    return *fd >= 0 || errno == ENOENT ? RAMET_OK : failed(c, "opened", path);
}

static const char *unopened(arena *a)
{
    return errno == ENOENT ? "is missing"
                           : arena_printf(a, "cannot be opened: %s", strerror(errno));
}

static const char *folder_size(ramet_call *c, arena *a, const uint8_t digest[HASH_LEN],
                               int64_t *out)
{
    struct stat st;
    const char *path;
    int fd = file_of(c, a, digest, &path);
    if (fd < 0)
        return unopened(a);
    bool plain = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    close(fd);
    *out = plain ? st.st_size : 0;
    return plain ? NULL : "is none";
}

static const char *folder_read(ramet_call *c, arena *a, const uint8_t digest[HASH_LEN],
                               int64_t from, int64_t n, file_take take, void *arg)
{
    const char *path, *fault = NULL;
    int fd = file_of(c, a, digest, &path);
    if (fd < 0)
        return unopened(a);
    char *bytes = xmalloc(READ_BYTES);
    while (n > 0 && !fault) {
        size_t max = n < (int64_t)READ_BYTES ? (size_t)n : READ_BYTES;
        ssize_t got = pread(fd, bytes, max, from);
        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0)
            fault = "is too short";
        else if (got < 0 || !take(arg, bytes, (size_t)got))
            fault = arena_printf(a, "cannot be read: %s", strerror(errno));
        from += got;
        n -= got;
    }
    int why = errno;
    free(bytes);
    close(fd);
    errno = why;
    return fault;
}

/* --------------------------------------------------------------------- removing */

static void folder_reap(ramet_call *c, const uint8_t digest[HASH_LEN])
{
    const char *path = path_of(c->arena, c, digest);
    int root = folder_lock(root_of(c), LOCK_SH | LOCK_NB), fd = -1;
    if (root >= 0)
        fd = folder_lock(above(c->arena, path), LOCK_EX);
    if (fd >= 0 && !file_named(c, digest))
        unlink(path);
    if (fd >= 0)
        close(fd);
    if (root >= 0)
        close(root);
}

/* ------------------------------------------------------------------------ walks */

typedef struct file_seen {
    const char *path, *folder, *name;
    uint8_t sha[HASH_LEN];
    bool whole; /* in its final location; else an upload in progress */
    struct stat st;
} file_seen;
typedef ramet_status (*file_each)(void *arg, const file_seen *f);

static bool name_read(const char *folder, const char *name, uint8_t digest[HASH_LEN])
{
    char hex[2 * HASH_LEN + 1];
    if (strlen(folder) != 2 || strlen(name) != 2 * HASH_LEN - 2)
        return false;
    snprintf(hex, sizeof hex, "%s%s", folder, name);
    return hex_decode(hex, digest, HASH_LEN);
}

static ramet_status names_load(ramet_call *c, arena *a, const char *path, char ***out, size_t *n)
{
    VEC(char *) v = {0};
    DIR *dir = opendir(path);
    if (!dir && errno == ENOENT) {
        *n = 0;
        return RAMET_OK;
    }
    if (!dir)
        return failed(c, "listed", path);
    for (struct dirent *d; (d = readdir(dir));)
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
            VEC_PUSH(a, &v, arena_strdup(a, d->d_name));
    closedir(dir);
    *out = v.items;
    *n = v.n;
    return RAMET_OK;
}

static ramet_status folder_walk(ramet_call *c, arena *a, const char *root, const char *folder,
                                file_each each, void *arg)
{
    char **names;
    size_t n;
    const char *path = arena_printf(a, "%s/%s", root, folder);
    TRY(names_load(c, a, path, &names, &n));
    for (size_t i = 0; i < n; i++) {
        file_seen f = {.folder = folder, .name = names[i]};
        f.path = arena_printf(a, "%s/%s", path, names[i]);
        f.whole = name_read(folder, names[i], f.sha);
        if (f.whole && lstat(f.path, &f.st) == 0 && S_ISREG(f.st.st_mode))
            TRY(each(arg, &f));
    }
    return RAMET_OK;
}

/* Visits every file of the store, or of a copy of the folder, one subfolder at a time; other files
 * are skipped. `each` returns RAMET_OK to continue. */
static ramet_status files_walk(ramet_call *c, const char *root, file_each each, void *arg)
{
    arena *a = arena_new(), *part = arena_new();
    char **names;
    size_t n;
    ramet_status st = names_load(c, a, root, &names, &n);
    for (size_t i = 0; st == RAMET_OK && i < n; i++) {
        file_seen f = {.folder = "", .name = names[i]};
        f.path = arena_printf(a, "%s/%s", root, names[i]);
        if (lstat(f.path, &f.st) != 0)
            continue;
        arena_reset(part);
        if (S_ISDIR(f.st.st_mode))
            st = folder_walk(c, part, root, names[i], each, arg);
        else if (S_ISREG(f.st.st_mode) && strncmp(names[i], BEGUN, strlen(BEGUN)) == 0)
            st = each(arg, &f);
    }
    arena_free(part);
    arena_free(a);
    return st;
}

/* -------------------------------------------------------------------------- gc */

typedef struct sweep_job {
    ramet_call *call;
    sweep_each each;
    void *arg;
} sweep_job;

/* Removes an unfinished upload, unless its writer still holds the lock. */
static void begun_reap(const file_seen *f)
{
    int fd = open(f->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        unlink(f->path);
    close(fd);
}

static ramet_status sweep_file(void *arg, const file_seen *f)
{
    sweep_job *j = arg;
    int64_t changed = (int64_t)f->st.st_mtim.tv_sec * 1000000 + f->st.st_mtim.tv_nsec / 1000;
    TRY(j->each(j->arg));
    /* File times come from the system's clock, whatever clock the store uses. */
    if (changed > time_now_us() - YOUNG_US)
        return RAMET_OK;
    if (!f->whole)
        begun_reap(f);
    else if (!file_named(j->call, f->sha))
        file_reap(j->call, f->sha);
    return RAMET_OK;
}

static ramet_status folder_sweep(ramet_call *c, sweep_each each, void *arg)
{
    sweep_job j = {c, each, arg};
    return files_walk(c, root_of(c), sweep_file, &j);
}

/* ---------------------------------------------------------------------- backup */

typedef struct backup_job {
    ramet_call *call;
    const char *target;
    ramet_progress progress;
    void *arg;
    int64_t done, total;
    arena *arena; /* memory for one file */
} backup_job;

static bool take_write(void *arg, const void *bytes, size_t n)
{
    return bytes_write(*(int *)arg, bytes, n);
}

static ramet_status file_copy(ramet_call *c, const file_seen *f, const char *to)
{
    arena *a = arena_new();
    int out = open(to, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode_of(c->ramet, false));
    ramet_status st = RAMET_OK;
    const char *fault = NULL;
    if (out < 0)
        st = failed(c, "made", to);
    else
        fault = folder_read(c, a, f->sha, 0, f->st.st_size, take_write, &out);
    if (fault)
        st = call_fail(c, error_is_full(errno) ? RAMET_FULL : RAMET_IO, NULL, "%s %s", f->path,
                       fault);
    if (st == RAMET_OK && fsync(out) != 0)
        st = failed(c, "synced", to);
    if (out >= 0)
        close(out);
    arena_free(a);
    return st;
}

static ramet_status backup_each(void *arg, const file_seen *f)
{
    backup_job *j = arg;
    if (!f->whole)
        return RAMET_OK;
    if (j->progress && !j->progress(j->arg, "backup of attachments", j->done, j->total))
        return call_fail(j->call, RAMET_STOP, NULL, "%s", ramet_status_text(RAMET_STOP));
    j->done++;
    arena_reset(j->arena);
    const char *folder = arena_printf(j->arena, "%s/%s", j->target, f->folder);
    const char *to = arena_printf(j->arena, "%s/%s", folder, f->name);
    TRY(folder_make(j->call, folder));
    TRY(file_copy(j->call, f, to));
    return folder_sync(folder) ? RAMET_OK : failed(j->call, "synced", folder);
}

static ramet_status count_each(void *arg, const file_seen *f)
{
    *(int64_t *)arg += f->whole;
    return RAMET_OK;
}

static ramet_status remove_each(void *arg, const file_seen *f)
{
    unlink(f->path);
    rmdir(above(arg, f->path)); /* fails unless that was the last file */
    return RAMET_OK;
}

static ramet_status copy_run(backup_job *j)
{
    ramet_call *c = j->call;
    TRY(files_walk(c, root_of(c), backup_each, j));
    const char *folders[] = {j->target, above(c->arena, j->target)};
    for (size_t i = 0; i < 2; i++)
        if (!folder_sync(folders[i]))
            return failed(c, "synced", folders[i]);
    return RAMET_OK;
}

int files_hold(ramet_call *c)
{
    return root_of(c) ? folder_lock(root_of(c), LOCK_EX) : -1;
}

ramet_status files_copy(ramet_call *c, const char *target, ramet_progress progress, void *arg)
{
    backup_job j = {.call = c, .target = target, .progress = progress, .arg = arg};
    if (!root_of(c))
        return RAMET_OK;
    TRY(files_walk(c, root_of(c), count_each, &j.total));
    if (!j.total)
        return RAMET_OK;
    if (mkdir(j.target, mode_of(c->ramet, true)) != 0)
        return failed(c, "made", j.target);
    j.arena = arena_new();
    ramet_status st = copy_run(&j);
    if (st != RAMET_OK) {
        ramet_error why = c->err;
        files_walk(c, j.target, remove_each, j.arena);
        rmdir(j.target);
        c->err = why;
    }
    arena_free(j.arena);
    return st;
}

const files_kind files_folder = {
    .word = "file",
    .begin = folder_begin,
    .add = folder_add,
    .seal = folder_seal,
    .end = folder_end,
    .open = folder_file,
    .size = folder_size,
    .read = folder_read,
    .reap = folder_reap,
    .sweep = folder_sweep,
};
