/* SPDX-License-Identifier: Apache-2.0
 *
 * Uploads: bytes go to a file of their own as they come. At the end it is synced, moved to where
 * its content belongs, and then the row is written (A2 in attachment.h).
 */
#include "core/attachment.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#define NAME_CHARS 255
#define TYPE_BYTES 255
#define UNUSED_US (INT64_C(24) * 3600 * 1000000) /* one that no entry refers to lives this long */

struct ramet_upload {
    ramet_call *c;
    int fd;     /* locked: gc leaves the file alone */
    char *path; /* NULL: it is in its place */
    sha *hash;
    int64_t size, most;
    char *name, *media_type;
    uint8_t want[HASH_LEN];
    bool check; /* against `want` */
};

/* ------------------------------------------------------------------- arguments */

/* Both end up in headers and file dialogs. */
static ramet_status plain_check(ramet_call *c, const char *field, const char *s)
{
    TRY(check_utf8(c, field, s));
    for (const char *p = s; p && *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            return call_fail(c, RAMET_INVALID, field, "%s holds a control character", field);
    return RAMET_OK;
}

static ramet_status hash_read(ramet_call *c, const char *hex, uint8_t out[HASH_LEN])
{
    char low[2 * HASH_LEN + 1];
    size_t n = strlen(hex);
    for (size_t i = 0; i <= n && i < sizeof low; i++)
        low[i] = hex[i] >= 'A' && hex[i] <= 'F' ? (char)(hex[i] + 32) : hex[i];
    if (n != 2 * HASH_LEN || !hex_decode(low, out, HASH_LEN))
        return call_fail(c, RAMET_INVALID, "sha256", "sha256 must be 64 hex digits");
    return RAMET_OK;
}

static ramet_status in_check(ramet_call *c, const ramet_upload_in *in)
{
    if (c->user)
        TRY(check_id(c, "user", c->user));
    TRY(plain_check(c, "name", in->name));
    TRY(check_chars(c, "name", in->name, NAME_CHARS, RAMET_TOO_LARGE));
    TRY(plain_check(c, "media_type", in->media_type));
    if (in->media_type && strlen(in->media_type) > TYPE_BYTES)
        return call_fail(c, RAMET_TOO_LARGE, "media_type",
                         "media_type has %zu bytes; at most %d are allowed", strlen(in->media_type),
                         TYPE_BYTES);
    if (in->max_bytes < 0)
        return call_fail(c, RAMET_INVALID, "max_bytes", "max_bytes must not be negative");
    return RAMET_OK;
}

/* ----------------------------------------------------------------------- bytes */

static ramet_status file_begin(ramet_call *c, ramet_upload *u)
{
    char uuid[UUID_TEXT];
    TRY(folder_make(c, c->r->files));
    const char *path =
        arena_printf(c->a, "%s/" FILE_BEGUN "%s", c->r->files, uuid7(ramet_now(c->r), uuid));
    u->fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, files_mode(c->r, false));
    if (u->fd < 0)
        return file_failed(c, "made", path);
    u->path = xstrdup(path);
    if (flock(u->fd, LOCK_EX | LOCK_NB) != 0)
        return file_failed(c, "locked", path);
    return RAMET_OK;
}

ramet_status ramet_upload_begin(ramet_call *c, const ramet_upload_in *in, ramet_upload **out)
{
    uint8_t want[HASH_LEN] = {0};
    int64_t limit = (int64_t)c->r->lim.attachment_bytes;
    *out = NULL;
    memset(&c->err, 0, sizeof c->err);
    TRY(in_check(c, in));
    if (in->sha256)
        TRY(hash_read(c, in->sha256, want));
    ramet_upload *u = xcalloc(1, sizeof *u);
    *u = (ramet_upload){.c = c, .fd = -1, .hash = sha_new(), .check = in->sha256 != NULL};
    u->most = in->max_bytes && in->max_bytes < limit ? in->max_bytes : limit;
    memcpy(u->want, want, HASH_LEN);
    u->name = xstrdup(in->name ? in->name : "");
    u->media_type = xstrdup(in->media_type ? in->media_type : "");
    sha_begin(u->hash);
    ramet_status st = file_begin(c, u);
    if (st == RAMET_OK)
        *out = u;
    else
        ramet_upload_abort(u);
    return st;
}

ramet_status ramet_upload_add(ramet_upload *u, const void *bytes, size_t n)
{
    if (n > (uint64_t)(u->most - u->size))
        return call_fail(u->c, RAMET_TOO_LARGE, "attachment",
                         "the attachment is larger than %lld bytes", (long long)u->most);
    if (!file_write(u->fd, bytes, n))
        return file_failed(u->c, "written", u->path);
    sha_add(u->hash, bytes, n);
    u->size += (int64_t)n;
    return RAMET_OK;
}

void ramet_upload_abort(ramet_upload *u)
{
    if (!u)
        return;
    if (u->path)
        unlink(u->path);
    if (u->fd >= 0)
        close(u->fd);
    sha_free(u->hash);
    free(u->path);
    free(u->name);
    free(u->media_type);
    free(u);
}

/* ---------------------------------------------------------------------- finish */

typedef struct finish_job {
    attachment_row row;
    ramet_attachment **out;
} finish_job;

static ramet_status finish_run(cx *x, void *arg)
{
    finish_job *j = arg;
    j->row.created = x->now;
    j->row.expires = x->now + UNUSED_US;
    attachment_insert(x, &j->row);
    *j->out = attachment_show(x, &j->row);
    return cx_status(x);
}

ramet_status ramet_upload_finish(ramet_upload *u, ramet_attachment **out)
{
    ramet_call *c = u->c;
    char uuid[UUID_TEXT];
    int lock = -1;
    finish_job j = {.out = out};
    *out = NULL;
    if (!u->path)
        return call_fail(c, RAMET_INVALID, NULL, "the upload was finished already");
    sha_end(u->hash, j.row.sha);
    if (u->check && memcmp(u->want, j.row.sha, HASH_LEN) != 0)
        return call_fail(c, RAMET_DIGEST_MISMATCH, "sha256",
                         "the bytes that came do not have the SHA-256 that was given");
    if (fsync(u->fd) != 0)
        return file_failed(c, "synced", u->path);
    TRY(file_place(c, u->path, j.row.sha, &lock));
    free(u->path);
    u->path = NULL;
    j.row.id = uuid7(ramet_now(c->r), uuid);
    j.row.size = u->size;
    j.row.name = u->name;
    j.row.media_type = u->media_type;
    j.row.owner = c->user ? c->user : "";
    ramet_status st = cx_write(c, finish_run, &j);
    close(lock);
    if (st == RAMET_OK)
        ramet_upload_abort(u);
    else
        *out = NULL;
    return st;
}
