/* SPDX-License-Identifier: Apache-2.0
 *
 * manual.c: writes the table of commands as a man page and as Markdown.
 */
#include "cli/help.h"

#include <string.h>

/* Calls back for each exit code and the statuses that cause it. */
static void each_exit(void (*begin)(int code),
                      void (*one)(bool first, const char *code, const char *text),
                      void (*end)(void))
{
    static const struct {
        const char *code, *text;
        int exit_code;
    } rows[] = {
#define X(name, code, http, exit_code, text) {code, text, exit_code},
        RAMET_STATUSES(X)
#undef X
    };
    const size_t n = sizeof rows / sizeof *rows;
    for (int number = 0; number < 128; number++) {
        bool first = true;
        for (size_t i = 0; i < n; i++) {
            if (rows[i].exit_code != number)
                continue;
            if (first)
                begin(number);
            one(first, rows[i].code, rows[i].text);
            first = false;
        }
        if (!first)
            end();
    }
}

/* ------------------------------------------------------------------ troff */

/* Text in troff: backslashes and dashes escaped, no line may begin with a dot or quote. */
static void troff(const char *s)
{
    bool line_start = true;
    for (; *s; s++) {
        if (line_start && (*s == '.' || *s == '\''))
            fputs("\\&", stdout);
        line_start = *s == '\n';
        if (*s == '\\')
            fputs("\\e", stdout);
        else if (*s == '-')
            fputs("\\-", stdout);
        else if (*s == '\'')
            fputs("\\(aq", stdout);
        else if (*s == '~')
            fputs("\\(ti", stdout);
        else if (*s == '^')
            fputs("\\(ha", stdout);
        else
            putchar(*s);
    }
}

static void troff_line(const char *macro, const char *s)
{
    fputs(macro, stdout);
    troff(s);
    putchar('\n');
}

static void troff_paragraphs(const char *s)
{
    while (*s) {
        const char *end = strstr(s, "\n\n");
        size_t n = end ? (size_t)(end - s) : strlen(s);
        char text[2048];
        snprintf(text, sizeof text, "%.*s", (int)n, s);
        puts(".PP");
        troff_line("", text);
        s += n + (end ? 2 : 0);
    }
}

static void troff_item(const char *label, const char *text)
{
    puts(".TP");
    troff_line(".B ", label);
    troff_line("", text);
}

static void troff_exit_begin(int code)
{
    printf(".TP\n.B %d\n", code);
}

static void troff_exit_one(bool first, const char *code, const char *text)
{
    if (!first)
        puts(".br");
    troff(code);
    fputs(": ", stdout);
    troff_line("", text);
}

static void exit_end(void)
{
}

static const char *trimmed_label(cli *c, const option_def *o)
{
    const char *label = option_label(c, o);
    return label + strspn(label, " ");
}

static void troff_command(cli *c, const command_def *d)
{
    printf(".SS ramet ");
    troff(d->name);
    putchar(' ');
    troff(d->synopsis);
    puts(d->options ? " [options]" : "");
    troff(d->summary);
    puts(".");
    if (d->about)
        troff_paragraphs(d->about);
    for (const option_def *o = d->options; o && o->name; o++)
        troff_item(trimmed_label(c, o), option_text(c, o));
    for (const example_def *e = d->examples; e && e->command; e++) {
        puts(".PP\n.EX");
        troff_line("  ramet ", e->command);
        puts(".EE\n.RS 6");
        troff_line("", e->text);
        puts(".RE");
    }
}

int help_man(cli *c)
{
    puts(".TH RAMET 1 \"\" \"ramet " RAMET_VERSION "\" \"User Commands\"\n"
         ".nh\n.ad l\n"
         ".SH NAME\nramet \\- sessions that fork: a store for AI conversations\n"
         ".SH SYNOPSIS\n.B ramet\n.I COMMAND\n[arguments] [options]\n.SH DESCRIPTION");
    troff_line("", cli_description);
    puts(".SH NAMES");
    for (const topic_def *t = cli_names; t->name; t++)
        troff_item(t->name, t->text);
    puts(".SH OPTIONS OF EVERY COMMAND");
    for (const option_def *o = cli_globals; o->name; o++)
        troff_item(trimmed_label(c, o), option_text(c, o));
    for (int g = 0; g < GROUP_COUNT; g++) {
        printf(".SH ");
        for (const char *p = cli_groups[g]; *p; p++)
            putchar(*p >= 'a' && *p <= 'z' ? *p - 32 : *p);
        putchar('\n');
        for (const command_def *d = cli_commands; d->name; d++)
            if (d->group == (command_group)g && !(d->flags & CMD_HIDDEN))
                troff_command(c, d);
    }
    puts(".SH EXIT STATUS\nErrors are one line on standard error; with \\-\\-json, an object "
         "{code, error, field?, head?}.");
    each_exit(troff_exit_begin, troff_exit_one, exit_end);
    puts(".SH ENVIRONMENT");
    for (const topic_def *t = cli_environment; t->name; t++)
        troff_item(t->name, t->text);
    return 0;
}

/* ------------------------------------------------------------------ Markdown */

/* A cell of a table: a bar would end it. */
static void markdown_cell(const char *s)
{
    for (; *s; s++) {
        if (*s == '|')
            putchar('\\');
        putchar(*s);
    }
}

static void markdown_options(cli *c, const option_def *defs)
{
    puts("\n| option | |\n|---|---|");
    for (const option_def *o = defs; o->name; o++) {
        printf("| `");
        markdown_cell(trimmed_label(c, o));
        printf("` | ");
        markdown_cell(option_text(c, o));
        puts(" |");
    }
}

static void markdown_topics(const topic_def *topics, const char *quote)
{
    puts("\n| | |\n|---|---|");
    for (const topic_def *t = topics; t->name; t++) {
        printf("| %s%s%s | ", quote, t->name, quote);
        markdown_cell(t->text);
        puts(" |");
    }
}

static void markdown_exit_begin(int code)
{
    printf("| %d | ", code);
}

static void markdown_exit_one(bool first, const char *code, const char *text)
{
    printf("%s`%s`: ", first ? "" : "<br>", code);
    markdown_cell(text);
}

static void markdown_exit_end(void)
{
    puts(" |");
}

static void markdown_command(cli *c, const command_def *d)
{
    printf("\n### `ramet %s%s%s`\n\n%s.\n", d->name, *d->synopsis ? " " : "", d->synopsis,
           d->summary);
    if (d->about)
        printf("\n%s\n", d->about);
    if (d->options)
        markdown_options(c, d->options);
    if (!d->examples)
        return;
    puts("\n```sh");
    for (const example_def *e = d->examples; e->command; e++)
        printf("ramet %s    # %s\n", e->command, e->text);
    puts("```");
}

int help_markdown(cli *c)
{
    printf("# The command line\n\nGenerated by `ramet help --markdown` from the table in "
           "`src/cli/table.c`; "
           "a test compares them.\n\n%s\n\n`ramet COMMAND [arguments] [options]`\n\n## Names\n",
           cli_description);
    markdown_topics(cli_names, "`");
    puts("\n## Options of every command");
    markdown_options(c, cli_globals);
    for (int g = 0; g < GROUP_COUNT; g++) {
        printf("\n## %s\n", cli_groups[g]);
        for (const command_def *d = cli_commands; d->name; d++)
            if (d->group == (command_group)g && !(d->flags & CMD_HIDDEN))
                markdown_command(c, d);
    }
    puts("\n## Exit codes\n\nErrors are one line on standard error; with `--json`, an object "
         "`{code, error, field?, head?}`.\n\n| exit | |\n|---|---|");
    each_exit(markdown_exit_begin, markdown_exit_one, markdown_exit_end);
    puts("\n## Environment");
    markdown_topics(cli_environment, "`");
    return 0;
}
