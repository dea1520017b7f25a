/* SPDX-License-Identifier: Apache-2.0
 *
 * acp.c: `ramet acp`: a proxy between an editor and an agent, or an agent itself.
 */
#include "acp/acp.h"

#include "cli/commands/own_server.h"
#include "cli/commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The name of an agent from its command line: the program, or the script that an interpreter
 * runs. */
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

/* Only servers run turns: starts one for the store's file if none is named. */
static int agent_run(cli *c, acp_options *o)
{
    char url[ATTEND_URL];
    ramet_error error;
    ramet *server = NULL;
    if (lib == &client_local) {
        const char *db = opt_text(c, "db") ? opt_text(c, "db") : getenv("RAMET_DB");
        if (!attend_start(db && *db ? db : NULL, opt_text(c, "config"), url))
            return cli_error(c, RAMET_CANNOT_OPEN, "db",
                             "no server could be started; 'ramet serve' tells why");
        if (client_open(url, NULL, &server, &error) != RAMET_OK)
            return cli_report(c, &error);
        o->lib = &client_http;
        o->store = server;
    }
    int code = acp_agent_run(o);
    if (server)
        client_http.ramet_close(server);
    return code;
}

int cmd_acp(cli *c)
{
    acp_options o = {.lib = lib, .store = c->store, .user = c->user, .agent = c->argv};
    if (opt_text(c, "agent") && c->argc)
        return cli_error(c, RAMET_INVALID, "agent", "give --agent or a command line, not both");
    if (opt_text(c, "agent")) {
        o.name = opt_text(c, "agent");
        return agent_run(c, &o);
    }
    if (!c->argc && isatty(STDIN_FILENO))
        return cli_error(c, RAMET_INVALID, "AGENT",
                         "the agent's command line is missing: ramet acp -- AGENT [ARGS...]");
    if (!c->argc) {
        o.agent = NULL;
        o.name = opt_text(c, "name") ? opt_text(c, "name") : "acp";
        return acp_proxy_run(&o);
    }
    c->argv[c->argc] = NULL;
    /* A user at a terminal wants the agent itself, to log in. */
    if (isatty(STDIN_FILENO)) {
        execvp(c->argv[0], c->argv);
        return cli_error(c, RAMET_CANNOT_OPEN, "AGENT", "'%s' cannot be started: %s", c->argv[0],
                         strerror(errno));
    }
    o.name = opt_text(c, "name") ? opt_text(c, "name") : agent_name(c, c->argv);
    return acp_proxy_run(&o);
}
