/* SPDX-License-Identifier: Apache-2.0
 *
 * Matches, ranked, a page at a time.
 *
 * Matches are taken in windows of the newest WINDOW ones, and ranked within the window:
 * so the commonest word costs no more than any other. A phrase of common words that is
 * itself rare costs by the documents that are looked through: there a window ends early.
 * When a window is used up, the next older one follows. Access is looked at in order of
 * rank, until the page is full.
 *
 * A cursor holds the top document of the first page, so later ones do not come between,
 * and everything the score depends on.
 */
#include "core/search.h"

#include <stdlib.h>

#define WINDOW 5000
#define PHRASE_WINDOW 1000 /* with a phrase, so many suffice, when they came from ... */
#define PHRASE_SPAN 100000 /* ... more documents than this */

typedef struct window {
    fts_doc *items; /* best first */
    size_t n;
    int64_t high, lowest;
    bool more; /* older matches are left */
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

static void window_read(finder *f, fts_rank *r, window *w)
{
    size_t enough = has_phrase(f->q) ? PHRASE_WINDOW : WINDOW;
    w->n = 0;
    w->more = false;
    fts_rank_set(f->f, r);
    db_stmt *q = db_query(f->d, Q_fts_find);
    q_text(q, 1, f->expression);
    q_int(q, 2, f->low);
    q_int(q, 3, w->high);
    while (!w->more && q_row(q)) {
        if (q_col_null(q, 6))
            continue;
        int64_t no = q_col_int(q, 0);
        w->more = w->n == WINDOW || (w->n >= enough && w->high - no > PHRASE_SPAN);
        if (w->more)
            break;
        w->lowest = no;
        w->items[w->n++] = (fts_doc){.no = w->lowest,
                                     .k = q_col_int(q, 1),
                                     .tree = q_col_int(q, 2),
                                     .session = q_col_int(q, 3),
                                     .role = (int)q_col_int(q, 4),
                                     .created = q_col_int(q, 5),
                                     .score = q_col_real(q, 6)};
    }
    q_end(q);
    fts_rank_set(f->f, NULL);
    qsort(w->items, w->n, sizeof *w->items, by_rank);
}

/* --------------------------------------------------------------------- hits */

static const char *entry_name(finder *f, const fts_doc *d)
{
    db_stmt *q = db_query(f->x.d, Q_entry_name);
    q_int(q, 1, d->tree);
    q_int(q, 2, d->k);
    const char *id = q_row(q) ? q_keep_text(q, 0, f->c->a) : NULL;
    q_end(q);
    return id;
}

static fts_snippet entry_snippet(finder *f, const fts_doc *d)
{
    const char *text = NULL;
    db_stmt *q = db_query(f->x.d, Q_entry_texts);
    q_int(q, 1, d->tree);
    q_int(q, 2, d->k);
    q_int(q, 3, d->k);
    f->x.a = f->tmp;
    if (q_row(q))
        text = q_col_int(q, 4) & FLAG_LARGE ? body_text(&f->x, d->tree, d->k) : q_col_text(q, 3);
    fts_snippet s = fts_snippet_make(f->f, f->c->a, text ? search_text(f->tmp, text) : "",
                                     f->q->terms, f->q->n_find);
    q_end(q);
    f->x.a = f->c->a;
    arena_reset(f->tmp);
    return s;
}

/* False: there is nothing to show, the entry or its sessions are gone. */
static bool hit_make(finder *f, const fts_doc *d, ramet_hit *h)
{
    seen *s = see_session(f, d);
    const char *id = s ? entry_name(f, d) : NULL;
    if (!id || !see_names(f, s))
        return false;
    fts_snippet text = entry_snippet(f, d);
    *h = (ramet_hit){.session = s->id,
                     .title = s->title,
                     .entry_id = id,
                     .branch = KEY_BRANCH(d->k),
                     .position = KEY_POS(d->k),
                     .role = (ramet_role)d->role,
                     .abandoned = !see_on_path(f, s, d->k),
                     .snippet = text.text,
                     .marks = text.marks,
                     .n_marks = text.n_marks,
                     .score = d->score,
                     .created = d->created};
    return true;
}

/* ---------------------------------------------------------------------- page */

typedef struct page {
    ramet_hits *out;
    size_t limit;
    place last; /* of the last hit */
    bool full;  /* and there is one more */
} page;

static void page_add(finder *f, page *p, const window *w, size_t from, const fts_rank *r)
{
    for (size_t i = from; i < w->n && !p->full; i++) {
        const fts_doc *d = &w->items[i];
        ramet_hit h;
        if (!hit_make(f, d, &h))
            continue;
        p->full = p->out->n == p->limit;
        if (p->full)
            break;
        p->out->items[p->out->n++] = h;
        p->last = (place){
            .top = r->top, .high = w->high, .no = d->no, .score = d->score, .average = r->average};
    }
}

/* Index of the first document behind a place. */
static size_t window_after(const window *w, const place *p)
{
    fts_doc last = {.no = p->no, .score = p->score};
    size_t i = 0;
    while (i < w->n && by_rank(&w->items[i], &last) <= 0)
        i++;
    return i;
}

/* The place before everything that is indexed now. */
static void index_place(finder *f, place *p)
{
    db_stmt *q = db_query(f->d, Q_fts_top);
    p->top = q_row(q) ? q_col_int(q, 0) : 0;
    q_end(q);
    p->average = (double)(follow_bytes(f->f) + 1) / (double)(p->top + 1);
}

static ramet_status page_find(finder *f, page *p)
{
    place from = {0};
    const char *cursor = f->in->cursor;
    if (cursor)
        TRY(place_parse(f->c, f->in, &from));
    else
        index_place(f, &from);
    f->top_high = from.top;
    TRY(see_begin(f));
    if (f->none)
        return RAMET_OK;
    bool look = f->check || f->only || f->in->since || f->in->until;
    fts_rank r = {.terms = f->q->terms,
                  .n = f->q->n_find,
                  .top = from.top,
                  .average = from.average,
                  .pass = look ? see_pass : NULL,
                  .arg = f,
                  .a = f->keep};
    window w = {.items = arena_array(f->keep, WINDOW, sizeof *w.items),
                .high = cursor ? from.high : f->top_high};
    p->out->bounded = w.high < f->top_high;
    for (;;) {
        window_read(f, &r, &w);
        p->out->bounded |= w.more;
        page_add(f, p, &w, cursor ? window_after(&w, &from) : 0, &r);
        if (p->full || !w.more)
            return RAMET_OK;
        w.high = w.lowest - 1;
        cursor = NULL;
    }
}

ramet_status find_page(ramet_call *c, fts *f, const ramet_search_in *in, int limit, const query *q,
                       ramet_hits *out)
{
    finder s = {.c = c, .in = in, .q = q, .d = fts_db(f), .f = f};
    page p = {.out = out, .limit = (size_t)limit};
    /* The index first: then the store's snapshot has all that is in it. */
    if (db_begin_read(s.d) != RAMET_OK)
        return index_fail(c, f);
    follow_bytes(f); /* the snapshot begins with the first read */
    ramet_status st;
    if (cx_read(&s.x, c)) {
        s.keep = arena_new();
        s.tmp = arena_new();
        out->items = arena_array(c->a, p.limit, sizeof *out->items);
        st = cx_done(&s.x, page_find(&s, &p));
        if (st == RAMET_OK && p.full)
            out->next_cursor = place_text(c, in, &p.last);
        arena_free(s.keep);
        arena_free(s.tmp);
    } else {
        st = c->err.status;
    }
    if (db_status(s.d) != RAMET_OK)
        st = index_fail(c, f);
    db_end_read(s.d);
    return st;
}
