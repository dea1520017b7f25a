/* SPDX-License-Identifier: Apache-2.0
 *
 * Filling in the placeholders of templates.
 *
 * A session that was made from a template shares the entries of the template, in which
 * {{placeholders}} stand. Its own row has the values, and its branches say how many entries at the
 * start of their paths those are meant for (branch_row.filled). Whatever reads an entry through a
 * path or by its key gets it filled (path_read(), entry_load()); a reader that wants the record
 * sets `filled` of its copy of the branch to 0.
 *
 *   F1  A branch covers no more than its parent's path did, and nothing behind its own base
 *       (branch_create()): what is appended to a session is never filled.
 *   F2  The values of a session never change, except that they can be erased
 *       (core/erase/erase_fill.c). A fork that inherits filled entries has a copy of
 *       them, so it needs neither the session that it comes from nor the template (I3, I7).
 *   F3  Ids, hashes, roles, turns, usage and state are those of the record (I2, I4). The text, the
 *       parts and the body are filled: in JSON inside strings, except keys and the values of keys
 *       that name an identity or a type, by which programs find each other's parts.
 *   F4  A placeholder is {{name}} with a declared name; nothing else is touched. A value is text:
 *       what it says is not filled again, except by a later template (levels are applied from the
 *       oldest on, each to the text as the one before shows it).
 *   F5  What values add to one entry is bounded when a session is made (FILL_ADDED_MAX).
 */
#include "core/model/fill.h"

#include "base/json.h"
#include "core/call.h"
#include "core/txn.h"

#include <stdio.h>

/* ----------------------------------------------------------------- in a text */

/* The bytes of the character at s, decoded where it is an escape of JSON; how many it takes. */
static size_t char_read(const char *s, size_t n, bool json, char out[4], size_t *out_n)
{
    uint32_t cp;
    *out_n = 1;
    out[0] = s[0];
    if (!json || s[0] != '\\')
        return 1;
    size_t took = json_escape(s, n, &cp);
    *out_n = utf8_put(cp, out);
    return took;
}

static bool char_is(const char *s, size_t n, bool json, char want, size_t *took)
{
    char c[4];
    size_t size = 0;
    if (!n)
        return false;
    *took = char_read(s, n, json, c, &size);
    return size == 1 && c[0] == want;
}

static const fill_value *value_of(const fill_level *l, const char *name, size_t n)
{
    for (size_t i = 0; i < l->n; i++)
        if (strncmp(l->values[i].name, name, n) == 0 && !l->values[i].name[n])
            return &l->values[i];
    return NULL;
}

/* The value of the placeholder that begins at s, and how many bytes that takes; NULL: none does. */
static const fill_value *placeholder_at(const fill_level *l, const char *s, size_t n, bool json,
                                        size_t *len)
{
    char name[FILL_NAME_MAX + 4], c[4];
    size_t at = 0, took = 0, named = 0, size = 0;
    for (int i = 0; i < 2; i++, at += took)
        if (!char_is(s + at, n - at, json, '{', &took))
            return NULL;
    while (at < n && !char_is(s + at, n - at, json, '}', &took)) {
        took = char_read(s + at, n - at, json, c, &size);
        if (named + size > FILL_NAME_MAX)
            return NULL;
        memcpy(name + named, c, size);
        named += size;
        at += took;
    }
    for (int i = 0; i < 2; i++, at += took)
        if (!char_is(s + at, n - at, json, '}', &took))
            return NULL;
    *len = at;
    return named ? value_of(l, name, named) : NULL;
}

/* Writes a text with its placeholders replaced (`out` NULL: only counts them). */
static int64_t text_fill(const fill_level *l, const char *s, size_t n, bool json, buf *out)
{
    int64_t count = 0;
    size_t from = 0, len = 0;
    for (size_t at = 0; at < n;) {
        if (s[at] != '{' && !(json && s[at] == '\\')) {
            at++;
            continue;
        }
        const fill_value *v = placeholder_at(l, s + at, n - at, json, &len);
        if (!v) {
            char c[4];
            size_t size;
            at += char_read(s + at, n - at, json, c, &size);
            continue;
        }
        if (out) {
            buf_add(out, s + from, at - from);
            buf_puts(out, json ? v->escaped : v->text);
        }
        count++;
        from = at = at + len;
    }
    if (out)
        buf_add(out, s + from, n - from);
    return count;
}

/* ------------------------------------------------------------------- in JSON */

/* Whether the text under a key says what something is, not what somebody said. */
static bool key_is_identity(const char *key, size_t n)
{
    static const char *const whole[] = {"id", "type", "kind", "role"};
    static const char *const ends[] = {"Id", "_id", "ID"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (strlen(whole[i]) == n && memcmp(whole[i], key, n) == 0)
            return true;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t len = strlen(ends[i]);
        if (n > len && memcmp(key + n - len, ends[i], len) == 0)
            return true;
    }
    return false;
}

/* The closing quote of the string whose opening quote is at `at`. */
static size_t string_end(const char *json, size_t n, size_t at)
{
    for (at++; at < n && json[at] != '"'; at++)
        if (json[at] == '\\')
            at++;
    return at < n ? at : n;
}

/* The same as text_fill() for a JSON value. */
static int64_t json_fill(const fill_level *l, const char *json, size_t n, buf *out)
{
    static const char space[] = " \t\r\n";
    int64_t count = 0;
    size_t from = 0;
    bool kept = false; /* the value that comes next stays as it is */
    for (size_t at = 0; at < n;) {
        if (json[at] != '"') {
            kept = kept && strchr(space, json[at]);
            at++;
            continue;
        }
        size_t end = string_end(json, n, at), next = end < n ? end + 1 : n;
        next += strspn(json + next, space);
        bool key = next < n && json[next] == ':';
        if (!key && !kept) {
            if (out)
                buf_add(out, json + from, at + 1 - from);
            count += text_fill(l, json + at + 1, end - at - 1, true, out);
            from = end;
        }
        kept = key && key_is_identity(json + at + 1, end - at - 1);
        at = key ? next + 1 : end + 1;
    }
    if (out && from < n)
        buf_add(out, json + from, n - from);
    return count;
}

/* --------------------------------------------------------------------- entries */

/* Most texts have no placeholder; an escaped brace is \u007b. */
static bool may_hold(const char *s, bool json)
{
    return s && (strstr(s, "{{") || (json && strstr(s, "\\u007")));
}

static const char *filled(arena *a, const fill_level *l, const char *s, bool json)
{
    buf out;
    if (!l->n || !may_hold(s, json))
        return s;
    size_t n = strlen(s);
    buf_init(&out, n + (size_t)FILL_ADDED_MAX);
    if (json)
        json_fill(l, s, n, &out);
    else
        text_fill(l, s, n, false, &out);
    return buf_keep_whole(&out, a);
}

const char *fill_plain(arena *a, const fill_level *l, const char *text)
{
    const char *made = filled(a, l, text, false);
    return made ? made : text;
}

int64_t fill_count(const fill_level *l, const ramet_entry *e)
{
    int64_t n = 0;
    if (may_hold(e->text, false))
        n += text_fill(l, e->text, strlen(e->text), false, NULL);
    if (may_hold(e->parts, true))
        n += json_fill(l, e->parts, strlen(e->parts), NULL);
    if (may_hold(e->body, true))
        n += json_fill(l, e->body, strlen(e->body), NULL);
    return n;
}

bool fill_level_entry(const fill_level *l, ramet_entry *e, arena *a)
{
    struct {
        const char **text;
        bool json;
    } texts[] = {{&e->text, false}, {&e->parts, true}, {&e->body, true}};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        const char *made = *texts[k].text ? filled(a, l, *texts[k].text, texts[k].json) : NULL;
        if (*texts[k].text && !made)
            return false;
        *texts[k].text = made;
    }
    return true;
}

void fill_entry(txn *tx, const fill *f, const branch_row *head, ramet_entry *e, arena *a)
{
    for (size_t i = 0; i < f->n && fill_covers(head, e->position); i++) {
        const fill_level *l = &f->levels[i];
        if (e->position < l->len[head->meta.log] && !fill_level_entry(l, e, a)) {
            db_fail(tx->db, RAMET_DAMAGED,
                    "the values of a session make entry %s longer than they may", e->id);
            return;
        }
    }
}

/* ---------------------------------------------------------------------- values */

const char *fill_escape(arena *a, const char *text)
{
    char *quoted = json_quote(a, text);
    size_t n = strlen(quoted);
    quoted[n - 1] = '\0';
    return quoted + 1;
}

const char *fill_text(txn *tx, int64_t tree, int64_t session)
{
    db_stmt *q = db_query(tx->db, Q_fill_get);
    q_int(q, 1, tree);
    q_int(q, 2, session);
    const char *text = q_row(q) ? q_keep_text(q, 0, tx->arena) : NULL;
    q_end(q);
    return text;
}

void fill_set(txn *tx, int64_t tree, int64_t session, const char *text)
{
    db_stmt *q = db_query(tx->db, Q_fill_set);
    q_int(q, 1, tree);
    q_int(q, 2, session);
    q_text(q, 3, text);
    q_run(q);
}

static bool level_parse(arena *a, const json_doc *d, const json_node *node, fill_level *l)
{
    const json_node *values = json_get(d, node, "values");
    l->template_id = json_text(a, d, json_get(d, node, "template"));
    if (!l->template_id || !json_is(values, JSON_OBJECT) || values->count > FILL_NAMES_MAX ||
        !json_int(d, json_get(d, node, "length"), &l->len[RAMET_LOG_MAIN]) ||
        !json_int(d, json_get(d, node, "adk_length"), &l->len[RAMET_LOG_ADK]))
        return false;
    l->values = arena_array(a, values->count + 1, sizeof *l->values);
    for (const json_node *key = json_first(d, values); key;) {
        const json_node *value = json_next(d, values, key);
        fill_value *v = &l->values[l->n++];
        v->name = json_text(a, d, key);
        v->text = json_text(a, d, value);
        if (!v->text)
            return false;
        v->escaped = fill_escape(a, v->text);
        key = json_next(d, values, value);
    }
    return true;
}

/* A stored text begins with digits of its hash: nothing else would tell that it was damaged. */
#define SEAL_DIGITS 16
static void seal_make(sha *h, const char *json, char out[SEAL_DIGITS + 1])
{
    uint8_t hash[HASH_LEN];
    char hex[2 * HASH_LEN + 1];
    sha_begin(h);
    sha_add(h, json, strlen(json));
    sha_end(h, hash);
    hex_encode(hash, HASH_LEN, hex);
    snprintf(out, SEAL_DIGITS + 1, "%s", hex);
}

bool fill_parse(sha *h, arena *a, const char *text, fill *out)
{
    json_doc d;
    char seal[SEAL_DIGITS + 1];
    *out = (fill){0};
    if (!text || strlen(text) <= SEAL_DIGITS)
        return false;
    seal_make(h, text + SEAL_DIGITS, seal);
    if (memcmp(seal, text, SEAL_DIGITS) != 0)
        return false;
    text += SEAL_DIGITS;
    if (!json_parse(a, text, strlen(text), STORED_DEPTH, &d, NULL) ||
        !json_is(&d.nodes[0], JSON_ARRAY) || d.nodes[0].count > FILL_LEVELS_MAX)
        return false;
    for (const json_node *n = json_first(&d, &d.nodes[0]); n; n = json_next(&d, &d.nodes[0], n))
        if (!level_parse(a, &d, n, &out->levels[out->n++]))
            return false;
    return out->n > 0;
}

const char *fill_write(sha *h, arena *a, const fill *f)
{
    buf out;
    json_writer w;
    char seal[SEAL_DIGITS + 1];
    buf_init(&out, (size_t)1 << 30);
    jw_init(&w, &out, 0);
    jw_array(&w);
    for (size_t i = 0; i < f->n; i++) {
        const fill_level *l = &f->levels[i];
        jw_object(&w);
        jw_kstr(&w, "template", l->template_id);
        jw_kint(&w, "length", l->len[RAMET_LOG_MAIN]);
        jw_kint(&w, "adk_length", l->len[RAMET_LOG_ADK]);
        jw_key(&w, "values");
        jw_object(&w);
        for (size_t k = 0; k < l->n; k++)
            jw_kstr(&w, l->values[k].name, l->values[k].text);
        jw_end_object(&w);
        jw_end_object(&w);
    }
    jw_end_array(&w);
    const char *json = buf_keep(&out, a);
    seal_make(h, json, seal);
    return arena_printf(a, "%s%s", seal, json);
}

bool fill_load(txn *tx, const branch_row *head, arena *a, fill *out)
{
    arena *own = tx->arena;
    tx->arena = a;
    const char *text = fill_text(tx, head->meta.tree, head->meta.session);
    tx->arena = own;
    if (fill_parse(tx->call->hasher, a, text, out))
        return true;
    db_fail(tx->db, RAMET_DAMAGED, "the values that branch b%lld is filled with are damaged",
            (long long)head->meta.id);
    return false;
}
