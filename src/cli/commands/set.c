/* SPDX-License-Identifier: Apache-2.0
 *
 * set.c: `ramet set` and `promote` change properties of a session.
 */
#include "cli/commands.h"
#include "cli/render.h"

/* The agent is replaced as a whole: what is not given keeps its value. */
static bool agent_changed(const cli *c, const ramet_session *s, ramet_agent *out)
{
    ramet_agent named;
    if (!agent_options(c, &named))
        return false;
    *out = s->agent;
    if (named.name)
        out->name = named.name;
    if (named.provider)
        out->provider = named.provider;
    if (named.model)
        out->model = named.model;
    if (named.folder)
        out->folder = named.folder;
    if (named.options)
        out->options = named.options;
    return true;
}

static int merged_option(cli *c, const char **out)
{
    const char *word = opt_text(c, "merged-into");
    int code = 0;
    *out = word;
    if (!word || !*word)
        return -1;
    ramet_session *s = session_named(c, word, &code);
    if (!s)
        return code;
    *out = s->id;
    return -1;
}

int cmd_set(cli *c)
{
    ramet_session_patch patch = {0};
    ramet_agent agent;
    ramet_visibility visibility;
    ramet_session *out;
    const char *word = opt_text(c, "visibility");
    bool archived = opt_flag(c, "archive");
    int code = 0;
    ramet_session *s = session_named(c, c->argv[0], &code);
    if (!s || (code = merged_option(c, &patch.merged_into)) >= 0)
        return code;
    if (archived && opt_flag(c, "unarchive"))
        return cli_error(c, RAMET_INVALID, "archive",
                         "--archive and --unarchive exclude each other");
    patch.title = opt_text(c, "title");
    patch.agent = agent_changed(c, s, &agent) ? &agent : NULL;
    patch.metadata = opt_text(c, "metadata");
    patch.archived = archived || opt_flag(c, "unarchive") ? &archived : NULL;
    if (word) {
        visibility = (ramet_visibility)ramet_visibility_parse(word);
        patch.visibility = &visibility;
    }
    if (!patch.title && !patch.agent && !patch.metadata && !patch.archived && !patch.visibility &&
        !patch.merged_into)
        return cli_error(c, RAMET_INVALID, "",
                         "nothing to set; 'ramet set --help' shows what can be");
    patch.expected_head = opt_text(c, "expect");
    if (lib->ramet_session_update(c->call, s->id, &patch, &out) != RAMET_OK)
        return cli_fail(c);
    return session_answer(c, out, NULL, "changed");
}

int cmd_promote(cli *c)
{
    ramet_session *out;
    int code = 0;
    ramet_session *s = session_named(c, c->argv[0], &code);
    if (!s)
        return code;
    if (lib->ramet_session_promote(c->call, s->id, &out) != RAMET_OK)
        return cli_fail(c);
    return session_answer(c, out, NULL, "promoted");
}
