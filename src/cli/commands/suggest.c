/* SPDX-License-Identifier: Apache-2.0
 *
 * suggest.c: `ramet suggest` shows places that are worth forking, and tags.
 */
#include "cli/commands.h"
#include "cli/render.h"

#include "form/native.h"

static void show(cli *c, const ramet_suggestions *v)
{
    grid *t = grid_new(c, 3, 2);
    grid_head(t, "ENTRY", "KIND", "WHY");
    for (size_t i = 0; i < v->n; i++) {
        grid_row(t);
        grid_cell(t, ST_ID, short_id(c, v->items[i].entry_id));
        grid_cell(t, ST_BOLD, ramet_suggestion_name(v->items[i].kind));
        grid_cell(t, ST_OFF, v->items[i].why);
    }
    if (v->n)
        grid_print(t);
    else
        cli_note(c, "no place of this session stands out");
    for (size_t i = 0; i < v->n_tags; i++)
        printf("%s%s#%s%s", i ? " " : "tags: ", st(c, ST_TAG), text_cut(c, v->tags[i], 0),
               st(c, ST_OFF));
    if (v->n_tags)
        putchar('\n');
}

int cmd_suggest(cli *c)
{
    ramet_suggestions out;
    ramet_tags tags;
    int64_t branch;
    int code = 0;
    ramet_session *s = session_named(c, c->argv[0], &code);
    if (!s || !branch_option(c, &branch, &code))
        return code;
    if (lib->ramet_suggest(c->call, s->id, branch, &out) != RAMET_OK)
        return cli_fail(c);
    if (opt_flag(c, "tag") && out.n_tags &&
        lib->ramet_tags_add(c->call, s->id, out.tags, out.n_tags, &tags) != RAMET_OK)
        return cli_fail(c);
    if (c->json) {
        form_write(json_begin(c), &form_suggestions, &out, NULL);
        return json_end(c);
    }
    show(c, &out);
    return 0;
}
