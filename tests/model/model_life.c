/* SPDX-License-Identifier: Apache-2.0
 *
 * model_life.c: tags, members, and how sessions go and come back: delete, restore, expiry, gc.
 */
#include "model.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------- tags */

static int text_order(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool list_has(const m_list *l, const char *text)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->items[i], text) == 0)
            return true;
    return false;
}

m_set m_tags_normal(model *m, const char *const *tags, size_t n, m_list *out)
{
    m_set bad = 0;
    for (size_t i = 0; i < n; i++) {
        char *t = model_text(m, tags[i]);
        while (isspace((unsigned char)*t))
            t++;
        size_t len = strlen(t);
        while (len && isspace((unsigned char)t[len - 1]))
            t[--len] = 0;
        for (char *p = t; *p; p++)
            *p = (char)tolower((unsigned char)*p);
        if (len < 1 || len > m->limits.tag_chars)
            bad |= M(BAD_TAG);
        if (!list_has(out, t))
            m_list_add(out, t);
    }
    if (out->n > m->limits.tags)
        bad |= M(TOO_MANY_TAGS);
    if (out->n)
        qsort(out->items, out->n, sizeof *out->items, text_order);
    return bad;
}

m_set model_tags(model *m, const char *user, const char *id, m_tags_how how,
                 const char *const *tags, size_t n, m_answer *out)
{
    m_session *s;
    m_list given = {0}, result = {0};
    m_set bad = m_open(m, user, id, RAMET_WRITER, &s) | m_tags_normal(m, tags, n, &given);
    if (!s) {
        free(given.items);
        return bad;
    }
    for (size_t i = 0; how != TAGS_SET && i < s->tags.n; i++)
        if (!(how == TAGS_REMOVE && list_has(&given, s->tags.items[i])))
            m_list_add(&result, s->tags.items[i]);
    for (size_t i = 0; how != TAGS_REMOVE && i < given.n; i++)
        if (!list_has(&result, given.items[i]))
            m_list_add(&result, given.items[i]);
    free(given.items);
    if (how != TAGS_REMOVE && result.n > m->limits.tags)
        bad |= M(TOO_MANY_TAGS);
    if (bad || m->got != RAMET_OK) {
        free(result.items);
        return bad ? bad : M(OK);
    }
    if (result.n)
        qsort(result.items, result.n, sizeof *result.items, text_order);
    free(s->tags.items);
    s->tags = result;
    out->session = s;
    return M(OK);
}

/* ---------------------------------------------------------------- members */

static m_member *tree_member(const m_tree *t, const char *user)
{
    for (size_t i = 0; i < t->members.n; i++)
        if (strcmp(((m_member *)t->members.items[i])->user, user) == 0)
            return t->members.items[i];
    return NULL;
}

m_set model_member_set(model *m, const char *user, const char *id, const char *who,
                       ramet_level level)
{
    m_session *s;
    m_set bad = m_open(m, user, id, RAMET_MANAGER, &s);
    if (level < RAMET_READER || level > RAMET_OWNER)
        bad |= M(INVALID);
    if (!s)
        return bad;
    m_tree *t = s->tree;
    m_member *k = tree_member(t, who);
    if (!bad && k && k->level == level)
        return M(OK);
    if (level == RAMET_OWNER && m_tree_level(t, user) < RAMET_OWNER)
        bad |= M(FORBIDDEN);
    if (k && k->level == RAMET_OWNER && level != RAMET_OWNER)
        bad |= M(FORBIDDEN);
    if (bad || m->got != RAMET_OK)
        return bad ? bad : M(OK);
    if (level == RAMET_OWNER)
        t->offer = NULL; /* it was the old owner's */
    if (level == RAMET_OWNER)
        for (size_t i = 0; i < t->members.n; i++)
            if (((m_member *)t->members.items[i])->level == RAMET_OWNER)
                ((m_member *)t->members.items[i])->level = RAMET_MANAGER;
    if (!k) {
        k = model_alloc(m, sizeof *k);
        k->user = model_text(m, who);
        m_list_add(&t->members, k);
    }
    k->level = level;
    return M(OK);
}

m_set model_member_remove(model *m, const char *user, const char *id, const char *who)
{
    m_session *s;
    bool self = user && strcmp(user, who) == 0;
    m_set bad = m_open(m, user, id, self ? RAMET_READER : RAMET_MANAGER, &s);
    if (!s)
        return bad;
    m_tree *t = s->tree;
    m_member *k = tree_member(t, who);
    if (!k)
        bad |= M(MEMBER_NOT_FOUND) | (self ? M(FORBIDDEN) : 0);
    else if (k->level == RAMET_OWNER)
        bad |= M(FORBIDDEN);
    if (bad || m->got != RAMET_OK)
        return bad ? bad : M(OK);
    for (size_t i = 0; i < t->members.n; i++)
        if (t->members.items[i] == k) {
            t->members.items[i] = t->members.items[--t->members.n];
            break;
        }
    if (t->offer && m_same(t->taker, who))
        t->offer = NULL;
    return M(OK);
}

/* ---------------------------------------------------- going and coming back */

static bool session_below(const m_session *s, const m_session *top)
{
    for (; s; s = s->parent)
        if (s == top)
            return true;
    return false;
}

static void session_mark(model *m, const m_session *s, int64_t *count)
{
    for (size_t i = 0; i < s->branches.n; i++) {
        const m_branch *b = s->branches.items[i];
        m_branch_mark(m, b, !b->removed, count);
    }
}

/* Entries that the going sessions reach, and no living session that stays does. */
static int64_t delete_entries(model *m, const m_list *going)
{
    int64_t staying = 0, count = 0;
    const m_session *first = going->items[0];
    m->marks++;
    for (size_t i = 0; i < first->tree->sessions.n; i++) {
        m_session *s = first->tree->sessions.items[i];
        bool goes = m_gone(m, s) && (s->purged || !m_held(s));
        for (size_t k = 0; k < going->n; k++)
            goes |= going->items[k] == s;
        if (!goes)
            session_mark(m, s, &staying);
    }
    for (size_t k = 0; k < going->n; k++)
        session_mark(m, going->items[k], &count);
    return count;
}

m_set model_delete(model *m, const char *user, const char *id, bool tree, bool dry, m_list *ids,
                   int64_t *entries)
{
    m_session *s;
    m_set bad = m_open(m, user, id, RAMET_READER, &s);
    if (!s)
        return bad;
    bool manager = m_tree_level(s->tree, user) >= RAMET_MANAGER;
    if (!m_own(s, user) && !manager)
        bad |= M(FORBIDDEN);
    for (size_t i = 0; tree && !manager && i < s->tree->sessions.n; i++) {
        const m_session *k = s->tree->sessions.items[i];
        if (session_below(k, s) && !m_gone(m, k) && m_visible(k, user) && !m_own(k, user))
            bad |= M(FORBIDDEN);
    }
    for (size_t i = 0; i < s->tree->sessions.n; i++) {
        const m_session *k = s->tree->sessions.items[i];
        if (m_held(k) &&
            (k == s || (tree && session_below(k, s) && !m_gone(m, k) && m_visible(k, user))))
            bad |= M(HELD);
    }
    if (bad || m->got != RAMET_OK)
        return bad ? bad : M(OK);
    for (size_t i = 0; i < s->tree->sessions.n; i++) {
        m_session *k = s->tree->sessions.items[i];
        if (k == s || (tree && session_below(k, s) && !m_gone(m, k) && m_visible(k, user)))
            m_list_add(ids, k);
    }
    *entries = delete_entries(m, ids);
    if (dry)
        return M(OK);
    m->delete_groups++;
    for (size_t i = 0; i < ids->n; i++) {
        m_session *k = ids->items[i];
        k->deleted = true;
        k->deleted_at = m->now;
        k->delete_group = m->delete_groups;
    }
    return M(OK);
}

static void session_revive(const model *m, m_session *s)
{
    s->deleted = false;
    s->delete_group = 0;
    if (s->expires && s->expires <= m->now)
        s->expires = 0;
}

/* Its owner, or a manager of the tree; a private one only its owner. */
static bool may_restore(const m_session *s, const char *user)
{
    return m_own(s, user) ||
           (s->visibility != RAMET_PRIVATE && m_tree_level(s->tree, user) >= RAMET_MANAGER);
}

bool m_restorable(const model *m, const m_session *s, const char *user)
{
    return m_gone(m, s) && !s->purged && m_visible(s, user) && may_restore(s, user);
}

m_set model_restore(model *m, const char *user, const char *id, bool tree, m_answer *out)
{
    m_session *s = model_find(m, id);
    if (!s)
        return M(SESSION_NOT_FOUND);
    if (!m_visible(s, user))
        return M(HIDDEN);
    if (!may_restore(s, user))
        return M(FORBIDDEN);
    if (m->got != RAMET_OK)
        return M(OK);
    int group = s->deleted ? s->delete_group : 0;
    out->session = s;
    if (!m_gone(m, s))
        return M(OK);
    session_revive(m, s);
    for (size_t i = 0; tree && group && i < s->tree->sessions.n; i++) {
        m_session *k = s->tree->sessions.items[i];
        if (k->deleted && !k->purged && k->delete_group == group && may_restore(k, user))
            session_revive(m, k);
    }
    return M(OK);
}

void model_gc(model *m, bool dry, int64_t *sessions, int64_t *expired, int64_t *entries)
{
    int64_t reached = 0;
    *sessions = *expired = *entries = 0;
    m->marks++;
    for (size_t i = 0; i < m->sessions.n; i++) {
        m_session *s = m->sessions.items[i];
        if (s->purged)
            continue;
        bool over = s->expires && s->expires <= m->now && !s->deleted;
        int64_t since = s->deleted ? s->deleted_at : s->expires;
        bool goes = (s->deleted || over) && since + m->grace < m->now && !m_held(s);
        *expired += over;
        *sessions += goes;
        if (goes && !dry)
            s->purged = true;
        for (size_t k = 0; !goes && k < s->branches.n; k++) {
            m_branch *b = s->branches.items[k];
            bool due = b->pruned && b->pruned_at + m->grace <= m->now && !m_held(s);
            b->removed |= due && !dry;
            m_branch_mark(m, b, !b->removed && !due, &reached);
        }
    }
    if (!dry)
        model_branches_cut(m);
    for (size_t i = 0; i < m->entries.n; i++) {
        m_entry *e = m->entries.items[i];
        if (e->gone || e->mark == m->marks)
            continue;
        ++*entries;
        e->gone = !dry;
    }
}
