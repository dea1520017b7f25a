/* SPDX-License-Identifier: Apache-2.0
 *
 * sandbox.c: `ramet sandbox` creates, lists and removes sandboxes.
 */
#include "cli/commands.h"
#include "ramet/sandboxes.h"
#include "cli/render.h"

#include "form/native.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The server that reads the file works in another folder. */
static const char *path_absolute(cli *c, const char *path)
{
    char *here = path[0] == '/' ? NULL : getcwd(NULL, 0);
    const char *whole = here ? arena_printf(c->mem, "%s/%s", here, path) : path;
    free(here);
    return whole;
}

static int sandbox_add(cli *c)
{
    ramet_sandbox *b;
    const char *file = opt_text(c, "password-file");
    if (c->argc < 2)
        return cli_error(c, RAMET_INVALID, "name", "give the sandbox a name");
    ramet_sandbox_in in = {.id = c->argv[1], .opencode = opt_text(c, "opencode")};
    if (file)
        in.password_file = path_absolute(c, file);
    if (lib->ramet_sandbox_add(c->call, &in, &b) != RAMET_OK)
        return cli_fail(c);
    if (c->json) {
        native_sandbox(json_begin(c), b);
        return json_end(c);
    }
    if (c->quiet)
        puts(b->id);
    else
        cli_note(c, "made the sandbox %s; 'ramet new --sandbox %s' starts a session in it",
                 text_cut(c, b->id, 60), text_cut(c, b->id, 60));
    return 0;
}

static int sandbox_list(cli *c)
{
    ramet_sandbox *list;
    size_t n;
    if (lib->ramet_sandboxes(c->call, &list, &n) != RAMET_OK)
        return cli_fail(c);
    if (c->json) {
        json_list_begin(c, "sandboxes");
        for (size_t i = 0; i < n; i++)
            native_sandbox(&c->jw, &list[i]);
        return json_list_end(c);
    }
    if (c->quiet) {
        for (size_t i = 0; i < n; i++)
            puts(list[i].id);
        return 0;
    }
    grid *t = grid_new(c, 3, 0);
    grid_head(t, "SANDBOX", "OWNER", "MADE");
    for (size_t i = 0; i < n; i++) {
        grid_row(t);
        grid_cell(t, ST_BOLD, text_cut(c, list[i].id, 60));
        grid_cell(t, ST_OFF, text_cut(c, list[i].owner, 30));
        grid_cell(t, ST_DIM, list[i].created ? time_ago(c, list[i].created) : "always there");
    }
    grid_print(t);
    return 0;
}

static int sandbox_rm(cli *c)
{
    int64_t trees;
    if (c->argc < 2)
        return cli_error(c, RAMET_INVALID, "name", "which? 'ramet sandbox list' shows them");
    if (lib->ramet_sandbox_remove(c->call, c->argv[1], &trees) != RAMET_OK)
        return cli_fail(c);
    if (c->json) {
        json_writer *w = json_begin(c);
        jw_object(w);
        jw_kstr(w, "id", c->argv[1]);
        jw_kint(w, "trees", trees);
        jw_end_object(w);
        return json_end(c);
    }
    cli_note(c, "removed the sandbox %s; %s in default now", text_cut(c, c->argv[1], 60),
             count_text(c, trees, "tree is", "trees are"));
    return 0;
}

int cmd_sandbox(cli *c)
{
    static const struct {
        const char *word;
        int (*run)(cli *c);
        int max; /* words */
    } actions[] = {{"add", sandbox_add, 2}, {"list", sandbox_list, 1}, {"rm", sandbox_rm, 2}};
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
        if (strcmp(c->argv[0], actions[i].word) != 0)
            continue;
        if (c->argc > actions[i].max)
            return cli_error(c, RAMET_INVALID, "action", "'%s' is one word too many",
                             c->argv[actions[i].max]);
        return actions[i].run(c);
    }
    return cli_error(c, RAMET_INVALID, "action", "'%s' is no action; take add, list or rm",
                     c->argv[0]);
}
