/* SPDX-License-Identifier: Apache-2.0
 *
 * model_view.c: what can be read from the model: versions, state, usage, titles, lists.
 */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---------------------------------------------------------------- versions */

static int entry_order(const void *a, const void *b)
{
    const m_entry *x = *(m_entry *const *)a, *y = *(m_entry *const *)b;
    return (x->order > y->order) - (x->order < y->order);
}

static bool shares_before(const m_branch *a, const m_branch *b, size_t at)
{
    return a->n >= at && b->n >= at && (at == 0 || a->path[at - 1] == b->path[at - 1]);
}

void m_branch_versions(const m_session *s, const m_branch *b, size_t at, m_list *out)
{
    for (size_t i = 0; i < s->branches.n; i++) {
        const m_branch *k = s->branches.items[i];
        if (k->log != b->log || k->pruned || k->n <= at || !shares_before(k, b, at))
            continue;
        bool known = false;
        for (size_t j = 0; j < out->n; j++)
            known |= out->items[j] == k->path[at];
        if (!known)
            m_list_add(out, k->path[at]);
    }
    if (out->n)
        qsort(out->items, out->n, sizeof *out->items, entry_order);
}

m_branch *m_version_branch(const m_session *s, const m_entry *e)
{
    m_branch *newest = NULL;
    for (size_t i = 0; i < s->branches.n; i++) {
        m_branch *b = s->branches.items[i];
        if (b->log == RAMET_LOG_MAIN && !b->pruned && b->n > (size_t)e->position &&
            b->path[e->position] == e)
            newest = b;
    }
    return newest;
}

size_t m_branches_shared(const m_branch *a, const m_branch *b)
{
    size_t n = 0;
    while (n < a->n && n < b->n && a->path[n] == b->path[n])
        n++;
    return n;
}

bool m_holds(const m_session *s, const m_entry *e)
{
    for (size_t i = 0; i < s->branches.n; i++) {
        const m_branch *b = s->branches.items[i];
        if (b->log == e->owner->log && !b->pruned && b->n > (size_t)e->position &&
            b->path[e->position] == e)
            return true;
    }
    return false;
}

/* ------------------------------------------------------------------- state */

/* The value of a key in a delta of the test's own making, which has no space and nests with
 * balanced brackets; *len 0 when the key is not there. */
static const char *delta_value(const char *delta, int key, size_t *len)
{
    char name[16];
    int depth = 0;
    snprintf(name, sizeof name, "\"k%d\":", key);
    const char *p = strstr(delta, name);
    *len = 0;
    if (!p)
        return NULL;
    p += strlen(name);
    for (const char *q = p; *q; q++) {
        depth += *q == '{' || *q == '[';
        if (depth == 0 && (*q == ',' || *q == '}'))
            break;
        depth -= *q == '}' || *q == ']';
        ++*len;
    }
    return p;
}

static void path_values(const m_branch *b, size_t n, const char *value[M_KEYS], size_t len[M_KEYS])
{
    for (size_t i = 0; i < n; i++)
        for (int k = 0; b->path[i]->delta && k < M_KEYS; k++) {
            size_t l;
            const char *v = delta_value(b->path[i]->delta, k, &l);
            if (v) {
                value[k] = strncmp(v, "null", 4) == 0 ? NULL : v;
                len[k] = l;
            }
        }
}

void m_path_state(const m_branch *b, size_t n, const m_branch *adk, char *out, size_t size)
{
    const char *value[M_KEYS] = {0}, *beside[M_KEYS] = {0};
    size_t len[M_KEYS] = {0}, beside_len[M_KEYS] = {0}, used = 0, cut = 0;
    path_values(b, n, value, len);
    while (adk && cut < adk->n && (n == b->n || adk->path[cut]->main_len <= (int64_t)n))
        cut++;
    if (adk)
        path_values(adk, cut, beside, beside_len);
    used += (size_t)snprintf(out, size, "{");
    for (int k = 0; k < M_KEYS; k++) {
        const char *v = value[k] ? value[k] : beside[k];
        size_t l = value[k] ? len[k] : beside_len[k];
        if (v)
            used += (size_t)snprintf(out + used, size - used, "%s\"k%d\":%.*s", used > 1 ? "," : "",
                                     k, (int)l, v);
    }
    snprintf(out + used, size - used, "}");
}

/* ------------------------------------------------------------------- usage */

void m_sum_add(m_sum *s, const m_entry *e)
{
    if (!e->has_usage)
        return;
    s->entries++;
    s->input += e->usage.input;
    s->output += e->usage.output;
    s->cached += e->usage.cached;
    if (!e->usage.cost)
        return;
    size_t i = 0;
    while (i < s->n_money && !m_same(s->money[i].currency, e->usage.currency))
        i++;
    if (i == s->n_money)
        s->money[s->n_money++].currency = e->usage.currency;
    s->money[i].cost += e->usage.cost;
}

void m_usage(const model *m, const m_session *s, const char *user, m_sum *own, m_sum *path,
             m_sum *tree, m_sum *least)
{
    const m_branch *heads[] = {s->head, s->adk};
    for (int log = 0; log < 2; log++) {
        for (size_t i = 0; i < s->record[log].n; i++)
            if (!((m_entry *)s->record[log].items[i])->gone)
                m_sum_add(own, s->record[log].items[i]);
        for (size_t i = 0; heads[log] && i < heads[log]->n; i++)
            m_sum_add(path, heads[log]->path[i]);
    }
    for (size_t i = 0; i < m->entries.n; i++) {
        const m_entry *e = m->entries.items[i];
        if (e->by->tree != s->tree || e->gone || !m_visible(e->by, user))
            continue;
        m_sum_add(tree, e);
        if (!user || !e->by->purged || e->by->visibility != RAMET_PRIVATE)
            m_sum_add(least, e);
    }
}

/* ------------------------------------------------------------ titles, lists */

enum {
    TITLE_CHARS = 60,
    TITLE_LOOK = 32, /* entries looked through for the first user message */
};

/* The first line that is not blank, trimmed; cut, the last character is an ellipsis. */
static void first_line(const char *text, size_t chars, char *out, size_t size)
{
    size_t n = 0, keep = 0, count = 0;
    text += strspn(text, " \n");
    const char *end = text + strcspn(text, "\n");
    while (end > text && end[-1] == ' ')
        end--;
    for (const char *p = text; p < end && n + 4 < size; p++) {
        if (((unsigned char)*p & 0xC0) != 0x80) {
            keep = count < chars ? n : keep;
            if (count++ == chars) {
                snprintf(out + keep, size - keep, "\xE2\x80\xA6");
                return;
            }
        }
        out[n++] = *p;
    }
    out[n] = 0;
}

static void first_words(const m_session *s, char *out, size_t size)
{
    out[0] = 0;
    for (size_t i = 0; i < s->head->n && i < TITLE_LOOK && !out[0]; i++)
        if (s->head->path[i]->role == RAMET_USER)
            first_line(m_entry_shown(s->head, s->head->path[i])->text, TITLE_CHARS, out, size);
}

void m_words(const m_session *s, char *out, size_t size)
{
    const char *name = *s->title ? s->title : s->from_title ? s->from_title : "";
    snprintf(out, size, "%s", name);
    if (!*out)
        first_words(s, out, size);
}

void m_shown_title(const m_session *s, char *out, size_t size)
{
    char words[1024];
    m_words(s, words, sizeof words);
    if (*s->title || !s->is_fork)
        snprintf(out, size, "%s", words);
    else
        snprintf(out, size, *words ? "Fork of %s" : "Fork", words);
}

bool m_listed(const model *m, const m_session *s, const char *user, const ramet_list_in *in)
{
    char title[2048];
    if (in->deleted ? !m_restorable(m, s, user) : !m_shown(m, s, user))
        return false;
    if (in->owner && strcmp(in->owner, s->owner) != 0)
        return false;
    if (in->agent && !m_same(in->agent, s->agent_name))
        return false;
    if (in->tree && strcmp(in->tree, s->tree->id) != 0)
        return false;
    if (in->archived == RAMET_ARCHIVED_EXCLUDE
            ? s->archived
            : in->archived == RAMET_ARCHIVED_ONLY && !s->archived)
        return false;
    bool tagged = !in->tag;
    for (size_t i = 0; i < s->tags.n; i++)
        tagged |= in->tag && strcmp(in->tag, s->tags.items[i]) == 0;
    m_shown_title(s, title, sizeof title);
    return tagged && (!in->title || strcasestr(title, in->title));
}
