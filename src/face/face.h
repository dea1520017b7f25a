/* SPDX-License-Identifier: Apache-2.0
 *
 * face.h: one request as a protocol sees it, and the table that a protocol is.
 *
 * A face is an array of face_route. The server finds the route of a request by it, reads the query
 * and the body by its fields (a bad one is refused before anything runs), finds out who asks, and
 * calls `run`; /openapi.json, /docs and docs/api are written from the same rows. A face fills the
 * answer and never touches the transport: it is given a face_req by whoever speaks HTTP.
 *
 * A face_req belongs to one thread at a time. Everything in it lives as long as the request; texts
 * that are given to it must, too (its arena is the place for them).
 */
#ifndef FACE_FACE_H
#define FACE_FACE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "ramet.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct face_req face_req;
typedef struct face_stream face_stream;

typedef struct face_pair {
    const char *name, *value; /* decoded */
} face_pair;

/* ------------------------------------------------------------------ the table */

typedef enum {
    FIELD_TEXT,
    FIELD_INT,    /* a whole number from `least` to `most`; both 0: any */
    FIELD_BOOL,   /* in a query: true or false */
    FIELD_NUMBER, /* seconds, money */
    FIELD_TIME,   /* RFC 3339 */
    FIELD_UUID,   /* 8-4-4-4-12 hex digits */
    FIELD_ENUM,   /* one of `words`, parted by | */
    FIELD_OBJECT, /* `schema` names its shape; NULL = any object */
    FIELD_ARRAY,  /* of `schema`; NULL = of texts */
    FIELD_ANY     /* any JSON value; `schema` tells more when it is not NULL */
} field_kind;

/* A query parameter, a member of a JSON body, or of a shape that is answered. */
typedef struct face_field {
    const char *name; /* NULL ends an array */
    field_kind kind;
    bool required;
    bool nullable;
    const char *text;   /* what it means; one line */
    const char *words;  /* FIELD_ENUM */
    const char *schema; /* a face_schema by name */
    int64_t least, most;
    bool secret; /* its value is left out of logs */
} face_field;

/* A named shape, for the documents ("Session", "Entry", "EntryIn" …). */
typedef struct face_schema {
    const char *name; /* NULL ends an array */
    const char *text;
    const face_field *fields;
    bool or_text; /* a string may stand in its place; `text` tells what it means */
    bool open;    /* the fields are told, not checked: core does that */
} face_schema;

/* What a "{name}" in paths means. */
typedef struct face_param {
    const char *name; /* NULL ends an array */
    const char *text, *example;
} face_param;

enum {
    ROUTE_OPEN = 1,      /* needs no identity (health, documents, login) */
    ROUTE_QUICK = 2,     /* neither reads nor writes the store: may run on a worker */
    ROUTE_WRITE = 4,     /* changes something: origin is checked, Idempotency-Key is heard (POST) */
    ROUTE_UPLOAD = 8,    /* the body is not JSON and is not gathered: see face_route.sink */
    ROUTE_STREAM = 16,   /* answers with server-sent events */
    ROUTE_ADMIN = 32,    /* for the role admin alone */
    ROUTE_LOOSE = 64,    /* parameters and members that it does not know are not looked at */
    ROUTE_KEYLESS = 128, /* a write without Idempotency-Key: it signs a browser in or out, which is
                            not the store's */
    ROUTE_PAGE = 256     /* reads history: a read replica may answer it */
};

typedef struct face_route {
    const char *method; /* NULL ends an array. HEAD and OPTIONS are the server's own */
    const char *path;   /* "/ramet/v1/sessions/{id}/fork" */
    const char *name;   /* "forkSession": unique, operationId in OpenAPI */
    const char *group;  /* heading in the documents: "Sessions" */
    const char *summary;
    const char *about; /* more, may be NULL */
    unsigned flags;
    const face_field *query; /* NULL: none; an unknown parameter is refused by name */
    const face_field *body;  /* NULL: no body; an unknown member is refused by name */
    int success;             /* 200, 201, 204 */
    const char *answer;      /* schema that is answered; NULL: see `about` */
    const char *statuses;    /* ramet_status names that it can fail with, for the documents:
                                "SESSION_NOT_FOUND HEAD_MOVED" */
    const char *example;     /* for the documents: a body, or a query when it has none */
    size_t body_max;         /* 0 = the server's */
    void (*run)(face_req *q);
    /* ROUTE_UPLOAD: called with each piece of the body, on a thread of the pool, before run();
     * false when the answer is filled already and the rest is not wanted. */
    bool (*sink)(face_req *q, const void *bytes, size_t n);
} face_route;

/* Which order identities are looked for in (local mode), and how a stranger is refused. */
typedef enum { WHO_NATIVE, WHO_KAGENT, WHO_MEMORY, WHO_AGENTPOD } face_who_kind;

typedef struct face {
    const char *name;   /* "native": in metrics (face="native") */
    const char *title;  /* of its document */
    const char *prefix; /* "/ramet/v1" */
    face_who_kind who;
    const char *about; /* what holds for all of it; may be NULL */
    const face_route *routes;
    const face_schema *schemas; /* NULL: none */
    const face_param *params;   /* NULL: none */
    const char *uuids;          /* those of them that must be UUIDs, parted by |; NULL: none */
    const char *secrets;        /* … and that are left out of logs */
    /* Writes an error in the shape of the protocol; q->out is empty and q->status set. NULL: the
     * shape of the native API. `code` is stable, `field` may be NULL. */
    void (*fail)(face_req *q, const char *code, const char *field, const char *message);
    const char *referrer; /* Referrer-Policy of its answers; NULL: no-referrer */
} face;

extern const face face_native;     /* face/native_api.c */
extern const face face_kagent;     /* face/kagent_api.c */
extern const face face_a2a;        /* face/a2a_api.c: /a2a/{agent} */
extern const face face_agentpod;   /* face/agentpod_api.c: /api/v2/sandboxes */
extern const face face_memory;     /* face/memory_api.c: /v1 */
extern const face face_a2a_kagent; /* the same at /api/a2a/{namespace}/{name} */

/* ------------------------------------------------------------------ a request */

/* Who asks, as the server found out. */
typedef struct face_who {
    const char *user;   /* never NULL where identity is needed */
    const char *client; /* X-Client-ID, or the token's; may be NULL */
    const char *roles;  /* parted by commas */
    bool admin, auditor, indexer;
    const char *mode;  /* "local", "tokens", "oidc" */
    const char *share; /* token of a share link (X-Ramet-Share, or ?share=); NULL: none */
    /* X-Agent-Name, where a face hears it (WHO_KAGENT); NULL: none. `as_agent`: the agent itself
     * asks, and may use its own sessions alone; `no_user`: in nobody's name. */
    const char *agent;
    bool as_agent, no_user;
    bool named; /* the user was named by the request, or is its token's */
} face_who;

enum { FACE_TURNS_MOST = 16 /* of one request */, FACE_MESSAGE = 256, MODEL_MAX_BYTES = 255 };

/* How a request hears a turn, when it wants other words than the events of the native API. Called
 * with locks held: it does not use the library. */
typedef struct face_hear {
    const char *type; /* Content-Type */
    bool whole;       /* one answer at the end, else events */
    /* One event, as the native API names it, with its data; "turn.joined" when those that came
     * before were told. What goes to the caller is added to `out`. False: it wants no more. */
    bool (*event)(void *arg, const char *event, const char *json, size_t n, buf *out);
    void (*release)(void *arg);
    void *arg;
} face_hear;

/* How a request is told of events, when it wants other words than the native API's. Called on a
 * thread of the server, which it holds up for all others; with locks held: of the library it uses
 * reads alone, through calls of its own. */
typedef struct face_feed {
    const char *hello, *pulse;                                /* first bytes; signs of life */
    void (*event)(void *arg, const ramet_event *e, buf *out); /* nothing is added: it is not told */
    void (*lost)(void *arg, int64_t number, buf *out);
    void (*release)(void *arg);
    void *arg;
    bool everybody; /* of all sessions, whoever may see them */
    bool removal;   /* a member who is removed is told so; else the stream falls silent */
} face_feed;

/* One turn that a request asks for. */
typedef struct face_turn_in {
    const char *session;
    const ramet_fork_in *fork; /* it happens in this fork of the session; NULL: in the session */
    const ramet_agent *agent;  /* who answers; NULL: the session's agent */
    ramet_turn_in turn;        /* its id, agent, group and host are filled by who runs it */
} face_turn_in;

/* What a face may ask the server for. Where there is no server, the functions of turns are NULL. */
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
    /* The name of one of them, from 0 on; NULL past the last. */
    const char *(*agent_name)(void *arg, size_t i);
    /* That of who answers where none is named. NULL where nobody does. */
    const char *(*agent_default)(void *arg);
    bool agents_listed; /* sessions of kagent may have no other agents */
    /* Opens a live stream of events for the request: it answers by itself. */
    void (*events)(void *arg, face_req *q, const ramet_events_in *filter, bool from_now);
    /* Something happened that is counted: "fork"/type, "rewind", "switch". */
    void (*count)(void *arg, const char *what, const char *type, const char *face);
    /* Runs turns and takes the request over: events, or JSON when all are over. `many`: a fan-out,
     * whose turns run side by side and share a group. */
    void (*turn_run)(void *arg, face_req *q, const face_turn_in *in, size_t n, bool many);
    /* Joins a turn that runs or is over: what came of it so far is told first. */
    void (*turn_join)(void *arg, face_req *q, const char *session, const char *turn);
    /* Ends a turn (NULL: the one on the head) and answers with it. */
    void (*turn_cancel)(void *arg, face_req *q, const char *session, const char *turn);
    /* Hands an answer to the question of a turn, and answers; with q->hear set it joins the turn
     * first, so that nothing is missed of what the agent says then. */
    void (*turn_answer)(void *arg, face_req *q, const char *session, const char *turn,
                        const char *question, const char *answer);
    /* The head of a session has moved: turns on branches that it left are cancelled, unless `keep`.
     */
    void (*turn_moved)(void *arg, const char *session, bool keep);
    /* `running` of a session, or null. Called inside commits: it does not use the library. */
    void (*turn_running)(void *arg, const ramet_session *s, json_writer *w);
    /* A key for links that are signed: the same on all nodes; 32 bytes. */
    const uint8_t *link_key;
    int64_t attachment_max; /* bytes of one */
    bool private_urls;      /* files may be fetched from private addresses, too */
    /* Brings the file of a ramet_fetch; answers nothing. */
    void (*fetch)(void *arg, const ramet_fetch *f);
    void *arg;
} face_host;

/* What came of making a piece of an answer. */
typedef enum { PIECE_MORE, PIECE_LAST, PIECE_FAILED } face_piece;

struct face_req {
    const face_host *host;
    const face *face;
    const face_route *route;
    arena *a;
    const char *method;
    const char *path;      /* as it came, without the query */
    const char **segments; /* decoded; "/a/b%2Fc" has two */
    size_t n_segments;
    face_pair *query;
    size_t n_query;
    const char *remote; /* address of the peer */
    buf body;
    char id[129]; /* X-Request-ID */
    int64_t start_us;
    face_who who;
    json_doc json; /* the body, read; json.n is 0 when there was none */
    /* How turn_run and turn_join tell the turn; NULL: as events of the native API. Must live as
     * long as they do, and is taken out here by who will release it. */
    const face_hear *hear;
    /* The same for face_host.events; copied. */
    const face_feed *feed;

    /* the answer */
    int status;
    const char *type; /* Content-Type; NULL = application/json */
    buf out;
    face_pair *headers; /* added ones */
    size_t n_headers, cap_headers;
    face_stream *stream; /* set: the body comes from it */
    int file;            /* >= 0: the body is this file, `file_size` bytes; closed by the server */
    int64_t file_size;
    int64_t file_from; /* first byte of it that is sent */
    bool cacheable;    /* else Cache-Control: no-store */
    /* Set: `out` is only the beginning of the body. When the client has taken it, this is called,
     * on a thread of the pool and with `out` empty, to write what follows. */
    face_piece (*more)(face_req *q);
    void *more_state; /* of `more`, in the request's arena */

    json_writer w;   /* on `out`, ready */
    ramet_call *c;   /* of `who`; face_call() makes it; freed with the request */
    int64_t since;   /* ROUTE_PAGE: the replica has to have come so far; -1: the primary alone */
    ramet_once once; /* Idempotency-Key: prepared by face_run(), used by face_call() */
    bool has_once;
    void (*render)(face_req *q, const void *answer); /* see face_answer() */
    const void *answer;
    bool rendered;
    void *user; /* of the route (an upload) */
    void (*user_free)(void *user);
    void *inner; /* of whoever speaks HTTP */
    /* Set when nobody waits for the answer any more: reads of the store end then. NULL: that
     * cannot be known. */
    const atomic_bool *gone;
    bool left; /* the client was gone before it was answered; by whoever speaks HTTP */
    const char *(*header)(face_req *q, const char *name);
    face_stream *(*stream_new)(face_req *q, size_t most); /* face_stream_new() */
};

/* ---- what faces use (face/face.c) */

/* The call of who asks; the share link and the idempotency key of the request are in it. NULL: the
 * answer is filled (an unknown share link). */
ramet_call *face_call(face_req *q);
/* The same for a write that has no expected_head of its own: the one of the request is in it. */
ramet_call *face_call_expecting(face_req *q, const char *session);

/* A handler says how its answer is written before it calls the library, because an answer that is
 * kept for an idempotency key is written inside the commit:
 *
 *     ramet_session *out = NULL;
 *     face_render(q, show_session, &out);
 *     face_answer(q, ramet_fork(c, …, &out));
 *
 * `render` writes to q->w, may set q->status, must not call the library, and may run twice. */
void face_render(face_req *q, void (*render)(face_req *q, const void *answer), const void *answer);
/* The error of the call, the answer that was kept, or the one that is rendered now, with the
 * route's success status. True when the operation ran: not after an error or a repetition. */
bool face_answer(face_req *q, ramet_status st);
const char *face_path(face_req *q, const char *name); /* "{id}" of the route; never NULL */
const char *face_query(const face_req *q, const char *name);
/* All values of a repeated parameter. */
size_t face_query_all(face_req *q, const char *name, const char ***out);
bool face_query_int(const face_req *q, const char *name, int64_t *out); /* checked already */
bool face_query_bool(const face_req *q, const char *name);
/* Members of the JSON body, checked by the route's fields already; NULL when not given or null. */
const json_node *face_member(const face_req *q, const char *name);
bool face_cleared(const face_req *q, const char *name); /* it was given, as null */
bool face_bool(const face_req *q, const char *name);
const char *face_text(face_req *q, const char *name);
const char *face_raw(face_req *q, const char *name);
/* A list of texts; *n is 0 when it was not given. */
const char *const *face_texts(face_req *q, const char *name, size_t *n);
/* `expected_head`: the head object as it was read, its prefix_hash alone, or the If-Match header;
 * NULL when none was given. */
const char *face_expected_head(face_req *q);

/* A segment of a path, percent-encoded. */
const char *face_escape(face_req *q, const char *s);
/* Tells the server that something happened which is counted; `type` may be NULL. */
void face_count(face_req *q, const char *what, const char *type);

/* Adds a header to the answer. */
void face_add(face_req *q, const char *name, const char *value);
/* Errors: {"code", "error", "field"?, "head"?, "request_id"}; whatever was written is dropped. */
void face_fail(face_req *q, int status, const char *code, const char *field, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
void face_error(face_req *q, const ramet_error *e);
/* The answer is over a limit, or there is no memory left for it: refuses it. */
void face_over(face_req *q);
/* Sets the route's success status; the answer is what was written to q->w. */
void face_done(face_req *q);
/* An ETag: `front` (may be NULL), and a digest of these bytes: what was written, or whatever it
 * depends on. */
void face_etag(face_req *q, const char *front, const void *bytes, size_t n);

/* ---- what the server uses */

bool face_is_uuid(const char *s);

typedef enum { FACE_FOUND, FACE_NO_PATH, FACE_NO_METHOD } face_found;
/* Finds the route; fills q->face and q->route. FACE_NO_METHOD: *allow names those that it has
 * ("GET, HEAD, POST, OPTIONS"). */
face_found face_find(const face *const *faces, size_t n, face_req *q, const char **allow);
/* Reads query and body by the route's fields. False: the answer is filled. */
bool face_check_query(face_req *q);
bool face_check_body(face_req *q);
/* Whether the caller has the role that the route needs. False: the answer is filled. */
bool face_check_role(face_req *q);
/* The path and the query as they may be logged: *** stands for secrets. Of a request without a
 * route, what a route of the same beginning takes for a secret is one, and all values of the query
 * are. */
void face_path_show(const face *const *faces, size_t n, const face_req *q, buf *out);
void face_query_show(const face_req *q, buf *out);
const face_schema *face_schema_find(const face *f, const char *name); /* NULL-safe */
/* Runs it, with its idempotency key. */
void face_run(face_req *q);

/* ---- the documents (face/openapi.c, face/docs.c): from the tables of all faces */
void face_openapi(const face *const *faces, size_t n, const char *version, buf *out);
void face_docs_html(const face *const *faces, size_t n, const char *version, buf *out);
void face_docs_markdown(const face *f, buf *out); /* docs/api/NAME.md */

/* ---- streams (by whoever speaks the transport) */

/* A body that goes on (server-sent events). Bytes are added from any thread; a reader that falls
 * more than `most` bytes behind is dropped; one that has taken everything may be given more. */
face_stream *face_stream_new(face_req *q, size_t most);
/* False when the reader is gone or was dropped. */
bool face_stream_add(face_stream *s, const void *p, size_t n);
/* The producer is done with it: the rest goes out, then it ends. Must be called once. */
void face_stream_end(face_stream *s);
/* The request is answered otherwise after all; the producer ends its side as ever. */
void face_stream_drop(face_req *q);
bool face_stream_gone(face_stream *s);
size_t face_stream_behind(face_stream *s); /* bytes that the reader has not taken yet */

#endif
