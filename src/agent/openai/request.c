/* SPDX-License-Identifier: Apache-2.0
 *
 * request.c: the body of a request to a chat-completions endpoint.
 *
 * Invariants, so that a provider finds the beginning of a fork's prompt in its cache:
 *   Q1  The same settings and the same entries give the same bytes, on every server and at any
 *       time.
 *   Q2  The messages are the last member, in the order of the history. So the body for a history
 *       that continues another one starts with the other's, up to the closing brackets.
 *   Q3  A message depends only on its entry and those before it. Only the last open answer may grow
 *       when more of it follows (its text, then its calls).
 * And so that the endpoint accepts it:
 *   Q4  The result of each tool call follows it directly.
 */
#include "agent/openai/openai.h"

#include "base/util.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { CACHE_KEY_BYTES = 64, CALL_ID_BYTES = 40, NAME_BYTES = 64 };

/* ------------------------------------------------------------------ members besides the messages
 */

typedef struct member {
    const char *key, *raw;
} member;

typedef struct members {
    arena *arena;
    VEC(member) all;
} members;

/* Sets a member, in the place where it first was; JSON null removes it. */
static void member_set(members *m, const char *key, const char *raw)
{
    for (size_t i = 0; i < m->all.n; i++)
        if (strcmp(m->all.items[i].key, key) == 0) {
            m->all.items[i].raw = raw;
            return;
        }
    member one = {key, raw};
    VEC_PUSH(m->arena, &m->all, one);
}

static const char *hash_hex(arena *a, const char *s)
{
    uint8_t raw[HASH_LEN];
    char *out = arena_alloc(a, 2 * HASH_LEN + 1);
    sha_of(s, strlen(s), raw);
    hex_encode(raw, HASH_LEN, out);
    return out;
}

/* The options a session may set. The endpoint checks their values. */
static const char *const session_options[] = {"temperature",
                                              "top_p",
                                              "max_tokens",
                                              "max_completion_tokens",
                                              "seed",
                                              "stop",
                                              "reasoning_effort",
                                              "response_format",
                                              "tools",
                                              "tool_choice",
                                              "parallel_tool_calls",
                                              "presence_penalty",
                                              "verbosity",
                                              "frequency_penalty"};

/* Merges the members of a JSON object that are in `only` (NULL: all except those the agent
 * sets). */
static void members_merge(members *m, const char *json, const char *const *only, size_t n_only)
{
    json_doc d;
    if (!json || !json_parse(m->arena, json, strlen(json), 0, &d, NULL) ||
        !json_is(&d.nodes[0], JSON_OBJECT))
        return;
    const json_node *root = &d.nodes[0];
    for (const json_node *k = json_first(&d, root); k; k = json_next(&d, root, k)) {
        const char *key = json_text(m->arena, &d, k);
        k = json_next(&d, root, k);
        bool take = !only && strcmp(key, "messages") != 0 && strcmp(key, "stream") != 0;
        for (size_t i = 0; !take && i < n_only; i++)
            take = strcmp(key, only[i]) == 0;
        if (take)
            member_set(m, key, json_raw(m->arena, &d, k));
    }
}

static void members_write(members *m, const openai_settings *o, const agent_turn *t, json_writer *w)
{
    const char *model = t->session.model && *t->session.model ? t->session.model : o->model;
    const char *cache = t->cache_key ? t->cache_key : "";
    member_set(m, "model", json_quote(m->arena, model));
    member_set(m, "stream", "true");
    if (o->usage)
        member_set(m, "stream_options", "{\"include_usage\":true}");
    if (*o->cache_field && *cache) {
        if (strlen(cache) > CACHE_KEY_BYTES)
            cache = hash_hex(m->arena, cache);
        member_set(m, o->cache_field, json_quote(m->arena, cache));
    }
    if (*o->temperature)
        member_set(m, "temperature", o->temperature);
    if (*o->max_tokens)
        member_set(m, "max_tokens", o->max_tokens);
    members_merge(m, o->extra, NULL, 0);
    members_merge(m, t->session.options, session_options,
                  sizeof session_options / sizeof *session_options);
    for (size_t i = 0; i < m->all.n; i++)
        if (strcmp(m->all.items[i].raw, "null") != 0)
            jw_kraw(w, m->all.items[i].key, m->all.items[i].raw);
}

/* ------------------------------------------------------------------ messages */

typedef struct call {
    const char *id, *name, *arguments;
    bool answered;
} call;

typedef struct composer {
    arena *arena;
    json_writer *writer;
    /* An answer that is not written yet, because more of it may follow. */
    buf text;
    VEC(call) calls; /* kept after writing, until all have a result */
    bool written;
} composer;

static void message_text(composer *c, const char *role, const char *text)
{
    jw_object(c->writer);
    jw_kstr(c->writer, "role", role);
    jw_kstr(c->writer, "content", text);
    jw_end_object(c->writer);
}

static void call_write(json_writer *w, const call *it)
{
    jw_object(w);
    jw_kstr(w, "id", it->id);
    jw_kstr(w, "type", "function");
    jw_key(w, "function");
    jw_object(w);
    jw_kstr(w, "name", it->name);
    jw_kstr(w, "arguments", it->arguments);
    jw_end_object(w);
    jw_end_object(w);
}

/* Writes the open answer; its calls stay until they have results. */
static void answer_write(composer *c)
{
    if (c->written || (!c->text.n && !c->calls.n))
        return;
    jw_object(c->writer);
    jw_kstr(c->writer, "role", "assistant");
    jw_kstr(c->writer, "content", c->text.n || !c->calls.n ? c->text.data : NULL);
    if (c->calls.n) {
        jw_key(c->writer, "tool_calls");
        jw_array(c->writer);
        for (size_t i = 0; i < c->calls.n; i++)
            call_write(c->writer, &c->calls.items[i]);
        jw_end_array(c->writer);
    }
    jw_end_object(c->writer);
    c->written = true;
}

static void result_write(composer *c, call *it, const char *text)
{
    jw_object(c->writer);
    jw_kstr(c->writer, "role", "tool");
    jw_kstr(c->writer, "tool_call_id", it->id);
    jw_kstr(c->writer, "content", text);
    jw_end_object(c->writer);
    it->answered = true;
}

/* Ends the answer. A call without a result gets one that says so, since the endpoint would
 * otherwise refuse the history. */
static void answer_close(composer *c)
{
    answer_write(c);
    for (size_t i = 0; i < c->calls.n; i++)
        if (!c->calls.items[i].answered)
            result_write(c, &c->calls.items[i], "(no result: the call was not run)");
    buf_clear(&c->text);
    c->calls.n = 0;
    c->written = false;
}

static void joined_add(buf *to, const char *text)
{
    if (!*text)
        return;
    if (to->n)
        buf_puts(to, "\n\n");
    buf_puts(to, text);
}

/* ------------------------------------------------------------------ parts */

/* Ids of other systems may be longer than the endpoint accepts. */
static const char *call_id(arena *a, const char *id)
{
    return strlen(id) <= CALL_ID_BYTES ? id : arena_printf(a, "call_%.32s", hash_hex(a, id));
}

static const char *call_name(arena *a, const char *name)
{
    char *out = arena_strdup(a, *name ? name : "unnamed");
    for (char *s = out; *s; s++)
        if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') ||
              *s == '_' || *s == '-'))
            *s = '_';
    if (strlen(out) > NAME_BYTES)
        out[NAME_BYTES] = 0;
    return out;
}

static const char *part_text(arena *a, const json_doc *d, const json_node *part, const char *key)
{
    const char *s = json_text(a, d, json_get(d, part, key));
    return s ? s : "";
}

/* A JSON value as text: the contents of a string, or JSON. */
static const char *value_text(arena *a, const json_doc *d, const json_node *v, const char *none)
{
    if (!v || v->type == JSON_NULL)
        return none;
    return json_is(v, JSON_STRING) ? json_text(a, d, v) : json_raw(a, d, v);
}

/* Adds a call to those waiting for results; skips one whose id is waiting already. */
static void part_call(composer *c, const json_doc *d, const json_node *part)
{
    call one = {call_id(c->arena, part_text(c->arena, d, part, "id")),
                call_name(c->arena, part_text(c->arena, d, part, "name")),
                value_text(c->arena, d, json_get(d, part, "input"), "{}"), false};
    bool apart = c->written;
    for (size_t i = 0; i < c->calls.n; i++)
        apart = apart || strcmp(c->calls.items[i].id, one.id) == 0;
    if (apart)
        answer_close(c);
    VEC_PUSH(c->arena, &c->calls, one);
}

static void orphan_write(composer *c, const char *text)
{
    answer_close(c);
    message_text(c, "user", arena_printf(c->arena, "Result of a tool: %s", text));
}

static void part_result(composer *c, const json_doc *d, const json_node *part)
{
    const char *id = call_id(c->arena, part_text(c->arena, d, part, "id"));
    const char *text = value_text(c->arena, d, json_get(d, part, "output"), "");
    if (json_is(json_get(d, part, "is_error"), JSON_TRUE))
        text = arena_printf(c->arena, "Error: %s", text);
    for (size_t i = 0; i < c->calls.n; i++)
        if (!c->calls.items[i].answered && strcmp(c->calls.items[i].id, id) == 0) {
            answer_write(c);
            result_write(c, &c->calls.items[i], text);
            return;
        }
    orphan_write(c, text);
}

static bool ends_with(const char *s, size_t n, const char *end)
{
    size_t len = strlen(end);
    return n > len && strncasecmp(s + n - len, end, len) == 0;
}

static bool image_is(const char *url, const char *media)
{
    static const char *const ends[] = {".png", ".jpg", ".jpeg", ".gif", ".webp"};
    if (strncasecmp(url, "data:", 5) == 0)
        return strncasecmp(url, "data:image/", 11) == 0;
    if (strncasecmp(url, "https://", 8) != 0 && strncasecmp(url, "http://", 7) != 0)
        return false;
    if (*media)
        return strncasecmp(media, "image/", 6) == 0;
    size_t n = strcspn(url, "?#");
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_with(url, n, ends[i]))
            return true;
    return false;
}

/* A note for a file that cannot be shown. Its id belongs to this server and means nothing there.
 */
static const char *file_note(arena *a, const char *url, const char *name, const char *media)
{
    bool shown = *url && strncasecmp(url, "data:", 5) != 0;
    return arena_printf(a, "[file%s%s%s%s%s%s%s]", *name ? " " : "", name, *media ? " (" : "",
                        media, *media ? ")" : "", shown ? ": " : "", shown ? url : "");
}

/* One piece of a message's content. */
typedef struct piece {
    const char *text, *image; /* one of the two */
} piece;
typedef VEC(piece) pieces;

static void part_piece(composer *c, const ramet_entry *e, const json_doc *d, const json_node *part,
                       const char *type, pieces *to)
{
    piece one = {0};
    if (strcmp(type, "text") == 0) {
        one.text = part_text(c->arena, d, part, "text");
    } else if (strcmp(type, "file") == 0) {
        const char *url = part_text(c->arena, d, part, "url");
        const char *media = part_text(c->arena, d, part, "media_type");
        if (e->role == RAMET_USER && image_is(url, media))
            one.image = url;
        else
            one.text = file_note(c->arena, url, part_text(c->arena, d, part, "name"), media);
    } else if (strcmp(type, "data") == 0 && e->role != RAMET_ASSISTANT &&
               !json_get(d, json_get(d, part, "data"), "question_id")) {
        one.text = value_text(c->arena, d, json_get(d, part, "data"), "");
    }
    if (one.image || (one.text && *one.text))
        VEC_PUSH(c->arena, to, one);
}

/* ------------------------------------------------------------------ entries */

static const char *pieces_join(composer *c, const pieces *p)
{
    buf b;
    buf_init(&b, OPENAI_REQUEST_BYTES);
    for (size_t i = 0; i < p->n; i++)
        if (p->items[i].text)
            joined_add(&b, p->items[i].text);
    return buf_keep(&b, c->arena);
}

static void piece_write(json_writer *w, const piece *p)
{
    jw_object(w);
    jw_kstr(w, "type", p->image ? "image_url" : "text");
    if (p->image) {
        jw_key(w, "image_url");
        jw_object(w);
        jw_kstr(w, "url", p->image);
        jw_end_object(w);
    } else {
        jw_kstr(w, "text", p->text);
    }
    jw_end_object(w);
}

static void message_write(composer *c, const char *role, const pieces *p)
{
    bool images = false;
    for (size_t i = 0; i < p->n; i++)
        images = images || p->items[i].image;
    if (!images) {
        message_text(c, role, pieces_join(c, p));
        return;
    }
    jw_object(c->writer);
    jw_kstr(c->writer, "role", role);
    jw_key(c->writer, "content");
    jw_array(c->writer);
    for (size_t i = 0; i < p->n; i++)
        piece_write(c->writer, &p->items[i]);
    jw_end_array(c->writer);
    jw_end_object(c->writer);
}

/* Writes the text of an entry, without its calls and results. */
static void entry_say(composer *c, const ramet_entry *e, const pieces *p, bool special)
{
    if (e->role == RAMET_ASSISTANT) {
        const char *text = pieces_join(c, p);
        if (*text && (c->written || c->calls.n))
            answer_close(c);
        joined_add(&c->text, text);
    } else if (e->role == RAMET_TOOL) {
        for (size_t i = 0; p->n && i < c->calls.n; i++)
            if (!c->calls.items[i].answered) {
                answer_write(c);
                result_write(c, &c->calls.items[i], pieces_join(c, p));
                return;
            }
        if (p->n)
            orphan_write(c, pieces_join(c, p));
    } else if (p->n || !special) {
        answer_close(c);
        message_write(c, ramet_role_name(e->role), p);
    }
}

/* Text first, then calls and results: the order of the endpoint's own messages. */
static void entry_write(composer *c, const ramet_entry *e)
{
    json_doc d;
    pieces p = {0};
    bool special = false;
    if (!e->parts || !json_parse(c->arena, e->parts, strlen(e->parts), 0, &d, NULL) ||
        !json_is(&d.nodes[0], JSON_ARRAY)) {
        piece one = {.text = e->text ? e->text : ""};
        VEC_PUSH(c->arena, &p, one);
        entry_say(c, e, &p, false);
        return;
    }
    const json_node *root = &d.nodes[0];
    for (const json_node *n = json_first(&d, root); n; n = json_next(&d, root, n)) {
        const char *type = part_text(c->arena, &d, n, "type");
        special = special || strcmp(type, "tool_call") == 0 || strcmp(type, "tool_result") == 0;
        part_piece(c, e, &d, n, type, &p);
    }
    bool result_text = e->role == RAMET_TOOL && special; /* its text repeats the result */
    if (!result_text)
        entry_say(c, e, &p, special);
    for (const json_node *n = json_first(&d, root); n; n = json_next(&d, root, n)) {
        const char *type = part_text(c->arena, &d, n, "type");
        if (strcmp(type, "tool_call") == 0)
            part_call(c, &d, n);
        else if (strcmp(type, "tool_result") == 0)
            part_result(c, &d, n);
    }
}

static bool has_mark(arena *a, const ramet_entry *e, const char *mark)
{
    json_doc d;
    if (!e->parts || !strstr(e->parts, mark) ||
        !json_parse(a, e->parts, strlen(e->parts), 0, &d, NULL))
        return false;
    for (const json_node *p = json_first(&d, &d.nodes[0]); p; p = json_next(&d, &d.nodes[0], p))
        if (strcmp(part_text(a, &d, json_get(&d, p, "data"), "type"), mark) == 0)
            return true;
    return false;
}

/* Whether an entry is a question to the user, or its answer, between a tool call and its result.
 * Endpoints want nothing between the two, and the result tells what came of it. */
static bool asks_in_call(const composer *c, const ramet_entry *history, size_t i)
{
    bool waits = false;
    for (size_t k = 0; k < c->calls.n; k++)
        waits = waits || !c->calls.items[k].answered;
    if (!waits)
        return false;
    const ramet_entry *e = &history[i];
    if (e->role == RAMET_USER && i)
        e = &history[i - 1];
    return e->role == RAMET_ASSISTANT && has_mark(c->arena, e, "question");
}

static const char *system_text(arena *a, const openai_settings *o, const agent_turn *t)
{
    json_doc d;
    const char *json = t->session.options;
    if (json && json_parse(a, json, strlen(json), 0, &d, NULL)) {
        const char *own = json_text(a, &d, json_get(&d, &d.nodes[0], "system"));
        if (own)
            return own;
    }
    return o->system;
}

/* False: it is too large. */
static bool messages_write(arena *a, const ramet_entry *history, size_t n, const char *system,
                           json_writer *w)
{
    composer c = {.arena = a, .writer = w};
    buf_init(&c.text, OPENAI_REQUEST_BYTES);
    jw_array(w);
    if (*system)
        message_text(&c, "system", system);
    for (size_t i = 0; i < n; i++)
        if (!asks_in_call(&c, history, i))
            entry_write(&c, &history[i]);
    answer_close(&c);
    jw_end_array(w);
    bool fine = !c.text.over;
    buf_release(&c.text);
    return fine;
}

void openai_messages(const ramet_entry *history, size_t n, const char *instructions, json_writer *w)
{
    arena *a = arena_new();
    messages_write(a, history, n, instructions, w);
    arena_free(a);
}

/* Without the messages, which are recorded separately. */
static void prompt_tell(const agent_sink *s, arena *a, const buf *out, size_t messages,
                        const char *system)
{
    buf settings;
    buf_init(&settings, OPENAI_REQUEST_BYTES);
    /* The body so far without `,"messages":` or `"messages":`. */
    size_t n = messages - strlen("\"messages\":");
    buf_add(&settings, out->data, out->data[n - 1] == ',' ? n - 1 : n);
    buf_putc(&settings, '}');
    agent_prompt p = {.instructions = system,
                      .settings = settings.data,
                      .messages = arena_memdup(a, out->data + messages, out->n - messages),
                      .as_stored = true};
    agent_sent(s, &p);
    buf_release(&settings);
}

bool openai_request(const openai_settings *o, const agent_turn *t, const agent_sink *s, buf *out)
{
    buf_init(out, OPENAI_REQUEST_BYTES);
    json_writer w;
    jw_init(&w, out, 0);
    arena *a = arena_new();
    members m = {.arena = a};
    jw_object(&w);
    members_write(&m, o, t, &w);
    jw_key(&w, "messages");
    size_t messages = out->n;
    const char *system = system_text(a, o, t);
    bool fine = messages_write(a, t->history, t->n, system, &w) && !out->over;
    if (fine && s)
        prompt_tell(s, a, out, messages, system);
    jw_end_object(&w);
    fine = fine && !out->over;
    arena_free(a);
    return fine;
}
