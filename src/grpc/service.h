/* SPDX-License-Identifier: Apache-2.0
 *
 * service.h: what a protocol gives so that it can be called by gRPC.
 *
 * A call is a request in other words. The service turns its first message into a request (face,
 * route, path, query, body), the request runs like one of HTTP, and the service turns the answer
 * into a message and a status. Transport, limits, deadlines, cancellation and streaming are
 * src/grpc's; it knows no protocol.
 *
 *   message ──read()──► request ──admit, run──► answer ──write()──► message, OK
 *                                               error  ──status()─► code, text
 *
 * Errors are not written as text: a request of gRPC has `keeps_failure` set, and status() finds
 * code, field and message in q->failure.
 *
 * Functions run on threads of the pool, for one call on one thread at a time. Texts that they hand
 * out live as long as the request.
 */
#ifndef GRPC_SERVICE_H
#define GRPC_SERVICE_H

#include "http/request.h"

#include <protobuf-c/protobuf-c.h>

/* The status codes of gRPC that are used here. */
enum {
    RPC_OK = 0,
    RPC_CANCELLED = 1,
    RPC_INVALID_ARGUMENT = 3,
    RPC_DEADLINE_EXCEEDED = 4,
    RPC_NOT_FOUND = 5,
    RPC_PERMISSION_DENIED = 7,
    RPC_RESOURCE_EXHAUSTED = 8,
    RPC_FAILED_PRECONDITION = 9,
    RPC_ABORTED = 10,
    RPC_UNIMPLEMENTED = 12,
    RPC_INTERNAL = 13,
    RPC_UNAVAILABLE = 14,
    RPC_UNAUTHENTICATED = 16
};

typedef enum {
    RPC_UNARY,    /* one message comes, one goes */
    RPC_UPLOAD,   /* messages come, one goes */
    RPC_DOWNLOAD, /* one comes; one goes that describes a file, then the file in pieces */
    RPC_EVENTS    /* one comes, messages go for as long as the client listens */
} rpc_kind;

/* A method. A service may have more to say of one: then this is the first member of its rows. */
typedef struct grpc_method {
    const ProtobufCServiceDescriptor *service;
    const char *name; /* "AppendEntry" */
    rpc_kind kind;
} grpc_method;

typedef struct grpc_service {
    /* Rows of `method_size` bytes that begin with a grpc_method. */
    const void *methods;
    size_t n_methods, method_size;

    /* Fills face, route, path, query and body of the request. False: it has failed. */
    bool (*read)(request *q, const grpc_method *m, const void *bytes, size_t n);
    /* Checks that need the caller. False: it has failed. NULL: there are none. */
    bool (*admit)(request *q, const grpc_method *m);
    /* The answer as a message. False: it cannot be one, and the request has failed now. */
    bool (*write)(request *q, const grpc_method *m, buf *out);
    /* The status of an answered or failed request. */
    int (*status)(request *q, const char **message);

    /* RPC_UPLOAD: the file bytes of a further message, in that arena. False: it has failed. */
    bool (*chunk_read)(request *q, arena *a, const void *bytes, size_t n, const void **chunk,
                       size_t *size);
    /* RPC_UPLOAD: takes back an upload that was answered after its client had gone. */
    void (*undo)(request *q);

    /* RPC_DOWNLOAD: after the first message was written, opens the file as q->file. */
    bool (*open)(request *q);
    void (*chunk_write)(const void *chunk, size_t size, buf *out);

    /* RPC_EVENTS: takes the next event out of the bytes of a stream. *used: bytes that are done
     * with; 0: the next event is not complete. `out` stays empty when it is to be left out. */
    void (*event)(request *q, arena *a, const char *bytes, size_t n, size_t *used, buf *out);
    /* RPC_EVENTS: what a client is told when the server ends the stream. */
    const char *stream_over;
} grpc_service;

#endif
