/* SPDX-License-Identifier: Apache-2.0
 *
 * claude_code.c: transcripts of Claude Code, ~/.claude/projects: a folder for each project, a file
 * SESSION.jsonl for each session, agent-ID.jsonl (or SESSION/subagents/…) for those of subagents.
 *
 *   C1  A line with a uuid is a record of the tree; parentUuid names the one above it. A record
 *       behind a compaction has none, and logicalParentUuid instead.
 *   C2  A session that was resumed or forked begins with copies of the records of another one, in
 *       its own file. The copies have the sessionId of the copy, and the same or other uuids.
 *   C3  An answer of the model is several lines, one for each block, with the same message.id and
 *       each with the usage of the whole. Results of tools that ran at the same time each name the
 *       line of their call as their parent, so that one of them is on no path to the next
 *       message; they are put in a row behind the answer.
 */
#include "foreign/foreign.h"

#include <string.h>

/* ----------------------------------------------------------------------- index */

static ramet_status index_line(foreign_job *j, arena *a, const foreign_member *m,
                               const foreign_span *s)
{
    json_doc d;
    if (!foreign_parse(a, s, &d)) {
        skip_span(j, "lines that are not JSON objects", s);
        return RAMET_OK;
    }
    const char *session = pick_text(a, &d, d.nodes, "sessionId");
    const char *agent = pick_text(a, &d, d.nodes, "agentId");
    if (!session || !*session) {
        /* Summaries have none: they belong to the session of the file. */
        if (!pick_is(&d, json_get(&d, d.nodes, "type"), "summary") || !*m->name)
            return RAMET_OK;
        const char *base = member_base(m);
        session = arena_memdup(a, base, strlen(base) - strlen(".jsonl"));
    }
    if (pick_true(&d, d.nodes, "isSidechain"))
        session = arena_printf(a, "%s/%s", session, agent ? agent : "sidechain");
    return source_add(j, session, *s);
}

static ramet_status index_file(foreign_job *j, const foreign_member *m)
{
    foreign_span s;
    size_t at = 0;
    uint32_t line = 0;
    if (*m->name && !member_ends(m, ".jsonl")) {
        skip_note(j, "files that are not transcripts (.jsonl)", m, 0);
        return RAMET_OK;
    }
    arena *a = arena_new();
    ramet_status st = RAMET_OK;
    while (st == RAMET_OK && input_line(j, m, &at, &line, &s)) {
        st = index_line(j, a, m, &s);
        arena_reset(a);
    }
    arena_free(a);
    return st;
}

/* ------------------------------------------------------------------------ blocks */

static void image_take(foreign_message *m, const json_doc *d, const json_node *block)
{
    arena *a = m->conversation->mem;
    const json_node *source = json_get(d, block, "source");
    const char *data = pick_text(a, d, source, "data"), *url = pick_text(a, d, source, "url");
    const char *type = pick_text(a, d, source, "media_type");
    const char *name = pick_text(a, d, block, "title");
    if (data && pick_is(d, json_get(d, source, "type"), "text"))
        msg_bytes(m, data, strlen(data), name, type);
    else if (data)
        msg_base64(m, data, name, type);
    else if (url)
        msg_url(m, url, name, type);
}

/* A result is a text, or blocks: their texts are the output, their images files. */
static void result_take(foreign_message *m, const json_doc *d, const json_node *block)
{
    arena *a = m->conversation->mem;
    const json_node *content = json_get(d, block, "content");
    buf text;
    buf_init(&text, MAX_TEXT_BYTES);
    if (json_is(content, JSON_STRING))
        buf_puts(&text, json_text(a, d, content));
    for (const json_node *b = json_is(content, JSON_ARRAY) ? json_first(d, content) : NULL; b;
         b = json_next(d, content, b)) {
        const char *t = pick_text(a, d, b, "text");
        if (t && text.n)
            buf_puts(&text, "\n");
        if (t)
            buf_puts(&text, t);
    }
    msg_result(m, pick_text(a, d, block, "tool_use_id"), json_quote(a, buf_keep(&text, a)),
               pick_true(d, block, "is_error"));
    for (const json_node *b = json_is(content, JSON_ARRAY) ? json_first(d, content) : NULL; b;
         b = json_next(d, content, b))
        if (json_get(d, b, "source"))
            image_take(m, d, b);
}

static void block_take(foreign_message *m, const json_doc *d, const json_node *b)
{
    arena *a = m->conversation->mem;
    const char *type = pick_text(a, d, b, "type");
    const json_node *input = json_get(d, b, "input");
    if (!type)
        return;
    if (strcmp(type, "text") == 0)
        msg_text(m, pick_text(a, d, b, "text"));
    else if (strcmp(type, "thinking") == 0)
        msg_thinking(m, pick_text(a, d, b, "thinking"));
    else if (strcmp(type, "tool_use") == 0 || strcmp(type, "server_tool_use") == 0)
        msg_call(m, pick_text(a, d, b, "id"), pick_text(a, d, b, "name"),
                 input ? pick_json(a, d, input) : NULL);
    else if (strcmp(type, "tool_result") == 0)
        result_take(m, d, b);
    else if (strcmp(type, "image") == 0 || strcmp(type, "document") == 0)
        image_take(m, d, b);
    else if (strcmp(type, "redacted_thinking") == 0)
        skip_note(m->job, "thinking that is encrypted", NULL, 0);
    else
        msg_data(m, pick_json(a, d, b));
}

/* ------------------------------------------------------------------------- lines */

/* The answer that a line belongs to, and the call that it answers. */
typedef struct line_note {
    int64_t node;
    const char *answer; /* message.id */
    const char *result; /* tool_use_id of its result */
} line_note;

typedef struct transcript {
    foreign_job *job;
    foreign_conversation *c;
    VEC(line_note) lines;
    bool titled; /* the title is the user's own */
} transcript;

static ramet_usage usage_of(const json_doc *d, const json_node *u)
{
    ramet_usage out = {.output = pick_int(d, u, "output_tokens"),
                       .cached = pick_int(d, u, "cache_read_input_tokens")};
    out.input =
        pick_int(d, u, "input_tokens") + out.cached + pick_int(d, u, "cache_creation_input_tokens");
    return out;
}

static ramet_role role_of(const json_doc *d, const json_node *record, const json_node *content)
{
    if (pick_is(d, json_get(d, record, "type"), "assistant"))
        return RAMET_ASSISTANT;
    for (const json_node *b = json_is(content, JSON_ARRAY) ? json_first(d, content) : NULL; b;
         b = json_next(d, content, b))
        if (pick_is(d, json_get(d, b, "type"), "tool_result"))
            return RAMET_TOOL;
    return RAMET_USER;
}

static void message_take(transcript *t, const json_doc *d, const char *uuid, const char *parent)
{
    arena *a = t->c->mem;
    foreign_message m;
    const json_node *r = d->nodes, *message = json_get(d, r, "message");
    const json_node *content = json_get(d, message, "content");
    const json_node *usage = json_get(d, message, "usage");
    line_note note = {0};
    ramet_role role = role_of(d, r, content);
    msg_begin(&m, t->job, t->c, uuid, role, pick_time(a, d, r, "timestamp"));
    m.parent = parent;
    if (json_is(content, JSON_STRING))
        msg_text(&m, json_text(a, d, content));
    for (const json_node *b = json_is(content, JSON_ARRAY) ? json_first(d, content) : NULL; b;
         b = json_next(d, content, b)) {
        block_take(&m, d, b);
        if (role == RAMET_TOOL && !note.result)
            note.result = pick_text(a, d, b, "tool_use_id");
    }
    if (role == RAMET_ASSISTANT) {
        const char *model = pick_text(a, d, message, "model");
        note.answer = pick_text(a, d, message, "id");
        if (model && *model != '<') /* "<synthetic>": an error that it shows as an answer */
            t->c->model = model;
        m.has_usage = json_is(usage, JSON_OBJECT);
        if (m.has_usage)
            m.usage = usage_of(d, usage);
    }
    note.node = msg_end(&m);
    VEC_PUSH(a, &t->lines, note);
}

static void title_take(transcript *t, const json_doc *d)
{
    static const char *const keys[][2] = {
        {"custom-title", "customTitle"}, {"ai-title", "aiTitle"}, {"summary", "summary"}};
    const json_node *type = json_get(d, d->nodes, "type");
    for (size_t i = 0; i < 3; i++) {
        const char *text =
            pick_is(d, type, keys[i][0]) ? pick_text(t->c->mem, d, d->nodes, keys[i][1]) : NULL;
        /* The title that the user gave counts most, then the last one that was made. */
        if (!text || !*text || (i > 0 && t->titled))
            continue;
        t->titled = i == 0;
        t->c->title = text;
    }
}

static void line_take(transcript *t, const json_doc *d)
{
    arena *a = t->c->mem;
    const json_node *r = d->nodes, *from = json_get(d, r, "forkedFrom");
    const char *uuid = pick_text(a, d, r, "uuid"), *parent = pick_text(a, d, r, "parentUuid");
    const char *type = pick_text(a, d, r, "type");
    title_take(t, d);
    if (!uuid || !type)
        return;
    if (!parent)
        parent = pick_text(a, d, r, "logicalParentUuid");
    if (!t->c->folder)
        t->c->folder = pick_text(a, d, r, "cwd");
    if (from && t->c->link == LINK_NONE && pick_text(a, d, from, "sessionId")) {
        t->c->link = LINK_COPY;
        t->c->parent = pick_text(a, d, from, "sessionId");
    }
    if (strcmp(type, "user") == 0 || strcmp(type, "assistant") == 0) {
        message_take(t, d, uuid, parent);
        return;
    }
    foreign_node hollow = {.id = uuid, .parent = parent, .up = -1};
    VEC_PUSH(a, &t->c->nodes, hollow);
}

/* ------------------------------------------------------------- answers in several lines */

/* Lines by message.id: what is known of an answer. */
typedef struct answer {
    const char *id;
    int64_t last; /* its last line */
    int64_t end;  /* the same, or the last result behind it */
} answer;

typedef struct answers {
    VEC(answer) list;
    uint32_t *slots; /* index + 1, by id */
    size_t cap;
    int64_t *of; /* by node: index into the list, or -1 */
} answers;

/* Where the newest answer of an id stands; 0: there is none. */
static uint32_t *answer_slot(const answers *all, const char *id)
{
    size_t i = hash_text(id) & (all->cap - 1);
    while (all->slots[i] && strcmp(all->list.items[all->slots[i] - 1].id, id) != 0)
        i = (i + 1) & (all->cap - 1);
    return &all->slots[i];
}

/* The node of an id, for parents of results. */
static int64_t node_find(const transcript *t, const uint32_t *slots, size_t cap, const char *id)
{
    size_t i = hash_text(id) & (cap - 1);
    for (; slots[i]; i = (i + 1) & (cap - 1))
        if (strcmp(t->c->nodes.items[slots[i] - 1].id, id) == 0)
            return (int64_t)slots[i] - 1;
    return -1;
}

static uint32_t *nodes_by_id(const transcript *t, size_t cap)
{
    uint32_t *slots = arena_array(t->c->mem, cap, sizeof *slots);
    for (size_t k = 0; k < t->c->nodes.n; k++) {
        const char *id = t->c->nodes.items[k].id;
        size_t i = id ? hash_text(id) & (cap - 1) : 0;
        while (id && slots[i] && strcmp(t->c->nodes.items[slots[i] - 1].id, id) != 0)
            i = (i + 1) & (cap - 1);
        if (id && !slots[i])
            slots[i] = (uint32_t)k + 1;
    }
    return slots;
}

/* Whether a line goes on with the answer whose last line is `last`: directly, or behind results of
 * its tools. */
static bool goes_on(const transcript *t, const uint32_t *by_id, size_t cap, int64_t node,
                    int64_t last, bool *directly)
{
    *directly = true;
    for (int steps = 0; steps < 256; steps++) {
        const char *parent = t->c->nodes.items[node].parent;
        node = parent ? node_find(t, by_id, cap, parent) : -1;
        if (node < 0 || node == last)
            return node == last;
        *directly = false;
        if (t->c->nodes.items[node].role == RAMET_USER ||
            t->c->nodes.items[node].role == RAMET_ASSISTANT)
            return false;
    }
    return false;
}

/* Finds the lines of each answer. Usage counts once: on the last line. */
static void answers_find(transcript *t, answers *all, const uint32_t *by_id)
{
    for (size_t i = 0; i < t->lines.n; i++) {
        const line_note *l = &t->lines.items[i];
        bool directly;
        if (!l->answer)
            continue;
        uint32_t *slot = answer_slot(all, l->answer);
        answer *x = *slot ? &all->list.items[*slot - 1] : NULL;
        bool same = x && goes_on(t, by_id, all->cap, l->node, x->last, &directly);
        if (same)
            t->c->nodes.items[x->last].has_usage = false;
        if (!same || !directly) {
            answer fresh = {.id = l->answer};
            VEC_PUSH(t->c->mem, &all->list, fresh);
            *slot = (uint32_t)all->list.n;
            x = &all->list.items[all->list.n - 1];
        }
        x->last = x->end = l->node;
        all->of[l->node] = x - all->list.items;
    }
}

/* C3: results in a row behind the answer, and what follows one of them behind the last. */
static void results_in_a_row(transcript *t)
{
    answers all = {.cap = 16};
    size_t cap = 16;
    foreign_node *nodes = t->c->nodes.items;
    while (cap < t->c->nodes.n * 2 + 2)
        cap *= 2;
    all.cap = cap;
    all.slots = arena_array(t->c->mem, cap, sizeof *all.slots);
    all.of = arena_array(t->c->mem, t->c->nodes.n + 1, sizeof *all.of);
    for (size_t i = 0; i < t->c->nodes.n; i++)
        all.of[i] = -1;
    uint32_t *by_id = nodes_by_id(t, cap);
    answers_find(t, &all, by_id);
    int64_t *row = arena_array(t->c->mem, t->c->nodes.n + 1, sizeof *row);
    const char **result = arena_array(t->c->mem, t->c->nodes.n + 1, sizeof *result);
    for (size_t i = 0; i < t->c->nodes.n; i++)
        row[i] = -1; /* the answer in whose row of results a node is */
    for (size_t i = 0; i < t->lines.n; i++) {
        const line_note *l = &t->lines.items[i];
        foreign_node *n = &nodes[l->node];
        int64_t up = l->result && n->parent ? node_find(t, by_id, cap, n->parent) : -1;
        answer *x = up >= 0 && all.of[up] >= 0 ? &all.list.items[all.of[up]] : NULL;
        /* A result behind another message than its answer's, or a second answer, is a branch. */
        if (!x || (x->end != x->last && nodes[x->end].role != RAMET_TOOL))
            continue;
        int64_t k = x->end;
        while (k != x->last && strcmp(result[k], l->result) != 0)
            k = nodes[k].up;
        if (k != x->last)
            continue;
        result[l->node] = l->result;
        n->up = x->end;
        n->parent = NULL;
        x->end = l->node;
        row[l->node] = all.of[up];
    }
    for (size_t i = 0; i < t->c->nodes.n; i++) {
        int64_t up = nodes[i].parent ? node_find(t, by_id, cap, nodes[i].parent) : -1;
        if (up >= 0 && row[up] >= 0 && row[i] < 0) {
            nodes[i].up = all.list.items[row[up]].end;
            nodes[i].parent = NULL;
        }
    }
}

/* -------------------------------------------------------------------------- load */

/* The session without its subagent; the part behind the slash is the subagent's. */
static void names_set(foreign_conversation *c, const char *id)
{
    const char *slash = strchr(id, '/');
    c->id = arena_strdup(c->mem, id);
    if (!slash)
        return;
    c->link = LINK_BELOW;
    c->parent = arena_memdup(c->mem, id, (size_t)(slash - id));
    c->title = c->title ? c->title : arena_printf(c->mem, "Subagent %s", slash + 1);
}

static bool load(foreign_job *j, const foreign_source *s, foreign_conversation *c)
{
    transcript t = {.job = j, .c = c};
    arena *a = arena_new();
    for (size_t i = 0; i < s->spans.n; i++) {
        json_doc d;
        if (foreign_parse(a, &s->spans.items[i], &d))
            line_take(&t, &d);
        arena_reset(a);
    }
    arena_free(a);
    results_in_a_row(&t);
    names_set(c, s->id);
    return true;
}

const foreign_reader foreign_claude_code = {.index = index_file, .load = load};
