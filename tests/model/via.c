/* SPDX-License-Identifier: Apache-2.0
 *
 * via.c: a store behind a server in this process, for the driver over HTTP.
 */
#ifdef OVER_HTTP

#include "client/client.h"
#include "server/faces.h"
#include "http/http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct via_call {
    const ramet_calls *t;
    ramet_call *c, *local;
    bool at_home;
} via_call;

/* What stands behind the driver's `ramet *`. */
typedef struct via_store {
    ramet *store, *remote;
    http *server;
    pool *pool;
    face_host host;
} via_store;

typedef struct via_stream {
    const ramet_calls *t;
    ramet_stream *s;
} via_stream;

ramet_status via_open(const char *where, const ramet_options *opt, ramet **out, ramet_error *err);
void via_close(ramet *r);
ramet_call *via_call_new(ramet *r, const char *user, const char *client);
void via_call_reset(ramet_call *c);
void via_call_free(ramet_call *c);
const ramet_error *via_call_error(const ramet_call *c);
ramet_status via_stream_open(ramet_call *c, const char *session, const ramet_read_in *in,
                             ramet_stream **out);
ramet_status via_stream_next(ramet_stream *s, const ramet_entry **out);
int64_t via_stream_length(const ramet_stream *s);
void via_stream_close(ramet_stream *s);
via_call *via_of(ramet_call *c);
via_call *via_home(ramet_call *c);

/* ------------------------------------------------------------------- server */

static const face *const faces[] = {&face_native};

static void run(request *q, void *arg)
{
    (void)arg;
    if (face_check_body(q))
        face_run(q);
}

/* Whoever asks is who he says: identity has tests of its own. */
static bool route(request *q, void *arg, http_target *to)
{
    via_store *v = arg;
    const char *allow;
    q->host = &v->host;
    if (face_find(faces, 1, q, &allow) != FACE_FOUND) {
        request_fail(q, 404, "not_found", NULL, "there is no %s", q->path);
        return false;
    }
    q->caller = (request_caller){.user = q->header(q, "X-User-Id"),
                                 .client = q->header(q, "X-Client-ID"),
                                 .roles = "",
                                 .mode = "local"};
    to->run = run;
    to->body_max = (size_t)64 << 20;
    return face_check_query(q);
}

static void done(request *q, int64_t sent, void *arg)
{
    (void)sent;
    (void)arg;
    ramet_call_free(q->call);
    q->call = NULL;
}

static void count(void *arg, const char *what, const char *type, const char *name)
{
    (void)arg;
    (void)what;
    (void)type;
    (void)name;
}

ramet_status via_open(const char *where, const ramet_options *opt, ramet **out, ramet_error *err)
{
    char message[256] = "", url[64];
    via_store *v = calloc(1, sizeof *v);
    *out = NULL;
    if (!v)
        abort();
    ramet_status st = ramet_open(where, opt, &v->store, err);
    if (st != RAMET_OK) {
        free(v);
        return st;
    }
    v->host = (face_host){.store = v->store, .version = RAMET_VERSION, .count = count};
    v->pool = pool_new(&(work_limits){.threads = 2, .share = 100});
    http_config cfg = {.address = "127.0.0.1",
                       .header_max = 65536,
                       .body_max = (size_t)64 << 20,
                       .connections = 64,
                       .connections_per_address = 64,
                       .idle_s = 60,
                       .request_s = 60,
                       .workers = 1,
                       .pool = v->pool,
                       .route = route,
                       .done = done,
                       .arg = v};
    v->server = http_start(&cfg, message);
    if (!v->server) {
        fprintf(stderr, "%s\n", message);
        abort();
    }
    snprintf(url, sizeof url, "http://127.0.0.1:%d", http_port(v->server));
    client_open(url, NULL, &v->remote, err);
    *out = (ramet *)(void *)v;
    return RAMET_OK;
}

void via_close(ramet *r)
{
    via_store *v = (via_store *)(void *)r;
    client_http.ramet_close(v->remote);
    http_stop(v->server, 5);
    pool_free(v->pool);
    ramet_close(v->store);
    free(v);
}

/* -------------------------------------------------------------------- calls */

ramet_call *via_call_new(ramet *r, const char *user, const char *client)
{
    via_store *v = (via_store *)(void *)r;
    via_call *c = calloc(1, sizeof *c);
    if (!c)
        abort();
    c->t = user ? &client_http : &client_local;
    c->local = ramet_call_new(v->store, user, client);
    c->c = user ? client_http.ramet_call_new(v->remote, user, client) : c->local;
    return (ramet_call *)(void *)c;
}

void via_call_reset(ramet_call *call)
{
    via_call *c = (via_call *)(void *)call;
    c->t->ramet_call_reset(c->c);
    if (c->local != c->c)
        ramet_call_reset(c->local);
}

void via_call_free(ramet_call *call)
{
    via_call *c = (via_call *)(void *)call;
    if (!c)
        return;
    c->t->ramet_call_free(c->c);
    if (c->local != c->c)
        ramet_call_free(c->local);
    free(c);
}

const ramet_error *via_call_error(const ramet_call *call)
{
    const via_call *c = (const via_call *)(const void *)call;
    return c->at_home ? ramet_call_error(c->local) : c->t->ramet_call_error(c->c);
}

via_call *via_of(ramet_call *call)
{
    via_call *c = (via_call *)(void *)call;
    c->at_home = false;
    return c;
}

via_call *via_home(ramet_call *call)
{
    via_call *c = (via_call *)(void *)call;
    c->at_home = true;
    return c;
}

/* ------------------------------------------------------------------ streams */

ramet_status via_stream_open(ramet_call *call, const char *session, const ramet_read_in *in,
                             ramet_stream **out)
{
    via_call *c = via_of(call);
    via_stream *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    s->t = c->t;
    *out = NULL;
    ramet_status st = c->t->ramet_stream_open(c->c, session, in, &s->s);
    if (st == RAMET_OK)
        *out = (ramet_stream *)(void *)s;
    else
        free(s);
    return st;
}

ramet_status via_stream_next(ramet_stream *stream, const ramet_entry **out)
{
    via_stream *s = (via_stream *)(void *)stream;
    return s->t->ramet_stream_next(s->s, out);
}

int64_t via_stream_length(const ramet_stream *stream)
{
    const via_stream *s = (const via_stream *)(const void *)stream;
    return s->t->ramet_stream_length(s->s);
}

void via_stream_close(ramet_stream *stream)
{
    via_stream *s = (via_stream *)(void *)stream;
    s->t->ramet_stream_close(s->s);
    free(s);
}

#else
typedef int via_is_not_used;
#endif
