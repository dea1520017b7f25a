/* SPDX-License-Identifier: Apache-2.0
 *
 * The JSON parser (json.h). One pass over the text without recursion. The time is linear in its
 * length whatever it holds, because the keys of large objects are compared through a hash with a
 * secret seed, for which a client cannot prepare collisions.
 */
#include "base/json.h"

#include "base/util.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct parser {
    arena *arena;
    const char *text;
    size_t len, pos, depth;
    VEC(json_node) nodes;
    VEC(uint32_t) open; /* containers around pos, outermost first */
    json_error *err;
} parser;

static bool fail(parser *p, size_t at, const char *what)
{
    if (p->err) {
        p->err->offset = at;
        snprintf(p->err->message, sizeof p->err->message, "%s", what);
    }
    return false;
}

static bool unexpected(parser *p, const char *wanted)
{
    char what[64];
    if (p->pos >= p->len)
        snprintf(what, sizeof what, "the text ends where %s is wanted", wanted);
    else
        snprintf(what, sizeof what, "%s is wanted", wanted);
    return fail(p, p->pos, what);
}

static int peek(const parser *p)
{
    return p->pos < p->len ? (unsigned char)p->text[p->pos] : -1;
}

static void skip_space(parser *p)
{
    while (p->pos < p->len) {
        char ch = p->text[p->pos];
        if (ch != ' ' && ch != '\n' && ch != '\r' && ch != '\t')
            return;
        p->pos++;
    }
}

static json_node *node_add(parser *p, json_type type, size_t start)
{
    if (p->nodes.n >= JSON_MAX_NODES) {
        fail(p, start, "too many values");
        return NULL;
    }
    json_node node = {.start = (uint32_t)start, .type = (uint8_t)type};
    VEC_PUSH(p->arena, &p->nodes, node);
    return &p->nodes.items[p->nodes.n - 1];
}

/* ---- strings */

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Eight bytes at a time: the top bit of each is set where a byte is below 0x20, a quote, a
 * backslash or not ASCII (and perhaps, through a borrow, after such a byte). */
static uint64_t special(uint64_t w)
{
    uint64_t quote = w ^ EACH('"'), slash = w ^ EACH('\\');
    return (((w - EACH(0x20)) & ~w) | ((quote - EACH(1)) & ~quote) | ((slash - EACH(1)) & ~slash) |
            w) &
           EACH(0x80);
}

size_t json_plain(const char *s, size_t n)
{
    size_t i = 0;
    for (uint64_t w; i + sizeof w <= n; i += sizeof w) {
        memcpy(&w, s + i, sizeof w);
        if (special(w))
            break;
    }
    while (i < n && (unsigned char)s[i] >= 0x20 && (unsigned char)s[i] < 0x80 && s[i] != '"' &&
           s[i] != '\\')
        i++;
    return i;
}

static int hex4(const char *s)
{
    int v = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(s[i]);
        if (digit < 0)
            return -1;
        v = v << 4 | digit;
    }
    return v;
}

/* Decodes the escape at s (a backslash) with n bytes left; *size gets its length. Returns NULL, or
 * what is wrong with it. */
static const char *escape_read(const char *s, size_t n, uint32_t *cp, size_t *size)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (n < 2)
        return "the text ends in an escape";
    const char *at = s[1] ? strchr(from, s[1]) : NULL;
    *size = 2;
    if (at) {
        *cp = (unsigned char)to[at - from];
        return NULL;
    }
    if (s[1] != 'u')
        return "unknown escape";
    int v = n >= 6 ? hex4(s + 2) : -1;
    if (v < 0)
        return "\\u needs four hex digits";
    *cp = (uint32_t)v;
    *size = 6;
    if (v < 0xd800 || v > 0xdfff)
        return NULL;
    int low = v < 0xdc00 && n >= 12 && s[6] == '\\' && s[7] == 'u' ? hex4(s + 8) : -1;
    if (low < 0xdc00 || low > 0xdfff)
        return "lone surrogate";
    *cp = 0x10000 + (((uint32_t)v - 0xd800) << 10) + ((uint32_t)low - 0xdc00);
    *size = 12;
    return NULL;
}

size_t json_escape(const char *s, size_t n, uint32_t *cp)
{
    size_t size = n;
    *cp = '\\';
    escape_read(s, n, cp, &size); /* for half a pair, it returns the half and its size */
    return size;
}

/* Reads the string at pos (its opening quote) into a new node. */
static bool string_read(parser *p)
{
    size_t start = p->pos, i = start + 1;
    const char *t = p->text;
    bool escaped = false, nul = false;
    for (;;) {
        i += json_plain(t + i, p->len - i);
        if (i >= p->len)
            return fail(p, start, "a string is not closed");
        if (t[i] == '"')
            break;
        uint32_t cp;
        size_t step;
        if (t[i] == '\\') {
            const char *wrong = escape_read(t + i, p->len - i, &cp, &step);
            if (wrong)
                return fail(p, i, wrong);
            escaped = true;
            nul |= cp == 0;
        } else {
            if ((unsigned char)t[i] < 0x20)
                return fail(p, i, "control character in a string");
            step = utf8_next(t + i, p->len - i, &cp);
            if (!step)
                return fail(p, i, "not valid UTF-8");
        }
        i += step;
    }
    json_node *node = node_add(p, JSON_STRING, start);
    if (!node)
        return false;
    node->end = (uint32_t)(p->pos = i + 1);
    node->next = (uint32_t)p->nodes.n;
    node->escaped = escaped;
    node->has_nul = nul;
    return true;
}

/* Decodes the inside of a validated string; returns the length. */
static size_t string_decode(const char *s, size_t n, char *out)
{
    char *o = out;
    for (size_t i = 0; i < n;) {
        const char *back = memchr(s + i, '\\', n - i);
        size_t plain = back ? (size_t)(back - (s + i)) : n - i;
        memcpy(o, s + i, plain);
        o += plain;
        i += plain;
        if (back) {
            uint32_t cp = 0;
            size_t step = 2;
            escape_read(s + i, n - i, &cp, &step);
            o += utf8_put(cp, o);
            i += step;
        }
    }
    return (size_t)(o - out);
}

/* ---- duplicate keys */

typedef struct key_text {
    const char *text;
    size_t n;
} key_text;

static pthread_once_t seed_once = PTHREAD_ONCE_INIT;
static uint64_t seed[2];

static void seed_make(void)
{
    random_bytes(seed, sizeof seed);
}

static uint64_t rotate(uint64_t v, int by)
{
    return v << by | v >> (64 - by);
}

static void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[0] = rotate(v[0], 32);
    v[2] += v[3];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[2] = rotate(v[2], 32);
}

/* SipHash-1-3 with a seed of this process. */
static uint64_t key_hash(key_text k)
{
    uint64_t v[4] = {seed[0] ^ 0x736f6d6570736575, seed[1] ^ 0x646f72616e646f6d,
                     seed[0] ^ 0x6c7967656e657261, seed[1] ^ 0x7465646279746573};
    uint64_t word;
    size_t i = 0;
    for (; i + 8 <= k.n; i += 8) {
        memcpy(&word, k.text + i, 8);
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
    }
    word = (uint64_t)k.n << 56;
    for (int shift = 0; i < k.n; i++, shift += 8)
        word |= (uint64_t)(unsigned char)k.text[i] << shift;
    v[3] ^= word;
    sip_round(v);
    v[0] ^= word;
    v[2] ^= 0xff;
    sip_round(v);
    sip_round(v);
    sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static bool key_same(key_text a, key_text b)
{
    return a.n == b.n && memcmp(a.text, b.text, a.n) == 0;
}

static key_text key_decode(parser *p, const json_node *node)
{
    key_text k = {p->text + node->start + 1, node->end - node->start - 2};
    if (node->escaped) {
        char *out = arena_alloc(p->arena, k.n + 1);
        k.n = string_decode(k.text, k.n, out);
        k.text = out;
    }
    return k;
}

#define FEW_KEYS 16 /* comparing all pairs is faster than a table up to here */

static bool few_keys_differ(parser *p, uint32_t object)
{
    key_text seen[FEW_KEYS];
    uint32_t i = object + 1;
    for (uint32_t k = 0; k < p->nodes.items[object].count; k++) {
        const json_node *key = &p->nodes.items[i];
        seen[k] = key_decode(p, key);
        for (uint32_t other = 0; other < k; other++)
            if (key_same(seen[k], seen[other]))
                return fail(p, key->start, "duplicate key");
        i = p->nodes.items[i + 1].next;
    }
    return true;
}

static bool many_keys_differ(parser *p, uint32_t object)
{
    struct slot {
        uint64_t hash;
        key_text key;
    };
    pthread_once(&seed_once, seed_make);
    uint32_t count = p->nodes.items[object].count;
    size_t size = 32;
    while (size < 2 * (size_t)count)
        size *= 2;
    struct slot *slots = xcalloc(size, sizeof *slots);
    bool ok = true;
    uint32_t i = object + 1;
    for (uint32_t k = 0; ok && k < count; k++) {
        const json_node *node = &p->nodes.items[i];
        key_text key = key_decode(p, node);
        uint64_t hash = key_hash(key);
        size_t at = (size_t)hash & (size - 1);
        for (; ok && slots[at].key.text; at = (at + 1) & (size - 1))
            if (slots[at].hash == hash && key_same(slots[at].key, key))
                ok = fail(p, node->start, "duplicate key");
        slots[at] = (struct slot){hash, key};
        i = p->nodes.items[i + 1].next;
    }
    free(slots);
    return ok;
}

/* ---- other values */

static void skip_digits(parser *p)
{
    while (peek(p) >= '0' && peek(p) <= '9')
        p->pos++;
}

static bool number_read(parser *p)
{
    size_t start = p->pos;
    if (peek(p) == '-')
        p->pos++;
    int first = peek(p);
    if (first < '0' || first > '9')
        return unexpected(p, "a digit");
    p->pos++;
    if (first == '0' && peek(p) >= '0' && peek(p) <= '9')
        return fail(p, start, "a number starts with 0");
    skip_digits(p);
    if (peek(p) == '.') {
        p->pos++;
        if (peek(p) < '0' || peek(p) > '9')
            return unexpected(p, "a digit");
        skip_digits(p);
    }
    if (peek(p) == 'e' || peek(p) == 'E') {
        p->pos++;
        if (peek(p) == '+' || peek(p) == '-')
            p->pos++;
        if (peek(p) < '0' || peek(p) > '9')
            return unexpected(p, "a digit");
        skip_digits(p);
    }
    json_node *node = node_add(p, JSON_NUMBER, start);
    if (!node)
        return false;
    node->end = (uint32_t)p->pos;
    node->next = (uint32_t)p->nodes.n;
    return true;
}

static bool word_read(parser *p, const char *word, json_type type)
{
    size_t n = strlen(word);
    if (p->len - p->pos < n || memcmp(p->text + p->pos, word, n) != 0)
        return unexpected(p, "a value");
    json_node *node = node_add(p, type, p->pos);
    if (!node)
        return false;
    node->end = (uint32_t)(p->pos += n);
    node->next = (uint32_t)p->nodes.n;
    return true;
}

static bool container_open(parser *p, json_type type)
{
    if (p->open.n >= p->depth) {
        char what[64];
        snprintf(what, sizeof what, "nested deeper than %zu levels", p->depth);
        return fail(p, p->pos, what);
    }
    if (!node_add(p, type, p->pos))
        return false;
    p->pos++;
    VEC_PUSH(p->arena, &p->open, (uint32_t)(p->nodes.n - 1));
    return true;
}

/* Closes the innermost container; pos is at its bracket. */
static bool container_close(parser *p)
{
    uint32_t at = p->open.items[--p->open.n];
    json_node *node = &p->nodes.items[at];
    node->end = (uint32_t)++p->pos;
    node->next = (uint32_t)p->nodes.n;
    for (uint32_t i = at + 1; i < node->next; i = p->nodes.items[i].next)
        node->has_nul |= p->nodes.items[i].has_nul;
    if (node->type != JSON_OBJECT)
        return true;
    return node->count <= FEW_KEYS ? few_keys_differ(p, at) : many_keys_differ(p, at);
}

/* Reads a value at pos; of a container only its start. */
static bool value_read(parser *p)
{
    switch (peek(p)) {
    case '"':
        return string_read(p);
    case '{':
        return container_open(p, JSON_OBJECT);
    case '[':
        return container_open(p, JSON_ARRAY);
    case 't':
        return word_read(p, "true", JSON_TRUE);
    case 'f':
        return word_read(p, "false", JSON_FALSE);
    case 'n':
        return word_read(p, "null", JSON_NULL);
    case '-':
    case '0' ... '9':
        return number_read(p);
    default:
        return unexpected(p, "a value");
    }
}

/* Reads what comes next inside the innermost open container: its end, or its next item. */
static bool container_step(parser *p)
{
    uint32_t at = p->open.items[p->open.n - 1];
    bool object = p->nodes.items[at].type == JSON_OBJECT;
    bool first = p->nodes.items[at].count == 0;
    skip_space(p);
    if (peek(p) == (object ? '}' : ']'))
        return container_close(p);
    if (!first) {
        if (peek(p) != ',')
            return unexpected(p, object ? "',' or '}'" : "',' or ']'");
        p->pos++;
        skip_space(p);
    }
    p->nodes.items[at].count++;
    if (object) {
        if (peek(p) != '"')
            return unexpected(p, first ? "a key or '}'" : "a key");
        if (!string_read(p))
            return false;
        skip_space(p);
        if (peek(p) != ':')
            return unexpected(p, "':'");
        p->pos++;
        skip_space(p);
    }
    return value_read(p);
}

bool json_parse(arena *a, const char *text, size_t len, size_t depth, json_doc *out,
                json_error *err)
{
    parser p = {
        .arena = a, .text = text, .len = len, .depth = depth ? depth : JSON_MAX_DEPTH, .err = err};
    if (len > UINT32_MAX)
        return fail(&p, 0, "longer than 4 GiB");
    skip_space(&p);
    if (!value_read(&p))
        return false;
    while (p.open.n)
        if (!container_step(&p))
            return false;
    skip_space(&p);
    if (p.pos < len)
        return fail(&p, p.pos, "text behind the value");
    *out = (json_doc){.text = text, .len = len, .nodes = p.nodes.items, .n = p.nodes.n};
    return true;
}

/* ---- reading a document */

bool json_is(const json_node *v, json_type t)
{
    return v && v->type == t;
}

/* Whether a string node equals `key`; does not allocate. */
static bool string_is(const json_doc *d, const json_node *v, const char *key, size_t n)
{
    const char *s = d->text + v->start + 1;
    size_t len = v->end - v->start - 2;
    if (!v->escaped)
        return len == n && memcmp(s, key, n) == 0;
    size_t at = 0;
    for (size_t i = 0; i < len;) {
        uint32_t cp = 0;
        size_t step = 1, got = 1;
        char piece[4] = {s[i]};
        if (s[i] == '\\') {
            escape_read(s + i, len - i, &cp, &step);
            got = utf8_put(cp, piece);
        }
        if (n - at < got || memcmp(key + at, piece, got) != 0)
            return false;
        at += got;
        i += step;
    }
    return at == n;
}

const json_node *json_get(const json_doc *d, const json_node *obj, const char *key)
{
    if (!json_is(obj, JSON_OBJECT))
        return NULL;
    size_t n = strlen(key);
    const json_node *k = obj + 1;
    for (uint32_t i = 0; i < obj->count; i++) {
        if (string_is(d, k, key, n))
            return k + 1;
        k = d->nodes + k[1].next;
    }
    return NULL;
}

const json_node *json_member(const json_doc *d, const json_node *obj, const json_node **next,
                             const char *key)
{
    const json_node *k = *next;
    if (k && string_is(d, k, key, strlen(key))) {
        *next = json_next(d, obj, k + 1);
        return k + 1;
    }
    const json_node *v = json_get(d, obj, key);
    if (v)
        *next = json_next(d, obj, v);
    return v;
}

const json_node *json_first(const json_doc *d, const json_node *parent)
{
    (void)d;
    if (!parent || (parent->type != JSON_ARRAY && parent->type != JSON_OBJECT) || !parent->count)
        return NULL;
    return parent + 1;
}

const json_node *json_next(const json_doc *d, const json_node *parent, const json_node *child)
{
    return child && child->next < parent->next ? d->nodes + child->next : NULL;
}

const char *json_text(arena *a, const json_doc *d, const json_node *v)
{
    size_t n;
    return json_textn(a, d, v, &n);
}

const char *json_textn(arena *a, const json_doc *d, const json_node *v, size_t *len)
{
    *len = 0;
    if (!json_is(v, JSON_STRING))
        return NULL;
    const char *s = d->text + v->start + 1;
    size_t n = *len = v->end - v->start - 2;
    if (!v->escaped)
        return arena_memdup(a, s, n);
    char *out = arena_alloc(a, n + 1);
    *len = string_decode(s, n, out);
    out[*len] = 0;
    return out;
}

const char *json_raw(arena *a, const json_doc *d, const json_node *v)
{
    return v ? arena_memdup(a, d->text + v->start, v->end - v->start) : NULL;
}

/* ---- numbers */

bool json_int(const json_doc *d, const json_node *v, int64_t *out)
{
    if (!json_is(v, JSON_NUMBER))
        return false;
    const char *s = d->text + v->start, *end = d->text + v->end;
    bool minus = *s == '-';
    uint64_t max = (uint64_t)INT64_MAX + minus, n = 0;
    for (s += minus; s < end; s++) {
        unsigned digit = (unsigned)(*s - '0');
        if (digit > 9 || n > (max - digit) / 10)
            return false;
        n = n * 10 + digit;
    }
    *out = minus ? (int64_t)(0 - n) : (int64_t)n;
    return true;
}

/* The exponent of a number whose mantissa ends at s. It saturates far beyond what the digits of a
 * text of 4 GiB can compensate. */
static int64_t exponent(const char *s, const char *end)
{
    if (s == end)
        return 0;
    bool minus = s[1] == '-';
    s += s[1] == '-' || s[1] == '+' ? 2 : 1;
    int64_t e = 0;
    for (; s < end; s++)
        if (e < INT64_C(1) << 40)
            e = e * 10 + (*s - '0');
    return minus ? -e : e;
}

bool json_nano(const json_doc *d, const json_node *v, int64_t *out)
{
    if (!json_is(v, JSON_NUMBER))
        return false;
    const char *s = d->text + v->start, *end = d->text + v->end;
    bool minus = *s == '-';
    s += minus;
    const char *mantissa = s, *point = NULL, *p = s;
    for (; p < end && *p != 'e' && *p != 'E'; p++)
        if (*p == '.')
            point = p;
    int64_t shift = exponent(p, end) + 9 - (point ? p - point - 1 : 0);
    while (mantissa < p && (*mantissa == '0' || *mantissa == '.'))
        mantissa++;
    int64_t have = p - mantissa - (point && point >= mantissa);
    int64_t keep = have + shift; /* digits before the decimal point of the result */
    *out = 0;
    if (!have || keep < 0)
        return true;
    if (keep > 19)
        return false;
    uint64_t n = 0, round = 0;
    for (int64_t i = 0; i < keep; i++) {
        if (mantissa < p && *mantissa == '.')
            mantissa++;
        n = n * 10 + (uint64_t)(mantissa < p ? *mantissa++ - '0' : 0);
    }
    if (mantissa < p && *mantissa == '.')
        mantissa++;
    if (mantissa < p)
        round = *mantissa >= '5';
    if (n + round > (uint64_t)INT64_MAX + minus)
        return false;
    *out = minus ? (int64_t)(0 - (n + round)) : (int64_t)(n + round);
    return true;
}
