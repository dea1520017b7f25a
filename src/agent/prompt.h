/* SPDX-License-Identifier: Apache-2.0
 *
 * prompt.h: what the agent of a turn was sent, as it is kept and as it is shown.
 *
 * Kept is a JSON object:
 *
 *   instructions   a system prompt
 *   settings       what was sent besides it and the messages: model, options …
 *   messages       as they were sent; left out where they are what the agent's kind makes of the
 *                  history (agent_kind.messages)
 *   digest         SHA-256 of the messages as they were sent, in hex
 *   request        what the client asked for besides its message, in the words of its protocol;
 * only this is there before the agent was sent anything
 */
#ifndef AGENT_PROMPT_H
#define AGENT_PROMPT_H

#include "agent/agent.h"

/* The object to keep; NULL: it is over the limit of what is kept. `p` NULL: nothing was sent yet;
 * `request` (JSON) NULL: there is none. */
const char *prompt_pack(arena *a, const agent_prompt *p, const char *request);

/* The messages (an array) that a kind of agent makes of a history; NULL: it is not known, or makes
 * them of more, or they have another digest. In the arena. */
const char *prompt_messages(arena *a, const char *kind, const ramet_entry *history, size_t n,
                            const char *instructions, const char *digest);

#endif
