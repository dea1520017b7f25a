/* SPDX-License-Identifier: Apache-2.0
 *
 * session.c: kagent's sessions and their share links.
 */
#include "face/kagent/kagent.h"
#include "face/kit/pieces.h"
#include "ramet/kagent.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ lists */

/* A session in a list: the client's own, or one whose link it has followed. */
typedef struct shown_session {
    const ramet_session *session;
    const ramet_share *share; /* NULL: its own */
} shown_session;

typedef VEC(shown_session) session_list;

static int newest_first(const void *a, const void *b)
{
    const ramet_session *x = ((const shown_session *)a)->session,
                        *y = ((const shown_session *)b)->session;
    if (x->updated != y->updated)
        return x->updated > y->updated ? -1 : 1;
    return x->created > y->created ? -1 : x->created < y->created;
}

/* Additional members of the sessions in a list. */
typedef struct shown_links {
    const char *message;
    struct shown_link {
        const char *token; /* NULL: its own */
        bool read_only;
    } * items;
} shown_links;

static bool shown_write(request *q, void *arg, size_t i, const ramet_session *s)
{
    const struct shown_link *link = &((const shown_links *)arg)->items[i];
    jw_object(&q->writer);
    kagent_session_members(q, s);
    if (link->token) {
        jw_kstr(&q->writer, "share_token", link->token);
        jw_kbool(&q->writer, "share_read_only", link->read_only);
    }
    jw_end_object(&q->writer);
    return true;
}

static ramet_status shown_get(request *q, void *arg, size_t i, const char *id, ramet_session **out)
{
    const struct shown_link *link = &((const shown_links *)arg)->items[i];
    ramet_status st = link->token ? ramet_call_share(q->call, link->token, NULL) : RAMET_OK;
    if (st == RAMET_OK)
        st = ramet_session_get(q->call, id, out);
    if (link->token)
        ramet_call_share(q->call, NULL, NULL);
    if (st == RAMET_OK && q->caller.as_agent && !a2a_session_is_of(q->arena, *out, q->caller.agent))
        st = RAMET_SESSION_NOT_FOUND;
    return st;
}

static void shown_end(request *q, void *arg)
{
    jw_end_array(&q->writer);
    kagent_end(q, ((const shown_links *)arg)->message);
}

static void sessions_write(request *q, session_list *list, const char *message)
{
    if (!list->n) {
        kagent_done(q, message);
        face_done(q);
        return;
    }
    qsort(list->items, list->n, sizeof *list->items, newest_first);
    ramet_session *sessions = arena_array(ramet_call_arena(q->call), list->n, sizeof *sessions);
    shown_links *links = arena_alloc(q->arena, sizeof *links);
    *links = (shown_links){message, arena_array(q->arena, list->n, sizeof *links->items)};
    for (size_t i = 0; i < list->n; i++) {
        const ramet_share *share = list->items[i].share;
        sessions[i] = *list->items[i].session;
        if (share)
            links->items[i] = (struct shown_link){arena_strdup(q->arena, share->id), !share->write};
    }
    kagent_data(q);
    jw_array(&q->writer);
    face_sessions_answer(q, &(face_sessions){.items = sessions,
                                             .n = list->n,
                                             .get = shown_get,
                                             .write = shown_write,
                                             .end = shown_end,
                                             .arg = links});
}

void kagent_sessions_list(request *q)
{
    ramet_session *own;
    size_t n;
    session_list list = {0};
    if (!kagent_sessions(q, &own, &n))
        return;
    for (size_t i = 0; i < n; i++)
        VEC_PUSH(ramet_call_arena(q->call), &list, ((shown_session){&own[i], NULL}));
    sessions_write(q, &list, "Successfully listed sessions");
}

/* Adds the sessions of an agent whose links the client has followed. False: the answer is filled
 * in. */
static bool visited_add(request *q, const char *agent, session_list *list)
{
    ramet_share *links;
    ramet_session *s;
    size_t n;
    if (q->caller.no_user || q->caller.share)
        return true;
    ramet_status st = ramet_shares_visited(q->call, &links, &n);
    if (st != RAMET_OK) {
        kagent_error(q, st, "Failed to get shared sessions", NULL);
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (ramet_call_share(q->call, links[i].id, NULL) == RAMET_OK &&
            ramet_session_get(q->call, links[i].session, &s) == RAMET_OK &&
            a2a_session_is_of(q->arena, s, agent))
            VEC_PUSH(ramet_call_arena(q->call), list, ((shown_session){s, &links[i]}));
    }
    ramet_call_share(q->call, NULL, NULL);
    return true;
}

static bool agent_is_here(request *q, const char *id)
{
    const char *name;
    for (size_t i = 0; q->host->agent_name && (name = q->host->agent_name(q->host->arg, i)); i++)
        if (strcmp(a2a_agent_id(q->arena, name), id) == 0)
            return true;
    return false;
}

/* An agent is known if it answers here, or if a session that the client sees has it. */
void kagent_sessions_of_agent(request *q)
{
    const char *id = a2a_agent_id_of(q->arena, face_path(q, "namespace"), face_path(q, "name"));
    ramet_session *own;
    session_list list = {0};
    size_t n;
    bool known = agent_is_here(q, id);
    if (!kagent_sessions(q, &own, &n))
        return;
    for (size_t i = 0; i < n; i++) {
        const char *source = a2a_source(q->arena, &own[i]);
        if (!a2a_session_is_of(q->arena, &own[i], id))
            continue;
        known = true;
        if (!source || strcmp(source, "agent") != 0)
            VEC_PUSH(ramet_call_arena(q->call), &list, ((shown_session){&own[i], NULL}));
    }
    if (!visited_add(q, id, &list))
        return;
    if (!known && !list.n)
        kagent_refuse(q, 404, "Agent not found");
    else
        sessions_write(q, &list, "Successfully retrieved sessions for agent");
}

/* ------------------------------------------------------------------ create */

static void session_answer(request *q, const ramet_session *s, const char *message)
{
    kagent_data(q);
    kagent_session_write(q, s);
    kagent_end(q, message);
    face_done(q);
}

typedef struct session_said {
    const char *id, *name, *agent, *source;
} session_said;

static bool said_read(request *q, session_said *out)
{
    const char *ref = face_text(q, "agent_ref");
    *out = (session_said){
        .id = face_text(q, "id"), .name = face_text(q, "name"), .source = face_text(q, "source")};
    if (!ref || !*ref) {
        kagent_refuse(q, 400, "agent_ref is required");
        return false;
    }
    out->agent = kagent_agent_name(q, ref);
    if (!out->agent) {
        kagent_refuse(
            q, 400,
            arena_printf(q->arena, "Agent ref is invalid, please check the agent ref %.200s", ref));
        return false;
    }
    if (out->id && !*out->id)
        out->id = NULL;
    if (out->source && !*out->source)
        out->source = NULL;
    if (out->source && strcmp(out->source, "user") != 0 && strcmp(out->source, "agent") != 0) {
        kagent_refuse(q, 400, "Invalid request body: source is user or agent");
        return false;
    }
    return true;
}

/* Posting the same id again changes name, agent and source. */
static void session_again(request *q, const ramet_session *s, const session_said *said)
{
    ramet_session *out;
    bool own = q->caller.no_user ? a2a_session_is_of(q->arena, s, q->caller.agent)
                                 : strcmp(s->owner, q->caller.user) == 0;
    if (!own) {
        kagent_refuse(q, 409, "Session ID is already in use");
        return;
    }
    ramet_agent agent = s->agent;
    if (!agent.name || strcmp(agent.name, said->agent) != 0)
        agent = (ramet_agent){.name = said->agent};
    ramet_session_patch in = {.title = said->name ? said->name : "",
                              .agent = &agent,
                              .metadata = a2a_source_set(q->arena, s->metadata, said->source)};
    ramet_status st = ramet_session_update(q->call, s->id, &in, &out);
    if (st == RAMET_OK)
        session_answer(q, out, "Successfully created session");
    else
        kagent_error(q, st, "Failed to create session", "Session not found");
}

void kagent_session_post(request *q)
{
    ramet_call *c = kagent_call(q);
    ramet_session *out;
    session_said said;
    if (!c || !said_read(q, &said))
        return;
    if (said.id && ramet_session_get(c, said.id, &out) == RAMET_OK) {
        session_again(q, out, &said);
        return;
    }
    ramet_session_in in = {.id = said.id,
                           .title = said.name,
                           .agent = {.name = said.agent},
                           .metadata =
                               said.source ? a2a_source_set(q->arena, NULL, said.source) : NULL,
                           .owner = q->caller.no_user ? q->caller.user : NULL,
                           .anew = true};
    ramet_status st = ramet_session_create(c, &in, &out);
    if (st == RAMET_OK)
        session_answer(q, out, "Successfully created session");
    else if (st == RAMET_SESSION_EXISTS || st == RAMET_SESSION_DELETED)
        kagent_refuse(q, 409, "Session ID is already in use");
    else
        kagent_error(q, st, "Failed to create session", "Session not found");
}

void kagent_session_put(request *q)
{
    const char *name = face_text(q, "name"), *ref = face_text(q, "agent_ref");
    ramet_session *s, *out;
    ramet_agent agent = {0};
    if (!kagent_session(q, face_path(q, "session_id"), "Session not found", &s))
        return;
    if (!name && !ref) {
        kagent_refuse(q, 400, "at least one of name or agent_ref is required");
        return;
    }
    if (ref && !(agent.name = kagent_agent_name(q, ref))) {
        kagent_refuse(q, 404, "Agent not found");
        return;
    }
    ramet_session_patch in = {.title = name, .agent = ref ? &agent : NULL};
    ramet_status st = ramet_session_update(q->call, s->id, &in, &out);
    if (st == RAMET_OK)
        session_answer(q, out, "Successfully updated session");
    else
        kagent_error(q, st, "Failed to update session", "Session not found");
}

/* Deleting a session that does not exist succeeds. */
void kagent_session_delete(request *q)
{
    ramet_call *c = kagent_call(q);
    const char *id = face_path(q, "session_id");
    ramet_session *s;
    ramet_delete_out gone;
    if (!c)
        return;
    ramet_status st = ramet_session_get(c, id, &s);
    if (st == RAMET_OK && q->caller.as_agent && !a2a_session_is_of(q->arena, s, q->caller.agent))
        st = RAMET_SESSION_NOT_FOUND;
    if (st == RAMET_OK)
        st = ramet_session_delete(c, id, false, false, &gone);
    if (st != RAMET_OK && ramet_status_http(st) != 404) {
        kagent_error(q, st, "Failed to delete session", NULL);
        return;
    }
    kagent_data(q);
    jw_raw(&q->writer, "{}");
    kagent_end(q, "Session deleted successfully");
    face_done(q);
}

/* ------------------------------------------------------------------ shares */

static void share_write(request *q, const ramet_session *s, const ramet_share *share)
{
    jw_object(&q->writer);
    jw_kstr(&q->writer, "id", share->id);
    /* Only the digest of a token is stored: a list shows the share's id instead. */
    jw_kstr(&q->writer, "token", share->token ? share->token : share->id);
    jw_kstr(&q->writer, "session_id", share->session);
    jw_kstr(&q->writer, "user_id", share->by ? share->by : s->owner);
    jw_kbool(&q->writer, "read_only", !share->write);
    kagent_time(q, "created_at", share->created);
    jw_end_object(&q->writer);
}

void kagent_share_post(request *q)
{
    ramet_session *s;
    ramet_share *out;
    const json_node *read_only = face_member(q, "read_only");
    if (!kagent_session(q, face_path(q, "session_id"), "Session not found", &s))
        return;
    ramet_status st =
        ramet_share_add(q->call, s->id, read_only && !face_bool(q, "read_only"), 0, &out);
    if (st != RAMET_OK) {
        kagent_error(q, st, "Failed to create share", "Session not found");
        return;
    }
    kagent_data(q);
    share_write(q, s, out);
    kagent_end(q, "Successfully created share");
    face_done(q);
}

void kagent_shares_list(request *q)
{
    ramet_session *s;
    ramet_share *list;
    size_t n;
    if (!kagent_session(q, face_path(q, "session_id"), "Session not found", &s))
        return;
    ramet_status st = ramet_shares(q->call, s->id, &list, &n);
    if (st != RAMET_OK) {
        kagent_error(q, st, "Failed to list shares", "Session not found");
        return;
    }
    if (!n) {
        kagent_done(q, "Successfully listed shares");
        face_done(q);
        return;
    }
    kagent_data(q);
    jw_array(&q->writer);
    for (size_t i = 0; i < n; i++)
        share_write(q, s, &list[i]);
    jw_end_array(&q->writer);
    kagent_end(q, "Successfully listed shares");
    face_done(q);
}

/* The id of a share, given its token or the id itself. */
static const char *share_id(request *q, const char *token)
{
    ramet_share *share;
    ramet_call *c = ramet_call_new(q->host->store, q->caller.user, NULL);
    const char *id = token;
    if (ramet_call_share(c, token, &share) == RAMET_OK)
        id = arena_strdup(q->arena, share->id);
    ramet_call_free(c);
    return id;
}

void kagent_share_delete(request *q)
{
    ramet_session *s;
    if (!kagent_session(q, face_path(q, "session_id"), "Session not found", &s))
        return;
    ramet_status st = ramet_share_revoke(q->call, s->id, share_id(q, face_path(q, "token")));
    if (st != RAMET_OK) {
        kagent_error(q, st, "Failed to delete share", "Share not found");
        return;
    }
    kagent_data(q);
    jw_raw(&q->writer, "{}");
    kagent_end(q, "Share deleted successfully");
    face_done(q);
}
