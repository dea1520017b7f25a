/* SPDX-License-Identifier: Apache-2.0
 *
 * page.c: the web page, from the binary. A browser gets index.html at every path that the page
 * handles, and the files that it names under /assets.
 *
 * The names under /assets contain a hash of their content, so a browser may cache them for ever;
 * index.html, which names them, is requested each time and mostly answered with 304.
 */
#include "server/page.h"

#include "server/server.h"

#include <string.h>

/* No scripts but those in the binary, nothing from any other host. Inline styles are allowed: menus
 * and dialogs stop the page from scrolling with a style element that is created when they open. */
#define PAGE_POLICY                                                                                \
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' "     \
    "data: blob:; font-src 'self'; connect-src 'self'; manifest-src 'self'; form-action 'self'; "  \
    "base-uri 'none'; frame-ancestors 'none'"

static const page_file *file_find(const char *folder, const char *name)
{
    size_t n = strlen(folder);
    for (const page_file *f = page_files; f->path; f++)
        if (strncmp(f->path, folder, n) == 0 && strcmp(f->path + n, name) == 0)
            return f;
    return NULL;
}

static page_coding coding_choose(request *q, const page_file *f)
{
    const char *takes = q->header(q, "Accept-Encoding");
    if (f->as[PAGE_BROTLI].n && http_takes(takes, "br"))
        return PAGE_BROTLI;
    if (f->as[PAGE_GZIP].n && http_takes(takes, "gzip"))
        return PAGE_GZIP;
    return PAGE_PLAIN;
}

static void file_answer(request *q, const page_file *f, const char *keep)
{
    static const char *const names[PAGE_CODINGS] = {"", "br", "gzip"};
    page_coding as = coding_choose(q, f);
    request_add_header(q, "ETag", arena_printf(q->arena, "\"%s%s\"", f->tag, names[as]));
    request_add_header(q, "Cache-Control", keep);
    request_add_header(q, "Cross-Origin-Resource-Policy", "same-origin");
    if (as != PAGE_PLAIN)
        request_add_header(q, "Content-Encoding", names[as]);
    if (f->as[PAGE_BROTLI].n || f->as[PAGE_GZIP].n)
        request_add_header(q, "Vary", "Accept-Encoding");
    q->cacheable = true;
    q->type = f->type;
    buf_add(&q->out, page_bytes + f->as[as].at, f->as[as].n);
    face_done(q);
}

static void page_run(request *q)
{
    request_add_header(q, "Content-Security-Policy", PAGE_POLICY);
    request_add_header(q, "Referrer-Policy", "same-origin");
    request_add_header(q, "Cross-Origin-Opener-Policy", "same-origin");
    request_add_header(q, "Permissions-Policy",
                       "camera=(), geolocation=(), microphone=(), payment=(), usb=()");
    file_answer(q, file_find("", "index.html"), "no-cache");
}

static void file_run(request *q, const char *folder, const char *name, const char *keep)
{
    const page_file *f = file_find(folder, name);
    if (f)
        file_answer(q, f, keep);
    else
        request_fail(q, 404, "not_found", NULL, "the page has no file of that name");
}

static void asset_run(request *q)
{
    file_run(q, "assets/", face_path(q, "file"), "public, max-age=31536000, immutable");
}

static void icon_run(request *q)
{
    file_run(q, "", "icon.svg", "public, max-age=86400");
}

/* The page itself reads the query (?share=, ?entry=); the server ignores it. */
#define PAGE_ROUTE(at, id, what)                                                                   \
    ROUTE("GET", at, ROLE_ANYONE, .name = id, .group = "The page", .summary = what,                \
          .flags = ROUTE_QUICK | ROUTE_LOOSE, .success = 200, .run = page_run)

static const face_route routes[] = {
    PAGE_ROUTE("/", "page", "Show the page: chats, forks, branches, in a browser"),
    PAGE_ROUTE("/chat/{id}", "pageChat", "Show a chat on the page"),
    PAGE_ROUTE("/timeline/{id}", "pageTimeline", "Show the tree of a chat on the page"),
    PAGE_ROUTE("/compare", "pageCompare", "Compare chats on the page"),
    ROUTE("GET", "/assets/{file}", ROLE_ANYONE, .name = "pageAsset", .group = "The page",
          .summary = "Get a file of the page",
          .about = "Its name changes with its content, so it may be cached for ever.",
          .flags = ROUTE_QUICK | ROUTE_LOOSE, .success = 200, .run = asset_run),
    ROUTE("GET", "/icon.svg", ROLE_ANYONE, .name = "pageIcon", .group = "The page",
          .summary = "Get the icon of the page", .flags = ROUTE_QUICK | ROUTE_LOOSE, .success = 200,
          .run = icon_run),
    ROUTES_END,
};

static const face_param params[] = {
    {.name = "id", .text = "id of a session, percent-encoded", .example = "trip"},
    {.name = "file", .text = "the name of a file, as in index.html", .example = "index.js"},
    {.name = NULL},
};

const face face_page = {
    .name = "page",
    .title = "The page",
    .prefix = "",
    .routes = routes,
    .params = params,
};
