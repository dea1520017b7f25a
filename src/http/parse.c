/* SPDX-License-Identifier: Apache-2.0
 *
 * The grammar of HTTP/1.1 requests: see http/parse.h.
 */
#include "http/parse.h"

#include "base/util.h"

#include <string.h>
#include <strings.h>

#define SIZE_DIGITS_MAX 15 /* of a chunk size: 2^60 exceeds any limit */
#define SKIPPED_MAX 8192   /* bytes of an extension, or of a trailer */

static const char lone_cr[] = "a line holds a CR that no LF follows";
static const char lone_lf[] = "a line ends with LF alone; CRLF is needed";
static const char control[] = "the header holds a control character";

/* ------------------------------------------------------------------- the header */

/* Handles the end of a line. True: it was the empty line that ends the header. */
static bool line_ends(head_scan *s)
{
    size_t n = s->at - 1 - s->line; /* without CR */
    bool last = false;
    if (!n && !s->first_line)
        s->begin = s->at + 1; /* RFC 9112, 2.2: empty lines before a request are skipped */
    else if (!n)
        last = true;
    else if (!s->first_line)
        s->first_line = n;
    s->line = s->at + 1;
    s->cr = false;
    return last;
}

head_state head_look(head_scan *s, const char *bytes, size_t n)
{
    for (; s->at < n && !s->wrong; s->at++) {
        unsigned char c = (unsigned char)bytes[s->at];
        if (c == '\n' && s->cr) {
            if (!line_ends(s))
                continue;
            s->at++;
            return HEAD_WHOLE;
        }
        if (c == '\n')
            s->wrong = lone_lf;
        else if (s->cr)
            s->wrong = lone_cr;
        else if (c == '\r')
            s->cr = true;
        else if ((c < 0x20 && c != '\t') || c == 0x7f)
            s->wrong = control;
    }
    return s->wrong ? HEAD_BAD : HEAD_MORE;
}

static bool is_token(const char *s)
{
    static const char others[] = "!#$%&'*+-.^_`|~";
    if (!*s)
        return false;
    for (; *s; s++) {
        char l = *s | 0x20;
        if (!((l >= 'a' && l <= 'z') || (*s >= '0' && *s <= '9') || strchr(others, *s)))
            return false;
    }
    return true;
}

/* Terminates the line at `p`, which is known to end with CRLF, and returns the next one. */
static char *line_cut(char *p)
{
    char *cr = strchr(p, '\r');
    *cr = 0;
    return cr + 2;
}

static const char *first_split(char *line, http_head *out)
{
    char *target = strchr(line, ' '), *version = strrchr(line, ' ');
    out->method = out->target = "";
    if (!target || target == version)
        return "the request line is not METHOD TARGET HTTP/1.1";
    *target++ = 0;
    *version++ = 0;
    if (!is_token(line))
        return "the method holds a character that it may not";
    out->method = line;
    out->target = target;
    if (strncmp(version, "HTTP/", 5) != 0 || version[5] < '0' || version[5] > '9' ||
        version[6] != '.' || version[7] < '0' || version[7] > '9' || version[8])
        return "the request line does not end with HTTP/1.1";
    out->major = version[5] - '0';
    out->minor = version[7] - '0';
    return NULL;
}

static const char *field_split(char *line, http_field *out)
{
    char *colon = strchr(line, ':');
    if (!colon)
        return "a header line has no colon";
    *colon++ = 0;
    if (!is_token(line))
        return "a header name holds a character that it may not";
    colon += strspn(colon, " \t");
    size_t n = strlen(colon);
    while (n && (colon[n - 1] == ' ' || colon[n - 1] == '\t'))
        n--;
    colon[n] = 0;
    *out = (http_field){line, colon};
    return NULL;
}

const char *head_split(arena *a, char *bytes, size_t n, http_head *out)
{
    *out = (http_head){0};
    size_t lines = 0;
    bytes[n] = 0;
    for (const char *p = bytes; (p = strchr(p, '\n')); p++)
        lines++;
    out->fields = arena_array(a, lines, sizeof *out->fields);
    char *next = line_cut(bytes);
    const char *wrong = first_split(bytes, out);
    while (!wrong && *next != '\r') {
        char *line = next;
        next = line_cut(line);
        wrong = field_split(line, &out->fields[out->n]);
        out->n += !wrong;
    }
    return wrong;
}

const char *head_get(const http_head *h, const char *name)
{
    for (size_t i = 0; i < h->n; i++)
        if ((h->fields[i].name[0] | 0x20) == (name[0] | 0x20) &&
            strcasecmp(h->fields[i].name, name) == 0)
            return h->fields[i].value;
    return NULL;
}

/* ----------------------------------------------------------------------- chunks */

static chunk_state size_step(chunk_reader *r, char c)
{
    int digit = hex_digit(c);
    if (digit >= 0) {
        if (++r->digits > SIZE_DIGITS_MAX)
            return CHUNK_OVER;
        r->left = r->left << 4 | (uint64_t)digit;
        return CHUNK_MORE;
    }
    if (!r->digits)
        return CHUNK_BAD;
    r->last = !r->left;
    r->skipped = 0;
    if (c == '\r')
        r->in = IN_SIZE_LF;
    else if (c == ';')
        r->in = IN_EXTENSION;
    else
        return CHUNK_BAD;
    return CHUNK_MORE;
}

/* Whether a byte of an extension or a trailer is legal; these are ignored. */
static bool may_skip(chunk_reader *r, char c)
{
    return ((unsigned char)c >= 0x20 || c == '\t') && c != 0x7f && ++r->skipped <= SKIPPED_MAX;
}

static chunk_state trailer_step(chunk_reader *r, char c)
{
    if (c == '\r') {
        r->in = IN_TRAILER_LF;
        return CHUNK_MORE;
    }
    r->empty = false;
    return may_skip(r, c) ? CHUNK_MORE : CHUNK_BAD;
}

static chunk_state lf_step(chunk_reader *r, char c)
{
    if (c != '\n')
        return CHUNK_BAD;
    if (r->in == IN_TRAILER_LF && r->empty)
        return CHUNK_END;
    if (r->in == IN_SIZE_LF && !r->last) {
        r->in = IN_DATA;
        return CHUNK_MORE;
    }
    if (r->in == IN_DATA_LF) {
        *r = (chunk_reader){.in = IN_SIZE};
        return CHUNK_MORE;
    }
    r->in = IN_TRAILER;
    r->empty = true;
    return CHUNK_MORE;
}

static chunk_state byte_step(chunk_reader *r, char c)
{
    switch (r->in) {
    case IN_SIZE:
        return size_step(r, c);
    case IN_EXTENSION:
        if (c != '\r')
            return may_skip(r, c) ? CHUNK_MORE : CHUNK_BAD;
        r->in = IN_SIZE_LF;
        return CHUNK_MORE;
    case IN_DATA_CR:
        r->in = IN_DATA_LF;
        return c == '\r' ? CHUNK_MORE : CHUNK_BAD;
    case IN_TRAILER:
        return trailer_step(r, c);
    case IN_SIZE_LF:
    case IN_DATA_LF:
    case IN_TRAILER_LF:
        return lf_step(r, c);
    case IN_DATA:
        break;
    }
    return CHUNK_BAD;
}

chunk_state chunk_read(chunk_reader *r, const char *bytes, size_t n, size_t *used, size_t *piece)
{
    *piece = 0;
    for (*used = 0; *used < n;) {
        if (r->in == IN_DATA) {
            size_t left = n - *used;
            *piece = r->left < left ? (size_t)r->left : left;
            *used += *piece;
            r->left -= *piece;
            if (!r->left)
                r->in = IN_DATA_CR;
            return CHUNK_BYTES;
        }
        chunk_state st = byte_step(r, bytes[(*used)++]);
        if (st != CHUNK_MORE)
            return st;
    }
    return CHUNK_MORE;
}
