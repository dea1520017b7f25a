/* SPDX-License-Identifier: Apache-2.0
 *
 * turn.c: JSON shapes of turns and of the agents that answer them.
 */
#include "form/rows.h"

static bool has_error(const void *owner)
{
    const ramet_turn *t = owner;
    return t->error && *t->error;
}

/* clang-format off */

const form_schema form_running = SHAPE("Running", "A running turn. Events `turn.delta` continue from here.",
    R("turn_id", TEXT, ""), R("branch_id", TEXT, "the branch it writes to"), R("entry_id", TEXT, "the last entry of the message it answers", NUL),
    R("text", TEXT, "its output so far that is not in an entry yet"), R("offset", INT, "number of characters before that text, which are in entries"),
    R("thinking", TEXT, "the same for its thinking"), R("agent", TEXT, "the agent that answers"),
    R("question", OBJECT, "the question it waits for an answer to", .of = &form_question, NUL), R("plan", ANY, "its latest plan", NUL));
const form_schema form_question = SHAPE("Question", "An agent's question to the user.",
    R("id", TEXT, ""), R("kind", ENUM, "`permission`: the answer is the id of an option; `input`: the answer is a text", .values = "permission|input"),
    R("text", TEXT, ""), R("options", ARRAY, "`{id, name}`", .of = &form_option, NUL));
const form_schema form_option = {
    .name = "Option", .text = "A way to answer a question.", .open = true,
    .fields = FIELDS(R("id", TEXT, "the answer"), F("name", TEXT, "label for users"))};

#define S ramet_turn
const form_schema form_turn = STRUCT("Turn", "One answer of an agent, in progress or complete.",
    R("id", TEXT, "", AT(TEXT, id)),
    R("session_id", TEXT, "", AT(TEXT, session)),
    R("branch_id", TEXT, "the branch it writes to", AT(BRANCH, branch)),
    R("entry_id", TEXT, "the last entry of the message it answers", NUL, AT(TEXT, entry_id)),
    R("agent", TEXT, "the agent that answers", NUL, AT(TEXT, agent)),
    R("group", TEXT, "id shared by the turns of a fan-out", NUL, AT(TEXT, group)),
    BY(by),
    R("status", ENUM, "", WORD(STATUSES, status)),
    R("error", TEXT, "why it failed", NUL, AT(TEXT, error), WHEN(has_error)),
    R("started_at", TIME, "", AT(TIME, started)),
    R("ended_at", TIME, "null while it runs", NUL, AT(TIME, ended)));
#undef S
const form_schema form_turn_list = LIST("TurnList", "turns", form_turn, "Newest first.");
const form_schema form_turn_done = SHAPE("TurnDone", "The result of a turn.",
    R("session_id", TEXT, "the session it ran in: the fork, if there was one"), R("turn_id", TEXT, ""),
    R("status", ENUM, "", .values = "running|done|cancelled|failed|interrupted"),
    F("error", TEXT, "why it failed"), R("entries", ARRAY, "the message and its answer", .of = &form_entry));
const form_schema form_fan_done = SHAPE("FanDone", "The results of a fan-out.",
    R("group", TEXT, "id shared by the turns"), R("turns", ARRAY, "in the order of the agents", .of = &form_turn_done));

const form_schema form_prompt = SHAPE("Prompt", "What the agent of a turn was sent.",
    R("messages", ANY, "an array: as they were sent, in the words of the agent's protocol", NUL),
    R("instructions", TEXT, "the system prompt; \"\" when there was none", NUL),
    R("settings", OBJECT, "what was sent beside them: model, options …", NUL),
    R("usage", OBJECT, "tokens of the answer", .of = &form_usage, NUL),
    R("known", BOOL, "false: it is not known"));

/* --------------------------------------------------------------------- agents */

const form_schema form_agent_info = {
    .name = "AgentInfo", .text = "A configured agent.", .open = true, .fields = FIELDS(
    R("name", TEXT, "the name that sessions use"), R("kind", TEXT, "the kind of agent"), R("about", TEXT, "description of its kind"), R("default", BOOL, "answers if no agent is named"),
    F("model", TEXT, "its model if a session names none"), F("models", ARRAY, "other models that a session may name"), F("context", INT, "size of its context in tokens"),
    F("modes", OBJECT, "for an ACP program, as it last reported them: a session's `options.mode` names one"), F("config_options", ARRAY, "likewise; `options.config` contains values by id"))};
const form_schema form_agent_list = LIST("AgentList", "agents", form_agent_info, "Who can answer here.");
#define S ramet_agent
const form_schema form_agent_name = STRUCT("AgentName", "An agent.", R("name", TEXT, "the name that sessions use", AT(TEXT, name)));
#undef S
const form_schema form_nearby = SHAPE("Nearby", "A model server that responds.",
    R("name", TEXT, "the program that usually listens there"), R("url", TEXT, "for the setting `url` of an agent"), R("models", ARRAY, "at most 32 models"));
const form_schema form_nearby_list = LIST("NearbyList", "servers", form_nearby, "Model servers on this machine.");
