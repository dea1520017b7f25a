/* SPDX-License-Identifier: Apache-2.0
 *
 * Times, ids, hashes and Unicode (util.h). State shared by all threads is initialized once (locale,
 * digest) or protected by a mutex (the last uuid).
 */
#include "base/util.h"

#include <errno.h>
#include <locale.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <wchar.h>
#include <wctype.h>

static void die(const char *what)
{
    fprintf(stderr, "ramet: %s\n", what);
    abort();
}

/* ---- time */

static int64_t clock_us(clockid_t id)
{
    struct timespec ts;
    clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

bool error_is_full(int error)
{
    return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

int64_t time_now_us(void)
{
    return clock_us(CLOCK_REALTIME);
}

int64_t time_mono_us(void)
{
    return clock_us(CLOCK_MONOTONIC);
}

struct timespec time_spec(int64_t us)
{
    return (struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
}

struct timespec time_after(int64_t us)
{
    return time_spec(time_mono_us() + us);
}

void cond_init(pthread_cond_t *c)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(c, &attr);
    pthread_condattr_destroy(&attr);
}

#define DAY_US INT64_C(86400000000)

/* Days since 1970-01-01 of a date in the Gregorian calendar. Years begin in March here, so that the
 * leap day is the last day of one. */
static int64_t days_from_date(int64_t y, int m, int d)
{
    y -= m <= 2;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t yoe = y - era * 400;
    int64_t doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

static void date_from_days(int64_t days, int64_t *y, int *m, int *d)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t doe = days - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    int64_t mp = (5 * doy + 2) / 153;
    *d = (int)(doy - (153 * mp + 2) / 5 + 1);
    *m = (int)(mp < 10 ? mp + 3 : mp - 9);
    *y = yoe + era * 400 + (*m <= 2);
}

const char *time_text(int64_t us, char out[TIME_TEXT])
{
    int64_t days = us / DAY_US, rest = us % DAY_US;
    if (rest < 0) {
        rest += DAY_US;
        days--;
    }
    int64_t y;
    int m, d;
    date_from_days(days, &y, &m, &d);
    /* Every part is bounded, so the text fits: an int64_t reaches the year 294247. */
    unsigned ms = (unsigned)(rest / 1000), month = (unsigned)m % 100, day = (unsigned)d % 100;
    snprintf(out, TIME_TEXT, "%04d-%02u-%02uT%02u:%02u:%02u.%03uZ", (int)(y % 1000000), month, day,
             ms / 3600000 % 24, ms / 60000 % 60, ms / 1000 % 60, ms % 1000);
    return out;
}

/* Reads exactly n digits at *s and moves *s past them; -1 when they are not there. */
static int digits(const char **s, int n)
{
    int v = 0;
    for (int i = 0; i < n; i++) {
        char ch = (*s)[i];
        if (ch < '0' || ch > '9')
            return -1;
        v = v * 10 + (ch - '0');
    }
    *s += n;
    return v;
}

static bool skip(const char **s, char ch)
{
    if (**s != ch)
        return false;
    ++*s;
    return true;
}

static bool date_parse(const char **s, int64_t *us)
{
    static const int8_t month_days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int y = digits(s, 4);
    if (y < 0 || !skip(s, '-'))
        return false;
    int m = digits(s, 2);
    if (m < 1 || m > 12 || !skip(s, '-'))
        return false;
    int d = digits(s, 2);
    int last = month_days[m - 1];
    if (m == 2 && y % 4 == 0 && (y % 100 != 0 || y % 400 == 0))
        last = 29;
    if (d < 1 || d > last)
        return false;
    *us = days_from_date(y, m, d) * DAY_US;
    return true;
}

/* "hh:mm" in minutes, or -1. */
static int minutes_parse(const char **s)
{
    int h = digits(s, 2);
    if (h < 0 || h > 23 || !skip(s, ':'))
        return -1;
    int m = digits(s, 2);
    return m < 0 || m > 59 ? -1 : h * 60 + m;
}

static bool fraction_parse(const char **s, int64_t *us)
{
    *us = 0;
    if (!skip(s, '.'))
        return true;
    int64_t unit = 100000;
    int n = 0;
    for (; **s >= '0' && **s <= '9'; ++*s, n++) {
        *us += (**s - '0') * unit;
        unit /= 10;
    }
    return n >= 1 && n <= 9;
}

bool time_parse(const char *s, int64_t *us)
{
    int64_t day, fraction;
    if (!s || !date_parse(&s, &day))
        return false;
    if (!*s) {
        *us = day;
        return true;
    }
    if (!skip(&s, 'T'))
        return false;
    int minutes = minutes_parse(&s);
    if (minutes < 0 || !skip(&s, ':'))
        return false;
    int sec = digits(&s, 2);
    if (sec < 0 || sec > 59 || !fraction_parse(&s, &fraction))
        return false;
    int zone = 0;
    if (!skip(&s, 'Z')) {
        int sign = *s == '+' ? 1 : -1;
        if (*s != '+' && *s != '-')
            return false;
        s++;
        zone = minutes_parse(&s);
        if (zone < 0)
            return false;
        zone *= sign;
    }
    if (*s)
        return false;
    *us = day + ((int64_t)(minutes - zone) * 60 + sec) * 1000000 + fraction;
    return true;
}

/* ---- ids */

void random_bytes(void *p, size_t n)
{
    uint8_t *at = p;
    while (n) {
        ssize_t got = getrandom(at, n, 0);
        if (got < 0) {
            if (errno == EINTR)
                continue;
            die("the system gives no random bytes");
        }
        at += got;
        n -= (size_t)got;
    }
}

static pthread_mutex_t uuid_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t uuid_last; /* milliseconds << 12 | counter */

const char *uuid_text(const uint8_t b[16], char out[UUID_TEXT])
{
    char hex[33];
    hex_encode(b, 16, hex);
    char *o = out;
    for (int i = 0; i < 32; i++) {
        if (i == 8 || i == 12 || i == 16 || i == 20)
            *o++ = '-';
        *o++ = hex[i];
    }
    *o = 0;
    return out;
}

/* A UUID of that version, whose other bits are those of the bytes. */
static const char *uuid_marked(const uint8_t bytes[16], uint8_t version, char out[UUID_TEXT])
{
    uint8_t b[16];
    memcpy(b, bytes, sizeof b);
    b[6] = (uint8_t)(version << 4 | (b[6] & 0x0f));
    b[8] = (uint8_t)(0x80 | (b[8] & 0x3f));
    return uuid_text(b, out);
}

static const uint32_t fnv_basis = 2166136261u, fnv_prime = 16777619u;

uint32_t hash_bytes(const void *bytes, size_t n, uint32_t seed)
{
    const uint8_t *p = bytes;
    uint32_t hash = fnv_basis ^ seed;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ p[i]) * fnv_prime;
    return hash;
}

uint32_t hash_text(const char *text)
{
    return hash_bytes(text, strlen(text), 0);
}

bool uuid_parse(const char *s, uint8_t out[16])
{
    for (size_t i = 0; i < 16; i++, s += 2) {
        if ((i == 4 || i == 6 || i == 8 || i == 10) && *s++ != '-')
            return false;
        int v = hex_pair(s);
        if (v < 0)
            return false;
        out[i] = (uint8_t)v;
    }
    return !*s;
}

bool uuid_valid(const char *s)
{
    uint8_t bytes[16];
    return uuid_parse(s, bytes);
}

const char *uuid7(int64_t now_us, char out[UUID_TEXT])
{
    uint8_t b[16];
    random_bytes(b + 8, 8);
    uint64_t now = now_us > 0 ? (uint64_t)now_us / 1000 << 12 : 0;
    pthread_mutex_lock(&uuid_lock);
    /* When a millisecond is used up, the counter overflows into the milliseconds. */
    uint64_t id = uuid_last = now > uuid_last ? now : uuid_last + 1;
    pthread_mutex_unlock(&uuid_lock);
    uint64_t ms = id >> 12;
    for (int i = 0; i < 6; i++)
        b[i] = (uint8_t)(ms >> (40 - 8 * i));
    b[6] = (uint8_t)(id >> 8);
    b[7] = (uint8_t)id;
    return uuid_marked(b, 7, out);
}

const char *uuid4(char out[UUID_TEXT])
{
    uint8_t b[16];
    random_bytes(b, sizeof b);
    return uuid_marked(b, 4, out);
}

const char *uuid8(const uint8_t hash[16], char out[UUID_TEXT])
{
    return uuid_marked(hash, 8, out);
}

/* ---- hex */

static const char lower_digits[] = "0123456789abcdef";

void hex_encode(const uint8_t *p, size_t n, char *out)
{
    for (size_t i = 0; i < n; i++) {
        *out++ = lower_digits[p[i] >> 4];
        *out++ = lower_digits[p[i] & 15];
    }
    *out = 0;
}

int hex_digit(char ch)
{
    if (ch >= '0' && ch <= '9')
        return ch - '0';
    ch |= 0x20;
    return ch >= 'a' && ch <= 'f' ? ch - 'a' + 10 : -1;
}

int hex_pair(const char *s)
{
    int high = hex_digit(s[0]), low = high < 0 ? -1 : hex_digit(s[1]);
    return low < 0 ? -1 : high << 4 | low;
}

bool hex_decode(const char *s, uint8_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++, s += 2) {
        int pair = hex_pair(s);
        /* Upper-case letters are the only digits with neither of these bits. */
        if (pair < 0 || !(s[0] & 0x30) || !(s[1] & 0x30))
            return false;
        out[i] = (uint8_t)pair;
    }
    return !*s;
}

/* ---- orders */

int text_order(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int number_order(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* ---- SHA-256 */

struct sha {
    EVP_MD_CTX *ctx;
};

static pthread_once_t sha_once = PTHREAD_ONCE_INIT;
static EVP_MD *sha_md;

/* Fetched once: looking the algorithm up costs more than hashing a short text. */
static void sha_fetch(void)
{
    sha_md = EVP_MD_fetch(NULL, "SHA256", NULL);
    if (!sha_md)
        die("libcrypto has no SHA-256");
}

sha *sha_new(void)
{
    pthread_once(&sha_once, sha_fetch);
    sha *s = xmalloc(sizeof *s);
    s->ctx = EVP_MD_CTX_new();
    if (!s->ctx || !EVP_DigestInit_ex2(s->ctx, sha_md, NULL))
        die("libcrypto cannot start SHA-256");
    return s;
}

void sha_free(sha *s)
{
    if (!s)
        return;
    EVP_MD_CTX_free(s->ctx);
    free(s);
}

void sha_begin(sha *s)
{
    if (!EVP_DigestInit_ex2(s->ctx, NULL, NULL))
        die("libcrypto cannot start SHA-256");
}

void sha_add(sha *s, const void *p, size_t n)
{
    if (n && !EVP_DigestUpdate(s->ctx, p, n))
        die("libcrypto failed in SHA-256");
}

void sha_end(sha *s, uint8_t out[HASH_LEN])
{
    if (!EVP_DigestFinal_ex(s->ctx, out, NULL))
        die("libcrypto failed in SHA-256");
}

int64_t sha_end_seal(sha *s)
{
    uint8_t out[HASH_LEN];
    int64_t seal = 0;
    sha_end(s, out);
    for (int i = 0; i < 7; i++)
        seal = seal << 8 | out[i];
    return seal;
}

void sha_of(const void *p, size_t n, uint8_t out[HASH_LEN])
{
    sha *s = sha_new();
    sha_begin(s);
    sha_add(s, p, n);
    sha_end(s, out);
    sha_free(s);
}

void sha_chain(sha *s, const uint8_t a[HASH_LEN], const uint8_t b[HASH_LEN], uint8_t out[HASH_LEN])
{
    uint8_t both[2 * HASH_LEN];
    memcpy(both, a, HASH_LEN);
    memcpy(both + HASH_LEN, b, HASH_LEN);
    sha_begin(s);
    sha_add(s, both, sizeof both);
    sha_end(s, out);
}

/* ---- UTF-8 */

size_t utf8_next(const char *s, size_t n, uint32_t *cp)
{
    const uint8_t *p = (const uint8_t *)s;
    if (!n)
        return 0;
    if (p[0] < 0x80) {
        *cp = p[0];
        return 1;
    }
    size_t len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || n < len)
        return 0;
    uint32_t v = p[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        v = v << 6 | (p[i] & 0x3fu);
    }
    if ((len == 3 && (v < 0x800 || (v >= 0xd800 && v <= 0xdfff))) ||
        (len == 4 && (v < 0x10000 || v > 0x10ffff)))
        return 0;
    *cp = v;
    return len;
}

bool utf8_valid(const char *s, size_t n)
{
    for (size_t i = 0; i < n;) {
        uint64_t eight;
        /* Most text is ASCII: skip eight bytes at a time. */
        if (n - i >= sizeof eight) {
            memcpy(&eight, s + i, sizeof eight);
            if (!(eight & 0x8080808080808080u)) {
                i += sizeof eight;
                continue;
            }
        }
        uint32_t cp;
        size_t step = utf8_next(s + i, n - i, &cp);
        if (!step)
            return false;
        i += step;
    }
    return true;
}

static bool starts_char(char ch)
{
    return ((uint8_t)ch & 0xc0) != 0x80;
}

size_t utf8_count(const char *s)
{
    size_t n = 0;
    for (; *s; s++)
        n += starts_char(*s);
    return n;
}

size_t utf8_prefix(const char *s, size_t chars)
{
    size_t i = 0;
    while (s[i] && (chars || !starts_char(s[i])))
        chars -= starts_char(s[i++]);
    return i;
}

void utf8_trim(char *s)
{
    for (size_t n = strlen(s); n && !utf8_valid(s, n);)
        s[--n] = 0;
}

size_t utf8_put(uint32_t cp, char out[4])
{
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    size_t len = cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
    for (size_t i = len - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (cp & 0x3f));
        cp >>= 6;
    }
    static const uint8_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    out[0] = (char)(lead[len] | cp);
    return len;
}

static pthread_once_t unicode_once = PTHREAD_ONCE_INIT;
static locale_t unicode; /* 0 when the system has none; then only ASCII has case and width */

static void unicode_make(void)
{
    unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

int utf8_width(uint32_t cp)
{
    if (cp < 0x7f)
        return cp >= 0x20;
    pthread_once(&unicode_once, unicode_make);
    if (!unicode)
        return cp >= 0xa0;
    locale_t was = uselocale(unicode);
    int w = wcwidth((wchar_t)cp);
    uselocale(was);
    return w < 0 ? 0 : w;
}

char *utf8_lower(arena *a, const char *s, size_t n)
{
    pthread_once(&unicode_once, unicode_make);
    /* Simple case mappings map one character to one. Only characters of two bytes and more can get
     * longer, by less than half of what 2n allows. */
    char *out = arena_alloc(a, 2 * n + 1), *o = out;
    for (size_t i = 0; i < n;) {
        uint32_t cp;
        size_t step = utf8_next(s + i, n - i, &cp);
        if (!step) {
            *o++ = s[i++];
            continue;
        }
        if (cp < 0x80)
            *o++ = (char)(cp >= 'A' && cp <= 'Z' ? cp + 32 : cp);
        else
            o += utf8_put(unicode ? (uint32_t)towlower_l((wint_t)cp, unicode) : cp, o);
        i += step;
    }
    *o = 0;
    return out;
}

bool utf8_is_space(uint32_t cp)
{
    return (cp >= 9 && cp <= 13) || cp == ' ' || cp == 0x85 || cp == 0xa0 || cp == 0x1680 ||
           (cp >= 0x2000 && cp <= 0x200a) || cp == 0x2028 || cp == 0x2029 || cp == 0x202f ||
           cp == 0x205f || cp == 0x3000;
}

/* The bytes of the white space character that s ends with; 0 when it ends with another
 * character. */
static size_t space_before(const char *s, size_t n)
{
    uint32_t cp;
    for (size_t len = 1; len <= 3 && len <= n; len++)
        if (utf8_next(s + n - len, len, &cp) == len)
            return utf8_is_space(cp) ? len : 0;
    return 0;
}

/* The span of s without the white space around it. Reads only its ends. */
static const char *trim(const char *s, size_t *n)
{
    uint32_t cp;
    size_t step;
    while ((step = utf8_next(s, *n, &cp)) && utf8_is_space(cp)) {
        s += step;
        *n -= step;
    }
    while ((step = space_before(s, *n)))
        *n -= step;
    return s;
}

char *text_preview(arena *a, const char *s, size_t chars)
{
    static const char more[] = "…";
    if (!s || !chars)
        return arena_strdup(a, "");
    while (*s) {
        size_t line = strcspn(s, "\r\n"), n = line;
        const char *text = trim(s, &n);
        if (n) {
            if (utf8_prefix(text, chars) >= n)
                return arena_memdup(a, text, n);
            int keep = (int)utf8_prefix(text, chars - 1);
            return arena_printf(a, "%.*s%s", keep, text, more);
        }
        s += line;
        s += strspn(s, "\r\n");
    }
    return arena_strdup(a, "");
}
