/* SPDX-License-Identifier: Apache-2.0
 *
 * overlay.c: overlays over HTTP.
 */
#include "face/native/native_face.h"

void api_overlay_post(request *q)
{
    ramet_overlay_out out = {0};
    ramet_call *c = face_call(q);
    if (!c)
        return;
    ramet_overlay_in in = {
        .entry_id = face_text(q, "entry_id"),
        .action = (ramet_overlay_action)ramet_overlay_action_parse(face_text(q, "action")),
        .text = face_text(q, "text"),
        .reason = face_text(q, "reason"),
        .expected_head = face_expected_head(q),
        .when_idle = face_text(q, "when") != NULL};
    api_show(q, &form_overlay_done, &out);
    face_answer(q, ramet_overlay_set(c, face_path(q, "id"), &in, &out));
}

void api_overlay_delete(request *q)
{
    ramet_overlay_out out = {0};
    ramet_call *c = face_call(q);
    if (!c)
        return;
    int64_t id = ramet_overlay_parse(face_path(q, "overlay"));
    api_show(q, &form_overlay_done, &out);
    /* A text that is no overlay names none. */
    face_answer(q, ramet_overlay_remove(c, face_path(q, "id"), id ? id : INT64_MAX,
                                        request_query(q, "reason"), face_expected_head(q),
                                        request_query(q, "when") != NULL, &out));
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
