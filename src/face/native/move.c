/* SPDX-License-Identifier: Apache-2.0
 *
 * move.c: forks and moves over HTTP: fork, rewind, undo, redo, switch, sync, the head log, branches
 * and versions.
 */
#include "face/native/native_face.h"

#include <stdio.h>
#include <string.h>

/* A session, and what a fork, a rewind or a sync did to it. */
typedef struct cut_session {
    ramet_session *session;
    ramet_cut cut;
} cut_session;

static void moved_write(request *q, const ramet_session *s, const ramet_cut *cut,
                        const ramet_sync_out *sync)
{
    form_context context = {.running = native_running, .arg = q->host->turns};
    native_session_more(&q->writer, s,
                        &(native_more){.cut = cut, .sync = sync, .context = &context});
}

static void show_cut_session(request *q, const void *answer)
{
    const cut_session *s = answer;
    moved_write(q, s->session, &s->cut, NULL);
}

static void show_synced(request *q, const void *answer)
{
    const ramet_sync_out *done = answer;
    moved_write(q, done->session, NULL, done);
}

static ramet_cut_policy cut_policy(request *q)
{
    const char *word = face_text(q, "cut");
    return word ? (ramet_cut_policy)ramet_cut_parse(word) : RAMET_CUT_EXACT;
}

bool api_fork_in(request *q, const json_node *obj, ramet_fork_in *in)
{
    const json_doc *d = &q->json;
    form_read(q->arena, d, obj, &form_fork_in, in, NULL);
    if (q->caller.share && !json_text(q->arena, d, json_get(d, obj, "visibility")))
        in->visibility = RAMET_PRIVATE; /* a share link allows no other kind of fork */
    return api_branch(q, "branch_id", json_text(q->arena, d, json_get(d, obj, "branch_id")),
                      &in->branch) &&
           api_life(q, obj, "ephemeral_seconds", &in->ephemeral_us);
}

void api_fork_create(request *q)
{
    ramet_call *c = face_call(q);
    cut_session out = {0};
    ramet_fork_in in;
    if (!c || !api_fork_in(q, q->json.nodes, &in))
        return;
    in.expected_head = face_expected_head(q);
    face_render(q, show_cut_session, &out);
    if (!face_answer(q, ramet_fork(c, face_path(q, "id"), &in, &out.session, &out.cut)))
        return;
    face_count(q, "fork", ramet_fork_type_name(in.type));
    request_add_header(
        q, "Location",
        arena_printf(q->arena, "/ramet/v1/sessions/%s", face_escape(q, out.session->id)));
}

/* The first message of the user that a cut leaves behind; NULL: there is none, or the error of the
 * call says why not. */
static const ramet_entry *message_left(request *q, const char *session, const ramet_at *at)
{
    ramet_entry *e;
    ramet_page page;
    ramet_read_in in = {.limit = 1000, .after = at->entry_id};
    ramet_status st = ramet_entry_get(q->call, session, 0, at->entry_id, &e);
    if (st != RAMET_OK || (at->side == RAMET_BEFORE && e->role == RAMET_USER))
        return st == RAMET_OK ? e : NULL;
    for (;;) {
        if (ramet_read(q->call, session, &in, &page) != RAMET_OK || !page.n)
            return NULL;
        for (size_t i = 0; i < page.n; i++)
            if (page.entries[i].role == RAMET_USER)
                return &page.entries[i];
        in.after = page.entries[page.n - 1].id;
    }
}

/* What restoring the files would change, or has changed; NULL: *why says why not. */
static const char *files_ask(request *q, const ramet_at *at, bool restore, char *why)
{
    ramet_session *s;
    const char *session = face_path(q, "id"), *expected = face_expected_head(q);
    snprintf(why, FACE_MESSAGE, "nothing is left behind");
    if (ramet_session_get(q->call, session, &s) != RAMET_OK)
        return NULL;
    /* What the rewind itself would refuse restores nothing. */
    if (restore && (s->level < RAMET_WRITER || (expected && strcmp(expected, s->head.hash) != 0)))
        return "[]";
    const ramet_entry *left = message_left(q, session, at);
    if (!left || !q->host->files)
        return NULL;
    return q->host->files(q->host->arg, q->arena, s->agent.name, session, left, restore, why);
}

void api_rewind_files(request *q)
{
    ramet_call *c = face_call(q);
    const char *side = request_query(q, "side");
    ramet_at at = {request_query(q, "entry_id"),
                   side && strcmp(side, "before") == 0 ? RAMET_BEFORE : RAMET_AFTER};
    ramet_entry *e;
    char why[FACE_MESSAGE];
    if (!c)
        return;
    if (ramet_entry_get(c, face_path(q, "id"), 0, at.entry_id, &e) != RAMET_OK) {
        request_error(q, ramet_call_error(c));
        return;
    }
    const char *changes = files_ask(q, &at, false, why);
    jw_object(&q->writer);
    jw_kbool(&q->writer, "available", changes != NULL);
    if (!changes)
        jw_kstr(&q->writer, "reason", why);
    jw_kraw(&q->writer, "changes", changes ? changes : "[]");
    jw_end_object(&q->writer);
    face_done(q);
}

void api_rewind_to(request *q)
{
    ramet_call *c = face_call(q);
    const char *files = face_text(q, "files");
    char why[FACE_MESSAGE];
    cut_session out = {0};
    ramet_move_in in = {.cut = cut_policy(q),
                        .reason = face_text(q, "reason"),
                        .expected_head = face_expected_head(q)};
    if (!c)
        return;
    api_at(q, "at", &in.at);
    api_at(q, "adk_at", &in.adk_at);
    if (files && strcmp(files, "restore") == 0 && !files_ask(q, &in.at, true, why)) {
        request_fail(q, 409, "no_snapshot", "files", "the files cannot be restored: %s", why);
        return;
    }
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
    api_show_at(q, &form_session, &out);
    if (face_answer(q, ramet_undo(c, face_path(q, "id"), face_expected_head(q), &out)))
        api_moved(q, face_path(q, "id"));
}

void api_move_redo(request *q)
{
    ramet_call *c = face_call(q);
    ramet_session *out = NULL;
    if (!c)
        return;
    api_show_at(q, &form_session, &out);
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
    api_show_at(q, &form_session, &out);
    /* A text that is not a branch id cannot name a branch of this session. */
    if (!face_answer(q, ramet_switch(c, face_path(q, "id"), branch ? branch : INT64_MAX,
                                     face_expected_head(q), &out)))
        return;
    face_count(q, "switch", NULL);
    api_moved(q, face_path(q, "id"));
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

void api_moves_list(request *q)
{
    ramet_call *c = face_call(q);
    ramet_move *items = NULL;
    form_list list = {0};
    int64_t before;
    bool more = false;
    if (!c || !api_cursor(q, &before))
        return;
    ramet_status st =
        ramet_head_log(c, face_path(q, "id"), before, api_limit(q), &items, &list.n, &more);
    list.items = items;
    list.next_cursor = api_next_cursor(q, list.n ? items[list.n - 1].number : 0, more);
    api_show(q, &form_move_list, &list);
    face_answer(q, st);
}

void api_branches_list(request *q)
{
    ramet_call *c = face_call(q);
    form_list list = {0};
    const char *id = face_path(q, "id"), *at = request_query(q, "at");
    int64_t branch;
    bool pruned = face_query_bool(q, "pruned");
    if (!c || !api_branch(q, "branch", request_query(q, "branch"), &branch))
        return;
    if (pruned && at) {
        request_fail(q, 400, "invalid_request", "pruned", "give \"at\" or \"pruned\", not both");
        return;
    }
    if (branch && !at) {
        request_fail(q, 400, "invalid_request", "branch", "\"branch\" goes with \"at\"");
        return;
    }
    api_show(q, at ? &form_version_list : &form_branch_list, &list);
    face_answer(q, at       ? ramet_versions(c, id, branch, at, ITEMS(list, ramet_version), &list.n)
                   : pruned ? ramet_branches_pruned(c, id, ITEMS(list, ramet_branch), &list.n)
                            : ramet_branches(c, id, ITEMS(list, ramet_branch), &list.n));
}

/* ------------------------------------------------------- branches, one by one */

/* A text that is no branch names none of this session's. */
static int64_t path_branch(request *q)
{
    int64_t branch = ramet_branch_parse(face_path(q, "branch"));
    return branch > 0 ? branch : INT64_MAX;
}

void api_branch_patch(request *q)
{
    ramet_call *c = face_call_expecting(q, face_path(q, "id"));
    ramet_branch *out = NULL;
    bool favourite = face_bool(q, "favourite");
    ramet_branch_patch in = {.name = face_cleared(q, "name") ? "" : face_text(q, "name"),
                             .favourite = face_member(q, "favourite") ? &favourite : NULL};
    if (!c)
        return;
    api_show_at(q, &form_branch, &out);
    face_answer(q, ramet_branch_update(c, face_path(q, "id"), path_branch(q), &in, &out));
}

void api_branch_prune(request *q)
{
    ramet_call *c = face_call_expecting(q, face_path(q, "id"));
    ramet_prune_out out = {0};
    ramet_prune_in in = {.branch = path_branch(q),
                         .others = face_bool(q, "others"),
                         .dry_run = face_bool(q, "dry_run")};
    if (!c)
        return;
    api_show(q, &form_pruned, &out);
    face_answer(q, ramet_prune(c, face_path(q, "id"), &in, &out));
}

void api_branch_restore(request *q)
{
    ramet_call *c = face_call_expecting(q, face_path(q, "id"));
    ramet_prune_out out = {0};
    if (!c)
        return;
    api_show(q, &form_pruned, &out);
    face_answer(
        q, ramet_branch_restore(c, face_path(q, "id"), path_branch(q), face_bool(q, "all"), &out));
}
