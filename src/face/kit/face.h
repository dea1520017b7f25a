/* SPDX-License-Identifier: Apache-2.0
 *
 * face.h: the tables that define a protocol, and the functions its handlers use.
 *
 * A face is an array of face_route. The server finds the row for a request, identifies the client,
 * checks roles, query and body by the row, and calls `run`; /openapi.json, /docs and docs/api are
 * generated from the same rows. A face fills in the answer and never uses the transport.
 *
 * A request belongs to one thread at a time. Everything in it, including texts stored in it, must
 * live as long as the request; its arena does.
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
    ROUTE_WRITE = 4,     /* changes something; a POST accepts an Idempotency-Key */
    ROUTE_UPLOAD = 8,    /* the body is not JSON and is not collected: see face_route.sink */
    ROUTE_STREAM = 16,   /* answers with server-sent events */
    ROUTE_LOOSE = 64,    /* unknown parameters and members are ignored */
    ROUTE_KEYLESS = 128, /* a write without Idempotency-Key: it signs a browser in or out, which
                            does not change the store */
    ROUTE_PAGE = 256,    /* reads history: a read replica may answer it */
    ROUTE_ALWAYS_STREAMS = 512, /* turns are answered with events whatever Accept says */
    ROUTE_IMPORT = 1024         /* an upload that may be as long as a file to import */
};

typedef struct face_route {
    const char *method; /* NULL ends an array. The server handles HEAD and OPTIONS */
    const char *path;   /* "/ramet/v1/sessions/{id}/fork" */
    const char *name;   /* "forkSession": unique, operationId in OpenAPI */
    const char *group;  /* heading in the documents: "Sessions" */
    const char *summary;
    const char *about;       /* more text; may be NULL */
    unsigned roles;          /* ROLE_* (identity/rule.h): one of them is enough; never 0 */
    unsigned flags;          /* ROUTE_* */
    const form_field *query; /* NULL: none; an unknown parameter is refused by name */
    const form_field *body;  /* NULL: no body; an unknown member is refused by name */
    int success;             /* 200, 201, 204 */
    const char *answer;      /* schema of the answer; NULL: see `about` */
    const char *or_answer;   /* another one that it may have; NULL: none */
    const char *statuses;    /* ramet_status names of possible errors, for the documents:
                                "SESSION_NOT_FOUND HEAD_MOVED" */
    const char *example;     /* for the documents: a body, or a query if there is none */
    size_t body_max;         /* 0: the server's default */
    void (*run)(request *q);
    /* ROUTE_UPLOAD: called with each piece of the body, on a pool thread, before run(). False: the
     * answer is filled in and the rest is not needed. */
    bool (*sink)(request *q, const void *bytes, size_t n);
} face_route;

/* A row of a table of routes. Its roles are a parameter of the macro, so a row without them, or
 * with a mask that is empty or has other bits, does not compile. tools/house-rules refuses rows
 * written without it. */
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
    /* How its clients identify themselves; NULL: all its routes are for ROLE_ANYONE. */
    const identity_rule *identity;
    /* Refuse an unknown path below its prefix in the form of this protocol. */
    bool owns_prefix;
    const char *about; /* applies to all of it; may be NULL */
    const face_route *routes;
    const form_schema *const *schemas; /* ends with NULL; NULL: none */
    const face_param *params;          /* NULL: none */
    const char *uuids;   /* those of them that must be UUIDs, separated by |; NULL: none */
    const char *secrets; /* … and that are left out of logs */
    /* Writes an error in the form of the protocol; q->out is empty and q->status set. NULL: the
     * form of the native API. `code` is stable, `field` may be NULL. */
    void (*fail)(request *q, const char *code, const char *field, const char *message);
    const char *referrer; /* Referrer-Policy of its answers; NULL: no-referrer */
    /* Its gRPC services (grpc/service.h); NULL: none. */
    const struct grpc_service *grpc;
} face;

/* ------------------------------------------------------------------ a request */

enum { FACE_MESSAGE = 256, MODEL_MAX_BYTES = 255 };

/* What a face may use of the server. */
typedef struct face_host {
    ramet *store;
    const char *version;
    const char *public_url; /* the URL of the server; "": as in the Host header */
    bool secured;           /* clients need a token */
    const char *issuer;     /* … a JWT of this issuer; NULL: an API key */
    const char *a2a_root;   /* the agent of the A2A card at the root; "": the default agent */
    bool a2a_pure_cards;    /* A2A cards have only the members of 1.0 */
    bool grpc;              /* the address of the server serves gRPC, too */
    /* Writes the configured agents as a JSON array, for GET /agents. */
    void (*agents)(void *arg, json_writer *w);
    /* Writes the model servers on this machine that are not agents yet, as a JSON array. NULL: not
     * available. */
    void (*nearby)(void *arg, arena *a, json_writer *w);
    /* Makes an agent of a model of one of them, until the server ends. Returns its name, also if it
     * exists already; on failure NULL, with *message (FACE_MESSAGE bytes) filled. */
    const char *(*nearby_use)(void *arg, arena *a, const char *url, const char *model,
                              char *message);
    /* The name of the i-th agent, and its description; NULL past the last. */
    const char *(*agent_name)(void *arg, size_t i);
    const char *(*agent_about)(void *arg, size_t i);
    /* Whether an agent of that name follows options (agent_kind.takes_options). */
    bool (*agent_takes_options)(void *arg, const char *name);
    /* The name of the default agent. NULL if there is none. */
    const char *(*agent_default)(void *arg);
    /* What restoring the working files as they were before a message would change, as a JSON array;
     * with `restore` that is done. `agent` NULL: the default one. On failure NULL, with *message
     * (FACE_MESSAGE bytes) filled. NULL: not available. */
    const char *(*files)(void *arg, arena *a, const char *agent, const char *session,
                         const ramet_entry *before, bool restore, char *message);
    const char *openai_record; /* the setting openai-record */
    bool agents_listed;        /* kagent sessions may have no other agents */
    /* Counts something in the metrics: "fork"/type, "rewind", "switch". */
    void (*count)(void *arg, const char *what, const char *type, const char *face);
    live *live;   /* live events */
    turns *turns; /* turns of agents; both NULL if there is no server */
    /* A key for signed links: the same on all nodes; 32 bytes. */
    const uint8_t *link_key;
    int64_t attachment_max; /* bytes of an attachment */
    bool private_urls;      /* files may be fetched from private addresses */
    bool private_pushes;    /* notifications may be sent there */
    /* A key that seals what clients of notifications give: the same on all nodes and after a
     * restart; 32 bytes. */
    const uint8_t *push_key;
    void (*push_added)(void *arg); /* a destination of notifications was added */
    /* Fetches the file of a ramet_fetch; returns nothing. */
    void (*fetch)(void *arg, const ramet_fetch *f);
    void *arg;
} face_host;

/* ---- what faces use (face/kit/face.c) */

/* The library call for the client, with the request's share link and idempotency key. NULL: the
 * answer is filled in (an unknown share link). */
ramet_call *face_call(request *q);
/* The same for a write that has no expected_head parameter: the call carries the request's. */
ramet_call *face_call_expecting(request *q, const char *session);

/* A handler sets how its answer is written before it calls the library, because an answer that is
 * stored for an idempotency key is written inside the commit:
 *
 *     ramet_session *out = NULL;
 *     face_render(q, show_session, &out);
 *     face_answer(q, ramet_fork(c, …, &out));
 *
 * `render` writes to q->writer, may set q->status, must not call the library, and may run twice. */
void face_render(request *q, void (*render)(request *q, const void *answer), const void *answer);
/* Answers with the error of the call, with the stored answer, or with the rendered one and the
 * route's success status. Returns true if the operation ran: not after an error or a repetition. */
bool face_answer(request *q, ramet_status st);
const char *face_path(request *q, const char *name); /* "{id}" of the route; never NULL */
bool face_query_int(const request *q, const char *name, int64_t *out); /* checked already */
bool face_query_bool(const request *q, const char *name);
/* Members of the JSON body, already checked by the route's fields; NULL if missing or null. */
const json_node *face_member(const request *q, const char *name);
bool face_cleared(const request *q, const char *name); /* it was sent, as null */
bool face_bool(const request *q, const char *name);
const char *face_text(request *q, const char *name);
const char *face_raw(request *q, const char *name);
/* A list of texts; *n is 0 if it is missing. */
const char *const *face_texts(request *q, const char *name, size_t *n);
/* `expected_head`: the head object as it was read, its prefix_hash alone, or the If-Match header;
 * NULL if there is none. */
const char *face_expected_head(request *q);

/* The number of the last event that the client of a stream has: from Last-Event-ID, or `after` in
 * the query. False: the answer is filled in. */
bool face_last_event(request *q, int64_t *after, bool *given);

/* Answers with a stream of live events. Takes ownership of the feed. `busy`: the status if too many
 * streams are open. */
void face_live_open(request *q, const ramet_events_in *in, bool from_now, const live_feed *feed,
                    int busy);

/* A path segment, percent-encoded. */
const char *face_escape(request *q, const char *s);
/* A Content-Disposition: `kind` ("attachment", "inline") and the name, unless it is "": once in
 * plain ASCII, and once complete (RFC 5987). */
const char *face_disposition(request *q, const char *kind, const char *name);
/* Counts something in the server's metrics; `type` may be NULL. */
void face_count(request *q, const char *what, const char *type);

void request_error(request *q, const ramet_error *e);
/* Sets the route's success status; the answer is what was written to q->writer. */
void face_done(request *q);
/* Adds an ETag: `front` (may be NULL) and a digest of these bytes, which are what was written or
 * what it depends on. */
void face_etag(request *q, const char *front, const void *bytes, size_t n);

/* ---- what the server uses */

/* Assigns the request to that face and route; `r` may be NULL. */
void face_set(request *q, const face *f, const face_route *r);
typedef enum { FACE_FOUND, FACE_NO_PATH, FACE_NO_METHOD } face_found;
/* Finds the route; sets q->face and q->route. FACE_NO_METHOD: *allow lists the methods it has
 * ("GET, HEAD, POST, OPTIONS"). */
face_found face_find(const face *const *faces, size_t n, request *q, const char **allow);
/* Reads query and body by the route's fields. False: the answer is filled in. */
bool face_check_query(request *q);
bool face_check_body(request *q);
/* Whether the client has one of the roles of the route. False: the answer is filled in. */
bool face_check_role(request *q);
/* Answers a caller that uses a share link alone where a user is needed (401). */
void face_refuse_link(request *q);
/* Whether the share link sent with a body is valid. Without a body, face_call() checks it. False:
 * the answer is filled in. */
bool face_check_share(request *q);
/* The path and the query for the log, with *** for secrets. For a request without a route, a
 * segment is a secret if it is one in any route that begins the same way, and so is every value of
 * the query. */
void face_path_show(const face *const *faces, size_t n, const request *q, buf *out);
void face_query_show(const request *q, buf *out);
/* Checks the roles, prepares the idempotency key and runs the handler. */
void face_run(request *q);

/* ---- the documents (face/kit/openapi.c, face/kit/docs.c): from the tables of all faces */
void face_openapi(const face *const *faces, size_t n, const char *version, buf *out);
void face_docs_html(const face *const *faces, size_t n, const char *version, buf *out);
void face_docs_markdown(const face *f, buf *out); /* docs/api/NAME.md */

#endif
