/* SPDX-License-Identifier: Apache-2.0
 *
 * options.c: parses a command line by the table, checks every value, and suggests what a mistyped
 * word was meant to be.
 */
#include "cli/cli.h"

#include "base/util.h"
#include "base/words.h"
#include "cli/help.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ guessing */

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edits (insert, remove, replace) between two short words. */
static size_t word_distance(const char *a, const char *b)
{
    enum { LONGEST = 40 };
    size_t row[LONGEST + 1], n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST)
        return LONGEST;
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t above = row[j];
            row[j] = min(min(row[j] + 1, row[j - 1] + 1), corner + (a[i - 1] != b[j - 1]));
            corner = above;
        }
    }
    return row[m];
}

const char *nearest_word(const char *word, const char *const *words, size_t n)
{
    const char *best = NULL;
    size_t len = strlen(word), near = len < 4 ? 1 : len < 7 ? 2 : 3;
    for (size_t i = 0; i < n; i++) {
        size_t d = word_distance(word, words[i]);
        /* A prefix is a more likely match than a word of the same length. */
        if (len >= 3 && strncmp(word, words[i], len) == 0)
            d = 0;
        if (d <= near && d < strlen(words[i])) {
            near = d ? d - 1 : 0;
            best = words[i];
            if (!d)
                break;
        }
    }
    return best;
}

static const char *hint(cli *c, const char *word, const char *before, const char *const *words,
                        size_t n)
{
    const char *near = nearest_word(word, words, n);
    return near ? arena_printf(c->mem, "did you mean '%s%s'?", before, near) : NULL;
}

/* ------------------------------------------------------------------ values */

bool span_parse(const char *s, int64_t *us)
{
    static const struct {
        const char *unit;
        int64_t seconds;
    } units[] = {{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}, {"w", 604800}};
    char *end;
    errno = 0;
    long long n = strtoll(s, &end, 10);
    if (errno || end == s || n < 0 || n > 1000000 || *s == ' ' || *s == '+')
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].unit) == 0) {
            *us = n * units[i].seconds * 1000000;
            return true;
        }
    return false;
}

static bool when_parse(const cli *c, const char *s, int64_t *us)
{
    int64_t span;
    if (span_parse(s, &span)) {
        *us = c->now - span;
        return true;
    }
    return time_parse(s, us);
}

static bool count_parse(const char *s, int64_t *out)
{
    char *end;
    errno = 0;
    long long n = strtoll(s, &end, 10);
    if (errno || end == s || *end || n < 1)
        return false;
    *out = n;
    return true;
}

static int bad_value(cli *c, const option_def *o, const char *value, const char *want)
{
    return cli_error(c, RAMET_INVALID, o->name, "--%s is '%s'; it must be %s", o->name, value,
                     want);
}

static int check_value(cli *c, const option_def *o, const char *value)
{
    int64_t n;
    json_doc doc;
    switch (o->kind) {
    case OPT_COUNT:
        return count_parse(value, &n) ? -1 : bad_value(c, o, value, "a whole number from 1 on");
    case OPT_SPAN:
        return span_parse(value, &n) ? -1
                                     : bad_value(c, o, value, "a span like 90s, 30m, 12h or 7d");
    case OPT_TIME:
        return when_parse(c, value, &n)
                   ? -1
                   : bad_value(c, o, value, "a date, an RFC 3339 time, or a span back like 3d");
    case OPT_CHOICE:
        return word_in(o->choices, "|", value)
                   ? -1
                   : bad_value(c, o, value, arena_printf(c->mem, "one of %s", o->choices));
    case OPT_JSON:
        return json_parse(c->mem, value, strlen(value), 0, &doc, NULL) &&
                       json_is(&doc.nodes[0], JSON_OBJECT)
                   ? -1
                   : bad_value(c, o, value, "a JSON object like '{\"key\": 1}'");
    case OPT_FLAG:
    case OPT_TEXT:
    case OPT_LIST:
        break;
    }
    return -1;
}

/* ------------------------------------------------------------------ parsing */

typedef struct scan {
    int argc, at;
    char **argv;
} scan;

static const option_def *find_long(const option_def *defs, const char *name, size_t n)
{
    for (const option_def *o = defs; o && o->name; o++)
        if (strlen(o->name) == n && memcmp(o->name, name, n) == 0)
            return o;
    return NULL;
}

bool options_have(const command_def *cmd, const char *name)
{
    return find_long(cmd->options, name, strlen(name)) != NULL;
}

static const option_def *find_letter(const option_def *defs, char letter)
{
    for (const option_def *o = defs; o && o->name; o++)
        if (o->letter == letter)
            return o;
    return NULL;
}

static int add_option(cli *c, const option_def *o, const char *value)
{
    c->given[c->n_given].def = o;
    c->given[c->n_given++].value = value;
    return value ? check_value(c, o, value) : -1;
}

static int unknown_option(cli *c, const char *shown, const char *name)
{
    const char *words[128];
    size_t n = 0;
    for (const option_def *o = c->cmd ? c->cmd->options : NULL; o && o->name; o++)
        words[n++] = o->name;
    for (const option_def *o = cli_globals; o->name; o++)
        words[n++] = o->name;
    const char *guess = name ? hint(c, name, "--", words, n) : NULL;
    const char *where =
        c->cmd ? arena_printf(c->mem, "ramet %s --help", c->cmd->name) : "ramet help";
    return cli_error(c, RAMET_INVALID, "", "unknown option '%s'; %s", shown,
                     guess ? guess : arena_printf(c->mem, "see '%s'", where));
}

static int missing_value(cli *c, const option_def *o)
{
    return cli_error(c, RAMET_INVALID, o->name, "--%s needs a value: --%s %s", o->name, o->name,
                     o->value);
}

static int parse_long(cli *c, scan *s, const char *word)
{
    const char *name = word + 2, *equals = strchr(name, '=');
    size_t n = equals ? (size_t)(equals - name) : strlen(name);
    const option_def *o = find_long(c->cmd ? c->cmd->options : NULL, name, n);
    if (!o)
        o = find_long(cli_globals, name, n);
    if (!o)
        return unknown_option(c, arena_printf(c->mem, "--%.*s", (int)n, name),
                              arena_memdup(c->mem, name, n));
    if (o->kind == OPT_FLAG)
        return equals ? cli_error(c, RAMET_INVALID, o->name, "--%s takes no value; '%s' was given",
                                  o->name, equals + 1)
                      : add_option(c, o, NULL);
    if (equals)
        return add_option(c, o, equals + 1);
    if (s->at >= s->argc)
        return missing_value(c, o);
    return add_option(c, o, s->argv[s->at++]);
}

static int parse_letters(cli *c, scan *s, const char *word)
{
    for (const char *p = word + 1; *p; p++) {
        const option_def *o = find_letter(c->cmd ? c->cmd->options : NULL, *p);
        if (!o)
            o = find_letter(cli_globals, *p);
        if (!o)
            return unknown_option(c, arena_printf(c->mem, "-%c", *p), NULL);
        if (o->kind != OPT_FLAG) {
            if (p[1])
                return add_option(c, o, p + 1);
            if (s->at >= s->argc)
                return missing_value(c, o);
            return add_option(c, o, s->argv[s->at++]);
        }
        int code = add_option(c, o, NULL);
        if (code >= 0)
            return code;
    }
    return -1;
}

static int unknown_command(cli *c, const char *word)
{
    static const char *const others[][2] = {
        {"ls", "list"},
        {"delete", "rm"},
        {"remove", "rm"},
        {"checkout", "switch"},
        {"reset", "rewind"},
        {"commit", "append"},
        {"add", "append"},
        {"branch", "branches"},
        {"init", "new"},
        {"create", "new"},
        {"reflog", "moves"},
        {"compare", "diff"},
        {"grep", "search"},
        {"find", "search"},
        {"cat", "show"},
        {"archive", "set --archive"},
        {"rename", "set --title"},
    };
    const char *words[128];
    size_t n = 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i][0], word) == 0)
            return cli_error(c, RAMET_INVALID, "", "unknown command '%s'; did you mean 'ramet %s'?",
                             word, others[i][1]);
    for (const command_def *d = cli_commands; d->name; d++)
        if (!(d->flags & CMD_HIDDEN))
            words[n++] = d->name;
    const char *guess = hint(c, word, "ramet ", words, n);
    return cli_error(c, RAMET_INVALID, "", "unknown command '%s'; %s", word,
                     guess ? guess : "see 'ramet help'");
}

static int check_args(cli *c)
{
    int max = 0, need = 0;
    const char *missing = NULL;
    for (const arg_def *a = c->cmd->args; a && a->name; a++) {
        max = a->repeated ? -1 : max + 1;
        if (!a->optional && ++need > c->argc && !missing)
            missing = a->name;
    }
    if (missing)
        return cli_error(c, RAMET_INVALID, missing, "%s is missing; usage: ramet %s %s", missing,
                         c->cmd->name, c->cmd->synopsis);
    if (max >= 0 && c->argc > max)
        return cli_error(c, RAMET_INVALID, "", "unexpected argument '%s'; usage: ramet %s %s",
                         c->argv[max], c->cmd->name, c->cmd->synopsis);
    return -1;
}

static int parse_word(cli *c, scan *s, char *word, bool *plain)
{
    if (!*plain && strcmp(word, "--") == 0) {
        *plain = true;
        return -1;
    }
    if (!*plain && word[0] == '-' && word[1] == '-')
        return parse_long(c, s, word);
    if (!*plain && word[0] == '-' && word[1])
        return parse_letters(c, s, word);
    if (c->cmd) {
        c->argv[c->argc++] = word;
        return -1;
    }
    c->cmd = command_find(word);
    return c->cmd ? -1 : unknown_command(c, word);
}

int options_parse(cli *c, int argc, char **argv)
{
    scan s = {argc, 1, argv};
    bool plain = false;
    size_t letters = 1;
    for (int i = 0; i < argc; i++)
        letters += strlen(argv[i]) + 1;
    c->argv = arena_array(c->mem, (size_t)argc + 1, sizeof *c->argv);
    c->given = arena_array(c->mem, letters, sizeof *c->given);
    /* Must be known before the first error can occur, wherever it is. */
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        c->json |= strcmp(argv[i], "--json") == 0;
    while (s.at < argc) {
        char *word = s.argv[s.at++];
        int code = parse_word(c, &s, word, &plain);
        if (code >= 0)
            return code;
        if (c->cmd && c->cmd->flags & CMD_RAW) {
            while (s.at < argc)
                c->argv[c->argc++] = s.argv[s.at++];
            return -1;
        }
    }
    if (opt_flag(c, "version"))
        c->cmd = command_find("version");
    else if (!c->cmd || opt_flag(c, "help"))
        return help_show(c, c->cmd);
    return check_args(c);
}

/* ------------------------------------------------------------------ asking */

static const char *const no_value = "";

/* The last value of an option; NULL if it is missing. */
static const char *find_value(const cli *c, const char *name)
{
    const char *value = NULL;
    bool known = find_long(cli_globals, name, strlen(name)) ||
                 (c->cmd && find_long(c->cmd->options, name, strlen(name)));
    assert(known || !c->cmd);
    (void)known;
    for (size_t i = 0; i < c->n_given; i++)
        if (strcmp(c->given[i].def->name, name) == 0)
            value = c->given[i].value ? c->given[i].value : no_value;
    return value;
}

bool opt_flag(const cli *c, const char *name)
{
    return find_value(c, name) != NULL;
}

const char *opt_text(const cli *c, const char *name)
{
    return find_value(c, name);
}

int64_t opt_count(const cli *c, const char *name, int64_t otherwise)
{
    const char *v = find_value(c, name);
    int64_t n = otherwise;
    if (v)
        count_parse(v, &n);
    return n;
}

int64_t opt_time(const cli *c, const char *name)
{
    const char *v = find_value(c, name);
    int64_t us = 0;
    if (v)
        when_parse(c, v, &us);
    return us;
}

int64_t opt_span(const cli *c, const char *name)
{
    const char *v = find_value(c, name);
    int64_t us = 0;
    /* 0 means "not given" to the library: use the shortest span instead. */
    if (v && span_parse(v, &us) && !us)
        us = 1;
    return us;
}

const char *const *opt_list(const cli *c, const char *name, size_t *n)
{
    const char **items = arena_array(c->mem, c->n_given + 1, sizeof *items);
    *n = 0;
    if (!find_value(c, name))
        return NULL;
    for (size_t i = 0; i < c->n_given; i++)
        if (strcmp(c->given[i].def->name, name) == 0)
            items[(*n)++] = c->given[i].value;
    return items;
}
