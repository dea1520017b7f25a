/* SPDX-License-Identifier: Apache-2.0
 *
 * sandbox.c: sandboxes over HTTP.
 */
#include "face/native/native_face.h"
#include "ramet/sandboxes.h"

static void show_sandbox(request *q, const void *answer)
{
    native_sandbox(&q->w, *(ramet_sandbox *const *)answer);
}

void api_sandbox_post(request *q)
{
    ramet_call *c = face_call(q);
    ramet_sandbox *out = NULL;
    if (!c)
        return;
    face_render(q, show_sandbox, &out);
    face_answer(q, ramet_sandbox_add(c, face_text(q, "id"), &out));
}

typedef struct sandbox_list {
    ramet_sandbox *items;
    size_t n;
} sandbox_list;

static void show_sandboxes(request *q, const void *answer)
{
    const sandbox_list *list = answer;
    list_begin(q, "sandboxes");
    for (size_t i = 0; i < list->n; i++)
        native_sandbox(&q->w, &list->items[i]);
    list_end(q, NULL);
}

void api_sandboxes_list(request *q)
{
    ramet_call *c = face_call(q);
    sandbox_list list = {0};
    if (!c)
        return;
    face_render(q, show_sandboxes, &list);
    face_answer(q, ramet_sandboxes(c, &list.items, &list.n));
}

static void show_removed(request *q, const void *answer)
{
    jw_object(&q->w);
    jw_kstr(&q->w, "id", face_path(q, "sandbox"));
    jw_kint(&q->w, "trees", *(const int64_t *)answer);
    jw_end_object(&q->w);
}

void api_sandbox_delete(request *q)
{
    ramet_call *c = face_call(q);
    int64_t trees = 0;
    if (!c)
        return;
    face_render(q, show_removed, &trees);
    face_answer(q, ramet_sandbox_remove(c, face_path(q, "sandbox"), &trees));
}
