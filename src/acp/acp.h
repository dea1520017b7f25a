/* SPDX-License-Identifier: Apache-2.0
 *
 * acp.h: Ramet as a proxy between an editor and an agent that speak the Agent Client Protocol (ACP)
 * v1 on standard input and output, and as such an agent itself. docs/acp.md is the manual.
 */
#ifndef ACP_ACP_H
#define ACP_ACP_H

#include "client/client.h"
#include "ramet.h"

typedef struct acp_options {
    const ramet_calls *lib; /* the library, or a server */
    ramet *store;
    const char *user; /* the user who records */
    const char *name; /* name of the agent in the record */
    char **agent;     /* its command line, ending with NULL; NULL: a conductor runs it */
} acp_options;

/* Runs until the editor or the agent exits. Returns an exit code. */
int acp_proxy_run(const acp_options *o);
/* Runs Ramet as an agent: `name` is one that the server has configured; `lib` is client_http. */
int acp_agent_run(const acp_options *o);

#endif
