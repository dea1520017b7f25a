/* SPDX-License-Identifier: Apache-2.0
 *
 * retention.c: holds and the rules of retention over HTTP.
 */
#include "client/internal.h"

ramet_status http_hold_set(ramet_call *call, const char *session, const ramet_hold_in *in,
                           ramet_hold **out)
{
    client_call *c = CALL(call);
    target t;
    body b;
    json_doc d;
    target_init(&t, c, "/sessions/%s/hold", session);
    body_init(&b);
    jw_kbool(&b.writer, "tree", in->tree);
    jw_kbool(&b.writer, "administrator", in->administrator);
    body_add(&b, "reason", in->reason);
    TRY(ask(&t, "PUT", &b, &d));
    if (out)
        *out = answer_read(c, &d, &form_hold);
    return RAMET_OK;
}

ramet_status http_hold_release(ramet_call *call, const char *session, const ramet_hold_in *in)
{
    target t;
    json_doc d;
    target_init(&t, CALL(call), "/sessions/%s/hold", session);
    target_bool(&t, "tree", in->tree);
    target_bool(&t, "administrator", in->administrator);
    return ask(&t, "DELETE", NULL, &d);
}

ramet_status http_holds(ramet_call *call, const char *session, ramet_hold **out, size_t *n)
{
    target t;
    if (session)
        target_init(&t, CALL(call), "/sessions/%s/hold", session);
    else
        target_init(&t, CALL(call), "/holds");
    return ASK_LIST(&t, form_hold_list, out, n, NULL);
}

/* ------------------------------------------------------------------- retention */

ramet_status http_retention_get(ramet_call *call, ramet_retention **out)
{
    client_call *c = CALL(call);
    target t;
    json_doc d;
    *out = NULL;
    target_init(&t, c, "/retention");
    TRY(ask(&t, "GET", NULL, &d));
    TRY(answer_has(c, &d, "rules"));
    *out = answer_read(c, &d, &form_retention);
    return RAMET_OK;
}

ramet_status http_retention_set(ramet_call *call, const ramet_retention_in *in,
                                ramet_retention **out)
{
    client_call *c = CALL(call);
    target t;
    body b;
    json_doc d;
    target_init(&t, c, "/retention");
    body_init(&b);
    jw_kbool(&b.writer, "enabled", in->enabled);
    jw_key(&b.writer, "rules");
    jw_array(&b.writer);
    for (size_t i = 0; i < in->n; i++)
        form_write(&b.writer, &form_rule_in, &in->rules[i], NULL);
    jw_end_array(&b.writer);
    TRY(ask(&t, "PUT", &b, &d));
    if (out)
        *out = answer_read(c, &d, &form_retention);
    return RAMET_OK;
}

ramet_status http_retention_run(ramet_call *call, const ramet_retention_run_in *in,
                                ramet_progress progress, void *arg, ramet_retention_out *out)
{
    client_call *c = CALL(call);
    target t;
    body b;
    json_doc d;
    (void)progress;
    (void)arg;
    *out = (ramet_retention_out){0};
    target_init(&t, c, "/retention/run");
    body_init(&b);
    jw_kbool(&b.writer, "dry_run", in->dry_run);
    TRY(ask(&t, "POST", &b, &d));
    TRY(answer_has(c, &d, "looked_at"));
    form_read(c->arena, &d, d.nodes, &form_retention_report, out, NULL);
    return RAMET_OK;
}

ramet_status http_retention_explain(ramet_call *call, const char *session, ramet_explanation **out)
{
    client_call *c = CALL(call);
    target t;
    json_doc d;
    *out = NULL;
    target_init(&t, c, "/sessions/%s/retention/explain", session);
    TRY(ask(&t, "GET", NULL, &d));
    TRY(answer_has(c, &d, "goes"));
    *out = answer_read(c, &d, &form_explanation);
    return RAMET_OK;
}

ramet_status http_removals(ramet_call *call, int limit, const char *cursor, ramet_removal **out,
                           size_t *n, const char **next)
{
    client_call *c = CALL(call);
    target t;
    json_doc d;
    form_list list = {0};
    *out = NULL;
    *n = 0;
    *next = NULL;
    target_init(&t, c, "/retention/log");
    target_int(&t, "limit", limit);
    target_add(&t, "cursor", cursor);
    TRY(ask(&t, "GET", NULL, &d));
    TRY(answer_has(c, &d, "removals"));
    form_read(c->arena, &d, d.nodes, &form_removal_list, &list, NULL);
    *out = (ramet_removal *)list.items;
    *n = list.n;
    *next = list.next_cursor;
    return RAMET_OK;
}
