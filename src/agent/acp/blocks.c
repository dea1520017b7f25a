/* SPDX-License-Identifier: Apache-2.0
 *
 * blocks.c: a user's message as ACP content blocks. Text comes first, since a program looks there
 * for its commands; each attachment is a line that names it, followed by its content if the program
 * accepts that type.
 */
#include "agent/acp/acp.h"

#include "base/base64.h"
#include "base/util.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>

static void block_add(buf *to, const char *json)
{
    if (to->n && to->data[to->n - 1] != '[')
        buf_putc(to, ',');
    buf_puts(to, json);
}

void block_add_text(buf *to, arena *a, const char *text)
{
    block_add(to, arena_printf(a, "{\"type\":\"text\",\"text\":%s}", json_quote(a, text)));
}

/* Reads n bytes and adds a NUL; NULL if they cannot all be read. */
static char *bytes_read(arena *a, int fd, size_t n)
{
    char *bytes = arena_alloc(a, n + 1);
    size_t at = 0;
    for (ssize_t got; at < n && (got = pread(fd, bytes + at, n - at, (off_t)at)) > 0;)
        at += (size_t)got;
    bytes[at] = 0;
    return at == n ? bytes : NULL;
}

static const char *base64_quoted(arena *a, const char *bytes, size_t n)
{
    char *text = arena_alloc(a, BASE64_LEN(n) + 3);
    text[0] = '"';
    size_t len = base64_encode(bytes, n, text + 1);
    text[1 + len] = '"';
    text[2 + len] = 0;
    return text;
}

/* A URI that distinguishes the files of a message; nothing can be fetched from it. */
static const char *file_uri(arena *a, const char *id, const char *name)
{
    buf b;
    buf_init(&b, strlen(id) + 3 * strlen(name) + 32);
    buf_printf(&b, "ramet:attachments/%s/", id);
    buf_percent(&b, name, "-._~");
    return buf_keep(&b, a);
}

/* The ACP kind of content for a media type; NULL: the program does not accept it. SVG is text:
 * models refuse it as an image. */
static const char *kind_of(const program *p, const char *media)
{
    if (p->takes_images && strncasecmp(media, "image/", 6) == 0 &&
        strncasecmp(media, "image/svg", 9) != 0)
        return "image";
    if (p->takes_sounds && strncasecmp(media, "audio/", 6) == 0)
        return "audio";
    return p->takes_files ? "resource" : NULL;
}

static const char *resource_block(arena *a, const char *uri, const char *media, const char *bytes,
                                  size_t n)
{
    bool text = utf8_valid(bytes, n) && strlen(bytes) == n;
    member inside[] = {
        {"uri", json_quote(a, uri)},
        {"mimeType", *media ? json_quote(a, media) : NULL},
        {text ? "text" : "blob", text ? json_quote(a, bytes) : base64_quoted(a, bytes, n)}};
    member all[] = {{"type", "\"resource\""}, {"resource", json_with(a, NULL, inside, 3)}};
    return json_with(a, NULL, all, 2);
}

static const char *media_block(arena *a, const char *kind, const char *media, const char *bytes,
                               size_t n)
{
    member all[] = {{"type", json_quote(a, kind)},
                    {"data", base64_quoted(a, bytes, n)},
                    {"mimeType", json_quote(a, media)}};
    return json_with(a, NULL, all, 3);
}

/* A file part. */
typedef struct part {
    const char *id, *url, *name, *media; /* "" if unknown */
} part;

static void link_put(buf *to, arena *a, const part *f)
{
    member all[] = {{"type", "\"resource_link\""},
                    {"uri", json_quote(a, f->url)},
                    {"name", json_quote(a, *f->name ? f->name : f->url)},
                    {"mimeType", *f->media ? json_quote(a, f->media) : NULL}};
    block_add(to, json_with(a, NULL, all, 4));
}

/* The content of an attachment; NULL: too large, empty, or not accepted by the program. */
static const char *attachment_block(arena *a, const program *p, const part *f,
                                    const agent_file *about, size_t *room)
{
    const char *kind = kind_of(p, f->media);
    size_t n = (size_t)about->size;
    const char *bytes = about->fd >= 0 && kind && n ? bytes_read(a, about->fd, n) : NULL;
    if (about->fd >= 0)
        close(about->fd);
    if (!bytes)
        return NULL;
    *room -= n;
    return strcmp(kind, "resource") == 0
               ? resource_block(a, file_uri(a, f->id, f->name), f->media, bytes, n)
               : media_block(a, kind, f->media, bytes, n);
}

static void attachment_put(buf *to, arena *a, const program *p, const agent_turn *t, part f,
                           size_t *room)
{
    agent_file about;
    const char *block = NULL, *size = "";
    if (t->file && t->file(t->file_arg, f.id, *room, &about)) {
        f.name = *f.name ? f.name : about.name;
        f.media = *f.media ? f.media : about.media_type;
        size = arena_printf(a, "%s%lld bytes", *f.media ? ", " : "", (long long)about.size);
        block = attachment_block(a, p, &f, &about, room);
    }
    if (!block && *f.url) {
        link_put(to, a, &f);
        return;
    }
    bool described = *f.media || *size;
    block_add_text(to, a,
                   arena_printf(a, "[file%s%s%s%s%s%s]", *f.name ? " " : "", f.name,
                                described ? " (" : "", f.media, size, described ? ")" : ""));
    if (block)
        block_add(to, block);
}

void blocks_put(buf *to, arena *a, const program *p, const agent_turn *t, const ramet_entry *e,
                size_t *room)
{
    message m = {.arena = a};
    if (*e->text)
        block_add_text(to, a, e->text);
    if (!e->parts || !json_parse(a, e->parts, strlen(e->parts), 0, &m.doc, NULL))
        return;
    for (const json_node *v = json_first(&m.doc, m.doc.nodes); v;
         v = json_next(&m.doc, m.doc.nodes, v)) {
        const char *type = message_text(&m, v, "type"), *id = message_text(&m, v, "attachment_id");
        const char *url = message_text(&m, v, "url"), *name = message_text(&m, v, "name");
        const char *media = message_text(&m, v, "media_type");
        part f = {id ? id : "", url ? url : "", name ? name : "", media ? media : ""};
        if (!type || strcmp(type, "file") != 0)
            continue;
        if (*f.id)
            attachment_put(to, a, p, t, f, room);
        else if (*f.url)
            link_put(to, a, &f);
    }
}
