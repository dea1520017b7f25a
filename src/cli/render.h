/* SPDX-License-Identifier: Apache-2.0
 *
 * render.h: sessions, entries and their usage as people see them; shared by the
 * commands that print them.
 */
#ifndef CLI_RENDER_H
#define CLI_RENDER_H

#include "cli/cli.h"
#include "cli/term.h"

/* One part of an entry as text: what was said, a tool call, its result, … */
typedef struct part_text {
    style paint;
    const char *text;
} part_text;
part_text *entry_parts(cli *c, const ramet_entry *e, size_t *n);
/* All parts in one text. */
const char *entry_plain(cli *c, const ramet_entry *e);
/* The first line, cut: of what was said, else of the first thing that was done. */
const char *entry_preview(cli *c, const ramet_entry *e, int columns);
/* The header line and the indented text. */
void entry_print(cli *c, const ramet_entry *e);
/* One line; `digits`: width of the largest position. */
void entry_print_line(cli *c, const ramet_entry *e, int digits);

/* "claude (opus-4)"; "" when it has none. */
const char *agent_text(cli *c, const ramet_agent *a);
/* " #travel #work", "" without tags */
const char *tags_text(cli *c, const ramet_session *s);
/* "1,204 in, 96 out, 300 cached, 0.02 USD"; "" when nothing was used */
const char *usage_text(cli *c, int64_t input, int64_t output, int64_t cached,
                       const ramet_money *money, size_t n_money);
/* The shown title, or (untitled). */
const char *title_text(const ramet_session *s);
/* Title, id, agent and so on, as above a log; `head` is the one of the path shown. */
void session_print_head(cli *c, const ramet_session *s, const ramet_head *head);
/* What a command that moved or made something answers: JSON, an id, or a line. */
int session_answer(cli *c, const ramet_session *s, const ramet_cut *cut, const char *done);
/* {"sessions": [...]} or a table of them. */
int sessions_answer(cli *c, const ramet_session *items, size_t n);
void sessions_grid(cli *c, const ramet_session *items, size_t n);
/* The agent options of the table into a struct; false when none was given. */
bool agent_options(const cli *c, ramet_agent *out);

#endif
