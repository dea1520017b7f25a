/* SPDX-License-Identifier: Apache-2.0
 *
 * tag.c: tags for a session that has none, by ramet_suggest(), if the setting auto-tag is on. If
 * the setting suggest-agent names an agent, it chooses them (refine.c).
 *
 * Nothing waits for this, and a failure is not an error: the session just stays untagged.
 */
#include "turns/turns_internal.h"

static void tags_refine(run *r, arena *a, ramet_suggestions *found)
{
    turns *t = r->turns;
    aside ask = {.turns = t,
                 .who = agents_find(t->agents, t->cfg->suggest_agent),
                 .user = r->user,
                 .session = r->session,
                 .branch = r->branch,
                 .cache_key = r->cache_key,
                 .reason = "tags",
                 .until = time_mono_us() + t->cfg->turn_s * 1000000};
    suggestions_refine(&ask, a, found);
}

void tags_make(run *r)
{
    ramet_call *c = ramet_call_new(r->turns->store, r->user, NULL);
    arena *a = arena_new();
    ramet_session *s;
    ramet_suggestions found;
    ramet_tags done;
    if (ramet_session_get(c, r->session, &s) == RAMET_OK && !s->n_tags &&
        ramet_suggest(c, r->session, 0, &found) == RAMET_OK && found.n_tags) {
        if (*r->turns->cfg->suggest_agent)
            tags_refine(r, a, &found);
        ramet_tags_add(c, r->session, found.tags, found.n_tags, &done);
    }
    arena_free(a);
    ramet_call_free(c);
}
