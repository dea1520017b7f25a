/* SPDX-License-Identifier: Apache-2.0
 *
 * tag.c: tags for a session that has none, by ramet_suggest(), when the setting auto-tag is on.
 * With the setting suggest-agent that agent chooses among them, in a fork that goes afterwards.
 *
 * Nothing waits for it, and tags that cannot be had are no error.
 */
#include "turns/turns_internal.h"

#include "ramet/suggest.h"

#include <string.h>

#define MAX_TAGS 5
#define MAX_TAG_CHARS 50

static const char *question_of(arena *a, const ramet_suggestions *v)
{
    const char *list = "";
    for (size_t i = 0; i < v->n_tags; i++)
        list = arena_printf(a, "%s%s%s", list, *list ? ", " : "", v->tags[i]);
    return arena_printf(a,
                        "Which of these words are good tags for this conversation? %s. You may "
                        "replace them. Answer with at most five words, parted by commas, and "
                        "nothing else.",
                        list);
}

/* The words of an answer; none when it is not such a list. */
static size_t words_of(arena *a, const buf *text, const char **out)
{
    size_t n = 0;
    if (text->over || !text->n || !utf8_valid(text->p, text->n) || memchr(text->p, 0, text->n))
        return 0;
    char *line = text_preview(a, text->p, 400), *end;
    for (char *word = line; word && n < MAX_TAGS; word = end ? end + 1 : NULL) {
        end = strchr(word, ',');
        if (end)
            *end = 0;
        utf8_trim(word);
        if (*word && utf8_count(word) <= MAX_TAG_CHARS)
            out[n++] = word;
    }
    return n;
}

void tags_make(run *r)
{
    ramet_call *c = ramet_call_new(r->turns->store, r->user, NULL);
    arena *a = arena_new();
    ramet_session *s;
    ramet_suggestions found;
    ramet_tags done;
    const char *chosen[MAX_TAGS];
    const char *agent_name = r->turns->cfg->suggest_agent;
    if (ramet_session_get(c, r->session, &s) == RAMET_OK && !s->n_tags &&
        ramet_suggest(c, r->session, 0, &found) == RAMET_OK && found.n_tags) {
        size_t n = 0;
        buf text = {0};
        if (*agent_name && aside_ask(r, c, agent_name, "tags", question_of(a, &found), &text))
            n = words_of(a, &text, chosen);
        buf_release(&text);
        ramet_tags_add(c, r->session, n ? chosen : found.tags, n ? n : found.n_tags, &done);
    }
    arena_free(a);
    ramet_call_free(c);
}
