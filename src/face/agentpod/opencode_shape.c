/* SPDX-License-Identifier: Apache-2.0
 *
 * opencode_shape.c: ids and shapes of OpenCode's API.
 */
#include "face/agentpod/opencode.h"

#include "base/base64.h"
#include "base/util.h"

#include <string.h>

enum { PLACE_DIGITS = 12 };

/* ------------------------------------------------------------------ ids */

const char *pod_session_id(arena *a, const char *session)
{
    return arena_printf(a, "ses_%s", b64url_encode(a, session, strlen(session)));
}

static const char *place_id(arena *a, const char *front, const ramet_entry *e)
{
    return arena_printf(a, "%s%0*llx%s", front, PLACE_DIGITS, (long long)e->position,
                        b64url_encode(a, e->id, strlen(e->id)));
}

const char *pod_message_id(arena *a, const ramet_entry *e)
{
    return place_id(a, "msg_", e);
}

static const char *id_decode(arena *a, const char *id, size_t skip)
{
    size_t n = 0, len = strlen(id);
    const char *text = len > skip ? b64url_decode(a, id + skip, len - skip, &n) : NULL;
    return text && n && n == strlen(text) && utf8_valid(text, n) ? text : NULL;
}

const char *pod_session_of(arena *a, const char *id)
{
    const char *found = strncmp(id, "ses_", 4) == 0 ? id_decode(a, id, 4) : NULL;
    return found ? found : id;
}

const char *pod_entry_of(arena *a, const char *id)
{
    const char *found = strncmp(id, "msg_", 4) == 0 ? id_decode(a, id, 4 + PLACE_DIGITS) : NULL;
    return found ? found : id;
}

/* ------------------------------------------------------------------ messages */

pod_message *pod_messages(arena *a, const ramet_entry *entries, size_t n, size_t *count)
{
    pod_message *list = arena_array(a, n + 1, sizeof *list);
    const ramet_entry *prompt = NULL;
    size_t at = 0;
    for (size_t i = 0; i < n;) {
        pod_message *m = &list[at++];
        *m = (pod_message){.entries = &entries[i], .n = 1, .prompt = prompt};
        bool is_user = entries[i++].role == RAMET_USER;
        if (is_user)
            prompt = m->entries;
        for (; !is_user && i < n && entries[i].role != RAMET_USER; i++)
            m->n++;
    }
    *count = at;
    return list;
}

static void time_write(json_writer *w, const char *key, int64_t us)
{
    jw_kint(w, key, us / 1000);
}

static void tokens_write(json_writer *w, const pod_message *m)
{
    ramet_usage sum = {0};
    for (size_t i = 0; i < m->n; i++)
        if (m->entries[i].usage) {
            sum.input += m->entries[i].usage->input;
            sum.output += m->entries[i].usage->output;
            sum.cached += m->entries[i].usage->cached;
            sum.cost += m->entries[i].usage->cost;
        }
    jw_key(w, "cost");
    jw_nano(w, sum.cost);
    jw_key(w, "tokens");
    jw_object(w);
    jw_kint(w, "input", sum.input - sum.cached);
    jw_kint(w, "output", sum.output);
    jw_kint(w, "reasoning", 0);
    jw_key(w, "cache");
    jw_object(w);
    jw_kint(w, "read", sum.cached);
    jw_kint(w, "write", 0);
    jw_end_object(w);
    jw_end_object(w);
}

/* Why an answer was cut off; NULL: it was not. */
static const char *cut_of(arena *a, const pod_message *m, const char **error)
{
    json_doc d;
    const ramet_entry *e = &m->entries[m->n - 1];
    const json_node *last = NULL;
    if (!e->parts || !json_parse(a, e->parts, strlen(e->parts), 0, &d, NULL))
        return NULL;
    for (const json_node *p = json_first(&d, d.nodes); p; p = json_next(&d, d.nodes, p))
        last = p;
    const json_node *data = json_get(&d, last, "data");
    *error = json_text(a, &d, json_get(&d, data, "error"));
    return json_text(a, &d, json_get(&d, data, "turn"));
}

static void model_write(json_writer *w, const ramet_session *s)
{
    jw_kstr(w, "modelID", s->agent.model ? s->agent.model : "");
    jw_kstr(w, "providerID", s->agent.provider ? s->agent.provider : "ramet");
}

static void answer_info(arena *a, json_writer *w, const ramet_session *s, const pod_message *m)
{
    const char *error = NULL, *cut = cut_of(a, m, &error);
    const char *folder = s->agent.folder ? s->agent.folder : "/";
    jw_kstr(w, "parentID", m->prompt ? pod_message_id(a, m->prompt) : "");
    model_write(w, s);
    jw_kstr(w, "mode", "build");
    jw_kstr(w, "agent", m->entries[0].author ? m->entries[0].author : "");
    jw_key(w, "path");
    jw_object(w);
    jw_kstr(w, "cwd", folder);
    jw_kstr(w, "root", folder);
    jw_end_object(w);
    tokens_write(w, m);
    if (!cut) {
        jw_kstr(w, "finish", "stop");
        return;
    }
    jw_key(w, "error");
    jw_object(w);
    jw_kstr(w, "name", strcmp(cut, "cancelled") == 0 ? "MessageAbortedError" : "UnknownError");
    jw_key(w, "data");
    jw_object(w);
    jw_kstr(w, "message", error ? error : cut);
    jw_end_object(w);
    jw_end_object(w);
}

void pod_info_write(arena *a, json_writer *w, const ramet_session *s, const pod_message *m)
{
    bool is_user = m->entries[0].role == RAMET_USER;
    jw_object(w);
    jw_kstr(w, "id", pod_message_id(a, m->entries));
    jw_kstr(w, "sessionID", pod_session_id(a, s->id));
    jw_kstr(w, "role", is_user ? "user" : "assistant");
    jw_key(w, "time");
    jw_object(w);
    time_write(w, "created", m->entries[0].created);
    if (!is_user)
        time_write(w, "completed", m->entries[m->n - 1].created);
    jw_end_object(w);
    if (is_user) {
        jw_kstr(w, "agent", s->agent.name ? s->agent.name : "");
        jw_key(w, "model");
        jw_object(w);
        model_write(w, s);
        jw_end_object(w);
    } else {
        answer_info(a, w, s, m);
    }
    jw_end_object(w);
}

/* ------------------------------------------------------------------ parts */

typedef struct part_writer {
    arena *arena;
    json_writer *writer;
    const ramet_session *session;
    const pod_message *message;
    size_t k;
} part_writer;

static void part_head(part_writer *p, const char *type)
{
    json_writer *w = p->writer;
    ramet_entry at = p->message->entries[0];
    at.position = at.position * 4096 + (int64_t)p->k++;
    jw_kstr(w, "id", place_id(p->arena, "prt_", &at));
    jw_kstr(w, "sessionID", pod_session_id(p->arena, p->session->id));
    jw_kstr(w, "messageID", pod_message_id(p->arena, p->message->entries));
    jw_kstr(w, "type", type);
}

/* The result of a call in the same answer: its output as text; NULL: there is none. */
static const char *result_of(part_writer *p, const char *call, bool *failed)
{
    for (size_t i = 0; i < p->message->n; i++) {
        const ramet_entry *e = &p->message->entries[i];
        json_doc d;
        if (!e->parts || !strstr(e->parts, "tool_result") ||
            !json_parse(p->arena, e->parts, strlen(e->parts), 0, &d, NULL))
            continue;
        for (const json_node *v = json_first(&d, d.nodes); v; v = json_next(&d, d.nodes, v)) {
            const char *id = json_text(p->arena, &d, json_get(&d, v, "id"));
            const json_node *out = json_get(&d, v, "output");
            if (!out || !id || strcmp(id, call) != 0)
                continue;
            *failed = json_is(json_get(&d, v, "is_error"), JSON_TRUE);
            return json_is(out, JSON_STRING) ? json_text(p->arena, &d, out)
                                             : json_raw(p->arena, &d, out);
        }
    }
    return NULL;
}

static void tool_write(part_writer *p, const ramet_entry *e, const json_doc *d, const json_node *v)
{
    json_writer *w = p->writer;
    const char *call = json_text(p->arena, d, json_get(d, v, "id"));
    const char *name = json_text(p->arena, d, json_get(d, v, "name"));
    const json_node *input = json_get(d, v, "input");
    bool failed = false;
    const char *out = call ? result_of(p, call, &failed) : NULL;
    part_head(p, "tool");
    jw_kstr(w, "callID", call ? call : "");
    jw_kstr(w, "tool", name ? name : "tool");
    jw_key(w, "state");
    jw_object(w);
    jw_kstr(w, "status", !out ? "running" : failed ? "error" : "completed");
    jw_kraw(w, "input", json_is(input, JSON_OBJECT) ? json_raw(p->arena, d, input) : "{}");
    if (out)
        jw_kstr(w, failed ? "error" : "output", out);
    if (out && !failed) {
        jw_kstr(w, "title", name ? name : "tool");
        jw_kraw(w, "metadata", "{}");
    }
    jw_key(w, "time");
    jw_object(w);
    time_write(w, "start", e->created);
    if (out)
        time_write(w, "end", e->created);
    jw_end_object(w);
    jw_end_object(w);
}

/* False: OpenCode has nothing like it. */
static bool part_is_shown(const char *type)
{
    return type && (strcmp(type, "text") == 0 || strcmp(type, "thinking") == 0 ||
                    strcmp(type, "tool_call") == 0 || strcmp(type, "file") == 0);
}

static void part_write(part_writer *p, const ramet_entry *e, const json_doc *d, const json_node *v,
                       const char *type)
{
    json_writer *w = p->writer;
    if (strcmp(type, "tool_call") == 0) {
        tool_write(p, e, d, v);
    } else if (strcmp(type, "file") == 0) {
        const char *url = json_text(p->arena, d, json_get(d, v, "url"));
        const char *name = json_text(p->arena, d, json_get(d, v, "name"));
        const char *media = json_text(p->arena, d, json_get(d, v, "media_type"));
        part_head(p, "file");
        jw_kstr(w, "mime", media ? media : "application/octet-stream");
        jw_kstr(w, "url", url ? url : "");
        if (name)
            jw_kstr(w, "filename", name);
    } else {
        const char *text = json_text(p->arena, d, json_get(d, v, "text"));
        bool thinks = strcmp(type, "thinking") == 0;
        part_head(p, thinks ? "reasoning" : "text");
        jw_kstr(w, "text", text ? text : "");
        jw_key(w, "time");
        jw_object(w);
        time_write(w, "start", e->created);
        time_write(w, "end", e->created);
        jw_end_object(w);
    }
}

void pod_parts_write(arena *a, json_writer *w, const ramet_session *s, const pod_message *m,
                     void (*before)(void *arg), void (*after)(void *arg), void *arg)
{
    part_writer p = {.arena = a, .writer = w, .session = s, .message = m};
    for (size_t i = 0; i < m->n; i++) {
        json_doc d;
        const ramet_entry *e = &m->entries[i];
        if (!e->parts || !json_parse(a, e->parts, strlen(e->parts), 0, &d, NULL))
            continue;
        for (const json_node *v = json_first(&d, d.nodes); v; v = json_next(&d, d.nodes, v)) {
            const char *type = json_text(a, &d, json_get(&d, v, "type"));
            if (!part_is_shown(type))
                continue;
            if (before)
                before(arg);
            jw_object(w);
            part_write(&p, e, &d, v, type);
            jw_end_object(w);
            if (after)
                after(arg);
        }
    }
}

void pod_message_write(arena *a, json_writer *w, const ramet_session *s, const pod_message *m)
{
    jw_object(w);
    jw_key(w, "info");
    pod_info_write(a, w, s, m);
    jw_key(w, "parts");
    jw_array(w);
    pod_parts_write(a, w, s, m, NULL, NULL, NULL);
    jw_end_array(w);
    jw_end_object(w);
}

/* ------------------------------------------------------------------ sessions */

void pod_session_write(arena *a, json_writer *w, const ramet_session *s, const ramet_entry *hidden)
{
    jw_object(w);
    jw_kstr(w, "id", pod_session_id(a, s->id));
    jw_kstr(w, "slug", s->id);
    jw_kstr(w, "projectID", s->tree_id);
    jw_kstr(w, "directory", s->agent.folder ? s->agent.folder : "/");
    jw_kstr(w, "title", s->shown_title ? s->shown_title : "");
    jw_kstr(w, "version", RAMET_VERSION);
    jw_kraw(w, "metadata", s->metadata && *s->metadata ? s->metadata : "{}");
    if (s->agent.name)
        jw_kstr(w, "agent", s->agent.name);
    jw_key(w, "time");
    jw_object(w);
    time_write(w, "created", s->created);
    time_write(w, "updated", s->updated);
    if (s->archived)
        time_write(w, "archived", s->updated);
    jw_end_object(w);
    if (s->is_fork && s->parent_id) {
        jw_key(w, "fork");
        jw_object(w);
        jw_kstr(w, "sessionID", pod_session_id(a, s->parent_id));
        jw_end_object(w);
    }
    if (hidden) {
        jw_key(w, "revert");
        jw_object(w);
        jw_kstr(w, "messageID", pod_message_id(a, hidden));
        jw_end_object(w);
    }
    jw_end_object(w);
}
