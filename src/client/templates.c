/* SPDX-License-Identifier: Apache-2.0
 *
 * templates.c: templates over HTTP.
 */
#include "client/internal.h"

static ramet_status answer_template(client_call *c, const json_doc *d, ramet_template **out)
{
    TRY(answer_has(c, d, "placeholders"));
    *out = answer_read(c, d, &form_template);
    return RAMET_OK;
}

static void body_names(body *b, const char *const *names, size_t n)
{
    jw_key(&b->writer, "placeholders");
    jw_array(&b->writer);
    for (size_t i = 0; i < n; i++)
        jw_str(&b->writer, names[i]);
    jw_end_array(&b->writer);
}

ramet_status http_template_add(ramet_call *call, const ramet_template_in *in, ramet_template **out)
{
    client_call *c = CALL(call);
    target t;
    body b;
    json_doc d;
    *out = NULL;
    target_init(&t, c, "/templates");
    body_init(&b);
    body_add(&b, "session_id", in->session);
    body_add(&b, "entry_id", in->entry_id);
    body_add(&b, "name", in->name);
    body_names(&b, in->placeholders, in->n_placeholders);
    TRY(ask(&t, "POST", &b, &d));
    return answer_template(c, &d, out);
}

ramet_status http_template_get(ramet_call *call, const char *id, ramet_template **out)
{
    client_call *c = CALL(call);
    target t;
    json_doc d;
    *out = NULL;
    target_init(&t, c, "/templates/%s", id);
    TRY(ask(&t, "GET", NULL, &d));
    return answer_template(c, &d, out);
}

ramet_status http_templates(ramet_call *call, int limit, const char *cursor, ramet_template **out,
                            size_t *n, const char **next)
{
    client_call *c = CALL(call);
    target t;
    json_doc d;
    *out = NULL;
    *n = 0;
    *next = NULL;
    target_init(&t, c, "/templates");
    target_int(&t, "limit", limit);
    target_add(&t, "cursor", cursor);
    TRY(ask(&t, "GET", NULL, &d));
    TRY(answer_has(c, &d, "templates"));
    form_list list = {0};
    form_read(c->arena, &d, d.nodes, &form_template_list, &list, NULL);
    *out = (ramet_template *)list.items;
    *n = list.n;
    *next = list.next_cursor;
    return RAMET_OK;
}

ramet_status http_template_update(ramet_call *call, const char *id, const ramet_template_patch *in,
                                  ramet_template **out)
{
    client_call *c = CALL(call);
    target t;
    body b;
    json_doc d;
    *out = NULL;
    target_init(&t, c, "/templates/%s", id);
    body_init(&b);
    body_add(&b, "name", in->name);
    body_add(&b, "entry_id", in->entry_id);
    if (in->set_placeholders)
        body_names(&b, in->placeholders, in->n_placeholders);
    TRY(ask(&t, "PATCH", &b, &d));
    return answer_template(c, &d, out);
}

ramet_status http_template_remove(ramet_call *call, const char *id)
{
    target t;
    json_doc d;
    target_init(&t, CALL(call), "/templates/%s", id);
    return ask(&t, "DELETE", NULL, &d);
}

ramet_status http_template_chat(ramet_call *call, const char *id, const ramet_template_use *in,
                                ramet_session **out)
{
    client_call *c = CALL(call);
    target t;
    body b;
    json_doc d;
    *out = NULL;
    target_init(&t, c, "/templates/%s/sessions", id);
    body_init(&b);
    jw_key(&b.writer, "values");
    jw_object(&b.writer);
    for (size_t i = 0; i < in->n_values; i++)
        jw_kstr(&b.writer, in->values[i].name, in->values[i].text);
    jw_end_object(&b.writer);
    form_write_members(&b.writer, &form_fork_in, &in->fork, NULL);
    TRY(ask(&t, "POST", &b, &d));
    return answer_session(c, &d, out);
}

ramet_status http_template_values(ramet_call *call, const char *session, ramet_template_origin *out)
{
    client_call *c = CALL(call);
    target t;
    json_doc d;
    *out = (ramet_template_origin){0};
    target_init(&t, c, "/sessions/%s/template", session);
    TRY(ask(&t, "GET", NULL, &d));
    TRY(answer_has(c, &d, "values"));
    form_read(c->arena, &d, d.nodes, &form_template_origin, out, NULL);
    return RAMET_OK;
}
