/* SPDX-License-Identifier: Apache-2.0
 *
 * ramet/agentpod.h: every version of every message of a session, as AgentPod's branch picker shows
 * them.
 */
#ifndef RAMET_AGENTPOD_H
#define RAMET_AGENTPOD_H

#include "../ramet.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One of several versions of a message. A message is identified by the id of its oldest version,
 * because its versions may have different entry ids. */
typedef struct ramet_pick {
    const char *message_id;
    int number, count; /* among all with that message_id, by time */
    const char *entry_id;
    int64_t position;
    int64_t branch;       /* the branch a switch would go to */
    ramet_fork_type type; /* of the branch that owns the entry */
    bool current;         /* on the present path */
    int within;           /* index of the version earlier on the path that it follows; -1: none */
    int64_t created;
} ramet_pick;
/* Every version of every message of a session that has more than one, on any of its branches: those
 * earlier on the path first, then by message and number. *now gets the index of the current version
 * that is furthest along the path; -1: none. O(branches of the session), plus for each message that
 * has versions the versions before it. */
RAMET_API ramet_status ramet_picks(ramet_call *c, const char *session, ramet_pick **out, size_t *n,
                                   int *now);

#ifdef __cplusplus
}
#endif
#endif
