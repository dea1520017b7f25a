/* SPDX-License-Identifier: Apache-2.0
 *
 * settings.c: the members of a request besides its input: checked, as options of the agent, and as
 * they are kept with the turn.
 *
 * Options of agents have the names of chat completions, so the settings of a response are
 * translated. What no agent here can do is refused by name, never dropped.
 */
#include "face/openai/openai_face.h"

#include <string.h>

#define unsupported(q, field, ...) openai_refuse(q, "unsupported_value", field, __VA_ARGS__)

static const char *text_of(request *q, const json_node *v, const char *key)
{
    return json_text(q->arena, &q->json, json_get(&q->json, v, key));
}

static bool is_given(const json_node *v)
{
    return v && !json_is(v, JSON_NULL);
}

/* ------------------------------------------------------------------ tools */

static void function_begin(json_writer *w, const char *name)
{
    jw_object(w);
    jw_kstr(w, "type", "function");
    jw_key(w, "function");
    jw_object(w);
    jw_kstr(w, "name", name);
}

static void function_end(json_writer *w)
{
    jw_end_object(w);
    jw_end_object(w);
}

/* A custom tool gets a text: for a model that knows functions alone, the only member of an
 * object. */
static void custom_write(request *q, json_writer *w, const json_node *v, const char *name)
{
    const json_node *about = json_get(&q->json, v, "description");
    function_begin(w, name);
    if (is_given(about))
        jw_kraw(w, "description", json_raw(q->arena, &q->json, about));
    jw_kraw(w, "parameters",
            "{\"type\":\"object\",\"properties\":{\"input\":{\"type\":\"string\"}},"
            "\"required\":[\"input\"],\"additionalProperties\":false}");
    function_end(w);
}

static void function_write(request *q, json_writer *w, const json_node *v, const char *name)
{
    static const char *const members[] = {"description", "parameters", "strict"};
    function_begin(w, name);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const json_node *m = json_get(&q->json, v, members[i]);
        if (is_given(m))
            jw_kraw(w, members[i], json_raw(q->arena, &q->json, m));
    }
    function_end(w);
}

/* `chat`: a tool of chat completions, which is passed on as it is. */
static bool tool_write(request *q, json_writer *w, const json_node *v, const char *field, bool chat)
{
    const char *type = text_of(q, v, "type");
    const json_node *body = chat ? json_get(&q->json, v, "function") : v;
    const char *name = body ? text_of(q, body, "name") : NULL;
    bool custom = type && strcmp(type, "custom") == 0 && !chat;
    if (!type || (strcmp(type, "function") != 0 && !custom))
        return unsupported(q, field,
                           "the tool '%.40s' is not available here; tools of type "
                           "function, which the client runs, are",
                           type ? type : "");
    if (!name || !*name || strlen(name) > 128)
        return unsupported(q, field, "%s: a tool needs a name of at most 128 bytes", field);
    if (chat)
        jw_raw(w, json_raw(q->arena, &q->json, v));
    else if (custom)
        custom_write(q, w, v, name);
    else
        function_write(q, w, v, name);
    return true;
}

static bool tools_write(request *q, json_writer *w, bool chat)
{
    const json_node *tools = face_member(q, "tools");
    size_t i = 0;
    if (!is_given(tools) || !tools->count)
        return true;
    if (!json_is(tools, JSON_ARRAY))
        return unsupported(q, "tools", "%s must be a list", "tools");
    jw_key(w, "tools");
    jw_array(w);
    for (const json_node *v = json_first(&q->json, tools); v;
         v = json_next(&q->json, tools, v), i++)
        if (!tool_write(q, w, v, arena_printf(q->arena, "tools[%zu]", i), chat))
            return false;
    jw_end_array(w);
    if (face_member(q, "parallel_tool_calls"))
        jw_kbool(w, "parallel_tool_calls", face_bool(q, "parallel_tool_calls"));
    return true;
}

static bool choice_write(request *q, json_writer *w, bool chat)
{
    const json_node *v = face_member(q, "tool_choice"), *tools = face_member(q, "tools");
    const char *type = v ? text_of(q, v, "type") : NULL;
    if (!is_given(v) || !json_is(tools, JSON_ARRAY) || !tools->count)
        return true;
    if (json_is(v, JSON_STRING) || (chat && type && strcmp(type, "function") == 0)) {
        jw_kraw(w, "tool_choice", json_raw(q->arena, &q->json, v));
        return true;
    }
    if (!type || !text_of(q, v, "name") ||
        (strcmp(type, "function") != 0 && strcmp(type, "custom") != 0))
        return unsupported(q, "tool_choice", "tool_choice of type '%.40s' is not supported",
                           type ? type : "");
    jw_key(w, "tool_choice");
    function_begin(w, text_of(q, v, "name"));
    function_end(w);
    return true;
}

/* ------------------------------------------------------------------ the rest */

/* Members that are passed on under their own name. */
static void members_pass(request *q, json_writer *w, const char *const *names)
{
    for (; *names; names++) {
        const json_node *v = face_member(q, *names);
        if (is_given(v))
            jw_kraw(w, *names, json_raw(q->arena, &q->json, v));
    }
}

/* text.format and text.verbosity. */
static bool format_write(request *q, json_writer *w)
{
    const json_node *text = face_member(q, "text"), *f = json_get(&q->json, text, "format");
    const json_node *verbosity = json_get(&q->json, text, "verbosity");
    const char *type = is_given(f) ? text_of(q, f, "type") : "text";
    static const char *const members[] = {"name", "description", "schema", "strict"};
    if (is_given(verbosity))
        jw_kraw(w, "verbosity", json_raw(q->arena, &q->json, verbosity));
    if (type && strcmp(type, "text") == 0)
        return true;
    if (type && strcmp(type, "json_object") == 0) {
        jw_kraw(w, "response_format", "{\"type\":\"json_object\"}");
        return true;
    }
    if (!type || strcmp(type, "json_schema") != 0)
        return unsupported(q, "text.format", "text.format of type '%.40s' is not supported",
                           type ? type : "");
    jw_key(w, "response_format");
    jw_object(w);
    jw_kstr(w, "type", "json_schema");
    jw_key(w, "json_schema");
    jw_object(w);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const json_node *m = json_get(&q->json, f, members[i]);
        if (is_given(m))
            jw_kraw(w, members[i], json_raw(q->arena, &q->json, m));
    }
    jw_end_object(w);
    jw_end_object(w);
    return true;
}

static bool response_options_write(request *q, json_writer *w)
{
    static const char *const same[] = {"temperature", "top_p", "presence_penalty",
                                       "frequency_penalty", NULL};
    const json_node *most = face_member(q, "max_output_tokens");
    const json_node *effort = json_get(&q->json, face_member(q, "reasoning"), "effort");
    const char *cut = face_text(q, "truncation");
    int64_t logprobs = 0;
    if (cut && strcmp(cut, "disabled") != 0)
        return unsupported(q, "truncation", "truncation '%.40s' is not supported", cut);
    if (json_int(&q->json, face_member(q, "top_logprobs"), &logprobs) && logprobs)
        return unsupported(q, "top_logprobs", "%s is not supported", "top_logprobs");
    members_pass(q, w, same);
    if (is_given(most))
        jw_kraw(w, "max_tokens", json_raw(q->arena, &q->json, most));
    if (is_given(effort))
        jw_kraw(w, "reasoning_effort", json_raw(q->arena, &q->json, effort));
    return tools_write(q, w, false) && choice_write(q, w, false) && format_write(q, w);
}

static bool chat_options_write(request *q, json_writer *w)
{
    static const char *const same[] = {"temperature",
                                       "top_p",
                                       "presence_penalty",
                                       "frequency_penalty",
                                       "max_tokens",
                                       "max_completion_tokens",
                                       "seed",
                                       "stop",
                                       "reasoning_effort",
                                       "response_format",
                                       "verbosity",
                                       NULL};
    if (face_bool(q, "logprobs"))
        return unsupported(q, "logprobs", "%s are not supported", "logprobs");
    members_pass(q, w, same);
    return tools_write(q, w, true) && choice_write(q, w, true);
}

/* An agent without options would drop what it is given. */
static bool options_fit(request *q, const char *options, const ramet_agent *agent)
{
    if (q->host->agent_takes_options(q->host->arg, agent->name) || strcmp(options, "{}") == 0)
        return true;
    json_doc d;
    const char *first = "";
    if (json_parse(q->arena, options, strlen(options), 0, &d, NULL) && d.nodes[0].count)
        first = json_text(q->arena, &d, json_first(&d, d.nodes));
    request_fail(q, 400, "unsupported_value", strcmp(first, "system") == 0 ? "instructions" : first,
                 "the model '%.60s' takes no settings, and the request has %.60s", agent->name,
                 strcmp(first, "system") == 0 ? "instructions" : first);
    return false;
}

static bool settings_read(request *q, const char *instructions, ramet_agent *agent,
                          bool (*write)(request *q, json_writer *w))
{
    buf b;
    json_writer w;
    buf_init(&b, q->body.n * 2 + 65536);
    jw_init(&w, &b, 0);
    jw_object(&w);
    if (instructions && *instructions)
        jw_kstr(&w, "system", instructions);
    if (!openai_metadata_check(q) || !write(q, &w)) {
        buf_release(&b);
        return false;
    }
    jw_end_object(&w);
    agent->options = buf_keep(&b, q->arena);
    return options_fit(q, agent->options, agent);
}

bool openai_response_settings(request *q, const char *instructions, ramet_agent *agent)
{
    const char *own = face_text(q, "instructions");
    if (own && instructions)
        instructions = arena_printf(q->arena, "%s\n\n%s", own, instructions);
    return settings_read(q, instructions ? instructions : own, agent, response_options_write);
}

bool openai_chat_settings(request *q, const char *instructions, ramet_agent *agent)
{
    return settings_read(q, instructions, agent, chat_options_write);
}

bool openai_metadata_check(request *q)
{
    const json_node *m = face_member(q, "metadata");
    if (!is_given(m))
        return true;
    const char *wrong = NULL;
    if (!json_is(m, JSON_OBJECT) || m->count > OPENAI_METADATA_PAIRS || m->has_nul)
        wrong = "metadata must be an object of at most 16 pairs";
    for (const json_node *k = wrong ? NULL : json_first(&q->json, m); k;
         k = json_next(&q->json, m, k)) {
        const char *key = json_text(q->arena, &q->json, k);
        k = json_next(&q->json, m, k);
        const char *value = json_text(q->arena, &q->json, k);
        if (utf8_count(key) > OPENAI_METADATA_KEY)
            wrong = "a key of metadata has at most 64 characters";
        else if (!value || utf8_count(value) > OPENAI_METADATA_VALUE)
            wrong = "a value of metadata is a text of at most 512 characters";
    }
    if (wrong)
        request_fail(q, 400, "invalid_value", "metadata", "%s", wrong);
    return !wrong;
}

const char *openai_request_kept(request *q, const char *more)
{
    static const char *const left_out[] = {"input",          "messages", "stream",
                                           "stream_options", "include",  "conversation"};
    const json_node *root = q->json.nodes;
    buf b;
    json_writer w;
    buf_init(&b, q->body.n * 2 + 65536);
    jw_init(&w, &b, 0);
    jw_object(&w);
    for (const json_node *k = json_first(&q->json, root); k; k = json_next(&q->json, root, k)) {
        const char *key = json_text(q->arena, &q->json, k);
        bool keep = true;
        k = json_next(&q->json, root, k);
        for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
            keep = keep && strcmp(key, left_out[i]) != 0;
        if (keep && is_given(k))
            jw_kraw(&w, key, json_raw(q->arena, &q->json, k));
    }
    if (more)
        jw_kbool(&w, more, true);
    jw_end_object(&w);
    return buf_keep(&b, q->arena);
}

bool openai_records(request *q, bool chat)
{
    const json_node *store = face_member(q, "store");
    const char *rule = q->host->openai_record;
    if (strcmp(rule, "always") == 0)
        return true;
    if (strcmp(rule, "asked") == 0 && chat)
        return json_is(store, JSON_TRUE);
    return !json_is(store, JSON_FALSE);
}
