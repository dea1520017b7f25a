/* SPDX-License-Identifier: Apache-2.0
 *
 * grid.c: tables for users: columns as wide as their cells, one of which is cut to fit.
 */
#include "cli/term.h"

#include <string.h>

enum { MAX_COLUMNS = 10, GAP = 2 };

typedef struct cell {
    style paint;
    const char *text;
    int width;
} cell;

struct grid {
    cli *cli;
    int n, flex;
    bool right[MAX_COLUMNS];
    int width[MAX_COLUMNS];
    VEC(cell) cells;
    bool headed;
};

grid *grid_new(cli *c, int n, int flex)
{
    grid *t = arena_alloc(c->mem, sizeof *t);
    t->cli = c;
    t->n = n;
    t->flex = flex;
    return t;
}

void grid_right(grid *t, int column)
{
    t->right[column] = true;
}

void grid_head(grid *t, ...)
{
    va_list ap;
    va_start(ap, t);
    for (int i = 0; i < t->n; i++)
        grid_cell(t, ST_DIM, va_arg(ap, const char *));
    va_end(ap);
    t->headed = true;
}

void grid_row(grid *t)
{
    while (t->cells.n % (size_t)t->n)
        grid_cell(t, ST_OFF, "");
}

void grid_cell(grid *t, style s, const char *text)
{
    cell x = {s, text_safe(t->cli->mem, text ? text : "", false), 0};
    int at = (int)(t->cells.n % (size_t)t->n);
    x.width = text_columns(x.text, strlen(x.text));
    if (x.width > t->width[at])
        t->width[at] = x.width;
    VEC_PUSH(t->cli->mem, &t->cells, x);
}

static void grid_fit(grid *t)
{
    enum { MIN_WIDTH = 12 };
    int total = GAP * (t->n - 1);
    for (int i = 0; i < t->n; i++)
        total += t->width[i];
    int over = t->cli->width > 0 ? total - t->cli->width : 0;
    if (over <= 0 || t->flex < 0)
        return;
    int less = t->width[t->flex] - over;
    t->width[t->flex] =
        less < MIN_WIDTH ? (t->width[t->flex] < MIN_WIDTH ? t->width[t->flex] : MIN_WIDTH) : less;
}

static void print_row(grid *t, const cell *row)
{
    int last = t->n - 1;
    while (last > 0 && !row[last].width)
        last--;
    for (int i = 0; i <= last; i++) {
        const char *text = row[i].text;
        int width = row[i].width;
        if (i == t->flex && width > t->width[i]) {
            text = text_cut(t->cli, text, t->width[i]);
            width = text_columns(text, strlen(text));
        }
        int pad = t->width[i] - width;
        bool plain = row[i].paint == ST_OFF || !width;
        printf("%*s%s%s%s", t->right[i] ? pad : 0, "", plain ? "" : st(t->cli, row[i].paint), text,
               plain ? "" : st(t->cli, ST_OFF));
        if (i < last)
            printf("%*s", (t->right[i] ? 0 : pad) + GAP, "");
    }
    putchar('\n');
}

void grid_print(grid *t)
{
    grid_row(t);
    grid_fit(t);
    for (size_t i = 0; i < t->cells.n; i += (size_t)t->n)
        print_row(t, &t->cells.items[i]);
}
