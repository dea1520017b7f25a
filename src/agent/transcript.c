/* SPDX-License-Identifier: Apache-2.0
 *
 * transcript.c: see transcript.h.
 */
#include "agent/transcript.h"

#include <string.h>

enum { HEAD_BYTES = 4096 };

static bool texts_equal(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

size_t agent_message_index(const agent_turn *t)
{
    size_t i = t->n;
    while (i && texts_equal(t->history[i - 1].turn_id, t->turn_id))
        i--;
    if (i == t->n)
        while (i && t->history[i - 1].role == RAMET_USER)
            i--;
    return i;
}

bool agent_entry_is_cut(arena *a, const ramet_entry *e)
{
    json_doc d;
    const json_node *last = NULL;
    if (!e->parts || !json_parse(a, e->parts, strlen(e->parts), 0, &d, NULL))
        return false;
    for (const json_node *p = json_first(&d, &d.nodes[0]); p; p = json_next(&d, &d.nodes[0], p))
        last = p;
    return json_is(json_get(&d, json_get(&d, last, "data"), "turn"), JSON_STRING);
}

size_t agent_erased_count(const agent_turn *t, size_t n)
{
    size_t erased = 0;
    for (size_t i = 0; i < n; i++)
        erased += t->history[i].erased != NULL;
    return erased;
}

static const char *text_of(arena *a, const json_doc *d, const json_node *v, const char *key)
{
    const char *s = json_text(a, d, json_get(d, v, key));
    return s ? s : "";
}

static const char *file_note(arena *a, const json_doc *d, const json_node *part)
{
    const char *name = text_of(a, d, part, "name"), *url = text_of(a, d, part, "url");
    return arena_printf(a, "[file%s%s%s%s]", *name ? " " : "", name, *url ? ", " : "", url);
}

const char *transcript_part(arena *a, const json_doc *d, const json_node *part)
{
    const char *type = text_of(a, d, part, "type");
    if (strcmp(type, "text") == 0)
        return text_of(a, d, part, "text");
    if (strcmp(type, "tool_call") == 0)
        return arena_printf(a, "(calls %s: %s)", text_of(a, d, part, "name"),
                            json_raw(a, d, json_get(d, part, "input")));
    if (strcmp(type, "tool_result") == 0)
        return arena_printf(a, "(result: %s)", json_raw(a, d, json_get(d, part, "output")));
    if (strcmp(type, "file") == 0)
        return file_note(a, d, part);
    const json_node *data = json_get(d, part, "data");
    /* The marks of questions and their answers repeat the text next to them. */
    const char *mark = text_of(a, d, data, "type");
    bool marks = strcmp(mark, "question") == 0 || strcmp(mark, "answer") == 0;
    if (strcmp(type, "data") == 0 && !json_get(d, data, "turn") && !marks)
        return json_raw(a, d, data);
    return NULL;
}

static const char *entry_lines(arena *a, const ramet_entry *e)
{
    static const char *const names[] = {"", "User", "Assistant", "Tool", "System"};
    json_doc d;
    const char *all = NULL;
    if (!e->parts || !json_parse(a, e->parts, strlen(e->parts), 0, &d, NULL))
        return *e->text ? arena_printf(a, "%s: %s\n\n", names[e->role], e->text) : "";
    for (const json_node *p = json_first(&d, &d.nodes[0]); p; p = json_next(&d, &d.nodes[0], p)) {
        const char *line = transcript_part(a, &d, p);
        if (line && *line)
            all = all ? arena_printf(a, "%s\n%s", all, line) : line;
    }
    return all ? arena_printf(a, "%s: %s\n\n", names[e->role], all) : "";
}

const char *transcript_make(arena *a, const agent_turn *t, size_t n, size_t max_bytes)
{
    const char **lines = arena_array(a, n + 1, sizeof *lines);
    size_t from = n, bytes = 0;
    while (from) {
        lines[from - 1] = entry_lines(a, &t->history[from - 1]);
        bytes += strlen(lines[from - 1]);
        if (bytes > max_bytes)
            break;
        from--;
    }
    buf out;
    buf_init(&out, max_bytes + HEAD_BYTES);
    buf_puts(&out, "The conversation so far, for your information; the message to answer follows "
                   "behind it.\n\n");
    size_t head = out.n;
    if (from)
        buf_puts(&out, "[earlier messages are left out]\n\n");
    for (size_t i = from; i < n; i++)
        buf_puts(&out, lines[i]);
    const char *text = out.n > head && bytes ? arena_memdup(a, out.data, out.n) : "";
    buf_release(&out);
    return text;
}
