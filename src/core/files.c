/* SPDX-License-Identifier: Apache-2.0
 *
 * The files of attachments: where they lie, how one gets there and goes (A1 to A3 in attachment.h).
 */
#include "core/attachment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#define READ_BYTES ((size_t)64 << 10)

char *files_root(const char *where)
{
    /* Beside the file itself, as the engine's own files are: a link to it means the same store. */
    char *real = realpath(where, NULL);
    const char *path = real ? real : where;
    size_t n = strlen(path) + sizeof ".files";
    char *root = xmalloc(n);
    snprintf(root, n, "%s.files", path);
    free(real);
    return root;
}

ramet_status file_failed(ramet_call *c, const char *what, const char *path)
{
    int why = errno;
    bool full = why == ENOSPC || why == EDQUOT || why == EFBIG;
    return call_fail(c, full ? RAMET_FULL : RAMET_IO, NULL, "%s cannot be %s: %s", path, what,
                     strerror(why));
}

const char *file_path(arena *a, const ramet *r, const uint8_t digest[HASH_LEN])
{
    char hex[2 * HASH_LEN + 1];
    hex_encode(digest, HASH_LEN, hex);
    return arena_printf(a, "%s/%.2s/%s", r->files, hex, hex + 2);
}

mode_t files_mode(const ramet *r, bool folder)
{
    struct stat st;
    mode_t mode = stat(store_path(r->st), &st) == 0 ? st.st_mode & 0666 : 0600;
    return folder ? mode | (mode & 0444) >> 2 | 0300 : mode | 0200;
}

static int folder_open(const char *path)
{
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int folder_lock(const char *path, int how)
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

bool folder_sync(const char *path)
{
    int fd = folder_open(path);
    bool done = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    return done;
}

ramet_status folder_make(ramet_call *c, const char *path)
{
    if (mkdir(path, files_mode(c->r, true)) == 0 || errno == EEXIST)
        return RAMET_OK;
    return file_failed(c, "made", path);
}

const char *folder_above(arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return ".";
    return slash == path ? "/" : arena_memdup(a, path, (size_t)(slash - path));
}

/* ----------------------------------------------------------- placing, removing */

/* Every folder on the way is synced, whoever made it: he may not have come to it. */
static ramet_status place(ramet_call *c, const char *from, const char *to, const char *folder)
{
    if (rename(from, to) != 0)
        return file_failed(c, "made", to);
    const char *way[] = {folder, c->r->files, folder_above(c->a, c->r->files)};
    for (size_t i = 0; i < sizeof way / sizeof way[0]; i++)
        if (!folder_sync(way[i]))
            return file_failed(c, "synced", way[i]);
    return RAMET_OK;
}

ramet_status file_place(ramet_call *c, const char *from, const uint8_t digest[HASH_LEN], int *lock)
{
    const char *to = file_path(c->a, c->r, digest), *folder = folder_above(c->a, to);
    *lock = -1;
    TRY(folder_make(c, folder));
    int fd = folder_lock(folder, LOCK_SH);
    if (fd < 0)
        return file_failed(c, "locked", folder);
    ramet_status st = place(c, from, to, folder);
    if (st == RAMET_OK)
        *lock = fd;
    else
        close(fd);
    return st;
}

bool file_named(ramet_call *c, const uint8_t digest[HASH_LEN])
{
    cx x;
    if (!cx_read(&x, c))
        return true;
    db_stmt *q = db_query(x.d, Q_attachment_of_sha);
    q_blob(q, 1, digest, HASH_LEN);
    bool any = q_row(q);
    q_end(q);
    return cx_done(&x, RAMET_OK) != RAMET_OK || any;
}

void file_reap(ramet_call *c, const uint8_t digest[HASH_LEN])
{
    const char *path = file_path(c->a, c->r, digest);
    int root = folder_lock(c->r->files, LOCK_SH | LOCK_NB), fd = -1;
    if (root >= 0)
        fd = folder_lock(folder_above(c->a, path), LOCK_EX);
    if (fd >= 0 && !file_named(c, digest))
        unlink(path);
    /* What is left lies there until the next gc. */
    memset(&c->err, 0, sizeof c->err);
    if (fd >= 0)
        close(fd);
    if (root >= 0)
        close(root);
}

/* ---------------------------------------------------------------------- walks */

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
        return file_failed(c, "listed", path);
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

ramet_status files_walk(ramet_call *c, const char *root, file_each each, void *arg)
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
        else if (S_ISREG(f.st.st_mode) && strncmp(names[i], FILE_BEGUN, strlen(FILE_BEGUN)) == 0)
            st = each(arg, &f);
    }
    arena_free(part);
    arena_free(a);
    return st;
}

/* ---------------------------------------------------------------------- bytes */

bool file_write(int fd, const void *bytes, size_t n)
{
    const char *p = bytes;
    while (n) {
        ssize_t done = write(fd, p, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return false;
        p += done;
        n -= (size_t)done;
    }
    return true;
}

bool file_read(int fd, file_take take, void *arg)
{
    char *bytes = xmalloc(READ_BYTES);
    ssize_t n;
    while ((n = read(fd, bytes, READ_BYTES)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 || !take(arg, bytes, (size_t)n))
            break;
    }
    int why = errno;
    free(bytes);
    errno = why;
    return n == 0;
}

static bool hash_take(void *arg, const void *bytes, size_t n)
{
    sha_add(arg, bytes, n);
    return true;
}

const char *file_fault(ramet_call *c, arena *a, const uint8_t digest[HASH_LEN], int64_t size)
{
    struct stat st;
    uint8_t have[HASH_LEN];
    int fd = open(file_path(a, c->r, digest), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? "its file is missing"
                               : arena_printf(a, "its file cannot be opened: %s", strerror(errno));
    const char *fault = NULL;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        fault = "its file is none";
    else if (st.st_size != size)
        fault = arena_printf(a, "its file has %lld bytes and should have %lld",
                             (long long)st.st_size, (long long)size);
    if (fault) {
        close(fd);
        return fault;
    }
    sha_begin(c->hasher);
    if (!file_read(fd, hash_take, c->hasher))
        fault = arena_printf(a, "its file cannot be read: %s", strerror(errno));
    sha_end(c->hasher, have);
    if (!fault && memcmp(have, digest, HASH_LEN) != 0)
        fault = "its file is damaged: the hash is wrong";
    close(fd);
    return fault;
}
