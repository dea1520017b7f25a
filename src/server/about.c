/* SPDX-License-Identifier: Apache-2.0
 *
 * about.c: the server's own routes: health, readiness, metrics, capabilities, documents. The
 * documents are generated once, from the tables of all faces.
 */
#include "server/server.h"

#include "base/util.h"

#include <stdio.h>

enum { DOCUMENT_MAX = 16 << 20, METRICS_MAX = 16 << 20 };

typedef struct document {
    buf text;
    char tag[24]; /* ETag, quoted */
} document;

static struct {
    about_parts parts;
    document openapi, docs;
} about;

static void document_tag(document *d)
{
    uint8_t hash[HASH_LEN];
    char hex[17];
    sha_of(d->text.data, d->text.n, hash);
    hex_encode(hash, 8, hex);
    snprintf(d->tag, sizeof d->tag, "\"%s\"", hex);
}

void about_bind(const about_parts *p)
{
    about.parts = *p;
    buf_init(&about.openapi.text, DOCUMENT_MAX);
    buf_init(&about.docs.text, DOCUMENT_MAX);
    face_openapi(p->faces, p->n_faces, RAMET_VERSION, &about.openapi.text);
    face_docs_html(p->faces, p->n_faces, RAMET_VERSION, &about.docs.text);
    document_tag(&about.openapi);
    document_tag(&about.docs);
}

void about_release(void)
{
    buf_release(&about.openapi.text);
    buf_release(&about.docs.text);
}

static void document_answer(request *q, const document *d, const char *type)
{
    request_add_header(q, "ETag", d->tag);
    q->cacheable = true;
    q->type = type;
    buf_add(&q->out, d->text.data, d->text.n);
    face_done(q);
}

static void healthz_run(request *q)
{
    buf_puts(&q->out, "{\"status\":\"ok\"}");
    q->status = 200;
}

static void readyz_run(request *q)
{
    ramet_status st = ramet_health(about.parts.store);
    if (*about.parts.stopping)
        request_fail(q, 503, "stopping", NULL, "the server is stopping");
    else if (st != RAMET_OK)
        request_fail(q, 503, "store_stopped", NULL, "the store takes no writes: %s",
                     ramet_status_text(st));
    else {
        buf_puts(&q->out, "{\"status\":\"ready\"}");
        q->status = 200;
    }
}

static void metrics_run(request *q)
{
    const about_parts *p = &about.parts;
    http *h = __atomic_load_n(p->http, __ATOMIC_ACQUIRE);
    buf text;
    if (!h) {
        request_fail(q, 503, "starting", NULL, "the server is starting");
        return;
    }
    buf_init(&text, METRICS_MAX);
    metrics_write(p->metrics, p->answers, h, *p->rpc, p->live, p->turns, p->store, &text);
    buf_add(&q->out, text.data, text.n);
    buf_release(&text);
    q->type = "text/plain; version=0.0.4; charset=utf-8";
    face_done(q);
}

static void openapi_run(request *q)
{
    document_answer(q, &about.openapi, "application/json");
}

static void docs_run(request *q)
{
    document_answer(q, &about.docs, "text/html; charset=utf-8");
}

static const form_field status_fields[] = {
    {.name = "status", .kind = FIELD_TEXT, .required = true, .text = "ok, or ready"},
    {.name = NULL},
};

static const form_schema status_schema = {
    .name = "Status", .text = "The server answers.", .fields = status_fields};
static const form_schema *const schemas[] = {&status_schema, NULL};

static const face_route routes[] = {
    ROUTE("GET", "/healthz", ROLE_ANYONE, .name = "health", .group = "The server",
          .summary = "Check that the process responds", .flags = ROUTE_QUICK, .success = 200,
          .answer = "Status", .run = healthz_run),
    ROUTE("GET", "/readyz", ROLE_ANYONE, .name = "ready", .group = "The server",
          .summary = "Check that the server accepts writes",
          .about = "503 after a failed write of the store, until it has recovered, and while the "
                   "server stops.",
          .flags = ROUTE_QUICK, .success = 200, .answer = "Status", .statuses = "STOPPED",
          .run = readyz_run),
    ROUTE("GET", "/metrics", ROLE_ANYONE, .name = "metrics", .group = "The server",
          .summary = "Get metrics as Prometheus text", .success = 200, .run = metrics_run),
    ROUTE("GET", "/openapi.json", ROLE_ANYONE, .name = "openapi", .group = "The server",
          .summary = "Get all routes as an OpenAPI 3.1 document", .flags = ROUTE_QUICK,
          .success = 200, .run = openapi_run),
    ROUTE("GET", "/docs", ROLE_ANYONE, .name = "docs", .group = "The server",
          .summary = "Get all routes as a web page", .flags = ROUTE_QUICK, .success = 200,
          .run = docs_run),
    ROUTES_END,
};

const face face_about = {
    .name = "server",
    .title = "The server itself",
    .prefix = "",
    .routes = routes,
    .schemas = schemas,
};
