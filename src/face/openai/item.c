/* SPDX-License-Identifier: Apache-2.0
 *
 * item.c: entries as items. An entry that came as an item is shown as it came, with its id; any
 * other one by its parts.
 */
#include "face/openai/openai_face.h"

#include <string.h>

bool openai_is_output(const ramet_entry *e)
{
    bool answers = e->role == RAMET_ASSISTANT || e->role == RAMET_TOOL;
    return answers && e->turn_id && e->author && *e->author;
}

/* ------------------------------------------------------------------ items of answers */

static void item_begin(json_writer *w, const char *id, const char *type, const char *status)
{
    jw_object(w);
    jw_kstr(w, "id", id);
    jw_kstr(w, "type", type);
    if (status)
        jw_kstr(w, "status", status);
}

static const char *status_of(bool done)
{
    return done ? "completed" : "in_progress";
}

void openai_text_part(json_writer *w, const char *text)
{
    jw_object(w);
    jw_kstr(w, "type", "output_text");
    jw_kstr(w, "text", text);
    jw_kraw(w, "annotations", "[]");
    jw_kraw(w, "logprobs", "[]");
    jw_end_object(w);
}

void openai_message_item(json_writer *w, const char *id, const char *text, bool done)
{
    item_begin(w, id, "message", status_of(done));
    jw_kstr(w, "role", "assistant");
    jw_key(w, "content");
    jw_array(w);
    if (done)
        openai_text_part(w, text);
    jw_end_array(w);
    jw_end_object(w);
}

void openai_reasoning_item(json_writer *w, const char *id, const char *text)
{
    item_begin(w, id, "reasoning", NULL);
    jw_kraw(w, "summary", "[]");
    jw_key(w, "content");
    jw_array(w);
    if (text) {
        jw_object(w);
        jw_kstr(w, "type", "reasoning_text");
        jw_kstr(w, "text", text);
        jw_end_object(w);
    }
    jw_end_array(w);
    jw_kstr(w, "encrypted_content", NULL);
    jw_end_object(w);
}

void openai_call_item(json_writer *w, const char *id, const char *call_id, const char *name,
                      const char *arguments, bool done, bool custom)
{
    item_begin(w, id, custom ? "custom_tool_call" : "function_call", status_of(done));
    jw_kstr(w, "call_id", call_id);
    jw_kstr(w, "name", name);
    jw_kstr(w, custom ? "input" : "arguments", arguments);
    jw_end_object(w);
}

const char *openai_arguments(arena *a, const json_doc *d, const json_node *input)
{
    return json_is(input, JSON_STRING) ? json_text(a, d, input) : json_raw(a, d, input);
}

const char *openai_custom_input(arena *a, const char *arguments)
{
    json_doc d;
    const char *text = NULL;
    if (json_parse(a, arguments, strlen(arguments), 0, &d, NULL))
        text = json_text(a, &d, json_get(&d, d.nodes, "input"));
    return text ? text : arguments;
}

/* ------------------------------------------------------------------ entries */

typedef struct writing {
    arena *mem;
    const ramet_entry *entry;
    item_writer *each;
    void *arg;
} writing;

/* Opens an item in `b`; emit() closes it. */
static json_writer item_open(buf *b)
{
    json_writer w;
    buf_init(b, OPENAI_BYTES);
    jw_init(&w, b, 0);
    return w;
}

static void emit(writing *to, const char *id, buf *b)
{
    to->each(to->arg, id, buf_keep(b, to->mem));
}

static const char *id_of(writing *to, const char *prefix, size_t part)
{
    item_place at = {to->entry->turn_id, to->entry->id, part};
    return openai_item_id(to->mem, prefix, &at);
}

static const char *prefix_of(const char *type)
{
    return strcmp(type, "message") == 0            ? "msg_"
           : strcmp(type, "reasoning") == 0        ? "rs_"
           : strcmp(type, "function_call") == 0    ? "fc_"
           : strcmp(type, "custom_tool_call") == 0 ? "ctc_"
           : strstr(type, "_output")               ? "out_"
                                                   : "item_";
}

/* The members of an item as the client sent it, with our id. */
static void body_write(json_writer *w, arena *a, const json_doc *d, const char *id, bool status)
{
    jw_object(w);
    jw_kstr(w, "id", id);
    for (const json_node *k = json_first(d, d->nodes); k; k = json_next(d, d->nodes, k)) {
        const char *key = json_text(a, d, k);
        k = json_next(d, d->nodes, k);
        if (strcmp(key, "id") == 0 || strcmp(key, "status") == 0)
            continue;
        if (strcmp(key, "content") == 0 && json_is(k, JSON_STRING)) {
            jw_key(w, key);
            jw_array(w);
            jw_object(w);
            jw_kstr(w, "type", "input_text");
            jw_kstr(w, "text", json_text(a, d, k));
            jw_end_object(w);
            jw_end_array(w);
        } else {
            jw_kraw(w, key, json_raw(a, d, k));
        }
    }
    if (status)
        jw_kstr(w, "status", "completed");
    jw_end_object(w);
}

static bool body_item(writing *to)
{
    const ramet_entry *e = to->entry;
    json_doc d;
    buf b;
    if (!e->body || strcmp(e->format, "openai") != 0 ||
        !json_parse(to->mem, e->body, strlen(e->body), 0, &d, NULL) ||
        !json_is(d.nodes, JSON_OBJECT))
        return false;
    const char *type = json_text(to->mem, &d, json_get(&d, d.nodes, "type"));
    bool typed = type != NULL;
    if (!type)
        type = "message";
    const char *id = id_of(to, prefix_of(type), 0);
    json_writer w = item_open(&b);
    body_write(&w, to->mem, &d, id, strcmp(type, "reasoning") != 0);
    if (!typed) { /* an easy message has no type */
        b.n--;
        buf_puts(&b, ",\"type\":\"message\"}");
    }
    emit(to, id, &b);
    return true;
}

static void content_write(json_writer *w, arena *a, const json_doc *d, const json_node *v)
{
    const char *type = json_text(a, d, json_get(d, v, "type"));
    const char *url = json_text(a, d, json_get(d, v, "url"));
    const char *media = json_text(a, d, json_get(d, v, "media_type"));
    const char *name = json_text(a, d, json_get(d, v, "name"));
    if (strcmp(type, "text") == 0) {
        jw_object(w);
        jw_kstr(w, "type", "input_text");
        jw_kraw(w, "text", json_raw(a, d, json_get(d, v, "text")));
        jw_end_object(w);
    } else if (strcmp(type, "file") == 0 && url) {
        bool image =
            (media && strncmp(media, "image/", 6) == 0) || strncmp(url, "data:image/", 11) == 0;
        jw_object(w);
        jw_kstr(w, "type", image ? "input_image" : "input_file");
        if (image)
            jw_kstr(w, "detail", "auto");
        else
            jw_kstr(w, "filename", name);
        jw_kstr(w, image ? "image_url" : "file_url", url);
        jw_end_object(w);
    }
}

/* A message of a user or the system: one item, whatever parts it has. */
static void message_whole(writing *to, const json_doc *d)
{
    const ramet_entry *e = to->entry;
    buf b;
    json_writer w = item_open(&b);
    const char *id = id_of(to, "msg_", 0);
    item_begin(&w, id, "message", "completed");
    jw_kstr(&w, "role", e->role == RAMET_SYSTEM ? "system" : "user");
    jw_key(&w, "content");
    jw_array(&w);
    for (const json_node *v = json_first(d, d->nodes); v; v = json_next(d, d->nodes, v))
        content_write(&w, to->mem, d, v);
    jw_end_array(&w);
    jw_end_object(&w);
    emit(to, id, &b);
}

static void output_write(json_writer *w, const char *id, const char *call, const json_doc *d,
                         const json_node *output, arena *a)
{
    item_begin(w, id, "function_call_output", "completed");
    jw_kstr(w, "call_id", call);
    if (json_is(output, JSON_STRING) || json_is(output, JSON_ARRAY))
        jw_kraw(w, "output", json_raw(a, d, output));
    else
        jw_kstr(w, "output", json_raw(a, d, output));
    jw_end_object(w);
}

static void part_item(writing *to, const json_doc *d, const json_node *v, size_t part)
{
    arena *a = to->mem;
    const char *type = json_text(a, d, json_get(d, v, "type"));
    const char *call = json_text(a, d, json_get(d, v, "id")), *id;
    buf b;
    json_writer w = item_open(&b);
    if (strcmp(type, "text") == 0) {
        id = id_of(to, "msg_", part);
        openai_message_item(&w, id, json_text(a, d, json_get(d, v, "text")), true);
    } else if (strcmp(type, "thinking") == 0) {
        id = id_of(to, "rs_", part);
        openai_reasoning_item(&w, id, json_text(a, d, json_get(d, v, "text")));
    } else if (strcmp(type, "tool_call") == 0) {
        id = id_of(to, "fc_", part);
        openai_call_item(&w, id, call, json_text(a, d, json_get(d, v, "name")),
                         openai_arguments(a, d, json_get(d, v, "input")), true, false);
    } else if (strcmp(type, "tool_result") == 0) {
        id = id_of(to, "out_", part);
        output_write(&w, id, call, d, json_get(d, v, "output"), a);
    } else {
        buf_release(&b);
        return;
    }
    emit(to, id, &b);
}

void openai_items_of(arena *a, const ramet_entry *e, item_writer *each, void *arg)
{
    writing to = {a, e, each, arg};
    json_doc d;
    size_t part = 0;
    if (body_item(&to) || !e->parts || !json_parse(a, e->parts, strlen(e->parts), 0, &d, NULL))
        return;
    if (e->role == RAMET_USER || e->role == RAMET_SYSTEM) {
        message_whole(&to, &d);
        return;
    }
    for (const json_node *v = json_first(&d, d.nodes); v; v = json_next(&d, d.nodes, v))
        part_item(&to, &d, v, part++);
}

/* ------------------------------------------------------------------ lists */

enum { LIST_DEFAULT = 20 };

void openai_item_collect(void *arg, const char *id, const char *json)
{
    item_list *list = arg;
    VEC_PUSH(list->mem, &list->ids, id);
    VEC_PUSH(list->mem, &list->items, json);
}

static size_t list_at(const item_list *list, size_t i, bool newest)
{
    return newest ? list->items.n - 1 - i : i;
}

void openai_list_answer(request *q, const item_list *list, bool more)
{
    const char *order = request_query(q, "order"), *after = request_query(q, "after");
    bool newest = !order || strcmp(order, "asc") != 0;
    int64_t limit = LIST_DEFAULT;
    size_t from = 0, n = list->items.n;
    face_query_int(q, "limit", &limit);
    while (after && from < n && strcmp(list->ids.items[list_at(list, from, newest)], after) != 0)
        from++;
    from += after && from < n;
    size_t to = n - from > (size_t)limit ? from + (size_t)limit : n;
    json_writer *w = &q->writer;
    jw_object(w);
    jw_kstr(w, "object", "list");
    jw_key(w, "data");
    jw_array(w);
    for (size_t i = from; i < to; i++)
        jw_raw(w, list->items.items[list_at(list, i, newest)]);
    jw_end_array(w);
    jw_kstr(w, "first_id", to > from ? list->ids.items[list_at(list, from, newest)] : NULL);
    jw_kstr(w, "last_id", to > from ? list->ids.items[list_at(list, to - 1, newest)] : NULL);
    jw_kbool(w, "has_more", to < n || more);
    jw_end_object(w);
    face_done(q);
}
