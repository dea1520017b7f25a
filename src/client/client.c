/* SPDX-License-Identifier: Apache-2.0
 *
 * client.c: the two tables of calls, and opening and closing clients and calls.
 */
#include "client/internal.h"

#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define X(name) .ramet_##name = ramet_##name,
const ramet_calls client_local = {CLIENT_CALLS(X)};
#undef X
#define X(name) .ramet_##name = http_##name,
const ramet_calls client_http = {CLIENT_CALLS(X)};
#undef X

ramet_status client_open(const char *url, const char *token, ramet **out, ramet_error *err)
{
    *out = NULL;
    memset(err, 0, sizeof *err);
    size_t n = strlen(url);
    if ((strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0) ||
        strpbrk(url, "?# \t\r\n") || !strcmp(strchr(url, ':'), "://")) {
        err->status = RAMET_INVALID;
        snprintf(err->field, sizeof err->field, "server");
        snprintf(err->message, sizeof err->message,
                 "the server '%.200s' is no address; give it like http://127.0.0.1:7077", url);
        return err->status;
    }
    curl_global_init(CURL_GLOBAL_DEFAULT);
    client *r = xcalloc(1, sizeof *r);
    r->base = xstrdup(url);
    while (n && r->base[n - 1] == '/')
        r->base[--n] = 0;
    r->token = xstrdup(token);
    *out = (ramet *)(void *)r;
    return RAMET_OK;
}

void http_close(ramet *store)
{
    client *r = (client *)(void *)store;
    if (!r)
        return;
    free(r->base);
    free(r->token);
    free(r);
    curl_global_cleanup();
}

ramet_call *http_call_new(ramet *store, const char *user, const char *name)
{
    client_call *c = xcalloc(1, sizeof *c);
    c->server = (client *)(void *)store;
    c->user = xstrdup(user);
    c->name = xstrdup(name);
    c->arena = arena_new();
    c->curl = curl_easy_init();
    return (ramet_call *)(void *)c;
}

void http_call_reset(ramet_call *call)
{
    client_call *c = CALL(call);
    arena_reset(c->arena);
    memset(&c->err, 0, sizeof c->err);
}

void http_call_free(ramet_call *call)
{
    client_call *c = CALL(call);
    if (!c)
        return;
    curl_easy_cleanup(c->curl);
    arena_free(c->arena);
    free(c->user);
    free(c->name);
    free(c);
}

const ramet_error *http_call_error(const ramet_call *call)
{
    return &((const client_call *)(const void *)call)->err;
}

ramet_status client_fail(client_call *c, ramet_status st, const char *field, const char *fmt, ...)
{
    memset(&c->err, 0, sizeof c->err);
    c->err.status = st;
    if (field)
        snprintf(c->err.field, sizeof c->err.field, "%s", field);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(c->err.message, sizeof c->err.message, fmt, ap);
    va_end(ap);
    return st;
}
