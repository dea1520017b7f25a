/* SPDX-License-Identifier: Apache-2.0
 *
 * merge.c: merges over HTTP, and where entries came from and went.
 */
#include "face/native/native_face.h"

#include "face/kit/turn_events.h"

#include <stdio.h>

/* What a merge answers with. */
typedef struct merged {
    ramet_merge_out out;
    ramet_merge_mode mode;
} merged;

static void show_merged(request *q, const void *answer)
{
    const merged *m = answer;
    form_context context = {.running = native_running, .arg = q->host->turns};
    native_merge_done done = {m->mode, m->out.count};
    native_session_more(&q->writer, m->out.session,
                        &(native_more){.merge = &done, .context = &context});
}

static void show_preview(request *q, const void *answer)
{
    form_write(&q->writer, &form_merge_preview, &((const merged *)answer)->out, NULL);
}

/* A session id, or an object. False: the answer is filled. */
static bool from_read(request *q, ramet_merge_in *in)
{
    const json_doc *d = &q->json;
    const json_node *v = face_member(q, "from");
    in->from = v ? json_text(q->arena, d, v) : NULL;
    if (!v || in->from)
        return true;
    in->from = json_text(q->arena, d, json_get(d, v, "session_id"));
    in->share = json_text(q->arena, d, json_get(d, v, "share"));
    return api_branch(q, "from", json_text(q->arena, d, json_get(d, v, "branch_id")),
                      &in->from_branch);
}

static bool picks_read(request *q, ramet_merge_in *in)
{
    const json_doc *d = &q->json;
    const json_node *list = face_member(q, "entries");
    ramet_merge_pick *picks = arena_array(q->arena, list ? list->count + 1 : 1, sizeof *picks);
    for (const json_node *v = json_first(d, list); v; v = json_next(d, list, v)) {
        ramet_merge_pick *p = &picks[in->n_picks++];
        p->session = json_text(q->arena, d, json_get(d, v, "session_id"));
        p->entry_id = json_text(q->arena, d, json_get(d, v, "entry_id"));
        if (!api_branch(q, "entries", json_text(q->arena, d, json_get(d, v, "branch_id")),
                        &p->branch))
            return false;
    }
    in->picks = picks;
    return true;
}

/* The error tells which turn runs. */
static void turn_in_the_way(request *q, const ramet_error *e)
{
    turn_error err = {.kind = TURN_ERROR_STATUS, .error = *e};
    snprintf(err.turn_id, sizeof err.turn_id, "%s", e->subject);
    face_turn_error(q, &err);
}

void api_merge_post(request *q)
{
    ramet_call *c = face_call(q);
    merged m = {.mode = (ramet_merge_mode)ramet_merge_mode_parse(face_text(q, "mode"))};
    ramet_merge_in in = {.mode = m.mode,
                         .text = face_text(q, "text"),
                         .when_idle = face_text(q, "when") != NULL,
                         .dry_run = face_bool(q, "dry_run"),
                         .expected_head = face_expected_head(q)};
    if (!c || !from_read(q, &in) || !picks_read(q, &in))
        return;
    if (in.dry_run) /* nothing is written that a key could be kept with */
        ramet_call_once(c, NULL);
    face_render(q, in.dry_run ? show_preview : show_merged, &m);
    ramet_status st = ramet_merge(c, face_path(q, "id"), &in, &m.out);
    if (st == RAMET_TURN_RUNNING_ALREADY)
        turn_in_the_way(q, ramet_call_error(c));
    else if (face_answer(q, st) && !in.dry_run)
        face_count(q, "merge", face_text(q, "mode"));
}

void api_origins_list(request *q)
{
    ramet_call *c = face_call(q);
    form_list list = {0};
    int64_t branch;
    if (!c || !api_branch(q, "branch", request_query(q, "branch"), &branch))
        return;
    api_show(q, &form_origin_list, &list);
    face_answer(q, ramet_origins(c, face_path(q, "id"), branch, face_path(q, "entry"),
                                 ITEMS(list, ramet_entry_ref), &list.n));
}

void api_destinations_list(request *q)
{
    ramet_call *c = face_call(q);
    form_list list = {0};
    int64_t branch;
    if (!c || !api_branch(q, "branch", request_query(q, "branch"), &branch))
        return;
    api_show(q, &form_destination_list, &list);
    face_answer(q, ramet_destinations(c, face_path(q, "id"), branch, face_path(q, "entry"),
                                      ITEMS(list, ramet_entry_ref), &list.n));
}
