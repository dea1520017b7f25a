/* SPDX-License-Identifier: Apache-2.0
 *
 * record.c: records a turn as entries: one per message, one per tool call (its last state), one per
 * plan. The body of an entry is an array of updates as the editor received them; replay.c sends
 * them again.
 */
#include "acp/own.h"

#include <stdlib.h>
#include <string.h>

enum {
    ITEM_BYTES = 8 << 20, /* a longer message continues in another entry */
    TURN_BYTES = 4 << 20, /* of complete items: beyond this they are stored before the turn ends */
    TURN_ITEMS = 256,
    BATCH = 500
};

typedef enum { ITEM_USER, ITEM_ANSWER, ITEM_THOUGHT, ITEM_TOOL, ITEM_PLAN, ITEM_NOTE } item_kind;

typedef struct field {
    char *key, *value; /* value is JSON */
} field;

typedef struct item {
    item_kind kind;
    char *id; /* entry id */
    char turn[UUID_TEXT];
    char *key;    /* the agent's id of the message or tool call; NULL: none */
    buf body;     /* updates, separated by commas */
    buf parts;    /* complete parts, separated by commas */
    buf text;     /* text of the last part, not in `parts` yet */
    field *field; /* for a tool call: the last value of each member */
    size_t fields;
    bool whole; /* complete: nothing can be added */
} item;

struct turn {
    char id[UUID_TEXT];
    item *items;
    size_t n, cap;
    size_t bytes;
    char *question;
    int64_t branch; /* 0: the head */
    bool asked, has_output;
    bool stored;   /* the question is in the store */
    bool answered; /* the last item is not the user's: the user's next message begins a turn */
};

static const struct {
    const char *word;
    item_kind kind;
} kinds[] = {
    {"user_message_chunk", ITEM_USER},     {"agent_message_chunk", ITEM_ANSWER},
    {"agent_thought_chunk", ITEM_THOUGHT}, {"tool_call", ITEM_TOOL},
    {"tool_call_update", ITEM_TOOL},       {"plan", ITEM_PLAN},
};

static int kind_of(const char *word)
{
    for (size_t i = 0; word && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].word, word) == 0)
            return (int)kinds[i].kind;
    return -1;
}

bool update_is_history(const char *kind)
{
    return kind_of(kind) >= 0;
}

/* ------------------------------------------------------------------ items */

turn *turn_new(session *s)
{
    turn *t = xcalloc(1, sizeof *t);
    uuid7(time_now_us(), t->id);
    s->turn = t;
    return t;
}

static void item_release(item *it)
{
    for (size_t i = 0; i < it->fields; i++) {
        free(it->field[i].key);
        free(it->field[i].value);
    }
    free(it->field);
    free(it->id);
    free(it->key);
    buf_release(&it->body);
    buf_release(&it->parts);
    buf_release(&it->text);
}

static void items_drop(turn *t, size_t n)
{
    for (size_t i = 0; i < n; i++)
        item_release(&t->items[i]);
    memmove(t->items, t->items + n, (t->n - n) * sizeof *t->items);
    t->n -= n;
}

void turn_free(turn *t)
{
    if (!t)
        return;
    items_drop(t, t->n);
    free(t->items);
    free(t->question);
    free(t);
}

const char *turn_id(const turn *t)
{
    return t->id;
}
bool turn_asked(const turn *t)
{
    return t && t->asked;
}
const char *turn_question(const turn *t)
{
    return t && t->stored ? t->question : NULL;
}
bool turn_has_output(const turn *t)
{
    return t->has_output;
}

static item *item_add(turn *t, item_kind kind, const char *id, const char *key)
{
    if (t->n == t->cap) {
        t->cap = t->cap ? t->cap * 2 : 16;
        t->items = xrealloc(t->items, t->cap * sizeof *t->items);
    }
    for (size_t i = 0; i < t->n; i++)
        if (t->items[i].kind != ITEM_TOOL)
            t->items[i].whole = true;
    if (kind == ITEM_USER && t->answered)
        uuid7(time_now_us(), t->id);
    t->answered = kind != ITEM_USER;
    item *it = &t->items[t->n++];
    *it = (item){.kind = kind, .id = xstrdup(id), .key = xstrdup(key)};
    memcpy(it->turn, t->id, sizeof it->turn);
    buf_init(&it->body, ITEM_BYTES + ACP_LINE_MAX);
    buf_init(&it->parts, ITEM_BYTES + ACP_LINE_MAX);
    buf_init(&it->text, ITEM_BYTES + ACP_LINE_MAX);
    return it;
}

/* The agent's own id if the tree has no such entry, otherwise a new one. */
static const char *id_choose(proxy *p, session *s, const char *wish)
{
    char uuid[UUID_TEXT];
    ids *set = ids_of(p, s->tree);
    if (wish && *wish && strlen(wish) <= 255 && ids_add(set, wish))
        return arena_strdup(p->mem, wish);
    const char *id = arena_strdup(p->mem, uuid7(time_now_us(), uuid));
    ids_add(set, id);
    return id;
}

/* The item that a chunk or a tool call continues, or a new one. */
static item *item_for(proxy *p, session *s, item_kind kind, const char *key)
{
    turn *t = s->turn;
    for (size_t i = t->n; i-- > 0;) {
        item *it = &t->items[i];
        if (it->kind != kind || it->body.n > ITEM_BYTES)
            continue;
        if (kind == ITEM_PLAN || (key && it->key && strcmp(it->key, key) == 0))
            return it;
        if (!key && !it->key && i == t->n - 1)
            return it;
    }
    const char *wish = kind == ITEM_TOOL || kind == ITEM_PLAN ? NULL : key;
    return item_add(t, kind, id_choose(p, s, wish), key);
}

/* ------------------------------------------------------------------ content */

static const char *part_word(item_kind kind)
{
    return kind == ITEM_THOUGHT ? "thinking" : "text";
}

static void text_close(item *it)
{
    json_writer w;
    if (!it->text.n)
        return;
    if (it->parts.n)
        buf_putc(&it->parts, ',');
    jw_init(&w, &it->parts, 0);
    jw_object(&w);
    jw_kstr(&w, "type", part_word(it->kind));
    jw_kstr(&w, "text", it->text.data);
    jw_end_object(&w);
    buf_clear(&it->text);
}

static void part_open(item *it, json_writer *w, const char *type)
{
    text_close(it);
    if (it->parts.n)
        buf_putc(&it->parts, ',');
    jw_init(w, &it->parts, 0);
    jw_object(w);
    jw_kstr(w, "type", type);
}

/* Converts a content block to text, a file with a URL, or data. */
static void block_add(proxy *p, item *it, const json_doc *d, const json_node *block)
{
    json_writer w;
    const char *type = json_text(p->mem, d, json_get(d, block, "type"));
    const char *text = json_text(p->mem, d, json_get(d, block, "text"));
    const char *uri = json_text(p->mem, d, json_get(d, block, "uri"));
    const json_node *inside = json_get(d, block, "resource");
    const json_node *holder = inside ? inside : block;
    const char *kept = inline_kept(p, d, holder);
    const char *media = json_text(p->mem, d, json_get(d, holder, "mimeType"));
    if (!type)
        return;
    if (strcmp(type, "text") == 0 && text && !kept) {
        buf_puts(&it->text, text);
        return;
    }
    if (strcmp(type, "resource_link") == 0 && uri) {
        const char *name = json_text(p->mem, d, json_get(d, block, "name"));
        part_open(it, &w, "file");
        jw_kstr(&w, "url", uri);
        if (name)
            jw_kstr(&w, "name", name);
        if (media)
            jw_kstr(&w, "media_type", media);
    } else if (kept) {
        part_open(it, &w, "file");
        jw_kstr(&w, "attachment_id", kept);
        if (media)
            jw_kstr(&w, "media_type", media);
    } else {
        part_open(it, &w, "data");
        jw_kraw(&w, "data", json_raw(p->mem, d, block));
    }
    jw_end_object(&w);
}

static void body_add(item *it, const char *update)
{
    if (it->body.n)
        buf_putc(&it->body, ',');
    buf_puts(&it->body, update);
}

void turn_prompt(proxy *p, session *s, const json_doc *d, const json_node *blocks)
{
    turn *t = turn_asked(s->turn) ? s->turn : turn_new(s); /* may arrive during a turn */
    item *it = item_add(t, ITEM_USER, id_choose(p, s, NULL), NULL);
    t->asked = true;
    if (!t->question)
        t->question = xstrdup(it->id);
    for (const json_node *b = json_first(d, blocks); b; b = json_next(d, blocks, b)) {
        const char *raw = inline_keep(p, json_without_nul(p->mem, json_raw(p->mem, d, b)));
        json_doc own;
        if (!json_parse(p->mem, raw, strlen(raw), 0, &own, NULL))
            continue;
        block_add(p, it, &own, own.nodes);
        body_add(it, arena_printf(p->mem,
                                  "{\"sessionUpdate\":\"user_message_chunk\",\"messageId\":"
                                  "%s,\"content\":%s}",
                                  json_quote(p->mem, it->id), raw));
    }
    it->whole = true;
}

/* ------------------------------------------------------------------ updates */

static void chunk_record(proxy *p, item *it, const char *raw)
{
    json_doc d;
    if (!json_parse(p->mem, raw, strlen(raw), 0, &d, NULL))
        return;
    const json_node *block = json_get(&d, d.nodes, "content");
    if (json_is(block, JSON_OBJECT))
        block_add(p, it, &d, block);
    member id = {"messageId", json_quote(p->mem, it->id)};
    body_add(it, json_with(p->mem, raw, &id, 1));
}

static void field_set(item *it, const char *key, const char *value)
{
    for (size_t i = 0; i < it->fields; i++)
        if (strcmp(it->field[i].key, key) == 0) {
            free(it->field[i].value);
            it->field[i].value = xstrdup(value);
            return;
        }
    it->field = xrealloc(it->field, (it->fields + 1) * sizeof *it->field);
    it->field[it->fields++] = (field){xstrdup(key), xstrdup(value)};
}

static const char *field_get(const item *it, const char *key)
{
    for (size_t i = 0; i < it->fields; i++)
        if (strcmp(it->field[i].key, key) == 0 && strcmp(it->field[i].value, "null") != 0)
            return it->field[i].value;
    return NULL;
}

/* A later update replaces the members it contains; a null does not remove what a tool call
 * needs. */
static void fields_record(proxy *p, item *it, const char *raw)
{
    json_doc d;
    if (!json_parse(p->mem, raw, strlen(raw), 0, &d, NULL))
        return;
    for (const json_node *k = json_first(&d, d.nodes); k;) {
        const json_node *v = json_next(&d, d.nodes, k);
        const char *key = json_text(p->mem, &d, k);
        if (strcmp(key, "sessionUpdate") != 0)
            field_set(it, key, json_raw(p->mem, &d, v));
        k = json_next(&d, d.nodes, v);
    }
    const char *status = field_get(it, "status");
    it->whole =
        status && (strcmp(status, "\"completed\"") == 0 || strcmp(status, "\"failed\"") == 0);
}

const char *turn_record_update(proxy *p, session *s, const message *m, const json_node *update)
{
    int kind = kind_of(message_text(m, update, "sessionUpdate"));
    if (kind < 0)
        return NULL;
    if (!s->turn)
        turn_new(s);
    s->turn->has_output = true;
    const char *key = message_text(m, update, kind == ITEM_TOOL ? "toolCallId" : "messageId");
    const char *raw = inline_keep(p, json_without_nul(p->mem, json_raw(p->mem, &m->doc, update)));
    item *it = item_for(p, s, (item_kind)kind, key);
    size_t before = it->body.n;
    if (kind == ITEM_TOOL || kind == ITEM_PLAN)
        fields_record(p, it, raw);
    else
        chunk_record(p, it, raw);
    s->turn->bytes += it->body.n - before;
    if (s->open && (s->turn->bytes > TURN_BYTES || s->turn->n > TURN_ITEMS) &&
        !turn_store(p, s, false))
        complain("a part of the turn could not be recorded yet: %s", store_error(p));
    if (kind == ITEM_TOOL || kind == ITEM_PLAN)
        return NULL;
    return key && strcmp(key, it->id) == 0 ? NULL : arena_strdup(p->mem, it->id);
}

/* ------------------------------------------------------------------ entries */

static const char *tool_body(proxy *p, const item *it)
{
    buf b;
    buf_init(&b, ITEM_BYTES + ACP_LINE_MAX);
    buf_puts(&b, it->kind == ITEM_PLAN ? "[{\"sessionUpdate\":\"plan\""
                                       : "[{\"sessionUpdate\":\"tool_call\"");
    for (size_t i = 0; i < it->fields; i++)
        buf_printf(&b, ",%s:%s", json_quote(p->mem, it->field[i].key), it->field[i].value);
    if (it->kind == ITEM_TOOL && !field_get(it, "title"))
        buf_puts(&b, ",\"title\":\"tool\"");
    buf_puts(&b, "}]");
    return buf_keep(&b, p->mem);
}

static const char *string_of(proxy *p, const char *json)
{
    json_doc d;
    return json && json_parse(p->mem, json, strlen(json), 0, &d, NULL)
               ? json_text(p->mem, &d, d.nodes)
               : NULL;
}

static const char *tool_parts(proxy *p, const item *it)
{
    buf b;
    json_writer w;
    const char *name = string_of(p, field_get(it, "name")), *status = field_get(it, "status");
    const char *input = field_get(it, "rawInput"), *output = field_get(it, "rawOutput");
    if (!name)
        name = string_of(p, field_get(it, "title"));
    if (!output)
        output = field_get(it, "content");
    buf_init(&b, ITEM_BYTES + ACP_LINE_MAX);
    jw_init(&w, &b, 0);
    jw_array(&w);
    jw_object(&w);
    jw_kstr(&w, "type", "tool_call");
    jw_kstr(&w, "id", it->key ? it->key : it->id);
    jw_kstr(&w, "name", name && *name ? name : "tool");
    jw_kraw(&w, "input", input ? input : "{}");
    jw_end_object(&w);
    if (it->whole) {
        jw_object(&w);
        jw_kstr(&w, "type", "tool_result");
        jw_kstr(&w, "id", it->key ? it->key : it->id);
        jw_kraw(&w, "output", output ? output : "null");
        if (status && strcmp(status, "\"failed\"") == 0)
            jw_kbool(&w, "is_error", true);
        jw_end_object(&w);
    }
    jw_end_array(&w);
    return buf_keep(&b, p->mem);
}

static ramet_entry_in entry_of(proxy *p, item *it)
{
    ramet_entry_in e = {.id = it->id, .turn_id = it->turn, .format = ACP_FORMAT};
    e.role = it->kind == ITEM_USER   ? RAMET_USER
             : it->kind == ITEM_NOTE ? RAMET_SYSTEM
                                     : RAMET_ASSISTANT;
    if (e.role == RAMET_ASSISTANT)
        e.author = p->options->name;
    switch (it->kind) {
    case ITEM_TOOL:
        e.parts = tool_parts(p, it);
        e.body = tool_body(p, it);
        break;
    case ITEM_PLAN:
        e.body = tool_body(p, it);
        e.parts = arena_printf(p->mem, "[{\"type\":\"data\",\"data\":%.*s}]",
                               (int)strlen(e.body) - 2, e.body + 1);
        break;
    default:
        text_close(it);
        e.parts = arena_printf(p->mem, "[%s]", it->parts.data);
        e.body = arena_printf(p->mem, "[%s]", it->body.data);
    }
    return e;
}

/* The agent's ids are taken: gives the entries ids of ours. */
static void ids_renew(item *items, ramet_entry_in *list, size_t n)
{
    char uuid[UUID_TEXT];
    for (size_t i = 0; i < n; i++) {
        free(items[i].id);
        items[i].id = xstrdup(uuid7(time_now_us(), uuid));
        list[i].id = items[i].id;
    }
}

static bool batch_store(proxy *p, session *s, size_t n, const ramet_usage *usage)
{
    turn *t = s->turn;
    ramet_entry_in *list = arena_array(p->mem, n, sizeof *list);
    ramet_append_out out;
    for (size_t i = 0; i < n; i++)
        list[i] = entry_of(p, &t->items[i]);
    for (size_t i = n; usage && i-- > 0;)
        if (list[i].role == RAMET_ASSISTANT) {
            list[i].usage = usage;
            break;
        }
    ramet_append_in in = {.entries = list, .n = n, .branch = t->branch};
    ramet_status rc = p->lib->ramet_append(p->call, s->outer, &in, &out);
    if (rc == RAMET_ENTRY_EXISTS) {
        ids_renew(t->items, list, n);
        rc = p->lib->ramet_append(p->call, s->outer, &in, &out);
    }
    if (rc != RAMET_OK)
        return false;
    t->branch = out.head.branch;
    t->stored = true;
    held_text(&out.head, s->erased, s->held);
    items_drop(t, n);
    return true;
}

static bool store_with(proxy *p, session *s, bool all, const ramet_usage *usage)
{
    turn *t = s->turn;
    size_t n = 0;
    while (t && n < t->n && (all || t->items[n].whole))
        n++;
    if (t)
        t->bytes = 0;
    while (n) {
        size_t some = n < BATCH ? n : BATCH;
        if (!batch_store(p, s, some, some == n && all ? usage : NULL))
            return false;
        n -= some;
    }
    return true;
}

bool turn_store(proxy *p, session *s, bool all)
{
    return store_with(p, s, all, NULL);
}

bool turn_end(proxy *p, session *s, const char *why, const ramet_usage *usage)
{
    turn *t = s->turn;
    if (!t)
        return true;
    if (why) {
        item *it = item_add(t, ITEM_NOTE, id_choose(p, s, NULL), NULL);
        buf_printf(&it->parts, "{\"type\":\"data\",\"data\":{\"turn\":\"%s\"}}", why);
    }
    bool fine = store_with(p, s, true, usage);
    if (fine) {
        turn_free(t);
        s->turn = NULL;
    }
    return fine;
}
