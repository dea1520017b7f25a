/* SPDX-License-Identifier: Apache-2.0
 *
 * Records of an export: the columns of each, and how a row is written and read (record.h).
 */
#include "core/export/record.h"

#include "core/model/branch_note.h"
#include "core/model/key.h"
#include "core/view/overlay_set.h"

#include <stdio.h>

#define TYPES "explicit|auto-edit|auto-regenerate"
#define LOGS "main|adk"

/* A table reads by its rows. */
/* clang-format off */
static const record_column tree_columns[] = {
    {"tree", NULL, COLUMN_TREE, NULL, 0},
    {"id", "id", COLUMN_TEXT, NULL, 0},
    {"root", NULL, COLUMN_MADE, NULL, 0},
    {"created", "created", COLUMN_INT, NULL, 0},
    {"stamp", NULL, COLUMN_MADE, NULL, 0},
    {"sandbox", "sandbox", COLUMN_SHORT, NULL, 0},
};
static const record_column member_columns[] = {
    {"tree", NULL, COLUMN_TREE, NULL, 0},
    {"user_id", "user", COLUMN_TEXT, NULL, 0},
    {"level", "level", COLUMN_WORD, "reader|writer|manager|owner", RAMET_READER},
    {"created", "created", COLUMN_INT, NULL, 0},
};
static const record_column session_columns[] = {
    {"no", "n", COLUMN_NUMBER, NULL, 0},
    {"tree", NULL, COLUMN_TREE, NULL, 0},
    {"id", "id", COLUMN_TEXT, NULL, 0},
    {"parent", "parent", COLUMN_PLACE, NULL, 0},
    {"depth", NULL, COLUMN_MADE, NULL, 0},
    {"owner", "owner", COLUMN_TEXT, NULL, 0},
    {"visibility", "visibility", COLUMN_WORD, "tree|private", RAMET_TREE_VISIBLE},
    {"title", "title", COLUMN_SHORT, NULL, 0},
    {"title_key", NULL, COLUMN_MADE, NULL, 0},
    {"agent", "agent", COLUMN_MAYBE, NULL, 0},
    {"agent_config", "agent_config", COLUMN_JSON, NULL, 0},
    {"metadata", "metadata", COLUMN_JSON, NULL, 0},
    {"type", "fork_type", COLUMN_WORD, TYPES, RAMET_EXPLICIT},
    {"reason", "reason", COLUMN_SHORT, NULL, 0},
    {"by_kind", "by", COLUMN_WORD, "user|system", RAMET_BY_USER},
    {"by_id", "by_id", COLUMN_USER, NULL, 0},
    {"fork_entry", "fork_entry", COLUMN_MAYBE, NULL, 0},
    {"fork_side", "fork_side", COLUMN_WORD, "after|before", RAMET_AFTER},
    {"merged_into", "merged_into", COLUMN_SESSION, NULL, 0},
    {"first", "first", COLUMN_BRANCH, NULL, 0},
    {"first_adk", "first_adk", COLUMN_BRANCH, NULL, 0},
    {"head", "head", COLUMN_BRANCH, NULL, 0},
    {"adk", "adk", COLUMN_BRANCH, NULL, 0},
    {"undo", "undo", COLUMN_COUNT, NULL, 0},
    {"redo", "redo", COLUMN_COUNT, NULL, 0},
    {"moves", "moves", COLUMN_COUNT, NULL, 0},
    {"archived", "archived", COLUMN_COUNT, NULL, 0},
    {"expires", "expires", COLUMN_COUNT, NULL, 0},
    {"created", "created", COLUMN_INT, NULL, 0},
    {"updated", "updated", COLUMN_INT, NULL, 0},
    {"deleted", NULL, COLUMN_MADE, NULL, 0},
    {"delete_op", NULL, COLUMN_MADE, NULL, 0},
    {"purging", NULL, COLUMN_MADE, NULL, 0},
    {"seal", NULL, COLUMN_MADE, NULL, 0},
    {"from_title", "from_title", COLUMN_SHORT, NULL, 0},
    {"fill", "values", COLUMN_MAYBE, NULL, 0},
};
static const record_column held_columns[] = {
    {"tree", NULL, COLUMN_TREE, NULL, 0},
    {"session", "session", COLUMN_SESSION, NULL, 0},
    {"kind", "kind", COLUMN_WORD, "owner|administrator", 0},
    {"who", "who", COLUMN_USER, NULL, 0},
    {"at", "at", COLUMN_INT, NULL, 0},
    {"why", "why", COLUMN_SHORT, NULL, 0},
};
static const record_column branch_columns[] = {
    {"id", "n", COLUMN_NUMBER, NULL, 0},
    {"tree", NULL, COLUMN_TREE, NULL, 0},
    {"session", "session", COLUMN_PLACE, NULL, 0},
    {"log", "log", COLUMN_WORD, LOGS, RAMET_LOG_MAIN},
    {"parent", "parent", COLUMN_BRANCH, NULL, 0},
    {"base", "base", COLUMN_COUNT, NULL, 0},
    {"depth", NULL, COLUMN_MADE, NULL, 0},
    {"jump", NULL, COLUMN_MADE, NULL, 0},
    {"jump_base", NULL, COLUMN_MADE, NULL, 0},
    {"over", "over", COLUMN_BRANCH, NULL, 0},
    {"delta", NULL, COLUMN_MADE, NULL, 0},
    {"type", "fork_type", COLUMN_WORD, TYPES, RAMET_EXPLICIT},
    {"created", "created", COLUMN_INT, NULL, 0},
    {"len", "length", COLUMN_INT, NULL, 0},
    {"tip", "prefix_hash", COLUMN_HASH, NULL, 0},
    {"live", NULL, COLUMN_MADE, NULL, 0},
    {"touched", "touched", COLUMN_INT, NULL, 0},
    {"run", NULL, COLUMN_MADE, NULL, 0},
    {"overlay", "overlay", COLUMN_OVERLAY, NULL, 0},
    {"filled", "filled", COLUMN_COUNT, NULL, 0},
    {"seal", NULL, COLUMN_MADE, NULL, 0},
};
static const record_column run_columns[] = {
    {"tree", NULL, COLUMN_TREE, NULL, 0},
    {"session", "session", COLUMN_SESSION, NULL, 0},
    {"log", "log", COLUMN_WORD, LOGS, RAMET_LOG_MAIN},
    {"rec", "record", COLUMN_INT, NULL, 0},
    {"k", NULL, COLUMN_KEY, NULL, 0},
};
static const record_column move_columns[] = {
    {"tree", NULL, COLUMN_TREE, NULL, 0},
    {"session", "session", COLUMN_SESSION, NULL, 0},
    {"seq", "seq", COLUMN_INT, NULL, 0},
    {"kind", "kind", COLUMN_WORD, "rewind|undo|redo|switch|edit|regenerate|sync|merge|overlay", RAMET_MOVE_REWIND},
    {"f", "from", COLUMN_BRANCH, NULL, 0},
    {"t", "to", COLUMN_BRANCH, NULL, 0},
    {"fa", "from_adk", COLUMN_BRANCH, NULL, 0},
    {"ta", "to_adk", COLUMN_BRANCH, NULL, 0},
    {"undo_under", "undo_under", COLUMN_COUNT, NULL, 0},
    {"redo_under", "redo_under", COLUMN_COUNT, NULL, 0},
    {"at", "at", COLUMN_INT, NULL, 0},
    {"who", "who", COLUMN_USER, NULL, 0},
    {"why", "why", COLUMN_SHORT, NULL, 0},
};
static const record_column overlay_columns[] = {
    {"tree", NULL, COLUMN_TREE, NULL, 0},
    {"no", "n", COLUMN_NUMBER, NULL, 0},
    {"prev", "prev", COLUMN_OVERLAY, NULL, 0},
    {"prev2", "prev2", COLUMN_OVERLAY, NULL, 0},
    {"size", NULL, COLUMN_MADE, NULL, 0},
    {"bytes", NULL, COLUMN_MADE, NULL, 0},
    {"action", "action", COLUMN_WORD, "join|hide|replace|hide_before|remove", OVERLAY_UNION},
    {"k", NULL, COLUMN_ENTRY, NULL, 0},
    {"removes", "removes", COLUMN_OVERLAY, NULL, 0},
    {"text", "text", COLUMN_MAYBE, NULL, 0},
    {"ties", NULL, COLUMN_MADE, NULL, 0}, /* written and read by hand: it names entries */
    {"who", "who", COLUMN_USER, NULL, 0},
    {"at", "at", COLUMN_INT, NULL, 0},
    {"seal", NULL, COLUMN_MADE, NULL, 0},
};
static const record_column prompt_columns[] = {
    {"tree", NULL, COLUMN_TREE, NULL, 0},
    {"turn", "turn", COLUMN_TEXT, NULL, 0},
    {"session", "session", COLUMN_SESSION, NULL, 0},
    {"branch", "branch", COLUMN_BRANCH, NULL, 0},
    {"len", "length", COLUMN_INT, NULL, 0},
    {"agent", "agent", COLUMN_TEXT, NULL, 0},
    {"digest", NULL, COLUMN_MADE, NULL, 0},
    {"packed", NULL, COLUMN_MADE, NULL, 0}, /* "data", unpacked */
};
static const record_column turn_columns[] = {
    {"id", "id", COLUMN_TEXT, NULL, 0},
    {"tree", NULL, COLUMN_TREE, NULL, 0},
    {"session", "session", COLUMN_SESSION, NULL, 0},
    {"branch", "branch", COLUMN_BRANCH, NULL, 0},
    {"agent", "agent", COLUMN_MAYBE, NULL, 0},
    {"entry", "entry", COLUMN_MAYBE, NULL, 0},
    {"grp", "group", COLUMN_MAYBE, NULL, 0},
    {"who", "who", COLUMN_USER, NULL, 0},
    {"status", "status", COLUMN_WORD, "done|cancelled|failed|interrupted", RAMET_TURN_DONE},
    {"error", "error", COLUMN_SHORT, NULL, 0},
    {"host", NULL, COLUMN_MADE, NULL, 0},
    {"started", "started", COLUMN_INT, NULL, 0},
    {"ended", "ended", COLUMN_INT, NULL, 0},
};
static const record_column task_columns[] = {
    {"id", "id", COLUMN_TEXT, NULL, 0},
    {"tree", NULL, COLUMN_TREE, NULL, 0},
    {"session", "session", COLUMN_SESSION, NULL, 0},
    {"data", "data", COLUMN_JSON, NULL, 0},
    {"created", "created", COLUMN_INT, NULL, 0},
    {"updated", "updated", COLUMN_INT, NULL, 0},
    {"deleted", NULL, COLUMN_MADE, NULL, 0},
    {"at", "at", COLUMN_COUNT, NULL, 0},
};
static const record_column place_columns[] = {
    {"tree", NULL, COLUMN_TREE, NULL, 0},
    {"name", "name", COLUMN_TEXT, NULL, 0},
    {"log", "log", COLUMN_WORD, LOGS, RAMET_LOG_MAIN},
    {"k", NULL, COLUMN_KEY, NULL, 0},
};
static const record_column indexed_columns[] = {
    {"tree", NULL, COLUMN_TREE, NULL, 0},
    {"k", NULL, COLUMN_KEY, NULL, 0},
    {"text", "text", COLUMN_TEXT, NULL, 0},
    {"at", "at", COLUMN_INT, NULL, 0},
};
static const record_column feedback_columns[] = {
    {"tree", NULL, COLUMN_TREE, NULL, 0},
    {"k", NULL, COLUMN_KEY, NULL, 0},
    {"user_id", "user", COLUMN_TEXT, NULL, 0},
    {"value", "value", COLUMN_SIGNED, NULL, 0},
    {"comment", "comment", COLUMN_SHORT, NULL, 0},
    {"at", "at", COLUMN_INT, NULL, 0},
};
static const record_column verdict_columns[] = {
    {"no", NULL, COLUMN_MADE, NULL, 0},
    {"tree", NULL, COLUMN_TREE, NULL, 0},
    {"sides", NULL, COLUMN_MADE, NULL, 0}, /* written and read by hand: it names branches */
    {"winner", "winner", COLUMN_SIGNED, NULL, 0},
    {"reason", "reason", COLUMN_SHORT, NULL, 0},
    {"who", "who", COLUMN_USER, NULL, 0},
    {"at", "at", COLUMN_INT, NULL, 0},
};

static const record_column branch_note_columns[] = {
    {"tree", NULL, COLUMN_TREE, NULL, 0},
    {"session", "session", COLUMN_SESSION, NULL, 0},
    {"branch", "branch", COLUMN_BRANCH, NULL, 0},
    {"name", "name", COLUMN_SHORT, NULL, 0},
    {"favourite", "favourite", COLUMN_COUNT, NULL, 0},
    {"state", "state", COLUMN_WORD, "kept|pruned|removing|removed", NOTE_KEPT},
    {"pruned", "pruned", COLUMN_COUNT, NULL, 0},
    {"prune_op", "prune", COLUMN_COUNT, NULL, 0}, /* numbered from 1 in the file */
    {"keep", "keep", COLUMN_COUNT, NULL, 0},
};
static const record_column template_columns[] = {
    {"id", "id", COLUMN_TEXT, NULL, 0},
    {"tree", NULL, COLUMN_TREE, NULL, 0},
    {"session", "session", COLUMN_SESSION, NULL, 0},
    {"branch", "branch", COLUMN_BRANCH, NULL, 0},
    {"len", "length", COLUMN_INT, NULL, 0},
    {"adk_branch", "adk_branch", COLUMN_BRANCH, NULL, 0},
    {"adk_len", "adk_length", COLUMN_COUNT, NULL, 0},
    {"name", "name", COLUMN_TEXT, NULL, 0},
    {"placeholders", "placeholders", COLUMN_JSON, NULL, 0},
    {"most", "most", COLUMN_COUNT, NULL, 0},
    {"who", "who", COLUMN_USER, NULL, 0},
    {"created", "created", COLUMN_INT, NULL, 0},
    {"updated", "updated", COLUMN_INT, NULL, 0},
};

#define ROWS(t) COPY_T_##t, t##_columns, sizeof t##_columns / sizeof t##_columns[0]
const record_def record_defs[RECORD_KINDS] = {
    [RECORD_HEADER] = {"header", -1, NULL, 0},
    [RECORD_TREE] = {"tree", ROWS(tree)},
    [RECORD_MEMBER] = {"member", ROWS(member)},
    [RECORD_SESSION] = {"session", ROWS(session)},
    [RECORD_GONE] = {"gone", -1, NULL, 0},
    [RECORD_HOLD] = {"hold", ROWS(held)},
    [RECORD_BRANCH] = {"branch", ROWS(branch)},
    [RECORD_ENTRY] = {"entry", -1, NULL, 0},
    [RECORD_ERASED] = {"erased", -1, NULL, 0},
    [RECORD_RUN] = {"run", ROWS(run)},
    [RECORD_MOVE] = {"move", ROWS(move)},
    [RECORD_OVERLAY] = {"overlay", ROWS(overlay)},
    [RECORD_TURN] = {"turn", ROWS(turn)},
    [RECORD_PROMPT] = {"prompt", ROWS(prompt)},
    [RECORD_TASK] = {"task", ROWS(task)},
    [RECORD_PLACE] = {"place", ROWS(place)},
    [RECORD_SEARCH_TEXT] = {"search_text", ROWS(indexed)},
    [RECORD_FEEDBACK] = {"feedback", ROWS(feedback)},
    [RECORD_VERDICT] = {"verdict", ROWS(verdict)},
    [RECORD_BRANCH_NOTE] = {"branch_note", ROWS(branch_note)},
    [RECORD_TEMPLATE] = {"template", ROWS(template)},
    [RECORD_ATTACHMENT] = {"attachment", -1, NULL, 0},
    [RECORD_CONTENT_PART] = {"content", -1, NULL, 0},
    [RECORD_END] = {"end", -1, NULL, 0},
};
/* clang-format on */

record_kind record_kind_of(const char *type)
{
    for (size_t i = 0; i < RECORD_KINDS; i++)
        if (strcmp(record_defs[i].type, type) == 0)
            return (record_kind)i;
    return RECORD_UNKNOWN;
}

size_t record_column_at(const copy_table *t, const char *column)
{
    size_t i = 0;
    while (i < t->n && strcmp(t->columns[i], column) != 0)
        i++;
    assert(i < t->n);
    return i;
}

/* ------------------------------------------------------------------- writing */

void record_open(json_writer *w, record_kind kind)
{
    jw_object(w);
    jw_kstr(w, "type", record_defs[kind].type);
}

/* Whether a value can stand in a line as it is, and be found there with the same bytes. */
static bool json_fits(const char *json, size_t n)
{
    static const char space[] = " \t\r\n";
    return n && !strchr(space, json[0]) && !strchr(space, json[n - 1]) && !memchr(json, '\n', n) &&
           !memchr(json, '\r', n);
}

void record_json(json_writer *w, const char *name, const char *json)
{
    char longer[64];
    if (!json)
        return;
    if (json_fits(json, strlen(json))) {
        jw_kraw(w, name, json);
        return;
    }
    snprintf(longer, sizeof longer, "%s_text", name);
    jw_kstr(w, longer, json);
}

static void word_write(json_writer *w, const record_column *c, int64_t v)
{
    const char *p = c->words;
    for (int64_t i = c->first; i < v && p; i++) {
        p = strchr(p, '|');
        p = p ? p + 1 : NULL;
    }
    jw_key(w, c->name);
    if (p && v >= c->first)
        jw_strn(w, p, strcspn(p, "|"));
    else
        jw_int(w, v); /* of a damaged store: the reader refuses it */
}

static void column_write(json_writer *w, const record_column *c, const copy_cell *v)
{
    char hex[2 * HASH_LEN + 1];
    switch (c->kind) {
    case COLUMN_MADE:
    case COLUMN_TREE:
        break;
    case COLUMN_COUNT:
    case COLUMN_SESSION:
    case COLUMN_PLACE:
    case COLUMN_BRANCH:
    case COLUMN_OVERLAY:
        if (v->number)
            jw_kint(w, c->name, v->number);
        break;
    case COLUMN_NUMBER:
    case COLUMN_INT:
    case COLUMN_SIGNED:
        jw_kint(w, c->name, v->number);
        break;
    case COLUMN_SHORT:
        if (v->null || !v->n)
            break;
        /* fall through */
    case COLUMN_TEXT:
    case COLUMN_MAYBE:
    case COLUMN_USER:
        if (!v->null)
            jw_kstr(w, c->name, v->bytes);
        break;
    case COLUMN_JSON:
        record_json(w, c->name, v->null ? NULL : v->bytes);
        break;
    case COLUMN_WORD:
        word_write(w, c, v->number);
        break;
    case COLUMN_ENTRY:
        if (!v->number)
            break;
        /* fall through */
    case COLUMN_KEY:
        jw_kint(w, "branch", KEY_BRANCH(v->number));
        jw_kint(w, "position", KEY_POS(v->number));
        break;
    case COLUMN_HASH:
        hex[0] = 0;
        if (v->n == HASH_LEN)
            hex_encode((const uint8_t *)v->bytes, HASH_LEN, hex);
        jw_kstr(w, c->name, hex);
        break;
    }
}

void record_columns(json_writer *w, record_kind kind, const copy_cell *row)
{
    const record_def *d = &record_defs[kind];
    const copy_table *t = &copy_tables[d->table];
    for (size_t i = 0; i < d->n; i++)
        column_write(w, &d->columns[i], &row[record_column_at(t, d->columns[i].column)]);
}

/* ------------------------------------------------------------------- reading */

void record_fault(record *r, const char *fmt, ...)
{
    if (r->fault[0])
        return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(r->fault, sizeof r->fault, fmt, ap);
    va_end(ap);
    utf8_trim(r->fault);
}

/* Most members are optional and left out, and looking for one that is not there compares all names.
 * The bit of its length and first letter, not set in `names`, tells so at once. */
static uint64_t name_bit(const char *name, size_t n)
{
    return UINT64_C(1) << ((n * 7 + (n ? (uint8_t)name[0] : 0)) & 63);
}

static uint64_t names_of(const json_doc *d)
{
    uint64_t names = 0;
    const json_node *k = json_first(d, d->nodes);
    for (; json_is(d->nodes, JSON_OBJECT) && k; k = json_next(d, d->nodes, k + 1)) {
        if (k->escaped)
            return UINT64_MAX;
        names |= name_bit(d->text + k->start + 1, k->end - k->start - 2);
    }
    return names;
}

bool record_parse(record *r, arena *a, const char *line, size_t n, size_t depth)
{
    json_error err;
    *r = (record){.kind = RECORD_UNKNOWN, .arena = a, .taken = 1};
    if (!json_parse(a, line, n, depth, &r->doc, &err)) {
        record_fault(r, "it is not valid JSON: %s at byte %zu", err.message, err.offset);
        return false;
    }
    r->next = json_first(&r->doc, r->doc.nodes);
    r->names = names_of(&r->doc);
    const char *type = json_text(a, &r->doc, json_member(&r->doc, r->doc.nodes, &r->next, "type"));
    if (!type) {
        record_fault(r, "a record is an object with a type");
        return false;
    }
    r->kind = record_kind_of(type);
    if (r->kind == RECORD_UNKNOWN)
        record_fault(r, "unknown record type \"%.40s\"", type);
    return !r->fault[0];
}

static const json_node *member(record *r, const char *name)
{
    if (!(r->names & name_bit(name, strlen(name))))
        return NULL;
    const json_node *v = json_member(&r->doc, r->doc.nodes, &r->next, name);
    r->taken += v != NULL;
    return v;
}

static int64_t int_of(record *r, const char *name, const json_node *v, int64_t least, int64_t most)
{
    int64_t n = 0;
    if (!json_int(&r->doc, v, &n) || n < least || n > most) {
        record_fault(r, "\"%s\" must be a whole number from %lld to %lld", name, (long long)least,
                     (long long)most);
        return least;
    }
    return n;
}

int64_t record_int(record *r, const char *name, int64_t least, int64_t most)
{
    return int_of(r, name, member(r, name), least, most);
}

int64_t record_count(record *r, const char *name, int64_t most)
{
    const json_node *v = member(r, name);
    return v ? int_of(r, name, v, 0, most) : 0;
}

const char *record_maybe(record *r, const char *name)
{
    const json_node *v = member(r, name);
    if (!v)
        return NULL;
    const char *s = json_text(r->arena, &r->doc, v);
    if (!s || v->has_nul) {
        record_fault(r, "\"%s\" must be a text without U+0000", name);
        return "";
    }
    return s;
}

const char *record_text(record *r, const char *name)
{
    const char *s = record_maybe(r, name);
    if (!s)
        record_fault(r, "\"%s\" is missing", name);
    return s ? s : "";
}

const char *record_json_get(record *r, const char *name)
{
    char longer[64];
    json_doc d;
    const json_node *v = member(r, name);
    if (v)
        return json_raw(r->arena, &r->doc, v);
    size_t n = strlen(name);
    assert(n + sizeof "_text" <= sizeof longer);
    memcpy(longer, name, n);
    memcpy(longer + n, "_text", sizeof "_text");
    const char *s = record_maybe(r, longer);
    if (s && !json_parse(r->arena, s, strlen(s), STORED_DEPTH, &d, NULL))
        record_fault(r, "\"%s\" is not valid JSON", longer);
    return s;
}

void record_hash(record *r, const char *name, uint8_t out[HASH_LEN])
{
    const char *s = record_text(r, name);
    memset(out, 0, HASH_LEN);
    if (strlen(s) != 2 * HASH_LEN || !hex_decode(s, out, HASH_LEN))
        record_fault(r, "\"%s\" must be 64 lower-case hex digits", name);
}

int64_t record_word(record *r, const char *name, const char *words, int64_t first)
{
    const char *s = record_text(r, name), *p = words;
    size_t n = strlen(s);
    for (int64_t v = first; p; v++) {
        if (strcspn(p, "|") == n && strncmp(p, s, n) == 0)
            return v;
        p = strchr(p, '|');
        p = p ? p + 1 : NULL;
    }
    record_fault(r, "\"%s\" must be one of %s", name, words);
    return first;
}

static copy_cell text_cell(const char *s)
{
    return (copy_cell){.null = !s, .bytes = s ? s : "", .n = s ? strlen(s) : 0};
}

static void column_read(record *r, const record_column *c, char type, copy_cell *v)
{
    uint8_t *hash;
    switch (c->kind) {
    case COLUMN_MADE:
    case COLUMN_TREE:
        *v = (copy_cell){.null = type != 'i', .bytes = ""};
        break;
    case COLUMN_NUMBER:
        v->number = record_int(r, c->name, 1, BRANCH_MAX);
        break;
    case COLUMN_INT:
        v->number = record_int(r, c->name, 0, INT64_MAX / 4);
        break;
    case COLUMN_SIGNED:
        v->number = record_int(r, c->name, INT32_MIN, INT32_MAX);
        break;
    case COLUMN_COUNT:
        v->number = record_count(r, c->name, INT64_MAX / 4);
        break;
    case COLUMN_SESSION:
    case COLUMN_PLACE:
    case COLUMN_BRANCH:
    case COLUMN_OVERLAY:
        v->number = record_count(r, c->name, BRANCH_MAX);
        break;
    case COLUMN_TEXT:
        *v = text_cell(record_text(r, c->name));
        break;
    case COLUMN_SHORT:
        *v = text_cell(record_maybe(r, c->name));
        v->null = false;
        break;
    case COLUMN_MAYBE:
    case COLUMN_USER:
        *v = text_cell(record_maybe(r, c->name));
        break;
    case COLUMN_JSON:
        *v = text_cell(record_json_get(r, c->name));
        break;
    case COLUMN_WORD:
        v->number = record_word(r, c->name, c->words, c->first);
        break;
    case COLUMN_ENTRY:
        if (!json_get(&r->doc, r->doc.nodes, "branch"))
            break;
        /* fall through */
    case COLUMN_KEY:
        v->number = KEY(record_int(r, "branch", 1, BRANCH_MAX), 0);
        v->number |= record_int(r, "position", 0, POS_MAX);
        break;
    case COLUMN_HASH:
        hash = arena_alloc(r->arena, HASH_LEN);
        record_hash(r, c->name, hash);
        *v = (copy_cell){.bytes = (const char *)hash, .n = HASH_LEN};
        break;
    }
}

void record_row(record *r, copy_cell *row)
{
    const record_def *d = &record_defs[r->kind];
    const copy_table *t = &copy_tables[d->table];
    assert(t->n <= RECORD_COLUMNS);
    memset(row, 0, t->n * sizeof *row);
    for (size_t i = 0; i < d->n; i++) {
        size_t at = record_column_at(t, d->columns[i].column);
        column_read(r, &d->columns[i], t->types[at], &row[at]);
    }
}

bool record_done(record *r)
{
    const json_node *root = r->doc.nodes;
    if (!r->fault[0] && r->taken != root->count)
        record_fault(r, "it has %zu members and %zu of them are known", (size_t)root->count,
                     r->taken);
    return !r->fault[0];
}

bool record_bytes(const char *s, size_t n, uint8_t *out, size_t *out_n)
{
    size_t pad = n && s[n - 1] == '=' ? 1 + (n > 1 && s[n - 2] == '=') : 0;
    *out_n = 0;
    return n % 4 == 0 && base64_decode(s, n - pad, out, out_n);
}
