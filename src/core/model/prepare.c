/* SPDX-License-Identifier: Apache-2.0
 *
 * Checking and preparing entries on the caller's thread: the normal form, the digest, the
 * compressed body. The writer then only has to link them into the chain.
 */
#include "core/call.h"
#include "core/check.h"
#include "core/handle.h"
#include "core/model/entry.h"
#include "core/pack.h"
#include "core/txn.h"

#include <stdio.h>

#define FILES_MAX 256 /* attachments that an entry may refer to */

#define NO_BATCH SIZE_MAX /* an entry that is not one of a batch: its fields have no index */

/* A field of the i-th entry, for messages: "entries[3].parts". */
static const char *at(ramet_call *c, size_t i, const char *field)
{
    if (i == NO_BATCH)
        return field;
    return arena_printf(c->arena, "entries[%zu].%s", i, field);
}

/* -------------------------------------------------------------------- parts */

typedef struct part_rule {
    const char *type;
    const char *strings[2]; /* keys that must be strings */
    const char *any;        /* a key that must be present */
} part_rule;

static const part_rule rules[] = {
    {"text", {"text", NULL}, NULL},         {"thinking", {"text", NULL}, NULL},
    {"tool_call", {"id", "name"}, "input"}, {"tool_result", {"id", NULL}, "output"},
    {"file", {NULL, NULL}, NULL},           {"data", {NULL, NULL}, "data"},
};

static ramet_status part_check(ramet_call *c, const char *field, const json_doc *d,
                               const json_node *p)
{
    const char *type = json_text(c->arena, d, json_get(d, p, "type"));
    if (!json_is(p, JSON_OBJECT) || !type)
        return call_fail(c, RAMET_INVALID, field, "%s: a part is an object with a type", field);
    const part_rule *r = NULL;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (strcmp(rules[i].type, type) == 0)
            r = &rules[i];
    if (!r)
        return call_fail(c, RAMET_INVALID, field, "%s: unknown part type \"%.40s\"", field, type);
    for (int i = 0; i < 2; i++)
        if (r->strings[i] && !json_is(json_get(d, p, r->strings[i]), JSON_STRING))
            return call_fail(c, RAMET_INVALID, field, "%s: a part of type %s needs the text \"%s\"",
                             field, type, r->strings[i]);
    if (r->any && !json_get(d, p, r->any))
        return call_fail(c, RAMET_INVALID, field, "%s: a part of type %s needs \"%s\"", field, type,
                         r->any);
    if (strcmp(type, "file") == 0 && !json_is(json_get(d, p, "attachment_id"), JSON_STRING) &&
        !json_is(json_get(d, p, "url"), JSON_STRING))
        return call_fail(c, RAMET_INVALID, field, "%s: a file part needs attachment_id or url",
                         field);
    return RAMET_OK;
}

size_t entry_tools(arena *a, const char *parts, tool_ref **out)
{
    VEC(tool_ref) v = {0};
    json_doc d;
    if (!parts || !json_parse(a, parts, strlen(parts), STORED_DEPTH, &d, NULL))
        return 0;
    const json_node *root = &d.nodes[0];
    for (const json_node *p = json_first(&d, root); p; p = json_next(&d, root, p)) {
        const char *type = json_text(a, &d, json_get(&d, p, "type"));
        if (!type || (strcmp(type, "tool_call") != 0 && strcmp(type, "tool_result") != 0))
            continue;
        tool_ref t = {json_text(a, &d, json_get(&d, p, "id")), type[5] == 'r'};
        if (t.id)
            VEC_PUSH(a, &v, t);
    }
    *out = v.items;
    return v.n;
}

size_t entry_files(arena *a, const char *parts, const char ***out)
{
    VEC(const char *) v = {0};
    json_doc d;
    if (!parts || !json_parse(a, parts, strlen(parts), STORED_DEPTH, &d, NULL))
        return 0;
    const json_node *root = &d.nodes[0];
    for (const json_node *p = json_first(&d, root); p; p = json_next(&d, root, p)) {
        const char *type = json_text(a, &d, json_get(&d, p, "type"));
        const char *id = json_text(a, &d, json_get(&d, p, "attachment_id"));
        if (type && id && strcmp(type, "file") == 0)
            VEC_PUSH(a, &v, id);
    }
    *out = v.items;
    return v.n;
}

static ramet_status files_note(ramet_call *c, const char *field, const char *parts, entry_new *n)
{
    n->n_files = entry_files(c->arena, parts, &n->files);
    n->files_field = field;
    if (n->n_files > FILES_MAX)
        return call_fail(c, RAMET_TOO_LARGE, field,
                         "%s refers to %zu attachments; at most %d are allowed", field, n->n_files,
                         FILES_MAX);
    for (size_t i = 0; i < n->n_files; i++)
        TRY(check_id(c, field, n->files[i]));
    if (!n->n_files)
        n->flags &= ~FLAG_FILE;
    return RAMET_OK;
}

/* Checks the parts; returns the text parts joined by a blank line (NULL when there is none). */
static ramet_status parts_read(ramet_call *c, const char *field, const char *parts, entry_new *n)
{
    json_doc d;
    json_error err;
    if (!json_parse(c->arena, parts, strlen(parts), c->ramet->limits.json_depth, &d, &err))
        return call_fail(c, RAMET_INVALID, field, "%s is not valid JSON: %s at byte %zu", field,
                         err.message, err.offset);
    const json_node *root = &d.nodes[0];
    if (!json_is(root, JSON_ARRAY))
        return call_fail(c, RAMET_INVALID, field, "%s must be an array of parts", field);
    if (root->has_nul)
        return call_fail(c, RAMET_INVALID, field, "%s holds U+0000", field);
    buf joined;
    buf_init(&joined, strlen(parts) * 2 + 16);
    bool any = false;
    ramet_status st = RAMET_OK;
    for (const json_node *p = json_first(&d, root); p && st == RAMET_OK;
         p = json_next(&d, root, p)) {
        st = part_check(c, field, &d, p);
        if (st != RAMET_OK)
            break;
        const char *type = json_text(c->arena, &d, json_get(&d, p, "type"));
        if (strncmp(type, "tool_", 5) == 0)
            n->flags |= FLAG_TOOL;
        if (strcmp(type, "file") == 0)
            n->flags |= FLAG_FILE;
        if (strcmp(type, "text") != 0)
            continue;
        if (any)
            buf_puts(&joined, "\n\n");
        any = true;
        buf_puts(&joined, json_text(c->arena, &d, json_get(&d, p, "text")));
    }
    if (st == RAMET_OK && any)
        n->text = arena_memdup(c->arena, joined.data, joined.n);
    buf_release(&joined);
    return st;
}

static ramet_status content(ramet_call *c, size_t i, const ramet_entry_in *in, entry_new *n)
{
    if (in->text && in->parts)
        return call_fail(c, RAMET_INVALID, at(c, i, "text"), "give text or parts, not both");
    if (in->parts) {
        TRY(parts_read(c, at(c, i, "parts"), in->parts, n));
        if (n->flags & FLAG_FILE)
            TRY(files_note(c, at(c, i, "parts"), in->parts, n));
        n->entry.parts = in->parts;
        /* Reading would produce exactly these parts from the text, or from nothing: do not store
         * them. */
        const char *plain = parts_of_text(c->arena, n->text);
        n->parts = strcmp(plain, in->parts) == 0 ? NULL : in->parts;
    } else if (in->text) {
        if (!utf8_valid(in->text, strlen(in->text)))
            return check_utf8(c, at(c, i, "text"), in->text);
        n->text = in->text;
        n->entry.parts = parts_of_text(c->arena, in->text);
    } else {
        n->entry.parts = "[]";
    }
    n->entry.text = n->text ? n->text : "";
    return RAMET_OK;
}

static ramet_status json_field(ramet_call *c, size_t i, const char *name, const char *json,
                               bool object)
{
    if (!json)
        return RAMET_OK;
    const char *field = at(c, i, name);
    json_doc d;
    json_error err;
    if (!json_parse(c->arena, json, strlen(json), c->ramet->limits.json_depth, &d, &err))
        return call_fail(c, RAMET_INVALID, field, "%s is not valid JSON: %s at byte %zu", field,
                         err.message, err.offset);
    if (object && !json_is(&d.nodes[0], JSON_OBJECT))
        return call_fail(c, RAMET_INVALID, field, "%s must be a JSON object", field);
    /* Keys are compared as C strings: one that contains U+0000 would be confused with another. */
    if (object && d.nodes[0].has_nul)
        return call_fail(c, RAMET_INVALID, field, "%s holds U+0000", field);
    return RAMET_OK;
}

static ramet_status usage_check(ramet_call *c, size_t i, const ramet_usage *in, entry_new *n)
{
    if (!in)
        return RAMET_OK;
    const char *field = at(c, i, "usage");
    if (in->input < 0 || in->output < 0 || in->cached < 0 || in->cost < 0)
        return call_fail(c, RAMET_INVALID, field, "%s: numbers must not be negative", field);
    /* A branch's running sums must fit: 2^24 entries of at most this much each. */
    const int64_t max = (int64_t)1 << 38;
    if (in->input > max || in->output > max || in->cached > max || in->cost > max)
        return call_fail(c, RAMET_INVALID, field, "%s: a number is larger than %lld", field,
                         (long long)max);
    const char *currency = in->currency && *in->currency ? in->currency : in->cost ? "USD" : "";
    if (strlen(currency) > 16)
        return call_fail(c, RAMET_INVALID, field, "%s: the currency has more than 16 bytes", field);
    TRY(check_utf8(c, field, currency));
    ramet_usage *u = arena_alloc(c->arena, sizeof *u);
    *u = *in;
    u->currency = in->cost ? currency : "";
    n->entry.usage = u;
    n->flags |= FLAG_USAGE;
    return RAMET_OK;
}

static size_t len(const char *s)
{
    return s ? strlen(s) : 0;
}

static ramet_status fields(ramet_call *c, size_t i, const ramet_entry_in *in)
{
    if (in->id)
        TRY(check_id(c, at(c, i, "id"), in->id));
    if (in->role < RAMET_USER || in->role > RAMET_SYSTEM)
        return call_fail(c, RAMET_INVALID, at(c, i, "role"),
                         "the role must be user, assistant, tool or system");
    if (in->key)
        TRY(check_id(c, at(c, i, "key"), in->key));
    if (in->key && strlen(in->key) > 64)
        return call_fail(c, RAMET_INVALID, at(c, i, "key"), "a key has at most 64 bytes");
    if (in->indexed)
        TRY(check_chars(c, at(c, i, "indexed"), in->indexed, INDEXED_CHARS, RAMET_TOO_LARGE));
    if (in->turn_id)
        TRY(check_id(c, at(c, i, "turn_id"), in->turn_id));
    if (in->invocation)
        TRY(check_id(c, at(c, i, "invocation"), in->invocation));
    if (in->author)
        TRY(check_id(c, at(c, i, "author"), in->author));
    if (in->channel)
        TRY(check_id(c, at(c, i, "channel"), in->channel));
    if (in->format)
        TRY(check_id(c, at(c, i, "format"), in->format));
    if (len(in->channel) > 64 || len(in->format) > 32)
        return call_fail(c, RAMET_INVALID, at(c, i, len(in->channel) > 64 ? "channel" : "format"),
                         "a channel has at most 64 bytes, a format 32");
    if (in->body && (!in->format || strcmp(in->format, "ramet") == 0))
        return call_fail(c, RAMET_INVALID, at(c, i, "body"),
                         "with format ramet the parts are the body; name the body's format");
    size_t size = len(in->id) + len(in->text) + len(in->parts) + len(in->body) + len(in->turn_id) +
                  len(in->channel) + len(in->author) + len(in->state_delta);
    if (size > c->ramet->limits.entry_bytes)
        return call_fail(c, RAMET_ENTRY_TOO_LARGE, at(c, i, "text"),
                         "entry %zu has %zu bytes; at most %zu are allowed", i == NO_BATCH ? 0 : i,
                         size, c->ramet->limits.entry_bytes);
    return RAMET_OK;
}

/* Large content goes to a table of its own. */
static void pack(ramet_call *c, entry_new *n)
{
    size_t most = n->text && n->body ? INLINE_TWICE_MAX : INLINE_MAX;
    if (len(n->text) + len(n->parts) + len(n->body) <= most)
        return;
    pack_texts t = {{n->text, n->parts, n->body}};
    n->packed = pack_make(c->arena, &t, &n->packed_len);
    n->flags |= FLAG_LARGE;
}

static ramet_status prepare(ramet_call *c, size_t i, const ramet_entry_in *in, const char *author,
                            int64_t now, entry_new *n)
{
    n->in = in;
    n->same_as = -1;
    TRY(fields(c, i, in));
    TRY(content(c, i, in, n));
    TRY(json_field(c, i, "body", in->body, false));
    TRY(json_field(c, i, "state_delta", in->state_delta, true));
    TRY(usage_check(c, i, in->usage, n));
    if (in->state_delta)
        n->flags |= FLAG_DELTA;
    char uuid[UUID_TEXT];
    n->body = in->body;
    n->entry.id = in->id ? in->id : arena_strdup(c->arena, uuid7(now, uuid));
    n->entry.role = in->role;
    n->entry.format = in->format ? in->format : "ramet";
    n->entry.body = in->body;
    n->entry.turn_id = in->turn_id;
    n->entry.channel = in->channel ? in->channel : "history";
    n->entry.author = in->author ? in->author : in->role == RAMET_USER ? author : NULL;
    n->entry.client = c->client;
    n->entry.state_delta = in->state_delta;
    n->entry.created = in->created ? in->created : now;
    pack(c, n);
    entry_cols cols = {.text = n->text, .parts = n->parts, .body = n->body};
    entry_digest(c->hasher, &n->entry, &cols, n->digest);
    return RAMET_OK;
}

static bool differ(const char *a, const char *b)
{
    return (a == NULL) != (b == NULL) || (a && strcmp(a, b) != 0);
}

/* What stands in the way of restoring it as it is. */
static ramet_status restore_check(ramet_call *c, const ramet_entry *e, const ramet_entry_in *in)
{
    TRY(fields(c, NO_BATCH, in));
    if (e->client)
        TRY(check_id(c, "client", e->client));
    TRY(json_field(c, NO_BATCH, "body", in->body, false));
    return json_field(c, NO_BATCH, "state_delta", in->state_delta, true);
}

/* The text is not checked: a reader of JSON gives valid UTF-8 alone. */
static ramet_status restore_content(ramet_call *c, const ramet_entry *e, const entry_cols *cols,
                                    const ramet_entry_in *in, entry_new *n)
{
    n->text = cols->text;
    if (cols->parts)
        TRY(content(c, NO_BATCH, in, n));
    if (differ(n->text, cols->text) || differ(n->parts, cols->parts))
        return call_fail(c, RAMET_INVALID, "parts", "text and parts of entry %s do not fit", e->id);
    TRY(usage_check(c, NO_BATCH, in->usage, n));
    if (e->usage && differ(n->entry.usage->currency, e->usage->currency))
        return call_fail(c, RAMET_INVALID, "usage", "the currency of entry %s does not fit", e->id);
    return RAMET_OK;
}

ramet_status entry_restore(ramet_call *c, const ramet_entry *e, const entry_cols *cols,
                           bool writing, entry_new *n)
{
    bool plain = strcmp(e->format, "ramet") == 0;
    ramet_entry_in in = {.id = e->id,
                         .role = e->role,
                         .text = cols->parts ? NULL : cols->text,
                         .parts = cols->parts,
                         .format = plain ? NULL : e->format,
                         .body = cols->body,
                         .turn_id = e->turn_id,
                         .channel = e->channel,
                         .author = e->author,
                         .usage = e->usage,
                         .state_delta = e->state_delta};
    *n = (entry_new){.same_as = -1};
    if (!writing)
        TRY(restore_check(c, e, &in));
    TRY(restore_content(c, e, cols, &in, n));
    if (in.state_delta)
        n->flags |= FLAG_DELTA;
    n->body = cols->body;
    n->entry = *e;
    n->entry.text = cols->text ? cols->text : "";
    n->entry.parts = cols->parts;
    n->entry.body = cols->body;
    if (writing)
        pack(c, n);
    else
        entry_digest(c->hasher, &n->entry, cols, n->digest);
    return RAMET_OK;
}

/* Copies what the answer shows into the call, because the arguments may be freed when the call
 * returns. The rest is there already. */
static void keep(ramet_call *c, const ramet_entry_in *in, ramet_entry *e)
{
    struct {
        const char *given, **shown;
    } text[] = {
        {in->id, &e->id},           {in->text, &e->text},     {in->parts, &e->parts},
        {in->format, &e->format},   {in->body, &e->body},     {in->turn_id, &e->turn_id},
        {in->channel, &e->channel}, {in->author, &e->author}, {in->state_delta, &e->state_delta},
    };
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++)
        if (text[i].given)
            *text[i].shown = arena_strdup(c->arena, *text[i].shown);
    if (e->usage && e->usage->currency)
        ((ramet_usage *)e->usage)->currency = arena_strdup(c->arena, e->usage->currency);
}

/* Finds ids that occur twice in one batch: the second entry must equal the first, else it is a
 * conflict. */
static ramet_status doubles(ramet_call *c, entry_new *list, size_t n)
{
    size_t slots = 16;
    while (slots < n * 2)
        slots *= 2;
    uint32_t *table = arena_array(c->arena, slots, sizeof *table);
    for (size_t i = 0; i < n; i++) {
        size_t s = hash_text(list[i].entry.id) & (slots - 1);
        while (table[s] && strcmp(list[table[s] - 1].entry.id, list[i].entry.id) != 0)
            s = (s + 1) & (slots - 1);
        if (!table[s]) {
            table[s] = (uint32_t)i + 1;
            continue;
        }
        size_t first = table[s] - 1;
        if (!entry_same(c, &list[i], &list[first].entry))
            return call_fail(c, RAMET_ENTRY_EXISTS, at(c, i, "id"),
                             "entry id %s is in the batch twice with different content",
                             list[i].entry.id);
        list[i].same_as = (int64_t)first;
    }
    return RAMET_OK;
}

/* `author`: of messages of the user that name none. */
static ramet_status prepare_all(ramet_call *c, const ramet_entry_in *in, size_t n, size_t max,
                                const char *author, int64_t now, entry_new **out)
{
    if (n > max)
        return call_fail(c, RAMET_BATCH_TOO_LARGE, "entries",
                         "%zu entries; at most %zu are allowed", n, max);
    if (c->client)
        TRY(check_id(c, "client", c->client));
    entry_new *list = arena_array(c->arena, n + 1, sizeof *list);
    for (size_t i = 0; i < n; i++) {
        TRY(prepare(c, max == 1 ? NO_BATCH : i, &in[i], author, now, &list[i]));
        keep(c, &in[i], &list[i].entry);
    }
    if (n > 1)
        TRY(doubles(c, list, n));
    *out = list;
    return RAMET_OK;
}

ramet_status entries_prepare(ramet_call *c, const ramet_entry_in *in, size_t n, size_t most,
                             int64_t now, entry_new **out)
{
    return prepare_all(c, in, n, most, c->user, now, out);
}

ramet_status entries_prepare_copies(ramet_call *c, const ramet_entry_in *in, size_t n, int64_t now,
                                    entry_new **out)
{
    return prepare_all(c, in, n, SIZE_MAX, NULL, now, out);
}
