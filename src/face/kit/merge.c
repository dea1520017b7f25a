/* SPDX-License-Identifier: Apache-2.0
 *
 * merge.c: see merge.h.
 */
#include "face/kit/merge.h"

#include "face/kit/turn_events.h"

#include <stdio.h>

static void show_preview(request *q, const void *answer)
{
    form_write(&q->writer, &form_merge_preview, &((const face_merged *)answer)->out, NULL);
}

/* "b17", or nothing: 0. False: the answer is filled. */
static bool branch_read(request *q, const json_node *of, const char *field, int64_t *out)
{
    const char *text = json_text(q->arena, &q->json, json_get(&q->json, of, "branch_id"));
    *out = text ? ramet_branch_parse(text) : 0;
    if (!text || *out)
        return true;
    request_fail(q, 400, "invalid_request", field, "\"branch_id\" is '%.60s'; a branch is like b17",
                 text);
    return false;
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
    return branch_read(q, v, "from", &in->from_branch);
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
        if (!branch_read(q, v, "entries", &p->branch))
            return false;
    }
    in->picks = picks;
    return true;
}

/* The error names the running turn. */
static void turn_in_the_way(request *q, const ramet_error *e)
{
    turn_error err = {.kind = TURN_ERROR_STATUS, .error = *e};
    snprintf(err.turn_id, sizeof err.turn_id, "%s", e->subject);
    face_turn_error(q, &err);
}

static void refuse(request *q, ramet_status st)
{
    const ramet_error *e = ramet_call_error(q->call);
    if (st == RAMET_TURN_RUNNING_ALREADY)
        turn_in_the_way(q, e);
    else
        request_error(q, e);
}

/* Has the summary written, when the merge would be made: no model is asked in vain, and with `when`
 * it sees the source as it is when the target is idle. False: the answer is filled. */
static bool summary_write(request *q, const char *session, ramet_merge_in *in)
{
    ramet_merge_in look = *in;
    ramet_merge_out would;
    turn_error err;
    const json_node *who = face_member(q, "agent");
    turn_summary of = {in->from, in->from_branch, face_text(q, "agent")};
    if (who && !of.agent)
        of.agent = json_text(q->arena, &q->json, json_get(&q->json, who, "name"));
    in->written = look.written = true;
    look.text = "-";
    look.dry_run = true;
    ramet_status st = ramet_merge(q->call, session, &look, &would);
    if (st != RAMET_OK) {
        refuse(q, st);
        return false;
    }
    if (turns_summarise(q->host->turns, q, &of, &in->text, &err))
        return true;
    face_turn_error(q, &err);
    return false;
}

void face_merge(request *q, const char *session, void (*show)(request *q, const void *answer))
{
    face_merged m = {.mode = (ramet_merge_mode)ramet_merge_mode_parse(face_text(q, "mode"))};
    ramet_merge_in in = {.mode = m.mode,
                         .text = face_text(q, "text"),
                         .when_idle = face_text(q, "when") != NULL,
                         .dry_run = face_bool(q, "dry_run"),
                         .expected_head = face_expected_head(q)};
    if (!from_read(q, &in) || !picks_read(q, &in))
        return;
    if (m.mode != RAMET_LAND && face_member(q, "agent")) {
        request_fail(q, 400, ramet_status_code(RAMET_INVALID), "agent",
                     "an agent writes the text of the mode land alone");
        return;
    }
    bool written = m.mode == RAMET_LAND && !in.text && in.from && q->host->turns;
    if (written && !summary_write(q, session, &in))
        return;
    if (in.dry_run) /* nothing is written that a key could be kept with */
        ramet_call_once(q->call, NULL);
    face_render(q, in.dry_run ? show_preview : show, &m);
    ramet_status st = ramet_merge(q->call, session, &in, &m.out);
    if (st == RAMET_TURN_RUNNING_ALREADY)
        refuse(q, st);
    else if (face_answer(q, st) && !in.dry_run)
        face_count(q, "merge", face_text(q, "mode"));
}
