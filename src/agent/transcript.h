/* SPDX-License-Identifier: Apache-2.0
 *
 * transcript.h: the conversation so far as text, for agents that have a memory of their own and
 * must be told what it does not hold. A transcript is made when it is sent; no entry contains it.
 */
#ifndef AGENT_TRANSCRIPT_H
#define AGENT_TRANSCRIPT_H

#include "agent/agent.h"

/* The index of the first entry of the message to answer; for a new answer to an old message, of
 * that message. */
size_t agent_message_index(const agent_turn *t);
/* Whether an entry is the end of an answer that was cut off: its last part says so. */
bool agent_entry_is_cut(arena *a, const ramet_entry *e);
/* How many of the first n entries were erased. Neither the hashes nor the overlays tell: an agent
 * with a memory of its own holds the history only if it was given it with as many. */
size_t agent_erased_count(const agent_turn *t, size_t n);

/* One part of an entry as a line; NULL: it does not belong into a transcript. */
const char *transcript_part(arena *a, const json_doc *d, const json_node *part);
/* The newest of the first n entries that fit into max_bytes; "" if there is no conversation yet. */
const char *transcript_make(arena *a, const agent_turn *t, size_t n, size_t max_bytes);

#endif
