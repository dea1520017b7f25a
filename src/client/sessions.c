/* SPDX-License-Identifier: Apache-2.0
 *
 * sessions.c: sessions, tags, members and share links over HTTP.
 */
#include "client/internal.h"

#include "ramet/sandboxes.h"

#include <string.h>

static void add_agent(json_writer *w, const ramet_agent *agent)
{
    if (!agent || !agent->name)
        return;
    jw_key(w, "agent");
    native_agent(w, agent);
}

static void add_life(json_writer *w, int64_t us)
{
    if (us > 0) {
        jw_key(w, "ephemeral_seconds");
        jw_nano(w, us * 1000);
    }
}

ramet_status http_session_create(ramet_call *call, const ramet_session_in *in, ramet_session **out)
{
    client_call *c = CALL(call);
    target t;
    body b;
    json_doc d;
    *out = NULL;
    target_init(&t, c, "/sessions");
    body_init(&b);
    body_add(&b, "id", in->id);
    body_add(&b, "title", in->title);
    add_agent(&b.writer, &in->agent);
    if (in->n_tags)
        body_texts(&b, "tags", in->tags, in->n_tags);
    if (in->metadata)
        jw_kraw(&b.writer, "metadata", in->metadata);
    if (in->visibility != RAMET_TREE_VISIBLE)
        jw_kstr(&b.writer, "visibility", ramet_visibility_name(in->visibility));
    add_life(&b.writer, in->ephemeral_us);
    body_add(&b, "sandbox", in->sandbox);
    TRY(ask(&t, "POST", &b, &d));
    return answer_session(c, &d, out);
}

ramet_status http_session_get(ramet_call *call, const char *id, ramet_session **out)
{
    client_call *c = CALL(call);
    target t;
    json_doc d;
    *out = NULL;
    target_init(&t, c, "/sessions/%s", id);
    TRY(ask(&t, "GET", NULL, &d));
    return answer_session(c, &d, out);
}

ramet_status http_session_find(ramet_call *call, const ramet_list_in *in, ramet_session_list *out)
{
    static const char *const archived[] = {NULL, "include", "only"};
    client_call *c = CALL(call);
    target t;
    json_doc d;
    *out = (ramet_session_list){0};
    target_init(&t, c, "/sessions");
    target_int(&t, "limit", in->limit);
    target_add(&t, "cursor", in->cursor);
    target_add(&t, "owner", in->owner);
    target_add(&t, "agent", in->agent);
    target_add(&t, "tag", in->tag);
    target_add(&t, "tree", in->tree);
    target_add(&t, "title", in->title);
    target_add(&t, "sandbox", in->sandbox);
    target_add(&t, "archived", archived[in->archived]);
    target_bool(&t, "deleted", in->deleted);
    TRY(ask(&t, "GET", NULL, &d));
    TRY(answer_has(c, &d, "sessions"));
    const form_list *list = answer_read(c, &d, &form_session_list);
    *out = (ramet_session_list){list->items, list->n, list->next_cursor};
    return RAMET_OK;
}

ramet_status http_session_update(ramet_call *call, const char *id, const ramet_session_patch *in,
                                 ramet_session **out)
{
    client_call *c = CALL(call);
    target t;
    body b;
    json_doc d;
    *out = NULL;
    target_init(&t, c, "/sessions/%s", id);
    body_init(&b);
    body_add(&b, "title", in->title);
    if (in->agent) {
        jw_key(&b.writer, "agent");
        native_agent(&b.writer, in->agent);
    }
    if (in->metadata)
        jw_kraw(&b.writer, "metadata", in->metadata);
    if (in->archived)
        jw_kbool(&b.writer, "archived", *in->archived);
    if (in->visibility)
        jw_kstr(&b.writer, "visibility", ramet_visibility_name(*in->visibility));
    if (in->merged_into)
        jw_kstr(&b.writer, "merged_into", *in->merged_into ? in->merged_into : NULL);
    body_add(&b, "expected_head", in->expected_head);
    TRY(ask(&t, "PATCH", &b, &d));
    return answer_session(c, &d, out);
}

ramet_status http_session_promote(ramet_call *call, const char *id, ramet_session **out)
{
    client_call *c = CALL(call);
    target t;
    json_doc d;
    *out = NULL;
    target_init(&t, c, "/sessions/%s/promote", id);
    TRY(ask(&t, "POST", NULL, &d));
    return answer_session(c, &d, out);
}

ramet_status http_session_delete(ramet_call *call, const char *id, bool tree, bool dry_run,
                                 ramet_delete_out *out)
{
    client_call *c = CALL(call);
    target t;
    json_doc d;
    *out = (ramet_delete_out){0};
    target_init(&t, c, "/sessions/%s", id);
    target_bool(&t, "tree", tree);
    target_bool(&t, "dry_run", dry_run);
    TRY(ask(&t, "DELETE", NULL, &d));
    TRY(answer_has(c, &d, "sessions"));
    form_read(c->arena, &d, d.nodes, &form_deleted, out, NULL);
    return RAMET_OK;
}

ramet_status http_session_restore(ramet_call *call, const char *id, bool tree, ramet_session **out)
{
    client_call *c = CALL(call);
    target t;
    body b;
    json_doc d;
    *out = NULL;
    target_init(&t, c, "/sessions/%s/restore", id);
    body_init(&b);
    if (tree)
        jw_kbool(&b.writer, "tree", true);
    TRY(ask(&t, "POST", &b, &d));
    return answer_session(c, &d, out);
}

/* --------------------------------------------------------------------- tags */

static ramet_status tags_send(ramet_call *call, const char *method, const char *id,
                              const char *const *tags, size_t n, ramet_tags *out)
{
    client_call *c = CALL(call);
    target t;
    body b;
    json_doc d;
    *out = (ramet_tags){0};
    target_init(&t, c, "/sessions/%s/tags", id);
    body_init(&b);
    body_texts(&b, "tags", tags, n);
    TRY(ask(&t, method, &b, &d));
    form_read(c->arena, &d, d.nodes, &form_tags, out, NULL);
    return RAMET_OK;
}

ramet_status http_tags_set(ramet_call *call, const char *id, const char *const *tags, size_t n,
                           ramet_tags *out)
{
    return tags_send(call, "PUT", id, tags, n, out);
}

ramet_status http_tags_add(ramet_call *call, const char *id, const char *const *tags, size_t n,
                           ramet_tags *out)
{
    return tags_send(call, "POST", id, tags, n, out);
}

ramet_status http_tags_remove(ramet_call *call, const char *id, const char *const *tags, size_t n,
                              ramet_tags *out)
{
    client_call *c = CALL(call);
    *out = (ramet_tags){0};
    if (!n)
        return http_tags_add(call, id, NULL, 0, out);
    for (size_t i = 0; i < n; i++) {
        target t;
        json_doc d;
        target_init(&t, c, "/sessions/%s/tags/%s", id, tags[i]);
        TRY(ask(&t, "DELETE", NULL, &d));
        form_read(c->arena, &d, d.nodes, &form_tags, out, NULL);
    }
    return RAMET_OK;
}

ramet_status http_tags_all(ramet_call *call, ramet_tag_count **out, size_t *n)
{
    target t;
    target_init(&t, CALL(call), "/tags");
    return ASK_LIST(&t, form_tag_list, out, n, NULL);
}

/* ------------------------------------------------------------------ members */

ramet_status http_members(ramet_call *call, const char *session, ramet_member **out, size_t *n)
{
    target t;
    target_init(&t, CALL(call), "/sessions/%s/members", session);
    return ASK_LIST(&t, form_member_list, out, n, NULL);
}

ramet_status http_member_set(ramet_call *call, const char *session, const char *user,
                             ramet_level level)
{
    target t;
    body b;
    json_doc d;
    target_init(&t, CALL(call), "/sessions/%s/members/%s", session, user);
    body_init(&b);
    jw_kstr(&b.writer, "level", ramet_level_name(level));
    return ask(&t, "PUT", &b, &d);
}

ramet_status http_member_remove(ramet_call *call, const char *session, const char *user)
{
    target t;
    json_doc d;
    target_init(&t, CALL(call), "/sessions/%s/members/%s", session, user);
    return ask(&t, "DELETE", NULL, &d);
}

/* ------------------------------------------------------------------- shares */

ramet_status http_share_add(ramet_call *call, const char *session, bool write, int64_t life_us,
                            ramet_share **out)
{
    client_call *c = CALL(call);
    target t;
    body b;
    json_doc d;
    *out = NULL;
    target_init(&t, c, "/sessions/%s/shares", session);
    body_init(&b);
    jw_kbool(&b.writer, "write", write);
    if (life_us > 0) {
        jw_key(&b.writer, "expires_seconds");
        jw_nano(&b.writer, life_us * 1000);
    }
    TRY(ask(&t, "POST", &b, &d));
    *out = answer_read(c, &d, &form_share);
    return RAMET_OK;
}

ramet_status http_shares(ramet_call *call, const char *session, ramet_share **out, size_t *n)
{
    target t;
    target_init(&t, CALL(call), "/sessions/%s/shares", session);
    return ASK_LIST(&t, form_share_list, out, n, NULL);
}

ramet_status http_share_revoke(ramet_call *call, const char *session, const char *id)
{
    target t;
    json_doc d;
    target_init(&t, CALL(call), "/sessions/%s/shares/%s", session, id);
    return ask(&t, "DELETE", NULL, &d);
}

/* ---------------------------------------------------------------- sandboxes */

ramet_status http_sandbox_add(ramet_call *call, const ramet_sandbox_in *in, ramet_sandbox **out)
{
    client_call *c = CALL(call);
    target t;
    body b;
    json_doc d;
    target_init(&t, c, "/sandboxes");
    body_init(&b);
    body_add(&b, "id", in->id);
    body_add(&b, "opencode", in->opencode);
    body_add(&b, "password_file", in->password_file);
    TRY(ask(&t, "POST", &b, &d));
    if (out)
        *out = answer_read(c, &d, &form_sandbox);
    return RAMET_OK;
}

ramet_status http_sandboxes(ramet_call *call, ramet_sandbox **out, size_t *n)
{
    target t;
    target_init(&t, CALL(call), "/sandboxes");
    return ASK_LIST(&t, form_sandbox_list, out, n, NULL);
}

ramet_status http_sandbox_remove(ramet_call *call, const char *id, int64_t *trees)
{
    target t;
    json_doc d;
    target_init(&t, CALL(call), "/sandboxes/%s", id);
    TRY(ask(&t, "DELETE", NULL, &d));
    if (trees)
        *trees = get_int(&d, d.nodes, "trees");
    return RAMET_OK;
}
