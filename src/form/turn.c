/* SPDX-License-Identifier: Apache-2.0
 *
 * turn.c: turns as JSON, and the agents that answer in them.
 */
#include "form/rows.h"

static bool has_error(const void *owner)
{
    const ramet_turn *t = owner;
    return t->error && *t->error;
}

/* clang-format off */

const form_schema form_running = SHAPE("Running", "A turn in mid-answer. Events `turn.delta` go on from here.",
    R("turn_id", TEXT, ""), R("branch_id", TEXT, "that it writes to"), R("entry_id", TEXT, "the last entry of the message that it answers", NUL),
    R("text", TEXT, "what it said so far and is not an entry yet"), R("offset", INT, "characters that it said before that text, which are in entries"),
    R("thinking", TEXT, "the same of its thinking"), R("agent", TEXT, "who answers"),
    R("question", OBJECT, "that it waits for an answer to", .of = &form_question, NUL), R("plan", ANY, "the last plan that it told", NUL));
const form_schema form_question = SHAPE("Question", "An agent's question to the user.",
    R("id", TEXT, ""), R("kind", ENUM, "`permission`: the answer is the id of an option; `input`: it is a text", .words = "permission|input"),
    R("text", TEXT, ""), R("options", ARRAY, "`{id, name}`", .of = &form_option, NUL));
const form_schema form_option = {
    .name = "Option", .text = "A way to answer a question.", .open = true,
    .fields = FIELDS(R("id", TEXT, "the answer"), F("name", TEXT, "for people"))};

#define S ramet_turn
const form_schema form_turn = STRUCT("Turn", "One answer, being made or made.",
    R("id", TEXT, "", AT(TEXT, id)),
    R("session_id", TEXT, "", AT(TEXT, session)),
    R("branch_id", TEXT, "that it writes to", AT(BRANCH, branch)),
    R("entry_id", TEXT, "the last entry of the message that it answers", NUL, AT(TEXT, entry_id)),
    R("agent", TEXT, "who answers", NUL, AT(TEXT, agent)),
    R("group", TEXT, "what the turns of a fan-out share", NUL, AT(TEXT, group)),
    BY(by),
    R("status", ENUM, "", WORD(STATUSES, status)),
    R("error", TEXT, "why it failed", NUL, AT(TEXT, error), WHEN(has_error)),
    R("started_at", TIME, "", AT(TIME, started)),
    R("ended_at", TIME, "null while it runs", NUL, AT(TIME, ended)));
#undef S
const form_schema form_turn_list = LIST("TurnList", "turns", form_turn, "Newest first.");
const form_schema form_turn_done = SHAPE("TurnDone", "What a turn came to.",
    R("session_id", TEXT, "where it ran: the fork when there was one"), R("turn_id", TEXT, ""),
    R("status", ENUM, "", .words = "running|done|cancelled|failed|interrupted"),
    F("error", TEXT, "why it failed"), R("entries", ARRAY, "the message and its answer", .of = &form_entry));
const form_schema form_fan_done = SHAPE("FanDone", "What the turns of a fan-out came to.",
    R("group", TEXT, "shared by them"), R("turns", ARRAY, "in the order of the agents", .of = &form_turn_done));

const form_schema form_prompt = SHAPE("Prompt", "What the agent of a turn was sent.",
    R("messages", ANY, "an array: as they were sent, in the words of the agent's protocol", NUL),
    R("instructions", TEXT, "the system prompt; \"\" when there was none", NUL),
    R("settings", OBJECT, "what was sent beside them: model, options …", NUL),
    R("usage", OBJECT, "tokens of the answer", .of = &form_usage, NUL),
    R("known", BOOL, "false: it is not known"));

/* --------------------------------------------------------------------- agents */

const form_schema form_agent_info = {
    .name = "AgentInfo", .text = "An agent that is configured here.", .open = true, .fields = FIELDS(
    R("name", TEXT, "that sessions refer to it by"), R("kind", TEXT, "what it is made of"), R("about", TEXT, "of its kind"), R("default", BOOL, "answers where no agent is named"),
    F("model", TEXT, "that it asks where a session names none"), F("models", ARRAY, "others that a session may name"), F("context", INT, "tokens that its context has"),
    F("modes", OBJECT, "of a program that speaks ACP, as it told them last: a session's `options.mode` names one"), F("config_options", ARRAY, "likewise; `options.config` has values by id"))};
const form_schema form_agent_list = LIST("AgentList", "agents", form_agent_info, "Who can answer here.");
#define S ramet_agent
const form_schema form_agent_name = STRUCT("AgentName", "An agent.", R("name", TEXT, "that sessions refer to it by", AT(TEXT, name)));
#undef S
const form_schema form_nearby = SHAPE("Nearby", "A model server that answers.",
    R("name", TEXT, "the program that listens there usually"), R("url", TEXT, "for the setting `url` of an agent"), R("models", ARRAY, "at most 32"));
const form_schema form_nearby_list = LIST("NearbyList", "servers", form_nearby, "Model servers on this machine.");
