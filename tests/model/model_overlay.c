/* SPDX-License-Identifier: Apache-2.0
 *
 * model_overlay.c: overlays as lists, and the context view entry by entry.
 *
 *  - The references to one tool id fall into groups along a path: a run of calls, and the results
 *    behind it. Entries that have a part in a group with a hidden one are hidden, and so on.
 *  - What an overlay hides along is found when it is set; a result that comes later is hidden when
 *    the last call of its id before it is.
 */
#include "model.h"

#include <stdlib.h>
#include <string.h>

typedef struct tool_use {
    size_t at; /* position */
    bool result;
    const char *id;
    size_t n_id, group;
} tool_use;

static size_t entry_uses(const m_entry *e, size_t at, tool_use **t, size_t n)
{
    static const char call[] = "{\"type\":\"tool_call\",\"id\":\"";
    static const char result[] = "{\"type\":\"tool_result\",\"id\":\"";
    for (const char *p = e->parts; p && (p = strstr(p, "{\"type\":\"tool_")); p++) {
        bool is_result = strncmp(p, result, sizeof result - 1) == 0;
        const char *id = p + (is_result ? sizeof result : sizeof call) - 1;
        *t = realloc(*t, (n + 1) * sizeof **t);
        (*t)[n++] = (tool_use){at, is_result, id, strcspn(id, "\""), 0};
    }
    return n;
}

static bool same_tool(const tool_use *a, const tool_use *b)
{
    return a->n_id == b->n_id && strncmp(a->id, b->id, a->n_id) == 0;
}

static size_t path_uses(const m_branch *b, tool_use **out)
{
    size_t n = 0, groups = 0;
    *out = NULL;
    for (size_t i = 0; i < b->n; i++)
        n = entry_uses(b->path[i], i, out, n);
    for (size_t i = 0; i < n; i++) {
        tool_use *u = &(*out)[i];
        const tool_use *last = NULL;
        for (size_t k = 0; k < i; k++)
            if (same_tool(&(*out)[k], u))
                last = &(*out)[k];
        bool begins = !last || (!u->result && last->result);
        u->group = begins ? groups++ : last->group;
    }
    return n;
}

static void ties_find(const m_branch *b, size_t at, m_list *also)
{
    tool_use *t;
    size_t n = path_uses(b, &t);
    bool *hidden = calloc(b->n + 1, 1), *group = calloc(n + 1, 1);
    hidden[at] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < n; i++)
            if (hidden[t[i].at] != group[t[i].group]) {
                hidden[t[i].at] = group[t[i].group] = true;
                changed = true;
            }
    }
    for (size_t i = 0; i < b->n; i++)
        if (hidden[i] && i != at)
            m_list_add(also, b->path[i]);
    free(t);
    free(hidden);
    free(group);
}

static bool on_path(const m_branch *b, const m_entry *e)
{
    return e->position < (int64_t)b->n && b->path[e->position] == e;
}

/* Without what follows from calls. */
static bool hides(const m_branch *b, size_t at)
{
    for (size_t i = 0; i < b->overlays.n; i++) {
        const m_overlay *o = b->overlays.items[i];
        if (!on_path(b, o->entry))
            continue;
        if (o->action == RAMET_OVERLAY_HIDE_BEFORE && (int64_t)at < o->entry->position)
            return true;
        if (o->action == RAMET_OVERLAY_HIDE && o->entry == b->path[at])
            return true;
        for (size_t k = 0; k < o->also.n; k++)
            if (o->also.items[k] == b->path[at])
                return true;
    }
    return false;
}

static bool result_hidden(const m_branch *b, size_t at)
{
    tool_use *own = NULL;
    size_t n = entry_uses(b->path[at], at, &own, 0);
    bool hidden = false;
    for (size_t i = 0; i < n; i++) {
        if (!own[i].result)
            continue;
        bool found = false;
        for (size_t k = at + 1; k-- > 0 && !found;) {
            tool_use *t = NULL;
            size_t count = entry_uses(b->path[k], k, &t, 0);
            for (size_t j = 0; j < count; j++)
                found = found || (!t[j].result && same_tool(&t[j], &own[i]));
            free(t);
            hidden = hidden || (found && hides(b, k));
        }
    }
    free(own);
    return hidden;
}

bool m_context_shows(const m_branch *b, size_t at, const char **text)
{
    *text = m_entry_shown(b, b->path[at])->text;
    if (!b->overlays.n)
        return true;
    for (size_t i = 0; i < b->overlays.n; i++) {
        const m_overlay *o = b->overlays.items[i];
        if (o->entry == b->path[at] && o->action == RAMET_OVERLAY_REPLACE)
            *text = o->text;
    }
    return !hides(b, at) && !result_hidden(b, at);
}

/* ------------------------------------------------------------------- writes */

static void overlay_drop(m_branch *b, size_t at)
{
    for (size_t i = at + 1; i < b->overlays.n; i++)
        b->overlays.items[i - 1] = b->overlays.items[i];
    b->overlays.n--;
}

void model_overlays_join(m_branch *to, const m_branch *other)
{
    for (size_t i = 0; to != other && i < other->overlays.n; i++) {
        m_overlay *o = other->overlays.items[i];
        bool before = o->action == RAMET_OVERLAY_HIDE_BEFORE, named = false;
        for (size_t j = 0; j < to->overlays.n; j++) {
            const m_overlay *old = to->overlays.items[j];
            named |= old->entry == o->entry && before == (old->action == RAMET_OVERLAY_HIDE_BEFORE);
        }
        if (!named)
            m_list_add(&to->overlays, o);
    }
}

m_set model_overlay(model *m, const char *user, const char *id, const ramet_overlay_in *in,
                    m_answer *out)
{
    m_session *s;
    m_set bad = m_open(m, user, id, RAMET_WRITER, &s);
    bad |= m_text_check(m, NULL, in->reason) | m_hash_check(in->expected_head);
    if (!s)
        return bad;
    m_entry *e = (m_entry *)m_branch_entry(s->head, in->entry_id);
    bad |= m_head_check(in->expected_head, s->head);
    if (!e)
        bad |= M(ENTRY_NOT_FOUND);
    if (bad || m->got != RAMET_OK)
        return bad ? bad : M(OK);
    m_overlay *o = model_alloc(m, sizeof *o);
    *o = (m_overlay){.entry = e, .action = in->action, .text = model_text(m, in->text)};
    m_list_add(&m->overlays, o);
    if (in->action == RAMET_OVERLAY_HIDE)
        ties_find(s->head, (size_t)e->position, &o->also);
    m_branch *to = m_move_end(m, s, RAMET_MOVE_OVERLAY, user, in->reason);
    bool before = in->action == RAMET_OVERLAY_HIDE_BEFORE;
    for (size_t i = to->overlays.n; i-- > 0;) {
        const m_overlay *old = to->overlays.items[i];
        if (old->entry == e && before == (old->action == RAMET_OVERLAY_HIDE_BEFORE))
            overlay_drop(to, i);
    }
    m_list_add(&to->overlays, o);
    out->session = s;
    out->branch = to;
    return M(OK);
}

m_set model_overlay_remove(model *m, const char *user, const char *id, int64_t overlay,
                           const char *xh, m_answer *out)
{
    m_session *s;
    m_set bad = m_open(m, user, id, RAMET_WRITER, &s) | m_hash_check(xh);
    if (!s)
        return bad;
    size_t at = s->head->overlays.n;
    for (size_t i = 0; i < s->head->overlays.n; i++)
        if (((m_overlay *)s->head->overlays.items[i])->id == overlay)
            at = i;
    bad |= m_head_check(xh, s->head);
    if (at == s->head->overlays.n)
        bad |= M(OVERLAY_NOT_FOUND);
    if (bad || m->got != RAMET_OK)
        return bad ? bad : M(OK);
    m_branch *to = m_move_end(m, s, RAMET_MOVE_OVERLAY, user, NULL);
    overlay_drop(to, at);
    out->session = s;
    out->branch = to;
    return M(OK);
}
