/* SPDX-License-Identifier: Apache-2.0
 *
 * model_make.c: conversations that are made by their first entry, archived with their tree and what
 * it has started, and handed over.
 */
#include "model.h"
#include "ramet/memory.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------- making */

static bool tree_has(const model *m, const m_tree *t, const char *id)
{
    for (size_t i = 0; i < m->entries.n; i++) {
        const m_entry *e = m->entries.items[i];
        if (!e->gone && e->by->tree == t && m_same(e->id, id))
            return true;
    }
    return false;
}

/* What a new conversation comes from; an archived one gives nothing. */
static m_set source_check(model *m, const char *user, const char *id, ramet_level need,
                          m_session **s)
{
    m_set bad = m_open(m, user, id, need, s);
    return *s && (*s)->archived ? bad | M(SESSION_NOT_FOUND) : bad;
}

static m_set anchor_check(const model *m, const m_session *s, const char *id, const char *client)
{
    const m_entry *e = m_branch_entry(s->head, id);
    if (!e)
        return tree_has(m, s->tree, id) ? M(INVALID) | M(FORBIDDEN) : M(ENTRY_NOT_FOUND);
    if (strcmp(e->channel, "journal") == 0)
        return m_same(e->client, client) && client ? 0 : M(FORBIDDEN);
    return strcmp(e->channel, "history") == 0 ? 0 : M(INVALID);
}

static m_set how_check(model *m, const ramet_make *how)
{
    return m_text_check(m, how->title, NULL) | m_metadata_check(how->metadata);
}

static m_set make_fork(model *m, const char *user, const char *client, const char *id,
                       const ramet_make *how, m_answer *out)
{
    m_session *s;
    ramet_agent agent = {.name = how->agent};
    m_set bad = source_check(m, user, how->fork_of, RAMET_READER, &s);
    if (!s)
        return bad | m_id_check(m, user, id) | how_check(m, how);
    bool private = s->visibility == RAMET_PRIVATE;
    bad |= anchor_check(m, s, how->fork_at, client);
    if (!private && m_tree_level(s->tree, user) < RAMET_WRITER)
        bad |= M(FORBIDDEN);
    ramet_fork_in in = {.at = {how->fork_at, RAMET_BEFORE},
                        .id = id,
                        .title = how->title,
                        .agent = &agent,
                        .metadata = how->metadata,
                        .visibility = private ? RAMET_PRIVATE : RAMET_TREE_VISIBLE};
    /* Objections of both; the fork is made when neither has one. */
    if (bad) {
        ramet_status got = m->got;
        m->got = RAMET_INTERNAL;
        bad |= model_fork(m, user, how->fork_of, &in, out) & ~M(OK);
        m->got = got;
        return bad;
    }
    return model_fork(m, user, how->fork_of, &in, out);
}

static m_set make_root(model *m, const char *user, const char *id, const ramet_make *how,
                       m_answer *out)
{
    m_session *from = NULL;
    m_set bad = how->started_by ? source_check(m, user, how->started_by, RAMET_WRITER, &from) : 0;
    if (bad)
        return bad | m_id_check(m, user, id) | how_check(m, how);
    ramet_session_in in = {
        .id = id, .title = how->title, .agent = {.name = how->agent}, .metadata = how->metadata};
    m_set right = model_create(m, user, &in, out);
    if (!out->session || !from)
        return right;
    m_session *s = out->session;
    m_tree *t = s->tree;
    s->owner = from->owner;
    s->started = from;
    ((m_member *)t->members.items[0])->user = s->owner;
    for (size_t i = 0; from->visibility != RAMET_PRIVATE && i < from->tree->members.n; i++) {
        m_member *k = model_alloc(m, sizeof *k);
        *k = *(m_member *)from->tree->members.items[i];
        if (i == 0)
            t->members.n = 0;
        m_list_add(&t->members, k);
    }
    return right;
}

m_set model_make(model *m, const char *user, const char *client, const char *id,
                 const ramet_append_in *in, m_answer *out)
{
    m_session *s;
    const ramet_make *how = in->make;
    m_set bad = m_open(m, user, id, RAMET_WRITER, &s);
    if (s) {
        if (s->archived)
            bad |= M(SESSION_NOT_FOUND);
        bad |= how_check(m, how);
        if (bad)
            return bad;
        if (m->got == RAMET_OK && how->title && *how->title && !*s->title)
            s->title = model_text(m, how->title);
        return model_append(m, user, client, id, in, out);
    }
    if (bad != M(SESSION_NOT_FOUND))
        return bad | how_check(m, how);
    m_set right =
        how->fork_of ? make_fork(m, user, client, id, how, out) : make_root(m, user, id, how, out);
    if (!out->session)
        return right;
    m_session *made = out->session;
    *out = (m_answer){0};
    right = model_append(m, user, client, id, in, out);
    out->session = made;
    return right;
}

/* ------------------------------------------------------------------ archive */

static void tree_archive(model *m, m_tree *t, bool archived)
{
    for (size_t i = 0; i < t->sessions.n; i++)
        ((m_session *)t->sessions.items[i])->archived = archived;
    t->mark = m->marks;
    for (size_t i = 0; i < m->sessions.n; i++) {
        m_session *s = m->sessions.items[i];
        if (s->started && !s->purged && s->started->tree == t && s->tree->mark != m->marks)
            tree_archive(m, s->tree, archived);
    }
}

m_set model_archive(model *m, const char *user, const char *id, bool archived, m_answer *out)
{
    m_session *s;
    m_set bad = m_open(m, user, id, RAMET_READER, &s);
    if (!s)
        return bad;
    if (m_tree_level(s->tree, user) < RAMET_OWNER)
        bad |= M(FORBIDDEN);
    if (s->archived == archived)
        bad |= M(SESSION_NOT_FOUND);
    if (bad || m->got != RAMET_OK)
        return bad ? bad : M(OK);
    m->marks++;
    tree_archive(m, s->tree, archived);
    out->session = s;
    return M(OK);
}

/* ---------------------------------------------------------------- transfers */

m_set model_offer(model *m, const char *user, const char *id, const char *to, m_session **of)
{
    m_session *s;
    m_set bad = m_open(m, user, id, RAMET_READER, &s);
    if (!s)
        return bad;
    m_tree *t = s->tree;
    if (m_tree_level(t, user) < RAMET_OWNER)
        bad |= M(FORBIDDEN);
    if (s->archived)
        bad |= M(SESSION_NOT_FOUND);
    if (m_tree_level(t, to) == RAMET_OWNER || m_tree_level(t, to) < RAMET_READER)
        bad |= M(INVALID);
    if (t->offer)
        bad |= M(TRANSFER_PENDING);
    if (bad || m->got != RAMET_OK)
        return bad ? bad : M(OK);
    t->giver = model_text(m, user ? user : s->owner);
    t->taker = model_text(m, to);
    *of = s;
    return M(OK);
}

/* Whether there is still something to hand over. */
static bool tree_there(const m_tree *t)
{
    for (size_t i = 0; i < t->sessions.n; i++)
        if (!((m_session *)t->sessions.items[i])->purged)
            return true;
    return false;
}

bool m_offered(const m_tree *t, const char *user)
{
    return t->offer && tree_there(t) && (!user || m_same(user, t->giver) || m_same(user, t->taker));
}

m_set model_offer_end(model *m, const char *user, m_tree *t, bool accept)
{
    if (!t || !t->offer || !tree_there(t))
        return M(TRANSFER_NOT_FOUND);
    bool taker = !user || m_same(user, t->taker);
    if (!taker && (accept || !m_same(user, t->giver)))
        return M(FORBIDDEN);
    if (m->got != RAMET_OK)
        return M(OK);
    t->offer = NULL;
    for (size_t i = 0; accept && i < t->members.n; i++) {
        m_member *k = t->members.items[i];
        if (m_same(k->user, t->taker))
            k->level = RAMET_OWNER;
        else if (k->level == RAMET_OWNER)
            k->level = RAMET_MANAGER;
    }
    for (size_t i = 0; accept && i < t->sessions.n; i++) {
        m_session *s = t->sessions.items[i];
        if (s->visibility == RAMET_TREE_VISIBLE && !s->deleted && !s->purged)
            s->owner = t->taker;
    }
    return M(OK);
}
