/* SPDX-License-Identifier: Apache-2.0
 *
 * docs.c: writes the tables of faces as a web page (/docs) and as Markdown (docs/api). One walk
 * over the tables writes both; a pen knows how to write a heading or a table in either.
 */
#include "face/kit/doc.h"

#include <string.h>

typedef struct pen {
    buf *out;
    bool html;
} pen;

/* ----------------------------------------------------------------------- pen */

static void put_html(buf *out, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '<')
            buf_puts(out, "&lt;");
        else if (s[i] == '>')
            buf_puts(out, "&gt;");
        else if (s[i] == '&')
            buf_puts(out, "&amp;");
        else if (s[i] == '"')
            buf_puts(out, "&quot;");
        else
            buf_putc(out, s[i]);
    }
}

/* Writes text that may contain `code`. In a Markdown table a bar would end the cell. */
static void put(const pen *p, const char *s, size_t n)
{
    bool code = false;
    for (size_t i = 0; i < n; i++) {
        if (p->html && s[i] == '`')
            buf_puts(p->out, (code = !code) ? "<code>" : "</code>");
        else if (p->html)
            put_html(p->out, s + i, 1);
        else if (s[i] == '|')
            buf_puts(p->out, "\\|");
        else
            buf_putc(p->out, s[i]);
    }
}

static void puts_text(const pen *p, const char *s)
{
    if (s)
        put(p, s, strlen(s));
}

static void raw(const pen *p, const char *html, const char *markdown)
{
    buf_puts(p->out, p->html ? html : markdown);
}

/* Writes one paragraph per line. */
static void para(const pen *p, const char *s)
{
    while (s && *s) {
        size_t n = strcspn(s, "\n");
        raw(p, "<p>", "");
        put(p, s, n);
        raw(p, "</p>\n", "\n\n");
        s += n + (s[n] == '\n');
    }
}

static void table_begin(const pen *p, const char *a, const char *b, const char *c)
{
    if (p->html)
        buf_printf(p->out,
                   "<div class=\"t\"><table><thead><tr><th>%s</th><th>%s</th><th>%s</th></tr>"
                   "</thead><tbody>\n",
                   a, b, c);
    else
        buf_printf(p->out, "| %s | %s | %s |\n|---|---|---|\n", a, b, c);
}

static void cell(const pen *p)
{
    raw(p, "</td><td>", " | ");
}

static void row_begin(const pen *p)
{
    raw(p, "<tr><td>", "| ");
}

static void row_end(const pen *p)
{
    raw(p, "</td></tr>\n", " |\n");
}

static void table_end(const pen *p)
{
    raw(p, "</tbody></table></div>\n", "\n");
}

static void code_block(const pen *p, const char *s, size_t n)
{
    raw(p, "<pre><code>", "```sh\n");
    if (p->html)
        put_html(p->out, s, n);
    else
        buf_add(p->out, s, n);
    raw(p, "</code></pre>\n", "\n```\n\n");
}

/* -------------------------------------------------------------------- fields */

static void link_put(const pen *p, const char *schema)
{
    if (p->html) {
        buf_printf(p->out, "<a href=\"#%s\">%s</a>", schema, schema);
        return;
    }
    buf_printf(p->out, "[%s](#", schema);
    for (const char *s = schema; *s; s++)
        buf_putc(p->out, (char)(*s >= 'A' && *s <= 'Z' ? *s | 0x20 : *s));
    buf_puts(p->out, ")");
}

static void kind_put(const pen *p, const form_field *f)
{
    static const char *const words[] = {
        [FIELD_TEXT] = "string",   [FIELD_INT] = "integer", [FIELD_BOOL] = "boolean",
        [FIELD_NUMBER] = "number", [FIELD_TIME] = "time",   [FIELD_ANY] = "any JSON value",
        [FIELD_OBJECT] = "object", [FIELD_UUID] = "UUID",
    };
    switch (f->kind) {
    case FIELD_ENUM:
        for (const char *w = f->values; *w; w++) {
            if (w == f->values)
                raw(p, "<code>", "`");
            if (*w == '|')
                raw(p, "</code>, <code>", "`, `");
            else
                buf_putc(p->out, *w);
        }
        raw(p, "</code>", "`");
        break;
    case FIELD_ARRAY:
        buf_puts(p->out, "list of ");
        if (form_shape_name(f))
            link_put(p, form_shape_name(f));
        else
            buf_puts(p->out, "strings");
        break;
    case FIELD_OBJECT:
        if (form_shape_name(f)) {
            link_put(p, form_shape_name(f));
            break;
        }
        buf_puts(p->out, words[f->kind]);
        break;
    default:
        buf_puts(p->out, words[f->kind]);
        if (f->kind == FIELD_INT && f->max && f->max != INT64_MAX)
            buf_printf(p->out, " %lld-%lld", (long long)f->min, (long long)f->max);
    }
    if (f->nullable)
        buf_puts(p->out, " or null");
}

static void fields_put(const pen *p, const char *title, const form_field *fields, bool mark)
{
    if (!fields || !fields->name)
        return;
    table_begin(p, title, "Kind", "Meaning");
    for (const form_field *f = fields; f->name; f++) {
        row_begin(p);
        raw(p, "<code>", "`");
        buf_puts(p->out, f->name);
        raw(p, "</code>", "`");
        if (mark && f->required)
            buf_puts(p->out, p->html ? " <em>required</em>" : " (required)");
        cell(p);
        kind_put(p, f);
        cell(p);
        puts_text(p, f->text);
        row_end(p);
    }
    table_end(p);
}

/* -------------------------------------------------------------------- routes */

/* The path with an example for each "{name}". */
static void example_path(buf *out, const face *f, const char *path)
{
    const char *p = path, *from = path, *name;
    size_t n;
    while ((name = doc_path_next(&p, &n))) {
        const face_param *param = doc_param(f, name, n);
        buf_add(out, from, (size_t)(name - 1 - from));
        buf_puts(out, param ? param->example : "ID");
        from = p + 1;
    }
    buf_puts(out, from);
}

/* Writes the example of a query or a body; a JSON body begins with a brace. */
static void example_put(const pen *p, const face *f, const face_route *r)
{
    bool get = strcmp(r->method, "GET") == 0, json = r->example && r->example[0] == '{';
    buf b;
    buf_init(&b, 1 << 16);
    buf_puts(&b, "curl ");
    if (r->flags & ROUTE_STREAM)
        buf_puts(&b, "-N ");
    if (!get)
        buf_printf(&b, "-X %s ", r->method);
    buf_puts(&b, "'http://127.0.0.1:7077");
    example_path(&b, f, r->path);
    if (r->example && !json)
        buf_printf(&b, "?%s", r->example);
    buf_puts(&b, "'");
    if (json)
        buf_printf(&b, " \\\n  -H 'Content-Type: application/json' \\\n  -d '%s'", r->example);
    else if (r->flags & ROUTE_UPLOAD)
        buf_puts(&b, " \\\n  -H 'Content-Type: text/plain' --data-binary @ticket.txt");
    code_block(p, b.data, b.n);
    buf_release(&b);
}

static void errors_put(const pen *p, const doc_error *e, size_t n)
{
    if (!n)
        return;
    table_begin(p, "Status", "Code", "When");
    for (size_t i = 0; i < n; i++) {
        row_begin(p);
        buf_printf(p->out, "%d", e[i].http);
        cell(p);
        raw(p, "<code>", "`");
        buf_puts(p->out, e[i].code);
        raw(p, "</code>", "`");
        cell(p);
        puts_text(p, e[i].text);
        row_end(p);
    }
    table_end(p);
}

static void answer_put(const pen *p, const face_route *r)
{
    raw(p, "<p>", "");
    buf_printf(p->out, "Answers %d", r->success);
    if (r->answer) {
        buf_puts(p->out, " with ");
        link_put(p, r->answer);
    }
    if (r->or_answer) {
        buf_puts(p->out, " or ");
        link_put(p, r->or_answer);
    }
    buf_puts(p->out, ".");
    if (doc_once(r))
        puts_text(p, " Accepts `Idempotency-Key`.");
    if (doc_expects(r))
        puts_text(p, " Accepts `If-Match`.");
    if (r->flags & ROUTE_PAGE)
        puts_text(p, " Accepts `X-Ramet-Position`.");
    if (r->roles == ROLE_ADMIN)
        puts_text(p, " For administrators.");
    raw(p, "</p>\n", "\n\n");
}

static void route_put(const pen *p, const face *f, const face_route *r)
{
    if (p->html)
        buf_printf(p->out, "<section id=\"%s\"><h3><b class=\"m %s\">%s</b> <code>%s</code></h3>\n",
                   r->name, r->method, r->method, r->path);
    else
        buf_printf(p->out, "### %s\n\n`%s %s`\n\n", r->name, r->method, r->path);
    raw(p, "<p class=\"s\">", "");
    puts_text(p, r->summary);
    raw(p, ".</p>\n", ".\n\n");
    para(p, r->about);
    fields_put(p, "Parameter", r->query, true);
    fields_put(p, "Member", r->body, true);
    answer_put(p, r);
    example_put(p, f, r);
    doc_error e[DOC_ERRORS];
    errors_put(p, e, doc_errors(r, false, e));
    raw(p, "</section>\n", "");
}

static bool group_starts(const face *f, const face_route *r)
{
    const face_route *first = f->routes;
    while (strcmp(first->group, r->group) != 0)
        first++;
    return first == r;
}

static void routes_put(const pen *p, const face *f)
{
    for (const face_route *g = f->routes; g->method; g++) {
        if (!group_starts(f, g))
            continue;
        raw(p, "<h2>", "## ");
        puts_text(p, g->group);
        raw(p, "</h2>\n", "\n\n");
        for (const face_route *r = g; r->method; r++)
            if (strcmp(r->group, g->group) == 0)
                route_put(p, f, r);
    }
}

static void schemas_put(const pen *p, const face *f)
{
    for (const form_schema *const *all = f->schemas; all && *all; all++) {
        const form_schema *s = *all;
        if (p->html)
            buf_printf(p->out, "<section id=\"%s\"><h3>%s</h3>\n", s->name, s->name);
        else
            buf_printf(p->out, "### %s\n\n", s->name);
        para(p, s->text);
        fields_put(p, "Member", s->fields, false);
        raw(p, "</section>\n", "");
    }
}

/* --------------------------------------------------------------------- pages */

static const char style[] =
    ":root{color-scheme:light "
    "dark;--bg:#fff;--fg:#1c2024;--dim:#60646c;--line:#e0e3e8;--soft:#f6f7f9;"
    "--link:#0b68cb}"
    "@media(prefers-color-scheme:dark){:root{--bg:#111418;--fg:#e6e9ee;--dim:#9aa3af;--line:#"
    "2a3038;"
    "--soft:#1a1f26;--link:#6cb2ff}}"
    "*{box-sizing:border-box}html{scroll-padding-top:1rem}"
    "body{margin:0;background:var(--bg);color:var(--fg);font:16px/1.55 system-ui,sans-serif}"
    "header{padding:1rem;border-bottom:1px solid var(--line);background:var(--soft)}"
    "header h1{margin:0}header p{margin:.25rem 0 0;max-width:60rem}"
    "main{max-width:62rem;padding:0 1rem 4rem;min-width:0}"
    "nav ul{list-style:none;margin:.5rem 0;padding:0;font-size:.875rem}"
    "nav li{margin:.2rem 0}nav li.g{font-weight:600;margin-top:1rem}"
    "nav label{display:block;padding:.75rem 1rem;border-bottom:1px solid "
    "var(--line);cursor:pointer;color:var(--link)}"
    "nav ul{display:none;padding:0 1rem}nav input:checked~ul{display:block}"
    "nav input{position:absolute;opacity:0}nav input:focus-visible+label{outline:2px solid "
    "var(--link)}"
    "@media(min-width:64rem){.page{display:grid;grid-template-columns:19rem 1fr;gap:2rem}"
    "nav{position:sticky;top:0;max-height:100vh;overflow-y:auto;border-right:1px solid "
    "var(--line)}"
    "nav label{display:none}nav ul{display:block;margin:0;padding:0 1rem 2rem}}"
    "a{color:var(--link);text-decoration:none}a:hover,a:focus{text-decoration:underline}"
    "h1{margin:.5rem 0}h2{margin-top:2.5rem;border-bottom:1px solid var(--line)}"
    "h3{font-size:1.05rem;margin:2rem 0 .25rem;overflow-wrap:anywhere}"
    "code,pre{font:.875em/1.5 ui-monospace,SFMono-Regular,Menlo,monospace}"
    "pre{background:var(--soft);border:1px solid var(--line);border-radius:.375rem;padding:.75rem;"
    "overflow-x:auto}"
    ".s{color:var(--dim);margin:.25rem 0}.t{overflow-x:auto}"
    "table{border-collapse:collapse;width:100%;font-size:.9rem;margin:.5rem 0}"
    "th,td{text-align:left;vertical-align:top;padding:.3rem .6rem .3rem 0;border-bottom:1px solid "
    "var(--line)}"
    "th{color:var(--dim);font-weight:600}td:first-child{white-space:nowrap}td:first-child "
    "code{font-weight:600}"
    "em{color:var(--dim);font-size:.85em}"
    ".m{display:inline-block;min-width:3.6rem;font-size:.8rem}.GET{color:#1a7f37}.POST{color:#"
    "0b68cb}"
    ".PUT,.PATCH{color:#9a6700}.DELETE{color:#cf222e}"
    "@media(max-width:40rem){thead{display:none}tr{display:block;padding:.4rem 0;border-bottom:1px "
    "solid var(--line)}td{display:inline;border:0}td:last-child{display:block}}"
    "@media(prefers-color-scheme:dark){.GET{color:#4cc26a}.POST{color:#6cb2ff}.PUT,.PATCH{color:#"
    "e3b341}.DELETE{color:#ff7b72}}";

static void nav_put(const pen *p, const face *const *faces, size_t n)
{
    buf_puts(p->out, "<nav aria-label=\"Routes\"><input type=\"checkbox\" id=\"all\">"
                     "<label for=\"all\">All routes</label><ul>\n");
    for (size_t i = 0; i < n; i++)
        for (const face_route *r = faces[i]->routes; r->method; r++) {
            if (group_starts(faces[i], r)) {
                buf_puts(p->out, "<li class=\"g\">");
                puts_text(p, r->group);
                buf_puts(p->out, "</li>\n");
            }
            buf_printf(p->out, "<li><a href=\"#%s\">", r->name);
            puts_text(p, r->summary);
            buf_puts(p->out, "</a></li>\n");
        }
    buf_puts(p->out, "</ul></nav>\n");
}

/* Writes the errors common to all faces. */
static void errors_common_put(const pen *p)
{
    doc_error e[DOC_ERRORS];
    raw(p, "<h2 id=\"errors\">Errors</h2>\n", "## Errors\n\n");
    para(
        p,
        "Every error is JSON: `code` is stable, for programs; `error` is one line for users; "
        "`field` names "
        "the parameter or member that is wrong; `request_id` is the `X-Request-ID` of the request. "
        "A request "
        "that failed has changed nothing. Besides the errors listed with each route:");
    errors_put(p, e, doc_errors_common(e));
}

void face_docs_html(const face *const *faces, size_t n, const char *version, buf *out)
{
    pen p = {.out = out, .html = true};
    buf_printf(out,
               "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
               "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
               "<title>Ramet %s: the API</title><style>%s</style></head>\n<body>\n",
               version, style);
    buf_printf(out,
               "<header><h1>Ramet %s</h1>\n<p>Conversations that can be forked, rewound, edited "
               "and compared at any message, without copying or losing anything. "
               "For programs: <a href=\"/openapi.json\">/openapi.json</a></p></header>\n"
               "<div class=\"page\">\n",
               version);
    nav_put(&p, faces, n);
    buf_puts(out, "<main>\n");
    errors_common_put(&p);
    for (size_t i = 0; i < n; i++) {
        buf_puts(out, "<h1>");
        puts_text(&p, faces[i]->title);
        buf_puts(out, "</h1>\n");
        para(&p, faces[i]->about);
        routes_put(&p, faces[i]);
    }
    buf_puts(out, "<h1>Shapes</h1>\n");
    for (size_t i = 0; i < n; i++)
        schemas_put(&p, faces[i]);
    buf_puts(out, "</main></div></body></html>\n");
}

void face_docs_markdown(const face *f, buf *out)
{
    pen p = {.out = out};
    buf_printf(out, "# %s\n\n", f->title);
    buf_printf(
        out, "<!-- Written by `ramet help --api %s` from the table of routes; do not edit. -->\n\n",
        f->name);
    para(&p, f->about);
    errors_common_put(&p);
    routes_put(&p, f);
    if (!f->schemas || !*f->schemas)
        return;
    buf_puts(out, "## Shapes\n\n");
    schemas_put(&p, f);
}
