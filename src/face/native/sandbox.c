/* SPDX-License-Identifier: Apache-2.0
 *
 * sandbox.c: sandboxes over HTTP.
 */
#include "face/native/native_face.h"
#include "ramet/sandboxes.h"

void api_sandbox_post(request *q)
{
    ramet_call *c = face_call(q);
    ramet_sandbox *out = NULL;
    if (!c)
        return;
    ramet_sandbox_in in = {.id = face_text(q, "id"),
                           .opencode = face_text(q, "opencode"),
                           .password_file = face_text(q, "password_file")};
    /* The server sends requests to that URL, with what the file holds. */
    if ((in.opencode || in.password_file) && q->host->secured && !q->caller.admin) {
        request_fail(q, 403, ramet_status_code(RAMET_FORBIDDEN), "opencode",
                     "only an admin can link a sandbox to an OpenCode server");
        return;
    }
    api_show_at(q, &form_sandbox, &out);
    face_answer(q, ramet_sandbox_add(c, &in, &out));
}

void api_sandboxes_list(request *q)
{
    ramet_call *c = face_call(q);
    form_list list = {0};
    if (!c)
        return;
    api_show(q, &form_sandbox_list, &list);
    face_answer(q, ramet_sandboxes(c, ITEMS(list, ramet_sandbox), &list.n));
}

void api_sandbox_delete(request *q)
{
    ramet_call *c = face_call(q);
    native_removed out = {.id = face_path(q, "sandbox")};
    if (!c)
        return;
    api_show(q, &form_sandbox_removed, &out);
    face_answer(q, ramet_sandbox_remove(c, out.id, &out.trees));
}
