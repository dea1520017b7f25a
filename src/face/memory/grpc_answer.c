/* SPDX-License-Identifier: Apache-2.0
 *
 * grpc_answer.c: answers of the memory-service face as gRPC messages and statuses; and the routes
 * that only gRPC has: uploads that are not forms, and the description of an attachment.
 */
#include "face/memory/grpc_internal.h"

#include "base/util.h"

#include <memory/v1/memory.pb-c.h>
#include <string.h>

static void pack(const ProtobufCMessage *m, buf *out)
{
    size_t n = protobuf_c_message_get_packed_size(m);
    buf_reserve(out, n);
    if (!n || out->cap - out->n < n) {
        if (n)
            out->over = true;
        return;
    }
    out->n += protobuf_c_message_pack(m, (uint8_t *)out->data + out->n);
}

/* ------------------------------------------------------------------------ messages */

static ProtobufCMessage *page_info(request *q, const json_doc *d, const json_node *o)
{
    Memory__V1__PageInfo *p =
        (Memory__V1__PageInfo *)proto_new(q->arena, &memory__v1__page_info__descriptor);
    const char *next = json_text(q->arena, d, json_get(d, o, "afterCursor"));
    const char *previous = json_text(q->arena, d, json_get(d, o, "beforeCursor"));
    if (next)
        p->next_page_token = (char *)next;
    if (previous)
        p->previous_page_token = (char *)previous;
    return &p->base;
}

static ProtobufCMessage *answer_make(request *q, const memory_rpc *m, const json_doc *d,
                                     const ProtobufCMessageDescriptor *kind)
{
    ProtobufCMessage *out = proto_new(q->arena, kind);
    const json_node *o = &d->nodes[0];
    proto_fill(q->arena, PROTO_SHORT, out, d, o);
    for (unsigned i = 0; i < kind->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &kind->fields[i];
        const char *name = memory_rpc_name(q->arena, m->answer, f->name);
        if (f->descriptor == &memory__v1__page_info__descriptor)
            *(ProtobufCMessage **)(void *)((char *)out + f->offset) = page_info(q, d, o);
        else if (name)
            proto_set(q->arena, PROTO_SHORT, out, f, d,
                      strcmp(name, ".") == 0 ? o : json_get(d, o, name));
    }
    return out;
}

bool memory_rpc_write(request *q, const grpc_method *method, buf *out)
{
    const memory_rpc *m = (const memory_rpc *)(const void *)method;
    json_doc d;
    const ProtobufCMessageDescriptor *kind = memory_rpc_shape(m)->output;
    bool download = method->kind == RPC_DOWNLOAD;
    if (q->out.n && kind->n_fields) {
        if (!json_parse(q->arena, q->out.data, q->out.n, SIZE_MAX, &d, NULL)) {
            memory_refuse(q, 500, NULL, "internal server error", NULL);
            return false;
        }
        ProtobufCMessage *answer =
            answer_make(q, m, &d, download ? &memory__v1__attachment_info__descriptor : kind);
        Memory__V1__DownloadAttachmentResponse first =
            MEMORY__V1__DOWNLOAD_ATTACHMENT_RESPONSE__INIT;
        if (download) {
            first.payload_case = MEMORY__V1__DOWNLOAD_ATTACHMENT_RESPONSE__PAYLOAD_METADATA;
            first.metadata = (Memory__V1__AttachmentInfo *)answer;
            answer = &first.base;
        }
        pack(answer, out);
    }
    if (!out->over)
        return true;
    memory_refuse(q, 500, NULL, "the answer is too large; ask for less at a time", NULL);
    return false;
}

void memory_rpc_chunk_write(const void *chunk, size_t size, buf *out)
{
    Memory__V1__DownloadAttachmentResponse m = MEMORY__V1__DOWNLOAD_ATTACHMENT_RESPONSE__INIT;
    m.payload_case = MEMORY__V1__DOWNLOAD_ATTACHMENT_RESPONSE__PAYLOAD_CHUNK;
    m.chunk = (ProtobufCBinaryData){size, (uint8_t *)chunk};
    pack(&m.base, out);
}

/* -------------------------------------------------------------------------- statuses */

static int code_of(int status)
{
    static const struct {
        int status, code;
    } codes[] = {{307, RPC_FAILED_PRECONDITION},
                 {400, RPC_INVALID_ARGUMENT},
                 {401, RPC_UNAUTHENTICATED},
                 {403, RPC_PERMISSION_DENIED},
                 {404, RPC_NOT_FOUND},
                 {405, RPC_UNIMPLEMENTED},
                 {409, RPC_ABORTED},
                 {413, RPC_RESOURCE_EXHAUSTED},
                 {415, RPC_INVALID_ARGUMENT},
                 {416, RPC_INVALID_ARGUMENT},
                 {422, RPC_FAILED_PRECONDITION},
                 {429, RPC_RESOURCE_EXHAUSTED},
                 {501, RPC_UNIMPLEMENTED},
                 {503, RPC_UNAVAILABLE},
                 {504, RPC_DEADLINE_EXCEEDED}};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].status == status)
            return codes[i].code;
    return status >= 200 && status < 300 ? RPC_OK : RPC_INTERNAL;
}

int memory_rpc_status(request *q, const char **message)
{
    int code = code_of(q->status);
    *message = "";
    if (code == RPC_OK)
        return RPC_OK;
    if (q->status >= 400 && q->failure.message)
        *message = q->failure.message;
    /* A file that is still being fetched: a redirect to its source when it is read, a conflict when
     * an entry refers to it. */
    if (q->status == 409 && strcmp(*message, MEMORY_NOT_READY) == 0)
        code = RPC_FAILED_PRECONDITION;
    if (code == RPC_INTERNAL)
        *message = "internal server error";
    else if (q->status == 307)
        *message = MEMORY_NOT_READY;
    return code;
}

/* ------------------------------------------------------------------------------ events */

static bool conversation_wanted(request *q, arena *a, const json_doc *d, const json_node *data)
{
    const Memory__V1__SubscribeEventsRequest *in = q->user;
    const char *id = json_text(a, d, json_get(d, data, "conversation"));
    if (!in->n_conversation_ids || !id)
        return true;
    for (size_t i = 0; i < in->n_conversation_ids; i++)
        if (strcmp(in->conversation_ids[i], id) == 0)
            return true;
    return false;
}

void memory_rpc_event(request *q, arena *a, const char *bytes, size_t n, size_t *used, buf *out)
{
    static const char begin[] = "data: ";
    json_doc d;
    const char *end = memmem(bytes, n, "\n\n", 2);
    *used = 0;
    if (!end)
        return;
    size_t len = (size_t)(end - bytes), skip = sizeof begin - 1;
    *used = len + 2;
    /* Anything else is a keep-alive; HTTP/2 has its own. */
    if (len < skip || memcmp(bytes, begin, skip) != 0 ||
        !json_parse(a, bytes + skip, len - skip, SIZE_MAX, &d, NULL))
        return;
    const json_node *o = &d.nodes[0];
    if (!conversation_wanted(q, a, &d, json_get(&d, o, "data")))
        return;
    ProtobufCMessage *m = proto_new(a, &memory__v1__event_notification__descriptor);
    proto_fill(a, PROTO_SHORT, m, &d, o);
    pack(m, out);
}

/* ------------------------------------------------------------------- what is gRPC's own */

bool memory_rpc_open(request *q)
{
    buf_clear(&q->out);
    jw_init(&q->writer, &q->out, 0);
    q->status = 0;
    memory_file_get(q);
    return q->file >= 0;
}

void memory_rpc_undo(request *q)
{
    json_doc d;
    if (q->status >= 200 && q->status < 300 && q->out.n &&
        json_parse(q->arena, q->out.data, q->out.n, 0, &d, NULL))
        ramet_attachment_delete(q->call, json_text(q->arena, &d, json_get(&d, &d.nodes[0], "id")));
}

static bool upload_begin(request *q)
{
    const char *name = request_query(q, "filename"), *type = request_query(q, "contentType");
    return q->user || memory_file_begin(q, name, type ? type : "application/octet-stream");
}

static bool upload_sink(request *q, const void *bytes, size_t n)
{
    return upload_begin(q) && memory_file_sink(q, bytes, n);
}

static void upload_run(request *q)
{
    if (upload_begin(q))
        memory_file_post(q);
}

/* One line per row. */
/* clang-format off */
static const face_route routes[] = {
ROUTE("POST", "/grpc/attachments", ROLE_USER, .name = "grpcUpload", .group = "Attachments", .summary = "An upload that is no form",
 .flags = ROUTE_LOOSE | ROUTE_WRITE | ROUTE_KEYLESS | ROUTE_UPLOAD, .success = 201, .run = upload_run, .sink = upload_sink),
ROUTE("GET", "/grpc/attachments/{attachmentId}", ROLE_USER, .name = "grpcAttachment", .group = "Attachments",
 .summary = "What is known about an attachment", .flags = ROUTE_LOOSE, .success = 200, .run = memory_file_about),
ROUTES_END,
};

static const face_param params[] = {
    {"attachmentId", "an attachment", "0198c1d2-0000-7000-8000-000000000002"},
    {NULL, NULL, NULL},
};
/* clang-format on */

const face face_memory_grpc = {
    .name = "memory_grpc",
    .title = "memory-service by gRPC",
    .prefix = "/grpc",
    .identity = &memory_identity,
    .fail = memory_fail,
    .routes = routes,
    .params = params,
    .uuids = "attachmentId",
    .grpc = &memory_grpc,
};
