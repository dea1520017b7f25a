/* SPDX-License-Identifier: Apache-2.0
 *
 * model.c: the model's memory, who may see and do what (I10), and sessions as such.
 */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ memory */

void m_list_add(m_list *l, void *item)
{
    if (l->n == l->cap) {
        l->cap = l->cap ? l->cap * 2 : 8;
        l->items = realloc(l->items, l->cap * sizeof *l->items);
        if (!l->items)
            abort();
    }
    l->items[l->n++] = item;
}

void *model_alloc(model *m, size_t size)
{
    void *p = calloc(1, size ? size : 1);
    if (!p)
        abort();
    m_list_add(&m->memory, p);
    return p;
}

char *model_text(model *m, const char *s)
{
    if (!s)
        return NULL;
    size_t n = strlen(s) + 1;
    return memcpy(model_alloc(m, n), s, n);
}

void model_init(model *m, const ramet_limits *limits, int64_t grace)
{
    memset(m, 0, sizeof *m);
    m->limits = *limits;
    m->grace = grace;
}

static void session_free(m_session *s)
{
    m_list *lists[] = {&s->tags,  &s->branches, &s->record[0], &s->record[1],
                       &s->moves, &s->undo,     &s->redo,      &s->fills};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        free(lists[i]->items);
}

void model_free(model *m)
{
    for (size_t i = 0; i < m->sessions.n; i++)
        session_free(m->sessions.items[i]);
    for (size_t i = 0; i < m->branches.n; i++) {
        free(((m_branch *)m->branches.items[i])->path);
        free(((m_branch *)m->branches.items[i])->overlays.items);
    }
    for (size_t i = 0; i < m->overlays.n; i++)
        free(((m_overlay *)m->overlays.items[i])->also.items);
    for (size_t i = 0; i < m->trees.n; i++) {
        free(((m_tree *)m->trees.items[i])->members.items);
        free(((m_tree *)m->trees.items[i])->sessions.items);
    }
    for (size_t i = 0; i < m->memory.n; i++)
        free(m->memory.items[i]);
    m_list *lists[] = {&m->trees,    &m->sessions, &m->entries,  &m->verdicts,
                       &m->branches, &m->memory,   &m->overlays, &m->templates};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        free(lists[i]->items);
    memset(m, 0, sizeof *m);
}

bool m_same(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

/* ---------------------------------------------------------- who may what */

m_session *model_find(model *m, const char *id)
{
    for (size_t i = m->sessions.n; i-- > 0;) {
        m_session *s = m->sessions.items[i];
        if (!s->purged && s->id && strcmp(s->id, id) == 0)
            return s;
    }
    return NULL;
}

bool m_gone(const model *m, const m_session *s)
{
    return s->purged || s->deleted || (s->expires && s->expires <= m->now);
}

ramet_level m_tree_level(const m_tree *t, const char *user)
{
    if (!user)
        return RAMET_OWNER;
    for (size_t i = 0; i < t->members.n; i++) {
        const m_member *k = t->members.items[i];
        if (strcmp(k->user, user) == 0)
            return k->level;
    }
    return RAMET_NO_LEVEL;
}

bool m_own(const m_session *s, const char *user)
{
    return !user || strcmp(s->owner, user) == 0;
}

bool m_visible(const m_session *s, const char *user)
{
    if (s->visibility == RAMET_PRIVATE)
        return m_own(s, user);
    return m_tree_level(s->tree, user) >= RAMET_READER;
}

bool m_shown(const model *m, const m_session *s, const char *user)
{
    return !m_gone(m, s) && m_visible(s, user);
}

bool m_writable(const m_session *s, const char *user)
{
    if (s->visibility == RAMET_PRIVATE)
        return m_own(s, user);
    return m_tree_level(s->tree, user) >= RAMET_WRITER;
}

m_set m_open(model *m, const char *user, const char *id, ramet_level need, m_session **s)
{
    *s = model_find(m, id);
    if (!*s)
        return M(SESSION_NOT_FOUND);
    if (!m_shown(m, *s, user)) {
        m_set why = m_gone(m, *s) ? M(SESSION_NOT_FOUND) : M(HIDDEN);
        *s = NULL;
        return why;
    }
    if (need == RAMET_WRITER && !m_writable(*s, user))
        return M(FORBIDDEN);
    if (need == RAMET_MANAGER && m_tree_level((*s)->tree, user) < RAMET_MANAGER)
        return M(FORBIDDEN);
    return 0;
}

int64_t m_depth(const m_session *s)
{
    int64_t depth = 0;
    for (; s->parent; s = s->parent)
        depth++;
    return depth;
}

/* ---------------------------------------------------------------- checks */

static size_t text_chars(const char *s)
{
    size_t n = 0;
    for (; s && *s; s++)
        n += ((unsigned char)*s & 0xC0) != 0x80;
    return n;
}

m_set m_text_check(const model *m, const char *title, const char *reason)
{
    m_set bad = 0;
    if (text_chars(title) > m->limits.title_chars)
        bad |= M(TITLE_TOO_LONG);
    if (text_chars(reason) > m->limits.reason_chars)
        bad |= M(REASON_TOO_LONG);
    return bad;
}

m_set m_id_check(model *m, const char *user, const char *id)
{
    if (!id)
        return 0;
    size_t n = strlen(id);
    if (n < 1 || n > m->limits.id_bytes)
        return M(BAD_ID);
    for (const char *p = id; *p; p++)
        if ((unsigned char)*p < 32 || *p == 127)
            return M(BAD_ID);
    m_session *s = model_find(m, id);
    if (!s)
        return 0;
    if (!m_gone(m, s))
        return M(SESSION_EXISTS);
    return M(SESSION_DELETED) | (m_visible(s, user) ? 0 : M(SESSION_EXISTS));
}

m_set m_metadata_check(const char *json)
{
    return json && json[0] != '{' ? M(INVALID) : 0;
}

m_set m_agent_check(const ramet_agent *agent)
{
    return agent && agent->options && agent->options[0] != '{' ? M(INVALID) : 0;
}

/* --------------------------------------------------------------- sessions */

m_session *m_new(model *m, m_tree *tree, const char *id, const char *owner)
{
    m_session *s = model_alloc(m, sizeof *s);
    s->id = model_text(m, id);
    s->tree = tree;
    s->owner = model_text(m, owner);
    s->created = m->now;
    s->reason = "";
    m_list_add(&m->sessions, s);
    m_list_add(&tree->sessions, s);
    return s;
}

void m_dress(model *m, m_session *s, const char *title, const ramet_agent *agent,
             const char *metadata)
{
    s->title = model_text(m, title ? title : "");
    s->metadata = model_text(m, metadata ? metadata : "{}");
    if (agent) {
        s->agent_name = model_text(m, agent->name);
        s->agent_model = model_text(m, agent->model);
    }
}

m_set model_create(model *m, const char *user, const ramet_session_in *in, m_answer *out)
{
    m_list tags = {0};
    m_set bad = m_id_check(m, user, in->id) | m_text_check(m, in->title, NULL) |
                m_metadata_check(in->metadata) | m_agent_check(&in->agent) |
                m_tags_normal(m, in->tags, in->n_tags, &tags);
    if (user && in->owner && strcmp(user, in->owner) != 0)
        bad |= M(FORBIDDEN);
    if (bad || m->got != RAMET_OK) {
        free(tags.items);
        return bad ? bad : M(OK);
    }
    m_tree *t = model_alloc(m, sizeof *t);
    m_list_add(&m->trees, t);
    m_session *s = m_new(m, t, in->id, in->owner ? in->owner : user);
    m_dress(m, s, in->title, &in->agent, in->metadata);
    m_member *owner = model_alloc(m, sizeof *owner);
    owner->user = s->owner;
    owner->level = RAMET_OWNER;
    m_list_add(&t->members, owner);
    s->tags = tags;
    s->visibility = in->visibility;
    s->expires = in->ephemeral_us > 0 ? m->now + in->ephemeral_us : 0;
    m_branch *b = model_alloc(m, sizeof *b);
    b->session = s;
    m_list_add(&m->branches, b);
    m_list_add(&s->branches, b);
    s->first = s->head = b;
    out->session = s;
    out->branch = b;
    return M(OK);
}

static m_set merged_check(model *m, const char *user, const m_session *s, const char *into)
{
    if (!into || !*into)
        return 0;
    const m_session *t = model_find(m, into);
    if (!t || m_gone(m, t))
        return M(SESSION_NOT_FOUND) | M(INVALID);
    if (!m_visible(t, user))
        return M(HIDDEN) | M(SESSION_NOT_FOUND) | M(INVALID);
    return t->tree != s->tree || t == s ? M(INVALID) : 0;
}

m_set model_update(model *m, const char *user, const char *id, const ramet_session_patch *in,
                   m_answer *out)
{
    m_session *s;
    m_set bad = m_open(m, user, id, RAMET_WRITER, &s);
    bad |= m_text_check(m, in->title, NULL) | m_metadata_check(in->metadata) |
           m_agent_check(in->agent) | m_hash_check(in->expected_head);
    if (!s)
        return bad;
    bad |= merged_check(m, user, s, in->merged_into) | m_head_check(in->expected_head, s->head);
    if (in->visibility && !m_own(s, user))
        bad |= M(FORBIDDEN);
    if (in->visibility && *in->visibility == RAMET_TREE_VISIBLE && s->visibility == RAMET_PRIVATE &&
        m_tree_level(s->tree, user) < RAMET_WRITER)
        bad |= M(FORBIDDEN);
    if (bad || m->got != RAMET_OK)
        return bad ? bad : M(OK);
    if (in->title)
        s->title = model_text(m, in->title);
    if (in->agent) {
        s->agent_name = model_text(m, in->agent->name);
        s->agent_model = model_text(m, in->agent->model);
    }
    if (in->metadata)
        s->metadata = model_text(m, in->metadata);
    if (in->archived)
        s->archived = *in->archived;
    if (in->visibility)
        s->visibility = *in->visibility;
    if (in->merged_into)
        s->merged_into = *in->merged_into ? model_find(m, in->merged_into) : NULL;
    out->session = s;
    return M(OK);
}

m_set model_promote(model *m, const char *user, const char *id, m_answer *out)
{
    m_session *s;
    m_set bad = m_open(m, user, id, RAMET_WRITER, &s);
    if (bad || m->got != RAMET_OK)
        return bad ? bad : M(OK);
    s->expires = 0;
    out->session = s;
    return M(OK);
}
