/* SPDX-License-Identifier: Apache-2.0
 *
 * move.c: forks and moves over HTTP: fork, rewind, undo, redo, switch, sync, the head log,
 * branches and versions.
 */
#include "face/native/native_face.h"

#include <string.h>

typedef struct cut_session {
    ramet_session *session;
    ramet_cut cut;
} cut_session;

static void show_cut_session(request *q, const void *answer)
{
    const cut_session *s = answer;
    api_session_write(q, s->session, &s->cut, NULL);
}

static ramet_cut_policy cut_policy(request *q)
{
    const char *word = face_text(q, "cut");
    return word ? (ramet_cut_policy)ramet_cut_parse(word) : RAMET_CUT_EXACT;
}

/* {"kind": "user"|"system", "id"} */
static void created_by(request *q, ramet_fork_in *in)
{
    const json_node *by = face_member(q, "created_by");
    const char *kind = json_text(q->a, &q->json, json_get(&q->json, by, "kind"));
    in->by_kind = kind && strcmp(kind, "system") == 0 ? RAMET_BY_SYSTEM : RAMET_BY_USER;
    in->by_id = json_text(q->a, &q->json, json_get(&q->json, by, "id"));
}

bool api_fork_in(request *q, ramet_fork_in *in, ramet_agent *agent)
{
    const char *type = face_text(q, "type"), *visibility = face_text(q, "visibility");
    *in = (ramet_fork_in){.cut = cut_policy(q),
                          .id = face_text(q, "id"),
                          .title = face_text(q, "title"),
                          .reason = face_text(q, "reason"),
                          .metadata = face_raw(q, "metadata"),
                          .expected_head = face_expected_head(q)};
    api_at(q, "at", &in->at);
    api_at(q, "adk_at", &in->adk_at);
    created_by(q, in);
    in->tags = face_texts(q, "tags", &in->n_tags);
    if (type)
        in->type = (ramet_fork_type)ramet_fork_type_parse(type);
    if (visibility)
        in->visibility = (ramet_visibility)ramet_visibility_parse(visibility);
    else if (q->who.share) /* a link gives no other kind of fork */
        in->visibility = RAMET_PRIVATE;
    return api_branch(q, "branch_id", face_text(q, "branch_id"), &in->branch) &&
           api_agent(q, agent, &in->agent) && api_life(q, "ephemeral_seconds", &in->ephemeral_us);
}

void api_fork_create(request *q)
{
    ramet_call *c = face_call(q);
    cut_session out = {0};
    ramet_fork_in in;
    ramet_agent agent;
    if (!c || !api_fork_in(q, &in, &agent))
        return;
    face_render(q, show_cut_session, &out);
    if (!face_answer(q, ramet_fork(c, face_path(q, "id"), &in, &out.session, &out.cut)))
        return;
    face_count(q, "fork", ramet_fork_type_name(in.type));
    request_add_header(
        q, "Location",
        arena_printf(q->a, "/ramet/v1/sessions/%s", face_escape(q, out.session->id)));
}

void api_rewind_to(request *q)
{
    ramet_call *c = face_call(q);
    cut_session out = {0};
    ramet_move_in in = {.cut = cut_policy(q),
                        .reason = face_text(q, "reason"),
                        .expected_head = face_expected_head(q)};
    if (!c)
        return;
    api_at(q, "at", &in.at);
    api_at(q, "adk_at", &in.adk_at);
    face_render(q, show_cut_session, &out);
    if (!face_answer(q, ramet_rewind(c, face_path(q, "id"), &in, &out.session, &out.cut)))
        return;
    face_count(q, "rewind", NULL);
    api_moved(q, face_path(q, "id"));
}

void api_move_undo(request *q)
{
    ramet_call *c = face_call(q);
    ramet_session *out = NULL;
    if (!c)
        return;
    face_render(q, show_session, &out);
    if (face_answer(q, ramet_undo(c, face_path(q, "id"), face_expected_head(q), &out)))
        api_moved(q, face_path(q, "id"));
}

void api_move_redo(request *q)
{
    ramet_call *c = face_call(q);
    ramet_session *out = NULL;
    if (!c)
        return;
    face_render(q, show_session, &out);
    if (face_answer(q, ramet_redo(c, face_path(q, "id"), face_expected_head(q), &out)))
        api_moved(q, face_path(q, "id"));
}

void api_move_switch(request *q)
{
    ramet_call *c = face_call(q);
    ramet_session *out = NULL;
    const char *text = face_text(q, "branch_id");
    int64_t branch = ramet_branch_parse(text);
    if (!c)
        return;
    face_render(q, show_session, &out);
    /* A text that is no branch names none of this session's. */
    if (!face_answer(q, ramet_switch(c, face_path(q, "id"), branch ? branch : INT64_MAX,
                                     face_expected_head(q), &out)))
        return;
    face_count(q, "switch", NULL);
    api_moved(q, face_path(q, "id"));
}

static void show_synced(request *q, const void *answer)
{
    const ramet_sync_out *done = answer;
    api_session_write(q, done->session, NULL, done);
}

void api_move_sync(request *q)
{
    ramet_call *c = face_call(q);
    ramet_sync_out out = {0};
    ramet_entry_in *entries;
    size_t n;
    if (!c || !api_entries(q, "entries", &entries, &n))
        return;
    face_render(q, show_synced, &out);
    if (face_answer(q, ramet_sync(c, face_path(q, "id"), entries, n, face_expected_head(q), &out)))
        api_moved(q, face_path(q, "id"));
}

/* ------------------------------------------------------------------- reading */

typedef struct move_list {
    ramet_move *items;
    size_t n;
    bool more;
} move_list;

static void show_moves(request *q, const void *answer)
{
    const move_list *list = answer;
    list_begin(q, "moves");
    for (size_t i = 0; i < list->n; i++)
        native_move(&q->w, &list->items[i]);
    list_end_number(q, list->n ? list->items[list->n - 1].number : 0, list->more);
}

void api_moves_list(request *q)
{
    ramet_call *c = face_call(q);
    move_list list = {0};
    int64_t before;
    if (!c || !api_cursor(q, &before))
        return;
    face_render(q, show_moves, &list);
    face_answer(q, ramet_head_log(c, face_path(q, "id"), before, api_limit(q), &list.items, &list.n,
                                  &list.more));
}

typedef struct branch_list {
    ramet_version *versions;
    ramet_branch *branches;
    size_t n;
} branch_list;

static void show_branches(request *q, const void *answer)
{
    const branch_list *list = answer;
    list_begin(q, "branches");
    for (size_t i = 0; i < list->n; i++) {
        if (list->versions)
            native_version(&q->w, &list->versions[i]);
        else
            native_branch(&q->w, &list->branches[i]);
    }
    list_end(q, NULL);
}

void api_branches_list(request *q)
{
    ramet_call *c = face_call(q);
    branch_list list = {0};
    const char *id = face_path(q, "id"), *at = request_query(q, "at");
    int64_t branch;
    if (!c || !api_branch(q, "branch", request_query(q, "branch"), &branch))
        return;
    if (branch && !at) {
        request_fail(q, 400, "invalid_request", "branch", "\"branch\" goes with \"at\"");
        return;
    }
    face_render(q, show_branches, &list);
    face_answer(q, at ? ramet_versions(c, id, branch, at, &list.versions, &list.n)
                      : ramet_branches(c, id, &list.branches, &list.n));
}
