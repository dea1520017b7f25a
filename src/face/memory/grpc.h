/* SPDX-License-Identifier: Apache-2.0
 *
 * grpc.h: memory-service by gRPC: calls of the services memory.v1 as requests of the
 * memory-service face, and its answers as messages. Knows nothing of the transport.
 *
 * An operation has one implementation, the handler of its route. A call is that request in other
 * words: its message becomes the path, the query and the JSON body; the JSON that is answered
 * becomes the message that is returned, an error a status.
 */
#ifndef FACE_MEMORY_GRPC_H
#define FACE_MEMORY_GRPC_H

#include "face/kit/face.h"

typedef enum {
    RPC_UNARY,
    RPC_UPLOAD,   /* messages come, one goes */
    RPC_DOWNLOAD, /* one comes; one goes that is about a file, then the file */
    RPC_EVENTS    /* one comes, messages go for as long as somebody listens */
} rpc_kind;

/* A method; face/memory/grpc.c has the table. */
typedef struct memory_rpc memory_rpc;

/* The codes of gRPC that are used here. */
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

/* What is asked by gRPC alone; not served by HTTP. Its routes are counted like all others. */
extern const face face_memory_grpc;

/* By "/memory.v1.EntriesService/AppendEntry"; NULL: there is none that is implemented. */
const memory_rpc *memory_rpc_find(const char *path);
rpc_kind memory_rpc_kind(const memory_rpc *m);
/* Whether there is a service of this name ("memory.v1.EntriesService"). */
bool memory_rpc_serves(const char *service);

/* Fills face, route, path, query and body of the request. False: the answer is filled. */
bool memory_rpc_read(request *q, const memory_rpc *m, const void *bytes, size_t n);
/* What can only be told when it is known who asks. False: the answer is filled. */
bool memory_rpc_admit(request *q, const memory_rpc *m);
/* The answer of the request as a message. False: it cannot be, and is an error now. */
bool memory_rpc_write(request *q, const memory_rpc *m, buf *out);
/* The status of an answer; *message lives as long as the request. */
int memory_rpc_status(request *q, const char **message);

/* Uploads: the bytes of a further message, in that arena. False: the answer is filled. */
bool memory_rpc_chunk_read(request *q, arena *a, const void *bytes, size_t n, const void **chunk,
                           size_t *size);
/* Takes an upload that was answered back: its client does not want it any more. */
void memory_rpc_undo(request *q);
/* Downloads: after the answer about the file was written, opens it as q->file. */
bool memory_rpc_open(request *q);
void memory_rpc_chunk_write(const void *chunk, size_t size, buf *out);

/* Events: takes the next one out of the bytes of a stream. *used: how many of them are done with;
 * 0: the next one is not whole. `out` stays empty when there is nothing to be told. */
void memory_rpc_event(request *q, arena *a, const char *bytes, size_t n, size_t *used, buf *out);

#endif
