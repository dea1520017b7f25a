/* SPDX-License-Identifier: Apache-2.0
 *
 * routes.c: every route of the kagent face, in one table. It drives dispatch, the checks of query
 * and body, /openapi.json, /docs and docs/api/kagent.md.
 */
#include "face/kagent/kagent.h"

#include "face/kit/rows.h"

/* One line per row. */
/* clang-format off */

#define S1 "/api/sessions/{session_id}"

#define READ    ROUTE_LOOSE
#define WRITE   (ROUTE_LOOSE | ROUTE_WRITE | ROUTE_KEYLESS)
#define ONCE    (ROUTE_LOOSE | ROUTE_WRITE)
#define E_SEE   "SESSION_NOT_FOUND"
#define E_WRITE "SESSION_NOT_FOUND FORBIDDEN"
#define BOUNDARY(t) F("rewind_before_invocation_id", TEXT, t)
#define TASK_BODY (64u << 20)

static const form_schema *const kagent_schemas[] = {
SHAPE("KagentSession", "A session as kagent knows it.",
    R("id", TEXT, "unique in the store, across owners"), F("name", TEXT, "its title; left out if there is none"),
    R("user_id", TEXT, "its owner"), R("created_at", TIME, "with microseconds, without trailing zeros"), R("updated_at", TIME, "time of the last write"),
    F("agent_id", TEXT, "such as `kagent__NS__my_agent`"), F("source", TEXT, "`user` or `agent`; left out if unknown"),
    F("share_token", TEXT, "in the list of an agent, for a session whose link the caller has followed: the value for `X-Share-Token`; valid only for this caller"),
    F("share_read_only", BOOL, "with share_token: whether that link is read-only")),
SHAPE("KagentEvent", "An ADK event.",
    R("id", TEXT, "as sent; for an inherited event an id derived for this session, stable across reads"), R("session_id", TEXT, "its session"),
    R("user_id", TEXT, "owner of the session"), R("created_at", TIME, "when it was received"), R("updated_at", TIME, "the same"),
    R("data", TEXT, "the event's JSON, byte for byte as received")),
SHAPE("KagentSessionEvents", "A session with its events.",
    R("session", OBJECT, "", .schema = "KagentSession"), R("events", ARRAY, "always an array", .schema = "KagentEvent"),
    F("state", OBJECT, "with `view=effective`: the state after the effective events; `app:` and `user:` keys are not rewound"),
    F("read_only", BOOL, "through a share link: whether it is read-only")),
SHAPE("A2ATask", "An A2A task, 0.3 or 1.0: `id`, `contextId` (the session), `status`, `history`, `artifacts`, `metadata`.",
    F("id", TEXT, "generated if empty"), F("contextId", TEXT, "the session"), R("status", OBJECT, "`state`, `message`, `timestamp`"),
    F("history", ARRAY, "messages; null: unchanged", .schema = "A2AMessage"), F("artifacts", ARRAY, "", .schema = "A2AArtifact"),
    F("metadata", OBJECT, "")),
SHAPE("A2AMessage", "An A2A message, 0.3 or 1.0.", R("messageId", TEXT, ""), R("role", TEXT, "`user`, `agent`; 1.0 `ROLE_USER`, `ROLE_AGENT`"),
    R("parts", ARRAY, "", .schema = "A2APart")),
SHAPE("A2APart", "A text, file or data part.", F("text", TEXT, "")),
SHAPE("A2AArtifact", "Output of a task.", R("artifactId", TEXT, ""), R("parts", ARRAY, "", .schema = "A2APart")),
SHAPE("KagentShare", "A link to a session.", R("id", TEXT, ""), R("token", TEXT, "for `X-Share-Token`; returned only once: a list has the id instead"),
    R("session_id", TEXT, ""), R("user_id", TEXT, "its creator"), R("read_only", BOOL, ""), R("created_at", TIME, "")),
SHAPE("KagentFeedback", "A user's feedback.", R("id", INT, ""), R("user_id", TEXT, ""), R("is_positive", BOOL, ""),
    R("feedback_text", TEXT, ""), F("issue_type", TEXT, ""), F("message_id", INT, "")),
SHAPE("KagentAgent", "An agent.", R("id", TEXT, "such as `kagent__NS__my_agent`"), R("agent", OBJECT, "`metadata.name`, `metadata.namespace`, `kind`, `spec.type`"),
    R("deploymentReady", BOOL, ""), R("accepted", BOOL, "")),
NULL,
};

static const face_route routes[] = {
/* ------------------------------------------------------------------ the server */
ROUTE("GET", "/health", ROLE_ANYONE, .name = "kagentHealth", .group = "Server", .flags = ROUTE_QUICK | ROUTE_LOOSE,
 .summary = "Check that the server responds", .success = 200, .run = kagent_health),
ROUTE("GET", "/version", ROLE_ANYONE, .name = "kagentVersion", .group = "Server", .flags = ROUTE_QUICK | ROUTE_LOOSE,
 .summary = "Get the version, without envelope", .success = 200, .run = kagent_version_get),
ROUTE("GET", "/api/me", ROLE_USER, .name = "kagentMe", .group = "Server", .flags = READ,
 .summary = "Get the caller's identity, without envelope", .success = 200, .run = kagent_me),

/* ------------------------------------------------------------------ sessions */
ROUTE("GET", "/api/sessions", ROLE_USER, .name = "kagentListSessions", .group = "Sessions", .flags = READ,
 .summary = "List the caller's sessions, most recently written first", .success = 200, .answer = "KagentSession", .run = kagent_sessions_list),
ROUTE("POST", "/api/sessions", ROLE_USER, .name = "kagentCreateSession", .group = "Sessions", .flags = WRITE,
 .summary = "Create a session, or change name, agent and source of an existing one", .success = 201, .answer = "KagentSession", .run = kagent_session_post,
 .about = "The id of a deleted session starts again, empty. The id of another user's session is 409. An unknown agent is registered "
          "as one that answers elsewhere (`--kagent-agents listed`: 400).",
 .body = FIELDS(F("agent_ref", TEXT, "`namespace/name`, or its id; required"), F("name", TEXT, "title"), F("id", TEXT, "default: generated"),
                F("source", TEXT, "`user` or `agent`")),
 .statuses = "SESSION_EXISTS BAD_ID TITLE_TOO_LONG", .example = "{\"agent_ref\": \"kagent/echo\", \"name\": \"A trip\", \"id\": \"trip\"}"),
ROUTE("GET", "/api/sessions/agent/{namespace}/{name}", ROLE_USER, .name = "kagentListAgentSessions", .group = "Sessions", .flags = READ,
 .summary = "List the caller's sessions with an agent, except those that another agent created, plus those whose link the caller has followed", .success = 200, .answer = "KagentSession",
 .run = kagent_sessions_of_agent, .statuses = "AGENT_NOT_FOUND"),
ROUTE("GET", S1, ROLE_USER, .name = "kagentGetSession", .group = "Sessions", .flags = READ,
 .summary = "Get a session with its events", .success = 200, .answer = "KagentSessionEvents", .run = kagent_session_get,
 .about = "Returns the record: every event ever appended, in order, including rewind events. An ADK runtime applies its own rules to it, with the same result as "
          "`view=effective`. Newest first unless `order=asc`.",
 .query = FIELDS(F("order", TEXT, "`asc`: oldest first"), F("limit", TEXT, "maximum number of events, from the beginning of the order; zero or less: all"),
                 F("after", TEXT, "only events after this time (RFC 3339)"), F("view", TEXT, "`record` or `effective`")),
 .statuses = E_SEE, .example = "order=asc&limit=-1"),
ROUTE("PUT", S1, ROLE_USER, .name = "kagentPutSession", .group = "Sessions", .flags = WRITE,
 .summary = "Change the name or agent of a session", .success = 200, .answer = "KagentSession", .run = kagent_session_put,
 .body = FIELDS(F("name", TEXT, "title"), F("agent_ref", TEXT, "agent")), .statuses = E_WRITE, .example = "{\"name\": \"Lisbon\"}"),
ROUTE("PATCH", S1, ROLE_USER, .name = "kagentPatchSession", .group = "Sessions", .flags = WRITE,
 .summary = "Change the name or agent of a session (same as PUT)", .success = 200, .answer = "KagentSession", .run = kagent_session_put,
 .body = FIELDS(F("name", TEXT, "title"), F("agent_ref", TEXT, "agent")), .statuses = E_WRITE, .example = "{\"name\": \"Lisbon\"}"),
ROUTE("DELETE", S1, ROLE_USER, .name = "kagentDeleteSession", .group = "Sessions", .flags = WRITE,
 .summary = "Delete a session; its forks stay", .success = 200, .run = kagent_session_delete, .statuses = "FORBIDDEN HELD"),
ROUTE("POST", S1 "/events", ROLE_USER, .name = "kagentAddEvent", .group = "Sessions", .flags = WRITE,
 .summary = "Append an ADK event", .success = 201, .answer = "KagentEvent", .run = kagent_event_post,
 .about = "For the session's own agent only (`X-Agent-Name`, otherwise 403). A repeated event gets the first answer. An event with "
          "`actions.rewind_before_invocation_id` moves the head, as the runtime intends. A late event of an invocation that was rewound is 409.",
 .body = FIELDS(F("id", TEXT, "default: generated"), F("data", TEXT, "the JSON of the event, as a string; required")),
 .statuses = E_WRITE " ENTRY_EXISTS TURN_OVER ENTRY_TOO_LARGE"),

/* ------------------------------------------------------------------ forks and moves */
ROUTE("POST", S1 "/fork", ROLE_USER, .name = "kagentForkSession", .group = "Forks and moves", .flags = ONCE,
 .summary = "Fork a session before an invocation", .success = 201, .answer = "KagentSession", .run = kagent_fork,
 .about = "Nothing is copied: it takes the same time at any length. The new session has one completed task with the history, and the events. "
          "For an unknown invocation it shares the whole history, and `message` says so.",
 .body = FIELDS(BOUNDARY("share everything strictly before it; default: everything")), .statuses = E_SEE " FORBIDDEN",
 .example = "{\"rewind_before_invocation_id\": \"e-1\"}"),
ROUTE("POST", S1 "/rewind", ROLE_USER, .name = "kagentRewindSession", .group = "Forks and moves", .flags = ONCE,
 .summary = "Rewind a session to before an invocation", .success = 200, .answer = "KagentSession", .run = kagent_rewind,
 .about = "This also removes the question that began it. Nothing is lost: see undo. 400 if the session never had that invocation.",
 .body = FIELDS(BOUNDARY("required")), .statuses = E_WRITE, .example = "{\"rewind_before_invocation_id\": \"e-1\"}"),
ROUTE("POST", S1 "/undo", ROLE_USER, .name = "kagentUndo", .group = "Forks and moves", .flags = ONCE,
 .summary = "Undo the last rewind, edit or switch", .success = 200, .answer = "KagentSession", .run = kagent_undo,
 .body = FIELDS({.name = NULL}), .statuses = E_WRITE " NOTHING_TO_UNDO"),
ROUTE("POST", S1 "/redo", ROLE_USER, .name = "kagentRedo", .group = "Forks and moves", .flags = ONCE,
 .summary = "Redo the last undone move", .success = 200, .answer = "KagentSession", .run = kagent_redo,
 .body = FIELDS({.name = NULL}), .statuses = E_WRITE " NOTHING_TO_REDO"),

/* ------------------------------------------------------------------ tasks */
ROUTE("GET", S1 "/tasks", ROLE_USER, .name = "kagentListTasks", .group = "Tasks", .flags = READ,
 .summary = "Get the current conversation: tasks with their messages, oldest first", .success = 200, .answer = "A2ATask",
 .run = kagent_tasks_list, .statuses = E_SEE, .about = "In the form of 1.0 with `A2A-Version: 1.0`, otherwise of 0.3."),
ROUTE("PUT", S1 "/effective_history", ROLE_USER, .name = "kagentPutHistory", .group = "Tasks", .flags = WRITE, .body_max = TASK_BODY,
 .summary = "Make the history equal to a list of messages", .success = 200, .answer = "A2ATask", .run = kagent_history_put,
 .about = "The body is an array of messages (or `{\"messages\": […]}`). Existing messages stay, the head moves where the list differs or ends, and the "
          "rest is appended; the old branch stays.", .statuses = E_WRITE),
ROUTE("POST", "/api/tasks", ROLE_USER, .name = "kagentPutTask", .group = "Tasks", .flags = WRITE, .body_max = TASK_BODY,
 .summary = "Insert or update a task", .success = 201, .answer = "A2ATask", .run = kagent_task_post,
 .about = "Messages are matched by `messageId`; only new ones are stored. If messages of the task are missing or differ, the head moves; other tasks keep theirs. "
          "A task that a rewind cut off continues on its own branch, not on the head. The session is created if it does not exist.",
 .body = FIELDS(F("id", ANY, "generated if empty"), F("contextId", ANY, "the session"), F("status", ANY, "`state` is required"),
                F("history", ANY, "messages; null: unchanged"), F("artifacts", ANY, ""), F("metadata", ANY, "")),
 .statuses = E_WRITE " ENTRY_EXISTS ENTRY_TOO_LARGE",
 .example = "{\"id\": \"t1\", \"contextId\": \"trip\", \"kind\": \"task\", \"status\": {\"state\": \"completed\"}, \"history\": []}"),
ROUTE("GET", "/api/tasks/{task_id}", ROLE_USER, .name = "kagentGetTask", .group = "Tasks", .flags = READ,
 .summary = "Get a task", .success = 200, .answer = "A2ATask", .run = kagent_task_get, .statuses = "TURN_NOT_FOUND",
 .about = "A task that a rewind has cut off is found, with `kagent_off_head: true` in its metadata."),
ROUTE("DELETE", "/api/tasks/{task_id}", ROLE_USER, .name = "kagentDeleteTask", .group = "Tasks", .flags = WRITE,
 .summary = "Remove a task from the lists; its id cannot be used again", .success = 204, .run = kagent_task_delete, .statuses = "FORBIDDEN",
 .about = "Answers 204, too, if there is no such task that the caller may see."),

/* ------------------------------------------------------------------ shares */
ROUTE("POST", S1 "/shares", ROLE_USER, .name = "kagentShare", .group = "Share links", .flags = WRITE,
 .summary = "Create a link to a session", .success = 201, .answer = "KagentShare", .run = kagent_share_post,
 .about = "A client that sends its token as `X-Share-Token` sees that session like its own.",
 .body = FIELDS(F("read_only", BOOL, "default true")), .statuses = E_WRITE, .example = "{\"read_only\": true}"),
ROUTE("GET", S1 "/shares", ROLE_USER, .name = "kagentListShares", .group = "Share links", .flags = READ,
 .summary = "List the links to a session", .success = 200, .answer = "KagentShare", .run = kagent_shares_list, .statuses = E_WRITE),
ROUTE("DELETE", S1 "/shares/{token}", ROLE_USER, .name = "kagentUnshare", .group = "Share links", .flags = WRITE,
 .summary = "Revoke a link", .success = 200, .run = kagent_share_delete, .statuses = E_WRITE " SHARE_NOT_FOUND"),

/* ------------------------------------------------------------------ agents, feedback */
ROUTE("GET", "/api/agents", ROLE_USER, .name = "kagentListAgents", .group = "Agents", .flags = READ,
 .summary = "List the agents of this server and those of the caller's sessions", .success = 200, .answer = "KagentAgent", .run = kagent_agents_list,
 .query = FIELDS(F("namespace", TEXT, "only agents of this namespace"))),
ROUTE("GET", "/api/agents/{namespace}/{name}", ROLE_USER, .name = "kagentGetAgent", .group = "Agents", .flags = READ,
 .summary = "Get an agent", .success = 200, .answer = "KagentAgent", .run = kagent_agent_get, .statuses = "AGENT_NOT_FOUND"),
ROUTE("GET", "/api/toolservers", ROLE_USER, .name = "kagentToolServers", .group = "Agents", .flags = READ,
 .summary = "List tool servers: always empty, for pages that ask", .success = 200, .run = kagent_toolservers),
ROUTE("GET", "/api/namespaces", ROLE_USER, .name = "kagentNamespaces", .group = "Agents", .flags = READ,
 .summary = "List the namespaces of the agents", .success = 200, .run = kagent_namespaces),
ROUTE("POST", "/api/feedback", ROLE_USER, .name = "kagentFeedback", .group = "Feedback", .flags = WRITE,
 .summary = "Give feedback on an answer", .success = 200, .run = kagent_feedback_post,
 .body = FIELDS(F("is_positive", BOOL, ""), F("feedback_text", TEXT, "required"), F("issue_type", TEXT, "`instructions`, `factual`, `incomplete`, `tool`, …"),
                F("message_id", INT, "")), .statuses = "TOO_LARGE", .example = "{\"is_positive\": true, \"feedback_text\": \"good\"}"),
ROUTE("GET", "/api/feedback", ROLE_USER, .name = "kagentListFeedback", .group = "Feedback", .flags = READ,
 .summary = "List the caller's feedback, oldest first", .success = 200, .answer = "KagentFeedback", .run = kagent_feedback_list),
ROUTES_END,
};

static const face_param params[] = {
    {"session_id", "a session id, percent-encoded", "trip"},
    {"task_id", "a task id, percent-encoded", "t1"},
    {"namespace", "namespace of an agent", "kagent"},
    {"name", "name of an agent", "echo"},
    {"token", "token or id of a share link", "SHARE"},
    {NULL, NULL, NULL},
};

const face face_kagent = {
    .name = "kagent", .title = "kagent's session API", .prefix = "/api", .identity = &kagent_identity, .fail = kagent_fail,
    .about = "For unmodified clients of kagent v0.9 and v0.10. Answers are `{\"error\": false, \"data\": …, \"message\": …}`; an empty list leaves `data` out. "
             "Errors are `{\"error\": \"text\"}`. Unknown parameters and members are ignored.\n"
             "The user is named by the parameter `user_id`, else the header `X-User-Id`, else it is the default user (with tokens: the token's user). "
             "A call with `X-Agent-Name` and no user is the agent's own, and reaches only that agent's sessions; with tokens it needs the role `agent`, "
             "and may name the user it acts for.",
    .routes = routes, .schemas = kagent_schemas, .params = params, .secrets = "token",
};
