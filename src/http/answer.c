/* SPDX-License-Identifier: Apache-2.0
 *
 * answer.c: the response to a request: conditions, compression, headers.
 *
 * The body is sent from where it was written (q->out, or its compressed copy), which stays with the
 * exchange until the response is sent: nothing is copied. The thread that ran the request writes
 * the header and compresses the body; the worker only sends.
 */
#include "http/http_internal.h"

#include "base/util.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#define GZIP_MIN 4096                  /* smaller bodies are not compressed */
#define FILE_STEP ((size_t)256 * 1024) /* bytes of a file per call */
#define STREAM_KEEP 1024               /* capacity that an idle stream keeps here */

#define HTML_POLICY                                                                                \
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' "     \
    "data:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "            \
    "frame-ancestors 'none'"

static const char *added(const request *q, const char *name)
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

/* Whether a list like `W/"a", "b"` contains the tag, by weak comparison. */
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

static bool is_head(const request *q)
{
    return strcmp(q->method, "HEAD") == 0;
}

static bool is_read(const request *q)
{
    return strcmp(q->method, "GET") == 0 || is_head(q);
}

static bool not_modified(exchange *x)
{
    request *q = &x->request;
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

/* Fills x->packed if the client accepts gzip and the body becomes smaller. */
static bool body_pack(exchange *x)
{
    request *q = &x->request;
    if (!x->gzip_ok || q->more || q->out.n < GZIP_MIN || !is_text(q->type) ||
        added(q, "Content-Encoding"))
        return false;
    z_stream z = {0};
    if (deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    buf_clear(&x->packed);
    buf_reserve(&x->packed, q->out.n);
    if (x->packed.over) { /* no memory left to hold both */
        deflateEnd(&z);
        return false;
    }
    z.next_in = (Bytef *)q->out.data;
    z.avail_in = (uInt)q->out.n;
    z.next_out = (Bytef *)x->packed.data;
    z.avail_out = (uInt)q->out.n;
    bool smaller = deflate(&z, Z_FINISH) == Z_STREAM_END;
    x->packed.n = smaller ? z.total_out : 0;
    deflateEnd(&z);
    buf_trim(&x->packed);
    return smaller;
}

/* --------------------------------------------------------------------- headers */

/* Skip a value with a line break: it could inject another header. */
static void add(exchange *x, const char *name, const char *value)
{
    if (strpbrk(name, "\r\n:") || strpbrk(value, "\r\n"))
        return;
    buf_puts(&x->start, name);
    buf_puts(&x->start, ": ");
    buf_puts(&x->start, value);
    buf_puts(&x->start, "\r\n");
}

static void add_common(exchange *x, bool body)
{
    request *q = &x->request;
    const char *type = q->type ? q->type : "application/json";
    if (body)
        add(x, "Content-Type", type);
    add(x, "X-Request-ID", q->id);
    add(x, "X-Content-Type-Options", "nosniff");
    if (!added(q, "Referrer-Policy"))
        add(x, "Referrer-Policy", q->referrer ? q->referrer : "no-referrer");
    if (body && strncmp(type, "text/html", 9) == 0) {
        add(x, "X-Frame-Options", "DENY");
        if (!added(q, "Content-Security-Policy"))
            add(x, "Content-Security-Policy", HTML_POLICY);
    }
    if (!q->cacheable)
        add(x, "Cache-Control", "no-store");
    else if (!added(q, "Cache-Control"))
        add(x, "Cache-Control", "private, no-cache");
    if (x->close)
        add(x, "Connection", "close");
    else if (x->connection)
        add(x, "Connection", x->connection);
}

/* There is one Vary header: for compression, plus what the handler added. */
static void add_own(exchange *x, bool packed)
{
    request *q = &x->request;
    const char *vary = NULL;
    for (size_t i = 0; i < q->n_headers; i++) {
        const request_pair *h = &q->headers[i];
        if (strcasecmp(h->name, "Vary") == 0)
            vary = vary ? arena_printf(q->arena, "%s, %s", vary, h->value) : h->value;
        else if (packed && strcasecmp(h->name, "ETag") == 0 && h->value[0] == '"')
            add(x, h->name, arena_printf(q->arena, "W/%s", h->value));
        else
            add(x, h->name, h->value);
    }
    if (q->out.n >= GZIP_MIN && is_text(q->type) && !(vary && strstr(vary, "Accept-Encoding")))
        vary = vary ? arena_printf(q->arena, "Accept-Encoding, %s", vary) : "Accept-Encoding";
    if (vary)
        add(x, "Vary", vary);
}

/* ------------------------------------------------------------------ the status line */

static const char *reason(int status)
{
    static const struct {
        int status;
        const char *text;
    } all[] = {{200, "OK"},
               {201, "Created"},
               {202, "Accepted"},
               {204, "No Content"},
               {206, "Partial Content"},
               {301, "Moved Permanently"},
               {302, "Found"},
               {303, "See Other"},
               {304, "Not Modified"},
               {307, "Temporary Redirect"},
               {308, "Permanent Redirect"},
               {400, "Bad Request"},
               {401, "Unauthorized"},
               {403, "Forbidden"},
               {404, "Not Found"},
               {405, "Method Not Allowed"},
               {406, "Not Acceptable"},
               {408, "Request Timeout"},
               {409, "Conflict"},
               {410, "Gone"},
               {411, "Length Required"},
               {412, "Precondition Failed"},
               {413, "Content Too Large"},
               {414, "URI Too Long"},
               {415, "Unsupported Media Type"},
               {416, "Range Not Satisfiable"},
               {421, "Misdirected Request"},
               {422, "Unprocessable Content"},
               {428, "Precondition Required"},
               {429, "Too Many Requests"},
               {431, "Request Header Fields Too Large"},
               {500, "Internal Server Error"},
               {501, "Not Implemented"},
               {502, "Bad Gateway"},
               {503, "Service Unavailable"},
               {504, "Gateway Timeout"},
               {505, "HTTP Version Not Supported"},
               {507, "Insufficient Storage"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].status == status)
            return all[i].text;
    return "Other";
}

/* "Sun, 06 Nov 1994 08:49:37 GMT", formatted once a second. */
static const char *date_text(void)
{
    static _Thread_local char text[32];
    static _Thread_local time_t made;
    struct timespec now;
    struct tm t;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    if (now.tv_sec != made && gmtime_r(&now.tv_sec, &t)) {
        made = now.tv_sec;
        strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &t);
    }
    return text;
}

/* --------------------------------------------------------------------- answers */

static void answer_check(request *q)
{
    if (q->out.over)
        request_answer_too_large(q);
    else if (q->status < 200 || q->status > 599)
        request_fail(q, 500, "internal", NULL, "the request was not answered");
}

/* Whether the connection stays open after this answer. The rest of a refused body is read if it is
 * short and the client is certain to send it. */
static void close_decide(exchange *x)
{
    if (!x->ended && (x->chunked || x->expects || x->length - x->received > DROP_MAX))
        x->in_doubt = true;
    if (x->in_doubt || atomic_load_explicit(&x->http->stopping, memory_order_relaxed))
        x->close = true;
}

/* The first piece is sent with the header, and the end of a chunk with the beginning of the
 * next. */
static void pieces_choose(exchange *x)
{
    request *q = &x->request;
    if (is_head(q)) {
        q->more = NULL;
        return;
    }
    x->then = PIECE_MORE;
    x->bytes = q->out.data;
    x->n_bytes = q->out.n;
    x->sent = (int64_t)q->out.n;
    if (x->head.minor > 0)
        add(x, "Transfer-Encoding", "chunked");
}

static bool in_chunks(const exchange *x)
{
    return x->head.minor > 0;
}

void answer_piece(exchange *x)
{
    buf_clear(&x->start);
    x->start_at = x->bytes_at = 0;
    x->bytes = x->request.out.data;
    x->n_bytes = x->request.out.n;
    if (x->n_bytes && in_chunks(x))
        buf_printf(&x->start, "%s%zx\r\n", x->sent ? "\r\n" : "", x->n_bytes);
    x->sent += (int64_t)x->n_bytes;
}

/* The end of the last chunk, and of the body. */
static void pieces_end(exchange *x)
{
    buf_clear(&x->start);
    x->start_at = x->bytes_at = x->n_bytes = 0;
    if (in_chunks(x))
        buf_puts(&x->start, x->sent ? "\r\n0\r\n\r\n" : "0\r\n\r\n");
    x->request.more = NULL;
}

/* Frees what the response was built from, since a slow client may take long to read it. A call that
 * the route's own state or a later piece still uses is kept. */
static void answer_forget(exchange *x, bool packed)
{
    request *q = &x->request;
    if (!q->user && !q->more && !q->stream) {
        ramet_call_free(q->call);
        q->call = NULL;
    }
    if (q->body.cap > KEEP_MAX)
        buf_release(&q->body);
    if (packed)
        buf_release(&q->out);
}

/* Chooses what to send after the header, and how to announce its length. */
static void body_choose(exchange *x, bool packed)
{
    request *q = &x->request;
    buf *b = packed ? &x->packed : &q->out;
    bool bare = is_head(q) || q->status == 304 || q->status == 204;
    int64_t size = q->file >= 0 ? q->file_size : (int64_t)b->n;
    if (q->status != 204)
        buf_printf(&x->start, "Content-Length: %lld\r\n", (long long)size);
    if (bare)
        return;
    x->sent = size;
    if (q->file >= 0) {
        x->file_left = size;
    } else {
        x->bytes = b->data;
        x->n_bytes = b->n;
    }
}

/* HTTP/1.0 has no chunks: closing the connection ends the body. */
static void stream_choose(exchange *x)
{
    bool chunks = x->head.minor > 0;
    if (is_head(&x->request)) {
        stream_abandon(x->request.stream);
        x->stream_given = true;
    } else if (chunks) {
        add(x, "Transfer-Encoding", "chunked");
    }
}

void answer_prepare(exchange *x)
{
    request *q = &x->request;
    bool packed = false, body = true;
    close_decide(x);
    if (!q->stream) {
        answer_check(q);
        packed = q->file < 0 && body_pack(x);
        body = q->file >= 0 || q->out.n;
        if (!q->more && not_modified(x))
            q->status = 304;
    }
    if ((q->stream || q->more) && !in_chunks(x))
        x->close = true;
    buf_clear(&x->start);
    buf_printf(&x->start, "HTTP/1.1 %d %s\r\nDate: %s\r\n", q->status, reason(q->status),
               date_text());
    add_common(x, body);
    if (packed)
        add(x, "Content-Encoding", "gzip");
    add_own(x, packed);
    if (q->stream)
        stream_choose(x);
    else if (q->more)
        pieces_choose(x);
    else
        body_choose(x, packed);
    buf_puts(&x->start, "\r\n");
    if (q->more && x->n_bytes && in_chunks(x))
        buf_printf(&x->start, "%zx\r\n", x->n_bytes);
    x->answered = true;
    answer_forget(x, packed);
}

/* --------------------------------------------------------------------- sending */

static send_result sent_error(peer *p)
{
    if (errno == EINTR)
        return SEND_SOME;
    if (errno != EAGAIN && errno != EWOULDBLOCK)
        return SEND_BROKEN;
    p->can_write = false;
    return SEND_LATER;
}

static send_result bytes_send(exchange *x)
{
    peer *p = x->peer;
    struct iovec parts[2] = {
        {x->start.data + x->start_at, x->start.n - x->start_at},
        {(char *)x->bytes + x->bytes_at, x->n_bytes - x->bytes_at},
    };
    struct msghdr m = {.msg_iov = parts, .msg_iovlen = 2};
    ssize_t n = sendmsg(p->fd, &m, MSG_NOSIGNAL | (x->file_left ? MSG_MORE : 0));
    if (n < 0)
        return sent_error(p);
    size_t first = (size_t)n < parts[0].iov_len ? (size_t)n : parts[0].iov_len;
    x->start_at += first;
    x->bytes_at += (size_t)n - first;
    return SEND_SOME;
}

static send_result file_send(exchange *x)
{
    request *q = &x->request;
    off_t at = (off_t)(q->file_from + q->file_size - x->file_left);
    size_t want = x->file_left < (int64_t)FILE_STEP ? (size_t)x->file_left : FILE_STEP;
    ssize_t n = sendfile(x->peer->fd, q->file, &at, want);
    if (n < 0)
        return sent_error(x->peer);
    x->file_left -= n;
    return n ? SEND_SOME : SEND_BROKEN; /* the file is now shorter than the header announced */
}

/* Fetches the next piece; false if there is none now. */
static bool stream_fetch(exchange *x)
{
    buf *b = &x->piece;
    buf_clear(b);
    x->bytes_at = x->n_bytes = 0;
    bool some = stream_next(x, b);
    if (!some && b->cap > STREAM_KEEP)
        buf_release(b);
    x->bytes = b->data;
    x->n_bytes = b->n;
    return some;
}

/* A piece was sent. */
static send_result piece_next(exchange *x)
{
    switch (x->then) {
    case PIECE_MORE:
        return SEND_PIECE;
    case PIECE_LAST:
        pieces_end(x);
        return SEND_SOME;
    case PIECE_FAILED:
        break;
    }
    return SEND_BROKEN;
}

send_result answer_send(exchange *x)
{
    bool stream = x->request.stream && !x->stream_given, some = true;
    if (!x->peer->can_write)
        return SEND_LATER;
    if (stream && x->bytes_at == x->n_bytes && !x->stream_over)
        some = stream_fetch(x);
    if (x->start_at < x->start.n || x->bytes_at < x->n_bytes)
        return bytes_send(x);
    if (x->file_left)
        return file_send(x);
    if (x->request.more)
        return piece_next(x);
    if (stream && !x->stream_over)
        return some ? SEND_SOME : SEND_LATER;
    return SEND_DONE;
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
