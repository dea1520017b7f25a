/* SPDX-License-Identifier: Apache-2.0
 *
 * about.c: over HTTP: the caller, the agents, live events, and usage statistics.
 */
#include "face/native/native_face.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void api_me_get(request *q)
{
    const request_caller *who = &q->caller;
    native_me me = {who->user,  who->client,  who->roles,  who->mode,
                    who->admin, who->auditor, who->indexer};
    api_show(q, &form_me, &me);
    face_answer(q, RAMET_OK);
}

static void show_agents(request *q, const void *answer)
{
    const face_host *host = answer;
    jw_object(&q->writer);
    jw_key(&q->writer, "agents");
    host->agents(host->arg, &q->writer);
    jw_kstr(&q->writer, "next_cursor", NULL);
    jw_end_object(&q->writer);
}

void api_agents_list(request *q)
{
    face_render(q, show_agents, q->host);
    face_answer(q, RAMET_OK);
}

static void show_nearby(request *q, const void *answer)
{
    const face_host *host = answer;
    jw_object(&q->writer);
    jw_key(&q->writer, "servers");
    if (host->nearby && !host->secured) {
        host->nearby(host->arg, q->arena, &q->writer);
    } else {
        jw_array(&q->writer);
        jw_end_array(&q->writer);
    }
    jw_kstr(&q->writer, "next_cursor", NULL);
    jw_end_object(&q->writer);
}

void api_agents_nearby(request *q)
{
    face_render(q, show_nearby, q->host);
    face_answer(q, RAMET_OK);
}

/* A client of a server without tokens counts as its owner; elsewhere agents are configured at
 * start. */
void api_agents_use(request *q)
{
    char message[FACE_MESSAGE] = "";
    const char *url = face_text(q, "url"), *model = face_text(q, "model");
    if (!q->host->nearby_use || q->host->secured) {
        request_fail(q, 403, "forbidden", NULL,
                     "agents are configured where the server is started");
        return;
    }
    if (!*model || strlen(model) > MODEL_MAX_BYTES) {
        request_fail(q, 400, "invalid_request", "model", "model has 1 to %d bytes",
                     MODEL_MAX_BYTES);
        return;
    }
    const char *name = q->host->nearby_use(q->host->arg, q->arena, url, model, message);
    if (!name) {
        request_fail(q, 400, "invalid_request", "url", "%s", message);
        return;
    }
    api_show(q, &form_agent_name, &(ramet_agent){.name = name});
    face_answer(q, RAMET_OK);
}

/* -------------------------------------------------------------------- events */

/* A client that may not see what it asks for gets an error, instead of a stream that stays
 * silent. */
static bool events_visible(request *q, ramet_call *c, const ramet_events_in *in)
{
    ramet_session *session;
    ramet_session_list list;
    ramet_list_in of_tree = {.limit = 1, .tree = in->tree, .archived = RAMET_ARCHIVED_INCLUDE};
    ramet_status st = RAMET_OK;
    if (in->session)
        st = ramet_session_get(c, in->session, &session);
    if (st == RAMET_OK && in->tree) {
        st = ramet_session_find(c, &of_tree, &list);
        if (st == RAMET_OK && !list.n) {
            request_fail(q, 404, ramet_status_code(RAMET_TREE_NOT_FOUND), "tree",
                         "there is no tree %.100s", in->tree);
            return false;
        }
    }
    if (st != RAMET_OK)
        request_error(q, ramet_call_error(c));
    return st == RAMET_OK;
}

void api_events_open(request *q)
{
    ramet_call *c = face_call(q);
    bool given = false;
    ramet_events_in in = {.session = request_query(q, "session"), .tree = request_query(q, "tree")};
    if (!c || !face_last_event(q, &in.after, &given) || !events_visible(q, c, &in))
        return;
    face_live_open(q, &in, !given, &native_feed, 503);
}

/* ---------------------------------------------------------------- statistics */

void api_statistics_get(request *q)
{
    ramet_call *c = face_call(q);
    ramet_activity out = {0};
    int64_t days = 0;
    face_query_int(q, "days", &days);
    if (!c)
        return;
    api_show(q, &form_statistics, &out);
    face_answer(q, ramet_statistics(c, (int)days, &out));
}
