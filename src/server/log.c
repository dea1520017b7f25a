/* SPDX-License-Identifier: Apache-2.0
 *
 * log.c: lines for the operator on standard error, logfmt or JSON, one write each.
 *
 * Whatever a client sends may stand in a line, so control characters and broken UTF-8 are escaped
 * and long values cut. Headers are never logged; what the tables of the faces mark as a secret in a
 * path or a query is replaced, and so is every parameter that they do not know.
 */
#include "server/server.h"

#include "base/util.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 16384, VALUE_MAX = 1024 };

static struct {
    log_level level;
    bool json, access;
    int64_t slow_us;
} log_state = {.level = LOG_INFO};

static const char *const level_names[] = {"error", "warn", "info", "debug"};

void log_setup(const server_config *cfg)
{
    for (size_t i = 0; i < sizeof level_names / sizeof *level_names; i++)
        if (strcmp(cfg->log_level, level_names[i]) == 0)
            log_state.level = (log_level)i;
    log_state.json = strcmp(cfg->log_format, "json") == 0;
    log_state.access = cfg->access_log;
    log_state.slow_us = cfg->slow_ms * 1000;
}

/* ------------------------------------------------------------------ a line */

/* Between quotes. Bytes that are no UTF-8 become the characters of the same number. */
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

/* A number stands without quotes in JSON, too. */
static bool value_number(const char *s, size_t n)
{
    size_t i = 0, dots = 0;
    for (; i < n && ((s[i] >= '0' && s[i] <= '9') || (s[i] == '.' && i && !dots)); i++)
        dots += s[i] == '.';
    return n && n < 16 && i == n && s[n - 1] != '.' && (n == 1 || s[0] != '0' || s[1] == '.');
}

static void pair_add(buf *out, const char *name, const char *value)
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

static void line_begin(buf *out, log_level level, const char *message)
{
    char now[TIME_TEXT];
    buf_init(out, LINE_MAX_BYTES);
    pair_add(out, "time", time_text(time_now_us(), now));
    pair_add(out, "level", level_names[level]);
    pair_add(out, "msg", message);
}

static void line_end(buf *out)
{
    if (log_state.json)
        buf_putc(out, '}');
    buf_putc(out, '\n');
    /* A log that cannot be written is no reason to stop serving. */
    ssize_t n = out->over ? 0 : write(STDERR_FILENO, out->p, out->n);
    (void)n;
    buf_release(out);
}

void log_line(log_level level, const char *message, ...)
{
    buf line;
    va_list ap;
    if (level > log_state.level)
        return;
    line_begin(&line, level, message);
    va_start(ap, message);
    for (const char *name; (name = va_arg(ap, const char *));) {
        const char *value = va_arg(ap, const char *);
        pair_add(&line, name, value ? value : "");
    }
    va_end(ap);
    line_end(&line);
}

/* ------------------------------------------------------------------ requests */

static void target_add(buf *out, const face_req *q)
{
    size_t n;
    const face *const *faces = server_faces(&n);
    buf text;
    buf_init(&text, 4 * LINE_MAX_BYTES);
    face_path_show(faces, n, q, &text);
    pair_add(out, "path", text.over ? "***" : text.p);
    buf_release(&text);
    if (!q->n_query)
        return;
    buf_init(&text, 4 * LINE_MAX_BYTES);
    face_query_show(q, &text);
    pair_add(out, "query", text.over ? "***" : text.p);
    buf_release(&text);
}

void log_request(const face_req *q, int64_t sent, int64_t us)
{
    char number[32];
    buf line;
    bool slow = log_state.slow_us && us > log_state.slow_us && !q->stream;
    log_level level = q->status >= 500 ? LOG_ERROR : slow ? LOG_WARN : LOG_INFO;
    /* 503 and the like are the state of things, told once by who finds it; here a fault of ours. */
    bool failed = q->status >= 500 && q->status != 503;
    if (level > log_state.level || !(log_state.access || slow || failed))
        return;
    line_begin(&line, level, slow ? "slow request" : failed ? "failed request" : "request");
    pair_add(&line, "method", q->method ? q->method : "");
    target_add(&line, q);
    snprintf(number, sizeof number, "%d", q->status);
    pair_add(&line, "status", number);
    snprintf(number, sizeof number, "%lld", (long long)sent);
    pair_add(&line, "bytes", number);
    snprintf(number, sizeof number, "%.3f", (double)us / 1000);
    pair_add(&line, "ms", number);
    if (q->route)
        pair_add(&line, "route", q->route->name);
    if (q->who.user)
        pair_add(&line, "user", q->who.user);
    if (q->who.client)
        pair_add(&line, "client", q->who.client);
    if (q->remote)
        pair_add(&line, "remote", q->remote);
    pair_add(&line, "request_id", q->id);
    line_end(&line);
}
