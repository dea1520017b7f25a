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
    api_show_at(q, &form_sandbox, &out);
    face_answer(q, ramet_sandbox_add(c, face_text(q, "id"), &out));
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
