/* SPDX-License-Identifier: Apache-2.0
 *
 * attachment.c: attachments of the memory-service face: downloads, signed links, deletion. Uploads
 * are in upload.c.
 */
#include "face/memory/memory.h"

#include "base/util.h"
#include "ramet/memory.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINK_S = 300 };

static const char *header(request *q, const char *name)
{
    const char *s = request_header(q, name);
    return s ? s : "";
}

void memory_file_error(request *q, const char *id)
{
    const ramet_error *e = ramet_call_error(q->call);
    if (e->status == RAMET_ATTACHMENT_NOT_FOUND && !memory_file_is_disclosed(e, id))
        memory_refuse(q, 404, NULL, arena_printf(q->arena, "attachment not found: %s", id), NULL);
    else if (e->status == RAMET_ATTACHMENT_NOT_FOUND || e->status == RAMET_FORBIDDEN)
        memory_refuse(q, 403, NULL, "forbidden", NULL);
    else if (e->status == RAMET_TOO_LARGE)
        memory_refuse(q, 413, NULL, e->message, NULL);
    else
        request_error(q, e);
}

/* -------------------------------------------------------------------- downloads */

static bool disposition_read(request *q, const char **out)
{
    *out = request_query(q, "disposition");
    if (!*out || strcmp(*out, "inline") == 0 || strcmp(*out, "attachment") == 0)
        return true;
    memory_refuse(q, 400, NULL, "disposition must be inline or attachment", NULL);
    return false;
}

/* The bare media type in lower case. */
static const char *bare_type(request *q, const char *type)
{
    char *s = arena_memdup(q->arena, type, strcspn(type, "; \t"));
    for (char *p = s; *p; p++) {
        if (*p >= 'A' && *p <= 'Z')
            *p = (char)(*p + 32);
        if ((unsigned char)*p <= 0x20 || (unsigned char)*p > 0x7e)
            return "application/octet-stream";
    }
    return strchr(s, '/') ? s : "application/octet-stream";
}

static bool is_active(const char *type)
{
    return strcmp(type, "text/html") == 0 || strcmp(type, "application/xhtml+xml") == 0 ||
           strcmp(type, "image/svg+xml") == 0;
}

/* bytes=a-b, bytes=a-, bytes=-n: one range. False: the answer is filled in. */
static bool range_read(request *q, int64_t size)
{
    const char *s = header(q, "Range");
    char *end;
    int64_t from, to = size - 1;
    if (strncmp(s, "bytes=", 6) != 0 || strchr(s, ',') || *header(q, "If-Range"))
        return true;
    s += 6;
    bool last = *s == '-';
    if (!last && (*s < '0' || *s > '9'))
        return true;
    from = strtoll(last ? s + 1 : s, &end, 10);
    if (last)
        from = from > size ? 0 : size - from;
    else if (*end == '-' && end[1])
        to = strtoll(end + 1, NULL, 10);
    if (from < 0 || from >= size || to < from) {
        request_add_header(q, "Content-Range",
                           arena_printf(q->arena, "bytes */%lld", (long long)size));
        close(q->file);
        q->file = -1;
        memory_refuse(q, 416, "invalid_request", "the range cannot be had", NULL);
        return false;
    }
    if (to >= size)
        to = size - 1;
    request_add_header(q, "Content-Range",
                       arena_printf(q->arena, "bytes %lld-%lld/%lld", (long long)from,
                                    (long long)to, (long long)size));
    q->status = 206;
    q->file_from = from;
    q->file_size = to - from + 1;
    return true;
}

static void file_send(request *q, const ramet_attachment *a, int fd, const char *disposition)
{
    const char *type = bare_type(q, a->media_type ? a->media_type : "");
    if (is_active(type)) {
        type = "application/octet-stream";
        disposition = "attachment";
    }
    q->file = fd;
    q->file_size = a->size;
    q->type = type;
    q->cacheable = true;
    request_add_header(q, "Cache-Control", "private, max-age=300, immutable");
    request_add_header(q, "ETag", arena_printf(q->arena, "\"%s\"", a->sha256));
    request_add_header(q, "Accept-Ranges", "bytes");
    request_add_header(q, "Content-Security-Policy", "default-src 'none'; sandbox");
    if (disposition)
        request_add_header(q, "Content-Disposition",
                           face_disposition(q, disposition, a->name ? a->name : ""));
    if (range_read(q, a->size))
        face_done(q);
}

/* Answers for an attachment that is still being fetched. */
static void fetch_send(request *q, const char *id)
{
    ramet_fetch *f;
    if (ramet_fetch_get(q->call, id, &f) != RAMET_OK) {
        memory_file_error(q, id);
    } else if (f->failed) {
        memory_refuse(q, 422, NULL, "the file could not be fetched", NULL);
    } else {
        request_add_header(q, "Location", f->url);
        q->status = 307;
        face_done(q);
    }
}

void memory_file_get(request *q)
{
    ramet_call *c = face_call(q);
    const char *id = memory_lower(q->arena, face_path(q, "attachmentId")), *disposition;
    ramet_attachment *a;
    int fd;
    if (!c || !disposition_read(q, &disposition))
        return;
    ramet_status st = ramet_attachment_open(c, id, &a, &fd);
    if (st == RAMET_ATTACHMENT_NOT_FOUND && !ramet_call_error(c)->hidden)
        fetch_send(q, id);
    else if (st != RAMET_OK)
        memory_file_error(q, id);
    else
        file_send(q, a, fd, disposition);
}

void memory_file_delete(request *q)
{
    ramet_call *c = face_call(q);
    const char *id = memory_lower(q->arena, face_path(q, "attachmentId"));
    if (!c)
        return;
    ramet_status st = ramet_attachment_delete(c, id);
    if (st == RAMET_ATTACHMENT_NOT_FOUND && !ramet_call_error(c)->hidden)
        st = ramet_fetch_delete(c, id);
    if (st == RAMET_OK)
        face_done(q);
    else if (st == RAMET_ATTACHMENT_IN_USE)
        memory_refuse(q, 409, NULL, "the attachment is linked to an entry", NULL);
    else
        memory_file_error(q, id);
}

/* --------------------------------------------------------------------- links */

/* ID.EXPIRES.MAC: its holder may read that attachment until then. */
static const char *link_token(request *q, const char *id, int64_t expires)
{
    uint8_t mac[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    char hex[65];
    const char *text = arena_printf(q->arena, "%s.%lld", id, (long long)expires);
    HMAC(EVP_sha256(), q->host->link_key, 32, (const uint8_t *)text, strlen(text), mac, &n);
    hex_encode(mac, 32, hex);
    return arena_printf(q->arena, "%s.%s", text, hex);
}

static void url_write(request *q, const ramet_attachment *a, const ramet_fetch *f,
                      const char *disposition)
{
    jw_object(&q->writer);
    if (f) {
        jw_kstr(&q->writer, "url", f->url);
        jw_kint(&q->writer, "expiresIn", 0);
        jw_kstr(&q->writer, "status", "downloading");
    } else {
        const char *token = link_token(q, a->id, time_now_us() / 1000000 + LINK_S);
        const char *name = a->name && *a->name ? a->name : "file";
        jw_kstr(&q->writer, "url",
                arena_printf(q->arena, "/v1/attachments/download/%s/%s%s%s", token,
                             face_escape(q, name), disposition ? "?disposition=" : "",
                             disposition ? disposition : ""));
        jw_kint(&q->writer, "expiresIn", LINK_S);
    }
    jw_end_object(&q->writer);
    face_done(q);
}

void memory_file_url(request *q)
{
    ramet_call *c = face_call(q);
    const char *id = memory_lower(q->arena, face_path(q, "attachmentId")), *disposition;
    ramet_attachment *a = NULL;
    ramet_fetch *f = NULL;
    if (!c || !disposition_read(q, &disposition))
        return;
    ramet_status st = ramet_attachment_get(c, id, &a);
    if (st == RAMET_ATTACHMENT_NOT_FOUND && !ramet_call_error(c)->hidden)
        st = ramet_fetch_get(c, id, &f);
    if (st != RAMET_OK)
        memory_file_error(q, id);
    else if (f && f->failed)
        memory_refuse(q, 422, NULL, "the file could not be fetched", NULL);
    else
        url_write(q, a, f, disposition);
}

void memory_file_signed(request *q)
{
    const char *token = face_path(q, "token"), *disposition, *dot = strchr(token, '.');
    ramet_attachment *a;
    int fd;
    /* The URL is the credential. */
    request_add_header(q, "Referrer-Policy", "no-referrer");
    if (!disposition_read(q, &disposition))
        return;
    int64_t expires = dot ? strtoll(dot + 1, NULL, 10) : 0;
    const char *id = dot ? arena_memdup(q->arena, token, (size_t)(dot - token)) : "";
    const char *good = link_token(q, id, expires);
    if (strlen(good) != strlen(token) || CRYPTO_memcmp(good, token, strlen(good)) != 0 ||
        expires < time_now_us() / 1000000) {
        memory_refuse(q, 403, NULL, "the link is not good, or no longer", NULL);
        return;
    }
    q->call = ramet_call_new(q->host->store, NULL, NULL);
    if (ramet_attachment_open(q->call, id, &a, &fd) != RAMET_OK)
        memory_file_error(q, id);
    else
        file_send(q, a, fd, disposition);
}
