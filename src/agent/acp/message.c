/* SPDX-License-Identifier: Apache-2.0
 *
 * message.c: parses a line of JSON-RPC, and changes parts of it.
 */
#include "agent/acp/message.h"

#include <assert.h>
#include <string.h>

/* Replaces each lone surrogate with U+FFFD; programs that cut a text in the middle of a character
 * send such. Every byte keeps its place. */
static const char *halves_mended(arena *a, const char *line, size_t n)
{
    char *out = arena_memdup(a, line, n);
    size_t size;
    for (char *p = out; (p = memchr(p, '\\', n - (size_t)(p - out))); p += size) {
        uint32_t cp;
        size = json_escape(p, n - (size_t)(p - out), &cp);
        if (JSON_HALF(cp))
            memcpy(p, "\\ufffd", 6);
    }
    return out;
}

message_state message_read(message *m, arena *a, const char *line, size_t n)
{
    *m = (message){.arena = a, .line = line, .n = n};
    if (!json_parse(a, line, n, 0, &m->doc, NULL) &&
        !json_parse(a, halves_mended(a, line, n), n, 0, &m->doc, NULL))
        return MESSAGE_NOT_JSON;
    const json_node *root = m->doc.nodes;
    if (json_is(root, JSON_ARRAY))
        return MESSAGE_BATCH;
    const char *version = message_text(m, root, "jsonrpc");
    if (!json_is(root, JSON_OBJECT) || !version || strcmp(version, "2.0") != 0)
        return MESSAGE_NOT_JSONRPC;
    m->id = json_get(&m->doc, root, "id");
    m->id_raw = m->id ? json_raw(a, &m->doc, m->id) : NULL;
    m->params = json_get(&m->doc, root, "params");
    m->result = json_get(&m->doc, root, "result");
    m->error = json_get(&m->doc, root, "error");
    m->method = message_text(m, root, "method");
    m->session = message_text(m, m->params, "sessionId");
    if (!m->method && !(m->id && (m->result || m->error)))
        return MESSAGE_NOT_JSONRPC;
    return MESSAGE_FINE;
}

const json_node *message_at(const message *m, const json_node *from, const char *path)
{
    char key[64];
    while (from && *path) {
        size_t n = strcspn(path, ".");
        assert(n < sizeof key);
        memcpy(key, path, n);
        key[n] = 0;
        from = json_get(&m->doc, from, key);
        path += n + (path[n] == '.');
    }
    return from;
}

const char *message_text(const message *m, const json_node *from, const char *path)
{
    const json_node *v = message_at(m, from, path);
    return v ? json_text(m->arena, &m->doc, v) : NULL;
}

const char *message_raw(const message *m, const json_node *from, const char *path)
{
    const json_node *v = message_at(m, from, path);
    return v && !json_is(v, JSON_NULL) ? json_raw(m->arena, &m->doc, v) : NULL;
}

const char *json_without_nul(arena *a, const char *json)
{
    char *out = arena_strdup(a, json);
    for (char *p = out; *p; p++) {
        if (*p != '\\')
            continue;
        if (strncmp(p, "\\u0000", 6) == 0)
            memcpy(p, "\\ufffd", 6);
        p++;
    }
    return out;
}

static const member *member_find(const member *list, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].key, key) == 0)
            return &list[i];
    return NULL;
}

const char *json_with(arena *a, const char *json, const member *changes, size_t n)
{
    json_doc d = {0};
    buf b;
    size_t max = 16 + (json ? strlen(json) : 0);
    for (size_t i = 0; i < n; i++)
        max += strlen(changes[i].key) * 6 + 8 + (changes[i].value ? strlen(changes[i].value) : 0);
    buf_init(&b, max + 64);
    buf_putc(&b, '{');
    bool fine =
        json && json_parse(a, json, strlen(json), 0, &d, NULL) && json_is(d.nodes, JSON_OBJECT);
    for (const json_node *k = fine ? json_first(&d, d.nodes) : NULL; k;) {
        const json_node *v = json_next(&d, d.nodes, k);
        const member *c = member_find(changes, n, json_text(a, &d, k));
        const char *value = c ? c->value : json_raw(a, &d, v);
        if (value)
            buf_printf(&b, "%s%s:%s", b.n > 1 ? "," : "", json_raw(a, &d, k), value);
        k = json_next(&d, d.nodes, v);
    }
    for (size_t i = 0; i < n; i++)
        if (changes[i].value && !(fine && json_get(&d, d.nodes, changes[i].key)))
            buf_printf(&b, "%s%s:%s", b.n > 1 ? "," : "", json_quote(a, changes[i].key),
                       changes[i].value);
    buf_putc(&b, '}');
    return buf_keep(&b, a);
}

/* ------------------------------------------------------------------ splices */

static void add(splices *s, size_t start, size_t end, const char *text)
{
    assert(s->n < sizeof s->items / sizeof *s->items);
    s->items[s->n++] = (text_change){start, end, text};
}

void splice_node(splices *s, const json_node *v, const char *text)
{
    add(s, v->start, v->end, text);
}

void splice_member(splices *s, const message *m, const json_node *object, const char *key,
                   const char *value)
{
    const json_node *v = json_get(&m->doc, object, key);
    if (v) {
        splice_node(s, v, value);
        return;
    }
    const char *text = arena_printf(m->arena, "%s:%s%s", json_quote(m->arena, key), value,
                                    object->count ? "," : "");
    add(s, object->start + 1, object->start + 1, text);
}

void splice_first(splices *s, const message *m, const json_node *array, const char *items)
{
    const char *text = arena_printf(m->arena, "%s%s", items, array->count ? "," : "");
    add(s, array->start + 1, array->start + 1, text);
}

/* A stable sort: changes at one place stay in the order in which they were added. */
static void sort(text_change *list, size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t j = i; j > 0 && list[j].start < list[j - 1].start; j--) {
            text_change t = list[j];
            list[j] = list[j - 1];
            list[j - 1] = t;
        }
}

const char *splice_text(const message *m, const splices *s, size_t start, size_t end, size_t *n)
{
    splices sorted = *s;
    size_t max = end - start + 1, at = start, len = 0;
    sort(sorted.items, sorted.n);
    for (size_t i = 0; i < sorted.n; i++)
        max += strlen(sorted.items[i].text);
    char *out = arena_alloc(m->arena, max);
    for (size_t i = 0; i < sorted.n; i++) {
        const text_change *it = &sorted.items[i];
        if (it->start < start || it->end > end)
            continue;
        memcpy(out + len, m->line + at, it->start - at);
        len += it->start - at;
        memcpy(out + len, it->text, strlen(it->text));
        len += strlen(it->text);
        at = it->end;
    }
    memcpy(out + len, m->line + at, end - at);
    len += end - at;
    out[len] = 0;
    *n = len;
    return out;
}
