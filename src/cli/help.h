/* SPDX-License-Identifier: Apache-2.0
 *
 * help.h: the table of commands for users (terminal, man page, Markdown).
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cli/cli.h"

int help_show(cli *c, const command_def *cmd); /* NULL: the overview */
int help_man(cli *c);
int help_markdown(cli *c);
int help_settings(cli *c);              /* settings of the server; in serve.c */
int help_api(cli *c, const char *name); /* docs/api/NAME.md; in api.c */
int help_openapi(cli *c);
/* "-n, --limit N"; and its description, with its choices */
const char *option_label(cli *c, const option_def *o);
const char *option_text(cli *c, const option_def *o);

#endif
