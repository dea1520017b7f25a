/* SPDX-License-Identifier: Apache-2.0
 *
 * routes.c: every route of Ramet's own API, once. Dispatch, the checks of query and body,
 * /openapi.json, /docs and docs/api/native.md come from here.
 */
#include "face/native/native_face.h"

#include "face/kit/rows.h"

/* A table reads by its rows. */
/* clang-format off */

#define V1 "/ramet/v1"
#define S1 V1 "/sessions/{id}"

#define SIDES   "before|after"
#define CUTS    "exact|snap_before|snap_after"
#define TYPES   "explicit|auto-edit|auto-regenerate"
#define SEEN    "tree|private"
#define LEVELS  "reader|writer|manager|owner"
#define ROLES   "user|assistant|tool|system"
#define LOGS    "main|adk"

/* ---- rows that several routes share */
#define LIMIT(most_, t)  F("limit", INT, t, .least = 1, .most = most_)
#define CURSOR           F("cursor", TEXT, "`next_cursor` of the page before")
#define PAGE             LIMIT(1000, "how many; 50 when not given"), CURSOR
#define WHOLE            LIMIT(1000, "how many; up to 10,000 when not given"), CURSOR
#define BRANCH           F("branch", TEXT, "another branch of the session instead of its head (`b17`)")
#define LOG              F("log", ENUM, "which log; `adk` holds a runtime's raw events and needs writer", .words = LOGS)
#define EXPECT           F("expected_head", OBJECT, "only if the history is still exactly this, else 409 `head_moved`", .schema = "ExpectedHead")
#define EXPECT_QUERY     F("expected_head", TEXT, "only if the history still has this prefix_hash, else 409 `head_moved`")
#define REASON           F("reason", TEXT, "why; it is kept. At most 2,000 characters")
#define AT               F("at", OBJECT, "where to cut; the head when not given", .schema = "At")
#define ADK_AT           F("adk_at", OBJECT, "the cut of the `adk` log; what belongs to the cut of the main log when not given", .schema = "At")
#define CUT              F("cut", ENUM, "what to do when the cut would part a tool call from its result; `exact` when not given", .words = CUTS)
#define AGENT            F("agent", OBJECT, "who answers; a string is its name", .schema = "AgentIn")
#define TITLE            F("title", TEXT, "at most 500 characters")
#define TAGS             F("tags", ARRAY, "at most 64, of 1-50 characters; trimmed and made lower case")
#define METADATA         F("metadata", OBJECT, "anything of yours, at most 64 KiB")
#define VISIBILITY       F("visibility", ENUM, "`tree`: all members of the tree; `private`: its owner alone", .words = SEEN)
#define EPHEMERAL        F("ephemeral_seconds", NUMBER, "the session goes after that many seconds, unless it is promoted")
#define ENTRIES_IN       R("entries", ARRAY, "all or nothing, in this order", .schema = "EntryIn")
#define KEEP_RUNNING     F("keep_running", BOOL, "a running turn goes on writing to the branch that it began on, instead of being cancelled")
#define MESSAGE          F("text", TEXT, "text, or"), F("parts", ARRAY, "parts", .schema = "Part"), F("attachments", ARRAY, "ids of files that go with it")
#define NEW_ID           F("id", TEXT, "1-255 bytes; a UUIDv7 when not given")

/* ---- what a route can fail with, beside the general ones */
#define E_SEE   "SESSION_NOT_FOUND"
#define E_WRITE E_SEE " FORBIDDEN"
#define E_HEAD  E_WRITE " HEAD_MOVED"
#define E_TURN  " TURN_RUNNING_ALREADY AGENT_NOT_FOUND TOO_BUSY"
#define E_IN    "BAD_ID ATTACHMENT_NOT_FOUND ENTRY_EXISTS ENTRY_TOO_LARGE BATCH_TOO_LARGE PATH_FULL"

static const face_route routes[] = {
/* ------------------------------------------------------------------ sessions */
ROUTE("POST", V1 "/sessions", ROLE_USER, .name = "createSession", .group = "Sessions", .flags = ROUTE_WRITE,
 .summary = "Starts a session", .success = 201, .answer = "Session", .run = api_session_create,
 .about = "A root session in a tree of its own, which the caller owns.",
 .body = FIELDS(NEW_ID, TITLE, AGENT, TAGS, METADATA, VISIBILITY, EPHEMERAL,
                F("sandbox", TEXT, "one of the caller's; `default` when not given")),
 .statuses = "SANDBOX_NOT_FOUND BAD_ID SESSION_EXISTS SESSION_DELETED BAD_TAG TOO_MANY_TAGS TITLE_TOO_LONG TOO_LARGE",
 .example = "{\"id\": \"trip\", \"title\": \"To Lisbon\", \"agent\": \"echo\", \"tags\": [\"travel\"]}"),
ROUTE("GET", V1 "/sessions", ROLE_USER, .name = "listSessions", .group = "Sessions", .flags = ROUTE_PAGE,
 .summary = "Lists the sessions that the caller may see", .success = 200, .answer = "SessionList", .run = api_sessions_list,
 .about = "Newest `created_at` first. Pages are stable: a session made or removed meanwhile neither repeats nor skips another.",
 .query = FIELDS(PAGE, F("owner", TEXT, "a user"), F("agent", TEXT, "name of an agent"), F("tag", TEXT, "a tag"),
                 F("tree", TEXT, "a tree id"), F("title", TEXT, "part of the title, any case"), F("sandbox", TEXT, "one of the caller's"),
                 F("archived", ENUM, "`exclude` when not given", .words = "exclude|include|only")),
 .statuses = "SANDBOX_NOT_FOUND BAD_CURSOR BAD_TAG", .example = "limit=10&tag=travel"),
ROUTE("GET", S1, ROLE_USER, .name = "getSession", .group = "Sessions", .flags = ROUTE_PAGE,
 .summary = "One session", .success = 200, .answer = "Session", .run = api_session_get, .statuses = E_SEE,
 .about = "Its `ETag` begins with the `prefix_hash` of the head: sent back as `If-Match`, it makes a write conditional."),
ROUTE("PATCH", S1, ROLE_USER, .name = "updateSession", .group = "Sessions", .flags = ROUTE_WRITE,
 .summary = "Changes a session", .success = 200, .answer = "Session", .run = api_session_patch,
 .about = "Only what is given changes; `null` clears a title, an agent, metadata or `merged_into`.",
 .body = FIELDS(F("title", TEXT, "at most 500 characters", .nullable = true),
                F("agent", OBJECT, "replaces the whole agent; a string is its name", .schema = "AgentIn", .nullable = true),
                F("metadata", OBJECT, "replaces it", .nullable = true),
                F("archived", BOOL, "hidden from lists that do not ask for it"), VISIBILITY,
                F("merged_into", TEXT, "a session of the same tree", .nullable = true), EXPECT),
 .statuses = E_HEAD " TITLE_TOO_LONG TOO_LARGE", .example = "{\"title\": \"Lisbon by train\", \"archived\": false}"),
ROUTE("DELETE", S1, ROLE_USER, .name = "deleteSession", .group = "Sessions", .flags = ROUTE_WRITE,
 .summary = "Deletes a session, or it and all that descends from it", .success = 200, .answer = "Deleted", .run = api_session_delete,
 .about = "Forks of it stay where they are. It can be restored until garbage collection (7 days). Needs the session's owner, or manager in the tree.",
 .query = FIELDS(F("tree", BOOL, "the session and all that descends from it; never a private session of another"),
                 F("dry_run", BOOL, "only tells what would go"), EXPECT_QUERY),
 .statuses = E_HEAD, .example = "dry_run=true"),
ROUTE("POST", S1 "/restore", ROLE_USER, .name = "restoreSession", .group = "Sessions", .flags = ROUTE_WRITE,
 .summary = "Brings a deleted session back", .success = 200, .answer = "Session", .run = api_session_restore,
 .body = FIELDS(F("tree", BOOL, "all that the same delete took")), .statuses = E_WRITE),
ROUTE("POST", S1 "/promote", ROLE_USER, .name = "promoteSession", .group = "Sessions", .flags = ROUTE_WRITE,
 .summary = "Makes an ephemeral session a lasting one", .success = 200, .answer = "Session", .run = api_session_promote,
 .body = FIELDS(EXPECT), .statuses = E_HEAD),

/* ------------------------------------------------------------------ sandboxes */
ROUTE("POST", V1 "/sandboxes", ROLE_USER, .name = "createSandbox", .group = "Sandboxes", .flags = ROUTE_WRITE,
 .summary = "Makes a sandbox", .success = 201, .answer = "Sandbox", .run = api_sandbox_post,
 .about = "A sandbox holds trees that belong together, and is there for its owner alone: `sandbox` in `POST /ramet/v1/sessions` puts a new tree into it. The face of AgentPod works on one.",
 .body = FIELDS(R("id", TEXT, "1-255 bytes, unique in the store")), .statuses = "BAD_ID SANDBOX_EXISTS", .example = "{\"id\": \"work\"}"),
ROUTE("GET", V1 "/sandboxes", ROLE_USER, .name = "listSandboxes", .group = "Sandboxes",
 .summary = "The caller's sandboxes", .success = 200, .answer = "SandboxList", .run = api_sandboxes_list),
ROUTE("DELETE", V1 "/sandboxes/{sandbox}", ROLE_USER, .name = "deleteSandbox", .group = "Sandboxes", .flags = ROUTE_WRITE,
 .summary = "Removes a sandbox; its sessions stay, in none", .success = 200, .answer = "SandboxRemoved", .run = api_sandbox_delete, .statuses = "SANDBOX_NOT_FOUND"),

/* ------------------------------------------------------------------ entries */
ROUTE("POST", S1 "/entries", ROLE_USER, .name = "appendEntries", .group = "Entries", .flags = ROUTE_WRITE,
 .summary = "Appends entries", .success = 201, .answer = "Appended", .run = api_entries_append,
 .about = "Answered when the entries are durable. An id that is on the path already with the same content is answered "
          "with the first result (200 when nothing was new); with other content: 409 `entry_exists`. Needs writer.",
 .body = FIELDS(ENTRIES_IN, EXPECT, F("branch_id", TEXT, "a branch of this session to go on writing to, instead of its head"), LOG),
 .statuses = E_HEAD " BRANCH_NOT_FOUND BRANCH_PRUNED " E_IN,
 .example = "{\"entries\": [{\"id\": \"e1\", \"role\": \"user\", \"text\": \"How do I get to Lisbon?\"}]}"),
ROUTE("GET", S1 "/entries", ROLE_USER, .name = "listEntries", .group = "Entries", .flags = ROUTE_PAGE,
 .summary = "A page of the history", .success = 200, .answer = "EntryPage", .run = api_entries_list,
 .about = "Always oldest first. `after` and `before` name entries, so a page read while the session grows never skips or repeats one.",
 .query = FIELDS(LIMIT(1000, "how many; 50 when not given"), F("after", TEXT, "entry id on the path, exclusive"),
                 F("before", TEXT, "entry id on the path, exclusive"), F("tail", BOOL, "the last ones, of what `after` and `before` leave"),
                 F("from", INT, "from this position on, instead of `after`", .least = 0, .most = 16777215),
                 F("channel", TEXT, "only entries of this channel"), BRANCH, LOG,
                 F("versions", BOOL, "`false` leaves the `versions` of each entry out"),
                 F("feedback", BOOL, "`true` tells with each entry what the caller thinks of it"),
                 F("view", ENUM, "what is read: the record as it was written", .words = "record")),
 .statuses = E_SEE " ENTRY_NOT_FOUND BRANCH_NOT_FOUND BRANCH_PRUNED FORBIDDEN", .example = "tail=true&limit=20"),
ROUTE("GET", S1 "/entries/{entry}", ROLE_USER, .name = "getEntry", .group = "Entries", .flags = ROUTE_PAGE,
 .summary = "One entry of the history", .success = 200, .answer = "Entry", .run = api_entry_get, .query = FIELDS(BRANCH),
 .statuses = E_SEE " ENTRY_NOT_FOUND BRANCH_NOT_FOUND BRANCH_PRUNED"),
ROUTE("POST", S1 "/entries/{entry}/edit", ROLE_USER, .name = "editEntry", .group = "Entries", .flags = ROUTE_WRITE,
 .summary = "A new version of an entry", .success = 201, .answer = "Appended", .run = api_entry_edit,
 .about = "Branches before the entry and appends the new one there, in one commit; the old version stays (see `branches`).",
 .body = FIELDS(R("entry", OBJECT, "the new version; without a role it has the old one's", .schema = "EntryEdit"), KEEP_RUNNING, EXPECT),
 .statuses = E_HEAD " ENTRY_NOT_FOUND " E_IN, .example = "{\"entry\": {\"text\": \"How do I get to Porto?\"}}"),
ROUTE("POST", S1 "/entries/{entry}/regenerate", ROLE_USER, .name = "regenerateEntry", .group = "Entries", .flags = ROUTE_WRITE,
 .summary = "Another answer in place of one", .success = 201, .answer = "Appended", .run = api_entry_regenerate,
 .about = "Branches before the answer and appends the entries of the new one there; without entries the branch is left empty, to be appended to.",
 .body = FIELDS(F("entries", ARRAY, "the new answer", .schema = "EntryIn"), KEEP_RUNNING, EXPECT),
 .statuses = E_HEAD " ENTRY_NOT_FOUND " E_IN, .example = "{\"entries\": [{\"role\": \"assistant\", \"text\": \"By night train.\"}]}"),
ROUTE("GET", S1 "/record", ROLE_USER, .name = "getRecord", .group = "Entries", .flags = ROUTE_PAGE,
 .summary = "Everything that was ever appended in the session", .success = 200, .answer = "Record", .run = api_record_get,
 .about = "On any branch, in order of appending; what a fork inherited is not in it.",
 .query = FIELDS(F("from", INT, "counts from 0", .most = INT64_MAX), LIMIT(1000, "how many; 50 when not given"), LOG),
 .statuses = E_SEE " FORBIDDEN", .example = "from=0&limit=100"),
ROUTE("PUT", S1 "/entries/{entry}/feedback", ROLE_USER, .name = "putFeedback", .group = "Feedback", .flags = ROUTE_WRITE,
 .summary = "Says what the caller thinks of an entry", .success = 200, .answer = "Feedback", .run = api_feedback_put,
 .about = "One a user and entry, kept beside the entry: every session that shares the entry shows it.",
 .body = FIELDS(R("value", ENUM, "`null` takes it back", .words = "up|down", .nullable = true),
                F("comment", TEXT, "at most 2,000 characters"), EXPECT),
 .statuses = E_HEAD " ENTRY_NOT_FOUND TOO_LARGE", .example = "{\"value\": \"up\", \"comment\": \"just what I wanted\"}"),
ROUTE("GET", S1 "/entries/{entry}/feedback", ROLE_USER, .name = "listFeedback", .group = "Feedback",
 .summary = "What everybody thinks of an entry, oldest first", .success = 200, .answer = "FeedbackList", .run = api_feedback_list,
 .statuses = E_SEE " ENTRY_NOT_FOUND"),

/* ------------------------------------------------------------------ turns */
ROUTE("POST", S1 "/messages", ROLE_USER, .name = "sendMessage", .group = "Messages and turns", .flags = ROUTE_WRITE,
 .summary = "Appends a message, has it answered, and records the answer", .success = 200, .answer = "TurnDone", .run = api_message_post,
 .about = "With `Accept: text/event-stream` the answer comes as it is made: `turn.started`, `turn.delta {text}`, `turn.thinking {text}`, "
          "`turn.question {question}`, `turn.plan {plan}`, `entry.appended {entry}`, and at the end `turn.done {status, error?}`; each with `session_id` and `turn_id`. "
          "Else the answer is JSON, when all is done. A client that goes away loses nothing: the answer is recorded all the same, on the branch where the turn began. "
          "With `fork` the message goes to a fork that is made in the same step, and `session_id` names it. With `replace` it is a new version of that entry. "
          "While a turn runs on the present head branch: 409 `turn_running`, with its `turn_id`. The same `Idempotency-Key` again joins the running turn, or gets what it came to.",
 .body = FIELDS(MESSAGE, F("id", TEXT, "id of the entry; a UUIDv7 when not given"), F("agent", OBJECT, "who answers this time; the session's agent when not given", .schema = "AgentIn"),
                F("fork", OBJECT, "fork first: as the body of `fork`", .schema = "ForkIn"), F("replace", TEXT, "entry id: a new version of that entry, and what follows it is left behind"),
                KEEP_RUNNING, EXPECT),
 .statuses = E_HEAD " ENTRY_NOT_FOUND" E_TURN " " E_IN, .example = "{\"text\": \"How long does it take?\"}"),
ROUTE("POST", S1 "/regenerate", ROLE_USER, .name = "regenerate", .group = "Messages and turns", .flags = ROUTE_WRITE,
 .summary = "Has a message answered once more", .success = 200, .answer = "TurnDone", .run = api_regenerate_post,
 .about = "A new version of the answer, made by the agent, and answered like `messages`.",
 .body = FIELDS(F("entry_id", TEXT, "the answer; the last one on the path when not given"), F("agent", OBJECT, "who answers this time; the session's agent when not given", .schema = "AgentIn"),
                KEEP_RUNNING, EXPECT),
 .statuses = E_HEAD " ENTRY_NOT_FOUND" E_TURN, .example = "{}"),
ROUTE("POST", S1 "/fan-out", ROLE_USER, .name = "fanOut", .group = "Messages and turns", .flags = ROUTE_WRITE,
 .summary = "The same message to several agents, side by side", .success = 200, .answer = "FanDone", .run = api_fan_out,
 .about = "One fork an agent, from the head; their turns share a `group`. Events are those of `messages`, each with its `session_id`; the stream ends with the last `turn.done`. "
          "The forks can be compared (`/compare`). All are cut at the same place. With an `Idempotency-Key` the same request joins the turns, or gets what they came to; "
          "one that a crash left half done is completed.",
 .body = FIELDS(MESSAGE, R("agents", ARRAY, "1 to 16; a string is a name", .schema = "AgentIn"), EXPECT),
 .statuses = E_HEAD " AGENT_NOT_FOUND TOO_BUSY " E_IN, .example = "{\"text\": \"And by bus?\", \"agents\": [\"echo\", \"echo\"]}"),
ROUTE("POST", S1 "/edit", ROLE_USER, .name = "edit", .group = "Messages and turns", .flags = ROUTE_WRITE,
 .summary = "A new version of an entry that nobody answers", .success = 201, .answer = "Appended", .run = api_edit_post,
 .about = "Branches before the entry and appends the new version there, with the role of the old one.",
 .body = FIELDS(R("entry_id", TEXT, "the entry"), MESSAGE, F("id", TEXT, "id of the new version; a UUIDv7 when not given"), KEEP_RUNNING, EXPECT),
 .statuses = E_HEAD " ENTRY_NOT_FOUND " E_IN, .example = "{\"entry_id\": \"e1\", \"text\": \"How do I get to Faro?\"}"),
ROUTE("POST", S1 "/cancel", ROLE_USER, .name = "cancelTurn", .group = "Messages and turns", .flags = ROUTE_WRITE,
 .summary = "Ends a running turn", .success = 200, .answer = "Turn", .run = api_turn_cancel,
 .about = "What came so far is kept, marked as cut off: its last part is `{\"type\": \"data\", \"data\": {\"turn\": \"cancelled\"}}`. Needs writer. The turn runs on another node, which does not answer: 503 `node_gone`.",
 .body = FIELDS(F("turn_id", TEXT, "the one that runs on the head branch when not given")), .statuses = E_WRITE " TURN_NOT_FOUND TURN_OVER", .example = "{}"),
ROUTE("GET", S1 "/turns", ROLE_USER, .name = "listTurns", .group = "Messages and turns",
 .summary = "The turns of a session, newest first", .success = 200, .answer = "TurnList", .run = api_turns_list,
 .query = FIELDS(LIMIT(1000, "how many; 50 when not given")), .statuses = E_SEE),
ROUTE("GET", S1 "/turns/{turn}", ROLE_USER, .name = "getTurn", .group = "Messages and turns",
 .summary = "One turn", .success = 200, .answer = "Turn", .run = api_turn_get, .statuses = E_SEE " TURN_NOT_FOUND"),
ROUTE("POST", S1 "/turns/{turn}/answer", ROLE_USER, .name = "answerQuestion", .group = "Messages and turns", .flags = ROUTE_WRITE,
 .summary = "Answers a question of the agent", .success = 200, .answer = "Turn", .run = api_turn_answer,
 .about = "An agent asks for a permission or an input (`turn.question`, `running.question`), and waits. Needs writer. A question that is not open: 404 `question_not_found`. The turn runs on another node, which does not answer: 503 `node_gone`.",
 .body = FIELDS(R("question_id", TEXT, "`id` of the question"), R("answer", ANY, "the id of an option, or a text")),
 .statuses = E_WRITE " TURN_NOT_FOUND TURN_OVER", .example = "{\"question_id\": \"q1\", \"answer\": \"allow\"}"),

/* ------------------------------------------------------------------ moves */
ROUTE("POST", S1 "/fork", ROLE_USER, .name = "forkSession", .group = "Forks and moves", .flags = ROUTE_WRITE,
 .summary = "Forks a session at any entry", .success = 201, .answer = "Session", .run = api_fork_create,
 .about = "A new session in the same tree that shares the history up to the cut, whatever its length; nothing is copied. `cut` "
          "in the answer tells where it really cut. An entry that is not on the present path is 404 and nothing is created. "
          "A fork for the tree needs writer, a private one reader or a share link; through a link it is private when `visibility` is not given.",
 .body = FIELDS(AT, F("branch_id", TEXT, "the branch of this session whose path holds `at`; its head when not given"), CUT, ADK_AT,
                NEW_ID, TITLE, REASON, TAGS, F("agent", OBJECT, "the parent's when not given; a string is its name", .schema = "AgentIn"),
                METADATA, F("type", ENUM, "`explicit` when not given", .words = TYPES), VISIBILITY, EPHEMERAL,
                F("created_by", OBJECT, "who made it, as the caller says; the caller when not given", .schema = "CreatedBy"), EXPECT),
 .statuses = E_HEAD " BRANCH_PRUNED ENTRY_NOT_FOUND BRANCH_NOT_FOUND BAD_ID SESSION_EXISTS SESSION_DELETED BAD_TAG TOO_MANY_TAGS TITLE_TOO_LONG REASON_TOO_LONG TOO_LARGE",
 .example = "{\"at\": {\"entry_id\": \"e1\", \"side\": \"after\"}, \"reason\": \"by bus instead\"}"),
ROUTE("POST", S1 "/rewind", ROLE_USER, .name = "rewindSession", .group = "Forks and moves", .flags = ROUTE_WRITE,
 .summary = "Takes a session back to an entry", .success = 200, .answer = "Session", .run = api_rewind_to,
 .about = "The head moves to a new branch at the cut; what was there stays on its old branch, and the move can be undone.",
 .body = FIELDS(R("at", OBJECT, "where to cut", .schema = "At"), CUT, ADK_AT, REASON,
                KEEP_RUNNING, EXPECT),
 .statuses = E_HEAD " ENTRY_NOT_FOUND REASON_TOO_LONG", .example = "{\"at\": {\"entry_id\": \"e1\"}, \"reason\": \"start over\"}"),
ROUTE("POST", S1 "/undo", ROLE_USER, .name = "undoMove", .group = "Forks and moves", .flags = ROUTE_WRITE,
 .summary = "Takes the last move back", .success = 200, .answer = "Session", .run = api_move_undo,
 .about = "As in an editor, without limit. Moves are rewind, switch, edit, regenerate and sync; appending is none.",
 .body = FIELDS(KEEP_RUNNING, EXPECT), .statuses = E_HEAD " BRANCH_PRUNED NOTHING_TO_UNDO"),
ROUTE("POST", S1 "/redo", ROLE_USER, .name = "redoMove", .group = "Forks and moves", .flags = ROUTE_WRITE,
 .summary = "Takes the last undo back", .success = 200, .answer = "Session", .run = api_move_redo,
 .about = "A new move ends it.", .body = FIELDS(KEEP_RUNNING, EXPECT), .statuses = E_HEAD " BRANCH_PRUNED NOTHING_TO_REDO"),
ROUTE("POST", S1 "/switch", ROLE_USER, .name = "switchBranch", .group = "Forks and moves", .flags = ROUTE_WRITE,
 .summary = "Goes to another branch of the session", .success = 200, .answer = "Session", .run = api_move_switch,
 .body = FIELDS(R("branch_id", TEXT, "a branch of this session, like `b17`"), KEEP_RUNNING, EXPECT),
 .statuses = E_HEAD " BRANCH_PRUNED BRANCH_NOT_FOUND", .example = "{\"branch_id\": \"b1\"}"),
ROUTE("POST", S1 "/sync", ROLE_USER, .name = "syncSession", .group = "Forks and moves", .flags = ROUTE_WRITE,
 .summary = "Makes the history equal to a client's list", .success = 200, .answer = "Session", .run = api_move_sync,
 .about = "Finds the first difference, branches there and appends the rest, in one commit; a list that is a prefix is a rewind. "
          "Entries match by id (when given), role and content. `sync` in the answer tells what was done.",
 .body = FIELDS(R("entries", ARRAY, "the whole list; all of one channel", .schema = "EntryIn"), KEEP_RUNNING, EXPECT),
 .statuses = E_HEAD " " E_IN, .example = "{\"entries\": [{\"id\": \"e1\", \"role\": \"user\", \"text\": \"How do I get to Lisbon?\"}]}"),
ROUTE("GET", S1 "/head-log", ROLE_USER, .name = "listMoves", .group = "Forks and moves", .flags = ROUTE_PAGE,
 .summary = "Every move of the head, newest first", .success = 200, .answer = "MoveList", .run = api_moves_list,
 .query = FIELDS(PAGE), .statuses = E_SEE " BAD_CURSOR"),
ROUTE("GET", S1 "/branches", ROLE_USER, .name = "listBranches", .group = "Forks and moves", .flags = ROUTE_PAGE,
 .summary = "The versions of a message, or all branches", .success = 200, .answer = "BranchList", .run = api_branches_list,
 .about = "With `at`: the versions at that entry's position, oldest first (the picker's 2/3). Without it: every branch of the session.",
 .query = FIELDS(F("at", TEXT, "entry id"), F("branch", TEXT, "the branch of this session whose path holds `at`; its head when not given"),
                 F("pruned", BOOL, "the branches that were pruned instead of the others")),
 .statuses = E_SEE " ENTRY_NOT_FOUND BRANCH_NOT_FOUND BRANCH_PRUNED", .example = "at=e1"),
ROUTE("PATCH", S1 "/branches/{branch}", ROLE_USER, .name = "updateBranch", .group = "Forks and moves", .flags = ROUTE_WRITE,
 .summary = "Names a branch, or makes it the path that the session opens at", .success = 200, .answer = "Branch", .run = api_branch_patch,
 .about = "Only what is given changes. A session has at most one favourite. Reads without a branch are those of the head, whatever the favourite is: a client that opens a session for a person goes to its `favourite`.",
 .body = FIELDS(F("name", TEXT, "at most 100 characters in one line; null or empty removes it", .nullable = true),
                F("favourite", BOOL, "true takes it from another branch"), EXPECT),
 .statuses = E_HEAD " BRANCH_NOT_FOUND BRANCH_PRUNED TOO_LARGE", .example = "{\"name\": \"by train\", \"favourite\": true}"),
ROUTE("POST", S1 "/branches/{branch}/prune", ROLE_USER, .name = "pruneBranch", .group = "Forks and moves", .flags = ROUTE_WRITE,
 .summary = "Takes a branch, or all others, out of the session", .success = 200, .answer = "Pruned", .run = api_branch_prune,
 .about = "Its entries that are not on the path of the head are in no list, search or record any more, and a move into it is 409 `branch_pruned`. It can be restored until garbage collection (7 days). "
          "What a path of another session or branch needs is refused with the reason; with `others` such branches stay and are told in `kept`. Needs the session's owner, or manager in the tree.",
 .body = FIELDS(F("others", BOOL, "keep this branch, which must be the head's, and prune all that are not on its path"),
                F("dry_run", BOOL, "only tells what would go"), EXPECT),
 .statuses = E_HEAD " BRANCH_NOT_FOUND BRANCH_NEEDED TURN_RUNNING_ALREADY", .example = "{\"others\": true, \"dry_run\": true}"),
ROUTE("POST", S1 "/branches/{branch}/restore", ROLE_USER, .name = "restoreBranch", .group = "Forks and moves", .flags = ROUTE_WRITE,
 .summary = "Brings a pruned branch back", .success = 200, .answer = "Pruned", .run = api_branch_restore,
 .body = FIELDS(F("all", BOOL, "all that the same prune took"), EXPECT), .statuses = E_HEAD " BRANCH_NOT_FOUND BRANCH_PRUNED"),

/* ------------------------------------------------------------------ lineage */
ROUTE("GET", S1 "/ancestry", ROLE_USER, .name = "listAncestry", .group = "Lineage", .flags = ROUTE_PAGE,
 .summary = "From the root to the session, which is last", .success = 200, .answer = "SessionList", .run = api_ancestry_list,
 .about = "Private sessions of others are left out; deleted ones are place holders (`deleted`).", .query = FIELDS(WHOLE),
 .statuses = E_SEE " BAD_CURSOR"),
ROUTE("GET", S1 "/children", ROLE_USER, .name = "listChildren", .group = "Lineage", .flags = ROUTE_PAGE,
 .summary = "Its direct forks, oldest first", .success = 200, .answer = "SessionList", .run = api_children_list, .query = FIELDS(WHOLE),
 .statuses = E_SEE " BAD_CURSOR"),
ROUTE("GET", S1 "/tree", ROLE_USER, .name = "getTree", .group = "Lineage", .flags = ROUTE_PAGE,
 .summary = "The whole tree that the session is in", .success = 200, .answer = "SessionList", .run = api_tree_list, .query = FIELDS(WHOLE),
 .about = "Parents before their forks, each with `depth` and `path` (the ids from the root, at most the last 64).",
 .statuses = E_SEE " BAD_CURSOR"),
ROUTE("GET", S1 "/tree/branches", ROLE_USER, .name = "listTreeBranches", .group = "Lineage", .flags = ROUTE_PAGE,
 .summary = "The branches of all sessions of the tree", .success = 200, .answer = "BranchList", .run = api_tree_branches_list, .query = FIELDS(WHOLE),
 .about = "Those that the caller sees, each with `session_id`, after the one that it left; without `entry_id` and `preview`, which `listBranches` of a session tells.",
 .statuses = E_SEE " BAD_CURSOR"),
ROUTE("GET", S1 "/fork-points", ROLE_USER, .name = "listForkPoints", .group = "Lineage", .flags = ROUTE_PAGE,
 .summary = "Where forks and branches leave the present path", .success = 200, .answer = "ForkPointList", .run = api_fork_points_list,
 .statuses = E_SEE),
ROUTE("GET", S1 "/usage", ROLE_USER, .name = "getUsage", .group = "Lineage", .flags = ROUTE_PAGE,
 .summary = "Tokens and cost: own, path and tree", .success = 200, .answer = "UsageReport", .run = api_usage_get, .statuses = E_SEE),
ROUTE("GET", S1 "/suggestions", ROLE_USER, .name = "getSuggestions", .group = "Lineage", .flags = ROUTE_PAGE,
 .summary = "Places worth forking, and tags, found in the text", .success = 200, .answer = "Suggestions", .run = api_suggestions_get,
 .about = "Corrections by the user, failed tool calls, retries and changes of topic among the last 1,000 entries, and tags from their words; no model is asked. `docs/suggestions.md` has the method and how often it is right.",
 .query = FIELDS(F("branch", TEXT, "a branch of the session; its head when not given")), .statuses = E_SEE " BRANCH_NOT_FOUND BRANCH_PRUNED"),
ROUTE("GET", S1 "/state", ROLE_USER, .name = "getState", .group = "Lineage", .flags = ROUTE_PAGE,
 .summary = "The session state at an entry", .success = 200, .answer = "State", .run = api_state_get,
 .about = "The fold of the state deltas on the path; a null in a delta removes the key.",
 .query = FIELDS(F("at", TEXT, "entry id, inclusive; the head when not given")), .statuses = E_SEE " ENTRY_NOT_FOUND"),

/* ------------------------------------------------------------------ tags, members */
ROUTE("PUT", S1 "/tags", ROLE_USER, .name = "setTags", .group = "Tags and members", .flags = ROUTE_WRITE,
 .summary = "Replaces the tags", .success = 200, .answer = "Tags", .run = api_tags_put,
 .body = FIELDS(R("tags", ARRAY, "at most 64, of 1-50 characters"), EXPECT), .statuses = E_HEAD " BAD_TAG TOO_MANY_TAGS",
 .example = "{\"tags\": [\"travel\", \"train\"]}"),
ROUTE("POST", S1 "/tags", ROLE_USER, .name = "addTags", .group = "Tags and members", .flags = ROUTE_WRITE,
 .summary = "Adds tags", .success = 200, .answer = "Tags", .run = api_tags_post,
 .body = FIELDS(R("tags", ARRAY, "of 1-50 characters; trimmed and made lower case"), EXPECT),
 .statuses = E_HEAD " BAD_TAG TOO_MANY_TAGS", .example = "{\"tags\": [\"cheap\"]}"),
ROUTE("DELETE", S1 "/tags/{tag}", ROLE_USER, .name = "removeTag", .group = "Tags and members", .flags = ROUTE_WRITE,
 .summary = "Takes a tag off", .success = 200, .answer = "Tags", .run = api_tag_delete, .query = FIELDS(EXPECT_QUERY),
 .about = "No error when it was not there.", .statuses = E_HEAD " BAD_TAG"),
ROUTE("GET", V1 "/tags", ROLE_USER, .name = "listTags", .group = "Tags and members",
 .summary = "Every tag on a session that the caller may see", .success = 200, .answer = "TagList", .run = api_tags_list),
ROUTE("GET", S1 "/members", ROLE_USER, .name = "listMembers", .group = "Tags and members",
 .summary = "The members of the session's tree", .success = 200, .answer = "MemberList", .run = api_members_list, .statuses = E_SEE),
ROUTE("PUT", S1 "/members/{user}", ROLE_USER, .name = "setMember", .group = "Tags and members", .flags = ROUTE_WRITE,
 .summary = "Makes a user a member of the tree, or changes his level", .success = 200, .answer = "Member", .run = api_member_put,
 .about = "Needs manager. `owner` hands the tree over (its owner only): the old owner becomes manager.",
 .body = FIELDS(R("level", ENUM, "what he may do", .words = LEVELS), EXPECT), .statuses = E_HEAD " BAD_ID",
 .example = "{\"level\": \"writer\"}"),
ROUTE("DELETE", S1 "/members/{user}", ROLE_USER, .name = "removeMember", .group = "Tags and members", .flags = ROUTE_WRITE,
 .summary = "Takes a user out of the tree", .success = 204, .run = api_member_delete, .query = FIELDS(EXPECT_QUERY),
 .about = "Needs manager; a member may remove himself.", .statuses = E_HEAD " MEMBER_NOT_FOUND"),

/* ------------------------------------------------------------------ compare, search */
ROUTE("GET", V1 "/compare", ROLE_USER, .name = "compareSessions", .group = "Compare and search", .flags = ROUTE_PAGE,
 .summary = "2 to 16 sides beside each other", .success = 200, .answer = "Comparison", .run = api_compare_get,
 .about = "A side is `SESSION` or `SESSION@BRANCH`, split at the last `@`, and only if a branch of that session follows.",
 .query = FIELDS(R("side", ARRAY, "a side; give it 2 to 16 times"), LIMIT(1000, "entries of each side past what all share; 100 when not given")),
 .statuses = E_SEE " BRANCH_NOT_FOUND BRANCH_PRUNED", .example = "side=trip&side=bus"),
ROUTE("POST", V1 "/compare/verdict", ROLE_USER, .name = "addVerdict", .group = "Compare and search", .flags = ROUTE_WRITE,
 .summary = "Keeps which side was the better one", .success = 201, .answer = "Verdict", .run = api_verdict_add,
 .about = "All sides must be of one tree; needs writer.",
 .body = FIELDS(R("sides", ARRAY, "2 to 16", .schema = "SideIn"),
                R("winner", ANY, "the side as it stands in `sides`, its session id, or its number from 0; `null`: a tie", .nullable = true), REASON),
 .statuses = E_WRITE " BRANCH_NOT_FOUND BRANCH_PRUNED REASON_TOO_LONG", .example = "{\"sides\": [\"trip\", \"bus\"], \"winner\": \"bus\", \"reason\": \"cheaper\"}"),
ROUTE("GET", V1 "/compare/verdicts", ROLE_USER, .name = "listVerdicts", .group = "Compare and search",
 .summary = "Verdicts, newest first", .success = 200, .answer = "VerdictList", .run = api_verdicts_list,
 .query = FIELDS(F("session", TEXT, "only those that name this session"), PAGE), .statuses = E_SEE " BAD_CURSOR"),
ROUTE("GET", V1 "/search", ROLE_USER, .name = "search", .group = "Compare and search",
 .summary = "Full text over everything that the caller may see, best first", .success = 200, .answer = "HitList", .run = api_search_get,
 .query = FIELDS(R("q", TEXT, "words (all must occur), \"a phrase\", prefix*, -without"), F("session", TEXT, "in this session"),
                 F("tree", TEXT, "in this tree"), F("tag", TEXT, "in sessions with this tag"), F("agent", TEXT, "in sessions of this agent"),
                 F("role", ENUM, "of this role", .words = ROLES), F("since", TIME, "created then or later"),
                 F("until", TIME, "created before"), LIMIT(200, "how many; 20 when not given"), CURSOR),
 .statuses = E_SEE " TREE_NOT_FOUND BAD_CURSOR BAD_TAG", .example = "q=lisbon"),

/* ------------------------------------------------------------------ attachments */
ROUTE("POST", V1 "/attachments", ROLE_USER, .name = "uploadAttachment", .group = "Attachments", .flags = ROUTE_WRITE | ROUTE_UPLOAD,
 .summary = "Uploads a file", .success = 201, .answer = "Attachment", .run = api_attachment_post, .sink = api_attachment_sink,
 .about = "The body is the file itself, with its media type as `Content-Type` (multipart is not taken). An entry refers to it by a part "
          "`{\"type\": \"file\", \"attachment_id\": …}`; one that no entry refers to expires.",
 .query = FIELDS(F("name", TEXT, "file name; else the one in Content-Disposition"),
                 F("sha256", TEXT, "hex; other bytes are refused with 422 `digest_mismatch`")),
 .statuses = "DIGEST_MISMATCH TOO_LARGE", .example = "name=ticket.txt"),
ROUTE("GET", V1 "/attachments/{attachment}", ROLE_USER, .name = "downloadAttachment", .group = "Attachments",
 .summary = "The bytes of an attachment", .success = 200, .run = api_attachment_get,
 .about = "With its media type, as a download. For the uploader and whoever may read an entry that refers to it.", .statuses = "ATTACHMENT_NOT_FOUND"),
ROUTE("GET", V1 "/attachments/{attachment}/info", ROLE_USER, .name = "getAttachment", .group = "Attachments",
 .summary = "What is known about an attachment", .success = 200, .answer = "Attachment", .run = api_attachment_info, .statuses = "ATTACHMENT_NOT_FOUND"),
ROUTE("DELETE", V1 "/attachments/{attachment}", ROLE_USER, .name = "deleteAttachment", .group = "Attachments", .flags = ROUTE_WRITE,
 .summary = "Deletes an attachment that no entry refers to", .success = 204, .run = api_attachment_delete,
 .about = "Its uploader only.", .statuses = "ATTACHMENT_NOT_FOUND ATTACHMENT_IN_USE FORBIDDEN"),

/* ------------------------------------------------------------------ shares */
ROUTE("POST", S1 "/shares", ROLE_USER, .name = "createShare", .group = "Share links", .flags = ROUTE_WRITE,
 .summary = "Makes a share link", .success = 201, .answer = "Share", .run = api_share_post,
 .about = "Whoever has the `token` (in `X-Ramet-Share`, or `?share=`) reads this session's path and versions, nothing else, and may fork "
          "it as a private session of his own. The token is shown this once, and to who repeats the request with its `Idempotency-Key`. Needs the session's owner, or manager in the tree.",
 .body = FIELDS(F("write", BOOL, "the holder may write the session, too"),
                F("expires_seconds", NUMBER, "the link ends after that many seconds; never when not given"), EXPECT),
 .statuses = E_HEAD, .example = "{\"write\": false, \"expires_seconds\": 86400}"),
ROUTE("GET", S1 "/shares", ROLE_USER, .name = "listShares", .group = "Share links",
 .summary = "The share links of a session", .success = 200, .answer = "ShareList", .run = api_shares_list, .statuses = E_WRITE),
ROUTE("DELETE", S1 "/shares/{share}", ROLE_USER, .name = "revokeShare", .group = "Share links", .flags = ROUTE_WRITE,
 .summary = "Ends a share link", .success = 204, .run = api_share_delete, .query = FIELDS(EXPECT_QUERY), .statuses = E_HEAD " SHARE_NOT_FOUND"),
ROUTE("GET", V1 "/share", ROLE_USER, .name = "openShare", .group = "Share links",
 .summary = "What the share link of the request opens", .success = 200, .answer = "SharedSession", .run = api_share_open,
 .statuses = "SHARE_NOT_FOUND", .example = "share=TOKEN"),

/* ------------------------------------------------------------------ live, about */
ROUTE("GET", V1 "/events", ROLE_USER, .name = "streamEvents", .group = "Live events", .flags = ROUTE_STREAM,
 .summary = "What happens, as it happens (server-sent events)", .success = 200, .run = api_events_open,
 .about = "`event:` is `session.created`, `.updated`, `.forked`, `.rewound`, `.switched`, `.merged`, `.deleted`, `.restored`, `entry.appended` or "
          "`reset`, and of turns as they run `turn.started`, `turn.delta`, `turn.thinking`, `turn.question`, `turn.plan` and `turn.done` (these have no `id:` and are not replayed; "
          "see `running` of a session for the text so far); `data:` is `{type, session_id, tree_id, …, entry?}`; `id:` grows. With `Last-Event-ID` (or `after`) what was missed comes "
          "first; past the window that is kept, one `reset` event says: read anew. A client that was too slow is told so by a last event `closed`.",
 .query = FIELDS(F("session", TEXT, "only this session"), F("tree", TEXT, "only this tree"),
                 F("after", INT, "the last number that the caller has; `Last-Event-ID` wins", .most = INT64_MAX)),
 .statuses = E_SEE " TREE_NOT_FOUND", .example = "session=trip"),
ROUTE("GET", V1 "/me", ROLE_USER, .name = "getMe", .group = "About", .summary = "Who the caller is", .success = 200, .answer = "Me", .run = api_me_get),
ROUTE("GET", V1 "/agents", ROLE_USER, .name = "listAgents", .group = "About", .summary = "Who can answer here",
 .success = 200, .answer = "AgentList", .run = api_agents_list),
ROUTE("GET", V1 "/agents/nearby", ROLE_USER, .name = "listNearby", .group = "About", .summary = "Model servers on this machine",
 .success = 200, .answer = "NearbyList", .run = api_agents_nearby,
 .about = "Looked for at the ports where the usual ones listen (Ollama, llama.cpp, LM Studio, vLLM), so that they can be offered; "
          "nothing is used by that. Local mode alone: else the list is empty."),
ROUTE("POST", V1 "/agents/nearby", ROLE_USER, .name = "useNearby", .group = "About", .flags = ROUTE_WRITE,
 .summary = "Makes an agent of a model server on this machine", .success = 200, .answer = "AgentName", .run = api_agents_use,
 .about = "Its name is `local`, or `local-2` and so on; one that is there already is told. It is the default agent where only echo was there, and goes with the server: "
          "to keep it, configure it. Local mode alone.",
 .body = FIELDS(R("url", TEXT, "of `listNearby`"), R("model", TEXT, "one that it has, at most 255 bytes")), .statuses = "FORBIDDEN",
 .example = "{\"url\": \"http://127.0.0.1:11434/v1\", \"model\": \"llama3.2\"}"),
ROUTE("GET", V1 "/statistics", ROLE_USER, .name = "getStatistics", .group = "About", .flags = ROUTE_PAGE,
 .summary = "How the store is used: active users, who forked, who switched, forks a tree", .success = 200, .answer = "Statistics",
 .run = api_statistics_get, .about = "Over what the caller may see.",
 .query = FIELDS(F("days", INT, "that many days back; 30 when not given", .least = 1, .most = 366)), .example = "days=7"),

/* ------------------------------------------------------------------ upkeep */
ROUTE("GET", V1 "/store", ROLE_ADMIN, .name = "getStore", .group = "Upkeep",
 .summary = "Numbers about the store", .success = 200, .answer = "StoreStats", .run = api_store_stats),
ROUTE("POST", V1 "/store/gc", ROLE_ADMIN, .name = "collectGarbage", .group = "Upkeep", .flags = ROUTE_WRITE,
 .summary = "Removes for good what nothing can reach", .success = 200, .answer = "GcReport", .run = api_store_gc,
 .body = FIELDS(F("dry_run", BOOL, "only tells what would go")), .example = "{\"dry_run\": true}"),
ROUTE("POST", V1 "/store/fsck", ROLE_ADMIN, .name = "checkStore", .group = "Upkeep", .flags = ROUTE_WRITE,
 .summary = "Checks the file, every hash, reference and head", .success = 200, .answer = "FsckReport", .run = api_store_fsck,
 .about = "Also 200 when faults were found.", .body = FIELDS({.name = NULL})),
ROUTE("POST", V1 "/store/index", ROLE_ADMIN, .name = "updateIndex", .group = "Upkeep", .flags = ROUTE_WRITE,
 .summary = "Brings the search index up to date, or makes it anew", .success = 200, .answer = "IndexReport", .run = api_store_index,
 .body = FIELDS(F("rebuild", BOOL, "makes it anew")), .example = "{\"rebuild\": false}"),
ROUTE("GET", V1 "/store/backup", ROLE_ADMIN, .name = "backupStore", .group = "Upkeep",
 .summary = "A consistent copy of the store's file", .success = 200, .run = api_store_backup,
 .about = "Made while others read and write. Attachments are files beside it and are not in it."),
ROUTE("POST", V1 "/tokens", ROLE_ADMIN, .name = "createToken", .group = "Upkeep", .flags = ROUTE_WRITE,
 .summary = "Makes an API key", .success = 201, .answer = "Token", .run = api_token_post, .about = "`secret` is shown this once, and to who repeats the request with its `Idempotency-Key`.",
 .body = FIELDS(R("user", TEXT, "who it stands for"), F("client", TEXT, "name of the client"), F("roles", ARRAY, "`admin`, `auditor`, `indexer`, `agent`"),
                F("note", TEXT, "what it is for"), F("expires_seconds", NUMBER, "it ends after that many seconds; never when not given")),
 .statuses = "BAD_ID TOO_LARGE", .example = "{\"user\": \"ann\", \"note\": \"her laptop\"}"),
ROUTE("GET", V1 "/tokens", ROLE_ADMIN, .name = "listTokens", .group = "Upkeep",
 .summary = "Every API key, without its secret", .success = 200, .answer = "TokenList", .run = api_tokens_list),
ROUTE("DELETE", V1 "/tokens/{token}", ROLE_ADMIN, .name = "revokeToken", .group = "Upkeep", .flags = ROUTE_WRITE,
 .summary = "Ends an API key", .success = 204, .run = api_token_delete, .statuses = "TOKEN_NOT_FOUND"),
ROUTES_END,
};

static const face_param params[] = {
    {"id", "a session id, percent-encoded", "trip"},
    {"entry", "an entry id on the session's path, percent-encoded", "e1"},
    {"tag", "a tag, percent-encoded", "travel"},
    {"user", "a user, percent-encoded", "ann"},
    {"attachment", "an attachment id", "ATTACHMENT"},
    {"branch", "a branch of the session, like `b17`", "b1"},
    {"share", "id of a share link", "SHARE"},
    {"token", "id of an API key", "TOKEN"},
    {"turn", "id of a turn", "TURN"},
    {"sandbox", "a sandbox, percent-encoded", "work"},
    {NULL, NULL, NULL},
};

const face face_native = {
    .name = "native", .title = "Ramet's own API", .prefix = V1, .identity = &native_identity,
    .about = "JSON in UTF-8; times are RFC 3339 with milliseconds and `Z`. Session and entry ids are 1-255 bytes without control characters, "
             "percent-encoded in a path, decoded once. Branch ids are like `b17`. An unknown parameter or member is refused by name.\n"
             "Lists are an object with their noun and `next_cursor`, which is `cursor` of the next page, null at the end.\n"
             "A write is answered when it is durable. `expected_head` in the body (or `If-Match` with the `ETag` of the session or its entries) "
             "makes it conditional: only if the history is still exactly what the caller has read, else 409 `head_moved` with the present head.\n"
             "Where read replicas answer history pages, a write is answered with `X-Ramet-Position`; a read that carries it sees that write. Elsewhere it is heard and means nothing.\n"
             "`Idempotency-Key` on a POST: the same request with the same key is done once; for 24 hours it is answered with the first answer and "
             "`Idempotency-Replayed: true`. Another request with that key is 409 `idempotency_mismatch`. What failed may be tried again. "
             "Upkeep (`/store/…`) is the one that may run twice when both are sent at the same time: the answer of who ends first is that of both. "
             "Answers are kept sealed by their key, which is not kept: take one that nobody can guess, like a UUID, where a secret is answered.\n"
             "Beside their own, all routes take the parameters `user_id` (who asks, in local mode) and `share` (token of a share link; "
             "also `X-Ramet-Share`). `X-Client-ID` names the program, and is kept with the entries that it appends.",
    .routes = routes, .schemas = native_schemas, .params = params,
};
