/* SPDX-License-Identifier: Apache-2.0
 *
 * append.c: appending entries: checks, the attachments they refer to, and the commit that creates a
 * conversation, a root or a fork, together with its first entries.
 */
#include "face/memory/memory.h"

#include "base/util.h"
#include "ramet/memory.h"

#include <string.h>
#include <strings.h>

enum { MAX_CONTENT_ITEMS = 1000, TITLE_BYTES = 40, MAX_TYPE_BYTES = 127 };

static bool refuse_message(request *q, const char *message)
{
    memory_invalid(q, message);
    return false;
}

static bool is_blank(const char *s)
{
    return !s || !s[strspn(s, " \t\r\n")];
}

/* ------------------------------------------------------------------ what is sent */

static bool channel_read(request *q, const char *name, memory_new *n)
{
    static const char *const names[] = {"history", "context", "journal"};
    n->channel = NULL;
    n->explicit_channel = name != NULL;
    for (size_t i = 0; i < 3 && !n->channel; i++)
        if (!name || strcasecmp(name, names[i]) == 0)
            n->channel = names[i];
    return n->channel ? true : refuse_message(q, "invalid channel");
}

static bool uuid_read(request *q, const json_doc *d, const json_node *o, const char *name,
                      const char **out)
{
    const json_node *v = json_get(d, o, name);
    const char *text = json_text(q->arena, d, v);
    *out = NULL;
    if (!v || json_is(v, JSON_NULL))
        return true;
    if (!text || !uuid_valid(text)) {
        request_fail(q, 400, "invalid_request", name, "\"%s\" must be a UUID", name);
        return false;
    }
    *out = memory_lower(q->arena, text);
    return true;
}

static bool text_read(request *q, const json_doc *d, const json_node *o, const char *name,
                      const char **out)
{
    const json_node *v = json_get(d, o, name);
    *out = json_text(q->arena, d, v);
    if (!v || json_is(v, JSON_NULL) || (*out && !v->has_nul))
        return true;
    request_fail(q, 400, "invalid_request", name, "\"%s\" must be a string", name);
    return false;
}

static bool number_read(request *q, const json_doc *d, const json_node *o, const char *name,
                        int64_t max, int64_t *out)
{
    const json_node *v = json_get(d, o, name);
    *out = -1;
    if (!v || json_is(v, JSON_NULL) || (json_int(d, v, out) && *out >= 0 && *out <= max))
        return true;
    request_fail(q, 400, "invalid_request", name, "\"%s\" must be a number from 0 to %lld", name,
                 (long long)max);
    return false;
}

static bool rights_check(request *q, const char *user, const memory_new *n)
{
    bool history = strcmp(n->channel, "history") == 0;
    if (user && strcmp(user, q->caller.user) != 0)
        return refuse_message(q, "userId does not match the authenticated user");
    if (!history && !q->caller.client) {
        memory_refuse(q, 403, "forbidden", "forbidden",
                      memory_detail(q, "message", "context and journal entries need a client id"));
        return false;
    }
    if (n->agent && !q->caller.client)
        return refuse_message(q, "agentId needs a client id");
    if (n->indexed && !history)
        return refuse_message(q, "indexedContent can only be set for history entries");
    if (n->epoch >= 0 && strcmp(n->channel, "context") != 0) {
        memory_refuse(q, 400, "validation_error", "epoch can only be set for context entries",
                      NULL);
        return false;
    }
    return true;
}

bool memory_new_read(request *q, const json_doc *d, const json_node *o, memory_new *n)
{
    const char *channel, *user;
    const json_node *content = json_get(d, o, "content");
    *n = (memory_new){.epoch = -1};
    if (!text_read(q, d, o, "channel", &channel) || !text_read(q, d, o, "userId", &user) ||
        !text_read(q, d, o, "contentType", &n->content_type) ||
        !text_read(q, d, o, "agentId", &n->agent) ||
        !text_read(q, d, o, "indexedContent", &n->indexed) ||
        !text_read(q, d, o, "forkedAtConversationId", &n->fork_of) ||
        !text_read(q, d, o, "startedByConversationId", &n->started_by) ||
        !uuid_read(q, d, o, "forkedAtEntryId", &n->fork_at) ||
        !uuid_read(q, d, o, "startedByEntryId", &n->started_at) ||
        !number_read(q, d, o, "seq", UINT32_MAX, &n->seq) ||
        !number_read(q, d, o, "epoch", INT64_MAX, &n->epoch))
        return false;
    if (!json_is(content, JSON_ARRAY)) {
        request_fail(q, 400, "invalid_request", "content", "\"content\" must be an array");
        return false;
    }
    if (content->count > MAX_CONTENT_ITEMS)
        return refuse_message(q, "content has more than 1000 elements");
    n->content = json_raw(q->arena, d, content);
    return channel_read(q, channel, n) && rights_check(q, user, n) &&
           (!is_blank(n->content_type) || refuse_message(q, "contentType must not be blank")) &&
           (strlen(n->content_type) <= MAX_TYPE_BYTES ||
            refuse_message(q, "contentType has more than 127 characters"));
}

/* ---- the rules of the channel history, if it was named */

static bool attachment_rule(request *q, const json_doc *d, const json_node *v, size_t i)
{
    const char *href = json_text(q->arena, d, json_get(d, v, "href"));
    const char *id = json_text(q->arena, d, json_get(d, v, "attachmentId"));
    const char *type = json_text(q->arena, d, json_get(d, v, "contentType"));
    if (!href && !id)
        return refuse_message(q, arena_printf(q->arena,
                                              "History channel attachment at index %zu must have "
                                              "an 'href' or 'attachmentId' field",
                                              i));
    if (href && !id && !type)
        return refuse_message(q, arena_printf(q->arena,
                                              "History channel attachment at index %zu must have "
                                              "a 'contentType' field",
                                              i));
    return true;
}

static bool history_rules(request *q, const json_doc *d, const memory_new *n)
{
    const json_node *list = &d->nodes[0], *o = json_first(d, list);
    if (strncasecmp(n->content_type, "history", 7) != 0 ||
        (n->content_type[7] && (n->content_type[7] != '/' || !n->content_type[8])))
        return refuse_message(q, "History channel entries must use 'history' or "
                                 "'history/<subtype>' as the contentType");
    if (list->count != 1 || !json_is(o, JSON_OBJECT))
        return refuse_message(q, "History channel entries must contain exactly 1 content object");
    const json_node *files = json_get(d, o, "attachments"), *role = json_get(d, o, "role");
    if (!json_get(d, o, "text") && !json_get(d, o, "events") && !files)
        return refuse_message(q, "History channel content must have at least one of 'text', "
                                 "'events', or 'attachments'");
    const char *word = json_text(q->arena, d, role);
    if (role && (!word || (strcasecmp(word, "USER") != 0 && strcasecmp(word, "AI") != 0 &&
                           strcasecmp(word, "SYSTEM") != 0)))
        return refuse_message(q, "History channel content must have a 'role' field with value "
                                 "'USER' or 'AI'");
    if (files && !json_is(files, JSON_ARRAY))
        return refuse_message(q, "History channel 'attachments' field must be an array");
    size_t i = 0;
    for (const json_node *v = json_first(d, files); v; v = json_next(d, files, v))
        if (!attachment_rule(q, d, v, i++))
            return false;
    return true;
}

/* ------------------------------------------------------------------- attachments */

/* Copies an attachment that another entry already refers to: the new one has the same content. */
static bool file_take(request *q, const char *id, memory_again *again, ramet_attachment **out,
                      const char **shown)
{
    char uuid[UUID_TEXT];
    *shown = id = memory_lower(q->arena, id);
    if (ramet_attachment_get(q->call, id, out) != RAMET_OK) {
        ramet_fetch *f;
        const ramet_error *e = ramet_call_error(q->call);
        if (e->status == RAMET_ATTACHMENT_NOT_FOUND && !memory_file_is_disclosed(e, id) &&
            ramet_fetch_get(q->call, id, &f) == RAMET_OK)
            memory_refuse(q, 409, NULL, MEMORY_NOT_READY, NULL);
        else
            memory_error(q, id);
        return false;
    }
    if ((*out)->expires)
        return true;
    *shown = arena_strdup(q->arena, uuid4(uuid));
    ramet_again a = {id, *shown};
    VEC_PUSH(q->arena, again, a);
    return true;
}

typedef struct content_pen {
    request *request;
    const json_doc *doc;
    json_writer out, parts; /* the rewritten content; parts of the normal form */
    memory_again *again;
    bool changed;
} content_pen;

static void members_but(content_pen *p, const json_node *o, const char *a, const char *b)
{
    const json_node *v;
    for (const json_node *k = json_first(p->doc, o); k; k = json_next(p->doc, o, v)) {
        const char *name = json_text(p->request->arena, p->doc, k);
        v = json_next(p->doc, o, k);
        if (strcmp(name, a) != 0 && (!b || strcmp(name, b) != 0))
            jw_kraw(&p->out, name, json_raw(p->request->arena, p->doc, v));
    }
}

static bool file_write(content_pen *p, const json_node *v)
{
    const char *id = json_text(p->request->arena, p->doc, json_get(p->doc, v, "attachmentId")),
               *shown;
    ramet_attachment *a;
    if (!id || !uuid_valid(id)) {
        jw_raw(&p->out, json_raw(p->request->arena, p->doc, v));
        return true;
    }
    if (!file_take(p->request, id, p->again, &a, &shown))
        return false;
    p->changed = true;
    jw_object(&p->out);
    members_but(p, v, "attachmentId", NULL);
    jw_kstr(&p->out, "attachmentId", shown);
    if (!json_get(p->doc, v, "contentType") && a->media_type && *a->media_type)
        jw_kstr(&p->out, "contentType", a->media_type);
    if (!json_get(p->doc, v, "name") && a->name && *a->name)
        jw_kstr(&p->out, "name", a->name);
    jw_end_object(&p->out);
    jw_object(&p->parts);
    jw_kstr(&p->parts, "type", "file");
    jw_kstr(&p->parts, "attachment_id", shown);
    jw_end_object(&p->parts);
    return true;
}

static bool item_write(content_pen *p, const json_node *o)
{
    const json_node *files = json_get(p->doc, o, "attachments"),
                    *text = json_get(p->doc, o, "text");
    const char *words = json_text(p->request->arena, p->doc, text);
    if (words && *words && !text->has_nul) {
        jw_object(&p->parts);
        jw_kstr(&p->parts, "type", "text");
        jw_kstr(&p->parts, "text", words);
        jw_end_object(&p->parts);
    }
    if (!json_is(files, JSON_ARRAY)) {
        jw_raw(&p->out, json_raw(p->request->arena, p->doc, o));
        return true;
    }
    jw_object(&p->out);
    members_but(p, o, "attachments", NULL);
    jw_key(&p->out, "attachments");
    jw_array(&p->out);
    for (const json_node *v = json_first(p->doc, files); v; v = json_next(p->doc, files, v))
        if (!file_write(p, v))
            return false;
    jw_end_array(&p->out);
    jw_end_object(&p->out);
    return true;
}

/* The parts of the normal form, and the content if an id in it has changed. */
static bool content_read(request *q, memory_new *n, const json_doc *d, memory_again *again)
{
    buf out, parts;
    content_pen p = {.request = q, .doc = d, .again = again};
    buf_init(&out, 2 * strlen(n->content) + (1u << 20));
    buf_init(&parts, 2 * strlen(n->content) + (1u << 20));
    jw_init(&p.out, &out, 0);
    jw_init(&p.parts, &parts, 0);
    jw_array(&p.out);
    jw_array(&p.parts);
    bool fine = true;
    for (const json_node *v = json_first(d, &d->nodes[0]); v && fine;
         v = json_next(d, &d->nodes[0], v))
        fine = item_write(&p, v);
    jw_end_array(&p.out);
    jw_end_array(&p.parts);
    if (fine && p.changed)
        n->content = arena_memdup(q->arena, out.data, out.n);
    n->in.parts = arena_memdup(q->arena, parts.data, parts.n);
    buf_release(&out);
    buf_release(&parts);
    return fine;
}

/* ------------------------------------------------------------------------ entries */

static ramet_role role_of(request *q, const json_doc *d)
{
    const char *word = json_text(q->arena, d, json_get(d, json_first(d, &d->nodes[0]), "role"));
    if (word && strcasecmp(word, "AI") == 0)
        return RAMET_ASSISTANT;
    if (word && strcasecmp(word, "SYSTEM") == 0)
        return RAMET_SYSTEM;
    return !word && q->caller.client ? RAMET_ASSISTANT : RAMET_USER;
}

/* The first 40 bytes of the text, without half a character. */
static const char *title_of(request *q, const json_doc *d)
{
    const json_node *v = json_get(d, json_first(d, &d->nodes[0]), "text");
    const char *text = json_text(q->arena, d, v);
    if (!text || v->has_nul)
        return NULL;
    size_t n = strlen(text);
    if (n > TITLE_BYTES)
        n = TITLE_BYTES;
    while (n && !utf8_valid(text, n))
        n--;
    char *title = arena_memdup(q->arena, text, n);
    for (char *p = title; *p; p++)
        if ((unsigned char)*p < 0x20)
            *p = ' ';
    return title;
}

static const char *body_make(request *q, const memory_new *n)
{
    buf b;
    json_writer w;
    buf_init(&b, SIZE_MAX / 4);
    jw_init(&w, &b, 0);
    jw_object(&w);
    jw_kstr(&w, "contentType", n->content_type);
    if (n->agent)
        jw_kstr(&w, "agentId", n->agent);
    if (n->epoch >= 0)
        jw_kint(&w, "epoch", n->epoch);
    if (n->seq >= 0)
        jw_kint(&w, "seq", n->seq);
    jw_kraw(&w, "content", n->content);
    jw_end_object(&w);
    return buf_keep(&b, q->arena);
}

bool memory_prepare(request *q, memory_new *n, const char *session, memory_again *again)
{
    json_doc d;
    bool history = strcmp(n->channel, "history") == 0;
    (void)session;
    if (!json_parse(q->arena, n->content, strlen(n->content), 0, &d, NULL))
        return refuse_message(q, "content is not JSON that can be taken");
    if (history && n->explicit_channel && !history_rules(q, &d, n))
        return false;
    n->in = (ramet_entry_in){.role = RAMET_SYSTEM,
                             .format = "memory",
                             .channel = n->channel,
                             .author = q->caller.user,
                             .indexed = n->indexed};
    if (history) {
        n->in.role = role_of(q, &d);
        n->title = title_of(q, &d);
        if (!content_read(q, n, &d, again))
            return false;
    }
    if (strcmp(n->channel, "context") == 0 && n->epoch < 0)
        n->epoch = 1;
    n->in.body = body_make(q, n);
    if (n->seq >= 0)
        n->in.key = arena_printf(q->arena, "seq %010lld", (long long)n->seq);
    return true;
}

/* The stored id of an anchor that this face shows under a derived one. */
static const char *anchor_of(request *q, const char *session, const char *id)
{
    if (!session || !id)
        return NULL;
    const ramet_entry *e = memory_entry_find(q->call, q->arena, session, id);
    return e ? e->id : id;
}

bool memory_append(request *q, const char *session, memory_new *list, size_t n,
                   const char *expected, ramet_append_out *out)
{
    memory_again again = {0};
    ramet_entry_in *in = arena_array(q->arena, n, sizeof *in);
    ramet_make make = {.agent = list[0].agent && *list[0].agent ? list[0].agent : NULL,
                       .fork_of = list[0].fork_of,
                       .started_by = list[0].started_by};
    for (size_t i = 0; i < n; i++) {
        if (!memory_prepare(q, &list[i], session, &again))
            return false;
        in[i] = list[i].in;
        make.own |= strcmp(list[i].channel, "history") != 0;
        if (!make.title)
            make.title = list[i].title;
    }
    make.fork_at = anchor_of(q, make.fork_of, list[0].fork_at);
    make.started_at = anchor_of(q, make.started_by, list[0].started_at);
    ramet_append_in what = {.entries = in,
                            .n = n,
                            .make = &make,
                            .again = again.items,
                            .n_again = again.n,
                            .expected_head = expected};
    if (ramet_append(q->call, session, &what, out) == RAMET_OK) {
        if (out->made && make.fork_of)
            face_count(q, "fork", "explicit");
        return true;
    }
    return false;
}

static bool list_read(request *q, memory_new **out, size_t *n)
{
    const json_node *list = face_member(q, "entries");
    memory_new *v = arena_array(q->arena, list ? list->count + 1 : 1, sizeof *v);
    int64_t epoch = -1;
    *out = v;
    *n = 0;
    if (!list) {
        *n = 1;
        return memory_new_read(q, &q->json, &q->json.nodes[0], v);
    }
    if (!list->count) {
        request_fail(q, 400, "invalid_request", "entries", "\"entries\" must not be empty");
        return false;
    }
    if (!number_read(q, &q->json, &q->json.nodes[0], "epoch", INT64_MAX, &epoch))
        return false;
    for (const json_node *e = json_first(&q->json, list); e; e = json_next(&q->json, list, e)) {
        if (!json_is(e, JSON_OBJECT)) {
            request_fail(q, 400, "invalid_request", "entries", "\"entries\" must hold objects");
            return false;
        }
        if (!memory_new_read(q, &q->json, e, &v[*n]))
            return false;
        if (epoch >= 0 && v[*n].epoch < 0)
            v[*n].epoch = epoch;
        if (v[*n].epoch >= 0 && strcmp(v[*n].channel, "context") != 0) {
            memory_refuse(q, 400, "validation_error", "epoch can only be set for context entries",
                          NULL);
            return false;
        }
        ++*n;
    }
    return true;
}

void memory_entry_post(request *q)
{
    const char *id = face_path(q, "conversationId");
    ramet_append_out out;
    memory_new *list;
    size_t n;
    if (!face_call(q) || !list_read(q, &list, &n))
        return;
    if (!memory_append(q, id, list, n, NULL, &out)) {
        if (!q->status)
            memory_error(q, id);
        return;
    }
    if (memory_entries_write(q, id, out.entries, out.n, n > 1))
        face_done(q);
}
