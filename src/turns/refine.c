/* SPDX-License-Identifier: Apache-2.0
 *
 * refine.c: suggestions (ramet/suggest.h) refined by the agent of the setting suggest-agent, which
 * is asked aside (aside.c) which places it would keep and which tags it would give.
 *
 * The agent can only choose among the places, and replace tags. If it does not answer in the form
 * that it is asked for, the suggestions stay as they are.
 */
#include "turns/turns_internal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_PLACES 30 /* the last ones; those before them are kept */
#define PREVIEW_CHARS 120
#define MAX_TAGS 5
#define MAX_TAG_CHARS 50
#define MAX_LINE_CHARS 400
#define MAX_ANSWER_BYTES 4096

typedef struct refining {
    const aside *ask;
    arena *arena;
    ramet_call *call;
    size_t first, n; /* the places that it is asked about */
} refining;

static const char *place_text(const refining *r, const ramet_suggestion *s)
{
    ramet_entry *e;
    if (ramet_entry_get(r->call, r->ask->session, r->ask->branch, s->entry_id, &e) != RAMET_OK)
        return "";
    return text_preview(r->arena, e->text, PREVIEW_CHARS);
}

static const char *question_of(const refining *r, const ramet_suggestions *v)
{
    buf b;
    buf_init(&b, 1 << 16);
    buf_puts(&b, "Fixed rules have looked at this conversation. Decide what of it is right.\n");
    for (size_t i = 0; i < r->n; i++) {
        const ramet_suggestion *s = &v->items[r->first + i];
        buf_printf(&b, "%s%zu. %s (%s): %s\n",
                   i ? "" : "Places from which another way may be worth trying:\n", i + 1,
                   ramet_suggestion_name(s->kind), s->why, place_text(r, s));
    }
    for (size_t i = 0; i < v->n_tags; i++)
        buf_printf(&b, "%s%s", i ? ", " : "Tags: ", v->tags[i]);
    buf_puts(&b,
             "\nAnswer with two lines and nothing else. The first is \"keep:\" and the numbers of "
             "the places that are right, separated by commas, or the word none. The second is "
             "\"tags:\" and at most five tags for the conversation, these or better ones, "
             "separated by commas.");
    return buf_keep(&b, r->arena);
}

/* What follows a word at the beginning of a line; NULL: there is no such line. */
static char *line_of(arena *a, const char *text, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = text; p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL)
        if (strncasecmp(p, word, n) == 0)
            return text_preview(a, p + n, MAX_LINE_CHARS);
    return NULL;
}

/* False: the line is no list of numbers. */
static bool places_keep(const refining *r, const char *line, ramet_suggestions *v)
{
    bool keep[MAX_PLACES] = {0};
    ramet_suggestion *left = arena_array(r->arena, v->n + 1, sizeof *left);
    size_t n = 0;
    line += strspn(line, " ");
    for (const char *p = line; *p && strncasecmp(line, "none", 4) != 0;) {
        char *end;
        unsigned long number = strtoul(p, &end, 10);
        if (end == p || number < 1 || number > r->n)
            return false;
        keep[number - 1] = true;
        p = end + strspn(end, " ,.");
    }
    for (size_t i = 0; i < v->n; i++)
        if (i < r->first || keep[i - r->first])
            left[n++] = v->items[i];
    v->items = left;
    v->n = n;
    return true;
}

static bool has_tag(const ramet_session *s, const char *tag)
{
    for (size_t i = 0; i < s->n_tags; i++)
        if (strcasecmp(s->tags[i], tag) == 0)
            return true;
    return false;
}

/* False: the line is no list of tags. */
static bool tags_choose(const refining *r, char *line, ramet_suggestions *v)
{
    const char **tags = arena_array(r->arena, MAX_TAGS, sizeof *tags);
    ramet_session *s;
    char *end;
    size_t n = 0;
    if (ramet_session_get(r->call, r->ask->session, &s) != RAMET_OK)
        return false;
    for (char *word = line; word && n < MAX_TAGS; word = end ? end + 1 : NULL) {
        end = strchr(word, ',');
        if (end)
            *end = 0;
        utf8_trim(word);
        word += strspn(word, " ");
        size_t len = strlen(word);
        while (len && word[len - 1] == ' ')
            word[--len] = 0;
        if (*word && utf8_count(word) <= MAX_TAG_CHARS && !has_tag(s, word))
            tags[n++] = word;
    }
    if (!n)
        return false;
    v->tags = tags;
    v->n_tags = n;
    return true;
}

bool suggestions_refine(const aside *of, arena *a, ramet_suggestions *v)
{
    aside ask = *of;
    refining r = {.ask = of,
                  .arena = a,
                  .call = ramet_call_new(of->turns->store, of->user, NULL),
                  .n = v->n < MAX_PLACES ? v->n : MAX_PLACES};
    ramet_suggestions made = *v;
    buf said;
    bool refined = false;
    r.first = v->n - r.n;
    ask.question = question_of(&r, v);
    buf_init(&said, MAX_ANSWER_BYTES);
    if (aside_ask(&ask, &said) && said.n) {
        const char *text = arena_memdup(a, said.data, said.n);
        char *keep = line_of(a, text, "keep:"), *tags = line_of(a, text, "tags:");
        refined = keep && tags && places_keep(&r, keep, &made);
        if (refined && v->n_tags)
            tags_choose(&r, tags, &made);
    }
    buf_release(&said);
    ramet_call_free(r.call);
    if (refined) {
        made.refined_by = arena_strdup(a, of->who->name);
        *v = made;
    }
    return refined;
}

void turns_refine(turns *t, request *q, const char *session, int64_t branch, ramet_suggestions *v)
{
    agent *who = *t->cfg->suggest_agent ? agents_find(t->agents, t->cfg->suggest_agent) : NULL;
    if (!who || (!v->n && !v->n_tags) || !aside_enter(t))
        return;
    aside ask = {.turns = t,
                 .who = who,
                 .user = q->caller.user,
                 .session = session,
                 .branch = branch,
                 .reason = "suggestions",
                 .until = time_mono_us() + t->cfg->turn_s * 1000000,
                 .gone = aside_client_gone,
                 .gone_arg = q};
    suggestions_refine(&ask, q->arena, v);
    aside_leave(t);
}
