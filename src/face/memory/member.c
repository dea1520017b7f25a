/* SPDX-License-Identifier: Apache-2.0
 *
 * member.c: members of a conversation and its forks, and transfers of ownership.
 */
#include "face/memory/memory.h"

#include "base/util.h"
#include "form/native.h"
#include "ramet/memory.h"

#include <stdlib.h>
#include <string.h>

/* A list that is completely in memory. */
typedef struct listing {
    const void *rows;
    size_t n, size; /* number of rows, and size of a row */
    const char *(*id)(const void *row);
    void (*write)(request *q, const void *row);
} listing;

static const void *row_at(const listing *l, size_t i)
{
    return (const char *)l->rows + i * l->size;
}

/* Answers with the page after the row named `after`; an empty one if there is none. */
static void listing_page(request *q, const listing *l, const char *after)
{
    size_t at = 0, limit = (size_t)memory_limit(q, 20);
    while (after && at < l->n && strcmp(l->id(row_at(l, at)), after) != 0)
        at++;
    at += after && at < l->n;
    size_t end = l->n - at > limit ? at + limit : l->n;
    jw_object(&q->writer);
    jw_key(&q->writer, "data");
    jw_array(&q->writer);
    for (size_t i = at; i < end; i++)
        l->write(q, row_at(l, i));
    memory_page_end(q, end < l->n ? l->id(row_at(l, end - 1)) : NULL);
}

/* --------------------------------------------------------------------- members */

static const char *member_id(const void *row)
{
    return ((const ramet_member *)row)->user;
}

static void member_write(request *q, const void *row)
{
    const ramet_member *m = row;
    jw_object(&q->writer);
    jw_kstr(&q->writer, "conversationId", face_path(q, "conversationId"));
    jw_kstr(&q->writer, "userId", m->user);
    jw_kstr(&q->writer, "accessLevel", ramet_level_name(m->level));
    native_ktime(&q->writer, "createdAt", m->since);
    jw_end_object(&q->writer);
}

static int by_age(const void *a, const void *b)
{
    const ramet_member *x = a, *y = b;
    if (x->since != y->since)
        return x->since < y->since ? -1 : 1;
    return strcmp(x->user, y->user);
}

/* The members of a conversation that is not archived, for a user of at least that level. False: the
 * answer is filled in. */
static bool members_load(request *q, ramet_level min, ramet_member **list, size_t *n)
{
    ramet_call *c = face_call(q);
    const char *id = face_path(q, "conversationId");
    ramet_session *s;
    ramet_origin from;
    if (!c || !memory_session(q, c, id, &s) || !memory_level(q, id, &from))
        return false;
    if (s->archived && !memory_is_admin(q)) {
        memory_refuse(q, 404, "not_found", arena_printf(q->arena, "conversation not found: %s", id),
                      NULL);
        return false;
    }
    if (from.level < min) {
        memory_refuse(q, 403, "forbidden", "forbidden", NULL);
        return false;
    }
    if (ramet_members(c, id, list, n) == RAMET_OK)
        return true;
    memory_error(q, id);
    return false;
}

static const ramet_member *member_of(const ramet_member *list, size_t n, const char *user)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].user, user) == 0)
            return &list[i];
    return NULL;
}

void memory_members_list(request *q)
{
    size_t n;
    ramet_member *list;
    if (!members_load(q, RAMET_READER, &list, &n))
        return;
    if (n)
        qsort(list, n, sizeof *list, by_age);
    listing_page(q, &(listing){list, n, sizeof *list, member_id, member_write},
                 request_query(q, "afterCursor"));
}

static bool refuse_field(request *q, const char *field, const char *message)
{
    memory_refuse(q, 400, "validation_error",
                  arena_printf(q->arena, "validation error on %s: %s", field, message),
                  memory_detail(q, "field", field));
    return false;
}

static bool level_read(request *q, ramet_level *out)
{
    const char *word = face_text(q, "accessLevel");
    int level = word ? ramet_level_parse(word) : -1;
    if (level < RAMET_READER)
        return refuse_field(q, "accessLevel", "it is one of manager, writer, reader");
    if (level == RAMET_OWNER)
        return refuse_field(q, "accessLevel", "ownership is transferred, not given");
    *out = (ramet_level)level;
    return true;
}

/* Answers with the member as it is stored now. */
static void member_answer(request *q, const char *user)
{
    ramet_member *list;
    size_t n;
    const ramet_member *m;
    const char *id = face_path(q, "conversationId");
    if (ramet_members(q->call, id, &list, &n) != RAMET_OK || !(m = member_of(list, n, user))) {
        memory_error(q, id);
        return;
    }
    member_write(q, m);
    face_done(q);
}

void memory_member_post(request *q)
{
    const char *user = face_text(q, "userId");
    ramet_level level;
    ramet_member *list;
    size_t n;
    if (!user || !*user) {
        refuse_field(q, "userId", "it must not be empty");
        return;
    }
    if (!level_read(q, &level) || !members_load(q, RAMET_MANAGER, &list, &n))
        return;
    if (ramet_member_add(q->call, face_path(q, "conversationId"), user, level) == RAMET_OK)
        member_answer(q, user);
    else
        memory_error(q, face_path(q, "conversationId"));
}

void memory_member_patch(request *q)
{
    const char *user = face_path(q, "userId");
    ramet_level level;
    ramet_member *list;
    size_t n;
    if (!level_read(q, &level) || !members_load(q, RAMET_MANAGER, &list, &n))
        return;
    const ramet_member *m = member_of(list, n, user);
    if (m && m->level == RAMET_OWNER) {
        refuse_field(q, "userId", "the owner's level is changed by a transfer");
        return;
    }
    if (ramet_member_change(q->call, face_path(q, "conversationId"), user, level) == RAMET_OK)
        member_answer(q, user);
    else
        memory_error(q, user);
}

void memory_member_delete(request *q)
{
    const char *user = face_path(q, "userId");
    ramet_member *list;
    size_t n;
    if (!members_load(q, RAMET_MANAGER, &list, &n))
        return;
    const ramet_member *m = member_of(list, n, user);
    if (m && m->level == RAMET_OWNER)
        refuse_field(q, "userId", "the owner cannot be removed");
    else if (ramet_member_remove(q->call, face_path(q, "conversationId"), user) == RAMET_OK)
        face_done(q);
    else
        memory_error(q, user);
}

/* ------------------------------------------------------------------- transfers */

static const char *transfer_id(const void *row)
{
    return ((const ramet_transfer *)row)->id;
}

static void transfer_write(request *q, const void *row)
{
    const ramet_transfer *t = row;
    jw_object(&q->writer);
    jw_kstr(&q->writer, "id", t->id);
    jw_kstr(&q->writer, "conversationId", t->session);
    jw_kstr(&q->writer, "fromUserId", t->from);
    jw_kstr(&q->writer, "toUserId", t->to);
    native_ktime(&q->writer, "createdAt", t->created);
    jw_end_object(&q->writer);
}

static void transfer_error(request *q, const char *id)
{
    const ramet_error *e = ramet_call_error(q->call);
    if (e->status == RAMET_TRANSFER_NOT_FOUND)
        memory_refuse(q, 404, NULL, arena_printf(q->arena, "transfer not found: %s", id), NULL);
    else if (e->status == RAMET_SESSION_NOT_FOUND ||
             (e->status == RAMET_HIDDEN && !e->conversation))
        memory_refuse(q, 404, NULL, arena_printf(q->arena, "conversation not found: %s", id), NULL);
    else if (e->status == RAMET_FORBIDDEN || e->status == RAMET_HIDDEN)
        memory_refuse(q, 403, NULL, "forbidden", NULL);
    else if (ramet_status_http(e->status) == 400)
        memory_refuse(q, 400, "bad_request", e->message, NULL);
    else
        memory_error(q, id);
}

void memory_transfers_list(request *q)
{
    ramet_call *c = face_call(q);
    const char *role = request_query(q, "role"), *after = request_query(q, "afterCursor");
    bool sender = role && strcmp(role, "sender") == 0;
    bool recipient = role && strcmp(role, "recipient") == 0;
    ramet_transfer *list;
    size_t n;
    if (!c)
        return;
    if (ramet_transfers(c, !recipient, !sender, &list, &n) != RAMET_OK) {
        transfer_error(q, "");
        return;
    }
    listing_page(q, &(listing){list, n, sizeof *list, transfer_id, transfer_write},
                 after ? memory_lower(q->arena, after) : NULL);
}

void memory_transfer_post(request *q)
{
    ramet_call *c = face_call(q);
    const char *id = face_text(q, "conversationId"), *to = face_text(q, "newOwnerUserId");
    ramet_transfer *t;
    if (!c)
        return;
    if (!id || !*id) {
        refuse_field(q, "conversationId", "it must not be empty");
        return;
    }
    if (!to || !*to) {
        refuse_field(q, "newOwnerUserId", "it must not be empty");
        return;
    }
    ramet_status st = ramet_transfer_add(c, id, to, &t);
    if (st == RAMET_TRANSFER_PENDING && t) {
        memory_refuse(q, 409, "TRANSFER_ALREADY_PENDING", ramet_call_error(c)->message,
                      memory_detail(q, "existingTransferId", t->id));
    } else if (st != RAMET_OK) {
        transfer_error(q, id);
    } else {
        transfer_write(q, t);
        face_done(q);
    }
}

void memory_transfer_get(request *q)
{
    ramet_call *c = face_call(q);
    const char *id = memory_lower(q->arena, face_path(q, "transferId"));
    ramet_transfer *t;
    if (!c)
        return;
    if (ramet_transfer_get(c, id, &t) != RAMET_OK) {
        transfer_error(q, id);
        return;
    }
    transfer_write(q, t);
    face_done(q);
}

static void transfer_end(request *q, ramet_status (*end)(ramet_call *c, const char *id))
{
    ramet_call *c = face_call(q);
    const char *id = memory_lower(q->arena, face_path(q, "transferId"));
    if (!c)
        return;
    if (end(c, id) == RAMET_OK)
        face_done(q);
    else
        transfer_error(q, id);
}

void memory_transfer_delete(request *q)
{
    transfer_end(q, ramet_transfer_delete);
}

void memory_transfer_accept(request *q)
{
    transfer_end(q, ramet_transfer_accept);
}
