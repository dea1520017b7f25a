/* SPDX-License-Identifier: Apache-2.0
 *
 * json.h: reading and writing JSON. Values that are not decoded keep their exact bytes.
 *
 * The parser validates the whole text (RFC 8259, valid UTF-8, paired surrogates, no duplicate keys,
 * bounded depth and size) and returns a flat list of nodes that point into it. Numbers stay text,
 * and every node has the span of its value, so a body can be stored byte for byte. Strings and
 * numbers are decoded on demand.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/arena.h"
#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
} json_type;

/* Children follow their parent. In an object, keys (strings) and values alternate. */
typedef struct json_node {
    uint32_t start, end; /* span in the text; a string includes its quotes */
    uint32_t next;       /* index of the node after this one and its children */
    uint32_t count;      /* items of an array, members of an object */
    uint8_t type;
    bool escaped; /* string: contains a backslash */
    bool has_nul; /* string: contains \u0000 (also set on every container around it) */
} json_node;

typedef struct json_doc {
    const char *text;
    size_t len;
    json_node *nodes; /* nodes[0] is the root */
    size_t n;
} json_doc;

typedef struct json_error {
    size_t offset;
    char message[96];
} json_error;

#define JSON_MAX_DEPTH 128
#define JSON_MAX_NODES 2000000u

/* The text must outlive the doc. `depth` 0 means JSON_MAX_DEPTH. err may be NULL. */
bool json_parse(arena *a, const char *text, size_t len, size_t depth, json_doc *out,
                json_error *err);

/* The value of a key; NULL when there is none, and when `obj` is NULL or not an object. */
const json_node *json_get(const json_doc *d, const json_node *obj, const char *key);
/* The same where members are asked for in the order in which they are likely to stand: *next is
 * json_first() of the object at first, and the key behind the last member found from then on. */
const json_node *json_member(const json_doc *d, const json_node *obj, const json_node **next,
                             const char *key);
/* First child and next sibling of a child; NULL at the end. */
const json_node *json_first(const json_doc *d, const json_node *parent);
const json_node *json_next(const json_doc *d, const json_node *parent, const json_node *child);

/* The decoded text of a string node, in the arena; NULL when it is NULL or not a string. */
const char *json_text(arena *a, const json_doc *d, const json_node *v);
/* The same with its length: it may contain NUL. */
const char *json_textn(arena *a, const json_doc *d, const json_node *v, size_t *len);
/* The raw bytes of a value, in the arena. */
const char *json_raw(arena *a, const json_doc *d, const json_node *v);
/* An integer in range; false when it is not one (1.0 and 1e3 are not). */
bool json_int(const json_doc *d, const json_node *v, int64_t *out);
/* Any number, as a decimal scaled by 10^9 and rounded half away from zero; false when it does not
 * fit. */
bool json_nano(const json_doc *d, const json_node *v, int64_t *out);
bool json_is(const json_node *v, json_type t); /* NULL-safe */
/* The number of bytes from s on that are ASCII and need no escape in a JSON string. */
size_t json_plain(const char *s, size_t n);
/* How many bytes the escape at s (a backslash; n bytes left) takes, for mending what other programs
 * write. *cp gets its character: half of a pair (JSON_HALF) when it stands alone, the backslash
 * when there is no escape. */
size_t json_escape(const char *s, size_t n, uint32_t *cp);
#define JSON_HALF(cp) ((cp) >= 0xd800 && (cp) <= 0xdfff)

/* ---- writing */

typedef struct json_writer {
    buf *out;
    int indent; /* spaces a level; 0 = one line */
    int depth;
    bool first[64]; /* nothing was written on this level yet */
    bool after_key;
} json_writer;

void jw_init(json_writer *w, buf *out, int indent);
void jw_object(json_writer *w);
void jw_end_object(json_writer *w);
void jw_array(json_writer *w);
void jw_end_array(json_writer *w);
void jw_key(json_writer *w, const char *key);
void jw_str(json_writer *w, const char *s); /* NULL writes null */
void jw_strn(json_writer *w, const char *s, size_t n);
/* A string written in parts, each of them valid UTF-8. */
void jw_text(json_writer *w);
void jw_text_add(json_writer *w, const char *s);
void jw_end_text(json_writer *w);
void jw_int(json_writer *w, int64_t v);
void jw_bool(json_writer *w, bool v);
void jw_null(json_writer *w);
void jw_raw(json_writer *w, const char *json); /* a finished value; NULL writes null */
/* An integer scaled by 10^9, as the shortest decimal. */
void jw_nano(json_writer *w, int64_t v);
/* key and value at once */
void jw_kstr(json_writer *w, const char *key, const char *s);
void jw_kint(json_writer *w, const char *key, int64_t v);
void jw_kbool(json_writer *w, const char *key, bool v);
void jw_kraw(json_writer *w, const char *key, const char *json);
/* The text as a JSON string, in the arena. */
char *json_quote(arena *a, const char *text);

#endif
