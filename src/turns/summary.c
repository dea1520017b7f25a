/* SPDX-License-Identifier: Apache-2.0
 *
 * summary.c: a summary of a session by an agent, to be landed in another one (ramet/merge.h).
 *
 * The request that wants it waits on its thread: it is answered with a status, and the number of
 * such requests is bounded.
 */
#include "turns/turns_internal.h"

#include <string.h>

#define SUMMARY_BYTES ((size_t)256 << 10)

static const char question[] =
    "Summarise this conversation for another one that it was split off from. Write in the language "
    "of the conversation, under exactly these four headings:\n\n"
    "## Purpose\nWhat was to be found out or done, and why.\n\n"
    "## Conclusions\nWhat was found or decided.\n\n"
    "## Evidence\nWhat supports it: facts, numbers, files, commands, sources.\n\n"
    "## Open points\nWhat is not settled; \"none\" when nothing is left.\n\n"
    "Keep to what was said. At most 400 words, and nothing before or after the four parts.";

/* The agent that is named, else that of the session, else the default one. */
static agent *writer_find(const turns *t, request *q, const turn_summary *in, turn_error *err)
{
    ramet_session *s;
    const char *name = in->agent;
    if (ramet_session_get(q->call, in->session, &s) != RAMET_OK) {
        turn_refuse_call(err, q->call);
        return NULL;
    }
    agent *who = agents_find(t->agents, name ? name : s->agent.name);
    if (!who && !name)
        who = agents_find(t->agents, NULL);
    if (!who)
        turn_refuse(err, RAMET_AGENT_NOT_FOUND, "agent", NULL,
                    "there is no agent '%.60s' to write the summary", name ? name : "");
    return who;
}

bool turns_summarise(turns *t, request *q, const turn_summary *in, const char **text,
                     turn_error *err)
{
    agent *who = writer_find(t, q, in, err);
    buf said;
    *text = NULL;
    if (!who)
        return false;
    if (!aside_enter(t))
        return turn_refuse(err, RAMET_TOO_BUSY, "mode", NULL,
                           "too many summaries are being written; try again in a while");
    buf_init(&said, SUMMARY_BYTES);
    aside ask = {.turns = t,
                 .who = who,
                 .user = q->caller.user,
                 .session = in->session,
                 .branch = in->branch,
                 .question = question,
                 .reason = "summary",
                 .until = time_mono_us() + t->cfg->turn_s * 1000000,
                 .gone = aside_client_gone,
                 .gone_arg = q};
    if (aside_ask(&ask, &said) && said.n)
        *text = arena_memdup(q->arena, said.data, said.n);
    buf_release(&said);
    aside_leave(t);
    return *text || turn_refuse(err, RAMET_MERGE_REFUSED, "text", NULL,
                                "agent %s wrote no summary; give the text yourself", who->name);
}
