/* SPDX-License-Identifier: Apache-2.0
 *
 * parts.c: the parts of a message, in the normal form of an entry.
 */
#include "foreign/foreign.h"

#include "base/base64.h"

#include <string.h>

/* --------------------------------------------------------------------- values */

const char *pick_text(arena *a, const json_doc *d, const json_node *obj, const char *key)
{
    return json_text(a, d, json_get(d, obj, key));
}

int64_t pick_int(const json_doc *d, const json_node *obj, const char *key)
{
    int64_t v = 0;
    const json_node *n = json_get(d, obj, key);
    return n && json_int(d, n, &v) && v > 0 ? v : 0;
}

bool pick_true(const json_doc *d, const json_node *obj, const char *key)
{
    return json_is(json_get(d, obj, key), JSON_TRUE);
}

bool pick_is(const json_doc *d, const json_node *v, const char *text)
{
    size_t n = strlen(text);
    return json_is(v, JSON_STRING) && v->end - v->start == n + 2 &&
           memcmp(d->text + v->start + 1, text, n) == 0;
}

/* Seconds up to the year 5138 are below this, milliseconds from 1973 on above. */
#define MAX_SECONDS INT64_C(100000000000)

int64_t pick_time(arena *a, const json_doc *d, const json_node *obj, const char *key)
{
    int64_t us = 0, nano, whole;
    const json_node *v = json_get(d, obj, key);
    if (json_is(v, JSON_STRING))
        return time_parse(json_text(a, d, v), &us) && us > 0 ? us : 0;
    if (!json_is(v, JSON_NUMBER))
        return 0;
    if (json_int(d, v, &whole)) {
        if (whole <= 0 || whole > MAX_SECONDS * 1000)
            return 0;
        return whole < MAX_SECONDS ? whole * 1000000 : whole * 1000;
    }
    return json_nano(d, v, &nano) && nano > 0 ? nano / 1000 : 0;
}

bool pick_usage(const json_doc *d, const json_node *obj, const char *input, const char *output,
                const char *cached, ramet_usage *out)
{
    if (!json_get(d, obj, input) && !json_get(d, obj, output))
        return false;
    *out = (ramet_usage){.input = pick_int(d, obj, input),
                         .output = pick_int(d, obj, output),
                         .cached = cached ? pick_int(d, obj, cached) : 0};
    return true;
}

/* The levels of a value; the recursion is as deep as the JSON: at most MAX_NESTING. */
static int levels_of(const json_doc *d, const json_node *v)
{
    int most = 0;
    if (v->type != JSON_OBJECT && v->type != JSON_ARRAY)
        return 0;
    for (const json_node *c = json_first(d, v); c; c = json_next(d, v, c)) {
        int levels = levels_of(d, c);
        most = levels > most ? levels : most;
    }
    return most + 1;
}

static void value_put(json_writer *w, arena *a, const json_doc *d, const json_node *v)
{
    size_t n;
    bool object = v->type == JSON_OBJECT, key = object;
    if (v->type == JSON_STRING) {
        const char *text = json_textn(a, d, v, &n);
        jw_strn(w, text, n);
        return;
    }
    if (v->type != JSON_OBJECT && v->type != JSON_ARRAY) {
        jw_raw(w, json_raw(a, d, v));
        return;
    }
    (object ? jw_object : jw_array)(w);
    for (const json_node *c = json_first(d, v); c; c = json_next(d, v, c)) {
        if (object && key)
            jw_key(w, json_text(a, d, c));
        else
            value_put(w, a, d, c);
        key = !key;
    }
    (object ? jw_end_object : jw_end_array)(w);
}

const char *pick_json(arena *a, const json_doc *d, const json_node *v)
{
    buf b;
    json_writer w;
    /* A writer knows 64 levels. */
    if (v->type == JSON_NUMBER || levels_of(d, v) > 50)
        return json_raw(a, d, v);
    buf_init(&b, MAX_TEXT_BYTES);
    jw_init(&w, &b, 0);
    value_put(&w, a, d, v);
    return buf_keep(&b, a);
}

const char *json_or_text(arena *a, const char *text)
{
    json_doc d;
    if (json_parse(a, text, strlen(text), MAX_NESTING, &d, NULL))
        return pick_json(a, &d, d.nodes);
    return json_quote(a, text);
}

const char *call_id_of(arena *a, int64_t created)
{
    return arena_printf(a, "call-%lld", (long long)created);
}

/* -------------------------------------------------------------------- messages */

static void side_open(buf *b, json_writer *w, size_t *n)
{
    buf_init(b, MAX_TEXT_BYTES);
    jw_init(w, b, 0);
    jw_array(w);
    *n = 0;
}

void msg_begin(foreign_message *m, foreign_job *j, foreign_conversation *c, const char *id,
               ramet_role role, int64_t created)
{
    *m = (foreign_message){.job = j,
                           .conversation = c,
                           .id = id,
                           .role = role,
                           .created = created,
                           .up = -1,
                           .last = -1,
                           .first_file = c->files.n};
    side_open(&m->said, &m->say, &m->n_said);
    side_open(&m->results, &m->answer, &m->n_results);
}

/* One entry of the parts that a side has. */
static void entry_add(foreign_message *m, buf *b, json_writer *w, size_t *n, ramet_role role)
{
    foreign_conversation *c = m->conversation;
    foreign_node e = {
        .role = role, .created = m->created, .up = m->up, .first_file = m->first_file};
    jw_end_array(w);
    e.parts = b->over ? NULL : arena_memdup(c->mem, b->data, b->n);
    if (!e.parts || b->n > MAX_PARTS_BYTES) {
        skip_note(m->job, "messages over 16 MB; a note stands in their place", NULL, 0);
        e.parts = "[{\"type\":\"text\",\"text\":\"(left out by the import: over 16 MB)\"}]";
    }
    e.n_files = c->files.n - m->first_file;
    m->first_file = c->files.n;
    m->steps++;
    e.id = m->steps == 1 || !m->id ? m->id : arena_printf(c->mem, "%s.%d", m->id, m->steps);
    if (m->steps == 1)
        e.parent = m->parent;
    else
        e.up = m->last;
    m->last = (int64_t)c->nodes.n;
    VEC_PUSH(c->mem, &c->nodes, e);
    buf_release(b);
    side_open(b, w, n);
}

/* What was said before results is an entry, and so are the results. */
static void step_end(foreign_message *m)
{
    if (m->n_said)
        entry_add(m, &m->said, &m->say, &m->n_said, m->role);
    if (m->n_results)
        entry_add(m, &m->results, &m->answer, &m->n_results, RAMET_TOOL);
}

/* Begins a part that is not a result. */
static json_writer *part_begin(foreign_message *m, const char *type)
{
    bool call = strcmp(type, "tool_call") == 0;
    if (m->n_results && m->role == RAMET_ASSISTANT && !call)
        step_end(m);
    m->n_said++;
    jw_object(&m->say);
    jw_kstr(&m->say, "type", type);
    return &m->say;
}

static bool is_blank(const char *s)
{
    return !s || !s[strspn(s, " \t\r\n")];
}

void msg_text(foreign_message *m, const char *text)
{
    if (is_blank(text))
        return;
    json_writer *w = part_begin(m, "text");
    jw_kstr(w, "text", text);
    jw_end_object(w);
}

void msg_thinking(foreign_message *m, const char *text)
{
    if (is_blank(text))
        return;
    json_writer *w = part_begin(m, "thinking");
    jw_kstr(w, "text", text);
    jw_end_object(w);
}

void msg_call(foreign_message *m, const char *id, const char *name, const char *input)
{
    json_writer *w = part_begin(m, "tool_call");
    jw_kstr(w, "id", id && *id ? id : "call");
    jw_kstr(w, "name", name && *name ? name : "tool");
    jw_kraw(w, "input", input ? input : "{}");
    jw_end_object(w);
}

void msg_result(foreign_message *m, const char *id, const char *output, bool failed)
{
    bool aside = m->role == RAMET_ASSISTANT;
    json_writer *w = aside ? &m->answer : &m->say;
    ++*(aside ? &m->n_results : &m->n_said);
    jw_object(w);
    jw_kstr(w, "type", "tool_result");
    jw_kstr(w, "id", id && *id ? id : "call");
    jw_kraw(w, "output", output ? output : "\"\"");
    if (failed)
        jw_kbool(w, "is_error", true);
    jw_end_object(w);
}

void msg_data(foreign_message *m, const char *json)
{
    json_writer *w = part_begin(m, "data");
    jw_kraw(w, "data", json);
    jw_end_object(w);
}

/* ----------------------------------------------------------------------- files */

static void file_part(foreign_message *m, const char *key, const char *value, const char *name,
                      const char *media_type)
{
    json_writer *w = part_begin(m, "file");
    jw_kstr(w, key, value);
    if (name && *name)
        jw_kstr(w, "name", name);
    if (media_type && *media_type)
        jw_kstr(w, "media_type", media_type);
    jw_end_object(w);
}

/* A name that the store takes: at most 255 characters. */
static const char *short_name(arena *a, const char *name)
{
    return name && utf8_count(name) > 200 ? arena_memdup(a, name, utf8_prefix(name, 200)) : name;
}

void msg_bytes(foreign_message *m, const char *bytes, size_t n, const char *name,
               const char *media_type)
{
    foreign_conversation *c = m->conversation;
    uint8_t h[HASH_LEN];
    foreign_file f = {.bytes = bytes, .n = n};
    if (n > MAX_FILE_BYTES) {
        skip_note(m->job, "files over 64 MiB", NULL, 0);
        file_part(m, "url", "about:blank#left-out-by-the-import", name, media_type);
        return;
    }
    f.name = short_name(c->mem, name);
    f.media_type = media_type && strlen(media_type) < 200 ? media_type : NULL;
    sha_of(bytes, n, h);
    hex_encode(h, HASH_LEN, f.hex);
    if (m->role == RAMET_ASSISTANT && m->n_results)
        step_end(m);
    VEC_PUSH(c->mem, &c->files, f);
    file_part(m, "attachment_id", arena_printf(c->mem, "sha256:%s", f.hex), f.name, f.media_type);
}

void msg_base64(foreign_message *m, const char *base64, const char *name, const char *media_type)
{
    size_t n = strlen(base64), size;
    while (n && base64[n - 1] == '=')
        n--;
    char *bytes = arena_alloc(m->conversation->mem, n + 1);
    if (base64_decode(base64, n, bytes, &size)) {
        msg_bytes(m, bytes, size, name, media_type);
        return;
    }
    skip_note(m->job, "files whose base64 is damaged", NULL, 0);
    file_part(m, "url", "about:blank#damaged-in-the-export", name, media_type);
}

void msg_url(foreign_message *m, const char *url, const char *name, const char *media_type)
{
    const char *comma = strncmp(url, "data:", 5) == 0 ? strchr(url, ',') : NULL;
    if (!comma || comma - url < 12 || memcmp(comma - 7, ";base64", 7) != 0) {
        if (!comma)
            skip_note(m->job, "files that are only named in the export", NULL, 0);
        file_part(m, "url", url, name, media_type);
        return;
    }
    const char *end = strchr(url, ';');
    msg_base64(m, comma + 1, name,
               arena_memdup(m->conversation->mem, url + 5, (size_t)(end - url - 5)));
}

int64_t msg_end(foreign_message *m)
{
    foreign_conversation *c = m->conversation;
    step_end(m);
    if (!m->steps) { /* it has no content, but others may name it as their parent */
        foreign_node e = {.id = m->id, .parent = m->parent, .up = m->up, .created = m->created};
        m->last = (int64_t)c->nodes.n;
        VEC_PUSH(c->mem, &c->nodes, e);
    }
    if (m->steps > 1 && m->id) {
        VEC_PUSH(c->mem, &c->aliases, m->id);
        VEC_PUSH(c->mem, &c->aliases, c->nodes.items[m->last].id);
    }
    if (m->has_usage && m->steps) {
        /* of the last entry that the model has made */
        for (int64_t i = m->last; i > m->last - m->steps; i--)
            if (c->nodes.items[i].role != RAMET_TOOL || i == m->last - m->steps + 1) {
                c->nodes.items[i].usage = m->usage;
                c->nodes.items[i].has_usage = true;
                break;
            }
    }
    buf_release(&m->said);
    buf_release(&m->results);
    return m->last;
}
