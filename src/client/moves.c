/* SPDX-License-Identifier: Apache-2.0
 *
 * moves.c: forks, moves, versions and lineage over HTTP.
 */
#include "client/internal.h"

#include <string.h>

static ramet_status session_cut(client_call *c, const json_doc *d, ramet_session **out,
                                ramet_cut *cut)
{
    TRY(answer_session(c, d, out));
    if (cut)
        form_read(c->arena, d, json_get(d, d->nodes, "cut"), &form_cut, cut, NULL);
    return RAMET_OK;
}

static void add_cut(body *b, ramet_cut_policy cut)
{
    if (cut != RAMET_CUT_EXACT)
        jw_kstr(&b->writer, "cut", ramet_cut_name(cut));
}

ramet_status http_fork(ramet_call *call, const char *session, const ramet_fork_in *in,
                       ramet_session **out, ramet_cut *cut)
{
    client_call *c = CALL(call);
    target t;
    body b;
    json_doc d;
    *out = NULL;
    target_init(&t, c, "/sessions/%s/fork", session);
    body_init(&b);
    form_write_members(&b.writer, &form_fork_in, in, NULL);
    body_add(&b, "expected_head", in->expected_head);
    TRY(ask(&t, "POST", &b, &d));
    return session_cut(c, &d, out, cut);
}

ramet_status http_rewind(ramet_call *call, const char *session, const ramet_move_in *in,
                         ramet_session **out, ramet_cut *cut)
{
    client_call *c = CALL(call);
    target t;
    body b;
    json_doc d;
    *out = NULL;
    target_init(&t, c, "/sessions/%s/rewind", session);
    body_init(&b);
    body_at(&b, "at", &in->at);
    body_at(&b, "adk_at", &in->adk_at);
    add_cut(&b, in->cut);
    body_add(&b, "reason", in->reason);
    body_add(&b, "expected_head", in->expected_head);
    TRY(ask(&t, "POST", &b, &d));
    return session_cut(c, &d, out, cut);
}

static ramet_status simple_move(ramet_call *call, const char *session, const char *what,
                                int64_t branch, const char *expected_head, ramet_session **out)
{
    client_call *c = CALL(call);
    target t;
    body b;
    json_doc d;
    char text[24];
    *out = NULL;
    target_init(&t, c, "/sessions/%s/%s", session, what);
    body_init(&b);
    body_add(&b, "branch_id", branch ? ramet_branch_text(branch, text) : NULL);
    body_add(&b, "expected_head", expected_head);
    TRY(ask(&t, "POST", &b, &d));
    return session_cut(c, &d, out, NULL);
}

ramet_status http_undo(ramet_call *c, const char *session, const char *expected_head,
                       ramet_session **out)
{
    return simple_move(c, session, "undo", 0, expected_head, out);
}

ramet_status http_redo(ramet_call *c, const char *session, const char *expected_head,
                       ramet_session **out)
{
    return simple_move(c, session, "redo", 0, expected_head, out);
}

ramet_status http_switch(ramet_call *c, const char *session, int64_t branch,
                         const char *expected_head, ramet_session **out)
{
    return simple_move(c, session, "switch", branch, expected_head, out);
}

ramet_status http_edit(ramet_call *call, const char *session, const char *entry_id,
                       const ramet_entry_in *in, const char *expected_head, ramet_append_out *out)
{
    client_call *c = CALL(call);
    target t;
    body b;
    json_doc d;
    *out = (ramet_append_out){0};
    target_init(&t, c, "/sessions/%s/entries/%s/edit", session, entry_id);
    body_init(&b);
    jw_key(&b.writer, "entry");
    form_write(&b.writer, &form_entry_in, in, NULL);
    body_add(&b, "expected_head", expected_head);
    TRY(ask(&t, "POST", &b, &d));
    form_read(c->arena, &d, d.nodes, &form_appended, out, NULL);
    return RAMET_OK;
}

ramet_status http_regenerate(ramet_call *call, const char *session, const char *entry_id,
                             const ramet_entry_in *entries, size_t n, const char *expected_head,
                             ramet_append_out *out)
{
    client_call *c = CALL(call);
    target t;
    body b;
    json_doc d;
    *out = (ramet_append_out){0};
    target_init(&t, c, "/sessions/%s/entries/%s/regenerate", session, entry_id);
    body_init(&b);
    body_entries(&b, entries, n);
    body_add(&b, "expected_head", expected_head);
    TRY(ask(&t, "POST", &b, &d));
    form_read(c->arena, &d, d.nodes, &form_appended, out, NULL);
    return RAMET_OK;
}

ramet_status http_sync(ramet_call *call, const char *session, const ramet_entry_in *entries,
                       size_t n, const char *expected_head, ramet_sync_out *out)
{
    client_call *c = CALL(call);
    target t;
    body b;
    json_doc d;
    *out = (ramet_sync_out){0};
    target_init(&t, c, "/sessions/%s/sync", session);
    body_init(&b);
    body_entries(&b, entries, n);
    body_add(&b, "expected_head", expected_head);
    TRY(ask(&t, "POST", &b, &d));
    form_read(c->arena, &d, json_get(&d, d.nodes, "sync"), &form_sync_done, out, NULL);
    return session_cut(c, &d, &out->session, NULL);
}

/* ------------------------------------------------------- history of the head */

ramet_status http_head_log(ramet_call *call, const char *session, int64_t before, int limit,
                           ramet_move **out, size_t *n, bool *more)
{
    target t;
    target_init(&t, CALL(call), "/sessions/%s/head-log", session);
    target_int(&t, "cursor", before);
    target_int(&t, "limit", limit);
    return ASK_LIST(&t, form_move_list, out, n, more);
}

ramet_status http_versions(ramet_call *call, const char *session, int64_t branch,
                           const char *entry_id, ramet_version **out, size_t *n)
{
    target t;
    target_init(&t, CALL(call), "/sessions/%s/branches", session);
    target_add(&t, "at", entry_id);
    target_branch(&t, "branch", branch);
    return ASK_LIST(&t, form_version_list, out, n, NULL);
}

ramet_status http_branches(ramet_call *call, const char *session, ramet_branch **out, size_t *n)
{
    target t;
    target_init(&t, CALL(call), "/sessions/%s/branches", session);
    return ASK_LIST(&t, form_branch_list, out, n, NULL);
}

/* ------------------------------------------------------------------ lineage */

/* Reads all pages of a list of sessions. */
static ramet_status relatives(ramet_call *call, const char *session, const char *what,
                              ramet_session **out, size_t *n)
{
    client_call *c = CALL(call);
    const char *cursor = NULL;
    *out = NULL;
    *n = 0;
    do {
        target t;
        json_doc d;
        target_init(&t, c, "/sessions/%s/%s", session, what);
        target_add(&t, "cursor", cursor);
        TRY(ask(&t, "GET", NULL, &d));
        const form_list *page = answer_read(c, &d, &form_session_list);
        ramet_session *all = arena_array(c->arena, *n + page->n + 1, sizeof *all);
        if (*n)
            memcpy(all, *out, *n * sizeof *all);
        if (page->n)
            memcpy(all + *n, page->items, page->n * sizeof *all);
        *out = all;
        *n += page->n;
        cursor = page->next_cursor;
    } while (cursor);
    return RAMET_OK;
}

ramet_status http_ancestry(ramet_call *c, const char *session, ramet_session **out, size_t *n)
{
    return relatives(c, session, "ancestry", out, n);
}

ramet_status http_children(ramet_call *c, const char *session, ramet_session **out, size_t *n)
{
    return relatives(c, session, "children", out, n);
}

ramet_status http_tree(ramet_call *c, const char *session, bool light, ramet_session **out,
                       size_t *n)
{
    (void)light;
    return relatives(c, session, "tree", out, n);
}

ramet_status http_tree_branches(ramet_call *call, const char *session, int64_t after, int limit,
                                ramet_branch **out, size_t *n, bool *more)
{
    client_call *c = CALL(call);
    target t;
    target_init(&t, c, "/sessions/%s/tree/branches", session);
    if (after)
        target_add(&t, "cursor", arena_printf(c->arena, "%lld", (long long)after));
    if (limit > 0)
        target_add(&t, "limit", arena_printf(c->arena, "%d", limit));
    return ASK_LIST(&t, form_branch_list, out, n, more);
}

ramet_status http_fork_points(ramet_call *call, const char *session, ramet_fork_point **out,
                              size_t *n)
{
    target t;
    target_init(&t, CALL(call), "/sessions/%s/fork-points", session);
    return ASK_LIST(&t, form_fork_point_list, out, n, NULL);
}

ramet_status http_overlay_set(ramet_call *call, const char *session, const ramet_overlay_in *in,
                              ramet_overlay_out *out)
{
    client_call *c = CALL(call);
    target t;
    body b;
    json_doc d;
    *out = (ramet_overlay_out){0};
    target_init(&t, c, "/sessions/%s/overlays", session);
    body_init(&b);
    body_add(&b, "entry_id", in->entry_id);
    body_add(&b, "action", ramet_overlay_action_name(in->action));
    body_add(&b, "text", in->text);
    body_add(&b, "reason", in->reason);
    body_add(&b, "expected_head", in->expected_head);
    body_add(&b, "when", in->when_idle ? "idle" : NULL);
    TRY(ask(&t, "POST", &b, &d));
    form_read(c->arena, &d, d.nodes, &form_overlay_done, out, NULL);
    return RAMET_OK;
}

ramet_status http_overlay_remove(ramet_call *call, const char *session, int64_t overlay,
                                 const char *reason, const char *expected_head, bool when_idle,
                                 ramet_overlay_out *out)
{
    client_call *c = CALL(call);
    target t;
    json_doc d;
    char id[24];
    *out = (ramet_overlay_out){0};
    target_init(&t, c, "/sessions/%s/overlays/%s", session, ramet_overlay_text(overlay, id));
    target_add(&t, "reason", reason);
    target_add(&t, "expected_head", expected_head);
    target_add(&t, "when", when_idle ? "idle" : NULL);
    TRY(ask(&t, "DELETE", NULL, &d));
    form_read(c->arena, &d, d.nodes, &form_overlay_done, out, NULL);
    return RAMET_OK;
}

ramet_status http_overlays(ramet_call *call, const char *session, int64_t branch,
                           ramet_overlay **out, size_t *n)
{
    target t;
    target_init(&t, CALL(call), "/sessions/%s/overlays", session);
    target_branch(&t, "branch", branch);
    return ASK_LIST(&t, form_overlay_list, out, n, NULL);
}

ramet_status http_turn_session(ramet_call *call, const char *turn, const char **session)
{
    client_call *c = CALL(call);
    target t;
    json_doc d;
    ramet_turn found = {0};
    *session = NULL;
    target_init(&t, c, "/turns/%s", turn);
    ramet_status st = ask(&t, "GET", NULL, &d);
    if (st == RAMET_TURN_NOT_FOUND)
        return RAMET_OK;
    if (st == RAMET_OK)
        form_read(c->arena, &d, d.nodes, &form_turn, &found, NULL);
    *session = found.session;
    return st;
}

/* The server has written the messages: returned here as if they had been stored. */
ramet_status http_turn_prompt(ramet_call *call, const char *session, const char *turn,
                              ramet_prompt **out)
{
    client_call *c = CALL(call);
    target t;
    json_doc d;
    *out = NULL;
    target_init(&t, c, "/sessions/%s/turns/%s/prompt", session, turn);
    TRY(ask(&t, "GET", NULL, &d));
    TRY(answer_has(c, &d, "known"));
    const json_node *usage = json_get(&d, d.nodes, "usage");
    ramet_prompt *p = arena_alloc(c->arena, sizeof *p);
    p->known = json_is(json_get(&d, d.nodes, "known"), JSON_TRUE);
    p->agent = "";
    p->data = p->known ? json_raw(c->arena, &d, d.nodes) : "{}";
    p->has_usage = json_is(usage, JSON_OBJECT);
    if (p->has_usage)
        form_read(c->arena, &d, usage, &form_usage, &p->usage, NULL);
    *out = p;
    return RAMET_OK;
}
