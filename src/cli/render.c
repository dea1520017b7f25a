/* SPDX-License-Identifier: Apache-2.0
 *
 * render.c: shows sessions and entries to users. See render.h.
 */
#include "cli/render.h"

#include "form/native.h"

#include <string.h>

/* ------------------------------------------------------------------ entries */

/* A value as text: a string without its quotes, anything else unchanged. */
static const char *value_text(cli *c, const json_doc *d, const json_node *v)
{
    if (!v)
        return "";
    return json_is(v, JSON_STRING) ? json_text(c->mem, d, v) : json_raw(c->mem, d, v);
}

static part_text part_render(cli *c, const json_doc *d, const json_node *part)
{
    const char *type = value_text(c, d, json_get(d, part, "type"));
    part_text out = {ST_OFF, ""};
    if (strcmp(type, "text") == 0 || strcmp(type, "thinking") == 0) {
        out.text = value_text(c, d, json_get(d, part, "text"));
        out.paint = type[1] == 'e' ? ST_OFF : ST_DIM;
    } else if (strcmp(type, "tool_call") == 0) {
        out.paint = ST_TOOL;
        out.text = arena_printf(c->mem, "%s %s %s", gl(c, G_TOOL),
                                value_text(c, d, json_get(d, part, "name")),
                                value_text(c, d, json_get(d, part, "input")));
    } else if (strcmp(type, "tool_result") == 0) {
        bool failed = json_is(json_get(d, part, "is_error"), JSON_TRUE);
        out.paint = failed ? ST_WARN : ST_OFF;
        out.text = arena_printf(c->mem, "%s %s%s", gl(c, G_REPLY), failed ? "failed: " : "",
                                value_text(c, d, json_get(d, part, "output")));
    } else if (strcmp(type, "file") == 0) {
        const json_node *name = json_get(d, part, "name");
        const json_node *where = json_get(d, part, "url");
        if (!where)
            where = json_get(d, part, "attachment_id");
        out.paint = ST_TAG;
        out.text = arena_printf(c->mem, "[file %s]", value_text(c, d, name ? name : where));
    } else {
        const json_node *data = json_get(d, part, "data");
        out.paint = ST_DIM;
        out.text = value_text(c, d, data ? data : part);
    }
    return out;
}

/* Whether a part only marks a question to the user, or its answer: the text says it. */
static bool is_mark(cli *c, const json_doc *d, const json_node *part)
{
    const json_node *data = json_get(d, part, "data");
    const char *type = json_text(c->mem, d, json_get(d, data, "type"));
    return type && ((strcmp(type, "question") == 0 && json_get(d, data, "kind")) ||
                    (strcmp(type, "answer") == 0 && json_get(d, data, "question_id")));
}

part_text *entry_parts(cli *c, const ramet_entry *e, size_t *n)
{
    json_doc d;
    VEC(part_text) list = {0};
    if (e->parts && json_parse(c->mem, e->parts, strlen(e->parts), 0, &d, NULL)) {
        const json_node *root = &d.nodes[0];
        for (const json_node *v = json_first(&d, root); v; v = json_next(&d, root, v)) {
            if (is_mark(c, &d, v))
                continue;
            part_text p = part_render(c, &d, v);
            VEC_PUSH(c->mem, &list, p);
        }
    }
    *n = list.n;
    return list.items;
}

const char *entry_plain(cli *c, const ramet_entry *e)
{
    size_t n;
    part_text *parts = entry_parts(c, e, &n);
    const char *all = n ? parts[0].text : "";
    for (size_t i = 1; i < n; i++)
        all = arena_printf(c->mem, "%s\n\n%s", all, parts[i].text);
    return all;
}

const char *entry_preview(cli *c, const ramet_entry *e, int columns)
{
    return text_first_line(c, e->text && *e->text ? e->text : entry_plain(c, e), columns);
}

const char *usage_text(cli *c, int64_t input, int64_t output, int64_t cached,
                       const ramet_money *money, size_t n_money)
{
    const char *s = "";
    if (input || output)
        s = arena_printf(c->mem, "%s in, %s out", number_text(c, input), number_text(c, output));
    if (cached)
        s = arena_printf(c->mem, "%s%s%s cached", s, *s ? ", " : "", number_text(c, cached));
    for (size_t i = 0; i < n_money; i++)
        if (money[i].cost)
            s = arena_printf(c->mem, "%s%s%s", s, *s ? ", " : "",
                             money_text(c, money[i].cost, money[i].currency));
    return s;
}

static const char *entry_facts(cli *c, const ramet_entry *e)
{
    const char *sep = arena_printf(c->mem, " %s ", gl(c, G_SEP));
    const char *s =
        arena_printf(c->mem, "%s%s%s", time_ago(c, e->created), sep, short_id(c, e->id));
    if (e->author && *e->author)
        s = arena_printf(c->mem, "%s%s%s", text_cut(c, e->author, 30), sep, s);
    if (e->versions > 1)
        s = arena_printf(c->mem, "%s%sversion %d/%d", s, sep, e->version, e->versions);
    if (e->channel && strcmp(e->channel, "history") != 0)
        s = arena_printf(c->mem, "%s%schannel %s", s, sep, text_cut(c, e->channel, 30));
    if (e->format && strcmp(e->format, "ramet") != 0)
        s = arena_printf(c->mem, "%s%s%s", s, sep, text_cut(c, e->format, 20));
    if (e->n_origins)
        s = arena_printf(c->mem, "%s%sfrom %s", s, sep, short_id(c, e->origins[0].session));
    if (e->usage) {
        ramet_money m = {e->usage->cost, e->usage->currency};
        const char *u = usage_text(c, e->usage->input, e->usage->output, e->usage->cached, &m, 1);
        s = *u ? arena_printf(c->mem, "%s%s%s", s, sep, u) : s;
    }
    return s;
}

void entry_print(cli *c, const ramet_entry *e)
{
    size_t n;
    part_text *parts = entry_parts(c, e, &n);
    printf("%s@%lld%s %s%s%s  %s%s%s\n", st(c, ST_ID), (long long)e->position + 1, st(c, ST_OFF),
           st(c, role_style(e->role)), ramet_role_name(e->role), st(c, ST_OFF), st(c, ST_DIM),
           entry_facts(c, e), st(c, ST_OFF));
    for (size_t i = 0; i < n; i++)
        if (*parts[i].text)
            text_print(c, parts[i].text, 4, parts[i].paint);
    if (e->state_delta)
        text_print(c, arena_printf(c->mem, "state %s", e->state_delta), 4, ST_DIM);
}

void entry_print_line(cli *c, const ramet_entry *e, int digits)
{
    char position[24];
    snprintf(position, sizeof position, "@%lld", (long long)e->position + 1);
    const char *id = text_cut(c, short_id(c, e->id), 8);
    int used = digits + 1 + 2 + 8 + 2 + 9 + 2;
    int room = c->width > 0 ? (c->width - used > 20 ? c->width - used : 20) : 0;
    const char *mark =
        e->versions > 1 ? arena_printf(c->mem, "(%d/%d) ", e->version, e->versions) : "";
    if (room > 0)
        room -= (int)strlen(mark);
    printf("%s%*s%s  %s%s%*s%s  %s%-9s%s  %s%s\n", st(c, ST_ID), digits + 1, position,
           st(c, ST_OFF), st(c, ST_DIM), id, 8 - text_columns(id, strlen(id)), "", st(c, ST_OFF),
           st(c, role_style(e->role)), ramet_role_name(e->role), st(c, ST_OFF), mark,
           entry_preview(c, e, room));
}

/* ------------------------------------------------------------------ sessions */

const char *agent_text(cli *c, const ramet_agent *a)
{
    if (!a->name)
        return "";
    return a->model ? arena_printf(c->mem, "%s (%s)", a->name, a->model) : a->name;
}

const char *tags_text(cli *c, const ramet_session *s)
{
    const char *out = "";
    for (size_t i = 0; i < s->n_tags; i++)
        out = arena_printf(c->mem, "%s%s#%s", out, i ? " " : "", s->tags[i]);
    return out;
}

const char *title_text(const ramet_session *s)
{
    return s->shown_title && *s->shown_title ? s->shown_title : "(untitled)";
}

void session_print_head(cli *c, const ramet_session *s, const ramet_head *head)
{
    char branch[24];
    const char *sep = arena_printf(c->mem, " %s ", gl(c, G_SEP));
    printf("%s%s%s\n%s%s%s", st(c, ST_BOLD), text_cut(c, title_text(s), c->width), st(c, ST_OFF),
           st(c, ST_ID), text_cut(c, s->id, 0), st(c, ST_OFF));
    if (s->agent.name)
        printf("%s%s", sep, text_cut(c, agent_text(c, &s->agent), 40));
    printf("%s%s", sep, count_text(c, head->length, "entry", "entries"));
    if (head->branch)
        printf(" on %s", ramet_branch_text(head->branch, branch));
    if (s->n_tags)
        printf("%s%s%s%s", sep, st(c, ST_TAG), text_cut(c, tags_text(c, s), 60), st(c, ST_OFF));
    putchar('\n');
}

int session_answer(cli *c, const ramet_session *s, const ramet_cut *cut, const char *done)
{
    char branch[24];
    if (c->json) {
        if (cut)
            native_session_cut(json_begin(c), s, cut);
        else
            native_session(json_begin(c), s);
        return json_end(c);
    }
    if (c->quiet)
        return 0;
    printf("%s %s%s%s: %s on %s%s%s", done, st(c, ST_ID), text_cut(c, s->id, 0), st(c, ST_OFF),
           count_text(c, s->head.length, "entry", "entries"), st(c, ST_HERE),
           ramet_branch_text(s->head.branch, branch), st(c, ST_OFF));
    if (s->head.entry_id)
        printf(", last is %s", short_id(c, s->head.entry_id));
    putchar('\n');
    return 0;
}

static const char *session_marks(cli *c, const ramet_session *s)
{
    const char *m = tags_text(c, s);
    if (s->archived)
        m = arena_printf(c->mem, "%s%sarchived", m, *m ? " " : "");
    if (s->visibility == RAMET_PRIVATE)
        m = arena_printf(c->mem, "%s%sprivate", m, *m ? " " : "");
    if (s->expires)
        m = arena_printf(c->mem, "%s%sgoes %s", m, *m ? " " : "", time_ago(c, s->expires));
    return m;
}

void sessions_grid(cli *c, const ramet_session *items, size_t n)
{
    grid *t = grid_new(c, 6, 1);
    grid_right(t, 2);
    grid_head(t, "ID", "TITLE", "ENTRIES", "AGENT", n && items->deleted_at ? "DELETED" : "UPDATED",
              "TAGS");
    for (size_t i = 0; i < n; i++) {
        const ramet_session *s = &items[i];
        grid_row(t);
        grid_cell(t, ST_ID, short_id(c, s->id));
        if (s->deleted) {
            grid_cell(t, ST_GONE, "(deleted)");
            continue;
        }
        const char *title = title_text(s);
        if (s->is_fork)
            title = arena_printf(c->mem, "%s %s", gl(c, G_ELBOW), title);
        grid_cell(t, ST_OFF, title);
        grid_cell(t, ST_OFF, number_text(c, s->head.length));
        grid_cell(t, ST_OFF, s->agent.name ? s->agent.name : "");
        grid_cell(t, ST_DIM, time_ago(c, s->deleted_at ? s->deleted_at : s->updated));
        grid_cell(t, ST_TAG, session_marks(c, s));
    }
    grid_print(t);
}

int sessions_answer(cli *c, const ramet_session *items, size_t n)
{
    if (!c->json) {
        if (n)
            sessions_grid(c, items, n);
        return 0;
    }
    json_list_begin(c, "sessions");
    for (size_t i = 0; i < n; i++) {
        native_session(&c->jw, &items[i]);
        json_flush(c);
    }
    return json_list_end(c);
}

bool agent_options(const cli *c, ramet_agent *out)
{
    memset(out, 0, sizeof *out);
    out->name = opt_text(c, "agent");
    out->provider = opt_text(c, "provider");
    out->model = opt_text(c, "model");
    out->folder = opt_text(c, "folder");
    out->options = opt_text(c, "agent-options");
    return out->name || out->provider || out->model || out->folder || out->options;
}
