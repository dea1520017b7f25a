/* SPDX-License-Identifier: Apache-2.0
 *
 * mirror_tidy.c: removes from OpenCode what was erased, or collected, here.
 *
 * A session of OpenCode that a turn has made goes when our session is gone for good, and when it
 * holds an entry that was erased: the next turn makes another one. Of a session that was made in
 * OpenCode itself only the erased messages go.
 */
#include "agent/opencode/mirror_internal.h"

#include "ramet.h"

#include <string.h>

typedef struct erased_entry {
    const char *id, *hash, *turn;
} erased_entry;

typedef struct tidy {
    const oc_api *api;
    ramet_call *call;
    VEC(erased_entry) erased; /* in the session that is looked at */
} tidy;

static void erased_take(tidy *t, const ramet_page *page)
{
    arena *a = t->api->arena;
    for (size_t i = 0; i < page->n; i++) {
        const ramet_entry *e = &page->entries[i];
        erased_entry one = {arena_strdup(a, e->id), arena_strdup(a, e->hash),
                            arena_strdup(a, e->turn_id)};
        if (e->erased)
            VEC_PUSH(a, &t->erased, one);
    }
}

/* Finds the erased entries of a session: on its path, and in everything that it ever had. */
static bool erased_find(tidy *t, const char *session)
{
    ramet_page page;
    int64_t total;
    t->erased.n = 0;
    for (int64_t at = 0;; at += (int64_t)page.n) {
        ramet_read_in in = {.limit = 1000, .by_position = true, .position = at};
        ramet_call_reset(t->call);
        if (ramet_read(t->call, session, &in, &page) != RAMET_OK)
            return false;
        erased_take(t, &page);
        if (!page.n)
            break;
    }
    for (int64_t at = 0;; at += (int64_t)page.n) {
        ramet_call_reset(t->call);
        if (ramet_record(t->call, session, RAMET_LOG_MAIN, at, 1000, &page, &total) != RAMET_OK)
            return false;
        erased_take(t, &page);
        if (!page.n)
            return t->erased.n > 0;
    }
}

/* Whether a prompt, or its answer, was erased. */
static bool prompt_is_erased(const tidy *t, const oc_prompt *p)
{
    for (size_t i = 0; i < t->erased.n; i++) {
        const erased_entry *e = &t->erased.items[i];
        if (strcmp(p->view ? e->hash : e->id, p->key) == 0 ||
            (e->turn && p->turn && strcmp(e->turn, p->turn) == 0))
            return true;
    }
    return false;
}

/* Removes the messages of a prompt, from OpenCode's list. */
static void messages_delete(tidy *t, const char *id, const json_doc *d, size_t from, size_t end)
{
    arena *a = t->api->arena;
    size_t at = 0;
    oc_reply got;
    for (const json_node *m = json_first(d, d->nodes); m; m = json_next(d, d->nodes, m), at++) {
        const char *message = oc_text(a, d, json_get(d, m, "info"), "id");
        if (at >= from && at < end && message)
            oc_call(t->api, "DELETE", arena_printf(a, "/session/%s/message/%s", id, message), NULL,
                    &got);
    }
}

static void erased_remove(tidy *t, const char *id)
{
    arena *a = t->api->arena;
    oc_reply got;
    oc_inner *in = oc_inner_read(t->api, id, &got);
    if (!in)
        return;
    oc_reply list;
    bool is_listed =
        oc_call(t->api, "GET", arena_printf(a, "/session/%s/message", id), NULL, &list);
    for (size_t i = 0; i < in->prompts.n; i++) {
        const oc_prompt *p = &in->prompts.items[i];
        size_t end = i + 1 < in->prompts.n ? in->prompts.items[i + 1].before : in->n_messages;
        if (!prompt_is_erased(t, p))
            continue;
        if (!in->is_adopted) {
            oc_call(t->api, "DELETE", arena_printf(a, "/session/%s", id), NULL, &got);
            break;
        }
        if (is_listed && list.doc.n)
            messages_delete(t, id, &list.doc, p->before, end);
    }
    arena_free(in->arena);
}

static void session_tidy(tidy *t, const json_doc *d, const json_node *s)
{
    arena *a = t->api->arena;
    const json_node *mark = json_get(d, json_get(d, s, "metadata"), "ramet");
    const char *id = oc_text(a, d, s, "id"), *session = oc_text(a, d, mark, "session");
    ramet_session *ours;
    oc_reply got;
    if (!id || !session || !oc_mark_is_ours(t->api, d, mark) || !oc_is(a, d, mark, "id", id))
        return;
    ramet_call_reset(t->call);
    ramet_status st = ramet_session_get(t->call, session, &ours);
    if (st == RAMET_SESSION_NOT_FOUND && !json_get(d, mark, "adopted"))
        oc_call(t->api, "DELETE", arena_printf(a, "/session/%s", id), NULL, &got);
    else if (st == RAMET_OK && erased_find(t, session))
        erased_remove(t, id);
}

bool mirror_tidy(ramet *store, const oc_api *api)
{
    oc_reply got;
    if (!oc_call(api, "GET", arena_printf(api->arena, "/session?limit=%d", OC_LIST_MAX), NULL,
                 &got) ||
        !got.doc.n)
        return false;
    tidy t = {.api = api, .call = ramet_call_new(store, NULL, NULL)};
    const json_doc *d = &got.doc;
    for (const json_node *s = json_is(d->nodes, JSON_ARRAY) ? json_first(d, d->nodes) : NULL; s;
         s = json_next(d, d->nodes, s))
        if (!api->sink->cancelled(api->sink->arg))
            session_tidy(&t, d, s);
    ramet_call_free(t.call);
    return true;
}
