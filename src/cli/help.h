/* SPDX-License-Identifier: Apache-2.0
 *
 * help.h: the table of commands, told to people (terminal, man page, Markdown).
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cli/cli.h"

int help_show(cli *c, const command_def *cmd); /* NULL: the overview */
int help_man(cli *c);
int help_markdown(cli *c);
/* "-n, --limit N"; and what it does, with its choices */
const char *option_label(cli *c, const option_def *o);
const char *option_text(cli *c, const option_def *o);

#endif
