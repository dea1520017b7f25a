/* SPDX-License-Identifier: Apache-2.0
 *
 * replay.c: replays the stored history of a session: to the editor as updates, to a model as text.
 */
#include "acp/own.h"

#include <stdlib.h>
#include <string.h>

enum { TRANSCRIPT_BYTES = 1 << 20, TOOL_BYTES = 8 << 10 };

/* ------------------------------------------------------------------ updates */

static void update_text(proxy *p, const char *outer, const ramet_entry *e, const char *kind,
                        const char *text)
{
    buf b;
    json_writer w;
    buf_init(&b, ACP_LINE_MAX * 2);
    jw_init(&w, &b, 0);
    jw_object(&w);
    jw_kstr(&w, "sessionUpdate", kind);
    jw_kstr(&w, "messageId", e->id);
    jw_key(&w, "content");
    jw_object(&w);
    jw_kstr(&w, "type", "text");
    jw_kstr(&w, "text", text);
    jw_end_object(&w);
    jw_end_object(&w);
    editor_update(p, outer, b.data);
    buf_release(&b);
}

static void update_tool(proxy *p, const char *outer, const json_doc *d, const json_node *part,
                        bool call)
{
    buf b;
    json_writer w;
    const char *id = json_text(p->mem, d, json_get(d, part, "id"));
    const char *name = json_text(p->mem, d, json_get(d, part, "name"));
    const json_node *value = json_get(d, part, call ? "input" : "output");
    bool wrong = json_is(json_get(d, part, "is_error"), JSON_TRUE);
    buf_init(&b, ACP_LINE_MAX * 2);
    jw_init(&w, &b, 0);
    jw_object(&w);
    jw_kstr(&w, "sessionUpdate", call ? "tool_call" : "tool_call_update");
    jw_kstr(&w, "toolCallId", id);
    if (call)
        jw_kstr(&w, "title", name);
    jw_kstr(&w, "status", call ? "pending" : wrong ? "failed" : "completed");
    if (value)
        jw_kraw(&w, call ? "rawInput" : "rawOutput", json_raw(p->mem, d, value));
    jw_end_object(&w);
    editor_update(p, outer, b.data);
    buf_release(&b);
}

/* Replays an entry of another format from its normal form. */
static void parts_send(proxy *p, const char *outer, const ramet_entry *e)
{
    json_doc d;
    const char *word = e->role == RAMET_USER ? "user_message_chunk" : "agent_message_chunk";
    if (e->role == RAMET_SYSTEM || !json_parse(p->mem, e->parts, strlen(e->parts), 0, &d, NULL))
        return;
    for (const json_node *part = json_first(&d, d.nodes); part;
         part = json_next(&d, d.nodes, part)) {
        const char *type = json_text(p->mem, &d, json_get(&d, part, "type"));
        const char *text = json_text(p->mem, &d, json_get(&d, part, "text"));
        if (type && text && strcmp(type, "text") == 0)
            update_text(p, outer, e, word, text);
        else if (type && text && strcmp(type, "thinking") == 0)
            update_text(p, outer, e, "agent_thought_chunk", text);
        else if (type && strcmp(type, "tool_call") == 0)
            update_tool(p, outer, &d, part, true);
        else if (type && strcmp(type, "tool_result") == 0)
            update_tool(p, outer, &d, part, false);
    }
}

/* Replays an entry of our own format as the editor received it. A repeated tool call id is
 * replaced, because some agents restart their numbering in every turn. */
static void body_send(proxy *p, const char *outer, const ramet_entry *e, ids *tools)
{
    json_doc d;
    if (!e->body || !json_parse(p->mem, e->body, strlen(e->body), 0, &d, NULL))
        return;
    for (const json_node *u = json_first(&d, d.nodes); u; u = json_next(&d, d.nodes, u)) {
        const char *raw = json_raw(p->mem, &d, u);
        const char *tool = json_text(p->mem, &d, json_get(&d, u, "toolCallId"));
        if (tool && !ids_add(tools, tool)) {
            member id = {"toolCallId",
                         json_quote(p->mem, arena_printf(p->mem, "%s#%s", tool, e->id))};
            raw = json_with(p->mem, raw, &id, 1);
        }
        editor_update(p, outer, inline_restore(p, raw));
    }
}

/* Uses separate memory for each entry, so that a long history takes no more than a short one. */
static ramet_status each_entry(proxy *p, const char *outer, ramet_view view, int64_t keep,
                               void (*send)(proxy *p, const ramet_entry *e, void *arg), void *arg)
{
    ramet_stream *stream;
    const ramet_entry *e;
    arena *mem = p->mem;
    ramet_status rc =
        p->lib->ramet_stream_open(p->call, outer, &(ramet_read_in){.view = view}, &stream);
    if (rc != RAMET_OK)
        return rc;
    p->mem = arena_new();
    while ((rc = p->lib->ramet_stream_next(stream, &e)) == RAMET_OK && e &&
           (keep < 0 || e->position < keep)) {
        send(p, e, arg);
        arena_reset(p->mem);
    }
    p->lib->ramet_stream_close(stream);
    arena_free(p->mem);
    p->mem = mem;
    return rc;
}

typedef struct telling {
    const char *outer;
    ids tools;
} telling;

static void entry_send(proxy *p, const ramet_entry *e, void *arg)
{
    telling *t = arg;
    if (strcmp(e->format, ACP_FORMAT) == 0)
        body_send(p, t->outer, e, &t->tools);
    else
        parts_send(p, t->outer, e);
}

ramet_status replay_send(proxy *p, const char *outer)
{
    telling t = {.outer = outer};
    ramet_status rc = each_entry(p, outer, RAMET_VIEW_SHOWN, -1, entry_send, &t);
    free(t.tools.slots);
    return rc;
}

/* ------------------------------------------------------------------ transcript */

/* Where each entry begins, so that the oldest can be left out. */
typedef struct writing {
    buf text;
    ramet_role last;
} writing;

static void put_cut(buf *b, const char *text)
{
    size_t n = strlen(text);
    if (n <= TOOL_BYTES) {
        buf_puts(b, text);
        return;
    }
    size_t some = TOOL_BYTES;
    while (some && ((unsigned char)text[some] & 0xc0) == 0x80)
        some--;
    buf_add(b, text, some);
    buf_printf(b, "… (%zu bytes more)", n - some);
}

static void write_part(proxy *p, buf *b, const json_doc *d, const json_node *part)
{
    const char *type = json_text(p->mem, d, json_get(d, part, "type"));
    const char *text = json_text(p->mem, d, json_get(d, part, "text"));
    const char *name = json_text(p->mem, d, json_get(d, part, "name"));
    const json_node *input = json_get(d, part, "input"), *output = json_get(d, part, "output");
    if (!type)
        return;
    if (strcmp(type, "text") == 0 && text) {
        buf_puts(b, text);
        buf_putc(b, '\n');
    } else if (strcmp(type, "tool_call") == 0) {
        buf_printf(b, "[called the tool %s with ", name ? name : "?");
        put_cut(b, input ? json_raw(p->mem, d, input) : "{}");
        buf_puts(b, "]\n");
    } else if (strcmp(type, "tool_result") == 0) {
        buf_puts(b, "[it answered ");
        put_cut(b, output ? json_raw(p->mem, d, output) : "null");
        buf_puts(b, "]\n");
    } else if (strcmp(type, "file") == 0) {
        const char *url = json_text(p->mem, d, json_get(d, part, "url"));
        buf_printf(b, "[file %s]\n", url ? url : name ? name : "");
    } else if (strcmp(type, "data") == 0) {
        const json_node *data = json_get(d, part, "data");
        const json_node *resource = json_get(d, data, "resource");
        const char *kind = json_text(p->mem, d, json_get(d, data, "type"));
        const char *inside = json_text(p->mem, d, json_get(d, resource, "text"));
        const char *uri = json_text(p->mem, d, json_get(d, resource, "uri"));
        if (inside) {
            buf_printf(b, "[%s:\n", uri ? uri : "resource");
            put_cut(b, inside);
            buf_puts(b, "]\n");
        } else if (kind && !json_get(d, data, "question_id") && strcmp(kind, "question") != 0) {
            buf_printf(b, "[%s]\n", kind);
        }
    }
}

static void write_one(proxy *p, const ramet_entry *e, void *arg)
{
    writing *t = arg;
    json_doc d;
    if (e->role == RAMET_SYSTEM || strcmp(e->channel, "history") != 0 ||
        !json_parse(p->mem, e->parts, strlen(e->parts), 0, &d, NULL))
        return;
    buf b;
    buf_init(&b, ACP_LINE_MAX);
    for (const json_node *part = json_first(&d, d.nodes); part; part = json_next(&d, d.nodes, part))
        write_part(p, &b, &d, part);
    /* Keep the newest text: drop the older half when the limit is exceeded. */
    if (t->text.n + b.n > TRANSCRIPT_BYTES) {
        size_t from = t->text.n > TRANSCRIPT_BYTES / 2 ? t->text.n - TRANSCRIPT_BYTES / 2 : 0;
        char *line = memchr(t->text.data + from, '\n', t->text.n - from);
        size_t skip = line ? (size_t)(line - t->text.data) + 1 : t->text.n;
        char *rest = arena_memdup(p->mem, t->text.data + skip, t->text.n - skip);
        buf_clear(&t->text);
        buf_puts(&t->text, "(the beginning is left out)\n");
        buf_puts(&t->text, rest);
    }
    if (b.n) {
        if (e->role != t->last)
            buf_puts(&t->text, e->role == RAMET_USER ? "\nUser:\n" : "\nAssistant:\n");
        t->last = e->role;
        buf_add(&t->text, b.data, b.n);
    }
    buf_release(&b);
}

const char *transcript(proxy *p, const char *outer, int64_t keep)
{
    writing t = {0};
    const char *out = NULL;
    buf_init(&t.text, TRANSCRIPT_BYTES + 2 * ACP_LINE_MAX);
    if (keep != 0 && each_entry(p, outer, RAMET_VIEW_CONTEXT, keep, write_one, &t) != RAMET_OK)
        complain("the history of %s cannot be read: %s", outer, store_error(p));
    else if (t.text.n)
        out = arena_printf(p->mem,
                           "The conversation so far, which you are part of; go on from its end. Do "
                           "not answer it again and do not mention this note.\n<conversation>%s"
                           "</conversation>\n",
                           t.text.data);
    buf_release(&t.text);
    return out;
}
