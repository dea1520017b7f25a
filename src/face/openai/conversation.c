/* SPDX-License-Identifier: Apache-2.0
 *
 * conversation.c: /conversations. A conversation is a session; its items are those that a model
 * would see (the context view). Its metadata stands in the session's: {"openai": {"metadata"}}.
 */
#include "face/openai/openai_face.h"

#include "ramet/overlays.h"

#include <string.h>

enum { MAX_READ = 1000, LIST_DEFAULT = 20 };

/* ------------------------------------------------------------------ the object */

static const json_node *own_member(arena *a, const ramet_session *s, const char *name, json_doc *d)
{
    if (!s->metadata || !json_parse(a, s->metadata, strlen(s->metadata), 0, d, NULL))
        return NULL;
    return json_get(d, json_get(d, d->nodes, "openai"), name);
}

static void conversation_write(arena *a, json_writer *w, const ramet_session *s)
{
    json_doc d;
    const json_node *metadata = own_member(a, s, "metadata", &d);
    jw_object(w);
    jw_kstr(w, "id", openai_id(a, "conv_", s->id));
    jw_kstr(w, "object", "conversation");
    jw_kint(w, "created_at", s->created / 1000000);
    jw_kraw(w, "metadata", metadata ? json_raw(a, &d, metadata) : "{}");
    jw_end_object(w);
}

static void show_conversation(request *q, const void *answer)
{
    conversation_write(q->arena, &q->writer, *(ramet_session *const *)answer);
}

/* The session's metadata with this one of the conversation. */
static const char *metadata_with(request *q, const ramet_session *s)
{
    const json_node *given = face_member(q, "metadata");
    const char *old = s && s->metadata ? s->metadata : "{}";
    json_doc d;
    buf b;
    json_writer w;
    if (!json_parse(q->arena, old, strlen(old), 0, &d, NULL))
        return NULL;
    buf_init(&b, strlen(old) + q->body.n + 4096);
    jw_init(&w, &b, 0);
    jw_object(&w);
    for (const json_node *k = json_first(&d, d.nodes); k; k = json_next(&d, d.nodes, k)) {
        const char *key = json_text(q->arena, &d, k);
        k = json_next(&d, d.nodes, k);
        if (strcmp(key, "openai") != 0)
            jw_kraw(&w, key, json_raw(q->arena, &d, k));
    }
    const json_node *list = json_get(&d, json_get(&d, d.nodes, "openai"), "forgotten");
    jw_key(&w, "openai");
    jw_object(&w);
    jw_kraw(&w, "metadata",
            given && !json_is(given, JSON_NULL) ? json_raw(q->arena, &q->json, given) : "{}");
    if (list)
        jw_kraw(&w, "forgotten", json_raw(q->arena, &d, list));
    jw_end_object(&w);
    jw_end_object(&w);
    return buf_keep(&b, q->arena);
}

static void not_found(request *q, const char *id, const char *field)
{
    request_fail(q, 404, "not_found", field, "Conversation with id '%.80s' not found.", id);
}

const char *openai_conversation(request *q, const char *id, const char *field)
{
    const char *session = openai_id_parse(q->arena, "conv_", id);
    ramet_session *s;
    if (session && ramet_session_get(q->call, session, &s) == RAMET_OK)
        return session;
    not_found(q, id, field);
    return NULL;
}

static ramet_session *conversation_get(request *q)
{
    const char *id = face_path(q, "conversation");
    const char *session = openai_id_parse(q->arena, "conv_", id);
    ramet_session *s;
    if (!face_call(q))
        return NULL;
    if (session && ramet_session_get(q->call, session, &s) == RAMET_OK)
        return s;
    not_found(q, id, "conversation_id");
    return NULL;
}

/* ------------------------------------------------------------------ items in a body */

static bool items_read(request *q, openai_input *in)
{
    const json_node *items = face_member(q, "items");
    size_t i = 0;
    *in = (openai_input){0};
    if (!items || json_is(items, JSON_NULL))
        return true;
    if (!json_is(items, JSON_ARRAY) || items->count > OPENAI_ITEMS_PER_CALL) {
        request_fail(q, 400, "invalid_value", "items", "items must be a list of at most %d items",
                     OPENAI_ITEMS_PER_CALL);
        return false;
    }
    for (const json_node *v = json_first(&q->json, items); v;
         v = json_next(&q->json, items, v), i++) {
        const char *name = arena_printf(q->arena, "items[%zu]", i);
        ramet_entry_in e;
        if (!openai_item_read(q, &q->json, v, name, &e))
            return false;
        VEC_PUSH(q->arena, &in->entries, e);
        VEC_PUSH(q->arena, &in->names, name);
    }
    return true;
}

/* ------------------------------------------------------------------ conversations */

static void conversation_remove(request *q, const char *session)
{
    ramet_delete_out gone;
    ramet_session_delete(q->call, session, false, false, &gone);
}

/* {"fork": {"conversation", "response_id" | "item_id"}}: an extension. */
static void conversation_fork(request *q, const json_node *fork)
{
    const json_doc *d = &q->json;
    const char *id = json_text(q->arena, d, json_get(d, fork, "conversation"));
    const char *response = json_text(q->arena, d, json_get(d, fork, "response_id"));
    const char *item = json_text(q->arena, d, json_get(d, fork, "item_id"));
    const char *session = openai_conversation(q, id ? id : "", "fork.conversation");
    ramet_fork_in in = {0};
    ramet_session *out = NULL;
    ramet_turn *turn;
    ramet_entry *e;
    item_place at;
    if (!session)
        return;
    if (response) {
        const char *name = openai_id_parse(q->arena, "resp_", response);
        if (!name || ramet_turn_get(q->call, session, name, &turn) != RAMET_OK) {
            request_fail(q, 404, "not_found", "fork.response_id",
                         "Response with id '%.80s' not found in this conversation.", response);
            return;
        }
        ramet_read_in read = {.limit = 1, .tail = true, .branch = turn->branch};
        ramet_page page;
        in.branch = turn->branch;
        in.at.entry_id = turn->entry_id;
        /* The last entry of the turn on its branch; what follows belongs to other turns. */
        read.limit = MAX_READ;
        read.tail = false;
        read.after = turn->entry_id;
        if (turn->entry_id && ramet_read(q->call, session, &read, &page) == RAMET_OK)
            for (size_t i = 0; i < page.n && page.entries[i].turn_id &&
                               strcmp(page.entries[i].turn_id, turn->id) == 0;
                 i++)
                in.at.entry_id = page.entries[i].id;
    } else if (item) {
        if (!openai_item_parse(q->arena, item, &at) ||
            ramet_entry_get(q->call, session, 0, at.entry, &e) != RAMET_OK) {
            request_fail(q, 404, "not_found", "fork.item_id",
                         "Item with id '%.80s' not found in this conversation.", item);
            return;
        }
        in.at.entry_id = e->id;
    }
    in.metadata = metadata_with(q, NULL);
    face_render(q, show_conversation, &out);
    if (face_answer(q, ramet_fork(q->call, session, &in, &out, NULL)))
        face_count(q, "fork", ramet_fork_type_name(in.type));
}

void openai_conversation_post(request *q)
{
    const json_node *fork = face_member(q, "fork");
    openai_input in;
    ramet_session *out = NULL;
    ramet_append_out appended;
    if (!face_call(q) || !openai_metadata_check(q) || !items_read(q, &in))
        return;
    if (json_is(fork, JSON_OBJECT)) {
        conversation_fork(q, fork);
        return;
    }
    if (in.entries.n && !openai_calls_check(q, NULL, 0, 0, &in))
        return;
    ramet_session_in make = {.metadata = metadata_with(q, NULL)};
    face_render(q, show_conversation, &out);
    if (!in.entries.n) {
        face_answer(q, ramet_session_create(q->call, &make, &out));
        return;
    }
    ramet_call_once(q->call, NULL);
    if (ramet_session_create(q->call, &make, &out) != RAMET_OK) {
        request_error(q, ramet_call_error(q->call));
        return;
    }
    ramet_append_in add = {.entries = in.entries.items, .n = in.entries.n};
    ramet_call_once(q->call, q->has_once ? &q->once : NULL);
    ramet_status st = ramet_append(q->call, out->id, &add, &appended);
    const char *made = out->id;
    face_answer(q, st);
    if (st != RAMET_OK || (q->has_once && q->once.repeated)) {
        ramet_call_once(q->call, NULL);
        conversation_remove(q, made);
    }
}

void openai_conversation_get(request *q)
{
    ramet_session *s = conversation_get(q);
    if (!s)
        return;
    conversation_write(q->arena, &q->writer, s);
    face_done(q);
}

void openai_conversation_update(request *q)
{
    ramet_session *s, *out = NULL;
    if (!(s = conversation_get(q)) || !openai_metadata_check(q))
        return;
    ramet_session_patch patch = {.metadata = metadata_with(q, s)};
    face_render(q, show_conversation, &out);
    face_answer(q, ramet_session_update(q->call, s->id, &patch, &out));
}

static void show_gone(request *q, const void *answer)
{
    (void)answer;
    jw_object(&q->writer);
    jw_kstr(&q->writer, "id", face_path(q, "conversation"));
    jw_kstr(&q->writer, "object", "conversation.deleted");
    jw_kbool(&q->writer, "deleted", true);
    jw_end_object(&q->writer);
}

void openai_conversation_delete(request *q)
{
    ramet_session *s = conversation_get(q);
    ramet_delete_out out;
    if (!s)
        return;
    face_render(q, show_gone, &out);
    face_answer(q, ramet_session_delete(q->call, s->id, false, false, &out));
}

void openai_forks_get(request *q)
{
    ramet_session *s = conversation_get(q), *forks;
    size_t n;
    if (!s)
        return;
    if (ramet_children(q->call, s->id, &forks, &n) != RAMET_OK) {
        request_error(q, ramet_call_error(q->call));
        return;
    }
    jw_object(&q->writer);
    jw_kstr(&q->writer, "object", "list");
    jw_key(&q->writer, "data");
    jw_array(&q->writer);
    for (size_t i = 0; i < n; i++)
        conversation_write(q->arena, &q->writer, &forks[i]);
    jw_end_array(&q->writer);
    jw_kstr(&q->writer, "first_id", n ? openai_id(q->arena, "conv_", forks[0].id) : NULL);
    jw_kstr(&q->writer, "last_id", n ? openai_id(q->arena, "conv_", forks[n - 1].id) : NULL);
    jw_kbool(&q->writer, "has_more", false);
    jw_end_object(&q->writer);
    face_done(q);
}

/* ------------------------------------------------------------------ items */

static void show_items(request *q, const void *answer)
{
    const ramet_append_out *out = answer;
    item_list list = {.mem = q->arena};
    json_writer *w = &q->writer;
    for (size_t i = 0; i < out->n; i++)
        openai_items_of(q->arena, &out->entries[i], openai_item_collect, &list);
    jw_object(w);
    jw_kstr(w, "object", "list");
    jw_key(w, "data");
    jw_array(w);
    for (size_t i = 0; i < list.items.n; i++)
        jw_raw(w, list.items.items[i]);
    jw_end_array(w);
    jw_kstr(w, "first_id", list.ids.n ? list.ids.items[0] : NULL);
    jw_kstr(w, "last_id", list.ids.n ? list.ids.items[list.ids.n - 1] : NULL);
    jw_kbool(w, "has_more", false);
    jw_end_object(w);
}

void openai_items_post(request *q)
{
    ramet_session *s = conversation_get(q);
    openai_input in;
    ramet_append_out out = {0};
    ramet_turn *running;
    if (!s || !items_read(q, &in))
        return;
    if (!in.entries.n) {
        request_fail(q, 400, "missing_required_parameter", "items", "give at least one item");
        return;
    }
    if (ramet_turn_running(q->call, s->id, &running) == RAMET_OK && running) {
        request_fail(q, 400, "conversation_locked", "conversation_id",
                     "a response is being made in this conversation");
        return;
    }
    ramet_append_in add = {
        .entries = in.entries.items, .n = in.entries.n, .expected_head = s->head.hash};
    face_render(q, show_items, &out);
    face_answer(q, ramet_append(q->call, s->id, &add, &out));
}

/* The entry of the cursor is read again: it may have more items than the one named. */
void openai_items_get(request *q)
{
    ramet_session *s = conversation_get(q);
    const char *after = request_query(q, "after"), *order = request_query(q, "order");
    bool newest = !order || strcmp(order, "asc") != 0;
    int64_t limit = LIST_DEFAULT;
    item_list list = {.mem = q->arena};
    item_place at;
    ramet_entry *e = NULL;
    ramet_page page;
    if (!s)
        return;
    face_query_int(q, "limit", &limit);
    ramet_read_in in = {
        .limit = (int)limit + 2, .tail = newest, .view = RAMET_VIEW_CONTEXT, .channel = "history"};
    if (after && (!openai_item_parse(q->arena, after, &at) ||
                  ramet_entry_get(q->call, s->id, 0, at.entry, &e) != RAMET_OK)) {
        request_fail(q, 400, "invalid_value", "after", "there is no item '%.80s'", after);
        return;
    }
    if (e && newest)
        in.end = e->position + 1;
    else if (e || !newest) {
        in.by_position = true;
        in.position = e ? e->position : 0;
    }
    if (ramet_read(q->call, s->id, &in, &page) != RAMET_OK) {
        request_error(q, ramet_call_error(q->call));
        return;
    }
    for (size_t i = 0; i < page.n; i++)
        openai_items_of(q->arena, &page.entries[i], openai_item_collect, &list);
    openai_list_answer(q, &list, newest ? page.more_before : page.more_after);
}

/* The entry of the item in the path, and its items. NULL: the answer is filled in. */
static ramet_entry *item_find(request *q, const ramet_session *s, item_list *list)
{
    const char *id = face_path(q, "item");
    item_place at;
    ramet_entry *e = NULL;
    if (openai_item_parse(q->arena, id, &at) &&
        ramet_entry_get(q->call, s->id, 0, at.entry, &e) == RAMET_OK) {
        openai_items_of(q->arena, e, openai_item_collect, list);
        for (size_t i = 0; i < list->ids.n; i++)
            if (strcmp(list->ids.items[i], id) == 0)
                return e;
    }
    request_fail(q, 404, "not_found", "item_id", "Item with id '%.80s' not found.", id);
    return NULL;
}

void openai_item_get(request *q)
{
    ramet_session *s = conversation_get(q);
    item_list list = {.mem = q->arena};
    if (!s || !item_find(q, s, &list))
        return;
    for (size_t i = 0; i < list.ids.n; i++)
        if (strcmp(list.ids.items[i], face_path(q, "item")) == 0)
            jw_raw(&q->writer, list.items.items[i]);
    face_done(q);
}

/* The last item is rewound, another one hidden: the record stays whole. */
void openai_item_delete(request *q)
{
    ramet_session *s = conversation_get(q), *out = NULL;
    item_list list = {.mem = q->arena};
    ramet_overlay_out hidden;
    ramet_entry *e = s ? item_find(q, s, &list) : NULL;
    if (!e)
        return;
    if (list.ids.n > 1) {
        request_fail(
            q, 400, "invalid_value", "item_id",
            "this item is part of a message with other items, and cannot be deleted alone");
        return;
    }
    if (s->head.entry_id && strcmp(s->head.entry_id, e->id) == 0) {
        ramet_move_in move = {.at = {e->id, RAMET_BEFORE}, .expected_head = s->head.hash};
        face_render(q, show_conversation, &out);
        if (face_answer(q, ramet_rewind(q->call, s->id, &move, &out, NULL))) {
            face_count(q, "rewind", NULL);
            turns_moved(q->host->turns, s->id, false);
        }
        return;
    }
    ramet_overlay_in hide = {.entry_id = e->id, .action = RAMET_OVERLAY_HIDE};
    face_render(q, show_conversation, &s);
    face_answer(q, ramet_overlay_set(q->call, s->id, &hide, &hidden));
}
