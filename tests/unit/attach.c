/* SPDX-License-Identifier: Apache-2.0 */
#include "attach.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define KEPT 64

static char kept[KEPT][64];
static int n_kept;

const char *upload(ramet_call *c, const char *text)
{
    ramet_upload *u;
    ramet_attachment *a;
    ok_for(c, ramet_upload_begin(c, &(ramet_upload_in){0}, &u));
    ok_for(c, ramet_upload_add(u, text, strlen(text)));
    ok_for(c, ramet_upload_finish(u, &a));
    cr_assert_lt(n_kept, KEPT);
    snprintf(kept[n_kept], sizeof kept[0], "%s", a->id);
    return kept[n_kept++];
}

void attach_forget(void)
{
    n_kept = 0;
}

const char *content(ramet_call *c, const char *id)
{
    static char text[256];
    ramet_attachment *a;
    int fd;
    ok_for(c, ramet_attachment_open(c, id, &a, &fd));
    ssize_t n = read(fd, text, sizeof text - 1);
    cr_assert_geq(n, 0);
    cr_assert_eq(n, a->size);
    text[n] = 0;
    close(fd);
    return text;
}

void attach(const char *session, const char *entry, const char *id)
{
    char parts[300];
    snprintf(parts, sizeof parts,
             "[{\"type\":\"text\",\"text\":\"see\"},{\"type\":\"file\",\"attachment_id\":\"%s\"}]",
             id);
    put(session, &(ramet_entry_in){.id = entry, .role = RAMET_USER, .parts = parts});
}

void sound(void)
{
    ramet_fsck_out out;
    ok(ramet_fsck(T.call, NULL, NULL, &out));
    cr_assert_eq(out.n_all, 0, "%s", out.n ? out.faults[0].what : "");
}

/* ---- the content itself */

static const char *path_of(const char *name)
{
    static char path[300];
    snprintf(path, sizeof path, "%s/%s", T.files, name);
    return path;
}

static const char *place(const char *sha256)
{
    char name[80];
    snprintf(name, sizeof name, "%.2s/%s", sha256, sha256 + 2);
    return path_of(name);
}

static int count_in(const char *path, int depth)
{
    int n = 0;
    DIR *dir = opendir(path);
    if (!dir)
        return 0;
    for (struct dirent *d; (d = readdir(dir));) {
        char inner[600];
        struct stat st;
        if (d->d_name[0] == '.')
            continue;
        snprintf(inner, sizeof inner, "%s/%s", path, d->d_name);
        if (stat(inner, &st) == 0 && S_ISDIR(st.st_mode) && depth < 2)
            n += count_in(inner, depth + 1);
        else
            n++;
    }
    closedir(dir);
    return n;
}

void in_folder(void)
{
    T.folder = true;
    if (T.database)
        scratch_reopen(NULL);
}

static bool in_tables(void)
{
    return T.database && !T.folder;
}

/* A statement on the parts of a content. */
static int64_t rows(const char *sql, const char *sha256)
{
    char text[400];
    snprintf(text, sizeof text, "%s WHERE sha='\\x%s'", sql, sha256);
    return sql_number(text);
}

int files(void)
{
    if (in_tables())
        return (int)sql_number("SELECT count(DISTINCT sha) FROM attach_part");
    return count_in(path_of(""), 0);
}

bool file_there(const char *sha256)
{
    if (in_tables())
        return rows("SELECT count(*) FROM attach_part", sha256) > 0;
    return access(place(sha256), F_OK) == 0;
}

void file_put(const char *sha256, const char *text)
{
    char folder[8], sql[400];
    if (in_tables()) {
        rows("DELETE FROM attach_part", sha256);
        snprintf(sql, sizeof sql, "INSERT INTO attach_part VALUES('\\x%s',0,'%s')", sha256, text);
        sql_number(sql);
        return;
    }
    snprintf(folder, sizeof folder, "%.2s", sha256);
    mkdir(path_of(""), 0700);
    mkdir(path_of(folder), 0700);
    FILE *f = fopen(place(sha256), "w");
    cr_assert_not_null(f);
    fputs(text, f);
    fclose(f);
}

void file_drop(const char *sha256)
{
    if (in_tables())
        rows("DELETE FROM attach_part", sha256);
    else
        cr_assert_eq(unlink(place(sha256)), 0);
}

void file_age(const char *name, int64_t us)
{
    struct timespec now, t[2];
    clock_gettime(CLOCK_REALTIME, &now);
    t[0] = t[1] = (struct timespec){.tv_sec = now.tv_sec - us / SECOND};
    cr_assert_eq(utimensat(AT_FDCWD, path_of(name), t, 0), 0);
}
