/* SPDX-License-Identifier: Apache-2.0
 *
 * input.c: what a client sends as entries: the items of a response, the messages of a chat.
 *
 * A message whose text is all of it becomes an entry of that text. What the parts of an entry
 * cannot say (a detail, an encrypted content, an unknown kind of item) is in its body: the bytes
 * that the client sent. Leading system and developer messages belong to the turn, not to the
 * history: they are collected as instructions.
 */
#include "face/openai/openai_face.h"

#include <string.h>

#define PARTS_BYTES ((size_t)64 << 20)

#define refuse(q, field, ...) openai_refuse(q, "invalid_value", field, __VA_ARGS__)

/* A list of parts that is being written. */
typedef struct parts {
    buf out;
    json_writer w;
    bool plain; /* one text and nothing else */
    size_t n;
    const char *text; /* the last one */
} parts;

static void parts_begin(parts *p)
{
    buf_init(&p->out, PARTS_BYTES);
    jw_init(&p->w, &p->out, 0);
    jw_array(&p->w);
    p->plain = true;
    p->n = 0;
    p->text = "";
}

static void parts_text(parts *p, const char *type, const char *text)
{
    jw_object(&p->w);
    jw_kstr(&p->w, "type", type);
    jw_kstr(&p->w, "text", text);
    jw_end_object(&p->w);
    p->plain = p->plain && !p->n && strcmp(type, "text") == 0;
    p->text = text;
    p->n++;
}

static void parts_file(parts *p, const char *url, const char *name, const char *media)
{
    jw_object(&p->w);
    jw_kstr(&p->w, "type", "file");
    jw_kstr(&p->w, "url", url);
    if (name)
        jw_kstr(&p->w, "name", name);
    if (media)
        jw_kstr(&p->w, "media_type", media);
    jw_end_object(&p->w);
    p->plain = false;
    p->n++;
}

/* Fills the entry with the parts, or with their only text. */
static bool parts_end(request *q, parts *p, const char *field, ramet_entry_in *out)
{
    jw_end_array(&p->w);
    bool plain = p->plain && p->n == 1;
    const char *all = buf_keep_whole(&p->out, q->arena);
    if (!all)
        return refuse(q, field, "%s is too large", field);
    if (plain)
        out->text = p->text;
    else
        out->parts = all;
    return true;
}

/* ------------------------------------------------------------------ content */

static const char *text_of(request *q, const json_doc *d, const json_node *v, const char *key)
{
    return json_text(q->arena, d, json_get(d, v, key));
}

static bool is_url(const char *url)
{
    return strncmp(url, "data:", 5) == 0 || strncmp(url, "https://", 8) == 0 ||
           strncmp(url, "http://", 7) == 0;
}

static bool content_image(request *q, const char *field, const char *url, parts *p)
{
    if (!url)
        return refuse(q, field,
                      "%s: an image needs image_url; this server keeps no files by file_id", field);
    if (!is_url(url))
        return refuse(q, field, "%s: image_url must be an http(s) or a data URL", field);
    parts_file(p, url, NULL, "image/*");
    return true;
}

static bool content_file(request *q, const json_doc *d, const json_node *v, const char *field,
                         parts *p)
{
    const char *data = text_of(q, d, v, "file_data"), *url = text_of(q, d, v, "file_url");
    const char *name = text_of(q, d, v, "filename");
    if (!data && !url)
        return refuse(q, field,
                      "%s: a file needs file_data or file_url; this server keeps no files "
                      "by file_id",
                      field);
    if (!is_url(data ? data : url))
        return refuse(q, field, "%s: file_data must be a data URL, file_url an http(s) URL", field);
    parts_file(p, data ? data : url, name, NULL);
    return true;
}

/* One part of a message's content, of either API. */
static bool content_part(request *q, const json_doc *d, const json_node *v, const char *field,
                         parts *p)
{
    const char *type = text_of(q, d, v, "type");
    const char *text = text_of(q, d, v, "text");
    if (!type)
        return refuse(q, field, "%s: a part of the content needs a type", field);
    if (strcmp(type, "refusal") == 0)
        text = text_of(q, d, v, "refusal");
    if (strcmp(type, "input_text") == 0 || strcmp(type, "output_text") == 0 ||
        strcmp(type, "text") == 0 || strcmp(type, "refusal") == 0) {
        if (!text)
            return refuse(q, field, "%s: its text is missing", field);
        parts_text(p, "text", text);
        return true;
    }
    if (strcmp(type, "input_image") == 0)
        return content_image(q, field, text_of(q, d, v, "image_url"), p);
    if (strcmp(type, "image_url") == 0)
        return content_image(q, field, text_of(q, d, json_get(d, v, "image_url"), "url"), p);
    if (strcmp(type, "input_file") == 0)
        return content_file(q, d, v, field, p);
    if (strcmp(type, "file") == 0)
        return content_file(q, d, json_get(d, v, "file"), field, p);
    request_fail(q, 400, "invalid_value", field, "%s: content of type '%.40s' is not supported",
                 field, type);
    return false;
}

static bool content_read(request *q, const json_doc *d, const json_node *content, const char *field,
                         parts *p)
{
    if (json_is(content, JSON_STRING)) {
        parts_text(p, "text", json_text(q->arena, d, content));
        return true;
    }
    if (!json_is(content, JSON_ARRAY))
        return refuse(q, field, "%s must be a text or a list of parts", field);
    size_t i = 0;
    for (const json_node *v = json_first(d, content); v; v = json_next(d, content, v), i++)
        if (!content_part(q, d, v, arena_printf(q->arena, "%s[%zu]", field, i), p))
            return false;
    return true;
}

/* ------------------------------------------------------------------ items */

static ramet_role role_of(const char *role)
{
    return !role                            ? 0
           : strcmp(role, "user") == 0      ? RAMET_USER
           : strcmp(role, "assistant") == 0 ? RAMET_ASSISTANT
           : strcmp(role, "system") == 0    ? RAMET_SYSTEM
           : strcmp(role, "developer") == 0 ? RAMET_SYSTEM
                                            : 0;
}

static void body_keep(request *q, const json_doc *d, const json_node *item, ramet_entry_in *out)
{
    out->format = "openai";
    out->body = json_raw(q->arena, d, item);
    if (out->text) {
        out->parts = arena_printf(q->arena, "[{\"type\":\"text\",\"text\":%s}]",
                                  json_quote(q->arena, out->text));
        out->text = NULL;
    }
}

static bool read_message(request *q, const json_doc *d, const json_node *item, const char *field,
                         ramet_entry_in *out)
{
    const char *role = text_of(q, d, item, "role");
    parts p;
    out->role = role_of(role);
    if (!out->role)
        return refuse(q, arena_printf(q->arena, "%s.role", field),
                      "%s.role must be user, assistant, system or developer", field);
    parts_begin(&p);
    bool fine = content_read(q, d, json_get(d, item, "content"),
                             arena_printf(q->arena, "%s.content", field), &p);
    if (!fine) {
        buf_release(&p.out);
        return false;
    }
    bool plain = p.plain;
    if (!parts_end(q, &p, field, out))
        return false;
    if (!plain || strcmp(role, "developer") == 0)
        body_keep(q, d, item, out);
    return true;
}

/* A value that is JSON as it is, any other text as a JSON string. */
static const char *input_json(request *q, const char *text)
{
    json_doc d;
    bool json = json_parse(q->arena, text, strlen(text), 0, &d, NULL) && !d.nodes[0].has_nul;
    return json ? text : json_quote(q->arena, text);
}

static const char *call_part(request *q, const char *id, const char *name, const char *input)
{
    return arena_printf(q->arena, "[{\"type\":\"tool_call\",\"id\":%s,\"name\":%s,\"input\":%s}]",
                        json_quote(q->arena, id), json_quote(q->arena, name), input);
}

static bool read_call(request *q, const json_doc *d, const json_node *item, const char *field,
                      bool custom, ramet_entry_in *out)
{
    const char *id = text_of(q, d, item, "call_id"), *name = text_of(q, d, item, "name");
    const char *text = text_of(q, d, item, custom ? "input" : "arguments");
    if (!id || !*id || !name || !*name || !text)
        return refuse(q, field, "%s: a call needs call_id, name and its arguments as a text",
                      field);
    out->role = RAMET_ASSISTANT;
    if (custom) {
        const char *input = arena_printf(q->arena, "{\"input\":%s}", json_quote(q->arena, text));
        out->parts = call_part(q, id, name, input);
        body_keep(q, d, item, out);
    } else {
        out->parts = call_part(q, id, name, input_json(q, text));
    }
    return true;
}

static const char *result_part(request *q, const char *id, const char *output)
{
    return arena_printf(q->arena, "[{\"type\":\"tool_result\",\"id\":%s,\"output\":%s}]",
                        json_quote(q->arena, id), output);
}

static bool read_result(request *q, const json_doc *d, const json_node *item, const char *field,
                        bool custom, ramet_entry_in *out)
{
    const char *id = text_of(q, d, item, "call_id");
    const json_node *output = json_get(d, item, "output");
    if (!id || !*id || !output)
        return refuse(q, field, "%s: an output needs call_id and output", field);
    out->role = RAMET_TOOL;
    out->parts = result_part(q, id, json_raw(q->arena, d, output));
    if (custom || !json_is(output, JSON_STRING))
        body_keep(q, d, item, out);
    return true;
}

static void thinking_add(request *q, const json_doc *d, const json_node *list, parts *p)
{
    for (const json_node *v = json_first(d, list); v; v = json_next(d, list, v)) {
        const char *text = text_of(q, d, v, "text");
        if (text)
            parts_text(p, "thinking", text);
    }
}

static bool read_reasoning(request *q, const json_doc *d, const json_node *item, const char *field,
                           ramet_entry_in *out)
{
    const json_node *content = json_get(d, item, "content"), *all = json_get(d, item, "summary");
    parts p;
    out->role = RAMET_ASSISTANT;
    parts_begin(&p);
    if (json_is(content, JSON_ARRAY) && content->count)
        thinking_add(q, d, content, &p);
    else if (json_is(all, JSON_ARRAY))
        thinking_add(q, d, all, &p);
    p.plain = false;
    if (!parts_end(q, &p, field, out))
        return false;
    body_keep(q, d, item, out);
    return true;
}

/* A kind that this server does not know: kept as it is, and not sent to a model. */
static bool read_other(request *q, const json_doc *d, const json_node *item, ramet_entry_in *out)
{
    out->role = RAMET_ASSISTANT;
    out->parts = "[]";
    body_keep(q, d, item, out);
    return true;
}

bool openai_item_read(request *q, const json_doc *d, const json_node *item, const char *field,
                      ramet_entry_in *out)
{
    const char *type = text_of(q, d, item, "type");
    *out = (ramet_entry_in){0};
    if (!json_is(item, JSON_OBJECT) || item->has_nul)
        return refuse(q, field, "%s must be an object without U+0000", field);
    if (!type && json_get(d, item, "role"))
        type = "message";
    if (!type)
        return refuse(q, field, "%s: an item needs a type", field);
    if (strcmp(type, "message") == 0)
        return read_message(q, d, item, field, out);
    bool custom = strncmp(type, "custom_tool_call", 16) == 0;
    if (strcmp(type, "function_call") == 0 || strcmp(type, "custom_tool_call") == 0)
        return read_call(q, d, item, field, custom, out);
    if (strcmp(type, "function_call_output") == 0 || strcmp(type, "custom_tool_call_output") == 0)
        return read_result(q, d, item, field, custom, out);
    if (strcmp(type, "reasoning") == 0)
        return read_reasoning(q, d, item, field, out);
    return read_other(q, d, item, out);
}

/* ------------------------------------------------------------------ lists */

static void input_add(request *q, openai_input *in, const char *name, ramet_entry_in *e)
{
    VEC_PUSH(q->arena, &in->entries, *e);
    VEC_PUSH(q->arena, &in->names, name);
}

/* The text of a system message that leads a list belongs to the turn. */
static bool instructions_add(request *q, openai_input *in, const ramet_entry_in *e)
{
    json_doc d;
    const char *text = e->text;
    if (in->entries.n || e->role != RAMET_SYSTEM)
        return false;
    if (!text && json_parse(q->arena, e->parts, strlen(e->parts), 0, &d, NULL)) {
        text = "";
        for (const json_node *v = json_first(&d, d.nodes); v; v = json_next(&d, d.nodes, v))
            text = arena_printf(q->arena, "%s%s%s", text, *text ? "\n\n" : "",
                                text_of(q, &d, v, "text") ? text_of(q, &d, v, "text") : "");
    }
    in->instructions =
        in->instructions ? arena_printf(q->arena, "%s\n\n%s", in->instructions, text) : text;
    return true;
}

/* The item that a reference stands for: an entry of a turn that the caller may see. It is repeated
 * in the history that the list describes. */
static bool reference_read(request *q, const char *id, const char *field, ramet_entry_in *out)
{
    item_place at;
    const char *session = NULL;
    ramet_turn *turn;
    ramet_entry *e;
    if (!openai_item_parse(q->arena, id ? id : "", &at) || !at.turn ||
        ramet_turn_session(q->call, at.turn, &session) != RAMET_OK || !session ||
        ramet_turn_get(q->call, session, at.turn, &turn) != RAMET_OK ||
        ramet_entry_get(q->call, session, turn->branch, at.entry, &e) != RAMET_OK) {
        request_fail(q, 404, "item_not_found", field, "%s: there is no item '%.80s'", field,
                     id ? id : "");
        return false;
    }
    *out = (ramet_entry_in){.role = e->role, .parts = e->parts};
    if (e->body) {
        out->format = e->format;
        out->body = e->body;
    }
    return true;
}

bool openai_input_read(request *q, const char *field, openai_input *in)
{
    const json_node *input = face_member(q, field);
    size_t i = 0;
    *in = (openai_input){.repeats = json_is(input, JSON_ARRAY)};
    if (json_is(input, JSON_STRING)) {
        ramet_entry_in e = {.role = RAMET_USER, .text = json_text(q->arena, &q->json, input)};
        if (input->has_nul)
            return refuse(q, field, "%s holds U+0000", field);
        input_add(q, in, field, &e);
        return true;
    }
    if (!input)
        return true;
    if (!in->repeats)
        return refuse(q, field, "%s must be a text or a list of items", field);
    if (input->count > OPENAI_INPUT_ITEMS)
        return refuse(q, field, "%s: at most 10,000 items", field);
    for (const json_node *v = json_first(&q->json, input); v;
         v = json_next(&q->json, input, v), i++) {
        const char *name = arena_printf(q->arena, "%s[%zu]", field, i);
        const char *type = text_of(q, &q->json, v, "type");
        ramet_entry_in e;
        if (type && strcmp(type, "item_reference") == 0) {
            if (!reference_read(q, text_of(q, &q->json, v, "id"), name, &e))
                return false;
        } else if (!openai_item_read(q, &q->json, v, name, &e)) {
            return false;
        }
        if (!instructions_add(q, in, &e))
            input_add(q, in, name, &e);
    }
    return true;
}

/* ------------------------------------------------------------------ chat messages */

/* The calls of an assistant message, an entry each. */
static bool chat_calls(request *q, const json_node *calls, const char *field, openai_input *in)
{
    size_t i = 0;
    for (const json_node *v = json_first(&q->json, calls); v;
         v = json_next(&q->json, calls, v), i++) {
        const char *name = arena_printf(q->arena, "%s.tool_calls[%zu]", field, i);
        const json_node *function = json_get(&q->json, v, "function");
        const char *id = text_of(q, &q->json, v, "id");
        const char *called = text_of(q, &q->json, function, "name");
        const char *arguments = text_of(q, &q->json, function, "arguments");
        if (!id || !*id || !called || !*called || !arguments)
            return refuse(q, name, "%s: a call needs id, function.name and function.arguments",
                          name);
        ramet_entry_in e = {.role = RAMET_ASSISTANT,
                            .parts = call_part(q, id, called, input_json(q, arguments))};
        input_add(q, in, name, &e);
    }
    return true;
}

static bool chat_result(request *q, const json_node *v, const char *field, openai_input *in)
{
    const char *id = text_of(q, &q->json, v, "tool_call_id");
    ramet_entry_in text = {0}, e = {.role = RAMET_TOOL};
    json_doc d;
    parts p;
    if (!id || !*id)
        return refuse(q, field, "%s: a message of a tool needs tool_call_id", field);
    parts_begin(&p);
    if (!content_read(q, &q->json, json_get(&q->json, v, "content"),
                      arena_printf(q->arena, "%s.content", field), &p)) {
        buf_release(&p.out);
        return false;
    }
    if (!parts_end(q, &p, field, &text))
        return false;
    if (!text.text) { /* several texts are one output */
        const char *all = "";
        if (json_parse(q->arena, text.parts, strlen(text.parts), 0, &d, NULL))
            for (const json_node *n = json_first(&d, d.nodes); n; n = json_next(&d, d.nodes, n))
                all = arena_printf(q->arena, "%s%s", all,
                                   text_of(q, &d, n, "text") ? text_of(q, &d, n, "text") : "");
        text.text = all;
    }
    e.parts = result_part(q, id, json_quote(q->arena, text.text));
    input_add(q, in, field, &e);
    return true;
}

static bool chat_message(request *q, const json_node *v, const char *field, openai_input *in)
{
    const char *role = text_of(q, &q->json, v, "role");
    const json_node *calls = json_get(&q->json, v, "tool_calls");
    const json_node *content = json_get(&q->json, v, "content");
    ramet_entry_in e = {0};
    if (!json_is(v, JSON_OBJECT) || v->has_nul)
        return refuse(q, field, "%s must be an object without U+0000", field);
    if (role && strcmp(role, "tool") == 0)
        return chat_result(q, v, field, in);
    bool says = content && !json_is(content, JSON_NULL) &&
                !(json_is(content, JSON_STRING) && content->end - content->start == 2 && calls);
    if (says || !calls) {
        if (!read_message(q, &q->json, v, field, &e))
            return false;
        if (!instructions_add(q, in, &e))
            input_add(q, in, field, &e);
    }
    return chat_calls(q, calls, field, in);
}

bool openai_messages_read(request *q, openai_input *in)
{
    const json_node *list = face_member(q, "messages");
    size_t i = 0;
    *in = (openai_input){.repeats = true};
    if (!json_is(list, JSON_ARRAY) || !list->count)
        return refuse(q, "messages", "%s must be a list of messages that is not empty", "messages");
    if (list->count > OPENAI_INPUT_ITEMS)
        return refuse(q, "messages", "%s: at most 10,000 messages", "messages");
    for (const json_node *v = json_first(&q->json, list); v; v = json_next(&q->json, list, v), i++)
        if (!chat_message(q, v, arena_printf(q->arena, "messages[%zu]", i), in))
            return false;
    if (!in->entries.n)
        return refuse(q, "messages", "%s needs a message besides those of the system", "messages");
    return true;
}
