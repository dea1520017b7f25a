/* SPDX-License-Identifier: Apache-2.0
 *
 * merge.c: what a fork has come to goes back into another session: `_ramet/session/merge`, and the
 * end of `/land`. The next prompt of the session that was merged into finds that its inner session
 * holds another history, and makes one anew.
 */
#include "acp/own.h"

#include <string.h>

/* The target is recorded up to now, and no turn of it is under way. False: the flow is answered. */
static bool target_ready(proxy *p, flow *f, const char *target)
{
    session *t = session_outer(p, target);
    if (!t)
        return true; /* it is not open here: the store knows whether a turn runs */
    if (turn_asked(t->turn)) {
        flow_fail(p, f, JSONRPC_INVALID, "a turn is under way; cancel it first",
                  data_session(p, target));
        return false;
    }
    if (turn_end(p, t, NULL, NULL))
        return true;
    flow_store_fail(p, f, p->lib->ramet_call_error(p->call)->status);
    return false;
}

static const ramet_session *merge_do(proxy *p, flow *f, const char *target,
                                     const ramet_merge_in *in)
{
    ramet_merge_out out;
    if (!target_ready(p, f, target))
        return NULL;
    ramet_status rc = p->lib->ramet_merge(p->call, target, in, &out);
    if (rc != RAMET_OK) {
        flow_store_fail(p, f, rc);
        return NULL;
    }
    if (session_outer(p, target))
        info_send(p, out.session);
    return out.session;
}

void land_do(proxy *p, flow *f, const char *text)
{
    ramet_session *r;
    ramet_merge_in in = {.mode = RAMET_LAND, .from = f->outer, .text = text};
    ramet_status rc = p->lib->ramet_session_get(p->call, f->outer, &r);
    if (rc != RAMET_OK) {
        flow_store_fail(p, f, rc);
        return;
    }
    if (!r->parent_id) {
        command_say(p, f, "This conversation is no fork: there is nothing to land it in.\n");
        return;
    }
    const ramet_session *into = merge_do(p, f, r->parent_id, &in);
    if (into)
        command_say(p, f,
                    arena_printf(p->mem, "Landed in %s, which has %lld messages now.\n", into->id,
                                 (long long)into->head.length));
}

/* {sessionId, from, mode, messages?, text?}: into the session that is named. */
void merge_take(proxy *p, flow *f, const message *m)
{
    const char *mode = message_text(m, m->params, "mode");
    const json_node *list = message_at(m, m->params, "messages");
    ramet_merge_in in = {.from = message_text(m, m->params, "from"),
                         .text = message_text(m, m->params, "text")};
    int known = mode ? ramet_merge_mode_parse(mode) : -1;
    char branch[24];
    if (known < 0) {
        flow_fail(p, f, JSONRPC_PARAMS, "mode is fast_forward, splice, pick or land", NULL);
        return;
    }
    in.mode = (ramet_merge_mode)known;
    ramet_merge_pick *picks = arena_array(p->mem, list ? list->count + 1 : 1, sizeof *picks);
    for (const json_node *v = json_first(&m->doc, list); v; v = json_next(&m->doc, list, v))
        picks[in.n_picks++].entry_id = json_text(p->mem, &m->doc, v);
    in.picks = picks;
    const ramet_session *r = merge_do(p, f, f->outer, &in);
    if (r)
        flow_answer(p, f,
                    arena_printf(p->mem,
                                 "{\"sessionId\":%s,\"messageId\":%s,\"messages\":%lld,"
                                 "\"branch\":\"%s\"}",
                                 json_quote(p->mem, r->id), json_quote(p->mem, r->head.entry_id),
                                 (long long)r->head.length,
                                 ramet_branch_text(r->head.branch, branch)));
}
