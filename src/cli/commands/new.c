/* SPDX-License-Identifier: Apache-2.0
 *
 * new.c: `ramet new` starts a session.
 */
#include "cli/commands.h"
#include "cli/render.h"

int cmd_new(cli *c)
{
    ramet_session_in in = {0};
    ramet_session *s;
    in.id = opt_text(c, "id");
    in.title = c->argc ? c->argv[0] : opt_text(c, "title");
    if (c->argc && opt_text(c, "title"))
        return cli_error(c, RAMET_INVALID, "title",
                         "give the title once: as TITLE or with --title");
    agent_options(c, &in.agent);
    in.tags = opt_list(c, "tag", &in.n_tags);
    in.sandbox = opt_text(c, "sandbox");
    in.metadata = opt_text(c, "metadata");
    in.visibility = opt_flag(c, "private") ? RAMET_PRIVATE : RAMET_TREE_VISIBLE;
    in.ephemeral_us = opt_span(c, "ephemeral");
    if (lib->ramet_session_create(c->call, &in, &s) != RAMET_OK)
        return cli_fail(c);
    if (c->quiet && !c->json) {
        puts(s->id);
        return 0;
    }
    return session_answer(c, s, NULL, "new session");
}
