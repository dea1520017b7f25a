/* SPDX-License-Identifier: Apache-2.0
 *
 * folder.c: the folders in which a program may be started, and the text files it reads and writes
 * there through Ramet.
 *
 * A user names a session's folder, so its real path is checked once and used from then on: changing
 * a link afterwards has no effect.
 */
#include "agent/acp/acp.h"

#include "base/util.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FILE_BYTES = 8 << 20 };

/* ------------------------------------------------------------------ the folder */

/* Whether a path is absolute and in the form that realpath() returns: without //, . and .., and
 * without a trailing slash. */
static bool path_plain(const char *path)
{
    size_t n = strlen(path);
    if (path[0] != '/' || (n > 1 && path[n - 1] == '/'))
        return false;
    for (const char *s = path; s; s = strchr(s + 1, '/')) {
        size_t part = strcspn(s + 1, "/");
        if (n > 1 &&
            (!part || (part == 1 && s[1] == '.') || (part == 2 && memcmp(s + 1, "..", 2) == 0)))
            return false;
    }
    return true;
}

bool folders_check(const acp *own, char *why)
{
    char *all = xstrdup(own->roots), *rest = all;
    bool fine = true;
    for (char *root; fine && *own->roots && (root = strsep(&rest, ":"));) {
        fine = path_plain(root);
        if (!fine)
            snprintf(why, AGENT_MESSAGE,
                     "roots must be absolute paths without . and .., parted by colons; '%.100s' is "
                     "none",
                     root);
    }
    free(all);
    if (fine && *own->folder && own->folder[0] != '/') {
        snprintf(why, AGENT_MESSAGE, "folder must be an absolute path, not '%.100s'", own->folder);
        fine = false;
    }
    return fine;
}

bool path_within(const char *path, const char *folder)
{
    char *one = realpath(path, NULL), *other = realpath(folder, NULL);
    size_t n = other ? strlen(other) : 0;
    bool in = one && other &&
              (strcmp(other, "/") == 0 ||
               (strncmp(one, other, n) == 0 && (one[n] == '/' || one[n] == 0)));
    free(one);
    free(other);
    return in;
}

/* Whether the real path of a folder is this one. */
static bool path_same(const char *real, const char *folder)
{
    char *other = realpath(folder, NULL);
    bool same = other && strcmp(real, other) == 0;
    free(other);
    return same;
}

/* Whether a session may work in a folder whose path contains no links. */
static bool folder_allowed(const acp *own, const char *folder)
{
    bool in = !*own->roots && (own->any_folder || (*own->folder && path_same(folder, own->folder)));
    char *all = xstrdup(own->roots), *rest = all;
    for (char *root; !in && (root = strsep(&rest, ":"));)
        in = *root && path_within(folder, root);
    free(all);
    return in;
}

char *folder_of(const acp *own, const agent_turn *t, agent_result *out)
{
    const char *named = t->session.folder && *t->session.folder ? t->session.folder : own->folder;
    if (named[0] != '/') {
        agent_fail(out, "the session has no working folder, and the agent none for such sessions");
        return NULL;
    }
    char *folder = realpath(named, NULL);
    bool allowed = folder && folder_allowed(own, folder);
    if (allowed)
        return folder;
    free(folder);
    if (!*own->roots && !own->any_folder)
        agent_fail(out,
                   "the folder %.200s is not one that this agent may work in: it has no roots, so "
                   "sessions cannot choose a folder",
                   named);
    else if (!folder && !*own->roots) /* do not reveal which folders exist elsewhere */
        agent_fail(out, "the folder %.200s cannot be opened", named);
    else
        agent_fail(out, "the folder %.200s is not in one that this agent may work in", named);
    return NULL;
}

/* ------------------------------------------------------------------ files in it */

/* Opens a file inside the folder, following no link out of it; -1 if it is not inside. Links in the
 * path of the folder are refused: it had none when it was checked. */
static int file_open(const char *in, const char *path, int flags)
{
    size_t n = strlen(in);
    if (!path || strncmp(path, in, n) != 0 || path[n] != '/')
        return -1;
    struct open_how base = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
                            .resolve = RESOLVE_NO_SYMLINKS},
                    how = {.flags = (uint64_t)(flags | O_CLOEXEC | O_NONBLOCK),
                           .mode = flags & O_CREAT ? 0644 : 0,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    int folder = (int)syscall(SYS_openat2, AT_FDCWD, in, &base, sizeof base);
    int fd = folder < 0 ? -1 : (int)syscall(SYS_openat2, folder, path + n + 1, &how, sizeof how);
    struct stat st;
    if (folder >= 0)
        close(folder);
    if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
        close(fd);
        return -1;
    }
    return fd;
}

const char *folder_read(const acp *own, arena *a, const char *folder, const message *m)
{
    int64_t line = 1, limit = INT64_MAX;
    int fd = own->reads ? file_open(folder, message_text(m, m->params, "path"), O_RDONLY) : -1;
    if (fd < 0)
        return NULL;
    buf b;
    char part[1 << 14];
    ssize_t got;
    buf_init(&b, FILE_BYTES);
    while ((got = read(fd, part, sizeof part)) > 0)
        buf_add(&b, part, (size_t)got);
    close(fd);
    json_int(&m->doc, message_at(m, m->params, "line"), &line);
    json_int(&m->doc, message_at(m, m->params, "limit"), &limit);
    char *from = arena_memdup(a, b.data, b.n);
    bool fine = !b.over && got == 0 && utf8_valid(from, b.n) && strlen(from) == b.n;
    buf_release(&b);
    if (!fine)
        return NULL;
    for (; line > 1 && *from; line--)
        from += strcspn(from, "\n") + (strchr(from, '\n') != NULL);
    char *to = from;
    for (; limit > 0 && *to; limit--)
        to += strcspn(to, "\n") + (strchr(to, '\n') != NULL);
    *to = 0;
    return from;
}

bool folder_write(const acp *own, const char *folder, const message *m)
{
    const char *text = message_text(m, m->params, "content");
    int fd = own->writes && text ? file_open(folder, message_text(m, m->params, "path"),
                                             O_WRONLY | O_CREAT | O_TRUNC)
                                 : -1;
    size_t n = fd < 0 ? 0 : strlen(text), at = 0;
    for (ssize_t put; at < n && (put = write(fd, text + at, n - at)) > 0;)
        at += (size_t)put;
    return fd >= 0 && close(fd) == 0 && at == n;
}
