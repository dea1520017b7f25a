/* SPDX-License-Identifier: Apache-2.0
 *
 * render.h: shows sessions, entries and their usage to users; shared by the commands that print
 * them.
 */
#ifndef CLI_RENDER_H
#define CLI_RENDER_H

#include "cli/cli.h"
#include "cli/term.h"

/* One part of an entry as text: a message, a tool call, its result, … */
typedef struct part_text {
    style paint;
    const char *text;
} part_text;
part_text *entry_parts(cli *c, const ramet_entry *e, size_t *n);
/* All parts joined into one text. */
const char *entry_plain(cli *c, const ramet_entry *e);
/* The first line, cut: of the text, else of the first tool call or other part. */
const char *entry_preview(cli *c, const ramet_entry *e, int columns);
/* Prints the header line and the indented text. */
void entry_print(cli *c, const ramet_entry *e);
/* Prints one line; `digits`: width of the largest position. */
void entry_print_line(cli *c, const ramet_entry *e, int digits);

/* "claude (opus-4)"; "" if it has none. */
const char *agent_text(cli *c, const ramet_agent *a);
/* " #travel #work", "" without tags */
const char *tags_text(cli *c, const ramet_session *s);
/* "1,204 in, 96 out, 300 cached, 0.02 USD"; "" if nothing was used */
const char *usage_text(cli *c, int64_t input, int64_t output, int64_t cached,
                       const ramet_money *money, size_t n_money);
/* The shown title, or (untitled). */
const char *title_text(const ramet_session *s);
/* Prints title, id, agent and so on, as above a log; `head` is that of the path shown. */
void session_print_head(cli *c, const ramet_session *s, const ramet_head *head);
/* The output of a command that moved or created something: JSON, an id, or a line. */
int session_answer(cli *c, const ramet_session *s, const ramet_cut *cut, const char *done);
/* {"sessions": [...]} or a table of them. */
int sessions_answer(cli *c, const ramet_session *items, size_t n);
void sessions_grid(cli *c, const ramet_session *items, size_t n);
/* Reads the agent options of the table into a struct; false if none is given. */
bool agent_options(const cli *c, ramet_agent *out);

#endif
