/* SPDX-License-Identifier: Apache-2.0
 *
 * tag.c: tags and members over HTTP.
 */
#include "face/native/native_face.h"

#include <string.h>

/* ---------------------------------------------------------------------- tags */

typedef ramet_status (*tags_op)(ramet_call *c, const char *id, const char *const *tags, size_t n,
                                ramet_tags *out);

static void tags_change(request *q, tags_op op, const char *const *tags, size_t n)
{
    ramet_call *c = face_call_expecting(q, face_path(q, "id"));
    ramet_tags out = {0};
    if (!c)
        return;
    api_show(q, &form_tags, &out);
    face_answer(q, op(c, face_path(q, "id"), tags, n, &out));
}

void api_tags_put(request *q)
{
    size_t n;
    const char *const *tags = face_texts(q, "tags", &n);
    tags_change(q, ramet_tags_set, tags, n);
}

void api_tags_post(request *q)
{
    size_t n;
    const char *const *tags = face_texts(q, "tags", &n);
    tags_change(q, ramet_tags_add, tags, n);
}

void api_tag_delete(request *q)
{
    const char *tag = face_path(q, "tag");
    tags_change(q, ramet_tags_remove, &tag, 1);
}

void api_tags_list(request *q)
{
    ramet_call *c = face_call(q);
    form_list list = {0};
    if (!c)
        return;
    api_show(q, &form_tag_list, &list);
    face_answer(q, ramet_tags_all(c, ITEMS(list, ramet_tag_count), &list.n));
}

/* ------------------------------------------------------------------- members */

void api_members_list(request *q)
{
    ramet_call *c = face_call(q);
    form_list list = {0};
    if (!c)
        return;
    api_show(q, &form_member_list, &list);
    face_answer(q, ramet_members(c, face_path(q, "id"), ITEMS(list, ramet_member), &list.n));
}

void api_member_put(request *q)
{
    ramet_call *c = face_call_expecting(q, face_path(q, "id"));
    ramet_member m = {.user = face_path(q, "user"),
                      .level = (ramet_level)ramet_level_parse(face_text(q, "level"))};
    if (!c)
        return;
    api_show(q, &form_member, &m);
    face_answer(q, ramet_member_set(c, face_path(q, "id"), m.user, m.level));
}

void api_member_delete(request *q)
{
    ramet_call *c = face_call_expecting(q, face_path(q, "id"));
    if (c)
        face_answer(q, ramet_member_remove(c, face_path(q, "id"), face_path(q, "user")));
}
