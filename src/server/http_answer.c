/* SPDX-License-Identifier: Apache-2.0
 *
 * The answer of a request: conditions, compression, headers.
 *
 * The body is sent from where it was written (q->out, or what it was packed into), which stays with
 * the exchange until the answer is sent: nothing is copied.
 */
#include "server/http_own.h"

#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#define GZIP_MIN 4096 /* smaller bodies are sent as they are */

#define HTML_POLICY                                                                                \
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' "     \
    "data:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "            \
    "frame-ancestors 'none'"

static const char *added(const face_req *q, const char *name)
{
    for (size_t i = 0; i < q->n_headers; i++)
        if (strcasecmp(q->headers[i].name, name) == 0)
            return q->headers[i].value;
    return NULL;
}

/* ------------------------------------------------------------------ conditions */

static const char *tag_strong(const char *tag)
{
    return strncmp(tag, "W/", 2) == 0 ? tag + 2 : tag;
}

/* Whether a list like `W/"a", "b"` holds the tag; weak ones compare like strong ones. */
static bool tag_in(const char *list, const char *tag)
{
    const char *want = tag_strong(tag);
    size_t n = strlen(want);
    while (*list) {
        list += strspn(list, " \t,");
        if (*list == '*')
            return true;
        const char *at = tag_strong(list);
        if (strncmp(at, want, n) == 0 && (!at[n] || strchr(" \t,", at[n])))
            return true;
        list += strcspn(list, ",");
    }
    return false;
}

static bool is_head(const face_req *q)
{
    return strcmp(q->method, "HEAD") == 0;
}

static bool is_read(const face_req *q)
{
    return strcmp(q->method, "GET") == 0 || is_head(q);
}

static bool not_modified(exchange *x)
{
    face_req *q = &x->q;
    if (!x->if_none_match || q->status != 200 || !is_read(q))
        return false;
    const char *tag = added(q, "ETag");
    return tag && tag_in(x->if_none_match, tag);
}

/* ----------------------------------------------------------------- compression */

static bool is_text(const char *type)
{
    return !type || strncmp(type, "text/", 5) == 0 || strstr(type, "json") ||
           strstr(type, "javascript") || strstr(type, "xml");
}

/* Fills x->packed when that is wanted and makes the body smaller. */
static bool body_pack(exchange *x)
{
    face_req *q = &x->q;
    if (!x->gzip_ok || q->more || q->out.n < GZIP_MIN || !is_text(q->type) ||
        added(q, "Content-Encoding"))
        return false;
    z_stream z = {0};
    if (deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    buf_clear(&x->packed);
    buf_reserve(&x->packed, q->out.n);
    if (x->packed.over) { /* no memory is left for both */
        deflateEnd(&z);
        return false;
    }
    z.next_in = (Bytef *)q->out.p;
    z.avail_in = (uInt)q->out.n;
    z.next_out = (Bytef *)x->packed.p;
    z.avail_out = (uInt)q->out.n;
    bool smaller = deflate(&z, Z_FINISH) == Z_STREAM_END;
    x->packed.n = smaller ? z.total_out : 0;
    deflateEnd(&z);
    buf_trim(&x->packed);
    return smaller;
}

/* --------------------------------------------------------------------- headers */

static void add(struct MHD_Response *r, const char *name, const char *value)
{
    MHD_add_response_header(r, name, value);
}

static void add_common(exchange *x, struct MHD_Response *r, bool body)
{
    face_req *q = &x->q;
    const char *type = q->type ? q->type : "application/json";
    if (body)
        add(r, "Content-Type", type);
    add(r, "X-Request-ID", q->id);
    add(r, "X-Content-Type-Options", "nosniff");
    if (!added(q, "Referrer-Policy"))
        add(r, "Referrer-Policy", q->face && q->face->referrer ? q->face->referrer : "no-referrer");
    if (body && strncmp(type, "text/html", 9) == 0) {
        add(r, "X-Frame-Options", "DENY");
        if (!added(q, "Content-Security-Policy"))
            add(r, "Content-Security-Policy", HTML_POLICY);
    }
    if (!q->cacheable)
        add(r, "Cache-Control", "no-store");
    else if (!added(q, "Cache-Control"))
        add(r, "Cache-Control", "private, no-cache");
    if (x->close || atomic_load_explicit(&x->h->stopping, memory_order_relaxed))
        add(r, "Connection", "close");
}

/* Vary is one header: what compression depends on, and what the request's runner said. */
static void add_own(exchange *x, struct MHD_Response *r, bool packed)
{
    face_req *q = &x->q;
    const char *vary = NULL;
    for (size_t i = 0; i < q->n_headers; i++) {
        const face_pair *h = &q->headers[i];
        if (strcasecmp(h->name, "Vary") == 0)
            vary = vary ? arena_printf(q->a, "%s, %s", vary, h->value) : h->value;
        else if (packed && strcasecmp(h->name, "ETag") == 0 && h->value[0] == '"')
            add(r, h->name, arena_printf(q->a, "W/%s", h->value));
        else
            add(r, h->name, h->value);
    }
    if (q->out.n >= GZIP_MIN && is_text(q->type) && !(vary && strstr(vary, "Accept-Encoding")))
        vary = vary ? arena_printf(q->a, "Accept-Encoding, %s", vary) : "Accept-Encoding";
    if (vary)
        add(r, "Vary", vary);
}

/* --------------------------------------------------------------------- answers */

static struct MHD_Response *response_file(exchange *x)
{
    face_req *q = &x->q;
    struct MHD_Response *r = MHD_create_response_from_fd_at_offset64(
        (uint64_t)q->file_size, q->file, (uint64_t)q->file_from);
    if (r) {
        q->file = -1; /* the response closes it */
        x->sent = q->file_size;
    }
    return r;
}

static struct MHD_Response *response_bytes(exchange *x, bool packed)
{
    buf *b = packed ? &x->packed : &x->q.out;
    x->sent = (int64_t)b->n;
    return MHD_create_response_from_buffer(b->n, b->p, MHD_RESPMEM_PERSISTENT);
}

/* libmicrohttpd would send the last chunk of a body that HEAD does not have. */
static struct MHD_Response *response_stream(exchange *x)
{
    face_stream *s = x->q.stream;
    struct MHD_Response *r = NULL;
    bool head = is_head(&x->q);
    x->streams = !head;
    if (!head)
        r = stream_response(s);
    if (!r)
        stream_abandon(s);
    x->stream_given = true;
    return head ? MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT) : r;
}

static void answer_check(face_req *q)
{
    if (q->out.over)
        face_over(q);
    else if (q->status < 200 || q->status > 599)
        face_fail(q, 500, "internal", NULL, "the request was not answered");
}

static struct MHD_Response *response_body(exchange *x, bool packed)
{
    if (x->q.file >= 0)
        return response_file(x);
    if (!x->q.more)
        return response_bytes(x, packed);
    return is_head(&x->q) ? MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT)
                          : pieces_response(x);
}

/* The answer may wait for its client for long: what it was made from is not needed any more. A call
 * that a route's own state or a later piece uses stays. */
static void answer_forget(exchange *x, bool packed)
{
    face_req *q = &x->q;
    if (!q->user && !q->more && !q->stream) {
        ramet_call_free(q->c);
        q->c = NULL;
    }
    if (q->body.cap > KEEP_MAX)
        buf_release(&q->body);
    if (packed)
        buf_release(&q->out);
}

/* A 304 is made of the same body, which libmicrohttpd does not send: its length is told. */
void answer_prepare(exchange *x)
{
    face_req *q = &x->q;
    struct MHD_Response *r;
    bool packed = false, body = true;
    if (q->stream) {
        r = response_stream(x);
    } else {
        answer_check(q);
        packed = q->file < 0 && body_pack(x);
        body = q->file >= 0 || q->out.n;
        r = response_body(x, packed);
        if (not_modified(x))
            q->status = 304;
    }
    if (r) {
        add_common(x, r, body);
        if (packed)
            add(r, "Content-Encoding", "gzip");
        add_own(x, r, packed);
    }
    x->response = r;
    answer_forget(x, packed);
}

enum MHD_Result answer_send(exchange *x)
{
    struct MHD_Response *r = x->response;
    if (!r)
        return MHD_NO;
    bool open = x->streams ? peer_unlimit(x->p)
                           : peer_limit(x->p, (int64_t)x->h->cfg.request_s * 1000000, x->sent);
    if (!open)
        return MHD_NO;
    if (x->q.status == 304 || is_head(&x->q))
        x->sent = 0;
    x->response = NULL;
    atomic_store_explicit(&x->p->arriving, false, memory_order_relaxed);
    atomic_store_explicit(&x->p->sending, !x->streams, memory_order_relaxed);
    enum MHD_Result rc = MHD_queue_response(x->conn, (unsigned)x->q.status, r);
    MHD_destroy_response(r);
    return rc;
}

/* ------------------------------------------------------------------ on the wire */

static const char *reason(int status)
{
    const char *text = MHD_get_reason_phrase_for((unsigned)status);
    return text ? text : "Error";
}

void answer_on_wire(exchange *x)
{
    face_req *q = &x->q;
    buf b;
    buf_init(&b, 16384);
    buf_printf(&b,
               "HTTP/1.1 %d %s\r\nConnection: close\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
               "X-Request-ID: %s\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n",
               q->status, reason(q->status), q->type ? q->type : "application/json", q->out.n,
               q->id);
    for (size_t i = 0; i < q->n_headers; i++)
        buf_printf(&b, "%s: %s\r\n", q->headers[i].name, q->headers[i].value);
    buf_puts(&b, "\r\n");
    buf_add(&b, q->out.p, q->out.n);
    x->sent = (int64_t)q->out.n;
    if (!b.over && send(x->p->fd, b.p, b.n, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)b.n)
        shutdown(x->p->fd, SHUT_WR);
    buf_release(&b);
}

size_t answer_plain(char *out, size_t size, const char *status, const char *code, const char *text)
{
    char body[256];
    int n = snprintf(body, sizeof body, "{\"code\":\"%s\",\"error\":\"%s\"}", code, text);
    int all = snprintf(out, size,
                       "HTTP/1.1 %s\r\nConnection: close\r\nContent-Type: application/json\r\n"
                       "Content-Length: %d\r\n\r\n%s",
                       status, n, body);
    return all > 0 && (size_t)all < size ? (size_t)all : 0;
}
