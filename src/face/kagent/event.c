/* SPDX-License-Identifier: Apache-2.0
 *
 * event.c: events of ADK, the session's adk log. An event is returned byte for byte as it was sent:
 * its readers refuse unknown members. Python writes snake_case, Go camelCase or PascalCase.
 */
#include "form/a2a/a2a_internal.h"
#include "face/kagent/kagent.h"

#include "base/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ appending */

/* The members of an event that are used here. */
typedef struct adk_event {
    const char *invocation, *author; /* NULL: none */
    const char *delta;               /* JSON object; NULL: none */
    const char *rewind;              /* before that invocation; NULL: none */
} adk_event;

/* A member under one of its names. */
static const json_node *either(const json_doc *d, const json_node *obj, const char *const names[4])
{
    for (int i = 0; i < 4 && names[i]; i++) {
        const json_node *v = json_get(d, obj, names[i]);
        if (v && !json_is(v, JSON_NULL))
            return v;
    }
    return NULL;
}

#define NAMES(...) ((const char *const[4]){__VA_ARGS__})

static const char *word(arena *a, const json_doc *d, const json_node *v)
{
    const char *s = json_text(a, d, v);
    return s && *s ? s : NULL;
}

static bool event_parse(arena *a, const char *data, adk_event *out)
{
    json_doc d;
    *out = (adk_event){0};
    if (!json_parse(a, data, strlen(data), 0, &d, NULL) || !json_is(&d.nodes[0], JSON_OBJECT))
        return false;
    const json_node *root = &d.nodes[0];
    const json_node *actions = either(&d, root, NAMES("actions", "Actions"));
    const json_node *delta = either(&d, actions, NAMES("state_delta", "stateDelta", "StateDelta"));
    out->invocation =
        word(a, &d, either(&d, root, NAMES("invocation_id", "invocationId", "InvocationID")));
    out->author = word(a, &d, either(&d, root, NAMES("author", "Author")));
    out->rewind = word(a, &d,
                       either(&d, actions,
                              NAMES("rewind_before_invocation_id", "rewindBeforeInvocationId",
                                    "RewindBeforeInvocationID", "RewindBeforeInvocationId")));
    if (json_is(delta, JSON_OBJECT) && delta->count)
        out->delta = json_raw(a, &d, delta);
    return true;
}

static void event_fields(request *q, const char *id, const ramet_session *s, int64_t created,
                         const char *data)
{
    jw_object(&q->w);
    jw_kstr(&q->w, "id", id);
    jw_kstr(&q->w, "session_id", s->id);
    jw_kstr(&q->w, "user_id", s->owner);
    kagent_time(q, "created_at", created);
    kagent_time(q, "updated_at", created);
    jw_kstr(&q->w, "data", data);
    jw_end_object(&q->w);
}

/* An agent appends to its own sessions. */
static bool event_allowed(request *q, ramet_session **s)
{
    if (!q->who.named && !q->who.as_agent) {
        kagent_refuse(q, 400, "Failed to get user ID: user_id is required");
        return false;
    }
    if (!kagent_session(q, face_path(q, "session_id"), "Session not found", s))
        return false;
    if (q->who.agent && a2a_session_is_of(q->a, *s, q->who.agent))
        return true;
    kagent_refuse(q, 403, "Session does not belong to this agent");
    return false;
}

static bool by_runtime(const adk_event *e)
{
    return e->author && strcmp(e->author, "user") != 0 && strcmp(e->author, "system") != 0;
}

static ramet_entry_in event_entry(const char *id, const char *data, const adk_event *e)
{
    bool user = e->author && strcmp(e->author, "user") == 0;
    bool system = e->author && strcmp(e->author, "system") == 0;
    return (ramet_entry_in){.id = id,
                            .role = user     ? RAMET_USER
                                    : system ? RAMET_SYSTEM
                                             : RAMET_ASSISTANT,
                            .format = "adk",
                            .body = data,
                            .turn_id = e->invocation,
                            .channel = e->rewind ? "rewind" : NULL,
                            .state_delta = e->rewind ? NULL : e->delta};
}

void kagent_event_post(request *q)
{
    const char *id = face_text(q, "id"), *data = face_text(q, "data");
    ramet_session *s;
    adk_event e;
    ramet_append_out out;
    if (!event_allowed(q, &s))
        return;
    if (!data || !event_parse(q->a, data, &e)) {
        kagent_refuse(q, 400, "Invalid request body: data must be the text of a JSON object");
        return;
    }
    ramet_entry_in entry = event_entry(id && *id ? id : NULL, data, &e);
    ramet_append_in in = {.entries = &entry,
                          .n = 1,
                          .log = RAMET_LOG_ADK,
                          .fenced = by_runtime(&e),
                          .before_turn = e.rewind};
    ramet_status st = ramet_append(q->c, s->id, &in, &out);
    if (st != RAMET_OK) {
        kagent_error(q, st, "Failed to store event", "Session not found");
        return;
    }
    if (e.rewind && q->host->turn_moved)
        q->host->turn_moved(q->host->arg, s->id, false);
    kagent_data(q);
    event_fields(q, out.entries[0].id, s, out.entries[0].created, data);
    kagent_end(q, "Event added to session successfully");
    face_done(q);
}

/* ------------------------------------------------------------------ reading */

typedef struct shown_event {
    const char *id, *data;
    int64_t created;
} shown_event;

typedef struct event_page {
    request *request;
    const ramet_session *session;
    int64_t after;       /* only what is newer */
    int64_t from, until; /* numbers among those, from 0 */
    int64_t seen;
    VEC(shown_event) list;
} event_page;

static bool event_take(void *arg, const ramet_entry *e, bool own)
{
    event_page *p = arg;
    if (e->created <= p->after || !e->body)
        return true;
    int64_t n = p->seen++;
    if (n < p->from || n >= p->until)
        return p->seen < p->until;
    arena *a = p->request->a;
    shown_event shown = {own ? arena_strdup(a, e->id) : a2a_derived(a, p->session->id, e->id),
                         arena_strdup(a, e->body), e->created};
    VEC_PUSH(a, &p->list, shown);
    return true;
}

typedef struct event_query {
    bool ascending, effective;
    int64_t limit; /* 0: none */
    int64_t after;
} event_query;

static bool query_read(request *q, event_query *out)
{
    const char *order = request_query(q, "order"), *limit = request_query(q, "limit");
    const char *after = request_query(q, "after"), *view = request_query(q, "view");
    char *end;
    *out = (event_query){.ascending = order && strcmp(order, "asc") == 0, .after = INT64_MIN};
    errno = 0;
    if (limit && *limit) {
        out->limit = strtoll(limit, &end, 10);
        if (*end || errno) {
            kagent_refuse(q, 400, "Failed to parse limit");
            return false;
        }
    }
    if (out->limit < 0)
        out->limit = 0;
    if (after && *after && !time_parse(after, &out->after)) {
        kagent_refuse(q, 400, "Failed to parse after timestamp");
        return false;
    }
    out->effective = view && strcmp(view, "effective") == 0;
    if (view && !out->effective && strcmp(view, "record") != 0) {
        kagent_refuse(q, 400, "Failed to parse view: it is record or effective");
        return false;
    }
    return true;
}

/* To find the newest ones, the events are counted first. */
static ramet_status events_load(event_page *p, const event_query *in)
{
    p->after = in->after;
    p->until = INT64_MAX;
    if (in->limit && in->ascending) {
        p->until = in->limit;
    } else if (in->limit) {
        p->from = INT64_MAX;
        ramet_status st =
            ramet_adk_each(p->request->c, p->session->id, in->effective, event_take, p);
        if (st != RAMET_OK)
            return st;
        p->from = p->seen > in->limit ? p->seen - in->limit : 0;
        p->seen = 0;
    }
    return ramet_adk_each(p->request->c, p->session->id, in->effective, event_take, p);
}

static void page_write(request *q, const event_page *p, const event_query *in, const char *state)
{
    ramet_share *share = NULL;
    kagent_data(q);
    jw_object(&q->w);
    jw_key(&q->w, "session");
    kagent_session_write(q, p->session);
    jw_key(&q->w, "events");
    jw_array(&q->w);
    for (size_t i = 0; i < p->list.n; i++) {
        const shown_event *e = &p->list.items[in->ascending ? i : p->list.n - 1 - i];
        event_fields(q, e->id, p->session, e->created, e->data);
    }
    jw_end_array(&q->w);
    if (state)
        jw_kraw(&q->w, "state", state);
    if (q->who.share && ramet_call_share(q->c, q->who.share, &share) == RAMET_OK)
        jw_kbool(&q->w, "read_only", !share->write);
    jw_end_object(&q->w);
    kagent_end(q, "Successfully retrieved session");
    face_done(q);
}

void kagent_session_get(request *q)
{
    event_query in;
    event_page p = {.request = q};
    ramet_session *s;
    const char *state = NULL;
    if (!query_read(q, &in) ||
        !kagent_session(q, face_path(q, "session_id"), "Session not found", &s))
        return;
    p.session = s;
    ramet_status st = events_load(&p, &in);
    if (st == RAMET_OK && in.effective)
        st = ramet_adk_state(q->c, s->id, &state);
    /* A caller that may not read that log sees no events: they may contain credentials. */
    if (st != RAMET_OK && st != RAMET_FORBIDDEN) {
        kagent_error(q, st, "Failed to get events for session", "Session not found");
        return;
    }
    page_write(q, &p, &in, state);
}
