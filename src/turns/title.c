/* SPDX-License-Identifier: Apache-2.0
 *
 * title.c: a title for a session that has none, by the agent that is set for it.
 *
 * The agent is asked aside (aside.c). Nothing waits for it, and a title that cannot be had is no
 * error.
 */
#include "turns/turns_internal.h"

#include <stdlib.h>
#include <string.h>

#define TITLE_CHARS 60
#define TEXT_MAX 4096

static const char question[] = "Give this conversation a title of at most six words. "
                               "Answer with the title alone, in its language.";

/* The first line, without quotes around it. */
static const char *title_of(arena *a, const buf *text)
{
    char *line = text_preview(a, text->data, TITLE_CHARS);
    size_t n = strlen(line);
    if (n > 1 && (*line == '"' || *line == '\'') && line[n - 1] == *line) {
        line[n - 1] = 0;
        line++;
    }
    return line;
}

static void title_set(run *r, ramet_call *c, const char *text)
{
    ramet_session *s;
    ramet_session_patch patch = {.title = text};
    /* A user may have set one meanwhile. */
    if (*text && ramet_session_get(c, r->session, &s) == RAMET_OK && !*s->title)
        ramet_session_update(c, r->session, &patch, &s);
}

void title_make(run *r)
{
    turns *t = r->turns;
    buf text;
    aside ask = {.turns = t,
                 .who = agents_find(t->agents, t->cfg->title_agent),
                 .user = r->user,
                 .session = r->session,
                 .branch = r->branch,
                 .cache_key = r->cache_key,
                 .question = question,
                 .reason = "title",
                 .until = time_mono_us() + t->cfg->turn_s * 1000000};
    buf_init(&text, TEXT_MAX);
    if (aside_ask(&ask, &text)) {
        arena *a = arena_new();
        ramet_call *c = ramet_call_new(t->store, r->user, NULL);
        title_set(r, c, title_of(a, &text));
        ramet_call_free(c);
        arena_free(a);
    }
    buf_release(&text);
}
