/* SPDX-License-Identifier: Apache-2.0
 *
 * model_template.c: templates, and what a path shows of the entries that it was made with.
 *
 *  - A session has levels of values, each for the first entries of its paths. A branch shows the
 *    values in as many entries as the one before it did, and in nothing behind its own base.
 *  - Placeholders are replaced from the left, all names at once; level by level.
 */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *text_fill(const m_fill *f, const char *text, bool json)
{
    size_t n = 0, cap = 3 * strlen(text) + 64;
    char *out = malloc(cap), name[64];
    if (!out)
        abort();
    while (*text) {
        size_t k = 0, len = 0;
        for (k = 0; k < f->n; k++) {
            len = (size_t)snprintf(name, sizeof name, "{{%s}}", f->names[k]);
            if (strncmp(text, name, len) == 0)
                break;
        }
        if (k == f->n) {
            out[n++] = *text++;
            continue;
        }
        for (const char *v = f->values[k]; *v; v++) {
            if (json && (*v == '"' || *v == '\\'))
                out[n++] = '\\';
            out[n++] = *v;
        }
        text += len;
    }
    out[n] = 0;
    return out;
}

/* Answers live until a thousand others were given. */
const m_entry *m_entry_shown(const m_branch *b, const m_entry *e)
{
    static struct {
        m_entry entry;
        char *text, *parts;
    } ring[1024];
    static size_t at;
    if (!b || e->position >= b->filled)
        return e;
    at = (at + 1) % 1024;
    free(ring[at].text);
    free(ring[at].parts);
    ring[at].entry = *e;
    ring[at].text = strdup(e->text);
    ring[at].parts = strdup(e->parts);
    const m_list *levels = &b->session->fills;
    for (size_t i = 0; i < levels->n; i++) {
        const m_fill *f = levels->items[i];
        if (e->position >= f->len[b->log])
            continue;
        char *text = text_fill(f, ring[at].text, false),
             *parts = text_fill(f, ring[at].parts, true);
        free(ring[at].text);
        free(ring[at].parts);
        ring[at].text = text;
        ring[at].parts = parts;
    }
    ring[at].entry.text = ring[at].text;
    ring[at].entry.parts = ring[at].parts;
    return &ring[at].entry;
}

static bool fill_same(const m_fill *a, const m_fill *b)
{
    bool same = a->n == b->n && a->len[0] == b->len[0] && a->len[1] == b->len[1];
    for (size_t i = 0; same && i < a->n; i++)
        same = m_same(a->names[i], b->names[i]) && m_same(a->values[i], b->values[i]);
    return same;
}

bool m_fills_same(const m_session *a, const m_session *b)
{
    if (a->fills.n != b->fills.n)
        return false;
    for (size_t i = 0; i < a->fills.n; i++)
        if (!fill_same(a->fills.items[i], b->fills.items[i]))
            return false;
    return true;
}

void m_fills_inherit(m_session *to, const m_session *from)
{
    for (size_t i = 0; i < from->fills.n; i++)
        m_list_add(&to->fills, from->fills.items[i]);
}

m_template *model_template_find(model *m, const char *id)
{
    for (size_t i = 0; i < m->templates.n; i++) {
        m_template *t = m->templates.items[i];
        if (!t->removed && t->id && strcmp(t->id, id) == 0)
            return t;
    }
    return NULL;
}

m_set model_template_open(model *m, const char *user, const char *id, ramet_level need,
                          m_template **out)
{
    m_template *t = *out = model_template_find(m, id);
    if (!t || !m_shown(m, t->session, user)) {
        *out = NULL;
        return M(TEMPLATE_NOT_FOUND);
    }
    return need == RAMET_WRITER && !m_writable(t->session, user) ? M(FORBIDDEN) : 0;
}

/* Pins it on the head, after an entry; NULL: at its end. */
static m_set pin(m_session *s, const char *entry, m_template *t)
{
    const m_entry *e = entry ? m_branch_entry(s->head, entry) : NULL;
    m_set bad = s->head->n ? 0 : M(INVALID);
    if (entry && !e)
        bad |= M(ENTRY_NOT_FOUND);
    if (s->head->filled && s->fills.n == 8)
        bad |= M(TOO_LARGE);
    if (bad)
        return bad;
    t->branch = s->head;
    t->len = e ? e->position + 1 : (int64_t)s->head->n;
    t->adk_len = m_adk_kept(s->adk, s->head, (size_t)t->len);
    t->adk = t->adk_len ? s->adk : NULL;
    return 0;
}

static void names_set(model *m, m_template *t, const char *const *names, size_t n)
{
    t->n = n;
    for (size_t i = 0; i < n; i++)
        t->names[i] = model_text(m, names[i]);
}

m_set model_template_add(model *m, const char *user, const ramet_template_in *in, m_template **out)
{
    m_session *s;
    m_template made = {0};
    *out = NULL;
    m_set bad = m_open(m, user, in->session, RAMET_WRITER, &s);
    if (s)
        bad |= pin(s, in->entry_id, &made);
    if (bad || m->got != RAMET_OK)
        return bad ? bad : M(OK);
    m_template *t = *out = model_alloc(m, sizeof *t);
    *t = made;
    t->session = s;
    t->name = model_text(m, in->name);
    names_set(m, t, in->placeholders, in->n_placeholders);
    m_list_add(&m->templates, t);
    return M(OK);
}

m_set model_template_update(model *m, const char *user, const char *id,
                            const ramet_template_patch *in)
{
    m_template *t, moved;
    m_set bad = model_template_open(m, user, id, RAMET_WRITER, &t);
    if (!t)
        return bad;
    moved = *t;
    if (in->entry_id)
        bad |= pin(t->session, in->entry_id, &moved);
    if (bad || m->got != RAMET_OK)
        return bad ? bad : M(OK);
    *t = moved;
    if (in->name)
        t->name = model_text(m, in->name);
    if (in->set_placeholders)
        names_set(m, t, in->placeholders, in->n_placeholders);
    return M(OK);
}

m_set model_template_remove(model *m, const char *user, const char *id)
{
    m_template *t;
    m_set bad = model_template_open(m, user, id, RAMET_WRITER, &t);
    if (t && !bad && m->got == RAMET_OK)
        t->removed = true;
    return bad ? bad : M(OK);
}

/* The levels of a chat: those of the session, as far as they reach, and the new one. */
static void levels_make(model *m, const m_template *t, const m_branch *adk,
                        const ramet_template_use *in, m_list *out)
{
    const m_list *old = &t->session->fills;
    for (size_t i = 0; i < old->n && (t->branch->filled || (adk && adk->filled)); i++) {
        m_fill *f = model_alloc(m, sizeof *f);
        *f = *(const m_fill *)old->items[i];
        f->len[0] = f->len[0] < t->branch->filled ? f->len[0] : t->branch->filled;
        f->len[1] = !adk ? 0 : f->len[1] < adk->filled ? f->len[1] : adk->filled;
        if (f->len[0] || f->len[1])
            m_list_add(out, f);
    }
    m_fill *f = model_alloc(m, sizeof *f);
    *f = (m_fill){.n = t->n, .len = {t->len, t->adk_len}};
    for (size_t i = 0; i < t->n; i++) {
        f->names[i] = t->names[i];
        for (size_t k = 0; k < in->n_values; k++)
            if (strcmp(in->values[k].name, t->names[i]) == 0)
                f->values[i] = model_text(m, in->values[k].text);
    }
    m_list_add(out, f);
}

static m_set values_check(const m_template *t, const ramet_template_use *in)
{
    m_set bad = in->n_values == t->n ? 0 : M(INVALID);
    for (size_t i = 0; i < t->n; i++) {
        bool given = false;
        for (size_t k = 0; k < in->n_values; k++)
            given |= strcmp(in->values[k].name, t->names[i]) == 0;
        bad |= given ? 0 : M(INVALID);
    }
    return bad;
}

m_set model_chat(model *m, const char *user, const char *id, const ramet_template_use *in,
                 m_answer *out)
{
    m_template *t;
    m_set bad = model_template_open(m, user, id, RAMET_READER, &t);
    bad |= m_text_check(m, in->fork.title, NULL);
    if (!t)
        return bad;
    m_session *s = t->session;
    bad |= values_check(t, in) | m_id_check(m, user, in->fork.id);
    if (in->fork.visibility == RAMET_TREE_VISIBLE && m_tree_level(s->tree, user) < RAMET_WRITER)
        bad |= M(FORBIDDEN);
    if (bad || m->got != RAMET_OK)
        return bad ? bad : M(OK);
    m_branch *adk = t->adk && m_writable(s, user) ? t->adk : NULL;
    m_list levels = {0};
    levels_make(m, t, adk, in, &levels);
    m_session *f =
        m_fork_at(m, user, s, &in->fork, t->branch, (size_t)t->len, adk, (size_t)t->adk_len);
    free(f->fills.items); /* of the template: `levels` begins with them */
    f->fills = levels;
    f->head->filled = t->len;
    if (f->adk)
        f->adk->filled = t->adk_len;
    char *title = text_fill(levels.items[levels.n - 1], f->from_title, false);
    f->from_title = model_text(m, title + strspn(title, " "));
    free(title);
    out->session = f;
    out->branch = f->head;
    out->cut = f->cut;
    return M(OK);
}
