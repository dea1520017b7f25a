/* SPDX-License-Identifier: Apache-2.0
 *
 * memory.c: errors, ids and JSON forms of the memory-service face.
 */
#include "face/memory/memory.h"

#include "base/util.h"
#include "form/native.h"
#include "ramet/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------- errors */

static const char *code_of(int status)
{
    static const struct {
        int status;
        const char *code;
    } codes[] = {
        {400, "invalid_request"}, {401, "unauthenticated"},     {403, "permission_denied"},
        {404, "not_found"},       {405, "method_not_allowed"},  {408, "request_timeout"},
        {409, "conflict"},        {413, "payload_too_large"},   {415, "unsupported_media_type"},
        {422, "invalid_request"}, {429, "rate_limited"},        {501, "not_implemented"},
        {502, "upstream_error"},  {503, "service_unavailable"}, {504, "upstream_timeout"}};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].status == status)
            return codes[i].code;
    return "internal_error";
}

void memory_refuse(request *q, int status, const char *code, const char *error,
                   const memory_details *details)
{
    buf_clear(&q->out);
    jw_init(&q->writer, &q->out, 0);
    q->status = status;
    if (!code)
        code = code_of(status);
    if (q->keeps_failure) {
        const char *key = details ? details->key : "";
        request_keep_failure(q, code, strcmp(key, "field") == 0 ? details->text : NULL,
                             strcmp(key, "message") == 0 ? details->text : error);
        return;
    }
    q->type = "application/json; charset=utf-8";
    jw_object(&q->writer);
    jw_kstr(&q->writer, "code", code);
    jw_kstr(&q->writer, "error", error);
    jw_kstr(&q->writer, "requestId", q->id);
    if (details) {
        jw_key(&q->writer, "details");
        jw_object(&q->writer);
        if (details->json)
            jw_kraw(&q->writer, details->key, details->json);
        else
            jw_kstr(&q->writer, details->key, details->text);
        jw_end_object(&q->writer);
    }
    jw_end_object(&q->writer);
}

void memory_fail(request *q, const char *code, const char *field, const char *message)
{
    (void)code;
    /* Clients recognize the limit of a list by this text. */
    if (q->status == 400 && field && strcmp(field, "limit") == 0)
        message = "limit must be between 1 and 1000";
    memory_refuse(q, q->status, NULL, q->status == 500 ? "internal server error" : message, NULL);
}

const memory_details *memory_detail(request *q, const char *key, const char *value)
{
    memory_details *details = arena_alloc(q->arena, sizeof *details);
    *details = (memory_details){.key = key, .text = value};
    return details;
}

void memory_invalid(request *q, const char *message)
{
    memory_refuse(q, 400, "validation_error", "validation_error",
                  memory_detail(q, "message", message));
}

/* The name of a field in this protocol. */
static const char *field_name(const char *field)
{
    static const char *const names[][2] = {{"fork_of", "forkedAtConversationId"},
                                           {"fork_at", "forkedAtEntryId"},
                                           {"started_by", "startedByConversationId"},
                                           {"started_at", "startedByEntryId"},
                                           {"user", "userId"},
                                           {"level", "accessLevel"},
                                           {"session", "conversationId"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i][0], field) == 0)
            return names[i][1];
    return field;
}

static void not_found(request *q, const char *what, const char *id)
{
    memory_refuse(q, 404, "not_found", arena_printf(q->arena, "%s not found: %s", what, id), NULL);
}

bool memory_file_is_disclosed(const ramet_error *e, const char *id)
{
    return e->hidden && uuid_valid(id) && id[14] == '4';
}

void memory_error(request *q, const char *id)
{
    const ramet_error *e = ramet_call_error(q->call);
    const char *field = field_name(e->field);
    switch (e->status) {
    case RAMET_HIDDEN:
        if (e->conversation) {
            memory_refuse(q, 403, "forbidden", "forbidden", NULL);
            return;
        }
        /* fall through */
    case RAMET_SESSION_NOT_FOUND:
        if (strcmp(e->field, "fork_of") == 0)
            id = face_text(q, "forkedAtConversationId");
        else if (strcmp(e->field, "started_by") == 0)
            id = face_text(q, "startedByConversationId");
        not_found(q, "conversation", id ? id : "");
        return;
    case RAMET_ENTRY_NOT_FOUND:
        not_found(q, "entry",
                  strcmp(e->field, "fork_at") == 0 ? face_text(q, "forkedAtEntryId") : "");
        return;
    case RAMET_MEMBER_NOT_FOUND:
        not_found(q, "membership", id);
        return;
    case RAMET_ATTACHMENT_NOT_FOUND:
        if (memory_file_is_disclosed(e,
                                     strchr(e->message, ' ') ? strrchr(e->message, ' ') + 1 : "")) {
            memory_refuse(q, 403, "forbidden", "forbidden", NULL);
            return;
        }
        not_found(q, "attachment", e->subject);
        return;
    case RAMET_FORBIDDEN:
        memory_refuse(q, 403, "forbidden", "forbidden", NULL);
        return;
    default:
        break;
    }
    int status = ramet_status_http(e->status);
    if (status == 413)
        status = 400;
    if (status == 400 || status == 422)
        memory_refuse(q, 400, "validation_error",
                      arena_printf(q->arena, "validation error on %s: %s", field, e->message),
                      memory_detail(q, "field", field));
    else if (status == 409)
        memory_refuse(q, 409, NULL, e->message, NULL);
    else
        request_error(q, e);
}

/* ---------------------------------------------------------------------- ids */

const char *memory_lower(arena *a, const char *uuid)
{
    char *s = arena_strdup(a, uuid);
    for (char *p = s; *p; p++)
        if (*p >= 'A' && *p <= 'F')
            *p = (char)(*p + 32);
    return s;
}

/* A UUID of version 8: branch and position, which are unique, and a digest of the id. */
static const char *derived_id(arena *a, const ramet_entry *e)
{
    uint8_t digest[HASH_LEN];
    uint64_t k = (uint64_t)e->branch << 24 | (uint64_t)e->position;
    sha_of(e->id, strlen(e->id), digest);
    /* 48 bits of k, version and 12 more, variant and the last 4; then 58 bits of the digest. */
    return arena_printf(a, "%08llx-%04llx-8%03llx-%x%x%02x-%02x%02x%02x%02x%02x%02x",
                        (unsigned long long)(k >> 32), (unsigned long long)(k >> 16 & 0xffff),
                        (unsigned long long)(k >> 4 & 0xfff), 8u | (digest[0] & 3u),
                        (unsigned)(k & 15), digest[1], digest[2], digest[3], digest[4], digest[5],
                        digest[6], digest[7]);
}

static bool is_plain_uuid(const char *id)
{
    if (!uuid_valid(id))
        return false;
    for (const char *p = id; *p; p++)
        if (*p >= 'A' && *p <= 'F')
            return false;
    return true;
}

const char *memory_entry_id(arena *a, const ramet_entry *e)
{
    return is_plain_uuid(e->id) ? e->id : derived_id(a, e);
}

/* Decodes the position in a derived id; false: it is not derived. */
static bool derived_position(const char *id, int64_t *branch, int64_t *position)
{
    unsigned long long hi, mid, lo;
    char low4[2] = {id[20], 0};
    if (id[14] != '8' || sscanf(id, "%8llx-%4llx-8%3llx", &hi, &mid, &lo) != 3)
        return false;
    uint64_t k = hi << 32 | mid << 16 | lo << 4 | strtoull(low4, NULL, 16);
    *branch = (int64_t)(k >> 24);
    *position = (int64_t)(k & 0xffffff);
    return true;
}

const ramet_entry *memory_entry_across(ramet_call *c, arena *a, const char *session, const char *id)
{
    ramet_entry *e;
    int64_t branch, position;
    id = memory_lower(a, id);
    if (ramet_across_entry(c, session, id, 0, 0, &e) == RAMET_OK)
        return e;
    if (ramet_call_error(c)->status != RAMET_ENTRY_NOT_FOUND ||
        !derived_position(id, &branch, &position) ||
        ramet_across_entry(c, session, NULL, branch, position, &e) != RAMET_OK)
        return NULL;
    return strcmp(memory_entry_id(a, e), id) == 0 ? e : NULL;
}

const ramet_entry *memory_entry_anywhere(ramet_call *c, arena *a, const char *id,
                                         const char **session)
{
    ramet_entry *e;
    int64_t branch, position;
    id = memory_lower(a, id);
    if (ramet_entry_home(c, id, session) == RAMET_OK)
        return ramet_entry_get(c, *session, 0, id, &e) == RAMET_OK ? e : NULL;
    if (ramet_call_error(c)->status != RAMET_ENTRY_NOT_FOUND ||
        !derived_position(id, &branch, &position) ||
        ramet_branch_home(c, branch, session) != RAMET_OK)
        return NULL;
    return memory_entry_across(c, a, *session, id);
}

const ramet_entry *memory_entry_find(ramet_call *c, arena *a, const char *session, const char *id)
{
    ramet_entry *e;
    ramet_page page;
    int64_t branch;
    ramet_read_in in = {.by_position = true, .limit = 1};
    id = memory_lower(a, id);
    if (ramet_entry_get(c, session, 0, id, &e) == RAMET_OK)
        return e;
    if (ramet_call_error(c)->status != RAMET_ENTRY_NOT_FOUND ||
        !derived_position(id, &branch, &in.position))
        return NULL;
    if (ramet_read(c, session, &in, &page) != RAMET_OK || !page.n)
        return NULL;
    return strcmp(memory_entry_id(a, &page.entries[0]), id) == 0 ? &page.entries[0] : NULL;
}

/* ------------------------------------------------------------------ entries */

bool memory_body_read(arena *a, const ramet_entry *e, memory_body *out)
{
    json_doc d;
    *out = (memory_body){.epoch = -1, .seq = -1};
    if (!e->body || strcmp(e->format, "memory") != 0 ||
        !json_parse(a, e->body, strlen(e->body), SIZE_MAX, &d, NULL))
        return false;
    const json_node *o = &d.nodes[0], *content = json_get(&d, o, "content");
    out->content_type = json_text(a, &d, json_get(&d, o, "contentType"));
    out->agent = json_text(a, &d, json_get(&d, o, "agentId"));
    if (!json_int(&d, json_get(&d, o, "epoch"), &out->epoch))
        out->epoch = -1;
    if (!json_int(&d, json_get(&d, o, "seq"), &out->seq))
        out->seq = -1;
    out->content = content ? json_raw(a, &d, content) : "[]";
    return true;
}

/* An entry of another face as a history entry of this one. */
static const char *foreign_content(arena *a, const ramet_entry *e)
{
    const char *role = e->role == RAMET_USER ? "USER" : e->role == RAMET_SYSTEM ? "SYSTEM" : "AI";
    buf out;
    json_writer w;
    buf_init(&out, (size_t)1 << 30);
    jw_init(&w, &out, 0);
    jw_array(&w);
    jw_object(&w);
    jw_kstr(&w, "role", role);
    if (*e->text)
        jw_kstr(&w, "text", e->text);
    if (!*e->text || strstr(e->parts, "\"tool_"))
        jw_kraw(&w, "events", e->parts);
    jw_end_object(&w);
    jw_end_array(&w);
    return buf_keep(&out, a);
}

const char *memory_content(arena *a, const ramet_entry *e, const memory_body *b)
{
    return b->content ? b->content : foreign_content(a, e);
}

static void entry_write(request *q, const char *session, const ramet_entry *e,
                        const ramet_indexed *indexed)
{
    memory_body b;
    bool own = memory_body_read(q->arena, e, &b);
    jw_object(&q->writer);
    jw_kstr(&q->writer, "id", memory_entry_id(q->arena, e));
    jw_kstr(&q->writer, "conversationId", indexed->session ? indexed->session : session);
    if (e->author)
        jw_kstr(&q->writer, "userId", e->author);
    if (e->client && *e->client)
        jw_kstr(&q->writer, "clientId", e->client);
    if (b.agent)
        jw_kstr(&q->writer, "agentId", b.agent);
    jw_kstr(&q->writer, "channel", e->channel);
    if (b.epoch >= 0)
        jw_kint(&q->writer, "epoch", b.epoch);
    if (b.seq >= 0)
        jw_kint(&q->writer, "seq", b.seq);
    jw_kstr(&q->writer, "contentType", own && b.content_type ? b.content_type : "history");
    jw_kraw(&q->writer, "content", memory_content(q->arena, e, &b));
    if (indexed->text) {
        jw_kstr(&q->writer, "indexedContent", indexed->text);
        native_ktime(&q->writer, "indexedAt", indexed->at);
    }
    native_ktime(&q->writer, "createdAt", e->created);
    jw_end_object(&q->writer);
}

bool memory_entries_write(request *q, const char *session, const ramet_entry *list, size_t n,
                          bool array)
{
    ramet_indexed *indexed;
    if (n && ramet_indexed_get(q->call, session, list, n, &indexed) != RAMET_OK) {
        memory_error(q, session);
        return false;
    }
    if (array)
        jw_array(&q->writer);
    for (size_t i = 0; i < n; i++)
        entry_write(q, session, &list[i], &indexed[i]);
    if (array)
        jw_end_array(&q->writer);
    return true;
}

/* ------------------------------------------------------------- conversations */

bool memory_session(request *q, ramet_call *c, const char *id, ramet_session **out)
{
    if (ramet_session_get(c, id, out) == RAMET_OK)
        return true;
    memory_error(q, id);
    return false;
}

bool memory_level(request *q, const char *session, ramet_origin *out)
{
    if (ramet_origin_get(q->call, session, out) == RAMET_OK)
        return true;
    memory_error(q, session);
    return false;
}

/* The first entry of the parent that a fork does not have; NULL: it inherits nothing, or
 * everything.
 */
static const char *fork_anchor(ramet_call *c, arena *a, const ramet_session *s)
{
    ramet_page page;
    if (!s->fork_entry_id || !s->parent_id)
        return NULL;
    if (s->fork_side == RAMET_BEFORE && is_plain_uuid(s->fork_entry_id))
        return s->fork_entry_id;
    ramet_entry *e;
    if (ramet_entry_get(c, s->parent_id, 0, s->fork_entry_id, &e) != RAMET_OK)
        return NULL;
    if (s->fork_side == RAMET_BEFORE)
        return memory_entry_id(a, e);
    ramet_read_in in = {.by_position = true, .position = e->position + 1, .limit = 1};
    if (ramet_read(c, s->parent_id, &in, &page) != RAMET_OK || !page.n)
        return NULL;
    return memory_entry_id(a, &page.entries[0]);
}

bool memory_talk_fields(ramet_call *c, arena *a, json_writer *w, const ramet_session *s,
                        bool detail, bool admin)
{
    ramet_origin from;
    ramet_turn *turn = NULL;
    if (ramet_origin_get(c, s->id, &from) != RAMET_OK)
        return false;
    const char *anchor = fork_anchor(c, a, s);
    if (detail)
        ramet_turn_running(c, s->id, &turn);
    jw_kstr(w, "id", s->id);
    jw_kstr(w, "title", s->title);
    jw_kstr(w, "ownerUserId", s->owner);
    if (admin && *from.client)
        jw_kstr(w, "clientId", from.client);
    if (s->agent.name)
        jw_kstr(w, "agentId", s->agent.name);
    jw_kraw(w, "metadata", s->metadata);
    if (anchor)
        jw_kstr(w, "forkedAtEntryId", anchor);
    if (s->parent_id)
        jw_kstr(w, "forkedAtConversationId", s->parent_id);
    if (from.started_by)
        jw_kstr(w, "startedByConversationId", from.started_by);
    if (from.started_at)
        jw_kstr(w, "startedByEntryId", from.started_at);
    native_ktime(w, "createdAt", s->created);
    native_ktime(w, "updatedAt", s->updated);
    jw_kbool(w, "archived", s->archived);
    jw_kstr(w, "accessLevel", ramet_level_name(from.level));
    if (turn)
        jw_kbool(w, "hasResponseInProgress", true);
    return true;
}

bool memory_talk_write(request *q, const ramet_session *s, bool detail, bool admin)
{
    jw_object(&q->writer);
    if (!memory_talk_fields(q->call, q->arena, &q->writer, s, detail, admin)) {
        memory_error(q, s->id);
        return false;
    }
    jw_end_object(&q->writer);
    return true;
}

int memory_limit(request *q, int otherwise)
{
    int64_t limit = otherwise;
    face_query_int(q, "limit", &limit);
    return (int)limit;
}

void memory_page_close(request *q, void *after)
{
    jw_end_array(&q->writer);
    jw_kstr(&q->writer, "afterCursor", after);
    jw_end_object(&q->writer);
}

void memory_page_end(request *q, const char *after)
{
    memory_page_close(q, (void *)after);
    face_done(q);
}
