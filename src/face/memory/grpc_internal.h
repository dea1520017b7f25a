/* SPDX-License-Identifier: Apache-2.0
 *
 * grpc_internal.h: what memory_grpc.c (methods and requests) and memory_grpc_answer.c share.
 */
#ifndef FACE_MEMORY_GRPC_INTERNAL_H
#define FACE_MEMORY_GRPC_INTERNAL_H

#include "face/memory/memory.h"
#include "face/memory/grpc.h"
#include "form/proto/proto.h"

/* A field of the request goes to the part of the path, the parameter or the member of its name in
 * JSON; `names` says otherwise: "a=b" it is called b there, "a=." its own fields go there, "a=-" it
 * goes nowhere. `answer` says the same of members and the fields of the answer ("a=.": all of it).
 */
struct memory_rpc {
    const ProtobufCServiceDescriptor *service;
    const char *method, *route;
    rpc_kind kind;
    const char *names, *answer;
    const char *missing, *instead; /* a member of the body, and its value when it is not given */
    const char *lone;              /* a list of texts: one alone is sent as a text */
    const char *needs_client;      /* a parameter that only a client may give */
    bool (*check)(request *q, ProtobufCMessage *in);
};

const ProtobufCMethodDescriptor *memory_rpc_shape(const memory_rpc *m);
/* What a list like `names` says of a field; NULL: nothing. */
const char *memory_rpc_name(arena *a, const char *names, const char *field);

#endif
