/* SPDX-License-Identifier: Apache-2.0
 *
 * service.h: the interface by which a protocol offers a gRPC service.
 *
 * A gRPC call maps to a request. The service turns the first message into a request (face, route,
 * path, query, body), the request runs as over HTTP, and the service turns the answer into a
 * message and a status. src/grpc provides transport, limits, deadlines, cancellation and streaming;
 * it knows no protocol.
 *
 *   message ──read()──► request ──admit, run──► answer ──write()──► message, OK
 *                                               error  ──status()─► code, text
 *
 * Errors are not written as text: a gRPC request has `keeps_failure` set, and status() finds code,
 * field and message in q->failure.
 *
 * The functions run on pool threads, for one call on one thread at a time. Texts they return live
 * as long as the request.
 */
#ifndef GRPC_SERVICE_H
#define GRPC_SERVICE_H

#include "http/request.h"

#include <protobuf-c/protobuf-c.h>

/* The gRPC status codes in use. */
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
    RPC_UNARY,    /* one message in, one out. If run() makes the answer a stream, the message is
                     written when that has ended, from all its bytes in q->out */
    RPC_UPLOAD,   /* several messages in, one out */
    RPC_DOWNLOAD, /* one in; out: one that describes a file, then the file in pieces */
    RPC_EVENTS    /* one in, messages out for as long as the client listens */
} rpc_kind;

/* A method. A service that needs more per method makes this the first member of its own rows. */
typedef struct grpc_method {
    const ProtobufCServiceDescriptor *service;
    const char *name; /* "AppendEntry" */
    rpc_kind kind;
} grpc_method;

typedef struct grpc_service {
    /* Rows of `method_size` bytes that begin with a grpc_method. */
    const void *methods;
    size_t n_methods, method_size;

    /* Fills in face, route, path, query and body of the request. False: it has failed. */
    bool (*read)(request *q, const grpc_method *m, const void *bytes, size_t n);
    /* Checks that need the identified client. False: it has failed. NULL: none. */
    bool (*admit)(request *q, const grpc_method *m);
    /* Writes the answer as a message. False: it cannot, and the request has now failed. */
    bool (*write)(request *q, const grpc_method *m, buf *out);
    /* The status of an answered or failed request. */
    int (*status)(request *q, const char **message);
    /* The details of a failed request, for grpc-status-details-bin: appends a packed
     * google.rpc.Status with that code and text. NULL: none. */
    void (*details)(request *q, int code, const char *message, buf *out);

    /* RPC_UPLOAD: the file bytes of a further message, in that arena. False: it has failed. */
    bool (*chunk_read)(request *q, arena *a, const void *bytes, size_t n, const void **chunk,
                       size_t *size);
    /* RPC_UPLOAD: undoes an upload that completed after its client had disconnected. */
    void (*undo)(request *q);

    /* RPC_DOWNLOAD: after the first message was written, opens the file as q->file. */
    bool (*open)(request *q);
    void (*chunk_write)(const void *chunk, size_t size, buf *out);

    /* RPC_EVENTS: extracts the next event from the bytes of a stream. *used: bytes consumed; 0: the
     * next event is incomplete. `out` stays empty for an event to be skipped. */
    void (*event)(request *q, arena *a, const char *bytes, size_t n, size_t *used, buf *out);
    /* RPC_EVENTS: a stream that its producer has ended is complete, and its status is OK.
     * Otherwise streams last until the client ends them. */
    bool streams_end;
    /* RPC_EVENTS: the status text when the server ends the stream. */
    const char *stream_over;
} grpc_service;

#endif
