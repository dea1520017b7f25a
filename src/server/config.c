/* SPDX-License-Identifier: Apache-2.0
 *
 * config.c: the settings of a server: defaults, values by name, the configuration file.
 */
#include "server/server.h"
#include "server/settings.h"

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
    {.name = n, .kind = SETTING_WORD, .words = w, .otherwise = d, .text = t, .at = AT(member)},
#define NUMBER(member, n, l, m, d, t)                                                              \
    {.name = n,                                                                                    \
     .kind = SETTING_NUMBER,                                                                       \
     .value = "N",                                                                                 \
     .least = l,                                                                                   \
     .most = m,                                                                                    \
     .otherwise = d,                                                                               \
     .text = t,                                                                                    \
     .at = AT(member)},
#define SWITCH(member, n, d, t)                                                                    \
    {.name = n,                                                                                    \
     .kind = SETTING_SWITCH,                                                                       \
     .words = "on|off",                                                                            \
     .otherwise = d,                                                                               \
     .text = t,                                                                                    \
     .at = AT(member)},

const server_setting server_settings[] = {
    SERVER_SETTINGS(PART, TEXT, WORD, NUMBER, SWITCH){.name = NULL, .part = NULL}};

static const server_setting *setting_find(const char *name)
{
    for (const server_setting *s = server_settings; s->name || s->part; s++)
        if (s->name && strcmp(s->name, name) == 0)
            return s;
    return NULL;
}

static bool word_listed(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = words; *p;) {
        size_t len = strcspn(p, "|");
        if (len == n && memcmp(p, word, n) == 0)
            return true;
        p += len + (p[len] == '|');
    }
    return false;
}

static bool number_read(const server_setting *s, const char *value, int64_t *out)
{
    char *end;
    errno = 0;
    long long n = strtoll(value, &end, 10);
    *out = n;
    return !errno && end != value && !*end && *value >= '0' && *value <= '9' && n >= s->least &&
           n <= s->most;
}

/* Puts a checked value where it belongs; `value` must live as long as the settings. */
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
                 (long long)s->least, (long long)s->most);
        return false;
    case SETTING_WORD:
    case SETTING_SWITCH:
        if (!word_listed(s->words, value)) {
            snprintf(message, CONFIG_MESSAGE, "%s is '%.80s'; it must be one of %s", s->name, value,
                     s->words);
            return false;
        }
        break;
    case SETTING_TEXT:
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
        if (s->name && !setting_put(cfg, s, s->otherwise, message))
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

static bool line_read(server_config *cfg, arena *a, char *line, uint64_t *seen, char *message)
{
    line = trimmed(line);
    if (!*line || *line == '#')
        return true;
    char *equals = strchr(line, '=');
    if (!equals) {
        snprintf(message, CONFIG_MESSAGE, "'%.80s' has no '='; a line is: name = value", line);
        return false;
    }
    *equals = 0;
    const char *name = trimmed(line);
    const server_setting *s = setting_find(name);
    if (s) {
        uint64_t bit = UINT64_C(1) << (s - server_settings);
        if (*seen & bit) {
            snprintf(message, CONFIG_MESSAGE, "%s is set twice", name);
            return false;
        }
        *seen |= bit;
    }
    return config_set(cfg, a, name, unquoted(trimmed(equals + 1)), message);
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
    _Static_assert(sizeof server_settings / sizeof *server_settings <= 64, "a bit a setting");
    char why[CONFIG_MESSAGE];
    uint64_t seen = 0;
    char *text = file_read(a, path, message);
    if (!text)
        return false;
    for (int number = 1; *text; number++) {
        size_t n = strcspn(text, "\n");
        char *next = text + n + (text[n] == '\n');
        text[n] = 0;
        if (!line_read(cfg, a, text, &seen, why)) {
            snprintf(message, CONFIG_MESSAGE, "%.200s:%d: %.290s", path, number, why);
            return false;
        }
        text = next;
    }
    return true;
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
            buf_printf(out, " (%lld to %lld)", (long long)s->least, (long long)s->most);
        else if (s->words) {
            buf_puts(out, " (");
            cell(out, s->words);
            buf_putc(out, ')');
        }
        buf_puts(out, " |\n");
    }
}
