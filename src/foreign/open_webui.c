/* SPDX-License-Identifier: Apache-2.0
 *
 * open_webui.c: chats of Open WebUI, as its settings ("export all chats") or the menu of a chat
 * write them: a list of {id, title, chat: {history: {messages, currentId}}}.
 *
 *   U1  `history.messages` is a tree by parentId; currentId is the leaf that is shown. Answers of
 *       several models to one question are siblings. A clone of a chat keeps ids and times.
 */
#include "foreign/foreign.h"

#include <string.h>

static ramet_status index_file(foreign_job *j, const foreign_member *m)
{
    if (*m->name && !member_ends(m, ".json")) {
        skip_note(j, "files that are not JSON (.json)", m, 0);
        return RAMET_OK;
    }
    return input_elements(j, m);
}

static void files_take(foreign_message *m, const json_doc *d, const json_node *list)
{
    arena *a = m->conversation->mem;
    for (const json_node *f = json_is(list, JSON_ARRAY) ? json_first(d, list) : NULL; f;
         f = json_next(d, list, f)) {
        const char *url = pick_text(a, d, f, "url"), *id = pick_text(a, d, f, "id");
        const json_node *file = json_get(d, f, "file");
        const char *text = pick_text(a, d, json_get(d, file, "data"), "content");
        const char *name = pick_text(a, d, f, "name");
        if (text && *text)
            msg_bytes(m, text, strlen(text), name, "text/plain");
        else if (url && *url)
            msg_url(m, url, name, pick_text(a, d, f, "content_type"));
        else if (id)
            msg_url(m, arena_printf(a, "open-webui:%s", id), name, NULL);
    }
}

static ramet_role role_of(const json_doc *d, const json_node *o)
{
    const json_node *role = json_get(d, o, "role");
    if (pick_is(d, role, "user"))
        return RAMET_USER;
    return pick_is(d, role, "system") ? RAMET_SYSTEM : RAMET_ASSISTANT;
}

static void message_take(foreign_job *j, foreign_conversation *c, const json_doc *d, const char *id,
                         const json_node *o)
{
    arena *a = c->mem;
    foreign_message m;
    const json_node *usage = json_get(d, o, "usage");
    const char *model = pick_text(a, d, o, "model");
    msg_begin(&m, j, c, id, role_of(d, o), pick_time(a, d, o, "timestamp"));
    m.parent = pick_text(a, d, o, "parentId");
    msg_thinking(&m, pick_text(a, d, o, "reasoning_content"));
    msg_text(&m, pick_text(a, d, o, "content"));
    files_take(&m, d, json_get(d, o, "files"));
    if (!usage)
        usage = json_get(d, o, "info");
    m.has_usage = m.role == RAMET_ASSISTANT &&
                  pick_usage(d, usage, "prompt_tokens", "completion_tokens", NULL, &m.usage);
    if (model)
        c->model = model;
    msg_end(&m);
}

static bool load(foreign_job *j, const foreign_source *s, foreign_conversation *c)
{
    json_doc d;
    arena *a = c->mem;
    if (!source_parse(j, s, c->mem, &d))
        return false;
    const json_node *o = d.nodes, *chat = json_get(&d, o, "chat");
    if (!chat)
        chat = o;
    const json_node *history = json_get(&d, chat, "history"),
                    *messages = json_get(&d, history, "messages");
    c->id = pick_text(a, &d, o, "id");
    if (!c->id || !*c->id)
        c->id = pick_text(a, &d, chat, "id");
    if (!c->id || !*c->id || !json_is(messages, JSON_OBJECT)) {
        skip_span(j, "chats without id or history.messages", s->spans.items);
        return false;
    }
    c->title = pick_text(a, &d, o, "title");
    if (!c->title)
        c->title = pick_text(a, &d, chat, "title");
    c->created = pick_time(a, &d, o, "created_at");
    if (!c->created)
        c->created = pick_time(a, &d, chat, "timestamp");
    c->current = pick_text(a, &d, history, "currentId");
    c->archived = pick_true(&d, o, "archived");
    for (const json_node *k = json_first(&d, messages); k; k = json_next(&d, messages, k)) {
        const json_node *v = json_next(&d, messages, k);
        message_take(j, c, &d, json_text(a, &d, k), v);
        k = v;
    }
    return true;
}

const foreign_reader foreign_open_webui = {.index = index_file, .load = load};
