/* SPDX-License-Identifier: Apache-2.0
 *
 * conversation.c: conversations of the memory-service face: listing, creating, changing, archiving.
 */
#include "face/memory/memory.h"

#include "base/util.h"
#include "form/native.h"
#include "face/kit/pieces.h"
#include "ramet/memory.h"

#include <string.h>
#include <strings.h>

static bool is(const char *s, const char *word)
{
    return s && strcmp(s, word) == 0;
}

/* --------------------------------------------------------------------- list */

/* Only archived conversations have an archive time. */
static void admin_filters(request *q, ramet_list_in *in, const char **archived)
{
    const char *after = request_query(q, "archivedAfter"),
               *before = request_query(q, "archivedBefore");
    const char *owner = request_query(q, "userId");
    in->owner = owner ? owner : request_query(q, "ownerUserId");
    in->archived_from = INT64_MIN;
    in->archived_to = INT64_MAX;
    if (after)
        time_parse(after, &in->archived_from);
    if (before)
        time_parse(before, &in->archived_to);
    in->archived_when = after || before;
    if (in->archived_when && !*archived)
        *archived = "only";
}

static bool talk_write(request *q, void *arg, size_t i, const ramet_session *s)
{
    (void)arg, (void)i;
    return memory_talk_write(q, s, false, memory_is_admin(q));
}

void memory_talks_list(request *q)
{
    ramet_call *c = face_call(q);
    const char *mode = request_query(q, "mode"), *ancestry = request_query(q, "ancestry");
    const char *archived = request_query(q, "archived");
    ramet_session_list page;
    ramet_list_in in = {.limit = memory_limit(q, 20),
                        .after = request_query(q, "afterCursor"),
                        .title = request_query(q, "query"),
                        .stored_title = true};
    if (!c)
        return;
    if (memory_is_admin(q))
        admin_filters(q, &in, &archived);
    in.forks = !mode || is(mode, "latest-fork") ? RAMET_LATEST_FORK
               : is(mode, "roots")              ? RAMET_NO_FORKS
                                                : RAMET_ALL_FORKS;
    in.start = is(ancestry, "all")        ? RAMET_ANY_START
               : is(ancestry, "children") ? RAMET_STARTED
                                          : RAMET_NOT_STARTED;
    in.archived = is(archived, "include") ? RAMET_ARCHIVED_INCLUDE
                  : is(archived, "only")  ? RAMET_ARCHIVED_ONLY
                                          : RAMET_ARCHIVED_EXCLUDE;
    if (ramet_session_find(c, &in, &page) != RAMET_OK) {
        memory_error(q, "");
        return;
    }
    jw_object(&q->writer);
    jw_key(&q->writer, "data");
    jw_array(&q->writer);
    const char *after = page.next_cursor ? page.items[page.n - 1].id : NULL;
    face_sessions_answer(q, &(face_sessions){.items = page.items,
                                             .n = page.n,
                                             .write = talk_write,
                                             .end = memory_page_close,
                                             .arg = arena_strdup(q->arena, after)});
}

static void child_write(request *q, const ramet_session *s, const ramet_origin *from)
{
    jw_object(&q->writer);
    jw_kstr(&q->writer, "id", s->id);
    jw_kstr(&q->writer, "title", s->title);
    jw_kstr(&q->writer, "ownerUserId", s->owner);
    native_ktime(&q->writer, "createdAt", s->created);
    native_ktime(&q->writer, "updatedAt", s->updated);
    jw_kbool(&q->writer, "archived", s->archived);
    jw_kstr(&q->writer, "accessLevel", ramet_level_name(from->level));
    if (from->started_by)
        jw_kstr(&q->writer, "startedByConversationId", from->started_by);
    if (from->started_at)
        jw_kstr(&q->writer, "startedByEntryId", from->started_at);
    if (memory_is_admin(q) && *from->client)
        jw_kstr(&q->writer, "clientId", from->client);
    if (memory_is_admin(q) && s->agent.name)
        jw_kstr(&q->writer, "agentId", s->agent.name);
    jw_end_object(&q->writer);
}

void memory_children_list(request *q)
{
    ramet_call *c = face_call(q);
    const char *id = face_path(q, "conversationId"), *after = request_query(q, "afterCursor");
    ramet_session *list, *s;
    ramet_origin from;
    size_t n, at = 0, limit = (size_t)memory_limit(q, 20);
    if (!c || !memory_session(q, c, id, &s))
        return;
    if (ramet_started(c, id, &list, &n) != RAMET_OK) {
        memory_error(q, id);
        return;
    }
    while (after && at < n && strcmp(list[at].id, after) != 0)
        at++;
    at += after && at < n;
    jw_object(&q->writer);
    jw_key(&q->writer, "data");
    jw_array(&q->writer);
    size_t end = n - at > limit ? at + limit : n;
    for (size_t i = at; i < end; i++) {
        if (!memory_level(q, list[i].id, &from))
            return;
        child_write(q, &list[i], &from);
    }
    memory_page_end(q, end < n ? list[end - 1].id : NULL);
}

/* --------------------------------------------------------------------- make */

/* Trimmed; NULL when nothing is left. */
static const char *trimmed(arena *a, const char *s)
{
    size_t n = strlen(s);
    while (n && strchr(" \t\r\n", *s))
        s++, n--;
    while (n && strchr(" \t\r\n", s[n - 1]))
        n--;
    return n ? arena_memdup(a, s, n) : NULL;
}

static bool title_fits(request *q, const char *title)
{
    if (!title || strlen(title) <= 500)
        return true;
    memory_refuse(q, 400, "validation_error",
                  "validation error on title: it has more than 500 bytes",
                  memory_detail(q, "field", "title"));
    return false;
}

void memory_talk_post(request *q)
{
    ramet_call *c = face_call(q);
    const char *id = face_text(q, "id"), *anchor = face_text(q, "forkedAtEntryId");
    ramet_make in = {.title = face_text(q, "title"),
                     .agent = face_text(q, "agentId"),
                     .metadata = face_raw(q, "metadata"),
                     .fork_of = face_text(q, "forkedAtConversationId")};
    ramet_session *out;
    if (!c || !title_fits(q, in.title))
        return;
    if (id && !(id = trimmed(q->arena, id))) {
        memory_refuse(q, 400, "validation_error", "validation error on id: it must not be blank",
                      memory_detail(q, "field", "id"));
        return;
    }
    if (in.agent && !*in.agent)
        in.agent = NULL;
    if (in.fork_of && anchor) {
        const ramet_entry *e = memory_entry_find(c, q->arena, in.fork_of, anchor);
        in.fork_at = e ? e->id : memory_lower(q->arena, anchor);
    }
    ramet_status st = ramet_session_make(c, id, &in, &out);
    if (st != RAMET_OK) {
        memory_error(q, id ? id : "");
        return;
    }
    if (in.fork_of)
        face_count(q, "fork", "explicit");
    if (!memory_talk_write(q, out, true, false))
        return;
    q->status = in.fork_of ? 200 : 201;
    face_done(q);
}

void memory_talk_get(request *q)
{
    ramet_call *c = face_call(q);
    ramet_session *s;
    if (c && memory_session(q, c, face_path(q, "conversationId"), &s) &&
        memory_talk_write(q, s, true, false))
        face_done(q);
}

/* For administrators and auditors: with the rights of the program. */
void memory_admin_talk(request *q)
{
    ramet_session *s;
    memory_program_call(q);
    if (memory_session(q, q->call, face_path(q, "conversationId"), &s) &&
        memory_talk_write(q, s, true, true))
        face_done(q);
}

/* ------------------------------------------------------------------- change */

void memory_talk_patch(request *q)
{
    ramet_call *c = face_call(q);
    const char *id = face_path(q, "conversationId"), *title = face_text(q, "title");
    const json_node *archived = face_member(q, "archived");
    ramet_session_patch in = {.title = title, .metadata = face_raw(q, "metadata")};
    ramet_session *s, *out;
    if (face_cleared(q, "title"))
        in.title = "";
    if (!c || !title_fits(q, title) || !memory_session(q, c, id, &s))
        return;
    ramet_status st;
    if (archived) {
        st = ramet_archive(c, id, face_bool(q, "archived"), &out);
    } else if (s->archived) {
        memory_refuse(q, 404, "not_found", arena_printf(q->arena, "conversation not found: %s", id),
                      NULL);
        return;
    } else {
        st = ramet_session_update(c, id, &in, &out);
    }
    if (st == RAMET_SESSION_NOT_FOUND && archived && !face_bool(q, "archived") && !s->archived)
        memory_refuse(q, 409, NULL, arena_printf(q->arena, "conversation is not archived: %s", id),
                      NULL);
    else if (st != RAMET_OK)
        memory_error(q, id);
    else if (memory_talk_write(q, out, true, false))
        face_done(q);
}
