/* SPDX-License-Identifier: Apache-2.0
 *
 * routes.c: every route of Ramet's own API, in one table. It drives dispatch, the checks of query
 * and body, /openapi.json, /docs and docs/api/native.md.
 */
#include "face/native/native_face.h"
#include "ramet/foreign.h"

#include "face/kit/merge.h"
#include "face/kit/rows.h"

/* One line per row. */
/* clang-format off */

#define V1 "/ramet/v1"
#define S1 V1 "/sessions/{id}"
#define T1 V1 "/templates/{template}"

#define SIDES   "before|after"
#define CUTS    "exact|snap_before|snap_after"
#define TYPES   "explicit|auto-edit|auto-regenerate"
#define SEEN    "tree|private"
#define LEVELS  "reader|writer|manager|owner"
#define ROLES   "user|assistant|tool|system"
#define LOGS    "main|adk"
#define OVERLAY_ACTIONS "hide|replace|hide_before"

/* ---- rows that several routes share */
#define LIMIT(max_, t)  F("limit", INT, t, .min = 1, .max = max_)
#define CURSOR           F("cursor", TEXT, "`next_cursor` of the previous page")
#define PAGE             LIMIT(1000, "page size; default 50"), CURSOR
#define WHOLE            LIMIT(1000, "page size; default: everything, up to 10,000"), CURSOR
#define BRANCH           F("branch", TEXT, "a branch of the session to read instead of its head (`b17`)")
#define LOG              F("log", ENUM, "the log; `adk` contains a runtime's raw events and needs writer", .values = LOGS)
#define EXPECT           F("expected_head", OBJECT, "write only if the history is still exactly this, otherwise 409 `head_moved`", .schema = "ExpectedHead")
#define EXPECT_QUERY     F("expected_head", TEXT, "write only if the history still has this prefix_hash, otherwise 409 `head_moved`")
#define REASON           F("reason", TEXT, "the reason, which is recorded; at most 2,000 characters")
#define AT               F("at", OBJECT, "where to cut; default: the head", .schema = "At")
#define ADK_AT           F("adk_at", OBJECT, "where to cut the `adk` log; default: what matches the cut of the main log", .schema = "At")
#define CUT              F("cut", ENUM, "what to do if the cut would separate a tool call from its result; default `exact`", .values = CUTS)
#define AGENT            F("agent", OBJECT, "the agent that answers; a string is its name", .schema = "AgentIn")
#define TITLE            F("title", TEXT, "at most 500 characters")
#define TAGS             F("tags", ARRAY, "at most 64 tags of 1-50 characters; trimmed and converted to lower case")
#define METADATA         F("metadata", OBJECT, "any data of the client, at most 64 KiB")
#define VISIBILITY       F("visibility", ENUM, "`tree`: all members of the tree; `private`: its owner only", .values = SEEN)
#define EPHEMERAL        F("ephemeral_seconds", NUMBER, "delete the session after this many seconds, unless it is promoted")
#define ENTRIES_IN       R("entries", ARRAY, "appended in this order, all or none", .schema = "EntryIn")
#define KEEP_RUNNING     F("keep_running", BOOL, "let a running turn continue on the branch where it began, instead of cancelling it")
#define MESSAGE          F("text", TEXT, "the text; alternative to `parts`"), F("parts", ARRAY, "the parts; alternative to `text`", .schema = "Part"), F("attachments", ARRAY, "ids of attachments to add")
#define WHEN_IDLE        F("when", ENUM, "`idle`: while a turn runs on the head, the request waits for its end instead of being refused", .values = "idle")
#define PLACEHOLDERS     F("placeholders", ARRAY, "at most 100 names, each 1-64 bytes without braces, spaces and control characters")
#define NEW_ID           F("id", TEXT, "1-255 bytes; default: a new UUIDv7")

/* ---- errors of routes, besides the general ones */
#define E_SEE   "SESSION_NOT_FOUND"
#define E_WRITE E_SEE " FORBIDDEN"
#define E_HEAD  E_WRITE " HEAD_MOVED"
#define E_TEMPLATE "TEMPLATE_NOT_FOUND"
#define E_TURN  " TURN_RUNNING_ALREADY AGENT_NOT_FOUND TOO_BUSY"
#define E_MERGE E_HEAD " MERGE_REFUSED AGENT_NOT_FOUND TURN_RUNNING_ALREADY TOO_BUSY ENTRY_NOT_FOUND BRANCH_NOT_FOUND BRANCH_PRUNED SHARE_NOT_FOUND ENTRY_TOO_LARGE BATCH_TOO_LARGE TOO_LARGE PATH_FULL"
#define E_IN    "BAD_ID ATTACHMENT_NOT_FOUND ENTRY_EXISTS ENTRY_TOO_LARGE BATCH_TOO_LARGE PATH_FULL"

/* Also for a page that was opened by a share link: what the link allows, core decides. */
#define LINK_TOO (ROLE_USER | ROLE_LINK)

static const face_route routes[] = {
/* ------------------------------------------------------------------ sessions */
ROUTE("POST", V1 "/sessions", ROLE_USER, .name = "createSession", .group = "Sessions", .flags = ROUTE_WRITE,
 .summary = "Create a session", .success = 201, .answer = "Session", .run = api_session_create,
 .about = "Creates a root session in a new tree, which the caller owns.",
 .body = FIELDS(NEW_ID, TITLE, AGENT, TAGS, METADATA, VISIBILITY, EPHEMERAL,
                F("sandbox", TEXT, "one of the caller's sandboxes; default `default`")),
 .statuses = "SANDBOX_NOT_FOUND BAD_ID SESSION_EXISTS SESSION_DELETED BAD_TAG TOO_MANY_TAGS TITLE_TOO_LONG TOO_LARGE",
 .example = "{\"id\": \"trip\", \"title\": \"To Lisbon\", \"agent\": \"echo\", \"tags\": [\"travel\"]}"),
ROUTE("GET", V1 "/sessions", ROLE_USER, .name = "listSessions", .group = "Sessions", .flags = ROUTE_PAGE,
 .summary = "List the sessions that the caller may see", .success = 200, .answer = "SessionList", .run = api_sessions_list,
 .about = "Newest `created_at` first. Pages are stable: creating or removing a session meanwhile neither repeats nor skips another.",
 .query = FIELDS(PAGE, F("owner", TEXT, "a user"), F("agent", TEXT, "name of an agent"), F("tag", TEXT, "a tag"),
                 F("tree", TEXT, "a tree id"), F("title", TEXT, "part of the title, ignoring case"), F("sandbox", TEXT, "one of the caller's sandboxes"),
                 F("archived", ENUM, "how to treat archived sessions; default `exclude`", .values = "exclude|include|only"),
                 F("deleted", BOOL, "instead: deleted and expired sessions that the caller may restore, until garbage collection")),
 .statuses = "SANDBOX_NOT_FOUND BAD_CURSOR BAD_TAG", .example = "limit=10&tag=travel"),
ROUTE("GET", S1, LINK_TOO, .name = "getSession", .group = "Sessions", .flags = ROUTE_PAGE,
 .summary = "Get a session", .success = 200, .answer = "Session", .run = api_session_get, .statuses = E_SEE,
 .about = "Its `ETag` begins with the `prefix_hash` of the head: send it as `If-Match` to make a write conditional."),
ROUTE("PATCH", S1, ROLE_USER, .name = "updateSession", .group = "Sessions", .flags = ROUTE_WRITE,
 .summary = "Change a session", .success = 200, .answer = "Session", .run = api_session_patch,
 .about = "Changes only the members that are sent; `null` clears a title, an agent, metadata or `merged_into`.",
 .body = FIELDS(F("title", TEXT, "at most 500 characters", .nullable = true),
                F("agent", OBJECT, "replaces the whole agent; a string is its name", .schema = "AgentIn", .nullable = true),
                F("metadata", OBJECT, "replaces the metadata", .nullable = true),
                F("archived", BOOL, "hide it from lists that do not ask for archived sessions"), VISIBILITY,
                F("merged_into", TEXT, "a session of the same tree", .nullable = true), EXPECT),
 .statuses = E_HEAD " TITLE_TOO_LONG TOO_LARGE", .example = "{\"title\": \"Lisbon by train\", \"archived\": false}"),
ROUTE("DELETE", S1, ROLE_USER, .name = "deleteSession", .group = "Sessions", .flags = ROUTE_WRITE,
 .summary = "Delete a session, optionally with all its descendants", .success = 200, .answer = "Deleted", .run = api_session_delete,
 .about = "Its forks stay. It can be restored until garbage collection (7 days). Needs the session's owner, or manager in the tree.",
 .query = FIELDS(F("tree", BOOL, "delete its descendants, too, except private sessions of other users"),
                 F("dry_run", BOOL, "only report what would be deleted"), EXPECT_QUERY),
 .statuses = E_HEAD " HELD", .example = "dry_run=true"),
ROUTE("POST", S1 "/restore", ROLE_USER, .name = "restoreSession", .group = "Sessions", .flags = ROUTE_WRITE,
 .summary = "Restore a deleted session", .success = 200, .answer = "Session", .run = api_session_restore,
 .body = FIELDS(F("tree", BOOL, "restore everything that the same request deleted")), .statuses = E_WRITE),
ROUTE("POST", S1 "/promote", ROLE_USER, .name = "promoteSession", .group = "Sessions", .flags = ROUTE_WRITE,
 .summary = "Make an ephemeral session permanent", .success = 200, .answer = "Session", .run = api_session_promote,
 .body = FIELDS(EXPECT), .statuses = E_HEAD),

/* ------------------------------------------------------------------ sandboxes */
ROUTE("POST", V1 "/sandboxes", ROLE_USER, .name = "createSandbox", .group = "Sandboxes", .flags = ROUTE_WRITE,
 .summary = "Create a sandbox", .success = 201, .answer = "Sandbox", .run = api_sandbox_post,
 .about = "A sandbox groups trees that belong together; only its owner sees it. `sandbox` in `POST /ramet/v1/sessions` puts a new tree into it. The AgentPod API works on one sandbox.",
 .body = FIELDS(R("id", TEXT, "1-255 bytes, unique in the store"), F("opencode", TEXT, "URL of an OpenCode server in it, whose sessions are read in and followed; needs admin where users sign in"),
                F("password_file", TEXT, "a file on the server of Ramet that holds the password of that server")),
 .statuses = "BAD_ID SANDBOX_EXISTS FORBIDDEN", .example = "{\"id\": \"work\"}"),
ROUTE("GET", V1 "/sandboxes", ROLE_USER, .name = "listSandboxes", .group = "Sandboxes",
 .summary = "List the caller's sandboxes", .success = 200, .answer = "SandboxList", .run = api_sandboxes_list),
ROUTE("DELETE", V1 "/sandboxes/{sandbox}", ROLE_USER, .name = "deleteSandbox", .group = "Sandboxes", .flags = ROUTE_WRITE,
 .summary = "Remove a sandbox, but keep its sessions", .success = 200, .answer = "SandboxRemoved", .run = api_sandbox_delete, .statuses = "SANDBOX_NOT_FOUND"),

/* ------------------------------------------------------------------ entries */
ROUTE("POST", S1 "/entries", LINK_TOO, .name = "appendEntries", .group = "Entries", .flags = ROUTE_WRITE,
 .summary = "Append entries", .success = 201, .answer = "Appended", .run = api_entries_append,
 .about = "Answers once the entries are durable. If an id is already on the path with the same content, the answer is "
          "the first result (200 if nothing was new); with other content it is 409 `entry_exists`. Needs writer.",
 .body = FIELDS(ENTRIES_IN, EXPECT, F("branch_id", TEXT, "a branch of this session to write to instead of its head"), LOG),
 .statuses = E_HEAD " BRANCH_NOT_FOUND BRANCH_PRUNED " E_IN,
 .example = "{\"entries\": [{\"id\": \"e1\", \"role\": \"user\", \"text\": \"How do I get to Lisbon?\"}]}"),
ROUTE("GET", S1 "/entries", LINK_TOO, .name = "listEntries", .group = "Entries", .flags = ROUTE_PAGE,
 .summary = "Read a page of the history", .success = 200, .answer = "EntryPage", .run = api_entries_list,
 .about = "Always oldest first. `after` and `before` name entries, so pages neither skip nor repeat an entry while the session grows.",
 .query = FIELDS(LIMIT(1000, "page size; default 50"), F("after", TEXT, "entry id on the path, exclusive"),
                 F("before", TEXT, "entry id on the path, exclusive"), F("tail", BOOL, "the last entries of the range that `after` and `before` select"),
                 F("from", INT, "begin at this position; alternative to `after`", .min = 0, .max = 16777215),
                 F("channel", TEXT, "only entries of this channel"), BRANCH, LOG,
                 F("versions", BOOL, "`false` leaves out the `versions` of each entry"),
                 F("feedback", BOOL, "`true` adds the caller's feedback to each entry"),
                 F("view", ENUM, "`record`: what was written, with the names of placeholders; `context`: what the model sees, by the overlays in force; default: what was written, with the values of placeholders", .values = "record|context")),
 .statuses = E_SEE " ENTRY_NOT_FOUND BRANCH_NOT_FOUND BRANCH_PRUNED FORBIDDEN", .example = "tail=true&limit=20"),
ROUTE("GET", S1 "/entries/{entry}", LINK_TOO, .name = "getEntry", .group = "Entries", .flags = ROUTE_PAGE,
 .summary = "Get an entry of the history", .success = 200, .answer = "Entry", .run = api_entry_get, .query = FIELDS(BRANCH),
 .statuses = E_SEE " ENTRY_NOT_FOUND BRANCH_NOT_FOUND BRANCH_PRUNED"),
ROUTE("POST", S1 "/entries/{entry}/edit", LINK_TOO, .name = "editEntry", .group = "Entries", .flags = ROUTE_WRITE,
 .summary = "Write a new version of an entry", .success = 201, .answer = "Appended", .run = api_entry_edit,
 .about = "Branches before the entry and appends the new one there, in one commit; the old version stays (see `branches`).",
 .body = FIELDS(R("entry", OBJECT, "the new version; default role: that of the old one", .schema = "EntryEdit"), KEEP_RUNNING, EXPECT),
 .statuses = E_HEAD " ENTRY_NOT_FOUND " E_IN, .example = "{\"entry\": {\"text\": \"How do I get to Porto?\"}}"),
ROUTE("POST", S1 "/entries/{entry}/regenerate", LINK_TOO, .name = "regenerateEntry", .group = "Entries", .flags = ROUTE_WRITE,
 .summary = "Replace an answer with another one", .success = 201, .answer = "Appended", .run = api_entry_regenerate,
 .about = "Branches before the answer and appends the entries of the new one there; without entries the branch stays empty, ready for appending.",
 .body = FIELDS(F("entries", ARRAY, "the new answer", .schema = "EntryIn"), KEEP_RUNNING, EXPECT),
 .statuses = E_HEAD " ENTRY_NOT_FOUND " E_IN, .example = "{\"entries\": [{\"role\": \"assistant\", \"text\": \"By night train.\"}]}"),
ROUTE("GET", S1 "/record", LINK_TOO, .name = "getRecord", .group = "Entries", .flags = ROUTE_PAGE,
 .summary = "Read everything ever appended to the session", .success = 200, .answer = "Record", .run = api_record_get,
 .about = "Entries of all branches, in the order of appending, without inherited ones.",
 .query = FIELDS(F("from", INT, "the first entry, counted from 0", .max = INT64_MAX), LIMIT(1000, "page size; default 50"), LOG),
 .statuses = E_SEE " FORBIDDEN", .example = "from=0&limit=100"),
ROUTE("PUT", S1 "/entries/{entry}/feedback", ROLE_USER, .name = "putFeedback", .group = "Feedback", .flags = ROUTE_WRITE,
 .summary = "Give feedback on an entry", .success = 200, .answer = "Feedback", .run = api_feedback_put,
 .about = "One per user and entry, stored with the entry: every session that shares the entry shows it.",
 .body = FIELDS(R("value", ENUM, "`null` removes the feedback", .values = "up|down", .nullable = true),
                F("comment", TEXT, "at most 2,000 characters"), EXPECT),
 .statuses = E_HEAD " ENTRY_NOT_FOUND TOO_LARGE", .example = "{\"value\": \"up\", \"comment\": \"just what I wanted\"}"),
ROUTE("GET", S1 "/entries/{entry}/feedback", ROLE_USER, .name = "listFeedback", .group = "Feedback",
 .summary = "List all users' feedback on an entry, oldest first", .success = 200, .answer = "FeedbackList", .run = api_feedback_list,
 .statuses = E_SEE " ENTRY_NOT_FOUND"),

/* ------------------------------------------------------------------ turns */
ROUTE("POST", S1 "/messages", LINK_TOO, .name = "sendMessage", .group = "Messages and turns", .flags = ROUTE_WRITE,
 .summary = "Send a message to the agent and record its answer", .success = 200, .answer = "TurnDone", .run = api_message_post,
 .about = "With `Accept: text/event-stream` the answer is streamed: `turn.started`, `turn.delta {text}`, `turn.thinking {text}`, "
          "`turn.question {question}`, `turn.plan {plan}`, `entry.appended {entry}`, and at the end `turn.done {status, error?}`; each with `session_id` and `turn_id`. "
          "Otherwise the answer is JSON at the end. If the client disconnects, nothing is lost: the answer is still recorded, on the branch where the turn began. "
          "With `fork` the message goes to a new fork, which `session_id` names. With `replace` it is a new version of that entry. "
          "While a turn runs on the current head branch: 409 `turn_running`, with its `turn_id`. Repeating the request with the same `Idempotency-Key` joins the running turn, or returns its result.",
 .body = FIELDS(MESSAGE, F("id", TEXT, "id of the entry; default: a new UUIDv7"), F("agent", OBJECT, "the agent that answers this message; default: the session's", .schema = "AgentIn"),
                F("fork", OBJECT, "fork first; the body of `fork`", .schema = "ForkIn"), F("replace", TEXT, "id of an entry to write a new version of; the entries after it stay on the old branch"),
                KEEP_RUNNING, EXPECT),
 .statuses = E_HEAD " ENTRY_NOT_FOUND" E_TURN " " E_IN, .example = "{\"text\": \"How long does it take?\"}"),
ROUTE("POST", S1 "/regenerate", LINK_TOO, .name = "regenerate", .group = "Messages and turns", .flags = ROUTE_WRITE,
 .summary = "Have a message answered again", .success = 200, .answer = "TurnDone", .run = api_regenerate_post,
 .about = "Runs the agent for a new version of the answer. The answer has the form of `messages`.",
 .body = FIELDS(F("entry_id", TEXT, "the answer to replace; default: the last one on the path"), F("agent", OBJECT, "the agent that answers this time; default: the session's", .schema = "AgentIn"),
                KEEP_RUNNING, EXPECT),
 .statuses = E_HEAD " ENTRY_NOT_FOUND" E_TURN, .example = "{}"),
ROUTE("POST", S1 "/fan-out", ROLE_USER, .name = "fanOut", .group = "Messages and turns", .flags = ROUTE_WRITE,
 .summary = "Send a message to several agents in parallel", .success = 200, .answer = "FanDone", .run = api_fan_out,
 .about = "Makes one fork per agent at the head; their turns share a `group`. The events are those of `messages`, each with its `session_id`; the stream ends with the last `turn.done`. "
          "The forks can be compared (`/compare`): all are cut at the same place. Repeating the request with the same `Idempotency-Key` joins the turns, or returns their results; "
          "a request interrupted by a crash is completed.",
 .body = FIELDS(MESSAGE, R("agents", ARRAY, "1 to 16 agents; a string is a name", .schema = "AgentIn"), EXPECT),
 .statuses = E_HEAD " AGENT_NOT_FOUND TOO_BUSY " E_IN, .example = "{\"text\": \"And by bus?\", \"agents\": [\"echo\", \"echo\"]}"),
ROUTE("POST", S1 "/edit", LINK_TOO, .name = "edit", .group = "Messages and turns", .flags = ROUTE_WRITE,
 .summary = "Write a new version of an entry without an answer", .success = 201, .answer = "Appended", .run = api_edit_post,
 .about = "Branches before the entry and appends the new version there, with the role of the old one.",
 .body = FIELDS(R("entry_id", TEXT, "the entry"), MESSAGE, F("id", TEXT, "id of the new version; default: a new UUIDv7"), KEEP_RUNNING, EXPECT),
 .statuses = E_HEAD " ENTRY_NOT_FOUND " E_IN, .example = "{\"entry_id\": \"e1\", \"text\": \"How do I get to Faro?\"}"),
ROUTE("POST", S1 "/cancel", LINK_TOO, .name = "cancelTurn", .group = "Messages and turns", .flags = ROUTE_WRITE,
 .summary = "Cancel a running turn", .success = 200, .answer = "Turn", .run = api_turn_cancel,
 .about = "The output so far is recorded and marked as cut off: its last part is `{\"type\": \"data\", \"data\": {\"turn\": \"cancelled\"}}`. Needs writer. If the turn runs on another node that does not respond: 503 `node_gone`.",
 .body = FIELDS(F("turn_id", TEXT, "the turn; default: the one that runs on the head branch")), .statuses = E_WRITE " TURN_NOT_FOUND TURN_OVER", .example = "{}"),
ROUTE("GET", S1 "/turns", LINK_TOO, .name = "listTurns", .group = "Messages and turns",
 .summary = "List the turns of a session, newest first", .success = 200, .answer = "TurnList", .run = api_turns_list,
 .query = FIELDS(LIMIT(1000, "page size; default 50")), .statuses = E_SEE),
ROUTE("GET", S1 "/turns/{turn}", LINK_TOO, .name = "getTurn", .group = "Messages and turns",
 .summary = "Get a turn", .success = 200, .answer = "Turn", .run = api_turn_get, .statuses = E_SEE " TURN_NOT_FOUND"),
ROUTE("GET", V1 "/turns/{turn}", ROLE_USER, .name = "findTurn", .group = "Messages and turns",
 .summary = "Get a turn of any session that you can see", .success = 200, .answer = "Turn", .run = api_turn_find, .statuses = "TURN_NOT_FOUND"),
ROUTE("GET", S1 "/turns/{turn}/prompt", ROLE_USER, .name = "getPrompt", .group = "Messages and turns",
 .summary = "What the agent of a turn was sent", .success = 200, .answer = "Prompt", .run = api_prompt_get,
 .about = "Exactly what this server sent for the turn, the last time when it asked several times. `known` is false, and everything but `usage` null, for turns of older versions, "
          "for those whose server died before it had recorded anything, and where it can no longer be told exactly. Needs reader; a link is not enough.",
 .statuses = E_WRITE " TURN_NOT_FOUND BRANCH_PRUNED"),
ROUTE("POST", S1 "/turns/{turn}/answer", LINK_TOO, .name = "answerQuestion", .group = "Messages and turns", .flags = ROUTE_WRITE,
 .summary = "Answer a question of the agent", .success = 200, .answer = "Turn", .run = api_turn_answer,
 .about = "An agent may ask for a permission or for input (`turn.question`, `running.question`), and then waits. Needs writer. If the question is not open: 404 `question_not_found`. If the turn runs on another node that does not respond: 503 `node_gone`.",
 .body = FIELDS(R("question_id", TEXT, "`id` of the question"), R("answer", ANY, "the id of an option, or a text")),
 .statuses = E_WRITE " TURN_NOT_FOUND TURN_OVER", .example = "{\"question_id\": \"q1\", \"answer\": \"allow\"}"),

/* ------------------------------------------------------------------ moves */
ROUTE("POST", S1 "/fork", ROLE_USER, .name = "forkSession", .group = "Forks and moves", .flags = ROUTE_WRITE,
 .summary = "Fork a session at any entry", .success = 201, .answer = "Session", .run = api_fork_create,
 .about = "Creates a session in the same tree that shares the history up to the cut, however long it is; nothing is copied. `cut` "
          "in the answer is where it was really cut. For an entry that is not on the current path the answer is 404, and nothing is created. "
          "A fork visible to the tree needs writer, a private one reader or a share link; through a link it is private by default.",
 .body = FIELDS(AT, F("branch_id", TEXT, "the branch of this session whose path contains `at`; default: its head"), CUT, ADK_AT,
                NEW_ID, TITLE, REASON, TAGS, F("agent", OBJECT, "the agent; default: the parent's; a string is its name", .schema = "AgentIn"),
                METADATA, F("type", ENUM, "what caused the fork; default `explicit`", .values = TYPES), VISIBILITY, EPHEMERAL,
                F("created_by", OBJECT, "the creator, as stated by the caller; default: the caller", .schema = "CreatedBy"), EXPECT),
 .statuses = E_HEAD " ENTRY_NOT_FOUND BRANCH_NOT_FOUND BRANCH_PRUNED BAD_ID SESSION_EXISTS SESSION_DELETED BAD_TAG TOO_MANY_TAGS TITLE_TOO_LONG REASON_TOO_LONG TOO_LARGE",
 .example = "{\"at\": {\"entry_id\": \"e1\", \"side\": \"after\"}, \"reason\": \"by bus instead\"}"),
ROUTE("POST", S1 "/rewind", LINK_TOO, .name = "rewindSession", .group = "Forks and moves", .flags = ROUTE_WRITE,
 .summary = "Rewind a session to an entry", .success = 200, .answer = "Session", .run = api_rewind_to,
 .about = "Moves the head to a new branch at the cut. The entries after it stay on the old branch, and the move can be undone.",
 .body = FIELDS(R("at", OBJECT, "where to cut", .schema = "At"), CUT, ADK_AT, REASON,
                F("files", ENUM, "`restore`: the working files as they were before what is left, from the snapshots of the agent (409 `no_snapshot` if it has none, and nothing changes); default `keep`", .values = "keep|restore"),
                KEEP_RUNNING, EXPECT),
 .statuses = E_HEAD " ENTRY_NOT_FOUND REASON_TOO_LONG", .example = "{\"at\": {\"entry_id\": \"e1\"}, \"reason\": \"start over\"}"),
ROUTE("GET", S1 "/rewind/files", ROLE_USER, .name = "rewindFiles", .group = "Forks and moves",
 .summary = "Show what a rewind with its files would change", .success = 200, .run = api_rewind_files,
 .about = "`{available, reason?, changes}`; a change is `{file, patch, additions, deletions, status}`, newest last. Agents of the kind `opencode` have snapshots of working files. Changes nothing.",
 .query = FIELDS(R("entry_id", TEXT, "where the rewind cuts"), F("side", ENUM, "`before` or `after` (default) the entry", .values = "before|after")),
 .statuses = E_SEE " ENTRY_NOT_FOUND", .example = "entry_id=e1"),
ROUTE("POST", S1 "/undo", LINK_TOO, .name = "undoMove", .group = "Forks and moves", .flags = ROUTE_WRITE,
 .summary = "Undo the last move", .success = 200, .answer = "Session", .run = api_move_undo,
 .about = "As in an editor, without limit. Moves are rewind, switch, edit, regenerate, sync and merge; appending is not a move.",
 .body = FIELDS(KEEP_RUNNING, EXPECT), .statuses = E_HEAD " BRANCH_PRUNED NOTHING_TO_UNDO"),
ROUTE("POST", S1 "/redo", LINK_TOO, .name = "redoMove", .group = "Forks and moves", .flags = ROUTE_WRITE,
 .summary = "Redo the last undone move", .success = 200, .answer = "Session", .run = api_move_redo,
 .about = "A new move discards what could be redone.", .body = FIELDS(KEEP_RUNNING, EXPECT), .statuses = E_HEAD " BRANCH_PRUNED NOTHING_TO_REDO"),
ROUTE("POST", S1 "/switch", LINK_TOO, .name = "switchBranch", .group = "Forks and moves", .flags = ROUTE_WRITE,
 .summary = "Switch to another branch of the session", .success = 200, .answer = "Session", .run = api_move_switch,
 .body = FIELDS(R("branch_id", TEXT, "a branch of this session, such as `b17`"), KEEP_RUNNING, EXPECT),
 .statuses = E_HEAD " BRANCH_NOT_FOUND BRANCH_PRUNED", .example = "{\"branch_id\": \"b1\"}"),
ROUTE("POST", S1 "/sync", ROLE_USER, .name = "syncSession", .group = "Forks and moves", .flags = ROUTE_WRITE,
 .summary = "Make the history equal to a client's list", .success = 200, .answer = "Session", .run = api_move_sync,
 .about = "Finds the first difference, branches there and appends the rest, in one commit; a list that is a prefix is a rewind. "
          "Entries match by id (if given), role and content. `sync` in the answer is what was done.",
 .body = FIELDS(R("entries", ARRAY, "the whole list, in one channel", .schema = "EntryIn"), KEEP_RUNNING, EXPECT),
 .statuses = E_HEAD " " E_IN, .example = "{\"entries\": [{\"id\": \"e1\", \"role\": \"user\", \"text\": \"How do I get to Lisbon?\"}]}"),
ROUTE("POST", S1 "/merge", ROLE_USER, .name = "mergeSession", .group = "Forks and moves", .flags = ROUTE_WRITE,
 .summary = "Brings what another session has into this one", .success = 200, .answer = "Session", .or_answer = "MergePreview", .run = api_merge_post,
 .about = "`fast_forward`: the head moves to the end of the source's history, if this session has not gone on since the two parted; nothing is copied. "
          "`splice`: all entries that the source has and this session has not are appended. `pick`: the named ones, from anywhere in the tree; a tool call "
          "takes its result along, and the reverse. `land`: one message with `text`, a summary; without a text an agent writes one in an ephemeral fork of the source, under the headings purpose, conclusions, evidence and open points. Copies have new ids, `origins`, and no usage. "
          "The whole merge is one move: `undo` takes it back. `merge` in the answer tells what was done. With `dry_run` the answer is a MergePreview, and nothing changes. "
          "What does not apply is 409 `merge_refused`, with the reason. While a turn runs here: 409 `turn_running`, or with `when: idle` the request waits for its end, "
          "and then merges the source as it is; a client that goes away meanwhile merges nothing, and past a number of waiting requests it is 503 `too_busy`. "
          "Needs writer here, and reader where entries come from; from another tree, or through a share link, only `land` with a text.",
 .body = FIELDS(MERGE_BODY, EXPECT),
 .statuses = E_MERGE, .example = "{\"from\": \"bus\", \"mode\": \"land\", \"text\": \"By bus it takes nine hours.\"}"),
ROUTE("GET", S1 "/entries/{entry}/origins", ROLE_USER, .name = "listOrigins", .group = "Forks and moves",
 .summary = "Where an entry came from, if a merge copied it", .success = 200, .answer = "OriginList", .run = api_origins_list, .query = FIELDS(BRANCH),
 .about = "Sessions that the caller may not see, and those that are gone, are left out.", .statuses = E_SEE " ENTRY_NOT_FOUND BRANCH_NOT_FOUND BRANCH_PRUNED"),
ROUTE("GET", S1 "/entries/{entry}/destinations", ROLE_USER, .name = "listDestinations", .group = "Forks and moves",
 .summary = "Where merges copied an entry to", .success = 200, .answer = "DestinationList", .run = api_destinations_list, .query = FIELDS(BRANCH),
 .about = "Those that the caller may see, at most 1,000. A landed summary came from the last entry of its source.", .statuses = E_SEE " ENTRY_NOT_FOUND BRANCH_NOT_FOUND BRANCH_PRUNED"),
ROUTE("GET", S1 "/head-log", LINK_TOO, .name = "listMoves", .group = "Forks and moves", .flags = ROUTE_PAGE,
 .summary = "List the moves of the head, newest first", .success = 200, .answer = "MoveList", .run = api_moves_list,
 .query = FIELDS(PAGE), .statuses = E_SEE " BAD_CURSOR"),
ROUTE("GET", S1 "/branches", LINK_TOO, .name = "listBranches", .group = "Forks and moves", .flags = ROUTE_PAGE,
 .summary = "List the versions of a message, or all branches", .success = 200, .answer = "BranchList", .run = api_branches_list,
 .about = "With `at`: the versions at that entry's position, oldest first (the picker's 2/3). Without it: every branch of the session.",
 .query = FIELDS(F("at", TEXT, "entry id"), F("branch", TEXT, "the branch of this session whose path contains `at`; default: its head"),
                 F("pruned", BOOL, "`true`: the pruned branches instead")),
 .statuses = E_SEE " ENTRY_NOT_FOUND BRANCH_NOT_FOUND BRANCH_PRUNED", .example = "at=e1"),
ROUTE("PATCH", S1 "/branches/{branch}", ROLE_USER, .name = "updateBranch", .group = "Forks and moves", .flags = ROUTE_WRITE,
 .summary = "Name a branch, or make it the favourite path of the session", .success = 200, .answer = "Branch", .run = api_branch_patch,
 .about = "Changes only the given fields. A session has at most one favourite. Requests without a branch use the head, whatever the favourite is: a client that opens a session for a person goes to its `favourite`. Needs writer.",
 .body = FIELDS(F("name", TEXT, "one line of at most 100 characters; null or empty removes it", .nullable = true),
                F("favourite", BOOL, "`true` replaces the favourite that the session had"), EXPECT),
 .statuses = E_HEAD " BRANCH_NOT_FOUND BRANCH_PRUNED TOO_LARGE", .example = "{\"name\": \"by train\", \"favourite\": true}"),
ROUTE("POST", S1 "/branches/{branch}/prune", ROLE_USER, .name = "pruneBranch", .group = "Forks and moves", .flags = ROUTE_WRITE,
 .summary = "Remove a branch, or all others, from the session", .success = 200, .answer = "Pruned", .run = api_branch_prune,
 .about = "Entries of the branch that are not on the path of the head disappear from lists, search and the record, and a move into it is 409 `branch_pruned`. It can be restored until garbage collection (7 days). "
          "If a path of another session or branch needs it, it is refused with the reason; with `others` such branches stay, and `kept` names them. Needs the session's owner, or manager in the tree.",
 .body = FIELDS(F("others", BOOL, "keep this branch, which must be the head's, and prune all that are not on its path"),
                F("dry_run", BOOL, "only return what would be pruned"), EXPECT),
 .statuses = E_HEAD " BRANCH_NOT_FOUND BRANCH_NEEDED TURN_RUNNING_ALREADY", .example = "{\"others\": true, \"dry_run\": true}"),
ROUTE("POST", S1 "/branches/{branch}/restore", ROLE_USER, .name = "restoreBranch", .group = "Forks and moves", .flags = ROUTE_WRITE,
 .summary = "Restore a pruned branch", .success = 200, .answer = "Pruned", .run = api_branch_restore,
 .body = FIELDS(F("all", BOOL, "restore everything that the same request pruned"), EXPECT), .statuses = E_HEAD " BRANCH_NOT_FOUND BRANCH_PRUNED"),

/* ------------------------------------------------------------------ lineage */
ROUTE("GET", S1 "/ancestry", ROLE_USER, .name = "listAncestry", .group = "Lineage", .flags = ROUTE_PAGE,
 .summary = "List the ancestors of a session, root first, and the session itself", .success = 200, .answer = "SessionList", .run = api_ancestry_list,
 .about = "Private sessions of other users are left out; deleted ones are placeholders (`deleted`).", .query = FIELDS(WHOLE),
 .statuses = E_SEE " BAD_CURSOR"),
ROUTE("GET", S1 "/children", ROLE_USER, .name = "listChildren", .group = "Lineage", .flags = ROUTE_PAGE,
 .summary = "List the direct forks of a session, oldest first", .success = 200, .answer = "SessionList", .run = api_children_list, .query = FIELDS(WHOLE),
 .statuses = E_SEE " BAD_CURSOR"),
ROUTE("GET", S1 "/tree", ROLE_USER, .name = "getTree", .group = "Lineage", .flags = ROUTE_PAGE,
 .summary = "List all sessions of the tree", .success = 200, .answer = "SessionList", .run = api_tree_list, .query = FIELDS(WHOLE),
 .about = "Parents before their forks, each with `depth` and `path` (the ids from the root, at most the last 64).",
 .statuses = E_SEE " BAD_CURSOR"),
ROUTE("GET", S1 "/tree/branches", ROLE_USER, .name = "listTreeBranches", .group = "Lineage", .flags = ROUTE_PAGE,
 .summary = "List the branches of all sessions of the tree", .success = 200, .answer = "BranchList", .run = api_tree_branches_list, .query = FIELDS(WHOLE),
 .about = "The branches that the caller may see, each with `session_id` and after the one that it left; without `entry_id` and `preview`, which `listBranches` returns.",
 .statuses = E_SEE " BAD_CURSOR"),
ROUTE("GET", S1 "/fork-points", LINK_TOO, .name = "listForkPoints", .group = "Lineage", .flags = ROUTE_PAGE,
 .summary = "List where forks and branches leave the current path", .success = 200, .answer = "ForkPointList", .run = api_fork_points_list,
 .statuses = E_SEE),
ROUTE("GET", S1 "/usage", LINK_TOO, .name = "getUsage", .group = "Lineage", .flags = ROUTE_PAGE,
 .summary = "Get tokens and cost of the session, its path and its tree", .success = 200, .answer = "UsageReport", .run = api_usage_get, .statuses = E_SEE),
ROUTE("GET", S1 "/suggestions", ROLE_USER, .name = "getSuggestions", .group = "Lineage", .flags = ROUTE_PAGE,
 .summary = "Get places worth forking, and tags, found in the text", .success = 200, .answer = "Suggestions", .run = api_suggestions_get,
 .about = "Corrections by the user, failed tool calls, retries and changes of topic among the last 1,000 entries, and tags from their words, found without a model. "
          "If the server has a `suggest-agent`, that agent then chooses among them, and `refined_by` names it. `docs/suggestions.md` has the method and how often it is right.",
 .query = FIELDS(F("branch", TEXT, "a branch of the session; default: its head"), F("refine", BOOL, "`false`: only what the rules find; no agent is asked")), .statuses = E_SEE " BRANCH_NOT_FOUND BRANCH_PRUNED"),
ROUTE("GET", S1 "/state", LINK_TOO, .name = "getState", .group = "Lineage", .flags = ROUTE_PAGE,
 .summary = "Get the session state at an entry", .success = 200, .answer = "State", .run = api_state_get,
 .about = "The result of applying the state deltas on the path; a null in a delta removes the key.",
 .query = FIELDS(F("at", TEXT, "entry id, inclusive; default: the head")), .statuses = E_SEE " ENTRY_NOT_FOUND"),

/* ------------------------------------------------------------------ tags, members */
ROUTE("PUT", S1 "/tags", ROLE_USER, .name = "setTags", .group = "Tags and members", .flags = ROUTE_WRITE,
 .summary = "Replace the tags", .success = 200, .answer = "Tags", .run = api_tags_put,
 .body = FIELDS(R("tags", ARRAY, "at most 64 tags of 1-50 characters"), EXPECT), .statuses = E_HEAD " BAD_TAG TOO_MANY_TAGS",
 .example = "{\"tags\": [\"travel\", \"train\"]}"),
ROUTE("POST", S1 "/tags", ROLE_USER, .name = "addTags", .group = "Tags and members", .flags = ROUTE_WRITE,
 .summary = "Add tags", .success = 200, .answer = "Tags", .run = api_tags_post,
 .body = FIELDS(R("tags", ARRAY, "tags of 1-50 characters; trimmed and converted to lower case"), EXPECT),
 .statuses = E_HEAD " BAD_TAG TOO_MANY_TAGS", .example = "{\"tags\": [\"cheap\"]}"),
ROUTE("DELETE", S1 "/tags/{tag}", ROLE_USER, .name = "removeTag", .group = "Tags and members", .flags = ROUTE_WRITE,
 .summary = "Remove a tag", .success = 200, .answer = "Tags", .run = api_tag_delete, .query = FIELDS(EXPECT_QUERY),
 .about = "Removing a tag that is not there is not an error.", .statuses = E_HEAD " BAD_TAG"),
ROUTE("GET", V1 "/tags", ROLE_USER, .name = "listTags", .group = "Tags and members",
 .summary = "List the tags of all sessions that the caller may see", .success = 200, .answer = "TagList", .run = api_tags_list),
ROUTE("GET", S1 "/members", ROLE_USER, .name = "listMembers", .group = "Tags and members",
 .summary = "List the members of the session's tree", .success = 200, .answer = "MemberList", .run = api_members_list, .statuses = E_SEE),
ROUTE("PUT", S1 "/members/{user}", ROLE_USER, .name = "setMember", .group = "Tags and members", .flags = ROUTE_WRITE,
 .summary = "Add a member to the tree, or change a member's level", .success = 200, .answer = "Member", .run = api_member_put,
 .about = "Needs manager. `owner` transfers the tree (its owner only): the old owner becomes manager.",
 .body = FIELDS(R("level", ENUM, "the access level", .values = LEVELS), EXPECT), .statuses = E_HEAD " BAD_ID",
 .example = "{\"level\": \"writer\"}"),
ROUTE("DELETE", S1 "/members/{user}", ROLE_USER, .name = "removeMember", .group = "Tags and members", .flags = ROUTE_WRITE,
 .summary = "Remove a member from the tree", .success = 204, .run = api_member_delete, .query = FIELDS(EXPECT_QUERY),
 .about = "Needs manager; members may remove themselves.", .statuses = E_HEAD " MEMBER_NOT_FOUND"),

/* ------------------------------------------------------------------ overlays */
ROUTE("POST", S1 "/overlays", ROLE_USER, .name = "setOverlay", .group = "Overlays", .flags = ROUTE_WRITE,
 .summary = "Hides or replaces an entry for the model, without touching the record", .success = 201, .answer = "OverlayDone", .run = api_overlay_post,
 .about = "`hide` leaves the entry out of the context view, with the tool calls and results that belong to it; `replace` has it say `text`; `hide_before` leaves out everything above it. "
          "The head moves to a new, empty branch that carries the overlays: undo takes it back, a fork keeps what stood when it was made, and `prefix_hash` does not change. "
          "While a turn runs on the head: 409 `turn_running`; with `when` the request waits for its end. Needs writer.",
 .body = FIELDS(R("entry_id", TEXT, "on the path"), R("action", ENUM, "", .values = OVERLAY_ACTIONS),
                F("text", TEXT, "of `replace`: what the entry says instead; at most 1 MiB"), WHEN_IDLE, REASON, EXPECT),
 .statuses = E_HEAD " ENTRY_NOT_FOUND TURN_RUNNING_ALREADY BAD_ID TOO_LARGE REASON_TOO_LONG TOO_BUSY",
 .example = "{\"entry_id\": \"e1\", \"action\": \"hide\"}"),
ROUTE("GET", S1 "/overlays", ROLE_USER, .name = "listOverlays", .group = "Overlays",
 .summary = "The overlays in force, in the order of the path", .success = 200, .answer = "OverlayList", .run = api_overlays_list,
 .query = FIELDS(BRANCH), .statuses = E_SEE " BRANCH_NOT_FOUND BRANCH_PRUNED"),
ROUTE("DELETE", S1 "/overlays/{overlay}", ROLE_USER, .name = "removeOverlay", .group = "Overlays", .flags = ROUTE_WRITE,
 .summary = "Removes an overlay", .success = 200, .answer = "OverlayDone", .run = api_overlay_delete,
 .about = "A move like setting one.",
 .query = FIELDS(WHEN_IDLE, REASON, EXPECT_QUERY),
 .statuses = E_HEAD " OVERLAY_NOT_FOUND TURN_RUNNING_ALREADY REASON_TOO_LONG TOO_BUSY"),

/* ------------------------------------------------------------------ templates */
ROUTE("POST", V1 "/templates", ROLE_USER, .name = "createTemplate", .group = "Templates", .flags = ROUTE_WRITE,
 .summary = "Pin a session as the beginning of new chats", .success = 201, .answer = "Template", .run = api_template_post,
 .about = "What the session says after `entry_id` does not get in. Wherever `{{name}}` stands for one of the `placeholders`, a chat shows the value that was given for it; all other braces are text. Needs writer.",
 .body = FIELDS(R("session_id", TEXT, "the session"), F("entry_id", TEXT, "the last entry that a chat begins with, on the path; default: the newest"),
                R("name", TEXT, "1-500 characters"), PLACEHOLDERS),
 .statuses = E_WRITE " ENTRY_NOT_FOUND BAD_ID TITLE_TOO_LONG TOO_LARGE",
 .example = "{\"session_id\": \"trip\", \"name\": \"A trip\", \"placeholders\": [\"city\"]}"),
ROUTE("GET", V1 "/templates", ROLE_USER, .name = "listTemplates", .group = "Templates",
 .summary = "List the templates whose sessions the caller may see, newest first", .success = 200, .answer = "TemplateList", .run = api_templates_list,
 .query = FIELDS(PAGE), .statuses = "BAD_CURSOR"),
ROUTE("GET", T1, ROLE_USER, .name = "getTemplate", .group = "Templates",
 .summary = "Get a template", .success = 200, .answer = "Template", .run = api_template_get, .statuses = E_TEMPLATE),
ROUTE("PATCH", T1, ROLE_USER, .name = "updateTemplate", .group = "Templates", .flags = ROUTE_WRITE,
 .summary = "Change a template", .success = 200, .answer = "Template", .run = api_template_patch,
 .about = "Chats made before keep what they have. Needs writer.",
 .body = FIELDS(F("name", TEXT, "1-500 characters"), F("entry_id", TEXT, "pin it here, on the present path"), PLACEHOLDERS),
 .statuses = E_TEMPLATE " FORBIDDEN ENTRY_NOT_FOUND BAD_ID TITLE_TOO_LONG TOO_LARGE BUSY", .example = "{\"name\": \"A short trip\"}"),
ROUTE("DELETE", T1, ROLE_USER, .name = "deleteTemplate", .group = "Templates", .flags = ROUTE_WRITE,
 .summary = "Unpin a template", .success = 204, .run = api_template_delete,
 .about = "Its session, and the chats made from it, stay. Needs writer.", .statuses = E_TEMPLATE " FORBIDDEN"),
ROUTE("POST", T1 "/sessions", ROLE_USER, .name = "createFromTemplate", .group = "Templates", .flags = ROUTE_WRITE,
 .summary = "Start a chat from a template", .success = 201, .answer = "Session", .run = api_template_chat,
 .about = "A fork at the pin, however long the history is. The values are kept with the new session; every reader shows the filled text, and ids and hashes stay those of the record. "
          "A name that the template does not have, and one without a value, is refused: `field` is `values.NAME`. Needs what a fork needs.",
 .body = FIELDS(F("values", OBJECT, "a text for each placeholder: at most 64 KiB each, 256 KiB together"), NEW_ID, TITLE, REASON, TAGS,
                F("agent", OBJECT, "the agent; default: that of the template's session; a string is its name", .schema = "AgentIn"), METADATA, VISIBILITY, EPHEMERAL),
 .statuses = E_TEMPLATE " FORBIDDEN BAD_ID SESSION_EXISTS SESSION_DELETED BAD_TAG TOO_MANY_TAGS TITLE_TOO_LONG REASON_TOO_LONG TOO_LARGE",
 .example = "{\"values\": {\"city\": \"Porto\"}, \"title\": \"To Porto\"}"),
ROUTE("GET", S1 "/template", ROLE_USER, .name = "getTemplateValues", .group = "Templates",
 .summary = "The template and the values that a session was made with", .success = 200, .answer = "TemplateOrigin", .run = api_template_values,
 .about = "A fork has those that it inherited. Through a share link there are none.", .statuses = E_SEE),

/* ------------------------------------------------------------------ compare, search */
ROUTE("GET", V1 "/compare", LINK_TOO, .name = "compareSessions", .group = "Compare and search", .flags = ROUTE_PAGE,
 .summary = "Compare 2 to 16 sides", .success = 200, .answer = "Comparison", .run = api_compare_get,
 .about = "A side is `SESSION` or `SESSION@BRANCH`, split at the last `@`, and only if a branch of that session follows.",
 .query = FIELDS(R("side", ARRAY, "a side; repeat 2 to 16 times"), LIMIT(1000, "number of entries per side after the shared ones; default 100")),
 .statuses = E_SEE " BRANCH_NOT_FOUND BRANCH_PRUNED", .example = "side=trip&side=bus"),
ROUTE("POST", V1 "/compare/verdict", ROLE_USER, .name = "addVerdict", .group = "Compare and search", .flags = ROUTE_WRITE,
 .summary = "Record which side was better", .success = 201, .answer = "Verdict", .run = api_verdict_add,
 .about = "All sides must be in one tree. Needs writer.",
 .body = FIELDS(R("sides", ARRAY, "2 to 16 sides", .schema = "SideIn"),
                R("winner", ANY, "the better side: as in `sides`, by its session id, or by its number from 0; `null`: a tie", .nullable = true), REASON),
 .statuses = E_WRITE " BRANCH_NOT_FOUND BRANCH_PRUNED REASON_TOO_LONG", .example = "{\"sides\": [\"trip\", \"bus\"], \"winner\": \"bus\", \"reason\": \"cheaper\"}"),
ROUTE("GET", V1 "/compare/verdicts", ROLE_USER, .name = "listVerdicts", .group = "Compare and search",
 .summary = "List verdicts, newest first", .success = 200, .answer = "VerdictList", .run = api_verdicts_list,
 .query = FIELDS(F("session", TEXT, "only verdicts that name this session"), PAGE), .statuses = E_SEE " BAD_CURSOR"),
ROUTE("GET", V1 "/search", ROLE_USER, .name = "search", .group = "Compare and search",
 .summary = "Search the full text of everything that the caller may see, best hits first", .success = 200, .answer = "HitList", .run = api_search_get,
 .query = FIELDS(R("q", TEXT, "words (all must occur), \"a phrase\", prefix*, -excluded"), F("session", TEXT, "only in this session"),
                 F("tree", TEXT, "only in this tree"), F("tag", TEXT, "only in sessions with this tag"), F("agent", TEXT, "only in sessions of this agent"),
                 F("role", ENUM, "only entries of this role", .values = ROLES), F("since", TIME, "only entries created then or later"),
                 F("until", TIME, "only entries created before"), LIMIT(200, "page size; default 20"), CURSOR),
 .statuses = E_SEE " TREE_NOT_FOUND BAD_CURSOR BAD_TAG", .example = "q=lisbon"),

/* ------------------------------------------------------------------ attachments */
ROUTE("POST", V1 "/attachments", ROLE_USER, .name = "uploadAttachment", .group = "Attachments", .flags = ROUTE_WRITE | ROUTE_UPLOAD,
 .summary = "Upload a file", .success = 201, .answer = "Attachment", .run = api_attachment_post, .sink = api_attachment_sink,
 .about = "The body is the file itself, with its media type as `Content-Type` (multipart is not accepted). An entry refers to it with a part "
          "`{\"type\": \"file\", \"attachment_id\": …}`; an attachment that no entry refers to expires.",
 .query = FIELDS(F("name", TEXT, "file name; default: the one in Content-Disposition"),
                 F("sha256", TEXT, "expected digest in hex; other content is refused with 422 `digest_mismatch`")),
 .statuses = "DIGEST_MISMATCH TOO_LARGE", .example = "name=ticket.txt"),
ROUTE("GET", V1 "/attachments/{attachment}", LINK_TOO, .name = "downloadAttachment", .group = "Attachments",
 .summary = "Download an attachment", .success = 200, .run = api_attachment_get,
 .about = "Sent with its media type, as a download. For the uploader and all who may read an entry that refers to it.", .statuses = "ATTACHMENT_NOT_FOUND"),
ROUTE("GET", V1 "/attachments/{attachment}/info", LINK_TOO, .name = "getAttachment", .group = "Attachments",
 .summary = "Get an attachment's properties", .success = 200, .answer = "Attachment", .run = api_attachment_info, .statuses = "ATTACHMENT_NOT_FOUND"),
ROUTE("DELETE", V1 "/attachments/{attachment}", ROLE_USER, .name = "deleteAttachment", .group = "Attachments", .flags = ROUTE_WRITE,
 .summary = "Delete an attachment that no entry refers to", .success = 204, .run = api_attachment_delete,
 .about = "For its uploader only.", .statuses = "ATTACHMENT_NOT_FOUND ATTACHMENT_IN_USE FORBIDDEN"),

/* ------------------------------------------------------------------ export, import */
ROUTE("GET", S1 "/export", ROLE_USER, .name = "exportSession", .group = "Export and import",
 .summary = "A session, or its tree, as a file", .success = 200, .run = api_export_session,
 .about = "`jsonl` is Ramet's own format, which an import takes back (docs/export.md); `md` and `html` are for people. Sessions that the caller may not see are not in it. "
          "With `path` or `branch` it has only these paths, as if nothing else had happened in the session.",
 .query = FIELDS(F("format", ENUM, "`jsonl` when not given", .values = "jsonl|md|html"), F("tree", BOOL, "the whole tree, as far as the caller may see it"),
                 F("with_adk", BOOL, "`jsonl`: the adk log, too; it may hold credentials"), F("path", BOOL, "only the present path of each session"),
                 F("branch", ARRAY, "only the path of this branch; may be repeated"),
                 F("view", ENUM, "`record`: what was written (default); `context`: what the model sees, overlays applied; as `jsonl` only of one path of one session", .values = "record|context")),
 .statuses = E_WRITE " BRANCH_NOT_FOUND BRANCH_PRUNED", .example = "format=md"),
ROUTE("GET", V1 "/export", ROLE_USER, .name = "exportAll", .group = "Export and import",
 .summary = "All that the caller has, as a file", .success = 200, .run = api_export_all,
 .query = FIELDS(F("format", ENUM, "`jsonl` when not given", .values = "jsonl|md|html"), F("all_users", BOOL, "everything in the store; administrators only"),
                 F("with_adk", BOOL, "`jsonl`: the adk log, too, where the caller may read it"), F("path", BOOL, "only the present path of each session"),
                 F("view", ENUM, "`md`, `html`: `context` shows what the model sees, overlays applied", .values = "record|context")),
 .statuses = "FORBIDDEN", .example = "format=jsonl"),
ROUTE("POST", V1 "/import", ROLE_USER, .name = "importFile", .group = "Export and import", .flags = ROUTE_WRITE | ROUTE_UPLOAD | ROUTE_IMPORT | ROUTE_KEYLESS,
 .summary = "Adds what a file has and the store has not", .success = 200, .answer = "ImportReport", .run = api_import_post, .sink = api_import_sink,
 .about = "The body is an export (`jsonl`). It is checked whole before anything is written: damaged, it is refused with the number of the line, and nothing is added. "
          "What is there already adds nothing. The sessions belong to the caller; with `owners` an administrator restores owners and members. "
          "With `from` the body is what another program has written: conversations become sessions, copies of one another become forks, "
          "what was imported before adds nothing, and the answer lists what was left out. "
          "With `upload`, a name of the caller's choice, what came is kept for a day when the connection breaks: ask for the `offset`, and send the rest with it.",
 .query = FIELDS(F("owners", BOOL, "owners and members are those of the file; administrators only"), F("upload", TEXT, "1 to 64 letters, digits, - and _"),
                 F("offset", INT, "where in the file the body begins; 0 when not given", .max = INT64_MAX),
                 F("from", ENUM, "the body is a file of this program, or a tar archive of its folder (docs/import.md)", .values = RAMET_FOREIGN_NAMES)),
 .statuses = "IMPORT_DAMAGED IMPORT_CONFLICT SESSION_EXISTS SESSION_DELETED FORBIDDEN TOO_LARGE BUSY", .example = "upload=laptop-1"),
ROUTE("GET", V1 "/import/{upload}", ROLE_USER, .name = "getImportOffset", .group = "Export and import",
 .summary = "How much of an upload is there", .success = 200, .answer = "ImportOffset", .run = api_import_offset,
 .query = FIELDS(F("owners", BOOL, "of an import with `owners`"))),

/* ------------------------------------------------------------------ shares */
ROUTE("POST", S1 "/shares", ROLE_USER, .name = "createShare", .group = "Share links", .flags = ROUTE_WRITE,
 .summary = "Create a share link", .success = 201, .answer = "Share", .run = api_share_post,
 .about = "The holder of the `token` (sent as `X-Ramet-Share` or `?share=`) may read this session's path and versions, nothing else, and may fork "
          "it as a private session. The token is returned only once, and when the request is repeated with its `Idempotency-Key`. Needs the session's owner, or manager in the tree.",
 .body = FIELDS(F("write", BOOL, "allow the holder to write, too"),
                F("expires_seconds", NUMBER, "expire after this many seconds; default: never"), EXPECT),
 .statuses = E_HEAD, .example = "{\"write\": false, \"expires_seconds\": 86400}"),
ROUTE("GET", S1 "/shares", ROLE_USER, .name = "listShares", .group = "Share links",
 .summary = "List the share links of a session", .success = 200, .answer = "ShareList", .run = api_shares_list, .statuses = E_WRITE),
ROUTE("DELETE", S1 "/shares/{share}", ROLE_USER, .name = "revokeShare", .group = "Share links", .flags = ROUTE_WRITE,
 .summary = "Revoke a share link", .success = 204, .run = api_share_delete, .query = FIELDS(EXPECT_QUERY), .statuses = E_HEAD " SHARE_NOT_FOUND"),
ROUTE("GET", V1 "/share", LINK_TOO, .name = "openShare", .group = "Share links",
 .summary = "Get the session of the request's share link", .success = 200, .answer = "SharedSession", .run = api_share_open,
 .statuses = "SHARE_NOT_FOUND", .example = "share=TOKEN"),

/* ------------------------------------------------------------------ holds, retention */
ROUTE("PUT", S1 "/hold", ROLE_USER, .name = "setHold", .group = "Holds and retention", .flags = ROUTE_WRITE,
 .summary = "Put a session or its tree on hold", .success = 200, .answer = "Hold", .run = api_hold_put,
 .about = "What is on hold is not deleted, collected, pruned, erased or removed by a rule (409 `held`). Needs the owner of the tree; with `administrator` an administrator, "
          "whose hold only an administrator releases. Both may stand side by side. A deleted session can be put on hold until it is collected. With `tree` the id may be that of the tree.",
 .body = FIELDS(F("tree", BOOL, "the whole tree, with every session that it has or will have"), F("administrator", BOOL, "as an administrator"), REASON),
 .statuses = E_WRITE " BAD_ID REASON_TOO_LONG", .example = "{\"reason\": \"case 7\"}"),
ROUTE("DELETE", S1 "/hold", ROLE_USER, .name = "releaseHold", .group = "Holds and retention", .flags = ROUTE_WRITE,
 .summary = "Release a hold", .success = 204, .run = api_hold_delete,
 .about = "The owner of the tree releases theirs, an administrator all that stand there.",
 .query = FIELDS(F("tree", BOOL, "that of the whole tree"), F("administrator", BOOL, "as an administrator")),
 .statuses = E_WRITE " HOLD_NOT_FOUND BAD_ID"),
ROUTE("GET", S1 "/hold", ROLE_USER, .name = "getHold", .group = "Holds and retention",
 .summary = "The holds that protect a session: its own, and those of its tree", .success = 200, .answer = "HoldList", .run = api_hold_get,
 .query = FIELDS(F("administrator", BOOL, "as an administrator")), .statuses = E_WRITE " BAD_ID"),
ROUTE("GET", V1 "/holds", ROLE_ADMIN, .name = "listHolds", .group = "Holds and retention",
 .summary = "All holds, by tree; at most 10,000", .success = 200, .answer = "HoldList", .run = api_holds_list),
ROUTE("GET", V1 "/retention", ROLE_ADMIN, .name = "getRetention", .group = "Holds and retention",
 .summary = "The rules by which sessions are removed", .success = 200, .answer = "Retention", .run = api_retention_get),
ROUTE("PUT", V1 "/retention", ROLE_ADMIN, .name = "setRetention", .group = "Holds and retention", .flags = ROUTE_WRITE,
 .summary = "Replace the rules, and switch them on or off", .success = 200, .answer = "Retention", .run = api_retention_put,
 .about = "Rules are off unless `enabled` is sent. Rules that differ from the stored ones must be tried by a dry run before they can be switched on: 409 `dry_run_first`.",
 .body = FIELDS(F("enabled", BOOL, "the server applies them every `retention-seconds`; default false"),
                R("rules", ARRAY, "all of them, at most 100", .schema = "RuleIn")),
 .statuses = "DRY_RUN_FIRST BAD_ID BAD_TAG TOO_LARGE", .example = "{\"rules\": [{\"name\": \"stale\", \"older_than_seconds\": 31536000, \"archived\": \"only\"}]}"),
ROUTE("POST", V1 "/retention/run", ROLE_ADMIN, .name = "runRetention", .group = "Holds and retention", .flags = ROUTE_WRITE,
 .summary = "Apply the rules now, or show what they would remove", .success = 200, .answer = "RetentionReport", .run = api_retention_run,
 .about = "Sessions go as if they were deleted: they can be restored until they are collected, and their forks stay. Sessions with the tag `pinned`, templates, and sessions on hold or with a running turn stay. "
          "Without `dry_run` the same rules must have been tried before: 409 `dry_run_first`.",
 .body = FIELDS(F("dry_run", BOOL, "only report what would be removed")), .statuses = "DRY_RUN_FIRST", .example = "{\"dry_run\": true}"),
ROUTE("GET", V1 "/retention/log", ROLE_ADMIN, .name = "listRemovals", .group = "Holds and retention",
 .summary = "What the rules have removed, newest first", .success = 200, .answer = "RemovalList", .run = api_retention_log,
 .about = "Ids and numbers, no titles and no content. Rows stay when the sessions are collected.", .query = FIELDS(PAGE), .statuses = "BAD_CURSOR", .example = "limit=10"),
ROUTE("GET", S1 "/retention/explain", ROLE_USER, .name = "explainRetention", .group = "Holds and retention",
 .summary = "Why the rules would remove a session or not, and what of it stays", .success = 200, .answer = "RetentionExplanation", .run = api_retention_explain,
 .about = "`needed_by` names the sessions that keep entries of this one. Needs the session's owner, or manager in the tree.",
 .query = FIELDS(F("administrator", BOOL, "as an administrator")), .statuses = E_WRITE),

/* ------------------------------------------------------------------ live, about */
ROUTE("GET", V1 "/events", LINK_TOO, .name = "streamEvents", .group = "Live events", .flags = ROUTE_STREAM,
 .summary = "Stream live events (server-sent events)", .success = 200, .run = api_events_open,
 .about = "`event:` is `session.created`, `.updated`, `.forked`, `.rewound`, `.switched`, `.merged`, `.deleted`, `.restored`, `entry.appended` or "
          "`reset`; for running turns also `turn.started`, `turn.delta`, `turn.thinking`, `turn.question`, `turn.plan` and `turn.done` (these have no `id:` and are not replayed; "
          "see `running` of a session for the text so far). `data:` is `{type, session_id, tree_id, …, entry?}`; `id:` grows. With `Last-Event-ID` (or `after`) the missed events are sent "
          "first; if they are no longer kept, a `reset` event asks the client to read again. A client that is too slow gets a last event `closed`.",
 .query = FIELDS(F("session", TEXT, "only this session"), F("tree", TEXT, "only this tree"),
                 F("after", INT, "the number of the last event received; `Last-Event-ID` takes precedence", .max = INT64_MAX)),
 .statuses = E_SEE " TREE_NOT_FOUND", .example = "session=trip"),
ROUTE("GET", V1 "/me", LINK_TOO, .name = "getMe", .group = "About", .summary = "Get the caller's identity", .success = 200, .answer = "Me", .run = api_me_get),
ROUTE("GET", V1 "/agents", ROLE_USER, .name = "listAgents", .group = "About", .summary = "List the agents of this server",
 .success = 200, .answer = "AgentList", .run = api_agents_list),
ROUTE("GET", V1 "/agents/nearby", ROLE_USER, .name = "listNearby", .group = "About", .summary = "List model servers on this machine",
 .success = 200, .answer = "NearbyList", .run = api_agents_nearby,
 .about = "Checks the default ports of Ollama, llama.cpp, LM Studio and vLLM, so that they can be offered; "
          "this does not configure them. Local mode only: otherwise the list is empty."),
ROUTE("POST", V1 "/agents/nearby", ROLE_USER, .name = "useNearby", .group = "About", .flags = ROUTE_WRITE,
 .summary = "Make an agent from a model server on this machine", .success = 200, .answer = "AgentName", .run = api_agents_use,
 .about = "Its name is `local`, or `local-2` and so on; an existing one is returned. It becomes the default agent if echo was the only one, and lasts until the server stops: "
          "to keep it, configure it. Local mode only.",
 .body = FIELDS(R("url", TEXT, "a URL from `listNearby`"), R("model", TEXT, "one of its models, at most 255 bytes")), .statuses = "FORBIDDEN",
 .example = "{\"url\": \"http://127.0.0.1:11434/v1\", \"model\": \"llama3.2\"}"),
ROUTE("GET", V1 "/statistics", ROLE_USER, .name = "getStatistics", .group = "About", .flags = ROUTE_PAGE,
 .summary = "Get usage statistics: active users, users who forked or switched, forks per tree", .success = 200, .answer = "Statistics",
 .run = api_statistics_get, .about = "Counts what the caller may see.",
 .query = FIELDS(F("days", INT, "number of days back; default 30", .min = 1, .max = 366)), .example = "days=7"),

/* ------------------------------------------------------------------ upkeep */
ROUTE("POST", V1 "/erase", ROLE_USER, .name = "erase", .group = "Maintenance", .flags = ROUTE_WRITE,
 .summary = "Take content out of the store for good", .success = 200, .answer = "EraseDone", .run = api_erase_post,
 .about = "Give one of `entry`, `session`, `tree` and `user`. What they hold, and everything that was made from it, is gone when this answers; entries keep their place, id and hash. "
          "An entry needs a manager of its tree, or the owner of the session that appended it; a session its owner or a manager; a tree a manager; "
          "a user an administrator, who may erase everything else, too. Refused with 409 `held` while something of it is on hold, and with 409 `turn_running` while a turn runs in its tree. "
          "If it fails with 503, repeat it: it goes on where it stopped (docs/erasure.md).",
 .body = FIELDS(F("entry", OBJECT, "an entry, with its copies", .schema = "EraseEntry"), F("session", TEXT, "a session: all entries that it appended, and its texts"),
                F("tree", TEXT, "a tree, by its id: all its sessions, except private ones of others"), F("user", TEXT, "a user: sessions, entries and name; administrators only"),
                F("reason", TEXT, "kept with each entry; must not repeat what is erased"), F("dry_run", BOOL, "only count what would go")),
 .statuses = E_WRITE " ENTRY_NOT_FOUND BRANCH_NOT_FOUND TREE_NOT_FOUND REASON_TOO_LONG HELD TURN_RUNNING_ALREADY BUSY",
 .example = "{\"entry\": {\"session_id\": \"trip\", \"entry_id\": \"e1\"}, \"reason\": \"a leaked key\"}"),
ROUTE("GET", S1 "/erasures", ROLE_USER, .name = "listErasures", .group = "Maintenance",
 .summary = "What was erased of a history: when, by whom and why", .success = 200, .answer = "ErasureList", .run = api_erasures_list,
 .about = "A receipt is given once; this tells about erasures at any time, to everybody who sees the session.",
 .query = FIELDS(BRANCH), .statuses = E_SEE " BRANCH_NOT_FOUND BRANCH_PRUNED"),
ROUTE("GET", V1 "/store", ROLE_ADMIN, .name = "getStore", .group = "Maintenance",
 .summary = "Get statistics of the store", .success = 200, .answer = "StoreStats", .run = api_store_stats),
ROUTE("POST", V1 "/store/gc", ROLE_ADMIN, .name = "collectGarbage", .group = "Maintenance", .flags = ROUTE_WRITE,
 .summary = "Remove for good what can no longer be reached", .success = 200, .answer = "GcReport", .run = api_store_gc,
 .body = FIELDS(F("dry_run", BOOL, "only report what would be removed")), .example = "{\"dry_run\": true}"),
ROUTE("POST", V1 "/store/fsck", ROLE_ADMIN, .name = "checkStore", .group = "Maintenance", .flags = ROUTE_WRITE,
 .summary = "Check the file, every hash, reference and head", .success = 200, .answer = "FsckReport", .run = api_store_fsck,
 .about = "Answers 200 even if faults were found.", .body = FIELDS({.name = NULL})),
ROUTE("POST", V1 "/store/index", ROLE_ADMIN, .name = "updateIndex", .group = "Maintenance", .flags = ROUTE_WRITE,
 .summary = "Update or rebuild the search index", .success = 200, .answer = "IndexReport", .run = api_store_index,
 .body = FIELDS(F("rebuild", BOOL, "rebuild it")), .example = "{\"rebuild\": false}"),
ROUTE("GET", V1 "/store/backup", ROLE_ADMIN, .name = "backupStore", .group = "Maintenance",
 .summary = "Download a consistent copy of the store's file", .success = 200, .run = api_store_backup,
 .about = "Reads and writes continue meanwhile. Attachments are separate files and not included."),
ROUTE("POST", V1 "/tokens", ROLE_ADMIN, .name = "createToken", .group = "Maintenance", .flags = ROUTE_WRITE,
 .summary = "Create an API key", .success = 201, .answer = "Token", .run = api_token_post, .about = "`secret` is returned only once, and when the request is repeated with its `Idempotency-Key`.",
 .body = FIELDS(R("user", TEXT, "the user it identifies"), F("client", TEXT, "name of the client"), F("roles", ARRAY, "`admin`, `auditor`, `indexer`, `agent`"),
                F("note", TEXT, "its purpose"), F("expires_seconds", NUMBER, "expire after this many seconds; default: never")),
 .statuses = "BAD_ID TOO_LARGE", .example = "{\"user\": \"ann\", \"note\": \"her laptop\"}"),
ROUTE("GET", V1 "/tokens", ROLE_ADMIN, .name = "listTokens", .group = "Maintenance",
 .summary = "List all API keys, without their secrets", .success = 200, .answer = "TokenList", .run = api_tokens_list),
ROUTE("DELETE", V1 "/tokens/{token}", ROLE_ADMIN, .name = "revokeToken", .group = "Maintenance", .flags = ROUTE_WRITE,
 .summary = "Revoke an API key", .success = 204, .run = api_token_delete, .statuses = "TOKEN_NOT_FOUND"),
ROUTES_END,
};

static const face_param params[] = {
    {"id", "a session id, percent-encoded", "trip"},
    {"entry", "an entry id on the session's path, percent-encoded", "e1"},
    {"tag", "a tag, percent-encoded", "travel"},
    {"user", "a user, percent-encoded", "ann"},
    {"attachment", "an attachment id", "ATTACHMENT"},
    {"upload", "name of an upload", "laptop-1"},
    {"branch", "a branch of the session, such as `b17`", "b1"},
    {"share", "id of a share link", "SHARE"},
    {"token", "id of an API key", "TOKEN"},
    {"turn", "id of a turn", "TURN"},
    {"overlay", "id of an overlay, like `o17`", "OVERLAY"},
    {"template", "id of a template", "TEMPLATE"},
    {"sandbox", "a sandbox, percent-encoded", "work"},
    {NULL, NULL, NULL},
};

const face face_native = {
    .name = "native", .title = "Ramet's own API", .prefix = V1, .identity = &native_identity,
    .about = "JSON in UTF-8; times are RFC 3339 with milliseconds and `Z`. Session and entry ids are 1-255 bytes without control characters, "
             "percent-encoded in a path, decoded once. Branch ids look like `b17`. An unknown parameter or member is an error that names it.\n"
             "A list is an object with a member named after its items and `next_cursor`, the `cursor` of the next page, null at the end.\n"
             "A write is answered once it is durable. `expected_head` in the body (or `If-Match` with the `ETag` of the session or its entries) "
             "makes it conditional: it succeeds only if the history is still exactly what the caller has read, otherwise 409 `head_moved` with the current head.\n"
             "If read replicas serve history pages, the answer to a write has `X-Ramet-Position`; a read that carries it sees that write. Without replicas the header is ignored.\n"
             "`Idempotency-Key` on a POST: the same request with the same key is executed once; for 24 hours its repetitions get the first answer and "
             "`Idempotency-Replayed: true`. Another request with that key is 409 `idempotency_mismatch`. A failed request may be retried. "
             "Only maintenance (`/store/…`) may run twice if both requests are sent at the same time: both get the answer of the first to finish. "
             "Answers are stored encrypted with their key, which is not stored: use a key that cannot be guessed, such as a UUID, if the answer contains a secret.\n"
             "Besides their own, all routes accept the parameters `user_id` (the caller, in local mode) and `share` (token of a share link; "
             "also `X-Ramet-Share`). With `share_only=true` (`X-Ramet-Share-Only: true`) the request has the rights of that link alone, without an account and whoever else the caller is; "
             "what needs a user, such as a fork, is 401. `X-Client-ID` names the program, and is recorded with the entries that it appends.",
    .routes = routes, .schemas = native_schemas, .params = params,
};
