/* SPDX-License-Identifier: Apache-2.0
 *
 * doc.c: what the documents say about a route besides its row. See doc.h.
 */
#include "face/kit/doc.h"

#include "base/words.h"

#include <stdlib.h>
#include <string.h>

static const struct status_name {
    const char *name;
    ramet_status status;
} statuses[] = {
#define X(name, code, http, exit_code, text) {#name, RAMET_##name},
    RAMET_STATUSES(X)
#undef X
};

static void add(doc_error *out, size_t *n, int http, const char *code, const char *text)
{
    for (size_t i = 0; i < *n; i++)
        if (strcmp(out[i].code, code) == 0)
            return;
    if (*n < DOC_ERRORS)
        out[(*n)++] = (doc_error){http, code, text};
}

static void add_status(doc_error *out, size_t *n, ramet_status st)
{
    add(out, n, ramet_status_http(st), ramet_status_code(st), ramet_status_text(st));
}

static void add_named(doc_error *out, size_t *n, const char *names)
{
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (word_in(names, " ", statuses[i].name))
            add_status(out, n, statuses[i].status);
}

static int by_http(const void *a, const void *b)
{
    const doc_error *x = a, *y = b;
    return x->http != y->http ? x->http - y->http : strcmp(x->code, y->code);
}

bool doc_expects(const face_route *r)
{
    for (int i = 0; i < 2; i++)
        for (const form_field *f = i ? r->query : r->body; f && f->name; f++)
            if (strcmp(f->name, "expected_head") == 0)
                return true;
    return false;
}

bool doc_once(const face_route *r)
{
    return (r->flags & (ROUTE_WRITE | ROUTE_KEYLESS)) == ROUTE_WRITE &&
           strcmp(r->method, "POST") == 0;
}

/* Flags of add_common(), above those of routes. */
enum { HAS_BODY = 1 << 16, HAS_KEY = 1 << 17, IS_OPEN = 1 << 18 };

static void add_common(doc_error *out, size_t *n, unsigned flags)
{
    if (!(flags & ROUTE_QUICK)) {
        add_status(out, n, RAMET_INVALID);
        add_status(out, n, RAMET_BUSY);
        add(out, n, 503, "too_many_connections", "too many connections are open");
    }
    if (!(flags & IS_OPEN)) {
        add(out, n, 401, "unauthenticated", "the caller could not be identified");
        add_status(out, n, RAMET_FORBIDDEN);
        add_status(out, n, RAMET_BAD_ID);
        add_status(out, n, RAMET_SHARE_NOT_FOUND);
        add(out, n, 421, "misdirected_request", "local mode: the Host is not the server's");
    }
    if (flags & ROUTE_WRITE)
        add(out, n, 403, "foreign_origin", "this Origin may not write here");
    if (flags & HAS_BODY) {
        add(out, n, 413, "too_large",
            "the body, or an argument, is over its limit; `field` names it");
        add(out, n, 415, "unsupported_media_type", "the body has another media type");
    }
    if (flags & HAS_KEY)
        add_status(out, n, RAMET_KEY_MISMATCH);
    if (flags & ROUTE_WRITE)
        add_status(out, n, RAMET_STOPPED);
}

size_t doc_errors(const face_route *r, bool all, doc_error out[DOC_ERRORS])
{
    size_t n = 0;
    bool body = r->body || (r->flags & ROUTE_UPLOAD), open = r->roles & ROLE_ANYONE;
    add_named(out, &n, r->statuses);
    if (all)
        add_common(out, &n,
                   r->flags | (open ? IS_OPEN : 0) | (body ? HAS_BODY : 0) |
                       (doc_once(r) ? HAS_KEY : 0));
    qsort(out, n, sizeof *out, by_http);
    return n;
}

size_t doc_errors_common(doc_error out[DOC_ERRORS])
{
    size_t n = 0;
    add_common(out, &n, ROUTE_WRITE | HAS_BODY | HAS_KEY);
    qsort(out, n, sizeof *out, by_http);
    return n;
}

const face_param *doc_param(const face *f, const char *name, size_t n)
{
    for (const face_param *p = f->params; p && p->name; p++)
        if (strlen(p->name) == n && memcmp(p->name, name, n) == 0)
            return p;
    return NULL;
}

const char *doc_path_next(const char **p, size_t *n)
{
    const char *open = strchr(*p, '{');
    if (!open)
        return NULL;
    *n = strcspn(open + 1, "}");
    *p = open + 1 + *n;
    return open + 1;
}
