/* SPDX-License-Identifier: Apache-2.0
 *
 * Uploads: bytes are stored as they arrive (files.h). At the end the content moves to its final
 * location, and the row is written (A2 in attachment.h).
 */
#include "core/attachment/attachment.h"
#include "core/attachment/files.h"
#include "core/call.h"
#include "core/check.h"
#include "core/handle.h"
#include "core/txn.h"

#include <stdlib.h>

#define NAME_CHARS 255
#define TYPE_BYTES 255

struct ramet_upload {
    ramet_call *call;
    incoming *to;
    bool finished; /* or failed to */
    sha *hash;
    int64_t size, max;
    char *name, *media_type, *id; /* id NULL: generated */
    bool random_id;
    int64_t life_us;
    uint8_t want[HASH_LEN];
    bool check; /* against `want` */
};

/* ------------------------------------------------------------------- arguments */

/* Name and media type end up in headers and file dialogs. */
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
    if (in->id)
        TRY(check_id(c, "id", in->id));
    TRY(check_life(c, "life", in->life_us));
    if (in->max_bytes < 0)
        return call_fail(c, RAMET_INVALID, "max_bytes", "max_bytes must not be negative");
    return RAMET_OK;
}

/* ----------------------------------------------------------------------- bytes */

ramet_status ramet_upload_begin(ramet_call *c, const ramet_upload_in *in, ramet_upload **out)
{
    uint8_t want[HASH_LEN] = {0};
    int64_t limit = (int64_t)c->ramet->limits.attachment_bytes;
    *out = NULL;
    memset(&c->err, 0, sizeof c->err);
    TRY(in_check(c, in));
    if (in->sha256)
        TRY(hash_read(c, in->sha256, want));
    ramet_upload *u = xcalloc(1, sizeof *u);
    *u = (ramet_upload){.call = c, .hash = sha_new(), .check = in->sha256 != NULL};
    u->max = in->max_bytes && in->max_bytes < limit ? in->max_bytes : limit;
    memcpy(u->want, want, HASH_LEN);
    u->life_us = in->life_us ? in->life_us : UNUSED_US;
    u->id = xstrdup(in->id);
    u->random_id = in->random_id;
    u->name = xstrdup(in->name ? in->name : "");
    u->media_type = xstrdup(in->media_type ? in->media_type : "");
    sha_begin(u->hash);
    ramet_status st = content_begin(c, &u->to);
    if (st == RAMET_OK)
        *out = u;
    else
        ramet_upload_abort(u);
    return st;
}

ramet_status ramet_upload_add(ramet_upload *u, const void *bytes, size_t n)
{
    if (n > (uint64_t)(u->max - u->size))
        return call_fail(u->call, RAMET_TOO_LARGE, "attachment",
                         "the attachment is larger than %lld bytes", (long long)u->max);
    TRY(content_add(u->to, bytes, n));
    sha_add(u->hash, bytes, n);
    u->size += (int64_t)n;
    return RAMET_OK;
}

static void upload_free(ramet_upload *u, bool kept)
{
    content_end(u->to, kept);
    sha_free(u->hash);
    free(u->name);
    free(u->id);
    free(u->media_type);
    free(u);
}

void ramet_upload_abort(ramet_upload *u)
{
    if (u)
        upload_free(u, false);
}

/* ---------------------------------------------------------------------- finish */

/* Completes a fetch: its row goes in the transaction that adds the attachment. */
static ramet_status fetch_end(txn *tx, const char *id)
{
    db_stmt *q = db_query(tx->db, Q_fetch_get);
    q_text(q, 1, id);
    bool there = q_row(q);
    q_end(q);
    TRY(txn_status(tx));
    if (!there)
        return attachment_missing(tx->call, "id", id, false);
    q = db_query(tx->db, Q_fetch_del);
    q_text(q, 1, id);
    q_run(q);
    return RAMET_OK;
}

typedef struct finish_job {
    incoming *to;
    bool kept;
    attachment_row row;
    int64_t life_us;
    bool fetched;
    ramet_attachment **out;
} finish_job;

static ramet_status finish_run(txn *tx, void *arg)
{
    finish_job *j = arg;
    j->row.created = tx->now;
    j->row.expires = tx->now + j->life_us;
    if (j->fetched)
        TRY(fetch_end(tx, j->row.id));
    TRY(content_keep(j->to, tx));
    j->kept = true;
    attachment_insert(tx, &j->row);
    ANSWER(tx, j->out);
    *j->out = attachment_show(tx, &j->row);
    return txn_status(tx);
}

ramet_status ramet_upload_finish(ramet_upload *u, ramet_attachment **out)
{
    ramet_call *c = u->call;
    char uuid[UUID_TEXT];
    finish_job j = {.to = u->to, .life_us = u->life_us, .fetched = u->id, .out = out};
    *out = NULL;
    if (u->finished)
        return call_fail(c, RAMET_INVALID, NULL, "the upload was finished already");
    sha_end(u->hash, j.row.sha);
    if (u->check && memcmp(u->want, j.row.sha, HASH_LEN) != 0)
        return call_fail(c, RAMET_DIGEST_MISMATCH, "sha256",
                         "the bytes that came do not have the SHA-256 that was given");
    u->finished = true;
    TRY(content_seal(u->to, j.row.sha));
    j.row.id = u->id ? u->id : u->random_id ? uuid4(uuid) : uuid7(ramet_now(c->ramet), uuid);
    j.row.size = u->size;
    j.row.name = u->name;
    j.row.media_type = u->media_type;
    j.row.owner = c->user ? c->user : "";
    ramet_status st = txn_write(c, finish_run, &j);
    if (st == RAMET_OK)
        upload_free(u, j.kept);
    else
        *out = NULL;
    return st;
}
