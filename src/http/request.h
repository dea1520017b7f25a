/* SPDX-License-Identifier: Apache-2.0
 *
 * request.h: one request and its answer, as every transport makes them and every protocol fills
 * them.
 *
 * A request belongs to one thread at a time. Everything in it lives as long as the request, and so
 * must texts that are given to it: its arena is the place for them. The transport (http/, grpc/)
 * makes a request and sends its answer; it knows no protocol.
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

/* Who asks, as the server found out. */
typedef struct request_caller {
    const char *user;   /* never NULL where identity is needed */
    const char *client; /* X-Client-ID, or the token's; may be NULL */
    const char *roles;  /* parted by commas */
    bool admin, auditor, indexer;
    const char *mode;  /* "local", "tokens", "oidc" */
    const char *share; /* token of a share link (X-Ramet-Share, or ?share=); NULL: none */
    /* The agent that the request names, where the protocol has a header for it
     * (identity_rule.agent_header); NULL: none. `as_agent`: the agent itself is the caller and may
     * use its own sessions alone; `no_user`: it acts for no user. */
    const char *agent;
    bool as_agent, no_user;
    bool named; /* the user was named by the request, or is its token's */
} request_caller;

/* An error before it is written in the shape of a protocol. */
typedef struct request_failure {
    const char *code;  /* stable */
    const char *field; /* NULL: none */
    const char *message;
} request_failure;

/* What came of making a piece of an answer. */
typedef enum { PIECE_MORE, PIECE_LAST, PIECE_FAILED } request_piece;

struct request {
    /* Set when the route is found; the transport does not look into them. */
    const struct face_host *host;
    const struct face *face;
    const struct face_route *route;
    /* Writes an error in the shape of the protocol; `out` is empty and `status` set. NULL: the
     * shape of request_fail(). `code` is stable, `field` may be NULL. */
    void (*fail)(request *q, const char *code, const char *field, const char *message);
    /* The transport sends no text of errors: request_keep_failure() is called instead of writing
     * one, and `failure` holds while `status` is that of an error. */
    bool keeps_failure;
    request_failure failure;
    const char *referrer; /* Referrer-Policy of the answer; NULL: no-referrer */
    bool writes;          /* its route changes something */
    unsigned roles;       /* that its route is for (identity/rule.h); 0: it has no route */
    const struct identity_rule *identity_rule; /* of the protocol; NULL: it identifies nobody */
    arena *arena;
    const char *method;
    const char *path;      /* as it came, without the query */
    const char **segments; /* decoded; "/a/b%2Fc" has two */
    size_t n_segments;
    request_pair *query;
    size_t n_query;
    const char *remote; /* address of the peer */
    buf body;
    char id[129]; /* X-Request-ID */
    int64_t start_us;
    request_caller caller;
    json_doc json; /* the body, read; json.n is 0 when there was none */

    /* the answer */
    int status;
    const char *type; /* Content-Type; NULL = application/json */
    buf out;
    request_pair *headers; /* added ones */
    size_t n_headers, cap_headers;
    body_stream *stream; /* set: the body comes from it */
    int file;            /* >= 0: the body is this file, `file_size` bytes; closed by the server */
    int64_t file_size;
    int64_t file_from; /* first byte of it that is sent */
    bool cacheable;    /* else Cache-Control: no-store */
    /* Set: `out` is only the beginning of the body. When the client has taken it, this is called,
     * on a thread of the pool and with `out` empty, to write what follows. */
    request_piece (*more)(request *q);
    void *more_state; /* of `more`, in the request's arena */
    bool whole;       /* `more` is not used: the transport sends the body in one message */

    json_writer writer; /* on `out`, ready */
    ramet_call *call;   /* of `caller`; face_call() makes it; freed with the request */
    int64_t since;      /* ROUTE_PAGE: the replica has to have come so far; -1: the primary alone */
    ramet_once once;    /* Idempotency-Key: prepared by face_run(), used by face_call() */
    bool has_once;
    void (*render)(request *q, const void *answer); /* see face_answer() */
    const void *answer;
    bool rendered;
    void *user; /* of the route (an upload) */
    void (*user_free)(void *user);
    void *inner; /* of whoever speaks HTTP */
    /* Set when nobody waits for the answer any more: reads of the store end then. NULL: that
     * cannot be known. */
    const atomic_bool *gone;
    bool left; /* the client was gone before it was answered; by whoever speaks HTTP */
    const char *(*header)(request *q, const char *name);
    body_stream *(*stream_new)(request *q, size_t max); /* body_stream_new() */
};

/* ---- the query */

const char *request_query(const request *q, const char *name);
/* All values of a repeated parameter. */
size_t request_query_all(request *q, const char *name, const char ***out);

/* ---- the answer */

/* Adds a header to the answer. */
void request_add_header(request *q, const char *name, const char *value);
/* Errors: {"code", "error", "field"?, "head"?, "request_id"}; whatever was written is dropped. */
void request_fail(request *q, int status, const char *code, const char *field, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* For `fail` where keeps_failure is set: keeps the error in q->failure; the texts are copied. */
void request_keep_failure(request *q, const char *code, const char *field, const char *message);
/* The answer is over a limit, or there is no memory left for it: refuses it. */
void request_answer_too_large(request *q);
/* Drops whatever was written. */
void request_answer_begin(request *q);

/* ---- streams (by whoever speaks the transport) */

/* A body that goes on (server-sent events). Bytes are added from any thread; a reader that falls
 * more than `max` bytes behind is dropped; one that has taken everything may be given more. */
body_stream *body_stream_new(request *q, size_t max);
/* False when the reader is gone or was dropped. */
bool body_stream_add(body_stream *s, const void *p, size_t n);
/* The producer is done with it: the rest goes out, then it ends. Must be called once. */
void body_stream_end(body_stream *s);
/* The request is answered otherwise after all; the producer ends its side as ever. */
void body_stream_drop(request *q);
bool body_stream_gone(body_stream *s);
size_t body_stream_behind(body_stream *s); /* bytes that the reader has not taken yet */

#endif
