/* SPDX-License-Identifier: Apache-2.0
 *
 * model_entry.c: what an entry says: its parts in their normal form, its text, whether it is what a
 * caller gives, and what it was copied from.
 */
#include "model.h"

#include <stdio.h>
#include <string.h>

static bool given_same(const char *given, const char *stored)
{
    return !given || m_same(given, stored);
}

const char *m_parts_normal(const ramet_entry_in *in, char *buf, size_t size)
{
    if (in->parts)
        return in->parts;
    if (!in->text)
        return "[]";
    size_t n = (size_t)snprintf(buf, size, "[{\"type\":\"text\",\"text\":\"");
    for (const char *p = in->text; *p && n + 8 < size; p++) {
        if (*p == '"' || *p == '\\' || *p == '\n')
            buf[n++] = '\\';
        buf[n++] = *p == '\n' ? 'n' : *p;
    }
    snprintf(buf + n, size - n, "\"}]");
    return buf;
}

void m_parts_text(const char *parts, char *buf, size_t size)
{
    static const char mark[] = "{\"type\":\"text\",\"text\":\"";
    size_t n = 0;
    bool first = true;
    for (const char *p = strstr(parts, mark); p; p = strstr(p, mark), first = false) {
        if (!first)
            n += (size_t)snprintf(buf + n, size - n, "\n\n");
        for (p += sizeof mark - 1; *p != '"' && n + 4 < size; p++) {
            if (*p == '\\')
                buf[n++] = *++p == 'n' ? '\n' : *p;
            else
                buf[n++] = *p;
        }
    }
    buf[n] = 0;
}

bool m_entry_equal(const m_entry *e, const ramet_entry_in *in)
{
    char buf[4096];
    if (in->id && !m_same(in->id, e->id))
        return false;
    if (in->role != e->role || strcmp(m_parts_normal(in, buf, sizeof buf), e->parts) != 0)
        return false;
    if (in->usage) {
        const ramet_usage *u = in->usage, *v = &e->usage;
        if (!e->has_usage || u->input != v->input || u->output != v->output ||
            u->cached != v->cached || u->cost != v->cost || !m_same(u->currency, v->currency))
            return false;
    }
    return given_same(in->format, e->format) && given_same(in->body, e->body) &&
           given_same(in->turn_id, e->turn_id) && given_same(in->channel, e->channel) &&
           given_same(in->author, e->author) && given_same(in->state_delta, e->delta) &&
           (!in->created || in->created == e->created);
}

const m_entry *m_origin(const m_entry *e, m_session **of)
{
    *of = e->of;
    e = e->from;
    while (e && e->gone && e->from) {
        *of = e->of;
        e = e->from;
    }
    return e;
}

bool m_came_from(const m_entry *to, const m_entry *e)
{
    bool found = to->from == e || (to->from && to->from->gone && m_came_from(to->from, e));
    for (size_t i = 0; i < to->n_sums && !found; i++)
        found = to->sums[i] == e || (to->sums[i]->gone && m_came_from(to->sums[i], e));
    return found;
}
