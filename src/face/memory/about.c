/* SPDX-License-Identifier: Apache-2.0
 *
 * about.c: the server's health and capabilities, its events, and chat in one step.
 */
#include "face/memory/memory.h"

#include "face/kit/turn_events.h"

#include "base/util.h"
#include "base/words.h"
#include "ramet/nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void memory_health(request *q)
{
    jw_object(&q->writer);
    jw_kstr(&q->writer, "status", "ok");
    jw_end_object(&q->writer);
    face_done(q);
}

/* -------------------------------------------------------------- capabilities */

static void bools_write(request *q, const char *key, const char *const *names, unsigned set)
{
    jw_key(&q->writer, key);
    jw_object(&q->writer);
    for (size_t i = 0; names[i]; i++)
        jw_kbool(&q->writer, names[i], set >> i & 1);
    jw_end_object(&q->writer);
}

void memory_capabilities(request *q)
{
    static const char *const features[] = {"outbox_enabled",
                                           "semantic_search_enabled",
                                           "fulltext_search_enabled",
                                           "cors_enabled",
                                           "management_listener_enabled",
                                           "private_source_urls_enabled",
                                           "s3_direct_download_enabled",
                                           NULL};
    static const char *const logins[] = {"oidc_enabled", "api_key_enabled",
                                         "admin_justification_required",
                                         "user_id_assertion_enabled", NULL};
    static const char *const security[] = {"encryption_enabled", "db_encryption_enabled",
                                           "attachment_encryption_enabled", NULL};
    const char *store = ramet_shared(q->host->store) ? "postgres" : "sqlite";
    jw_object(&q->writer);
    jw_kstr(&q->writer, "version", q->host->version);
    jw_key(&q->writer, "tech");
    jw_object(&q->writer);
    jw_kstr(&q->writer, "store", store);
    jw_kstr(&q->writer, "attachments", "fs");
    jw_kstr(&q->writer, "cache", "none");
    jw_kstr(&q->writer, "vector", "none");
    jw_kstr(&q->writer, "event_bus", "local");
    jw_kstr(&q->writer, "embedder", "none");
    jw_end_object(&q->writer);
    bools_write(q, "features", features, 1u | 4u | (q->host->private_urls ? 32u : 0));
    bool oidc = q->caller.mode && strcmp(q->caller.mode, "oidc") == 0;
    bools_write(q, "auth", logins, (oidc ? 1u : 0) | 2u | 8u);
    bools_write(q, "security", security, 0);
    jw_end_object(&q->writer);
    face_done(q);
}

/* -------------------------------------------------------------------- events */

typedef struct feed {
    char *kinds, *channels, *types, *roles, *client; /* lists separated by commas; NULL: any */
    bool full, everybody;                            /* everybody: channels of all clients */
    ramet *store;
    char *user; /* reader of the stream; NULL: with the rights of the program */
} feed;

static bool listed(const char *list, const char *word)
{
    return !list || !*list || word_in_any_case(list, ",", word);
}

static void frame_begin(buf *out, json_writer *w, const char *event, const char *kind,
                        const ramet_event *e)
{
    buf_puts(out, "data: ");
    jw_init(w, out, 0);
    jw_object(w);
    jw_kstr(w, "event", event);
    jw_kstr(w, "kind", kind);
    jw_key(w, "data");
    jw_object(w);
    if (!e->member)
        jw_kstr(w, "conversation", e->session);
    jw_kstr(w, "conversation_group", e->tree);
}

static void frame_end(buf *out, json_writer *w, int64_t number, bool last)
{
    char text[32];
    jw_end_object(w);
    snprintf(text, sizeof text, "%lld", (long long)number);
    if (last)
        jw_kstr(w, "cursor", text);
    jw_end_object(w);
    buf_puts(out, "\n\n");
}

static const char *role_word(ramet_role r)
{
    return r == RAMET_USER ? "USER" : r == RAMET_SYSTEM ? "SYSTEM" : "AI";
}

static bool entry_is_wanted(const feed *f, const ramet_entry *e, const memory_body *b)
{
    bool history = strcmp(e->channel, "history") == 0;
    if (!listed(f->channels ? f->channels : "history", e->channel))
        return false;
    bool own = f->client && e->client && strcmp(f->client, e->client) == 0;
    if (!history && !own && !f->everybody)
        return false;
    return listed(f->types, b->content_type ? b->content_type : "history") &&
           (!f->roles || (history && listed(f->roles, role_word(e->role))));
}

/* A frame is one line: replaces line breaks between the tokens of stored JSON. */
static const char *one_line(arena *a, const char *json)
{
    char *s = arena_strdup(a, json);
    for (char *p = s; (p = strpbrk(p, "\r\n"));)
        *p = ' ';
    return s;
}

static void entries_send(const feed *f, const ramet_event *e, buf *out)
{
    arena *a = arena_new();
    memory_body b;
    size_t last = e->n; /* it carries the cursor */
    do {
        if (!last) {
            arena_free(a);
            return;
        }
        memory_body_read(a, &e->entries[--last], &b);
    } while (!entry_is_wanted(f, &e->entries[last], &b));
    for (size_t i = 0; i <= last; i++) {
        json_writer w;
        const ramet_entry *n = &e->entries[i];
        memory_body_read(a, n, &b);
        if (!entry_is_wanted(f, n, &b))
            continue;
        frame_begin(out, &w, "created", "entry", e);
        jw_kstr(&w, "entry", memory_entry_id(a, n));
        jw_kstr(&w, "entry_channel", n->channel);
        jw_kstr(&w, "entry_content_type", b.content_type ? b.content_type : "history");
        if (strcmp(n->channel, "history") == 0)
            jw_kstr(&w, "entry_role", role_word(n->role));
        if (f->full && b.content)
            jw_kraw(&w, "content", one_line(a, b.content));
        else if (f->full)
            jw_kstr(&w, "text", n->text);
        frame_end(out, &w, e->number, i == last);
    }
    arena_free(a);
}

static void member_send(const ramet_event *e, buf *out)
{
    json_writer w;
    frame_begin(out, &w,
                !e->before  ? "created"
                : !e->after ? "deleted"
                            : "updated",
                "membership", e);
    jw_kstr(&w, "user", e->member);
    if (e->after)
        jw_kstr(&w, "role", ramet_level_name(e->after));
    frame_end(out, &w, e->number, true);
}

/* With detail=full, what the reader of the stream may see of the conversation now. */
static void talk_describe(const feed *f, const ramet_event *e, json_writer *w)
{
    ramet_session *s;
    arena *a = arena_new();
    ramet_call *c = ramet_call_new(f->store, f->user, NULL);
    buf b;
    json_writer own;
    buf_init(&b, SIZE_MAX / 4);
    jw_init(&own, &b, 0);
    jw_object(&own);
    bool fine = ramet_session_get(c, e->session, &s) == RAMET_OK &&
                memory_talk_fields(c, a, &own, s, true, f->everybody);
    jw_end_object(&own);
    json_doc d;
    const char *text = fine ? one_line(a, b.data) : "{}";
    if (json_parse(a, text, strlen(text), SIZE_MAX, &d, NULL)) {
        const json_node *v;
        for (const json_node *k = json_first(&d, &d.nodes[0]); k;
             k = json_next(&d, &d.nodes[0], v)) {
            v = json_next(&d, &d.nodes[0], k);
            jw_kraw(w, json_text(a, &d, k), json_raw(a, &d, v));
        }
    }
    buf_release(&b);
    ramet_call_free(c);
    arena_free(a);
}

static void feed_event(void *arg, const ramet_event *e, buf *out)
{
    const feed *f = arg;
    json_writer w;
    if (e->kind == RAMET_EVENT_APPENDED) {
        if (listed(f->kinds, "entry"))
            entries_send(f, e, out);
        return;
    }
    if (e->member && listed(f->kinds, "membership"))
        member_send(e, out);
    if (e->member || !listed(f->kinds, "conversation"))
        return;
    const char *event = e->kind == RAMET_EVENT_CREATED || e->kind == RAMET_EVENT_FORKED ? "created"
                        : e->kind == RAMET_EVENT_DELETED                                ? "deleted"
                                                                                        : "updated";
    frame_begin(out, &w, event, "conversation", e);
    if (f->full && e->kind != RAMET_EVENT_DELETED)
        talk_describe(f, e, &w);
    else if (e->archived)
        jw_kbool(&w, "archived", e->archived > 0);
    frame_end(out, &w, e->number, true);
}

static void feed_hello(void *arg, int64_t number, buf *out)
{
    (void)arg, (void)number;
    buf_puts(out, ": connected\n\n");
}

static void feed_heartbeat(void *arg, int64_t number, buf *out)
{
    (void)arg, (void)number;
    buf_puts(out, ": keepalive\n\n");
}

static void feed_reset(void *arg, int64_t number, buf *out)
{
    (void)arg;
    buf_printf(out,
               "data: {\"event\":\"invalidate\",\"kind\":\"stream\",\"data\":{\"reason\":\"cursor "
               "beyond retention window\"},\"cursor\":\"%lld\"}\n\n",
               (long long)number);
}

static void feed_free(void *arg)
{
    feed *f = arg;
    free(f->kinds);
    free(f->channels);
    free(f->types);
    free(f->roles);
    free(f->client);
    free(f->user);
    free(f);
}

/* The values of a repeated parameter, separated by commas. */
static char *list_read(request *q, const char *name)
{
    const char **all, *joined = NULL;
    size_t n = request_query_all(q, name, &all);
    for (size_t i = 0; i < n; i++)
        joined = joined ? arena_printf(q->arena, "%s,%s", joined, all[i]) : all[i];
    return joined ? xstrdup(joined) : NULL;
}

void memory_events(request *q)
{
    const char *after = request_query(q, "after"), *detail = request_query(q, "detail");
    char *end = NULL;
    ramet_events_in in = {.after = after ? strtoll(after, &end, 10) : 0};
    bool start = after && strcmp(after, "start") == 0;
    if (after && !start && (end == after || *end || in.after < 0)) {
        memory_refuse(q, 400, "bad_request", "after must be a cursor of this stream", NULL);
        return;
    }
    feed *f = xcalloc(1, sizeof *f);
    *f = (feed){.kinds = list_read(q, "kinds"),
                .channels = list_read(q, "entry_channels"),
                .types = list_read(q, "entry_content_types"),
                .roles = list_read(q, "entry_roles"),
                .client = xstrdup(q->caller.client),
                .full = detail && strcmp(detail, "full") == 0,
                .everybody = memory_is_admin(q),
                .store = q->host->store,
                .user = memory_is_admin(q) ? NULL : xstrdup(q->caller.user)};
    live_feed events = {.hello = feed_hello,
                        .heartbeat = feed_heartbeat,
                        .event = feed_event,
                        .reset = feed_reset,
                        .release = feed_free,
                        .arg = f,
                        .reports_removal = true,
                        .sees_all = f->everybody};
    face_live_open(q, &in, !after, &events, 429);
}

/* ---------------------------------------------------------------------- chat */

static bool agent_known(request *q, const char *name)
{
    const char *known;
    for (size_t i = 0; q->host->agent_name && (known = q->host->agent_name(q->host->arg, i)); i++)
        if (strcmp(known, name) == 0)
            return true;
    memory_invalid(q, arena_printf(q->arena, "no agent %.100s is configured", name));
    return false;
}

/* [{"role": "USER", "text", "attachments"?}] */
static const char *chat_content(request *q)
{
    const json_node *files = face_member(q, "attachments");
    buf b;
    json_writer w;
    buf_init(&b, SIZE_MAX / 4);
    jw_init(&w, &b, 0);
    jw_array(&w);
    jw_object(&w);
    jw_kstr(&w, "role", "USER");
    jw_kstr(&w, "text", face_text(q, "message"));
    if (files && files->count) {
        jw_key(&w, "attachments");
        jw_array(&w);
        for (const json_node *v = json_first(&q->json, files); v;
             v = json_next(&q->json, files, v)) {
            if (!json_is(v, JSON_STRING)) {
                jw_raw(&w, json_raw(q->arena, &q->json, v));
                continue;
            }
            jw_object(&w);
            jw_kstr(&w, "attachmentId", json_text(q->arena, &q->json, v));
            jw_end_object(&w);
        }
        jw_end_array(&w);
    }
    jw_end_object(&w);
    jw_end_array(&w);
    return buf_keep(&b, q->arena);
}

void memory_chat_post(request *q)
{
    const char *id = face_path(q, "conversationId"), *agent = face_text(q, "agent");
    const char *anchor = face_text(q, "forkedAtEntryId");
    ramet_agent who = {.name = agent};
    ramet_append_out out;
    memory_new n = {.content_type = "history",
                    .channel = "history",
                    .explicit_channel = true,
                    .fork_of = face_text(q, "forkedAtConversationId"),
                    .fork_at = anchor ? memory_lower(q->arena, anchor) : NULL,
                    .epoch = -1,
                    .seq = -1};
    if (!face_call(q) || (agent && !agent_known(q, agent)))
        return;
    n.content = chat_content(q);
    if (!memory_append(q, id, &n, 1, NULL, &out)) {
        if (!q->status)
            memory_error(q, id);
        return;
    }
    turn_request in = {.session = id, .agent = agent ? &who : NULL};
    turn_batch batch = {.items = &in, .n = 1};
    turn_listener listener = face_turn_stream();
    if (q->host->turns)
        face_turns_run(q, &batch, &listener);
    else
        memory_refuse(q, 501, NULL, "nobody runs turns here", NULL);
}

void memory_cancel(request *q)
{
    ramet_call *c = face_call(q);
    const char *id = face_path(q, "conversationId");
    ramet_turn *turn = NULL;
    turn_error err;
    if (!c)
        return;
    ramet_status st = ramet_session_writable(c, id);
    if (st == RAMET_OK)
        st = ramet_turn_running(c, id, &turn);
    if (st != RAMET_OK) {
        memory_error(q, id);
        return;
    }
    if (turn && q->host->turns && !turns_cancel(q->host->turns, q, id, turn->id, &turn, &err)) {
        face_turn_error(q, &err);
        return;
    }
    face_done(q);
}
