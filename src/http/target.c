/* SPDX-License-Identifier: Apache-2.0
 *
 * target.c: checks the request target and the header.
 *
 * The path is split at the slashes first, then each segment is decoded, once. The header is read in
 * one pass. If it is not beyond doubt where the body ends, the request is refused and the
 * connection closed.
 */
#include "http/http_internal.h"

#include "base/util.h"
#include "base/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SEGMENTS_MAX 16
#define QUERY_MAX 64

/* ------------------------------------------------------------------ the target */

/* Percent-decodes once; NULL if it is malformed, contains a NUL or is not UTF-8. */
static const char *text_decode(arena *a, const char *s, size_t n, bool plus)
{
    char *out = arena_alloc(a, n + 1), *to = out;
    bool ascii = true;
    for (size_t i = 0; i < n; i++) {
        char c = s[i] == '+' && plus ? ' ' : s[i];
        if (c == '%') {
            int byte = n - i > 2 ? hex_pair(s + i + 1) : -1;
            if (byte < 0)
                return NULL;
            c = (char)byte;
            i += 2;
        }
        if (!c)
            return NULL;
        ascii &= (unsigned char)c < 0x80;
        *to++ = c;
    }
    return ascii || utf8_valid(out, (size_t)(to - out)) ? out : NULL;
}

/* "/a/b%2Fc" gives "a" and "b/c". A trailing slash gives a last, empty segment. */
static const char *path_split(request *q, const char *p, size_t n)
{
    if (!n || p[0] != '/')
        return "the path does not begin with a slash";
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += p[i] == '/';
    if (count > SEGMENTS_MAX)
        return "the path has too many segments";
    q->segments = arena_array(q->arena, count, sizeof *q->segments);
    for (size_t from = 1; from <= n;) {
        const char *slash = memchr(p + from, '/', n - from);
        size_t to = slash ? (size_t)(slash - p) : n;
        const char *seg = text_decode(q->arena, p + from, to - from, false);
        if (!seg)
            return "the path is not percent-encoded UTF-8 without NUL";
        q->segments[q->n_segments++] = seg;
        from = to + 1;
    }
    return NULL;
}

static const char *query_split(request *q, const char *p)
{
    if (!*p)
        return NULL;
    size_t count = 1;
    for (const char *c = p; *c; c++)
        count += *c == '&';
    if (count > QUERY_MAX)
        return "the query has too many parameters";
    q->query = arena_array(q->arena, count, sizeof *q->query);
    while (*p) {
        size_t n = strcspn(p, "&");
        const char *eq = memchr(p, '=', n);
        size_t name = eq ? (size_t)(eq - p) : n;
        if (n) {
            request_pair kv = {text_decode(q->arena, p, name, true),
                               eq ? text_decode(q->arena, eq + 1, n - name - 1, true) : ""};
            if (!kv.name || !kv.value)
                return "the query is not percent-encoded UTF-8 without NUL";
            q->query[q->n_query++] = kv;
        }
        p += n + (p[n] == '&');
    }
    return NULL;
}

/* "http://host/path", the form sent to proxies. Returns the path; *host is in the arena. */
static const char *target_absolute(request *q, const char *uri, const char **host)
{
    if (uri[0] == '/' || strncasecmp(uri, "http://", 7) != 0)
        return uri;
    size_t n = strcspn(uri + 7, "/?");
    *host = arena_memdup(q->arena, uri + 7, n);
    return uri[7 + n] == '/' ? uri + 7 + n : "/";
}

/* Returns NULL, or what is wrong with it. */
static const char *target_split(request *q, const char *uri)
{
    size_t n = strcspn(uri, "?");
    q->path = arena_memdup(q->arena, uri, n);
    for (const char *c = uri; *c; c++)
        if ((unsigned char)*c <= 0x20 || *c == 0x7f)
            return "the request target holds a blank or a control character";
    const char *wrong = path_split(q, uri, n);
    return wrong ? wrong : query_split(q, uri[n] ? uri + n + 1 : "");
}

/* ------------------------------------------------------------------ the header */

typedef struct header_seen {
    exchange *exchange;
    const char *wrong; /* what is wrong with the framing */
    const char *host, *id, *encoding, *content_encoding, *transfer;
    int hosts, lengths, transfers;
    bool close, keep; /* Connection */
    bool past;        /* Content-Length is too large to represent */
} header_seen;

static void length_read(header_seen *s, const char *v)
{
    size_t n = strspn(v, "0123456789");
    if (!n || v[n])
        s->wrong = "Content-Length is no number";
    else if (n > 18)
        s->past = true;
    else
        s->exchange->length = strtoll(v, NULL, 10);
    s->lengths++;
}

static void header_each(header_seen *s, const char *name, const char *v)
{
    exchange *x = s->exchange;
    switch (name[0] | 0x20) {
    case 'h':
        if (strcasecmp(name, "Host") == 0) {
            s->host = v;
            s->hosts++;
        }
        break;
    case 'x':
        if (strcasecmp(name, "X-Request-ID") == 0)
            s->id = v;
        break;
    case 'a':
        if (strcasecmp(name, "Accept-Encoding") == 0)
            s->encoding = v;
        break;
    case 'c':
        if (strcasecmp(name, "Content-Length") == 0) {
            length_read(s, v);
        } else if (strcasecmp(name, "Content-Encoding") == 0) {
            s->content_encoding = v;
        } else if (strcasecmp(name, "Connection") == 0) {
            s->close = s->close || word_in_any_case(v, " \t,", "close");
            s->keep = s->keep || word_in_any_case(v, " \t,", "keep-alive");
        }
        break;
    case 't':
        if (strcasecmp(name, "Transfer-Encoding") == 0) {
            s->transfer = v;
            s->transfers++;
        }
        break;
    case 'e':
        if (strcasecmp(name, "Expect") == 0)
            x->expects = x->head.minor > 0 && strcasecmp(v, "100-continue") == 0;
        break;
    case 'i':
        if (strcasecmp(name, "If-None-Match") == 0)
            x->if_none_match = v;
        break;
    }
}

/* Uses the client's id if it is safe in headers, logs and JSON, otherwise a new one. */
void request_id(exchange *x, const char *given)
{
    request *q = &x->request;
    size_t n = given ? strlen(given) : 0;
    bool fine = n > 0 && n < sizeof q->id;
    for (size_t i = 0; fine && i < n; i++)
        fine = given[i] > 0x20 && given[i] < 0x7f && given[i] != '"' && given[i] != '\\';
    if (fine) {
        memcpy(q->id, given, n + 1);
        return;
    }
    uint64_t next = atomic_fetch_add_explicit(&x->http->id_next, 1, memory_order_relaxed);
    uint64_t bits[2] = {x->http->id_salt, next};
    uint8_t bytes[16];
    for (int i = 0; i < 16; i++)
        bytes[i] = (uint8_t)(bits[i / 8] >> (56 - 8 * (i % 8)));
    hex_encode(bytes, 16, q->id);
}

bool http_takes(const char *list, const char *coding)
{
    size_t want = strlen(coding);
    while (list && *list) {
        list += strspn(list, " \t,");
        size_t n = strcspn(list, ",;"), name = n;
        while (name && (list[name - 1] == ' ' || list[name - 1] == '\t'))
            name--;
        size_t end = strcspn(list, ",");
        if ((name == want && strncasecmp(list, coding, want) == 0) || (name == 1 && *list == '*')) {
            const char *at = list + n, *stop = list + end;
            while (at < stop && (*at == ';' || *at == ' ' || *at == '\t'))
                at++;
            if (stop - at < 2 || (at[0] | 0x20) != 'q' || at[1] != '=')
                return true;
            return strtod(at + 2, NULL) > 0;
        }
        list += end;
    }
    return false;
}

/* Returns NULL, or why the end of the body cannot be determined. */
static const char *framing_check(const header_seen *s)
{
    bool v11 = s->exchange->head.minor > 0;
    if (s->wrong)
        return s->wrong;
    if (s->hosts > 1 || (v11 && !s->hosts))
        return "one Host header is needed";
    if (s->lengths > 1)
        return "Content-Length is given more than once";
    if (s->transfers && (s->transfers > 1 || strcasecmp(s->transfer, "chunked") != 0))
        return "no other Transfer-Encoding than chunked is known";
    if (s->transfers && (s->lengths || !v11))
        return "Transfer-Encoding and Content-Length do not go together";
    return NULL;
}

static bool malformed(exchange *x, const char *wrong)
{
    x->in_doubt = true;
    request_fail(&x->request, 400, "invalid_request", NULL, "%s", wrong);
    return false;
}

/* Reads the header apart from the target; false: the answer is filled in. */
static bool header_read(exchange *x, header_seen *s)
{
    request *q = &x->request;
    for (size_t i = 0; i < x->head.n; i++)
        header_each(s, x->head.fields[i].name, x->head.fields[i].value);
    request_id(x, s->id);
    x->gzip_ok = http_takes(s->encoding, "gzip");
    x->chunked = s->transfers > 0;
    x->close = s->close || (!x->head.minor && !s->keep);
    x->connection = !x->head.minor && !x->close ? "keep-alive" : NULL;
    size_t max = x->http->cfg.header_max;
    const char *wrong = framing_check(s);
    if (wrong)
        return malformed(x, wrong);
    if (s->past) {
        x->in_doubt = true;
        request_fail(q, 413, "too_large", "Content-Length", "the body is over every limit");
        return false;
    }
    if (strlen(x->head.target) > max / 2) {
        x->close = true;
        request_fail(q, 414, "uri_too_long", NULL, "the request target is over %zu bytes", max / 2);
        return false;
    }
    return true;
}

bool target_read(exchange *x)
{
    request *q = &x->request;
    header_seen s = {.exchange = x};
    if (!header_read(x, &s))
        return false;
    const char *host = NULL, *wrong;
    const char *uri = target_absolute(q, x->head.target, &host);
    if (host && (!s.host || strcasecmp(host, s.host) != 0))
        return malformed(x, "the request target names another host than the Host header");
    if (strcmp(q->method, "OPTIONS") == 0 && strcmp(uri, "*") == 0) {
        request_add_header(q, "Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
        q->status = 204;
        return false;
    }
    wrong = target_split(q, uri);
    if (wrong) {
        request_fail(q, 400, "invalid_request", "path", "%s", wrong);
        return false;
    }
    if (s.content_encoding && strcasecmp(s.content_encoding, "identity") != 0) {
        request_fail(q, 415, "unsupported_encoding", "Content-Encoding",
                     "a body must be sent without Content-Encoding");
        return false;
    }
    return true;
}
