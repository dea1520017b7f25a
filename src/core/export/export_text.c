/* SPDX-License-Identifier: Apache-2.0
 *
 * A tree as a text for people: Markdown, or one HTML file that needs nothing else (export.h).
 *
 * A session is its present path. Where another branch of the session leaves that path, or one that
 * was shown already, it follows below: as a heading in Markdown, folded in HTML. The entries that a
 * branch shares with what was shown before are not repeated.
 *
 *   H1  Everything that comes from a conversation is escaped: in HTML as text, in Markdown as a
 *       quoted block where it could be taken for a heading of the export itself. No link, image or
 *       script of a message becomes one of the page.
 */
#include "core/export/export.h"

#include "core/call.h"
#include "core/model/fill.h"
#include "core/model/key.h"

#include <stdio.h>
#include <stdlib.h>

#define TITLE_CHARS 80
#define TOOL_BYTES ((size_t)64 << 10) /* of a tool's input or output that is shown */

typedef struct text_writer {
    export_job *job;
    export_tree *tree;
    const export_session *session;
    bool html;
    const export_branch *head; /* the path that is shown */
    fill values;               /* of its session */
} text_writer;

/* ------------------------------------------------------------------------ words */

static void html_put(buf *out, const char *s, size_t n)
{
    for (size_t i = 0, from = 0; i <= n; i++) {
        const char *as = i == n         ? ""
                         : s[i] == '&'  ? "&amp;"
                         : s[i] == '<'  ? "&lt;"
                         : s[i] == '>'  ? "&gt;"
                         : s[i] == '"'  ? "&quot;"
                         : s[i] == '\'' ? "&#39;"
                                        : NULL;
        if (!as)
            continue;
        buf_add(out, s + from, i - from);
        buf_puts(out, as);
        from = i + 1;
    }
}

static void html_text(buf *out, const char *s)
{
    html_put(out, s, strlen(s));
}

/* A line of Markdown that comes from outside: nothing in it is markup. */
static void md_line(buf *out, const char *s)
{
    for (; *s; s++) {
        if (*s == '\n' || *s == '\r') {
            buf_putc(out, ' ');
            continue;
        }
        if (strchr("\\`*_{}[]<>#|!~&", *s))
            buf_putc(out, '\\');
        buf_putc(out, *s);
    }
}

/* A text of several lines, kept as it was written: people write Markdown. Lines that could end the
 * section that it stands in are quoted with the rest. */
static void md_quote(buf *out, const char *s)
{
    while (*s) {
        size_t n = strcspn(s, "\n");
        buf_puts(out, n ? "> " : ">");
        for (size_t i = 0; i < n; i++)
            buf_puts(out, s[i] == '<' ? "&lt;" : (char[]){s[i], 0});
        buf_putc(out, '\n');
        s += n + (s[n] != 0);
    }
}

/* A fence that the text does not hold. */
static void md_fence(buf *out, const char *s)
{
    size_t longest = 2, run = 0;
    for (const char *p = s; *p; p++) {
        run = *p == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    buf_pad(out, '`', longest + 1);
    buf_putc(out, '\n');
    buf_puts(out, s);
    if (*s && s[strlen(s) - 1] != '\n')
        buf_putc(out, '\n');
    buf_pad(out, '`', longest + 1);
    buf_putc(out, '\n');
}

/* ------------------------------------------------------------------------ titles */

static const char *cell_text(const export_session *s, const char *column)
{
    const copy_cell *c = &s->row[record_column_at(&copy_tables[COPY_T_session], column)];
    return c->null ? "" : c->bytes;
}

/* The given title, or the first words of the first user message (as lists show it). */
static const char *session_title(const text_writer *w, const export_session *s)
{
    const char *title = cell_text(s, "title"), *from = cell_text(s, "from_title");
    if (title[0])
        return title;
    if (s->parent && from[0])
        return arena_printf(w->tree->arena, "Fork of %s", from);
    return s->access.id;
}

/* ------------------------------------------------------------------------- parts */

static const char *shortened(arena *a, const char *s)
{
    if (strlen(s) <= TOOL_BYTES)
        return s;
    char *cut = arena_memdup(a, s, TOOL_BYTES);
    utf8_trim(cut);
    return arena_printf(a, "%s\n… %zu more bytes", cut, strlen(s) - strlen(cut));
}

/* A value as it is read: a text as itself, everything else as JSON. */
static const char *value_text(arena *a, const json_doc *d, const json_node *v)
{
    const char *s = json_text(a, d, v);
    return shortened(a, s ? s : v ? json_raw(a, d, v) : "");
}

static void block_put(text_writer *w, const char *head, const char *text)
{
    buf *out = &w->job->text;
    if (w->html) {
        buf_puts(out, "<details class=\"part\"><summary>");
        html_text(out, head);
        buf_puts(out, "</summary><pre>");
        html_text(out, text);
        buf_puts(out, "</pre></details>\n");
        return;
    }
    buf_puts(out, "**");
    md_line(out, head);
    buf_puts(out, "**\n\n");
    md_fence(out, text);
    buf_putc(out, '\n');
}

static void text_put(text_writer *w, const char *text)
{
    buf *out = &w->job->text;
    if (!text || !text[0])
        return;
    if (w->html) {
        buf_puts(out, "<div class=\"text\">");
        html_text(out, text);
        buf_puts(out, "</div>\n");
        return;
    }
    md_quote(out, text);
    buf_putc(out, '\n');
}

static void file_put(text_writer *w, arena *a, const json_doc *d, const json_node *p)
{
    buf *out = &w->job->text;
    const char *name = json_text(a, d, json_get(d, p, "name"));
    const char *id = json_text(a, d, json_get(d, p, "attachment_id"));
    const char *url = json_text(a, d, json_get(d, p, "url"));
    const char *shown = name && *name ? name : id ? id : url ? url : "a file";
    if (w->html) {
        buf_puts(out, "<p class=\"file\">\xf0\x9f\x93\x8e ");
        html_text(out, shown);
        buf_puts(out, "</p>\n");
        return;
    }
    buf_puts(out, "\xf0\x9f\x93\x8e ");
    md_line(out, shown);
    buf_puts(out, "\n\n");
}

/* Whether a data part only marks a question to the user, or its answer: the text says it. */
static bool is_mark(arena *a, const json_doc *d, const json_node *data)
{
    const char *type = json_text(a, d, json_get(d, data, "type"));
    return type && ((strcmp(type, "question") == 0 && json_get(d, data, "kind")) ||
                    (strcmp(type, "answer") == 0 && json_get(d, data, "question_id")));
}

static void part_put(text_writer *w, arena *a, const json_doc *d, const json_node *p)
{
    const char *type = json_text(a, d, json_get(d, p, "type"));
    const char *text = json_text(a, d, json_get(d, p, "text"));
    if (!type)
        return;
    if (strcmp(type, "text") == 0) {
        text_put(w, text);
    } else if (strcmp(type, "thinking") == 0) {
        block_put(w, "Thinking", text ? text : "");
    } else if (strcmp(type, "tool_call") == 0) {
        const char *name = json_text(a, d, json_get(d, p, "name"));
        block_put(w, arena_printf(a, "Tool call: %s", name ? name : ""),
                  value_text(a, d, json_get(d, p, "input")));
    } else if (strcmp(type, "tool_result") == 0) {
        bool bad = json_is(json_get(d, p, "is_error"), JSON_TRUE);
        block_put(w, bad ? "Tool result: an error" : "Tool result",
                  value_text(a, d, json_get(d, p, "output")));
    } else if (strcmp(type, "file") == 0) {
        file_put(w, a, d, p);
    } else if (!is_mark(a, d, json_get(d, p, "data"))) {
        block_put(w, "Data", value_text(a, d, json_get(d, p, "data")));
    }
}

static bool entry_show(void *arg, const ramet_entry *e)
{
    static const char *const names[] = {"", "User", "Assistant", "Tool", "System"};
    text_writer *w = arg;
    export_job *j = w->job;
    buf *out = &j->text;
    char when[TIME_TEXT];
    json_doc d;
    time_text(e->created, when);
    if (w->html) {
        buf_printf(out, "<article class=\"%s\"><header><b>%s</b>", ramet_role_name(e->role),
                   names[e->role]);
        if (e->author) {
            buf_puts(out, " <span>");
            html_text(out, e->author);
            buf_puts(out, "</span>");
        }
        buf_printf(out, " <time>%.10s %.5s UTC</time></header>\n", when, when + 11);
    } else {
        buf_printf(out, "#### %s", names[e->role]);
        if (e->author) {
            buf_puts(out, " · ");
            md_line(out, e->author);
        }
        buf_printf(out, " · %.10s %.5s UTC\n\n", when, when + 11);
    }
    if (json_parse(j->entry, e->parts, strlen(e->parts), STORED_DEPTH, &d, NULL))
        for (const json_node *p = json_first(&d, d.nodes); p; p = json_next(&d, d.nodes, p))
            part_put(w, j->entry, &d, p);
    else
        text_put(w, e->text);
    if (w->html)
        buf_puts(out, "</article>\n");
    return export_flush(j, false) && export_tick(j, 1);
}

static bool entry_put(void *arg, const export_branch *b, const ramet_entry *stored,
                      const entry_cols *cols, int64_t peer)
{
    text_writer *w = arg;
    ramet_entry shown = *stored;
    (void)b;
    (void)cols;
    (void)peer;
    if (fill_covers(&w->head->row, shown.position))
        fill_entry(w->tree->tx, &w->values, &w->head->row, &shown, w->job->entry);
    return entry_show(w, &shown);
}

/* -------------------------------------------------------------------------- paths */

/* Entries [from, to) of the path that ends with a branch, as its session shows them. */
static void path_put(text_writer *w, const export_branch *head, int64_t from, int64_t to)
{
    const export_tree *t = w->tree;
    VEC(const export_branch *) up = {0};
    w->head = head;
    if (w->job->in->context) {
        export_context(w->job, t, head, from, to, entry_show, w);
        return;
    }
    if (fill_covers(&head->row, from) && !fill_load(t->tx, &head->row, t->arena, &w->values))
        return;
    for (const export_branch *b = head; b; b = export_branch_at(t, b->row.meta.parent))
        VEC_PUSH(t->arena, &up, b);
    for (size_t i = up.n; i-- > 0;) {
        const export_branch *b = up.items[i];
        int64_t lo = b->row.meta.base, hi = i ? up.items[i - 1]->row.meta.base : b->len;
        lo = lo > from ? lo : from;
        hi = hi < to ? hi : to;
        if (lo < hi && !export_entries(w->job, t, b, lo, hi, entry_put, w))
            return;
    }
}

/* How much two paths share: they part where the one that starts later left the other's branches. */
static int64_t shared(const export_tree *t, const export_branch *a, const export_branch *b)
{
    int64_t la = a->len, lb = b->len;
    while (a != b) {
        if (a->row.meta.base >= b->row.meta.base && a->row.meta.parent) {
            la = a->row.meta.base;
            a = export_branch_at(t, a->row.meta.parent);
        } else if (b->row.meta.parent) {
            lb = b->row.meta.base;
            b = export_branch_at(t, b->row.meta.parent);
        } else {
            return 0;
        }
    }
    return la < lb ? la : lb;
}

static void branch_open_put(text_writer *w, const export_branch *b, int64_t from)
{
    buf *out = &w->job->text;
    const branch_note *note = note_find(&w->tree->notes, b->row.meta.id);
    char when[TIME_TEXT];
    time_text(b->row.created, when);
    buf_puts(out, w->html ? "<details class=\"branch\"><summary>" : "### ");
    if (!note || !note->name[0])
        buf_puts(out, "Another branch");
    else if (w->html)
        html_text(out, note->name);
    else
        md_line(out, note->name);
    buf_printf(out, ", from message %lld on", (long long)from + 1);
    if (w->html)
        buf_printf(out, " <span>%lld %s, %.10s</span></summary>\n", (long long)(b->len - from),
                   b->len - from == 1 ? "message" : "messages", when);
    else
        buf_puts(out, "\n\n");
}

static bool wanted(const ramet_export_in *in, int64_t id)
{
    for (size_t i = 0; i < in->n_branches; i++)
        if (in->branches[i] == id)
            return true;
    return in->n_branches == 0;
}

/* The other branches of the session, oldest first; what is on a path that was shown is not shown
 * again. */
static void branches_put(text_writer *w, const export_branch *head)
{
    const export_tree *t = w->tree;
    const ramet_export_in *in = w->job->in;
    VEC(const export_branch *) done = {0};
    if (head)
        VEC_PUSH(t->arena, &done, head);
    for (size_t i = 0; i < t->n_branches && !w->job->stopped; i++) {
        const export_branch *b = &t->branches[i];
        if (b->row.meta.session != w->session->access.no || b == head ||
            b->row.meta.log != RAMET_LOG_MAIN || !wanted(in, b->row.meta.id) ||
            notes_pruned(&t->notes, b->row.meta.id))
            continue;
        int64_t from = 0;
        for (size_t k = 0; k < done.n; k++) {
            int64_t n = shared(t, b, done.items[k]);
            from = n > from ? n : from;
        }
        if (from >= b->len && (done.n || !in->n_branches))
            continue;
        branch_open_put(w, b, from);
        path_put(w, b, from, b->len);
        if (w->html)
            buf_puts(&w->job->text, "</details>\n");
        VEC_PUSH(t->arena, &done, b);
    }
}

/* ----------------------------------------------------------------------- sessions */

static void session_open_put(text_writer *w)
{
    buf *out = &w->job->text;
    const export_session *s = w->session, *p = export_session_at(w->tree, s->parent);
    const char *agent = cell_text(s, "agent"), *title = session_title(w, s);
    char when[TIME_TEXT];
    time_text(s->created, when);
    if (w->html) {
        buf_puts(out, "<section><h2>");
        html_text(out, title);
        buf_puts(out, "</h2><p class=\"about\">");
        html_text(out, s->access.owner);
        if (agent[0]) {
            buf_puts(out, " · ");
            html_text(out, agent);
        }
        buf_printf(out, " · %.10s", when);
        if (p && p->full) {
            buf_puts(out, " · forked from ");
            html_text(out, session_title(w, p));
        }
        buf_puts(out, "</p>\n");
        return;
    }
    buf_puts(out, "## ");
    md_line(out, title);
    buf_puts(out, "\n\n*");
    md_line(out, s->access.owner);
    if (agent[0]) {
        buf_puts(out, " · ");
        md_line(out, agent);
    }
    buf_printf(out, " · %.10s", when);
    if (p && p->full) {
        buf_puts(out, " · forked from ");
        md_line(out, session_title(w, p));
    }
    buf_puts(out, "*\n\n");
}

static void shared_put(text_writer *w, const export_session *with, int64_t n)
{
    buf *out = &w->job->text;
    const char *title = session_title(w, with);
    buf_printf(out,
               w->html ? "<p class=\"about\">The first %lld %s of \xe2\x80\x9c"
                       : "*The first %lld %s of \xe2\x80\x9c",
               (long long)n, n == 1 ? "message is that" : "messages are those");
    if (w->html)
        html_text(out, title);
    else
        md_line(out, title);
    buf_puts(out, w->html ? "\xe2\x80\x9d.</p>\n" : "\xe2\x80\x9d.*\n\n");
}

/* Whether a path says something else than that of another session at the same entries. */
static bool values_differ(const text_writer *w, const export_branch *head, const export_session *of)
{
    return head->row.filled && strcmp(cell_text(w->session, "fill"), cell_text(of, "fill")) != 0;
}

static void session_put(text_writer *w)
{
    const ramet_export_in *in = w->job->in;
    int64_t id = w->session->row[record_column_at(&copy_tables[COPY_T_session], "head")].number;
    const export_branch *head = export_branch_at(w->tree, id);
    const export_session *p = export_session_at(w->tree, w->session->parent);
    session_open_put(w);
    if (head && wanted(in, id)) {
        /* A fork begins where it left the session that stands above it. */
        int64_t from = 0;
        const export_branch *before =
            p && p->full && !in->path
                ? export_branch_at(
                      w->tree,
                      p->row[record_column_at(&copy_tables[COPY_T_session], "head")].number)
                : NULL;
        if (before && !values_differ(w, head, p))
            from = shared(w->tree, head, before);
        if (from)
            shared_put(w, p, from);
        path_put(w, head, from, head->len);
    } else {
        head = NULL;
    }
    if (!in->path)
        branches_put(w, head);
    if (w->html)
        buf_puts(&w->job->text, "</section>\n");
}

ramet_status export_text_tree(export_job *j, export_tree *t)
{
    text_writer w = {.job = j, .tree = t, .html = j->in->format == RAMET_EXPORT_HTML};
    for (size_t i = 0; i < t->n_sessions && !j->stopped; i++) {
        if (!t->sessions[i].full)
            continue;
        w.session = &t->sessions[i];
        session_put(&w);
        export_flush(j, false);
    }
    return RAMET_OK;
}

/* -------------------------------------------------------------------------- file */

static const char page_head[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "style-src 'unsafe-inline'\">\n"
    "<title>Conversations</title>\n<style>\n"
    ":root{color-scheme:light dark;--bg:#fbfaf7;--card:#fff;--ink:#1d2320;--dim:#69736d;"
    "--line:#e3e1d9;--user:#eaf3ec;--accent:#2f7d4f}\n"
    "@media(prefers-color-scheme:dark){:root{--bg:#141715;--card:#1c201d;--ink:#e5e9e6;"
    "--dim:#98a29b;--line:#303632;--user:#1f2c24;--accent:#7fc79b}}\n"
    "*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--ink);"
    "font:16px/1.6 system-ui,-apple-system,\"Segoe UI\",Roboto,sans-serif}\n"
    "main{max-width:46rem;margin:0 auto;padding:2rem 1rem 4rem}\n"
    "section{margin-bottom:3.5rem}h2{font-size:1.5rem;line-height:1.25;margin:0 0 .25rem;"
    "overflow-wrap:anywhere}\n"
    ".about{color:var(--dim);font-size:.875rem;margin:0 0 1.25rem;overflow-wrap:anywhere}\n"
    "article{background:var(--card);border:1px solid var(--line);border-radius:.75rem;"
    "padding:.75rem 1rem;margin:0 0 .75rem}article.user{background:var(--user)}\n"
    "article header{font-size:.8125rem;color:var(--dim);display:flex;gap:.5rem;"
    "align-items:baseline;flex-wrap:wrap;margin-bottom:.25rem}article header b{color:var(--ink)}"
    "article time{margin-left:auto;font-variant-numeric:tabular-nums}\n"
    ".text{white-space:pre-wrap;overflow-wrap:anywhere}.text+.text{margin-top:.75rem}\n"
    "details.part{margin:.5rem 0}summary{cursor:pointer}details.part>summary{color:var(--dim);"
    "font-size:.875rem}\n"
    "pre{margin:.5rem 0 0;padding:.75rem;background:var(--bg);border:1px solid var(--line);"
    "border-radius:.5rem;font:.8125rem/1.5 ui-monospace,SFMono-Regular,Menlo,monospace;"
    "white-space:pre-wrap;overflow-wrap:anywhere;max-height:30rem;overflow:auto}\n"
    "details.branch{border-left:3px solid var(--accent);padding-left:1rem;margin:1.25rem 0}\n"
    "details.branch>summary{padding:.5rem 0;font-weight:600}details.branch>summary span{"
    "font-weight:400;color:var(--dim);font-size:.875rem;margin-left:.375rem}\n"
    ".file{margin:.25rem 0;color:var(--dim);overflow-wrap:anywhere}\n"
    "@media print{article{break-inside:avoid}details.branch:not([open]){display:none}}\n"
    "</style></head><body><main>\n";

ramet_status export_text_begin(export_job *j)
{
    if (j->in->format == RAMET_EXPORT_HTML)
        buf_puts(&j->text, page_head);
    return RAMET_OK;
}

ramet_status export_text_end(export_job *j)
{
    if (j->in->format == RAMET_EXPORT_HTML)
        buf_puts(&j->text, "</main></body></html>\n");
    return RAMET_OK;
}
