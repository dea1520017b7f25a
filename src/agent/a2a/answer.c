/* SPDX-License-Identifier: Apache-2.0
 *
 * answer.c: reads the answers of a remote agent, in 0.3 or 1.0, as a stream or as a single
 * response, and passes them to the turn.
 *
 * Agents send the same text more than once: in pieces (status messages marked as partial, chunks of
 * an artifact), then as a whole message, then as the whole artifact. The text so far is kept, so
 * that only new text is passed on.
 *
 * Text is passed on as deltas, which become one entry. A message or an artifact with metadata is an
 * entry of its own, which keeps them: when it is complete, its deltas are claimed for it.
 */
#include "agent/a2a/a2a.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { EVENT_DEPTH = 100 };

void a2a_answer_init(a2a_answer *an, arena *a, const agent_sink *s)
{
    *an = (a2a_answer){.arena = a, .scratch = arena_new(), .sink = s};
    buf_init(&an->line, A2A_EVENT_BYTES);
    buf_init(&an->event, A2A_EVENT_BYTES);
    buf_init(&an->whole, A2A_EVENT_BYTES);
    buf_init(&an->said, A2A_ANSWER_BYTES);
    buf_init(&an->chunks, A2A_ANSWER_BYTES);
}

void a2a_answer_release(a2a_answer *an)
{
    buf_release(&an->line);
    buf_release(&an->event);
    buf_release(&an->whole);
    buf_release(&an->said);
    buf_release(&an->chunks);
    arena_free(an->scratch);
}

void a2a_answer_next(a2a_answer *an)
{
    buf_clear(&an->line);
    buf_clear(&an->event);
    buf_clear(&an->whole);
    an->state = A2A_OPEN;
    an->question = an->request = an->question_metadata = NULL;
    an->questions = 0;
    an->code = 0;
    an->reason[0] = 0;
}

static void fail(a2a_answer *an, const char *what, const char *text)
{
    an->state = A2A_FAILED;
    snprintf(an->reason, sizeof an->reason, "%s%s%s", what, text && *text ? ": " : "",
             text ? text : "");
}

/* ------------------------------------------------------------------ words */

static void text_emit(a2a_answer *an, const char *text, size_t n)
{
    if (!n || an->state == A2A_STOPPED)
        return;
    if (an->apart && n >= 2 && memcmp(text, "\n\n", 2) == 0) {
        text += 2;
        n -= 2;
    }
    if (an->after && an->said.n) {
        if (!an->apart && !an->sink->delta(an->sink->arg, "\n\n", 2))
            an->state = A2A_STOPPED;
        buf_puts(&an->said, "\n\n");
        an->from = an->said.n;
    }
    an->after = an->apart = false;
    buf_add(&an->said, text, n);
    if (an->said.over)
        fail(an, "the answer is over 16 MiB", NULL);
    else if (an->state != A2A_STOPPED && !an->sink->delta(an->sink->arg, text, n))
        an->state = A2A_STOPPED;
}

static void text_emit_piece(a2a_answer *an, const char *text)
{
    text_emit(an, text, strlen(text));
}

/* Handles a whole message, pieces of which may have arrived before. */
static void text_emit_whole(a2a_answer *an, const char *text)
{
    size_t n = strlen(text), came = an->after ? 0 : an->said.n - an->from;
    const char *pieces = an->said.data + an->said.n - came;
    if (came && came <= n && memcmp(text, pieces, came) == 0) {
        text_emit(an, text + came, n - came);
    } else if (!(came > n && memcmp(pieces + came - n, text, n) == 0)) {
        an->after = an->after || came;
        text_emit(an, text, n);
    }
    an->after = true;
}

/* Handles a whole artifact, which often repeats the text so far. */
static void text_emit_artifact(a2a_answer *an, const char *text)
{
    size_t n = strlen(text);
    bool there = n <= an->said.n && memcmp(an->said.data + an->said.n - n, text, n) == 0;
    if (there)
        an->after = true;
    else if (an->said.n && n > an->said.n && memcmp(text, an->said.data, an->said.n) == 0)
        text_emit(an, text + an->said.n, n - an->said.n);
    else
        text_emit_whole(an, text);
}

/* ------------------------------------------------------------------ parts */

static const char *text_of(const a2a_answer *an, const json_doc *d, const json_node *v,
                           const char *key)
{
    return json_text(an->scratch, d, json_get(d, v, key));
}

static bool text_is(const a2a_answer *an, const json_doc *d, const json_node *v, const char *text)
{
    const char *s = json_text(an->scratch, d, v);
    return s && strcmp(s, text) == 0;
}

static bool known(a2a_answer *an, const char *id, bool call)
{
    const char **items = call ? an->calls.items : an->seen.items;
    size_t n = call ? an->calls.n : an->seen.n;
    for (size_t i = 0; id && i < n; i++)
        if (strcmp(items[i], id) == 0)
            return true;
    if (!id)
        return false;
    const char *copy = arena_strdup(an->arena, id);
    if (call)
        VEC_PUSH(an->arena, &an->calls, copy);
    else
        VEC_PUSH(an->arena, &an->seen, copy);
    return false;
}

static void entry_was_made(a2a_answer *an)
{
    an->after = an->apart = true;
    an->recorded = an->said.n;
}

/* Records text that was passed on last as a message of its own, with its metadata. The same text
 * may come again, in an artifact or in the task at the end: then it is an entry already. */
static void text_record(a2a_answer *an, const char *text, const char *parts, const a2a_about *about)
{
    char id[UUID_TEXT];
    size_t n = strlen(text);
    bool pending =
        n && an->said.n - an->recorded >= n && memcmp(an->said.data + an->said.n - n, text, n) == 0;
    if (!pending || an->keeps || an->state == A2A_STOPPED || an->state == A2A_FAILED)
        return;
    agent_message m = {
        .id = uuid7(time_now_us(), id),
        .format = "a2a",
        .body = a2a_body_make(an->scratch, NULL, parts, about->metadata),
        .parts = arena_printf(an->scratch, "[{\"type\":\"text\",\"text\":%s}]",
                              json_quote(an->scratch, text)),
        .text = text,
        .usage = about->has_usage ? &about->usage : NULL,
    };
    if (m.body && !an->sink->message(an->sink->arg, &m))
        an->state = A2A_STOPPED;
    entry_was_made(an);
}

/* Reports a tool call or its result in ADK's form. False: it is neither. */
static bool tool_emit(a2a_answer *an, const json_doc *d, const json_node *part)
{
    const json_node *type = a2a_meta_get(d, part, "type"), *data = json_get(d, part, "data");
    bool call = text_is(an, d, type, "function_call");
    char made[AGENT_CALL_ID];
    if (!call && !text_is(an, d, type, "function_response"))
        return false;
    const char *id = text_of(an, d, data, "id"), *name = text_of(an, d, data, "name");
    if (an->keeps || known(an, id ? arena_printf(an->scratch, "%d %s", call, id) : NULL, true))
        return true;
    id = id ? id : agent_call_id(made);
    const json_node *value = json_get(d, data, call ? "args" : "response");
    const char *json = value ? json_raw(an->scratch, d, value) : "{}";
    bool on = call ? an->sink->tool_call(an->sink->arg, id, name ? name : "tool", json)
                   : an->sink->tool_result(an->sink->arg, id, json,
                                           json_is(json_get(d, part, "is_error"), JSON_TRUE));
    if (!on)
        an->state = A2A_STOPPED;
    entry_was_made(an);
    return true;
}

/* A message of ours with that part. */
static const char *value_body(const a2a_answer *an, const json_doc *d, const json_node *part,
                              const char *metadata, const char *id)
{
    buf b;
    json_writer w;
    buf_init(&b, A2A_EVENT_BYTES);
    jw_init(&w, &b, 0);
    jw_array(&w);
    a2a_part_write(an->scratch, &w, d, part, true);
    jw_end_array(&w);
    const char *parts = buf_keep_whole(&b, an->scratch);
    return parts ? a2a_body_make(an->scratch, id, parts, metadata) : NULL;
}

/* Reports a file or a value. The same one comes several times: in a message, in an artifact, in the
 * task at the end. */
static void value_emit(a2a_answer *an, const json_doc *d, const json_node *part,
                       const char *metadata)
{
    char id[UUID_TEXT];
    /* Without the metadata of the message, which differ from place to place. */
    const char *body = value_body(an, d, part, NULL, "");
    uint8_t digest[HASH_LEN];
    char hex[2 * HASH_LEN + 1];
    if (!body || an->keeps)
        return;
    sha_of(body, strlen(body), digest);
    hex_encode(digest, HASH_LEN, hex);
    if (known(an, arena_printf(an->scratch, "value %s", hex), true))
        return;
    agent_message m = {.id = uuid7(time_now_us(), id), .format = "a2a"};
    m.body = value_body(an, d, part, metadata, m.id);
    m.parts = a2a_part_normal(an->scratch, d, part);
    if (m.parts && !an->sink->message(an->sink->arg, &m))
        an->state = A2A_STOPPED;
    entry_was_made(an);
}

typedef void text_fn(a2a_answer *an, const char *text);

/* How the parts of a message or an artifact are passed on. */
typedef struct emission {
    text_fn *emit;
    a2a_about about; /* all of them */
    bool is_whole;   /* its text is complete */
} emission;

static void texts_flush(a2a_answer *an, a2a_texts *t, const emission *e)
{
    if (t->text.n && an->state != A2A_STOPPED)
        e->emit(an, t->text.data);
    buf_puts(&t->parts, "]");
    if (t->text.n && e->is_whole && (e->about.metadata || t->is_marked) && !t->parts.over)
        text_record(an, t->text.data, t->parts.data, &e->about);
    a2a_texts_clear(t);
}

/* Joins all text of a list of parts; reports tool calls, thoughts, files and values on the way. */
static void parts_emit(a2a_answer *an, const json_doc *d, const json_node *parts, const emission *e)
{
    a2a_texts texts;
    a2a_texts_begin(&texts);
    for (const json_node *p = json_first(d, parts); p; p = json_next(d, parts, p)) {
        const char *t = text_of(an, d, p, "text");
        if (!t && tool_emit(an, d, p))
            continue;
        if (t && json_is(a2a_meta_get(d, p, "thought"), JSON_TRUE)) {
            if (!an->sink->thinking(an->sink->arg, t, strlen(t)))
                an->state = A2A_STOPPED;
            continue;
        }
        if (!t && a2a_part_is_value(d, p)) {
            texts_flush(an, &texts, e);
            value_emit(an, d, p, e->about.metadata);
        }
        if (t)
            a2a_texts_add(&texts, an->scratch, d, p, t);
    }
    texts_flush(an, &texts, e);
    a2a_texts_release(&texts);
}

static const char *parts_text(const a2a_answer *an, const json_doc *d, const json_node *parts)
{
    const char *all = "";
    for (const json_node *p = json_first(d, parts); p; p = json_next(d, parts, p)) {
        const char *t = text_of(an, d, p, "text");
        all = t ? arena_printf(an->scratch, "%s%s%s", all, *all ? "\n" : "", t) : all;
    }
    return all;
}

/* ------------------------------------------------------------------ messages, artifacts */

static bool is_agents(const a2a_answer *an, const json_doc *d, const json_node *message)
{
    const json_node *role = json_get(d, message, "role");
    return text_is(an, d, role, "agent") || text_is(an, d, role, "ROLE_AGENT");
}

/* The artifact that came in chunks is complete. */
static void chunks_end(a2a_answer *an)
{
    buf b;
    json_writer w;
    if (an->chunks.n && an->chunk_metadata && !an->chunks.over) {
        buf_init(&b, A2A_EVENT_BYTES);
        jw_init(&w, &b, 0);
        jw_array(&w);
        jw_object(&w);
        jw_kstr(&w, "text", an->chunks.data);
        jw_end_object(&w);
        jw_end_array(&w);
        const char *parts = buf_keep_whole(&b, an->scratch);
        if (parts)
            text_record(an, an->chunks.data, parts, &(a2a_about){.metadata = an->chunk_metadata});
    }
    buf_clear(&an->chunks);
    an->chunk_metadata = NULL;
}

static void message_emit(a2a_answer *an, const json_doc *d, const json_node *message)
{
    const json_node *parts = json_get(d, message, "parts");
    bool partial = json_is(a2a_meta_get(d, message, "partial"), JSON_TRUE);
    if (!is_agents(an, d, message))
        return;
    if (!partial && known(an, text_of(an, d, message, "messageId"), false))
        return;
    if (!partial)
        chunks_end(an);
    emission e = {.emit = partial ? text_emit_piece : text_emit_whole, .is_whole = !partial};
    a2a_about_read(an->scratch, d, message, &e.about);
    parts_emit(an, d, parts, &e);
}

/* How an artifact comes: whole, or as a chunk, the first or a later one, perhaps the last. */
typedef struct chunk {
    bool is_whole, appends, is_last;
} chunk;

/* A chunk continues where the last one of its artifact ended. */
static void artifact_emit(a2a_answer *an, const json_doc *d, const json_node *artifact,
                          const chunk *c)
{
    const char *id = text_of(an, d, artifact, "artifactId");
    bool same = id && an->artifact && strcmp(id, an->artifact) == 0;
    if (!same || !c->appends)
        chunks_end(an);
    if (!same)
        an->artifact = arena_strdup(an->arena, id);
    if (c->appends && same && !an->apart)
        an->after = false;
    emission e = {.emit = c->appends ? text_emit_piece : text_emit_artifact,
                  .is_whole = c->is_whole};
    a2a_about_read(an->scratch, d, artifact, &e.about);
    const json_node *parts = json_get(d, artifact, "parts");
    parts_emit(an, d, parts, &e);
    if (c->is_whole)
        return;
    for (const json_node *p = json_first(d, parts); p; p = json_next(d, parts, p))
        buf_puts(&an->chunks, text_of(an, d, p, "text") ? text_of(an, d, p, "text") : "");
    if (e.about.metadata)
        an->chunk_metadata = arena_strdup(an->arena, e.about.metadata);
    if (c->is_last)
        chunks_end(an);
}

/* ------------------------------------------------------------------ states */

typedef enum { ST_GOES_ON, ST_COMPLETED, ST_ASKS, ST_FAILED, ST_CANCELED, ST_LOGIN } remote_state;

static remote_state state_read(const a2a_answer *an, const json_doc *d, const json_node *status)
{
    static const struct {
        const char *name;
        remote_state state;
    } names[] = {{"completed", ST_COMPLETED}, {"input-required", ST_ASKS},
                 {"failed", ST_FAILED},       {"rejected", ST_FAILED},
                 {"canceled", ST_CANCELED},   {"auth-required", ST_LOGIN}};
    const char *s = text_of(an, d, status, "state");
    char plain[40];
    snprintf(plain, sizeof plain, "%s",
             s && strncmp(s, "TASK_STATE_", 11) == 0 ? s + 11
             : s                                     ? s
                                                     : "");
    for (char *p = plain; *p; p++)
        *p = *p == '_' ? '-' : *p >= 'A' && *p <= 'Z' ? (char)(*p + 32) : *p;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].name, plain) == 0)
            return names[i].state;
    return ST_GOES_ON;
}

/* The questions of a call of the tool ask_user, one a line; counts them. */
static const char *questions_text(a2a_answer *an, const json_doc *d, const json_node *args)
{
    const json_node *list = json_get(d, args, "questions");
    const char *all = NULL;
    for (const json_node *v = json_first(d, list); v; v = json_next(d, list, v)) {
        const char *text = text_of(an, d, v, "question");
        all = arena_printf(an->arena, "%s%s%s", all ? all : "", all ? "\n" : "", text ? text : "?");
        an->questions++;
    }
    return all;
}

/* One confirmation in words. A tool of a sub-agent waits inside of the call of that agent. */
static const char *confirmation_text(a2a_answer *an, const json_doc *d, const json_node *data)
{
    const json_node *args = json_get(d, data, "args");
    const json_node *call = json_get(d, args, "originalFunctionCall");
    const json_node *payload = json_get(d, json_get(d, args, "toolConfirmation"), "payload");
    const json_node *inner = json_get(d, payload, "hitl_parts");
    if (json_is(inner, JSON_ARRAY) && inner->count == 1)
        call = json_get(d, json_first(d, inner), "originalFunctionCall");
    const char *name = text_of(an, d, call, "name");
    const json_node *given = json_get(d, call, "args");
    if (name && strcmp(name, "ask_user") == 0)
        return questions_text(an, d, given);
    return name ? arena_printf(an->arena, "May %s run with %s?", name,
                               given ? json_raw(an->scratch, d, given) : "{}")
                : "May it go on?";
}

/* ADK asks for confirmation with calls of this name, each of which contains a pending call. They
 * are passed on whole. Returns what they ask in words; NULL: there is none. */
static const char *confirmations_take(a2a_answer *an, const json_doc *d, const json_node *parts)
{
    const char *words = NULL, *request = NULL;
    bool all_ask = true;
    for (const json_node *p = json_first(d, parts); p; p = json_next(d, parts, p)) {
        const json_node *data = json_get(d, p, "data");
        if (!text_is(an, d, json_get(d, data, "name"), "adk_request_confirmation"))
            continue;
        size_t before = an->questions;
        const char *text = confirmation_text(an, d, data);
        all_ask = all_ask && an->questions > before;
        words = words ? arena_printf(an->arena, "%s\n%s", words, text ? text : "")
                      : (text ? text : "May it go on?");
        request = arena_printf(an->arena, "%s%s%s", request ? request : "", request ? "," : "",
                               json_raw(an->scratch, d, data));
    }
    if (!all_ask)
        an->questions = 0;
    an->request = request ? arena_printf(an->arena, "[%s]", request) : NULL;
    return words;
}

/* A resumed task may be reported in its old state first: ignore a question that has been
 * answered. */
static void question_take(a2a_answer *an, const json_doc *d, const json_node *message)
{
    if (known(an, text_of(an, d, message, "messageId"), false))
        return;
    const json_node *parts = json_get(d, message, "parts");
    const char *confirm = confirmations_take(an, d, parts), *text = parts_text(an, d, parts);
    an->question = *text     ? arena_strdup(an->arena, text)
                   : confirm ? confirm
                             : "The agent asks for more.";
    const char *metadata = a2a_metadata_keep(an->scratch, d, json_get(d, message, "metadata"));
    an->question_metadata = arena_strdup(an->arena, metadata);
    an->state = A2A_ASKS;
}

static void status_emit(a2a_answer *an, const json_doc *d, const json_node *status)
{
    const json_node *message = json_get(d, status, "message");
    const char *text = parts_text(an, d, json_get(d, message, "parts"));
    switch (state_read(an, d, status)) {
    case ST_GOES_ON:
        message_emit(an, d, message);
        break;
    case ST_COMPLETED:
        message_emit(an, d, message);
        chunks_end(an);
        if (an->state == A2A_OPEN)
            an->state = A2A_DONE;
        break;
    case ST_ASKS:
        question_take(an, d, message);
        break;
    case ST_FAILED:
        fail(an, "the agent failed", text);
        break;
    case ST_CANCELED:
        fail(an, "the agent was stopped", text);
        break;
    case ST_LOGIN:
        fail(an, "the agent wants its user to sign in, which cannot be done here", text);
        break;
    }
}

/* Reports the messages of a task that follow the user's last one, but not the message of its
 * status, which follows. */
static void history_emit(a2a_answer *an, const json_doc *d, const json_node *history,
                         const json_node *status)
{
    const json_node *from = NULL;
    const char *last = text_of(an, d, json_get(d, status, "message"), "messageId");
    for (const json_node *m = json_first(d, history); m; m = json_next(d, history, m))
        if (!is_agents(an, d, m))
            from = m;
    for (const json_node *m = from ? json_next(d, history, from) : NULL; m;
         m = json_next(d, history, m))
        if (!last || !text_is(an, d, json_get(d, m, "messageId"), last))
            message_emit(an, d, m);
}

static void task_emit(a2a_answer *an, const json_doc *d, const json_node *task)
{
    const json_node *status = json_get(d, task, "status"), *list = json_get(d, task, "artifacts");
    remote_state state = state_read(an, d, status);
    const char *id = text_of(an, d, task, "id");
    if (id)
        an->task = arena_strdup(an->arena, id);
    if (!an->said.n && state != ST_GOES_ON)
        history_emit(an, d, json_get(d, task, "history"), status);
    for (const json_node *v = json_first(d, list); v; v = json_next(d, list, v))
        artifact_emit(an, d, v, &(chunk){.is_whole = true});
    status_emit(an, d, status);
}

/* ------------------------------------------------------------------ events */

static void ids_take(a2a_answer *an, const json_doc *d, const json_node *v)
{
    const char *task = text_of(an, d, v, "taskId"), *context = text_of(an, d, v, "contextId");
    if (task && *task && !an->task)
        an->task = arena_strdup(an->arena, task);
    if (context && *context && !an->context)
        an->context = arena_strdup(an->arena, context);
}

/* The type is in `kind` in 0.3, in the name of the member in 1.0; a bare task may come in both. */
static void result_read(a2a_answer *an, const json_doc *d, const json_node *result)
{
    static const char *const names[4][2] = {{"task", "task"},
                                            {"message", "message"},
                                            {"status-update", "statusUpdate"},
                                            {"artifact-update", "artifactUpdate"}};
    const json_node *kind = json_get(d, result, "kind"), *v = NULL;
    size_t which = 0;
    for (size_t i = 0; !v && i < 4; i++) {
        v = kind ? text_is(an, d, kind, names[i][0]) ? result : NULL
                 : json_get(d, result, names[i][1]);
        which = i;
    }
    if (!v && !kind && json_get(d, result, "status"))
        v = result, which = 0;
    if (!v)
        return;
    chunk how = {.appends = json_is(json_get(d, v, "append"), JSON_TRUE),
                 .is_last = json_is(json_get(d, v, "lastChunk"), JSON_TRUE)};
    how.is_whole = how.is_last && !how.appends;
    ids_take(an, d, v);
    if (which == 0)
        task_emit(an, d, v);
    else if (which == 2)
        status_emit(an, d, json_get(d, v, "status"));
    else if (which == 3)
        artifact_emit(an, d, json_get(d, v, "artifact"), &how);
    else {
        message_emit(an, d, v);
        if (an->state == A2A_OPEN)
            an->state = A2A_DONE;
    }
}

static void response_read(a2a_answer *an, const char *text, size_t n)
{
    json_doc d;
    arena_reset(an->scratch);
    if (!json_parse(an->scratch, text, n, EVENT_DEPTH, &d, NULL) || d.nodes[0].has_nul) {
        fail(an, "the agent sent what is no JSON", NULL);
        return;
    }
    const json_node *error = json_get(&d, &d.nodes[0], "error");
    const json_node *result = an->is_bare ? &d.nodes[0] : json_get(&d, &d.nodes[0], "result");
    if (json_is(error, JSON_OBJECT)) {
        json_int(&d, json_get(&d, error, "code"), &an->code);
        fail(an, "the agent refused", text_of(an, &d, error, "message"));
    } else if (json_is(result, JSON_OBJECT)) {
        result_read(an, &d, result);
    } else {
        fail(an, "the agent sent neither a result nor an error", NULL);
    }
}

bool a2a_answer_refuse(a2a_answer *an, long status, const char *body, size_t n)
{
    json_doc d;
    arena_reset(an->scratch);
    if (!an->is_bare || !json_parse(an->scratch, body, n, EVENT_DEPTH, &d, NULL))
        return false;
    const char *text = text_of(an, &d, json_get(&d, &d.nodes[0], "error"), "message");
    if (!text)
        return false;
    an->code = status;
    fail(an, "the agent refused", text);
    return true;
}

/* ------------------------------------------------------------------ bytes */

/* Reads a line of an event stream. */
static void line_read(a2a_answer *an, const char *s, size_t n)
{
    if (n && s[n - 1] == '\r')
        n--;
    if (!n) {
        if (an->event.n)
            response_read(an, an->event.data, an->event.n);
        buf_clear(&an->event);
    } else if (n >= 5 && memcmp(s, "data:", 5) == 0) {
        size_t skip = n > 5 && s[5] == ' ' ? 6 : 5;
        if (an->event.n)
            buf_putc(&an->event, '\n');
        buf_add(&an->event, s + skip, n - skip);
    }
}

static bool stream_add(a2a_answer *an, const char *p, size_t n)
{
    while (n && an->state == A2A_OPEN) {
        const char *end = memchr(p, '\n', n);
        size_t len = end ? (size_t)(end - p) : n;
        buf_add(&an->line, p, len);
        if (end && !an->line.over) {
            line_read(an, an->line.data, an->line.n);
            buf_clear(&an->line);
        }
        if (an->line.over || an->event.over)
            fail(an, "the agent sent an event over 16 MiB", NULL);
        len += end != NULL;
        p += len;
        n -= len;
    }
    return an->state == A2A_OPEN;
}

bool a2a_answer_add(a2a_answer *an, const char *type, const char *p, size_t n)
{
    an->bytes += n;
    if (an->bytes > A2A_STREAM_BYTES)
        fail(an, "the agent sent over 512 MiB", NULL);
    else if (strncasecmp(type, "text/event-stream", 17) == 0)
        return stream_add(an, p, n);
    else
        buf_add(&an->whole, p, n);
    if (an->whole.over)
        fail(an, "the agent sent an answer over 16 MiB", NULL);
    return an->state == A2A_OPEN;
}

void a2a_answer_end(a2a_answer *an)
{
    if (an->state == A2A_OPEN && an->whole.n)
        response_read(an, an->whole.data, an->whole.n);
    else if (an->state == A2A_OPEN && an->event.n)
        response_read(an, an->event.data, an->event.n);
}
