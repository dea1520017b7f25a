/* SPDX-License-Identifier: Apache-2.0
 *
 * request.c: builds the messages to a remote agent, and chooses their context.
 *
 * An agent with its own memory knows what was said in a context, and cannot be made to forget a
 * part of it. So it never learns that the head has moved: it gets a new context, and the first
 * message begins with a marked part that contains the conversation so far. That part is generated
 * when it is sent; no entry contains it.
 *
 * The same holds when entries were erased. No turn runs during an erasure, so each turn came before
 * it or after it: a context that was begun before the latest erasure is not used again. Its id
 * depends on the number of erased entries, so that not even a wrong clock brings it back.
 */
#include "agent/a2a/a2a.h"
#include "agent/transcript.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------ where we are */

static bool texts_equal(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

/* Whether the entries [first, end) are one turn on this branch, answered by this agent. */
static bool turn_is_known(arena *a, const a2a_settings *o, const agent_turn *t, size_t first,
                          size_t end)
{
    const ramet_entry *last = &t->history[end - 1];
    if (last->role != RAMET_ASSISTANT || !texts_equal(last->author, o->name) ||
        agent_entry_is_cut(a, last))
        return false;
    for (size_t i = first; i < end; i++)
        if (t->history[i].branch != t->branch)
            return false;
    return t->history[first].role == RAMET_USER;
}

/* When an entry before the message was last erased; 0: none was. */
static int64_t last_erasure(const agent_turn *t, size_t message)
{
    int64_t at = 0;
    for (size_t i = 0; i < message; i++)
        if (t->history[i].erased && t->history[i].erased->at > at)
            at = t->history[i].erased->at;
    return at;
}

/* Where the sequence of known turns that ends before the message begins. */
static size_t known_from(arena *a, const a2a_settings *o, const agent_turn *t, size_t message)
{
    size_t from = message;
    int64_t erased_at = last_erasure(t, message);
    while (from) {
        const char *turn = t->history[from - 1].turn_id;
        size_t first = from - 1;
        while (first && texts_equal(t->history[first - 1].turn_id, turn))
            first--;
        if (!turn || t->history[first].created < erased_at || !turn_is_known(a, o, t, first, from))
            break;
        from = first;
    }
    return from;
}

/* Derives a context id in the form of a UUID. */
static const char *context_make(arena *a, const a2a_settings *o, const agent_turn *t, size_t from,
                                size_t message)
{
    uint8_t raw[HASH_LEN];
    char id[UUID_TEXT];
    const char *begin = from ? t->history[from - 1].id : "";
    const char *name = arena_printf(a, "context\n%s\n%s\n%lld\n%s", o->name, t->session_id,
                                    (long long)t->branch, begin ? begin : "");
    size_t erased = agent_erased_count(t, message);
    if (erased)
        name = arena_printf(a, "%s\nerased %zu", name, erased);
    sha_of(name, strlen(name), raw);
    return arena_strdup(a, uuid8(raw, id));
}

void a2a_context_choose(arena *a, const a2a_settings *o, const agent_turn *t, a2a_context *out)
{
    *out = (a2a_context){.message = agent_message_index(t)};
    if (o->memory == A2A_READS_BACK) {
        out->id = t->session_id;
        out->is_complete = true;
    } else if (o->memory == A2A_BY_CONTEXT && t->session_id) {
        size_t from = known_from(a, o, t, out->message);
        out->id = context_make(a, o, t, from, out->message);
        out->is_complete = from < out->message;
    }
}

/* ------------------------------------------------------------------ the transcript */

static const char *text_of(arena *a, const json_doc *d, const json_node *v, const char *key)
{
    const char *s = json_text(a, d, json_get(d, v, key));
    return s ? s : "";
}

/* ------------------------------------------------------------------ the message */

typedef struct composer {
    arena *arena;
    json_writer writer;
    bool v1;
    size_t parts;
} composer;

static void part_begin(composer *c, const char *kind)
{
    jw_object(&c->writer);
    if (!c->v1)
        jw_kstr(&c->writer, "kind", kind);
    c->parts++;
}

static void part_text(composer *c, const char *text)
{
    part_begin(c, "text");
    jw_kstr(&c->writer, "text", text);
    jw_end_object(&c->writer);
}

static void part_transcript(composer *c, const char *text)
{
    part_begin(c, "text");
    jw_kstr(&c->writer, "text", text);
    jw_key(&c->writer, "metadata");
    jw_object(&c->writer);
    jw_kbool(&c->writer, "urn:ramet:ext:transcript:v1", true);
    jw_end_object(&c->writer);
    jw_end_object(&c->writer);
}

static void part_url(composer *c, const char *url, const char *name, const char *media)
{
    part_begin(c, "file");
    if (!c->v1) {
        jw_key(&c->writer, "file");
        jw_object(&c->writer);
    }
    jw_kstr(&c->writer, c->v1 ? "url" : "uri", url);
    if (*name)
        jw_kstr(&c->writer, c->v1 ? "filename" : "name", name);
    if (*media)
        jw_kstr(&c->writer, c->v1 ? "mediaType" : "mimeType", media);
    if (!c->v1)
        jw_end_object(&c->writer);
    jw_end_object(&c->writer);
}

/* Version 0.3 accepts only objects. */
static void part_data(composer *c, const json_doc *d, const json_node *data)
{
    const char *raw = json_raw(c->arena, d, data);
    part_begin(c, "data");
    jw_kraw(&c->writer, "data",
            c->v1 || json_is(data, JSON_OBJECT) ? raw
                                                : arena_printf(c->arena, "{\"value\":%s}", raw));
    jw_end_object(&c->writer);
}

static void part_add(composer *c, const json_doc *d, const json_node *part)
{
    const char *type = text_of(c->arena, d, part, "type"), *url = text_of(c->arena, d, part, "url");
    if (strcmp(type, "data") == 0)
        part_data(c, d, json_get(d, part, "data"));
    else if (strcmp(type, "file") == 0 && *url)
        part_url(c, url, text_of(c->arena, d, part, "name"),
                 text_of(c->arena, d, part, "media_type"));
    else if (transcript_part(c->arena, d, part))
        part_text(c, transcript_part(c->arena, d, part));
}

/* The message of an entry as its client sent it; false: it came in another form. */
static bool message_of(arena *a, const ramet_entry *e, json_doc *d)
{
    return e->format && strcmp(e->format, "a2a") == 0 && e->body &&
           json_parse(a, e->body, strlen(e->body), 0, d, NULL) &&
           json_is(json_get(d, &d->nodes[0], "parts"), JSON_ARRAY);
}

static void entry_add(composer *c, const ramet_entry *e)
{
    json_doc d;
    if (message_of(c->arena, e, &d)) {
        const json_node *parts = json_get(&d, &d.nodes[0], "parts");
        for (const json_node *p = json_first(&d, parts); p; p = json_next(&d, parts, p)) {
            a2a_part_write(c->arena, &c->writer, &d, p, c->v1);
            c->parts++;
        }
        return;
    }
    if (!e->parts || !json_parse(c->arena, e->parts, strlen(e->parts), 0, &d, NULL)) {
        part_text(c, e->text);
        return;
    }
    for (const json_node *p = json_first(&d, &d.nodes[0]); p; p = json_next(&d, &d.nodes[0], p))
        part_add(c, &d, p);
}

static void parts_write(composer *c, const a2a_settings *o, const agent_turn *t,
                        const a2a_context *at)
{
    const char *before =
        at->is_complete ? "" : transcript_make(c->arena, t, at->message, (size_t)o->transcript);
    jw_key(&c->writer, "parts");
    jw_array(&c->writer);
    if (*before)
        part_transcript(c, before);
    size_t own = c->parts;
    for (size_t i = at->message; i < t->n; i++)
        entry_add(c, &t->history[i]);
    if (c->parts == own)
        part_text(c, at->message < t->n ? "" : "Go on.");
    jw_end_array(&c->writer);
}

/* Whether a key of the metadata is meant for this server: the remote agent may be one, too, and
 * would do it again. */
static bool key_is_ours(const char *key)
{
    return strstr(key, "kagent_rewind_before_invocation_id") ||
           strncmp(key, "urn:ramet:ext:session-rewind:v1", 31) == 0;
}

/* The metadata of the client's message, with the author if the server has recorded one because the
 * session belongs to another user. */
static void metadata_write(composer *c, const ramet_entry *e)
{
    json_doc d;
    const json_node *v;
    bool any = false;
    if (!message_of(c->arena, e, &d))
        return;
    const json_node *metadata = json_get(&d, &d.nodes[0], "metadata");
    if (!json_is(metadata, JSON_OBJECT))
        return;
    for (const json_node *k = json_first(&d, metadata); k; k = json_next(&d, metadata, v)) {
        const char *key = json_text(c->arena, &d, k);
        v = json_next(&d, metadata, k);
        if (key_is_ours(key))
            continue;
        if (!any) {
            jw_key(&c->writer, "metadata");
            jw_object(&c->writer);
        }
        any = true;
        jw_kraw(&c->writer, key, json_raw(c->arena, &d, v));
    }
    if (any)
        jw_end_object(&c->writer);
}

const char *a2a_message_first(arena *a, const a2a_settings *o, const agent_turn *t, bool v1,
                              const a2a_context *at)
{
    buf out;
    char id[UUID_TEXT];
    const ramet_entry *last = at->message < t->n ? &t->history[t->n - 1] : NULL;
    composer c = {.arena = a, .v1 = v1};
    buf_init(&out, A2A_REQUEST_BYTES);
    jw_init(&c.writer, &out, 0);
    jw_object(&c.writer);
    if (!v1)
        jw_kstr(&c.writer, "kind", "message");
    jw_kstr(&c.writer, "messageId", last ? last->id : uuid7(time_now_us(), id));
    jw_kstr(&c.writer, "role", v1 ? "ROLE_USER" : "user");
    if (at->id)
        jw_kstr(&c.writer, "contextId", at->id);
    parts_write(&c, o, t, at);
    if (last)
        metadata_write(&c, last);
    jw_end_object(&c.writer);
    return buf_keep_whole(&out, a);
}

/* ------------------------------------------------------------------ an answer to a question */

static void part_decision(composer *c, const char *decision)
{
    part_begin(c, "data");
    jw_kraw(&c->writer, "data", decision);
    jw_end_object(&c->writer);
}

const char *a2a_message_reply(arena *a, const a2a_reply *in, bool v1)
{
    buf out;
    char id[UUID_TEXT];
    json_doc d;
    const agent_reply *given = in->given;
    const ramet_entry message = {.format = given->format, .body = given->body, .text = ""};
    composer c = {.arena = a, .v1 = v1};
    buf_init(&out, A2A_REQUEST_BYTES);
    jw_init(&c.writer, &out, 0);
    jw_object(&c.writer);
    if (!v1)
        jw_kstr(&c.writer, "kind", "message");
    jw_kstr(&c.writer, "messageId", uuid7(time_now_us(), id));
    jw_kstr(&c.writer, "role", v1 ? "ROLE_USER" : "user");
    jw_kstr(&c.writer, "taskId", in->task);
    if (in->context)
        jw_kstr(&c.writer, "contextId", in->context);
    jw_key(&c.writer, "parts");
    jw_array(&c.writer);
    if (!in->decision && message_of(a, &message, &d)) {
        entry_add(&c, &message);
    } else {
        if (in->decision)
            part_decision(&c, in->decision);
        part_text(&c, given->text ? given->text : "");
    }
    jw_end_array(&c.writer);
    metadata_write(&c, &message);
    jw_end_object(&c.writer);
    return buf_keep_whole(&out, a);
}
