/* SPDX-License-Identifier: Apache-2.0
 *
 * request.h: one request and its answer. Every transport creates them, every protocol fills them
 * in.
 *
 * A request belongs to one thread at a time. Everything in it lives as long as the request, and so
 * must texts stored in it: allocate them in its arena. The transport (http/, grpc/) creates a
 * request and sends its answer; it knows no protocol.
 */
#ifndef HTTP_REQUEST_H
#define HTTP_REQUEST_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "ramet.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct request request;
typedef struct body_stream body_stream;

typedef struct request_pair {
    const char *name, *value; /* decoded */
} request_pair;

/* The client of a request, as the server identified it. */
typedef struct request_caller {
    const char *user;   /* never NULL where the route needs an identity */
    const char *client; /* X-Client-ID, or the token's; may be NULL */
    const char *roles;  /* separated by commas */
    bool admin, auditor, indexer;
    const char *mode;  /* "local", "tokens", "oidc" */
    const char *share; /* token of a share link (X-Ramet-Share, or ?share=); NULL: none */
    bool link;         /* it has the rights of its share link alone; `user` is made from the link */
    /* The agent that the request names, where the protocol has a header for it
     * (identity_rule.agent_header); NULL: none. `as_agent`: the agent itself is the client and may
     * use only its own sessions; `no_user`: it acts for no user. */
    const char *agent;
    bool as_agent, no_user;
    bool named; /* the request or its token names the user */
} request_caller;

/* An error, before it is written in the form of a protocol. */
typedef struct request_failure {
    const char *code;  /* stable */
    const char *field; /* NULL: none */
    const char *message;
} request_failure;

/* The result of making a piece of an answer. */
typedef enum { PIECE_MORE, PIECE_LAST, PIECE_FAILED } request_piece;

struct request {
    /* Set once the route is found; the transport does not use them. */
    const struct face_host *host;
    const struct face *face;
    const struct face_route *route;
    /* Writes an error in the form of the protocol; `out` is empty and `status` set. NULL: the form
     * of request_fail(). `code` is stable, `field` may be NULL. */
    void (*fail)(request *q, const char *code, const char *field, const char *message);
    /* The transport sends no error bodies: request_keep_failure() stores the error instead of
     * writing it, and `failure` is valid while `status` is an error. */
    bool keeps_failure;
    request_failure failure;
    const char *referrer; /* Referrer-Policy of the answer; NULL: no-referrer */
    bool writes;          /* the route changes something */
    unsigned roles;       /* roles allowed on its route (identity/rule.h); 0: no route */
    const struct identity_rule *identity_rule; /* of the protocol; NULL: identifies no clients */
    arena *arena;
    const char *method;
    const char *path;      /* as received, without the query */
    const char **segments; /* decoded; "/a/b%2Fc" has two */
    size_t n_segments;
    request_pair *query;
    size_t n_query;
    const char *remote; /* address of the peer */
    buf body;
    char id[129]; /* X-Request-ID */
    int64_t start_us;
    request_caller caller;
    json_doc json; /* the parsed body; json.n is 0 if there was none */

    /* the answer */
    int status;
    const char *type; /* Content-Type; NULL: application/json */
    buf out;
    request_pair *headers; /* added headers */
    size_t n_headers, cap_headers;
    body_stream *stream; /* if set, the body comes from it */
    int file; /* if >= 0, the body is this file, `file_size` bytes; the server closes it */
    int64_t file_size;
    int64_t file_from; /* first byte of the file to send */
    bool cacheable;    /* otherwise Cache-Control: no-store */
    /* If set, `out` is only the beginning of the body. When the client has read it, the transport
     * calls this on a pool thread, with `out` empty, to write what follows. */
    request_piece (*more)(request *q);
    void *more_state; /* for `more`, in the request's arena */
    bool whole;       /* do not use `more`: the transport sends the body in one message */

    json_writer writer; /* writes to `out` */
    ramet_call *call;   /* made for `caller` by face_call(); freed with the request */
    int64_t since;   /* ROUTE_PAGE: a replica must have reached this point; -1: the primary only */
    ramet_once once; /* Idempotency-Key: prepared by face_run(), used by face_call() */
    bool has_once;
    void (*render)(request *q, const void *answer); /* see face_answer() */
    const void *answer;
    bool rendered;
    void *user; /* state of the route (an upload) */
    void (*user_free)(void *user);
    void *inner; /* state of the transport */
    /* Set when the client no longer waits for the answer: reads of the store then end. NULL:
     * unknown. */
    const atomic_bool *gone;
    bool left; /* the client disconnected before it was answered; set by the transport */
    const char *(*header)(request *q, const char *name);
    body_stream *(*stream_new)(request *q, size_t max); /* body_stream_new() */
};

/* A header of the request; NULL when it was not sent, or the transport has none. */
const char *request_header(request *q, const char *name);

/* ---- the query */

const char *request_query(const request *q, const char *name);
/* All values of a repeated parameter. */
size_t request_query_all(request *q, const char *name, const char ***out);

/* ---- the answer */

/* Adds a header to the answer. */
void request_add_header(request *q, const char *name, const char *value);
/* Fails with {"code", "error", "field"?, "head"?, "request_id"}; discards what was written. */
void request_fail(request *q, int status, const char *code, const char *field, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* For `fail` when keeps_failure is set: stores copies of the texts in q->failure. */
void request_keep_failure(request *q, const char *code, const char *field, const char *message);
/* Fails because the answer exceeds a limit, or because there is no memory for it. */
void request_answer_too_large(request *q);
/* Discards what was written. */
void request_answer_begin(request *q);

/* ---- streams (implemented by the transport) */

/* A body of unknown length (server-sent events). Bytes are added from any thread. A reader that
 * falls more than `most` bytes behind is disconnected; one that has read everything may get a
 * larger piece. */
body_stream *body_stream_new(request *q, size_t max);
/* False if the reader has disconnected or was dropped. */
bool body_stream_add(body_stream *s, const void *p, size_t n);
/* Called once by the producer when it is done: the rest is sent, then the body ends. */
void body_stream_end(body_stream *s);
/* Abandons the stream because the request gets another answer; the producer still ends its side. */
void body_stream_drop(request *q);
bool body_stream_gone(body_stream *s);
size_t body_stream_behind(body_stream *s); /* bytes the reader has not taken yet */

#endif
