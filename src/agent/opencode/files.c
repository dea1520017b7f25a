/* SPDX-License-Identifier: Apache-2.0
 *
 * files.c: the working files as OpenCode's snapshots have them. OpenCode restores files with its
 * revert alone. That leaves the inner session reverted, which is never continued then: a turn
 * copies what it needs of it (inner.c).
 */
#include "agent/opencode/opencode.h"

#include <stdio.h>
#include <string.h>

enum { FILES_MS = 60000, MAX_CHANGES = 8 << 20 };

static bool never_cancelled(void *arg)
{
    (void)arg;
    return false;
}

/* The index of the prompt that a message was sent as; -1: it is not in this session. */
static int64_t prompt_of(const oc_inner *in, const ramet_entry *message)
{
    for (size_t i = 0; i < in->prompts.n; i++) {
        const oc_prompt *p = &in->prompts.items[i];
        if (strcmp(p->view ? message->hash : message->id, p->key) == 0)
            return (int64_t)i;
    }
    return -1;
}

/* The inner session of our session that has the message; NULL: none. */
static oc_inner *inner_find(const oc_api *api, const agent_files *in, int64_t *at, char *why)
{
    oc_reply got;
    if (!oc_call(api, "GET", arena_printf(api->arena, "/session?limit=%d", OC_LIST_MAX), NULL,
                 &got) ||
        !got.doc.n) {
        snprintf(why, AGENT_MESSAGE, "%.200s", got.why);
        return NULL;
    }
    json_doc d = got.doc;
    for (const json_node *s = json_is(d.nodes, JSON_ARRAY) ? json_first(&d, d.nodes) : NULL; s;
         s = json_next(&d, d.nodes, s)) {
        const json_node *mark = json_get(&d, json_get(&d, s, "metadata"), "ramet");
        const char *id = oc_text(api->arena, &d, s, "id");
        if (!id || !oc_mark_is_ours(api, &d, mark) ||
            !oc_is(api->arena, &d, mark, "session", in->session))
            continue;
        oc_inner *inner = oc_inner_read(api, id, &got);
        *at = inner ? prompt_of(inner, in->message) : -1;
        if (*at >= 0)
            return inner;
        if (inner)
            arena_free(inner->arena);
    }
    snprintf(why, AGENT_MESSAGE, "OpenCode has no session with this message");
    return NULL;
}

/* The changes of all answers from a prompt on. */
static const char *changes_list(const oc_api *api, const oc_inner *in, size_t from)
{
    buf b;
    oc_reply got;
    buf_init(&b, MAX_CHANGES);
    for (size_t i = from; i < in->prompts.n; i++) {
        const char *path = arena_printf(api->arena, "/session/%s/diff?messageID=%s", in->id,
                                        in->prompts.items[i].message);
        if (!oc_call(api, "GET", path, NULL, &got) || !got.doc.n ||
            !json_is(got.doc.nodes, JSON_ARRAY))
            continue;
        const json_doc *d = &got.doc;
        for (const json_node *v = json_first(d, d->nodes); v; v = json_next(d, d->nodes, v))
            buf_printf(&b, "%s%s", b.n ? "," : "[", json_raw(api->arena, d, v));
    }
    if (b.n)
        buf_putc(&b, ']');
    const char *text = buf_keep_whole(&b, api->arena);
    return text && *text ? text : NULL;
}

const char *oc_files(agent *a, const agent_files *in, arena *mem, char *why)
{
    opencode *own = a->own;
    agent_sink sink = {.cancelled = never_cancelled};
    oc_api api = {.set = &own->set,
                  .pool = own->pool,
                  .arena = mem,
                  .sink = &sink,
                  .deadline = time_mono_us() + FILES_MS * INT64_C(1000),
                  .folder = own->set.folder,
                  .limits = own->set.limits};
    oc_reply got;
    int64_t at = -1;
    oc_inner *inner = inner_find(&api, in, &at, why);
    if (!inner)
        return NULL;
    const char *changes = changes_list(&api, inner, (size_t)at);
    if (!changes)
        snprintf(
            why, AGENT_MESSAGE,
            "OpenCode has no snapshot of files that changed since (it needs snapshot: true, and "
            "a git folder)");
    const char *body =
        arena_printf(mem, "{\"messageID\":%s}", json_quote(mem, inner->prompts.items[at].message));
    if (changes && in->restore &&
        !oc_call(&api, "POST", arena_printf(mem, "/session/%s/revert", inner->id), body, &got)) {
        snprintf(why, AGENT_MESSAGE, "%.200s", got.why);
        changes = NULL;
    }
    arena_free(inner->arena);
    return changes;
}
