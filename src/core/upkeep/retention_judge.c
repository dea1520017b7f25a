/* SPDX-License-Identifier: Apache-2.0
 *
 * What the rules of retention say about one session, and why.
 */
#include "core/upkeep/retention.h"

#include "core/access/hold.h"
#include "core/call.h"
#include "core/model/branch.h"
#include "core/model/reach.h"
#include "core/session/session_open.h"
#include "core/txn.h"
#include "core/upkeep/gc.h"

#include <string.h>

#define MAX_NEEDED 100

/* --------------------------------------------------------------------- rules */

static const char *span_text(arena *a, int64_t us)
{
    static const struct {
        int64_t seconds;
        const char *name;
    } units[] = {{86400, "day"}, {3600, "hour"}, {60, "minute"}, {1, "second"}};
    size_t i = 0;
    while (i < 3 && us < units[i].seconds * 1000000)
        i++;
    long long n = us / (units[i].seconds * 1000000);
    return arena_printf(a, "%lld %s%s", n, units[i].name, n == 1 ? "" : "s");
}

static bool has_tag(txn *tx, const session_full *s, const char *tag)
{
    db_stmt *q = db_query(tx->db, Q_tag_has);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    q_text(q, 3, tag);
    bool yes = q_row(q);
    q_end(q);
    return yes;
}

/* When a session last changed: as ramet_session.updated. */
static int64_t last_change(txn *tx, const session_full *s)
{
    branch_row b;
    int64_t at = s->updated;
    if (branch_load(tx, s->tree, s->head, &b) && b.touched > at)
        at = b.touched;
    if (s->adk && branch_load(tx, s->tree, s->adk, &b) && b.touched > at)
        at = b.touched;
    return at;
}

static int64_t age_of(txn *tx, const session_full *s, ramet_since since)
{
    switch (since) {
    case RAMET_SINCE_CREATED:
        return tx->now - s->created;
    case RAMET_SINCE_ARCHIVED:
        /* 1: archived before the time was recorded. */
        if (s->archived > 1)
            return tx->now - archive_time(s->archived);
        break;
    case RAMET_SINCE_UPDATED:
        break;
    }
    return tx->now - last_change(tx, s);
}

static bool fits(ramet_condition want, bool is)
{
    return want == RAMET_EITHER || (want == RAMET_ONLY) == is;
}

/* Whether a rule matches a session; what needs no look into the store comes first. If it does not
 * and `why` is given, it says why. */
static bool rule_matches(txn *tx, const ramet_rule *r, const session_full *s, const char **why)
{
    const char *reason = NULL;
    if (s->visibility == RAMET_PRIVATE && !r->private_too)
        reason = "it is private, and the rule leaves private sessions alone";
    else if (!fits(r->archived, s->archived != 0))
        reason = s->archived ? "it is archived" : "it is not archived";
    else if (r->since == RAMET_SINCE_ARCHIVED && !s->archived)
        reason = "it is not archived";
    else if (!fits(r->ephemeral, s->expires != 0))
        reason = s->expires ? "it is ephemeral" : "it is not ephemeral";
    else if (r->agent && (!s->agent || strcmp(r->agent, s->agent) != 0))
        reason = why ? arena_printf(tx->arena, "its agent is %s, not %s",
                                    s->agent ? s->agent : "none", r->agent)
                     : "";
    else if (tx->now - s->created < r->age_us && !why)
        reason = ""; /* whatever its age counts from, it is not older than the session */
    else if (r->tag && !has_tag(tx, s, r->tag))
        reason = why ? arena_printf(tx->arena, "it does not have the tag %s", r->tag) : "";
    else if (r->age_us) {
        int64_t age = age_of(tx, s, r->since);
        if (age < r->age_us)
            reason = why ? arena_printf(tx->arena, "it was %s %s ago, and the rule asks for %s",
                                        ramet_since_name(r->since),
                                        span_text(tx->arena, age < 0 ? 0 : age),
                                        span_text(tx->arena, r->age_us))
                         : "";
    }
    if (why)
        *why = reason ? reason : "everything that it asks for holds";
    return !reason;
}

/* A pin is the tag of that name. */
static bool session_pinned(txn *tx, const session_full *s)
{
    return has_tag(tx, s, RAMET_PINNED);
}

static bool is_template(txn *tx, const session_full *s)
{
    db_stmt *q = db_query(tx->db, Q_template_count);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    bool yes = q_row(q) && q_col_int(q, 0) > 0;
    q_end(q);
    return yes;
}

static bool turn_runs(txn *tx, const session_full *s)
{
    db_stmt *q = db_query(tx->db, Q_turn_in_session);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    bool yes = q_row(q);
    q_end(q);
    return yes;
}

judgement session_judge(txn *tx, const session_full *s, const ramet_retention *rules)
{
    judgement out = {0};
    tree_holds holds;
    for (size_t i = 0; i < rules->n && !out.rule; i++)
        if (rule_matches(tx, &rules->rules[i], s, NULL))
            out.rule = &rules->rules[i];
    if (!out.rule) {
        out.kept = "no rule matches it";
        return out;
    }
    holds_load(tx, tx->arena, s->tree, &holds);
    if (holds_have(&holds, s->no))
        out.kept = holds.sessions[0] == 0 ? "its tree is on hold" : "it is on hold";
    else if (session_pinned(tx, s))
        out.kept = "it is pinned";
    else if (is_template(tx, s))
        out.kept = "chats are made from it: it is a template";
    else if (turn_runs(tx, s))
        out.kept = "a turn is running in it";
    return out;
}

int64_t session_own_entries(txn *tx, const session_access *s)
{
    branch_row *own;
    size_t n;
    int64_t entries = 0;
    branches_of(tx, s, &own, &n);
    for (size_t i = 0; i < n; i++)
        entries += own[i].len - own[i].meta.base;
    return entries;
}

/* ------------------------------------------------------------------- explain */

typedef VEC(int64_t) numbers;

/* Loads the tree as gc will see it once this session is gone, too. What is on hold stays. */
static void tree_load(txn *tx, const session_full *s, reach_tree *t)
{
    reach_load(tx, tx->arena, s->tree, t);
    for (size_t i = 0; i < t->n_sessions; i++) {
        reach_session *x = &t->sessions[i];
        session_access access = {.deleted = x->deleted, .expires = x->expires};
        x->dead = x->no == s->no || x->purging || (!x->on_hold && session_gone(tx, &access));
    }
    for (size_t i = 0; i < t->n_branches; i++) {
        reach_branch *b = &t->branches[i];
        b->out = b->note && (b->note->state >= NOTE_TAKING ||
                             (b->note->state == NOTE_PRUNED && !b->of->on_hold));
    }
    reach_find(t, NULL, NULL);
}

static void needed_name(txn *tx, int64_t tree, int64_t no, ramet_needed_by *out)
{
    session_full s;
    if (session_by_no(tx, tree, no, &s) && s.id && session_visible(tx, &s.access))
        out->session = s.id;
}

/* Which other sessions keep entries of this one: those with a branch below one of its own. */
static void needed_load(txn *tx, const session_full *s, ramet_explanation *out)
{
    VEC(ramet_needed_by) found = {0};
    numbers names = {0};
    reach_tree t;
    tree_load(tx, s, &t);
    for (size_t i = 0; i < t.n_branches && db_status(tx->db) == RAMET_OK; i++) {
        const reach_branch *own = &t.branches[i];
        if (own->session != s->no || own->need <= own->base)
            continue;
        db_stmt *q = db_query(tx->db, Q_branch_heirs);
        q_int(q, 1, s->tree);
        q_int(q, 2, own->id);
        while (q_row(q)) {
            int64_t no = q_col_int(q, 0), reach = q_col_int(q, 1);
            const reach_session *heir = reach_session_at(&t, no);
            if (!heir || heir->dead)
                continue;
            /* A path that was pruned may reach further than anything that is needed. */
            ramet_needed_by by = {NULL, own->id, own->base + 1,
                                  reach < own->need ? reach : own->need};
            if (out->n_needed_all++ < MAX_NEEDED) {
                VEC_PUSH(tx->arena, &found, by);
                VEC_PUSH(tx->arena, &names, no);
            }
        }
    }
    for (size_t i = 0; i < found.n; i++)
        needed_name(tx, s->tree, names.items[i], &found.items[i]);
    out->needed = found.items;
    out->n_needed = found.n;
}

static ramet_status explain_run(txn *tx, const char *id, ramet_explanation **out)
{
    session_full s;
    ramet_retention rules;
    ramet_explanation *e = arena_alloc(tx->arena, sizeof *e);
    TRY(session_open(tx, id, NEED_MANAGE, &s));
    retention_load(tx, &rules);
    judgement j = session_judge(tx, &s, &rules);
    *e = (ramet_explanation){.session = s.id,
                             .goes = !j.kept,
                             .rule = j.rule ? j.rule->name : NULL,
                             .kept = j.kept,
                             .n = rules.n,
                             .rules = arena_array(tx->arena, rules.n, sizeof *e->rules),
                             .entries = session_own_entries(tx, &s.access),
                             .freed = gc_would_take(tx, s.tree, &s.no, 1)};
    for (size_t i = 0; i < rules.n; i++) {
        ramet_rule_verdict *v = &e->rules[i];
        v->rule = rules.rules[i].name;
        v->matches = rule_matches(tx, &rules.rules[i], &s, &v->why);
    }
    needed_load(tx, &s, e);
    *out = e;
    return txn_status(tx);
}

ramet_status ramet_retention_explain(ramet_call *c, const char *session, ramet_explanation **out)
{
    txn tx;
    *out = NULL;
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_explanation *made = NULL;
    ramet_status st = txn_done(&tx, explain_run(&tx, session, &made));
    if (st == RAMET_OK)
        *out = made;
    return st;
}
