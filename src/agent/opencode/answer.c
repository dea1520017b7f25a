/* SPDX-License-Identifier: Apache-2.0
 *
 * answer.c: reports an answer of OpenCode to the sink.
 *
 * OpenCode tells a part again and again as it grows, whole (message.part.updated) and in pieces
 * (message.part.delta), and does not repeat events after a lost connection. So what was reported of
 * each part is kept, and whole messages can be fed in at any time to catch up.
 */
#include "agent/opencode/opencode.h"

#include <string.h>

void oc_answer_init(oc_answer *an, arena *a, const agent_sink *s, const char *session,
                    const char *turn)
{
    *an = (oc_answer){.arena = a, .scratch = arena_new(), .sink = s};
    an->session = arena_strdup(a, session);
    an->turn = turn;
    oc_answer_child(an, session);
}

void oc_answer_release(oc_answer *an)
{
    arena_free(an->scratch);
}

/* ------------------------------------------------------------------ lists */

static bool listed(const char *const *items, size_t n, const char *id)
{
    for (size_t i = 0; id && i < n; i++)
        if (strcmp(items[i], id) == 0)
            return true;
    return false;
}

void oc_answer_child(oc_answer *an, const char *id)
{
    const char *copy = arena_strdup(an->arena, id);
    if (copy && !listed(an->sessions.items, an->sessions.n, copy))
        VEC_PUSH(an->arena, &an->sessions, copy);
}

static bool is_own_session(const oc_answer *an, const char *id)
{
    return id && strcmp(id, an->session) == 0;
}

static void prompt_add(oc_answer *an, const char *id)
{
    const char *copy = arena_strdup(an->arena, id);
    if (!listed(an->prompts.items, an->prompts.n, copy))
        VEC_PUSH(an->arena, &an->prompts, copy);
}

static oc_message *message_find(oc_answer *an, const char *id)
{
    for (size_t i = an->answers.n; id && i-- > 0;)
        if (strcmp(an->answers.items[i].id, id) == 0)
            return &an->answers.items[i];
    return NULL;
}

static oc_part *part_find(oc_answer *an, const char *id)
{
    for (size_t i = an->parts.n; i-- > 0;)
        if (strcmp(an->parts.items[i].id, id) == 0)
            return &an->parts.items[i];
    oc_part part = {.id = arena_strdup(an->arena, id), .has_gap = an->is_catching_up};
    VEC_PUSH(an->arena, &an->parts, part);
    return &an->parts.items[an->parts.n - 1];
}

static void stop_if(oc_answer *an, bool stop)
{
    if (stop)
        an->state = OC_STOPPED;
}

/* ------------------------------------------------------------------ messages */

static void info_error(oc_answer *an, oc_message *m, const json_doc *d, const json_node *error)
{
    const char *name = oc_text(an->scratch, d, error, "name");
    const char *text = oc_text(an->scratch, d, json_get(d, error, "data"), "message");
    m->aborted = name && strcmp(name, "MessageAbortedError") == 0;
    m->error = arena_strdup(an->arena, text && *text ? text : name ? name : "an unknown error");
}

/* The assistant's message: whose answer it is, and what it cost. */
static void info_take(oc_answer *an, const json_doc *d, const json_node *info)
{
    const char *id = oc_text(an->scratch, d, info, "id");
    const char *parent = oc_text(an->scratch, d, info, "parentID");
    const json_node *tokens = json_get(d, info, "tokens"), *cache = json_get(d, tokens, "cache");
    const json_node *error = json_get(d, info, "error");
    int64_t write = 0, reasoning = 0;
    if (!id || !listed(an->prompts.items, an->prompts.n, parent) ||
        json_is(json_get(d, info, "summary"), JSON_TRUE))
        return;
    oc_message *m = message_find(an, id);
    if (!m) {
        oc_message fresh = {.id = arena_strdup(an->arena, id)};
        VEC_PUSH(an->arena, &an->answers, fresh);
        m = &an->answers.items[an->answers.n - 1];
    }
    json_int(d, json_get(d, tokens, "input"), &m->input);
    json_int(d, json_get(d, tokens, "output"), &m->output);
    json_int(d, json_get(d, tokens, "reasoning"), &reasoning);
    json_int(d, json_get(d, cache, "read"), &m->cached);
    json_int(d, json_get(d, cache, "write"), &write);
    m->input += m->cached + write;
    m->output += reasoning;
    if (json_is(json_get(d, info, "cost"), JSON_NUMBER))
        json_nano(d, json_get(d, info, "cost"), &m->cost);
    m->is_over = json_get(d, json_get(d, info, "time"), "completed") != NULL;
    if (json_is(error, JSON_OBJECT))
        info_error(an, m, d, error);
}

/* ------------------------------------------------------------------ parts */

/* Reports text of a part. A new text right behind another one begins a paragraph. */
static void text_say(oc_answer *an, oc_part *p, const char *text, size_t n)
{
    const agent_sink *s = an->sink;
    if (!n || an->state == OC_STOPPED)
        return;
    if (!p->is_thinking && !p->said && an->speaking && strcmp(an->speaking, p->id) != 0)
        stop_if(an, !s->delta(s->arg, "\n\n", 2));
    stop_if(an, p->is_thinking ? !s->thinking(s->arg, text, n) : !s->delta(s->arg, text, n));
    p->said += n;
    if (!p->is_thinking)
        an->speaking = p->id;
}

static void text_take(oc_answer *an, const json_doc *d, const json_node *part, bool is_thinking)
{
    size_t n = 0;
    const char *text = json_textn(an->scratch, d, json_get(d, part, "text"), &n);
    oc_part *p = part_find(an, oc_text(an->scratch, d, part, "id"));
    p->is_thinking = is_thinking;
    if (text && n > p->said)
        text_say(an, p, text + p->said, n - p->said);
}

static void tool_take(oc_answer *an, const json_doc *d, const json_node *part)
{
    const agent_sink *s = an->sink;
    arena *a = an->scratch;
    const json_node *state = json_get(d, part, "state"), *input = json_get(d, state, "input");
    const char *status = oc_text(a, d, state, "status"), *call = oc_text(a, d, part, "callID");
    const char *name = oc_text(a, d, part, "tool"), *output = oc_text(a, d, state, "output");
    const char *error = oc_text(a, d, state, "error");
    oc_part *p = part_find(an, oc_text(a, d, part, "id"));
    bool failed = status && strcmp(status, "error") == 0;
    bool over = failed || (status && strcmp(status, "completed") == 0);
    if (!call || p->settled || (!over && !(status && strcmp(status, "running") == 0)))
        return;
    if (!p->called) {
        stop_if(an, !s->tool_call(s->arg, call, name ? name : "tool",
                                  input ? json_raw(a, d, input) : "{}"));
        p->called = true;
        an->n_calls++;
        an->speaking = NULL;
    }
    if (!over || an->state == OC_STOPPED)
        return;
    const char *text = failed ? error : output;
    stop_if(an, !s->tool_result(s->arg, call, json_quote(a, text ? text : ""), failed));
    p->settled = true;
    an->speaking = NULL;
}

/* A part of a message of the user: is it our prompt, or what OpenCode says to itself to go on? */
static void prompt_take(oc_answer *an, const json_doc *d, const json_node *part)
{
    const char *message = oc_text(an->scratch, d, part, "messageID");
    const json_node *mark = json_get(d, json_get(d, part, "metadata"), "ramet");
    if (oc_is(an->scratch, d, mark, "turn", an->turn)) {
        an->message = arena_strdup(an->arena, message);
        prompt_add(an, message);
    } else if (an->message && !mark && strcmp(message, an->message) > 0 &&
               (json_is(json_get(d, part, "synthetic"), JSON_TRUE) ||
                oc_is(an->scratch, d, part, "type", "compaction"))) {
        prompt_add(an, message);
    }
}

static void part_take(oc_answer *an, const json_doc *d, const json_node *part)
{
    const char *type = oc_text(an->scratch, d, part, "type");
    const char *message = oc_text(an->scratch, d, part, "messageID");
    if (!type || !message || !oc_text(an->scratch, d, part, "id"))
        return;
    if (!message_find(an, message)) {
        prompt_take(an, d, part);
        return;
    }
    if (strcmp(type, "text") == 0)
        text_take(an, d, part, false);
    else if (strcmp(type, "reasoning") == 0)
        text_take(an, d, part, true);
    else if (strcmp(type, "tool") == 0)
        tool_take(an, d, part);
    else if (strcmp(type, "patch") == 0)
        an->has_changes = true;
}

void oc_answer_messages(oc_answer *an, const json_doc *d, const json_node *list)
{
    arena_reset(an->scratch);
    for (size_t i = 0; i < an->parts.n; i++)
        an->parts.items[i].has_gap = true;
    an->is_catching_up = true;
    for (const json_node *m = json_is(list, JSON_ARRAY) ? json_first(d, list) : NULL; m;
         m = json_next(d, list, m)) {
        const json_node *info = json_get(d, m, "info"), *parts = json_get(d, m, "parts");
        if (oc_is(an->scratch, d, info, "role", "assistant"))
            info_take(an, d, info);
        for (const json_node *p = json_is(parts, JSON_ARRAY) ? json_first(d, parts) : NULL; p;
             p = json_next(d, parts, p))
            part_take(an, d, p);
    }
    an->is_catching_up = false;
}

/* A piece of a part that was told before. */
static void delta_take(oc_answer *an, const json_doc *d, const json_node *props)
{
    const char *id = oc_text(an->scratch, d, props, "partID");
    const char *message = oc_text(an->scratch, d, props, "messageID");
    size_t n = 0;
    const char *text = json_textn(an->scratch, d, json_get(d, props, "delta"), &n);
    if (!id || !text || !message_find(an, message) ||
        !oc_is(an->scratch, d, props, "field", "text"))
        return;
    for (size_t i = an->parts.n; i-- > 0;)
        if (strcmp(an->parts.items[i].id, id) == 0) {
            oc_part *p = &an->parts.items[i];
            if (!p->has_gap)
                text_say(an, p, text, n);
            return;
        }
}

/* ------------------------------------------------------------------ questions */

static void permission_take(oc_answer *an, const json_doc *d, const json_node *props)
{
    arena *a = an->arena;
    const char *what = oc_text(a, d, props, "permission");
    const json_node *patterns = json_get(d, props, "patterns");
    buf text;
    buf_init(&text, 64 << 10);
    buf_printf(&text, "May OpenCode use %.100s", what ? what : "a tool");
    size_t n = 0;
    for (const json_node *v = json_is(patterns, JSON_ARRAY) ? json_first(d, patterns) : NULL;
         v && n < 20; v = json_next(d, patterns, v)) {
        const char *s = json_text(an->scratch, d, v);
        buf_printf(&text, "%s%.2000s", n++ ? ", " : ": ", s ? s : "");
    }
    buf_puts(&text, n ? "" : "?");
    an->question.text = buf_keep(&text, a);
    an->question.is_permission = true;
    an->question.options = "[{\"id\":\"once\",\"name\":\"Allow once\"},"
                           "{\"id\":\"always\",\"name\":\"Always allow\"},"
                           "{\"id\":\"reject\",\"name\":\"Reject\"}]";
}

static void question_take(oc_answer *an, const json_doc *d, const json_node *props,
                          bool is_permission)
{
    const char *id = oc_text(an->scratch, d, props, "id");
    const char *session = oc_text(an->scratch, d, props, "sessionID");
    if (!id || an->state != OC_OPEN || !listed(an->sessions.items, an->sessions.n, session) ||
        listed(an->asked.items, an->asked.n, id))
        return;
    const char *copy = arena_strdup(an->arena, id);
    VEC_PUSH(an->arena, &an->asked, copy);
    an->question.id = copy;
    an->question.is_permission = false;
    an->question.raw = json_raw(an->arena, d, props);
    if (is_permission)
        permission_take(an, d, props);
    an->state = OC_ASKS;
}

void oc_answer_questions(oc_answer *an, const json_doc *d, const json_node *list,
                         bool is_permission)
{
    for (const json_node *v = json_is(list, JSON_ARRAY) ? json_first(d, list) : NULL; v;
         v = json_next(d, list, v))
        question_take(an, d, v, is_permission);
}

/* ------------------------------------------------------------------ events */

static void plan_take(oc_answer *an, const json_doc *d, const json_node *props)
{
    const json_node *list = json_get(d, props, "todos");
    if (json_is(list, JSON_ARRAY))
        stop_if(an, !an->sink->plan(an->sink->arg,
                                    arena_printf(an->scratch, "{\"type\":\"plan\",\"entries\":%s}",
                                                 json_raw(an->scratch, d, list))));
}

static void session_event(oc_answer *an, const json_doc *d, const char *type,
                          const json_node *props)
{
    arena *a = an->scratch;
    if (strcmp(type, "message.updated") == 0) {
        const json_node *info = json_get(d, props, "info");
        if (oc_is(a, d, info, "role", "assistant"))
            info_take(an, d, info);
    } else if (strcmp(type, "message.part.updated") == 0) {
        part_take(an, d, json_get(d, props, "part"));
    } else if (strcmp(type, "message.part.delta") == 0) {
        delta_take(an, d, props);
    } else if (strcmp(type, "todo.updated") == 0) {
        plan_take(an, d, props);
    } else if (strcmp(type, "session.error") == 0) {
        const json_node *error = json_get(d, props, "error");
        const char *text = oc_text(a, d, json_get(d, error, "data"), "message");
        const char *name = oc_text(a, d, error, "name");
        an->error = arena_strdup(an->arena, text && *text ? text : name ? name : "unknown");
    } else if (strcmp(type, "session.idle") == 0 ||
               (strcmp(type, "session.status") == 0 &&
                oc_is(a, d, json_get(d, props, "status"), "type", "idle"))) {
        if (an->state == OC_OPEN && (an->message || an->error))
            an->state = OC_IDLE;
    }
}

void oc_answer_event(oc_answer *an, const char *text, size_t n)
{
    json_doc d;
    arena_reset(an->scratch);
    if (!json_parse(an->scratch, text, n, 0, &d, NULL))
        return;
    const char *type = oc_text(an->scratch, &d, d.nodes, "type");
    const json_node *props = json_get(&d, d.nodes, "properties");
    if (!type || !props)
        return;
    const char *session = oc_text(an->scratch, &d, props, "sessionID");
    if (strcmp(type, "session.created") == 0) {
        const json_node *info = json_get(&d, props, "info");
        if (listed(an->sessions.items, an->sessions.n, oc_text(an->scratch, &d, info, "parentID")))
            oc_answer_child(an, oc_text(an->scratch, &d, info, "id"));
    } else if (strcmp(type, "permission.asked") == 0 || strcmp(type, "question.asked") == 0) {
        question_take(an, &d, props, type[0] == 'p');
    } else if (is_own_session(an, session)) {
        session_event(an, &d, type, props);
    }
}
