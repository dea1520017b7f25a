/* SPDX-License-Identifier: Apache-2.0
 *
 * help.c: shows the table of commands on a terminal: `ramet help`, `--help`, `version`.
 */
#include "cli/help.h"

#include "cli/commands.h"
#include "cli/term.h"

#include <string.h>

enum { HELP_WIDTH = 100, MARGIN = 2 };

const char *option_label(cli *c, const option_def *o)
{
    const char *letter = o->letter ? arena_printf(c->mem, "-%c, ", o->letter) : "    ";
    return arena_printf(c->mem, "%s--%s%s%s", letter, o->name, o->value ? " " : "",
                        o->value ? o->value : "");
}

const char *option_text(cli *c, const option_def *o)
{
    return o->choices ? arena_printf(c->mem, "%s (%s)", o->text, o->choices) : o->text;
}

static int help_columns(const cli *c)
{
    return c->width > 0 && c->width < HELP_WIDTH ? c->width : HELP_WIDTH;
}

static void print_wrapped(const cli *c, const char *s, int indent)
{
    size_t n = strlen(s);
    for (size_t i = 0; i < n;) {
        size_t skip, len = text_wrap(s + i, n - i, help_columns(c) - indent, &skip);
        printf("%*s%.*s\n", len ? indent : 0, "", (int)len, s + i);
        i += len + skip;
    }
}

/* Prints a label, and next to it a text wrapped in its own column. */
static void print_item(const cli *c, const char *label, const char *text, int column)
{
    size_t n = strlen(text), skip = 0;
    int used = MARGIN + text_columns(label, strlen(label));
    printf("%*s%s%s%s", MARGIN, "", st(c, ST_BOLD), label, st(c, ST_OFF));
    if (used + 2 > column) {
        putchar('\n');
        used = 0;
    }
    for (size_t i = 0; i < n; i += skip) {
        size_t len = text_wrap(text + i, n - i, help_columns(c) - column, &skip);
        printf("%*s%.*s\n", column - used, "", (int)len, text + i);
        used = 0;
        skip += len;
    }
}

static void print_title(const cli *c, const char *title)
{
    printf("\n%s%s%s\n", st(c, ST_HERE), title, st(c, ST_OFF));
}

static void print_options(cli *c, const option_def *defs)
{
    int column = 0;
    for (const option_def *o = defs; o->name; o++) {
        int w = MARGIN + 2 + text_columns(option_label(c, o), strlen(option_label(c, o)));
        if (w > column)
            column = w;
    }
    for (const option_def *o = defs; o->name; o++)
        print_item(c, option_label(c, o), option_text(c, o), column);
}

static void print_overview(cli *c)
{
    print_wrapped(c, cli_description, 0);
    printf("\n%susage:%s ramet COMMAND [arguments] [options]\n", st(c, ST_BOLD), st(c, ST_OFF));
    for (int g = 0; g < GROUP_COUNT; g++) {
        print_title(c, cli_groups[g]);
        for (const command_def *d = cli_commands; d->name; d++)
            if (d->group == (command_group)g && !(d->flags & CMD_HIDDEN))
                print_item(c, d->name, d->summary, 15);
    }
    print_title(c, "Options of every command");
    print_options(c, cli_globals);
    print_title(c, "Names");
    for (const topic_def *t = cli_names; t->name; t++)
        print_item(c, t->name, t->text, 15);
    printf("\n'ramet help COMMAND' shows the help for a command; 'ramet help --man' prints the\n"
           "whole manual, with the exit codes and the environment.\n");
}

static void print_command(cli *c, const command_def *d)
{
    int column = 0;
    printf("%sramet %s%s: %s\n", st(c, ST_BOLD), d->name, st(c, ST_OFF), d->summary);
    printf("\n%susage:%s ramet %s%s%s%s\n", st(c, ST_BOLD), st(c, ST_OFF), d->name,
           *d->synopsis ? " " : "", d->synopsis, d->options ? " [options]" : "");
    if (d->about) {
        putchar('\n');
        print_wrapped(c, d->about, 0);
    }
    if (d->args) {
        print_title(c, "Arguments");
        for (const arg_def *a = d->args; a->name; a++)
            column = (int)strlen(a->name) > column ? (int)strlen(a->name) : column;
        for (const arg_def *a = d->args; a->name; a++)
            print_item(c, a->name, a->text, MARGIN + column + 2);
    }
    if (d->options) {
        print_title(c, "Options");
        print_options(c, d->options);
    }
    if (d->examples) {
        print_title(c, "Examples");
        for (const example_def *e = d->examples; e->command; e++)
            printf("  ramet %s\n      %s%s%s\n", e->command, st(c, ST_DIM), e->text, st(c, ST_OFF));
    }
    printf("\n'ramet help' shows the options of every command and how sessions and entries are "
           "named.\n");
}

int help_show(cli *c, const command_def *cmd)
{
    if (cmd)
        print_command(c, cmd);
    else
        print_overview(c);
    return 0;
}

int cmd_help(cli *c)
{
    if (opt_flag(c, "man"))
        return help_man(c);
    if (opt_flag(c, "markdown"))
        return help_markdown(c);
    if (opt_flag(c, "settings"))
        return help_settings(c);
    if (opt_text(c, "api"))
        return help_api(c, opt_text(c, "api"));
    if (opt_flag(c, "openapi"))
        return help_openapi(c);
    if (!c->argc)
        return help_show(c, NULL);
    const command_def *d = command_find(c->argv[0]);
    if (!d)
        return cli_error(c, RAMET_INVALID, "command", "there is no command '%s'; see 'ramet help'",
                         c->argv[0]);
    return help_show(c, d);
}

int cmd_version(cli *c)
{
    if (c->json) {
        json_writer *w = json_begin(c);
        jw_object(w);
        jw_kstr(w, "version", RAMET_VERSION);
        jw_end_object(w);
        return json_end(c);
    }
    printf("ramet %s\n", RAMET_VERSION);
    return 0;
}
