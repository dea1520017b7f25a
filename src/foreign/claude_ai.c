/* SPDX-License-Identifier: Apache-2.0
 *
 * claude_ai.c: the data export of claude.ai: conversations.json.
 *
 *   A1  `chat_messages` is a list. Where a message has parent_message_uuid, it is a tree (a first
 *       message names a uuid of zeros); otherwise each message follows the one before it.
 *   A2  Attachments have the text that was taken from them; other files have only their names.
 */
#include "foreign/foreign.h"

#include <string.h>

static ramet_status index_file(foreign_job *j, const foreign_member *m)
{
    if (*m->name && strcmp(member_base(m), "conversations.json") != 0) {
        skip_note(j, "other files of the export", m, 0);
        return RAMET_OK;
    }
    return input_elements(j, m);
}

static const char *result_text(arena *a, const json_doc *d, const json_node *content)
{
    buf b;
    if (json_is(content, JSON_STRING))
        return pick_json(a, d, content);
    buf_init(&b, MAX_TEXT_BYTES);
    for (const json_node *p = json_is(content, JSON_ARRAY) ? json_first(d, content) : NULL; p;
         p = json_next(d, content, p)) {
        const char *text = pick_text(a, d, p, "text");
        if (!text) {
            buf_release(&b);
            return pick_json(a, d, content);
        }
        buf_puts(&b, b.n ? "\n" : "");
        buf_puts(&b, text);
    }
    return json_quote(a, buf_keep(&b, a));
}

static void block_take(foreign_message *m, const json_doc *d, const json_node *b)
{
    arena *a = m->conversation->mem;
    const json_node *type = json_get(d, b, "type"), *input = json_get(d, b, "input");
    if (pick_is(d, type, "text"))
        msg_text(m, pick_text(a, d, b, "text"));
    else if (pick_is(d, type, "thinking"))
        msg_thinking(m, pick_text(a, d, b, "thinking"));
    else if (pick_is(d, type, "tool_use")) {
        const char *id = pick_text(a, d, b, "id");
        msg_call(m, id ? id : call_id_of(a, m->created), pick_text(a, d, b, "name"),
                 input ? pick_json(a, d, input) : NULL);
    } else if (pick_is(d, type, "tool_result")) {
        const char *id = pick_text(a, d, b, "tool_use_id");
        msg_result(m, id ? id : call_id_of(a, m->created),
                   result_text(a, d, json_get(d, b, "content")), pick_true(d, b, "is_error"));
    } else if (pick_is(d, type, "token_budget"))
        return;
    else
        msg_data(m, pick_json(a, d, b));
}

static void files_take(foreign_message *m, const json_doc *d, const json_node *o)
{
    arena *a = m->conversation->mem;
    const json_node *list = json_get(d, o, "attachments"), *named = json_get(d, o, "files");
    for (const json_node *f = json_is(list, JSON_ARRAY) ? json_first(d, list) : NULL; f;
         f = json_next(d, list, f)) {
        const char *text = pick_text(a, d, f, "extracted_content");
        if (text && *text)
            msg_bytes(m, text, strlen(text), pick_text(a, d, f, "file_name"), "text/plain");
    }
    for (const json_node *f = json_is(named, JSON_ARRAY) ? json_first(d, named) : NULL; f;
         f = json_next(d, named, f)) {
        const char *name = pick_text(a, d, f, "file_name"), *id = pick_text(a, d, f, "file_uuid");
        if (name)
            msg_url(m, arena_printf(a, "claude-ai:%s", id ? id : name), name, NULL);
    }
}

static int64_t message_take(foreign_job *j, foreign_conversation *c, const json_doc *d,
                            const json_node *o, int64_t before)
{
    arena *a = c->mem;
    foreign_message m;
    const json_node *content = json_get(d, o, "content");
    bool user = pick_is(d, json_get(d, o, "sender"), "human");
    const char *parent = pick_text(a, d, o, "parent_message_uuid");
    msg_begin(&m, j, c, pick_text(a, d, o, "uuid"), user ? RAMET_USER : RAMET_ASSISTANT,
              pick_time(a, d, o, "created_at"));
    if (!parent)
        m.up = before;
    else if (strncmp(parent, "00000000-0000-", 14) != 0)
        m.parent = parent;
    for (const json_node *b = json_is(content, JSON_ARRAY) ? json_first(d, content) : NULL; b;
         b = json_next(d, content, b))
        block_take(&m, d, b);
    if (!m.n_said && !m.n_results && !m.steps)
        msg_text(&m, pick_text(a, d, o, "text"));
    files_take(&m, d, o);
    return msg_end(&m);
}

static bool load(foreign_job *j, const foreign_source *s, foreign_conversation *c)
{
    json_doc d;
    arena *a = c->mem;
    int64_t before = -1;
    if (!source_parse(j, s, c->mem, &d))
        return false;
    const json_node *o = d.nodes, *list = json_get(&d, o, "chat_messages");
    c->id = pick_text(a, &d, o, "uuid");
    if (!c->id || !json_is(list, JSON_ARRAY)) {
        skip_span(j, "conversations without uuid or chat_messages", s->spans.items);
        return false;
    }
    c->title = pick_text(a, &d, o, "name");
    c->model = pick_text(a, &d, o, "model");
    c->created = pick_time(a, &d, o, "created_at");
    c->current = pick_text(a, &d, o, "current_leaf_message_uuid");
    for (const json_node *m = json_first(&d, list); m; m = json_next(&d, list, m))
        before = message_take(j, c, &d, m, before);
    return true;
}

const foreign_reader foreign_claude_ai = {.index = index_file, .load = load};
