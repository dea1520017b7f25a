/* SPDX-License-Identifier: Apache-2.0
 *
 * diff.c: `ramet diff` shows two or more histories from where they differ: side by side if there is
 * room, otherwise one below the other, with the words that differ marked.
 */
#include "cli/commands.h"
#include "cli/render.h"
#include "cli/word_diff.h"

#include "form/native.h"

#include <string.h>

enum { MAX_SIDES = 16, MIN_COLUMN = 48, GUTTER = 3 };

/* Below this, two messages have too little in common, and marking words would only be noise. */
static const double alike_enough = 0.35;

/* Text with a style for every byte. */
typedef struct painted {
    char *text;
    unsigned char *style;
    size_t n, at; /* at: how much of it has been printed */
} painted;

typedef struct diff {
    cli *cli;
    ramet_compare_out out;
    int column; /* width of a side; 0: one below the other */
} diff;

static style side_style(size_t i)
{
    static const style styles[] = {ST_MINUS, ST_PLUS, ST_USER, ST_TAG, ST_TOOL, ST_ASSISTANT};
    return styles[i % (sizeof styles / sizeof *styles)];
}

static char side_letter(size_t i)
{
    return (char)('A' + (int)i);
}

/* ------------------------------------------------------------------ summary */

/* The time of the last entry of its own, and the total duration. */
static const char *side_times(cli *c, const ramet_compare_side *s)
{
    if (!s->own)
        return "";
    const char *ago = time_ago(c, s->last);
    if (s->last - s->first < 1000000)
        return ago;
    return arena_printf(c->mem, "%s, took %s", ago, span_text(c, s->last - s->first));
}

static void print_summary(diff *d)
{
    cli *c = d->cli;
    char branch[24];
    grid *t = grid_new(c, 7, 1);
    grid_right(t, 4);
    for (size_t i = 0; i < d->out.n; i++) {
        const ramet_compare_side *s = &d->out.sides[i];
        char letter[2] = {side_letter(i), 0};
        grid_row(t);
        grid_cell(t, side_style(i), letter);
        grid_cell(t, ST_BOLD, s->title);
        grid_cell(t, ST_ID,
                  arena_printf(c->mem, "%s@%s", short_id(c, s->session),
                               ramet_branch_text(s->branch, branch)));
        grid_cell(t, ST_OFF, agent_text(c, &s->agent));
        grid_cell(t, ST_OFF, arena_printf(c->mem, "%s own", number_text(c, s->own)));
        grid_cell(t, ST_DIM,
                  usage_text(c, s->usage.input, s->usage.output, s->usage.cached, s->usage.money,
                             s->usage.n_money));
        grid_cell(t, ST_DIM, side_times(c, s));
    }
    grid_print(t);
    bool equal = true;
    for (size_t i = 0; i < d->out.n; i++)
        equal &= d->out.sides[i].own == 0;
    printf("%s%s%s%s\n", st(c, ST_DIM), count_text(c, d->out.shared, "entry", "entries"),
           equal ? " each: the histories are the same" : " shared", st(c, ST_OFF));
}

/* ------------------------------------------------------------------ painting */

static void paint_add(buf *text, buf *styles, const char *s, size_t n, style paint)
{
    buf_add(text, s, n);
    buf_pad(styles, (char)paint, n);
}

static painted paint_take(cli *c, buf *text, buf *styles)
{
    painted p = {.n = text->n};
    p.text = buf_keep(text, c->mem);
    p.style = (unsigned char *)buf_keep(styles, c->mem);
    return p;
}

static painted paint_plain(cli *c, const char *s)
{
    buf text, styles;
    buf_init(&text, 64 << 20);
    buf_init(&styles, 64 << 20);
    paint_add(&text, &styles, s, strlen(s), ST_OFF);
    return paint_take(c, &text, &styles);
}

/* The spans of one side (or of both), with changes coloured or in brackets. */
static painted paint_words(cli *c, const words_diff *w, bool gone, bool fresh)
{
    static const char *const brackets[][2] = {{"", ""}, {"[-", "-]"}, {"{+", "+}"}};
    buf text, styles;
    buf_init(&text, 64 << 20);
    buf_init(&styles, 64 << 20);
    for (size_t i = 0; i < w->n; i++) {
        const words_span *s = &w->spans[i];
        if ((s->kind == WORDS_GONE && !gone) || (s->kind == WORDS_NEW && !fresh))
            continue;
        style paint = s->kind == WORDS_GONE ? ST_MINUS : s->kind == WORDS_NEW ? ST_PLUS : ST_OFF;
        const char *const *b = brackets[c->color ? WORDS_SAME : s->kind];
        paint_add(&text, &styles, b[0], strlen(b[0]), paint);
        paint_add(&text, &styles, s->text, s->n, paint);
        paint_add(&text, &styles, b[1], strlen(b[1]), paint);
    }
    return paint_take(c, &text, &styles);
}

/* Prints the next line of it; returns the columns used. */
static int paint_line(cli *c, painted *p, int columns)
{
    size_t skip, n = text_wrap(p->text + p->at, p->n - p->at, columns, &skip);
    const char *line = p->text + p->at;
    for (size_t i = 0; i < n;) {
        size_t end = i;
        style paint = (style)p->style[p->at + i];
        while (end < n && p->style[p->at + end] == (unsigned char)paint)
            end++;
        printf("%s%.*s%s", paint == ST_OFF ? "" : st(c, paint), (int)(end - i), line + i,
               paint == ST_OFF ? "" : st(c, ST_OFF));
        i = end;
    }
    p->at += n + skip;
    return text_columns(line, n);
}

/* ------------------------------------------------------------------ one row */

typedef struct row {
    const ramet_entry *entry[MAX_SIDES]; /* NULL: this side has none here */
    const char *text[MAX_SIDES];
    painted body[MAX_SIDES];
} row;

static void row_fill(diff *d, row *r, const ramet_turn_row *turn, int64_t k)
{
    cli *c = d->cli;
    memset(r, 0, sizeof *r);
    for (size_t i = 0; i < d->out.n; i++) {
        int64_t at = turn->side[i].from + k;
        if (at >= turn->side[i].to)
            continue;
        r->entry[i] = &d->out.sides[i].entries[at];
        r->text[i] = text_safe(c->mem, entry_plain(c, r->entry[i]), true);
        r->body[i] = paint_plain(c, r->text[i]);
    }
}

/* The words that differ between two entries of a row; false if they have too little in common. */
static bool row_words(diff *d, const row *r, size_t a, size_t b, words_diff *w)
{
    if (!r->entry[a] || !r->entry[b] || r->entry[a]->role != r->entry[b]->role)
        return false;
    *w = words_compare(d->cli->mem, r->text[a], r->text[b]);
    return w->alike >= alike_enough;
}

static void print_label(diff *d, size_t i, const ramet_entry *e)
{
    cli *c = d->cli;
    printf("%s%c%s %s@%lld%s %s%s%s", st(c, side_style(i)), side_letter(i), st(c, ST_OFF),
           st(c, ST_ID), (long long)e->position + 1, st(c, ST_OFF), st(c, role_style(e->role)),
           ramet_role_name(e->role), st(c, ST_OFF));
}

static int label_columns(const ramet_entry *e)
{
    return snprintf(NULL, 0, "A @%lld %s", (long long)e->position + 1, ramet_role_name(e->role));
}

/* ------------------------------------------------------------------ side by side */

/* Between two sides: pads the column of side i and draws the line. */
static void gutter(diff *d, size_t i, int used)
{
    if (i + 1 < d->out.n)
        printf("%*s %s%s%s", d->column - used, "", st(d->cli, ST_DIM), gl(d->cli, G_LINE),
               st(d->cli, ST_OFF));
}

/* The blank after that line, if something follows. */
static void indent(size_t i)
{
    if (i)
        putchar(' ');
}

static void print_labels(diff *d, const row *r)
{
    for (size_t i = 0; i < d->out.n; i++) {
        if (r->entry[i]) {
            indent(i);
            print_label(d, i, r->entry[i]);
        }
        gutter(d, i, (r->entry[i] ? label_columns(r->entry[i]) : -(i > 0)));
    }
    putchar('\n');
}

static void print_columns(diff *d, row *r, bool first)
{
    cli *c = d->cli;
    words_diff w;
    for (size_t i = 1; i < d->out.n; i++)
        if (row_words(d, r, 0, i, &w)) {
            r->body[i] = paint_words(c, &w, false, true);
            if (d->out.n == 2)
                r->body[0] = paint_words(c, &w, true, false);
        }
    for (size_t i = 0; i < d->out.n && !first; i++)
        gutter(d, i, -(i > 0));
    putchar('\n');
    print_labels(d, r);
    for (;;) {
        bool left = false;
        for (size_t i = 0; i < d->out.n; i++)
            left |= r->body[i].at < r->body[i].n;
        if (!left)
            break;
        for (size_t i = 0; i < d->out.n; i++) {
            bool more = r->body[i].at < r->body[i].n;
            if (more)
                indent(i);
            gutter(d, i, more ? paint_line(c, &r->body[i], d->column) : -(i > 0));
        }
        putchar('\n');
    }
}

/* ------------------------------------------------------------------ one under the other */

static void print_body(diff *d, painted *p)
{
    enum { INDENT = 4 };
    cli *c = d->cli;
    while (p->at < p->n) {
        printf("%*s", INDENT, "");
        paint_line(c, p, c->width > 0 ? c->width - INDENT : 0);
        putchar('\n');
    }
}

static void print_below(diff *d, row *r)
{
    words_diff w;
    if (d->out.n == 2 && row_words(d, r, 0, 1, &w)) {
        painted both = paint_words(d->cli, &w, true, true);
        putchar('\n');
        print_label(d, 0, r->entry[0]);
        printf("  ");
        print_label(d, 1, r->entry[1]);
        putchar('\n');
        print_body(d, &both);
        return;
    }
    for (size_t i = 0; i < d->out.n; i++) {
        if (!r->entry[i])
            continue;
        if (i && row_words(d, r, 0, i, &w))
            r->body[i] = paint_words(d->cli, &w, false, true);
        putchar('\n');
        print_label(d, i, r->entry[i]);
        putchar('\n');
        print_body(d, &r->body[i]);
    }
}

/* ------------------------------------------------------------------ the command */

static void print_turns(diff *d)
{
    for (size_t t = 0; t < d->out.n_turns; t++) {
        const ramet_turn_row *turn = &d->out.turns[t];
        int64_t max = 0;
        for (size_t i = 0; i < d->out.n; i++)
            if (turn->side[i].to - turn->side[i].from > max)
                max = turn->side[i].to - turn->side[i].from;
        for (int64_t k = 0; k < max; k++) {
            row r;
            row_fill(d, &r, turn, k);
            if (d->column)
                print_columns(d, &r, t == 0 && k == 0);
            else
                print_below(d, &r);
        }
    }
    bool cut = false;
    for (size_t i = 0; i < d->out.n; i++) {
        const ramet_compare_side *s = &d->out.sides[i];
        if (s->own <= (int64_t)s->n)
            continue;
        printf("%s%s%c: %s more; -n N shows the first N%s\n", cut ? "" : "\n", st(d->cli, ST_DIM),
               side_letter(i), count_text(d->cli, s->own - (int64_t)s->n, "entry", "entries"),
               st(d->cli, ST_OFF));
        cut = true;
    }
}

int cmd_diff(cli *c)
{
    ramet_side_in sides[MAX_SIDES];
    diff d = {.cli = c};
    int64_t limit = opt_count(c, "limit", 100);
    int code = 0;
    if (c->argc > MAX_SIDES)
        return cli_error(c, RAMET_INVALID, "sides", "%d sides are too many; %d at most", c->argc,
                         MAX_SIDES);
    for (int i = 0; i < c->argc; i++)
        if (!side_named(c, c->argv[i], &sides[i], &code))
            return code;
    if (lib->ramet_compare(c->call, sides, (size_t)c->argc, limit > 1000 ? 1000 : (int)limit,
                           &d.out) != RAMET_OK)
        return cli_fail(c);
    if (c->json) {
        native_compare(json_begin(c), &d.out);
        return json_end(c);
    }
    print_summary(&d);
    if (opt_flag(c, "stat"))
        return 0;
    int n = (int)d.out.n, room = (c->width - GUTTER * (n - 1)) / n;
    d.column = room >= MIN_COLUMN ? room : 0;
    print_turns(&d);
    return 0;
}
