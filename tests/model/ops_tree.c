/* SPDX-License-Identifier: Apache-2.0
 *
 * ops_tree.c: reads over several sessions: lists, lineage, compare, search, members; and upkeep.
 */
#include "driver.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------- lists */

/* Compares one page with what the model has below `below`, and remembers where to go on. */
static void list_compare(world *w, const ramet_session_list *got, const ramet_list_in *in)
{
    size_t n = 0, most = in->limit ? (size_t)in->limit : 50;
    bool more = false;
    for (size_t i = w->m.sessions.n; i-- > 0 && !world_failed(w);) {
        const m_session *s = w->m.sessions.items[i];
        if (s->created >= w->list_below || !m_listed(&w->m, s, w->user, in))
            continue;
        more = n == most;
        if (more)
            break;
        if (n == got->n) {
            world_fail(w, "list.n", "'%s' is missing after %zu", s->id, n);
            return;
        }
        if (in->deleted)
            same_time(w, "session.deleted_at", got->items[n].deleted_at,
                      s->deleted ? s->deleted_at : s->expires);
        same_session(w, &got->items[n++], s, w->user, false);
    }
    same_int(w, "list.n", (int64_t)got->n, (int64_t)n);
    same_int(w, "list.next_cursor", got->next_cursor != NULL, more);
    w->list_cursor[0] = 0;
    if (got->next_cursor && got->n) {
        snprintf(w->list_cursor, sizeof w->list_cursor, "%s", got->next_cursor);
        w->list_below = got->items[got->n - 1].created;
    }
}

void run_list(world *w, const op *o)
{
    const char *const *tags;
    size_t n_tags = content_tags(o->a[A_TAGS], &tags);
    const m_session *of = o->a[A_TREE] ? slot_session(w, o->a[A_S1]) : NULL;
    ramet_agent agent;
    content_agent(o->a[A_AGENT], &agent);
    ramet_list_in in = {.limit = limit_ref(o->a[A_LIM]),
                        .owner = o->a[A_OWNER] ? user_name(o->a[A_OWNER]) : NULL,
                        .agent = agent.name,
                        .tag = n_tags ? tags[0] : NULL,
                        .title = o->a[A_TITLE] == 1   ? "PLAN"
                                 : o->a[A_TITLE] == 2 ? "%"
                                 : o->a[A_TITLE] == 3 ? "birch"
                                                      : NULL,
                        .archived = (ramet_archived)o->a[A_ARCH],
                        .deleted = o->a[A_K] % 4 == 3,
                        .cursor = o->a[A_K] == 31 ? "no cursor" : NULL};
    if (of)
        snprintf(w->list_tree, sizeof w->list_tree, "%s", of->tree->id);
    in.tree = of ? w->list_tree : NULL;
    m_list normal = {0};
    m_set bad = in.limit < 0 || in.limit > 1000 ? M(INVALID) : 0;
    bad |= in.cursor ? M(BAD_CURSOR) : 0;
    bad |= in.tag ? m_tags_normal(&w->m, &in.tag, 1, &normal) : 0;
    bool any = false; /* a tree that the caller may see nothing of may as well not be there */
    for (size_t i = 0; of && i < of->tree->sessions.n; i++)
        any |= m_shown(&w->m, of->tree->sessions.items[i], w->user);
    ramet_session_list got = {0};
    w->list_cursor[0] = 0;
    ramet_status st = ramet_session_find(w->call, &in, &got);
    if (of && !any)
        bad = st ? bad | M(TREE_NOT_FOUND) : bad;
    world_judge(w, st, bad ? bad : M(OK));
    if (normal.n)
        in.tag = normal.items[0];
    free(normal.items);
    if (st || world_failed(w))
        return;
    w->list_in = in;
    w->list_below = INT64_MAX;
    w->list_user_no = o->a[A_U];
    list_compare(w, &got, &in);
}

void run_list_next(world *w, const op *o)
{
    if (!w->list_cursor[0])
        return;
    char cursor[sizeof w->list_cursor];
    memcpy(cursor, w->list_cursor, sizeof cursor);
    ramet_list_in in = w->list_in;
    in.cursor = cursor;
    if (o->a[A_K] % 4 == 3)
        in.limit = 2;
    w->user = user_name(w->list_user_no);
    ramet_call *c = ramet_call_new(w->r[0], w->user, w->client);
    ramet_session_list got = {0};
    ramet_status st = ramet_session_find(c, &in, &got);
    if (st)
        world_fail(w, "status", "%s: %s", ramet_status_code(st), ramet_call_error(c)->message);
    else
        list_compare(w, &got, &in);
    ramet_call_free(c);
}

/* ----------------------------------------------------------------- lineage */

static bool session_above(const m_session *top, const m_session *s)
{
    for (s = s->parent; s; s = s->parent)
        if (s == top)
            return true;
    return false;
}

/* Whether a place must be held for a deleted session: something below it is there to be seen. */
static bool place_needed(const world *w, const m_session *s)
{
    for (size_t i = 0; i < s->tree->sessions.n; i++) {
        const m_session *k = s->tree->sessions.items[i];
        if (session_above(s, k) && m_shown(&w->m, k, w->user))
            return true;
    }
    return false;
}

/* Which session of the tree an item is; place holders may have kept their id or not. */
static m_session *item_find(const world *w, const m_tree *t, const ramet_session *got,
                            const m_list *seen)
{
    for (size_t i = 0; got->deleted && m_same(got->id, NULL) && i < t->sessions.n; i++) {
        m_session *s = t->sessions.items[i];
        bool known = false;
        for (size_t k = 0; k < seen->n; k++)
            known |= seen->items[k] == s;
        if (s->purged && !known && m_depth(s) == got->depth && place_needed(w, s))
            return s;
    }
    for (size_t i = t->sessions.n; i-- > 0;) {
        m_session *s = t->sessions.items[i];
        if (got->id && strcmp(s->id, got->id) == 0 && s->created == got->created)
            return s;
    }
    for (size_t i = t->sessions.n; i-- > 0;) {
        m_session *s = t->sessions.items[i];
        if (got->id && strcmp(s->id, got->id) == 0)
            return s;
    }
    return NULL;
}

static void item_compare(world *w, const ramet_session *got, const m_session *s, bool light)
{
    if (!m_visible(s, w->user) && !s->purged) {
        world_fail(w, "hidden session", "'%s' is shown", s->id);
        return;
    }
    same_int(w, "session.deleted", got->deleted, m_gone(&w->m, s));
    same_int(w, "session.depth", got->depth, m_depth(s));
    if (!m_gone(&w->m, s))
        same_session(w, got, s, w->user, light);
    else
        same_text(w, "place holder's title", got->title, "");
}

void run_ancestry(world *w, const op *o)
{
    const char *id = slot_id(w, o->a[A_S]);
    m_session *s;
    ramet_session *got = NULL;
    size_t n = 0;
    m_list want = {0};
    m_set bad = m_open(&w->m, w->user, id, RAMET_READER, &s);
    ramet_status st = ramet_ancestry(w->call, id, &got, &n);
    world_judge(w, st, bad ? bad : M(OK));
    if (st == RAMET_OK && !world_failed(w)) {
        for (m_session *k = s; k; k = k->parent)
            if (m_visible(k, w->user))
                m_list_add(&want, k);
        size_t at = 0;
        for (size_t i = want.n; i-- > 0 && !world_failed(w);) {
            const m_session *k = want.items[i];
            bool holder = at < n && got[at].deleted && m_same(got[at].id, NULL);
            if (k->purged && w->user && !(holder && got[at].depth == m_depth(k)))
                continue; /* a tombstone need not tell whose it was */
            if (at < n)
                item_compare(w, &got[at], k, false);
            at++;
        }
        same_int(w, "ancestry.n", (int64_t)n, (int64_t)at);
    }
    free(want.items);
}

void run_children(world *w, const op *o)
{
    const char *id = slot_id(w, o->a[A_S]);
    m_session *s;
    ramet_session *got = NULL;
    size_t n = 0, k = 0;
    m_set bad = m_open(&w->m, w->user, id, RAMET_READER, &s);
    ramet_status st = ramet_children(w->call, id, &got, &n);
    world_judge(w, st, bad ? bad : M(OK));
    if (st || world_failed(w))
        return;
    for (size_t i = 0; i < s->tree->sessions.n && !world_failed(w); i++) {
        const m_session *c = s->tree->sessions.items[i];
        if (c->parent != s || !m_shown(&w->m, c, w->user))
            continue;
        if (k < n)
            same_session(w, &got[k], c, w->user, false);
        k++;
    }
    same_int(w, "children.n", (int64_t)n, (int64_t)k);
}

/* The path of a node names what the caller may see of its ancestors, itself last. */
static void path_compare(world *w, const ramet_session *got, const m_session *s)
{
    if (!got->n_path || strcmp(got->path[got->n_path - 1], s->id) != 0 || got->n_path > 64) {
        world_fail(w, "tree.path", "it does not end with '%s'", s->id);
        return;
    }
    size_t at = got->n_path - 1;
    for (const m_session *k = s->parent; k; k = k->parent) {
        bool named = at > 0 && got->path[at - 1] && strcmp(got->path[at - 1], k->id) == 0;
        if (named && !m_visible(k, w->user))
            world_fail(w, "tree.path", "it names '%s', which is hidden", k->id);
        if (!named && m_shown(&w->m, k, w->user) && got->n_path < 64)
            world_fail(w, "tree.path", "'%s' is missing in that of '%s'", k->id, s->id);
        at -= named;
        if (at == 0)
            break;
    }
    if (at > 0)
        world_fail(w, "tree.path", "'%s' of '%s' is no ancestor", got->path[at - 1], s->id);
}

/* Parents come before their forks, forks of one parent oldest first. Which tombstone is which
 * cannot be told. */
static void tree_order(world *w, const m_list *seen)
{
    for (size_t i = 0; i < seen->n; i++) {
        const m_session *s = seen->items[i];
        for (size_t k = i + 1; k < seen->n && seen->n < 400; k++) {
            const m_session *later = seen->items[k];
            if (s->purged || later->purged)
                continue;
            if (s->parent == later || (s->parent == later->parent && later->created < s->created))
                world_fail(w, "tree.order", "'%s' comes before '%s'", s->id, later->id);
        }
    }
}

static void tree_read(world *w, const char *id, bool light)
{
    m_session *s;
    ramet_session *got = NULL;
    size_t n = 0;
    m_list seen = {0};
    m_set bad = m_open(&w->m, w->user, id, RAMET_READER, &s);
    ramet_status st = ramet_tree(w->call, id, light, &got, &n);
    world_judge(w, st, bad ? bad : M(OK));
    for (size_t i = 0; st == RAMET_OK && i < n && !world_failed(w); i++) {
        m_session *k = item_find(w, s->tree, &got[i], &seen);
        if (!k) {
            world_fail(w, "tree.id", "'%s' is not in the tree", got[i].id ? got[i].id : "");
            break;
        }
        item_compare(w, &got[i], k, light);
        if (!m_gone(&w->m, k))
            path_compare(w, &got[i], k);
        m_list_add(&seen, k);
    }
    for (size_t i = 0; st == RAMET_OK && i < s->tree->sessions.n && !world_failed(w); i++) {
        const m_session *k = s->tree->sessions.items[i];
        size_t times = 0;
        for (size_t j = 0; j < seen.n; j++)
            times += seen.items[j] == k;
        bool gone = m_gone(&w->m, k);
        bool held = gone && place_needed(w, k) && !(k->purged && w->user);
        if (times > 1 || (!times && m_visible(k, w->user) && (!gone || held)))
            world_fail(w, "tree.n", "'%s' is there %zu times", k->id, times);
    }
    if (!world_failed(w))
        tree_order(w, &seen);
    free(seen.items);
}

void run_tree(world *w, const op *o)
{
    tree_read(w, slot_id(w, o->a[A_S]), o->a[A_TREE]);
}

static m_branch *branch_any(const world *w, int64_t id)
{
    for (size_t i = 0; i < w->m.branches.n; i++)
        if (((m_branch *)w->m.branches.items[i])->id == id)
            return w->m.branches.items[i];
    return NULL;
}

/* Whether b leaves the present path of s, as the caller may see it, and where: a branch of the
 * session itself by its first entry that is not on the path, a fork by its first branch. */
static bool branch_leaves(const world *w, const m_session *s, const m_branch *b, size_t *at)
{
    const m_session *k = b->session;
    size_t shared = m_branches_shared(b, s->head);
    if (b->log != RAMET_LOG_MAIN || b == s->head || (k == s && b->pruned))
        return false;
    if (k == s) {
        *at = shared;
        return b->n > shared && b->path[shared]->owner == b;
    }
    *at = (size_t)b->base;
    bool on_path = shared > *at && b->path[*at]->owner == b;
    return k->is_fork && k->first == b && m_shown(&w->m, k, w->user) && shared >= *at && !on_path;
}

static void fork_point_compare(world *w, const ramet_fork_point *got, const m_session *s)
{
    size_t at = 0;
    const m_branch *b = branch_any(w, got->branch);
    if (!b || !branch_leaves(w, s, b, &at)) {
        world_fail(w, "fork_point.branch", "b%" PRId64 " does not leave the path", got->branch);
        return;
    }
    same_text(w, "fork_point.session", got->session, b->session == s ? NULL : b->session->id);
    same_int(w, "fork_point.position", got->position, (int64_t)at);
    same_text(w, "fork_point.entry_id", got->entry_id, at ? s->head->path[at - 1]->id : NULL);
}

void run_fork_points(world *w, const op *o)
{
    const char *id = slot_id(w, o->a[A_S]);
    m_session *s;
    ramet_fork_point *got = NULL;
    size_t n = 0, want = 0, at;
    m_set bad = m_open(&w->m, w->user, id, RAMET_READER, &s);
    ramet_status st = ramet_fork_points(w->call, id, &got, &n);
    world_judge(w, st, bad ? bad : M(OK));
    if (st || world_failed(w))
        return;
    for (size_t i = 0; i < n; i++) {
        fork_point_compare(w, &got[i], s);
        if (i && got[i].position < got[i - 1].position)
            world_fail(w, "fork_points.order", "not by position");
    }
    for (size_t i = 0; i < s->tree->sessions.n; i++) {
        const m_session *k = s->tree->sessions.items[i];
        for (size_t j = 0; j < k->branches.n; j++)
            want += branch_leaves(w, s, k->branches.items[j], &at);
    }
    same_int(w, "fork_points.n", (int64_t)n, (int64_t)want);
}

/* ----------------------------------------------------------------- compare */

typedef struct sides {
    ramet_side_in in[3];
    m_session *s[3];
    m_branch *b[3];
    size_t n;
} sides;

static m_set sides_open(world *w, const op *o, ramet_level need, sides *out)
{
    int32_t slots[] = {o->a[A_S], o->a[A_S1], o->a[A_S2] - 1};
    int32_t refs[] = {o->a[A_BR], o->a[A_B1], 0};
    m_set bad = 0;
    out->n = slots[2] >= 0 ? 3 : 2;
    for (size_t i = 0; i < out->n; i++) {
        m_session *s = slot_session(w, slots[i]);
        out->in[i].session = slot_id(w, slots[i]);
        out->in[i].branch = branch_ref(w, s, RAMET_LOG_MAIN, refs[i]);
        bad |= m_open(&w->m, w->user, out->in[i].session, need, &out->s[i]);
        out->b[i] = out->s[i] ? m_branch_find(out->s[i], RAMET_LOG_MAIN, out->in[i].branch) : NULL;
        if (out->s[i] && !out->b[i])
            bad |= m_branch_missing(out->s[i], RAMET_LOG_MAIN, out->in[i].branch);
    }
    return bad;
}

static void side_compare(world *w, const ramet_compare_side *got, const m_session *s,
                         const m_branch *b, size_t shared, size_t most)
{
    m_sum usage = {0};
    size_t own = b->n - shared, n = own < most ? own : most;
    same_text(w, "side.session", got->session, s->id);
    same_int(w, "side.branch", got->branch, b->id);
    same_head(w, "side.head", &got->head, b);
    same_int(w, "side.own", got->own, (int64_t)own);
    same_int(w, "side.n", (int64_t)got->n, (int64_t)n);
    same_text(w, "side.agent", got->agent.name, s->agent_name);
    for (size_t i = 0; i < n && i < got->n; i++)
        same_entry(w, &got->entries[i], b->path[shared + i], s, b, got->entries[i].versions != 0);
    for (size_t i = shared; i < b->n; i++)
        m_sum_add(&usage, b->path[i]);
    same_sum(w, "side", &got->usage, &usage);
    same_time(w, "side.first", got->first, own ? b->path[shared]->created : 0);
    same_time(w, "side.last", got->last, own ? b->path[b->n - 1]->created : 0);
}

void run_compare(world *w, const op *o)
{
    sides k = {0};
    ramet_compare_out got = {0};
    int limit = limit_ref(o->a[A_LIM]);
    m_set bad = sides_open(w, o, RAMET_READER, &k);
    bad |= limit < 0 || limit > 1000 ? M(INVALID) : 0;
    ramet_status st = ramet_compare(w->call, k.in, k.n, limit, &got);
    world_judge(w, st, bad ? bad : M(OK));
    if (st || world_failed(w))
        return;
    size_t shared = k.b[0]->n;
    for (size_t i = 1; i < k.n; i++) {
        size_t with = m_branches_shared(k.b[0], k.b[i]);
        shared = with < shared ? with : shared;
    }
    same_int(w, "compare.shared", got.shared, (int64_t)shared);
    same_int(w, "compare.n", (int64_t)got.n, (int64_t)k.n);
    for (size_t i = 0; i < k.n && !world_failed(w); i++) {
        side_compare(w, &got.sides[i], k.s[i], k.b[i], shared, limit ? (size_t)limit : 100);
        int64_t at = 0;
        for (size_t t = 0; t < got.n_turns; t++) {
            int64_t from = got.turns[t].side[i].from, to = got.turns[t].side[i].to;
            if (from != to)
                same_int(w, "compare.turns", from, at);
            at = from != to ? to : at;
        }
        same_int(w, "compare.turns", at, (int64_t)got.sides[i].n);
    }
}

static void verdict_compare(world *w, const ramet_verdict *got, const m_verdict *v)
{
    same_int(w, "verdict.number", got->number, v->number);
    same_int(w, "verdict.n", (int64_t)got->n, (int64_t)v->n);
    for (size_t i = 0; i < v->n && i < got->n; i++) {
        same_text(w, "verdict.session", got->sides[i].session, v->side[i]->id);
        same_int(w, "verdict.branch", got->sides[i].branch, v->branch[i]->id);
    }
    same_int(w, "verdict.winner", got->winner, v->winner);
    same_text(w, "verdict.reason", got->reason, v->reason);
    same_text(w, "verdict.who", got->who, v->who);
}

void run_verdict(world *w, const op *o)
{
    sides k = {0};
    ramet_verdict *got = NULL;
    const char *reason = content_reason(o->a[A_REASON]);
    int winner = o->a[A_WIN] - 1;
    m_set bad = sides_open(w, o, RAMET_WRITER, &k) | m_text_check(&w->m, NULL, reason);
    for (size_t i = 0; i < k.n; i++)
        if (k.s[0] && k.s[i] && k.s[i]->tree != k.s[0]->tree)
            bad |= M(INVALID);
    if (winner >= (int)k.n)
        bad |= M(INVALID);
    ramet_status st = ramet_verdict_add(w->call, k.in, k.n, winner, reason, &got);
    world_judge(w, st, bad ? bad : M(OK));
    if (st || world_failed(w))
        return;
    m_verdict *v = model_alloc(&w->m, sizeof *v);
    v->number = got->number;
    v->n = k.n;
    v->winner = winner;
    v->reason = model_text(&w->m, reason);
    v->who = model_text(&w->m, w->user);
    for (size_t i = 0; i < k.n; i++) {
        v->side[i] = k.s[i];
        v->branch[i] = k.b[i];
    }
    m_list_add(&w->m.verdicts, v);
    verdict_compare(w, got, v);
}

/* Whether the caller may see every side of it; *names: whether s is one. */
static bool verdict_shown(const world *w, const m_verdict *v, const m_session *s, bool *names)
{
    bool shown = true;
    *names = !s;
    for (size_t i = 0; i < v->n; i++) {
        shown &= m_shown(&w->m, v->side[i], w->user);
        *names |= v->side[i] == s;
    }
    return shown;
}

void run_verdicts(world *w, const op *o)
{
    m_session *s = NULL;
    const char *id = o->a[A_TREE] ? NULL : slot_id(w, o->a[A_S]);
    int limit = limit_ref(o->a[A_LIM]);
    int64_t before = o->a[A_K];
    ramet_verdict *got = NULL;
    size_t n = 0, k = 0, most = limit > 0 ? (size_t)limit : 50;
    bool more = false, names;
    m_set bad = id ? m_open(&w->m, w->user, id, RAMET_READER, &s) : 0;
    if (limit < 0 || limit > 1000)
        bad |= M(INVALID);
    ramet_status st = ramet_verdicts(w->call, id, before, limit, &got, &n, &more);
    world_judge(w, st, bad ? bad : M(OK));
    if (st || world_failed(w))
        return;
    for (size_t i = w->m.verdicts.n; i-- > 0 && !world_failed(w);) {
        const m_verdict *v = w->m.verdicts.items[i];
        if (!verdict_shown(w, v, s, &names) || !names || (before && v->number >= before))
            continue;
        if (k == most) {
            same_int(w, "verdicts.more", more, true);
            return;
        }
        if (k == n) {
            world_fail(w, "verdicts.n", "number %" PRId64 " is missing", v->number);
            return;
        }
        verdict_compare(w, &got[k++], v);
    }
    same_int(w, "verdicts.n", (int64_t)n, (int64_t)k);
}

/* ----------------------------------------------------------------- members */

void run_members(world *w, const op *o)
{
    const char *id = slot_id(w, o->a[A_S]);
    m_session *s;
    ramet_member *got = NULL;
    size_t n = 0;
    m_set bad = m_open(&w->m, w->user, id, RAMET_READER, &s);
    if (s && m_tree_level(s->tree, w->user) < RAMET_READER)
        bad |= M(FORBIDDEN);
    ramet_status st = ramet_members(w->call, id, &got, &n);
    world_judge(w, st, bad ? bad : M(OK));
    if (st || world_failed(w))
        return;
    same_int(w, "members.n", (int64_t)n, (int64_t)s->tree->members.n);
    for (size_t i = 0; i < n; i++)
        same_int(w, got[i].user, (int64_t)got[i].level,
                 (int64_t)m_tree_level(s->tree, got[i].user));
}

void run_tags_all(world *w, const op *o)
{
    (void)o;
    ramet_tag_count *got = NULL;
    size_t n = 0;
    int64_t sum = 0;
    world_judge(w, ramet_tags_all(w->call, &got, &n), M(OK));
    for (size_t i = 0; i < n && !world_failed(w); i++) {
        int64_t count = 0;
        ramet_list_in in = {.tag = got[i].tag, .archived = RAMET_ARCHIVED_INCLUDE};
        for (size_t k = 0; k < w->m.sessions.n; k++)
            count += m_listed(&w->m, w->m.sessions.items[k], w->user, &in);
        same_int(w, "tags_all.sessions", got[i].sessions, count);
        sum -= got[i].sessions;
        if (i && strcmp(got[i - 1].tag, got[i].tag) >= 0)
            world_fail(w, "tags_all.order", "'%s' is not after '%s'", got[i].tag, got[i - 1].tag);
    }
    for (size_t k = 0; k < w->m.sessions.n; k++) {
        const m_session *s = w->m.sessions.items[k];
        sum += m_shown(&w->m, s, w->user) ? (int64_t)s->tags.n : 0;
    }
    same_int(w, "tags_all.missing", sum, 0);
}
