/* SPDX-License-Identifier: Apache-2.0
 *
 * routes.c: every route of the AgentPod face, in one table. It drives dispatch, the checks of query
 * and body, /openapi.json, /docs and docs/api/agentpod.md.
 */
#include "face/agentpod/agentpod.h"
#include "face/agentpod/opencode.h"

#include "face/kit/merge.h"
#include "face/kit/rows.h"

/* One line per row. */
/* clang-format off */

#define B1 "/api/v2/sandboxes/{sandboxId}"
#define S1 B1 "/sessions/{sessionId}"
#define O1 B1 "/opencode"
#define P1 O1 "/session/{sessionId}"

#define NUL             .nullable = true

#define READ    ROUTE_LOOSE
#define WRITE   (ROUTE_LOOSE | ROUTE_WRITE)
#define MOVE    (ROUTE_LOOSE | ROUTE_WRITE | ROUTE_KEYLESS)
#define TYPES   "explicit|auto-edit|auto-regenerate"
#define E_BOX   "SANDBOX_NOT_FOUND"
#define E_SEE   "SANDBOX_NOT_FOUND SESSION_NOT_FOUND"
#define E_WRITE E_SEE " FORBIDDEN"
#define E_TAG   E_WRITE " BAD_TAG TOO_MANY_TAGS"
#define BRANCHES                                                                                   \
    R("branches", ARRAY, "those earlier in the history first", .schema = "SessionBranch"),                     \
    R("currentBranch", OBJECT, "the last current one in the history; null if no message has two versions", .schema = "SessionBranch", NUL), \
    R("currentBranchId", TEXT, "its branchId", NUL)
#define SUCCESS R("success", BOOL, "always true")

static const form_schema *const agentpod_schemas[] = {
SHAPE("SessionFork", "A session, and where it was forked from.",
    R("id", TEXT, "of the session"), R("parentSessionId", TEXT, "null for a root, or if the caller may not see the parent", NUL),
    R("forkedAtMessageId", TEXT, "the message at which it was forked; null: the end of its parent", NUL), R("forkType", ENUM, "", .values = TYPES),
    R("createdAt", TIME, ""), R("createdBy", ENUM, "`system`: by an edit or a regeneration", .values = "user|system"),
    R("tags", ARRAY, "sorted; trimmed and lower case"), R("metadata", OBJECT, "", .schema = "SessionForkMetadata")),
SHAPE("SessionForkMetadata", "Further properties.", F("reason", TEXT, "why it was forked"),
    F("agentConfig", OBJECT, "as sent in the request of the fork", .schema = "ModelSelection"),
    F("mergedInto", TEXT, "the session it was merged into"), F("originalTitle", TEXT, "the title of the fork when it was created")),
SHAPE("ModelSelection", "The agent of a fork; default: that of its parent, member by member. Other members are stored.",
    F("provider", TEXT, ""), F("model", TEXT, ""), F("agent", TEXT, "name of an agent")),
SHAPE("ForkList", "A sandbox.", R("forks", ARRAY, "newest first", .schema = "SessionFork"), R("rootSessions", ARRAY, "ids of its sessions that are not forks, newest first")),
SHAPE("ForkTypes", "Forks by type.", R("explicit", INT, ""), R("autoEdit", INT, ""), R("autoRegenerate", INT, "")),
SHAPE("TopTag", "A tag and the number of its sessions.", R("tag", TEXT, ""), R("count", INT, "")),
SHAPE("ForkStatistics", "Statistics of a sandbox.", R("totalSessions", INT, "roots and forks"), R("rootSessions", INT, ""), R("forkedSessions", INT, ""),
    R("maxDepth", INT, "forks above the deepest one"), R("byType", OBJECT, "", .schema = "ForkTypes"), R("topTags", ARRAY, "the ten most used", .schema = "TopTag")),
SHAPE("Ancestry", "The path from the root.", R("ancestry", ARRAY, "ids; the root first, the session last")),
SHAPE("ForkChildren", "Direct forks.", R("children", ARRAY, "newest first", .schema = "SessionFork")),
SHAPE("ForkInfo", "The place of a session in its tree.", R("fork", OBJECT, "", .schema = "SessionFork"), R("ancestry", ARRAY, "ids; the root first, the session last"),
    R("childCount", INT, "direct forks"), R("depth", INT, "forks above it")),
SHAPE("SessionBranch", "One version of a message that has several.",
    R("sessionId", TEXT, ""), R("branchId", TEXT, "`MESSAGE-branch-NUMBER`"), R("messageId", TEXT, "of the oldest version, shared by all of them"),
    R("branchNumber", INT, "from 1, by time"), R("branchCount", INT, "versions of this message"),
    R("parentBranchId", TEXT, "of the earlier version that it follows", NUL), R("isCurrent", BOOL, "it is in the current history"),
    R("branchType", ENUM, "what caused it", .values = TYPES), R("entryId", TEXT, "id of this version in the native API"), R("createdAt", TIME, "")),
SHAPE("SessionBranches", "Every message of a session that has several versions.", BRANCHES),
SHAPE("BranchSwitched", "The same after a switch.", SUCCESS, BRANCHES),
SHAPE("SyncMessage", "A message of a client.", R("id", TEXT, ""), R("role", ENUM, "", .values = "user|assistant|tool|system"), R("text", TEXT, "")),
SHAPE("MessagesSynced", "What the list changed.", SUCCESS, R("sessionId", TEXT, ""),
    R("divergenceIndex", INT, "messages before the first difference; null: there was none", NUL), R("moved", BOOL, "the head moved to a new branch"),
    R("added", INT, "messages that are new"), R("messageCount", INT, "messages of the list"), BRANCHES),
SHAPE("SessionComparison", "Two sessions side by side.", R("sessionA", TEXT, ""), R("sessionB", TEXT, ""),
    R("divergenceIndex", INT, "index of the first message that differs; their length if none does"), R("commonMessageCount", INT, "messages before it"),
    R("uniqueToA", INT, "messages of A from there on"), R("uniqueToB", INT, "messages of B")),
SHAPE("SessionTags", "The current tags.", SUCCESS, R("tags", ARRAY, "sorted")),
SHAPE("OpenCodeSession", "A session in OpenCode's form.", R("id", TEXT, "`ses_…`, made of the session's id"), R("slug", TEXT, "the session's id in the other APIs"),
    R("projectID", TEXT, "its tree"), R("directory", TEXT, ""), R("title", TEXT, ""), R("version", TEXT, ""), R("metadata", OBJECT, "as stored"),
    F("agent", TEXT, ""), R("time", OBJECT, "`created`, `updated`, `archived?`, in milliseconds"), F("fork", OBJECT, "`sessionID` of what it was forked from"),
    F("revert", OBJECT, "`messageID`: the first message that the last rewind has hidden")),
SHAPE("OpenCodeMessage", "A message in OpenCode's form.", R("info", OBJECT, "OpenCode's UserMessage or AssistantMessage"), R("parts", ARRAY, "OpenCode's parts: text, reasoning, tool, file")),
SHAPE("OpenCodePart", "A part of a message.", R("type", TEXT, "`text`; others are ignored"), F("text", TEXT, "")),
SHAPE("OpenCodeDone", "It was done.", SUCCESS),
SHAPE("TreeDeleted", "What was deleted, or would be.", R("deleted", ARRAY, "ids of sessions"), R("dryRun", BOOL, "")),
NULL,
};

static const face_route routes[] = {
/* ------------------------------------------------------------------ the sandbox */
ROUTE("GET", B1 "/forks", ROLE_USER, .name = "listSessionForks", .group = "Forks", .flags = READ,
 .summary = "List the forks and roots of a sandbox", .success = 200, .answer = "ForkList", .run = agentpod_forks_list, .statuses = E_BOX),
ROUTE("GET", B1 "/forks/statistics", ROLE_USER, .name = "getForkStatistics", .group = "Forks", .flags = READ,
 .summary = "Get statistics of a sandbox", .success = 200, .answer = "ForkStatistics", .run = agentpod_statistics, .statuses = E_BOX),
ROUTE("GET", B1 "/events", ROLE_USER, .name = "sandboxEvents", .group = "Forks", .flags = READ | ROUTE_STREAM,
 .summary = "Stream the events of a sandbox (server-sent events)", .success = 200, .run = agentpod_events, .statuses = E_BOX,
 .about = "`session.created`, `fork.created`, `session.updated` (tags, title, merge), `session.restored`: with `fork`, a SessionFork. `session.deleted`. "
          "`branches.updated`: with the members of SessionBranches, after an edit, a regeneration, a switch, a sync, a rewind. `message.created`: with `messages`. "
          "All have `type`, `sandboxId`, `sessionId`, `at`. `reset`: events were missed, read again. Without `Last-Event-ID` (or `after`) the stream starts now.",
 .query = FIELDS(F("after", INT, "events after this number", .min = 0, .max = INT64_MAX), F("token", TEXT, "API key, for clients that cannot send headers", .secret = true))),

/* ------------------------------------------------------------------ sessions */
ROUTE("POST", S1 "/fork", ROLE_USER, .name = "createSessionFork", .group = "Forks", .flags = WRITE,
 .summary = "Fork a session", .success = 201, .answer = "SessionFork", .run = agentpod_fork,
 .about = "Forks before a message of the user, after any other; without `messageId` at the end. The fork and its properties are written in one commit.",
 .body = FIELDS(F("messageId", TEXT, "where to fork; for a message with versions, the current one"),
                F("messageRole", ENUM, "`user`: before it, `assistant`: after it; default: the message's role", .values = "user|assistant"),
                F("reason", TEXT, "the reason; at most 2,000 characters"), F("tags", ARRAY, "at most 64 tags of 1-50 characters; trimmed and converted to lower case"),
                F("agentConfig", OBJECT, "the agent of the fork", .schema = "ModelSelection"),
                F("forkType", ENUM, "default `explicit`; the others are recorded as created by the system", .values = TYPES)),
 .statuses = E_TAG " ENTRY_NOT_FOUND BAD_ID REASON_TOO_LONG TOO_LARGE",
 .example = "{\"messageId\": \"e1\", \"reason\": \"by train\", \"tags\": [\"experiment\"]}"),
ROUTE("GET", S1 "/ancestry", ROLE_USER, .name = "getSessionAncestry", .group = "Forks", .flags = READ,
 .summary = "List the ancestors of a session", .success = 200, .answer = "Ancestry", .run = agentpod_ancestry, .statuses = E_SEE),
ROUTE("GET", S1 "/children", ROLE_USER, .name = "getSessionChildren", .group = "Forks", .flags = READ,
 .summary = "List the direct forks of a session", .success = 200, .answer = "ForkChildren", .run = agentpod_children, .statuses = E_SEE),
ROUTE("GET", S1 "/fork-info", ROLE_USER, .name = "getSessionForkInfo", .group = "Forks", .flags = READ,
 .summary = "Get the place of a session in its tree", .success = 200, .answer = "ForkInfo", .run = agentpod_fork_info, .statuses = E_SEE,
 .about = "Works for a root, too: its `fork` has no parent."),
ROUTE("DELETE", S1 "/tree", ROLE_USER, .name = "deleteForkTree", .group = "Forks", .flags = WRITE,
 .summary = "Delete a session and all its descendants", .success = 200, .answer = "TreeDeleted", .run = agentpod_tree_delete,
 .about = "Except private sessions of other users. They can be restored until garbage collection (7 days). Needs the session's owner, or manager in the tree.",
 .query = FIELDS(F("dry_run", BOOL, "only report what would be deleted")), .statuses = E_WRITE " HELD", .example = "dry_run=true"),
ROUTE("POST", S1 "/merge", ROLE_USER, .name = "mergeIntoSession", .group = "Forks", .flags = WRITE,
 .summary = "Brings what another session has into this one", .success = 200, .answer = "SessionFork", .or_answer = "MergePreview", .run = agentpod_merge,
 .about = "As `mergeSession` of the native API, with the same body. `mergedInto` of the source names this session after a `fast_forward`, `splice` or `land`.",
 .body = FIELDS(MERGE_BODY),
 .statuses = E_WRITE " HEAD_MOVED MERGE_REFUSED AGENT_NOT_FOUND TURN_RUNNING_ALREADY TOO_BUSY ENTRY_NOT_FOUND BRANCH_NOT_FOUND SHARE_NOT_FOUND ENTRY_TOO_LARGE BATCH_TOO_LARGE TOO_LARGE PATH_FULL",
 .example = "{\"from\": \"trip\", \"mode\": \"land\", \"text\": \"By train it takes three hours.\", \"dry_run\": true}"),
ROUTE("GET", S1 "/compare/{otherId}", ROLE_USER, .name = "compareForks", .group = "Forks", .flags = READ,
 .summary = "Compare two sessions of a sandbox", .success = 200, .answer = "SessionComparison", .run = agentpod_compare, .statuses = E_SEE),

/* ------------------------------------------------------------------ tags */
ROUTE("POST", S1 "/tags", ROLE_USER, .name = "addSessionTag", .group = "Tags", .flags = WRITE,
 .summary = "Add a tag", .success = 200, .answer = "SessionTags", .run = agentpod_tag_post,
 .body = FIELDS(R("tag", TEXT, "1-50 characters; trimmed and converted to lower case")), .statuses = E_TAG, .example = "{\"tag\": \"experiment\"}"),
ROUTE("PUT", S1 "/tags", ROLE_USER, .name = "setSessionTags", .group = "Tags", .flags = WRITE,
 .summary = "Replace all tags", .success = 200, .answer = "SessionTags", .run = agentpod_tags_put,
 .body = FIELDS(R("tags", ARRAY, "at most 64 tags of 1-50 characters")), .statuses = E_TAG, .example = "{\"tags\": [\"experiment\", \"production\"]}"),
ROUTE("DELETE", S1 "/tags/{tag}", ROLE_USER, .name = "removeSessionTag", .group = "Tags", .flags = WRITE,
 .summary = "Remove a tag", .success = 200, .answer = "SessionTags", .run = agentpod_tag_delete, .statuses = E_TAG),

/* ------------------------------------------------------------------ branches */
ROUTE("GET", S1 "/branches", ROLE_USER, .name = "getSessionBranches", .group = "Branches", .flags = READ,
 .summary = "List the messages that have several versions", .success = 200, .answer = "SessionBranches", .run = agentpod_branches_list, .statuses = E_SEE),
ROUTE("POST", S1 "/branches/switch", ROLE_USER, .name = "switchMessageBranch", .group = "Branches", .flags = MOVE,
 .summary = "Switch to another version of a message", .success = 200, .answer = "BranchSwitched", .run = agentpod_branch_switch,
 .about = "Moves the head to the newest branch that contains it.",
 .body = FIELDS(R("messageId", TEXT, ""), R("branchNumber", INT, "from 1", .min = 1, .max = 16777215)),
 .statuses = E_WRITE " BRANCH_NOT_FOUND HEAD_MOVED", .example = "{\"messageId\": \"e1\", \"branchNumber\": 1}"),
ROUTE("POST", S1 "/messages/sync", ROLE_USER, .name = "syncMessages", .group = "Branches", .flags = MOVE,
 .summary = "Make the history equal to a client's list", .success = 200, .answer = "MessagesSynced", .run = agentpod_messages_sync,
 .about = "Finds the first difference, moves the head to a new branch there and appends the rest, in one commit. The old messages stay as versions: "
          "a changed message of the user is an `auto-edit`, a changed answer an `auto-regenerate`.",
 .body = FIELDS(R("messages", ARRAY, "all of them, oldest first", .schema = "SyncMessage")),
 .statuses = E_WRITE " ENTRY_EXISTS ENTRY_TOO_LARGE BATCH_TOO_LARGE BAD_ID PATH_FULL HEAD_MOVED",
 .example = "{\"messages\": [{\"id\": \"e1\", \"role\": \"user\", \"text\": \"How do I get to Porto?\"}]}"),

/* ------------------------------------------------------------------ OpenCode's routes */
#define OC_MESSAGE F("messageID", TEXT, "a message"), F("messageId", TEXT, "the same, as AgentPod sends it")
#define OC_PROMPT FIELDS(R("parts", ARRAY, "OpenCode's parts; their texts are taken", .schema = "OpenCodePart"), F("noReply", BOOL, "only append the message"), \
                F("model", OBJECT, "`providerID`, `modelID`: for this message"))
#define E_TURN E_WRITE " AGENT_NOT_FOUND TURN_RUNNING_ALREADY TOO_BUSY ENTRY_TOO_LARGE"
ROUTE("GET", O1 "/session", ROLE_USER, .name = "opencodeSessions", .group = "OpenCode", .flags = READ,
 .summary = "List the sessions of a sandbox in OpenCode's form", .success = 200, .run = pod_sessions_list, .statuses = E_BOX,
 .about = "Answers with an array of OpenCodeSession, newest first. `@opencode-ai/sdk` works with the URL up to `/opencode` as its `baseUrl`. Ids have OpenCode's form and are made of ours; plain ids are taken, too.",
 .query = FIELDS(F("limit", INT, "at most that many; default 100", .min = 1, .max = 100000))),
ROUTE("POST", O1 "/session", ROLE_USER, .name = "opencodeCreate", .group = "OpenCode", .flags = WRITE,
 .summary = "Create a session", .success = 200, .answer = "OpenCodeSession", .run = pod_session_create, .statuses = E_BOX " FORBIDDEN TITLE_TOO_LONG TOO_LARGE",
 .body = FIELDS(F("title", TEXT, ""), F("metadata", OBJECT, "")), .example = "{\"title\": \"Trip to Lisbon\"}"),
ROUTE("GET", O1 "/session/status", ROLE_USER, .name = "opencodeStatus", .group = "OpenCode", .flags = READ,
 .summary = "Say which sessions are busy", .success = 200, .run = pod_status, .statuses = E_BOX, .about = "`{ID: {\"type\": \"busy\"}}`; all others are idle."),
ROUTE("GET", P1, ROLE_USER, .name = "opencodeSession", .group = "OpenCode", .flags = READ,
 .summary = "Get a session", .success = 200, .answer = "OpenCodeSession", .run = pod_session_get, .statuses = E_SEE),
ROUTE("PATCH", P1, ROLE_USER, .name = "opencodeUpdate", .group = "OpenCode", .flags = WRITE,
 .summary = "Change title and metadata", .success = 200, .answer = "OpenCodeSession", .run = pod_session_patch, .statuses = E_WRITE " TITLE_TOO_LONG TOO_LARGE",
 .body = FIELDS(F("title", TEXT, ""), F("metadata", OBJECT, "replaces it")), .example = "{\"title\": \"Trip to Porto\"}"),
ROUTE("DELETE", P1, ROLE_USER, .name = "opencodeDelete", .group = "OpenCode", .flags = WRITE,
 .summary = "Delete a session", .success = 200, .answer = "OpenCodeDone", .run = pod_session_delete, .statuses = E_WRITE " HELD",
 .about = "Its forks stay. It can be restored for a week."),
ROUTE("GET", P1 "/children", ROLE_USER, .name = "opencodeChildren", .group = "OpenCode", .flags = READ,
 .summary = "List the direct forks of a session", .success = 200, .run = pod_children, .statuses = E_SEE, .about = "An array of OpenCodeSession."),
ROUTE("GET", P1 "/message", ROLE_USER, .name = "opencodeMessages", .group = "OpenCode", .flags = READ | ROUTE_PAGE,
 .summary = "Read the messages of a session", .success = 200, .run = pod_messages_list, .statuses = E_SEE " ENTRY_NOT_FOUND",
 .about = "An array of OpenCodeMessage, oldest first: the whole history, at most its newest 64,000 entries. With `limit` the newest, and `X-Next-Cursor` for `before` if there are earlier ones.",
 .query = FIELDS(F("limit", INT, "at most that many messages", .min = 1, .max = 100000), F("before", TEXT, "only messages before this one"))),
ROUTE("GET", P1 "/message/{messageId}", ROLE_USER, .name = "opencodeMessage", .group = "OpenCode", .flags = READ,
 .summary = "Read a message", .success = 200, .answer = "OpenCodeMessage", .run = pod_message_get, .statuses = E_SEE " ENTRY_NOT_FOUND"),
ROUTE("POST", P1 "/message", ROLE_USER, .name = "opencodePrompt", .group = "OpenCode", .flags = WRITE,
 .summary = "Send a message and wait for the answer", .success = 200, .answer = "OpenCodeMessage", .run = pod_prompt, .statuses = E_TURN,
 .body = OC_PROMPT, .example = "{\"parts\": [{\"type\": \"text\", \"text\": \"How long does it take?\"}]}"),
ROUTE("POST", P1 "/prompt_async", ROLE_USER, .name = "opencodePromptAsync", .group = "OpenCode", .flags = WRITE,
 .summary = "Send a message; the events tell the answer", .success = 200, .run = pod_prompt_async, .statuses = E_TURN, .body = OC_PROMPT,
 .about = "Answers when the turn has begun.", .example = "{\"parts\": [{\"type\": \"text\", \"text\": \"How long does it take?\"}]}"),
ROUTE("POST", P1 "/fork", ROLE_USER, .name = "opencodeFork", .group = "OpenCode", .flags = WRITE,
 .summary = "Fork before a message, or at the end", .success = 200, .answer = "OpenCodeSession", .run = pod_fork, .statuses = E_WRITE " ENTRY_NOT_FOUND",
 .about = "As in OpenCode the message itself is not in the fork. An unknown message is 404; in a rewound session, what was left is not in it.",
 .body = FIELDS(OC_MESSAGE), .example = "{}"),
ROUTE("POST", P1 "/revert", ROLE_USER, .name = "opencodeRevert", .group = "OpenCode", .flags = MOVE,
 .summary = "Rewind before a message", .success = 200, .answer = "OpenCodeSession", .run = pod_revert, .statuses = E_WRITE " ENTRY_NOT_FOUND HEAD_MOVED",
 .about = "An answer is reverted with the message that it answers. Nothing is lost by the next prompt: what was left stays as a branch.",
 .body = FIELDS(OC_MESSAGE), .example = "{\"messageID\": \"e1\"}"),
ROUTE("POST", P1 "/unrevert", ROLE_USER, .name = "opencodeUnrevert", .group = "OpenCode", .flags = MOVE,
 .summary = "Take the last rewind back", .success = 200, .answer = "OpenCodeSession", .run = pod_unrevert, .statuses = E_WRITE " HEAD_MOVED",
 .about = "If nothing was said since; otherwise nothing changes."),
ROUTE("POST", P1 "/abort", ROLE_USER, .name = "opencodeAbort", .group = "OpenCode", .flags = MOVE,
 .summary = "Cancel the running turn", .success = 200, .run = pod_abort, .statuses = E_WRITE, .about = "`true`, also if none runs."),
ROUTE("GET", O1 "/event", ROLE_USER, .name = "opencodeEvents", .group = "OpenCode", .flags = READ | ROUTE_STREAM,
 .summary = "Stream the events of a sandbox in OpenCode's form", .success = 200, .run = pod_events, .statuses = E_BOX,
 .about = "`server.connected`, `server.heartbeat`, `session.created`, `session.updated`, `session.deleted`, `message.updated`, `message.part.updated`: each as `{id, type, properties}`. "
          "A message is told when entries of it are recorded, whole.",
 .query = FIELDS(F("after", INT, "events after this number", .min = 0, .max = INT64_MAX), F("token", TEXT, "API key, for clients that cannot send headers", .secret = true))),
ROUTES_END,
};

static const face_param params[] = {
    {"sandboxId", "a sandbox; `default` is the caller's own", "default"},
    {"sessionId", "a session id, percent-encoded", "trip"},
    {"otherId", "another session of the sandbox", "trip"},
    {"tag", "a tag, percent-encoded", "experiment"},
    {"messageId", "a message id", "e1"},
    {NULL, NULL, NULL},
};

const face face_agentpod = {
    .name = "agentpod", .title = "AgentPod's branching API", .prefix = "/api/v2/sandboxes", .identity = &agentpod_identity, .fail = agentpod_fail,
    .about = "The backend of AgentPod's design for session forking and branching. Errors are `{\"error\": \"text\", \"details\": \"text\"}`. "
             "A sandbox of another user, and a session that is not in the sandbox, are 404. Unknown parameters and members are ignored.\n"
             "The sandbox `default` always exists: it contains the caller's sessions that are in no other. `POST /ramet/v1/sandboxes` creates another one, "
             "`sandbox` in `POST /ramet/v1/sessions` puts a session into it; a fork stays in its parent's.",
    .routes = routes, .schemas = agentpod_schemas, .params = params,
};
