/* SPDX-License-Identifier: Apache-2.0
 *
 * acp.c: `ramet acp`: between an editor and an agent, or as an agent itself.
 */
#include "acp/acp.h"

#include "cli/commands.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* What a command line is about: the program, or the script that an interpreter is given. */
static const char *agent_name(cli *c, char **argv)
{
    static const char *const runners[] = {"node", "npx", "bun", "bunx", "deno",
                                          "uvx",  "env", "sh",  "bash", "python3"};
    for (int i = 0; argv[i]; i++) {
        const char *slash = strrchr(argv[i], '/'), *word = slash ? slash + 1 : argv[i];
        bool runner = argv[i][0] == '-' || !*word;
        for (size_t j = 0; j < sizeof runners / sizeof *runners; j++)
            runner |= strcmp(word, runners[j]) == 0;
        if (runner && argv[i + 1])
            continue;
        const char *dot = strrchr(word, '.');
        return arena_memdup(c->mem, word, dot && dot > word ? (size_t)(dot - word) : strlen(word));
    }
    return "acp";
}

int cmd_acp(cli *c)
{
    acp_options o = {.lib = lib, .store = c->store, .user = c->user, .agent = c->argv};
    if (!c->argc)
        return cli_error(c, RAMET_INVALID, "AGENT",
                         "the agent's command line is missing: ramet acp "
                         "-- AGENT [ARGS...]");
    c->argv[c->argc] = NULL;
    /* A person at a terminal wants the agent itself, to log in. */
    if (isatty(STDIN_FILENO)) {
        execvp(c->argv[0], c->argv);
        return cli_error(c, RAMET_CANNOT_OPEN, "AGENT", "'%s' cannot be started: %s", c->argv[0],
                         strerror(errno));
    }
    o.name = opt_text(c, "name") ? opt_text(c, "name") : agent_name(c, c->argv);
    return acp_proxy_run(&o);
}
