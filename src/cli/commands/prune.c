/* SPDX-License-Identifier: Apache-2.0
 *
 * prune.c: `ramet branch` names branches and chooses the favourite, `ramet prune` takes branches
 * out of a session; `ramet restore --branch` (rm.c) brings them back.
 */
#include "cli/commands.h"
#include "cli/render.h"

#include "form/native.h"

#include <string.h>

static const char *with_name(cli *c, const ramet_branch *b)
{
    char id[24];
    const char *text = ramet_branch_text(b->id, id);
    return *b->name ? arena_printf(c->mem, "%s \"%s\"", text, text_cut(c, b->name, 0))
                    : arena_strdup(c->mem, text);
}

int cmd_branch(cli *c)
{
    static const bool yes = true, no = false;
    ramet_branch_patch in = {.name = opt_text(c, "name")};
    ramet_branch *out;
    int64_t branch;
    int code = 0;
    if (opt_flag(c, "favourite") && opt_flag(c, "no-favourite"))
        return cli_error(c, RAMET_INVALID, "favourite",
                         "give --favourite or --no-favourite, not both");
    if (opt_flag(c, "favourite") || opt_flag(c, "no-favourite"))
        in.favourite = opt_flag(c, "favourite") ? &yes : &no;
    ramet_session *s = session_named(c, c->argv[0], &code);
    if (!s || !branch_named(c, s->id, c->argv[1], &branch, &code))
        return code;
    if (lib->ramet_branch_update(c->call, s->id, branch, &in, &out) != RAMET_OK)
        return cli_fail(c);
    if (c->json) {
        native_branch(json_begin(c), out);
        return json_end(c);
    }
    if (!c->quiet)
        printf("%s%s\n", with_name(c, out), out->favourite ? ", the favourite" : "");
    return 0;
}

/* ------------------------------------------------------------------ prune */

static void tell(cli *c, const char *done, const ramet_prune_out *out)
{
    enum { MOST = 20 };
    char id[24];
    printf("%s %s with %s%s\n", done, count_text(c, (int64_t)out->n, "branch", "branches"),
           count_text(c, out->entries, "entry", "entries"), out->n ? ":" : "");
    for (size_t i = 0; i < out->n && i < MOST; i++)
        printf("  %s%s%s\n", st(c, ST_ID), out->branches[i], st(c, ST_OFF));
    if (out->n > MOST)
        printf("  and %s more\n", number_text(c, (int64_t)(out->n - MOST)));
    for (size_t i = 0; i < out->n_kept; i++)
        printf("  %s%s stays: %s%s\n", st(c, ST_NOTE), ramet_branch_text(out->kept[i].branch, id),
               text_cut(c, out->kept[i].reason, 0), st(c, ST_OFF));
}

int pruned_answer(cli *c, const char *done, const ramet_prune_out *out)
{
    if (c->json) {
        form_write(json_begin(c), &form_pruned, out, NULL);
        return json_end(c);
    }
    if (!c->quiet)
        tell(c, done, out);
    return 0;
}

static int list_pruned(cli *c, const char *session)
{
    ramet_branch *list;
    size_t n;
    if (lib->ramet_branches_pruned(c->call, session, &list, &n) != RAMET_OK)
        return cli_fail(c);
    if (c->json) {
        json_list_begin(c, "branches");
        for (size_t i = 0; i < n; i++)
            native_branch(&c->jw, &list[i]);
        return json_list_end(c);
    }
    if (!n) {
        cli_note(c, "no branch of this session was pruned");
        return 0;
    }
    grid *t = grid_new(c, 5, 4);
    grid_right(t, 1);
    grid_head(t, "BRANCH", "ENTRIES", "PRUNED", "", "BEGINS WITH");
    for (size_t i = 0; i < n; i++) {
        const ramet_branch *b = &list[i];
        grid_row(t);
        grid_cell(t, ST_ID, with_name(c, b));
        grid_cell(t, ST_OFF, number_text(c, b->length));
        grid_cell(t, ST_DIM, time_ago(c, b->pruned));
        grid_cell(t, ST_NOTE, b->removed ? "removed by gc" : "can be restored");
        grid_cell(t, ST_OFF, b->preview);
    }
    grid_print(t);
    return 0;
}

static bool agreed(cli *c, const char *session, const ramet_prune_in *in, int *code)
{
    ramet_prune_in dry = *in;
    ramet_prune_out out;
    if (!in->others || in->dry_run || opt_flag(c, "yes"))
        return true;
    dry.dry_run = true;
    if (lib->ramet_prune(c->call, session, &dry, &out) != RAMET_OK) {
        *code = cli_fail(c);
        return false;
    }
    const char *what =
        arena_printf(c->mem, "%s with %s", count_text(c, (int64_t)out.n, "branch", "branches"),
                     count_text(c, out.entries, "entry", "entries"));
    if (!out.n || term_ask(c, arena_printf(c->mem, "prune %s?", what)))
        return true;
    *code =
        cli_error(c, RAMET_STOP, "", "nothing was pruned; --yes prunes %s without asking", what);
    return false;
}

int cmd_prune(cli *c)
{
    ramet_prune_in in = {.others = opt_flag(c, "others"), .dry_run = opt_flag(c, "dry-run")};
    ramet_prune_out out;
    int code = 0;
    ramet_session *s = session_named(c, c->argv[0], &code);
    if (!s)
        return code;
    if (opt_flag(c, "list"))
        return list_pruned(c, s->id);
    if (c->argc > 1 && !branch_named(c, s->id, c->argv[1], &in.branch, &code))
        return code;
    if (!in.others && !in.branch)
        return cli_error(c, RAMET_INVALID, "branch",
                         "give a BRANCH to prune, or --others to keep only the path of the head");
    if (!agreed(c, s->id, &in, &code))
        return code;
    if (lib->ramet_prune(c->call, s->id, &in, &out) != RAMET_OK)
        return cli_fail(c);
    code = pruned_answer(c, in.dry_run ? "would prune" : "pruned", &out);
    if (!code && !c->json && !c->quiet && !in.dry_run && out.n)
        printf("back with: ramet restore %s --branch %s%s\n", text_cut(c, s->id, 0),
               out.branches[0], out.n > 1 ? " --all" : "");
    return code;
}
