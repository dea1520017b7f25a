/* SPDX-License-Identifier: Apache-2.0
 *
 * fork.c: `ramet fork` starts a session on a shared history.
 */
#include "cli/commands.h"
#include "cli/commands/move.h"
#include "cli/render.h"

static const char *fork_done(cli *c, const ramet_session *parent, const ramet_cut *cut)
{
    if (!cut->position)
        return arena_printf(c->mem, "forked %s with nothing shared, into", short_id(c, parent->id));
    return arena_printf(c->mem, "forked %s after @%lld into", short_id(c, parent->id),
                        (long long)cut->position);
}

int cmd_fork(cli *c)
{
    ramet_fork_in in = {0};
    ramet_agent agent;
    ramet_session *s, *out;
    ramet_cut cut;
    int code = 0;
    const char *type = opt_text(c, "type"), *system = opt_text(c, "system");
    s = session_named(c, c->argv[0], &code);
    if (!s || !branch_option(c, &in.branch, &code) ||
        !cut_options(c, s->id, in.branch, &in.at, &in.cut, &code))
        return code;
    in.id = opt_text(c, "id");
    in.title = opt_text(c, "title");
    in.reason = opt_text(c, "reason");
    in.tags = opt_list(c, "tag", &in.n_tags);
    in.agent = agent_options(c, &agent) ? &agent : NULL;
    /* Only what is given changes: another model of the parent's agent keeps the agent's name. */
    if (in.agent && !agent.name)
        agent.name = s->agent.name;
    in.metadata = opt_text(c, "metadata");
    in.type = type ? (ramet_fork_type)ramet_fork_type_parse(type) : RAMET_EXPLICIT;
    in.visibility = opt_flag(c, "private") ? RAMET_PRIVATE : RAMET_TREE_VISIBLE;
    in.by_kind = system ? RAMET_BY_SYSTEM : RAMET_BY_USER;
    in.by_id = system;
    in.ephemeral_us = opt_span(c, "ephemeral");
    in.expected_head = opt_text(c, "expect");
    if (lib->ramet_fork(c->call, s->id, &in, &out, &cut) != RAMET_OK)
        return cli_fail(c);
    if (c->quiet && !c->json) {
        puts(out->id);
        return 0;
    }
    return session_answer(c, out, &cut, fork_done(c, s, &cut));
}
