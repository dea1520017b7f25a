/* SPDX-License-Identifier: Apache-2.0
 *
 * librechat.c: conversations exported by LibreChat as JSON: {conversationId, title, messages}.
 *
 *   L1  Messages name their parents (parentMessageId; a first one names a uuid of zeros). They are
 *       a list (`messages`), or nested in `children` (`messagesTree`, or `messages` of a recursive
 *       export).
 *   L2  A fork is another conversation with copies under new ids.
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

static void call_take(foreign_message *m, const json_doc *d, const json_node *call)
{
    arena *a = m->conversation->mem;
    const json_node *args = json_get(d, call, "args"), *output = json_get(d, call, "output");
    const json_node *function = json_get(d, call, "function");
    const char *id = pick_text(a, d, call, "id"), *name = pick_text(a, d, call, "name");
    if (!args)
        args = json_get(d, function, "arguments");
    msg_call(m, id ? id : call_id_of(a, m->created),
             name ? name : pick_text(a, d, function, "name"),
             json_is(args, JSON_STRING) ? json_or_text(a, json_text(a, d, args))
             : args                     ? pick_json(a, d, args)
                                        : NULL);
    if (output && !json_is(output, JSON_NULL))
        msg_result(m, id ? id : call_id_of(a, m->created), pick_json(a, d, output), false);
}

static void piece_take(foreign_message *m, const json_doc *d, const json_node *p)
{
    arena *a = m->conversation->mem;
    const json_node *type = json_get(d, p, "type"), *text = json_get(d, p, "text");
    if (pick_is(d, type, "text"))
        msg_text(m, json_is(text, JSON_OBJECT) ? pick_text(a, d, text, "value")
                                               : json_text(a, d, text));
    else if (pick_is(d, type, "think"))
        msg_thinking(m, pick_text(a, d, p, "think"));
    else if (pick_is(d, type, "tool_call"))
        call_take(m, d, json_get(d, p, "tool_call"));
    else if (pick_is(d, type, "error"))
        msg_text(m, pick_text(a, d, p, "error"));
    else if (json_is(p, JSON_OBJECT))
        msg_data(m, pick_json(a, d, p));
}

static void files_take(foreign_message *m, const json_doc *d, const json_node *list)
{
    arena *a = m->conversation->mem;
    for (const json_node *f = json_is(list, JSON_ARRAY) ? json_first(d, list) : NULL; f;
         f = json_next(d, list, f)) {
        const char *path = pick_text(a, d, f, "filepath"), *id = pick_text(a, d, f, "file_id");
        if (path || id)
            msg_url(m, path ? path : arena_printf(a, "librechat:%s", id),
                    pick_text(a, d, f, "filename"), pick_text(a, d, f, "type"));
    }
}

static void message_take(foreign_job *j, foreign_conversation *c, const json_doc *d,
                         const json_node *o)
{
    arena *a = c->mem;
    foreign_message m;
    const json_node *content = json_get(d, o, "content"), *by = json_get(d, o, "isCreatedByUser");
    const char *parent = pick_text(a, d, o, "parentMessageId"), *model;
    bool user = by ? json_is(by, JSON_TRUE) : pick_is(d, json_get(d, o, "sender"), "User");
    msg_begin(&m, j, c, pick_text(a, d, o, "messageId"), user ? RAMET_USER : RAMET_ASSISTANT,
              pick_time(a, d, o, "createdAt"));
    if (parent && strncmp(parent, "00000000-0000-", 14) != 0)
        m.parent = parent;
    for (const json_node *p = json_is(content, JSON_ARRAY) ? json_first(d, content) : NULL; p;
         p = json_next(d, content, p))
        piece_take(&m, d, p);
    if (!m.n_said && !m.n_results && !m.steps)
        msg_text(&m, pick_text(a, d, o, "text"));
    files_take(&m, d, json_get(d, o, "files"));
    if (!user && (model = pick_text(a, d, o, "model")))
        c->model = model;
    msg_end(&m);
}

/* JSON has at most MAX_NESTING levels, two for each message: so deep is the recursion. */
static void messages_take(foreign_job *j, foreign_conversation *c, const json_doc *d,
                          const json_node *list)
{
    for (const json_node *o = json_is(list, JSON_ARRAY) ? json_first(d, list) : NULL; o;
         o = json_next(d, list, o)) {
        message_take(j, c, d, o);
        messages_take(j, c, d, json_get(d, o, "children"));
    }
}

/* The newest message was shown last. */
static void current_find(foreign_conversation *c)
{
    const foreign_node *newest = NULL;
    for (size_t i = 0; i < c->nodes.n; i++)
        if (c->nodes.items[i].role && (!newest || c->nodes.items[i].created >= newest->created))
            newest = &c->nodes.items[i];
    c->current = newest ? newest->id : NULL;
}

static bool load(foreign_job *j, const foreign_source *s, foreign_conversation *c)
{
    json_doc d;
    arena *a = c->mem;
    if (!source_parse(j, s, c->mem, &d))
        return false;
    const json_node *o = d.nodes, *list = json_get(&d, o, "messagesTree");
    if (!list)
        list = json_get(&d, o, "messages");
    c->id = pick_text(a, &d, o, "conversationId");
    if (!c->id || !json_is(list, JSON_ARRAY)) {
        skip_span(j, "conversations without conversationId or messages", s->spans.items);
        return false;
    }
    c->title = pick_text(a, &d, o, "title");
    c->model = pick_text(a, &d, json_get(&d, o, "options"), "model");
    messages_take(j, c, &d, list);
    current_find(c);
    return true;
}

const foreign_reader foreign_librechat = {.index = index_file, .load = load};
