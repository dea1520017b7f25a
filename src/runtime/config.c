/* SPDX-License-Identifier: Apache-2.0
 *
 * config.c: the server's settings: defaults, setting a value by name, and the configuration file.
 */
#include "runtime/config.h"
#include "runtime/settings.h"

#include "base/words.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 1 << 20 };

#define AT(member) offsetof(server_config, member)
#define PART(title) {.part = title},
#define TEXT(member, n, v, d, t)                                                                   \
    {.name = n, .kind = SETTING_TEXT, .value = v, .otherwise = d, .text = t, .at = AT(member)},
#define WORD(member, n, w, d, t)                                                                   \
    {.name = n, .kind = SETTING_WORD, .values = w, .otherwise = d, .text = t, .at = AT(member)},
#define NUMBER(member, n, l, m, d, t)                                                              \
    {.name = n,                                                                                    \
     .kind = SETTING_NUMBER,                                                                       \
     .value = "N",                                                                                 \
     .min = l,                                                                                     \
     .max = m,                                                                                     \
     .otherwise = d,                                                                               \
     .text = t,                                                                                    \
     .at = AT(member)},
#define SWITCH(member, n, d, t)                                                                    \
    {.name = n,                                                                                    \
     .kind = SETTING_SWITCH,                                                                       \
     .values = "on|off",                                                                           \
     .otherwise = d,                                                                               \
     .text = t,                                                                                    \
     .at = AT(member)},

#define LIST(member, n, v, t)                                                                      \
    {.name = n, .kind = SETTING_LIST, .value = v, .otherwise = "", .text = t, .at = AT(member)},

const server_setting server_settings[] = {
    SERVER_SETTINGS(PART, TEXT, WORD, NUMBER, SWITCH, LIST){.name = NULL, .part = NULL}};
enum { N_SETTINGS = sizeof server_settings / sizeof *server_settings };

static const server_setting *setting_find(const char *name)
{
    for (const server_setting *s = server_settings; s->name || s->part; s++)
        if (s->name && strcmp(s->name, name) == 0)
            return s;
    return NULL;
}

static bool number_read(const server_setting *s, const char *value, int64_t *out)
{
    char *end;
    errno = 0;
    long long n = strtoll(value, &end, 10);
    *out = n;
    return !errno && end != value && !*end && *value >= '0' && *value <= '9' && n >= s->min &&
           n <= s->max;
}

/* Stores a checked value; `value` must live as long as the settings. */
static bool setting_put(server_config *cfg, const server_setting *s, const char *value,
                        char *message)
{
    void *at = (char *)cfg + s->at;
    switch (s->kind) {
    case SETTING_NUMBER:
        if (number_read(s, value, at))
            return true;
        snprintf(message, CONFIG_MESSAGE,
                 "%s is '%.80s'; it must be a whole number from %lld to %lld", s->name, value,
                 (long long)s->min, (long long)s->max);
        return false;
    case SETTING_WORD:
    case SETTING_SWITCH:
        if (!word_in(s->values, "|", value)) {
            snprintf(message, CONFIG_MESSAGE, "%s is '%.80s'; it must be one of %s", s->name, value,
                     s->values);
            return false;
        }
        break;
    case SETTING_TEXT:
    case SETTING_LIST:
        break;
    }
    if (s->kind == SETTING_SWITCH)
        *(bool *)at = strcmp(value, "on") == 0;
    else
        *(const char **)at = value;
    return true;
}

void config_defaults(server_config *cfg)
{
    char message[CONFIG_MESSAGE];
    *cfg = (server_config){0};
    for (const server_setting *s = server_settings; s->name || s->part; s++)
        if (s->name && s->kind != SETTING_LIST && !setting_put(cfg, s, s->otherwise, message))
            abort();
}

bool config_set(server_config *cfg, arena *a, const char *name, const char *value, char *message)
{
    const server_setting *s = setting_find(name);
    if (!s) {
        snprintf(message, CONFIG_MESSAGE,
                 "there is no setting '%.80s'; 'ramet help --settings' lists them", name);
        return false;
    }
    if (s->kind == SETTING_LIST) {
        setting_list *list = (setting_list *)((char *)cfg + s->at);
        if (list->n == list->cap)
            list->items = vec_grow(a, list->items, list->n, &list->cap, sizeof *list->items);
        list->items[list->n++] = arena_strdup(a, value);
        return true;
    }
    return setting_put(cfg, s, arena_strdup(a, value), message);
}

/* ------------------------------------------------------------------ the file */

/* Without the blanks around it, and without one pair of quotes around the rest. */
static char *trimmed(char *s)
{
    s += strspn(s, " \t");
    size_t n = strlen(s);
    while (n && strchr(" \t\r", s[n - 1]))
        n--;
    s[n] = 0;
    return s;
}

static char *unquoted(char *s)
{
    size_t n = strlen(s);
    if (n < 2 || s[0] != '"' || s[n - 1] != '"')
        return s;
    s[n - 1] = 0;
    return s + 1;
}

/* A configuration file while it is read. */
typedef struct config_file {
    server_config *cfg;
    arena *arena;
    bool seen[N_SETTINGS];
    const char *agent; /* the section [agent NAME] being read; NULL: none */
    const char *kind;  /* the section's kind; NULL: not set yet */
    const char *rest;  /* the section's other settings, ",name=value" */
} config_file;

/* A section [agent NAME] is equivalent to one line `agent = NAME=KIND,…`. */
static bool agent_part_end(config_file *f, char *message)
{
    const char *name = f->agent;
    f->agent = NULL;
    if (!name)
        return true;
    if (!f->kind) {
        snprintf(message, CONFIG_MESSAGE, "[agent %.80s] has no kind", name);
        return false;
    }
    const char *text = arena_printf(f->arena, "%s=%s%s", name, f->kind, f->rest);
    return config_set(f->cfg, f->arena, "agent", text, message);
}

static bool part_begin(config_file *f, char *line, char *message)
{
    size_t n = strlen(line);
    if (!agent_part_end(f, message))
        return false;
    if (n < 9 || strncmp(line, "[agent ", 7) != 0 || line[n - 1] != ']') {
        snprintf(message, CONFIG_MESSAGE, "'%.80s' begins no part; there is [agent NAME]", line);
        return false;
    }
    line[n - 1] = 0;
    f->agent = trimmed(line + 7);
    f->kind = NULL;
    f->rest = "";
    return true;
}

/* Quotes a value for an agent's specification, so that it may contain anything. */
static const char *value_quoted(arena *a, const char *value)
{
    char *out = arena_alloc(a, 2 * strlen(value) + 3), *p = out;
    *p++ = '"';
    for (; *value; value++) {
        if (*value == '"' || *value == '\\')
            *p++ = '\\';
        *p++ = *value;
    }
    *p++ = '"';
    return out;
}

static void agent_line(config_file *f, const char *name, const char *value)
{
    if (strcmp(name, "kind") == 0 && !f->kind)
        f->kind = arena_strdup(f->arena, value);
    else
        f->rest = arena_printf(f->arena, "%s,%s=%s", f->rest, name, value_quoted(f->arena, value));
}

static bool setting_line(config_file *f, const char *name, const char *value, char *message)
{
    const server_setting *s = setting_find(name);
    if (s && s->kind != SETTING_LIST && f->seen[s - server_settings]) {
        snprintf(message, CONFIG_MESSAGE, "%s is set twice", name);
        return false;
    }
    if (s)
        f->seen[s - server_settings] = true;
    return config_set(f->cfg, f->arena, name, value, message);
}

static bool line_read(config_file *f, char *line, char *message)
{
    line = trimmed(line);
    if (!*line || *line == '#')
        return true;
    if (*line == '[')
        return part_begin(f, line, message);
    char *equals = strchr(line, '=');
    if (!equals) {
        snprintf(message, CONFIG_MESSAGE, "'%.80s' has no '='; a line is: name = value", line);
        return false;
    }
    *equals = 0;
    const char *name = trimmed(line), *value = unquoted(trimmed(equals + 1));
    if (!f->agent)
        return setting_line(f, name, value, message);
    agent_line(f, name, value);
    return true;
}

static char *file_read(arena *a, const char *path, char *message)
{
    FILE *f = fopen(path, "re");
    if (!f) {
        snprintf(message, CONFIG_MESSAGE, "%.300s cannot be read: %s", path, strerror(errno));
        return NULL;
    }
    char *text = arena_alloc(a, FILE_MAX + 1);
    size_t n = fread(text, 1, FILE_MAX, f);
    bool failed = ferror(f), more = !feof(f) && fgetc(f) != EOF;
    fclose(f);
    if (!failed && !more && !memchr(text, 0, n))
        return text;
    snprintf(message, CONFIG_MESSAGE, "%.300s %s", path,
             failed ? "cannot be read"
             : more ? "is over 1 MiB"
                    : "is no text");
    return NULL;
}

bool config_read(server_config *cfg, arena *a, const char *path, char *message)
{
    config_file f = {.cfg = cfg, .arena = a};
    char why[CONFIG_MESSAGE];
    char *text = file_read(a, path, message);
    bool fine = text != NULL, last = false;
    for (int number = 1; fine && !last; number++) {
        size_t n = strcspn(text, "\n");
        char *next = text + n + (text[n] == '\n');
        last = !*text;
        text[n] = 0;
        fine = last ? agent_part_end(&f, why) : line_read(&f, text, why);
        if (!fine)
            snprintf(message, CONFIG_MESSAGE, "%.200s:%d: %.290s", path, number, why);
        text = next;
    }
    return fine;
}

/* ------------------------------------------------------------------ the page */

static void cell(buf *out, const char *s)
{
    for (; *s; s++) {
        if (*s == '|')
            buf_putc(out, '\\');
        buf_putc(out, *s);
    }
}

void config_markdown(buf *out)
{
    for (const server_setting *s = server_settings; s->name || s->part; s++) {
        if (s->part) {
            buf_printf(out, "%s### %s\n\n| setting | default | |\n|---|---|---|\n",
                       s == server_settings ? "" : "\n", s->part);
            continue;
        }
        buf_printf(out, "| `%s` | ", s->name);
        if (*s->otherwise)
            buf_printf(out, "`%s`", s->otherwise);
        buf_puts(out, " | ");
        cell(out, s->text);
        if (s->kind == SETTING_NUMBER)
            buf_printf(out, " (%lld to %lld)", (long long)s->min, (long long)s->max);
        else if (s->values) {
            buf_puts(out, " (");
            cell(out, s->values);
            buf_putc(out, ')');
        }
        buf_puts(out, " |\n");
    }
}
