/* SPDX-License-Identifier: Apache-2.0
 *
 * tag.c: tags and members over HTTP.
 */
#include "face/native/native_face.h"

#include <string.h>

/* ---------------------------------------------------------------------- tags */

static void show_tags(request *q, const void *answer)
{
    native_tags(&q->w, answer);
}

typedef ramet_status (*tags_op)(ramet_call *c, const char *id, const char *const *tags, size_t n,
                                ramet_tags *out);

static void tags_change(request *q, tags_op op, const char *const *tags, size_t n)
{
    ramet_call *c = face_call_expecting(q, face_path(q, "id"));
    ramet_tags out = {0};
    if (!c)
        return;
    face_render(q, show_tags, &out);
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

typedef struct tag_list {
    ramet_tag_count *items;
    size_t n;
} tag_list;

static void show_tag_list(request *q, const void *answer)
{
    const tag_list *list = answer;
    list_begin(q, "tags");
    for (size_t i = 0; i < list->n; i++) {
        jw_object(&q->w);
        jw_kstr(&q->w, "tag", list->items[i].tag);
        jw_kint(&q->w, "sessions", list->items[i].sessions);
        jw_end_object(&q->w);
    }
    list_end(q, NULL);
}

void api_tags_list(request *q)
{
    ramet_call *c = face_call(q);
    tag_list list = {0};
    if (!c)
        return;
    face_render(q, show_tag_list, &list);
    face_answer(q, ramet_tags_all(c, &list.items, &list.n));
}

/* ------------------------------------------------------------------- members */

typedef struct member_list {
    ramet_member *items;
    size_t n;
} member_list;

static void show_members(request *q, const void *answer)
{
    const member_list *list = answer;
    list_begin(q, "members");
    for (size_t i = 0; i < list->n; i++)
        native_member(&q->w, &list->items[i]);
    list_end(q, NULL);
}

void api_members_list(request *q)
{
    ramet_call *c = face_call(q);
    member_list list = {0};
    if (!c)
        return;
    face_render(q, show_members, &list);
    face_answer(q, ramet_members(c, face_path(q, "id"), &list.items, &list.n));
}

static void show_member(request *q, const void *answer)
{
    native_member(&q->w, answer);
}

void api_member_put(request *q)
{
    ramet_call *c = face_call_expecting(q, face_path(q, "id"));
    ramet_member m = {.user = face_path(q, "user"),
                      .level = (ramet_level)ramet_level_parse(face_text(q, "level"))};
    if (!c)
        return;
    face_render(q, show_member, &m);
    face_answer(q, ramet_member_set(c, face_path(q, "id"), m.user, m.level));
}

void api_member_delete(request *q)
{
    ramet_call *c = face_call_expecting(q, face_path(q, "id"));
    if (c)
        face_answer(q, ramet_member_remove(c, face_path(q, "id"), face_path(q, "user")));
}
