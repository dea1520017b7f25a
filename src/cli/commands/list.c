/* SPDX-License-Identifier: Apache-2.0
 *
 * list.c: `ramet list` shows sessions, newest first.
 */
#include "cli/commands.h"
#include "cli/render.h"

#include "form/native.h"

#include <string.h>

static ramet_archived archived_option(const cli *c)
{
    const char *word = opt_text(c, "archived");
    if (!word || strcmp(word, "exclude") == 0)
        return RAMET_ARCHIVED_EXCLUDE;
    return strcmp(word, "only") == 0 ? RAMET_ARCHIVED_ONLY : RAMET_ARCHIVED_INCLUDE;
}

/* Reads pages until `left` sessions were read; all of them stay in c->call. */
static ramet_status list_read(cli *c, ramet_list_in *in, int64_t left, const char **next)
{
    VEC(ramet_session) all = {0};
    *next = in->cursor;
    bool first = true;
    while (left > 0 && (first || *next)) {
        ramet_session_list page;
        in->limit = left < 1000 ? (int)left : 1000;
        in->cursor = *next;
        ramet_status s = lib->ramet_session_find(c->call, in, &page);
        if (s != RAMET_OK)
            return s;
        for (size_t i = 0; i < page.n && c->json; i++) {
            native_session(&c->jw, &page.items[i]);
            json_flush(c);
        }
        for (size_t i = 0; i < page.n && !c->json; i++)
            VEC_PUSH(c->mem, &all, page.items[i]);
        left -= (int64_t)page.n;
        first = false;
        *next = page.next_cursor ? arena_strdup(c->mem, page.next_cursor) : NULL;
        if (c->json)
            lib->ramet_call_reset(c->call);
    }
    if (c->quiet && !c->json)
        for (size_t i = 0; i < all.n; i++)
            puts(all.items[i].id);
    else if (all.n)
        sessions_grid(c, all.items, all.n);
    else if (!c->json)
        cli_note(c, in->deleted ? "nothing that you may restore is deleted"
                                : "no sessions; 'ramet new' makes one");
    return RAMET_OK;
}

int cmd_list(cli *c)
{
    ramet_list_in in = {0};
    const char *tree = opt_text(c, "tree"), *next;
    int code = 0;
    if (tree) {
        ramet_session *s = session_named(c, tree, &code);
        if (!s)
            return code;
        in.tree = arena_strdup(c->mem, s->tree_id);
    }
    in.owner = opt_text(c, "owner");
    in.agent = opt_text(c, "agent");
    in.tag = opt_text(c, "tag");
    in.title = opt_text(c, "title");
    in.sandbox = opt_text(c, "sandbox");
    in.cursor = opt_text(c, "cursor");
    in.archived = archived_option(c);
    in.deleted = opt_flag(c, "deleted");
    if (c->json)
        json_list_begin(c, "sessions");
    int64_t left = opt_flag(c, "all") ? INT64_MAX : opt_count(c, "limit", 50);
    if (list_read(c, &in, left, &next) != RAMET_OK)
        return cli_fail(c);
    if (c->json) {
        jw_end_array(&c->jw);
        jw_kstr(&c->jw, "next_cursor", next);
        jw_end_object(&c->jw);
        return json_end(c);
    }
    if (next)
        cli_note(c, "there are more; --all shows them, -n N the first N");
    return 0;
}
