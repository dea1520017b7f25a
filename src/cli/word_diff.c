/* SPDX-License-Identifier: Apache-2.0
 *
 * word_diff.c: the difference of two texts, word by word. E. Myers, "An O(ND) difference algorithm
 * and its variations" (1986), over words, blanks and single punctuation characters.
 */
#include "cli/word_diff.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

enum { MAX_EDITS = 800 };

typedef struct token {
    const char *text;
    size_t n;
} token;

typedef struct tokens {
    token *items;
    size_t n, cap;
} tokens;

static bool is_word(unsigned char ch)
{
    return isalnum(ch) || ch == '_' || ch >= 0x80;
}

static bool is_blank(unsigned char ch)
{
    return ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r';
}

/* Punctuation that holds a word together: 23:30, 3.14, don't. */
static bool joins(const char *s)
{
    return (*s == ':' || *s == '.' || *s == '\'') && is_word((unsigned char)s[1]);
}

static tokens split(arena *mem, const char *s)
{
    tokens t = {0};
    while (*s) {
        const char *end = s + 1;
        if (is_word((unsigned char)*s))
            while (is_word((unsigned char)*end) || joins(end))
                end++;
        else if (is_blank((unsigned char)*s))
            while (is_blank((unsigned char)*end))
                end++;
        token x = {s, (size_t)(end - s)};
        VEC_PUSH(mem, &t, x);
        s = end;
    }
    return t;
}

static bool same(const token *a, const token *b)
{
    return a->n == b->n && memcmp(a->text, b->text, a->n) == 0;
}

/* ------------------------------------------------------------------ the script */

typedef struct script {
    arena *mem;
    words_span *items; /* in reverse order during the search */
    size_t n, cap;
} script;

static void script_add(script *s, words_kind kind, const token *t)
{
    words_span x = {kind, t->text, t->n};
    VEC_PUSH(s->mem, s, x);
}

static void script_turn(script *s)
{
    for (size_t i = 0, j = s->n; i + 1 < j; i++) {
        words_span x = s->items[i];
        s->items[i] = s->items[--j];
        s->items[j] = x;
    }
}

/* Row d of the search: v[k] = how far diagonal k got; rows are kept to walk back. */
typedef struct search {
    const token *left, *right;
    int n_left, n_right;
    int *rows[MAX_EDITS + 1];
} search;

static int row_at(const search *s, int d, int k)
{
    return s->rows[d][k + d];
}

static bool goes_down(const search *s, int d, int k)
{
    return k == -d || (k != d && row_at(s, d - 1, k - 1) < row_at(s, d - 1, k + 1));
}

/* The number of edits; -1 if there are too many. */
static int search_run(arena *mem, search *s)
{
    for (int d = 0; d <= MAX_EDITS; d++) {
        s->rows[d] = arena_array(mem, (size_t)(2 * d + 1), sizeof(int));
        for (int k = -d; k <= d; k += 2) {
            int x = d == 0               ? 0
                    : goes_down(s, d, k) ? row_at(s, d - 1, k + 1)
                                         : row_at(s, d - 1, k - 1) + 1;
            int y = x - k;
            while (x < s->n_left && y < s->n_right && y >= 0 && same(&s->left[x], &s->right[y])) {
                x++;
                y++;
            }
            s->rows[d][k + d] = x;
            if (x == s->n_left && y == s->n_right)
                return d;
        }
    }
    return -1;
}

static void search_walk_back(const search *s, int d, script *out)
{
    int x = s->n_left, y = s->n_right;
    for (; d > 0; d--) {
        int k = x - y;
        bool down = goes_down(s, d, k);
        int from_k = down ? k + 1 : k - 1;
        int from_x = row_at(s, d - 1, from_k), from_y = from_x - from_k;
        while (x > from_x && y > from_y && (down ? y - 1 > from_y : x - 1 > from_x)) {
            script_add(out, WORDS_SAME, &s->right[--y]);
            x--;
        }
        if (down)
            script_add(out, WORDS_NEW, &s->right[--y]);
        else
            script_add(out, WORDS_GONE, &s->left[--x]);
    }
    while (y > 0)
        script_add(out, WORDS_SAME, &s->right[--y]);
}

static void edit_script(arena *mem, const token *a, int n, const token *b, int m, script *out)
{
    search s = {.left = a, .right = b, .n_left = n, .n_right = m};
    script part = {.mem = mem};
    int d = search_run(mem, &s);
    if (d >= 0) {
        search_walk_back(&s, d, &part);
        script_turn(&part);
        for (size_t i = 0; i < part.n; i++)
            VEC_PUSH(mem, out, part.items[i]);
        return;
    }
    for (int i = 0; i < n; i++)
        script_add(out, WORDS_GONE, &a[i]);
    for (int i = 0; i < m; i++)
        script_add(out, WORDS_NEW, &b[i]);
}

/* ------------------------------------------------------------------ tidying */

static bool only_blank(const words_span *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (!is_blank((unsigned char)s->text[i]))
            return false;
    return true;
}

static bool run_has(const script *s, size_t from, size_t to, words_kind kind)
{
    while (from < to && s->items[from].kind != kind)
        from++;
    return from < to;
}

/* One run of changes, deletions before insertions: "[-a b-]{+x y+}" reads better than "[-a-]{+x+}
 * [-b-]{+y+}". Blanks between two changes belong to them, if both texts have some. */
static size_t run_of_changes(const script *s, size_t at)
{
    size_t end = at;
    while (end < s->n) {
        if (s->items[end].kind != WORDS_SAME)
            end++;
        else if (end > at && end + 1 < s->n && only_blank(&s->items[end]) &&
                 s->items[end + 1].kind != WORDS_SAME)
            end++;
        else
            break;
    }
    if (!run_has(s, at, end, WORDS_GONE) || !run_has(s, at, end, WORDS_NEW))
        for (end = at; end < s->n && s->items[end].kind != WORDS_SAME;)
            end++;
    return end;
}

static void add_side(arena *mem, const script *s, size_t from, size_t to, words_kind kind,
                     script *out)
{
    char *text;
    size_t n = 0, o = 0;
    bool any = false;
    for (size_t i = from; i < to; i++) {
        any |= s->items[i].kind == kind;
        n += s->items[i].kind == kind || s->items[i].kind == WORDS_SAME ? s->items[i].n : 0;
    }
    if (!any)
        return;
    text = arena_alloc(mem, n + 1);
    for (size_t i = from; i < to; i++)
        if (s->items[i].kind == kind || s->items[i].kind == WORDS_SAME) {
            memcpy(text + o, s->items[i].text, s->items[i].n);
            o += s->items[i].n;
        }
    words_span x = {kind, text, n};
    VEC_PUSH(mem, out, x);
}

/* Blanks that both sides of the last run end with are equal after all. */
static void give_back_blanks(arena *mem, script *out)
{
    if (out->n < 2)
        return;
    words_span *gone = &out->items[out->n - 2], *fresh = gone + 1;
    size_t n = 0;
    if (gone->kind != WORDS_GONE || fresh->kind != WORDS_NEW)
        return;
    while (n < gone->n && n < fresh->n && is_blank((unsigned char)gone->text[gone->n - 1 - n]) &&
           gone->text[gone->n - 1 - n] == fresh->text[fresh->n - 1 - n])
        n++;
    if (!n)
        return;
    gone->n -= n;
    fresh->n -= n;
    words_span x = {WORDS_SAME, fresh->text + fresh->n, n};
    VEC_PUSH(mem, out, x);
}

static void tidy(arena *mem, const script *s, script *out)
{
    for (size_t i = 0; i < s->n;) {
        size_t end = run_of_changes(s, i);
        if (end > i) {
            add_side(mem, s, i, end, WORDS_GONE, out);
            add_side(mem, s, i, end, WORDS_NEW, out);
            give_back_blanks(mem, out);
            i = end;
            continue;
        }
        words_span x = s->items[i++];
        while (i < s->n && s->items[i].kind == WORDS_SAME && run_of_changes(s, i) == i &&
               s->items[i].text == x.text + x.n)
            x.n += s->items[i++].n;
        VEC_PUSH(mem, out, x);
    }
}

static double likeness(const script *s)
{
    size_t alike = 0, all = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (only_blank(&s->items[i]))
            continue;
        size_t weight = s->items[i].kind == WORDS_SAME ? 2 * s->items[i].n : s->items[i].n;
        all += weight;
        if (s->items[i].kind == WORDS_SAME)
            alike += weight;
    }
    return all ? (double)alike / (double)all : 1;
}

words_diff words_compare(arena *mem, const char *a, const char *b)
{
    tokens x = split(mem, a), y = split(mem, b);
    script raw = {.mem = mem}, out = {.mem = mem};
    size_t head = 0, tail = 0;
    while (head < x.n && head < y.n && same(&x.items[head], &y.items[head]))
        script_add(&raw, WORDS_SAME, &y.items[head++]);
    while (tail < x.n - head && tail < y.n - head &&
           same(&x.items[x.n - 1 - tail], &y.items[y.n - 1 - tail]))
        tail++;
    edit_script(mem, x.items + head, (int)(x.n - head - tail), y.items + head,
                (int)(y.n - head - tail), &raw);
    for (size_t i = y.n - tail; i < y.n; i++)
        script_add(&raw, WORDS_SAME, &y.items[i]);
    tidy(mem, &raw, &out);
    return (words_diff){out.items, out.n, likeness(&raw)};
}
