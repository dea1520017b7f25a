/* SPDX-License-Identifier: Apache-2.0
 *
 * grpc_internal.h: shared by the files of src/grpc. No other folder includes it.
 *
 *   grpc_server.c    start, stop, the threads, and what every call does
 *   service_calls.c  calls of registered services (service.h)
 *   deadline.c       deadlines of calls that wait for their client
 *   health.c         health checks and reflection
 *   reflection.c     the descriptors that reflection answers with
 *
 * A call does one thing at a time: it waits for a message, runs on the pool, or waits until a
 * message was sent; `next` is the step after that. call_finish() ends it, once. Independently the
 * gRPC core reports that the call is over (`closed`): the client has cancelled it, its deadline has
 * passed, its connection is lost, or its status was sent. The call is freed after both.
 *
 * While a call waits for its client, to send or to receive a message, it has a deadline and is in
 * the list of waiting calls (deadline.c). A late call is cancelled; the operation it waits for then
 * fails, and the call ends in the ordinary way.
 */
#ifndef GRPC_GRPC_INTERNAL_H
#define GRPC_GRPC_INTERNAL_H

#include "grpc/http2_guard.h"
#include "grpc/grpc_server.h"
#include "grpc/service.h"
#include "http/stream.h"
#include "http/work.h"

#include <grpc/byte_buffer.h>
#include <grpc/grpc.h>
#include <stdatomic.h>

typedef struct rpc rpc;
typedef void rpc_step(rpc *r);
typedef enum { WAIT_MESSAGE, WAIT_TAKEN } wait_kind;

/* What the core returns when an operation is complete. */
typedef struct rpc_tag {
    rpc *call;
    void (*fired)(rpc *r, bool fine);
} rpc_tag;

struct rpc {
    rpc_server *server;
    grpc_call *call;
    grpc_call_details details;
    grpc_metadata_array metadata;
    rpc_tag arrived, closed, received, sent;
    atomic_int owners; /* the current operation, and `closed` */
    atomic_bool cancelled;
    int was_cancelled; /* written by the core */
    bool greeted;      /* the initial metadata was sent */
    bool arrived_ok;   /* counted in `alive` */
    bool counted;      /* … and among the calls of its address, as `kind` */
    call_kind kind;
    http2_address *from; /* the client address of its connection */
    int64_t begun_us;

    rpc *wait_prev, *wait_next; /* under wait_lock, as is wait_until_us */
    int64_t wait_until_us;
    wait_kind wait_for;
    int64_t wait_begun_us;
    int64_t wait_us;             /* time spent waiting for messages, in total */
    int64_t in_bytes;            /* their total size */
    const grpc_service *handler; /* NULL: health or reflection */
    const grpc_method *method;   /* a method of the handler */
    request request;
    grpc_byte_buffer *in,
        *out; /* the message received (NULL: the client sends no more) or to be sent */
    grpc_metadata
        about[2]; /* the header x-request-id; the details of an error, if it has_details */
    bool has_details;
    grpc_slice status_text; /* the status message */
    rpc_step *next;
    pool_job job;
    arena *scratch;       /* for one message */
    buf packed;           /* the message to be sent */
    int64_t bytes;        /* bytes sent */
    size_t message_bytes; /* size of the message that the core holds; counted in cfg.answers */

    _Atomic(body_stream *) stream; /* of events, for this call */
    buf pending;                   /* bytes taken from the stream */
    size_t taken;                  /* of them, bytes consumed */

    rpc *watch_prev, *watch_next; /* health: under the server's lock */
    bool watching, busy;
    int status_sent;
    const char *service;
};

struct rpc_server {
    rpc_config cfg;
    grpc_server *core;
    grpc_server_credentials *insecure;
    grpc_completion_queue *queue;
    pthread_t *threads;
    int n_threads;
    rpc_tag stopped_tag;
    http2_guard *guard;
    atomic_size_t alive; /* calls not freed yet, refused ones included */
    atomic_bool stopping;
    pthread_mutex_t wait_lock;
    rpc *waiting;         /* calls that wait for their client */
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    bool stopped; /* no call is open any more */
    rpc *watchers;
    _Atomic int64_t ticked; /* when watchers and waiting calls were checked last */
};

/* ---- grpc/grpc_server.c
 *
 * Each of these gives the call away: when it returns, another thread may have gone on with the call
 * and freed it. The caller must not use `r` any more. (call_claim() gives it away only when it
 * returns false; call_bytes() does not.) */

/* Waits for the next message; `next` runs on the pool when it has arrived. */
void call_receive(rpc *r, rpc_step *next);
/* The same on the core's thread that reports the message: for quick steps. */
void call_receive_here(rpc *r, rpc_step *next);
/* Runs `next` on the pool. */
void call_pool(rpc *r, rpc_step *next);
/* On the pool, once the client is identified: charges the rest of the call to its user
 * (pool_claim()). False: `next` runs later, and the caller must not use the call any more. */
bool call_claim(rpc *r, rpc_step *next);
/* Sends r->packed as a message (`message` false: the initial metadata only), then runs `next` on
 * the core's thread that reports completion. If sending fails, the call is finished. */
void call_send(rpc *r, bool message, rpc_step *next);
/* Ends the call with a status; with `message`, r->packed is sent first. */
void call_finish(rpc *r, int code, const char *text, bool message);
/* The bytes of r->in, valid as long as the slice. */
grpc_slice call_bytes(rpc *r);

/* ---- grpc/deadline.c */
/* Call before an operation that only the client can complete: sending one more message, or reading
 * `bytes` of an answer. */
void wait_begin(rpc *r, wait_kind kind, int64_t bytes);
/* Call when it is complete. */
void wait_end(rpc *r);
/* Cancels late calls. */
void waits_tick(rpc_server *s);

/* ---- grpc/service_calls.c */
/* Finds handler and method of a call by "/memory.v1.EntriesService/AppendEntry". False: no service
 * has that method. */
bool service_call_find(rpc *r, const char *path);
/* Whether a service of this name is registered ("memory.v1.EntriesService"). */
bool service_is_known(const rpc_server *s, const char *name);
void service_call_begin(rpc *r);
void service_call_closed(rpc *r);     /* the call is over: wakes it if it sleeps */
bool service_call_late(const rpc *r); /* its effect must be undone, on the pool */
void service_call_free(rpc *r);

/* ---- grpc/health.c */
/* CALL_WATCH for calls that last as long as the client wants. */
call_kind tool_call_kind(const char *path);
/* False: the path is neither health nor reflection. */
bool tool_call_begin(rpc *r, const char *path);
void tool_call_closed(rpc *r);
/* Sends the status to watchers when it has changed, and ends watches that are too old. */
void watchers_tick(rpc_server *s);
void watchers_end(rpc_server *s);

/* ---- grpc/reflection.c: the answer to a reflection request, packed into `out` */
void reflect_answer(arena *a, const void *bytes, size_t n, buf *out);

#endif
