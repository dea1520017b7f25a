/* SPDX-License-Identifier: Apache-2.0
 *
 * upload.c: uploads. A form is parsed as it arrives and its file stored piece by piece;
 * alternatively a JSON body names a URL for the server to fetch.
 */
#include "face/memory/memory.h"

#include "base/util.h"
#include "form/native.h"
#include "ramet/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    MAX_HEADER_BYTES = 8192,
    MAX_JSON_BYTES = 65536,
    MAX_BOUNDARY_BYTES = 70,
    MAX_FILE_BYTES = 10 << 20
};

typedef struct file_shown {
    const char *id, *type, *name, *sha, *url, *status;
    const char *entry;     /* the entry that refers to it; NULL: none, or not shown */
    int64_t size, expires; /* size -1: unknown; expires 0: an entry refers to it */
    int64_t created;       /* 0: not shown */
} file_shown;

static file_shown shown_file(const ramet_attachment *a)
{
    return (file_shown){.id = a->id,
                        .type = a->media_type,
                        .name = a->name,
                        .sha = a->sha256,
                        .size = a->size,
                        .expires = a->expires,
                        .status = "ready"};
}

static file_shown shown_fetch(const ramet_fetch *f)
{
    return (file_shown){.id = f->id,
                        .type = f->media_type,
                        .name = f->name,
                        .size = -1,
                        .expires = f->expires,
                        .url = f->url,
                        .status = f->failed ? "failed" : "downloading"};
}

static void file_write(request *q, const file_shown *f)
{
    char text[TIME_TEXT];
    jw_object(&q->writer);
    jw_kstr(&q->writer, "id", f->id);
    jw_kstr(&q->writer, "href", arena_printf(q->arena, "/v1/attachments/%s", f->id));
    jw_kstr(&q->writer, "contentType", f->type);
    jw_kstr(&q->writer, "filename", f->name && *f->name ? f->name : NULL);
    if (f->size < 0)
        jw_kraw(&q->writer, "size", "null");
    else
        jw_kint(&q->writer, "size", f->size);
    jw_kstr(&q->writer, "sha256", f->sha);
    time_text(f->expires / 1000000 * 1000000, text);
    jw_kstr(&q->writer, "expiresAt", f->expires ? arena_printf(q->arena, "%.19sZ", text) : NULL);
    jw_kstr(&q->writer, "status", f->status);
    if (f->url)
        jw_kstr(&q->writer, "sourceUrl", f->url);
    if (f->created)
        native_ktime(&q->writer, "createdAt", f->created);
    if (f->entry)
        jw_kstr(&q->writer, "entryId", f->entry);
    jw_end_object(&q->writer);
    face_done(q);
}

typedef enum { FORM_START, FORM_HEADERS, FORM_BODY, FORM_END } form_state;

typedef struct form {
    request *request;
    bool json;                         /* the body is not a form */
    bool plain;                        /* nor JSON: it is the file */
    buf held;                          /* bytes not parsed yet */
    char mark[MAX_BOUNDARY_BYTES + 8]; /* "\r\n--BOUNDARY" */
    size_t n_mark;
    size_t size; /* of the file so far */
    form_state state;
    bool in_file;
    ramet_upload *to;
    int64_t life_us;
} form;

static void form_free(void *user)
{
    form *f = user;
    ramet_upload_abort(f->to);
    buf_release(&f->held);
}

static bool form_bad(request *q, const char *why)
{
    memory_refuse(q, 400, NULL, why, NULL);
    return false;
}

/* PT<n>H or PT<n>M, up to a day. */
static bool life_read(request *q, int64_t *us)
{
    const char *s = request_query(q, "expiresIn");
    char *end;
    *us = INT64_C(3600000000);
    if (!s)
        return true;
    if (strncmp(s, "PT", 2) == 0 && s[2] >= '0' && s[2] <= '9') {
        long long n = strtoll(s + 2, &end, 10);
        int64_t unit = *end == 'H' ? INT64_C(3600000000) : *end == 'M' ? 60000000 : 0;
        if (n > 0 && n <= 1440 && unit && !end[1] && n * unit <= INT64_C(86400000000)) {
            *us = n * unit;
            return true;
        }
    }
    return form_bad(q, "expiresIn must be like PT1H or PT30M, at most 24 hours");
}

/* name="…" from a header line; NULL if there is none. */
static const char *parameter(arena *a, const char *line, const char *name)
{
    const char *p = line;
    size_t n = strlen(name);
    while ((p = strcasestr(p, name))) {
        if ((p == line || strchr("; \t", p[-1])) && p[n] == '=')
            break;
        p += n;
    }
    if (!p)
        return NULL;
    p += n + 1;
    if (*p != '"')
        return arena_memdup(a, p, strcspn(p, "; \t\r\n"));
    char *out = arena_alloc(a, strlen(p) + 1);
    size_t k = 0;
    for (p++; *p && *p != '"'; p++) {
        if (*p == '\\' && (p[1] == '"' || p[1] == '\\'))
            p++;
        out[k++] = *p;
    }
    return out;
}

static form *form_begin(request *q)
{
    const char *type = request_header(q, "Content-Type"), *mark = NULL;
    form *f = arena_alloc(q->arena, sizeof *f);
    *f = (form){.request = q};
    if (!face_call(q) || !life_read(q, &f->life_us))
        return NULL;
    type = type ? type : "";
    f->json = strncasecmp(type, "multipart/form-data", 19) != 0;
    if (f->json && strncasecmp(type, "application/json", 16) != 0) {
        memory_refuse(q, 415, NULL, "send multipart/form-data or application/json", NULL);
        return NULL;
    }
    if (!f->json)
        mark = parameter(q->arena, type, "boundary");
    if (!f->json && (!mark || !*mark || strlen(mark) > MAX_BOUNDARY_BYTES)) {
        form_bad(q, "the form has no boundary");
        return NULL;
    }
    if (mark)
        f->n_mark = (size_t)snprintf(f->mark, sizeof f->mark, "\r\n--%s", mark);
    buf_init(&f->held, f->json ? MAX_JSON_BYTES : (size_t)1 << 26);
    if (!f->json)
        buf_puts(&f->held, "\r\n"); /* the first boundary has no line before it */
    q->user = f;
    q->user_free = form_free;
    return f;
}

static void held_drop(form *f, size_t n)
{
    memmove(f->held.data, f->held.data + n, f->held.n - n);
    f->held.n -= n;
}

/* Reads the header lines of a part, which end at `end`. */
static bool part_begin(form *f, size_t end)
{
    request *q = f->request;
    char *text = arena_memdup(q->arena, f->held.data, end);
    const char *name = NULL, *file = NULL, *type = "application/octet-stream";
    for (char *line = text; line && *line;) {
        char *next = strstr(line, "\r\n");
        if (next)
            *next = 0;
        if (strncasecmp(line, "Content-Disposition:", 20) == 0) {
            name = parameter(q->arena, line, "name");
            file = parameter(q->arena, line, "filename");
        } else if (strncasecmp(line, "Content-Type:", 13) == 0) {
            type = line + 13 + strspn(line + 13, " \t");
        }
        line = next ? next + 2 : NULL;
    }
    f->in_file = name && strcmp(name, "file") == 0 && !f->to;
    if (!f->in_file)
        return true;
    ramet_upload_in in = {
        .name = file, .media_type = type, .life_us = f->life_us, .random_id = true};
    if (ramet_upload_begin(q->call, &in, &f->to) == RAMET_OK)
        return true;
    memory_file_error(q, "");
    return false;
}

static bool part_add(form *f, const void *bytes, size_t n)
{
    if (!n || !f->in_file)
        return true;
    f->size += n;
    if (f->size > MAX_FILE_BYTES) {
        memory_refuse(f->request, 413, NULL, "a file has at most 10 MiB", NULL);
        return false;
    }
    if (ramet_upload_add(f->to, bytes, n) == RAMET_OK)
        return true;
    memory_file_error(f->request, "");
    return false;
}

static bool headers_step(form *f, bool *more)
{
    buf *h = &f->held;
    const char *end = h->n >= 4 ? memmem(h->data, h->n, "\r\n\r\n", 4) : NULL;
    if (!end)
        return h->n < MAX_HEADER_BYTES ||
               form_bad(f->request, "the headers of a part are too long");
    size_t n = (size_t)(end - h->data);
    if (!part_begin(f, n))
        return false;
    /* Keep the last line break: it is part of the boundary if the part is empty. */
    held_drop(f, n + 4);
    f->state = FORM_BODY;
    *more = true;
    return true;
}

/* One step of the parser; *more: another one may succeed. False: the answer is filled in. */
static bool form_step(form *f, bool *more)
{
    buf *h = &f->held;
    *more = false;
    if (f->state == FORM_HEADERS)
        return headers_step(f, more);
    const char *at = memmem(h->data, h->n, f->mark, f->n_mark);
    if (!at) {
        size_t keep = f->n_mark + 4, n = h->n > keep ? h->n - keep : 0;
        if (f->state == FORM_BODY && !part_add(f, h->data, n))
            return false;
        held_drop(f, n);
        return true;
    }
    size_t n = (size_t)(at - h->data);
    if (h->n - n < f->n_mark + 2)
        return true; /* the two bytes after the boundary decide */
    if (f->state == FORM_BODY && !part_add(f, h->data, n))
        return false;
    f->state = memcmp(at + f->n_mark, "--", 2) == 0 ? FORM_END : FORM_HEADERS;
    held_drop(f, n + f->n_mark + 2);
    *more = f->state == FORM_HEADERS;
    return true;
}

bool memory_file_sink(request *q, const void *bytes, size_t n)
{
    form *f = q->user ? q->user : form_begin(q);
    if (!f)
        return false;
    if (f->plain)
        return part_add(f, bytes, n);
    if (f->state == FORM_END)
        return true;
    buf_add(&f->held, bytes, n);
    if (f->held.over)
        return form_bad(q, "the body is too large");
    for (bool more = !f->json; more;)
        if (!form_step(f, &more))
            return false;
    return true;
}

bool memory_file_begin(request *q, const char *name, const char *type)
{
    form *f = arena_alloc(q->arena, sizeof *f);
    *f = (form){.request = q, .plain = true, .in_file = true, .state = FORM_END};
    if (!face_call(q) || !life_read(q, &f->life_us))
        return false;
    buf_init(&f->held, 0);
    ramet_upload_in in = {
        .name = name, .media_type = type, .life_us = f->life_us, .random_id = true};
    if (ramet_upload_begin(q->call, &in, &f->to) != RAMET_OK) {
        memory_file_error(q, "");
        return false;
    }
    q->user = f;
    q->user_free = form_free;
    return true;
}

/* {"sourceUrl", "contentType"?, "name"?} */
static void source_post(request *q, form *f)
{
    json_doc d;
    ramet_fetch *out;
    if (!json_parse(q->arena, f->held.data ? f->held.data : "", f->held.n, 0, &d, NULL)) {
        form_bad(q, "the body is not JSON that can be taken");
        return;
    }
    const json_node *o = &d.nodes[0];
    const char *url = json_text(q->arena, &d, json_get(&d, o, "sourceUrl"));
    const char *name = json_text(q->arena, &d, json_get(&d, o, "name"));
    const char *type = json_text(q->arena, &d, json_get(&d, o, "contentType"));
    if (!url || (strncasecmp(url, "http://", 7) != 0 && strncasecmp(url, "https://", 8) != 0)) {
        form_bad(q, "sourceUrl must be an http or https URL");
        return;
    }
    if (!q->host->fetch) {
        memory_refuse(q, 501, NULL, "nothing is fetched here", NULL);
        return;
    }
    if (ramet_fetch_add(q->call, url, name, type, f->life_us, &out) != RAMET_OK) {
        memory_error(q, "");
        return;
    }
    q->host->fetch(q->host->arg, out);
    file_shown shown = shown_fetch(out);
    shown.type = type ? type : "application/octet-stream";
    file_write(q, &shown);
}

void memory_file_post(request *q)
{
    form *f = q->user ? q->user : form_begin(q);
    ramet_attachment *a;
    if (!f)
        return;
    if (f->json) {
        source_post(q, f);
        return;
    }
    if (!f->to || f->state != FORM_END) {
        form_bad(q, f->to ? "the form is cut off" : "the form has no part \"file\"");
        return;
    }
    ramet_status st = ramet_upload_finish(f->to, &a);
    if (st != RAMET_OK) {
        memory_file_error(q, "");
        return;
    }
    f->to = NULL;
    file_shown shown = shown_file(a);
    file_write(q, &shown);
}

/* ----------------------------------------------------------------- what is known of it */

const char *memory_file_entry(request *q, const char *id)
{
    const char *session, *entry;
    ramet_entry *e;
    if (ramet_attachment_home(q->call, id, &session, &entry) != RAMET_OK || !session ||
        ramet_entry_get(q->call, session, 0, entry, &e) != RAMET_OK)
        return NULL;
    return memory_entry_id(q->arena, e);
}

void memory_file_about(request *q)
{
    ramet_call *c = face_call(q);
    const char *id = memory_lower(q->arena, face_path(q, "attachmentId"));
    ramet_attachment *a;
    ramet_fetch *f;
    if (!c)
        return;
    ramet_status st = ramet_attachment_get(c, id, &a);
    if (st == RAMET_OK) {
        file_shown shown = shown_file(a);
        shown.created = a->created;
        shown.entry = a->expires ? NULL : memory_file_entry(q, id);
        file_write(q, &shown);
        return;
    }
    if (st == RAMET_ATTACHMENT_NOT_FOUND && !ramet_call_error(c)->hidden &&
        ramet_fetch_get(c, id, &f) == RAMET_OK) {
        file_shown shown = shown_fetch(f);
        shown.created = f->created;
        file_write(q, &shown);
    } else {
        memory_file_error(q, id);
    }
}
