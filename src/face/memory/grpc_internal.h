/* SPDX-License-Identifier: Apache-2.0
 *
 * grpc_internal.h: memory-service over gRPC: maps calls of the services memory.v1 to requests of
 * the memory-service face (grpc.c), and its answers to messages (grpc_answer.c).
 *
 * Each operation has one implementation, the handler of its route. The message of a call becomes
 * the path, the query and the JSON body of a request; the JSON answer becomes the message that is
 * returned, an error becomes a status.
 */
#ifndef FACE_MEMORY_GRPC_INTERNAL_H
#define FACE_MEMORY_GRPC_INTERNAL_H

#include "face/memory/memory.h"
#include "form/proto/proto.h"
#include "grpc/service.h"

/* A field of the request goes to the path parameter, query parameter or body member with its JSON
 * name. `names` overrides this: "a=b" renames it to b, "a=." moves its own fields up, "a=-" drops
 * it. `answer` does the same for members of the JSON and fields of the answer ("a=.": all of it).
 */
typedef struct memory_rpc {
    grpc_method base;
    const char *route;
    const char *names, *answer;
    const char *missing, *instead; /* a member of the body, and its default */
    const char *lone;              /* a list of texts: a single one is sent as a text */
    const char *needs_client;      /* a parameter that requires a client id */
    bool (*check)(request *q, ProtobufCMessage *in);
} memory_rpc;

/* Routes for gRPC only. They are counted like all others. */
extern const face face_memory_grpc;
extern const grpc_service memory_grpc;

const ProtobufCMethodDescriptor *memory_rpc_shape(const memory_rpc *m);
/* The entry for a field in a list like `names`; NULL: none. */
const char *memory_rpc_name(arena *a, const char *names, const char *field);

/* ---- grpc_answer.c: the functions of the service that write */
bool memory_rpc_write(request *q, const grpc_method *m, buf *out);
int memory_rpc_status(request *q, const char **message);
void memory_rpc_undo(request *q);
bool memory_rpc_open(request *q);
void memory_rpc_chunk_write(const void *chunk, size_t size, buf *out);
void memory_rpc_event(request *q, arena *a, const char *bytes, size_t n, size_t *used, buf *out);

#endif
