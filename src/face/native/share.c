/* SPDX-License-Identifier: Apache-2.0
 *
 * share.c: share links over HTTP.
 */
#include "face/native/native_face.h"

void api_share_post(request *q)
{
    ramet_call *c = face_call_expecting(q, face_path(q, "id"));
    ramet_share *out = NULL;
    int64_t life;
    if (!c || !api_life(q, q->json.nodes, "expires_seconds", &life))
        return;
    api_show_at(q, &form_share, &out);
    face_answer(q, ramet_share_add(c, face_path(q, "id"), face_bool(q, "write"), life, &out));
}

void api_shares_list(request *q)
{
    ramet_call *c = face_call(q);
    form_list list = {0};
    if (!c)
        return;
    api_show(q, &form_share_list, &list);
    face_answer(q, ramet_shares(c, face_path(q, "id"), ITEMS(list, ramet_share), &list.n));
}

void api_share_delete(request *q)
{
    ramet_call *c = face_call_expecting(q, face_path(q, "id"));
    if (c)
        face_answer(q, ramet_share_revoke(c, face_path(q, "id"), face_path(q, "share")));
}

void api_share_open(request *q)
{
    ramet_share *share = NULL;
    ramet_session *session = NULL;
    if (!q->caller.share) {
        request_fail(q, 400, "invalid_request", "share",
                     "give the token of a share link as ?share= or in X-Ramet-Share");
        return;
    }
    ramet_call *c = face_call(q);
    if (!c)
        return;
    ramet_status st = ramet_call_share(c, q->caller.share, &share);
    if (st == RAMET_OK)
        st = ramet_session_get(c, share->session, &session);
    native_shared_session out = {share, session};
    api_show(q, &form_shared_session, &out);
    face_answer(q, st);
}
