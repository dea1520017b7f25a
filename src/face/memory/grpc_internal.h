/* SPDX-License-Identifier: Apache-2.0
 *
 * grpc_internal.h: memory-service by gRPC: calls of the services memory.v1 as requests of the
 * memory-service face (grpc.c), and its answers as messages (grpc_answer.c).
 *
 * An operation has one implementation, the handler of its route. A call is that request in other
 * words: its message becomes the path, the query and the JSON body; the JSON that is answered
 * becomes the message that is returned, an error a status.
 */
#ifndef FACE_MEMORY_GRPC_INTERNAL_H
#define FACE_MEMORY_GRPC_INTERNAL_H

#include "face/memory/memory.h"
#include "form/proto/proto.h"
#include "grpc/service.h"

/* A field of the request goes to the part of the path, the parameter or the member of its name in
 * JSON; `names` says otherwise: "a=b" it is called b there, "a=." its own fields go there, "a=-" it
 * goes nowhere. `answer` says the same of members and the fields of the answer ("a=.": all of it).
 */
typedef struct memory_rpc {
    grpc_method base;
    const char *route;
    const char *names, *answer;
    const char *missing, *instead; /* a member of the body, and its value when it is not given */
    const char *lone;              /* a list of texts: one alone is sent as a text */
    const char *needs_client;      /* a parameter that only a client may give */
    bool (*check)(request *q, ProtobufCMessage *in);
} memory_rpc;

/* Routes that only gRPC reaches. They are counted like all others. */
extern const face face_memory_grpc;
extern const grpc_service memory_grpc;

const ProtobufCMethodDescriptor *memory_rpc_shape(const memory_rpc *m);
/* What a list like `names` says of a field; NULL: nothing. */
const char *memory_rpc_name(arena *a, const char *names, const char *field);

/* ---- grpc_answer.c: the functions of the service that write */
bool memory_rpc_write(request *q, const grpc_method *m, buf *out);
int memory_rpc_status(request *q, const char **message);
void memory_rpc_undo(request *q);
bool memory_rpc_open(request *q);
void memory_rpc_chunk_write(const void *chunk, size_t size, buf *out);
void memory_rpc_event(request *q, arena *a, const char *bytes, size_t n, size_t *used, buf *out);

#endif
