/* SPDX-License-Identifier: Apache-2.0
 *
 * object.c: the response object. Strict readers want every member, so those that the request did
 * not give have the values that OpenAI documents.
 */
#include "face/openai/openai_face.h"

#include <string.h>

/* What the request says, or a default. */
static const struct {
    const char *name, *value;
} echoed[] = {
    {"instructions", "null"},
    {"tools", "[]"},
    {"tool_choice", "\"auto\""},
    {"truncation", "\"disabled\""},
    {"parallel_tool_calls", "true"},
    {"top_p", "1"},
    {"presence_penalty", "0"},
    {"frequency_penalty", "0"},
    {"top_logprobs", "0"},
    {"temperature", "1"},
    {"max_output_tokens", "null"},
    {"max_tool_calls", "null"},
    {"store", "true"},
    {"background", "false"},
    {"service_tier", "\"default\""},
    {"metadata", "{}"},
    {"safety_identifier", "null"},
    {"prompt_cache_key", "null"},
    {"previous_response_id", "null"},
};

static const json_node *given(const json_doc *d, const char *name)
{
    const json_node *v = d->n ? json_get(d, d->nodes, name) : NULL;
    return v && !json_is(v, JSON_NULL) ? v : NULL;
}

static void text_write(json_writer *w, arena *a, const json_doc *d)
{
    const json_node *text = given(d, "text"), *format = json_get(d, text, "format");
    const json_node *verbosity = json_get(d, text, "verbosity");
    jw_key(w, "text");
    jw_object(w);
    jw_kraw(w, "format", format ? json_raw(a, d, format) : "{\"type\":\"text\"}");
    if (verbosity)
        jw_kraw(w, "verbosity", json_raw(a, d, verbosity));
    jw_end_object(w);
}

static void reasoning_write(json_writer *w, arena *a, const json_doc *d)
{
    const json_node *r = given(d, "reasoning");
    const json_node *effort = json_get(d, r, "effort"), *summary = json_get(d, r, "summary");
    jw_key(w, "reasoning");
    jw_object(w);
    jw_kraw(w, "effort", effort ? json_raw(a, d, effort) : NULL);
    jw_kraw(w, "summary", summary ? json_raw(a, d, summary) : NULL);
    jw_end_object(w);
}

static void usage_write(json_writer *w, const ramet_usage *u)
{
    jw_key(w, "usage");
    if (!u) {
        jw_null(w);
        return;
    }
    jw_object(w);
    jw_kint(w, "input_tokens", u->input);
    jw_key(w, "input_tokens_details");
    jw_object(w);
    jw_kint(w, "cached_tokens", u->cached);
    jw_end_object(w);
    jw_kint(w, "output_tokens", u->output);
    jw_key(w, "output_tokens_details");
    jw_object(w);
    jw_kint(w, "reasoning_tokens", 0);
    jw_end_object(w);
    jw_kint(w, "total_tokens", u->input + u->output);
    jw_end_object(w);
}

static void outcome_write(json_writer *w, const response_view *v)
{
    jw_key(w, "error");
    if (v->error) {
        jw_object(w);
        jw_kstr(w, "code", "server_error");
        jw_kstr(w, "message", v->error);
        jw_end_object(w);
    } else {
        jw_null(w);
    }
    jw_key(w, "incomplete_details");
    if (v->reason) {
        jw_object(w);
        jw_kstr(w, "reason", v->reason);
        jw_end_object(w);
    } else {
        jw_null(w);
    }
}

int64_t openai_created(const char *turn)
{
    uint8_t raw[16];
    int64_t ms = 0;
    if (!uuid_valid(turn) || !uuid_parse(turn, raw))
        return 0;
    for (int i = 0; i < 6; i++)
        ms = ms << 8 | raw[i];
    return ms / 1000;
}

void openai_response_write(json_writer *w, arena *a, const response_view *v)
{
    const json_doc *d = v->request;
    const json_node *model = given(d, "model");
    jw_object(w);
    jw_kstr(w, "id", openai_id(a, "resp_", v->turn));
    jw_kstr(w, "object", "response");
    jw_kint(w, "created_at", openai_created(v->turn));
    jw_kraw(w, "completed_at",
            v->completed ? arena_printf(a, "%lld", (long long)v->completed) : NULL);
    jw_kstr(w, "status", v->status);
    outcome_write(w, v);
    jw_kraw(w, "model", model ? json_raw(a, d, model) : json_quote(a, v->default_model));
    jw_key(w, "output");
    jw_array(w);
    for (size_t i = 0; i < v->n_items; i++)
        jw_raw(w, v->items[i]);
    jw_end_array(w);
    for (size_t i = 0; i < sizeof echoed / sizeof *echoed; i++) {
        const json_node *said = given(d, echoed[i].name);
        jw_kraw(w, echoed[i].name, said ? json_raw(a, d, said) : echoed[i].value);
    }
    text_write(w, a, d);
    reasoning_write(w, a, d);
    usage_write(w, v->usage);
    if (given(d, "in_conversation")) {
        jw_key(w, "conversation");
        jw_object(w);
        jw_kstr(w, "id", openai_id(a, "conv_", v->session));
        jw_end_object(w);
    }
    jw_end_object(w);
}
