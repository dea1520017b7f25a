/* SPDX-License-Identifier: Apache-2.0
 *
 * prompt.c: builds the body of a prompt: a transcript where the inner session does not hold the
 * history, the message, its files, and what marks it as ours (O2).
 */
#include "agent/opencode/opencode.h"

#include "agent/transcript.h"
#include "base/base64.h"

#include <string.h>
#include <unistd.h>

typedef struct composer {
    arena *arena;
    json_writer writer;
    const oc_want *want;
    const char *store;
    size_t room;    /* bytes left for attachments */
    bool is_marked; /* a part has the mark */
} composer;

static void mark_write(composer *c)
{
    const agent_turn *t = c->want->turn;
    json_writer *w = &c->writer;
    if (c->is_marked)
        return;
    c->is_marked = true;
    jw_key(w, "metadata");
    jw_object(w);
    jw_key(w, "ramet");
    jw_object(w);
    jw_kstr(w, "store", c->store);
    jw_kstr(w, "turn", t->turn_id);
    jw_kstr(w, "hash", t->n ? t->history[t->n - 1].hash : "");
    jw_kstr(w, "view", c->want->view);
    jw_end_object(w);
    jw_end_object(w);
}

static void text_add(composer *c, const char *text)
{
    jw_object(&c->writer);
    jw_kstr(&c->writer, "type", "text");
    jw_kstr(&c->writer, "text", text);
    mark_write(c);
    jw_end_object(&c->writer);
}

/* OpenCode leaves a synthetic part out of its titles and of what it shows as typed. */
static void transcript_add(composer *c, const char *text)
{
    jw_object(&c->writer);
    jw_kstr(&c->writer, "type", "text");
    jw_kbool(&c->writer, "synthetic", true);
    jw_kstr(&c->writer, "text", text);
    jw_end_object(&c->writer);
}

/* The content of an attachment as a data URL; NULL: it cannot be read. */
static const char *file_url(arena *a, const agent_file *f, const char *media)
{
    size_t n = (size_t)f->size, got = 0;
    char *bytes = arena_alloc(a, n + 1);
    while (got < n) {
        ssize_t some = read(f->fd, bytes + got, n - got);
        if (some <= 0)
            return NULL;
        got += (size_t)some;
    }
    char *text = arena_alloc(a, BASE64_LEN(n) + 1);
    base64_encode(bytes, n, text);
    return arena_printf(a, "data:%s;base64,%s", media, text);
}

static void file_add(composer *c, const json_doc *d, const json_node *part)
{
    const agent_turn *t = c->want->turn;
    const char *id = oc_text(c->arena, d, part, "attachment_id");
    const char *name = oc_text(c->arena, d, part, "name");
    const char *media = oc_text(c->arena, d, part, "media_type"), *url = NULL;
    agent_file about = {.fd = -1};
    if (id && t->file && t->file(t->file_arg, id, c->room, &about)) {
        name = name && *name ? name : arena_strdup(c->arena, about.name);
        media = media && *media ? media : arena_strdup(c->arena, about.media_type);
        media = media && *media ? media : "application/octet-stream";
        if (about.fd >= 0) {
            url = file_url(c->arena, &about, media);
            close(about.fd);
        }
    }
    if (!url) {
        text_add(c, transcript_part(c->arena, d, part));
        return;
    }
    c->room -= (size_t)about.size;
    jw_object(&c->writer);
    jw_kstr(&c->writer, "type", "file");
    jw_kstr(&c->writer, "mime", media);
    jw_kstr(&c->writer, "filename", name && *name ? name : "file");
    jw_kstr(&c->writer, "url", url);
    jw_end_object(&c->writer);
}

static void entry_add(composer *c, const ramet_entry *e)
{
    json_doc d;
    if (!e->parts || !json_parse(c->arena, e->parts, strlen(e->parts), 0, &d, NULL)) {
        text_add(c, e->text);
        return;
    }
    for (const json_node *p = json_first(&d, &d.nodes[0]); p; p = json_next(&d, &d.nodes[0], p)) {
        const char *line = transcript_part(c->arena, &d, p);
        if (oc_is(c->arena, &d, p, "type", "file"))
            file_add(c, &d, p);
        else if (line)
            text_add(c, line);
    }
}

static void parts_write(composer *c, const oc_settings *set, bool is_complete)
{
    const oc_want *want = c->want;
    const char *before =
        is_complete ? ""
                    : transcript_make(c->arena, want->turn, want->message, (size_t)set->transcript);
    jw_key(&c->writer, "parts");
    jw_array(&c->writer);
    if (*before)
        transcript_add(c, before);
    for (size_t i = want->message; i < want->turn->n; i++)
        entry_add(c, &want->turn->history[i]);
    if (!c->is_marked)
        text_add(c, want->message < want->turn->n ? "" : "Go on.");
    jw_end_array(&c->writer);
}

/* `PROVIDER/MODEL`, or with the session's provider. Left out where neither names a provider. */
static void model_write(composer *c, const oc_settings *set)
{
    const ramet_agent *s = &c->want->turn->session;
    const char *model = s->model && *s->model ? s->model : set->model;
    const char *provider = s->model && *s->model && s->provider ? s->provider : "";
    const char *slash = strchr(model, '/');
    if (!*provider && slash) {
        provider = arena_memdup(c->arena, model, (size_t)(slash - model));
        model = slash + 1;
    }
    if (!*model || !*provider)
        return;
    jw_key(&c->writer, "model");
    jw_object(&c->writer);
    jw_kstr(&c->writer, "providerID", provider);
    jw_kstr(&c->writer, "modelID", model);
    jw_end_object(&c->writer);
}

/* Of the session's options: `mode` (OpenCode's agent: build, plan …), `variant`, `system`. */
static void options_write(composer *c, const oc_settings *set)
{
    static const char *const names[][2] = {
        {"mode", "agent"}, {"variant", "variant"}, {"system", "system"}};
    const char *options = c->want->turn->session.options;
    json_doc d = {0};
    if (!options || !json_parse(c->arena, options, strlen(options), 0, &d, NULL))
        d.n = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = d.n ? oc_text(c->arena, &d, d.nodes, names[i][0]) : NULL;
        if (!value && i == 0)
            value = set->mode;
        if (value && *value)
            jw_kstr(&c->writer, names[i][1], value);
    }
}

const char *oc_prompt_body(arena *a, const oc_settings *set, const oc_want *want, bool is_complete)
{
    buf out;
    composer c = {.arena = a, .want = want, .store = set->store, .room = OC_FILES_BYTES};
    buf_init(&out, OC_REQUEST_BYTES);
    jw_init(&c.writer, &out, 0);
    jw_object(&c.writer);
    model_write(&c, set);
    options_write(&c, set);
    parts_write(&c, set, is_complete);
    jw_end_object(&c.writer);
    return buf_keep_whole(&out, a);
}
