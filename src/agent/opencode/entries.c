/* SPDX-License-Identifier: Apache-2.0
 *
 * entries.c: messages of OpenCode as entries, as a turn would have recorded them: text and thinking
 * together, each tool call and each result by itself.
 */
#include "agent/opencode/opencode.h"

#include <string.h>

enum { MAX_ENTRY_BYTES = 8 << 20, MAX_CHANGES_BYTES = 256 << 10 };

const char *oc_entry_id(arena *a, const char *message, size_t k)
{
    uint8_t raw[HASH_LEN];
    char id[UUID_TEXT];
    const char *name = arena_printf(a, "opencode\n%s\n%zu", message, k);
    sha_of(name, strlen(name), raw);
    return arena_strdup(a, uuid8(raw, id));
}

typedef struct maker {
    arena *arena;
    oc_entries *to;
    const char *message, *turn, *author;
    int64_t created;
    size_t k;
    buf parts; /* of the entry in progress; empty: none */
    ramet_role role;
} maker;

static void entry_end(maker *m)
{
    if (!m->parts.n)
        return;
    buf_putc(&m->parts, ']');
    ramet_entry_in e = {.id = oc_entry_id(m->arena, m->message, m->k++),
                        .role = m->role,
                        .parts = m->parts.over ? "[{\"type\":\"text\",\"text\":\"[too large]\"}]"
                                               : arena_memdup(m->arena, m->parts.data, m->parts.n),
                        .turn_id = m->turn,
                        .author = m->role == RAMET_USER ? NULL : m->author,
                        .created = m->created};
    VEC_PUSH(m->arena, m->to, e);
    buf_release(&m->parts);
    buf_init(&m->parts, MAX_ENTRY_BYTES);
}

static void part_add(maker *m, ramet_role role, const char *json)
{
    if (m->parts.n && m->role != role)
        entry_end(m);
    m->role = role;
    buf_putc(&m->parts, m->parts.n ? ',' : '[');
    buf_puts(&m->parts, json);
}

static void text_add(maker *m, ramet_role role, const char *type, const char *text)
{
    if (text && *text)
        part_add(m, role,
                 arena_printf(m->arena, "{\"type\":\"%s\",\"text\":%s}", type,
                              json_quote(m->arena, text)));
}

static void tool_add(maker *m, const json_doc *d, const json_node *part)
{
    arena *a = m->arena;
    const json_node *state = json_get(d, part, "state"), *input = json_get(d, state, "input");
    const char *call = oc_text(a, d, part, "callID"), *name = oc_text(a, d, part, "tool");
    bool failed = oc_is(a, d, state, "status", "error");
    const char *out = oc_text(a, d, state, failed ? "error" : "output");
    if (!call || oc_is(a, d, state, "status", "pending"))
        return;
    entry_end(m);
    part_add(m, RAMET_ASSISTANT,
             arena_printf(a, "{\"type\":\"tool_call\",\"id\":%s,\"name\":%s,\"input\":%s}",
                          json_quote(a, call), json_quote(a, name ? name : "tool"),
                          input ? json_raw(a, d, input) : "{}"));
    entry_end(m);
    if (!out)
        return;
    part_add(m, RAMET_TOOL,
             arena_printf(a, "{\"type\":\"tool_result\",\"id\":%s,\"output\":%s%s}",
                          json_quote(a, call), json_quote(a, out),
                          failed ? ",\"is_error\":true" : ""));
    entry_end(m);
}

static void file_add(maker *m, ramet_role role, const json_doc *d, const json_node *part)
{
    arena *a = m->arena;
    const char *name = oc_text(a, d, part, "filename"), *media = oc_text(a, d, part, "mime");
    text_add(m, role, "text",
             arena_printf(a, "[file%s%s%s%s%s]", name ? " " : "", name ? name : "",
                          media ? " (" : "", media ? media : "", media ? ")" : ""));
}

static void message_part(maker *m, ramet_role role, const json_doc *d, const json_node *part)
{
    arena *a = m->arena;
    const char *type = oc_text(a, d, part, "type");
    if (!type || json_is(json_get(d, part, "synthetic"), JSON_TRUE))
        return;
    if (strcmp(type, "text") == 0)
        text_add(m, role, "text", oc_text(a, d, part, "text"));
    else if (strcmp(type, "reasoning") == 0)
        text_add(m, role, "thinking", oc_text(a, d, part, "text"));
    else if (strcmp(type, "tool") == 0)
        tool_add(m, d, part);
    else if (strcmp(type, "file") == 0)
        file_add(m, role, d, part);
}

/* An answer that failed says so in its last part, as one of a turn does. */
static void error_add(maker *m, const json_doc *d, const json_node *error)
{
    arena *a = m->arena;
    const char *text = oc_text(a, d, json_get(d, error, "data"), "message");
    const char *name = oc_text(a, d, error, "name");
    bool aborted = name && strcmp(name, "MessageAbortedError") == 0;
    if (!json_is(error, JSON_OBJECT))
        return;
    part_add(m, RAMET_ASSISTANT,
             arena_printf(a, "{\"type\":\"data\",\"data\":{\"turn\":\"%s\",\"error\":%s}}",
                          aborted ? "cancelled" : "failed",
                          json_quote(a, text   ? text
                                        : name ? name
                                               : "")));
}

static const ramet_usage *usage_make(arena *a, const json_doc *d, const json_node *info)
{
    const json_node *tokens = json_get(d, info, "tokens"), *cache = json_get(d, tokens, "cache");
    ramet_usage *u = arena_alloc(a, sizeof *u);
    int64_t write = 0, reasoning = 0;
    json_int(d, json_get(d, tokens, "input"), &u->input);
    json_int(d, json_get(d, tokens, "output"), &u->output);
    json_int(d, json_get(d, tokens, "reasoning"), &reasoning);
    json_int(d, json_get(d, cache, "read"), &u->cached);
    json_int(d, json_get(d, cache, "write"), &write);
    u->input += u->cached + write;
    u->output += reasoning;
    if (json_is(json_get(d, info, "cost"), JSON_NUMBER))
        json_nano(d, json_get(d, info, "cost"), &u->cost);
    u->currency = u->cost > 0 ? "USD" : NULL;
    return u->input > 0 || u->output > 0 ? u : NULL;
}

void oc_entries_add(arena *a, oc_entries *to, const json_doc *d, const json_node *message,
                    const char *turn, const char *author)
{
    const json_node *info = json_get(d, message, "info"), *parts = json_get(d, message, "parts");
    ramet_role role = oc_is(a, d, info, "role", "user") ? RAMET_USER : RAMET_ASSISTANT;
    size_t before = to->n;
    maker m = {.arena = a, .to = to, .turn = turn, .author = author, .role = role};
    m.message = oc_text(a, d, info, "id");
    if (!m.message)
        return;
    json_int(d, json_get(d, json_get(d, info, "time"), "created"), &m.created);
    m.created *= 1000;
    buf_init(&m.parts, MAX_ENTRY_BYTES);
    for (const json_node *p = json_is(parts, JSON_ARRAY) ? json_first(d, parts) : NULL; p;
         p = json_next(d, parts, p))
        message_part(&m, role, d, p);
    if (role == RAMET_ASSISTANT)
        error_add(&m, d, json_get(d, info, "error"));
    if (role == RAMET_USER && !m.parts.n && to->n == before)
        part_add(&m, role, "{\"type\":\"text\",\"text\":\"\"}");
    entry_end(&m);
    buf_release(&m.parts);
    if (role == RAMET_ASSISTANT && to->n > before)
        to->items[to->n - 1].usage = usage_make(a, d, info);
}

const char *oc_changes(arena *a, const json_doc *d, const json_node *info)
{
    const json_node *list = json_get(d, json_get(d, info, "summary"), "diffs");
    const char *raw = json_is(list, JSON_ARRAY) && list->count ? json_raw(a, d, list) : NULL;
    return raw && strlen(raw) < MAX_CHANGES_BYTES
               ? arena_printf(a, "{\"type\":\"data\",\"data\":{\"type\":\"files\",\"changes\":%s}}",
                              raw)
               : NULL;
}
