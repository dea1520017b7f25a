/* SPDX-License-Identifier: Apache-2.0
 *
 * run_prompt.c: what the agent of a run was sent, from the asking until it is in the store.
 *
 * It is kept with the next write of the turn. An agent that is asked early is asked about a message
 * that is being stored, so the length of its history is that of the turn, which is not known yet:
 * `length` is 0 then.
 */
#include "turns/turns_internal.h"

#include "agent/prompt.h"

#include <stdlib.h>
#include <string.h>

void run_prompt_note(run *r, const agent_prompt *p)
{
    arena *a = arena_new();
    const char *data = prompt_pack(a, p, r->request);
    pthread_mutex_lock(&r->lock);
    free(r->prompt.data);
    r->prompt.data = data ? xstrdup(data) : NULL;
    r->prompt.length = r->recorded_length;
    r->prompt.is_new = data != NULL;
    pthread_mutex_unlock(&r->lock);
    arena_free(a);
}

turn_end turns_end_of(const char *error)
{
    return strcmp(error, AGENT_OUT_OF_TOKENS) == 0 ? TURN_END_TOKENS
           : strcmp(error, AGENT_FILTERED) == 0    ? TURN_END_FILTER
                                                   : TURN_END_OTHER;
}

bool run_prompt_keep(run *r, ramet_call *c, ramet_prompt_in *in)
{
    pthread_mutex_lock(&r->lock);
    bool keep = r->prompt.is_new;
    if (keep) {
        *in = (ramet_prompt_in){.agent = r->agent->kind->name,
                                .length = r->prompt.length ? r->prompt.length : r->length,
                                .data = arena_strdup(r->mem, r->prompt.data)};
        ramet_call_prompt(c, in);
    }
    pthread_mutex_unlock(&r->lock);
    return keep;
}
