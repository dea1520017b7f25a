/* SPDX-License-Identifier: Apache-2.0
 *
 * folder.c: a folder as a tar archive (ustar), for an import of many files at once.
 */
#include "cli/commands.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK 512
#define NAME_CHARS 100
#define MAX_DEPTH 32
#define MAX_PATH_CHARS 4000

typedef struct packer {
    cli *c;
    FILE *out;
    const char *failed; /* path of what could not be read */
} packer;

/* The numbers of a header are octal texts; its checksum counts its own field as blanks. */
static void header_put(packer *p, const char *name, char type, size_t size)
{
    char h[BLOCK] = {0};
    unsigned sum = 0;
    snprintf(h, NAME_CHARS, "%s", name);
    snprintf(h + 100, 8, "%07o", 0600u);
    snprintf(h + 108, 8, "%07o", 0u);
    snprintf(h + 116, 8, "%07o", 0u);
    snprintf(h + 124, 12, "%011zo", size & 077777777777);
    snprintf(h + 136, 12, "%011o", 0u);
    memset(h + 148, ' ', 8);
    h[156] = type;
    memcpy(h + 257,
           "ustar\0"
           "00",
           8);
    for (size_t i = 0; i < BLOCK; i++)
        sum += (unsigned char)h[i];
    snprintf(h + 148, 8, "%06o", sum);
    fwrite(h, 1, BLOCK, p->out);
}

static void padding_put(packer *p, size_t size)
{
    static const char zeros[BLOCK];
    if (size % BLOCK)
        fwrite(zeros, 1, BLOCK - size % BLOCK, p->out);
}

static bool file_put(packer *p, int fd, const char *name, size_t size)
{
    char part[1 << 16];
    size_t left = size, long_name = strlen(name);
    if (long_name >= NAME_CHARS) { /* GNU: the name is a file before it */
        header_put(p, "././@LongLink", 'L', long_name + 1);
        fwrite(name, 1, long_name + 1, p->out);
        padding_put(p, long_name + 1);
    }
    header_put(p, name, '0', size);
    while (left) {
        ssize_t got = read(fd, part, left < sizeof part ? left : sizeof part);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return false;
        if (got == 0) { /* it has become shorter */
            memset(part, '\n', sizeof part);
            got = (ssize_t)(left < sizeof part ? left : sizeof part);
        }
        fwrite(part, 1, (size_t)got, p->out);
        left -= (size_t)got;
    }
    padding_put(p, size);
    return true;
}

static int not_dots(const struct dirent *e)
{
    return strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
}

/* Files of a folder, by name; links are not followed. */
static bool folder_put(packer *p, int folder, const char *path, int depth)
{
    struct dirent **list;
    int n = scandirat(folder, ".", &list, not_dots, alphasort);
    bool fine = n >= 0;
    for (int i = 0; i < n; i++) {
        struct stat about;
        const char *name = *path ? arena_printf(p->c->mem, "%s/%s", path, list[i]->d_name)
                                 : arena_strdup(p->c->mem, list[i]->d_name);
        int fd =
            fine && strlen(name) < MAX_PATH_CHARS
                ? openat(folder, list[i]->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
                : -1;
        if (fd >= 0 && fstat(fd, &about) == 0) {
            if (S_ISDIR(about.st_mode) && depth < MAX_DEPTH)
                fine = folder_put(p, fd, name, depth + 1);
            else if (S_ISREG(about.st_mode))
                fine = file_put(p, fd, name, (size_t)about.st_size);
        } else if (fine && errno != ELOOP && errno != ENXIO) {
            fine = false;
        }
        if (!fine && !p->failed)
            p->failed = name;
        if (fd >= 0)
            close(fd);
        free(list[i]);
    }
    if (n >= 0)
        free(list);
    return fine;
}

int folder_pack(cli *c, const char *path, int64_t *size)
{
    static const char end[2 * BLOCK];
    packer p = {.c = c, .out = tmpfile()};
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool fine = p.out && folder >= 0 && folder_put(&p, folder, "", 0);
    if (folder >= 0)
        close(folder);
    if (!fine) {
        cli_error(c, RAMET_INVALID, "path", "%s cannot be read: %s", p.failed ? p.failed : path,
                  strerror(errno));
        return -1;
    }
    fwrite(end, 1, sizeof end, p.out);
    if (fflush(p.out) != 0 || ferror(p.out)) {
        cli_error(c, RAMET_FULL, "path", "the folder cannot be packed: %s", strerror(errno));
        return -1;
    }
    *size = ftello(p.out);
    return fileno(p.out);
}
