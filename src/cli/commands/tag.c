/* SPDX-License-Identifier: Apache-2.0
 *
 * tag.c: `ramet tag` shows and changes tags.
 */
#include "cli/commands.h"
#include "cli/render.h"

#include "form/native.h"

#include <string.h>

static int all_tags(cli *c)
{
    ramet_tag_count *list;
    size_t n;
    if (lib->ramet_tags_all(c->call, &list, &n) != RAMET_OK)
        return cli_fail(c);
    if (c->json) {
        json_list_begin(c, "tags");
        for (size_t i = 0; i < n; i++) {
            jw_object(&c->jw);
            jw_kstr(&c->jw, "tag", list[i].tag);
            jw_kint(&c->jw, "sessions", list[i].sessions);
            jw_end_object(&c->jw);
        }
        return json_list_end(c);
    }
    grid *t = grid_new(c, 2, -1);
    for (size_t i = 0; i < n; i++) {
        grid_row(t);
        grid_cell(t, ST_TAG, arena_printf(c->mem, "#%s", list[i].tag));
        grid_cell(t, ST_OFF, count_text(c, list[i].sessions, "session", "sessions"));
    }
    if (n)
        grid_print(t);
    else
        cli_note(c, "no tags; 'ramet tag SESSION add TAG' sets one");
    return 0;
}

static int answer(cli *c, const ramet_tags *tags)
{
    if (c->json) {
        native_tags(json_begin(c), tags);
        return json_end(c);
    }
    for (size_t i = 0; i < tags->n && !c->quiet; i++)
        printf("%s#%s%s\n", st(c, ST_TAG), text_cut(c, tags->items[i], 0), st(c, ST_OFF));
    return 0;
}

int cmd_tag(cli *c)
{
    const struct {
        const char *word;
        ramet_status (*run)(ramet_call *, const char *, const char *const *, size_t, ramet_tags *);
    } actions[] = {
        {"add", lib->ramet_tags_add}, {"rm", lib->ramet_tags_remove}, {"set", lib->ramet_tags_set}};
    ramet_tags tags;
    int code = 0;
    if (!c->argc)
        return all_tags(c);
    ramet_session *s = session_named(c, c->argv[0], &code);
    if (!s)
        return code;
    if (c->argc == 1) {
        tags = (ramet_tags){s->tags, s->n_tags};
        return answer(c, &tags);
    }
    size_t n = (size_t)c->argc - 2;
    const char *const *words = (const char *const *)c->argv + 2;
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        if (strcmp(c->argv[1], actions[i].word) != 0)
            continue;
        if (!n && actions[i].run != lib->ramet_tags_set)
            return cli_error(c, RAMET_INVALID, "tag",
                             "TAG is missing; usage: ramet tag SESSION %s TAG...", c->argv[1]);
        if (actions[i].run(c->call, s->id, words, n, &tags) != RAMET_OK)
            return cli_fail(c);
        return answer(c, &tags);
    }
    return cli_error(c, RAMET_INVALID, "action", "'%s' is no action; take add, rm or set",
                     c->argv[1]);
}
