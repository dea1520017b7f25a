/* SPDX-License-Identifier: Apache-2.0
 *
 * merge.c: merges over HTTP, and where entries came from and went.
 */
#include "face/native/native_face.h"

#include "face/kit/merge.h"

static void show_merged(request *q, const void *answer)
{
    const face_merged *m = answer;
    form_context context = {.running = native_running, .arg = q->host->turns};
    native_merge_done done = {m->mode, m->out.count};
    native_session_more(&q->writer, m->out.session,
                        &(native_more){.merge = &done, .context = &context});
}

void api_merge_post(request *q)
{
    if (face_call(q))
        face_merge(q, face_path(q, "id"), show_merged);
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
