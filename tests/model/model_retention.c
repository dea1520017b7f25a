/* SPDX-License-Identifier: Apache-2.0
 *
 * model_retention.c: holds, and what the rules of retention take.
 */
#include "model.h"

#include <string.h>

enum { BY_OWNER = 1, BY_ADMINISTRATOR = 2 };

bool m_held(const m_session *s)
{
    return s->held || s->tree->held;
}

m_set model_hold(model *m, const char *user, const char *id, bool tree, bool set)
{
    m_session *s = model_find(m, id);
    if (!s)
        return M(SESSION_NOT_FOUND);
    if (!m_visible(s, user))
        return M(HIDDEN);
    if (user && m_tree_level(s->tree, user) < RAMET_OWNER)
        return M(FORBIDDEN);
    unsigned *held = tree ? &s->tree->held : &s->held;
    if (!set && !*held)
        return M(HOLD_NOT_FOUND);
    if (!set && user && !(*held & BY_OWNER))
        return M(FORBIDDEN);
    if (m->got != RAMET_OK)
        return M(OK);
    if (set)
        *held |= user ? BY_OWNER : BY_ADMINISTRATOR;
    else
        *held &= user ? ~(unsigned)BY_OWNER : 0;
    return M(OK);
}

static bool fits(ramet_condition want, bool is)
{
    return want == RAMET_EITHER || is == (want == RAMET_ONLY);
}

static bool has_tag(const m_session *s, const char *tag)
{
    for (size_t i = 0; i < s->tags.n; i++)
        if (strcmp(s->tags.items[i], tag) == 0)
            return true;
    return false;
}

static bool is_template(const model *m, const m_session *s)
{
    for (size_t i = 0; i < m->templates.n; i++) {
        const m_template *t = m->templates.items[i];
        if (t->session == s && !t->removed)
            return true;
    }
    return false;
}

bool m_rule_takes(const model *m, const ramet_rule *r, const m_session *s)
{
    return !s->purged && !m_gone(m, s) && !m_held(s) && !has_tag(s, RAMET_PINNED) &&
           !is_template(m, s) && (r->private_too || s->visibility != RAMET_PRIVATE) &&
           fits(r->archived, s->archived) && fits(r->ephemeral, s->expires != 0) &&
           (!r->tag || has_tag(s, r->tag)) && (!r->agent || m_same(r->agent, s->agent_name)) &&
           m->now - s->created >= r->age_us;
}

void model_rule_take(model *m, m_session *s)
{
    s->deleted = true;
    s->deleted_at = m->now;
    s->delete_group = ++m->delete_groups; /* each by itself */
}
