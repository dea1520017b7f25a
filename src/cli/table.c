/* SPDX-License-Identifier: Apache-2.0
 *
 * table.c: every command, in one table. It drives dispatch, --help, the man page, docs/cli.md and
 * shell completion.
 */
#include "cli/commands.h"
#include "runtime/settings.h"

#include <string.h>

const char cli_description[] =
    "Ramet stores AI conversations so that any of them can be forked, rewound, edited and "
    "compared at any message, instantly, without copying or losing anything.";

const char *const cli_groups[GROUP_COUNT] = {
    [GROUP_WRITE] = "Start and write",
    [GROUP_READ] = "Read",
    [GROUP_MOVE] = "Move through history",
    [GROUP_FIND] = "Find and compare",
    [GROUP_KEEP] = "Organise",
    [GROUP_SERVE] = "Serve",
    [GROUP_CARE] = "Maintain the store",
    [GROUP_ABOUT] = "About",
};

const topic_def cli_environment[] = {
    {"RAMET_DB", "the store's file if --db is not given; default: $XDG_DATA_HOME/ramet/ramet.db or "
                 "~/.local/share/ramet/ramet.db"},
    {"RAMET_SERVER", "the server to use instead of a file if neither --server nor --db is given"},
    {"RAMET_TOKEN", "the API key for the server if --token is not given"},
    {"RAMET_USER", "the user if --user is not given; default: \"local\""},
    {"RAMET_PAGER, PAGER", "the pager (default: less with -FRX); empty or \"cat\": none"},
    {"VISUAL, EDITOR", "the editor for 'ramet edit' (default: vi)"},
    {"NO_COLOR", "if set, no colour unless --color=always"},
    {"COLUMNS", "width of the output, overriding the terminal's"},
    {NULL, NULL},
};

const topic_def cli_names[] = {
    {"SESSION", "a session's id, or its first or last characters (4 or more) if only one session "
                "has them; @ is the newest session, @2 the one created before it"},
    {"ENTRY", "an entry's id, or its first or last characters (4 or more) if only one entry of the "
              "path has them; @1 is the first entry, @2 the second, @-1 the last"},
    {"BRANCH",
     "a branch as shown by 'ramet branches', such as b17; 'switch', 'branch', 'prune' and "
     "'restore' also accept its name"},
    {"SIDE", "a SESSION, or a branch of one: SESSION@b17"},
    {"SPAN", "90s, 30m, 12h, 7d or 2w"},
    {"TIME", "a date (2026-01-31), an RFC 3339 time, or a SPAN before now"},
    {NULL, NULL},
};

/* One line per row. */
/* clang-format off */

#define FLAG(n, l, t)              {.name = n, .letter = l, .kind = OPT_FLAG, .text = t}
#define VALUE(n, l, k, v, t)       {.name = n, .letter = l, .kind = k, .value = v, .text = t}
#define CHOICE(n, l, v, t, words)  {.name = n, .letter = l, .kind = OPT_CHOICE, .value = v, .text = t, .choices = words}
#define WORD(n, l, v, t, w)        {.name = n, .letter = l, .kind = OPT_TEXT, .value = v, .text = t, .word = w}
#define ARG(n, t, w)               {.name = n, .text = t, .word = w}
#define MAYBE(n, t, w)             {.name = n, .text = t, .word = w, .optional = true}
#define MANY(n, t, w)              {.name = n, .text = t, .word = w, .optional = true, .repeated = true}
#define ARGS(...)                  (const arg_def[]){__VA_ARGS__, {.name = NULL}}
#define OPTIONS(...)               (const option_def[]){__VA_ARGS__, {.name = NULL}}
#define EXAMPLES(...)              (const example_def[]){__VA_ARGS__, {.command = NULL}}

/* ------------------------------------------------------------------ shared rows */

#define SESSION_ARG ARG("SESSION", "the session", WORD_SESSION)
#define ENTRY_ARG   ARG("ENTRY", "an entry on its path", WORD_ANY)
#define TEXT_ARG    MANY("TEXT", "the message; if missing or -, read from standard input", WORD_ANY)
#define SIDE_ARGS   ARG("SIDE", "the first side", WORD_SESSION), ARG("SIDE", "the second side", WORD_SESSION), \
                    MANY("SIDE", "more sides, at most 16", WORD_SESSION)

#define BRANCH_OPTION WORD("branch", 'b', "BRANCH", "use this branch of the session instead of its head", WORD_BRANCH)
#define EXPECT_OPTION VALUE("expect", 0, OPT_TEXT, "HASH", "fail with exit code 5 unless the history still has this prefix_hash")
#define FOREIGN_LINE(reader, name, reads) "\n\n" name ": " reads
#define LOG_OPTION    CHOICE("log", 0, "LOG", "the log; adk contains a runtime's raw events", "main|adk")
#define REASON_OPTION VALUE("reason", 'm', OPT_TEXT, "TEXT", "the reason to record")
#define TAG_OPTION    {.name = "tag", .letter = 't', .kind = OPT_LIST, .value = "TAG", .text = "a tag; repeatable", .word = WORD_TAG}
#define SESSION_OPTIONS                                                                             \
    VALUE("agent", 'a', OPT_TEXT, "NAME", "the agent that answers"),                                \
    VALUE("provider", 0, OPT_TEXT, "NAME", "the agent's provider"),                                 \
    VALUE("model", 0, OPT_TEXT, "NAME", "the agent's model"),                                       \
    WORD("folder", 0, "PATH", "the agent's working folder", WORD_FILE),                             \
    VALUE("agent-options", 0, OPT_JSON, "JSON", "the agent's other settings, as an object"),           \
    VALUE("metadata", 0, OPT_JSON, "JSON", "metadata, as an object")
#define BIRTH_OPTIONS                                                                               \
    VALUE("id", 0, OPT_TEXT, "ID", "the new session's id (default: generated)"),                    \
    TAG_OPTION,                                                                                     \
    FLAG("private", 0, "visible to its owner only, not to the members of the tree"),                \
    VALUE("ephemeral", 0, OPT_SPAN, "SPAN", "delete it after this time, unless promoted")
#define FOLDER_OPTION WORD("attachments", 0, "DIR", "the folder of attachments, if the server has that setting", WORD_FILE)
#define AT_OPTION     VALUE("at", 0, OPT_TEXT, "ENTRY", "the same as ENTRY")
#define OVERLAY_OPTIONS                                                                             \
    FLAG("wait", 'w', "while a turn runs, wait for its end instead of failing"), REASON_OPTION, EXPECT_OPTION
#define CUT_OPTIONS                                                                                 \
    FLAG("before", 0, "cut before ENTRY instead of after it"),                                      \
    CHOICE("cut", 0, "HOW", "how to move the cut so that a tool call keeps its result", "exact|snap_before|snap_after"), \
    REASON_OPTION, EXPECT_OPTION
#define ENTRY_OPTIONS                                                                               \
    CHOICE("role", 'r', "ROLE", "the role of the author", "user|assistant|tool|system"),            \
    VALUE("id", 0, OPT_TEXT, "ID", "the entry's id (default: generated)"),                          \
    VALUE("turn", 0, OPT_TEXT, "ID", "the turn it belongs to"),                                \
    VALUE("channel", 0, OPT_TEXT, "NAME", "its channel (default: history)"),                        \
    VALUE("author", 0, OPT_TEXT, "NAME", "the author (default: the user, for role user)"),        \
    VALUE("usage", 0, OPT_JSON, "JSON", "tokens and cost: {\"input\": 9, \"output\": 4, \"cost\": 0.01, \"currency\": \"USD\"}"), \
    VALUE("state", 0, OPT_JSON, "JSON", "changes to the session state; null removes a key"),        \
    CHOICE("format", 'f', "FORMAT", "the format of standard input", "auto|text|json|jsonl"), \
    EXPECT_OPTION
#define ENTRY_INPUT                                                                                 \
    "Standard input may be a plain message, one JSON entry, an array of entries, or JSONL with one " \
    "entry per line. An entry is {id?, role, text? | parts?, format?, body?, turn_id?, channel?, "  \
    "author?, usage?, state_delta?}; unknown keys are refused, and a body is stored byte for byte."

const option_def cli_globals[] = {
    WORD("db", 0, "PATH", "the store's file", WORD_FILE),
    VALUE("server", 0, OPT_TEXT, "URL", "use a Ramet server instead of a file"),
    VALUE("token", 0, OPT_TEXT, "TOKEN", "the API key for the server"),
    VALUE("user", 'u', OPT_TEXT, "USER", "act as this user (default: local)"),
    FLAG("json", 0, "print one JSON value for programs; errors too"),
    FLAG("quiet", 'q', "print only what a script needs: an id, or nothing"),
    CHOICE("color", 0, "WHEN", "when to use colour", "auto|always|never"),
    FLAG("no-pager", 0, "do not use a pager"),
    FLAG("help", 'h', "show help, for a command if one is given"),
    FLAG("version", 0, "show the version"),
    {.name = NULL},
};

/* ---- the settings of the server as flags */

#define SETTING_PART(title)
#define SETTING_TEXT_OPTION(member, n, v, d, t)      {.name = n, .kind = OPT_TEXT, .value = v, .text = t},
#define SETTING_WORD_OPTION(member, n, w, d, t)      {.name = n, .kind = OPT_CHOICE, .value = "WORD", .text = t, .choices = w},
#define SETTING_NUMBER_OPTION(member, n, l, m, d, t) {.name = n, .kind = OPT_TEXT, .value = "N", .text = t},
#define SETTING_LIST_OPTION(member, n, v, t)         {.name = n, .kind = OPT_LIST, .value = v, .text = t},
#define SETTING_SWITCH_OPTION(member, n, d, t)       {.name = n, .kind = OPT_CHOICE, .value = "WORD", .text = t, .choices = "on|off"},

/* ------------------------------------------------------------------ the commands */

const command_def cli_commands[] = {
{
    .name = "new", .group = GROUP_WRITE, .flags = CMD_MAKES, .synopsis = "[TITLE]", .run = cmd_new,
    .summary = "Start a session",
    .about = "A session without a title is shown with the first line of its first message.",
    .args = ARGS(MAYBE("TITLE", "its title", WORD_ANY)),
    .options = OPTIONS(VALUE("title", 0, OPT_TEXT, "TEXT", "the same as TITLE"), SESSION_OPTIONS, BIRTH_OPTIONS,
                       VALUE("sandbox", 0, OPT_TEXT, "NAME", "the sandbox to put it in")),
    .examples = EXAMPLES({"new 'Trip to Lisbon' --agent claude --tag travel", "a session with an agent and a tag"},
                         {"new -q", "in a script: print only the new id"}),
},
{
    .name = "append", .group = GROUP_WRITE, .synopsis = "SESSION [TEXT...]", .run = cmd_append,
    .summary = "Append messages to a session",
    .about = ENTRY_INPUT "\n\n"
             "One entry or array is added completely or not at all. JSONL of any length is added in batches of "
             "1,000; an error names the line, and earlier batches stay. Sending the same ids again "
             "adds only what is missing.",
    .args = ARGS(SESSION_ARG, TEXT_ARG),
    .options = OPTIONS(ENTRY_OPTIONS, BRANCH_OPTION, LOG_OPTION),
    .examples = EXAMPLES({"append @ 'How do I get to Lisbon?'", "a message to the newest session"},
                         {"append @ --role assistant < answer.txt", "an answer from a file"},
                         {"append @ --format jsonl < history.jsonl", "a whole history"}),
},
{
    .name = "edit", .group = GROUP_WRITE, .synopsis = "SESSION ENTRY [TEXT...]", .run = cmd_edit,
    .summary = "Write a new version of a message",
    .about = "The head moves to a new branch that leaves before ENTRY and begins with the new version; the old one "
             "and everything after it stay on their branch. Without TEXT, opens an editor if run on a terminal, "
             "and reads standard input otherwise.",
    .args = ARGS(SESSION_ARG, ENTRY_ARG, MANY("TEXT", "the new text; -: read from standard input", WORD_ANY)),
    .options = OPTIONS(ENTRY_OPTIONS),
    .examples = EXAMPLES({"edit @ @3 'And by bus?'", "reword the third message"}),
},
{
    .name = "regenerate", .group = GROUP_WRITE, .synopsis = "SESSION ENTRY [TEXT...]", .run = cmd_regenerate,
    .summary = "Branch before an answer, to make another one",
    .about = "Without TEXT the new branch ends before ENTRY, ready for 'ramet append'. With -, the entries of "
             "the new answer are read from standard input.",
    .args = ARGS(SESSION_ARG, ENTRY_ARG, MANY("TEXT", "the new answer; -: read from standard input", WORD_ANY)),
    .options = OPTIONS(ENTRY_OPTIONS),
    .examples = EXAMPLES({"regenerate @ @-1 'Take the night train.'", "replace the last answer"}),
},
{
    .name = "sync", .group = GROUP_WRITE, .synopsis = "SESSION [FILE]", .run = cmd_sync,
    .summary = "Make the history equal to a list of messages",
    .about = "Reads the whole list (a JSON array or JSONL) from FILE or standard input, finds the first "
             "difference, branches there and adds the rest, in one step. Entries match by id (when given), "
             "role and content.",
    .args = ARGS(SESSION_ARG, MAYBE("FILE", "the list; if missing or -, read from standard input", WORD_FILE)),
    .options = OPTIONS(EXPECT_OPTION),
    .examples = EXAMPLES({"sync @ messages.json", "make a client's list the history"}),
},
{
    .name = "chat", .group = GROUP_WRITE, .flags = CMD_SERVER, .synopsis = "[SESSION [MESSAGE...]]", .run = cmd_chat,
    .summary = "Chat with an agent in the terminal",
    .about = "Sends what you type, and shows and records the answer as it arrives. Lines that begin with / are "
             "commands (/fork, /rewind, /undo, /tree, /help); Ctrl-C ends an answer. Without SESSION, starts a new "
             "session. With MESSAGE, sends it and exits after the answer. Uses a server (--server), or "
             "starts one for the store's file for the duration of the command.",
    .args = ARGS(MAYBE("SESSION", "the session to continue", WORD_SESSION), MANY("MESSAGE", "the message", WORD_ANY)),
    .options = OPTIONS(VALUE("agent", 0, OPT_TEXT, "NAME", "the agent that answers (default: the session's)"),
                       FLAG("head", 0, "continue at the head, not at the session's favourite path"),
                       WORD("config", 0, "FILE", "settings, including agents, for the server it starts", WORD_FILE)),
    .examples = EXAMPLES({"chat", "a new conversation with the built-in agent echo"},
                         {"chat @ 'And by bus?'", "one message to the newest session"}),
},
{
    .name = "acp", .group = GROUP_SERVE, .flags = CMD_MAKES, .synopsis = "-- AGENT [ARGS...] | --agent NAME", .run = cmd_acp,
    .summary = "Record sessions between an editor and an ACP agent",
    .about = "An editor that speaks the Agent Client Protocol runs this command instead of the agent. Every session is "
             "recorded, and can be forked, rewound, listed and loaded, even if the agent cannot do that itself. "
             "On a terminal it only runs the agent, so that you can log in. Without AGENT it acts as a proxy in the chain of an "
             "ACP conductor.",
    .args = ARGS(MANY("AGENT", "the agent's command line, after --", WORD_ANY)),
    .options = OPTIONS(VALUE("name", 0, OPT_TEXT, "NAME", "the agent's name in the record (default: the name of its program)"),
                       VALUE("agent", 0, OPT_TEXT, "NAME", "act as an agent: this agent of the server answers"),
                       WORD("config", 0, "FILE", "with --agent: settings, including agents, for the server it starts", WORD_FILE)),
    .examples = EXAMPLES({"acp -- opencode acp", "the command to configure in an editor, for opencode"},
                         {"acp --server http://127.0.0.1:7077 -- gemini --acp", "recorded by a server"},
                         {"acp --agent echo", "Ramet itself as an agent for an editor"}),
},
{
    .name = "list", .group = GROUP_READ, .flags = CMD_PAGER, .synopsis = "", .run = cmd_list,
    .summary = "List sessions, newest first",
    .options = OPTIONS(VALUE("limit", 'n', OPT_COUNT, "N", "at most N (default: 50)"),
                       FLAG("all", 0, "all of them"),
                       VALUE("owner", 0, OPT_TEXT, "USER", "only of this owner"),
                       VALUE("agent", 'a', OPT_TEXT, "NAME", "only with this agent"),
                       WORD("tag", 't', "TAG", "only with this tag", WORD_TAG),
                       WORD("tree", 0, "SESSION", "only in the tree of SESSION", WORD_SESSION),
                       VALUE("title", 0, OPT_TEXT, "TEXT", "only with TEXT in the title, ignoring case"),
                       VALUE("sandbox", 0, OPT_TEXT, "NAME", "only in this sandbox"),
                       CHOICE("archived", 0, "HOW", "how to treat archived sessions", "exclude|include|only"),
                       FLAG("deleted", 0, "instead: deleted and expired ones that you may restore, until gc"),
                       VALUE("cursor", 0, OPT_TEXT, "CURSOR", "continue from next_cursor of an earlier list")),
    .examples = EXAMPLES({"list --tag travel", "sessions tagged travel"},
                         {"list --deleted", "what 'ramet restore' can bring back"},
                         {"list --json --all", "all sessions, for a program"}),
},
{
    .name = "log", .group = GROUP_READ, .flags = CMD_PAGER, .synopsis = "[SESSION]", .run = cmd_log,
    .summary = "Show a history, oldest first",
    .about = "Without SESSION, shows the newest one. With --graph, draws the timeline of the whole tree: every session "
             "and abandoned branch is a lane; a long run of entries is one line.",
    .args = ARGS(MAYBE("SESSION", "the session", WORD_SESSION)),
    .options = OPTIONS(VALUE("limit", 'n', OPT_COUNT, "N", "only the last N"),
                       FLAG("oneline", '1', "one line per entry"),
                       FLAG("reverse", 0, "newest first"),
                       FLAG("graph", 'g', "draw the timeline of the tree"),
                       FLAG("context", 0, "what the model sees of it: see 'ramet hide'"),
                       FLAG("record", 0, "show the placeholders of a template by their names"),
                       VALUE("channel", 0, OPT_TEXT, "NAME", "only this channel"),
                       BRANCH_OPTION, LOG_OPTION),
    .examples = EXAMPLES({"log @ -n 4", "the last four entries"},
                         {"log --graph", "the tree of the newest session"},
                         {"log @ --json", "the whole history for a program, streamed"}),
},
{
    .name = "show", .group = GROUP_READ, .flags = CMD_PAGER, .synopsis = "SESSION [ENTRY]", .run = cmd_show,
    .summary = "Show a session, or one entry in full",
    .about = "With --prompt: what the agent was sent for the turn that ENTRY belongs to (without it, the last one), "
             "or for the turn whose id is given instead of a session: messages, instructions, settings and tokens, as JSON.",
    .args = ARGS(SESSION_ARG, MAYBE("ENTRY", "an entry on its path", WORD_ANY)),
    .options = OPTIONS(BRANCH_OPTION, FLAG("prompt", 0, "what the model was sent for a turn"),
                       FLAG("text", 0, "only the entry's text"),
                       FLAG("body", 0, "only the entry's body, byte for byte"),
                       FLAG("ancestry", 0, "the sessions above it, root first"),
                       FLAG("children", 0, "its direct forks")),
    .examples = EXAMPLES({"show @", "the newest session: title, agent, head, lineage"},
                         {"show @ @-1 --text", "the last answer, for a pipe"}),
},
{
    .name = "tree", .group = GROUP_READ, .flags = CMD_PAGER, .synopsis = "[SESSION]", .run = cmd_tree,
    .summary = "Draw the forks of a tree",
    .about = "Each line is a session: title, id, agent, tags, number of its own entries and where it left its parent. "
             "Without SESSION, shows the root of every tree in the store.",
    .args = ARGS(MAYBE("SESSION", "a session of the tree", WORD_SESSION)),
    .options = OPTIONS(VALUE("depth", 'd', OPT_COUNT, "N", "no deeper than N forks (default: 64)")),
    .examples = EXAMPLES({"tree @", "the newest session among its forks"}),
},
{
    .name = "branches", .group = GROUP_READ, .flags = CMD_PAGER, .synopsis = "SESSION", .run = cmd_branches,
    .summary = "List the branches of a session, or the versions of a message",
    .args = ARGS(SESSION_ARG),
    .options = OPTIONS(VALUE("at", 0, OPT_TEXT, "ENTRY", "the versions of the message there"), BRANCH_OPTION),
    .examples = EXAMPLES({"branches @ --at @3", "the versions of the third message"}),
},
{
    .name = "moves", .group = GROUP_READ, .flags = CMD_PAGER, .synopsis = "SESSION", .run = cmd_moves,
    .summary = "Show the head log: who moved the head, when and why",
    .args = ARGS(SESSION_ARG),
    .options = OPTIONS(VALUE("limit", 'n', OPT_COUNT, "N", "at most N (default: 50)"),
                       VALUE("from", 0, OPT_COUNT, "NUMBER", "only moves before this number")),
},
{
    .name = "suggest", .group = GROUP_READ, .flags = CMD_PAGER, .synopsis = "SESSION", .run = cmd_suggest,
    .summary = "Show places worth forking, and tags, found in the text",
    .about = "Finds corrections, failed tool calls, retries and changes of topic among the last 1,000 entries; 'ramet "
             "fork SESSION ENTRY --before' continues another way from there. The rules ask no model; a server with a "
             "suggest-agent has that agent choose among what they find.",
    .args = ARGS(SESSION_ARG),
    .options = OPTIONS(BRANCH_OPTION, FLAG("tag", 0, "add the proposed tags to the session")),
    .examples = EXAMPLES({"suggest @", "what stands out in the newest session"}),
},
{
    .name = "record", .group = GROUP_READ, .flags = CMD_PAGER, .synopsis = "SESSION", .run = cmd_record,
    .summary = "Show everything ever appended to a session, in that order",
    .about = "Includes all branches, abandoned ones too, but not inherited entries.",
    .args = ARGS(SESSION_ARG),
    .options = OPTIONS(VALUE("from", 0, OPT_COUNT, "N", "begin with the N-th entry"),
                       VALUE("limit", 'n', OPT_COUNT, "N", "at most N (default: all)"),
                       FLAG("oneline", '1', "one line per entry"), LOG_OPTION),
},
{
    .name = "state", .group = GROUP_READ, .flags = CMD_PAGER, .synopsis = "SESSION", .run = cmd_state,
    .summary = "Show the session state, now or at an entry",
    .args = ARGS(SESSION_ARG),
    .options = OPTIONS(VALUE("at", 0, OPT_TEXT, "ENTRY", "as it was just after this entry")),
    .examples = EXAMPLES({"state @ --at @4", "the state after the fourth entry"}),
},
{
    .name = "usage", .group = GROUP_READ, .flags = CMD_PAGER, .synopsis = "SESSION", .run = cmd_usage,
    .summary = "Sum tokens and cost of a session, its path and its tree",
    .args = ARGS(SESSION_ARG),
},
{
    .name = "overlays", .group = GROUP_READ, .flags = CMD_PAGER, .synopsis = "SESSION", .run = cmd_overlays,
    .summary = "List what is hidden from the model, or replaced for it",
    .args = ARGS(SESSION_ARG), .options = OPTIONS(BRANCH_OPTION),
},
{
    .name = "fork", .group = GROUP_MOVE, .synopsis = "SESSION [ENTRY]", .run = cmd_fork,
    .summary = "Start a new session that shares the history up to an entry",
    .about = "Nothing is copied: it takes the same time however long the history is. Without ENTRY it "
             "forks at the head. Prints the new session's id.",
    .args = ARGS(SESSION_ARG, MAYBE("ENTRY", "the last entry to share (default: the head)", WORD_ANY)),
    .options = OPTIONS(VALUE("title", 0, OPT_TEXT, "TEXT", "the new session's title"),
                       AT_OPTION, CUT_OPTIONS, BRANCH_OPTION, SESSION_OPTIONS, BIRTH_OPTIONS,
                       CHOICE("type", 0, "TYPE", "what caused the fork", "explicit|auto-edit|auto-regenerate"),
                       VALUE("system", 0, OPT_TEXT, "ID", "the system that made the fork, if not the user")),
    .examples = EXAMPLES({"fork @ @4 --title 'By bus'", "a new session that continues after the fourth entry"},
                         {"fork @ @4 --before --agent gpt", "without that entry, with another agent"}),
},
{
    .name = "rewind", .group = GROUP_MOVE, .synopsis = "SESSION [ENTRY]", .run = cmd_rewind,
    .summary = "Move the head back to an entry",
    .about = "The entries after it stay on their branch; 'ramet undo' returns to them.",
    .args = ARGS(SESSION_ARG, MAYBE("ENTRY", "the last entry to keep; required, here or with --at", WORD_ANY)),
    .options = OPTIONS(AT_OPTION, CUT_OPTIONS),
    .examples = EXAMPLES({"rewind @ @-3", "drop the last two entries"},
                         {"rewind @ @1 --before", "back to an empty history"}),
},
{
    .name = "undo", .group = GROUP_MOVE, .synopsis = "SESSION", .run = cmd_undo,
    .summary = "Undo the last move of the head",
    .about = "Moves are rewind, switch, edit, regenerate, sync, merge, hide, replace and reveal; appending is not a move. There is no limit. "
             "A new move discards what could be redone.",
    .args = ARGS(SESSION_ARG), .options = OPTIONS(EXPECT_OPTION),
},
{
    .name = "redo", .group = GROUP_MOVE, .synopsis = "SESSION", .run = cmd_redo,
    .summary = "Redo the last undone move",
    .args = ARGS(SESSION_ARG), .options = OPTIONS(EXPECT_OPTION),
},
{
    .name = "switch", .group = GROUP_MOVE, .synopsis = "SESSION [BRANCH]", .run = cmd_switch,
    .summary = "Move the head to another branch or version",
    .args = ARGS(SESSION_ARG, MAYBE("BRANCH", "the branch; -: the previous branch of the head", WORD_BRANCH)),
    .options = OPTIONS(VALUE("at", 0, OPT_TEXT, "ENTRY", "with --pick: the message"),
                       VALUE("pick", 'p', OPT_COUNT, "N", "the N-th version of that message"), EXPECT_OPTION),
    .examples = EXAMPLES({"switch @ b3", "to branch b3"}, {"switch @ --at @3 --pick 1", "to the first version of the third message"},
                         {"switch @ -", "back to the previous branch"}),
},
{
    .name = "merge", .group = GROUP_MOVE, .synopsis = "SESSION [SOURCE]", .run = cmd_merge,
    .summary = "Bring what another session has into this one",
    .about = "fast_forward moves the head to the end of the source's history, if SESSION has not gone on since the "
             "two parted; nothing is copied. splice appends everything that the source has of its own, pick the "
             "entries named by --entry, land one message with --text, a summary. Copies have new ids, know where they "
             "came from, and have no usage. On a server an agent writes the summary when there is no --text. "
             "Without --mode it is pick with --entry, land with --text or --agent, else fast_forward."
             "\n\n"
             "A tool call is picked with its result, and the reverse. From another tree, or by a share link, only a "
             "text can be landed. 'ramet undo' takes a merge back.",
    .args = ARGS(SESSION_ARG, MAYBE("SOURCE", "where it comes from: a SIDE", WORD_SESSION)),
    .options = OPTIONS(CHOICE("mode", 0, "MODE", "how", "fast_forward|splice|pick|land"),
                       {.name = "entry", .letter = 'e', .kind = OPT_LIST, .value = "ENTRY",
                        .text = "an entry to pick, of SOURCE or as SIDE::ENTRY; may be repeated"},
                       VALUE("text", 0, OPT_TEXT, "TEXT", "the summary to land; -: read it from standard input"),
                       VALUE("agent", 'a', OPT_TEXT, "NAME", "on a server: who writes the summary when there is no --text"),
                       VALUE("share", 0, OPT_TEXT, "TOKEN", "land from the session that this share link opens"),
                       FLAG("wait", 'w', "while a turn runs in SESSION, wait for its end"),
                       FLAG("dry-run", 'n', "only show what would be appended"), EXPECT_OPTION),
    .examples = EXAMPLES({"merge @2 @", "the newest session goes on where the one before it ended"},
                         {"merge @2 @ --mode splice --dry-run", "see what would be appended"},
                         {"merge @2 @ -e @5 -e @6", "pick two entries"},
                         {"merge @2 @ --text 'By bus it takes nine hours.'", "land a summary"}),
},
{
    .name = "hide", .group = GROUP_MOVE, .synopsis = "SESSION ENTRY", .run = cmd_hide,
    .summary = "Hide an entry from the model",
    .about = "The record is not touched: the entry stays in 'ramet log', and 'ramet log --context' shows what the "
             "model sees. A tool call and its results are hidden together. It is a move: 'ramet undo' takes it back, "
             "and forks keep what stood when they were made.",
    .args = ARGS(SESSION_ARG, ENTRY_ARG),
    .options = OPTIONS(FLAG("above", 0, "hide everything above the entry instead"), OVERLAY_OPTIONS),
    .examples = EXAMPLES({"hide @ @3", "leave the third entry out"}, {"hide @ @10 --above", "begin with the tenth entry"}),
},
{
    .name = "replace", .group = GROUP_MOVE, .synopsis = "SESSION ENTRY TEXT", .run = cmd_replace,
    .summary = "Have an entry say something else to the model",
    .about = "The record is not touched; see 'ramet hide'.",
    .args = ARGS(SESSION_ARG, ENTRY_ARG, ARG("TEXT", "what the model sees instead", WORD_ANY)),
    .options = OPTIONS(OVERLAY_OPTIONS),
    .examples = EXAMPLES({"replace @ @4 '(a long listing)'", "shorten a tool result"}),
},
{
    .name = "reveal", .group = GROUP_MOVE, .synopsis = "SESSION OVERLAY", .run = cmd_reveal,
    .summary = "Take back a 'hide' or 'replace'",
    .args = ARGS(SESSION_ARG, ARG("OVERLAY", "its id, like o17: see 'ramet overlays'", WORD_ANY)),
    .options = OPTIONS(OVERLAY_OPTIONS),
},
{
    .name = "diff", .group = GROUP_FIND, .flags = CMD_PAGER, .synopsis = "SIDE SIDE [SIDE...]", .run = cmd_diff,
    .summary = "Compare histories from where they differ",
    .about = "Side by side if the terminal is wide enough, otherwise one below the other; words that differ are "
             "coloured, or marked [-like this-] and {+like this+}.",
    .args = ARGS(SIDE_ARGS),
    .options = OPTIONS(FLAG("stat", 's', "only the summary of each side"),
                       VALUE("limit", 'n', OPT_COUNT, "N", "at most N entries per side (default: 100, at most 1000)")),
    .examples = EXAMPLES({"diff @ @2", "the two newest sessions"}, {"diff @ @@b2", "a session and one of its branches"}),
},
{
    .name = "verdict", .group = GROUP_FIND, .flags = CMD_PAGER, .synopsis = "[SIDE...]", .run = cmd_verdict,
    .summary = "Record which side was better, or list such verdicts",
    .about = "With two or more sides and --winner, records a verdict. With one session or none, lists verdicts.",
    .args = ARGS(MANY("SIDE", "a side of the comparison", WORD_SESSION)),
    .options = OPTIONS(VALUE("winner", 'w', OPT_TEXT, "N", "the better side, counted from 1, or tie"), REASON_OPTION,
                       VALUE("limit", 'n', OPT_COUNT, "N", "list at most N (default: 50)")),
    .examples = EXAMPLES({"verdict @ @2 --winner 2 -m 'shorter'", "the second side was better"}),
},
{
    .name = "search", .group = GROUP_FIND, .flags = CMD_PAGER, .synopsis = "WORDS...", .run = cmd_search,
    .summary = "Search the text of all messages",
    .about = "All words must occur. Supports \"a phrase\" in quotes, prefix* and -excluded. Hits on abandoned "
             "branches are included, and marked.",
    .args = ARGS(MANY("WORDS", "the words to search for", WORD_ANY)),
    .options = OPTIONS(WORD("session", 's', "SESSION", "only in this session", WORD_SESSION),
                       WORD("tree", 0, "SESSION", "only in the tree of SESSION", WORD_SESSION),
                       WORD("tag", 't', "TAG", "only in sessions with this tag", WORD_TAG),
                       VALUE("agent", 'a', OPT_TEXT, "NAME", "only in sessions with this agent"),
                       CHOICE("role", 'r', "ROLE", "only messages of this role", "user|assistant|tool|system"),
                       VALUE("since", 0, OPT_TIME, "TIME", "not older than this"),
                       VALUE("until", 0, OPT_TIME, "TIME", "older than this"),
                       VALUE("limit", 'n', OPT_COUNT, "N", "at most N hits (default: 20, at most 200)"),
                       VALUE("cursor", 0, OPT_TEXT, "CURSOR", "continue from next_cursor of an earlier search")),
    .examples = EXAMPLES({"search night train", "both words"}, {"search '\"night train\" -bus' --since 7d", "a phrase without a word, this week"}),
},
{
    .name = "set", .group = GROUP_KEEP, .synopsis = "SESSION", .run = cmd_set,
    .summary = "Change title, agent, metadata or visibility; archive",
    .args = ARGS(SESSION_ARG),
    .options = OPTIONS(VALUE("title", 0, OPT_TEXT, "TEXT", "the title; empty: use the first line of the first message"),
                       SESSION_OPTIONS,
                       CHOICE("visibility", 0, "WHO", "visible to all members of the tree, or to its owner only", "tree|private"),
                       FLAG("archive", 0, "archive it: hide it from lists"),
                       FLAG("unarchive", 0, "show it in lists again"),
                       WORD("merged-into", 0, "SESSION", "the session its result was merged into; empty: none", WORD_SESSION),
                       EXPECT_OPTION),
    .examples = EXAMPLES({"set @ --title 'Trip to Porto'", "change the title"}, {"set @ --archive", "hide it from lists"}),
},
{
    .name = "tag", .group = GROUP_KEEP, .synopsis = "[SESSION [add|rm|set TAG...]]", .run = cmd_tag,
    .summary = "Show or change tags",
    .about = "Without SESSION, lists every tag with the number of its sessions. Tags are trimmed and converted to lower case.",
    .args = ARGS(MAYBE("SESSION", "the session", WORD_SESSION),
                 {.name = "ACTION", .text = "add, rm, or set: exactly these tags", .optional = true, .choices = "add|rm|set"},
                 MANY("TAG", "the tags", WORD_TAG)),
    .examples = EXAMPLES({"tag @ add travel portugal", "add two tags"}),
},
{
    .name = "members", .group = GROUP_KEEP, .synopsis = "SESSION [set USER LEVEL | rm USER]", .run = cmd_members,
    .summary = "Show or change who may read and write a tree",
    .about = "Levels are reader, writer, manager and owner. Setting owner transfers the tree.",
    .args = ARGS(SESSION_ARG,
                 {.name = "ACTION", .text = "set or rm", .optional = true, .choices = "set|rm"},
                 MAYBE("USER", "the user", WORD_ANY),
                 {.name = "LEVEL", .text = "reader, writer, manager or owner", .optional = true, .choices = "reader|writer|manager|owner"}),
    .examples = EXAMPLES({"members @ set ann writer", "let ann write"}),
},
{
    .name = "sandbox", .group = GROUP_KEEP, .flags = CMD_MAKES, .synopsis = "add NAME [--opencode URL] | list | rm NAME", .run = cmd_sandbox,
    .summary = "Create, list and remove sandboxes",
    .about = "A sandbox groups trees that belong together; only its owner sees it. The sandbox default always "
             "exists: it contains the sessions that are in no other. A fork stays in its parent's sandbox. Removing a sandbox keeps its sessions.\n\n"
             "With --opencode, 'ramet serve' reads in the sessions of that OpenCode server, follows it, and lets it answer in the sessions of the sandbox.",
    .args = ARGS({.name = "ACTION", .text = "add, list or rm", .choices = "add|list|rm"}, MAYBE("NAME", "the sandbox", WORD_ANY)),
    .options = OPTIONS(VALUE("opencode", 0, OPT_TEXT, "URL", "with add: the OpenCode server in it"),
                       VALUE("password-file", 0, OPT_TEXT, "FILE", "with add: a file with its password, which the server reads")),
    .examples = EXAMPLES({"sandbox add work", "create a sandbox"}, {"sandbox add work --opencode http://127.0.0.1:4096", "one with an OpenCode server in it"}, {"new 'Trip to Lisbon' --sandbox work", "a session in it"},
                         {"list --sandbox work", "the sessions in it"}),
},
{
    .name = "template", .group = GROUP_KEEP, .flags = CMD_PAGER, .synopsis = "add SESSION [ENTRY] | list | show TEMPLATE | set TEMPLATE | rm TEMPLATE | new TEMPLATE [NAME=TEXT...] | values SESSION", .run = cmd_template,
    .summary = "Pin sessions as templates, and start chats from them",
    .about = "A template is a session pinned at an entry (default: the newest): what the session says later does not get in. Wherever "
             "{{NAME}} stands for a declared placeholder, a chat from it shows the text given for NAME; all other braces are text. "
             "A new chat is a fork: nothing is copied, and removing the template changes nothing for it. TEMPLATE is an id, the beginning "
             "or end of one, or a name. 'values' shows what a session was made with.",
    .args = ARGS({.name = "ACTION", .text = "add, list, show, set, rm, new or values", .choices = "add|list|show|set|rm|new|values"},
                 MANY("WORD", "a session, a template, NAME=TEXT", WORD_ANY)),
    .options = OPTIONS(VALUE("name", 'n', OPT_TEXT, "TEXT", "add, set: the template's name"),
                       {.name = "placeholder", .letter = 'p', .kind = OPT_LIST, .value = "NAME", .text = "add, set: a placeholder; repeatable", .word = WORD_ANY},
                       FLAG("no-placeholders", 0, "set: it has none any more"),
                       VALUE("at", 0, OPT_TEXT, "ENTRY", "set: pin it at this entry"),
                       VALUE("title", 0, OPT_TEXT, "TEXT", "new: the chat's title"), SESSION_OPTIONS, BIRTH_OPTIONS, REASON_OPTION),
    .examples = EXAMPLES({"template add @ --name 'A trip' -p city", "the newest session, with {{city}} in its messages"},
                         {"template new 'A trip' city=Porto", "a chat that says Porto there"},
                         {"log @ --record", "the same with the names"}),
},
{
    .name = "share", .group = GROUP_KEEP, .synopsis = "SESSION", .run = cmd_share,
    .summary = "Create a link to one session for users outside its tree",
    .about = "Prints a token. Its holder sees the session's path and versions, nothing else, and may fork "
             "it as a private session. The token is stored hashed and shown only once.",
    .args = ARGS(SESSION_ARG),
    .options = OPTIONS(FLAG("write", 'w', "allow writing, too: append, edit, move the head"),
                       VALUE("expires", 0, OPT_SPAN, "SPAN", "expire after this time (default: never)")),
    .examples = EXAMPLES({"share @ --expires 7d", "a link for reading, for a week"}),
},
{
    .name = "shares", .group = GROUP_KEEP, .flags = CMD_PAGER, .synopsis = "SESSION", .run = cmd_shares,
    .summary = "List the share links of a session",
    .args = ARGS(SESSION_ARG),
},
{
    .name = "unshare", .group = GROUP_KEEP, .synopsis = "SESSION ID", .run = cmd_unshare,
    .summary = "Revoke a share link",
    .args = ARGS(SESSION_ARG, ARG("ID", "the link's id as shown by 'ramet shares', or its last characters", WORD_ANY)),
},
{
    .name = "promote", .group = GROUP_KEEP, .synopsis = "SESSION", .run = cmd_promote,
    .summary = "Make an ephemeral session permanent",
    .args = ARGS(SESSION_ARG),
},
{
    .name = "rm", .group = GROUP_KEEP, .synopsis = "SESSION", .run = cmd_rm,
    .summary = "Delete a session, optionally with all its forks",
    .about = "Forks of a deleted session stay. 'ramet restore' restores it until 'ramet gc' removes it for good, 7 days "
             "later at the earliest.",
    .args = ARGS(SESSION_ARG),
    .options = OPTIONS(FLAG("tree", 0, "delete everything that descends from it, too"),
                       FLAG("dry-run", 0, "only show what would be deleted"),
                       FLAG("yes", 'y', "do not ask for confirmation")),
    .examples = EXAMPLES({"rm @ --tree --dry-run", "what would be deleted"}),
},
{
    .name = "restore", .group = GROUP_KEEP, .synopsis = "ID", .run = cmd_restore,
    .summary = "Restore a deleted session, or a pruned branch",
    .args = ARGS(ARG("ID", "the full id of a deleted session; with --branch a SESSION", WORD_ANY)),
    .options = OPTIONS(FLAG("tree", 0, "restore everything that the same command deleted"),
                       VALUE("branch", 'b', OPT_TEXT, "BRANCH", "restore this pruned branch of the session"),
                       FLAG("all", 0, "with --branch: restore everything that the same command pruned")),
},
{
    .name = "branch", .group = GROUP_KEEP, .synopsis = "SESSION BRANCH", .run = cmd_branch,
    .summary = "Name a branch, or make it the favourite path of its session",
    .about = "A session has at most one favourite path. 'ramet chat' and the page open the session there; every other "
             "command without a branch uses the head.",
    .args = ARGS(SESSION_ARG, ARG("BRANCH", "one of its branches", WORD_BRANCH)),
    .options = OPTIONS(VALUE("name", 0, OPT_TEXT, "NAME", "its name, at most 100 characters; '' removes it"),
                       FLAG("favourite", 0, "open the session at this branch"),
                       FLAG("no-favourite", 0, "open the session at its head again")),
    .examples = EXAMPLES({"branch @ b3 --name 'by train'", "a name, which 'ramet switch' accepts too"},
                         {"branch @ b3 --favourite", "the path where chats continue"}),
},
{
    .name = "prune", .group = GROUP_KEEP, .synopsis = "SESSION [BRANCH]", .run = cmd_prune,
    .summary = "Remove a branch, or all branches but the current path, from a session",
    .about = "Pruned entries disappear from lists, search and the record. 'ramet restore --branch' restores them until "
             "'ramet gc' removes them, 7 days later at the earliest; after that, an undo into them is refused. What another "
             "session or another branch needs is not pruned.",
    .args = ARGS(SESSION_ARG, MAYBE("BRANCH", "the branch to prune", WORD_BRANCH)),
    .options = OPTIONS(FLAG("others", 0, "all branches that are not on the path of the head"),
                       FLAG("dry-run", 0, "only show what would be pruned"),
                       FLAG("list", 'l', "show what was pruned"),
                       FLAG("yes", 'y', "do not ask")),
    .examples = EXAMPLES({"prune @ --others --dry-run", "what would be pruned"}, {"prune @ b3", "one branch"}),
},
{
    .name = "erase", .group = GROUP_KEEP, .synopsis = "SESSION [ENTRY] | SESSION --tree | --user USER | SESSION --list", .run = cmd_erase,
    .summary = "Take content out of the store for good: an entry, a session, a tree, a user",
    .about = "What is erased is gone from every fork at once, with its copies, attachments, search words, titles and everything else that was made "
             "from it; an entry keeps its place, id and hash. A store that is a file is written anew. There is no way back. Here --user names "
             "the user to erase, and RAMET_USER the caller. The reason is kept with each entry: it must not repeat what is erased.",
    .args = ARGS(MAYBE("SESSION", "a session; with --tree also the id of a tree", WORD_SESSION), MAYBE("ENTRY", "an entry on its path", WORD_ANY)),
    .options = OPTIONS(FLAG("tree", 0, "the whole tree of the session"),
                       BRANCH_OPTION, REASON_OPTION,
                       FLAG("dry-run", 0, "only show what would be erased"),
                       FLAG("list", 'l', "show what was erased of the session's history before"),
                       FLAG("yes", 'y', "do not ask for confirmation")),
    .examples = EXAMPLES({"erase trip @3 --reason 'a leaked key' --dry-run", "what would be erased"}),
},
{
    .name = "serve", .group = GROUP_SERVE, .flags = CMD_NO_STORE, .synopsis = "", .run = cmd_serve,
    .summary = "Serve the store over HTTP",
    .about = "Prints 'listening on http://ADDR:PORT' on standard output when it is ready, and creates the store if there "
             "is none. On Ctrl-C or SIGTERM it lets running requests finish; a second signal ends it at once.\n\n"
             "Every setting can also be a line 'name = value' in a file; a flag overrides it. "
             "docs/server.md and 'ramet help --settings' list all settings with their defaults.",
    .options = OPTIONS(WORD("config", 'c', "FILE", "read settings from a file", WORD_FILE),
                       SERVER_SETTINGS(SETTING_PART, SETTING_TEXT_OPTION, SETTING_WORD_OPTION,
                                       SETTING_NUMBER_OPTION, SETTING_SWITCH_OPTION, SETTING_LIST_OPTION) {.name = NULL}),
    .examples = EXAMPLES({"serve", "on 127.0.0.1:7077, for this machine only"},
                         {"serve --listen 127.0.0.1:0 --db /tmp/try.db", "on a free port, with another store"},
                         {"serve --config ramet.conf --log-format json", "with a configuration file"}),
},
{
    .name = "fsck", .group = GROUP_CARE, .flags = CMD_ADMIN, .synopsis = "", .run = cmd_fsck,
    .summary = "Check every hash, reference and head; exit with 7 if something is damaged",
    .options = OPTIONS(FOLDER_OPTION),
},
{
    .name = "gc", .group = GROUP_CARE, .flags = CMD_ADMIN, .synopsis = "", .run = cmd_gc,
    .summary = "Remove deleted sessions for good after the grace period",
    .options = OPTIONS(FLAG("dry-run", 0, "only show what would be deleted"),
                       VALUE("grace", 0, OPT_SPAN, "SPAN", "the grace period (default: 7d)"), FOLDER_OPTION),
},
{
    .name = "backup", .group = GROUP_CARE, .flags = CMD_ADMIN, .synopsis = "FILE", .run = cmd_backup,
    .summary = "Copy the store to a new file, online",
    .about = "Other processes may read and write meanwhile. Attachments are copied to the folder FILE.files next to it: the two belong together.",
    .args = ARGS(ARG("FILE", "the copy; must not exist yet", WORD_FILE)),
    .options = OPTIONS(FOLDER_OPTION),
},
{
    .name = "export", .group = GROUP_KEEP, .synopsis = "[SESSION]", .run = cmd_export,
    .summary = "Write a session, its tree, or all that you have to a file",
    .about = "jsonl is Ramet's own format: 'ramet import' takes it back, with every branch, move, tag, verdict and attachment. md and html are for "
             "people; html is one file with the other branches folded in.\n\n"
             "Sessions that you may not see and deleted ones are left out. Share links and API keys are never exported.",
    .args = ARGS(MAYBE("SESSION", "the session; without it, all that you have", WORD_SESSION)),
    .options = OPTIONS(CHOICE("format", 'f', "FORMAT", "what to write (default: jsonl, or what the name of the file says)", "jsonl|md|html"),
                       FLAG("tree", 0, "the whole tree of SESSION"),
                       WORD("output", 'o', "FILE", "the file, which must not exist (default: standard output)", WORD_FILE),
                       FLAG("with-adk", 0, "jsonl: the adk log, too; it may hold credentials"),
                       FLAG("path", 0, "only the present path of each session"),
                       {.name = "branch", .letter = 'b', .kind = OPT_LIST, .value = "BRANCH", .text = "only the path of this branch; may be repeated", .word = WORD_BRANCH},
                       FLAG("context", 0, "what the model sees: overlays are applied (jsonl: with --path, or one --branch)"),
                       FLAG("all-users", 0, "everything in the store; for administrators")),
    .examples = EXAMPLES({"export @ -o chat.html", "the newest session, to read in a browser"},
                         {"export --all-users --with-adk -o everything.jsonl", "all of a store"}),
},
{
    .name = "import", .group = GROUP_KEEP, .flags = CMD_MAKES, .synopsis = "[--from FORMAT] [PATH]", .run = cmd_import,
    .summary = "Add what an exported file, or another program's, has and the store has not",
    .about = "The file is checked whole before anything is written; when it is damaged, nothing is added and the line is named. What is there already "
             "adds nothing, so an import that was interrupted is simply done again. A server goes on with an upload that broke off.\n\n"
             "What is imported belongs to you. With --owners an administrator restores owners and members.\n\n"
             "With --from, PATH is what another program has written, a file or a folder. Conversations become sessions, with their branches; copies of one "
             "another become forks. Imported again, only what is new is added. FORMAT and PATH are one of:"
             RAMET_FOREIGN_FORMATS(FOREIGN_LINE),
    .args = ARGS(MAYBE("PATH", "what 'ramet export' wrote as jsonl, or with --from; without it, or with -, standard input", WORD_FILE)),
    .options = OPTIONS(CHOICE("from", 0, "FORMAT", "the program that has written it", RAMET_FOREIGN_NAMES),
                       FLAG("owners", 0, "owners and members are those of the file; for administrators")),
    .examples = EXAMPLES({"import everything.jsonl --owners", "restore a store as it was"}, {"import --from claude-code ~/.claude/projects", "take over what Claude Code has"}),
},
{
    .name = "copy", .group = GROUP_CARE, .flags = CMD_NO_STORE, .synopsis = "--from STORE --to STORE", .run = cmd_copy,
    .summary = "Copy a store to another store or engine, row by row, online",
    .about = "Numbers, ids and hashes stay the same. Each tree is read back and compared with the source, its hash chains are "
             "recomputed, and attachments are read back; exits with 7 if something differs or is damaged.\n\n"
             "Trees that change meanwhile are copied again until none does. If that does not end, exits with 8: running the same "
             "command again catches up, and completes once there are no writes to the source. It also resumes a copy that was "
             "interrupted. The target must be new, or such a copy, and cannot be opened until the copy is complete.",
    .options = OPTIONS(WORD("from", 0, "STORE", "the source: a path, or sqlite:PATH", WORD_FILE),
                       WORD("to", 0, "STORE", "the target", WORD_FILE),
                       FLAG("verify-only", 0, "only compare the two, completely")),
    .examples = EXAMPLES({"copy --from sqlite:ramet.db --to sqlite:/srv/ramet.db", "to another disk, online"},
                         {"copy --from sqlite:ramet.db --to sqlite:/srv/ramet.db --verify-only", "compare them again"}),
},
{
    .name = "hold", .group = GROUP_KEEP, .flags = CMD_MAKES, .synopsis = "SESSION|TREE", .run = cmd_hold,
    .summary = "Protect a session or a tree from deletion by any user",
    .about = "What is on hold is not deleted, pruned, erased, removed by a rule of retention, or taken by 'ramet gc' after it was deleted. The owner of "
             "the tree sets a hold, or with --admin an administrator, whose hold only an administrator releases.",
    .args = ARGS({.name = "SESSION", .text = "the session, or the id of a tree", .word = WORD_SESSION}),
    .options = OPTIONS(FLAG("tree", 0, "the whole tree of SESSION, with the forks to come"), FLAG("admin", 0, "as an administrator"),
                       VALUE("reason", 'm', OPT_TEXT, "TEXT", "the reason, which is kept with it")),
    .examples = EXAMPLES({"hold trip --tree --reason 'case 7'", "the session with everything that descends from it"}),
},
{
    .name = "release", .group = GROUP_KEEP, .flags = CMD_MAKES, .synopsis = "SESSION|TREE", .run = cmd_release,
    .summary = "Release a hold",
    .args = ARGS({.name = "SESSION", .text = "the session, or the id of a tree", .word = WORD_SESSION}),
    .options = OPTIONS(FLAG("tree", 0, "the hold of the whole tree"), FLAG("admin", 0, "as an administrator, who releases every hold there")),
},
{
    .name = "holds", .group = GROUP_KEEP, .synopsis = "[SESSION]", .run = cmd_holds,
    .summary = "List what protects a session, or all holds of the store",
    .about = "Without SESSION, all holds: for administrators.",
    .args = ARGS(MAYBE("SESSION", "the session", WORD_SESSION)),
},
{
    .name = "retention", .group = GROUP_CARE, .flags = CMD_ADMIN | CMD_MAKES, .run = cmd_retention,
    .synopsis = "[show] | add NAME --older-than SPAN | rm NAME | on | off | run [--dry-run] | explain SESSION | log",
    .summary = "Remove sessions by rule: age, tag, agent, ephemeral, archived",
    .about = "Rules are off until 'retention on', and neither 'on' nor 'run' does anything before 'run --dry-run' has shown what they would take. A rule removes "
             "a session as 'ramet rm' does: its forks stay, and it can be restored until 'ramet gc'. Sessions with the tag pinned, templates, and sessions on hold or with a running "
             "turn always stay. 'explain' says which rule matches a session and why not, and what of it stays because other sessions need it. 'log' lists what "
             "was removed.",
    .args = ARGS({.name = "ACTION", .text = "what to do; without it, show", .choices = "show|add|rm|on|off|run|explain|log", .optional = true},
                 MAYBE("NAME", "add, rm: the rule; explain: the session", WORD_ANY)),
    .options = OPTIONS(VALUE("older-than", 0, OPT_SPAN, "SPAN", "add: only sessions at least so old"),
                       CHOICE("since", 0, "WHAT", "add: what the age counts from (default: updated)", "updated|created|archived"),
                       VALUE("tag", 't', OPT_TEXT, "TAG", "add: only sessions with this tag"),
                       VALUE("agent", 0, OPT_TEXT, "NAME", "add: only sessions of this agent"),
                       CHOICE("ephemeral", 0, "HOW", "add: how to treat ephemeral sessions (default: include)", "include|only|exclude"),
                       CHOICE("archived", 0, "HOW", "add: how to treat archived sessions (default: include)", "include|only|exclude"),
                       FLAG("private", 0, "add: private sessions, too"),
                       FLAG("dry-run", 0, "run: only show what would be removed"),
                       VALUE("limit", 'n', OPT_COUNT, "N", "log: number of rows (default: 50)"),
                       VALUE("cursor", 0, OPT_TEXT, "CURSOR", "log: continue from next_cursor of an earlier page")),
    .examples = EXAMPLES({"retention add stale --older-than 52w --archived only", "what was archived and not touched for a year"},
                         {"retention run --dry-run", "see what it would take"}, {"retention on", "have the server apply it every day"},
                         {"retention explain trip", "why a session stays or goes"}),
},
{
    .name = "stat", .group = GROUP_CARE, .flags = CMD_ADMIN, .synopsis = "", .run = cmd_stat,
    .summary = "Show the size of the store and what it contains",
},
{
    .name = "reindex", .group = GROUP_CARE, .flags = CMD_ADMIN, .synopsis = "", .run = cmd_reindex,
    .summary = "Rebuild the search index",
},
{
    .name = "token", .group = GROUP_CARE, .flags = CMD_ADMIN | CMD_MAKES, .synopsis = "create --user USER | list | revoke ID", .run = cmd_token,
    .summary = "Create, list and revoke the API keys of a server",
    .about = "A server started with --auth tokens identifies its clients by them. The secret is stored hashed and "
             "shown only once, when the token is created; --user names its owner.",
    .args = ARGS({.name = "ACTION", .text = "create, list or revoke", .choices = "create|list|revoke"},
                 MAYBE("ID", "revoke: the token's id, or its last characters", WORD_ANY)),
    .options = OPTIONS(VALUE("client", 0, OPT_TEXT, "NAME", "create: the client it is for"),
                       VALUE("roles", 0, OPT_TEXT, "ROLES", "create: additional roles, separated by commas: admin, auditor, indexer, agent"),
                       VALUE("expires", 0, OPT_SPAN, "SPAN", "create: expire after this time (default: never)"),
                       VALUE("note", 0, OPT_TEXT, "TEXT", "create: a note about its purpose")),
    .examples = EXAMPLES({"token create --user ann --expires 12w --note 'her laptop'", "a key for ann"},
                         {"token revoke 0a1b2c3d", "refuse it from now on"}),
},
{
    .name = "schema", .group = GROUP_CARE, .flags = CMD_NO_STORE, .synopsis = "", .run = cmd_schema,
    .summary = "Print the statements that create the tables of a store",
    .about = "Ramet creates its tables itself; use this to create them by hand, or to see what it would do. "
             "docs/scaling.md explains how the tables are distributed.",
    .options = OPTIONS(CHOICE("engine", 0, "ENGINE", "the engine (default: postgres)", "sqlite|postgres"),
                       VALUE("partitions", 0, OPT_COUNT, "N", "partitions of each table of a tree (default: 1, not partitioned)"),
                       FLAG("citus", 0, "no partitions, but the calls that distribute the tables by tree"),
                       VALUE("after", 0, OPT_COUNT, "VERSION", "only what a store of this schema version lacks")),
    .examples = EXAMPLES({"schema --partitions 32 | psql -1 -v ON_ERROR_STOP=1 \"$URL\"", "a store with 32 partitions per table"},
                         {"schema --citus", "the tables for a Citus cluster, and how they are distributed"}),
},
{
    .name = "help", .group = GROUP_ABOUT, .flags = CMD_NO_STORE | CMD_PAGER, .synopsis = "[COMMAND]", .run = cmd_help,
    .summary = "Show this overview, or the help for a command",
    .args = ARGS(MAYBE("COMMAND", "the command", WORD_COMMAND)),
    .options = OPTIONS(FLAG("man", 0, "the whole manual as a man page (troff)"),
                       FLAG("markdown", 0, "the whole manual as Markdown"),
                       FLAG("settings", 0, "the settings of 'ramet serve' as Markdown"),
                       VALUE("api", 0, OPT_TEXT, "NAME", "the routes of one protocol of 'ramet serve' as Markdown, such as native; list: the protocols"),
                       FLAG("openapi", 0, "all routes of 'ramet serve' as an OpenAPI document")),
},
{
    .name = "completion", .group = GROUP_ABOUT, .flags = CMD_NO_STORE, .synopsis = "bash|zsh|fish", .run = cmd_completion,
    .summary = "Print the completion script for a shell",
    .args = ARGS({.name = "SHELL", .text = "bash, zsh or fish", .choices = "bash|zsh|fish"}),
    .examples = EXAMPLES({"completion bash > ~/.local/share/bash-completion/completions/ramet", "for bash"},
                         {"completion zsh > ~/.zfunc/_ramet", "for zsh, with ~/.zfunc in fpath"},
                         {"completion fish > ~/.config/fish/completions/ramet.fish", "for fish"}),
},
{
    .name = "version", .group = GROUP_ABOUT, .flags = CMD_NO_STORE, .synopsis = "", .run = cmd_version,
    .summary = "Show the version",
},
{
    .name = "__complete", .group = GROUP_ABOUT, .flags = CMD_NO_STORE | CMD_RAW | CMD_HIDDEN, .synopsis = "WORDS...", .run = cmd_complete,
    .summary = "Answer the completion scripts",
},
{.name = NULL},
};

/* clang-format on */

const command_def *command_find(const char *name)
{
    for (const command_def *d = cli_commands; d->name; d++)
        if (strcmp(d->name, name) == 0)
            return d;
    return NULL;
}
