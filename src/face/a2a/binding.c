/* SPDX-License-Identifier: Apache-2.0
 *
 * binding.c: what JSON-RPC, HTTP+JSON and gRPC have in common: errors, each in the terms of all
 * three, and the names of parameters.
 */
#include "face/a2a/a2a_face.h"

#include "form/proto/proto.h"
#include "grpc/service.h"

#include <a2a/v1/a2a.pb-c.h>
#include <string.h>

/* ------------------------------------------------------------------ errors */

/* clang-format off */
static const a2a_error errors[] = {
    {JSONRPC_TASK_NOT_FOUND,   "TASK_NOT_FOUND",                     404, "NOT_FOUND",           RPC_NOT_FOUND},
    {JSONRPC_NOT_CANCELABLE,   "TASK_NOT_CANCELABLE",                400, "FAILED_PRECONDITION", RPC_FAILED_PRECONDITION},
    {JSONRPC_NO_PUSH,          "PUSH_NOTIFICATION_NOT_SUPPORTED",    400, "FAILED_PRECONDITION", RPC_FAILED_PRECONDITION},
    {JSONRPC_UNSUPPORTED,      "UNSUPPORTED_OPERATION",              400, "FAILED_PRECONDITION", RPC_FAILED_PRECONDITION},
    {JSONRPC_CONTENT_TYPE,     "CONTENT_TYPE_NOT_SUPPORTED",         400, "INVALID_ARGUMENT",    RPC_INVALID_ARGUMENT},
    {JSONRPC_NO_EXTENDED_CARD, "EXTENDED_AGENT_CARD_NOT_CONFIGURED", 400, "FAILED_PRECONDITION", RPC_FAILED_PRECONDITION},
    {JSONRPC_EXTENSION,        "EXTENSION_SUPPORT_REQUIRED",         400, "FAILED_PRECONDITION", RPC_FAILED_PRECONDITION},
    {JSONRPC_VERSION,          "VERSION_NOT_SUPPORTED",              400, "FAILED_PRECONDITION", RPC_FAILED_PRECONDITION},
    {JSONRPC_PARAMS,           "INVALID_PARAMS",                     400, "INVALID_ARGUMENT",    RPC_INVALID_ARGUMENT},
    {JSONRPC_PARSE,            "INVALID_PARAMS",                     400, "INVALID_ARGUMENT",    RPC_INVALID_ARGUMENT},
    {JSONRPC_INVALID,          "INVALID_PARAMS",                     400, "INVALID_ARGUMENT",    RPC_INVALID_ARGUMENT},
    {JSONRPC_NO_METHOD,        NULL,                                 404, "UNIMPLEMENTED",       RPC_UNIMPLEMENTED},
    {JSONRPC_INTERNAL,         NULL,                                 500, "INTERNAL",            RPC_INTERNAL},
};

/* Errors of the server itself: a missing token, a body that is too large. */
static const a2a_error by_http[] = {
    {0, NULL, 400, "INVALID_ARGUMENT",   RPC_INVALID_ARGUMENT},
    {0, NULL, 401, "UNAUTHENTICATED",    RPC_UNAUTHENTICATED},
    {0, NULL, 403, "PERMISSION_DENIED",  RPC_PERMISSION_DENIED},
    {0, NULL, 404, "NOT_FOUND",          RPC_NOT_FOUND},
    {0, NULL, 405, "UNIMPLEMENTED",      RPC_UNIMPLEMENTED},
    {0, NULL, 409, "ABORTED",            RPC_ABORTED},
    {0, NULL, 413, "RESOURCE_EXHAUSTED", RPC_RESOURCE_EXHAUSTED},
    {0, NULL, 429, "RESOURCE_EXHAUSTED", RPC_RESOURCE_EXHAUSTED},
    {0, NULL, 503, "UNAVAILABLE",        RPC_UNAVAILABLE},
    {0, NULL, 504, "DEADLINE_EXCEEDED",  RPC_DEADLINE_EXCEEDED},
    {0, NULL, 500, "INTERNAL",           RPC_INTERNAL},
};
/* clang-format on */

enum { ERRORS = sizeof errors / sizeof *errors, HTTP_ERRORS = sizeof by_http / sizeof *by_http };

const a2a_error *a2a_error_of(int code)
{
    for (size_t i = 0; i < ERRORS; i++)
        if (errors[i].code == code)
            return &errors[i];
    return &errors[ERRORS - 1];
}

const a2a_error *a2a_error_by_reason(const char *reason)
{
    for (size_t i = 0; reason && i < ERRORS; i++)
        if (errors[i].reason && strcmp(errors[i].reason, reason) == 0)
            return &errors[i];
    return NULL;
}

const a2a_error *a2a_error_by_http(int status)
{
    for (size_t i = 0; i < HTTP_ERRORS; i++)
        if (by_http[i].http == status)
            return &by_http[i];
    return &by_http[HTTP_ERRORS - 1];
}

void a2a_error_info_write(json_writer *w, const char *reason, const char *request_id)
{
    jw_object(w);
    jw_kstr(w, "@type", "type.googleapis.com/google.rpc.ErrorInfo");
    jw_kstr(w, "reason", reason);
    jw_kstr(w, "domain", "a2a-protocol.org");
    jw_key(w, "metadata");
    jw_object(w);
    jw_kstr(w, "requestId", request_id);
    jw_end_object(w);
    jw_end_object(w);
}

/* {"error": …} as google.rpc.Status has it. */
static void status_write(request *q, const a2a_error *e, const char *reason, const char *message)
{
    json_writer *w = &q->writer;
    q->type = A2A_JSON;
    jw_object(w);
    jw_key(w, "error");
    jw_object(w);
    jw_kint(w, "code", q->status);
    jw_kstr(w, "status", e->status);
    jw_kstr(w, "message", message);
    jw_key(w, "details");
    jw_array(w);
    if (reason)
        a2a_error_info_write(w, reason, q->id);
    jw_end_array(w);
    jw_end_object(w);
    jw_end_object(w);
}

void a2a_binding_fail(jsonrpc_call *r, int code, const char *message)
{
    request *q = r->request;
    const a2a_error *e = a2a_error_of(code);
    request_answer_begin(q);
    q->status = e->http;
    if (q->keeps_failure)
        request_keep_failure(q, e->reason ? e->reason : "", NULL, message);
    else
        status_write(q, e, e->reason, message);
}

void a2a_rest_fail(request *q, const char *code, const char *field, const char *message)
{
    if (q->keeps_failure)
        request_keep_failure(q, code, field, message);
    else
        status_write(q, a2a_error_by_http(q->status), NULL, message);
}

/* ------------------------------------------------------------------ parameters */

const ProtobufCMessageDescriptor *a2a_params_shape(const char *method)
{
    const ProtobufCMethodDescriptor *m = protobuf_c_service_descriptor_get_method_by_name(
        &lf__a2a__v1__a2_aservice__descriptor, method);
    return m ? m->input : NULL;
}

/* The name of an agent, for clients that reach several at one address; here each has its own. */
static bool tenant_fits(jsonrpc_call *r)
{
    const char *tenant;
    if (!jsonrpc_word(r, r->params, "tenant", &tenant))
        return false;
    if (!tenant || r->kagent || strcmp(tenant, r->agent) == 0)
        return true;
    jsonrpc_fail(r, JSONRPC_PARAMS,
                 "tenant is '%.80s', but this is the address of the agent '%.80s'", tenant,
                 r->agent);
    return false;
}

/* Members that the schema does not have are ignored, as the specification demands, but not in a
 * list: there they are filters, and a filter without effect would show what it should hide. */
bool a2a_params_names(jsonrpc_call *r)
{
    const ProtobufCMessageDescriptor *shape = a2a_params_shape(r->method->name[A2A_10]);
    const char *json = NULL, *unknown = NULL, *why = NULL;
    arena *a = r->request->arena;
    if (shape && !proto_names(a, shape, &r->doc, r->params, &json, &unknown, &why)) {
        jsonrpc_fail(r, JSONRPC_PARAMS, "%s", why);
        return false;
    }
    if (unknown && shape == &lf__a2a__v1__list_tasks_request__descriptor) {
        jsonrpc_fail(r, JSONRPC_PARAMS, "ListTasks has no parameter '%.80s'", unknown);
        return false;
    }
    if (json) {
        json_parse(a, json, strlen(json), SIZE_MAX, &r->doc, NULL);
        r->params = &r->doc.nodes[0];
    }
    return tenant_fits(r);
}
