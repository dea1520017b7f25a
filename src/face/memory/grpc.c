/* SPDX-License-Identifier: Apache-2.0
 *
 * grpc.c: the methods of memory.v1, each with its route, and how messages become requests. Answers
 * are in grpc_answer.c.
 */
#include "face/memory/grpc_internal.h"

#include <memory/v1/memory.pb-c.h>
#include <string.h>

/* ------------------------------------------------------------- checks that no route has */

static bool refuse(request *q, const char *message)
{
    memory_refuse(q, 400, NULL, message, NULL);
    return false;
}

/* The rules of the channel history. They differ from those of REST, so a message that follows them
 * continues as if it named no channel. */
static bool history_check(request *q, Memory__V1__CreateEntryRequest *e)
{
    if (e->channel != MEMORY__V1__CHANNEL__HISTORY)
        return true;
    const char *t = e->content_type;
    if (strcmp(t, "history") != 0 && (strncmp(t, "history/", 8) != 0 || !t[8]))
        return refuse(q, "History channel entries must use 'history' or 'history/<subtype>' as the "
                         "contentType");
    if (e->n_content != 1)
        return refuse(q, "History channel entries must contain exactly 1 content object");
    const Google__Protobuf__Value *v = e->content[0], *role = NULL;
    if (v->kind_case == GOOGLE__PROTOBUF__VALUE__KIND_STRUCT_VALUE) {
        const Google__Protobuf__Struct *s = v->struct_value;
        for (size_t i = 0; i < s->n_fields; i++)
            if (s->fields[i]->key.len == 4 && memcmp(s->fields[i]->key.data, "role", 4) == 0)
                role = s->fields[i]->value;
        const ProtobufCBinaryData *word =
            role && role->kind_case == GOOGLE__PROTOBUF__VALUE__KIND_STRING_VALUE
                ? &role->string_value
                : NULL;
        if (!word || !((word->len == 4 && memcmp(word->data, "USER", 4) == 0) ||
                       (word->len == 2 && memcmp(word->data, "AI", 2) == 0)))
            return refuse(q, "History channel content must have a 'role' field with value 'USER' "
                             "or 'AI'");
    }
    e->channel = MEMORY__V1__CHANNEL__CHANNEL_UNSPECIFIED;
    return true;
}

static bool check_append(request *q, ProtobufCMessage *m)
{
    Memory__V1__AppendEntryRequest *in = (Memory__V1__AppendEntryRequest *)m;
    return in->entry ? history_check(q, in->entry) : refuse(q, "entry is required");
}

static bool check_append_many(request *q, ProtobufCMessage *m)
{
    Memory__V1__AppendEntriesRequest *in = (Memory__V1__AppendEntriesRequest *)m;
    if (!in->n_entries)
        return refuse(q, "entries must not be empty");
    for (size_t i = 0; i < in->n_entries; i++)
        if (!history_check(q, in->entries[i]))
            return false;
    return true;
}

static bool check_sync(request *q, ProtobufCMessage *m)
{
    Memory__V1__SyncEntriesRequest *in = (Memory__V1__SyncEntriesRequest *)m;
    if (!in->entry)
        return refuse(q, "entry is required");
    return in->entry->channel == MEMORY__V1__CHANNEL__CONTEXT
               ? true
               : refuse(q, "the channel of a sync must be CONTEXT");
}

static const face_route *route_named(const face *f, const char *name)
{
    for (const face_route *r = f->routes; r->method; r++)
        if (strcmp(r->name, name) == 0)
            return r;
    return NULL;
}

/* Two REST routes are one gRPC method. */
static bool check_scope(request *q, ProtobufCMessage *m)
{
    const Memory__V1__SubscribeEventsRequest *in = (Memory__V1__SubscribeEventsRequest *)m;
    if (in->opt_scope_case && in->scope == MEMORY__V1__EVENT_SCOPE__EVENT_SCOPE_ADMIN)
        face_set(q, q->face, route_named(q->face, "memoryAdminEvents"));
    return true;
}

/* ------------------------------------------------------------------------ the methods */

/* One line per row. */
/* clang-format off */
#define M(s, m, r, ...) {.base.service = &memory__v1__##s##_service__descriptor, .base.name = m, .route = r, __VA_ARGS__}

static const memory_rpc methods[] = {
M(system, "GetHealth", "memoryHealth"),
M(system, "GetCapabilities", "memoryCapabilities"),

M(conversations, "ListConversations", "memoryListConversations", .answer = "conversations=data"),
M(conversations, "CreateConversation", "memoryCreateConversation"),
M(conversations, "GetConversation", "memoryGetConversation"),
M(conversations, "UpdateConversation", "memoryUpdateConversation"),
M(conversations, "ListForks", "memoryListForks"),
M(conversations, "ListChildConversations", "memoryListChildren", .answer = "conversations=data"),

M(conversation_memberships, "ListMemberships", "memoryListMembers", .answer = "memberships=data"),
M(conversation_memberships, "ShareConversation", "memoryShare", .missing = "accessLevel", .instead = "\"reader\""),
M(conversation_memberships, "UpdateMembership", "memoryUpdateMember", .names = "member_user_id=userId",
 .missing = "accessLevel", .instead = "\"reader\""),
M(conversation_memberships, "DeleteMembership", "memoryRemoveMember", .names = "member_user_id=userId"),

M(ownership_transfers, "ListOwnershipTransfers", "memoryListTransfers", .answer = "transfers=data"),
M(ownership_transfers, "GetOwnershipTransfer", "memoryGetTransfer"),
M(ownership_transfers, "CreateOwnershipTransfer", "memoryTransfer"),
M(ownership_transfers, "AcceptOwnershipTransfer", "memoryAcceptTransfer"),
M(ownership_transfers, "DeleteOwnershipTransfer", "memoryDropTransfer"),

M(entries, "ListEntries", "memoryListEntries", .names = "epoch_filter=epoch before_page_token=beforeCursor",
 .answer = "entries=data", .needs_client = "agentId"),
M(entries, "AppendEntry", "memoryAppendEntry", .names = "entry=.", .check = check_append),
M(entries, "AppendEntries", "memoryAppendEntry", .answer = "entries=.", .check = check_append_many),
M(entries, "SyncEntries", "memorySync", .names = "entry=.", .check = check_sync, .missing = "content", .instead = "[]"),

M(attachments, "UploadAttachment", "grpcUpload", .base.kind = RPC_UPLOAD),
M(attachments, "CreateAttachmentFromUrl", "memoryUpload", .names = "filename=name"),
M(attachments, "GetAttachment", "grpcAttachment", .names = "id=attachmentId"),
M(attachments, "DownloadAttachment", "grpcAttachment", .names = "id=attachmentId", .base.kind = RPC_DOWNLOAD),
M(attachments, "DeleteAttachment", "memoryDeleteAttachment", .names = "id=attachmentId"),
M(attachments, "GetAttachmentDownloadUrl", "memoryDownloadUrl", .names = "id=attachmentId"),

M(search, "SearchConversations", "memorySearch", .names = "after=afterCursor", .lone = "searchType", .answer = "results=data next_cursor=afterCursor"),
M(search, "IndexConversations", "memoryIndex"),
M(search, "ListUnindexedEntries", "memoryUnindexed", .names = "cursor=afterCursor", .answer = "entries=data cursor=afterCursor"),

M(event_stream, "SubscribeEvents", "memoryEvents", .base.kind = RPC_EVENTS, .check = check_scope,
 .names = "after_cursor=after conversation_ids=- scope=- justification=- entry_channels=entry_channels "
          "entry_content_types=entry_content_types entry_roles=entry_roles"),

M(admin_entries, "ListEntries", "memoryAdminListEntries", .names = "epoch_filter=epoch before_page_token=beforeCursor",
 .answer = "entries=data"),
M(admin_entries, "GetEntry", "memoryAdminGetEntry"),
M(admin_conversations, "GetConversation", "memoryAdminGet"),
M(admin_conversations, "ListConversations", "memoryAdminListConversations", .answer = "conversations=data"),
M(admin_conversations, "UpdateConversation", "memoryAdminUpdateConversation"),
M(admin_conversations, "ListMemberships", "memoryAdminListMembers", .answer = "memberships=data"),
M(admin_conversations, "ListForks", "memoryAdminForks"),
M(admin_conversations, "ListChildConversations", "memoryAdminListChildren", .answer = "children=data"),
};
/* clang-format on */
enum { METHODS = sizeof methods / sizeof *methods };

const ProtobufCMethodDescriptor *memory_rpc_shape(const memory_rpc *m)
{
    return protobuf_c_service_descriptor_get_method_by_name(m->base.service, m->base.name);
}

const char *memory_rpc_name(arena *a, const char *names, const char *field)
{
    size_t n = strlen(field);
    for (const char *p = names; p && *p;) {
        size_t len = strcspn(p, " ");
        if (strncmp(p, field, n) == 0 && p[n] == '=')
            return arena_memdup(a, p + n + 1, len - n - 1);
        p += len + (p[len] == ' ');
    }
    return NULL;
}

/* -------------------------------------------------------------------------- requests */

/* The parts of a request that the fields of a message fill. */
typedef struct rest_call {
    request *request;
    const memory_rpc *method;
    VEC(request_pair) query, path;
    json_writer body; /* the body */
    bool in_body;     /* it is not empty */
    bool missing;     /* method->missing is not set yet */
    const char *why;
} rest_call;

static void query_add(rest_call *r, const char *name, const char *value)
{
    request_pair p = {name, value};
    VEC_PUSH(r->request->arena, &r->query, p);
}

/* A value as text for a path or a query: JSON, but a string without its quotes. */
static bool text_of(rest_call *r, const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f,
                    const char **out)
{
    buf b;
    json_writer w;
    json_doc d;
    arena *a = r->request->arena;
    buf_init(&b, SIZE_MAX / 4);
    jw_init(&w, &b, 0);
    bool fine = proto_value(a, PROTO_SHORT, &w, m, f, &r->why);
    const char *raw = arena_memdup(a, b.data, b.n);
    *out = raw;
    if (fine && *raw == '"' && json_parse(a, raw, b.n, 0, &d, NULL))
        *out = json_text(a, &d, &d.nodes[0]);
    buf_release(&b);
    return fine;
}

static bool is_path(const rest_call *r, const char *name)
{
    const char *p = r->request->route->path;
    size_t n = strlen(name);
    while ((p = strchr(p, '{'))) {
        p++;
        if (strncmp(p, name, n) == 0 && p[n] == '}')
            return true;
    }
    return false;
}

static size_t list_count(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f)
{
    return *(const size_t *)(const void *)((const char *)m + f->quantifier_offset);
}

static bool place_texts(rest_call *r, const char *name, const ProtobufCMessage *m,
                        const ProtobufCFieldDescriptor *f)
{
    size_t n = list_count(m, f);
    char *const *items = *(char *const *const *)proto_at(m, f);
    for (size_t i = 0; i < n; i++)
        query_add(r, name, items[i]);
    return true;
}

static void place_page(rest_call *r, const Memory__V1__PageRequest *p)
{
    if (*p->page_token)
        query_add(r, "afterCursor", p->page_token);
    if (p->page_size)
        query_add(r, "limit", arena_printf(r->request->arena, "%d", (int)p->page_size));
}

static bool place_members(rest_call *r, const ProtobufCMessage *m);

static bool place_field(rest_call *r, const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f)
{
    arena *a = r->request->arena;
    const char *name = memory_rpc_name(a, r->method->names, f->name), *text;
    bool body = strcmp(r->request->route->method, "GET") != 0 &&
                strcmp(r->request->route->method, "DELETE") != 0 &&
                r->method->base.kind != RPC_UPLOAD;
    if (!name)
        name = proto_json_name(a, f);
    if (f->type == PROTOBUF_C_TYPE_MESSAGE && f->label != PROTOBUF_C_LABEL_REPEATED) {
        const ProtobufCMessage *inner = *(ProtobufCMessage *const *)proto_at(m, f);
        if (f->descriptor == &memory__v1__page_request__descriptor) {
            place_page(r, (const Memory__V1__PageRequest *)inner);
            return true;
        }
        if (strcmp(name, ".") == 0)
            return place_members(r, inner);
    }
    if (strcmp(name, "-") == 0)
        return true;
    if (r->method->missing && strcmp(name, r->method->missing) == 0)
        r->missing = false;
    if (body && !is_path(r, name)) {
        jw_key(&r->body, name);
        r->in_body = true;
        if (r->method->lone && strcmp(name, r->method->lone) == 0 && list_count(m, f) == 1) {
            jw_str(&r->body, **(char *const *const *)proto_at(m, f));
            return true;
        }
        return proto_value(a, PROTO_SHORT, &r->body, m, f, &r->why);
    }
    if (f->label == PROTOBUF_C_LABEL_REPEATED)
        return place_texts(r, name, m, f);
    if (!text_of(r, m, f, &text))
        return false;
    if (is_path(r, name)) {
        request_pair p = {name, text};
        VEC_PUSH(a, &r->path, p);
    } else {
        query_add(r, name, text);
    }
    return true;
}

static bool place_members(rest_call *r, const ProtobufCMessage *m)
{
    const ProtobufCMessageDescriptor *d = m->descriptor;
    for (unsigned i = 0; i < d->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &d->fields[i];
        if (!proto_has(m, f) || (f->type == PROTOBUF_C_TYPE_ENUM && !*(const int *)proto_at(m, f)))
            continue;
        if (!place_field(r, m, f))
            return false;
    }
    return true;
}

/* The path of the route, filled from the message. */
static bool segments_make(rest_call *r)
{
    request *q = r->request;
    q->segments = arena_array(q->arena, 16, sizeof *q->segments);
    q->n_segments = 0;
    for (const char *p = q->route->path; *p;) {
        p += *p == '/';
        size_t n = strcspn(p, "/");
        char *part = arena_memdup(q->arena, p, n);
        p += n;
        if (*part == '{') {
            const char *value = NULL;
            part[n - 1] = 0;
            for (size_t i = 0; i < r->path.n; i++)
                if (strcmp(r->path.items[i].name, part + 1) == 0)
                    value = r->path.items[i].value;
            if (!value || !value[strspn(value, " \t\r\n")])
                return refuse(q, arena_printf(q->arena, "%s must not be blank", part + 1));
            part = arena_strdup(q->arena, value);
        }
        q->segments[q->n_segments++] = part;
    }
    return true;
}

static void route_set(request *q, const memory_rpc *m)
{
    face_set(q, &face_memory, route_named(&face_memory, m->route));
    if (!q->route)
        face_set(q, &face_memory_grpc, route_named(&face_memory_grpc, m->route));
    q->method = q->route->method;
}

/* The first message of an upload describes the file. */
static bool upload_read(rest_call *r, const ProtobufCMessage *m)
{
    const Memory__V1__UploadAttachmentRequest *in = (const Memory__V1__UploadAttachmentRequest *)m;
    if (in->payload_case != MEMORY__V1__UPLOAD_ATTACHMENT_REQUEST__PAYLOAD_METADATA)
        return refuse(r->request, "the first message of an upload must be its metadata");
    return place_members(r, &in->metadata->base);
}

static bool request_fill(rest_call *r, ProtobufCMessage *in)
{
    request *q = r->request;
    const memory_rpc *m = r->method;
    jw_init(&r->body, &q->body, 0);
    jw_object(&r->body);
    r->missing = m->missing != NULL;
    if (!(m->base.kind == RPC_UPLOAD ? upload_read(r, in) : place_members(r, in)))
        return r->why ? refuse(q, r->why) : false;
    if (r->missing) {
        jw_kraw(&r->body, m->missing, m->instead);
        r->in_body = true;
    }
    jw_end_object(&r->body);
    if (!r->in_body)
        buf_clear(&q->body);
    if (q->body.over) {
        memory_refuse(q, 413, NULL, "the message is too large", NULL);
        return false;
    }
    q->query = r->query.items;
    q->n_query = r->query.n;
    return segments_make(r);
}

static bool call_read(request *q, const grpc_method *method, const void *bytes, size_t n)
{
    const memory_rpc *m = (const memory_rpc *)(const void *)method;
    rest_call r = {.request = q, .method = m};
    const char *why = NULL;
    route_set(q, m);
    ProtobufCMessage *in = proto_unpack(q->arena, memory_rpc_shape(m)->input, bytes, n, &why);
    if (!in)
        return refuse(q, why);
    if (m->check && !m->check(q, in))
        return false;
    if (m->base.kind == RPC_EVENTS)
        q->user = in; /* lists the conversations; in the arena */
    return request_fill(&r, in);
}

/* Checks that need the identified client. */
static bool call_admit(request *q, const grpc_method *method)
{
    const memory_rpc *m = (const memory_rpc *)(const void *)method;
    if (!m->needs_client || q->caller.client || !request_query(q, m->needs_client))
        return true;
    return refuse(q, arena_printf(q->arena, "%s needs a client id", m->needs_client));
}

static bool chunk_read(request *q, arena *a, const void *bytes, size_t n, const void **chunk,
                       size_t *size)
{
    const char *why = NULL;
    Memory__V1__UploadAttachmentRequest *in =
        (Memory__V1__UploadAttachmentRequest *)(void *)proto_unpack(
            a, &memory__v1__upload_attachment_request__descriptor, bytes, n, &why);
    if (!in)
        return refuse(q, arena_strdup(q->arena, why));
    if (in->payload_case == MEMORY__V1__UPLOAD_ATTACHMENT_REQUEST__PAYLOAD_METADATA)
        return refuse(q, "the metadata of an upload comes once");
    bool some = in->payload_case == MEMORY__V1__UPLOAD_ATTACHMENT_REQUEST__PAYLOAD_CHUNK;
    *chunk = some ? in->chunk.data : NULL;
    *size = some ? in->chunk.len : 0;
    return true;
}

const grpc_service memory_grpc = {
    .methods = methods,
    .n_methods = METHODS,
    .method_size = sizeof *methods,
    .read = call_read,
    .admit = call_admit,
    .write = memory_rpc_write,
    .status = memory_rpc_status,
    .chunk_read = chunk_read,
    .undo = memory_rpc_undo,
    .open = memory_rpc_open,
    .chunk_write = memory_rpc_chunk_write,
    .event = memory_rpc_event,
    .stream_over = "the stream has ended; begin again behind its last cursor",
};
