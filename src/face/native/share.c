/* SPDX-License-Identifier: Apache-2.0
 *
 * share.c: share links over HTTP.
 */
#include "face/native/native_face.h"

static void show_share(request *q, const void *answer)
{
    native_share(&q->w, *(ramet_share *const *)answer);
}

void api_share_post(request *q)
{
    ramet_call *c = face_call_expecting(q, face_path(q, "id"));
    ramet_share *out = NULL;
    int64_t life;
    if (!c || !api_life(q, "expires_seconds", &life))
        return;
    face_render(q, show_share, &out);
    face_answer(q, ramet_share_add(c, face_path(q, "id"), face_bool(q, "write"), life, &out));
}

typedef struct share_list {
    ramet_share *items;
    size_t n;
} share_list;

static void show_shares(request *q, const void *answer)
{
    const share_list *list = answer;
    list_begin(q, "shares");
    for (size_t i = 0; i < list->n; i++)
        native_share(&q->w, &list->items[i]);
    list_end(q, NULL);
}

void api_shares_list(request *q)
{
    ramet_call *c = face_call(q);
    share_list list = {0};
    if (!c)
        return;
    face_render(q, show_shares, &list);
    face_answer(q, ramet_shares(c, face_path(q, "id"), &list.items, &list.n));
}

void api_share_delete(request *q)
{
    ramet_call *c = face_call_expecting(q, face_path(q, "id"));
    if (c)
        face_answer(q, ramet_share_revoke(c, face_path(q, "id"), face_path(q, "share")));
}

typedef struct opened {
    ramet_share *share;
    ramet_session *session;
} opened;

static void show_opened(request *q, const void *answer)
{
    const opened *o = answer;
    jw_object(&q->w);
    jw_key(&q->w, "share");
    native_share(&q->w, o->share);
    jw_key(&q->w, "session");
    api_session_write(q, o->session, NULL, NULL);
    jw_end_object(&q->w);
}

void api_share_open(request *q)
{
    opened out = {0};
    if (!q->who.share) {
        request_fail(q, 400, "invalid_request", "share",
                     "give the token of a share link as ?share= or in X-Ramet-Share");
        return;
    }
    ramet_call *c = face_call(q);
    if (!c)
        return;
    ramet_status st = ramet_call_share(c, q->who.share, &out.share);
    if (st == RAMET_OK)
        st = ramet_session_get(c, out.share->session, &out.session);
    face_render(q, show_opened, &out);
    face_answer(q, st);
}
