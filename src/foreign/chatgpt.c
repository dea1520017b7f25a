/* SPDX-License-Identifier: Apache-2.0
 *
 * chatgpt.c: ChatGPT's data export: conversations.json, with the uploaded files beside it.
 *
 *   G1  `mapping` is a tree: nodes with id, parent, children and a message, which may be null.
 *       `current_node` is the leaf that is shown.
 *   G2  A message to a tool has a recipient other than "all"; it has no id of a call, so its time
 * is taken, which copies have, too. The tool's message below it is the result. G3  Files are named
 * by pointers (file-service://ID, sediment://ID); the file ID… of the export has the bytes.
 */
#include "foreign/foreign.h"

#include <string.h>

static ramet_status index_file(foreign_job *j, const foreign_member *m)
{
    const char *base = member_base(m);
    /* Large exports are cut into conversations-000.json, … */
    if (*m->name && (strncmp(base, "conversations", 13) != 0 || !member_ends(m, ".json"))) {
        if (member_ends(m, ".json"))
            skip_note(j, "other files of the export (.json)", m, 0);
        return RAMET_OK;
    }
    return input_elements(j, m);
}

/* -------------------------------------------------------------------------- parts */

static const char *media_type_of(const char *name)
{
    static const char *const types[][2] = {{".png", "image/png"},   {".jpg", "image/jpeg"},
                                           {".jpeg", "image/jpeg"}, {".webp", "image/webp"},
                                           {".gif", "image/gif"},   {".pdf", "application/pdf"},
                                           {".wav", "audio/wav"},   {".txt", "text/plain"}};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof types / sizeof *types; i++)
        if (strcmp(dot, types[i][0]) == 0)
            return types[i][1];
    return "application/octet-stream";
}

static void pointer_take(foreign_message *m, const char *pointer)
{
    const char *id = strstr(pointer, "://");
    const foreign_member *file = id ? member_find(m->job, id + 3) : NULL;
    if (file)
        msg_bytes(m, file->at, file->n, member_base(file), media_type_of(file->name));
    else
        msg_url(m, pointer, NULL, NULL);
}

static void piece_take(foreign_message *m, const json_doc *d, const json_node *p)
{
    arena *a = m->conversation->mem;
    const char *pointer = pick_text(a, d, p, "asset_pointer");
    if (!pointer)
        pointer = pick_text(a, d, json_get(d, p, "audio_asset_pointer"), "asset_pointer");
    if (json_is(p, JSON_STRING))
        msg_text(m, json_text(a, d, p));
    else if (pointer)
        pointer_take(m, pointer);
    else if (json_is(json_get(d, p, "text"), JSON_STRING))
        msg_text(m, pick_text(a, d, p, "text"));
    else if (json_is(p, JSON_OBJECT))
        msg_data(m, pick_json(a, d, p));
}

static void thoughts_take(foreign_message *m, const json_doc *d, const json_node *list)
{
    arena *a = m->conversation->mem;
    for (const json_node *t = json_is(list, JSON_ARRAY) ? json_first(d, list) : NULL; t;
         t = json_next(d, list, t)) {
        const char *summary = pick_text(a, d, t, "summary"),
                   *content = pick_text(a, d, t, "content");
        msg_thinking(m, summary && content && *content
                            ? arena_printf(a, "%s\n\n%s", summary, content)
                        : content && *content ? content
                                              : summary);
    }
}

static const char *content_text(arena *a, const json_doc *d, const json_node *content)
{
    const char *text = pick_text(a, d, content, "text");
    const json_node *parts = json_get(d, content, "parts");
    buf b;
    if (text)
        return text;
    if (!(text = pick_text(a, d, content, "result")) && !json_is(parts, JSON_ARRAY))
        return text;
    if (text)
        return text;
    buf_init(&b, MAX_TEXT_BYTES);
    for (const json_node *p = json_first(d, parts); p; p = json_next(d, parts, p))
        if (json_is(p, JSON_STRING)) {
            buf_puts(&b, b.n ? "\n\n" : "");
            buf_puts(&b, json_text(a, d, p));
        }
    return buf_keep(&b, a);
}

static void content_take(foreign_message *m, const json_doc *d, const json_node *content)
{
    arena *a = m->conversation->mem;
    const json_node *type = json_get(d, content, "content_type");
    const json_node *parts = json_get(d, content, "parts");
    if (pick_is(d, type, "thoughts"))
        thoughts_take(m, d, json_get(d, content, "thoughts"));
    else if (pick_is(d, type, "reasoning_recap"))
        msg_thinking(m, pick_text(a, d, content, "content"));
    else if (json_is(parts, JSON_ARRAY))
        for (const json_node *p = json_first(d, parts); p; p = json_next(d, parts, p))
            piece_take(m, d, p);
    else
        msg_text(m, content_text(a, d, content));
}

/* -------------------------------------------------------------------------- nodes */

static ramet_role role_of(const json_doc *d, const json_node *author)
{
    const json_node *role = json_get(d, author, "role");
    if (pick_is(d, role, "user"))
        return RAMET_USER;
    if (pick_is(d, role, "assistant"))
        return RAMET_ASSISTANT;
    return pick_is(d, role, "tool") ? RAMET_TOOL : RAMET_SYSTEM;
}

/* Whether a node asks a tool; its recipient. */
static const char *recipient_of(arena *a, const json_doc *d, const json_node *node)
{
    const json_node *message = json_get(d, node, "message");
    const char *to = pick_text(a, d, message, "recipient");
    bool model = role_of(d, json_get(d, message, "author")) == RAMET_ASSISTANT;
    return model && to && strcmp(to, "all") != 0 ? to : NULL;
}

static void node_take(foreign_job *j, foreign_conversation *c, const json_doc *d,
                      const json_node *mapping, const char *id, const json_node *node)
{
    arena *a = c->mem;
    foreign_message m;
    const json_node *message = json_get(d, node, "message"),
                    *content = json_get(d, message, "content"),
                    *about = json_get(d, message, "metadata");
    const char *parent = pick_text(a, d, node, "parent"), *to = recipient_of(a, d, node);
    const char *model = pick_text(a, d, about, "model_slug");
    msg_begin(&m, j, c, id, role_of(d, json_get(d, message, "author")),
              pick_time(a, d, message, "create_time"));
    m.parent = parent;
    if (pick_true(d, about, "is_visually_hidden_from_conversation"))
        skip_note(j, "messages that ChatGPT itself hides", NULL, 0);
    else if (to) {
        const char *text = content_text(a, d, content);
        msg_call(&m, call_id_of(a, m.created), to, text ? json_or_text(a, text) : NULL);
    } else if (m.role == RAMET_TOOL && parent && recipient_of(a, d, json_get(d, mapping, parent))) {
        const char *text = content_text(a, d, content);
        const json_node *asked = json_get(d, json_get(d, mapping, parent), "message");
        msg_result(&m, call_id_of(a, pick_time(a, d, asked, "create_time")),
                   json_quote(a, text ? text : ""), false);
        const json_node *parts = json_get(d, content, "parts");
        for (const json_node *p = json_is(parts, JSON_ARRAY) ? json_first(d, parts) : NULL; p;
             p = json_next(d, parts, p))
            if (json_is(p, JSON_OBJECT))
                piece_take(&m, d, p);
    } else
        content_take(&m, d, content);
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
    const json_node *o = d.nodes, *mapping = json_get(&d, o, "mapping");
    c->id = pick_text(a, &d, o, "conversation_id");
    if (!c->id)
        c->id = pick_text(a, &d, o, "id");
    if (!c->id || !json_is(mapping, JSON_OBJECT)) {
        skip_span(j, "conversations without id or mapping", s->spans.items);
        return false;
    }
    c->title = pick_text(a, &d, o, "title");
    c->model = pick_text(a, &d, o, "default_model_slug");
    c->created = pick_time(a, &d, o, "create_time");
    c->current = pick_text(a, &d, o, "current_node");
    c->archived = pick_true(&d, o, "is_archived");
    for (const json_node *k = json_first(&d, mapping); k; k = json_next(&d, mapping, k)) {
        const json_node *v = json_next(&d, mapping, k);
        node_take(j, c, &d, mapping, json_text(a, &d, k), v);
        k = v;
    }
    return true;
}

const foreign_reader foreign_chatgpt = {.index = index_file, .load = load};
