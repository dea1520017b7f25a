/* SPDX-License-Identifier: Apache-2.0
 *
 * text.c: text that fits: widths, wrapping, cutting, numbers and times.
 */
#include "cli/term.h"

#include "base/util.h"

#include <string.h>
#include <time.h>

/* ------------------------------------------------------------------ text */

/* Most text is ASCII: no need to decode it. */
static bool is_ascii(char ch)
{
    return ch >= ' ' && ch <= '~';
}

static size_t next_char(const char *s, size_t n, int *columns)
{
    uint32_t cp = 0;
    if (is_ascii(*s)) {
        *columns = 1;
        return 1;
    }
    size_t len = utf8_next(s, n, &cp);
    if (!len) {
        *columns = 1;
        return 1;
    }
    *columns = cp == '\t' ? 4 : utf8_width(cp);
    if (*columns < 0)
        *columns = 0;
    return len;
}

int text_columns(const char *s, size_t n)
{
    int total = 0;
    for (size_t i = 0; i < n;) {
        int w;
        i += next_char(s + i, n - i, &w);
        total += w;
    }
    return total;
}

/* Bidirectional overrides can make a line read as something else. */
static bool is_unsafe(uint32_t cp)
{
    return cp < 0x20 || (cp >= 0x7F && cp < 0xA0) || (cp >= 0x202A && cp <= 0x202E) ||
           (cp >= 0x2066 && cp <= 0x2069);
}

/* How the character at s is shown; "" if unchanged. */
static size_t safe_char(const char *s, size_t n, bool lines, char shown[16])
{
    uint32_t cp = 0;
    size_t len = utf8_next(s, n, &cp);
    shown[0] = 0;
    if (!len)
        snprintf(shown, 16, "?");
    else if (lines && (cp == '\n' || cp == '\t'))
        return len;
    else if (cp == '\n' || cp == '\t' || cp == '\r')
        snprintf(shown, 16, " ");
    else if (cp < 0x20)
        snprintf(shown, 16, "^%c", (char)(cp + 64));
    else if (is_unsafe(cp))
        snprintf(shown, 16, "<U+%04X>", (unsigned)cp);
    return len ? len : 1;
}

char *text_safe(arena *a, const char *s, bool lines)
{
    size_t n = strlen(s), i = 0, from = 0;
    char shown[16];
    buf out;
    buf_init(&out, SIZE_MAX);
    while (i < n) {
        size_t len = is_ascii(s[i]) ? 1 : safe_char(s + i, n - i, lines, shown);
        if (!is_ascii(s[i]) && shown[0]) {
            buf_add(&out, s + from, i - from);
            buf_puts(&out, shown);
            from = i + len;
        }
        i += len;
    }
    buf_add(&out, s + from, n - from);
    return buf_keep(&out, a);
}

char *text_cut(cli *c, const char *s, int columns)
{
    char *safe = text_safe(c->mem, s, false);
    size_t n = strlen(safe), keep = 0;
    int used = 0, mark = text_columns(gl(c, G_ELLIPSIS), strlen(gl(c, G_ELLIPSIS)));
    if (columns <= 0 || text_columns(safe, n) <= columns)
        return safe;
    while (keep < n) {
        int w;
        size_t len = next_char(safe + keep, n - keep, &w);
        if (used + w > columns - mark)
            break;
        used += w;
        keep += len;
    }
    while (keep > 0 && safe[keep - 1] == ' ')
        keep--;
    return arena_printf(c->mem, "%.*s%s", (int)keep, safe, gl(c, G_ELLIPSIS));
}

char *text_first_line(cli *c, const char *s, int columns)
{
    while (*s == '\n' || *s == ' ' || *s == '\t' || *s == '\r')
        s++;
    size_t n = strcspn(s, "\n");
    bool more = s[n] && s[n + strspn(s + n, "\r\n \t")];
    char *line = arena_memdup(c->mem, s, n);
    if (more)
        line = arena_printf(c->mem, "%s %s", line, gl(c, G_ELLIPSIS));
    return text_cut(c, line, columns);
}

size_t text_wrap(const char *s, size_t n, int columns, size_t *skip)
{
    size_t i = 0, blank = 0;
    int used = 0;
    *skip = 0;
    while (i < n && s[i] != '\n') {
        int w;
        size_t len = next_char(s + i, n - i, &w);
        if (columns > 0 && used + w > columns && i > 0) {
            if (s[i] == ' ')
                blank = i;
            if (blank) {
                i = blank;
                while (i + *skip < n && s[i + *skip] == ' ')
                    (*skip)++;
            }
            if (i + *skip < n && s[i + *skip] == '\n')
                (*skip)++;
            return i;
        }
        if (s[i] == ' ' && i > 0)
            blank = i;
        used += w;
        i += len;
    }
    if (i < n)
        *skip = 1;
    return i;
}

void text_print(const cli *c, const char *s, int indent, style paint)
{
    arena *a = arena_new();
    char *safe = text_safe(a, s, true);
    size_t n = strlen(safe);
    int room = c->width > 0 ? c->width - indent : 0;
    if (room > 100)
        room = 100; /* longer lines are hard to read */
    while (n > 0 && safe[n - 1] == '\n')
        n--;
    for (size_t i = 0; i < n;) {
        size_t skip, len = text_wrap(safe + i, n - i, room, &skip);
        if (len)
            printf("%*s%s%.*s%s\n", indent, "", paint == ST_OFF ? "" : st(c, paint), (int)len,
                   safe + i, paint == ST_OFF ? "" : st(c, ST_OFF));
        else
            putchar('\n');
        i += len + skip;
    }
    arena_free(a);
}

/* ------------------------------------------------------------------ numbers and times */

const char *time_ago(cli *c, int64_t us)
{
    int64_t s = (c->now - us) / 1000000;
    char day[32];
    time_t when = (time_t)(us / 1000000);
    struct tm tm;
    if (!us)
        return "";
    if (s < 5)
        return s > -60 ? "now" : arena_printf(c->mem, "in %s", span_text(c, us - c->now));
    if (s < 60)
        return arena_printf(c->mem, "%llds", (long long)s);
    if (s < 3600)
        return arena_printf(c->mem, "%lldm", (long long)(s / 60));
    if (s < 48 * 3600)
        return arena_printf(c->mem, "%lldh", (long long)(s / 3600));
    if (s < 60 * 86400)
        return arena_printf(c->mem, "%lldd", (long long)(s / 86400));
    localtime_r(&when, &tm);
    strftime(day, sizeof day, "%Y-%m-%d", &tm);
    return arena_strdup(c->mem, day);
}

const char *time_full(cli *c, int64_t us)
{
    char text[40];
    time_t when = (time_t)(us / 1000000);
    struct tm tm;
    localtime_r(&when, &tm);
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm);
    return arena_strdup(c->mem, text);
}

const char *span_text(cli *c, int64_t us)
{
    long long s = us / 1000000;
    if (us < 1000)
        return arena_printf(c->mem, "%lld µs", (long long)us);
    if (s < 1)
        return arena_printf(c->mem, "%lld ms", (long long)us / 1000);
    if (s < 60)
        return arena_printf(c->mem, "%llds", s);
    if (s < 3600)
        return arena_printf(c->mem, "%lldm %llds", s / 60, s % 60);
    if (s < 86400)
        return arena_printf(c->mem, "%lldh %lldm", s / 3600, s / 60 % 60);
    return arena_printf(c->mem, "%lldd %lldh", s / 86400, s / 3600 % 24);
}

const char *number_text(cli *c, int64_t n)
{
    char digits[32];
    int len = snprintf(digits, sizeof digits, "%lld", (long long)n);
    char *out = arena_alloc(c->mem, (size_t)len * 2);
    size_t o = 0;
    for (int i = 0; i < len; i++) {
        out[o++] = digits[i];
        if ((len - 1 - i) % 3 == 0 && i < len - 1 && digits[i] != '-')
            out[o++] = ',';
    }
    return out;
}

const char *count_text(cli *c, int64_t n, const char *one, const char *many)
{
    return arena_printf(c->mem, "%s %s", number_text(c, n), n == 1 ? one : many);
}

const char *bytes_text(cli *c, int64_t n)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    double v = (double)n / 1024;
    size_t u = 0;
    if (n < 1024)
        return arena_printf(c->mem, "%lld B", (long long)n);
    while (v >= 1024 && u < 3) {
        v /= 1024;
        u++;
    }
    return arena_printf(c->mem, v < 10 ? "%.1f %s" : "%.0f %s", v, units[u]);
}

const char *money_text(cli *c, int64_t nano, const char *currency)
{
    char digits[32];
    int len = snprintf(digits, sizeof digits, "%lld.%09lld", (long long)(nano / 1000000000),
                       (long long)(nano % 1000000000));
    /* Keep cents; drop further digits if they are zero. */
    char *dot = strchr(digits, '.');
    while (digits + len > dot + 3 && digits[len - 1] == '0')
        digits[--len] = 0;
    return arena_printf(c->mem, "%s%s%s", digits, currency && *currency ? " " : "",
                        currency ? currency : "");
}
