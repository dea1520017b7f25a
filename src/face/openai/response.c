/* SPDX-License-Identifier: Apache-2.0
 *
 * response.c: /responses. A response id stands for the place behind the last output of its turn,
 * for ever: the next turn goes on there while that is the end of the session, and in a fork
 * otherwise. A conversation never moves because of a response id.
 */
#include "face/openai/openai_face.h"

#include <string.h>

enum { PAGE = 1000, LIST_DEFAULT = 20 };

/* ------------------------------------------------------------------ finding a response */

typedef struct response_at {
    ramet_session *session;
    ramet_turn *turn;
} response_at;

/* Ids that were deleted stand in the session's metadata: {"openai": {"forgotten": […]}}. */
static bool is_forgotten(request *q, const ramet_session *s, const char *turn)
{
    json_doc d;
    if (!s->metadata || !json_parse(q->arena, s->metadata, strlen(s->metadata), 0, &d, NULL))
        return false;
    const json_node *list = json_get(&d, json_get(&d, d.nodes, "openai"), "forgotten");
    for (const json_node *v = json_first(&d, list); list && v; v = json_next(&d, list, v)) {
        const char *id = json_text(q->arena, &d, v);
        if (id && strcmp(id, turn) == 0)
            return true;
    }
    return false;
}

static bool response_find(request *q, const char *id, const char *code, const char *field,
                          response_at *out)
{
    const char *turn = openai_id_parse(q->arena, "resp_", id), *session = NULL;
    if (turn && ramet_turn_session(q->call, turn, &session) == RAMET_OK && session &&
        ramet_session_get(q->call, session, &out->session) == RAMET_OK &&
        ramet_turn_get(q->call, session, turn, &out->turn) == RAMET_OK &&
        !is_forgotten(q, out->session, turn))
        return true;
    request_fail(q, 404, code, field, "Response with id '%.80s' not found.", id);
    return false;
}

/* What was kept of the request; "{}": nothing was. */
static const char *kept_read(request *q, const response_at *r)
{
    ramet_prompt *p;
    json_doc d;
    if (ramet_turn_prompt(q->call, r->session->id, r->turn->id, &p) != RAMET_OK || !p->known ||
        !json_parse(q->arena, p->data, strlen(p->data), 0, &d, NULL))
        return "{}";
    const json_node *kept = json_get(&d, d.nodes, "request");
    return kept ? json_raw(q->arena, &d, kept) : "{}";
}

/* Calls back with the entries of the turn, oldest first, until that returns false. The message that
 * it answers may belong to another turn. */
static bool entries_each(request *q, const response_at *r,
                         bool (*each)(void *arg, const ramet_entry *e), void *arg)
{
    ramet_read_in in = {.limit = PAGE, .by_position = true, .branch = r->turn->branch};
    ramet_entry *message = NULL;
    ramet_page page = {.more_after = true};
    if (r->turn->entry_id && ramet_entry_get(q->call, r->session->id, r->turn->branch,
                                             r->turn->entry_id, &message) == RAMET_OK)
        in.position = message->position;
    /* A message may be several entries: begin with the first of them. */
    ramet_read_in before = {.limit = PAGE, .tail = true, .branch = in.branch, .end = in.position};
    if (in.position && ramet_read(q->call, r->session->id, &before, &page) == RAMET_OK)
        for (size_t i = page.n; i && page.entries[i - 1].turn_id &&
                                strcmp(page.entries[i - 1].turn_id, r->turn->id) == 0;
             i--)
            in.position = page.entries[i - 1].position;
    page.more_after = true;
    while (page.more_after) {
        if (ramet_read(q->call, r->session->id, &in, &page) != RAMET_OK) {
            request_error(q, ramet_call_error(q->call));
            return false;
        }
        for (size_t i = 0; i < page.n; i++) {
            const ramet_entry *e = &page.entries[i];
            bool own = e->turn_id && strcmp(e->turn_id, r->turn->id) == 0;
            bool answered = message && e->position == message->position;
            if ((!own && !answered) || !each(arg, e))
                return true;
        }
        in.position = page.n ? page.entries[page.n - 1].position + 1 : in.position;
    }
    return true;
}

static bool entry_last(void *arg, const ramet_entry *e)
{
    const ramet_entry **last = arg;
    *last = e;
    return true;
}

/* ------------------------------------------------------------------ where a turn goes */

static bool place_after(request *q, const char *id, const openai_input *in, openai_place *out)
{
    response_at r;
    const ramet_entry *last = NULL;
    ramet_entry *on_path;
    if (!response_find(q, id, "previous_response_not_found", "previous_response_id", &r))
        return false;
    if (r.turn->status == RAMET_TURN_RUNNING) {
        request_fail(q, 400, "response_in_progress", "previous_response_id",
                     "the response %.80s is still being made", id);
        return false;
    }
    if (!entries_each(q, &r, entry_last, &last))
        return false;
    if (last && !openai_calls_check(q, r.session->id, r.turn->branch, last->position + 1, in))
        return false;
    bool may_write = r.session->level >= RAMET_WRITER;
    bool at_end =
        last && r.session->head.entry_id && strcmp(r.session->head.entry_id, last->id) == 0;
    /* A fork of the head takes its overlays over. */
    bool on_head =
        last && ramet_entry_get(q->call, r.session->id, 0, last->id, &on_path) == RAMET_OK;
    *out = (openai_place){.session = r.session->id,
                          .head = last ? arena_strdup(q->arena, last->hash) : NULL,
                          .fork = {.at = {last ? last->id : NULL, RAMET_AFTER},
                                   .branch = on_head ? 0 : r.turn->branch,
                                   .visibility = may_write ? r.session->visibility : RAMET_PRIVATE},
                          .length = last ? last->position + 1 : 0,
                          .forks = !at_end || !may_write,
                          .may_fork = true};
    return true;
}

static bool place_conversation(request *q, const openai_input *in, openai_place *out)
{
    const json_node *v = face_member(q, "conversation");
    const char *id = json_is(v, JSON_OBJECT)
                         ? json_text(q->arena, &q->json, json_get(&q->json, v, "id"))
                         : json_text(q->arena, &q->json, v);
    const char *session = openai_conversation(q, id ? id : "", "conversation");
    ramet_session *s;
    if (!session)
        return false;
    if (ramet_session_get(q->call, session, &s) != RAMET_OK) {
        request_error(q, ramet_call_error(q->call));
        return false;
    }
    *out = (openai_place){.session = s->id, .length = s->head.length};
    return openai_calls_check(q, s->id, 0, s->head.length, in);
}

static bool place_find(request *q, const openai_input *in, bool records, openai_place *out)
{
    const char *previous = face_text(q, "previous_response_id");
    bool conversation = face_member(q, "conversation") && !face_cleared(q, "conversation");
    *out = (openai_place){0};
    if (previous && conversation) {
        request_fail(q, 400, "mutually_exclusive_parameters", "conversation",
                     "give previous_response_id or conversation, not both");
        return false;
    }
    if (previous)
        return place_after(q, previous, in, out);
    if (conversation)
        return place_conversation(q, in, out);
    if (!in->entries.n) {
        request_fail(q, 400, "missing_required_parameter", "input",
                     "give input, previous_response_id or conversation");
        return false;
    }
    if (!openai_calls_check(q, NULL, 0, 0, in))
        return false;
    return !in->repeats || !records || openai_lineage(q, in, out);
}

/* ------------------------------------------------------------------ creating */

static turn_listener response_listener(void *arg, turn_place *place)
{
    response_options o = *(const response_options *)arg;
    o.place = place;
    return openai_response_listener(&o);
}

void openai_response_post(request *q)
{
    openai_input in;
    response_options how = {.after = -1};
    openai_run run = {.input = &in, .listener = response_listener, .arg = &how};
    run.unrecorded = !openai_records(q, false);
    bool stream = face_bool(q, "stream"), background = face_bool(q, "background");
    bool conversation = face_member(q, "conversation") && !face_cleared(q, "conversation");
    if (!face_call(q) || !openai_model(q, face_text(q, "model"), &run.agent) ||
        !openai_input_read(q, "input", &in) ||
        !openai_response_settings(q, in.instructions, &run.agent) ||
        !place_find(q, &in, !run.unrecorded, &run.place))
        return;
    if (run.unrecorded && background) {
        openai_refuse(q, "invalid_value", "background",
                      "a response in the background must be stored, and store is false");
        return;
    }
    run.kept = openai_request_kept(q, conversation ? "in_conversation" : NULL);
    how.request = run.kept;
    how.model = run.agent.name;
    how.mode = stream ? RESPONSE_STREAM : background ? RESPONSE_NOW : RESPONSE_WHOLE;
    openai_turn_run(q, &run);
}

/* ------------------------------------------------------------------ reading */

static void response_follow(request *q, const response_at *r, response_mode mode, int64_t after)
{
    response_options how = {
        .mode = mode, .request = kept_read(q, r), .model = r->turn->agent, .after = after};
    turn_listener listener = openai_response_listener(&how);
    turn_error err;
    if (!turns_join(q->host->turns, q, r->session->id, r->turn->id, &listener, &err))
        openai_turn_error(q, &err);
}

void openai_response_get(request *q)
{
    response_at r;
    int64_t after = -1;
    bool stream = face_query_bool(q, "stream");
    if (!face_call(q) ||
        !response_find(q, face_path(q, "response"), "not_found", "response_id", &r))
        return;
    face_query_int(q, "starting_after", &after);
    response_follow(q, &r, stream ? RESPONSE_STREAM : RESPONSE_NOW, after);
}

void openai_response_cancel(request *q)
{
    response_at r;
    ramet_turn *turn;
    turn_error err;
    if (!face_call(q) ||
        !response_find(q, face_path(q, "response"), "not_found", "response_id", &r))
        return;
    if (r.turn->status == RAMET_TURN_RUNNING &&
        !turns_cancel(q->host->turns, q, r.session->id, r.turn->id, &turn, &err) &&
        err.error.status != RAMET_TURN_OVER) {
        openai_turn_error(q, &err);
        return;
    }
    response_follow(q, &r, RESPONSE_NOW, -1);
}

/* ------------------------------------------------------------------ deleting */

/* The session's metadata with one more id that is forgotten. */
static const char *metadata_forget(request *q, const ramet_session *s, const char *turn)
{
    json_doc d = {0};
    buf b;
    json_writer w;
    const char *old = s->metadata ? s->metadata : "{}";
    bool parsed = json_parse(q->arena, old, strlen(old), 0, &d, NULL);
    const json_node *own = parsed ? json_get(&d, d.nodes, "openai") : NULL;
    buf_init(&b, strlen(old) + 4096);
    jw_init(&w, &b, 0);
    jw_object(&w);
    for (const json_node *k = parsed ? json_first(&d, d.nodes) : NULL; k;
         k = json_next(&d, d.nodes, k)) {
        const char *key = json_text(q->arena, &d, k);
        k = json_next(&d, d.nodes, k);
        if (strcmp(key, "openai") != 0)
            jw_kraw(&w, key, json_raw(q->arena, &d, k));
    }
    jw_key(&w, "openai");
    jw_object(&w);
    const json_node *metadata = json_get(&d, own, "metadata");
    const json_node *list = json_get(&d, own, "forgotten");
    if (own && metadata)
        jw_kraw(&w, "metadata", json_raw(q->arena, &d, metadata));
    jw_key(&w, "forgotten");
    jw_array(&w);
    for (const json_node *v = own ? json_first(&d, list) : NULL; v; v = json_next(&d, list, v))
        jw_raw(&w, json_raw(q->arena, &d, v));
    jw_str(&w, turn);
    jw_end_array(&w);
    jw_end_object(&w);
    jw_end_object(&w);
    return buf_keep(&b, q->arena);
}

static void show_deleted(request *q, const void *answer)
{
    jw_object(&q->writer);
    jw_kstr(&q->writer, "id", *(const char *const *)answer);
    jw_kstr(&q->writer, "object", "response");
    jw_kbool(&q->writer, "deleted", true);
    jw_end_object(&q->writer);
}

/* Forgets the id alone: the history stays, for the conversation and its forks. */
void openai_response_delete(request *q)
{
    response_at r;
    ramet_session *out = NULL;
    const char *id = face_path(q, "response");
    if (!face_call(q) || !response_find(q, id, "not_found", "response_id", &r))
        return;
    ramet_session_patch patch = {.metadata = metadata_forget(q, r.session, r.turn->id)};
    face_render(q, show_deleted, &id);
    face_answer(q, ramet_session_update(q->call, r.session->id, &patch, &out));
}

/* ------------------------------------------------------------------ input items */

typedef struct collected {
    request *q;
    item_list list;
} collected;

static bool input_entry(void *arg, const ramet_entry *e)
{
    collected *c = arg;
    if (openai_is_output(e))
        return false;
    openai_items_of(c->q->arena, e, openai_item_collect, &c->list);
    return true;
}

void openai_input_items_get(request *q)
{
    response_at r;
    collected c = {.q = q, .list.mem = q->arena};
    if (!face_call(q) ||
        !response_find(q, face_path(q, "response"), "not_found", "response_id", &r) ||
        !entries_each(q, &r, input_entry, &c))
        return;
    openai_list_answer(q, &c.list, false);
}
