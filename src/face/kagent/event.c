/* SPDX-License-Identifier: Apache-2.0
 *
 * event.c: ADK events, the session's adk log. Events are returned byte for byte: their readers
 * refuse what they do not know. Python writes snake_case, Go camelCase or PascalCase.
 */
#include "form/a2a/a2a_internal.h"
#include "ramet/kagent.h"
#include "face/kagent/kagent.h"
#include "face/kit/pieces.h"

#include "base/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ appending */

/* The parts of an event that Ramet uses. */
typedef struct adk_event {
    const char *invocation, *author; /* NULL: none */
    const char *delta;               /* JSON object; NULL: none */
    const char *rewind;              /* rewinds to before that invocation; NULL: does not */
} adk_event;

/* Finds a member under one of its names. */
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

static void event_fields(request *q, const char *id, const char *session, const char *owner,
                         int64_t created, const char *data)
{
    jw_object(&q->writer);
    jw_kstr(&q->writer, "id", id);
    jw_kstr(&q->writer, "session_id", session);
    jw_kstr(&q->writer, "user_id", owner);
    kagent_time(q, "created_at", created);
    kagent_time(q, "updated_at", created);
    jw_kstr(&q->writer, "data", data);
    jw_end_object(&q->writer);
}

/* An agent may append only to its own sessions. */
static bool event_allowed(request *q, ramet_session **s)
{
    if (!q->caller.named && !q->caller.as_agent) {
        kagent_refuse(q, 400, "Failed to get user ID: user_id is required");
        return false;
    }
    if (!kagent_session(q, face_path(q, "session_id"), "Session not found", s))
        return false;
    if (q->caller.agent && a2a_session_is_of(q->arena, *s, q->caller.agent))
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
    if (!data || !event_parse(q->arena, data, &e)) {
        kagent_refuse(q, 400, "Invalid request body: data must be the text of a JSON object");
        return;
    }
    ramet_entry_in entry = event_entry(id && *id ? id : NULL, data, &e);
    ramet_append_in in = {.entries = &entry,
                          .n = 1,
                          .log = RAMET_LOG_ADK,
                          .fenced = by_runtime(&e),
                          .before_turn = e.rewind};
    ramet_status st = ramet_append(q->call, s->id, &in, &out);
    if (st != RAMET_OK) {
        kagent_error(q, st, "Failed to store event", "Session not found");
        return;
    }
    if (e.rewind)
        turns_moved(q->host->turns, s->id, false);
    kagent_data(q);
    event_fields(q, out.entries[0].id, s->id, s->owner, out.entries[0].created, data);
    kagent_end(q, "Event added to session successfully");
    face_done(q);
}

/* ------------------------------------------------------------------ reading
 *
 * The log must be walked once, from its beginning: which events are shown depends on their time and
 * on their number. If all of them fit into one piece, they are kept and written. Otherwise only
 * blocks are kept, each of which fits into a piece; they are read again one by one, newest or
 * oldest first, as the client reads the answer (pieces.h). */

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

typedef struct shown_event {
    const char *id, *data;
    int64_t created;
} shown_event;

typedef VEC(shown_event) event_list;

/* A range of numbers in the log. */
typedef struct event_block {
    int64_t from, until;
    int64_t n;    /* number of events that are not too old */
    int64_t skip; /* of these, how many to skip at the beginning */
    size_t bytes;
} event_block;

enum { BLOCK_EVENTS = 1000 };

typedef struct event_page {
    event_query in;
    const char *session, *owner, *state;
    bool by_link, read_only;
    ramet_adk_span span; /* the whole log, as it was when the page began */
    int64_t seen;        /* events that are not too old, in the whole log or in a block */
    int64_t skip;        /* of these, how many to skip at the beginning */
    arena *memory;       /* holds `list`; NULL: keep nothing */
    event_list list;
    size_t bytes; /* size of `list` */
    VEC(event_block) blocks;
    arena *own;        /* holds `blocks` */
    size_t at, behind; /* range of blocks still to be written */
} event_page;

static void event_keep(event_page *p, const ramet_entry *e, bool own)
{
    arena *a = p->memory;
    shown_event shown = {own ? arena_strdup(a, e->id) : a2a_derived(a, p->session, e->id),
                         arena_strdup(a, e->body), e->created};
    VEC_PUSH(a, &p->list, shown);
}

static bool event_seen(const event_page *p, const ramet_entry *e)
{
    return e->created > p->in.after && e->body;
}

static void block_add(event_page *p, size_t bytes)
{
    event_block *b = p->blocks.n ? &p->blocks.items[p->blocks.n - 1] : NULL;
    if (!b || b->bytes + bytes > PIECE_BYTES || b->n == BLOCK_EVENTS) {
        event_block next = {.from = p->span.at};
        VEC_PUSH(p->own, &p->blocks, next);
        b = &p->blocks.items[p->blocks.n - 1];
    }
    b->until = p->span.at + 1;
    b->n++;
    b->bytes += bytes;
}

static void kept_drop(event_page *p)
{
    arena_free(p->memory);
    p->memory = NULL;
    p->list = (event_list){0};
}

/* Counts an event of the whole log. */
static bool event_count(void *arg, const ramet_entry *e, bool own)
{
    event_page *p = arg;
    if (!event_seen(p, e))
        return true;
    if (p->in.ascending && p->in.limit && p->seen == p->in.limit)
        return false;
    size_t bytes = strlen(e->body);
    p->seen++;
    p->bytes += bytes;
    block_add(p, bytes);
    if (p->memory && p->bytes > PIECE_BYTES)
        kept_drop(p);
    if (p->memory)
        event_keep(p, e, own);
    return true;
}

/* Takes an event of a block. */
static bool event_take(void *arg, const ramet_entry *e, bool own)
{
    event_page *p = arg;
    if (event_seen(p, e) && p->seen++ >= p->skip)
        event_keep(p, e, own);
    return true;
}

/* Finds the events to show. The newest ones are found by counting all. */
static ramet_status events_find(request *q, event_page *p)
{
    const event_query *in = &p->in;
    bool newest = in->limit && !in->ascending;
    p->span.effective = in->effective;
    p->memory = arena_new();
    ramet_status st = ramet_adk_span_each(q->call, p->session, &p->span, event_count, p);
    int64_t skip = newest && p->seen > in->limit ? p->seen - in->limit : 0;
    if (skip && p->memory) {
        p->list.items += skip;
        p->list.n -= (size_t)skip;
    }
    p->behind = p->blocks.n;
    while (p->at < p->behind && skip >= p->blocks.items[p->at].n)
        skip -= p->blocks.items[p->at++].n;
    if (p->at < p->behind)
        p->blocks.items[p->at].skip = skip;
    return st;
}

static void events_write(request *q, event_page *p)
{
    for (size_t i = 0; i < p->list.n; i++) {
        const shown_event *e = &p->list.items[p->in.ascending ? i : p->list.n - 1 - i];
        event_fields(q, e->id, p->session, p->owner, e->created, e->data);
    }
    kept_drop(p);
}

/* Writes the next block. False: the answer is filled in. */
static bool block_write(request *q, event_page *p)
{
    const event_block *b = &p->blocks.items[p->in.ascending ? p->at++ : --p->behind];
    ramet_adk_span span = p->span;
    ramet_session *s;
    if (q->caller.as_agent && !kagent_session(q, p->session, "Session not found", &s))
        return false;
    span.from = b->from;
    span.until = b->until;
    p->seen = 0;
    p->skip = b->skip;
    p->memory = arena_new();
    ramet_status st = ramet_adk_span_each(q->call, p->session, &span, event_take, p);
    if (st == RAMET_OK)
        events_write(q, p);
    else
        kagent_error(q, st, "Failed to get events for session", "Session not found");
    kept_drop(p);
    return st == RAMET_OK;
}

static request_piece page_end(request *q, const event_page *p)
{
    jw_end_array(&q->writer);
    if (p->state)
        jw_kraw(&q->writer, "state", p->state);
    if (p->by_link)
        jw_kbool(&q->writer, "read_only", p->read_only);
    jw_end_object(&q->writer);
    kagent_end(q, "Successfully retrieved session");
    return PIECE_LAST;
}

static request_piece page_step(request *q, void *state)
{
    event_page *p = state;
    if (p->memory) {
        events_write(q, p);
        return page_end(q, p);
    }
    if (p->at == p->behind)
        return page_end(q, p);
    return block_write(q, p) ? PIECE_MORE : PIECE_FAILED;
}

static void page_answer(request *q, event_page *p, const ramet_session *s)
{
    ramet_share *share = NULL;
    kagent_data(q);
    jw_object(&q->writer);
    jw_key(&q->writer, "session");
    kagent_session_write(q, s);
    jw_key(&q->writer, "events");
    jw_array(&q->writer);
    p->by_link = q->caller.share && ramet_call_share(q->call, q->caller.share, &share) == RAMET_OK;
    p->read_only = p->by_link && !share->write;
    face_pieces(q, page_step, p);
}

void kagent_session_get(request *q)
{
    event_page *p = arena_alloc(q->arena, sizeof *p);
    ramet_session *s;
    const char *state = NULL;
    *p = (event_page){.own = q->arena};
    if (!query_read(q, &p->in) ||
        !kagent_session(q, face_path(q, "session_id"), "Session not found", &s))
        return;
    p->session = arena_strdup(q->arena, s->id);
    p->owner = arena_strdup(q->arena, s->owner);
    ramet_status st = events_find(q, p);
    if (st == RAMET_OK && p->in.effective)
        st = ramet_adk_state(q->call, s->id, &state);
    p->state = arena_strdup(q->arena, state);
    /* A client that may not read that log sees a session without events: they may contain
     * credentials. */
    if (st == RAMET_OK || st == RAMET_FORBIDDEN) {
        page_answer(q, p, s);
        return;
    }
    kept_drop(p);
    kagent_error(q, st, "Failed to get events for session", "Session not found");
}
