/* SPDX-License-Identifier: Apache-2.0
 *
 * codex.c: rollouts of Codex, ~/.codex/sessions/YEAR/MONTH/DAY/rollout-….jsonl: a file for each
 * thread.
 *
 *   X1  The first session_meta is that of the thread. A fork names its parent (forked_from_id). It
 *       begins with copies of the parent's items, with other times, and maybe a session_meta of the
 *       parent among them; or (forked_from_ordinal_exclusive) it has none of them, and is read
 *       behind the lines of the parent whose `ordinal` is below that number.
 *   X2  response_item is what the model was given and gave. event_msg tells the same to the screen
 *       and is left out, but for usage, and for thread_rolled_back: the last turns were taken back,
 *       and what follows is another branch.
 */
#include "foreign/foreign.h"

#include <stdio.h>
#include <string.h>

static ramet_status index_file(foreign_job *j, const foreign_member *m)
{
    if (*m->name && !member_ends(m, ".jsonl")) {
        skip_note(j, "files that are not rollouts (.jsonl)", m, 0);
        return RAMET_OK;
    }
    return source_add(j, NULL, member_span(j, m));
}

#define MAX_FORKS 64 /* of forks of forks */

typedef struct rollout {
    foreign_job *job;
    foreign_conversation *c;
    int64_t at;       /* the last item; -1: none */
    int64_t said;     /* the last one of the model */
    const char *file; /* id of the thread whose file is being read */
    int64_t number;   /* of its line, or its ordinal */
    int depth;        /* forks above the file */
} rollout;

static bool file_take(rollout *r, const foreign_member *m, int64_t end);

/* The rollout of a thread; its name ends with the id. */
static const foreign_member *file_find(const foreign_job *j, const char *id)
{
    char end[300];
    if (snprintf(end, sizeof end, "-%s.jsonl", id) >= (int)sizeof end)
        return NULL;
    for (size_t i = 0; i < j->members.n; i++)
        if (member_ends(&j->members.items[i], end))
            return &j->members.items[i];
    return NULL;
}

/* The first line of a rollout; false: its parent is not there. */
static bool meta_first(rollout *r, const json_doc *d, const json_node *p)
{
    arena *a = r->c->mem;
    const char *from = pick_text(a, d, p, "forked_from_id");
    const json_node *cut = json_get(d, p, "forked_from_ordinal_exclusive");
    const char *file = pick_text(a, d, p, "id");
    if (from && cut) {
        const foreign_member *m = r->depth < MAX_FORKS ? file_find(r->job, from) : NULL;
        r->depth++;
        if (!m || !file_take(r, m, pick_int(d, p, "forked_from_ordinal_exclusive")))
            return false;
    }
    r->file = file;
    return true;
}

static void meta_take(rollout *r, const json_doc *d, const json_node *p)
{
    arena *a = r->c->mem;
    const char *id = pick_text(a, d, p, "id"), *from = pick_text(a, d, p, "forked_from_id");
    if (!r->c->id) {
        r->c->id = id;
        r->c->folder = pick_text(a, d, p, "cwd");
        r->c->created = pick_time(a, d, p, "timestamp");
    } else if (!from && id && strcmp(id, r->c->id) != 0) {
        from = id;
    }
    if (from && r->c->link == LINK_NONE) {
        r->c->link = LINK_COPY;
        r->c->parent = from;
    }
}

/* The texts of a list of {text}, or a text. */
static const char *texts_join(arena *a, const json_doc *d, const json_node *v)
{
    buf b;
    if (json_is(v, JSON_STRING))
        return json_text(a, d, v);
    buf_init(&b, MAX_TEXT_BYTES);
    for (const json_node *p = json_is(v, JSON_ARRAY) ? json_first(d, v) : NULL; p;
         p = json_next(d, v, p)) {
        const char *text = pick_text(a, d, p, "text");
        if (text && b.n)
            buf_puts(&b, "\n\n");
        if (text)
            buf_puts(&b, text);
    }
    return buf_keep(&b, a);
}

/* What a tool gave: a text, {content}, or a list of texts. */
static const char *output_of(arena *a, const json_doc *d, const json_node *v)
{
    const json_node *content = json_is(v, JSON_OBJECT) ? json_get(d, v, "content") : NULL;
    if (json_is(content, JSON_STRING))
        return json_quote(a, json_text(a, d, content));
    if (json_is(v, JSON_OBJECT))
        return pick_json(a, d, v);
    return json_quote(a, texts_join(a, d, v));
}

static void content_take(foreign_message *m, const json_doc *d, const json_node *list)
{
    arena *a = m->conversation->mem;
    for (const json_node *p = json_is(list, JSON_ARRAY) ? json_first(d, list) : NULL; p;
         p = json_next(d, list, p)) {
        const char *text = pick_text(a, d, p, "text"), *url = pick_text(a, d, p, "image_url");
        if (text)
            msg_text(m, text);
        else if (url)
            msg_url(m, url, NULL, NULL);
    }
}

static void call_take(foreign_message *m, const json_doc *d, const json_node *p, const char *type)
{
    arena *a = m->conversation->mem;
    const char *id = pick_text(a, d, p, "call_id"), *name = pick_text(a, d, p, "name");
    const char *arguments = pick_text(a, d, p, "arguments");
    const json_node *action = json_get(d, p, "action");
    if (!arguments)
        arguments = pick_text(a, d, p, "input");
    if (!id)
        id = pick_text(a, d, p, "id");
    msg_call(m, id, name ? name : type,
             arguments ? json_or_text(a, arguments)
             : action  ? pick_json(a, d, action)
                       : NULL);
}

static ramet_role role_of(const char *name)
{
    if (name && strcmp(name, "user") == 0)
        return RAMET_USER;
    return name && strcmp(name, "assistant") == 0 ? RAMET_ASSISTANT : RAMET_SYSTEM;
}

static void item_take(rollout *r, const json_doc *d, const json_node *p, int64_t when)
{
    arena *a = r->c->mem;
    foreign_message m;
    const char *type = pick_text(a, d, p, "type");
    if (!type)
        return;
    bool said = strcmp(type, "message") == 0, thought = strcmp(type, "reasoning") == 0;
    size_t n = strlen(type);
    bool result = n > 7 && strcmp(type + n - 7, "_output") == 0;
    bool call = !result && n > 5 && strcmp(type + n - 5, "_call") == 0;
    ramet_role role = said     ? role_of(pick_text(a, d, p, "role"))
                      : result ? RAMET_TOOL
                               : RAMET_ASSISTANT;
    msg_begin(&m, r->job, r->c,
              arena_printf(a, "%s-%lld", r->file ? r->file : "item", (long long)r->number), role,
              when);
    m.up = r->at;
    if (said)
        content_take(&m, d, json_get(d, p, "content"));
    else if (thought) {
        msg_thinking(&m, texts_join(a, d, json_get(d, p, "summary")));
        msg_thinking(&m, texts_join(a, d, json_get(d, p, "content")));
    } else if (result)
        msg_result(&m, pick_text(a, d, p, "call_id"), output_of(a, d, json_get(d, p, "output")),
                   false);
    else if (call)
        call_take(&m, d, p, type);
    else
        skip_note(r->job, "items of other types than messages, reasoning and calls", NULL, 0);
    r->at = msg_end(&m);
    if (role == RAMET_ASSISTANT)
        r->said = r->at;
    /* What Codex itself tells the model comes in such marks. */
    if (role == RAMET_USER && said && !r->c->title) {
        const char *text = texts_join(a, d, json_get(d, p, "content"));
        if (*text && *text != '<' && strncmp(text, "# AGENTS.md", 11) != 0)
            r->c->title = text_preview(a, text, 80);
    }
}

/* Takes back the last `turns` messages of the user, and what follows them. */
static void roll_back(rollout *r, int64_t turns)
{
    while (turns-- > 0 && r->at >= 0) {
        while (r->at >= 0 && r->c->nodes.items[r->at].role != RAMET_USER)
            r->at = r->c->nodes.items[r->at].up;
        if (r->at >= 0)
            r->at = r->c->nodes.items[r->at].up;
    }
}

static void event_take(rollout *r, const json_doc *d, const json_node *p)
{
    const json_node *type = json_get(d, p, "type");
    const json_node *last = json_get(d, json_get(d, p, "info"), "last_token_usage");
    if (pick_is(d, type, "thread_rolled_back"))
        roll_back(r, pick_int(d, p, "num_turns"));
    if (pick_is(d, type, "token_count") && r->said >= 0) {
        foreign_node *n = &r->c->nodes.items[r->said];
        if (!n->has_usage)
            n->has_usage = pick_usage(d, last, "input_tokens", "output_tokens",
                                      "cached_input_tokens", &n->usage);
        r->said = -1;
    }
}

static void line_take(rollout *r, const json_doc *d)
{
    arena *a = r->c->mem;
    const json_node *type = json_get(d, d->nodes, "type"), *p = json_get(d, d->nodes, "payload");
    int64_t when = pick_time(a, d, d->nodes, "timestamp");
    if (pick_is(d, type, "session_meta"))
        meta_take(r, d, p);
    else if (pick_is(d, type, "response_item"))
        item_take(r, d, p, when);
    else if (pick_is(d, type, "event_msg"))
        event_take(r, d, p);
    else if (pick_is(d, type, "turn_context")) {
        const char *model = pick_text(a, d, p, "model");
        r->c->model = model ? model : r->c->model;
    } else if (pick_is(d, type, "compacted")) {
        foreign_message m;
        msg_begin(&m, r->job, r->c,
                  arena_printf(a, "%s-%lld", r->file ? r->file : "item", (long long)r->number),
                  RAMET_SYSTEM, when);
        m.up = r->at;
        msg_text(&m, pick_text(a, d, p, "message"));
        r->at = msg_end(&m);
    }
}

/* Reads the lines of a file, up to an ordinal; false: the beginning of the thread is missing. */
static bool file_take(rollout *r, const foreign_member *m, int64_t end)
{
    foreign_span line;
    size_t at = 0;
    uint32_t number = 0;
    bool first = true, fine = true, whole = false;
    arena *a = arena_new();
    while (fine && !whole && input_line(r->job, m, &at, &number, &line)) {
        json_doc d;
        int64_t ordinal;
        if (!foreign_parse(a, &line, &d)) {
            skip_span(r->job, "lines that are not JSON objects", &line);
            arena_reset(a);
            continue;
        }
        const json_node *o = json_get(&d, d.nodes, "ordinal"),
                        *p = json_get(&d, d.nodes, "payload");
        bool meta = pick_is(&d, json_get(&d, d.nodes, "type"), "session_meta");
        if (meta && first) {
            /* Its own first: what is above it comes before. */
            meta_take(r, &d, p);
            fine = meta_first(r, &d, p);
            first = false;
        }
        r->number = o && json_int(&d, o, &ordinal) ? ordinal : number;
        whole = r->number >= end;
        if (fine && !whole)
            line_take(r, &d);
        arena_reset(a);
    }
    arena_free(a);
    return fine;
}

static bool load(foreign_job *j, const foreign_source *s, foreign_conversation *c)
{
    const foreign_span *whole = s->spans.items;
    rollout r = {.job = j, .c = c, .at = -1, .said = -1};
    if (!file_take(&r, &j->members.items[whole->member], INT64_MAX)) {
        skip_span(j, "forks whose parent is not in the input: import the folder", whole);
        return false;
    }
    if (!c->id) {
        skip_span(j, "files without session_meta: no rollouts", whole);
        return false;
    }
    if (r.at >= 0)
        c->current = c->nodes.items[r.at].id;
    return true;
}

const foreign_reader foreign_codex = {
    .copies_have_new_times = true, .index = index_file, .load = load};
