/* SPDX-License-Identifier: Apache-2.0
 *
 * Finding matches, ranked, a page at a time.
 *
 * Matches are read in windows of the newest ones, and ranked within the window: so the most common
 * word costs no more than any other. A rare phrase of common words costs by the documents that are
 * examined: there a window ends early. When a window is used up, the next older one follows. Access
 * is checked in order of rank, until the page is full.
 *
 * A cursor holds the newest document at the time of the first page, so that later documents do not
 * shift the pages, and everything that the score depends on.
 */
#include "core/call.h"
#include "core/model/entry.h"
#include "core/model/key.h"
#include "core/search/search.h"

#include <stdlib.h>

typedef struct window {
    fts_doc *items; /* best first */
    size_t n;
    int64_t high, lowest;
    fts_window size; /* without a phrase `enough` equals `most` */
    bool more;       /* there are older matches */
} window;

static int by_rank(const void *a, const void *b)
{
    const fts_doc *x = a, *y = b;
    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return (x->no < y->no) - (x->no > y->no);
}

static bool has_phrase(const query *q)
{
    for (size_t i = 0; i < q->n_find; i++)
        if (q->terms[i].n > 1)
            return true;
    return false;
}

static void window_read(finder *f, fts_want *want, window *w)
{
    fts_doc d;
    w->n = 0;
    w->more = false;
    fts_find(f->index, want, f->low, w->high);
    while (!w->more && fts_next(f->index, &d)) {
        w->more = w->n == w->size.max || (w->n >= w->size.enough && w->high - d.no > w->size.span);
        if (w->more)
            break;
        w->lowest = d.no;
        w->items[w->n++] = d;
    }
    fts_end(f->index);
    qsort(w->items, w->n, sizeof *w->items, by_rank);
}

/* --------------------------------------------------------------------- hits */

/* The id and texts of an entry; they live until f->tmp is reset. */
static const char *entry_found(finder *f, const fts_doc *d, const char **text, const char **given)
{
    db_stmt *q = db_query(f->tx.db, Q_entry_found);
    q_int(q, 1, d->tree);
    q_int(q, 2, d->key);
    const char *id = NULL;
    *text = *given = NULL;
    f->tx.arena = f->tmp;
    if (q_row(q)) {
        id = q_keep_text(q, 0, f->call->arena);
        *text = q_col_int(q, 2) & FLAG_LARGE ? body_text(&f->tx, d->tree, d->key)
                                             : q_keep_text(q, 1, f->tmp);
        *given = q_keep_text(q, 3, f->tmp);
    }
    q_end(q);
    f->tx.arena = f->call->arena;
    *text = *text ? search_text(f->tmp, *text) : "";
    *given = *given ? search_text(f->tmp, *given) : NULL;
    return id;
}

/* False: there is nothing to show, because the entry or its sessions are gone, or it is not a
 * match. */
static bool hit_text(finder *f, const fts_doc *d, ramet_hit *h)
{
    const char *text, *given, *id = entry_found(f, d, &text, &given);
    if (!id || (d->unsure && !fts_text_fits(f->index, fts_whole(f->tmp, text, given),
                                            f->query->terms, f->query->n)))
        return false;
    fts_snippet s =
        fts_snippet_make(f->index, f->call->arena, text, f->query->terms, f->query->n_find);
    if (!s.n_marks && given)
        s = fts_snippet_make(f->index, f->call->arena, given, f->query->terms, f->query->n_find);
    h->entry_id = id;
    h->snippet = s.text;
    h->marks = s.marks;
    h->n_marks = s.n_marks;
    return true;
}

static bool hit_make(finder *f, const fts_doc *d, ramet_hit *h)
{
    seen *s = see_session(f, d);
    *h = (ramet_hit){0};
    bool there = s && hit_text(f, d, h);
    arena_reset(f->tmp);
    if (!there || !see_names(f, s))
        return false;
    h->session = s->id;
    h->title = s->title;
    h->branch = KEY_BRANCH(d->key);
    h->position = KEY_POS(d->key);
    h->role = (ramet_role)d->role;
    h->abandoned = !see_on_path(f, s, d->key);
    h->score = d->score;
    h->created = d->created;
    return true;
}

/* ---------------------------------------------------------------------- page */

typedef struct page {
    ramet_hits *out;
    size_t limit;
    search_cursor last; /* cursor of the last hit */
    bool full;          /* there is at least one more */
} page;

/* Whether the index or the store has failed, or was stopped because nobody waits any more. */
static bool has_failed(const finder *f)
{
    return db_status(fts_db(f->index)) != RAMET_OK || db_status(f->tx.db) != RAMET_OK;
}

static void page_add(finder *f, page *p, const window *w, size_t from, const fts_want *r)
{
    for (size_t i = from; i < w->n && !p->full && !has_failed(f); i++) {
        const fts_doc *d = &w->items[i];
        ramet_hit h;
        if (!hit_make(f, d, &h))
            continue;
        p->full = p->out->n == p->limit;
        if (p->full)
            break;
        p->out->items[p->out->n++] = h;
        p->last = (search_cursor){
            .top = r->top, .high = w->high, .no = d->no, .score = d->score, .average = r->average};
    }
}

/* Index of the first document after a cursor. */
static size_t window_after(const window *w, const search_cursor *p)
{
    fts_doc last = {.no = p->no, .score = p->score};
    size_t i = 0;
    while (i < w->n && by_rank(&w->items[i], &last) <= 0)
        i++;
    return i;
}

/* The cursor before everything that is indexed now. */
static void cursor_at_start(finder *f, search_cursor *p)
{
    fts_state s;
    fts_state_get(f->index, &s);
    p->top = s.top;
    p->average = (double)(s.bytes + 1) / (double)(s.top + 1);
}

static ramet_status page_find(finder *f, page *p)
{
    search_cursor from = {0};
    const char *cursor = f->in->cursor;
    if (cursor)
        TRY(search_cursor_parse(f->call, f->in, &from));
    else
        cursor_at_start(f, &from);
    f->top_high = from.top;
    TRY(see_begin(f));
    if (f->none)
        return RAMET_OK;
    bool look = f->check || f->only || f->in->since || f->in->until;
    fts_window size = *fts_window_of(f->index);
    if (!has_phrase(f->query))
        size.enough = size.max;
    fts_want want = {.terms = f->query->terms,
                     .n = f->query->n,
                     .n_find = f->query->n_find,
                     .scopes = f->scopes,
                     .n_scopes = f->n_scopes,
                     .top = from.top,
                     .average = from.average,
                     .enough = size.enough,
                     .pass = look ? see_pass : NULL,
                     .arg = f,
                     .arena = f->keep};
    window w = {.items = arena_array(f->keep, size.max, sizeof *w.items),
                .size = size,
                .high = cursor ? from.high : f->top_high};
    p->out->bounded = w.high < f->top_high;
    for (;;) {
        window_read(f, &want, &w);
        p->out->bounded |= w.more;
        page_add(f, p, &w, cursor ? window_after(&w, &from) : 0, &want);
        if (p->full || !w.more || has_failed(f))
            return RAMET_OK; /* the caller looks for a failure */
        w.high = w.lowest - 1;
        cursor = NULL;
    }
}

ramet_status find_page(finder *f, int limit, ramet_hits *out)
{
    page p = {.out = out, .limit = (size_t)limit};
    f->keep = arena_new();
    f->tmp = arena_new();
    out->items = arena_array(f->call->arena, p.limit, sizeof *out->items);
    ramet_status st = page_find(f, &p);
    if (st == RAMET_OK && p.full)
        out->next_cursor = search_cursor_text(f->call, f->in, &p.last);
    arena_free(f->keep);
    arena_free(f->tmp);
    return st;
}
