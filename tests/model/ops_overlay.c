/* SPDX-License-Identifier: Apache-2.0
 *
 * ops_overlay.c: operations on overlays, and reads of the context view.
 */
#include "content.h"
#include "driver.h"
#include "via.h"

#include <string.h>

static void laid(world *w, m_set want, const m_answer *a, const ramet_overlay_out *got)
{
    world_judge(w, w->m.got, want);
    if (!a->session || world_failed(w))
        return;
    world_learn(w, a->session, a->branch);
    if (world_failed(w))
        return;
    if (got->head.branch != a->branch->id || got->head.length != (int64_t)a->branch->n)
        world_fail(w, "overlay.head", "b%lld with %lld entries, not b%lld with %zu",
                   (long long)got->head.branch, (long long)got->head.length,
                   (long long)a->branch->id, a->branch->n);
}

void run_overlay(world *w, const op *o)
{
    const char *id = slot_id(w, o->a[A_S]);
    m_session *s = slot_session(w, o->a[A_S]);
    m_branch *b = s ? s->head : NULL;
    ramet_overlay_in in = {.entry_id = entry_named(w, s, b, o->a[A_AT]),
                           .action = (ramet_overlay_action)(1 + o->a[A_K] % 5 % 3),
                           .reason = content_reason(o->a[A_REASON]),
                           .expected_head = head_ref(b, o->a[A_XH])};
    in.text = in.action == RAMET_OVERLAY_REPLACE ? "other words" : NULL;
    m_answer a = {0};
    ramet_overlay_out out = {0};
    w->m.got = ramet_overlay_set(w->call, id, &in, &out);
    m_set want = model_overlay(&w->m, w->user, id, &in, &a);
    if (a.session)
        ((m_overlay *)a.branch->overlays.items[a.branch->overlays.n - 1])->id = out.id;
    laid(w, want, &a, &out);
}

void run_overlay_remove(world *w, const op *o)
{
    const char *id = slot_id(w, o->a[A_S]);
    m_session *s = slot_session(w, o->a[A_S]);
    m_branch *b = s ? s->head : NULL;
    const char *xh = head_ref(b, o->a[A_XH]);
    size_t n = b ? b->overlays.n : 0;
    int64_t overlay = 999999; /* one that there is not */
    if (n && o->a[A_K] < 28)
        overlay = ((m_overlay *)b->overlays.items[(size_t)o->a[A_K] % n])->id;
    m_answer a = {0};
    ramet_overlay_out out = {0};
    w->m.got = ramet_overlay_remove(w->call, id, overlay, NULL, xh, false, &out);
    laid(w, model_overlay_remove(&w->m, w->user, id, overlay, xh, &a), &a, &out);
}

/* ------------------------------------------------------------------ reading */

typedef struct shown {
    size_t at[4096];
    size_t n;
} shown;

/* What [lo, hi) shows of a channel. */
static void shown_find(const m_branch *b, int64_t lo, int64_t hi, const char *channel, shown *out)
{
    const char *text;
    out->n = 0;
    for (int64_t i = lo; i < hi; i++)
        if ((!channel || !strcmp(channel, b->path[i]->channel)) &&
            m_context_shows(b, (size_t)i, &text))
            out->at[out->n++] = (size_t)i;
}

static void page_compare(world *w, const m_branch *b, const ramet_page *page, const shown *all,
                         size_t first, size_t n)
{
    if (page->n != n) {
        world_fail(w, "context", "%zu entries, not %zu", page->n, n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const char *text;
        size_t at = all->at[first + i];
        m_context_shows(b, at, &text);
        if (page->entries[i].position != (int64_t)at || !m_same(page->entries[i].text, text))
            world_fail(w, "context", "%s at %lld says \"%s\", not \"%s\" at %zu",
                       page->entries[i].id, (long long)page->entries[i].position,
                       page->entries[i].text, text, at);
    }
}

void run_context(world *w, const op *o)
{
    const char *id = slot_id(w, o->a[A_S]);
    m_session *s = slot_session(w, o->a[A_S]);
    int64_t branch = branch_ref(w, s, RAMET_LOG_MAIN, o->a[A_BR]);
    m_branch *b = s ? m_branch_find(s, RAMET_LOG_MAIN, branch) : NULL;
    ramet_read_in in = {.limit = 1 + o->a[A_LIM] * 4,
                        .after = entry_ref(w, s, b, o->a[A_AFTER]),
                        .before = entry_ref(w, s, b, o->a[A_BEFORE]),
                        .tail = o->a[A_TAIL],
                        .channel = content_channel(o->a[A_CH]),
                        .branch = branch,
                        .view = RAMET_VIEW_CONTEXT};
    ramet_page page = {0};
    static shown all, before, after;
    m_set bad = m_open(&w->m, w->user, id, RAMET_READER, &s);
    const m_entry *lo = b && in.after ? m_branch_entry(b, in.after) : NULL;
    const m_entry *hi = b && in.before ? m_branch_entry(b, in.before) : NULL;
    if (s && !b)
        bad |= M(BRANCH_NOT_FOUND);
    else if (s && ((in.after && !lo) || (in.before && !hi)))
        bad |= M(ENTRY_NOT_FOUND);
    ramet_status st = ramet_read(w->call, id, &in, &page);
    world_judge(w, st, bad ? bad : M(OK));
    if (st != RAMET_OK || world_failed(w) || b->n > 4096)
        return;
    int64_t from = lo ? lo->position + 1 : 0, to = hi ? hi->position : (int64_t)b->n;
    shown_find(b, from, to < from ? from : to, in.channel, &all);
    size_t n = all.n < (size_t)in.limit ? all.n : (size_t)in.limit;
    size_t first = in.tail ? all.n - n : 0;
    page_compare(w, b, &page, &all, first, n);
    int64_t begin = n ? (int64_t)all.at[first] : in.tail ? (to < from ? from : to) : from;
    int64_t end = n ? (int64_t)all.at[first + n - 1] + 1 : begin;
    shown_find(b, 0, begin, in.channel, &before);
    shown_find(b, end, (int64_t)b->n, in.channel, &after);
    if (page.more_before != (before.n > 0) || page.more_after != (after.n > 0))
        world_fail(w, "context", "more before %d, after %d; not %d, %d", page.more_before,
                   page.more_after, before.n > 0, after.n > 0);
}
