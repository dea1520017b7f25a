/* SPDX-License-Identifier: Apache-2.0
 *
 * prompt.c: see prompt.h.
 */
#include "face/kit/prompt.h"

#include "turns/turns.h"

#include <string.h>

enum { PAGE = 1000 };

typedef struct entries {
    arena *mem;
    VEC(ramet_entry) all;
} entries;

/* The history that the agent was given. */
static bool history_read(ramet_call *c, const prompt_calls *lib, const char *session,
                         const ramet_prompt *p, entries *out)
{
    ramet_page page = {0};
    ramet_read_in in = {.limit = PAGE,
                        .by_position = true,
                        .branch = p->branch,
                        .channel = "history",
                        .end = p->length,
                        .view = RAMET_VIEW_CONTEXT};
    do {
        if (lib->read(c, session, &in, &page) != RAMET_OK)
            return false;
        for (size_t i = 0; i < page.n && page.entries[i].position < p->length; i++)
            VEC_PUSH(out->mem, &out->all, page.entries[i]);
        if (page.n)
            in.position = page.entries[page.n - 1].position + 1;
    } while (page.n && page.more_after && in.position < p->length);
    return true;
}

static void usage_write(json_writer *w, const ramet_prompt *p)
{
    jw_key(w, "usage");
    if (!p->has_usage) {
        jw_null(w);
        return;
    }
    jw_object(w);
    jw_kint(w, "input", p->usage.input);
    jw_kint(w, "output", p->usage.output);
    jw_kint(w, "cached", p->usage.cached);
    jw_key(w, "cost");
    jw_nano(w, p->usage.cost);
    jw_kstr(w, "currency", p->usage.currency);
    jw_end_object(w);
}

bool prompt_show(ramet_call *c, const prompt_calls *lib, const char *session, const char *turn,
                 json_writer *w)
{
    ramet_prompt *p;
    json_doc d = {0};
    if (lib->prompt(c, session, turn, &p) != RAMET_OK)
        return false;
    entries history = {.mem = arena_new()};
    arena *a = history.mem;
    const char *messages = NULL, *instructions = NULL, *settings = NULL;
    bool read = true;
    if (p->known && json_parse(a, p->data, strlen(p->data), 0, &d, NULL)) {
        const json_node *kept = json_get(&d, d.nodes, "messages");
        instructions = json_text(a, &d, json_get(&d, d.nodes, "instructions"));
        settings = json_get(&d, d.nodes, "settings")
                       ? json_raw(a, &d, json_get(&d, d.nodes, "settings"))
                       : "{}";
        if (kept)
            messages = json_raw(a, &d, kept);
        else if (instructions && (read = history_read(c, lib, session, p, &history)))
            messages = turns_prompt(a, p->agent, history.all.items, history.all.n, instructions,
                                    json_text(a, &d, json_get(&d, d.nodes, "digest")));
    }
    if (read) {
        jw_object(w);
        jw_kraw(w, "messages", messages);
        jw_kstr(w, "instructions", messages ? instructions : NULL);
        jw_kraw(w, "settings", messages ? settings : NULL);
        usage_write(w, p);
        jw_kbool(w, "known", messages != NULL);
        jw_end_object(w);
    }
    arena_free(a);
    return read;
}
