/* SPDX-License-Identifier: Apache-2.0
 *
 * The JSON writer (json.h). Its output is valid JSON whatever the input.
 */
#include "base/json.h"

#include "base/util.h"

#include <stdio.h>
#include <string.h>

#define LEVELS ((int)(sizeof((json_writer *)0)->first / sizeof(bool)))

void jw_init(json_writer *w, buf *out, int indent)
{
    *w = (json_writer){.out = out, .indent = indent};
    w->first[0] = true;
}

static bool *level(json_writer *w)
{
    return &w->first[w->depth < LEVELS ? w->depth : LEVELS - 1];
}

static void new_line(json_writer *w)
{
    if (!w->indent)
        return;
    buf_putc(w->out, '\n');
    buf_pad(w->out, ' ', (size_t)w->indent * (size_t)w->depth);
}

/* Writes the separator and indentation before a value or a key. */
static void item(json_writer *w)
{
    if (w->after_key) {
        w->after_key = false;
        return;
    }
    if (!*level(w))
        buf_putc(w->out, ',');
    *level(w) = false;
    if (w->depth)
        new_line(w);
}

static void open_with(json_writer *w, char bracket)
{
    item(w);
    buf_putc(w->out, bracket);
    w->depth++;
    *level(w) = true;
}

static void close_with(json_writer *w, char bracket)
{
    bool empty = *level(w);
    w->depth--;
    *level(w) = false;
    if (!empty)
        new_line(w);
    buf_putc(w->out, bracket);
}

void jw_object(json_writer *w)
{
    open_with(w, '{');
}

void jw_end_object(json_writer *w)
{
    close_with(w, '}');
}

void jw_array(json_writer *w)
{
    open_with(w, '[');
}

void jw_end_array(json_writer *w)
{
    close_with(w, ']');
}

static void put_escape(buf *b, unsigned char ch)
{
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
    static const char hex[] = "0123456789abcdef";
    const char *at = ch ? strchr(from, ch) : NULL;
    char out[6] = {'\\', 'u', '0', '0', hex[ch >> 4], hex[ch & 15]};
    if (at)
        out[1] = to[at - from];
    buf_add(b, out, at ? 2 : 6);
}

/* Replaces invalid UTF-8 with U+FFFD, so that the output is always JSON. */
static void put_escaped(buf *b, const char *s, size_t n)
{
    size_t from = 0, i = 0;
    while ((i += json_plain(s + i, n - i)) < n) {
        unsigned char ch = (unsigned char)s[i];
        uint32_t cp;
        size_t step = ch < 0x80 ? 1 : utf8_next(s + i, n - i, &cp);
        if (step && ch >= 0x80) {
            i += step;
            continue;
        }
        buf_add(b, s + from, i - from);
        if (step)
            put_escape(b, ch);
        else
            buf_puts(b, "\xef\xbf\xbd");
        from = ++i;
    }
    buf_add(b, s + from, n - from);
}

static void put_quoted(buf *b, const char *s, size_t n)
{
    buf_putc(b, '"');
    put_escaped(b, s, n);
    buf_putc(b, '"');
}

/* Most keys are short and need no escape: those are added in one step. */
void jw_key(json_writer *w, const char *key)
{
    char text[64];
    size_t n = strlen(key);
    item(w);
    w->after_key = true;
    if (n + 4 > sizeof text || json_plain(key, n) != n) {
        put_quoted(w->out, key, n);
        buf_puts(w->out, w->indent ? ": " : ":");
        return;
    }
    text[0] = '"';
    memcpy(text + 1, key, n);
    memcpy(text + 1 + n, "\": ", 3);
    buf_add(w->out, text, n + (w->indent ? 4 : 3));
}

void jw_strn(json_writer *w, const char *s, size_t n)
{
    item(w);
    put_quoted(w->out, s, n);
}

void jw_text(json_writer *w)
{
    item(w);
    buf_putc(w->out, '"');
}

void jw_text_add(json_writer *w, const char *s)
{
    put_escaped(w->out, s, strlen(s));
}

void jw_end_text(json_writer *w)
{
    buf_putc(w->out, '"');
}

void jw_str(json_writer *w, const char *s)
{
    if (s)
        jw_strn(w, s, strlen(s));
    else
        jw_null(w);
}

void jw_int(json_writer *w, int64_t v)
{
    item(w);
    buf_printf(w->out, "%lld", (long long)v);
}

void jw_bool(json_writer *w, bool v)
{
    jw_raw(w, v ? "true" : "false");
}

void jw_null(json_writer *w)
{
    jw_raw(w, NULL);
}

void jw_raw(json_writer *w, const char *json)
{
    item(w);
    buf_puts(w->out, json ? json : "null");
}

void jw_nano(json_writer *w, int64_t v)
{
    uint64_t n = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    char text[40];
    int len = snprintf(text, sizeof text, "%s%llu.%09llu", v < 0 ? "-" : "",
                       (unsigned long long)(n / 1000000000), (unsigned long long)(n % 1000000000));
    while (text[len - 1] == '0')
        len--;
    if (text[len - 1] == '.')
        len--;
    text[len] = 0;
    jw_raw(w, text);
}

void jw_kstr(json_writer *w, const char *key, const char *s)
{
    jw_key(w, key);
    jw_str(w, s);
}

void jw_kint(json_writer *w, const char *key, int64_t v)
{
    jw_key(w, key);
    jw_int(w, v);
}

void jw_kbool(json_writer *w, const char *key, bool v)
{
    jw_key(w, key);
    jw_bool(w, v);
}

void jw_kraw(json_writer *w, const char *key, const char *json)
{
    jw_key(w, key);
    jw_raw(w, json);
}

char *json_quote(arena *a, const char *text)
{
    buf b;
    json_writer w;
    buf_init(&b, strlen(text) * 6 + 2); /* \u00XX is the longest */
    jw_init(&w, &b, 0);
    jw_str(&w, text);
    return buf_keep(&b, a);
}
