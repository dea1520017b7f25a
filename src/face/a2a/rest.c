/* SPDX-License-Identifier: Apache-2.0
 *
 * rest.c: version 1.0 over HTTP+JSON: /a2a/{agent}/v1/….
 *
 * A route is a method of jsonrpc.c. Its parameters are the members of the body, the values of the
 * path and those of the query, as one object; its answer is the result without an envelope.
 */
#include "face/a2a/a2a_face.h"

#include "face/kit/rows.h"
#include "form/proto/proto.h"

#include <string.h>
#include <strings.h>

/* The values that a path gives, by the names of the parameters. */
typedef struct path_values {
    const char *names[2], *values[2];
    size_t n;
} path_values;

static void path_add(path_values *p, const char *name, const char *value)
{
    p->names[p->n] = name;
    p->values[p->n++] = value;
}

static bool path_has(const path_values *p, const char *name)
{
    for (size_t i = 0; i < p->n; i++)
        if (strcmp(p->names[i], name) == 0)
            return true;
    return false;
}

/* ------------------------------------------------------------------ parameters */

static bool type_fits(jsonrpc_call *r)
{
    const char *type = request_header(r->request, "Content-Type");
    size_t n = type ? strcspn(type, "; \t") : 0;
    if (!r->request->body.n || !n || (n == 16 && strncasecmp(type, "application/json", n) == 0) ||
        (n == sizeof A2A_JSON - 1 && strncasecmp(type, A2A_JSON, n) == 0))
        return true;
    jsonrpc_fail(r, JSONRPC_CONTENT_TYPE,
                 "Content-Type '%.60s' is not supported, but application/json and " A2A_JSON, type);
    return false;
}

/* Members of the body that the path gives as well are those of the path. */
static bool body_write(jsonrpc_call *r, json_writer *w, const path_values *path)
{
    request *q = r->request;
    json_doc d;
    json_error e;
    const json_node *v;
    if (!q->body.n)
        return true;
    if (!json_parse(q->arena, q->body.data, q->body.n, 0, &d, &e)) {
        jsonrpc_fail(r, JSONRPC_PARSE, "the body is not JSON that can be read: %s, at byte %zu",
                     e.message, e.offset);
        return false;
    }
    if (!json_is(&d.nodes[0], JSON_OBJECT)) {
        jsonrpc_fail(r, JSONRPC_INVALID, "the body must be an object");
        return false;
    }
    for (const json_node *k = json_first(&d, &d.nodes[0]); k; k = json_next(&d, &d.nodes[0], v)) {
        const char *name = json_text(q->arena, &d, k);
        v = json_next(&d, &d.nodes[0], k);
        bool task = strcmp(name, "task_id") == 0 && path_has(path, "taskId");
        if (!task && !path_has(path, name))
            jw_kraw(w, name, json_raw(q->arena, &d, v));
    }
    return true;
}

/* Parameters of a query that belong to the request, not to the method. */
static bool is_of_request(const char *name)
{
    return strcmp(name, "A2A-Version") == 0 || strcmp(name, "user_id") == 0 ||
           strcmp(name, "share") == 0;
}

static const ProtobufCFieldDescriptor *field_named(arena *a, const ProtobufCMessageDescriptor *m,
                                                   const char *name)
{
    for (unsigned i = 0; i < m->n_fields; i++)
        if (strcmp(m->fields[i].name, name) == 0 ||
            strcmp(proto_json_name(a, &m->fields[i]), name) == 0)
            return &m->fields[i];
    return NULL;
}

/* A query has only texts. Those of digits become numbers in a2a_params_names(). */
static void query_write(jsonrpc_call *r, json_writer *w, const char *method,
                        const path_values *path)
{
    request *q = r->request;
    const ProtobufCMessageDescriptor *shape = a2a_params_shape(method);
    for (size_t i = 0; i < q->n_query; i++) {
        const request_pair *p = &q->query[i];
        if (is_of_request(p->name) || path_has(path, p->name))
            continue;
        const ProtobufCFieldDescriptor *f = field_named(q->arena, shape, p->name);
        bool word = strcmp(p->value, "true") == 0 || strcmp(p->value, "false") == 0;
        jw_key(w, p->name);
        if (f && f->type == PROTOBUF_C_TYPE_BOOL && word)
            jw_bool(w, *p->value == 't');
        else
            jw_str(w, p->value);
    }
}

static void rest_run(request *q, const char *method, const path_values *path)
{
    jsonrpc_call r = {.request = q, .binding = A2A_OVER_REST};
    a2a_found agent;
    buf b;
    json_writer w;
    if (!a2a_agent_find(q, face_path(q, "agent"), false, &agent)) {
        request_fail(q, 404, "not_found", NULL, "there is no agent '%.80s'", face_path(q, "agent"));
        return;
    }
    r.agent = agent.name;
    if (!jsonrpc_version_read(&r) || !type_fits(&r))
        return;
    buf_init(&b, SIZE_MAX / 4);
    jw_init(&w, &b, 0);
    jw_object(&w);
    bool fine = body_write(&r, &w, path);
    if (fine && strcmp(q->method, "POST") != 0)
        query_write(&r, &w, method, path);
    for (size_t i = 0; i < path->n; i++)
        jw_kstr(&w, path->names[i], path->values[i]);
    jw_end_object(&w);
    const char *params = buf_keep(&b, q->arena);
    if (!fine)
        return;
    json_parse(q->arena, params, strlen(params), SIZE_MAX, &r.doc, NULL);
    r.params = &r.doc.nodes[0];
    jsonrpc_call_run(&r, method);
}

/* ------------------------------------------------------------------ routes */

static void none_run(request *q, const char *method)
{
    rest_run(q, method, &(path_values){0});
}

static void send_post(request *q)
{
    none_run(q, "SendMessage");
}

static void stream_post(request *q)
{
    none_run(q, "SendStreamingMessage");
}

static void tasks_get(request *q)
{
    none_run(q, "ListTasks");
}

static void extended_get(request *q)
{
    none_run(q, "GetExtendedAgentCard");
}

/* A verb follows the id of a task, after a colon. */
static void task_run(request *q)
{
    static const struct {
        const char *suffix, *method;
        bool get;
    } verbs[] = {{":cancel", "CancelTask", false},
                 {":subscribe", "SubscribeToTask", false},
                 {":subscribe", "SubscribeToTask", true}};
    const char *id = face_path(q, "task"), *method = "GetTask";
    bool get = strcmp(q->method, "POST") != 0;
    size_t n = strlen(id), len = n;
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        size_t k = strlen(verbs[i].suffix);
        if (verbs[i].get == get && n > k && strcmp(id + n - k, verbs[i].suffix) == 0) {
            method = verbs[i].method;
            len = n - k;
        }
    }
    if (!get && len == n) {
        request_fail(q, 404, "not_found", NULL,
                     "a task can be posted to as ID:cancel or ID:subscribe");
        return;
    }
    path_values path = {0};
    path_add(&path, "id", arena_memdup(q->arena, id, len));
    rest_run(q, method, &path);
}

static void config_run(request *q, const char *method, bool one)
{
    path_values path = {0};
    path_add(&path, "taskId", face_path(q, "task"));
    if (one)
        path_add(&path, "id", face_path(q, "config"));
    rest_run(q, method, &path);
}

static void configs_post(request *q)
{
    config_run(q, "CreateTaskPushNotificationConfig", false);
}

static void configs_get(request *q)
{
    config_run(q, "ListTaskPushNotificationConfigs", false);
}

static void config_get(request *q)
{
    config_run(q, "GetTaskPushNotificationConfig", true);
}

static void config_delete(request *q)
{
    config_run(q, "DeleteTaskPushNotificationConfig", true);
}

#define BASE "/a2a/{agent}/v1"
#define CONFIGS BASE "/tasks/{task}/pushNotificationConfigs"
/* One line per row. */
/* clang-format off */
#define REST(method, path, id, handler, text, more, ...) \
    ROUTE(method, path, ROLE_USER, .name = id, .group = "A2A", .summary = text, .about = more, \
          .flags = ROUTE_LOOSE | ROUTE_STREAM, .run = handler, __VA_ARGS__)

static const face_route routes[] = {
REST("POST", BASE "/message:send", "a2aRestSend", send_post, "Send a message", "The body is a `SendMessageRequest`.", .success = 200,
 .example = "{\"message\": {\"messageId\": \"m1\", \"role\": \"ROLE_USER\", \"parts\": [{\"text\": \"hello\"}]}}"),
REST("POST", BASE "/message:stream", "a2aRestStream", stream_post, "Send a message and follow its task",
 "The body is a `SendMessageRequest`, the answer server-sent events, each a `StreamResponse`.", .success = 200),
REST("GET", BASE "/tasks", "a2aRestTasks", tasks_get, "List tasks",
 "The query has the fields of a `ListTasksRequest`; one that it does not have is refused.", .success = 200),
REST("GET", BASE "/tasks/{task}", "a2aRestTask", task_run, "Get a task, or follow it",
 "`historyLength` in the query limits its history. `ID:subscribe` answers with server-sent events.", .success = 200),
REST("POST", BASE "/tasks/{task}", "a2aRestTaskVerb", task_run, "Cancel or follow a task", "As `ID:cancel` or `ID:subscribe`.", .success = 200),
REST("POST", CONFIGS, "a2aRestAddConfig", configs_post, "Have changes of a task sent to a URL", "The body is a `TaskPushNotificationConfig`.", .success = 200,
 .example = "{\"url\": \"https://client.example.org/hook\", \"token\": \"secret\"}"),
REST("GET", CONFIGS, "a2aRestConfigs", configs_get, "List where changes of a task are sent to", NULL, .success = 200),
REST("GET", CONFIGS "/{config}", "a2aRestConfig", config_get, "Get where changes of a task are sent to", NULL, .success = 200),
REST("DELETE", CONFIGS "/{config}", "a2aRestDeleteConfig", config_delete, "Send changes of a task there no longer", NULL, .success = 200),
REST("GET", BASE "/extendedAgentCard", "a2aRestCard", extended_get, "Get the card for authenticated clients", NULL, .success = 200),
ROUTES_END,
};
/* clang-format on */

static const face_param params[] = {
    {"agent", "an agent, by its name in the settings", "echo"},
    {"task", "a task; a verb may follow after a colon", "0198c1d2-0000-7000-8000-000000000003"},
    {"config", "the id of a configuration", "hook"},
    {0}};

const face face_a2a_rest = {
    .name = "a2a-rest",
    .title = "A2A over HTTP+JSON",
    .prefix = "/a2a",
    .identity = &a2a_identity,
    .about =
        "A2A 1.0 over HTTP+JSON. Requests need `A2A-Version: 1.0`; bodies are the JSON form of the "
        "messages in proto/a2a/v1/a2a.proto. See docs/a2a.md.",
    .fail = a2a_rest_fail,
    .routes = routes,
    .params = params,
};
