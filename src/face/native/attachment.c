/* SPDX-License-Identifier: Apache-2.0
 *
 * attachment.c: attachments over HTTP. An upload is streamed into the store piece by piece as it
 * arrives; a download is a file that the server sends.
 */
#include "face/native/native_face.h"

#include "base/base64.h"
#include "base/util.h"

#include <string.h>
#include <strings.h>

/* ------------------------------------------------------------------- headers */

/* The plain `filename` of a Content-Disposition; NULL if there is none. */
static const char *disposition_name(request *q)
{
    const char *p = request_header(q, "Content-Disposition");
    p = p ? strcasestr(p, "filename=") : NULL;
    if (!p)
        return NULL;
    p += 9;
    if (*p != '"')
        return arena_memdup(q->arena, p, strcspn(p, "; \t"));
    char *out = arena_alloc(q->arena, strlen(p) + 1);
    size_t n = 0;
    for (p++; *p && *p != '"'; p++) {
        if (*p == '\\' && p[1])
            p++;
        out[n++] = *p;
    }
    return out;
}

/* Converts 32 bytes from base64 to hex; NULL if invalid. */
static const char *hash_of_base64(request *q, const char *s)
{
    uint8_t bytes[HASH_LEN];
    size_t n = strspn(s, BASE64_DIGITS);
    if (n * 3 / 4 != HASH_LEN || !base64_decode(s, n, bytes, &n))
        return NULL;
    char *hex = arena_alloc(q->arena, 2 * HASH_LEN + 1);
    hex_encode(bytes, HASH_LEN, hex);
    return hex;
}

/* The SHA-256 that the client sent: ?sha256=HEX, Content-Digest: sha-256=:BASE64:, or Digest:
 * SHA-256=BASE64. False: one is there but invalid. */
static bool digest_given(request *q, const char **out)
{
    const char *field = request_header(q, "Content-Digest") ? "Content-Digest" : "Digest";
    const char *s = request_header(q, field);
    *out = request_query(q, "sha256");
    if (*out)
        return true;
    s = s ? strcasestr(s, "sha-256=") : NULL;
    if (!s)
        return true;
    s += 8;
    *out = hash_of_base64(q, *s == ':' ? s + 1 : s);
    if (!*out)
        request_fail(q, 400, "invalid_request", field,
                     "the SHA-256 in %s is not 32 bytes in base64", field);
    return *out != NULL;
}

/* -------------------------------------------------------------------- upload */

typedef struct upload {
    ramet_upload *to;
    sha *digest; /* of the request, for an idempotency key; otherwise NULL */
} upload;

static void upload_free(void *user)
{
    upload *u = user;
    ramet_upload_abort(u->to);
    sha_free(u->digest);
}

static bool upload_begin(request *q)
{
    const char *type = request_header(q, "Content-Type");
    ramet_upload_in in = {.name = request_query(q, "name"), .media_type = type};
    if (type && strncasecmp(type, "multipart/", 10) == 0) {
        request_fail(q, 415, "unsupported_media_type", "Content-Type",
                     "multipart is not taken: send the file itself as the body, its media type as "
                     "Content-Type and its name as ?name=");
        return false;
    }
    if (!in.name)
        in.name = disposition_name(q);
    if (!digest_given(q, &in.sha256))
        return false;
    ramet_call *c = face_call(q);
    if (!c)
        return false;
    upload *u = arena_alloc(q->arena, sizeof *u);
    q->user = u;
    q->user_free = upload_free;
    if (request_header(q, "Idempotency-Key")) {
        u->digest = sha_new();
        sha_begin(u->digest);
    }
    if (ramet_upload_begin(c, &in, &u->to) == RAMET_OK)
        return true;
    request_error(q, ramet_call_error(c));
    return false;
}

bool api_attachment_sink(request *q, const void *bytes, size_t n)
{
    if (!q->user && !upload_begin(q))
        return false;
    upload *u = q->user;
    if (u->digest)
        sha_add(u->digest, bytes, n);
    if (ramet_upload_add(u->to, bytes, n) == RAMET_OK)
        return true;
    request_error(q, ramet_call_error(q->call));
    return false;
}

/* face_run() has not seen the body: adds it to the digest of the request here. */
static void once_complete(request *q, upload *u)
{
    uint8_t body[HASH_LEN];
    if (!q->has_once || !u->digest)
        return;
    sha_end(u->digest, body);
    sha_chain(u->digest, q->once.digest, body, q->once.digest);
    ramet_call_once(q->call, &q->once);
}

void api_attachment_post(request *q)
{
    ramet_attachment *out = NULL;
    if (!q->user && !upload_begin(q))
        return;
    upload *u = q->user;
    once_complete(q, u);
    api_show_at(q, &form_attachment, &out);
    ramet_status st = ramet_upload_finish(u->to, &out);
    if (st == RAMET_OK)
        u->to = NULL; /* otherwise upload_free() ends it */
    if (face_answer(q, st))
        request_add_header(q, "Location",
                           arena_printf(q->arena, "/ramet/v1/attachments/%s", out->id));
}

/* ------------------------------------------------------------------ download */

/* A media type comes from a client: return only what a header may contain. */
static const char *media_type(const char *type)
{
    if (!type || !*type)
        return "application/octet-stream";
    for (const char *p = type; *p; p++)
        if ((unsigned char)*p < 0x20 || (unsigned char)*p > 0x7e)
            return "application/octet-stream";
    return type;
}

void api_attachment_get(request *q)
{
    ramet_call *c = face_call(q);
    ramet_attachment *a = NULL;
    int fd = -1;
    if (!c || !face_answer(q, ramet_attachment_open(c, face_path(q, "attachment"), &a, &fd)))
        return;
    q->file = fd;
    q->file_size = a->size;
    q->type = media_type(a->media_type);
    request_add_header(q, "Content-Disposition",
                       face_disposition(q, "attachment", a->name ? a->name : ""));
    request_add_header(q, "Content-Security-Policy", "default-src 'none'; sandbox");
    request_add_header(q, "ETag", arena_printf(q->arena, "\"%s\"", a->sha256));
}

void api_attachment_info(request *q)
{
    ramet_call *c = face_call(q);
    ramet_attachment *out = NULL;
    if (!c)
        return;
    api_show_at(q, &form_attachment, &out);
    face_answer(q, ramet_attachment_get(c, face_path(q, "attachment"), &out));
}

void api_attachment_delete(request *q)
{
    ramet_call *c = face_call(q);
    if (c)
        face_answer(q, ramet_attachment_delete(c, face_path(q, "attachment")));
}
