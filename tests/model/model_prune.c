/* SPDX-License-Identifier: Apache-2.0
 *
 * model_prune.c: pruned branches, names of branches and the favourite of a session.
 *
 * How the documents are read where they leave room:
 *  - What a prune takes of a branch are the entries that it owns and that are not on the path of
 *    the head. It is refused if one of them is on the path of another branch that stands, or if a
 *    session was forked behind it. Sessions that can be restored still stand.
 *  - `others` looks at branches from the end of the histories on: one that stays needs what is
 *    below it.
 *  - An adk branch goes along if it was a head beside pruned branches of main only.
 *  - Where a pruned branch begins to be hidden is found again by every prune and restore of its
 *    tree, and by nothing else.
 */
#include "model.h"

#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------- what is reached */

static bool is_first(const m_branch *b)
{
    for (size_t i = 0; i < b->session->branches.n; i++) {
        const m_branch *k = b->session->branches.items[i];
        if (k->log == b->log)
            return k == b;
    }
    return false;
}

void m_branch_mark(const model *m, const m_branch *b, bool whole, int64_t *count)
{
    size_t n = whole ? b->n : is_first(b) ? (size_t)b->base : 0;
    for (size_t i = 0; i < n; i++)
        if (b->path[i]->mark != m->marks) {
            b->path[i]->mark = m->marks;
            ++*count;
        }
}

/* Marks what the branches of a tree that stand reach. */
static void tree_mark(model *m, const m_tree *t)
{
    int64_t count = 0;
    m->marks++;
    for (size_t i = 0; i < t->sessions.n; i++) {
        const m_session *s = t->sessions.items[i];
        for (size_t k = 0; !s->purged && k < s->branches.n; k++) {
            const m_branch *b = s->branches.items[k];
            m_branch_mark(m, b, !b->pruned, &count);
        }
    }
}

static int64_t tree_free(model *m, const m_tree *t)
{
    int64_t n = 0;
    tree_mark(m, t);
    for (size_t i = 0; i < m->entries.n; i++) {
        const m_entry *e = m->entries.items[i];
        n += e->by->tree == t && !e->gone && e->mark != m->marks;
    }
    return n;
}

/* Whether something else needs what a branch, which is taken for pruned, would lose. */
static bool is_needed(model *m, const m_branch *b)
{
    const m_branch *head = b->log == RAMET_LOG_MAIN ? b->session->head : b->session->adk;
    tree_mark(m, b->session->tree);
    for (size_t i = (size_t)b->base; i < b->n; i++) {
        bool on_head = head && head->n > i && head->path[i] == b->path[i];
        if (!on_head && b->path[i]->mark == m->marks)
            return true;
    }
    return false;
}

static void keeps_find(model *m, const m_tree *t)
{
    tree_mark(m, t);
    for (size_t i = 0; i < t->sessions.n; i++) {
        const m_session *s = t->sessions.items[i];
        for (size_t k = 0; k < s->branches.n; k++) {
            m_branch *b = s->branches.items[k];
            b->keep = b->base;
            for (size_t p = (size_t)b->base; p < b->n; p++)
                if (b->path[p]->mark == m->marks)
                    b->keep = (int64_t)p + 1;
        }
    }
}

bool m_hidden(const m_entry *e)
{
    return e->gone || (e->owner->pruned && e->position >= e->owner->keep);
}

m_set m_branch_missing(m_session *s, ramet_log log, int64_t id)
{
    for (size_t i = 0; i < s->branches.n; i++) {
        const m_branch *b = s->branches.items[i];
        if (id && b->id == id && b->log == log && b->pruned)
            return M(BRANCH_PRUNED);
    }
    return M(BRANCH_NOT_FOUND);
}

/* --------------------------------------------------------------------- prune */

static int down_order(const void *a, const void *b)
{
    const m_branch *x = *(m_branch *const *)a, *y = *(m_branch *const *)b;
    return (x->base < y->base) - (x->base > y->base);
}

/* Takes the branches for pruned and lets those stand that something needs. */
static size_t take(model *m, m_list *asked, m_list *out)
{
    size_t kept = 0;
    for (size_t i = 0; i < asked->n; i++)
        ((m_branch *)asked->items[i])->pruned = true;
    if (asked->n)
        qsort(asked->items, asked->n, sizeof *asked->items, down_order);
    for (size_t i = 0; i < asked->n; i++) {
        m_branch *b = asked->items[i];
        if (is_needed(m, b)) {
            b->pruned = false;
            kept++;
        } else {
            m_list_add(out, b);
        }
    }
    return kept;
}

static void beside_note(const m_branch *a, const m_branch *main, const m_branch *adk, bool *gone,
                        bool *left)
{
    if (!main || adk != a)
        return;
    *(main->pruned ? gone : left) = true;
}

/* Whether an adk branch was a head beside branches of main that are pruned, or stand. */
static void beside_find(const m_session *s, const m_branch *a, bool *gone, bool *left)
{
    *gone = *left = false;
    beside_note(a, s->head, s->adk, gone, left);
    for (size_t i = 0; i < s->moves.n; i++) {
        const m_move *v = s->moves.items[i];
        beside_note(a, v->from, v->from_adk, gone, left);
        beside_note(a, v->to, v->to_adk, gone, left);
    }
}

static void adk_follow(model *m, m_session *s, bool prune, m_list *changed)
{
    m_list asked = {0};
    for (size_t i = 0; i < s->branches.n; i++) {
        m_branch *a = s->branches.items[i];
        bool gone, left;
        if (a->log != RAMET_LOG_ADK || a == s->adk)
            continue;
        beside_find(s, a, &gone, &left);
        if (prune && !a->pruned && gone && !left)
            m_list_add(&asked, a);
        if (!prune && a->pruned && !a->removed && left) {
            a->pruned = false;
            m_list_add(changed, a);
        }
    }
    take(m, &asked, changed);
    free(asked.items);
}

static bool is_on_path(const m_branch *b, const m_branch *head)
{
    return b->n <= head->n && (b->n == 0 || head->path[b->n - 1] == b->path[b->n - 1]);
}

static m_set prune_open(model *m, const char *user, const char *id, m_session **s)
{
    m_set bad = m_open(m, user, id, RAMET_READER, s);
    if (*s && !m_own(*s, user) && m_tree_level((*s)->tree, user) < RAMET_MANAGER)
        bad |= M(FORBIDDEN);
    return bad;
}

static m_branch *branch_any(m_session *s, int64_t id)
{
    for (size_t i = 0; i < s->branches.n; i++) {
        m_branch *b = s->branches.items[i];
        if (id && b->id == id && b->log == RAMET_LOG_MAIN)
            return b;
    }
    return NULL;
}

static m_set prune_ask(m_session *s, const ramet_prune_in *in, m_list *asked)
{
    m_branch *b = branch_any(s, in->branch);
    if (in->others && in->branch && b != s->head)
        return M(BRANCH_NEEDED);
    if (!in->others && !b)
        return M(BRANCH_NOT_FOUND);
    if (!in->others && b == s->head)
        return M(BRANCH_NEEDED);
    for (size_t i = 0; i < s->branches.n; i++) {
        m_branch *k = s->branches.items[i];
        bool chosen = in->others ? k != s->head && !is_on_path(k, s->head) : k == b;
        if (k->log == RAMET_LOG_MAIN && !k->pruned && chosen)
            m_list_add(asked, k);
    }
    return 0;
}

static void main_list(const m_list *changed, m_list *out)
{
    for (size_t i = 0; i < changed->n; i++)
        if (((m_branch *)changed->items[i])->log == RAMET_LOG_MAIN)
            m_list_add(out, changed->items[i]);
}

/* Takes out the branches that a template is pinned on; how many there were. */
static size_t pins_drop(const model *m, m_list *asked)
{
    size_t left = 0, n = asked->n;
    for (size_t i = 0; i < n; i++) {
        bool pinned = false;
        for (size_t k = 0; k < m->templates.n; k++) {
            const m_template *t = m->templates.items[k];
            pinned |= !t->removed && t->branch == asked->items[i];
        }
        if (!pinned)
            asked->items[left++] = asked->items[i];
    }
    asked->n = left;
    return n - left;
}

m_set model_prune(model *m, const char *user, const char *id, const ramet_prune_in *in,
                  m_pruned *out)
{
    m_session *s;
    m_list asked = {0}, changed = {0};
    m_set bad = prune_open(m, user, id, &s);
    if (!s || bad)
        return bad;
    if (m_held(s))
        return M(HELD);
    int64_t before = tree_free(m, s->tree);
    bad |= prune_ask(s, in, &asked);
    size_t pins = pins_drop(m, &asked);
    out->kept = bad ? 0 : take(m, &asked, &changed) + pins;
    if (!in->others && out->kept)
        bad |= M(BRANCH_NEEDED);
    if (!bad)
        adk_follow(m, s, true, &changed);
    out->entries = tree_free(m, s->tree) - before;
    if (!bad)
        main_list(&changed, &out->branches);
    bool done = !bad && m->got == RAMET_OK && !in->dry_run;
    if (done)
        m->delete_groups++;
    for (size_t i = 0; i < changed.n; i++) {
        m_branch *b = changed.items[i];
        b->pruned = done;
        b->pruned_at = m->now;
        b->prune_group = m->delete_groups;
    }
    if (done)
        keeps_find(m, s->tree);
    free(asked.items);
    free(changed.items);
    return bad ? bad : M(OK);
}

m_set model_branch_restore(model *m, const char *user, const char *id, int64_t branch, bool all,
                           m_pruned *out)
{
    m_session *s;
    m_list changed = {0};
    m_set bad = prune_open(m, user, id, &s);
    if (!s || bad)
        return bad;
    m_branch *b = branch_any(s, branch);
    if (!b || b->removed)
        return b ? M(BRANCH_PRUNED) : M(BRANCH_NOT_FOUND);
    if (m->got != RAMET_OK)
        return M(OK);
    int64_t before = tree_free(m, s->tree);
    for (size_t i = 0; b->pruned && i < s->branches.n; i++) {
        m_branch *k = s->branches.items[i];
        bool same = all && k->pruned && !k->removed && k->log == RAMET_LOG_MAIN &&
                    k->prune_group == b->prune_group;
        if (k == b || same)
            m_list_add(&changed, k);
    }
    for (size_t i = 0; i < changed.n; i++)
        ((m_branch *)changed.items[i])->pruned = false;
    adk_follow(m, s, false, &changed);
    out->entries = before - tree_free(m, s->tree);
    main_list(&changed, &out->branches);
    keeps_find(m, s->tree);
    free(changed.items);
    return M(OK);
}

/* ------------------------------------------------------------------------ gc */

/* What is left of the branches that gc removed; after it has marked what is reached. */
void model_branches_cut(model *m)
{
    for (size_t i = 0; i < m->branches.n; i++) {
        m_branch *b = m->branches.items[i];
        if (!b->removed)
            continue;
        b->left = is_first(b) ? (size_t)b->base : 0;
        for (size_t p = (size_t)b->base; p < b->n; p++)
            if (b->path[p]->mark == m->marks)
                b->left = p + 1;
    }
}

/* ------------------------------------------------------------------ names */

m_set model_branch_update(model *m, const char *user, const char *id, int64_t branch,
                          const ramet_branch_patch *in, m_branch **out)
{
    m_session *s;
    m_set bad = m_open(m, user, id, RAMET_WRITER, &s);
    if (in->name && strlen(in->name) > 100)
        bad |= M(TOO_LARGE);
    if (branch <= 0)
        bad |= M(BRANCH_NOT_FOUND);
    m_branch *b = s ? branch_any(s, branch) : NULL;
    if (s && (!b || b->pruned))
        bad |= m_branch_missing(s, RAMET_LOG_MAIN, branch);
    if (!s || bad || m->got != RAMET_OK)
        return bad ? bad : M(OK);
    for (size_t i = 0; in->favourite && *in->favourite && i < s->branches.n; i++)
        ((m_branch *)s->branches.items[i])->favourite = false;
    if (in->favourite)
        b->favourite = *in->favourite;
    if (in->name)
        b->name = model_text(m, in->name);
    *out = b;
    return M(OK);
}
