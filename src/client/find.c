/* SPDX-License-Identifier: Apache-2.0
 *
 * find.c: compare, verdicts, search, state and usage over HTTP.
 */
#include "client/internal.h"

#include "base/util.h"

#include <string.h>

/* SESSION, or SESSION@bN. */
static const char *side_text(client_call *c, const ramet_side_in *s)
{
    char branch[24];
    return s->branch
               ? arena_printf(c->arena, "%s@%s", s->session, ramet_branch_text(s->branch, branch))
               : s->session;
}

ramet_status http_compare(ramet_call *call, const ramet_side_in *sides, size_t n, int limit,
                          ramet_compare_out *out)
{
    client_call *c = CALL(call);
    target t;
    json_doc d;
    *out = (ramet_compare_out){0};
    target_init(&t, c, "/compare");
    for (size_t i = 0; i < n; i++)
        target_add(&t, "side", side_text(c, &sides[i]));
    target_int(&t, "limit", limit);
    TRY(ask(&t, "GET", NULL, &d));
    form_read(c->arena, &d, d.nodes, &form_comparison, out, NULL);
    return RAMET_OK;
}

ramet_status http_verdict_add(ramet_call *call, const ramet_side_in *sides, size_t n, int winner,
                              const char *reason, ramet_verdict **out)
{
    client_call *c = CALL(call);
    target t;
    body b;
    json_doc d;
    *out = NULL;
    target_init(&t, c, "/compare/verdict");
    body_init(&b);
    jw_key(&b.writer, "sides");
    jw_array(&b.writer);
    for (size_t i = 0; i < n; i++)
        jw_str(&b.writer, side_text(c, &sides[i]));
    jw_end_array(&b.writer);
    if (winner < 0)
        jw_kraw(&b.writer, "winner", "null");
    else
        jw_kint(&b.writer, "winner", winner);
    body_add(&b, "reason", reason);
    TRY(ask(&t, "POST", &b, &d));
    *out = answer_read(c, &d, &form_verdict);
    return RAMET_OK;
}

ramet_status http_verdicts(ramet_call *call, const char *session, int64_t before, int limit,
                           ramet_verdict **out, size_t *n, bool *more)
{
    target t;
    target_init(&t, CALL(call), "/compare/verdicts");
    target_add(&t, "session", session);
    target_int(&t, "cursor", before);
    target_int(&t, "limit", limit);
    return ASK_LIST(&t, form_verdict_list, out, n, more);
}

ramet_status http_search(ramet_call *call, const ramet_search_in *in, ramet_hits *out)
{
    client_call *c = CALL(call);
    target t;
    json_doc d;
    char since[TIME_TEXT], until[TIME_TEXT];
    *out = (ramet_hits){0};
    target_init(&t, c, "/search");
    target_add(&t, "q", in->query ? in->query : "");
    target_add(&t, "session", in->session);
    target_add(&t, "tree", in->tree);
    target_add(&t, "tag", in->tag);
    target_add(&t, "agent", in->agent);
    target_add(&t, "role", in->role ? ramet_role_name(in->role) : NULL);
    target_add(&t, "since", in->since ? time_text(in->since, since) : NULL);
    target_add(&t, "until", in->until ? time_text(in->until, until) : NULL);
    target_int(&t, "limit", in->limit);
    target_add(&t, "cursor", in->cursor);
    TRY(ask(&t, "GET", NULL, &d));
    TRY(answer_has(c, &d, "hits"));
    form_read(c->arena, &d, d.nodes, &form_hit_list, out, NULL);
    return RAMET_OK;
}

ramet_status http_state(ramet_call *call, const char *session, const char *entry_id,
                        const char **json)
{
    client_call *c = CALL(call);
    target t;
    json_doc d;
    *json = NULL;
    target_init(&t, c, "/sessions/%s/state", session);
    target_add(&t, "at", entry_id);
    TRY(ask(&t, "GET", NULL, &d));
    const json_node *state = json_get(&d, d.nodes, "state");
    *json = state ? json_raw(c->arena, &d, state) : "{}";
    return RAMET_OK;
}

ramet_status http_suggest(ramet_call *call, const char *session, int64_t branch,
                          ramet_suggestions *out)
{
    client_call *c = CALL(call);
    target t;
    json_doc d;
    *out = (ramet_suggestions){0};
    target_init(&t, c, "/sessions/%s/suggestions", session);
    target_branch(&t, "branch", branch);
    TRY(ask(&t, "GET", NULL, &d));
    form_read(c->arena, &d, d.nodes, &form_suggestions, out, NULL);
    return RAMET_OK;
}

ramet_status http_usage_get(ramet_call *call, const char *session, ramet_usage_out *out)
{
    client_call *c = CALL(call);
    target t;
    json_doc d;
    *out = (ramet_usage_out){0};
    target_init(&t, c, "/sessions/%s/usage", session);
    TRY(ask(&t, "GET", NULL, &d));
    form_read(c->arena, &d, d.nodes, &form_usage_report, out, NULL);
    return RAMET_OK;
}
