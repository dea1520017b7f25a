/* SPDX-License-Identifier: Apache-2.0
 *
 * fork.c: forks of a sandbox: creating, listing, counting, tagging and deleting them.
 */
#include "face/agentpod/agentpod.h"

#include "base/util.h"
#include "face/kit/merge.h"
#include "face/kit/pieces.h"
#include "ramet/sandboxes.h"

#include <stdlib.h>
#include <string.h>

enum { TOP_TAGS = 10 };

/* ------------------------------------------------------------------ lists */

typedef struct session_list {
    ramet_session *items;
    size_t n;
} session_list;

static bool fork_write(request *q, void *arg, size_t i, const ramet_session *s)
{
    (void)arg, (void)i;
    agentpod_fork_write(q->arena, &q->writer, s);
    return true;
}

static void list_end(request *q, void *arg)
{
    (void)arg;
    jw_end_array(&q->writer);
    jw_end_object(&q->writer);
}

typedef struct root_ids {
    const char **items;
    size_t n;
} root_ids;

static void roots_end(request *q, void *arg)
{
    const root_ids *roots = arg;
    jw_end_array(&q->writer);
    jw_key(&q->writer, "rootSessions");
    jw_array(&q->writer);
    for (size_t i = 0; i < roots->n; i++)
        jw_str(&q->writer, roots->items[i]);
    jw_end_array(&q->writer);
    jw_end_object(&q->writer);
}

static void list_begin(request *q, const char *name)
{
    jw_object(&q->writer);
    jw_key(&q->writer, name);
    jw_array(&q->writer);
}

void agentpod_forks_list(request *q)
{
    ramet_call *c = face_call(q);
    session_list list = {0};
    if (!c)
        return;
    if (ramet_sandbox_sessions(c, face_path(q, "sandboxId"), &list.items, &list.n) != RAMET_OK) {
        request_error(q, ramet_call_error(c));
        return;
    }
    size_t forks = 0;
    root_ids *roots = arena_alloc(q->arena, sizeof *roots);
    roots->items = arena_array(q->arena, list.n + 1, sizeof *roots->items);
    for (size_t i = 0; i < list.n; i++)
        if (list.items[i].is_fork)
            list.items[forks++] = list.items[i];
        else
            roots->items[roots->n++] = arena_strdup(q->arena, list.items[i].id);
    list_begin(q, "forks");
    face_sessions_answer(
        q,
        &(face_sessions){
            .items = list.items, .n = forks, .write = fork_write, .end = roots_end, .arg = roots});
}

static void show_statistics(request *q, const void *answer)
{
    const ramet_sandbox_counts *n = answer;
    json_writer *w = &q->writer;
    jw_object(w);
    jw_kint(w, "totalSessions", n->sessions);
    jw_kint(w, "rootSessions", n->roots);
    jw_kint(w, "forkedSessions", n->forks);
    jw_kint(w, "maxDepth", n->max_depth);
    jw_key(w, "byType");
    jw_object(w);
    jw_kint(w, "explicit", n->by_type[RAMET_EXPLICIT]);
    jw_kint(w, "autoEdit", n->by_type[RAMET_AUTO_EDIT]);
    jw_kint(w, "autoRegenerate", n->by_type[RAMET_AUTO_REGENERATE]);
    jw_end_object(w);
    jw_key(w, "topTags");
    jw_array(w);
    for (size_t i = 0; i < n->n_tags && i < TOP_TAGS; i++) {
        jw_object(w);
        jw_kstr(w, "tag", n->tags[i].tag);
        jw_kint(w, "count", n->tags[i].sessions);
        jw_end_object(w);
    }
    jw_end_array(w);
    jw_end_object(w);
}

void agentpod_statistics(request *q)
{
    ramet_call *c = face_call(q);
    ramet_sandbox_counts out = {0};
    if (!c)
        return;
    face_render(q, show_statistics, &out);
    face_answer(q, ramet_sandbox_count(c, face_path(q, "sandboxId"), &out));
}

/* ------------------------------------------------------------------ fork */

static void show_fork(request *q, const void *answer)
{
    agentpod_fork_write(q->arena, &q->writer, *(ramet_session *const *)answer);
}

/* Reads an optional text from agentConfig. */
static bool config_text(request *q, const json_node *config, const char *name, const char **out)
{
    const json_node *v = json_get(&q->json, config, name);
    if (!v || json_is(v, JSON_NULL))
        return true;
    *out = json_text(q->arena, &q->json, v);
    if (*out && **out)
        return true;
    request_fail(q, 400, "invalid_request", "agentConfig", "agentConfig.%s is a text", name);
    return false;
}

/* The agent of the fork: the parent's, with the members given here replaced. */
static bool config_read(request *q, ramet_fork_in *in, ramet_agent *agent)
{
    const json_node *config = face_member(q, "agentConfig");
    ramet_session *parent;
    if (!config)
        return true;
    if (ramet_session_get(q->call, agentpod_session(q), &parent) != RAMET_OK) {
        request_error(q, ramet_call_error(q->call));
        return false;
    }
    *agent = parent->agent;
    if (!config_text(q, config, "provider", &agent->provider) ||
        !config_text(q, config, "model", &agent->model) ||
        !config_text(q, config, "agent", &agent->name))
        return false;
    if (!agent->name && q->host->agent_default)
        agent->name = q->host->agent_default(q->host->arg);
    if (agent->name)
        in->agent = agent;
    in->metadata =
        arena_printf(q->arena, "{\"agentConfig\":%s}", json_raw(q->arena, &q->json, config));
    return true;
}

/* Where to cut. The id of a message with another current version means that version. */
static bool point_read(request *q, ramet_fork_in *in)
{
    const char *message = face_text(q, "messageId"), *role = face_text(q, "messageRole");
    agentpod_branches b;
    ramet_entry *e;
    if (!message)
        return true;
    in->at.entry_id = message;
    in->by_role = !role;
    if (role && strcmp(role, "user") == 0)
        in->at.side = RAMET_BEFORE;
    if (ramet_entry_get(q->call, agentpod_session(q), 0, message, &e) != RAMET_ENTRY_NOT_FOUND)
        return true; /* the fork reports any other error */
    if (agentpod_branches_read(q->call, agentpod_session(q), &b) == RAMET_OK)
        in->at.entry_id = agentpod_entry(&b, message);
    return true;
}

void agentpod_fork(request *q)
{
    ramet_call *c = agentpod_call(q);
    ramet_session *out = NULL;
    ramet_agent agent;
    const char *type = face_text(q, "forkType");
    ramet_fork_in in = {.reason = face_text(q, "reason"),
                        .visibility = q->caller.share ? RAMET_PRIVATE : RAMET_TREE_VISIBLE};
    if (!c || !config_read(q, &in, &agent) || !point_read(q, &in))
        return;
    in.tags = face_texts(q, "tags", &in.n_tags);
    if (type)
        in.type = (ramet_fork_type)ramet_fork_type_parse(type);
    if (in.type != RAMET_EXPLICIT)
        in.by_kind = RAMET_BY_SYSTEM;
    face_render(q, show_fork, &out);
    if (face_answer(q, ramet_fork(c, agentpod_session(q), &in, &out, NULL)))
        face_count(q, "fork", ramet_fork_type_name(in.type));
}

/* ------------------------------------------------------------------ merge */

static void show_merged(request *q, const void *answer)
{
    agentpod_fork_write(q->arena, &q->writer, ((const face_merged *)answer)->out.session);
}

void agentpod_merge(request *q)
{
    if (agentpod_call(q))
        face_merge(q, agentpod_session(q), show_merged);
}

/* ------------------------------------------------------------------ lineage */

static void ids_write(request *q, const char *key, const session_list *list)
{
    jw_key(&q->writer, key);
    jw_array(&q->writer);
    for (size_t i = 0; i < list->n; i++)
        if (list->items[i].id &&
            *list->items[i].id) /* otherwise it was purged, and only its place is left */
            jw_str(&q->writer, list->items[i].id);
    jw_end_array(&q->writer);
}

static void show_ancestry(request *q, const void *answer)
{
    jw_object(&q->writer);
    ids_write(q, "ancestry", answer);
    jw_end_object(&q->writer);
}

void agentpod_ancestry(request *q)
{
    ramet_call *c = agentpod_call(q);
    session_list list = {0};
    if (!c)
        return;
    face_render(q, show_ancestry, &list);
    face_answer(q, ramet_ancestry(c, agentpod_session(q), &list.items, &list.n));
}

void agentpod_children(request *q)
{
    ramet_call *c = agentpod_call(q);
    session_list list = {0};
    if (!c)
        return;
    if (ramet_children(c, agentpod_session(q), &list.items, &list.n) != RAMET_OK) {
        request_error(q, ramet_call_error(c));
        return;
    }
    for (size_t i = 0, k = list.n; i + 1 < k; i++) { /* newest first */
        ramet_session t = list.items[i];
        list.items[i] = list.items[--k];
        list.items[k] = t;
    }
    list_begin(q, "children");
    face_sessions_answer(
        q,
        &(face_sessions){.items = list.items, .n = list.n, .write = fork_write, .end = list_end});
}

typedef struct fork_info {
    session_list up, down;
} fork_info;

static void show_info(request *q, const void *answer)
{
    const fork_info *f = answer;
    const ramet_session *s = &f->up.items[f->up.n - 1];
    jw_object(&q->writer);
    jw_key(&q->writer, "fork");
    agentpod_fork_write(q->arena, &q->writer, s);
    ids_write(q, "ancestry", &f->up);
    jw_kint(&q->writer, "childCount", (int64_t)f->down.n);
    jw_kint(&q->writer, "depth", s->depth);
    jw_end_object(&q->writer);
}

/* The last item of the ancestry is the session itself. */
void agentpod_fork_info(request *q)
{
    ramet_call *c = agentpod_call(q);
    fork_info out = {0};
    if (!c)
        return;
    ramet_status st = ramet_ancestry(c, agentpod_session(q), &out.up.items, &out.up.n);
    if (st == RAMET_OK)
        st = ramet_children(c, agentpod_session(q), &out.down.items, &out.down.n);
    face_render(q, show_info, &out);
    face_answer(q, st);
}

/* ------------------------------------------------------------------ tags */

static void show_tags(request *q, const void *answer)
{
    const ramet_tags *tags = answer;
    jw_object(&q->writer);
    jw_kbool(&q->writer, "success", true);
    jw_key(&q->writer, "tags");
    jw_array(&q->writer);
    for (size_t i = 0; i < tags->n; i++)
        jw_str(&q->writer, tags->items[i]);
    jw_end_array(&q->writer);
    jw_end_object(&q->writer);
}

typedef ramet_status (*tags_op)(ramet_call *c, const char *id, const char *const *tags, size_t n,
                                ramet_tags *out);

static void tags_change(request *q, tags_op op, const char *const *tags, size_t n)
{
    ramet_call *c = agentpod_call(q);
    ramet_tags out = {0};
    if (!c)
        return;
    face_render(q, show_tags, &out);
    face_answer(q, op(c, agentpod_session(q), tags, n, &out));
}

void agentpod_tag_post(request *q)
{
    const char *tag = face_text(q, "tag");
    tags_change(q, ramet_tags_add, &tag, 1);
}

void agentpod_tag_delete(request *q)
{
    const char *tag = face_path(q, "tag");
    tags_change(q, ramet_tags_remove, &tag, 1);
}

void agentpod_tags_put(request *q)
{
    size_t n;
    const char *const *tags = face_texts(q, "tags", &n);
    tags_change(q, ramet_tags_set, tags, n);
}

/* ------------------------------------------------------------------ delete */

static void show_deleted(request *q, const void *answer)
{
    const ramet_delete_out *out = answer;
    jw_object(&q->writer);
    jw_key(&q->writer, "deleted");
    jw_array(&q->writer);
    for (size_t i = 0; i < out->n; i++)
        jw_str(&q->writer, out->ids[i]);
    jw_end_array(&q->writer);
    jw_kbool(&q->writer, "dryRun", out->dry_run);
    jw_end_object(&q->writer);
}

void agentpod_tree_delete(request *q)
{
    ramet_call *c = agentpod_call(q);
    ramet_delete_out out = {0};
    if (!c)
        return;
    face_render(q, show_deleted, &out);
    if (!face_answer(q, ramet_session_delete(c, agentpod_session(q), true,
                                             face_query_bool(q, "dry_run"), &out)))
        return;
    for (size_t i = 0; !out.dry_run && i < out.n; i++)
        turns_moved(q->host->turns, out.ids[i], false);
}
