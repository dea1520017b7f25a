/* SPDX-License-Identifier: Apache-2.0
 *
 * memory_admin.c: what administrators and auditors see of all conversations, and what
 * administrators change. The lists are those of the callers, with the rights of the program.
 */
#include "face/memory.h"

#include "base/util.h"

#include <string.h>

bool memory_is_admin(const face_req *q)
{
    return strncmp(q->route->path, "/v1/admin/", 10) == 0;
}

/* False: the answer is filled. */
static bool admin_call(face_req *q, bool change)
{
    if (!q->who.admin && (change || !q->who.auditor)) {
        memory_refuse(q, 403, "forbidden", "forbidden", NULL);
        return false;
    }
    q->c = ramet_call_new(q->host->store, NULL, NULL);
    return true;
}

void memory_admin_talks(face_req *q)
{
    if (admin_call(q, false))
        memory_talks_list(q);
}

void memory_admin_entries(face_req *q)
{
    if (admin_call(q, false))
        memory_entries_list(q);
}

void memory_admin_members(face_req *q)
{
    if (admin_call(q, false))
        memory_members_list(q);
}

void memory_admin_children(face_req *q)
{
    if (admin_call(q, false))
        memory_children_list(q);
}

void memory_admin_entry(face_req *q)
{
    const char *id = memory_lower(q->a, face_path(q, "entryId")), *session;
    ramet_entry *e;
    if (!admin_call(q, false))
        return;
    ramet_status st = ramet_entry_home(q->c, id, &session);
    if (st == RAMET_OK)
        st = ramet_entry_get(q->c, session, 0, id, &e);
    if (st == RAMET_ENTRY_NOT_FOUND)
        memory_refuse(q, 404, "not_found", arena_printf(q->a, "entry not found: %s", id), NULL);
    else if (st != RAMET_OK)
        memory_error(q, session ? session : "");
    else if (memory_entries_write(q, session, e, 1, false))
        face_done(q);
}

/* Archiving what is archived is no error to who looks after the whole. */
void memory_admin_talk_patch(face_req *q)
{
    const char *id = face_path(q, "conversationId");
    ramet_session *s;
    if (!admin_call(q, true) || !memory_session(q, q->c, id, &s))
        return;
    bool archived = face_member(q, "archived") ? face_bool(q, "archived") : s->archived;
    if (archived != s->archived && ramet_archive(q->c, id, archived, &s) != RAMET_OK)
        memory_error(q, id);
    else if (memory_talk_write(q, s, true, true))
        face_done(q);
}
