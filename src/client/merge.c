/* SPDX-License-Identifier: Apache-2.0
 *
 * Merges over HTTP, and where entries came from and went.
 */
#include "client/internal.h"

static void body_picks(body *b, const ramet_merge_in *in)
{
    if (!in->n_picks)
        return;
    jw_key(&b->writer, "entries");
    jw_array(&b->writer);
    for (size_t i = 0; i < in->n_picks; i++)
        form_write(&b->writer, &form_pick, &in->picks[i], NULL);
    jw_end_array(&b->writer);
}

ramet_status http_merge(ramet_call *call, const char *session, const ramet_merge_in *in,
                        ramet_merge_out *out)
{
    client_call *c = CALL(call);
    target t;
    body b;
    json_doc d;
    native_merge_from from = {in->from, in->share, in->from_branch};
    native_merge_done done = {0};
    *out = (ramet_merge_out){0};
    target_init(&t, c, "/sessions/%s/merge", session);
    body_init(&b);
    body_add(&b, "mode", ramet_merge_mode_name(in->mode));
    if (from.session || from.share) {
        jw_key(&b.writer, "from");
        form_write(&b.writer, &form_merge_from, &from, NULL);
    }
    body_picks(&b, in);
    body_add(&b, "text", in->text);
    body_add(&b, "agent", in->agent);
    body_add(&b, "when", in->when_idle ? "idle" : NULL);
    if (in->dry_run)
        jw_kbool(&b.writer, "dry_run", true);
    body_add(&b, "expected_head", in->expected_head);
    TRY(ask(&t, "POST", &b, &d));
    if (in->dry_run) {
        form_read(c->arena, &d, d.nodes, &form_merge_preview, out, NULL);
        return RAMET_OK;
    }
    form_read(c->arena, &d, json_get(&d, d.nodes, "merge"), &form_merge_done, &done, NULL);
    out->count = done.count;
    return answer_session(c, &d, &out->session);
}

static ramet_status ends_ask(ramet_call *call, const char *session, int64_t branch,
                             const char *entry_id, const char *what, const form_schema *list,
                             ramet_entry_ref **out, size_t *n)
{
    target t;
    target_init(&t, CALL(call), "/sessions/%s/entries/%s/%s", session, entry_id, what);
    target_branch(&t, "branch", branch);
    return ASK_LIST(&t, *list, out, n, NULL);
}

ramet_status http_origins(ramet_call *call, const char *session, int64_t branch,
                          const char *entry_id, ramet_entry_ref **out, size_t *n)
{
    return ends_ask(call, session, branch, entry_id, "origins", &form_origin_list, out, n);
}

ramet_status http_destinations(ramet_call *call, const char *session, int64_t branch,
                               const char *entry_id, ramet_entry_ref **out, size_t *n)
{
    return ends_ask(call, session, branch, entry_id, "destinations", &form_destination_list, out,
                    n);
}
