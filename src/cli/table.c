/* SPDX-License-Identifier: Apache-2.0
 *
 * table.c: every command, once. Dispatch, --help, the man page, docs/cli.md and shell
 * completion come from here.
 */
#include "cli/commands.h"
#include "runtime/settings.h"

#include <string.h>

const char cli_description[] =
    "Ramet keeps AI conversations so that any of them can be forked, rewound, edited and "
    "compared at any message, at once, without copying or losing anything.";

const char *const cli_groups[GROUP_COUNT] = {
    [GROUP_WRITE] = "Start and write",
    [GROUP_READ] = "Look",
    [GROUP_MOVE] = "Move through history",
    [GROUP_FIND] = "Find and compare",
    [GROUP_KEEP] = "Organise",
    [GROUP_SERVE] = "Serve",
    [GROUP_CARE] = "Take care of the store",
    [GROUP_ABOUT] = "About",
};

const topic_def cli_environment[] = {
    {"RAMET_DB", "the store's file, when --db is not given; else $XDG_DATA_HOME/ramet/ramet.db or "
                 "~/.local/share/ramet/ramet.db"},
    {"RAMET_SERVER",
     "a server to work on instead of a file, when neither --server nor --db is given"},
    {"RAMET_TOKEN", "the API key for the server, when --token is not given"},
    {"RAMET_USER", "who acts, when --user is not given; else \"local\""},
    {"RAMET_PAGER, PAGER", "the pager (default: less with -FRX); empty or \"cat\": none"},
    {"VISUAL, EDITOR", "what 'ramet edit' opens on a terminal (default: vi)"},
    {"NO_COLOR", "set: no colour, unless --color=always"},
    {"COLUMNS", "width of the output, instead of the terminal's"},
    {NULL, NULL},
};

const topic_def cli_names[] = {
    {"SESSION", "a session's id, or its first or last characters (4 or more) when only one session "
                "has them; @ is the newest session, @2 the one made before it"},
    {"ENTRY",
     "an entry's id, or its first or last characters (4 or more) when only one entry of the "
     "path has them; @1 is the first entry, @2 the second, @-1 the last"},
    {"BRANCH", "a branch as 'ramet branches' shows it, like b17; for 'switch', 'branch' and "
               "'prune' its name, too"},
    {"SIDE", "a SESSION, or a branch of one: SESSION@b17"},
    {"SPAN", "90s, 30m, 12h, 7d or 2w"},
    {"TIME", "a date (2026-01-31), an RFC 3339 time, or a SPAN back from now"},
    {NULL, NULL},
};

/* A table reads by its rows. */
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
#define TEXT_ARG    MANY("TEXT", "the message; without it, or with -, standard input is read", WORD_ANY)
#define SIDE_ARGS   ARG("SIDE", "the first side", WORD_SESSION), ARG("SIDE", "the second side", WORD_SESSION), \
                    MANY("SIDE", "more sides, 16 at most", WORD_SESSION)

#define BRANCH_OPTION WORD("branch", 'b', "BRANCH", "another branch of the session instead of its head", WORD_BRANCH)
#define EXPECT_OPTION VALUE("expect", 0, OPT_TEXT, "HASH", "only if the history still has this prefix_hash, else exit with 5")
#define LOG_OPTION    CHOICE("log", 0, "LOG", "which log; adk holds a runtime's raw events", "main|adk")
#define REASON_OPTION VALUE("reason", 'm', OPT_TEXT, "TEXT", "why; it is kept")
#define TAG_OPTION    {.name = "tag", .letter = 't', .kind = OPT_LIST, .value = "TAG", .text = "a tag; may be repeated", .word = WORD_TAG}
#define SESSION_OPTIONS                                                                             \
    VALUE("agent", 'a', OPT_TEXT, "NAME", "who answers"),                                           \
    VALUE("provider", 0, OPT_TEXT, "NAME", "the agent's provider"),                                 \
    VALUE("model", 0, OPT_TEXT, "NAME", "the agent's model"),                                       \
    WORD("folder", 0, "PATH", "the agent's working folder", WORD_FILE),                             \
    VALUE("agent-options", 0, OPT_JSON, "JSON", "the agent's other settings, an object"),           \
    VALUE("metadata", 0, OPT_JSON, "JSON", "any other facts, an object")
#define BIRTH_OPTIONS                                                                               \
    VALUE("id", 0, OPT_TEXT, "ID", "the new session's id (default: one is made)"),                  \
    TAG_OPTION,                                                                                     \
    FLAG("private", 0, "visible to its owner alone, not to the members of the tree"),               \
    VALUE("ephemeral", 0, OPT_SPAN, "SPAN", "it goes after that long, unless promoted")
#define FOLDER_OPTION WORD("attachments", 0, "DIR", "the folder of attachments, where the server has that setting", WORD_FILE)
#define AT_OPTION     VALUE("at", 0, OPT_TEXT, "ENTRY", "the same as ENTRY")
#define CUT_OPTIONS                                                                                 \
    FLAG("before", 0, "cut before ENTRY instead of after it"),                                      \
    CHOICE("cut", 0, "HOW", "move the cut so that a tool call keeps its result", "exact|snap_before|snap_after"), \
    REASON_OPTION, EXPECT_OPTION
#define ENTRY_OPTIONS                                                                               \
    CHOICE("role", 'r', "ROLE", "who speaks", "user|assistant|tool|system"),                        \
    VALUE("id", 0, OPT_TEXT, "ID", "the entry's own id (default: one is made)"),                    \
    VALUE("turn", 0, OPT_TEXT, "ID", "the turn that it belongs to"),                                \
    VALUE("channel", 0, OPT_TEXT, "NAME", "its channel (default: history)"),                        \
    VALUE("author", 0, OPT_TEXT, "NAME", "who wrote it (default: the user, for role user)"),        \
    VALUE("usage", 0, OPT_JSON, "JSON", "tokens and cost: {\"input\": 9, \"output\": 4, \"cost\": 0.01, \"currency\": \"USD\"}"), \
    VALUE("state", 0, OPT_JSON, "JSON", "changes to the session state; null removes a key"),        \
    CHOICE("format", 'f', "FORMAT", "what standard input holds", "auto|text|json|jsonl"), \
    EXPECT_OPTION
#define ENTRY_INPUT                                                                                 \
    "Standard input may hold a plain message, one JSON entry, an array of them, or JSONL with one " \
    "entry a line. An entry is {id?, role, text? | parts?, format?, body?, turn_id?, channel?, "    \
    "author?, usage?, state_delta?}; an unknown key is refused, and a body is kept byte for byte."

const option_def cli_globals[] = {
    WORD("db", 0, "PATH", "the store's file", WORD_FILE),
    VALUE("server", 0, OPT_TEXT, "URL", "work on a Ramet server instead of a file"),
    VALUE("token", 0, OPT_TEXT, "TOKEN", "the API key for it"),
    VALUE("user", 'u', OPT_TEXT, "USER", "act as this user (default: local)"),
    FLAG("json", 0, "one JSON value for programs; errors too"),
    FLAG("quiet", 'q', "say only what a script needs: an id, or nothing"),
    CHOICE("color", 0, "WHEN", "whether to use colour", "auto|always|never"),
    FLAG("no-pager", 0, "do not use a pager"),
    FLAG("help", 'h', "show help, of a command when one is given"),
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
    .about = "Without a title, the first line of its first message is shown.",
    .args = ARGS(MAYBE("TITLE", "its title", WORD_ANY)),
    .options = OPTIONS(VALUE("title", 0, OPT_TEXT, "TEXT", "the same as TITLE"), SESSION_OPTIONS, BIRTH_OPTIONS,
                       VALUE("sandbox", 0, OPT_TEXT, "NAME", "put it into this sandbox")),
    .examples = EXAMPLES({"new 'Trip to Lisbon' --agent claude --tag travel", "a session with an agent and a tag"},
                         {"new -q", "in a script: prints the new id alone"}),
},
{
    .name = "append", .group = GROUP_WRITE, .synopsis = "SESSION [TEXT...]", .run = cmd_append,
    .summary = "Add messages at the end",
    .about = ENTRY_INPUT "\n\n"
             "One entry or array is added whole or not at all. JSONL of any length is added in batches of "
             "1,000; an error names the line, and the batches before it stay. Sending the same ids again "
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
    .about = "The head moves to a new branch before ENTRY, which begins with the new version; the old one "
             "and all that followed it stay on their branch. Without TEXT, an editor opens on a terminal, "
             "and standard input is read elsewhere.",
    .args = ARGS(SESSION_ARG, ENTRY_ARG, MANY("TEXT", "the new text; -: read standard input", WORD_ANY)),
    .options = OPTIONS(ENTRY_OPTIONS),
    .examples = EXAMPLES({"edit @ @3 'And by bus?'", "the third message, said differently"}),
},
{
    .name = "regenerate", .group = GROUP_WRITE, .synopsis = "SESSION ENTRY [TEXT...]", .run = cmd_regenerate,
    .summary = "Branch before an answer, for another one",
    .about = "Without TEXT the new branch ends before ENTRY, ready to be appended to; with - the entries of "
             "the new answer are read from standard input.",
    .args = ARGS(SESSION_ARG, ENTRY_ARG, MANY("TEXT", "the new answer; -: read standard input", WORD_ANY)),
    .options = OPTIONS(ENTRY_OPTIONS),
    .examples = EXAMPLES({"regenerate @ @-1 'Take the night train.'", "another last answer"}),
},
{
    .name = "sync", .group = GROUP_WRITE, .synopsis = "SESSION [FILE]", .run = cmd_sync,
    .summary = "Make the history equal to a list of messages",
    .about = "Reads the whole list (a JSON array or JSONL) from FILE or standard input, finds the first "
             "difference, branches there and adds the rest, in one step. Entries match by id (when given), "
             "role and content.",
    .args = ARGS(SESSION_ARG, MAYBE("FILE", "the list; without it, or with -, standard input", WORD_FILE)),
    .options = OPTIONS(EXPECT_OPTION),
    .examples = EXAMPLES({"sync @ messages.json", "what a client holds becomes the history"}),
},
{
    .name = "chat", .group = GROUP_WRITE, .flags = CMD_SERVER, .synopsis = "[SESSION [MESSAGE...]]", .run = cmd_chat,
    .summary = "Talk with an agent in the terminal",
    .about = "What is typed is sent, the answer is shown as it comes and recorded. Lines that begin with / are "
             "commands (/fork, /rewind, /undo, /tree, /help); Ctrl-C ends an answer. Without SESSION a new one is "
             "made; with MESSAGE it is sent and the command ends with the answer. Works on a server (--server), or "
             "starts one for the store's file meanwhile.",
    .args = ARGS(MAYBE("SESSION", "the session to go on in", WORD_SESSION), MANY("MESSAGE", "what to say", WORD_ANY)),
    .options = OPTIONS(VALUE("agent", 0, OPT_TEXT, "NAME", "who answers (default: the session's agent)"),
                       FLAG("head", 0, "go on at the head, not at the session's favourite path"),
                       WORD("config", 0, "FILE", "settings of the server that is started, its agents too", WORD_FILE)),
    .examples = EXAMPLES({"chat", "a new conversation with the built-in agent echo"},
                         {"chat @ 'And by bus?'", "one message to the newest session"}),
},
{
    .name = "acp", .group = GROUP_SERVE, .flags = CMD_MAKES, .synopsis = "-- AGENT [ARGS...] | --agent NAME", .run = cmd_acp,
    .summary = "Stand between an editor and an ACP agent, and record",
    .about = "An editor that speaks the Agent Client Protocol starts this instead of the agent. Every session is "
             "recorded, and can be forked, rewound, listed and loaded, also where the agent cannot do that itself. "
             "On a terminal the agent is just run, so that one can log in. Without AGENT it is a link of a chain that an "
             "ACP conductor makes.",
    .args = ARGS(MANY("AGENT", "the agent's command line, after --", WORD_ANY)),
    .options = OPTIONS(VALUE("name", 0, OPT_TEXT, "NAME", "the agent's name in the record (default: its program's)"),
                       VALUE("agent", 0, OPT_TEXT, "NAME", "be an agent oneself: this one of the server answers"),
                       WORD("config", 0, "FILE", "with --agent: settings of the server that is started, its agents too", WORD_FILE)),
    .examples = EXAMPLES({"acp -- opencode acp", "what an editor is told to start for opencode"},
                         {"acp --server http://127.0.0.1:7077 -- gemini --acp", "recorded by a server"},
                         {"acp --agent echo", "Ramet itself as an agent for an editor"}),
},
{
    .name = "list", .group = GROUP_READ, .flags = CMD_PAGER, .synopsis = "", .run = cmd_list,
    .summary = "List sessions, newest first",
    .options = OPTIONS(VALUE("limit", 'n', OPT_COUNT, "N", "at most N (default: 50)"),
                       FLAG("all", 0, "all of them"),
                       VALUE("owner", 0, OPT_TEXT, "USER", "of this owner"),
                       VALUE("agent", 'a', OPT_TEXT, "NAME", "with this agent"),
                       WORD("tag", 't', "TAG", "with this tag", WORD_TAG),
                       WORD("tree", 0, "SESSION", "of the tree that SESSION is in", WORD_SESSION),
                       VALUE("title", 0, OPT_TEXT, "TEXT", "with TEXT in the title, in any case"),
                       VALUE("sandbox", 0, OPT_TEXT, "NAME", "in this sandbox"),
                       CHOICE("archived", 0, "HOW", "what to do with archived ones", "exclude|include|only"),
                       VALUE("cursor", 0, OPT_TEXT, "CURSOR", "go on from next_cursor of an earlier list")),
    .examples = EXAMPLES({"list --tag travel", "sessions tagged travel"},
                         {"list --json --all", "everything, for a program"}),
},
{
    .name = "log", .group = GROUP_READ, .flags = CMD_PAGER, .synopsis = "[SESSION]", .run = cmd_log,
    .summary = "Show a history, oldest first",
    .about = "Without SESSION, the newest one. With --graph, the timeline of the whole tree: every session "
             "and abandoned branch is a lane, long runs of entries are one line.",
    .args = ARGS(MAYBE("SESSION", "the session", WORD_SESSION)),
    .options = OPTIONS(VALUE("limit", 'n', OPT_COUNT, "N", "only the last N"),
                       FLAG("oneline", '1', "one line an entry"),
                       FLAG("reverse", 0, "newest first"),
                       FLAG("graph", 'g', "draw the timeline of the tree"),
                       VALUE("channel", 0, OPT_TEXT, "NAME", "only this channel"),
                       BRANCH_OPTION, LOG_OPTION),
    .examples = EXAMPLES({"log @ -n 4", "the last four entries"},
                         {"log --graph", "the tree of the newest session"},
                         {"log @ --json", "the whole history for a program, streamed"}),
},
{
    .name = "show", .group = GROUP_READ, .flags = CMD_PAGER, .synopsis = "SESSION [ENTRY]", .run = cmd_show,
    .summary = "Show a session, or one entry in full",
    .args = ARGS(SESSION_ARG, MAYBE("ENTRY", "an entry on its path", WORD_ANY)),
    .options = OPTIONS(BRANCH_OPTION,
                       FLAG("text", 0, "the entry's text alone"),
                       FLAG("body", 0, "the entry's body alone, byte for byte"),
                       FLAG("ancestry", 0, "the sessions above it, root first"),
                       FLAG("children", 0, "its direct forks")),
    .examples = EXAMPLES({"show @", "the newest session: title, agent, head, lineage"},
                         {"show @ @-1 --text", "the last answer, to be piped on"}),
},
{
    .name = "tree", .group = GROUP_READ, .flags = CMD_PAGER, .synopsis = "[SESSION]", .run = cmd_tree,
    .summary = "Draw the forks of a tree",
    .about = "Each line is a session: title, id, agent, tags, its own entries and where it left its parent. "
             "Without SESSION: the root of every tree in the store.",
    .args = ARGS(MAYBE("SESSION", "a session of the tree", WORD_SESSION)),
    .options = OPTIONS(VALUE("depth", 'd', OPT_COUNT, "N", "no deeper than N forks (default: 64)")),
    .examples = EXAMPLES({"tree @", "where the newest session stands among its forks"}),
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
    .summary = "Show places that are worth forking, and tags, found in the text",
    .about = "Corrections, failed tool calls, retries and changes of topic among the last 1,000 entries; 'ramet fork "
             "SESSION ENTRY --before' goes another way from there. No model is asked.",
    .args = ARGS(SESSION_ARG),
    .options = OPTIONS(BRANCH_OPTION, FLAG("tag", 0, "give the session the proposed tags")),
    .examples = EXAMPLES({"suggest @", "what stands out in the newest session"}),
},
{
    .name = "record", .group = GROUP_READ, .flags = CMD_PAGER, .synopsis = "SESSION", .run = cmd_record,
    .summary = "Show everything that was ever appended in a session, in that order",
    .about = "On whatever branch, abandoned ones too; inherited entries are not in it.",
    .args = ARGS(SESSION_ARG),
    .options = OPTIONS(VALUE("from", 0, OPT_COUNT, "N", "begin with the N-th"),
                       VALUE("limit", 'n', OPT_COUNT, "N", "at most N (default: all)"),
                       FLAG("oneline", '1', "one line an entry"), LOG_OPTION),
},
{
    .name = "state", .group = GROUP_READ, .flags = CMD_PAGER, .synopsis = "SESSION", .run = cmd_state,
    .summary = "Show the session state, now or at an entry",
    .args = ARGS(SESSION_ARG),
    .options = OPTIONS(VALUE("at", 0, OPT_TEXT, "ENTRY", "as it was just after this entry")),
    .examples = EXAMPLES({"state @ --at @4", "the state as the fourth entry left it"}),
},
{
    .name = "usage", .group = GROUP_READ, .flags = CMD_PAGER, .synopsis = "SESSION", .run = cmd_usage,
    .summary = "Sum tokens and cost of a session, its path and its tree",
    .args = ARGS(SESSION_ARG),
},
{
    .name = "fork", .group = GROUP_MOVE, .synopsis = "SESSION [ENTRY]", .run = cmd_fork,
    .summary = "Start a new session that shares the history up to an entry",
    .about = "Nothing is copied: it takes the same time whatever the length of the history. Without ENTRY it "
             "forks at the head. The new session's id is printed.",
    .args = ARGS(SESSION_ARG, MAYBE("ENTRY", "the last entry to share; without it: the head", WORD_ANY)),
    .options = OPTIONS(VALUE("title", 0, OPT_TEXT, "TEXT", "the new session's title"),
                       AT_OPTION, CUT_OPTIONS, BRANCH_OPTION, SESSION_OPTIONS, BIRTH_OPTIONS,
                       CHOICE("type", 0, "TYPE", "how it came about", "explicit|auto-edit|auto-regenerate"),
                       VALUE("system", 0, OPT_TEXT, "ID", "made by a system, not by the user")),
    .examples = EXAMPLES({"fork @ @4 --title 'By bus'", "a new session from the fourth entry on"},
                         {"fork @ @4 --before --agent gpt", "without that entry, with another agent"}),
},
{
    .name = "rewind", .group = GROUP_MOVE, .synopsis = "SESSION [ENTRY]", .run = cmd_rewind,
    .summary = "Move the head back to an entry",
    .about = "What came after it stays on its branch; 'ramet undo' goes back.",
    .args = ARGS(SESSION_ARG, MAYBE("ENTRY", "the last entry to keep; it must be given", WORD_ANY)),
    .options = OPTIONS(AT_OPTION, CUT_OPTIONS),
    .examples = EXAMPLES({"rewind @ @-3", "drop the last two entries"},
                         {"rewind @ @1 --before", "back to an empty history"}),
},
{
    .name = "undo", .group = GROUP_MOVE, .synopsis = "SESSION", .run = cmd_undo,
    .summary = "Take the last move of the head back",
    .about = "Moves are rewind, switch, edit, regenerate and sync; appending is none. There is no limit, and "
             "a new move ends redo.",
    .args = ARGS(SESSION_ARG), .options = OPTIONS(EXPECT_OPTION),
},
{
    .name = "redo", .group = GROUP_MOVE, .synopsis = "SESSION", .run = cmd_redo,
    .summary = "Take the last undo back",
    .args = ARGS(SESSION_ARG), .options = OPTIONS(EXPECT_OPTION),
},
{
    .name = "switch", .group = GROUP_MOVE, .synopsis = "SESSION [BRANCH]", .run = cmd_switch,
    .summary = "Move the head to another branch or version",
    .args = ARGS(SESSION_ARG, MAYBE("BRANCH", "where to; -: where the head was before", WORD_BRANCH)),
    .options = OPTIONS(VALUE("at", 0, OPT_TEXT, "ENTRY", "with --pick: the message whose version is meant"),
                       VALUE("pick", 'p', OPT_COUNT, "N", "the N-th version of that message"), EXPECT_OPTION),
    .examples = EXAMPLES({"switch @ b3", "to branch b3"}, {"switch @ --at @3 --pick 1", "to the first version of the third message"},
                         {"switch @ -", "back to the branch before"}),
},
{
    .name = "diff", .group = GROUP_FIND, .flags = CMD_PAGER, .synopsis = "SIDE SIDE [SIDE...]", .run = cmd_diff,
    .summary = "Compare histories from where they part",
    .about = "Side by side when the terminal is wide enough, else one under the other; words that differ are "
             "coloured, or marked [-so-] and {+so+}.",
    .args = ARGS(SIDE_ARGS),
    .options = OPTIONS(FLAG("stat", 's', "only the summary of each side"),
                       VALUE("limit", 'n', OPT_COUNT, "N", "at most N entries a side (default: 100, at most 1000)")),
    .examples = EXAMPLES({"diff @ @2", "the two newest sessions"}, {"diff @ @@b2", "a session and one of its branches"}),
},
{
    .name = "verdict", .group = GROUP_FIND, .flags = CMD_PAGER, .synopsis = "[SIDE...]", .run = cmd_verdict,
    .summary = "Keep which side was better, or list what was kept",
    .about = "With two or more sides and --winner, stores a verdict. With one session or none, lists verdicts.",
    .args = ARGS(MANY("SIDE", "what was compared", WORD_SESSION)),
    .options = OPTIONS(VALUE("winner", 'w', OPT_TEXT, "N", "the better side, counted from 1, or tie"), REASON_OPTION,
                       VALUE("limit", 'n', OPT_COUNT, "N", "list at most N (default: 50)")),
    .examples = EXAMPLES({"verdict @ @2 --winner 2 -m 'shorter'", "the second side was better"}),
},
{
    .name = "search", .group = GROUP_FIND, .flags = CMD_PAGER, .synopsis = "WORDS...", .run = cmd_search,
    .summary = "Search the text of all messages",
    .about = "All words must occur; \"a phrase\" in quotes, prefix*, and -without work. Hits on abandoned "
             "branches are found and marked.",
    .args = ARGS(MANY("WORDS", "what to look for", WORD_ANY)),
    .options = OPTIONS(WORD("session", 's', "SESSION", "only in this session", WORD_SESSION),
                       WORD("tree", 0, "SESSION", "only in the tree that SESSION is in", WORD_SESSION),
                       WORD("tag", 't', "TAG", "only in sessions with this tag", WORD_TAG),
                       VALUE("agent", 'a', OPT_TEXT, "NAME", "only in sessions with this agent"),
                       CHOICE("role", 'r', "ROLE", "only what this role said", "user|assistant|tool|system"),
                       VALUE("since", 0, OPT_TIME, "TIME", "not older"),
                       VALUE("until", 0, OPT_TIME, "TIME", "older than this"),
                       VALUE("limit", 'n', OPT_COUNT, "N", "at most N hits (default: 20, at most 200)"),
                       VALUE("cursor", 0, OPT_TEXT, "CURSOR", "go on from next_cursor of an earlier search")),
    .examples = EXAMPLES({"search night train", "both words"}, {"search '\"night train\" -bus' --since 7d", "a phrase without a word, this week"}),
},
{
    .name = "set", .group = GROUP_KEEP, .synopsis = "SESSION", .run = cmd_set,
    .summary = "Change title, agent, metadata, visibility; archive",
    .args = ARGS(SESSION_ARG),
    .options = OPTIONS(VALUE("title", 0, OPT_TEXT, "TEXT", "the title; empty: the first line of the first message"),
                       SESSION_OPTIONS,
                       CHOICE("visibility", 0, "WHO", "who sees it: all members of the tree, or its owner alone", "tree|private"),
                       FLAG("archive", 0, "put it away: lists leave it out"),
                       FLAG("unarchive", 0, "take it out again"),
                       WORD("merged-into", 0, "SESSION", "the session that took its result; empty: none", WORD_SESSION),
                       EXPECT_OPTION),
    .examples = EXAMPLES({"set @ --title 'Trip to Porto'", "another title"}, {"set @ --archive", "out of the lists"}),
},
{
    .name = "tag", .group = GROUP_KEEP, .synopsis = "[SESSION [add|rm|set TAG...]]", .run = cmd_tag,
    .summary = "Show or change tags",
    .about = "Without SESSION: every tag, with how many sessions have it. Tags are trimmed and made lower case.",
    .args = ARGS(MAYBE("SESSION", "the session", WORD_SESSION),
                 {.name = "ACTION", .text = "add, rm, or set: these tags and no other", .optional = true, .choices = "add|rm|set"},
                 MANY("TAG", "the tags", WORD_TAG)),
    .examples = EXAMPLES({"tag @ add travel portugal", "two tags more"}),
},
{
    .name = "members", .group = GROUP_KEEP, .synopsis = "SESSION [set USER LEVEL | rm USER]", .run = cmd_members,
    .summary = "Show or change who may see and write the tree",
    .about = "Levels are reader, writer, manager and owner. Setting owner hands the tree over.",
    .args = ARGS(SESSION_ARG,
                 {.name = "ACTION", .text = "set or rm", .optional = true, .choices = "set|rm"},
                 MAYBE("USER", "who", WORD_ANY),
                 {.name = "LEVEL", .text = "reader, writer, manager or owner", .optional = true, .choices = "reader|writer|manager|owner"}),
    .examples = EXAMPLES({"members @ set ann writer", "ann may write from now on"}),
},
{
    .name = "sandbox", .group = GROUP_KEEP, .flags = CMD_MAKES, .synopsis = "add NAME | list | rm NAME", .run = cmd_sandbox,
    .summary = "Make, list and remove sandboxes",
    .about = "A sandbox holds trees that belong together, and is there for its owner alone. The sandbox default is always "
             "there: the sessions in no other. A fork stays in its parent's. Removing one keeps its sessions.",
    .args = ARGS({.name = "ACTION", .text = "add, list or rm", .choices = "add|list|rm"}, MAYBE("NAME", "the sandbox", WORD_ANY)),
    .examples = EXAMPLES({"sandbox add work", "another one"}, {"new 'Trip to Lisbon' --sandbox work", "a session in it"},
                         {"list --sandbox work", "what is in it"}),
},
{
    .name = "share", .group = GROUP_KEEP, .synopsis = "SESSION", .run = cmd_share,
    .summary = "Make a link to one session for people outside its tree",
    .about = "Whoever has the token that is printed sees the session's path and versions, nothing else, and may fork "
             "it as a private session of his own. It is kept hashed and shown only this once.",
    .args = ARGS(SESSION_ARG),
    .options = OPTIONS(FLAG("write", 'w', "the holder may write, too: append, edit, move the head"),
                       VALUE("expires", 0, OPT_SPAN, "SPAN", "it ends after that long (default: never)")),
    .examples = EXAMPLES({"share @ --expires 7d", "for a week, to read"}),
},
{
    .name = "shares", .group = GROUP_KEEP, .flags = CMD_PAGER, .synopsis = "SESSION", .run = cmd_shares,
    .summary = "List the share links of a session",
    .args = ARGS(SESSION_ARG),
},
{
    .name = "unshare", .group = GROUP_KEEP, .synopsis = "SESSION ID", .run = cmd_unshare,
    .summary = "End a share link, at once",
    .args = ARGS(SESSION_ARG, ARG("ID", "the link's id, or its last characters; 'ramet shares' shows it", WORD_ANY)),
},
{
    .name = "promote", .group = GROUP_KEEP, .synopsis = "SESSION", .run = cmd_promote,
    .summary = "Make an ephemeral session a lasting one",
    .args = ARGS(SESSION_ARG),
},
{
    .name = "rm", .group = GROUP_KEEP, .synopsis = "SESSION", .run = cmd_rm,
    .summary = "Delete a session, or it and all its forks",
    .about = "Forks of a deleted session stay. 'ramet restore' brings it back until 'ramet gc' takes it, 7 days "
             "later at the earliest.",
    .args = ARGS(SESSION_ARG),
    .options = OPTIONS(FLAG("tree", 0, "all that descends from it, too"),
                       FLAG("dry-run", 0, "only say what would go"),
                       FLAG("yes", 'y', "do not ask")),
    .examples = EXAMPLES({"rm @ --tree --dry-run", "what would go"}),
},
{
    .name = "restore", .group = GROUP_KEEP, .synopsis = "ID", .run = cmd_restore,
    .summary = "Bring a deleted session, or a pruned branch, back",
    .args = ARGS(ARG("ID", "its full id: lists no longer show it; with --branch a SESSION", WORD_ANY)),
    .options = OPTIONS(FLAG("tree", 0, "all that the same delete took"),
                       VALUE("branch", 'b', OPT_TEXT, "BRANCH", "this branch of the session, which was pruned"),
                       FLAG("all", 0, "with --branch: all that the same prune took")),
},
{
    .name = "branch", .group = GROUP_KEEP, .synopsis = "SESSION BRANCH", .run = cmd_branch,
    .summary = "Name a branch, or make it the path that its session opens at",
    .about = "A session has at most one favourite path. 'ramet chat' and the page open the session there; everything "
             "else that names no branch means the head.",
    .args = ARGS(SESSION_ARG, ARG("BRANCH", "one of its branches", WORD_BRANCH)),
    .options = OPTIONS(VALUE("name", 0, OPT_TEXT, "NAME", "its name, at most 100 characters; '' removes it"),
                       FLAG("favourite", 0, "the session opens at it"),
                       FLAG("no-favourite", 0, "the session opens at its head again")),
    .examples = EXAMPLES({"branch @ b3 --name 'by train'", "a name, which 'ramet switch' takes, too"},
                         {"branch @ b3 --favourite", "the path that chats go on with"}),
},
{
    .name = "prune", .group = GROUP_KEEP, .synopsis = "SESSION [BRANCH]", .run = cmd_prune,
    .summary = "Take a branch, or all but the present path, out of a session",
    .about = "What is pruned is in no list, search or record any more. 'ramet restore --branch' brings it back until "
             "'ramet gc' takes it, 7 days later at the earliest; from then on an undo into it is refused. What another "
             "session, or another branch, needs is not pruned.",
    .args = ARGS(SESSION_ARG, MAYBE("BRANCH", "the branch that goes", WORD_BRANCH)),
    .options = OPTIONS(FLAG("others", 0, "all branches that are not on the path of the head"),
                       FLAG("dry-run", 0, "only say what would go"),
                       FLAG("list", 'l', "show what was pruned"),
                       FLAG("yes", 'y', "do not ask")),
    .examples = EXAMPLES({"prune @ --others --dry-run", "what would go"}, {"prune @ b3", "one branch"}),
},
{
    .name = "serve", .group = GROUP_SERVE, .flags = CMD_NO_STORE, .synopsis = "", .run = cmd_serve,
    .summary = "Serve the store over HTTP",
    .about = "Says 'listening on http://ADDR:PORT' on standard output when it is ready, and makes the store when there "
             "is none. Ctrl-C and SIGTERM let running requests finish; a second one ends it at once.\n\n"
             "Every setting can stand in a file, too, as a line of 'name = value'; a flag goes before it. "
             "docs/server.md and 'ramet help --settings' tell all of them, with their defaults.",
    .options = OPTIONS(WORD("config", 'c', "FILE", "settings from a file", WORD_FILE),
                       SERVER_SETTINGS(SETTING_PART, SETTING_TEXT_OPTION, SETTING_WORD_OPTION,
                                       SETTING_NUMBER_OPTION, SETTING_SWITCH_OPTION, SETTING_LIST_OPTION) {.name = NULL}),
    .examples = EXAMPLES({"serve", "on 127.0.0.1:7077, for this machine alone"},
                         {"serve --listen 127.0.0.1:0 --db /tmp/try.db", "a free port, and another store"},
                         {"serve --config ramet.conf --log-format json", "with a file of settings"}),
},
{
    .name = "fsck", .group = GROUP_CARE, .flags = CMD_ADMIN, .synopsis = "", .run = cmd_fsck,
    .summary = "Check every hash, reference and head; exit with 7 when something is damaged",
    .options = OPTIONS(FOLDER_OPTION),
},
{
    .name = "gc", .group = GROUP_CARE, .flags = CMD_ADMIN, .synopsis = "", .run = cmd_gc,
    .summary = "Remove for good what was deleted longer ago than the grace time",
    .options = OPTIONS(FLAG("dry-run", 0, "only say what would go"),
                       VALUE("grace", 0, OPT_SPAN, "SPAN", "the grace time (default: 7d)"), FOLDER_OPTION),
},
{
    .name = "backup", .group = GROUP_CARE, .flags = CMD_ADMIN, .synopsis = "FILE", .run = cmd_backup,
    .summary = "Copy the store to a new file while others read and write",
    .about = "Attachments go into the folder FILE.files beside it: the two belong together.",
    .args = ARGS(ARG("FILE", "the copy; it must not exist", WORD_FILE)),
    .options = OPTIONS(FOLDER_OPTION),
},
{
    .name = "copy", .group = GROUP_CARE, .flags = CMD_NO_STORE, .synopsis = "--from STORE --to STORE", .run = cmd_copy,
    .summary = "Copy a store to another one, row by row, while others read and write it",
    .about = "Numbers, ids and hashes stay. Each tree is read back and compared with the source, its hash chains are "
             "computed anew, attachments are read back; exit with 7 when something differs or is damaged.\n\n"
             "Trees that change meanwhile are copied again until none does. When that does not end, exit with 8: the same "
             "command catches up, and ends when nobody writes to the source. It also goes on with a copy that was "
             "stopped or killed. The target must be new, or such a copy, and cannot be opened until it is finished.",
    .options = OPTIONS(WORD("from", 0, "STORE", "the source: a path, or sqlite:PATH", WORD_FILE),
                       WORD("to", 0, "STORE", "the target", WORD_FILE),
                       FLAG("verify-only", 0, "only compare the two, all of both")),
    .examples = EXAMPLES({"copy --from sqlite:ramet.db --to sqlite:/srv/ramet.db", "to another disk, online"},
                         {"copy --from sqlite:ramet.db --to sqlite:/srv/ramet.db --verify-only", "compare them again"}),
},
{
    .name = "stat", .group = GROUP_CARE, .flags = CMD_ADMIN, .synopsis = "", .run = cmd_stat,
    .summary = "Count what is in the store, and its size",
},
{
    .name = "reindex", .group = GROUP_CARE, .flags = CMD_ADMIN, .synopsis = "", .run = cmd_reindex,
    .summary = "Make the search index anew",
},
{
    .name = "token", .group = GROUP_CARE, .flags = CMD_ADMIN | CMD_MAKES, .synopsis = "create --user USER | list | revoke ID", .run = cmd_token,
    .summary = "Make, list and revoke the API keys of a server",
    .about = "A server that was started with --auth tokens knows its callers by them. The secret is kept hashed and "
             "shown only once, when the token is made; --user tells who it stands for.",
    .args = ARGS({.name = "ACTION", .text = "create, list or revoke", .choices = "create|list|revoke"},
                 MAYBE("ID", "revoke: the token's id, or its last characters", WORD_ANY)),
    .options = OPTIONS(VALUE("client", 0, OPT_TEXT, "NAME", "create: the client that it is for"),
                       VALUE("roles", 0, OPT_TEXT, "ROLES", "create: what else it may do, words parted by commas: admin, auditor, indexer, agent"),
                       VALUE("expires", 0, OPT_SPAN, "SPAN", "create: it ends after that long (default: never)"),
                       VALUE("note", 0, OPT_TEXT, "TEXT", "create: what it is for")),
    .examples = EXAMPLES({"token create --user ann --expires 12w --note 'her laptop'", "a key for ann"},
                         {"token revoke 0a1b2c3d", "it is refused from now on"}),
},
{
    .name = "schema", .group = GROUP_CARE, .flags = CMD_NO_STORE, .synopsis = "", .run = cmd_schema,
    .summary = "Print the statements that make the tables of a store",
    .about = "Ramet makes its tables itself; this is for those who make them by hand, or who look what it would do. "
             "docs/scaling.md tells how the tables are distributed.",
    .options = OPTIONS(CHOICE("engine", 0, "ENGINE", "for which one (default: postgres)", "sqlite|postgres"),
                       VALUE("partitions", 0, OPT_COUNT, "N", "parts of each table of a tree (default: 1, none)"),
                       FLAG("citus", 0, "without partitions, and with the calls that distribute the tables by tree"),
                       VALUE("after", 0, OPT_COUNT, "VERSION", "only what a store of that schema version lacks")),
    .examples = EXAMPLES({"schema --partitions 32 | psql -1 -v ON_ERROR_STOP=1 \"$URL\"", "a store with 32 parts a table"},
                         {"schema --citus", "the tables for a Citus cluster, and how they are distributed"}),
},
{
    .name = "help", .group = GROUP_ABOUT, .flags = CMD_NO_STORE | CMD_PAGER, .synopsis = "[COMMAND]", .run = cmd_help,
    .summary = "Show this overview, or the help of a command",
    .args = ARGS(MAYBE("COMMAND", "the command", WORD_COMMAND)),
    .options = OPTIONS(FLAG("man", 0, "the whole manual as a man page (troff)"),
                       FLAG("markdown", 0, "the whole manual as Markdown"),
                       FLAG("settings", 0, "the settings of 'ramet serve' as Markdown"),
                       VALUE("api", 0, OPT_TEXT, "NAME", "the routes of 'ramet serve' as Markdown: those of a protocol, like native; list: its protocols"),
                       FLAG("openapi", 0, "all routes of 'ramet serve' as an OpenAPI document")),
},
{
    .name = "completion", .group = GROUP_ABOUT, .flags = CMD_NO_STORE, .synopsis = "bash|zsh|fish", .run = cmd_completion,
    .summary = "Print the completion script of a shell",
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
