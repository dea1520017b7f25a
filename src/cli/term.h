/* SPDX-License-Identifier: Apache-2.0
 *
 * term.h: the terminal: colours, width, pager, progress, questions, and text that fits into
 * columns. Nothing here knows the store.
 *
 * Text from a conversation never reaches the terminal unchanged: control characters are made
 * visible (^[), so that no message can move the cursor.
 */
#ifndef CLI_TERM_H
#define CLI_TERM_H

#include "cli/cli.h"

/* ---- set-up and end */
/* Detects the capabilities of the terminal. `color`: the value of --color. */
void term_setup(cli *c, const char *color);
void term_pager(cli *c); /* sends standard output through the pager from here on */
/* Flushes standard output and waits for the pager. False: writing failed (errno). */
bool term_close(void);

/* ---- styles: the escape sequence, "" without colour */
typedef enum {
    ST_OFF,
    ST_BOLD,
    ST_DIM,
    ST_ID,
    ST_TAG,
    ST_HERE, /* the current head */
    ST_USER,
    ST_ASSISTANT,
    ST_TOOL,
    ST_SYSTEM,
    ST_GONE, /* abandoned, deleted */
    ST_MARK, /* a search hit */
    ST_MINUS,
    ST_PLUS,
    ST_NOTE, /* a remark, not an alarm */
    ST_WARN,
    ST_COUNT
} style;
const char *st(const cli *c, style s);
style role_style(ramet_role role);

/* ---- glyphs: Unicode, or ASCII if the locale is not UTF-8 */
typedef enum {
    G_LINE,   /* │ */
    G_TEE,    /* ├ */
    G_ELBOW,  /* ╰ */
    G_DASH,   /* ─ */
    G_CORNER, /* ╮ */
    G_CLOSE,  /* ╯ */
    G_DOT,    /* ● on the current path */
    G_RING,   /* ○ elsewhere */
    G_HEAD,   /* ◆ */
    G_MORE,   /* ┊ */
    G_SEP,    /* · */
    G_ELLIPSIS,
    G_ARROW, /* → */
    G_TOOL,  /* ⚙ */
    G_REPLY, /* ↳ */
    G_CHECK,
    G_CROSS,
    G_BAR,   /* a full cell of a progress bar */
    G_TRACK, /* an empty one */
    G_COUNT
} glyph;
const char *gl(const cli *c, glyph g);

/* ---- text */
int text_columns(const char *s, size_t n); /* columns of one line */
/* `s` with control characters made visible; newlines and tabs stay if `lines` is set. */
char *text_safe(arena *a, const char *s, bool lines);
/* One line of at most `columns`, cut with an ellipsis. columns <= 0: uncut. */
char *text_cut(cli *c, const char *s, int columns);
/* How many bytes of s make the next line of at most `columns`, broken between words if possible;
 * *skip gets the blanks or newline after it. columns <= 0: no limit. */
size_t text_wrap(const char *s, size_t n, int columns, size_t *skip);
/* Prints text wrapped to the width, each line after `indent` blanks. */
void text_print(const cli *c, const char *s, int indent, style paint);
/* First line, cut. */
char *text_first_line(cli *c, const char *s, int columns);

/* ---- numbers and times for users; results live in c->mem */
const char *time_ago(cli *c, int64_t us);  /* "now", "3m", "2h", "5d", "2025-03-01" */
const char *time_full(cli *c, int64_t us); /* "2026-01-02 03:04:05", local */
const char *span_text(cli *c, int64_t us); /* "1m 12s" */
const char *count_text(cli *c, int64_t n, const char *one, const char *many); /* "1,204 entries" */
const char *number_text(cli *c, int64_t n);                                   /* "1,204" */
const char *bytes_text(cli *c, int64_t n);                                    /* "3.1 MiB" */
const char *money_text(cli *c, int64_t nano, const char *currency);           /* "0.0123 USD" */

/* ---- a table: cells in columns as wide as needed, one of which is cut to fit */
typedef struct grid grid;
/* `flex`: the column to cut if a row is wider than the terminal. */
grid *grid_new(cli *c, int n, int flex);
void grid_right(grid *t, int column); /* right-aligned, for numbers */
void grid_head(grid *t, ...);         /* n strings: headings */
void grid_row(grid *t);               /* begins a row */
void grid_cell(grid *t, style s, const char *text);
void grid_print(grid *t);

/* ---- progress, on stderr if it is a terminal and the work is long */
typedef struct progress {
    cli *cli;
    int64_t began, drawn;
    bool shown;
    bool bytes; /* counts bytes */
} progress;
void progress_begin(progress *p, cli *c);
/* A ramet_progress; also false after Ctrl-C. total <= 0: unknown. */
bool progress_step(void *p, const char *what, int64_t done, int64_t total);
void progress_end(progress *p);

/* Asks on the terminal; `no` if there is none. */
bool term_ask(cli *c, const char *question);

#endif
