/* SPDX-License-Identifier: Apache-2.0
 *
 * message.c: converts A2A messages and parts of both versions to entries and back. Tasks are in
 * task.c.
 */
#include "form/a2a/a2a_internal.h"

#include "base/util.h"

#include <string.h>

/* ------------------------------------------------------------------ words */

bool a2a_version_of(const char *text, a2a_version *out)
{
    if (!text || !*text || strcmp(text, "0.3") == 0 || strcmp(text, "0.3.0") == 0)
        *out = A2A_03;
    else if (strcmp(text, "1.0") == 0 || strcmp(text, "1.0.0") == 0)
        *out = A2A_10;
    else
        return false;
    return true;
}

static const struct {
    const char *v03, *v10;
} states[A2A_N_STATES] = {
    [A2A_SUBMITTED] = {"submitted", "TASK_STATE_SUBMITTED"},
    [A2A_WORKING] = {"working", "TASK_STATE_WORKING"},
    [A2A_INPUT_REQUIRED] = {"input-required", "TASK_STATE_INPUT_REQUIRED"},
    [A2A_COMPLETED] = {"completed", "TASK_STATE_COMPLETED"},
    [A2A_CANCELED] = {"canceled", "TASK_STATE_CANCELED"},
    [A2A_FAILED] = {"failed", "TASK_STATE_FAILED"},
    [A2A_REJECTED] = {"rejected", "TASK_STATE_REJECTED"},
    [A2A_AUTH_REQUIRED] = {"auth-required", "TASK_STATE_AUTH_REQUIRED"},
    [A2A_UNKNOWN] = {"unknown", "TASK_STATE_UNSPECIFIED"},
};

const char *a2a_state_name(a2a_state s, a2a_version v)
{
    return v == A2A_03 ? states[s].v03 : states[s].v10;
}

int a2a_state_parse(const char *word)
{
    for (int i = 0; i < A2A_N_STATES; i++)
        if (strcmp(states[i].v03, word) == 0 || strcmp(states[i].v10, word) == 0)
            return i;
    return -1;
}

bool a2a_state_over(a2a_state s)
{
    return s == A2A_COMPLETED || s == A2A_CANCELED || s == A2A_FAILED || s == A2A_REJECTED;
}

/* ------------------------------------------------------------------ agents */

const char *a2a_agent_id_of(arena *a, const char *ns, const char *name)
{
    char *out = arena_printf(a, "%s__NS__%s", ns, name);
    for (char *p = out; *p; p++)
        if (*p == '-')
            *p = '_';
    return out;
}

void a2a_agent_split(arena *a, const char *ref, const char **ns, const char **name)
{
    const char *mark = strstr(ref, "__NS__"), *slash = strchr(ref, '/');
    const char *at = mark ? mark : slash;
    *ns = at ? arena_memdup(a, ref, (size_t)(at - ref)) : AGENT_NAMESPACE;
    *name = mark ? mark + 6 : slash ? slash + 1 : ref;
}

const char *a2a_agent_id(arena *a, const char *ref)
{
    const char *ns, *name;
    a2a_agent_split(a, ref, &ns, &name);
    return a2a_agent_id_of(a, ns, name);
}

/* ------------------------------------------------------------------- reading */

static const char *text_of(arena *a, const json_doc *d, const json_node *obj, const char *key)
{
    const char *s = json_text(a, d, json_get(d, obj, key));
    return s && *s ? s : NULL;
}

static const json_node *member(const json_doc *d, const json_node *obj, const char *key)
{
    const json_node *v = json_get(d, obj, key);
    return json_is(v, JSON_NULL) ? NULL : v;
}

/* Finds a metadata value under one of the prefixes that runtimes use. */
static const json_node *tagged(const json_doc *d, const json_node *metadata, const char *key)
{
    static const char *const prefixes[] = {"adk_", "kagent_", "kagent_adk_", URN};
    char name[96];
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t n = strlen(prefixes[i]), k = strlen(key);
        memcpy(name, prefixes[i], n);
        memcpy(name + n, key, k + 1);
        const json_node *v = member(d, metadata, name);
        if (v)
            return v;
    }
    return NULL;
}

typedef enum { PART_TEXT, PART_FILE, PART_DATA, PART_BAD } part_kind;

/* A part of either version. */
typedef struct part {
    part_kind kind;
    bool old; /* version 0.3 */
    const json_node *text, *data, *bytes, *uri, *name, *media, *metadata, *node;
} part;

static part_kind kind_of(const char *word)
{
    return strcmp(word, "text") == 0   ? PART_TEXT
           : strcmp(word, "file") == 0 ? PART_FILE
           : strcmp(word, "data") == 0 ? PART_DATA
                                       : PART_BAD;
}

static part part_read(arena *a, const json_doc *d, const json_node *v)
{
    part p = {.kind = PART_BAD, .node = v, .metadata = member(d, v, "metadata")};
    const json_node *kind = json_get(d, v, "kind"), *file = member(d, v, "file");
    p.old = kind != NULL;
    p.text = member(d, v, "text");
    p.data = member(d, v, "data");
    p.bytes = member(d, p.old ? file : v, p.old ? "bytes" : "raw");
    p.uri = member(d, p.old ? file : v, p.old ? "uri" : "url");
    p.name = member(d, p.old ? file : v, p.old ? "name" : "filename");
    p.media = member(d, p.old ? file : v, p.old ? "mimeType" : "mediaType");
    if (p.old)
        p.kind = json_is(kind, JSON_STRING) ? kind_of(json_text(a, d, kind)) : PART_BAD;
    else
        p.kind = p.text ? PART_TEXT : p.data ? PART_DATA : p.bytes || p.uri ? PART_FILE : PART_BAD;
    bool sound = p.kind == PART_TEXT   ? json_is(p.text, JSON_STRING)
                 : p.kind == PART_DATA ? p.data != NULL
                 : p.kind == PART_FILE
                     ? json_is(p.bytes, JSON_STRING) || json_is(p.uri, JSON_STRING)
                     : false;
    if (!sound || (p.metadata && !json_is(p.metadata, JSON_OBJECT)))
        p.kind = PART_BAD;
    return p;
}

/* Writes a function call or function response that an ADK runtime sent as data. False if it is
 * neither. */
static bool normal_tool(arena *a, const json_doc *d, const part *p, json_writer *w)
{
    const char *type = json_text(a, d, tagged(d, p->metadata, "type"));
    const char *id = text_of(a, d, p->data, "id"), *name = text_of(a, d, p->data, "name");
    if (!type || !id || !name)
        return false;
    bool call = strcmp(type, "function_call") == 0;
    if (!call && strcmp(type, "function_response") != 0)
        return false;
    const json_node *v = json_get(d, p->data, call ? "args" : "response");
    jw_object(w);
    jw_kstr(w, "type", call ? "tool_call" : "tool_result");
    jw_kstr(w, "id", id);
    if (call)
        jw_kstr(w, "name", name);
    jw_kraw(w, call ? "input" : "output", v ? json_raw(a, d, v) : NULL);
    jw_end_object(w);
    return true;
}

static void normal_file(arena *a, const json_doc *d, const part *p, json_writer *w)
{
    const char *name = json_text(a, d, p->name), *media = json_text(a, d, p->media);
    jw_object(w);
    if (json_is(p->uri, JSON_STRING)) {
        jw_kstr(w, "type", "file");
        jw_kstr(w, "url", json_text(a, d, p->uri));
        if (name)
            jw_kstr(w, "name", name);
        if (media)
            jw_kstr(w, "media_type", media);
    } else {
        /* The data itself stays in the body. */
        jw_kstr(w, "type", "data");
        jw_key(w, "data");
        jw_object(w);
        jw_kstr(w, "file", name ? name : "");
        jw_kstr(w, "media_type", media ? media : "");
        jw_end_object(w);
    }
    jw_end_object(w);
}

static void normal_part(arena *a, const json_doc *d, const part *p, json_writer *w)
{
    if (p->kind == PART_FILE) {
        normal_file(a, d, p, w);
        return;
    }
    if (p->kind == PART_DATA && normal_tool(a, d, p, w))
        return;
    jw_object(w);
    if (p->kind == PART_TEXT) {
        bool thought = json_is(tagged(d, p->metadata, "thought"), JSON_TRUE);
        jw_kstr(w, "type", thought ? "thinking" : "text");
        jw_kstr(w, "text", json_text(a, d, p->text));
    } else {
        jw_kstr(w, "type", "data");
        jw_kraw(w, "data", json_raw(a, d, p->data));
    }
    jw_end_object(w);
}

/* The normal form of an array of parts. On failure returns NULL and sets *why. */
static const char *normal_parts(arena *a, const json_doc *d, const json_node *list, bool *blank,
                                const char **why)
{
    buf b;
    json_writer w;
    size_t i = 0;
    buf_init(&b, d->len * 8 + 4096);
    jw_init(&w, &b, 0);
    jw_array(&w);
    *blank = true;
    for (const json_node *v = json_first(d, list); v; v = json_next(d, list, v), i++) {
        part p = part_read(a, d, v);
        if (p.kind == PART_BAD || v->has_nul) {
            *why = arena_printf(a, "parts[%zu] is no text, file or data part", i);
            buf_release(&b);
            return NULL;
        }
        if (p.kind != PART_TEXT || text_of(a, d, v, "text"))
            *blank = false;
        normal_part(a, d, &p, &w);
    }
    jw_end_array(&w);
    return buf_keep(&b, a);
}

static bool role_read(const char *word, ramet_role *out)
{
    if (!word)
        return false;
    bool user = strcmp(word, "user") == 0 || strcmp(word, "ROLE_USER") == 0;
    *out = user ? RAMET_USER : RAMET_ASSISTANT;
    return user || strcmp(word, "agent") == 0 || strcmp(word, "ROLE_AGENT") == 0;
}

bool a2a_id_fits(const json_node *v, const char *id)
{
    for (const char *p = id; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 127)
            return false;
    return *id && strlen(id) <= ID_BYTES && !v->has_nul;
}

const char *a2a_invocation_in(arena *a, const json_doc *d, const json_node *metadata)
{
    const char *s = json_text(a, d, tagged(d, metadata, "invocation_id"));
    return s && *s ? s : NULL;
}

bool a2a_message_read(arena *a, const json_doc *d, const json_node *v, a2a_message *out,
                      const char **why)
{
    const json_node *parts = json_get(d, v, "parts"), *metadata = member(d, v, "metadata");
    *out = (a2a_message){.doc = d, .node = v};
    if (!json_is(v, JSON_OBJECT)) {
        *why = "a message is an object";
        return false;
    }
    out->id = text_of(a, d, v, "messageId");
    if (!out->id || !a2a_id_fits(json_get(d, v, "messageId"), out->id)) {
        *why = "messageId must be 1 to 255 bytes, without control characters";
        return false;
    }
    if (!role_read(json_text(a, d, json_get(d, v, "role")), &out->role)) {
        *why = "role must be user or agent";
        return false;
    }
    if (!json_is(parts, JSON_ARRAY)) {
        *why = "parts must be an array";
        return false;
    }
    if (metadata && !json_is(metadata, JSON_OBJECT)) {
        *why = "metadata must be an object";
        return false;
    }
    out->parts = normal_parts(a, d, parts, &out->blank, why);
    out->body = json_raw(a, d, v);
    out->context = text_of(a, d, v, "contextId");
    out->task = text_of(a, d, v, "taskId");
    out->invocation = a2a_invocation_in(a, d, metadata);
    out->rewind = text_of(a, d, metadata, "kagent_rewind_before_invocation_id");
    return out->parts != NULL;
}

ramet_entry_in a2a_entry_in(const a2a_message *m, const char *task)
{
    return (ramet_entry_in){.id = m->id,
                            .role = m->role,
                            .parts = m->parts,
                            .format = "a2a",
                            .body = m->body,
                            .turn_id = task,
                            .invocation = m->invocation};
}

const char *a2a_invocation(arena *a, const ramet_entry *e)
{
    json_doc d;
    if (strcmp(e->format, "a2a") != 0)
        return e->turn_id;
    if (!e->body || !json_parse(a, e->body, strlen(e->body), SIZE_MAX, &d, NULL))
        return NULL;
    return a2a_invocation_in(a, &d, member(&d, &d.nodes[0], "metadata"));
}

/* ------------------------------------------------------------------- writing */

/* A file by its content (base64) or by its URL. */
static void file_write(json_writer *w, const a2a_view *view, const char *bytes, const char *uri,
                       const char *name, const char *media)
{
    bool old = view->version == A2A_03;
    if (old) {
        jw_kstr(w, "kind", "file");
        jw_key(w, "file");
        jw_object(w);
    }
    if (bytes)
        jw_kstr(w, old ? "bytes" : "raw", bytes);
    else
        jw_kstr(w, old ? "uri" : "url", uri);
    if (name)
        jw_kstr(w, old ? "name" : "filename", name);
    if (media)
        jw_kstr(w, old ? "mimeType" : "mediaType", media);
    if (old)
        jw_end_object(w);
}

/* Version 0.3 allows only objects as data. */
static void data_write(json_writer *w, const a2a_view *view, const char *raw, bool object)
{
    if (view->version == A2A_03)
        jw_kstr(w, "kind", "data");
    jw_key(w, "data");
    if (view->version == A2A_10 || object) {
        jw_raw(w, raw);
        return;
    }
    jw_object(w);
    jw_kraw(w, "value", raw);
    jw_end_object(w);
}

/* The SDK of 1.0 marks values that it has wrapped for 0.3 so, and unwraps them again. */
#define WRAPPED "data_part_compat"

static void value_metadata(arena *a, json_writer *w, const json_doc *d, const json_node *metadata,
                           bool mark)
{
    const json_node *v;
    bool marked = json_get(d, metadata, WRAPPED) != NULL;
    if (!mark && (!metadata || metadata->count == (marked ? 1u : 0u)))
        return;
    jw_key(w, "metadata");
    jw_object(w);
    for (const json_node *k = json_first(d, metadata); k; k = json_next(d, metadata, v)) {
        const char *name = json_text(a, d, k);
        v = json_next(d, metadata, k);
        if (strcmp(name, WRAPPED) != 0)
            jw_kraw(w, name, json_raw(a, d, v));
    }
    if (mark)
        jw_kbool(w, WRAPPED, true);
    jw_end_object(w);
}

/* A value of one version for the other. */
static void value_rewrite(arena *a, json_writer *w, const a2a_view *view, const json_doc *d,
                          const part *p)
{
    const json_node *value = json_get(d, p->data, "value");
    bool wrapped = p->old && value && json_is(json_get(d, p->metadata, WRAPPED), JSON_TRUE);
    bool object = json_is(p->data, JSON_OBJECT);
    data_write(w, view, json_raw(a, d, wrapped ? value : p->data), object);
    value_metadata(a, w, d, p->metadata, view->version == A2A_03 && !object);
}

static void part_rewrite(arena *a, json_writer *w, const a2a_view *view, const json_doc *d,
                         const json_node *v)
{
    part p = part_read(a, d, v);
    if (p.kind == PART_BAD || p.old == (view->version == A2A_03)) {
        jw_raw(w, json_raw(a, d, v));
        return;
    }
    jw_object(w);
    if (p.kind == PART_TEXT) {
        if (view->version == A2A_03)
            jw_kstr(w, "kind", "text");
        jw_kraw(w, "text", json_raw(a, d, p.text));
    } else if (p.kind == PART_DATA) {
        value_rewrite(a, w, view, d, &p);
    } else {
        file_write(w, view, json_text(a, d, p.bytes), json_text(a, d, p.uri),
                   json_text(a, d, p.name), json_text(a, d, p.media));
    }
    if (p.metadata && p.kind != PART_DATA)
        jw_kraw(w, "metadata", json_raw(a, d, p.metadata));
    jw_end_object(w);
}

static void parts_rewrite(arena *a, json_writer *w, const a2a_view *view, const json_doc *d,
                          const json_node *list)
{
    jw_key(w, "parts");
    jw_array(w);
    for (const json_node *v = json_first(d, list); v; v = json_next(d, list, v))
        part_rewrite(a, w, view, d, v);
    jw_end_array(w);
}

static const char *role_word(const a2a_view *view, ramet_role role)
{
    if (view->version == A2A_03)
        return role == RAMET_USER ? "user" : "agent";
    return role == RAMET_USER ? "ROLE_USER" : "ROLE_AGENT";
}

static void head_write(json_writer *w, const a2a_view *view, const char *id, ramet_role role)
{
    if (view->version == A2A_03)
        jw_kstr(w, "kind", "message");
    jw_kstr(w, "messageId", id);
    jw_kstr(w, "role", role_word(view, role));
    jw_kstr(w, "contextId", view->session);
    jw_kstr(w, "taskId", view->task ? view->task : "");
}

/* Metadata as received, plus the invocation id if it is missing. */
static void metadata_write(arena *a, json_writer *w, const a2a_view *view, const json_doc *d,
                           const json_node *metadata, const char *invocation)
{
    bool own = tagged(d, metadata, "invocation_id") != NULL;
    if (own || !invocation) {
        if (metadata)
            jw_kraw(w, "metadata", json_raw(a, d, metadata));
        return;
    }
    jw_key(w, "metadata");
    jw_object(w);
    const json_node *v;
    for (const json_node *k = json_first(d, metadata); k; k = json_next(d, metadata, v)) {
        v = json_next(d, metadata, k);
        jw_kraw(w, json_text(a, d, k), json_raw(a, d, v));
    }
    jw_kstr(w, view->stamp_key ? view->stamp_key : "kagent_invocation_id", invocation);
    jw_end_object(w);
}

/* `entry`: the id of a message that has none of its own. */
static void rewrite(arena *a, json_writer *w, const a2a_view *view, const json_doc *d,
                    const json_node *v, const char *entry, const char *invocation)
{
    static const char *const kept[] = {"extensions", "referenceTaskIds"};
    ramet_role role = RAMET_ASSISTANT;
    const char *id = json_text(a, d, json_get(d, v, "messageId"));
    role_read(json_text(a, d, json_get(d, v, "role")), &role);
    jw_object(w);
    head_write(w, view, id ? id : entry, role);
    parts_rewrite(a, w, view, d, json_get(d, v, "parts"));
    metadata_write(a, w, view, d, member(d, v, "metadata"), invocation);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (member(d, v, kept[i]))
            jw_kraw(w, kept[i], json_raw(a, d, member(d, v, kept[i])));
    jw_end_object(w);
}

void a2a_message_rewrite(arena *a, json_writer *w, const a2a_view *view, const json_doc *d,
                         const json_node *v)
{
    rewrite(a, w, view, d, v, "", NULL);
}

void a2a_artifact_rewrite(arena *a, json_writer *w, const a2a_view *view, const json_doc *d,
                          const json_node *v)
{
    static const char *const kept[] = {"artifactId", "name", "description", "metadata",
                                       "extensions"};
    jw_object(w);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (member(d, v, kept[i]))
            jw_kraw(w, kept[i], json_raw(a, d, member(d, v, kept[i])));
    parts_rewrite(a, w, view, d, json_get(d, v, "parts"));
    jw_end_object(w);
}

/* ---- from the normal form */

static void tool_write(arena *a, json_writer *w, const a2a_view *view, const json_doc *d,
                       const json_node *v, bool call)
{
    const json_node *value = json_get(d, v, call ? "input" : "output");
    const char *name = text_of(a, d, v, "name");
    if (view->version == A2A_03)
        jw_kstr(w, "kind", "data");
    jw_key(w, "data");
    jw_object(w);
    jw_kstr(w, "id", json_text(a, d, json_get(d, v, "id")));
    if (call || name)
        jw_kstr(w, "name", name ? name : "");
    jw_key(w, call ? "args" : "response");
    if (json_is(value, JSON_OBJECT)) {
        jw_raw(w, json_raw(a, d, value));
    } else {
        jw_object(w);
        jw_kraw(w, "result", value ? json_raw(a, d, value) : NULL);
        jw_end_object(w);
    }
    jw_end_object(w);
    jw_key(w, "metadata");
    jw_object(w);
    jw_kstr(w, a2a_own_key(view, "kagent_type", URN "type"),
            call ? "function_call" : "function_response");
    jw_end_object(w);
}

static void url_write(arena *a, json_writer *w, const a2a_view *view, const json_doc *d,
                      const json_node *v)
{
    const char *url = text_of(a, d, v, "url"), *id = text_of(a, d, v, "attachment_id");
    const char *name = text_of(a, d, v, "name"), *media = text_of(a, d, v, "media_type");
    if (!url)
        url = arena_printf(a, "/ramet/v1/attachments/%s", id ? id : "");
    file_write(w, view, NULL, url, name, media);
}

/* Whether a part is left out: the mark of a turn that was cut off, whose status says so, and what
 * kagent's page cannot show. */
static bool part_hidden(arena *a, const a2a_view *view, const json_doc *d, const json_node *v)
{
    const char *type = json_text(a, d, json_get(d, v, "type"));
    if (!type)
        return true;
    if (strcmp(type, "data") != 0)
        return view->page && strcmp(type, "thinking") == 0;
    a2a_mark mark = a2a_mark_of(a, d, v);
    return mark == A2A_MARK_CUT || (view->page && mark == A2A_MARK_PLAN);
}

/* Writes a part of an entry; returns the number of parts it becomes. */
static size_t native_part(arena *a, json_writer *w, const a2a_view *view, const json_doc *d,
                          const json_node *v, const char *text)
{
    const char *type = json_text(a, d, json_get(d, v, "type"));
    if (part_hidden(a, view, d, v))
        return 0;
    a2a_mark mark = strcmp(type, "data") == 0 ? a2a_mark_of(a, d, v) : A2A_MARK_NONE;
    if (mark == A2A_MARK_QUESTION)
        return a2a_question_write(a, w, view, d, json_get(d, v, "data"));
    if (mark == A2A_MARK_ANSWER)
        return a2a_decision_write(w, view, text);
    jw_object(w);
    if (strcmp(type, "tool_call") == 0 || strcmp(type, "tool_result") == 0) {
        tool_write(a, w, view, d, v, type[5] == 'c');
    } else if (strcmp(type, "file") == 0) {
        url_write(a, w, view, d, v);
    } else if (strcmp(type, "data") == 0) {
        const json_node *data = json_get(d, v, "data");
        data_write(w, view, json_raw(a, d, data), json_is(data, JSON_OBJECT));
    } else {
        if (view->version == A2A_03)
            jw_kstr(w, "kind", "text");
        jw_kraw(w, "text", json_raw(a, d, json_get(d, v, "text")));
        if (strcmp(type, "thinking") == 0) {
            jw_key(w, "metadata");
            jw_object(w);
            jw_kbool(w, a2a_own_key(view, "kagent_thought", URN "thought"), true);
            jw_end_object(w);
        }
    }
    jw_end_object(w);
    return 1;
}

bool a2a_message_shown(const a2a_view *view, const ramet_entry *e)
{
    json_doc d;
    if (e->role == RAMET_USER || strcmp(e->format, "a2a") == 0)
        return true;
    arena *a = arena_new();
    bool shown = false;
    if (json_parse(a, e->parts, strlen(e->parts), SIZE_MAX, &d, NULL))
        for (const json_node *v = json_first(&d, &d.nodes[0]); v && !shown;
             v = json_next(&d, &d.nodes[0], v))
            shown = !part_hidden(a, view, &d, v);
    arena_free(a);
    return shown;
}

void a2a_usage_write(json_writer *w, const a2a_view *view, const ramet_usage *u)
{
    jw_key(w, a2a_own_key(view, "kagent_usage_metadata", URN "usageMetadata"));
    jw_object(w);
    jw_kint(w, "promptTokenCount", u->input);
    jw_kint(w, "candidatesTokenCount", u->output);
    jw_kint(w, "totalTokenCount", u->input + u->output);
    jw_end_object(w);
}

/* The metadata of the message of a remote agent that asked; NULL: none. */
static const json_node *asked_metadata(arena *a, const json_doc *d)
{
    for (const json_node *v = json_first(d, &d->nodes[0]); v; v = json_next(d, &d->nodes[0], v)) {
        const json_node *of = json_get(d, json_get(d, v, "data"), "metadata");
        if (json_is(of, JSON_OBJECT) && a2a_mark_of(a, d, v) == A2A_MARK_QUESTION)
            return of;
    }
    return NULL;
}

/* `d`: the parts of the entry; NULL: they cannot be read. */
static void native_metadata(arena *a, json_writer *w, const a2a_view *view, const ramet_entry *e,
                            const json_doc *d, const char *invocation)
{
    bool usage = e->usage && e->role != RAMET_USER;
    const json_node *asked = d ? asked_metadata(a, d) : NULL, *v;
    if (!invocation && !usage && !asked)
        return;
    jw_key(w, "metadata");
    jw_object(w);
    for (const json_node *k = asked ? json_first(d, asked) : NULL; k; k = json_next(d, asked, v)) {
        v = json_next(d, asked, k);
        jw_kraw(w, json_text(a, d, k), json_raw(a, d, v));
    }
    if (invocation)
        jw_kstr(w, view->stamp_key ? view->stamp_key : "kagent_invocation_id", invocation);
    if (usage)
        a2a_usage_write(w, view, e->usage);
    jw_end_object(w);
}

static void native_write(arena *a, json_writer *w, const a2a_view *view, const ramet_entry *e,
                         const char *invocation)
{
    json_doc d;
    size_t n = 0;
    jw_object(w);
    head_write(w, view, e->id, e->role);
    jw_key(w, "parts");
    jw_array(w);
    bool readable = json_parse(a, e->parts, strlen(e->parts), SIZE_MAX, &d, NULL);
    if (readable)
        for (const json_node *v = json_first(&d, &d.nodes[0]); v; v = json_next(&d, &d.nodes[0], v))
            n += native_part(a, w, view, &d, v, e->text);
    if (!n) {
        jw_object(w);
        if (view->version == A2A_03)
            jw_kstr(w, "kind", "text");
        jw_kstr(w, "text", "");
        jw_end_object(w);
    }
    jw_end_array(w);
    native_metadata(a, w, view, e, readable ? &d : NULL, invocation);
    jw_end_object(w);
}

void a2a_message_write(json_writer *w, const a2a_view *view, const ramet_entry *e,
                       const char *invocation)
{
    arena *a = arena_new();
    json_doc d;
    bool own = strcmp(e->format, "a2a") == 0 && e->body &&
               json_parse(a, e->body, strlen(e->body), SIZE_MAX, &d, NULL);
    if (own)
        rewrite(a, w, view, &d, &d.nodes[0], e->id, invocation);
    else
        native_write(a, w, view, e, invocation ? invocation : e->turn_id);
    arena_free(a);
}
