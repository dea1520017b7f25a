/* SPDX-License-Identifier: Apache-2.0
 *
 * Matching of query terms in a text, and snippets.
 *
 * FTS5's snippet() is not used: it needs the text in a table, and its time grows with the square of
 * the matches, so that one long text full of a common word takes seconds.
 */
#include "store/search/search_index_internal.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

#define SNIPPET_WORDS 24
#define SNIPPET_BYTES 400 /* words can be very long */
#define LEAD_BYTES 120    /* before the first match */
#define MATCHES 1000      /* matches examined to choose the place */
#define MARKABLE 64       /* words of a query that can be marked: one bit each */
#define CUT_MARK "\xe2\x80\xa6"

/* -------------------------------------------------------------------- terms */

typedef struct cut_job {
    arena *arena;
    VEC(fts_token) v;
} cut_job;

static void cut_word(void *arg, const char *text, size_t len, size_t start, size_t end)
{
    cut_job *j = arg;
    (void)start;
    (void)end;
    fts_token t = {arena_memdup(j->arena, text, len), len};
    VEC_PUSH(j->arena, &j->v, t);
}

void fts_term_cut(fts *f, arena *a, fts_term *t)
{
    cut_job j = {.arena = a};
    tokenizer_run(f->cut, t->text, strlen(t->text), cut_word, &j);
    t->tokens = j.v.items;
    t->n = j.v.n;
}

/* --------------------------------------------------------------------- fits */

/* Matches one term at a time, so that a query may have any number of words. `run` tells, for each
 * number of words of the phrase, whether the last words of the text are its beginning. */
typedef struct fit {
    const fts_term *term;
    bool *run;
    bool found;
} fit;

static void fit_word(void *arg, const char *text, size_t len, size_t start, size_t end)
{
    fit *f = arg;
    (void)start;
    (void)end;
    for (size_t i = f->term->n; !f->found && i > 0; i--) {
        const fts_token *w = &f->term->tokens[i - 1];
        bool prefix = f->term->prefix && i == f->term->n;
        f->run[i] = f->run[i - 1] && (prefix ? len >= w->len : len == w->len) &&
                    memcmp(text, w->text, w->len) == 0;
    }
    f->found |= f->run[f->term->n];
}

bool fts_text_fits(fts *f, const char *text, const fts_term *terms, size_t n)
{
    bool fits = true;
    for (size_t i = 0; fits && i < n; i++) {
        fit one = {.term = &terms[i], .run = xcalloc(terms[i].n + 1, sizeof(bool))};
        one.run[0] = true;
        tokenizer_run(f->cut, text, strlen(text), fit_word, &one);
        fits = one.found != terms[i].without;
        free(one.run);
    }
    return fits;
}

/* ------------------------------------------------------------------ matches */

typedef struct word {
    uint32_t start, end; /* bytes in the text */
} word;

typedef struct match {
    size_t first, last; /* indexes of words */
    uint64_t term;      /* its bit */
} match;

/* Every word of the query is a bit; `state` has the bits of the phrases that the last words of the
 * text may be part of. */
typedef struct scan {
    const fts_token *token[MARKABLE];
    bool prefix[MARKABLE];
    size_t length[MARKABLE]; /* number of words of the phrase that ends here, else 0 */
    size_t n;
    uint64_t starts, state;
    word *words;
    size_t n_words, cap;
    match *matches;
    size_t n_matches;
} scan;

static void scan_terms(scan *s, const fts_term *terms, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const fts_term *t = &terms[i];
        if (t->without || !t->n || s->n + t->n > MARKABLE)
            continue;
        s->starts |= (uint64_t)1 << s->n;
        for (size_t j = 0; j < t->n; j++)
            s->token[s->n++] = &t->tokens[j];
        s->prefix[s->n - 1] = t->prefix;
        s->length[s->n - 1] = t->n;
    }
}

static bool word_is(const scan *s, size_t i, const char *text, size_t len)
{
    const fts_token *t = s->token[i];
    return (s->prefix[i] ? len >= t->len : len == t->len) && memcmp(text, t->text, t->len) == 0;
}

static void scan_word(void *arg, const char *text, size_t len, size_t start, size_t end)
{
    scan *s = arg;
    if (s->n_words == s->cap) {
        s->cap = s->cap ? s->cap * 2 : 256;
        s->words = xrealloc(s->words, s->cap * sizeof *s->words);
    }
    s->words[s->n_words] = (word){(uint32_t)start, (uint32_t)end};
    uint64_t same = 0;
    for (size_t i = 0; i < s->n; i++)
        if (word_is(s, i, text, len))
            same |= (uint64_t)1 << i;
    s->state = (s->state << 1 | s->starts) & same;
    for (size_t i = 0; s->state && i < s->n; i++)
        if (s->length[i] && s->state >> i & 1 && s->n_matches < MATCHES)
            s->matches[s->n_matches++] =
                (match){s->n_words + 1 - s->length[i], s->n_words, (uint64_t)1 << i};
    s->n_words++;
}

/* ------------------------------------------------------------------ snippet */

typedef struct extract {
    size_t from, to; /* bytes */
    bool cut_before, cut_after;
} extract;

static int match_order(const void *a, const void *b)
{
    const match *x = a, *y = b;
    return x->first != y->first ? (x->first > y->first) - (x->first < y->first)
                                : (x->last > y->last) - (x->last < y->last);
}

/* The match to begin with: the one with the most terms within a snippet's length. */
static const match *match_best(const scan *s, size_t *last)
{
    const match *best = s->matches;
    int best_value = -1;
    for (size_t i = 0; i < s->n_matches; i++) {
        uint64_t terms = 0;
        int times = 0;
        size_t end = s->matches[i].last;
        for (size_t j = i; j < s->n_matches && times < SNIPPET_WORDS; j++) {
            if (s->matches[j].last >= s->matches[i].first + SNIPPET_WORDS)
                break;
            terms |= s->matches[j].term;
            times++;
            end = s->matches[j].last > end ? s->matches[j].last : end;
        }
        int value = __builtin_popcountll(terms) * 2 * SNIPPET_WORDS + times;
        if (value > best_value) {
            best_value = value;
            best = &s->matches[i];
            *last = end;
        }
    }
    return best;
}

static extract extract_choose(const scan *s, size_t len)
{
    extract x = {0, len, false, false};
    if (!s->n_words)
        return x;
    size_t first = 0, last = 0, lead = 0;
    if (s->n_matches) {
        first = match_best(s, &last)->first;
        size_t used = last - first + 1;
        lead = used < SNIPPET_WORDS ? (SNIPPET_WORDS - used) / 2 : 0;
    }
    size_t at = s->words[first].start;
    while (lead && first && at - s->words[first - 1].start <= LEAD_BYTES) {
        first--;
        lead--;
    }
    size_t end = first + SNIPPET_WORDS;
    x.cut_before = first > 0 || s->words[first].start > LEAD_BYTES;
    if (x.cut_before)
        x.from = s->words[first].start;
    x.cut_after = end < s->n_words;
    if (x.cut_after)
        x.to = s->words[end - 1].end;
    return x;
}

typedef struct painter {
    char *out;
    size_t n;
    fts_snippet *to;
    bool space;
} painter;

static void paint_char(painter *p, const char *s, size_t n, uint32_t cp)
{
    if (utf8_is_space(cp) || cp < 0x20 || cp == 0x7f) {
        p->space = p->n > 0;
        return;
    }
    if (p->space)
        p->out[p->n++] = ' ';
    p->space = false;
    memcpy(p->out + p->n, s, n);
    p->n += n;
}

/* Copies to one line; matches within become marks. */
static size_t paint(painter *p, const scan *s, const char *text, const extract *x)
{
    size_t i = x->from, m = 0, until = 0, before = p->n;
    ramet_mark *mark = NULL;
    while (i < x->to && p->n - before < SNIPPET_BYTES) {
        for (; m < s->n_matches && s->words[s->matches[m].first].start <= i; m++) {
            size_t end = s->words[s->matches[m].last].end;
            if (s->words[s->matches[m].first].start < x->from || end <= until)
                continue;
            if (i >= until) {
                mark = &p->to->marks[p->to->n_marks++];
                mark->start = (int32_t)(p->n + (p->space ? 1 : 0));
            }
            until = end;
        }
        uint32_t cp = 0;
        size_t step = utf8_next(text + i, x->to - i, &cp);
        if (!step)
            break;
        paint_char(p, text + i, step, cp);
        i += step;
        if (mark && i <= until)
            mark->length = (int32_t)p->n - mark->start;
    }
    return i;
}

static fts_snippet snippet_paint(arena *a, const scan *s, const char *text, const extract *x)
{
    fts_snippet out = {.marks = arena_array(a, SNIPPET_BYTES + 1, sizeof(ramet_mark))};
    painter p = {.out = arena_alloc(a, SNIPPET_BYTES + 32), .to = &out};
    if (x->cut_before) {
        memcpy(p.out, CUT_MARK, strlen(CUT_MARK));
        p.n = strlen(CUT_MARK);
    }
    size_t end = paint(&p, s, text, x);
    if (end < x->to || x->cut_after) {
        memcpy(p.out + p.n, CUT_MARK, strlen(CUT_MARK));
        p.n += strlen(CUT_MARK);
    }
    p.out[p.n] = 0;
    out.text = p.out;
    return out;
}

fts_snippet fts_snippet_make(fts *f, arena *a, const char *text, const fts_term *terms, size_t n)
{
    size_t len = strlen(text);
    scan s = {.matches = xcalloc(MATCHES, sizeof(match))};
    scan_terms(&s, terms, n);
    tokenizer_run(f->cut, text, len, scan_word, &s);
    qsort(s.matches, s.n_matches, sizeof *s.matches, match_order);
    extract x = extract_choose(&s, len);
    fts_snippet out = snippet_paint(a, &s, text, &x);
    free(s.words);
    free(s.matches);
    return out;
}
