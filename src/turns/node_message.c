/* SPDX-License-Identifier: Apache-2.0
 *
 * node_message.c: see node_message.h.
 */
#include "turns/node_message.h"

#include "base/json.h"

#include <string.h>

static const char *const kind_names[] = {
    [NODE_RUN] = "run",           [NODE_DELTA] = "words",
    [NODE_APPENDED] = "appended", [NODE_QUESTION] = "question",
    [NODE_PLAN] = "plan",         [NODE_ENDED] = "over",
    [NODE_HELLO] = "hello",       [NODE_SNAPSHOT_REQUEST] = "ask",
    [NODE_HERE] = "here",         [NODE_COMMAND] = "do",
    [NODE_OUTCOME] = "did"};
enum { N_KINDS = sizeof kind_names / sizeof *kind_names };

/* ------------------------------------------------------------------ writing */

static void question_write(json_writer *w, const turn_question *q)
{
    jw_key(w, "question");
    if (!q) {
        jw_null(w);
        return;
    }
    jw_object(w);
    jw_kstr(w, "id", q->id);
    jw_kstr(w, "kind", q->kind);
    jw_kstr(w, "text", q->text);
    jw_kraw(w, "options", q->options);
    jw_kraw(w, "request", q->request);
    jw_kraw(w, "metadata", q->metadata);
    jw_kint(w, "asked", q->asked_us);
    jw_end_object(w);
}

static void part_write(json_writer *w, const node_part *p)
{
    jw_kbool(w, "thinking", p->is_thinking);
    jw_key(w, "text");
    jw_strn(w, p->text, p->n);
}

static void progress_write(json_writer *w, const node_message *m)
{
    jw_kint(w, "said", m->said);
    jw_kint(w, "begin", m->begin);
    jw_kint(w, "upto", m->upto);
}

static void run_write(json_writer *w, const node_message *m)
{
    jw_kstr(w, "host", m->host);
    jw_kstr(w, "session", m->session);
    jw_kstr(w, "tree", m->tree);
    jw_kint(w, "branch", m->branch);
    jw_kstr(w, "entry", m->entry_id);
    jw_kstr(w, "agent", m->agent);
    jw_kstr(w, "group", m->group);
    jw_kint(w, "first", m->first);
    jw_kint(w, "began", m->begun_us);
    progress_write(w, m);
    jw_key(w, "parts");
    jw_array(w);
    for (size_t i = 0; i < m->n_parts; i++) {
        jw_object(w);
        part_write(w, &m->parts[i]);
        jw_end_object(w);
    }
    jw_end_array(w);
    question_write(w, m->question);
    jw_kraw(w, "plan", m->plan);
}

static void command_write(json_writer *w, const node_command *c)
{
    jw_kstr(w, "op", c->operation);
    jw_kstr(w, "session", c->session);
    jw_kstr(w, "turn", c->turn);
    jw_kstr(w, "question", c->question);
    jw_kstr(w, "answer", c->answer);
    jw_kraw(w, "decision", c->decision);
    jw_kstr(w, "author", c->author);
    jw_kstr(w, "entry_id", c->entry_id);
    jw_kstr(w, "entry_format", c->entry_format);
    jw_kstr(w, "entry_body", c->entry_body);
    jw_kraw(w, "entry_parts", c->entry_parts);
    jw_kbool(w, "keep", c->keep);
}

static void members_write(json_writer *w, const node_message *m)
{
    switch (m->kind) {
    case NODE_RUN:
        run_write(w, m);
        return;
    case NODE_DELTA:
        jw_kint(w, "at", m->at);
        part_write(w, &m->delta);
        return;
    case NODE_APPENDED:
        progress_write(w, m);
        return;
    case NODE_QUESTION:
        question_write(w, m->question);
        return;
    case NODE_PLAN:
        jw_kraw(w, "plan", m->plan);
        return;
    case NODE_ENDED:
        progress_write(w, m);
        jw_kint(w, "status", m->status);
        jw_kstr(w, "error", m->error);
        jw_kint(w, "ended", m->ended_us);
        return;
    case NODE_SNAPSHOT_REQUEST:
        return;
    case NODE_HELLO:
    case NODE_HERE:
        jw_kstr(w, "host", m->host);
        return;
    case NODE_COMMAND:
        jw_kstr(w, "no", m->number);
        command_write(w, &m->command);
        return;
    case NODE_OUTCOME:
        jw_kstr(w, "no", m->number);
        jw_kstr(w, "did", m->outcome);
        return;
    }
}

void node_message_write(const node_message *m, buf *out)
{
    json_writer w;
    jw_init(&w, out, 0);
    jw_object(&w);
    jw_kstr(&w, "m", kind_names[m->kind]);
    if (m->turn)
        jw_kstr(&w, "turn", m->turn);
    members_write(&w, m);
}

void node_message_finish(buf *out, int64_t after)
{
    buf_printf(out, ",\"after\":%lld}", (long long)after);
}

/* ------------------------------------------------------------------ reading */

typedef struct source {
    arena *mem;
    json_doc doc;
} source;

static const json_node *node_of(const source *s, const char *name)
{
    return json_get(&s->doc, &s->doc.nodes[0], name);
}

static const char *text_of(const source *s, const char *name)
{
    return json_text(s->mem, &s->doc, node_of(s, name));
}

static int64_t int_of(const source *s, const char *name)
{
    int64_t v = 0;
    return json_int(&s->doc, node_of(s, name), &v) ? v : 0;
}

/* NULL: null or absent. */
static const char *raw_of(const source *s, const json_node *v)
{
    return v && !json_is(v, JSON_NULL) ? json_raw(s->mem, &s->doc, v) : NULL;
}

static const turn_question *question_read(const source *s)
{
    const json_node *v = node_of(s, "question");
    if (!json_is(v, JSON_OBJECT))
        return NULL;
    turn_question *q = arena_alloc(s->mem, sizeof *q);
    *q = (turn_question){.id = json_text(s->mem, &s->doc, json_get(&s->doc, v, "id")),
                         .kind = json_text(s->mem, &s->doc, json_get(&s->doc, v, "kind")),
                         .text = json_text(s->mem, &s->doc, json_get(&s->doc, v, "text")),
                         .options = raw_of(s, json_get(&s->doc, v, "options")),
                         .request = raw_of(s, json_get(&s->doc, v, "request")),
                         .metadata = raw_of(s, json_get(&s->doc, v, "metadata"))};
    json_int(&s->doc, json_get(&s->doc, v, "asked"), &q->asked_us);
    return q->id && q->kind && q->text ? q : NULL;
}

static node_part part_read(const source *s, const json_node *v)
{
    node_part p = {.is_thinking = json_is(json_get(&s->doc, v, "thinking"), JSON_TRUE),
                   .text = json_text(s->mem, &s->doc, json_get(&s->doc, v, "text"))};
    p.text = p.text ? p.text : "";
    p.n = strlen(p.text);
    return p;
}

static void parts_read(const source *s, node_message *out)
{
    const json_node *list = node_of(s, "parts");
    if (!json_is(list, JSON_ARRAY))
        return;
    out->parts = arena_array(s->mem, list->count + 1, sizeof *out->parts);
    for (const json_node *v = json_first(&s->doc, list); v; v = json_next(&s->doc, list, v))
        out->parts[out->n_parts++] = part_read(s, v);
}

static void run_read(const source *s, node_message *out)
{
    out->host = text_of(s, "host");
    out->session = text_of(s, "session");
    out->tree = text_of(s, "tree");
    out->branch = int_of(s, "branch");
    out->entry_id = text_of(s, "entry");
    out->agent = text_of(s, "agent");
    out->group = text_of(s, "group");
    out->first = int_of(s, "first");
    out->begun_us = int_of(s, "began");
    parts_read(s, out);
}

static void members_read(const source *s, node_message *out)
{
    out->turn = text_of(s, "turn");
    out->after = int_of(s, "after");
    out->said = int_of(s, "said");
    out->begin = int_of(s, "begin");
    out->upto = int_of(s, "upto");
    out->question = question_read(s);
    out->plan = raw_of(s, node_of(s, "plan"));
    out->number = text_of(s, "no");
    if (out->kind == NODE_RUN) {
        run_read(s, out);
    } else if (out->kind == NODE_DELTA) {
        out->delta = part_read(s, &s->doc.nodes[0]);
        out->at = int_of(s, "at");
    } else if (out->kind == NODE_ENDED) {
        out->status = (ramet_turn_status)int_of(s, "status");
        out->error = text_of(s, "error");
        out->ended_us = int_of(s, "ended");
    } else if (out->kind == NODE_COMMAND) {
        out->command = (node_command){.operation = text_of(s, "op"),
                                      .session = text_of(s, "session"),
                                      .turn = out->turn,
                                      .question = text_of(s, "question"),
                                      .answer = text_of(s, "answer"),
                                      .decision = raw_of(s, node_of(s, "decision")),
                                      .author = text_of(s, "author"),
                                      .entry_id = text_of(s, "entry_id"),
                                      .entry_format = text_of(s, "entry_format"),
                                      .entry_body = text_of(s, "entry_body"),
                                      .entry_parts = raw_of(s, node_of(s, "entry_parts")),
                                      .keep = json_is(node_of(s, "keep"), JSON_TRUE)};
    } else if (out->kind == NODE_OUTCOME) {
        out->outcome = text_of(s, "did");
    }
}

/* Whether a message has the members that its kind requires. */
static bool is_complete(const node_message *m)
{
    switch (m->kind) {
    case NODE_RUN:
    case NODE_DELTA:
    case NODE_APPENDED:
    case NODE_QUESTION:
    case NODE_PLAN:
    case NODE_ENDED:
    case NODE_SNAPSHOT_REQUEST:
        return m->turn != NULL;
    case NODE_HELLO:
    case NODE_HERE:
        return true;
    case NODE_COMMAND:
        return m->number && m->command.operation && m->command.session;
    case NODE_OUTCOME:
        return m->number && m->outcome;
    }
    return false;
}

bool node_message_read(arena *a, const char *text, size_t n, node_message *out)
{
    source s = {.mem = a};
    *out = (node_message){0};
    if (!json_parse(a, text, n, 0, &s.doc, NULL))
        return false;
    const char *name = text_of(&s, "m");
    size_t i = 0;
    while (name && i < N_KINDS && strcmp(kind_names[i], name) != 0)
        i++;
    if (!name || i == N_KINDS)
        return false;
    out->kind = (node_message_kind)i;
    members_read(&s, out);
    return is_complete(out);
}
