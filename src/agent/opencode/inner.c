/* SPDX-License-Identifier: Apache-2.0
 *
 * inner.c: which of OpenCode's sessions a turn uses: the one that holds exactly its history, a
 * checked copy of one that holds it and more, or a new one (O1, O3, O4, O5 in opencode.h).
 *
 * What an inner session holds is a list of prompts, read from its messages; a prompt of ours has
 * the hash of the history with it, so equal hashes mean equal histories. A message that was written
 * in OpenCode itself is known by the id of the entry that was made of it (mirror.c). All of
 * this is on OpenCode's side: after a restart, on another node, nothing is lost.
 */
#include "agent/opencode/opencode.h"

#include "agent/transcript.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TITLE_BYTES = 60 };

/* ------------------------------------------------------------------ in memory */

static oc_inner *inner_new(const char *id)
{
    arena *a = arena_new();
    oc_inner *in = arena_alloc(a, sizeof *in);
    in->arena = a;
    in->id = arena_strdup(a, id);
    in->session = in->root = in->rest = "";
    return in;
}

/* Caller holds the lock. */
static void inner_forget(opencode *own, const char *id)
{
    for (oc_inner **at = &own->inners; *at; at = &(*at)->next)
        if (strcmp((*at)->id, id) == 0) {
            oc_inner *in = *at;
            *at = in->next;
            arena_free(in->arena);
            return;
        }
}

static void inner_keep(opencode *own, oc_inner *in)
{
    pthread_mutex_lock(&own->lock);
    inner_forget(own, in->id);
    in->next = own->inners;
    own->inners = in;
    pthread_mutex_unlock(&own->lock);
}

void oc_inners_free(opencode *own)
{
    while (own->inners)
        inner_forget(own, own->inners->id);
}

/* ------------------------------------------------------------------ read from OpenCode */

/* Other members of the metadata, to be kept when ours are replaced. */
static const char *rest_read(arena *a, const json_doc *d, const json_node *metadata)
{
    buf b;
    buf_init(&b, 1 << 20);
    const json_node *key = json_is(metadata, JSON_OBJECT) ? json_first(d, metadata) : NULL;
    while (key) {
        const json_node *value = json_next(d, metadata, key);
        const char *name = json_text(a, d, key);
        if (name && strcmp(name, "ramet") != 0)
            buf_printf(&b, ",%s:%s", json_raw(a, d, key), json_raw(a, d, value));
        key = json_next(d, metadata, value);
    }
    return buf_keep(&b, a);
}

bool oc_mark_is_ours(const oc_api *api, const json_doc *d, const json_node *mark)
{
    return oc_is(api->arena, d, mark, "agent", api->set->name) &&
           oc_is(api->arena, d, mark, "store", api->set->store);
}

/* What the session itself says. */
static void info_read(oc_inner *in, const json_doc *d, const json_node *info)
{
    arena *a = in->arena;
    const json_node *metadata = json_get(d, info, "metadata");
    const json_node *mark = json_get(d, metadata, "ramet");
    const json_node *keys = json_get(d, mark, "keys");
    const char *session = oc_text(a, d, mark, "session"), *root = oc_text(a, d, mark, "root");
    in->session = session ? session : "";
    in->root = root ? root : "";
    in->is_new = oc_is(a, d, mark, "state", "new");
    in->is_adopted = json_is(json_get(d, mark, "adopted"), JSON_TRUE);
    in->keys = json_is(keys, JSON_ARRAY) ? json_raw(a, d, keys) : NULL;
    in->rest = rest_read(a, d, metadata);
    in->revert = oc_text(a, d, json_get(d, info, "revert"), "messageID");
}

/* A message of the user. `keys` has the ids of those that were written in OpenCode, if they were
 * copied. */
static void prompt_read(oc_inner *in, const json_doc *d, const json_node *message,
                        const char *store, const char *const *keys, size_t n_keys, size_t *at)
{
    arena *a = in->arena;
    const json_node *parts = json_get(d, message, "parts");
    const char *id = oc_text(a, d, json_get(d, message, "info"), "id");
    oc_prompt p = {.message = id, .before = in->n_messages};
    bool is_typed = false;
    for (const json_node *v = json_is(parts, JSON_ARRAY) ? json_first(d, parts) : NULL; v;
         v = json_next(d, parts, v)) {
        const json_node *mark = json_get(d, json_get(d, v, "metadata"), "ramet");
        if (!oc_is(a, d, mark, "store", store))
            mark = NULL;
        is_typed = is_typed || !json_is(json_get(d, v, "synthetic"), JSON_TRUE);
        is_typed = is_typed && !oc_is(a, d, v, "type", "compaction");
        if (!mark)
            continue;
        p.key = oc_text(a, d, mark, "hash");
        p.turn = oc_text(a, d, mark, "turn");
        p.view = oc_text(a, d, mark, "view");
    }
    if (!p.key && !is_typed)
        return; /* OpenCode talks to itself, to go on after it has compacted */
    if (!p.key)
        p.key = p.turn = *at < n_keys ? keys[(*at)++] : oc_entry_id(a, id, 0);
    VEC_PUSH(a, &in->prompts, p);
}

/* The number of tool calls in a message. */
static size_t calls_count(arena *a, const json_doc *d, const json_node *message)
{
    size_t n = 0;
    const json_node *parts = json_get(d, message, "parts");
    for (const json_node *v = json_is(parts, JSON_ARRAY) ? json_first(d, parts) : NULL; v;
         v = json_next(d, parts, v))
        n += oc_is(a, d, v, "type", "tool");
    return n;
}

static const char *const *keys_read(oc_inner *in, size_t *n)
{
    json_doc d;
    VEC(const char *) keys = {0};
    if (in->keys && json_parse(in->arena, in->keys, strlen(in->keys), 0, &d, NULL))
        for (const json_node *v = json_first(&d, d.nodes); v; v = json_next(&d, d.nodes, v)) {
            const char *key = json_text(in->arena, &d, v);
            VEC_PUSH(in->arena, &keys, key);
        }
    *n = keys.n;
    return keys.items;
}

/* Reads the messages of a session; those that a revert hides do not count. */
static bool messages_read(const oc_api *api, oc_inner *in, oc_reply *got)
{
    size_t n_keys, at = 0;
    if (!oc_call(api, "GET", arena_printf(api->arena, "/session/%s/message", in->id), NULL, got) ||
        !got->doc.n)
        return false;
    const json_doc *d = &got->doc;
    const char *const *keys = keys_read(in, &n_keys);
    for (const json_node *m = json_is(d->nodes, JSON_ARRAY) ? json_first(d, d->nodes) : NULL; m;
         m = json_next(d, d->nodes, m)) {
        const json_node *info = json_get(d, m, "info");
        const char *id = oc_text(in->arena, d, info, "id");
        if (!id || (in->revert && strcmp(id, in->revert) == 0))
            break;
        if (oc_is(in->arena, d, info, "role", "user"))
            prompt_read(in, d, m, api->set->store, keys, n_keys, &at);
        else if (in->prompts.n)
            in->prompts.items[in->prompts.n - 1].n_calls += calls_count(in->arena, d, m);
        in->n_messages++;
        in->last = id;
    }
    return true;
}

oc_inner *oc_inner_read(const oc_api *api, const char *id, oc_reply *got)
{
    if (!oc_call(api, "GET", arena_printf(api->arena, "/session/%s", id), NULL, got) || !got->doc.n)
        return NULL;
    oc_inner *in = inner_new(id);
    info_read(in, &got->doc, got->doc.nodes);
    if (messages_read(api, in, got))
        return in;
    arena_free(in->arena);
    return NULL;
}

/* ------------------------------------------------------------------ what it holds */

/* The number of tool calls in an entry. */
static size_t entry_calls(arena *a, const ramet_entry *e)
{
    json_doc d;
    size_t n = 0;
    if (!e->parts || !json_parse(a, e->parts, strlen(e->parts), 0, &d, NULL))
        return 0;
    for (const json_node *p = json_first(&d, d.nodes); p; p = json_next(&d, d.nodes, p))
        n += oc_is(a, &d, p, "type", "tool_call");
    return n;
}

/* Whether the history before the message ends with this prompt and its whole answer: all its tool
 * calls, and words behind them. */
static bool prompt_is_end(arena *a, const oc_prompt *p, const oc_want *want)
{
    const agent_turn *t = want->turn;
    size_t n = want->message, calls = 0;
    const ramet_entry *e = n ? &t->history[n - 1] : NULL;
    bool ours = p->view != NULL;
    if (!e || !p->turn || !e->turn_id || strcmp(e->turn_id, p->turn) != 0 ||
        (ours && strcmp(p->view, want->view) != 0) || e->role != RAMET_ASSISTANT ||
        agent_entry_is_cut(a, e) || entry_calls(a, e))
        return false;
    while (n > 1 && e->turn_id && strcmp(e->turn_id, p->turn) == 0 &&
           strcmp(ours ? e->hash : e->id, p->key) != 0) {
        calls += entry_calls(a, e);
        e = &t->history[--n - 1];
    }
    return n < want->message && calls == p->n_calls && strcmp(ours ? e->hash : e->id, p->key) == 0;
}

/* Messages written in OpenCode have no hash: each of them before `n` must be in the history, in its
 * place. The history itself must be unaltered then: no overlay, nothing erased. */
static bool foreign_match(const oc_inner *in, size_t n, const oc_want *want)
{
    const agent_turn *t = want->turn;
    size_t e = 0;
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        const oc_prompt *p = &in->prompts.items[i];
        if (p->view)
            continue; /* the hash of a later prompt, or of this one, covers it */
        any = true;
        while (e < want->message && strcmp(t->history[e].id, p->key) != 0)
            e++;
        if (e == want->message)
            return false;
    }
    return !any || strcmp(want->view, "0.0") == 0;
}

/* The index of the prompt after which the inner session held the history, or -1. */
static int64_t prompt_find(arena *a, const oc_inner *in, const oc_want *want)
{
    for (size_t i = in->prompts.n; i-- > 0;)
        if (prompt_is_end(a, &in->prompts.items[i], want) && foreign_match(in, i + 1, want))
            return (int64_t)i;
    return -1;
}

/* ------------------------------------------------------------------ candidates */

typedef struct candidate {
    const char *id;
    bool is_own; /* of the same session */
} candidate;

/* The best inner session that is known to hold the history; id NULL: none. */
static candidate candidate_find(opencode *own, arena *a, const oc_want *want)
{
    candidate best = {0};
    const agent_turn *t = want->turn;
    pthread_mutex_lock(&own->lock);
    for (oc_inner *in = own->inners; in; in = in->next) {
        int64_t at = prompt_find(a, in, want);
        bool is_own = strcmp(in->session, t->session_id) == 0 && !in->revert &&
                      at == (int64_t)in->prompts.n - 1;
        if (at >= 0 && (!best.id || is_own > best.is_own))
            best = (candidate){arena_strdup(a, in->id), is_own};
    }
    pthread_mutex_unlock(&own->lock);
    return best;
}

/* Whether a session may hold it: it is of the same tree. */
static bool session_is_near(const oc_api *api, const json_doc *d, const json_node *s,
                            const oc_want *want)
{
    arena *a = api->arena;
    const json_node *mark = json_get(d, json_get(d, s, "metadata"), "ramet");
    const char *key = want->turn->cache_key;
    return key && oc_is(a, d, mark, "root", key) && oc_mark_is_ours(api, d, mark);
}

/* Reads the inner sessions of the tree: other processes, and users of OpenCode, change them. */
static bool inners_load(opencode *own, const oc_api *api, const oc_want *want, oc_reply *got)
{
    oc_reply list;
    if (!oc_call(api, "GET", arena_printf(api->arena, "/session?limit=%d", OC_LIST_MAX), NULL, got))
        return false;
    list = *got;
    const json_doc *d = &list.doc;
    for (const json_node *s = d->n && json_is(d->nodes, JSON_ARRAY) ? json_first(d, d->nodes)
                                                                    : NULL;
         s; s = json_next(d, d->nodes, s)) {
        const char *id = oc_text(api->arena, d, s, "id");
        if (!id || !session_is_near(api, d, s, want))
            continue;
        oc_inner *in = oc_inner_read(api, id, got);
        if (in)
            inner_keep(own, in);
        else if (got->cancelled || !got->status)
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------ new ones and copies */

/* The members of our mark that every inner session has. */
static void mark_write(json_writer *w, opencode *own, const char *session, const char *root)
{
    jw_kstr(w, "store", own->set.store);
    jw_kstr(w, "agent", own->set.name);
    jw_kstr(w, "session", session);
    jw_kstr(w, "root", root);
    jw_kstr(w, "by", own->host);
}

static const char *mark_make(arena *a, opencode *own, const oc_inner *in, bool is_forking)
{
    buf b;
    json_writer w;
    buf_init(&b, 4 << 20);
    jw_init(&w, &b, 0);
    jw_object(&w);
    jw_kstr(&w, "id", in->id);
    mark_write(&w, own, in->session, in->root);
    if (in->is_adopted)
        jw_kbool(&w, "adopted", true);
    if (in->keys)
        jw_kraw(&w, "keys", in->keys);
    if (is_forking) {
        jw_key(&w, "forking");
        jw_object(&w);
        jw_kstr(&w, "by", own->host);
        jw_end_object(&w);
    }
    jw_end_object(&w);
    return arena_printf(a, "{\"metadata\":{\"ramet\":%s%s}}", buf_keep(&b, a), in->rest);
}

bool oc_mark_put(opencode *own, const oc_api *api, const oc_inner *in, bool is_forking,
                 oc_reply *got)
{
    return oc_call(api, "PATCH", arena_printf(api->arena, "/session/%s", in->id),
                   mark_make(api->arena, own, in, is_forking), got);
}

static const char *title_of(arena *a, const oc_want *want)
{
    const agent_turn *t = want->turn;
    const char *text = want->message < t->n ? t->history[want->message].text : "";
    size_t n = strcspn(text, "\r\n");
    char *title = arena_memdup(a, text, n < TITLE_BYTES ? n : TITLE_BYTES);
    utf8_trim(title);
    return *title ? title : "Ramet";
}

/* A new session has a title, so that OpenCode does not ask its model for one. */
static bool inner_make(opencode *own, const oc_api *api, const oc_want *want, oc_found *out,
                       oc_reply *got)
{
    buf b;
    json_writer w;
    const agent_turn *t = want->turn;
    buf_init(&b, 1 << 20);
    jw_init(&w, &b, 0);
    jw_object(&w);
    jw_kstr(&w, "title", title_of(api->arena, want));
    jw_key(&w, "metadata");
    jw_object(&w);
    jw_key(&w, "ramet");
    jw_object(&w);
    mark_write(&w, own, t->session_id ? t->session_id : "", t->cache_key ? t->cache_key : "");
    jw_kstr(&w, "state", "new");
    jw_end_object(&w);
    jw_end_object(&w);
    jw_end_object(&w);
    if (!oc_call(api, "POST", "/session", buf_keep(&b, api->arena), got))
        return false;
    out->id = got->doc.n ? oc_text(api->arena, &got->doc, got->doc.nodes, "id") : NULL;
    out->is_complete = want->message == 0;
    out->is_new = true;
    if (!out->id) {
        snprintf(got->why, OC_REASON, "OpenCode did not name its new session");
        return false;
    }
    oc_inner *in = inner_new(out->id);
    info_read(in, &got->doc, got->doc.nodes);
    inner_keep(own, in);
    return true;
}

static void inner_delete(const oc_api *api, const char *id)
{
    oc_reply got;
    oc_call(api, "DELETE", arena_printf(api->arena, "/session/%s", id), NULL, &got);
}

/* The ids of messages that were written in OpenCode; a copy has other ones. NULL: there are none.
 */
const char *oc_keys_make(arena *a, const oc_inner *in, size_t n)
{
    buf b;
    json_writer w;
    size_t some = 0;
    buf_init(&b, 4 << 20);
    jw_init(&w, &b, 0);
    jw_array(&w);
    for (size_t i = 0; i < n; i++)
        if (!in->prompts.items[i].view) {
            jw_str(&w, in->prompts.items[i].key);
            some++;
        }
    jw_end_array(&w);
    const char *text = buf_keep_whole(&b, a);
    return some ? text : NULL;
}

/* Whether a copy holds what it should: as many messages, and the prompts up to `at`. */
static bool copy_is_right(const oc_inner *copy, const oc_inner *source, size_t at, size_t n)
{
    if (copy->n_messages != n || copy->prompts.n != at + 1)
        return false;
    for (size_t i = 0; i <= at; i++)
        if (strcmp(copy->prompts.items[i].key, source->prompts.items[i].key) != 0)
            return false;
    return true;
}

/* Copies the source up to the prompt `at` with its answer. False: it does not work, and nothing is
 * left of it. */
static bool inner_copy(opencode *own, const oc_api *api, const oc_want *want, oc_inner *source,
                       size_t at, oc_found *out)
{
    oc_reply got;
    oc_api patient = *api;
    int64_t late = time_mono_us() + own->set.fork_ms * 1000;
    const char *end =
        at + 1 < source->prompts.n ? source->prompts.items[at + 1].message : source->revert;
    size_t n =
        at + 1 < source->prompts.n ? source->prompts.items[at + 1].before : source->n_messages;
    if ((at + 1 < source->prompts.n && !end) || !oc_mark_put(own, api, source, true, &got))
        return false;
    patient.limits.first_byte_ms = own->set.fork_ms; /* it answers when it is done */
    if (late < patient.deadline)
        patient.deadline = late;
    const char *body =
        end ? arena_printf(api->arena, "{\"messageID\":%s}", json_quote(api->arena, end)) : "{}";
    bool made =
        oc_call(api, "POST", arena_printf(api->arena, "/session/%s/fork", source->id), body, &got);
    const char *id = made && got.doc.n ? oc_text(api->arena, &got.doc, got.doc.nodes, "id") : NULL;
    oc_inner *copy = id ? inner_new(id) : NULL;
    bool fine = false;
    if (copy) {
        copy->session = arena_strdup(copy->arena, want->turn->session_id);
        copy->root = arena_strdup(copy->arena, want->turn->cache_key);
        copy->keys = arena_strdup(copy->arena, oc_keys_make(api->arena, source, at + 1));
        copy->rest = arena_strdup(copy->arena, source->rest);
        fine = messages_read(api, copy, &got) && copy_is_right(copy, source, at, n) &&
               oc_mark_put(own, api, copy, false, &got);
    }
    if (id && !fine)
        inner_delete(api, id);
    oc_mark_put(own, api, source, false, &got);
    if (copy && fine) {
        *out = (oc_found){.id = arena_strdup(api->arena, id), .is_complete = true};
        inner_keep(own, copy);
    } else if (copy) {
        arena_free(copy->arena);
    }
    return fine;
}

/* ------------------------------------------------------------------ choosing */

/* Whether the newest message of an inner session answers its last prompt that we know, and nothing
 * is hidden: it is as we know it, without reading all of it. */
static bool candidate_is_fresh(opencode *own, const oc_api *api, const candidate *c)
{
    oc_reply got;
    arena *a = api->arena;
    const char *last = NULL;
    pthread_mutex_lock(&own->lock);
    for (oc_inner *in = own->inners; in; in = in->next)
        if (strcmp(in->id, c->id) == 0 && in->prompts.n)
            last = arena_strdup(a, in->prompts.items[in->prompts.n - 1].message);
    pthread_mutex_unlock(&own->lock);
    if (!last || !oc_call(api, "GET", arena_printf(a, "/session/%s", c->id), NULL, &got) ||
        !got.doc.n || json_get(&got.doc, got.doc.nodes, "revert") ||
        !oc_call(api, "GET", arena_printf(a, "/session/%s/message?limit=1", c->id), NULL, &got) ||
        !got.doc.n)
        return false;
    const json_node *m = json_first(&got.doc, got.doc.nodes);
    return oc_is(a, &got.doc, json_get(&got.doc, m, "info"), "parentID", last);
}

/* Uses a candidate, as OpenCode has it now. False: it does not hold the history any more, or cannot
 * be copied. */
static bool candidate_use(opencode *own, const oc_api *api, const oc_want *want, const candidate *c,
                          oc_found *out, oc_reply *got)
{
    if (c->is_own && candidate_is_fresh(own, api, c)) {
        *out = (oc_found){.id = c->id, .is_complete = true};
        return true;
    }
    oc_inner *in = oc_inner_read(api, c->id, got);
    if (!in) {
        pthread_mutex_lock(&own->lock);
        inner_forget(own, c->id);
        pthread_mutex_unlock(&own->lock);
        return false;
    }
    int64_t at = prompt_find(api->arena, in, want);
    bool is_end = at >= 0 && at == (int64_t)in->prompts.n - 1 && !in->revert;
    bool fine = at >= 0;
    if (fine && is_end && strcmp(in->session, want->turn->session_id) == 0)
        *out = (oc_found){
            .id = arena_strdup(api->arena, in->id), .is_complete = true, .is_new = in->is_new};
    else if (fine)
        fine = inner_copy(own, api, want, in, (size_t)at, out);
    inner_keep(own, in);
    return fine;
}

bool oc_inner_open(opencode *own, oc_api *api, const oc_want *want, oc_found *out,
                   char why[OC_REASON])
{
    oc_reply got = {0};
    bool fine = false;
    if (want->message && want->turn->session_id && want->turn->cache_key) {
        for (int round = 0; round < 2 && !fine; round++) {
            candidate c = candidate_find(own, api->arena, want);
            if (!c.id && round == 0 && !inners_load(own, api, want, &got))
                break;
            if (!c.id)
                c = candidate_find(own, api->arena, want);
            if (!c.id)
                break;
            fine = candidate_use(own, api, want, &c, out, &got);
        }
        if (!fine && (got.cancelled || (api->sink && api->sink->cancelled(api->sink->arg))))
            return false;
    }
    if (fine || inner_make(own, api, want, out, &got))
        return true;
    snprintf(why, OC_REASON, "%s", got.why);
    return false;
}

void oc_inner_prompted(opencode *own, oc_api *api, const oc_want *want, const oc_found *found,
                       const oc_answer *answer)
{
    const agent_turn *t = want->turn;
    oc_inner *mark = NULL;
    pthread_mutex_lock(&own->lock);
    for (oc_inner *in = own->inners; in; in = in->next)
        if (strcmp(in->id, found->id) == 0) {
            oc_prompt p = {.message = arena_strdup(in->arena, answer->message),
                           .n_calls = answer->n_calls,
                           .key = arena_strdup(in->arena, t->n ? t->history[t->n - 1].hash : ""),
                           .turn = arena_strdup(in->arena, t->turn_id),
                           .view = arena_strdup(in->arena, want->view),
                           .before = in->n_messages};
            VEC_PUSH(in->arena, &in->prompts, p);
            if (in->is_new) {
                in->is_new = false;
                mark = inner_new(in->id);
                mark->session = arena_strdup(mark->arena, in->session);
                mark->root = arena_strdup(mark->arena, in->root);
            }
        }
    pthread_mutex_unlock(&own->lock);
    if (!mark)
        return;
    oc_reply got;
    oc_mark_put(own, api, mark, false, &got);
    arena_free(mark->arena);
}

/* ------------------------------------------------------------------ mending */

bool oc_host_is_dead(const char *host)
{
    return host && host_look(host) == HOST_DEAD;
}

/* A copy that was never finished has the mark of its source. Messages of its own make it somebody's
 * work: it is left alone then. */
static bool copy_is_left(const oc_api *api, const json_doc *d, const json_node *s)
{
    arena *a = api->arena;
    oc_reply got;
    int64_t made = 0, newest = 0;
    json_int(d, json_get(d, json_get(d, s, "time"), "created"), &made);
    if (!oc_call(api, "GET", arena_printf(a, "/session/%s/message?limit=1", oc_text(a, d, s, "id")),
                 NULL, &got) ||
        !got.doc.n)
        return false;
    const json_node *m = json_first(&got.doc, got.doc.nodes);
    json_int(
        &got.doc,
        json_get(&got.doc, json_get(&got.doc, json_get(&got.doc, m, "info"), "time"), "created"),
        &newest);
    return newest < made;
}

/* What to do about one session. */
static void session_mend(opencode *own, const oc_api *api, const json_doc *d, const json_node *s)
{
    arena *a = api->arena;
    oc_reply got;
    const json_node *mark = json_get(d, json_get(d, s, "metadata"), "ramet");
    const json_node *forking = json_get(d, mark, "forking");
    const char *id = oc_text(a, d, s, "id"), *own_id = oc_text(a, d, mark, "id");
    if (!mark || !id || !oc_mark_is_ours(api, d, mark))
        return;
    if (oc_is(a, d, mark, "state", "new")) {
        if (oc_host_is_dead(oc_text(a, d, mark, "by")) &&
            oc_call(api, "GET", arena_printf(a, "/session/%s/message?limit=1", id), NULL, &got) &&
            got.doc.n && !json_first(&got.doc, got.doc.nodes))
            inner_delete(api, id);
        return;
    }
    if (!forking || !oc_host_is_dead(oc_text(a, d, forking, "by")))
        return;
    if (own_id && strcmp(own_id, id) == 0) {
        oc_inner *in = inner_new(id);
        info_read(in, d, s);
        oc_mark_put(own, api, in, false, &got);
        arena_free(in->arena);
    } else if (copy_is_left(api, d, s)) {
        inner_delete(api, id);
    }
}

void oc_mend(opencode *own, oc_api *api)
{
    oc_reply got;
    pthread_mutex_lock(&own->lock);
    bool is_due = !own->is_mended;
    own->is_mended = true;
    pthread_mutex_unlock(&own->lock);
    if (!is_due)
        return;
    if (!oc_call(api, "GET", arena_printf(api->arena, "/session?limit=%d", OC_LIST_MAX), NULL,
                 &got)) {
        pthread_mutex_lock(&own->lock);
        own->is_mended = false;
        pthread_mutex_unlock(&own->lock);
        return;
    }
    const json_doc *d = &got.doc;
    for (const json_node *s = d->n && json_is(d->nodes, JSON_ARRAY) ? json_first(d, d->nodes)
                                                                    : NULL;
         s; s = json_next(d, d->nodes, s))
        session_mend(own, api, d, s);
}
