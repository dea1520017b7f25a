/* SPDX-License-Identifier: Apache-2.0
 *
 * mirror.h: sandboxes that are linked to OpenCode servers. Each of them has an agent, and its
 * sessions are read in and followed.
 */
#ifndef AGENT_OPENCODE_MIRROR_H
#define AGENT_OPENCODE_MIRROR_H

#include "agent/agent.h"

typedef struct mirrors mirrors;

/* Makes agents of the sandboxes that are linked, and starts to follow them; those that are linked
 * or removed later are noticed within seconds. `note` receives errors, from any thread; it
 * must not call this module. */
mirrors *mirrors_start(ramet *store, agents *who,
                       void (*note)(const char *sandbox, const char *text));
/* Ends all threads. Before agents_free(). NULL is fine. */
void mirrors_stop(mirrors *m);

#endif
