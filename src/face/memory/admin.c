/* SPDX-License-Identifier: Apache-2.0
 *
 * admin.c: what administrators and auditors see of all conversations, and what administrators
 * change. The lists are those of ordinary users, read with the rights of the program. The row of a
 * route states its roles (routes.c); they are checked before its handler runs.
 */
#include "face/memory/memory.h"

#include "base/util.h"
#include "form/native.h"
#include "ramet/memory.h"

#include <assert.h>
#include <string.h>

bool memory_is_admin(const request *q)
{
    return !(q->roles & ~(unsigned)(ROLE_ADMIN | ROLE_AUDITOR));
}

void memory_program_call(request *q)
{
    assert(!(q->roles & (ROLE_ANYONE | ROLE_USER)));
    q->call = ramet_call_new(q->host->store, NULL, NULL);
}

void memory_admin_talks(request *q)
{
    memory_program_call(q);
    memory_talks_list(q);
}

void memory_admin_entries(request *q)
{
    memory_program_call(q);
    memory_entries_list(q);
}

void memory_admin_members(request *q)
{
    memory_program_call(q);
    memory_members_list(q);
}

void memory_admin_children(request *q)
{
    memory_program_call(q);
    memory_children_list(q);
}

void memory_admin_entry(request *q)
{
    const char *id = face_path(q, "entryId"), *session;
    memory_program_call(q);
    const ramet_entry *e = memory_entry_anywhere(q->call, q->arena, id, &session);
    ramet_status st = ramet_call_error(q->call)->status;
    bool none = st == RAMET_OK || st == RAMET_ENTRY_NOT_FOUND || st == RAMET_BRANCH_NOT_FOUND;
    if (e && memory_entries_write(q, session, e, 1, false))
        face_done(q);
    else if (!e && none)
        memory_refuse(q, 404, "not_found",
                      arena_printf(q->arena, "entry not found: %s", memory_lower(q->arena, id)),
                      NULL);
    else if (!e)
        memory_error(q, session ? session : "");
}

void memory_admin_search(request *q)
{
    memory_program_call(q);
    memory_search(q);
}

/* -------------------------------------------------------------- attachments */

static void time_or_null(request *q, const char *key, int64_t us)
{
    if (us)
        native_ktime(&q->writer, key, us);
    else
        jw_kstr(&q->writer, key, NULL);
}

static void file_write(request *q, const ramet_attachment *a, int64_t sharing)
{
    jw_object(&q->writer);
    jw_kstr(&q->writer, "id", a->id);
    jw_kstr(&q->writer, "storageKey", a->sha256);
    jw_kstr(&q->writer, "filename", a->name);
    jw_kstr(&q->writer, "contentType", a->media_type);
    jw_kint(&q->writer, "size", a->size);
    jw_kstr(&q->writer, "sha256", a->sha256);
    jw_kstr(&q->writer, "userId", a->owner);
    jw_kstr(&q->writer, "entryId", a->expires ? NULL : memory_file_entry(q, a->id));
    time_or_null(q, "expiresAt", a->expires);
    native_ktime(&q->writer, "createdAt", a->created);
    jw_kstr(&q->writer, "status", "ready");
    jw_kbool(&q->writer, "archived", false);
    jw_kint(&q->writer, "refCount", sharing);
    jw_end_object(&q->writer);
}

static ramet_attached status_read(request *q)
{
    const char *status = request_query(q, "status");
    if (!status || strcmp(status, "all") == 0)
        return RAMET_ATTACHED_ANY;
    return strcmp(status, "linked") == 0     ? RAMET_ATTACHED_LINKED
           : strcmp(status, "unlinked") == 0 ? RAMET_ATTACHED_UNLINKED
                                             : RAMET_ATTACHED_EXPIRED;
}

/* The entry that the list is restricted to. False: the answer is filled in. */
static bool entry_read(request *q, ramet_attachments_in *in)
{
    const char *id = request_query(q, "entryId");
    if (!id)
        return true;
    const ramet_entry *e = memory_entry_anywhere(q->call, q->arena, id, &in->session);
    if (e) {
        in->branch = e->branch;
        in->position = e->position;
        return true;
    }
    memory_refuse(q, 404, "not_found",
                  arena_printf(q->arena, "entry not found: %s", memory_lower(q->arena, id)), NULL);
    return false;
}

void memory_admin_files(request *q)
{
    const char *after = request_query(q, "afterCursor");
    ramet_attachments_in in = {.owner = request_query(q, "userId"),
                               .which = status_read(q),
                               .after = after ? memory_lower(q->arena, after) : NULL,
                               .limit = memory_limit(q, 50)};
    ramet_attachments page;
    memory_program_call(q);
    if (!entry_read(q, &in))
        return;
    if (ramet_attachment_list(q->call, &in, &page) != RAMET_OK) {
        memory_error(q, "");
        return;
    }
    jw_object(&q->writer);
    jw_key(&q->writer, "data");
    jw_array(&q->writer);
    for (size_t i = 0; i < page.n; i++)
        file_write(q, &page.items[i].attachment, page.items[i].sharing);
    memory_page_end(q, page.more ? page.items[page.n - 1].attachment.id : NULL);
}

void memory_admin_file(request *q)
{
    const char *id = memory_lower(q->arena, face_path(q, "attachmentId"));
    ramet_attachments_in in = {.only = id};
    ramet_attachments page;
    memory_program_call(q);
    if (ramet_attachment_list(q->call, &in, &page) != RAMET_OK) {
        memory_file_error(q, id);
    } else if (!page.n) {
        memory_refuse(q, 404, NULL, arena_printf(q->arena, "attachment not found: %s", id), NULL);
    } else {
        file_write(q, &page.items[0].attachment, page.items[0].sharing);
        face_done(q);
    }
}

void memory_admin_file_get(request *q)
{
    memory_program_call(q);
    memory_file_get(q);
}

void memory_admin_file_url(request *q)
{
    memory_program_call(q);
    memory_file_url(q);
}

void memory_admin_file_delete(request *q)
{
    memory_program_call(q);
    memory_file_delete(q);
}

/* ------------------------------------------------------------------- events */

/* Events of all conversations, in the form of memory_events(). */
void memory_admin_events(request *q)
{
    memory_program_call(q);
    memory_events(q);
}

/* Unlike for a user, archiving an archived conversation is no error here. */
void memory_admin_talk_patch(request *q)
{
    const char *id = face_path(q, "conversationId");
    ramet_session *s;
    memory_program_call(q);
    if (!memory_session(q, q->call, id, &s))
        return;
    bool archived = face_member(q, "archived") ? face_bool(q, "archived") : s->archived;
    if (archived != s->archived && ramet_archive(q->call, id, archived, &s) != RAMET_OK)
        memory_error(q, id);
    else if (memory_talk_write(q, s, true, true))
        face_done(q);
}
