/* SPDX-License-Identifier: Apache-2.0
 *
 * question.c: questions to the user and their answers as parts of A2A messages, and the data parts
 * by which entries mark them. Decision 0080 has their form.
 */
#include "form/a2a/a2a_internal.h"

#include <string.h>
#include <strings.h>

const char *a2a_own_key(const a2a_view *view, const char *kagent, const char *urn)
{
    return view->stamp_key ? urn : kagent;
}

/* The part that marks a turn as cut off. */
static bool is_cut_mark(const json_doc *d, const json_node *v)
{
    const json_node *data = json_get(d, v, "data");
    return json_is(json_get(d, data, "turn"), JSON_STRING) &&
           data->count == (json_get(d, data, "error") ? 2u : 1u);
}

a2a_mark a2a_mark_of(arena *a, const json_doc *d, const json_node *v)
{
    static const struct {
        const char *type, *with;
        a2a_mark mark;
    } marks[] = {{"plan", "entries", A2A_MARK_PLAN},
                 {"question", "kind", A2A_MARK_QUESTION},
                 {"answer", "question_id", A2A_MARK_ANSWER}};
    const json_node *data = json_get(d, v, "data");
    const char *type = json_text(a, d, json_get(d, data, "type"));
    if (is_cut_mark(d, v))
        return A2A_MARK_CUT;
    for (size_t i = 0; type && i < sizeof marks / sizeof *marks; i++)
        if (strcmp(type, marks[i].type) == 0 && json_get(d, data, marks[i].with))
            return marks[i].mark;
    return A2A_MARK_NONE;
}

/* Begins a data part of 0.3 or 1.0. */
static void data_begin(json_writer *w, const a2a_view *view)
{
    jw_object(w);
    if (view->version == A2A_03)
        jw_kstr(w, "kind", "data");
    jw_key(w, "data");
}

/* Writes a call with which ADK asks for confirmation. */
static void confirmation_write(json_writer *w, const a2a_view *view, const char *json)
{
    data_begin(w, view);
    jw_raw(w, json);
    jw_key(w, "metadata");
    jw_object(w);
    jw_kstr(w, a2a_own_key(view, "kagent_type", URN "type"), "function_call");
    jw_kbool(w, a2a_own_key(view, "kagent_is_long_running", URN "isLongRunning"), true);
    jw_end_object(w);
    jw_end_object(w);
}

/* A question of an agent that knows nothing of ADK, as kagent's page wants it: a form for an input,
 * else an approval. */
static const char *confirmation_make(arena *a, const json_doc *d, const json_node *q)
{
    buf b;
    json_writer w;
    const char *id = json_text(a, d, json_get(d, q, "id")),
               *text = json_text(a, d, json_get(d, q, "text"));
    const char *kind = json_text(a, d, json_get(d, q, "kind"));
    bool form = kind && strcmp(kind, "input") == 0;
    const json_node *options = json_get(d, q, "options");
    buf_init(&b, SIZE_MAX / 4);
    jw_init(&w, &b, 0);
    jw_object(&w);
    jw_kstr(&w, "id", id);
    jw_kstr(&w, "name", "adk_request_confirmation");
    jw_key(&w, "args");
    jw_object(&w);
    jw_key(&w, "originalFunctionCall");
    jw_object(&w);
    jw_kstr(&w, "id", id);
    jw_kstr(&w, "name", form ? "ask_user" : "permission");
    jw_key(&w, "args");
    jw_object(&w);
    if (form) {
        jw_key(&w, "questions");
        jw_array(&w);
        jw_object(&w);
    }
    jw_kstr(&w, "question", text ? text : "");
    if (options && !form)
        jw_kraw(&w, "options", json_raw(a, d, options));
    if (form) {
        jw_end_object(&w);
        jw_end_array(&w);
    }
    jw_end_object(&w);
    jw_end_object(&w);
    jw_key(&w, "toolConfirmation");
    jw_object(&w);
    jw_kstr(&w, "hint", text ? text : "");
    jw_kbool(&w, "confirmed", false);
    jw_end_object(&w);
    jw_end_object(&w);
    jw_end_object(&w);
    return buf_keep(&b, a);
}

size_t a2a_question_write(arena *a, json_writer *w, const a2a_view *view, const json_doc *d,
                          const json_node *q)
{
    const json_node *request = json_get(d, q, "request"), *options = json_get(d, q, "options");
    size_t n = 0;
    for (const json_node *v = json_first(d, request); v; v = json_next(d, request, v), n++)
        confirmation_write(w, view, json_raw(a, d, v));
    if (!n && view->page) {
        confirmation_write(w, view, confirmation_make(a, d, q));
        n++;
    }
    if (options && !view->page) {
        data_begin(w, view);
        jw_object(w);
        jw_kraw(w, "options", json_raw(a, d, options));
        jw_end_object(w);
        jw_end_object(w);
        n++;
    }
    return n;
}

size_t a2a_decision_write(json_writer *w, const a2a_view *view, const char *text)
{
    bool no = strncasecmp(text, "reject", 6) == 0 || strncasecmp(text, "den", 3) == 0 ||
              strcasecmp(text, "no") == 0;
    if (!view->page)
        return 0;
    data_begin(w, view);
    jw_object(w);
    jw_kstr(w, "decision_type", no ? "reject" : "approve");
    jw_key(w, "ask_user_answers");
    jw_array(w);
    jw_object(w);
    jw_key(w, "answer");
    jw_array(w);
    jw_str(w, text);
    jw_end_array(w);
    jw_end_object(w);
    jw_end_array(w);
    jw_end_object(w);
    jw_end_object(w);
    return 1;
}

bool a2a_entry_asks(const ramet_entry *e)
{
    json_doc d;
    if (e->role != RAMET_ASSISTANT || !e->parts || !strstr(e->parts, "\"question\""))
        return false;
    arena *a = arena_new();
    bool asks = false;
    if (json_parse(a, e->parts, strlen(e->parts), SIZE_MAX, &d, NULL))
        for (const json_node *v = json_first(&d, &d.nodes[0]); v; v = json_next(&d, &d.nodes[0], v))
            asks = asks || a2a_mark_of(a, &d, v) == A2A_MARK_QUESTION;
    arena_free(a);
    return asks;
}
