/* SPDX-License-Identifier: Apache-2.0
 *
 * native_schema.c: the shapes of the native API, for its checks and its documents. native.c writes
 * and reads them; a test holds the two together.
 */
#include "form/native.h"

/* A table reads by its rows. */
/* clang-format off */

#define F(n, k, t, ...) {.name = n, .kind = FIELD_##k, .text = t, __VA_ARGS__}
#define R(n, k, t, ...) {.name = n, .kind = FIELD_##k, .text = t, .required = true, __VA_ARGS__}
#define NUL             .nullable = true
#define FIELDS(...)     (const form_field[]){__VA_ARGS__, {.name = NULL}}
#define SHAPE(n, t, ...) &(const form_schema){.name = n, .text = t, .fields = FIELDS(__VA_ARGS__)}
#define LIST(n, noun, item, t) \
    SHAPE(n, t, R(noun, ARRAY, "", .schema = item), R("next_cursor", TEXT, "`cursor` of the next page; null at the end", NUL))

#define CREATED  R("created_at", TIME, "when it was made")
#define BY       R("by", TEXT, "who", NUL)
#define TOKENS   R("input", INT, "tokens read"), R("output", INT, "tokens written"), R("cached", INT, "tokens read from a cache")

#define ENTRY_IN_REST                                                                                              \
    F("text", TEXT, "text, or"), F("parts", ARRAY, "parts", .schema = "Part"),                                     \
    F("format", TEXT, "which protocol `body` came in; `ramet` when not given"),                                    \
    F("body", ANY, "any JSON value, kept byte for byte; not with format `ramet`"),                                 \
    F("turn_id", TEXT, "the turn that it belongs to"), F("channel", TEXT, "`history` when not given"),             \
    F("author", TEXT, "who said it; the caller for role user when not given"),                                     \
    F("usage", OBJECT, "tokens and cost", .schema = "UsageIn"), F("state_delta", OBJECT, "change of the state; a null removes the key")

const form_schema *const native_schemas[] = {
SHAPE("Error", "Every error of ours.",
    R("code", TEXT, "stable, for machines"), R("error", TEXT, "one line: what, which value, what to do"),
    F("field", TEXT, "the parameter or member at fault"), F("head", OBJECT, "409 `head_moved`: the present head", .schema = "Head"),
    F("turn_id", TEXT, "409 `turn_running`: the turn that runs"),
    R("request_id", TEXT, "X-Request-ID of the request")),

/* ------------------------------------------------------------------ sessions */
SHAPE("Session", "A chat: an owner, an agent, tags, and a head: the branch that it is on now.",
    R("id", TEXT, "unique in the store"), F("tree_id", TEXT, "the tree that it is in"),
    F("title", TEXT, "as given, else the first line of the first user message, `Fork of …` for a fork"),
    F("owner", TEXT, "a user"), F("visibility", ENUM, "who sees it", .words = "tree|private"),
    F("agent", OBJECT, "who answers", .schema = "Agent", NUL), F("tags", ARRAY, "sorted"),
    F("head", OBJECT, "its place in its history", .schema = "Head"),
    F("adk_head", OBJECT, "that of its second log, when it has one", .schema = "Head"),
    F("forked_from", OBJECT, "null for a root, or when the caller may not see the parent", .schema = "ForkedFrom", NUL),
    F("merged_into", TEXT, "a session", NUL), F("cache_root", TEXT, "session whose provider cache holds the start of this history", NUL),
    F("cache_root_shared", INT, "entries shared with it"), F("running", OBJECT, "the turn that is running", .schema = "Running", NUL),
    F("metadata", OBJECT, "as given"), F("archived", BOOL, "hidden from lists that do not ask for it"),
    F("expires_at", TIME, "when an ephemeral session goes", NUL), F("created_at", TIME, "when it was made"),
    F("updated_at", TIME, "when it last changed"),
    F("level", ENUM, "only when it is read alone: what the caller may do in it", .words = "reader|writer|manager|owner"),
    F("cut", OBJECT, "in the answer of fork and rewind: where it really cut", .schema = "Cut"),
    F("sync", OBJECT, "in the answer of sync: what was done", .schema = "SyncDone"),
    F("depth", INT, "forks above it"), F("path", ARRAY, "in trees: the ids from the root, at most the last 64"),
    F("deleted", BOOL, "in trees and ancestries: a place holder, all else but its id and place is left out")),
LIST("SessionList", "sessions", "Session", "A page of sessions."),
SHAPE("Head", "A session's place in its history.",
    R("branch_id", TEXT, "like `b17`", NUL), R("length", INT, "entries on the path"),
    R("entry_id", TEXT, "the last one; null when the history is empty", NUL),
    R("prefix_hash", TEXT, "of the whole path; two histories are equal iff these are")),
&(const form_schema){.name = "ExpectedHead", .text = "The head as it was read; compared by `prefix_hash`, which may stand alone, as a string.", .or_text = true, .open = true,
 .fields = FIELDS(R("prefix_hash", TEXT, "64 hex digits"))},
SHAPE("Agent", "Who answers.",
    R("name", TEXT, ""), F("provider", TEXT, ""), F("model", TEXT, ""), F("folder", TEXT, "its working folder"), F("options", OBJECT, "its other settings")),
&(const form_schema){.name = "AgentIn", .text = "Who answers; a string is its name.", .or_text = true,
 .fields = FIELDS(F("name", TEXT, ""), F("provider", TEXT, ""), F("model", TEXT, ""), F("folder", TEXT, "its working folder"),
                  F("options", OBJECT, "its other settings, at most 64 KiB"))},
SHAPE("ForkedFrom", "Where a fork left its parent.",
    R("session_id", TEXT, "the parent"), R("entry_id", TEXT, "null: a blank slate", NUL), R("side", ENUM, "", .words = "before|after"),
    R("type", ENUM, "", .words = "explicit|auto-edit|auto-regenerate"), R("reason", TEXT, ""),
    R("created_by", OBJECT, "who made it", .schema = "CreatedBy")),
SHAPE("CreatedBy", "Who made a fork.", R("kind", ENUM, "", .words = "user|system"), F("id", TEXT, "the caller when not given", NUL)),
SHAPE("At", "A cut point: an entry and a side of it.",
    R("entry_id", TEXT, "an entry on the path"), F("side", ENUM, "`after` (the entry is kept) when not given", .words = "before|after")),
SHAPE("Cut", "Where a fork or rewind really cut.",
    R("policy", ENUM, "", .words = "exact|snap_before|snap_after"), R("entry_id", TEXT, "null: nothing was kept", NUL),
    R("side", ENUM, "", .words = "before|after"), R("position", INT, "entries kept")),
SHAPE("SyncDone", "What a sync did.",
    R("matched", INT, "entries of the list that were there"), R("added", INT, "entries appended"), R("moved", BOOL, "a branch was made")),
SHAPE("Deleted", "What goes, or would go.",
    R("sessions", ARRAY, "ids"), R("entries", INT, "entries that no other session reaches"), R("dry_run", BOOL, "nothing was done")),

/* ------------------------------------------------------------------ entries */
SHAPE("Entry", "One immutable item of history.",
    R("id", TEXT, "unique on a path"), R("position", INT, "from 0"), R("branch_id", TEXT, "the branch that owns it"),
    R("role", ENUM, "", .words = "user|assistant|tool|system"), R("text", TEXT, "the text parts joined by a blank line"),
    R("parts", ARRAY, "the normal form", .schema = "Part"), R("format", TEXT, "which protocol `body` came in"),
    R("body", ANY, "the caller's bytes; the parts when format is `ramet`"), R("turn_id", TEXT, "", NUL), R("channel", TEXT, ""),
    R("author", TEXT, "", NUL), R("client", TEXT, "the program that appended it", NUL),
    R("usage", OBJECT, "", .schema = "Usage", NUL), R("state_delta", OBJECT, "", NUL),
    F("versions", OBJECT, "the picker's 2/3", .schema = "VersionOf"),
    F("feedback", ENUM, "the caller's own, when it was asked for and there is one", .words = "up|down"), R("prefix_hash", TEXT, "of the path up to it"), CREATED),
SHAPE("VersionOf", "Which version of a message it is.", R("number", INT, "from 1"), R("count", INT, "how many there are")),
SHAPE("EntryIn", "An entry to append.",
    F("id", TEXT, "1-255 bytes; a UUIDv7 when not given"), R("role", ENUM, "", .words = "user|assistant|tool|system"), ENTRY_IN_REST),
SHAPE("EntryEdit", "A new version of an entry.",
    F("id", TEXT, "1-255 bytes; a UUIDv7 when not given"), F("role", ENUM, "the old one's when not given", .words = "user|assistant|tool|system"), ENTRY_IN_REST),
&(const form_schema){.name = "Part", .open = true,
 .text = "`{type: text, text}`, `{type: thinking, text}`, `{type: tool_call, id, name, input}`, `{type: tool_result, id, output, is_error?}`, "
         "`{type: file, attachment_id | url, name?, media_type?}` or `{type: data, data}`.",
 .fields = FIELDS(R("type", ENUM, "", .words = "text|thinking|tool_call|tool_result|file|data"), F("text", TEXT, ""), F("id", TEXT, "pairs a call with its result"),
                  F("name", TEXT, "of the tool, or of the file"), F("input", ANY, "of a tool call"), F("output", ANY, "of a tool result"),
                  F("is_error", BOOL, "of a tool result"), F("attachment_id", TEXT, "of a file"), F("url", TEXT, "of a file"),
                  F("media_type", TEXT, "of a file"), F("data", ANY, "any JSON value"))},
SHAPE("EntryPage", "A page of a history, oldest first.",
    R("entries", ARRAY, "", .schema = "Entry"), R("head", OBJECT, "of the path read", .schema = "Head"),
    R("more_before", BOOL, "there are entries before the first one"), R("more_after", BOOL, "there are entries after the last one")),
SHAPE("Appended", "What was appended.", R("entries", ARRAY, "as stored, in the order given", .schema = "Entry"),
    R("head", OBJECT, "of the branch written to", .schema = "Head"), R("added", INT, "how many were new")),
SHAPE("Record", "A page of the record.", R("entries", ARRAY, "", .schema = "Entry"), R("total", INT, "length of the record"),
    R("more_after", BOOL, "there are entries after the last one")),
SHAPE("Usage", "Tokens and cost of one entry.", TOKENS, R("cost", NUMBER, ""), R("currency", TEXT, "empty when there is no cost")),
SHAPE("UsageIn", "Tokens and cost of one entry.",
    F("input", INT, "tokens read", .most = INT64_MAX), F("output", INT, "tokens written", .most = INT64_MAX),
    F("cached", INT, "tokens read from a cache", .most = INT64_MAX), F("cost", NUMBER, "at most 9 digits behind the point are kept"), F("currency", TEXT, "USD when not given")),
SHAPE("UsageSum", "A sum of usage.",
    R("entries", INT, "entries that had usage"), TOKENS, R("cost", NUMBER, "null when there is more than one currency", NUL),
    R("currency", TEXT, "null when there is more than one", NUL), R("costs", ARRAY, "by currency", .schema = "Money")),
SHAPE("Money", "", R("cost", NUMBER, ""), R("currency", TEXT, "")),
SHAPE("UsageReport", "No entry is counted twice.",
    R("own", OBJECT, "entries that this session appended, abandoned ones too", .schema = "UsageSum"),
    R("path", OBJECT, "entries on the present path", .schema = "UsageSum"), R("tree", OBJECT, "every entry of the tree once", .schema = "UsageSum")),
SHAPE("State", "", R("state", OBJECT, "with sorted keys")),
SHAPE("Feedback", "What a user thinks of an entry.",
    R("user", TEXT, ""), R("value", ENUM, "null: taken back", .words = "up|down", NUL), R("comment", TEXT, ""), F("created_at", TIME, "when it was given")),
LIST("FeedbackList", "feedback", "Feedback", "Everybody's feedback, oldest first."),

/* ------------------------------------------------------------------ turns */
SHAPE("Running", "A turn in mid-answer. Events `turn.delta` go on from here.",
    R("turn_id", TEXT, ""), R("branch_id", TEXT, "that it writes to"), R("entry_id", TEXT, "the last entry of the message that it answers", NUL),
    R("text", TEXT, "what it said so far and is not an entry yet"), R("offset", INT, "characters that it said before that text, which are in entries"),
    R("thinking", TEXT, "the same of its thinking"), R("agent", TEXT, "who answers"),
    R("question", OBJECT, "that it waits for an answer to", .schema = "Question", NUL), R("plan", ANY, "the last plan that it told", NUL)),
SHAPE("Question", "An agent's question to the user.",
    R("id", TEXT, ""), R("kind", ENUM, "`permission`: the answer is the id of an option; `input`: it is a text", .words = "permission|input"),
    R("text", TEXT, ""), R("options", ARRAY, "`{id, name}`", .schema = "Option", NUL)),
&(const form_schema){.name = "Option", .text = "A way to answer a question.", .open = true, .fields = FIELDS(R("id", TEXT, "the answer"), F("name", TEXT, "for people"))},
SHAPE("Turn", "One answer, being made or made.",
    R("id", TEXT, ""), R("session_id", TEXT, ""), R("branch_id", TEXT, "that it writes to"), R("entry_id", TEXT, "the last entry of the message that it answers", NUL),
    R("agent", TEXT, "who answers", NUL), R("group", TEXT, "what the turns of a fan-out share", NUL), BY,
    R("status", ENUM, "", .words = "running|done|cancelled|failed|interrupted"), R("error", TEXT, "why it failed", NUL),
    R("started_at", TIME, ""), R("ended_at", TIME, "null while it runs", NUL)),
LIST("TurnList", "turns", "Turn", "Newest first."),
SHAPE("TurnDone", "What a turn came to.",
    R("session_id", TEXT, "where it ran: the fork when there was one"), R("turn_id", TEXT, ""), R("status", ENUM, "", .words = "running|done|cancelled|failed|interrupted"),
    F("error", TEXT, "why it failed"), R("entries", ARRAY, "the message and its answer", .schema = "Entry")),
SHAPE("FanDone", "What the turns of a fan-out came to.", R("group", TEXT, "shared by them"), R("turns", ARRAY, "in the order of the agents", .schema = "TurnDone")),
SHAPE("ForkIn", "A fork, as `fork` takes it.",
    F("at", OBJECT, "where to cut; the head when not given", .schema = "At"), F("branch_id", TEXT, "the branch of the session whose path holds `at`"),
    F("cut", ENUM, "`exact` when not given", .words = "exact|snap_before|snap_after"), F("adk_at", OBJECT, "the cut of the `adk` log", .schema = "At"),
    F("id", TEXT, "1-255 bytes; a UUIDv7 when not given"), F("title", TEXT, "at most 500 characters"), F("reason", TEXT, "at most 2,000 characters"), F("tags", ARRAY, "at most 64"),
    F("agent", OBJECT, "the parent's when not given", .schema = "AgentIn"), F("metadata", OBJECT, "at most 64 KiB"),
    F("type", ENUM, "`explicit` when not given", .words = "explicit|auto-edit|auto-regenerate"), F("visibility", ENUM, "", .words = "tree|private"),
    F("ephemeral_seconds", NUMBER, "it goes after that many seconds"), F("created_by", OBJECT, "the caller when not given", .schema = "CreatedBy")),

/* ------------------------------------------------------------------ moves and lineage */
SHAPE("Move", "A move of the head.",
    R("number", INT, "from 1"), R("kind", ENUM, "", .words = "rewind|undo|redo|switch|edit|regenerate|sync"), R("from", TEXT, "branch"), R("to", TEXT, "branch"),
    R("from_length", INT, "its length now"), R("to_length", INT, "its length now"), BY, R("reason", TEXT, ""), CREATED),
LIST("MoveList", "moves", "Move", "A page of the head log."),
SHAPE("Branch", "A branch of a session, or (with `number`) a version of a message.",
    R("branch_id", TEXT, "what `switch` takes"), R("entry_id", TEXT, "the version, or the last entry of the branch's path", NUL), F("number", INT, "version, from 1"),
    F("parent_id", TEXT, "branch that it left", NUL), F("base", INT, "entries shared with it"), F("length", INT, "of its path"),
    R("type", ENUM, "", .words = "explicit|auto-edit|auto-regenerate"), R("current", BOOL, "on the present path"), CREATED, R("preview", TEXT, "first line"),
    F("session_id", TEXT, "whose it is, among the branches of a tree")),
LIST("BranchList", "branches", "Branch", "Versions of a message, or branches of a session or a tree, oldest first."),
SHAPE("ForkPoint", "Where something leaves the present path.",
    R("position", INT, "entries kept"), R("entry_id", TEXT, "the last one kept", NUL), R("session_id", TEXT, "the fork; null: a branch of this session", NUL),
    R("branch_id", TEXT, "", NUL)),
LIST("ForkPointList", "fork_points", "ForkPoint", "By position."),

/* ------------------------------------------------------------------ tags and members */
SHAPE("Tags", "", R("tags", ARRAY, "sorted")),
SHAPE("TagCount", "", R("tag", TEXT, ""), R("sessions", INT, "how many have it")),
LIST("TagList", "tags", "TagCount", "By name."),
SHAPE("Member", "", R("user", TEXT, ""), R("level", ENUM, "", .words = "reader|writer|manager|owner")),
LIST("MemberList", "members", "Member", "Members belong to the tree."),

/* ------------------------------------------------------------------ compare and search */
SHAPE("Comparison", "", R("shared", INT, "entries that all sides share"), R("sides", ARRAY, "", .schema = "CompareSide"),
    R("turns", ARRAY, "a row a turn; for each side [from, to) in its `entries`", .schema = "TurnRow")),
&(const form_schema){.name = "TurnRow", .text = "[[from, to], …], a pair a side.", .fields = NULL},
SHAPE("CompareSide", "", R("session_id", TEXT, ""), R("branch_id", TEXT, ""), R("title", TEXT, ""), R("agent", OBJECT, "", .schema = "Agent", NUL),
    R("head", OBJECT, "", .schema = "Head"), R("own", INT, "entries past the shared ones"), R("first_at", TIME, "of its own", NUL), R("last_at", TIME, "of its own", NUL),
    R("usage", OBJECT, "of its own part", .schema = "UsageSum"), R("entries", ARRAY, "the first of its own", .schema = "Entry")),
SHAPE("Side", "", R("session_id", TEXT, ""), R("branch_id", TEXT, "")),
&(const form_schema){.name = "SideIn", .text = "A side; as a string: SESSION or SESSION@BRANCH.", .or_text = true,
 .fields = FIELDS(R("session_id", TEXT, ""), F("branch_id", TEXT, "its head when not given"))},
SHAPE("Verdict", "", R("number", INT, "from 1"), R("sides", ARRAY, "", .schema = "Side"), R("winner", INT, "index into sides; null: a tie", NUL), R("reason", TEXT, ""), BY, CREATED),
LIST("VerdictList", "verdicts", "Verdict", "Newest first."),
SHAPE("Hit", "", R("session_id", TEXT, "one that holds it and that the caller may see"), R("title", TEXT, "of the session"), R("entry_id", TEXT, ""), R("branch_id", TEXT, ""), R("position", INT, ""),
    R("role", ENUM, "", .words = "user|assistant|tool|system"), R("abandoned", BOOL, "not on that session's present path"), R("highlight", TEXT, "the text around it"),
    R("marks", ARRAY, "what matched", .schema = "Mark"), R("score", NUMBER, "higher is better"), CREATED),
SHAPE("Mark", "Characters of `highlight`.", R("start", INT, ""), R("length", INT, "")),
SHAPE("HitList", "Best first.", R("hits", ARRAY, "", .schema = "Hit"), R("next_cursor", TEXT, "", NUL), R("bounded", BOOL, "ranked among the newest matches only: there were too many")),

/* ------------------------------------------------------------------ attachments and shares */
SHAPE("Attachment", "", R("id", TEXT, ""), R("name", TEXT, ""), R("media_type", TEXT, ""), R("size", INT, "bytes"), R("sha256", TEXT, "hex"), R("owner", TEXT, "who uploaded it", NUL),
    CREATED, R("expires_at", TIME, "when it goes, while no entry refers to it", NUL)),
SHAPE("Share", "A share link.", R("id", TEXT, ""), R("session_id", TEXT, ""), R("write", BOOL, "the holder may write"), R("created_by", TEXT, "who made it", NUL), CREATED, R("expires_at", TIME, "null: never", NUL),
    F("token", TEXT, "only in the answer that made it")),
SHAPE("Sandbox", "A set of trees that belong together, for its owner.", R("id", TEXT, "`default`: those in no other"), R("owner", TEXT, ""), R("created_at", TIME, "null of `default`", NUL)),
LIST("SandboxList", "sandboxes", "Sandbox", "The caller's, `default` first."),
SHAPE("SandboxRemoved", "", R("id", TEXT, ""), R("trees", INT, "trees that were in it and are in none now")),
LIST("ShareList", "shares", "Share", "Without their tokens."),
SHAPE("SharedSession", "", R("share", OBJECT, "", .schema = "Share"), R("session", OBJECT, "", .schema = "Session")),

/* ------------------------------------------------------------------ about and upkeep */
SHAPE("Me", "", R("user", TEXT, ""), R("client", TEXT, "", NUL), R("roles", ARRAY, ""), R("auth", ENUM, "how the server knows", .words = "local|tokens|oidc"),
    R("admin", BOOL, ""), R("auditor", BOOL, ""), R("indexer", BOOL, "")),
&(const form_schema){.name = "AgentInfo", .text = "An agent that is configured here.", .open = true,
 .fields = FIELDS(R("name", TEXT, "that sessions refer to it by"), R("kind", TEXT, "what it is made of"), R("about", TEXT, "of its kind"), R("default", BOOL, "answers where no agent is named"),
    F("model", TEXT, "that it asks where a session names none"), F("models", ARRAY, "others that a session may name"), F("context", INT, "tokens that its context has"),
    F("modes", OBJECT, "of a program that speaks ACP, as it told them last: a session's `options.mode` names one"), F("config_options", ARRAY, "likewise; `options.config` has values by id"))},
LIST("AgentList", "agents", "AgentInfo", "Who can answer here."),
SHAPE("AgentName", "An agent.", R("name", TEXT, "that sessions refer to it by")),
SHAPE("Nearby", "A model server that answers.", R("name", TEXT, "the program that listens there usually"), R("url", TEXT, "for the setting `url` of an agent"),
    R("models", ARRAY, "at most 32")),
LIST("NearbyList", "servers", "Nearby", "Model servers on this machine."),
SHAPE("Statistics", "Of the last days.", R("days", INT, ""), R("active_users", INT, "who wrote, forked or moved"), R("forked_users", INT, "of them, who forked"),
    R("switched_users", INT, "of them, who rewound, switched, undid"), R("forked_share", NUMBER, "forked_users / active_users"), R("switched_share", NUMBER, "switched_users / active_users"),
    R("sessions", INT, "made in that time"), R("forks", INT, "made in that time"), R("trees", INT, "made in that time"), R("entries", INT, "made in that time"),
    R("forks_per_tree", NUMBER, "over the trees that were active")),
SHAPE("StoreStats", "", R("path", TEXT, "of the file"), R("schema", INT, "version of the tables"), R("trees", INT, ""), R("sessions", INT, ""), R("forks", INT, ""),
    R("deleted", INT, ""), R("branches", INT, ""), R("entries", INT, ""), R("attachments", INT, ""), R("attachment_bytes", INT, "the same content counts once"), R("file_bytes", INT, ""), R("wal_bytes", INT, ""), R("search_bytes", INT, ""),
    R("events", INT, "number of the newest event"), R("unindexed", INT, "events that search has not seen yet")),
SHAPE("GcReport", "", R("sessions", INT, "past their grace: removed for good"), R("expired", INT, "ephemeral ones found expired"), R("branches", INT, ""), R("entries", INT, ""),
    R("bytes", INT, ""), R("attachments", INT, "that no entry refers to"), R("attachment_bytes", INT, ""), R("dry_run", BOOL, "")),
SHAPE("FsckReport", "", R("trees", INT, ""), R("sessions", INT, ""), R("branches", INT, ""), R("entries", INT, ""), R("fault_count", INT, ""),
    R("faults", ARRAY, "the first 1,000", .schema = "Fault")),
SHAPE("Fault", "", R("what", TEXT, ""), R("session_id", TEXT, "", NUL), R("entry_id", TEXT, "", NUL), R("branch_id", TEXT, "", NUL), R("position", INT, "", NUL)),
SHAPE("IndexReport", "", R("indexed", INT, "entries")),
SHAPE("Token", "An API key.", R("id", TEXT, ""), R("user", TEXT, ""), R("client", TEXT, "", NUL), R("roles", ARRAY, ""), R("note", TEXT, ""), CREATED,
    R("expires_at", TIME, "null: never", NUL), R("used_at", TIME, "null: never", NUL), R("revoked", BOOL, ""), F("secret", TEXT, "only in the answer that made it")),
LIST("TokenList", "tokens", "Token", "Without their secrets."),
NULL,
};
