/* SPDX-License-Identifier: Apache-2.0
 *
 * overlay.c: overlays over HTTP.
 */
#include "face/native/native_face.h"

#include "face/kit/turn_events.h"

#include <string.h>

/* The write behind a request, which may be tried several times. */
typedef ramet_status (*overlay_write)(request *q, ramet_call *c, ramet_overlay_out *out);

/* With `when` the write is tried again whenever the turn that it was refused for has ended. */
static void overlay_do(request *q, const char *when, overlay_write write, ramet_overlay_out *out)
{
    const char *session = face_path(q, "id");
    turn_error err;
    ramet_call *c = face_call(q);
    if (!c)
        return;
    api_show(q, &form_overlay_done, out);
    ramet_status st = write(q, c, out);
    while (st == RAMET_TURN_RUNNING_ALREADY && when) {
        if (!turns_wait_idle(q->host->turns, q, session, &err)) {
            face_turn_error(q, &err);
            return;
        }
        if (q->has_once)
            ramet_call_once(c, &q->once);
        st = write(q, c, out);
    }
    face_answer(q, st);
}

static ramet_status overlay_set(request *q, ramet_call *c, ramet_overlay_out *out)
{
    ramet_overlay_in in = {
        .entry_id = face_text(q, "entry_id"),
        .action = (ramet_overlay_action)ramet_overlay_action_parse(face_text(q, "action")),
        .text = face_text(q, "text"),
        .reason = face_text(q, "reason"),
        .expected_head = face_expected_head(q)};
    return ramet_overlay_set(c, face_path(q, "id"), &in, out);
}

void api_overlay_post(request *q)
{
    ramet_overlay_out out = {0};
    overlay_do(q, face_text(q, "when"), overlay_set, &out);
}

static ramet_status overlay_remove(request *q, ramet_call *c, ramet_overlay_out *out)
{
    int64_t id = ramet_overlay_parse(face_path(q, "overlay"));
    /* A text that is no overlay names none. */
    return ramet_overlay_remove(c, face_path(q, "id"), id ? id : INT64_MAX,
                                request_query(q, "reason"), face_expected_head(q), out);
}

void api_overlay_delete(request *q)
{
    ramet_overlay_out out = {0};
    overlay_do(q, request_query(q, "when"), overlay_remove, &out);
}

void api_overlays_list(request *q)
{
    ramet_call *c = face_call(q);
    form_list list = {0};
    int64_t branch;
    if (!c || !api_branch(q, "branch", request_query(q, "branch"), &branch))
        return;
    api_show(q, &form_overlay_list, &list);
    face_answer(q,
                ramet_overlays(c, face_path(q, "id"), branch, ITEMS(list, ramet_overlay), &list.n));
}
