/* SPDX-License-Identifier: Apache-2.0
 *
 * agentpod.c: errors of the AgentPod face, the library call of a request, and the forms of its
 * answers.
 */
#include "face/agentpod/agentpod.h"
#include "face/agentpod/opencode.h"
#include "ramet/agentpod.h"
#include "ramet/sandboxes.h"

#include <string.h>

/* ------------------------------------------------------------------ errors */

/* The text that clients show; `details` has more. */
static const char *error_text(const request *q, const char *code)
{
    static const struct {
        const char *code, *text;
    } known[] = {{"sandbox_not_found", "Sandbox not found"},
                 {"entry_not_found", "Message not found"},
                 {"branch_not_found", "Branch not found"},
                 {"share_not_found", "Share link not found"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].code, code) == 0)
            return known[i].text;
    if (strcmp(code, "session_not_found") == 0)
        return q->route && q->route->run == agentpod_fork_info ? "Fork info not found"
                                                               : "Session not found";
    switch (q->status) {
    case 400:
        return "Invalid request";
    case 401:
        return "Unauthorized";
    case 403:
        return "Forbidden";
    case 404:
        return "Not found";
    case 409:
        return "Conflict";
    case 413:
        return "Too large";
    case 503:
        return "Not available now";
    default:
        return "Failed to answer the request";
    }
}

void agentpod_fail(request *q, const char *code, const char *field, const char *message)
{
    (void)field;
    jw_object(&q->writer);
    jw_kstr(&q->writer, "error", error_text(q, code));
    jw_kstr(&q->writer, q->status == 401 ? "message" : "details", message);
    jw_end_object(&q->writer);
}

/* ------------------------------------------------------------------ the call */

const char *agentpod_session(request *q)
{
    const char *id = face_path(q, "sessionId");
    return *id ? pod_session_of(q->arena, id) : NULL;
}

ramet_call *agentpod_call(request *q)
{
    ramet_call *c = face_call(q);
    if (!c)
        return NULL;
    if (ramet_sandbox_check(c, face_path(q, "sandboxId"), agentpod_session(q)) == RAMET_OK)
        return c;
    request_error(q, ramet_call_error(c));
    return NULL;
}

/* ------------------------------------------------------------------ forks */

/* The agentConfig of the request that made the fork, as sent. */
static const char *agent_config_of(arena *a, const char *metadata)
{
    json_doc d;
    if (!strstr(metadata, "\"agentConfig\"") ||
        !json_parse(a, metadata, strlen(metadata), SIZE_MAX, &d, NULL))
        return NULL;
    const json_node *v = json_get(&d, d.nodes, "agentConfig");
    return json_is(v, JSON_OBJECT) ? json_raw(a, &d, v) : NULL;
}

static void metadata_write(arena *a, json_writer *w, const ramet_session *s)
{
    const char *config = agent_config_of(a, s->metadata);
    jw_key(w, "metadata");
    jw_object(w);
    if (*s->reason)
        jw_kstr(w, "reason", s->reason);
    if (config)
        jw_kraw(w, "agentConfig", config);
    if (s->merged_into)
        jw_kstr(w, "mergedInto", s->merged_into);
    if (s->is_fork && *s->from_title)
        jw_kstr(w, "originalTitle", arena_printf(a, "Fork of %s", s->from_title));
    jw_end_object(w);
}

void agentpod_fork_write(arena *a, json_writer *w, const ramet_session *s)
{
    jw_object(w);
    jw_kstr(w, "id", s->id);
    jw_kstr(w, "parentSessionId", s->parent_id);
    jw_kstr(w, "forkedAtMessageId", s->fork_entry_id);
    jw_kstr(w, "forkType", ramet_fork_type_name(s->type));
    native_ktime(w, "createdAt", s->created);
    jw_kstr(w, "createdBy", ramet_actor_name(s->by_kind));
    jw_key(w, "tags");
    jw_array(w);
    for (size_t i = 0; i < s->n_tags; i++)
        jw_str(w, s->tags[i]);
    jw_end_array(w);
    metadata_write(a, w, s);
    jw_end_object(w);
}

/* ------------------------------------------------------------------ branches */

ramet_status agentpod_branches_read(ramet_call *c, const char *session, agentpod_branches *out)
{
    out->session = session;
    return ramet_picks(c, session, &out->items, &out->n, &out->now);
}

static const char *branch_id(arena *a, const ramet_pick *p)
{
    return arena_printf(a, "%s-branch-%d", p->message_id, p->number);
}

static void branch_write(arena *a, json_writer *w, const agentpod_branches *b, int i)
{
    const ramet_pick *p = &b->items[i];
    jw_object(w);
    jw_kstr(w, "sessionId", b->session);
    jw_kstr(w, "branchId", branch_id(a, p));
    jw_kstr(w, "messageId", p->message_id);
    jw_kint(w, "branchNumber", p->number);
    jw_kint(w, "branchCount", p->count);
    jw_kstr(w, "parentBranchId", p->within >= 0 ? branch_id(a, &b->items[p->within]) : NULL);
    jw_kbool(w, "isCurrent", p->current);
    jw_kstr(w, "branchType", ramet_fork_type_name(p->type));
    jw_kstr(w, "entryId", p->entry_id);
    native_ktime(w, "createdAt", p->created);
    jw_end_object(w);
}

void agentpod_branches_write(arena *a, json_writer *w, const agentpod_branches *b)
{
    jw_key(w, "branches");
    jw_array(w);
    for (size_t i = 0; i < b->n; i++)
        branch_write(a, w, b, (int)i);
    jw_end_array(w);
    jw_key(w, "currentBranch");
    if (b->now >= 0)
        branch_write(a, w, b, b->now);
    else
        jw_null(w);
    jw_kstr(w, "currentBranchId", b->now >= 0 ? branch_id(a, &b->items[b->now]) : NULL);
}

const char *agentpod_entry(const agentpod_branches *b, const char *message)
{
    for (size_t i = 0; i < b->n; i++)
        if (b->items[i].current && strcmp(b->items[i].message_id, message) == 0)
            return b->items[i].entry_id;
    return message;
}
