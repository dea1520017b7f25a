/* SPDX-License-Identifier: Apache-2.0
 *
 * openai_jsonl.c: conversations as lines {"messages": […]}, in the shape of OpenAI's chat
 * completions; data sets and logs are kept so.
 *
 *   J1  A line has no id and no times. It is known by its beginning, up to the first answer, and by
 *       how many lines before it began so. A line that has grown is found again.
 */
#include "foreign/foreign.h"

#include <string.h>

static ramet_status index_file(foreign_job *j, const foreign_member *m)
{
    foreign_span s;
    size_t at = 0;
    uint32_t line = 0;
    if (*m->name && !member_ends(m, ".jsonl")) {
        skip_note(j, "files that are not JSON lines (.jsonl)", m, 0);
        return RAMET_OK;
    }
    while (input_line(j, m, &at, &line, &s))
        TRY(source_add(j, NULL, s));
    return RAMET_OK;
}

static ramet_role role_of(const json_doc *d, const json_node *o)
{
    static const struct {
        const char *name;
        ramet_role role;
    } roles[] = {{"user", RAMET_USER},     {"assistant", RAMET_ASSISTANT},
                 {"system", RAMET_SYSTEM}, {"developer", RAMET_SYSTEM},
                 {"tool", RAMET_TOOL},     {"function", RAMET_TOOL}};
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (pick_is(d, json_get(d, o, "role"), roles[i].name))
            return roles[i].role;
    return 0;
}

static void piece_take(foreign_message *m, const json_doc *d, const json_node *p)
{
    arena *a = m->conversation->mem;
    const char *text = pick_text(a, d, p, "text");
    const char *url = pick_text(a, d, json_get(d, p, "image_url"), "url");
    if (text)
        msg_text(m, text);
    else if (url)
        msg_url(m, url, NULL, NULL);
    else if (json_is(p, JSON_OBJECT))
        msg_data(m, pick_json(a, d, p));
}

static const char *content_text(arena *a, const json_doc *d, const json_node *content)
{
    buf b;
    if (json_is(content, JSON_STRING))
        return json_text(a, d, content);
    buf_init(&b, MAX_TEXT_BYTES);
    for (const json_node *p = json_is(content, JSON_ARRAY) ? json_first(d, content) : NULL; p;
         p = json_next(d, content, p)) {
        const char *text = pick_text(a, d, p, "text");
        buf_puts(&b, b.n && text ? "\n" : "");
        buf_puts(&b, text ? text : "");
    }
    return buf_keep(&b, a);
}

static void calls_take(foreign_message *m, const json_doc *d, const json_node *list)
{
    arena *a = m->conversation->mem;
    for (const json_node *t = json_is(list, JSON_ARRAY) ? json_first(d, list) : NULL; t;
         t = json_next(d, list, t)) {
        const json_node *f = json_get(d, t, "function");
        const char *arguments = pick_text(a, d, f, "arguments");
        msg_call(m, pick_text(a, d, t, "id"), pick_text(a, d, f, "name"),
                 arguments ? json_or_text(a, arguments) : NULL);
    }
}

static int64_t message_take(foreign_job *j, foreign_conversation *c, const json_doc *d,
                            const json_node *o, int64_t before)
{
    arena *a = c->mem;
    foreign_message m;
    ramet_role role = role_of(d, o);
    const json_node *content = json_get(d, o, "content");
    if (!role) {
        skip_note(j, "messages of an unknown role", NULL, 0);
        return before;
    }
    msg_begin(&m, j, c, NULL, role, 0);
    m.up = before;
    msg_thinking(&m, pick_text(a, d, o, "reasoning_content"));
    if (role == RAMET_TOOL) {
        const char *id = pick_text(a, d, o, "tool_call_id");
        msg_result(&m, id ? id : pick_text(a, d, o, "name"),
                   json_quote(a, content_text(a, d, content)), false);
    } else if (json_is(content, JSON_STRING))
        msg_text(&m, json_text(a, d, content));
    for (const json_node *p =
             role != RAMET_TOOL && json_is(content, JSON_ARRAY) ? json_first(d, content) : NULL;
         p; p = json_next(d, content, p))
        piece_take(&m, d, p);
    calls_take(&m, d, json_get(d, o, "tool_calls"));
    return msg_end(&m);
}

static bool load(foreign_job *j, const foreign_source *s, foreign_conversation *c)
{
    json_doc d;
    int64_t before = -1;
    if (!foreign_parse(c->mem, s->spans.items, &d)) {
        skip_span(j, "lines that are not JSON objects", s->spans.items);
        return false;
    }
    const json_node *list = json_get(&d, d.nodes, "messages");
    if (!json_is(list, JSON_ARRAY)) {
        skip_span(j, "lines without messages", s->spans.items);
        return false;
    }
    c->model = pick_text(c->mem, &d, d.nodes, "model");
    for (const json_node *o = json_first(&d, list); o; o = json_next(&d, list, o))
        before = message_take(j, c, &d, o, before);
    return true;
}

const foreign_reader foreign_openai_jsonl = {.index = index_file, .load = load};
