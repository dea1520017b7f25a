/* SPDX-License-Identifier: Apache-2.0
 *
 * grpc.c: version 1.0 over gRPC: the service lf.a2a.v1.A2AService.
 *
 * The message of a call becomes the parameters of the method of jsonrpc.c with that name, in their
 * JSON form; its result, or each event of its stream, becomes the message that is returned. The
 * agent is the `tenant` of the message.
 */
#include "face/a2a/a2a_face.h"

#include "form/proto/proto.h"
#include "grpc/service.h"

#include <a2a/v1/a2a.pb-c.h>
#include <google/rpc/status.pb-c.h>
#include <string.h>

#define M(m, k)                                                                                    \
    {                                                                                              \
        &lf__a2a__v1__a2_aservice__descriptor, m, k                                                \
    }
static const grpc_method methods[] = {
    M("SendMessage", RPC_UNARY),
    M("SendStreamingMessage", RPC_EVENTS),
    M("GetTask", RPC_UNARY),
    M("ListTasks", RPC_UNARY),
    M("CancelTask", RPC_UNARY),
    M("SubscribeToTask", RPC_EVENTS),
    M("CreateTaskPushNotificationConfig", RPC_UNARY),
    M("GetTaskPushNotificationConfig", RPC_UNARY),
    M("ListTaskPushNotificationConfigs", RPC_UNARY),
    M("GetExtendedAgentCard", RPC_UNARY),
    M("DeleteTaskPushNotificationConfig", RPC_UNARY),
};

static const ProtobufCMessageDescriptor *shape_out(const grpc_method *m)
{
    return protobuf_c_service_descriptor_get_method_by_name(m->service, m->name)->output;
}

/* ------------------------------------------------------------------ a call */

static void call_run(request *q)
{
    const grpc_method *m = q->user;
    jsonrpc_call r = {.request = q, .binding = A2A_OVER_GRPC};
    json_error e;
    a2a_found agent;
    if (!json_parse(q->arena, q->body.data, q->body.n, 0, &r.doc, &e)) {
        jsonrpc_fail(&r, JSONRPC_PARAMS, "the message cannot be read: %s", e.message);
        return;
    }
    r.params = &r.doc.nodes[0];
    const char *tenant = json_text(q->arena, &r.doc, json_get(&r.doc, r.params, "tenant"));
    if (tenant ? !a2a_agent_find(q, tenant, false, &agent) : !a2a_root_find(q, &agent)) {
        request_fail(q, 404, "not_found", "tenant", "there is no agent '%.80s'",
                     tenant ? tenant : "");
        return;
    }
    r.agent = agent.name;
    if (jsonrpc_version_read(&r))
        jsonrpc_call_run(&r, m->name);
}

static const face_route routes[] = {
    ROUTE("POST", "/grpc/a2a", ROLE_USER, .name = "a2aGrpcCall", .group = "A2A",
          .summary = "Call a method of A2A", .flags = ROUTE_LOOSE | ROUTE_STREAM, .success = 200,
          .run = call_run),
    ROUTES_END,
};

static bool call_read(request *q, const grpc_method *m, const void *bytes, size_t n)
{
    const char *why = NULL;
    json_writer w;
    face_set(q, &face_a2a_grpc, &routes[0]);
    q->user = (void *)m;
    const ProtobufCMessage *in = proto_unpack(q->arena, a2a_params_shape(m->name), bytes, n, &why);
    jw_init(&w, &q->body, 0);
    jw_object(&w);
    if (!in || !proto_members(q->arena, PROTO_CANONICAL, &w, in, &why)) {
        request_fail(q, 400, "INVALID_PARAMS", NULL, "%s", why);
        return false;
    }
    jw_end_object(&w);
    if (!q->body.over)
        return true;
    request_fail(q, 413, "message_too_large", NULL, "the message is too large");
    return false;
}

/* ------------------------------------------------------------------ answers */

static void pack(const ProtobufCMessage *m, buf *out)
{
    size_t n = protobuf_c_message_get_packed_size(m);
    buf_reserve(out, n);
    if (n && out->cap - out->n < n)
        out->over = true;
    else if (n)
        out->n += protobuf_c_message_pack(m, (uint8_t *)out->data + out->n);
}

static bool call_write(request *q, const grpc_method *m, buf *out)
{
    json_doc d;
    const ProtobufCMessageDescriptor *shape = shape_out(m);
    if (!shape->n_fields)
        return true;
    if (!q->out.n || !json_parse(q->arena, q->out.data, q->out.n, SIZE_MAX, &d, NULL)) {
        request_fail(q, 500, "internal", NULL, "the answer cannot be written");
        return false;
    }
    ProtobufCMessage *answer = proto_new(q->arena, shape);
    proto_fill(q->arena, PROTO_CANONICAL, answer, &d, &d.nodes[0]);
    pack(answer, out);
    if (!out->over)
        return true;
    request_fail(q, 500, "answer_too_large", NULL,
                 "the answer is too large; ask for a shorter history");
    return false;
}

/* An event of the stream as HTTP clients get it. */
static void call_event(request *q, arena *a, const char *bytes, size_t n, size_t *used, buf *out)
{
    static const char begin[] = "data: ";
    json_doc d;
    const char *end = memmem(bytes, n, "\n\n", 2);
    size_t skip = sizeof begin - 1;
    (void)q;
    *used = end ? (size_t)(end - bytes) + 2 : 0;
    /* Anything else is a keep-alive; HTTP/2 has its own. */
    if (!end || *used - 2 < skip || memcmp(bytes, begin, skip) != 0 ||
        !json_parse(a, bytes + skip, *used - 2 - skip, SIZE_MAX, &d, NULL))
        return;
    ProtobufCMessage *event = proto_new(a, &lf__a2a__v1__stream_response__descriptor);
    proto_fill(a, PROTO_CANONICAL, event, &d, &d.nodes[0]);
    pack(event, out);
}

static int call_status(request *q, const char **message)
{
    const a2a_error *e = NULL;
    *message = "";
    if (q->status >= 200 && q->status < 300)
        return RPC_OK;
    if (q->failure.message)
        *message = q->failure.message;
    e = a2a_error_by_reason(q->failure.code);
    return (e ? e : a2a_error_by_http(q->status))->grpc;
}

static void call_details(request *q, int code, const char *message, buf *out)
{
    Google__Rpc__Status status = GOOGLE__RPC__STATUS__INIT;
    Google__Rpc__ErrorInfo info = GOOGLE__RPC__ERROR_INFO__INIT;
    Google__Rpc__ErrorInfo__MetadataEntry entry = GOOGLE__RPC__ERROR_INFO__METADATA_ENTRY__INIT;
    Google__Rpc__ErrorInfo__MetadataEntry *entries[] = {&entry};
    Google__Protobuf__Any any = GOOGLE__PROTOBUF__ANY__INIT, *all[] = {&any};
    if (!a2a_error_by_reason(q->failure.code))
        return;
    entry.key = (char *)"requestId";
    entry.value = q->id;
    info.reason = (char *)q->failure.code;
    info.domain = (char *)"a2a-protocol.org";
    info.metadata = entries;
    info.n_metadata = 1;
    any.type_url = (char *)"type.googleapis.com/google.rpc.ErrorInfo";
    any.value.len = google__rpc__error_info__get_packed_size(&info);
    any.value.data = arena_alloc(q->arena, any.value.len);
    google__rpc__error_info__pack(&info, any.value.data);
    status.code = code;
    status.message = (char *)message;
    status.details = all;
    status.n_details = 1;
    pack(&status.base, out);
}

const grpc_service a2a_grpc = {
    .methods = methods,
    .n_methods = sizeof methods / sizeof *methods,
    .method_size = sizeof *methods,
    .read = call_read,
    .write = call_write,
    .status = call_status,
    .details = call_details,
    .event = call_event,
    .streams_end = true,
    .stream_over = "the stream has ended; subscribe to the task again",
};

const face face_a2a_grpc = {
    .name = "a2a-grpc",
    .title = "A2A by gRPC",
    .prefix = "/grpc",
    .identity = &a2a_identity,
    .fail = a2a_rest_fail,
    .routes = routes,
    .grpc = &a2a_grpc,
};
