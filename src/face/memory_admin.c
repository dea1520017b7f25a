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
    const char *id = face_path(q, "entryId"), *session;
    if (!admin_call(q, false))
        return;
    const ramet_entry *e = memory_entry_anywhere(q->c, q->a, id, &session);
    ramet_status st = ramet_call_error(q->c)->status;
    bool none = st == RAMET_OK || st == RAMET_ENTRY_NOT_FOUND || st == RAMET_BRANCH_NOT_FOUND;
    if (e && memory_entries_write(q, session, e, 1, false))
        face_done(q);
    else if (!e && none)
        memory_refuse(q, 404, "not_found",
                      arena_printf(q->a, "entry not found: %s", memory_lower(q->a, id)), NULL);
    else if (!e)
        memory_error(q, session ? session : "");
}

/* Of everybody, told in the words of memory_events(). */
void memory_admin_events(face_req *q)
{
    if (admin_call(q, false))
        memory_events(q);
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
