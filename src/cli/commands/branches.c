/* SPDX-License-Identifier: Apache-2.0
 *
 * branches.c: `ramet branches` lists branches and versions, `ramet moves` the head log.
 */
#include "cli/commands.h"
#include "cli/render.h"

#include "form/native.h"

static const char *branch_name(cli *c, int64_t id)
{
    char text[24];
    return arena_strdup(c->mem, ramet_branch_text(id, text));
}

static void branch_cells(cli *c, grid *t, bool current, int64_t branch)
{
    grid_row(t);
    grid_cell(t, ST_HERE, current ? "*" : "");
    grid_cell(t, current ? ST_HERE : ST_ID, branch_name(c, branch));
}

static int list_branches(cli *c, const char *session)
{
    ramet_branch *list;
    size_t n;
    if (lib->ramet_branches(c->call, session, &list, &n) != RAMET_OK)
        return cli_fail(c);
    if (c->json) {
        json_list_begin(c, "branches");
        for (size_t i = 0; i < n; i++) {
            native_branch(&c->jw, &list[i]);
            json_flush(c);
        }
        return json_list_end(c);
    }
    bool named = false;
    for (size_t i = 0; i < n; i++)
        named |= list[i].name[0] || list[i].favourite;
    grid *t = named ? grid_new(c, 8, 7) : grid_new(c, 7, 6);
    int at = named ? 3 : 2;
    grid_right(t, at);
    grid_right(t, at + 1);
    if (named)
        grid_head(t, "", "BRANCH", "NAME", "LEAVES", "ENTRIES", "TYPE", "MADE", "BEGINS WITH");
    else
        grid_head(t, "", "BRANCH", "LEAVES", "ENTRIES", "TYPE", "MADE", "BEGINS WITH");
    for (size_t i = 0; i < n; i++) {
        const ramet_branch *b = &list[i];
        branch_cells(c, t, b->current, b->id);
        if (named)
            grid_cell(t, ST_BOLD,
                      arena_printf(c->mem, "%s%s", b->name,
                                   !b->favourite ? ""
                                   : b->name[0]  ? " (favourite)"
                                                 : "(favourite)"));
        grid_cell(t, ST_OFF, b->base ? arena_printf(c->mem, "@%lld", (long long)b->base) : "start");
        grid_cell(t, ST_OFF, number_text(c, b->length));
        grid_cell(t, ST_DIM, ramet_fork_type_name(b->type));
        grid_cell(t, ST_DIM, time_ago(c, b->created));
        grid_cell(t, ST_OFF, b->preview);
    }
    grid_print(t);
    return 0;
}

static int list_versions(cli *c, const char *session, int64_t branch, const char *entry)
{
    ramet_version *list;
    size_t n;
    if (lib->ramet_versions(c->call, session, branch, entry, &list, &n) != RAMET_OK)
        return cli_fail(c);
    if (c->json) {
        json_list_begin(c, "branches");
        for (size_t i = 0; i < n; i++)
            native_version(&c->jw, &list[i]);
        return json_list_end(c);
    }
    grid *t = grid_new(c, 7, 6);
    grid_right(t, 2);
    grid_head(t, "", "BRANCH", "VERSION", "ENTRY", "TYPE", "MADE", "TEXT");
    for (size_t i = 0; i < n; i++) {
        const ramet_version *v = &list[i];
        branch_cells(c, t, v->current, v->branch);
        grid_cell(t, ST_OFF, arena_printf(c->mem, "%d/%zu", v->number, n));
        grid_cell(t, ST_DIM, short_id(c, v->entry_id));
        grid_cell(t, ST_DIM, ramet_fork_type_name(v->type));
        grid_cell(t, ST_DIM, time_ago(c, v->created));
        grid_cell(t, ST_OFF, v->preview);
    }
    grid_print(t);
    return 0;
}

int cmd_branches(cli *c)
{
    const char *at = opt_text(c, "at");
    int64_t branch;
    int code = 0;
    ramet_session *s = session_named(c, c->argv[0], &code);
    if (!s || !branch_option(c, &branch, &code))
        return code;
    if (!at)
        return list_branches(c, s->id);
    ramet_entry *e = entry_named(c, s->id, branch, at, &code);
    return e ? list_versions(c, s->id, branch, e->id) : code;
}

int cmd_moves(cli *c)
{
    ramet_move *list;
    size_t n;
    bool more;
    int code = 0;
    int64_t limit = opt_count(c, "limit", 50);
    ramet_session *s = session_named(c, c->argv[0], &code);
    if (!s)
        return code;
    if (lib->ramet_head_log(c->call, s->id, opt_count(c, "from", 0),
                            limit > 1000 ? 1000 : (int)limit, &list, &n, &more) != RAMET_OK)
        return cli_fail(c);
    if (c->json) {
        json_list_begin(c, "moves");
        for (size_t i = 0; i < n; i++)
            native_move(&c->jw, &list[i]);
        jw_end_array(&c->jw);
        jw_kbool(&c->jw, "more", more);
        jw_end_object(&c->jw);
        return json_end(c);
    }
    grid *t = grid_new(c, 6, 5);
    grid_right(t, 0);
    grid_head(t, "NO", "MOVE", "HEAD", "BY", "WHEN", "WHY");
    for (size_t i = 0; i < n; i++) {
        const ramet_move *m = &list[i];
        grid_row(t);
        grid_cell(t, ST_ID, number_text(c, m->number));
        grid_cell(t, ST_BOLD, ramet_move_name(m->kind));
        grid_cell(t, ST_OFF,
                  arena_printf(c->mem, "%s %s %s", branch_name(c, m->from), gl(c, G_ARROW),
                               branch_name(c, m->to)));
        grid_cell(t, ST_OFF, m->who);
        grid_cell(t, ST_DIM, time_ago(c, m->at));
        grid_cell(t, ST_OFF, m->reason);
    }
    if (n)
        grid_print(t);
    else
        cli_note(c, "the head of this session was never moved");
    return 0;
}
