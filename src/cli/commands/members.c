/* SPDX-License-Identifier: Apache-2.0
 *
 * members.c: `ramet members` shows and changes who may see and write a tree.
 */
#include "cli/commands.h"
#include "cli/render.h"

#include "form/native.h"

#include <string.h>

static int list_members(cli *c, const char *session)
{
    ramet_member *list;
    size_t n;
    if (lib->ramet_members(c->call, session, &list, &n) != RAMET_OK)
        return cli_fail(c);
    if (c->json) {
        json_list_begin(c, "members");
        for (size_t i = 0; i < n; i++)
            native_member(&c->jw, &list[i]);
        return json_list_end(c);
    }
    grid *t = grid_new(c, 2, -1);
    grid_head(t, "USER", "LEVEL");
    for (size_t i = 0; i < n; i++) {
        grid_row(t);
        grid_cell(t, list[i].level == RAMET_OWNER ? ST_BOLD : ST_OFF, list[i].user);
        grid_cell(t, ST_OFF, ramet_level_name(list[i].level));
    }
    grid_print(t);
    return 0;
}

static int change_member(cli *c, const char *session)
{
    const char *action = c->argv[1], *user = c->argc > 2 ? c->argv[2] : NULL;
    bool set = strcmp(action, "set") == 0;
    if (!set && strcmp(action, "rm") != 0)
        return cli_error(c, RAMET_INVALID, "action", "'%s' is no action; take set or rm", action);
    if (!user || (set && c->argc < 4) || (!set && c->argc > 3))
        return cli_error(c, RAMET_INVALID, "user",
                         "usage: ramet members SESSION set USER LEVEL, or rm USER");
    if (!set)
        return lib->ramet_member_remove(c->call, session, user) == RAMET_OK ? -1 : cli_fail(c);
    int level = ramet_level_parse(c->argv[3]);
    if (level <= RAMET_NO_LEVEL)
        return cli_error(c, RAMET_INVALID, "level",
                         "'%s' is no level; take reader, writer, manager or owner", c->argv[3]);
    return lib->ramet_member_set(c->call, session, user, (ramet_level)level) == RAMET_OK
               ? -1
               : cli_fail(c);
}

int cmd_members(cli *c)
{
    int code = 0;
    ramet_session *s = session_named(c, c->argv[0], &code);
    if (!s)
        return code;
    if (c->argc == 1)
        return list_members(c, s->id);
    code = change_member(c, s->id);
    if (code >= 0)
        return code;
    /* Users who removed themselves can no longer list members. */
    bool self = strcmp(c->argv[1], "rm") == 0 && strcmp(c->user, c->argv[2]) == 0;
    return self || (c->quiet && !c->json) ? 0 : list_members(c, s->id);
}
