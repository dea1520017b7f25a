/* SPDX-License-Identifier: Apache-2.0
 *
 * face.h: the tables that a protocol consists of, and what its handlers use.
 *
 * A face is an array of face_route. The server finds the row of a request, identifies the caller,
 * checks roles, query and body by the row, and calls `run`; /openapi.json, /docs and docs/api are
 * generated from the same rows. A face fills the answer and never uses the transport.
 *
 * A request belongs to one thread at a time. Everything in it, including texts that are given to
 * it, must live as long as the request; its arena does.
 */
#ifndef FACE_KIT_FACE_H
#define FACE_KIT_FACE_H

#include "form/field.h"
#include "ramet/memory.h"
#include "http/request.h"
#include "identity/rule.h"
#include "live/live.h"
#include "turns/turns.h"

/* ------------------------------------------------------------------ the table */

/* The meaning of a "{name}" in paths. */
typedef struct face_param {
    const char *name; /* NULL ends an array */
    const char *text, *example;
} face_param;

enum {
    ROUTE_QUICK = 2,     /* neither reads nor writes the store: may run on a worker */
    ROUTE_WRITE = 4,     /* changes something; a POST may have an Idempotency-Key */
    ROUTE_UPLOAD = 8,    /* the body is not JSON and is not collected: see face_route.sink */
    ROUTE_STREAM = 16,   /* answers with server-sent events */
    ROUTE_LOOSE = 64,    /* unknown parameters and members are ignored */
    ROUTE_KEYLESS = 128, /* a write without Idempotency-Key: it signs a browser in or out, which is
                            not the store's */
    ROUTE_PAGE = 256,    /* reads history: a read replica may answer it */
    ROUTE_ALWAYS_STREAMS = 512, /* turns are answered as events whatever Accept says */
    ROUTE_IMPORT = 1024         /* an upload that may be as long as a file to import */
};

typedef struct face_route {
    const char *method; /* NULL ends an array. HEAD and OPTIONS are the server's own */
    const char *path;   /* "/ramet/v1/sessions/{id}/fork" */
    const char *name;   /* "forkSession": unique, operationId in OpenAPI */
    const char *group;  /* heading in the documents: "Sessions" */
    const char *summary;
    const char *about;       /* more, may be NULL */
    unsigned roles;          /* ROLE_* (identity/rule.h): one of them is enough; never 0 */
    unsigned flags;          /* ROUTE_* */
    const form_field *query; /* NULL: none; an unknown parameter is refused by name */
    const form_field *body;  /* NULL: no body; an unknown member is refused by name */
    int success;             /* 200, 201, 204 */
    const char *answer;      /* schema of the answer; NULL: see `about` */
    const char *statuses;    /* ramet_status names that it can fail with, for the documents:
                                "SESSION_NOT_FOUND HEAD_MOVED" */
    const char *example;     /* for the documents: a body, or a query when it has none */
    size_t body_max;         /* 0 = the server's */
    void (*run)(request *q);
    /* ROUTE_UPLOAD: called with each piece of the body, on a thread of the pool, before run();
     * false when the answer is filled and the rest is not needed. */
    bool (*sink)(request *q, const void *bytes, size_t n);
} face_route;

/* A row of a table of routes. Its roles are a parameter of the macro, so that a row without them,
 * or with a mask that is empty or has other bits, does not compile. tools/house-rules refuses rows
 * that are written without it. */
#define ROUTE(method_, path_, roles_, ...)                                                         \
    {                                                                                              \
        .method = method_, .path = path_, .roles = ROUTE_ROLES(roles_), __VA_ARGS__                \
    }
#define ROUTE_ROLES(roles_)                                                                        \
    ((unsigned)(roles_) +                                                                          \
     0 * (unsigned)sizeof(struct {                                                                 \
         _Static_assert((roles_) && !((roles_) & ~ROLE_ALL),                                       \
                        "a route names the roles that may call it: ROLE_USER, ROLE_ADMIN, …");     \
         int unused;                                                                               \
     }))
#define ROUTES_END                                                                                 \
    {                                                                                              \
        .method = NULL                                                                             \
    }

typedef struct face {
    const char *name;   /* "native": in metrics (face="native") */
    const char *title;  /* of its document */
    const char *prefix; /* "/ramet/v1" */
    /* How it names its callers; NULL: all its routes are for ROLE_ANYONE. */
    const identity_rule *identity;
    /* An unknown path below its prefix is refused in the shape of this protocol. */
    bool owns_prefix;
    const char *about; /* what holds for all of it; may be NULL */
    const face_route *routes;
    const form_schema *const *schemas; /* NULL ends them; NULL: none */
    const face_param *params;          /* NULL: none */
    const char *uuids;   /* those of them that must be UUIDs, separated by |; NULL: none */
    const char *secrets; /* … and that are left out of logs */
    /* Writes an error in the shape of the protocol; q->out is empty and q->status set. NULL: the
     * shape of the native API. `code` is stable, `field` may be NULL. */
    void (*fail)(request *q, const char *code, const char *field, const char *message);
    const char *referrer; /* Referrer-Policy of its answers; NULL: no-referrer */
    /* Its services by gRPC (grpc/service.h); NULL: none. */
    const struct grpc_service *grpc;
} face;

/* ------------------------------------------------------------------ a request */

enum { FACE_MESSAGE = 256, MODEL_MAX_BYTES = 255 };

/* What a face may use of the server. */
typedef struct face_host {
    ramet *store;
    const char *version;
    const char *public_url; /* where callers reach the server; "": as their Host says */
    bool secured;           /* callers need a token */
    /* Names of the agents that are configured, for GET /agents; writes a JSON array. */
    void (*agents)(void *arg, json_writer *w);
    /* Model servers that run on this machine and are no agents yet; writes a JSON array. NULL where
     * that is nobody's business. */
    void (*nearby)(void *arg, arena *a, json_writer *w);
    /* Makes an agent of a model of one of them, until the server ends; gives its name, also when
     * there is one already. NULL and *message (FACE_MESSAGE bytes) when it is none of them. */
    const char *(*nearby_use)(void *arg, arena *a, const char *url, const char *model,
                              char *message);
    /* The name of an agent, from 0 on, and what it is; NULL past the last. */
    const char *(*agent_name)(void *arg, size_t i);
    const char *(*agent_about)(void *arg, size_t i);
    /* That of who answers where none is named. NULL where nobody does. */
    const char *(*agent_default)(void *arg);
    bool agents_listed; /* sessions of kagent may have no other agents */
    /* Something happened that is counted: "fork"/type, "rewind", "switch". */
    void (*count)(void *arg, const char *what, const char *type, const char *face);
    live *live;   /* live events, and */
    turns *turns; /* turns of agents; both NULL where there is no server */
    /* A key for links that are signed: the same on all nodes; 32 bytes. */
    const uint8_t *link_key;
    int64_t attachment_max; /* bytes of one */
    bool private_urls;      /* files may be fetched from private addresses, too */
    /* Brings the file of a ramet_fetch; answers nothing. */
    void (*fetch)(void *arg, const ramet_fetch *f);
    void *arg;
} face_host;

/* ---- what faces use (face/kit/face.c) */

/* The call of the library for the caller, with the share link and the idempotency key of the
 * request. NULL: the answer is filled (an unknown share link). */
ramet_call *face_call(request *q);
/* The same for a write without an expected_head of its own: the call carries the request's. */
ramet_call *face_call_expecting(request *q, const char *session);

/* A handler says how its answer is written before it calls the library, because an answer that is
 * kept for an idempotency key is written inside the commit:
 *
 *     ramet_session *out = NULL;
 *     face_render(q, show_session, &out);
 *     face_answer(q, ramet_fork(c, …, &out));
 *
 * `render` writes to q->w, may set q->status, must not call the library, and may run twice. */
void face_render(request *q, void (*render)(request *q, const void *answer), const void *answer);
/* The error of the call, the answer that was kept, or the one that is rendered now, with the
 * route's success status. True when the operation ran: not after an error or a repetition. */
bool face_answer(request *q, ramet_status st);
const char *face_path(request *q, const char *name); /* "{id}" of the route; never NULL */
bool face_query_int(const request *q, const char *name, int64_t *out); /* checked already */
bool face_query_bool(const request *q, const char *name);
/* Members of the JSON body, checked by the route's fields already; NULL when not given or null. */
const json_node *face_member(const request *q, const char *name);
bool face_cleared(const request *q, const char *name); /* it was given, as null */
bool face_bool(const request *q, const char *name);
const char *face_text(request *q, const char *name);
const char *face_raw(request *q, const char *name);
/* A list of texts; *n is 0 when it was not given. */
const char *const *face_texts(request *q, const char *name, size_t *n);
/* `expected_head`: the head object as it was read, its prefix_hash alone, or the If-Match header;
 * NULL when none was given. */
const char *face_expected_head(request *q);

/* The number of the last event that the client of a stream has: Last-Event-ID, or `after` of the
 * query. False: the answer is filled. */
bool face_last_event(request *q, int64_t *after, bool *given);

/* Answers with a stream of live events. Takes the feed over. `busy`: the status when too many
 * streams are open. */
void face_live_open(request *q, const ramet_events_in *in, bool from_now, const live_feed *feed,
                    int busy);

/* A segment of a path, percent-encoded. */
const char *face_escape(request *q, const char *s);
/* A Content-Disposition: `kind` ("attachment", "inline"), and the name, unless it is "": in plain
 * ASCII, and whole by RFC 5987. */
const char *face_disposition(request *q, const char *kind, const char *name);
/* Counts something in the metrics of the server; `type` may be NULL. */
void face_count(request *q, const char *what, const char *type);

void request_error(request *q, const ramet_error *e);
/* Sets the route's success status; the answer is what was written to q->w. */
void face_done(request *q);
/* An ETag: `front` (may be NULL), and a digest of these bytes: what was written, or whatever it
 * depends on. */
void face_etag(request *q, const char *front, const void *bytes, size_t n);

/* ---- what the server uses */

/* Makes it a request of that face and route; `r` may be NULL. */
void face_set(request *q, const face *f, const face_route *r);
typedef enum { FACE_FOUND, FACE_NO_PATH, FACE_NO_METHOD } face_found;
/* Finds the route; fills q->face and q->route. FACE_NO_METHOD: *allow names those that it has
 * ("GET, HEAD, POST, OPTIONS"). */
face_found face_find(const face *const *faces, size_t n, request *q, const char **allow);
/* Reads query and body by the route's fields. False: the answer is filled. */
bool face_check_query(request *q);
bool face_check_body(request *q);
/* Whether the caller has one of the roles of the route. False: the answer is filled. */
bool face_check_role(request *q);
/* Whether the share link that comes with a body is good. Without a body, face_call() finds out.
 * False: the answer is filled. */
bool face_check_share(request *q);
/* The path and the query for the log, with *** for secrets. For a request without a route, a
 * segment is a secret if it is one in any route that begins alike, and so is every value of the
 * query. */
void face_path_show(const face *const *faces, size_t n, const request *q, buf *out);
void face_query_show(const request *q, buf *out);
/* Checks the roles, prepares the idempotency key and runs the handler. */
void face_run(request *q);

/* ---- the documents (face/kit/openapi.c, face/kit/docs.c): from the tables of all faces */
void face_openapi(const face *const *faces, size_t n, const char *version, buf *out);
void face_docs_html(const face *const *faces, size_t n, const char *version, buf *out);
void face_docs_markdown(const face *f, buf *out); /* docs/api/NAME.md */

#endif
