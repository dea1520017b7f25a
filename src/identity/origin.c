/* SPDX-License-Identifier: Apache-2.0
 *
 * origin.c: checks which web page sent a request: no foreign page may control this server.
 *
 * In local mode callers are trusted, so the threat is a browser on this machine. A page whose name
 * resolves to 127.0.0.1 (DNS rebinding) is stopped by its Host, any other page by its Origin or by
 * Sec-Fetch-Site. That includes reads: a page cannot see the answers, but it can send thousands of
 * requests. A page on another port of this machine ("same-site") is foreign too.
 *
 * In the other modes the only credential that a browser adds by itself is the cookie of a sign-in;
 * a write that carries it must come from our own pages.
 */
#include "identity/auth.h"

#include "base/words.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* host:port as written in Host, Origin or a setting. */
typedef struct authority {
    char host[256]; /* without brackets */
    int port;       /* 0: not given */
} authority;

bool auth_is_loopback(const char *host)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (strcasecmp(host, "localhost") == 0)
        return true;
    if (inet_pton(AF_INET, host, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, host, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

static bool authority_read(const char *s, authority *out)
{
    const char *host = s, *end;
    if (*s == '[') {
        host = s + 1;
        end = strchr(host, ']');
        s = end ? end + 1 : NULL;
    } else {
        end = s = s + strcspn(s, ":");
    }
    size_t n = end ? (size_t)(end - host) : 0;
    if (!n || n >= sizeof out->host || strcspn(host, "/@?#\\ \t") < n)
        return false;
    memcpy(out->host, host, n);
    out->host[n] = 0;
    out->port = 0;
    if (!*s)
        return true;
    size_t digits = strspn(s + 1, "0123456789");
    if (*s != ':' || digits < 1 || digits > 5 || s[1 + digits])
        return false;
    out->port = (int)strtol(s + 1, NULL, 10);
    return out->port >= 1 && out->port <= 65535;
}

/* "https://host:port", with the default port of the scheme if there is none. False for "null". */
static bool origin_read(const char *s, authority *out)
{
    bool https = strncasecmp(s, "https://", 8) == 0;
    if (!https && strncasecmp(s, "http://", 7) != 0)
        return false;
    if (!authority_read(s + (https ? 8 : 7), out))
        return false;
    if (!out->port)
        out->port = https ? 443 : 80;
    return true;
}

/* Whether cors-origins names it. A * there opens reads to all, and names no origin. */
static bool origin_named(const char *list, const char *origin)
{
    return word_in_any_case(list, ", ", origin) && strcasecmp(origin, "null") != 0;
}

bool auth_any_origin(const char *list)
{
    return word_in(list, ", ", "*");
}

/* scheme://host[:port] of a URL. */
static bool url_origin_is(const char *url, const char *origin)
{
    const char *host = url ? strstr(url, "://") : NULL;
    if (!host)
        return false;
    size_t n = (size_t)(host + 3 - url) + strcspn(host + 3, "/?#");
    return n == strlen(origin) && strncasecmp(url, origin, n) == 0;
}

static bool is_write(const request *q)
{
    return strcmp(q->method, "GET") != 0 && strcmp(q->method, "HEAD") != 0 &&
           strcmp(q->method, "OPTIONS") != 0;
}

/* Whether the browser says that a page of another site sent the request. */
static bool fetch_is_foreign(request *q)
{
    const char *site = q->header(q, "Sec-Fetch-Site");
    return site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0;
}

static bool foreign_refuse(request *q)
{
    request_fail(q, 403, "foreign_origin", NULL,
                 "a page of another origin may not change anything here; cors-origins can name it");
    return false;
}

/* Whether a page of another origin sent the request, and cors-origins does not name it. */
static bool local_foreign(auth *a, request *q)
{
    int port = __atomic_load_n(&a->port, __ATOMIC_RELAXED);
    const char *origin = q->header(q, "Origin");
    authority at;
    if (!origin)
        return fetch_is_foreign(q);
    bool ours = strncasecmp(origin, "http://", 7) == 0 && origin_read(origin, &at) &&
                (auth_is_loopback(at.host) || !strcasecmp(at.host, a->host)) && at.port == port;
    return !ours && !origin_named(a->cfg->cors, origin);
}

static bool header_is(request *q, const char *name, const char *value)
{
    const char *s = q->header(q, name);
    return s && strcmp(s, value) == 0;
}

static bool local_check(auth *a, request *q)
{
    int port = __atomic_load_n(&a->port, __ATOMIC_RELAXED);
    const char *host = q->header(q, "Host");
    authority at;
    if (!host || !*host) {
        request_fail(q, 400, "invalid_request", "Host", "the header Host is missing");
        return false;
    }
    if (!authority_read(host, &at) ||
        !(auth_is_loopback(at.host) || !strcasecmp(at.host, a->host)) ||
        (at.port && port && at.port != port)) {
        request_fail(q, 421, "misdirected_request", "Host",
                     "this server is for this machine alone: Host must be localhost or a loopback "
                     "address, with its port");
        return false;
    }
    return !is_write(q) || !local_foreign(a, q) || foreign_refuse(q);
}

/* The same host and port as Host, or the address that the issuer sends browsers back to. */
static bool origin_is_ours(auth *a, request *q, const char *origin)
{
    authority from, at;
    const char *host = q->header(q, "Host");
    if (url_origin_is(a->cfg->oidc_redirect, origin))
        return true;
    if (!host || !origin_read(origin, &from) || !authority_read(host, &at))
        return false;
    if (!at.port)
        at.port = strncasecmp(origin, "https://", 8) == 0 ? 443 : 80;
    return at.port == from.port && strcasecmp(at.host, from.host) == 0;
}

/* Signing in and out is guarded without a cookie too: no page may sign a browser in as another
 * user. */
static bool cookie_check(auth *a, request *q)
{
    const char *origin = q->header(q, "Origin");
    bool sign =
        q->n_segments && (!strcmp(q->segments[0], "login") || !strcmp(q->segments[0], "logout"));
    if (!is_write(q))
        return true;
    if (!sign &&
        (auth_secret(q) || !cookie_session_there(q->header(q, "Cookie"), auth_secure(a, q))))
        return true;
    if (origin ? origin_is_ours(a, q, origin) : !fetch_is_foreign(q))
        return true;
    return origin && origin_named(a->cfg->cors, origin) ? true : foreign_refuse(q);
}

bool auth_check_read(auth *a, request *q)
{
    if (a->mode != MODE_LOCAL || is_write(q) || !local_foreign(a, q))
        return true;
    /* Any page may link to our pages and documents. */
    if ((q->roles & ROLE_ANYONE) && header_is(q, "Sec-Fetch-Mode", "navigate") &&
        header_is(q, "Sec-Fetch-Dest", "document") && !q->header(q, "Origin"))
        return true;
    request_fail(q, 403, "foreign_origin", NULL,
                 "a page of another origin may not call this server; cors-origins can name it");
    return false;
}

bool auth_check_origin(auth *a, request *q)
{
    return a->mode == MODE_LOCAL ? local_check(a, q) : cookie_check(a, q);
}
