/* SPDX-License-Identifier: Apache-2.0
 *
 * overlay.c: `ramet hide`, `replace` and `reveal` change what the model sees of a history,
 * `overlays` lists what was changed.
 */
#include "cli/commands.h"
#include "cli/render.h"

#include "base/util.h"
#include "form/native.h"


static int change_answer(cli *c, const ramet_overlay_out *out, const char *done)
{
    char id[24], branch[24];
    if (c->json) {
        form_write(json_begin(c), &form_overlay_done, out, NULL);
        return json_end(c);
    }
    printf("%s\n", ramet_overlay_text(out->id, id));
    cli_note(c, "%s; the head is on %s, 'ramet undo' takes it back", done,
             ramet_branch_text(out->head.branch, branch));
    return 0;
}

static int set(cli *c, ramet_overlay_action action, const char *text, const char *done)
{
    ramet_overlay_out out;
    int code = 0;
    ramet_session *s = session_named(c, c->argv[0], &code);
    ramet_entry *e = s ? entry_named(c, s->id, 0, c->argv[1], &code) : NULL;
    if (!e)
        return code;
    ramet_overlay_in in = {.entry_id = e->id,
                           .action = action,
                           .text = text,
                           .reason = opt_text(c, "reason"),
                           .expected_head = opt_text(c, "expect"),
                           .when_idle = opt_flag(c, "wait")};
    if (lib->ramet_overlay_set(c->call, s->id, &in, &out) != RAMET_OK)
        return cli_fail(c);
    return change_answer(c, &out, done);
}

int cmd_hide(cli *c)
{
    bool above = opt_flag(c, "above");
    return set(c, above ? RAMET_OVERLAY_HIDE_BEFORE : RAMET_OVERLAY_HIDE, NULL,
               above ? "everything above it is hidden from the model"
                     : "it is hidden from the model");
}

int cmd_replace(cli *c)
{
    return set(c, RAMET_OVERLAY_REPLACE, c->argv[2], "the model sees the new text");
}

int cmd_reveal(cli *c)
{
    ramet_overlay_out out;
    int code = 0;
    ramet_session *s = session_named(c, c->argv[0], &code);
    if (!s)
        return code;
    int64_t id = ramet_overlay_parse(c->argv[1]);
    if (!id)
        return cli_error(c, RAMET_INVALID, "overlay",
                         "'%s' is no overlay; one looks like o17, 'ramet overlays' shows them",
                         c->argv[1]);
    if (lib->ramet_overlay_remove(c->call, s->id, id, opt_text(c, "reason"), opt_text(c, "expect"),
                                  opt_flag(c, "wait"), &out) != RAMET_OK)
        return cli_fail(c);
    return change_answer(c, &out, "the model sees the record again there");
}

int cmd_overlays(cli *c)
{
    ramet_overlay *list;
    size_t n;
    int64_t branch;
    char id[24];
    int code = 0;
    ramet_session *s = session_named(c, c->argv[0], &code);
    if (!s || !branch_option(c, &branch, &code))
        return code;
    if (lib->ramet_overlays(c->call, s->id, branch, &list, &n) != RAMET_OK)
        return cli_fail(c);
    if (c->json) {
        json_list_begin(c, "overlays");
        for (size_t i = 0; i < n; i++)
            form_write(&c->jw, &form_overlay, &list[i], NULL);
        return json_list_end(c);
    }
    if (!n) {
        cli_note(c, "the model sees all of it; 'ramet hide SESSION ENTRY' changes that");
        return 0;
    }
    grid *t = grid_new(c, 6, 5);
    grid_head(t, "ID", "ENTRY", "ACTION", "BY", "WHEN", "TEXT");
    for (size_t i = 0; i < n; i++) {
        const ramet_overlay *o = &list[i];
        grid_row(t);
        grid_cell(t, ST_ID, arena_strdup(c->mem, ramet_overlay_text(o->id, id)));
        grid_cell(
            t, ST_OFF,
            arena_printf(c->mem, "@%lld %s", (long long)o->position + 1, short_id(c, o->entry_id)));
        grid_cell(t, ST_BOLD, ramet_overlay_action_name(o->action));
        grid_cell(t, ST_OFF, o->who ? text_cut(c, o->who, 30) : "");
        grid_cell(t, ST_DIM, time_ago(c, o->at));
        grid_cell(t, ST_OFF, o->text ? text_preview(c->mem, o->text, 60) : "");
    }
    grid_print(t);
    return 0;
}
