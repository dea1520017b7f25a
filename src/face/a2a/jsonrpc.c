/* SPDX-License-Identifier: Apache-2.0
 *
 * jsonrpc.c: the JSON-RPC envelope of A2A: one call, its version and method, results and errors.
 *
 * The method name implies the version, and the header must agree: SendMessage does not exist
 * without A2A-Version: 1.0, nor does message/send with it. Errors are answered with HTTP 200 and an
 * error object, as both SDKs do; for a 0.3 call that requested a stream, as an event, because its
 * client reads nothing else.
 */
#include "face/a2a/a2a_face.h"

#include "base/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ------------------------------------------------------------------ errors */

/* Clients look for the words of the specifications: the message of an error begins with them. */
static const char *error_words(arena *a, int code, const char *message)
{
    static const struct {
        int code;
        const char *words;
    } known[] = {
        {JSONRPC_NO_METHOD, "Method not found"},
        {JSONRPC_TASK_NOT_FOUND, "Task not found"},
        {JSONRPC_NOT_CANCELABLE, "Task cannot be canceled"},
        {JSONRPC_NO_PUSH, "Push Notification is not supported"},
        {JSONRPC_UNSUPPORTED, "This operation is not supported"},
        {JSONRPC_CONTENT_TYPE, "Content type is not supported"},
        {JSONRPC_NO_EXTENDED_CARD, "Extended Agent Card is not configured and not supported"},
        {JSONRPC_EXTENSION, "Extension is not supported"},
        {JSONRPC_VERSION, "Version is not supported"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].code == code)
            return arena_printf(a, "%s: %s", known[i].words, message);
    return message;
}

static void answer_begin(jsonrpc_call *r, bool events)
{
    request *q = r->request;
    buf_clear(&q->out);
    jw_init(&q->writer, &q->out, 0);
    q->status = 200;
    q->type = events ? "text/event-stream" : r->id ? NULL : A2A_JSON;
    if (events)
        buf_puts(&q->out, "data: ");
}

static void error_write(jsonrpc_call *r, int code, const char *message)
{
    json_writer *w = &r->request->writer;
    jw_object(w);
    jw_kstr(w, "jsonrpc", "2.0");
    jw_kraw(w, "id", r->id);
    jw_key(w, "error");
    jw_object(w);
    jw_kint(w, "code", code);
    jw_kstr(w, "message", error_words(r->request->arena, code, message));
    /* Only A2A's own errors are explained. */
    if (code > -32100 && code <= -32000) {
        jw_key(w, "data");
        jw_array(w);
        a2a_error_info_write(w, a2a_error_of(code)->reason, r->request->id);
        jw_end_array(w);
    }
    jw_end_object(w);
    jw_end_object(w);
}

void jsonrpc_fail(jsonrpc_call *r, int code, const char *fmt, ...)
{
    char message[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    utf8_trim(message);
    if (r->binding != A2A_OVER_JSONRPC) {
        a2a_binding_fail(r, code, message);
        return;
    }
    bool events = r->method && r->method->stream && r->version == A2A_03;
    answer_begin(r, events);
    error_write(r, code, message);
    if (events)
        buf_puts(&r->request->out, "\n\n");
}

void jsonrpc_refuse(jsonrpc_call *r)
{
    const ramet_error *e = ramet_call_error(r->request->call);
    int http = ramet_status_http(e->status);
    int code = e->status == RAMET_TURN_RUNNING_ALREADY ? JSONRPC_UNSUPPORTED
               : e->status == RAMET_TURN_NOT_FOUND     ? JSONRPC_TASK_NOT_FOUND
               : http < 500                            ? JSONRPC_PARAMS
                                                       : JSONRPC_INTERNAL;
    jsonrpc_fail(r, code, "%s", e->message);
}

void jsonrpc_refuse_turn(jsonrpc_call *r, const turn_error *e)
{
    ramet_status st = e->error.status;
    int http = e->kind == TURN_ERROR_NODE_GONE            ? 503
               : e->kind == TURN_ERROR_QUESTION_NOT_FOUND ? 404
                                                          : ramet_status_http(st);
    bool of_status = e->kind == TURN_ERROR_STATUS;
    int code = of_status && st == RAMET_TURN_OVER              ? JSONRPC_NOT_CANCELABLE
               : of_status && st == RAMET_TURN_RUNNING_ALREADY ? JSONRPC_UNSUPPORTED
               : http < 500                                    ? JSONRPC_PARAMS
                                                               : JSONRPC_INTERNAL;
    jsonrpc_fail(r, code, "%s", e->error.message);
}

/* ------------------------------------------------------------------ results */

json_writer *jsonrpc_result(jsonrpc_call *r)
{
    answer_begin(r, false);
    if (!r->id)
        return &r->request->writer;
    jw_object(&r->request->writer);
    jw_kstr(&r->request->writer, "jsonrpc", "2.0");
    jw_kraw(&r->request->writer, "id", r->id);
    jw_key(&r->request->writer, "result");
    return &r->request->writer;
}

void jsonrpc_result_end(jsonrpc_call *r)
{
    if (r->id)
        jw_end_object(&r->request->writer);
}

/* A strict 1.0 client refuses snake_case in keys, including those of metadata. */
a2a_view jsonrpc_view(const jsonrpc_call *r, const char *session, const char *task)
{
    bool strict = r->version == A2A_10 && !r->kagent && !r->rewinds;
    return (a2a_view){.version = r->version,
                      .session = session,
                      .task = task,
                      .page = r->kagent,
                      .stamp = true,
                      .stamp_key = strict ? A2A_REWIND_URI "/invocationId" : NULL};
}

/* ------------------------------------------------------------------ parameters */

bool jsonrpc_number(jsonrpc_call *r, const json_node *of, const char *name, int64_t min,
                    int64_t max, int64_t *out)
{
    const json_node *v = json_get(&r->doc, of, name);
    int64_t n;
    if (!v || json_is(v, JSON_NULL))
        return true;
    if (!json_int(&r->doc, v, &n) || n < min || n > max) {
        jsonrpc_fail(r, JSONRPC_PARAMS, "%s must be a whole number from %lld to %lld", name,
                     (long long)min, (long long)max);
        return false;
    }
    *out = n;
    return true;
}

const char *jsonrpc_text(jsonrpc_call *r, const json_node *of, const char *name)
{
    const json_node *v = json_get(&r->doc, of, name);
    const char *s = v && !v->has_nul ? json_text(r->request->arena, &r->doc, v) : NULL;
    if (s && *s)
        return s;
    jsonrpc_fail(r, JSONRPC_PARAMS, "%s must be a text that is not empty", name);
    return NULL;
}

bool jsonrpc_word(jsonrpc_call *r, const json_node *of, const char *name, const char **out)
{
    const json_node *v = json_get(&r->doc, of, name);
    *out = NULL;
    if (!v || json_is(v, JSON_NULL))
        return true;
    if (!json_is(v, JSON_STRING) || v->has_nul) {
        jsonrpc_fail(r, JSONRPC_PARAMS, "%s must be a text", name);
        return false;
    }
    const char *s = json_text(r->request->arena, &r->doc, v);
    *out = *s ? s : NULL;
    return true;
}

bool jsonrpc_flag(jsonrpc_call *r, const json_node *of, const char *name, bool *out)
{
    const json_node *v = json_get(&r->doc, of, name);
    if (!v || json_is(v, JSON_NULL))
        return true;
    *out = json_is(v, JSON_TRUE);
    if (*out || json_is(v, JSON_FALSE))
        return true;
    jsonrpc_fail(r, JSONRPC_PARAMS, "%s must be true or false", name);
    return false;
}

bool jsonrpc_history(jsonrpc_call *r, const json_node *of, int64_t *out)
{
    *out = -1;
    if (!jsonrpc_number(r, of, "historyLength", 0, INT32_MAX, out))
        return false;
    if (!*out && r->version == A2A_03)
        *out = -1;
    return true;
}

/* An agent that acts for a user sees its own sessions, and those that agents began. */
bool jsonrpc_agent_fits(const jsonrpc_call *r, const ramet_session *s)
{
    request *q = r->request;
    if (q->caller.as_agent && !a2a_session_is_of(q->arena, s, q->caller.agent)) {
        const char *source = a2a_source(q->arena, s);
        if (!source || strcmp(source, "agent") != 0)
            return false;
    }
    return !s->agent.name || a2a_session_is_of(q->arena, s, r->agent);
}

a2a_task *jsonrpc_task(jsonrpc_call *r, const char *id, ramet_session **session)
{
    ramet_call *c = r->request->call;
    a2a_task *t;
    ramet_status st = a2a_task_get(c, NULL, id, &t);
    if (st == RAMET_OK)
        st = ramet_session_get(c, t->session, session);
    if (st != RAMET_OK && ramet_status_http(st) >= 500) {
        jsonrpc_refuse(r);
        return NULL;
    }
    if (st != RAMET_OK || !jsonrpc_agent_fits(r, *session)) {
        jsonrpc_fail(r, JSONRPC_TASK_NOT_FOUND, "there is no task '%.80s'", id);
        return NULL;
    }
    a2a_task_live(r->request, *session, t);
    return t;
}

/* ------------------------------------------------------------------ methods */

static const jsonrpc_method methods[] = {
    {{"message/send", "SendMessage"}, false, jsonrpc_send},
    {{"message/stream", "SendStreamingMessage"}, true, jsonrpc_send},
    {{"tasks/get", "GetTask"}, false, jsonrpc_get},
    {{NULL, "ListTasks"}, false, jsonrpc_list},
    {{"tasks/cancel", "CancelTask"}, false, jsonrpc_cancel},
    {{"tasks/resubscribe", "SubscribeToTask"}, true, jsonrpc_subscribe},
    {{"tasks/pushNotificationConfig/set", "CreateTaskPushNotificationConfig"},
     false,
     jsonrpc_push_set},
    {{"tasks/pushNotificationConfig/get", "GetTaskPushNotificationConfig"},
     false,
     jsonrpc_push_get},
    {{"tasks/pushNotificationConfig/list", "ListTaskPushNotificationConfigs"},
     false,
     jsonrpc_push_list},
    {{"tasks/pushNotificationConfig/delete", "DeleteTaskPushNotificationConfig"},
     false,
     jsonrpc_push_delete},
    {{"agent/getAuthenticatedExtendedCard", "GetExtendedAgentCard"}, false, jsonrpc_card}};

static const jsonrpc_method *method_find(const char *name, a2a_version version)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (methods[i].name[version] && strcmp(methods[i].name[version], name) == 0)
            return &methods[i];
    return NULL;
}

/* ------------------------------------------------------------------ one call */

bool jsonrpc_version_read(jsonrpc_call *r)
{
    request *q = r->request;
    const char *text = request_header(q, "A2A-Version");
    if (!text)
        text = request_query(q, "A2A-Version");
    bool known = a2a_version_of(text, &r->version);
    if (known && (r->version == A2A_10 || r->binding == A2A_OVER_JSONRPC))
        return true;
    if (known) {
        r->version = A2A_10;
        jsonrpc_fail(
            r, JSONRPC_VERSION,
            "version 0.3 of A2A is not supported over this binding; send A2A-Version: 1.0");
        return false;
    }
    if (r->kagent) { /* as kagent's controller says it, before it reads the call */
        buf_clear(&q->out);
        q->status = 400;
        q->type = "text/plain; charset=utf-8";
        buf_printf(&q->out, "Unsupported A2A version: %.*s\n", (int)utf8_prefix(text, 60), text);
        return false;
    }
    r->version = A2A_10;
    jsonrpc_fail(r, JSONRPC_VERSION, "version '%.20s' of A2A is not spoken here, but 0.3 and 1.0",
                 text);
    return false;
}

/* The header's name differs between the versions; accept both. */
static void extensions_read(jsonrpc_call *r)
{
    static const char *const names[] = {"A2A-Extensions", "X-A2A-Extensions"};
    for (size_t i = 0; i < 2; i++)
        if (word_in(request_header(r->request, names[i]), ", \t", A2A_REWIND_URI)) {
            request_add_header(r->request, names[i], A2A_REWIND_URI);
            r->rewinds = true;
        }
}

/* Reads the members of the envelope; false: the answer is filled in. */
static bool envelope_read(jsonrpc_call *r, const char **method)
{
    const json_node *root = &r->doc.nodes[0], *id = json_get(&r->doc, root, "id");
    const char *version = json_text(r->request->arena, &r->doc, json_get(&r->doc, root, "jsonrpc"));
    *method = json_text(r->request->arena, &r->doc, json_get(&r->doc, root, "method"));
    r->params = json_get(&r->doc, root, "params");
    /* A call without an id is answered with null: both SDKs wait for an answer. */
    bool has_id = json_is(id, JSON_STRING) || json_is(id, JSON_NUMBER);
    bool id_fine = has_id || !id || json_is(id, JSON_NULL);
    if (has_id)
        r->id = json_raw(r->request->arena, &r->doc, id);
    if (!json_is(root, JSON_OBJECT) || !version || strcmp(version, "2.0") != 0) {
        jsonrpc_fail(r, JSONRPC_INVALID, "the body must be one JSON-RPC 2.0 request");
        return false;
    }
    if (!id_fine || !*method) {
        jsonrpc_fail(r, JSONRPC_INVALID, "%s",
                     id_fine ? "method must be a text" : "id must be a text, a number or null");
        return false;
    }
    return true;
}

static bool params_read(jsonrpc_call *r)
{
    if (json_is(r->params, JSON_NULL))
        r->params = NULL;
    if (r->params && !json_is(r->params, JSON_OBJECT)) {
        jsonrpc_fail(r, JSONRPC_PARAMS, "params must be an object");
        return false;
    }
    return r->version == A2A_03 || !r->params || a2a_params_names(r);
}

void jsonrpc_call_run(jsonrpc_call *r, const char *method)
{
    request *q = r->request;
    r->method = method_find(method, r->version);
    if (!r->method) {
        jsonrpc_fail(r, JSONRPC_NO_METHOD, "version %s of A2A has no method '%.60s'",
                     r->version == A2A_10 ? "1.0" : "0.3", method);
        return;
    }
    extensions_read(r);
    if (params_read(r) && face_call(q))
        r->method->run(r);
    if (q->out.over)
        jsonrpc_fail(r, JSONRPC_INTERNAL, "the answer is too large; ask for a shorter history");
}

/* A body without a type counts as JSON. */
static bool type_fits(jsonrpc_call *r)
{
    const char *type = request_header(r->request, "Content-Type");
    size_t n = type ? strcspn(type, "; \t") : 0;
    bool json = !n || (n == 16 && strncasecmp(type, "application/json", n) == 0) ||
                (n > 17 && strncasecmp(type, "application/", 12) == 0 &&
                 strncasecmp(type + n - 5, "+json", 5) == 0);
    if (!json)
        jsonrpc_fail(r, JSONRPC_CONTENT_TYPE, "a call must be application/json, not %.*s",
                     (int)utf8_prefix(type, 60), type);
    return json;
}

void jsonrpc_run(request *q, const char *agent, bool kagent)
{
    jsonrpc_call r = {.request = q, .agent = agent, .kagent = kagent, .id = "null"};
    json_error e;
    const char *method;
    if ((kagent && !jsonrpc_version_read(&r)) || !type_fits(&r))
        return;
    if (!json_parse(q->arena, q->body.data, q->body.n, 0, &r.doc, &e)) {
        jsonrpc_fail(&r, JSONRPC_PARSE, "the body is not JSON that can be taken: %s, at byte %zu",
                     e.message, e.offset);
        return;
    }
    if (envelope_read(&r, &method) && (kagent || jsonrpc_version_read(&r)))
        jsonrpc_call_run(&r, method);
}
