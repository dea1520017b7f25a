/* SPDX-License-Identifier: Apache-2.0
 *
 * retention.c: holds and the rules of retention over HTTP.
 */
#include "face/native/native_face.h"

/* A hold is the caller's own as the owner of the tree, or an administrator's. */
static ramet_call *hold_call(request *q, bool administrator)
{
    if (!administrator)
        return face_call(q);
    if (!q->caller.admin) {
        request_fail(q, 403, ramet_status_code(RAMET_FORBIDDEN), "administrator",
                     "\"administrator\" is for administrators");
        return NULL;
    }
    return api_program_call(q);
}

void api_hold_put(request *q)
{
    ramet_hold *out = NULL;
    ramet_hold_in in = {.tree = face_bool(q, "tree"),
                        .administrator = face_bool(q, "administrator"),
                        .reason = face_text(q, "reason")};
    ramet_call *c = hold_call(q, in.administrator);
    if (!c)
        return;
    if (in.administrator)
        in.by = q->caller.user;
    api_show_at(q, &form_hold, &out);
    face_answer(q, ramet_hold_set(c, face_path(q, "id"), &in, &out));
}

void api_hold_delete(request *q)
{
    ramet_hold_in in = {.tree = face_query_bool(q, "tree"),
                        .administrator = face_query_bool(q, "administrator")};
    ramet_call *c = hold_call(q, in.administrator);
    if (c)
        face_answer(q, ramet_hold_release(c, face_path(q, "id"), &in));
}

void api_hold_get(request *q)
{
    ramet_call *c = hold_call(q, face_query_bool(q, "administrator"));
    form_list list = {0};
    if (!c)
        return;
    api_show(q, &form_hold_list, &list);
    face_answer(q, ramet_holds(c, face_path(q, "id"), ITEMS(list, ramet_hold), &list.n));
}

void api_holds_list(request *q)
{
    form_list list = {0};
    api_show(q, &form_hold_list, &list);
    face_answer(q, ramet_holds(api_program_call(q), NULL, ITEMS(list, ramet_hold), &list.n));
}

/* ------------------------------------------------------------------- retention */

void api_retention_get(request *q)
{
    ramet_retention *out = NULL;
    api_show_at(q, &form_retention, &out);
    face_answer(q, ramet_retention_get(api_program_call(q), &out));
}

void api_retention_put(request *q)
{
    const json_node *list = face_member(q, "rules");
    ramet_retention *out = NULL;
    ramet_error err;
    ramet_retention_in in = {.enabled = face_bool(q, "enabled"), .by = q->caller.user};
    ramet_rule *rules = arena_array(q->arena, (list ? list->count : 0) + 1, sizeof *rules);
    for (const json_node *v = json_first(&q->json, list); v; v = json_next(&q->json, list, v))
        if (!form_read(q->arena, &q->json, v, &form_rule_in, &rules[in.n++], &err)) {
            request_error(q, &err);
            return;
        }
    in.rules = rules;
    api_show_at(q, &form_retention, &out);
    face_answer(q, ramet_retention_set(api_program_call(q), &in, &out));
}

void api_retention_run(request *q)
{
    ramet_retention_out out = {0};
    ramet_retention_run_in in = {.dry_run = face_bool(q, "dry_run"), .by = q->caller.user};
    ramet_call *c = api_work_call(q);
    if (!c)
        return;
    api_show(q, &form_retention_report, &out);
    api_work_answer(q, ramet_retention_run(c, &in, NULL, NULL, &out));
}

void api_retention_log(request *q)
{
    form_list list = {0};
    api_show(q, &form_removal_list, &list);
    face_answer(q, ramet_removals(api_program_call(q), api_limit(q), request_query(q, "cursor"),
                                  ITEMS(list, ramet_removal), &list.n, &list.next_cursor));
}

void api_retention_explain(request *q)
{
    ramet_explanation *out = NULL;
    ramet_call *c = hold_call(q, face_query_bool(q, "administrator"));
    if (!c)
        return;
    api_show_at(q, &form_explanation, &out);
    face_answer(q, ramet_retention_explain(c, face_path(q, "id"), &out));
}
