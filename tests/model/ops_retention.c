/* SPDX-License-Identifier: Apache-2.0
 *
 * ops_retention.c: holds, and runs of a rule.
 */
#include "content.h"
#include "driver.h"
#include "via.h"

#include <string.h>

#define HOUR_US INT64_C(3600000000)

void run_hold(world *w, const op *o)
{
    const char *id = slot_id(w, o->a[A_S]);
    ramet_hold_in in = {.tree = o->a[A_TREE], .reason = "evidence"};
    ramet_hold *got = NULL;
    w->m.got = ramet_hold_set(w->call, id, &in, &got);
    world_judge(w, w->m.got, model_hold(&w->m, w->user, id, in.tree, true));
    if (w->m.got != RAMET_OK || world_failed(w))
        return;
    same_int(w, "hold.administrator", got->administrator, !w->user);
    same_text(w, "hold.session", got->session ? got->session : "", in.tree ? "" : id);
    same_text(w, "hold.reason", got->reason, "evidence");
}

void run_release(world *w, const op *o)
{
    const char *id = slot_id(w, o->a[A_S]);
    bool tree = o->a[A_TREE];
    w->m.got = ramet_hold_release(w->call, id, &(ramet_hold_in){.tree = tree});
    world_judge(w, w->m.got, model_hold(&w->m, w->user, id, tree, false));
}

/* Every session of the answer is one that the rule takes, and all of them are there. */
static void removals_compare(world *w, const ramet_rule *rule, const ramet_retention_out *out)
{
    int64_t n = 0;
    for (size_t i = 0; i < w->m.sessions.n; i++)
        n += m_rule_takes(&w->m, rule, w->m.sessions.items[i]);
    same_int(w, "retention.sessions", out->sessions, n);
    for (size_t i = 0; i < out->n && !world_failed(w); i++) {
        const m_session *s = model_find(&w->m, out->removals[i].session);
        if (!s || !m_rule_takes(&w->m, rule, s)) {
            world_fail(w, "retention", "'%s' should stay", out->removals[i].session);
            return;
        }
        int64_t own = 0;
        for (size_t k = 0; k < s->branches.n; k++)
            own += (int64_t)((m_branch *)s->branches.items[k])->n -
                   ((m_branch *)s->branches.items[k])->base;
        same_int(w, "retention.entries", out->removals[i].entries, own);
    }
}

static ramet_rule rule_of(const op *o)
{
    const char *const *tags;
    ramet_agent agent;
    size_t n = content_tags(1, &tags);
    content_agent(1, &agent);
    return (ramet_rule){.name = "rule",
                        .age_us = 1 + o->a[A_K] * HOUR_US,
                        .since = RAMET_SINCE_CREATED,
                        .tag = n && o->a[A_TAGS] == 1 ? tags[0] : NULL,
                        .agent = o->a[A_AGENT] == 1 ? agent.name : NULL,
                        .archived = (ramet_condition)o->a[A_ARCH],
                        .ephemeral = o->a[A_EPH] ? RAMET_ONLY : RAMET_EITHER,
                        .private_too = o->a[A_PRIVATE] == 1};
}

void run_retention(world *w, const op *o)
{
    ramet_rule rule = rule_of(o);
    ramet_retention_in in = {.rules = &rule, .n = 1};
    ramet_retention *kept;
    ramet_retention_out out = {0};
    ramet_status st = ramet_retention_set(w->call, &in, &kept);
    world_judge(w, st, w->user ? M(FORBIDDEN) : M(OK));
    if (st || world_failed(w))
        return;
    rule.tag = kept->rules[0].tag; /* in its normal form */
    st = ramet_retention_run(w->call, &(ramet_retention_run_in){.dry_run = true}, NULL, NULL, &out);
    world_judge(w, st, M(OK));
    removals_compare(w, &rule, &out);
    if (o->a[A_DRY] || world_failed(w))
        return;
    st = ramet_retention_run(w->call, &(ramet_retention_run_in){0}, NULL, NULL, &out);
    world_judge(w, st, M(OK));
    removals_compare(w, &rule, &out);
    for (size_t i = 0; i < w->m.sessions.n && !world_failed(w); i++)
        if (m_rule_takes(&w->m, &rule, w->m.sessions.items[i]))
            model_rule_take(&w->m, w->m.sessions.items[i]);
}
