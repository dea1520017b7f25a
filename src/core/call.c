/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of the library: creating, resetting and freeing them, their options and their error.
 */
#include "core/call.h"

#include "core/handle.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

ramet_call *ramet_call_new(ramet *r, const char *user, const char *client)
{
    ramet_call *c = xcalloc(1, sizeof *c);
    c->ramet = r;
    c->user = xstrdup(user);
    c->client = xstrdup(client);
    c->arena = arena_new();
    c->hasher = sha_new();
    return c;
}

void ramet_call_reset(ramet_call *c)
{
    arena_reset(c->arena);
    c->idempotency = c->idempotency_held = NULL;
    c->prompt = NULL;
    c->replica.may = c->replica.used = false;
    memset(&c->expect, 0, sizeof c->expect);
    memset(&c->err, 0, sizeof c->err);
}

void ramet_call_free(ramet_call *c)
{
    if (!c)
        return;
    arena_free(c->arena);
    sha_free(c->hasher);
    free(c->user);
    free(c->client);
    free(c);
}

void ramet_call_stop_when(ramet_call *c, bool (*stop)(void *arg), void *arg)
{
    c->stop.when = stop;
    c->stop.arg = arg;
}

void ramet_call_page_bytes(ramet_call *c, size_t bytes)
{
    c->page_bytes = bytes < PAGE_BYTES ? bytes : 0;
}

arena *ramet_call_arena(ramet_call *c)
{
    return c->arena;
}

const ramet_error *ramet_call_error(const ramet_call *c)
{
    return &c->err;
}

ramet_status call_fail(ramet_call *c, ramet_status st, const char *field, const char *fmt, ...)
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

int64_t ramet_call_position(const ramet_call *c)
{
    return c->replica.wrote;
}

void ramet_call_replica(ramet_call *c, int64_t since)
{
    c->replica.may = since >= 0;
    c->replica.since = since > 0 ? since : 0;
}

bool ramet_call_replicated(const ramet_call *c)
{
    return c->replica.used;
}

int64_t ramet_position(ramet *r)
{
    return store_position(r->store);
}

void ramet_call_expect(ramet_call *c, const char *session, const char *head)
{
    c->expect.session = session;
    c->expect.head = head;
}
