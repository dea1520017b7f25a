/* SPDX-License-Identifier: Apache-2.0
 *
 * log.c: writes log lines to standard error, as logfmt or JSON, one write() each.
 *
 * A line may contain anything that a client sends, so control characters and invalid UTF-8 are
 * escaped and long values are cut.
 */
#include "runtime/log.h"

#include "base/util.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 16384, VALUE_MAX = 1024 };

static struct {
    log_level level;
    bool json;
} log_state = {.level = LOG_INFO};

static const char *const level_names[] = {"error", "warn", "info", "debug"};

void log_setup(const server_config *cfg)
{
    for (size_t i = 0; i < sizeof level_names / sizeof *level_names; i++)
        if (strcmp(cfg->log_level, level_names[i]) == 0)
            log_state.level = (log_level)i;
    log_state.json = strcmp(cfg->log_format, "json") == 0;
}

/* ------------------------------------------------------------------ a line */

/* Writes a quoted value. A byte that is not valid UTF-8 becomes the character with the same
 * number. */
static void value_quote(buf *out, const char *s, size_t n)
{
    buf_putc(out, '"');
    for (size_t i = 0; i < n;) {
        uint32_t cp;
        size_t len = utf8_next(s + i, n - i, &cp);
        if (!len) {
            cp = (uint8_t)s[i];
            buf_printf(out, "\\u%04x", cp);
            len = 1;
        } else if (cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || cp == 0x2028 || cp == 0x2029) {
            buf_printf(out, "\\u%04x", cp);
        } else {
            if (cp == '"' || cp == '\\')
                buf_putc(out, '\\');
            buf_add(out, s + i, len);
        }
        i += len;
    }
    buf_putc(out, '"');
}

static bool value_plain(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s[i] <= ' ' || s[i] >= 0x7f || strchr("\"\\=", s[i]))
            return false;
    return n > 0;
}

/* A number needs no quotes, in JSON either. */
static bool value_number(const char *s, size_t n)
{
    size_t i = 0, dots = 0;
    for (; i < n && ((s[i] >= '0' && s[i] <= '9') || (s[i] == '.' && i && !dots)); i++)
        dots += s[i] == '.';
    return n && n < 16 && i == n && s[n - 1] != '.' && (n == 1 || s[0] != '0' || s[1] == '.');
}

void log_pair(buf *out, const char *name, const char *value)
{
    size_t n = strnlen(value, VALUE_MAX);
    if (log_state.json) {
        buf_printf(out, "%c\"%s\":", out->n ? ',' : '{', name);
        if (value_number(value, n))
            buf_add(out, value, n);
        else
            value_quote(out, value, n);
        return;
    }
    buf_printf(out, "%s%s=", out->n ? " " : "", name);
    if (value_plain(value, n))
        buf_add(out, value, n);
    else
        value_quote(out, value, n);
}

void log_begin(buf *out, log_level level, const char *message)
{
    char now[TIME_TEXT];
    buf_init(out, LINE_MAX_BYTES);
    log_pair(out, "time", time_text(time_now_us(), now));
    log_pair(out, "level", level_names[level]);
    log_pair(out, "msg", message);
}

void log_end(buf *out)
{
    if (log_state.json)
        buf_putc(out, '}');
    buf_putc(out, '\n');
    /* Keep serving if the log cannot be written. */
    ssize_t n = out->over ? 0 : write(STDERR_FILENO, out->data, out->n);
    (void)n;
    buf_release(out);
}

bool log_wants(log_level level)
{
    return level <= log_state.level;
}

void log_line(log_level level, const char *message, ...)
{
    buf line;
    va_list ap;
    if (level > log_state.level)
        return;
    log_begin(&line, level, message);
    va_start(ap, message);
    for (const char *name; (name = va_arg(ap, const char *));) {
        const char *value = va_arg(ap, const char *);
        log_pair(&line, name, value ? value : "");
    }
    va_end(ap);
    log_end(&line);
}
