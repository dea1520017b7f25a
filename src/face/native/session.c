/* SPDX-License-Identifier: Apache-2.0
 *
 * session.c: sessions over HTTP: creating, listing, changing, deleting, restoring.
 */
#include "face/native/native_face.h"

#include <string.h>

void api_session_create(request *q)
{
    ramet_call *c = face_call(q);
    ramet_session *out = NULL;
    const ramet_agent *agent;
    ramet_session_in in = {.id = face_text(q, "id"),
                           .title = face_text(q, "title"),
                           .sandbox = face_text(q, "sandbox"),
                           .metadata = face_raw(q, "metadata")};
    const char *visibility = face_text(q, "visibility");
    in.tags = face_texts(q, "tags", &in.n_tags);
    if (visibility)
        in.visibility = (ramet_visibility)ramet_visibility_parse(visibility);
    if (!c || !api_agent(q, &in.agent, &agent) ||
        !api_life(q, q->json.nodes, "ephemeral_seconds", &in.ephemeral_us))
        return;
    api_show_at(q, &form_session, &out);
    if (face_answer(q, ramet_session_create(c, &in, &out)))
        request_add_header(
            q, "Location",
            arena_printf(q->arena, "/ramet/v1/sessions/%s", face_escape(q, out->id)));
}

static ramet_archived archived_of(const char *word)
{
    if (word && strcmp(word, "include") == 0)
        return RAMET_ARCHIVED_INCLUDE;
    return word && strcmp(word, "only") == 0 ? RAMET_ARCHIVED_ONLY : RAMET_ARCHIVED_EXCLUDE;
}

static bool listed_write(request *q, void *arg, size_t i, const ramet_session *s)
{
    (void)arg, (void)i;
    form_write(&q->writer, &form_session, s,
               &(form_context){.running = native_running, .arg = q->host->turns});
    return true;
}

static void listed_end(request *q, void *next_cursor)
{
    jw_end_array(&q->writer);
    jw_kstr(&q->writer, "next_cursor", next_cursor);
    jw_end_object(&q->writer);
}

void api_sessions_answer(request *q, const form_list *list)
{
    jw_object(&q->writer);
    jw_key(&q->writer, "sessions");
    jw_array(&q->writer);
    face_sessions_answer(q, &(face_sessions){.items = list->items,
                                             .n = list->n,
                                             .write = listed_write,
                                             .end = listed_end,
                                             .arg = arena_strdup(q->arena, list->next_cursor)});
}

void api_sessions_list(request *q)
{
    ramet_call *c = face_call(q);
    ramet_session_list found = {0};
    ramet_list_in in = {.limit = api_limit(q),
                        .cursor = request_query(q, "cursor"),
                        .owner = request_query(q, "owner"),
                        .agent = request_query(q, "agent"),
                        .tag = request_query(q, "tag"),
                        .tree = request_query(q, "tree"),
                        .title = request_query(q, "title"),
                        .sandbox = request_query(q, "sandbox"),
                        .archived = archived_of(request_query(q, "archived")),
                        .deleted = face_query_bool(q, "deleted")};
    if (!c)
        return;
    if (ramet_session_find(c, &in, &found) == RAMET_OK)
        api_sessions_answer(q, &(form_list){found.items, found.n, found.next_cursor});
    else
        request_error(q, ramet_call_error(c));
}

void api_session_get(request *q)
{
    ramet_call *c = face_call(q);
    ramet_session *out = NULL;
    if (!c)
        return;
    api_show_at(q, &form_session, &out);
    if (face_answer(q, ramet_session_get(c, face_path(q, "id"), &out)))
        face_etag(q, out->head.hash, q->out.data, q->out.n);
}

/* null clears a member: the library's "" and {}. */
static const char *text_or_clear(request *q, const char *name)
{
    return face_cleared(q, name) ? "" : face_text(q, name);
}

void api_session_patch(request *q)
{
    static const ramet_agent nobody;
    ramet_call *c = face_call(q);
    ramet_session *out = NULL;
    ramet_agent agent;
    bool archived = face_bool(q, "archived");
    const char *word = face_text(q, "visibility");
    ramet_visibility visibility = word ? (ramet_visibility)ramet_visibility_parse(word) : 0;
    ramet_session_patch in = {.title = text_or_clear(q, "title"),
                              .merged_into = text_or_clear(q, "merged_into"),
                              .metadata =
                                  face_cleared(q, "metadata") ? "{}" : face_raw(q, "metadata"),
                              .archived = face_member(q, "archived") ? &archived : NULL,
                              .visibility = word ? &visibility : NULL,
                              .expected_head = face_expected_head(q)};
    if (!c || !api_agent(q, &agent, &in.agent))
        return;
    if (face_cleared(q, "agent"))
        in.agent = &nobody;
    api_show_at(q, &form_session, &out);
    face_answer(q, ramet_session_update(c, face_path(q, "id"), &in, &out));
}

void api_session_delete(request *q)
{
    ramet_call *c = face_call_expecting(q, face_path(q, "id"));
    ramet_delete_out out = {0};
    if (!c)
        return;
    api_show(q, &form_deleted, &out);
    if (!face_answer(q, ramet_session_delete(c, face_path(q, "id"), face_query_bool(q, "tree"),
                                             face_query_bool(q, "dry_run"), &out)))
        return;
    for (size_t i = 0; !out.dry_run && i < out.n; i++)
        api_moved(q, out.ids[i]);
}

void api_session_restore(request *q)
{
    ramet_call *c = face_call(q);
    ramet_session *out = NULL;
    if (!c)
        return;
    api_show_at(q, &form_session, &out);
    face_answer(q, ramet_session_restore(c, face_path(q, "id"), face_bool(q, "tree"), &out));
}

void api_session_promote(request *q)
{
    ramet_call *c = face_call_expecting(q, face_path(q, "id"));
    ramet_session *out = NULL;
    if (!c)
        return;
    api_show_at(q, &form_session, &out);
    face_answer(q, ramet_session_promote(c, face_path(q, "id"), &out));
}
