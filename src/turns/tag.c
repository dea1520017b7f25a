/* SPDX-License-Identifier: Apache-2.0
 *
 * tag.c: tags for a session that has none, by ramet_suggest(), if the setting auto-tag is on. If
 * the setting suggest-agent names an agent, it is asked aside (aside.c) to choose among them.
 *
 * Nothing waits for this, and a failure is not an error: the session just stays untagged.
 */
#include "turns/turns_internal.h"

#include "ramet/suggest.h"

#include <string.h>

#define MAX_TAGS 5
#define MAX_TAG_CHARS 50
#define MAX_ANSWER_BYTES 4096
#define MAX_LINE_CHARS 400

static const char *question_of(arena *a, const ramet_suggestions *found)
{
    const char *list = "";
    for (size_t i = 0; i < found->n_tags; i++)
        list = arena_printf(a, "%s%s%s", list, *list ? ", " : "", found->tags[i]);
    return arena_printf(a,
                        "Which of these words are good tags for this conversation? %s. You may "
                        "replace them. Answer with at most five words, separated by commas, and "
                        "nothing else.",
                        list);
}

/* The words of the first line of an answer. */
static size_t words_of(arena *a, const buf *text, const char **out)
{
    size_t n = 0;
    char *line = text_preview(a, text->data, MAX_LINE_CHARS), *end;
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

/* The agent's choice; 0: it has none, or its answer is not a list of words. */
static size_t tags_choose(run *r, arena *a, const ramet_suggestions *found, const char **out)
{
    turns *t = r->turns;
    buf text;
    size_t n = 0;
    aside ask = {.turns = t,
                 .who = agents_find(t->agents, t->cfg->suggest_agent),
                 .user = r->user,
                 .session = r->session,
                 .branch = r->branch,
                 .cache_key = r->cache_key,
                 .question = question_of(a, found),
                 .reason = "tags",
                 .until = time_mono_us() + t->cfg->turn_s * 1000000};
    buf_init(&text, MAX_ANSWER_BYTES);
    if (aside_ask(&ask, &text) && text.n)
        n = words_of(a, &text, out);
    buf_release(&text);
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
    if (ramet_session_get(c, r->session, &s) == RAMET_OK && !s->n_tags &&
        ramet_suggest(c, r->session, 0, &found) == RAMET_OK && found.n_tags) {
        size_t n = *r->turns->cfg->suggest_agent ? tags_choose(r, a, &found, chosen) : 0;
        ramet_tags_add(c, r->session, n ? chosen : found.tags, n ? n : found.n_tags, &done);
    }
    arena_free(a);
    ramet_call_free(c);
}
