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
    R("id", TEXT, "unique in the store, whoever owns it"), F("name", TEXT, "its title; left out when there is none"),
    R("user_id", TEXT, "its owner"), R("created_at", TIME, "microseconds, zeros at the end cut"), R("updated_at", TIME, "last write"),
    F("agent_id", TEXT, "like `kagent__NS__my_agent`"), F("source", TEXT, "`user` or `agent`; left out when not told"),
    F("share_token", TEXT, "in the list of an agent, of a session that the caller has followed a link to: what to send as `X-Share-Token`; good for him alone"),
    F("share_read_only", BOOL, "beside it: whether that link is one for reading")),
SHAPE("KagentEvent", "An event of ADK.",
    R("id", TEXT, "as it was sent; of an inherited one an id of this session, the same at every read"), R("session_id", TEXT, "its session"),
    R("user_id", TEXT, "owner of the session"), R("created_at", TIME, "when it came"), R("updated_at", TIME, "the same"),
    R("data", TEXT, "the event's JSON, byte for byte as it came")),
SHAPE("KagentSessionEvents", "A session with its events.",
    R("session", OBJECT, "", .schema = "KagentSession"), R("events", ARRAY, "always an array", .schema = "KagentEvent"),
    F("state", OBJECT, "with `view=effective`: the state that the effective events give; `app:` and `user:` keys are not rewound"),
    F("read_only", BOOL, "through a share link: whether it is one for reading")),
SHAPE("A2ATask", "A task of A2A, 0.3 or 1.0: `id`, `contextId` (the session), `status`, `history`, `artifacts`, `metadata`.",
    F("id", TEXT, "made when it is empty"), F("contextId", TEXT, "the session"), R("status", OBJECT, "`state`, `message`, `timestamp`"),
    F("history", ARRAY, "messages; null says nothing about them", .schema = "A2AMessage"), F("artifacts", ARRAY, "", .schema = "A2AArtifact"),
    F("metadata", OBJECT, "")),
SHAPE("A2AMessage", "A message of A2A, 0.3 or 1.0.", R("messageId", TEXT, ""), R("role", TEXT, "`user`, `agent`; 1.0 `ROLE_USER`, `ROLE_AGENT`"),
    R("parts", ARRAY, "", .schema = "A2APart")),
SHAPE("A2APart", "A text, file or data part.", F("text", TEXT, "")),
SHAPE("A2AArtifact", "What a task made.", R("artifactId", TEXT, ""), R("parts", ARRAY, "", .schema = "A2APart")),
SHAPE("KagentShare", "A link to a session.", R("id", TEXT, ""), R("token", TEXT, "for `X-Share-Token`; told once: a list has the id in its place"),
    R("session_id", TEXT, ""), R("user_id", TEXT, "who made it"), R("read_only", BOOL, ""), R("created_at", TIME, "")),
SHAPE("KagentFeedback", "What a user thought.", R("id", INT, ""), R("user_id", TEXT, ""), R("is_positive", BOOL, ""),
    R("feedback_text", TEXT, ""), F("issue_type", TEXT, ""), F("message_id", INT, "")),
SHAPE("KagentAgent", "An agent.", R("id", TEXT, "like `kagent__NS__my_agent`"), R("agent", OBJECT, "`metadata.name`, `metadata.namespace`, `kind`, `spec.type`"),
    R("deploymentReady", BOOL, ""), R("accepted", BOOL, "")),
NULL,
};

static const face_route routes[] = {
/* ------------------------------------------------------------------ the server */
ROUTE("GET", "/health", ROLE_ANYONE, .name = "kagentHealth", .group = "Server", .flags = ROUTE_QUICK | ROUTE_LOOSE,
 .summary = "Whether it is there", .success = 200, .run = kagent_health),
ROUTE("GET", "/version", ROLE_ANYONE, .name = "kagentVersion", .group = "Server", .flags = ROUTE_QUICK | ROUTE_LOOSE,
 .summary = "Which version it is, without envelope", .success = 200, .run = kagent_version_get),
ROUTE("GET", "/api/me", ROLE_USER, .name = "kagentMe", .group = "Server", .flags = READ,
 .summary = "Who asks, without envelope", .success = 200, .run = kagent_me),

/* ------------------------------------------------------------------ sessions */
ROUTE("GET", "/api/sessions", ROLE_USER, .name = "kagentListSessions", .group = "Sessions", .flags = READ,
 .summary = "The caller's sessions, last written first", .success = 200, .answer = "KagentSession", .run = kagent_sessions_list),
ROUTE("POST", "/api/sessions", ROLE_USER, .name = "kagentCreateSession", .group = "Sessions", .flags = WRITE,
 .summary = "Makes a session, or gives one of the caller's another name, agent and source", .success = 201, .answer = "KagentSession", .run = kagent_session_post,
 .about = "The id of a session that was deleted begins anew, empty. An id that another user has is 409. An agent that does not answer here is registered "
          "as one that answers elsewhere (`--kagent-agents listed`: 400).",
 .body = FIELDS(F("agent_ref", TEXT, "`namespace/name`, or its id; needed"), F("name", TEXT, "title"), F("id", TEXT, "made when it is not given"),
                F("source", TEXT, "`user` or `agent`")),
 .statuses = "SESSION_EXISTS BAD_ID TITLE_TOO_LONG", .example = "{\"agent_ref\": \"kagent/echo\", \"name\": \"A trip\", \"id\": \"trip\"}"),
ROUTE("GET", "/api/sessions/agent/{namespace}/{name}", ROLE_USER, .name = "kagentListAgentSessions", .group = "Sessions", .flags = READ,
 .summary = "The caller's sessions with an agent, but those that another agent made; and those that he has followed a link to", .success = 200, .answer = "KagentSession",
 .run = kagent_sessions_of_agent, .statuses = "AGENT_NOT_FOUND"),
ROUTE("GET", S1, ROLE_USER, .name = "kagentGetSession", .group = "Sessions", .flags = READ,
 .summary = "A session with its events", .success = 200, .answer = "KagentSessionEvents", .run = kagent_session_get,
 .about = "The record: every event that was ever appended, in order, rewind events too; a runtime of ADK applies its own rule to it and comes to what "
          "`view=effective` gives. Newest first unless `order=asc`.",
 .query = FIELDS(F("order", TEXT, "`asc`: oldest first"), F("limit", TEXT, "at most that many, from the front of the order; zero or less: all"),
                 F("after", TEXT, "only what came after that time (RFC 3339)"), F("view", TEXT, "`record` or `effective`")),
 .statuses = E_SEE, .example = "order=asc&limit=-1"),
ROUTE("PUT", S1, ROLE_USER, .name = "kagentPutSession", .group = "Sessions", .flags = WRITE,
 .summary = "Another name or agent", .success = 200, .answer = "KagentSession", .run = kagent_session_put,
 .body = FIELDS(F("name", TEXT, "title"), F("agent_ref", TEXT, "agent")), .statuses = E_WRITE, .example = "{\"name\": \"Lisbon\"}"),
ROUTE("PATCH", S1, ROLE_USER, .name = "kagentPatchSession", .group = "Sessions", .flags = WRITE,
 .summary = "The same", .success = 200, .answer = "KagentSession", .run = kagent_session_put,
 .body = FIELDS(F("name", TEXT, "title"), F("agent_ref", TEXT, "agent")), .statuses = E_WRITE, .example = "{\"name\": \"Lisbon\"}"),
ROUTE("DELETE", S1, ROLE_USER, .name = "kagentDeleteSession", .group = "Sessions", .flags = WRITE,
 .summary = "Deletes a session; its forks stay", .success = 200, .run = kagent_session_delete, .statuses = "FORBIDDEN"),
ROUTE("POST", S1 "/events", ROLE_USER, .name = "kagentAddEvent", .group = "Sessions", .flags = WRITE,
 .summary = "Appends an event of ADK", .success = 201, .answer = "KagentEvent", .run = kagent_event_post,
 .about = "Only the session's own agent may (`X-Agent-Name`, else 403). The same event again is answered with the first result. An event with "
          "`actions.rewind_before_invocation_id` moves the head, as the runtime means it. What an agent sends late of an invocation that was rewound is 409.",
 .body = FIELDS(F("id", TEXT, "made when it is not given"), F("data", TEXT, "a text that holds the JSON of the event; needed")),
 .statuses = E_WRITE " ENTRY_EXISTS TURN_OVER ENTRY_TOO_LARGE"),

/* ------------------------------------------------------------------ forks and moves */
ROUTE("POST", S1 "/fork", ROLE_USER, .name = "kagentForkSession", .group = "Forks and moves", .flags = ONCE,
 .summary = "A new session with everything before an invocation", .success = 201, .answer = "KagentSession", .run = kagent_fork,
 .about = "Nothing is copied: it takes the same time at any length. The new session has one completed task with the history, and its events. "
          "An unknown invocation: all of it, and `message` says so.",
 .body = FIELDS(BOUNDARY("everything strictly before it; not given: all of it")), .statuses = E_SEE " FORBIDDEN",
 .example = "{\"rewind_before_invocation_id\": \"e-1\"}"),
ROUTE("POST", S1 "/rewind", ROLE_USER, .name = "kagentRewindSession", .group = "Forks and moves", .flags = ONCE,
 .summary = "Takes the session back to before an invocation", .success = 200, .answer = "KagentSession", .run = kagent_rewind,
 .about = "The question that began it goes, too. Nothing is lost: see undo. 400 when no such invocation was ever there.",
 .body = FIELDS(BOUNDARY("needed")), .statuses = E_WRITE, .example = "{\"rewind_before_invocation_id\": \"e-1\"}"),
ROUTE("POST", S1 "/undo", ROLE_USER, .name = "kagentUndo", .group = "Forks and moves", .flags = ONCE,
 .summary = "Takes the last rewind, edit or switch back", .success = 200, .answer = "KagentSession", .run = kagent_undo,
 .body = FIELDS({.name = NULL}), .statuses = E_WRITE " NOTHING_TO_UNDO"),
ROUTE("POST", S1 "/redo", ROLE_USER, .name = "kagentRedo", .group = "Forks and moves", .flags = ONCE,
 .summary = "Takes the last undo back", .success = 200, .answer = "KagentSession", .run = kagent_redo,
 .body = FIELDS({.name = NULL}), .statuses = E_WRITE " NOTHING_TO_REDO"),

/* ------------------------------------------------------------------ tasks */
ROUTE("GET", S1 "/tasks", ROLE_USER, .name = "kagentListTasks", .group = "Tasks", .flags = READ,
 .summary = "The conversation as the head shows it: tasks with their messages, oldest first", .success = 200, .answer = "A2ATask",
 .run = kagent_tasks_list, .statuses = E_SEE, .about = "`A2A-Version: 1.0` for the shape of 1.0; 0.3 without."),
ROUTE("PUT", S1 "/effective_history", ROLE_USER, .name = "kagentPutHistory", .group = "Tasks", .flags = WRITE, .body_max = TASK_BODY,
 .summary = "Makes the history a list of messages", .success = 200, .answer = "A2ATask", .run = kagent_history_put,
 .about = "The body is an array of messages (or `{\"messages\": […]}`). What is there already stays, the head moves where the list differs or ends, and the "
          "rest is appended; the old branch stays.", .statuses = E_WRITE),
ROUTE("POST", "/api/tasks", ROLE_USER, .name = "kagentPutTask", .group = "Tasks", .flags = WRITE, .body_max = TASK_BODY,
 .summary = "Inserts a task or brings it up to date", .success = 201, .answer = "A2ATask", .run = kagent_task_post,
 .about = "Messages are matched by `messageId`: stored is what is new. Messages of the task that are missing or differ move the head; other tasks keep theirs. "
          "A task that a rewind cut off goes on where it stands, not on the head. A session that is not there yet is made.",
 .body = FIELDS(F("id", ANY, "made when it is empty"), F("contextId", ANY, "the session"), F("status", ANY, "`state` is needed"),
                F("history", ANY, "messages; null says nothing about them"), F("artifacts", ANY, ""), F("metadata", ANY, "")),
 .statuses = E_WRITE " ENTRY_EXISTS ENTRY_TOO_LARGE",
 .example = "{\"id\": \"t1\", \"contextId\": \"trip\", \"kind\": \"task\", \"status\": {\"state\": \"completed\"}, \"history\": []}"),
ROUTE("GET", "/api/tasks/{task_id}", ROLE_USER, .name = "kagentGetTask", .group = "Tasks", .flags = READ,
 .summary = "One task", .success = 200, .answer = "A2ATask", .run = kagent_task_get, .statuses = "TURN_NOT_FOUND"),
ROUTE("DELETE", "/api/tasks/{task_id}", ROLE_USER, .name = "kagentDeleteTask", .group = "Tasks", .flags = WRITE,
 .summary = "Takes a task out of the lists; its id is not used again", .success = 204, .run = kagent_task_delete, .statuses = "TURN_NOT_FOUND FORBIDDEN"),

/* ------------------------------------------------------------------ shares */
ROUTE("POST", S1 "/shares", ROLE_USER, .name = "kagentShare", .group = "Share links", .flags = WRITE,
 .summary = "Makes a link to a session", .success = 201, .answer = "KagentShare", .run = kagent_share_post,
 .about = "Who sends its token as `X-Share-Token` sees that session as if it were his own.",
 .body = FIELDS(F("read_only", BOOL, "true when not given")), .statuses = E_WRITE, .example = "{\"read_only\": true}"),
ROUTE("GET", S1 "/shares", ROLE_USER, .name = "kagentListShares", .group = "Share links", .flags = READ,
 .summary = "The links to a session", .success = 200, .answer = "KagentShare", .run = kagent_shares_list, .statuses = E_WRITE),
ROUTE("DELETE", S1 "/shares/{token}", ROLE_USER, .name = "kagentUnshare", .group = "Share links", .flags = WRITE,
 .summary = "Takes a link back", .success = 200, .run = kagent_share_delete, .statuses = E_WRITE " SHARE_NOT_FOUND"),

/* ------------------------------------------------------------------ agents, feedback */
ROUTE("GET", "/api/agents", ROLE_USER, .name = "kagentListAgents", .group = "Agents", .flags = READ,
 .summary = "Agents that answer here, and those of the caller's sessions", .success = 200, .answer = "KagentAgent", .run = kagent_agents_list,
 .query = FIELDS(F("namespace", TEXT, "only those of a namespace"))),
ROUTE("GET", "/api/agents/{namespace}/{name}", ROLE_USER, .name = "kagentGetAgent", .group = "Agents", .flags = READ,
 .summary = "One of them", .success = 200, .answer = "KagentAgent", .run = kagent_agent_get, .statuses = "AGENT_NOT_FOUND"),
ROUTE("GET", "/api/toolservers", ROLE_USER, .name = "kagentToolServers", .group = "Agents", .flags = READ,
 .summary = "None: for pages that ask", .success = 200, .run = kagent_toolservers),
ROUTE("GET", "/api/namespaces", ROLE_USER, .name = "kagentNamespaces", .group = "Agents", .flags = READ,
 .summary = "The namespaces of the agents", .success = 200, .run = kagent_namespaces),
ROUTE("POST", "/api/feedback", ROLE_USER, .name = "kagentFeedback", .group = "Feedback", .flags = WRITE,
 .summary = "What the caller thought of an answer", .success = 200, .run = kagent_feedback_post,
 .body = FIELDS(F("is_positive", BOOL, ""), F("feedback_text", TEXT, "needed"), F("issue_type", TEXT, "`instructions`, `factual`, `incomplete`, `tool`, …"),
                F("message_id", INT, "")), .statuses = "TOO_LARGE", .example = "{\"is_positive\": true, \"feedback_text\": \"good\"}"),
ROUTE("GET", "/api/feedback", ROLE_USER, .name = "kagentListFeedback", .group = "Feedback", .flags = READ,
 .summary = "The caller's own, oldest first", .success = 200, .answer = "KagentFeedback", .run = kagent_feedback_list),
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
    .about = "For clients of kagent v0.9 and v0.10, as they are. Answers are `{\"error\": false, \"data\": …, \"message\": …}`; an empty list leaves `data` out. "
             "Errors are `{\"error\": \"text\"}`. Unknown parameters and members are not looked at.\n"
             "Who asks: the parameter `user_id`, else the header `X-User-Id`, else the default user (in the modes with tokens: the token's user). "
             "A call with `X-Agent-Name` and no user is the agent's own, and reaches that agent's sessions alone; with tokens it needs the role `agent`, "
             "and may name the user that it is made for.",
    .routes = routes, .schemas = kagent_schemas, .params = params, .secrets = "token",
};
